/* The event core against a sorted list, and the order of ties. */
#include "engine/sim.h"
#include "run_until.h"

#include <CUnit/CUnit.h>

void test_sim_register(void);

/* A random number below n (a linear congruence; the high bits are good enough). */
static uint32_t draw(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % n);
}

/* Events with a number each, and the order in which they fired. */
enum { MAX_EVENTS = 300 };

struct numbered {
    struct sim_event event;
    int number;
};

struct record {
    struct numbered numbered[MAX_EVENTS];
    int order[4 * MAX_EVENTS];
    int64_t t_ps[4 * MAX_EVENTS];
    int n;
};

static void note(struct sim *sim, struct sim_event *ev)
{
    struct record *record = sim->context;
    record->order[record->n] = SIM_OWNER(ev, struct numbered, event)->number;
    record->t_ps[record->n++] = sim->now_ps;
}

static const struct sim_event_type note_event = { "note", note };

static void record_init(struct record *record, struct sim *sim)
{
    record->n = 0;
    sim_init(sim, record);
    for (int i = 0; i < MAX_EVENTS; i++) {
        record->numbered[i].number = i;
        sim_event_init(&record->numbered[i].event, &note_event);
    }
}

/* The oracle: a list in order of time, later insertions after earlier ones. */
struct list {
    int64_t t_ps[MAX_EVENTS];
    int number[MAX_EVENTS];
    int n;
};

static void list_remove(struct list *list, int number)
{
    int kept = 0;
    for (int i = 0; i < list->n; i++) {
        if (list->number[i] == number)
            continue;
        list->number[kept] = list->number[i];
        list->t_ps[kept++] = list->t_ps[i];
    }
    list->n = kept;
}

static void list_insert(struct list *list, int number, int64_t t_ps)
{
    int i = list->n++;
    for (; i > 0 && list->t_ps[i - 1] > t_ps; i--) {
        list->t_ps[i] = list->t_ps[i - 1];
        list->number[i] = list->number[i - 1];
    }
    list->t_ps[i] = t_ps;
    list->number[i] = number;
}

/* Fires what is due in both, and counts disagreements. */
static int fire_both(struct sim *sim, struct record *record, struct list *list,
                     int64_t t_ps)
{
    int n_wrong = 0, n_due = 0;
    record->n = 0;
    run_until(sim, t_ps);
    for (; n_due < list->n && list->t_ps[n_due] <= t_ps; n_due++)
        n_wrong += n_due >= record->n || record->order[n_due] != list->number[n_due] ||
                   record->t_ps[n_due] != list->t_ps[n_due];
    n_wrong += record->n != n_due;
    for (int i = 0; i < n_due; i++)
        list_remove(list, list->number[0]);
    return n_wrong;
}

static int run_random(uint64_t seed, uint32_t horizon_ps)
{
    static struct record record;
    struct sim sim;
    struct list list = { .n = 0 };
    int n_wrong = 0;
    record_init(&record, &sim);
    for (int step = 0; step < 3000; step++) {
        int i = (int)draw(&seed, MAX_EVENTS);
        struct sim_event *ev = &record.numbered[i].event;
        uint32_t what = draw(&seed, 10);
        list_remove(&list, what < 9 ? i : -1);
        if (what < 7) { /* schedule, or move if pending */
            int64_t t_ps = sim.now_ps + draw(&seed, horizon_ps);
            sim_at(&sim, ev, t_ps);
            list_insert(&list, i, t_ps);
        } else if (what < 9) {
            sim_cancel(&sim, ev);
        } else {
            int64_t t_ps = sim.now_ps + draw(&seed, horizon_ps / 8 + 1);
            n_wrong += fire_both(&sim, &record, &list, t_ps);
        }
        n_wrong += sim.n_pending != (uint32_t)list.n;
        n_wrong += sim_is_pending(ev) != (ev->slot != 0);
    }
    n_wrong += fire_both(&sim, &record, &list, INT64_C(1) << 40);
    n_wrong += sim.n_pending != 0;
    sim_release(&sim);
    return n_wrong;
}

static void test_against_sorted_list(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        CU_ASSERT_EQUAL(run_random(seed, 3), 0); /* nearly everything ties */
        CU_ASSERT_EQUAL(run_random(seed, 1000), 0);
        CU_ASSERT_EQUAL(run_random(seed, 1u << 30), 0);
    }
}

static void test_ties_in_order_of_scheduling(void)
{
    static struct record record;
    struct sim sim;
    record_init(&record, &sim);
    for (int i = 0; i < MAX_EVENTS; i++)
        sim_at(&sim, &record.numbered[i].event, 5);
    sim_at(&sim, &record.numbered[0].event, 5); /* goes after the rest */
    sim_run(&sim);
    CU_ASSERT_EQUAL(record.n, MAX_EVENTS);
    CU_ASSERT_EQUAL(sim.n_fired, MAX_EVENTS);
    for (int i = 0; i < MAX_EVENTS; i++)
        CU_ASSERT_EQUAL(record.order[i], (i + 1) % MAX_EVENTS);
    sim_release(&sim);
}

static void schedule_next_now(struct sim *sim, struct sim_event *ev)
{
    struct record *record = sim->context;
    note(sim, ev);
    sim_at(sim, &record->numbered[record->n + 1].event, sim->now_ps);
}

static const struct sim_event_type chain_event = { "chain", schedule_next_now };

static void test_last_of_an_instant(void)
{
    static struct record record;
    struct sim sim;
    record_init(&record, &sim);
    sim_event_init(&record.numbered[1].event, &chain_event);
    sim_event_init(&record.numbered[2].event, &chain_event);
    sim_at(&sim, &record.numbered[9].event, 1);
    sim_at_last(&sim, &record.numbered[7].event);
    sim_at(&sim, &record.numbered[1].event, 0); /* schedules 2, that schedules 3 */
    sim_run(&sim);
    static const int expected[] = { 1, 2, 3, 7, 9 };
    CU_ASSERT_EQUAL(record.n, 5);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(record.order[i], expected[i]);
    sim_release(&sim);
}

static void test_clock(void)
{
    static struct record record;
    struct sim sim;
    record_init(&record, &sim);
    sim_after(&sim, &record.numbered[0].event, 10);
    sim_after(&sim, &record.numbered[1].event, 20);
    CU_ASSERT_EQUAL(sim.now_ps, 0);
    CU_ASSERT_TRUE(sim_run_some(&sim, 1));
    CU_ASSERT_EQUAL(record.n, 1);
    CU_ASSERT_EQUAL(sim.now_ps, 10);
    sim_run(&sim);
    CU_ASSERT_EQUAL(sim.now_ps, 20);
    CU_ASSERT_EQUAL(record.n, 2);
    sim_release(&sim);
}

static void test_cancel_when_idle_and_release_when_pending(void)
{
    static struct record record;
    struct sim sim;
    record_init(&record, &sim);
    struct sim_event *ev = &record.numbered[0].event;
    sim_cancel(&sim, ev);
    sim_at(&sim, ev, 1);
    CU_ASSERT_TRUE(sim_is_pending(ev));
    sim_cancel(&sim, ev);
    sim_cancel(&sim, ev);
    CU_ASSERT_FALSE(sim_is_pending(ev));
    sim_run(&sim);
    CU_ASSERT_EQUAL(record.n, 0);
    sim_at(&sim, ev, 1);
    sim_release(&sim);
    CU_ASSERT_FALSE(sim_is_pending(ev));
}

/* Ties go by sim, then by order of scheduling; an event that fires is in one sim. */
static void test_join(void)
{
    static const int64_t t_ps[] = { 30, 10, 20, 20, 10, 40, 20, 30, 20 };
    static const int order[] = { 1, 4, 2, 3, 6, 8, 0, 7, 5 };
    static struct record record[4];
    struct sim sim[4], *from[] = { &sim[0], &sim[1], &sim[2] };
    for (int i = 0; i < 4; i++)
        record_init(&record[i], &sim[i]);
    for (int i = 0; i < 9; i++)
        sim_at(&sim[i / 3], &record[3].numbered[i].event, t_ps[i]);
    sim_join(&sim[3], from, 3);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(sim[i].n_pending, 0);
    sim_cancel(&sim[3], &record[3].numbered[3].event);
    sim_at(&sim[3], &record[3].numbered[3].event, 20); /* after those of 20 */
    sim_run(&sim[3]);
    CU_ASSERT_EQUAL_FATAL(record[3].n, 9);
    for (int i = 0; i < 9; i++) {
        int moved = i >= 3 && i < 5 ? order[i + 1] : i == 5 ? 3 : order[i];
        CU_ASSERT_EQUAL(record[3].order[i], moved);
        CU_ASSERT_EQUAL(record[3].t_ps[i], t_ps[moved]);
    }
    for (int i = 0; i < 4; i++)
        sim_release(&sim[i]);
}

/* The instant in which the stop comes is finished, and no other begun. */
static void test_run_until_stop(void)
{
    static struct record record;
    struct sim sim;
    bool stop = false;
    record_init(&record, &sim);
    for (int i = 0; i < 6; i++)
        sim_at(&sim, &record.numbered[i].event, i / 2);
    CU_ASSERT_TRUE(sim_run_until(&sim, &stop, 3));
    CU_ASSERT_EQUAL(record.n, 3);
    CU_ASSERT_FALSE(sim_run_until(&sim, &stop, 10));
    CU_ASSERT_EQUAL(record.n, 6);
    for (int i = 0; i < 6; i++)
        sim_at(&sim, &record.numbered[i].event, 10 + i / 2);
    sim_run_some(&sim, 1);
    stop = true;
    CU_ASSERT_FALSE(sim_run_until(&sim, &stop, 10));
    CU_ASSERT_EQUAL(record.n, 8);
    CU_ASSERT_EQUAL(sim.now_ps, 10);
    CU_ASSERT_EQUAL(sim.n_pending, 4);
    sim_release(&sim);
}

void test_sim_register(void)
{
    CU_pSuite suite = CU_add_suite("sim", NULL, NULL);
    CU_ADD_TEST(suite, test_against_sorted_list);
    CU_ADD_TEST(suite, test_ties_in_order_of_scheduling);
    CU_ADD_TEST(suite, test_last_of_an_instant);
    CU_ADD_TEST(suite, test_join);
    CU_ADD_TEST(suite, test_run_until_stop);
    CU_ADD_TEST(suite, test_clock);
    CU_ADD_TEST(suite, test_cancel_when_idle_and_release_when_pending);
}
