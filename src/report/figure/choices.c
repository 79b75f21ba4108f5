#include "report/figure/choices.h"

#include "draw/chart.h"

#include <inttypes.h>
#include <stdio.h>

/* The bins that have plans. */
struct reliability {
    size_t n;
    double stated[CHOICES_BINS], best[CHOICES_BINS];
    double low[CHOICES_BINS], high[CHOICES_BINS];
    char counts[CHOICES_BINS][24];
    const char *labels[CHOICES_BINS];
};

static struct reliability *collect(struct reliability *r, const struct choices_score *s)
{
    *r = (struct reliability) { 0 };
    for (int i = 0; i < CHOICES_BINS; i++) {
        const struct choices_bin *b = &s->bins[i];
        if (b->n == 0)
            continue;
        r->stated[r->n] = b->stated;
        r->best[r->n] = (double)b->n_true / (double)b->n;
        choices_bounds(b, &r->low[r->n], &r->high[r->n]);
        snprintf(r->counts[r->n], sizeof(r->counts[0]), "%" PRId64, b->n);
        r->labels[r->n] = r->counts[r->n];
        r->n++;
    }
    return r;
}

int figure_choices_write(const struct choices_report *report, const struct draw_to *to,
                         struct err *err)
{
    static const double ends[] = { 0, 1 };
    struct reliability r;
    collect(&r, &report->all);
    if (r.n == 0)
        return err_set(err, "%s: no job has alternatives", to->path);
    const struct series series[] = {
        { .name = "90 % interval",
          .kind = SERIES_BAND,
          .n = r.n,
          .x = r.stated,
          .y = r.low,
          .y2 = r.high,
          .colour = 1 },
        { .name = "as stated",
          .kind = SERIES_LINE,
          .n = 2,
          .x = ends,
          .y = ends,
          .no_markers = true,
          .colour = 2 },
        { .name = "were the best; plans",
          .kind = SERIES_POINTS,
          .n = r.n,
          .x = r.stated,
          .y = r.best,
          .labels = r.labels,
          .colour = 1 },
    };
    const struct chart c = {
        .title = "Probabilities of plans",
        .subtitle = "Of plans stated to be the best with a probability, how many were?",
        .x = { .label = "stated, sources left out", .unit = AXIS_FRACTION, .max = 1 },
        .y = { .label = "share that was the best", .unit = AXIS_FRACTION, .max = 1 },
        .series = series,
        .n_series = sizeof(series) / sizeof(series[0]),
        .height = 560,
    };
    return chart_write(&c, to, err);
}
