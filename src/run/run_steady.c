/* Whether ranks are in their period where a program leaves periods out (struct repeat).
 *
 *   rank 0   | f b | f b | f b |to    b b b        T: a period
 *   rank 1 |...| f b | f b | f b |to  b b
 *                    |<--- T --->|
 *                            the first `to` of a rank
 *
 * Until the first rank has come to the end of its last period, a program with more of
 * them runs in the same way. If whatever has ended in the last T before that, and was
 * issued for it, was exactly T after its like of the period before, the run is at that
 * moment where it was T before, and goes on so for as long as periods are left: each
 * takes T, and adds the same to all accounts (MODEL.md, R4.1). Where a period is passes
 * and messages alone, what matters at that moment is known, and no more is compared.
 * O(tasks of a few periods). */
#include "run/run_state.h"

/* Whether a task that another follows is the one that its like follows, one period
 * on. */
static bool is_moved(int32_t before, int32_t later, int32_t by)
{
    return before < 0 ? later == before : later == before + by;
}

/* Whether a task does what another does `by` tasks before it. */
static bool is_like(const struct task *t, const struct task *before, int32_t by)
{
    return t->stream == before->stream && t->part == before->part &&
           t->sync == before->sync && t->comm == before->comm &&
           t->fusion == before->fusion && t->pass == before->pass &&
           (t->receives < 0) == (before->receives < 0) &&
           (t->sends < 0) == (before->sends < 0) && t->host_ps == before->host_ps &&
           t->alone_ps == before->alone_ps && t->shared_ps == before->shared_ps &&
           is_moved(before->after[0], t->after[0], by) &&
           is_moved(before->after[1], t->after[1], by);
}

bool run_recurs(const struct rank *r, const struct repeat *rep, int64_t period_ps,
                int64_t since_ps)
{
    const struct task *tasks = r->program->tasks.v;
    int32_t by = rep->to - rep->from, quiet = 0;
    for (int32_t i = rep->to; i >= 0 && quiet < by; i--) {
        bool counts = i > rep->from || r->done_ps[i] > since_ps;
        quiet = counts ? 0 : quiet + 1;
        if (counts && (i < by || !is_like(&tasks[i], &tasks[i - by], by) ||
                       r->done_ps[i] - r->done_ps[i - by] != period_ps ||
                       r->issue_ps[i] - r->issue_ps[i - by] != period_ps))
            return false;
    }
    return true;
}

bool run_is_period(const struct repeat *rep)
{
    return rep->from >= 0 && rep->to > rep->from;
}

bool run_is_alone(const struct rank *r, int32_t from)
{
    const struct program *p = r->program;
    for (int32_t i = from > 0 ? from : 0; i <= p->repeat.to; i++) {
        const struct task *t = &p->tasks.v[i];
        enum channel c = t->comm < 0 ? CHANNEL_NEXT : p->comms.v[t->comm].channel;
        if (t->fusion >= 0 || (c != CHANNEL_NEXT && c != CHANNEL_BACK))
            return false;
    }
    return true;
}

/* Periods of passes and messages alone. */
static bool is_simple(const struct run *run)
{
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct repeat *rep = &run->ranks[i].program->repeat;
        if (!run_is_alone(&run->ranks[i], 2 * rep->from - rep->to + 1))
            return false;
    }
    return true;
}

/* From when on what a rank does matters to what comes after a moment: its last kernel
 * has ended, and what has not ended was issued. */
static int64_t matters_since_ps(const struct rank *r, int64_t at_ps)
{
    const struct task *tasks = r->program->tasks.v;
    int64_t kernel_ps = 0, since_ps = at_ps;
    for (int32_t i = 0; i <= r->program->repeat.to; i++) {
        if (r->issue_ps[i] > at_ps)
            break;
        if (r->done_ps[i] > at_ps && r->issue_ps[i] < since_ps)
            since_ps = r->issue_ps[i];
        if (r->done_ps[i] <= at_ps && tasks[i].stream == STREAM_COMPUTE)
            kernel_ps = r->done_ps[i];
    }
    return kernel_ps < since_ps ? kernel_ps : since_ps;
}

/* Whether the rank is at a moment where it was a period before: what has ended and been
 * issued by then are likes, and what matters has come a period later. */
static bool is_where_it_was(const struct rank *r, int64_t at_ps, int64_t period_ps,
                            int64_t since_ps)
{
    const struct task *tasks = r->program->tasks.v;
    const struct repeat *rep = &r->program->repeat;
    const int32_t by = rep->to - rep->from;
    for (int32_t i = rep->to; i >= 0; i--) {
        int64_t done_ps = r->done_ps[i], issue_ps = r->issue_ps[i];
        bool matters = done_ps >= since_ps;
        if (i < by) {
            if (matters)
                return false;
            continue;
        }
        int64_t before_ps = r->done_ps[i - by], issued_ps = r->issue_ps[i - by];
        if ((done_ps <= at_ps) != (before_ps <= at_ps - period_ps) ||
            (issue_ps <= at_ps) != (issued_ps <= at_ps - period_ps) ||
            (matters &&
             (done_ps - before_ps != period_ps || issue_ps - issued_ps != period_ps)) ||
            ((matters || i > rep->from) && !is_like(&tasks[i], &tasks[i - by], by)))
            return false;
    }
    return true;
}

/* A moment, and what is asked of ranks at it. */
struct moment {
    int64_t at_ps, period_ps, since_ps;
};

/* The least of what ranks say. Ranks are many where there are several islands; for few a
 * team of threads is more work. */
static int64_t least_of(const struct run *run, const struct moment *m,
                        int64_t (*of)(const struct rank *, const struct moment *))
{
    int64_t least = INT64_MAX;
    if (run->n_islands == 1) {
        for (int64_t i = 0; i < run->n_ranks; i++) {
            int64_t own = of(&run->ranks[i], m);
            least = own < least ? own : least;
        }
        return least;
    }
#pragma omp parallel for reduction(min : least)
    for (int64_t i = 0; i < run->n_ranks; i++) {
        int64_t own = of(&run->ranks[i], m);
        least = own < least ? own : least;
    }
    return least;
}

static int64_t since_of(const struct rank *r, const struct moment *m)
{
    return matters_since_ps(r, m->at_ps);
}

static int64_t where_it_was(const struct rank *r, const struct moment *m)
{
    return is_where_it_was(r, m->at_ps, m->period_ps, m->since_ps);
}

static int64_t recurs(const struct rank *r, const struct moment *m)
{
    return run_recurs(r, &r->program->repeat, m->period_ps, m->since_ps);
}

static bool is_where_all_were(const struct run *run, struct moment m)
{
    m.since_ps = least_of(run, &m, since_of);
    return least_of(run, &m, where_it_was) > 0;
}

bool run_is_steady(const struct run *run)
{
    const struct rank *ranks = run->ranks;
    const struct repeat *first = &ranks[0].program->repeat;
    int64_t until_ps = RUN_NEVER;
    if (!first->if_steady)
        return true;
    if (ranks[0].program->forwards.if_steady)
        return run_phases_recur(run);
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct repeat *rep = &ranks[i].program->repeat;
        if (!run_is_period(rep))
            return false;
        if (ranks[i].done_ps[rep->to] < until_ps)
            until_ps = ranks[i].done_ps[rep->to];
    }
    const int64_t each_ps = ranks[0].done_ps[first->to] - ranks[0].done_ps[first->from];
    struct moment m = { until_ps, each_ps, until_ps - each_ps };
    return is_simple(run) ? is_where_all_were(run, m) : least_of(run, &m, recurs) > 0;
}
