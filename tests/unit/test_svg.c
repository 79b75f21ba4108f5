/* Figures as files: ids that pages and tests find in the SVG, the same bytes twice,
 * names of files; the figures of clusters and collectives. */
#include "base/late.h"
#include "base/vec.h"
#include "base/xmalloc.h"
#include "config/datadir.h"
#include "draw/chart.h"
#include "report/figure/collective.h"
#include "report/figure/meaning.h"
#include "report/figure/topology.h"
#include "report/figure/topology_links.h"

#include "draw_bench.h"

#include <CUnit/CUnit.h>
#include <expat.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_svg_register(void);

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
        CU_ASSERT_EQUAL(chart_write(&c, &(struct draw_to) { .path = bad[i] }, &err),
                        -1);
        CU_ASSERT(strstr(err.text, ".svg, .png or .pdf") != NULL);
        CU_ASSERT(access(bad[i], F_OK) != 0);
    }
    for (int pass = 0; pass < 2; pass++) {
        struct err err = { 0 };
        const struct draw_to to = { .path = pass ? "/nonexistent-smsim/a.png"
                                                 : "/nonexistent-smsim/a.svg" };
        CU_ASSERT_EQUAL(chart_write(&c, &to, &err), -1);
        CU_ASSERT(err.set);
    }
}

/* Sizes by name or in pixels: what is laid out, and how large it is on paper. */
static void test_sizes(void)
{
    static const struct {
        const char *text;
        double width, height, scale; /* of the layout; width 0: refused */
    } cases[] = {
        { "column", 360, 396, 28.0 / 30 },
        { "slide", 800, 450, 1.6 },
        { "900x300", 900, 300, 1 },
        { "160x8000", 160, 8000, 1 },
        { "159x300", 0, 0, 0 },
        { "900x8001", 0, 0, 0 },
        { "900", 0, 0, 0 },
        { "900x", 0, 0, 0 },
        { "900x300px", 0, 0, 0 },
        { "nanx300", 0, 0, 0 },
        { "infx300", 0, 0, 0 },
        { "", 0, 0, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct err err = { 0 };
        char path[FIGURE_PATH_MAX], *text, want[64];
        struct draw_to to = { .path = path };
        struct draw d;
        int rc = draw_size_parse(cases[i].text, &to.look, &err);
        CU_ASSERT_EQUAL(rc, cases[i].width > 0 ? 0 : -1);
        if (rc) {
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "column, slide"));
            continue;
        }
        figure_path(path);
        CU_ASSERT_EQUAL_FATAL(draw_open(&d, &to, 720, 450, &err), 0);
        CU_ASSERT_DOUBLE_EQUAL(d.width, cases[i].width, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(d.height, cases[i].height, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(d.scale, cases[i].scale, 1e-9);
        CU_ASSERT_EQUAL(draw_close(&d, &err), 0);
        text = figure_text(path);
        snprintf(want, sizeof(want), " width=\"%g\"", cases[i].width * cases[i].scale);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, want));
        free(text);
    }
}

static void topology_text(struct strbuf *svg, const struct cluster *c)
{
    struct err err = { 0 };
    double width, height;
    struct draw d;

    strbuf_init(svg);
    figure_topology_size(c, false, &width, &height);
    draw_open_on(&d, &draw_svg_methods, NULL, NULL, width, height);
    figure_topology_draw(c, false, &d);
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
    for (int compact = 0; compact < 2; compact++) {
        figure_topology_size(&c, compact, &width, &height);
        open_record(&d, &r, width, height);
        figure_topology_draw(&c, compact, &d);
        CU_ASSERT_EQUAL(n_overlaps(&r), 0);
        CU_ASSERT_EQUAL(n_outside(&r, width, height), 0);
        record_release(&r);
    }
    cfg_loader_release(&loader);
}

/* Widths are of bandwidths alone, in one order for all kinds of links. */
static void test_widths(void)
{
    const double rates_Bps[] = { 3e9, 15.8e9, 25e9, 50e9, 63e9, 225e9, 450e9, 900e9 };
    for (size_t i = 1; i < sizeof(rates_Bps) / sizeof(*rates_Bps); i++)
        CU_ASSERT(figure_topology_width(rates_Bps[i]) >
                  figure_topology_width(rates_Bps[i - 1]));
}

static bool topology_has(const char *spec, const char *text)
{
    struct cfg_loader loader;
    struct strbuf svg;
    struct cluster c;
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(cluster_parse(&c, &loader, spec), 0);
    topology_text(&svg, &c);
    bool has = strstr(strbuf_get(&svg), text) != NULL;
    strbuf_release(&svg);
    cfg_loader_release(&loader);
    return has;
}

/* What people count in it: cards, ports, and rates that no file gives. */
/* An instance of eight GPUs is as wide as a column of a paper, where text has 7 pt. */
static void check_column(const char *spec)
{
    struct cfg_loader loader;
    struct cluster c;
    double width, height;

    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(cluster_parse(&c, &loader, spec), 0);
    figure_topology_size(&c, true, &width, &height);
    CU_ASSERT_DOUBLE_EQUAL(width, 360, 1e-9);
    cfg_loader_release(&loader);
}

static void test_topology_words(void)
{
    check_column("p5.48xlarge:64");
    check_column("p3.16xlarge");
    CU_ASSERT(topology_has("p5.48xlarge:64", ">64 x p5.48xlarge: 512 GPUs<"));
    CU_ASSERT(
        topology_has("p5.48xlarge:64", "as specified: H100-SXM5-80GB, nvswitch-h100"));
    CU_ASSERT(topology_has("p5.48xlarge:2", "32 x 100 Gb/s = 3200 Gb/s an instance"));
    CU_ASSERT(topology_has("p5.48xlarge:2", "4 x 100 Gb/s"));
    CU_ASSERT(topology_has("p5.48xlarge:2", "450 GB/s inside, 50 GB/s to other"));
    CU_ASSERT(topology_has("p3.16xlarge:1", "rate not known (20.8 GB/s assumed)"));
    CU_ASSERT_FALSE(topology_has("g7e.48xlarge:1", "rate not known"));
    CU_ASSERT(topology_has("dgx-b300:64", "leaves of 32 instances, a switch for each"));
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

static void test_collective(void)
{
    static const double size_B[] = { 1024, 1048576, 1073741824 },
                        bw[] = { 1e6, 1e9, 8e10 };
    const struct collective_curve curves[] = { { "ring", 3, size_B, bw, false },
                                               { "ring", 3, size_B, bw, true } };
    struct record r;
    struct draw d;

    open_record(&d, &r, CHART_WIDTH, CHART_HEIGHT);
    figure_collective_draw(
        &(struct figure_collective) {
            .title = "t", .curves = curves, .n_curves = 2, .limit_Bps = 9e10 },
        &d);
    check_record(&r, CHART_WIDTH, CHART_HEIGHT);
}

/* Times are a panel of their own below, whose ids are its own; both are drawn on the
 * page. */
static void test_panels(void)
{
    static const double size_B[] = { 1024, 1048576, 1073741824 },
                        bw[] = { 1e6, 1e9, 8e10 };
    static const char *const want[] = { "title",     "plot",          "series-1",
                                        "time-plot", "time-series-1", NULL };
    const struct collective_curve curves[] = { { "simulated", 3, size_B, bw, false },
                                               { "source", 3, size_B, bw, true } };
    const struct figure_collective f = {
        .title = "t", .curves = curves, .n_curves = 2, .bus_factor = 1.75
    };
    struct err err = { 0 };
    struct strbuf svg;
    struct record r;
    struct draw d;

    open_record(&d, &r, CHART_WIDTH, 640);
    figure_collective_draw(&f, &d);
    CU_ASSERT_EQUAL(n_overlaps(&r), 0);
    CU_ASSERT_EQUAL(n_outside(&r, CHART_WIDTH, 640), 0);
    record_release(&r);
    strbuf_init(&svg);
    draw_open_on(&d, &draw_svg_methods, NULL, NULL, CHART_WIDTH, 640);
    figure_collective_draw(&f, &d);
    CU_ASSERT_EQUAL(draw_close_text(&d, &svg, &err), 0);
    check_svg(&svg, want);
    strbuf_release(&svg);
}

/* A result's path decides its colour; what is no part of a step, of memory or of a job has
 * none. */
static void test_meanings(void)
{
    static const struct {
        const char *path;
        enum meaning meaning;
    } cases[] = {
        { "/breakdown_s/compute", MEANING_COMPUTE },
        { "/breakdown_s/data_comm_hidden", MEANING_GRADIENT_COMM },
        { "/breakdown_s/other", MEANING_OTHER },
        { "/breakdown_s/computer", MEANING_NONE },
        { "/breakdown_s", MEANING_NONE },
        { "/memory/parameters_bytes", MEANING_PARAMETERS },
        { "/memory/workspace_bytes", MEANING_WORKSPACE },
        { "/memory/parameters", MEANING_NONE },
        { "/memory/peak_bytes", MEANING_NONE },
        { "/job/phases/0/time_s", MEANING_PROVISIONING },
        { "/job/phases/8/time_s", MEANING_KEEP_ALIVE },
        { "/job/phases/9/time_s", MEANING_NONE },
        { "/job/phases/-1/time_s", MEANING_NONE },
        { "/job/phases//time_s", MEANING_NONE },
        { "/job/phases/4/usd", MEANING_NONE },
        { "step_time_s", MEANING_NONE },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CU_ASSERT_EQUAL(figure_meaning_of(cases[i].path), cases[i].meaning);
}

/* A library that is loaded when it is needed: there, not there, without a function. */
static void test_late(void)
{
    static const struct {
        const char *library, *function, *why; /* NULL: all is well */
    } cases[] = {
        { "libm.so.6", "cos", NULL },
        { "libm.so.6", "no_such_function", "no_such_function" },
        { "libnone.so.7", "cos", "libnone.so.7" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        late_address at = NULL;
        const struct late_function f = { cases[i].function, &at, NULL };
        struct late_library library = { .name = cases[i].library,
                                        .functions = &f,
                                        .n = 1,
                                        .lock = PTHREAD_MUTEX_INITIALIZER };
        const char *why = late_load(&library);
        CU_ASSERT_EQUAL(why == NULL, cases[i].why == NULL);
        CU_ASSERT_EQUAL(late_load(&library), why);
        CU_ASSERT(why ? strstr(why, cases[i].why) != NULL
                      : ((double (*)(double))at)(0) == 1);
        free(library.missing);
    }
}

void test_svg_register(void)
{
    CU_pSuite suite = CU_add_suite("svg", NULL, NULL);

    CU_add_test(suite, "sizes", test_sizes);
    CU_add_test(suite, "ids", test_svg);
    CU_add_test(suite, "the same twice", test_twice);
    CU_add_test(suite, "names of files", test_names_of_files);
    CU_add_test(suite, "topology", test_topology);
    CU_add_test(suite, "words of topologies", test_topology_words);
    CU_add_test(suite, "widths of links", test_widths);
    CU_add_test(suite, "meanings of results", test_meanings);
    CU_add_test(suite, "collective", test_collective);
    CU_add_test(suite, "panels", test_panels);
    CU_add_test(suite, "libraries that are loaded late", test_late);
}
