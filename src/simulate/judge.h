/* The last step of every simulation, made once: how far the result is to be trusted,
 * all warnings in their order, and whether its numbers are numbers. Text, JSON, pages,
 * figures, plans, sweeps and validation write what is found here, and find nothing of
 * their own. */
#ifndef SIMULATE_JUDGE_H
#define SIMULATE_JUDGE_H

#include "simulate/simulate.h"

/* After all that changes the result (input, job). `diags` are those of reading the
 * scenario, whose warnings come before the simulation's; threads may share the table.
 * -1 with err set where a number of the result is none: a fault of the program. */
int judge(struct simulate_result *r, struct arena *arena,
          const struct interval_table *table, const struct diags *diags,
          const struct scenario *s, struct err *err);

/* Only the last: each number of the result is finite and not below 0. */
int judge_numbers(const struct simulate_result *r, struct err *err);

#endif
