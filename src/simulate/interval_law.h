/* The range of a step's time by the kind of job: the law, and its constants.
 *
 * Errors differ by whether rows like the job were measured: then constants of its GPU,
 * stack and network were fitted to such rows. On a system of which nothing was measured they
 * are wider, most of all to the slow side. Steps of experts are slower than predicted more
 * often, most of all of stacks whose experts no constant was fitted to. A step that is
 * predicted to use little of the GPUs rests on hosts, networks and small kernels, which
 * are less known than large products. Of the logarithm of measured over predicted time four
 * in five lie from
 *
 *     fast - fast_idle i - fast_guessed [the GPU's profile was not fitted]    to
 *     slow + slow_idle i + slow_small o
 *          + experts [experts; of what is not measured: of a stack that none was fitted to]
 *
 * i is what the predicted MFU is below 0.4, o the octaves that a microbatch's tokens are below
 * 8,192. Of measured places these terms are 0. The constants are quantiles that `smsim
 * validate` fits and prints (validation/ranges.h). Nodes, degrees, parameters, the shares
 * of network and software and the distance to what was measured add nothing that holds for a
 * source left out (docs/validation/ranges.md). */
#ifndef SIMULATE_INTERVAL_LAW_H
#define SIMULATE_INTERVAL_LAW_H

#include <stdbool.h>

struct interval_place;

struct interval_law {
    struct interval_ends {
        double fast, slow;
        double experts; /* what the slow end of such is more, and so on */
        double fast_idle, fast_guessed, slow_idle, slow_small;
        double beyond_fast, beyond_slow; /* the shares of rows that lie outside */
    } measured, other;                   /* the grade is measured, or not */
};

/* By the rows of all tables. */
extern const struct interval_law interval_law;

/* What the predicted MFU is below the least of steps whose errors are narrow, and the
 * octaves that a microbatch's tokens are below those of such steps. */
double interval_law_idle(const struct interval_place *at);
double interval_law_small(const struct interval_place *at);

/* From which to which logarithm. */
void interval_law_range(const struct interval_law *law, const struct interval_place *at,
                        bool measured, double log_range[2]);

#endif
