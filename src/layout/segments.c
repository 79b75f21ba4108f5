/* The two algorithms that partitioners share: contiguous segments with the least
 * largest sum, and D'Hondt's apportionment. */
#include "base/xmalloc.h"
#include "layout/partition.h"

#include <stdlib.h>

static const double slack =
    1 + 1e-9; /* sums of equal costs differ in their last bits */

/* The most items from `from` on, of n, whose sum is within the limit; at least one. */
static int64_t reach(const double *before, int64_t from, int64_t n, double limit)
{
    int64_t lo = from + 1, hi = n;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo + 1) / 2;
        if (before[mid] - before[from] <= limit)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

static bool feasible(const double *before, int64_t n, int64_t k, double limit)
{
    int64_t at = 0;
    for (int64_t i = 0; i < k && at < n; i++) {
        int64_t next = reach(before, at, n, limit);
        if (before[next] - before[at] > limit)
            return false;
        at = next;
    }
    return at >= n;
}

/* The least largest sum of k segments of the first n, by bisection. */
static double least_max(const double *before, int64_t n, int64_t k)
{
    double lo = before[n] / (double)k / 2, hi = before[n];
    for (;;) {
        double mid = lo + (hi - lo) / 2;
        if (!(mid > lo && mid < hi))
            return hi;
        if (feasible(before, n, k, mid))
            hi = mid;
        else
            lo = mid;
    }
}

void partition_min_max(const double *costs, int64_t n, int64_t k, int64_t *ends)
{
    double *before = xcalloc((size_t)n + 1, sizeof(*before));
    for (int64_t i = 0; i < n; i++)
        before[i + 1] = before[i] + costs[i];
    for (int64_t end = n; k > 0; k--) {
        double limit = least_max(before, end, k) * slack;
        int64_t first = end - 1; /* the longest last segment that leaves k - 1 items */
        while (first > k - 1 && before[end] - before[first - 1] <= limit)
            first--;
        ends[k - 1] = end;
        end = first;
    }
    free(before);
}

void partition_fill_first(const double *costs, int64_t n, int64_t k, int64_t *ends)
{
    double *before = xcalloc((size_t)n + 1, sizeof(*before));
    for (int64_t i = 0; i < n; i++)
        before[i + 1] = before[i] + costs[i];
    double limit = least_max(before, n, k) * slack;
    for (int64_t i = 0, at = 0; i < k; i++) {
        int64_t most = n - (k - 1 - i); /* one is left to each segment after */
        int64_t next = reach(before, at, n, limit);
        ends[i] = at = next < most ? next : most;
    }
    ends[k - 1] = n;
    free(before);
}

void partition_dhondt(const double *costs, int64_t n, int64_t devices, int64_t *given)
{
    for (int64_t i = 0; i < n; i++)
        given[i] = 0;
    for (int64_t d = 0; d < devices; d++) {
        int64_t best = 0;
        for (int64_t i = 1; i < n; i++)
            if (costs[i] / (double)(given[i] + 1) >
                costs[best] / (double)(given[best] + 1) * slack)
                best = i;
        given[best]++;
    }
}
