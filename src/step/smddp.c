#include "step/smddp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double smddp_buffer_B(double all_B, double most_B)
{
    if (most_B <= 0 || all_B <= most_B)
        return all_B;
    return all_B / ceil(all_B / most_B);
}

const struct coll_library *smddp_library(struct arena *arena, const struct scenario *s)
{
    struct coll_library *l = ARENA_NEW(arena, struct coll_library);
    (void)s;
    *l = coll_library_defaults;
    l->buffer_B = INFINITY; /* the step cuts, and overlaps, buffers itself */
    return l;
}

/* Whether a version is known to be older than major.minor. */
static bool is_older(const char *version, int major, int minor)
{
    int a = 0, b = 0;
    if (!version || sscanf(version, "%d.%d", &a, &b) < 1)
        return false;
    return a < major || (a == major && b < minor);
}

/* Instances for which the library has a mesh. */
static const char *const gather_instances[] = { "p4d.24xlarge", "p4de.24xlarge" };

static bool has_mesh(const struct scenario *s)
{
    int32_t found = 0;
    for (int32_t g = 0; g < s->cluster.n_groups; g++)
        for (int i = 0; i < 2; i++)
            found +=
                strcmp(s->cluster.groups[g].instance->name, gather_instances[i]) == 0;
    return found == s->cluster.n_groups;
}

/* SMDDP_AG_SCRATCH_BUFFER_SIZE_BYTES and the sort buffer, at their defaults; inputs are
 * padded to multiples of 8192. */
static const double scratch_B = 16 << 20, sort_B = 128 << 20, multiple_B = 8192;

const char *smddp_gather_refuses(const struct scenario *s, double input_B)
{
    const struct parallelism *p = &s->parallel;
    double padded_B = ceil(input_B / multiple_B) * multiple_B;
    const struct {
        bool holds;
        const char *why;
    } conditions[] = {
        { p->backend == BACKEND_SMDDP, "the backend is NCCL" },
        { p->shard_degree > 1, "parameters are not sharded" },
        { s->cluster.n_instances > 1, "there is one instance" },
        { has_mesh(s), "only p4d.24xlarge and p4de.24xlarge have it" },
        { !is_older(s->software.pytorch, 1, 12), "it needs PyTorch 1.12.1" },
        { !is_older(s->software.smddp, 1, 6), "it needs SMDDP 1.6" },
        { !is_older(s->software.smp, 1, 13), "it needs SMP 1.13" },
        { padded_B <= scratch_B, "the input exceeds the scratch buffer of 16 MiB" },
        { (double)p->shard_degree * padded_B / 8 <= sort_B,
          "an eighth of the output exceeds the sort buffer of 128 MiB" },
    };
    for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++)
        if (!conditions[i].holds)
            return conditions[i].why;
    return NULL;
}

const char *smddp_note(struct arena *arena, const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    const char *why = smddp_gather_refuses(s, 0);
    if (p->backend != BACKEND_SMDDP || p->sharding != SHARDING_FULL || !why)
        return NULL;
    return arena_printf(arena, "parameters are gathered by NCCL, not by SMDDP: %s",
                        why);
}
