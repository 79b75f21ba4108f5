/* What plan prints: the plans, what binds the best, what would help. */
#include "report/plan_text.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "report/plan_report.h"

#include "base/xmalloc.h"
#include "report/report.h"
#include "search/plan_assumed.h"
#include "search/plan_front.h"
#include "search/space_users.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALTERNATIVES_SHOWN = 5 };

static void wrap(FILE *out, const char *first, const char *text)
{
    report_wrap(out, first, "    ", text);
}

/* Head ----------------------------------------------------------------------------- */

/* What was not simulated, and may be better than all that was. */
static void print_missed(FILE *out, const struct plan_outcome *o)
{
    const struct plan_missed *m = &o->missed;
    char text[300];
    if (m->n <= 0 || !o->complete)
        return;
    snprintf(text, sizeof(text),
             "%" PRId64 " not simulated: by scores the nearest is %.1f %% %s than the "
             "best; scores were off by %.0f %% at most, and the chance that it is the "
             "best is %.0f %%",
             m->n, 100 * fabs(m->nearest), m->nearest < 0 ? "better" : "worse",
             100 * m->largest_error, 100 * m->chance);
    report_wrap(out, "", "", text);
}

static void print_counts(FILE *out, const struct plan_report *r)
{
    const struct plan_outcome *o = r->outcome;
    fprintf(out,
            "%s combinations; %" PRId64 " that the rules allow, %" PRId64
            " that memory may hold\n"
            "%" PRId64 " simulated: %" PRId64 " too large, %" PRId64
            " that could not be simulated\n",
            units_count_text(UNITS_BUF, o->space), (int64_t)o->evaluated,
            (int64_t)o->feasible, (int64_t)o->simulated, (int64_t)o->unfit,
            (int64_t)o->refused);
    if (o->near && o->complete && o->n_sure < r->options->listed)
        fprintf(out,
                "%" PRId64
                " more may be among the first %d by their scores (error %.0f %%): "
                "--exhaustive\nsimulates all\n",
                (int64_t)o->near, r->options->listed, 100 * o->score_error);
    print_missed(out, o);
    if (!o->complete)
        fprintf(out,
                "partial: stopped before the end; what follows is the best so far\n");
}

/* Of the network, as the job names it; what is assumed of it is printed above. */
static void print_quality(FILE *out, const struct plan_job *job)
{
    const json_t *q = plan_quality(job);
    if (json_is_string(q))
        fprintf(out, "network: %s\n", json_string_value(q));
    else if (json_is_number(q))
        fprintf(out, "network: %.6g of the runs have it better\n",
                json_number_value(q));
}

static void print_head(FILE *out, const struct plan_report *r)
{
    const struct space *s = &r->job->space;
    fprintf(out, "%s, %" PRId64 " sequences of %" PRId64 " tokens a step, best %s\n",
            s->model->label, (int64_t)s->global_batch, (int64_t)s->sequence,
            r->options->objective == PLAN_COST     ? "cost"
            : r->options->objective == PLAN_MEMORY ? "memory"
                                                   : "time");
    report_assumed(out, "assumed: ", &r->job->assumed);
    print_quality(out, r->job);
    print_counts(out, r);
}

static void print_warnings(FILE *out, const struct plan_report *r)
{
    const struct plan_outcome *o = r->outcome;
    char text[400];
    if (r->job->price_note)
        wrap(out, "warning: ", r->job->price_note);
    if (plan_job_unused(r->job))
        wrap(out, "note: ", plan_job_unused(r->job));
    if (!o->refusal)
        return;
    snprintf(text, sizeof(text), "%" PRId64 " of those chosen were left out: %s",
             (int64_t)o->refused, o->refusal);
    wrap(out, "warning: ", text);
}

/* Plans ---------------------------------------------------------------------------- */

double plan_usd_per_million(const struct plan_report *r, const struct plan_entry *e)
{
    return plan_axis_value(r->job, e, PLAN_AXIS_COST);
}

static void print_usd(FILE *out, const char *format, double usd)
{
    char text[32];
    snprintf(text, sizeof(text), usd < 100 ? "%.2f" : "%.0f", usd);
    fprintf(out, format, isfinite(usd) ? text : "-");
}

static void print_entry(FILE *out, const struct plan_report *r, int32_t rank,
                        const struct plan_entry *e)
{
    char time[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX], cluster[64], text[300];
    fprintf(out, "%3d%s %-22s %10s %9s %5.1f %% %9s%s", rank, e->tie ? "~" : " ",
            plan_point_cluster_text(r->job, &e->point, cluster, sizeof(cluster)),
            units_time_text(time, e->result.step_time_s),
            units_number_text(UNITS_BUF, e->result.samples_per_s, 5),
            100 * e->result.mfu, units_bytes_text(memory, (double)e->result.peak_B),
            e->result.near_limit ? "!" : " ");
    print_usd(out, "%9s", e->usd_per_hour);
    print_usd(out, " %9s\n", plan_usd_per_million(r, e));
    wrap(out, "     ", plan_point_text(r->job, &e->point, text, sizeof(text)));
}

/* "62 %", and "<1 %" of what is neither none nor one. */
static const char *percent(char *buf, size_t size, double share)
{
    if (share > 0 && share < 0.01)
        snprintf(buf, size, "<1 %%");
    else
        snprintf(buf, size, "%.0f %%", 100 * share);
    return buf;
}

/* With what is not known of it; its cluster is written before the plan. */
static void print_risky(FILE *out, const struct plan_report *r, int32_t rank,
                        const struct plan_entry *e)
{
    char time[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX], text[364], best[16], unfit[16];
    fprintf(out, "%4d %9s %9s %4.1f %% %8s%s", rank,
            units_time_text(time, e->result.step_time_s),
            units_number_text(UNITS_BUF, e->result.samples_per_s, 5),
            100 * e->result.mfu, units_bytes_text(memory, (double)e->result.peak_B),
            e->result.near_limit ? "!" : " ");
    print_usd(out, "%8s", e->usd_per_hour);
    print_usd(out, " %8s", plan_usd_per_million(r, e));
    fprintf(out, " %6s %5.1f %% %6s\n", percent(best, sizeof(best), e->risk.best),
            100 * risk_regret(&e->risk, r->options->risk.rule),
            percent(unfit, sizeof(unfit), e->risk.unfit));
    plan_point_cluster_text(r->job, &e->point, text, sizeof(text) / 4);
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, sizeof(text) - at, ", ");
    plan_point_text(r->job, &e->point, text + at, sizeof(text) - at);
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
    double own = o->entries[other].risk.unfit, firsts = o->entries[0].risk.unfit;
    char a[16], b[16];
    int n =
        snprintf(text, size, "by what plans share, plan %d is better in %s of draws; ",
                 (int)other + 1, share);
    if (own > firsts)
        snprintf(text + n, size - (size_t)n,
                 "its chance not to fit keeps it back: %s, plan 1's is %s",
                 percent(a, sizeof(a), own), percent(b, sizeof(b), firsts));
    else
        snprintf(text + n, size - (size_t)n, "what is each plan's own decides");
}

/* Whether the other plan is better in most draws, but may not fit. */
static bool is_held_back(const struct plan_outcome *o)
{
    const struct risk_decision *d = &o->decides;
    return d->share > 0.5 && o->entries[d->other].risk.unfit > o->entries[0].risk.unfit;
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
}

/* "would take 12 % less": what a filter keeps back. */
static void print_kept(FILE *out, const struct plan_report *r, enum plan_standing why)
{
    static const char *const gains[] = {
        [PLAN_TIME] = "take", [PLAN_COST] = "cost", [PLAN_MEMORY] = "need"
    };
    const struct plan_outcome *o = r->outcome;
    const struct plan_entry *e = &o->kept[why];
    char line[900], text[300], reason[200], need[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX];
    if (!o->has_kept[why])
        return;
    if (why == PLAN_TIGHT)
        snprintf(reason, sizeof(reason), "its %s of %s fit with less than 90 %%",
                 units_bytes_text(need, (double)e->result.peak_B),
                 units_bytes_text(room, (double)e->result.capacity_B));
    else
        space_users_why(&r->job->space, &e->point, reason, sizeof(reason));
    int at = snprintf(line, sizeof(line), "%s would %s %.3g %% less, but %s: ",
                      space_stacks[e->point.v[SPACE_LIBRARY]].name,
                      gains[r->options->objective],
                      100 * (1 - e->value / o->entries[0].value), reason);
    plan_point_cluster_text(r->job, &e->point, text, sizeof(text));
    at += snprintf(line + at, sizeof(line) - (size_t)at, "%s, ", text);
    plan_point_text(r->job, &e->point, text, sizeof(text));
    snprintf(line + at, sizeof(line) - (size_t)at, "%s", text);
    wrap(out, "kept back: ", line);
}

/* What those that are listed lack, where none has it all. */
static void print_standing(FILE *out, const struct plan_report *r)
{
    const struct plan_entry *e = &r->outcome->entries[0];
    char why[200];
    if (e->result.near_limit && r->options->risk.rule != RISK_NONE)
        fprintf(out,
                "! plan 1 does not fit in %.0f %% of draws: its memory is within "
                "the error of its prediction\n",
                100 * e->risk.unfit);
    else if (e->result.near_limit)
        fprintf(out, "! no plan fits with 90 %%: memory is within the error of its "
                     "prediction, all may fail\n");
    if (e->standing >= PLAN_FOREIGN)
        fprintf(out, "No library that the model's users have can run it: %s\n",
                space_users_why(&r->job->space, &e->point, why, sizeof(why)));
}

static void print_plans(FILE *out, const struct plan_report *r)
{
    const struct plan_outcome *o = r->outcome;
    bool risky = r->options->risk.rule != RISK_NONE;
    int32_t ties = 0;
    if (risky)
        fprintf(out, "\n%4s %9s %9s %6s %8s  %7s %8s %6s %7s %6s\n", "#", "step",
                "samples/s", "MFU", "memory", "USD/h", "USD/M", "best", "regret",
                "unfit");
    else
        fprintf(out, "\n%4s %-22s %10s %9s %7s %9s %9s %9s\n", "#", "cluster", "step",
                "samples/s", "MFU", "memory", "USD/h", "USD/M");
    int32_t shown =
        o->n_entries < r->options->listed ? o->n_entries : r->options->listed;
    for (int32_t i = 0; i < shown; i++)
        (risky ? print_risky : print_entry)(out, r, i + 1, &o->entries[i]);
    for (int32_t i = 0; i < o->n_entries && !risky; i++)
        ties += o->entries[i].tie;
    if (shown < o->n_entries)
        fprintf(out, "%d of ", shown);
    fprintf(out, "%d plans; USD/M: per million samples\n", o->n_entries);
    if (risky) {
        print_risk_words(out, r);
        print_decision(out, r);
    }
    if (o->n_sure < shown)
        fprintf(out, "what is not simulated may take ranks from %d on\n",
                o->n_sure + 1);
    if (ties)
        fprintf(out, "~ ties with the best: within its range, to +%.0f %% (%d plans)\n",
                100 * o->tie_error, ties);
    print_standing(out, r);
    print_kept(out, r, PLAN_FOREIGN);
    print_kept(out, r, PLAN_TIGHT);
}

static void print_job(FILE *out, const struct plan_report *r)
{
    const struct plan_entry *e = &r->outcome->entries[0];
    const struct whole_job *around = &r->job->beyond.job;
    if (!isfinite(e->hours))
        return;
    fprintf(out, "\nThe whole job: %s steps, %s hours",
            units_number_text(UNITS_BUF, r->job->steps, 6),
            units_number_text(UNITS_BUF, e->hours, 4));
    if (around->given)
        fprintf(out, ", %s of them steps, %s billed",
                units_number_text(
                    UNITS_BUF, r->job->steps * e->result.step_time_s / UNITS_HOUR_S, 4),
                units_number_text(UNITS_BUF, e->result.billed_s / UNITS_HOUR_S, 4));
    if (around->spot_discount > 0)
        fprintf(out, ", spot %.0f %% off", 100 * around->spot_discount);
    if (isfinite(e->usd))
        fprintf(out, ", %s USD", units_number_text(UNITS_BUF, e->usd, 6));
    fputc('\n', out);
}

/* The fewest GPUs on which something fits. */
static void print_smallest(FILE *out, const struct plan_report *r)
{
    const struct plan_outcome *o = r->outcome;
    const struct plan_entry *least = &o->entries[0];
    char cluster[64], time[UNITS_TEXT_MAX];
    for (int32_t i = 1; i < o->n_entries; i++)
        if (o->entries[i].point.world < least->point.world)
            least = &o->entries[i];
    if (r->job->space.n[SPACE_COUNT] * r->job->space.n[SPACE_INSTANCE] > 1)
        fprintf(
            out, "\nThe smallest cluster simulated that fits: %s, %s a step\n",
            plan_point_cluster_text(r->job, &least->point, cluster, sizeof(cluster)),
            units_time_text(time, least->result.step_time_s));
}

/* Why ------------------------------------------------------------------------------ */

static void print_parts(FILE *out, const struct plan_entry *e)
{
    char time[UNITS_TEXT_MAX];
    for (int i = 0; i < CATEGORY_N; i++)
        if (i != CATEGORY_DATA_COMM_HIDDEN && e->result.parts_s[i] > 0)
            fprintf(out, "  %-31s %10s %5.1f %%\n", report_part_texts[i],
                    units_time_text(time, e->result.parts_s[i]),
                    100 * e->result.parts_s[i] / e->result.step_time_s);
}

static void print_sensitivities(FILE *out, const struct plan_report *r)
{
    const struct plan_why *w = r->why;
    fprintf(out, "\nWith more of it, a sample takes\n");
    for (int i = 0; i < PLAN_SENSITIVITIES; i++)
        if (w->sensitivities[i].known)
            fprintf(out, "  %-31s %+6.1f %%\n", w->sensitivities[i].what,
                    100 * (w->sensitivities[i].per_sample - 1));
    if (w->memory < 0)
        return;
    const struct plan_entry *e = &w->alternatives[w->memory].entry;
    char text[300], need[UNITS_TEXT_MAX];
    fprintf(out, "  %-31s %+6.1f %% (needs %s: ", "GPU memory, enough of it",
            100 *
                (e->result.step_time_s / r->outcome->entries[0].result.step_time_s - 1),
            units_bytes_text(need, (double)e->result.peak_B));
    fprintf(out, "%s %s)\n",
            names_of(space_field_names, (int)w->alternatives[w->memory].field),
            space_value_text(&r->job->space, w->alternatives[w->memory].field,
                             e->point.v[w->alternatives[w->memory].field], text,
                             sizeof(text)));
}

static void print_alternative(FILE *out, const struct plan_report *r,
                              const struct plan_alternative *a)
{
    char v[64], time[UNITS_TEXT_MAX], more[UNITS_TEXT_MAX], first[160], text[96];
    const struct plan_result *x = &a->entry.result;
    snprintf(first, sizeof(first), "  %-25s %-11s %10s  ",
             names_of(space_field_names, (int)a->field),
             space_value_text(&r->job->space, a->field, a->entry.point.v[a->field], v,
                              sizeof(v)),
             units_time_text(time, x->step_time_s));
    if (!x->fits)
        snprintf(text, sizeof(text), "needs %s",
                 units_bytes_text(more, (double)x->peak_B));
    else if (x->near_limit && !r->outcome->entries[0].result.near_limit)
        snprintf(text, sizeof(text), "%s may not fit",
                 units_bytes_text(more, (double)x->peak_B));
    else if (a->worse_s > 0)
        snprintf(text, sizeof(text), "%s more %s", units_time_text(more, a->worse_s),
                 report_part_texts[a->worse]);
    else
        snprintf(text, sizeof(text), "no slower");
    report_wrap(out, first, "                              ", text);
}

static void print_why(FILE *out, const struct plan_report *r)
{
    const struct plan_why *w = r->why;
    const struct plan_entry *best = &r->outcome->entries[0];
    fprintf(out, "\nWhere the best plan's step goes\n");
    print_parts(out, best);
    fprintf(out, "  what holds it back most: %s\n", report_part_texts[w->bottleneck]);
    print_sensitivities(out, r);
    if (w->n_alternatives)
        fprintf(out, "\nOne change away\n");
    int32_t shown = 0;
    for (int32_t i = 0; i < w->n_alternatives; i++) {
        bool fits = w->alternatives[i].entry.result.fits;
        if (shown < ALTERNATIVES_SHOWN || (!fits && shown < 2 * ALTERNATIVES_SHOWN)) {
            print_alternative(out, r, &w->alternatives[i]);
            shown++;
        }
    }
}

/* Nothing -------------------------------------------------------------------------- */

static void print_remedies(FILE *out, const struct plan_report *r)
{
    char need[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX], line[500];
    fprintf(out, "\nWhat would make it fit, one on top of the other\n");
    for (int32_t i = 0; i < r->n_remedies; i++) {
        const struct plan_remedy *x = &r->remedies[i];
        fprintf(out, "  %-25s ", x->what);
        if (!x->tried)
            fprintf(out, "was open already\n");
        else if (!x->has_entry)
            fprintf(out, "no: nothing could be simulated\n");
        else
            fprintf(out, "%s: %s of %s\n", x->fits ? "yes" : "no",
                    units_bytes_text(need, (double)x->entry.result.peak_B),
                    units_bytes_text(room, (double)x->entry.result.capacity_B));
        if (!x->fits)
            continue;
        snprintf(line, sizeof(line), "%s, %s", x->cluster, x->text);
        wrap(out, "    ", line);
    }
}

static void print_nothing(FILE *out, const struct plan_report *r)
{
    const struct plan_outcome *o = r->outcome;
    char need[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX];
    if (o->n_over) {
        fprintf(out, "\nNo plan keeps the budget. The nearest takes %s hours",
                units_number_text(UNITS_BUF, o->over[0].hours, 4));
        print_usd(out, " and %s USD:\n", o->over[0].usd);
        print_entry(out, r, 1, &o->over[0]);
        return;
    }
    if (!o->complete && !o->has_nearest) {
        fprintf(out, "\nNothing that fits was simulated before that.\n");
        return;
    }
    fprintf(out, "\nNothing fits.\n");
    if (o->has_nearest) {
        fprintf(out, "The nearest needs %s where there are %s:\n",
                units_bytes_text(need, (double)o->nearest.result.peak_B),
                units_bytes_text(room, (double)o->nearest.result.capacity_B));
        print_entry(out, r, 1, &o->nearest);
    }
    if (r->remedies)
        print_remedies(out, r);
}

void report_plan_text(FILE *out, const struct plan_report *r)
{
    print_head(out, r);
    print_warnings(out, r);
    if (r->outcome->n_entries == 0) {
        print_nothing(out, r);
        return;
    }
    print_plans(out, r);
    print_job(out, r);
    print_smallest(out, r);
    plan_front_print(out, r, PLAN_AXIS_COST);
    plan_front_print(out, r, PLAN_AXIS_MEMORY);
    if (r->why)
        print_why(out, r);
}
