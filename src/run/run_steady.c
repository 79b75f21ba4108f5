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
 * takes T, and adds the same to all accounts (MODEL.md, R4.1). O(tasks of a few
 * periods). */
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

/* Whether the rank's tasks up to `to` that ended after a moment, and its last period,
 * followed their likes by period_ps. */
static bool recurs(const struct rank *r, int64_t period_ps, int64_t since_ps)
{
    const struct task *tasks = r->program->tasks.v;
    const struct repeat *rep = &r->program->repeat;
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

bool run_is_steady(const struct run *run)
{
    const struct rank *ranks = run->ranks;
    const struct repeat *first = &ranks[0].program->repeat;
    int64_t until_ps = RUN_NEVER;
    if (!first->if_steady)
        return true;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct repeat *rep = &ranks[i].program->repeat;
        if (rep->from < 0 || rep->to <= rep->from)
            return false;
        if (ranks[i].done_ps[rep->to] < until_ps)
            until_ps = ranks[i].done_ps[rep->to];
    }
    int64_t period_ps = ranks[0].done_ps[first->to] - ranks[0].done_ps[first->from];
    const int64_t since_ps = until_ps - period_ps;
    bool steady = true;
    if (run->n_islands == 1) { /* few ranks: less work than a team of threads */
        for (int64_t i = 0; i < run->n_ranks && steady; i++)
            steady = recurs(&ranks[i], period_ps, since_ps);
        return steady;
    }
#pragma omp parallel for reduction(&& : steady)
    for (int64_t i = 0; i < run->n_ranks; i++)
        steady = steady && recurs(&ranks[i], period_ps, since_ps);
    return steady;
}
