/* Counters of a trace: quantities over equal stretches of the step. There are at most so
 * many; a step that outgrows them gets stretches twice as long, so that a trace has as
 * many counters for a minute as for a second.
 *
 *     shares   of a resource that is busy: the mean of each stretch
 *     levels   of memory by kind: the fullest moment of each stretch */
#ifndef TRACE_TRACE_COUNTER_H
#define TRACE_TRACE_COUNTER_H

#include "memory/ledger.h"

#include <stdint.h>

struct trace_shares {
    int64_t stretch_ps;
    int32_t n, most; /* stretches that were touched; room */
    double *busy_ps; /* [most] */
};

void trace_shares_init(struct trace_shares *s, int32_t most);
void trace_shares_release(struct trace_shares *s);

/* Busy for a share of from..to. */
void trace_shares_add(struct trace_shares *s, int64_t from_ps, int64_t to_ps,
                      double share);

/* Of stretch i, in whole percents. */
int64_t trace_shares_percent(const struct trace_shares *s, int32_t i);

typedef int64_t trace_level[LEDGER_KINDS];

struct trace_levels {
    int64_t stretch_ps;
    int32_t n, most;
    trace_level *held_B; /* [most] */
    trace_level now_B;   /* since the last change */
};

void trace_levels_init(struct trace_levels *l, int32_t most);
void trace_levels_release(struct trace_levels *l);

/* From at on, so much is held; times do not fall. */
void trace_levels_set(struct trace_levels *l, int64_t at_ps, const trace_level held_B);

#endif
