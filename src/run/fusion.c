#include "run/fusion.h"

#include "base/units.h"
#include "base/xmalloc.h"

#include <stdlib.h>

struct fusion_coordinator {
    struct sim_event tick;
    const struct fusion *fusion;
    struct sim *sim;
    int64_t n_ranks;
    int32_t *ended;   /* [ranks] tensors that each has ready */
    int64_t *n_ready; /* [tensors] ranks that have it ready */
    int32_t n_common; /* tensors ready on all ranks */
    int32_t n_fused;  /* of them, those that a tick has taken */
    int32_t n_begun;  /* of these, those sent or being sent */
    int32_t n_reduced;
    void (*send)(void *arg, const struct coll_plan *plan);
    void (*done)(void *arg);
    void *arg;
};

int32_t fusion_take(const struct fusion *f, int32_t first, int32_t n, double *bytes)
{
    int32_t taken = 0;
    *bytes = 0;
    while (taken < n) {
        double more = f->tensors.v[first + taken].bytes;
        if (taken > 0 && f->threshold_B > 0 && *bytes + more > f->threshold_B)
            break;
        *bytes += more;
        taken++;
    }
    return taken;
}

int64_t fusion_tick_ps(int64_t cycle_ps, int64_t now_ps)
{
    if (cycle_ps <= 0)
        return now_ps;
    return (now_ps + cycle_ps - 1) / cycle_ps * cycle_ps;
}

/* Sends the next buffer, when none is under way. */
static void send_next(struct fusion_coordinator *f)
{
    double bytes;
    if (f->n_begun > f->n_reduced || f->n_begun == f->n_fused)
        return;
    f->n_begun += fusion_take(f->fusion, f->n_begun, f->n_fused - f->n_begun, &bytes);
    f->send(f->arg, f->fusion->plan(f->fusion->arg, bytes));
}

static void fire_tick(struct sim *sim, struct sim_event *ev)
{
    struct fusion_coordinator *f = SIM_OWNER(ev, struct fusion_coordinator, tick);
    (void)sim;
    f->n_fused = f->n_common;
    send_next(f);
}

static const struct sim_event_type tick_type = { "fusion cycle", fire_tick };

struct fusion_coordinator *
fusion_coordinator_new(const struct fusion *f, struct sim *sim, int64_t n_ranks,
                       void (*send)(void *arg, const struct coll_plan *plan),
                       void (*done)(void *arg), void *arg)
{
    struct fusion_coordinator *coordinator = xmalloc(sizeof(*coordinator));
    *coordinator = (struct fusion_coordinator) { .fusion = f,
                                                 .sim = sim,
                                                 .n_ranks = n_ranks,
                                                 .send = send,
                                                 .done = done,
                                                 .arg = arg };
    coordinator->ended = xcalloc((size_t)n_ranks, sizeof(*coordinator->ended));
    coordinator->n_ready =
        xcalloc((size_t)f->tensors.n + 1, sizeof(*coordinator->n_ready));
    sim_event_init(&coordinator->tick, &tick_type);
    return coordinator;
}

void fusion_coordinator_free(struct fusion_coordinator *f)
{
    sim_cancel(f->sim, &f->tick);
    free(f->ended);
    free(f->n_ready);
    free(f);
}

void fusion_coordinator_task_ended(struct fusion_coordinator *f, int64_t rank,
                                   int32_t task)
{
    const struct fusion *fusion = f->fusion;
    int32_t common = f->n_common;
    while (f->ended[rank] < fusion->tensors.n &&
           fusion->tensors.v[f->ended[rank]].ready <= task)
        f->n_ready[f->ended[rank]++]++;
    while (f->n_common < fusion->tensors.n && f->n_ready[f->n_common] == f->n_ranks)
        f->n_common++;
    if (f->n_common > common && !sim_is_pending(&f->tick))
        sim_at(f->sim, &f->tick,
               fusion_tick_ps(units_ps(fusion->cycle_s), f->sim->now_ps));
}

void fusion_coordinator_sent(struct fusion_coordinator *f)
{
    f->n_reduced = f->n_begun;
    if (fusion_coordinator_is_done(f))
        f->done(f->arg);
    else
        send_next(f);
}

bool fusion_coordinator_is_done(const struct fusion_coordinator *f)
{
    return f->n_reduced == f->fusion->tensors.n;
}
