/* DeepSpeed's configuration: what each key becomes, its defaults, what is refused,
 * "auto", and the way there and back through a plan. More refusals:
 * tests/bad/deepspeed-*. */
#include "config/pointer.h"
#include "dialect/launch/launch.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_deepspeed_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct read {
    struct launch l;
    struct cfg_loader loader;
    struct cfg root;
    bool is_one;
};

/* Text in a file of that ending; single quotes are those of JSON. */
static void read_text(struct read *r, const char *text, const char *ending)
{
    char made[] = "/tmp/deepspeed_XXXXXX", file[64];
    int fd = mkstemp(made);
    size_t n = strlen(text);
    CU_ASSERT_FATAL(fd >= 0 && write(fd, text, n) == (ssize_t)n);
    close(fd);
    snprintf(file, sizeof(file), "%s%s", made, ending);
    CU_ASSERT_EQUAL_FATAL(rename(made, file), 0);
    cfg_loader_init(&r->loader);
    r->l = (struct launch) { 0 };
    r->is_one = launch_is_document(file);
    r->root =
        r->is_one ? launch_load(&r->l, &r->loader, file, NULL) : (struct cfg) { 0 };
    unlink(file);
}

static void release(struct read *r)
{
    launch_release(&r->l);
    cfg_loader_release(&r->loader);
}

#define SIZE "'train_micro_batch_size_per_gpu': 2"
#define ZERO(stage, more) \
    "{ " SIZE             \
    ", 'bf16': {'enabled': true}, 'zero_optimization': {'stage': " stage more "} }"
#define SHARDING "/parallelism/sharding/"

static void expect(const char *text, const char *pointer, const char *value)
{
    struct read r;
    read_text(&r, text, ".json");
    CU_ASSERT_FATAL(r.is_one);
    diags_print_errors(&r.loader.diags, stderr);
    CU_ASSERT_EQUAL(r.loader.diags.n_errors, 0);
    json_t *v = r.root.json ? pointer_get(r.root.json, pointer) : NULL;
    char *got = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    bool right = value ? got && strcmp(got, value) == 0 : !got;
    CU_ASSERT(right);
    if (!right)
        fprintf(stderr, "%s: %s is %s\n", text, pointer, got ? got : "not there");
    free(got);
    release(&r);
}

static void test_keys(void)
{
    static const struct {
        const char *text, *pointer, *value;
    } cases[] = {
        { "{ 'train_batch_size': 64 }", "/training/global_batch_size", "64" },
        { "{ " SIZE " }", "/training/micro_batch_size", "2" },
        { "{ " SIZE ", 'gradient_accumulation_steps': 4 }",
          "/training/gradient_accumulation_steps", "4" },
        { "{ " SIZE ", 'gradient_accumulation_steps': 4, 'pipeline': {'stages': 2} }",
          "/training/gradient_accumulation_steps", "4" },
        { "{ " SIZE ", 'pipeline': {'stages': 2} }", "/parallelism/pipeline", "2" },
        { "{ " SIZE ", 'tensor_parallel': {'autotp_size': 4} }", "/parallelism/tensor",
          "4" },
        { "{ " SIZE ", 'sequence_parallel_size': 4, 'data_parallel_size': 2 }",
          "/parallelism/context", "4" },
        { "{ " SIZE ", 'sequence_parallel_size': 4, 'data_parallel_size': 2 }",
          "/parallelism/context_comm", "\"alltoall\"" },
        { "{ " SIZE ", 'sequence_parallel_size': 1 }", "/parallelism/context", NULL },
        { "{ " SIZE ", 'tensor_parallel': {'autotp_size': 0} }", "/parallelism/tensor",
          NULL },
        { "{ " SIZE ", 'fp16': {'enabled': true} }", "/training/precision",
          "\"fp16\"" },
        { "{ " SIZE ", 'fp16': {'enabled': false} }", "/training/precision", NULL },
        { "{ " SIZE ", 'bfloat16': {'enabled': true} }", "/training/precision",
          "\"bf16\"" },
        { "{ " SIZE ", 'amp': {'enabled': true, 'opt_level': 'O1'} }",
          "/training/precision", "\"amp_fp16\"" },
        { "{ " SIZE ", 'communication_data_type': 'fp32' }", "/training/gradient_dtype",
          "\"fp32\"" },
        { "{ " SIZE ", 'optimizer': {'type': 'AdamW', 'params': {'lr': 1e-4}} }",
          "/training/optimizer", "\"adam\"" },
        { "{ " SIZE ", 'optimizer': {'type': 'Lamb'} }", "/training/optimizer",
          "\"lamb\"" },
        { "{ " SIZE ", 'gradient_clipping': 0.5 }", "/training/gradient_clipping",
          "0.5" },
        { "{ " SIZE ", 'gradient_clipping': 0 }", "/training/gradient_clipping", NULL },
        { "{ " SIZE ", 'activation_checkpointing': {'cpu_checkpointing': true} }",
          "/training/activation_checkpointing", "\"full\"" },
        { "{ " SIZE ", 'activation_checkpointing': {'cpu_checkpointing': true} }",
          "/parallelism/offload_activations", "true" },
        { "{ " SIZE ", 'activation_checkpointing': {'partition_activations': false} }",
          "/training/activation_checkpointing", NULL },
        { "{ " SIZE " }", "/parallelism/library", "\"deepspeed\"" },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        expect(cases[i].text, cases[i].pointer, cases[i].value);
}

static void test_zero(void)
{
    static const struct {
        const char *text, *pointer, *value;
    } cases[] = {
        { "{ " SIZE " }", SHARDING "strategy", NULL },
        { "{ " SIZE ", 'zero_optimization': true }", SHARDING "strategy",
          "\"optimizer\"" },
        { ZERO("0", ""), SHARDING "strategy", NULL },
        { ZERO("1", ""), SHARDING "strategy", "\"optimizer\"" },
        { ZERO("2", ""), SHARDING "strategy", "\"gradients\"" },
        { ZERO("3", ""), SHARDING "strategy", "\"full\"" },
        /* overlap_comm: stage 3 alone, unless it says so */
        { ZERO("0", ", 'overlap_comm': true"), "/parallelism/overlap", "false" },
        { ZERO("1", ""), "/parallelism/overlap", "false" },
        { ZERO("2", ", 'overlap_comm': true"), "/parallelism/overlap", "true" },
        { ZERO("3", ""), "/parallelism/overlap", "true" },
        /* buckets: 5e8 elements of 2 or 4 bytes; of elements in stage 3 */
        { ZERO("1", ""), "/parallelism/bucket_size", "\"1000000000B\"" },
        { ZERO("1", ", 'reduce_bucket_size': 2e8"), "/parallelism/bucket_size",
          "\"400000000B\"" },
        { "{ " SIZE ", 'zero_optimization': {'stage': 1, 'reduce_bucket_size': 2e8} }",
          "/parallelism/bucket_size", "\"800000000B\"" },
        { ZERO("3", ", 'reduce_bucket_size': 2e8"), "/parallelism/bucket_size", NULL },
        { ZERO("3", ", 'reduce_bucket_size': 2e8"), SHARDING "reduce_bucket_elements",
          "200000000" },
        { ZERO("3", ", 'stage3_param_persistence_threshold': 1e5"),
          SHARDING "param_persistence_elements", "100000" },
        { ZERO("3", ", 'stage3_max_live_parameters': 0"), SHARDING "max_live_elements",
          "1" },
        { ZERO("3", ", 'stage3_max_reuse_distance': 0"), SHARDING "max_reuse_elements",
          "0" },
        { ZERO("2", ", 'stage3_max_reuse_distance': 7"), SHARDING "max_reuse_elements",
          NULL },
        { ZERO("2", ", 'offload_optimizer': {'device': 'cpu'}"), SHARDING "offload",
          "\"optimizer\"" },
        { ZERO("2", ", 'offload_optimizer': {'device': 'none'}"), SHARDING "offload",
          NULL },
        { ZERO("2", ", 'offload_optimizer': {'pin_memory': true}"), SHARDING "offload",
          NULL },
        { ZERO("2", ", 'offload_param': {'device': 'cpu'}"), SHARDING "offload", NULL },
        { ZERO("2", ", 'cpu_offload': true"), SHARDING "offload", "\"optimizer\"" },
        { ZERO("3", ", 'offload_param': {'device': 'nvme'}"), SHARDING "offload",
          "\"parameters\"" },
        { ZERO("3", ", 'mics_shard_size': 8"), SHARDING "degree", "8" },
        { ZERO("3", ", 'mics_shard_size': -1"), SHARDING "degree", NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        expect(cases[i].text, cases[i].pointer, cases[i].value);
}

static void test_errors(void)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "{ 'train_batch_size': 0 }", ":1: train_batch_size: 0 is no whole number" },
        { "{ 'train_batch_size': 1e300 }", "is no whole number" },
        { "{ 'train_batch_size': [1] }", "it is no whole number" },
        { "{ " SIZE ", 'gradient_cliping': 1 }",
          "did you mean \"gradient_clipping\"?" },
        { ZERO("5", ""), "zero_optimization.stage: 5 is no stage" },
        { ZERO("2", ", 'overlap_com': true"), "did you mean \"overlap_comm\"?" },
        { "{ " SIZE ", 'zero_optimization': 2 }", "zero_optimization: is no object" },
        { ZERO("0", ", 'offload_optimizer': {'device': 'cpu'}"),
          "needs stage 1, 2 or 3" },
        { ZERO("3", ", 'offload_param': {'device': 'tape'}"), "has no device" },
        { ZERO("2", ", 'mics_shard_size': 8"), "MiCS needs stage 3" },
        { ZERO("2", ", 'reduce_bucket_size': -1"), "-1 is no whole number" },
        { "{ " SIZE ", 'fp16': {'enabled': true}, 'bf16': {'enabled': true} }",
          "two precisions" },
        { "{ " SIZE ", 'communication_data_type': 'int8' }", "\"int8\" is no type" },
        { "{ " SIZE ", 'fp16': 'yes' }", "fp16: \"yes\" is no object" },
        { "{ " SIZE ", 'optimizer': 3 }", "optimizer: 3 is no object" },
        { "{ " SIZE ", 'activation_checkpointing': true }", "true is no object" },
        { "{ " SIZE ", 'bf16': {'enabled': 'maybe'} }",
          "bf16.enabled: \"maybe\" is neither true nor false" },
        { ZERO("3", ", 'overlap_comm': 3"), "overlap_comm: 3 is neither" },
        { ZERO("3", ", 'mics_shard_size': 1e300"), "mics_shard_size: 1e+300 is no" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct read r;
        read_text(&r, cases[i].text, ".json");
        CU_ASSERT_FATAL(r.is_one);
        struct diags *d = &r.loader.diags;
        bool right = d->n_errors == 1 && strstr(diags_error_text(d, 0), cases[i].error);
        CU_ASSERT(right);
        if (!right)
            fprintf(stderr, "%s: %s\n", cases[i].text,
                    d->n_errors ? diags_error_text(d, 0) : "no error");
        release(&r);
    }
}

/* What is such a configuration, and what is somebody else's file. */
/* A share of the states that is less than all of them, and a group of more than one. */
static void test_unsimulated(void)
{
    static const struct {
        const char *text, *key;
        bool named;
    } cases[] = {
        { ZERO("3", ", 'offload_optimizer': {'device': 'cpu', 'ratio': 0.3}"), "ratio",
          true },
        { ZERO("3", ", 'offload_optimizer': {'device': 'cpu', 'ratio': 1.0}"), "ratio",
          false },
        { ZERO("3", ", 'zero_hpz_partition_size': 8"), "zero_hpz_partition_size",
          true },
        { ZERO("3", ", 'zero_hpz_partition_size': 1"), "zero_hpz_partition_size",
          false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct read r;
        bool named = false;
        read_text(&r, cases[i].text, ".json");
        for (int64_t j = 0; j < r.l.notes.n; j++)
            named |= strstr(r.l.notes.v[j].text, cases[i].key) &&
                     strstr(r.l.notes.v[j].text, "is not simulated");
        CU_ASSERT_EQUAL(named, cases[i].named);
        release(&r);
    }
}

static void test_detection(void)
{
    static const struct {
        const char *text, *ending;
        bool is_one;
    } cases[] = {
        { "{ " SIZE " }", ".json", true },
        { "{ " SIZE " }", ".txt", false },
        { "{ 'zero_optimization': {} }", ".json", true },
        { "{ 'model': 'gpt2', 'cluster': {}, 'train_batch_size': 1 }", ".json", false },
        { "{ 'model_type': 'gpt2' }", ".json", false },
        { "{ 'train_batch_size': ", ".json", false },
        { "[ 1 ]", ".json", false },
        { "", ".json", false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct read r;
        read_text(&r, cases[i].text, cases[i].ending);
        CU_ASSERT_EQUAL(r.is_one, cases[i].is_one);
        release(&r);
    }
    CU_ASSERT_FALSE(launch_is_document("/nowhere/ds_config.json"));
    CU_ASSERT_FALSE(launch_is_document("/tmp"));
}

/* A file is recognized by its keys however long it is; too many values are an error,
 * not another kind of file. */
static void test_large(void)
{
    enum { N = 600, EACH = 512 };
    char *text = malloc(N * (EACH + 32) + 64), *at = text;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    at += sprintf(at, "{ " SIZE);
    for (int i = 0; i < N; i++)
        at += sprintf(at, ", 'key%d': %*d", i, EACH, i);
    strcpy(at, " }");
    struct read r;
    read_text(&r, text, ".json");
    CU_ASSERT_TRUE(r.is_one);
    CU_ASSERT_EQUAL_FATAL(r.loader.diags.n_errors, 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(diags_error_text(&r.loader.diags, 0), "more than 500 values"));
    release(&r);
    free(text);
}

/* The Trainer's values: asked for, or of the model's hidden size (1600 of gpt2-xl). */
static void test_auto(void)
{
    static const char text[] =
        "{ 'train_micro_batch_size_per_gpu': 'auto', 'gradient_clipping': 'auto',"
        "  'bf16': {'enabled': 'auto'}, 'zero_optimization': {'stage': 3,"
        "  'reduce_bucket_size': 'auto',"
        "  'stage3_param_persistence_threshold': 'auto' } }";
    static const char *const sets[] = { "/model=gpt2-xl",
                                        "/cluster/instance=p4d.24xlarge",
                                        "/cluster/count=1",
                                        "/training/sequence_length=1024" };
    struct read r;
    read_text(&r, text, ".json");
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.root.json);
    for (size_t i = 0; i < COUNT(sets); i++)
        CU_ASSERT_EQUAL(cfg_set(r.root, sets[i]), 0);
    CU_ASSERT_EQUAL(launch_complete(&r.l, r.root), -1);
    /* the micro-batch, the precision, and the line that answers both */
    CU_ASSERT_EQUAL(r.loader.diags.n_errors, 3);
    CU_ASSERT_EQUAL(cfg_set(r.root, "/training/micro_batch_size=2"), 0);
    CU_ASSERT_EQUAL(cfg_set(r.root, "/training/precision=bf16"), 0);
    CU_ASSERT_EQUAL(launch_complete(&r.l, r.root), 0);
    json_t *sharding = pointer_get(r.root.json, "/parallelism/sharding");
    CU_ASSERT_EQUAL(
        json_integer_value(json_object_get(sharding, "reduce_bucket_elements")),
        1600 * 1600);
    CU_ASSERT_EQUAL(
        json_integer_value(json_object_get(sharding, "param_persistence_elements")),
        16000);
    CU_ASSERT_EQUAL(
        json_real_value(pointer_get(r.root.json, "/training/gradient_clipping")), 1);
    release(&r);
}

void test_deepspeed_register(void)
{
    CU_pSuite suite = CU_add_suite("DeepSpeed's configuration", NULL, NULL);
    CU_add_test(suite, "not simulated", test_unsimulated);
    CU_add_test(suite, "keys", test_keys);
    CU_add_test(suite, "zero_optimization", test_zero);
    CU_add_test(suite, "errors", test_errors);
    CU_add_test(suite, "which files", test_detection);
    CU_add_test(suite, "large files", test_large);
    CU_add_test(suite, "auto", test_auto);
}
