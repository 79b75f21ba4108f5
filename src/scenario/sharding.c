/* The "sharding" part of the parallelism section: what is sharded, over how many ranks,
 * and how parameters are gathered. */
#include "scenario/libraries.h"
#include "scenario/parse.h"

#include <string.h>

/* clang-format off */
enum { UNIT_OF_LAYER, UNIT_OF_MODEL };
static const struct name_value unit_names[] = {
    { "layer", UNIT_OF_LAYER }, { "model", UNIT_OF_MODEL }, { NULL, 0 },
};

#define DEGREE_MAX   1048576.0
#define ELEMENTS_MAX 1e13

struct raw_sharding {
    struct parallelism p;
    int unit;
    bool limit, has_strategy, has_degree, has_limit, has_reshard, has_backward_prefetch,
        has_adapter_units;
};

#define W struct raw_sharding
#define HAS(k, t, m, h) \
    .key = (k), .type = (t), .at = offsetof(W, m), .has = offsetof(W, h)
static const struct cfg_field sharding_fields[] = {
    { HAS("strategy", CFG_T_ENUM, p.shard.strategy, has_strategy), .names = parallelism_sharding_names },
    { HAS("degree", CFG_T_INT, p.shard.degree, has_degree), .min = 1, .max = DEGREE_MAX },
    CFG_ENUM("unit", W, unit, unit_names),
    CFG_BOOL("hierarchical_allgather", W, p.shard.hierarchical),
    CFG_INT("prefetch", W, p.shard.prefetch, 0, DEGREE_MAX),
    { HAS("backward_prefetch", CFG_T_BOOL, p.shard.backward_prefetch,
          has_backward_prefetch) },
    { HAS("adapter_units", CFG_T_BOOL, p.shard.adapter_units, has_adapter_units) },
    { HAS("limit_all_gathers", CFG_T_BOOL, limit, has_limit) },
    { HAS("reshard_after_forward", CFG_T_BOOL, p.shard.reshard, has_reshard) },
    CFG_BOOL("no_sync", W, p.shard.no_sync),
    CFG_ENUM("offload", W, p.shard.offload, parallelism_offload_names),
    CFG_INT("reduce_bucket_elements", W, p.shard.bucket_elements, 1, ELEMENTS_MAX),
    CFG_INT("param_persistence_elements", W, p.shard.persistence_elements, 0,
            ELEMENTS_MAX),
    CFG_INT("max_reuse_elements", W, p.shard.reuse_elements, 0, ELEMENTS_MAX),
    CFG_INT("max_live_elements", W, p.shard.live_elements, 1, ELEMENTS_MAX),
    CFG_END,
};
#undef W
/* clang-format on */

/* What is not written: -1 until the library is known. */
static int64_t or_default(int64_t written, int64_t usual)
{
    return written < 0 ? usual : written;
}

void sharding_defaults(struct parse_context *r)
{
    enum { UNITS_AHEAD = 1 }; /* of every library */
    struct parallelism *p = &r->s->parallel;
    const struct library_shards *usual = &library_of(p)->shards;
    if (p->pipeline > 1 && !r->written.reshard) /* torchtitan's rule; MODEL.md, R8.4 */
        p->shard.reshard = false;
    p->shard.prefetch = or_default(p->shard.prefetch, UNITS_AHEAD);
    p->shard.in_flight = or_default(p->shard.in_flight, usual->in_flight);
    p->shard.bucket_elements = or_default(p->shard.bucket_elements, usual->bucket);
    p->shard.persistence_elements =
        or_default(p->shard.persistence_elements, usual->persistence);
    p->shard.live_elements = or_default(p->shard.live_elements, usual->live);
    p->shard.reuse_elements = or_default(p->shard.reuse_elements, usual->reuse);
}

static int check_twice(const struct parse_context *r, struct cfg c,
                       const struct raw_sharding *w)
{
    const struct library_smp *smp = &library_of(&r->s->parallel)->smp;
    if (smp->sharding && cfg_present(c))
        return cfg_error(c, DIAG_REFUSED_KEY,
                         "this is for SMP's dictionary in /distribution to say "
                         "(leave it out here)");
    if (smp->dictionary && r->written.degree && (w->has_degree || w->has_strategy))
        return cfg_error(c, DIAG_REFUSED_KEY,
                         "hybrid_shard_degree of SMP's dictionary sets degree and "
                         "strategy (leave them out here)");
    return 0;
}

/* The library was read before: its rules are in rules.c. */
int sharding_read(struct parse_context *r, struct cfg c)
{
    struct parallelism *p = &r->s->parallel;
    struct raw_sharding w = { .p = *p, .unit = UNIT_OF_LAYER };
    const struct library_smp *smp = &library_of(p)->smp;
    if (!smp->sharding) {
        w.p.shard.reshard = true;
        w.p.shard.prefetch = w.p.shard.in_flight = w.p.shard.bucket_elements =
            w.p.shard.persistence_elements = w.p.shard.live_elements =
                w.p.shard.reuse_elements = -1;
    }
    if (cfg_read(c, sharding_fields, &w) || check_twice(r, c, &w))
        return -1;
    *p = w.p;
    if (!smp->dictionary && !w.has_strategy)
        p->shard.strategy = library_of(p)->sharding;
    bool grad_op = library_shard(p, p->shard.strategy);
    p->shard.unit_layers = w.unit == UNIT_OF_LAYER ? 1 : INT64_MAX;
    r->written.degree |= w.has_degree;
    r->written.reshard = w.has_reshard || grad_op;
    r->written.backward_prefetch = w.has_backward_prefetch;
    r->written.adapter_units = w.has_adapter_units;
    if (w.has_limit)
        p->shard.in_flight = w.limit ? 2 : 0;
    return 0;
}
