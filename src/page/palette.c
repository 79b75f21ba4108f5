#include "page/palette.h"

static const char *const names[MEANING_N] = {
    [MEANING_COMPUTE] = "compute",
    [MEANING_FORWARD] = "forward",
    [MEANING_BACKWARD] = "backward",
    [MEANING_RECOMPUTE] = "recompute",
    [MEANING_REFERENCE] = "reference",
    [MEANING_WEIGHT_GRADIENT] = "weight-gradient",
    [MEANING_OPTIMIZER] = "optimizer",
    [MEANING_GRADIENT_COMM] = "gradient-comm",
    [MEANING_PARAMETER_GATHER] = "parameter-gather",
    [MEANING_TENSOR_COMM] = "tensor-comm",
    [MEANING_CONTEXT_COMM] = "context-comm",
    [MEANING_EXPERT_COMM] = "expert-comm",
    [MEANING_PIPELINE_COMM] = "pipeline-comm",
    [MEANING_PIPELINE_BUBBLE] = "pipeline-bubble",
    [MEANING_OFFLOAD] = "offload",
    [MEANING_COPY] = "copy",
    [MEANING_HOST] = "host",
    [MEANING_INPUT_WAIT] = "input-wait",
    [MEANING_OTHER] = "other",
    [MEANING_PARAMETERS] = "parameters",
    [MEANING_GRADIENTS] = "gradients",
    [MEANING_OPTIMIZER_STATES] = "optimizer-states",
    [MEANING_ACTIVATIONS] = "activations",
    [MEANING_BUFFERS] = "buffers",
    [MEANING_WORKSPACE] = "workspace",
    [MEANING_FRAMEWORK] = "framework",
    [MEANING_PROVISIONING] = "provisioning",
    [MEANING_IMAGE] = "image",
    [MEANING_DATA] = "data",
    [MEANING_COMPILATION] = "compilation",
    [MEANING_TRAINING] = "training",
    [MEANING_EVALUATION] = "evaluation",
    [MEANING_CHECKPOINTS] = "checkpoints",
    [MEANING_UPLOAD] = "upload",
    [MEANING_KEEP_ALIVE] = "keep-alive",
};

const char *page_meaning_name(enum meaning meaning)
{
    return names[meaning];
}

json_t *page_colour(uint32_t colour)
{
    return json_sprintf("#%06x", (unsigned)(colour & 0xffffff));
}

json_t *page_palette(void)
{
    json_t *o = json_object();
    for (int i = 0; i < MEANING_N; i++)
        if (names[i])
            json_object_set_new(o, names[i],
                                page_colour(meaning_colour((enum meaning)i)));
    return o;
}
