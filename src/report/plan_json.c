/* Plans as JSON. */
#include "base/units.h"
#include "report/plan_report.h"

#include "base/xmalloc.h"
#include "config/contract.h"
#include "search/plan_front.h"
#include "search/space_users.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void put(json_t *o, const char *key, json_t *v)
{
    json_object_set_new(o, key, v ? v : json_null());
}

static void put_real(json_t *o, const char *key, double v)
{
    put(o, key, isfinite(v) ? json_real(v) : json_null());
}

static void put_int(json_t *o, const char *key, int64_t v)
{
    put(o, key, json_integer((json_int_t)v));
}

static json_t *parts(const struct plan_result *r)
{
    json_t *o = json_object();
    for (int i = 0; i < CATEGORY_N; i++)
        put_real(o, names_of(category_names, i), r->parts_s[i]);
    return o;
}

static json_t *plan(const struct plan_report *r, const struct plan_entry *e,
                    int32_t rank)
{
    json_t *o = json_object(), *scenario = plan_point_json(r->job, &e->point);
    const struct space_point *p = &e->point;
    put(o, "rank", rank ? json_integer(rank) : NULL);
    put(o, "instance", json_string(r->job->space.instances[p->v[SPACE_INSTANCE]].name));
    put_int(o, "count", p->v[SPACE_COUNT]);
    put_int(o, "gpus", p->world);
    put(o, "parallelism", plan_point_parallelism(p));
    put_int(o, "data", p->data);
    put_int(o, "micro_batch_size", p->v[SPACE_MICRO]);
    put_int(o, "microbatches", p->microbatches);
    put_int(o, "gradient_accumulation_steps", p->accumulation);
    put(o, "activation_checkpointing",
        json_deep_copy(json_object_get(json_object_get(scenario, "training"),
                                       "activation_checkpointing")));
    put(o, "tie", json_boolean(e->tie));
    put(o, "fits", json_boolean(e->result.fits));
    put(o, "near_limit", json_boolean(e->result.near_limit));
    put_real(o, "step_time_s", e->result.step_time_s);
    put(o, "range_s", json_pack("[f, f]", e->result.range_s[0], e->result.range_s[1]));
    put_real(o, "samples_per_s", e->result.samples_per_s);
    put_real(o, "mfu", e->result.mfu);
    put_int(o, "peak_bytes", e->result.peak_B);
    put_real(o, "usd_per_hour", e->usd_per_hour);
    put_real(o, "usd_per_million_samples", plan_axis_value(r->job, e, PLAN_AXIS_COST));
    put_real(o, "hours_per_job", e->hours);
    put_real(o, "billed_hours_per_job",
             e->result.job_s > 0 ? e->result.billed_s / UNITS_HOUR_S : (double)NAN);
    put_real(o, "usd_per_job", e->usd);
    put_real(o, "score_step_time_s", e->score_s);
    put(o, "breakdown_s", parts(&e->result));
    put(o, "scenario", scenario);
    return o;
}

static json_t *front(const struct plan_report *r, enum plan_axis axis)
{
    const struct plan_outcome *o = r->outcome;
    int32_t *at = xcalloc((size_t)o->n_entries + 1, sizeof(*at));
    int32_t n = plan_front(at, r->job, o, axis);
    json_t *list = json_array();
    for (int32_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(at[i] + 1));
    free(at);
    return list;
}

static json_t *why(const struct plan_report *r)
{
    if (!r->why)
        return json_null();
    json_t *o = json_object(), *more = json_array(), *near = json_array();
    put(o, "bottleneck",
        json_string(names_of(category_names, (int)r->why->bottleneck)));
    for (int i = 0; i < PLAN_SENSITIVITIES; i++) {
        const struct plan_sensitivity *s = &r->why->sensitivities[i];
        json_t *one = json_object();
        put(one, "what", json_string(s->what ? s->what : ""));
        put_real(one, "time_per_sample", s->known ? s->per_sample : (double)NAN);
        json_array_append_new(more, one);
    }
    for (int32_t i = 0; i < r->why->n_alternatives; i++) {
        const struct plan_alternative *a = &r->why->alternatives[i];
        char v[64];
        json_t *one = json_object();
        put(one, "field", json_string(names_of(space_field_names, (int)a->field)));
        put(one, "value",
            json_string(space_value_text(&r->job->space, a->field,
                                         a->entry.point.v[a->field], v, sizeof(v))));
        put(one, "fits", json_boolean(a->entry.result.fits));
        put_real(one, "step_time_s", a->entry.result.step_time_s);
        put_int(one, "peak_bytes", a->entry.result.peak_B);
        put(one, "worse", json_string(names_of(category_names, (int)a->worse)));
        put_real(one, "worse_s", a->worse_s);
        json_array_append_new(near, one);
    }
    put(o, "sensitivities", more);
    put(o, "alternatives", near);
    return o;
}

static json_t *remedies(const struct plan_report *r)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < r->n_remedies; i++) {
        const struct plan_remedy *x = &r->remedies[i];
        json_t *o = json_object();
        put(o, "what", json_string(x->what));
        put(o, "tried", json_boolean(x->tried));
        put(o, "fits", json_boolean(x->fits));
        put(o, "cluster", x->cluster ? json_string(x->cluster) : NULL);
        put(o, "plan", x->text ? json_string(x->text) : NULL);
        put(o, "peak_bytes",
            x->has_entry ? json_integer((json_int_t)x->entry.result.peak_B) : NULL);
        json_array_append_new(list, o);
    }
    return list;
}

static void add_warning(json_t *list, struct arena *arena, enum diag_code code,
                        const char *text)
{
    struct diag d = { .severity = DIAG_WARNING, .code = code };
    if (!text)
        return;
    d = diag_made(arena, d, text);
    json_array_append_new(list, diag_json(&d));
}

/* What reading found, then what planning did. */
static json_t *warnings(const struct plan_report *r)
{
    const struct plan_outcome *x = r->outcome;
    struct arena *arena = &r->job->loader->arena;
    json_t *list = diags_json(&r->job->loader->diags);
    add_warning(list, arena, DIAG_PRICE_DATES, r->job->price_note);
    add_warning(list, arena, DIAG_WITHOUT_EFFECT, plan_job_unused(r->job));
    char *left = x->refusal ? xasprintf("%" PRId64 " left out: %s", (int64_t)x->refused,
                                        x->refusal)
                            : NULL;
    add_warning(list, arena, DIAG_LEFT_OUT, left);
    free(left);
    return list;
}

/* The best plan of each filter that keeps back what would be better. */
static json_t *kept_back(const struct plan_report *r)
{
    json_t *list = json_array();
    char why[200];
    for (int i = 0; i <= PLAN_LISTED_MAX; i++) {
        const struct plan_entry *e = &r->outcome->kept[i];
        if (!r->outcome->has_kept[i])
            continue;
        json_t *o = plan(r, e, 0);
        put_real(o, "less", 1 - e->value / r->outcome->entries[0].value);
        put(o, "why",
            json_string(i == PLAN_TIGHT ? "it fits with less than 90 %"
                                        : space_users_why(&r->job->space, &e->point,
                                                          why, sizeof(why))));
        json_array_append_new(list, o);
    }
    return list;
}

json_t *report_plan_json(const struct plan_report *r)
{
    const struct plan_outcome *x = r->outcome;
    json_t *o = json_object(), *plans = json_array();
    put(o, "schema", json_string(CONTRACT_PLAN));
    put_real(o, "combinations", x->space);
    put_int(o, "evaluated", x->evaluated);
    put_int(o, "feasible", x->feasible);
    put_int(o, "simulated", x->simulated);
    put_int(o, "too_large", x->unfit);
    put_int(o, "refused", x->refused);
    put_int(o, "within_score_error", x->near);
    put_int(o, "ranks_sure", x->n_sure);
    put_real(o, "score_error", x->score_error);
    put_real(o, "tie_error", x->tie_error);
    put(o, "complete", json_boolean(x->complete));
    put(o, "objective",
        json_string(names_of(plan_objective_names, (int)r->options->objective)));
    for (int32_t i = 0; i < x->n_entries; i++)
        json_array_append_new(plans, plan(r, &x->entries[i], i + 1));
    put(o, "plans", plans);
    put(o, "kept_back", kept_back(r));
    put(o, "front_time_cost", front(r, PLAN_AXIS_COST));
    put(o, "front_time_memory", front(r, PLAN_AXIS_MEMORY));
    put(o, "why", why(r));
    const struct plan_entry *near = x->n_entries     ? NULL
                                    : x->n_over      ? &x->over[0]
                                    : x->has_nearest ? &x->nearest
                                                     : NULL;
    put(o, "nearest", near ? plan(r, near, 1) : NULL);
    put(o, "remedies", remedies(r));
    put(o, "warnings", warnings(r));
    put(o, "assumed", assumptions_json(&r->job->assumed));
    return o;
}
