/* Sizes, widths, flags and products of a model under settings: see build.h. */
#include "model/build_emit.h"

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

static flagset attention_flags(const struct model *m, const struct op_settings *s)
{
    const struct framework *fw = s->framework;
    bool flash = op_attention_is_fused(s->attention);
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
           flag(m->attention.rotary && fw->kernels.split_rope &&
                    !fw->kernels.fused_rope,
                HAS_SPLIT_ROPE) |
           flag(m->attention.relative_buckets > 0, HAS_RELATIVE) |
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

static bool gathers(const struct model *m, const struct op_settings *s)
{
    bool masked =
        m->ends.head == MODEL_HEAD_MASKED_LM || m->ends.head == MODEL_HEAD_PRETRAIN;
    return masked && s->predicted > 0;
}

/* Whether the products of a module read fewer than 16 bits. */
static bool quantizes(const struct op_settings *s, enum op_formatted module)
{
    uint8_t own = s->formats.of[module];
    enum op_precision p = own > 0 ? (enum op_precision)(own - 1) : s->precision;
    return dtype_is_quantized(op_compute_dtype(p));
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
           flag(fw->eager_biases && m->mlp.bias, HAS_EAGER_BIASES);
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
           flag(gathers(m, s), HAS_PREDICTED) |
           flag(m->ends.positions > 0, HAS_POSITIONS) |
           flag(m->ends.patch > 0, HAS_PATCHES) |
           flag(m->ends.word > 0, HAS_WORD_PRODUCT) |
           flag(m->ends.word > 0 && m->ends.word_out, HAS_WORD_OUT) |
           flag(m->ends.type_vocab > 0, HAS_TYPES) |
           flag(m->norms.embedding, HAS_EMBEDDING_NORM) |
           flag(!wide_logits, HAS_CAST_LOSS) |
           flag(fw->loss.fused || fw->loss.compiled, HAS_FUSED_LOSS) |
           flag(fw->loss.fused ||
                    (fw->loss.in_place && !fw->loss.compiled && !wide_logits),
                HAS_LOSS_IN_PLACE) |
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
    b->width[WIDTH_LOSS] = b->s->framework->loss.logit_B / 4;
    b->width[WIDTH_LOSS_BWD] =
        narrow + (b->s->tensor > 1 ? b->s->framework->loss.split_B : 0);
}

/* Dealt out to as many ranks: to those that share a sequence, or a group's batch. */
static int64_t dealt(int64_t n, int64_t ranks)
{
    return (n + ranks - 1) / ranks;
}

/* Rows of the head on this GPU. */
static int64_t predicted_rows(const struct build *b)
{
    const struct op_settings *s = b->s;
    int64_t over = b->shares[OP_HEAD].tokens_over;
    if (!gathers(b->m, s))
        return dealt(op_tokens(s), over);
    return dealt(s->batch * s->predicted, over * (s->context > 1 ? s->context : 1));
}

static int64_t padded(int64_t n, int64_t multiple)
{
    return multiple > 0 ? (n + multiple - 1) / multiple * multiple : n;
}

/* Ranks over which the residual stream's elements are split, where all work on the same
 * tokens. */
static double stream_over(const struct build *b, enum op_module module)
{
    bool split = b->s->sequence_parallel || b->shares[module].stream == SHARE_SLICE;
    return split ? (double)b->s->tensor : 1;
}

/* Weights of the norm of queries or keys on a rank: all of them where every head has
 * the same. */
static double norm_weights(int64_t n, int64_t head_dim, double t)
{
    return n > head_dim ? (double)n / t : (double)n;
}

/* Scores of all keys before a query, which every rank of a tensor group makes. */
static void set_indexer(const struct build *b, double *e, double tokens)
{
    const struct model_attention *a = &b->m->attention;
    double keys = (double)b->s->sequence,
           columns = (double)(a->index_heads * a->index_dim);
    double chosen = (double)a->window < keys ? (double)a->window : keys;
    if (a->index_heads == 0)
        return;
    e[SYM_IQ] = tokens * columns;
    e[SYM_IK] = tokens * (double)(a->index_dim + a->index_heads);
    e[SYM_IS] = tokens * keys / 2;
    e[SYM_IT] = tokens * chosen;
    e[SYM_IW] = e[SYM_IS] * columns;
    e[SYM_IB] = e[SYM_IT] * columns;
    e[SYM_IN] = 2 * (double)a->index_dim;
}

/* Embeddings that layers add; what only models with several sorts of layers have. */
static void set_layer_inputs(const struct build *b, double *e, double tokens)
{
    const struct model *m = b->m;
    const struct model_layer_inputs *in = &m->layer_inputs;
    e[SYM_PI] = tokens * (double)in->columns;
    e[SYM_PALL] = e[SYM_PI] * (double)m->layers;
    e[SYM_PNORM] = (double)in->columns;
    e[SYM_PWORD] = (double)in->vocab * (double)in->columns * (double)m->layers;
    e[SYM_RSCALE] = (double)(m->hidden + m->mlp.experts);
}

/* As a rank of the module has them. */
static int set_elements(struct build *b, enum op_module module, int64_t vocab)
{
    const struct model *m = b->m;
    const struct op_settings *s = b->s;
    const struct share *share = &b->shares[module];
    double t = (double)share->degree;
    double tokens = (double)dealt(op_tokens(s), share->tokens_over);
    double folded = module == OP_MLP ? (double)op_expert_rows_over(s, m) : 1;
    double sequences = (double)dealt(s->batch, share->tokens_over);
    double parts = (double)op_ring_ranks(s);
    double h = (double)m->hidden, heads = (double)m->attention.heads / t;
    double each = op_experts_each(m, s), latent = (double)model_expert_columns(m);
    double predicted = (double)predicted_rows(b);
    int64_t places = m->ends.positions_assumed && s->sequence > m->ends.positions
                         ? s->sequence
                         : m->ends.positions;
    double *e = b->sizes[module];
    e[SYM_X] = tokens * h;
    e[SYM_A] = e[SYM_X] / stream_over(b, module);
    if (folded > 1) /* the layer works on the rank's own tokens */
        e[SYM_X] = e[SYM_A];
    e[SYM_I] = s->framework->tensor.keeps_gathered ? e[SYM_X] : e[SYM_A];
    e[SYM_H] = h / (share->stream == SHARE_SLICE ? stream_over(b, module) : 1);
    e[SYM_Q] = tokens * (double)m->attention.q_width / t;
    e[SYM_K] = tokens * (double)op_keys_width(m, s) / t;
    e[SYM_U] = tokens * (double)model_context_width(m) / t;
    double own = tokens / stream_over(b, module); /* down products are not split */
    e[SYM_LQ] = own * (double)m->attention.latent_q;
    e[SYM_LK] = own * (double)(m->attention.latent_kv + m->attention.latent_rope);
    e[SYM_LH] = (double)(m->attention.latent_q + m->attention.latent_kv);
    e[SYM_LN] = own * e[SYM_LH];
    e[SYM_LU] =
        tokens * heads *
        (double)(m->attention.head_dim - m->attention.latent_rope + model_value_dim(m));
    set_indexer(b, e, tokens);
    e[SYM_E] = b->flags & HAS_COPIES ? e[SYM_Q] : e[SYM_K];
    if (!(b->flags & (HAS_FLASH | HAS_ULYSSES)))
        e[SYM_E] *= parts; /* gathered before the products */
    e[SYM_QR] = e[SYM_Q] * parts;
    e[SYM_KR] = e[SYM_K] * parts;
    e[SYM_QK] = e[SYM_Q] + e[SYM_K];
    e[SYM_QKV] = e[SYM_QK] + tokens * (double)op_values_width(m, s) / t;
    e[SYM_L] = tokens * heads;
    e[SYM_S] = e[SYM_L] * (double)s->sequence;
    e[SYM_G] = e[SYM_X] * latent / h;
    e[SYM_M] = tokens * latent * each / folded;
    e[SYM_F] = tokens * each * (double)m->mlp.width / t;
    e[SYM_R] = tokens * (double)m->mlp.experts / (folded > 1 ? t : 1);
    e[SYM_Z] = tokens * (double)m->mlp.shared_width / t;
    e[SYM_T] = tokens;
    e[SYM_PATCH] = tokens * (double)(m->ends.patch + m->ends.word);
    e[SYM_P] = predicted * h;
    e[SYM_V] = predicted * (double)vocab / t;
    e[SYM_O] = sequences * h;
    double features = 2 * sequences * (double)m->ends.embed;
    double replicas = s->replicas > 1 ? (double)s->replicas : 1;
    e[SYM_PE] = features;
    e[SYM_PG] = features * replicas;
    e[SYM_PL] = m->ends.embed ? 2 * sequences * sequences * replicas : 0;
    e[SYM_PS] = (double)m->ends.scales;
    e[SYM_PROBE] = h;
    e[SYM_C] = 2 * (m->ends.head == MODEL_HEAD_SPAN ? tokens : sequences);
    double word = m->ends.word > 0 ? (double)m->ends.word : h,
           ends = m->ends.word_all ? word : h;
    e[SYM_WORD] = (double)vocab / t * word;
    e[SYM_PLACE] = (double)places * ends;
    e[SYM_TYPE] = (double)m->ends.type_vocab * ends;
    if (module == OP_EMBEDDING && m->ends.word_all)
        e[SYM_H] = ends;
    e[SYM_BIAS] = (double)m->attention.relative_buckets * heads;
    e[SYM_QN] = norm_weights(m->attention.q_norm, m->attention.head_dim, t);
    e[SYM_KN] = norm_weights(m->attention.k_norm, m->attention.head_dim, t);
    e[SYM_SINKS] = m->attention.sinks ? heads : 0;
    set_layer_inputs(b, e, tokens);
    build_state_sizes(b, e, tokens, t);
    double load = fmax(1, b->s->expert_imbalance);
    for (int i = 0; i < SYM_N; i++)
        if (e[i] * load > BUILD_ELEMENTS_MAX)
            return err_set(b->err,
                           "tensors of more than 2^50 elements: batch, sequence "
                           "length or model size is absurd");
    return 0;
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
    int64_t h = m->hidden, predicted = predicted_rows(b),
            pooled = dealt(s->batch, ends->tokens_over);
    int64_t classed = m->ends.head == MODEL_HEAD_SPAN
                          ? dealt(op_tokens(s), ends->tokens_over)
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
        [MODULE_CLASSES] = { classed, h, 2, 1, true, true, head },
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
        if (i != MODULE_OUT && i != MODULE_INDEX_QUERY && i != MODULE_INDEX_KEY &&
            b->shares[i < MODULE_OUT ? OP_ATTENTION : OP_MLP].degree > 1)
            split_columns(&b->linears[i], s);
}

static void set_linears(struct build *b, int64_t vocab)
{
    const struct model *m = b->m;
    const struct op_settings *s = b->s;
    const struct share *attention = &b->shares[OP_ATTENTION], *mlp = &b->shares[OP_MLP];
    int64_t h = m->hidden, tokens = dealt(op_tokens(s), attention->tokens_over);
    int64_t q = m->attention.q_width / attention->degree,
            kv = op_keys_width(m, s) / attention->degree;
    int64_t made = model_context_width(m) / attention->degree;
    int64_t gate = m->attention.gated ? made : 0;
    int64_t up =
        m->attention.heads / attention->degree *
        (m->attention.head_dim - m->attention.latent_rope + model_value_dim(m));
    int64_t down = s->sequence_parallel ? tokens / attention->degree : tokens;
    int64_t shared = m->mlp.shared_width / mlp->degree;
    int64_t folded = op_expert_rows_over(s, m);
    int64_t f = m->mlp.width / (mlp->degree / folded),
            routed = dealt(op_tokens(s), mlp->tokens_over),
            own = folded > 1 ? routed / mlp->degree : routed;
    int64_t columns = model_expert_columns(m);
    int64_t all = m->mlp.experts > 0 ? m->mlp.experts : 1;
    int64_t experts = all / (s->expert > 1 && m->mlp.experts > 0 ? s->expert : 1);
    int64_t inside = (int64_t)ceil((double)(routed / folded) * op_experts_each(m, s));
    enum dtype layer = op_compute_dtype(s->precision);
    enum dtype head = dtype_is_quantized(layer) ? DTYPE_BF16 : layer;
    /* rows, k, n, batch; bias; owned; dtype */
    const struct linear rows[] = {
        [MODULE_QKV] = { tokens, h, q + gate + 2 * kv, 1, m->attention.qkv_bias, true,
                         layer },
        [MODULE_QUERY] = { tokens, m->attention.latent_q ? m->attention.latent_q : h,
                           q + gate, 1, m->attention.qkv_bias, true, layer },
        [MODULE_KEY] = { tokens, h, kv, 1, m->attention.qkv_bias, true, layer },
        [MODULE_VALUE] = { tokens, h, kv, 1, m->attention.qkv_bias, true, layer },
        [MODULE_QUERY_DOWN] = { down, h, m->attention.latent_q, 1, false, true, layer },
        [MODULE_KV_DOWN] = { down, h, m->attention.latent_kv + m->attention.latent_rope,
                             1, false, true, layer },
        [MODULE_KV_UP] = { tokens, m->attention.latent_kv, up, 1, false, true, layer },
        [MODULE_INDEX_QUERY] = { tokens,
                                 m->attention.latent_q ? m->attention.latent_q : h,
                                 m->attention.index_heads * m->attention.index_dim, 1,
                                 false, true, layer },
        [MODULE_INDEX_KEY] = { tokens, h,
                               m->attention.index_dim + m->attention.index_heads, 1,
                               false, true, layer },
        [MODULE_OUT] = { tokens, made, h, 1, m->attention.out_bias, true, layer },
        [MODULE_GATE] = { inside, columns, f, experts, m->mlp.bias, true, layer },
        [MODULE_UP] = { inside, columns, f, experts, m->mlp.bias, true, layer },
        [MODULE_DOWN] = { inside, f, columns, experts, m->mlp.bias, true, layer },
        [MODULE_ROUTER] = { own, h, all, 1, m->mlp.router_bias, true, head },
        [MODULE_SHARED_GATE] = { routed, h, shared, 1, m->mlp.bias, true, layer },
        [MODULE_SHARED_UP] = { routed, h, shared, 1, m->mlp.bias, true, layer },
        [MODULE_SHARED_DOWN] = { routed, shared, h, 1, m->mlp.bias, true, layer },
        [MODULE_SHARED_SCALE] = { own, h, 1, 1, false, true, head },
        [MODULE_EXPERTS_IN] = { own, h, columns, 1, false, true, layer },
        [MODULE_EXPERTS_OUT] = { own, columns, h, 1, false, true, layer },
        [MODULE_LAYER_GATE] = { tokens, h, m->layer_inputs.columns, 1, false, true,
                                layer },
        [MODULE_LAYER_OUT] = { tokens, m->layer_inputs.columns, h, 1, false, true,
                               layer },
        [MODULE_LAYER_PROJECT] = { tokens, h, m->layer_inputs.columns * m->layers, 1,
                                   false, true, head },
    };
    memcpy(b->linears, rows, sizeof(rows));
    build_state_linears(b, tokens, layer);
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
    b->flags |= flag(!build_trains(b, MODULE_WORD), HAS_FROZEN_EMBEDDING);
    set_widths(b);
    for (int i = 0; i < OP_MODULES; i++)
        b->shares[i] = share_of(m, s, (enum op_module)i);
    b->flags |=
        flag(b->flags & HAS_LAYER_INPUTS && (build_trains(b, MODULE_WORD) ||
                                             build_adapts(b, MODULE_LAYER_PROJECT)),
             HAS_LAYER_INPUTS_BWD);
    for (int i = 0; i < OP_MODULES; i++)
        if (set_elements(b, (enum op_module)i, vocab) < 0)
            return -1;
    set_linears(b, vocab);
    return 0;
}
