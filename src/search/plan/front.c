#include "search/plan/front.h"

#include "base/units.h"
#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>

double plan_axis_value(const struct plan_job *job, const struct plan_entry *e,
                       enum plan_axis axis)
{
    if (axis == PLAN_AXIS_MEMORY)
        return (double)e->result.peak_B;
    return e->usd_per_hour / UNITS_HOUR_S * e->result.step_time_s /
           (double)job->space.global_batch * 1e6;
}

struct ranked {
    double time_s;
    int32_t at;
};

static int by_time(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->time_s != y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

int32_t plan_front(int32_t *front, const struct plan_job *job,
                   const struct plan_outcome *out, enum plan_axis axis)
{
    struct ranked *order = xcalloc((size_t)out->n_entries + 1, sizeof(*order));
    for (int32_t i = 0; i < out->n_entries; i++)
        order[i] = (struct ranked) { out->entries[i].result.step_time_s, i };
    qsort(order, (size_t)out->n_entries, sizeof(*order), by_time);
    double least = INFINITY;
    int32_t n = 0;
    for (int32_t i = 0; i < out->n_entries; i++) {
        double v = plan_axis_value(job, &out->entries[order[i].at], axis);
        if (!(v < least))
            continue;
        least = v;
        front[n++] = order[i].at;
    }
    free(order);
    return n;
}
