/* Figures of one simulated step: what happened when, memory over time, memory of all
 * stages, where the time went, and what was busy when.
 *
 *     struct step_figures *f = figure_step_new(NULL);
 *     simulate(&r, arena, s, &(struct simulate_options) { .observer =
 *                                  figure_step_observer(f) }, err);
 *     figure_step_write(f, STEP_TIMELINE, s, &r, "timeline.svg", err);
 *     figure_step_free(f);
 *
 * They watch the ranks of the first pipeline, a track a stage; of a lone stage the first
 * rank, a track a stream. Memory: 48 bytes a task that is seen. */
#ifndef REPORT_FIGURE_STEP_H
#define REPORT_FIGURE_STEP_H

#include "draw/draw.h"
#include "simulate/simulate.h"

enum step_figure {
    STEP_TIMELINE,
    STEP_MEMORY, /* over time, of the fullest stage */
    STEP_STAGES, /* memory of each stage at its fullest moment */
    STEP_BREAKDOWN,
    STEP_USAGE, /* of GPU, host and links, over time */
    STEP_FIGURES
};

struct step_figures; /* private */

struct step_figures *figure_step_new(const struct observer *next);
const struct observer *figure_step_observer(const struct step_figures *f);
void figure_step_free(struct step_figures *f);

/* Draws one, of the step that was watched, into a file. */
int figure_step_write(const struct step_figures *f, enum step_figure which,
                      const struct scenario *s, const struct simulate_result *r,
                      const struct draw_to *to, struct err *err);

#endif
