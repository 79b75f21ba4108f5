/* The JSON of "uncertainty" in a result. */
#include "base/units.h"
#include "campaign/uncertainty.h"

#include <math.h>

static void put(json_t *o, const char *key, double v)
{
    json_object_set_new(o, key, isfinite(v) ? json_real(v) : json_null());
}

static json_t *distribution(const struct distribution *d, int64_t samples)
{
    json_t *o = json_object();
    put(o, "p5", d->p5);
    put(o, "p50", d->p50);
    put(o, "p95", d->p95);
    put(o, "mean", d->mean);
    put(o, "sd", d->sd);
    json_object_set_new(o, "samples", json_integer(samples));
    return o;
}

static json_t *goodput(const struct uncertainty_result *r)
{
    const struct goodput_result *g = &r->goodput;
    if (!r->has_goodput)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "steps_per_day",
                        distribution(&g->steps_per_day, r->samples));
    put(o, "fraction", g->fraction);
    put(o, "lost_work", g->lost);
    put(o, "checkpoints", g->checkpoints);
    put(o, "restarts", g->restarts);
    put(o, "expected_fraction", g->expected_fraction);
    put(o, "failures_per_day", g->failures_per_day);
    put(o, "mtbf_hours", g->process.mtbf_s / UNITS_HOUR_S);
    put(o, "checkpoint_interval_s", g->process.interval_s);
    put(o, "checkpoint_time_s", g->process.checkpoint_s);
    put(o, "restart_time_s", g->process.restart_s);
    put(o, "job_hours", g->job_hours);
    json_object_set_new(o, "gave_up", json_integer(g->gave_up));
    return o;
}

json_t *uncertainty_json(const struct uncertainty_result *r)
{
    if (!r->given)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "seed", json_integer(r->seed));
    json_object_set_new(o, "every_rank", json_boolean(r->unfolded));
    json_object_set_new(o, "step_time_s", distribution(&r->step_time_s, r->samples));
    put(o, "slowdown", r->slowdown);
    put(o, "samples_per_s", r->samples_per_s);
    json_object_set_new(o, "goodput", goodput(r));
    return o;
}
