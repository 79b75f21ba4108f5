#include "run/run_state.h"

#include "base/units.h"

#include <math.h>

bool run_is_over(struct island *island, int64_t t_ps)
{
    if (t_ps <= SIM_LONGEST_PS)
        return false;
    island->failed = true;
    err_set(island->err, "the step takes longer than %.0f days, where the clock ends",
            units_s(SIM_LONGEST_PS) / UNITS_DAY_S);
    return true;
}

/* The host issues tasks one after the other until one of them makes it wait. */
void run_issue(struct rank *r)
{
    enum { AHEAD = 3 };
    const struct program *p = r->program;
    while (r->n_issued < p->tasks.n && r->awaits < 0) {
        const struct task *t = &p->tasks.v[r->n_issued];
        if (t->receives >= 0) {
            int64_t arrived_ps = run_message_arrived_ps(r, run_message(r, t->receives));
            if (arrived_ps == RUN_NEVER) {
                r->awaits_message = t->receives;
                return;
            }
            r->host_ps = r->host_ps > arrived_ps ? r->host_ps : arrived_ps;
        }
        int64_t host_ps = run_paced_ps(r->host_factors, r->n_issued, t->host_ps);
        r->host_ps += host_ps;
        r->host_busy_ps += host_ps;
        if (run_is_over(r->island, r->host_ps))
            return;
        if (t->sync)
            r->awaits = r->n_issued;
        if (r->run->request->observer)
            run_observe_issue(r, t);
        r->issue_ps[r->n_issued++] = r->host_ps;
        __builtin_prefetch(t + AHEAD); /* a long program is in no near cache */
    }
}

/* Of the task at a stream's head, at the present pace. */
static int64_t duration_ps(const struct rank *r, int32_t head)
{
    const struct task *t = &r->program->tasks.v[head];
    return run_paced_ps(r->kernel_factors, head,
                        r->n_comm > 0 ? t->shared_ps : t->alone_ps);
}

/* A running kernel goes on at another pace when a collective joins or leaves the
 * GPU. */
void run_change_pace(struct rank *r, int32_t n_comm)
{
    struct stream_state *l = r->streams;
    bool changes = (r->n_comm > 0) != (n_comm > 0) && l->state == PHASE_RUNNING;
    int64_t now = r->island->sim->now_ps;
    if (changes) {
        int64_t whole = duration_ps(r, l->head);
        if (whole > 0)
            l->left -= (double)(now - l->paced_ps) / (double)whole;
        l->left = fmax(l->left, 0);
    }
    r->n_comm = n_comm;
    if (changes && !run_is_over(r->island, now)) {
        int64_t whole = duration_ps(r, l->head);
        l->paced_ps = now;
        sim_at(r->island->sim, &l->event, now + (int64_t)ceil(l->left * (double)whole));
    }
}

void run_change_moving(struct rank *r, int32_t by)
{
    int64_t now = r->island->sim->now_ps;
    if (r->n_moving == 0)
        r->moving_ps = now;
    r->n_moving += by;
    if (r->n_moving == 0)
        r->account.comm_ps += now - r->moving_ps;
}

/* A task of the compute stream has ended. */
static void finish_kernel(struct rank *r, const struct stream_state *l,
                          const struct task *t)
{
    if (!r->run->request->time_alone) {
        run_account_kernel(r, l, t);
        run_account_busy(r, t);
    }
    r->idle_ps = r->account.now_ps = r->island->sim->now_ps;
    run_fusions_heed(r, l->head);
    run_account_stretch(r, l->head);
}

void run_finish(struct rank *r, struct stream_state *l)
{
    int32_t index = l->head;
    int64_t now = r->island->sim->now_ps;
    r->done_ps[index] = now;
    r->island->n_done++;
    if (r->run->request->observer)
        run_observe_task(r, l);
    if (l->stream == STREAM_COMPUTE)
        finish_kernel(r, l, &r->program->tasks.v[index]);
    if (r->awaits == index) {
        r->awaits = -1;
        r->host_ps = r->host_ps > now ? r->host_ps : now;
        run_issue(r);
    }
    run_next_task(l);
    if (r->run->main && r->island->n_done == r->run->n_tasks)
        run_others_ended(r->run);
}

static void start(struct rank *r, struct stream_state *l)
{
    const struct task *t = &r->program->tasks.v[l->head];
    int64_t now = r->island->sim->now_ps;
    if (run_is_over(r->island, now))
        return;
    l->state = PHASE_RUNNING;
    l->begun_ps = l->paced_ps = now;
    l->left = 1;
    if (t->comm >= 0) {
        run_rendezvous(r, l);
        return;
    }
    if (t->fusion >= 0 && !run_fusion_is_done(r->run, t->fusion))
        return;
    if (l->stream == STREAM_COMPUTE)
        run_account_idle(r, t, l->head);
    sim_at(r->island->sim, &l->event, now + duration_ps(r, l->head));
}

static bool waits_for(const struct rank *r, int32_t task)
{
    return task >= 0 && r->done_ps[task] == RUN_NEVER;
}

static void try_stream(struct rank *r, struct stream_state *l)
{
    if (l->state != PHASE_BLOCKED || l->head >= r->n_issued)
        return;
    const struct task *t = &r->program->tasks.v[l->head];
    if (waits_for(r, t->after[0]) || waits_for(r, t->after[1]))
        return;
    if (r->issue_ps[l->head] > r->island->sim->now_ps) {
        l->state = PHASE_WAITING;
        sim_at(r->island->sim, &l->event, r->issue_ps[l->head]);
    } else {
        start(r, l);
    }
}

void run_try_streams(struct rank *r)
{
    for (int32_t i = 0; i < r->n_streams; i++)
        try_stream(r, &r->streams[i]);
}

static void fire_stream(struct sim *sim, struct sim_event *ev)
{
    struct stream_state *l = SIM_OWNER(ev, struct stream_state, event);
    (void)sim;
    if (l->state == PHASE_WAITING) {
        start(l->rank, l);
        return;
    }
    run_finish(l->rank, l);
    run_try_streams(l->rank);
}

static const struct sim_event_type stream_event = { "stream", fire_stream };

/* In a folded run the programs' plans are all that run, but for fusions'. */
static void announce_plans(struct run *run)
{
    VEC(const struct coll_plan *) plans = { NULL, 0, 0 };
    const struct program *const *programs = run->request->programs;
    if (!net_is_folded(run->request->plans.net) || run->fusion_states.n)
        return;
    for (int64_t i = 0; i < run->n_ranks; i++)
        for (int64_t k = 0; k < programs[i]->comms.n; k++)
            VEC_PUSH(&plans, programs[i]->comms.v[k].plan);
    run_world_announce(&run->world, plans.v, plans.n, run->n_tasks);
    if (run->request->time_alone || run->request->links_unread)
        run_world_drop_slack(&run->world, plans.v, plans.n);
    VEC_RELEASE(&plans);
}

void run_close(struct run *run)
{
    run_ranks_release(run);
    run_comms_release(run);
    run_fusions_release(run);
    for (int i = 0; i <= RUN_STRETCHES; i++) {
        free(run->links_busy[i].from_s);
        free(run->links_busy[i].to_s);
    }
    VEC_RELEASE(&run->memo.known);
    run_world_release(&run->world); /* before the islands', whose flows it may hold */
    run_islands_release(run);
    arena_release(&run->arena);
}

static void count_tasks(const void *of, int64_t *done, int64_t *total)
{
    const struct run *run = of;
    *done = run_n_done(run);
    *total = run->n_tasks;
}

/* Whether a stretch repeats. */
static bool has_stretch(const struct run *run, int which)
{
    for (int64_t i = 0; i < run->n_ranks; i++)
        if (run_stretch(run->request->programs[i], which)->from >= 0)
            return true;
    return false;
}

static void allocate_links_busy(struct run *run)
{
    size_t n = (size_t)net_n_links(run->request->plans.net) + 1;
    for (int i = 0; i <= RUN_STRETCHES && !run->request->links_unread; i++) {
        bool own = i == RUN_STRETCHES;
        if (!has_stretch(run, own ? 1 : i) ||
            (own && !net_is_folded(run->request->plans.net)))
            continue;
        run->links_busy[i].from_s = xcalloc(n, sizeof(double));
        run->links_busy[i].to_s = xcalloc(n, sizeof(double));
    }
}

void run_open(struct run *run, bool alone)
{
    arena_init(&run->arena);
    run->n_ranks = run->request->n_ranks;
    run_ranks_init(run);
    run_fusions_init(run);
    run_comms_init(run);
    run_islands_find(run, alone);
    if (run->n_islands == 1)
        run_ranks_make(&run->islands[0], &stream_event);
    allocate_links_busy(run);
}

void run_rewind(struct run *run)
{
    run->islands[0].n_done = 0;
    run_fusions_release(run);
    run_fusions_init(run);
    run_comms_reset(run);
    for (int64_t i = 0; i < run->n_ranks; i++)
        run_rank_rewind(&run->ranks[i]);
}

void run_begin(struct island *island)
{
    const int64_t now = island->sim->now_ps;
    for (int64_t i = 0; i < island->n_ranks; i++) {
        struct rank *r = island->ranks[i];
        r->host_ps = r->idle_ps = r->account.now_ps = now;
        run_issue(r);
    }
    for (int64_t i = 0; i < island->n_ranks; i++)
        run_try_streams(island->ranks[i]);
}

/* While islands are apart: *done of all so far. */
static void notify(struct run *run, struct island *island, int64_t *done)
{
    const struct watch *watch = &run->request->watch;
    if (!watch->notify || run->n_islands == 1)
        return;
#pragma omp critical(islands)
    {
        *done += island->n_done - island->n_noted;
        island->n_noted = island->n_done;
        if (*done < run->n_tasks)
            watch->notify(watch->arg, *done, run->n_tasks);
    }
}

static void go_apart(struct island *island, int64_t *done)
{
    enum { EVENTS = 64 }; /* as watch_run has it */
    const int64_t most = island->run->request->watch.notify ? EVENTS : INT64_MAX;
    if (run_is_apart(island)) {
        run_islands_part(island);
        run_ranks_make(island, &stream_event);
    }
    run_begin(island);
    for (bool more = true; more;) {
        more = run_islands_go(island, most);
        notify(island->run, island, done);
    }
}

/* Until all islands have met. Plans for when they have are as much work as a few of
 * them. */
static void begin_all(struct run *run)
{
    int64_t done = 0;
    if (run->n_islands == 1) {
        go_apart(&run->islands[0], &done);
        return;
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t i = -1; i < run->n_islands; i++) {
        if (i >= 0)
            go_apart(&run->islands[i], &done);
        else
            run_plans_ahead(run, run_islands_arena(run));
    }
    run_islands_meet(run);
}

int run_programs(const struct run_request *request, struct run_result *r,
                 struct err *err)
{
    struct sim sim;
    struct others *others = NULL;
    struct run run = { .request = request, .sim = &sim, .err = err };
    sim_init(&sim, &run);
    if (request->n_others > 0)
        others = run_others_open(&run);
    else
        run_world_init(&run.world, &sim, request->plans.net, request->network);
    run_open(&run, !others);
    if (!others)
        announce_plans(&run);
    if (request->observer)
        run_observe_begin(&run);
    if (!others)
        begin_all(&run);
    watch_run(&sim, &request->watch, count_tasks, &run);
    int rc = run_read_result(&run, r);
    if (request->observer)
        run_observe_end(&run);
    run_close(&run);
    if (others)
        run_others_close(others);
    sim_release(&sim);
    return rc;
}
