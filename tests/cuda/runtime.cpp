/* Devices, memory, streams, events and graphs. */
#include "cuda_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <map>
#include <mutex>
#include <vector>

enum { DEVICES_MOST = 16, ALIGN_B = 256, CONTEXT_B = 8 << 20 };

struct cuda_graph {
    std::vector<std::function<void()>> work;
};
struct cuda_stream {
    cuda_graph *captured; /* NULL: what comes is run */
};
struct cuda_event {
    unsigned long long at_ns;
    bool timed;
};

static thread_local int here; /* the device */
static thread_local cudaError_t last_error;

static long long environment(const char *name, long long otherwise)
{
    const char *value = getenv(name);
    return value ? atoll(value) : otherwise;
}

/* --- errors ----------------------------------------------------------------------- */

cudaError_t cuda_set_error(cudaError_t status)
{
    if (status != cudaSuccess)
        last_error = status;
    return status;
}

cudaError_t cudaGetLastError()
{
    cudaError_t status = last_error;
    last_error = cudaSuccess;
    return status;
}

const char *cudaGetErrorString(cudaError_t status)
{
    static const char *const texts[] = { "no error",
                                         "invalid argument",
                                         "out of memory",
                                         "invalid configuration argument",
                                         "invalid device ordinal",
                                         "operation not permitted when stream is "
                                         "capturing",
                                         "peer access is already enabled" };
    return texts[status];
}

unsigned long long cuda_globaltimer()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

/* --- devices ---------------------------------------------------------------------- */

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *n)
{
    *n = (int)environment("EMULATED_GPUS", 1);
    return *n > 0 && *n <= DEVICES_MOST ? cudaSuccess
                                        : cuda_set_error(cudaErrorInvalidDevice);
}

cudaError_t cudaSetDevice(int device)
{
    here = device;
    return device < environment("EMULATED_GPUS", 1)
               ? cudaSuccess
               : cuda_set_error(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int)
{
    *prop = {};
    const char *name = getenv("EMULATED_NAME");
    snprintf(prop->name, sizeof(prop->name), "%s", name ? name : "NVIDIA Emulated");
    prop->major = 9;
    prop->multiProcessorCount = 2;
    prop->l2CacheSize = 1 << 16;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr what, int)
{
    *v = what == cudaDevAttrGlobalMemoryBusWidth ? 64 : 1000000;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *direct, int, int)
{
    *direct = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int)
{
    return cudaSuccess;
}

/* --- memory ----------------------------------------------------------------------- */

struct block {
    size_t bytes;
    int device;
};

static std::mutex memory_turn;
static std::map<void *, block> blocks;
static size_t taken[DEVICES_MOST];

static size_t capacity()
{
    return (size_t)environment("EMULATED_MEMORY", 256ll << 20);
}

cudaError_t cudaMalloc(void **at, size_t bytes)
{
    std::lock_guard<std::mutex> turn(memory_turn);
    if (taken[here] + bytes + CONTEXT_B > capacity())
        return cuda_set_error(cudaErrorMemoryAllocation);
    if (posix_memalign(at, ALIGN_B, bytes ? bytes : 1))
        return cuda_set_error(cudaErrorMemoryAllocation);
    memset(*at, 0xff, bytes); /* no number in any format */
    blocks[*at] = { bytes, here };
    taken[here] += bytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void *at)
{
    std::lock_guard<std::mutex> turn(memory_turn);
    if (!at)
        return cudaSuccess;
    auto it = blocks.find(at);
    if (it == blocks.end())
        return cuda_set_error(cudaErrorInvalidValue);
    taken[it->second.device] -= it->second.bytes;
    blocks.erase(it);
    free(at);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **at, size_t bytes)
{
    *at = malloc(bytes);
    return *at ? cudaSuccess : cuda_set_error(cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void *at)
{
    free(at);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    std::lock_guard<std::mutex> turn(memory_turn);
    *total = capacity();
    *left = *total - CONTEXT_B - taken[here];
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream)
{
    cuda_enqueue(stream, [=] { memcpy(to, from, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes,
                                cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
    cuda_enqueue(stream, [=] { memset(at, value, bytes); });
    return cudaSuccess;
}

/* --- streams and events ----------------------------------------------------------- */

void cuda_enqueue(cudaStream_t stream, const std::function<void()> &work)
{
    if (stream->captured)
        stream->captured->work.push_back(work);
    else
        work();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int)
{
    *stream = new cuda_stream();
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return stream->captured ? cuda_set_error(cudaErrorStreamCaptureUnsupported)
                            : cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int)
{
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    *event = new cuda_event();
    (*event)->timed = !(flags & cudaEventDisableTiming);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cuda_enqueue(stream, [=] { event->at_ns = cuda_globaltimer(); });
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    if (!begin->timed || !end->timed || !begin->at_ns || !end->at_ns)
        return cuda_set_error(cudaErrorInvalidValue);
    *ms = 1e-6f * (float)(end->at_ns - begin->at_ns);
    return cudaSuccess;
}

/* --- graphs ----------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    stream->captured = new cuda_graph();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = stream->captured;
    stream->captured = NULL;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *run, cudaGraph_t graph,
                                          unsigned long long)
{
    *run = new cuda_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t stream)
{
    for (const std::function<void()> &work : run->work)
        cuda_enqueue(stream, work);
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run)
{
    delete run;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}
