/* The collectives of a block: where they stand among its operators. */
#ifndef STEP_BLOCK_COMMS_H
#define STEP_BLOCK_COMMS_H

#include "step/builder.h"

/* Plans a collective of the tensor group and puts it where `place` says (operator,
 * side, times, workspace). */
int block_comms_add(struct builder *b, int32_t block, bool backward,
                    struct op_comm place, enum coll_op op, double size_B,
                    struct err *err);

/* Index of the first of the names ("a|b") that the operators have; -1: none. */
int32_t block_comms_find(const struct op *ops, int32_t n, const char *names);

/* The host's time to issue one. */
double block_comms_host_s(const struct builder *b);

#endif
