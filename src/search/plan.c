#include "search/plan.h"

#include "search/plan/best.h"
#include "search/plan/order.h"
#include "search/plan/risk.h"
#include "search/plan/run.h"
#include "search/plan/variants.h"
#include "search/score/score.h"

#include <math.h>
#include <stdlib.h>

const struct name_value plan_objective_names[] = {
    { "time", PLAN_TIME },
    { "cost", PLAN_COST },
    { "memory", PLAN_MEMORY },
    { NULL, 0 },
};

/* Everything ----------------------------------------------------------------------- */

static void count_entry(struct plan_outcome *out, struct arena *arena,
                        const struct plan_entry *e)
{
    if (e->skipped)
        return;
    out->simulated++;
    out->refused += !e->result.known;
    out->unfit += e->result.known && !e->result.fits;
    if (!e->result.known && !out->refusal)
        out->refusal = arena_strdup(arena, e->result.why);
    if (e->result.unread && !out->unread)
        out->unread = arena_strdup(arena, e->result.why);
}

/* Counts the new entries, and keeps the first of each standing, so that memory does not
 * grow. */
static void take_block(struct plan_run *run, struct plan_outcome *out,
                       struct arena *arena)
{
    enum { KEEP = 512 };
    int64_t from = run->first_new, n = 0, of_standing[PLAN_STANDINGS] = { 0 };
    plan_run_simulate(run, out->feasible);
    for (int64_t i = from; i < run->all.n; i++)
        count_entry(out, arena, &run->all.v[i]);
    if (run->all.n)
        qsort(run->all.v, (size_t)run->all.n, sizeof(*run->all.v), plan_order_compare);
    for (int64_t i = 0; i < run->all.n; i++) {
        struct plan_entry *e = &run->all.v[i];
        if (!e->skipped && of_standing[e->standing]++ < KEEP)
            run->all.v[n++] = *e;
    }
    run->all.n = run->first_new = n;
}

static void simulate_all(struct plan_run *run, struct plan_outcome *out,
                         struct arena *arena)
{
    enum { BLOCK = 1024 };
    int64_t n = space_slices(&run->job->space);
    struct scorer *scorer = scorer_new(run->job);
    for (int64_t i = 0; i < n && !plan_stopped(run->o); i++) {
        struct space_iter it;
        struct candidate c;
        space_iter_init(&it, &run->job->space, i);
        while (space_next(&it) && !plan_stopped(run->o)) {
            if (!plan_candidate(&c, scorer, &it.p, 0) || c.least_B > c.capacity_B)
                continue;
            VEC_PUSH(&run->all, ((struct plan_entry) { .point = it.p,
                                                       .score_s = c.time_s,
                                                       .score_B = c.memory_B,
                                                       .standing = PLAN_UNKNOWN }));
            if (run->all.n - run->first_new == BLOCK)
                take_block(run, out, arena);
        }
    }
    take_block(run, out, arena);
    scorer_free(scorer);
}

/* Outcome -------------------------------------------------------------------------- */

/* What lies within the range of the best ties with it. Its own range is
 * not added: what is wrong about one plan of a job is mostly wrong about the next.
 * There are no ties where memory is the objective, of which no range is stated. */
static void mark_ties(struct plan_outcome *out, const struct plan_options *o)
{
    if (out->n_entries == 0 || o->objective == PLAN_MEMORY)
        return;
    const struct plan_entry *best = out->entries;
    out->tie_error = best->result.tie_error;
    for (int32_t i = 1; i < out->n_entries; i++)
        out->entries[i].tie =
            out->entries[i].value <= best->value * (1 + out->tie_error);
}

/* The best of a filter that keeps back what would be better than what is listed. */
static void take_kept(struct plan_outcome *out, const struct plan_entry *e)
{
    if (e->standing > PLAN_LISTED_MAX || out->has_kept[e->standing] ||
        e->key >= out->entries[0].key)
        return;
    out->has_kept[e->standing] = true;
    out->kept[e->standing] = *e;
}

/* All that was simulated, in order: those of the first standing are listed. */
static void take_entries(struct plan_outcome *out, struct arena *arena,
                         struct plan_run *run)
{
    int64_t n = run->all.n;
    struct plan_entry *all = run->all.v;
    out->entries = ARENA_ARRAY(arena, n + 1, struct plan_entry);
    out->over = ARENA_ARRAY(arena, n + 1, struct plan_entry);
    if (n)
        qsort(all, (size_t)n, sizeof(*all), plan_order_compare);
    for (int64_t i = 0; i < n; i++) {
        if (all[i].skipped)
            continue;
        if (all[i].standing <= PLAN_LISTED_MAX &&
            (out->n_entries == 0 || all[i].standing == out->entries[0].standing))
            out->entries[out->n_entries++] = all[i];
        else if (out->n_entries)
            take_kept(out, &all[i]);
        else if (all[i].standing == PLAN_OVER)
            out->over[out->n_over++] = all[i];
        else if (all[i].standing == PLAN_TOO_LARGE && !out->n_over &&
                 !out->has_nearest) {
            out->nearest = all[i];
            out->has_nearest = true;
        }
    }
    if (out->has_nearest && !out->nearest.result.timed)
        plan_entry_make(&out->nearest, run->job, run->o);
    mark_ties(out, run->o);
}

/* Ranks that nothing which was not simulated can take. */
static void take_left(struct plan_outcome *out, const struct plan_run *run,
                      const struct plan_run_left *left)
{
    out->near = left->n;
    out->score_error = plan_run_score_error(run, INFINITY);
    int32_t asked = run->o->listed > 0 ? run->o->listed : 1, n = 0;
    while (n < out->n_entries && out->entries[n].key <= left->least)
        n++;
    n = plan_variants_kinds(out->entries, n);
    out->n_sure = run->o->exhaustive || n < asked ? n : asked;
}

/* Before plans are ordered by regret: the first is the best by its key. */
static void take_missed(struct plan_outcome *out, const struct plan_run *run,
                        const struct plan_run_left *left)
{
    if (run->o->exhaustive || out->n_entries == 0 || !isfinite(left->nearest))
        return;
    double best = out->entries[0].key;
    struct plan_run_odds odds = plan_run_odds(run, best / left->nearest);
    out->missed = (struct plan_missed) { .n = out->feasible - out->simulated,
                                         .nearest = left->nearest / best - 1,
                                         .largest_error = odds.largest_error,
                                         .chance = odds.chance };
}

static int by_point(const void *a, const void *b)
{
    const struct plan_entry *x = a, *y = b;
    return space_compare(&x->point, &y->point);
}

/* What was simulated, for whoever asks about one of them again. */
static void take_tried(struct plan_outcome *out, struct arena *arena,
                       const struct plan_run *run)
{
    out->tried = ARENA_ARRAY(arena, run->all.n + 1, struct plan_entry);
    for (int64_t i = 0; i < run->all.n; i++)
        if (!run->all.v[i].skipped)
            out->tried[out->n_tried++] = run->all.v[i];
    qsort(out->tried, (size_t)out->n_tried, sizeof(*out->tried), by_point);
}

const struct plan_entry *plan_tried(const struct plan_outcome *out,
                                    const struct space_point *p)
{
    const struct plan_entry key = { .point = *p };
    return out->n_tried ? bsearch(&key, out->tried, (size_t)out->n_tried,
                                  sizeof(*out->tried), by_point)
                        : NULL;
}

int plan_search(struct plan_outcome *out, struct arena *arena,
                const struct plan_job *job, const struct plan_options *o,
                struct err *err)
{
    *out = (struct plan_outcome) { .space = space_size(&job->space) };
    struct plan_run run = { .job = job, .o = o };
    struct plan_run_left left = { .least = INFINITY, .nearest = INFINITY };
    struct scored scored;
    out->complete = plan_score_all(&scored, job, o, NULL);
    out->evaluated = scored.evaluated;
    out->feasible = scored.feasible;
    if (o->exhaustive) {
        simulate_all(&run, out, arena);
    } else {
        left = plan_run_best(&run, &scored);
        for (int64_t i = 0; i < run.all.n; i++)
            count_entry(out, arena, &run.all.v[i]);
    }
    out->complete = out->complete && !plan_stopped(o);
    take_entries(out, arena, &run);
    take_tried(out, arena, &run);
    take_left(out, &run, &left);
    take_missed(out, &run, &left);
    if (o->risk.rule == RISK_NONE)
        plan_variants_drop(out);
    plan_risk_judge(out, o);
    VEC_RELEASE(&run.all);
    scored_release(&scored);
    if (out->unread)
        return err_set(err, "%s", out->unread);
    return out->evaluated == 0 && out->complete ? plan_empty(job, err) : 0;
}
