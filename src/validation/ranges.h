/* Stated ranges of step times held against what was measured: each source by the cells of
 * the others (simulate/interval.h), next to one range for all that the others' rows say.
 *
 * Both are to hold four rows in five. The interval score (Gneiting, Raftery: Strictly
 * Proper Scoring Rules, 2007, equation 43) judges how narrow they are and how often
 * right: of the logarithm x of measured over predicted time, with a range from l to u,
 *
 *     u - l + (2 / 0.2) (max(l - x, 0) + max(x - u, 0))
 *
 * The less the better. The range for all goes from the 10th to the 90th percentile of x,
 * each source counting alike. */
#ifndef VALIDATION_RANGES_H
#define VALIDATION_RANGES_H

#include "validation/applicability.h"

/* Of rows of one source; or of several, each counting alike. */
struct ranges_score {
    const char *source;
    int64_t n;
    double within, within_one; /* shares of the rows that lie in the range */
    double stated, one;        /* mean interval scores */
};

struct ranges {
    int32_t n;
    struct ranges_score *lines; /* by source, in the order of their first rows */
    struct ranges_score all;
};

/* Of the rows `judged`, by a table and by the rows of other sources among `known`. In the
 * arena of `known`. O(judged x cells + sources x known log known). */
struct ranges ranges_judge(const struct applicability_rows *judged,
                           const struct applicability_rows *known,
                           const struct interval_table *table);

#endif
