/* Figures are tested by their layout, not by pixels: labels keep apart and on the page,
 * marks within the plot, whatever is drawn. */
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "draw/breakdown.h"
#include "draw/chart.h"
#include "draw/heatmap.h"
#include "draw/meaning.h"
#include "draw/palette.h"
#include "draw/timeline.h"
#include "draw/whiskers.h"

#include "draw_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void test_draw_register(void);

/* A small generator, so that the figures are the same everywhere. */
static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static double uniform(uint32_t *seed)
{
    return next(seed) / 16777216.0;
}

enum { POINTS_MAX = 2000, SERIES_MAX = 120, TEXT_MAX = 64 };

struct generated {
    double x[POINTS_MAX], y[POINTS_MAX];
    char text[POINTS_MAX][TEXT_MAX];
    const char *names[POINTS_MAX];
    struct series series[SERIES_MAX];
    struct chart chart;
};

static const int sizes[] = { 1, 2, 3, 9, 40, 300, POINTS_MAX };

/* A chart of random kinds, sizes and magnitudes. */
static void generate(struct generated *g, uint32_t seed)
{
    static const int counts[] = { 1, 2, 4, 7, 12, 30, SERIES_MAX };
    enum axis_scale xs = next(&seed) % 4, ys = next(&seed) % 3;
    size_t n = (size_t)sizes[next(&seed) % 7], m = (size_t)counts[next(&seed) % 7];
    double magnitude = pow(10, -7 + 20 * uniform(&seed));

    for (size_t i = 0; i < n; i++) {
        g->x[i] = xs == AXIS_LOG2 ? ldexp(1, (int)(i % 40)) : (double)i + 1;
        g->y[i] = magnitude * pow(10, 3 * uniform(&seed));
        snprintf(g->text[i], TEXT_MAX, "%.*s %d", (int)(next(&seed) % 50),
                 "a name of some length that has to be cut, p4d.24xlarge",
                 (int)(i % 100000));
        g->names[i] = g->text[i];
    }
    for (size_t k = 0; k < m; k++)
        g->series[k] = (struct series) {
            .name = g->names[k % n],
            .kind =
                xs == AXIS_CATEGORY ? SERIES_BARS + next(&seed) % 2 : next(&seed) % 3,
            .n = n,
            .x = xs == AXIS_CATEGORY ? NULL : g->x,
            .y = g->y,
            .labels = next(&seed) % 3 == 0 ? g->names : NULL,
        };
    g->chart = (struct chart) {
        .title =
            "A figure with a title that is perhaps too long to be shown in one line "
            "of its width",
        .subtitle = next(&seed) % 2 ? "Which question does it answer?" : NULL,
        .x = { "things", xs, next(&seed) % 7, .categories = g->names,
               .n_categories = n },
        .y = { "an amount of something", ys, next(&seed) % 7,
               .from_zero = next(&seed) % 2 },
        .series = g->series,
        .n_series = m,
    };
}

static void test_generated_charts(void)
{
    struct generated *g = xcalloc(1, sizeof(*g));

    for (uint32_t seed = 0; seed < 200; seed++) {
        double width = seed % 3   ? CHART_WIDTH
                       : seed % 2 ? 480
                                  : 360,
               height = seed % 5 ? CHART_HEIGHT : 320;
        struct record r;
        struct draw d;
        generate(g, seed * 7919 + 1);
        open_record(&d, &r, width, height);
        chart_draw(&g->chart, &d);
        check_record(&r, width, height);
    }
    free(g);
}

static void test_heatmaps(void)
{
    static bool hatched[POINTS_MAX];
    struct generated *g = xcalloc(1, sizeof(*g));
    static const size_t shapes[][2] = {
        { 1, 1 }, { 2, 3 }, { 6, 4 }, { 40, 50 }, { 200, 10 }
    };

    for (size_t k = 0; k < 5; k++) {
        struct record r;
        struct draw d;
        generate(g, 6 + (uint32_t)k);
        for (size_t i = 0; i < POINTS_MAX; i++) {
            hatched[i] = i == 3;
            g->y[i] = i == 3 || i == 5 ? (double)NAN : 1e-3 * (double)(i % 97 + 1);
            snprintf(g->text[i], TEXT_MAX, "column %zu", i);
            g->names[i] = g->text[i];
        }
        open_record(&d, &r, CHART_WIDTH, CHART_HEIGHT);
        heatmap_draw(
            &(struct heatmap) { .title = "t",
                                .x = { "x", AXIS_CATEGORY, .categories = g->names,
                                       .n_categories = shapes[k][0] },
                                .y = { "y", AXIS_CATEGORY, .categories = g->names,
                                       .n_categories = shapes[k][1] },
                                .value = { "step time", AXIS_LINEAR, AXIS_SECONDS },
                                .values = g->y,
                                .nothing = "failed",
                                .hatched = hatched,
                                .hatched_name = "does not fit" },
            &d);
        check_record(&r, CHART_WIDTH, CHART_HEIGHT);
    }
    free(g);
}

/* A track of more boxes than pixels shows what part of the time each kind takes. */
static void test_dense_timeline(void)
{
    enum { BOXES = 9000 };
    static const char *const tracks[] = { "stage 0" }, *const kinds[] = { "a", "b" };
    struct timeline_box *boxes = xcalloc(BOXES, sizeof(*boxes));
    struct record r;
    struct draw d;
    for (int i = 0; i < BOXES; i++) /* a, b, nothing */
        boxes[i] = (struct timeline_box) {
            0, (size_t)i % 2, i / 2 + i % 2 * 0.5, i / 2 + i % 2 * 0.25 + 0.5, NULL, 0
        };
    open_record(&d, &r, CHART_WIDTH, 300);
    timeline_draw(&(struct timeline) { .title = "t",
                                       .tracks = tracks,
                                       .n_tracks = 1,
                                       .kinds = kinds,
                                       .n_kinds = 2,
                                       .boxes = boxes,
                                       .n_boxes = BOXES },
                  &d);
    double all = r.plot.w * r.plot.h;
    CU_ASSERT_DOUBLE_EQUAL(r.area[0] / all, 0.5, 0.03);
    CU_ASSERT_DOUBLE_EQUAL(r.area[1] / all, 0.25, 0.03);
    check_record(&r, CHART_WIDTH, 300);
    free(boxes);
}

static void test_timelines(void)
{
    static const char *const kinds[] = { "forward", "backward", "communication" };
    struct generated *g = xcalloc(1, sizeof(*g));
    struct timeline_box *boxes = xcalloc(POINTS_MAX * 20, sizeof(*boxes));

    for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
        size_t tracks = (size_t)sizes[k], n = 0;
        struct record r;
        struct draw d;
        generate(g, 3);
        for (size_t i = 0; i < POINTS_MAX; i++) {
            snprintf(g->text[i], TEXT_MAX, "stage %zu", i);
            g->names[i] = g->text[i];
        }
        for (; n < tracks * 20; n++)
            boxes[n] = (struct timeline_box) {
                n % tracks,           n % 3,
                (double)(n / tracks), (double)(n / tracks) + 0.9,
                g->names[n % tracks], 0
            };
        open_record(&d, &r, CHART_WIDTH, 600);
        timeline_draw(&(struct timeline) { .title = "t",
                                           .tracks = g->names,
                                           .n_tracks = tracks,
                                           .kinds = kinds,
                                           .n_kinds = 3,
                                           .boxes = boxes,
                                           .n_boxes = n },
                      &d);
        check_record(&r, CHART_WIDTH, 600);
    }
    free(boxes);
    free(g);
}

/* What the axis leaves out is not drawn; the parts have one scale, and ticks with their
 * units. */
static void test_broken_time(void)
{
    static const char *const tracks[] = { "stage 0" }, *const kinds[] = { "forward" };
    const struct timeline_box boxes[] = {
        { 0, 0, 0, 1, "0", 0 },     { 0, 0, 9.5, 10.5, "cut", 0 },
        { 0, 0, 50, 51, "out", 0 }, { 0, 0, 91, 92, "91", 0 },
        { 0, 0, 99, 100, "99", 0 },
    };
    struct timeline t = { .title = "t",
                          .tracks = tracks,
                          .n_tracks = 1,
                          .kinds = kinds,
                          .n_kinds = 1,
                          .boxes = boxes,
                          .n_boxes = 5,
                          .parts = { { 0, 10, "first" }, { 90, 100, "last" } } };

    for (int broken = 1; broken >= 0; broken--) {
        struct err err = { 0 };
        struct strbuf svg;
        struct draw d;
        strbuf_init(&svg);
        draw_open_on(&d, &draw_svg_methods, NULL, NULL, 720, 260);
        t.n_parts = broken ? 2 : 0;
        timeline_draw(&t, &d);
        CU_ASSERT_EQUAL(draw_close_text(&d, &svg, &err), 0);
        const char *s = strbuf_get(&svg);
        CU_ASSERT_EQUAL(strstr(s, "id=\"break\"") != NULL, broken);
        CU_ASSERT_EQUAL(strstr(s, ">92 s<") != NULL, broken);
        CU_ASSERT_EQUAL(strstr(s, ">first<") != NULL, broken);
        CU_ASSERT_EQUAL(strstr(s, ">0 s<") != NULL, false);
        CU_ASSERT_EQUAL(strstr(s, ">99<") != NULL, broken); /* else too narrow */
        CU_ASSERT_PTR_NULL(strstr(s, ">out<"));
        strbuf_release(&svg);
    }
}

static void test_breakdowns(void)
{
    static const char *const parts[] = { "compute", "communication", "bubble",
                                         "other" };
    struct generated *g = xcalloc(1, sizeof(*g));

    generate(g, 3);
    for (size_t i = 0; i < POINTS_MAX; i++) {
        snprintf(g->text[i], TEXT_MAX, "a plan with a long name, the number %zu", i);
        g->names[i] = g->text[i];
        g->y[i] = 1e-3 * (double)(i % 13);
    }
    for (size_t k = 0; k < 5; k++) {
        double height = fmin(sizes[k], BREAKDOWN_BARS_MAX) * 30 + 150;
        struct record r;
        struct draw d;
        open_record(&d, &r, CHART_WIDTH, height);
        breakdown_draw(
            &(struct breakdown) { .title = "t",
                                  .bars = g->names,
                                  .n_bars = (size_t)sizes[k],
                                  .parts = parts,
                                  .n_parts = 4,
                                  .values = g->y,
                                  .value = { "step time", .unit = AXIS_SECONDS } },
            &d);
        check_record(&r, CHART_WIDTH, height);
    }
    free(g);
}

/* Names of the legend on a canvas of a column, and whether it says that more are
 * meant. */
static int n_in_legend(bool grows, bool *cut, double *height)
{
    static const char *const parts[] = { "compute",
                                         "recomputation",
                                         "tensor-parallel communication",
                                         "pipeline communication",
                                         "pipeline bubble",
                                         "exposed gradient communication",
                                         "optimizer",
                                         "host and waiting" };
    const double values[] = { 5, 4, 3, 2, 1, 1, 1, 1 };
    const char *bar = "critical rank";
    struct record r;
    struct draw d;
    int n = 0;

    open_record(&d, &r, 360, 200);
    d.grows = grows;
    breakdown_draw(&(struct breakdown) { .title = "t",
                                         .bars = &bar,
                                         .n_bars = 1,
                                         .parts = parts,
                                         .n_parts = 8,
                                         .values = values,
                                         .value = { "time", .unit = AXIS_SECONDS } },
                   &d);
    *cut = false;
    for (int64_t i = 0; i < r.texts.n; i++) {
        n += r.texts.v[i].legend;
        *cut |= strncmp(r.texts.v[i].text, "and ", 4) == 0;
    }
    *height = d.height;
    check_record(&r, d.width, d.height);
    return n;
}

/* Where nobody asked for its height, a figure grows until its legend is whole. */
static void test_growing(void)
{
    double height;
    bool cut;

    CU_ASSERT(n_in_legend(false, &cut, &height) < 8);
    CU_ASSERT_TRUE(cut);
    CU_ASSERT_DOUBLE_EQUAL(height, 200, 0);
    CU_ASSERT_EQUAL(n_in_legend(true, &cut, &height), 8);
    CU_ASSERT_FALSE(cut);
    CU_ASSERT(height > 200);
}

/* On a canvas that appears nowhere, the same height is found without a picture. */
static void test_nowhere(void)
{
    const char *names[] = { "0", "1", "2", "3" };
    const struct timeline t = {
        .title = "t", .tracks = names, .n_tracks = 4, .track_h = 21, .no_legend = true
    };
    struct draw d;
    struct record r;
    double height;

    draw_open_nowhere(&d, 360, 60);
    timeline_draw(&t, &d);
    height = d.height;
    CU_ASSERT(height > 4 * 21);
    open_record(&d, &r, 360, height);
    timeline_draw(&t, &d);
    CU_ASSERT(r.plot.h >= 4 * 21 - 0.01);
    check_record(&r, 360, height);
}

/* Text on a box reads on either ground: dark on the light hues of a dark one. */
static void test_ink(void)
{
    struct record r;
    struct draw d;

    open_record(&d, &r, 100, 100);
    CU_ASSERT_EQUAL(draw_ink_on(&d, meaning_colour(MEANING_FORWARD)), PALETTE_WHITE);
    CU_ASSERT_EQUAL(draw_ink_on(&d, meaning_colour(MEANING_GRADIENT_COMM)),
                    0xff000000u);
    d.dark = true;
    CU_ASSERT_EQUAL(draw_ink_on(&d, meaning_colour(MEANING_FORWARD)), 0xff000000u);
    CU_ASSERT_EQUAL(draw_ink_on(&d, meaning_colour(MEANING_GRADIENT_COMM)),
                    0xff000000u);
    record_release(&r);
}

/* A column's head and legend take more lines: the figure grows, and each row has its name. */
static void check_names_in_column(const struct whisker *rows)
{
    enum { ROWS = 6, COLUMN = 336 };
    const struct whiskers w = { .title =
                                    "errors of predictions by their source, in rows",
                                .subtitle =
                                    "how far are predictions from measurements?",
                                .provenance = "simulated against what was measured",
                                .rows = rows,
                                .n_rows = ROWS,
                                .dot_name = "median of |predicted / measured - 1|",
                                .end_name = "nine of ten rows are below",
                                .value = { "error", .unit = AXIS_FRACTION } };
    struct err err = { 0 };
    struct strbuf svg;
    struct draw d;
    int names = 0;

    strbuf_init(&svg);
    draw_open_on(&d, &draw_svg_methods, NULL, NULL, COLUMN, whiskers_height(&w));
    d.grows = true;
    whiskers_draw(&w, &d);
    CU_ASSERT_EQUAL(draw_close_text(&d, &svg, &err), 0);
    for (const char *s = strbuf_get(&svg); (s = strstr(s, "a source")); s++)
        names++;
    CU_ASSERT_EQUAL(names, ROWS);
    strbuf_release(&svg);
}

static void test_whiskers(void)
{
    struct whisker *rows = xcalloc(POINTS_MAX, sizeof(*rows));
    struct generated *g = xcalloc(1, sizeof(*g));

    for (size_t i = 0; i < POINTS_MAX; i++) {
        snprintf(g->text[i], TEXT_MAX, "a source with a long name, the number %zu", i);
        rows[i] =
            (struct whisker) { .name = g->text[i],
                               .note = i % 2 ? "16697" : NULL,
                               .dot = 0.01 * (double)(i % 30),
                               .end = i % 7 ? 0.03 * (double)(i % 30) : (double)NAN };
    }
    for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
        const struct whiskers w = { .title = "t",
                                    .subtitle = "s",
                                    .rows = rows,
                                    .n_rows = (size_t)sizes[k],
                                    .dot_name = "median",
                                    .end_name = "nine of ten",
                                    .value = { "error", .unit = AXIS_FRACTION,
                                               .from_zero = true, .max = 0.4 } };
        struct record r;
        struct draw d;
        open_record(&d, &r, CHART_WIDTH, whiskers_height(&w));
        whiskers_draw(&w, &d);
        check_record(&r, CHART_WIDTH, whiskers_height(&w));
    }
    check_names_in_column(rows);
    free(rows);
    free(g);
}

/* How far two colours are apart as printed in grey, of 255. */
static double grey_apart(uint32_t a, uint32_t b)
{
    static const double weights[] = { 0.114, 0.587, 0.299 };
    double sum = 0;

    for (int i = 0; i < 3; i++)
        sum += weights[i] * ((double)(a >> 8 * i & 0xff) - (double)(b >> 8 * i & 0xff));
    return fabs(sum);
}

/* What is side by side in a figure has colours of its own, in grey too. */
/* sRGB as CIELAB, as it appears to eyes with a matrix over linear light. */
static void lab_of(uint32_t colour, const double sight[3][3], double lab[3])
{
    static const double xyz[3][3] = { { 0.4124564, 0.3575761, 0.1804375 },
                                      { 0.2126729, 0.7151522, 0.0721750 },
                                      { 0.0193339, 0.1191920, 0.9503041 } },
                        white[] = { 0.95047, 1, 1.08883 };
    double linear[3], seen[3], f[3];

    for (int i = 0; i < 3; i++) {
        double c = (double)(colour >> (16 - 8 * i) & 0xff) / 255;
        linear[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++) {
        seen[i] =
            sight[i][0] * linear[0] + sight[i][1] * linear[1] + sight[i][2] * linear[2];
        seen[i] = fmin(1, fmax(0, seen[i]));
    }
    for (int i = 0; i < 3; i++) {
        double t = (xyz[i][0] * seen[0] + xyz[i][1] * seen[1] + xyz[i][2] * seen[2]) /
                   white[i];
        f[i] = t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

static double colours_apart(uint32_t a, uint32_t b, const double sight[3][3])
{
    double p[3], q[3];

    lab_of(a, sight, p);
    lab_of(b, sight, q);
    return sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
}

/* What one figure shows stays apart for readers without green or red cones (matrices of
 * Machado, Oliveira and Fernandes 2009, severity 1), in both themes. */
static void test_colour_blind(void)
{
    static const double sights[3][3][3] = {
        { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
        { { 0.367322, 0.860646, -0.227968 },
          { 0.280085, 0.672501, 0.047413 },
          { -0.011820, 0.042940, 0.968881 } },
        { { 0.152286, 1.052583, -0.204868 },
          { 0.114503, 0.786281, 0.099216 },
          { -0.003882, -0.048116, 1.051998 } },
    };
    static const enum meaning step[] = {
        MEANING_FORWARD,     MEANING_BACKWARD,       MEANING_RECOMPUTE,
        MEANING_OPTIMIZER,   MEANING_GRADIENT_COMM,  MEANING_PARAMETER_GATHER,
        MEANING_TENSOR_COMM, MEANING_EXPERT_COMM,    MEANING_PIPELINE_COMM,
        MEANING_OTHER,       MEANING_WEIGHT_GRADIENT
    };
    const double least = 11; /* CIE 1976; 2.3 is just noticeable */

    for (size_t s = 0; s < 3; s++)
        for (size_t i = 0; i < sizeof(step) / sizeof(*step); i++)
            for (size_t k = 0; k < i; k++) {
                uint32_t a = meaning_colour(step[i]), b = meaning_colour(step[k]);
                CU_ASSERT(colours_apart(a, b, sights[s]) > least);
                CU_ASSERT(colours_apart(palette_dark(a), palette_dark(b), sights[s]) >
                          least);
            }
}

static void test_meanings(void)
{
    static const enum meaning neighbours[][2] = {
        { MEANING_FORWARD, MEANING_BACKWARD },
        { MEANING_RECOMPUTE, MEANING_BACKWARD },
        { MEANING_WEIGHT_GRADIENT, MEANING_BACKWARD },
        { MEANING_COMPUTE, MEANING_GRADIENT_COMM },
        { MEANING_GRADIENT_COMM, MEANING_OPTIMIZER },
        { MEANING_FRAMEWORK, MEANING_PARAMETERS },
        { MEANING_PARAMETERS, MEANING_GRADIENTS },
        { MEANING_GRADIENTS, MEANING_OPTIMIZER_STATES },
        { MEANING_OPTIMIZER_STATES, MEANING_ACTIVATIONS },
        { MEANING_ACTIVATIONS, MEANING_BUFFERS },
        { MEANING_BUFFERS, MEANING_WORKSPACE },
        { MEANING_IMAGE, MEANING_TRAINING },
    };
    static const enum meaning same[][2] = {
        { MEANING_OPTIMIZER, MEANING_OPTIMIZER_STATES },
        { MEANING_GRADIENT_COMM, MEANING_GRADIENTS },
        { MEANING_COMPUTE, MEANING_FORWARD },
    };

    for (size_t i = 0; i < sizeof(neighbours) / sizeof(*neighbours); i++)
        CU_ASSERT(grey_apart(meaning_colour(neighbours[i][0]),
                             meaning_colour(neighbours[i][1])) > 20);
    for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
        CU_ASSERT_EQUAL(meaning_colour(same[i][0]), meaning_colour(same[i][1]));
    for (int a = MEANING_NONE + 1; a < MEANING_N; a++) {
        CU_ASSERT_EQUAL(meaning_colour((enum meaning)a) >> 24, 0xff);
        for (int b = MEANING_COMPUTE + 1; b < MEANING_PARAMETERS; b++) {
            bool kin = a >= MEANING_PARAMETERS || a == b || a == MEANING_COMPUTE;
            CU_ASSERT(kin || meaning_colour((enum meaning)a) !=
                                 meaning_colour((enum meaning)b));
        }
    }
    CU_ASSERT_EQUAL(meaning_colour(MEANING_NONE), 0);
}

static double lightness(uint32_t c)
{
    int low = 255, high = 0;

    for (int shift = 0; shift <= 16; shift += 8) {
        int v = (int)(c >> shift & 0xff);
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    return (low + high) / 510.0;
}

/* On a dark ground what was dark is light, and the order of channels (the hue) stays. */
static void test_dark(void)
{
    CU_ASSERT(lightness(palette_dark(PALETTE_WHITE)) < 0.12);
    CU_ASSERT(lightness(palette_dark(PALETTE_INK)) > 0.8);
    CU_ASSERT(lightness(palette_dark(PALETTE_SOFT)) > 0.55);
    CU_ASSERT_EQUAL(palette_dark(0x80ffffff) >> 24, 0x80);
    for (int i = MEANING_NONE + 1; i < MEANING_N; i++) {
        uint32_t was = meaning_colour((enum meaning)i), is = palette_dark(was);
        bool grey =
            (was & 0xff) == (was >> 8 & 0xff) && (was & 0xff) == (was >> 16 & 0xff);
        CU_ASSERT_EQUAL(grey, (is & 0xff) == (is >> 8 & 0xff) &&
                                  (is & 0xff) == (is >> 16 & 0xff));
        for (int a = 0; a <= 16; a += 8)
            for (int b = 0; b < a; b += 8)
                CU_ASSERT((was >> a & 0xff) < (was >> b & 0xff) ||
                          (is >> a & 0xff) >= (is >> b & 0xff));
        CU_ASSERT(grey || lightness(was) > 0.75 || lightness(is) > 0.5);
    }
}

/* A figure's SVG; the caller releases it. */
static void svg_of(struct strbuf *out, const struct chart *c)
{
    struct err err = { 0 };
    struct draw d;

    strbuf_init(out);
    draw_open_on(&d, &draw_svg_methods, NULL, NULL, CHART_WIDTH, CHART_HEIGHT);
    chart_draw(c, &d);
    CU_ASSERT_EQUAL(draw_close_text(&d, out, &err), 0);
}

/* Bars upon each other have their sums above them; what is beyond a capacity is
 * hatched and said. */
static void test_totals(void)
{
    static const char *const names[] = { "a", "b" };
    static const double low[] = { 1e10, 2e10 }, high[] = { 1e10, 3e10 }, limit = 4e10;
    const struct series series[] = {
        { .name = "parameters",
          .kind = SERIES_STACKED_BARS,
          .n = 2,
          .y = low,
          .meaning = MEANING_PARAMETERS },
        { .name = "activations", .kind = SERIES_STACKED_BARS, .n = 2, .y = high },
        { .name = "capacity",
          .kind = SERIES_LIMIT,
          .n = 1,
          .y = &limit,
          .beyond = "does not fit" },
    };
    const struct chart c = { .title = "t",
                             .x = { "stage", AXIS_CATEGORY, .categories = names,
                                    .n_categories = 2 },
                             .y = { "memory", .unit = AXIS_BYTES },
                             .series = series,
                             .n_series = 3 };
    struct strbuf svg;

    svg_of(&svg, &c);
    CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&svg), ">18.6 GiB<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&svg), ">46.6 GiB<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&svg), "#0072b2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&svg), ">does not fit<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&svg), "class=\"hatch\""));
    strbuf_release(&svg);
}

/* Lines are named where they end, apart from each other and from the data; points and
 * bars among them bring the legend back. */
static void test_names(void)
{
    static const double x[] = { 1, 2, 4, 8 },
                        near[3][4] = { { 10, 20, 30, 40 },
                                       { 10, 20, 30, 40.2 },
                                       { 10, 20, 30, 40.4 } },
                        early[] = { 5, 60 }, limit = 50;
    struct series series[] = {
        { .name = "one", .n = 4, .x = x, .y = near[0] },
        { .name = "two", .n = 4, .x = x, .y = near[1] },
        { .name = "three", .n = 4, .x = x, .y = near[2] },
        { .name = "ends early", .n = 2, .x = x, .y = early },
        { .name = "limit", .kind = SERIES_LIMIT, .n = 1, .y = &limit },
    };
    const struct chart c = { .title = "t",
                             .x = { "GPUs", AXIS_LOG2 },
                             .y = { "throughput", .from_zero = true },
                             .series = series,
                             .n_series = 5 };
    struct record r = { 0 };
    struct strbuf svg;
    struct draw d;

    svg_of(&svg, &c);
    CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&svg), "id=\"names\""));
    CU_ASSERT_PTR_NULL(strstr(strbuf_get(&svg), "id=\"legend\""));
    for (size_t i = 0; i < 5; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&svg), series[i].name));
    CU_ASSERT_PTR_NULL(strstr(strbuf_get(&svg), "legend-key"));
    strbuf_release(&svg);
    series[2].colour = series[0].colour = 1; /* but not their dashes */
    svg_of(&svg, &c);
    CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&svg), "legend-key"));
    strbuf_release(&svg);
    open_record(&d, &r, CHART_WIDTH, CHART_HEIGHT);
    chart_draw(&c, &d);
    CU_ASSERT_EQUAL(n_overlaps(&r), 0);
    CU_ASSERT_EQUAL(n_outside(&r, CHART_WIDTH, CHART_HEIGHT), 0);
    record_release(&r);
    series[1].kind = SERIES_POINTS;
    svg_of(&svg, &c);
    CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&svg), "id=\"legend\""));
    strbuf_release(&svg);
}

/* Labels of the ticks of an axis below a figure. */
static void ticks_of(struct strbuf *out, const struct axis *axis, double lo, double hi,
                     double pixels)
{
    struct axis_view v;

    axis_view_init(&v, axis);
    axis_view_include(&v, lo);
    axis_view_include(&v, hi);
    axis_view_fix(&v);
    axis_view_layout(&v, 0, pixels, false, 100);
    for (int64_t i = 0; i < v.ticks.n; i++)
        if (v.ticks.v[i].text)
            strbuf_printf(out, "%s%s", out->len ? " / " : "", v.ticks.v[i].text);
    axis_view_release(&v);
}

#define AXIS(SCALE, UNIT)                          \
    {                                              \
        .label = "a", .scale = SCALE, .unit = UNIT \
    }

static void test_ticks(void)
{
    static const struct {
        struct axis axis;
        double lo, hi, pixels;
        const char *labels;
    } cases[] = {
        { AXIS(AXIS_LINEAR, AXIS_PLAIN), 0, 10, 400, "0 / 2 / 4 / 6 / 8 / 10" },
        { AXIS(AXIS_LINEAR, AXIS_PLAIN), 0, 9200, 400,
          "0 / 2,000 / 4,000 / 6,000 / 8,000 / 10,000" },
        { AXIS(AXIS_LINEAR, AXIS_PLAIN), 0.11, 0.19, 400,
          "0.10 / 0.12 / 0.14 / 0.16 / 0.18 / 0.20" },
        { AXIS(AXIS_LINEAR, AXIS_SECONDS), 0, 0.02, 300, "0 / 5 / 10 / 15 / 20" },
        { AXIS(AXIS_LINEAR, AXIS_FRACTION), 0, 0.5, 400, "0 / 10 / 20 / 30 / 40 / 50" },
        { AXIS(AXIS_LINEAR, AXIS_BYTES), 0, 8589934592.0, 300, "0 / 2 / 4 / 6 / 8" },
        { AXIS(AXIS_LOG2, AXIS_BYTES), 1024, 16777216, 300, "1 KiB / 32 KiB / 1 MiB" },
        { AXIS(AXIS_LOG2, AXIS_PLAIN), 8, 256, 400, "8 / 16 / 32 / 64 / 128 / 256" },
        { AXIS(AXIS_LOG10, AXIS_SECONDS), 1e-6, 1, 300,
          "1 µs / 10 µs / 100 µs / 1 ms / 10 ms / 100 ms / 1 s" },
        { AXIS(AXIS_LOG10, AXIS_BYTES_PER_S), 1e9, 1e11, 300,
          "1 / 2 / 5 / 10 / 20 / 50 / 100" },
        { AXIS(AXIS_LOG2, AXIS_SECONDS), 10, 4000, 300, "10 s / 1 min / 10 min / 1 h" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct strbuf out;
        strbuf_init(&out);
        ticks_of(&out, &cases[i].axis, cases[i].lo, cases[i].hi, cases[i].pixels);
        CU_ASSERT_STRING_EQUAL(strbuf_get(&out), cases[i].labels);
        if (strcmp(strbuf_get(&out), cases[i].labels) != 0)
            fprintf(stderr, "ticks %zu: %s\n", i, strbuf_get(&out));
        strbuf_release(&out);
    }
}

static void test_texts(void)
{
    static const struct {
        const char *in, *clean;
    } cases[] = {
        { "plain", "plain" },
        { "a\nb\tc", "a b c" },
        { "\xc3\xa9", "\xc3\xa9" },
        { "\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd" }, /* an overlong NUL */
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* half a pair */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char *clean = draw_text_clean(cases[i].in);
        CU_ASSERT_STRING_EQUAL(clean, cases[i].clean);
        free(clean);
    }
    CU_ASSERT_DOUBLE_EQUAL(draw_text_width("00", 10, false), 11.12, 1e-9);
    for (double w = 0; w < 200; w += 3) {
        char *fit = draw_text_fit("a text that is to be cut \xc3\xa9\xc3\xa9\xc3\xa9",
                                  12, w > 100, w);
        CU_ASSERT(draw_text_width(fit, 12, w > 100) <= w);
        free(fit);
    }
}

static bool beaten(const double *x, const double *y, size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (x[k] <= x[i] && y[k] <= y[i] && (x[k] < x[i] || y[k] < y[i]))
            return true;
    return false;
}

static void test_front(void)
{
    uint32_t seed = 5;
    double x[60], y[60], fx[60], fy[60];

    for (int pass = 0; pass < 50; pass++) {
        size_t want = 0, n;
        for (size_t i = 0; i < 60; i++) {
            x[i] = uniform(&seed);
            y[i] = uniform(&seed);
        }
        for (size_t i = 0; i < 60; i++)
            want += !beaten(x, y, 60, i);
        n = chart_front(60, x, y, false, false, fx, fy);
        CU_ASSERT_EQUAL(n, want);
        for (size_t i = 1; i < n; i++)
            CU_ASSERT(fx[i] > fx[i - 1] && fy[i] < fy[i - 1]);
    }
    CU_ASSERT_EQUAL(chart_front(3, (double[]) { 1, 2, 3 }, (double[]) { 1, 3, 2 }, true,
                                true, fx, fy),
                    2);
    CU_ASSERT(fx[0] < fx[1] && fy[0] > fy[1]);
}

void test_draw_register(void)
{
    CU_pSuite suite = CU_add_suite("draw", NULL, NULL);

    CU_add_test(suite, "colours on a dark ground", test_dark);
    CU_add_test(suite, "time with a break", test_broken_time);
    CU_add_test(suite, "names of lines at their ends", test_names);
    CU_add_test(suite, "texts", test_texts);
    CU_add_test(suite, "ticks", test_ticks);
    CU_add_test(suite, "generated charts", test_generated_charts);
    CU_add_test(suite, "heatmaps", test_heatmaps);
    CU_add_test(suite, "timelines", test_timelines);
    CU_add_test(suite, "a timeline of many boxes", test_dense_timeline);
    CU_add_test(suite, "breakdowns", test_breakdowns);
    CU_add_test(suite, "figures that grow", test_growing);
    CU_add_test(suite, "figures that appear nowhere", test_nowhere);
    CU_add_test(suite, "ink on boxes", test_ink);
    CU_add_test(suite, "whiskers", test_whiskers);
    CU_add_test(suite, "meanings", test_meanings);
    CU_add_test(suite, "colours without green or red cones", test_colour_blind);
    CU_add_test(suite, "totals and limits", test_totals);
    CU_add_test(suite, "front", test_front);
}
