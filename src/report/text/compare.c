/* Steps that were run, compared with those predicted, as text. */
#include "report/compare.h"

#include "base/units.h"
#include "model/ops.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>

static const char *const program_texts[] = {
    [MEASURED_OWN] = "smsim-measure",
    [MEASURED_EAGER] = "PyTorch, eager",
    [MEASURED_COMPILED] = "PyTorch, compiled",
};

typedef char *text_fn(char buf[UNITS_TEXT_MAX], double v);

static const char *value_text(char buf[UNITS_TEXT_MAX], text_fn *text, double v)
{
    return v > 0 ? text(buf, v) : "-";
}

static void print_error(FILE *out, double error)
{
    if (isnan(error))
        fprintf(out, " %9s", "-");
    else
        fprintf(out, " %+7.1f %%", 100 * error);
}

static void print_op(FILE *out, const struct compared_op *o, double pass_s)
{
    char m[UNITS_TEXT_MAX], p[UNITS_TEXT_MAX];
    fprintf(out, "    %-26s %6" PRId64 " %12s %12s", o->name, o->count,
            value_text(m, units_time_text, o->measured_s),
            value_text(p, units_time_text, o->predicted_s));
    print_error(out,
                compared_error((struct compared) { o->measured_s, o->predicted_s }));
    if (pass_s > 0)
        fprintf(out, " %7.1f %%", 100 * (double)o->count * o->measured_s / pass_s);
    fputc('\n', out);
}

static void print_total(FILE *out, const char *name, text_fn *text, struct compared c)
{
    char m[UNITS_TEXT_MAX], p[UNITS_TEXT_MAX];
    if (!(c.measured > 0))
        return;
    fprintf(out, "  %-35s %12s %12s", name, value_text(m, text, c.measured),
            value_text(p, text, c.predicted));
    print_error(out, compared_error(c));
    fputc('\n', out);
}

static void print_stats(FILE *out, const char *name, const struct stats *s)
{
    if (s->n)
        fprintf(out,
                "  %-12s %4" PRId64 " compared: median |e| %.1f %%, mean %.1f %%, "
                "largest %.1f %%, bias %+.1f %%\n",
                name, s->n, 100 * s->median_abs, 100 * s->mean_abs, 100 * s->max_abs,
                100 * s->bias);
}

static void print_ops(FILE *out, const struct comparison *c)
{
    double kernels_s = c->forward.measured + c->backward.measured;
    for (int32_t i = 0; i < c->n_ops; i++) {
        const struct compared_op *o = &c->ops[i];
        if (i == 0 || o->backward != c->ops[i - 1].backward)
            fprintf(out, "  %s\n", o->backward ? "backward, each" : "forward, each");
        print_op(out, o, kernels_s);
    }
}

static void print_head(FILE *out, const struct comparison *c)
{
    const struct measured_step *s = c->step;
    fprintf(out,
            "\n%s, %s, batch %" PRId64 " x %" PRId64 " tokens, %" PRId64 " GPU%s\n",
            s->model, names_of(op_precision_names, s->precision), s->batch, s->sequence,
            s->n_gpus, units_plural(s->n_gpus));
    fprintf(out, "  run by %s", program_texts[s->program]);
    if (c->framework)
        fprintf(out, ", predicted with the framework profile %s", c->framework);
    fputc('\n', out);
}

static void print_comparison(FILE *out, const struct comparison *c)
{
    print_head(out, c);
    if (c->step->failed || c->error) {
        report_wrap(out, c->error ? "  NOT PREDICTED: " : "  did not run: ", "      ",
                    c->error ? c->error : c->step->failed);
        return;
    }
    fprintf(out, "  %-28s %6s %12s %12s %9s", c->n_ops ? "operator" : "",
            c->n_ops ? "count" : "", "measured", "predicted", "error");
    fprintf(out, c->n_ops ? " %9s\n" : "\n", "of time");
    print_ops(out, c);
    if (c->n_ops) {
        print_total(out, "forward, all", units_time_text, c->forward);
        print_total(out, "backward, all", units_time_text, c->backward);
    }
    print_total(out, "optimizer", units_time_text, c->update);
    print_total(out, "communication that is waited for", units_time_text,
                c->communication);
    print_total(out, "step", units_time_text, c->time);
    print_total(out, c->step->program == MEASURED_OWN ? "memory" : "memory, allocated",
                units_bytes_text, c->memory);
    print_total(out, "memory, reserved", units_bytes_text, c->reserved);
    print_stats(out, "operators:", &c->stats);
    if (c->stats.n)
        fprintf(out, "  of the time of these operators %.1f %% is misplaced\n",
                100 * c->misplaced);
}

static void print_origin(FILE *out, const struct comparisons *all)
{
    fprintf(out, "%s", all->file);
    if (all->device)
        fprintf(out, ": %s", all->device);
    if (all->date)
        fprintf(out, ", %s", all->date);
    if (all->driver)
        fprintf(out, ", driver %s", all->driver);
    fprintf(out, "\nGPU: %s", all->gpu);
    if (all->n_kernels)
        fprintf(out, ", fitted here to %" PRId64 " kernels of the same files",
                all->n_kernels);
    fprintf(out, "\nmachine: %s%s\n", all->instance,
            all->instance_named ? "" : " (--instance names another)");
}

static void print_notes(FILE *out, const struct measured *m)
{
    if (m->incomplete)
        fprintf(out, "a run did not come to its end: what it had measured is used\n");
    for (int64_t i = 0; i < m->failures.n; i++)
        report_wrap(out, "measurements that failed: ", "    ", m->failures.v[i]);
}

void report_compare_text(FILE *out, const struct comparisons *all)
{
    print_origin(out, all);
    print_notes(out, all->measured);
    for (int64_t i = 0; i < all->n; i++)
        print_comparison(out, &all->v[i]);
    if (all->n < 2)
        return;
    fprintf(out, "\nall %" PRId64 " steps\n", all->n);
    print_stats(out, "operators:", &all->operators);
    print_stats(out, "step times:", &all->steps);
    print_stats(out, "memory:", &all->memory);
}
