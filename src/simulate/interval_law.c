#include "simulate/interval.h"

#include <math.h>

/* As `smsim validate` prints them. */
const struct interval_law interval_law = {
    .measured = { -0.049, 0.056, .experts = 0.084, .beyond_fast = 0.1,
                  .beyond_slow = 0.1 },
    .other = { -0.104, 0.155, .experts = 0.385, .fast_idle = 0.23,
               .fast_guessed = 0.029, .slow_idle = 1.22, .slow_small = 0.103,
               .beyond_fast = 0.05, .beyond_slow = 0.08 },
};

double interval_law_idle(const struct interval_place *at)
{
    const double busy = 0.4;
    return fmax(busy - at->mfu, 0);
}

double interval_law_small(const struct interval_place *at)
{
    const double large = 13; /* 8,192 tokens */
    return fmax(large - at->log2_of[INTERVAL_TOKENS], 0);
}

void interval_law_range(const struct interval_law *law, const struct interval_place *at,
                        bool measured, double log_range[2])
{
    const struct interval_ends *ends = measured ? &law->measured : &law->other;
    bool wider = at->experts && (measured || !at->experts_fitted);
    double idle = interval_law_idle(at);
    log_range[0] = ends->fast - ends->fast_idle * idle -
                   (at->gpu_guessed ? ends->fast_guessed : 0);
    log_range[1] = ends->slow + ends->slow_idle * idle +
                   ends->slow_small * interval_law_small(at) +
                   (wider ? ends->experts : 0);
}
