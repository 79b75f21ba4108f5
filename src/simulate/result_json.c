#include "simulate/result_json.h"

#include "config/contract.h"
#include "model/recipe.h"

#include <math.h>

static void put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value ? value : json_null());
}

/* Of a result that was judged: all numbers are finite. */
static void put_real(json_t *object, const char *key, double v)
{
    put(object, key, json_real(v));
}

/* null where it is not known. */
static void put_known(json_t *object, const char *key, bool known, double v)
{
    put(object, key, known ? json_real(v) : json_null());
}

static void put_bytes(json_t *object, const char *key, int64_t v)
{
    put(object, key, json_integer(v));
}

static json_t *breakdown(const struct simulate_result *r)
{
    json_t *o = json_object();
    for (int i = 0; i < CATEGORY_N; i++)
        put_real(o, names_of(category_names, i), r->parts_s[i]);
    return o;
}

static json_t *stage(int32_t i, const struct stage_memory *m)
{
    json_t *o = json_object();
    put_bytes(o, "stage", i);
    put_bytes(o, "peak_bytes", m->peak_B);
    put_bytes(o, "parameters", m->parameters_B);
    put_bytes(o, "gradients", m->gradients_B);
    put_bytes(o, "optimizer", m->optimizer_B);
    put_bytes(o, "activations", m->activations_B);
    put_bytes(o, "buffers", m->buffers_B);
    put_bytes(o, "workspace", m->workspace_B);
    put_bytes(o, "framework", m->framework_B);
    return o;
}

/* What would make the job fit, the fastest first; empty where it fits. */
static json_t *remedies(const struct memory_result *m)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < m->n_remedies; i++) {
        json_t *o = json_object();
        put(o, "set", json_string(m->remedies[i].sets));
        put_bytes(o, "peak_bytes", m->remedies[i].peak_B);
        put_real(o, "step_time_s", m->remedies[i].step_time_s);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *memory(const struct memory_result *m)
{
    json_t *o = json_object(), *stages = json_array();
    put_bytes(o, "capacity_bytes", m->capacity_B);
    put_bytes(o, "peak_bytes", m->peak_B);
    put_bytes(o, "reserved_bytes", m->reserved_B);
    put_bytes(o, "allocated_bytes", m->allocated_B);
    put(o, "fits", json_boolean(m->fits));
    put(o, "near_limit", json_boolean(m->near_limit));
    put(o, "range_bytes",
        json_pack("[I, I]", (json_int_t)m->range_B[0], (json_int_t)m->range_B[1]));
    for (int32_t i = 0; i < m->n_stages; i++)
        json_array_append_new(stages, stage(i, &m->stages[i]));
    put(o, "stages", stages);
    put(o, "remedies", remedies(m));
    return o;
}

static json_t *cost(const struct cost_result *c)
{
    json_t *o = json_object();
    bool has_job_price = c->has_price && c->has_job;
    put_known(o, "usd_per_hour", c->has_price, c->usd_per_hour);
    put_known(o, "usd_per_step", c->has_price, c->usd_per_step);
    put_known(o, "usd_per_million_samples", c->has_price, c->usd_per_million_samples);
    put_known(o, "usd_per_job", has_job_price, c->usd_per_job);
    put_known(o, "hours_per_job", c->has_job, c->hours_per_job);
    put(o, "price_date", c->has_price ? json_string(c->price_date) : NULL);
    return o;
}

static void put_name(json_t *object, const char *key, const struct name_value *names,
                     int v)
{
    put(object, key, v < 0 ? NULL : json_string(names_of(names, v)));
}

/* The place of the job among the measured ones. */
static json_t *regime(const struct interval_place *p)
{
    json_t *o = json_object();
    put(o, "gpu", json_string(p->gpu));
    put_name(o, "inside", fabric_kind_names, p->inside);
    put_name(o, "outside", fabric_kind_names, p->outside);
    put(o, "framework", p->framework[0] ? json_string(p->framework) : NULL);
    put_name(o, "sharding", parallelism_sharding_names, p->sharding);
    put_name(o, "precision", op_precision_names, p->precision);
    put_name(o, "checkpointing", checkpointing_names, p->checkpointing);
    for (int i = 0; i < INTERVAL_AXES; i++)
        put(o, interval_axis_names[i], json_integer(llround(exp2(p->log2_of[i]))));
    return o;
}

static json_t *range(const struct simulate_result *r)
{
    const struct interval *t = &r->interval;
    json_t *o = json_object(), *nearest = json_array();
    put(o, "step_time_s", json_pack("[f, f]", r->range_s[0], r->range_s[1]));
    put(o, "grade", json_string(names_of(interval_grade_names, (int)t->grade)));
    for (int32_t i = 0; i < t->n_nearest; i++)
        json_array_append_new(
            nearest, json_sprintf("%s: %s", t->nearest[i]->source, t->nearest[i]->row));
    put(o, "nearest", nearest);
    put(o, "regime", t->judged ? regime(&t->at) : NULL);
    return o;
}

static json_t *kind(enum provenance_kind k)
{
    return json_string(provenance_kind_text(k));
}

/* Where the numbers of the data files are from, of each group of instances. */
static json_t *provenance(const struct scenario *s)
{
    json_t *o = json_object(), *gpus = json_array(), *instances = json_array(),
           *inside = json_array();
    for (int32_t i = 0; i < s->cluster.n_groups; i++) {
        const struct instance *inst = s->cluster.groups[i].instance;
        json_array_append_new(instances, kind(inst->provenance_kind));
        json_array_append_new(gpus, kind(inst->gpu->provenance_kind));
        json_array_append_new(inside, inst->inside ? kind(inst->inside->provenance_kind)
                                                   : json_null());
    }
    put(o, "gpus", gpus);
    put(o, "instances", instances);
    put(o, "inside", inside);
    put(o, "network", s->fabric ? kind(s->fabric->provenance_kind) : NULL);
    put(o, "framework",
        s->training.framework ? kind(s->training.framework->provenance_kind) : NULL);
    return o;
}

static json_t *utilization(const struct simulate_result *r)
{
    json_t *o = json_object();
    put_real(o, "gpu", r->util_gpu);
    put_real(o, "host", r->util_host);
    put_real(o, "nic", r->util_nic);
    put_real(o, "nvlink", r->util_nvlink);
    return o;
}

static json_t *warnings(const struct simulate_result *r)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < r->n_warnings; i++)
        json_array_append_new(list, diag_json(&r->warnings[i]));
    return list;
}

static json_t *layer(const struct layer_result *l)
{
    json_t *o = json_object();
    put_real(o, "forward_s", l->forward_s);
    put_real(o, "backward_s", l->backward_s);
    put_bytes(o, "parameters_bytes", l->parameters_B);
    put_bytes(o, "activations_bytes", l->activations_B);
    return o;
}

/* How products read fewer than 16 bits; NULL: they do not. */
static json_t *recipe(const struct training *t)
{
    const struct op_recipe *r = op_recipe_of(t->precision);
    if (!r)
        return NULL;
    json_t *o = json_object();
    put(o, "title", json_string(r->title));
    put(o, "format", json_string(names_of(dtype_names, (int)r->format)));
    put(o, "quantized_parameters", json_boolean(t->quantized_parameters));
    put(o, "first_layers_16bit", json_integer(t->first_16bit));
    put(o, "last_layers_16bit", json_integer(t->last_16bit));
    return o;
}

static json_t *simulation(const struct simulate_result *r)
{
    json_t *o = json_object();
    put(o, "network", json_string(names_of(fidelity_names, (int)r->network)));
    put(o, "events", json_integer((json_int_t)r->events));
    put(o, "folded", json_boolean(r->folded));
    return o;
}

json_t *result_json(const struct scenario *s, const struct simulate_result *r)
{
    json_t *o = json_object();
    put(o, "schema", json_string(CONTRACT_SIMULATE));
    put(o, "scenario", s->name ? json_string(s->name) : NULL);
    put_real(o, "step_time_s", r->step_time_s);
    put_real(o, "samples_per_s", r->samples_per_s);
    put_real(o, "tokens_per_s", r->tokens_per_s);
    if (r->real_tokens_per_s > 0)
        put_real(o, "real_tokens_per_s", r->real_tokens_per_s);
    put_real(o, "model_flops_per_gpu_s", r->model_flops_per_gpu_s);
    put_real(o, "mfu", r->mfu);
    put_real(o, "hfu", r->hfu);
    put(o, "gpus", json_integer(r->gpus));
    if (r->trained_parameters) {
        put(o, "parameters", json_integer((json_int_t)r->parameters));
        put(o, "trained_parameters", json_integer((json_int_t)r->trained_parameters));
    }
    put(o, "breakdown_s", breakdown(r));
    put(o, "memory", memory(&r->memory));
    put(o, "cost", cost(&r->cost));
    put(o, "range", range(r));
    put(o, "provenance", provenance(s));
    put(o, "utilization", utilization(r));
    put(o, "warnings", warnings(r));
    put(o, "assumed", assumptions_json(&s->assumed));
    put(o, "layer", layer(&r->layer));
    if (op_recipe_of(s->training.precision))
        put(o, "recipe", recipe(&s->training));
    put(o, "simulation", simulation(r));
    return o;
}
