/* Experts' tokens on their way to the ranks that have their experts, and back: the
 * collective of each dispatcher (MODEL.md, R11.5, R11.8, R11.12). */
#ifndef STEP_PASS_DISPATCH_H
#define STEP_PASS_DISPATCH_H

#include "step/builder.h"

/* Whether tokens leave their rank. */
bool dispatch_leaves(const struct stage *stage);

/* Whether routed rows are gathered over the ranks that split each expert, apart from
 * the exchange. */
bool dispatch_gathers(const struct stage *stage);

/* Bytes of a rank's tokens, one copy for each expert. */
double dispatch_routed_B(const struct stage *stage);

/* Index of the program's collective that takes tokens to their experts, or brings them
 * (in backward: their gradients) back; -1 after an error. */
int32_t dispatch_comm(struct builder *b, bool to, bool backward, struct err *err);

#endif
