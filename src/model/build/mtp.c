/* Modules that predict further tokens in training (multi-token prediction): each joins
 * the stream with the embedding of the token after, runs a layer of its own, and makes
 * logits and a loss with the model's own matrix (DeepSeek-V3, arXiv 2412.19437, 2.2;
 * megatron/core/transformer/multi_token_prediction.py, core_v0.19.0). MODEL.md, 2.7. */
#include "model/build/build.h"

/* The embedding, its norm, the stream's norm, both side by side through a product. The
 * matrix of words is the model's, and so is its gradient, to which another is added. */
static const struct row words_f[] = {
    { ROW_STREAM, "word_gather", .read = { WIDE(1, X) }, .write = { WIDE(1, X) },
      .keep = { KEEP(WIDE(1, A), "mtp_embedding_norm_bwd") } },
    ROW_END,
};
static const struct row words_b[] = {
    { ROW_STREAM, "word_scatter", .launches = 4, .read = { WIDE(1, X) },
      .write = { WIDE(1, WORD), WIDE(1, X) } },
    { ROW_STREAM, "word_sum", .same_node = true, .read = { WIDE(2, WORD) },
      .write = { WIDE(1, WORD) }, .in_place = true },
    ROW_END,
};
static const struct row join_f[] = {
    { ROW_STREAM, "mtp_join", .read = { WIDE(2, A) }, .write = { NARROW(2, A) },
      .keep = { KEEP(NARROW(2, I), "mtp_projection_wgrad") } },
    { ROW_LINEAR, .part = MODULE_MTP },
    ROW_END,
};
static const struct row join_b[] = {
    { ROW_DGRAD, .part = MODULE_MTP },
    { ROW_WGRAD, .part = MODULE_MTP },
    { ROW_STREAM, "mtp_join_bwd", .read = { NARROW(2, A) }, .write = { WIDE(2, A) } },
    ROW_END,
};

static const struct build_step input_f[] = {
    STEP(words_f, 0),
    STEP(build_norm_f, 0, .prefix = "mtp_embedding_"),
    STEP(build_norm_f, 0, .prefix = "mtp_stream_"),
    STEP(join_f, 0),
    STEPS_END,
};
static const struct build_step input_b[] = {
    STEP(join_b, 0),
    STEP(build_norm_b, 0, .prefix = "mtp_stream_"),
    STEP(build_norm_b, 0, .prefix = "mtp_embedding_"),
    STEP(words_b, 0),
    STEPS_END,
};

static void build_input(struct build *b, struct op_block *block)
{
    const struct keep given = { .term = WIDE(1, A), .until = "mtp_stream_norm_bwd" };
    struct linear *l = &b->linears[MODULE_MTP];
    const int64_t h = b->m->hidden, t = b->shares[OP_EMBEDDING].degree;
    *l = (struct linear) { .rows = op_tokens(b->s),
                           .k = 2 * h,
                           .n = h / t,
                           .batch = 1,
                           .owned = true,
                           .dtype = op_compute_dtype(b->s->precision) };
    b->module = OP_EMBEDDING;
    b->elements = b->sizes[OP_EMBEDDING];
    build_block(b, block, "mtp_input", 1, input_f, input_b, given);
}

static void build_mtp_head(struct build *b, struct op_block *block)
{
    struct linear own = b->linears[MODULE_LOGITS];
    b->linears[MODULE_LOGITS].owned = b->linears[MODULE_LOGITS].bias = false;
    build_head(b, block);
    b->linears[MODULE_LOGITS] = own;
    block->name = "mtp_head";
}

int32_t build_mtp_blocks(const struct model *m)
{
    return BUILD_MTP_BLOCKS * (int32_t)m->mtp_layers;
}

/* The parameters are the first module's, whose backward runs last. */
static void disown(struct op_block *block)
{
    block->n_params = 0;
    for (int32_t i = 0; i < block->n_backward; i++)
        block->backward[i].grad_n = 0;
}

static void build_modules(struct build *b, struct op_block *block)
{
    for (int64_t k = 0; k < b->m->mtp_layers; k++) {
        struct op_block *first = block;
        build_input(b, block++);
        build_layer(b, block, STACK_ONLY);
        block->repeat = 1;
        block++->name = "mtp_layer";
        build_mtp_head(b, block++);
        for (; k > 0 && b->m->mtp_repeated && first < block; first++)
            disown(first);
    }
}

int build_mtp(struct build *b, struct op_block *block, struct err *err)
{
    uint8_t own = b->s->formats.of[OP_FORMAT_MTP];
    struct build other;
    if (own == 0 || b->m->mtp_layers == 0) {
        build_modules(b, block);
        return 0;
    }
    struct op_settings *s = ARENA_NEW(b->arena, struct op_settings);
    *s = *b->s;
    s->precision = (enum op_precision)(own - 1);
    s->formats = (struct op_formats) { 0 };
    if (build_init(&other, b->arena, b->m, s, err) < 0)
        return -1;
    build_modules(&other, block);
    return 0;
}
