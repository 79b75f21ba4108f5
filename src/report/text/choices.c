/* Probabilities that plans are the best, against those that were. */
#include "report/choices.h"

#include "base/strbuf.h"
#include "report/text/wrap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NAME_W = 20 };

static void print_score(FILE *out, const char *name, const struct choices_score *s)
{
    double n = (double)s->n_jobs;
    if (strlen(name) > NAME_W) { /* a line of its own */
        fprintf(out, "  %s\n", name);
        name = "";
    }
    fprintf(out, "  %-*s %4" PRId64 " %6.3f %7.3f %5.3f", NAME_W, name, s->n_jobs,
            s->brier / n, s->brier_uniform / n, s->brier_point / n);
    for (int rule = 0; rule < CHOICES_RULES; rule++)
        fprintf(out, " %5.1f", 100 * s->regret[rule] / n);
    fprintf(out, " %6.1f\n", 100 * s->expected / n);
}

static void print_bins(FILE *out, const char *stated, const char *came,
                       const struct choices_bin bins[CHOICES_BINS])
{
    fprintf(out, "\n  %-13s %6s %9s %9s %9s %17s\n", stated, "plans", "mean",
            "expected", came, "90 % interval");
    for (int i = 0; i < CHOICES_BINS; i++) {
        const struct choices_bin *b = &bins[i];
        double low, high;
        if (b->n == 0)
            continue;
        choices_bounds(b, &low, &high);
        fprintf(out,
                "  %3d to %3d %%  %6" PRId64 " %7.1f %% %9.1f %9" PRId64
                " %5.1f to %5.1f %%\n",
                100 * i / CHOICES_BINS, 100 * (i + 1) / CHOICES_BINS, b->n,
                100 * b->stated, b->stated * (double)b->n, b->n_true, 100 * low,
                100 * high);
    }
}

static void print_pilot(FILE *out, const struct choices_replay *p)
{
    const double *const rows[] = { p->useful, p->random };
    static const char *const names[] = { "worth most", "random" };
    if (p->n_jobs == 0)
        return;
    fprintf(out,
            "\n  Regret of the choice after steps of alternatives were measured, %%"
            " (%" PRId64 " jobs)\n  %-12s",
            p->n_jobs, "measured");
    for (int k = 0; k <= CHOICES_PILOTS; k++)
        fprintf(out, " %6d", k);
    fputc('\n', out);
    for (int i = 0; i < 2; i++) {
        fprintf(out, "  %-12s", names[i]);
        for (int k = 0; k <= CHOICES_PILOTS; k++)
            fprintf(out, " %6.2f", 100 * rows[i][k] / (double)p->n_jobs);
        fputc('\n', out);
    }
}

static void print_widths(FILE *out, const struct risk_widths *w)
{
    struct strbuf widths;
    strbuf_init(&widths);
    for (int k = 0; k < RESOURCE_N; k++)
        strbuf_printf(&widths, "%s %.3f ", names_of(resource_names, k), w->resource[k]);
    fprintf(out, "\n  Widths that all sources say (of the logarithm)\n");
    report_wrap(out, "    ", "    ", strbuf_get(&widths));
    strbuf_release(&widths);
    fprintf(out,
            "    own %.3f, spread %.3f; slow runs %.3f of %.3f\n"
            "    memory: mean %.3f, shared %.3f, own %.3f\n",
            w->own, w->own_spread, w->slow_share, w->slow, w->memory_mean,
            w->memory_shared, w->memory_own);
}

void report_choices_text(FILE *out, const struct choices_report *r)
{
    fprintf(out,
            "\nChoices under uncertainty: each source by what the others say of the "
            "unknowns\n"
            "  %-*s %22s %30s\n  %-*s %4s %6s %7s %5s %5s %5s %5s %5s %6s\n",
            NAME_W + 3, "", "Brier: 0 sure and right", "regret of the first, %", NAME_W,
            "source", "jobs", "stated", "uniform", "point", "none", "mean", "p90",
            "worst", "stated");
    for (int32_t i = 0; i < r->n; i++)
        print_score(out, r->lines[i].source, &r->lines[i].score);
    print_score(out, "all", &r->all);
    print_bins(out, "best, stated", "were best", r->all.bins);
    print_bins(out, "unfit, stated", "failed", r->unfit);
    print_bins(out, "by those used", "failed", r->unfit_in_use);
    print_pilot(out, &r->pilot);
    print_widths(out, &r->widths);
}
