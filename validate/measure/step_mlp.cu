/* The MLP, plain or gated. */
#include "step_build.h"

int step_mlp(struct step_builder *b, struct step_layer *l, int x)
{
    int64_t f = b->t->ffn;
    if (b->t->gated)
        l->gate = step_linear(b, "gate", x, l->w_gate, f, b->h);
    l->up = step_linear(b, "up", x, l->w_up, f, b->h);
    step_bias_add(b, "up_bias_add", l->up, l->b_up, f);
    l->active = step_tensor_rows(b, f);
    int from = b->t->gated ? l->gate : l->up;
    step_sized(step_add(b->p, "activation", STEP_ACTIVATION, from, l->active, -1),
               b->rows, f);
    l->silu = l->active;
    if (b->t->gated) {
        l->active = step_tensor_rows(b, f);
        step_sized(step_add(b->p, "multiply", STEP_MULTIPLY, l->silu, l->up, l->active),
                   b->rows, f);
    }
    int y = step_linear(b, "down", l->active, l->w_down, b->h, f);
    step_bias_add(b, "down_bias_add", y, l->b_down, b->h);
    return y;
}

int step_mlp_bwd(struct step_builder *b, struct step_layer *l, int dy, int x)
{
    static const char *const down[] = { "down_dgrad", "down_wgrad", "down_bias" };
    static const char *const gate[] = { "gate_dgrad", "gate_wgrad", "gate_bias" };
    static const char *const up[] = { "up_dgrad", "up_wgrad", "up_bias" };
    int64_t f = b->t->ffn;
    int dactive =
        step_linear_bwd(b, down, dy, l->active, l->w_down, l->b_down, b->h, f);
    int dsilu = dactive, dup = -1, dfrom = step_tensor_rows(b, f);
    if (b->t->gated) {
        dsilu = step_tensor_rows(b, f);
        dup = step_tensor_rows(b, f);
        struct step_op *op = step_backward(step_sized(
            step_add(b->p, "multiply_bwd", STEP_MULTIPLY_BWD, dactive, l->silu, l->up),
            b->rows, f));
        op->t[3] = dsilu;
        op->t[4] = dup;
    }
    step_backward(step_sized(step_add(b->p, "activation_bwd", STEP_ACTIVATION_BWD,
                                      dsilu, b->t->gated ? l->gate : l->up, dfrom),
                             b->rows, f));
    if (!b->t->gated)
        return step_linear_bwd(b, up, dfrom, x, l->w_up, l->b_up, f, b->h);
    int dx = step_linear_bwd(b, gate, dfrom, x, l->w_gate, -1, f, b->h);
    int dx2 = step_linear_bwd(b, up, dup, x, l->w_up, -1, f, b->h);
    return step_sum(b, "gate_sum_bwd", dx, dx2, true);
}
