/* The JSON of "uncertainty" in a result. */
#include "base/units.h"
#include "campaign/uncertainty.h"
#include "config/contract.h"

#include <math.h>

/* A quantity over so many draws. */
struct drawn {
    struct distribution d;
    int64_t samples;
};

/* clang-format off */
#define KNOWN .flags = CONTRACT_MAY_NULL
static const struct contract_member drawn_rows[] = {
    CONTRACT_AT("p5", REAL, drawn, d.p5, "The 5th percentile.", KNOWN),
    CONTRACT_AT("p50", REAL, drawn, d.p50, "The median.", KNOWN),
    CONTRACT_AT("p95", REAL, drawn, d.p95, "The 95th percentile.", KNOWN),
    CONTRACT_AT("mean", REAL, drawn, d.mean, "The mean.", KNOWN),
    CONTRACT_AT("sd", REAL, drawn, d.sd, "The standard deviation.", KNOWN),
    CONTRACT_AT("samples", INT64, drawn, samples, "Draws."),
    CONTRACT_END,
};
static const struct contract_object drawn = { "distribution", drawn_rows };
/* clang-format on */

static json_t *distribution(const struct distribution *d, int64_t samples)
{
    const struct drawn x = { *d, samples };
    return contract_json(&drawn, &x);
}

static json_t *step_time(const void *result)
{
    const struct uncertainty_result *r = result;
    return distribution(&r->step_time_s, r->samples);
}

static json_t *steps_per_day(const void *result)
{
    const struct uncertainty_result *r = result;
    return distribution(&r->goodput.steps_per_day, r->samples);
}

static json_t *mtbf_hours(const void *result)
{
    double s = ((const struct uncertainty_result *)result)->goodput.process.mtbf_s;
    return json_real(s / UNITS_HOUR_S);
}

/* clang-format off */
#define GOODPUT(key, member, text) CONTRACT_AT(key, REAL, uncertainty_result, goodput.member, text, KNOWN)
static const struct contract_member goodput_rows[] = {
    CONTRACT_MADE("steps_per_day", OBJECT, steps_per_day, "Useful steps.", .of = &drawn),
    GOODPUT("fraction", fraction, "Of the time, what is useful."),
    GOODPUT("lost_work", lost, "Of the time, work that failures lose."),
    GOODPUT("checkpoints", checkpoints, "Of the time, checkpoints."),
    GOODPUT("restarts", restarts, "Of the time, restarts."),
    GOODPUT("expected_fraction", expected_fraction, "What is useful, by Daly's equation; null where failures are not exponential."),
    GOODPUT("failures_per_day", failures_per_day, "Of all GPUs."),
    CONTRACT_MADE("mtbf_hours", REAL, mtbf_hours, "From one failure to the next, of all GPUs.", KNOWN),
    GOODPUT("checkpoint_interval_s", process.interval_s, "Useful work from one checkpoint to the next."),
    GOODPUT("checkpoint_time_s", process.checkpoint_s, "What a checkpoint stops training for."),
    GOODPUT("restart_time_s", process.restart_s, "What a restart takes."),
    GOODPUT("job_hours", job_hours, "Useful work of a draw."),
    CONTRACT_AT("gave_up", INT64, uncertainty_result, goodput.gave_up, "Draws in which the job hardly went on."),
    CONTRACT_END,
};
static const struct contract_object goodput_contract = { "goodput", goodput_rows };
/* clang-format on */

static json_t *goodput(const void *result)
{
    const struct uncertainty_result *r = result;
    return r->has_goodput ? contract_json(&goodput_contract, r) : NULL;
}

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_AT("seed", INT64, uncertainty_result, seed, "Of the random numbers."),
    CONTRACT_AT("every_rank", BOOL, uncertainty_result, unfolded, "Whether each rank was drawn; else the slowest of equal ones."),
    CONTRACT_MADE("step_time_s", OBJECT, step_time, "Time of one training step.", .of = &drawn),
    CONTRACT_AT("slowdown", REAL, uncertainty_result, slowdown, "The mean over the step without jitter.", KNOWN),
    CONTRACT_AT("samples_per_s", REAL, uncertainty_result, samples_per_s, "Sequences per second of the whole cluster, in the mean.", KNOWN),
    CONTRACT_MADE("goodput", OBJECT, goodput, "Failures; null without them.", KNOWN, .of = &goodput_contract),
    CONTRACT_END,
};
/* clang-format on */
const struct contract_object uncertainty_contract = { "uncertainty", rows };

json_t *uncertainty_json(const struct uncertainty_result *r)
{
    return r->given ? contract_json(&uncertainty_contract, r) : NULL;
}
