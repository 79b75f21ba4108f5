#include "step/pass/block_times.h"

#include "model/graphs.h"
#include "step/pass/recompute.h"

#include <string.h>

/* Kernels -------------------------------------------------------------------------- */

static void time_ops(const struct stage *stage, struct kernel_share shared,
                     const struct op *ops, int32_t n, double *times[2])
{
    for (int side = 0; side < 2; side++) {
        times[side] = ARENA_ARRAY(stage->arena, n, double);
        struct kernel_share share = side ? shared : kernel_alone;
        for (int32_t i = 0; i < n; i++)
            times[side][i] =
                kernel_framework_s(stage->gpu, stage->fw, stage->half, &ops[i], share);
    }
}

void block_times_kinds(const struct stage *stage, int32_t block,
                       double kinds_s[OP_STREAM + 1])
{
    const struct op_block *b = &stage->list.blocks[block];
    const struct block_times *t = &stage->times[block];
    for (int k = 0; k <= OP_STREAM; k++)
        kinds_s[k] = 0;
    for (int32_t i = 0; i < b->n_forward; i++)
        kinds_s[b->forward[i].kind] += t->forward_s[0][i];
    for (int32_t i = 0; i < b->n_backward; i++)
        kinds_s[b->backward[i].kind] += t->backward_s[0][i];
}

/* Gradients of weights ------------------------------------------------------------- */

/* Whether it makes the gradient of a weight. */
static bool is_weight_op(const struct op *op)
{
    static const char *const endings[] = { "_wgrad", "_grad_cast", "_bias" };
    size_t n = strlen(op->name);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t k = strlen(endings[i]);
        if (n > k && strcmp(op->name + n - k, endings[i]) == 0)
            return true;
    }
    return false;
}

static void note_weights(struct stage *stage, int32_t index)
{
    const struct op_block *b = &stage->list.blocks[index];
    for (int side = 0; side < 2; side++) {
        const struct op *ops = side ? b->backward : b->forward;
        int32_t n = side ? b->n_backward : b->n_forward;
        bool *weights = ARENA_ARRAY(stage->arena, n, bool);
        for (int32_t i = 0; i < n; i++)
            weights[i] = is_weight_op(&ops[i]);
        stage->times[index].is_weight[side] = weights;
    }
}

/* The host ------------------------------------------------------------------------- */

static double dispatch_s(const struct stage *stage, const struct op *op)
{
    double each = op->backward ? stage->fw->host.dispatch_backward_s
                               : stage->fw->host.dispatch_forward_s;
    return each * op->dispatches + op->loops * stage->fw->experts.dispatch_s +
           op->eager * stage->fw->experts.router_dispatch_s;
}

double block_times_host_factor(const struct stage *stage, int32_t block)
{
    const struct parallelism *p = &stage->s->parallel;
    bool pairs = p->dispatch.overlap == EXPERT_OVERLAP_MICROBATCHES;
    return stage->list.blocks[block].routes ? framework_experts_host(stage->fw, pairs)
                                            : 1;
}

/* The host's time for an operator, in a graph or by itself. */
static double host_s(const struct stage *stage, int32_t block, bool backward,
                     int32_t at)
{
    const struct op_block *b = &stage->list.blocks[block];
    uint32_t graphs = stage->s->training.graphs;
    double call_s = backward ? stage->fw->host.dispatch_backward_s
                             : stage->fw->host.dispatch_forward_s;
    return op_graph_captures(b, backward, at, graphs)
               ? op_graph_host_s(b, backward, at, graphs, call_s)
               : block_times_host_factor(stage, block) *
                     dispatch_s(stage, backward ? &b->backward[at] : &b->forward[at]);
}

static void time_host(struct stage *stage, int32_t block)
{
    const struct op_block *b = &stage->list.blocks[block];
    for (int side = 0; side < 2; side++) {
        int32_t n = side ? b->n_backward : b->n_forward;
        double *each_s = ARENA_ARRAY(stage->arena, n, double);
        for (int32_t i = 0; i < n; i++)
            each_s[i] = host_s(stage, block, side, i);
        stage->times[block].host_s[side] = each_s;
    }
}

void block_times_host(struct stage *stage)
{
    for (int32_t i = 0; i < stage->list.n_blocks; i++)
        time_host(stage, i);
}

/* Local variables ------------------------------------------------------------------ */

static bool is_one_of(const char *name, const char *const *names, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Whether what the operator makes is a local variable of attention's function, which
 * dies when that returns, after its output product. The chain over scores has one
 * name: each of its steps frees the one before, but for the product that it begins
 * with. */
static bool is_local(const struct op_block *block, int32_t at)
{
    static const char *const chain[] = { "scale",      "mask",
                                         "softmax",    "probs_dropout",
                                         "probs_cast", "relative_bias_add",
                                         "scores_cast" };
    enum { N_CHAIN = sizeof(chain) / sizeof(chain[0]) };
    const struct op *op = &block->forward[at];
    bool returns = false;
    if (op->module != OP_ATTENTION || at + 1 >= block->n_forward)
        return false;
    for (int32_t i = at + 1; i < block->n_forward && !returns; i++)
        returns = strcmp(block->forward[i].name, "out") == 0;
    const char *next = block->forward[at + 1].name;
    bool begins = strcmp(op->name, "scores") == 0 && strcmp(next, "softmax") == 0;
    return returns && (begins || !is_one_of(next, chain, N_CHAIN));
}

static uint32_t drops_of(const struct stage *stage, const struct op_block *block,
                         int32_t at)
{
    uint32_t bits = 0;
    for (int32_t j = 0; j < block->forward[at].n_outs; j++)
        bits |= (uint32_t)recompute_drops(stage, block, at, j) << j;
    return bits;
}

static void note_scopes(struct stage *stage, int32_t index)
{
    const struct op_block *b = &stage->list.blocks[index];
    struct op_scope *scopes = ARENA_ARRAY(stage->arena, b->n_forward, struct op_scope);
    for (int32_t at = 0; at < b->n_forward; at++)
        scopes[at] = (struct op_scope) {
            .begins = at > 0 && strcmp(b->forward[at - 1].name, "out") == 0,
            .local = is_local(b, at),
            .saves = recompute_saves(stage, b, at),
            .again = recompute_runs_again(stage, b, at),
            .drops = drops_of(stage, b, at),
        };
    stage->times[index].scopes = scopes;
}

/* What forward keeps --------------------------------------------------------------- */

/* How a tensor is booked that forward keeps for backward; what a module drops is made
 * again as workspace. */
static struct kept_tensor kept_tensor(const struct stage *stage,
                                      const struct op_block *b, int32_t op, int32_t out)
{
    return (struct kept_tensor) { b->forward[op].outs[out].size_B,
                                  recompute_saves(stage, b, op),
                                  recompute_drops(stage, b, op, out) };
}

/* The tensors that each operator of backward is the last to need, in forward's order. */
static void index_kept(struct stage *stage, int32_t index)
{
    const struct op_block *b = &stage->list.blocks[index];
    struct block_times *t = &stage->times[index];
    int32_t most = 0, n = 0;
    for (int32_t i = 0; i < b->n_forward; i++)
        most += b->forward[i].n_outs;
    t->kept = ARENA_ARRAY(stage->arena, most + 1, struct kept_tensor);
    t->kept_starts = ARENA_ARRAY(stage->arena, b->n_backward + 1, int32_t);
    for (int32_t at = 0; at < b->n_backward; at++) {
        t->kept_starts[at] = n;
        for (int32_t i = 0; i < b->n_forward; i++)
            for (int32_t j = 0; j < b->forward[i].n_outs; j++)
                if (b->forward[i].outs[j].kept_until == at)
                    t->kept[n++] = kept_tensor(stage, b, i, j);
    }
    t->kept_starts[b->n_backward] = n;
}

/* All ------------------------------------------------------------------------------ */

/* A block that was timed for a stage of the scenario. */
struct timed_block {
    struct timed_block *next;
    struct op_block block;
    const struct gpu *gpu;
    struct kernel_share shared;
    struct block_times times;
};

static bool is_like(const struct timed_block *t, const struct stage *stage,
                    const struct op_block *block, struct kernel_share shared)
{
    return t->gpu == stage->gpu && t->shared.sms == shared.sms &&
           t->shared.memory == shared.memory && t->block.name == block->name &&
           t->block.forward == block->forward &&
           t->block.n_forward == block->n_forward &&
           t->block.backward == block->backward &&
           t->block.n_backward == block->n_backward;
}

static void time_block(struct stage *stage, struct kernel_share shared, int32_t index)
{
    const struct op_block *block = &stage->list.blocks[index];
    struct block_times *t = &stage->times[index];
    time_ops(stage, shared, block->forward, block->n_forward, t->forward_s);
    time_ops(stage, shared, block->backward, block->n_backward, t->backward_s);
    note_weights(stage, index);
    note_scopes(stage, index);
    index_kept(stage, index);
    time_host(stage, index);
}

void block_times_make(struct stage *stage, struct kernel_share shared)
{
    struct timed_block **all = stage->request->timed;
    stage->times = ARENA_ARRAY(stage->arena, stage->list.n_blocks, struct block_times);
    for (int32_t i = 0; i < stage->list.n_blocks; i++) {
        const struct op_block *block = &stage->list.blocks[i];
        struct timed_block *t = *all;
        while (t && !is_like(t, stage, block, shared))
            t = t->next;
        if (t) {
            stage->times[i] = t->times;
            continue;
        }
        time_block(stage, shared, i);
        t = ARENA_NEW(stage->arena, struct timed_block);
        *t = (struct timed_block) { *all, *block, stage->gpu, shared, stage->times[i] };
        *all = t;
    }
}
