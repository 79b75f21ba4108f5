/* BERT and its kin, T5 and its kin. */
#include "model/families/family_rows.h"

#include <string.h>

/* BERT and its kin ----------------------------------------------------------------- */

/* Jina's embeddings of 2023 are called BERT, too: gated MLPs, positions by a bias. */
static const struct family_field bert_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    COUNT("type_vocab_size", NULL, ends.type_vocab, 1024),
    TEXT("position_embedding_type", position),
    TEXT("feed_forward_type", feed_forward),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* A bias of the gated MLP's last product is left out. */
static void bert_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    const char *position = raw->position, *inner = raw->feed_forward;
    if (position && strcmp(position, "alibi") == 0)
        m->ends.positions = 0;
    else if (position && strcmp(position, "absolute") != 0)
        raw->refused = "positions of that kind (\"position_embedding_type\")";
    if (!inner || strcmp(inner, "original") == 0)
        return;
    m->mlp.gated = m->mlp.fused_gate = true;
    m->mlp.bias = false;
    if (strcmp(inner, "geglu") != 0 && strcmp(inner, "reglu") != 0)
        raw->refused = "MLPs of that kind (\"feed_forward_type\")";
}

const struct family_field families_bert_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    COUNT("type_vocab_size", NULL, ends.type_vocab, 1024),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* ELECTRA's discriminator: words of fewer columns. */
static const struct family_field electra_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    COUNT("type_vocab_size", NULL, ends.type_vocab, 1024),
    WORD("embedding_size", embedding_width, 1, WIDTH_MAX),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void electra_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    if (raw->embedding_width && raw->embedding_width != m->hidden)
        m->ends.word = raw->embedding_width;
    m->ends.word_bias = m->ends.word_all = m->ends.word > 0;
    if (m->ends.head == MODEL_HEAD_PRETRAIN || m->ends.head == MODEL_HEAD_MASKED_LM)
        m->ends.head = MODEL_HEAD_CLASS; /* it predicts no words */
}

/* ESM-2: norms before the sublayers, rotary positions. */
static const struct family_field esm_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    TEXT("position_embedding_type", position),
    FLAG("emb_layer_norm_before", m.norms.embedding),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void esm_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention.rotary = raw->position && strcmp(raw->position, "rotary") == 0;
    if (m->attention.rotary)
        m->ends.positions = 0;
}

static const struct family_field mpnet_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    SIZE("relative_attention_num_buckets", NULL, attention.relative_buckets, false,
         1 << 20),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* ModernBERT: rotary, gated, a norm before each sublayer (but for the first layer's
 * attention; one is counted), windows in all layers but every so-manyth. */
static const struct family_field modernbert_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("local_attention", NULL, attention.window, false, POSITIONS_MAX),
    WORD("global_attn_every_n_layers", full_every, 1, LAYERS_MAX),
    FLAG("norm_bias", bias),
    FLAG("attention_bias", m.attention.qkv_bias),
    FLAG("mlp_bias", m.mlp.bias),
    DROP("attention_dropout", attention.dropout),
    DROP("mlp_dropout", hidden_dropout),
    ACTIVATION("hidden_activation"),
    FIELDS_END,
};

static void modernbert_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    int64_t every = raw->full_every ? raw->full_every : 3;
    m->norms.bare = !raw->bias;
    m->attention.out_bias = m->attention.qkv_bias;
    raw->windowed = m->layers - (m->layers + every - 1) / every;
}

static const struct family_field distilbert_fields[] = {
    SIZE("n_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("dim", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("n_heads", "num_attention_heads", attention.heads, true, HEADS_MAX),
    SIZE("hidden_dim", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    HEAD_DIM,
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("activation"),
    FIELDS_END,
};

#define ENCODER                                                                      \
    .arch = MODEL_ENCODER, .ends.head = MODEL_HEAD_MASKED_LM, .ends.positions = 512, \
    .norms.post = true, .ends.tied = true, .attention.qkv_bias = true,               \
    .attention.out_bias = true, .mlp.bias = true, .norms.embedding = true,           \
    .attention.dropout = true, .hidden_dropout = true
#define ROBERTA .ends.type_vocab = 1, .ends.positions_unused = 2, .ends.pooler = true

/* DeBERTa ----------------------------------------------------------------------------- */

static const struct family_field deberta_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    COUNT("type_vocab_size", NULL, ends.type_vocab, VOCAB_MAX),
    SIZE("attention_head_size", NULL, attention.head_dim, false, WIDTH_MAX),
    FLAG("relative_attention", places.on),
    FLAG("position_biased_input", places.biased),
    FLAG("share_att_key", places.shared),
    FLAG("talking_head", places.talking),
    WORD("max_relative_positions", places.most, -1, POSITIONS_MAX),
    WORD("position_buckets", places.buckets, -1, POSITIONS_MAX),
    TEXT("norm_rel_ebd", places.norm),
    WORD("conv_kernel_size", places.conv, 0, POSITIONS_MAX),
    COUNT("embedding_size", NULL, ends.word, WIDTH_MAX),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    ACTIVATION("hidden_act"),
    ELSEWHERE("pos_att_type"), /* both kinds, as every published one has */
    ELSEWHERE("legacy"),
    ELSEWHERE("conv_act"),
    WORD("conv_groups", places.conv_groups, 1, WIDTH_MAX),
    FIELDS_END,
};

static void deberta_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    const struct family_places *p = &raw->places;
    int64_t most = p->most > 0 ? p->most : m->ends.positions;
    if (p->on)
        m->attention.place_rows = 2 * (p->buckets > 0 ? p->buckets : most);
    m->attention.place_products = !p->shared;
    m->ends.conv = p->conv;
    if (p->conv > 0)
        raw->noted = "the convolution over tokens (\"conv_kernel_size\") is run before "
                     "the first layer, in the time of a product of as many numbers";
    m->attention.place_norm = p->on && p->norm && strstr(p->norm, "layer_norm");
    if (!p->biased)
        m->ends.positions = 0;
    if (m->ends.word == m->hidden)
        m->ends.word = 0;
    if (p->talking)
        raw->refused = "heads that are mixed (\"talking_head\")";
    else if (p->conv > 0 && p->conv_groups > 1)
        raw->refused = "convolutions of groups of columns (\"conv_groups\")";
    else if (m->ends.word > 0)
        raw->refused = "words of fewer columns (\"embedding_size\")";
}

/* T5 ------------------------------------------------------------------------------- */

static const struct family_field t5_fields[] = {
    SIZE("d_model", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("num_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("num_decoder_layers", NULL, decoder_layers, false, LAYERS_MAX),
    SIZE("num_heads", "num_attention_heads", attention.heads, true, HEADS_MAX),
    SIZE("d_kv", "head_dim", attention.head_dim, true, WIDTH_MAX),
    SIZE("d_ff", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    SIZE("relative_attention_num_buckets", NULL, attention.relative_buckets, false,
         1 << 20),
    TIED,
    TEXT("feed_forward_proj", feed_forward),
    DROP("dropout_rate", hidden_dropout),
    ACTIVATION("dense_act_fn"),
    FIELDS_END,
};

static void t5_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention.dropout = m->hidden_dropout;
    if (!raw->feed_forward)
        raw->feed_forward = "relu";
    m->mlp.gated = strncmp(raw->feed_forward, "gated", 5) == 0;
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

#define ENCODER_DECODER                                                       \
    .arch = MODEL_ENCODER_DECODER, .ends.head = MODEL_HEAD_CAUSAL_LM,         \
    .norms.final = true, .attention.relative_buckets = 32, .norms.rms = true, \
    .hidden_dropout = true, .memory_dropout = true

/* BART ----------------------------------------------------------------------------- */

/* Of both stacks. */
#define STACKS                                                                        \
    SIZE("d_model", "hidden_size", hidden, true, WIDTH_MAX),                          \
        SIZE("encoder_layers", "num_hidden_layers", layers, true, LAYERS_MAX),        \
        SIZE("decoder_layers", NULL, decoder_layers, true, LAYERS_MAX),               \
        SIZE("encoder_attention_heads", "num_attention_heads", attention.heads, true, \
             HEADS_MAX),                                                              \
        WORD("decoder_attention_heads", decoder.heads, 1, HEADS_MAX),                 \
        SIZE("encoder_ffn_dim", NULL, mlp.width, true, WIDTH_MAX),                    \
        WORD("decoder_ffn_dim", decoder.width, 1, WIDTH_MAX),                         \
        SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX)

static const struct family_field bart_fields[] = {
    STACKS,
    WORD("max_position_embeddings", decoder.positions, 1, POSITIONS_MAX),
    TIED,
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

/* Marian: a table of words for each stack, if the file says so. */
static const struct family_field marian_fields[] = {
    STACKS,
    WORD("max_position_embeddings", decoder.positions, 1, POSITIONS_MAX),
    TIED,
    FLAG("share_encoder_decoder_embeddings", words_shared),
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static void marian_finish(struct family_raw *raw)
{
    raw->m.ends.words_apart = !raw->words_shared;
}

enum { BART_PADDING = 2 }; /* rows of learned positions before the first token's */

/* Learned positions; others are computed once, and are no parameters. */
static void learned_finish(struct family_raw *raw)
{
    int64_t n = raw->decoder.positions ? raw->decoder.positions : 1024;
    raw->m.ends.positions = n + BART_PADDING;
    raw->m.ends.positions_unused = BART_PADDING;
}

static void blenderbot_finish(struct family_raw *raw)
{
    raw->m.ends.positions = raw->decoder.positions ? raw->decoder.positions : 128;
}

/* Whisper: two convolutions of three frames each make the encoder's, counted as one
 * product of as many weights. Its key projections have no bias; one is counted. The
 * encoder's positions are held as parameters that are never trained. */
static const struct family_field whisper_fields[] = {
    STACKS,
    SIZE("num_mel_bins", NULL, ends.patch, false, 4096),
    SIZE("max_source_positions", NULL, ends.frames, false, POSITIONS_MAX),
    SIZE("max_target_positions", NULL, ends.positions, false, POSITIONS_MAX),
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static void whisper_finish(struct family_raw *raw)
{
    enum { KERNEL = 3 };
    struct model *m = &raw->m;
    m->ends.patch = KERNEL * (m->ends.patch + m->hidden);
    m->idle = m->ends.frames * m->hidden;
}

/* The decoder of a VisionEncoderDecoder: TrOCR's, and mBART's where the encoder is
 * another family's. What both read is the whole file's "encoder". */
static const struct family_field reader_fields[] = {
    SIZE("d_model", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("decoder_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("decoder_attention_heads", "num_attention_heads", attention.heads, true,
         HEADS_MAX),
    SIZE("decoder_ffn_dim", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    WORD("max_position_embeddings", decoder.positions, 1, POSITIONS_MAX),
    FLAG("use_learned_position_embeddings", norm_weights),
    FLAG("layernorm_embedding", m.norms.embedding),
    ELSEWHERE("add_final_layer_norm"),
    ELSEWHERE("encoder_layers"), /* of a stack that is not there */
    ELSEWHERE("encoder_attention_heads"),
    ELSEWHERE("encoder_ffn_dim"),
    TIED,
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static void reader_finish(struct family_raw *raw)
{
    if (!raw->m.crosses)
        raw->refused = "decoders without the encoder that they read";
    if (raw->norm_weights)
        learned_finish(raw);
}

#define BART_LAYERS                                                            \
    .ends.tied = true, .attention.qkv_bias = true, .attention.out_bias = true, \
    .mlp.bias = true
#define SPEECH \
    .arch = MODEL_ENCODER_DECODER, .ends.head = MODEL_HEAD_CAUSAL_LM, BART_LAYERS
#define READER                                                             \
    .arch = MODEL_DECODER, .ends.head = MODEL_HEAD_CAUSAL_LM, BART_LAYERS, \
    .hidden_dropout = true, .norms.embedding = true
#define BART SPEECH, .hidden_dropout = true

const struct family families_encoder[] = {
    FAMILY("bert", bert_fields, bert_finish, ENCODER, .ends.type_vocab = 2,
           .ends.pooler = true),
    FAMILY("roberta", families_bert_fields, NULL, ENCODER, ROBERTA),
    FAMILY("xlm-roberta", families_bert_fields, NULL, ENCODER, ROBERTA),
    FAMILY("camembert", families_bert_fields, NULL, ENCODER, ROBERTA),
    FAMILY("electra", electra_fields, electra_finish, ENCODER, .ends.type_vocab = 2),
    FAMILY("mpnet", mpnet_fields, NULL, ENCODER, .ends.positions_unused = 2,
           .ends.pooler = true, .attention.relative_buckets = 32),
    FAMILY("esm", esm_fields, esm_finish, .arch = MODEL_ENCODER,
           .ends.head = MODEL_HEAD_MASKED_LM, .ends.positions = 1026, .ends.tied = true,
           .attention.qkv_bias = true, .attention.out_bias = true, .mlp.bias = true,
           .norms.final = true, .attention.dropout = true, .hidden_dropout = true),
    FAMILY("modernbert", modernbert_fields, modernbert_finish, .arch = MODEL_ENCODER,
           .ends.head = MODEL_HEAD_MASKED_LM, .ends.tied = true, .mlp.gated = true,
           .mlp.fused_gate = true, .attention.fused_qkv = true,
           .attention.rotary = true, .norms.final = true, .norms.embedding = true,
           .attention.window = 128),
    FAMILY("distilbert", distilbert_fields, NULL, ENCODER),
    { .name = "deberta",
      .fields = deberta_fields,
      .finish = deberta_finish,
      .usual = { .m = { ENCODER, .attention.place_cut = true,
                        .attention.fused_qkv = true },
                 .places = { .biased = true } } },
    { .name = "deberta-v2",
      .fields = deberta_fields,
      .finish = deberta_finish,
      .usual = { .m = { ENCODER }, .places = { .biased = true, .buckets = -1 } } },
    FAMILY("t5", t5_fields, t5_finish, ENCODER_DECODER, .ends.tied = true),
    FAMILY("mt5", t5_fields, mt5_finish, ENCODER_DECODER),
    FAMILY("umt5", t5_fields, mt5_finish, ENCODER_DECODER, .ends.tied = true,
           .attention.relative_each = true),
    FAMILY("bart", bart_fields, learned_finish, BART, .norms.post = true,
           .norms.embedding = true),
    FAMILY("mbart", bart_fields, learned_finish, BART, .norms.final = true,
           .norms.embedding = true),
    FAMILY("plbart", bart_fields, learned_finish, BART, .norms.post = true,
           .norms.embedding = true),
    FAMILY("blenderbot", bart_fields, blenderbot_finish, BART, .norms.final = true),
    FAMILY("blenderbot-small", bart_fields, blenderbot_finish, BART, .norms.post = true,
           .norms.embedding = true),
    { .name = "marian",
      .fields = marian_fields,
      .finish = marian_finish,
      .usual = { .m = { BART, .norms.post = true }, .words_shared = true } },
    FAMILY("pegasus", bart_fields, NULL, BART, .norms.final = true, .layers = 12,
           .decoder_layers = 12, .hidden = 1024, .attention.heads = 16,
           .mlp.width = 4096, .ends.vocab = 50265),
    FAMILY("m2m_100", bart_fields, NULL, BART, .norms.final = true),
    { .name = "trocr",
      .fields = reader_fields,
      .finish = reader_finish,
      .usual = { .m = { READER, .norms.post = true },
                 .norm_weights = true,
                 .decoder.positions = 512 } },
    { .name = "mbart_decoder",
      .fields = reader_fields,
      .finish = reader_finish,
      .usual = { .m = { READER, .norms.final = true },
                 .norm_weights = true,
                 .decoder.positions = 1024 } },
    FAMILY("whisper", whisper_fields, whisper_finish, SPEECH, .norms.final = true,
           .ends.patch = 80, .ends.patch_bias = true, .ends.frames = 1500,
           .ends.positions = 448),
    { .name = NULL },
};
