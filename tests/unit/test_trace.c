/* Traces and figures of a step: whatever the job, a trace is JSON whose threads are in
 * order and whose arrows are paired; figures have the tracks they should. */
#include "base/file.h"
#include "base/xmalloc.h"
#include "page/step.h"
#include "report/figure/schedules.h"
#include "report/figure/step.h"
#include "simulate/simulate.h"
#include "trace/trace.h"

#include "draw_bench.h"
#include "scenario_bench.h"
#include "trace_rules.h"

#include <CUnit/CUnit.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_trace_register(void);

struct job {
    struct cfg_loader loader;
    struct scenario s;
    struct simulate_result r;
    struct simulate_options options;
};

static void load(struct job *j, const char *changes)
{
    *j = (struct job) { .options.network = FIDELITY_FLOW };
    bench_scenario(&j->loader, &j->s, bench_gpt2, "", changes);
}

static void run(struct job *j, const struct observer *observer)
{
    struct err err = { 0 };
    j->options.observer = observer;
    CU_ASSERT_EQUAL_FATAL(simulate(&j->r, &j->loader.arena, &j->s, &j->options, &err),
                          0);
}

/* The bytes of the job's trace in a file of that ending; the caller frees them. */
static char *trace_as(struct job *j, int64_t n_ranks, const char *ending, size_t *len)
{
    char path[] = "/tmp/smsim-trace-XXXXXX", *name;
    int fd = mkstemp(path);
    struct err err = { 0 };
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    name = xasprintf("%s%s", path, ending);
    struct trace *t = trace_new(name, n_ranks, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    run(j, trace_observer(t));
    CU_ASSERT_EQUAL_FATAL(trace_close(t, &err), 0);
    char *text = file_read(name, 1 << 28, len, &err);
    unlink(name);
    unlink(path);
    free(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    return text;
}

static char *trace_of(struct job *j, int64_t n_ranks)
{
    size_t len;
    return trace_as(j, n_ranks, ".json", &len);
}

static const struct {
    const char *changes;
    int64_t messages, processes;
    bool gradients, repeats, detail, unfold;
} jobs[] = {
    { "/training/microbatches=1", 0, .processes = 1, .gradients = true },
    { "/training/gradient_accumulation_steps=9", 0, .processes = 1, .gradients = true,
      .repeats = true },
    { "/parallelism/library=\"horovod\"", 0, .processes = 1 },
    { "/training/microbatches=8 /parallelism/pipeline=4", 2 * 3 * 8, .processes = 4,
      .gradients = true },
    { "/training/microbatches=8 /parallelism/pipeline=4", 2 * 3 * 8, .processes = 4,
      .gradients = true, .detail = true },
    { "/training/microbatches=4 /parallelism/pipeline=2", 8 * 2 * 4, .processes = 16,
      .gradients = true, .unfold = true },
    { "/training/microbatches=8 /parallelism/pipeline=4 /parallelism/virtual_stages=2 "
      "/parallelism/schedule=\"interleaved\"",
      2 * 7 * 8, .processes = 4, .gradients = true },
};

static void test_traces(void)
{
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        struct job j;
        load(&j, jobs[i].changes);
        j.options.detail = jobs[i].detail;
        j.options.unfold = jobs[i].unfold;
        char *text = trace_of(&j, 64), *again = trace_of(&j, 64);
        CU_ASSERT_STRING_EQUAL(text, again);
        struct trace_seen x = trace_rules(text);
        CU_ASSERT(x.slices > 0 && x.counters > 0 && x.nested > 0);
        CU_ASSERT_EQUAL(x.messages, jobs[i].messages);
        CU_ASSERT_EQUAL(x.processes, jobs[i].processes);
        CU_ASSERT_EQUAL(x.gradients > 0, jobs[i].gradients);
        CU_ASSERT_EQUAL(x.instants > 0, jobs[i].repeats);
        CU_ASSERT(x.last_us <= j.r.step_time_s * 1e6 + 1e-3);
        if (!jobs[i].repeats)
            CU_ASSERT(x.last_us > j.r.step_time_s * 0.9e6);
        free(text);
        free(again);
        cfg_loader_release(&j.loader);
    }
}

/* Fewer ranks: no arrow points at what is not shown. */
static void test_ranks(void)
{
    struct job j;
    load(&j, "/training/microbatches=4 /parallelism/pipeline=4");
    char *one = trace_of(&j, 1), *two = trace_of(&j, 2);
    CU_ASSERT_EQUAL(trace_rules(one).messages, 0);
    CU_ASSERT_EQUAL(trace_rules(two).messages, 2 * 4);
    free(one);
    free(two);
    cfg_loader_release(&j.loader);
}

/* What people look for: who a track represents, and of what a slice is. */
static void test_words(void)
{
    struct job j;
    load(&j, "/training/microbatches=8 /parallelism/pipeline=2 /parallelism/tensor=2 "
             "/parallelism/virtual_stages=2 /parallelism/schedule=\"interleaved\" "
             "/training/activation_checkpointing=\"full\"");
    char *text = trace_of(&j, 64);
    json_t *root = json_loads(text, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    CU_ASSERT_STRING_EQUAL(json_string_value(trace_arg(root, "process_name", "name")),
                           "stage 0, rank 0 (represents 8 ranks)");
    CU_ASSERT_EQUAL(trace_named(root, "recomputation"), 2 * 2 * 8);
    CU_ASSERT(trace_named(root, "tensor communication") >= 2 * 2 * 8);
    CU_ASSERT_EQUAL(json_integer_value(trace_arg(root, "forward 3", "microbatch")), 3);
    CU_ASSERT(json_is_integer(trace_arg(root, "forward 3", "chunk")));
    json_decref(root);
    free(text);
    cfg_loader_release(&j.loader);
}

/* A longer step has no more counters, and names that end in .gz get gzip. */
static void test_sizes(void)
{
    enum { COUNTERS = 4 * (3 * 512 + 1) + 2 * (512 + 1) };
    struct job j;
    size_t plain, packed;
    load(&j, "/training/microbatches=256 /parallelism/pipeline=4");
    char *text = trace_as(&j, 64, ".json", &plain);
    char *gzip = trace_as(&j, 64, ".json.gz", &packed);
    CU_ASSERT(trace_rules(text).counters <= COUNTERS);
    CU_ASSERT_EQUAL((unsigned char)gzip[0], 0x1f);
    CU_ASSERT_EQUAL((unsigned char)gzip[1], 0x8b);
    CU_ASSERT(packed * 8 < plain);
    free(text);
    free(gzip);
    cfg_loader_release(&j.loader);
}

/* Milliseconds that the counter says a GPU's kernels took, of a trace that ends
 * then. */
static double number(json_t *e, const char *key)
{
    json_t *v = json_object_get(e, key);
    CU_ASSERT_FATAL(json_is_number(v));
    return json_number_value(v);
}

static double counted_busy_ms(const char *text, double end_ms)
{
    json_t *root = json_loads(text, 0, NULL), *e;
    size_t i;
    double sum_ms = 0, since_ms = 0, share = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    json_array_foreach(json_object_get(root, "traceEvents"), i, e)
    {
        const char *name = json_string_value(json_object_get(e, "name"));
        if (!name || strcmp(name, "GPU busy (percent)") != 0)
            continue;
        double now_ms = number(e, "ts") / 1000;
        sum_ms += share * (now_ms - since_ms);
        since_ms = now_ms;
        share = number(json_object_get(e, "args"), "busy") / 100;
    }
    json_decref(root);
    return sum_ms + share * (ceil(end_ms) - since_ms);
}

static void test_busy(void)
{
    static const char *const changes[] = { "/training/gradient_accumulation_steps=3",
                                           "/training/microbatches=8 "
                                           "/parallelism/pipeline=4" };
    for (int i = 0; i < 2; i++) {
        struct job j;
        load(&j, changes[i]);
        char *text = trace_of(&j, 1);
        double step_ms = j.r.step_time_s * 1e3;
        double busy_ms = counted_busy_ms(text, step_ms);
        if (i == 0)
            CU_ASSERT_DOUBLE_EQUAL(busy_ms, j.r.util_gpu * step_ms, 0.01 * step_ms);
        CU_ASSERT(busy_ms > 0.1 * step_ms && busy_ms <= 1.01 * step_ms);
        free(text);
        cfg_loader_release(&j.loader);
    }
}

/* Passes that were measured count in the use of links as those replayed in detail. */
static void test_links_of_passes(void)
{
    const char *changes = "/training/microbatches=8 /training/micro_batch_size=4 "
                          "/parallelism/pipeline=2 /parallelism/tensor=4";
    struct job j, detail;
    load(&j, changes);
    load(&detail, changes);
    detail.options.detail = true;
    run(&j, NULL);
    run(&detail, NULL);
    CU_ASSERT(detail.r.util_nvlink > 0.005);
    CU_ASSERT_DOUBLE_EQUAL(j.r.util_nvlink, detail.r.util_nvlink,
                           0.1 * detail.r.util_nvlink);
    cfg_loader_release(&j.loader);
    cfg_loader_release(&detail.loader);
}

/* Accumulation steps that were not replayed count too: twice as many, as much more. */
static void test_links_of_repeats(void)
{
    double busy_s[2];
    for (int i = 0; i < 2; i++) {
        struct job j;
        load(&j, i ? "/training/gradient_accumulation_steps=16 /parallelism/tensor=8"
                   : "/training/gradient_accumulation_steps=8 /parallelism/tensor=8");
        run(&j, NULL);
        busy_s[i] = j.r.util_nvlink * j.r.step_time_s;
        cfg_loader_release(&j.loader);
    }
    CU_ASSERT(busy_s[0] > 0);
    CU_ASSERT_DOUBLE_EQUAL(busy_s[1], 2 * busy_s[0], 0.2 * busy_s[0]);
}

static char *svg_of(const struct job *j, const struct step_figures *f,
                    enum step_figure which)
{
    char path[FIGURE_PATH_MAX];
    struct err err = { 0 };
    figure_path(path);
    CU_ASSERT_EQUAL(figure_step_write(f, which, &j->s, &j->r,
                                      &(struct draw_to) { .path = path }, &err),
                    0);
    return figure_text(path);
}

/* Who watches changes nothing, in whatever company. */
static void test_observed(void)
{
    struct job j;
    load(&j, "/training/microbatches=8 /parallelism/pipeline=4");
    run(&j, NULL);
    struct simulate_result alone = j.r;
    struct step_figures *inner = figure_step_new(NULL);
    struct step_figures *outer = figure_step_new(figure_step_observer(inner));
    run(&j, figure_step_observer(outer));
    CU_ASSERT_EQUAL(alone.step_time_s, j.r.step_time_s);
    CU_ASSERT_EQUAL(alone.memory.peak_B, j.r.memory.peak_B);
    CU_ASSERT_EQUAL(alone.events, j.r.events);
    for (int i = 0; i < STEP_FIGURES; i++) {
        char *a = svg_of(&j, outer, (enum step_figure)i);
        char *b = svg_of(&j, inner, (enum step_figure)i);
        CU_ASSERT_STRING_EQUAL(a, b);
        free(a);
        free(b);
    }
    figure_step_free(outer);
    figure_step_free(inner);
    cfg_loader_release(&j.loader);
}

static bool shows(struct job *j, enum step_figure which, const char *text)
{
    struct step_figures *f = figure_step_new(NULL);
    run(j, figure_step_observer(f));
    char *svg = svg_of(j, f, which);
    bool found = strstr(svg, text) != NULL;
    free(svg);
    figure_step_free(f);
    return found;
}

static void test_figures(void)
{
    struct job j;
    load(&j, "/training/microbatches=8 /parallelism/pipeline=4");
    CU_ASSERT(shows(&j, STEP_TIMELINE, "id=\"track-3\""));
    CU_ASSERT_FALSE(shows(&j, STEP_TIMELINE, "id=\"track-4\""));
    CU_ASSERT(shows(&j, STEP_TIMELINE, "stage 3"));
    CU_ASSERT(shows(&j, STEP_TIMELINE, "8 microbatches"));
    CU_ASSERT(shows(&j, STEP_STAGES, "activations"));
    CU_ASSERT(shows(&j, STEP_MEMORY, "capacity"));
    CU_ASSERT(shows(&j, STEP_BREAKDOWN, "pipeline bubble"));
    CU_ASSERT(shows(&j, STEP_BREAKDOWN, "id=\"bar-0\""));
    CU_ASSERT(shows(&j, STEP_USAGE, ">GPU<"));
    CU_ASSERT(shows(&j, STEP_USAGE, ">busiest network card<"));
    cfg_loader_release(&j.loader);
    load(&j, "/training/gradient_accumulation_steps=9");
    CU_ASSERT(shows(&j, STEP_TIMELINE, "5 more accumulation steps not drawn"));
    CU_ASSERT(shows(&j, STEP_TIMELINE, ">host<"));
    CU_ASSERT(shows(&j, STEP_TIMELINE, ">gradients<"));
    cfg_loader_release(&j.loader);
}

/* Two schedules of one pipeline, over one axis. */
static void test_schedules(void)
{
    static const char *const changes[] = {
        "/training/microbatches=8 /parallelism/pipeline=4 "
        "/parallelism/library=megatron /parallelism/schedule=1f1b",
        "/training/microbatches=8 /parallelism/pipeline=4 "
        "/parallelism/library=megatron /parallelism/schedule=interleaved "
        "/parallelism/virtual_stages=2",
    };
    static const char *const want[] = {
        "id=\"s0-track-3\"", "id=\"s1-track-3\"",
        ">1F1B: ",           ">Interleaved 1F1B (2 chunks a stage): ",
        "class=\"hatch\"",   ">forward<"
    };
    struct job pipelines[2];
    struct step_figures *figures[2];
    struct schedule_step steps[2];
    struct err err = { 0 };
    char path[FIGURE_PATH_MAX];
    figure_path(path);
    for (int i = 0; i < 2; i++) {
        load(&pipelines[i], changes[i]);
        figures[i] = figure_step_new(NULL);
        run(&pipelines[i], figure_step_observer(figures[i]));
        steps[i] =
            (struct schedule_step) { figures[i], &pipelines[i].s, &pipelines[i].r };
    }
    CU_ASSERT_EQUAL(
        figure_schedules_write(steps, 2, &(struct draw_to) { .path = path }, &err), 0);
    char *text = figure_text(path);
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(text, want[i]));
    free(text);
    for (int i = 0; i < 2; i++) {
        figure_step_free(figures[i]);
        cfg_loader_release(&pipelines[i].loader);
    }
}

/* The quantities of a stream of a page, as page/step.h describes them; how many. */
static size_t quantities(const char *text, int64_t *out)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t n = 0;
    int64_t v = 0, scale = 1;
    for (; *text; text++) {
        int64_t d = strchr(digits, *text) - digits;
        v += (d & 31) * scale;
        scale *= 32;
        if (d < 32) {
            out[n++] = v;
            v = 0;
            scale = 1;
        }
    }
    return n;
}

/* A page's timeline has every microbatch's passes, one after the other, on every
 * stage. */
static void test_page(void)
{
    enum { MICROBATCHES = 8, MOST = 3000 };
    struct job j;
    struct step_figures *f = figure_step_new(NULL);
    load(&j, "/training/microbatches=8 /parallelism/pipeline=4");
    run(&j, figure_step_observer(f));
    json_t *t = page_timeline(f), *track;
    size_t stage, kinds = json_array_size(json_object_get(t, "kinds"));
    double unit_s = json_number_value(json_object_get(t, "unit_s"));
    CU_ASSERT_EQUAL(json_array_size(json_object_get(t, "tracks")), 4);
    json_array_foreach(json_object_get(t, "tracks"), stage, track)
    {
        static int64_t q[MOST];
        int64_t at = 0, ended = 0, passes[MICROBATCHES] = { 0 };
        const json_t *compute = json_array_get(json_object_get(track, "streams"), 0);
        const char *text = json_string_value(json_object_get(compute, "intervals"));
        CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(compute, "name")),
                               "compute");
        CU_ASSERT_FATAL(text && strlen(text) < MOST);
        size_t n = quantities(text, q);
        CU_ASSERT_EQUAL(n % 3, 0);
        for (size_t i = 0; i + 2 < n; i += 3) {
            at += q[i];
            CU_ASSERT_TRUE(at >= ended);
            ended = at + q[i + 1];
            int64_t microbatch = q[i + 2] / (int64_t)kinds - 1;
            if (microbatch >= 0 && microbatch < MICROBATCHES)
                passes[microbatch]++;
        }
        CU_ASSERT_TRUE((double)ended * unit_s <= j.r.step_time_s);
        for (int i = 0; i < MICROBATCHES; i++)
            CU_ASSERT_TRUE(passes[i] >= 2);
    }
    json_decref(t);
    figure_step_free(f);
    cfg_loader_release(&j.loader);
}

void test_trace_register(void)
{
    CU_pSuite s = CU_add_suite("trace", NULL, NULL);
    CU_add_test(s, "events of traces", test_traces);
    CU_add_test(s, "ranks of traces", test_ranks);
    CU_add_test(s, "words of traces", test_words);
    CU_add_test(s, "sizes of traces", test_sizes);
    CU_add_test(s, "counters of busy GPUs", test_busy);
    CU_add_test(s, "use of links in measured passes", test_links_of_passes);
    CU_add_test(s, "use of links in repeated stretches", test_links_of_repeats);
    CU_add_test(s, "observers change nothing", test_observed);
    CU_add_test(s, "figures of a step", test_figures);
    CU_add_test(s, "schedules over one axis", test_schedules);
    CU_add_test(s, "page of a step", test_page);
}
