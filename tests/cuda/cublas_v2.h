/* The part of cuBLAS that smsim-measure uses, on the CPU, by the definition. */
#ifndef EMULATED_CUBLAS_V2_H
#define EMULATED_CUBLAS_V2_H

#include "cuda_runtime.h"

#define CUBLAS_VERSION 130000

enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS,
    CUBLAS_STATUS_INVALID_VALUE,
    CUBLAS_STATUS_NOT_SUPPORTED
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cudaDataType_t { CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF, CUDA_R_8F_E4M3 };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT };

typedef struct cublas_context *cublasHandle_t;

const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *at, size_t bytes);
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b, int m,
    int n, int k, const void *alpha, const void *a, cudaDataType_t a_type, int lda,
    long long stride_a, const void *b, cudaDataType_t b_type, int ldb,
    long long stride_b, const void *beta, void *c, cudaDataType_t c_type, int ldc,
    long long stride_c, int batch, cublasComputeType_t compute, cublasGemmAlgo_t how);

/* One product of columns by columns: C[m, n] = alpha op(A) op(B) + beta C. */
struct blas_product {
    bool turn_a, turn_b;
    int64_t m, n, k, lda, ldb, ldc;
    cudaDataType_t a_type, b_type, c_type;
    float alpha, beta;
};
void blas_multiply(const blas_product &p, const void *a, const void *b, void *c);

#endif
