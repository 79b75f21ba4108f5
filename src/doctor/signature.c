#include "doctor/signature.h"

#include <math.h>

/* The range holds 80 % of runs: the normal quantile of 90 %, and that of the two-sided
 * exponential, log(5) / sqrt(2) deviations. */
static const double quantile_90 = 1.2816, end_over_sd = 1.1380;
static const double least_time_sd = 0.04, least_memory_sd = 0.08, part_sd = 0.3;
static const double idle_sd_below = 0.2, idle_sd_above = 0.1;

/* Of the predicted step of the job as it is described. */
static const double part_floor = 0.1, compute_floor = 1e-3;

/* Allocated memory where the logs say it, else reserved. */
static double memory_of(const struct logs *l, double allocated_B, double reserved_B)
{
    double B = l->allocated_B > 0 ? allocated_B : reserved_B;
    bool said = l->allocated_B > 0 || l->reserved_B > 0;
    return said && B > 0 ? log(B) : (double)NAN;
}

/* What checkpoints, evaluation and stalls take of the time is apart. */
double doctor_idle_share(const struct logs_smi *s, const struct logs_steady *steps)
{
    static const int64_t enough = 20;
    double used = 0, steady = 1;
    int64_t n = 0;
    for (int32_t i = 0; i < s->n; i++) {
        used += s->gpus[i].used / 100;
        n += s->gpus[i].n_used;
    }
    for (int k = 0; k < LOGS_KINDS; k++)
        steady -= logs_steady_lost(steps, (enum logs_kind)k);
    if (n < enough || steady <= 0)
        return (double)NAN;
    return 1 - fmin(used / (double)n / steady, 1);
}

static double idle_of(const struct doctor_view *v)
{
    return v->traced ? (double)NAN : doctor_idle_share(&v->logs->smi, v->steady);
}

/* A step's time, or that of its parts where a trace says them; a part below 0 is one that
 * a shorter step has no place for. */
static void take_step(double at[DOCTOR_AXES], const struct doctor_view *v,
                      double step_s, const struct doctor_shares *s)
{
    double floor_s = part_floor * v->healthy->step_s;
    at[AXIS_TIME] = at[AXIS_COMPUTE] = at[AXIS_COMMUNICATION] = at[AXIS_WAITING] =
        (double)NAN;
    if (!v->traced) {
        at[AXIS_TIME] = log(step_s);
        return;
    }
    at[AXIS_COMPUTE] =
        log(fmax(s->compute * step_s, compute_floor * v->healthy->step_s));
    at[AXIS_COMMUNICATION] = log(fmax(s->communication * step_s, 0) + floor_s);
    at[AXIS_WAITING] = log(fmax(s->waiting * step_s, 0) + floor_s);
}

struct doctor_point doctor_measured(const struct doctor_view *v)
{
    const struct logs *l = v->logs;
    struct doctor_point x;
    take_step(x.at, v, v->steady->median_s, v->traced);
    x.at[AXIS_MEMORY] = memory_of(l, l->allocated_B, l->reserved_B);
    x.at[AXIS_IDLE] = idle_of(v);
    return x;
}

/* Parts c, x and w of a step t: d(log c) d(log(x + f)) d(log(w + f)) is
 * t^3 / (c (x + f) (w + f)) of d(log t) d(c / t) d(w / t). */
double doctor_traced_density(const struct doctor_view *v)
{
    double step_s = v->steady->median_s;
    struct doctor_point x = doctor_measured(v);
    return exp(x.at[AXIS_COMPUTE] + x.at[AXIS_COMMUNICATION] + x.at[AXIS_WAITING] -
               3 * log(step_s));
}

struct doctor_signature doctor_signature_of(const struct doctor_view *v,
                                            const struct doctor_prediction *p,
                                            double step_s, struct doctor_shares s)
{
    double faster = log(p->step_s / p->tenth_s[0]),
           slower = log(p->tenth_s[1] / p->step_s),
           memory = log(p->peak_range_B[1] / p->peak_B) / quantile_90;
    struct doctor_signature g;
    take_step(g.at, v, step_s, &s);
    g.at[AXIS_MEMORY] = memory_of(v->logs, p->allocated_B, p->reserved_B);
    g.at[AXIS_IDLE] = isnan(idle_of(v)) ? (double)NAN : s.waiting;
    g.below[AXIS_IDLE] = idle_sd_below;
    g.above[AXIS_IDLE] = idle_sd_above;
    g.below[AXIS_MEMORY] = g.above[AXIS_MEMORY] = fmax(least_memory_sd, memory);
    g.below[AXIS_TIME] = fmax(least_time_sd, faster / end_over_sd);
    g.above[AXIS_TIME] = fmax(least_time_sd, slower / end_over_sd);
    double fast_sd = fmax(least_time_sd, faster / quantile_90),
           slow_sd = fmax(least_time_sd, slower / quantile_90);
    g.below[AXIS_COMPUTE] = g.above[AXIS_COMPUTE] = fast_sd;
    for (int i = AXIS_COMMUNICATION; i <= AXIS_WAITING; i++) {
        double steps = step_s / exp(g.at[i]);
        g.below[i] = fmin(part_sd, fast_sd * steps);
        g.above[i] = fmin(part_sd, slow_sd * steps);
    }
    return g;
}

/* By its deviation, which is the root of 2 times the scale. */
static double exponential_density(double x, double sd)
{
    double scale = sd / sqrt(2);
    return exp(-fabs(x) / scale) / (2 * scale);
}

static double normal_density(double x, double sd)
{
    return exp(-0.5 * x * x / (sd * sd)) / (sd * sqrt(2 * acos(-1.0)));
}

double doctor_axis_density(const struct doctor_point *x,
                           const struct doctor_signature *s, enum doctor_axis axis)
{
    double off = x->at[axis] - s->at[axis],
           sd = off > 0 ? s->above[axis] : s->below[axis];
    if (isnan(off))
        return 1;
    return axis == AXIS_TIME ? exponential_density(off, sd) : normal_density(off, sd);
}

double doctor_density(const struct doctor_point *x, const struct doctor_signature *s)
{
    double density = 1;
    for (int i = 0; i < DOCTOR_AXES; i++)
        density *= doctor_axis_density(x, s, (enum doctor_axis)i);
    return density;
}

unsigned doctor_axes(const struct doctor_signature *s)
{
    unsigned axes = 0;
    for (unsigned i = 0; i < DOCTOR_AXES; i++)
        axes |= isnan(s->at[i]) ? 0 : 1u << i;
    return axes;
}

struct doctor_point doctor_corner(const struct doctor_signature *s, unsigned sides)
{
    struct doctor_point x;
    for (int i = 0; i < DOCTOR_AXES; i++)
        x.at[i] = s->at[i] + (sides >> i & 1 ? s->above[i] : -s->below[i]);
    return x;
}
