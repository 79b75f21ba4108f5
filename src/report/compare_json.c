/* Steps that were run, compared with those predicted, as JSON. */
#include "config/contract.h"
#include "model/ops.h"
#include "report/compare.h"

#include <math.h>

static json_t *text(const char *s)
{
    return s ? json_string(s) : json_null();
}

/* What is not there is null. */
static json_t *above_zero(double v)
{
    return v > 0 ? json_real(v) : json_null();
}

static json_t *known(double v)
{
    return isnan(v) ? json_null() : json_real(v);
}

static json_t *pair(struct compared c)
{
    double error = compared_error(c);
    return json_pack("{s:o, s:o, s:o}", "measured", above_zero(c.measured), "predicted",
                     above_zero(c.predicted), "error", known(error));
}

static json_t *statistics(const struct stats *s)
{
    return json_pack("{s:I, s:o, s:o, s:o, s:o}", "n", (json_int_t)s->n,
                     "median_abs_error", known(s->median_abs), "mean_abs_error",
                     known(s->mean_abs), "max_abs_error", known(s->max_abs), "bias",
                     known(s->bias));
}

static json_t *operators(const struct comparison *c)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < c->n_ops; i++) {
        const struct compared_op *o = &c->ops[i];
        json_t *one = pair((struct compared) { o->measured_s, o->predicted_s });
        json_object_set_new(one, "name", text(o->name));
        json_object_set_new(one, "backward", json_boolean(o->backward));
        json_object_set_new(one, "count", json_integer(o->count));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *head(const struct comparison *c)
{
    static const char *const programs[] = { "smsim-measure", "pytorch-eager",
                                            "pytorch-compiled" };
    const struct measured_step *s = c->step;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:I, s:I}", "file", s->file,
                     "model", s->model, "program", programs[s->program], "precision",
                     names_of(op_precision_names, s->precision), "attention",
                     names_of(op_attention_names, s->attention), "framework",
                     text(c->framework), "gpus", (json_int_t)s->n_gpus, "batch",
                     (json_int_t)s->batch, "sequence", (json_int_t)s->sequence);
}

static json_t *comparison(const struct comparison *c)
{
    json_t *o = head(c);
    if (c->step->failed || c->error) {
        json_object_set_new(o, c->error ? "not_predicted" : "did_not_run",
                            text(c->error ? c->error : c->step->failed));
        return o;
    }
    json_object_set_new(o, "operators", operators(c));
    if (c->n_ops) {
        json_object_set_new(o, "forward_s", pair(c->forward));
        json_object_set_new(o, "backward_s", pair(c->backward));
        json_object_set_new(o, "operator_errors", statistics(&c->stats));
        json_object_set_new(o, "misplaced_frac", json_real(c->misplaced));
    }
    json_object_set_new(o, "optimizer_s", pair(c->update));
    json_object_set_new(o, "communication_exposed_s", pair(c->communication));
    json_object_set_new(o, "step_time_s", pair(c->time));
    json_object_set_new(o, "memory_bytes", pair(c->memory));
    json_object_set_new(o, "reserved_bytes", pair(c->reserved));
    return o;
}

json_t *report_compare_json(const struct comparisons *all, const struct diags *warnings)
{
    json_t *steps = json_array(), *failures = json_array();
    for (int64_t i = 0; i < all->n; i++)
        json_array_append_new(steps, comparison(&all->v[i]));
    for (int64_t i = 0; i < all->measured->failures.n; i++)
        json_array_append_new(failures, json_string(all->measured->failures.v[i]));
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:s, s:I, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o}",
        "schema", CONTRACT_MEASURED, "device", text(all->device), "date",
        text(all->date), "driver", text(all->driver), "gpu", all->gpu,
        "fitted_to_kernels", (json_int_t)all->n_kernels, "instance", all->instance,
        "complete", !all->measured->incomplete, "failures", failures, "steps", steps,
        "operator_errors", statistics(&all->operators), "step_errors",
        statistics(&all->steps), "memory_errors", statistics(&all->memory), "warnings",
        diags_json(warnings));
}
