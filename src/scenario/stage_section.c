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
 * chunks (Megatron-LM's --decoder-first-pipeline-num-layers). {"first_less": 1,
 * "last_less": 2}: so many less than an even share of all chunks (torchtitan's
 * pipeline_parallel_first_stage_less_layers). */
struct raw_uneven {
    int64_t first, last; /* 0: as the others */
    int64_t first_less, last_less;
};

/* The ends count as so many layers; the first chunks take what is left of an even
 * division (torchtitan/distributed/pipeline_parallel.py, @b5bcd76c). */
static int spread_less(struct parse_context *r, struct cfg c,
                       const struct raw_uneven *w)
{
    struct parallelism *p = &r->s->parallel;
    const struct model *m = &r->s->model;
    int64_t n = p->pipeline * p->stages.virtual_stages,
            all = m->layers + m->decoder_layers + w->first_less + w->last_less,
            each = all / n;
    if (each < 1 || each < w->first_less || each < w->last_less)
        return cfg_error(c, DIAG_OUT_OF_RANGE,
                         "an even share of %s's layers over %" PRId64
                         " stages is %" PRId64 ", no more than what its ends have less",
                         m->name, n, each);
    int64_t *layers = ARENA_ARRAY(&r->loader->arena, n, int64_t);
    for (int64_t i = 0; i < n; i++)
        layers[i] = each + (i < all % n) - (i == 0 ? w->first_less : 0) -
                    (i == n - 1 ? w->last_less : 0);
    p->stages.partition = PARTITION_MANUAL;
    p->stages.layers = layers;
    return 0;
}

static int read_uneven(struct parse_context *r, struct cfg c)
{
    static const struct cfg_field fields[] = {
        CFG_INT("first", struct raw_uneven, first, 1, LAYERS_MAX),
        CFG_INT("last", struct raw_uneven, last, 1, LAYERS_MAX),
        CFG_INT("first_less", struct raw_uneven, first_less, 0, LAYERS_MAX),
        CFG_INT("last_less", struct raw_uneven, last_less, 0, LAYERS_MAX),
        CFG_END,
    };
    struct parallelism *p = &r->s->parallel;
    const struct model *m = &r->s->model;
    struct raw_uneven w = { 0 };
    int64_t chunks = p->stages.virtual_stages, n = p->pipeline;
    if (cfg_read(c, fields, &w))
        return -1;
    bool less =
        cfg_present(cfg_get(c, "first_less")) || cfg_present(cfg_get(c, "last_less"));
    if (less && (w.first || w.last))
        return cfg_error(c, DIAG_CONTRADICTION,
                         "layers of the ends are counted, or less than others' (keep "
                         "\"first\" and \"last\", or \"first_less\" and "
                         "\"last_less\")");
    if (n == 1 || !r->has_model)
        return 0;
    if (less)
        return spread_less(r, c, &w);
    if (parallelism_schedule(p->stages.schedule)->folds)
        return cfg_error(
            c, DIAG_UNSUPPORTED,
            "the first stage of a V is its last one, too (write the layers "
            "of each chunk, in order of execution)");
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
