/* Sharded parameters: gathered unit by unit before use, dropped turn_left it; gradients
 * scattered to the shards, and summed over replicas of the shards at the boundary.
 *
 *   gather   |u0 |u1 |    |u2 | ...            at most two ahead of what is in use
 *   compute      |u0    |u1    |u2    | ...
 *   scatter (backward)         |u2 |   |u1 | ...
 *
 * Gathers and scatters of a group are on one stream, in the order of issue: both are
 * the process group's, which has one communicator.
 *
 * A unit is a few layers; embedding, head and what else is no layer form the root,
 * which stays gathered from the begin of forward to the end of backward.
 *
 * In a pipeline (MODEL.md, R8.4) each chunk of a stage has its own units. They stay
 * gathered from their first forward on, unless forward reshards, and gradients stay
 * whole, until the last backward of an accumulation step drops and scatters them. */
#include "step/update/shard.h"

#include "step/comms.h"
#include "step/issue.h"
#include "step/replicas.h"
#include "step/stage.h"
#include "step/update/shard_comms.h"
#include "step/update/shard_units.h"

#include <math.h>

int shard_plan(struct stage *stage, struct builder *b, struct err *err)
{
    if (!states_shard_parameters(stage->s))
        return 0;
    int32_t n_chunks = (int32_t)partition_chunks(stage->request->parts);
    stage->units = ARENA_ARRAY(stage->arena, n_chunks, struct units);
    b->shard.chunks = ARENA_ARRAY(stage->arena, n_chunks, struct units_state);
    for (int32_t i = 0; i < n_chunks; i++) {
        shard_units_list(stage, i, &stage->units[i]);
        b->shard.chunks[i] = shard_units_begin(stage->arena, &stage->units[i]);
    }
    b->shard.units = b->shard.chunks;
    if (stage->s->training.preference.reference == REFERENCE_SEPARATE) {
        b->shard.reference = ARENA_NEW(stage->arena, struct units_state);
        *b->shard.reference = shard_units_begin(stage->arena, &stage->units[0]);
    }
    const struct unit *last = &stage->units[0].v[stage->units[0].n - 1];
    double elements =
        fmax(last->summed - last->summed_experts, last->elements - last->experts);
    double size_B = elements * stage_width_B(stage);
    int32_t comm = comms_add(b, CHANNEL_SHARD, COLL_ALL_GATHER, size_B, err);
    if (comm < 0)
        return -1;
    comms_overlapped(b, b->step->program.comms.v[comm].plan);
    return 0;
}

static bool in_pipeline(const struct stage *stage)
{
    return stage->s->parallel.pipeline > 1;
}

/* A pass of a pipeline begins when all that was issued before has ended. */
void shard_begin(struct builder *b, int32_t chunk)
{
    if (!b->shard.units)
        return;
    b->shard.units = &b->shard.chunks[chunk];
    if (in_pipeline(b->stage))
        shard_units_forget_ends(b->shard.units);
}

bool shard_changes(const struct builder *b, enum pass_kind kind, int32_t chunk)
{
    if (!b->shard.units)
        return false;
    const struct units_state *u = &b->shard.chunks[chunk];
    bool all = true;
    for (int32_t i = 0; i < u->units->n; i++)
        all &= (u->v[i].unit->elements <= 0 || u->v[i].gathered) &&
               (u->v[i].unit->summed <= 0 || kind == PASS_FORWARD || u->v[i].gradients);
    return !all || b->pass.reduces || b->stage->s->parallel.shard.reshard;
}

/* Whether the limit of live elements forbids to gather the unit as a whole. */
static bool is_full(const struct builder *b, const struct unit_state *v)
{
    double limit = (double)b->stage->s->parallel.shard.live_elements;
    return !b->stage->fw->shard.tensors && limit > 0 &&
           b->shard.units->live + v->unit->elements > limit;
}

/* Gathers a unit that is `ahead` turns away; its memory is there when the unit that was
 * in use a window before has been left. */
static int gather(struct builder *b, int32_t unit, int32_t ahead, bool backward,
                  struct err *err)
{
    struct units_state *u = b->shard.units;
    struct unit_state *v = &u->v[unit];
    bool full = is_full(b, v);
    int64_t turn_left =
        u->turn + ahead - (full ? 1 : shard_units_window(b->stage, backward));
    int32_t after = turn_left >= 0 ? u->ends[turn_left % TURNS] : -1;
    if (v->gathered)
        return 0;
    v->gather = v->regather = -1;
    if (shard_gather(b, v->unit, v->unit->first[AHEAD], after, &v->gather, err) < 0)
        return -1;
    v->gathered = true;
    v->used = false;
    u->live += v->unit->elements;
    ledger_alloc(&b->step->ledger, LEDGER_BUFFERS,
                 (int64_t)(v->unit->live * stage_width_B(b->stage)));
    return 0;
}

/* Blocks that another stream uses come back when the GPU has passed them, a turn
 * turn_left the host (record_stream), elsewhere at once. */
static void let_go(struct builder *b, double *behind_B, double size_B)
{
    double back_B = b->stage->fw->tensors.record_stream ? *behind_B : size_B;
    ledger_free(&b->step->ledger, LEDGER_BUFFERS, (int64_t)back_B);
    *behind_B = b->stage->fw->tensors.record_stream ? size_B : 0;
}

static void drop(struct builder *b, struct unit_state *v, bool backward)
{
    double size_B = v->unit->live * stage_width_B(b->stage);
    if (!v->gathered)
        return;
    v->gathered = false;
    shard_note_dropped(b);
    b->shard.units->live -= v->unit->elements;
    if (backward)
        let_go(b, &b->shard.units->dropped_B, size_B);
    else /* the next gather waits for the unit before (limit_all_gathers) */
        ledger_free(&b->step->ledger, LEDGER_BUFFERS, (int64_t)size_B);
}

/* Gathers of the next units in the direction of the pass, as far as the limits let. The
 * unit after a layer with units inside is the first or last of these, so that the next
 * layer is gathered when the host comes to it. */
static int prefetch(struct builder *b, int32_t unit, bool backward, struct err *err)
{
    struct units_state *u = b->shard.units;
    if (shard_units_nest(b->stage))
        return 0;
    for (int32_t k = 1; k < shard_units_window(b->stage, backward); k++) {
        int32_t next = backward ? unit - k : unit + k;
        if (next <= UNIT_ROOT || next >= u->units->n)
            return 0;
        if (is_full(b, &u->v[next]) || (backward && !u->v[next].unit->graded))
            return 0;
        if (gather(b, next, k, backward, err) < 0)
            return -1;
    }
    return 0;
}

static void hold_gradients(struct builder *b, struct unit_state *v)
{
    if (v->gradients)
        return;
    v->gradients = true;
    ledger_alloc(&b->step->ledger, LEDGER_BUFFERS,
                 (int64_t)(v->unit->held * states_wire_B(b->stage->s)));
}

/* Kernels wait for the unit's gathers, and for those that could not begin ahead. */
static int gather_open(struct builder *b, struct unit_state *v, struct err *err)
{
    struct gathers open =
        v->used ? (struct gathers) { 0 } : v->unit->first[IN_THE_OPEN];
    int32_t ready = v->used ? -1 : v->gather;
    if (b->pass.part != CATEGORY_RECOMPUTE && v->dropped) {
        open = v->unit->again[IN_THE_OPEN];
        ready = v->regather;
        v->dropped = false;
    }
    if (shard_gather(b, v->unit, open, b->last_kernel, &ready, err) < 0)
        return -1;
    issue_wait(b, ready);
    v->used = true;
    return 0;
}

int shard_enter(struct builder *b, int32_t at, bool backward, struct err *err)
{
    struct units_state *u = b->shard.units;
    if (!u)
        return 0;
    int32_t unit = u->units->of[at];
    struct unit_state *v = &u->v[unit];
    /* here, as a later stage's head comes last */
    if (at == 0 && !backward && u->v[UNIT_ROOT].unit->elements > 0 &&
        gather(b, UNIT_ROOT, 0, backward, err) < 0)
        return -1;
    if (!v->gathered || !v->used)
        shard_await_dropped(b);
    if (gather(b, unit, 0, backward, err) < 0 || gather_open(b, v, err) < 0)
        return -1;
    if (b->pass.part == CATEGORY_RECOMPUTE)
        v->dropped = v->unit->again[AHEAD].n + v->unit->again[IN_THE_OPEN].n > 0;
    if (v->dropped && shard_gather(b, v->unit, v->unit->again[AHEAD], b->last_kernel,
                                   &v->regather, err) < 0)
        return -1;
    if (!v->dropped && unit != UNIT_ROOT && prefetch(b, unit, backward, err) < 0)
        return -1;
    if (backward && b->pass.part != CATEGORY_RECOMPUTE &&
        pass_makes_weights(b->pass.kind))
        hold_gradients(b, v);
    return 0;
}

/* The first or last of a unit's blocks, in the direction of the pass. */
static bool ends_unit(const struct units *u, int32_t at, bool backward)
{
    int32_t next = backward ? at - 1 : at + 1;
    if (u->of[at] == UNIT_ROOT) /* held through forward and backward */
        return false;
    return next < 0 || next >= u->n_blocks || u->of[next] != u->of[at];
}

/* Backward has left the unit: its gradients go, those of the unit before have gone. */
static int leave_backward(struct builder *b, struct unit_state *v, struct err *err)
{
    struct units_state *u = b->shard.units;
    if ((in_pipeline(b->stage) && !b->pass.reduces) ||
        (v->unit->summed <= 0 && v->unit->elements <= 0))
        return 0;
    drop(b, v, true);
    if (states_hold_whole(b->stage->s) && !b->pass.reduces)
        return 0;
    if (shard_scatter(b, v->unit, err) < 0)
        return -1;
    let_go(b, &u->scattered_B, u->pending_B);
    u->pending_B = v->unit->held * states_wire_B(b->stage->s);
    v->gradients = false;
    return 0;
}

int shard_leave(struct builder *b, int32_t at, bool backward, struct err *err)
{
    struct units_state *u = b->shard.units;
    if (!u)
        return 0;
    struct unit_state *v = &u->v[u->units->of[at]];
    bool root_ends = backward && at == 0;
    if (ends_unit(u->units, at, backward)) {
        u->ends[u->turn++ % TURNS] = b->last_kernel;
        if (!backward && b->stage->s->parallel.shard.reshard)
            drop(b, v, false);
        if (backward && leave_backward(b, v, err) < 0)
            return -1;
    }
    if (!root_ends)
        return 0;
    u->ends[u->turn++ % TURNS] = b->last_kernel;
    if (leave_backward(b, &u->v[UNIT_ROOT], err) < 0)
        return -1;
    ledger_free(&b->step->ledger, LEDGER_BUFFERS, (int64_t)u->pending_B);
    u->pending_B = 0;
    for (int i = 0; i < 2; i++)
        let_go(b, i ? &u->scattered_B : &u->dropped_B, 0);
    return 0;
}

/* Without a backward FSDP keeps what its forward does not reshard, and the root in any
 * case: its first version (torch 2.5, distributed/fsdp/_runtime_utils.py,
 * _post_forward_reshard), its second up to torch 2.7 (_fully_shard/_fsdp_state.py,
 * _lazy_init), and torchtune, which asks for it (training/_distributed.py, shard_model).
 * DeepSpeed releases all after their forward (parameter_offload.py). */
static bool keeps_gathered(const struct stage *stage, int32_t unit)
{
    return unit == UNIT_ROOT ? !stage->fw->shard.tensors
                             : !stage->s->parallel.shard.reshard;
}

void shard_hold_reference(struct builder *b)
{
    struct units_state *u = b->shard.reference;
    for (int32_t i = 0; u && i < u->units->n; i++) {
        struct unit_state *v = &u->v[i];
        if (!keeps_gathered(b->stage, i))
            continue;
        v->gathered = v->used = true;
        u->live += v->unit->elements;
        ledger_alloc(&b->step->ledger, LEDGER_BUFFERS,
                     (int64_t)(v->unit->live * stage_width_B(b->stage)));
    }
}

void shard_begin_reference(struct builder *b)
{
    if (b->shard.reference)
        b->shard.units = b->shard.reference;
}

void shard_end_reference(struct builder *b)
{
    if (!b->shard.reference)
        return;
    if (!keeps_gathered(b->stage, UNIT_ROOT))
        drop(b, &b->shard.reference->v[UNIT_ROOT], false);
    b->shard.units = b->shard.chunks;
}

/* Tensors that stay whole are updated in shards, too, and gathered turn_left the update
 * (DeepSpeed's stage3.py, _post_step). */
int shard_end(struct builder *b, struct err *err)
{
    for (int h = 0; h < REPLICA_GROUPS && states_shard_parameters(b->stage->s); h++) {
        double size_B = shard_units_persistent(b->stage, (enum replica_group)h, false) *
                        stage_width_B(b->stage);
        if (size_B <= 0)
            continue;
        enum channel channel = h == REPLICAS_DATA
                                   ? CHANNEL_SHARD
                                   : replicas_channel((enum replica_group)h);
        int32_t comm = comms_add(b, channel, COLL_ALL_GATHER, size_B, err);
        if (comm < 0)
            return -1;
        program_collective_on(
            &b->step->program, STREAM_SHARD, CATEGORY_DATA_COMM_EXPOSED,
            b->stage->fw->host.dispatch_optimizer_s, comm, b->last_kernel);
    }
    return 0;
}

int64_t shard_persistent_B(const struct stage *stage)
{
    double n = 0;
    for (int h = 0; h < REPLICA_GROUPS && states_shard_parameters(stage->s); h++)
        n += shard_units_persistent(stage, (enum replica_group)h, true);
    return (int64_t)(n * stage_width_B(stage));
}
