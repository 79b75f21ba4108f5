/* Jobs compared cause by cause: shipped scenarios one with the next, and jobs that
 * differ in one thing, in things that need each other, or in nothing. */
#include "compare/difference.h"
#include "config/datadir.h"
#include "report/difference.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of the first column of time, of lines below "changed takes" and up to the
 * network's: those with a sign are parts, the others ends. */
static int32_t times_of(char *text, double *ends, double *parts, int32_t *n_parts)
{
    enum { FROM = 28, WIDTH = 10, MOST = 8 };
    int32_t n_ends = 0;
    *n_parts = 0;
    for (char *line = strtok(text, "\n"); line && !strstr(line, "network:");
         line = strtok(NULL, "\n")) {
        char number[WIDTH + 1] = "", *end;
        if (line[0] == ' ' && strlen(line) >= FROM + WIDTH) /* below the verdict */
            memcpy(number, line + FROM, WIDTH);
        double v = strtod(number, &end);
        if (end == number || n_ends == MOST || *n_parts == MOST)
            continue;
        if (strpbrk(number, "+-"))
            parts[(*n_parts)++] = v;
        else
            ends[n_ends++] = v;
    }
    return n_ends;
}

/* A measured first job of 61.3 s and other of 17.7 s: four ends, of which each differs
 * from the one before by the parts between, as they are printed. */
static void test_measured(void)
{
    struct difference_cause cause = {
        .name = "GPU",
        .after = { .step_s = 16.3456,
                   .samples_per_s = 9,
                   .tokens_per_s = 9,
                   .fits = true },
        .alone_s = (double)NAN,
        .without_s = (double)NAN,
    };
    const struct difference d = {
        .a = { .step_s = 60.4567, .samples_per_s = 9, .tokens_per_s = 9, .fits = true },
        .b = cause.after,
        .n_causes = 1,
        .causes = &cause,
    };
    const struct difference_view v = {
        "one", "changed", DIFFERENCE_STEP, &d, { 61.3333, 17.7777 }, { NULL, NULL }
    };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    double ends[8], parts[8], sum = 0;
    int32_t n_parts;
    report_difference_text(out, &v);
    fclose(out);
    CU_ASSERT_EQUAL_FATAL(times_of(text, ends, parts, &n_parts), 4);
    CU_ASSERT_EQUAL_FATAL(n_parts, 3);
    for (int32_t i = 0; i < n_parts; i++)
        sum += parts[i];
    CU_ASSERT_DOUBLE_EQUAL(ends[0], 61.33, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(ends[3], 17.78, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(ends[0] + sum, ends[3], 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(ends[0] + parts[0], ends[1], 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(ends[2] + parts[2], ends[3], 1e-9);
    json_t *tree = report_difference_json(&v);
    CU_ASSERT_DOUBLE_EQUAL(json_real_value(json_object_get(tree, "from_measured_s")),
                           61.3333, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(json_real_value(json_object_get(tree, "to_measured_s")),
                           17.7777, 1e-9);
    json_decref(tree);
    free(text);
}

void test_difference_register(void);

static json_t *parse(const char *text)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "a.json", text, strlen(text));
    json_t *tree = json_deep_copy(root.json);
    cfg_loader_release(&loader);
    return tree;
}

static struct difference make(struct cfg_loader *files, const json_t *a,
                              const json_t *b)
{
    struct difference d;
    struct err err = { 0 };
    CU_ASSERT_EQUAL_FATAL(difference_make(&d, &files->arena, files, a, b, &err), 0);
    return d;
}

/* The end of the way is B, to the last bit. */
static void check_end(const struct difference *d)
{
    const struct difference_numbers *last =
        d->n_causes ? &d->causes[d->n_causes - 1].after : &d->a;
    CU_ASSERT_EQUAL(last->step_s, d->b.step_s);
    CU_ASSERT_EQUAL(last->peak_B, d->b.peak_B);
    CU_ASSERT_EQUAL(last->fits, d->b.fits);
}

/* --- the printed waterfall ------------------------------------------------------------- */

/* The number at the column of times; NAN: none. */
static double time_in(const char *line)
{
    enum { COLUMN = 28, WIDTH = 10 };
    char text[WIDTH + 1] = "", *end;
    if (strlen(line) < COLUMN + WIDTH)
        return (double)NAN;
    memcpy(text, line + COLUMN, WIDTH);
    double v = strtod(text, &end);
    return end != text && *end == '\0' ? v : (double)NAN;
}

/* What is printed of the first job and of all causes sums to what is printed of the
 * second, to the last digit. */
static void check_printed(const struct difference *d, enum difference_by by)
{
    const struct difference_view v = { "A", "B", by, d, { 0, 0 }, { NULL, NULL } };
    char *text = NULL, *line;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    double sum = 0, end = (double)NAN;
    int parts = 0;
    report_difference_text(out, &v);
    fclose(out);
    for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        double t = time_in(line);
        if (strncmp(line, "  B takes", 9) == 0)
            break;
        if (isnan(t))
            continue;
        if (strncmp(line, "  B ", 4) == 0)
            end = t;
        else
            sum += t;
        parts++;
    }
    CU_ASSERT_EQUAL(parts, d->n_causes + 2);
    CU_ASSERT_DOUBLE_EQUAL(sum, end, 1e-9 * fabs(end) + 1e-9);
    free(text);
}

static void test_shipped(void)
{
    struct cfg_loader files;
    cfg_loader_init(&files);
    const char **name = datadir_list(&files.arena, "scenarios");
    int n = 0, causes = 0;
    for (; name[n] && name[n + 1]; n++) {
        struct cfg a = datadir_load(&files, "scenarios", name[n], (struct cfg) { 0 }),
                   b = datadir_load(&files, "scenarios", name[n + 1],
                                    (struct cfg) { 0 });
        struct difference d = make(&files, a.json, b.json);
        check_end(&d);
        for (int by = DIFFERENCE_STEP; by <= DIFFERENCE_TOKEN; by++)
            check_printed(&d, (enum difference_by)by);
        causes += d.n_causes;
        difference_release(&d);
    }
    CU_ASSERT_TRUE(n > 15);
    CU_ASSERT_TRUE(causes > 3 * n);
    cfg_loader_release(&files);
}

/* --- causes --------------------------------------------------------------------------- */

#define JOB(cluster, training, rest)                                                   \
    "{'model':'llama2-7b','cluster':{" cluster "},'training':{'sequence_length':2048," \
    "'micro_batch_size':1,'precision':'bf16'" training "}" rest "}"
#define NODE "'instance':'p4d.24xlarge','count':4"

static void test_causes(void)
{
    static const struct {
        const char *a, *b, *causes;
    } cases[] = {
        { JOB(NODE, "", ""), JOB(NODE, "", ",'name':'other'"), "" },
        { JOB(NODE, "", ""), JOB(NODE, "", ",'software':null"), "" },
        { JOB(NODE, "",
              ",'parallelism':{'library':'fsdp','sharding':{'strategy':'full'}}"),
          JOB(NODE, ",'activation_checkpointing':'full'",
              ",'parallelism':{'library':'fsdp','sharding':{'strategy':'gradients'}}"),
          "recomputation; sharding" },
        /* a GPU of its own node in between; the batch follows the count of GPUs */
        { JOB(NODE, ",'global_batch_size':64", ""),
          JOB("'instance':'p5.48xlarge','count':8", ",'global_batch_size':64", ""),
          "GPU; node and network; number of GPUs" },
        { JOB("'instance':'p4d.24xlarge','count':4", "", ""),
          JOB("'instance':'p4de.24xlarge','count':4", "", ""),
          "GPU; node and network" },
        /* 64 stages of tensor 8 are more than 32 GPUs hold: the count comes first */
        { JOB(NODE, ",'global_batch_size':512",
              ",'parallelism':{'library':'megatron','tensor':8,'pipeline':4}"),
          JOB("'instance':'p4d.24xlarge','count':8", ",'global_batch_size':512",
              ",'parallelism':{'library':'megatron','tensor':8,'pipeline':8}"),
          "number of GPUs; degrees and schedule" },
        /* fewer GPUs do not hold A's degrees: both are one */
        { JOB("'instance':'p4d.24xlarge','count':8", ",'global_batch_size':512",
              ",'parallelism':{'library':'megatron','tensor':8,'pipeline':8}"),
          JOB(NODE, ",'global_batch_size':512",
              ",'parallelism':{'library':'megatron','tensor':8,'pipeline':4}"),
          "number of GPUs, degrees and schedule" },
        /* SageMaker's dictionary and one's own words are one cause */
        { JOB("'instance':'ml.p4d.24xlarge','count':4", ",'framework':'smddp'",
              ",'distribution':{'smdistributed':{'dataparallel':{'enabled':true}}}"),
          JOB("'instance':'ml.p4d.24xlarge','count':4", "",
              ",'parallelism':{'library':'ddp','bucket_size':'100MB'}"),
          "software; library" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader files;
        json_t *a = parse(cases[i].a), *b = parse(cases[i].b);
        char causes[400] = "";
        cfg_loader_init(&files);
        struct difference d = make(&files, a, b);
        for (int32_t k = 0; k < d.n_causes; k++) {
            strcat(causes, k ? "; " : "");
            strcat(causes, d.causes[k].name);
            CU_ASSERT_TRUE(d.causes[k].n_changes > 0);
        }
        CU_ASSERT_STRING_EQUAL(causes, cases[i].causes);
        check_end(&d);
        check_printed(&d, DIFFERENCE_STEP);
        difference_release(&d);
        cfg_loader_release(&files);
        json_decref(a);
        json_decref(b);
    }
}

/* One cause: all three orders are the same. */
static void test_one_cause(void)
{
    json_t *a = parse(
               JOB(NODE, "",
                   ",'parallelism':{'library':'fsdp','sharding':{'strategy':'full'}}")),
           *b = parse(
               JOB(NODE, ",'activation_checkpointing':'full'",
                   ",'parallelism':{'library':'fsdp','sharding':{'strategy':'full'}}"));
    struct cfg_loader files;
    cfg_loader_init(&files);
    struct difference d = make(&files, a, b);
    CU_ASSERT_EQUAL_FATAL(d.n_causes, 1);
    CU_ASSERT_EQUAL(d.causes->alone_s, d.b.step_s);
    CU_ASSERT_EQUAL(d.causes->without_s, d.a.step_s);
    CU_ASSERT_TRUE(d.b.step_s > d.a.step_s); /* a second forward */
    CU_ASSERT_TRUE(d.b.peak_B < d.a.peak_B);
    difference_release(&d);
    cfg_loader_release(&files);
    json_decref(a);
    json_decref(b);
}

void test_difference_register(void)
{
    CU_pSuite s = CU_add_suite("difference", NULL, NULL);
    CU_add_test(s, "measured ends sum to the last digit", test_measured);
    CU_add_test(s, "shipped scenarios: causes sum to the difference", test_shipped);
    CU_add_test(s, "causes are found, split and joined", test_causes);
    CU_add_test(s, "one cause is the same in all orders", test_one_cause);
}
