#include "step/update/shard_units.h"

#include "scenario/libraries.h"
#include "step/replicas.h"

#include <math.h>

int64_t shard_units_window(const struct stage *stage, bool backward)
{
    const struct parallelism *p = &stage->s->parallel;
    bool alone =
        stage->fw->shard.synchronous || (backward && !p->shard.backward_prefetch);
    int64_t ahead = alone ? 1 : p->shard.prefetch + 1;
    return p->shard.in_flight > 0 && p->shard.in_flight < ahead ? p->shard.in_flight
                                                                : ahead;
}

static bool is_shared(const struct stage *stage, const struct op_param *p)
{
    return replicas_of(stage, p) != REPLICAS_EXPERTS ||
           replicas_ranks(stage, REPLICAS_EXPERTS) > 1;
}

static bool is_gathered(const struct stage *stage, const struct op_param *p)
{
    return is_shared(stage, p) && !states_persists(stage->s, p->elements);
}

bool shard_units_nest(const struct stage *stage)
{
    return stage->s->parallel.shard.adapter_units && stage->s->parallel.pipeline == 1 &&
           stage->s->training.lora.rank > 0;
}

bool shard_units_alone(const struct stage *stage, const struct op_param *p)
{
    return p->adapter && !p->expert && shard_units_nest(stage);
}

/* Elements of the width of products that take as many bytes to gather. */
static double gathered(const struct stage *stage, const struct op_param *p)
{
    double width_B = stage_width_B(stage);
    bool narrow = p->frozen && p->stored_B > 0 && p->stored_B < width_B;
    return (double)p->elements * (narrow ? p->stored_B / width_B : 1);
}

double shard_units_persistent(const struct stage *stage, enum replica_group h,
                              bool frozen)
{
    double n = 0;
    for (int32_t i = 0; i < stage->list.n_blocks; i++)
        for (int32_t k = 0; k < stage->list.blocks[i].n_params; k++) {
            const struct op_param *p = &stage->list.blocks[i].params[k];
            if (replicas_of(stage, p) == h && is_shared(stage, p) &&
                !is_gathered(stage, p) && (frozen || !p->frozen))
                n += (double)stage->list.blocks[i].repeat * gathered(stage, p);
        }
    return n;
}

static void add_gathered(const struct stage *stage, const struct op_block *block,
                         struct unit *v)
{
    for (int32_t i = 0; i < block->n_params; i++) {
        const struct op_param *p = &block->params[i];
        if (shard_units_alone(stage, p))
            continue;
        double n = is_shared(stage, p) ? gathered(stage, p) : 0;
        double experts = replicas_of(stage, p) == REPLICAS_EXPERTS ? n : 0;
        v->summed += p->frozen ? 0 : n;
        v->summed_experts += p->frozen ? 0 : experts;
        v->elements += is_gathered(stage, p) ? n : 0;
        v->experts += is_gathered(stage, p) ? experts : 0;
    }
    v->graded |= block->n_backward > 0;
}

/* The unit's parameters come and go together. */
static void gather_whole(struct unit *v)
{
    v->live = v->elements;
    v->held = v->summed;
    v->tensors = 1;
    v->first[AHEAD] = (struct gathers) { 1, v->elements };
}

static void add_gather(struct gathers g[TIMINGS], bool ahead, double elements)
{
    g[ahead ? AHEAD : IN_THE_OPEN].n++;
    g[ahead ? AHEAD : IN_THE_OPEN].elements += elements;
}

/* Tensor i of n of a block is gathered by itself, and ahead if what lies before it
 * leaves room (MODEL.md, R8.1). `after`: elements of the block after it. */
static void add_tensor(const struct stage *stage, struct unit *v, const double *sizes,
                       int32_t i, int32_t n, double after)
{
    const struct parallelism *p = &stage->s->parallel;
    double limit = shard_units_window(stage, false) <= 1 ? 0
                   : p->shard.live_elements > 0 ? (double)p->shard.live_elements
                                                : HUGE_VAL;
    double before = sizes[(i + n - 1) % n], next = sizes[(i + 1) % n];
    bool full = stage->s->training.checkpointing == CHECKPOINT_FULL;
    add_gather(v->first, before < limit, sizes[i]);
    if (full && p->shard.reuse_elements > 0 && i + 1 < n &&
        2 * after > (double)p->shard.reuse_elements)
        add_gather(v->again, next < limit, sizes[i]);
    v->live = fmax(v->live, sizes[i] + (before < limit ? before : 0));
    v->held = fmax(v->held, fmax(sizes[i], (double)p->shard.bucket_elements));
    v->tensors++;
}

static void list_tensors_of(const struct stage *stage, const struct op_block *block,
                            struct unit *v)
{
    double *sizes = ARENA_ARRAY(stage->arena, block->n_params, double);
    double after = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < block->n_params; i++)
        if (is_gathered(stage, &block->params[i]))
            sizes[n++] = gathered(stage, &block->params[i]);
    for (int32_t i = n - 1; i >= 0; i--) {
        add_tensor(stage, v, sizes, i, n, after);
        after += sizes[i];
    }
}

static void list_tensors(const struct stage *stage, const struct chunk_slices *c,
                         struct units *u)
{
    int32_t at = 0;
    for (int32_t i = 0; i < u->n; i++) {
        struct unit *v = &u->v[i];
        v->live = v->held = v->tensors = 0;
        v->first[AHEAD] = (struct gathers) { 0 };
    }
    for (int32_t i = 0; i < c->n; i++)
        for (int64_t k = 0; k < c->v[i].repeat; k++, at++)
            list_tensors_of(stage, &stage->list.blocks[c->v[i].block],
                            &u->v[u->of[at]]);
    for (int32_t i = 0; i < u->n; i++) {
        u->v[i].live = fmin(u->v[i].live, u->v[i].elements);
        u->v[i].held =
            fmin(fmax(u->v[i].held, (double)stage->s->parallel.shard.bucket_elements),
                 u->v[i].summed);
        if (u->v[i].tensors == 0 && u->v[i].summed > 0) /* small ones alone: together */
            u->v[i].tensors = 1;
    }
}

/* The gradients of the blocks after the last layer are a unit's, which is gathered with
 * the root. */
static void part_head(const struct stage *stage, const struct chunk_slices *c,
                      struct units *u)
{
    struct unit *root = &u->v[UNIT_ROOT], *head = &u->v[u->n];
    int32_t at = u->n_blocks, i = c->n;
    for (; i > 0 && !op_block_is_layer(&stage->list.blocks[c->v[i - 1].block]); i--)
        for (int64_t k = 0; k < c->v[i - 1].repeat; k++) {
            u->of[--at] = u->n;
            add_gathered(stage, &stage->list.blocks[c->v[i - 1].block], head);
        }
    if (i == 0 || head->summed <= 0) { /* no layers, or nothing to scatter */
        for (; at < u->n_blocks; at++)
            u->of[at] = UNIT_ROOT;
        *head = (struct unit) { 0 };
        return;
    }
    root->summed -= head->summed;
    root->summed_experts -= head->summed_experts;
    head->elements = head->experts = 0;
    u->n++;
}

static void list_units(const struct stage *stage, const struct chunk_slices *c,
                       struct units *u)
{
    int64_t each = stage->s->parallel.shard.unit_layers;
    int32_t at = 0;
    u->n = 1;
    for (int32_t i = 0; i < c->n; i++) {
        const struct op_block *block = &stage->list.blocks[c->v[i].block];
        for (int64_t k = 0; k < c->v[i].repeat; k++, at++) {
            bool layer = op_block_is_layer(block);
            if (layer && (each <= 1 || k % each == 0))
                u->n++;
            u->of[at] = layer ? u->n - 1 : UNIT_ROOT;
            add_gathered(stage, block, &u->v[u->of[at]]);
        }
    }
    if (library_of(&stage->s->parallel)->reduces_head)
        part_head(stage, c, u);
    for (int32_t i = 0; i < u->n; i++)
        gather_whole(&u->v[i]);
    if (stage->fw->shard.tensors)
        list_tensors(stage, c, u);
}

void shard_units_forget_ends(struct units_state *u)
{
    for (int32_t i = 0; i < TURNS; i++)
        u->ends[i] = -1;
    u->n_awaited = u->n_dropped;
}

void shard_units_list(const struct stage *stage, int32_t chunk, struct units *u)
{
    const struct chunk_slices *c = &stage->chunks[chunk];
    for (int32_t i = 0; i < c->n; i++)
        u->n_blocks += (int32_t)c->v[i].repeat;
    u->v = ARENA_ARRAY(stage->arena, u->n_blocks + 2, struct unit);
    u->of = ARENA_ARRAY(stage->arena, u->n_blocks, int32_t);
    list_units(stage, c, u);
}

struct units_state shard_units_begin(struct arena *arena, const struct units *u)
{
    struct units_state state = { .units = u };
    state.v = ARENA_ARRAY(arena, u->n, struct unit_state);
    for (int32_t i = 0; i < u->n; i++)
        state.v[i] =
            (struct unit_state) { .unit = &u->v[i], .gather = -1, .regather = -1 };
    shard_units_forget_ends(&state);
    return state;
}
