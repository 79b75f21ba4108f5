/* The memory-bound kernels that are measured: one table, a row each. */
#ifndef SMSIM_MEASURE_STREAM_KINDS_H
#define SMSIM_MEASURE_STREAM_KINDS_H

#include "buffer.h"
#include "timing.h"

enum { STREAM_BUFFERS = 6 };

/* A kernel over rows x columns elements, and its buffers: the result and inputs have
 * `sets` of them one after the other, the others a row. */
struct stream_bench {
    enum measure_dtype dtype;
    int64_t rows, columns, sets;
    struct buffer b[STREAM_BUFFERS]; /* 0: the result; 3 on: vectors of columns */
    uint8_t *mask;                   /* [rows, columns] */
    int *index;                      /* [rows] */
    float *stats, *partial;          /* [2, rows]; [2, KERNEL_PARTS, columns] */
    float *state[3];                 /* of Adam: master, m, v; [rows, columns] */
};

static inline int64_t stream_size(const struct stream_bench *x)
{
    return x->rows * x->columns;
}

/* What all rows have as statistics before a kernel writes them: mean and scale of
 * norms, and the latter as the log-sum-exp of losses. */
static const float stream_stats_mean = 0.25f, stream_stats_scale = 1.5f;

/* The row, of `below`, that row i means: spread out, each once where that can be. */
static inline int64_t stream_index(int64_t i, int64_t below)
{
    return (i * 7919 + 13) % below;
}

/* What element i of the result should be; `got` is what it is, for those that draw
 * lots. */
typedef double stream_expect_fn(const struct stream_bench *x, int64_t i, double got);

/* Where results are: buffer 0 but for sums over rows (buffer 4) and losses (stats). */
enum stream_result { STREAM_ELEMENTS, STREAM_COLUMNS, STREAM_LOSSES };

struct stream_kind {
    const char *name;
    launch_fn *launch; /* of a stream_bench */
    int inputs;        /* buffers 1..inputs */
    double narrow;     /* tensors of the format that are moved */
    double mask, wide; /* tensors of bytes, and of fp32 */
    stream_expect_fn *expect;
    double floor; /* errors are relative to |expected| + floor */
    enum stream_result result;
};

extern const struct stream_kind stream_kinds[]; /* the first is a copy */
extern const int stream_kinds_n;

#endif
