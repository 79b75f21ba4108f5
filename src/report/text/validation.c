/* What validate prints: errors by source, quantity and group. */
#include "base/terminal.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Columns of a name: what a table's numbers leave, `most` where that is more. */
static int name_width(FILE *out, int numbers, int most)
{
    int left = terminal_width(out) - numbers;
    return left < most ? left : most;
}

/* Of what a row is called. */
static int key_width(FILE *out)
{
    return name_width(out, 49, 34);
}

static void print_header(FILE *out, const char *first)
{
    fprintf(out, "  %-*s %6s %9s %9s %9s %9s\n", key_width(out), first, "n", "mean |e|",
            "median", "largest", "bias");
}

static void print_metric(FILE *out, const char *key, const struct stats *s)
{
    if ((int)strlen(key) > key_width(out)) { /* a line of its own */
        fprintf(out, "  %s\n", key);
        key = "";
    }
    if (s->n == 0) { /* nothing was compared */
        fprintf(out, "  %-*s %6d %9s %9s %9s %9s\n", key_width(out), key, 0, "-", "-",
                "-", "-");
        return;
    }
    fprintf(out, "  %-*s %6" PRId64 " %7.1f %% %7.1f %% %7.1f %% %+7.1f %%\n",
            key_width(out), key, s->n, 100 * s->mean_abs, 100 * s->median_abs,
            100 * s->max_abs, 100 * s->bias);
}

/* The floor to any law that does not know what makes them differ. */
static void print_equal(FILE *out, const struct stats *s)
{
    if (s->n)
        print_metric(out, "  rows that should be equal", s);
}

static void print_metrics(FILE *out, const struct summary_metrics *m)
{
    for (int32_t i = 0; i < m->n; i++) {
        print_metric(out, m->v[i].key, &m->v[i].stats);
        print_equal(out, &m->v[i].equal);
    }
}

/* "1048576 to 33554432: time_s" */
static void band_name(char *buf, size_t size, const struct summary_band *b,
                      const char *key)
{
    if (isfinite(b->from) && isfinite(b->to))
        snprintf(buf, size, "%.12g to %.12g: %s", b->from, b->to, key);
    else if (isfinite(b->from))
        snprintf(buf, size, "from %.12g: %s", b->from, key);
    else if (isfinite(b->to))
        snprintf(buf, size, "below %.12g: %s", b->to, key);
    else
        snprintf(buf, size, "%s", key);
}

static void print_band(FILE *out, const struct summary_band *b)
{
    for (int32_t i = 0; i < b->metrics.n; i++) {
        char name[128];
        band_name(name, sizeof(name), b, b->metrics.v[i].key);
        print_metric(out, name, &b->metrics.v[i].stats);
        print_equal(out, &b->metrics.v[i].equal);
    }
}

static void print_bands(FILE *out, const struct summary *s)
{
    const char *table = NULL;
    for (int32_t i = 0; i < s->n_bands; i++) {
        const struct summary_band *b = &s->bands[i];
        if (i == 0 && !b->table)
            print_header(out, "by band");
        if (b->table != table)
            fprintf(out, "  -- %s\n", b->table);
        table = b->table;
        print_band(out, b);
    }
}

static void print_ranking(FILE *out, const char *name, const struct ranking *r)
{
    char spearman[16] = "-";
    if (isfinite(r->spearman))
        snprintf(spearman, sizeof(spearman), "%.3f", r->spearman);
    fprintf(out, "  %-*.*s %5" PRId64 " %8s %5.1f %% %5.1f %% %5.1f %% %5.1f %%\n",
            key_width(out), key_width(out), name, r->n, spearman, 100 * r->regret,
            100 * r->regret_top3, 100 * r->regret_second, 100 * r->regret_second_top3);
}

static void print_groups(FILE *out, const struct summary *s)
{
    if (s->n_groups == 0)
        return;
    fprintf(out, "\n  %-*s %5s %8s %7s %7s %7s %7s\n", key_width(out),
            "alternatives for one job", "n", "Spearman", "regret", "top-3", "2nd",
            "top-3");
    for (int64_t i = 0; i < s->n_groups; i++)
        print_ranking(out, s->group_names[i], &s->rankings[i]);
    struct ranking mean = ranking_mean(s->rankings, s->n_groups);
    print_ranking(out, "all jobs, mean", &mean);
}

/* Where runs failed: whether those are predicted too large, and those that ran not. */
static void print_verdicts(FILE *out, const struct mapping_run *run,
                           const struct summary_verdicts *v)
{
    const struct {
        const char *what;
        int64_t fits, large, refused;
    } rows[] = {
        { "ran", v->ran_fits, v->ran_not, 0 },
        { "failed", v->failed_fits, v->failed_not, v->failed_refused },
        { "failed, no such or larger one ran", v->failed_fits - v->outdone_fits,
          v->failed_not - v->outdone_not, v->failed_refused },
    };
    if (run->mapping->kind != MAPPING_SCENARIO || v->ran_fits + v->ran_not == 0 ||
        v->failed_fits + v->failed_not == 0)
        return;
    fprintf(out, "\n  %-*s %9s %9s %9s %12s\n", key_width(out), "runs, and memory",
            "fits", "too large", "refused", "called so");
    for (int i = 0; i < (run->mapping->outdone.by.n ? 3 : 2); i++)
        fprintf(out, "  %-*s %9" PRId64 " %9" PRId64 " %9" PRId64 " %10.1f %%\n",
                key_width(out), rows[i].what, rows[i].fits, rows[i].large,
                rows[i].refused,
                100.0 * (double)(rows[i].large + rows[i].refused) /
                    fmax(1, (double)(rows[i].fits + rows[i].large + rows[i].refused)));
}

/* Of a row's name in the list of all. */
static int row_width(FILE *out)
{
    return name_width(out, 48, 44);
}

static void print_row(FILE *out, const struct mapping_outcome *o)
{
    if (o->error) {
        fprintf(out, "  %s: ", o->name);
        report_wrap(out, o->refused ? "refused: " : "FAILED: ", "      ", o->error);
        return;
    }
    for (int32_t i = 0; i < o->n_quantities; i++) {
        const struct mapping_quantity *q = &o->quantities[i];
        fprintf(out, "  %-*.*s %-14.14s %10.4g %10.4g %+6.1f %%\n", row_width(out),
                row_width(out), o->name, q->key, q->measured, q->predicted,
                100 * (q->predicted / q->measured - 1));
    }
    if (o->has_fits && o->fits_measured != o->fits_predicted)
        fprintf(out, "  %-*.*s %s\n", row_width(out), row_width(out), o->name,
                o->fits_measured ? "ran, but is predicted not to fit"
                                 : "was out of memory, but is predicted to fit");
}

static void print_rows(FILE *out, const struct mapping_run *run)
{
    fprintf(out, "\n  %-*s %-14s %10s %10s %8s\n", row_width(out), "row", "quantity",
            "measured", "predicted", "error");
    for (int64_t i = 0; i < run->n_outcomes; i++)
        print_row(out, &run->outcomes[i]);
}

/* The distinct reasons would do, but the first few rows help to find them. */
static void print_failures(FILE *out, const struct mapping_run *run)
{
    enum { SHOWN = 5 };
    int shown = 0;
    for (int64_t i = 0; i < run->n_outcomes && shown < SHOWN; i++)
        if (run->outcomes[i].error && !run->outcomes[i].refused) {
            print_row(out, &run->outcomes[i]);
            shown++;
        }
    if (run->n_failed > shown)
        fprintf(out, "  and %" PRId64 " more (--rows lists them)\n",
                run->n_failed - shown);
}

/* "  3 rows left out: why", a line for each rule that some row met. */
static void print_rules(FILE *out, const struct filters *f, const char *indent,
                        const char *what)
{
    for (int64_t i = 0; i < f->list.n; i++)
        if (f->list.v[i].n_dropped) {
            char first[64];
            snprintf(first, sizeof(first), "%s%" PRId64 " rows %s: ", indent,
                     f->list.v[i].n_dropped, what);
            report_wrap(out, first, "      ", f->list.v[i].why);
        }
}

static void print_dropped(FILE *out, const struct mapping_run *run)
{
    print_rules(out, &run->mapping->filters, "  ", "left out");
    if (run->n_outliers) {
        char first[96];
        snprintf(first, sizeof(first),
                 "  %" PRId64 " rows count in no error: ", run->n_outliers);
        report_wrap(out, first, "      ", run->mapping->healthy.why);
    }
    if (run->n_unmeasured)
        fprintf(out, "  %" PRId64 " rows measure nothing that is asked for\n",
                run->n_unmeasured);
}

void report_validation_text(FILE *out, const struct mapping_run *run,
                            const struct summary *s, bool rows)
{
    const struct mapping *m = run->mapping;
    char first[160];
    snprintf(first, sizeof(first), "%.140s: ", m->name);
    report_wrap(out, first, "    ", m->source);
    if (m->hardware)
        report_wrap(out, "    on ", "    ", m->hardware);
    if (m->recalled)
        fputs("    numbers recalled, not read in the source\n", out);
    if (m->held_out)
        fputs("    no prediction was fitted to it\n", out);
    if (m->held_out)
        print_rules(out, &m->fitted, "    but to ", "of it");
    fprintf(out, "  %" PRId64 " rows, %" PRId64 " dropped, %" PRId64 " failed",
            run->n_rows, run->n_dropped, run->n_failed);
    if (m->kind == MAPPING_SCENARIO)
        fprintf(out, ", %" PRId64 " wrong about fitting in memory", run->n_wrong_fits);
    fputc('\n', out);
    print_dropped(out, run);
    print_header(out, "predicted / measured - 1");
    print_metrics(out, &s->metrics);
    print_bands(out, s);
    print_verdicts(out, run, &s->verdicts);
    print_groups(out, s);
    if (rows)
        print_rows(out, run);
    else
        print_failures(out, run);
}

/* A brief row's name and quantity; on a narrow terminal a name that is too long for its
 * column has a line of its own. */
static void print_brief_name(FILE *out, const char *name, const char *quantity)
{
    enum { MOST = 38 };
    int width = terminal_is(out) ? name_width(out, 55, MOST) : MOST;
    if ((int)strlen(name) > width && width < MOST) {
        fprintf(out, "%s\n", name);
        name = "";
    }
    fprintf(out, "%-*.*s %-14.14s", width, width, name, quantity);
}

void report_validation_brief_header(FILE *out)
{
    print_brief_name(out, "source", "quantity");
    fprintf(out, " %5s %7s %8s %8s %7s\n", "n", "mean", "median", "largest", "bias");
}

void report_validation_brief(FILE *out, const struct mapping_run *run,
                             const struct summary *s)
{
    for (int32_t i = 0; i < s->metrics.n; i++) {
        const struct stats *x = &s->metrics.v[i].stats;
        print_brief_name(out, i == 0 ? run->mapping->name : "", s->metrics.v[i].key);
        fprintf(out, " %5" PRId64, x->n);
        if (x->n == 0) /* nothing was compared */
            fprintf(out, " %7s %8s %8s %7s\n", "-", "-", "-", "-");
        else
            fprintf(out, " %5.1f %% %6.1f %% %6.0f %% %+5.1f %%\n", 100 * x->mean_abs,
                    100 * x->median_abs, 100 * x->max_abs, 100 * x->bias);
    }
}
