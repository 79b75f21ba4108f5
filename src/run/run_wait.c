/* What idle time of a compute stream is counted as (MODEL.md, (8.5) and (R3)).
 *
 * A rank waits for its host, for what its own GPU still moves, or for a rank of another
 * stage: that it sends, or comes to a collective. Time of the last kind is what the
 * awaited rank was busy with meanwhile, so each rank keeps a list of that, as others
 * see it:
 *
 *   stage 0  | forward | forward |     idle      | backward |  reduces its gradients |
 *   as seen  |      bubble       | as for others |  bubble  |   data_comm_exposed    |
 *
 * O(log n) for a wait in a list of n intervals; intervals alike that follow each other
 * are one. */
#include "run/run_state.h"

#include <string.h>

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether ranks of other stages take part in the collective. */
static bool spans_stages(const struct rank *r, const struct task *t)
{
    enum channel c = r->program->comms.v[t->comm].channel;
    return r->program->n_messages > 0 && (c == CHANNEL_MODEL || c == CHANNEL_EMBEDDING);
}

static bool is_of_pass(const struct task *t)
{
    return t->pass >= 0 || t->tag.work == WORK_FORWARD ||
           t->tag.work == WORK_BACKWARD || t->tag.work == WORK_WEIGHT;
}

/* Those who wait for a stage that runs a pass are in the pipeline's bubble, whatever
 * the pass is made of; for passes it is unchanged. */
static enum category as_seen(const struct task *t, enum category part)
{
    if (is_of_pass(t))
        return CATEGORY_PIPELINE_BUBBLE;
    if (t->tag.work == WORK_BUCKET)
        return CATEGORY_DATA_COMM_EXPOSED;
    return part == CATEGORY_COMPUTE ? CATEGORY_PIPELINE_BUBBLE : part;
}

/* Drops what nobody looks at any more: a rank looks back to its last kernel at most. */
static void drop_intervals(struct rank *r)
{
    int64_t seen_ps = r->island->sim->now_ps, n = 0;
    for (int64_t i = 0; i < r->island->n_ranks; i++)
        seen_ps = at_most(seen_ps, r->island->ranks[i]->idle_ps);
    for (int64_t i = 0; i < r->intervals.n; i++)
        if (r->intervals.v[i].until_ps > seen_ps || i + 1 == r->intervals.n)
            r->intervals.v[n++] = r->intervals.v[i];
    r->intervals.n = n;
}

/* Room for one more. Memory is dear where ranks are many: it grows only where most of it
 * is in use, if that is not long to find out. */
static void make_room(struct rank *r)
{
    enum { FIRST = 32 };
    const int64_t n = r->intervals.n, cap = n > 0 ? 2 * n : FIRST;
    if (n >= r->island->n_ranks / 4)
        drop_intervals(r);
    if (n > 0 && r->intervals.n <= n / 2)
        return;
    struct busy_interval *v = ARENA_RAW(r->island->arena, cap, struct busy_interval);
    if (r->intervals.n > 0)
        memcpy(v, r->intervals.v, (size_t)r->intervals.n * sizeof(*v));
    r->intervals.v = v;
    r->intervals.cap = cap;
}

static void add_interval(struct rank *r, enum category seen, int64_t until_ps)
{
    struct busy_interval *last =
        r->intervals.n > 0 ? &r->intervals.v[r->intervals.n - 1] : NULL;
    if (r->program->n_messages == 0 || (last && last->until_ps >= until_ps))
        return;
    if (last && last->seen == seen) {
        last->until_ps = until_ps;
        return;
    }
    if (r->intervals.n == r->intervals.cap)
        make_room(r);
    VEC_PUSH(&r->intervals, ((struct busy_interval) { until_ps, seen }));
}

void run_account_busy(struct rank *r, const struct task *t)
{
    add_interval(r, as_seen(t, t->part), r->island->sim->now_ps);
}

/* The task before on the stream; -1: none. */
static int32_t task_before(const struct program *p, int32_t task)
{
    enum stream stream = p->tasks.v[task].stream;
    int32_t before = task - 1;
    while (before >= 0 && p->tasks.v[before].stream != stream)
        before--;
    return before;
}

/* Whether the compute stream is idle until the task has ended. */
static bool is_awaited(const struct rank *r, int32_t task)
{
    const struct stream_state *compute = r->streams;
    if (compute->state == PHASE_RUNNING || compute->state == PHASE_ENDED)
        return false;
    const struct task *next = &r->program->tasks.v[compute->head];
    return next->after[0] == task || next->after[1] == task;
}

/* Where the compute stream waits for the collective, which has waited for its turn,
 * others see that at once, who come to the same collective. */
void run_account_coming(struct rank *r, struct stream_state *l)
{
    const struct program *p = r->program;
    if (r->run->request->time_alone || !spans_stages(r, &p->tasks.v[l->head]))
        return;
    int32_t before = task_before(p, l->head);
    struct wait_state *e = &l->wait_state;
    *e = (struct wait_state) { .came_ps = r->island->sim->now_ps,
                               .after = CATEGORY_OTHER };
    if (before >= 0) {
        e->after_ps = r->done_ps[before];
        e->after = p->tasks.v[before].part;
    }
    if (!is_awaited(r, l->head))
        return;
    add_interval(r, e->after, e->after_ps);
    add_interval(r, CATEGORY_OTHER, e->came_ps);
}

void run_account_rendezvous(struct rank *r, struct stream_state *l,
                            const struct rank *last)
{
    if (r->run->request->time_alone || !spans_stages(r, &r->program->tasks.v[l->head]))
        return;
    l->wait_state.met_ps = l->met_ps;
    l->wait_state.awaited = last;
}

/* Idle time on its way through the accounts: what is before `from_ps` is booked. */
struct wait {
    struct rank *rank;
    int64_t from_ps;
};

static void book(struct wait *w, enum category part, enum category seen,
                 int64_t until_ps)
{
    if (until_ps <= w->from_ps)
        return;
    w->rank->account.parts_ps[part] += until_ps - w->from_ps;
    w->from_ps = until_ps;
    add_interval(w->rank, seen, until_ps);
}

/* Time until then, as far as the awaited rank's busy intervals are known. */
static void book_awaited(struct wait *w, const struct rank *awaited, int64_t until_ps)
{
    int64_t low = 0, high = awaited == w->rank ? 0 : awaited->intervals.n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (awaited->intervals.v[middle].until_ps <= w->from_ps)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < awaited->intervals.n && w->from_ps < until_ps; low++) {
        struct busy_interval s = awaited->intervals.v[low];
        int64_t to = at_most(s.until_ps, until_ps);
        if (s.seen == CATEGORY_DATA_COMM_EXPOSED)
            w->rank->account.awaited_ps += at_least(to - w->from_ps, 0);
        book(w, s.seen, s.seen, to);
    }
}

/* Until a message had come: until it was ready its sender was busy, then it was on its
 * way, or waited for those before it. */
static void book_message(struct wait *w, const struct message *m, int64_t now)
{
    const struct rank *sender = w->rank->mailbox->ranks[m->from];
    const int32_t follows = sender->program->tasks.v[m->task].after[0];
    const int64_t ready_ps = follows >= 0 ? sender->done_ps[follows] : 0;
    const int64_t come = at_most(run_message_arrived_ps(w->rank, m), now);
    book_awaited(w, sender, at_most(ready_ps, come));
    book(w, CATEGORY_PIPELINE_COMM, CATEGORY_PIPELINE_COMM, come);
}

/* Until a collective with other stages ran: until it had its turn, the host had issued
 * it, and the last of its ranks had come. */
static void book_wait_state(struct wait *w, const struct wait_state *e, int64_t now)
{
    book(w, e->after, e->after, at_most(e->after_ps, now));
    book(w, CATEGORY_OTHER, CATEGORY_OTHER, at_most(e->came_ps, now));
    book_awaited(w, e->awaited, at_most(e->met_ps, now));
}

/* The later of the tasks that it follows, or -1 when none was later than its issue. */
static int32_t late_for(const struct rank *r, const struct task *t, int32_t index)
{
    int32_t late = -1;
    int64_t until = r->issue_ps[index];
    for (int i = 0; i < 2; i++) {
        int32_t after = t->after[i];
        if (after >= 0 && r->done_ps[after] > until) {
            late = after;
            until = r->done_ps[after];
        }
    }
    return late;
}

void run_account_idle(struct rank *r, const struct task *t, int32_t index)
{
    int64_t now = r->island->sim->now_ps;
    struct wait w = { r, r->idle_ps };
    if (now == w.from_ps || r->run->request->time_alone)
        return;
    if (t->receives >= 0)
        book_message(&w, run_message(r, t->receives), now);
    int32_t late = late_for(r, t, index);
    if (late < 0) {
        book(&w, CATEGORY_OTHER, as_seen(t, CATEGORY_OTHER), now);
        return;
    }
    const struct task *by = &r->program->tasks.v[late];
    bool met = by->comm >= 0 && spans_stages(r, by);
    if (by->comm >= 0 && !met) /* until the host has issued it */
        book(&w, CATEGORY_OTHER, as_seen(t, CATEGORY_OTHER),
             at_most(r->issue_ps[late], now));
    if (met)
        book_wait_state(&w, &run_stream(r, by->stream)->wait_state, now);
    book(&w, by->part, met ? by->part : as_seen(t, by->part), now);
}
