/* Collectives of context and expert groups. */
#ifndef STEP_PASS_EXCHANGE_H
#define STEP_PASS_EXCHANGE_H

#include "step/pass/block_comms.h"

enum { EXCHANGES_MAX = 12 }; /* of a block and direction */

/* Adds them to those of the blocks. */
int exchange_plan(struct builder *b, struct err *err);

/* An operator in pieces, each overlapped with the message that brings the keys of the
 * next. */
void exchange_pieces(struct builder *b, const struct op_comm *ring, const struct op *op,
                     const double host_alone_shared_s[3]);

#endif
