/* Expected regrets where memory's own part is not drawn but computed. Private to this
 * folder. */
#ifndef RISK_EXPECT_H
#define RISK_EXPECT_H

#include "risk/draw.h"

/* Adds to means and chances not to fit what a draw of the shared unknowns comes to, as one of
 * `draws`. `w` is without residuals of times. What of its memory is a plan's own is
 * independent of others': the fastest plan that fits is the k-th with the probability that
 * those before it do not fit and that it does (MODEL.md, 14.2). States that a run may be in
 * are prospects of their own. O(n^2). */
void risk_expect(struct risk_verdict *out, const struct risk_plan *plans, int32_t n,
                 const struct risk_widths *w, const struct risk_options *o,
                 const struct risk_draw *draw);

#endif
