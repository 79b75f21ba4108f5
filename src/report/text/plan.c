/* What plan prints: the plans, and what would make one fit. */
#include "report/text/plan.h"

#include "base/units.h"
#include "report/report.h"
#include "search/plan/assumed.h"
#include "search/plan/front.h"
#include "search/space/users.h"

#include <inttypes.h>
#include <math.h>

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
    char text[300];
    snprintf(text, sizeof(text),
             "%s combinations; %" PRId64 " that the rules allow, %" PRId64
             " that memory may hold",
             units_count_text(UNITS_BUF, o->space), (int64_t)o->evaluated,
             (int64_t)o->feasible);
    report_wrap(out, "", "", text);
    fprintf(out,
            "%" PRId64 " simulated: %" PRId64 " too large, %" PRId64
            " that could not be simulated\n",
            (int64_t)o->simulated, (int64_t)o->unfit, (int64_t)o->refused);
    if (o->near && o->complete && o->n_sure < r->options->listed) {
        snprintf(text, sizeof(text),
                 "%" PRId64 " more may be among the first %d by their scores (error "
                 "%.0f %%): --exhaustive simulates all",
                 (int64_t)o->near, r->options->listed, 100 * o->score_error);
        report_wrap(out, "", "", text);
    }
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

/* Why there is no plan; the nearest follows what was searched. */
static void print_no_plan(FILE *out, const struct plan_outcome *o)
{
    char need[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX], line[200];
    if (o->n_over)
        snprintf(line, sizeof(line), "no plan keeps the budget");
    else if (!o->complete && !o->has_nearest)
        snprintf(line, sizeof(line), "no plan yet: stopped before one that fits");
    else if (o->refused && o->refused == o->simulated)
        snprintf(line, sizeof(line),
                 "no plan could be simulated: the warning says why");
    else if (!o->has_nearest)
        snprintf(line, sizeof(line), "nothing fits");
    else
        snprintf(line, sizeof(line),
                 "nothing fits: the nearest plan needs %s where there are %s",
                 units_bytes_text(need, (double)o->nearest.result.peak_B),
                 units_bytes_text(room, (double)o->nearest.result.capacity_B));
    report_verdict_line(out, false, line);
}

/* By the draws that "unfit" is of, which count what the allocator gives back before it
 * fails; without them by the error of the peak. */
static bool may_fail(const struct plan_report *r, const struct plan_entry *e)
{
    const double shown = 0.01; /* less is "0 %" or "<1 %" */
    return r->options->risk.rule == RISK_NONE ? e->result.near_limit
                                              : e->risk.unfit >= shown;
}

/* The verdict on the first plan, and which it is. */
static void print_verdict(FILE *out, const struct plan_report *r)
{
    char cluster[64], text[300], line[400];
    if (r->outcome->n_entries == 0) {
        print_no_plan(out, r->outcome);
        return;
    }
    const struct plan_entry *e = &r->outcome->entries[0];
    report_verdict_print(out, &(struct report_verdict) {
                                  .fits = e->result.fits,
                                  .near_limit = may_fail(r, e),
                                  .peak_B = e->result.peak_B,
                                  .capacity_B = e->result.capacity_B,
                                  .step_time_s = e->result.step_time_s,
                                  .range_s = e->result.range_s,
                                  .parts_s = e->result.parts_s,
                              });
    snprintf(line, sizeof(line), "%s, %s",
             plan_point_cluster_text(r->job, &e->point, cluster, sizeof(cluster)),
             plan_point_text(r->job, &e->point, text, sizeof(text)));
    wrap(out, "plan 1: ", line);
}

static void print_head(FILE *out, const struct plan_report *r)
{
    const struct space *s = &r->job->space;
    size_t n = strlen(s->batch_of);
    int letters = (int)n - (s->global_batch == 1 && n && s->batch_of[n - 1] == 's');
    fprintf(out, "%s, %" PRId64 " %.*s of %" PRId64 " tokens a step, best %s\n",
            s->model->label, (int64_t)s->global_batch, letters, s->batch_of,
            (int64_t)s->sequence,
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

void plan_usd_print(FILE *out, const char *format, double usd)
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
            may_fail(r, e) ? "!" : " ");
    plan_usd_print(out, "%9s", e->usd_per_hour);
    plan_usd_print(out, " %9s\n", plan_usd_per_million(r, e));
    wrap(out, "     ", plan_point_text(r->job, &e->point, text, sizeof(text)));
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
    if (may_fail(r, e) && r->options->risk.rule != RISK_NONE) {
        snprintf(why, sizeof(why),
                 "plan 1 does not fit in %.0f %% of draws: its memory is within the "
                 "error of its prediction",
                 100 * e->risk.unfit);
        report_wrap(out, "! ", "  ", why);
    } else if (may_fail(r, e)) {
        report_wrap(out, "! ", "  ",
                    "no plan fits with 90 %: memory is within the error of its "
                    "prediction, all may fail");
    }
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
        (risky ? plan_risky_print : print_entry)(out, r, i + 1, &o->entries[i]);
    for (int32_t i = 0; i < o->n_entries && !risky; i++)
        ties += o->entries[i].tie;
    if (shown < o->n_entries)
        fprintf(out, "%d of ", shown);
    fprintf(out, "%d plans; USD/M: per million samples\n", o->n_entries);
    if (o->n_variants)
        fprintf(out, "%d more are one of these but for placement or buckets\n",
                o->n_variants);
    if (risky)
        plan_risk_print(out, r);
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
    if (o->n_over) {
        fprintf(out, "\nThe nearest takes %s hours",
                units_number_text(UNITS_BUF, o->over[0].hours, 4));
        plan_usd_print(out, " and %s USD:\n", o->over[0].usd);
        print_entry(out, r, 1, &o->over[0]);
        return;
    }
    if (!o->complete && !o->has_nearest)
        return;
    if (o->has_nearest) {
        fprintf(out, "\nThe nearest:\n");
        print_entry(out, r, 1, &o->nearest);
    }
    if (r->remedies)
        print_remedies(out, r);
}

void report_plan_text(FILE *out, const struct plan_report *r)
{
    print_verdict(out, r);
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
        plan_why_print(out, r);
}
