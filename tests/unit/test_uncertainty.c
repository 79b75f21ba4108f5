/* Uncertainty: random factors against their closed forms, draws against theory, equal
 * ranks drawn at once against every rank drawn, failures against Young and Daly. */
#include "campaign/montecarlo.h"
#include "step/reps.h"

#include "campaign_bench.h"

#include <CUnit/CUnit.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

void test_uncertainty_register(void);

static const char base_text[] =
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 4, 'n_embd': 2048, 'n_head': 16,"
    "             'vocab_size': 8192, 'n_positions': 256 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 5 },"
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 16, 'precision': "
    "'fp16' } }";

static void load(struct loaded *l, const char *changes)
{
    bench_campaign(l, base_text, changes);
}

/* The step without jitter, and what is drawn around it. */
static double draw_by(struct loaded *l, bool unfold, int jobs,
                      struct uncertainty_result *r)
{
    struct err err = { 0 };
    struct simulate_result step;
    const struct simulate_options plain = { .network = FIDELITY_FLOW };
    CU_ASSERT_EQUAL_FATAL(l->rc, 0);
    CU_ASSERT_EQUAL_FATAL(simulate(&step, &l->loader.arena, &l->s, &plain, &err), 0);
    const struct uncertainty_step of = { .time_s = step.step_time_s };
    const struct uncertainty_draws how = { .network = FIDELITY_FLOW,
                                           .unfold = unfold,
                                           .jobs = jobs };
    int rc = uncertainty_run(r, &l->c.uncertainty, &l->s, &of, &how, &err);
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    return step.step_time_s;
}

/* Random numbers */

/* Means and deviations of factors are 1 and cv, by averaging quantiles. */
static void test_factors(void)
{
    static const double cvs[] = { 0.01, 0.05, 0.2, 0.5 };
    enum { N = 20000 };
    for (int law = RANDOM_LOGNORMAL; law <= RANDOM_PARETO; law++)
        for (int c = 0; c < 4; c++) {
            double sum = 0, squares = 0, cv = cvs[c];
            if (law == RANDOM_NORMAL && cv > 0.3)
                continue;
            for (int i = 0; i < N; i++) {
                double f = random_factor((enum random_law)law, cv, (i + 0.5) / N);
                sum += f / N;
                squares += f * f / N;
            }
            CU_ASSERT_DOUBLE_EQUAL(sum, 1, 2e-4);
            if (law != RANDOM_PARETO || cv < 0.3) /* its tail converges slowly */
                CU_ASSERT_DOUBLE_EQUAL(sqrt(squares - sum * sum) / cv, 1, 0.02);
            CU_ASSERT_EQUAL(random_factor((enum random_law)law, 0, 0.3), 1);
        }
}

/* Factors are finite, positive and fall with the probability, however wide or narrow
 * the law and however far out. */
static void test_wide_and_narrow(void)
{
    static const double cvs[] = { 1e-200, 1e-9, 0.0999, 0.1001, 1, 3, 10 };
    static const double qs[] = { 1e-23, 1e-17, 1e-9, 0.01, 0.5, 0.95, 1 - 1e-9, 1 };
    for (int law = RANDOM_LOGNORMAL; law <= RANDOM_PARETO; law++)
        for (int c = 0; c < 7; c++)
            for (int i = 0; i < 8; i++) {
                double f = random_factor((enum random_law)law, cvs[c], qs[i]);
                CU_ASSERT(isfinite(f) && f >= 0);
                if (i > 0)
                    CU_ASSERT(f <=
                              random_factor((enum random_law)law, cvs[c], qs[i - 1]));
            }
}

/* The narrow gamma is as exact as GSL's inverse where that still converges. */
static void test_narrow_gamma(void)
{
    for (double q = 1e-4; q < 1; q += 0.01) {
        double cv = 0.0999, exact = gsl_cdf_gamma_Qinv(q, 1 / (cv * cv), cv * cv);
        CU_ASSERT_DOUBLE_EQUAL(random_factor(RANDOM_GAMMA, cv, q), exact, 1e-2 * cv);
    }
}

/* E[max of n]: of normals (tables of order statistics: Tippett 1925, Teichroew 1956),
 * and of exponentials, the gamma of cv 1: the harmonic number H_n. */
static void test_largest(void)
{
    static const struct {
        double n, normal;
    } cases[] = { { 2, 0.5641896 },  { 3, 0.8462844 },   { 5, 1.1629645 },
                  { 10, 1.5387527 }, { 100, 2.5075936 }, { 1000, 3.2414358 } };
    double mean, sd;
    for (int i = 0; i < 6; i++) {
        double harmonic = 0;
        random_largest_moments(RANDOM_NORMAL, 0.01, cases[i].n, &mean, &sd);
        CU_ASSERT_DOUBLE_EQUAL((mean - 1) / 0.01, cases[i].normal, 1e-5);
        for (int k = 1; k <= (int)cases[i].n; k++)
            harmonic += 1.0 / k;
        random_largest_moments(RANDOM_GAMMA, 1, cases[i].n, &mean, &sd);
        CU_ASSERT_DOUBLE_EQUAL(mean, harmonic, 1e-4 * harmonic);
    }
    random_largest_moments(RANDOM_NORMAL, 0.01, 2, &mean, &sd);
    CU_ASSERT_DOUBLE_EQUAL(sd / 0.01, sqrt(1 - 1 / acos(-1)), 1e-5);
}

/* The mean of n draws of the largest of 40 has the error that theory gives, about
 * sd/sqrt(n): root mean squares over 64 seeds at n and 16 n are 4 apart. */
static void test_convergence(void)
{
    double mean, sd, errors[2] = { 0, 0 };
    random_largest_moments(RANDOM_LOGNORMAL, 0.1, 40, &mean, &sd);
    for (int big = 0; big < 2; big++) {
        const int n = big ? 1600 : 100, seeds = 64;
        for (int seed = 0; seed < seeds; seed++) {
            double sum = 0;
            for (int i = 0; i < n; i++) {
                struct random_stream r = random_stream(seed, i, RANDOM_COMPUTE);
                double q = random_largest(random_uniform(r, 0, 0), 40);
                sum += random_factor(RANDOM_LOGNORMAL, 0.1, q);
            }
            errors[big] += pow(sum / n - mean, 2) / seeds;
        }
        errors[big] = sqrt(errors[big]);
        CU_ASSERT_DOUBLE_EQUAL(errors[big] * sqrt(n) / sd, 1, 0.25);
    }
    CU_ASSERT_DOUBLE_EQUAL(errors[0] / errors[1], 4, 1.2);
}

/* Steps */

#define JITTER(per, cv)                                                  \
    "/uncertainty={\"samples\":50,\"compute_jitter\":{\"distribution\":" \
    "\"lognormal\",\"cv\":" cv ",\"per\":\"" per "\"}}"

/* A jitter of 0 is no jitter, to the last bit; folded and unfolded. */
static void test_none(void)
{
    for (int unfold = 0; unfold < 2; unfold++) {
        struct loaded l;
        struct err err = { 0 };
        struct simulate_result step;
        double times_s[2] = { 0, 0 };
        load(&l, "/parallelism={\"tensor\":2} /uncertainty={\"samples\":2}");
        const struct simulate_options plain = { .network = FIDELITY_FLOW,
                                                .unfold = unfold };
        const struct uncertainty_draws how = { .network = FIDELITY_FLOW,
                                               .unfold = unfold };
        CU_ASSERT_EQUAL(simulate(&step, &l.loader.arena, &l.s, &plain, &err), 0);
        CU_ASSERT_EQUAL(
            montecarlo_steps(times_s, 2, &l.c.uncertainty, &l.s, &how, &err), 0);
        CU_ASSERT_EQUAL(times_s[0], step.step_time_s);
        CU_ASSERT_EQUAL(times_s[1], step.step_time_s);
        unload(&l);
    }
}

/* The same numbers on one thread and on several, and for a seed; others for another. */
static void test_threads(void)
{
    struct uncertainty_result r[3];
    for (int i = 0; i < 3; i++) {
        struct loaded l;
        load(&l, "/uncertainty={\"samples\":24,\"compute_jitter\":{\"cv\":0.1},"
                 "\"host_jitter\":{\"cv\":0.1},\"link_jitter\":{\"cv\":0.2},"
                 "\"stragglers\":{\"probability\":0.05,\"slowdown\":1.5},"
                 "\"failures\":{\"checkpoint_time_s\":10,\"mtbf_hours\":500}}");
        l.c.uncertainty.seed = i == 2;
        draw_by(&l, false, i == 1 ? 3 : 1, &r[i]);
        unload(&l);
    }
    CU_ASSERT_EQUAL(
        memcmp(&r[0].step_time_s, &r[1].step_time_s, sizeof(r[0].step_time_s)), 0);
    CU_ASSERT_EQUAL(r[0].goodput.fraction, r[1].goodput.fraction);
    CU_ASSERT_EQUAL(r[0].goodput.steps_per_day.p5, r[1].goodput.steps_per_day.p5);
    CU_ASSERT_NOT_EQUAL(r[0].step_time_s.mean, r[2].step_time_s.mean);
    CU_ASSERT(r[0].step_time_s.p5 < r[0].step_time_s.p50);
    CU_ASSERT(r[0].step_time_s.p50 < r[0].step_time_s.p95);
}

/* Equal ranks drawn by the slowest of them give what drawing every rank does: of what
 * jitter adds to the step. Where ranks are coupled otherwise the former errs upwards:
 * in pipelines (the slowest of each stage are not of one replica) and where tensor
 * groups that are drawn apart get out of each other's way on the links. */
static void test_unfolded(void)
{
    static const struct {
        const char *changes;
        double below, above;
    } cases[] = {
        { "/parallelism={} " JITTER("kernel", "0.3"), 0.15, 0.15 },
        { "/parallelism={} " JITTER("pass", "0.1"), 0.10, 0.10 },
        { "/parallelism={} " JITTER("step", "0.1"), 0.10, 0.10 },
        { "/parallelism={\"tensor\":4} " JITTER("kernel", "0.1"), 0.10, 0.30 },
        { "/parallelism={\"tensor\":4} " JITTER("step", "0.1"), 0.10, 0.30 },
        { "/parallelism={\"sharding\":{\"strategy\":\"full\"}} " JITTER("pass", "0.1"),
          0.10, 0.30 },
        { "/parallelism={\"pipeline\":4} /training/microbatches=8 " //
          JITTER("step", "0.1"),
          0.05, 0.45 },
        { "/parallelism={} /uncertainty={\"samples\":10,\"stragglers\":{\"count\":2,"
          "\"slowdown\":2}}",
          0.02, 0.02 },
        { "/parallelism={} /uncertainty={\"samples\":200,\"stragglers\":{"
          "\"probability\":0.02,\"slowdown\":2}}",
          0.15, 0.15 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        struct uncertainty_result each, equal;
        load(&l, cases[i].changes);
        double step_s = draw_by(&l, true, 0, &each);
        draw_by(&l, false, 0, &equal);
        CU_ASSERT(each.unfolded);
        CU_ASSERT(!equal.unfolded);
        double ratio =
            (equal.step_time_s.mean - step_s) / (each.step_time_s.mean - step_s);
        if (ratio < 1 - cases[i].below || ratio > 1 + cases[i].above)
            fprintf(stderr, "%s: equal ranks at once add %.3f of each\n",
                    cases[i].changes, ratio);
        CU_ASSERT(ratio > 1 - cases[i].below && ratio < 1 + cases[i].above);
        unload(&l);
    }
}

/* Collectives that overlap with nothing take, in the mean, as many times as long as the
 * slowest of the 5 nodes' links: (17.1). */
static void test_links(void)
{
    struct loaded l;
    struct err err = { 0 };
    struct simulate_result step;
    struct uncertainty_result r;
    const struct simulate_options plain = { .network = FIDELITY_FLOW };
    double mean, sd;
    load(&l, "/parallelism={\"overlap\":false} /uncertainty={\"samples\":400,"
             "\"link_jitter\":{\"distribution\":\"gamma\",\"cv\":0.3}}");
    CU_ASSERT_EQUAL_FATAL(simulate(&step, &l.loader.arena, &l.s, &plain, &err), 0);
    double step_s = draw_by(&l, false, 0, &r);
    random_largest_moments(RANDOM_GAMMA, 0.3, 5, &mean, &sd);
    double added =
        (r.step_time_s.mean - step_s) / step.parts_s[CATEGORY_DATA_COMM_EXPOSED];
    CU_ASSERT_DOUBLE_EQUAL(added / (mean - 1), 1, 0.1);
    unload(&l);
}

/* The host's jitter lengthens a step that the host bounds, by no more than the slowest
 * host's factor; one that the GPU bounds far less. */
static void test_host(void)
{
    double mean, sd, slowdown[2];
    random_largest_moments(RANDOM_LOGNORMAL, 0.2, 40, &mean, &sd);
    for (int bound = 0; bound < 2; bound++) {
        struct loaded l;
        struct uncertainty_result r;
        load(&l, bound
                     ? "/training/micro_batch_size=1 /model/n_embd=256 /parallelism={} "
                       "/uncertainty={\"samples\":200,\"host_jitter\":{\"cv\":0.2,"
                       "\"per\":\"step\"}}"
                     : "/parallelism={} /uncertainty={\"samples\":200,"
                       "\"host_jitter\":{\"cv\":0.2,\"per\":\"step\"}}");
        draw_by(&l, false, 0, &r);
        slowdown[bound] = r.slowdown - 1;
        unload(&l);
    }
    CU_ASSERT(slowdown[1] > 0.3 * (mean - 1));
    CU_ASSERT(slowdown[1] < 1.02 * (mean - 1));
    CU_ASSERT(slowdown[0] < 0.3 * slowdown[1]);
}

/* Passes of tensor groups know how often their ranks are made equal. */
static void test_syncs(void)
{
    static const char *const changes[] = {
        "/parallelism={\"pipeline\":2} /training/microbatches=4",
        "/parallelism={\"pipeline\":2,\"tensor\":4} /training/microbatches=4",
    };
    for (int i = 0; i < 2; i++) {
        struct loaded l;
        struct reps reps;
        struct err err = { 0 };
        const struct reps_options how = { 0 };
        load(&l, changes[i]);
        CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &l.loader.arena, &l.s, &how, &err), 0);
        const struct program *p = &reps.steps[0].program;
        CU_ASSERT_FATAL(p->passes.n > 0);
        const struct pass_cost *forward = &p->passes.v[0];
        double kernels_s = 1e-12 * (double)forward->parts_ps[CATEGORY_COMPUTE];
        CU_ASSERT(forward->squares_s2 > 0);
        CU_ASSERT(forward->squares_s2 < kernels_s * kernels_s);
        if (i == 0)
            CU_ASSERT_EQUAL(forward->n_syncs, 0);
        if (i == 1) { /* two all-reduces a layer, one of the embedding */
            int32_t layers = (int32_t)l.s.model.layers / 2;
            CU_ASSERT_EQUAL(forward->n_syncs, 2 * layers + 1);
            CU_ASSERT_EQUAL(forward->over, CHANNEL_TENSOR);
        }
        reps_release(&reps);
        unload(&l);
    }
}

/* Workers of asynchronous servers wait for none; of synchronous ones, for the
 * slowest. */
static void test_servers(void)
{
    static const char *const changes[] = {
        "/parallelism={\"library\":\"parameter-server\"} " JITTER("step", "0.2"),
        "/parallelism={\"library\":\"parameter-server\",\"asynchronous\":true} " //
        JITTER("step", "0.2"),
    };
    double slowdown[2];
    for (int i = 0; i < 2; i++) {
        struct loaded l;
        struct uncertainty_result r;
        load(&l, changes[i]);
        draw_by(&l, false, 0, &r);
        slowdown[i] = r.slowdown - 1;
        unload(&l);
    }
    CU_ASSERT(slowdown[0] > 0);
    CU_ASSERT(slowdown[1] < 0.8 * slowdown[0]);
}

/* Failures */

static double simulated_goodput(const struct failure_process *f, double work_s,
                                int samples)
{
    double wall_s = 0;
    for (int i = 0; i < samples; i++) {
        struct failure_times t;
        failure_simulate(&t, f, work_s, random_stream(1, i, RANDOM_FAILURES));
        CU_ASSERT_DOUBLE_EQUAL(t.useful_s, work_s, 1e-6 * work_s);
        wall_s += failure_wall_s(&t);
    }
    return work_s * samples / wall_s;
}

/* Simulated goodput is Daly's expected one; a Weibull of shape 1 is exponential. */
static void test_daly(void)
{
    static const struct failure_process cases[] = {
        { FAILURE_EXPONENTIAL, 1, 3600, 600, 30, 300 },
        { FAILURE_EXPONENTIAL, 1, 3600, 1800, 120, 900 },
        { FAILURE_EXPONENTIAL, 1, 86400, 5000, 60, 0 },
        { FAILURE_WEIBULL, 1, 3600, 600, 30, 300 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double got = simulated_goodput(&cases[i], 2000 * cases[i].interval_s, 40);
        CU_ASSERT_DOUBLE_EQUAL(got / failure_expected_goodput(&cases[i]), 1, 0.01);
    }
}

/* The optimum is where simulated goodput is best, and the approximations come near. */
static void test_optimum(void)
{
    static const double checkpoints_s[] = { 5, 60, 300 };
    const double mtbf_s = 4 * 3600;
    for (int c = 0; c < 3; c++) {
        double delta = checkpoints_s[c], tau = failure_optimum_s(delta, mtbf_s);
        struct failure_process f = { FAILURE_EXPONENTIAL, 1, mtbf_s, tau, delta, 600 };
        double best = simulated_goodput(&f, 3e7, 20), most = 0, at = 0;
        for (double by = 0.25; by < 4.1; by *= sqrt(2)) {
            f.interval_s = by * tau;
            double got = simulated_goodput(&f, 3e7, 20);
            if (got > most) {
                most = got;
                at = by;
            }
        }
        CU_ASSERT((1 - best) / (1 - most) < 1.02); /* loss within 2 % of the least */
        CU_ASSERT(at > 0.6 && at < 1.7);
        CU_ASSERT_DOUBLE_EQUAL(failure_daly_s(delta, mtbf_s) / tau, 1, 0.001);
        CU_ASSERT_DOUBLE_EQUAL(failure_young_s(delta, mtbf_s) / tau, 1,
                               delta < 10 ? 0.02 : 0.12);
    }
    for (double mtbf = 1; mtbf < 1e17; mtbf *= 10) /* checkpoints of a millisecond */
        CU_ASSERT_DOUBLE_EQUAL(
            failure_optimum_s(1e-3, mtbf) / failure_young_s(1e-3, mtbf), 1, 0.02);
}

/* Without failures only checkpoints cost; a job that cannot go on is given up. */
static void test_extremes(void)
{
    struct failure_process f = { FAILURE_EXPONENTIAL, 1, 1e15, 900, 100, 600 };
    struct failure_times t;
    failure_simulate(&t, &f, 9000, random_stream(0, 0, RANDOM_FAILURES));
    CU_ASSERT_DOUBLE_EQUAL(failure_wall_s(&t), 10000, 1e-6);
    CU_ASSERT_EQUAL(t.failures, 0);
    f.mtbf_s = 10;
    failure_simulate(&t, &f, 9000, random_stream(0, 0, RANDOM_FAILURES));
    CU_ASSERT(t.gave_up);
    CU_ASSERT(t.useful_s < 9000);
}

/* Defaults, and times of checkpoints by bytes or by the job's own. */
static void test_goodput_words(void)
{
    static const struct {
        const char *changes;
        double checkpoint_s; /* 0: not looked at */
        double interval_s;
    } cases[] = {
        { "/uncertainty={\"failures\":{\"checkpoint_time_s\":60}}", 60, 0 },
        { "/uncertainty={\"failures\":{\"checkpoint_time_s\":60,"
          "\"checkpoint_interval_s\":1000}}",
          60, 1000 },
        { "/uncertainty={\"failures\":{\"storage_bandwidth\":\"1GB/s\"}}", 0, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        struct uncertainty_result r;
        load(&l, cases[i].changes);
        draw_by(&l, false, 1, &r);
        const struct goodput_result *g = &r.goodput;
        CU_ASSERT(r.has_goodput);
        CU_ASSERT_DOUBLE_EQUAL(g->process.mtbf_s, 50700.0 * 3600 / 40, 1e-3);
        double states_s = 14.0 * (double)model_parameters(&l.s.model) / 1e9;
        double wanted_s = cases[i].checkpoint_s > 0 ? cases[i].checkpoint_s : states_s;
        CU_ASSERT_DOUBLE_EQUAL(g->process.checkpoint_s, wanted_s, 1e-9 * wanted_s);
        double interval_s = cases[i].interval_s > 0
                                ? cases[i].interval_s
                                : failure_optimum_s(wanted_s, g->process.mtbf_s);
        CU_ASSERT_DOUBLE_EQUAL(g->process.interval_s, interval_s, 1e-9 * interval_s);
        CU_ASSERT_DOUBLE_EQUAL(g->fraction + g->lost + g->checkpoints + g->restarts, 1,
                               1e-9);
        CU_ASSERT_DOUBLE_EQUAL(g->steps_per_day.mean,
                               g->fraction * 86400 / r.step_time_s.mean,
                               1e-6 * g->steps_per_day.mean);
        unload(&l);
    }
}

#define WORK                                                                    \
    "'model':'llama3-8b','training':{'sequence_length':2048,"                   \
    "'micro_batch_size':1,'precision':'bf16'},'parallelism':{'library':'fsdp'," \
    "'sharding':{'strategy':'full'}},'cluster':{'instance':'dgx-h100','count':4"

/* Next to other jobs that it meets, draws are refused by the key; failures are not. */
static void test_background(void)
{
    static const struct {
        const char *tier, *drawn, *says;
    } cases[] = {
        { "16", "'compute_jitter':{'cv':0.05}", "/uncertainty/compute_jitter: is not" },
        { "16", "'stragglers':{'count':1,'slowdown':2}",
          "/uncertainty/stragglers: is" },
        { "16", "'failures':{'mtbf_hours':50000,'checkpoint_time_s':60}", NULL },
        { "1", "'compute_jitter':{'cv':0.05}", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        char text[2000];
        snprintf(text, sizeof(text),
                 "{ " WORK ",'fabric_hosts':'0-1,4-5','tiers':[{'hosts':4,"
                 "'oversubscription':%s}]},'uncertainty':{'samples':4,%s},"
                 "'background':[{ " WORK ",'fabric_hosts':'2-3,6-7'}}] }",
                 cases[i].tier, cases[i].drawn);
        bench_campaign(&l, text, "");
        CU_ASSERT_EQUAL(l.loader.diags.n_errors, cases[i].says != NULL);
        if (cases[i].says && l.loader.diags.n_errors)
            CU_ASSERT_PTR_NOT_NULL(
                strstr(diags_error_text(&l.loader.diags, 0), cases[i].says));
        unload(&l);
    }
}

void test_uncertainty_register(void)
{
    CU_pSuite s = CU_add_suite("uncertainty", NULL, NULL);
    CU_add_test(s, "factors have their mean and deviation", test_factors);
    CU_add_test(s, "factors of extreme laws", test_wide_and_narrow);
    CU_add_test(s, "a narrow gamma", test_narrow_gamma);
    CU_add_test(s, "the largest of n against closed forms", test_largest);
    CU_add_test(s, "the error falls as 1/sqrt(n)", test_convergence);
    CU_add_test(s, "no jitter, no difference", test_none);
    CU_add_test(s, "threads and seeds", test_threads);
    CU_add_test(s, "equal ranks at once against each", test_unfolded);
    CU_add_test(s, "jitter of links", test_links);
    CU_add_test(s, "jitter of the host", test_host);
    CU_add_test(s, "where ranks are made equal", test_syncs);
    CU_add_test(s, "asynchronous servers are not stalled", test_servers);
    CU_add_test(s, "goodput against Daly's expectation", test_daly);
    CU_add_test(s, "the optimal interval", test_optimum);
    CU_add_test(s, "no failures, and too many", test_extremes);
    CU_add_test(s, "goodput of a scenario", test_goodput_words);
    CU_add_test(s, "not next to other jobs", test_background);
}
