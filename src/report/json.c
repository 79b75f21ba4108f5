/* The result of simulate as JSON: the step, and what lies beyond it. */
#include "base/file.h"
#include "report/report.h"
#include "simulate/result_json.h"

#include <math.h>

json_t *report_step_json(const struct scenario *s, const struct simulate_result *r,
                         const struct campaign_result *beyond)
{
    const struct campaign_result none = { .input = { .given = false } };
    json_t *result = result_json(s, r);
    campaign_json(result, beyond ? beyond : &none);
    return result;
}

static json_t *real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *text(const char *s)
{
    return s ? json_string(s) : json_null();
}

static json_t *equal_rows(const struct stats *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "n", json_integer(s->n));
    json_object_set_new(o, "mean_abs_difference", real(s->mean_abs));
    json_object_set_new(o, "median_abs_difference", real(s->median_abs));
    return o;
}

static json_t *metrics(const struct summary_metrics *m)
{
    json_t *o = json_object();
    for (int32_t i = 0; i < m->n; i++) {
        const struct stats *s = &m->v[i].stats;
        json_t *one = json_object();
        json_object_set_new(one, "n", json_integer(s->n));
        json_object_set_new(one, "mean_abs_error", real(s->mean_abs));
        json_object_set_new(one, "median_abs_error", real(s->median_abs));
        json_object_set_new(one, "max_abs_error", real(s->max_abs));
        json_object_set_new(one, "bias", real(s->bias));
        if (m->v[i].equal.n)
            json_object_set_new(one, "equal_rows", equal_rows(&m->v[i].equal));
        json_object_set_new(o, m->v[i].key, one);
    }
    return o;
}

static json_t *bands(const struct summary *s)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < s->n_bands; i++) {
        const struct summary_band *b = &s->bands[i];
        json_t *one = json_object();
        json_object_set_new(one, "table", text(b->table));
        json_object_set_new(one, "from", real(b->from));
        json_object_set_new(one, "to", real(b->to));
        json_object_set_new(one, "metrics", metrics(&b->metrics));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *ranking(const char *name, const struct ranking *r)
{
    json_t *one = json_object();
    if (name)
        json_object_set_new(one, "name", text(name));
    json_object_set_new(one, "n", json_integer(r->n));
    json_object_set_new(one, "spearman", real(r->spearman));
    json_object_set_new(one, "regret", real(r->regret));
    json_object_set_new(one, "regret_top3", real(r->regret_top3));
    json_object_set_new(one, "regret_second", real(r->regret_second));
    json_object_set_new(one, "regret_second_top3", real(r->regret_second_top3));
    return one;
}

static json_t *rank_groups(const struct summary *s)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < s->n_groups; i++)
        json_array_append_new(list, ranking(s->group_names[i], &s->rankings[i]));
    return list;
}

/* Whether a job fits in memory is a question of scenarios alone. */
static json_t *row(const struct mapping_outcome *o, bool has_memory)
{
    json_t *one = json_object(), *measured = json_object(), *predicted = json_object();
    json_object_set_new(one, "name", text(o->name));
    for (int32_t i = 0; i < o->n_quantities; i++) {
        const struct mapping_quantity *q = &o->quantities[i];
        json_object_set_new(measured, q->key, real(q->measured));
        if (!o->error)
            json_object_set_new(predicted, q->key, real(q->predicted));
    }
    if (o->has_fits && has_memory)
        json_object_set_new(measured, "fits", json_boolean(o->fits_measured));
    if (o->has_fits && has_memory && !o->error)
        json_object_set_new(predicted, "fits", json_boolean(o->fits_predicted));
    json_object_set_new(one, "measured", measured);
    json_object_set_new(one, "predicted", predicted);
    if (o->outlier)
        json_object_set_new(one, "outlier", json_true());
    if (o->error)
        json_object_set_new(one, "error", text(o->error));
    return one;
}

static json_t *verdicts(const struct summary_verdicts *v)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "failed_refused",
                     (json_int_t)v->failed_refused, "ran_fits", (json_int_t)v->ran_fits,
                     "ran_too_large", (json_int_t)v->ran_not, "failed_fits",
                     (json_int_t)v->failed_fits, "failed_too_large",
                     (json_int_t)v->failed_not, "outdone_fits",
                     (json_int_t)v->outdone_fits, "outdone_too_large",
                     (json_int_t)v->outdone_not);
}

json_t *report_validation_json(const struct mapping_run *run, const struct summary *s)
{
    json_t *o = json_object(), *rows = json_array();
    json_object_set_new(o, "name", text(run->mapping->name));
    json_object_set_new(o, "source", text(run->mapping->source));
    json_object_set_new(o, "dropped", json_integer(run->n_dropped));
    json_object_set_new(o, "unmeasured", json_integer(run->n_unmeasured));
    json_object_set_new(o, "failed", json_integer(run->n_failed));
    json_object_set_new(o, "wrong_fits", json_integer(run->n_wrong_fits));
    json_object_set_new(o, "outliers", json_integer(run->n_outliers));
    json_object_set_new(o, "verdicts", verdicts(&s->verdicts));
    json_object_set_new(o, "metrics", metrics(&s->metrics));
    json_object_set_new(o, "bands", bands(s));
    json_object_set_new(o, "rank_groups", rank_groups(s));
    if (s->n_groups) {
        struct ranking mean = ranking_mean(s->rankings, s->n_groups);
        json_object_set_new(o, "ranking", ranking(NULL, &mean));
    }
    for (int64_t i = 0; i < run->n_outcomes; i++)
        json_array_append_new(
            rows, row(&run->outcomes[i], run->mapping->kind == MAPPING_SCENARIO));
    json_object_set_new(o, "rows", rows);
    return o;
}

int report_json_write(const json_t *tree, const char *path, struct err *err)
{
    struct file_out out;
    if (file_out_open(&out, path, err))
        return -1;
    json_dumpf(tree, out.stream, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fputc('\n', out.stream);
    return file_out_commit(&out, err);
}
