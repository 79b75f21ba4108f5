#include "lib/lib.h"

#include "base/xmalloc.h"
#include "config/pointer.h"
#include "report/plan_report.h"
#include "search/plan/given.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LISTED = 10, SIMULATED = 100, SIMULATED_EACH = 4 };

struct wanted { /* of a request, by name */
    int objective, stack, risk;
};

/* What is asked for by names that there are not; false after refusing. */
static bool read_names(struct lib_call *c, struct wanted *w,
                       const struct smsim_plan_request *q)
{
    const struct {
        const struct name_value *names;
        const char *value, *what;
        int *out;
    } rows[] = {
        { plan_objective_names, q->objective, "objective is unknown", &w->objective },
        { space_for_names, q->stack, "stack is unknown", &w->stack },
        { risk_rule_names, q->risk, "risk is unknown", &w->risk },
    };
    *w = (struct wanted) { .objective = PLAN_TIME, .risk = RISK_MEAN };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].value && names_find(rows[i].names, rows[i].value, rows[i].out)) {
            lib_call_refuse(c, rows[i].what, rows[i].value);
            return false;
        }
    return true;
}

/* What is wrong with a request; NULL: nothing. */
static const char *wrong(const struct smsim_plan_request *q)
{
    bool all = q->model && q->instances && q->global_batch > 0;
    if (q->size != sizeof(*q))
        return "request.size is not that of this struct";
    if (!q->job && !all)
        return "a job is missing, or model, instances, global_batch and, but for "
               "models "
               "of pictures, sequence_length";
    if (q->job && (q->model || q->sequence_length))
        return "model and sequence_length are the job's to say";
    if (q->top < 0 || q->top > 100000)
        return "top is from 1 to 100000";
    if (q->draws && (q->draws < 20 || q->draws > 100000))
        return "draws are from 20 to 100000";
    if (q->global_batch < 0 || q->sequence_length < 0 || q->seed < 0)
        return "global_batch, sequence_length and seed are not negative";
    if (!(q->tokens >= 0 && q->max_cost_usd >= 0 && q->deadline_h >= 0))
        return "tokens, max_cost_usd and deadline_h are not negative";
    if (q->threads < 0)
        return "threads is not negative";
    return NULL;
}

static struct raw_plan list_of(const char *const *list)
{
    return (struct raw_plan) { lib_count(list), list };
}

static int load(struct lib_call *c, struct plan_job *job,
                const struct smsim_plan_request *q, int stack)
{
    struct plan_request r = {
        .model = q->model,
        .instances = q->instances,
        .count = q->count,
        .global_batch = q->global_batch,
        .sequence = q->sequence_length,
        .tokens = q->tokens,
        .stacks = stack,
        .sets = list_of(q->sets),
        .fixes = list_of(q->fixes),
        .allows = list_of(q->allows),
        .prices = list_of(q->prices),
    };
    if (!q->job)
        return plan_job_init(job, &c->loader, &r);
    r.scenario = lib_job_root(c, q->job);
    r.script = q->job->script;
    json_t *count = pointer_get(r.scenario.json, "/cluster/count");
    if (r.script && r.instances && !r.count && json_is_integer(count))
        r.count = arena_printf(&c->loader.arena, "%" PRId64,
                               (int64_t)json_integer_value(count));
    if (r.script)
        plan_given_script(&r, &c->loader.diags);
    return plan_job_init(job, &c->loader, &r);
}

/* A number of a plan; null is NAN. */
static double number(const json_t *plan, const char *key)
{
    const json_t *v = json_object_get(plan, key);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static void fill(struct smsim_plan *p, const json_t *plan)
{
    *p = (struct smsim_plan) {
        .instance = xstrdup(json_string_value(json_object_get(plan, "instance"))
                                ? json_string_value(json_object_get(plan, "instance"))
                                : ""),
        .count = json_integer_value(json_object_get(plan, "count")),
        .gpus = json_integer_value(json_object_get(plan, "gpus")),
        .step_time_s = number(plan, "step_time_s"),
        .samples_per_s = number(plan, "samples_per_s"),
        .mfu = number(plan, "mfu"),
        .peak_bytes = (int64_t)json_number_value(json_object_get(plan, "peak_bytes")),
        .usd_per_hour = number(plan, "usd_per_hour"),
        .usd_per_million_samples = number(plan, "usd_per_million_samples"),
        .hours_per_job = number(plan, "hours_per_job"),
        .usd_per_job = number(plan, "usd_per_job"),
        .scenario = lib_json(json_object_get(plan, "scenario")),
    };
}

/* The first of those that the JSON lists. */
static struct smsim_plans *make(const struct plan_report *r, size_t most)
{
    struct smsim_plans *out = xcalloc(1, sizeof(*out));
    json_t *tree = report_plan_json(r), *list = json_object_get(tree, "plans");
    size_t n = json_array_size(list) < most ? json_array_size(list) : most;
    struct smsim_plan *plans = xcalloc(n, sizeof(*plans));
    for (size_t i = 0; i < n; i++)
        fill(&plans[i], json_array_get(list, i));
    *out = (struct smsim_plans) { (int32_t)n, plans, lib_json(tree) };
    json_decref(tree);
    return out;
}

static int search(struct lib_call *c, struct smsim_plans **plans,
                  const struct plan_job *job, const struct plan_options *o)
{
    struct plan_outcome out;
    struct arena *arena = &c->loader.arena;
    struct plan_why *why = ARENA_NEW(arena, struct plan_why);
    struct plan_remedy *remedies =
        ARENA_ARRAY(arena, PLAN_REMEDIES, struct plan_remedy);
    if (plan_search(&out, arena, job, o, &c->err))
        return -1;
    struct plan_report r = { .job = job, .options = o, .outcome = &out };
    if (out.n_entries) {
        plan_why(why, job, o, &out);
        r.why = why;
    } else if (out.n_over == 0) {
        r.n_remedies = plan_remedies(remedies, arena, job, o);
        r.remedies = remedies;
    }
    *plans = make(&r, (size_t)o->listed);
    return 0;
}

/* Enough to be sure of so many ranks, as a rule: as the command. */
static int32_t simulated_most(int32_t listed)
{
    return listed * SIMULATED_EACH > SIMULATED ? listed * SIMULATED_EACH : SIMULATED;
}

static struct plan_options options_of(const struct smsim_plan_request *q,
                                      const struct wanted *w)
{
    const int32_t listed = q->top ? q->top : LISTED;
    return (struct plan_options) {
        .objective = (enum plan_objective)w->objective,
        .listed = listed,
        .simulate_most = simulated_most(listed),
        .exhaustive = q->exhaustive != 0,
        .risk = { .rule = (enum risk_rule)w->risk,
                  .draws = q->draws ? q->draws : risk_usual.draws,
                  .seed = q->seed },
        .max_cost_usd = q->max_cost_usd,
        .deadline_h = q->deadline_h,
    };
}

static struct smsim_plans *run(struct lib_call *c, const struct smsim_plan_request *q)
{
    struct wanted w;
    struct plan_job job = { 0 };
    struct smsim_plans *plans = NULL;
    const char *what = wrong(q);
    if (what)
        return lib_call_refuse(c, what, NULL);
    if (!read_names(c, &w, q))
        return NULL;
    struct plan_options o = options_of(q, &w);
    int rc = load(c, &job, q, w.stack);
    if (rc == 0)
        rc = plan_given_budget(&job, &o, &c->err);
    if (rc == 0)
        rc = search(c, &plans, &job, &o);
    plan_job_release(&job);
    if (rc)
        return lib_call_fail(c);
    lib_call_end(c);
    return plans;
}

struct smsim_plans *smsim_plan(const struct smsim_plan_request *request,
                               struct smsim_error *error)
{
    struct lib_call c;
    LIB_BEGIN(&c, error, request->size == sizeof(*request) ? request->threads : 0)
    return run(&c, request);
}

void smsim_plans_free(struct smsim_plans *p)
{
    for (int32_t i = 0; p && i < p->n_plans; i++) {
        free((char *)(uintptr_t)p->plans[i].instance);
        free((char *)(uintptr_t)p->plans[i].scenario);
    }
    if (p) {
        free((struct smsim_plan *)(uintptr_t)p->plans);
        free((char *)(uintptr_t)p->json);
    }
    free(p);
}
