#include "draw_bench.h"

#include "base/file.h"
#include "draw/palette.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The four corners of the box that a text fills (ascent 0.76, descent 0.22 of its
 * size), from its baseline on. */
static void text_corners(struct draw_point at, const char *s,
                         const struct draw_text *style, struct draw_point corners[4])
{
    static const double start[] = {
        [DRAW_START] = 0, [DRAW_MIDDLE] = -0.5, [DRAW_END] = -1
    };
    double size = style->size, w = draw_text_width(s, size, style->bold);
    double u0 = start[style->anchor] * w, a = style->rotate * (acos(-1.0) / 180);
    double u[4] = { u0, u0 + w, u0 + w, u0 };
    double v[4] = { -0.76 * size, -0.76 * size, 0.22 * size, 0.22 * size };

    for (int i = 0; i < 4; i++) {
        corners[i].x = at.x + u[i] * cos(a) - v[i] * sin(a);
        corners[i].y = at.y + u[i] * sin(a) + v[i] * cos(a);
    }
}

static void rec_text(struct draw *d, struct draw_point at, const char *s,
                     const struct draw_text *style)
{
    struct record *r = d->back;
    struct text_at *t = VEC_ADD(&r->texts);

    *t = (struct text_at) { .legend = has_class(style->cls, "legend-label") };
    snprintf(t->text, sizeof(t->text), "%s", s);
    text_corners(at, s, style, t->corner);
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

void record_release(struct record *r)
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

int n_overlaps(const struct record *r)
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

int n_outside(const struct record *r, double width, double height)
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

void check_record(struct record *r, double width, double height)
{
    CU_ASSERT_EQUAL(n_overlaps(r), 0);
    CU_ASSERT_EQUAL(n_outside(r, width, height), 0);
    CU_ASSERT_EQUAL(n_misplaced(r), 0);
    CU_ASSERT(r->texts.n > 0);
    record_release(r);
}

void open_record(struct draw *d, struct record *r, double width, double height)
{
    *r = (struct record) { 0 };
    draw_open_on(d, &recorder, r, NULL, width, height);
}

void figure_path(char path[FIGURE_PATH_MAX])
{
    strcpy(path, "/tmp/smsim-figure-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
    strcat(path, "/figure.svg");
}

char *figure_text(char path[FIGURE_PATH_MAX])
{
    struct err err = { 0 };
    size_t length;
    char *text = file_read(path, 1 << 26, &length, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    remove(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    return text;
}
