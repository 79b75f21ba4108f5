/* Bytes from host to GPU and back, pinned and pageable; and from GPU to GPU. */
#include "timing.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 7 };

static const int64_t size_least = 4096, size_most = (int64_t)256 << 20;

struct path {
    void *to;
    const void *from;
    size_t bytes;
    enum cudaMemcpyKind kind;
    int peer; /* the other GPU; -1: the host */
    int owner;
};

static int one_copy(struct measure *m, const struct path *p)
{
    if (p->peer >= 0)
        TRY_CUDA(m, cudaMemcpyPeerAsync(p->to, p->peer, p->from, p->owner, p->bytes,
                                        m->stream));
    else
        TRY_CUDA(m, cudaMemcpyAsync(p->to, p->from, p->bytes, p->kind, m->stream));
    return 0;
}

/* By the host's clock: pageable copies do not return before they are done. */
static int time_path(struct measure *m, const struct path *p, struct timing *t)
{
    double times[ROUNDS];
    int inner = p->bytes < 1 << 20 ? 20 : 2;
    TRY(one_copy(m, p));
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    for (int i = 0; i < ROUNDS; i++) {
        double begun = measure_now_s();
        for (int k = 0; k < inner; k++)
            TRY(one_copy(m, p));
        TRY_CUDA(m, cudaStreamSynchronize(m->stream));
        times[i] = (measure_now_s() - begun) / inner;
    }
    timing_of(times, ROUNDS, t);
    t->repetitions = ROUNDS * inner;
    return 0;
}

static int measure_path(struct measure *m, struct path p, const char *name)
{
    for (int64_t size = size_least; size <= size_most; size *= 2) {
        struct timing t;
        p.bytes = (size_t)size;
        int rc = time_path(m, &p, &t);
        row_begin(m, "link");
        row_text(m, "name", name);
        row_int(m, "bytes", size);
        if (rc == 0)
            row_timing(m, &t);
        row_end(m);
        if (measure_left_s(m) < 0)
            break;
    }
    return 0;
}

/* With host memory at hand: both directions. */
static int both_ways(struct measure *m, void *host, void *device, const char *kind)
{
    char name[80];
    struct path up = { device, host, 0, cudaMemcpyHostToDevice, -1, m->device };
    struct path down = { host, device, 0, cudaMemcpyDeviceToHost, -1, m->device };
    snprintf(name, sizeof(name), "%s host to gpu%d", kind, m->device);
    TRY(measure_path(m, up, name));
    snprintf(name, sizeof(name), "gpu%d to %s host", m->device, kind);
    return measure_path(m, down, name);
}

int section_copy(struct measure *m)
{
    void *pinned = NULL, *pageable = malloc((size_t)size_most), *device = NULL;
    if (!pageable)
        return measure_fail(m, "out of memory");
    memset(pageable, 1, (size_t)size_most);
    TRY_CUDA(m, cudaMalloc(&device, (size_t)size_most));
    TRY_CUDA(m, cudaMallocHost(&pinned, (size_t)size_most));
    int rc = both_ways(m, pinned, device, "pinned");
    if (rc == 0)
        rc = both_ways(m, pageable, device, "pageable");
    cudaFreeHost(pinned);
    cudaFree(device);
    free(pageable);
    return rc;
}

static int measure_peer(struct measure *m, int peer)
{
    char name[80];
    int direct = 0;
    void *here, *there;
    TRY_CUDA(m, cudaDeviceCanAccessPeer(&direct, m->device, peer));
    if (direct && cudaDeviceEnablePeerAccess(peer, 0) != cudaSuccess)
        cudaGetLastError();
    TRY_CUDA(m, cudaMalloc(&here, (size_t)size_most));
    TRY_CUDA(m, cudaSetDevice(peer));
    TRY_CUDA(m, cudaMalloc(&there, (size_t)size_most));
    TRY_CUDA(m, cudaSetDevice(m->device));
    struct path p = { there, here, 0, cudaMemcpyDefault, peer, m->device };
    snprintf(name, sizeof(name), "gpu%d to gpu%d%s", m->device, peer,
             direct ? "" : " through the host");
    int rc = measure_path(m, p, name);
    cudaFree(there);
    cudaFree(here);
    return rc;
}

int section_peer(struct measure *m)
{
    for (int peer = 0; peer < m->n_devices; peer++)
        if (peer != m->device && measure_left_s(m) > 0)
            TRY(measure_peer(m, peer));
    return 0;
}
