/* A whole job as two bars: its phases in time, and what of them is billed. */
#ifndef REPORT_FIGURE_JOB_H
#define REPORT_FIGURE_JOB_H

#include "campaign/job.h"
#include "draw/draw.h"

/* Draws it into a file; an error where the scenario has no job. */
int figure_job_write(const struct scenario *s, const struct job_result *r,
                     const struct draw_to *to, struct err *err);

#endif
