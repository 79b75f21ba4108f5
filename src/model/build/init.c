/* Sizes, widths, flags and products of a model under settings: see build.h. */
#include "model/build/emit.h"

#include <math.h>
#include <string.h>

static flagset flag(bool on, flagset f)
{
    return on ? f : 0;
}

/* Whether the framework's fused softmax has a kernel for these sizes. */
static bool softmax_fits(const struct model *m, const struct op_settings *s)
{
    const struct framework *fw = s->framework;
    struct share share = share_of(m, s, OP_ATTENTION);
    int64_t rows = s->batch / share.tokens_over * m->attention.heads / share.degree;
    rows /= op_head_ranks(s);
    return (!fw->kernels.softmax_multiple ||
            rows % fw->kernels.softmax_multiple == 0) &&
           (!fw->kernels.softmax_longest || s->sequence <= fw->kernels.softmax_longest);
}

static bool fuses_rope(const struct model *m, const struct framework *fw)
{
    return m->attention.rotary && fw->kernels.fused_rope &&
           !(m->attention.scaled_rope && fw->kernels.fused_rope_unscaled);
}

/* Keys and values of as many heads as queries have come with these in one block. */
static bool rotates_in_place(const struct model *m, const struct framework *fw,
                             bool flash)
{
    const struct model_attention *a = &m->attention;
    return flash && fuses_rope(m, fw) && fw->kernels.rope_in_place &&
           fw->kernels.fused_qkv && a->kv_heads == a->heads && !a->latent_kv &&
           !a->one_kv && !a->borrows && a->q_norm == 0;
}

/* Attention saves v where the product of q, k and v made it, which so keeps all three;
 * rotation makes q and k anew. */
static bool keeps_views(const struct model *m, const struct framework *fw, bool flash)
{
    return fw->kernels.value_view && fw->kernels.fused_qkv && m->attention.rotary &&
           !rotates_in_place(m, fw, flash);
}

static flagset attention_flags(const struct model *m, const struct op_settings *s)
{
    const struct framework *fw = s->framework;
    bool flash = op_attention_is_fused(s->attention) && !m->attention.place_rows;
    bool plain = !m->attention.softcap &&
                 !m->attention.sinks; /* what fused softmaxes are written for */
    bool both =
        !flash && plain && fw->kernels.fused_softmax_dropout && m->attention.dropout;
    bool fused = !flash && plain && softmax_fits(m, s) &&
                 (s->attention == OP_ATTENTION_FUSED_SOFTMAX ||
                  fw->kernels.fused_softmax || both);
    bool wide = op_is_autocast(s->precision) || fw->kernels.softmax_wide;
    return flag(flash, HAS_FLASH) | flag(fused, HAS_FUSED_SOFTMAX) |
           flag(both, HAS_FUSED_SOFTMAX_DROPOUT) |
           flag(!flash && !fw->kernels.fused_qkv, HAS_COPIES) |
           flag((fw->kernels.fused_qkv || m->attention.fused_qkv) &&
                    !m->attention.latent_kv && !m->attention.one_kv &&
                    !m->attention.borrows,
                HAS_FUSED_QKV) |
           flag(m->attention.value_norm && !m->attention.borrows, HAS_VALUE_NORM) |
           flag(m->attention.one_kv && !m->attention.borrows, HAS_ONE_KV) |
           flag(m->attention.borrows, HAS_BORROWED_KV) |
           flag(!flash && !fused && wide, HAS_WIDE_PROBS) |
           flag(!flash && !fused && fw->tensors.keeps_softmax_input,
                HAS_SOFTMAX_INPUT) |
           flag(m->attention.dropout, HAS_ATTENTION_DROPOUT) |
           flag(m->attention.rotary, HAS_ROPE) |
           flag(fuses_rope(m, fw), HAS_FUSED_ROPE) |
           flag(rotates_in_place(m, fw, flash), HAS_ROPE_IN_PLACE) |
           flag(keeps_views(m, fw, flash), HAS_VALUE_VIEW) |
           flag(m->attention.rotary && fw->kernels.split_rope &&
                    !fw->kernels.fused_rope,
                HAS_SPLIT_ROPE) |
           flag(m->attention.relative_buckets > 0, HAS_RELATIVE) |
           flag(m->attention.relative_each, HAS_RELATIVE_EACH) |
           flag(m->attention.relative_gate, HAS_RELATIVE_GATE) |
           flag(m->attention.place_rows > 0, HAS_PLACE_KEYS) |
           flag(m->attention.place_norm, HAS_PLACE_NORM) |
           flag(m->attention.q_norm > 0, HAS_QK_NORM) |
           flag(m->attention.softcap, HAS_ATTENTION_SOFTCAP) |
           flag(m->attention.sinks, HAS_SINKS) |
           flag(m->attention.gated, HAS_OUTPUT_GATE) |
           flag(m->attention.index_heads > 0, HAS_INDEXER) |
           flag(flash && s->context_method != OP_CONTEXT_GATHER && op_ring_ranks(s) > 1,
                HAS_RING) |
           flag(m->attention.latent_kv > 0, HAS_LATENT) |
           flag(m->attention.latent_q > 0, HAS_LATENT_QUERY) |
           flag(op_head_ranks(s) > 1, HAS_ULYSSES);
}

/* Whether the products of a module read fewer than 16 bits. */
static bool quantizes(const struct op_settings *s, enum op_formatted module)
{
    uint8_t own = s->formats.of[module];
    enum op_precision p = own > 0 ? (enum op_precision)(own - 1) : s->precision;
    return dtype_is_quantized(op_compute_dtype(p));
}

/* Whether each rank of a tensor group has some of the words in its loss. */
static bool splits_loss(const struct op_settings *s)
{
    return s->tensor > 1 && !s->whole_loss;
}

/* Cross-entropy of several kernels on 16-bit logits (MODEL.md, 8.15). */
static bool has_raw_loss(const struct op_settings *s)
{
    const struct framework_loss *l = &s->framework->loss;
    return s->raw_loss && !l->fused && !l->compiled && !l->in_place;
}

/* Log-softmax reads and writes a logit, the loss's backward writes one, log-softmax's
 * reads two and writes one. */
static double logit_B(const struct op_settings *s)
{
    enum { TIMES = 6, NARROW_B = 2 };
    return has_raw_loss(s) ? TIMES * NARROW_B : s->framework->loss.logit_B;
}

/* What moves tokens to and from experts, and how often (MODEL.md, R11.9). */
static flagset expert_flags(const struct model *m, const struct op_settings *s)
{
    const struct framework_experts *fw = &s->framework->experts;
    bool ranks = s->expert > 1 && m->mlp.experts > s->expert;
    bool fp8 = dtype_is_quantized(op_compute_dtype(s->precision));
    if (m->mlp.experts == 0)
        return 0;
    bool kernels = s->dispatch != OP_DISPATCH_SORTED;
    bool pads = fw->padded_fp8 && fp8 && !s->pads_experts;
    return flag(kernels, HAS_DISPATCH_KERNELS) |
           flag(kernels || (fw->sorted && ranks), HAS_SORTED_EXPERTS) |
           flag(pads && s->dispatch != OP_DISPATCH_PADDED, HAS_PADDED_EXPERTS) |
           flag(fw->sorted && !fw->fused_permute, HAS_EAGER_PERMUTE) |
           flag(fw->joined_gate, HAS_JOINED_GATE) |
           flag(fw->weighted_activation, HAS_WEIGHTED_ACTIVATION) |
           flag(fw->fused && quantizes(s, OP_FORMAT_EXPERTS) && m->mlp.gated,
                HAS_FUSED_EXPERTS) |
           flag(fw->eager_biases && m->mlp.bias, HAS_EAGER_BIASES) |
           flag(fw->scatter_sm_B > 0 && !kernels, HAS_SCATTER) |
           flag(fw->turn_reads > 0 && !kernels, HAS_EXPERT_TURNS) |
           flag(fw->scatter_sm_B > 0 && m->mlp.bias, HAS_SCATTERED_BIASES);
}

static flagset flags(const struct model *m, const struct op_settings *s)
{
    const struct framework *fw = s->framework;
    bool wide_logits = dtype_bytes(op_parameter_dtype(s->precision)) == 4 &&
                       !op_is_autocast(s->precision);
    return attention_flags(m, s) | build_state_flags(m) |
           flag(m->mlp.experts > 0 && m->mlp.latent > 0, HAS_LATENT_EXPERTS) |
           flag(m->mlp.experts > 0 && m->mlp.apart, HAS_MLP_BESIDE) |
           flag(m->layer_inputs.columns > 0, HAS_LAYER_INPUTS) |
           flag(m->layer_scale, HAS_LAYER_SCALE) |
           flag(m->altup.inputs > 0, HAS_ALTUP) | flag(m->mlp.sparse, HAS_SPARSE_MLP) |
           flag(op_is_autocast(s->precision), HAS_AMP) |
           flag(fw->kernels.fused_dropout_add, HAS_FUSED_ADD) |
           flag(m->hidden_dropout, HAS_HIDDEN_DROPOUT) |
           flag(m->hidden_dropout && m->memory_dropout, HAS_MEMORY_DROPOUT) |
           flag(m->mlp.gated, HAS_GATE) |
           flag(m->mlp.gated && fw->kernels.fused_gate, HAS_FUSED_GATE) |
           flag(quantizes(s, OP_FORMAT_OUT), HAS_QUANTIZED) |
           flag(m->mlp.experts > 0, HAS_EXPERTS) | expert_flags(m, s) |
           flag(m->mlp.shared_width > 0, HAS_SHARED) |
           flag(m->mlp.shared_scale, HAS_SHARED_SCALE) |
           flag(m->norms.result, HAS_RESULT_NORM) |
           flag(m->ends.logit_softcap, HAS_LOGIT_SOFTCAP) |
           flag(m->norms.rms && !fw->kernels.fused_norm, HAS_EAGER_RMS) |
           flag(build_gathers(m, s), HAS_PREDICTED) |
           flag(m->ends.positions > 0, HAS_POSITIONS) |
           flag(m->ends.patch > 0, HAS_PATCHES) |
           flag(m->ends.word > 0, HAS_WORD_PRODUCT) |
           flag(m->ends.word > 0 && m->ends.word_out, HAS_WORD_OUT) |
           flag(m->ends.type_vocab > 0, HAS_TYPES) |
           flag(m->norms.embedding, HAS_EMBEDDING_NORM) |
           flag(!wide_logits, HAS_CAST_LOSS) |
           flag(fw->loss.fused || fw->loss.compiled, HAS_FUSED_LOSS) |
           flag(fw->loss.compiled && fw->loss.split_B > 0 && splits_loss(s),
                HAS_SPLIT_LOSS) |
           flag(fw->loss.fused ||
                    (fw->loss.in_place && !fw->loss.compiled && !wide_logits),
                HAS_LOSS_IN_PLACE) |
           flag(has_raw_loss(s) && !wide_logits, HAS_RAW_LOSS) |
           flag(fw->loss.kept, HAS_KEPT_LOGITS) |
           flag(fw->tensor.list_gather && s->tensor > 1 && s->whole_loss,
                HAS_LIST_GATHER) |
           flag(model_ties_head(m), HAS_TIED);
}

static void set_widths(struct build *b)
{
    enum op_precision p = b->s->precision;
    double narrow =
        op_compute_dtype(p) == DTYPE_FP32 || op_compute_dtype(p) == DTYPE_TF32 ? 4 : 2;
    double wide = op_is_autocast(p) ? 4 : narrow;
    b->width[WIDTH_NARROW] = narrow;
    b->width[WIDTH_WIDE] = wide;
    b->width[WIDTH_PROBS] = b->flags & HAS_WIDE_PROBS ? 4 : narrow;
    b->width[WIDTH_MASK] = 1;
    b->width[WIDTH_FP32] = 4;
    b->width[WIDTH_LOSS] = logit_B(b->s) / 4;
    const struct framework_loss *loss = &b->s->framework->loss;
    b->width[WIDTH_LOSS_BWD] =
        narrow + (splits_loss(b->s) ? loss->split_B : 0) + (loss->kept ? narrow : 0);
}

static int64_t padded(int64_t n, int64_t multiple)
{
    return multiple > 0 ? (n + multiple - 1) / multiple * multiple : n;
}

/* The product reads a slice of the stream, and adds to all columns of its output. */
static void split_columns(struct linear *l, const struct op_settings *s)
{
    if (!s->by_columns)
        return;
    l->by_columns = true;
    l->k /= s->tensor;
    l->n *= s->tensor;
}

/* Products before and after the layers. `tokens`: of a rank's layers; `head`: the number
 * format of what is in no layer. */
static void set_end_linears(struct build *b, int64_t vocab, int64_t tokens,
                            enum dtype head)
{
    const struct model *m = b->m;
    const struct op_settings *s = b->s;
    const struct share *ends = &b->shares[OP_HEAD];
    int64_t replicas = s->replicas > 1 ? s->replicas : 1;
    int64_t h = m->hidden, predicted = build_predicted_rows(b),
            pooled = build_dealt(s->batch, ends->tokens_over);
    bool scored = m->ends.head == MODEL_HEAD_SCORE;
    int64_t classed = scored || m->ends.head == MODEL_HEAD_SPAN
                          ? build_dealt(op_tokens(s), ends->tokens_over)
                          : pooled;
    bool masked =
        m->ends.head == MODEL_HEAD_MASKED_LM || m->ends.head == MODEL_HEAD_PRETRAIN;
    int64_t word = m->ends.word, out = word > 0 && m->ends.word_out ? word : h;
    const struct linear rows[] = {
        [MODULE_DENSE] = { predicted, h, out, 1, masked, true, head },
        [MODULE_LOGITS] = { predicted, out, vocab / ends->degree, 1,
                            m->ends.head_bias || masked, !m->ends.tied, head },
        [MODULE_POOLER] = { pooled, h, m->ends.embed ? m->ends.embed : h, 1,
                            !m->ends.embed || m->ends.embed_bias, true, head },
        [MODULE_PATCH] = { tokens, m->ends.patch + word, h, 1,
                           word > 0 ? m->ends.word_bias : m->ends.patch_bias, true,
                           head },
        [MODULE_CLASSES] = { classed, h, 2, 1, !scored, true, head },
        [MODULE_CONTRAST] = { 2 * pooled, m->ends.embed, pooled * replicas, 1, false,
                              false, head },
    };
    for (int i = MODULE_DENSE; i <= MODULE_CONTRAST; i++)
        b->linears[i] = rows[i];
}

/* Which products are experts', and which a tensor group splits by columns. */
static void mark_linears(struct build *b)
{
    const struct model *m = b->m;
    const struct op_settings *s = b->s;
    for (int i = MODULE_GATE; i <= MODULE_DOWN && m->mlp.experts > 0; i++) {
        b->linears[i].expert = true;
        b->linears[i].slower = s->expert_imbalance;
    }
    for (int i = MODULE_QKV; i <= MODULE_UP; i++)
        if (i != MODULE_OUT && i != MODULE_PLACE_KEY && i != MODULE_PLACE_QUERY &&
            i != MODULE_INDEX_QUERY && i != MODULE_INDEX_KEY &&
            b->shares[i < MODULE_OUT ? OP_ATTENTION : OP_MLP].degree > 1)
            split_columns(&b->linears[i], s);
}

struct part_linear {
    enum module part;
    int64_t rows, k, n, batch;
    bool bias, owned;
    enum dtype dtype;
};

static void put_linears(struct build *b, const struct part_linear *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        b->linears[rows[i].part] = (struct linear) { .rows = rows[i].rows,
                                                     .k = rows[i].k,
                                                     .n = rows[i].n,
                                                     .batch = rows[i].batch,
                                                     .bias = rows[i].bias,
                                                     .owned = rows[i].owned,
                                                     .dtype = rows[i].dtype };
}

/* Gemma 3n: inputs of layers, streams and the thin products next to attention. */
static void set_stream_linears(struct build *b, int64_t tokens, enum dtype layer,
                               enum dtype head)
{
    const struct model *m = b->m;
    int64_t h = m->hidden, columns = m->layer_inputs.columns, thin = m->altup.laurel,
            others = m->altup.inputs > 0 ? m->altup.inputs - 1 : 0;
    const struct part_linear rows[] = {
        { MODULE_LAYER_GATE, tokens, h, columns, 1, false, true, layer },
        { MODULE_LAYER_OUT, tokens, columns, h, 1, false, true, layer },
        { MODULE_LAYER_PROJECT, tokens, h, columns * m->layers, 1, false, true, head },
        { MODULE_LAUREL_LEFT, tokens, h, thin, 1, false, true, layer },
        { MODULE_LAUREL_RIGHT, tokens, thin, h, 1, false, true, layer },
        { MODULE_ALTUP_IN, tokens * others, h, h, others, false, true, head },
        { MODULE_ALTUP_OUT, tokens * others, h, h, others, false, true, head },
    };
    put_linears(b, rows, sizeof(rows) / sizeof(rows[0]));
}

static void set_attention_linears(struct build *b, int64_t tokens, enum dtype layer)
{
    const struct model *m = b->m;
    const struct model_attention *a = &m->attention;
    const struct op_settings *s = b->s;
    int64_t h = m->hidden, degree = b->shares[OP_ATTENTION].degree;
    int64_t q = a->q_width / degree, kv = op_keys_width(m, s) / degree;
    int64_t made = model_context_width(m) / degree, gate = a->gated ? made : 0;
    int64_t up =
        a->heads / degree * (a->head_dim - a->latent_rope + model_value_dim(m));
    int64_t down = s->sequence_parallel ? tokens / degree : tokens;
    int64_t from = a->latent_q ? a->latent_q : h;
    const struct part_linear rows[] = {
        { MODULE_QKV, tokens, h, q + gate + 2 * kv, 1, a->qkv_bias, true, layer },
        { MODULE_QUERY, tokens, from, q + gate, 1, a->qkv_bias, true, layer },
        { MODULE_KEY, tokens, h, kv, 1, a->qkv_bias, true, layer },
        { MODULE_VALUE, tokens, h, kv, 1, a->qkv_bias, true, layer },
        { MODULE_QUERY_DOWN, down, h, a->latent_q, 1, false, true, layer },
        { MODULE_KV_DOWN, down, h, a->latent_kv + a->latent_rope, 1, false, true,
          layer },
        { MODULE_KV_UP, tokens, a->latent_kv, up, 1, false, true, layer },
        { MODULE_INDEX_QUERY, tokens, from, a->index_heads * a->index_dim, 1, false,
          true, layer },
        { MODULE_INDEX_KEY, tokens, h, a->index_dim + a->index_heads, 1, false, true,
          layer },
        { MODULE_PLACE_KEY, build_place_rows(b), h, q, 1, false, a->place_products,
          layer },
        { MODULE_PLACE_QUERY, build_place_rows(b), h, q, 1, a->place_products,
          a->place_products, layer },
        { MODULE_OUT, tokens, made, h, 1, a->out_bias, true, layer },
    };
    put_linears(b, rows, sizeof(rows) / sizeof(rows[0]));
}

/* The MLP, its experts and what routes to them. */
static void set_mlp_linears(struct build *b, enum dtype layer, enum dtype head)
{
    const struct model_mlp *p = &b->m->mlp;
    const struct op_settings *s = b->s;
    const struct share *mlp = &b->shares[OP_MLP];
    int64_t h = b->m->hidden, shared = p->shared_width / mlp->degree;
    int64_t folded = op_expert_rows_over(s, b->m);
    int64_t f = p->width / (mlp->degree / folded),
            routed = build_dealt(op_tokens(s), mlp->tokens_over),
            own = folded > 1 ? routed / mlp->degree : routed;
    int64_t columns = model_expert_columns(b->m);
    int64_t all = p->experts > 0 ? p->experts : 1;
    int64_t experts = all / (s->expert > 1 && p->experts > 0 ? s->expert : 1);
    int64_t inside =
        (int64_t)ceil((double)(routed / folded) * op_experts_each(b->m, s));
    const struct part_linear rows[] = {
        { MODULE_GATE, inside, columns, f, experts, p->bias, true, layer },
        { MODULE_UP, inside, columns, f, experts, p->bias, true, layer },
        { MODULE_DOWN, inside, f, columns, experts, p->bias, true, layer },
        { MODULE_ROUTER, own, h, all, 1, p->router_bias, true, head },
        { MODULE_SHARED_GATE, routed, h, shared, 1, p->bias, true, layer },
        { MODULE_SHARED_UP, routed, h, shared, 1, p->bias, true, layer },
        { MODULE_SHARED_DOWN, routed, shared, h, 1, p->bias, true, layer },
        { MODULE_SHARED_SCALE, own, h, 1, 1, false, true, head },
        { MODULE_EXPERTS_IN, own, h, columns, 1, false, true, layer },
        { MODULE_EXPERTS_OUT, own, columns, h, 1, false, true, layer },
    };
    put_linears(b, rows, sizeof(rows) / sizeof(rows[0]));
}

static void set_linears(struct build *b, int64_t vocab)
{
    int64_t tokens = build_dealt(op_tokens(b->s), b->shares[OP_ATTENTION].tokens_over);
    enum dtype layer = op_compute_dtype(b->s->precision);
    enum dtype head = dtype_is_quantized(layer) ? DTYPE_BF16 : layer;
    set_attention_linears(b, tokens, layer);
    set_mlp_linears(b, layer, head);
    build_state_linears(b, tokens, layer);
    set_stream_linears(b, tokens, layer, head);
    set_end_linears(b, vocab, tokens, head);
    build_set_formats(b);
    mark_linears(b);
}

int build_init(struct build *b, struct arena *arena, const struct model *m,
               const struct op_settings *s, struct err *err)
{
    *b = (struct build) { .arena = arena, .m = m, .s = s, .err = err };
    int64_t vocab = padded(m->ends.vocab, s->vocab_padding);
    if (build_check(m, s, vocab, err) < 0)
        return -1;
    b->flags = flags(m, s);
    b->flags |= flag(!build_trains(b, MODULE_WORD), HAS_FROZEN_EMBEDDING) |
                flag(!build_trains(b, MODULE_NORM), HAS_FROZEN_NORMS);
    set_widths(b);
    for (int i = 0; i < OP_MODULES; i++)
        b->shares[i] = share_of(m, s, (enum op_module)i);
    b->flags |=
        flag(b->flags & HAS_LAYER_INPUTS && (build_trains(b, MODULE_WORD) ||
                                             build_adapts(b, MODULE_LAYER_PROJECT)),
             HAS_LAYER_INPUTS_BWD);
    for (int i = 0; i < OP_MODULES; i++)
        if (build_set_elements(b, (enum op_module)i, vocab) < 0)
            return -1;
    set_linears(b, vocab);
    return 0;
}
