#include "doctor/evidence.h"

#include "doctor/variables.h"
#include "doctor/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double evidence_decides = 4;

/* GPUs ----------------------------------------------------------------------------- */

struct clocks {
    int32_t n, n_throttled;
    double least, median; /* MHz */
    bool has_reasons;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct clocks clocks_of(const struct logs_smi *s)
{
    static const double often = 0.2;
    double mhz[LOGS_SMI_GPUS];
    struct clocks c = { .n = 0 };
    for (int32_t i = 0; i < s->n; i++) {
        const struct logs_gpu *g = &s->gpus[i];
        if (g->n_clock == 0 || g->clock <= 0)
            continue;
        mhz[c.n++] = g->clock / (double)g->n_clock;
        c.has_reasons = c.has_reasons || g->has_throttles;
        c.n_throttled += (double)(g->n_power + g->n_heat) > often * (double)g->n_busy;
    }
    if (c.n == 0)
        return c;
    qsort(mhz, (size_t)c.n, sizeof(*mhz), by_value);
    c.least = mhz[0];
    c.median = mhz[c.n / 2];
    return c;
}

double evidence_throttled(const struct doctor_view *v, const char **why)
{
    struct clocks c = clocks_of(&v->logs->smi);
    if (c.n == 0 || !c.has_reasons)
        return 0;
    if (2 * c.n_throttled > c.n) {
        *why = "most GPUs are throttled by power or heat in a fifth of the samples";
        return strong;
    }
    *why = "most GPUs are not throttled";
    return -strong;
}

/* Megatron's timers say the least and the most of all ranks. */
static bool ranks_differ(const struct logs_timers *t)
{
    static const char *const names[] = { "forward-compute", "backward-compute" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct logs_timer *x = logs_timers_get(t, names[i]);
        if (x && x->most_s > 1.15 * x->least_s)
            return true;
    }
    return false;
}

/* Ranks of which one computes longer than the median of all. */
static bool traces_differ(const struct logs *l, bool *known)
{
    double s[64], most = 0;
    int32_t n = 0;
    for (int64_t i = 0; i < l->traces.n && n < 64; i++)
        if (l->traces.v[i].n_kept)
            s[n++] = l->traces.v[i].mean.compute_s;
    *known = n > 1;
    if (n < 2)
        return false;
    qsort(s, (size_t)n, sizeof(*s), by_value);
    most = s[n - 1];
    return most > 1.07 * s[(n - 1) / 2];
}

double evidence_slow_gpu(const struct doctor_view *v, const char **why)
{
    struct clocks c = clocks_of(&v->logs->smi);
    bool traced;
    if (traces_differ(v->logs, &traced)) {
        *why = "kernels of one rank's trace take more than 7 % longer than those of "
               "others";
        return strong;
    }
    if (c.n > 1 && c.least < 0.93 * c.median) {
        *why = "a GPU's clock is more than 7 % below the median of all";
        return strong;
    }
    if (ranks_differ(&v->logs->timers)) {
        *why = "timers of ranks differ by more than 15 %";
        return hint;
    }
    if (c.n > 1) {
        *why = "all GPUs that were looked at have the same clock";
        return -hint;
    }
    return 0;
}

double evidence_ecc(const struct doctor_view *v, const char **why)
{
    const struct logs_smi *s = &v->logs->smi;
    bool known = false;
    for (int32_t i = 0; i < s->n; i++) {
        known = known || s->gpus[i].has_ecc;
        if (s->gpus[i].ecc <= 0)
            continue;
        *why = "a GPU counts uncorrected ECC errors";
        return strong;
    }
    if (v->logs->notices.of[NOTICE_XID].n) {
        *why = "the driver reported a GPU error (Xid)";
        return strong;
    }
    return known ? -strong : -hint;
}

/* Stages differ for good where GPUs have the same clocks. */
double evidence_uneven_stages(const struct doctor_view *v, const char **why)
{
    struct clocks c = clocks_of(&v->logs->smi);
    bool traced, same = c.n > 1 && c.least >= 0.93 * c.median;
    bool differ = traces_differ(v->logs, &traced) || ranks_differ(&v->logs->timers);
    if (differ && same) {
        *why = "ranks differ, though all GPUs have the same clock";
        return strong;
    }
    if (differ)
        *why = "ranks differ in the time that they compute";
    return differ ? 1 : traced ? -hint : 0;
}

/* How far steady steps are apart. */
double evidence_noisy(const struct doctor_view *v, const char **why)
{
    static const double wide = 1.25, narrow = 1.05;
    const struct logs_steady *s = v->steady;
    double spread = s->p90_s / s->p10_s;
    if (s->parts[LOGS_STEADY].n < 10 || logs_format_basis(s->format) != LOGS_INTERVAL)
        return 0;
    if (spread > wide) {
        *why = "a tenth of the steady steps takes 1.25 times as long as another tenth";
        return hint;
    }
    return spread < narrow ? -hint : 0;
}

/* The job -------------------------------------------------------------------------- */

/* Time of a class of kernels in all traces. */
static double traced_s(const struct logs *l, enum kernel_class class)
{
    double sum = 0;
    for (int64_t i = 0; i < l->traces.n; i++)
        sum += l->traces.v[i].class_s[class];
    return sum;
}

double evidence_unfused(const struct doctor_view *v, const char **why)
{
    const struct logs_notices *n = &v->logs->notices;
    if (traced_s(v->logs, KERNEL_ATTENTION) > 0) {
        *why = "the trace has kernels of fused attention";
        return -certain;
    }
    if (traced_s(v->logs, KERNEL_SOFTMAX) > 0.01 * traced_s(v->logs, KERNEL_PRODUCT)) {
        *why = "the trace has kernels of softmax and none of fused attention";
        return certain;
    }
    if (n->of[NOTICE_NO_FLASH].n == 0 && n->of[NOTICE_EAGER].n == 0)
        return 0;
    *why = "the log says that fused attention is missing";
    return strong;
}

/* Time of the traces' products by format, of those whose names say; the sum. */
static double formats_s(const struct logs *l, double *of)
{
    double sum = 0;
    for (int f = 0; f < KERNEL_FORMATS; f++)
        of[f] = 0;
    for (int64_t i = 0; i < l->traces.n; i++)
        for (int f = KERNEL_ANY + 1; f < KERNEL_FORMATS; f++) {
            of[f] += l->traces.v[i].format_s[f];
            sum += l->traces.v[i].format_s[f];
        }
    return sum;
}

static double evidence_format(const struct doctor_view *v, enum kernel_format f,
                              const char *is, const char *is_not, const char **why)
{
    double of[KERNEL_FORMATS], sum = formats_s(v->logs, of);
    if (sum <= 0)
        return 0;
    bool most = of[f] > 0.5 * sum;
    *why = most ? is : is_not;
    return most ? certain : -certain;
}

double evidence_fp32(const struct doctor_view *v, const char **why)
{
    return evidence_format(v, KERNEL_FP32, "most products of the trace are of fp32",
                           "most products of the trace are not of fp32", why);
}

double evidence_tf32(const struct doctor_view *v, const char **why)
{
    return evidence_format(v, KERNEL_TF32, "most products of the trace are of tf32",
                           "most products of the trace are not of tf32", why);
}

/* What of the gradients' reduction no kernel hides: by traces, else by Megatron's timer of
 * what is left of it after backward (megatron/core/timers.py, "all-grads-sync"), as a
 * share of its predicted time. NAN: the logs do not say. */
static double reduction_exposed(const struct doctor_view *v, double all_s)
{
    static const char *const timers[] = { "all-grads-sync",
                                          "backward-params-all-reduce",
                                          "grads-reduce-scatter", "grads-all-reduce" };
    double time_s = 0, exposed_s = 0;
    for (int64_t i = 0; i < v->logs->traces.n; i++) {
        const struct kineto_rank *r = &v->logs->traces.v[i];
        time_s += r->comm_s[COMM_ALL_REDUCE] + r->comm_s[COMM_REDUCE_SCATTER];
        exposed_s +=
            r->comm_exposed_s[COMM_ALL_REDUCE] + r->comm_exposed_s[COMM_REDUCE_SCATTER];
    }
    if (time_s > 0)
        return exposed_s / time_s;
    for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        const struct logs_timer *t = logs_timers_get(&v->logs->timers, timers[i]);
        if (t)
            return t->least_s / (double)t->n / all_s;
    }
    return (double)NAN;
}

/* All of it without overlap, else the predicted share; either errs by 15 % of the whole.
 * Tensor groups reduce in the open at all times, and are in a trace's sums. */
double evidence_no_overlap(const struct doctor_view *v, const char **why)
{
    static const double matters = 0.3, sd = 0.15, slower = 1.35;
    const struct doctor_prediction *p = v->healthy;
    double hidden_s = p->parts_s[CATEGORY_DATA_COMM_HIDDEN],
           all_s = p->parts_s[CATEGORY_DATA_COMM_EXPOSED] + hidden_s;
    if (!(hidden_s > matters * all_s) || p->facts.tensor > 1)
        return 0;
    double off = reduction_exposed(v, all_s) - 1, with = off + hidden_s / all_s;
    if (isnan(off))
        return 0;
    double e =
        off > slower - 1
            ? -hint
            : fmax(fmin((with * with - off * off) / (2 * sd * sd), strong), -strong);
    *why = e > 0 ? "no kernel runs while gradients are reduced"
           : off > slower - 1
               ? "the reduction of gradients takes longer than it would in the open"
               : "gradients are reduced while kernels run";
    return e;
}

double evidence_padding(const struct doctor_view *v, const char **why)
{
    if (v->logs->notices.of[NOTICE_PADDING].n == 0)
        return -1;
    *why = "the log says that sequences are padded to the longest";
    return hint;
}

double evidence_batch(const struct doctor_view *v, const char **why)
{
    double said = v->logs->global_batch;
    if (said <= 0)
        return 0;
    if (doctor_other_batch(v->logs, v->healthy)) {
        *why = "the log's global batch is not the job's";
        return certain;
    }
    *why = "the log's global batch is the job's";
    return -certain;
}
