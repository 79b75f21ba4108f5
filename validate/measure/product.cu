#include "product.h"

#include <string.h>

const char *const product_layout_names[] = { "TN", "NN", "NT" };

static cudaDataType_t data_type(enum measure_dtype t)
{
    return t == DTYPE_FP16 ? CUDA_R_16F : t == DTYPE_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

static cublasComputeType_t compute_type(enum measure_dtype t)
{
    return t == DTYPE_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

static int64_t or_dense(int64_t given, int64_t dense)
{
    return given ? given : dense;
}

int product_launch(struct measure *m, const struct product *p, const void *a,
                   const void *b, void *c)
{
    bool turn_b = p->layout == PRODUCT_TN, turn_a = p->layout == PRODUCT_NT;
    float alpha = p->alpha != 0 ? p->alpha : 1;
    int64_t lda = or_dense(p->lda, turn_a ? p->m : p->k);
    int64_t ldb = or_dense(p->ldb, turn_b ? p->k : p->n);
    int64_t ldc = or_dense(p->ldc, p->n);
    cudaDataType_t type = data_type(p->dtype);
    TRY_BLAS(m, cublasGemmStridedBatchedEx(
                    m->blas, turn_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                    turn_a ? CUBLAS_OP_T : CUBLAS_OP_N, (int)p->n, (int)p->m, (int)p->k,
                    &alpha, b, type, (int)ldb, or_dense(p->stride_b, p->n * p->k), a,
                    type, (int)lda, or_dense(p->stride_a, p->m * p->k), &p->beta, c,
                    type, (int)ldc, or_dense(p->stride_c, p->m * p->n), (int)p->batch,
                    compute_type(p->dtype), CUBLAS_GEMM_DEFAULT));
    return 0;
}
