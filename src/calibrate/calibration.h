/* What a calibration found: every term with its confidence, or why it kept its default;
 * and how far the fitted model is from what was measured. Profiles are the base
 * profile's file with the fitted values put in, so that nothing of it is lost.
 *
 * Files of this folder:
 *     samples*, ncclog*  measurements: smsim-measure, CSV, logs of nccl-tests
 *     fit*               fits of products, GPUs, links and fabrics
 *     calibration        the profile that comes out */
#ifndef CALIBRATE_CALIBRATION_H
#define CALIBRATE_CALIBRATION_H

#include "base/units.h"
#include "base/vec.h"
#include "calibrate/fit.h"
#include "calibrate/samples.h"

struct calibration_term {
    const char *group; /* "bf16 products" */
    const char *name;  /* "port" */
    const char *path;  /* in the profile, keys joined by '/': "gemm/bf16/port" */
    bool is_flag;      /* true or false, not a number */
    enum unit_kind unit;
    double value, half; /* 95 % confidence is value -+ half */
    double base;        /* what the base profile has */
    bool fitted;
    const char *why; /* when it kept its default, or what is odd; NULL */
    int64_t n;       /* measurements it was fitted to */
};

struct calibration_figure {
    const char *of; /* "bf16 products above 1 GFLOP" */
    int64_t n;
    double median, mean, p90, bias; /* of |predicted / measured - 1|; bias signed */
    double base_median;             /* the same with the base profile */
};

/* Bytes over a link: alpha + bytes / rate, with knees where the rate changes. */
enum { CALIBRATION_KNEES_MAX = 2 };
struct calibration_link {
    const char *name;
    int64_t n;
    double alpha_s, alpha_half_s;
    int32_t n_knees;
    double knee_B[CALIBRATION_KNEES_MAX];
    double rate_Bps[CALIBRATION_KNEES_MAX + 1]; /* before, between, beyond the knees */
    double rate_half_Bps;                       /* of the last */
    double median;                              /* of |predicted / measured - 1| */
};

struct calibration {
    struct arena *arena;
    const char *base;    /* profile that terms without data are from */
    const char *machine; /* instance that collectives ran on; NULL: none were fitted */
    VEC(struct calibration_term) terms;
    VEC(struct calibration_figure) figures;
    VEC(struct calibration_link) links;
};

void calibration_init(struct calibration *c, struct arena *arena);
void calibration_release(struct calibration *c);

/* Fits what there are samples of; `gpu` starts as the base profile and is changed. */
int calibrate_gpu(struct calibration *c, struct gpu *gpu, const struct samples *s,
                  struct err *err);

/* Fits the collectives to the fabric inside the instance (all on one node) or between
 * instances (the others; single-node rows are not used then) of `cluster`, whose fabric
 * `fabric` is a copy that is changed. */
int calibrate_fabric(struct calibration *c, struct fabric *fabric,
                     const struct cluster *cluster, const struct samples *s,
                     struct err *err);

/* Each link of the samples; and each table of collectives, which is no part of a
 * profile but shows latency and rate at a glance. */
int calibrate_links(struct calibration *c, const struct samples *s, struct err *err);

/* Adds the parameters of a fit that was run, of the same order as `terms` describes. */
void calibration_add_fit(struct calibration *c, const struct fit *fit,
                         const struct calibration_term *terms);

/* Adds a term that keeps its default, and why; NAN represents several terms. */
void calibration_add_kept(struct calibration *c, const char *group, const char *name,
                          enum unit_kind unit, double base, int64_t n, const char *why);

/* The half width over the value beyond which a term keeps its default. */
extern const double calibration_unreported;

/* v, or the bound that it exceeds. */
double calibration_within(double v, double lo, double hi);

/* Adds a figure from n predicted and measured times. */
void calibration_add_figure(struct calibration *c, const char *of,
                            const double *predicted, const double *base,
                            const double *measured, int64_t n);

/* The shipped GPU that a device's name ("NVIDIA A100-SXM4-80GB") means; NULL. */
const char *calibration_gpu_of(struct arena *arena, const char *device,
                               int64_t memory_B);

/* Whether any constant was fitted. */
bool calibration_fitted(const struct calibration *c);

/* The profile: `file` is the base profile as loaded. The caller owns the tree. */
json_t *calibration_profile(const struct calibration *c, struct cfg file,
                            const struct samples *s);

#endif
