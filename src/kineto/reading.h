/* A trace at its end: what kernels of the GPU cover, and the windows of its steps. */
#ifndef KINETO_READING_H
#define KINETO_READING_H

#include "kineto/gather.h"
#include "kineto/spans.h"

struct reading {
    struct gather *g; /* in order: kernels and marks by time, launches by id */
    struct kineto_rank *to;
    struct spans compute, comm, either, any, optimizer, loading;
    struct spans syncs, allocations; /* of threads that launch kernels */
    int32_t device;                  /* with most kernels */
    VEC(struct span) kept;           /* windows of the steps that were kept */
};

/* What a kernel does; one that is launched in Optimizer.step is the optimizer's. */
enum kernel_class reading_class(const struct reading *r, const struct gather_name *n,
                                const struct gather_launch *l);

const struct gather_launch *reading_launch(const struct gather *g,
                                           const struct gather_kernel *k);
bool reading_is_here(const struct reading *r, const struct gather_kernel *k);

/* Marks of steps that a trace has none of the profiler's for, from annotations that
 * repeat, else from the optimizer's kernels; they are added to the others, in order. */
enum kineto_marks reading_mark_repeated(struct reading *r);

/* Fills `syncs` and `allocations`. */
void reading_blocks(struct reading *r);

/* Adds to late_s and host_s of a step what of a window the GPU waited for the host. */
void reading_late(const struct reading *r, struct kineto_step *s, int64_t from,
                  int64_t to);

/* Fills `any` to `loading`, the steps, those that were kept, and their mean. */
void reading_steps(struct reading *r);

/* The kernels of one of the steps that were kept. */
void reading_timeline(struct reading *r);

/* Kernels by class, collective and product, of the steps that were kept. */
void reading_sums(struct reading *r);

#endif
