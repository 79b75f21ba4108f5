/* Plans as points: time against cost, or against memory. */
#include "base/xmalloc.h"
#include "draw/chart.h"
#include "report/plan_report.h"
#include "search/plan_front.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Whether clusters differ in price, so that cost says more than time does. */
static bool prices_differ(const struct plan_outcome *o)
{
    for (int32_t i = 1; i < o->n_entries; i++)
        if (isfinite(o->entries[i].usd_per_hour) &&
            o->entries[i].usd_per_hour != o->entries[0].usd_per_hour)
            return true;
    return false;
}

static int write_chart(const struct plan_report *r, const char *path,
                       enum plan_axis axis, struct series *series, struct err *err)
{
    bool cost = axis == PLAN_AXIS_COST;
    char title[128];
    snprintf(title, sizeof(title), "Plans for %s, %" PRId64 " sequences a step",
             r->job->space.model->label, (int64_t)r->job->space.global_batch);
    struct chart c = {
        .title = title,
        .subtitle = cost ? "What does a faster step cost?"
                         : "How much memory does a faster step need?",
        .x = { .label = "step time", .unit = AXIS_SECONDS },
        .y = { .label = cost ? "cost of a million samples" : "peak memory of a GPU",
               .unit = cost ? AXIS_USD : AXIS_BYTES },
        .series = series,
        .n_series = 2,
    };
    return chart_write(&c, path, err);
}

int figure_plan_write(const struct plan_report *r, const char *path, struct err *err)
{
    const struct plan_outcome *o = r->outcome;
    size_t n = (size_t)o->n_entries;
    if (n == 0)
        return err_set(err, "%s: there is no plan to draw", path);
    enum plan_axis axis = prices_differ(o) ? PLAN_AXIS_COST : PLAN_AXIS_MEMORY;
    double *x = xcalloc(4 * n, sizeof(*x)), *y = x + n, *fx = y + n, *fy = fx + n;
    int32_t *front = xcalloc(n, sizeof(*front));
    for (size_t i = 0; i < n; i++) {
        x[i] = o->entries[i].result.step_time_s;
        y[i] = plan_axis_value(r->job, &o->entries[i], axis);
    }
    int32_t m = plan_front(front, r->job, o, axis);
    for (int32_t i = 0; i < m; i++) {
        fx[i] = x[front[i]];
        fy[i] = y[front[i]];
    }
    struct series series[] = {
        { .name = "simulated plans", .kind = SERIES_POINTS, .n = n, .x = x, .y = y },
        { .name = "no plan beats these",
          .kind = SERIES_STEP,
          .n = (size_t)m,
          .x = fx,
          .y = fy },
    };
    int rc = write_chart(r, path, axis, series, err);
    free(front);
    free(x);
    return rc;
}
