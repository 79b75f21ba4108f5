/* How fast the engine is, one core: `name: value unit` lines. */
#include "base/xmalloc.h"
#include "engine/flow.h"
#include "engine/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double clock_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* A random number in 0 .. 2^31-1 (xorshift64*). */
static uint32_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * UINT64_C(2685821657736338717)) >> 33);
}

enum { N_PENDING = 4096 };

/* The hold model: every event that fires schedules itself again, until enough did. */
struct hold {
    uint64_t random;
    int64_t n_left;
    struct sim_event event[N_PENDING];
};

static void hold_fire(struct sim *sim, struct sim_event *ev)
{
    struct hold *hold = sim->context;
    if (hold->n_left-- > 0)
        sim_after(sim, ev, draw(&hold->random) % 1000000);
}

static const struct sim_event_type hold_event = { "hold", hold_fire };

static void bench_hold(void)
{
    static const int64_t n_events = 20000000;
    struct hold *hold = xmalloc(sizeof(*hold));
    hold->random = 1;
    hold->n_left = n_events;
    struct sim sim;
    sim_init(&sim, hold);
    for (int i = 0; i < N_PENDING; i++) {
        sim_event_init(&hold->event[i], &hold_event);
        sim_at(&sim, &hold->event[i], draw(&hold->random) % 1000000);
    }
    double start_s = clock_s();
    sim_run(&sim);
    printf("events_4096_pending: %.4g events/s\n",
           (double)sim.n_fired / (clock_s() - start_s));
    sim_release(&sim);
    free(hold);
}
int main(void)
{
    bench_hold();
    return 0;
}
