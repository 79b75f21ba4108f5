#include "cmd/schedules.h"

#include "base/vec.h"
#include "base/xmalloc.h"
#include "draw/draw.h"
#include "report/figure/schedules.h"
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

enum { SCHEDULES_MAX = 16 };

/* One schedule's job, and what was seen of its step. */
struct run {
    struct cfg_loader loader;
    struct scenario s;
    struct simulate_result r;
    struct step_figures *figures;
};

static int set(struct cfg root, const char *pointer, const char *value)
{
    char *assignment = xasprintf("%s=%s", pointer, value);
    int rc = cfg_set(root, assignment);
    free(assignment);
    return rc;
}

/* Chunks are what the schedule needs: one, or two where the job does not say more. */
static int set_chunks(struct cfg root, enum schedule schedule, int64_t given)
{
    const struct schedule_traits *traits = parallelism_schedule(schedule);
    char chunks[24];
    snprintf(chunks, sizeof(chunks), "%d",
             !traits->chunks              ? 1
             : traits->folds || given < 2 ? 2
                                          : (int)given);
    return set(root, "/parallelism/virtual_stages", chunks);
}

/* Why it could not be, as the first error says. */
static const char *reason(const struct run *x, const struct err *err)
{
    const struct diags *d = &x->loader.diags;
    for (int64_t i = 0; i < d->n; i++)
        if (d->v[i].severity == DIAG_ERROR)
            return d->v[i].text;
    return err->text[0] ? err->text : "it cannot be simulated";
}

static int simulate_one(struct run *x, struct cfg scenario, const char *name,
                        enum schedule schedule, int64_t chunks, struct err *err)
{
    cfg_loader_init(&x->loader);
    x->figures = figure_step_new(NULL);
    struct cfg root =
        cfg_from_tree(&x->loader, "scenario", json_deep_copy(scenario.json));
    const struct simulate_options how = { .network = FIDELITY_FLOW,
                                          .observer =
                                              figure_step_observer(x->figures) };
    if (set(root, "/parallelism/schedule", name) ||
        set_chunks(root, schedule, chunks) || scenario_read(&x->s, &x->loader, root))
        return -1;
    return simulate(&x->r, &x->loader.arena, &x->s, &how, err);
}

static void release(struct run *x)
{
    figure_step_free(x->figures);
    cfg_loader_release(&x->loader);
}

int schedules_plot(struct cfg scenario, const struct draw_to *to, FILE *log,
                   struct err *err)
{
    struct run *runs = xcalloc(SCHEDULES_MAX, sizeof(*runs));
    struct schedule_step steps[SCHEDULES_MAX];
    json_t *stages = json_object_get(json_object_get(scenario.json, "parallelism"),
                                     "virtual_stages");
    int64_t chunks = json_is_integer(stages) ? json_integer_value(stages) : 1;
    size_t n = 0, n_runs = 0;
    int rc = draw_check_name(to->path, err);
    for (const struct name_value *v = parallelism_schedule_names; v->name && rc == 0;
         v++) {
        struct run *x = &runs[n_runs++];
        struct err why = { 0 };
        if (simulate_one(x, scenario, v->name, (enum schedule)v->value, chunks, &why))
            fprintf(log, "%s: not drawn: %s\n", v->name, reason(x, &why));
        else if (x->r.memory.n_stages > 1)
            steps[n++] = (struct schedule_step) { x->figures, &x->s, &x->r };
    }
    if (rc == 0)
        rc = n ? figure_schedules_write(steps, n, to, err)
               : err_set(err,
                         "%s: there is no pipeline whose schedules could be drawn "
                         "(/parallelism/pipeline is 2 or more)",
                         to->path);
    for (size_t i = 0; i < n_runs; i++)
        release(&runs[i]);
    free(runs);
    return rc;
}
