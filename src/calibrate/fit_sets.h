/* What fits of constants by device and software share: which rows they are fitted to,
 * how values are written, how errors are summed up. */
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

/* Median and mean of n errors, which are sorted in place; 0 of none. */
void fit_sum_up(double *errors, int64_t n, double *median, double *mean);

/* Whether a folder of the data has a file of the GPU's name. */
bool fit_is_shipped(struct arena *arena, const char *folder, const char *gpu);

/* The GPU of topologies/gpus that a device's name resembles, and its name in *found; with
 * none NULL, *why, and nothing reported. -1 after reporting. */
int fit_find_gpu(const struct gpu **gpu, const char **found, const char **why,
                 struct cfg_loader *loader, struct arena *arena, const char *device);

/* Finds the GPU of each set, NULL of those without; -1 after reporting. */
typedef int fit_find_fn(struct calibration *c, struct cfg_loader *loader,
                        const struct gpu **gpus);

/* Fits one set. Several run at once, each on a thread of its own. */
typedef int fit_set_fn(struct calibration *c, int64_t i, const struct gpu *gpu,
                       const struct samples *s, struct err *err);

/* Fits the n sets that have a GPU; -1 with the last error of those that failed. */
int fit_sets(struct calibration *c, int64_t n, struct cfg_loader *loader,
             const struct samples *s, fit_find_fn *find, fit_set_fn *fit,
             struct err *err);

#endif
