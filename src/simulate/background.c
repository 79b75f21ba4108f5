#include "simulate/background.h"

#include "base/units.h"

#include <math.h>

enum { LEADS = 4 };

/* The jobs of a scenario's background, ready to run. */
struct jobs {
    int32_t n;
    struct reps *reps;
    struct run_request *requests;
    struct run_other *others;
};

static struct run_request request_of(struct arena *arena, const struct reps *reps)
{
    return (
        struct run_request) { .plans = { arena, reps->net, &reps->groups, NULL, NULL },
                              .network = FIDELITY_FLOW,
                              .n_ranks = reps->n_ranks,
                              .programs = reps->programs,
                              .ranks = reps->ranks };
}

/* Builds the others, and replays each alone. */
static int make_jobs(struct jobs *all, struct background_result *b, struct arena *arena,
                     const struct scenario *s, struct err *err)
{
    const struct reps_options how = { .detail = true, .whole = true };
    const int32_t n = s->background.n;
    all->reps = ARENA_ARRAY(arena, n, struct reps);
    all->requests = ARENA_ARRAY(arena, n, struct run_request);
    all->others = ARENA_ARRAY(arena, n, struct run_other);
    b->jobs = ARENA_ARRAY(arena, n, struct background_job);
    for (; all->n < n; all->n++) {
        const int32_t i = all->n;
        struct run_result alone;
        if (reps_build(&all->reps[i], arena, &s->background.jobs[i], &how, err)) {
            reps_release(&all->reps[i]);
            return -1;
        }
        all->requests[i] = request_of(arena, &all->reps[i]);
        all->others[i].request = &all->requests[i];
        if (run_programs(&all->requests[i], &alone, err)) {
            all->n++;
            return -1;
        }
        b->jobs[i] = (struct background_job) { .name = s->background.jobs[i].name,
                                               .alone_s = alone.time_s };
    }
    b->n = n;
    return 0;
}

/* The k-th of the leads of a job: evenly spread over its step, each job's otherwise. */
static int64_t lead_ps(double step_s, int k, int32_t job)
{
    const double golden = 0.6180339887498949;
    double whole, part = modf((k + 0.5) / LEADS + job * golden, &whole);
    return units_ps(step_s * part);
}

/* Adds a replay's figures to the means. */
static void add(struct run_result *sum, const struct run_result *r)
{
    sum->time_s += r->time_s / LEADS;
    for (int i = 0; i < CATEGORY_N; i++)
        sum->parts_s[i] += r->parts_s[i] / LEADS;
    sum->gpu_busy_s += r->gpu_busy_s / LEADS;
    sum->host_busy_s += r->host_busy_s / LEADS;
    sum->nic_busy_s += r->nic_busy_s / LEADS;
    sum->nvlink_busy_s += r->nvlink_busy_s / LEADS;
    for (int i = 0; i < NET_KINDS; i++)
        sum->charged_B[i] += r->charged_B[i] / LEADS;
    sum->wire_B += r->wire_B / LEADS;
    sum->events += r->events;
    sum->critical = r->critical;
    sum->steady = r->steady;
}

static int replay_leads(struct run_result *run, struct background_result *b,
                        const struct jobs *all, const struct run_request *request,
                        struct err *err)
{
    struct run_request q = *request;
    q.others = all->others;
    q.n_others = all->n;
    *run = (struct run_result) { 0 };
    b->range_s[0] = INFINITY;
    for (int k = 0; k < LEADS; k++) {
        struct run_result r;
        for (int32_t i = 0; i < all->n; i++)
            all->others[i].lead_ps = lead_ps(b->jobs[i].alone_s, k, i);
        if (run_programs(&q, &r, err))
            return -1;
        add(run, &r);
        b->range_s[0] = fmin(b->range_s[0], r.time_s);
        b->range_s[1] = fmax(b->range_s[1], r.time_s);
        q.observer = NULL; /* who looks sees the first */
    }
    return 0;
}

int background_replay(struct run_result *run, struct background_result *b,
                      struct arena *arena, const struct scenario *s,
                      const struct run_request *request, struct err *err)
{
    struct jobs all = { 0 };
    struct run_request alone_q = *request;
    struct run_result alone;
    *b = (struct background_result) { 0 };
    if (request->network != FIDELITY_FLOW)
        return err_set(err, "jobs on one fabric meet at flow fidelity alone (leave "
                            "--network out, or /background)");
    alone_q.observer = NULL;
    int rc = run_programs(&alone_q, &alone, err);
    if (rc == 0)
        rc = make_jobs(&all, b, arena, s, err);
    if (rc == 0)
        rc = replay_leads(run, b, &all, request, err);
    for (int32_t i = 0; i < all.n; i++)
        reps_release(&all.reps[i]);
    if (rc == 0) {
        b->alone_s = alone.time_s;
        b->share = fmax(1 - alone.time_s / run->time_s, 0);
    }
    return rc;
}
