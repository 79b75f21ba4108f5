/* Families of models (model_type of a Hugging Face config.json): what their files call
 * each size, and what their design fixes. Private to src/model/. */
#ifndef MODEL_FAMILIES_FAMILIES_H
#define MODEL_FAMILIES_FAMILIES_H

#include "base/strbuf.h"
#include "model/model.h"

enum family_type {
    FAMILY_INT,
    FAMILY_BOOL,
    FAMILY_PROBABILITY, /* the member is a bool: above 0 */
    FAMILY_NONZERO,     /* a bool: a number that is not 0; null: false */
    FAMILY_REAL,        /* a number up to max */
    FAMILY_OR_NONE,     /* FAMILY_INT; null: 0 */
    FAMILY_STRING,
    FAMILY_LAYER_TYPES, /* struct family_layers: an array of words */
    FAMILY_SHARES,      /* struct family_layers: a share, or an array of them */
    FAMILY_LENGTH,      /* the items of an array */
    FAMILY_ITEMS,       /* struct family_items: an array of whole numbers */
    FAMILY_EACH,        /* FAMILY_INT, or an array of equal ones */
    FAMILY_SIDES,       /* struct family_sides: one number, or rows and columns */
    FAMILY_PATTERN,     /* struct family_pattern: letters, or an array of words */
    FAMILY_MEMBERS,     /* the same: an array of the layers that attend */
    FAMILY_MLP_TYPES,   /* no member: "dense" or "sparse" for each layer */
    FAMILY_NOTED,       /* no member: warned of where it is there, and not 0 or false */
    FAMILY_ELSEWHERE,   /* no member: goes with another row, or vision.c reads it */
};

/* Layers by "layer_types". */
struct family_layers {
    int64_t n, sliding; /* n is 0: the file has no such list; 1 of shares: of all */
    bool *of;           /* whether each has a window, or a share above 0 */
};

/* Kinds of layers, as they are listed. */
struct family_pattern {
    int64_t n; /* 0: the file has no such list */
    struct model_kind *kinds;
};

/* Whole numbers, as they are listed. */
struct family_items {
    int64_t n;
    int64_t *of;
};

/* Layers that recur: every so-manyth, from one on. */
struct family_period {
    int64_t every, from; /* 0: none does */
};

/* Of a picture or window: rows and columns. */
struct family_sides {
    int64_t rows, columns;
};

/* Stages over a picture; 0 items: not said. */
struct family_stages {
    struct family_items depths, heads;
    struct family_sides picture, window;
    double expansion;
    bool absolute; /* positions of patches are learned, too */
};

/* What a stack of patches reads. */
struct family_picture {
    int64_t side, patch; /* pixels */
    int64_t across;      /* of the other side; 0: as many */
    int64_t frames;      /* that a patch spans; 0: one */
    int64_t channels;    /* 0: three */
    int64_t merge;       /* patches of a side that become one token; 0: one */
    int64_t patches;     /* of a picture; finish sets it */
    int64_t class_tokens;
    int64_t registers;     /* tokens that are learned, and have no place */
    int64_t rows, columns; /* of a table of positions; 0: not said */
    int64_t inner;         /* layers whose results are projected, too */
    int64_t out;           /* columns that are projected; 0: the hidden size */
    int64_t gate;          /* inside of a gated MLP after the projector; 0: none */
    int64_t tiles;         /* pictures that attend to each other; 0: one */
    int64_t shapes;        /* in which tiles may lie */
    int64_t more_layers;   /* after the others, and like them */
    bool learned;          /* positions */
    bool out_bias;
};

/* What a decoder after an encoder says of itself; 0: not said. */
struct family_decoder {
    int64_t heads, width, positions;
    int64_t hidden, kv_heads, head_dim; /* T5Gemma */
};

/* Gemma 4: layers without windows, and those that take keys and values of others. */
struct family_global {
    int64_t head_dim, kv_heads; /* 0 key-value heads: as many as others */
    int64_t borrowing;          /* the last layers */
    bool one_kv, wide, experts; /* wide: their MLPs have twice the columns */
};

/* What reads a sound's samples: lists, which are as long as each other; 0 items: not
 * said. */
struct family_waves {
    struct family_items columns, kernel, stride;
    struct model_sound sound;
    const char *norm; /* "group" or "layer"; NULL: not said */
    bool stable;      /* norms before sublayers */
    bool batch_norm, adapter;
};

/* DeBERTa: relative positions. */
struct family_places {
    bool on, biased, shared, talking;
    int64_t most, buckets, conv, conv_groups;
    const char *norm; /* NULL: not said */
};

/* A model while it is read, with the words that only its family understands. */
struct family_raw {
    struct model m;
    bool multi_query, new_decoder, alibi, bias; /* falcon */
    const char *feed_forward;                   /* T5; NULL: not said */
    bool words_shared;                          /* Marian: by encoder and decoder */
    const char *activation;                     /* NULL: not said */
    int64_t embedding_width;                    /* OPT; 0: the hidden size */
    int64_t shared_experts, plain_head_dim;     /* DeepSeek */
    int64_t expansion;                          /* MPT: of the MLP; 0: 4 */
    int64_t full_every; /* of so many layers one sees all keys; 0: none does */
    bool windows;       /* Qwen: layers after the first `full_first` have windows */
    int64_t full_first;
    int64_t windowed;       /* layers with a window */
    int64_t sparse_step;    /* every so-manyth layer has experts; 0: each */
    int64_t listed_experts; /* and those with; 0: not listed */
    int64_t last_experts;   /* no layer after this one has experts; below 1: the last */
    bool without_experts;   /* experts are given, and no layer has them */
    bool interleaved;       /* layers with and without experts take turns */
    struct family_layers listed;
    struct family_layers sparse; /* Gemma 3n: whose MLPs drop a share of their gates */
    struct family_pattern pattern;
    struct family_items full_items, dense_items; /* layers of full attention; without
                                                    experts */
    struct family_period attends, routes;        /* Jamba: attention; experts */
    int64_t expand;                              /* Mamba: of the hidden size */
    int64_t state_width; /* Falcon-H1: columns that are mixed; 0: so */
    bool adjusts_width;  /* LFM2: the MLP's, to two thirds and a multiple */
    double width_factor;
    int64_t width_multiple;
    struct arena *arena;                  /* for what finish makes */
    const char *normalization, *position; /* Megatron; NULL: not said */
    bool encoder, encoder_decoder, untied, swiglu, qk_norm, latent;
    bool norm_weights, norm_bias, qk_norm_weights; /* OLMo */
    int64_t expert_width;                          /* Megatron; 0: the dense MLP's */
    struct family_picture picture;
    struct family_decoder decoder;
    struct family_global global;
    struct family_waves waves;
    struct family_places places;
    struct family_stages stages;
    const char *noted;   /* what finish has found and warns of; NULL: nothing */
    const char *refused; /* what finish has found and nothing models; NULL: nothing */
};

struct family_field {
    const char *key, *alias; /* another name that Hugging Face reads; or NULL. "a/b" is
                                 b of the object a */
    enum family_type type;
    size_t at; /* in struct family_raw */
    bool required;
    int64_t min, max;
    const char *why; /* FAMILY_NOTED: what the model is read without */
};

struct family {
    const char *name;
    struct family_raw usual;                /* what a file leaves unsaid */
    const struct family_field *fields;      /* ended by a NULL key */
    void (*finish)(struct family_raw *raw); /* NULL: nothing to derive */
    const char *alone; /* what is left out where it is the whole model; or NULL */
};

/* Ended by a NULL name each. */
extern const struct family families_encoder[], families_gpt[], families_llama_line[],
    families_recent[], families_kin[], families_experts[], families_state[],
    families_linear[], families_gemma[], families_diffusion[], families_vision[],
    families_megatron[], families_more[], families_sound[], families_tower[],
    families_late[], families_stages[];

/* family_fields.c: reads a file into `raw`, as the rows say; NULL ends them. -1 with each
 * error reported. */
int families_read_fields(struct cfg root, const struct family_field *fields,
                         struct family_raw *raw);

/* family_check.c: what the model says that is not simulated, or cannot be: -1 with the
 * error reported; what is simulated in part: warned of. */
int families_check(const struct family_raw *raw, struct cfg root);

/* usual.c: what transformers' class has where the file does not say it, with a warning. */
void families_take_defaults(struct family_raw *raw, const struct family *family,
                            struct cfg root);

/* NULL: there is none of that name. */
const struct family *family_find(const char *name);

/* The family of a class of diffusers; NULL: it is not modelled. */
const struct family *family_of_class(const char *name);

/* Whether its words are those that dialects translate to, not a published file's. */
bool family_is_translated(const struct family *family);

/* The family after another one, the first after NULL; NULL: there are no more. */
const struct family *family_next(const struct family *family);

/* Why a model_type that users meet is none of the families ("has no attention"); NULL:
 * not known either. */
const char *family_refusal(const char *name);

/* The family of the name nearest to one that is not known; NULL: none is near. */
const char *family_nearest(const char *name);

/* Lists of layers: those with windows, counted; kinds of layers, as letters or words;
 * numbers of those that attend; any numbers; sides (family_layers.c). -1 with the error
 * reported. */
int families_read_types(struct cfg list, struct family_layers *layers);
int families_read_shares(struct cfg value, struct family_layers *layers);
int families_read_pattern(struct cfg value, struct family_pattern *p);
int families_read_members(struct cfg value, struct family_pattern *p);
int families_read_items(struct cfg value, struct family_items *items);
int families_read_sides(struct cfg value, struct family_sides *sides, int64_t most);

/* "mlp_layer_types", as transformers 5 writes it: sets the layers without experts. */
int families_read_mlps(struct cfg list, struct family_raw *raw);

/* Refuses what the file says that changes the model and that the family has no row for
 * (`m`: as it was read); warns of other words that none reads. -1 after reporting. */
int families_unread(struct cfg root, const struct family *family,
                    const struct model *m);

/* The activation of that name; one kernel where the name is no other. */
enum model_activation families_activation(const char *word);
bool families_knows_activation(const char *word);

#endif
