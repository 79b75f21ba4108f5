/* Whether the numbers of a campaign's result are numbers. */
#include "base/finite.h"
#include "campaign/campaign.h"

/* clang-format off */
static const struct finite_field input_numbers[] = {
    FINITE_ROW(struct input_result, copy_s),
    FINITE_ROW(struct input_result, wait_s),
    FINITE_MAY_BE_ABSENT(struct input_result, samples_per_s), /* no limit */
    { NULL, 0, false },
};

static const struct finite_field job_numbers[] = {
    FINITE_ROW(struct job_result, hours),
    FINITE_ROW(struct job_result, billed_hours),
    FINITE_ROW(struct job_result, checkpoint.size_B),
    FINITE_ROW(struct job_result, checkpoint.copy_s),
    FINITE_ROW(struct job_result, checkpoint.write_s),
    FINITE_ROW(struct job_result, checkpoint.blocking_s),
    FINITE_ROW(struct job_result, trials.hours),
    FINITE_ROW(struct job_result, trials.instance_hours),
    { NULL, 0, false },
};

static const struct finite_field price_numbers[] = {
    FINITE_ROW(struct job_result, usd),
    FINITE_ROW(struct job_result, trials.usd),
    { NULL, 0, false },
};

#define U struct uncertainty_result
static const struct finite_field draw_numbers[] = {
    FINITE_ROW(U, step_time_s.p5), FINITE_ROW(U, step_time_s.p50),
    FINITE_ROW(U, step_time_s.p95), FINITE_ROW(U, step_time_s.mean),
    FINITE_ROW(U, step_time_s.sd), FINITE_ROW(U, slowdown),
    FINITE_ROW(U, samples_per_s),
    { NULL, 0, false },
};

static const struct finite_field goodput_numbers[] = {
    FINITE_ROW(U, goodput.steps_per_day.p5), FINITE_ROW(U, goodput.steps_per_day.p50),
    FINITE_ROW(U, goodput.steps_per_day.p95), FINITE_ROW(U, goodput.steps_per_day.mean),
    FINITE_ROW(U, goodput.steps_per_day.sd),
    FINITE_ROW(U, goodput.fraction), FINITE_ROW(U, goodput.lost),
    FINITE_ROW(U, goodput.checkpoints), FINITE_ROW(U, goodput.restarts),
    FINITE_ROW(U, goodput.failures_per_day),
    FINITE_MAY_BE_ABSENT(U, goodput.expected_fraction), /* of other laws */
    FINITE_ROW(U, goodput.job_hours),
    FINITE_ROW(U, goodput.process.mtbf_s), FINITE_ROW(U, goodput.process.interval_s),
    FINITE_ROW(U, goodput.process.checkpoint_s),
    FINITE_ROW(U, goodput.process.restart_s),
    { NULL, 0, false },
};
#undef U
/* clang-format on */

static int check_input(const struct input_result *r, struct err *err)
{
    for (int i = 0; i < INPUT_STAGES; i++)
        if (finite_one("input/stages_s/", names_of(input_stage_names, i), r->step_s[i],
                       err))
            return -1;
    return finite_check(input_numbers, r, "input/", err);
}

static int check_job(const struct job_result *r, bool has_price, struct err *err)
{
    for (int i = 0; i < JOB_PHASES; i++)
        if (finite_one("job/phases/", names_of(job_phase_names, i), r->phases_s[i],
                       err))
            return -1;
    if (has_price && finite_check(price_numbers, r, "job/", err))
        return -1;
    return finite_check(job_numbers, r, "job/", err);
}

int campaign_check(const struct campaign_result *r, const struct simulate_result *step,
                   struct err *err)
{
    const struct uncertainty_result *u = &r->uncertainty;
    if (r->input.given && check_input(&r->input, err))
        return -1;
    if (r->job.given && check_job(&r->job, step->cost.has_price, err))
        return -1;
    if (u->given && finite_check(draw_numbers, u, "uncertainty/", err))
        return -1;
    return u->has_goodput ? finite_check(goodput_numbers, u, "uncertainty/", err) : 0;
}
