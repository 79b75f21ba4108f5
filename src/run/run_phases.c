/* Whether ranks are in their periods where all forwards run before the first backward.
 * Each stage has a period of its own in each phase (MODEL.md, R4.2):
 *
 *   rank 0   | f | f | f |to f  |       waits         | b   | b   |to  b   | update
 *   rank 1    ...| f   | f   |to  f    | b  | b  |to b  |    waits         | update
 *
 * Forwards go down the stages and backwards up, so that a stage is no faster than those
 * it gets them from. What more periods move by different times may not meet on links,
 * and what waits for both has to wait for what moves most. O(tasks). */
#include "run/run_state.h"

#include "base/xmalloc.h"

#include <stdlib.h>

enum { BACKWARDS, FORWARDS }; /* run_stretch */

/* Paces ---------------------------------------------------------------------------- */

/* Between two moments of the rank's own; 0: it has no such stretch. */
static int64_t period_ps(const struct rank *r, int which)
{
    return r->stretches[which].to.now_ps - r->stretches[which].from.now_ps;
}

/* Of the rank's pipeline; NULL: it is not simulated. */
static const struct rank *first_stage(const struct rank *r)
{
    return r->mailbox->ranks[0];
}

static const struct rank *last_stage(const struct rank *r)
{
    return r->mailbox->ranks[r->run->request->plans.groups->layout.pipeline - 1];
}

static bool has_phases(const struct rank *r)
{
    return r->program->forwards.from >= 0 && first_stage(r) && last_stage(r);
}

bool run_paces_differ(const struct run *run)
{
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct rank *r = &run->ranks[i];
        if (r != last_stage(r) &&
            period_ps(r, FORWARDS) != period_ps(&run->ranks[0], FORWARDS))
            return true;
    }
    return false;
}

/* The first collective with other stages after the backwards; tasks.n: none. */
static int32_t joins_others(const struct rank *r)
{
    const struct program *p = r->program;
    int32_t i = p->repeat.to + 1;
    while (i < p->tasks.n &&
           (p->tasks.v[i].comm < 0 ||
            !groups_span_stages(p->comms.v[p->tasks.v[i].comm].channel)))
        i++;
    return i;
}

/* Before its first backward, and before it meets the others at the end. */
static int64_t waits_longer_ps(const struct rank *r, int which)
{
    if (which == FORWARDS)
        return period_ps(last_stage(r), FORWARDS) - period_ps(r, FORWARDS);
    bool meets = joins_others(r) < r->program->tasks.n;
    return meets ? period_ps(first_stage(r), BACKWARDS) - period_ps(r, BACKWARDS) : 0;
}

int64_t run_waits_longer_ps(const struct rank *r)
{
    return has_phases(r) ? waits_longer_ps(r, FORWARDS) + waits_longer_ps(r, BACKWARDS)
                         : 0;
}

/* Links ---------------------------------------------------------------------------- */

/* Tasks of a rank, from one up to another, that use links: messages or others. */
struct senders {
    const struct rank *rank;
    int32_t from, to;
    bool messages;
};

/* Whether they use no link that ranks of another pace in `by` use, which are theirs
 * then. */
static bool claim_links(const struct rank **by, struct senders s, int which)
{
    const struct program *p = s.rank->program;
    for (int32_t i = s.from; i < s.to; i++) {
        if (p->tasks.v[i].comm < 0 || (p->tasks.v[i].sends >= 0) != s.messages)
            continue;
        const struct coll_plan *plan = p->comms.v[p->tasks.v[i].comm].plan;
        for (int32_t k = 0; k < plan->n_phases; k++)
            for (int32_t u = 0; u < plan->phases[k].n_uses; u++) {
                const struct rank **own = &by[plan->phases[k].uses[u].link];
                if (*own && period_ps(*own, which) != period_ps(s.rank, which))
                    return false;
                *own = s.rank;
            }
    }
    return true;
}

static const struct rank **no_claims(const struct run *run)
{
    return xcalloc((size_t)net_n_links(run->request->plans.net) + 1,
                   sizeof(const struct rank *));
}

/* Whether forwards at unlike paces go over links of their own. */
static bool forwards_are_apart(const struct run *run)
{
    const struct rank **by = no_claims(run);
    bool apart = true;
    for (int64_t i = 0; i < run->n_ranks && apart; i++) {
        const struct repeat *rep = &run->ranks[i].program->forwards;
        apart = claim_links(
            by, (struct senders) { &run->ranks[i], rep->from, rep->to + 1, true },
            FORWARDS);
    }
    free(by);
    return apart;
}

/* Whether what the stages do after their backwards, until they meet the first one, which
 * is slower, uses no link that this one uses. */
static bool ends_are_apart(const struct run *run, const struct rank *first)
{
    const struct rank **by = no_claims(run);
    bool apart = true;
    for (int64_t i = 0; i < run->n_ranks && apart; i++) {
        const struct rank *r = &run->ranks[i];
        int32_t to = r == first ? (int32_t)r->program->tasks.n : joins_others(r);
        apart = claim_links(
            by, (struct senders) { r, r->program->repeat.to + 1, to, false },
            BACKWARDS);
    }
    free(by);
    return apart;
}

/* Waits ---------------------------------------------------------------------------- */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When a task could begin, for what its rank did before. */
static int64_t ready_ps(const struct rank *r, int32_t task)
{
    const struct task *tasks = r->program->tasks.v;
    int64_t ready = r->issue_ps[task];
    for (int k = 0; k < 2; k++)
        if (tasks[task].after[k] >= 0)
            ready = later(ready, r->done_ps[tasks[task].after[k]]);
    for (int32_t i = task - 1; i >= 0; i--)
        if (tasks[i].stream == tasks[task].stream)
            return later(ready, r->done_ps[i]);
    return ready;
}

/* Whether the first backward began when its message had come, and nothing else kept it
 * from that. */
static bool awaits_backward(const struct rank *r)
{
    const struct program *p = r->program;
    int32_t i = p->forwards.to + 1;
    while (p->tasks.v[i].tag.work != WORK_BACKWARD || p->tasks.v[i].receives < 0)
        if (++i > p->repeat.from)
            return false;
    const struct task *t = &p->tasks.v[i];
    int64_t come_ps = run_message_arrived_ps(r, run_message(r, t->receives));
    return r->issue_ps[i] == come_ps + t->host_ps && ready_ps(r, i) == r->issue_ps[i];
}

static enum channel channel_of(const struct rank *r, int32_t task)
{
    return r->program->comms.v[r->program->tasks.v[task].comm].channel;
}

/* When all have come to the first collective of a channel with other stages, and whether
 * the last is the first stage, or one that has met it before. */
static int64_t meets_ps(const struct run *run, const struct rank *first,
                        enum channel channel, bool *waits)
{
    int64_t met_ps = -1;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct rank *r = &run->ranks[i];
        int32_t own = joins_others(r), at = own;
        while (at < r->program->tasks.n &&
               (r->program->tasks.v[at].comm < 0 || channel_of(r, at) != channel))
            at++;
        if (at == r->program->tasks.n)
            continue;
        bool slow = r == first || at != own;
        int64_t came_ps = ready_ps(r, at);
        *waits = came_ps > met_ps ? slow : *waits || (slow && came_ps == met_ps);
        met_ps = later(met_ps, came_ps);
    }
    return met_ps;
}

/* Whether a stage has nothing at work when it meets the first one, which it waits
 * for. */
static bool awaits_end(const struct run *run, const struct rank *first,
                       const struct rank *r)
{
    const struct program *p = r->program;
    int32_t at = joins_others(r);
    bool waits = false;
    if (at == p->tasks.n)
        return true;
    int64_t met_ps = meets_ps(run, first, channel_of(r, at), &waits);
    for (int32_t i = p->repeat.to + 1; i < p->tasks.n && waits; i++)
        if (i != at && r->done_ps[i] > met_ps && ready_ps(r, i) < met_ps)
            return false;
    return waits;
}

/* All ------------------------------------------------------------------------------ */

/* Whether all ranks go on in a phase as they have. */
static bool phase_recurs(const struct run *run, int which)
{
    int64_t since_ps = RUN_NEVER;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct rank *r = &run->ranks[i];
        const struct repeat *rep = run_stretch(r->program, which);
        if (!run_is_period(rep) || !has_phases(r))
            return false;
        if (r->done_ps[rep->from] < since_ps)
            since_ps = r->done_ps[rep->from];
    }
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct rank *r = &run->ranks[i];
        if (!run_recurs(r, run_stretch(r->program, which), period_ps(r, which),
                        since_ps))
            return false;
    }
    return true;
}

/* A stage gets forwards from the one before it, which is no slower; what is faster than
 * the last has its first backward to wait for. Backwards go up at one pace, but the first
 * stage may be slower. Pipelines side by side are alike. */
static bool is_in_order(const struct rank *r, const struct rank *one)
{
    const struct rank *first = first_stage(r), *last = last_stage(r);
    const struct rank *before = first;
    for (int64_t i = 0; r->mailbox->ranks[i] != r; i++)
        before = r->mailbox->ranks[i];
    return before && period_ps(before, FORWARDS) <= period_ps(r, FORWARDS) &&
           waits_longer_ps(r, FORWARDS) >= 0 &&
           (waits_longer_ps(r, FORWARDS) == 0 || awaits_backward(r)) &&
           (r == first || period_ps(r, BACKWARDS) == period_ps(last, BACKWARDS)) &&
           period_ps(first, BACKWARDS) >= period_ps(last, BACKWARDS) &&
           period_ps(last, FORWARDS) == period_ps(last_stage(one), FORWARDS) &&
           period_ps(first, BACKWARDS) == period_ps(first_stage(one), BACKWARDS) &&
           last->stretches[BACKWARDS].to.now_ps ==
               last_stage(one)->stretches[BACKWARDS].to.now_ps;
}

bool run_phases_recur(const struct run *run)
{
    const struct rank *one = &run->ranks[0];
    if (!phase_recurs(run, BACKWARDS) || !phase_recurs(run, FORWARDS))
        return false;
    for (int64_t i = 0; i < run->n_ranks; i++)
        if (!run_is_alone(&run->ranks[i], 0) || !is_in_order(&run->ranks[i], one))
            return false;
    bool slower =
        period_ps(first_stage(one), BACKWARDS) > period_ps(last_stage(one), BACKWARDS);
    bool folded = net_is_folded(run->request->plans.net) && run->mailboxes.n == 1;
    if ((slower || run_paces_differ(run)) && !folded)
        return false;
    if (run_paces_differ(run) && !forwards_are_apart(run))
        return false;
    if (slower && !ends_are_apart(run, first_stage(one)))
        return false;
    for (int64_t i = 0; i < run->n_ranks && slower; i++)
        if (&run->ranks[i] != first_stage(one) &&
            !awaits_end(run, first_stage(one), &run->ranks[i]))
            return false;
    return true;
}
