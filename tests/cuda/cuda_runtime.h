/* The part of CUDA's runtime that smsim-measure uses, on the CPU: a kernel's threads
 * are fibers of one host thread, with real barriers and shuffles; what is put on a
 * stream runs at once. Memory of a device is of the heap, filled with bytes that are no
 * number. So the program's kernels and its bookkeeping run where there is no GPU, under
 * the sanitizers too; only their times mean nothing.
 *
 * tests/cuda/cpp.sed makes C++ of the sources. The environment says what the machine is:
 *   EMULATED_GPUS=1   EMULATED_MEMORY=bytes of each   EMULATED_NAME=text
 *   EMULATED_ORDER=backwards: the last block and thread come first, so that what works in
 *       one order only shows */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <functional>

#define CUDART_VERSION 13000
#define __CUDA_ARCH__ 900

/* --- the language ----------------------------------------------------------------- */

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(threads)

struct dim3 {
    unsigned int x, y, z;
    dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
        : x(x_), y(y_), z(z_)
    {
    }
};
struct alignas(8) uint2 {
    unsigned int x, y;
};
struct alignas(16) uint4 {
    unsigned int x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
static inline uint2 make_uint2(unsigned int x, unsigned int y)
{
    return { x, y };
}
static inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z,
                               unsigned int w)
{
    return { x, y, z, w };
}
static inline float4 make_float4(float x, float y, float z, float w)
{
    return { x, y, z, w };
}

extern dim3 threadIdx, blockIdx, blockDim, gridDim;
void __syncthreads();
float __shfl_xor_sync(unsigned int mask, float v, int lanes);
static inline void __threadfence()
{
}

/* Blocks take turns, so that nothing comes between. */
static inline float atomicAdd(float *at, float v)
{
    float old = *at;
    *at += v;
    return old;
}
static inline unsigned int atomicInc(unsigned int *at, unsigned int most)
{
    unsigned int old = *at;
    *at = old >= most ? 0 : old + 1;
    return old;
}

#define __expf expf
#define __powf powf
#define __sincosf sincosf
static inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}
static inline float __uint_as_float(unsigned int bits)
{
    float v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}
static inline int min(int a, int b)
{
    return a < b ? a : b;
}
unsigned long long cuda_globaltimer(); /* ns */
static inline long long clock64()
{
    return (long long)cuda_globaltimer();
}

/* --- the runtime ------------------------------------------------------------------ */

enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInvalidConfiguration,
    cudaErrorInvalidDevice,
    cudaErrorStreamCaptureUnsupported,
    cudaErrorPeerAccessAlreadyEnabled
};
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDefault
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
enum cudaDeviceAttr {
    cudaDevAttrClockRate,
    cudaDevAttrMemoryClockRate,
    cudaDevAttrGlobalMemoryBusWidth
};
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };

struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount, l2CacheSize;
};

typedef struct cuda_stream *cudaStream_t;
typedef struct cuda_event *cudaEvent_t;
typedef struct cuda_graph *cudaGraph_t;
typedef struct cuda_graph *cudaGraphExec_t;

const char *cudaGetErrorString(cudaError_t status);
cudaError_t cudaGetLastError();
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device);
cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr what, int device);
cudaError_t cudaDeviceCanAccessPeer(int *direct, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);

cudaError_t cudaMalloc(void **at, size_t bytes);
cudaError_t cudaFree(void *at);
cudaError_t cudaMallocHost(void **at, size_t bytes);
cudaError_t cudaFreeHost(void *at);
cudaError_t cudaMemGetInfo(size_t *left, size_t *total);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                int from_device, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *run, cudaGraph_t graph,
                                          unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

/* --- inside ----------------------------------------------------------------------- */

/* Runs work now, or where the stream is being captured, whenever its graph is. */
void cuda_enqueue(cudaStream_t stream, const std::function<void()> &work);

cudaError_t cuda_set_error(cudaError_t status); /* for cudaGetLastError; returns it */

void cuda_run_kernel(dim3 grid, dim3 block, cudaStream_t stream,
                     const std::function<void()> &thread);

template <class... P> struct cuda_launcher {
    void (*kernel)(P...);
    dim3 grid, block;
    cudaStream_t stream;
    void operator()(P... args) const
    {
        void (*run)(P...) = kernel;
        cuda_run_kernel(grid, block, stream, [=] { run(args...); });
    }
};

template <class... P>
cuda_launcher<P...> cuda_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t,
                                cudaStream_t stream)
{
    return { kernel, grid, block, stream };
}

#endif
