/* Activations that eager code computes in several kernels (MODEL.md, 8.21). */
#include "model/build/build.h"

/* Kernels, and elements of the MLP's inside that they move, forward [0] and backward
 * [1]; what is kept in addition to the activation's input and result. */
struct chain {
    int32_t launches[2];
    double read[2], written[2], kept;
};

static const struct chain chains[MODEL_ACTIVATION_N] = {
    [MODEL_ACTIVATION_KERNEL] = { { 1, 1 }, { 1, 2 }, { 1, 1 }, 0 },
    /* 0.5 x (1 + tanh(c (x + 0.044715 x^3))): the half, the sum and tanh are kept */
    [MODEL_ACTIVATION_GELU_NEW] = { { 8, 11 }, { 10, 17 }, { 8, 11 }, 3 },
    /* 0.5 x (1 + tanh(c x (1 + 0.044715 x x))): and the factors of two more products */
    [MODEL_ACTIVATION_GELU_FAST] = { { 9, 13 }, { 12, 23 }, { 9, 13 }, 6 },
    /* relu's result is kept in place of its input */
    [MODEL_ACTIVATION_SQUARED_RELU] = { { 2, 4 }, { 2, 6 }, { 2, 4 }, 0 },
};

struct row build_activation(const struct build *b, const struct row *row, bool backward)
{
    enum { LIVE = 3 }; /* tensors between its kernels at once, at most */
    const struct framework *fw = b->s->framework;
    struct row chain = *row;
    const struct chain *c = &chains[b->m->activation];
    if (fw->kernels.fused_activation || fw->kernels.fused_bias_gelu ||
        c->launches[0] == 1)
        return chain;
    chain.launches = c->launches[backward];
    chain.read[0].n = c->read[backward];
    chain.write[0].n = c->written[backward];
    chain.made = row->write[0];
    chain.made.n =
        c->written[backward] < LIVE + c->kept ? c->written[backward] : LIVE + c->kept;
    if (!backward && c->kept > 0) {
        struct keep *more = &chain.keep[sizeof(row->keep) / sizeof(row->keep[0]) - 1];
        *more = (struct keep) { .term = row->write[0],
                                .until = row->write[0].sym == SYM_Z
                                             ? "shared_activation_bwd"
                                             : "activation_bwd" };
        more->term.n = c->kept;
    }
    return chain;
}
