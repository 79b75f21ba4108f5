/* Plans as points: time against cost, or against memory. Colours are numbers of GPUs,
 * hollow points may not fit in memory, and the front is a staircase with its plans named
 * by their degrees. */
#include "base/arena.h"
#include "draw/chart.h"
#include "report/figure/plan_labels.h"
#include "report/figure/written.h"
#include "report/plan_report.h"
#include "report/provenance.h"
#include "search/plan/front.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SIZES_MAX = 7, FRONT_COLOUR = 7, LABELLED_MAX = 8 };

/* Steps that are shown, in times of the fastest: cheap plans are worth a longer wait
 * than small ones. */
static const double slowest_shown[] = {
    [PLAN_AXIS_COST] = 2.5, [PLAN_AXIS_MEMORY] = 1.6
};

struct plan_points {
    struct arena arena;
    const struct plan_report *r;
    enum plan_axis axis;
    int64_t sizes[SIZES_MAX]; /* GPUs, ascending; the last is all larger ones */
    size_t n_sizes;
    int32_t *front, n_front;
    double right, top, left, bottom; /* what is shown of the plane, about the front */
    bool cut;                        /* slower plans of the front are not shown */
};

/* Whether clusters differ in price, so that cost says more than time does. */
static bool prices_differ(const struct plan_outcome *o)
{
    for (int32_t i = 1; i < o->n_entries; i++)
        if (isfinite(o->entries[i].usd_per_hour) &&
            o->entries[i].usd_per_hour != o->entries[0].usd_per_hour)
            return true;
    return false;
}

static bool is_drawn(const struct plan_entry *e)
{
    return e->result.known && (e->result.fits || e->result.near_limit);
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void find_sizes(struct plan_points *p)
{
    const struct plan_outcome *o = p->r->outcome;
    int64_t *all = ARENA_ARRAY(&p->arena, o->n_tried + 1, int64_t);
    size_t n = 0;
    for (int32_t i = 0; i < o->n_tried; i++)
        if (is_drawn(&o->tried[i]))
            all[n++] = o->tried[i].point.world;
    qsort(all, n, sizeof(*all), by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || all[i] != all[i - 1]) {
            size_t at = p->n_sizes < SIZES_MAX ? p->n_sizes++ : SIZES_MAX - 1;
            p->sizes[at] = all[i];
        }
}

static size_t size_index(const struct plan_points *p, int64_t gpus)
{
    size_t at = 0;
    while (at + 1 < p->n_sizes && p->sizes[at] < gpus)
        at++;
    return at;
}

static double value_of(const struct plan_points *p, const struct plan_entry *e)
{
    return plan_axis_value(p->r->job, e, p->axis);
}

/* What is shown: the front and a margin, but no plan much slower than the fastest. */
static void crop(struct plan_points *p)
{
    const double beyond = 1.35;
    const struct plan_outcome *o = p->r->outcome;
    double slowest = 0, fastest = INFINITY, most = 0, least = INFINITY;
    for (int32_t i = 0; i < p->n_front; i++) {
        const struct plan_entry *e = &o->entries[p->front[i]];
        slowest = fmax(slowest, e->result.step_time_s);
        fastest = fmin(fastest, e->result.step_time_s);
        most = fmax(most, value_of(p, e));
        least = fmin(least, value_of(p, e));
    }
    p->cut = slowest > slowest_shown[p->axis] * fastest;
    p->right = p->cut ? slowest_shown[p->axis] * fastest
                      : fmax(slowest * 1.15, fastest * beyond);
    p->left = fastest * 0.9;
    p->top = most * beyond;
    p->bottom = p->axis == PLAN_AXIS_COST ? 0.85 * least : 0;
    if (p->axis == PLAN_AXIS_MEMORY && p->n_front)
        p->top = fmax(p->top, 1.1 * (double)o->entries[0].result.capacity_B);
}

/* The plans of one size, fitting ones filled. */
static struct series size_series(struct plan_points *p, size_t size)
{
    const struct plan_outcome *o = p->r->outcome;
    double *x = ARENA_ARRAY(&p->arena, o->n_tried + 1, double);
    double *y = ARENA_ARRAY(&p->arena, o->n_tried + 1, double);
    bool *hollow = ARENA_ARRAY(&p->arena, o->n_tried + 1, bool);
    size_t n = 0;
    for (int32_t i = 0; i < o->n_tried; i++) {
        const struct plan_entry *e = &o->tried[i];
        if (!is_drawn(e) || size_index(p, e->point.world) != size ||
            e->result.step_time_s > p->right || value_of(p, e) > p->top)
            continue;
        x[n] = e->result.step_time_s;
        y[n] = value_of(p, e);
        hollow[n++] = !e->result.fits || e->result.near_limit;
    }
    return (struct series) {
        .name = arena_printf(&p->arena, "%" PRId64 " GPUs", p->sizes[size]),
        .kind = SERIES_POINTS,
        .n = n,
        .x = x,
        .y = y,
        .hollow = hollow,
        .colour = size + 1,
    };
}

/* Whether a point of the front is far enough from the last one that has a name. */
static bool apart(const struct plan_points *p, double dx, double dy)
{
    const double near = 0.035; /* of the data's sides: half a line of text */
    return fabs(dx) > near * (p->right - p->left) ||
           fabs(dy) > near * (p->top - p->bottom);
}

/* Which of n points of the front have names and ranges: those that are apart
 * to the eye, at most LABELLED_MAX, the first and the last among them. */
static void choose_named(const struct plan_points *p, size_t n, const double *x,
                         const double *y, bool *named)
{
    size_t last = 0, room = LABELLED_MAX;
    for (size_t i = 0; i < n && room; i++) {
        named[i] = i == 0 || (room > 1 && apart(p, x[i] - x[last], y[i] - y[last]));
        last = named[i] ? i : last;
        room -= named[i];
    }
    if (n > 1 && !named[n - 1]) {
        named[last] = last == 0;
        named[n - 1] = true;
    }
}

static void name_points(struct plan_points *p, size_t n, const bool *named,
                        const char **labels)
{
    const struct space_point **points =
        ARENA_ARRAY(&p->arena, n + 1, const struct space_point *);
    const char **texts = ARENA_ARRAY(&p->arena, n + 1, const char *);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (named[i])
            points[k++] = &p->r->outcome->entries[p->front[i]].point;
    plan_labels(texts, &p->arena, p->r->job, points, k);
    for (size_t i = n; i-- > 0;)
        labels[i] = named[i] ? texts[--k] : NULL;
}

static struct series front_series(struct plan_points *p)
{
    const struct plan_outcome *o = p->r->outcome;
    size_t most = (size_t)p->n_front, n = 0;
    double *x = ARENA_ARRAY(&p->arena, most + 1, double);
    double *y = ARENA_ARRAY(&p->arena, most + 1, double);
    double *low = ARENA_ARRAY(&p->arena, most + 1, double);
    double *high = ARENA_ARRAY(&p->arena, most + 1, double);
    bool *named = ARENA_ARRAY(&p->arena, most + 1, bool);
    const char **labels = ARENA_ARRAY(&p->arena, most + 1, const char *);
    for (; n < most; n++) {
        const struct plan_entry *e = &o->entries[p->front[n]];
        x[n] = e->result.step_time_s;
        y[n] = value_of(p, e);
        if (x[n] > p->right)
            break;
    }
    choose_named(p, n, x, y, named);
    name_points(p, n, named, labels);
    for (size_t i = 0; i < n; i++) {
        const struct plan_result *r = &o->entries[p->front[i]].result;
        low[i] = named[i] ? fmax(r->range_s[0], p->left) : (double)NAN;
        high[i] = named[i] ? fmin(r->range_s[1], p->right) : (double)NAN;
    }
    return (struct series) { .name = "not beaten; ranges",
                             .kind = SERIES_STEP,
                             .n = n,
                             .x = x,
                             .y = y,
                             .x_low = low,
                             .x_high = high,
                             .labels = labels,
                             .labels_at_edge = true,
                             .colour = FRONT_COLOUR };
}

static const char *subtitle(struct plan_points *p)
{
    const struct plan_outcome *o = p->r->outcome;
    bool open = false;
    for (int32_t i = 0; i < o->n_tried; i++)
        open |= is_drawn(&o->tried[i]) && o->tried[i].result.near_limit;
    return arena_printf(
        &p->arena, "%s%s%s",
        p->axis == PLAN_AXIS_COST ? "What does a faster step cost?"
                                  : "How much memory does a faster step need?",
        open ? " Hollow: may not fit." : "",
        p->cut ? arena_printf(&p->arena, " Not shown: slower than %g times the fastest",
                              slowest_shown[p->axis])
               : "");
}

/* Libraries, sequence, precision, and whose prices of when. */
static const char *provenance(struct plan_points *p, bool priced)
{
    const struct plan_outcome *o = p->r->outcome;
    const struct space *s = &p->r->job->space;
    struct provenance of;
    provenance_init(&of, &p->arena);
    of.library = plan_libraries(&p->arena, o->tried, o->n_tried);
    of.precision =
        arena_printf(&p->arena, "%s, sequence %" PRId64,
                     written_word(names_of(op_precision_names, (int)s->precision)),
                     (int64_t)s->sequence);
    for (int32_t i = 0; i < s->n_instances; i++)
        if (s->instances[i].has_price)
            provenance_add_prices(&of, instance_is_sagemaker(s->instances[i].name),
                                  s->instances[i].price_date);
    return provenance_text(&of, priced);
}

static int write_chart(struct plan_points *p, const struct draw_to *to, struct err *err)
{
    bool cost = p->axis == PLAN_AXIS_COST;
    const struct plan_report *r = p->r;
    struct series series[SIZES_MAX + 2];
    double capacity = (double)r->outcome->entries[0].result.capacity_B;
    char *model = written_model(r->job->space.model->label);
    struct chart c = {
        .title = arena_printf(&p->arena, "Plans for %s, %" PRId64 " %s a step", model,
                              r->job->space.global_batch, r->job->space.batch_of),
        .subtitle = subtitle(p),
        .provenance = provenance(p, cost),
        .x = { .label = "step time",
               .unit = AXIS_SECONDS,
               .min = p->left,
               .max = p->right },
        .y = { .label = cost ? "cost of a million samples" : "peak memory",
               .unit = cost ? AXIS_USD : AXIS_BYTES,
               .min = p->bottom,
               .max = p->top },
        .series = series,
    };
    for (size_t i = 0; i < p->n_sizes; i++) {
        series[c.n_series] = size_series(p, i);
        c.n_series += series[c.n_series].n > 0;
    }
    series[c.n_series++] = front_series(p);
    if (!cost)
        series[c.n_series++] = (struct series) { .name = "memory of a GPU",
                                                 .kind = SERIES_LIMIT,
                                                 .n = 1,
                                                 .y = &capacity,
                                                 .beyond = "does not fit" };
    int rc = chart_write(&c, to, err);
    free(model);
    return rc;
}

int figure_plan_write(const struct plan_report *r, const struct draw_to *to,
                      struct err *err)
{
    const struct plan_outcome *o = r->outcome;
    if (o->n_entries == 0)
        return err_set(err, "%s: there is no plan to draw", to->path);
    struct plan_points p = { .r = r };
    arena_init(&p.arena);
    p.axis = prices_differ(o) ? PLAN_AXIS_COST : PLAN_AXIS_MEMORY;
    p.front = ARENA_ARRAY(&p.arena, o->n_entries, int32_t);
    p.n_front = plan_front(p.front, r->job, o, p.axis);
    find_sizes(&p);
    crop(&p);
    int rc = write_chart(&p, to, err);
    arena_release(&p.arena);
    return rc;
}
