/* Expected regrets where memory's own part is not drawn but computed. Private to this
 * folder. */
#ifndef RISK_EXPECT_H
#define RISK_EXPECT_H

#include "risk/draw.h"

/* Adds to lost[i] the regret of trying plan i next to those of `tried` (NULL: none; theirs
 * stay), `share` times what a draw of the shared unknowns comes to. Several plans that are
 * tried lose what the best of them that fits does. What of memory is a plan's own is
 * independent of others': the fastest plan that fits is the k-th with the probability that
 * those before it do not fit and that it does (MODEL.md, 14.2). States that a run may be in
 * are prospects of their own. O(n log n). */
void risk_expect(double *lost, const bool *tried, const struct risk_plan *plans,
                 int32_t n, const struct risk_widths *w, bool of_memory,
                 const struct risk_draw *draw, double share);

#endif
