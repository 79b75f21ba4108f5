/* The step of a job under several schedules, one below the other over one time axis. */
#ifndef REPORT_FIGURE_SCHEDULES_H
#define REPORT_FIGURE_SCHEDULES_H

#include "draw/draw.h"
#include "report/figure/step.h"

/* One schedule's step, watched while it was simulated. */
struct schedule_step {
    const struct step_figures *figures;
    const struct scenario *s;
    const struct simulate_result *r;
};

/* All are of the same stages. Ids have the schedule's number: s0-track-0. */
int figure_schedules_write(const struct schedule_step *steps, size_t n,
                           const struct draw_to *to, struct err *err);

#endif
