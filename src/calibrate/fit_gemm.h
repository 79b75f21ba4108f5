/* Constants of matrix products: between fit_gpu.c and fit_gemm.c. */
#ifndef CALIBRATE_FIT_GEMM_H
#define CALIBRATE_FIT_GEMM_H

#include "calibrate/calibration.h"

/* Fits the terms of one number format where there are enough products of it. */
int fit_gemm_dtype(struct calibration *c, struct gpu *gpu, enum dtype dtype,
                   const struct samples *s, struct err *err);

/* The sustained clock: what a product takes in a burst over what it takes for long. */
void fit_gemm_clock(struct calibration *c, struct gpu *gpu, enum dtype dtype,
                    const struct samples *s);

#endif
