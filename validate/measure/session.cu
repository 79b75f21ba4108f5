#include "session.h"

#include "measure.h"

int measure_open(struct measure *m)
{
    TRY_CUDA(m, cudaSetDevice(m->device));
    TRY_CUDA(m, cudaGetDeviceProperties(&m->prop, m->device));
    TRY_CUDA(m, cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking));
    TRY_CUDA(m, cudaMalloc(&m->workspace, SESSION_WORKSPACE_B));
    TRY_BLAS(m, cublasCreate(&m->blas));
    TRY_BLAS(m, cublasSetStream(m->blas, m->stream));
    TRY_BLAS(m, cublasSetWorkspace(m->blas, m->workspace, SESSION_WORKSPACE_B));
    return 0;
}

void measure_close(struct measure *m)
{
    if (m->blas)
        cublasDestroy(m->blas);
    cudaFree(m->workspace);
    if (m->stream)
        cudaStreamDestroy(m->stream);
    m->blas = NULL;
    m->workspace = NULL;
    m->stream = NULL;
}
