#include "simulate/interval.h"

/* As `smsim validate` prints them. */
const struct interval_law interval_law = {
    .measured = { -0.049, 0.056, .experts = 0.084 },
    .other = { -0.142, 0.323, .experts = 0.387 },
};

void interval_law_range(const struct interval_law *law, const struct interval_place *at,
                        bool measured, double log_range[2])
{
    const struct interval_ends *ends = measured ? &law->measured : &law->other;
    bool wider = at->experts && (measured || !at->experts_fitted);
    log_range[0] = ends->fast;
    log_range[1] = ends->slow + (wider ? ends->experts : 0);
}
