#include "step/update/smddp.h"

#include "scenario/libraries.h"
#include "scenario/sagemaker.h"

#include <math.h>

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

/* SMDDP_AG_SCRATCH_BUFFER_SIZE_BYTES and the sort buffer, at their defaults; inputs are
 * padded to multiples of 8192. */
static const double scratch_B = 16 << 20, sort_B = 128 << 20, multiple_B = 8192;

const char *smddp_gather_refuses(const struct scenario *s, double input_B)
{
    const struct parallelism *p = &s->parallel;
    double padded_B = ceil(input_B / multiple_B) * multiple_B;
    if (!backend_of(p)->gathers)
        return "the backend is NCCL";
    if (p->shard.degree < 2)
        return "parameters are not sharded";
    const char *why =
        sagemaker_gather_lacks(&s->cluster, &s->software, s->software.smp);
    if (why)
        return why;
    if (padded_B > scratch_B)
        return "the input exceeds the scratch buffer of 16 MiB";
    if ((double)p->shard.degree * padded_B / 8 > sort_B)
        return "an eighth of the output exceeds the sort buffer of 128 MiB";
    return NULL;
}

bool smddp_reduces(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    return backend_of(p)->buffers && s->cluster.n_instances > 1 &&
           !library_of(p)->smp.dictionary && p->shard.strategy == SHARDING_NONE &&
           p->tensor * p->pipeline * p->context * p->expert == 1;
}

const char *smddp_reduce_note(struct arena *arena, const struct scenario *s)
{
    enum { MEASURED_MOST = 8 };
    const char *other =
        smddp_reduces(s) ? sagemaker_reduce_unmeasured(&s->cluster) : NULL;
    if (!other && smddp_reduces(s) && s->cluster.n_instances > MEASURED_MOST)
        return "inferred: no step of SMDDP's all-reduce on more than 8 instances was "
               "published; its incast stays as on 8, which an efficiency of 0.85 on 8 "
               "to "
               "256 alike supports (Herring, SC20)";
    if (!other)
        return NULL;
    return arena_printf(
        arena,
        "inferred: no speed of SMDDP's all-reduce on %s was published; "
        "its incast and what its servers add are those of p3dn.24xlarge",
        other);
}

const char *smddp_note(struct arena *arena, const struct scenario *s, double layer_B)
{
    const struct parallelism *p = &s->parallel;
    const char *why = smddp_gather_refuses(s, layer_B);
    if (!backend_of(p)->gathers || p->shard.strategy != SHARDING_FULL || !why)
        return NULL;
    return arena_printf(arena, "parameters are gathered by NCCL, not by SMDDP: %s",
                        why);
}
