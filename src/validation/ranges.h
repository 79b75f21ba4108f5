/* Stated ranges of step times held against what was measured: each system by what the
 * others say, next to one range for all.
 *
 * Both are to hold four rows in five. The interval score (Gneiting, Raftery: Strictly
 * Proper Scoring Rules, 2007, equation 43) judges how narrow they are and how often
 * right: of the logarithm x of measured over predicted time, with a range from l to u,
 *
 *     u - l + (2 / 0.2) (max(l - x, 0) + max(x - u, 0))
 *
 * The less the better. The range for all goes from the 10th to the 90th percentile of x of
 * the other tables' rows, each table counting alike.
 *
 * The law of stated ranges (simulate/interval_law.h) is fitted to tables and to rows that
 * no prediction was fitted to, in this order:
 *     measured       10th and 90th percentile of rows that are graded so, without experts;
 *                    what the 90th percentile of those with experts is more
 *     other          linear quantile regression (quantile.h) of all other rows: the fast end
 *                    at the 5th percentile, the slow end at the 92nd
 * A table's row that is left out keeps its grade: that constants were fitted to rows like it
 * is a property of the simulator. How far errors lie is not taken from it. "As new" is the
 * range of a row graded without its own table. */
#ifndef VALIDATION_RANGES_H
#define VALIDATION_RANGES_H

#include "validation/applicability.h"

struct ranges_row {
    const struct applicability_row *of;
    bool unfitted; /* no prediction was fitted to it */
    bool measured, measured_by_others;
    double x; /* log of measured over predicted */
};

struct ranges_rows {
    struct arena *arena;
    int64_t n;
    struct ranges_row *v;
};

/* The rows of both, graded by the cells. In the arena of `tables`. */
struct ranges_rows ranges_rows_make(const struct applicability_rows *tables,
                                    const struct applicability_rows *unfitted,
                                    const struct interval_table *cells);

/* The law that all systems but one (NULL: all) say. O(rows log rows). */
struct interval_law ranges_fit(const struct ranges_rows *rows, const char *without);

/* The least of the sorted values that so much of the weight is not above. */
struct ranges_value {
    double x, weight;
};
double ranges_quantile(struct ranges_value *v, int64_t n, double share);

/* Of rows of one source; or of several, each counting alike. */
struct ranges_score {
    const char *source;
    int64_t n;
    double within, within_new,
        within_one;             /* shares of the rows that lie in the range */
    double stated, as_new, one; /* mean interval scores */
};

struct ranges {
    int32_t n;
    struct ranges_score *lines; /* by source, in the order of their first rows */
    struct ranges_score all;
};

/* Of the unfitted rows, or of the others. O(systems x rows log rows). */
struct ranges ranges_judge(const struct ranges_rows *rows, bool unfitted);

#endif
