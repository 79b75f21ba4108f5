/* What measurements are worth before a choice: of the unknown that decides, much; of
 * others, nothing; what was measured turns the choice; and over systems that were never
 * drawn, measuring what is worth most loses less than measuring at random. */
#include "risk/draw.h"
#include "risk/pilot.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

void test_pilot_register(void);

static const struct risk_options how = { .rule = RISK_MEAN, .draws = 300, .seed = 3 };

/* A step of these seconds of products, and of the network. */
static struct risk_plan plan_of(uint64_t key, double products_s, double network_s)
{
    struct risk_plan p = { .key = key, .octaves = 4, .peak_B = 1, .capacity_B = 100 };
    p.by.s[RESOURCE_PRODUCTS] = products_s;
    p.by.s[RESOURCE_NETWORK] = network_s;
    p.value = p.usual = products_s + network_s;
    return p;
}

/* Only the network is unknown. */
static struct risk_widths network_alone(double own)
{
    struct risk_widths w = risk_widths;
    memset(w.resource, 0, sizeof(w.resource));
    w.resource[RESOURCE_NETWORK] = 0.15;
    w.own = own;
    w.own_spread = w.slow_share = 0;
    return w;
}

static struct pilot_measure all_reduce(double octaves, enum resource of)
{
    return (struct pilot_measure) {
        .kind = PILOT_COLLECTIVE, .of = of, .octaves = octaves, .error = 0.05
    };
}

static struct pilot_measure step_of(const struct risk_plan *p, int32_t i)
{
    return (struct pilot_measure) {
        .kind = PILOT_STEP, .plan = i, .step = p[i], .whole = true, .error = 0.01
    };
}

/* One plan rests on the network, the other does not: nothing but the network decides. */
static void test_value(void)
{
    const struct risk_plan plans[] = { plan_of(1, 1, 1), plan_of(2, 2.02, 0) };
    const struct risk_widths w = network_alone(0);
    struct pilot *p = pilot_new(plans, 2, &w, &how);
    int32_t choice;
    double now = pilot_regret(p, &choice);
    struct pilot_measure network = all_reduce(4, RESOURCE_NETWORK),
                         few = all_reduce(1, RESOURCE_NETWORK),
                         links = all_reduce(0, RESOURCE_LINKS),
                         other = step_of(plans, 1), first = step_of(plans, 0);
    CU_ASSERT_TRUE(now > 0.05);
    CU_ASSERT_TRUE(pilot_after(p, &network) < 0.2 * now);
    CU_ASSERT_TRUE(pilot_after(p, &first) < 0.2 * now);
    CU_ASSERT_TRUE(pilot_after(p, &few) > pilot_after(p, &network));
    CU_ASSERT_TRUE(pilot_after(p, &few) < now);
    CU_ASSERT_TRUE(pilot_after(p, &links) > 0.95 * now);
    CU_ASSERT_TRUE(pilot_after(p, &other) > 0.95 * now);
    CU_ASSERT_DOUBLE_EQUAL(pilot_plan_best(p, 0) + pilot_plan_best(p, 1), 1, 1e-9);
    pilot_free(p);
}

static void test_learn(void)
{
    const struct risk_plan plans[] = { plan_of(1, 1, 1), plan_of(2, 2.02, 0) };
    const struct risk_widths w = network_alone(0);
    for (int slow = 0; slow < 2; slow++) {
        struct pilot *p = pilot_new(plans, 2, &w, &how);
        struct pilot_measure m = all_reduce(4, RESOURCE_NETWORK);
        int32_t choice;
        double now = pilot_regret(p, &choice);
        pilot_learn(p, &m, slow ? 0.5 : -0.5);
        CU_ASSERT_TRUE(pilot_regret(p, &choice) < now);
        CU_ASSERT_EQUAL(choice, slow);
        CU_ASSERT_TRUE(pilot_draws(p) > 1 && pilot_draws(p) < how.draws);
        pilot_free(p);
    }
}

/* A step shows its plan's own residual, and that it fits. */
static void test_own(void)
{
    struct risk_plan plans[] = { plan_of(1, 2, 0), plan_of(2, 2.02, 0) };
    const struct risk_widths w = network_alone(0.05);
    int32_t choice;
    struct pilot *p = pilot_new(plans, 2, &w, &how);
    struct pilot_measure m = step_of(plans, 0);
    double now = pilot_regret(p, &choice);
    CU_ASSERT_EQUAL(choice, 0);
    CU_ASSERT_TRUE(pilot_after(p, &m) < 0.9 * now);
    pilot_learn(p, &m, 0.04);
    pilot_regret(p, &choice);
    CU_ASSERT_EQUAL(choice, 1);
    pilot_free(p);
    plans[0].peak_B = 98; /* nearly all of its memory */
    plans[1].value *= 1.3;
    plans[1].usual *= 1.3;
    p = pilot_new(plans, 2, &w, &how);
    now = pilot_regret(p, &choice);
    CU_ASSERT_TRUE(pilot_after(p, &m) < now);
    pilot_learn(p, &m, 0);
    CU_ASSERT_TRUE(pilot_regret(p, &choice) < 0.02);
    CU_ASSERT_EQUAL(choice, 0);
    pilot_free(p);
    p = pilot_new(plans, 2, &w, &how);
    pilot_learn(p, &m, (double)INFINITY);
    pilot_regret(p, &choice);
    CU_ASSERT_EQUAL(choice, 1);
    pilot_free(p);
}

/* Replayed on systems of another seed. */
enum { PLANS = 5, SYSTEMS = 60 };

static double regret_in(const struct risk_plan *plans, const struct risk_widths *w,
                        const struct risk_draw *truth, int32_t choice)
{
    double least = INFINITY;
    for (int i = 0; i < PLANS; i++)
        least = fmin(least, risk_draw_value(truth, w, &plans[i], false));
    return 1 - least / risk_draw_value(truth, w, &plans[choice], false);
}

static void test_replay(void)
{
    struct risk_plan plans[PLANS];
    struct risk_widths w = network_alone(0.03);
    double none = 0, useful = 0, random = 0;
    int32_t choice;
    w.resource[RESOURCE_PRODUCTS] = 0.1;
    for (int i = 0; i < PLANS; i++)
        plans[i] = plan_of((uint64_t)i + 1, 1 + 0.2 * i, 1 - 0.2 * i);
    for (int s = 0; s < SYSTEMS; s++) {
        const struct risk_draw truth = risk_draw_make(991, s);
        const struct risk_options o = { .rule = RISK_MEAN, .draws = 60, .seed = s };
        struct pilot *p = pilot_new(plans, PLANS, &w, &o);
        int32_t best = 0;
        double least = INFINITY;
        pilot_regret(p, &choice);
        none += regret_in(plans, &w, &truth, choice);
        for (int i = 0; i < PLANS; i++) {
            const struct pilot_measure m = step_of(plans, i);
            double after = pilot_after(p, &m);
            best = after < least ? i : best;
            least = fmin(least, after);
        }
        pilot_free(p);
        for (int i = 0; i < PLANS; i++) {
            const struct pilot_measure m = step_of(plans, i);
            p = pilot_new(plans, PLANS, &w, &o);
            pilot_learn(p, &m, log(risk_draw_time(&truth, &w, &plans[i])));
            pilot_regret(p, &choice);
            double r = regret_in(plans, &w, &truth, choice);
            random += r / PLANS;
            useful += i == best ? r : 0;
            pilot_free(p);
        }
    }
    CU_ASSERT_TRUE(useful < random);
    CU_ASSERT_TRUE(useful < 0.75 * none);
    if (!(useful < random && useful < 0.75 * none))
        printf("none %g, worth most %g, random %g\n", none, useful, random);
}

void test_pilot_register(void)
{
    CU_pSuite s = CU_add_suite("pilot", NULL, NULL);
    CU_add_test(s, "value of a measurement", test_value);
    CU_add_test(s, "what was measured", test_learn);
    CU_add_test(s, "residuals of plans, and memory", test_own);
    CU_add_test(s, "replayed on other systems", test_replay);
}
