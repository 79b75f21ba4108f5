/* Modules whose products have another format than the precision says (Megatron-Core's
 * quantization recipes by module, megatron/core/quantization/quant_config.py and
 * megatron/core/extensions/transformer_engine.py, TEQuantizationParams, core_v0.19.0):
 * "qkv" in bf16, "mamba_out" in MXFP8. MODEL.md (8.18). */
#ifndef MODEL_FORMATS_H
#define MODEL_FORMATS_H

#include "base/names.h"

#include <stdint.h>

enum op_formatted {
    OP_FORMAT_QKV,       /* attention's first products; latent ones, too */
    OP_FORMAT_OUT,       /* attention's last one */
    OP_FORMAT_MLP,       /* MLPs without experts */
    OP_FORMAT_EXPERTS,   /* those that tokens are routed to */
    OP_FORMAT_SHARED,    /* the expert that all tokens go through */
    OP_FORMAT_LATENT,    /* around experts that read latent columns */
    OP_FORMAT_STATE_IN,  /* first product of mixers that keep a state, */
    OP_FORMAT_STATE_OUT, /* and the last */
    OP_FORMAT_HEAD,      /* the logits' product, in 16 bits unless named */
    OP_FORMAT_MTP,       /* all of what predicts further tokens */
    OP_FORMATS
};
extern const struct name_value op_formatted_names[];

/* 0: the precision's; else 1 + enum op_precision. */
struct op_formats {
    uint8_t of[OP_FORMATS];
};

#endif
