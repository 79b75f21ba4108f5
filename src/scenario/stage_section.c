/* The "partition" key of the parallelism section: a method, or counts of layers. */
#include "scenario/parse.h"

#include <inttypes.h>

/* clang-format off */
static const struct name_value methods[] = {
    { "uniform", PARTITION_UNIFORM }, { "parameters", PARTITION_PARAMETERS },
    { "type:transformer", PARTITION_TYPE },
    { "type:transformer|embedding", PARTITION_TYPE_ENDS }, { "smp", PARTITION_SMP },
    { "smp-tree", PARTITION_SMP_TREE }, { NULL, 0 },
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
        if (cfg_int(cfg_at(c, i), &layers[i], 1, LAYERS_MAX))
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

int stage_partition_words(struct parse_context *r, struct cfg c)
{
    struct parallelism *p = &r->s->parallel;
    int v;
    if (!cfg_present(c))
        return 0;
    if (cfg_is_array(c))
        return read_counts(r, c);
    if (cfg_enum(c, methods, &v))
        return -1;
    p->stages.partition = (enum partition_method)v;
    return 0;
}
