#include "step/schedule.h"

#include <inttypes.h>

static void push(struct pass_list *l, enum pass_kind kind, int64_t chunk, int64_t m)
{
    l->v[l->n++] = (struct pass_ref) { kind, (int32_t)chunk, (int32_t)m };
}

/* The passes so far are periods of so many, and what led to them. The last pair may
 * hold a chunk's last backward, after which gradients are reduced: it is none. */
static void end_periods(struct pass_list *l, int64_t period)
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
        push(l, PASS_FORWARD, 0, m);
    for (int64_t m = 0; m < q->microbatches && head; m++)
        push(l, PASS_FORWARD, 1, m);
    for (int64_t m = 0; m < q->microbatches && head; m++)
        push(l, PASS_BACKWARD, 1, m);
    for (int64_t m = 0; m < q->microbatches; m++)
        push(l, PASS_BACKWARD, 0, m);
}

static void one_f_one_b(struct pass_list *l, const struct schedule_request *q,
                        int64_t stage)
{
    int64_t m = q->microbatches, warm = at_most(m, q->stages - stage - 1 + q->pairs);
    for (int64_t i = 0; i < warm; i++)
        push(l, PASS_FORWARD, 0, i);
    for (int64_t i = warm; i < m; i++) {
        push(l, PASS_FORWARD, 0, i);
        push(l, PASS_BACKWARD, 0, i - warm);
    }
    end_periods(l, 2);
    for (int64_t i = m - warm; i < m; i++)
        push(l, PASS_BACKWARD, 0, i);
}

/* The k-th pass of a kind: microbatches go in groups of as many as there are stages,
 * chunk after chunk (backward from the last chunk on). */
static void interleaved_pass(struct pass_list *l, const struct schedule_request *q,
                             enum pass_kind kind, int64_t k)
{
    int64_t p = q->stages, v = q->chunks, in_group = k % (p * v);
    int64_t chunk = in_group / p;
    push(l, kind, kind == PASS_FORWARD ? chunk : v - 1 - chunk,
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
    end_periods(l, 2 * p * v);
    for (int64_t k = n - warm; k < n; k++)
        interleaved_pass(l, q, PASS_BACKWARD, k);
}

/* 1F1B whose weight gradients lag by `stage` backwards. */
static void zb_h1(struct pass_list *l, const struct schedule_request *q, int64_t stage)
{
    int64_t m = q->microbatches, warm = at_most(m, q->stages - stage - 1), weight = 0;
    for (int64_t i = 0; i < warm; i++)
        push(l, PASS_FORWARD, 0, i);
    for (int64_t i = 0; i < m; i++) {
        if (i + warm < m)
            push(l, PASS_FORWARD, 0, i + warm);
        push(l, PASS_BACKWARD, 0, i);
        if (i >= stage)
            push(l, PASS_WEIGHT, 0, weight++);
        if (i + warm == m - 1)
            end_periods(l, PASS_N);
    }
    while (weight < m)
        push(l, PASS_WEIGHT, 0, weight++);
}

static const struct {
    void (*list)(struct pass_list *l, const struct schedule_request *q, int64_t stage);
    bool chunks, dynamic, periods;
} schedules[] = {
    [SCHEDULE_GPIPE] = { .list = gpipe },
    [SCHEDULE_1F1B] = { .list = one_f_one_b, .periods = true },
    [SCHEDULE_INTERLEAVED] = { .list = interleaved, .chunks = true, .periods = true },
    [SCHEDULE_ZB_H1] = { .list = zb_h1, .periods = true },
    [SCHEDULE_SMP_SIMPLE] = { .list = gpipe },
    [SCHEDULE_SMP_INTERLEAVED] = { .dynamic = true },
};

static int check(const struct schedule_request *q, struct err *err)
{
    const char *name = names_of(parallelism_schedule_names, (int)q->kind);
    if (q->chunks > 1 && !schedules[q->kind].chunks)
        return err_set(err,
                       "schedule \"%s\" has no virtual stages (write 1, or schedule "
                       "\"interleaved\")",
                       name);
    if (q->chunks > 1 && q->microbatches % q->stages != 0)
        return err_set(err,
                       "interleaved stages need a number of microbatches that is a "
                       "multiple of the %" PRId64 " stages, not %" PRId64,
                       (int64_t)q->stages, (int64_t)q->microbatches);
    return 0;
}

int schedule_make(struct pass_list **out, struct arena *arena,
                  const struct schedule_request *q, struct err *err)
{
    enum schedule kind = q->kind;
    int64_t n = PASS_N * (q->chunks + q->returns) * q->microbatches;
    if (check(q, err) < 0)
        return -1;
    if (kind == SCHEDULE_INTERLEAVED && q->chunks == 1)
        kind = SCHEDULE_1F1B;
    *out = ARENA_ARRAY(arena, q->stages, struct pass_list);
    for (int64_t i = 0; i < q->stages; i++) {
        (*out)[i].v = ARENA_ARRAY(arena, n, struct pass_ref);
        if (!schedules[kind].dynamic)
            schedules[kind].list(&(*out)[i], q, i);
    }
    if (schedules[kind].dynamic)
        schedule_play(*out, q);
    return 0;
}

int64_t schedule_period(const struct schedule_request *q)
{
    if (!schedules[q->kind].periods)
        return 0;
    return q->chunks > 1 ? q->stages : 1;
}

/* The first stage needs a few periods between its first forwards and its last
 * backwards; stages of unequal length come to theirs when the pipeline has filled. Of
 * interleaved the first attempt seldom fails: it is worth little that is saved. */
int64_t schedule_shorter(const struct schedule_request *q, int attempt)
{
    enum { ATTEMPTS = 2, FEW = 8, LONG = 16, LITTLE = 8, MUCH = 3 };
    static const int64_t filled[ATTEMPTS] = { 1, 2 }, rounds[ATTEMPTS] = { 5, 8 };
    int64_t period = schedule_period(q);
    bool interleaved = q->chunks > 1;
    if (!interleaved && q->uneven && q->stages >= LONG)
        attempt++; /* the first would fail */
    if (q->defers || attempt >= ATTEMPTS || period == 0 ||
        q->microbatches % period != 0)
        return 0;
    int64_t n =
        interleaved ? rounds[attempt] * q->stages : filled[attempt] * q->stages + FEW;
    int64_t share = interleaved && attempt == 0 ? LITTLE : MUCH;
    return n < q->microbatches - q->microbatches / share ? n : 0;
}

int64_t schedule_in_flight(const struct pass_list *list)
{
    int64_t now = 0, most = 0, weights = 0;
    for (int64_t i = 0; i < list->n; i++)
        weights += list->v[i].kind == PASS_WEIGHT;
    for (int64_t i = 0; i < list->n; i++) {
        enum pass_kind last = weights ? PASS_WEIGHT : PASS_BACKWARD;
        now += list->v[i].kind == PASS_FORWARD;
        now -= list->v[i].kind == last;
        most = now > most ? now : most;
    }
    return most;
}
