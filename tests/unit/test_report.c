/* What is printed of a step: every name of the contract in its order, nulls where
 * nothing is known, and text within its columns. The step is made by hand. */
#include "calibrate/calibration.h"
#include "report/figure/meaning.h"
#include "report/figure/step_parts.h"
#include "report/report.h"
#include "report/text/attention.h"
#include "report/text/experts.h"
#include "report/text/transfer.h"

#include <CUnit/CUnit.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void test_report_register(void);

struct sample {
    struct gpu gpu;
    struct instance instance;
    struct framework framework;
    struct scenario s;
    struct stage_memory stages[2];
    struct simulate_result r;
    struct diag warnings[1];
};

static void make_sample(struct sample *x)
{
    *x = (struct sample) { .gpu.name = "V100-SXM2-16GB",
                           .instance.name = "p3.16xlarge",
                           .framework.name = "pytorch-ddp" };
    x->instance.gpu = &x->gpu;
    x->instance.n_hosts = 1;
    x->s.name = "sample";
    x->s.model.label = "bert-large-uncased";
    x->s.cluster.n_groups = 1;
    x->s.cluster.groups[0] = (struct cluster_group) { &x->instance, 2, 8 };
    x->s.cluster.n_gpus = 16;
    x->s.training.framework = &x->framework;
    x->s.parallel.data = 16;
    x->stages[0] = (struct stage_memory) { .peak_B = 900, .parameters_B = 400 };
    x->stages[1] = (struct stage_memory) { .peak_B = 1200, .activations_B = 700 };
    x->warnings[0].text =
        "a warning that is long enough to be cut between words so that no "
        "line of the report is beyond the margin of eighty-eight columns";
    x->r = (struct simulate_result) {
        .step_time_s = 0.5,
        .samples_per_s = 128,
        .gpus = 16,
        .parts_s = { [CATEGORY_COMPUTE] = 0.3,
                     [CATEGORY_DATA_COMM_EXPOSED] = 0.2,
                     [CATEGORY_DATA_COMM_HIDDEN] = 0.1 },
        .memory = { 1000,
                    1200,
                    1150,
                    1100,
                    1050,
                    false,
                    2,
                    x->stages,
                    1,
                    { 1182, 1314 },
                    false },
        .network = FIDELITY_FLOW,
        .folded = true,
        .n_warnings = 1,
        .warnings = x->warnings,
    };
}

/* Key order, depth first, with values that matter. */
static void test_json_keys(void)
{
    static const char expected[] =
        "{\"schema\":\"urn:smsim:simulate:2\",\"scenario\":\"sample\",\"step_time_s\":"
        "0.5,\"samples_per_s\":128.0,"
        "\"tokens_per_s\":0.0,\"model_flops_per_gpu_s\":0.0,\"mfu\":0.0,\"hfu\":0.0,"
        "\"gpus\":16,\"breakdown_s\":{\"compute\":0.3,\"recompute\":0.0,\"reference\":"
        "0.0,"
        "\"tensor_comm\":0.0,\"pipeline_comm\":0.0,\"pipeline_bubble\":0.0,"
        "\"context_comm\":0.0,\"expert_comm\":0.0,\"data_comm_exposed\":0.2,"
        "\"data_comm_hidden\":0.1,\"optimizer\":0.0,\"offload_exposed\":0.0,"
        "\"input_wait\":0.0,\"other\":0.0},\"memory\":{\"capacity_bytes\":1000,\"peak_"
        "bytes\":1200,\"needed_bytes\":1150,"
        "\"reserved_bytes\":1100,\"allocated_bytes\":1050,\"fits\":false,"
        "\"near_limit\":false,\"range_bytes\":[1182,1314],\"stages\":["
        "{\"stage\":0,\"peak_bytes\":900,\"needed_bytes\":0,\"reserved_bytes\":0,"
        "\"parameters\":400,"
        "\"gradients\":0,"
        "\"optimizer\":0,\"activations\":0,\"buffers\":0,\"workspace\":0,"
        "\"framework\":0},{\"stage\":1,\"peak_bytes\":1200,\"needed_bytes\":0,"
        "\"reserved_bytes\":0,"
        "\"parameters\":0,"
        "\"gradients\":0,\"optimizer\":0,\"activations\":700,\"buffers\":0,"
        "\"workspace\":0,\"framework\":0}],\"remedies\":[]},\"cost\":{\"usd_per_hour\":"
        "null,"
        "\"usd_per_step\":null,\"usd_per_million_samples\":null,"
        "\"usd_per_job\":null,\"hours_per_job\":null,\"price_date\":null,\"price_"
        "list\":null},\"range\":";
    struct sample x;
    make_sample(&x);
    json_t *tree = report_step_json(&x.s, &x.r, NULL);
    char *text = json_dumps(tree, JSON_COMPACT | JSON_REAL_PRECISION(12));
    CU_ASSERT_EQUAL(strncmp(text, expected, sizeof(expected) - 1), 0);
    static const char *const rest[] = { "range",   "utilization", "warnings",
                                        "layer",   "simulation",  "input",
                                        "assumed", "job",         NULL };
    for (int i = 0; rest[i]; i++)
        CU_ASSERT_PTR_NOT_NULL(json_object_get(tree, rest[i]));
    free(text);
    json_decref(tree);
}

static void test_json_cost(void)
{
    struct sample x;
    make_sample(&x);
    x.r.cost = (struct cost_result) { .usd_per_hour = 10,
                                      .usd_per_step = 0.5,
                                      .has_price = true,
                                      .has_job = true,
                                      .usd_per_job = 7,
                                      .hours_per_job = 0.7,
                                      .price_date = "2023-09-18" };
    json_t *tree = report_step_json(&x.s, &x.r, NULL);
    json_t *cost = json_object_get(tree, "cost");
    CU_ASSERT_EQUAL(json_real_value(json_object_get(cost, "usd_per_job")), 7);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(cost, "price_date")),
                           "2023-09-18");
    json_decref(tree);
    x.r.cost.has_price = false; /* hours are known without a price */
    tree = report_step_json(&x.s, &x.r, NULL);
    cost = json_object_get(tree, "cost");
    CU_ASSERT_TRUE(json_is_null(json_object_get(cost, "usd_per_job")));
    CU_ASSERT_EQUAL(json_real_value(json_object_get(cost, "hours_per_job")), 0.7);
    json_decref(tree);
}

static char *text_of(const struct sample *x)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    report_step_text(out, &x->s, &x->r, NULL);
    fclose(out);
    return text;
}

static void check_lines(const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        CU_ASSERT_TRUE(n <= 88);
        CU_ASSERT_TRUE(n == 0 || text[n - 1] != ' ');
        for (size_t i = 0; i < n; i++)
            CU_ASSERT_TRUE(text[i] >= ' ' && text[i] <= '~');
        text += n + (text[n] == '\n');
    }
}

static void test_text(void)
{
    struct sample x;
    make_sample(&x);
    char *text = text_of(&x);
    check_lines(text);
    static const char *const parts[] = { "bert-large-uncased on 2 x p3.16xlarge",
                                         "60.0 %",
                                         "40.0 %",
                                         "DOES NOT FIT",
                                         "stage 1 in all",
                                         "no price is known",
                                         "warning: a warning",
                                         NULL };
    for (int i = 0; parts[i]; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(text, parts[i]));
    free(text);
    x.r.memory.peak_B = 900;
    x.r.memory.fits = true;
    text = text_of(&x);
    CU_ASSERT_PTR_NULL(strstr(text, "DOES NOT FIT"));
    free(text);
}

#define FORTY "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"

/* A file has no terminal's width: 88 columns. */
static void test_wrap(void)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "a bb ccc", "> a bb ccc\n" },
        { "  a   bb ", "> a bb\n" },
        { FORTY " " FORTY " eeee", "> " FORTY " " FORTY " eeee\n" }, /* 88 */
        { FORTY " " FORTY " eeeee", "> " FORTY " " FORTY "\n  eeeee\n" },
        { FORTY " " FORTY " 9 %, f", "> " FORTY " " FORTY " 9 %,\n  f\n" },
        { FORTY " " FORTY " 91 %, f", "> " FORTY " " FORTY "\n  91 %, f\n" },
        { "a " FORTY FORTY FORTY " b", "> a\n  " FORTY FORTY FORTY "\n  b\n" },
        { "", "> \n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        report_wrap(out, "> ", "  ", cases[i].text);
        fclose(out);
        CU_ASSERT_STRING_EQUAL(text, cases[i].expected);
        free(text);
    }
}

/* Short lines stay as they are. Rows of tables go on under their last column, or further
 * in than they begin. */
static void test_lines(void)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "a   b\n\n  c", "a   b\n\n  c\n" },
        { FORTY " " FORTY " " FORTY, FORTY " " FORTY "\n    " FORTY "\n" },
        { "  " FORTY " " FORTY " " FORTY, "  " FORTY " " FORTY "\n      " FORTY "\n" },
        { "  a   b   " FORTY " " FORTY, "  a   b   " FORTY "\n          " FORTY "\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        report_lines(out, cases[i].text);
        fclose(out);
        CU_ASSERT_STRING_EQUAL(text, cases[i].expected);
        free(text);
    }
}

/* Every part has a name, no two the same, that the column of names holds. */
static void test_part_texts(void)
{
    enum { COLUMN = 31 };
    for (int i = 0; i < CATEGORY_N; i++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(report_part_texts[i]);
        CU_ASSERT(strlen(report_part_texts[i]) <= COLUMN);
        for (int k = 0; k < i; k++)
            CU_ASSERT_STRING_NOT_EQUAL(report_part_texts[i], report_part_texts[k]);
    }
}

/* An instance has its colour whatever figure it is in, and none has another's. */
static void test_instance_colours(void)
{
    CU_ASSERT_EQUAL(figure_instance_colour("p3.16xlarge"), 0);
    CU_ASSERT_NOT_EQUAL(figure_instance_colour("p4d.24xlarge"),
                        figure_instance_colour("p4de.24xlarge"));
    CU_ASSERT(figure_instance_colour("p5.48xlarge") < FIGURE_INSTANCE_COLOURS);
    CU_ASSERT_EQUAL(figure_instance_colour("of-mine"), -1);
}

/* Many stages: the first, middle and last have rows, and what is between them one. */
static void test_stage_rows(void)
{
    int32_t row_of[16];
    bool left_out[16];
    CU_ASSERT_EQUAL(figure_parts_rows(12, 12, row_of, left_out), 12);
    CU_ASSERT_EQUAL(figure_parts_rows(16, 12, row_of, left_out), 11);
    CU_ASSERT_EQUAL(row_of[2], 2);
    CU_ASSERT_EQUAL(row_of[3], -1);
    CU_ASSERT_TRUE(left_out[3]);
    CU_ASSERT_EQUAL(row_of[6], 4);
    CU_ASSERT_EQUAL(row_of[15], 10);
    CU_ASSERT_EQUAL(figure_parts_rows(16, 4, row_of, left_out), 5);
}

/* 400 microbatches of a lone stage: forward passes of 1 s, backward of 2 s, then 20 s of
 * gradients. The parts give a pass its pixels, keep apart, and begin and end the step. */
static void test_time_parts(void)
{
    enum { PASSES = 400 };
    static struct timeline_box boxes[2 * PASSES];
    struct timeline_part parts[TIMELINE_PARTS_MAX];
    double end_s = 3 * PASSES + 20, shown_s = 0;
    for (int i = 0; i < PASSES; i++) {
        boxes[2 * i] =
            (struct timeline_box) { 0, SPAN_FORWARD, 3 * i, 3 * i + 1, "0", 0 };
        boxes[2 * i + 1] =
            (struct timeline_box) { 0, SPAN_BACKWARD, 3 * i + 1, 3 * i + 3, "0", 0 };
    }
    CU_ASSERT_DOUBLE_EQUAL(figure_parts_pass(boxes, 2 * PASSES), 1, 1e-9);
    CU_ASSERT_TRUE(figure_parts_needed(1, end_s, 600));
    CU_ASSERT_FALSE(figure_parts_needed(1, 60, 600));
    CU_ASSERT_TRUE(figure_parts_needed(1, 150, 600));
    CU_ASSERT_FALSE(
        figure_parts_needed(1, 80, 240)); /* of a column: boxes of 3 pixels */
    size_t n = figure_parts_choose(boxes, 2 * PASSES, 1, end_s, 600, parts);
    CU_ASSERT_EQUAL_FATAL(n, 4);
    CU_ASSERT_DOUBLE_EQUAL(parts[0].from_s, 0, 0);
    CU_ASSERT_STRING_EQUAL(parts[1].name, "three periods");
    CU_ASSERT_DOUBLE_EQUAL(parts[1].to_s - parts[1].from_s, 9, 1e-9);
    CU_ASSERT(parts[2].from_s < 3 * PASSES - 3 && parts[2].to_s > 3 * PASSES);
    CU_ASSERT_DOUBLE_EQUAL(parts[3].to_s, end_s, 1e-9);
    for (size_t i = 0; i < n; i++) {
        shown_s += parts[i].to_s - parts[i].from_s;
        CU_ASSERT(i == 0 || parts[i].from_s > parts[i - 1].to_s);
    }
    CU_ASSERT((600 - 3 * TIMELINE_BREAK_W) / shown_s > 13.9);
    CU_ASSERT_EQUAL(figure_parts_choose(boxes, 2 * PASSES, 1, end_s, 1e5, parts), 0);
    for (int i = 0; i < PASSES * 3 / 5; i++) /* most boxes are pieces of passes */
        boxes[2 * i].end_s = boxes[2 * i].start_s + 0.01;
    CU_ASSERT_DOUBLE_EQUAL(figure_parts_pass(boxes, 2 * PASSES), 1, 1e-9);
}

/* --- fitted sets -------------------------------------------------------------------- */

typedef void report_fitted(FILE *out, const struct calibration *c,
                           const struct samples *s);

static bool prints(report_fitted *print, const struct calibration *c,
                   const char *status)
{
    static const struct samples none;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    print(out, c, &none);
    fclose(out);
    bool found = strstr(text, status) != NULL;
    free(text);
    return found;
}

/* Each of the doubles in that many bytes is compared with the shipped one's, to four
 * digits. */
static void compare_terms(report_fitted *print, const struct calibration *c, void *from,
                          size_t bytes)
{
    CU_ASSERT(prints(print, c, "; as shipped\n"));
    for (size_t at = 0; at < bytes; at += sizeof(double)) {
        double was, more;
        memcpy(&was, (char *)from + at, sizeof(was));
        more = was * 1.0001;
        memcpy((char *)from + at, &more, sizeof(more));
        CU_ASSERT(prints(print, c, "; as shipped\n"));
        more = was * 1.01;
        memcpy((char *)from + at, &more, sizeof(more));
        CU_ASSERT(prints(print, c, "; not what is shipped\n"));
        memcpy((char *)from + at, &was, sizeof(was));
    }
}

static void test_fitted_attention(void)
{
    const struct attention shipped = { "vllm", "", 1, 2, 3, 128, 4, 5, 6, 7, 8 };
    struct calibration_attention row = { .shipped = &shipped, .attention = shipped };
    struct calibration c = { .attentions = { &row, 1, 1 } };
    struct attention *own = &row.attention;
    compare_terms(report_attentions, &c, &own->product_flops, 3 * sizeof(double));
    compare_terms(report_attentions, &c, &own->start_s, 5 * sizeof(double));
    CU_ASSERT(prints(report_attentions, &c, "half blocks from 128 columns"));
    own->half_blocks = 0;
    CU_ASSERT(prints(report_attentions, &c, "whole blocks; not what is shipped\n"));
    row.shipped = NULL;
    CU_ASSERT(prints(report_attentions, &c, "; not shipped\n"));
}

static void test_fitted_transfer(void)
{
    const struct transfer shipped = { "deepep", 0, 1, 2, 3, 4, 5, 6 };
    struct calibration_transfer row = { .shipped = &shipped, .transfer = shipped };
    struct calibration c = { .transfers = { &row, 1, 1 } };
    compare_terms(report_transfers, &c, &row.transfer.start_s, 6 * sizeof(double));
    row.set.why = "too few rows";
    CU_ASSERT(prints(report_transfers, &c, "nothing was fitted: too few rows"));
}

static void test_fitted_experts(void)
{
    static const struct product_format format = { .name = "bf16" };
    const struct experts_kernel shipped = { "vllm", &format, 1, 2, 3, 4, 5,
                                            6,      7,       8, 9, 1, 2 };
    struct calibration_experts row = { .shipped = &shipped, .kernel = shipped };
    struct calibration c = { .experts = { &row, 1, 1 } };
    compare_terms(report_experts, &c, &row.kernel.eta, 11 * sizeof(double));
    row.shipped = NULL;
    CU_ASSERT(prints(report_experts, &c, "; not shipped\n"));
}

void test_report_register(void)
{
    CU_pSuite suite = CU_add_suite("report", NULL, NULL);
    CU_add_test(suite, "colours of instances", test_instance_colours);
    CU_add_test(suite, "rows of many stages", test_stage_rows);
    CU_add_test(suite, "parts of a long step", test_time_parts);
    CU_add_test(suite, "names of parts", test_part_texts);
    CU_add_test(suite, "JSON has the contract's keys", test_json_keys);
    CU_add_test(suite, "JSON of the cost", test_json_cost);
    CU_add_test(suite, "text", test_text);
    CU_add_test(suite, "attention as shipped", test_fitted_attention);
    CU_add_test(suite, "transfers as shipped", test_fitted_transfer);
    CU_add_test(suite, "experts as shipped", test_fitted_experts);
    CU_add_test(suite, "wrapped lines", test_wrap);
    CU_add_test(suite, "lines of a text", test_lines);
}
