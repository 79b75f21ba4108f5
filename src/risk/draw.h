/* One draw of what is not known. Private to this folder. */
#ifndef RISK_DRAW_H
#define RISK_DRAW_H

#include "risk/risk.h"

/* Unknowns that plans share: those of resources in scales of Student's law, the others
 * in deviations of a normal one. */
enum { RISK_MEMORY = RESOURCE_N, RISK_SYSTEM, RISK_SHARED };

struct risk_draw {
    int64_t seed;
    int32_t number;
    double z[RISK_SHARED];
};

struct risk_draw risk_draw_make(int64_t seed, int32_t number);

/* The factor on the time of a resource, for a plan on so many nodes. */
double risk_draw_factor(const struct risk_draw *d, const struct risk_widths *w,
                        enum resource k, double octaves);

/* The step's time over the predicted one. */
double risk_draw_time(const struct risk_draw *d, const struct risk_widths *w,
                      const struct risk_plan *p);

/* The probability that the plan does not fit in draws of the same shared unknowns; what it
 * is worth where it does and runs as predicted, without what of its memory is its own. */
double risk_draw_unfit(const struct risk_draw *d, const struct risk_widths *w,
                       const struct risk_plan *p);
double risk_draw_worth(const struct risk_draw *d, const struct risk_widths *w,
                       const struct risk_plan *p, bool of_memory);

/* What the plan is worth in the draw; INFINITY where it does not fit. */
double risk_draw_value(const struct risk_draw *d, const struct risk_widths *w,
                       const struct risk_plan *p, bool of_memory);

/* The widths without residuals of the plans' times. */
struct risk_widths risk_shared_alone(const struct risk_widths *w);

/* The time of a step whose resources take `factor` times as long, without residuals. */
double risk_step_s(const struct resources *by, const double factor[RESOURCE_N]);

#endif
