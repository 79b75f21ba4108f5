#include "validation/run.h"

#include "base/xmalloc.h"
#include "config/pointer.h"
#include "validation/applicability.h"
#include "validation/groups.h"
#include "validation/job.h"
#include "validation/rows.h"

#include <stdlib.h>
#include <string.h>

static void run_jobs(struct rows *r, mapping_progress_fn *progress, void *arg)
{
    int64_t done = 0, n = r->jobs.n;
    struct err *errors = xcalloc((size_t)n + 1, sizeof(*errors));
#pragma omp parallel
    {
        struct job_worker *w = validation_worker_new();
#pragma omp for schedule(dynamic, 4)
        for (int64_t i = 0; i < n; i++) {
            struct rows_job *job = &r->jobs.v[i];
            job->result = validation_job_run(w, r->m->kind, job->tree, &errors[i]);
#pragma omp critical(validation_progress)
            {
                done++;
                if (progress)
                    progress(arg, done, n);
            }
        }
        validation_worker_free(w);
    }
    for (int64_t i = 0; i < n; i++)
        if (!r->jobs.v[i].result)
            r->jobs.v[i].error = arena_strdup(r->arena, errors[i].text);
    free(errors);
}

/* Collecting results */

static bool fits(json_t *result)
{
    json_t *v = pointer_get(result, "/memory/fits");
    return !json_is_false(v); /* collectives and kernels have no memory */
}

/* The predicted fastest that fits; of none, the fastest; of equals, the first. */
static const struct rows_job *best_of(const struct rows *r, struct rows_candidates c)
{
    const struct rows_job *best = NULL;
    double best_s = 0;
    for (int64_t i = c.first; i < c.first + c.n; i++) {
        const struct rows_job *job = &r->jobs.v[r->candidates.v[i]];
        double rate = json_number_value(pointer_get(job->result, "samples_per_s"));
        double step_s =
            rate > 0 ? 1 / rate : 0; /* of alike samples, whatever the batch */
        if (!best || (job->result && !best->result)) {
            best = job;
            best_s = step_s;
        } else if (job->result && fits(job->result) >= fits(best->result) &&
                   (fits(job->result) > fits(best->result) || step_s < best_s)) {
            best = job;
            best_s = step_s;
        }
    }
    return best;
}

static int read_predicted(struct mapping_quantity *q, const struct mapping_measured *of,
                          const struct rows_job *job, const struct rows_job *ratio,
                          struct err *err)
{
    json_t *v = pointer_get(job->result, of->name);
    if (!json_is_number(v))
        return err_set(err, "the result has no number \"%s\"", of->name);
    q->predicted = json_number_value(v);
    if (!ratio)
        return 0;
    if (!ratio->result)
        return err_set(err, "%s", ratio->error);
    double by = json_number_value(pointer_get(ratio->result, of->name));
    if (by == 0)
        return err_set(err, "the other variant's \"%s\" is 0", of->name);
    q->predicted /= by;
    return 0;
}

/* Tokens/s per GPU: the predicted rate, and what the measured quantity makes of it. */
static void read_rates(struct mapping_outcome *o, json_t *result)
{
    static const struct {
        const char *name;
        bool is_time;
    } speeds[] = { { "step_time_s", true },   { "samples_per_s", false },
                   { "tokens_per_s", false }, { "model_flops_per_gpu_s", false },
                   { "mfu", false },          { "hfu", false } };
    double gpus = json_number_value(pointer_get(result, "gpus"));
    double rate = json_number_value(pointer_get(result, "tokens_per_s"));
    o->step_s = json_number_value(pointer_get(result, "step_time_s"));
    o->rate = gpus > 0 ? rate / gpus : 0;
    if (gpus <= 0)
        return;
    o->rate_predicted = o->fits_predicted ? rate / gpus : 0;
    o->has_rate = !o->fits_measured;
    for (size_t k = 0; k < sizeof(speeds) / sizeof(speeds[0]) && !o->has_rate; k++)
        for (int32_t i = 0; i < o->n_quantities && !o->has_rate; i++) {
            const struct mapping_quantity *q = &o->quantities[i];
            if (strcmp(q->key, speeds[k].name) != 0 || q->predicted <= 0)
                continue;
            double ratio = q->measured / q->predicted;
            o->rate_measured = rate / gpus * (speeds[k].is_time ? 1 / ratio : ratio);
            o->has_rate = true;
        }
}

/* How many times as long as predicted it takes in other states of its run. */
static int read_states(struct mapping_outcome *o, const struct rows *r,
                       const struct rows_plan *plan, struct err *err)
{
    for (int k = 0; k < RISK_STATES; k++) {
        struct risk_state *d = &o->states[k];
        const struct rows_job *job = &r->jobs.v[plan->states[k]];
        if (d->chance <= 0)
            continue;
        if (!job->result)
            return err_set(err, "in another state of its run: %s", job->error);
        double step_s = json_number_value(pointer_get(job->result, "step_time_s"));
        d->times = o->step_s > 0 ? step_s / o->step_s : 1;
    }
    return 0;
}

static int collect(struct rows *r, struct mapping_outcome *o,
                   const struct rows_plan *plan, struct err *err)
{
    const struct rows_job *job = best_of(r, plan->own);
    if (!job->result)
        return err_set(err, "%s", job->error);
    o->fits_predicted = fits(job->result);
    o->job = job - r->jobs.v;
    for (int32_t i = 0; i < o->n_quantities; i++) {
        const struct rows_job *ratio =
            plan->ratios[i].n ? best_of(r, plan->ratios[i]) : NULL;
        if (read_predicted(&o->quantities[i], plan->of[i], job, ratio, err))
            return -1;
    }
    read_rates(o, job->result);
    o->by = resources_read(pointer_get(job->result, "resources"));
    o->peak_B = json_number_value(pointer_get(job->result, "/memory/needed_bytes"));
    o->capacity_B =
        json_number_value(pointer_get(job->result, "/memory/capacity_bytes"));
    o->has_place = applicability_place(&o->place, r->arena, job->result) == 0;
    o->by_regret = o->has_place && o->step_s > 0;
    return read_states(o, r, plan, err);
}

static void collect_outcomes(struct mapping_run *run, struct rows *r)
{
    run->n_outcomes = r->outcomes.n;
    run->outcomes = ARENA_ARRAY(r->arena, r->outcomes.n + 1, struct mapping_outcome);
    for (int64_t i = 0; i < run->n_outcomes; i++) {
        struct mapping_outcome *o = &run->outcomes[i];
        struct err err = { 0 };
        *o = r->outcomes.v[i];
        if (!o->error && collect(r, o, &r->plans.v[i], &err))
            o->error = arena_strdup(r->arena, err.text);
        o->refused = o->error && o->has_fits && !o->fits_measured;
        run->n_failed += o->error && !o->refused;
        run->n_wrong_fits +=
            !o->error && o->has_fits && o->fits_measured != o->fits_predicted;
    }
}

void mapping_run(struct mapping_run *run, struct arena *arena, struct mapping *m,
                 mapping_progress_fn *progress, void *arg)
{
    struct rows r;
    rows_resolve(&r, arena, m);
    *run = (struct mapping_run) { .mapping = m,
                                  .n_rows = m->csv.n_rows,
                                  .n_dropped = r.n_dropped,
                                  .n_unmeasured = r.n_unmeasured };
    run_jobs(&r, progress, arg);
    collect_outcomes(run, &r);
    groups_judge(run, arena);
    rows_release(&r);
}
