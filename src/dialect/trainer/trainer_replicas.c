/* Files whose data-parallel ranks are written down (nanotron's dp, torchtitan's
 * data_parallel_shard_degree): the GPUs of the job are as many as the degrees take, and the
 * programs refuse others. */
#include "config/pointer.h"

#include "base/units.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <stdbool.h>

#define WIDE "/parallelism/"

static int64_t integer_at(struct cfg root, const char *pointer, int64_t otherwise)
{
    json_t *v = pointer_get(root.json, pointer);
    return json_is_integer(v) ? (int64_t)json_integer_value(v) : otherwise;
}

/* The file's degrees take so many ranks, and no others. */
static void refuse_count(struct launch *l, struct cfg root, int64_t ranks, int64_t gpus)
{
    int64_t count = integer_at(root, "/cluster/count", 1);
    const char *mend =
        ranks % gpus == 0
            ? arena_printf(&l->loader->arena, "give --set /cluster/count=%" PRId64,
                           ranks / gpus)
            : arena_printf(&l->loader->arena,
                           "give --set /cluster/count=1 and --set "
                           "/cluster/gpus_per_instance=%" PRId64,
                           ranks);
    diags_add(&l->loader->diags, launch_diag(l, DIAG_OUT_OF_RANGE, l->replicas.line, 0),
              "%s: the degrees (dp %" PRId64 ", tp %" PRId64 ", pp %" PRId64
              ", cp %" PRId64 ") take %" PRId64 " GPU%s, and %" PRId64
              " instance%s of %" PRId64 " are %" PRId64
              " (%s, or change it in the file)",
              l->replicas.what, l->replicas.n, integer_at(root, WIDE "tensor", 1),
              integer_at(root, WIDE "pipeline", 1), integer_at(root, WIDE "context", 1),
              ranks, units_plural(ranks), count, units_plural(count), gpus,
              count * gpus, mend);
}

/* A count that is given: the ranks are as many of each instance's GPUs, or refused. */
static void keep_count(struct launch *l, struct cfg root, int64_t ranks, int64_t gpus)
{
    int64_t count = integer_at(root, "/cluster/count", 1);
    bool given = pointer_get(root.json, "/cluster/gpus_per_instance") != NULL;
    struct err err = { 0 };
    if (count < 1 || ranks == gpus * count)
        return;
    if (given || ranks % count || ranks / count > gpus) {
        refuse_count(l, root, ranks, gpus);
        return;
    }
    pointer_set(root.json, "/cluster/gpus_per_instance",
                json_integer((json_int_t)(ranks / count)), &err);
    launch_note(l, l->replicas.line, DIAG_ASSUMED,
                "the degrees take %" PRId64 " GPU%s: %" PRId64 " of each instance",
                ranks, units_plural(ranks), ranks / count);
}

/* Replicas x tensor x pipeline x context ranks, over instances of so many GPUs. */
void trainer_settle_replicas(struct launch *l, struct cfg root)
{
    const struct launch_replicas *of = &l->replicas;
    if (of->n < 1 || l->replicas.settled || pointer_get(root.json, "/cluster/groups"))
        return;
    l->replicas.settled = true; /* each dialect that has them settles them */
    int64_t gpus = trainer_gpus_of(json_object_get(root.json, "cluster"));
    double ranks = (double)of->n;
    static const char *const degrees[] = { WIDE "tensor", WIDE "pipeline",
                                           WIDE "context" };
    for (size_t i = 0; i < 3; i++)
        ranks *= (double)integer_at(root, degrees[i], 1);
    struct err err = { 0 };
    if (gpus < 1 || ranks < 1 || ranks > 1e7)
        return;
    int64_t n = (int64_t)ranks;
    if (launch_is_set(root, "/cluster/count")) {
        keep_count(l, root, n, gpus);
        return;
    }
    if (n < gpus)
        pointer_set(root.json, "/cluster/gpus_per_instance",
                    json_integer((json_int_t)n), &err);
    if (n >= gpus && n % gpus)
        return;
    pointer_set(root.json, "/cluster/count",
                json_integer((json_int_t)(n < gpus ? 1 : n / gpus)), &err);
    launch_note(l, of->line, DIAG_ASSUMED,
                "the degrees take %" PRId64 " GPU%s: %" PRId64 " instance%s", n,
                units_plural(n), n < gpus ? 1 : n / gpus,
                units_plural(n < gpus ? 1 : n / gpus));
}
