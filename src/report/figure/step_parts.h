/* What of a long pipeline is drawn, so that each pass has a box wide enough for its
 * number: which stages, and which parts of the time. Private to the figures of a step. */
#ifndef REPORT_FIGURE_STEP_PARTS_H
#define REPORT_FIGURE_STEP_PARTS_H

#include "report/figure/step_data.h"

/* The median length, by time, of forward or backward passes, the shorter ones; 0: there
 * is none. Weight gradients may have narrower boxes. `boxes` are of all stages, kinds
 * those of span_kind. */
double figure_parts_pass(const struct timeline_box *boxes, size_t n);

/* Whether boxes of passes that long get too narrow on so many pixels for all the time. */
bool figure_parts_needed(double pass_s, double end_s, double room);

/* What the axis shows, at the scale that gives passes of `pass_s` a box with a number:
 * warm-up, a few periods, cool-down, and the end where that comes much later. Returns how
 * many parts; 0: all of the time has room. */
size_t figure_parts_choose(const struct timeline_box *boxes, size_t n, double pass_s,
                           double end_s, double room,
                           struct timeline_part parts[TIMELINE_PARTS_MAX]);

/* The row of each of `n` stages where `most` have room: the first, middle and last ones,
 * with a row for those left out between; -1: it has none. Returns how many rows. */
size_t figure_parts_rows(int32_t n, size_t most, int32_t *row_of, bool *left_out);

#endif
