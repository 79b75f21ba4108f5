/* The "partition" key of the parallelism section: a method, counts of layers, or
 * those of its ends. */
#include "layout/partition.h"
#include "scenario/parse.h"

#include <inttypes.h>

/* clang-format off */
static const struct name_value methods[] = {
    { "uniform", PARTITION_UNIFORM }, { "parameters", PARTITION_PARAMETERS },
    { "type:transformer", PARTITION_TYPE },
    { "type:transformer|embedding", PARTITION_TYPE_ENDS }, { "smp", PARTITION_SMP },
    { "smp-tree", PARTITION_SMP_TREE },
    { "uniform|embedding", PARTITION_UNIFORM_EMBEDDING },
    { "uniform|head", PARTITION_UNIFORM_HEAD },
    { "uniform|embedding|head", PARTITION_UNIFORM_BOTH },
    { "compute", PARTITION_COMPUTE }, { NULL, 0 },
};
/* clang-format on */

#define LAYERS_MAX 100000

/* [ 7, 9, 8 ]: layers of each stage, or of each chunk in order of execution. */
static int read_counts(struct parse_context *r, struct cfg c)
{
    struct parallelism *p = &r->s->parallel;
    const struct model *m = &r->s->model;
    int64_t parts = p->pipeline * p->stages.virtual_stages, sum = 0, n = cfg_len(c);
    if (n != parts)
        return cfg_error(c, DIAG_CONTRADICTION,
                         "%" PRId64 " counts for %" PRId64 " stages (write one each)",
                         n, parts);
    int64_t *layers = ARENA_ARRAY(&r->loader->arena, n, int64_t);
    for (int64_t i = 0; i < n; i++) {
        if (cfg_int(cfg_at(c, i), &layers[i], 0, LAYERS_MAX))
            return -1;
        sum += layers[i];
    }
    if (r->has_model && sum != m->layers + m->decoder_layers)
        return cfg_error(c, DIAG_CONTRADICTION,
                         "the counts sum to %" PRId64 ", not to the %" PRId64
                         " layers of %s",
                         sum, m->layers + m->decoder_layers, m->name);
    p->stages.partition = PARTITION_MANUAL;
    p->stages.layers = layers;
    return 0;
}

/* {"first": 4, "last": 3}: layers of these stages, the others evenly, each over its
 * chunks (Megatron-LM's --decoder-first-pipeline-num-layers). */
struct raw_uneven {
    int64_t first, last; /* 0: as the others */
};

static int read_uneven(struct parse_context *r, struct cfg c)
{
    static const struct cfg_field fields[] = {
        CFG_INT("first", struct raw_uneven, first, 1, LAYERS_MAX),
        CFG_INT("last", struct raw_uneven, last, 1, LAYERS_MAX),
        CFG_END,
    };
    struct parallelism *p = &r->s->parallel;
    const struct model *m = &r->s->model;
    struct raw_uneven w = { 0 };
    int64_t chunks = p->stages.virtual_stages, n = p->pipeline;
    if (cfg_read(c, fields, &w))
        return -1;
    if (n == 1 || !r->has_model)
        return 0;
    int64_t inner = n - (w.first > 0) - (w.last > 0),
            all = m->layers + m->decoder_layers, left = all - w.first - w.last,
            each = inner > 0 ? left / inner : 0;
    if (left < 0 || n * chunks > all || each * inner != left || each % chunks ||
        w.first % chunks || w.last % chunks || (inner > 0 && each == 0))
        return cfg_error(c, DIAG_NOT_DIVISIBLE,
                         "the %" PRId64 " layers of %s do not come out even (each of "
                         "%" PRId64 " stages needs as many, a multiple of %" PRId64
                         " chunks)",
                         all, m->name, inner, chunks);
    int64_t *layers = ARENA_ARRAY(&r->loader->arena, n * chunks, int64_t);
    for (int64_t i = 0; i < n * chunks; i++)
        layers[i] = (i % n == 0 && w.first      ? w.first
                     : i % n == n - 1 && w.last ? w.last
                                                : each) /
                    chunks;
    p->stages.partition = PARTITION_MANUAL;
    p->stages.layers = layers;
    return 0;
}

/* Embedding and head as layers have to come out even, as Megatron-LM asserts. */
static int check_ends(const struct parse_context *r, struct cfg c)
{
    const struct parallelism *p = &r->s->parallel;
    const struct model *m = &r->s->model;
    int64_t parts = p->pipeline * p->stages.virtual_stages,
            layers = m->layers + m->decoder_layers,
            ends = partition_ends(p->stages.partition);
    if (ends == 0 || p->pipeline == 1 || !r->has_model || (layers + ends) % parts == 0)
        return 0;
    return cfg_error(c, DIAG_NOT_DIVISIBLE,
                     "%" PRId64 " layers of %s, %" PRId64
                     " at its ends counted, are no multiple of %" PRId64
                     " stages (write the layers of each: [3, 4, 4, 3])",
                     layers + ends, m->name, ends, parts);
}

int stage_partition_words(struct parse_context *r, struct cfg c)
{
    struct parallelism *p = &r->s->parallel;
    int v;
    if (!cfg_present(c))
        return 0;
    if (cfg_is_array(c))
        return read_counts(r, c);
    if (cfg_is_object(c))
        return read_uneven(r, c);
    if (cfg_enum(c, methods, &v))
        return -1;
    p->stages.partition = (enum partition_method)v;
    return check_ends(r, c);
}
