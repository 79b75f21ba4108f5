/* SMP's interleaved schedule: each stage's execution server takes what is ready when it
 * is free: a backward before a forward, of equals the lowest microbatch; a microbatch
 * enters when fewer than `active` are in flight. */
#include "step/schedule.h"

#include "base/xmalloc.h"

#include <stdlib.h>

#define NEVER INT64_MAX

struct server {
    int64_t free_ps;
    int64_t *forward_ps, *backward_ps; /* [microbatches] when it is ready; NEVER: not */
    int64_t next_forward; /* forwards run in order: the first that has not run */
    int64_t done;         /* backwards that have run */
};

struct play {
    const struct schedule_request *q;
    struct pass_list *lists;
    struct server *servers;
};

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The first backward that is ready at t. Backwards of one stage become ready in any
 * order; those done are NEVER. */
static int64_t ready_backward(const struct play *p, const struct server *s, int64_t t)
{
    for (int64_t m = s->done; m < s->next_forward; m++)
        if (s->backward_ps[m] <= t)
            return m;
    (void)p;
    return -1;
}

/* Whether one more forward may be in flight on the stage. */
static bool admits(const struct play *p, int64_t stage)
{
    const struct schedule_request *q = p->q;
    const struct server *s = &p->servers[stage];
    int64_t limit = NEVER;
    if (stage == 0 && q->active > 0)
        limit = q->active;
    if (q->paced && q->stages - stage < limit)
        limit = q->stages - stage;
    return s->next_forward < q->microbatches && s->next_forward - s->done < limit;
}

/* When the stage can begin its next pass; NEVER while nothing is known to come. */
static int64_t next_start(const struct play *p, int64_t stage)
{
    const struct server *s = &p->servers[stage];
    int64_t t = NEVER;
    for (int64_t m = s->done; m < s->next_forward; m++)
        t = s->backward_ps[m] < t ? s->backward_ps[m] : t;
    if (admits(p, stage) && s->forward_ps[s->next_forward] < t)
        t = s->forward_ps[s->next_forward];
    return t == NEVER ? NEVER : at_least(t, s->free_ps);
}

static void run_forward(struct play *p, int64_t stage, int64_t t)
{
    const struct schedule_request *q = p->q;
    struct server *s = &p->servers[stage];
    int64_t m = s->next_forward++, end = t + q->time_ps[stage][PASS_FORWARD];
    s->free_ps = end;
    if (stage + 1 < q->stages)
        p->servers[stage + 1].forward_ps[m] = end + q->message_ps;
    else
        s->backward_ps[m] = end;
}

static void run_backward(struct play *p, int64_t stage, int64_t m, int64_t t)
{
    const struct schedule_request *q = p->q;
    struct server *s = &p->servers[stage];
    int64_t end = t + q->time_ps[stage][PASS_BACKWARD];
    s->free_ps = end;
    s->backward_ps[m] = NEVER;
    s->done++;
    if (stage > 0)
        p->servers[stage - 1].backward_ps[m] = end + q->message_ps;
}

static void run_one(struct play *p, int64_t stage, int64_t t)
{
    struct server *s = &p->servers[stage];
    struct pass_list *l = &p->lists[stage];
    int64_t m = ready_backward(p, s, t);
    bool backward = m >= 0;
    if (!backward)
        m = s->next_forward;
    l->v[l->n++] =
        (struct pass_ref) { backward ? PASS_BACKWARD : PASS_FORWARD, 0, (int32_t)m };
    if (backward)
        run_backward(p, stage, m, t);
    else
        run_forward(p, stage, t);
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
    struct play p = { q, lists, xcalloc((size_t)q->stages, sizeof(struct server)) };
    for (int64_t i = 0; i < q->stages; i++) {
        p.servers[i].forward_ps = times(q->microbatches, i == 0 ? 0 : NEVER);
        p.servers[i].backward_ps = times(q->microbatches, NEVER);
    }
    for (;;) { /* the stage that begins first; of equals, the last stage */
        int64_t best = -1, first = NEVER;
        for (int64_t i = q->stages - 1; i >= 0; i--) {
            int64_t t = next_start(&p, i);
            if (t < first) {
                first = t;
                best = i;
            }
        }
        if (best < 0)
            break;
        run_one(&p, best, first);
    }
    for (int64_t i = 0; i < q->stages; i++) {
        free(p.servers[i].forward_ps);
        free(p.servers[i].backward_ps);
    }
    free(p.servers);
}
