/* The collectives of a block: their places among its operators. */
#ifndef STEP_PASS_BLOCK_COMMS_H
#define STEP_PASS_BLOCK_COMMS_H

#include "step/builder.h"

/* A collective before or after an operator of a block. */
struct op_comm {
    int32_t op;      /* index into the block's forward or backward list */
    bool after;      /* else before */
    bool overlapped; /* sums: with the products that make gradients of weights; gathers:
                        until the first of these */
    bool hidden;     /* overlaps with what comes before the operator `until` */
    int32_t until;
    int32_t comm; /* of the program */
    int32_t both; /* of rings in backward: with the gradients; -1: no ring there */
    bool ring;    /* messages overlap with the operator's pieces: see exchange.c */
    enum stream stream;
    enum category part;
    int64_t workspace_B; /* for what arrives */
    double copied_B;     /* read and written by a kernel before a scatter, or after a
                            gather */
    double time_s;       /* each, alone */
    int32_t times;       /* one after the other */
};

struct block_comms {
    int32_t n[2]; /* forward [0], backward [1] */
    struct op_comm *v[2];
    int32_t *order[2]; /* of the operators, where it is not that of the lists; NULL */
};

/* Plans a collective of the tensor group and puts it where `place` says (operator,
 * side, times, workspace). */
int block_comms_add(struct builder *b, int32_t block, bool backward,
                    struct op_comm place, enum coll_op op, double size_B,
                    struct err *err);

/* Index of the first of the names ("a|b") that the operators have; -1: none. */
int32_t block_comms_find(const struct op *ops, int32_t n, const char *names);

/* Whether the rank's group is on several instances. */
bool block_comms_apart(const struct stage *stage, enum layout_group group);

/* The host's time to issue one, and to check it before. */
double block_comms_host_s(const struct stage *stage);
double block_comms_check_s(const struct stage *stage);

#endif
