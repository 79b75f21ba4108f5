/* The "job" section as it is written. */
#include "base/units.h"
#include "campaign/job.h"

#include <inttypes.h>

/* Fitted to one log: 2 ml.p3.16xlarge in us-east-1, 2024-01-23, a training job with the
 * Deep Learning Container of PyTorch 1.13.1. 192 s from "Starting" to "Downloading", 104
 * of them for capacity; 234 s for the image, taken to be of 8.5 GB, with unpacking. (An
 * endpoint on ml.g4dn.xlarge: 134 s without an image to pull, and 64 MB/s; AWS,
 * container caching for SageMaker inference.) A warm pool's start: under 20 s ("Best
 * practices for Amazon SageMaker Training Managed Warm Pools"). */
#define PROVISIONING_S (104.0 + 88.0)
#define WARM_START_S 20.0
#define IMAGE_Bps (8.5e9 / 234)

enum { TRIALS_MAX = 10000 };

/* A warm pool is kept for an hour at most, and has neither spot instances nor instances
 * of several kinds ("SageMaker managed warm pools", Considerations). */
#define KEEP_ALIVE_MAX_S UNITS_HOUR_S

/* MaxRuntimeInSeconds: 28 days at most ("StoppingCondition", SageMaker API
 * reference). */
#define MAX_RUN_MAX_S (28 * UNITS_DAY_S)

struct raw_job {
    struct whole_job job;
    struct cfg evaluation, checkpoint, early_stopping;
    bool has_parallel;
};

/* clang-format off */
#define W struct raw_job
static const struct cfg_field job_fields[] = {
    CFG_QUANTITY("provisioning", W, job.provisioning_s, UNIT_SECONDS, 0, 30 * UNITS_DAY_S),
    CFG_QUANTITY("warm_start", W, job.warm_start_s, UNIT_SECONDS, 0, UNITS_DAY_S),
    CFG_QUANTITY("image", W, job.image_B, UNIT_BYTES, 0, 1e13),
    CFG_QUANTITY("image_rate", W, job.image_Bps, UNIT_BYTES_PER_S, 1e3, 1e12),
    CFG_ROW("compilation", CFG_T_QUANTITY, W, job.compilation_s, .unit = UNIT_SECONDS,
            .has = offsetof(W, job.has_compilation), .min = 0, .max = 30 * UNITS_DAY_S),
    CFG_CHILD("evaluation", W, evaluation),
    CFG_CHILD("checkpoint", W, checkpoint),
    CFG_QUANTITY("keep_alive", W, job.keep_alive_s, UNIT_SECONDS, 0, KEEP_ALIVE_MAX_S),
    CFG_QUANTITY("max_run", W, job.max_run_s, UNIT_SECONDS, 1, MAX_RUN_MAX_S),
    CFG_REAL("spot_discount", W, job.spot_discount, 0, 0.99),
    CFG_INT("trials", W, job.trials, 1, TRIALS_MAX),
    CFG_ROW("parallel_trials", CFG_T_INT, W, job.parallel_trials,
            .has = offsetof(W, has_parallel), .min = 1, .max = TRIALS_MAX),
    CFG_CHILD("early_stopping", W, early_stopping),
    CFG_END,
};

static const struct cfg_field evaluation_fields[] = {
    CFG_ROW("samples", CFG_T_INT, struct whole_job, evaluation_samples, .required = true,
            .min = 1, .max = 1e15),
    CFG_INT("every", struct whole_job, evaluation_every, 1, 1e15),
    CFG_END,
};

static const struct cfg_field stopping_fields[] = {
    CFG_ROW("share", CFG_T_REAL, struct whole_job, stopped_share, .required = true,
            .min = 0, .max = 1),
    CFG_ROW("after", CFG_T_REAL, struct whole_job, stopped_after, .required = true,
            .min = 0, .max = 1),
    CFG_END,
};
/* clang-format on */

static int read_object(struct cfg c, const struct cfg_field *fields,
                       struct whole_job *job, const char *example)
{
    if (!cfg_present(c))
        return 0;
    if (!cfg_is_object(c))
        return cfg_error(c, DIAG_WRONG_TYPE,
                         "an object is wanted (write for example %s)", example);
    return cfg_read(c, fields, job);
}

static int check_trials(const struct raw_job *w, struct cfg c)
{
    const struct whole_job *job = &w->job;
    if (job->trials == 0 && (w->has_parallel || cfg_present(w->early_stopping)))
        return cfg_error(
            cfg_get(c, w->has_parallel ? "parallel_trials" : "early_stopping"),
            DIAG_REQUIRES, "there is one job (give \"trials\" too)");
    if (job->trials && job->parallel_trials > job->trials)
        return cfg_error(cfg_get(c, "parallel_trials"), DIAG_OUT_OF_RANGE,
                         "%" PRId64 " at once are more than the %" PRId64
                         " trials (write %" PRId64 " or "
                         "less)",
                         (int64_t)job->parallel_trials, (int64_t)job->trials,
                         (int64_t)job->trials);
    return 0;
}

static int check(const struct raw_job *w, const struct scenario *s, struct cfg c)
{
    if (scenario_job_steps(s) == 0)
        return cfg_error(c, DIAG_MISSING,
                         "how long the job trains is not given (give "
                         "/training/steps, or /training/samples and epochs)");
    if (w->job.keep_alive_s > 0 && w->job.spot_discount > 0)
        return cfg_error(cfg_get(c, "keep_alive"), DIAG_UNSUPPORTED,
                         "a warm pool keeps no spot instances (leave this or "
                         "\"spot_discount\" out)");
    if (w->job.keep_alive_s > 0 && !cluster_is_uniform(&s->cluster))
        return cfg_error(cfg_get(c, "keep_alive"), DIAG_UNSUPPORTED,
                         "a warm pool has instances of one kind (leave this out)");
    return check_trials(w, c);
}

/* What nothing in the job heeds. */
static void warn_idle(const struct whole_job *job, struct cfg c)
{
    struct cfg warm = cfg_get(c, "warm_start");
    if (cfg_present(warm) &&
        (job->keep_alive_s <= 0 || job->trials <= job->parallel_trials))
        cfg_warn(warm, DIAG_WITHOUT_EFFECT,
                 "without effect: no instance runs a second job of a warm pool "
                 "(give \"keep_alive\", and more \"trials\" than run at once)");
}

int whole_job_read(struct whole_job *job, const struct storage *st,
                   const struct scenario *s, struct cfg c)
{
    struct raw_job w = { .job = { .provisioning_s = PROVISIONING_S,
                                  .warm_start_s = WARM_START_S,
                                  .image_Bps = IMAGE_Bps,
                                  .parallel_trials = 1,
                                  .stopped_after = 1 } };
    checkpoint_read(&w.job.checkpoint, st, s, (struct cfg) { 0 }); /* its defaults */
    *job = w.job;
    if (!cfg_present(c))
        return 0;
    if (!cfg_is_object(c))
        return cfg_error(c, DIAG_WRONG_TYPE,
                         "job is an object (write for example { \"image\": \"8GB\", "
                         "\"checkpoint\": { \"every\": 1000 } })");
    w.job.given = true;
    int rc = cfg_read(c, job_fields, &w);
    rc |= read_object(w.evaluation, evaluation_fields, &w.job,
                      "{ \"every\": 1000, \"samples\": 10000 }");
    rc |= read_object(w.early_stopping, stopping_fields, &w.job,
                      "{ \"share\": 0.5, \"after\": 0.3 }");
    if (cfg_present(w.checkpoint))
        rc |= checkpoint_read(&w.job.checkpoint, st, s, w.checkpoint);
    if (rc == 0)
        rc = check(&w, s, c);
    if (rc == 0)
        warn_idle(&w.job, c);
    *job = w.job;
    return rc ? -1 : 0;
}
