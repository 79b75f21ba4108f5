#include "step/pass/dispatch.h"

#include "cost/transfer.h"
#include "step/comms.h"

#include <math.h>

bool dispatch_leaves(const struct stage *stage)
{
    const struct parallelism *p = &stage->s->parallel;
    bool joint = parallelism_folds_experts(p) && p->expert_tensor > 1 &&
                 p->dispatch.kind != DISPATCHER_ALLTOALL;
    return stage->s->model.mlp.experts > 0 && (p->expert > 1 || joint);
}

bool dispatch_gathers(const struct stage *stage)
{
    const struct parallelism *p = &stage->s->parallel;
    return stage->s->model.mlp.experts > 0 && parallelism_folds_experts(p) &&
           p->expert_tensor > 1 && p->dispatch.kind == DISPATCHER_ALLTOALL;
}

/* Tensor ranks have the same tokens, unless they hold a part of the sequence each. */
static double own_tokens(const struct stage *stage)
{
    bool parts = stage->settings.sequence_parallel;
    return (double)op_tokens(&stage->settings) /
           (parts ? (double)stage->settings.tensor : 1);
}

static double token_B(const struct stage *stage)
{
    return (double)model_expert_columns(&stage->s->model) * stage_width_B(stage);
}

double dispatch_routed_B(const struct stage *stage)
{
    double each = op_experts_each(&stage->s->model, &stage->settings);
    return own_tokens(stage) * each * token_B(stage) *
           fmax(1, stage->settings.expert_imbalance);
}

/* Ranks that tokens go to where the dispatcher serves those of each expert, too. */
static int64_t joint_ranks(const struct parallelism *p)
{
    return p->expert * (parallelism_folds_experts(p) ? p->expert_tensor : 1);
}

static enum channel joint_channel(const struct parallelism *p)
{
    return joint_ranks(p) > p->expert ? CHANNEL_EXPERT_JOINT : CHANNEL_EXPERT;
}

/* Nodes that the rank's group lies on, and whether as many ranks are in each. */
static int64_t nodes_of(const struct stage *stage, enum channel channel)
{
    const struct groups *g = stage->request->groups;
    struct ranks r = groups_of(g, channel, stage->rank);
    struct coll_group at;
    struct err ignored = { 0 };
    int64_t nodes = 0;
    if (groups_spans(g, &r, &at, &ignored) < 0)
        return 1;
    for (int32_t i = 0; i < at.n_spans; i++)
        nodes += at.spans[i].n_instances;
    return nodes;
}

static double distinct(const struct model *m, int64_t parts)
{
    return transfer_distinct_limited(parts, m->mlp.experts, m->mlp.experts_per_token,
                                     m->mlp.router_groups, m->mlp.router_chosen);
}

/* Where the host's proxy sends what DeepEP's kernels put, one put after the other: the
 * node's share of `copies` of each token goes to each of the others. */
static double puts_s(const struct stage *stage, enum transfer_kind kind, int64_t nodes,
                     double copies)
{
    const struct parallelism *p = &stage->s->parallel;
    if (nodes < 2 || p->dispatch.kind != DISPATCHER_DEEPEP)
        return 0;
    return stage->s->cluster.fabric->put_s *
           transfer_puts(kind, joint_ranks(p), nodes,
                         own_tokens(stage) * copies / (double)nodes, p->dispatch.sms);
}

/* DeepEP and its kind. Gradients go to experts as tokens do, in 16 bits, and come back
 * as results do. */
static int32_t by_kernels(struct builder *b, bool to, bool backward, struct err *err)
{
    const struct stage *stage = b->stage;
    const struct parallelism *p = &stage->s->parallel;
    const struct model *m = &stage->s->model;
    enum transfer_kind kind = to ? TRANSFER_DISPATCH : TRANSFER_COMBINE;
    const struct transfer *t = p->dispatch.transfers[kind];
    enum channel channel = joint_channel(p);
    int64_t nodes = nodes_of(stage, channel);
    double each_B = to && !backward && p->dispatch.fp8
                        ? transfer_token_B(model_expert_columns(m), true)
                        : token_B(stage);
    double copies = distinct(m, p->expert) * (double)joint_ranks(p) / (double)p->expert;
    double node_copies = nodes > 1 ? fmin(distinct(m, nodes), copies) : 1;
    struct coll_tokens *tokens = ARENA_NEW(stage->arena, struct coll_tokens);
    *tokens = (struct coll_tokens) {
        .start_s = t->start_s + puts_s(stage, kind, nodes, node_copies),
        .sms_s = transfer_sms_s(t, own_tokens(stage), each_B, copies, p->dispatch.sms),
        .copies = copies,
        .node_copies = node_copies,
        .rate_Bps = t->rate_Bps,
        .sms = (int32_t)p->dispatch.sms,
    };
    return comms_add_tokens(b, channel, COLL_ALLTOALL, own_tokens(stage) * each_B,
                            tokens, err);
}

int32_t dispatch_comm(struct builder *b, bool to, bool backward, struct err *err)
{
    const struct parallelism *p = &b->stage->s->parallel;
    double all_B = own_tokens(b->stage) * token_B(b->stage) * (double)joint_ranks(p);
    switch (p->dispatch.kind) {
    case DISPATCHER_ALLTOALL:
        break;
    case DISPATCHER_ALLGATHER:
        return comms_add(b, joint_channel(p),
                         to ? COLL_ALL_GATHER : COLL_REDUCE_SCATTER, all_B, err);
    case DISPATCHER_DEEPEP:
    case DISPATCHER_HYBRIDEP:
        return by_kernels(b, to, backward, err);
    }
    return comms_add(b, CHANNEL_EXPERT, COLL_ALLTOALL, dispatch_routed_B(b->stage),
                     err);
}
