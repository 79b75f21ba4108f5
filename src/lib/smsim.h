/* libsmsim: how long a training step takes on a cluster of GPUs, whether it fits, what it
 * costs, and which plan is best. The functions are those of the commands `smsim simulate`,
 * `plan` and `compare`, and give the same numbers and the same JSON.
 *
 *     struct smsim_error error;
 *     struct smsim_job *job = smsim_load("bert-large-squad-2xp3.16xlarge", NULL, &error);
 *     struct smsim_step *step = job ? smsim_simulate(job, NULL, &error) : NULL;
 *     if (step)
 *         printf("%g s a step\n", step->step_time_s);
 *     else
 *         fprintf(stderr, "%s\n", error.text);
 *     smsim_step_free(step);
 *     smsim_job_free(job);
 *
 *     cc example.c $(pkg-config --cflags --libs smsim)
 *
 * Units: seconds, bytes, FLOP/s, USD. NAN: unknown.
 *
 * Errors are values. A function that fails gives NULL and fills *error, which may be NULL
 * where nobody asks. Nothing is printed, no signal is caught, the process does not end;
 * an allocation that fails is an error, too (SMSIM_NO_MEMORY), and what the call had
 * allocated by then is lost. One exception: where memory runs out within the parallel
 * part of smsim_plan, or of draws, the process ends.
 *
 * Threads: any number of threads may call any function at the same time, with jobs that
 * they share, too: a job does not change once it is loaded. What is freed must not be in
 * use. smsim_plan and jobs with "uncertainty" use OpenMP's threads (`threads`).
 *
 * The process: at the first call GSL's error handler is switched off, which would end the
 * process, and jansson's allocation functions are replaced where they are malloc and
 * free. The caller's locale does not matter, and is left as it is.
 *
 * Data: models, topologies and tables are those next to the library (../share/smsim), or
 * in the folder that the environment's SMSIM_DATA names. Nothing is written anywhere.
 *
 * Trust: no file and no text is trusted. Whatever a scenario or a script has in it, a
 * function ends with a result or an error (SECURITY.md). A script is read, never run.
 * Files that a scenario names are read: a service for others should use smsim_parse, and
 * refuse names with '/' or give it a file system of its own.
 *
 * Versions: members are only added at the end of structs, and old functions stay, as long
 * as the library is libsmsim.so.0. JSON names its schema in "schema". */
#ifndef SMSIM_H
#define SMSIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SMSIM_API __attribute__((visibility("default")))

enum smsim_status { /* as the program's exit codes */
                    SMSIM_OK = 0,
                    SMSIM_BAD_REQUEST = 2, /* the call itself: an option that is none */
                    SMSIM_BAD_INPUT =
                        3, /* the scenario: what error.text says, with its place */
                    SMSIM_NO_MEMORY = 4,
                    SMSIM_FAULT = 5 /* of smsim's own: please report it */
};

struct smsim_error {
    int32_t status;   /* enum smsim_status */
    int32_t n_errors; /* that were found; text has 20 of them at most */
    char text[4096];  /* a line each, "file:line:column: /key: what is wrong (mend)" */
};

/* "0.9.0". */
SMSIM_API const char *smsim_version(void);

/* The folder of the data, or where it was looked for last; the caller frees it by
 * smsim_free. */
SMSIM_API char *smsim_data(void);

/* Of strings that this library gave out; NULL is fine. */
SMSIM_API void smsim_free(char *text);

/* Jobs ----------------------------------------------------------------------------- */

/* One training job on one cluster, checked. */
struct smsim_job;

/* Reads a job: the name of a shipped scenario, or a file that `smsim simulate` takes (a
 * scenario, a launch script, a configuration of DeepSpeed). `sets` changes it, as --set
 * does: "/cluster/count=4", NULL at the end; NULL: none. */
SMSIM_API struct smsim_job *smsim_load(const char *name, const char *const *sets,
                                       struct smsim_error *error);

/* The same of a scenario's text. `name` represents it in messages. */
SMSIM_API struct smsim_job *smsim_parse(const char *text, size_t length,
                                        const char *name, const char *const *sets,
                                        struct smsim_error *error);

/* A new job: this one with changes. */
SMSIM_API struct smsim_job *smsim_changed(const struct smsim_job *job,
                                          const char *const *sets,
                                          struct smsim_error *error);

SMSIM_API void smsim_job_free(struct smsim_job *job);

/* The scenario, with what was set; what was found of it, as an array of warnings and
 * notes (`smsim schema codes`). Both are JSON, and live as long as the job. */
SMSIM_API const char *smsim_job_json(const struct smsim_job *job);
SMSIM_API const char *smsim_job_warnings(const struct smsim_job *job);

/* One step ------------------------------------------------------------------------- */

/* Zeroed but for size, which is sizeof(struct smsim_simulate_options): as the command
 * without options. */
struct smsim_simulate_options {
    size_t size;
    const char *network; /* "analytic", "flow" or "chunk"; NULL: flow */
    int32_t unfold;      /* simulate every rank, also those that are equal */
    int32_t threads;     /* of draws, where the job has "uncertainty"; 0: all cores */
};

struct smsim_step {
    double step_time_s, range_s[2]; /* the range that holds 4 of 5 such steps */
    double samples_per_s, tokens_per_s, model_flops_per_gpu_s, mfu, hfu;
    int64_t gpus;
    int64_t peak_bytes, capacity_bytes; /* of the fullest stage's GPU */
    int32_t fits;
    double usd_per_hour, usd_per_step; /* NAN: no price is known */
    double usd_per_job, hours_per_job; /* NAN: the job has no length */
    const char *json; /* all of it, as simulate --json: `smsim schema simulate` */
};

/* A job that does not fit is a result (fits is 0). `options` may be NULL. */
SMSIM_API struct smsim_step *
smsim_simulate(const struct smsim_job *job,
               const struct smsim_simulate_options *options, struct smsim_error *error);
SMSIM_API void smsim_step_free(struct smsim_step *step);

/* Plans ---------------------------------------------------------------------------- */

/* As the options of `smsim plan`, of which --help says more. Zeroed but for size, which
 * is sizeof(struct smsim_plan_request), and a job, or model, instances, global_batch and
 * sequence_length (0 of models of pictures: the patches of one). Lists end with NULL; NULL:
 * none. */
struct smsim_plan_request {
    size_t size;
    const struct smsim_job *job;
    const char *model, *instances; /* "gpt3-175b", "p4d.24xlarge,p5.48xlarge" */
    const char *count;             /* "16" or "16..64" */
    int64_t global_batch, sequence_length;
    const char *const *sets, *const *fixes, *const *allows, *const *prices;
    const char *objective; /* "time", "cost", "memory"; NULL: time */
    const char *stack;     /* --for: "megatron"; NULL: any */
    const char *risk;      /* "none", "mean", "p90", "minimax"; NULL: mean */
    double tokens, max_cost_usd, deadline_h; /* 0: none */
    int32_t top;                             /* plans to list; 0: 10 */
    int32_t draws;                           /* of risk; 0: the usual number */
    int64_t seed;
    int32_t exhaustive;
    int32_t threads; /* 0: all cores */
};

struct smsim_plan {
    const char *instance;
    int64_t count, gpus;
    double step_time_s, samples_per_s, mfu;
    int64_t peak_bytes;
    double usd_per_hour, usd_per_million_samples, hours_per_job, usd_per_job;
    const char *scenario; /* JSON that smsim_parse takes; its step time is this one's */
};

struct smsim_plans {
    int32_t n_plans; /* best first; 0: nothing fits, or no plan keeps the budget */
    const struct smsim_plan *plans;
    const char *json; /* all of it, as plan --json: `smsim schema plan` */
};

SMSIM_API struct smsim_plans *smsim_plan(const struct smsim_plan_request *request,
                                         struct smsim_error *error);
SMSIM_API void smsim_plans_free(struct smsim_plans *plans);

/* Differences ---------------------------------------------------------------------- */

struct smsim_cause {
    const char *name;   /* "GPU", or "GPU, precision" where they are joined */
    double step_time_s; /* that it adds: all of them sum to the difference */
};

struct smsim_difference {
    double from_s, to_s; /* the steps of both jobs */
    int32_t n_causes;
    const struct smsim_cause *causes; /* in the order in which they are changed */
    const char *json; /* all of it, as compare --json: `smsim schema compare` */
};

SMSIM_API struct smsim_difference *smsim_compare(const struct smsim_job *from,
                                                 const struct smsim_job *to,
                                                 struct smsim_error *error);
SMSIM_API void smsim_difference_free(struct smsim_difference *difference);

#ifdef __cplusplus
}
#endif

#endif
