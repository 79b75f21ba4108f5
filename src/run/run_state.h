/* The state of a run. Private to run*.c:
 *
 *   run.c         hosts and streams
 *   run_ranks.c   ranks
 *   run_comm.c    communicators, the rendezvous of their ranks, messages
 *   run_plans.c   which plan a collective runs
 *   run_fusion.c  fusions of gradients
 *   run_account.c what kernels are counted as
 *   run_wait.c    what waits are counted as
 *   run_observe.c what observers get
 *   run_others.c  other jobs on the same fabric
 *   run_islands.c ranks that run apart from others until all meet
 *   run_steady.c  whether ranks have come to their period
 *   run_phases.c  ... where forwards and backwards have periods of their own
 *   run_result.c  accounts of ranks, and what is read from them
 */
#ifndef RUN_RUN_STATE_H
#define RUN_RUN_STATE_H

#include "base/hash.h"
#include "engine/flow.h"
#include "engine/sim.h"
#include "run/run.h"

#include <math.h>

#define RUN_NEVER INT64_MAX

enum stream_phase { PHASE_BLOCKED, PHASE_WAITING, PHASE_RUNNING, PHASE_ENDED };

/* A stream's last collective with other stages. */
struct wait_state {
    int64_t after_ps;           /* the one before on the stream had ended; ... */
    enum category after;        /* ... its part */
    int64_t came_ps, met_ps;    /* this rank had come, and all */
    const struct rank *awaited; /* the last that came */
};

/* One stream of one rank: executes its tasks in program order. */
struct stream_state {
    struct sim_event event; /* start of a task that waits for its issue, or its end */
    struct rank *rank;
    enum stream stream;
    enum stream_phase state;
    int32_t head;     /* task at hand */
    int64_t begun_ps; /* when it started */
    int64_t met_ps;   /* when the last collective began: all its ranks had come */
    int64_t paced_ps; /* since when it has run at the present pace */
    double left;      /* share of it that was left then */
    struct wait_state wait_state;
};

/* Stretches of a program that repeat (run_stretch): backwards or all, forwards. */
enum { RUN_STRETCHES = 2 };

/* Accounts of a rank; snapshots of them delimit the repeated stretch. */
struct account {
    int64_t now_ps;
    int64_t parts_ps[CATEGORY_N];
    int64_t gpu_busy_ps, comm_ps;
    int64_t links_busy_ps[LINKS_N]; /* in measured passes, which the net does not see */
    int64_t awaited_ps; /* of exposed communication, that of ranks waited for */
};

/* What a rank was busy with until then, as ranks of other stages see it. */
struct busy_interval {
    int64_t until_ps;
    enum category seen;
};

struct rank {
    struct run *run;
    struct island *island;
    const struct program *program;
    const int32_t *next; /* [tasks] the next task of the same stream; tasks.n: none */
    const double *kernel_factors, *host_factors; /* [tasks] NULL: 1 */
    int64_t number;                              /* of the job */
    int64_t place;                               /* among its island's ranks */
    int64_t host_ps;                             /* when the host is free again */
    int64_t host_busy_ps;
    int32_t n_issued;
    int32_t awaits;               /* task whose end the host waits for; -1: none */
    int32_t awaits_message;       /* ... and the message; -1: none */
    int64_t *issue_ps;            /* [tasks] when the host had issued each */
    int64_t *done_ps;             /* [tasks] RUN_NEVER until it has ended */
    struct stream_state *streams; /* [n_streams] on which the program has tasks, in the
                                     order of enum stream; computing is the first */
    int32_t n_streams;
    uint8_t stream_at[STREAM_N]; /* places in `streams` of those */
    int32_t n_comm; /* collectives that take part of its GPU at the moment */
    enum category
        slowed_by;     /* part of the collective that came last: a kernel's delay */
    int32_t n_moving;  /* collectives of gradients and parameters that run ... */
    int64_t moving_ps; /* ... and since when there are any */
    int64_t idle_ps;   /* since when the compute stream has been idle */
    struct account account;
    struct { /* when a period begins and ends, of each stretch that repeats */
        struct account from, to;
    } stretches[RUN_STRETCHES];
    VEC(struct busy_interval)
    intervals; /* without gaps, in the island's arena; none where there are no stages */
    struct communicator *comms[CHANNEL_N];
    uint32_t is_odd[CHANNEL_N]; /* a bit for each stream: the number of collectives
                                   joined so far */
    struct mailbox *mailbox;
};

/* Ranks that meet no others until one of them comes to a collective of several islands.
 * Until then an island has a clock, a fluid network and a thread of its own; after that
 * all have those of the run (run_islands.c). Most runs are one island. */
struct island {
    struct run *run;
    struct sim *sim, own_sim;
    struct coll_world *world, own_world;
    struct arena *plans_arena; /* of its plans, ... */
    struct arena *arena;       /* ... of all else: that of a thread, while apart */
    struct plans_memo memo;    /* of those that are made apart */
    struct err *err, own_err;
    struct rank **ranks; /* [n_ranks], in their order */
    int64_t n_ranks;
    int64_t n_done;  /* tasks, ... */
    int64_t n_noted; /* ... of which the watch knows */
    double wire_B;
    bool failed;
    bool waits; /* a rank has come to a collective of several islands: those, ... */
    VEC(struct stream_state *) held; /* ... now */
    const int32_t *links;            /* of its instances; NULL: all of the net */
    int32_t n_links;
    /* Its ranks lie on the instances as those of the first island do, with links so many
     * numbers on: plans are shared. */
    bool is_alike;
    int32_t shift;
};

/* A collective that its ranks come to; it starts when the last has come. */
struct rendezvous {
    VEC(struct stream_state *) streams; /* that have come */
    bool takes_sms;                     /* of the ranks' GPUs, while it runs */
};

/* A fusion at work. */
struct fusion_state {
    struct run *run;
    struct fusion_coordinator *coordinator;
    int32_t task;
    const struct coll_plan *plan; /* under way */
    int32_t n_sent;
    int64_t begun_ps;
    bool takes_sms;
};

/* A plan, and the comm of a program that it was made for. */
struct plan_made {
    const struct comm *of;
    const struct coll_plan *plan;
};

/* The simulated ranks of one group. Their collectives come one after the other on each
 * stream (gathers of sharded parameters overlap with scatters of gradients). */
struct communicator {
    uint64_t key; /* channel and first rank */
    int64_t first;
    int64_t founder; /* index of the first that is simulated */
    bool spans;      /* several islands */
    int64_t n_members;
    int32_t n_started;           /* collectives */
    VEC(struct plan_made) plans; /* for it, unfolded; ... */
    VEC(struct plan_made)
    shared; /* ... and for those that lie alike, of which it is the first */
    UT_hash_handle hh;
    /* Of each queue the collective that ends, and the next, to which ranks may come
     * before all have left that: by sequence number, even and odd. */
    uint8_t queue_of[STREAM_N]; /* by stream: places in `queues` */
    int32_t n_queues;
    struct rendezvous queues[][2];
};

/* A message: its sender's task, whose end delivers it, and stages; -1: none. */
struct message {
    int32_t task;
    int32_t from, to;
};

/* The messages of one pipeline. */
struct mailbox {
    const struct message *messages; /* those of the mailbox before, where it is alike */
    int32_t n_messages;
    int64_t founder;     /* index of the first rank that is simulated */
    struct rank **ranks; /* [stages] NULL: is not simulated */
};

/* For each task of a program the next of its stream (struct rank). */
struct task_links {
    const struct program *of;
    int32_t *next;
};

struct run {
    const struct run_request *request;
    struct sim *sim;
    struct coll_world world;
    int64_t n_ranks;
    struct rank *ranks;
    int32_t n_islands;
    struct island *islands;
    struct rank **by_island;  /* [n_ranks] the islands' */
    int32_t *links_by_island; /* [links] likewise; NULL: there is one */
    int64_t n_tasks;          /* of all ranks */
    VEC(struct task_links) task_links;
    uint32_t
        channel_streams[CHANNEL_N]; /* on which it has collectives: a bit for each */
    struct arena arena;             /* of ranks and communicators, ... */
    struct arena *arenas;           /* [n_arenas] ... and of islands: each thread's */
    int32_t n_arenas;
    struct communicator *by_key; /* those of groups */
    VEC(struct communicator *) communicators;
    VEC(struct mailbox *) mailboxes;
    VEC(struct fusion_state *)
    fusion_states; /* of the programs, which have them alike */
    struct plans_memo memo;
    bool stages_alike; /* so do those of all stages that several islands have */
    struct err *err;
    struct
    { /* [links] busy when a period of its island's first rank begins, ends; ... */
        double *from_s, *to_s;
    } links_busy[RUN_STRETCHES +
                 1];         /* ... the last: of forwards, of the rank that sends
                                        over the link. NULL: none */
    struct run_links *links; /* for observers of their use; NULL: there are none */
    struct sim_event start;  /* of a step, where there are several jobs */
    const struct run *main;  /* of another job's: that of the step of interest */
};

/* run.c: makes the ranks of a request, whose sim and world are there, alone or one of
 * several jobs; begins a step, now; makes ready for another; frees all but the sim. */
void run_open(struct run *run, bool alone);
void run_begin(struct island *island);
void run_rewind(struct run *run);
void run_close(struct run *run);
void run_issue(struct rank *r);
void run_try_streams(struct rank *r);
void run_finish(struct rank *r, struct stream_state *l);
void run_change_pace(struct rank *r, int32_t n_comm);
void run_change_moving(struct rank *r,
                       int32_t by); /* a collective begins (1), ends (-1) */

/* run_ranks.c: the ranks, and what they have in their island's arena: streams, with an
 * event of that type, and times. To the first task of each stream. */
void run_ranks_init(struct run *run);
void run_ranks_make(struct island *island, const struct sim_event_type *event);
void run_rank_rewind(struct rank *r);
void run_ranks_release(struct run *run);

static inline void run_next_task(struct stream_state *l)
{
    const struct program *p = l->rank->program;
    l->head = l->rank->next[l->head];
    l->state = l->head < p->tasks.n ? PHASE_BLOCKED : PHASE_ENDED;
}

/* Whether t_ps lies after the end of the clock; the island has failed then. */
bool run_is_over(struct island *island, int64_t t_ps);

/* A duration at the pace of a task: factors[task], 1 where there are none. */
static inline int64_t run_paced_ps(const double *factors, int32_t task, int64_t ps)
{
    return factors ? run_times_ps(factors[task], ps) : ps;
}

/* A stream that the rank's program has tasks on. */
static inline struct stream_state *run_stream(struct rank *r, enum stream s)
{
    return &r->streams[r->stream_at[s]];
}

/* run_plans.c: what a rank's group runs, on links whose numbers are `shift` more; NULL
 * after an error. And what communicators of several islands are going to ask for, by
 * another thread meanwhile. */
const struct coll_plan *run_plan_for(struct rank *r, const struct comm *comm,
                                     int32_t *shift);
void run_plans_ahead(struct run *run, struct arena *arena);

/* Starts the plan of the nth collective of a group at its pace. */
void run_collective(struct island *island, const struct coll_plan *plan, int32_t shift,
                    enum channel channel, int64_t first, int32_t nth,
                    flow_done_fn *done, void *arg);

/* run_islands.c: finds the islands, whose communicators are there, of a run alone or one
 * of several jobs. Each goes, once begun, until it is over or waits, or n events have
 * fired (then true); then all meet, if none has failed. */
void run_islands_find(struct run *run, bool alone);

/* By a thread: its arena, while there are several islands; what one of them has of the
 * world becomes its own, before its ranks are made. */
struct arena *run_islands_arena(struct run *run);
void run_islands_part(struct island *island);
bool run_islands_go(struct island *island, int64_t n);
void run_islands_meet(struct run *run);
void run_islands_release(struct run *run);

/* A stream comes to a collective of several islands: it comes again when they meet. */
void run_islands_hold(struct rank *r, struct stream_state *l);

/* How long each of the island's links has worked, into busy_s[links]. */
void run_islands_links_busy(struct island *island, double *busy_s);

/* Of all islands. */
int64_t run_n_done(const struct run *run);
bool run_has_failed(const struct run *run);

static inline bool run_is_apart(const struct island *island)
{
    return island->sim != island->run->sim;
}

/* run_steady.c: run_result.steady, of a run that has ended. */
bool run_is_steady(const struct run *run);
bool run_is_period(const struct repeat *rep);

/* Whether the rank's tasks up to the period's end that ended after a moment, and its
 * last period, followed their likes by period_ps. */
bool run_recurs(const struct rank *r, const struct repeat *rep, int64_t period_ps,
                int64_t since_ps);

/* Whether nothing from a task up to the last period's end but messages concerns more
 * than the rank itself. */
bool run_is_alone(const struct rank *r, int32_t from);

/* run_phases.c: the same where all forwards run before the first backward. How much
 * longer a rank waits for others for each period left out; whether stages send forwards
 * at unlike paces, over links of their own. */
bool run_phases_recur(const struct run *run);
int64_t run_waits_longer_ps(const struct rank *r);
bool run_paces_differ(const struct run *run);

static inline const struct repeat *run_stretch(const struct program *p, int which)
{
    return which == 0 ? &p->repeat : &p->forwards;
}

/* run_comm.c: what ranks take part in; a stream comes to the collective of its task. */
void run_comms_init(struct run *run);
void run_comms_release(struct run *run);
void run_rendezvous(struct rank *r, struct stream_state *l);
static inline const struct message *run_message(const struct rank *r, int32_t number)
{
    return &r->mailbox->messages[number];
}

/* When it had come; RUN_NEVER: not yet. */
static inline int64_t run_message_arrived_ps(const struct rank *r,
                                             const struct message *m)
{
    return m->from < 0 ? RUN_NEVER : r->mailbox->ranks[m->from]->done_ps[m->task];
}

/* ... and forgets what came, for another step. */
void run_comms_reset(struct run *run);

/* run_others.c: the jobs of a request together, in a fluid network that they share. A
 * run of another job has ended a step. */
struct others;
struct others *run_others_open(struct run *main);
void run_others_ended(struct run *run);
void run_others_close(struct others *o);

/* run_fusion.c */
void run_fusions_init(struct run *run);
void run_fusions_release(struct run *run);
void run_fusions_heed(struct rank *r, int32_t ended); /* a task of the compute stream */
bool run_fusion_is_done(const struct run *run, int32_t fusion);

/* run_observe.c: all are for runs with an observer. */
void run_observe_begin(struct run *run);
void run_observe_end(struct run *run);
void run_observe_task(struct rank *r, const struct stream_state *l);
void run_observe_issue(struct rank *r, const struct task *t);
void run_observe_buffer(struct rank *r, const struct fusion_state *f);
void run_observe_links(struct rank *r); /* a collective begins or ends */

/* run_account.c: a kernel has ended: its own time goes to its part, what a collective
 * slows it by to that; a task has ended that may delimit what repeats. */
void run_account_kernel(struct rank *r, const struct stream_state *l,
                        const struct task *t);
void run_account_stretch(struct rank *r, int32_t ended);

/* run_wait.c: a rank comes to a collective, to which another was the last to come; a
 * kernel has ended; one begins after idle time. */
void run_account_coming(struct rank *r, struct stream_state *l);
void run_account_rendezvous(struct rank *r, struct stream_state *l,
                            const struct rank *last);
void run_account_busy(struct rank *r, const struct task *t);
void run_account_idle(struct rank *r, const struct task *t, int32_t index);

/* run_result.c */
int run_read_result(struct run *run, struct run_result *out);

#endif
