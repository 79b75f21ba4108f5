/* What fits of constants by device and software share: sets of rows, which of them are
 * fitted to, how values are written, how errors are summed up. */
#ifndef CALIBRATE_FIT_SETS_H
#define CALIBRATE_FIT_SETS_H

#include "base/arena.h"
#include "base/err.h"
#include "calibrate/calibration.h"
#include "config/cfg.h"

/* 0 or 1 by a shape's text: constants are fitted to the shapes of half 0 alone. FNV-1a,
 * then two steps of MurmurHash3's finalizer. */
int fit_half(const char *shape);

/* A value as files have it: four digits. */
double fit_rounded(double v);

/* The rows of a set by their places in the samples; those fitted to come first. */
struct fit_rows {
    int64_t n, n_fit;
    int64_t *at;
};

/* |predicted / measured - 1| of a set's row i; NAN of a row that does not count. */
typedef double fit_error_fn(const void *set, int64_t i);

/* Median and mean of n errors, which are sorted in place; 0 of none. */
void fit_sum_up(double *errors, int64_t n, double *median, double *mean);

/* The same of rows `from` to `to` that count; returns how many these are. */
int64_t fit_sum_up_rows(fit_error_fn *error, const void *set, int64_t from, int64_t to,
                        double *median, double *mean);

/* The errors of the rows fitted to, and of those held out. */
void fit_sum_up_set(struct calibration_errors *errors, const struct fit_rows *rows,
                    fit_error_fn *error, const void *set);

/* A kind of constants: which rows are a set, and how one is fitted. Set i is that of the
 * calibration's list. */
struct fit_kind {
    const char *folder; /* of the data, with what is shipped: "topologies/products" */
    int64_t rows_least; /* of rows to fit */
    int64_t (*count)(const struct samples *s);
    int (*half)(const struct samples *s, int64_t row);
    struct calibration_set *(*set)(struct calibration *c,
                                   int64_t i); /* NULL: no more */
    void (*add)(struct calibration *c, const struct samples *s, int64_t row);
    bool (*belongs)(const struct calibration *c, int64_t i, const struct samples *s,
                    int64_t row);
    /* Whether a set's row is left out on this GPU; NULL: none is. */
    bool (*leaves_out)(const struct gpu *gpu, const struct samples *s, int64_t row);
    /* The GPU's rate in the set's format; NULL: none is needed. */
    double (*peak_flops)(const struct calibration *c, int64_t i, const struct gpu *gpu);
    /* Finds what is shipped of a set; -1 after reporting. */
    int (*find_shipped)(struct calibration *c, int64_t i, struct cfg_loader *loader,
                        const struct gpu *gpu);
    /* Fits a set. Several run at once, each on a thread of its own. */
    int (*fit)(struct calibration *c, int64_t i, const struct gpu *gpu,
               const struct samples *s, const struct fit_rows *rows, struct err *err);
};

/* Lists the sets of the samples, and fits those that have a GPU and rows enough; the
 * others say why not. -1 with the last error of those that failed. */
int fit_sets(struct calibration *c, const struct fit_kind *kind,
             struct cfg_loader *loader, const struct samples *s, struct err *err);

#endif
