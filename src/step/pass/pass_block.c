/* Forward and backward of one block: kernels in the order of issue with their
 * collectives, tensors allocated and freed, gradients handed to their buckets. */
#include "step/pass/pass_block.h"

#include "model/graphs.h"
#include "step/issue.h"
#include "step/pass/block_comms.h"
#include "step/pass/block_times.h"
#include "step/pass/exchange.h"
#include "step/pass/offload_modules.h"
#include "step/pass/pass_memory.h"
#include "step/pass/recompute.h"
#include "step/pass/stretch.h"
#include "step/update/gradients.h"
#include "step/update/shard_adapters.h"

#include <math.h>
#include <string.h>

/* Operators ------------------------------------------------------------------------ */

/* The order in which operators of a block are issued. */
static int32_t turn(const struct block_comms *c, bool backward, int32_t i)
{
    return c->order[backward] ? c->order[backward][i] : i;
}

/* Tokens that came, or went, while others ran. */
static void await_experts(struct builder *b, int32_t op)
{
    if (b->next.experts < 0 || b->next.until != op)
        return;
    issue_wait(b, b->next.experts);
    b->next.experts = -1;
}

/* The share of an operator's time that a forward takes which is run again later, so
 * that no gradient follows it. */
static double ungraded(const struct builder *b, int32_t block, bool backward,
                       int32_t at)
{
    const struct op *op = &b->stage->list.blocks[block].forward[at];
    bool again =
        !backward && b->pass.part != CATEGORY_RECOMPUTE &&
        (b->pass.keep == KEEP_NOTHING || b->stage->times[block].scopes[at].again);
    return again && op->ungraded > 0 ? op->ungraded : 1;
}

static void emit_op(struct builder *b, int32_t block, bool backward, int32_t at)
{
    const struct op_block *list = &b->stage->list.blocks[block];
    const struct block_times *t = &b->stage->times[block];
    const struct op *op = backward ? &list->backward[at] : &list->forward[at];
    double share = ungraded(b, block, backward, at);
    double alone_s = share * (backward ? t->backward_s[0][at] : t->forward_s[0][at]),
           shared_s = share * (backward ? t->backward_s[1][at] : t->forward_s[1][at]);
    bool weight = t->is_weight[backward][at];
    if (b->next.overlapped >= 0 && !weight) {
        issue_wait(b, b->next.overlapped);
        b->next.overlapped = -1;
    }
    if (b->next.gathered >= 0 && weight) {
        issue_wait(b, b->next.gathered);
        b->next.gathered = -1;
    }
    double times_s[] = { t->host_s[backward][at], alone_s, shared_s };
    int32_t before = b->last_kernel;
    if (b->next.ring)
        exchange_pieces(b, b->next.ring, op, times_s);
    else
        issue_kernel(b, b->pass.part, times_s[0], alone_s, shared_s);
    b->next.ring = NULL;
    issue_label(b, op->name);
    const struct framework_experts *fw = &b->stage->fw->experts;
    int64_t reads = op->turns > 0 ? op->turns * fw->turn_reads : op->reads_counts;
    if (reads > 0 &&
        !op_graph_captures(list, backward, at, b->stage->s->training.graphs))
        issue_host_read(b, before, (double)reads * fw->read_counts_s);
    b->step->flops += op->flops;
    pass_allocate(b, op);
}

/* The same with what sharded parameters do before and after it. */
static int emit_sharded(struct builder *b, int32_t block, bool backward, int32_t at,
                        struct err *err)
{
    const struct op_block *list = &b->stage->list.blocks[block];
    const struct op *op = backward ? &list->backward[at] : &list->forward[at];
    if (shard_adapters_enter(b, list, op, err) < 0)
        return -1;
    emit_op(b, block, backward, at);
    return shard_adapters_leave(b, list, op, err);
}

/* The copy that goes with a gather or a scatter, if any. */
static void copy_parts(struct builder *b, const struct op_comm *k, double calls,
                       struct host_spent *spent)
{
    double host_s = calls * b->stage->fw->host.dispatch_forward_s;
    if (k->copied_B <= 0)
        return;
    issue_stream(b, b->pass.part, host_s, k->copied_B);
    issue_label(b, "copies for the group");
    spent->host_s += host_s;
    spent->gpu_s += kernel_stream_s(b->stage->gpu, k->copied_B, kernel_alone);
    spent->launches++;
}

/* Collectives of the tensor, context and expert groups that come before or after the
 * operator. */
static void emit_those_of(struct builder *b, int32_t block, const struct op *op,
                          int32_t at, bool after, struct host_spent *spent)
{
    const struct block_comms *c = &b->stage->comms[block];
    bool captured = op_graph_captures(&b->stage->list.blocks[block], op->backward, at,
                                      b->stage->s->training.graphs);
    double calls = captured ? 0 : block_times_host_factor(b->stage, block);
    double issue_s = calls * block_comms_host_s(b->stage);
    double check_s = captured ? 0 : block_comms_check_s(b->stage);
    for (int32_t i = 0; i < c->n[op->backward]; i++) {
        const struct op_comm *k = &c->v[op->backward][i];
        if (k->op != at || k->after != after)
            continue;
        int32_t task = -1;
        if (k->workspace_B > 0)
            pass_gather(b, op, k);
        if (k->ring) {
            b->next.ring = k;
            continue;
        }
        double late_s = k->stream == STREAM_TENSOR && !k->overlapped
                            ? framework_skew_s(b->stage->fw, b->stage->settings.tensor)
                            : 0;
        if (late_s > 0) {
            issue_kernel(b, CATEGORY_TENSOR_COMM, 0, late_s, late_s);
            issue_label(b, "waits for the group");
        }
        if (k->after)
            copy_parts(b, k, calls, spent);
        for (int32_t n = 0; n < k->times; n++) {
            task = program_collective_on(&b->step->program, k->stream, k->part, issue_s,
                                         k->comm, b->last_kernel);
            if (captured) /* nor checked */
                b->step->program.tasks.v[task].host_ps = 0;
        }
        spent->host_s += (issue_s + check_s) * k->times;
        spent->check_s += check_s * k->times;
        spent->launches += k->times;
        bool paired = b->pass.pairs && k->part == CATEGORY_EXPERT_COMM;
        if (paired || k->hidden) {
            b->next.experts = task;
            b->next.until = paired ? -1 : k->until;
            continue;
        }
        spent->gpu_s += late_s + k->time_s * k->times;
        if (k->overlapped && after && b->next.overlapped < 0)
            b->next.overlapped = task;
        else if (k->overlapped && !after && b->next.gathered < 0)
            b->next.gathered = task;
        else
            issue_wait(b, task);
        if (!k->after)
            copy_parts(b, k, calls, spent);
    }
}

/* Most blocks have none, and each operator asks twice. */
static inline void emit_comms(struct builder *b, int32_t block, const struct op *op,
                              int32_t at, bool after, struct host_spent *spent)
{
    if (b->stage->comms[block].n[op->backward] > 0)
        emit_those_of(b, block, op, at, after, spent);
}

/* Over a pass of a block the host's lead is lost in part. What is computed again counts
 * with the backward after it, into which the host keeps its lead. */
static void add_launch_jitter(struct builder *b, const struct host_spent *spent)
{
    bool group = b->stage->settings.tensor > 1;
    double spread = group ? b->stage->fw->host.launch_jitter_tensor
                          : b->stage->fw->host.launch_jitter;
    struct host_spent all = b->pass.again;
    all.host_s += spent->host_s;
    all.gpu_s += spent->gpu_s;
    all.deviation_s = hypot(all.deviation_s, spread * (spent->host_s - spent->check_s));
    bool later = b->pass.part == CATEGORY_RECOMPUTE;
    b->pass.again = later ? all : (struct host_spent) { 0 };
    if (later || all.deviation_s <= 0)
        return;
    double lost_s = framework_host_lost_s(all.deviation_s, all.host_s, all.gpu_s);
    issue_kernel(b, CATEGORY_OTHER, 0, lost_s, lost_s);
    issue_label(b, "waits for the host");
}

/* Gathers make all ranks of sharded parameters wait for the slowest, unit by unit; in
 * pipelines units stay gathered over many passes. */
static void await_ranks(struct builder *b, const struct host_spent *spent)
{
    if (!states_shard_parameters(b->stage->s) || b->stage->s->parallel.pipeline > 1)
        return;
    double late_s =
        spent->gpu_s *
        framework_unit_wait_frac(b->stage->fw, b->stage->s->parallel.shard.degree);
    if (late_s <= 0)
        return;
    issue_kernel(b, CATEGORY_DATA_COMM_EXPOSED, 0, late_s, late_s);
    issue_label(b, "waits for the slowest rank");
}

/* The last operator of a block that makes what backward needs. */
static int32_t last_kept(const struct op_block *block)
{
    for (int32_t i = block->n_forward - 1; i >= 0; i--)
        for (int32_t j = 0; j < block->forward[i].n_outs; j++)
            if (block->forward[i].outs[j].kept_until >= 0)
                return i;
    return -1;
}

/* Forward operators of the block, as far as the pass needs them. */
static int forward_ops(struct builder *b, const struct stretch *s,
                       struct host_spent *spent, struct err *err)
{
    const struct op_block *block = &b->stage->list.blocks[s->block];
    const struct block_times *t = &b->stage->times[s->block];
    bool again = b->pass.part == CATEGORY_RECOMPUTE;
    int32_t n = b->pass.stops_early ? last_kept(block) + 1 : block->n_forward;
    for (int32_t at = s->from; at < s->to; at++) {
        int32_t i = turn(&b->stage->comms[s->block], false, at);
        const struct op *op = &block->forward[i];
        if (i >= n || (op->adapter && b->pass.adapters_off))
            continue;
        await_experts(b, i);
        if (again && recompute_saves(b->stage, block, i))
            continue;
        emit_comms(b, s->block, op, i, false, spent);
        pass_scope(b, s->block, i);
        if (emit_sharded(b, s->block, false, i, err) < 0)
            return -1;
        emit_comms(b, s->block, op, i, true, spent);
        if (!again && !b->pass.ungraded)
            offload_modules_store(b, s->block, i);
        spent->host_s += t->host_s[false][i];
        spent->gpu_s += ungraded(b, s->block, false, i) * t->forward_s[0][i];
        spent->launches += op->launches;
    }
    return 0;
}

int pass_forward_block(struct builder *b, int32_t index, struct err *err)
{
    const struct op_block *block = &b->stage->list.blocks[index];
    struct host_spent spent = { 0 };
    if (b->pass.part != CATEGORY_RECOMPUTE && !b->pass.ungraded)
        ledger_alloc(&b->step->ledger, LEDGER_ACTIVATIONS,
                     pass_autocast_B(b->stage, block));
    const struct stretch s = { index, false, 0, block->n_forward };
    if (stretch_write(b, &s, &spent, forward_ops, err) < 0)
        return -1;
    pass_leave_scope(b);
    pass_hold_late(b, index, false, &spent);
    add_launch_jitter(b, &spent);
    await_ranks(b, &spent);
    return 0;
}

/* The modules that backward operator `at` is the first to need are run once more, with
 * the collectives in them. */
static int run_again(struct builder *b, int32_t index, const int32_t *users, int32_t at,
                     struct err *err)
{
    const struct op_block *block = &b->stage->list.blocks[index];
    enum category part = b->pass.part;
    struct host_spent spent = { 0 };
    b->pass.part = CATEGORY_RECOMPUTE;
    for (int32_t i = 0; i < block->n_forward; i++) {
        int32_t region = recompute_region(b->stage, block, i);
        if (region < 0 || users[region] != at)
            continue;
        pass_scope_again(b, index, i);
        emit_comms(b, index, &block->forward[i], i, false, &spent);
        if (emit_sharded(b, index, false, i, err) < 0)
            return -1;
        emit_comms(b, index, &block->forward[i], i, true, &spent);
    }
    pass_scope_again(b, index, -1);
    b->pass.part = part;
    return 0;
}

/* When each module is run again; none where the whole layer was. */
static bool find_users(const struct builder *b, const struct op_block *block,
                       int32_t users[OP_REGION_INSTANCES])
{
    bool any = false;
    for (int32_t r = 0; r < OP_REGION_INSTANCES; r++) {
        users[r] =
            b->pass.keep == KEEP_ACTIVATIONS && b->stage->s->training.recompute_modules
                ? recompute_region_user(b->stage, block, r)
                : -1;
        any |= users[r] >= 0;
    }
    return any;
}

/* Whether the operator is left to the end of all passes. */
static bool is_deferred(const struct builder *b, int32_t block, int32_t op)
{
    const struct deferred *d = &b->stage->deferred;
    return b->pass.defers && d->block == block && d->op == op;
}

void pass_backward_op(struct builder *b, int32_t block, int32_t op)
{
    emit_op(b, block, true, op);
}

/* Whether the backward pass at hand has the operator. */
static bool runs(const struct builder *b, int32_t block, int32_t op)
{
    return b->stage->times[block].is_weight[true][op] ? pass_makes_weights(b->pass.kind)
                                                      : pass_makes_input(b->pass.kind);
}

/* The gradient of a product's output, which its weights' pass reads: the size of what
 * the forward product has made. */
static int64_t awaited_B(const struct op_block *block, const struct op *op)
{
    static const char ending[] = "_wgrad";
    size_t n = strlen(op->name), k = sizeof(ending) - 1;
    if (n <= k || strcmp(op->name + n - k, ending) != 0)
        return 0;
    for (int32_t i = 0; i < block->n_forward; i++) {
        const struct op *f = &block->forward[i];
        if (strlen(f->name) == n - k && strncmp(f->name, op->name, n - k) == 0)
            return f->n_outs > 0 ? f->outs[0].size_B : 0;
    }
    return 0;
}

/* Backward operators of the block but for the gradients that they complete; those that
 * another pass of the microbatch runs are left to it. */
static int backward_ops(struct builder *b, const struct stretch *s,
                        struct host_spent *spent, struct err *err)
{
    const struct op_block *block = &b->stage->list.blocks[s->block];
    const struct block_times *t = &b->stage->times[s->block];
    struct ledger *l = &b->step->ledger;
    int32_t users[OP_REGION_INSTANCES];
    bool again = find_users(b, block, users);
    for (int32_t at = s->from; at < s->to; at++) {
        int32_t i = turn(&b->stage->comms[s->block], true, at);
        const struct op *op = &block->backward[i];
        if (!runs(b, s->block, i)) {
            if (b->pass.kind == PASS_INPUT)
                ledger_alloc(l, LEDGER_ACTIVATIONS, awaited_B(block, op));
            continue;
        }
        await_experts(b, i);
        offload_modules_await(b, s->block, i);
        if (again && run_again(b, s->block, users, i, err) < 0)
            return -1;
        bool left = is_deferred(b, s->block, i);
        emit_comms(b, s->block, op, i, false, spent);
        if (!left && emit_sharded(b, s->block, true, i, err) < 0)
            return -1;
        emit_comms(b, s->block, op, i, true, spent);
        pass_free_kept(b, s->block, i);
        if (b->pass.kind == PASS_WEIGHT)
            ledger_free(l, LEDGER_ACTIVATIONS, awaited_B(block, op));
        offload_modules_load(b, s->block, i);
        if (left) {
            ledger_alloc(l, LEDGER_ACTIVATIONS, (int64_t)b->stage->deferred.kept_B);
            continue;
        }
        spent->host_s += t->host_s[true][i];
        spent->gpu_s += t->backward_s[0][i];
        spent->launches += op->launches;
    }
    return 0;
}

/* What the last operator of a stretch completes. Gradients that came with that of the
 * input are sent with those of the weights. */
static int complete(struct builder *b, int32_t index, int32_t op, struct err *err)
{
    const struct op_block *block = &b->stage->list.blocks[index];
    if (runs(b, index, op))
        return gradients_complete(b, block, &block->backward[op], err);
    return b->pass.kind == PASS_WEIGHT
               ? gradients_send(b, block, &block->backward[op], err)
               : 0;
}

/* To the next operator that completes gradients, or the end. */
static struct stretch backward_stretch(const struct builder *b, int32_t index,
                                       int32_t from)
{
    const struct op_block *block = &b->stage->list.blocks[index];
    const struct block_comms *c = &b->stage->comms[index];
    int32_t to = from + 1;
    while (to < block->n_backward && block->backward[turn(c, true, to - 1)].grad_n == 0)
        to++;
    return (struct stretch) { index, true, from, to };
}

int pass_backward_block(struct builder *b, int32_t index, struct err *err)
{
    const struct op_block *block = &b->stage->list.blocks[index];
    struct host_spent spent = { 0 };
    for (int32_t at = 0; at < block->n_backward;) {
        struct stretch s = backward_stretch(b, index, at);
        if (stretch_write(b, &s, &spent, backward_ops, err) < 0)
            return -1;
        at = s.to;
        if (complete(b, index, turn(&b->stage->comms[index], true, at - 1), err) < 0)
            return -1;
    }
    pass_hold_late(b, index, true, &spent);
    if (pass_makes_weights(b->pass.kind))
        ledger_free(&b->step->ledger, LEDGER_ACTIVATIONS,
                    pass_autocast_B(b->stage, block));
    add_launch_jitter(b, &spent);
    await_ranks(b, &spent);
    return 0;
}
