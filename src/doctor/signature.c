#include "doctor/signature.h"

#include <math.h>

/* The normal quantile of 90 %: the range holds 80 % of runs. */
static const double quantile_90 = 1.2816;
static const double least_time_sd = 0.04, least_memory_sd = 0.08, share_sd = 0.08;

/* Allocated memory where the logs say it, else reserved. */
static double memory_of(const struct logs *l, double allocated_B, double reserved_B)
{
    double B = l->allocated_B > 0 ? allocated_B : reserved_B;
    bool said = l->allocated_B > 0 || l->reserved_B > 0;
    return said && B > 0 ? log(B) : (double)NAN;
}

struct doctor_point doctor_measured(const struct doctor_view *v)
{
    const struct logs *l = v->logs;
    const struct doctor_shares *t = v->traced;
    return (struct doctor_point) { { [AXIS_TIME] = log(v->steady->median_s),
                                     [AXIS_MEMORY] =
                                         memory_of(l, l->allocated_B, l->reserved_B),
                                     [AXIS_COMPUTE] = t ? t->compute : (double)NAN,
                                     [AXIS_WAITING] = t ? t->waiting : (double)NAN } };
}

struct doctor_signature doctor_signature_of(const struct doctor_view *v,
                                            const struct doctor_prediction *p,
                                            double step_s, struct doctor_shares s)
{
    bool traced = v->traced;
    double faster = log(p->step_s / p->range_s[0]) / quantile_90,
           slower = log(p->range_s[1] / p->step_s) / quantile_90,
           memory = log(p->peak_range_B[1] / p->peak_B) / quantile_90;
    struct doctor_signature g = {
        .at = { [AXIS_TIME] = log(step_s),
                [AXIS_MEMORY] = memory_of(v->logs, p->allocated_B, p->reserved_B),
                [AXIS_COMPUTE] = traced ? s.compute : (double)NAN,
                [AXIS_WAITING] = traced ? s.waiting : (double)NAN },
    };
    for (int i = 0; i < DOCTOR_AXES; i++)
        g.below[i] = g.above[i] =
            i == AXIS_MEMORY ? fmax(least_memory_sd, memory) : share_sd;
    g.below[AXIS_TIME] = fmax(least_time_sd, faster);
    g.above[AXIS_TIME] = fmax(least_time_sd, slower);
    return g;
}

static double normal_density(double x, double sd)
{
    return exp(-0.5 * x * x / (sd * sd)) / (sd * sqrt(2 * acos(-1.0)));
}

double doctor_axis_density(const struct doctor_point *x,
                           const struct doctor_signature *s, enum doctor_axis axis)
{
    double off = x->at[axis] - s->at[axis];
    return isnan(off) ? 1
                      : normal_density(off, off > 0 ? s->above[axis] : s->below[axis]);
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
