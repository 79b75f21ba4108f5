/* Logs of nccl-tests against the prediction for a cluster: size by size, and which
 * hypothesis fits the shape of all sizes best. */
#ifndef DOCTOR_BANDWIDTH_H
#define DOCTOR_BANDWIDTH_H

#include "calibrate/samples.h"
#include "hardware/cluster.h"
#include "logs/nccl.h"

enum bandwidth_verdict { BANDWIDTH_NORMAL, BANDWIDTH_SLOWER, BANDWIDTH_FASTER };
extern const struct name_value bandwidth_verdict_names[];

/* A size: slower and faster begin beyond a factor of 1.7 below 64 KiB, 1.5 to 1 MiB, 1.65
 * to 32 MiB and 1.3 from there. Four of five rows of systems that no fabric was fitted
 * to are within it, of the largest sizes nine of ten
 * (docs/validation/nccl-published-elsewhere.md). */
struct bandwidth_row {
    double size_B, measured_s, predicted_s;
    double measured_busbw, predicted_busbw; /* B/s */
    int64_t gpus_per_thread;                /* by the log; 0: unknown */
    enum bandwidth_verdict verdict;
};

/* How far times with a hypothesis are from the measured: root of the mean square of the
 * ratio's logarithm over sizes from 1 MiB, or over all where none is as large. */
struct bandwidth_fit {
    const char *text;
    double error, posterior; /* error NAN: nothing known explains them */
    const char *seen;        /* what NCCL's own lines say for it; NULL: nothing */
};

enum { BANDWIDTH_FITS = 12 };

/* What logs are held against. */
struct bandwidth_ask {
    const struct cluster *cluster;
    const struct coll_group *group; /* that took part; NULL: all GPUs */
    enum coll_op op;
    const char *nccl;             /* version; NULL: the fabric's */
    const struct logs_nccl *said; /* by NCCL in these logs; NULL: not looked at */
    const struct logs_variables *variables; /* of the environment; NULL: likewise */
    const char *given_by;                   /* for messages; NULL: --log */
};

struct bandwidth {
    VEC(struct bandwidth_row) rows;
    int64_t n_slower, n_faster;
    int64_t n_other; /* rows of other operations or numbers of ranks, left out */
    int32_t n_fits;  /* the most probable first */
    struct bandwidth_fit fits[BANDWIDTH_FITS];
};

/* Of the samples' collectives of that operation and number of ranks. -1 after reporting
 * to the loader or with err set. */
int bandwidth_judge(struct bandwidth *b, struct cfg_loader *loader,
                    const struct bandwidth_ask *ask, const struct samples *samples,
                    struct err *err);
void bandwidth_release(struct bandwidth *b);

#endif
