/* Matrix products by the definition: columns, fp32 sums. */
#include "cublasLt.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_fp8.h"

#include <vector>

const char *cublasGetStatusString(cublasStatus_t status)
{
    static const char *const texts[] = { "success",
                                         "an unsupported value or parameter was passed",
                                         "the functionality is not supported" };
    return texts[status];
}

static float load(const void *at, int64_t i, cudaDataType_t type)
{
    switch (type) {
    case CUDA_R_16F:
        return __half2float(((const __half *)at)[i]);
    case CUDA_R_16BF:
        return __bfloat162float(((const __nv_bfloat16 *)at)[i]);
    case CUDA_R_8F_E4M3:
        return (float)((const __nv_fp8_e4m3 *)at)[i];
    default:
        return ((const float *)at)[i];
    }
}

static void store(void *at, int64_t i, float v, cudaDataType_t type)
{
    if (type == CUDA_R_16F)
        ((__half *)at)[i] = __float2half_rn(v);
    else if (type == CUDA_R_16BF)
        ((__nv_bfloat16 *)at)[i] = __float2bfloat16_rn(v);
    else
        ((float *)at)[i] = v;
}

static int size_of(cudaDataType_t type)
{
    return type == CUDA_R_32F ? 4 : type == CUDA_R_8F_E4M3 ? 1 : 2;
}

/* op(X) as fp32, [outer, k]: dense, so that sums run along rows. */
static std::vector<float> unpacked(const void *at, cudaDataType_t type, bool turned,
                                   int64_t outer, int64_t k, int64_t ld)
{
    std::vector<float> v((size_t)(outer * k));
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < k; j++)
            v[(size_t)(i * k + j)] = load(at, turned ? i * ld + j : j * ld + i, type);
    return v;
}

void blas_multiply(const blas_product &p, const void *a, const void *b, void *c)
{
    std::vector<float> left = unpacked(a, p.a_type, p.turn_a, p.m, p.k, p.lda);
    std::vector<float> right = unpacked(b, p.b_type, !p.turn_b, p.n, p.k, p.ldb);
    for (int64_t j = 0; j < p.n; j++)
        for (int64_t i = 0; i < p.m; i++) {
            const float *x = &left[(size_t)(i * p.k)], *y = &right[(size_t)(j * p.k)];
            float sum = 0;
            for (int64_t l = 0; l < p.k; l++)
                sum += x[l] * y[l];
            float old = p.beta != 0 ? p.beta * load(c, j * p.ldc + i, p.c_type) : 0;
            store(c, j * p.ldc + i, p.alpha * sum + old, p.c_type);
        }
}

static bool is_whole(const blas_product &p)
{
    return p.m > 0 && p.n > 0 && p.k > 0 && p.lda >= (p.turn_a ? p.k : p.m) &&
           p.ldb >= (p.turn_b ? p.n : p.k) && p.ldc >= p.m;
}

/* --- cuBLAS ----------------------------------------------------------------------- */

struct cublas_context {
    cudaStream_t stream;
};

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    *handle = new cublas_context();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *, size_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b, int m,
    int n, int k, const void *alpha, const void *a, cudaDataType_t a_type, int lda,
    long long stride_a, const void *b, cudaDataType_t b_type, int ldb,
    long long stride_b, const void *beta, void *c, cudaDataType_t c_type, int ldc,
    long long stride_c, int batch, cublasComputeType_t, cublasGemmAlgo_t)
{
    blas_product p = { turn_a == CUBLAS_OP_T,
                       turn_b == CUBLAS_OP_T,
                       m,
                       n,
                       k,
                       lda,
                       ldb,
                       ldc,
                       a_type,
                       b_type,
                       c_type,
                       *(const float *)alpha,
                       *(const float *)beta };
    if (!is_whole(p) || batch < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    cuda_enqueue(handle->stream, [=] {
        for (int64_t i = 0; i < batch; i++)
            blas_multiply(p, (const char *)a + i * stride_a * size_of(a_type),
                          (const char *)b + i * stride_b * size_of(b_type),
                          (char *)c + i * stride_c * size_of(c_type));
    });
    return CUBLAS_STATUS_SUCCESS;
}

/* --- cuBLASLt --------------------------------------------------------------------- */

struct cublaslt_context {
};
struct cublaslt_preference {
    size_t workspace_B;
};
struct cublaslt_what {
    cublasOperation_t turn[2];
    const float *scale[2];
};
struct cublaslt_matrix {
    cudaDataType_t type;
    int64_t rows, columns, ld;
};

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = new cublaslt_context();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *what, cublasComputeType_t,
                                        cudaDataType_t)
{
    *what = new cublaslt_what();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t what)
{
    delete what;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t what,
                                              cublasLtMatmulDescAttributes_t key,
                                              const void *value, size_t size)
{
    bool second = key == CUBLASLT_MATMUL_DESC_TRANSB ||
                  key == CUBLASLT_MATMUL_DESC_B_SCALE_POINTER;
    void *to = &what->scale[second];
    size_t wanted = sizeof(what->scale[0]);
    if (key == CUBLASLT_MATMUL_DESC_TRANSA || key == CUBLASLT_MATMUL_DESC_TRANSB) {
        to = &what->turn[second];
        wanted = sizeof(what->turn[0]);
    }
    if (size != wanted)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *matrix,
                                          cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t ld)
{
    *matrix = new cublaslt_matrix { type, (int64_t)rows, (int64_t)columns, ld };
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matrix)
{
    delete matrix;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    *preference = new cublaslt_preference();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                     cublasLtMatmulPreferenceAttributes_t,
                                     const void *value, size_t size)
{
    if (size != sizeof(preference->workspace_B))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&preference->workspace_B, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

static blas_product product_of(const cublaslt_what *what, const cublaslt_matrix *a,
                               const cublaslt_matrix *b, const cublaslt_matrix *d)
{
    bool turn_a = what->turn[0] == CUBLAS_OP_T, turn_b = what->turn[1] == CUBLAS_OP_T;
    return { turn_a,  turn_b, d->rows, d->columns, turn_a ? a->rows : a->columns,
             a->ld,   b->ld,  d->ld,   a->type,    b->type,
             d->type, 1,      0 };
}

/* As the manual has it of fp8: A turned, B not, sizes in sixteens, scales given. */
static bool suits(const cublaslt_what *what, const cublaslt_matrix *a,
                  const cublaslt_matrix *b, const cublaslt_matrix *d)
{
    blas_product p = product_of(what, a, b, d);
    return is_whole(p) && p.turn_a && !p.turn_b && a->columns == d->rows &&
           b->rows == a->rows && b->columns == d->columns && p.m % 16 == 0 &&
           p.n % 16 == 0 && p.k % 16 == 0 && what->scale[0] && what->scale[1];
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t what, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *found, int *n)
{
    *n = suits(what, a, b, d);
    found->algo.number = 1;
    return *n ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t
cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t what, const void *alpha,
               const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
               cublasLtMatrixLayout_t b_layout, const void *beta, const void *,
               cublasLtMatrixLayout_t, void *d, cublasLtMatrixLayout_t d_layout,
               const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t stream)
{
    blas_product p = product_of(what, a_layout, b_layout, d_layout);
    bool aligned =
        (uintptr_t)a % 16 == 0 && (uintptr_t)b % 16 == 0 && (uintptr_t)d % 16 == 0;
    if (!suits(what, a_layout, b_layout, d_layout) || !aligned)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    p.alpha = *(const float *)alpha * *what->scale[0] * *what->scale[1];
    p.beta = *(const float *)beta;
    cuda_enqueue(stream, [=] { blas_multiply(p, a, b, d); });
    return CUBLAS_STATUS_SUCCESS;
}
