#include "cmd/collective_call.h"

#include "cmd/cmd.h"
#include "engine/watch.h"
#include "run/chunk.h"
#include "run/coll_run.h"

#include <math.h>
#include <unistd.h>

static void note_end(struct sim *sim, void *arg)
{
    *(double *)arg = units_s(sim->now_ps);
}

/* Operations that have one protocol run with that. */
static void warn_of_protocol(const struct collective_call *w)
{
    const struct coll_plan *plan = &w->rows.v[0].plan;
    if (w->args->protocol != COLLECTIVE_PROTOCOL_AUTO && plan->n_phases > 0 &&
        plan->protocol != w->args->protocol)
        diags_warn(&w->loader->diags, DIAG_WITHOUT_EFFECT,
                   "--protocol: %s by %s runs with %s alone",
                   names_of(coll_op_names, w->args->op),
                   names_of(coll_algorithm_names, (int)plan->algorithm),
                   names_of(collective_protocol_names, plan->protocol));
}

/* By the backend's own algorithm; where that refuses, by NCCL's, and says why. */
static int plan_by_backend(struct collective_call *w, struct coll_request request,
                           struct coll_plan *plan)
{
    struct err refused = { 0 };
    if (request.algorithm == COLL_AUTO && w->args->backend != COLL_AUTO) {
        request.algorithm = (enum coll_algorithm)w->args->backend;
        if (coll_plan_make(plan, &w->arena, w->net, &request, &refused) == 0)
            return 0;
        request.algorithm = COLL_AUTO;
    }
    if (coll_plan_make(plan, &w->arena, w->net, &request, w->err))
        return -1;
    if (refused.text[0])
        plan->why =
            arena_printf(&w->arena, "NCCL, since %s; %s", refused.text, plan->why);
    return 0;
}

/* Of the phases begun: the others' are counted when they begin. */
static void count_messages(const void *of, int64_t *done, int64_t *total)
{
    const struct coll_world *world = of;
    *done = world->chunk ? chunk_n_messages(world->chunk) : 0;
    *total = world->chunk ? chunk_n_started(world->chunk) : 0;
}

static int run_size(struct collective_call *w, double size_B)
{
    struct coll_request request = { .op = (enum coll_op)w->args->op,
                                    .algorithm =
                                        (enum coll_algorithm)w->args->algorithm,
                                    .protocol = w->args->protocol,
                                    .size_B = size_B,
                                    .groups = &w->group,
                                    .n_groups = 1,
                                    .nccl = w->args->nccl,
                                    .explains = true,
                                    .gpus_per_thread = w->args->gpus_per_thread };
    struct collective_row *row = VEC_ADD(&w->rows);
    struct coll_world world;
    struct sim sim;
    struct cmd_progress progress = cmd_progress_of("messages", 0.5);
    const struct watch watch = { isatty(STDERR_FILENO) ? cmd_progress_show : NULL,
                                 &progress };
    *row = (struct collective_row) { .size_B = size_B, .time_s = -1 };
    if (plan_by_backend(w, request, &row->plan))
        return -1;
    sim_init(&sim, NULL);
    run_world_init(&world, &sim, w->net, (enum fidelity)w->args->network);
    run_coll_start(&world, &row->plan, note_end, &row->time_s);
    watch_run(&sim, &watch, count_messages, &world);
    run_world_release(&world);
    sim_release(&sim);
    if (row->time_s < 0)
        return err_set(w->err, "a link on the way carries nothing");
    if (row->time_s > 0) {
        row->algbw_Bps = size_B / row->time_s;
        row->busbw_Bps =
            row->algbw_Bps * coll_bus_factor(request.op, row->plan.n_ranks);
    }
    return 0;
}

static int run_sizes(struct collective_call *w)
{
    for (double size = w->sizes.min; size <= w->sizes.max * (1 + 1e-12);
         size *= w->sizes.factor) {
        double whole = floor(size / COLLECTIVE_ELEMENT_B) * COLLECTIVE_ELEMENT_B;
        if (run_size(w, whole > 0 ? whole : size))
            return -1;
        if (w->sizes.min == w->sizes.max)
            break;
    }
    return 0;
}

/* Options that nothing of this operation heeds. */
static void warn_of_unheeded(const struct collective_call *w)
{
    const struct collective_arguments *a = w->args;
    enum coll_algorithm done = w->rows.v[0].plan.algorithm;
    if (a->fabric && w->cluster.n_instances == 1)
        diags_warn(&w->loader->diags, DIAG_WITHOUT_EFFECT,
                   "--fabric: does nothing on one instance");
    if (a->quality && w->cluster.n_instances == 1)
        diags_warn(&w->loader->diags, DIAG_WITHOUT_EFFECT,
                   "--quality: does nothing on one instance");
    bool nccl = done != COLL_SMDDP && done != COLL_SERVERS;
    if (a->nccl && !nccl)
        diags_warn(&w->loader->diags, DIAG_WITHOUT_EFFECT,
                   "--nccl: does nothing, as %s runs",
                   names_of(coll_algorithm_names, (int)done));
    if (a->protocol != COLLECTIVE_PROTOCOL_AUTO && !nccl)
        diags_warn(&w->loader->diags, DIAG_WITHOUT_EFFECT,
                   "--protocol: does nothing, as %s runs",
                   names_of(coll_algorithm_names, (int)done));
}

int collective_run(struct collective_call *w)
{
    if (run_sizes(w))
        return -1;
    warn_of_protocol(w);
    warn_of_unheeded(w);
    return 0;
}
