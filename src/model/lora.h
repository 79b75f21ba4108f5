/* Low-rank adaptation (LoRA, QLoRA): the weights of the base model are frozen, and next
 * to some products y = x W run two thin ones, y += s B(A(dropout(x))), whose weights
 * are trained (Hu et al. 2021; PEFT 0.13 peft/tuners/lora/layer.py, Linear.forward).
 * What is stored of a frozen weight, and which products are adapted: MODEL.md, 2.5. */
#ifndef MODEL_LORA_H
#define MODEL_LORA_H

#include "base/err.h"
#include "base/names.h"

#include <stdbool.h>
#include <stdint.h>

struct model;
struct op_settings;

/* How frozen weights are stored. */
enum lora_base {
    LORA_BASE_OPEN, /* as the precision keeps parameters */
    LORA_BASE_FP32,
    LORA_BASE_FP16,
    LORA_BASE_BF16,
    LORA_BASE_NF4,  /* matrices of layers in 4 bits, 64 to a scale (bitsandbytes) */
    LORA_BASE_INT8, /* in 8 bits, with a scale a row */
};

extern const struct name_value lora_base_names[];

/* Products that may be adapted: bits of a set. */
enum lora_target {
    LORA_QUERY = 1 << 0,
    LORA_KEY = 1 << 1,
    LORA_VALUE = 1 << 2,
    LORA_QKV = 1 << 3, /* of one matrix that makes all three */
    LORA_OUT = 1 << 4,
    LORA_GATE = 1 << 5,
    LORA_UP = 1 << 6,
    LORA_GATE_UP = 1 << 7, /* of one matrix that makes both */
    LORA_DOWN = 1 << 8,
    LORA_ROUTER = 1 << 9,
    LORA_HEAD = 1 << 10,
    LORA_QUERY_DOWN = 1 << 11, /* latent attention */
    LORA_KV_DOWN = 1 << 12,
    LORA_KV_UP = 1 << 13,
    LORA_ALL_LINEAR = 1 << 14, /* every product but the head's */
    LORA_OUT_PROJ = 1 << 15,   /* a state mixer's last, and attention's of that name */
    LORA_STATE_IN = 1 << 16,   /* a state mixer's first */
    LORA_STATE_QKV = 1 << 17,  /* parts of it that are modules of their own: Qwen3.5, */
    LORA_STATE_GATE = 1 << 18, /* Kimi Linear, MiniMax */
    LORA_STATE_A = 1 << 19,
    LORA_STATE_B = 1 << 20,
    LORA_STATE_SELECT = 1 << 21, /* Mamba's x_proj; Kimi Linear's decays */
    LORA_STATE_STEP = 1 << 22,   /* its dt_proj; its gate */
    LORA_TEXT_QUERY = 1 << 23,   /* diffusion: of texts, where they have their own */
    LORA_TEXT_KEY = 1 << 24,
    LORA_TEXT_VALUE = 1 << 25,
    LORA_TEXT_OUT = 1 << 26,
    LORA_TEXT_UP = 1 << 27,
    LORA_TEXT_DOWN = 1 << 28,
    LORA_SINGLE_UP = 1 << 29, /* of layers with one set of weights */
    LORA_SINGLE_DOWN = 1 << 30,
};

/* Products of embeddings that each layer adds (Gemma 4), of all linear layers alone. */
#define LORA_LAYER_INPUTS (1u << 31)

/* What else is trained, whole: bits of a set. */
enum lora_trained {
    LORA_TRAINS_EMBEDDINGS = 1 << 0,
    LORA_TRAINS_HEAD = 1 << 1,
    LORA_TRAINS_NORMS = 1 << 2,
    LORA_TRAINS_VISION = 1 << 3, /* the tower that reads pictures */
    LORA_TRAINS_PROJECTOR = 1 << 4,
};

/* Parts of a model that are not trained, without adapters: bits of a set. */
enum lora_frozen {
    LORA_FREEZES_VISION = 1 << 0, /* the tower that reads pictures */
    LORA_FREEZES_PROJECTOR = 1 << 1,
    LORA_FREEZES_LANGUAGE = 1 << 2, /* all after the pictures: words, layers, head */
    LORA_FREEZES_ALL = 7,           /* of a model that reads pictures and words */
    LORA_FREEZES_EMBEDDINGS = 1 << 3,
    LORA_FREEZES_HEAD = 1 << 4,
    LORA_FREEZES_FEATURES = 1 << 5,  /* convolutions over samples of a sound */
    LORA_FREEZES_ENCODER = 1 << 6,   /* before a decoder, with what it reads */
    LORA_FREEZES_ATTENTION = 1 << 7, /* parts of all layers */
    LORA_FREEZES_MLP = 1 << 8,       /* experts too */
    LORA_FREEZES_ROUTER = 1 << 9,
    LORA_FREEZES_NORMS = 1 << 10,
    LORA_FREEZES_STATE = 1 << 11,
    LORA_FREEZES_BLOCKS = 0xff8, /* all of these */
};

/* Layers that are not trained, from 0 on; a decoder's after its encoder's. */
struct layer_run {
    int64_t from, end;
};
struct lora_layers {
    int32_t n;
    struct layer_run *of;
};

struct lora {
    int64_t rank;                     /* 0: no adapters, all parameters are trained */
    double dropout;                   /* of the adapters' inputs */
    uint32_t targets;                 /* of enum lora_target */
    uint32_t trained;                 /* of enum lora_trained */
    uint32_t frozen;                  /* of enum lora_frozen; all else is trained, */
    const struct lora_layers *layers; /* but these layers; NULL: all are */
    bool whole;     /* of a part of the list: nothing of it is trained */
    bool handed_on; /* frozen: gradients go on below the lowest that is trained, as
                       stages of a pipeline hand them on */
    enum lora_base base;
    bool double_quantization; /* NF4: its scales in 8 bits, 256 to a scale */
    bool fused;    /* the library's own modules fuse q, k and v, and so do adapters */
    bool autocast; /* adapters are fp32 and autocast to the products' type */
    bool wide; /* adapters are fp32 and compute in it, next to products of 16 bits */
};

bool lora_is_quantized(const struct lora *l);

/* The products that a word of target_modules names: families' own names, and smsim's
 * roles; 0: none. */
uint32_t lora_target_of(const char *word);

/* The same of a model of the family (its model_type; NULL: any), some of which have
 * names of their own. */
uint32_t lora_target_in(const char *family, const char *word);

/* The products that PEFT adapts of a family (model_type) where none are named; 0: it has
 * none for it, and refuses. */
uint32_t lora_default_targets(const char *family);

/* The i-th of those words; NULL: no more. */
const char *lora_target_name(int32_t i);

/* What modules_to_save may name; 0: none. */
uint32_t lora_trained_of(const char *word);

/* What a word of /training/frozen names; 0: none. */
uint32_t lora_frozen_of(const char *word);

/* The i-th of the words that together name a set; NULL: no more. */
const char *lora_target_word(uint32_t set, int32_t i);
const char *lora_trained_word(uint32_t set, int32_t i);
const char *lora_frozen_word(uint32_t set, int32_t i);

/* Bytes of a frozen element that bitsandbytes quantizes (MODEL.md, 2.5). */
double lora_quantized_B(const struct lora *l);

/* What adapters and frozen weights add to model_flops_per_sample: MODEL.md, 1.4. 0 on
 * models that the operator list refuses. */
double lora_flops_per_sample(const struct model *m, const struct lora *l, int64_t s,
                             int64_t decoder);

/* Parameters that are trained, and all, adapters too; of the model with the head that it
 * is trained with. */
int64_t lora_parameters(const struct model *m, const struct lora *l);
int64_t lora_all_parameters(const struct model *m, const struct lora *l);

#endif
