/* Steps that were run, compared with those predicted: files are read, operators joined
 * by name, and a GPU that is only known by its measurements is predicted as well as
 * they are good. */
#include "emulate.h"

#include "calibrate/calibration.h"
#include "model/ops.h"
#include "validation/compare.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void test_compare_register(void);

struct bench {
    struct cfg_loader loader;
    struct measured measured;
    struct gpu truth;
    const struct instance *instance;
};

/* A GPU like the shipped H100 but for its constants. */
static void bench_init(struct bench *b)
{
    *b = (struct bench) { 0 };
    cfg_loader_init(&b->loader);
    b->instance = instance_get(&b->loader, "p5.48xlarge", (struct cfg) { 0 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->instance);
    b->truth = *b->instance->gpu;
    b->truth.gemm[DTYPE_BF16].eta *= 0.9;
    b->truth.gemm[DTYPE_BF16].port_Bps *= 0.85;
    b->truth.gemm[DTYPE_BF16].sustained = 0.83;
    b->truth.stream_frac *= 0.92;
    b->truth.kernel_s *= 1.2;
    b->truth.context_B = 700 << 20;
}

static void bench_release(struct bench *b)
{
    measured_release(&b->measured);
    cfg_loader_release(&b->loader);
}

static int read_text(struct bench *b, const char *text)
{
    struct cfg root = cfg_parse(&b->loader, "test.json", text, strlen(text));
    return measured_read(&b->measured, &b->loader, root, "test.json");
}

static const struct emulated_step steps[] = { { "bert-large-uncased", 8, 384, 1 },
                                              { "gpt2-medium", 4, 1024, 8 } };

static json_t *emulated(const struct bench *b, double noise)
{
    const struct emulation e = { .truth = &b->truth,
                                 .instance = b->instance,
                                 .device = "NVIDIA H100 80GB HBM3",
                                 .n_gemms = 240,
                                 .n_streams = 48,
                                 .noise = noise,
                                 .seed = 5,
                                 .steps = steps,
                                 .n_steps = 2 };
    return emulate(&e);
}

/* --- reading ---------------------------------------------------------------------- */

static void test_read(void)
{
    struct bench b;
    bench_init(&b);
    CU_ASSERT_EQUAL_FATAL(
        read_text(&b,
                  "{\"complete\": false, \"rows\": ["
                  "{\"kind\": \"section\", \"name\": \"gemm\", \"error\": \"lost\"},"
                  "{\"kind\": \"launch\", \"what\": \"host, kernel launch\","
                  " \"time_s\": 2e-6},"
                  "{\"kind\": \"step\", \"model\": \"gpt2.json\", \"dtype\": \"bf16\","
                  " \"gpus\": 2, \"batch\": 4, \"sequence\": 64, \"time_s\": 0.5,"
                  " \"compute_s\": 0.4, \"peak_bytes\": 1000},"
                  "{\"kind\": \"operator\", \"name\": \"qkv\", \"backward\": false,"
                  " \"count\": 12, \"time_s\": 1e-4},"
                  "{\"kind\": \"pytorch_step\", \"model\": \"mine\", \"mode\":"
                  " \"compiled\", \"precision\": \"amp_bf16\", \"batch\": 2,"
                  " \"sequence\": 64, \"error\": \"out of memory\"}]}"),
        0);
    const struct measured *m = &b.measured;
    CU_ASSERT(m->incomplete);
    CU_ASSERT_EQUAL_FATAL(m->failures.n, 1);
    CU_ASSERT_STRING_EQUAL(m->failures.v[0], "gemm: lost");
    CU_ASSERT_EQUAL(m->launch_s, 2e-6);
    CU_ASSERT_EQUAL_FATAL(m->steps.n, 2);
    CU_ASSERT_STRING_EQUAL(m->steps.v[0].model, "gpt2");
    CU_ASSERT_EQUAL(m->steps.v[0].attention, OP_ATTENTION_FUSED_SOFTMAX);
    CU_ASSERT_EQUAL(m->steps.v[0].compute_s, 0.4);
    CU_ASSERT_EQUAL(m->steps.v[0].peak_B, 1000);
    CU_ASSERT_EQUAL_FATAL(m->steps.v[0].ops.n, 1);
    CU_ASSERT_EQUAL(m->steps.v[0].ops.v[0].count, 12);
    CU_ASSERT_EQUAL(m->steps.v[1].program, MEASURED_COMPILED);
    CU_ASSERT_EQUAL(m->steps.v[1].attention, OP_ATTENTION_FLASH);
    CU_ASSERT_STRING_EQUAL(m->steps.v[1].failed, "out of memory");
    bench_release(&b);
}

static void test_wrong_rows(void)
{
    static const char *const rows[] = {
        "{\"kind\": \"operator\", \"name\": \"qkv\", \"backward\": false, \"count\": 1,"
        " \"time_s\": 1}",
        "{\"kind\": \"step\", \"model\": \"gpt2\", \"dtype\": \"fp8\", \"gpus\": 1,"
        " \"batch\": 4, \"sequence\": 64, \"time_s\": 0.5}",
        "{\"kind\": \"step\", \"model\": \"gpt2\", \"dtype\": \"bf16\", \"gpus\": 1,"
        " \"batch\": 4, \"sequence\": 64, \"time_s\": 0}",
        "{\"kind\": \"step\", \"model\": \"gpt2\", \"dtype\": \"bf16\", \"gpus\": 1,"
        " \"batch\": 4, \"sequence\": 64}",
        "{\"kind\": \"step\", \"model\": \"gpt2\", \"config\": 3, \"dtype\": \"bf16\","
        " \"gpus\": 1, \"batch\": 4, \"sequence\": 64, \"time_s\": 0.5}",
        "{\"kind\": \"pytorch_step\", \"model\": \"gpt2\", \"mode\": \"eager\","
        " \"precision\": \"bf16\", \"batch\": 4, \"sequence\": 64, \"time_s\": 0.5}",
        "{\"kind\": \"pytorch_step\", \"model\": \"gpt2\", \"mode\": \"lazy\","
        " \"precision\": \"amp_bf16\", \"batch\": 4, \"sequence\": 64, \"time_s\": "
        "0.5}",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench b;
        bench_init(&b);
        char *text = arena_printf(&b.loader.arena, "{\"rows\": [%s]}", rows[i]);
        CU_ASSERT_EQUAL(read_text(&b, text), -1);
        CU_ASSERT_EQUAL(b.loader.diags.n_errors, 1);
        CU_ASSERT_EQUAL(b.measured.steps.n, 0);
        bench_release(&b);
    }
}

/* --- comparing -------------------------------------------------------------------- */

static const struct compared_op *op_of(const struct comparison *c, const char *name)
{
    for (int32_t i = 0; i < c->n_ops; i++)
        if (strcmp(c->ops[i].name, name) == 0)
            return &c->ops[i];
    return NULL;
}

/* What only one side has stays visible, and counts in no error. */
static void test_join(void)
{
    struct bench b;
    struct comparison c;
    bench_init(&b);
    CU_ASSERT_EQUAL_FATAL(
        read_text(&b, "{\"rows\": [{\"kind\": \"step\", \"model\": \"gpt2\", \"dtype\":"
                      " \"bf16\", \"gpus\": 1, \"batch\": 4, \"sequence\": 64,"
                      " \"time_s\": 0.5, \"update_s\": 0.1},"
                      "{\"kind\": \"operator\", \"name\": \"qkv\", \"backward\": false,"
                      " \"count\": 12, \"time_s\": 1},"
                      "{\"kind\": \"operator\", \"name\": \"spare\", \"backward\":"
                      " true, \"count\": 2, \"time_s\": 3}]}"),
        0);
    const struct compare_on on = { &b.truth, b.instance, 0, 0 };
    compare_step(&c, &b.loader.arena, &b.measured.steps.v[0], &on);
    CU_ASSERT_PTR_NULL_FATAL(c.error);
    const struct compared_op *qkv = op_of(&c, "qkv"), *up = op_of(&c, "up");
    CU_ASSERT_PTR_NOT_NULL_FATAL(qkv);
    CU_ASSERT_PTR_NOT_NULL_FATAL(up);
    CU_ASSERT(qkv->measured_s == 1 && qkv->predicted_s > 0);
    CU_ASSERT(up->measured_s == 0 && up->predicted_s > 0 && up->count == 12);
    CU_ASSERT(op_of(&c, "spare")->predicted_s == 0);
    CU_ASSERT_EQUAL(c.stats.n, 1);
    CU_ASSERT_DOUBLE_EQUAL(c.forward.measured, 12, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(c.backward.measured, 6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(c.update.measured, 0.1, 1e-12);
    CU_ASSERT(c.forward.predicted > 12 * up->predicted_s);
    CU_ASSERT(c.time.predicted >= c.forward.predicted + c.backward.predicted);
    CU_ASSERT(isnan(compared_error(c.communication)));
    bench_release(&b);
}

/* One short sequence on one GPU, of which only the time is known. */
static struct measured_step small_step(const char *model)
{
    return (struct measured_step) { .model = model,
                                    .precision = OP_BF16,
                                    .attention = OP_ATTENTION_FUSED_SOFTMAX,
                                    .n_gpus = 1,
                                    .batch = 1,
                                    .sequence = 64,
                                    .time_s = 1 };
}

/* A host that is slow by measurement makes a small step slow. */
static void test_host(void)
{
    struct bench b;
    struct comparison fast, slow;
    bench_init(&b);
    struct measured_step step = small_step("gpt2");
    const struct compare_on quick = { &b.truth, b.instance, 1e-7, 1e-7 },
                            late = { &b.truth, b.instance, 5e-5, 5e-5 };
    compare_step(&fast, &b.loader.arena, &step, &quick);
    compare_step(&slow, &b.loader.arena, &step, &late);
    CU_ASSERT_PTR_NULL_FATAL(fast.error);
    CU_ASSERT(slow.time.predicted > 3 * fast.time.predicted);
    CU_ASSERT_EQUAL(fast.n_ops, 0); /* nothing was measured to compare them with */
    bench_release(&b);
}

static void test_refused(void)
{
    struct bench b;
    struct comparison c;
    bench_init(&b);
    struct measured_step step = small_step("no-such-model");
    const struct compare_on on = { &b.truth, b.instance, 0, 0 };
    compare_step(&c, &b.loader.arena, &step, &on);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c.error);
    CU_ASSERT_PTR_NOT_NULL(strstr(c.error, "no-such-model"));
    bench_release(&b);
}

static void test_machines(void)
{
    struct bench b;
    bench_init(&b);
    const struct instance *i = compare_instance(&b.loader, "V100-SXM2-16GB", 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(i);
    CU_ASSERT_STRING_EQUAL(i->gpu->name, "V100-SXM2-16GB");
    CU_ASSERT_EQUAL(i->n_gpus, 4);
    i = compare_instance(&b.loader, "a GPU of nobody's", 8);
    CU_ASSERT_PTR_NOT_NULL_FATAL(i);
    CU_ASSERT_EQUAL(i->n_gpus, 8);
    CU_ASSERT_PTR_NULL(compare_instance(&b.loader, "V100-SXM2-16GB", 17));
    CU_ASSERT_EQUAL(b.loader.diags.n_errors, 1);
    bench_release(&b);
}

/* --- a GPU known by its measurements alone ---------------------------------------- */

static void test_emulated(void)
{
    struct bench b;
    struct err err = { 0 };
    struct samples samples;
    struct calibration found;
    const struct samples_hints hints = { .op = -1 };
    const double noise = 0.02;
    bench_init(&b);
    struct gpu fitted = *b.instance->gpu;
    struct cfg root = cfg_from_tree(&b.loader, "emulated", emulated(&b, noise));
    samples_init(&samples, &b.loader, &hints);
    calibration_init(&found, &b.loader.arena);
    samples.file = "emulated";
    CU_ASSERT_EQUAL_FATAL(samples_load_measure(&samples, root), 0);
    CU_ASSERT_EQUAL_FATAL(measured_read(&b.measured, &b.loader, root, "emulated"), 0);
    CU_ASSERT_EQUAL_FATAL(b.measured.steps.n, 2);
    CU_ASSERT_EQUAL_FATAL(calibrate_gpu(&found, &fitted, &samples, &err), 0);
    struct comparison all[2];
    const struct compare_on on = { &fitted, b.instance, b.measured.launch_s,
                                   b.measured.product_s };
    struct comparisons sum = { .v = all, .n = 2 };
    for (int i = 0; i < 2; i++) {
        compare_step(&all[i], &b.loader.arena, &b.measured.steps.v[i], &on);
        CU_ASSERT_PTR_NULL_FATAL(all[i].error);
        CU_ASSERT(all[i].stats.n > 50);
    }
    compare_sum(&sum);
    CU_ASSERT_EQUAL(sum.operators.n, all[0].stats.n + all[1].stats.n);
    CU_ASSERT(sum.operators.median_abs < 1.5 * noise);
    CU_ASSERT(sum.steps.max_abs < 3 * noise);
    CU_ASSERT(sum.memory.max_abs < 3 * noise);
    CU_ASSERT(all[1].communication.measured > 0);
    samples_release(&samples);
    calibration_release(&found);
    bench_release(&b);
}

/* SMSIM_EMULATE=FILE build/unit writes what the tests of the command read. */
static void test_write(void)
{
    struct bench b;
    const char *file = getenv("SMSIM_EMULATE");
    bench_init(&b);
    json_t *tree = emulated(&b, 0.02);
    CU_ASSERT(json_array_size(json_object_get(tree, "rows")) > 300);
    if (file)
        CU_ASSERT_EQUAL(
            json_dump_file(tree, file, JSON_INDENT(0) | JSON_REAL_PRECISION(6)), 0);
    json_decref(tree);
    bench_release(&b);
}

void test_compare_register(void)
{
    CU_pSuite suite = CU_add_suite("compare", NULL, NULL);
    CU_add_test(suite, "steps are read", test_read);
    CU_add_test(suite, "wrong rows are reported", test_wrong_rows);
    CU_add_test(suite, "operators join by name", test_join);
    CU_add_test(suite, "the measured host counts", test_host);
    CU_add_test(suite, "a step that cannot be predicted", test_refused);
    CU_add_test(suite, "machines by GPU", test_machines);
    CU_add_test(suite, "an emulated GPU", test_emulated);
    CU_add_test(suite, "an emulated file", test_write);
}
