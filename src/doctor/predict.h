/* One simulation of a job, as a diagnosis needs it. */
#ifndef DOCTOR_PREDICT_H
#define DOCTOR_PREDICT_H

#include "base/err.h"
#include "config/cfg.h"
#include "run/category.h"
#include "scenario/scenario.h"

enum { DOCTOR_GPU_TEXT = 40 };

/* What a job is, as far as hypotheses ask. */
struct doctor_facts {
    int64_t nodes, gpus_per_node, nics; /* nics: physical ports of an instance */
    int64_t micro_batch, global_batch, sequence, sm_arch, pipeline, tensor;
    int64_t layers, hidden, parameters; /* of the model */
    char gpu[DOCTOR_GPU_TEXT]; /* shipped name; "": of several, or a file of its own */
    double network_Bps;        /* line rate of an instance's NICs */
    int inside, outside;       /* enum fabric_kind; outside -1: one node */
    enum op_attention attention;
    enum op_precision precision;
    enum checkpointing checkpointing;
    enum sharding sharding;
};

struct doctor_prediction {
    struct doctor_facts facts;
    double step_s, range_s[2]; /* of a training step; of 80 % of runs */
    double tenth_s[2];         /* a tenth of runs lies beyond each */
    double normal_s[2];        /* likewise of 95 % */
    double peak_B, peak_range_B[2], capacity_B; /* as nvidia-smi shows it */
    double allocated_B, reserved_B;             /* as PyTorch's allocator counts */
    double samples, tokens;                     /* of a step */
    double passes;                              /* that accumulate its gradients */
    int64_t gpus;                               /* of the cluster */
    double usd_per_h;                           /* NAN: no price is known */
    double mfu;
    char quality[FABRIC_QUALITY_TEXT]; /* of the network; "" of one node */
    double parts_s[CATEGORY_N];
};

/* A step as a trace of a GPU shows it, as shares that sum to 1. Waiting for other ranks
 * is in communication, for a kernel of NCCL runs meanwhile; so is the bubble of a
 * pipeline. */
struct doctor_shares {
    double compute, communication; /* that is exposed */
    double waiting;                /* nothing runs, or copies alone */
};

struct doctor_shares doctor_shares_of(const struct doctor_prediction *p);

/* Simulations of one run of the program, each of which is made once: a job that is asked
 * for again is looked up by its tree. About 1.5 KiB and the tree's text are kept of each. */
struct doctor_predictor {
    struct cfg_loader *files;   /* borrowed */
    struct doctor_known *known; /* by the tree's text */
};

void doctor_predictor_init(struct doctor_predictor *by, struct cfg_loader *files);
void doctor_predictor_release(struct doctor_predictor *by);

/* What the simulation of a scenario's tree says; files come from the loader. -1 with err
 * set where it cannot be simulated. */
int doctor_predict(struct doctor_prediction *p, struct doctor_predictor *by,
                   const json_t *tree, struct err *err);

#endif
