/* A step of a known GPU gives that GPU's terms back, by shape and by class; kernels of
 * another kind, and stages of a pipeline, are said not to be joined. */
#include "calibrate/trace_fit.h"
#include "cost/kernel.h"
#include "scenario_bench.h"

#include <math.h>

void test_trace_fit_register(void);

/* 16 GPUs of two nodes, four microbatches. */
static const char job[] =
    "{ 'model': { 'model_type': 'llama', 'hidden_size': 4096, 'intermediate_size': "
    "11008, 'num_hidden_layers': 32, 'num_attention_heads': 32, "
    "'num_key_value_heads': 32, 'vocab_size': 32000, 'max_position_embeddings': 4096 },"
    "  'cluster': { 'instance': 'p5.48xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1, 'precision': "
    "'bf16',"
    "    'attention': 'flash', 'gradient_accumulation_steps': 4, "
    "    'activation_checkpointing': 'full' },"
    "  'parallelism': { 'tensor': 4 } }";

struct bench {
    struct cfg_loader loader;
    struct scenario s;
    struct gpu gpu, truth;
    struct op_list list;
    struct kineto_rank r;
    struct calibration found;
    struct traced_step step;
    struct err err;
};

static void add_product(struct bench *b, const struct op *op, double times, double t)
{
    VEC_PUSH(&b->r.products, ((struct kineto_product) { .m = op->n,
                                                        .n = op->k,
                                                        .k = op->m,
                                                        .batch = op->batch,
                                                        .count = (int64_t)times,
                                                        .time_s = times * t }));
}

/* What a trace of the step on the true GPU says. */
static void add_op(struct bench *b, const struct op *op, double times, bool shapes)
{
    static const enum kernel_class classes[] = { KERNEL_PRODUCT, KERNEL_ATTENTION,
                                                 KERNEL_OTHER, KERNEL_OTHER };
    double t =
        kernel_framework_s(&b->truth, b->s.training.framework, true, op, kernel_alone);
    b->r.class_s[classes[op->kind]] += times * t;
    b->r.class_n[classes[op->kind]] += (int64_t)times;
    b->r.mean.compute_s += times * t;
    if (op->kind == OP_GEMM && shapes)
        add_product(b, op, times, t);
}

static void bench_open(struct bench *b, const char *changes, enum gpu_flash flash,
                       double products, double attention, double streams, bool shapes)
{
    memset(b, 0, sizeof(*b));
    bench_scenario(&b->loader, &b->s, job, "/parallelism/", changes);
    calibration_init(&b->found, &b->loader.arena);
    const struct op_settings settings = scenario_op_settings(&b->s);
    CU_ASSERT_EQUAL_FATAL(
        op_list_make(&b->list, &b->loader.arena, &b->s.model, &settings, &b->err), 0);
    b->gpu = b->truth = *b->s.cluster.groups[0].instance->gpu;
    b->truth.gemm[DTYPE_BF16].sustained *= products;
    for (int backward = 0; backward < 2; backward++)
        b->truth.flash_frac[flash][backward] *= attention;
    b->truth.stream_frac *= streams;
    b->r.n_kept = 1;
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *x = &b->list.blocks[i];
        double times = 4.0 * (double)x->repeat, twice = op_block_is_layer(x) ? 2 : 1;
        for (int32_t k = 0; k < x->n_forward; k++)
            add_op(b, &x->forward[k], times * twice, shapes);
        for (int32_t k = 0; k < x->n_backward; k++)
            add_op(b, &x->backward[k], times, shapes);
    }
    b->r.mean.step_s = 1.2 * b->r.mean.compute_s;
}

static void bench_close(struct bench *b)
{
    kineto_rank_release(&b->r);
    calibration_release(&b->found);
    cfg_loader_release(&b->loader);
}

static void run(struct bench *b)
{
    CU_ASSERT_EQUAL(
        calibrate_trace(&b->step, &b->found, &b->gpu, &b->s, &b->r, &b->err), 0);
}

static void near(double v, double is)
{
    CU_ASSERT_TRUE(fabs(v / is - 1) < 1e-3);
    if (!(fabs(v / is - 1) < 1e-3))
        printf("%g, not %g\n", v, is);
}

/* The rate that is found is that of the version of flash-attention that runs. */
static void test_recovers(void)
{
    static const struct {
        const char *changes;
        enum gpu_flash flash;
    } cases[] = {
        { "", GPU_FLASH_ANY },
        { "/training/framework=fsdp-eager /parallelism/sharding={'strategy':'full'} "
          "/parallelism/library=fsdp /parallelism/tensor=1",
          GPU_FLASH_2 },
    };
    for (int i = 0; i < 4; i++) {
        const bool shapes = i % 2;
        const enum gpu_flash flash = cases[i / 2].flash;
        struct bench b;
        bench_open(&b, cases[i / 2].changes, flash, 0.8, 1.25, 0.9, shapes);
        run(&b);
        CU_ASSERT_EQUAL(b.step.fits[TRACED_PRODUCTS].join,
                        shapes ? TRACED_BY_SHAPE : TRACED_BY_CLASS);
        near(b.gpu.gemm[DTYPE_BF16].sustained, b.truth.gemm[DTYPE_BF16].sustained);
        near(b.gpu.flash_frac[flash][false], b.truth.flash_frac[flash][false]);
        near(b.gpu.flash_frac[flash][true], b.truth.flash_frac[flash][true]);
        near(b.gpu.stream_frac, b.truth.stream_frac);
        CU_ASSERT_TRUE(b.step.joined_share > 0.99);
        CU_ASSERT_EQUAL(b.found.terms.n, 4);
        CU_ASSERT_TRUE(fabs(b.step.predicted_compute_s / b.step.compute_s - 1) <
                       fabs(b.step.was_compute_s / b.step.compute_s - 1));
        bench_close(&b);
    }
}

/* Shapes that the scenario lacks are not joined, and weigh in the joined share. */
static void test_other_shapes(void)
{
    struct bench b;
    bench_open(&b, "", GPU_FLASH_ANY, 1, 1, 1, true);
    double all_s = b.r.class_s[KERNEL_PRODUCT], other_s = 0;
    for (int64_t i = 0; i < b.r.products.n; i += 2) {
        b.r.products.v[i].m += 3;
        other_s += b.r.products.v[i].time_s;
    }
    run(&b);
    const struct traced_fit *f = &b.step.fits[TRACED_PRODUCTS];
    near(f->measured_s, all_s);
    near(f->joined_s, all_s - other_s);
    double ratio =
        b.gpu.gemm[DTYPE_BF16].sustained / b.truth.gemm[DTYPE_BF16].sustained;
    CU_ASSERT_TRUE(fabs(ratio - 1) < 0.01); /* passes of a shape are one mean */
    bench_close(&b);
}

/* Of a pipeline's stage, shapes alone are joined. */
static void test_stage(void)
{
    struct bench b;
    bench_open(&b, "pipeline=2", GPU_FLASH_ANY, 0.8, 1, 1, true);
    run(&b);
    near(b.gpu.gemm[DTYPE_BF16].sustained, b.truth.gemm[DTYPE_BF16].sustained);
    CU_ASSERT_EQUAL(b.step.fits[TRACED_STREAMS].join, TRACED_APART);
    CU_ASSERT_PTR_NOT_NULL(b.step.fits[TRACED_STREAMS].why);
    bench_close(&b);
}

static void test_refused(void)
{
    struct bench b;
    bench_open(&b, "", GPU_FLASH_ANY, 1, 1, 1, false);
    b.r.class_s[KERNEL_PRODUCT] *= 4; /* no GPU is as slow: other work is in it */
    run(&b);
    CU_ASSERT_EQUAL(b.step.fits[TRACED_PRODUCTS].join, TRACED_APART);
    CU_ASSERT_EQUAL(b.found.terms.n, 3);
    near(b.gpu.gemm[DTYPE_BF16].sustained,
         b.s.cluster.groups[0].instance->gpu->gemm[DTYPE_BF16].sustained);
    bench_close(&b);
    bench_open(&b, "", GPU_FLASH_ANY, 0.8, 1, 1, true);
    b.r.format_s[KERNEL_FP8] = 1; /* products of the trace are of another format */
    run(&b);
    CU_ASSERT_EQUAL(b.step.fits[TRACED_PRODUCTS].join, TRACED_APART);
    CU_ASSERT_PTR_NOT_NULL(b.step.fits[TRACED_PRODUCTS].why);
    b.r.n_kept = 0;
    CU_ASSERT_EQUAL(calibrate_trace(&b.step, &b.found, &b.gpu, &b.s, &b.r, &b.err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.err.text, "marks no step"));
    bench_close(&b);
}

void test_trace_fit_register(void)
{
    CU_pSuite s = CU_add_suite("trace_fit", NULL, NULL);
    CU_add_test(s, "terms of a known GPU", test_recovers);
    CU_add_test(s, "shapes that are not there", test_other_shapes);
    CU_add_test(s, "a pipeline's stage", test_stage);
    CU_add_test(s, "other kernels", test_refused);
}
