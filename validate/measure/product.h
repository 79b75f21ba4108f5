/* Matrix products C[m,n] = A[m,k] B[k,n] by cuBLAS, all matrices row by row.
 *
 *   TN  forward:             A[m,k] as it is, B stored as [n,k] (a layer's weight)
 *   NN  gradient of inputs:  A[m,k], B[k,n] as they are
 *   NT  gradient of weights: A stored as [k,m], B[k,n]
 *
 * The letters are cuBLAS's transa and transb, which sees rows as columns and so B
 * first. */
#ifndef SMSIM_MEASURE_PRODUCT_H
#define SMSIM_MEASURE_PRODUCT_H

#include "measure.h"

enum product_layout { PRODUCT_TN, PRODUCT_NN, PRODUCT_NT };

extern const char *const product_layout_names[];

struct product {
    enum product_layout layout;
    enum measure_dtype dtype;
    int64_t m, n, k, batch;
    int64_t lda, ldb, ldc;                /* elements from row to row; 0: dense */
    int64_t stride_a, stride_b, stride_c; /* from product to product; 0: dense */
    float alpha, beta;                    /* C = alpha A B + beta C; alpha 0 means 1 */
};

int product_launch(struct measure *m, const struct product *p, const void *a,
                   const void *b, void *c);

#endif
