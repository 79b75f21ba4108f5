#include "doctor/doctor.h"
#include "doctor/variables.h"

#include <math.h>

const struct name_value doctor_verdict_names[] = {
    { "no_step_time", DOCTOR_NO_TIME },
    { "normal", DOCTOR_NORMAL },
    { "slower", DOCTOR_SLOWER },
    { "faster", DOCTOR_FASTER },
    { NULL, 0 },
};

static enum doctor_verdict verdict_of(const struct doctor *d)
{
    double t = d->steady.median_s;
    if (d->steady.n == 0)
        return DOCTOR_NO_TIME;
    if (t > d->healthy.normal_s[1])
        return DOCTOR_SLOWER;
    return t < d->healthy.normal_s[0] ? DOCTOR_FASTER : DOCTOR_NORMAL;
}

/* Shares of the steps of all traces; false: no trace marks steps. */
static bool traced_shares(struct doctor_shares *s, const struct logs *logs)
{
    double n = 0;
    *s = (struct doctor_shares) { 0 };
    for (int64_t i = 0; i < logs->traces.n; i++) {
        const struct kineto_rank *r = &logs->traces.v[i];
        if (r->n_kept == 0)
            continue;
        s->compute += r->mean.compute_s / r->mean.step_s;
        s->communication += r->mean.exposed_s / r->mean.step_s;
        s->waiting += (r->mean.idle_s + r->mean.copy_exposed_s) / r->mean.step_s;
        n++;
    }
    if (n == 0)
        return false;
    s->compute /= n;
    s->communication /= n;
    s->waiting /= n;
    return true;
}

int doctor_judge(struct doctor *d, struct doctor_predictor *by, const json_t *job,
                 const struct logs *logs, struct err *err)
{
    *d = (struct doctor) { .logs = logs, .ratio = (double)NAN };
    json_t *healthy = variables_healthy(job, &logs->variables);
    if (doctor_predict(&d->healthy, by, healthy, err)) {
        json_decref(healthy);
        return -1;
    }
    const struct doctor_prediction *p = &d->healthy;
    const struct logs_step does = { p->samples, p->tokens, (double)p->gpus, p->passes };
    d->steady = logs_steady_find(logs, &does);
    d->verdict = verdict_of(d);
    if (d->steady.n)
        d->ratio = d->steady.median_s / p->step_s;
    d->other = doctor_contradictions(logs, p);
    d->over_memory =
        logs->allocated_B > p->allocated_B * p->peak_range_B[1] / p->peak_B;
    d->has_trace = traced_shares(&d->traced, logs);
    const struct doctor_view view = { logs, d->has_trace ? &d->traced : NULL,
                                      &d->steady, p };
    if (d->steady.n)
        doctor_explain(&d->causes, by, healthy, &view);
    json_decref(healthy);
    return 0;
}
