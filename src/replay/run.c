#include "replay/run.h"

#include "base/units.h"
#include "engine/flow.h"
#include "engine/sim.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const int64_t NEVER = INT64_MAX;

enum lane_state { LANE_BLOCKED, LANE_WAITING, LANE_RUNNING, LANE_ENDED };

/* One stream of one rank: executes its tasks in program order. */
struct lane {
    struct sim_event event; /* start of a task that waits for its issue, or its end */
    struct rank *rank;
    enum stream stream;
    enum lane_state state;
    int32_t head;     /* task at hand */
    int64_t begun_ps; /* when it started */
    int64_t paced_ps; /* since when it has run at the present pace */
    double left;      /* share of it that was left then */
};

/* Accounts of a rank; snapshots of them delimit the repeated stretch. */
struct account {
    int64_t now_ps;
    int64_t parts_ps[PART_N];
    int64_t gpu_busy_ps, comm_ps;
};

struct rank {
    struct run *run;
    const struct program *program;
    int64_t host_ps; /* when the host is free again */
    int64_t host_busy_ps;
    int32_t n_issued;
    int64_t *issue_ps; /* [tasks] when the host had issued each */
    int64_t *done_ps;  /* [tasks] NEVER until it has ended */
    struct lane lanes[STREAM_N];
    int32_t n_comm;    /* collectives that take part of its GPU at the moment */
    int32_t n_moving;  /* collectives that run at the moment ... */
    int64_t moving_ps; /* ... and since when there are any */
    int64_t idle_ps;   /* since when the compute stream has been idle */
    struct account account, from, to;
};

/* A collective that all ranks come to; it starts when the last has come. */
struct meeting {
    struct run *run;
    enum stream stream;
    bool takes_sms;
    int64_t n_come;
};

/* A fusion at work. */
struct fusing {
    struct run *run;
    struct fuser *fuser;
    int32_t task;
    bool takes_sms; /* the plan under way */
};

struct run {
    struct sim sim;
    struct coll_world world;
    int64_t n_ranks;
    struct rank *ranks;
    VEC(struct meeting *) meetings; /* by task */
    VEC(struct fusing *) fusings;   /* of the programs, which have them alike */
};

static void try_lanes(struct rank *r);

/* The host issues tasks one after the other until one of them makes it wait. */
static void issue(struct rank *r)
{
    const struct program *p = r->program;
    while (r->n_issued < p->tasks.n) {
        const struct task *t = &p->tasks.v[r->n_issued];
        r->host_ps += t->host_ps;
        r->host_busy_ps += t->host_ps;
        r->issue_ps[r->n_issued++] = r->host_ps;
        if (t->sync)
            return;
    }
}

static void next_task(struct lane *l)
{
    const struct program *p = l->rank->program;
    do {
        l->head++;
    } while (l->head < p->tasks.n && p->tasks.v[l->head].stream != l->stream);
    l->state = l->head < p->tasks.n ? LANE_BLOCKED : LANE_ENDED;
}

static int64_t duration_ps(const struct rank *r, const struct task *t)
{
    return r->n_comm > 0 ? t->shared_ps : t->alone_ps;
}

/* A running kernel goes on at another pace when a collective joins or leaves the GPU. */
static void change_pace(struct rank *r, int32_t n_comm)
{
    struct lane *l = &r->lanes[STREAM_COMPUTE];
    bool changes = (r->n_comm > 0) != (n_comm > 0) && l->state == LANE_RUNNING;
    int64_t now = r->run->sim.now_ps;
    if (changes) {
        int64_t whole = duration_ps(r, &r->program->tasks.v[l->head]);
        if (whole > 0)
            l->left -= (double)(now - l->paced_ps) / (double)whole;
        l->left = fmax(l->left, 0);
    }
    r->n_comm = n_comm;
    if (changes) {
        int64_t whole = duration_ps(r, &r->program->tasks.v[l->head]);
        l->paced_ps = now;
        sim_at(&r->run->sim, &l->event, now + (int64_t)ceil(l->left * (double)whole));
    }
}

/* Idle time of the compute stream goes to what the task at hand was late for. */
static void account_idle(struct rank *r, const struct task *t, int32_t index)
{
    int64_t gap = r->run->sim.now_ps - r->idle_ps;
    enum part part = PART_OTHER;
    if (t->after >= 0 && r->done_ps[t->after] > r->issue_ps[index])
        part = r->program->tasks.v[t->after].part;
    r->account.parts_ps[part] += gap;
}

static void finish(struct rank *r, struct lane *l)
{
    const struct task *t = &r->program->tasks.v[l->head];
    int64_t now = r->run->sim.now_ps;
    r->done_ps[l->head] = now;
    if (l->stream == STREAM_COMPUTE) {
        int64_t took = now - l->begun_ps;
        r->account.parts_ps[t->part] += t->alone_ps;
        r->account.parts_ps[PART_DATA_COMM_EXPOSED] += took - t->alone_ps;
        r->account.gpu_busy_ps += took;
        r->idle_ps = now;
        r->account.now_ps = now;
        for (int64_t i = 0; i < r->run->fusings.n; i++)
            fuser_task_ended(r->run->fusings.v[i]->fuser, r - r->run->ranks, l->head);
        if (l->head == r->program->repeat.from)
            r->from = r->account;
        if (l->head == r->program->repeat.to)
            r->to = r->account;
    }
    if (t->sync) {
        r->host_ps = r->host_ps > now ? r->host_ps : now;
        issue(r);
    }
    next_task(l);
}

/* A collective moves bytes from now on (by 1), or no more (by -1). */
static void change_moving(struct rank *r, int32_t by, bool takes_sms)
{
    int64_t now = r->run->sim.now_ps;
    if (r->n_moving == 0)
        r->moving_ps = now;
    r->n_moving += by;
    if (r->n_moving == 0)
        r->account.comm_ps += now - r->moving_ps;
    if (by < 0 && takes_sms)
        change_pace(r, r->n_comm - 1);
}

static void collective_done(struct sim *sim, void *arg)
{
    struct meeting *m = arg;
    struct run *run = m->run;
    (void)sim;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        struct rank *r = &run->ranks[i];
        change_moving(r, -1, m->takes_sms);
        finish(r, &r->lanes[m->stream]);
    }
    for (int64_t i = 0; i < run->n_ranks; i++)
        try_lanes(&run->ranks[i]);
}

static struct meeting *meeting_get(struct run *run, int32_t index)
{
    while (run->meetings.n <= index) {
        struct meeting *m = xcalloc(1, sizeof(*m));
        m->run = run;
        VEC_PUSH(&run->meetings, m);
    }
    return run->meetings.v[index];
}

static void join(struct rank *r, struct lane *l)
{
    const struct task *t = &r->program->tasks.v[l->head];
    const struct coll_plan *plan = r->program->comms.v[t->comm];
    struct meeting *m = meeting_get(r->run, l->head);
    m->stream = l->stream;
    m->takes_sms = plan->sm_frac > 0;
    if (m->takes_sms)
        change_pace(r, r->n_comm + 1);
    if (++m->n_come < r->run->n_ranks)
        return;
    for (int64_t i = 0; i < r->run->n_ranks; i++)
        change_moving(&r->run->ranks[i], 1, false);
    coll_run_start(&r->run->world, plan, collective_done, m);
}

/* Fusions */

static void buffer_done(struct sim *sim, void *arg)
{
    struct fusing *f = arg;
    (void)sim;
    for (int64_t i = 0; i < f->run->n_ranks; i++)
        change_moving(&f->run->ranks[i], -1, f->takes_sms);
    fuser_sent(f->fuser);
}

static void send_buffer(void *arg, const struct coll_plan *plan)
{
    struct fusing *f = arg;
    f->takes_sms = plan->sm_frac > 0;
    for (int64_t i = 0; i < f->run->n_ranks; i++) {
        struct rank *r = &f->run->ranks[i];
        change_moving(r, 1, false);
        if (f->takes_sms)
            change_pace(r, r->n_comm + 1);
    }
    coll_run_start(&f->run->world, plan, buffer_done, f);
}

/* Ranks that have come to the task leave it; the others will not wait for it. */
static void fusion_done(void *arg)
{
    struct fusing *f = arg;
    struct run *run = f->run;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        struct lane *l = &run->ranks[i].lanes[STREAM_COMM];
        if (l->head == f->task && l->state == LANE_RUNNING)
            finish(&run->ranks[i], l);
    }
    for (int64_t i = 0; i < run->n_ranks; i++)
        try_lanes(&run->ranks[i]);
}

static void add_fusings(struct run *run, const struct program *p)
{
    for (int64_t i = 0; i < p->fusions.n; i++) {
        struct fusing *f = xcalloc(1, sizeof(*f));
        f->run = run;
        f->task = p->fusions.v[i]->task;
        f->fuser = fuser_new(p->fusions.v[i], &run->sim, run->n_ranks, send_buffer,
                             fusion_done, f);
        VEC_PUSH(&run->fusings, f);
    }
}

static void start(struct rank *r, struct lane *l)
{
    const struct task *t = &r->program->tasks.v[l->head];
    int64_t now = r->run->sim.now_ps;
    l->state = LANE_RUNNING;
    l->begun_ps = l->paced_ps = now;
    l->left = 1;
    if (t->comm >= 0) {
        join(r, l);
        return;
    }
    if (t->fusion >= 0 && !fuser_is_done(r->run->fusings.v[t->fusion]->fuser))
        return;
    if (l->stream == STREAM_COMPUTE)
        account_idle(r, t, l->head);
    sim_at(&r->run->sim, &l->event, now + duration_ps(r, t));
}

static void try_lane(struct rank *r, struct lane *l)
{
    if (l->state != LANE_BLOCKED || l->head >= r->n_issued)
        return;
    const struct task *t = &r->program->tasks.v[l->head];
    if (t->after >= 0 && r->done_ps[t->after] == NEVER)
        return;
    if (r->issue_ps[l->head] > r->run->sim.now_ps) {
        l->state = LANE_WAITING;
        sim_at(&r->run->sim, &l->event, r->issue_ps[l->head]);
    } else {
        start(r, l);
    }
}

static void try_lanes(struct rank *r)
{
    for (int s = 0; s < STREAM_N; s++)
        try_lane(r, &r->lanes[s]);
}

static void fire_lane(struct sim *sim, struct sim_event *ev)
{
    struct lane *l = SIM_OWNER(ev, struct lane, event);
    (void)sim;
    if (l->state == LANE_WAITING) {
        start(l->rank, l);
        return;
    }
    finish(l->rank, l);
    try_lanes(l->rank);
}

static const struct sim_event_type lane_event = { "lane", fire_lane };

static void rank_init(struct rank *r, struct run *run, const struct program *p)
{
    r->run = run;
    r->program = p;
    r->issue_ps = xcalloc((size_t)p->tasks.n, sizeof(int64_t));
    r->done_ps = xcalloc((size_t)p->tasks.n, sizeof(int64_t));
    for (int64_t i = 0; i < p->tasks.n; i++)
        r->done_ps[i] = NEVER;
    for (int s = 0; s < STREAM_N; s++) {
        struct lane *l = &r->lanes[s];
        l->rank = r;
        l->stream = (enum stream)s;
        l->head = -1;
        sim_event_init(&l->event, &lane_event);
        next_task(l);
    }
    issue(r);
}

/* When the rank's last task and its host have ended. The time after its last kernel is
 * the collective's that ended last, or the host's. */
static int64_t close_rank(struct rank *r)
{
    int64_t end = r->idle_ps;
    enum part part = PART_OTHER;
    for (int64_t i = 0; i < r->program->tasks.n; i++) {
        assert(r->done_ps[i] != NEVER);
        if (r->done_ps[i] > end) {
            end = r->done_ps[i];
            part = r->program->tasks.v[i].part;
        }
    }
    if (r->host_ps > end) {
        end = r->host_ps;
        part = PART_OTHER;
    }
    r->account.parts_ps[part] += end - r->idle_ps;
    r->account.now_ps = end;
    return end;
}

/* Adds the periods that were not replayed. */
static void unroll(const struct rank *r, struct account *a)
{
    const struct repeat *rep = &r->program->repeat;
    *a = r->account;
    if (rep->from < 0)
        return;
    a->now_ps += rep->extra * (r->to.now_ps - r->from.now_ps);
    a->gpu_busy_ps += rep->extra * (r->to.gpu_busy_ps - r->from.gpu_busy_ps);
    a->comm_ps += rep->extra * (r->to.comm_ps - r->from.comm_ps);
    for (int i = 0; i < PART_N; i++)
        a->parts_ps[i] += rep->extra * (r->to.parts_ps[i] - r->from.parts_ps[i]);
}

static void read_links(struct run *run, const struct net *net, struct run_result *out)
{
    out->nic_busy_s = out->nvlink_busy_s = 0;
    for (int32_t i = 0; i < net_n_links(net); i++) {
        enum net_kind kind = net_links(net)[i].kind;
        double *busy = kind == NET_NIC      ? &out->nic_busy_s
                       : kind == NET_NVLINK ? &out->nvlink_busy_s
                                            : NULL;
        if (busy)
            *busy = fmax(*busy, coll_world_link_busy_s(&run->world, i));
    }
}

static void read_result(struct run *run, const struct net *net, struct run_result *out)
{
    struct rank *critical = NULL;
    int64_t last = -1;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        int64_t end = close_rank(&run->ranks[i]);
        if (end > last) {
            last = end;
            critical = &run->ranks[i];
        }
    }
    struct account a;
    unroll(critical, &a);
    out->time_s = units_s(a.now_ps);
    for (int i = 0; i < PART_N; i++)
        out->parts_s[i] = units_s(a.parts_ps[i]);
    int64_t hidden = a.comm_ps - a.parts_ps[PART_DATA_COMM_EXPOSED];
    out->parts_s[PART_DATA_COMM_HIDDEN] = hidden > 0 ? units_s(hidden) : 0;
    out->gpu_busy_s = units_s(a.gpu_busy_ps);
    const struct repeat *rep = &critical->program->repeat;
    double repeats = 1;
    if (rep->from >= 0 && critical->account.now_ps > 0)
        repeats = (double)a.now_ps / (double)critical->account.now_ps;
    out->host_busy_s = units_s(critical->host_busy_ps) * repeats;
    out->events = run->sim.n_fired;
    read_links(run, net, out);
}

static void run_release(struct run *run)
{
    for (int64_t i = 0; i < run->n_ranks; i++) {
        free(run->ranks[i].issue_ps);
        free(run->ranks[i].done_ps);
    }
    for (int64_t i = 0; i < run->meetings.n; i++)
        free(run->meetings.v[i]);
    VEC_RELEASE(&run->meetings);
    for (int64_t i = 0; i < run->fusings.n; i++) {
        fuser_free(run->fusings.v[i]->fuser);
        free(run->fusings.v[i]);
    }
    VEC_RELEASE(&run->fusings);
    free(run->ranks);
    coll_world_release(&run->world);
    sim_release(&run->sim);
}

void run_programs(const struct program *const *programs, int64_t n_ranks,
                  const struct net *net, enum fidelity network, struct run_result *r)
{
    struct run run = { .n_ranks = n_ranks };
    sim_init(&run.sim, &run);
    coll_world_init(&run.world, &run.sim, net, network);
    run.ranks = xcalloc((size_t)n_ranks, sizeof(*run.ranks));
    add_fusings(&run, programs[0]);
    for (int64_t i = 0; i < n_ranks; i++)
        rank_init(&run.ranks[i], &run, programs[i]);
    for (int64_t i = 0; i < n_ranks; i++)
        try_lanes(&run.ranks[i]);
    sim_run(&run.sim);
    read_result(&run, net, r);
    run_release(&run);
}
