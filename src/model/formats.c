#include "model/formats.h"

#include <stddef.h>

const struct name_value op_formatted_names[] = {
    { "qkv", OP_FORMAT_QKV },
    { "attn_proj", OP_FORMAT_OUT },
    { "mlp", OP_FORMAT_MLP },
    { "experts", OP_FORMAT_EXPERTS },
    { "shared_experts", OP_FORMAT_SHARED },
    { "moe_latent", OP_FORMAT_LATENT },
    { "mamba_in", OP_FORMAT_STATE_IN },
    { "mamba_out", OP_FORMAT_STATE_OUT },
    { "head", OP_FORMAT_HEAD },
    { "mtp", OP_FORMAT_MTP },
    { NULL, 0 },
};
