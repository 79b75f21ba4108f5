#include "draw/meaning.h"

static const uint32_t colours[MEANING_N] = {
    [MEANING_NONE] = 0,
    [MEANING_COMPUTE] = 0xff0072b2,
    [MEANING_FORWARD] = 0xff0072b2,
    [MEANING_BACKWARD] = 0xff5fc6a0,
    [MEANING_RECOMPUTE] = 0xff9fd0f0,
    [MEANING_REFERENCE] = 0xff3a93cf,
    [MEANING_WEIGHT_GRADIENT] = 0xff00654a,
    [MEANING_OPTIMIZER] = 0xff4a1486,
    [MEANING_GRADIENT_COMM] = 0xffe69f00,
    [MEANING_PARAMETER_GATHER] = 0xfff7d98c,
    [MEANING_TENSOR_COMM] = 0xffd55e00,
    [MEANING_CONTEXT_COMM] = 0xfff2ad85,
    [MEANING_EXPERT_COMM] = 0xff9b2d1f,
    [MEANING_PIPELINE_COMM] = 0xffa63d80,
    [MEANING_PIPELINE_BUBBLE] = 0xffe4e4e4,
    [MEANING_OFFLOAD] = 0xff7a6a3a,
    [MEANING_COPY] = 0xff6a6a6a,
    [MEANING_HOST] = 0xff848484,
    [MEANING_INPUT_WAIT] = 0xff4d4d4d,
    [MEANING_OTHER] = 0xffc8c8c8,
    [MEANING_PARAMETERS] = 0xff0072b2,
    [MEANING_GRADIENTS] = 0xffe69f00,
    [MEANING_OPTIMIZER_STATES] = 0xff4a1486,
    [MEANING_ACTIVATIONS] = 0xff5fc6a0,
    [MEANING_BUFFERS] = 0xffd55e00,
    [MEANING_WORKSPACE] = 0xffcfcfcf,
    [MEANING_FRAMEWORK] = 0xff8a8a8a,
    [MEANING_PROVISIONING] = 0xffd9d9d9,
    [MEANING_IMAGE] = 0xffcc79a7,
    [MEANING_DATA] = 0xffe69f00,
    [MEANING_COMPILATION] = 0xff4a1486,
    [MEANING_TRAINING] = 0xff0072b2,
    [MEANING_EVALUATION] = 0xff9fd0f0,
    [MEANING_CHECKPOINTS] = 0xffd55e00,
    [MEANING_UPLOAD] = 0xff4d4d4d,
    [MEANING_KEEP_ALIVE] = 0xff6e6e6e,
};

uint32_t meaning_colour(enum meaning meaning)
{
    return colours[meaning];
}
