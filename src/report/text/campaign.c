/* What a campaign adds to the text of a step: the input pipeline, the job's phases, its
 * trials. */
#include "report/report.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>

/* What each phase is called for people. */
static const char *const phase_texts[JOB_PHASES] = {
    [JOB_PROVISIONING] = "provisioning",
    [JOB_IMAGE] = "container image",
    [JOB_DATA] = "data download",
    [JOB_COMPILATION] = "tracing and compilation",
    [JOB_TRAINING] = "training",
    [JOB_EVALUATION] = "evaluation",
    [JOB_CHECKPOINTS] = "checkpoints",
    [JOB_UPLOAD] = "model upload",
    [JOB_KEEP_ALIVE] = "warm pool kept alive",
};

const char *report_phase_text(enum job_phase phase)
{
    return phase_texts[phase];
}

static const char *const stage_texts[INPUT_STAGES] = {
    [INPUT_WORKERS] = "loader workers",
    [INPUT_CPUS] = "vCPUs",
    [INPUT_STORAGE] = "storage",
};

static void print_input(FILE *out, const struct input_result *r)
{
    char time[UNITS_TEXT_MAX];
    if (!r->given)
        return;
    fprintf(out, "\nInput of a step: ");
    for (int i = 0; i < INPUT_STAGES; i++)
        fprintf(out, "%s %s, ", stage_texts[i], units_time_text(time, r->step_s[i]));
    fprintf(out, "copies %s\n", units_time_text(time, r->copy_s));
    if (isfinite(r->samples_per_s))
        fprintf(out, "  loads %s samples/s%s\n",
                units_number_text(UNITS_BUF, r->samples_per_s, 4),
                r->bound ? ": it bounds the step" : "");
}

static void print_phase(FILE *out, const struct job_result *r, enum job_phase phase,
                        double all_s)
{
    char time[UNITS_TEXT_MAX];
    double s = r->phases_s[phase];
    if (s <= 0)
        return;
    fprintf(out, "  %-31s %10s %5.1f %%  %s\n", phase_texts[phase],
            units_time_text(time, s), 100 * s / all_s,
            job_is_billed(phase) ? "billed" : "not billed");
}

static void print_checkpoints(FILE *out, const struct job_result *r)
{
    const struct checkpoint_result *c = &r->checkpoint;
    char size[UNITS_TEXT_MAX], each[UNITS_TEXT_MAX];
    if (!r->has_checkpoints)
        return;
    fprintf(out,
            "  %" PRId64 " checkpoint%s of %s, one every %" PRId64 " steps, by %" PRId64
            " instance%s: %s "
            "each\n",
            (int64_t)c->count, units_plural(c->count),
            units_bytes_text(size, c->size_B), (int64_t)c->every, (int64_t)c->writers,
            units_plural(c->writers), units_time_text(each, c->blocking_s));
}

static void print_trials(FILE *out, const struct trials_result *t)
{
    if (t->trials == 0)
        return;
    fprintf(out, "\n%" PRId64 " trials, %" PRId64 " at once", (int64_t)t->trials,
            (int64_t)t->parallel_trials);
    if (t->stopped)
        fprintf(out, ", %" PRId64 " stopped early", (int64_t)t->stopped);
    fprintf(out, ": %s h, %s instance-hours", units_number_text(UNITS_BUF, t->hours, 4),
            units_number_text(UNITS_BUF, t->instance_hours, 4));
    if (isfinite(t->usd))
        fprintf(out, ", %.2f USD", t->usd);
    fputc('\n', out);
}

static void print_job(FILE *out, const struct job_result *r)
{
    double all_s = 0;
    if (!r->given)
        return;
    for (int i = 0; i < JOB_PHASES; i++)
        all_s += r->phases_s[i];
    fprintf(out, "\nThe job: %" PRId64 " step%s, %s h, %s h billed", (int64_t)r->steps,
            units_plural(r->steps), units_number_text(UNITS_BUF, r->hours, 4),
            units_number_text(UNITS_BUF, r->billed_hours, 4));
    if (isfinite(r->usd))
        fprintf(out, ", %.2f USD", r->usd);
    if (r->spot_discount > 0)
        fprintf(out, " (spot, %.4g %% off)", 100 * r->spot_discount);
    fputc('\n', out);
    for (int i = 0; i < JOB_PHASES; i++)
        print_phase(out, r, (enum job_phase)i, all_s);
    print_checkpoints(out, r);
    print_trials(out, &r->trials);
}

void report_campaign_text(FILE *out, const struct campaign_result *r)
{
    print_input(out, &r->input);
    print_job(out, &r->job);
    report_uncertainty_text(out, &r->uncertainty);
}
