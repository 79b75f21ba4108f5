/* The phases of a rank's step: forward, backward, gradients, optimizer, gathers. */
#include "report/figure/step_data.h"

#include <math.h>

/* When a rank's passes and its update begin and end, in seconds. */
struct pass_times {
    double first_backward, last_forward, last_backward, first_update, last_update, end;
};

static struct pass_times pass_times_of(const struct step_figures *f, int32_t track)
{
    struct pass_times t = { .first_backward = INFINITY, .first_update = INFINITY };
    for (int64_t i = 0; i < f->spans.n; i++) {
        const struct span *s = &f->spans.v[i];
        double from_s = (double)s->begun_ps * 1e-12, to_s = (double)s->ended_ps * 1e-12;
        if (s->track != track || s->kind == SPAN_HOST)
            continue;
        t.end = fmax(t.end, to_s);
        if (s->kind == SPAN_FORWARD)
            t.last_forward = fmax(t.last_forward, to_s);
        if (s->kind == SPAN_BACKWARD || s->kind == SPAN_RECOMPUTE)
            t.first_backward = fmin(t.first_backward, from_s);
        if (s->kind == SPAN_BACKWARD || s->kind == SPAN_WEIGHT)
            t.last_backward = fmax(t.last_backward, to_s);
        if (s->kind == SPAN_OPTIMIZER)
            t.first_update = fmin(t.first_update, from_s);
        if (s->kind == SPAN_OPTIMIZER)
            t.last_update = fmax(t.last_update, to_s);
    }
    return t;
}

static size_t add_phase(struct chart_phase *phases, size_t n, double from_s,
                        double to_s, double least_s, const char *name,
                        enum meaning meaning)
{
    if (!(to_s - from_s > least_s) || !isfinite(to_s))
        return n;
    phases[n] = (struct chart_phase) { from_s, to_s, name, meaning };
    return n + 1;
}

size_t figure_step_phases(const struct step_figures *f, int32_t track,
                          struct chart_phase phases[STEP_PHASES])
{
    const double least_share = 0.01;
    struct pass_times t = pass_times_of(f, track);
    bool pipeline = f->n_tracks > 1;
    double least_s = least_share * t.end,
           turns_to = fmax(t.last_forward, t.first_backward),
           update = fmax(t.first_update, t.last_backward);
    size_t n = 0;
    if (!isfinite(t.first_backward))
        return 0;
    n = add_phase(phases, n, 0, t.first_backward, least_s,
                  pipeline && turns_to > t.first_backward ? "warm-up" : "forward",
                  MEANING_FORWARD);
    n = add_phase(phases, n, t.first_backward, turns_to, least_s,
                  "forward and backward in turns", MEANING_OTHER);
    n = add_phase(phases, n, turns_to, t.last_backward, least_s,
                  pipeline && turns_to > t.first_backward ? "cool-down" : "backward",
                  MEANING_BACKWARD);
    if (!isfinite(update))
        update = t.end;
    n = add_phase(phases, n, t.last_backward, update, least_s, "gradients",
                  MEANING_GRADIENT_COMM);
    n = add_phase(phases, n, update, t.last_update, least_s, "optimizer",
                  MEANING_OPTIMIZER);
    return add_phase(phases, n, fmax(t.last_update, update), t.end, least_s, "gathers",
                     MEANING_PARAMETER_GATHER);
}
