/* How fast the engine is, one core: `name: value unit` lines. */
#include "base/xmalloc.h"
#include "engine/flow.h"
#include "engine/maxmin.h"
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

/* A fluid network in which every activity that ends starts another, of random size. */
struct traffic {
    struct flow_net net;
    uint64_t random;
    int32_t n_links, n_uses; /* of the network (a power of 2), of an activity */
    int64_t n_left;
};

/* One of the activities that run at a time; apart, each has its own link. */
struct lane {
    struct traffic *traffic;
    int32_t own_link; /* -1: random links */
};

enum { MAX_USES = 16 };

static void start_again(struct sim *sim, void *arg)
{
    (void)sim;
    struct lane *lane = arg;
    struct traffic *traffic = lane->traffic;
    struct flow_use uses[MAX_USES];
    if (traffic->n_left-- <= 0)
        return;
    uint32_t first = draw(&traffic->random), stride = draw(&traffic->random) | 1;
    for (int32_t k = 0; k < traffic->n_uses; k++) {
        uint32_t l = (first + (uint32_t)k * stride) % (uint32_t)traffic->n_links;
        uses[k].link = lane->own_link >= 0 ? lane->own_link : (int32_t)l;
        uses[k].weight = 1;
    }
    double size = 1e6 + draw(&traffic->random) % 1000000;
    flow_start(&traffic->net, size, 1000000, INFINITY, traffic->n_uses, uses,
               start_again, lane);
}

static void bench_flow(const char *name, int32_t n_lanes, int32_t n_links,
                       int32_t n_uses, bool is_apart, int64_t n_starts)
{
    struct traffic traffic = {
        .random = 1, .n_links = n_links, .n_uses = n_uses, .n_left = n_starts
    };
    double *capacity = xcalloc((size_t)n_links, sizeof(*capacity));
    struct lane *lane = xcalloc((size_t)n_lanes, sizeof(*lane));
    struct sim sim;
    for (int32_t l = 0; l < n_links; l++)
        capacity[l] = 1e10;
    sim_init(&sim, NULL);
    flow_net_init(&traffic.net, &sim, n_links, capacity);
    double start_s = clock_s();
    for (int32_t i = 0; i < n_lanes; i++) {
        lane[i] = (struct lane) { &traffic, is_apart ? i : -1 };
        start_again(&sim, &lane[i]);
    }
    sim_run(&sim);
    double per_s = (double)n_starts / (clock_s() - start_s);
    printf("%s: %.4g activities/s\n", name, per_s);
    flow_net_release(&traffic.net);
    sim_release(&sim);
    free(lane);
    free(capacity);
}

/* Everything at once: the solver alone, in activities per second. */
static void bench_solver(int32_t n, int32_t n_links)
{
    double *capacity = xcalloc((size_t)n_links, sizeof(*capacity));
    double *cap = xcalloc((size_t)n, sizeof(*cap));
    double *rate = xcalloc((size_t)n, sizeof(*rate));
    int32_t *starts = xcalloc((size_t)n + 1, sizeof(*starts));
    struct flow_use *uses = xcalloc((size_t)n * 4, sizeof(*uses));
    uint64_t random = 1;
    for (int32_t l = 0; l < n_links; l++)
        capacity[l] = 1e9 + draw(&random);
    for (int32_t i = 0; i < n; i++) {
        cap[i] = INFINITY;
        starts[i + 1] = 4 * (i + 1);
        uint32_t first = draw(&random);
        for (uint32_t k = 0; k < 4; k++)
            uses[4 * i + (int32_t)k] =
                (struct flow_use) { (int32_t)((first + 7 * k) % (uint32_t)n_links), 1 };
    }
    double start_s = clock_s();
    struct maxmin mm = { 0 };
    maxmin_solve(&mm, n_links, capacity, n, starts, uses, cap, rate);
    double time_s = clock_s() - start_s;
    maxmin_release(&mm);
    printf("solver_%d_activities_%d_links: %.4g s\n", n, n_links, time_s);
    free(capacity);
    free(cap);
    free(rate);
    free(starts);
    free(uses);
}

int main(void)
{
    bench_hold();
    bench_flow("flow_1024_apart", 1024, 1024, 1, true, 500000);
    bench_flow("flow_16_on_32_links", 16, 32, 4, false, 200000);
    bench_flow("flow_256_on_64_links", 256, 64, 8, false, 10000);
    bench_flow("flow_4096_on_1024_links", 4096, 1024, 4, false, 4200);
    bench_solver(1000, 200);
    bench_solver(100000, 10000);
    return 0;
}
