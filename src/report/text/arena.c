/* What validate --arena prints: simulators side by side. */
#include "report/arena.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NAME = 30 };

static void print_fraction(FILE *out, int64_t n, double v, const char *form)
{
    char text[32] = "-";
    if (n && isfinite(v))
        snprintf(text, sizeof(text), form, 100 * v);
    fprintf(out, " %9s", text);
}

/* A line of the table: the errors of one quantity. */
static void print_line(FILE *out, const char *name, const struct stats *s)
{
    fprintf(out, "  %-*.*s %6" PRId64, NAME, NAME, name, s->n);
    print_fraction(out, s->n, s->mean_abs, "%.1f %%");
    print_fraction(out, s->n, s->median_abs, "%.1f %%");
    print_fraction(out, s->n, s->max_abs, "%.1f %%");
    print_fraction(out, s->n, s->bias, "%+.1f %%");
    fputc('\n', out);
}

static const struct summary_metric *metric_of(const struct summary *s, const char *key)
{
    for (int32_t i = 0; i < s->metrics.n; i++)
        if (strcmp(s->metrics.v[i].key, key) == 0)
            return &s->metrics.v[i];
    return NULL;
}

static const char *label_of(char *buf, size_t size, const struct rival *r)
{
    snprintf(buf, size, "%s%s%s%s", r->name, *r->version ? " " : "", r->version,
             r->tuned ? " *" : "");
    return buf;
}

/* Ours on all rows, then each with ours on its rows where those are fewer. */
static void print_quantity(FILE *out, const struct arena_side *a,
                           const struct summary_metric *own)
{
    char label[128];
    fprintf(out, "  %-*s %6s %9s %9s %9s %9s\n", NAME, own->key, "n", "mean |e|",
            "median", "largest", "bias");
    print_line(out, a->tuned ? "smsim *" : "smsim", &own->stats);
    for (int64_t i = 0; i < a->rivals->n; i++) {
        const struct rival *r = &a->rivals->v[i];
        const struct summary_metric *its = metric_of(&r->summary, own->key),
                                    *ours = metric_of(&r->ours, own->key);
        if (!its)
            continue;
        print_line(out, label_of(label, sizeof(label), r), &its->stats);
        if (ours && ours->stats.n != own->stats.n)
            print_line(out, "  smsim on these rows", &ours->stats);
    }
    if (own->equal.n)
        print_line(out, "rows that should be equal", &own->equal);
}

static void print_order(FILE *out, const char *name, const struct summary *s)
{
    struct ranking mean = ranking_mean(s->rankings, s->n_groups);
    char spearman[16] = "-";
    if (s->n_groups == 0)
        return;
    if (isfinite(mean.spearman))
        snprintf(spearman, sizeof(spearman), "%.3f", mean.spearman);
    fprintf(out, "  %-*.*s %6" PRId64 " %6" PRId64 " %9s %7.1f %% %10.1f %%\n", NAME,
            NAME, name, s->n_groups, mean.n, spearman, 100 * mean.regret,
            100 * mean.regret_top3);
}

static int64_t alternatives_of(const struct summary *s)
{
    return ranking_mean(s->rankings, s->n_groups).n;
}

/* Likewise: of runs that failed, some simulators predict nothing. */
static void print_orders(FILE *out, const struct arena_side *a)
{
    char label[128];
    if (a->ours->n_groups == 0)
        return;
    fprintf(out, "  %-*s %6s %6s %9s %9s %12s\n", NAME, "order of alternatives", "jobs",
            "n", "Spearman", "regret", "top-3 regret");
    print_order(out, a->tuned ? "smsim *" : "smsim", a->ours);
    for (int64_t i = 0; i < a->rivals->n; i++) {
        const struct rival *r = &a->rivals->v[i];
        print_order(out, label_of(label, sizeof(label), r), &r->summary);
        if (alternatives_of(&r->ours) != alternatives_of(a->ours))
            print_order(out, "  smsim on these rows", &r->ours);
    }
}

static void print_speed(FILE *out, const struct arena_side *a)
{
    char label[128];
    if (a->row_s <= 0)
        return;
    fprintf(out, "  %-*s %9s\n", NAME, "CPU time", "ms a row");
    fprintf(out, "  %-*s %9.3g\n", NAME, "smsim", 1e3 * a->row_s);
    for (int64_t i = 0; i < a->rivals->n; i++)
        if (a->rivals->v[i].row_s > 0)
            fprintf(out, "  %-*s %9.3g\n", NAME,
                    label_of(label, sizeof(label), &a->rivals->v[i]),
                    1e3 * a->rivals->v[i].row_s);
}

static void print_notes(FILE *out, const struct arena_side *a)
{
    char first[160];
    if (a->tuned)
        report_wrap(out, "  * smsim: ", "      ", a->tuned);
    for (int64_t i = 0; i < a->rivals->n; i++) {
        const struct rival *r = &a->rivals->v[i];
        snprintf(first, sizeof(first), "  * %.60s: ", r->name);
        if (r->tuned)
            report_wrap(out, first, "      ", r->tuned);
        snprintf(first, sizeof(first), "  %.60s: ", r->name);
        if (r->how)
            report_wrap(out, first, "      ", r->how);
        if (r->n_elsewhere)
            fprintf(out, "  %.60s: %" PRId64 " of its rows are not in this table\n",
                    r->name, r->n_elsewhere);
    }
}

void report_arena_text(FILE *out, const struct arena_side *a)
{
    char first[160];
    snprintf(first, sizeof(first), "%.140s: ", a->mapping->name);
    report_wrap(out, first, "    ", a->mapping->source);
    for (int32_t i = 0; i < a->ours->metrics.n; i++)
        print_quantity(out, a, &a->ours->metrics.v[i]);
    print_orders(out, a);
    print_speed(out, a);
    print_notes(out, a);
}

void report_claims_text(FILE *out, const struct rival_claims *c)
{
    char first[160];
    if (c->n)
        fputs("\nClaims of publications, not computed here\n", out);
    for (int64_t i = 0; i < c->n; i++) {
        const struct rival_claim *k = &c->v[i];
        snprintf(first, sizeof(first), "  %-24.60s %6.1f %%  ", k->name,
                 100 * k->mean_error);
        report_wrap(out, first, "      ", k->what);
        report_wrap(out, "      ", "      ", k->source);
    }
}
