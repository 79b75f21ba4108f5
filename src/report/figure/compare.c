/* Steps that were run, compared with those predicted, as figures. */
#include "report/compare.h"
#include "draw/chart.h"

enum { FORWARD, BACKWARD, STEPS, SERIES_N };

struct points {
    VEC(double) measured;
    VEC(double) predicted;
};

static void add(struct points *p, double measured, double predicted)
{
    if (!(measured > 0 && predicted > 0))
        return;
    VEC_PUSH(&p->measured, measured);
    VEC_PUSH(&p->predicted, predicted);
}

static void collect(struct points p[SERIES_N], const struct comparisons *all)
{
    for (int64_t i = 0; i < all->n; i++) {
        const struct comparison *c = &all->v[i];
        for (int32_t k = 0; k < c->n_ops; k++)
            add(&p[c->ops[k].backward ? BACKWARD : FORWARD], c->ops[k].measured_s,
                c->ops[k].predicted_s);
        add(&p[STEPS], c->time.measured, c->time.predicted);
    }
}

static int write_chart(const struct points p[SERIES_N], const struct comparisons *all,
                       const struct draw_to *to, struct err *err)
{
    static const char *const names[] = { "forward operators", "backward operators",
                                         "whole steps" };
    struct series series[SERIES_N];
    size_t n = 0;
    for (int i = 0; i < SERIES_N; i++)
        if (p[i].measured.n)
            series[n++] = (struct series) { .name = names[i],
                                            .kind = SERIES_POINTS,
                                            .n = (size_t)p[i].measured.n,
                                            .x = p[i].measured.v,
                                            .y = p[i].predicted.v,
                                            .colour = (size_t)i + 1 };
    if (n == 0)
        return err_set(err, "%s: there is nothing to draw", to->path);
    struct chart c = {
        .title = all->device ? all->device : all->gpu,
        .subtitle = "How near is each operator's predicted time to the measured one?",
        .x = { .label = "measured", .scale = AXIS_LOG10, .unit = AXIS_SECONDS },
        .y = { .label = "predicted", .scale = AXIS_LOG10, .unit = AXIS_SECONDS },
        .series = series,
        .n_series = n,
        .identity = 0.1,
        .identity_name = "within 10 %",
        .height = 560,
    };
    return chart_write(&c, to, err);
}

int figure_compare_write(const struct comparisons *all, const struct draw_to *to,
                         struct err *err)
{
    struct points p[SERIES_N] = { 0 };
    collect(p, all);
    int rc = write_chart(p, all, to, err);
    for (int i = 0; i < SERIES_N; i++) {
        VEC_RELEASE(&p[i].measured);
        VEC_RELEASE(&p[i].predicted);
    }
    return rc;
}
