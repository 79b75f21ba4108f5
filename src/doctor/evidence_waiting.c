/* Evidence of waiting: data, the host, storage, memory. */
#include "doctor/evidence.h"
#include "doctor/variables.h"
#include "doctor/weights.h"

#include <math.h>

/* The share of the step that logs say is spent on loading; NAN: they do not. */
static double loading_share(const struct doctor_view *v)
{
    static const char *const names[] = { "batch-generator", "data-iterator",
                                         "get-batch",       "dataloader",
                                         "batch generator", "data loader" };
    double step_s = v->steady->median_s;
    if (v->steady->n == 0)
        return (double)NAN;
    if (isfinite(v->steady->loading_s))
        return v->steady->loading_s / step_s;
    for (int64_t i = 0; i < v->logs->traces.n; i++) {
        const struct kineto_rank *r = &v->logs->traces.v[i];
        if (r->n_kept && r->mean.loading_s > 0)
            return r->mean.loading_s / r->mean.step_s;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct logs_timer *t = logs_timers_get(&v->logs->timers, names[i]);
        if (t)
            return t->most_s / (double)t->n / step_s;
    }
    return (double)NAN;
}

double evidence_loader(const struct doctor_view *v, const char **why)
{
    double share = loading_share(v);
    if (share > 0.07) {
        *why = "the log says that more than 7 % of a step is loading";
        return strong;
    }
    if (isfinite(share)) {
        *why = "the log says that loading takes little of a step";
        return -strong;
    }
    if (v->logs->notices.of[NOTICE_FEW_WORKERS].n) {
        *why = "PyTorch warns of the number of workers";
        return 1;
    }
    return 0;
}

/* Stalls that no line explains: steps beyond 1.5 of the median. */
double evidence_storage(const struct doctor_view *v, const char **why)
{
    static const double often = 0.03;
    const struct logs_steady *s = v->steady;
    double stalls = (double)s->parts[LOGS_STALL].n, n = (double)s->n;
    if (n < 20 || logs_format_basis(s->format) != LOGS_INTERVAL)
        return 0;
    if (stalls < often * n)
        return stalls > 0 ? 0 : -1;
    *why = "of 30 steps one or more stalls, and no line says why";
    return hint;
}

/* What of a step the GPU waits for late launches, by what the host did meanwhile: the
 * mean of the traces' ranks. NAN: no trace has launches. */
static double late_share(const struct logs *l, enum kineto_late why)
{
    double late = 0, step = 0;
    for (int64_t i = 0; i < l->traces.n; i++) {
        const struct kineto_rank *r = &l->traces.v[i];
        if (r->n_kept == 0 || !r->launches)
            continue;
        late += r->mean.late_s[why];
        step += r->mean.step_s;
    }
    return step > 0 ? late / step : (double)NAN;
}

double evidence_allocator(const struct doctor_view *v, const char **why)
{
    double share = late_share(v->logs, LATE_ALLOCATOR);
    if (share > 0.03) {
        *why = "in the trace, the GPU waits more than 3 % of a step while memory is "
               "allocated";
        return strong;
    }
    if (v->logs->notices.of[NOTICE_CACHE_FLUSH].n) {
        *why = "the log says that the allocator flushed its cache";
        return strong;
    }
    if (isnan(share))
        return 0;
    *why = "in the trace, the GPU does not wait for memory";
    return -strong;
}

/* From 10 % of a step on, a part of the host is seen to be late. */
static double evidence_late(const struct doctor_view *v, enum kineto_late part,
                            double by, const char *is, const char *is_not,
                            const char **why)
{
    double share = late_share(v->logs, part);
    if (isnan(share))
        return 0;
    *why = share > 0.1 ? is : is_not;
    return share > 0.1 ? by : -by;
}

double evidence_host(const struct doctor_view *v, const char **why)
{
    double variable = variable_evidence(v, "host-bound", why);
    if (variable > 0)
        return variable;
    return evidence_late(v, LATE_LAUNCHES, hint,
                         "in the trace, the GPU waits for late launches more than 10 % "
                         "of a step",
                         "in the trace, kernels are launched in time", why);
}

double evidence_sync(const struct doctor_view *v, const char **why)
{
    return evidence_late(v, LATE_SYNC, strong,
                         "in the trace, launches are late by more than 10 % of a step "
                         "after the host waited for the GPU",
                         "in the trace, launches are hardly late after the host waited "
                         "for the GPU",
                         why);
}

/* What timers of the optimizer's step say beyond its predicted time, as a share of the
 * step (Megatron-LM, "optimizer"; DeepSpeed, "step" and "optimizer_step"); NAN: none. */
static double optimizer_excess(const struct doctor_view *v)
{
    static const char *const names[] = { "optimizer", "optimizer_step", "step" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct logs_timer *t = logs_timers_get(&v->logs->timers, names[i]);
        if (t && v->steady->n)
            return (t->least_s / (double)t->n -
                    v->healthy->parts_s[CATEGORY_OPTIMIZER]) /
                   v->steady->median_s;
    }
    return (double)NAN;
}

/* Where parts of the optimizer are sharded, the same timer has the gathers of what was
 * updated, so that a long one says nothing of the host. */
static double optimizer_by_timers(const struct doctor_view *v, const char **why)
{
    double excess = optimizer_excess(v);
    enum sharding sharding = v->healthy->facts.sharding;
    bool gathers = sharding == SHARDING_OPTIMIZER || sharding == SHARDING_GRADIENTS;
    if (isnan(excess) || (gathers && excess > 0.1))
        return 0;
    *why = excess > 0.1
               ? "the timer of the optimizer's step is longer than predicted by "
                 "more than 10 % of a step"
               : "the timer of the optimizer's step is about as predicted";
    return excess > 0.1 ? hint : -hint;
}

double evidence_host_optimizer(const struct doctor_view *v, const char **why)
{
    if (isnan(late_share(v->logs, LATE_OPTIMIZER)))
        return optimizer_by_timers(v, why);
    return evidence_late(v, LATE_OPTIMIZER, strong,
                         "in the trace, the GPU waits more than 10 % of a step for "
                         "launches of the optimizer",
                         "in the trace, the optimizer's kernels are launched in time",
                         why);
}
