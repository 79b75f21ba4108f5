#include "report/figure/step_parts.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BOX_PX 14.0  /* the narrowest kind of pass: a number of two digits */
#define LEAST_PX 5.0 /* where all of the time gives it as much, nothing is left out */

/* Parts of a figure as narrow as a column hold too few passes each to show a schedule:
 * there boxes get narrower first. */
#define NARROW_PX 420.0
#define LEAST_NARROW_PX 2.5

/* Shares of the axis. */
#define WARM_UP 0.32
#define STEADY 0.25
#define COOL_DOWN 0.43
#define END_MOST 0.4 /* of the cool-down, for what comes after the last pass */

static bool is_pass(const struct timeline_box *b)
{
    return b->text && (b->kind == SPAN_FORWARD || b->kind == SPAN_BACKWARD ||
                       b->kind == SPAN_WEIGHT);
}

static int by_size(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* Half of the time is in lengths up to it. Pieces of a pass that is cut up, as the last
 * one where gradients are reduced meanwhile, are many but short. */
static double middle_by_time(double *length, size_t n)
{
    double sum = 0, up_to = 0;
    qsort(length, n, sizeof(*length), by_size);
    for (size_t i = 0; i < n; i++)
        sum += length[i];
    for (size_t i = 0; i < n; i++)
        if ((up_to += length[i]) >= sum / 2)
            return length[i];
    return 0;
}

double figure_parts_pass(const struct timeline_box *boxes, size_t n)
{
    const size_t kinds[] = { SPAN_FORWARD, SPAN_BACKWARD };
    double *length = xcalloc(n + 1, sizeof(*length)), least_s = 0;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (is_pass(&boxes[i]) && boxes[i].kind == kinds[k])
                length[m++] = boxes[i].end_s - boxes[i].start_s;
        double middle_s = middle_by_time(length, m);
        if (middle_s > 0 && (least_s <= 0 || middle_s < least_s))
            least_s = middle_s;
    }
    free(length);
    return least_s;
}

/* The first forward pass of the first stage after a time, of a later chunk than the one
 * before too; NULL: none. */
static const struct timeline_box *forward_after(const struct timeline_box *boxes,
                                                size_t n, double time_s, double shade)
{
    const struct timeline_box *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct timeline_box *b = &boxes[i];
        if (b->track == 0 && is_pass(b) && b->kind == SPAN_FORWARD &&
            b->start_s > time_s && (!best || b->start_s < best->start_s) &&
            (shade < 0 || fabs(b->shade - shade) < 1e-9))
            best = b;
    }
    return best;
}

bool figure_parts_needed(double pass_s, double end_s, double room)
{
    double least_px = room < NARROW_PX ? LEAST_NARROW_PX : LEAST_PX;
    return pass_s > 0 && end_s > 0 && pass_s / end_s * room < least_px;
}

static bool has_chunks(const struct timeline_box *boxes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (boxes[i].shade > 0)
            return true;
    return false;
}

/* As many periods of the middle of the step as have room. */
static struct timeline_part steady_part(const struct timeline_box *boxes, size_t n,
                                        double end_s, double length_s)
{
    static const char *const names[] = { NULL,           "one period",
                                         "two periods",  "three periods",
                                         "four periods", "five periods" };
    const struct timeline_box *first = forward_after(boxes, n, end_s / 2, -1), *next;
    struct timeline_part part = { end_s / 2, end_s / 2 + length_s, "steady state" };
    if (!first)
        return part;
    part =
        (struct timeline_part) { first->start_s, first->start_s + length_s, part.name };
    next = forward_after(boxes, n, first->start_s, first->shade);
    if (!next || has_chunks(boxes, n)) /* a period of chunks has many microbatches */
        return part;
    double period_s = next->start_s - first->start_s;
    double fit = floor(length_s / period_s);
    if (fit >= 1 && fit < (double)(sizeof(names) / sizeof(*names))) {
        part.to_s = part.from_s + fit * period_s;
        part.name = names[(int)fit];
    }
    return part;
}

/* Parts that touch or overlap become one. */
static size_t join(struct timeline_part *parts, size_t n, double gap_s)
{
    size_t out = 0;
    for (size_t i = 0; i < n; i++)
        if (out > 0 && parts[i].from_s <= parts[out - 1].to_s + gap_s) {
            parts[out - 1].to_s = fmax(parts[out - 1].to_s, parts[i].to_s);
            parts[out - 1].name = NULL;
        } else {
            parts[out++] = parts[i];
        }
    return out;
}

size_t figure_parts_choose(const struct timeline_box *boxes, size_t n, double pass_s,
                           double end_s, double room,
                           struct timeline_part parts[TIMELINE_PARTS_MAX])
{
    size_t m = 0;
    double last_s = 0, all_s = (room - (TIMELINE_PARTS_MAX - 1) * TIMELINE_BREAK_W) /
                               BOX_PX * pass_s;
    double cool_s = COOL_DOWN * all_s, tail_s;
    if (all_s <= 0 || all_s >= end_s)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (is_pass(&boxes[i]))
            last_s = fmax(last_s, boxes[i].end_s);
    tail_s = end_s - last_s;
    struct timeline_part steady = steady_part(boxes, n, end_s, STEADY * all_s);
    cool_s += STEADY * all_s - (steady.to_s - steady.from_s);
    parts[m++] = (struct timeline_part) { 0, WARM_UP * all_s, "warm-up" };
    parts[m++] = steady;
    if (tail_s <= END_MOST * cool_s) {
        parts[m++] = (struct timeline_part) { end_s - cool_s, end_s, "cool-down" };
    } else {
        double end_part_s = END_MOST * cool_s / 2;
        parts[m++] = (struct timeline_part) { last_s - cool_s + 2 * end_part_s,
                                              last_s + end_part_s, "cool-down" };
        parts[m++] = (struct timeline_part) { end_s - end_part_s, end_s, "end" };
    }
    return join(parts, m, pass_s);
}

size_t figure_parts_rows(int32_t n, size_t most, int32_t *row_of, bool *left_out)
{
    size_t rows = 0, each = most > 5 ? (most - 2) / 3 : 1; /* first, middle, last */
    int32_t some = (int32_t)(each > 3 ? 3 : each), middle = (n - some) / 2;
    bool all = (size_t)n <= most || n <= 3 * some + 2;
    for (int32_t i = 0; i < n; i++) {
        bool shown =
            all || i < some || i >= n - some || (i >= middle && i < middle + some);
        row_of[i] = shown ? (int32_t)rows : -1;
        if (!shown && left_out[rows - 1])
            continue; /* the row of the one before */
        left_out[rows++] = !shown;
    }
    return rows;
}
