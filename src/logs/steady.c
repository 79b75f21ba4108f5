#include "logs/steady.h"

#include "logs/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const logs_kind_names[LOGS_KINDS] = {
    [LOGS_STEADY] = "steady",
    [LOGS_WARMUP] = "warm-up",
    [LOGS_AT_CHECKPOINT] = "checkpoint",
    [LOGS_AT_EVALUATION] = "evaluation",
    [LOGS_AT_PAUSE] = "pause",
    [LOGS_STALL] = "stall",
};

static const double warm_factor = 1.2, event_factor = 1.1, stall_factor = 1.5;

enum { FEW = 4, ENOUGH = 3, DRIFT_OF = 5 };

/* A step's time; NAN: its rate is of something that is not known. */
static double time_of(const struct logs_record *r, const struct logs_step *does)
{
    if (isfinite(r->time_s) && r->of_pass)
        return does->passes > 0 ? r->time_s * does->passes : (double)NAN;
    if (isfinite(r->time_s))
        return r->time_s;
    double of = 0;
    switch (r->rate_of) {
    case LOGS_STEPS:
        of = 1;
        break;
    case LOGS_SAMPLES:
        of = does->samples;
        break;
    case LOGS_TOKENS:
        of = does->tokens;
        break;
    case LOGS_TOKENS_GPU:
        of = does->gpus > 0 ? does->tokens / does->gpus : 0;
        break;
    case LOGS_NO_RATE:
        break;
    }
    return of > 0 ? of / r->rate : (double)NAN;
}

static int32_t best_format(const struct logs *l)
{
    int32_t best = -1;
    for (int32_t i = 0; i < logs_n_formats; i++) {
        int64_t n = l->formats[i].n_records;
        if (n == 0)
            continue;
        int64_t of = best < 0 ? 0 : l->formats[best].n_records;
        bool more = of < ENOUGH && n >= ENOUGH, less = of >= ENOUGH && n < ENOUGH;
        if (best < 0 || more ||
            (!less && logs_format_basis(i) < logs_format_basis(best)))
            best = i;
    }
    return best;
}

/* The number of steps of training's bar: what the trainer says, else that of the bar that
 * has most records. */
static int64_t longest_bar(const struct logs *l)
{
    int64_t best = -1, most = 0;
    for (int64_t i = 0; i < l->records.n && l->total_steps > 0; i++)
        if (l->records.v[i].format == FORMAT_PROGRESS &&
            l->records.v[i].of_steps == l->total_steps)
            return l->total_steps;
    for (int64_t i = 0; i < l->records.n; i++) {
        int64_t of = l->records.v[i].of_steps, n = 0;
        if (l->records.v[i].format != FORMAT_PROGRESS || of == best)
            continue;
        for (int64_t k = i; k < l->records.n && k < i + 4096; k++)
            n += l->records.v[k].of_steps == of;
        if (n > most) {
            most = n;
            best = of;
        }
    }
    return best;
}

struct series {
    const struct logs_record **of;
    double *time_s;
    enum logs_kind *kind;
    int64_t n;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted values. */
static double quantile(const double *v, int64_t n, double q)
{
    double at = q * (double)(n - 1);
    int64_t i = (int64_t)at;
    return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

static double median_from(const struct series *s, int64_t first)
{
    int64_t n = s->n - first;
    double *v = xmalloc((size_t)n * sizeof(*v));
    memcpy(v, s->time_s + first, (size_t)n * sizeof(*v));
    qsort(v, (size_t)n, sizeof(*v), by_value);
    double median = quantile(v, n, 0.5);
    free(v);
    return median;
}

static enum logs_kind kind_of(unsigned events, double over)
{
    if (over > event_factor) {
        if (events & LOGS_CHECKPOINT)
            return LOGS_AT_CHECKPOINT;
        if (events & LOGS_EVALUATION)
            return LOGS_AT_EVALUATION;
        if (events & LOGS_PAUSE)
            return LOGS_AT_PAUSE;
    }
    return over > stall_factor ? LOGS_STALL : LOGS_STEADY;
}

static void set_apart(struct series *s)
{
    double median = median_from(s, s->n / 2);
    int64_t i = 0;
    for (; i < s->n / 2 && (i == 0 || s->time_s[i] > warm_factor * median); i++)
        s->kind[i] = LOGS_WARMUP;
    for (; i < s->n; i++)
        s->kind[i] = kind_of(s->of[i]->events, s->time_s[i] / median);
}

/* Of two or three, the first alone may be apart: it has what a run begins with. */
static void set_first_apart(struct series *s)
{
    if (logs_format_basis(s->of[0]->format) == LOGS_INTERVAL &&
        s->time_s[0] > warm_factor * median_from(s, 1))
        s->kind[0] = LOGS_WARMUP;
}

static double median_of(double *v, int64_t n)
{
    if (n == 0)
        return (double)NAN;
    qsort(v, (size_t)n, sizeof(*v), by_value);
    return quantile(v, n, 0.5);
}

/* How much slower the last third of so many times is than the first; each is sorted. */
static double drift_of(double *v, int64_t n)
{
    int64_t third = n / 3;
    if (third < DRIFT_OF)
        return (double)NAN;
    double last = median_of(v + n - third, third);
    return last / median_of(v, third);
}

/* The distribution of what is steady. */
static void distribute(struct logs_steady *out, const struct series *s)
{
    double *v = xmalloc((size_t)s->n * sizeof(*v)), sum = 0;
    int64_t n = 0, n_flops = 0, n_loading = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (s->kind[i] == LOGS_STEADY) {
            v[n++] = s->time_s[i];
            sum += s->time_s[i];
        }
    out->drift = drift_of(v, n);
    qsort(v, (size_t)n, sizeof(*v), by_value);
    out->median_s = quantile(v, n, 0.5);
    out->p10_s = quantile(v, n, 0.1);
    out->p90_s = quantile(v, n, 0.9);
    out->mean_s = sum / (double)n;
    for (int64_t i = 0; i < s->n; i++)
        if (s->kind[i] == LOGS_STEADY && isfinite(s->of[i]->tflops))
            v[n_flops++] = s->of[i]->tflops;
    out->tflops = median_of(v, n_flops);
    for (int64_t i = 0; i < s->n; i++)
        if (s->kind[i] == LOGS_STEADY && isfinite(s->of[i]->loading_s))
            v[n_loading++] = s->of[i]->loading_s;
    out->loading_s = median_of(v, n_loading);
    free(v);
}

/* Steps that a record is the mean of: those since the one before. */
static double steps_of(const struct series *s, int64_t i)
{
    int64_t before = i > 0 ? s->of[i - 1]->step : -1, step = s->of[i]->step;
    bool mean = logs_format_basis(s->of[i]->format) == LOGS_INTERVAL;
    return mean && before >= 0 && step > before ? (double)(step - before) : 1;
}

static void count(struct logs_steady *out, const struct series *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        struct logs_part *p = &out->parts[s->kind[i]];
        double steps = steps_of(s, i);
        if (p->n++ == 0) {
            p->first_step = s->of[i]->step;
            p->first_line = s->of[i]->line;
        }
        out->total_s += s->time_s[i] * steps;
        if (s->kind[i] != LOGS_STEADY)
            p->lost_s += fmax(s->time_s[i] - out->median_s, 0) * steps;
        p->longest_s = fmax(p->longest_s, s->time_s[i]);
    }
}

/* A rate in samples is of the batch that the logs say, where they say one. */
static struct logs_step step_said(const struct logs *l, const struct logs_step *does)
{
    struct logs_step said = *does;
    if (l->global_batch > 0 && does->samples > 0) {
        said.tokens *= l->global_batch / does->samples;
        said.samples = l->global_batch;
    }
    return said;
}

static void collect(struct logs_steady *out, struct series *s, const struct logs *l,
                    const struct logs_step *does)
{
    int64_t bar = out->format == FORMAT_PROGRESS ? longest_bar(l) : -1;
    const struct logs_step said = step_said(l, does);
    for (int64_t i = 0; i < l->records.n; i++) {
        const struct logs_record *r = &l->records.v[i];
        if (r->format != out->format || (bar >= 0 && r->of_steps != bar))
            continue;
        double t = time_of(r, &said);
        if (!isfinite(t) || t <= 0) {
            out->n_unknown++;
            continue;
        }
        s->of[s->n] = r;
        s->time_s[s->n] = t;
        s->kind[s->n++] = LOGS_STEADY;
    }
}

/* The records that are used, with their kinds; released by release_series. */
static struct series series_of(struct logs_steady *out, const struct logs *l,
                               const struct logs_step *does)
{
    size_t n = (size_t)l->records.n + 1;
    struct series s = { .of = xmalloc(n * sizeof(*s.of)),
                        .time_s = xmalloc(n * sizeof(*s.time_s)),
                        .kind = xmalloc(n * sizeof(*s.kind)) };
    if (out->format >= 0)
        collect(out, &s, l, does);
    out->n = s.n;
    bool mean = out->format >= 0 && logs_format_basis(out->format) == LOGS_MEAN;
    if (mean && s.n > 1) { /* the last has all */
        s.of[0] = s.of[s.n - 1];
        s.time_s[0] = s.time_s[s.n - 1];
        s.n = 1;
    }
    out->few = s.n < FEW;
    out->doubtful = out->format == FORMAT_PROGRESS && !l->trains;
    if (s.n >= FEW)
        set_apart(&s);
    else if (s.n > 1)
        set_first_apart(&s);
    return s;
}

static void release_series(struct series *s)
{
    free(s->of);
    free(s->time_s);
    free(s->kind);
}

double logs_steady_lost(const struct logs_steady *s, enum logs_kind kind)
{
    double after_s = s->total_s - s->parts[LOGS_WARMUP].lost_s;
    bool lost = kind != LOGS_STEADY && kind != LOGS_WARMUP && after_s > 0;
    return lost ? s->parts[kind].lost_s / after_s : 0;
}

struct logs_steady logs_steady_find(const struct logs *l, const struct logs_step *does)
{
    struct logs_steady out = { .format = best_format(l),
                               .tflops = (double)NAN,
                               .loading_s = (double)NAN,
                               .drift = (double)NAN };
    struct series s = series_of(&out, l, does);
    if (s.n) {
        distribute(&out, &s);
        count(&out, &s);
    }
    release_series(&s);
    return out;
}

void logs_steady_visit(const struct logs *l, const struct logs_step *does,
                       logs_steady_fn *each, void *arg)
{
    struct logs_steady out = { .format = best_format(l) };
    struct series s = series_of(&out, l, does);
    for (int64_t i = 0; i < s.n; i++)
        each(arg, s.of[i], s.time_s[i], s.kind[i]);
    release_series(&s);
}
