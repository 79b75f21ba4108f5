/* Time of a kernel, launch after launch: warm-up, repetitions captured in a graph so
 * that the host does not bind, medians over groups between two events. */
#ifndef SMSIM_MEASURE_TIMING_H
#define SMSIM_MEASURE_TIMING_H

#include "measure.h"

/* Launches repetition i on m->stream; different i may use different buffers, so that
 * nothing is found in the cache. */
typedef int launch_fn(struct measure *m, void *arg, int64_t i);

struct timing {
    double median_s, spread; /* spread: quartile to quartile, over the median */
    int64_t repetitions;
};

int timing_run(struct measure *m, launch_fn *launch, void *arg, struct timing *t);

/* The same without a graph, for what cannot be captured. */
int timing_run_plain(struct measure *m, launch_fn *launch, void *arg, struct timing *t);

/* Median and spread of n times, which are sorted. */
void timing_of(double *times_s, int n, struct timing *t);

/* The fields time_s, spread and repetitions of a row. */
void row_timing(struct measure *m, const struct timing *t);

#endif
