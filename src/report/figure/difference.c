/* The walk from one job to the other as bars, or several jobs in a row: each job's time by
 * its parts. */
#include "report/difference.h"
#include "draw/breakdown.h"
#include "draw/chart.h"
#include "report/figure/meaning.h"
#include "report/report.h"

#include <string.h>

static double scale_to(const struct difference_numbers *n, enum difference_by by)
{
    return report_difference_time(n, by) / n->step_s;
}

/* One or more pairs with the same first job. */
struct pairs {
    const struct difference_view *v;
    int32_t n;
};

/* What was measured and its parts were not: one part, of bars before and after. */
static size_t n_measured(const struct pairs *p)
{
    size_t n = p->v[0].measured_s[0] > 0;
    for (int32_t i = 0; i < p->n; i++)
        n += p->v[i].measured_s[1] > 0;
    return n;
}

/* A part that some bar has, and that is of the sum. Several jobs are drawn without those
 * on the way. */
static bool is_shown(const struct pairs *p, int part)
{
    bool any = false;
    for (int32_t k = 0; k < p->n; k++) {
        const struct difference *d = p->v[k].d;
        any |= d->a.parts_s[part] > 0 || d->b.parts_s[part] > 0;
        for (int32_t i = 0; i < d->n_causes && p->n == 1; i++)
            any |= d->causes[i].after.parts_s[part] > 0;
    }
    return any && part != CATEGORY_DATA_COMM_HIDDEN;
}

/* What all jobs are of, or the first and the last. */
static const char *provenance(const struct pairs *p, struct arena *arena)
{
    const char *a = p->v[0].of[0], *b = p->v[p->n - 1].of[1];
    bool same = a && b;
    for (int32_t i = 0; i < p->n && same; i++)
        same = p->v[i].of[1] && strcmp(a, p->v[i].of[1]) == 0;
    if (!a && !b)
        return NULL;
    if (same || !a || !b)
        return arena_printf(arena, "Simulated: %s", a ? a : b);
    return arena_printf(
        arena, p->n > 1 ? "Simulated: %s, ..., %s" : "Simulated: from %s to %s", a, b);
}

/* The bars, and room for their parts. */
struct bars {
    const struct pairs *of;
    size_t n, n_parts;
    const char **names, *parts[CATEGORY_N + 1];
    enum meaning meanings[CATEGORY_N + 1];
    double *values; /* a row of parts each */
};

static void list_parts(struct bars *b)
{
    for (int k = 0; k < CATEGORY_N; k++)
        if (is_shown(b->of, k)) {
            b->meanings[b->n_parts] = figure_part_meanings[k];
            b->parts[b->n_parts++] = report_part_texts[k];
        }
    if (n_measured(b->of)) {
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
        if (is_shown(b->of, k))
            *row++ = of->parts_s[k] * scale_to(of, v->by);
}

/* The jobs on the way from the first to the other. */
static void add_walk(struct bars *b, const struct difference_view *v,
                     struct arena *arena)
{
    const struct difference *d = v->d;
    for (int32_t i = 0; i < d->n_causes; i++) {
        bool last = i + 1 == d->n_causes;
        add_job(b, v,
                arena_printf(arena, "+ %s%s", d->causes[i].name, last ? " = B" : ""),
                last ? &d->b : &d->causes[i].after);
    }
}

static struct bars list_bars(const struct pairs *p, struct arena *arena)
{
    struct bars b = { .of = p };
    const size_t most = (size_t)p->v[0].d->n_causes + 1 + (size_t)p->n + n_measured(p);
    list_parts(&b);
    b.names = ARENA_ARRAY(arena, most, const char *);
    b.values = ARENA_ARRAY(arena, most * (CATEGORY_N + 1), double);
    add_measured(&b, &p->v[0], 0, arena);
    add_job(&b, &p->v[0], p->v[0].a, &p->v[0].d->a);
    for (int32_t i = 0; i < p->n; i++) {
        const struct difference_view *v = &p->v[i];
        if (p->n == 1 && v->d->n_causes)
            add_walk(&b, v, arena);
        else
            add_job(&b, v, v->b, &v->d->b);
        add_measured(&b, v, 1, arena);
    }
    return b;
}

int figure_difference_write(const struct difference_view *v, int32_t n,
                            const struct draw_to *to, struct err *err)
{
    static const char *const labels[] = { [DIFFERENCE_STEP] = "time of a step",
                                          [DIFFERENCE_SAMPLE] =
                                              "time of a thousand samples",
                                          [DIFFERENCE_TOKEN] =
                                              "time of a million tokens" };
    struct arena arena;
    arena_init(&arena);
    const struct pairs pairs = { v, n };
    const struct bars bars = list_bars(&pairs, &arena);
    const struct breakdown b = {
        .title = n > 1 ? arena_printf(&arena, "%s and %d others", v->a, (int)n)
                       : arena_printf(&arena, "%s and %s", v->a, v->b),
        .subtitle = n > 1 ? "Where does the time of each job go?"
                          : "What does each change do to the time?",
        .provenance = provenance(&pairs, &arena),
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
