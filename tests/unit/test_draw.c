/* Figures are tested by their layout and their SVG, not by pixels: a back end of our own
 * records where every text and marker is, and what holds for any figure is checked on
 * generated ones, small and large. */
#include "config/datadir.h"
#include "report/breakdown.h"
#include "report/chart.h"
#include "report/figure_collective.h"
#include "report/figure_topology.h"
#include "report/heatmap.h"
#include "report/palette.h"
#include "report/roofline.h"
#include "report/timeline.h"

#include <CUnit/CUnit.h>
#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_draw_register(void);

struct text_at {
    struct draw_point corner[4];
    bool legend;
    char text[48];
};

struct record {
    VEC(struct text_at) texts;
    VEC(struct draw_point) markers;
    struct draw_box plot;
    double area[2]; /* of boxes in the first colours */
};

static bool has_class(const char *cls, const char *want)
{
    return cls && strcmp(cls, want) == 0;
}

static void rec_begin(struct draw *d)
{
    (void)d;
}

static void rec_rect(struct draw *d, struct draw_box box,
                     const struct draw_style *style)
{
    struct record *r = d->back;

    if (style->id && strcmp(style->id, "plot") == 0)
        r->plot = box;
    for (size_t k = 0; k < 2 && has_class(style->cls, "box"); k++)
        if (style->fill == palette_at(k))
            r->area[k] += box.w * box.h;
}

static void rec_circle(struct draw *d, struct draw_point at, double radius,
                       const struct draw_style *style)
{
    struct record *r = d->back;

    (void)radius;
    if (has_class(style->cls, "marker"))
        VEC_PUSH(&r->markers, at);
}

/* Markers of a shape count by the middle of their corners. */
static void rec_path(struct draw *d, const struct draw_point *p, size_t n, bool closed,
                     const struct draw_style *style)
{
    struct record *r = d->back;
    struct draw_point middle = { 0 };

    (void)closed;
    for (size_t i = 0; i < n; i++) {
        middle.x += p[i].x / (double)n;
        middle.y += p[i].y / (double)n;
    }
    if (has_class(style->cls, "marker"))
        VEC_PUSH(&r->markers, middle);
}

static void rec_curve(struct draw *d, const struct draw_point p[4],
                      const struct draw_style *style)
{
    (void)d, (void)p, (void)style;
}

static void rec_text(struct draw *d, struct draw_point at, const char *s,
                     const struct draw_text *style)
{
    struct record *r = d->back;
    struct text_at *t = VEC_ADD(&r->texts);

    *t = (struct text_at) { .legend = has_class(style->cls, "legend-label") };
    snprintf(t->text, sizeof(t->text), "%s", s);
    draw_text_corners(at.x, at.y, s, style, t->corner);
}

static void rec_group(struct draw *d, const char *id, const char *cls,
                      const struct draw_box *clip)
{
    (void)d, (void)id, (void)cls, (void)clip;
}

static int rec_finish(struct draw *d, struct strbuf *out, struct err *err)
{
    (void)d, (void)out, (void)err;
    return 0;
}

static const struct draw_methods recorder = {
    .ending = ".rec",
    .begin = rec_begin,
    .rect = rec_rect,
    .circle = rec_circle,
    .path = rec_path,
    .curve = rec_curve,
    .text = rec_text,
    .group = rec_group,
    .group_end = rec_begin,
    .finish = rec_finish,
    .release = rec_begin,
};

static void record_release(struct record *r)
{
    VEC_RELEASE(&r->texts);
    VEC_RELEASE(&r->markers);
}

/* Whether a line along an edge of a parts the two rectangles. */
static bool parted(const struct draw_point *a, const struct draw_point *b)
{
    for (int e = 0; e < 2; e++) {
        double nx = a[e + 1].x - a[e].x, ny = a[e + 1].y - a[e].y, len = hypot(nx, ny);
        double lo[2] = { INFINITY, INFINITY }, hi[2] = { -INFINITY, -INFINITY };
        for (int i = 0; i < 4; i++) {
            double v[2] = { (a[i].x * nx + a[i].y * ny) / len,
                            (b[i].x * nx + b[i].y * ny) / len };
            for (int k = 0; k < 2; k++) {
                lo[k] = fmin(lo[k], v[k]);
                hi[k] = fmax(hi[k], v[k]);
            }
        }
        if (hi[0] <= lo[1] + 0.01 || hi[1] <= lo[0] + 0.01)
            return true;
    }
    return false;
}

static int n_overlaps(const struct record *r)
{
    int n = 0;

    for (int64_t i = 0; i < r->texts.n; i++)
        for (int64_t j = 0; j < i; j++) {
            const struct text_at *a = &r->texts.v[i], *b = &r->texts.v[j];
            if (parted(a->corner, b->corner) || parted(b->corner, a->corner))
                continue;
            fprintf(stderr, "\"%s\" overlaps \"%s\"\n", a->text, b->text);
            n++;
        }
    return n;
}

static int n_outside(const struct record *r, double width, double height)
{
    int n = 0;

    for (int64_t i = 0; i < r->texts.n; i++)
        for (int k = 0; k < 4; k++) {
            struct draw_point p = r->texts.v[i].corner[k];
            if (p.x >= 0 && p.y >= 0 && p.x <= width && p.y <= height)
                continue;
            fprintf(stderr, "\"%s\" leaves the canvas at %g, %g\n", r->texts.v[i].text,
                    p.x, p.y);
            n++;
            break;
        }
    return n;
}

static int n_misplaced(const struct record *r)
{
    struct draw_box p = r->plot;
    const struct draw_point frame[4] = {
        { p.x, p.y }, { p.x + p.w, p.y }, { p.x + p.w, p.y + p.h }, { p.x, p.y + p.h }
    };
    int n = 0;

    for (int64_t i = 0; i < r->texts.n; i++)
        n += r->texts.v[i].legend && !parted(frame, r->texts.v[i].corner);
    for (int64_t i = 0; i < r->markers.n; i++) {
        struct draw_point m = r->markers.v[i];
        n += m.x < p.x - 1 || m.x > p.x + p.w + 1 || m.y < p.y - 1 ||
             m.y > p.y + p.h + 1;
    }
    return n;
}

static void check_record(struct record *r, double width, double height)
{
    CU_ASSERT_EQUAL(n_overlaps(r), 0);
    CU_ASSERT_EQUAL(n_outside(r, width, height), 0);
    CU_ASSERT_EQUAL(n_misplaced(r), 0);
    CU_ASSERT(r->texts.n > 0);
    record_release(r);
}

static void open_record(struct draw *d, struct record *r, double width, double height)
{
    *r = (struct record) { 0 };
    draw_open_on(d, &recorder, r, NULL, width, height);
}

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
        double width = seed % 3 ? CHART_WIDTH : 480,
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
    struct generated *g = xcalloc(1, sizeof(*g));
    static const size_t shapes[][2] = {
        { 1, 1 }, { 2, 3 }, { 6, 4 }, { 40, 50 }, { 200, 10 }
    };

    for (size_t k = 0; k < 5; k++) {
        struct record r;
        struct draw d;
        generate(g, 6 + (uint32_t)k);
        for (size_t i = 0; i < POINTS_MAX; i++) {
            g->y[i] = i == 3 ? (double)NAN : 1e-3 * (double)(i % 97 + 1);
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
                                .nothing = "does not fit" },
            &d);
        check_record(&r, CHART_WIDTH, CHART_HEIGHT);
    }
    free(g);
}

/* A lane of more boxes than pixels shows what part of the time each kind takes. */
static void test_dense_timeline(void)
{
    enum { BOXES = 9000 };
    static const char *const lanes[] = { "stage 0" }, *const kinds[] = { "a", "b" };
    struct timeline_box *boxes = xcalloc(BOXES, sizeof(*boxes));
    struct record r;
    struct draw d;
    for (int i = 0; i < BOXES; i++) /* a, b, nothing */
        boxes[i] = (struct timeline_box) { 0, (size_t)i % 2, i / 2 + i % 2 * 0.5,
                                           i / 2 + i % 2 * 0.25 + 0.5, NULL };
    open_record(&d, &r, CHART_WIDTH, 300);
    timeline_draw(&(struct timeline) { .title = "t",
                                       .lanes = lanes,
                                       .n_lanes = 1,
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
        size_t lanes = (size_t)sizes[k], n = 0;
        struct record r;
        struct draw d;
        generate(g, 3);
        for (size_t i = 0; i < POINTS_MAX; i++) {
            snprintf(g->text[i], TEXT_MAX, "stage %zu", i);
            g->names[i] = g->text[i];
        }
        for (; n < lanes * 20; n++)
            boxes[n] = (struct timeline_box) { n % lanes, n % 3, (double)(n / lanes),
                                               (double)(n / lanes) + 0.9,
                                               g->names[n % lanes] };
        open_record(&d, &r, CHART_WIDTH, 600);
        timeline_draw(&(struct timeline) { .title = "t",
                                           .lanes = g->names,
                                           .n_lanes = lanes,
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
          "1 us / 10 us / 100 us / 1 ms / 10 ms / 100 ms / 1 s" },
        { AXIS(AXIS_LOG10, AXIS_BYTES_PER_S), 1e9, 1e11, 300,
          "1 / 2 / 5 / 10 / 20 / 50 / 100" },
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

/* Every id once, and each of `want` there. */
struct ids {
    VEC(char *) v;
    int doubled;
};

static void XMLCALL on_element(void *data, const XML_Char *name, const XML_Char **attr)
{
    struct ids *ids = data;

    (void)name;
    for (; *attr; attr += 2) {
        if (strcmp(attr[0], "id") != 0)
            continue;
        for (int64_t i = 0; i < ids->v.n; i++)
            ids->doubled += strcmp(ids->v.v[i], attr[1]) == 0;
        VEC_PUSH(&ids->v, xstrdup(attr[1]));
    }
}

static void check_svg(const struct strbuf *svg, const char *const *want)
{
    XML_Parser parser = XML_ParserCreate(NULL);
    struct ids ids = { 0 };

    XML_SetUserData(parser, &ids);
    XML_SetStartElementHandler(parser, on_element);
    CU_ASSERT_EQUAL(XML_Parse(parser, strbuf_get(svg), (int)svg->len, 1),
                    XML_STATUS_OK);
    CU_ASSERT_EQUAL(ids.doubled, 0);
    for (; *want; want++) {
        int found = 0;
        for (int64_t i = 0; i < ids.v.n; i++)
            found += strcmp(ids.v.v[i], *want) == 0;
        CU_ASSERT_EQUAL(found, 1);
        if (!found)
            fprintf(stderr, "no id %s\n", *want);
    }
    for (int64_t i = 0; i < ids.v.n; i++)
        free(ids.v.v[i]);
    VEC_RELEASE(&ids.v);
    XML_ParserFree(parser);
}

static void chart_text(struct strbuf *out, const struct chart *c,
                       const struct draw_methods *methods, const char *prefix)
{
    struct err err = { 0 };
    struct draw d;

    strbuf_init(out);
    draw_open_on(&d, methods, NULL, prefix, CHART_WIDTH, CHART_HEIGHT);
    chart_draw(c, &d);
    CU_ASSERT_EQUAL(draw_close_text(&d, out, &err), 0);
}

static const double xs[] = { 1, 2, 4 }, ys[] = { 3, 5, 9 };

static struct chart small_chart(struct series series[2])
{
    series[0] =
        (struct series) { .name = "<a> & \"b\" \x01\xff", .n = 3, .x = xs, .y = ys };
    series[1] = (struct series) {
        .name = "c", .kind = SERIES_POINTS, .n = 3, .x = ys, .y = xs
    };
    return (struct chart) {
        .title = "]]> <&", .x = { "x" }, .y = { "y" }, .series = series, .n_series = 2
    };
}

static void test_svg(void)
{
    static const char *const want[] = { "title",    "plot",     "x-axis", "y-axis",
                                        "series-0", "series-1", "legend", NULL };
    static const char *const prefixed[] = { "f1-title", "f1-plot", "f1-series-1",
                                            NULL };
    struct series series[2];
    struct chart c = small_chart(series);
    struct strbuf svg;

    chart_text(&svg, &c, &draw_svg_methods, NULL);
    check_svg(&svg, want);
    strbuf_release(&svg);
    chart_text(&svg, &c, &draw_svg_methods, "f1-");
    check_svg(&svg, prefixed);
    strbuf_release(&svg);
}

static void test_twice(void)
{
    static const struct draw_methods *const all[] = { &draw_svg_methods,
                                                      &draw_png_methods,
                                                      &draw_pdf_methods };
    static const char *const starts[] = { "<svg", "\x89PNG", "%PDF" };
    struct series series[2];
    struct chart c = small_chart(series);

    for (size_t i = 0; i < 3; i++) {
        struct strbuf a, b;
        chart_text(&a, &c, all[i], NULL);
        chart_text(&b, &c, all[i], NULL);
        CU_ASSERT_EQUAL(a.len, b.len);
        CU_ASSERT(a.len == b.len && memcmp(a.s, b.s, a.len) == 0);
        CU_ASSERT(a.len > 4 && memcmp(a.s, starts[i], 4) == 0);
        strbuf_release(&a);
        strbuf_release(&b);
    }
}

static void test_names_of_files(void)
{
    static const char *const bad[] = { "a.gif", "svg", ".svg", "a.svg.gz", "" };
    struct series series[2];
    struct chart c = small_chart(series);

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct err err = { 0 };
        CU_ASSERT_EQUAL(chart_write(&c, bad[i], &err), -1);
        CU_ASSERT(strstr(err.text, ".svg, .png or .pdf") != NULL);
        CU_ASSERT(access(bad[i], F_OK) != 0);
    }
    for (int pass = 0; pass < 2; pass++) {
        struct err err = { 0 };
        const char *path =
            pass ? "/nonexistent-smsim/a.png" : "/nonexistent-smsim/a.svg";
        CU_ASSERT_EQUAL(chart_write(&c, path, &err), -1);
        CU_ASSERT(err.set);
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

static void topology_text(struct strbuf *svg, const struct cluster *c)
{
    struct err err = { 0 };
    double width, height;
    struct draw d;

    strbuf_init(svg);
    figure_topology_size(c, &width, &height);
    draw_open_on(&d, &draw_svg_methods, NULL, NULL, width, height);
    figure_topology_draw(c, &d);
    CU_ASSERT_EQUAL(draw_close_text(&d, svg, &err), 0);
}

static void check_topology(const char *spec, const char *const *want)
{
    struct cfg_loader loader;
    struct strbuf svg;
    struct cluster c;
    double width, height;
    struct record r;
    struct draw d;

    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(cluster_parse(&c, &loader, spec), 0);
    topology_text(&svg, &c);
    check_svg(&svg, want);
    strbuf_release(&svg);
    figure_topology_size(&c, &width, &height);
    open_record(&d, &r, width, height);
    figure_topology_draw(&c, &d);
    CU_ASSERT_EQUAL(n_overlaps(&r), 0);
    CU_ASSERT_EQUAL(n_outside(&r, width, height), 0);
    record_release(&r);
    cfg_loader_release(&loader);
}

static void test_topology(void)
{
    static const char *const none[] = { NULL };
    static const char *const mesh[] = { "i0",
                                        "i0-gpu0",
                                        "i0-gpu7",
                                        "i0-nic0",
                                        "i0-pcie3",
                                        "i0-numa1",
                                        "i0-root0",
                                        "i0-link-gpu0-gpu3",
                                        "i0-link-gpu3-gpu7",
                                        "i0-link-gpu0-pcie0",
                                        "i0-link-nic0-root0",
                                        "i0-link-nic0-network",
                                        "i0-link-numa0-numa1",
                                        "network",
                                        NULL };
    static const char *const crossbar[] = { "i0-nvswitch", "i0-link-gpu7-nvswitch",
                                            "i0-nic3", "i0-link-nic3-pcie3", NULL };
    static const char *const two[] = { "i0", "i1", "i1-gpu0", "i1-link-nic0-network",
                                       NULL };
    struct arena arena;
    const char **names;

    check_topology("p3.16xlarge:2", mesh);
    check_topology("p4d.24xlarge:64", crossbar);
    check_topology("p3.2xlarge:2", two);
    arena_init(&arena);
    names = datadir_list(&arena, "topologies/instances");
    CU_ASSERT(names && names[0]);
    for (; names && *names; names++)
        check_topology(*names, none);
    arena_release(&arena);
}

static void test_collective_and_roofline(void)
{
    static const double size_B[] = { 1024, 1048576, 1073741824 },
                        bw[] = { 1e6, 1e9, 8e10 };
    const struct collective_curve curves[] = { { "ring", 3, size_B, bw, false },
                                               { "ring", 3, size_B, bw, true } };
    const struct roofline_roof roofs[] = { { "BF16", 312e12 }, { "FP32", 19.5e12 } };
    static const double intensity[] = { 0.3, 60, 800 },
                        reached[] = { 4e11, 6e13, 2.5e14 };
    static const char *const names[] = { "norm", "scores", "mlp" };
    struct record r;
    struct draw d;

    open_record(&d, &r, CHART_WIDTH, CHART_HEIGHT);
    figure_collective_draw(
        &(struct figure_collective) {
            .title = "t", .curves = curves, .n_curves = 2, .limit_Bps = 9e10 },
        &d);
    check_record(&r, CHART_WIDTH, CHART_HEIGHT);
    open_record(&d, &r, CHART_WIDTH, CHART_HEIGHT);
    roofline_draw(&(struct roofline) { .title = "t",
                                       .roofs = roofs,
                                       .n_roofs = 2,
                                       .memory_name = "HBM",
                                       .memory_Bps = 1.555e12,
                                       .n = 3,
                                       .flop_per_B = intensity,
                                       .flops = reached,
                                       .names = names },
                  &d);
    check_record(&r, CHART_WIDTH, CHART_HEIGHT);
}

void test_draw_register(void)
{
    CU_pSuite suite = CU_add_suite("draw", NULL, NULL);

    CU_add_test(suite, "texts", test_texts);
    CU_add_test(suite, "ticks", test_ticks);
    CU_add_test(suite, "generated charts", test_generated_charts);
    CU_add_test(suite, "heatmaps", test_heatmaps);
    CU_add_test(suite, "timelines", test_timelines);
    CU_add_test(suite, "a timeline of many boxes", test_dense_timeline);
    CU_add_test(suite, "breakdowns", test_breakdowns);
    CU_add_test(suite, "collective and roofline", test_collective_and_roofline);
    CU_add_test(suite, "svg", test_svg);
    CU_add_test(suite, "the same twice", test_twice);
    CU_add_test(suite, "names of files", test_names_of_files);
    CU_add_test(suite, "front", test_front);
    CU_add_test(suite, "topology", test_topology);
}
