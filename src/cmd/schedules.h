/* The figure of a job's step under every schedule that its library has. */
#ifndef CMD_SCHEDULES_H
#define CMD_SCHEDULES_H

#include "base/err.h"
#include "config/cfg.h"
#include "draw/draw.h"

#include <stdio.h>

/* Simulates the scenario (its tree is left as it is) once for each schedule, with two
 * chunks a stage where one is of chunks and the scenario has none, and draws the steps
 * that can be. Those that cannot are said with the reason, on `log`. Fails where none
 * can be, or without a pipeline. */
int schedules_plot(struct cfg scenario, const struct draw_to *to, FILE *log,
                   struct err *err);

#endif
