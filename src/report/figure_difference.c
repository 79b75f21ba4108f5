/* The walk from one job to the other as bars: each job's time by its parts. */
#include "draw/breakdown.h"
#include "draw/chart.h"
#include "report/difference.h"
#include "report/figure_meaning.h"
#include "report/report.h"

#include <string.h>

static double scale_to(const struct difference_numbers *n, enum difference_by by)
{
    return report_difference_time(n, by) / n->step_s;
}

/* What was measured and its parts were not: one part, of bars before and after. */
static size_t n_measured(const struct difference_view *v)
{
    return (size_t)(v->measured_s[0] > 0) + (v->measured_s[1] > 0);
}

/* A part that some bar has, and that is of the sum. */
static bool is_shown(const struct difference *d, int part)
{
    bool any = d->a.parts_s[part] > 0 || d->b.parts_s[part] > 0;
    for (int32_t i = 0; i < d->n_causes; i++)
        any |= d->causes[i].after.parts_s[part] > 0;
    return any && part != CATEGORY_DATA_COMM_HIDDEN;
}

/* What both jobs are of, or each. */
static const char *provenance(const struct difference_view *v, struct arena *arena)
{
    const char *a = v->of[0], *b = v->of[1];
    if (!a || !b)
        return a || b ? arena_printf(arena, "Simulated: %s", a ? a : b) : NULL;
    if (strcmp(a, b) == 0)
        return arena_printf(arena, "Simulated: %s", a);
    return arena_printf(arena, "Simulated: from %s to %s", a, b);
}

/* The bars, and room for their parts. */
struct bars {
    size_t n, n_parts;
    const char **names, *parts[CATEGORY_N + 1];
    enum meaning meanings[CATEGORY_N + 1];
    double *values; /* a row of parts each */
};

static void list_parts(struct bars *b, const struct difference_view *v)
{
    for (int k = 0; k < CATEGORY_N; k++)
        if (is_shown(v->d, k)) {
            b->meanings[b->n_parts] = figure_part_meanings[k];
            b->parts[b->n_parts++] = report_part_texts[k];
        }
    if (n_measured(v)) {
        b->meanings[b->n_parts] = MEANING_FRAMEWORK;
        b->parts[b->n_parts++] = "measured";
    }
}

static void add_measured(struct bars *b, const struct difference_view *v, int side,
                         struct arena *arena)
{
    if (v->measured_s[side] <= 0)
        return;
    b->values[b->n * b->n_parts + b->n_parts - 1] = report_difference_measured(v, side);
    b->names[b->n++] = arena_printf(arena, "%s, measured", side ? v->b : v->a);
}

static void add_job(struct bars *b, const struct difference_view *v, const char *name,
                    const struct difference_numbers *of)
{
    double *row = &b->values[b->n * b->n_parts];
    b->names[b->n++] = name;
    for (int k = 0; k < CATEGORY_N; k++)
        if (is_shown(v->d, k))
            *row++ = of->parts_s[k] * scale_to(of, v->by);
}

static struct bars list_bars(const struct difference_view *v, struct arena *arena)
{
    const struct difference *d = v->d;
    struct bars b = { .n = 0 };
    const size_t most = (size_t)d->n_causes + 2 + n_measured(v);
    list_parts(&b, v);
    b.names = ARENA_ARRAY(arena, most, const char *);
    b.values = ARENA_ARRAY(arena, most * (CATEGORY_N + 1), double);
    add_measured(&b, v, 0, arena);
    add_job(&b, v, v->a, &d->a);
    for (int32_t i = 0; i < d->n_causes; i++) {
        bool last = i + 1 == d->n_causes;
        add_job(&b, v,
                arena_printf(arena, "+ %s%s", d->causes[i].name, last ? " = B" : ""),
                last ? &d->b : &d->causes[i].after);
    }
    if (d->n_causes == 0)
        add_job(&b, v, v->b, &d->b);
    add_measured(&b, v, 1, arena);
    return b;
}

int figure_difference_write(const struct difference_view *v, const struct draw_to *to,
                            struct err *err)
{
    static const char *const labels[] = { [DIFFERENCE_STEP] = "time of a step",
                                          [DIFFERENCE_SAMPLE] =
                                              "time of a thousand samples",
                                          [DIFFERENCE_TOKEN] =
                                              "time of a million tokens" };
    struct arena arena;
    arena_init(&arena);
    const struct bars bars = list_bars(v, &arena);
    const struct breakdown b = {
        .title = arena_printf(&arena, "%s and %s", v->a, v->b),
        .subtitle = "What does each change do to the time?",
        .provenance = provenance(v, &arena),
        .bars = bars.names,
        .n_bars = bars.n,
        .parts = bars.parts,
        .meanings = bars.meanings,
        .n_parts = bars.n_parts,
        .values = bars.values,
        .value = { .label = labels[v->by], .unit = AXIS_SECONDS, .from_zero = true },
    };
    struct draw draw;
    int rc = draw_open(&draw, to, CHART_WIDTH, 190 + 34 * (double)bars.n, err);
    if (rc == 0) {
        breakdown_draw(&b, &draw);
        rc = draw_close(&draw, err);
    }
    arena_release(&arena);
    return rc;
}
