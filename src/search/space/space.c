#include "search/space/space.h"

#include <inttypes.h>
#include <stdio.h>

#include "hardware/domain.h"
#include "scenario/libraries.h"
#include "search/space/forms.h"
#include "search/space/layout.h"

/* clang-format off */
const struct name_value space_field_names[] = {
    { "instance", SPACE_INSTANCE }, { "count", SPACE_COUNT },
    { "gpus_per_instance", SPACE_GPUS }, { "library", SPACE_LIBRARY },
    { "tensor", SPACE_TENSOR }, { "pipeline", SPACE_PIPELINE },
    { "context", SPACE_CONTEXT }, { "expert", SPACE_EXPERT }, { "data", SPACE_DATA },
    { "optimize", SPACE_OPTIMIZE }, { "micro_batch_size", SPACE_MICRO },
    { "microbatches", SPACE_MICROBATCHES }, { "schedule", SPACE_SCHEDULE },
    { "virtual_stages", SPACE_VIRTUAL }, { "sequence_parallel", SPACE_SEQUENCE },
    { "overlap_tensor", SPACE_OVERLAP }, { "sharding", SPACE_SHARDING },
    { "sharding_degree", SPACE_DEGREE }, { "offload", SPACE_OFFLOAD },
    { "activation_checkpointing", SPACE_CHECKPOINTING },
    { "placement", SPACE_PLACEMENT }, { "bucket_size", SPACE_BUCKET }, { NULL, 0 },
};
/* clang-format on */

/* Rules: each sees the digits up to its own ---------------------------------------- */

static bool has_bit(uint32_t bits, int64_t i)
{
    return i < 32 && (bits >> i & 1);
}

static const struct space_stack *stack_of(const struct space_point *p)
{
    return &space_stacks[p->v[SPACE_LIBRARY]];
}

static const struct library_row *row_of(const struct space_point *p)
{
    return stack_of(p)->row;
}

static const struct instance *instance_of(const struct space *s,
                                          const struct space_point *p)
{
    return s->instances[p->v[SPACE_INSTANCE]].instance;
}

/* A field that means nothing here: its first value represents all. */
static bool first_only(const struct space_point *p, enum space_field f)
{
    return p->at[f] == 0;
}

static bool instance_rule(const struct space *s, struct space_point *p)
{
    return instance_of(s, p)->gpu->peak_flops[op_compute_dtype(s->precision)] > 0;
}

static bool count_rule(const struct space *s, struct space_point *p)
{
    return p->v[SPACE_COUNT] == 1 || instance_of(s, p)->n_nics > 0;
}

static bool gpus_rule(const struct space *s, struct space_point *p)
{
    int64_t most = instance_of(s, p)->n_gpus;
    if (p->v[SPACE_GPUS] == 0)
        p->v[SPACE_GPUS] = most;
    p->joined = domain_shape_of(instance_of(s, p), p->v[SPACE_COUNT]).hosts;
    p->world = s->fixed_world ? s->fixed_world : p->v[SPACE_COUNT] * p->v[SPACE_GPUS];
    return p->v[SPACE_GPUS] <= most;
}

static bool library_rule(const struct space *s, struct space_point *p)
{
    return space_stack_runs_on(stack_of(p), instance_of(s, p)->name);
}

static bool tensor_rule(const struct space *s, struct space_point *p)
{
    const struct model *m = s->model;
    int64_t t = p->v[SPACE_TENSOR];
    if (t == 1)
        return true;
    return row_of(p)->tensor && !s->quantized && !m->attention.latent_kv &&
           !model_is_whole(m) && p->world % t == 0 && m->attention.heads % t == 0 &&
           m->attention.kv_heads % t == 0 && m->attention.q_width % t == 0 &&
           m->mlp.width % t == 0;
}

static bool pipeline_rule(const struct space *s, struct space_point *p)
{
    int64_t n = p->v[SPACE_PIPELINE];
    return n == 1 ||
           (row_of(p)->pipeline && !model_is_whole(s->model) && !s->one_stage &&
            n <= s->layers && p->world % (p->v[SPACE_TENSOR] * n) == 0);
}

static bool context_rule(const struct space *s, struct space_point *p)
{
    int64_t c = p->v[SPACE_CONTEXT];
    int64_t model = p->v[SPACE_TENSOR] * p->v[SPACE_PIPELINE];
    if (p->world % (model * c) != 0 || (c > 1 && model_is_whole(s->model)))
        return false;
    p->ranks = p->world / model;
    p->data = p->ranks / c;
    return c == 1 || (row_of(p)->context && s->sequence % (2 * c) == 0);
}

static bool expert_rule(const struct space *s, struct space_point *p)
{
    int64_t e = p->v[SPACE_EXPERT];
    return e == 1 || (row_of(p)->expert && s->model->mlp.experts > 0 &&
                      s->model->mlp.experts % e == 0 && p->ranks % e == 0);
}

static bool data_rule(const struct space *s, struct space_point *p)
{
    (void)s;
    return p->v[SPACE_DATA] == 0 || p->v[SPACE_DATA] == p->data;
}

static bool optimize_rule(const struct space *s, struct space_point *p)
{
    (void)s;
    return (stack_of(p)->optimize && p->v[SPACE_TENSOR] > 1) ||
           first_only(p, SPACE_OPTIMIZE);
}

static bool micro_rule(const struct space *s, struct space_point *p)
{
    int64_t each = p->v[SPACE_MICRO] * p->data;
    p->pieces = s->global_batch / each;
    return s->global_batch % each == 0;
}

static bool microbatches_rule(const struct space *s, struct space_point *p)
{
    (void)s;
    int64_t n = p->v[SPACE_MICROBATCHES];
    bool pipelined = p->v[SPACE_PIPELINE] > 1;
    if (pipelined && n && n != p->pieces && row_of(p)->fills_once)
        return false;
    p->microbatches = n ? n : pipelined ? p->pieces : 1;
    p->accumulation = p->pieces / p->microbatches;
    return p->accumulation > 0 && p->pieces % p->microbatches == 0;
}

static bool schedule_rule(const struct space *s, struct space_point *p)
{
    enum schedule schedule = (enum schedule)p->v[SPACE_SCHEDULE];
    if (p->v[SPACE_PIPELINE] == 1)
        return first_only(p, SPACE_SCHEDULE);
    return has_bit(row_of(p)->schedules, p->v[SPACE_SCHEDULE]) &&
           !(s->frozen && parallelism_schedule(schedule)->splits);
}

static bool virtual_rule(const struct space *s, struct space_point *p)
{
    int64_t v = p->v[SPACE_VIRTUAL], n = p->v[SPACE_PIPELINE];
    const struct schedule_traits *t =
        parallelism_schedule((enum schedule)p->v[SPACE_SCHEDULE]);
    if (n == 1 || !t->chunks)
        return v == 1;
    bool even = s->layers % (n * v) == 0 || space_layout_holds(s, p) ||
                (s->layers % n != 0 && space_layout_spreads(s, p));
    return v > 1 && (v == 2 || !t->folds) && even &&
           (!t->rounds || p->microbatches % n == 0) &&
           (!t->fills || p->microbatches >= n * v);
}

static bool sequence_rule(const struct space *s, struct space_point *p)
{
    int64_t t = p->v[SPACE_TENSOR];
    return !p->v[SPACE_SEQUENCE] || (t > 1 && row_of(p)->sequence_parallel &&
                                     s->sequence % (t * p->v[SPACE_CONTEXT]) == 0);
}

/* Megatron-LM's and torchtitan's need sequence parallelism (megatron/training/
 * arguments.py; torchtitan's parallelize_llama.py). */
static bool overlap_rule(const struct space *s, struct space_point *p)
{
    return !p->v[SPACE_OVERLAP] ||
           (p->v[SPACE_SEQUENCE] && has_bit(s->asked_stacks, p->v[SPACE_LIBRARY]));
}

uint32_t space_shardings(const struct space *s, const struct space_stack *stack)
{
    bool bf16_smp1 = stack->dialect == DIALECT_SMP1 && s->precision == OP_BF16;
    return bf16_smp1 ? 1U << SHARDING_FULL : stack->row->shardings & ~stack->unplanned;
}

static bool sharding_rule(const struct space *s, struct space_point *p)
{
    const struct space_stack *stack = stack_of(p);
    int64_t how = p->v[SPACE_SHARDING];
    bool pipelined = p->v[SPACE_PIPELINE] > 1;
    if (!has_bit(space_shardings(s, stack), how))
        return false;
    if (stack->dialect == DIALECT_SMP2 && p->v[SPACE_CONTEXT] > 1 &&
        how != SHARDING_FULL) /* context_parallel_degree divides hybrid_shard_degree */
        return false;
    bool asked = s->given[SPACE_SHARDING] && !pipelined;
    if (p->ranks == 1) /* whatever the library divides is whole */
        return how == SHARDING_NONE || (has_bit(stack->unplanned, SHARDING_NONE) &&
                                        (asked || how == SHARDING_FULL));
    return !pipelined || has_bit(stack->row->pipeline_shardings, how);
}

static bool degree_rule(const struct space *s, struct space_point *p)
{
    (void)s;
    int64_t d = p->v[SPACE_DEGREE];
    if (d == 0)
        return true;
    if (stack_of(p)->dialect == DIALECT_SMP2 && d % p->v[SPACE_CONTEXT] != 0)
        return false;
    return row_of(p)->part_shards && p->v[SPACE_SHARDING] == SHARDING_FULL && d > 1 &&
           d < p->ranks && p->ranks % d == 0;
}

static bool offload_rule(const struct space *s, struct space_point *p)
{
    (void)s;
    int64_t how = p->v[SPACE_OFFLOAD];
    if (how == OFFLOAD_NONE)
        return true;
    return has_bit(row_of(p)->offloads, how) && p->v[SPACE_PIPELINE] == 1 &&
           p->v[SPACE_SHARDING] != SHARDING_NONE &&
           (how != OFFLOAD_PARAMETERS || p->v[SPACE_SHARDING] == SHARDING_FULL);
}

static bool checkpointing_rule(const struct space *s, struct space_point *p)
{
    int64_t value = p->v[SPACE_CHECKPOINTING];
    int shape = (p->v[SPACE_TENSOR] > 1 ? SPACE_SHAPE_TENSOR : 0) +
                (p->v[SPACE_PIPELINE] > 1 ? SPACE_SHAPE_PIPELINE : 0);
    bool fused = has_bit(s->fused_stacks[shape], p->v[SPACE_LIBRARY]);
    if (fused && value == CHECKPOINT_SELECTIVE && !s->given[SPACE_CHECKPOINTING])
        return false;
    if (shape && value == CHECKPOINT_SELECTIVE && stack_of(p)->split_selective)
        return true;
    enum checkpointing how = space_form_of(value).how;
    return has_bit(stack_of(p)->checkpoints,
                   how == CHECKPOINT_GROUP ? CHECKPOINT_FULL : how);
}

/* The order of the letters whose degree is not 1, as a number: from the innermost up to
 * those that fill whole nodes, which are all alike, so that it does not matter how the
 * rest goes over them. */
static int order_of(const struct space *s, const struct space_point *p,
                    int64_t placement)
{
    const char *order = space_placements[placement];
    int code = 0;
    int64_t filled = 1;
    for (int i = 2; i >= 0 && (s->fixed_world || filled % p->v[SPACE_GPUS]); i--) {
        char c = order[i];
        int64_t degree = c == 'D'   ? p->ranks
                         : c == 'P' ? p->v[SPACE_PIPELINE]
                                    : p->v[SPACE_TENSOR];
        filled *= degree;
        if (degree > 1)
            code = code * 4 + (c == 'D' ? 1 : c == 'P' ? 2 : 3);
    }
    return code;
}

/* Of those that are alike the library's own is taken, else the first. */
static bool placement_rule(const struct space *s, struct space_point *p)
{
    uint32_t can = stack_of(p)->placements;
    int64_t mine = p->v[SPACE_PLACEMENT], own = space_stack_placement(stack_of(p));
    if (!has_bit(can, mine) && !s->given[SPACE_PLACEMENT])
        return false;
    int order = order_of(s, p, mine);
    for (int i = 0; i < s->n[SPACE_PLACEMENT] && mine != own; i++) {
        int64_t other = s->values[SPACE_PLACEMENT][i];
        bool allowed = has_bit(can, other) || s->given[SPACE_PLACEMENT];
        bool before = other == own || i < p->at[SPACE_PLACEMENT];
        if (allowed && before && order_of(s, p, other) == order)
            return false;
    }
    return true;
}

static bool bucket_rule(const struct space *s, struct space_point *p)
{
    (void)s;
    return (stack_of(p)->bucket && p->ranks > 1) || first_only(p, SPACE_BUCKET);
}

typedef bool rule(const struct space *s, struct space_point *p);
static rule *const rules[SPACE_N] = {
    [SPACE_INSTANCE] = instance_rule,   [SPACE_COUNT] = count_rule,
    [SPACE_GPUS] = gpus_rule,           [SPACE_LIBRARY] = library_rule,
    [SPACE_TENSOR] = tensor_rule,       [SPACE_PIPELINE] = pipeline_rule,
    [SPACE_CONTEXT] = context_rule,     [SPACE_EXPERT] = expert_rule,
    [SPACE_DATA] = data_rule,           [SPACE_OPTIMIZE] = optimize_rule,
    [SPACE_MICRO] = micro_rule,         [SPACE_MICROBATCHES] = microbatches_rule,
    [SPACE_SCHEDULE] = schedule_rule,   [SPACE_VIRTUAL] = virtual_rule,
    [SPACE_SEQUENCE] = sequence_rule,   [SPACE_OVERLAP] = overlap_rule,
    [SPACE_SHARDING] = sharding_rule,   [SPACE_DEGREE] = degree_rule,
    [SPACE_OFFLOAD] = offload_rule,     [SPACE_CHECKPOINTING] = checkpointing_rule,
    [SPACE_PLACEMENT] = placement_rule, [SPACE_BUCKET] = bucket_rule,
};

static const char *const rule_texts[SPACE_N] = {
    [SPACE_INSTANCE] = "its GPUs compute in the precision that is asked for",
    [SPACE_COUNT] = "several instances need a network",
    [SPACE_GPUS] = "an instance has as many GPUs",
    [SPACE_LIBRARY] = "the library runs on the instance",
    [SPACE_CONTEXT] =
        "it divides the GPUs of a model's replica, twice it the sequence, and "
        "the library has it",
    [SPACE_EXPERT] = "it divides the experts and the ranks, and the library has it",
    [SPACE_DATA] = "it is what the other degrees leave of the GPUs",
    [SPACE_OPTIMIZE] = "the library has it, with tensor parallelism",
    [SPACE_MICROBATCHES] = "it divides the microbatches of a step",
    [SPACE_SCHEDULE] =
        "the library has that schedule, frozen weights fill no bubbles, and without "
        "stages there is none",
    [SPACE_VIRTUAL] =
        "virtual stages divide the layers of an interleaved pipeline, whose "
        "microbatches fill it",
    [SPACE_SEQUENCE] =
        "it needs tensor parallelism, a library that has it, and a sequence "
        "that the degrees divide",
    [SPACE_OVERLAP] =
        "it needs sequence parallelism and a library that does so where it is asked to",
    [SPACE_SHARDING] = "the library shards so, and stages as far as that",
    [SPACE_DEGREE] =
        "it divides the data-parallel ranks of a library that shards fully "
        "over part of them",
    [SPACE_OFFLOAD] = "the library offloads that, of sharded states, without stages",
    [SPACE_CHECKPOINTING] = "the library has that checkpointing",
    [SPACE_PLACEMENT] = "the library lays ranks out so, unlike those before it",
    [SPACE_BUCKET] = "the library has buckets",
};

const char *space_rule_text(const struct space *s, enum space_field f, char *buf,
                            size_t size)
{
    const struct model *m = s->model;
    if (f == SPACE_TENSOR)
        snprintf(buf, size,
                 "it divides the GPUs, %" PRId64 " attention heads, %" PRId64
                 " key-value heads and the "
                 "feed-forward width %" PRId64 ", and the library has it",
                 (int64_t)m->attention.heads, (int64_t)m->attention.kv_heads,
                 (int64_t)m->mlp.width);
    else if (f == SPACE_PIPELINE)
        snprintf(buf, size,
                 "with the tensor degree it divides the GPUs, is at most the %" PRId64
                 " layers, "
                 "and the library has it",
                 (int64_t)s->layers);
    else if (f == SPACE_MICRO)
        snprintf(buf, size,
                 "times the data-parallel degree it divides %" PRId64 " %s a step",
                 (int64_t)s->global_batch, s->batch_of);
    else
        snprintf(buf, size, "%s", rule_texts[f]);
    return buf;
}

/* The counter ---------------------------------------------------------------------- */

static bool set_digit(const struct space *s, struct space_point *p, int field,
                      int32_t digit)
{
    p->at[field] = (uint16_t)digit;
    p->v[field] = s->values[field][digit];
    return rules[field](s, p);
}

double space_size(const struct space *s)
{
    double n = 1;
    for (int f = 0; f < SPACE_N; f++)
        n *= s->n[f];
    return n;
}

int64_t space_slices(const struct space *s)
{
    int64_t n = 1;
    for (int f = 0; f < SPACE_PREFIX; f++)
        n *= s->n[f];
    return n;
}

void space_iter_init(struct space_iter *it, const struct space *s, int64_t slice)
{
    *it = (struct space_iter) { .space = s, .first = SPACE_PREFIX };
    int32_t digits[SPACE_PREFIX];
    for (int f = SPACE_PREFIX - 1; f >= 0; f--) {
        digits[f] = (int32_t)(slice % s->n[f]);
        slice /= s->n[f];
    }
    it->depth = it->first;
    for (int f = 0; f < SPACE_PREFIX; f++) {
        it->checked++;
        if (!set_digit(s, &it->p, f, digits[f])) {
            it->refused = f;
            it->depth = -1; /* nothing in it */
            return;
        }
    }
}

bool space_next(struct space_iter *it)
{
    const struct space *s = it->space;
    int depth = it->depth;
    while (depth >= it->first) {
        int32_t digit = it->next[depth]++;
        if (digit >= s->n[depth]) {
            it->next[depth--] = 0;
            continue;
        }
        it->checked++;
        if (!set_digit(s, &it->p, depth, digit)) {
            it->refused = depth > it->refused ? depth : it->refused;
            continue;
        }
        if (depth == SPACE_N - 1) {
            it->depth = depth;
            return true;
        }
        depth++;
    }
    it->depth = -1;
    return false;
}

bool space_fill(const struct space *s, struct space_point *p)
{
    for (int f = 0; f < SPACE_N; f++)
        if (!set_digit(s, p, f, p->at[f]))
            return false;
    return true;
}

int space_compare(const struct space_point *a, const struct space_point *b)
{
    for (int f = 0; f < SPACE_N; f++)
        if (a->at[f] != b->at[f])
            return a->at[f] < b->at[f] ? -1 : 1;
    return 0;
}
