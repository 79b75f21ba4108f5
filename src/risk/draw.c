#include "risk/draw.h"

#include "base/mix.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* No factor is larger than e to that: a law of Student's has no largest. */
static const double most_log = 3;

/* What a number is drawn for. */
enum use { USE_SHARED, USE_OWN, USE_SLOW, USE_SLOWNESS, USE_MEMORY, USE_STATE };

/* In (0, 1), never 0 or 1. */
static double uniform(const struct risk_draw *d, enum use use, uint64_t key)
{
    uint64_t of_draw = mix64(mix64((uint64_t)d->seed) ^ (uint64_t)d->number),
             bits = mix64(mix64(of_draw ^ (uint64_t)use) ^ key) >> 11;
    return ((double)bits + 0.5) * 0x1p-53;
}

static double normal(const struct risk_draw *d, enum use use, uint64_t key)
{
    return gsl_cdf_ugaussian_Pinv(uniform(d, use, key));
}

/* The quantile of Student's law of RISK_FREEDOM (4) degrees: Shaw, Sampling Student's T
 * distribution (2006), equation 37. */
static double student_quantile(double u)
{
    double a = sqrt(4 * u * (1 - u)), q = cos(acos(a) / 3) / a;
    return copysign(2 * sqrt(fmax(q - 1, 0)), u - 0.5);
}

struct risk_draw risk_draw_make(int64_t seed, int32_t number)
{
    struct risk_draw d = { .seed = seed, .number = number };
    for (int k = 0; k < RESOURCE_N; k++)
        d.z[k] = student_quantile(uniform(&d, USE_SHARED, (uint64_t)k));
    for (int k = RESOURCE_N; k < RISK_SHARED; k++)
        d.z[k] = normal(&d, USE_SHARED, (uint64_t)k);
    return d;
}

double risk_draw_factor(const struct risk_draw *d, const struct risk_widths *w,
                        enum resource k, double octaves)
{
    double times = k == RESOURCE_NETWORK ? fmax(octaves, 0) : 1;
    return exp(fmin(times * w->resource[k] * d->z[k], most_log));
}

double risk_step_s(const struct resources *by, const double factor[RESOURCE_N])
{
    double s = -by->data_s * factor[by->data_by], f = factor[by->data_by];
    for (int k = 0; k < RESOURCE_N; k++)
        s += by->s[k] * factor[k];
    return s + fmax(f * by->data_s, f * (by->data_s + by->hidden_s) - by->window_s);
}

/* The residual of the plan's own. */
static double own(const struct risk_draw *d, const struct risk_widths *w,
                  const struct risk_plan *p)
{
    double width = w->own * exp(w->own_spread * d->z[RISK_SYSTEM]),
           e = width * normal(d, USE_OWN, p->key);
    if (uniform(d, USE_SLOW, p->key) < w->slow_share)
        e -= w->slow * log(uniform(d, USE_SLOWNESS, p->key));
    return exp(e);
}

double risk_draw_time(const struct risk_draw *d, const struct risk_widths *w,
                      const struct risk_plan *p)
{
    double factor[RESOURCE_N], known_s = 0;
    for (int k = 0; k < RESOURCE_N; k++) {
        factor[k] = risk_draw_factor(d, w, (enum resource)k, p->octaves);
        known_s += p->by.s[k];
    }
    double more_s = risk_step_s(&p->by, factor) - known_s;
    return p->usual > 0 ? (1 + more_s / p->usual) * own(d, w, p) : 1;
}

static double shared_memory(const struct risk_draw *d, const struct risk_widths *w)
{
    return w->memory_mean + w->memory_shared * d->z[RISK_MEMORY];
}

/* The peak of its memory over the predicted one. */
static double draw_memory(const struct risk_draw *d, const struct risk_widths *w,
                          const struct risk_plan *p)
{
    return exp(shared_memory(d, w) + w->memory_own * normal(d, USE_MEMORY, p->key));
}

double risk_draw_unfit(const struct risk_draw *d, const struct risk_widths *w,
                       const struct risk_plan *p)
{
    double room = log(p->capacity_B / p->peak_B) - shared_memory(d, w);
    if (w->memory_own <= 0)
        return room < 0;
    return gsl_cdf_ugaussian_Q(room / w->memory_own);
}

double risk_draw_worth(const struct risk_draw *d, const struct risk_widths *w,
                       const struct risk_plan *p, bool of_memory)
{
    double memory = exp(shared_memory(d, w));
    return p->value * (of_memory ? memory : risk_draw_time(d, w, p));
}

/* How many times as long it takes in the state that its run is in. */
static double state_times(const struct risk_draw *d, const struct risk_plan *p)
{
    double u = uniform(d, USE_STATE, p->key);
    for (int k = 0; k < RISK_STATES; k++) {
        u -= p->states[k].chance;
        if (u < 0)
            return p->states[k].times;
    }
    return 1;
}

double risk_draw_value(const struct risk_draw *d, const struct risk_widths *w,
                       const struct risk_plan *p, bool of_memory)
{
    double memory = draw_memory(d, w, p);
    if (p->peak_B * memory > p->capacity_B)
        return INFINITY;
    if (of_memory)
        return p->value * memory;
    return p->value * risk_draw_time(d, w, p) * state_times(d, p);
}

struct risk_widths risk_shared_alone(const struct risk_widths *w)
{
    struct risk_widths shared = *w;
    shared.own = shared.slow_share = 0;
    return shared;
}
