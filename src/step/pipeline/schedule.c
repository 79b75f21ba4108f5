#include "step/pipeline/schedule.h"

#include <inttypes.h>

enum { EACH = 3 }; /* passes of a microbatch through a chunk, weights apart */

bool pass_makes_input(enum pass_kind kind)
{
    return kind == PASS_BACKWARD || kind == PASS_INPUT;
}

bool pass_makes_weights(enum pass_kind kind)
{
    return kind == PASS_BACKWARD || kind == PASS_WEIGHT;
}

void schedule_push(struct pass_list *l, enum pass_kind kind, int64_t chunk, int64_t m)
{
    l->v[l->n++] = (struct pass_ref) { kind, (int32_t)chunk, (int32_t)m, false };
}

/* The last pair may hold a chunk's last backward, after which gradients are reduced: it
 * is none. */
void schedule_end_periods(struct pass_list *l, int64_t period)
{
    enum { LAST_PAIR = 2 };
    l->period = period;
    l->periods_end = l->n - LAST_PAIR;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void gpipe(struct pass_list *l, const struct schedule_request *q, int64_t stage)
{
    bool head = q->returns && stage == 0;
    for (int64_t m = 0; m < q->microbatches; m++)
        schedule_push(l, PASS_FORWARD, 0, m);
    l->forwards_end = l->n - 1;
    for (int64_t m = 0; m < q->microbatches && head; m++)
        schedule_push(l, PASS_FORWARD, 1, m);
    for (int64_t m = 0; m < q->microbatches && head; m++)
        schedule_push(l, PASS_BACKWARD, 1, m);
    for (int64_t m = 0; m < q->microbatches; m++)
        schedule_push(l, PASS_BACKWARD, 0, m);
    l->period = 1;
    l->periods_end = l->n - 1;
}

static void one_f_one_b(struct pass_list *l, const struct schedule_request *q,
                        int64_t stage)
{
    int64_t m = q->microbatches, warm = at_most(m, q->stages - stage - 1 + q->pairs);
    for (int64_t i = 0; i < warm; i++)
        schedule_push(l, PASS_FORWARD, 0, i);
    for (int64_t i = warm; i < m; i++) {
        schedule_push(l, PASS_FORWARD, 0, i);
        schedule_push(l, PASS_BACKWARD, 0, i - warm);
    }
    schedule_end_periods(l, 2);
    for (int64_t i = m - warm; i < m; i++)
        schedule_push(l, PASS_BACKWARD, 0, i);
}

/* The k-th pass of a kind: microbatches go in groups of as many as there are stages,
 * chunk after chunk (backward from the last chunk on). */
static void interleaved_pass(struct pass_list *l, const struct schedule_request *q,
                             enum pass_kind kind, int64_t k)
{
    int64_t p = q->stages, v = q->chunks, in_group = k % (p * v);
    int64_t chunk = in_group / p;
    schedule_push(l, kind, kind == PASS_FORWARD ? chunk : v - 1 - chunk,
                  k / (p * v) * p + k % p);
}

static void interleaved(struct pass_list *l, const struct schedule_request *q,
                        int64_t stage)
{
    int64_t p = q->stages, v = q->chunks, n = q->microbatches * v;
    int64_t warm = at_most(n, 2 * (p - stage - 1) + (v - 1) * p + q->pairs);
    if (q->all_first && q->microbatches == p)
        warm = n;
    for (int64_t k = 0; k < warm; k++)
        interleaved_pass(l, q, PASS_FORWARD, k);
    for (int64_t k = warm; k < n; k++) {
        interleaved_pass(l, q, PASS_FORWARD, k);
        interleaved_pass(l, q, PASS_BACKWARD, k - warm);
    }
    schedule_end_periods(l, 2 * p * v);
    for (int64_t k = n - warm; k < n; k++)
        interleaved_pass(l, q, PASS_BACKWARD, k);
}

/* 1F1B over chunks whose weight gradients lag by `stage` backwards. */
static void zero_bubble(struct pass_list *l, const struct schedule_request *q,
                        int64_t stage)
{
    int64_t p = q->stages, v = q->chunks, n = q->microbatches * v, weight = 0;
    int64_t warm = at_most(n, (v - 1) * p + p - stage - 1);
    for (int64_t k = 0; k < warm; k++)
        interleaved_pass(l, q, PASS_FORWARD, k);
    for (int64_t k = 0; k < n; k++) {
        if (k + warm < n)
            interleaved_pass(l, q, PASS_FORWARD, k + warm);
        interleaved_pass(l, q, PASS_INPUT, k);
        if (k >= stage)
            interleaved_pass(l, q, PASS_WEIGHT, weight++);
        if (k + warm == n - 1)
            schedule_end_periods(l, v > 1 ? EACH * p * v : EACH);
    }
    while (weight < n)
        interleaved_pass(l, q, PASS_WEIGHT, weight++);
}

/* PyTorch's ScheduleLoopedBFS (torch/distributed/pipelining/schedules.py): all
 * microbatches through a chunk before the next; back, the last first. */
static void looped_bfs(struct pass_list *l, const struct schedule_request *q,
                       int64_t stage)
{
    (void)stage;
    for (int64_t c = 0; c < q->chunks; c++)
        for (int64_t m = 0; m < q->microbatches; m++)
            schedule_push(l, PASS_FORWARD, c, m);
    for (int64_t c = q->chunks - 1; c >= 0; c--)
        for (int64_t m = q->microbatches - 1; m >= 0; m--)
            schedule_push(l, PASS_BACKWARD, c, m);
}

static const struct {
    void (*list)(struct pass_list *l, const struct schedule_request *q, int64_t stage);
    bool dynamic, periods;
} schedules[] = {
    [SCHEDULE_GPIPE] = { .list = gpipe, .periods = true },
    [SCHEDULE_1F1B] = { .list = one_f_one_b, .periods = true },
    [SCHEDULE_INTERLEAVED] = { .list = interleaved, .periods = true },
    [SCHEDULE_ZB_H1] = { .list = zero_bubble, .periods = true },
    [SCHEDULE_SMP_SIMPLE] = { .list = gpipe },
    [SCHEDULE_SMP_INTERLEAVED] = { .dynamic = true },
    [SCHEDULE_LOOPED_BFS] = { .list = looped_bfs },
    [SCHEDULE_ZB_INTERLEAVED] = { .list = zero_bubble, .periods = true },
    [SCHEDULE_ZB_V] = { .list = schedule_zb_v, .periods = true },
    [SCHEDULE_DUALPIPE_V] = { .list = schedule_dualpipe_v, .periods = true },
};

static int check(const struct schedule_request *q, struct err *err)
{
    const char *name = names_of(parallelism_schedule_names, (int)q->kind);
    const struct schedule_traits *t = parallelism_schedule(q->kind);
    if (q->chunks > 1 && !t->chunks)
        return err_set(err,
                       "schedule \"%s\" has no virtual stages (write 1, or schedule "
                       "\"interleaved\")",
                       name);
    if (t->folds && q->chunks != 2)
        return err_set(err, "schedule \"%s\" has two chunks a stage, not %" PRId64,
                       name, q->chunks);
    if (q->chunks > 1 && t->rounds && q->microbatches % q->stages != 0)
        return err_set(err,
                       "interleaved stages need a number of microbatches that is a "
                       "multiple of the %" PRId64 " stages, not %" PRId64,
                       (int64_t)q->stages, (int64_t)q->microbatches);
    if (t->fills && q->microbatches < q->chunks * q->stages)
        return err_set(err,
                       "schedule \"%s\" takes at least %" PRId64
                       " microbatches, not %" PRId64,
                       name, q->chunks * q->stages, q->microbatches);
    return 0;
}

/* A forward runs next to the backward after it where that is another microbatch's
 * (MODEL.md, R11.12). */
static void mark_pairs(struct pass_list *l)
{
    for (int64_t i = 0; i + 1 < l->n; i++) {
        struct pass_ref *f = &l->v[i], *b = &l->v[i + 1];
        if (f->kind == PASS_FORWARD && b->kind == PASS_BACKWARD &&
            f->microbatch != b->microbatch)
            f->paired = b->paired = true;
    }
}

int schedule_make(struct pass_list **out, struct arena *arena,
                  const struct schedule_request *q, struct err *err)
{
    enum schedule kind = q->kind;
    int64_t n = EACH * (q->chunks + q->returns) * q->microbatches;
    if (check(q, err) < 0)
        return -1;
    if (kind == SCHEDULE_INTERLEAVED && q->chunks == 1)
        kind = SCHEDULE_1F1B;
    *out = ARENA_ARRAY(arena, q->stages, struct pass_list);
    for (int64_t i = 0; i < q->stages; i++) {
        (*out)[i].v = ARENA_ARRAY(arena, n, struct pass_ref);
        if (!schedules[kind].dynamic)
            schedules[kind].list(&(*out)[i], q, i);
        if (q->pairs && kind != SCHEDULE_DUALPIPE_V) /* which knows its own */
            mark_pairs(&(*out)[i]);
    }
    if (schedules[kind].dynamic)
        schedule_play(*out, q);
    return 0;
}

int64_t schedule_period(const struct schedule_request *q)
{
    if (!schedules[q->kind].periods)
        return 0;
    return q->chunks > 1 && parallelism_schedule(q->kind)->rounds ? q->stages : 1;
}

/* Of an order that runs all forwards first: it fills, and what the allocator replays is
 * as in the whole order. */
static int64_t phases_shorter(const struct schedule_request *q)
{
    enum { FEW = 8, NOT_AHEAD = 2 /* of pipeline.c */, MUCH = 3 };
    int64_t n = q->stages + FEW, least = SCHEDULE_RECORDED + NOT_AHEAD;
    n = n > least ? n : least;
    return !q->defers && n < q->microbatches - q->microbatches / MUCH ? n : 0;
}

/* The first stage needs a few periods between its first forwards and its last
 * backwards; stages of unequal length come to theirs when the pipeline has filled. Of
 * interleaved the first attempt seldom fails: it is worth little that is saved. */
int64_t schedule_shorter(const struct schedule_request *q, int attempt)
{
    enum { ATTEMPTS = 2, FEW = 8, LONG = 16, LITTLE = 8, MUCH = 3 };
    static const int64_t filled[ATTEMPTS] = { 1, 2 }, rounds[ATTEMPTS] = { 4, 7 };
    int64_t period = schedule_period(q);
    bool interleaved = q->chunks > 1;
    if (q->kind == SCHEDULE_GPIPE)
        return attempt == 0 ? phases_shorter(q) : 0;
    if (!interleaved && q->uneven && q->stages >= LONG)
        attempt++; /* the first would fail */
    if (q->defers || attempt >= ATTEMPTS || period == 0 ||
        q->microbatches % period != 0)
        return 0;
    int64_t n =
        interleaved ? rounds[attempt] * q->stages : filled[attempt] * q->stages + FEW;
    while (interleaved && n < SCHEDULE_RECORDED) /* as in the whole order */
        n += period;
    int64_t share = interleaved && attempt == 0 ? LITTLE : MUCH;
    return n < q->microbatches - q->microbatches / share ? n : 0;
}

int64_t schedule_in_flight(const struct pass_list *list)
{
    int64_t now = 0, most = 0;
    for (int64_t i = 0; i < list->n; i++) {
        now += list->v[i].kind == PASS_FORWARD;
        now -= pass_makes_weights(list->v[i].kind);
        most = now > most ? now : most;
    }
    return most;
}
