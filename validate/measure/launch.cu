/* What a launch costs: the host's call, and the GPU from kernel to kernel; and clocks:
 * what the SMs run at, in bursts and after seconds of products. */
#include "buffer.h"
#include "product.h"
#include "timing.h"

#include <time.h>

enum { LAUNCHES = 2000, ROUNDS = 9, SQUARE = 8192 };

static __global__ void nothing(void)
{
}

/* Seconds of the host's clock for a call, medians over rounds. */
static int host_time(struct measure *m, launch_fn *launch, void *arg, double *median_s)
{
    double times[ROUNDS];
    struct timing t;
    for (int r = 0; r < ROUNDS; r++) {
        TRY_CUDA(m, cudaStreamSynchronize(m->stream));
        double begun = measure_now_s();
        for (int i = 0; i < LAUNCHES / ROUNDS; i++)
            TRY(launch(m, arg, i));
        times[r] = (measure_now_s() - begun) / (LAUNCHES / ROUNDS);
    }
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    timing_of(times, ROUNDS, &t);
    *median_s = t.median_s;
    return 0;
}

static int launch_nothing(struct measure *m, void *arg, int64_t i)
{
    (void)arg;
    (void)i;
    nothing<<<1, 32, 0, m->stream>>>();
    TRY_CUDA(m, cudaGetLastError());
    return 0;
}

struct products {
    struct product p;
    struct buffer a, b, c;
};

static int launch_product(struct measure *m, void *arg, int64_t i)
{
    struct products *x = (struct products *)arg;
    (void)i;
    return product_launch(m, &x->p, x->a.at, x->b.at, x->c.at);
}

static int make_products(struct measure *m, struct products *x,
                         enum measure_dtype dtype, int64_t n)
{
    x->p.layout = PRODUCT_TN;
    x->p.dtype = dtype;
    x->p.m = x->p.n = x->p.k = n;
    x->p.batch = 1;
    TRY(buffer_make(m, &x->a, dtype, n * n, 1));
    TRY(buffer_make(m, &x->b, dtype, n * n, 2));
    return buffer_make(m, &x->c, dtype, n * n, 3);
}

static void free_products(struct products *x)
{
    buffer_free(&x->a);
    buffer_free(&x->b);
    buffer_free(&x->c);
}

/* From the host's call to the end of an empty kernel. */
static int round_trip(struct measure *m, double *median_s)
{
    double times[ROUNDS];
    struct timing t;
    for (int i = 0; i < ROUNDS; i++) {
        double begun = measure_now_s();
        TRY(launch_nothing(m, NULL, 0));
        TRY_CUDA(m, cudaStreamSynchronize(m->stream));
        times[i] = measure_now_s() - begun;
    }
    timing_of(times, ROUNDS, &t);
    *median_s = t.median_s;
    return 0;
}

static void row_launch(struct measure *m, const char *what, double time_s)
{
    row_begin(m, "launch");
    row_text(m, "what", what);
    row_real(m, "time_s", time_s);
    row_end(m);
}

int section_launch(struct measure *m)
{
    struct products x = {};
    struct timing graph, plain;
    double host_s = 0, blas_s = 0, trip_s = 0;
    TRY(timing_run(m, launch_nothing, NULL, &graph));
    TRY(timing_run_plain(m, launch_nothing, NULL, &plain));
    TRY(host_time(m, launch_nothing, NULL, &host_s));
    TRY(round_trip(m, &trip_s));
    TRY(make_products(m, &x, DTYPE_FP16, 64));
    TRY(host_time(m, launch_product, &x, &blas_s));
    free_products(&x);
    row_launch(m, "empty kernels in a graph", graph.median_s);
    row_launch(m, "empty kernels, one launch each", plain.median_s);
    row_launch(m, "host, kernel launch", host_s);
    row_launch(m, "host, cuBLAS product", blas_s);
    row_launch(m, "host to end of kernel", trip_s);
    return 0;
}

/* --- clocks ----------------------------------------------------------------------- */

/* Ticks of the SM's clock and of the nanosecond timer over a loop of one thread. */
static __global__ void ticks(long long *out, int turns)
{
    unsigned long long from_ns, to_ns;
    volatile float v = 1;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from_ns));
    long long from = clock64();
    for (int i = 0; i < turns; i++)
        v = v * 1.0001f + 0.5f;
    long long to = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to_ns));
    out[0] = to - from;
    out[1] = (long long)(to_ns - from_ns);
}

/* About 2 ms long: the timer moves in steps of up to 1 us. */
static int sm_clock(struct measure *m, double *hz)
{
    long long *device, host[2];
    TRY_CUDA(m, cudaMalloc((void **)&device, sizeof(host)));
    ticks<<<1, 1, 0, m->stream>>>(device, 50000);
    cudaError_t status =
        cudaMemcpyAsync(host, device, sizeof(host), cudaMemcpyDeviceToHost, m->stream);
    if (status == cudaSuccess)
        status = cudaStreamSynchronize(m->stream);
    cudaFree(device);
    TRY_CUDA(m, status);
    *hz = host[1] > 0 ? 1e9 * (double)host[0] / (double)host[1] : 0;
    return 0;
}

/* Products back to back for `seconds`, once at least; the time of one at the end. */
static int heat(struct measure *m, struct products *x, double burst_s, double seconds,
                double *last_s)
{
    double until = measure_now_s() + seconds;
    int batch = (int)(0.2 / burst_s) + 1;
    float ms;
    cudaEvent_t begin, end;
    TRY_CUDA(m, cudaEventCreate(&begin));
    TRY_CUDA(m, cudaEventCreate(&end));
    do {
        TRY_CUDA(m, cudaEventRecord(begin, m->stream));
        for (int i = 0; i < batch; i++)
            TRY(launch_product(m, x, i));
        TRY_CUDA(m, cudaEventRecord(end, m->stream));
        TRY_CUDA(m, cudaEventSynchronize(end));
        TRY_CUDA(m, cudaEventElapsedTime(&ms, begin, end));
        *last_s = 1e-3 * (double)ms / batch;
    } while (measure_now_s() < until);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return 0;
}

static int measure_clock(struct measure *m, enum measure_dtype dtype, double seconds)
{
    struct products x = {};
    struct timing burst;
    double cool_hz, hot_hz, sustained_s = 0;
    TRY(make_products(m, &x, dtype, dtype == DTYPE_FP32 ? SQUARE / 2 : SQUARE));
    TRY(timing_run(m, launch_product, &x, &burst));
    TRY(sm_clock(m, &cool_hz));
    TRY(heat(m, &x, burst.median_s, seconds, &sustained_s));
    TRY(sm_clock(m, &hot_hz));
    free_products(&x);
    row_begin(m, "clock");
    row_text(m, "dtype", dtype_name(dtype));
    row_real(m, "burst_s", burst.median_s);
    row_real(m, "sustained_s", sustained_s);
    row_real(m, "burst_hz", cool_hz);
    row_real(m, "sustained_hz", hot_hz);
    row_end(m);
    return 0;
}

int section_clock(struct measure *m)
{
    static const enum measure_dtype formats[] = { DTYPE_BF16, DTYPE_FP16, DTYPE_TF32,
                                                  DTYPE_FP32 };
    double each = measure_left_s(m) / 5;
    each = each > 12 ? 12 : each;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (dtype_runs(m, formats[i])) {
            struct timespec rest = { 1, 0 }; /* cool down */
            nanosleep(&rest, NULL);
            TRY(measure_clock(m, formats[i], each));
        }
    return 0;
}
