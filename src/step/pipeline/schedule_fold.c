/* Schedules of two chunks as a V: stage i has the i-th chunk and the i-th from the end.
 * A microbatch goes down and comes back, so that stage 0 has embedding and head, and the
 * last stage begins backwards as early as it ends forwards.
 *
 *   zb-v        as PyTorch's ScheduleZBVZeroBubble: Qi et al., "Zero Bubble Pipeline
 *               Parallelism" (arXiv 2401.10241), section 6
 *   dualpipe-v  as PyTorch's ScheduleDualPipeV, after deepseek-ai/DualPipe,
 *               dualpipe/dualpipev.py
 *
 * (torch/distributed/pipelining/schedules.py, PyTorch @00722e64.) */
#include "step/pipeline/schedule.h"

/* What a stage has pushed so far, by kind and chunk: the next microbatch of each. */
struct fold {
    struct pass_list *l;
    int64_t microbatches;
    int64_t next[PASS_N][2];
};

/* Microbatches beyond the last are left out, as PyTorch has it. */
static void next(struct fold *f, enum pass_kind kind, int chunk)
{
    int64_t m = f->next[kind][chunk]++;
    if (m < f->microbatches)
        schedule_push(f->l, kind, chunk, m);
}

static void both(struct fold *f, int chunk)
{
    next(f, PASS_INPUT, chunk);
    next(f, PASS_WEIGHT, chunk);
}

/* Weights that lag, of the chunk or of both. */
static void rest(struct fold *f, int chunk)
{
    while (f->next[PASS_WEIGHT][chunk] < f->next[PASS_INPUT][chunk])
        next(f, PASS_WEIGHT, chunk);
}

void schedule_zb_v(struct pass_list *l, const struct schedule_request *q, int64_t stage)
{
    enum { PERIOD = 6 };
    struct fold f = { .l = l, .microbatches = q->microbatches };
    int64_t p = q->stages, n = q->microbatches;
    const int64_t *forwards = f.next[PASS_FORWARD];
    n = n > 2 * p - 1 ? n : 2 * p - 1; /* of the plan, some left out */
    for (int64_t i = 0; i < 2 * (p - stage) - 1; i++)
        next(&f, PASS_FORWARD, 0);
    for (int64_t i = 0; i < stage; i++) {
        next(&f, PASS_FORWARD, 1);
        next(&f, PASS_FORWARD, 0);
    }
    for (int64_t i = 0; i < p - stage; i++) {
        next(&f, PASS_FORWARD, 1);
        both(&f, 1);
    }
    while (forwards[1] < forwards[0] || forwards[0] < n) {
        bool last = forwards[0] == n - 1;
        if (forwards[0] < n)
            next(&f, PASS_FORWARD, 0);
        both(&f, 0);
        next(&f, PASS_FORWARD, 1);
        both(&f, 1);
        if (last)
            schedule_end_periods(l, PERIOD);
    }
    for (int64_t i = 0; i < stage; i++) {
        next(&f, PASS_INPUT, 0);
        next(&f, PASS_INPUT, 1);
    }
    for (int64_t i = 0; i < p - stage; i++) {
        next(&f, PASS_INPUT, 0);
        next(&f, PASS_WEIGHT, 0);
    }
    rest(&f, 1);
    rest(&f, 0);
}

/* DualPipe-V ----------------------------------------------------------------------- */

static void backward(struct fold *f, int chunk)
{
    f->next[PASS_WEIGHT][chunk]++;
    schedule_push(f->l, PASS_BACKWARD, chunk, f->next[PASS_INPUT][chunk]++);
}

static void pair(struct fold *f, int forward)
{
    struct pass_list *l = f->l;
    next(f, PASS_FORWARD, forward);
    backward(f, 1 - forward);
    l->v[l->n - 2].paired = l->v[l->n - 1].paired = true;
}

/* The weights of the first input's gradient, from the pass `*at` on, that are left. */
static void oldest_weights(struct fold *f, int64_t *at)
{
    const struct pass_list *l = f->l;
    while (*at < l->n && l->v[*at].kind != PASS_INPUT)
        ++*at;
    if (*at < l->n) {
        struct pass_ref of = l->v[(*at)++];
        schedule_push(f->l, PASS_WEIGHT, of.chunk, of.microbatch);
        f->next[PASS_WEIGHT][of.chunk]++;
    }
}

/* The last backwards: from the middle on without their weights. */
static void drain(struct fold *f, int64_t stages, int64_t stage)
{
    int64_t at = f->l->n, n = stage + 1;
    for (int64_t i = 0; i < 2 * n + stages - stage - 1; i++) {
        bool apart = i >= 2 * (n / 2) + (stage % 2 == 0);
        if (i >= 2 * n)
            oldest_weights(f, &at);
        int chunk = i < 2 * n ? 1 - (int)(i % 2) : 0;
        if (apart)
            next(f, PASS_INPUT, chunk);
        else
            backward(f, chunk);
    }
    for (int64_t i = 0; i < n; i++)
        oldest_weights(f, &at);
}

void schedule_dualpipe_v(struct pass_list *l, const struct schedule_request *q,
                         int64_t stage)
{
    enum { PERIOD = 4 };
    struct fold f = { .l = l, .microbatches = q->microbatches };
    int64_t p = q->stages, after = p - stage - 1;
    for (int64_t i = 0; i < 2 * after; i++)
        next(&f, PASS_FORWARD, 0);
    for (int64_t i = 0; i <= stage; i++) {
        next(&f, PASS_FORWARD, 0);
        next(&f, PASS_FORWARD, 1);
    }
    for (int64_t i = 0; i < after; i++) {
        both(&f, 1);
        next(&f, PASS_FORWARD, 1);
    }
    for (int64_t i = 0; i < q->microbatches - 2 * p + stage + 1; i++) {
        if (i > 0 || stage < p - 1) {
            pair(&f, 0);
        } else { /* the last stage's first ones do not run together */
            next(&f, PASS_FORWARD, 0);
            backward(&f, 1);
        }
        pair(&f, 1);
    }
    schedule_end_periods(l, PERIOD);
    for (int64_t i = 0; i < after; i++) {
        backward(&f, 1);
        pair(&f, 1);
    }
    drain(&f, p, stage);
}
