#include "draw/axis_text.h"

#include <math.h>
#include <stdlib.h>

/* The smallest of 1, 2, 5 times a power of ten that is at least v (v > 0). */
static double nice_step(double v)
{
    double power = pow(10, floor(log10(v) + 1e-9)), lead = v / power;

    return power * (lead <= 1 + 1e-9   ? 1
                    : lead <= 2 + 1e-9 ? 2
                    : lead <= 5 + 1e-9 ? 5
                                       : 10);
}

/* Bytes are round in powers of two, whatever was asked. */
static enum axis_scale scale_of(const struct axis *axis)
{
    return axis->scale == AXIS_LOG10 && axis->unit == AXIS_BYTES ? AXIS_LOG2
                                                                 : axis->scale;
}

static bool is_log(const struct axis *axis)
{
    return axis->scale == AXIS_LOG2 || axis->scale == AXIS_LOG10;
}

void axis_view_init(struct axis_view *view, const struct axis *axis)
{
    *view = (struct axis_view) { .axis = axis, .lo = INFINITY, .hi = -INFINITY };
}

static void drop_ticks(struct axis_view *view)
{
    for (int64_t i = 0; i < view->ticks.n; i++)
        free(view->ticks.v[i].text);
    VEC_RELEASE(&view->ticks);
}

void axis_view_release(struct axis_view *view)
{
    drop_ticks(view);
}

void axis_view_include(struct axis_view *view, double value)
{
    if (!isfinite(value) || fabs(value) > 1e200 ||
        (is_log(view->axis) && value < 1e-200))
        return;
    view->lo = fmin(view->lo, value);
    view->hi = fmax(view->hi, value);
}

static void fix_linear(struct axis_view *view)
{
    const struct axis *axis = view->axis;
    double step, worth;

    if (axis->from_zero) {
        view->lo = fmin(view->lo, 0);
        view->hi = fmax(view->hi, 0);
    }
    if (view->hi - view->lo <= 1e-12 * fmax(fabs(view->hi), fabs(view->lo)) ||
        !(view->hi > view->lo)) {
        double pad = fabs(view->hi) > 0 ? fabs(view->hi) * 0.5 : 1;
        view->lo -=
            axis->from_zero || view->lo >= 0 ? fmin(pad, fmax(view->lo, 0)) : pad;
        view->hi += pad;
    }
    if (axis->tight)
        return;
    worth = axis_unit_of(axis, fmax(fabs(view->lo), fabs(view->hi)))->worth;
    step = nice_step((view->hi - view->lo) / worth / 6) * worth;
    view->lo = floor(view->lo / step + 1e-9) * step;
    view->hi = ceil(view->hi / step - 1e-9) * step;
}

static void fix_log(struct axis_view *view)
{
    double base = scale_of(view->axis) == AXIS_LOG2 ? 2 : 10;

    if (view->hi / view->lo < base) { /* at least one octave or decade */
        double middle = sqrt(view->hi) * sqrt(view->lo);
        view->lo = middle / sqrt(base);
        view->hi = middle * sqrt(base);
    }
    if (!view->axis->tight && base > 2) {
        double power = pow(10, floor(log10(view->lo) + 1e-9)), lead = view->lo / power;
        view->lo = power * (lead < 2 - 1e-9 ? 1 : lead < 5 - 1e-9 ? 2 : 5);
        view->hi = nice_step(view->hi);
    }
}

void axis_view_fix(struct axis_view *view)
{
    const struct axis *axis = view->axis;
    const struct axis_step *unit;

    if (axis->scale == AXIS_CATEGORY) {
        view->lo = -0.5;
        view->hi = (double)(axis->n_categories ? axis->n_categories : 1) - 0.5;
        return;
    }
    if (!(view->hi >= view->lo)) {
        view->lo = is_log(axis) ? 1 : 0;
        view->hi = is_log(axis) ? 10 : 1;
    }
    if (axis->max > axis->min && !(is_log(axis) && axis->min <= 0)) {
        view->lo = axis->min;
        view->hi = axis->max;
    } else if (is_log(axis)) {
        fix_log(view);
    } else {
        fix_linear(view);
    }
    unit = axis_unit_of(axis, fmax(fabs(view->lo), fabs(view->hi)));
    view->worth = unit->worth;
    /* "1 ms" and "1 s", where one unit would make labels of 0.001 or of 10000 */
    bool own = is_log(axis) && axis_has_steps(axis) &&
               (view->hi / view->lo > 1024.5 || view->lo < 0.0999 * unit->worth);
    view->unit = own || axis_is_clock(axis, view->lo, view->hi) ? NULL : unit->name;
}

double axis_at(const struct axis_view *view, double value)
{
    double frac;

    if (!isfinite(value) || (is_log(view->axis) && value <= 0))
        return NAN;
    if (is_log(view->axis))
        frac = log(value / view->lo) / log(view->hi / view->lo);
    else
        frac = (value - view->lo) / (view->hi - view->lo);
    return view->from + frac * (view->to - view->from);
}

char *axis_title(const struct axis_view *view)
{
    const struct axis *axis = view->axis;
    const char *unit = axis->unit == AXIS_PLAIN ? axis->unit_text : view->unit;

    if (axis->scale == AXIS_CATEGORY || !unit || !*unit)
        return xstrdup(axis->label ? axis->label : "");
    if (!axis->label)
        return xstrdup(unit);
    return xasprintf("%s (%s)", axis->label, unit);
}

static void add_tick(struct axis_view *view, double value, char *text)
{
    struct axis_tick *tick = VEC_ADD(&view->ticks);

    *tick = (struct axis_tick) { value, axis_at(view, value), text };
}

static void linear_ticks(struct axis_view *view, int target)
{
    double lo = view->lo / view->worth, hi = view->hi / view->worth;
    double step = nice_step((hi - lo) / target), first = ceil(lo / step - 1e-6);
    int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));

    if (!view->unit) { /* each label carries its own unit */
        step = nice_step((view->hi - view->lo) / target);
        first = ceil(view->lo / step - 1e-6);
        for (double k = first; k * step <= view->hi * (1 + 1e-9); k++)
            add_tick(view, k * step, axis_tick_text(view, k * step, -1));
        return;
    }
    for (double k = first; k * step <= hi + 1e-6 * step; k++) {
        double v = k * step * view->worth;
        add_tick(view, v, axis_tick_text(view, v, decimals));
    }
}

/* Powers of two, every stride-th labelled. */
static void log2_ticks(struct axis_view *view, int stride)
{
    int first = (int)ceil(log2(view->lo) - 1e-9),
        last = (int)floor(log2(view->hi) + 1e-9);

    for (int k = first; k <= last; k++) {
        bool labelled = ((k % stride) + stride) % stride == 0;
        if (labelled || stride <= 5)
            add_tick(view, ldexp(1, k),
                     labelled ? axis_tick_text(view, ldexp(1, k), -1) : NULL);
    }
}

/* Decades, every stride-th labelled; `fine` labels 2 and 5 too. */
static void log10_ticks(struct axis_view *view, int stride, bool fine)
{
    int first = (int)floor(log10(view->lo) + 1e-9),
        last = (int)floor(log10(view->hi) + 1e-9);

    for (int k = first; k <= last; k++)
        for (int m = 1; m <= (last - first <= 8 ? 9 : 1); m++) {
            double v = k < 0 ? m / pow(10, -k) : m * pow(10, k);
            bool whole = m == 1 && ((k % stride) + stride) % stride == 0;
            if (v < view->lo * (1 - 1e-9) || v > view->hi * (1 + 1e-9))
                continue;
            add_tick(view, v,
                     whole || (fine && (m == 2 || m == 5)) ? axis_tick_text(view, v, -1)
                                                           : NULL);
        }
}

/* Durations that people call round: seconds by 1, 2, 5, then 10 and 30, minutes alike. */
static const struct duration {
    double worth;
    const char *text;
    int rank; /* the highest stay where there is little room */
} durations[] = { { 1, "1 s", 2 },        { 2, "2 s", 0 },        { 5, "5 s", 0 },
                  { 10, "10 s", 1 },      { 30, "30 s", 0 },      { 60, "1 min", 2 },
                  { 120, "2 min", 0 },    { 300, "5 min", 0 },    { 600, "10 min", 1 },
                  { 1800, "30 min", 0 },  { 3600, "1 h", 2 },     { 7200, "2 h", 0 },
                  { 18000, "5 h", 0 },    { 43200, "12 h", 1 },   { 86400, "1 d", 2 },
                  { 172800, "2 d", 0 },   { 432000, "5 d", 0 },   { 864000, "10 d", 1 },
                  { 2592000, "30 d", 2 }, { 8640000, "100 d", 1 } };

static void duration_ticks(struct axis_view *view, int rank)
{
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
        const struct duration *t = &durations[i];
        if (t->worth >= view->lo * (1 - 1e-9) && t->worth <= view->hi * (1 + 1e-9))
            add_tick(view, t->worth, t->rank >= rank ? xstrdup(t->text) : NULL);
    }
}

/* Whether labels keep apart along the axis, at the view's rotation. */
static bool labels_fit(const struct axis_view *view)
{
    double end = -INFINITY, sign = view->to >= view->from ? 1 : -1;
    bool flat = !view->upright && view->rotate >= 0;

    for (int64_t i = 0; i < view->ticks.n; i++) {
        const struct axis_tick *tick = &view->ticks.v[i];
        double half, at = sign * tick->at;
        if (!tick->text)
            continue;
        half = flat
                   ? draw_text_width(tick->text, AXIS_FONT, false) / 2 + 5
                   : AXIS_FONT * (view->rotate < -1 && view->rotate > -89 ? 0.85 : 0.6);
        if (at - half < end)
            return false;
        end = at + half;
    }
    return true;
}

static int64_t n_labels(const struct axis_view *view)
{
    int64_t n = 0;

    for (int64_t i = 0; i < view->ticks.n; i++)
        n += view->ticks.v[i].text != NULL;
    return n;
}

/* The next wider spacing of labels on a log scale; in bytes such that 1 KiB, 1 MiB and
 * so on are among them. */
static int after(const struct axis_view *view, int stride)
{
    if (view->axis->unit != AXIS_BYTES)
        return stride + 1;
    return stride == 1 ? 2 : stride == 2 ? 5 : 2 * stride;
}

/* Whether there was room for at least two durations. */
static bool place_durations(struct axis_view *view)
{
    for (int rank = 0; rank <= 2; rank++) {
        drop_ticks(view);
        duration_ticks(view, rank);
        if (labels_fit(view))
            return n_labels(view) >= 2;
    }
    return false;
}

/* Whether the values that the data has were given, and have room for their labels. */
static bool place_given(struct axis_view *view)
{
    const struct axis *axis = view->axis;

    drop_ticks(view);
    for (size_t i = 0; i < axis->n_ticks; i++)
        add_tick(view, axis->ticks[i], axis_tick_text(view, axis->ticks[i], -1));
    return axis->n_ticks > 1 && labels_fit(view);
}

static void number_ticks(struct axis_view *view)
{
    double pixels = fabs(view->to - view->from);
    int most = (int)fmax(2, pixels / (view->upright ? 38 : 62));

    if (place_given(view))
        return;

    if (axis_is_clock(view->axis, view->lo, view->hi) && place_durations(view))
        return;
    for (int stride = 1; is_log(view->axis) && stride <= 80;
         stride = after(view, stride))
        for (int fine = scale_of(view->axis) == AXIS_LOG10 && stride == 1; fine >= 0;
             fine--) {
            drop_ticks(view);
            if (scale_of(view->axis) == AXIS_LOG2)
                log2_ticks(view, stride);
            else
                log10_ticks(view, stride, fine);
            if (labels_fit(view) && n_labels(view) >= 2 && n_labels(view) <= 2 * most)
                return;
        }
    for (int target = most; target >= 1; target--) {
        drop_ticks(view);
        linear_ticks(view, target);
        if (labels_fit(view))
            return;
    }
    for (int64_t i = 1; i < view->ticks.n; i++) { /* no room for two: one label stays */
        free(view->ticks.v[i].text);
        view->ticks.v[i].text = NULL;
    }
}

static void category_ticks(struct axis_view *view, double room, size_t stride)
{
    for (size_t i = 0; i < view->axis->n_categories; i += stride)
        add_tick(view, (double)i,
                 draw_text_fit(view->axis->categories[i], AXIS_FONT, false, room));
}

/* Flat, else turned by 45 degrees, else upright, else only every so many. */
static void place_categories(struct axis_view *view, double room)
{
    static const double turns[] = { 0, -45, -90 };
    double pitch = fabs(view->to - view->from) / (view->hi - view->lo);

    for (size_t i = 0; i < 3; i++) {
        view->rotate = view->upright ? 0 : turns[i];
        drop_ticks(view);
        category_ticks(view, i == 0 && !view->upright ? fmax(pitch, 60) * 2 : room, 1);
        if (labels_fit(view))
            return;
    }
    drop_ticks(view);
    category_ticks(view, room, (size_t)ceil(AXIS_FONT * 1.2 / pitch + 0.01));
}

void axis_view_layout(struct axis_view *view, double from, double to, bool upright,
                      double room)
{
    double widest = 0, turn;

    view->from = from;
    view->to = to;
    view->upright = upright;
    view->rotate = 0;
    if (view->axis->scale == AXIS_CATEGORY)
        place_categories(view, room);
    else
        number_ticks(view);
    for (int64_t i = 0; i < view->ticks.n; i++)
        if (view->ticks.v[i].text)
            widest =
                fmax(widest, draw_text_width(view->ticks.v[i].text, AXIS_FONT, false));
    turn = -view->rotate * acos(-1.0) / 180;
    view->depth = upright ? widest : widest * sin(turn) + AXIS_FONT * cos(turn);
}
