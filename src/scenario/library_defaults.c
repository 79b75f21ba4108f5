/* What a library's row gives where a scenario leaves it open: sharding, profile and
 * bucket. */
#include "scenario/libraries.h"

#include "scenario/releases.h"
#include "scenario/scenario.h"

bool library_shard(struct parallelism *p, enum sharding how)
{
    bool kept = how == SHARDING_GRADIENTS && library_of(p)->gradients_mean_full;
    p->shard.strategy = kept ? SHARDING_FULL : how;
    if (kept)
        p->shard.reshard = false;
    return kept;
}

static bool all_hopper(const struct cluster *c)
{
    enum { HOPPER = 90 };
    for (int i = 0; i < c->n_groups; i++)
        if (!c->groups[i].instance || c->groups[i].instance->gpu->sm_arch < HOPPER)
            return false;
    return c->n_groups > 0;
}

/* Megatron-LM has rotary positions from 2023-03 on, gated MLPs from 2023-04, grouped
 * queries from 2023-06 and RMSNorm from 2023-08 (the commits that add
 * --use-rotary-position-embeddings, --swiglu, --group-query-attention and --normalization
 * to its arguments.py). */
static bool model_is_recent(const struct model *m)
{
    const struct model_attention *a = &m->attention;
    return a->rotary || m->mlp.gated || a->kv_heads < a->heads || m->norms.rms;
}

static bool profile_holds(const struct parallelism *p, enum library_profile_when when,
                          const struct scenario *s)
{
    switch (when) {
    case PROFILE_OLD_PYTORCH:
        return !release_has(RELEASE_PYTORCH_2, s->software.pytorch);
    case PROFILE_MODEL_SPLIT:
        return p->tensor > 1 || p->pipeline > 1;
    case PROFILE_FULL:
        return p->shard.strategy == SHARDING_FULL;
    case PROFILE_RECENT:
        return all_hopper(&s->cluster) || model_is_recent(&s->model);
    case PROFILE_ALWAYS:
        break;
    }
    return true;
}

const char *library_framework(const struct parallelism *p, const struct scenario *s)
{
    const struct library_profile *row = library_of(p)->profiles;
    while (!profile_holds(p, row->when, s))
        row++;
    return row->framework;
}

int64_t library_bucket_B(const struct library_row *l, int64_t ranks, double gradient_B)
{
    int64_t n = l->bucket.elements;
    int64_t by_ranks = ranks * l->bucket.each_rank;
    return l->bucket.size_B +
           (int64_t)((double)(by_ranks > n ? by_ranks : n) * gradient_B);
}
