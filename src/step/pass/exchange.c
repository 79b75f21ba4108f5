/* What context and expert groups exchange within a layer (MODEL.md, R11).
 *
 * Context groups: each rank has its part of the keys and values, and needs all of them.
 * All-gather: they are gathered before attention, in backward once more, and their
 * gradients are scattered after it. Ring: attention runs in pieces, and each part of
 * the keys comes in while the piece before it runs; in backward the gradients of a part
 * travel on with it (PyTorch's and Transformer Engine's ring attention):
 *
 *   compute   |piece 0 |piece 1 |piece 2 |piece 3 |
 *   forward   |kv 1    |kv 2    |kv 3    |
 *   backward  |kv 1    |kv 2    |kv 3, d |kv.. d  |     kv and d: twice as long
 *
 * Heads: queries, keys and values of all tokens go to the ranks that have their heads,
 * and what these make of them comes back (DeepSpeed-Ulysses).
 *
 * Both: heads go to neighbours, and a ring of such inner groups has the keys.
 *
 * Expert groups: tokens go to the ranks that have their experts, and come back. */
#include "step/pass/exchange.h"

#include "model/share.h"
#include "step/comms.h"
#include "step/issue.h"
#include "step/pass/block_comms.h"
#include "step/pass/dispatch.h"
#include "step/stage.h"

#include "base/xmalloc.h"

#include <stdlib.h>
#include <string.h>

enum group {
    GROUP_RING,
    GROUP_GATHER,
    GROUP_DEAL,
    GROUP_RETURN,
    GROUP_TO_EXPERTS,
    GROUP_FROM_EXPERTS,
    GROUP_EXPERT_TENSOR
};

struct rule {
    enum group group;
    bool backward, after;
    const char *ops; /* the first of these that the block has */
    enum coll_op op;
};

/* clang-format off */
static const struct rule rules[] = {
    { GROUP_RING, false, false, "flash", COLL_SENDRECV },
    { GROUP_RING, false, false, "cross_flash", COLL_SENDRECV },
    { GROUP_RING, true, false, "flash_bwd", COLL_SENDRECV },
    { GROUP_RING, true, false, "cross_flash_bwd", COLL_SENDRECV },
    { GROUP_GATHER, false, false, "flash|scores", COLL_ALL_GATHER },
    { GROUP_GATHER, false, false, "cross_flash|cross_scores", COLL_ALL_GATHER },
    { GROUP_GATHER, true, false, "flash_bwd|dprobs", COLL_ALL_GATHER },
    { GROUP_GATHER, true, false, "cross_flash_bwd|cross_dprobs", COLL_ALL_GATHER },
    { GROUP_GATHER, true, true, "flash_bwd|dkey", COLL_REDUCE_SCATTER },
    { GROUP_GATHER, true, true, "cross_flash_bwd|cross_dkey", COLL_REDUCE_SCATTER },
    { GROUP_DEAL, false, true, "ulysses_scatter_heads", COLL_ALLTOALL },
    { GROUP_RETURN, false, false, "ulysses_gather_heads", COLL_ALLTOALL },
    { GROUP_DEAL, false, true, "cross_ulysses_scatter_heads", COLL_ALLTOALL },
    { GROUP_RETURN, false, false, "cross_ulysses_gather_heads", COLL_ALLTOALL },
    { GROUP_RETURN, true, true, "ulysses_gather_heads_bwd", COLL_ALLTOALL },
    { GROUP_DEAL, true, false, "ulysses_scatter_heads_bwd", COLL_ALLTOALL },
    { GROUP_RETURN, true, true, "cross_ulysses_gather_heads_bwd", COLL_ALLTOALL },
    { GROUP_DEAL, true, false, "cross_ulysses_scatter_heads_bwd", COLL_ALLTOALL },
    { GROUP_TO_EXPERTS, false, true, "dispatch", COLL_ALLTOALL },
    { GROUP_EXPERT_TENSOR, false, true, "dispatch", COLL_ALL_GATHER },
    { GROUP_EXPERT_TENSOR, false, false, "combine", COLL_REDUCE_SCATTER },
    { GROUP_FROM_EXPERTS, false, false, "combine", COLL_ALLTOALL },
    { GROUP_TO_EXPERTS, true, true, "combine_bwd", COLL_ALLTOALL },
    { GROUP_EXPERT_TENSOR, true, true, "combine_bwd", COLL_ALL_GATHER },
    { GROUP_EXPERT_TENSOR, true, false, "dispatch_bwd", COLL_REDUCE_SCATTER },
    { GROUP_FROM_EXPERTS, true, false, "dispatch_bwd", COLL_ALLTOALL },
};
/* clang-format on */
enum { RULES = sizeof(rules) / sizeof(rules[0]) };

/* So many columns, split over the tensor group, of the rank's own tokens. */
static double own_B(const struct stage *stage, int64_t columns)
{
    struct share share = share_of(&stage->s->model, &stage->settings, OP_ATTENTION);
    return (double)op_tokens(&stage->settings) * (double)columns /
           (double)(share.degree * share.tokens_over) * stage_width_B(stage);
}

static double own_keys_B(const struct stage *stage)
{
    const struct model *m = &stage->s->model;
    const struct op_settings *s = &stage->settings;
    return own_B(stage, op_keys_width(m, s) + op_values_width(m, s));
}

static bool applies(const struct stage *stage, const struct rule *r)
{
    const struct op_settings *s = &stage->settings;
    bool ring =
        s->context_method != OP_CONTEXT_GATHER && op_attention_is_fused(s->attention);
    switch (r->group) {
    case GROUP_RING:
        return op_ring_ranks(s) > 1 && ring;
    case GROUP_GATHER:
        return op_ring_ranks(s) > 1 && !ring;
    case GROUP_DEAL:
    case GROUP_RETURN:
        return op_head_ranks(s) > 1;
    case GROUP_TO_EXPERTS:
    case GROUP_FROM_EXPERTS:
        return dispatch_leaves(stage);
    case GROUP_EXPERT_TENSOR: /* else the tensor group exchanges tokens (tensor.c) */
        break;
    }
    return dispatch_gathers(stage);
}

static int plan_ring(struct builder *b, const struct rule *r, struct op_comm *k,
                     struct err *err)
{
    double own_B = own_keys_B(b->stage);
    k->ring = true;
    k->both = -1;
    int64_t ranks = op_ring_ranks(&b->stage->settings);
    enum channel channel = op_head_ranks(&b->stage->settings) > 1
                               ? CHANNEL_CONTEXT_OUTER
                               : CHANNEL_CONTEXT;
    k->times = (int32_t)ranks - !r->backward;
    k->workspace_B = (int64_t)(own_B * (double)(ranks - 1));
    k->comm = comms_add(b, channel, r->op, own_B, err);
    if (k->comm >= 0 && r->backward && k->times > 2)
        k->both = comms_add(b, channel, r->op, 2 * own_B, err);
    return k->comm < 0 || (k->both < 0 && r->backward && k->times > 2) ? -1 : 0;
}

static int plan_gather(struct builder *b, const struct rule *r, struct op_comm *k,
                       struct err *err)
{
    double all_B = own_keys_B(b->stage) * (double)b->stage->s->parallel.context;
    k->workspace_B = r->op == COLL_ALL_GATHER ? (int64_t)all_B : 0;
    k->comm = comms_add(b, CHANNEL_CONTEXT, r->op, all_B, err);
    return k->comm < 0 ? -1 : comms_alone_s(b, k->comm, &k->time_s, err);
}

static int plan_heads(struct builder *b, const struct rule *r, struct op_comm *k,
                      struct err *err)
{
    const struct model *m = &b->stage->s->model;
    const struct op_settings *s = &b->stage->settings;
    int64_t columns =
        r->group == GROUP_DEAL
            ? m->attention.q_width + op_keys_width(m, s) + op_values_width(m, s)
            : model_context_width(m);
    double moved_B = own_B(b->stage, columns);
    enum channel channel = op_ring_ranks(&b->stage->settings) > 1
                               ? CHANNEL_CONTEXT_INNER
                               : CHANNEL_CONTEXT;
    k->workspace_B = (int64_t)moved_B;
    k->comm = comms_add(b, channel, r->op, moved_B, err);
    return k->comm < 0 ? -1 : comms_alone_s(b, k->comm, &k->time_s, err);
}

static int plan_experts(struct builder *b, const struct rule *r, struct op_comm *k,
                        struct err *err)
{
    k->part = CATEGORY_EXPERT_COMM;
    k->comm = dispatch_comm(b, r->group == GROUP_TO_EXPERTS, r->backward, err);
    return k->comm < 0 ? -1 : comms_alone_s(b, k->comm, &k->time_s, err);
}

/* Where each expert's matrices are split, too: tokens of all its ranks. */
static int plan_expert_tensor(struct builder *b, const struct rule *r,
                              struct op_comm *k, struct err *err)
{
    double ranks = (double)b->stage->s->parallel.expert_tensor;
    k->part = CATEGORY_EXPERT_COMM;
    k->comm = comms_add(b, CHANNEL_EXPERT_TENSOR, r->op,
                        ranks * dispatch_routed_B(b->stage), err);
    return k->comm < 0 ? -1 : comms_alone_s(b, k->comm, &k->time_s, err);
}

static int (*const planners[])(struct builder *, const struct rule *, struct op_comm *,
                               struct err *) = {
    [GROUP_RING] = plan_ring,
    [GROUP_GATHER] = plan_gather,
    [GROUP_DEAL] = plan_heads,
    [GROUP_RETURN] = plan_heads,
    [GROUP_TO_EXPERTS] = plan_experts,
    [GROUP_FROM_EXPERTS] = plan_experts,
    [GROUP_EXPERT_TENSOR] = plan_expert_tensor,
};

static int plan_rule(struct builder *b, const struct rule *r, int32_t block,
                     struct err *err)
{
    const struct op_block *bl = &b->stage->list.blocks[block];
    struct block_comms *c = &b->stage->comms[block];
    int32_t at = block_comms_find(r->backward ? bl->backward : bl->forward,
                                  r->backward ? bl->n_backward : bl->n_forward, r->ops);
    if (at < 0)
        return 0;
    struct op_comm k = { .op = at,
                         .after = r->after,
                         .stream = STREAM_GROUP,
                         .part = CATEGORY_CONTEXT_COMM,
                         .times = 1 };
    if (planners[r->group](b, r, &k, err) < 0)
        return -1;
    c->v[r->backward][c->n[r->backward]++] = k;
    return 0;
}

/* Where the expert that all tokens go through overlaps with the exchange: its first
 * half runs while tokens go to their experts, the other while they come back, so that
 * operators are issued in another order (Megatron-Core's shared_experts.py). */
struct half {
    const char *launch, *until; /* the exchange: after this operator, until that */
    const char *from, *to;      /* of the shared expert, the last one excluded */
};

static const struct half halves[2][2] = {
    { { "dispatch", "gate|up", "shared_gate|shared_up", "shared_down" },
      { "down", "combine", "shared_down", "shared_sum" } },
    { { "combine_bwd", "down_dgrad", "shared_sigmoid_bwd|shared_down_dgrad",
        "shared_multiply_bwd|shared_activation_bwd" },
      { "gate_sum_bwd|up_wgrad", "dispatch_bwd",
        "shared_multiply_bwd|shared_activation_bwd", "combine_bwd" } },
};

/* Moves operators `from` to `to` (excluded) after the operator `launch` of an order. */
static void move_after(int32_t *order, int32_t n, int32_t from, int32_t to,
                       int32_t launch)
{
    int32_t *out = xcalloc((size_t)n + 1, sizeof(*out));
    int32_t k = 0;
    for (int32_t i = 0; i < n; i++) {
        if (order[i] < from || order[i] >= to)
            out[k++] = order[i];
        for (int32_t m = from; m < to && order[i] == launch; m++)
            out[k++] = m;
    }
    memcpy(order, out, (size_t)n * sizeof(*order));
    free(out);
}

static void overlap_half(struct builder *b, struct block_comms *c, bool backward,
                         const struct half *h, const struct op *ops, int32_t n,
                         int32_t *order)
{
    int32_t launch = block_comms_find(ops, n, h->launch);
    int32_t until = block_comms_find(ops, n, h->until);
    int32_t from = block_comms_find(ops, n, h->from),
            to = block_comms_find(ops, n, h->to);
    if (launch < 0 || until < 0 || from < 0 || to <= from)
        return;
    for (int32_t i = 0; i < c->n[backward]; i++) {
        struct op_comm *k = &c->v[backward][i];
        if (k->part != CATEGORY_EXPERT_COMM || (k->op != launch && k->op != until))
            continue;
        k->op = launch;
        k->after = k->hidden = true;
        k->until = until;
        comms_overlapped(b, b->step->program.comms.v[k->comm].plan);
    }
    move_after(order, n, from, to, launch);
}

static void overlap_shared(struct builder *b, int32_t block)
{
    const struct op_block *bl = &b->stage->list.blocks[block];
    struct block_comms *c = &b->stage->comms[block];
    for (int backward = 0; backward < 2; backward++) {
        const struct op *ops = backward ? bl->backward : bl->forward;
        int32_t n = backward ? bl->n_backward : bl->n_forward;
        if (block_comms_find(ops, n, backward ? "shared_down_dgrad" : "shared_down") <
            0)
            continue;
        c->order[backward] = ARENA_ARRAY(b->stage->arena, n + 1, int32_t);
        for (int32_t i = 0; i < n; i++)
            c->order[backward][i] = i;
        for (int i = 0; i < 2; i++)
            overlap_half(b, c, backward, &halves[backward][i], ops, n,
                         c->order[backward]);
    }
}

static void overlap_pairs(struct builder *b, const struct block_comms *c)
{
    for (int backward = 0; backward < 2; backward++)
        for (int32_t i = 0; i < c->n[backward]; i++)
            if (c->v[backward][i].part == CATEGORY_EXPERT_COMM)
                comms_overlapped(b,
                                 b->step->program.comms.v[c->v[backward][i].comm].plan);
}

int exchange_plan(struct builder *b, struct err *err)
{
    enum expert_overlap overlap = b->stage->s->parallel.dispatch.overlap;
    for (int32_t i = 0; i < b->stage->list.n_blocks; i++) {
        for (int k = 0; k < RULES; k++)
            if (applies(b->stage, &rules[k]) && plan_rule(b, &rules[k], i, err) < 0)
                return -1;
        if (overlap == EXPERT_OVERLAP_SHARED && dispatch_leaves(b->stage))
            overlap_shared(b, i);
        if (overlap == EXPERT_OVERLAP_MICROBATCHES)
            overlap_pairs(b, &b->stage->comms[i]);
    }
    return 0;
}

/* Message n of a ring, from 1 on. In backward the middle ones carry gradients, too:
 * those of the piece before last. */
static int32_t send_part(struct builder *b, const struct op_comm *ring, bool backward,
                         int32_t n, int32_t begin)
{
    bool both = ring->both >= 0 && n > 1 && n < ring->times;
    return program_collective_on(&b->step->program, STREAM_GROUP, CATEGORY_CONTEXT_COMM,
                                 b->stage->fw->host.dispatch_collective_s,
                                 both ? ring->both : ring->comm,
                                 backward && n > 1 ? b->last_kernel : begin);
}

void exchange_pieces(struct builder *b, const struct op_comm *ring, const struct op *op,
                     const double host_alone_shared_s[3])
{
    const double *t = host_alone_shared_s;
    int32_t begin = b->last_kernel, message = -1;
    double pieces = (double)op->pieces;
    for (int32_t i = 0; i < (int32_t)op->pieces; i++) {
        int32_t arrives = message;
        if (i < ring->times)
            message = send_part(b, ring, op->backward, i + 1, begin);
        issue_wait(b, arrives);
        issue_kernel(b, b->pass.part, t[0] / pieces, t[1] / pieces, t[2] / pieces);
    }
    if (op->backward)
        issue_wait(b, message); /* the rank's own gradients are back */
}
