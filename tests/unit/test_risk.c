/* Plans under uncertainty: verdicts on plans whose odds are known, threads and keys, times of
 * draws against replays, the order of plans by each rule. */
#include "config/datadir.h"
#include "risk/decides.h"
#include "risk/draw.h"
#include "risk/tries.h"
#include "sample.h"
#include "search/plan.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

void test_risk_register(void);

enum { MANY = 4000 };

static const struct risk_widths sure = { .memory_mean = 0 };

/* A step of 1 s of products, but for what is said. */
static struct risk_plan plan_of(uint64_t key, double network_s, double other_s)
{
    struct risk_plan p = { .key = key, .octaves = 1, .peak_B = 1, .capacity_B = 2 };
    p.by.s[RESOURCE_NETWORK] = network_s;
    p.by.s[RESOURCE_PRODUCTS] = other_s;
    p.value = p.usual = network_s + other_s;
    return p;
}

/* Verdicts ------------------------------------------------------------------------- */

static void test_sure(void)
{
    const struct risk_plan plans[] = { plan_of(1, 0, 1.1), plan_of(2, 0.5, 0.5),
                                       plan_of(3, 0, 2) };
    const struct risk_options o = { .rule = RISK_MEAN, .draws = 50 };
    struct risk_verdict v[3];
    risk_judge(v, plans, 3, &sure, &o);
    CU_ASSERT_DOUBLE_EQUAL(v[1].best, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(v[1].mean, 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(v[0].best, 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(v[0].mean, 1 - 1 / 1.1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(v[0].p90, v[0].worst, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(v[2].worst, 0.5, 1e-12);
}

/* Of Student's law with 4 degrees: P(t <= x), Abramowitz and Stegun 26.7.4. */
static double student_below(double x)
{
    double c = 2 / sqrt(4 + x * x), s = x / sqrt(4 + x * x);
    return 0.5 + 0.5 * s * (1 + 0.5 * c * c);
}

/* A plan on the network is the best as often as the network is fast enough. */
static void test_shared(void)
{
    const struct risk_plan plans[] = { plan_of(1, 0, 1), plan_of(2, 0.5, 0.45) };
    const struct risk_options o = { .rule = RISK_MEAN, .draws = MANY };
    struct risk_widths w = sure;
    struct risk_verdict v[2];
    w.resource[RESOURCE_NETWORK] = 0.2;
    risk_judge(v, plans, 2, &w, &o);
    double odds = student_below(log(0.55 / 0.5) / 0.2);
    CU_ASSERT_DOUBLE_EQUAL(v[1].best, odds, 3 * sqrt(0.25 / MANY));
    CU_ASSERT_DOUBLE_EQUAL(v[0].best + v[1].best, 1, 1e-9);
    /* what both rest on equally is no uncertainty */
    w = sure;
    w.resource[RESOURCE_PRODUCTS] = 1;
    const struct risk_plan alike[] = { plan_of(1, 0, 1), plan_of(2, 0, 1.01) };
    risk_judge(v, alike, 2, &w, &o);
    CU_ASSERT_DOUBLE_EQUAL(v[0].best, 1, 1e-12);
}

/* Residuals of their own: the odds are of the difference of two normal numbers. */
static void test_own(void)
{
    const struct risk_plan plans[] = { plan_of(7, 0, 1), plan_of(8, 0, 1.05) };
    const struct risk_options o = { .rule = RISK_MEAN, .draws = MANY };
    struct risk_widths w = sure;
    struct risk_verdict v[2];
    w.own = 0.1;
    risk_judge(v, plans, 2, &w, &o);
    double z = log(1.05) / (0.1 * sqrt(2));
    CU_ASSERT_DOUBLE_EQUAL(v[0].best, 0.5 * erfc(-z / sqrt(2)), 3 * sqrt(0.25 / MANY));
    /* equal plans share all: each is the best half of the time */
    const struct risk_plan duplicates[] = { plan_of(7, 0, 1), plan_of(7, 0, 1) };
    risk_judge(v, duplicates, 2, &w, &o);
    CU_ASSERT_DOUBLE_EQUAL(v[0].best, 0.5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(v[0].mean, 0, 1e-12);
}

static void test_memory(void)
{
    struct risk_plan plans[] = { plan_of(1, 0, 1), plan_of(2, 0, 1.5) };
    struct risk_options o = { .rule = RISK_MEAN, .draws = MANY };
    struct risk_widths w = sure;
    struct risk_verdict v[2];
    plans[0].peak_B = 100;
    plans[0].capacity_B = 110;
    w.memory_mean = 0.02;
    w.memory_own = 0.04;
    w.memory_shared = 0.03;
    double z = (log(1.1) - 0.02) / 0.05, tolerance = 3 * sqrt(0.25 / MANY);
    double unfit = 0.5 * erfc(z / sqrt(2));
    risk_judge(v, plans, 2, &w, &o);
    CU_ASSERT_DOUBLE_EQUAL(v[0].unfit, unfit, tolerance);
    CU_ASSERT_DOUBLE_EQUAL(v[0].mean, v[0].unfit, 1e-9); /* all is lost where not */
    CU_ASSERT_DOUBLE_EQUAL(v[1].best, unfit, tolerance);
    o.of_memory = true;
    plans[0].value = 100;
    plans[1].value = 101;
    risk_judge(v, plans, 2, &w, &o);
    CU_ASSERT(v[0].best > 0.4 && v[0].best < 0.6);
}

/* Equal plans that may not fit have the same chance and the same regret in few draws, and
 * regrets are those of many: with a, b and c as chances to fit, the fastest fits, else the
 * second does, else the third. */
static void test_expected(void)
{
    struct risk_plan plans[] = { plan_of(1, 0, 1), plan_of(2, 0, 1), plan_of(3, 0, 2),
                                 plan_of(4, 0, 4) };
    const struct risk_options few = { .rule = RISK_MEAN, .draws = 10 };
    struct risk_widths w = sure;
    struct risk_verdict v[4];
    w.memory_own = 0.1;
    for (int i = 0; i < 4; i++) {
        plans[i].peak_B = i < 2 ? 100 : 95;
        plans[i].capacity_B = 105;
    }
    double u = 0.5 * erfc(log(1.05) / 0.1 / sqrt(2)),
           t = 0.5 * erfc(log(105.0 / 95) / 0.1 / sqrt(2));
    risk_judge(v, plans, 4, &w, &few);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_DOUBLE_EQUAL(v[i].unfit, u, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(v[i].mean, u * (1 - u * t * t), 1e-12);
    }
    CU_ASSERT_DOUBLE_EQUAL(v[2].unfit, t, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(
        v[2].mean, t * (1 - u * u * t) + (1 - t) * (1 - u * u) * (1 - 1.0 / 2), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(
        v[3].mean,
        t * (1 - u * u * t) +
            (1 - t) * ((1 - u * u) * (1 - 1.0 / 4) + u * u * (1 - t) * (1 - 2.0 / 4)),
        1e-12);
    risk_judge(v, plans, 1, &w, &few); /* no other to choose */
    CU_ASSERT_DOUBLE_EQUAL(v[0].mean, 0, 1e-12);
}

/* Regrets of three plans by going through all states that their runs may be in. */
static void count_states(const struct risk_plan plans[3], double mean[3])
{
    for (int a = 0; a < 3 * 3 * 3; a++) {
        int at[3] = { a % 3, a / 3 % 3, a / 9 };
        double chance = 1, value[3], least = INFINITY;
        for (int i = 0; i < 3; i++) {
            const struct risk_state *d = plans[i].states;
            double usual = 1 - d[0].chance - d[1].chance;
            chance *= at[i] < 2 ? d[at[i]].chance : usual;
            value[i] = plans[i].value * (at[i] < 2 ? d[at[i]].times : 1);
            least = fmin(least, value[i]);
        }
        for (int i = 0; i < 3 && chance > 0; i++)
            mean[i] += chance * (1 - least / value[i]);
    }
}

/* Each run is in a state of its own: mean regrets are exact, and a plan that is seldom slow
 * comes before one that is a little slower for sure, and after it if it is often slow. */
static void test_states(void)
{
    struct risk_plan plans[] = { plan_of(1, 1, 0), plan_of(2, 1.1, 0),
                                 plan_of(3, 1.3, 0) };
    const struct risk_options often = { .rule = RISK_MEAN, .draws = 4000 };
    struct risk_verdict v[3];
    double mean[3] = { 0 };
    plans[0].states[0] = (struct risk_state) { 0.2, 3 };
    plans[0].states[1] = (struct risk_state) { 0.1, 1.2 };
    plans[2].states[1] = (struct risk_state) { 0.5, 0.7 };
    count_states(plans, mean);
    risk_judge(v, plans, 3, &sure, &often);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_DOUBLE_EQUAL(v[i].mean, mean[i], 1e-12);
    CU_ASSERT(v[1].mean < v[0].mean);
    CU_ASSERT_DOUBLE_EQUAL(v[2].best, 0.5, 0.03); /* 0.91 is the least of all */
    CU_ASSERT_DOUBLE_EQUAL(v[0].best, 0.5 * 0.7, 0.03);
    plans[0].states[0].chance = 0.01;
    risk_judge(v, plans, 3, &sure, &often);
    CU_ASSERT(v[0].mean < v[1].mean);
}

/* The regret of a set of four plans, by going through all that their runs may be in: not
 * fitting, the usual state, another. */
static double count_set(const struct risk_plan plans[4], const double unfit[4],
                        const bool set[4])
{
    double lost = 0;
    for (int a = 0; a < 81; a++) {
        const int at[4] = { a % 3, a / 3 % 3, a / 9 % 3, a / 27 };
        double chance = 1, least = INFINITY, best = INFINITY;
        for (int i = 0; i < 4; i++) {
            const struct risk_state *d = plans[i].states;
            double fits = 1 - unfit[i], value = INFINITY;
            chance *= at[i] == 0   ? unfit[i]
                      : at[i] == 1 ? fits * (1 - d->chance)
                                   : fits * d->chance;
            if (at[i])
                value = plans[i].value * (at[i] == 2 ? d->times : 1);
            least = fmin(least, value);
            best = set[i] ? fmin(best, value) : best;
        }
        if (chance > 0 && isfinite(least))
            lost += chance * (isfinite(best) ? 1 - least / best : 1);
    }
    return lost;
}

/* The second and third try are what the first ones leave most to gain: their regrets are
 * exact, and of plans that fail alike a safe one is taken. */
static void test_tries(void)
{
    struct risk_plan plans[4];
    const struct risk_options few = { .rule = RISK_MEAN, .draws = 10 };
    struct risk_widths w = sure;
    static const double values[] = { 1, 1.1, 1.2, 4 }, peaks[] = { 100, 103, 104, 60 };
    double unfit[4];
    bool set[4] = { false };
    w.memory_own = 0.1;
    for (int i = 0; i < 4; i++) {
        plans[i] = plan_of((uint64_t)i + 1, 0, values[i]);
        plans[i].peak_B = peaks[i];
        plans[i].capacity_B = 105;
        plans[i].states[0] = (struct risk_state) { i == 3 ? 0 : 0.1 * (i + 1), 2.5 };
        unfit[i] = 0.5 * erfc(log(105 / peaks[i]) / 0.1 / sqrt(2));
    }
    struct risk_tries t = risk_tries_make(plans, 4, 0, &w, &few);
    CU_ASSERT_EQUAL(t.n, RISK_TRIES);
    for (int k = 0; k < t.n; k++) {
        int best = 0;
        double least = INFINITY;
        for (int i = 0; i < 4; i++) {
            if (set[i] || (k == 0 && i > 0))
                continue;
            set[i] = true;
            double lost = count_set(plans, unfit, set);
            set[i] = false;
            best = lost < least ? i : best;
            least = fmin(least, lost);
        }
        CU_ASSERT_EQUAL(t.plan[k], best);
        CU_ASSERT_DOUBLE_EQUAL(t.lost[k], least, 1e-12);
        set[best] = true;
    }
    CU_ASSERT_EQUAL(t.plan[2], 3);
    plans[1].peak_B = plans[0].peak_B; /* it fails where the first does */
    t = risk_tries_make(plans, 4, 0, &w, &few);
    CU_ASSERT(t.plan[1] != 1 && t.plan[2] != 1);
    t = risk_tries_make(plans, 1, 0, &w, &few); /* no other to try */
    CU_ASSERT_EQUAL(t.n, 1);
    CU_ASSERT_DOUBLE_EQUAL(t.lost[0], 0, 1e-12);
}

/* Traffic that kernels hide costs nothing until their window is full. */
static void test_window(void)
{
    struct resources by = {
        .data_by = RESOURCE_NETWORK, .data_s = 1, .hidden_s = 3, .window_s = 4
    };
    by.s[RESOURCE_PRODUCTS] = 10;
    by.s[RESOURCE_NETWORK] = 1;
    const struct {
        double slower, step_s;
    } cases[] = { { 1, 11 }, { 0.5, 10.5 }, { 1.25, 11.25 }, { 2, 14 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double f[RESOURCE_N] = { 1, 1, 1, 1, 1, cases[i].slower };
        CU_ASSERT_DOUBLE_EQUAL(risk_step_s(&by, f), cases[i].step_s, 1e-12);
    }
}

/* The network's window, of two nodes: the backward where it carries gradients alone (the
 * shards of a node), all kernels where it gathers. */
static double window_part(const char *set)
{
    struct cfg_loader loader;
    struct simulate_result r;
    struct scenario s = { 0 };
    struct err err = { 0 };
    const struct simulate_options how = { .network = FIDELITY_FLOW, .mute = true };
    static const char text[] =
        "{'model': 'gpt2-xl', 'cluster': {'instance': 'p4d.24xlarge', 'count': 2},"
        " 'training': {'sequence_length': 1024, 'micro_batch_size': 4, 'microbatches': "
        "1,"
        " 'precision': 'bf16', 'optimizer': 'adam', 'activation_checkpointing': "
        "'full'},"
        " 'parallelism': {'library': 'fsdp'}}";
    const char *network = "/cluster/fabric=\"efa-2024\"";
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "text", text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(cfg_set(root, set), 0);
    CU_ASSERT_EQUAL_FATAL(cfg_set(root, network), 0);
    CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
    CU_ASSERT_EQUAL_FATAL(simulate(&r, &loader.arena, &s, &how, &err), 0);
    double kernels_s = r.parts_s[CATEGORY_COMPUTE] + r.parts_s[CATEGORY_RECOMPUTE];
    double part = (kernels_s - r.by.window_s) / r.parts_s[CATEGORY_COMPUTE];
    cfg_loader_release(&loader);
    return part;
}

static void test_windows(void)
{
    static const char inside[] =
        "/parallelism/sharding={\"strategy\":\"full\",\"degree\":8}",
                      all[] = "/parallelism/sharding={\"strategy\":\"full\"}";
    CU_ASSERT_DOUBLE_EQUAL(window_part(inside), 1.0 / 3, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(window_part(all), 0, 1e-6);
}

/* What decides ---------------------------------------------------------------------- */

/* A plan on the network wins until the network is a tenth slower. */
static void test_decides(void)
{
    const struct risk_plan plans[] = { plan_of(1, 0, 1), plan_of(2, 0.5, 0.45),
                                       plan_of(3, 0, 1.2) };
    const struct risk_options o = { .rule = RISK_MEAN, .draws = MANY };
    struct risk_widths w = sure;
    w.resource[RESOURCE_NETWORK] = 0.2;
    w.own = 0.5; /* has no say */
    struct risk_decision d = risk_decide(plans, 3, 1, &w, &o);
    CU_ASSERT_TRUE(d.changes && d.known && d.above);
    CU_ASSERT_EQUAL(d.other, 0);
    CU_ASSERT_EQUAL(d.unknown, RESOURCE_NETWORK);
    CU_ASSERT_DOUBLE_EQUAL(d.factor, 1.1, 0.01);
    CU_ASSERT_DOUBLE_EQUAL(d.right, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(d.share, 1 - student_below(log(1.1) / 0.2), 0.03);
    d = risk_decide(plans, 3, 0, &w, &o); /* seen from the other plan: when faster */
    CU_ASSERT_TRUE(d.known && !d.above && d.other == 1);
    CU_ASSERT_DOUBLE_EQUAL(d.factor, 1.1, 0.01);
    const struct risk_plan apart[] = { plan_of(1, 0, 1), plan_of(2, 0, 1.2) };
    CU_ASSERT_FALSE(risk_decide(apart, 2, 0, &w, &o).changes);
    /* a plan that is always better by a hair decides less than the network */
    struct risk_plan alike[] = { plans[1], plans[1], plans[0] };
    alike[1].value *= 1 - 1e-4;
    d = risk_decide(alike, 3, 0, &w, &o);
    CU_ASSERT_TRUE(d.known && d.other == 2);
    /* memory: the first does not fit where it needs a tenth more */
    struct risk_plan tight[] = { plan_of(1, 0, 1), plan_of(2, 0, 1.2) };
    tight[0].peak_B = 100;
    tight[0].capacity_B = 110;
    w.memory_shared = 0.05;
    d = risk_decide(tight, 2, 0, &w, &o);
    CU_ASSERT_TRUE(d.known && d.above && d.unknown == RISK_UNKNOWN_MEMORY);
    CU_ASSERT_DOUBLE_EQUAL(d.factor, 1.1, 0.01);
}

/* Times of draws against replays ---------------------------------------------------- */

static int replay(struct cfg_loader *loader, const char *name, const char *set,
                  struct simulate_result *r)
{
    const struct simulate_options how = { .network = FIDELITY_FLOW, .mute = true };
    struct scenario s = { 0 };
    struct err err = { 0 };
    struct cfg root = datadir_load(loader, "scenarios", name, (struct cfg) { 0 });
    if (!root.json || (set && cfg_set(root, set)) || scenario_read(&s, loader, root))
        return -1;
    return simulate(r, &loader->arena, &s, &how, &err);
}

/* What a closed form of the draw says of a slower network, and the replay over one
 * whose NICs are as much slower. */
static void test_replays(void)
{
    static const struct {
        const char *name, *set;
        double slower, tolerance; /* of the step */
    } cases[] = {
        { "bert-large-squad-2xp3dn.24xlarge", "/cluster/oversubscription=1.5", 1.5,
          0.04 },
        { "bert-large-squad-2xp3dn.24xlarge", "/cluster/oversubscription=3", 3, 0.08 },
        { "gpt3-175b-64xp4d.24xlarge", "/cluster/oversubscription=1.5", 1.5, 0.06 },
        { "gpt3-175b-64xp4d.24xlarge", "/cluster/oversubscription=3", 3, 0.1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct simulate_result usual, slow;
        double f[RESOURCE_N] = { 1, 1, 1, 1, 1, cases[i].slower }, sum_s = 0;
        cfg_loader_init(&loader);
        CU_ASSERT_EQUAL_FATAL(replay(&loader, cases[i].name, NULL, &usual), 0);
        CU_ASSERT_EQUAL_FATAL(replay(&loader, cases[i].name, cases[i].set, &slow), 0);
        for (int k = 0; k < RESOURCE_N; k++)
            sum_s += usual.by.s[k];
        CU_ASSERT_DOUBLE_EQUAL(sum_s, usual.step_time_s, 1e-6 * sum_s);
        CU_ASSERT(slow.step_time_s > 1.05 * usual.step_time_s);
        double error = risk_step_s(&usual.by, f) / slow.step_time_s - 1;
        if (fabs(error) > cases[i].tolerance)
            printf("%s %s: %.3f s, replayed %.3f s of %.3f s\n", cases[i].name,
                   cases[i].set, risk_step_s(&usual.by, f), slow.step_time_s,
                   usual.step_time_s);
        CU_ASSERT(fabs(error) <= cases[i].tolerance);
        cfg_loader_release(&loader);
    }
}

/* Plans ---------------------------------------------------------------------------- */

static void search(struct plan_outcome *out, struct cfg_loader *loader,
                   struct plan_job *job, enum risk_rule rule, int threads)
{
    const struct plan_request r = { .model = "gpt2-xl",
                                    .instances = "p4d.24xlarge",
                                    .count = "2",
                                    .global_batch = 64,
                                    .sequence = 1024,
                                    .allows = {
                                        2, (const char *const[]) {
                                               "library=fsdp,ddp",
                                               "activation_checkpointing=none,full",
                                           } } };
    const struct plan_options o = { .objective = PLAN_TIME,
                                    .listed = 10,
                                    .simulate_most = 100,
                                    .risk = { .rule = rule, .draws = 100 } };
    struct err err = { 0 };
    int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    cfg_loader_init(loader);
    CU_ASSERT_EQUAL_FATAL(plan_job_init(job, loader, &r), 0);
    CU_ASSERT_EQUAL_FATAL(plan_search(out, &loader->arena, job, &o, &err), 0);
    omp_set_num_threads(before);
}

static int32_t n_near_limit(const struct plan_outcome *out)
{
    int32_t n = 0;
    for (int32_t i = 0; i < out->n_entries; i++)
        n += out->entries[i].result.near_limit;
    return n;
}

/* Every rule lists the same plans, each in the order of its regret. What may not fit is
 * among them, since regret counts that; the point estimate keeps it back. */
static void test_rules(void)
{
    struct cfg_loader loaders[4];
    struct plan_job jobs[4] = { { 0 } };
    struct plan_outcome out[4];
    double all = 0;
    for (int rule = 0; rule < 4; rule++)
        search(&out[rule], &loaders[rule], &jobs[rule], (enum risk_rule)rule, 2);
    CU_ASSERT(out[0].n_entries > 10);
    CU_ASSERT_EQUAL(n_near_limit(&out[0]), 0);
    CU_ASSERT(n_near_limit(&out[1]) > 0);
    for (int rule = 1; rule < 4; rule++) {
        CU_ASSERT_EQUAL(out[rule].n_entries, out[1].n_entries);
        CU_ASSERT_EQUAL(n_near_limit(&out[rule]), n_near_limit(&out[1]));
        for (int32_t i = 1; i < out[rule].n_entries; i++)
            CU_ASSERT(
                risk_regret(&out[rule].entries[i - 1].risk, (enum risk_rule)rule) <=
                risk_regret(&out[rule].entries[i].risk, (enum risk_rule)rule));
    }
    for (int32_t i = 1; i < out[0].n_entries; i++)
        CU_ASSERT(out[0].entries[i - 1].key <= out[0].entries[i].key);
    for (int32_t i = 0; i < out[1].n_entries; i++)
        all += out[1].entries[i].risk.best;
    CU_ASSERT_DOUBLE_EQUAL(all, 1, 1e-9);
    for (int rule = 0; rule < 4; rule++) {
        plan_job_release(&jobs[rule]);
        cfg_loader_release(&loaders[rule]);
    }
}

/* Of a space that is not small: what simulating everything finds beyond the default
 * search's best is within the stated errors of scores, and no larger. */
static void test_missed(void)
{
    static const struct {
        const char *model, *instance, *allow;
    } cases[] = { { "gpt2-xl", "p4d.24xlarge", "library=fsdp,ddp,deepspeed" },
                  { "bert-large-uncased", "p3.16xlarge", "library=megatron,ddp" } };
    const size_t every = (size_t)sample_every();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i += every) {
        struct plan_outcome out[2];
        struct cfg_loader loader;
        struct plan_job job = { 0 };
        struct err err = { 0 };
        const struct plan_request r = { .model = cases[i].model,
                                        .instances = cases[i].instance,
                                        .count = "2",
                                        .global_batch = 64,
                                        .sequence = 512,
                                        .allows = { 1, &cases[i].allow } };
        cfg_loader_init(&loader);
        CU_ASSERT_EQUAL_FATAL(plan_job_init(&job, &loader, &r), 0);
        for (int all = 0; all < 2; all++) {
            const struct plan_options o = { .objective = PLAN_TIME,
                                            .listed = 1,
                                            .simulate_most = 40,
                                            .exhaustive = all };
            CU_ASSERT_EQUAL_FATAL(plan_search(&out[all], &loader.arena, &job, &o, &err),
                                  0);
        }
        const struct plan_missed *m = &out[0].missed;
        CU_ASSERT(out[0].feasible > PLAN_SMALL);
        CU_ASSERT_EQUAL(m->n, out[0].feasible - out[0].simulated);
        CU_ASSERT(m->chance > 0 && m->chance <= 1);
        CU_ASSERT_EQUAL(out[1].missed.n, 0);
        double gain = 1 - out[1].entries[0].value / out[0].entries[0].value;
        CU_ASSERT(gain <=
                  fmax(0, 1 - (1 + m->nearest) * (1 - m->largest_error)) + 1e-9);
        /* none of those left out is nearer than its score and the largest error say */
        for (int32_t k = 0; k < out[1].n_entries; k++) {
            const struct plan_entry *e = &out[1].entries[k];
            if (!plan_tried(&out[0], &e->point))
                CU_ASSERT(e->value / out[0].entries[0].value >=
                          (1 + m->nearest) * (1 - m->largest_error) - 1e-9);
        }
        plan_job_release(&job);
        cfg_loader_release(&loader);
    }
}

static void test_threads(void)
{
    struct cfg_loader loaders[2];
    struct plan_job jobs[2] = { { 0 } };
    struct plan_outcome out[2];
    for (int i = 0; i < 2; i++)
        search(&out[i], &loaders[i], &jobs[i], RISK_MEAN, 1 + 2 * i);
    CU_ASSERT_EQUAL_FATAL(out[0].n_entries, out[1].n_entries);
    for (int32_t i = 0; i < out[0].n_entries; i++) {
        CU_ASSERT_EQUAL(
            space_compare(&out[0].entries[i].point, &out[1].entries[i].point), 0);
        CU_ASSERT_EQUAL(memcmp(&out[0].entries[i].risk, &out[1].entries[i].risk,
                               sizeof(out[0].entries[i].risk)),
                        0);
    }
    for (int i = 0; i < 2; i++) {
        plan_job_release(&jobs[i]);
        cfg_loader_release(&loaders[i]);
    }
}

void test_risk_register(void)
{
    CU_pSuite suite = CU_add_suite("risk", NULL, NULL);
    CU_add_test(suite, "without uncertainty the fastest is the best", test_sure);
    CU_add_test(suite, "what plans share decides between unlike ones", test_shared);
    CU_add_test(suite, "residuals of their own", test_own);
    CU_add_test(suite, "chances not to fit", test_memory);
    CU_add_test(suite, "regrets of memory are exact", test_expected);
    CU_add_test(suite, "states that runs may be in", test_states);
    CU_add_test(suite, "which plans to try next", test_tries);
    CU_add_test(suite, "hidden traffic fills its window", test_window);
    CU_add_test(suite, "the network's window", test_windows);
    CU_add_test(suite, "the unknown that decides, and where", test_decides);
    CU_add_test(suite, "times of draws are near those of replays", test_replays);
    CU_add_test(suite, "plans are in the order of their rule", test_rules);
    CU_add_test(suite, "what is missed is within what is stated", test_missed);
    CU_add_test(suite, "any number of threads gives the same", test_threads);
}
