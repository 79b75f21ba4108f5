#include "simulate/simulate.h"

#include "base/units.h"
#include "config/cache.h"
#include "run/run.h"
#include "scenario/libraries.h"
#include "scenario/states.h"
#include "simulate/background.h"
#include "simulate/communicators.h"
#include "simulate/interpretations.h"
#include "step/reps.h"
#include "step/update/servers.h"
#include "step/update/smddp.h"

/* Memory */

/* The caching allocator has what the context and NCCL leave to it. */
static struct stage_memory stage_memory(const struct step *step,
                                        const struct scenario *s, const struct gpu *gpu,
                                        int64_t nccl_B, struct reserved_memo *memo)
{
    const struct ledger *l = &step->ledger;
    const struct library_row *library = library_of(&s->parallel);
    struct reserved_how how = { .grows = !library->states_at_start,
                                .flat = states_sums_apart(s),
                                .streams = library->streams,
                                .expandable = s->software.expandable_segments };
    int64_t context_B = scenario_context_B(s, gpu, s->cluster.n_gpus);
    int64_t room_B = gpu->memory_B - context_B - nccl_B;
    bool late = s->training.framework->tensors.record_stream && s->parallel.tensor > 1;
    how.late = late ? RESERVED_ALL_LATE : RESERVED_NO_LATE;
    const struct reserved all = reserved_by_stage(memo, l, how, room_B);
    how.late = RESERVED_LATE;
    const struct reserved own = late ? reserved_by_stage(memo, l, how, room_B) : all;
    struct stage_memory m = {
        .parameters_B = l->at_peak_B[LEDGER_PARAMETERS],
        .gradients_B = l->at_peak_B[LEDGER_GRADIENTS],
        .optimizer_B = l->at_peak_B[LEDGER_OPTIMIZER],
        .activations_B = l->at_peak_B[LEDGER_ACTIVATIONS],
        .buffers_B = l->at_peak_B[LEDGER_BUFFERS] + nccl_B,
        .workspace_B = l->at_peak_B[LEDGER_WORKSPACE] + own.peak_B - l->peak_B,
        .framework_B = context_B,
    };
    m.peak_B = own.peak_B + nccl_B + context_B;
    m.needed_B = own.needed_B + nccl_B + context_B;
    m.reserved_B = all.peak_B;
    return m;
}

/* The step whose live tensors exceed its GPU most, if by more than the error of the
 * prediction; -1: none. */
static int32_t far_too_large(const struct scenario *s, const struct reps *reps)
{
    int64_t most = 0, nccl_B = communicators_B(s);
    int32_t found = -1;
    for (int32_t i = 0; i < reps->n_steps; i++) {
        const struct gpu *gpu = reps->gpus[i];
        int64_t needed = reps->steps[i].ledger.peak_B + nccl_B +
                         scenario_context_B(s, gpu, s->cluster.n_gpus);
        if (needed - gpu->memory_B <= most ||
            interval_memory_is_near(needed, gpu->memory_B))
            continue;
        most = needed - gpu->memory_B;
        found = i;
    }
    return found;
}

/* Of each stage, on the kind of GPU that has least left; of all, the fullest. Of one
 * step alone unless `only` is negative. */
static void read_memory(struct memory_result *m, struct arena *arena,
                        const struct scenario *s, const struct reps *reps,
                        struct simulate_memo *memo, int32_t only)
{
    int64_t least = INT64_MAX, nccl_B = communicators_B(s);
    struct reserved_memo *replays =
        memo ? memo->replays : reserved_memo_new(arena, RESERVED_OF_STEP_LOG2);
    m->n_stages = (int32_t)s->parallel.pipeline;
    m->stages = ARENA_ARRAY(arena, m->n_stages, struct stage_memory);
    int64_t *left = ARENA_ARRAY(arena, m->n_stages, int64_t);
    for (int32_t i = 0; i < m->n_stages; i++)
        left[i] = INT64_MAX;
    for (int32_t i = 0; i < reps->n_steps; i++) {
        const struct gpu *gpu = reps->gpus[i];
        if (only >= 0 && i != only)
            continue;
        struct stage_memory stage =
            stage_memory(&reps->steps[i], s, gpu, nccl_B, replays);
        int64_t free_B = gpu->memory_B - stage.peak_B, at = reps->stages[i];
        m->needed_B = stage.needed_B > m->needed_B ? stage.needed_B : m->needed_B;
        if (free_B < left[at]) {
            left[at] = free_B;
            m->stages[at] = stage;
        }
        if (free_B >= least)
            continue;
        least = free_B;
        m->fullest = (int32_t)at;
        m->capacity_B = gpu->memory_B;
        m->peak_B = stage.peak_B;
        m->allocated_B = reps->steps[i].ledger.peak_B;
        m->reserved_B = stage.reserved_B;
    }
    m->fits = least >= 0;
}

bool simulate_runs(const struct simulate_options *options,
                   const struct memory_result *m)
{
    return !options->if_fits || m->fits ||
           interval_memory_is_near(m->peak_B, m->capacity_B);
}

/* Rates and cost */

/* FLOPs of a sample's sequences, with the forwards that they are compared by; of a pack
 * whose documents attend to themselves, of these. */
static double sample_flops(const struct scenario *s)
{
    const struct training *t = &s->training;
    int64_t n = t->lengths.document ? t->lengths.document : t->sequence_length;
    double passes = model_flops_per_sample(&s->model, n, t->decoder_length, false);
    double each = passes * (1 + (double)training_ungraded_forwards(t) / 3) +
                  lora_flops_per_sample(&s->model, &t->lora, n, t->decoder_length);
    double sequences = (double)training_sample_sequences(t);
    return sequences * each * (double)t->sequence_length / (double)n;
}

static void read_rates(struct simulate_result *r, const struct scenario *s,
                       const struct reps *reps)
{
    const struct training *t = &s->training;
    const struct gpu *gpu = s->cluster.groups[0].instance->gpu;
    double peak = gpu->peak_flops[op_compute_dtype(t->precision)];
    double samples = (double)t->global_batch_size;
    double flops = samples * sample_flops(s);
    if (t->lora.rank || t->lora.frozen || t->lora.layers) {
        r->trained_parameters = lora_parameters(&s->model, &t->lora);
        r->parameters = lora_all_parameters(&s->model, &t->lora);
    }
    r->gpus = s->cluster.n_gpus;
    r->samples_per_s = samples / r->step_time_s;
    double sequences_per_s = r->samples_per_s * (double)training_sample_sequences(t);
    r->tokens_per_s = sequences_per_s * (double)t->sequence_length;
    bool padded = t->lengths.mean > 0 && t->lengths.padded != LENGTHS_PACKED;
    r->real_tokens_per_s = padded ? sequences_per_s * t->lengths.mean : 0;
    r->model_flops_per_gpu_s = flops / (double)r->gpus / r->step_time_s;
    r->mfu = r->model_flops_per_gpu_s / peak;
    r->executed_flops = 0;
    for (int32_t i = 0; i < reps->n_steps; i++) /* stages weigh differently */
        r->executed_flops += reps->steps[i].flops;
    r->hfu = r->executed_flops / reps->n_steps / r->step_time_s / peak;
}

static void read_cost(struct cost_result *c, const struct scenario *s, double step_s)
{
    c->has_price = cluster_price(&s->cluster, &c->usd_per_hour, &c->price_date,
                                 &c->price_missing) == 0;
    bool listed = c->has_price && c->price_date[0] != '/'; /* else a pointer to it */
    c->price_list = !listed ? NULL : s->cluster.sagemaker ? "SageMaker" : "EC2";
    c->usd_per_step = c->usd_per_hour * step_s / UNITS_HOUR_S;
    c->usd_per_million_samples =
        c->usd_per_step / (double)s->training.global_batch_size * 1e6;
    int64_t steps = scenario_job_steps(s);
    c->has_job = steps > 0;
    c->hours_per_job = (double)steps * step_s / UNITS_HOUR_S;
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
    for (int i = 0; i < CATEGORY_N; i++)
        r->parts_s[i] = run->parts_s[i];
    r->util_gpu = run->gpu_busy_s / run->time_s;
    r->util_host = run->host_busy_s / run->time_s;
    r->util_nic = run->nic_busy_s / run->time_s;
    r->util_nvlink = run->nvlink_busy_s / run->time_s;
    r->events = run->events;
}

/* One rank of a stage represents others that meet something else. */
static const char *unlike_note(const struct reps *reps)
{
    if (!net_is_folded(reps->net) || !cluster_is_uniform(reps->groups.cluster))
        return NULL;
    if (!groups_are_even(&reps->groups))
        return "groups neither fill instances nor fit in them whole: the first rank of "
               "each stage represents ranks that lie otherwise, up to a fifth off "
               "(--unfold simulates each)";
    if (!groups_lie_alike(&reps->groups))
        return "groups lie unlike on an instance's wires: the first rank of each stage "
               "represents ranks that lie otherwise, up to 6 % off (--unfold "
               "simulates each)";
    return NULL;
}

/* At the end of an array that has room. */
static void add_warning(struct simulate_result *r, struct arena *arena,
                        enum diag_code code, const char *text)
{
    const struct diag where = { .severity = DIAG_WARNING, .code = code };
    r->warnings[r->n_warnings++] = diag_made(arena, where, text);
}

/* Closed forms where collectives share links for long. */
static const char *closed_forms_note(struct arena *arena, const struct run_result *run)
{
    static const double much = 0.01;
    double share = run->excess_s / run->replayed_s;
    if (!(share > much))
        return NULL;
    return arena_printf(arena,
                        "--network analytic: collectives that run at once share links, "
                        "which closed forms leave out: some %.0f %% of the step's time "
                        "on the fullest link (flow and chunk have it)",
                        100 * share);
}

static void read_warnings(struct simulate_result *r, struct arena *arena,
                          const struct scenario *s, const struct reps *reps,
                          const struct run_result *run)
{
    const double layer_B = (double)r->layer.parameters_B;
    const struct {
        enum diag_code code;
        const char *text;
    } found[] = { { DIAG_STALE_GRADIENTS, servers_note(arena, s) },
                  { DIAG_INFERRED, smddp_reduce_note(arena, s) },
                  { DIAG_LIBRARY_RULE, smddp_note(arena, s, layer_B) },
                  { DIAG_APPROXIMATE, unlike_note(reps) },
                  { DIAG_APPROXIMATE, closed_forms_note(arena, run) } };
    enum { FOUND = sizeof(found) / sizeof(found[0]) };
    r->warnings =
        ARENA_ARRAY(arena, s->n_notes + FOUND + 1 + INTERPRETATIONS_MAX, struct diag);
    r->n_warnings = interpretations_note(r->warnings, arena, s, r->memory.peak_B);
    for (int i = 0; i < FOUND; i++)
        if (found[i].text)
            add_warning(r, arena, found[i].code, found[i].text);
    for (int32_t i = 0; i < s->n_notes; i++)
        r->warnings[r->n_warnings++] = s->notes[i];
    if (!r->cost.has_price)
        add_warning(r, arena, DIAG_NO_PRICE,
                    arena_printf(arena, "no price is known for %s: cost is not given",
                                 r->cost.price_missing));
}

static void read_all(struct simulate_result *r, struct arena *arena,
                     const struct scenario *s, const struct reps *reps,
                     const struct run_result *run,
                     const struct simulate_options *options)
{
    int32_t layered = reps->n_steps / 2; /* a middle stage, unless it has no layer */
    for (int32_t i = 0; i < reps->n_steps && !reps->steps[layered].has_layer; i++)
        layered = i;
    read_run(r, run);
    r->by = resources_of(r->parts_s, s, reps);
    if (!options->if_fits)
        read_memory(&r->memory, arena, s, reps, options->memo, -1);
    read_rates(r, s, reps);
    read_layer(&r->layer, &reps->steps[layered]);
    read_cost(&r->cost, s, r->step_time_s);
    if (!options->mute)
        read_warnings(r, arena, s, reps, run);
}

/* Plans of the jobs before, where nothing of the cluster is the scenario's own. */
static struct plans_kept *kept_plans(const struct simulate_memo *memo,
                                     const struct cluster *c)
{
    bool lent = memo != NULL;
    for (int32_t i = 0; i < c->n_groups && lent; i++)
        lent = cache_holds(memo->files, c->groups[i].instance);
    return lent ? memo->plans : NULL;
}

/* The representative ranks of a step and its run, in which microbatches of a pipeline
 * that go on as those before them are left out, if that is so. To be released in any
 * case. */
static int replay(struct run_result *run, struct simulate_result *r, struct reps *reps,
                  struct arena *arena, const struct scenario *s,
                  const struct simulate_options *options, struct err *err)
{
    const bool meets = s->background.acts;
    const bool whole = options->whole || options->detail || options->observer || meets;
    struct reps_options how = { .unfold = options->unfold,
                                .detail = options->detail || meets,
                                .whole = meets,
                                .marks = options->observer != NULL,
                                .unread = options->unread,
                                .kept = kept_plans(options->memo, &s->cluster) };
    for (int attempt = 0;; attempt++) {
        how.microbatches = whole ? 0 : reps_shorter(s, attempt);
        if (reps_build(reps, arena, s, &how, err) < 0)
            return -1;
        if (options->if_fits)
            read_memory(&r->memory, arena, s, reps, options->memo,
                        far_too_large(s, reps));
        if (!simulate_runs(options, &r->memory))
            return 0;
        struct run_request request = { .plans = { arena, reps->net, &reps->groups, NULL,
                                                  NULL },
                                       .network = options->network,
                                       .n_ranks = reps->n_ranks,
                                       .programs = reps->programs,
                                       .ranks = reps->ranks,
                                       .observer = options->observer,
                                       .links_unread = options->unread.links,
                                       .watch = options->watch };
        if (meets)
            return background_replay(run, &r->background, arena, s, &request, err);
        int rc = run_programs(&request, run, err);
        if (rc < 0 || run->steady)
            return rc;
        reps_release(reps);
    }
}

struct simulate_memo *simulate_memo_of(struct cfg_loader *loader)
{
    const void *known;
    struct cfg_loader *shared = loader->shared;
    if (!shared)
        return NULL;
    if (cache_find(shared, "simulate", "memo", &known))
        return (struct simulate_memo *)known;
    struct simulate_memo *memo = ARENA_NEW(&shared->arena, struct simulate_memo);
    memo->replays = reserved_memo_new(&shared->arena, RESERVED_OF_MANY_LOG2);
    memo->plans = plans_kept_new();
    memo->files = shared;
    cfg_loader_own(shared, memo->plans, plans_kept_free);
    cache_add(shared, "simulate", "memo", memo);
    return memo;
}

int simulate_peak_B(int64_t *peak_B, struct arena *arena, const struct scenario *s,
                    struct err *err)
{
    struct reps reps;
    struct memory_result m = { 0 };
    const struct reps_options how = { .microbatches = reps_shorter(s, 0) };
    int rc = reps_build(&reps, arena, s, &how, err);
    if (rc == 0)
        read_memory(&m, arena, s, &reps, NULL, -1);
    *peak_B = m.peak_B;
    reps_release(&reps);
    return rc;
}

int simulate(struct simulate_result *r, struct arena *arena, const struct scenario *s,
             const struct simulate_options *options, struct err *err)
{
    struct reps reps;
    struct run_result run;
    *r = (struct simulate_result) { .network = options->network };
    int rc = replay(&run, r, &reps, arena, s, options, err);
    r->folded = reps.net && net_is_folded(reps.net);
    if (rc == 0 && simulate_runs(options, &r->memory))
        read_all(r, arena, s, &reps, &run, options);
    reps_release(&reps);
    return rc;
}

void simulate_wait(struct simulate_result *r, const struct scenario *s,
                   enum category part, double wait_s)
{
    double share = r->step_time_s / (r->step_time_s + wait_s);
    double *rates[] = { &r->samples_per_s,
                        &r->tokens_per_s,
                        &r->real_tokens_per_s,
                        &r->model_flops_per_gpu_s,
                        &r->mfu,
                        &r->hfu,
                        &r->util_gpu,
                        &r->util_host,
                        &r->util_nic,
                        &r->util_nvlink };
    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
        *rates[i] *= share;
    r->step_time_s += wait_s;
    r->parts_s[part] += wait_s;
    read_cost(&r->cost, s, r->step_time_s);
}

void simulate_warn(struct simulate_result *r, struct arena *arena, enum diag_code code,
                   const char *text)
{
    struct diag *all = ARENA_ARRAY(arena, r->n_warnings + 1, struct diag);
    for (int32_t i = 0; i < r->n_warnings; i++)
        all[i] = r->warnings[i];
    r->warnings = all;
    add_warning(r, arena, code, text);
}
