/* BERT and its kin, T5 and its kin. */
#include "model/family_rows.h"

#include <string.h>

/* BERT and its kin ----------------------------------------------------------------- */

static const struct family_field bert_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, ffn, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, positions, false, POSITIONS_MAX),
    COUNT("type_vocab_size", NULL, type_vocab, 1024),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field distilbert_fields[] = {
    SIZE("n_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("dim", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("n_heads", "num_attention_heads", heads, true, HEADS_MAX),
    SIZE("hidden_dim", NULL, ffn, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX),
    SIZE("max_position_embeddings", NULL, positions, false, POSITIONS_MAX),
    HEAD_DIM,
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    ACTIVATION("activation"),
    FIELDS_END,
};

#define ENCODER                                                                     \
    .arch = MODEL_ENCODER, .head = MODEL_HEAD_MASKED_LM, .positions = 512,          \
    .post_norm = true, .tied_embeddings = true, .qkv_bias = true, .out_bias = true, \
    .mlp_bias = true, .embedding_norm = true, .attention_dropout = true,            \
    .hidden_dropout = true
#define ROBERTA .type_vocab = 1, .positions_unused = 2, .pooler = true

/* T5 ------------------------------------------------------------------------------- */

static const struct family_field t5_fields[] = {
    SIZE("d_model", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("num_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("num_decoder_layers", NULL, decoder_layers, false, LAYERS_MAX),
    SIZE("num_heads", "num_attention_heads", heads, true, HEADS_MAX),
    SIZE("d_kv", "head_dim", head_dim, true, WIDTH_MAX),
    SIZE("d_ff", NULL, ffn, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX),
    SIZE("relative_attention_num_buckets", NULL, relative_buckets, false, 1 << 20),
    TIED,
    TEXT("feed_forward_proj", feed_forward),
    DROP("dropout_rate", hidden_dropout),
    ACTIVATION("dense_act_fn"),
    FIELDS_END,
};

static void t5_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention_dropout = m->hidden_dropout;
    if (!raw->feed_forward)
        raw->feed_forward = "relu";
    m->gated_mlp = strncmp(raw->feed_forward, "gated", 5) == 0;
    if (strcmp(raw->feed_forward, "gated-gelu") == 0)
        m->activation = MODEL_ACTIVATION_GELU_NEW;
    if (!m->decoder_layers)
        m->decoder_layers = m->layers;
}

static void mt5_finish(struct family_raw *raw)
{
    if (!raw->feed_forward)
        raw->feed_forward = "gated-gelu";
    t5_finish(raw);
}

#define ENCODER_DECODER                                                              \
    .arch = MODEL_ENCODER_DECODER, .head = MODEL_HEAD_CAUSAL_LM, .final_norm = true, \
    .relative_buckets = 32, .rms_norm = true, .hidden_dropout = true

const struct family families_encoder[] = {
    FAMILY("bert", bert_fields, NULL, ENCODER, .type_vocab = 2, .pooler = true),
    FAMILY("roberta", bert_fields, NULL, ENCODER, ROBERTA),
    FAMILY("xlm-roberta", bert_fields, NULL, ENCODER, ROBERTA),
    FAMILY("camembert", bert_fields, NULL, ENCODER, ROBERTA),
    FAMILY("distilbert", distilbert_fields, NULL, ENCODER),
    FAMILY("t5", t5_fields, t5_finish, ENCODER_DECODER, .tied_embeddings = true),
    FAMILY("mt5", t5_fields, mt5_finish, ENCODER_DECODER),
    { .name = NULL },
};
