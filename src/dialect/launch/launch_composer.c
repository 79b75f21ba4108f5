/* Composer's starter, `composer -n 8 train.py`: instances and GPUs. */
#include "dialect/launch/launch_starter.h"

/* composer: processes of this node, all GPUs without a number, and of all nodes
 * (composer/cli/launcher.py, Composer 0.32). */
const char *const launch_composer_gpus[] = { "-n", "--nproc", NULL };
const char *const launch_composer_ranks[] = { "--world-size", NULL };

void launch_composer_take(struct launch_context *t, const struct launch_command *c,
                          const struct starter_line *l)
{
    struct starter_option g = launch_starter_find(l->w, l->at, l->end,
                                                  launch_composer_gpus),
                          n = launch_starter_find(l->w, l->at, l->end,
                                                  launch_composer_ranks);
    int64_t all = 0, one = 0;
    bool ranks = n.name && !n.word->why && launch_starter_number(n.value, &all),
         each = g.name && !g.word->why && launch_starter_number(g.value, &one);
    launch_starter_count(t, "/cluster/gpus_per_instance", &g);
    if (ranks && each && all % one == 0)
        launch_starter_set(t, "/cluster/count", &n, all / one);
    else if (n.name)
        launch_add_unresolved(
            t, "/cluster/count", n.word->line,
            "composer: on how many nodes is %s over -n, which are not "
            "both known",
            n.name);
    else
        launch_starter_one(t, "/cluster/count", "--world_size' default",
                           l->w[l->at].line);
    (void)c;
}
