#include "step/reps.h"

#include "hardware/sites.h"
#include "scenario/libraries.h"
#include "step/model_group.h"
#include "step/pipeline/schedule.h"
#include "step/stage.h"

#include <inttypes.h>

enum {
    UNFOLDED_RANKS_MAX = 65536,
    UNEVEN_RANKS_MAX = 64,    /* all simulated where groups straddle instances ... */
    UNEVEN_INSTANCES_MAX = 8, /* ... and of so many instances, however large */
    UNLIKE_RANKS_MAX = 512    /* all simulated where groups lie unlike on the wires */
};

static const struct gpu *gpu_of(const struct scenario *s, int64_t rank)
{
    const struct cluster_group *k = s->cluster.groups;
    for (; rank >= k->count * k->gpus_per_instance; k++)
        rank -= k->count * k->gpus_per_instance;
    return k->instance->gpu;
}

/* Whether equal ranks are equal by symmetry: groups of one cluster group, or data
 * parallelism alone, and no switches between the nodes that some of them share. */
static bool folds(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    if (sites_tiers_act(&s->cluster))
        return false;
    return cluster_is_uniform(&s->cluster) ||
           (p->pipeline == 1 && p->tensor == 1 && p->context == 1 && p->expert == 1 &&
            p->shard.strategy == SHARDING_NONE);
}

/* Ranks that lie otherwise than the first of their stage meet something else: each is
 * simulated while they are few. */
static bool is_small_and_unlike(const struct reps *reps)
{
    const struct cluster *c = reps->groups.cluster;
    if (!cluster_is_uniform(c))
        return false;
    if (!groups_are_even(&reps->groups))
        return c->n_gpus <= UNEVEN_RANKS_MAX || c->n_instances <= UNEVEN_INSTANCES_MAX;
    return c->n_gpus <= UNLIKE_RANKS_MAX && !groups_lie_alike(&reps->groups);
}

static int make_nets(struct reps *reps, const struct scenario *s, bool unfold,
                     struct err *err)
{
    const struct cluster *c = &s->cluster;
    reps->folded =
        net_new_classes(c, reps->groups.n_classes, reps->groups.class_of, err);
    if (!reps->folded)
        return -1;
    if (!unfold) {
        reps->net = reps->folded;
        return 0;
    }
    if (c->n_gpus > UNFOLDED_RANKS_MAX)
        return err_set(
            err, "%" PRId64 " ranks are too many to simulate each (%s, or at most %d)",
            (int64_t)c->n_gpus,
            folds(s) ? "leave --unfold out"
            : sites_tiers_act(c)
                ? "leave out \"tiers\", whose switches are unlike for each"
                : "write a cluster of one group, which is folded",
            UNFOLDED_RANKS_MAX);
    reps->net = net_new(c, false, err);
    return reps->net ? 0 : -1;
}

/* The ranks whose steps are built: the first of each stage and cluster group. */
static void choose_steps(struct reps *reps, struct arena *arena,
                         const struct scenario *s, int64_t **firsts)
{
    const struct cluster *c = &s->cluster;
    const struct layout *l = &reps->groups.layout;
    int64_t most = l->pipeline * c->n_groups, from = 0;
    reps->steps = ARENA_ARRAY(arena, most, struct step);
    reps->gpus = ARENA_ARRAY(arena, most, const struct gpu *);
    reps->stages = ARENA_ARRAY(arena, most, int64_t);
    *firsts = ARENA_ARRAY(arena, most, int64_t);
    for (int32_t g = 0; g < c->n_groups; g++) {
        int64_t n = c->groups[g].count * c->groups[g].gpus_per_instance;
        for (int64_t p = 0; p < l->pipeline; p++) {
            int64_t rank = p * l->stride_p;
            if (c->n_groups > 1) /* the first of the stage among the group's ranks */
                for (rank = from;
                     rank < from + n && groups_stage(&reps->groups, rank) != p;)
                    rank++;
            if (c->n_groups > 1 && rank == from + n)
                continue;
            (*firsts)[reps->n_steps] = rank;
            reps->gpus[reps->n_steps] = c->groups[g].instance->gpu;
            reps->stages[reps->n_steps++] = p;
        }
        from += n;
    }
}

static struct schedule_request schedule_of(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    return (struct schedule_request) {
        .kind = p->stages.schedule,
        .stages = p->pipeline,
        .chunks = p->stages.virtual_stages,
        .microbatches = s->training.microbatches,
        .all_first = library_of(p)->interleaves_all_first,
        .active = p->stages.active_microbatches,
        .paced = p->stages.forward_policy == FORWARD_PACED,
        .pairs = p->dispatch.overlap == EXPERT_OVERLAP_MICROBATCHES,
        .defers = p->stages.deferred_wgrads > 0,
        .uneven = s->model.layers % (p->pipeline * p->stages.virtual_stages) != 0,
    };
}

/* What is kept on the host is read and written in an order of its own. */
static bool offloads(const struct parallelism *p)
{
    return p->offload_activations || p->offload_modules || p->offload_layers;
}

int64_t reps_shorter(const struct scenario *s, int attempt)
{
    const struct schedule_request q = schedule_of(s);
    if (q.stages == 1 || s->training.accumulation > 1 || group_keeps_outputs(s) ||
        (q.kind == SCHEDULE_GPIPE && offloads(&s->parallel)))
        return 0;
    return schedule_shorter(&q, attempt);
}

static int make_orders(struct reps *reps, const struct step_request *q,
                       struct pass_list **orders, struct err *err)
{
    const struct scenario *s = q->s;
    const struct parallelism *p = &s->parallel;
    int64_t message_ps = 0, head_ps[PASS_N] = { 0 };
    int64_t(*times)[PASS_N] =
        arena_alloc(q->arena, (size_t)p->pipeline, sizeof(*times));
    struct schedule_request request = schedule_of(s);
    request.microbatches = q->microbatches;
    *orders = NULL;
    if (p->pipeline == 1)
        return 0;
    bool dynamic = p->stages.schedule == SCHEDULE_SMP_INTERLEAVED;
    request.returns = q->parts->head_returns;
    if (dynamic && request.returns &&
        step_measure(q, 0, 1, gpu_of(s, 0), head_ps, &message_ps, err) < 0)
        return -1;
    for (int64_t i = 0; i < p->pipeline && dynamic; i++)
        if (step_measure(q, i * reps->groups.layout.stride_p, 0, gpu_of(s, 0), times[i],
                         &message_ps, err) < 0)
            return -1;
    request.time_ps = (const int64_t(*)[PASS_N])times;
    request.head_ps = head_ps;
    request.message_ps = message_ps;
    return schedule_make(orders, q->arena, &request, err);
}

/* Which step each simulated rank runs. */
static void assign(struct reps *reps, struct arena *arena, const struct scenario *s,
                   bool unfold, const int64_t *firsts)
{
    reps->n_ranks = unfold ? s->cluster.n_gpus : reps->n_steps;
    reps->programs = ARENA_ARRAY(arena, reps->n_ranks, const struct program *);
    reps->ranks = ARENA_ARRAY(arena, reps->n_ranks, int64_t);
    for (int64_t i = 0; i < reps->n_ranks; i++) {
        int64_t rank = unfold ? i : firsts[i];
        int32_t k = unfold ? 0 : (int32_t)i;
        while (unfold && (reps->stages[k] != groups_stage(&reps->groups, rank) ||
                          reps->gpus[k] != gpu_of(s, rank)))
            k++;
        reps->ranks[i] = rank;
        reps->programs[i] = &reps->steps[k].program;
    }
}

int reps_build(struct reps *reps, struct arena *arena, const struct scenario *s,
               const struct reps_options *options, struct err *err)
{
    struct pass_list *orders;
    struct op_list model;
    struct partition parts;
    struct measured_stage *measured = NULL;
    struct timed_block *timed = NULL;
    int64_t *firsts;
    *reps = (struct reps) { 0 };
    groups_init(&reps->groups, arena, &s->cluster, &s->parallel);
    bool unfold = options->unfold || !folds(s) || is_small_and_unlike(reps);
    if (make_nets(reps, s, unfold, err) < 0)
        return -1;
    if (scenario_op_list(&model, arena, s, err) < 0 ||
        stage_parts(&parts, arena, s, &model, err) < 0)
        return -1;
    struct step_request q = {
        .arena = arena,
        .s = s,
        .net = reps->net,
        .folded = reps->folded,
        .groups = &reps->groups,
        .model = &model,
        .parts = &parts,
        .stages_alike = groups_stages_alike(&reps->groups),
        .measured = &measured,
        .timed = &timed,
        .rings = coll_rings_memo_new(arena),
        .detail = options->detail,
        .whole = options->whole,
        .marks = options->marks,
        .unread = options->unread,
        .microbatches = s->training.microbatches,
    };
    if (options->microbatches > 0) {
        const struct schedule_request order = schedule_of(s);
        q.microbatches = options->microbatches;
        q.left_out = (order.microbatches - q.microbatches) / schedule_period(&order);
    }
    if (options->kept && reps->net == reps->folded) {
        q.kept = options->kept;
        plans_kept_begin(q.kept, &reps->groups);
    }
    choose_steps(reps, arena, s, &firsts);
    if (make_orders(reps, &q, &orders, err) < 0)
        return -1;
    for (int32_t i = 0; i < reps->n_steps; i++)
        if (step_build(&reps->steps[i], &q, firsts[i], reps->gpus[i],
                       orders ? &orders[reps->stages[i]] : NULL, err) < 0)
            return -1;
    assign(reps, arena, s, unfold, firsts);
    return 0;
}

void reps_release(struct reps *reps)
{
    for (int32_t i = 0; i < reps->n_steps; i++)
        step_release(&reps->steps[i]);
    if (reps->net != reps->folded)
        net_free(reps->net);
    net_free(reps->folded);
}
