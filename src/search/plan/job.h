/* What is to be planned: the job as a scenario without the choices that planning makes,
 * the space of those choices, and, of each software stack, the scenario it makes on one
 * GPU, whose defaults (framework profile, buckets) the analytic scores use.
 *
 * Sections "storage", "input" and "job" stay in the scenario: what is simulated waits
 * for its input, and hours and cost are those of the whole job. The scores know of
 * neither. "uncertainty" is carried along, and not drawn: it would cost hundreds of
 * steps a plan. */
#ifndef SEARCH_PLAN_JOB_H
#define SEARCH_PLAN_JOB_H

#include "campaign/campaign.h"
#include "search/space/words.h"
#include "simulate/interval.h"

enum { PLAN_WORDS_MAX = 64 };

struct raw_plan { /* of an option that may be given several times */
    int32_t n;
    const char *const *v;
};

/* As the command line says it; NULL or 0: not given. */
struct plan_request {
    struct cfg scenario; /* absent: model, instances, batch, sequence are given */
    const char *model, *instances, *count;
    int64_t global_batch, sequence;
    double tokens;  /* to train on: they set the job's steps */
    bool estimator; /* plans are to be written as estimators of SageMaker */
    bool script;    /* the scenario is a launch script's or DeepSpeed's configuration */
    int stacks; /* bits of rows of space_stacks; 0: by the scenario, else the default */
    struct raw_plan sets, fixes, allows, prices;
};

struct plan_stack {
    bool loaded, usable;
    struct cfg_loader loader;               /* of the probe */
    struct scenario probe;                  /* one rank, of the first instance */
    const char *why;                        /* why it is not usable */
    const struct framework *profiles[2][2]; /* [model split][fully sharded] */
};

/* Which plans SageMaker starts: those of instances named "ml.", or all. */
enum plan_launch { PLAN_LAUNCH_NAMED, PLAN_LAUNCH_SCENARIO, PLAN_LAUNCH_ESTIMATOR };

struct plan_job {
    struct cfg_loader *loader;
    struct cfg_loader *files; /* [n_files] of each thread: lent to what it simulates */
    int32_t n_files;
    enum plan_launch launch;
    json_t *launcher; /* owned: the scenario's own "distribution"; NULL: none */
    json_t *base;     /* owned: the scenario but for what a plan decides */
    json_t *own;      /* owned: the scenario's "parallelism"; NULL: none */
    json_t
        *cluster; /* borrowed from base's origin: a cluster given as it is, or NULL */
    const char *cluster_text; /* of that cluster: "1 x p4d.24xlarge + ..." */
    const int32_t *sites; /* [n_sites] of the scenario's "fabric_hosts", of which plans
                             take the first; NULL: none */
    int64_t n_sites;
    double cluster_usd;          /* of that cluster an hour; NAN: unknown */
    const struct fabric *fabric; /* named by the scenario; NULL: the instances' */
    struct model model;
    struct space space;
    struct campaign
        beyond;   /* the sections beyond a step, read with the scenario's plan */
    double steps; /* of the whole job; 0 when nobody says */
    uint32_t stack_bits;
    struct plan_stack stacks[SPACE_STACKS_N];
    const struct interval_table *interval; /* by which results are judged */
    bool pads_vocabulary;       /* the scenario leaves the padding to the plan */
    const char *price_note;     /* when prices are not of one date; NULL */
    struct assumptions assumed; /* what nobody said */
};

/* Errors go to the loader's diags; -1 then. Everything lives in the loader but `base`,
 * which plan_job_release gives back. */
int plan_job_init(struct plan_job *job, struct cfg_loader *loader,
                  const struct plan_request *request);
void plan_job_release(struct plan_job *job);

/* What of the scenario the plans are made without; NULL: nothing. */
const char *plan_job_unused(const struct plan_job *job);

#endif
