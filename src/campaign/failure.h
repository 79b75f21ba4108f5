/* Failures of a job, checkpoints against them, and how much of the time remains
 * (MODEL.md, "Failures and goodput").
 *
 *   | work tau |ck| work tau |ck| work  X failure | restart | work tau |ck| ...
 *                                ^ lost ^
 *
 * Failures strike the whole job, whatever it does: work, checkpoints (which then do not
 * count) and restarts (which begin again). All times are in seconds. */
#ifndef CAMPAIGN_FAILURE_H
#define CAMPAIGN_FAILURE_H

#include "base/names.h"
#include "campaign/random.h"

#include <stdbool.h>

/* After which a draw gives up. */
enum { FAILURE_COUNT_MAX = 100000 };

enum failure_law {
    FAILURE_EXPONENTIAL,
    FAILURE_WEIBULL, /* renewed at each failure */
};

extern const struct name_value failure_law_names[];

struct failure_process {
    enum failure_law law;
    double shape;  /* of weibull: below 1, failures come in clusters */
    double mtbf_s; /* of the whole job */
    double interval_s, checkpoint_s, restart_s;
};

/* Where the wall-clock time of a job went; the four sum to it. */
struct failure_times {
    double useful_s, checkpoints_s, lost_s, restarts_s;
    int64_t failures;
    bool gave_up; /* work_s was not reached: the job hardly goes on */
};

/* All of it: useful, checkpoints, lost work, restarts. Seconds. */
double failure_wall_s(const struct failure_times *t);

/* One job of work_s useful seconds, failure by failure: O(failures). After a hundred
 * thousand failures the job is given up, with what it has done. */
void failure_simulate(struct failure_times *t, const struct failure_process *f,
                      double work_s, struct random_stream random);

/* Work between checkpoints that gives exponential failures the best expected time:
 * sqrt(2 delta M) by Young (1974), higher order by Daly (2006), and the exact minimum
 * of Daly's expected time. checkpoint_s > 0. */
double failure_young_s(double checkpoint_s, double mtbf_s);
double failure_daly_s(double checkpoint_s, double mtbf_s);
double failure_optimum_s(double checkpoint_s, double mtbf_s);

/* Expected share of useful time under exponential failures (Daly's expected time), by
 * the mean of the process alone. */
double failure_expected_goodput(const struct failure_process *f);

#endif
