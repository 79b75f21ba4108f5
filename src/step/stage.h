/* The plan of a pipeline's stage: all that is made once, before its passes are written,
 * and is only read while they are. */
#ifndef STEP_STAGE_H
#define STEP_STAGE_H

#include "cost/kernel.h"
#include "layout/partition.h"
#include "scenario/stages.h"
#include "scenario/states.h"
#include "step/step.h"

/* Ranks that hold the same copy of a parameter, over which its gradient is summed and
 * its states are sharded. */
enum replica_group {
    REPLICAS_DATA,    /* those of the data group */
    REPLICAS_EXPERTS, /* those of it that have the same experts */
    REPLICAS_ALL,     /* those of the data and tensor groups: what SMP leaves whole */
    REPLICA_GROUPS
};

/* Blocks of a chunk of the stage, in order: `repeat` of the block of the list. */
struct slice {
    int32_t block;
    int64_t repeat;
    int64_t first_layer; /* number of its first among the rank's layers; else 0 */
    int64_t in_chunk;    /* the same among the chunk's */
};

struct chunk_slices {
    int32_t n;
    struct slice *v;
};

/* How gradients get onto the wire; wire_init fills it in. */
struct wire {
    const struct gradient_reduction *reduction; /* NULL: not chosen */
    double gradient_B;                          /* of one element, before compression */
    double frac;                                /* bytes on the wire for each of them */
    double compress_B; /* moved by kernels per byte of gradient, to and from the wire */
    const struct coll_library *library; /* of SMDDP and of parameter servers */
};

/* The operator of the head that is run after all passes. */
struct deferred {
    int64_t microbatches; /* of a fill whose backward leaves it out; 0: none */
    int32_t block, op;    /* of the list, and of its backward */
    double elements;      /* of the gradients that it completes */
    double kept_B;        /* of each: its input and the gradient of its output */
    int32_t gather; /* of its input, which a tensor group has in parts; -1: none */
};

struct block_times;   /* block_times.h */
struct block_comms;   /* block_comms.h */
struct units;         /* shard_units.h */
struct param_buckets; /* param_gather.c */

struct stage {
    const struct step_request *request;
    struct arena *arena;
    const struct scenario *s;
    const struct framework *fw;
    const struct gpu *gpu;
    const struct net *net;
    int64_t rank;   /* whose groups the plans are for */
    int64_t number; /* among the pipeline's stages */
    struct plans plans;
    struct op_settings settings;
    bool half;      /* products read 16-bit numbers */
    bool sums_flat; /* states_sum_flat */
    bool detail;    /* passes are written operator by operator */
    struct states states;
    struct states others[REPLICA_GROUPS]; /* of parameters that others than data ranks
                                             hold */
    struct op_list list;
    struct chunk_slices *chunks;
    int64_t embedding_elements; /* of the word embedding, on this GPU */
    bool embedding_frozen;
    struct block_times *times; /* [blocks] */
    struct block_comms *comms; /* [blocks] of the tensor group */
    struct deferred deferred;
    struct wire wire;
    struct units *units; /* [chunks] of sharded parameters; NULL: whole ones */
    struct param_buckets *param_buckets; /* [chunks] gathered during forward; NULL:
                                            none */
};

/* How the model is cut, for all stages. */
int stage_parts(struct partition *parts, struct arena *arena, const struct scenario *s,
                const struct op_list *model, struct err *err);

/* The blocks of the stage and its chunks, out of those of the model. */
void stage_cut(struct stage *stage, const struct op_list *model);

/* Bytes of a number that products read. */
double stage_width_B(const struct stage *stage);

/* Which part of the pipeline, in order of execution, the stage's chunk is. */
int64_t stage_part(const struct stage *stage, int64_t chunk);

/* Whether the chunk is the last part of the pipeline. */
bool stage_ends(const struct stage *stage, int64_t chunk);

/* Whether the rank (of the world) is of the stage with the pipeline's last part. */
bool stage_is_last(const struct stage *stage, int64_t rank);

#endif
