/* What a calibration found: every term with its confidence, or why it kept its default;
 * and how far the fitted model is from what was measured. Profiles are the base
 * profile's file with the fitted values put in, so that nothing of it is lost.
 *
 * Files of this folder:
 *     samples*, ncclog*  measurements: smsim-measure, CSV, logs of nccl-tests
 *     fit*               fits of products, GPUs, links and fabrics
 *     set_file, *_file   constants by device and software as files
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

/* Errors of rows that constants are fitted to, and of those held out; of the floor, what
 * equal rows of other software differ by. */
struct calibration_errors {
    int64_t n_fit, n_held, n_floor;
    double fit_median, fit_mean, held_median, held_mean, floor_median, floor_mean;
};

/* Measurements that one set of constants is fitted to: of a device, a release of
 * software, and a format or direction where these have constants of their own. */
struct calibration_set {
    const char *device, *gpu; /* the shipped GPU's name; NULL: none resembles it */
    const char *why;          /* why nothing was fitted; NULL */
    struct calibration_errors errors;
};

/* The products of a device, a release of software and a format. Errors are of rows of
 * training's shapes; of rows that the host limits, of those above three times its
 * time. */
struct calibration_product {
    struct calibration_set set;
    const struct product *shipped; /* NULL: none */
    struct product product;
    bool host_alone; /* the host limits all rows, so that the rest is a start */
    double shipped_median, shipped_mean; /* of the rows fitted to, by what is shipped */
    /* All of these rows by rule from another GPU (hardware/gpu_rule.h), as if this one
     * had not been measured; NULL: no other has the format. */
    const char *rule_gpu;
    struct product ruled;
    double rule_median, rule_mean;
};

/* The attention of a device and a release of software. Errors are of rows from 1024
 * tokens on. */
struct calibration_attention {
    struct calibration_set set;
    const struct attention *shipped; /* NULL: none */
    struct attention attention;
};

/* Dispatch or combine of a device and a release of software. */
struct calibration_transfer {
    struct calibration_set set;
    const struct transfer *shipped; /* NULL: none */
    struct transfer transfer;
};

/* The experts of a device, a release of software and a format. Errors are of rows from
 * 1024 tokens on. */
struct calibration_experts {
    struct calibration_set set;
    const struct experts_kernel *shipped; /* NULL: none */
    struct experts_kernel kernel;
};

struct calibration {
    struct arena *arena;
    const char *base;    /* profile that terms without data are from */
    const char *machine; /* instance that collectives ran on; NULL: none were fitted */
    VEC(struct calibration_term) terms;
    VEC(struct calibration_figure) figures;
    VEC(struct calibration_link) links;
    VEC(struct calibration_product) products;
    VEC(struct calibration_attention) attentions;
    VEC(struct calibration_transfer) transfers;
    VEC(struct calibration_experts) experts;
};

void calibration_init(struct calibration *c, struct arena *arena);
void calibration_release(struct calibration *c);

/* Fits what there are samples of; `gpu` starts as the base profile and is changed. */
int calibrate_gpu(struct calibration *c, struct gpu *gpu, const struct samples *s,
                  struct err *err);

/* Fits the constants of products (hardware/product.h) to half of the rows of each
 * device, software and format: those whose shape has an even hash (product_half).
 * Starts are rules, so that the result does not depend on what is shipped. */
int calibrate_products(struct calibration *c, struct cfg_loader *loader,
                       const struct samples *s, struct err *err);

/* The same of attention (hardware/attention.h), by device and software. Rows of
 * kernels that a software falls back on are left out (fit_attention.c). */
int calibrate_attentions(struct calibration *c, struct cfg_loader *loader,
                         const struct samples *s, struct err *err);

/* 0 for shapes that constants of attention are fitted to, 1 for those held out. */
int attention_half(const struct attention_shape *s);

/* The same of dispatch and combine (hardware/transfer.h), by device and software. */
int calibrate_transfers(struct calibration *c, struct cfg_loader *loader,
                        const struct samples *s, struct err *err);

/* A file of topologies/transfers with what was found of one device; the caller owns
 * it. */
json_t *calibration_transfers_file(const struct calibration *c,
                                   const struct samples *s);

/* A file of topologies/attention with what was found of one device; the caller owns
 * it. */
json_t *calibration_attentions_file(const struct calibration *c,
                                    const struct samples *s);

/* The same of experts (hardware/experts.h), by device, software and format. */
int calibrate_experts(struct calibration *c, struct cfg_loader *loader,
                      const struct samples *s, struct err *err);

/* 0 for shapes that constants of experts are fitted to, 1 for those held out. */
int experts_half(const struct sample_experts *s);

/* A file of topologies/experts with what was found of one device; the caller owns it. */
json_t *calibration_experts_file(const struct calibration *c, const struct samples *s);

/* 0 for shapes that constants are fitted to, 1 for those held out. */
int product_half(int64_t m, int64_t n, int64_t k);

/* A file of topologies/products with what was found of one device; the caller owns it. */
json_t *calibration_products_file(const struct calibration *c, const struct samples *s);

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

/* Whether a device's name may be that of a shipped GPU, of any memory; also where it is
 * empty. A module that the device names ("SXM4", "PCIe", "NVL") has to be the GPU's. */
bool calibration_may_be(const char *device, const char *gpu);

/* Whether any constant was fitted. */
bool calibration_fitted(const struct calibration *c);

/* The profile: `file` is the base profile as loaded. The caller owns the tree. */
json_t *calibration_profile(const struct calibration *c, struct cfg file,
                            const struct samples *s);

#endif
