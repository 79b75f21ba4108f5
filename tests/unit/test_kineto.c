/* Traces of PyTorch's profiler: what is read of a step, whatever the pieces they come in,
 * and texts that are no such trace. */
#include "base/plain.h"
#include "kineto/json_events.h"
#include "kineto/kineto.h"
#include "kineto/spans.h"
#include "logs/logs.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

void test_kineto_register(void);

/* Two steps of 1000 us. In each: a product of 400 us, of which a sum of 100 us is
 * launched by autograd's thread; an all-reduce of 300 us, 100 of them under the product;
 * a copy of 50 us; attention of 100 us; and 250 us in which nothing runs. */
#define STEP(n, at)                                                                  \
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#" #n     \
    "\", \"pid\": 9, \"tid\": 9, \"ts\": " #at "000.000, \"dur\": 990.5, \"args\": " \
    "{\"External id\": 1}},\n"                                                       \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"tid\": 9, "      \
    "\"ts\": " #at "000, \"dur\": 5, \"args\": {\"External id\": 5" #n               \
    ", \"Input Dims\": [[4096, 1024], [1024, 512]], \"Input type\": "                \
    "[\"c10::BFloat16\", \"c10::BFloat16\"]}},\n"                                    \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "                                \
    "\"autograd::engine::evaluate_function: X\", \"tid\": 10, \"ts\": " #at          \
    "000, \"dur\": 9},\n"                                                            \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "    \
    "\"tid\": 9, \"ts\": " #at "001, \"dur\": 2, \"args\": {\"correlation\": 1" #n   \
    "}},\n"                                                                          \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "    \
    "\"tid\": 10, \"ts\": " #at "002, \"dur\": 2, \"args\": {\"correlation\": 2" #n  \
    "}},\n"                                                                          \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "    \
    "\"tid\": 9, \"ts\": " #at "840, \"dur\": 2, \"args\": {\"correlation\": 3" #n   \
    "}},\n"                                                                          \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "                                \
    "\"sm90_xmma_gemm_bf16f32_bf16f32_f32_tn_n\", \"tid\": 7, \"ts\": " #at          \
    "010, \"dur\": 300, \"args\": {\"External id\": 5" #n                            \
    ", \"device\": 0, \"stream\": 7, \"correlation\": 1" #n "}},\n"                  \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "                                \
    "\"sm90_xmma_gemm_bf16f32_bf16f32_f32_nt_n\", \"tid\": 7, \"ts\": " #at          \
    "310, \"dur\": 100, \"args\": {\"External id\": 77, \"device\": 0, \"stream\": " \
    "7, "                                                                            \
    "\"correlation\": 2" #n "}},\n"                                                  \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "                                \
    "\"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)\", \"ts\": " #at       \
    "310.000, \"dur\": 300.000, \"args\": {\"device\": 0, \"stream\": 20, "          \
    "\"correlation\": 2" #n                                                          \
    ", \"Collective name\": \"allreduce\", \"In msg nelems\": "                      \
    "1048576, \"Out msg nelems\": 1048576, \"Group size\": 8, "                      \
    "\"Global rank stride\": 4, \"dtype\": "                                         \
    "\"BFloat16\", \"Process Group Name\": \"3\", \"Process Group Description\": "   \
    "\"mesh_\\u001b[31mdp\"}},\n"                                                    \
    "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoH (Device -> "   \
    "Pinned)\", \"ts\": " #at "610, \"dur\": 50, \"args\": {\"device\": 0, "         \
    "\"stream\": 7, \"correlation\": 2" #n "}},\n"                                   \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "                                \
    "\"void flash::flash_fwd_kernel<x>(flash::Flash_fwd_params)\", \"ts\": " #at     \
    "850, \"dur\": 100, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": "  \
    "3" #n "}},\n"

#define HEAD                                                                           \
    "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, "          \
    "\"name\": "                                                                       \
    "\"NVIDIA H100 80GB HBM3\", \"numSms\": 132},{\"id\": 1, \"name\": \"other\"}],\n" \
    "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8, "  \
    "\"pg_config\": [{\"pg_name\": \"0\", \"ranks\": [0, 1]}], \"nccl_version\": "     \
    "\"2.21.5\"},\n  \"traceEvents\": [\n"

static const char two_steps[] = HEAD STEP(4, 100) STEP(
    5, 101) "{\"ph\": \"M\", \"name\": \"process_name\", \"args\": {\"name\": \"x\"}}],"
            "\n\"traceName\": \"a.json\"}\n";

static void read_pieces(struct kineto_rank *r, const char *text, size_t n, size_t piece)
{
    struct kineto *k = kineto_new();
    for (size_t at = 0; at < n; at += piece)
        kineto_feed(k, text + at, n - at < piece ? n - at : piece);
    kineto_end(k, r);
    kineto_free(k);
}

static void near(double v, double is)
{
    CU_ASSERT_DOUBLE_EQUAL(v, is, 1e-9);
}

static void check_steps(const struct kineto_rank *r)
{
    CU_ASSERT_EQUAL(r->rank, 3);
    CU_ASSERT_EQUAL(r->world, 8);
    CU_ASSERT_STRING_EQUAL(r->device, "NVIDIA H100 80GB HBM3");
    CU_ASSERT_STRING_EQUAL(r->nccl, "2.21.5");
    CU_ASSERT_STRING_EQUAL(r->precision, "bf16/fp16");
    CU_ASSERT_TRUE(r->whole && r->marks == KINETO_HOST_MARKS && r->backward);
    CU_ASSERT_EQUAL(r->n_kernels, 10);
    CU_ASSERT_EQUAL_FATAL(r->steps.n, 2);
    CU_ASSERT_EQUAL(r->steps.v[1].number, 5);
    near(r->steps.v[0].step_s, 1000e-6); /* to the next mark */
    near(r->steps.v[1].step_s, 990.5e-6);
    const struct kineto_step *s = &r->steps.v[0];
    near(s->compute_s, 500e-6);
    near(s->comm_s, 300e-6);
    near(s->exposed_s, 200e-6);
    near(s->copy_exposed_s, 50e-6);
    near(s->idle_s, 250e-6);
    near(s->host_s, 250e-6); /* each kernel was launched after the one before ended */
    CU_ASSERT_EQUAL(r->n_kept, 2);
}

/* What the host did while the GPU waited: in the first step it waits for the GPU when the
 * copy ends, and gives memory back at the step's end; a thread that launches nothing waits
 * all the time. */
static void test_late(void)
{
#define CALL(name, thread, at, length)                             \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"" name \
    "\", \"tid\": " #thread ", \"ts\": " #at ", \"dur\": " #length "},\n"
    static const char text[] = HEAD CALL("cudaStreamSynchronize", 9, 100600, 100)
        CALL("cudaFree_v3020", 9, 100940, 30) CALL("cudaMallocHost", 9, 100000, 9)
            CALL("cudaEventSynchronize", 99, 100000, 2000) STEP(4, 100)
                STEP(5, 101) "{}]}";
    struct kineto_rank r;
    read_pieces(&r, text, sizeof(text) - 1, sizeof(text));
    CU_ASSERT_EQUAL_FATAL(r.steps.n, 2);
    const double *late_s = r.steps.v[0].late_s;
    near(late_s[LATE_SYNC], 190e-6);
    near(late_s[LATE_ALLOCATOR], 50e-6);
    near(late_s[LATE_LAUNCHES], 10e-6);
    near(late_s[LATE_LOADER] + late_s[LATE_OPTIMIZER], 0);
    near(r.steps.v[0].host_s, 250e-6);
    near(r.steps.v[1].late_s[LATE_LAUNCHES], r.steps.v[1].host_s);
    CU_ASSERT_TRUE(r.launches);
    kineto_rank_release(&r);
#undef CALL
}

static void test_steps(void)
{
    static const size_t pieces[] = { 1, 7, 4096, sizeof(two_steps) };
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct kineto_rank r;
        read_pieces(&r, two_steps, sizeof(two_steps) - 1, pieces[i]);
        check_steps(&r);
        kineto_rank_release(&r);
    }
}

/* Sums are of a step. */
static void test_kernels(void)
{
    struct kineto_rank r;
    read_pieces(&r, two_steps, sizeof(two_steps) - 1, 1000);
    near(r.class_s[KERNEL_PRODUCT], 400e-6);
    near(r.class_s[KERNEL_ATTENTION], 100e-6);
    near(r.class_s[KERNEL_COMM], 300e-6);
    near(r.class_s[KERNEL_COPY], 50e-6);
    near(r.backward_s[KERNEL_PRODUCT], 100e-6);
    CU_ASSERT_EQUAL(r.class_n[KERNEL_PRODUCT], 2);
    CU_ASSERT_EQUAL_FATAL(r.comms.n, 1);
    const struct kineto_comm *c = &r.comms.v[0];
    CU_ASSERT_EQUAL(c->stride, 4);
    CU_ASSERT_EQUAL(c->kind, COMM_ALL_REDUCE);
    CU_ASSERT_EQUAL(c->n, 2);
    CU_ASSERT_EQUAL(c->group, 8);
    near(c->size_B, 2 * 1048576.0);
    near(c->least_s, 300e-6);
    near(c->exposed_s, 2 * 200e-6);
    CU_ASSERT_EQUAL(plain_length(c->of, false), strlen(c->of));
    CU_ASSERT_EQUAL_FATAL(r.products.n, 1);
    CU_ASSERT_EQUAL(r.products.v[0].m, 4096);
    CU_ASSERT_EQUAL(r.products.v[0].n, 512);
    CU_ASSERT_EQUAL(r.products.v[0].k, 1024);
    CU_ASSERT_EQUAL(r.products.v[0].count, 2);
    near(r.products.v[0].time_s, 600e-6);
    kineto_rank_release(&r);
}

static void test_classes(void)
{
    static const struct {
        const char *name;
        enum kernel_class class;
        enum kernel_format format;
    } cases[] = {
        { "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", KERNEL_PRODUCT, KERNEL_ANY },
        { "ampere_sgemm_128x64_nn", KERNEL_PRODUCT, KERNEL_FP32 },
        { "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align4>(x)",
          KERNEL_PRODUCT, KERNEL_TF32 },
        { "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", KERNEL_PRODUCT,
          KERNEL_HALF },
        { "void cutlass::device_kernel<flash::FlashAttnBwd<x>>", KERNEL_ATTENTION,
          KERNEL_ANY },
        { "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",
          KERNEL_ATTENTION, KERNEL_HALF },
        { "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10>",
          KERNEL_SOFTMAX, KERNEL_ANY },
        { "void at::native::cunn_SoftMaxForward<4, float, LogSoftMaxForwardEpilogue>",
          KERNEL_OTHER, KERNEL_ANY },
        { "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>",
          KERNEL_OPTIMIZER, KERNEL_ANY },
        { "sm80_xmma_fprop_implicit_gemm_tf32f32", KERNEL_CONVOLVE, KERNEL_TF32 },
        { "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", KERNEL_COMM,
          KERNEL_ANY },
        { "Memset (Device)", KERNEL_COPY, KERNEL_ANY },
        { "void at::native::vectorized_elementwise_kernel<4, FillFunctor<float>>",
          KERNEL_OTHER, KERNEL_ANY },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CU_ASSERT_EQUAL(kernel_class_of(cases[i].name), cases[i].class);
        CU_ASSERT_EQUAL(kernel_format_of(cases[i].name), cases[i].format);
    }
    CU_ASSERT_EQUAL(kernel_comm_of("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL"),
                    COMM_REDUCE_SCATTER);
    CU_ASSERT_EQUAL(kernel_comm_named("_reduce_scatter_base"), COMM_REDUCE_SCATTER);
    CU_ASSERT_EQUAL(kernel_comm_named("all_to_allv"), COMM_ALL_TO_ALL);
}

/* Marks of the GPU are used before the host's; a step that takes twice the median is
 * left out, and so is the wait until the profiler's next cycle. */
static void test_marks(void)
{
    char text[8192] = "[";
    static const struct {
        const char *category;
        int number, at, length;
    } marks[] = {
        { "gpu_user_annotation", 1, 1000, 100 }, { "gpu_user_annotation", 2, 1110, 90 },
        { "gpu_user_annotation", 3, 1200, 300 }, { "gpu_user_annotation", 9, 9000, 95 },
        { "user_annotation", 1, 100, 50 },       { "user_annotation", 2, 150, 50 },
    };
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof(text) - n,
                 "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"ProfilerStep#%d\",\"ts\":%d,"
                 "\"dur\":%d},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\","
                 "\"ts\":%d,\"dur\":40,\"args\":{\"device\":0}},",
                 marks[i].category, marks[i].number, marks[i].at, marks[i].length,
                 marks[i].at);
    }
    strcat(text, "]");
    struct kineto_rank r;
    CU_ASSERT_TRUE(kineto_is(text, strlen(text)));
    read_pieces(&r, text, strlen(text), 99);
    CU_ASSERT_EQUAL(r.marks, KINETO_GPU_MARKS);
    CU_ASSERT_EQUAL_FATAL(r.steps.n, 4);
    near(r.steps.v[0].step_s, 110e-6);
    near(r.steps.v[2].step_s, 300e-6);
    CU_ASSERT_EQUAL(r.n_kept, 3);
    near(r.mean.step_s, (110 + 90 + 95) / 3.0 * 1e-6);
    near(r.mean.compute_s, 40e-6);
    kineto_rank_release(&r);
}

static void test_spans(void)
{
    struct spans s = { 0 };
    spans_add(&s, 10, 20, 0);
    spans_add(&s, 15, 18, 0);
    spans_add(&s, 20, 25, 0);
    spans_add(&s, 40, 50, 0);
    spans_add(&s, 45, 45, 0);
    CU_ASSERT_EQUAL(s.v.n, 2);
    for (int64_t from = 0; from < 60; from++)
        for (int64_t to = from; to < 60; to++) {
            int64_t is = 0;
            for (int64_t t = from; t < to; t++)
                is += (t >= 10 && t < 25) || (t >= 40 && t < 50);
            CU_ASSERT_EQUAL(spans_covered(&s, from, to), is);
        }
    spans_release(&s);
}

/* Texts that are none, are cut off, or have numbers that no trace has: read without a
 * fault, and nothing that is kept has control characters. */
static void test_hostile(void)
{
    static const char *const texts[] = {
        "",
        "{",
        "[",
        "{\"traceEvents\": [",
        "{\"traceEvents\": [{\"ph\": \"X\"",
        "{\"traceEvents\": [{]}",
        "]]]]",
        "{\"traceEvents\": [[[[[[[[[[[[[[{}]]}",
        HEAD "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"\\u001b[2J\\\\\",\"ts\":1e99,"
             "\"dur\":-1,\"args\":{\"device\":-99999999999,\"stream\":\"x\"}}]}",
        HEAD
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nccl\",\"ts\":4e15,\"dur\":"
        "1e12,\"args\":{\"In msg nelems\":1e300,\"Group size\":-5,\"dtype\":"
        "\"\\u009b31mInt\",\"correlation\":9e18}},{\"ph\":\"X\",\"cat\":\"kernel\","
        "\"name\":\"gemm\",\"ts\":0,\"dur\":1e12}]}",
        HEAD
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::bmm\",\"ts\":0,\"dur\":1,"
        "\"args\":{\"External id\":1,\"Input Dims\":[[],[[1,2],3],[9,9,9,9,9,9],"
        "[0,0],[1],[1],[1]]}}]}",
        HEAD "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#"
             "99999999999999999999\",\"ts\":nan,\"dur\":Infinity}]}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct kineto_rank r;
        read_pieces(&r, texts[i], strlen(texts[i]), 3);
        CU_ASSERT_TRUE(isfinite(r.mean.step_s) && r.mean.step_s >= 0);
        CU_ASSERT_TRUE(r.mean.idle_s >= 0 && r.mean.exposed_s >= 0);
        for (int64_t k = 0; k < r.comms.n; k++)
            CU_ASSERT_EQUAL(plain_length(r.comms.v[k].of, false),
                            strlen(r.comms.v[k].of));
        kineto_rank_release(&r);
    }
}

/* Depth has a bound, and text that goes on for ever is cut. */
static void test_bounds(void)
{
    struct kineto *k = kineto_new();
    struct kineto_rank r;
    char text[1024];
    memset(text, '[', sizeof(text));
    kineto_feed(k, text, sizeof(text));
    kineto_end(k, &r);
    CU_ASSERT_FALSE(r.whole);
    kineto_rank_release(&r);
    kineto_free(k);
    k = kineto_new();
    kineto_feed(k, "{\"a\": \"", 7);
    memset(text, 'x', sizeof(text));
    for (int i = 0; i < 64; i++)
        kineto_feed(k, text, sizeof(text));
    kineto_feed(k, "\"}", 2);
    kineto_end(k, &r);
    CU_ASSERT_TRUE(r.whole);
    kineto_rank_release(&r);
    kineto_free(k);
}

/* A trace among logs, gzip: its steps are records. A line of JSON is no trace. */
static void test_among_logs(void)
{
    char name[] = "/tmp/smsim-kineto-XXXXXX";
    int fd = mkstemp(name);
    CU_ASSERT_TRUE_FATAL(fd >= 0);
    gzFile out = gzdopen(fd, "wb");
    gzwrite(out, two_steps, sizeof(two_steps) - 1);
    gzclose(out);
    struct logs l;
    struct err err = { 0 };
    logs_init(&l);
    CU_ASSERT_EQUAL(logs_read(&l, name, &err), 0);
    CU_ASSERT_TRUE(logs_found(&l));
    CU_ASSERT_EQUAL_FATAL(l.traces.n, 1);
    check_steps(&l.traces.v[0]);
    CU_ASSERT_EQUAL_FATAL(l.records.n, 2);
    near(l.records.v[0].time_s, 1000e-6);
    CU_ASSERT_EQUAL(l.records.v[1].step, 5);
    logs_release(&l);
    unlink(name);
    CU_ASSERT_FALSE(kineto_is("{\"train_runtime\": 512.6}\n", 25));
    CU_ASSERT_FALSE(kineto_is("[rank0]: iteration 5", 20));
    CU_ASSERT_FALSE(kineto_is("", 0));
}

void test_kineto_register(void)
{
    CU_pSuite s = CU_add_suite("kineto", NULL, NULL);
    CU_add_test(s, "steps of a trace", test_steps);
    CU_add_test(s, "late launches", test_late);
    CU_add_test(s, "kernels and collectives", test_kernels);
    CU_add_test(s, "classes by name", test_classes);
    CU_add_test(s, "marks of steps", test_marks);
    CU_add_test(s, "intervals", test_spans);
    CU_add_test(s, "hostile texts", test_hostile);
    CU_add_test(s, "bounds", test_bounds);
    CU_add_test(s, "among logs", test_among_logs);
}
