#include "model/summary.h"

#include "model/pattern.h"

#include <string.h>

const struct name_value summary_part_names[] = {
    { "embedding", SUMMARY_EMBEDDING }, { "attention", SUMMARY_ATTENTION },
    { "state", SUMMARY_STATE },         { "mlp", SUMMARY_MLP },
    { "experts", SUMMARY_EXPERTS },     { "norms", SUMMARY_NORMS },
    { "vision", SUMMARY_VISION },       { "head", SUMMARY_HEAD },
    { "idle", SUMMARY_IDLE },           { NULL, 0 },
};

/* What a tensor's name begins with says whose it is. */
static enum summary_part part_of(const struct op_block *block, const struct op_param *p)
{
    static const char *const mlp[] = { "gate",       "up",          "down", "shared_",
                                       "experts_in", "experts_out", NULL };
    if (strcmp(p->name, "idle.weight") == 0)
        return SUMMARY_IDLE;
    if (strncmp(p->name, "layer_", 6) == 0)
        return SUMMARY_EMBEDDING;
    if (strncmp(block->name, "vision", 6) == 0 || strcmp(block->name, "projector") == 0)
        return SUMMARY_VISION;
    const char *name = p->name;
    if (strncmp(name, "text_", 5) == 0)
        name += 5;
    if (strstr(p->name, "norm"))
        return SUMMARY_NORMS;
    if (p->expert || strncmp(p->name, "router", 6) == 0)
        return SUMMARY_EXPERTS;
    if (strcmp(block->name, "head") == 0)
        return SUMMARY_HEAD;
    if (!op_block_is_layer(block))
        return SUMMARY_EMBEDDING;
    if (strncmp(p->name, "state_", 6) == 0)
        return SUMMARY_STATE;
    for (const char *const *word = mlp; *word; word++)
        if (strncmp(name, *word, strlen(*word)) == 0)
            return SUMMARY_MLP;
    return SUMMARY_ATTENTION;
}

static int make_list(struct op_list *list, struct arena *arena, const struct model *m,
                     int64_t sequence, const struct framework *framework,
                     enum op_attention attention, enum op_precision precision,
                     struct err *err)
{
    struct op_settings s = { .batch = 1,
                             .sequence = sequence,
                             .decoder = m->ends.frames ? m->ends.positions : 0,
                             .framework = framework,
                             .attention = attention,
                             .precision = precision,
                             .tensor = 1 };
    return op_list_make(list, arena, m, &s, err);
}

static void add_block(struct model_summary *out, const struct model *m,
                      const struct op_block *block)
{
    double inactive = m->mlp.experts > 0 ? 1 - (double)m->mlp.experts_per_token /
                                                   (double)m->mlp.experts
                                         : 0;
    for (int32_t i = 0; i < block->n_params; i++) {
        const struct op_param *p = &block->params[i];
        int64_t n = block->repeat * p->elements;
        out->parameters += n;
        out->active += p->expert ? n - (int64_t)((double)n * inactive + 0.5) : n;
        out->parts[part_of(block, p)] += n;
    }
}

static void describe(struct summary_block *b, const struct op_block *block)
{
    double tokens = (double)block->tokens;
    *b = (struct summary_block) { .name = block->name,
                                  .repeat = block->repeat,
                                  .parameters = op_block_parameters(block),
                                  .is_layer = op_block_is_layer(block) };
    for (int32_t i = 0; i < block->n_forward; i++)
        b->forward_flops += block->forward[i].flops / tokens;
}

/* Blocks of one name are one kind, wherever they are. */
static void add_kind(struct model_summary *out, int precision,
                     const struct op_block *block)
{
    int32_t i = 0;
    while (i < out->n_blocks && strcmp(out->blocks[i].name, block->name) != 0)
        i++;
    if (i == SUMMARY_BLOCKS_MAX)
        return;
    struct summary_block *b = &out->blocks[i];
    if (i == out->n_blocks) {
        describe(b, block);
        out->n_blocks++;
    } else if (precision == 0) {
        b->repeat += block->repeat;
    }
    b->kept_B[precision] = (double)op_block_kept_B(block) / (double)block->tokens;
}

/* Keys and values of all layers, 16 bits each; of latent attention what they are made
 * of. */
static double cache_B(const struct model *m)
{
    const struct model_attention *a = &m->attention;
    int64_t layers = m->arch == MODEL_ENCODER_DECODER ? m->decoder_layers
                                                      : model_attention_layers(m);
    if (m->arch == MODEL_ENCODER)
        return 0;
    double width = a->latent_kv ? (double)(a->latent_kv + a->latent_rope)
                                : 2 * (double)a->kv_width;
    double sum = 0;
    for (int64_t i = 0; m->n_variants > 0 && i < m->layers; i++) {
        struct model one = model_of_kind(m, model_kind_of(m, i));
        sum += one.attention.borrows ? 0 : 2 * 2 * (double)one.attention.kv_width;
    }
    return m->n_variants > 0 ? sum : 2 * width * (double)layers;
}

int model_summarise(struct model_summary *out, struct arena *arena,
                    const struct model *m, int64_t sequence,
                    const struct framework *framework, enum op_attention attention,
                    struct err *err)
{
    struct model base = model_as_counted(m);
    struct op_list list;
    *out = (struct model_summary) { .sequence = sequence };
    int rc =
        make_list(&list, arena, &base, sequence, framework, attention, OP_BF16, err);
    for (int32_t i = 0; rc == 0 && i < list.n_blocks; i++)
        add_block(out, m, &list.blocks[i]);
    for (int p = 0; rc == 0 && p < OP_PRECISION_N; p++) {
        rc = make_list(&list, arena, m, sequence, framework, attention,
                       (enum op_precision)p, err);
        out->with_head = rc == 0 ? op_list_parameters(&list) : 0;
        for (int32_t i = 0; rc == 0 && i < list.n_blocks; i++)
            add_kind(out, p, &list.blocks[i]);
    }
    out->training_flops =
        model_flops_per_sample(m, sequence, 0, true) / (double)sequence;
    out->forward_flops = out->training_flops / 3;
    out->kv_B = cache_B(m);
    return rc;
}
