/* The data of a simulated step for its page: the result, the scenario in words, what
 * happened when, memory and use over time. */
#ifndef PAGE_STEP_H
#define PAGE_STEP_H

#include "campaign/campaign.h"
#include "report/figure/step.h"

#include <jansson.h>

/* `scenario` is the file that was read, changed by what the command line set. A new
 * tree. */
json_t *page_step(const struct step_figures *f, const struct scenario *s,
                  const struct simulate_result *r, const struct campaign_result *beyond,
                  const json_t *scenario);

/* What happened when (timeline.c): tracks of streams of intervals.
 *
 * A stream's intervals are one string: for each its begin after the previous one's, its
 * length, and kind + kinds x (microbatch + 1); units of "unit_s", as variable-length
 * quantities of base 64 (five bits a digit, the lowest first, 32 set where more follow).
 * Of more than PAGE_INTERVALS the short ones are merged with their neighbours:
 * "merged_below_s". */
enum { PAGE_INTERVALS = 100000 };
json_t *page_timeline(const struct step_figures *f);

#endif
