/* The caching allocator against segments worked out by hand from PyTorch's rules, and
 * what it holds over steps. */
#include "base/mix.h"
#include "memory/allocator.h"
#include "memory/reserved.h"

#include <CUnit/CUnit.h>

void test_allocator_register(void);

/* Of a ledger with those events, of which `begin` are before the step. */
static struct reserved held(const struct ledger_event *events, int64_t n, int64_t begin,
                            struct reserved_how how, int64_t capacity_B)
{
    struct ledger l = { .n_before = begin };
    struct arena arena;
    arena_init(&arena);
    struct reserved_memo *memo = reserved_memo_new(&arena, 0);
    for (int64_t i = 0; i < n; i++)
        ledger_record(&l, events[i]);
    const struct reserved held = reserved_by_stage(memo, &l, how, capacity_B);
    arena_release(&arena);
    ledger_release(&l);
    return held;
}

static int64_t peak_B(const struct ledger_event *events, int64_t n, int64_t begin,
                      struct reserved_how how, int64_t capacity_B)
{
    return held(events, n, begin, how, capacity_B).peak_B;
}

enum { MIB = 1 << 20, BLOCKS_MAX = 8 };

static const struct reserved_how made_in_step = { .grows = true }, made_before = { 0 };

static struct allocator_block *take(struct allocator *a, int64_t size_B,
                                    enum allocator_stream stream)
{
    struct allocator_ask ask = allocator_ask(a, size_B, stream);
    return allocator_take(a, &ask);
}

/* A segment that is free as a whole is not needed; one with a block that stays is. */
static void test_needed(void)
{
    const int64_t room_B = INT64_MAX / 2;
    const struct ledger_event idle[] = { { LEDGER_HELD, 0, 64 * MIB },
                                         { LEDGER_HELD, 0, -64 * MIB },
                                         { LEDGER_HELD, 0, 128 * MIB },
                                         { LEDGER_HELD, 0, -128 * MIB } };
    const struct ledger_event once[] = { { LEDGER_HELD, 0, 64 * MIB },
                                         { LEDGER_HELD, 0, -64 * MIB },
                                         { LEDGER_BACKWARD_ONCE, 0, 32 * MIB },
                                         { LEDGER_BACKWARD_ONCE, 0, 32 * MIB } };
    const struct reserved a = held(idle, 4, 0, made_before, room_B),
                          b = held(once, 4, 0, made_before, room_B);
    CU_ASSERT_EQUAL(a.peak_B, 192 * MIB);
    CU_ASSERT_EQUAL(a.needed_B, 128 * MIB);
    /* the second step finds half of the first segment, and makes another */
    CU_ASSERT_EQUAL(b.peak_B, 128 * MIB);
    CU_ASSERT_EQUAL(b.needed_B, 128 * MIB);
}

/* Positive: allocate; negative: free the block that many places from the start (from
 * 1). */
static void test_segments(void)
{
    static const struct {
        const char *what;
        int64_t sizes[BLOCKS_MAX];
        int64_t reserved_B;
    } cases[] = {
        { "small blocks share a segment of 2 MiB", { 1, 512, MIB }, 2 * MIB },
        { "two of 1 MiB fill it, the third needs another", { MIB, MIB, 1 }, 4 * MIB },
        { "up to 10 MiB: segments of 20 MiB", { 2 * MIB, 9 * MIB, 9 * MIB }, 20 * MIB },
        { "from 10 MiB on: rounded to 2 MiB", { 11 * MIB, 10 * MIB + 1 }, 24 * MIB },
        { "a freed block is taken again", { 30 * MIB, -1, 30 * MIB }, 30 * MIB },
        { "and split, since more than 1 MiB is left",
          { 30 * MIB, -1, 20 * MIB, 10 * MIB },
          30 * MIB },
        { "but not for 1 MiB: it goes with the block",
          { 30 * MIB, -1, 29 * MIB, 2 * MIB },
          50 * MIB },
        { "free neighbours merge",
          { 4 * MIB, 4 * MIB, 4 * MIB, -2, -1, 8 * MIB },
          20 * MIB },
        { "blocks of two segments do not",
          { 12 * MIB, 12 * MIB, -1, -2, 24 * MIB },
          48 * MIB },
        { "the smallest that fits is taken",
          { 40 * MIB, 20 * MIB, -1, -2, 20 * MIB, 40 * MIB },
          60 * MIB },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct allocator a;
        struct allocator_block *blocks[BLOCKS_MAX] = { NULL };
        allocator_init(&a, INT64_MAX, false);
        for (int j = 0; j < BLOCKS_MAX; j++) {
            int64_t size = cases[i].sizes[j];
            if (size > 0) {
                blocks[j] = take(&a, size, ALLOCATOR_COMPUTE);
            } else if (size < 0) {
                allocator_free(&a, blocks[-size - 1]);
                blocks[-size - 1] = NULL;
            }
        }
        CU_ASSERT_EQUAL(a.reserved_B, cases[i].reserved_B);
        if (a.reserved_B != cases[i].reserved_B)
            printf("%s: %lld MiB\n", cases[i].what, (long long)(a.reserved_B / MIB));
        for (int j = 0; j < BLOCKS_MAX; j++)
            if (blocks[j])
                allocator_free(&a, blocks[j]);
        allocator_release(&a);
        CU_ASSERT_EQUAL(a.reserved_B, 0);
    }
}

/* Segments as rows of pieces in order of address, searched from end to end. */
enum { PIECES_MAX = 4096 };

struct pieces {
    int64_t n, reserved_B;
    struct piece {
        int64_t size_B;
        int32_t owner; /* 0: free */
        bool small, first;
    } v[PIECES_MAX];
};

static void insert_piece(struct pieces *p, int64_t at, struct piece piece)
{
    memmove(&p->v[at + 1], &p->v[at], (size_t)(p->n++ - at) * sizeof(piece));
    p->v[at] = piece;
}

static void take_piece(struct pieces *p, int64_t size_B, int32_t owner)
{
    size_B = (size_B + 511) / 512 * 512;
    bool small = size_B <= MIB;
    int64_t best = p->n;
    for (int64_t i = 0; i < p->n; i++)
        if (p->v[i].owner == 0 && p->v[i].small == small && p->v[i].size_B >= size_B &&
            (best == p->n || p->v[i].size_B < p->v[best].size_B))
            best = i;
    if (best == p->n) {
        int64_t own_B = (size_B + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
        int64_t segment_B = small ? 2 * MIB : size_B < 10 * MIB ? 20 * MIB : own_B;
        p->reserved_B += segment_B;
        insert_piece(p, best, (struct piece) { segment_B, 0, small, true });
    }
    int64_t left_B = p->v[best].size_B - size_B;
    if (left_B > (small ? 511 : MIB)) {
        p->v[best].size_B = size_B;
        insert_piece(p, best + 1, (struct piece) { left_B, 0, small, false });
    }
    p->v[best].owner = owner;
}

static void give_piece(struct pieces *p, int32_t owner)
{
    int64_t i = 0;
    while (p->v[i].owner != owner)
        i++;
    p->v[i].owner = 0;
    for (int64_t j = i + 1; j >= i; j--)
        if (j > 0 && j < p->n && p->v[j].owner == 0 && p->v[j - 1].owner == 0 &&
            !p->v[j].first) {
            p->v[j - 1].size_B += p->v[j].size_B;
            memmove(&p->v[j], &p->v[j + 1],
                    (size_t)(--p->n - j) * sizeof(struct piece));
        }
}

/* Segments in which a piece is in use. */
static int64_t used_of(const struct pieces *p)
{
    int64_t sum_B = 0, segment_B = 0;
    bool used = false;
    for (int64_t i = 0; i < p->n; i++) {
        if (p->v[i].first)
            segment_B = 0, used = false;
        segment_B += p->v[i].size_B;
        used |= p->v[i].owner != 0;
        if (i + 1 == p->n || p->v[i + 1].first)
            sum_B += used ? segment_B : 0;
    }
    return sum_B;
}

/* Sizes of all bins, few enough that equal ones and neighbours come often. */
static void test_against_search(void)
{
    enum { OPERATIONS = 20000, OWNERS = 64 };
    static struct pieces p;
    struct allocator_block *blocks[OWNERS] = { NULL };
    struct allocator a;
    uint64_t random = 1;
    int64_t wrong = 0, used_B = 0;
    p.n = p.reserved_B = 0;
    allocator_init(&a, INT64_MAX, false);
    for (int i = 0; i < OPERATIONS; i++) {
        random = mix64(random);
        int32_t at = (int32_t)(random % OWNERS);
        int64_t size_B = (int64_t)(1 + (random >> 8) % 15) << (random >> 16) % 25;
        if (blocks[at]) {
            allocator_free(&a, blocks[at]);
            give_piece(&p, at + 1);
            blocks[at] = NULL;
        } else {
            blocks[at] = take(&a, size_B, ALLOCATOR_COMPUTE);
            take_piece(&p, size_B, at + 1);
        }
        used_B = used_of(&p) > used_B ? used_of(&p) : used_B;
        wrong += a.reserved_B != p.reserved_B || a.used_B != used_B;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(a.reserved_B > 1000 * (int64_t)MIB);
    allocator_release(&a);
}

/* One expandable segment: the smallest free piece that is large enough is taken, else
 * the last one grows by whole pages. */
static void take_expandable(struct pieces *p, int64_t size_B, int32_t owner, bool small)
{
    int64_t page_B = small ? 2 * MIB : 20 * MIB, best = p->n;
    size_B = (size_B + 511) / 512 * 512;
    for (int64_t i = 0; i < p->n; i++)
        if (p->v[i].owner == 0 && p->v[i].size_B >= size_B &&
            (best == p->n || p->v[i].size_B < p->v[best].size_B))
            best = i;
    if (best == p->n) {
        if (p->n > 0 && p->v[p->n - 1].owner == 0)
            best--;
        else
            insert_piece(p, best, (struct piece) { 0, 0, small, false });
        int64_t lacks_B = size_B - p->v[best].size_B;
        int64_t more_B = (lacks_B + page_B - 1) / page_B * page_B;
        p->v[best].size_B += more_B;
        p->reserved_B += more_B;
    }
    int64_t left_B = p->v[best].size_B - size_B;
    p->v[best].owner = owner;
    p->v[best].size_B = size_B;
    if (left_B > 0)
        insert_piece(p, best + 1, (struct piece) { left_B, 0, small, false });
}

static void test_expandable_against_search(void)
{
    enum { OPERATIONS = 20000, OWNERS = 64 };
    static struct pieces p[2];
    struct allocator_block *blocks[OWNERS] = { NULL };
    bool small[OWNERS];
    struct allocator a;
    uint64_t random = 7;
    int64_t wrong = 0;
    allocator_init(&a, INT64_MAX, true);
    for (int i = 0; i < OPERATIONS; i++) {
        random = mix64(random);
        int32_t at = (int32_t)(random % OWNERS);
        int64_t size_B = (int64_t)(1 + (random >> 8) % 15) << (random >> 16) % 25;
        if (blocks[at]) {
            allocator_free(&a, blocks[at]);
            give_piece(&p[small[at]], at + 1);
            blocks[at] = NULL;
        } else {
            small[at] = (size_B + 511) / 512 * 512 <= MIB;
            blocks[at] = take(&a, size_B, ALLOCATOR_COMPUTE);
            take_expandable(&p[small[at]], size_B, at + 1, small[at]);
        }
        wrong += a.reserved_B != p[0].reserved_B + p[1].reserved_B;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(a.reserved_B > 100 * (int64_t)MIB);
    allocator_release(&a);
}

/* A full GPU: pages in which nothing lies go, at the end and between blocks; blocks on
 * both sides of the hole stay apart. */
static void test_expandable_full(void)
{
    struct allocator a;
    allocator_init(&a, 200 * MIB, true);
    struct allocator_block *b[4];
    for (int i = 0; i < 4; i++) /* pages of 20 MiB: 0-30-60-90-120 */
        b[i] = take(&a, 30 * MIB, ALLOCATOR_COMPUTE);
    CU_ASSERT_EQUAL(a.reserved_B, 120 * MIB);
    allocator_free(&a, b[1]); /* 30 to 60: the page from 40 on is free */
    allocator_free(&a, b[3]); /* 90 to 120: that from 100 on */
    struct allocator_block *c = take(&a, 130 * MIB, ALLOCATOR_COMPUTE);
    /* 100 mapped with 10 free at their end, which grow by 120 */
    CU_ASSERT_EQUAL(a.reserved_B, 200 * MIB);
    CU_ASSERT_EQUAL(allocator_place(c).address, 90 * MIB);
    struct allocator_block *d = take(&a, 10 * MIB, ALLOCATOR_COMPUTE);
    CU_ASSERT_EQUAL(allocator_place(d).address, 30 * MIB); /* before the hole */
    allocator_free(&a, d);
    allocator_free(&a, b[0]); /* 0 to 40 are one, which ends at the hole */
    struct allocator_block *e = take(&a, 40 * MIB, ALLOCATOR_COMPUTE);
    CU_ASSERT_EQUAL(allocator_place(e).address, 0);
    CU_ASSERT_EQUAL(a.reserved_B, 200 * MIB);
    struct allocator_block *f = take(&a, 40 * MIB, ALLOCATOR_COMPUTE);
    CU_ASSERT_EQUAL(a.reserved_B, 240 * MIB); /* does not fit */
    allocator_free(&a, f);
    allocator_release(&a);
}

/* Activations of one size between workspace of others: whole segments are too small for
 * the next, pages are not. */
static void test_expandable_steps(void)
{
    static const struct ledger_event events[] = {
        { LEDGER_ACTIVATIONS, 0, 30 * MIB }, { LEDGER_ACTIVATIONS, 0, -30 * MIB },
        { LEDGER_ACTIVATIONS, 0, 50 * MIB }, { LEDGER_ACTIVATIONS, 0, -50 * MIB },
        { LEDGER_ACTIVATIONS, 0, 70 * MIB }, { LEDGER_ACTIVATIONS, 0, -70 * MIB },
    };
    const struct reserved_how expandable = { .expandable = true };
    CU_ASSERT_EQUAL(peak_B(events, 6, 0, made_before, INT64_MAX), 150 * MIB);
    CU_ASSERT_EQUAL(peak_B(events, 6, 0, expandable, INT64_MAX), 80 * MIB);
}

static void test_full(void)
{
    struct allocator a;
    allocator_init(&a, 100 * MIB, false);
    allocator_free(&a, take(&a, 60 * MIB, ALLOCATOR_COMPUTE));
    struct allocator_block *b =
        take(&a, 70 * MIB, ALLOCATOR_COMPUTE); /* 60 are given back */
    CU_ASSERT_EQUAL(a.reserved_B, 70 * MIB);
    CU_ASSERT_EQUAL(a.peak_B, 70 * MIB);
    struct allocator_block *c =
        take(&a, 40 * MIB, ALLOCATOR_COMPUTE); /* does not fit */
    CU_ASSERT_EQUAL(a.reserved_B, 110 * MIB);
    allocator_free(&a, b);
    allocator_free(&a, c);
    allocator_release(&a);
}

/* States made in the first step lie where its activations were, so the second step
 * finds no whole block for its own. */
static void test_steps(void)
{
    static const struct ledger_event events[] = {
        { LEDGER_PARAMETERS, 0, 40 * MIB },    { LEDGER_OPTIMIZER, 0, 15 * MIB },
        { LEDGER_ACTIVATIONS, 0, 100 * MIB },  { LEDGER_WORKSPACE, 0, 12 * MIB },
        { LEDGER_WORKSPACE, 0, 14 * MIB },     { LEDGER_WORKSPACE, 0, -26 * MIB },
        { LEDGER_ACTIVATIONS, 0, -100 * MIB },
    };
    int64_t n = sizeof(events) / sizeof(events[0]);
    /* 40, 100, 12 and 14 of the first step; 15 is cut from the 100, so 100 again */
    CU_ASSERT_EQUAL(peak_B(events, n, 2, made_in_step, INT64_MAX), 266 * MIB);
    /* room for 260: the 12 and 14 are given back for the second 100, and cut from what
     * the first one has left */
    CU_ASSERT_EQUAL(peak_B(events, n, 2, made_in_step, 260 * MIB), 240 * MIB);
    CU_ASSERT_EQUAL(peak_B(NULL, 0, 0, made_in_step, INT64_MAX), 0);
}

/* A step of tensors of few sizes, each made and freed once. */
enum { TENSORS = 40, STATES = 3 };

static int64_t random_step(struct ledger_event *events, uint64_t seed)
{
    int64_t n = 0, live_B[TENSORS] = { 0 };
    bool over[TENSORS] = { false };
    for (int32_t i = 0; i < STATES; i++)
        events[n++] = (struct ledger_event) { LEDGER_OPTIMIZER, 0, (9 + i) * MIB };
    while (n < STATES + 2 * TENSORS) {
        seed = mix64(seed);
        int32_t at = (int32_t)(seed % TENSORS);
        int64_t size_B = (2 + (int64_t)(seed >> 8) % 9) * 6 * MIB;
        if (over[at])
            continue;
        over[at] = live_B[at] > 0;
        live_B[at] = over[at] ? -live_B[at] : size_B;
        events[n++] = (struct ledger_event) { LEDGER_ACTIVATIONS, at, live_B[at] };
    }
    return n;
}

/* Three of them, with the states after the first, by search. */
static int64_t searched_B(struct pieces *p, const struct ledger_event *events,
                          int64_t n)
{
    p->n = p->reserved_B = 0;
    for (int step = 0; step < 3; step++) {
        for (int64_t i = STATES; i < n; i++)
            if (events[i].size_B > 0)
                take_piece(p, events[i].size_B, events[i].microbatch + 1);
            else
                give_piece(p, events[i].microbatch + 1);
        for (int32_t i = 0; i < STATES && step == 0; i++)
            take_piece(p, events[i].size_B, TENSORS + 1 + i);
    }
    return p->reserved_B;
}

/* Steps that are left out would have taken no segment. */
static void test_settled_steps(void)
{
    enum { STREAMS = 500 };
    static struct pieces p;
    struct ledger_event events[STATES + 2 * TENSORS];
    int64_t wrong = 0;
    for (uint64_t i = 0; i < STREAMS; i++) {
        int64_t n = random_step(events, i);
        int64_t held_B = peak_B(events, n, STATES, made_in_step, INT64_MAX);
        wrong += held_B != searched_B(&p, events, n);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* A gradient lies where the first step's backward has made it, in the only block that
 * was free then, and not in the smaller one that would have been after the step; and it
 * lies there once. */
static void test_gradients(void)
{
    static const int64_t gradients_B[] = { 30 * MIB, 34 * MIB };
    for (int i = 0; i < 2; i++) {
        const int64_t size_B = gradients_B[i];
        const struct ledger_event events[] = {
            { LEDGER_GRADIENTS, 0, size_B },     { LEDGER_ACTIVATIONS, 0, 64 * MIB },
            { LEDGER_ACTIVATIONS, 0, 36 * MIB }, { LEDGER_ACTIVATIONS, 0, -64 * MIB },
            { LEDGER_MADE, 0, size_B },          { LEDGER_ACTIVATIONS, 0, -36 * MIB },
            { LEDGER_MADE, 0, -size_B },
        };
        int64_t n = sizeof(events) / sizeof(events[0]);
        /* 64 and 36; it is cut from the 64, so 64 again */
        CU_ASSERT_EQUAL(peak_B(events, n, 1, made_in_step, INT64_MAX), 164 * MIB);
        /* made before the first step */
        CU_ASSERT_EQUAL(peak_B(events, n, 1, made_before, INT64_MAX),
                        100 * MIB + size_B);
    }
}

/* The first of two microbatches in flight frees its own block, next to which there is
 * room, and not the equal one of the second, which was made last. */
static void test_microbatches(void)
{
    struct ledger_event events[] = {
        { LEDGER_ACTIVATIONS, 0, 4 * MIB }, { LEDGER_ACTIVATIONS, 0, 4 * MIB },
        { LEDGER_HELD, 0, 4 * MIB },        { LEDGER_HELD, 0, 3 * MIB },
        { LEDGER_ACTIVATIONS, 1, 4 * MIB }, { LEDGER_ACTIVATIONS, 0, -4 * MIB },
        { LEDGER_HELD, 0, -4 * MIB },       { LEDGER_HELD, 0, 8 * MIB },
    };
    int64_t n = sizeof(events) / sizeof(events[0]);
    CU_ASSERT_EQUAL(peak_B(events, n, 0, made_before, INT64_MAX), 20 * MIB);
    events[4].microbatch = 0;
    CU_ASSERT_EQUAL(peak_B(events, n, 0, made_before, INT64_MAX), 40 * MIB);
}

/* What is gathered takes no block of the kernels' stream, nor they one of its; of its
 * own it does. */
static void test_streams(void)
{
    static const struct ledger_event events[] = {
        { LEDGER_ACTIVATIONS, 0, 64 * MIB }, { LEDGER_ACTIVATIONS, 0, -64 * MIB },
        { LEDGER_BUFFERS, 0, 40 * MIB },     { LEDGER_BUFFERS, 0, -40 * MIB },
        { LEDGER_BUFFERS, 0, 36 * MIB },     { LEDGER_BUFFERS, 0, -36 * MIB },
        { LEDGER_ACTIVATIONS, 0, 32 * MIB }, { LEDGER_ACTIVATIONS, 0, -32 * MIB },
    };
    const struct reserved_how streams = { .streams = true };
    int64_t n = sizeof(events) / sizeof(events[0]);
    CU_ASSERT_EQUAL(peak_B(events, n, 0, made_before, INT64_MAX), 64 * MIB);
    CU_ASSERT_EQUAL(peak_B(events, n, 0, streams, INT64_MAX), 104 * MIB);
}

/* What the GPU has not passed takes segments of its own, unless the GPU is full: then the
 * allocator waits for it. What jobs are seen to need is kept there, and what is spare is
 * not. */
static void test_late(void)
{
    static const struct ledger_event events[] = {
        { LEDGER_ACTIVATIONS, 0, 30 * MIB }, { LEDGER_LATE, 0, 40 * MIB },
        { LEDGER_ACTIVATIONS, 0, 40 * MIB }, { LEDGER_ACTIVATIONS, 0, -40 * MIB },
        { LEDGER_LATE, 0, -40 * MIB },       { LEDGER_LATE, 0, 40 * MIB },
        { LEDGER_LATE, 0, -40 * MIB },       { LEDGER_ACTIVATIONS, 0, -30 * MIB },
    };
    const struct reserved_how late = { .late = RESERVED_ALL_LATE };
    const struct reserved_how needed = { .late = RESERVED_LATE };
    int64_t n = sizeof(events) / sizeof(events[0]);
    CU_ASSERT_EQUAL(peak_B(events, n, 0, made_before, INT64_MAX), 70 * MIB);
    CU_ASSERT_EQUAL(peak_B(events, n, 0, late, INT64_MAX), 110 * MIB);
    CU_ASSERT_EQUAL(peak_B(events, n, 0, late, 80 * MIB), 70 * MIB);
    CU_ASSERT_EQUAL(peak_B(events, n, 0, needed, 80 * MIB), 110 * MIB);
    struct ledger_event spare[sizeof(events) / sizeof(events[0])];
    for (int64_t i = 0; i < n; i++) {
        spare[i] = events[i];
        if (spare[i].kind == LEDGER_LATE)
            spare[i].kind = LEDGER_SPARE;
    }
    CU_ASSERT_EQUAL(peak_B(spare, n, 0, late, INT64_MAX), 110 * MIB);
    CU_ASSERT_EQUAL(peak_B(spare, n, 0, needed, INT64_MAX), 70 * MIB);
    /* Which may be the blocks of the very size that is asked for. */
    static const struct ledger_event twice[] = {
        { LEDGER_LATE, 0, 40 * MIB },
        { LEDGER_LATE, 0, 40 * MIB },
        { LEDGER_LATE, 0, -40 * MIB },
        { LEDGER_LATE, 0, -40 * MIB },
    };
    CU_ASSERT_EQUAL(peak_B(twice, 4, 0, late, INT64_MAX), 80 * MIB);
    CU_ASSERT_EQUAL(peak_B(twice, 4, 0, late, 60 * MIB), 40 * MIB);
}

void test_allocator_register(void)
{
    CU_pSuite suite = CU_add_suite("allocator", NULL, NULL);
    CU_add_test(suite, "segments and blocks", test_segments);
    CU_add_test(suite, "what a job needs, and what is made once", test_needed);
    CU_add_test(suite, "as found by search", test_against_search);
    CU_add_test(suite, "a full GPU", test_full);
    CU_add_test(suite, "expandable segments, as by search",
                test_expandable_against_search);
    CU_add_test(suite, "expandable segments on a full GPU", test_expandable_full);
    CU_add_test(suite, "expandable segments over steps", test_expandable_steps);
    CU_add_test(suite, "a pool for each stream", test_streams);
    CU_add_test(suite, "what the GPU has not passed", test_late);
    CU_add_test(suite, "steps", test_steps);
    CU_add_test(suite, "steps that are left out", test_settled_steps);
    CU_add_test(suite, "gradients of the first step", test_gradients);
    CU_add_test(suite, "microbatches", test_microbatches);
}
