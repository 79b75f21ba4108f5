/* fp8 (e4m3) products with bf16 results, by cuBLASLt: only the TN layout exists. */
#ifndef SMSIM_MEASURE_PRODUCT_FP8_H
#define SMSIM_MEASURE_PRODUCT_FP8_H

#include "measure.h"

#include <cublasLt.h>

struct product_fp8 {
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t what;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algorithm;
    float *scale; /* 1, on the device */
};

/* C[m,n] = A[m,k] B[n,k]^T; m, n and k multiples of 16. Fails where cuBLASLt has no
 * algorithm. */
int product_fp8_make(struct measure *m, struct product_fp8 *p, int64_t rows,
                     int64_t columns, int64_t depth);
void product_fp8_free(struct product_fp8 *p);
int product_fp8_launch(struct measure *m, const struct product_fp8 *p, const void *a,
                       const void *b, void *c);

#endif
