/* The fluid network: its rates against a brute-force filling, its clock against the
 * closed form and against a simulation that solves everything at every step. */
#include "engine/flow.h"
#include "engine/maxmin.h"

#include "base/units.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>

void test_flow_register(void);

enum { MAX_LINKS = 12, MAX_FLOWS = 24, MAX_USES = 4 };

/* A random network of activities. */
struct network {
    int32_t n_links, n;
    double capacity[MAX_LINKS];
    double cap[MAX_FLOWS];
    double size[MAX_FLOWS];
    int64_t start_ps[MAX_FLOWS];
    int32_t starts[MAX_FLOWS + 1];
    struct flow_use uses[MAX_FLOWS * MAX_USES];
};

static uint32_t draw(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % n);
}

/* Whole numbers make many ties, others none; both kinds are drawn. */
static double draw_size(uint64_t *state, bool is_whole)
{
    double whole = 1 + draw(state, 8);
    return is_whole ? whole : whole + draw(state, 1000000) * 1e-6;
}

static void draw_network(struct network *net, uint64_t *state)
{
    bool is_whole = draw(state, 2), has_odd_links = draw(state, 2);
    net->n_links = 1 + (int32_t)draw(state, MAX_LINKS);
    net->n = 1 + (int32_t)draw(state, MAX_FLOWS);
    for (int32_t l = 0; l < net->n_links; l++) {
        uint32_t kind = has_odd_links ? draw(state, 10) : 9;
        double capacity = 10 * draw_size(state, is_whole);
        net->capacity[l] = kind == 0 ? 0 : kind == 1 ? (double)INFINITY : capacity;
    }
    int32_t n_uses = 0;
    for (int32_t i = 0; i < net->n; i++) {
        net->cap[i] = draw(state, 2) ? draw_size(state, is_whole) : (double)INFINITY;
        net->size[i] = draw(state, 20) ? draw_size(state, is_whole) : 0;
        net->start_ps[i] = INT64_C(100000000000) * draw(state, 20);
        net->starts[i] = n_uses;
        int32_t want = (int32_t)draw(state, MAX_USES + 1);
        int32_t l = (int32_t)draw(state, 3);
        for (; want > 0 && l < net->n_links; want--, l += 1 + (int32_t)draw(state, 4))
            net->uses[n_uses++] =
                (struct flow_use) { l, draw_size(state, is_whole) / 4 };
    }
    net->starts[net->n] = n_uses;
}

/* Units per second that a link carries at these rates. */
static double load(const struct network *net, int32_t link, const double *rate)
{
    double sum = 0;
    for (int32_t i = 0; i < net->n; i++)
        for (int32_t k = net->starts[i]; k < net->starts[i + 1]; k++)
            if (net->uses[k].link == link && rate[i] > 0)
                sum += net->uses[k].weight * rate[i];
    return sum;
}

static bool is_full(const struct network *net, int32_t link, const double *rate)
{
    return load(net, link, rate) >= net->capacity[link] * (1 - 1e-10);
}

static bool can_rise(const struct network *net, int32_t i, const double *rate)
{
    if (rate[i] >= net->cap[i] * (1 - 1e-10))
        return false;
    for (int32_t k = net->starts[i]; k < net->starts[i + 1]; k++)
        if (is_full(net, net->uses[k].link, rate))
            return false;
    return true;
}

/* The largest step by which all that rise can rise together. */
static double step(const struct network *net, const double *rate, const bool *rising)
{
    double step = INFINITY;
    for (int32_t i = 0; i < net->n; i++)
        if (rising[i])
            step = fmin(step, net->cap[i] - rate[i]);
    for (int32_t l = 0; l < net->n_links; l++) {
        double one[MAX_FLOWS];
        for (int32_t i = 0; i < net->n; i++)
            one[i] = rising[i];
        double weight = load(net, l, one);
        if (weight > 0 && isfinite(net->capacity[l]))
            step = fmin(step, (net->capacity[l] - load(net, l, rate)) / weight);
    }
    return fmax(step, 0);
}

/* The oracle: raises the rates of those that are there (present[i]) step by step. */
static void fill_by_steps(const struct network *net, const bool *present, double *rate)
{
    bool rising[MAX_FLOWS];
    bool any = true;
    for (int32_t i = 0; i < net->n; i++)
        rate[i] = 0;
    while (any) {
        any = false;
        for (int32_t i = 0; i < net->n; i++)
            any |= rising[i] =
                present[i] && isfinite(rate[i]) && can_rise(net, i, rate);
        double by = any ? step(net, rate, rising) : 0;
        for (int32_t i = 0; i < net->n; i++)
            if (rising[i])
                rate[i] += by;
    }
}

static bool is_close(double a, double b, double tolerance)
{
    return a == b || fabs(a - b) <= tolerance * fmin(fabs(a), fabs(b));
}

static void solve(int32_t n_links, const double *capacity, int32_t n,
                  const int32_t *starts, const struct flow_use *uses, const double *cap,
                  double *rate)
{
    struct maxmin mm = { 0 };
    maxmin_solve(&mm, n_links, capacity, n, starts, uses, cap, rate);
    maxmin_release(&mm);
}

static void test_solver_against_steps(void)
{
    bool all[MAX_FLOWS];
    uint64_t state = 1;
    int n_wrong = 0;
    for (int32_t i = 0; i < MAX_FLOWS; i++)
        all[i] = true;
    for (int trial = 0; trial < 1000; trial++) {
        struct network net;
        double rate[MAX_FLOWS], expected[MAX_FLOWS];
        draw_network(&net, &state);
        solve(net.n_links, net.capacity, net.n, net.starts, net.uses, net.cap, rate);
        fill_by_steps(&net, all, expected);
        for (int32_t i = 0; i < net.n; i++)
            n_wrong += !is_close(rate[i], expected[i], 1e-8);
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
}

/* Max-min: no one can have more but by taking from someone who has no more than he. */
static bool is_held_back(const struct network *net, int32_t i, const double *rate)
{
    if (rate[i] >= net->cap[i] * (1 - 1e-11))
        return true;
    for (int32_t k = net->starts[i]; k < net->starts[i + 1]; k++) {
        int32_t l = net->uses[k].link;
        bool is_largest = is_full(net, l, rate);
        for (int32_t j = 0; j < net->n; j++)
            for (int32_t m = net->starts[j]; m < net->starts[j + 1]; m++)
                is_largest &=
                    net->uses[m].link != l || rate[j] <= rate[i] * (1 + 1e-11);
        if (is_largest)
            return true;
    }
    return isinf(rate[i]);
}

static void test_solver_is_max_min(void)
{
    uint64_t state = 2;
    for (int trial = 0; trial < 1000; trial++) {
        struct network net;
        double rate[MAX_FLOWS];
        int n_wrong = 0;
        draw_network(&net, &state);
        solve(net.n_links, net.capacity, net.n, net.starts, net.uses, net.cap, rate);
        for (int32_t i = 0; i < net.n; i++)
            n_wrong += !is_held_back(&net, i, rate) || rate[i] > net.cap[i];
        for (int32_t l = 0; l < net.n_links; l++)
            n_wrong += load(&net, l, rate) > net.capacity[l] * (1 + 1e-11);
        CU_ASSERT_EQUAL(n_wrong, 0);
    }
}

/* Weights eighteen orders apart: what is left must not drown in what was subtracted. */
static void test_solver_keeps_small_weights(void)
{
    const double capacity[] = { 10, 1e9 }, cap[] = { INFINITY, INFINITY };
    const int32_t starts[] = { 0, 2, 3 };
    const struct flow_use uses[] = { { 0, 1 }, { 1, 1e8 }, { 1, 1e-10 } };
    double rate[2];
    solve(2, capacity, 2, starts, uses, cap, rate);
    CU_ASSERT_DOUBLE_EQUAL(rate[0], 10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(rate[1], 10, 1e-9);
    const struct flow_use other[] = { { 0, 1 }, { 1, 5e7 }, { 1, 1e-10 } };
    solve(2, capacity, 2, starts, other, cap, rate);
    CU_ASSERT_TRUE(is_close(rate[1], 5e18, 1e-9));
}

/* --- the clock ------------------------------------------------------------------ */

/* One activity under test, and when it ended. */
struct activity {
    struct flow *flow;
    int64_t end_ps; /* -1 while it runs */
    int place;      /* in the order of ends */
    int *n_ended;
};

static void note_end(struct sim *sim, void *arg)
{
    struct activity *a = arg;
    a->end_ps = sim->now_ps;
    a->place = (*a->n_ended)++;
}

static void start(struct flow_net *net, struct activity *a, int *n_ended, double size,
                  int64_t latency_ps, double cap, int32_t n_uses,
                  const struct flow_use *uses)
{
    a->end_ps = -1;
    a->n_ended = n_ended;
    a->flow = flow_start(net, size, latency_ps, cap, n_uses, uses, note_end, a);
}

static void test_alone_equals_closed_form(void)
{
    static const struct {
        double size, capacity, cap, weight;
        int64_t latency_ps;
    } row[] = {
        { 1e9, 1e11, INFINITY, 1, 0 },     { 26214400, 3.125e9, INFINITY, 1, 17000000 },
        { 1, 3, INFINITY, 1, 1 },          { 1e12, 7.77e8, INFINITY, 1, 12345 },
        { 1e6, 1e9, 3e8, 1, 10 },          { 1e6, INFINITY, 3e8, 1, 10 },
        { 1e6, 1e9, INFINITY, 1.75, 10 },  { 0, 1e9, INFINITY, 1, 77 },
        { 0, 0, INFINITY, 1, 77 },         { 1e6, INFINITY, INFINITY, 1, 77 },
        { 1e6, INFINITY, INFINITY, 1, 0 },
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct sim sim;
        struct flow_net net;
        struct activity a;
        int n_ended = 0;
        sim_init(&sim, NULL);
        flow_net_init(&net, &sim, 1, &row[i].capacity);
        start(&net, &a, &n_ended, row[i].size, row[i].latency_ps, row[i].cap, 1,
              &(struct flow_use) { 0, row[i].weight });
        CU_ASSERT_EQUAL(a.end_ps, -1);
        sim_run(&sim);
        double rate = fmin(row[i].capacity / row[i].weight, row[i].cap);
        double time_s = row[i].size > 0 ? row[i].size / rate : 0;
        CU_ASSERT_EQUAL(a.end_ps, row[i].latency_ps + units_ps(time_s));
        CU_ASSERT_EQUAL(n_ended, 1);
        CU_ASSERT_EQUAL(flow_link_units(&net, 0), row[i].size * row[i].weight);
        flow_net_release(&net);
        sim_release(&sim);
    }
}

/* The oracle in time: all rates are found anew whenever anything starts or ends. */
static void replay_by_steps(const struct network *net, double *end_s)
{
    double left[MAX_FLOWS], rate[MAX_FLOWS], now_s = 0;
    bool present[MAX_FLOWS];
    for (int32_t i = 0; i < net->n; i++) {
        left[i] = net->size[i];
        end_s[i] = -1;
    }
    for (;;) {
        double next_s = INFINITY;
        for (int32_t i = 0; i < net->n; i++)
            present[i] = end_s[i] < 0 && units_s(net->start_ps[i]) <= now_s;
        fill_by_steps(net, present, rate);
        for (int32_t i = 0; i < net->n; i++) {
            double start_s = units_s(net->start_ps[i]);
            if (present[i] && (left[i] <= 0 || rate[i] > 0))
                next_s = fmin(next_s, now_s + (left[i] > 0 ? left[i] / rate[i] : 0));
            else if (end_s[i] < 0 && !present[i])
                next_s = fmin(next_s, start_s);
        }
        if (isinf(next_s))
            return;
        for (int32_t i = 0; i < net->n; i++) {
            if (!present[i])
                continue;
            bool at_once = left[i] <= 0 || isinf(rate[i]);
            left[i] = at_once ? 0 : left[i] - rate[i] * (next_s - now_s);
            if (left[i] <= 1e-13 * net->size[i])
                end_s[i] = next_s;
        }
        now_s = next_s;
    }
}

static int compare_replays(const struct network *random)
{
    struct sim sim;
    struct flow_net net;
    struct activity a[MAX_FLOWS];
    double end_s[MAX_FLOWS], moved[MAX_FLOWS];
    int n_ended = 0, n_wrong = 0;
    sim_init(&sim, NULL);
    flow_net_init(&net, &sim, random->n_links, random->capacity);
    for (int32_t i = 0; i < random->n; i++)
        start(&net, &a[i], &n_ended, random->size[i], random->start_ps[i],
              random->cap[i], random->starts[i + 1] - random->starts[i],
              &random->uses[random->starts[i]]);
    sim_run(&sim);
    replay_by_steps(random, end_s);
    for (int32_t i = 0; i < random->n; i++) {
        double got_s = a[i].end_ps < 0 ? -1 : units_s(a[i].end_ps);
        n_wrong += fabs(got_s - end_s[i]) > 1e-9 * fabs(end_s[i]) + 1e-11;
        moved[i] = a[i].end_ps < 0 ? 0 : random->size[i];
    }
    for (int32_t l = 0; l < random->n_links; l++) {
        double units = load(random, l, moved), capacity = random->capacity[l];
        double busy_s = capacity > 0 ? units / capacity : 0;
        n_wrong += !is_close(flow_link_units(&net, l), units, 1e-12);
        n_wrong += !is_close(flow_link_busy_s(&net, l), busy_s, 1e-12);
        n_wrong += busy_s > units_s(sim.now_ps) * (1 + 1e-9);
    }
    flow_net_release(&net);
    sim_release(&sim);
    return n_wrong;
}

static void test_network_against_steps(void)
{
    uint64_t state = 3;
    int n_wrong = 0;
    for (int trial = 0; trial < 600; trial++) {
        struct network random;
        draw_network(&random, &state);
        n_wrong += compare_replays(&random);
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
}

/* Rings, each activity on three neighbouring links in whatever order, with capacities
 * that binary fractions cannot hold: all are alike, and must end as one. */
static void test_alike_activities_tie(void)
{
    enum { N = 21, N_RINGS = 3 };
    double capacity[N * N_RINGS];
    struct activity a[N * N_RINGS];
    struct sim sim;
    struct flow_net net;
    uint64_t state = 4;
    int n_ended = 0;
    for (int l = 0; l < N * N_RINGS; l++)
        capacity[l] = 1e9 / 7;
    sim_init(&sim, NULL);
    flow_net_init(&net, &sim, N * N_RINGS, capacity);
    for (int i = 0; i < N * N_RINGS; i++) {
        static const double weight[] = { 0.1, 0.2, 0.3 }; /* sums differ by order */
        struct flow_use uses[3];
        int32_t ring = i % N_RINGS * N, turn = (int32_t)draw(&state, 3);
        for (int32_t k = 0; k < 3; k++)
            uses[(k + turn) % 3] =
                (struct flow_use) { ring + (i / N_RINGS + k) % N, weight[k] };
        start(&net, &a[i], &n_ended, 1e7 / 3, 5, INFINITY, 3, uses);
    }
    sim_run(&sim);
    for (int i = 0; i < N * N_RINGS; i++) {
        CU_ASSERT_EQUAL(a[i].end_ps, a[0].end_ps);
        CU_ASSERT_EQUAL(a[i].place, i);
    }
    CU_ASSERT_TRUE(is_close(units_s(a[0].end_ps - 5), 1e7 / 3 * 0.6 / (1e9 / 7), 1e-9));
    flow_net_release(&net);
    sim_release(&sim);
}

/* Two components that differ only in the order in which links are named, so that they
 * are found from another end. The sum of the weights on link 2 depends on its order. */
static void test_alike_components_tie(void)
{
    static const double capacity[] = { 1e9, 1e9, 1, 1e9, 1e9, 1 };
    static const struct flow_use uses[6][3] = {
        { { 0, 1 }, { 1, 1 }, { 2, 0.2 } }, { { 4, 1 }, { 3, 1 }, { 5, 0.2 } },
        { { 0, 1 }, { 2, 0.1 } },           { { 3, 1 }, { 5, 0.1 } },
        { { 1, 1 }, { 2, 0.3 } },           { { 4, 1 }, { 5, 0.3 } },
    };
    struct sim sim;
    struct flow_net net;
    struct activity a[6];
    int n_ended = 0;
    sim_init(&sim, NULL);
    flow_net_init(&net, &sim, 6, capacity);
    for (int i = 0; i < 6; i++)
        start(&net, &a[i], &n_ended, 1e5, 0, INFINITY, i < 2 ? 3 : 2, uses[i]);
    sim_run(&sim);
    CU_ASSERT_EQUAL(n_ended, 6);
    for (int i = 1; i < 6; i++)
        CU_ASSERT_EQUAL(a[i].end_ps, a[0].end_ps);
    flow_net_release(&net);
    sim_release(&sim);
}

static void test_weights_and_caps_share(void)
{
    struct sim sim;
    struct flow_net net;
    struct activity a[3];
    int n_ended = 0;
    sim_init(&sim, NULL);
    flow_net_init(&net, &sim, 1, &(double) { 100 });
    start(&net, &a[0], &n_ended, 1e6, 0, INFINITY, 1, &(struct flow_use) { 0, 1 });
    start(&net, &a[1], &n_ended, 1e6, 0, INFINITY, 1, &(struct flow_use) { 0, 3 });
    start(&net, &a[2], &n_ended, 1e6, 0, 10, 1, &(struct flow_use) { 0, 2 });
    sim_run(&sim); /* at 20, 20 and 10 a second */
    CU_ASSERT_DOUBLE_EQUAL(units_s(a[0].end_ps), 1e6 / 20, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(units_s(a[1].end_ps), 1e6 / 20, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(units_s(a[2].end_ps), 1e6 / 10, 1e-6);
    flow_net_release(&net);
    sim_release(&sim);
}

/* Starts itself anew from its end, n times. */
struct chain {
    struct flow_net *net;
    int n_left;
};

static void start_next(struct sim *sim, void *arg)
{
    struct chain *chain = arg;
    (void)sim;
    if (chain->n_left-- > 0)
        flow_start(chain->net, 1000, 0, INFINITY, 1, &(struct flow_use) { 0, 1 },
                   start_next, chain);
}

static void test_chains_are_solved_once_per_instant(void)
{
    enum { N_CHAINS = 50, N_STEPS = 20 };
    struct sim sim;
    struct flow_net net;
    struct chain chain[N_CHAINS];
    sim_init(&sim, NULL);
    flow_net_init(&net, &sim, 1, &(double) { 1000 * N_CHAINS });
    for (int i = 0; i < N_CHAINS; i++) {
        chain[i] = (struct chain) { &net, N_STEPS };
        start_next(&sim, &chain[i]);
    }
    sim_run(&sim);
    CU_ASSERT_EQUAL(sim.now_ps, units_ps(N_STEPS));
    CU_ASSERT_TRUE(sim.n_fired <= N_STEPS * (N_CHAINS + 1) + 1);
    CU_ASSERT_DOUBLE_EQUAL(flow_link_busy_s(&net, 0), N_STEPS, 1e-9);
    flow_net_release(&net);
    sim_release(&sim);
}

/* 1000 units at 100 units a second after a latency of 10 s, alone or joined by 100 units
 * that come then. */
static void test_joined(void)
{
    static const struct {
        double comes_s, first_s, second_s; /* 0: nobody comes; ends */
    } row[] = { { 0, 20, 0 },   { 5, 20, 6 },   { 9.5, 20.5, 11 },
                { 10, 21, 12 }, { 15, 21, 17 }, { 30, 20, 31 } };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct sim sim;
        struct flow_net net;
        struct activity a[2];
        const struct flow_use use = { 0, 1 };
        int n_ended = 0;
        sim_init(&sim, NULL);
        flow_net_init(&net, &sim, 1, &(double) { 100 });
        start(&net, &a[0], &n_ended, 1000, units_ps(10), INFINITY, 1, &use);
        if (row[i].comes_s > 0)
            start(&net, &a[1], &n_ended, 100, units_ps(row[i].comes_s), INFINITY, 1,
                  &use);
        sim_run(&sim);
        CU_ASSERT_EQUAL(a[0].end_ps, units_ps(row[i].first_s));
        CU_ASSERT_TRUE(row[i].comes_s == 0 || a[1].end_ps == units_ps(row[i].second_s));
        CU_ASSERT_TRUE(row[i].comes_s > 0 || sim.n_fired == 1);
        flow_net_release(&net);
        sim_release(&sim);
    }
}

/* What has passed is counted while an activity that shares with nobody is under way. */
static void test_whole_is_counted(void)
{
    struct sim sim;
    struct flow_net net;
    struct activity a[2];
    int n_ended = 0;
    sim_init(&sim, NULL);
    flow_net_init(&net, &sim, 2, (const double[]) { 100, INFINITY });
    start(&net, &a[0], &n_ended, 1000, units_ps(10), INFINITY, 1,
          &(struct flow_use) { 0, 0.5 });
    for (int i = 1; i <= 15; i++) {
        start(&net, &a[1], &n_ended, 0, units_ps(1), INFINITY, 0, NULL);
        while (a[1].end_ps < 0)
            sim_run_some(&sim, 1);
        CU_ASSERT_DOUBLE_EQUAL(flow_link_units(&net, 0), i < 10 ? 0 : (i - 10) * 100,
                               1e-9);
        CU_ASSERT_DOUBLE_EQUAL(flow_link_busy_s(&net, 0), i < 10 ? 0 : i - 10, 1e-12);
    }
    flow_net_release(&net);
    sim_release(&sim);
}

static void test_many_apart(void)
{
    enum { N = 10000 };
    double *capacity = calloc(N, sizeof(*capacity));
    struct activity *a = calloc(N, sizeof(*a));
    struct sim sim;
    struct flow_net net;
    int n_ended = 0, n_wrong = 0;
    for (int i = 0; i < N; i++)
        capacity[i] = 1 + i;
    sim_init(&sim, NULL);
    flow_net_init(&net, &sim, N, capacity);
    for (int i = 0; i < N; i++)
        start(&net, &a[i], &n_ended, 1000, i % 100, INFINITY, 1,
              &(struct flow_use) { i, 1 });
    sim_run(&sim);
    for (int i = 0; i < N; i++)
        n_wrong += a[i].end_ps != i % 100 + units_ps(1000.0 / (1 + i));
    CU_ASSERT_EQUAL(n_wrong, 0);
    flow_net_release(&net);
    sim_release(&sim);
    free(a);
    free(capacity);
}

static int64_t shared_end_ps(double size, double capacity)
{
    struct sim sim;
    struct flow_net net;
    struct activity a[2];
    int n_ended = 0;
    sim_init(&sim, NULL);
    flow_net_init(&net, &sim, 1, &capacity);
    start(&net, &a[0], &n_ended, size, 0, INFINITY, 1, &(struct flow_use) { 0, 1 });
    start(&net, &a[1], &n_ended, 1e6, 1000, INFINITY, 1, &(struct flow_use) { 0, 1 });
    sim_run(&sim);
    flow_net_release(&net);
    sim_release(&sim);
    return a[0].end_ps;
}

static void test_time_is_monotone(void)
{
    for (int i = 1; i < 200; i++) {
        CU_ASSERT_TRUE(shared_end_ps(1e4 * i, 1e9) < shared_end_ps(1e4 * (i + 1), 1e9));
        CU_ASSERT_TRUE(shared_end_ps(1e6, 1e7 * i) > shared_end_ps(1e6, 1e7 * (i + 1)));
    }
}

void test_flow_register(void)
{
    CU_pSuite suite = CU_add_suite("flow", NULL, NULL);
    CU_ADD_TEST(suite, test_solver_against_steps);
    CU_ADD_TEST(suite, test_solver_is_max_min);
    CU_ADD_TEST(suite, test_solver_keeps_small_weights);
    CU_ADD_TEST(suite, test_alone_equals_closed_form);
    CU_ADD_TEST(suite, test_network_against_steps);
    CU_ADD_TEST(suite, test_alike_activities_tie);
    CU_ADD_TEST(suite, test_alike_components_tie);
    CU_ADD_TEST(suite, test_weights_and_caps_share);
    CU_ADD_TEST(suite, test_chains_are_solved_once_per_instant);
    CU_ADD_TEST(suite, test_joined);
    CU_ADD_TEST(suite, test_whole_is_counted);
    CU_ADD_TEST(suite, test_many_apart);
    CU_ADD_TEST(suite, test_time_is_monotone);
}
