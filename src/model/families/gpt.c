/* Decoders in the line of GPT-2, each with names of its own for the same sizes. */
#include "model/families/family_rows.h"

/* GPT-2 and GPT-J ------------------------------------------------------------------ */

#define GPT_SIZES                                                                \
    SIZE("n_layer", "num_hidden_layers", layers, true, LAYERS_MAX),              \
        SIZE("n_embd", "hidden_size", hidden, true, WIDTH_MAX),                  \
        SIZE("n_head", "num_attention_heads", attention.heads, true, HEADS_MAX), \
        SIZE("n_inner", NULL, mlp.width, false, WIDTH_MAX),                      \
        SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX), HEAD_DIM, TIED,   \
        DROP("resid_pdrop", hidden_dropout), DROP("attn_pdrop", attention.dropout)

static const struct family_field gpt2_fields[] = {
    GPT_SIZES,
    SIZE("n_ctx", NULL, ends.positions, false, POSITIONS_MAX),
    SIZE("n_positions", "max_position_embeddings", ends.positions, false,
         POSITIONS_MAX),
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
    m->attention.q_width = m->attention.kv_width = m->hidden;
    if (!m->ends.positions) {
        m->ends.positions = 1024;
        m->ends.positions_assumed = true;
    }
}

/* The first GPT: norms after the sums, none at the end. Its "gelu" is GPT-2's (openai-gpt/
 * modeling_openai.py, ACT_FNS). */
static const struct family_field gpt1_fields[] = {
    GPT_SIZES,
    SIZE("n_positions", "max_position_embeddings", ends.positions, false,
         POSITIONS_MAX),
    ACTIVATION("afn"),
    FIELDS_END,
};

static void gpt1_finish(struct family_raw *raw)
{
    if (!raw->activation || strcmp(raw->activation, "gelu") == 0)
        raw->activation = "gelu_new";
    gpt2_finish(raw);
}

/* GPT-NeoX ------------------------------------------------------------------------- */

static const struct family_field neox_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    FLAG("use_parallel_residual", m.parallel_residual),
    FLAG("attention_bias", m.attention.qkv_bias),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void neox_finish(struct family_raw *raw)
{
    raw->m.attention.out_bias = raw->m.attention.qkv_bias;
}

/* Falcon --------------------------------------------------------------------------- */

static const struct family_field falcon_fields[] = {
    SIZE("num_hidden_layers", "n_layer", layers, true, LAYERS_MAX),
    SIZE("hidden_size", "n_embed", hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", "n_head", attention.heads, true, HEADS_MAX),
    SIZE("num_kv_heads", "n_head_kv", attention.kv_heads, false, HEADS_MAX),
    SIZE("ffn_hidden_size", NULL, mlp.width, false, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    TIED,
    FLAG("multi_query", multi_query),
    FLAG("new_decoder_architecture", new_decoder),
    FLAG("parallel_attn", m.parallel_residual),
    FLAG("alibi", alibi),
    FLAG("bias", bias),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("activation"),
    FIELDS_END,
};

static void falcon_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    if (!raw->new_decoder)
        m->attention.kv_heads = raw->multi_query ? 1 : m->attention.heads;
    m->parallel_residual = m->parallel_residual || raw->new_decoder;
    m->norms.one = m->parallel_residual && !raw->new_decoder;
    m->attention.rotary = !raw->alibi;
    m->attention.qkv_bias = m->attention.out_bias = m->mlp.bias = raw->bias;
}

/* GPT-Neo, GPT-BigCode, OPT, BLOOM, MPT ---------------------------------------------- */

static const struct family_field neo_fields[] = {
    SIZE("num_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_heads", "num_attention_heads", attention.heads, true, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    TIED,
    DROP("resid_dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static const struct family_field bigcode_fields[] = {
    GPT_SIZES,
    SIZE("n_positions", "max_position_embeddings", ends.positions, false,
         POSITIONS_MAX),
    FLAG("multi_query", multi_query),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static void bigcode_finish(struct family_raw *raw)
{
    if (raw->multi_query)
        raw->m.attention.kv_heads = 1;
}

static const struct family_field opt_fields[] = {
    HF_SIZES,
    SIZE("ffn_dim", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    WORD("word_embed_proj_dim", embedding_width, 1, WIDTH_MAX),
    FLAG("do_layer_norm_before", m.norms.final),
    FLAG("enable_bias", m.mlp.bias),
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

/* Two rows of the table of positions are before the first token's. */
static void opt_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->ends.positions += m->ends.positions_unused;
    m->norms.post = !m->norms.final;
    if (raw->embedding_width != m->hidden)
        m->ends.word = raw->embedding_width;
    m->ends.word_out = m->ends.word > 0;
    m->attention.qkv_bias = m->attention.out_bias = m->mlp.bias;
}

static const struct family_field bloom_fields[] = {
    SIZE("n_layer", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("hidden_size", "n_embed", hidden, true, WIDTH_MAX),
    SIZE("n_head", "num_attention_heads", attention.heads, true, HEADS_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    TIED,
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    FIELDS_END,
};

static const struct family_field mpt_fields[] = {
    SIZE("n_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("d_model", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("n_heads", "num_attention_heads", attention.heads, true, HEADS_MAX),
    SIZE("attn_config/kv_n_heads", NULL, attention.kv_heads, false, HEADS_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    TIED,
    SIZE("max_seq_len", NULL, ends.positions, false, POSITIONS_MAX),
    WORD("expansion_ratio", expansion, 1, 1024),
    FLAG("attn_config/alibi", alibi),
    FLAG("attn_config/rope", m.attention.rotary),
    FLAG("no_bias", m.norms.bare),
    DROP("resid_pdrop", hidden_dropout),
    DROP("attn_config/attn_pdrop", attention.dropout),
    FIELDS_END,
};

/* Without alibi or rotation positions are learned. */
static void mpt_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    if (raw->expansion)
        m->mlp.width = raw->expansion * m->hidden;
    if (raw->alibi || m->attention.rotary)
        m->ends.positions = 0;
    m->attention.qkv_bias = m->attention.out_bias = m->mlp.bias = !m->norms.bare;
}

/* Phi ---------------------------------------------------------------- */

static const struct family_field phi_fields[] = {
    HF_SIZES,
    SIZE("num_key_value_heads", NULL, attention.kv_heads, false, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    DROP("resid_pdrop", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

#define GPT_BIASES \
    .attention.qkv_bias = true, .attention.out_bias = true, .mlp.bias = true

const struct family families_gpt[] = {
    FAMILY("gpt2", gpt2_fields, gpt2_finish, DECODER, .ends.tied = true, GPT_BIASES,
           .attention.fused_qkv = true, .attention.dropout = true,
           .hidden_dropout = true, .activation = MODEL_ACTIVATION_GELU_NEW),
    FAMILY("openai-gpt", gpt1_fields, gpt1_finish, .arch = MODEL_DECODER,
           .ends.head = MODEL_HEAD_CAUSAL_LM, .ends.tied = true, .ends.positions = 512,
           GPT_BIASES, .norms.post = true, .attention.fused_qkv = true,
           .attention.dropout = true, .hidden_dropout = true),
    FAMILY("gpt_bigcode", bigcode_fields, bigcode_finish, DECODER, .ends.tied = true,
           .ends.positions = 1024, GPT_BIASES, .attention.fused_qkv = true,
           .attention.dropout = true, .hidden_dropout = true),
    FAMILY("gpt_neo", neo_fields, NULL, DECODER, .ends.tied = true,
           .ends.positions = 2048, .attention.out_bias = true, .mlp.bias = true,
           .activation = MODEL_ACTIVATION_GELU_NEW),
    FAMILY("gptj", gptj_fields, NULL, DECODER, .mlp.bias = true, .ends.head_bias = true,
           .parallel_residual = true, .norms.one = true, .attention.rotary = true,
           .activation = MODEL_ACTIVATION_GELU_NEW),
    FAMILY("gpt_neox", neox_fields, neox_finish, DECODER, .attention.qkv_bias = true,
           .mlp.bias = true, .parallel_residual = true, .attention.fused_qkv = true,
           .attention.rotary = true),
    FAMILY("opt", opt_fields, opt_finish, DECODER, .ends.tied = true,
           .ends.positions = 2048, .ends.positions_unused = 2, .mlp.bias = true,
           .hidden_dropout = true),
    FAMILY("bloom", bloom_fields, NULL, DECODER, .ends.tied = true, GPT_BIASES,
           .norms.embedding = true, .attention.fused_qkv = true),
    FAMILY("mpt", mpt_fields, mpt_finish, DECODER, .ends.tied = true,
           .ends.positions = 2048, .norms.bare = true, .attention.fused_qkv = true),
    FAMILY("falcon", falcon_fields, falcon_finish, DECODER, .ends.tied = true,
           .parallel_residual = true, .attention.fused_qkv = true),
    FAMILY("phi", phi_fields, NULL, DECODER, GPT_BIASES, .ends.head_bias = true,
           .parallel_residual = true, .norms.one = true, .attention.rotary = true,
           .activation = MODEL_ACTIVATION_GELU_NEW),
    { .name = NULL },
};
