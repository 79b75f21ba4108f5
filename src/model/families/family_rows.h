/* Rows of the tables of families: a field of the file, and where it goes in struct
 * family_raw. Private to src/model/families*.c. */
#ifndef MODEL_FAMILIES_FAMILY_ROWS_H
#define MODEL_FAMILIES_FAMILY_ROWS_H

#include "model/families/families.h"

#include <stddef.h>

#define R struct family_raw
#define SIZE(k, a, member, need, most)                                             \
    {                                                                              \
        .key = (k), .alias = (a), .type = FAMILY_INT, .at = offsetof(R, m.member), \
        .required = (need), .min = 1, .max = (most)                                \
    }
#define COUNT(k, a, member, most)                                                  \
    {                                                                              \
        .key = (k), .alias = (a), .type = FAMILY_INT, .at = offsetof(R, m.member), \
        .min = 0, .max = (most)                                                    \
    }
#define WORD(k, member, least, most)                                               \
    {                                                                              \
        .key = (k), .type = FAMILY_INT, .at = offsetof(R, member), .min = (least), \
        .max = (most)                                                              \
    }
#define FLAG(k, member)                                            \
    {                                                              \
        .key = (k), .type = FAMILY_BOOL, .at = offsetof(R, member) \
    }
#define DROP(k, member)                                                     \
    {                                                                       \
        .key = (k), .type = FAMILY_PROBABILITY, .at = offsetof(R, m.member) \
    }
#define NONZERO(k, member)                                              \
    {                                                                   \
        .key = (k), .type = FAMILY_NONZERO, .at = offsetof(R, m.member) \
    }
/* A count whose null means none. */
#define OR_NONE(k, member, most)                                                       \
    {                                                                                  \
        .key = (k), .type = FAMILY_OR_NONE, .at = offsetof(R, m.member), .max = (most) \
    }
#define WINDOW(k) OR_NONE(k, attention.window, POSITIONS_MAX)
#define TEXT(k, member)                                              \
    {                                                                \
        .key = (k), .type = FAMILY_STRING, .at = offsetof(R, member) \
    }
#define LAYER_TYPES                                                                 \
    {                                                                               \
        .key = "layer_types", .type = FAMILY_LAYER_TYPES, .at = offsetof(R, listed) \
    }
#define MLP_TYPES                                          \
    {                                                      \
        .key = "mlp_layer_types", .type = FAMILY_MLP_TYPES \
    }
#define FIELDS_END  \
    {               \
        .key = NULL \
    }
#define FAMILY(word, table, function, ...)                                  \
    {                                                                       \
        .name = (word), .fields = (table), .finish = (function), .usual = { \
            .m = { __VA_ARGS__ },                                           \
            .multi_query = true                                             \
        }                                                                   \
    }
#define DECODER \
    .arch = MODEL_DECODER, .ends.head = MODEL_HEAD_CAUSAL_LM, .norms.final = true

enum {
    LAYERS_MAX = 10000,
    WIDTH_MAX = 1 << 20,
    HEADS_MAX = 1 << 14,
    VOCAB_MAX = 1 << 26,
    POSITIONS_MAX = 1 << 26,
    EXPERTS_MAX = 4096,
    MTP_MAX = 16,
    PIXELS_MAX = 1 << 16,
    CHANNELS_MAX = 1 << 12,
};

/* A choice that changes little of time and memory, and is not modelled: warned of where
 * the file makes it. */
#define NOTED(k, text)                                  \
    {                                                   \
        .key = (k), .type = FAMILY_NOTED, .why = (text) \
    }
/* A word that goes with another row, or that vision.c reads. */
#define ELSEWHERE(k)                         \
    {                                        \
        .key = (k), .type = FAMILY_ELSEWHERE \
    }
/* One number, or a list with the same number for each layer. */
#define EACH(k, a, member, least, most)                                           \
    {                                                                             \
        .key = (k), .alias = (a), .type = FAMILY_EACH, .at = offsetof(R, member), \
        .min = (least), .max = (most)                                             \
    }

/* One number, or rows and columns. */
#define SIDES(k, member, most)                                     \
    {                                                              \
        .key = (k), .type = FAMILY_SIDES, .min = 1, .max = (most), \
        .at = offsetof(R, member)                                  \
    }

/* A list of whole numbers. */
#define ITEMS(k, member)                                            \
    {                                                               \
        .key = (k), .type = FAMILY_ITEMS, .at = offsetof(R, member) \
    }

/* Latent attention, as DeepSeek's files write it. */
#define LATENT_HEADS                                                            \
    OR_NONE("q_lora_rank", attention.latent_q, WIDTH_MAX),                      \
        SIZE("kv_lora_rank", NULL, attention.latent_kv, true, WIDTH_MAX),       \
        SIZE("qk_rope_head_dim", NULL, attention.latent_rope, true, WIDTH_MAX), \
    {                                                                           \
        .key = "qk_nope_head_dim", .type = FAMILY_INT,                          \
        .at = offsetof(R, plain_head_dim), .required = true, .min = 1,          \
        .max = WIDTH_MAX                                                        \
    }

#define ACTIVATION(k) TEXT(k, activation)
#define TIED FLAG("tie_word_embeddings", m.ends.tied)
#define HEAD_DIM SIZE("head_dim", NULL, attention.head_dim, false, WIDTH_MAX)
#define HF_SIZES                                                             \
    SIZE("num_hidden_layers", NULL, layers, true, LAYERS_MAX),               \
        SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),                  \
        SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX), \
        SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX), HEAD_DIM, TIED

/* Of stacks that read pictures as patches (model/families/vision.c, model/families/tower.c), and what
 * follows of a picture's sizes: patches, their numbers, learned positions of as many. */
#define PICTURE                                                 \
    EACH("image_size", NULL, picture.side, 1, PIXELS_MAX),      \
        EACH("patch_size", NULL, picture.patch, 1, PIXELS_MAX), \
        WORD("num_channels", picture.channels, 1, CHANNELS_MAX)
#define TOWER .arch = MODEL_ENCODER, .ends.head = MODEL_HEAD_CLASS
#define BIASES .attention.qkv_bias = true, .attention.out_bias = true, .mlp.bias = true
void families_picture(struct family_raw *raw);

/* Of mixers that keep a state, and kinds of layers. */
#define STATE_SIZE(k, a, member, need, most)                                           \
    {                                                                                  \
        .key = (k), .alias = (a), .type = FAMILY_INT,                                  \
        .at = offsetof(R, m.state.member), .required = (need), .min = 1, .max = (most) \
    }
#define PATTERN(k, a)                                                                \
    {                                                                                \
        .key = (k), .alias = (a), .type = FAMILY_PATTERN, .at = offsetof(R, pattern) \
    }

/* Of decoders in the line of Llama. */
#define LLAMA_SIZES                                                                    \
    HF_SIZES, SIZE("num_key_value_heads", NULL, attention.kv_heads, false, HEADS_MAX), \
        DROP("attention_dropout", attention.dropout)
#define LLAMA_FFN SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX)
#define EXPERTS(total, each)                           \
    SIZE(total, NULL, mlp.experts, true, EXPERTS_MAX), \
        SIZE(each, NULL, mlp.experts_per_token, true, EXPERTS_MAX)
#define GATED DECODER, .mlp.gated = true, .attention.rotary = true
#define LLAMA GATED, .norms.rms = true

/* Biases of the products around attention, as "attention_bias" says. */
void families_llama(struct family_raw *raw);

/* BERT's members, and OLMoE's with what follows of them, which others have alike. */
extern const struct family_field families_bert_fields[], families_olmoe_fields[];
void families_olmoe(struct family_raw *raw);

/* Sliding windows: of the layers that are listed, or of all but every so-manyth. */
void families_windows(struct family_raw *raw);

/* Norms of all columns of queries and of keys. */
void families_wide_norms(struct model *m);

/* The columns of a head, where finish needs them before they are derived. */
int64_t families_head_dim(const struct model *m);

/* A pattern that finish makes: all layers of one kind at first; or the listed one's
 * mixers, each layer with an MLP too (model/families/state.c). */
struct model_kind *families_make_pattern(struct family_raw *raw,
                                         struct model_kind kind);
void families_add_inner(struct family_raw *raw, enum model_inner inner);

/* Where no layer is left that has experts, none has. */
void families_dense(struct model *m);

#endif
