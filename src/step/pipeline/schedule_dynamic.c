/* SMP's interleaved schedule: each stage's execution server takes what is ready when it
 * is free: a backward before a forward, of equals the lowest microbatch; a microbatch
 * enters when fewer than `active` are in flight.
 *
 * A microbatch visits the stages in turn, and where the head is on the first stage that
 * once more after the last: visit v is of stage v % stages, as its chunk v / stages. */
#include "base/xmalloc.h"
#include "step/pipeline/schedule.h"

#include <stdlib.h>

#define NEVER INT64_MAX

struct visit {
    int64_t *forward_ps, *backward_ps; /* [microbatches] when it is ready; NEVER: not */
    int64_t next_forward; /* forwards run in order: the first that has not run */
    int64_t done;         /* backwards that have run */
};

struct play {
    const struct schedule_request *q;
    struct pass_list *lists;
    int64_t n_visits;
    struct visit *visits; /* [n_visits] */
    int64_t *free_ps;     /* [stages] when the server is free */
};

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t time_ps(const struct play *p, int64_t visit, enum pass_kind kind)
{
    const struct schedule_request *q = p->q;
    return visit < q->stages ? q->time_ps[visit][kind] : q->head_ps[kind];
}

/* The first backward that is ready at t. Backwards of one stage become ready in any
 * order; those done are NEVER. */
static int64_t ready_backward(const struct visit *v, int64_t t)
{
    for (int64_t m = v->done; m < v->next_forward; m++)
        if (v->backward_ps[m] <= t)
            return m;
    return -1;
}

/* Whether one more forward may be in flight after the visit. */
static bool admits(const struct play *p, int64_t visit)
{
    const struct schedule_request *q = p->q;
    const struct visit *v = &p->visits[visit];
    int64_t limit = NEVER;
    if (visit == 0 && q->active > 0)
        limit = q->active;
    if (q->paced && p->n_visits - visit < limit)
        limit = p->n_visits - visit;
    return v->next_forward < q->microbatches && v->next_forward - v->done < limit;
}

/* When the visit's next pass can begin; NEVER while nothing is known to come. */
static int64_t next_start(const struct play *p, int64_t visit)
{
    const struct visit *v = &p->visits[visit];
    int64_t t = NEVER;
    for (int64_t m = v->done; m < v->next_forward; m++)
        t = v->backward_ps[m] < t ? v->backward_ps[m] : t;
    if (admits(p, visit) && v->forward_ps[v->next_forward] < t)
        t = v->forward_ps[v->next_forward];
    return t == NEVER ? NEVER : at_least(t, p->free_ps[visit % p->q->stages]);
}

static void run_forward(struct play *p, int64_t visit, int64_t t)
{
    struct visit *v = &p->visits[visit];
    int64_t m = v->next_forward++, end = t + time_ps(p, visit, PASS_FORWARD);
    p->free_ps[visit % p->q->stages] = end;
    if (visit + 1 < p->n_visits)
        p->visits[visit + 1].forward_ps[m] = end + p->q->message_ps;
    else
        v->backward_ps[m] = end;
}

static void run_backward(struct play *p, int64_t visit, int64_t m, int64_t t)
{
    struct visit *v = &p->visits[visit];
    int64_t end = t + time_ps(p, visit, PASS_BACKWARD);
    p->free_ps[visit % p->q->stages] = end;
    v->backward_ps[m] = NEVER;
    v->done++;
    if (visit > 0)
        p->visits[visit - 1].backward_ps[m] = end + p->q->message_ps;
}

static void run_one(struct play *p, int64_t visit, int64_t t)
{
    struct visit *v = &p->visits[visit];
    struct pass_list *l = &p->lists[visit % p->q->stages];
    int64_t m = ready_backward(v, t);
    bool backward = m >= 0;
    if (!backward)
        m = v->next_forward;
    l->v[l->n++] =
        (struct pass_ref) { backward ? PASS_BACKWARD : PASS_FORWARD,
                            (int32_t)(visit / p->q->stages), (int32_t)m, false };
    if (backward)
        run_backward(p, visit, m, t);
    else
        run_forward(p, visit, t);
}

/* The visit whose pass begins first; of equals a backward, then the last visit; -1: all
 * have run. */
static int64_t choose(const struct play *p, int64_t *first_ps)
{
    int64_t best = -1;
    bool best_backward = false;
    *first_ps = NEVER;
    for (int64_t i = p->n_visits - 1; i >= 0; i--) {
        int64_t t = next_start(p, i);
        bool backward = t != NEVER && ready_backward(&p->visits[i], t) >= 0;
        if (t > *first_ps || t == NEVER ||
            (t == *first_ps && (best_backward || !backward)))
            continue;
        *first_ps = t;
        best = i;
        best_backward = backward;
    }
    return best;
}

static int64_t *times(int64_t n, int64_t value)
{
    int64_t *v = xmalloc((size_t)n * sizeof(*v));
    for (int64_t i = 0; i < n; i++)
        v[i] = value;
    return v;
}

void schedule_play(struct pass_list *lists, const struct schedule_request *q)
{
    struct play p = { .q = q, .lists = lists, .n_visits = q->stages + q->returns };
    int64_t visit, t;
    p.visits = xcalloc((size_t)p.n_visits, sizeof(*p.visits));
    p.free_ps = times(q->stages, 0);
    for (int64_t i = 0; i < p.n_visits; i++) {
        p.visits[i].forward_ps = times(q->microbatches, i == 0 ? 0 : NEVER);
        p.visits[i].backward_ps = times(q->microbatches, NEVER);
    }
    while ((visit = choose(&p, &t)) >= 0)
        run_one(&p, visit, t);
    for (int64_t i = 0; i < p.n_visits; i++) {
        free(p.visits[i].forward_ps);
        free(p.visits[i].backward_ps);
    }
    free(p.visits);
    free(p.free_ps);
}
