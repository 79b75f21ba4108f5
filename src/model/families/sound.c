/* Encoders that read the samples of a sound through convolutions. Sources:
 * configuration_*.py and modeling_*.py of each in transformers 5. */
#include "model/families/family_rows.h"

#include <string.h>

static const struct family_field sound_fields[] = {
    SIZE("num_hidden_layers", NULL, layers, false, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, false, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, false, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, false, VOCAB_MAX),
    ITEMS("conv_dim", waves.columns),
    ITEMS("conv_kernel", waves.kernel),
    ITEMS("conv_stride", waves.stride),
    FLAG("conv_bias", waves.sound.bias),
    TEXT("feat_extract_norm", waves.norm),
    FLAG("do_stable_layer_norm", waves.stable),
    WORD("num_conv_pos_embeddings", waves.sound.place_kernel, 1, POSITIONS_MAX),
    WORD("num_conv_pos_embedding_groups", waves.sound.place_groups, 1, WIDTH_MAX),
    FLAG("conv_pos_batch_norm", waves.batch_norm),
    FLAG("add_adapter", waves.adapter),
    SIZE("num_buckets", NULL, attention.relative_buckets, false, 1 << 20),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    NOTED("layerdrop",
          "layers are left out at random (\"layerdrop\"): all are run here"),
    NOTED("adapter_attn_dim",
          "adapters after each layer (\"adapter_attn_dim\") are not "
          "modelled: they are left out"),
    ACTIVATION("hidden_act"),
    ELSEWHERE("feat_extract_activation"),
    ELSEWHERE("num_feat_extract_layers"),
    ELSEWHERE("feat_proj_layer_norm"),
    ELSEWHERE("max_bucket_distance"),
    ELSEWHERE("codevector_dim"),
    ELSEWHERE("proj_codevector_dim"),
    ELSEWHERE("num_codevector_groups"),
    ELSEWHERE("num_codevectors_per_group"),
    ELSEWHERE("contrastive_logits_temperature"),
    ELSEWHERE("num_negatives"),
    ELSEWHERE("ctc_loss_reduction"),
    ELSEWHERE("ctc_zero_infinity"),
    ELSEWHERE("num_ctc_classes"),
    ELSEWHERE("replace_prob"),
    ELSEWHERE("tdnn_dim"),
    ELSEWHERE("tdnn_kernel"),
    ELSEWHERE("tdnn_dilation"),
    ELSEWHERE("xvector_output_dim"),
    ELSEWHERE("num_adapter_layers"),
    ELSEWHERE("use_weighted_layer_sum"),
    FIELDS_END,
};

static const int64_t usual_kernel[] = { 10, 3, 3, 3, 3, 2, 2 },
                     usual_stride[] = { 5, 2, 2, 2, 2, 2, 2 };
enum { USUAL_CONVOLUTIONS = 7, USUAL_COLUMNS = 512 };

/* The i-th number of a list, or of what a file that has none means. */
static int64_t item(const struct family_items *list, int64_t i, int64_t usual)
{
    return list->n ? list->of[i] : usual;
}

static int read_convolutions(struct family_raw *raw, struct model_sound *sound)
{
    const struct family_waves *w = &raw->waves;
    const struct family_items *lists[] = { &w->columns, &w->kernel, &w->stride };
    sound->n = w->columns.n ? w->columns.n : USUAL_CONVOLUTIONS;
    for (int i = 0; i < 3; i++)
        if ((lists[i]->n ? lists[i]->n : USUAL_CONVOLUTIONS) != sound->n)
            return -1;
    if (sound->n > MODEL_CONVOLUTIONS_MAX)
        return -1;
    for (int64_t i = 0; i < sound->n; i++) {
        int64_t k = i < USUAL_CONVOLUTIONS ? i : 0;
        sound->columns[i] = item(&w->columns, i, USUAL_COLUMNS);
        sound->kernel[i] = item(&w->kernel, i, usual_kernel[k]);
        sound->stride[i] = item(&w->stride, i, usual_stride[k]);
        if (sound->columns[i] < 1 || sound->kernel[i] < 1 || sound->stride[i] < 1)
            return -1;
    }
    return 0;
}

static void sound_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    const struct family_waves *w = &raw->waves;
    struct model_sound *sound = ARENA_NEW(raw->arena, struct model_sound);
    *sound = w->sound;
    m->sound = sound;
    sound->norm_each = w->norm && strcmp(w->norm, "layer") == 0;
    if (read_convolutions(raw, sound) < 0)
        raw->refused =
            "convolutions (\"conv_dim\", \"conv_kernel\", \"conv_stride\") that "
            "are more than 8 or not as many of each";
    else if (m->hidden % sound->place_groups)
        raw->refused =
            "groups (\"num_conv_pos_embedding_groups\") that do not divide the "
            "hidden size";
    else if (w->adapter)
        raw->refused = "convolutions after the encoder (\"add_adapter\")";
    else if (w->batch_norm)
        raw->refused = "positions through a batch norm (\"conv_pos_batch_norm\")";
    if (raw->refused)
        sound->n = 0;
    m->ends.patch = sound->n ? sound->columns[sound->n - 1] : 1;
    m->norms.final = w->stable;
    m->norms.post = m->norms.embedding = !w->stable;
    if (m->ends.head == MODEL_HEAD_PRETRAIN) {
        m->ends.head = MODEL_HEAD_CAUSAL_LM;
        raw->noted = "the loss of its pre-training is not modelled: it is trained with "
                     "CTC, a logit of each of the vocabulary for each token";
    }
}

#define SOUND(word, ...)                                                           \
    {                                                                              \
        .name = (word), .fields = sound_fields, .finish = sound_finish, .usual = { \
            .m = { .arch = MODEL_ENCODER,                                          \
                   .ends.head = MODEL_HEAD_CAUSAL_LM,                              \
                   .ends.head_bias = true,                                         \
                   .ends.patch_bias = true,                                        \
                   .ends.vocab = 32,                                               \
                   .layers = 12,                                                   \
                   .hidden = 768,                                                  \
                   .attention.heads = 12,                                          \
                   .mlp.width = 3072,                                              \
                   .mlp.bias = true,                                               \
                   .attention.qkv_bias = true,                                     \
                   .attention.out_bias = true,                                     \
                   .attention.dropout = true,                                      \
                   __VA_ARGS__ },                                                  \
            .waves.sound = { .place_kernel = 128, .place_groups = 16 },            \
        }                                                                          \
    }

const struct family families_sound[] = {
    SOUND("wav2vec2", .hidden_dropout = true),
    SOUND("hubert", .hidden_dropout = true),
    SOUND("unispeech", .hidden_dropout = true),
    SOUND("unispeech-sat", .hidden_dropout = true),
    SOUND("wavlm", .hidden_dropout = true, .attention.relative_buckets = 320,
          .attention.relative_gate = true),
    { .name = NULL },
};
