/* The JSON of what campaigns add to a step's result. */
#include "campaign/campaign.h"
#include "config/contract.h"

/* clang-format off */
#define KNOWN .flags = CONTRACT_MAY_NULL

static const struct contract_member input_rows[] = {
    CONTRACT_AT("samples_per_s", REAL, input_result, samples_per_s, "Sequences per second that loading alone would reach; null: no limit.", KNOWN),
    CONTRACT_AT("bound", BOOL, input_result, bound, "Whether the step waits for loading."),
    CONTRACT_AT("slowest", NAME, input_result, slowest, "The slowest stage.", .names = input_stage_names),
    CONTRACT_AT("stages_s", REALS, input_result, step_s, "What each stage takes for the samples of a step.", .names = input_stage_names),
    CONTRACT_AT("copy_s", REAL, input_result, copy_s, "The copy to the GPU, exposed.", KNOWN),
    CONTRACT_AT("wait_s", REAL, input_result, wait_s, "What the step is longer for all this.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object input = { "input", input_rows };

struct phase {
    int phase;
    double time_s;
    bool billed;
};

static const struct contract_member phase_rows[] = {
    CONTRACT_AT("phase", NAME, phase, phase, "Which phase.", .names = job_phase_names),
    CONTRACT_AT("time_s", REAL, phase, time_s, "How long it takes.", KNOWN),
    CONTRACT_AT("billed", BOOL, phase, billed, "Whether it costs."),
    CONTRACT_END,
};
static const struct contract_object phase = { "phase", phase_rows };

static const struct contract_member checkpoint_rows[] = {
    CONTRACT_AT("bytes", REAL, checkpoint_result, size_B, "All states together.", KNOWN),
    CONTRACT_AT("writers", INT64, checkpoint_result, writers, "Instances that write."),
    CONTRACT_AT("every_steps", INT64, checkpoint_result, every, "Steps from one to the next."),
    CONTRACT_AT("count", INT64, checkpoint_result, count, "In the job."),
    CONTRACT_AT("copy_s", REAL, checkpoint_result, copy_s, "From GPUs to hosts; training waits.", KNOWN),
    CONTRACT_AT("write_s", REAL, checkpoint_result, write_s, "From hosts to storage.", KNOWN),
    CONTRACT_AT("blocking_s", REAL, checkpoint_result, blocking_s, "What each stops training for.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object checkpoint = { "checkpoint", checkpoint_rows };

static const struct contract_member trials_rows[] = {
    CONTRACT_AT("trials", INT64, trials_result, trials, "Trials in all."),
    CONTRACT_AT("parallel_trials", INT64, trials_result, parallel_trials, "Trials at once."),
    CONTRACT_AT("stopped", INT64, trials_result, stopped, "Trials that are stopped early."),
    CONTRACT_AT("hours", REAL, trials_result, hours, "Until the last ends.", KNOWN),
    CONTRACT_AT("instance_hours", REAL, trials_result, instance_hours, "Of all instances.", KNOWN),
    CONTRACT_AT("usd", REAL, trials_result, usd, "Of all trials.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object trials = { "trials", trials_rows };
/* clang-format on */

static json_t *phases_json(const void *job)
{
    const struct job_result *r = job;
    json_t *list = json_array();
    for (int i = 0; i < JOB_PHASES; i++) {
        const struct phase one = { i, r->phases_s[i],
                                   job_is_billed((enum job_phase)i) };
        json_array_append_new(list, contract_json(&phase, &one));
    }
    return list;
}

static json_t *checkpoint_json(const void *job)
{
    const struct job_result *r = job;
    return r->has_checkpoints ? contract_json(&checkpoint, &r->checkpoint) : NULL;
}

static json_t *trials_json(const void *job)
{
    const struct job_result *r = job;
    return r->trials.trials ? contract_json(&trials, &r->trials) : NULL;
}

/* clang-format off */
static const struct contract_member job_rows[] = {
    CONTRACT_AT("steps", INT64, job_result, steps, "Training steps."),
    CONTRACT_AT("evaluations", INT64, job_result, evaluations, "Evaluations."),
    CONTRACT_MADE("phases", LIST, phases_json, "In order.", .of = &phase),
    CONTRACT_AT("hours", REAL, job_result, hours, "From start to end.", KNOWN),
    CONTRACT_AT("billed_hours", REAL, job_result, billed_hours, "Of phases that cost.", KNOWN),
    CONTRACT_AT("usd", REAL, job_result, usd, "Null without a price.", KNOWN),
    CONTRACT_MADE("checkpoint", OBJECT, checkpoint_json, "Checkpoints; null without them.", KNOWN, .of = &checkpoint),
    CONTRACT_MADE("trials", OBJECT, trials_json, "Trials of tuning; null without them.", KNOWN, .of = &trials),
    CONTRACT_END,
};
static const struct contract_object job = { "job", job_rows };
/* clang-format on */

static json_t *input_json(const void *result)
{
    const struct input_result *r = &((const struct campaign_result *)result)->input;
    return r->given ? contract_json(&input, r) : NULL;
}

static json_t *job_json(const void *result)
{
    const struct job_result *r = &((const struct campaign_result *)result)->job;
    return r->given ? contract_json(&job, r) : NULL;
}

static json_t *drawn_json(const void *result)
{
    return uncertainty_json(&((const struct campaign_result *)result)->uncertainty);
}

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_MADE("input", OBJECT, input_json, "The input pipeline; null without one.", KNOWN, .of = &input),
    CONTRACT_MADE("job", OBJECT, job_json, "The whole job; null without one.", KNOWN, .of = &job),
    CONTRACT_MADE("uncertainty", OBJECT, drawn_json, "Draws of jitter and failures; null without them.", KNOWN, .of = &uncertainty_contract),
    CONTRACT_END,
};
/* clang-format on */
const struct contract_object campaign_contract = { "campaign", rows };

void campaign_json(json_t *result, const struct campaign_result *r)
{
    contract_put(result, &campaign_contract, r);
}
