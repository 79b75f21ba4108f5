/* Events of a trace as they come, and what of them is kept until its end. */
#ifndef KINETO_GATHER_H
#define KINETO_GATHER_H

#include "kineto/kineto.h"

/* Times are ns. */
struct gather_kernel {
    int64_t start, length;
    uint32_t correlation, op; /* of its launch; of the operator, "External id" */
    int32_t name, comm;       /* comm -1: none */
    int32_t stream, device;
};

struct gather_name {
    uint64_t hash;
    enum kernel_class class;
    enum kernel_format format;
    enum kernel_comm comm;
};

struct gather_launch {
    int64_t at;
    uint32_t correlation;
    int32_t thread;
};

/* A product that an operator of PyTorch asks for. */
struct gather_op {
    uint32_t id;
    int64_t m, n, k, batch;
};

/* An annotation whose name speaks of steps, iterations or batches. */
struct gather_named {
    int64_t start, length, number; /* at the name's end; -1: none */
    uint64_t label;                /* of its name without digits, and its thread */
};

/* A call that blocks the host. */
struct gather_block {
    int64_t start, length;
    int32_t thread;
    bool allocates; /* memory of the GPU; else it waits for the GPU */
};

enum gather_mark_kind { MARK_STEP, MARK_GPU_STEP, MARK_OPTIMIZER, MARK_LOADING };

struct gather_mark {
    enum gather_mark_kind kind;
    int64_t start, length, number;
};

enum { GATHER_FIELDS = 32, GATHER_DIMS = 4, GATHER_INPUTS = 4, GATHER_NAME = 1 << 12 };

/* Marks, and annotations that speak of steps, that are kept of a trace. */
enum {
    GATHER_MARKS_MAX = 1 << 18,
    GATHER_NAMED_MAX = 1 << 16,
    GATHER_BLOCKS_MAX = 1 << 19
};

/* The event at hand. */
struct gather_event {
    char phase;
    char category[24], collective[32], dtype[24], group[24];
    char name[GATHER_NAME];
    size_t name_length;
    int64_t ts, length, thread, stream, device, correlation, op;
    double in, out, ranks; /* elements; ranks of the group */
    int64_t rank_stride;   /* from one of them to the next; 0: unknown */
    bool has_ts, has_length;
    int32_t n_inputs, n_dims; /* of "Input Dims"; of the input at hand */
    int64_t dims[GATHER_INPUTS][GATHER_DIMS];
    int32_t ranks_of[GATHER_INPUTS]; /* how many dimensions each has */
};

struct gather {
    struct gather_event event;
    int64_t n_events, n_left_out;
    bool timeline; /* is wanted of a step */
    VEC(struct gather_kernel) kernels;
    VEC(struct gather_name) names;
    int32_t *name_of; /* open addressing, GATHER_SLOTS */
    VEC(struct gather_launch) launches;
    VEC(struct gather_op) ops;
    VEC(struct gather_block) blocks;
    VEC(struct gather_mark) marks;
    VEC(struct gather_named) named;
    VEC(struct kineto_comm) comms; /* kinds, sizes and groups; nothing is counted yet */
    int64_t threads[64];           /* of the host */
    bool backward[64];             /* autograd's own */
    int32_t n_threads;
    int64_t rank, world;
    char device[KINETO_TEXT], nccl[16];
};

void gather_init(struct gather *g);
void gather_release(struct gather *g);

/* Empties the event at hand; takes it in, once it is complete. */
void gather_event_begin(struct gather_event *e);
void gather_event_end(struct gather *g);

/* A text, cut and without control characters. */
void gather_keep(char *out, size_t size, const char *text);

/* A whole number; `otherwise` where the text is none, or too large. */
int64_t gather_integer(const char *text, int64_t otherwise);

#endif
