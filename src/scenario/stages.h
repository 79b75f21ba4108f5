/* The stages of a scenario: its model cut as its library does, by FLOPs and bytes. */
#ifndef SCENARIO_STAGES_H
#define SCENARIO_STAGES_H

#include "layout/partition.h"
#include "scenario/scenario.h"

/* Cuts the model of a scenario, given its operator list, with FLOPs as computation, and states
 * of parameters and kept activations as memory. */
int stages_partition(struct partition *p, struct arena *arena, const struct scenario *s,
                     const struct op_list *list, struct err *err);

#endif
