#include "replay/simulate.h"

#include "replay/reserved.h"
#include "replay/run.h"
#include "replay/servers.h"
#include "replay/step.h"

#include <math.h>

enum { UNFOLDED_RANKS_MAX = 65536 };

/* NCCL's channels and buffers of one communicator, as nvidia-smi shows them: 342 MB for
 * 2 GPUs and 392 MB for 4 to 8 (aiconfigurator's measured table). */
static int64_t communicator_B(int64_t ranks)
{
    return ranks <= 1 ? 0 : ranks == 2 ? 342000000 : 392000000;
}

/* A program for each group of equal instances, and which of them each rank runs. */
struct cast {
    int32_t n_steps;
    struct step steps[CLUSTER_GROUPS_MAX];
    int64_t n_ranks;
    const struct program **programs; /* [n_ranks] */
    int64_t *ranks;                  /* [n_ranks] their numbers */
    struct groups groups;
};

static int cast_build(struct cast *cast, struct arena *arena, const struct scenario *s,
                      const struct net *net, struct err *err)
{
    const struct cluster *c = &s->cluster;
    *cast = (struct cast) { 0 };
    bool folded = net_is_folded(net);
    cast->n_ranks = folded ? c->n_groups : c->n_gpus;
    cast->programs = ARENA_ARRAY(arena, cast->n_ranks, const struct program *);
    cast->ranks = ARENA_ARRAY(arena, cast->n_ranks, int64_t);
    groups_init(&cast->groups, arena, s);
    int64_t rank = 0, first = 0;
    for (int32_t g = 0; g < c->n_groups; g++) {
        const struct cluster_group *group = &c->groups[g];
        struct step *step = &cast->steps[cast->n_steps++];
        if (step_build(step, arena, s, group->instance->gpu, net, err) < 0)
            return -1;
        int64_t n = folded ? 1 : group->count * group->gpus_per_instance;
        for (int64_t i = 0; i < n; i++) {
            cast->ranks[rank] = first + i;
            cast->programs[rank++] = &step->program;
        }
        first += group->count * group->gpus_per_instance;
    }
    return 0;
}

static void cast_release(struct cast *cast)
{
    for (int32_t i = 0; i < cast->n_steps; i++)
        step_release(&cast->steps[i]);
}

/* Memory */

/* The caching allocator's segments, with what the context and NCCL leave to them. */
static int64_t reserved_B(const struct ledger *l, const struct gpu *gpu, int64_t ranks)
{
    int64_t capacity_B = gpu->memory_B - gpu->context_B - communicator_B(ranks);
    return reserved_peak_B(l->events.v, l->events.n, l->n_before, capacity_B);
}

static struct stage_memory stage_memory(const struct step *step, const struct gpu *gpu,
                                        int64_t ranks)
{
    const struct ledger *l = &step->ledger;
    int64_t reserved = reserved_B(l, gpu, ranks);
    struct stage_memory m = {
        .parameters_B = l->at_peak_B[LEDGER_PARAMETERS],
        .gradients_B = l->at_peak_B[LEDGER_GRADIENTS],
        .optimizer_B = l->at_peak_B[LEDGER_OPTIMIZER],
        .activations_B = l->at_peak_B[LEDGER_ACTIVATIONS],
        .buffers_B = l->at_peak_B[LEDGER_BUFFERS] + communicator_B(ranks),
        .workspace_B = l->at_peak_B[LEDGER_WORKSPACE] + reserved - l->peak_B,
        .framework_B = gpu->context_B,
    };
    m.peak_B = reserved + communicator_B(ranks) + gpu->context_B;
    return m;
}

/* Of a cluster with several kinds of GPU, the one that has least left. */
static void read_memory(struct memory_result *m, struct arena *arena,
                        const struct scenario *s, const struct cast *cast)
{
    int64_t least = INT64_MAX;
    m->n_stages = 1;
    m->stages = ARENA_NEW(arena, struct stage_memory);
    for (int32_t i = 0; i < cast->n_steps; i++) {
        const struct gpu *gpu = s->cluster.groups[i].instance->gpu;
        struct stage_memory stage =
            stage_memory(&cast->steps[i], gpu, scenario_world(s));
        if (gpu->memory_B - stage.peak_B >= least)
            continue;
        least = gpu->memory_B - stage.peak_B;
        m->stages[0] = stage;
        m->capacity_B = gpu->memory_B;
        m->peak_B = stage.peak_B;
        m->allocated_B = cast->steps[i].ledger.peak_B;
        m->reserved_B =
            stage.peak_B - communicator_B(scenario_world(s)) - gpu->context_B;
    }
    m->fits = least >= 0;
}

/* Rates and cost */

static void read_rates(struct simulate_result *r, const struct scenario *s,
                       const struct cast *cast)
{
    const struct training *t = &s->training;
    const struct gpu *gpu = s->cluster.groups[0].instance->gpu;
    double peak = gpu->peak_flops[op_compute_dtype(t->precision)];
    double samples = (double)t->global_batch_size;
    double flops =
        samples * model_flops_per_sample(&s->model, t->sequence_length, false);
    r->gpus = s->cluster.n_gpus;
    r->samples_per_s = samples / r->step_time_s;
    r->tokens_per_s = r->samples_per_s * (double)t->sequence_length;
    r->model_flops_per_gpu_s = flops / (double)r->gpus / r->step_time_s;
    r->mfu = r->model_flops_per_gpu_s / peak;
    r->hfu = cast->steps[0].flops / r->step_time_s / peak;
}

static void read_cost(struct cost_result *c, const struct scenario *s, double step_s)
{
    c->has_price = cluster_price(&s->cluster, &c->usd_per_hour, &c->price_date,
                                 &c->price_missing) == 0;
    c->usd_per_step = c->usd_per_hour * step_s / 3600;
    int64_t steps = scenario_job_steps(s);
    c->has_job = steps > 0;
    c->hours_per_job = (double)steps * step_s / 3600;
    c->usd_per_job = c->hours_per_job * c->usd_per_hour;
}

static void read_layer(struct layer_result *l, const struct step *step)
{
    l->forward_s = step->kernels_s[0];
    l->backward_s = step->kernels_s[1];
    l->parameters_B = step->layer_parameters_B;
    l->activations_B = step->layer_activations_B;
}

static void read_run(struct simulate_result *r, const struct run_result *run)
{
    r->step_time_s = run->time_s;
    for (int i = 0; i < PART_N; i++)
        r->parts_s[i] = run->parts_s[i];
    r->util_gpu = run->gpu_busy_s / run->time_s;
    r->util_host = run->host_busy_s / run->time_s;
    r->util_nic = run->nic_busy_s / run->time_s;
    r->util_nvlink = run->nvlink_busy_s / run->time_s;
    r->events = run->events;
}

static void read_warnings(struct simulate_result *r, struct arena *arena,
                          const struct scenario *s)
{
    const char *stale = servers_note(arena, s);
    r->warnings = ARENA_ARRAY(arena, s->n_notes + 2, const char *);
    if (stale)
        r->warnings[r->n_warnings++] = stale;
    for (int32_t i = 0; i < s->n_notes; i++)
        r->warnings[r->n_warnings++] = s->notes[i];
    if (!r->cost.has_price)
        r->warnings[r->n_warnings++] =
            arena_printf(arena, "no price is known for %s: cost is not given",
                         r->cost.price_missing);
}

static int replay(struct simulate_result *r, struct arena *arena,
                  const struct scenario *s, const struct net *net, struct err *err)
{
    struct cast cast;
    int status = cast_build(&cast, arena, s, net, err);
    if (status == 0) {
        struct run_result run;
        struct run_request request = { .plans = { arena, net, &cast.groups },
                                       .network = r->network,
                                       .n_ranks = cast.n_ranks,
                                       .programs = cast.programs,
                                       .ranks = cast.ranks };
        status = run_programs(&request, &run, err);
        if (status < 0) {
            cast_release(&cast);
            return -1;
        }
        read_run(r, &run);
        read_memory(&r->memory, arena, s, &cast);
        read_rates(r, s, &cast);
        read_layer(&r->layer, &cast.steps[0]);
        read_cost(&r->cost, s, r->step_time_s);
        read_warnings(r, arena, s);
    }
    cast_release(&cast);
    return status;
}

int simulate(struct simulate_result *r, struct arena *arena, const struct scenario *s,
             const struct simulate_options *options, struct err *err)
{
    *r = (struct simulate_result) { 0 };
    r->network = options->network;
    r->folded = !options->unfold;
    if (options->unfold && s->cluster.n_gpus > UNFOLDED_RANKS_MAX)
        return err_set(err,
                       "%lld ranks are too many to simulate each (leave --unfold out, "
                       "or at most %d)",
                       (long long)s->cluster.n_gpus, UNFOLDED_RANKS_MAX);
    struct net *net = net_new(&s->cluster, r->folded, err);
    if (!net)
        return -1;
    int status = replay(r, arena, s, net, err);
    net_free(net);
    return status;
}
