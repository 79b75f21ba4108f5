/* smsim-measure: what the GPUs of this machine do. The program needs nothing of smsim
 * (CUDA runtime, cuBLAS, NCCL, libc); its output is read by `smsim calibrate`.
 *
 * Each section runs in a process of its own, so that one whose kernel faults, or whose
 * GPU disappears, is recorded and the run goes on; the parent never touches CUDA. A
 * section writes rows, one JSON object a line; the parent keeps the output file whole.
 *
 * Functions that can fail return 0, or -1 with the reason in m->error. Times are
 * seconds, sizes bytes, rates per second. */
#ifndef SMSIM_MEASURE_H
#define SMSIM_MEASURE_H

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

enum measure_dtype { DTYPE_FP32, DTYPE_TF32, DTYPE_FP16, DTYPE_BF16, DTYPE_FP8 };

struct measure_step {  /* a training step to be run */
    const char *model; /* a config.json */
    int64_t batch, sequence;
};

enum { MEASURE_STEPS_MOST = 64 };

struct measure_options {
    const char *out;
    const char *sections; /* names, with commas; NULL: all */
    double budget_s;
    struct measure_step steps[MEASURE_STEPS_MOST];
    int n_steps;
    int64_t timed; /* repetitions of each */
    bool fp16;     /* the steps' format; else bf16 where the GPU has it */
};

struct measure {
    const struct measure_options *options;
    const struct measure_step *step; /* of section_step */
    int device, n_devices;
    struct cudaDeviceProp prop;
    cudaStream_t stream;
    cublasHandle_t blas;
    void *workspace; /* cuBLAS's, so that its calls can be captured in graphs */
    double deadline_s;
    int64_t item, skip; /* see measure_next */
    FILE *rows;
    bool first_field; /* of the row being written */
    char error[400];
};

double measure_now_s(void); /* monotonic */
double measure_left_s(const struct measure *m);

/* Whether the next item of a section is to be measured: not when an earlier process of
 * the section has had it. Items are counted alike in every process, whatever the time;
 * rows give theirs. */
bool measure_next(struct measure *m);

int measure_fail(struct measure *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Opens the device: stream, cuBLAS, workspace. */
int measure_open(struct measure *m);
void measure_close(struct measure *m);

#define TRY_CUDA(m, call)                                                           \
    do {                                                                            \
        cudaError_t status_ = (call);                                               \
        if (status_ != cudaSuccess) {                                               \
            cudaGetLastError();                                                     \
            return measure_fail((m), "%s: %s", #call, cudaGetErrorString(status_)); \
        }                                                                           \
    } while (0)

#define TRY_BLAS(m, call)                                                              \
    do {                                                                               \
        cublasStatus_t status_ = (call);                                               \
        if (status_ != CUBLAS_STATUS_SUCCESS)                                          \
            return measure_fail((m), "%s: %s", #call, cublasGetStatusString(status_)); \
    } while (0)

#define TRY(call)      \
    do {               \
        if (call)      \
            return -1; \
    } while (0)

/* Rows of output: row_begin, fields, row_end. */
void row_begin(struct measure *m, const char *kind);
void row_text(struct measure *m, const char *key, const char *value);
void row_int(struct measure *m, const char *key, int64_t value);
void row_real(struct measure *m, const char *key, double value);
void row_flag(struct measure *m, const char *key, bool value);
void row_open(struct measure *m, const char *key); /* fields of an object follow */
void row_close(struct measure *m);
void row_error(
    struct measure *m); /* the field "error" from m->error, which it clears */
void row_end(struct measure *m);

const char *dtype_name(enum measure_dtype t);
int dtype_bytes(enum measure_dtype t);
bool dtype_runs(const struct measure *m, enum measure_dtype t); /* on this GPU */

/* The sections, in order. Each writes rows; -1 ends it. */
typedef int section_fn(struct measure *m);
int section_device(struct measure *m);
int section_memory(struct measure *m);
int section_launch(struct measure *m);
int section_gemm(struct measure *m);
int section_stream(struct measure *m);
int section_kernels(struct measure *m);
int section_attention(struct measure *m);
int section_clock(struct measure *m);
int section_copy(struct measure *m);
int section_peer(struct measure *m);
int section_collective(struct measure *m);
int section_step(struct measure *m);

#endif
