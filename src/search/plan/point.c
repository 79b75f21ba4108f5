#include "search/plan/point.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "hardware/instance_own.h"
#include "scenario/attention.h"
#include "search/plan/launch.h"
#include "search/space/forms.h"
#include "search/space/layout.h"
#include "search/space/own.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static const struct space_stack *stack_of(const struct space_point *p)
{
    return &space_stacks[p->v[SPACE_LIBRARY]];
}

static void put(json_t *o, const char *key, json_t *v)
{
    json_object_set_new(o, key, v);
}

static void put_int(json_t *o, const char *key, int64_t v)
{
    put(o, key, json_integer((json_int_t)v));
}

static void put_degree(json_t *o, const char *key, int64_t v)
{
    if (v > 1)
        put_int(o, key, v);
}

/* The first hosts of those that the scenario has on its fabric. */
static void put_sites(const struct plan_job *job, json_t *o, int64_t count)
{
    struct strbuf b;
    if (!job->sites || count > job->n_sites)
        return;
    strbuf_init(&b);
    for (int64_t i = 0; i < count; i++)
        strbuf_printf(&b, "%s%" PRId32, i ? "," : "", job->sites[i]);
    put(o, "fabric_hosts", json_string(strbuf_get(&b)));
    strbuf_release(&b);
}

static json_t *cluster_json(const struct plan_job *job, const struct space_point *p)
{
    if (job->cluster)
        return json_deep_copy(job->cluster);
    const struct space_instance *i = &job->space.instances[p->v[SPACE_INSTANCE]];
    json_t *o = json_object();
    json_t *like = json_object_get(i->own, "like");
    if (like)
        put(o, "like", json_copy(like));
    else
        put(o, "instance", json_string(i->name));
    for (const char *const *key = instance_change_keys; i->own && *key; key++)
        if (json_object_get(i->own, *key))
            put(o, *key, json_copy(json_object_get(i->own, *key)));
    put_int(o, "count", p->v[SPACE_COUNT]);
    if (p->v[SPACE_GPUS] != i->instance->n_gpus)
        put_int(o, "gpus_per_instance", p->v[SPACE_GPUS]);
    const json_t *before = json_object_get(job->base, "cluster");
    json_t *fabric = json_object_get(before, "fabric");
    if (json_is_string(fabric))
        put(o, "fabric", json_string(json_string_value(fabric)));
    json_t *quality = json_object_get(before, "quality");
    if (quality)
        put(o, "quality", json_copy(quality));
    else if (p->v[SPACE_COUNT] > 1)
        put(o, "quality", json_string("clean"));
    for (const char *const *key = fabric_tier_keys; *key; key++)
        if (json_object_get(before, *key))
            put(o, *key, json_copy(json_object_get(before, *key)));
    put_sites(job, o, p->v[SPACE_COUNT]);
    return o;
}

static void fill_training(const struct plan_job *job, const struct space_point *p,
                          json_t *t)
{
    int64_t tensor = p->v[SPACE_TENSOR];
    put_int(t, "micro_batch_size", p->v[SPACE_MICRO]);
    if (p->v[SPACE_PIPELINE] > 1 || p->microbatches > 1)
        put_int(t, "microbatches", p->microbatches);
    put_int(t, "gradient_accumulation_steps", p->accumulation);
    put_int(t, "global_batch_size",
            p->v[SPACE_MICRO] * p->microbatches * p->accumulation * p->data);
    put(t, "activation_checkpointing", space_form_json(p->v[SPACE_CHECKPOINTING]));
    if (job->pads_vocabulary && job->model.ends.vocab % tensor != 0)
        put_int(t, "vocab_padding", 128 * tensor);
}

static json_t *sharding_json(const struct space *s, const struct space_point *p)
{
    json_t *o = json_object();
    put(o, "strategy",
        json_string(names_of(parallelism_sharding_names, (int)p->v[SPACE_SHARDING])));
    if (p->v[SPACE_DEGREE])
        put_int(o, "degree", p->v[SPACE_DEGREE]);
    if (p->v[SPACE_OFFLOAD])
        put(o, "offload",
            json_string(names_of(parallelism_offload_names, (int)p->v[SPACE_OFFLOAD])));
    space_own_put(s, p, o);
    return o;
}

/* smsim's own words. */
json_t *plan_point_parallelism(const struct space *s, const struct space_point *p)
{
    json_t *o = json_object();
    const struct space_stack *stack = stack_of(p);
    put(o, "library", json_string(names_of(library_names, (int)stack->row->library)));
    if (stack->row->backend)
        put(o, "backend",
            json_string(names_of(backend_names, (int)stack->row->backend)));
    put_degree(o, "tensor", p->v[SPACE_TENSOR]);
    if (p->v[SPACE_SEQUENCE])
        put(o, "sequence_parallel", json_true());
    if (p->v[SPACE_OVERLAP])
        put(o, "overlap_tensor", json_true());
    if (p->v[SPACE_PIPELINE] > 1) {
        put_int(o, "pipeline", p->v[SPACE_PIPELINE]);
        put(o, "schedule",
            json_string(
                names_of(parallelism_schedule_names, (int)p->v[SPACE_SCHEDULE])));
        put_degree(o, "virtual_stages", p->v[SPACE_VIRTUAL]);
    }
    space_layout_put(s, p, o);
    put_degree(o, "context", p->v[SPACE_CONTEXT]);
    put_degree(o, "expert", p->v[SPACE_EXPERT]);
    if (p->v[SPACE_PLACEMENT] != space_stack_placement(stack))
        put(o, "placement", json_string(space_placements[p->v[SPACE_PLACEMENT]]));
    if (p->v[SPACE_SHARDING] != SHARDING_NONE)
        put(o, "sharding", sharding_json(s, p));
    if (p->v[SPACE_BUCKET]) {
        char text[32];
        snprintf(text, sizeof(text), "%" PRId64 "B", (int64_t)p->v[SPACE_BUCKET]);
        put(o, "bucket_size", json_string(text));
    }
    return o;
}

static void fill_words(const struct plan_job *job, const struct space_point *p,
                       json_t *root)
{
    json_t *parallelism = plan_point_parallelism(&job->space, p),
           *d = plan_launch_json(job, p);
    put(root, "parallelism", parallelism);
    if (!d)
        return;
    put(root, "distribution", d);
    json_object_del(parallelism, "backend"); /* which the launcher says */
}

static json_t *enabled(void)
{
    json_t *o = json_object();
    put(o, "enabled", json_true());
    return o;
}

/* SMP's dictionary around its parameters, as the estimator takes it. */
static json_t *smp_json(json_t *parameters, const char *launcher, json_t *launch)
{
    json_t *d = json_object(), *smd = json_object(), *mp = enabled();
    put(mp, "parameters", parameters);
    put(smd, "modelparallel", mp);
    put(d, "smdistributed", smd);
    put(d, launcher, launch);
    return d;
}

/* Sharded data parallelism clips by a parameter of its own. */
static void move_clipping(json_t *parameters, json_t *training)
{
    json_t *norm = json_object_get(training, "gradient_clipping");
    if (!norm)
        return;
    json_object_set(parameters, "sdp_gradient_clipping", norm);
    json_object_del(training, "gradient_clipping");
}

static void fill_smp1(const struct plan_job *job, const struct space_point *p,
                      json_t *root)
{
    json_t *o = json_object(), *mpi = enabled();
    bool pipelined = p->v[SPACE_PIPELINE] > 1,
         full = p->v[SPACE_SHARDING] == SHARDING_FULL;
    put_int(o, "pipeline_parallel_degree", p->v[SPACE_PIPELINE]);
    put_int(o, "microbatches", p->microbatches);
    if (pipelined)
        put(o, "pipeline",
            json_string(p->v[SPACE_SCHEDULE] == SCHEDULE_SMP_SIMPLE ? "simple"
                                                                    : "interleaved"));
    put(o, "placement_strategy",
        json_string(strcmp(space_placements[p->v[SPACE_PLACEMENT]], "TPD") == 0
                        ? "spread"
                        : "cluster"));
    put(o, "ddp", json_true());
    if (p->v[SPACE_TENSOR] > 1) {
        put_int(o, "tensor_parallel_degree", p->v[SPACE_TENSOR]);
        put(o, "optimize", json_string(p->v[SPACE_OPTIMIZE] ? "speed" : "memory"));
        put(o, "prescaled_batch", json_true());
    }
    if (p->v[SPACE_SHARDING] == SHARDING_OPTIMIZER)
        put(o, "shard_optimizer_state", json_true());
    if (full) {
        put_int(o, "sharded_data_parallel_degree",
                p->v[SPACE_DEGREE] ? p->v[SPACE_DEGREE] : p->data);
        move_clipping(o, json_object_get(root, "training"));
    }
    if (job->space.precision == OP_FP16)
        put(o, "fp16", json_true());
    if (job->space.precision == OP_BF16)
        put(o, "bf16", json_true());
    put_int(mpi, "processes_per_host", p->v[SPACE_GPUS]);
    put(root, "distribution", smp_json(o, "mpi", mpi));
}

static void fill_smp2(const struct space_point *p, json_t *root)
{
    json_t *o = json_object();
    int64_t degree = p->v[SPACE_DEGREE] ? p->v[SPACE_DEGREE] : p->ranks;
    put_int(o, "hybrid_shard_degree",
            p->v[SPACE_SHARDING] == SHARDING_FULL ? degree : 1);
    put_degree(o, "tensor_parallel_degree", p->v[SPACE_TENSOR]);
    put_degree(o, "context_parallel_degree", p->v[SPACE_CONTEXT]);
    put_degree(o, "expert_parallel_degree", p->v[SPACE_EXPERT]);
    put(root, "distribution", smp_json(o, "torch_distributed", enabled()));
}

json_t *plan_point_json(const struct plan_job *job, const struct space_point *p)
{
    json_t *root = json_deep_copy(job->base);
    put(root, "cluster", cluster_json(job, p));
    fill_training(job, p, json_object_get(root, "training"));
    switch (stack_of(p)->dialect) {
    case DIALECT_WORDS:
        fill_words(job, p, root);
        break;
    case DIALECT_SMP1:
        fill_smp1(job, p, root);
        break;
    case DIALECT_SMP2:
        fill_smp2(p, root);
        break;
    }
    return root;
}

/* Simulation ----------------------------------------------------------------------- */

static void take(struct plan_result *r, const struct simulate_result *s)
{
    memcpy(r->range_s, s->range_s, sizeof(r->range_s));
    r->tie_error = s->interval.tie;
    r->timed = s->step_time_s > 0;
    r->known = r->timed || !s->memory.fits;
    r->fits = s->memory.fits;
    r->step_time_s = s->step_time_s;
    r->samples_per_s = s->samples_per_s;
    r->tokens_per_s = s->tokens_per_s;
    r->mfu = s->mfu;
    r->hfu = s->hfu;
    r->peak_B = s->memory.peak_B;
    r->needed_B = s->memory.needed_B;
    r->capacity_B = s->memory.capacity_B;
    r->near_limit = s->memory.near_limit;
    r->by = s->by;
    memcpy(r->parts_s, s->parts_s, sizeof(r->parts_s));
}

/* The step with its input, and the job around it. */
static int simulate_all(struct plan_result *r, struct cfg_loader *loader,
                        const struct scenario *s, const struct plan_job *job,
                        bool if_fits, struct err *err)
{
    const struct simulate_options step = { .network = FIDELITY_FLOW,
                                           .mute = true,
                                           .unread = { .links = true, .layer = true },
                                           .if_fits = if_fits };
    const struct campaign_how how = { .step = &step, .interval = job->interval };
    struct campaign c;
    struct campaign_result beyond;
    struct simulate_result out;
    if (campaign_read(&c, s))
        return -1;
    if (campaign_simulate(&out, &beyond, loader, &c, s, &how, err))
        return -1;
    if (beyond.job.given) {
        r->job_s = beyond.job.hours * UNITS_HOUR_S;
        r->billed_s = beyond.job.billed_hours * UNITS_HOUR_S;
    }
    take(r, &out);
    return 0;
}

static void say_why(struct plan_result *r, struct diags *d, const struct err *err)
{
    if (err->set)
        snprintf(r->why, sizeof(r->why), "%.190s", err->text);
    else
        snprintf(r->why, sizeof(r->why), "%s",
                 d->n_errors ? diags_error_text(d, 0) : "it cannot be read");
}

static struct cfg_loader *files_of_thread(const struct plan_job *job)
{
    int32_t thread = omp_get_thread_num();
    return thread < job->n_files ? &job->files[thread] : NULL;
}

void plan_point_simulate(const struct plan_job *job, const struct space_point *p,
                         struct plan_point_how how, struct plan_result *r)
{
    struct cfg_loader loader;
    struct scenario s = { 0 };
    struct err err = { 0 };
    *r = (struct plan_result) { 0 };
    cfg_loader_init(&loader);
    loader.shared = files_of_thread(job);
    struct cfg root = cfg_from_tree(&loader, "plan", plan_point_json(job, p));
    int rc = scenario_read(&s, &loader, root);
    if (rc == 0) {
        if (how.tweak)
            how.tweak(&s, &loader.arena, how.factor);
        rc = simulate_all(r, &loader, &s, job, how.if_fits, &err);
    }
    if (rc)
        say_why(r, &loader.diags, &err);
    r->unread = rc && (loader.inputs.n_unread > 0 ||
                       (loader.shared && loader.shared->inputs.n_unread > 0));
    cfg_loader_release(&loader);
}

double plan_point_usd_per_hour(const struct plan_job *job, const struct space_point *p)
{
    const struct space_instance *i = &job->space.instances[p->v[SPACE_INSTANCE]];
    double paid = 1 - job->beyond.job.spot_discount;
    if (job->cluster)
        return job->cluster_usd * paid;
    return i->has_price ? i->usd_per_hour * (double)p->v[SPACE_COUNT] * paid
                        : (double)NAN;
}

char *plan_point_cluster_text(const struct plan_job *job, const struct space_point *p,
                              char *buf, size_t size)
{
    if (job->cluster)
        snprintf(buf, size, "%s", job->cluster_text);
    else
        snprintf(buf, size, "%" PRId64 " x %s", (int64_t)p->v[SPACE_COUNT],
                 job->space.instances[p->v[SPACE_INSTANCE]].name);
    return buf;
}

char *plan_point_text(const struct plan_job *job, const struct space_point *p,
                      char *buf, size_t size)
{
    static const enum space_field degrees[] = { SPACE_TENSOR, SPACE_PIPELINE,
                                                SPACE_CONTEXT, SPACE_EXPERT,
                                                SPACE_VIRTUAL };
    char v[64];
    size_t at = (size_t)snprintf(buf, size, "%s", stack_of(p)->name);
    for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]) && at < size; i++)
        if (p->v[degrees[i]] > 1)
            at += (size_t)snprintf(buf + at, size - at, ", %s %" PRId64,
                                   names_of(space_field_names, (int)degrees[i]),
                                   (int64_t)p->v[degrees[i]]);
    if (p->v[SPACE_PIPELINE] > 1 && at < size)
        at += (size_t)snprintf(
            buf + at, size - at, " (%s)",
            names_of(parallelism_schedule_names, (int)p->v[SPACE_SCHEDULE]));
    if (at < size)
        at += (size_t)space_layout_text(&job->space, p, buf + at, size - at);
    if (p->data > 1 && at < size)
        at +=
            (size_t)snprintf(buf + at, size - at, ", data %" PRId64, (int64_t)p->data);
    if (stack_of(p)->optimize && p->v[SPACE_TENSOR] > 1 && at < size)
        at += (size_t)snprintf(buf + at, size - at, ", optimize %s",
                               p->v[SPACE_OPTIMIZE] ? "speed" : "memory");
    if (p->v[SPACE_SEQUENCE] && at < size)
        at += (size_t)snprintf(buf + at, size - at, ", sequence parallel");
    if (p->v[SPACE_OVERLAP] && at < size)
        at += (size_t)snprintf(buf + at, size - at, ", overlap_tensor");
    static const enum space_field named[] = { SPACE_SHARDING, SPACE_DEGREE,
                                              SPACE_OFFLOAD, SPACE_CHECKPOINTING,
                                              SPACE_BUCKET };
    static const char *const words[] = { "sharded", "over", "offloaded",
                                         "checkpointing", "buckets of" };
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]) && at < size; i++)
        if (p->v[named[i]])
            at += (size_t)snprintf(
                buf + at, size - at, ", %s %s", words[i],
                space_value_text(&job->space, named[i], p->v[named[i]], v, sizeof(v)));
    bool placed = p->v[SPACE_PLACEMENT] != space_stack_placement(stack_of(p));
    if (at < size)
        snprintf(buf + at, size - at, ", micro-batch %" PRId64 " x %" PRId64 "%s%s",
                 (int64_t)p->v[SPACE_MICRO], (int64_t)p->pieces,
                 placed ? ", placement " : "",
                 placed ? space_placements[p->v[SPACE_PLACEMENT]] : "");
    return buf;
}
