/* Pipeline schedules: closed forms of bubbles and of microbatches in flight,
 * found again by playing the lists out over uniform stages with free messages. */
#include "layout/partition.h"
#include "step/pipeline/schedule.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

void test_schedule_register(void);

enum { STAGES_MAX = 8, CHUNKS_MAX = 4, MICROBATCHES_MAX = 32 };

/* When each pass has ended; 0: not yet. */
struct played {
    int64_t end[PASS_N][STAGES_MAX * CHUNKS_MAX + 1][MICROBATCHES_MAX];
    int64_t at[STAGES_MAX], next[STAGES_MAX];
};

static struct pass_list *make(struct arena *arena, const struct schedule_request *q)
{
    struct pass_list *lists = NULL;
    struct err err = { 0 };
    CU_ASSERT_EQUAL_FATAL(schedule_make(&lists, arena, q, &err), 0);
    return lists;
}

/* The part that a pass is of, in order of execution. */
static int64_t part_of(const struct schedule_request *q, int64_t stage, int64_t chunk)
{
    if (chunk == q->chunks) /* a head that is returned to */
        return q->stages * q->chunks;
    return partition_part(q->stages, parallelism_schedule(q->kind)->folds, stage,
                          chunk);
}

/* When what the pass needs is there; -1: not yet. */
static int64_t ready(const struct played *p, const struct schedule_request *q,
                     int64_t stage, struct pass_ref r)
{
    int64_t v = part_of(q, stage, r.chunk);
    int64_t last = q->stages * q->chunks - 1 + q->returns;
    int64_t t = 0;
    if (r.kind == PASS_FORWARD)
        return v == 0 ? 0 : (t = p->end[PASS_FORWARD][v - 1][r.microbatch]) ? t : -1;
    if (r.kind == PASS_WEIGHT)
        return (t = p->end[PASS_BACKWARD][v][r.microbatch]) ? t : -1;
    t = v == last ? p->end[PASS_FORWARD][v][r.microbatch]
                  : p->end[PASS_BACKWARD][v + 1][r.microbatch];
    return t ? t : -1;
}

/* Times are of forward, of the input's gradient and of the weights'. */
static int64_t lasts(const int64_t time[PASS_N], enum pass_kind kind)
{
    return kind == PASS_BACKWARD ? time[PASS_BACKWARD] + time[PASS_WEIGHT]
           : kind == PASS_INPUT  ? time[PASS_BACKWARD]
                                 : time[kind];
}

/* When the stage's next passes, one or a pair, can begin; -1: not yet. */
static int64_t begins(const struct played *p, const struct schedule_request *q,
                      const struct pass_list *l, int64_t stage, int64_t n)
{
    int64_t from = p->at[stage];
    for (int64_t i = 0; i < n; i++) {
        int64_t t = ready(p, q, stage, l->v[p->next[stage] + i]);
        if (t < 0)
            return -1;
        from = t > from ? t : from;
    }
    return from;
}

/* Runs the stage's next pass; `joint`: or pair, which is one. */
static int64_t step(struct played *p, const struct schedule_request *q,
                    const struct pass_list *l, int64_t stage,
                    const int64_t time[PASS_N], bool joint)
{
    int64_t n = joint && l->v[p->next[stage]].paired ? 2 : 1, sum = 0;
    int64_t from = begins(p, q, l, stage, n);
    if (from < 0)
        return -1;
    for (int64_t i = 0; i < n; i++)
        sum += lasts(time, l->v[p->next[stage] + i].kind);
    p->at[stage] = from + sum;
    for (int64_t i = 0; i < n; i++) {
        struct pass_ref r = l->v[p->next[stage]++];
        enum pass_kind as = r.kind == PASS_INPUT ? PASS_BACKWARD : r.kind;
        p->end[as][part_of(q, stage, r.chunk)][r.microbatch] = p->at[stage];
    }
    return sum;
}

/* Plays lists with pass times f, b, w; yields the idle time of stage 0, or -1 when the
 * lists wait for each other. */
static int64_t play_as(const struct pass_list *lists, const struct schedule_request *q,
                       const int64_t time[PASS_N], bool joint)
{
    struct played *p = calloc(1, sizeof(*p));
    int64_t busy = 0, end = 0, moved = 1;
    while (moved) {
        moved = 0;
        for (int64_t i = 0; i < q->stages; i++)
            while (p->next[i] < lists[i].n) {
                int64_t took = step(p, q, &lists[i], i, time, joint);
                if (took < 0)
                    break;
                busy += i == 0 ? took : 0;
                end = p->at[i] > end ? p->at[i] : end;
                moved = 1;
            }
    }
    for (int64_t i = 0; i < q->stages; i++)
        if (p->next[i] != lists[i].n)
            end = busy - 1;
    free(p);
    return end - busy;
}

static int64_t play(const struct pass_list *lists, const struct schedule_request *q,
                    const int64_t time[PASS_N])
{
    return play_as(lists, q, time, false);
}

/* Every pass once, its weights after its input's gradient. */
static void check_all_run(const struct pass_list *l, const struct schedule_request *q)
{
    int64_t n[PASS_N] = { 0 };
    for (int64_t i = 0; i < l->n; i++) {
        CU_ASSERT(l->v[i].microbatch < q->microbatches);
        n[l->v[i].kind]++;
    }
    CU_ASSERT_EQUAL(n[PASS_FORWARD], q->chunks * q->microbatches);
    CU_ASSERT_EQUAL(n[PASS_BACKWARD] + n[PASS_INPUT], n[PASS_FORWARD]);
    CU_ASSERT_EQUAL(n[PASS_WEIGHT], n[PASS_INPUT]);
}

static void test_bubbles(void)
{
    static const struct {
        enum schedule kind;
        int64_t stages, chunks, microbatches, f, b, w, bubble;
    } cases[] = {
        { SCHEDULE_GPIPE, 4, 1, 8, 10, 20, 0, 3 * 30 },
        { SCHEDULE_GPIPE, 8, 1, 3, 7, 9, 0, 7 * 16 },
        { SCHEDULE_SMP_SIMPLE, 2, 1, 5, 10, 25, 0, 35 },
        { SCHEDULE_1F1B, 4, 1, 8, 10, 20, 0, 3 * 30 },
        { SCHEDULE_1F1B, 8, 1, 32, 11, 23, 0, 7 * 34 },
        { SCHEDULE_1F1B, 1, 1, 4, 11, 23, 0, 0 },
        { SCHEDULE_INTERLEAVED, 4, 2, 8, 10, 20, 0, 3 * 30 },
        { SCHEDULE_INTERLEAVED, 4, 4, 16, 10, 20, 0, 3 * 30 },
        { SCHEDULE_INTERLEAVED, 2, 3, 6, 5, 10, 0, 15 },
        { SCHEDULE_ZB_H1, 4, 1, 8, 10, 10, 10, 3 * 10 },
        { SCHEDULE_ZB_H1, 8, 1, 16, 10, 10, 10, 7 * 10 },
        { SCHEDULE_ZB_INTERLEAVED, 4, 2, 8, 10, 10, 10, 3 * 10 },
        { SCHEDULE_ZB_INTERLEAVED, 8, 3, 24, 10, 12, 8, 7 * 14 },
        { SCHEDULE_LOOPED_BFS, 4, 2, 7, 10, 20, 0, 3 * 30 },
        { SCHEDULE_LOOPED_BFS, 8, 4, 16, 11, 23, 0, 7 * 34 },
        { SCHEDULE_SMP_INTERLEAVED, 4, 1, 8, 10, 20, 0, 3 * 30 },
        { SCHEDULE_SMP_INTERLEAVED, 2, 1, 7, 10, 20, 0, 30 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena arena;
        arena_init(&arena);
        int64_t times[STAGES_MAX][PASS_N];
        for (int k = 0; k < STAGES_MAX; k++) {
            times[k][PASS_FORWARD] = cases[i].f;
            times[k][PASS_BACKWARD] = cases[i].b;
            times[k][PASS_WEIGHT] = cases[i].w;
        }
        struct schedule_request q = { .kind = cases[i].kind,
                                      .stages = cases[i].stages,
                                      .chunks = cases[i].chunks,
                                      .microbatches = cases[i].microbatches,
                                      .time_ps = (const int64_t(*)[PASS_N])times };
        struct pass_list *lists = make(&arena, &q);
        CU_ASSERT_EQUAL(play(lists, &q, times[0]), cases[i].bubble);
        for (int64_t k = 0; k < q.stages; k++)
            check_all_run(&lists[k], &q);
        arena_release(&arena);
    }
}

/* 1F1B: min(m, p - i); GPipe: m; interleaved: warm-up and one more; ZB-H1: p. */
static void test_in_flight(void)
{
    for (int64_t m = 2; m <= 8; m += 2) {
        struct arena arena;
        arena_init(&arena);
        struct schedule_request q = { .stages = 4, .chunks = 1, .microbatches = m };
        q.kind = SCHEDULE_1F1B;
        struct pass_list *one = make(&arena, &q);
        q.kind = SCHEDULE_GPIPE;
        struct pass_list *all = make(&arena, &q);
        q.kind = SCHEDULE_ZB_H1;
        struct pass_list *zb = make(&arena, &q);
        for (int64_t i = 0; i < 4; i++) {
            int64_t most = m < 4 - i ? m : 4 - i;
            CU_ASSERT_EQUAL(schedule_in_flight(&one[i]), most);
            CU_ASSERT_EQUAL(schedule_in_flight(&all[i]), m);
            CU_ASSERT_TRUE(schedule_in_flight(&zb[i]) <= (m < 4 ? m : 4));
        }
        arena_release(&arena);
    }
    struct arena arena;
    arena_init(&arena);
    struct schedule_request q = {
        .kind = SCHEDULE_INTERLEAVED, .stages = 4, .chunks = 2, .microbatches = 16
    };
    struct pass_list *lists = make(&arena, &q);
    for (int64_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(schedule_in_flight(&lists[i]), 2 * (4 - i - 1) + 4 + 1);
    q.microbatches = 4; /* as many as stages: PyTorch's, and Megatron's */
    lists = make(&arena, &q);
    CU_ASSERT_EQUAL(schedule_in_flight(&lists[3]), 4 + 1);
    q.all_first = true;
    lists = make(&arena, &q);
    CU_ASSERT_EQUAL(schedule_in_flight(&lists[3]), 8);
    arena_release(&arena);
}

/* SMP's limit holds on every stage, and pacing holds stage i to p - i. */
static void test_active(void)
{
    struct arena arena;
    arena_init(&arena);
    int64_t times[4][PASS_N] = {
        { 10, 20, 0 }, { 10, 20, 0 }, { 10, 20, 0 }, { 10, 20, 0 }
    };
    struct schedule_request q = { .kind = SCHEDULE_SMP_INTERLEAVED,
                                  .stages = 4,
                                  .chunks = 1,
                                  .microbatches = 12,
                                  .active = 3,
                                  .time_ps = (const int64_t(*)[PASS_N])times };
    struct pass_list *lists = make(&arena, &q);
    for (int64_t i = 0; i < 4; i++)
        CU_ASSERT_TRUE(schedule_in_flight(&lists[i]) <= 3);
    q.active = 0;
    q.paced = true;
    lists = make(&arena, &q);
    for (int64_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(schedule_in_flight(&lists[i]), 4 - i);
    arena_release(&arena);
}

/* A head on the first stage: each microbatch comes back to it once, in an order that
 * no stage waits for in vain, however few are in flight. */
static void test_returns(void)
{
    static const int64_t time[PASS_N] = { 10, 20, 0 }, head[PASS_N] = { 3, 5, 0 };
    struct arena arena;
    arena_init(&arena);
    int64_t times[8][PASS_N];
    for (int i = 0; i < 8; i++)
        memcpy(times[i], time, sizeof(time));
    for (int64_t n = 0; n < 60; n++) {
        struct schedule_request q = { .kind = n % 2 ? SCHEDULE_SMP_INTERLEAVED
                                                    : SCHEDULE_SMP_SIMPLE,
                                      .stages = 2 + n % 7,
                                      .chunks = 1,
                                      .microbatches = 1 + n % 13,
                                      .active = n % 2 ? n % 5 : 0,
                                      .paced = n % 3 == 0,
                                      .returns = true,
                                      .time_ps = (const int64_t(*)[PASS_N])times,
                                      .head_ps = head };
        struct pass_list *lists = make(&arena, &q);
        CU_ASSERT(play(lists, &q, time) >= 0);
        for (int64_t i = 0; i < q.stages; i++) {
            int64_t heads = 0;
            for (int64_t k = 0; k < lists[i].n; k++)
                heads += lists[i].v[k].chunk;
            CU_ASSERT_EQUAL(heads, i == 0 ? 2 * q.microbatches : 0);
            CU_ASSERT_EQUAL(lists[i].n - heads, 2 * q.microbatches);
        }
    }
    arena_release(&arena);
}

static void test_refusals(void)
{
    struct arena arena;
    arena_init(&arena);
    struct pass_list *lists;
    struct err err = { 0 };
    struct schedule_request q = {
        .kind = SCHEDULE_1F1B, .stages = 2, .chunks = 2, .microbatches = 4
    };
    CU_ASSERT_EQUAL(schedule_make(&lists, &arena, &q, &err), -1);
    q.kind = SCHEDULE_INTERLEAVED;
    q.microbatches = 3;
    CU_ASSERT_EQUAL(schedule_make(&lists, &arena, &q, &err), -1);
    q.kind = SCHEDULE_DUALPIPE_V; /* as PyTorch's raises */
    CU_ASSERT_EQUAL(schedule_make(&lists, &arena, &q, &err), -1);
    q.kind = SCHEDULE_ZB_V;
    CU_ASSERT_EQUAL(schedule_make(&lists, &arena, &q, &err), 0);
    q.chunks = 3;
    CU_ASSERT_EQUAL(schedule_make(&lists, &arena, &q, &err), -1);
    arena_release(&arena);
}

/* Two chunks as a V: no stage waits in vain, whatever passes take; chunks in flight
 * are at most those of 1F1B's p stages (2 p halves), with DualPipe-V one more; the
 * bubble is the papers' where passes are equal, else between what it takes to fill
 * and drain. */
static void test_folded(void)
{
    static const int64_t times[][PASS_N] = { { 10, 10, 10 }, { 10, 12, 8 },
                                             { 10, 8, 13 },  { 7, 11, 9 },
                                             { 10, 20, 5 },  { 20, 10, 10 } };
    for (int64_t i = 0; i < 6 * 7 * MICROBATCHES_MAX; i++) {
        const int64_t *t = times[i % 6], p = 2 + i / 6 % 7, m = 1 + i / 42;
        int64_t f = t[PASS_FORWARD], b = t[PASS_BACKWARD], w = t[PASS_WEIGHT];
        struct arena arena;
        arena_init(&arena);
        struct schedule_request q = {
            .kind = SCHEDULE_ZB_V, .stages = p, .chunks = 2, .microbatches = m
        };
        for (int dual = 0; dual < (m >= 2 * p ? 2 : 1); dual++) {
            q.kind = dual ? SCHEDULE_DUALPIPE_V : SCHEDULE_ZB_V;
            struct pass_list *lists = make(&arena, &q);
            int64_t bubble = play(lists, &q, t), joint = play_as(lists, &q, t, true);
            for (int64_t k = 0; k < p; k++) {
                check_all_run(&lists[k], &q);
                CU_ASSERT(schedule_in_flight(&lists[k]) <= 2 * p + dual);
            }
            CU_ASSERT(bubble >= 0 && joint >= bubble);
            if (m < 2 * p)
                continue; /* never full */
            CU_ASSERT(bubble >= (p - 1) * f - p && bubble < (p - 1) * (f + b + w));
            CU_ASSERT(i % 6 > 0 || bubble == (p - 1) * f);
            if (dual && i % 6 == 0) /* F&B + B - 3 W, DualPipe's README */
                CU_ASSERT_EQUAL(joint, (p - 1) * (f + 2 * (b + w) - 3 * w));
        }
        arena_release(&arena);
    }
}

void test_schedule_register(void)
{
    CU_pSuite s = CU_add_suite("schedule", NULL, NULL);
    CU_add_test(s, "bubbles of uniform stages are the closed forms", test_bubbles);
    CU_add_test(s, "two chunks as a V", test_folded);
    CU_add_test(s, "microbatches in flight", test_in_flight);
    CU_add_test(s, "limits of SMP's dynamic schedule", test_active);
    CU_add_test(s, "a head that the stream returns to", test_returns);
    CU_add_test(s, "what schedules refuse", test_refusals);
}
