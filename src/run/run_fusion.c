#include "run/run_state.h"

static void buffer_done(struct sim *sim, void *arg)
{
    struct fusion_state *f = arg;
    (void)sim;
    for (int64_t i = 0; i < f->run->n_ranks; i++) {
        struct rank *r = &f->run->ranks[i];
        run_change_moving(r, -1);
        if (f->run->request->observer)
            run_observe_buffer(r, f);
        if (f->takes_sms)
            run_change_pace(r, r->n_comm - 1);
    }
    fusion_coordinator_sent(f->coordinator);
}

static void send_buffer(void *arg, const struct coll_plan *plan)
{
    struct fusion_state *f = arg;
    f->takes_sms = plan->sm_frac > 0;
    f->plan = plan;
    f->begun_ps = f->run->sim->now_ps;
    for (int64_t i = 0; i < f->run->n_ranks; i++) {
        struct rank *r = &f->run->ranks[i];
        run_change_moving(r, 1);
        if (f->takes_sms) {
            r->slowed_by = CATEGORY_DATA_COMM_EXPOSED;
            run_change_pace(r, r->n_comm + 1);
        }
    }
    f->run->islands[0].wire_B += plan->wire_B;
    run_collective(&f->run->islands[0], plan, 0, CHANNEL_DATA, 0, f->n_sent++,
                   buffer_done, f);
}

/* Ranks that have come to the task leave it; the others will not wait for it. */
static void fusion_done(void *arg)
{
    struct fusion_state *f = arg;
    struct run *run = f->run;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        struct stream_state *l = run_stream(&run->ranks[i], STREAM_COMM);
        if (l->head == f->task && l->state == PHASE_RUNNING)
            run_finish(&run->ranks[i], l);
    }
    for (int64_t i = 0; i < run->n_ranks; i++)
        run_try_streams(&run->ranks[i]);
}

void run_fusions_init(struct run *run)
{
    const struct program *p = run->request->programs[0];
    for (int64_t i = 0; i < p->fusions.n; i++) {
        struct fusion_state *f = xcalloc(1, sizeof(*f));
        f->run = run;
        f->task = p->fusions.v[i]->task;
        f->coordinator = fusion_coordinator_new(p->fusions.v[i], run->sim, run->n_ranks,
                                                send_buffer, fusion_done, f);
        VEC_PUSH(&run->fusion_states, f);
    }
}

void run_fusions_release(struct run *run)
{
    for (int64_t i = 0; i < run->fusion_states.n; i++) {
        fusion_coordinator_free(run->fusion_states.v[i]->coordinator);
        free(run->fusion_states.v[i]);
    }
    VEC_RELEASE(&run->fusion_states);
}

void run_fusions_heed(struct rank *r, int32_t ended)
{
    struct run *run = r->run;
    for (int64_t i = 0; i < run->fusion_states.n; i++)
        fusion_coordinator_task_ended(run->fusion_states.v[i]->coordinator,
                                      r - run->ranks, ended);
}

bool run_fusion_is_done(const struct run *run, int32_t fusion)
{
    return fusion_coordinator_is_done(run->fusion_states.v[fusion]->coordinator);
}
