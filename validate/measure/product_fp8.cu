#include "product_fp8.h"

#include "buffer.h"
#include "session.h"

#include <string.h>

static int set_what(struct measure *m, struct product_fp8 *p)
{
    cublasOperation_t turn = CUBLAS_OP_T, keep = CUBLAS_OP_N;
    float one = 1;
    TRY_CUDA(m, cudaMalloc((void **)&p->scale, sizeof(one)));
    TRY(buffer_write(m, p->scale, &one, sizeof(one)));
    TRY_BLAS(m, cublasLtMatmulDescCreate(&p->what, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const struct {
        cublasLtMatmulDescAttributes_t key;
        const void *value;
        size_t size;
    } attributes[] = {
        { CUBLASLT_MATMUL_DESC_TRANSA, &turn, sizeof(turn) },
        { CUBLASLT_MATMUL_DESC_TRANSB, &keep, sizeof(keep) },
        { CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &p->scale, sizeof(p->scale) },
        { CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &p->scale, sizeof(p->scale) },
    };
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        TRY_BLAS(m, cublasLtMatmulDescSetAttribute(p->what, attributes[i].key,
                                                   attributes[i].value,
                                                   attributes[i].size));
    return 0;
}

static int choose(struct measure *m, struct product_fp8 *p)
{
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    size_t workspace = SESSION_WORKSPACE_B;
    int n = 0;
    TRY_BLAS(m, cublasLtMatmulPreferenceCreate(&preference));
    cublasStatus_t status = cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
        sizeof(workspace));
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulAlgoGetHeuristic(p->lt, p->what, p->a, p->b, p->c, p->c,
                                                preference, 1, &found, &n);
    cublasLtMatmulPreferenceDestroy(preference);
    if (status != CUBLAS_STATUS_SUCCESS || n < 1)
        return measure_fail(m, "cuBLASLt has no fp8 algorithm for this shape");
    p->algorithm = found.algo;
    return 0;
}

int product_fp8_make(struct measure *m, struct product_fp8 *p, int64_t rows,
                     int64_t columns, int64_t depth)
{
    uint64_t r = (uint64_t)rows, c = (uint64_t)columns, d = (uint64_t)depth;
    memset(p, 0, sizeof(*p));
    TRY_BLAS(m, cublasLtCreate(&p->lt));
    TRY(set_what(m, p));
    TRY_BLAS(m, cublasLtMatrixLayoutCreate(&p->b, CUDA_R_8F_E4M3, d, r, depth));
    TRY_BLAS(m, cublasLtMatrixLayoutCreate(&p->a, CUDA_R_8F_E4M3, d, c, depth));
    TRY_BLAS(m, cublasLtMatrixLayoutCreate(&p->c, CUDA_R_16BF, c, r, columns));
    return choose(m, p);
}

void product_fp8_free(struct product_fp8 *p)
{
    if (p->c)
        cublasLtMatrixLayoutDestroy(p->c);
    if (p->b)
        cublasLtMatrixLayoutDestroy(p->b);
    if (p->a)
        cublasLtMatrixLayoutDestroy(p->a);
    if (p->what)
        cublasLtMatmulDescDestroy(p->what);
    if (p->lt)
        cublasLtDestroy(p->lt);
    cudaFree(p->scale);
}

int product_fp8_launch(struct measure *m, const struct product_fp8 *p, const void *a,
                       const void *b, void *c)
{
    float one = 1, zero = 0;
    TRY_BLAS(m, cublasLtMatmul(p->lt, p->what, &one, b, p->a, a, p->b, &zero, c, p->c,
                               c, p->c, &p->algorithm, m->workspace,
                               SESSION_WORKSPACE_B, m->stream));
    return 0;
}
