/* Timers of a step's parts, as Megatron (megatron/core/timers.py) and DeepSpeed
 * (utils/timer.py, wall_clock_breakdown) write them. */
#ifndef LOGS_TIMERS_H
#define LOGS_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

enum { LOGS_TIMERS_MAX = 64, LOGS_TIMER_NAME = 48 };

struct logs_timer {
    char name[LOGS_TIMER_NAME];
    int64_t n;
    double least_s, most_s; /* sums over its lines, of the least and the most of all
                               ranks; equal where one number is written */
};

struct logs_timers {
    int32_t n;
    bool listing; /* lines of their own follow */
    struct logs_timer of[LOGS_TIMERS_MAX];
};

/* True where the line has timers. */
bool logs_timers_read(struct logs_timers *t, const char *line);

/* The timer of a name; NULL: none. */
const struct logs_timer *logs_timers_get(const struct logs_timers *t, const char *name);

#endif
