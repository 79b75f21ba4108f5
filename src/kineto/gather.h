/* Events of a trace as they come, and what of them is kept until its end. */
#ifndef KINETO_GATHER_H
#define KINETO_GATHER_H

#include "kineto/json_events.h"
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

enum gather_mark_kind { MARK_STEP, MARK_GPU_STEP, MARK_OPTIMIZER, MARK_LOADING };

struct gather_mark {
    enum gather_mark_kind kind;
    int64_t start, length, number;
};

enum { GATHER_FIELDS = 32, GATHER_DIMS = 4, GATHER_INPUTS = 4, GATHER_SHORT = 64 };

/* The event at hand. */
struct gather_event {
    char phase;
    char category[24], collective[32], dtype[24], group[24];
    char name[JSON_TEXT_MAX];
    size_t name_length;
    int64_t ts, length, thread, stream, device, correlation, op;
    double in, out, ranks; /* elements; ranks of the group */
    bool has_ts, has_length;
    int32_t n_inputs, n_dims; /* of "Input Dims"; of the input at hand */
    int64_t dims[GATHER_INPUTS][GATHER_DIMS];
    int32_t ranks_of[GATHER_INPUTS]; /* how many dimensions each has */
};

/* What the token at hand belongs to. */
enum gather_place { PLACE_OTHER, PLACE_EVENT, PLACE_INFO, PLACE_DEVICE, PLACE_TOP };

struct gather {
    struct json_events json;
    int event_depth; /* of the keys of an event; 0: none is open */
    int args_depth, dims_depth, info_depth, device_depth;
    bool in_events;
    char key[GATHER_SHORT], top[GATHER_SHORT];
    struct gather_event event;
    int64_t n_events, n_left_out;
    VEC(struct gather_kernel) kernels;
    VEC(struct gather_name) names;
    int32_t *name_of; /* open addressing, GATHER_SLOTS */
    VEC(struct gather_launch) launches;
    VEC(struct gather_op) ops;
    VEC(struct gather_mark) marks;
    VEC(struct kineto_comm) comms; /* kinds, sizes and groups; nothing is counted yet */
    int64_t threads[64];           /* of the host */
    bool backward[64];             /* autograd's own */
    int32_t n_threads;
    int64_t rank, world;
    char device[KINETO_TEXT], nccl[16];
};

void gather_init(struct gather *g);
void gather_release(struct gather *g);
void gather_feed(struct gather *g, const char *bytes, size_t n);

#endif
