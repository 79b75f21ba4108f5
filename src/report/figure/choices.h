/* How often plans were the best, by the probability that was stated of them. */
#ifndef REPORT_FIGURE_CHOICES_H
#define REPORT_FIGURE_CHOICES_H

#include "report/choices.h"

#include "base/err.h"
#include "draw/draw.h"

/* Reliability of all jobs, with intervals of 90 %. 0, or -1. */
int figure_choices_write(const struct choices_report *r, const struct draw_to *to,
                         struct err *err);

#endif
