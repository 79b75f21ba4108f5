/* A head whose cast to fp32 and loss are modules of their own, which a pipeline may put
 * on other stages (nanotron's PipelineBlock: lm_head, cast_to_fp32, loss). */
#include "model/build/build.h"

#include <string.h>

enum { NARROW_B = 2, FP32_B = 4 };

static int32_t find(const struct op *ops, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (strcmp(ops[i].name, name) == 0)
            return i;
    return -1;
}

/* Elements of the logits on this GPU. */
static int64_t logits_of(const struct op_block *head)
{
    int32_t at = find(head->forward, head->n_forward, "logits");
    return head->forward[at].m * head->forward[at].n * head->forward[at].batch;
}

/* A kernel that moves so many bytes a logit and makes one tensor. */
static struct op stream(const struct op *like, const char *name, double read_B,
                        double write_B, int64_t made_B, bool backward)
{
    return (struct op) { .name = name,
                         .kind = OP_STREAM,
                         .module = like->module,
                         .backward = backward,
                         .read_B = read_B,
                         .write_B = write_B,
                         .launches = 1,
                         .dispatches = 1,
                         .outs = { { made_B, -1 } },
                         .n_outs = 1 };
}

/* Takes an operator out of the list and the tensors that wait for it with it. */
static void take_out(struct op *ops, int32_t *n, int32_t at)
{
    (*n)--;
    memmove(&ops[at], &ops[at + 1], (size_t)(*n - at) * sizeof(*ops));
}

static void cut_head(struct op_block *head)
{
    int32_t at = find(head->backward, head->n_backward, "loss_bwd");
    take_out(head->backward, &head->n_backward, at);
    take_out(head->forward, &head->n_forward,
             find(head->forward, head->n_forward, "loss"));
    for (int32_t i = 0; i < head->n_forward; i++)
        for (int32_t j = 0; j < head->forward[i].n_outs; j++) {
            struct op_out *out = &head->forward[i].outs[j];
            if (strcmp(head->forward[i].name, "logits") == 0)
                out->kept_until = -1; /* neither cast nor product needs them */
            else if (out->kept_until > at)
                out->kept_until--;
        }
}

static struct op_block block_of(struct build *b, const struct op_block *head,
                                const char *name, struct op forward, struct op backward)
{
    struct op_block block = { .name = name,
                              .repeat = 1,
                              .tokens = head->tokens,
                              .forward = ARENA_NEW(b->arena, struct op),
                              .backward = ARENA_NEW(b->arena, struct op),
                              .n_forward = 1,
                              .n_backward = 1,
                              .params = ARENA_NEW(b->arena, struct op_param) };
    *block.forward = forward;
    *block.backward = backward;
    return block;
}

/* Of the loss's bytes a logit the cast moves 6 each way; backward of the loss works in
 * place. */
int32_t build_tail(struct build *b, struct op_block *head)
{
    if (!b->s->framework->loss.modules || b->m->ends.head != MODEL_HEAD_CAUSAL_LM ||
        b->s->precision != OP_BF16)
        return 0;
    int32_t f = find(head->forward, head->n_forward, "loss"),
            g = find(head->backward, head->n_backward, "loss_bwd");
    const int64_t n = logits_of(head);
    const double v = (double)n, cast_B = NARROW_B + FP32_B;
    struct op loss = head->forward[f], back = head->backward[g];
    double all_B = loss.read_B + loss.write_B + back.read_B + back.write_B;
    double rest = 1 - 2 * cast_B * v / all_B;
    rest = rest > 0 ? rest : 0;
    loss.read_B *= rest, loss.write_B *= rest, back.read_B *= rest,
        back.write_B *= rest;
    loss.launches--, back.launches--;
    loss.outs[0] = (struct op_out) { n * FP32_B, 0 };
    loss.n_outs = 1;
    back.n_outs = 0;
    cut_head(head);
    head[1] = block_of(
        b, head, "cast",
        stream(&loss, "logits_cast", NARROW_B * v, FP32_B * v, n * FP32_B, false),
        stream(&loss, "logits_cast_bwd", FP32_B * v, NARROW_B * v, n * NARROW_B, true));
    head[2] = block_of(b, head, "loss", loss, back);
    return 2;
}
