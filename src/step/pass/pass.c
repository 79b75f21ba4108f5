/* Forward and backward of one microbatch through a chunk: its layers in order, with
 * what is recomputed and gathered for them. */
#include "step/pass/pass.h"

#include "scenario/libraries.h"
#include "step/issue.h"
#include "step/pass/offload.h"
#include "step/pass/offload_layers.h"
#include "step/pass/offload_modules.h"
#include "step/pass/pass_block.h"
#include "step/pass/pass_memory.h"
#include "step/pass/recompute.h"
#include "step/pass/tensor_ends.h"
#include "step/stage.h"
#include "step/update/buckets.h"
#include "step/update/gradients.h"
#include "step/update/param_gather.h"
#include "step/update/shard.h"

/* Layers --------------------------------------------------------------------------- */

static int forward_slice(struct builder *b, int32_t chunk, int32_t at, int32_t *unit,
                         struct err *err)
{
    struct slice slice = b->stage->chunks[chunk].v[at];
    for (int64_t k = 0; k < slice.repeat; k++, ++*unit) {
        int64_t group = recompute_group(b->stage, slice, k);
        b->pass.keep = group > 0 ? KEEP_NOTHING : KEEP_ACTIVATIONS;
        if (group > 0 && k % group == 0)
            offload_checkpoint(b, recompute_input_B(b->stage));
        offload_modules_enter(b, false, chunk, at, k);
        offload_layers_enter(b, false, chunk, at, k);
        param_gather_enter(b, chunk, *unit);
        if (shard_enter(b, *unit, false, err) < 0)
            return -1;
        b->pass.from_checkpoint = group > 0 && k % group == 0 && !offload_stores(b);
        int rc = pass_forward_block(b, slice.block, err);
        b->pass.from_checkpoint = false;
        if (rc < 0 || shard_leave(b, *unit, false, err) < 0)
            return -1;
    }
    b->pass.keep = KEEP_ACTIVATIONS;
    return 0;
}

/* Computes the layers [from, to) of a slice again; what they keep is workspace. */
static int recompute(struct builder *b, struct slice slice, int64_t from, int64_t to,
                     int32_t unit, struct err *err)
{
    offload_load_checkpoint(b, recompute_input_B(b->stage));
    b->pass.keep = KEEP_WORKSPACE;
    b->pass.part = CATEGORY_RECOMPUTE;
    for (int64_t k = from; k < to; k++) {
        if (shard_enter(b, unit + (int32_t)k, true, err) < 0)
            return -1;
        b->pass.stops_early = b->stage->fw->tensors.recompute_stops && k == to - 1;
        if (pass_forward_block(b, slice.block, err) < 0)
            return -1;
    }
    b->pass.stops_early = false;
    b->pass.part = CATEGORY_COMPUTE;
    return 0;
}

/* What a layer's backward holds in addition to what its operators make: the gradient of
 * its output, which the residual sums pass on (that which came from the next stage is
 * the pass's), and that output if it was made again. */
static int64_t residual_B(const struct builder *b, int32_t block, bool again)
{
    const struct op_block *own = &b->stage->list.blocks[block];
    int64_t stream_B = ledger_round((int64_t)tensor_ends_block_B(b->stage, own));
    int64_t n =
        !b->pass.gradient_came + (again && !b->stage->fw->tensors.recompute_stops);
    return op_block_is_layer(own) ? stream_B * n : 0;
}

static int backward_layer(struct builder *b, int32_t block, bool again, struct err *err)
{
    int64_t held_B = residual_B(b, block, again);
    b->pass.gradient_came = false;
    ledger_alloc(&b->step->ledger, LEDGER_HELD, held_B);
    int rc = pass_backward_block(b, block, err);
    ledger_free(&b->step->ledger, LEDGER_HELD, held_B);
    return rc;
}

/* Whether a gradient comes so far. */
static bool has_backward(const struct builder *b, int32_t block)
{
    return b->stage->list.blocks[block].n_backward > 0;
}

/* Layers of a slice from the last to the first; *unit is one after its last. */
static int backward_slice(struct builder *b, int32_t at, int32_t *unit, struct err *err)
{
    struct slice slice = b->stage->chunks[b->pass.chunk].v[at];
    int32_t first = *unit - (int32_t)slice.repeat;
    for (int64_t k = slice.repeat - 1; k >= 0; k--) {
        int64_t group = recompute_group(b->stage, slice, k);
        int64_t from = group > 0 ? k / group * group : 0;
        bool last = k == slice.repeat - 1 || (group > 0 && (k + 1) % group == 0);
        bool again = group > 0 && pass_makes_input(b->pass.kind) && last;
        if (again && recompute(b, slice, from, k + 1, first, err) < 0)
            return -1;
        b->pass.keep = group > 0 ? KEEP_WORKSPACE : KEEP_ACTIVATIONS;
        offload_modules_enter(b, true, b->pass.chunk, at, k);
        offload_layers_enter(b, true, b->pass.chunk, at, k);
        if (has_backward(b, slice.block) &&
            (shard_enter(b, first + (int32_t)k, true, err) < 0 ||
             backward_layer(b, slice.block, again, err) < 0))
            return -1;
        gradients_accumulate(b, &b->stage->list.blocks[slice.block]);
        if (shard_leave(b, first + (int32_t)k, true, err) < 0)
            return -1;
    }
    b->pass.keep = KEEP_ACTIVATIONS;
    *unit = first;
    return 0;
}

/* Passes --------------------------------------------------------------------------- */

bool pass_keeps_output(const struct stage *stage, int32_t chunk)
{
    const struct parallelism *p = &stage->s->parallel;
    bool last = stage_ends(stage, chunk);
    return p->pipeline > 1 && !last && library_of(p)->keeps_stage_outputs;
}

/* This rank's part of it where a tensor group sends it in parts. */
static int64_t kept_output_B(const struct stage *stage, int32_t chunk)
{
    double parts = (double)stage->s->parallel.tensor;
    return pass_keeps_output(stage, chunk)
               ? (int64_t)(tensor_ends_stream_B(stage) / parts)
               : 0;
}

/* What DeepSpeed holds from the begin of a stage's backward to its end: the gradient
 * that has come, and the output, of whose parts a tensor group makes it once more. */
static int64_t backward_ends_B(const struct stage *stage, int32_t chunk)
{
    int64_t stream_B = ledger_round((int64_t)tensor_ends_stream_B(stage));
    return pass_keeps_output(stage, chunk)
               ? stream_B * (1 + (stage->s->parallel.tensor > 1))
               : 0;
}

/* The other pass of the pair ends with this one. */
static void end_pair(struct builder *b)
{
    issue_wait(b, b->next.experts);
    b->next.experts = -1;
}

/* About as many tasks and events of memory as the pass has, and what follows a forward:
 * the backward, and the update, a tensor at a time. */
static void make_room(struct builder *b, const struct chunk_slices *c, bool backward)
{
    enum { EVENTS = 3 }; /* of an operator: made, given, its workspace */
    int64_t n = 0, n_next = 0;
    for (int32_t i = 0; i < c->n; i++) {
        const struct op_block *block = &b->stage->list.blocks[c->v[i].block];
        n += c->v[i].repeat * (backward ? block->n_backward : block->n_forward);
        n_next += c->v[i].repeat * (backward ? 0 : block->n_backward + block->n_params);
    }
    n_next += n_next / 4; /* collectives, and what is in no block */
    VEC_RESERVE(&b->step->program.tasks, n + n_next);
    if (b->step->ledger.records)
        VEC_RESERVE(&b->step->ledger.events, EVENTS * (n + n_next));
}

int pass_write(struct builder *b, enum pass_kind kind, int32_t chunk, struct err *err)
{
    const struct chunk_slices *c = &b->stage->chunks[chunk];
    int32_t unit = 0;
    b->pass.kind = kind;
    b->pass.chunk = chunk;
    b->pass.part = CATEGORY_COMPUTE;
    b->tensors.ahead = (struct late_pass) { 0 };
    make_room(b, c, kind != PASS_FORWARD);
    shard_begin(b, chunk);
    offload_modules_begin(b, kind != PASS_FORWARD, chunk);
    if (tensor_ends_gather(b, c, kind != PASS_FORWARD, err) < 0)
        return -1;
    if (kind == PASS_FORWARD) {
        for (int32_t i = 0; i < c->n; i++)
            if (forward_slice(b, chunk, i, &unit, err) < 0)
                return -1;
        ledger_alloc(&b->step->ledger, LEDGER_ACTIVATIONS,
                     kept_output_B(b->stage, chunk));
        if (b->stage->s->parallel.pipeline > 1)
            pass_free_blocks(b, &b->tensors.late);
        end_pair(b);
        return 0;
    }
    if (pass_makes_input(kind))
        offload_begin_backward(b, recompute_inputs(b->stage, chunk));
    b->pass.gradient_came = pass_keeps_output(b->stage, chunk);
    ledger_alloc(&b->step->ledger, LEDGER_HELD, backward_ends_B(b->stage, chunk));
    for (int32_t i = 0; i < c->n; i++)
        unit += (int32_t)c->v[i].repeat;
    for (int32_t i = c->n - 1; i >= 0; i--)
        if (backward_slice(b, i, &unit, err) < 0)
            return -1;
    pass_free_blocks(b, &b->tensors.late);
    pass_add_gradients(b);
    end_pair(b);
    ledger_free(&b->step->ledger, LEDGER_HELD, backward_ends_B(b->stage, chunk));
    if (pass_makes_input(kind))
        ledger_free(&b->step->ledger, LEDGER_ACTIVATIONS,
                    kept_output_B(b->stage, chunk));
    return buckets_leave_chunk(b, err);
}

void pass_close(struct builder *b)
{
    issue_wait(b, b->next.overlapped);
    issue_wait(b, b->next.gathered);
    b->next.overlapped = b->next.gathered = -1;
    int32_t task = issue_kernel(b, CATEGORY_COMPUTE, 0, 0, 0);
    b->step->program.tasks.v[task].sync = true;
    pass_free_transient(b);
}
