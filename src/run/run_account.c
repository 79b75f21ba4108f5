/* Accounts of kernels that have ended, and of the stretch of a program that repeats. */
#include "run/run_state.h"

/* Whether the use of links is read at the rank's period: that of the first rank, but of
 * the first that leaves, where backwards come after all forwards. */
static bool leads(const struct rank *r, int which)
{
    const struct island *of = r->island;
    bool last = which == 0 && r->program->forwards.from >= 0;
    return r->run->links_busy[which].from_s &&
           r == of->ranks[last ? of->n_ranks - 1 : 0];
}

/* The use of links over which the rank sends forwards. */
static void note_own_links(const struct rank *r, double *busy_s)
{
    const struct program *p = r->program;
    for (int64_t i = 0; busy_s && i < p->comms.n; i++) {
        const struct coll_plan *plan = p->comms.v[i].plan;
        for (int32_t k = 0; p->comms.v[i].channel == CHANNEL_NEXT && k < plan->n_phases;
             k++)
            for (int32_t u = 0; u < plan->phases[k].n_uses; u++) {
                int32_t link = plan->phases[k].uses[u].link;
                busy_s[link] = run_world_link_busy_s(r->island->world, link);
            }
    }
}

void run_account_stretch(struct rank *r, int32_t ended)
{
    for (int i = 0; i < RUN_STRETCHES; i++) {
        const struct repeat *repeat = run_stretch(r->program, i);
        if (ended == repeat->from) {
            r->stretches[i].from = r->account;
            if (leads(r, i))
                run_islands_links_busy(r->island, r->run->links_busy[i].from_s);
            if (i > 0)
                note_own_links(r, r->run->links_busy[RUN_STRETCHES].from_s);
        }
        if (ended == repeat->to) {
            r->stretches[i].to = r->account;
            if (leads(r, i))
                run_islands_links_busy(r->island, r->run->links_busy[i].to_s);
            if (i > 0)
                note_own_links(r, r->run->links_busy[RUN_STRETCHES].to_s);
        }
    }
}

/* What a pass that was measured in isolation adds to the accounts. */
static void account_pass(struct rank *r, int32_t head, int64_t took)
{
    const struct pass_cost *pass =
        &r->program->passes.v[r->program->tasks.v[head].pass];
    const double *by = r->kernel_factors;
    struct account *a = &r->account;
    int64_t counted = 0;
    for (int i = 0; i < CATEGORY_N; i++) {
        if (pass->parts_ps[i] == 0) /* most */
            continue;
        int64_t part_ps = run_paced_ps(by, head, pass->parts_ps[i]);
        counted += i == CATEGORY_DATA_COMM_HIDDEN ? 0 : part_ps;
        a->parts_ps[i] += part_ps;
    }
    a->parts_ps[CATEGORY_OTHER] += by ? took - counted : 0; /* rounding */
    a->gpu_busy_ps += run_paced_ps(by, head, pass->gpu_busy_ps);
    r->host_busy_ps += run_paced_ps(by, head, pass->host_busy_ps);
    for (int i = 0; i < LINKS_N; i++)
        a->links_busy_ps[i] += pass->links_busy_ps[i];
}

void run_account_kernel(struct rank *r, const struct stream_state *l,
                        const struct task *t)
{
    struct account *a = &r->account;
    int64_t took = r->island->sim->now_ps - l->begun_ps;
    if (t->pass >= 0) {
        account_pass(r, l->head, took);
    } else {
        int64_t alone_ps = run_paced_ps(r->kernel_factors, l->head, t->alone_ps);
        a->parts_ps[t->part] += alone_ps;
        a->parts_ps[r->slowed_by] += took - alone_ps;
        a->gpu_busy_ps += took;
    }
}
