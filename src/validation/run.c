#include "validation/run.h"

#include "base/xmalloc.h"
#include "validation/job.h"
#include "validation/pointer.h"
#include "validation/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct job {
    json_t *tree, *result; /* owned */
    const char *error;     /* in the arena */
};

/* The jobs of an outcome and of the variants its ratios are to. */
struct candidates {
    int64_t first, n; /* in the list of candidate job ids */
};

struct plan {
    struct candidates own;
    struct candidates *ratios;          /* [n_quantities], n 0 where there is none */
    const struct mapping_measured **of; /* [n_quantities] */
};

struct runner {
    struct run *run;
    struct arena *arena;
    struct mapping *m;
    json_t *ids; /* text of a job -> index in jobs */
    VEC(struct job) jobs;
    VEC(int64_t) candidates;
    VEC(struct run_outcome) outcomes;
    VEC(struct plan) plans;
};

static const char *keep_text(struct runner *r, struct strbuf *b)
{
    const char *text = arena_strdup(r->arena, strbuf_get(b));
    strbuf_release(b);
    return text;
}

/* Resolving rows */

/* Index of the job; the tree's reference is stolen. */
static int64_t add_job(struct runner *r, json_t *tree)
{
    char *text = json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS);
    json_t *known = json_object_get(r->ids, text);
    if (!known) {
        known = json_integer(r->jobs.n);
        json_object_set_new(r->ids, text, known);
        VEC_PUSH(&r->jobs, ((struct job) { json_incref(tree), NULL, NULL }));
    }
    json_decref(tree);
    free(text);
    return json_integer_value(known);
}

static int set_field(json_t *tree, const char *pointer, json_t *value,
                     struct value_row row, struct err *err)
{
    json_t *v = value_resolve(value, row, err);
    return v ? pointer_set(tree, pointer, v, err) : -1;
}

static json_t *variant_tree(const struct mapping *m, const struct mapping_variant *v,
                            struct value_row row, struct err *err)
{
    json_t *tree = value_resolve(m->subject, row, err);
    int rc = tree ? 0 : -1;
    for (void *it = cfg_first(v->set); it && rc == 0; it = cfg_next(v->set, it))
        rc = set_field(tree, cfg_key(it), json_object_iter_value(it), row, err);
    if (rc == 0)
        return tree;
    json_decref(tree);
    return NULL;
}

/* The i-th combination of what is to be chosen, as digits of a mixed-radix number. */
static int choose(const struct mapping *m, json_t *tree, size_t i, struct value_row row,
                  struct err *err)
{
    for (int32_t c = 0; c < m->n_choices; c++) {
        json_t *values = m->choices[c].values;
        size_t n = json_array_size(values);
        if (set_field(tree, m->choices[c].pointer, json_array_get(values, i % n), row,
                      err))
            return -1;
        i /= n;
    }
    return 0;
}

static int add_candidates(struct runner *r, struct candidates *c, int32_t variant,
                          struct value_row row, struct err *err)
{
    const struct mapping *m = r->m;
    size_t n = 1;
    for (int32_t i = 0; i < m->n_choices; i++)
        n *= json_array_size(m->choices[i].values);
    c->first = r->candidates.n;
    c->n = 0;
    for (size_t i = 0; i < n; i++) {
        json_t *tree = variant_tree(m, &m->variants[variant], row, err);
        if (!tree)
            return -1;
        if (choose(m, tree, i, row, err)) {
            json_decref(tree);
            return -1;
        }
        VEC_PUSH(&r->candidates, add_job(r, tree));
        c->n++;
    }
    return 0;
}

static const char *outcome_name(struct runner *r, const struct mapping_variant *v,
                                struct value_row row)
{
    struct strbuf b;
    struct err err = { 0 };
    strbuf_init(&b);
    if (r->m->row_name)
        value_text(r->m->row_name, row, &b, &err);
    else
        strbuf_printf(&b, "line %lld", (long long)row.csv->lines[row.row]);
    if (v->name)
        strbuf_printf(&b, "/%s", v->name);
    return keep_text(r, &b);
}

/* What was measured of the row; -1 with err set when a cell is no number. */
static int read_measured(struct runner *r, struct run_outcome *o, struct plan *plan,
                         const struct mapping_variant *v, struct value_row row,
                         struct err *err)
{
    o->quantities = ARENA_ARRAY(r->arena, v->n_measured + 1, struct run_quantity);
    plan->ratios = ARENA_ARRAY(r->arena, v->n_measured + 1, struct candidates);
    plan->of =
        ARENA_ARRAY(r->arena, v->n_measured + 1, const struct mapping_measured *);
    bool oom = false;
    for (int32_t i = 0; i < v->n_measured; i++) {
        const struct mapping_measured *q = &v->measured[i];
        enum value_state state;
        double measured = 0;
        struct err inner = { 0 };
        if (value_number(q->value, row, &state, &measured, &inner))
            return err_set(err, "measured %s: %s", q->name, inner.text);
        oom |= state == VALUE_OOM;
        if (state != VALUE_GIVEN)
            continue;
        o->has_fits = o->fits_measured = true;
        if (strcmp(q->name, "fits") == 0) {
            oom |= measured == 0;
            continue;
        }
        if (measured == 0)
            return err_set(err, "measured %s: 0 has no relative error", q->name);
        plan->of[o->n_quantities] = q;
        o->quantities[o->n_quantities++] =
            (struct run_quantity) { q->key, measured, (double)NAN };
    }
    if (oom) {
        o->has_fits = true;
        o->fits_measured = false;
        o->n_quantities = 0;
    }
    return 0;
}

static int read_place(struct runner *r, struct run_outcome *o, struct value_row row,
                      struct err *err)
{
    const struct mapping *m = r->m;
    struct strbuf b;
    if (m->n_edges) {
        enum value_state state;
        double v;
        if (value_number(m->band_of, row, &state, &v, err))
            return -1;
        if (state != VALUE_GIVEN)
            return err_set(err, "the cell that decides the band is empty");
        while (o->band < m->n_edges && v >= m->edges[o->band])
            o->band++;
    }
    if (m->table) {
        strbuf_init(&b);
        int rc = value_text(m->table, row, &b, err);
        o->table = keep_text(r, &b);
        if (rc)
            return -1;
    }
    strbuf_init(&b);
    for (int32_t i = 0; i < m->n_rank_by; i++)
        strbuf_printf(&b, "%s%s", i ? ", " : "",
                      csv_cell(row.csv, row.row, m->rank_by[i]));
    if (m->n_rank_by)
        o->rank_group = keep_text(r, &b);
    strbuf_release(&b);
    return 0;
}

static int read_jobs(struct runner *r, const struct run_outcome *o, struct plan *plan,
                     int32_t variant, struct value_row row, struct err *err)
{
    if (add_candidates(r, &plan->own, variant, row, err))
        return -1;
    for (int32_t i = 0; i < o->n_quantities; i++)
        if (plan->of[i]->ratio_to >= 0 &&
            add_candidates(r, &plan->ratios[i], plan->of[i]->ratio_to, row, err))
            return -1;
    return 0;
}

/* Adds the row's outcome in a variant; whether anything of it was measured. */
static bool add_outcome(struct runner *r, int32_t variant, struct value_row row)
{
    const struct mapping_variant *v = &r->m->variants[variant];
    struct run_outcome o = { .row = row.row, .name = outcome_name(r, v, row) };
    struct plan plan = { 0 };
    struct err err = { 0 };
    int rc = read_measured(r, &o, &plan, v, row, &err);
    if (rc == 0 && !o.has_fits)
        return false;
    if (rc || read_place(r, &o, row, &err) ||
        read_jobs(r, &o, &plan, variant, row, &err)) {
        o.error = arena_strdup(r->arena, err.text);
        plan.own.n = 0;
    }
    VEC_PUSH(&r->outcomes, o);
    VEC_PUSH(&r->plans, plan);
    return true;
}

static void resolve_rows(struct runner *r)
{
    const struct mapping *m = r->m;
    r->run->n_rows = m->csv.n_rows;
    for (int64_t i = 0; i < m->csv.n_rows; i++) {
        bool measured = false;
        if (!filters_pass(&r->m->filters, &m->csv, i)) {
            r->run->n_dropped++;
            continue;
        }
        for (int32_t v = 0; v < m->n_variants; v++)
            if (m->variants[v].n_measured)
                measured |= add_outcome(r, v, (struct value_row) { &m->csv, i });
        r->run->n_unmeasured += !measured;
    }
}

/* Running jobs */

static void run_jobs(struct runner *r, run_progress_fn *progress, void *arg)
{
    int64_t done = 0, n = r->jobs.n;
    struct err *errors = xcalloc((size_t)n + 1, sizeof(*errors));
#pragma omp parallel
    {
        struct job_worker *w = job_worker_new();
#pragma omp for schedule(dynamic, 4)
        for (int64_t i = 0; i < n; i++) {
            struct job *job = &r->jobs.v[i];
            job->result = job_run(w, r->m->kind, job->tree, &errors[i]);
#pragma omp critical(validation_progress)
            {
                done++;
                if (progress)
                    progress(arg, done, n);
            }
        }
        job_worker_free(w);
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
static const struct job *best_of(const struct runner *r, struct candidates c)
{
    const struct job *best = NULL;
    double best_s = 0;
    for (int64_t i = c.first; i < c.first + c.n; i++) {
        const struct job *job = &r->jobs.v[r->candidates.v[i]];
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

static int read_predicted(struct run_quantity *q, const struct mapping_measured *of,
                          const struct job *job, const struct job *ratio,
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

/* Samples/s per GPU: the predicted rate, and what the measured quantity makes of it. */
static void read_rates(struct run_outcome *o, json_t *result)
{
    static const struct {
        const char *name;
        bool is_time;
    } speeds[] = { { "step_time_s", true },   { "samples_per_s", false },
                   { "tokens_per_s", false }, { "model_flops_per_gpu_s", false },
                   { "mfu", false },          { "hfu", false } };
    double gpus = json_number_value(pointer_get(result, "gpus"));
    double rate = json_number_value(pointer_get(result, "samples_per_s"));
    if (!o->rank_group || gpus <= 0)
        return;
    o->rate_predicted = o->fits_predicted ? rate / gpus : 0;
    o->has_rate = !o->fits_measured;
    for (size_t k = 0; k < sizeof(speeds) / sizeof(speeds[0]) && !o->has_rate; k++)
        for (int32_t i = 0; i < o->n_quantities && !o->has_rate; i++) {
            const struct run_quantity *q = &o->quantities[i];
            if (strcmp(q->key, speeds[k].name) != 0 || q->predicted <= 0)
                continue;
            double ratio = q->measured / q->predicted;
            o->rate_measured = rate / gpus * (speeds[k].is_time ? 1 / ratio : ratio);
            o->has_rate = true;
        }
}

static int collect(struct runner *r, struct run_outcome *o, const struct plan *plan,
                   struct err *err)
{
    const struct job *job = best_of(r, plan->own);
    if (!job->result)
        return err_set(err, "%s", job->error);
    o->fits_predicted = fits(job->result);
    for (int32_t i = 0; i < o->n_quantities; i++) {
        const struct job *ratio =
            plan->ratios[i].n ? best_of(r, plan->ratios[i]) : NULL;
        if (read_predicted(&o->quantities[i], plan->of[i], job, ratio, err))
            return -1;
    }
    read_rates(o, job->result);
    return 0;
}

static void collect_outcomes(struct runner *r)
{
    struct run *run = r->run;
    run->n_outcomes = r->outcomes.n;
    run->outcomes = ARENA_ARRAY(r->arena, r->outcomes.n + 1, struct run_outcome);
    for (int64_t i = 0; i < run->n_outcomes; i++) {
        struct run_outcome *o = &run->outcomes[i];
        struct err err = { 0 };
        *o = r->outcomes.v[i];
        if (!o->error && collect(r, o, &r->plans.v[i], &err))
            o->error = arena_strdup(r->arena, err.text);
        run->n_failed += o->error != NULL;
        run->n_wrong_fits +=
            !o->error && o->has_fits && o->fits_measured != o->fits_predicted;
    }
}

void run_mapping(struct run *run, struct arena *arena, struct mapping *m,
                 run_progress_fn *progress, void *arg)
{
    struct runner r = { .run = run, .arena = arena, .m = m, .ids = json_object() };
    *run = (struct run) { .mapping = m };
    resolve_rows(&r);
    run->n_jobs = r.jobs.n;
    run_jobs(&r, progress, arg);
    collect_outcomes(&r);
    for (int64_t i = 0; i < r.jobs.n; i++) {
        json_decref(r.jobs.v[i].tree);
        json_decref(r.jobs.v[i].result);
    }
    json_decref(r.ids);
    VEC_RELEASE(&r.jobs);
    VEC_RELEASE(&r.candidates);
    VEC_RELEASE(&r.outcomes);
    VEC_RELEASE(&r.plans);
}
