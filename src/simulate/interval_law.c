#include "simulate/interval.h"

#include <math.h>

/* As `smsim validate` prints them. */
const struct interval_law interval_law = {
    .measured = { -0.049, 0.056, .experts = 0.084 },
    .other = { -0.121, 0.279, .experts = 0.15 },
    .slow_software = 0, /* none, since the fourth collection of unseen rows */
};

double interval_law_software(const struct interval_place *at)
{
    const double most = 0.5; /* few rows have more */
    return fmin(at->software, most);
}

void interval_law_range(const struct interval_law *law, const struct interval_place *at,
                        bool measured, double log_range[2])
{
    const struct interval_ends *ends = measured ? &law->measured : &law->other;
    log_range[0] = ends->fast;
    log_range[1] = ends->slow + (at->experts ? ends->experts : 0);
    if (!measured)
        log_range[1] += law->slow_software * interval_law_software(at);
}
