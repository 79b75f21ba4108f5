#include "report/difference.h"

#include "base/names.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xmalloc.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 26, PART = 31, VALUE_SHOWN = 100 };

const struct name_value difference_by_names[] = {
    { "step", DIFFERENCE_STEP },
    { "sample", DIFFERENCE_SAMPLE },
    { "token", DIFFERENCE_TOKEN },
    { NULL, 0 },
};

double report_difference_time(const struct difference_numbers *n, enum difference_by by)
{
    switch (by) {
    case DIFFERENCE_SAMPLE:
        return 1e3 / n->samples_per_s;
    case DIFFERENCE_TOKEN:
        return 1e6 / n->tokens_per_s;
    default:
        return n->step_s;
    }
}

double report_difference_measured(const struct difference_view *v, int side)
{
    const struct difference_numbers *n = side ? &v->d->b : &v->d->a;
    return report_difference_time(n, v->by) * v->measured_s[side] / n->step_s;
}

static const char *of_what(enum difference_by by)
{
    static const char *const texts[] = { [DIFFERENCE_STEP] = "a step",
                                         [DIFFERENCE_SAMPLE] = "a thousand samples",
                                         [DIFFERENCE_TOKEN] = "a million tokens" };
    return texts[by];
}

/* Rounding ------------------------------------------------------------------------- */

/* A unit and so many of its decimals that the largest number has four digits. Sums are
 * rounded, not their parts, so that the parts printed sum to the sums printed. */
struct scale {
    const char *unit;
    double factor; /* units in one of SI */
    int decimals;
};

static struct scale scale_of(double largest, double in_unit, const char *unit)
{
    struct scale s = { unit, in_unit, 0 };
    double v = largest * in_unit;
    while (s.decimals < 6 && v < 1000) {
        v *= 10;
        s.decimals++;
    }
    return s;
}

static struct scale time_scale(double largest_s)
{
    return largest_s >= 1      ? scale_of(largest_s, 1, "s")
           : largest_s >= 1e-3 ? scale_of(largest_s, 1e3, "ms")
                               : scale_of(largest_s, 1e6, "us");
}

/* In steps of the last decimal. */
static double rounded(double v, struct scale s)
{
    return nearbyint(v * s.factor * pow(10, s.decimals));
}

static void print_rounded(FILE *out, double steps, struct scale s, bool sign, int width)
{
    char text[40];
    snprintf(text, sizeof(text), sign ? "%+.*f" : "%.*f", s.decimals,
             steps / pow(10, s.decimals));
    fprintf(out, "%*s", width, text);
}

/* The waterfall -------------------------------------------------------------------- */

struct columns {
    struct scale time, memory, cost;
    bool has_cost;
    double usd_per_h; /* of the last job whose price is known */
};

static struct columns columns_of(const struct difference_view *v)
{
    const struct difference *d = v->d;
    double time = fmax(report_difference_time(&d->a, v->by),
                       report_difference_time(&d->b, v->by));
    for (int side = 0; side < 2; side++)
        time = fmax(time, report_difference_measured(v, side));
    struct columns c = { .has_cost =
                             isfinite(d->a.usd_per_h) && isfinite(d->b.usd_per_h),
                         .usd_per_h = d->a.usd_per_h };
    c.time = time_scale(time);
    c.memory = scale_of(fmax(d->a.peak_B, d->b.peak_B), 1.0 / (1 << 30), "GiB");
    c.memory.decimals = c.memory.decimals > 2 ? 2 : c.memory.decimals;
    c.cost = (struct scale) { "USD/h", 1, 2 };
    return c;
}

static void print_end(FILE *out, const struct difference_view *v,
                      const struct columns *c, const char *name,
                      const struct difference_numbers *n)
{
    bool is_long = strlen(name) > NAME;
    if (is_long)
        report_wrap(out, "  ", "    ", name);
    fprintf(out, "  %-*s", NAME, is_long ? "" : name);
    print_rounded(out, rounded(report_difference_time(n, v->by), c->time), c->time,
                  false, 10);
    fprintf(out, "%18s", "");
    print_rounded(out, rounded(n->peak_B, c->memory), c->memory, false, 9);
    if (c->has_cost)
        print_rounded(out, rounded(n->usd_per_h, c->cost), c->cost, false, 9);
    fprintf(out, "%s\n", n->fits ? "" : " unfit");
}

/* What a cause adds depends on the order: least and most of what was tried. */
static void print_range(FILE *out, const struct difference_view *v, struct scale s,
                        const struct difference_cause *c,
                        const struct difference_numbers *before)
{
    char text[64] = "";
    double here = c->after.step_s - before->step_s, least = here, most = here;
    double tried[] = { c->alone_s - v->d->a.step_s, v->d->b.step_s - c->without_s };
    for (int i = 0; i < 2; i++)
        if (isfinite(tried[i])) {
            least = fmin(least, tried[i]);
            most = fmax(most, tried[i]);
        }
    double step = pow(10, -s.decimals);
    if (v->by == DIFFERENCE_STEP && rounded(least, s) != rounded(most, s))
        snprintf(text, sizeof(text), "%+.*f to %+.*f", s.decimals,
                 rounded(least, s) * step, s.decimals, rounded(most, s) * step);
    fprintf(out, "%18s", text);
}

/* A node of one's own has no price: what it adds is in the next cause's. */
static void print_cost(FILE *out, struct columns *c, const struct difference_numbers *n)
{
    if (!c->has_cost)
        return;
    if (!isfinite(n->usd_per_h)) {
        fprintf(out, "%9s", "-");
        return;
    }
    print_rounded(out, rounded(n->usd_per_h, c->cost) - rounded(c->usd_per_h, c->cost),
                  c->cost, true, 9);
    c->usd_per_h = n->usd_per_h;
}

/* Names of joined causes have lines of their own. */
static void print_name(FILE *out, const char *name)
{
    bool fits = strlen(name) <= NAME - 2;
    if (!fits)
        report_wrap(out, "    ", "      ", name);
    fprintf(out, "    %-*s", NAME - 2, fits ? name : "  together");
}

static void print_cause(FILE *out, const struct difference_view *v, struct columns *c,
                        const struct difference_cause *cause,
                        const struct difference_numbers *before)
{
    const struct difference_numbers *n = &cause->after;
    double time = report_difference_time(n, v->by),
           time_before = report_difference_time(before, v->by);
    print_name(out, cause->name);
    print_rounded(out, rounded(time, c->time) - rounded(time_before, c->time), c->time,
                  true, 10);
    print_range(out, v, c->time, cause, before);
    print_rounded(out,
                  rounded(n->peak_B, c->memory) - rounded(before->peak_B, c->memory),
                  c->memory, true, 9);
    print_cost(out, c, n);
    fprintf(out, "%s\n", n->fits ? "" : " unfit");
}

/* A measured end of the walk, and what the prediction of its job is off by. */
static void print_measured(FILE *out, const struct difference_view *v, struct scale s,
                           int side)
{
    const struct difference_numbers *n = side ? &v->d->b : &v->d->a;
    double measured = rounded(report_difference_measured(v, side), s),
           predicted = rounded(report_difference_time(n, v->by), s);
    char *name = xasprintf("%s, measured", side ? v->b : v->a);
    if (side) {
        fprintf(out, "    %-*s", NAME - 2, "measured - predicted");
        print_rounded(out, measured - predicted, s, true, 10);
        fputc('\n', out);
    }
    bool is_long = strlen(name) > NAME;
    if (is_long)
        report_wrap(out, "  ", "    ", name);
    fprintf(out, "  %-*s", NAME, is_long ? "" : name);
    print_rounded(out, measured, s, false, 10);
    fputc('\n', out);
    if (!side) {
        fprintf(out, "    %-*s", NAME - 2, "predicted - measured");
        print_rounded(out, predicted - measured, s, true, 10);
        fputc('\n', out);
    }
    free(name);
}

/* The time of a side: measured where it has a log. */
static double best_time(const struct difference_view *v, int side)
{
    return v->measured_s[side] > 0
               ? report_difference_measured(v, side)
               : report_difference_time(side ? &v->d->b : &v->d->a, v->by);
}

/* Steps of other sizes are not the same work. */
static void print_work(FILE *out, const struct difference_view *v)
{
    const struct difference_numbers *a = &v->d->a, *b = &v->d->b;
    double work = b->tokens_per_s * b->step_s / (a->tokens_per_s * a->step_s);
    if (v->by == DIFFERENCE_STEP && isfinite(work) && fabs(work - 1) > 1e-9)
        fprintf(out, "  its step trains %.3g times as many tokens: see --by token\n",
                work);
}

/* What groups over nodes get of the network. */
static void print_quality(FILE *out, const struct difference *d)
{
    const char *a = d->a.quality, *b = d->b.quality;
    if (a[0] && b[0] && strcmp(a, b) != 0)
        fprintf(out, "  network: %s, and %s\n", a, b);
    else if (a[0] || b[0])
        fprintf(out, "  network: %s\n", a[0] ? a : b);
}

static double effect(const struct difference *d, int32_t i)
{
    const struct difference_numbers *before = i ? &d->causes[i - 1].after : &d->a;
    return fabs(d->causes[i].after.step_s - before->step_s);
}

static const char *largest_cause(const struct difference *d)
{
    int32_t largest = 0;
    for (int32_t i = 1; i < d->n_causes; i++)
        if (effect(d, i) > effect(d, largest))
            largest = i;
    return d->n_causes > 1 ? d->causes[largest].name : NULL;
}

static void print_verdict(FILE *out, const struct difference_view *v)
{
    double ratio = best_time(v, 1) / best_time(v, 0);
    bool mixed = (v->measured_s[0] > 0) != (v->measured_s[1] > 0);
    const char *cause = largest_cause(v->d);
    char *line = xasprintf("%s%s takes %.3g times as long as %s%s%s%s", v->b,
                           !mixed                 ? ""
                           : v->measured_s[1] > 0 ? ", measured,"
                                                  : ", predicted,",
                           ratio, v->a, v->measured_s[0] > 0 ? ", measured" : "",
                           cause ? "; most by " : "", cause ? cause : "");
    report_verdict_line(out, true, line);
    free(line);
}

static void print_waterfall(FILE *out, const struct difference_view *v)
{
    const struct difference *d = v->d;
    struct columns c = columns_of(v);
    const struct difference_numbers *before = &d->a;
    char head[64];
    snprintf(head, sizeof(head), "time of %s", of_what(v->by));
    fprintf(out, "  %-*s%10s%18s%9s%s\n", NAME, head, c.time.unit,
            v->by == DIFFERENCE_STEP && d->n_causes ? "in other orders" : "",
            c.memory.unit, c.has_cost ? "    USD/h" : "");
    if (v->measured_s[0] > 0)
        print_measured(out, v, c.time, 0);
    print_end(out, v, &c, v->a, &d->a);
    for (int32_t i = 0; i < d->n_causes; i++) {
        print_cause(out, v, &c, &d->causes[i], before);
        before = &d->causes[i].after;
    }
    print_end(out, v, &c, v->b, &d->b);
    if (v->measured_s[1] > 0)
        print_measured(out, v, c.time, 1);
    print_work(out, v);
    print_quality(out, d);
}

/* Breakdowns ----------------------------------------------------------------------- */

/* A part's steps of the last decimal: what the sum of the parts so far went on by. */
static double next_part(double *sum_s, const double *parts_s, int i, struct scale s)
{
    double before = rounded(*sum_s, s);
    if (i == CATEGORY_DATA_COMM_HIDDEN)
        return rounded(parts_s[i], s);
    *sum_s += parts_s[i];
    return rounded(*sum_s, s) - before;
}

static void print_breakdowns(FILE *out, const struct difference_view *v)
{
    const struct difference *d = v->d;
    struct scale s = time_scale(fmax(d->a.step_s, d->b.step_s));
    fprintf(out, "\n  %-*s%10s%10s%11s\n", PART + 2, "where a step's time goes", s.unit,
            "", "difference");
    double sum_s[2] = { 0, 0 };
    for (int i = 0; i < CATEGORY_N; i++) {
        double a = next_part(&sum_s[0], d->a.parts_s, i, s),
               b = next_part(&sum_s[1], d->b.parts_s, i, s);
        if (a == 0 && b == 0)
            continue;
        fprintf(out, "    %-*s", PART, report_part_texts[i]);
        print_rounded(out, a, s, false, 10);
        print_rounded(out, b, s, false, 10);
        print_rounded(out, b - a, s, true, 11);
        fputs(i == CATEGORY_DATA_COMM_HIDDEN ? "  not in sum\n" : "\n", out);
    }
}

/* Inputs --------------------------------------------------------------------------- */

static char *value_text(const json_t *v)
{
    char *text = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
    if (text && strlen(text) > VALUE_SHOWN)
        memcpy(text + VALUE_SHOWN - 3, "...", 4);
    return text;
}

static void print_change(FILE *out, const struct difference_change *c)
{
    char first[160];
    struct strbuf b;
    char *from = value_text(c->from), *to = value_text(c->to);
    strbuf_init(&b);
    strbuf_printf(&b, "%s -> %s", from ? from : "(not given)", to ? to : "(not given)");
    snprintf(first, sizeof(first), "    %.140s: ", c->pointer);
    report_wrap(out, first, "        ", strbuf_get(&b));
    strbuf_release(&b);
    free(from);
    free(to);
}

/* By what they change, the largest first. */
static void print_inputs(FILE *out, const struct difference_view *v)
{
    const struct difference *d = v->d;
    bool shown[64] = { false };
    if (d->n_causes == 0)
        return;
    fprintf(out, "\n  what differs in the inputs, by effect\n");
    for (int32_t k = 0; k < d->n_causes && k < 64; k++) {
        int32_t largest = -1;
        for (int32_t i = 0; i < d->n_causes && i < 64; i++)
            if (!shown[i] && (largest < 0 || effect(d, i) > effect(d, largest)))
                largest = i;
        shown[largest] = true;
        for (int32_t i = 0; i < d->causes[largest].n_changes; i++)
            print_change(out, &d->causes[largest].changes[i]);
    }
}

void report_difference_text(FILE *out, const struct difference_view *v)
{
    print_verdict(out, v);
    print_waterfall(out, v);
    print_breakdowns(out, v);
    print_inputs(out, v);
}
