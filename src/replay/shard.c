/* Sharded parameters: gathered unit by unit before use, dropped behind it; gradients
 * scattered to the shards, and summed over replicas of the shards at the boundary.
 *
 *   gather   |u0 |u1 |    |u2 | ...            at most two ahead of what is in use
 *   compute      |u0    |u1    |u2    | ...
 *   scatter (backward)         |u2 |   |u1 | ...
 *
 * A unit is a few layers; embedding, head and what else is no layer form the root, which
 * stays gathered from the begin of forward to the end of backward. */
#include "replay/builder.h"

#include <math.h>
#include <string.h>

enum { ROOT = 0, TURNS = 64 /* of which the ends are remembered */ };

struct unit {
    double elements; /* that are gathered; small tensors may stay whole */
    double experts;  /* of them, from those that hold the same ones alone */
    int32_t blocks;  /* in use at the moment (root), or of the unit */
    int32_t gather;  /* task; -1: not gathered */
    bool used;       /* kernels wait for the gather already */
    bool gradients;  /* held whole at the moment */
};

struct units {
    int32_t n, n_blocks;
    struct unit *v;
    int32_t *of;               /* [blocks of the stage, repeats counted] unit */
    int32_t turn, ends[TURNS]; /* last kernels of the units left */
    double live;               /* elements gathered */
    double pending_B;          /* gradients under way to their shards */
};

bool shard_is_full(const struct builder *b)
{
    return b->s->parallel.sharding == SHARDING_FULL && b->s->parallel.shard_degree > 1;
}

static bool is_gathered(const struct builder *b, const struct op_param *p)
{
    if (build_is_shared(b, p) && build_expert_ranks(b) == 1)
        return false;
    return p->elements >= b->s->parallel.shard_persistence_elements;
}

static void add_gathered(const struct builder *b, const struct op_block *block,
                         struct unit *v)
{
    for (int32_t i = 0; i < block->n_params; i++) {
        const struct op_param *p = &block->params[i];
        if (!is_gathered(b, p))
            continue;
        v->elements += (double)p->elements;
        v->experts += build_is_shared(b, p) ? (double)p->elements : 0;
    }
}

static bool is_layer(const struct op_block *block)
{
    size_t n = strlen(block->name);
    return n >= 5 && strcmp(block->name + n - 5, "layer") == 0;
}

/* Width of parameters as gathered: what products read. */
static double width_B(const struct builder *b)
{
    return b->half ? 2 : 4;
}

static void list_units(struct builder *b, struct units *u)
{
    int64_t each = b->s->parallel.shard_unit_layers;
    int32_t at = 0;
    u->n = 1;
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        for (int64_t k = 0; k < block->repeat; k++, at++) {
            bool layer = is_layer(block);
            if (layer && (each <= 1 || k % each == 0))
                u->n++;
            u->of[at] = layer ? u->n - 1 : ROOT;
            add_gathered(b, block, &u->v[u->of[at]]);
            u->v[u->of[at]].blocks++;
        }
    }
}

int shard_plan(struct builder *b, struct err *err)
{
    if (!shard_is_full(b))
        return 0;
    if (b->s->parallel.pipeline > 1)
        return err_set(err,
                       "sharded parameters in a pipeline are not simulated yet (use "
                       "sharding \"optimizer\", or pipeline 1)");
    struct units *u = ARENA_NEW(b->arena, struct units);
    for (int32_t i = 0; i < b->list.n_blocks; i++)
        u->n_blocks += (int32_t)b->list.blocks[i].repeat;
    u->v = ARENA_ARRAY(b->arena, u->n_blocks + 1, struct unit);
    u->of = ARENA_ARRAY(b->arena, u->n_blocks, int32_t);
    list_units(b, u);
    for (int32_t i = 0; i < u->n; i++)
        u->v[i].gather = -1;
    for (int32_t i = 0; i < TURNS; i++)
        u->ends[i] = -1;
    b->units = u;
    double size_B = (u->v[u->n - 1].elements - u->v[u->n - 1].experts) * width_B(b);
    int32_t comm = build_comm(b, CHANNEL_SHARD, COLL_ALL_GATHER, size_B, err);
    if (comm < 0)
        return -1;
    build_beside(b, b->step->program.comms.v[comm].plan);
    return 0;
}

/* Units that may be gathered at once, the one in use among them; 0: any number. */
static int64_t window(const struct builder *b)
{
    const struct parallelism *p = &b->s->parallel;
    int64_t ahead = p->shard_prefetch + 1;
    return p->shard_in_flight > 0 && p->shard_in_flight < ahead ? p->shard_in_flight
                                                                : ahead;
}

static int gather_from(struct builder *b, enum channel channel, double elements,
                       int32_t after, struct unit *v, struct err *err)
{
    if (elements <= 0 && channel != CHANNEL_SHARD)
        return 0;
    int32_t comm = build_comm(b, channel, COLL_ALL_GATHER, elements * width_B(b), err);
    if (comm < 0)
        return -1;
    v->gather =
        program_collective_on(&b->step->program, STREAM_SHARD, PART_DATA_COMM_EXPOSED,
                              b->fw->dispatch_forward_s, comm, after);
    return 0;
}

/* Gathers a unit that is `ahead` turns away; its memory is there when the unit that was
 * in use a window before has been left. */
static int gather(struct builder *b, int32_t unit, int32_t ahead, struct err *err)
{
    struct units *u = b->units;
    struct unit *v = &u->v[unit];
    bool full = b->s->parallel.shard_live_elements > 0 &&
                u->live + v->elements > (double)b->s->parallel.shard_live_elements;
    int64_t behind = u->turn + ahead - (full ? 1 : window(b));
    int32_t after = behind >= 0 ? u->ends[behind % TURNS] : -1;
    if (v->gather >= 0)
        return 0;
    if (gather_from(b, CHANNEL_SHARD, v->elements - v->experts, after, v, err) < 0 ||
        gather_from(b, CHANNEL_EXPERT_DATA, v->experts, after, v, err) < 0)
        return -1;
    v->used = false;
    u->live += v->elements;
    ledger_alloc(&b->step->ledger, LEDGER_BUFFERS, (int64_t)(v->elements * width_B(b)));
    return 0;
}

static void drop(struct builder *b, struct unit *v)
{
    if (v->gather < 0)
        return;
    v->gather = -1;
    b->units->live -= v->elements;
    ledger_free(&b->step->ledger, LEDGER_BUFFERS, (int64_t)(v->elements * width_B(b)));
}

/* Gathers of the next units in the direction of the pass, as far as the limits let. */
static int prefetch(struct builder *b, int32_t unit, bool backward, struct err *err)
{
    const struct parallelism *p = &b->s->parallel;
    struct units *u = b->units;
    for (int32_t k = 1; k < window(b); k++) {
        int32_t next = backward ? unit - k : unit + k;
        if (next <= ROOT || next >= u->n)
            return 0;
        double live = u->live + u->v[next].elements;
        if (p->shard_live_elements > 0 && live > (double)p->shard_live_elements)
            return 0;
        if (gather(b, next, k, err) < 0)
            return -1;
    }
    return 0;
}

static void hold_gradients(struct builder *b, struct unit *v)
{
    if (v->gradients)
        return;
    v->gradients = true;
    ledger_alloc(&b->step->ledger, LEDGER_BUFFERS,
                 (int64_t)(v->elements * states_wire_B(b->s)));
}

int shard_enter(struct builder *b, int32_t at, bool backward, struct err *err)
{
    struct units *u = b->units;
    if (!u)
        return 0;
    int32_t unit = u->of[at];
    struct unit *v = &u->v[unit];
    if (gather(b, unit, 0, err) < 0)
        return -1;
    if (unit != ROOT && prefetch(b, unit, backward, err) < 0)
        return -1;
    if (!v->used)
        build_wait(b, v->gather);
    v->used = true;
    if (backward && b->part != PART_RECOMPUTE)
        hold_gradients(b, v);
    return 0;
}

static int scatter_experts(struct builder *b, const struct unit *v, struct err *err)
{
    double size_B = v->experts * states_wire_B(b->s);
    if (size_B <= 0)
        return 0;
    int32_t comm = build_comm(b, CHANNEL_EXPERT_DATA, COLL_REDUCE_SCATTER, size_B, err);
    if (comm < 0)
        return -1;
    b->last_comm = program_collective(&b->step->program, PART_DATA_COMM_EXPOSED,
                                      b->fw->dispatch_backward_s, comm, b->last_kernel);
    return 0;
}

/* The unit's gradients go to their shards, and shards are summed over their replicas. */
static int scatter(struct builder *b, struct unit *v, struct err *err)
{
    const struct parallelism *p = &b->s->parallel;
    struct program *program = &b->step->program;
    double size_B = (v->elements - v->experts) * states_wire_B(b->s);
    if (b->fw->bucket_copy_B > 0) {
        build_stream(b, PART_COMPUTE, b->fw->dispatch_backward_s,
                     b->fw->bucket_copy_B * size_B);
        build_label(b, "gradients to flat parameter");
    }
    if (scatter_experts(b, v, err) < 0)
        return -1;
    int32_t comm = build_comm(b, CHANNEL_SHARD, COLL_REDUCE_SCATTER, size_B, err);
    if (comm < 0)
        return -1;
    b->last_comm = program_collective(program, PART_DATA_COMM_EXPOSED,
                                      b->fw->dispatch_backward_s, comm, b->last_kernel);
    if (!b->reduces || p->data * p->context <= p->shard_degree)
        return 0;
    size_B /= (double)p->shard_degree;
    comm = build_comm(b, CHANNEL_REPLICA, COLL_ALL_REDUCE, size_B, err);
    if (comm < 0)
        return -1;
    b->last_comm = program_collective(program, PART_DATA_COMM_EXPOSED,
                                      b->fw->dispatch_backward_s, comm, -1);
    return 0;
}

/* The first or last of a unit's blocks, in the direction of the pass. */
static bool ends_unit(const struct units *u, int32_t at, bool backward)
{
    int32_t next = backward ? at - 1 : at + 1;
    if (u->of[at] == ROOT)
        return backward && at == 0; /* held through forward and backward */
    return next < 0 || next >= u->n_blocks || u->of[next] != u->of[at];
}

int shard_leave(struct builder *b, int32_t at, bool backward, struct err *err)
{
    struct units *u = b->units;
    struct ledger *l = &b->step->ledger;
    if (!u || !ends_unit(u, at, backward))
        return 0;
    struct unit *v = &u->v[u->of[at]];
    u->ends[u->turn++ % TURNS] = b->last_kernel;
    if (!backward) {
        if (b->s->parallel.shard_reshard)
            drop(b, v);
        return 0;
    }
    drop(b, v);
    if (scatter(b, v, err) < 0)
        return -1;
    ledger_free(l, LEDGER_BUFFERS, (int64_t)u->pending_B); /* of the unit before */
    u->pending_B = v->elements * states_wire_B(b->s);
    v->gradients = false;
    if (at == 0) { /* the pass has ended */
        ledger_free(l, LEDGER_BUFFERS, (int64_t)u->pending_B);
        u->pending_B = 0;
    }
    return 0;
}

static int gather_updated(struct builder *b, enum channel channel, double elements,
                          struct err *err)
{
    double width = dtype_bytes(op_parameter_dtype(b->s->training.precision));
    int32_t comm = build_comm(b, channel, COLL_ALL_GATHER, elements * width, err);
    if (comm < 0)
        return -1;
    program_collective_on(&b->step->program, STREAM_SHARD, PART_DATA_COMM_EXPOSED,
                          b->fw->dispatch_optimizer_s, comm, b->last_kernel);
    return 0;
}

/* Optimizer states sharded over whole parameters: each rank updates its part, and all
 * gather the rest. */
int shard_gather_updated(struct builder *b, struct err *err)
{
    const struct parallelism *p = &b->s->parallel;
    bool sharded =
        p->sharding == SHARDING_OPTIMIZER || p->sharding == SHARDING_GRADIENTS;
    if (!sharded || p->shard_degree <= 1)
        return 0;
    double experts = (double)build_experts(b);
    double others = (double)op_list_parameters(&b->list) - experts;
    if (gather_updated(b, CHANNEL_SHARD, others, err) < 0)
        return -1;
    return experts > 0 && build_expert_ranks(b) > 1
               ? gather_updated(b, CHANNEL_EXPERT_DATA, experts, err)
               : 0;
}
