/* Decoders in the line of GPT-2, each with names of its own for the same sizes. */
#include "model/family_rows.h"

/* GPT-2 and GPT-J ------------------------------------------------------------------ */

#define GPT_SIZES                                                         \
    SIZE("n_layer", "num_hidden_layers", layers, true, LAYERS_MAX),       \
        SIZE("n_embd", "hidden_size", hidden, true, WIDTH_MAX),           \
        SIZE("n_head", "num_attention_heads", heads, true, HEADS_MAX),    \
        SIZE("n_inner", NULL, ffn, false, WIDTH_MAX),                     \
        SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX), HEAD_DIM, TIED, \
        DROP("resid_pdrop", hidden_dropout), DROP("attn_pdrop", attention_dropout)

static const struct family_field gpt2_fields[] = {
    GPT_SIZES,
    SIZE("n_positions", "max_position_embeddings", positions, false, POSITIONS_MAX),
    SIZE("n_ctx", NULL, positions, false, POSITIONS_MAX),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static const struct family_field gptj_fields[] = { GPT_SIZES,
                                                   ACTIVATION("activation_function"),
                                                   FIELDS_END };

/* c_attn is hidden x 3 hidden, whatever the heads. */
static void gpt2_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->q_width = m->kv_width = m->hidden;
    if (!m->positions) {
        m->positions = 1024;
        m->positions_assumed = true;
    }
}

/* GPT-NeoX ------------------------------------------------------------------------- */

static const struct family_field neox_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, ffn, false, WIDTH_MAX),
    FLAG("use_parallel_residual", m.parallel_residual),
    FLAG("attention_bias", m.qkv_bias),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void neox_finish(struct family_raw *raw)
{
    raw->m.out_bias = raw->m.qkv_bias;
}

/* Falcon --------------------------------------------------------------------------- */

static const struct family_field falcon_fields[] = {
    SIZE("num_hidden_layers", "n_layer", layers, true, LAYERS_MAX),
    SIZE("hidden_size", "n_embed", hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", "n_head", heads, true, HEADS_MAX),
    SIZE("num_kv_heads", "n_head_kv", kv_heads, false, HEADS_MAX),
    SIZE("ffn_hidden_size", NULL, ffn, false, WIDTH_MAX),
    SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX),
    TIED,
    FLAG("multi_query", multi_query),
    FLAG("new_decoder_architecture", new_decoder),
    FLAG("parallel_attn", m.parallel_residual),
    FLAG("alibi", alibi),
    FLAG("bias", bias),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    ACTIVATION("activation"),
    FIELDS_END,
};

static void falcon_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    if (!raw->new_decoder)
        m->kv_heads = raw->multi_query ? 1 : m->heads;
    m->parallel_residual = m->parallel_residual || raw->new_decoder;
    m->one_norm = m->parallel_residual && !raw->new_decoder;
    m->rotary = !raw->alibi;
    m->qkv_bias = m->out_bias = m->mlp_bias = raw->bias;
}

/* GPT-Neo, GPT-BigCode, OPT, BLOOM, MPT ---------------------------------------------- */

static const struct family_field neo_fields[] = {
    SIZE("num_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_heads", "num_attention_heads", heads, true, HEADS_MAX),
    SIZE("intermediate_size", NULL, ffn, false, WIDTH_MAX),
    SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX),
    SIZE("max_position_embeddings", NULL, positions, false, POSITIONS_MAX),
    TIED,
    DROP("resid_dropout", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static const struct family_field bigcode_fields[] = {
    GPT_SIZES,
    SIZE("n_positions", "max_position_embeddings", positions, false, POSITIONS_MAX),
    FLAG("multi_query", multi_query),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static void bigcode_finish(struct family_raw *raw)
{
    if (raw->multi_query)
        raw->m.kv_heads = 1;
}

static const struct family_field opt_fields[] = {
    HF_SIZES,
    SIZE("ffn_dim", NULL, ffn, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, positions, false, POSITIONS_MAX),
    WORD("word_embed_proj_dim", embedding_width, 1, WIDTH_MAX),
    FLAG("do_layer_norm_before", m.final_norm),
    FLAG("enable_bias", m.mlp_bias),
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

/* Two rows of the table of positions are before the first token's. */
static void opt_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->positions += m->positions_unused;
    m->post_norm = !m->final_norm;
    m->qkv_bias = m->out_bias = m->mlp_bias;
}

static const struct family_field bloom_fields[] = {
    SIZE("n_layer", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("hidden_size", "n_embed", hidden, true, WIDTH_MAX),
    SIZE("n_head", "num_attention_heads", heads, true, HEADS_MAX),
    SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX),
    TIED,
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    FIELDS_END,
};

static const struct family_field mpt_fields[] = {
    SIZE("n_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("d_model", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("n_heads", "num_attention_heads", heads, true, HEADS_MAX),
    SIZE("attn_config/kv_n_heads", NULL, kv_heads, false, HEADS_MAX),
    SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX),
    SIZE("max_seq_len", NULL, positions, false, POSITIONS_MAX),
    WORD("expansion_ratio", expansion, 1, 1024),
    FLAG("attn_config/alibi", alibi),
    FLAG("attn_config/rope", m.rotary),
    FLAG("no_bias", m.bare_norm),
    DROP("resid_pdrop", hidden_dropout),
    DROP("attn_config/attn_pdrop", attention_dropout),
    FIELDS_END,
};

/* Without alibi or rotation positions are learned. */
static void mpt_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    if (raw->expansion)
        m->ffn = raw->expansion * m->hidden;
    if (raw->alibi || m->rotary)
        m->positions = 0;
    m->qkv_bias = m->out_bias = m->mlp_bias = !m->bare_norm;
}

/* Phi ---------------------------------------------------------------- */

static const struct family_field phi_fields[] = {
    HF_SIZES,
    SIZE("num_key_value_heads", NULL, kv_heads, false, HEADS_MAX),
    SIZE("intermediate_size", NULL, ffn, true, WIDTH_MAX),
    DROP("resid_pdrop", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

#define GPT_BIASES .qkv_bias = true, .out_bias = true, .mlp_bias = true

const struct family families_gpt[] = {
    FAMILY("gpt2", gpt2_fields, gpt2_finish, DECODER, .tied_embeddings = true,
           GPT_BIASES, .fused_qkv = true, .attention_dropout = true,
           .hidden_dropout = true, .activation = MODEL_ACTIVATION_GELU_NEW),
    FAMILY("gpt_bigcode", bigcode_fields, bigcode_finish, DECODER,
           .tied_embeddings = true, .positions = 1024, GPT_BIASES, .fused_qkv = true,
           .attention_dropout = true, .hidden_dropout = true),
    FAMILY("gpt_neo", neo_fields, NULL, DECODER, .tied_embeddings = true,
           .positions = 2048, .out_bias = true, .mlp_bias = true,
           .activation = MODEL_ACTIVATION_GELU_NEW),
    FAMILY("gptj", gptj_fields, NULL, DECODER, .mlp_bias = true, .head_bias = true,
           .parallel_residual = true, .one_norm = true, .rotary = true,
           .activation = MODEL_ACTIVATION_GELU_NEW),
    FAMILY("gpt_neox", neox_fields, neox_finish, DECODER, .qkv_bias = true,
           .mlp_bias = true, .parallel_residual = true, .fused_qkv = true,
           .rotary = true),
    FAMILY("opt", opt_fields, opt_finish, DECODER, .tied_embeddings = true,
           .positions = 2048, .positions_unused = 2, .mlp_bias = true,
           .hidden_dropout = true),
    FAMILY("bloom", bloom_fields, NULL, DECODER, .tied_embeddings = true, GPT_BIASES,
           .embedding_norm = true, .fused_qkv = true),
    FAMILY("mpt", mpt_fields, mpt_finish, DECODER, .tied_embeddings = true,
           .positions = 2048, .bare_norm = true, .fused_qkv = true),
    FAMILY("falcon", falcon_fields, falcon_finish, DECODER, .tied_embeddings = true,
           .parallel_residual = true, .fused_qkv = true),
    FAMILY("phi", phi_fields, NULL, DECODER, GPT_BIASES, .head_bias = true,
           .parallel_residual = true, .one_norm = true, .rotary = true,
           .activation = MODEL_ACTIVATION_GELU_NEW),
    { .name = NULL },
};
