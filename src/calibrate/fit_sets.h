/* What fits of constants by device and software share: which rows they are fitted to,
 * how values are written, how errors are summed up. */
#ifndef CALIBRATE_FIT_SETS_H
#define CALIBRATE_FIT_SETS_H

#include "base/arena.h"
#include "base/err.h"
#include "config/cfg.h"
#include "hardware/gpu.h"

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

/* One set of n, on a thread of its own. */
typedef int fit_set_fn(int64_t i, void *arg, struct err *err);

/* Fits all sets; -1 with the last error of those that failed. */
int fit_all_sets(int64_t n, fit_set_fn *fit, void *arg, struct err *err);

#endif
