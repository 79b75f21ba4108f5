#include "campaign/montecarlo_frontier.h"

#include "base/units.h"
#include "step/syncs.h"

#include <math.h>

/* The smallest factor: durations stay positive. */
#define FACTOR_MIN 1e-3

/* Tables --------------------------------------------------------------------------- */

static bool makes_all_equal(enum channel c)
{
    return c == CHANNEL_WORLD || c == CHANNEL_DATA || c == CHANNEL_REPLICA ||
           c == CHANNEL_EXPERT_DATA;
}

/* Ranks that a collective makes equal, its own and those that are equal to them
 * already: what is sharded over replicas is so in each rank of the tensor group. */
static double equal_ranks(const struct groups *groups, enum channel c, int64_t rank)
{
    struct ranks r = groups_of(groups, c, rank);
    double n = (double)ranks_count(&r);
    return c == CHANNEL_SHARD ? n * (double)groups->layout.tensor : n;
}

static bool is_full(const struct frontier *f, const struct program *p, int32_t sync,
                    const struct groups *groups, int64_t rank)
{
    if (sync == SYNC_FUSION)
        return true;
    enum channel c = p->comms.v[sync].channel;
    return makes_all_equal(c) || equal_ranks(groups, c, rank) >= f->n_ranks;
}

/* A collective's group where it is smaller than all equal ranks; else 1. */
static double inner_group(const struct frontier *f, const struct groups *groups,
                          enum channel c, int64_t rank)
{
    if (makes_all_equal(c) || c == CHANNEL_MODEL || c == CHANNEL_EMBEDDING ||
        c == CHANNEL_NEXT || c == CHANNEL_BACK)
        return 1;
    double n = equal_ranks(groups, c, rank);
    return n < f->n_ranks ? n : 1;
}

static double kernels_s(const struct pass_cost *pass)
{
    return units_s(
        pass->parts_ps[CATEGORY_COMPUTE] + pass->parts_ps[CATEGORY_RECOMPUTE] +
        pass->parts_ps[CATEGORY_REFERENCE] + pass->parts_ps[CATEGORY_OPTIMIZER]);
}

static double jittering_s(enum frontier_of of, const struct program *p,
                          const struct task *t)
{
    if (of == FRONTIER_HOST)
        return units_s(t->host_ps);
    if (t->stream != STREAM_COMPUTE)
        return 0;
    return t->pass >= 0 ? kernels_s(&p->passes.v[t->pass]) : units_s(t->alone_ps);
}

/* random_largest_moments, whose quadrature is slow, once for stretches that are
 * alike. */
static void largest_moments(struct frontier *f, double cv, double n, double *mean,
                            double *sd)
{
    const double alike = 1e-9;
    for (int32_t i = 0; i < f->n_known && i < FRONTIER_KNOWN; i++) {
        const struct frontier_known *k = &f->known[i];
        if (k->n != n || fabs(k->cv - cv) > alike * cv)
            continue;
        *mean = k->mean;
        *sd = k->sd;
        return;
    }
    random_largest_moments(f->jitter.law, cv, n, mean, sd);
    f->known[f->n_known++ % FRONTIER_KNOWN] =
        (struct frontier_known) { cv, n, *mean, *sd };
}

/* Kernels of a measured pass average out; the collectives between them make each
 * stretch as long as the slowest rank's. */
static void read_pass(struct frontier *f, struct frontier_task *k,
                      const struct pass_cost *pass, double group)
{
    enum jitter_per per = f->jitter.per;
    double mean, sd, cv = k->cv, n = pass->n_syncs > 0 ? pass->n_syncs : 1;
    if (per == JITTER_PER_STEP || k->time_s <= 0)
        return;
    if (per == JITTER_PER_KERNEL)
        cv *= sqrt(pass->squares_s2 * n) / k->time_s; /* of one stretch of n */
    else
        n = 1;
    largest_moments(f, cv, pass->n_syncs > 0 ? group : 1, &mean, &sd);
    k->mean = mean;
    k->cv = sd / sqrt(n) / mean;
    k->in_group = pass->n_syncs > 0 && group > 1;
}

/* The kernel, pass or step that a task has its factor with. What is done for buckets
 * belongs to the pass it is done in. */
static int64_t unit_of(const struct frontier *f, const struct task *t, int32_t index)
{
    if (f->jitter.per == JITTER_PER_KERNEL)
        return index;
    if (f->jitter.per == JITTER_PER_STEP)
        return 0;
    if (t->tag.work == WORK_BUCKET && f->tasks.n > 0)
        return f->tasks.v[f->tasks.n - 1].unit;
    return (int64_t)t->tag.work * INT32_MAX + t->tag.number;
}

static double weight_of(const struct program *p, int32_t task)
{
    bool repeats = p->repeat.from >= 0 && task > p->repeat.from && task <= p->repeat.to;
    return repeats ? (double)p->repeat.extra + 1 : 1;
}

/* That of the frontier at the end of a task: of the whole step, or of its moments. */
static struct random_spread spread_of(const struct frontier *f,
                                      const struct frontier_task *k)
{
    bool by_step = f->jitter.per == JITTER_PER_STEP;
    return random_spread(f->jitter.law,
                         by_step ? f->jitter.cv : sqrt(k->variance) / k->mean_s);
}

/* Cumulative moments of the tasks from `first` on, which are one stretch: between
 * collectives of the inner group (kernels), or of one pass. */
static void close_stretch(struct frontier *f, int64_t first, struct frontier_task *at)
{
    double time_s = 0, squares = 0, mean, sd, done_s = 0, weight = 0;
    bool whole = f->jitter.per == JITTER_PER_PASS;
    for (int64_t i = first; i < f->tasks.n; i++) {
        const struct frontier_task *k = &f->tasks.v[i];
        time_s += k->mean * k->time_s;
        squares += pow(k->mean * k->cv * k->time_s, 2);
        weight = f->intervals.v[k->interval].weight > 1 ? 1 : k->weight;
    }
    if (time_s <= 0)
        return;
    bool apart = !f->tasks.v[first].in_group; /* the group's largest is not in yet */
    double cv = whole && apart ? f->jitter.cv : sqrt(squares) / time_s;
    largest_moments(f, cv, apart ? f->group : 1, &mean, &sd);
    for (int64_t i = first; i < f->tasks.n; i++) {
        struct frontier_task *k = &f->tasks.v[i];
        done_s += k->mean * k->time_s;
        double share = done_s / time_s;
        k->plain_s = at->plain_s + weight * k->time_s;
        k->mean_s = at->mean_s + weight * mean * done_s;
        k->variance = at->variance + weight * sd * sd * time_s * time_s *
                                         (whole ? share * share : share);
        k->spread = spread_of(f, k);
        at->plain_s = k->plain_s;
    }
    at->mean_s += weight * mean * time_s;
    at->variance += weight * sd * sd * time_s * time_s;
}

static void open_interval(struct frontier *f, const struct program *p, int32_t task)
{
    VEC_PUSH(&f->intervals, ((struct frontier_interval) { weight_of(p, task) }));
}

/* An interval in the repeated stretch that leaves it is executed once. */
static void check_intervals(struct frontier *f, const struct frontier_task *k)
{
    double *weight = &f->intervals.v[k->interval].weight;
    if (*weight != k->weight)
        *weight = 1;
}

static void add_task(struct frontier *f, enum frontier_of of, const struct program *p,
                     const struct groups *groups, int64_t rank, int32_t index)
{
    const struct task *t = &p->tasks.v[index];
    double time_s = jittering_s(of, p, t);
    if (time_s <= 0)
        return;
    struct frontier_task k = {
        .task = index,
        .interval = (int32_t)(f->intervals.n - 1),
        .unit = unit_of(f, t, index),
        .base_s = of == FRONTIER_HOST ? time_s : units_s(t->alone_ps),
        .time_s = time_s,
        .weight = weight_of(p, index),
        .mean = 1,
        .cv = f->jitter.cv,
    };
    if (of == FRONTIER_KERNELS && t->pass >= 0) {
        const struct pass_cost *pass = &p->passes.v[t->pass];
        double group = pass->n_syncs > 0 ? inner_group(f, groups, pass->over, rank) : 1;
        f->group = fmax(f->group, group);
        f->over = group > 1 ? pass->over : f->over;
        read_pass(f, &k, pass, group);
    }
    VEC_PUSH(&f->tasks, k);
    check_intervals(f, &f->tasks.v[f->tasks.n - 1]);
}

/* Largest inner group that the program's collectives make equal. */
static double largest_group(const struct frontier *f, const struct program *p,
                            const int32_t *syncs, const struct groups *groups,
                            int64_t rank)
{
    double most = 1;
    for (int32_t i = 0; i < p->tasks.n; i++)
        if (syncs[i] >= 0)
            most =
                fmax(most, inner_group(f, groups, p->comms.v[syncs[i]].channel, rank));
    return most;
}

static void add_tasks(struct frontier *f, enum frontier_of of, const struct program *p,
                      const struct net *net, const struct groups *groups, int64_t rank,
                      bool *ends)
{
    int32_t *syncs = syncs_find(p, net);
    if (of == FRONTIER_KERNELS)
        f->group = largest_group(f, p, syncs, groups, rank);
    open_interval(f, p, 0);
    for (int32_t i = 0; i < p->tasks.n; i++) {
        bool is_sync = of == FRONTIER_KERNELS && syncs[i] != SYNC_NONE;
        if (is_sync && f->tasks.n > 0)
            ends[f->tasks.n - 1] = true;
        if (is_sync && is_full(f, p, syncs[i], groups, rank))
            open_interval(f, p, i);
        add_task(f, of, p, groups, rank, i);
    }
    free(syncs);
}

/* Whether a stretch ends with task i, other than at a collective. */
static bool ends_stretch(const struct frontier *f, int64_t i)
{
    const struct frontier_task *k = &f->tasks.v[i];
    if (i + 1 == f->tasks.n || k[1].interval != k->interval || k->weight != k[1].weight)
        return true;
    if (f->jitter.per == JITTER_PER_PASS)
        return k[1].unit != k->unit;
    return f->group <= 1 || k->in_group || k[1].in_group;
}

void frontier_init(struct frontier *f, enum frontier_of of, const struct program *p,
                   const struct net *net, const struct groups *groups, int64_t rank,
                   double n_ranks, const struct jitter *jitter)
{
    *f = (struct frontier) {
        .jitter = *jitter, .n_ranks = n_ranks, .group = 1, .over = CHANNEL_TENSOR
    };
    bool *ends = xcalloc((size_t)p->tasks.n + 1, sizeof(*ends));
    add_tasks(f, of, p, net, groups, rank, ends);
    struct frontier_task at = { .interval = -1 };
    struct frontier all = *f;
    int64_t first = 0;
    for (int64_t i = 0; i < all.tasks.n; i++) {
        bool by_pass = jitter->per == JITTER_PER_PASS;
        f->tasks.n = i + 1;
        if (all.tasks.v[i].interval != at.interval)
            at = (struct frontier_task) { .interval = all.tasks.v[i].interval };
        if (!ends_stretch(&all, i) && (by_pass || !ends[i]))
            continue;
        close_stretch(f, first, &at);
        first = i + 1;
    }
    free(ends);
}

void frontier_release(struct frontier *f)
{
    VEC_RELEASE(&f->tasks);
    VEC_RELEASE(&f->intervals);
}

/* Draws ---------------------------------------------------------------------------- */

/* The exceeded probability that is to the mean of `weight` draws as one draw is to it,
 * around the mean of the largest of n: MODEL.md, "Uncertainty". */
static double averaged(double q, double n, double weight)
{
    double mean, sd;
    const double small = 1e-3; /* a normal factor is linear in its deviate */
    if (weight <= 1)
        return q;
    random_largest_moments(RANDOM_NORMAL, small, n, &mean, &sd);
    double deviate = (random_factor(RANDOM_NORMAL, small, q) - mean) / sqrt(weight);
    double z = (mean - 1 + deviate) / small;
    return 0.5 * erfc(z / sqrt(2));
}

/* Time of the frontier of n ranks at the end of a task. */
static double frontier_s(const struct frontier *f, const struct frontier_task *k,
                         const struct random_quantile *q)
{
    if (f->jitter.cv <= 0)
        return k->plain_s;
    double at_s = f->jitter.per == JITTER_PER_STEP ? k->plain_s : k->mean_s;
    return at_s * random_spread_factor(&k->spread, q);
}

/* What decides on an interval: of the fast ranks and of the slow ones. */
struct tails {
    bool has_fast, has_slow;
    struct random_quantile fast, slow;
};

static struct tails draw_tails(const struct frontier *f, struct random_stream random,
                               uint64_t who, int32_t interval,
                               struct frontier_slow slow)
{
    bool by_step = f->jitter.per == JITTER_PER_STEP;
    double n = by_step ? f->n_ranks : fmax(1, f->n_ranks / f->group);
    double n_slow = fmin(slow.n_ranks, n), n_fast = n - n_slow;
    uint64_t at = by_step ? 0 : (uint64_t)interval;
    double weight = by_step ? 1 : f->intervals.v[interval].weight;
    struct tails t = { .has_fast = n_fast > 0, .has_slow = n_slow > 0 };
    if (t.has_fast)
        t.fast = random_quantile(
            averaged(random_largest(random_uniform(random, who, 2 * at), n_fast),
                     n_fast, weight));
    if (t.has_slow)
        t.slow = random_quantile(
            averaged(random_largest(random_uniform(random, who, 2 * at + 1), n_slow),
                     n_slow, weight));
    return t;
}

static double bounded(double factor)
{
    return factor > FACTOR_MIN ? factor : FACTOR_MIN;
}

void frontier_draw(const struct frontier *f, struct random_stream random, uint64_t who,
                   struct frontier_slow slow, double *factors)
{
    struct tails tails = { .has_fast = false };
    double before_s = 0, late_s;
    int32_t interval = -1;
    for (int64_t i = 0; i < f->tasks.n; i++) {
        const struct frontier_task *k = &f->tasks.v[i];
        if (k->interval != interval) {
            interval = k->interval;
            before_s = 0;
            tails = draw_tails(f, random, who, interval, slow);
        }
        double at_s = tails.has_fast ? frontier_s(f, k, &tails.fast) : 0;
        if (tails.has_slow)
            at_s = fmax(at_s, slow.slowdown * frontier_s(f, k, &tails.slow));
        late_s = at_s - k->plain_s;
        double weight = f->intervals.v[interval].weight > 1 ? 1 : k->weight;
        factors[k->task] = bounded(1 + (late_s - before_s) / (weight * k->base_s));
        before_s = late_s;
    }
}

void frontier_draw_rank(const struct frontier *f, struct random_stream random,
                        uint64_t rank, uint64_t group, struct frontier_pace pace,
                        double *factors)
{
    double jitter = 1;
    for (int64_t i = 0; i < f->tasks.n; i++) {
        const struct frontier_task *k = &f->tasks.v[i];
        bool averages = f->jitter.per != JITTER_PER_STEP;
        double cv = averages ? k->cv / sqrt(k->weight) : k->cv;
        /* groups have numbers of their own, beyond those of ranks */
        uint64_t who = k->in_group && averages ? ~group : rank;
        if (i == 0 || k->unit != k[-1].unit || k->cv != k[-1].cv ||
            k->weight != k[-1].weight || k->in_group)
            jitter = random_factor(f->jitter.law, cv,
                                   random_uniform(random, who, (uint64_t)k->unit));
        double slowdown = k->in_group ? pace.group : pace.rank;
        double factor = slowdown * k->mean * jitter;
        factors[k->task] = bounded(1 + (factor - 1) * k->time_s / k->base_s);
    }
}
