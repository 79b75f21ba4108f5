/* Collectives of NCCL by size, for every number of GPUs from one up. Sizes are those of
 * nccl-tests: the whole buffer, of all ranks together for all-gather, reduce-scatter
 * and all-to-all. */
#include "buffer.h"
#include "group.h"
#include "timing.h"

#include <string.h>

#ifdef SMSIM_NO_NCCL

int section_collective(struct measure *m)
{
    return measure_fail(m, "built without NCCL");
}

#else

enum { ROUNDS = 7, OPS = 5 };

static const int64_t size_least = 8, size_most = (int64_t)1 << 30;

static const char *const op_names[OPS] = { "all_reduce", "all_gather", "reduce_scatter",
                                           "broadcast", "alltoall" };

struct buffers {
    float *send, *receive; /* [size_most / 4] */
};

static int launch(struct member *w, const struct buffers *b, int op, int64_t size)
{
    struct measure *m = &w->m;
    size_t count = (size_t)size / sizeof(float), each = count / (size_t)w->group->n;
    switch (op) {
    case 0:
        TRY_NCCL(m, ncclAllReduce(b->send, b->receive, count, ncclFloat, ncclSum,
                                  w->comm, m->stream));
        return 0;
    case 1:
        TRY_NCCL(
            m, ncclAllGather(b->send, b->receive, each, ncclFloat, w->comm, m->stream));
        return 0;
    case 2:
        TRY_NCCL(m, ncclReduceScatter(b->send, b->receive, each, ncclFloat, ncclSum,
                                      w->comm, m->stream));
        return 0;
    case 3:
        TRY_NCCL(m, ncclBroadcast(b->send, b->receive, count, ncclFloat, 0, w->comm,
                                  m->stream));
        return 0;
    }
    TRY_NCCL(m, ncclGroupStart());
    for (int peer = 0; peer < w->group->n; peer++) {
        TRY_NCCL(m, ncclSend(b->send + (size_t)peer * each, each, ncclFloat, peer,
                             w->comm, m->stream));
        TRY_NCCL(m, ncclRecv(b->receive + (size_t)peer * each, each, ncclFloat, peer,
                             w->comm, m->stream));
    }
    TRY_NCCL(m, ncclGroupEnd());
    return 0;
}

/* All ranks leave together; rank 0's clock counts, as nccl-tests' average of ranks does
 * to within a launch. */
static int time_size(struct member *w, const struct buffers *b, int op, int64_t size,
                     struct timing *t)
{
    struct measure *m = &w->m;
    double times[ROUNDS];
    int inner = size <= 1 << 20 ? 20 : 4;
    for (int i = 0; i < ROUNDS + 1; i++) {
        TRY_CUDA(m, cudaStreamSynchronize(m->stream));
        group_wait(w);
        double begun = measure_now_s();
        for (int k = 0; k < inner; k++)
            TRY(launch(w, b, op, size));
        TRY_CUDA(m, cudaStreamSynchronize(m->stream));
        if (i > 0) /* the first warms up */
            times[i - 1] = (measure_now_s() - begun) / inner;
    }
    timing_of(times, ROUNDS, t);
    t->repetitions = ROUNDS * inner;
    return 0;
}

/* Sums of ones: each element of an all-reduce is the number of ranks. */
static int check(struct member *w, const struct buffers *b)
{
    struct measure *m = &w->m;
    enum { N = 1024 };
    static float ones[N];
    float got[N];
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    TRY(buffer_write(m, b->send, ones, sizeof(got)));
    TRY(launch(w, b, 0, sizeof(got)));
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    TRY_CUDA(m, cudaMemcpy(got, b->receive, sizeof(got), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        if (got[i] != (float)w->group->n)
            return measure_fail(m, "all-reduce of ones over %d ranks gives %g",
                                w->group->n, (double)got[i]);
    return 0;
}

/* Ranks must agree on when to stop: rank 0's clock decides. */
struct shared {
    volatile int stop;
};

static int run_sizes(struct member *w, const struct buffers *b, struct shared *shared)
{
    struct measure *m = &w->m;
    for (int op = 0; op < OPS; op++)
        for (int64_t size = size_least; size <= size_most; size *= 2) {
            struct timing t;
            if (size / (int64_t)sizeof(float) < w->group->n)
                continue;
            if (w->rank == 0)
                shared->stop = measure_left_s(m) < 0;
            group_wait(w);
            if (shared->stop)
                return 0;
            TRY(time_size(w, b, op, size, &t));
            if (w->rank != 0)
                continue;
            row_begin(m, "collective");
            row_text(m, "op", op_names[op]);
            row_int(m, "ranks", w->group->n);
            row_int(m, "bytes", size);
            row_timing(m, &t);
            row_end(m);
        }
    return 0;
}

static int run_member(struct member *w, void *arg)
{
    struct measure *m = &w->m;
    struct buffers b = { NULL, NULL };
    TRY_CUDA(m, cudaMalloc((void **)&b.send, (size_t)size_most));
    TRY_CUDA(m, cudaMalloc((void **)&b.receive, (size_t)size_most));
    TRY_CUDA(m, cudaMemsetAsync(b.send, 0, (size_t)size_most, m->stream));
    int rc = check(w, &b);
    if (rc == 0)
        rc = run_sizes(w, &b, (struct shared *)arg);
    cudaFree(b.receive);
    cudaFree(b.send);
    return rc;
}

int section_collective(struct measure *m)
{
    for (int n = 1; n <= m->n_devices && measure_left_s(m) > 0; n++) {
        struct shared shared = { 0 };
        double left = measure_left_s(m), end = m->deadline_s;
        m->deadline_s = measure_now_s() + left / (m->n_devices - n + 1);
        int rc = group_run(m, n, true, run_member, &shared);
        m->deadline_s = end;
        TRY(rc);
    }
    return 0;
}

#endif
