#include "run/run_state.h"

/* Communicators -------------------------------------------------------------------- */

static struct communicator *new_communicator(struct rank *r, int64_t first,
                                             uint32_t streams)
{
    const int32_t n = __builtin_popcount(streams);
    struct communicator *c = arena_alloc(
        &r->run->arena, 1, sizeof(*c) + (size_t)n * 2 * sizeof(struct rendezvous));
    c->first = first;
    c->founder = r - r->run->ranks;
    for (int s = 0; s < STREAM_N; s++)
        if (streams >> s & 1)
            c->queue_of[s] = (uint8_t)c->n_queues++;
    VEC_PUSH(&r->run->communicators, c);
    return c;
}

/* That of the rank's group; a new one where it has none. Of messages each rank is a
 * group. */
static struct communicator *communicator_of(struct rank *r, enum channel channel,
                                            uint32_t streams)
{
    struct run *run = r->run;
    if (channel == CHANNEL_NEXT || channel == CHANNEL_BACK)
        return new_communicator(r, r->number, streams);
    int64_t first = groups_of(run->request->plans.groups, channel, r->number).first;
    uint64_t key = (uint64_t)first * CHANNEL_N + (uint64_t)channel;
    struct communicator *c;
    HASH_FIND(hh, run->by_key, &key, sizeof(key), c);
    if (c)
        return c;
    c = new_communicator(r, first, streams);
    c->key = key;
    HASH_ADD(hh, run->by_key, key, sizeof(c->key), c);
    return c;
}

static void take_part(struct rank *r, enum channel channel, uint32_t streams)
{
    r->comms[channel] = communicator_of(r, channel, streams);
    r->comms[channel]->n_members++;
}

/* Ranks of one pipeline share a mailbox: that of its first stage's rank. */
static void take_mailbox(struct rank *r, struct mailbox **of_first)
{
    const struct layout *l = &r->run->request->plans.groups->layout;
    const int64_t stage = layout_index(l, r->number).p;
    const int64_t first = r->number - stage * l->stride_p;
    struct mailbox *b = of_first[first];
    if (!b) {
        b = of_first[first] = ARENA_NEW(&r->run->arena, struct mailbox);
        b->n_messages = r->program->n_messages;
        b->ranks = ARENA_ARRAY(&r->run->arena, l->pipeline, struct rank *);
        b->founder = r - r->run->ranks;
        VEC_PUSH(&r->run->mailboxes, b);
    }
    b->ranks[stage] = r;
    r->mailbox = b;
}

static const struct program *program_of(const struct mailbox *b, int64_t stage)
{
    return b->ranks[stage] ? b->ranks[stage]->program : NULL;
}

static bool same_programs(const struct mailbox *a, const struct mailbox *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (program_of(a, i) != program_of(b, i))
            return false;
    return true;
}

/* Who sends each message, by which task, and who receives it. */
static const struct message *list_messages(struct run *run, const struct mailbox *b,
                                           int64_t n_stages)
{
    struct message *all = ARENA_ARRAY(&run->arena, b->n_messages, struct message);
    for (int32_t i = 0; i < b->n_messages; i++)
        all[i] = (struct message) { -1, -1, -1 };
    for (int32_t stage = 0; stage < n_stages; stage++) {
        const struct program *p = program_of(b, stage);
        for (int32_t k = 0; p && k < p->tasks.n; k++) {
            const struct task *t = &p->tasks.v[k];
            if (t->sends >= 0) {
                all[t->sends].task = k;
                all[t->sends].from = stage;
            }
            if (t->receives >= 0)
                all[t->receives].to = stage;
        }
    }
    return all;
}

/* Pipelines of the same programs have their messages in common. */
static void find_messages(struct run *run)
{
    const int64_t n = run->request->plans.groups->layout.pipeline;
    for (int64_t i = 0; i < run->mailboxes.n; i++) {
        struct mailbox *b = run->mailboxes.v[i];
        const struct mailbox *before = i > 0 ? run->mailboxes.v[i - 1] : NULL;
        b->messages = before && same_programs(before, b, n) ? before->messages
                                                            : list_messages(run, b, n);
    }
}

void run_comms_init(struct run *run)
{
    int64_t world = run->request->plans.groups->cluster->n_gpus;
    struct mailbox **mailboxes = NULL;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        struct rank *r = &run->ranks[i];
        for (int64_t k = 0; k < r->program->comms.n; k++)
            if (!r->comms[r->program->comms.v[k].channel])
                take_part(r, r->program->comms.v[k].channel,
                          run->channel_streams[r->program->comms.v[k].channel]);
        if (r->program->n_messages > 0 && !mailboxes)
            mailboxes = xcalloc((size_t)world, sizeof(struct mailbox *));
        if (r->program->n_messages > 0)
            take_mailbox(r, mailboxes);
    }
    find_messages(run);
    free(mailboxes);
}

void run_comms_reset(struct run *run)
{
    for (int64_t i = 0; i < run->communicators.n; i++) {
        struct communicator *c = run->communicators.v[i];
        c->n_started = 0;
        for (int32_t q = 0; q < c->n_queues; q++)
            c->queues[q][0].streams.n = c->queues[q][1].streams.n = 0;
    }
}

void run_comms_release(struct run *run)
{
    HASH_CLEAR(hh, run->by_key);
    for (int64_t i = 0; i < run->communicators.n; i++) {
        struct communicator *c = run->communicators.v[i];
        for (int32_t q = 0; q < c->n_queues; q++) {
            VEC_RELEASE(&c->queues[q][0].streams);
            VEC_RELEASE(&c->queues[q][1].streams);
        }
        VEC_RELEASE(&c->plans);
        VEC_RELEASE(&c->shared);
    }
    VEC_RELEASE(&run->communicators);
    VEC_RELEASE(&run->mailboxes);
}

/* Messages ------------------------------------------------------------------------- */

/* At the end of the task that sends it. */
static void deliver(struct rank *r, const struct task *t)
{
    const struct message *m = run_message(r, t->sends);
    struct rank *to = m->to < 0 ? NULL : r->mailbox->ranks[m->to];
    r->done_ps[m->task] = r->island->sim->now_ps;
    if (!to || to->awaits_message != t->sends)
        return;
    to->awaits_message = -1;
    run_issue(to);
    run_try_streams(to);
}

/* Meetings ------------------------------------------------------------------------- */

/* Whether a stream's collectives are of gradients and parameters, whose time is counted
 * apart as exposed and hidden. */
static bool is_data(enum stream s)
{
    return s == STREAM_COMM || s == STREAM_SHARD || s >= STREAM_TO_HOST;
}

/* Whether they may run during kernels, which they slow when they take SMs. Messages
 * between stages and those of context and expert groups take none that count. */
static bool runs_concurrently(enum stream s)
{
    return is_data(s) || s == STREAM_TENSOR;
}

/* The streams go on when all of them have ended the task, so that none sees a half. */
static void end_rendezvous(struct sim *sim, void *arg)
{
    struct rendezvous *m = arg;
    (void)sim;
    for (int64_t i = 0; i < m->streams.n; i++) {
        struct stream_state *l = m->streams.v[i];
        struct rank *r = l->rank;
        const struct task *t = &r->program->tasks.v[l->head];
        if (i == 0 && r->run->request->observer)
            run_observe_links(r);
        if (is_data(l->stream))
            run_change_moving(r, -1);
        if (runs_concurrently(l->stream) && m->takes_sms)
            run_change_pace(r, r->n_comm - 1);
        if (t->sends >= 0)
            deliver(r, t);
        run_finish(r, l);
    }
    int64_t n = m->streams.n;
    if (n == 1) { /* its place is free for the next before that begins */
        struct rank *r = m->streams.v[0]->rank;
        m->streams.n = 0;
        run_try_streams(r);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        run_try_streams(m->streams.v[i]->rank);
    m->streams.n = 0; /* for the next but one, which cannot have begun */
}

static struct rendezvous *rendezvous_of(struct rank *r, enum channel channel,
                                        enum stream s)
{
    struct communicator *c = r->comms[channel];
    int odd = r->is_odd[channel] >> s & 1;
    if (c->n_members > 1)
        r->is_odd[channel] ^= UINT32_C(1) << s;
    return &c->queues[c->queue_of[s]][odd];
}

void run_rendezvous(struct rank *r, struct stream_state *l)
{
    struct island *island = r->island;
    const struct comm *comm = &r->program->comms.v[r->program->tasks.v[l->head].comm];
    struct communicator *c = r->comms[comm->channel];
    if (c->spans && run_is_apart(island)) {
        run_islands_hold(r, l);
        return;
    }
    struct rendezvous *m = rendezvous_of(r, comm->channel, l->stream);
    m->takes_sms = comm->plan->sm_frac > 0;
    if (runs_concurrently(l->stream) && m->takes_sms) {
        r->slowed_by = r->program->tasks.v[l->head].part;
        run_change_pace(r, r->n_comm + 1);
    }
    VEC_PUSH(&m->streams, l);
    run_account_coming(r, l);
    if (m->streams.n < c->n_members)
        return;
    int32_t shift;
    const struct coll_plan *plan = run_plan_for(r, comm, &shift);
    for (int64_t i = 0; i < m->streams.n; i++) {
        m->streams.v[i]->met_ps = island->sim->now_ps;
        run_account_rendezvous(m->streams.v[i]->rank, m->streams.v[i], r);
        if (is_data(l->stream))
            run_change_moving(m->streams.v[i]->rank, 1);
    }
    if (!plan) {
        island->failed = true;
        return;
    }
    island->wire_B += plan->wire_B;
    if (r->run->request->observer)
        run_observe_links(r);
    run_collective(island, plan, shift, comm->channel, c->first, c->n_started++,
                   end_rendezvous, m);
}

void run_collective(struct island *island, const struct coll_plan *plan, int32_t shift,
                    enum channel channel, int64_t first, int32_t nth,
                    flow_done_fn *done, void *arg)
{
    const struct run_factors *f = island->run->request->factors;
    double factor = 1;
    if (f && f->collective)
        factor = f->collective(f->arg, plan, channel, first, nth);
    run_coll_start_paced(island->world, plan, shift, factor, done, arg);
}
