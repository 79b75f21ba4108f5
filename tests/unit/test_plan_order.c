/* The order of plans: the default search against simulating everything, in random small
 * spaces with random objectives, budgets and fixed fields; bounds of time; filters. */
#include "base/units.h"
#include "sample.h"
#include "search/plan.h"
#include "search/plan/order.h"
#include "search/plan/variants.h"
#include "search/score/score.h"
#include "search/space/users.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void test_plan_order_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PICK(rng, a) ((a)[draw((rng), COUNT(a))])

struct planned {
    struct cfg_loader loader;
    struct plan_job job;
    int rc;
};

static void close_job(struct planned *x)
{
    plan_job_release(&x->job);
    cfg_loader_release(&x->loader);
}

/* --- random jobs ------------------------------------------------------------------ */

static uint32_t draw(uint64_t *rng, size_t n)
{
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*rng >> 33) % (uint32_t)n;
}

/* A random job whose space memory may hold between LEAST and MOST points of. */
enum { LEAST = 16, MOST = 90 };

static bool open_random(struct planned *x, uint64_t *rng)
{
    static const char *const models[] = { "gpt2",
                                          "gpt2-medium",
                                          "gpt2-large",
                                          "bert-base-uncased",
                                          "bert-large-uncased",
                                          "t5-base" },
                             *const instances[] = { "p3.8xlarge",
                                                    "p3.16xlarge",
                                                    "g4dn.12xlarge",
                                                    "g5.12xlarge",
                                                    "p4d.24xlarge",
                                                    "p3.8xlarge,g5.12xlarge" },
                             *const counts[] = { "1", "2", "1..2", "1..4" };
    static const int64_t batches[] = { 8, 16, 32, 64, 128 },
                         sequences[] = { 128, 256, 512 };
    static const int stacks[] = { 0, 0, 0, 1 << 0 | 1 << 2, 1 << 3, 1 << 4, 1 << 5 };
    static const char *const allows[][4] = {
        { "pipeline=1", "tensor=1,2", "micro_batch_size=1,2,4", NULL },
        { "pipeline=1,2", "tensor=1", "virtual_stages=1", NULL },
        { "pipeline=2", "activation_checkpointing=none", "tensor=1,2", NULL },
        { "micro_batch_size=4,8", "placement=cluster", "virtual_stages=1", NULL },
        { "tensor=2", "pipeline=1,2,4", "activation_checkpointing=full", NULL },
        { "sharding_degree=4", "pipeline=1", "micro_batch_size=1,4,8", NULL },
        { "bucket_size=25MiB", "pipeline=1", "activation_checkpointing=none", NULL },
    };
    const char *const *allowed = PICK(rng, allows);
    struct plan_request r = { .model = PICK(rng, models),
                              .instances = PICK(rng, instances),
                              .count = PICK(rng, counts),
                              .global_batch = PICK(rng, batches),
                              .sequence = PICK(rng, sequences),
                              .stacks = PICK(rng, stacks),
                              .tokens = 1e8,
                              .allows = { 3, allowed } };
    cfg_loader_init(&x->loader);
    x->rc = plan_job_init(&x->job, &x->loader, &r);
    int64_t feasible = 0;
    struct scorer *scorer = x->rc ? NULL : scorer_new(&x->job);
    for (int64_t i = 0; scorer && i < space_slices(&x->job.space); i++) {
        struct space_iter it;
        struct score score;
        space_iter_init(&it, &x->job.space, i);
        while (feasible <= MOST && space_next(&it))
            feasible += scorer_point(scorer, &it.p, (double)INFINITY, &score) &&
                        score.least_B <= score.capacity_B;
    }
    if (scorer)
        scorer_free(scorer);
    if (feasible >= LEAST && feasible <= MOST)
        return true;
    close_job(x);
    return false;
}

/* --- against simulating everything ------------------------------------------------ */

/* An order of its own, from what simulating each point gave. */
struct oracle {
    int group;
    double key;
    const struct plan_entry *of;
};

/* By the normal law that memory is off by (MODEL.md, 14.2). */
static double fits(double need)
{
    double mean = risk_widths.memory_mean, shared = risk_widths.memory_shared,
           own = risk_widths.memory_own;
    return 0.5 * erfc((log(need) + mean) / sqrt(2 * (shared * shared + own * own)));
}

static struct oracle judge(const struct planned *x, const struct plan_options *o,
                           const struct plan_entry *e)
{
    const struct plan_result *r = &e->result;
    bool users = space_users_can(&x->job.space, &e->point);
    double hours = x->job.steps * r->step_time_s / 3600, usd = hours * e->usd_per_hour;
    double values[] = { [PLAN_TIME] = r->step_time_s,
                        [PLAN_COST] = r->step_time_s / 3600 * e->usd_per_hour,
                        [PLAN_MEMORY] = (double)r->peak_B };
    if (!r->known || !r->fits || (o->deadline_h > 0 && hours > o->deadline_h) ||
        (o->max_cost_usd > 0 && usd > o->max_cost_usd))
        return (struct oracle) { 9, 0, e };
    double need = (double)r->needed_B / (double)r->capacity_B;
    if (o->risk.rule != RISK_NONE)
        return (struct oracle) { 2 * !users, values[o->objective] / fits(need), e };
    return (struct oracle) { 2 * !users + (need * 1.095 > 1), values[o->objective], e };
}

static int by_oracle(const void *a, const void *b)
{
    const struct oracle *x = a, *y = b;
    if (x->group != y->group)
        return x->group - y->group;
    return (x->key > y->key) - (x->key < y->key);
}

static void check_bounds(const struct planned *x, const struct plan_outcome *all)
{
    struct scorer *scorer = scorer_new(&x->job);
    for (int32_t i = 0; i < all->n_tried; i++) {
        const struct plan_entry *e = &all->tried[i];
        struct score score;
        if (!e->result.known ||
            !scorer_point(scorer, &e->point, (double)INFINITY, &score))
            continue;
        if ((e->result.timed && score.least_s > e->result.step_time_s) ||
            score.least_B > (double)e->result.peak_B) {
            char text[300];
            fprintf(stderr, "%s: %g s of %g s, %g B of %g B\n",
                    plan_point_text(&x->job, &e->point, text, sizeof(text)),
                    score.least_s, e->result.step_time_s, score.least_B,
                    (double)e->result.peak_B);
            CU_FAIL("a bound is beyond what is simulated");
        }
    }
    scorer_free(scorer);
}

static double quantile_of(const struct plan_outcome *all, double frac, bool usd)
{
    double v[1024], t;
    int n = 0;
    for (int32_t i = 0; i < all->n_tried && n < 1024; i++)
        if (all->tried[i].result.known && all->tried[i].result.fits)
            v[n++] = usd ? all->tried[i].usd : all->tried[i].hours;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (v[j] < v[i]) {
                t = v[i];
                v[i] = v[j];
                v[j] = t;
            }
    return n ? v[(int)(frac * (n - 1))] * 1.0001 : 1;
}

static int by_key(const void *a, const void *b)
{
    const struct plan_entry *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* The first of each kind, in order; how many. */
static int32_t kinds_of(struct oracle *order, int32_t n)
{
    int32_t kinds = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        while (k < kinds && !plan_variants(&order[k].of->point, &order[i].of->point))
            k++;
        if (k == kinds)
            order[kinds++] = order[i];
    }
    return kinds;
}

/* Regret may list another variant of a kind than its best by the point estimate. */
static void as_first(struct plan_entry *e, const struct oracle *order, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (plan_variants(&order[i].of->point, &e->point))
            e->key = order[i].key;
}

/* Compares ranks of the default search with the oracle's, before regret puts those that
 * are listed in an order of its own. */
static void compare(const struct planned *x, const struct plan_options *o,
                    const struct plan_outcome *fast, const struct plan_outcome *all,
                    int trial)
{
    struct oracle *order = calloc((size_t)all->n_tried + 1, sizeof(*order));
    int32_t listed = 0;
    for (int32_t i = 0; i < all->n_tried; i++)
        order[i] = judge(x, o, &all->tried[i]);
    qsort(order, (size_t)all->n_tried, sizeof(*order), by_oracle);
    int32_t n = kinds_of(order, all->n_tried);
    for (int32_t i = 0; i < fast->n_entries && o->risk.rule != RISK_NONE; i++)
        as_first(&fast->entries[i], order, n);
    qsort(fast->entries, (size_t)fast->n_entries, sizeof(*fast->entries), by_key);
    while (listed < n && order[listed].group < 9 &&
           order[listed].group == order[0].group)
        listed++;
    CU_ASSERT_EQUAL(fast->n_entries > 0, listed > 0);
    for (int32_t i = 0; i < listed && i < o->listed; i++) {
        double found = i < fast->n_entries ? fast->entries[i].key : (double)NAN;
        if (fabs(found / order[i].key - 1) <= 1e-9)
            continue;
        fprintf(stderr, "trial %d: rank %d has %.9g where %.9g is possible\n", trial,
                i + 1, found, order[i].key);
        CU_FAIL("the default search misses a plan");
    }
    CU_ASSERT_EQUAL(fast->n_sure,
                    fast->n_entries < o->listed ? fast->n_entries : o->listed);
    free(order);
}

static void test_random(void)
{
    enum { LISTED = 4 };
    const int trials = 100 / sample_every();
    uint64_t rng = 20240607;
    int64_t simulated = 0, feasible = 0, budgets = 0, listed = 0;
    for (int trial = 0; trial < trials;) {
        struct planned x;
        struct plan_outcome all, fast;
        struct err err = { 0 };
        const enum risk_rule rules[] = { RISK_NONE, RISK_MEAN };
        struct plan_options o = { .exhaustive = true,
                                  .listed = LISTED,
                                  .risk = { .rule = rules[trial % 2], .draws = 4 } };
        if (!open_random(&x, &rng))
            continue;
        CU_ASSERT_EQUAL_FATAL(plan_search(&all, &x.loader.arena, &x.job, &o, &err), 0);
        check_bounds(&x, &all);
        o.exhaustive = false;
        o.objective = (enum plan_objective)draw(&rng, 3);
        double frac = 0.01 * draw(&rng, 100);
        uint32_t budget = draw(&rng, 4);
        if (budget & 1)
            o.deadline_h = quantile_of(&all, frac, false);
        if (budget & 2)
            o.max_cost_usd = quantile_of(&all, frac, true);
        CU_ASSERT_EQUAL_FATAL(plan_search(&fast, &x.loader.arena, &x.job, &o, &err), 0);
        compare(&x, &o, &fast, &all, trial);
        CU_ASSERT_EQUAL(all.simulated, all.feasible);
        simulated += fast.simulated;
        feasible += all.feasible;
        budgets += budget != 0;
        listed += fast.n_entries > 0;
        close_job(&x);
        trial++;
    }
    CU_ASSERT(simulated < feasible * 9 / 10); /* the bounds spare some */
    CU_ASSERT(budgets > trials / 2 && listed > trials / 2);
}

/* Where no plan keeps the budget, what fits and comes nearer to it still matters. */
static void test_over_budget(void)
{
    static const struct plan_entry over[] = {
        { .standing = PLAN_OVER, .key = 5 },
        { .standing = PLAN_OVER, .key = 7 },
        { .standing = PLAN_TOO_LARGE, .key = 1.2 },
    };
    static const struct {
        struct plan_reach reach;
        bool matters;
    } cases[] = {
        { { .value = 1, .excess = 4, .need = 0.5, .user = true }, true },
        { { .value = 1, .excess = 5, .need = 1, .user = true }, true },
        { { .value = 1, .excess = 6, .need = 0.5, .user = true }, false },
        { { .value = 1, .excess = 4, .need = 1.1, .user = true }, false },
        { { .value = 1, .excess = 9, .need = 0.5, .user = true, .in_budget = true },
          true },
    };
    struct plan_limits limits;
    plan_order_limits(&limits, over, COUNT(over), 1);
    CU_ASSERT_EQUAL(limits.listed, PLAN_STANDINGS);
    for (size_t i = 0; i < COUNT(cases); i++)
        CU_ASSERT_EQUAL(plan_order_matters(&limits, &cases[i].reach), cases[i].matters);
}

void test_plan_order_register(void)
{
    CU_pSuite suite = CU_add_suite("plan_order", NULL, NULL);
    CU_add_test(suite, "random small spaces: the default is the exhaustive",
                test_random);
    CU_add_test(suite, "beyond the budget", test_over_budget);
}
