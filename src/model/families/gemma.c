/* Gemma 4: layers with windows and without have heads of different sizes, the last ones
 * take keys and values of layers before, and each adds embeddings of its own. Sources:
 * configuration_gemma4.py and modeling_gemma4.py in transformers 5. */
#include "model/families/family_rows.h"

enum { SLIDING, FULL, SORTS, BORROWING = SORTS, VARIANTS = 2 * SORTS };

static const char *const names[VARIANTS] = { "sliding_layer", "full_layer",
                                             "borrowing_sliding_layer",
                                             "borrowing_full_layer" };

static const struct family_field gemma4_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    WINDOW("sliding_window"),
    LAYER_TYPES,
    WORD("global_head_dim", global.head_dim, 1, WIDTH_MAX),
    WORD("num_global_key_value_heads", global.kv_heads, 0, HEADS_MAX),
    FLAG("attention_k_eq_v", global.one_kv),
    WORD("num_kv_shared_layers", global.borrowing, 0, LAYERS_MAX),
    FLAG("use_double_wide_mlp", global.wide),
    FLAG("enable_moe_block", global.experts),
    COUNT("num_experts", NULL, mlp.experts, EXPERTS_MAX),
    COUNT("top_k_experts", NULL, mlp.experts_per_token, EXPERTS_MAX),
    WORD("moe_intermediate_size", expert_width, 0, WIDTH_MAX),
    COUNT("vocab_size_per_layer_input", NULL, layer_inputs.vocab, VOCAB_MAX),
    COUNT("hidden_size_per_layer_input", NULL, layer_inputs.columns, WIDTH_MAX),
    NONZERO("final_logit_softcapping", ends.logit_softcap),
    FLAG("attention_bias", bias),
    NOTED("use_bidirectional_attention",
          "attention to tokens that follow is not modelled: tokens attend to those "
          "before them"),
    ACTIVATION("hidden_activation"),
    FIELDS_END,
};

/* Of all but every sixth layer, and never of the last, unless the file lists them. */
static bool slides(const struct family_raw *raw, int64_t i)
{
    if (i == raw->m.layers - 1)
        return false;
    return raw->listed.n > i ? raw->listed.of[i] : (i + 1) % 6 != 0;
}

/* Attention of layers without windows: larger heads, fewer of keys and values where one
 * product makes both. */
static void make_full(const struct family_raw *raw, struct model_attention *a)
{
    const struct family_global *g = &raw->global;
    a->head_dim = a->q_norm = a->k_norm = g->head_dim;
    a->kv_heads = g->one_kv && g->kv_heads > 0 ? g->kv_heads : a->kv_heads;
    a->one_kv = g->one_kv;
    a->windowed_share = 0;
}

static void make_variants(struct family_raw *raw)
{
    struct model *m = &raw->m;
    struct model_variant *v = ARENA_ARRAY(raw->arena, VARIANTS, struct model_variant);
    for (int k = 0; k < VARIANTS; k++) {
        struct model_attention *a = &v[k].attention;
        bool borrows = k >= BORROWING;
        *a = m->attention;
        a->windowed_share = 1;
        if (k % SORTS == FULL)
            make_full(raw, a);
        a->q_width = a->heads * a->head_dim;
        a->kv_width = a->kv_heads * a->head_dim;
        a->borrows = borrows;
        v[k].name = names[k];
        v[k].width = (m->mlp.apart ? m->mlp.shared_width : m->mlp.width) *
                     (borrows && raw->global.wide ? 2 : 1);
    }
    m->variants = v;
    m->n_variants = VARIANTS;
}

static void gemma4_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    const struct family_global *g = &raw->global;
    families_llama(raw);
    if (!m->attention.kv_heads)
        m->attention.kv_heads = m->attention.heads;
    m->attention.q_norm = m->attention.k_norm = m->attention.head_dim;
    if (!g->experts)
        m->mlp.experts = m->mlp.experts_per_token = 0;
    m->mlp.apart = m->mlp.experts > 0;
    if (m->mlp.apart) {
        m->mlp.shared_width = m->mlp.width;
        m->mlp.width = raw->expert_width;
    }
    if (g->experts && (!m->mlp.experts || !raw->expert_width))
        raw->refused = "experts (\"enable_moe_block\") without \"num_experts\" and "
                       "\"moe_intermediate_size\"";
    if (g->borrowing >= m->layers)
        raw->refused = "layers that all take keys and values of others "
                       "(\"num_kv_shared_layers\")";
    make_variants(raw);
    const struct model_kind kind = { MODEL_MIXER_ATTENTION, MODEL_INNER_MLP, 0 };
    struct model_kind *kinds = families_make_pattern(raw, kind);
    for (int64_t i = 0; i < m->layers; i++) {
        bool sliding = slides(raw, i), borrows = i >= m->layers - g->borrowing;
        kinds[i].variant = 1 + (sliding ? SLIDING : FULL) + (borrows ? BORROWING : 0);
        raw->windowed += sliding;
    }
}

/* Gemma 3n: layers with windows and without, the first ones with sparse MLPs, the last ones
 * with keys and values of layers before. */
enum { SPARSE = 2 * SORTS, SORTS_3N = 2 * SPARSE };

static const char *const names_3n[SORTS_3N] = { "sliding_layer",
                                                "full_layer",
                                                "borrowing_sliding_layer",
                                                "borrowing_full_layer",
                                                "sparse_sliding_layer",
                                                "sparse_full_layer",
                                                "sparse_borrowing_sliding_layer",
                                                "sparse_borrowing_full_layer" };

static const struct family_field gemma3n_fields[] = {
    LLAMA_SIZES,
    EACH("intermediate_size", NULL, m.mlp.width, 1, WIDTH_MAX),
    WINDOW("sliding_window"),
    LAYER_TYPES,
    WORD("num_kv_shared_layers", global.borrowing, 0, LAYERS_MAX),
    COUNT("vocab_size_per_layer_input", NULL, layer_inputs.vocab, VOCAB_MAX),
    COUNT("hidden_size_per_layer_input", NULL, layer_inputs.columns, WIDTH_MAX),
    SIZE("altup_num_inputs", NULL, altup.inputs, false, 64),
    SIZE("laurel_rank", NULL, altup.laurel, false, WIDTH_MAX),
    NONZERO("final_logit_softcapping", ends.logit_softcap),
    FLAG("attention_bias", bias),
    ACTIVATION("hidden_activation"),
    { .key = "activation_sparsity_pattern",
      .type = FAMILY_SHARES,
      .at = offsetof(R, sparse) },
    ELSEWHERE("altup_active_idx"),
    ELSEWHERE("altup_coef_clip"),
    ELSEWHERE("altup_correct_scale"),
    FIELDS_END,
};

static bool slides_3n(const struct family_raw *raw, int64_t i)
{
    return raw->listed.n > i ? raw->listed.of[i] : (i + 1) % 5 != 0;
}

/* One share is of all layers; without any the first 10 are sparse (transformers,
 * configuration_gemma3n.py). */
static bool is_sparse_3n(const struct family_raw *raw, int64_t i)
{
    enum { SPARSE_LAYERS = 10 };
    const struct family_layers *list = &raw->sparse;
    if (list->n == 0)
        return raw->m.layers > SPARSE_LAYERS && i < SPARSE_LAYERS;
    return list->of[list->n == 1 ? 0 : i < list->n ? i : list->n - 1];
}

/* Layers that take keys and values of others hold products and a norm of their own, which
 * nothing reads (transformers, modeling_gemma3n.py, Gemma3nTextAttention). */
static int64_t unread_keys(const struct model *m, int64_t layers)
{
    const struct model_attention *a = &m->attention;
    int64_t columns = 2 * a->kv_heads * a->head_dim;
    return layers * (columns * (m->hidden + a->qkv_bias) + a->head_dim);
}

static void gemma3n_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    struct model_variant *v = ARENA_ARRAY(raw->arena, SORTS_3N, struct model_variant);
    families_llama(raw);
    m->attention.kv_heads =
        m->attention.kv_heads ? m->attention.kv_heads : m->attention.heads;
    m->attention.q_norm = m->attention.k_norm = m->attention.head_dim;
    if (raw->sparse.n > 1 && raw->sparse.n != m->layers)
        raw->refused = "a list of shares that is not one a layer "
                       "(\"activation_sparsity_pattern\")";
    if (raw->global.borrowing >= m->layers)
        raw->refused = "layers that all take keys and values of others "
                       "(\"num_kv_shared_layers\")";
    for (int k = 0; k < SORTS_3N; k++) {
        struct model_attention *a = &v[k].attention;
        *a = m->attention;
        a->windowed_share = k % SORTS == SLIDING;
        a->q_width = a->heads * a->head_dim;
        a->kv_width = a->kv_heads * a->head_dim;
        a->borrows = k % SPARSE >= BORROWING;
        v[k].name = names_3n[k];
        v[k].width = m->mlp.width;
        v[k].sparse = k >= SPARSE;
    }
    m->variants = v;
    m->n_variants = SORTS_3N;
    const struct model_kind kind = { MODEL_MIXER_ATTENTION, MODEL_INNER_MLP, 0 };
    struct model_kind *kinds = families_make_pattern(raw, kind);
    for (int64_t i = 0; i < m->layers; i++) {
        bool sliding = slides_3n(raw, i),
             borrows = i >= m->layers - raw->global.borrowing;
        bool sparse = is_sparse_3n(raw, i);
        kinds[i].variant = 1 + (sliding ? SLIDING : FULL) + (borrows ? BORROWING : 0) +
                           (sparse ? SPARSE : 0);
        raw->windowed += sliding;
    }
    m->idle += unread_keys(m, raw->global.borrowing);
}

/* T5Gemma: two stacks of Gemma 2's layers, each said apart, where they are alike. */
static const struct family_field t5gemma_fields[] = {
    SIZE("encoder/num_hidden_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("decoder/num_hidden_layers", NULL, decoder_layers, true, LAYERS_MAX),
    SIZE("encoder/hidden_size", NULL, hidden, true, WIDTH_MAX),
    WORD("decoder/hidden_size", decoder.hidden, 1, WIDTH_MAX),
    SIZE("encoder/num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    WORD("decoder/num_attention_heads", decoder.heads, 1, HEADS_MAX),
    SIZE("encoder/num_key_value_heads", NULL, attention.kv_heads, true, HEADS_MAX),
    WORD("decoder/num_key_value_heads", decoder.kv_heads, 1, HEADS_MAX),
    SIZE("encoder/head_dim", NULL, attention.head_dim, true, WIDTH_MAX),
    WORD("decoder/head_dim", decoder.head_dim, 1, WIDTH_MAX),
    SIZE("encoder/intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    WORD("decoder/intermediate_size", decoder.width, 1, WIDTH_MAX),
    SIZE("decoder/vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    WINDOW("encoder/sliding_window"),
    NONZERO("decoder/attn_logit_softcapping", attention.softcap),
    NONZERO("decoder/final_logit_softcapping", ends.logit_softcap),
    ELSEWHERE("vocab_size"),
    TIED,
    DROP("dropout_rate", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    FIELDS_END,
};

static bool differs(int64_t said, int64_t own)
{
    return said > 0 && said != own;
}

/* The encoder as a model of its own, and in its place the decoder's sizes. */
static void part_stacks(struct family_raw *raw)
{
    struct model *m = &raw->m, *first = ARENA_NEW(raw->arena, struct model);
    const struct family_decoder *d = &raw->decoder;
    struct model_attention *a = &m->attention;
    *first = *m;
    first->arch = MODEL_ENCODER;
    first->ends.head = MODEL_HEAD_NONE;
    first->attention.q_width = a->heads * a->head_dim;
    first->attention.kv_width = a->kv_heads * a->head_dim;
    first->attention.windowed_share = (double)raw->windowed / (double)m->layers;
    m->encoder = first;
    m->hidden = d->hidden ? d->hidden : m->hidden;
    m->mlp.width = d->width ? d->width : m->mlp.width;
    a->heads = d->heads ? d->heads : a->heads;
    a->kv_heads = d->kv_heads ? d->kv_heads : a->kv_heads;
    a->head_dim = d->head_dim ? d->head_dim : a->head_dim;
}

static void t5gemma_finish(struct family_raw *raw)
{
    const struct model *m = &raw->m;
    const struct family_decoder *d = &raw->decoder;
    raw->full_every = 2;
    families_windows(raw);
    if (differs(d->hidden, m->hidden) || differs(d->kv_heads, m->attention.kv_heads) ||
        differs(d->head_dim, m->attention.head_dim) ||
        differs(d->heads, m->attention.heads) || differs(d->width, m->mlp.width))
        part_stacks(raw);
}

const struct family families_gemma[] = {
    FAMILY(
        "t5gemma", t5gemma_fields, t5gemma_finish, .arch = MODEL_ENCODER_DECODER,
        .ends.head = MODEL_HEAD_CAUSAL_LM, .ends.tied = true, .ends.words_apart = true,
        .norms.final = true, .norms.rms = true, .norms.result = true, .mlp.gated = true,
        .attention.rotary = true, .attention.head_dim = 256, .attention.softcap = true,
        .ends.logit_softcap = true, .attention.window = 4096, .memory_dropout = true),
    { .name = "gemma4_text",
      .fields = gemma4_fields,
      .finish = gemma4_finish,
      .usual = { .m = { LLAMA, .attention.head_dim = 256, .ends.tied = true,
                        .norms.result = true, .attention.window = 512,
                        .attention.value_norm = true, .mlp.bare_experts = true,
                        .layer_inputs = { 262144, 256 }, .layer_scale = true },
                 .global = { .head_dim = 512 } } },
    { .name = "gemma4_unified_text",
      .fields = gemma4_fields,
      .finish = gemma4_finish,
      .usual = { .m = { LLAMA, .attention.head_dim = 256, .ends.tied = true,
                        .norms.result = true, .attention.window = 1024,
                        .attention.value_norm = true, .layer_scale = true },
                 .global = { .head_dim = 512 } } },
    { .name = "gemma3n_text",
      .fields = gemma3n_fields,
      .finish = gemma3n_finish,
      .usual = { .m = { LLAMA, .layers = 35, .hidden = 2048, .attention.heads = 8,
                        .attention.kv_heads = 2, .attention.head_dim = 256,
                        .mlp.width = 16384, .ends.vocab = 262400, .ends.tied = true,
                        .norms.result = true, .attention.window = 512,
                        .attention.value_norm = true, .ends.logit_softcap = true,
                        .layer_inputs = { 262144, 256 }, .altup = { 4, 64 } },
                 .global = { .borrowing = 15 } } },
    { .name = NULL },
};
