#include "search/plan.h"

#include "search/plan_best.h"
#include "search/plan_run.h"
#include "search/score.h"

#include <math.h>
#include <stdlib.h>

const struct name_value plan_objective_names[] = {
    { "time", PLAN_TIME },
    { "cost", PLAN_COST },
    { "memory", PLAN_MEMORY },
    { NULL, 0 },
};

/* --- everything ------------------------------------------------------------------- */

/* Keeps the best of the entries that are simulated, so that memory does not grow. */
static void count_block(struct run *run, struct plan_outcome *out, struct arena *arena)
{
    enum { KEEP = 512 };
    int64_t n = 0;
    for (int64_t i = 0; i < run->all.n; i++) {
        struct plan_entry *e = &run->all.v[i];
        bool counted = isnan(e->score_B) || e->skipped;
        if (!counted) {
            out->simulated++;
            out->refused += !e->result.known;
            out->unfit += e->result.known && !e->result.fits;
            if (!e->result.known && !out->refusal)
                out->refusal = arena_strdup(arena, e->result.why);
        }
        if (e->result.known && e->result.fits)
            run->all.v[n++] = *e;
    }
    run->all.n = n;
    if (n > KEEP) {
        qsort(run->all.v, (size_t)n, sizeof(*run->all.v), plan_by_value);
        run->all.n = KEEP;
    }
    for (int64_t i = 0; i < run->all.n; i++)
        run->all.v[i].score_B = (double)NAN; /* counted */
    run->first_new = run->all.n;
}

static void simulate_all(struct run *run, struct plan_outcome *out, struct arena *arena)
{
    enum { BLOCK = 1024 };
    int64_t n = space_slices(&run->job->space), total = out->feasible;
    struct scorer *scorer = scorer_new(run->job);
    for (int64_t i = 0; i < n && !plan_stopped(run->o); i++) {
        struct space_iter it;
        struct score score;
        space_iter_init(&it, &run->job->space, i);
        while (space_next(&it) && !plan_stopped(run->o)) {
            if (!scorer_point(scorer, &it.p, &score) ||
                score.least_B > score.capacity_B)
                continue;
            VEC_PUSH(&run->all, ((struct plan_entry) { .point = it.p,
                                                       .score_s = score.time_s,
                                                       .score_B = score.memory_B }));
            if (run->all.n - run->first_new < BLOCK)
                continue;
            run_simulate(run, total);
            count_block(run, out, arena);
        }
    }
    run_simulate(run, total);
    count_block(run, out, arena);
    scorer_free(scorer);
}

/* --- outcome ---------------------------------------------------------------------- */

static void count_simulated(const struct run *run, struct plan_outcome *out,
                            struct arena *arena)
{
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_result *r = &run->all.v[i].result;
        if (run->all.v[i].skipped)
            continue;
        out->simulated++;
        out->refused += !r->known;
        out->unfit += r->known && !r->fits;
        if (!r->known && !out->refusal)
            out->refusal = arena_strdup(arena, r->why);
    }
}

/* How far scores are off once a kind's common error is taken out, and how many points
 * that were not simulated lie within that of the best. */
static void judge_scores(const struct run *run, const struct scored *s,
                         struct plan_outcome *out)
{
    double least = INFINITY;
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        double ratio = run_correction(run, plan_kind(&e->point), e->point.at);
        if (e->result.known && ratio > 0)
            least = fmin(least, ratio);
    }
    out->score_error = run_score_error(run, INFINITY);
    if (out->n_entries && isfinite(least) && run->o->objective != PLAN_MEMORY) {
        double below = out->entries[0].value / least * (1 + out->score_error);
        int64_t seen = 0;
        for (int64_t i = 0; i < run->all.n; i++) {
            const struct space_point *p = &run->all.v[i].point;
            double value = plan_value(run->job, run->o, p, run->all.v[i].score_s, 0);
            seen += value <= below;
        }
        int64_t near = spread_below(&s->spread, below) - seen;
        out->near = near > 0 ? near : 0;
    }
}

/* Over the budget: what comes nearest first. */
static int by_excess(const void *a, const void *b)
{
    const struct plan_entry *x = a, *y = b;
    double u = isfinite(x->usd) ? x->usd : x->hours,
           w = isfinite(y->usd) ? y->usd : y->hours;
    if (u != w)
        return u < w ? -1 : 1;
    return space_compare(&x->point, &y->point);
}

/* What lies within the range of the best is not told apart from it. Its own range is
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

static void take_entries(struct plan_outcome *out, struct arena *arena,
                         const struct run *run)
{
    int64_t n = run->all.n;
    out->entries = ARENA_ARRAY(arena, n + 1, struct plan_entry);
    out->over = ARENA_ARRAY(arena, n + 1, struct plan_entry);
    for (int64_t i = 0; i < n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        if (!e->result.known || !e->result.fits || !isfinite(e->value))
            continue;
        if (e->in_budget)
            out->entries[out->n_entries++] = *e;
        else
            out->over[out->n_over++] = *e;
    }
    qsort(out->entries, (size_t)out->n_entries, sizeof(*out->entries), plan_by_value);
    qsort(out->over, (size_t)out->n_over, sizeof(*out->over), by_excess);
    mark_ties(out, run->o);
    for (int64_t i = 0; i < n && out->n_entries + out->n_over == 0; i++) {
        const struct plan_entry *e = &run->all.v[i];
        const struct plan_result *r = &out->nearest.result;
        double need = (double)e->result.peak_B / (double)e->result.capacity_B;
        if (e->result.known &&
            (!out->has_nearest || need < (double)r->peak_B / (double)r->capacity_B)) {
            out->nearest = *e;
            out->has_nearest = true;
        }
    }
}

static int by_point(const void *a, const void *b)
{
    const struct plan_entry *x = a, *y = b;
    return space_compare(&x->point, &y->point);
}

/* What was simulated, for whoever asks about one of them again. */
static void take_tried(struct plan_outcome *out, struct arena *arena,
                       const struct run *run)
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
    struct run run = { .job = job, .o = o };
    struct scored scored;
    out->complete = plan_score_all(&scored, job, o);
    out->evaluated = scored.evaluated;
    out->feasible = scored.feasible;
    if (o->exhaustive) {
        simulate_all(&run, out, arena);
    } else {
        run_best(&run, &scored);
        count_simulated(&run, out, arena);
    }
    out->complete = out->complete && !plan_stopped(o);
    take_entries(out, arena, &run);
    take_tried(out, arena, &run);
    if (!o->exhaustive)
        judge_scores(&run, &scored, out);
    VEC_RELEASE(&run.all);
    scored_release(&scored);
    return out->evaluated == 0 && out->complete ? plan_empty(job, err) : 0;
}
