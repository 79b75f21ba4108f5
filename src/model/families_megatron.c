/* Models in the words of Megatron-LM's arguments, which say each choice by itself. */
#include "model/family_rows.h"

#include <string.h>
#include <strings.h>

static const struct family_field megatron_fields[] = {
    SIZE("num_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, heads, true, HEADS_MAX),
    SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX),
    SIZE("ffn_hidden_size", NULL, ffn, false, WIDTH_MAX),
    SIZE("num_query_groups", NULL, kv_heads, false, HEADS_MAX),
    SIZE("kv_channels", NULL, head_dim, false, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, positions, false, POSITIONS_MAX),
    SIZE("num_experts", NULL, experts, false, EXPERTS_MAX),
    SIZE("moe_router_topk", NULL, experts_per_token, false, EXPERTS_MAX),
    SIZE("moe_shared_expert_intermediate_size", NULL, shared_ffn, false, WIDTH_MAX),
    TEXT("normalization", normalization),
    TEXT("position_embedding_type", position),
    ACTIVATION("activation"),
    FLAG("encoder", encoder),
    FLAG("swiglu", swiglu),
    FLAG("untie_embeddings_and_output_weights", untied),
    FLAG("add_bias_linear", bias),
    FLAG("add_qkv_bias", m.qkv_bias),
    FLAG("qk_layernorm", qk_norm),
    FLAG("embed_layernorm", m.embedding_norm),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    FIELDS_END,
};

static void finish_experts(struct model *m)
{
    if (m->experts && !m->experts_per_token)
        m->experts_per_token = m->experts < 2 ? 1 : 2;
    if (!m->experts)
        m->shared_ffn = 0;
}

/* Its BERT has norms before attention and MLP, as its GPT, and two heads. */
static void megatron_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    int64_t head = m->head_dim ? m->head_dim : m->hidden / m->heads;
    if (raw->encoder) {
        m->arch = MODEL_ENCODER;
        m->head = MODEL_HEAD_PRETRAIN;
        m->type_vocab = 2;
        m->pooler = true;
    }
    m->tied_embeddings = !raw->untied;
    m->gated_mlp = raw->swiglu;
    m->rms_norm = raw->normalization && strcasecmp(raw->normalization, "RMSNorm") == 0;
    m->rotary = raw->position && strcmp(raw->position, "rope") == 0;
    if (raw->position && strcmp(raw->position, "learned_absolute") != 0)
        m->positions = 0;
    if (raw->qk_norm)
        m->q_norm = m->k_norm = head;
    m->out_bias = m->mlp_bias = raw->bias;
    m->qkv_bias |= raw->bias;
    finish_experts(m);
    if (!m->ffn && m->gated_mlp) /* 2/3 of 4, to a multiple of 64 */
        m->ffn = m->hidden * 8 / 3 / 64 * 64;
}

const struct family families_megatron[] = {
    { .name = "megatron",
      .fields = megatron_fields,
      .finish = megatron_finish,
      .usual = { .m = { DECODER, .attention_dropout = true, .hidden_dropout = true,
                        .fused_qkv = true },
                 .bias = true } },
    { .name = NULL },
};
