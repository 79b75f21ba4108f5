#include "campaign/job.h"

#include "base/units.h"
#include "campaign/trials.h"

#include <math.h>

/* clang-format off */
const struct name_value job_phase_names[] = {
    { "provisioning", JOB_PROVISIONING }, { "image_download", JOB_IMAGE },
    { "data_download", JOB_DATA }, { "compilation", JOB_COMPILATION },
    { "training", JOB_TRAINING }, { "evaluation", JOB_EVALUATION },
    { "checkpoints", JOB_CHECKPOINTS }, { "model_upload", JOB_UPLOAD },
    { "keep_alive", JOB_KEEP_ALIVE }, { NULL, 0 },
};
/* clang-format on */

/* SageMaker bills from TrainingStartTime, which comes before the downloads of data and
 * image, to TrainingEndTime, which comes after the model's upload (API reference,
 * DescribeTrainingJob); a warm pool for as long as it is kept ("SageMaker managed warm
 * pools", Billing). */
bool job_is_billed(enum job_phase phase)
{
    return phase != JOB_PROVISIONING;
}

static double forward_pass_s(const struct scenario *s,
                             const struct simulate_result *step)
{
    const double *parts = step->parts_s;
    double layer_s = step->layer.forward_s + step->layer.backward_s;
    double share = layer_s > 0 ? step->layer.forward_s / layer_s : 1.0 / 3;
    double kernels_s = parts[CATEGORY_COMPUTE] + parts[CATEGORY_PIPELINE_BUBBLE] +
                       parts[CATEGORY_OTHER];
    double comm_s = parts[CATEGORY_TENSOR_COMM] + parts[CATEGORY_PIPELINE_COMM] +
                    parts[CATEGORY_CONTEXT_COMM] + parts[CATEGORY_EXPERT_COMM];
    /* of a gather in forward, one in backward, and a scatter: the first */
    bool gathers = s->parallel.shard.strategy == SHARDING_FULL;
    double sharding_s = gathers ? parts[CATEGORY_DATA_COMM_EXPOSED] / 3 : 0;
    return share * kernels_s + comm_s / 2 + sharding_s;
}

static double evaluation_s(struct job_result *r, const struct whole_job *job,
                           const struct input_result *input, const struct scenario *s,
                           const struct simulate_result *step)
{
    if (job->evaluation_samples == 0)
        return 0;
    double batches =
        ceil((double)job->evaluation_samples / (double)s->training.global_batch_size);
    double forward_s = forward_pass_s(s, step);
    if (input->given && isfinite(input->samples_per_s))
        forward_s = fmax(forward_s,
                         (double)s->training.global_batch_size / input->samples_per_s);
    int64_t every =
        job->evaluation_every ? job->evaluation_every : scenario_epoch_steps(s);
    r->evaluations = every ? r->steps / every : 1;
    return (double)r->evaluations * batches * forward_s;
}

/* The model, by the first instance. */
static double upload_s(const struct storage *st, const struct scenario *s)
{
    const struct instance *inst = s->cluster.groups[0].instance;
    return checkpoint_model_B(s) / storage_write_Bps(st, STORAGE_S3, inst, 1);
}

static void sum_up(struct job_result *r, const struct whole_job *job,
                   struct cost_result *cost)
{
    double all_s = 0, billed_s = 0;
    for (int i = 0; i < JOB_PHASES; i++) {
        all_s += i == JOB_KEEP_ALIVE ? 0 : r->phases_s[i]; /* the job is over */
        billed_s += job_is_billed((enum job_phase)i) ? r->phases_s[i] : 0;
    }
    r->hours = all_s / UNITS_HOUR_S;
    r->billed_hours = billed_s / UNITS_HOUR_S;
    r->usd = cost->has_price
                 ? r->billed_hours * cost->usd_per_hour * (1 - job->spot_discount)
                 : (double)NAN;
    cost->hours_per_job = r->hours;
    cost->usd_per_job = cost->has_price ? r->usd : 0; /* as without a job */
}

/* SageMaker stops a job at MaxRuntimeInSeconds of what is billed for it. */
static void warn_of_end(const struct job_result *r, const struct whole_job *job,
                        struct arena *arena, struct simulate_result *step)
{
    char runs[UNITS_TEXT_MAX], limit[UNITS_TEXT_MAX];
    double run_s = r->billed_hours * UNITS_HOUR_S - job->keep_alive_s;
    if (job->max_run_s <= 0 || run_s <= job->max_run_s)
        return;
    simulate_warn(
        step, arena, DIAG_STOPPED,
        arena_printf(arena,
                     "the job runs %s, and SageMaker stops it after %s: raise "
                     "/job/max_run (max_run of the estimator)",
                     units_time_text(runs, run_s),
                     units_time_text(limit, job->max_run_s)));
}

void whole_job_run(struct job_result *r, struct arena *arena,
                   const struct whole_job *job, const struct storage *st,
                   const struct input_result *input, const struct scenario *s,
                   struct simulate_result *step)
{
    *r = (struct job_result) { .given = job->given,
                               .spot_discount = job->spot_discount };
    if (!job->given)
        return;
    double *phases_s = r->phases_s;
    r->steps = scenario_job_steps(s);
    phases_s[JOB_PROVISIONING] = job->provisioning_s;
    phases_s[JOB_IMAGE] = job->image_B / job->image_Bps;
    phases_s[JOB_DATA] = storage_download_s(st, s);
    phases_s[JOB_COMPILATION] = job->compilation_s;
    phases_s[JOB_TRAINING] = (double)r->steps * step->step_time_s;
    phases_s[JOB_EVALUATION] = evaluation_s(r, job, input, s, step);
    r->has_checkpoints = job->checkpoint.given;
    if (r->has_checkpoints) {
        checkpoint_run(&r->checkpoint, &job->checkpoint, st, s, r->steps,
                       step->step_time_s);
        phases_s[JOB_CHECKPOINTS] =
            (double)r->checkpoint.count * r->checkpoint.blocking_s;
    }
    phases_s[JOB_UPLOAD] = upload_s(st, s);
    phases_s[JOB_KEEP_ALIVE] = job->keep_alive_s;
    sum_up(r, job, &step->cost);
    warn_of_end(r, job, arena, step);
    if (job->trials)
        trials_run(&r->trials, job, r, s, &step->cost);
}
