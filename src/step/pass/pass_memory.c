/* What the operators of a block allocate and free: tensors kept for backward, those
 * that die with the next operator, and local variables of the framework's functions. */
#include "step/pass/pass_memory.h"

#include "step/pass/block_comms.h"
#include "step/pass/block_times.h"
#include "step/pass/recompute.h"
#include "step/pass/tensor_ends.h"
#include "step/replicas.h"

#include <math.h>
#include <string.h>

/* Where a forward operator's kept tensors are booked, and freed from. */
static enum keep keep_of(const struct builder *b, const struct op *op)
{
    if (b->tensors.saves && !op->backward && !b->pass.ungraded)
        return KEEP_ACTIVATIONS;
    return b->pass.keep;
}

/* The same of one of its outs: what a module drops is made again for its backward,
 * what it hands on is there already. */
static enum keep keep_out(const struct builder *b, const struct op *op, enum keep keep,
                          int32_t out)
{
    if (op->backward || b->pass.keep != KEEP_ACTIVATIONS)
        return keep;
    bool drops = b->tensors.drops >> out & 1;
    if (b->tensors.again)
        return drops ? KEEP_WORKSPACE : KEEP_NOTHING;
    return drops ? KEEP_NOTHING : keep;
}

/* Local variables ------------------------------------------------------------------ */

void pass_leave_scope(struct builder *b)
{
    while (b->tensors.n_locals > 0)
        ledger_free(&b->step->ledger, LEDGER_HELD,
                    b->tensors.locals_B[--b->tensors.n_locals]);
    b->tensors.makes_local = b->tensors.skips_input = b->tensors.saves = false;
    b->tensors.drops = 0;
}

void pass_scope_again(struct builder *b, int32_t block, int32_t at)
{
    b->tensors.again = at >= 0;
    b->tensors.drops = at >= 0 ? b->stage->times[block].scopes[at].drops : 0;
}

void pass_scope(struct builder *b, int32_t block, int32_t at)
{
    const struct op_scope *scope = &b->stage->times[block].scopes[at];
    if (scope->begins)
        pass_leave_scope(b);
    b->tensors.makes_local = scope->local;
    b->tensors.saves = scope->saves;
    b->tensors.drops = scope->drops;
    /* a layer that begins with a product keeps that, and no input of a norm */
    b->tensors.skips_input = at == 0 && b->pass.from_checkpoint && !scope->saves;
}

/* Tensors -------------------------------------------------------------------------- */

void pass_free_transient(struct builder *b)
{
    ledger_free(&b->step->ledger, LEDGER_WORKSPACE, b->tensors.transient_B);
    b->tensors.transient_B = 0;
    while (b->tensors.n_made > 0)
        ledger_free(&b->step->ledger, LEDGER_MADE,
                    b->tensors.made_B[--b->tensors.n_made]);
}

/* Tensors of the stage's parameters. */
static int64_t parameters_of(const struct stage *stage)
{
    int64_t n = 0;
    for (int32_t i = 0; i < stage->list.n_blocks; i++)
        n += stage->list.blocks[i].repeat * stage->list.blocks[i].n_params;
    return n;
}

static void end_with_pass(struct builder *b, int64_t size_B)
{
    struct pass_tensors *t = &b->tensors;
    if (!t->ended_B)
        t->ended_B = ARENA_RAW(b->stage->arena, parameters_of(b->stage), int64_t);
    ledger_alloc(&b->step->ledger, LEDGER_HELD, size_B);
    t->ended_B[t->n_ended++] = size_B;
}

void pass_add_gradients(struct builder *b)
{
    while (b->tensors.n_ended > 0)
        ledger_free(&b->step->ledger, LEDGER_HELD,
                    b->tensors.ended_B[--b->tensors.n_ended]);
}

/* PyTorch gives cuBLAS a workspace for each thread at its first product, and keeps it
 * (aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize: 32 MiB from Hopper
 * on, else :4096:2:16:8). */
int64_t pass_product_workspace_B(const struct stage *stage)
{
    enum { KIB = 1024, HOPPER = 90, LARGE = 32 * KIB * KIB };
    enum { SMALL = (2 * 4096 + 8 * 16) * KIB };
    if (stage->fw->kernels.all_loaded) /* before PyTorch 1.13 cuBLAS had its own */
        return 0;
    return stage->gpu->sm_arch >= HOPPER ? LARGE : SMALL;
}

static void make_product_workspace(struct builder *b, bool backward)
{
    if (b->tensors.has_workspace[backward])
        return;
    b->tensors.has_workspace[backward] = true;
    ledger_alloc(&b->step->ledger,
                 backward ? LEDGER_BACKWARD_ONCE : LEDGER_FORWARD_ONCE,
                 pass_product_workspace_B(b->stage));
}

int64_t pass_gather_buffers_B(const struct stage *stage)
{
    int64_t ranks = stage->settings.tensor;
    if (!stage->fw->tensors.gather_buffers || !stage->settings.sequence_parallel)
        return 0;
    return 2 * ranks * (int64_t)tensor_ends_stream_B(stage);
}

void pass_gather(struct builder *b, const struct op *op, const struct op_comm *comm)
{
    bool stays = comm->stream == STREAM_TENSOR && op->kind == OP_GEMM &&
                 pass_gather_buffers_B(b->stage) > 0;
    if (!stays)
        b->tensors.transient_B += ledger_workspace(&b->step->ledger, comm->workspace_B);
    else if (!b->tensors.has_gathered[op->backward])
        ledger_alloc(&b->step->ledger,
                     op->backward ? LEDGER_BACKWARD_ONCE : LEDGER_FORWARD_ONCE,
                     ledger_round(comm->workspace_B));
    b->tensors.has_gathered[op->backward] |= stays;
}

bool pass_has_dummy(const struct stage *stage, const struct op_block *block,
                    const struct op_param *p)
{
    return stage->fw->gradients.dummy_gradients && stage->half && p->matrix &&
           !p->frozen && op_block_is_layer(block);
}

/* Whether the rank's layers before block `at` have such a weight. */
static bool is_seen(const struct stage *stage, int32_t at, const struct op_param *p)
{
    for (int32_t i = 0; i < at; i++)
        for (int32_t k = 0; k < stage->list.blocks[i].n_params; k++) {
            const struct op_param *seen = &stage->list.blocks[i].params[k];
            if (op_block_is_layer(&stage->list.blocks[i]) &&
                seen->elements == p->elements && strcmp(seen->name, p->name) == 0)
                return true;
        }
    return false;
}

/* Experts are alike, and so are layers: they share theirs. */
int64_t pass_dummies_B(const struct stage *stage)
{
    double alike =
        (double)stage->s->model.mlp.experts / (double)stage->s->parallel.expert;
    double bytes = 0;
    for (int32_t i = 0; i < stage->list.n_blocks; i++)
        for (int32_t k = 0; k < stage->list.blocks[i].n_params; k++) {
            const struct op_param *p = &stage->list.blocks[i].params[k];
            if (pass_has_dummy(stage, &stage->list.blocks[i], p) &&
                !is_seen(stage, i, p))
                bytes += replicas_states_of(stage, p).made_B * (double)p->elements /
                         (p->expert ? alike : 1);
        }
    return (int64_t)bytes;
}

void pass_make_gradient(struct builder *b, double made_B, double sum_B)
{
    const int32_t most =
        (int32_t)(sizeof(b->tensors.made_B) / sizeof(*b->tensors.made_B));
    int64_t size_B = ledger_round((int64_t)made_B);
    bool is_sum = states_keep_gradients(b->stage->s) && made_B == sum_B &&
                  !states_shard_parameters(b->stage->s);
    if (b->stage->sums_flat) {
        end_with_pass(b, size_B);
        return;
    }
    if (!is_sum || b->tensors.n_made == most) {
        b->tensors.transient_B += ledger_workspace(&b->step->ledger, size_B);
        return;
    }
    ledger_alloc(&b->step->ledger, LEDGER_MADE, size_B);
    b->tensors.made_B[b->tensors.n_made++] = size_B;
}

void pass_allocate(struct builder *b, const struct op *op)
{
    static const enum ledger_kind kinds[] = {
        [KEEP_ACTIVATIONS] = LEDGER_ACTIVATIONS, [KEEP_WORKSPACE] = LEDGER_HELD
    };
    struct ledger *l = &b->step->ledger;
    enum keep usual = keep_of(b, op);
    int64_t transient_B = 0;
    for (int32_t i = b->tensors.skips_input && !op->backward; i < op->n_outs; i++) {
        int64_t size = ledger_round(op->outs[i].size_B);
        enum keep keep = keep_out(b, op, usual, i);
        bool kept = op->outs[i].kept_until >= 0 && keep != KEEP_NOTHING;
        bool local = !kept && !op->backward && b->tensors.makes_local &&
                     b->tensors.n_locals < (int32_t)(sizeof(b->tensors.locals_B) /
                                                     sizeof(*b->tensors.locals_B));
        if (local)
            b->tensors.locals_B[b->tensors.n_locals++] = size;
        else if (!kept)
            transient_B += size;
        ledger_alloc(l,
                     kept    ? kinds[keep]
                     : local ? LEDGER_HELD
                             : LEDGER_WORKSPACE,
                     size);
    }
    if (op->kind == OP_GEMM)
        make_product_workspace(b, op->backward);
    pass_free_transient(b);
    b->tensors.transient_B = transient_B;
}

void pass_free_kept(struct builder *b, int32_t block, int32_t backward)
{
    const struct block_times *t = &b->stage->times[block];
    bool again = b->pass.keep == KEEP_WORKSPACE;
    for (int32_t i = t->kept_starts[backward]; i < t->kept_starts[backward + 1]; i++) {
        const struct kept_tensor *k = &t->kept[i];
        ledger_free(&b->step->ledger,
                    !k->saved && (again || k->drops) ? LEDGER_HELD : LEDGER_ACTIVATIONS,
                    k->size_B);
    }
}

int64_t pass_autocast_B(const struct stage *stage, const struct op_block *block)
{
    double bytes = 0;
    for (int32_t i = 0; i < block->n_params && !states_shard_parameters(stage->s); i++)
        if (block->params[i].matrix)
            bytes += replicas_states_of(stage, &block->params[i]).autocast_B *
                     (double)block->params[i].elements;
    return (int64_t)bytes;
}

/* What collectives of the tensor group have recorded for their stream, and is freed in
 * the pass: what scatters read and what they write; of backward's gathers what they read,
 * too (forward keeps that). */
static struct late_blocks recorded_by(const struct builder *b, int32_t block,
                                      bool backward)
{
    const struct block_comms *c = &b->stage->comms[block];
    struct late_blocks found = { 0 };
    for (int32_t i = 0; i < c->n[backward]; i++) {
        const struct coll_request *r =
            &b->step->program.comms.v[c->v[backward][i].comm].request;
        bool scatter = r->op == COLL_REDUCE_SCATTER;
        if (c->v[backward][i].stream != STREAM_TENSOR ||
            (!scatter && (!backward || r->op != COLL_ALL_GATHER)))
            continue;
        int64_t ranks = b->stage->settings.tensor;
        found.whole_B = ledger_round((int64_t)r->size_B);
        found.part_B = ledger_round((int64_t)r->size_B / ranks);
        found.n_whole += scatter;
        found.n_part++;
    }
    return found;
}

/* Launches by which a host leads at most: a stream holds 1024 entries, and eager code has
 * 39 for 17 of the list's (a layer of nanotron: 31 kernels, and of each of four collectives
 * an event that is recorded and one that is waited for). */
static const double launches_ahead = 446;

static void join_blocks(struct late_blocks *to, const struct late_blocks *more)
{
    *to =
        (struct late_blocks) { to->kind, more->whole_B, more->part_B,
                               to->n_whole + more->n_whole, to->n_part + more->n_part };
}

static struct late_blocks share_of(const struct late_blocks *all, double share)
{
    return (struct late_blocks) { all->kind, all->whole_B, all->part_B,
                                  (int32_t)(share * all->n_whole),
                                  (int32_t)(share * all->n_part) };
}

/* Groups over several nodes are seen to run without theirs. */
enum ledger_kind pass_late_kind(const struct builder *b)
{
    return block_comms_apart(b->stage, LAYOUT_TP) ? LEDGER_SPARE : LEDGER_LATE;
}

/* Whether the GPU keeps up with the host, so that a block's are free at once: while the
 * host waits for messages of a pipeline or for checks, and, without a pipeline, at the
 * step's begin, when it has not gone ahead so far yet. */
static bool keeps_up(const struct builder *b, const struct host_spent *spent,
                     double held)
{
    const struct host_spent *all = &b->tensors.ahead.spent;
    bool waits = b->stage->s->parallel.pipeline > 1 || spent->check_s > 0;
    bool begins = b->stage->s->parallel.pipeline == 1 && b->pass.first &&
                  !block_comms_apart(b->stage, LAYOUT_TP);
    return (waits && spent->gpu_s <= spent->host_s) ||
           (begins &&
            (held + 1) * spent->gpu_s > all->gpu_s - all->host_s - all->check_s);
}

void pass_hold_late(struct builder *b, int32_t block, bool backward,
                    const struct host_spent *spent)
{
    if (!b->stage->fw->tensors.record_stream)
        return;
    struct late_pass *pass = &b->tensors.ahead;
    pass->spent.host_s += spent->host_s - spent->check_s;
    pass->spent.check_s += spent->check_s;
    pass->spent.gpu_s += spent->gpu_s;
    pass->spent.launches += spent->launches;
    const struct late_blocks more = recorded_by(b, block, backward);
    if (more.n_part == 0)
        return;
    join_blocks(&pass->blocks, &more);
    double held = (double)b->tensors.late.n_part / more.n_part;
    if (backward || held >= launches_ahead / fmax(1, spent->launches) ||
        keeps_up(b, spent, held))
        return;
    pass_hold_blocks(b, &b->tensors.late, &more, pass_late_kind(b));
}

struct late_blocks pass_left_late(const struct builder *b)
{
    const struct late_pass *pass = &b->tensors.ahead;
    const struct host_spent *next = &b->forward, *own = &pass->spent;
    bool lone = b->stage->s->parallel.pipeline == 1;
    if (pass->blocks.n_part == 0 || own->gpu_s <= 0 ||
        (!lone && block_comms_apart(b->stage, LAYOUT_TP)))
        return (struct late_blocks) { 0 };
    double queued = (launches_ahead - next->launches) / own->launches;
    double ahead =
        lone ? own->check_s <= 0 : 1 - (own->host_s + next->host_s) / own->gpu_s;
    return share_of(&pass->blocks, fmax(0, fmin(1, fmin(queued, ahead))));
}

struct late_blocks pass_led(const struct builder *b, const struct late_blocks *held)
{
    const struct late_pass *pass = &b->tensors.ahead;
    const double n = fmax(1, pass->blocks.n_part);
    double most = n * launches_ahead / fmax(1, pass->spent.launches);
    return share_of(&pass->blocks, fmax(0, fmin(1, (most - held->n_part) / n)));
}

void pass_hold_blocks(struct builder *b, struct late_blocks *held,
                      const struct late_blocks *more, enum ledger_kind kind)
{
    for (int32_t i = 0; i < more->n_whole; i++)
        ledger_alloc(&b->step->ledger, kind, more->whole_B);
    for (int32_t i = 0; i < more->n_part; i++)
        ledger_alloc(&b->step->ledger, kind, more->part_B);
    join_blocks(held, more);
    held->kind = kind;
}

void pass_free_blocks(struct builder *b, struct late_blocks *held)
{
    for (; held->n_whole > 0; held->n_whole--)
        ledger_free(&b->step->ledger, held->kind, held->whole_B);
    for (; held->n_part > 0; held->n_part--)
        ledger_free(&b->step->ledger, held->kind, held->part_B);
}
