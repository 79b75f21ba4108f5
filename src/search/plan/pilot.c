#include "search/plan/pilot.h"

#include "campaign/campaign.h"
#include "config/pointer.h"
#include "search/plan/risk.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Deviations of what a measurement says of the factor that it is for. A collective of
 * nccl-tests repeats to some percent, and its ratio represents that of all sizes; a step
 * on fewer nodes represents the one on all. */
static const double collective_error = 0.1, step_error = 0.02, small_step_error = 0.05;

static const double start_min = 5, collective_min = 2;

static struct plan_measure *add(struct plan_pilot *p)
{
    if (p->n == PLAN_PILOT_MEASURES)
        return NULL;
    struct plan_measure *m = &p->of[p->n++];
    *m = (struct plan_measure) { .plan = -1 };
    return m;
}

/* The price of one instance an hour, as the plan's cluster has it. */
static void price(struct plan_measure *m, const struct plan_job *job,
                  const struct plan_entry *e, double minutes)
{
    double hour =
        plan_point_usd_per_hour(job, &e->point) / (double)e->point.v[SPACE_COUNT];
    m->minutes = minutes;
    m->instance_minutes = minutes * (double)m->nodes;
    m->usd = hour * m->instance_minutes / 60;
}

/* Collectives ----------------------------------------------------------------------- */

static void add_collective(struct plan_pilot *p, const struct plan_job *job,
                           const struct plan_entry *e, const char *instance,
                           int64_t nodes)
{
    struct plan_measure *m = add(p);
    if (!m)
        return;
    snprintf(m->name, sizeof(m->name), "all-reduce-%" PRId64, nodes);
    m->nodes = nodes;
    m->instance = instance;
    m->measure = (struct pilot_measure) {
        .kind = PILOT_COLLECTIVE,
        .of = nodes > 1 ? RESOURCE_NETWORK : RESOURCE_LINKS,
        .octaves = log2((double)nodes),
        .error = collective_error,
    };
    price(m, job, e, start_min + collective_min);
}

static void add_collectives(struct plan_pilot *p, const struct plan_job *job,
                            const struct plan_entry *e, const char *instance)
{
    const int64_t all = e->point.v[SPACE_COUNT], sizes[] = { 1, 2, 8 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i] < all || (sizes[i] == 1 && e->point.world > 1))
            add_collective(p, job, e, instance, sizes[i]);
    if (all > 1)
        add_collective(p, job, e, instance, all);
}

/* Steps ----------------------------------------------------------------------------- */

/* Simulates the plan on so many nodes; false: it cannot be, or does not fit. */
static bool simulate_on(struct plan_result *r, json_t *tree, const struct plan_job *job)
{
    struct cfg_loader own;
    struct scenario s;
    struct simulate_result step;
    struct err unused = { 0 };
    cfg_loader_init(&own);
    own.shared = job->loader;
    bool good = campaign_simulate_tree(&step, &s, &own, "pilot", tree, &unused) == 0 &&
                step.memory.fits;
    if (good)
        *r = (struct plan_result) { .known = true,
                                    .fits = true,
                                    .step_time_s = step.step_time_s,
                                    .by = step.by,
                                    .peak_B = step.memory.peak_B,
                                    .needed_B = step.memory.needed_B,
                                    .capacity_B = step.memory.capacity_B };
    cfg_loader_release(&own);
    return good;
}

/* The plan's scenario with its nodes and global batch cut to a share. */
static json_t *cut_tree(const struct plan_job *job, const struct space_point *point,
                        int64_t nodes)
{
    struct err unused = { 0 };
    json_t *tree = plan_point_json(job, point);
    int64_t all = point->v[SPACE_COUNT];
    json_t *batch = pointer_get(tree, "/training/global_batch_size");
    int64_t global = json_is_integer(batch) ? (int64_t)json_integer_value(batch) : 0;
    bool cuts = global == 0 || global * nodes % all == 0;
    if (!cuts) {
        json_decref(tree);
        return NULL;
    }
    pointer_set(tree, "/cluster/count", json_integer(nodes), &unused);
    if (global)
        pointer_set(tree, "/training/global_batch_size",
                    json_integer(global * nodes / all), &unused);
    return tree;
}

static void take_step(struct plan_measure *m, const struct plan_entry *e, int32_t plan,
                      int64_t nodes, const struct plan_result *r, json_t *tree,
                      const char *instance)
{
    bool small = nodes < e->point.v[SPACE_COUNT];
    snprintf(m->name, sizeof(m->name), "plan-%d-on-%" PRId64, (int)plan + 1, nodes);
    m->plan = plan;
    m->nodes = nodes;
    m->instance = instance;
    m->predicted = *r;
    m->tree = tree;
    m->measure =
        (struct pilot_measure) { .kind = PILOT_STEP,
                                 .plan = plan,
                                 .step = plan_risk_plan(e),
                                 .whole = !small,
                                 .error = small ? small_step_error : step_error };
    m->measure.step.by = r->by;
    m->measure.step.usual = r->step_time_s;
    m->measure.step.octaves = log2((double)nodes);
}

static double step_minutes(const struct plan_result *r)
{
    return start_min + PLAN_PILOT_STEPS * r->step_time_s / 60;
}

/* On the fewest nodes, by doubling, on which it fits. */
static void add_small_step(struct plan_pilot *p, const struct plan_job *job,
                           const struct plan_entry *e, int32_t plan,
                           const char *instance)
{
    for (int64_t nodes = 1; nodes < e->point.v[SPACE_COUNT]; nodes *= 2) {
        struct plan_result r;
        json_t *tree = cut_tree(job, &e->point, nodes);
        if (!tree)
            continue;
        bool good = simulate_on(&r, tree, job);
        struct plan_measure *m = good ? add(p) : NULL;
        if (!m) {
            json_decref(tree);
            continue;
        }
        take_step(m, e, plan, nodes, &r, tree, instance);
        price(m, job, e, step_minutes(&r));
        return;
    }
}

static void add_step(struct plan_pilot *p, const struct plan_job *job,
                     const struct plan_entry *e, int32_t plan, const char *instance)
{
    struct plan_measure *m = add(p);
    if (!m)
        return;
    take_step(m, e, plan, e->point.v[SPACE_COUNT], &e->result,
              plan_point_json(job, &e->point), instance);
    price(m, job, e, step_minutes(&e->result));
}

/* All ------------------------------------------------------------------------------- */

/* The instance of a plan; "" where groups of several are given. */
static const char *instance_of(const struct plan_job *job, const struct plan_entry *e,
                               struct arena *arena)
{
    json_t *tree = plan_point_json(job, &e->point);
    json_t *name = pointer_get(tree, "/cluster/instance");
    const char *text = json_is_string(name) ? json_string_value(name) : "";
    text = arena_strdup(arena, text);
    json_decref(tree);
    return text;
}

void plan_pilot_make(struct plan_pilot *p, const struct plan_job *job,
                     const struct plan_outcome *out, const struct plan_options *o)
{
    enum { SMALL = 5, WHOLE = 3 };
    struct risk_plan plans[PLAN_PILOT_PLANS];
    struct risk_options how = o->risk;
    *p = (struct plan_pilot) { .n_plans = out->n_entries < PLAN_PILOT_PLANS
                                              ? out->n_entries
                                              : PLAN_PILOT_PLANS };
    for (int32_t i = 0; i < p->n_plans; i++)
        plans[i] = plan_risk_plan(&out->entries[i]);
    how.of_memory = false;
    p->draws = pilot_new(plans, p->n_plans, &risk_widths, &how);
    for (int32_t i = 0; i < p->n_plans && i < SMALL; i++) {
        const struct plan_entry *e = &out->entries[i];
        const char *instance = instance_of(job, e, &job->loader->arena);
        if (!instance[0])
            continue;
        if (i == 0)
            add_collectives(p, job, e, instance);
        add_small_step(p, job, e, i, instance);
        if (i < WHOLE)
            add_step(p, job, e, i, instance);
    }
}

void plan_pilot_release(struct plan_pilot *p)
{
    for (int32_t i = 0; i < p->n; i++)
        json_decref(p->of[i].tree);
    pilot_free(p->draws);
    *p = (struct plan_pilot) { .n = 0 };
}

struct plan_measure *plan_pilot_find(struct plan_pilot *p, const char *name)
{
    for (int32_t i = 0; i < p->n; i++)
        if (strcmp(p->of[i].name, name) == 0)
            return &p->of[i];
    return NULL;
}

void plan_pilot_learn(struct plan_pilot *p, struct plan_measure *m, double said)
{
    m->done = true;
    m->said = said;
    pilot_learn(p->draws, &m->measure, said);
}

static int more_useful(const void *a, const void *b)
{
    const struct plan_measure *x = a, *y = b;
    if (x->done != y->done)
        return x->done - y->done;
    if (x->regret_after != y->regret_after)
        return x->regret_after < y->regret_after ? -1 : 1;
    if (x->instance_minutes != y->instance_minutes)
        return x->instance_minutes < y->instance_minutes ? -1 : 1;
    return strcmp(x->name, y->name);
}

void plan_pilot_rank(struct plan_pilot *p)
{
    int32_t choice;
    double now = pilot_regret(p->draws, &choice);
    for (int32_t i = 0; i < p->n; i++)
        p->of[i].regret_after =
            p->of[i].done ? now : fmin(now, pilot_after(p->draws, &p->of[i].measure));
    qsort(p->of, (size_t)p->n, sizeof(p->of[0]), more_useful);
}
