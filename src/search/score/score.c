#include "search/score/score.h"

#include "base/xmalloc.h"
#include "cost/kernel.h"
#include "scenario/attention.h"
#include "scenario/libraries.h"
#include "search/score/parts.h"
#include "search/space/layout.h"
#include "step/replicas.h"

#include <math.h>
#include <stdlib.h>

struct scorer {
    const struct plan_job *job;
    struct score_comm *comm;
    struct score_layer **layers; /* by digits; NULL: not made yet */
    int64_t n_layers;
    struct arena arena;                      /* of texts that nobody reads */
    struct scenario scratch[SPACE_STACKS_N]; /* the probes, degrees filled in */
};

/* The share of overlapped communication that kernels do not hide: estimates, without a
 * source. Scores are multiplied by what the simulated points say of them
 * (plan_run_learn). */
static const double shard_exposed = 0.05;  /* a layer's gathers and scatters */
static const double context_exposed = 0.3; /* keys and values round a context group */
static const double send_exposed = 0.1;    /* a message whose sender goes on */

static const enum space_field layer_fields[] = { SPACE_INSTANCE, SPACE_LIBRARY,
                                                 SPACE_TENSOR,   SPACE_CONTEXT,
                                                 SPACE_EXPERT,   SPACE_OPTIMIZE,
                                                 SPACE_MICRO,    SPACE_SEQUENCE };
enum { N_LAYER_FIELDS = sizeof(layer_fields) / sizeof(layer_fields[0]), PROFILES = 4 };

struct scorer *scorer_new(const struct plan_job *job)
{
    struct scorer *s = xcalloc(1, sizeof(*s));
    s->job = job;
    arena_init(&s->arena);
    s->comm = score_comm_new(job);
    s->n_layers = PROFILES;
    for (int i = 0; i < N_LAYER_FIELDS; i++)
        s->n_layers *= job->space.n[layer_fields[i]];
    s->layers = xcalloc((size_t)s->n_layers, sizeof(struct score_layer *));
    for (int i = 0; i < SPACE_STACKS_N; i++)
        s->scratch[i] = job->stacks[i].probe;
    return s;
}

void scorer_free(struct scorer *s)
{
    for (int64_t i = 0; i < s->n_layers; i++)
        free(s->layers[i]);
    free(s->layers);
    score_comm_free(s->comm);
    arena_release(&s->arena);
    free(s);
}

/* Whether tensor or pipeline parallelism splits the model; whether it is fully sharded:
 * the profile's place. */
static int profile_of(const struct space_point *p)
{
    bool split = p->v[SPACE_TENSOR] > 1 || p->v[SPACE_PIPELINE] > 1;
    return 2 * split + (p->v[SPACE_SHARDING] == SHARDING_FULL);
}

static const struct score_layer *layer_of(struct scorer *s, const struct space_point *p)
{
    int64_t at = profile_of(p);
    for (int i = 0; i < N_LAYER_FIELDS; i++)
        at = at * s->job->space.n[layer_fields[i]] + p->at[layer_fields[i]];
    if (s->layers[at])
        return s->layers[at];
    struct score_layer *l = s->layers[at] = xcalloc(1, sizeof(*l));
    struct scenario *x = &s->scratch[p->v[SPACE_LIBRARY]];
    int64_t t = p->v[SPACE_TENSOR];
    x->parallel.tensor = t;
    x->parallel.pipeline = p->v[SPACE_PIPELINE];
    x->parallel.data = x->parallel.replicas = 1;
    x->parallel.split.sequence_parallel = p->v[SPACE_SEQUENCE] != 0;
    x->training.micro_batch_size = p->v[SPACE_MICRO];
    x->training.sequence_length = s->job->space.sequence;
    x->parallel.context = p->v[SPACE_CONTEXT];
    x->parallel.expert = p->v[SPACE_EXPERT];
    if (s->job->pads_vocabulary)
        x->training.vocab_padding = x->model.ends.vocab % t != 0 ? 128 * t : 0;
    const struct gpu *gpu = s->job->space.instances[p->v[SPACE_INSTANCE]].instance->gpu;
    x->training.attention = attention_on(x, gpu, &s->arena).kernel;
    score_layer_make(l, x, gpu);
    return l;
}

/* Groups --------------------------------------------------------------------------- */

/* Ranks between neighbours of a letter's group. */
static int64_t stride_of(const struct space_point *p, char letter)
{
    int64_t stride = 1;
    const char *order = space_placements[p->v[SPACE_PLACEMENT]];
    for (int i = 2; i >= 0 && order[i] != letter; i--)
        stride *= order[i] == 'D'   ? p->ranks
                  : order[i] == 'P' ? p->v[SPACE_PIPELINE]
                                    : p->v[SPACE_TENSOR];
    return stride;
}

static struct score_group group_of(const struct space_point *p, char letter, int64_t n)
{
    return score_group_of(n, stride_of(p, letter), score_node_gpus(p));
}

/* Ranks that hold the same experts; n of them. */
static double expert_replicas(const struct space_point *p)
{
    return (double)(p->ranks / p->v[SPACE_EXPERT]);
}

static struct score_group expert_group_of(const struct space_point *p, double n)
{
    return score_group_of((int64_t)n, stride_of(p, 'D') * p->v[SPACE_EXPERT],
                          score_node_gpus(p));
}

/* A layer -------------------------------------------------------------------------- */

static double tensor_s(struct scorer *s, const struct space_point *p,
                       const struct score_layer *l)
{
    if (p->v[SPACE_TENSOR] == 1)
        return 0;
    struct score_group g = group_of(p, 'T', p->v[SPACE_TENSOR]);
    bool smp1 = space_stacks[p->v[SPACE_LIBRARY]].dialect == DIALECT_SMP1;
    if (smp1 && p->v[SPACE_OPTIMIZE] == 0) /* 9 T reduce-scattered, in few pieces */
        return score_comm_s(s->comm, p, g, COLL_REDUCE_SCATTER, 9 * l->exchange_B);
    return 2 * score_comm_s(s->comm, p, g, COLL_ALL_REDUCE, l->exchange_B);
}

/* Keys and values go round the context group, overlapped with the attention they are
 * for: at the rate of the slowest pair, which is on two nodes where the group is. What
 * takes longer than a layer's kernels is not hidden. */
static double context_s(struct scorer *s, const struct space_point *p,
                        const struct score_layer *l)
{
    const struct model *m = s->job->space.model;
    double c = (double)p->v[SPACE_CONTEXT];
    if (c <= 1)
        return 0;
    double kv_B = 2 * l->exchange_B * (double)m->attention.kv_heads /
                  (double)m->attention.heads / (double)p->v[SPACE_TENSOR];
    struct score_group two = group_of(p, 'D', 2), apart = { 1, 1, 2 };
    double send_s = score_comm_s(s->comm, p, two, COLL_SENDRECV, kv_B);
    if (group_of(p, 'D', p->v[SPACE_CONTEXT]).nodes > 1)
        send_s = fmax(send_s, score_comm_s(s->comm, p, apart, COLL_SENDRECV, kv_B));
    double ring_s = (c - 1) * send_s;
    return fmax(context_exposed * ring_s, ring_s - l->gpu_s[0]);
}

static double expert_s(struct scorer *s, const struct space_point *p,
                       const struct score_layer *l)
{
    if (p->v[SPACE_EXPERT] == 1)
        return 0;
    struct score_group g = group_of(p, 'D', p->v[SPACE_EXPERT]);
    return 2 * score_comm_s(s->comm, p, g, COLL_ALLTOALL, l->routed_B);
}

/* A layer's passes from the first to the last (forward 0, backward 1; both: computed
 * again, and backward after it) with their collectives: the host issues those of the
 * tensor group too, and its ranks come apart before each. */
static double layer_s(const struct space_point *p, const struct score_sums *u,
                      int first, int last, double comm_s)
{
    const struct framework *fw = u->fw;
    int64_t n = p->v[SPACE_TENSOR];
    double times = n == 1 ? 0 : p->v[SPACE_SEQUENCE] ? 4 : 2;
    double issue_s = u->l->host_factor * framework_collective_dispatch_s(fw, n),
           check_s = framework_check_s(scenario_checks(u->s, fw), n,
                                       group_of(p, 'T', n).nodes > 1);
    double spread = n > 1 ? fw->host.launch_jitter_tensor : fw->host.launch_jitter;
    double beside_s = n > 1 ? comm_s + times * framework_skew_s(fw, n) : 0;
    double host_s = 0, gpu_s = 0, deviation_s = 0;
    for (int pass = first; pass <= last; pass++) {
        double pass_s = u->l->host_s[pass] + times * issue_s;
        host_s += pass_s + times * check_s;
        gpu_s += u->l->gpu_s[pass] + beside_s;
        deviation_s = hypot(deviation_s, spread * pass_s);
    }
    double after_s = n > 1 ? 0 : comm_s * (last - first + 1);
    return score_settle_s(deviation_s, host_s, gpu_s) + after_s;
}

static void sum_layer(struct scorer *s, const struct space_point *p,
                      struct score_sums *u)
{
    const struct score_layer *l = u->l;
    double shown_frac =
        1 - framework_hidden_frac(u->fw, p->v[SPACE_TENSOR], p->v[SPACE_OVERLAP] != 0);
    double comm_s =
        shown_frac * tensor_s(s, p, l) + context_s(s, p, l) + expert_s(s, p, l);
    struct space_form form = space_form_of(p->v[SPACE_CHECKPOINTING]);
    double share =
        space_form_share(&form, u->stage_layers / (double)p->v[SPACE_VIRTUAL]);
    bool half = dtype_bytes(op_compute_dtype(s->job->space.precision)) <= 2;
    double added_B =
        half ? u->fw->gradients.accumulate_16bit_B : u->fw->gradients.accumulate_B;
    if (added_B > 0)
        added_B = fmax(0, added_B + states_sums_wider_B(u->s));
    double ungraded = (double)training_ungraded_forwards(&u->s->training);
    u->forward_s = layer_s(p, u, 0, 0, comm_s) * (1 + ungraded);
    u->backward_s = 0;
    if (share > 0)
        u->backward_s += share * layer_s(p, u, 0, 1, comm_s);
    if (share < 1)
        u->backward_s += (1 - share) * layer_s(p, u, 1, 1, comm_s);
    u->backward_s += space_form_sum(l->region_s, form.modules);
    if (added_B > 0)
        u->backward_s += kernel_stream_s(u->gpu, added_B * l->parameters, kernel_alone);
}

/* Parameters gathered for use and gradients scattered, layer by layer, overlapped with
 * the computation of the layers before; stages of a pipeline do so once (stages_s). */
static void sum_sharding(struct scorer *s, const struct space_point *p,
                         struct score_sums *u)
{
    const struct parallelism_shard *how = &u->s->parallel.shard;
    if (how->strategy != SHARDING_FULL || u->shards <= 1)
        return;
    struct score_group g = group_of(p, 'D', (int64_t)u->shards);
    double each_B = u->whole_B;
    double wire_B = states_wire_B(u->s);
    struct score_group apart = expert_group_of(p, u->expert_shards);
    double shared = u->l->parameters - u->l->experts;
    double gathered_B = each_B * (shared - u->l->persistent) + u->l->frozen_B;
    u->gather_s =
        score_comm_s(s->comm, p, g, COLL_ALL_GATHER, gathered_B) +
        score_comm_s(s->comm, p, apart, COLL_ALL_GATHER, each_B * u->l->experts);
    u->reduce_s =
        score_comm_s(s->comm, p, g, COLL_REDUCE_SCATTER, wire_B * shared) +
        score_comm_s(s->comm, p, apart, COLL_REDUCE_SCATTER, wire_B * u->l->experts);
    if (p->v[SPACE_OFFLOAD] == OFFLOAD_PARAMETERS) {
        double local_B = each_B * u->l->parameters / u->shards;
        u->gather_s += local_B / u->instance->host_pinned_Bps;
        u->reduce_s += local_B / u->instance->host_pinned_Bps;
    }
    if (p->v[SPACE_PIPELINE] > 1)
        return;
    double late = 1 + framework_unit_wait_frac(u->fw, (int64_t)u->shards);
    u->forward_s *= late;
    u->backward_s *= late;
    double forwards = 1 + (double)training_ungraded_forwards(&u->s->training);
    u->forward_s = fmax(u->forward_s, forwards * u->gather_s) +
                   forwards * shard_exposed * u->gather_s;
    double backward_s = (how->reshard ? u->gather_s : 0) + u->reduce_s;
    if (how->backward_prefetch)
        u->backward_s = fmax(u->backward_s, backward_s) + shard_exposed * backward_s;
    else
        u->backward_s += backward_s;
}

/* A step --------------------------------------------------------------------------- */

/* First and last stage, which share the words. Within a node as neighbours: their pairs
 * do not get in each other's way, as all pairs so far apart would. */
static struct score_group ends_of(const struct space_point *p)
{
    int64_t stride = stride_of(p, 'P'), apart = stride * (p->v[SPACE_PIPELINE] - 1);
    return score_group_of(2, apart < score_node_gpus(p) ? stride : apart,
                          score_node_gpus(p));
}

/* Whether stages that have several chunks wait for their next one: fewer microbatches
 * than stages go round, which looped schedules allow. */
static bool goes_round(const struct space_point *p)
{
    const struct schedule_traits *t =
        parallelism_schedule((enum schedule)p->v[SPACE_SCHEDULE]);
    return t->chunks && p->microbatches < p->v[SPACE_PIPELINE];
}

/* Messages between stages: those of the first microbatch on its way there and back, and
 * what the others wait for, which is all of it under Megatron. */
static double messages_s(struct scorer *s, const struct space_point *p,
                         const struct score_sums *u)
{
    double m = (double)p->microbatches, n = (double)p->v[SPACE_PIPELINE];
    double v = (double)p->v[SPACE_VIRTUAL], rounds = goes_round(p) ? v : 1;
    bool waits = library_of(&u->s->parallel)->waits_for_sends;
    double send_B = u->l->exchange_B / (double)p->v[SPACE_TENSOR];
    double send_s =
        score_comm_s(s->comm, p, group_of(p, 'P', 2), COLL_SENDRECV, send_B);
    return (2 * (n * rounds - 1) + 2 * (waits ? 1 : send_exposed) * (m - 1) * v) *
           send_s;
}

/* Stages that a microbatch passes one after the other, and the slowest of them, which
 * sets the pace (MODEL.md, R6). */
static double pipeline_s(struct scorer *s, const struct space_point *p,
                         const struct score_sums *u)
{
    double m = (double)p->microbatches, n = (double)p->v[SPACE_PIPELINE];
    double both_s = u->forward_s + u->backward_s, pause_s = u->fw->host.microbatch_s;
    double all_s = u->layers * both_s + u->l->ends_s[0] + u->l->ends_s[1];
    if (n <= 1)
        return (double)p->pieces * (all_s + pause_s);
    double last_s = floor(u->layers / n) * both_s + u->l->ends_s[1];
    double first_s = u->stage_layers * both_s + u->l->ends_s[0];
    bool returns = u->l->word_parameters > 0 &&
                   schedule_is_smp((enum schedule)p->v[SPACE_SCHEDULE]);
    if (returns) { /* to a head next to the embedding, which its partition makes up
                      for */
        last_s -= u->l->ends_s[1];
        first_s = fmax(all_s / n, last_s);
    }
    pause_s += 2 * fmin(n - 1, 2) * u->fw->host.stage_message_s;
    double slowest_s = fmax(first_s, last_s) + pause_s;
    double bubble_s = all_s - fmax(first_s, last_s);
    const struct schedule_traits *t =
        parallelism_schedule((enum schedule)p->v[SPACE_SCHEDULE]);
    double weight_frac = u->l->weight_s / both_s;
    if (t->chunks)
        bubble_s /= (double)p->v[SPACE_VIRTUAL];
    if (t->splits) /* F + B - W, of a V at least F */
        bubble_s *= fmax(t->folds ? (1 - weight_frac) / 2 : 0, 1 - 2 * weight_frac);
    double passes_s = m * slowest_s + bubble_s;
    if (goes_round(p)) /* the first passes all stages, the others come after it */
        passes_s =
            all_s + n * pause_s + (m - 1) * slowest_s / (double)p->v[SPACE_VIRTUAL];
    struct score_group ends = ends_of(p);
    double words_B = returns ? 0 : u->l->word_parameters * states_wire_B(u->s);
    double tied_s = score_comm_s(s->comm, p, ends, COLL_ALL_REDUCE, words_B);
    return (double)p->accumulation * (passes_s + messages_s(s, p, u)) + tied_s;
}

/* What stages that are fully sharded wait for in an accumulation step: gathers during
 * the first forward, scatters during the last backward, the ends' alone (MODEL.md,
 * R8.4). */
static double stages_s(const struct space_point *p, const struct score_sums *u)
{
    if (p->v[SPACE_PIPELINE] == 1 || u->s->parallel.shard.strategy != SHARDING_FULL)
        return 0;
    double gather_s = fmax(u->gather_s - u->forward_s, 0) + shard_exposed * u->gather_s;
    double reduce_s =
        fmax(u->reduce_s - u->backward_s, 0) + shard_exposed * u->reduce_s;
    double layer_B = u->whole_B * u->l->parameters + u->l->frozen_B;
    double stage_B = u->whole_B * u->stage_parameters + u->stage_frozen_B;
    double ends = stage_B / layer_B - u->stage_layers;
    return u->stage_layers * (gather_s + reduce_s) + ends * (u->gather_s + u->reduce_s);
}

/* A collective of so many bytes over replicas, of which those of experts over the ranks
 * that hold the same. */
static double replicas_s(struct scorer *s, const struct space_point *p, enum coll_op op,
                         double all_B, double experts_B)
{
    struct score_group all = group_of(p, 'D', p->ranks),
                       apart = expert_group_of(p, expert_replicas(p));
    return score_comm_s(s->comm, p, all, op, all_B - experts_B) +
           score_comm_s(s->comm, p, apart, op, experts_B);
}

/* What is left of reducing gradients when backward has hidden what it can. */
static double exposed_s(struct scorer *s, const struct space_point *p,
                        const struct score_sums *u)
{
    if (p->ranks <= 1)
        return 0;
    double gradients_B = u->stage_parameters * states_wire_B(u->s);
    double experts_B = u->stage_experts * states_wire_B(u->s);
    enum sharding how = u->s->parallel.shard.strategy;
    if (how == SHARDING_FULL) { /* between the groups that hold all of it */
        double rest = (double)p->ranks / u->shards;
        struct score_group g = score_group_of(
            (int64_t)rest, stride_of(p, 'D') * (int64_t)u->shards, score_node_gpus(p));
        double sum_s = rest <= 1 ? 0
                                 : score_comm_s(s->comm, p, g, COLL_ALL_REDUCE,
                                                (gradients_B - experts_B) / u->shards);
        double times = p->v[SPACE_PIPELINE] > 1 ? (double)p->accumulation : 1;
        double whole_s = score_comm_s(
            s->comm, p, group_of(p, 'D', (int64_t)u->shards), COLL_ALL_GATHER,
            u->stage_layers * u->l->persistent * u->whole_B); /* after the update */
        return times * (sum_s + stages_s(p, u)) + whole_s;
    }
    const struct library_row *library = library_of(&u->s->parallel);
    double reduce_s, gather_s = 0;
    if (how == SHARDING_NONE) {
        reduce_s = replicas_s(s, p, COLL_ALL_REDUCE, gradients_B, experts_B);
    } else {
        reduce_s =
            replicas_s(s, p, replicas_reduction_sharded(u->s), gradients_B, experts_B);
        gather_s = replicas_s(s, p, COLL_ALL_GATHER,
                              u->stage_parameters * u->states.parameter_B -
                                  u->stage_layers * u->l->narrower_B,
                              u->stage_experts * u->states.parameter_B);
    }
    bool overlaps =
        u->fw->reduction.overlap && !library_has(library->reduces_after, (int)how);
    double hide_s = overlaps ? u->stage_layers * u->backward_s : 0;
    double bucket_B = score_bucket_B(p, u);
    double last_frac = bucket_B > 0 ? fmin(1, bucket_B / gradients_B) : 1;
    /* each bucket is checked */
    double checks_s = framework_check_s(scenario_checks(u->s, u->fw), p->ranks,
                                        group_of(p, 'D', p->ranks).nodes > 1) /
                      last_frac;
    reduce_s = fmax(reduce_s, checks_s);
    if (library->reduces_units)
        last_frac = 1 / u->stage_layers;
    if (u->s->parallel.reduce
            .overlap_param_gather) /* during the next step's first forward */
        gather_s =
            fmax(gather_s - u->stage_layers * u->forward_s, last_frac * gather_s);
    double times = states_reduce_each(u->s) ? (double)p->accumulation : 1;
    return times * fmax(reduce_s - hide_s, last_frac * reduce_s) + gather_s +
           u->fw->reduction.reduce_s;
}

/* The bound: the host's calls or the kernels of a mean stage, with what is computed
 * again. Nothing is known of
 * a cluster of several kinds of GPUs (test_plan_order.c: nothing is simulated to
 * less). */
static double least_s(const struct scorer *s, const struct space_point *p,
                      const struct score_sums *u)
{
    static const double least_part = 0.97, least_again = 0.8;
    struct space_form form = space_form_of(p->v[SPACE_CHECKPOINTING]);
    bool again = form.how == CHECKPOINT_GROUP ||
                 (form.how == CHECKPOINT_FULL && form.every == 1 && !form.block);
    double times = again ? 1 + least_again : 1;
    double host_s =
        u->layers * (u->l->host_s[0] * times + u->l->host_s[1]) + u->l->ends_host_s;
    double gpu_s =
        u->layers * (u->l->gpu_s[0] * times + u->l->gpu_s[1]) + u->l->ends_gpu_s;
    double all_s = fmax(host_s, gpu_s);
    if (s->job->cluster)
        return 0;
    return least_part * (double)p->pieces * all_s / (double)p->v[SPACE_PIPELINE];
}

/* What the point's stages hold; false: its operator list cannot be made. */
static bool sum_stage(struct scorer *s, const struct space_point *p,
                      struct score_sums *u)
{
    const struct plan_stack *stack = &s->job->stacks[p->v[SPACE_LIBRARY]];
    int profile = profile_of(p);
    s->scratch[p->v[SPACE_LIBRARY]].training.framework =
        stack->profiles[profile / 2][profile % 2];
    const struct score_layer *l = layer_of(s, p);
    if (!l->ok)
        return false;
    struct scenario *x = &s->scratch[p->v[SPACE_LIBRARY]];
    *u = (struct score_sums) { .l = l, .s = x, .fw = x->training.framework };
    u->instance = s->job->space.instances[p->v[SPACE_INSTANCE]].instance;
    u->gpu = u->instance->gpu;
    u->shards = (double)(p->v[SPACE_DEGREE] ? p->v[SPACE_DEGREE] : p->ranks);
    x->parallel.shard.reshard = stack->probe.parallel.shard.reshard;
    library_shard(&x->parallel, (enum sharding)p->v[SPACE_SHARDING]);
    x->parallel.shard.degree = (int64_t)u->shards;
    x->parallel.pipeline = p->v[SPACE_PIPELINE];
    u->states = u->expert_states = states_of(x);
    u->expert_shards = u->shards;
    if (p->v[SPACE_EXPERT] > 1) {
        u->expert_shards = expert_replicas(p);
        x->parallel.shard.degree = (int64_t)u->expert_shards;
        u->expert_states = states_of(x);
        x->parallel.shard.degree = (int64_t)u->shards;
    }
    double n = (double)p->v[SPACE_PIPELINE];
    u->layers = (double)s->job->space.layers;
    u->stage_layers = fmax(ceil(u->layers / n), space_layout_most(&s->job->space, p));
    double ends =
        n > 1 ? fmax(l->ends_parameters[0], l->ends_parameters[1] + l->word_parameters)
              : l->ends_parameters[0] + l->ends_parameters[1];
    u->stage_parameters = u->stage_layers * l->parameters + ends;
    u->stage_experts = u->stage_layers * l->experts;
    u->stage_frozen_B = u->stage_layers * l->frozen_B +
                        (n > 1 ? fmax(l->ends_frozen_B[0], l->ends_frozen_B[1])
                               : l->ends_frozen_B[0] + l->ends_frozen_B[1]);
    u->whole_B = score_whole_B(u, s->job->space.precision);
    return true;
}

bool scorer_point(struct scorer *s, const struct space_point *p, double most_need,
                  struct score *out)
{
    struct score_sums u;
    if (!sum_stage(s, p, &u))
        return false;
    score_memory(p, &u, out);
    out->least_s = out->time_s = INFINITY;
    if (out->least_B > out->capacity_B &&
        fmax(out->least_B, out->memory_B) / out->capacity_B > most_need)
        return true;
    sum_layer(s, p, &u);
    sum_sharding(s, p, &u);
    out->least_s = least_s(s, p, &u);
    out->time_s = pipeline_s(s, p, &u) + exposed_s(s, p, &u) + score_update_s(p, &u);
    return true;
}
