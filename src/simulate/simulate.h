/* One training step of a scenario, replayed: what `smsim simulate` prints and what
 * every search, sweep and validation calls.
 *
 * Files of this folder:
 *     simulate, interpretations: a scenario in, a result out; keys of two meanings
 *     background: other jobs on the same fabric
 *     communicators: what NCCL holds of the memory
 *     resources: what the step's time rests on
 *     fit: what would make a job fit
 *     judge, interval*: checks of the numbers; the range and the nearest rows
 *     result_json: the result as JSON */
#ifndef SIMULATE_SIMULATE_H
#define SIMULATE_SIMULATE_H

#include "base/arena.h"
#include "base/err.h"
#include "engine/watch.h"
#include "memory/reserved.h"
#include "run/category.h"
#include "run/coll_run.h"
#include "run/observe.h"
#include "scenario/scenario.h"
#include "simulate/interval.h"
#include "simulate/resources.h"
#include "step/unread.h"

struct stage_memory {   /* bytes at the moment of the stage's peak */
    int64_t peak_B;     /* as nvidia-smi shows it */
    int64_t needed_B;   /* of that, what it cannot do without */
    int64_t reserved_B; /* of that by the caching allocator */
    int64_t parameters_B, gradients_B, optimizer_B, activations_B;
    int64_t buffers_B;   /* communication buckets and NCCL */
    int64_t workspace_B; /* transient tensors, library workspace */
    int64_t framework_B; /* context */
};

/* A change of the scenario with which it fits (simulate/fit.h). */
struct fit_remedy {
    const char *sets; /* "--set /training/attention=sdpa" */
    int64_t peak_B;
    double step_time_s;
    bool fits, near_limit;
};

struct memory_result {
    int64_t capacity_B, peak_B, needed_B, reserved_B,
        allocated_B; /* of the fullest stage */
    bool fits;
    int32_t n_stages;
    struct stage_memory *stages;
    int32_t fullest;             /* the stage that has least left of its GPU */
    int64_t range_B[2];          /* of the peak; by judge */
    bool near_limit;             /* the capacity is within that */
    struct fit_remedy *remedies; /* of what does not fit: by simulate_remedies */
    int32_t n_remedies;
};

struct layer_result {             /* a middle transformer layer on one GPU */
    double forward_s, backward_s; /* kernels back to back */
    int64_t parameters_B, activations_B;
};

struct cost_result {
    double usd_per_hour, usd_per_step, usd_per_million_samples;
    bool has_price; /* else price_missing names the instance */
    bool has_job;   /* samples x epochs or steps were given */
    double usd_per_job, hours_per_job;
    const char *price_date, *price_missing;
    const char
        *price_list; /* whose: "SageMaker", "EC2"; NULL: none, or the user's own */
};

/* What simulations of one thread leave to those after them: nothing of it changes a
 * result. */
struct simulate_memo {
    struct reserved_memo *replays; /* of the allocator */
    struct plans_kept *plans;      /* of collectives, on instances ... */
    struct cfg_loader *files;      /* ... that this has lent */
};

/* That of the loader that lends files to this one, which owns it; NULL: there is
 * none. */
struct simulate_memo *simulate_memo_of(struct cfg_loader *loader);

struct simulate_options {
    enum fidelity network;
    bool unfold;  /* simulate every rank */
    bool detail;  /* replay every pass operator by operator; for tests */
    bool mute;    /* leave warnings out, some of which take as long as the step */
    bool whole;   /* replay all periods of a pipeline; for tests */
    bool if_fits; /* leave all but memory's peak out of a job that is far too large
                     (simulate_runs) */
    struct step_unread unread;
    const struct observer *observer; /* of the run; NULL: none */
    struct watch watch;              /* notified of tasks done */
    struct simulate_memo *memo;      /* NULL: none */
};

/* Another job on the fabric. */
struct background_job {
    const char *name;
    double alone_s; /* of its step, with the fabric to itself */
};

/* What other jobs on the fabric do to the step. */
struct background_result {
    double alone_s;    /* the step without them */
    double share;      /* of the step that is theirs: 1 - alone / with them */
    double range_s[2]; /* of the step, by when theirs begin */
    struct background_job *jobs;
    int32_t n; /* 0: there are none, or nothing meets */
};

struct simulate_result {
    double step_time_s, samples_per_s, tokens_per_s;
    double real_tokens_per_s; /* without padding; 0: there is none */
    double model_flops_per_gpu_s, mfu, hfu;
    int64_t gpus;
    int64_t trained_parameters, parameters; /* where some are frozen; else 0 */
    double parts_s[CATEGORY_N];
    struct resources by; /* of the replay: what waits around it is not in them */
    struct memory_result memory;
    struct cost_result cost;
    struct layer_result layer;
    double util_gpu, util_host, util_nic, util_nvlink; /* busy shares of the step */
    enum fidelity network;
    uint64_t events;
    double wall_s;         /* how long simulating took; 0: not asked for */
    double executed_flops; /* of one rank of each stage together */
    bool folded;
    int32_t n_warnings;
    struct diag *warnings; /* in the arena */
    struct background_result background;
    struct interval interval; /* by judge, which is called after simulate */
    double range_s[2];        /* of the step time; likewise */
};

/* The fullest stage's memory, without running the step. */
int simulate_peak_B(int64_t *peak_B, struct arena *arena, const struct scenario *s,
                    struct err *err);

/* Whether the result is of a run: with if_fits, not where memory does not hold the job
 * by more than the error of its prediction. Then nothing else is known but what memory
 * the fullest stage takes; where its live tensors alone are too large, it is the stage
 * with most of these. */
bool simulate_runs(const struct simulate_options *options,
                   const struct memory_result *m);

/* Replays one step. Results live in the arena. A job that does not fit is a result
 * (memory.fits false); errors are only what cannot be simulated. */
int simulate(struct simulate_result *r, struct arena *arena, const struct scenario *s,
             const struct simulate_options *options, struct err *err);

/* The step waits so much longer for something other than the replay: its time, rates,
 * shares and cost become those with the wait. */
void simulate_wait(struct simulate_result *r, const struct scenario *s,
                   enum category part, double wait_s);

/* One more warning, at the end; the text lives as long as the arena. */
void simulate_warn(struct simulate_result *r, struct arena *arena, enum diag_code code,
                   const char *text);

/* What of a step binds: the largest part but for computing, which binds where no other
 * part takes a tenth. Hidden communication is no part. */
enum category simulate_binding(const double parts_s[CATEGORY_N], double step_s);

#endif
