/* On how many instances and GPUs a command starts: torchrun, torch.distributed.launch,
 * deepspeed and srun, and the lines #SBATCH before them; by MPI: launch_mpi.c. */
#include "dialect/launch/launch_starter.h"

#include "base/names.h"
#include "dialect/dialect.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Starters ------------------------------------------------------------------------- */

/* A job that starts the command has said it: its cluster is what there is. */
bool launch_starter_is_of_job(const struct launch_context *t, const char *pointer)
{
    return t->call && launch_has(t, pointer);
}

void launch_starter_set(struct launch_context *t, const char *pointer,
                        const struct starter_option *g, int64_t n)
{
    struct value v = { .kind = VALUE_INT, .line = g->word->line };
    const struct value_item from = { g->name, g->word->line, &v };
    if (!launch_starter_is_of_job(t, pointer))
        launch_set(t, pointer, json_integer((json_int_t)n), &from);
}

/* The options of each that count. */
static const char *const torchrun_nodes[] = { "--nnodes", NULL };
static const char *const torchrun_gpus[] = { "--nproc-per-node", NULL };
static const char *const colossalai_nodes[] = { "--num-nodes", NULL };
static const char *const colossalai_hosts[] = { "--hostfile", "--host", "-H", NULL };
static const char *const deepspeed_nodes[] = { "--num-nodes", NULL };
static const char *const deepspeed_gpus[] = { "--num-gpus", NULL };
static const char *const deepspeed_hosts[] = { "--hostfile", "-H", NULL };
static const char *const deepspeed_devices[] = { "--include", "-i", "--exclude", "-e",
                                                 NULL };
static const char *const any_option[] = { "*", NULL };
static const char *const srun_export[] = { "--export", NULL };

static const char count_at[] = "/cluster/count",
                  gpus_at[] = "/cluster/gpus_per_instance";

/* `all` are words that mean every GPU there is. */
bool launch_starter_count(struct launch_context *t, const char *pointer,
                          const struct starter_option *g)
{
    static const char *const all[] = { "gpu", "auto", NULL };
    int64_t n;
    if (!g->name && !launch_starter_is_of_job(t, pointer))
        return false;
    if (launch_starter_is_of_job(t, pointer))
        return true;
    if (g->word->gpus && strcmp(pointer, gpus_at) == 0)
        return true; /* all of them */
    if (g->word->why && strcmp(pointer, gpus_at) == 0 && t->l->gpus > 0)
        launch_note(t->l, g->word->line, DIAG_ASSUMED,
                    "%s: %s: all GPUs of the instance are taken", g->name,
                    g->word->why);
    else if (g->word->why)
        launch_add_unknown(t, pointer, g->name,
                           launch_word_value(t->arena, g->word, NULL));
    else if (launch_starter_number(g->value, &n))
        launch_starter_set(t, pointer, g, n);
    else if (!names_listed(all, g->value))
        launch_add_unresolved(t, pointer, g->word->line,
                              "%s: \"%.40s\" is no number of them", g->name, g->value);
    return true;
}

void launch_starter_one(struct launch_context *t, const char *pointer, const char *name,
                        int64_t line)
{
    const struct shell_word here = { .line = line };
    const struct starter_option one = { .name = name, .word = &here };
    launch_starter_set(t, pointer, &one, 1);
}

/* A word of the starter's own that may hold any of its options: a variable that is not
 * known; NULL. */
static const struct shell_word *open_word(const struct starter_line *l)
{
    for (int32_t i = l->at + 1; i < l->end; i++) {
        const struct shell_word *before = &l->w[i - 1];
        bool value = i > l->at + 1 && before->text[0] == '-' &&
                     !strchr(before->text, '=') && !before->whole;
        if (l->w[i].whole && !value)
            return &l->w[i];
    }
    return NULL;
}

/* `oumi distributed torchrun` has options of its own for all nodes and GPUs there are
 * (oumi/cli/distributed_run.py, Oumi 0.8). */
static bool is_filled(const struct starter_line *l)
{
    return l->at >= 2 && strcmp(l->w[l->at - 1].text, "distributed") == 0 &&
           strcmp(launch_last_part(l->w[l->at - 2].text), "oumi") == 0;
}

/* Where an option is not there: its default; or it is open, as a word may give it. */
static void take_default(struct launch_context *t, const char *pointer,
                         const char *name, const struct starter_line *l)
{
    const struct shell_word *open = open_word(l);
    if (is_filled(l))
        return;
    if (!open)
        launch_starter_one(t, pointer, name, l->w[l->at].line);
    else if (strcmp(pointer, count_at) == 0 && !launch_starter_is_of_job(t, pointer))
        launch_add_unknown(t, pointer, "torchrun",
                           launch_word_value(t->arena, open, NULL));
    else if (strcmp(pointer, gpus_at) == 0)
        launch_note(t->l, open->line, DIAG_ASSUMED,
                    "torchrun: %s: all GPUs of the instance are taken", open->why);
}

static void take_torchrun(struct launch_context *t, const struct launch_command *c,
                          const struct starter_line *l)
{
    struct starter_option n = launch_starter_find(l->w, l->at, l->end, torchrun_nodes),
                          g = launch_starter_find(l->w, l->at, l->end, torchrun_gpus);
    if (!launch_starter_count(t, count_at, &n))
        take_default(t, count_at, "--nnodes' default", l);
    if (!launch_starter_count(t, gpus_at, &g))
        take_default(t, gpus_at, "--nproc_per_node's default", l);
    (void)c;
}

void launch_take_directives(struct launch_context *t, const struct launch_command *c)
{
    const struct raw_shell *d = &c->directives;
    struct starter_option n = launch_starter_find(d->v, 0, d->n,
                                                  launch_slurm_node_names),
                          g = launch_starter_find(d->v, 0, d->n,
                                                  launch_slurm_gpu_names);
    if (!launch_has(t, count_at))
        launch_starter_count(t, count_at, &n);
    if (!launch_has(t, gpus_at))
        launch_starter_count(t, gpus_at, &g);
}

/* deepspeed --include "HOST:0,1@HOST:0,1" (launcher/runner.py, DeepSpeed 0.16). */
static bool take_included(struct launch_context *t, const struct starter_option *g)
{
    int64_t hosts, each;
    if (!g->name)
        return false;
    if (g->word->why)
        launch_add_unknown(t, gpus_at, g->name,
                           launch_word_value(t->arena, g->word, NULL));
    else if (strstr(g->name, "ex") || strcmp(g->name, "-e") == 0 ||
             !launch_devices_of(g->value, &hosts, &each))
        launch_add_unresolved(t, gpus_at, g->word->line,
                              "%s: how many GPUs of each host \"%.60s\" leaves is not "
                              "known",
                              g->name, g->value);
    else {
        launch_starter_set(t, count_at, g, hosts);
        if (each)
            launch_starter_set(t, gpus_at, g, each);
        return true;
    }
    return false;
}

/* The hosts in the file that an option names, and their slots where these count. */
static void take_hosts(struct launch_context *t, const struct starter_option *file,
                       bool slots)
{
    int64_t hosts, each;
    if (file->word->why || !launch_hosts_in(t, file->value, &hosts, &each)) {
        launch_add_unresolved(t, count_at, file->word->line,
                              "%s: how many hosts \"%.40s\" names is not known",
                              file->name, file->value);
        return;
    }
    launch_starter_set(t, count_at, file, hosts);
    if (slots && each > 0)
        launch_starter_set(t, gpus_at, file, each);
}

/* Without a number, all GPUs of the hosts in its file, or of the one where it runs. */
static void take_deepspeed(struct launch_context *t, const struct launch_command *c,
                           const struct starter_line *l)
{
    struct starter_option in =
        launch_starter_find(l->w, l->at, l->end, deepspeed_devices);
    struct starter_option n = launch_starter_find(l->w, l->at, l->end, deepspeed_nodes),
                          g = launch_starter_find(l->w, l->at, l->end, deepspeed_gpus),
                          h = launch_starter_find(l->w, l->at, l->end, deepspeed_hosts);
    struct starter_option slurm = launch_starter_find(
        c->directives.v, 0, c->directives.n, launch_slurm_node_names);
    if (!launch_starter_count(t, count_at, &n) && !take_included(t, &in) &&
        !launch_starter_count(t, count_at, &slurm)) {
        if (h.name)
            take_hosts(t, &h, !g.name && !in.name);
        else
            launch_starter_one(t, count_at, "deepspeed's default", l->w[l->at].line);
    }
    launch_starter_count(t, gpus_at, &g);
}

/* A task is a rank; the lines #SBATCH say what srun does not. */
static void take_srun(struct launch_context *t, const struct launch_command *c,
                      const struct starter_line *l)
{
    struct starter_option n = launch_starter_find(l->w, l->at, l->end,
                                                  launch_slurm_node_names),
                          g = launch_starter_find(l->w, l->at, l->end,
                                                  launch_slurm_task_names);
    const struct raw_shell *d = &c->directives;
    n = n.name ? n : launch_submitted(c, launch_slurm_node_names);
    n = n.name ? n : launch_starter_find(d->v, 0, d->n, launch_slurm_node_names);
    g = g.name ? g : launch_starter_find(d->v, 0, d->n, launch_slurm_task_names);
    g = g.name ? g : launch_starter_find(d->v, 0, d->n, launch_slurm_gpu_names);
    if (!launch_starter_count(t, count_at, &n))
        launch_add_unresolved(t, count_at, l->w[l->at].line,
                              "srun: nothing says on how many nodes");
    launch_starter_count(t, gpus_at, &g);
}

/* `colossalai run` starts on this host, or on all in its file (colossalai/cli/launcher);
 * --num_nodes takes so many of those. */
static void take_colossalai(struct launch_context *t, const struct launch_command *c,
                            const struct starter_line *l)
{
    struct starter_option n = launch_starter_find(l->w, l->at, l->end,
                                                  colossalai_nodes),
                          g = launch_starter_find(l->w, l->at, l->end, torchrun_gpus),
                          h = launch_starter_find(l->w, l->at, l->end,
                                                  colossalai_hosts);
    (void)c;
    if (!launch_starter_count(t, count_at, &n) && h.name)
        take_hosts(t, &h, false);
    else if (!n.name)
        launch_starter_one(t, count_at, "colossalai run's default", l->w[l->at].line);
    if (!launch_starter_count(t, gpus_at, &g))
        launch_starter_one(t, gpus_at, "--nproc_per_node's default", l->w[l->at].line);
}

/* Its options are keys of its configuration: the dialect of the script takes them. */
static void take_accelerate(struct launch_context *t, const struct launch_command *c,
                            const struct starter_line *l)
{
    (void)t;
    (void)c;
    (void)l;
}

/* The starters --------------------------------------------------------------------- */

/* clang-format off */
static const struct starter {
    const char *names[6]; /* of programs and modules; none of the last row, which has no starter */
    /* instances, and the GPUs of each */
    void (*take)(struct launch_context *t, const struct launch_command *c, const struct starter_line *l);
    void (*exports)(struct launch_context *t, const struct starter_line *l); /* NULL: it hands on none */
    const char *const *counted[8]; /* its options that do something; NULL ends them */
} starters[] = {
    { { "torchrun", "torch.distributed.run", "torch.distributed.launch", "tune", "hyperpodrun" }, take_torchrun, NULL,
      { torchrun_nodes, torchrun_gpus } },
    { { "deepspeed" }, take_deepspeed, NULL, { deepspeed_nodes, deepspeed_gpus, deepspeed_hosts, deepspeed_devices } },
    { { "colossalai" }, take_colossalai, NULL, { torchrun_gpus, colossalai_nodes, colossalai_hosts } },
    { { "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "aprun" }, launch_mpi_take, launch_take_mpi_exports,
      { launch_mpi_ranks, launch_mpi_each, launch_mpi_map, launch_mpi_hosts, launch_mpi_files, launch_mpi_export } },
    { { "horovodrun" }, launch_mpi_take, NULL, { launch_mpi_ranks, launch_mpi_hosts, launch_mpi_files } },
    { { "jsrun" }, launch_jsrun_take, NULL, { launch_jsrun_sets, launch_jsrun_each, launch_jsrun_tasks } },
    { { "srun", "yhrun" }, take_srun, launch_take_srun_exports, { launch_slurm_node_names, launch_slurm_task_names, srun_export } },
    { { "accelerate", "accelerate.commands.launch" }, take_accelerate, NULL, { any_option } },
    { { "composer" }, launch_composer_take, NULL, { launch_composer_gpus, launch_composer_ranks } },
    { { "fabric", "lightning" }, launch_fabric_take, NULL,
      { launch_fabric_nodes, launch_fabric_devices, launch_fabric_strategy, launch_fabric_precision } },
    { { NULL }, launch_alone_take, NULL, { NULL } },
};
/* clang-format on */

static const struct starter *starter_named(const char *word)
{
    const struct starter *s = starters;
    for (; s->names[0]; s++)
        for (int i = 0; s->names[i]; i++)
            if (strcmp(s->names[i], word) == 0)
                return s;
    return s;
}

bool launch_is_starter(const char *word)
{
    return starter_named(word)->names[0];
}

/* Where a starter's own words end, which starts a script or a container. */
static int32_t end_of_own(const struct shell_word *w, int32_t n)
{
    static const char *const programs[] = { "bash",       "sh",       "python",
                                            "python3",    "env",      "singularity",
                                            "apptainer",  "torchrun", "deepspeed",
                                            "accelerate", "numactl" };
    for (int32_t i = 1; i < n; i++) {
        const char *name = launch_last_part(w[i].text), *ending = strrchr(name, '.');
        bool is = ending && strcmp(ending, ".sh") == 0 && w[i].text[0] != '-';
        for (size_t k = 0; k < sizeof(programs) / sizeof(programs[0]); k++)
            is |= strcmp(name, programs[k]) == 0;
        if (is)
            return i;
    }
    return n;
}

/* The starter that a word which is not known may be: the one that the branches of the
 * script set, or else the one whose options follow. */
static const struct starter *starter_meant(const struct starter_line *l)
{
    static const char *const *const own[] = { torchrun_gpus, deepspeed_gpus };
    const struct starter *found = starter_named("");
    const char *before = l->at > 0 ? l->w[l->at - 1].text : "";
    if (*before == '-' && !strchr(before, '=')) /* an option's value */
        return found;
    const char *may = l->w[l->at].why && l->w[l->at].may ? l->w[l->at].may : "";
    while (*may) {
        char word[64];
        size_t n = strcspn(may, " ");
        snprintf(word, sizeof(word), "%.*s", (int)n, may);
        const struct starter *s = starter_named(launch_last_part(word));
        if (s->names[0] && found->names[0] && s != found)
            return starter_named("");
        found = s->names[0] ? s : found;
        may += n + strspn(may + n, " ");
    }
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (l->w[l->at].whole && !found->names[0] &&
            launch_starter_find(l->w, l->at + 1, l->end, own[i]).name)
            found = &starters[i];
    return found;
}

/* The starter nearest to the script says what counts. */
static const struct starter *starter_of(const struct launch_command *c,
                                        struct starter_line *l)
{
    const struct shell_command *command = c->command;
    *l = (struct starter_line) { command->words, 0, c->script };
    for (;;) {
        for (int32_t i = l->end; i-- > 0;) {
            const struct starter *s = starter_named(launch_last_part(l->w[i].text));
            l->at = i;
            s = s->names[0] ? s : starter_meant(l);
            if (s->names[0]) {
                l->end = i + end_of_own(l->w + i, l->end - i);
                return s;
            }
        }
        if (!command->within)
            return starter_named("");
        command = &c->shell->commands.v[command->within - 1];
        *l = (struct starter_line) { command->words, 0, command->n };
    }
}

static bool is_counted(const char *const *const *lists, const char *word)
{
    size_t n = strcspn(word, "=");
    for (int i = 0; lists[i]; i++)
        for (const char *const *name = lists[i]; *name; name++)
            if (**name == '*' || launch_starter_names(word, n, *name))
                return true;
    return false;
}

/* Names the options of a run of words that count for nothing. */
static void note_others(struct launch_context *t, const struct shell_word *w,
                        int32_t from, int32_t to, const char *of,
                        const char *const *const *lists)
{
    struct launch_idle idle;
    if (from >= to)
        return;
    launch_idle_init(&idle, t->l, w[from].line, arena_printf(t->arena, "%s: ", of));
    for (int32_t i = from; i < to; i++)
        if (w[i].text[0] == '-' &&
            strspn(w[i].text, "-0123456789.") < strlen(w[i].text) &&
            !is_counted(lists, w[i].text))
            launch_idle_add(&idle, "%.*s", (int)strcspn(w[i].text, "="), w[i].text);
    launch_idle_end(&idle);
}

static void note_rest(struct launch_context *t, const struct launch_command *c,
                      const struct starter_line *l, const struct starter *s)
{
    static const char *const *const slurm[] = { launch_slurm_node_names,
                                                launch_slurm_gpu_names,
                                                launch_slurm_task_names,
                                                launch_slurm_all_gpu_names, NULL };
    if (s->names[0])
        note_others(t, l->w, l->at + 1, l->end, launch_last_part(l->w[l->at].text),
                    s->counted);
    note_others(t, c->directives.v, 0, c->directives.n, "#SBATCH", slurm);
}

/* deepspeed passes CUDA_VISIBLE_DEVICES over where its options name hosts or GPUs. */
static bool has_numbers(const struct starter_line *l)
{
    static const char *const *const lists[] = { deepspeed_nodes, deepspeed_gpus,
                                                deepspeed_hosts, deepspeed_devices };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (launch_starter_find(l->w, l->at, l->end, lists[i]).name)
            return true;
    return false;
}

bool launch_is_alone(const struct launch_command *c)
{
    struct starter_line l;
    return !starter_of(c, &l)->names[0];
}

bool launch_has_starter(const struct launch_command *c)
{
    struct starter_line l;
    const struct starter *s = starter_of(c, &l);
    return s->names[0] && !s->exports;
}

void launch_take_starter(struct launch_context *t, struct launch_command *c)
{
    struct starter_line l;
    const struct starter *starter = starter_of(c, &l);
    starter->take(t, c, &l);
    c->numbered = starter->take == take_deepspeed && has_numbers(&l);
    if (starter->exports)
        starter->exports(t, &l);
    note_rest(t, c, &l, starter);
}
