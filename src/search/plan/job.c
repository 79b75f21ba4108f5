#include "search/plan/job.h"

#include "base/xmalloc.h"
#include "config/pointer.h"
#include "model/freeze.h"
#include "scenario/libraries.h"
#include "search/plan/assumed.h"
#include "search/plan/cluster.h"
#include "search/plan/given.h"
#include "search/plan/launch.h"
#include "search/plan/point.h"
#include "search/plan/prices.h"
#include "search/plan/traits.h"
#include "search/space/forms.h"
#include "search/space/layout.h"
#include "search/space/own.h"
#include "search/space/users.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* The scenario, or what the command line gives in its place ------------------------ */

static bool all_have(const struct space *s, enum dtype dtype)
{
    for (int32_t i = 0; i < s->n_instances; i++)
        if (s->instances[i].instance->gpu->peak_flops[dtype] <= 0)
            return false;
    return true;
}

/* A scenario from the options. */
static struct cfg make_scenario(struct plan_job *job, const struct plan_request *r)
{
    json_t *tokens = r->sequence ? json_integer(r->sequence) : NULL;
    json_t *tree = json_pack("{s:s, s:{s:o*, s:I}}", "model", r->model, "training",
                             "sequence_length", tokens, "global_batch_size",
                             (json_int_t)r->global_batch);
    if (!tree) {
        diags_error(&job->loader->diags, DIAG_WRONG_TYPE,
                    "--model: the name is not readable text");
        return (struct cfg) { 0 };
    }
    return cfg_from_tree(job->loader, "plan", tree);
}

static void choose(struct plan_job *job, struct cfg root, const char *pointer,
                   const char *value, const char *why)
{
    struct err err = { 0 };
    if (pointer_get(root.json, pointer))
        return;
    pointer_set(root.json, pointer, json_string(value), &err);
    assumptions_add(&job->assumed, &job->loader->arena, pointer, value, why);
}

/* What one would choose, where no --set has said. */
static void choose_open(struct plan_job *job, struct cfg root)
{
    bool smp1 = job->stack_bits == 1U << 5; /* whose bf16 is for sharding alone */
    bool bf16 = all_have(&job->space, DTYPE_BF16) && !smp1;
    const char *precision = bf16                                ? "bf16"
                            : all_have(&job->space, DTYPE_FP16) ? "fp16"
                                                                : "fp32";
    choose(job, root, "/training/precision", precision, "what all of the GPUs have");
    choose(job, root, "/training/optimizer", "adam", "");
}

/* The choices that a plan makes leave the scenario. */
static void strip(json_t *base, int64_t global_batch)
{
    static const char *const chosen[] = { "micro_batch_size", "microbatches",
                                          "gradient_accumulation_steps" };
    json_t *t = json_object_get(base, "training");
    json_object_del(base, "parallelism");
    json_object_del(base, "distribution");
    for (size_t i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++)
        json_object_del(t, chosen[i]);
    json_object_set_new(t, "global_batch_size", json_integer((json_int_t)global_batch));
}

/* The space ------------------------------------------------------------------------ */

static int narrow(struct plan_job *job, const struct plan_request *r)
{
    struct space *s = &job->space;
    int rc = 0;
    for (int32_t i = 0; i < r->fixes.n; i++)
        rc |= space_allow(s, &job->loader->arena, &job->loader->diags, "--fix",
                          r->fixes.v[i], true);
    for (int32_t i = 0; i < r->allows.n; i++)
        rc |= space_allow(s, &job->loader->arena, &job->loader->diags, "--allow",
                          r->allows.v[i], false);
    return rc;
}

/* SMP's dictionary in the scenario asks for plans that SMP can run. */
static uint32_t scenario_stacks(struct cfg root)
{
    struct cfg d = cfg_get(root, "distribution");
    struct cfg mp = cfg_get(cfg_get(d, "smdistributed"), "modelparallel");
    if (!json_is_true(cfg_get(mp, "enabled").json))
        return SPACE_FOR_DEFAULT;
    bool torch = json_is_true(cfg_get(cfg_get(d, "torch_distributed"), "enabled").json);
    return torch ? 1U << 6 : 1U << 5;
}

/* The stack that the scenario names, as a bit; 0: none. */
static uint32_t named_stack(const struct scenario *s, struct cfg root)
{
    const struct parallelism *p = &s->parallel;
    const struct library_row *own = library_of(p);
    const struct library_row *row = own->planned_as ? own->planned_as : own;
    bool named = cfg_present(cfg_get(cfg_get(root, "parallelism"), "library")) ||
                 cfg_present(cfg_get(root, "distribution"));
    if (!named || (!own->smp.dictionary && (int)own->backend != p->reduce.backend))
        return 0;
    for (int i = 0; i < SPACE_STACKS_N; i++)
        if (space_stacks[i].row == row)
            return 1U << i;
    return 0;
}

/* By what the users of the model train it, and which stacks they have said. */
static void read_users(struct plan_job *job, const struct plan_request *r,
                       const struct scenario *s, struct cfg root)
{
    struct space *space = &job->space;
    bool given = cfg_present(r->scenario);
    uint32_t named = given ? named_stack(s, root) : 0;
    bool trainer = r->script && !library_of(&s->parallel)->own_models;
    space->script = trainer ? SPACE_SCRIPT_TRAINER
                            : (int)space_users_script(&s->model, s->training.task,
                                                      s->training.lora.rank > 0);
    space->named_stacks = r->stacks ? (uint32_t)r->stacks : named;
    if (!r->stacks)
        job->stack_bits |= named;
}

/* The profiles that simulated plans have: one that the scenario names, or the library's
 * of their degrees and sharding. */
static void read_profiles(struct plan_stack *stack)
{
    const struct scenario *s = &stack->probe;
    for (int split = 0; split < 2; split++)
        for (int full = 0; full < 2; full++) {
            struct parallelism p = s->parallel;
            p.tensor = 1 + split;
            p.shard.strategy = full ? SHARDING_FULL : SHARDING_NONE;
            const char *name = library_framework(&p, s);
            const struct framework *fw =
                s->training.framework_named || !name
                    ? NULL
                    : framework_get(&stack->loader, name, (struct cfg) { 0 });
            stack->profiles[split][full] = fw ? fw : s->training.framework;
        }
}

/* The stack on one node, as plain as it can be: where its defaults come from. */
static void probe(struct plan_job *job, int stack)
{
    struct space_point p = { .microbatches = 1, .accumulation = 1, .pieces = 1 };
    struct plan_stack *out = &job->stacks[stack];
    struct cfg_loader *loader = &out->loader;
    static const enum space_field ones[] = { SPACE_COUNT,    SPACE_TENSOR,
                                             SPACE_PIPELINE, SPACE_CONTEXT,
                                             SPACE_EXPERT,   SPACE_MICRO,
                                             SPACE_VIRTUAL };
    for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++)
        p.v[ones[i]] = 1;
    p.v[SPACE_GPUS] = job->space.instances[0].instance->n_gpus;
    p.v[SPACE_LIBRARY] = stack;
    p.world = p.ranks = p.data = p.v[SPACE_GPUS];
    for (int i = SHARDING_FULL; i >= 0; i--)
        if (space_shardings(&job->space, &space_stacks[stack]) >> i & 1)
            p.v[SPACE_SHARDING] = i;
    json_t *own = job->cluster;
    job->cluster = NULL;
    json_t *tree = plan_point_json(job, &p);
    job->cluster = own;
    cfg_loader_init(loader);
    out->loaded = true;
    struct cfg root = cfg_from_tree(loader, "plan", tree);
    out->usable = scenario_read(&out->probe, loader, root) == 0;
    if (out->usable)
        read_profiles(out);
    else
        out->why = loader->diags.n_errors ? diags_error_text(&loader->diags, 0)
                                          : "it cannot be read";
}

/* A file that cannot be read takes no library out of the search: it ends it. */
static int check_read(struct plan_job *job, const struct plan_stack *stack)
{
    if (stack->loader.inputs.n_unread == 0)
        return 0;
    const struct diag *d = diags_get(&stack->loader.diags, DIAG_ERROR, 0);
    diags_error(&job->loader->diags, DIAG_UNREADABLE, "%s",
                d ? diag_text(&job->loader->arena, d) : "a file cannot be read");
    return -1;
}

static int keep_usable(struct plan_job *job)
{
    struct space *s = &job->space;
    for (int32_t i = 0; i < s->n[SPACE_LIBRARY]; i++)
        if (check_read(job, &job->stacks[s->values[SPACE_LIBRARY][i]]))
            return -1;
    int32_t n = 0;
    for (int32_t i = 0; i < s->n[SPACE_LIBRARY]; i++)
        if (job->stacks[s->values[SPACE_LIBRARY][i]].usable)
            s->values[SPACE_LIBRARY][n++] = s->values[SPACE_LIBRARY][i];
    if (n == 0) {
        diags_error(&job->loader->diags, DIAG_UNSUPPORTED,
                    "no library can run this job: %s",
                    job->stacks[s->values[SPACE_LIBRARY][0]].why);
        return -1;
    }
    s->n[SPACE_LIBRARY] = n;
    return 0;
}

static int make_space(struct plan_job *job)
{
    struct space *s = &job->space;
    s->model = &job->model;
    s->layers = job->model.layers + job->model.decoder_layers;
    for (int32_t i = 0; s->given[SPACE_LIBRARY] && i < s->n[SPACE_LIBRARY]; i++)
        s->named_stacks |= 1U << s->values[SPACE_LIBRARY][i];
    space_defaults(s, &job->loader->arena, job->stack_bits);
    for (int32_t i = 0; i < s->n[SPACE_LIBRARY]; i++)
        probe(job, (int)s->values[SPACE_LIBRARY][i]);
    if (keep_usable(job))
        return -1;
    plan_traits_find(job);
    plan_launch_assume(job);
    plan_assumed(job);
    return 0;
}

/* How many steps the job has, of the planned batch; then what lies beyond one step. */
static int read_length(struct plan_job *job, const struct plan_request *r,
                       struct scenario *s)
{
    const struct space *space = &job->space;
    json_t *training = json_object_get(job->base, "training");
    s->training.global_batch_size = space->global_batch;
    if (r->tokens > 0) {
        double tokens = (double)(space->global_batch * space->sequence *
                                 training_sample_sequences(&s->training));
        s->training.steps = (int64_t)ceil(r->tokens / tokens);
        json_object_set_new(training, "steps",
                            json_integer((json_int_t)s->training.steps));
    }
    job->steps = (double)scenario_job_steps(s);
    return campaign_read(&job->beyond, s);
}

/* What plans try of the scenario's own choices next to theirs: its form of activation
 * checkpointing, its layout of stages, and how it shards. */
static void keep_own(struct plan_job *job, const struct scenario *s,
                     const json_t *parallelism)
{
    struct space *space = &job->space;
    struct space_form form = space_form_given(&s->training);
    json_t *own = json_deep_copy(parallelism); /* `strip` frees the original */
    job->own = own;
    space->own_form = space_form_value(&form);
    bool kept = space_layout_read(&space->layout, own, &job->model);
    space_own_read(&space->own, own, &s->parallel);
    plan_given_parallelism(parallelism, kept ? &space->layout : NULL, &space->own,
                           &job->loader->diags);
}

/* The global batch of a scenario that leaves to the plan how it is split: its own degrees,
 * or those of no "parallelism", need not divide it. 0: it says that, or none. */
static int64_t open_batch(struct cfg root)
{
    static const char *const split[] = { "micro_batch_size", "microbatches",
                                         "gradient_accumulation_steps" };
    const json_t *training = json_object_get(root.json, "training"),
                 *batch = json_object_get(training, "global_batch_size");
    bool open = json_is_integer(batch) && !json_object_get(root.json, "distribution");
    for (size_t i = 0; i < sizeof(split) / sizeof(split[0]); i++)
        open &= !json_object_get(training, split[i]);
    return open ? (int64_t)json_integer_value(batch) : 0;
}

static int read_job(struct plan_job *job, const struct plan_request *r)
{
    struct scenario s = { 0 };
    bool given = cfg_present(r->scenario);
    struct cfg root = given ? r->scenario : make_scenario(job, r);
    if (!root.json)
        return -1;
    for (int32_t i = 0; i < r->sets.n; i++)
        if (cfg_set(root, r->sets.v[i]))
            return -1;
    if (!given)
        choose_open(job, root);
    if (given && r->global_batch)
        json_object_set_new(cfg_get(root, "training").json, "global_batch_size",
                            json_integer((json_int_t)r->global_batch));
    json_t *whole = job->base = json_deep_copy(root.json);
    if (!given) { /* read with a cluster of its own, and what --set says of it */
        struct err err = { 0 };
        pointer_set(root.json, "/cluster/instance",
                    json_string(job->space.instances[0].name), &err);
    }
    if (given &&
        r->global_batch) /* of another batch: its own choices may not divide it */
        strip(root.json, r->global_batch);
    int64_t wanted = r->global_batch ? r->global_batch : open_batch(root);
    if (!given || wanted) {
        json_t *training = cfg_get(root, "training").json;
        json_object_del(training, "global_batch_size");
        json_object_set_new(training, "micro_batch_size", json_integer(1));
    }
    if (scenario_read(&s, job->loader, root)) {
        if (!given)
            plan_given_missing(&job->loader->diags);
        return -1;
    }
    job->model = s.model;
    job->space.sequence = s.training.sequence_length;
    job->space.batch_of =
        training_sample_sequences(&s.training) > 1 ? "pairs of sequences" : "sequences";
    job->space.precision = s.training.precision;
    job->space.one_stage = training_ungraded_forwards(&s.training) > 0;
    job->space.quantized = lora_is_quantized(&s.training.lora);
    job->space.frozen =
        s.training.lora.rank > 0 || freeze_holds_blocks(&s.training.lora);
    job->space.global_batch = wanted ? wanted : s.training.global_batch_size;
    job->pads_vocabulary = s.training.vocab_padding == 0;
    read_users(job, r, &s, root);
    plan_launch_read(job, json_object_get(whole, "distribution"), r->estimator);
    keep_own(job, &s, json_object_get(whole, "parallelism"));
    strip(whole, job->space.global_batch);
    if (given && !r->instances && plan_take_cluster(job, &s, whole))
        return -1;
    if (r->instances && plan_change_instances(job, given, whole))
        return -1;
    return read_length(job, r, &s);
}

static void make_files(struct plan_job *job)
{
    job->n_files = omp_get_max_threads();
    job->files = xcalloc((size_t)job->n_files, sizeof(*job->files));
    for (int32_t i = 0; i < job->n_files; i++)
        cfg_loader_init(&job->files[i]);
}

int plan_job_init(struct plan_job *job, struct cfg_loader *loader,
                  const struct plan_request *r)
{
    *job =
        (struct plan_job) { .loader = loader, .interval = interval_table_get(loader) };
    make_files(job);
    if (plan_given_sets(r, &loader->diags))
        return -1;
    job->stack_bits = r->stacks ? (uint32_t)r->stacks : scenario_stacks(r->scenario);
    if (r->instances && plan_read_instances(job, r->instances))
        return -1;
    if (read_job(job, r))
        return -1;
    if (r->count) {
        job->space.n[SPACE_COUNT] = 0;
        if (plan_read_count(job, r->count))
            return -1;
    }
    if (plan_prices(job, &r->prices) || narrow(job, r) || plan_given_job(job, r))
        return -1;
    return make_space(job);
}

const char *plan_job_unused(const struct plan_job *job)
{
    return job->beyond.uncertainty.given
               ? "plans are compared without /uncertainty: smsim simulate draws it for "
                 "the one chosen (--emit scenario)"
               : NULL;
}

void plan_job_release(struct plan_job *job)
{
    for (int i = 0; i < SPACE_STACKS_N; i++)
        if (job->stacks[i].loaded)
            cfg_loader_release(&job->stacks[i].loader);
    for (int32_t i = 0; i < job->n_files; i++)
        cfg_loader_release(&job->files[i]);
    free(job->files);
    json_decref(job->base);
    json_decref(job->launcher);
    json_decref(job->own);
    job->base = job->launcher = job->own = NULL;
    job->files = NULL;
    job->n_files = 0;
}
