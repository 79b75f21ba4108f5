/* Traces of PyTorch's profiler (Kineto; Chrome's trace events as JSON), of one rank
 * each: kernels by class, steps, communication that is exposed, waiting. Exports of
 * Nsight Systems are read into the same (nsight.h).
 *
 * Reading streams (json_events.h). Of each kernel 40 bytes are kept while its trace is
 * read, of at most KINETO_KERNELS_MAX; what remains of a trace is small. Sources of the
 * format: kineto, libkineto/src/output_json.cpp; PyTorch, torch/csrc/profiler/kineto_shim
 * and torch/csrc/distributed/c10d/ParamCommsUtils.hpp (arguments of collectives).
 *
 * Files of this folder:
 *     json_events  tokens of JSON
 *     kernels      what a kernel does, by its name
 *     gather       events of a trace
 *     chrome       Kineto's JSON as events
 *     nsight       exports of Nsight Systems as events (the only user of sqlite3)
 *     spans        time that intervals cover
 *     repeated     steps that no mark of the profiler says
 *     late         what the host did while the GPU waited for it
 *     steps        a trace's steps, and what kernels cover of them
 *     sums         its kernels by class, collective and product
 *     timeline     the kernels of one step, as they ran
 *     kineto       a trace as a whole */
#ifndef KINETO_KINETO_H
#define KINETO_KINETO_H

#include "base/vec.h"
#include "kineto/kernels.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    KINETO_TEXT = 64,
    KINETO_KERNELS_MAX = 2 << 20,
    KINETO_COMMS_MAX = 256,
    KINETO_PRODUCTS_MAX = 1024,
    KINETO_STEPS_MAX = 4096
};

/* By what steps were found, the first of these that a trace has. */
enum kineto_marks {
    KINETO_GPU_MARKS,  /* the profiler's, on the GPU's time */
    KINETO_HOST_MARKS, /* the profiler's, on the host's */
    KINETO_RANGES,     /* NVTX ranges or annotations that repeat */
    KINETO_OPTIMIZER,  /* from the optimizer's kernels to those of the next step */
    KINETO_NO_STEPS
};
extern const struct name_value kineto_marks_names[];

/* Why the GPU waits for a kernel that the host launched late, by what the host did. */
enum kineto_late {
    LATE_LOADER,    /* it waited for the data loader */
    LATE_SYNC,      /* it had waited for the GPU: item(), a print, a synchronisation */
    LATE_ALLOCATOR, /* it took memory from the driver, or gave it back */
    LATE_OPTIMIZER, /* it was in Optimizer.step */
    LATE_LAUNCHES,  /* none of these: Python, and launches of small kernels */
    KINETO_LATE
};
extern const struct name_value kineto_late_names[];

/* A step ends where the next begins. */
struct kineto_step {
    int64_t number;
    double step_s;
    double compute_s;           /* a kernel that computes runs */
    double comm_s;              /* a kernel that communicates runs */
    double exposed_s;           /* and none that computes */
    double copy_exposed_s;      /* only copies run */
    double idle_s;              /* nothing runs */
    double host_s;              /* of it: the next kernel was launched only then */
    double late_s[KINETO_LATE]; /* of host_s, by why */
    double loading_s;           /* the host waits for the data loader */
};

/* Collectives of one kind, size and group. */
struct kineto_comm {
    enum kernel_comm kind;
    double size_B;    /* the larger of input and output of a rank; 0: unknown */
    int64_t group;    /* ranks; 0: unknown */
    int64_t stride;   /* from one of them to the next; 0: unknown */
    char of[24];      /* the group's name or description */
    int64_t n;        /* in all steps */
    double time_s;    /* of all of them; waiting for other ranks is in it */
    double least_s;   /* of one */
    double exposed_s; /* not covered by kernels that compute, of all of them */
};

/* Products of one shape, where the trace has shapes: C[m,n] = A[m,k] B[k,n]. */
struct kineto_product {
    int64_t m, n, k, batch;
    enum kernel_format format;
    int64_t count; /* in all steps */
    double time_s, least_s;
};

/* A kernel of the step that is kept as it ran. Times in ns after the step's begin. */
struct kineto_task {
    int64_t start, length;
    int64_t launch; /* by the host; INT64_MIN: unknown */
    int32_t stream;
    enum kernel_class class;
    enum kernel_comm comm; /* of KERNEL_COMM */
    double size_B;         /* as struct kineto_comm has it */
    int64_t group, stride; /* likewise */
};

/* What a trace says of its rank. Sums are of the steps that were kept: those up to 1.5
 * of the median's time; of the whole trace, where no step is marked. */
struct kineto_rank {
    int64_t rank, world;      /* -1, 0: not said */
    char device[KINETO_TEXT]; /* name of the GPU; "" */
    char nccl[16];            /* version; "" */
    char precision[16];       /* of most of the time of products; "" */
    int64_t n_events, n_kernels, n_left_out, n_names, n_devices;
    bool whole; /* JSON to its end */
    enum kineto_marks marks;
    bool backward; /* launches of backward are known */
    bool launches; /* any launch is */
    VEC(struct kineto_step) steps;
    int64_t n_kept;
    struct kineto_step mean;             /* of those kept */
    double class_s[KERNEL_CLASSES];      /* a step; kernels may run at the same time */
    double backward_s[KERNEL_CLASSES];   /* of it, launched by autograd's thread */
    int64_t class_n[KERNEL_CLASSES];     /* a step */
    double comm_s[COMM_KINDS];           /* a step */
    double comm_exposed_s[COMM_KINDS];   /* likewise */
    double format_s[KERNEL_FORMATS];     /* of products, likewise */
    VEC(struct kineto_comm) comms;       /* the longest first */
    VEC(struct kineto_product) products; /* likewise */
    VEC(struct kineto_task) tasks; /* of one step by their begin, where asked for */
    double tasks_s;                /* how long that step took */
};

struct gather;
struct kineto;

/* Whether the begin of a file is of such a trace. */
bool kineto_is(const char *begin, size_t n);

struct kineto *kineto_new(void);
void kineto_free(struct kineto *k);

/* Before the first bytes: the kernels of a step are wanted, of that whose time is next to
 * the mean of those that are kept. */
void kineto_keep_timeline(struct kineto *k);

/* The next bytes of the file. */
void kineto_feed(struct kineto *k, const char *bytes, size_t n);

/* After the last byte. `to` is released by kineto_rank_release. */
void kineto_end(struct kineto *k, struct kineto_rank *to);

/* What events say that came otherwise (nsight.h); `whole` is set by the caller. */
void kineto_sum_up(struct gather *g, struct kineto_rank *to);
void kineto_rank_release(struct kineto_rank *r);

#endif
