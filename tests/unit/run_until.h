/* Runs a simulation up to a time, for tests that look inside. */
#ifndef TESTS_RUN_UNTIL_H
#define TESTS_RUN_UNTIL_H

#include "engine/sim.h"

struct run_until_stop {
    struct sim_event event;
    bool reached;
};

static inline void run_until_fire(struct sim *sim, struct sim_event *event)
{
    (void)sim;
    SIM_OWNER(event, struct run_until_stop, event)->reached = true;
}

/* Fires what is due up to t_ps by now, that included; the clock ends there. */
static inline void run_until(struct sim *sim, int64_t t_ps)
{
    static const struct sim_event_type type = { "stop", run_until_fire };
    struct run_until_stop stop = { .reached = false };
    sim_event_init(&stop.event, &type);
    sim_at(sim, &stop.event, t_ps);
    while (!stop.reached)
        sim_run_some(sim, 1);
}

#endif
