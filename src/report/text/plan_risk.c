/* Plans with what is not known of them, and what decides between them. */
#include "report/text/plan.h"

#include "base/units.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

/* "62 %", and "<1 %" of what is neither none nor one. */
static const char *percent(char *buf, size_t size, double share)
{
    const double none = 5e-4;
    if (share >= none && share < 0.01)
        snprintf(buf, size, "<1 %%");
    else
        snprintf(buf, size, "%.0f %%", 100 * share);
    return buf;
}

/* The plan with its cluster before it. */
static void plan_words(char *text, size_t size, const struct plan_report *r,
                       const struct plan_entry *e)
{
    plan_point_cluster_text(r->job, &e->point, text, size / 4);
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, size - at, ", ");
    plan_point_text(r->job, &e->point, text + at, size - at);
}

/* With what is not known of it. */
void plan_risky_print(FILE *out, const struct plan_report *r, int32_t rank,
                      const struct plan_entry *e)
{
    char time[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX], text[364], best[16], unfit[16];
    fprintf(out, "%4d %9s %9s %4.1f %% %8s%s", rank,
            units_time_text(time, e->result.step_time_s),
            units_number_text(UNITS_BUF, e->result.samples_per_s, 5),
            100 * e->result.mfu, units_bytes_text(memory, (double)e->result.peak_B),
            e->result.near_limit ? "!" : " ");
    plan_usd_print(out, "%8s", e->usd_per_hour);
    plan_usd_print(out, " %8s", plan_usd_per_million(r, e));
    fprintf(out, " %6s %5.1f %% %6s\n", percent(best, sizeof(best), e->risk.best),
            100 * risk_regret(&e->risk, r->options->risk.rule),
            percent(unfit, sizeof(unfit), e->risk.unfit));
    plan_words(text, sizeof(text), r, e);
    report_wrap(out, "     ", "     ", text);
}

static void print_risk_words(FILE *out, const struct plan_report *r)
{
    static const char *const saved[] = {
        [PLAN_TIME] = "time", [PLAN_COST] = "cost", [PLAN_MEMORY] = "memory"
    };
    static const char *const how[] = { [RISK_MEAN] = "in the mean",
                                       [RISK_P90] = "in nine cases of ten at most",
                                       [RISK_MINIMAX] = "at worst" };
    char text[300];
    snprintf(text, sizeof(text),
             "of %d draws of what is not known: best: no other plan is better; "
             "regret: the share of its %s that the best plan saves, %s; unfit: "
             "it does not fit",
             (int)r->options->risk.draws, saved[r->options->objective],
             how[r->options->risk.rule]);
    report_wrap(out, "", "", text);
}

/* "the network gives under 4.2 GB/s a GPU" */
static void decision_text(char *buf, size_t size, const struct risk_decision *d,
                          const struct plan_entry *first)
{
    static const char *const slow[] = {
        [RESOURCE_PRODUCTS] = "matrix products take %s %s",
        [RESOURCE_ATTENTION] = "fused attention takes %s %s",
        [RESOURCE_MEMORY] = "kernels that move memory take %s %s",
        [RESOURCE_HOST] = "the host takes %s %s",
        [RESOURCE_LINKS] = "links inside nodes take %s %s",
        [RESOURCE_NETWORK] = "the network takes %s %s",
        [RISK_UNKNOWN_MEMORY] = "plans need %s %s",
    };
    const char *than = d->unknown == RISK_UNKNOWN_MEMORY ? "of the predicted memory"
                                                         : "of the predicted time";
    double Bps = first->result.by.network_Bps;
    char part[64];
    if (d->unknown == RESOURCE_NETWORK && Bps > 0) {
        snprintf(buf, size, "the network gives %s %.3g GB/s a GPU (%.3g as predicted)",
                 d->above ? "under" : "over", Bps / d->factor / 1e9, Bps / 1e9);
        return;
    }
    snprintf(part, sizeof(part), "%s than %.0f %%", d->above ? "more" : "less",
             100 * d->factor);
    snprintf(buf, size, slow[d->unknown], part, than);
}

/* Of what plans share another would lead: what is each plan's own keeps it from that. */
static void leads_by_own(char *text, size_t size, const struct plan_outcome *o,
                         const char *share)
{
    int32_t other = o->decides.other;
    const double alike = 0.005; /* both are printed as the same */
    double own = o->entries[other].risk.unfit, firsts = o->entries[0].risk.unfit;
    char a[16], b[16];
    int n =
        snprintf(text, size, "by what plans share, plan %d is better in %s of draws; ",
                 (int)other + 1, share);
    if (own > firsts + alike)
        snprintf(text + n, size - (size_t)n,
                 "its chance not to fit keeps it back: %s, plan 1's is %s",
                 percent(a, sizeof(a), own), percent(b, sizeof(b), firsts));
    else
        snprintf(text + n, size - (size_t)n, "in the others it loses more");
}

/* Whether the other plan is better in most draws, but may not fit. */
static bool is_held_back(const struct plan_outcome *o)
{
    const struct risk_decision *d = &o->decides;
    return d->share > 0.5 && o->entries[d->other].risk.unfit > o->entries[0].risk.unfit;
}

/* A plan that is named, and that the list does not reach. */
static void print_unlisted(FILE *out, const struct plan_report *r, int32_t at)
{
    const struct plan_entry *e = &r->outcome->entries[at];
    char time[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX], words[364], head[32], text[460];
    plan_words(words, sizeof(words), r, e);
    snprintf(head, sizeof(head), "  plan %d: ", (int)at + 1);
    snprintf(text, sizeof(text), "%s, %s: %s",
             units_time_text(time, e->result.step_time_s),
             units_bytes_text(memory, (double)e->result.peak_B), words);
    report_wrap(out, head, "    ", text);
}

/* What makes another plan better than the first. */
static void print_decision(FILE *out, const struct plan_report *r)
{
    const struct plan_outcome *o = r->outcome;
    const struct risk_decision *d = &o->decides;
    char text[400], when[200], share[16];
    if (o->n_entries < 2)
        return;
    decision_text(when, sizeof(when), d, &o->entries[0]);
    if (!d->changes)
        snprintf(text, sizeof(text),
                 "nothing that plans share: plan 1 is the best in all draws but for "
                 "residuals of the plans' own");
    else if (d->known && !is_held_back(o))
        snprintf(text, sizeof(text),
                 "plan 1 wins over plan %d unless %s: %s of draws, residuals of their "
                 "own apart",
                 (int)d->other + 1, when, percent(share, sizeof(share), d->share));
    else if (d->share > 0.5)
        leads_by_own(text, sizeof(text), o, percent(share, sizeof(share), d->share));
    else
        snprintf(text, sizeof(text),
                 "plan %d is better than plan 1 in %s of draws, residuals of their own "
                 "apart, and no unknown shows alone in which",
                 (int)d->other + 1, percent(share, sizeof(share), d->share));
    report_wrap(out, "what decides: ", "  ", text);
    if (d->changes && d->other >= r->options->listed)
        print_unlisted(out, r, d->other);
}

/* Why plans come second and third that others lose less than. */
static void print_tries(FILE *out, const struct plan_report *r)
{
    const struct risk_tries *t = &r->outcome->tries;
    char text[300];
    int32_t shown = t->n < r->options->listed ? t->n : r->options->listed;
    if (shown < 2)
        return;
    int n = snprintf(text, sizeof(text),
                     "with residuals of its own plan 1 loses %.1f %%, the better of "
                     "plans 1 and 2 %.1f %%",
                     100 * t->lost[0], 100 * t->lost[1]);
    if (shown > 2)
        n += snprintf(text + n, sizeof(text) - (size_t)n, ", the best of three %.1f %%",
                      100 * t->lost[2]);
    snprintf(text + n, sizeof(text) - (size_t)n,
             ": %s chosen for that, the others by regret",
             shown > 2 ? "2 and 3 are" : "2 is");
    report_wrap(out, "tries: ", "  ", text);
}

void plan_risk_print(FILE *out, const struct plan_report *r)
{
    print_risk_words(out, r);
    print_tries(out, r);
    print_decision(out, r);
}
