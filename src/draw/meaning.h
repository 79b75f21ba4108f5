/* One colour for one meaning, in every figure and on every page: a forward pass, the
 * gradients' communication, the optimizer's states.
 *
 * Hues are Okabe and Ito's, or near them (jfly.uni-koeln.de/color, 2008): blue and
 * green compute (forward, backward; paler or darker what belongs to it), warm hues
 * communicate, dark violet is the optimizer, greys are the host and the rest. Neighbours
 * of a figure differ in lightness too, so that grey prints read, and readers without red
 * or green cones see them apart (tests/unit/test_draw.c). Capacity is black.
 */
#ifndef DRAW_MEANING_H
#define DRAW_MEANING_H

#include <stdint.h>

enum meaning {
    MEANING_NONE, /* colours go by order */
    /* time */
    MEANING_COMPUTE, /* forward and backward passes together */
    MEANING_FORWARD,
    MEANING_BACKWARD,
    MEANING_RECOMPUTE,
    MEANING_REFERENCE, /* forwards that a loss compares with */
    MEANING_WEIGHT_GRADIENT,
    MEANING_OPTIMIZER,
    MEANING_GRADIENT_COMM,
    MEANING_PARAMETER_GATHER,
    MEANING_TENSOR_COMM,
    MEANING_CONTEXT_COMM,
    MEANING_EXPERT_COMM,
    MEANING_PIPELINE_COMM,
    MEANING_PIPELINE_BUBBLE,
    MEANING_OFFLOAD,
    MEANING_COPY,
    MEANING_HOST,
    MEANING_INPUT_WAIT,
    MEANING_OTHER,
    /* memory */
    MEANING_PARAMETERS,
    MEANING_GRADIENTS,
    MEANING_OPTIMIZER_STATES,
    MEANING_ACTIVATIONS,
    MEANING_BUFFERS,
    MEANING_WORKSPACE,
    MEANING_FRAMEWORK,
    /* phases of a job */
    MEANING_PROVISIONING,
    MEANING_IMAGE,
    MEANING_DATA,
    MEANING_COMPILATION,
    MEANING_TRAINING,
    MEANING_EVALUATION,
    MEANING_CHECKPOINTS,
    MEANING_UPLOAD,
    MEANING_KEEP_ALIVE,
    MEANING_N
};

/* 0xAARRGGBB, opaque; 0 for MEANING_NONE: by order. */
uint32_t meaning_colour(enum meaning meaning);

#endif
