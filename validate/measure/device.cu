/* What the GPU is, and how it hands out memory. */
#include "measure.h"
#include "session.h"

#include <string.h>

static int attribute(struct measure *m, enum cudaDeviceAttr what, int *v)
{
    TRY_CUDA(m, cudaDeviceGetAttribute(v, what, m->device));
    return 0;
}

/* The context as nvidia-smi would show it: what is gone of the memory once this process
 * has a context, cuBLAS and its kernels, without the workspace that we asked for. */
static int context_size(struct measure *m, int64_t *context_B, int64_t *total_B)
{
    size_t left, total;
    TRY_CUDA(m, cudaMemGetInfo(&left, &total));
    *total_B = (int64_t)total;
    *context_B = (int64_t)(total - left) - SESSION_WORKSPACE_B;
    return 0;
}

/* Clocks in Hz by the rates that the driver states; a memory of double data rate. */
int section_device(struct measure *m)
{
    int driver = 0, clock_kHz = 0, memory_kHz = 0, bus_bits = 0;
    int64_t context_B = 0, total_B = 0;
    TRY_CUDA(m, cudaDriverGetVersion(&driver));
    TRY(attribute(m, cudaDevAttrClockRate, &clock_kHz));
    TRY(attribute(m, cudaDevAttrMemoryClockRate, &memory_kHz));
    TRY(attribute(m, cudaDevAttrGlobalMemoryBusWidth, &bus_bits));
    TRY(context_size(m, &context_B, &total_B));
    row_begin(m, "device");
    row_text(m, "name", m->prop.name);
    row_int(m, "sm_arch", 10 * m->prop.major + m->prop.minor);
    row_int(m, "sms", m->prop.multiProcessorCount);
    row_int(m, "memory_bytes", total_B);
    row_int(m, "l2_bytes", m->prop.l2CacheSize);
    row_real(m, "clock_hz", 1e3 * clock_kHz);
    row_real(m, "memory_bytes_per_s", 2e3 * memory_kHz * bus_bits / 8);
    row_int(m, "driver_cuda", driver);
    if (context_B > 0)
        row_int(m, "context_bytes", context_B);
    row_end(m);
    return 0;
}

enum { CHUNKS = 64 };

/* What CHUNKS allocations of one size take of the memory, each. */
static int granularity(struct measure *m, size_t size)
{
    void *chunks[CHUNKS] = {};
    size_t before, after, total;
    cudaError_t status = cudaSuccess;
    TRY_CUDA(m, cudaMemGetInfo(&before, &total));
    double begun = measure_now_s();
    for (int i = 0; i < CHUNKS && status == cudaSuccess; i++)
        status = cudaMalloc(&chunks[i], size);
    double took_s = (measure_now_s() - begun) / CHUNKS;
    cudaMemGetInfo(&after, &total);
    for (int i = 0; i < CHUNKS; i++)
        cudaFree(chunks[i]);
    row_begin(m, "allocation");
    row_int(m, "bytes", (int64_t)size);
    if (status == cudaSuccess) {
        row_real(m, "taken_bytes", ((double)before - (double)after) / CHUNKS);
        row_real(m, "malloc_s", took_s);
    } else {
        cudaGetLastError();
        measure_fail(m, "cudaMalloc: %s", cudaGetErrorString(status));
    }
    row_end(m);
    return 0;
}

int section_memory(struct measure *m)
{
    static const size_t sizes[] = { 1,       512,     4096,          65536,
                                    1 << 20, 2 << 20, (2 << 20) + 1, 32 << 20 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        TRY(granularity(m, sizes[i]));
    return 0;
}
