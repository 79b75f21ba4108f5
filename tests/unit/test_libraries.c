/* What libraries are called, and which of them take accumulation steps for the
 * microbatches of their pipelines. */
#include "scenario/libraries.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_libraries_register(void);

struct loaded {
    struct cfg_loader loader;
    struct scenario s;
    int rc;
};

static void unload(struct loaded *l)
{
    cfg_loader_release(&l->loader);
}

/* Llama-3 8B on 4 p4d.24xlarge: tensor 2, pipeline 4, 32 pieces of a batch. */
static void load_pieces(struct loaded *l, const char *library, const char *training,
                        int64_t pipeline)
{
    char text[1000];
    snprintf(text, sizeof(text),
             "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'p4d.24xlarge', "
             "'count': 4 }, 'training': { 'sequence_length': 2048, %s, "
             "'precision': 'bf16' }, 'parallelism': { 'library': '%s', 'tensor': 2, "
             "'pipeline': %lld } }",
             training, library, (long long)pipeline);
    cfg_loader_init(&l->loader);
    l->rc = scenario_read(&l->s, &l->loader,
                          cfg_parse(&l->loader, "text", text, strlen(text)));
}

/* Megatron and DeepSpeed know no other microbatches than accumulation steps; a schedule
 * of PyTorch's and smp.step are run once for each step. */
static void test_accumulation(void)
{
    static const struct {
        const char *library;
        int64_t microbatches, accumulation;
    } cases[] = {
        { "megatron", 32, 1 }, { "deepspeed", 32, 1 }, { "ddp", 1, 32 },
        { "fsdp", 1, 32 },     { "smp", 1, 32 },       { "smp-v1", 1, 32 },
        { "horovod", 1, 32 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static const char training[] =
            "'micro_batch_size': 1, 'gradient_accumulation_steps': 32";
        bool joins = cases[i].accumulation == 1;
        struct loaded l;
        load_pieces(&l, cases[i].library, training, 4);
        CU_ASSERT_EQUAL_FATAL(l.rc, 0);
        CU_ASSERT_EQUAL(l.s.training.microbatches, cases[i].microbatches);
        CU_ASSERT_EQUAL(l.s.training.accumulation, cases[i].accumulation);
        CU_ASSERT_EQUAL(l.s.training.global_batch_size, 128);
        CU_ASSERT_EQUAL(l.s.n_notes, joins);
        if (joins)
            CU_ASSERT_PTR_NOT_NULL(
                strstr(l.s.notes[0].text,
                       "32 accumulation steps are the pipeline's 32 micro"));
        unload(&l);
        load_pieces(&l, cases[i].library, training, 1); /* no pipeline: as written */
        CU_ASSERT_EQUAL(l.s.training.accumulation, 32);
        unload(&l);
    }
}

static void test_joined_batch(void)
{
    static const struct {
        const char *training;
        int64_t microbatches; /* 0: an error */
    } cases[] = {
        { "'micro_batch_size': 1, 'global_batch_size': 128", 32 },
        { "'gradient_accumulation_steps': 32, 'global_batch_size': 128", 32 },
        { "'micro_batch_size': 1, 'gradient_accumulation_steps': 4, "
          "'microbatches': 8",
          32 },
        { "'micro_batch_size': 1, 'microbatches': 8, 'global_batch_size': 128", 32 },
        { "'micro_batch_size': 1, 'gradient_accumulation_steps': 8, "
          "'global_batch_size': 128",
          0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        load_pieces(&l, "megatron", cases[i].training, 4);
        CU_ASSERT_EQUAL(l.rc == 0, cases[i].microbatches != 0);
        if (l.rc == 0) {
            CU_ASSERT_EQUAL(l.s.training.microbatches, cases[i].microbatches);
            CU_ASSERT_EQUAL(l.s.training.accumulation, 1);
        }
        unload(&l);
    }
}

static void test_library_words(void)
{
    static const struct {
        const char *word;
        enum library library;
        enum backend backend;
    } cases[] = {
        { "smp", LIBRARY_SMP, BACKEND_NCCL },
        { "smp-v1", LIBRARY_SMP, BACKEND_NCCL },
        { "smp-v2", LIBRARY_FSDP, BACKEND_NCCL },
        { "smddp", LIBRARY_DDP, BACKEND_SMDDP },
        { "ddp", LIBRARY_DDP, BACKEND_NCCL },
        { "parameter-server", LIBRARY_PARAMETER_SERVER, BACKEND_NCCL },
    };
    struct loaded l;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        load_pieces(&l, cases[i].word, "'micro_batch_size': 1", 1);
        CU_ASSERT_EQUAL_FATAL(l.rc, 0);
        CU_ASSERT_EQUAL(l.s.parallel.reduce.library, cases[i].library);
        CU_ASSERT_EQUAL(l.s.parallel.reduce.backend, cases[i].backend);
        unload(&l);
    }
    load_pieces(&l, "smp-v2", "'micro_batch_size': 1", 4);
    CU_ASSERT_EQUAL(l.rc, -1); /* it has no pipelines */
    unload(&l);
}

/* Where nothing is written, a bucket is the release's, the library's or the
 * profile's. */
static void test_default_buckets(void)
{
    static const struct {
        const char *section;
        int64_t bucket_B, first_B;
    } cases[] = {
        { "'parallelism': { 'library': 'ddp' }", 25 << 20, 1 << 20 },
        { "'parallelism': { 'library': 'smddp' }", 32 << 20, 1 << 20 },
        { "'parallelism': { 'library': 'horovod' }", 64 << 20, 64 << 20 },
        { "'parallelism': { 'library': 'horovod' }, 'software': { 'horovod': '0.28' }",
          128 << 20, 128 << 20 },
        { "'parallelism': { 'library': 'horovod' }, 'software': { 'horovod': '0.19.5' "
          "}",
          64 << 20, 64 << 20 },
        { "'parallelism': { 'library': 'deepspeed' }", 1000000000, 1000000000 },
        { "'parallelism': { 'library': 'megatron', 'overlap': true }", 160000000,
          160000000 },
        { "'parallelism': { 'library': 'megatron', 'overlap': false }", 0, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        char text[1000];
        snprintf(text, sizeof(text),
                 "{ 'model': 'gpt2-xl', 'cluster': { 'instance': 'p4d.24xlarge', "
                 "'count': 4 }, 'training': { 'sequence_length': 1024, "
                 "'micro_batch_size': 1, 'precision': 'bf16' }, %s }",
                 cases[i].section);
        cfg_loader_init(&l.loader);
        l.rc = scenario_read(&l.s, &l.loader,
                             cfg_parse(&l.loader, "text", text, strlen(text)));
        CU_ASSERT_EQUAL_FATAL(l.rc, 0);
        CU_ASSERT_EQUAL(l.s.parallel.reduce.bucket_B, cases[i].bucket_B);
        CU_ASSERT_EQUAL(l.s.parallel.reduce.first_bucket_B, cases[i].first_B);
        unload(&l);
    }
}

/* Pipelines keep whole what their library does not shard with them. */
static void test_pipeline_shardings(void)
{
    static const struct {
        const char *library, *strategy;
        int rc;
    } cases[] = {
        { "deepspeed", "optimizer", 0 }, { "deepspeed", "gradients", -1 },
        { "deepspeed", "full", -1 },     { "fsdp", "full", 0 },
        { "fsdp", "gradients", 0 },      { "smp", "optimizer", 0 },
        { "smp", "full", -1 },           { "megatron", "optimizer", 0 },
        { "megatron", "full", -1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        char library[200];
        snprintf(library, sizeof(library),
                 "%s', 'sharding': { 'strategy': '%s' }, 'backend': 'nccl",
                 cases[i].library, cases[i].strategy);
        load_pieces(&l, library, "'micro_batch_size': 1", 4);
        CU_ASSERT_EQUAL(l.rc, cases[i].rc);
        unload(&l);
    }
}

void test_libraries_register(void)
{
    CU_pSuite s = CU_add_suite("libraries", NULL, NULL);
    CU_add_test(s, "accumulation steps of each library", test_accumulation);
    CU_add_test(s, "steps joined to microbatches", test_joined_batch);
    CU_add_test(s, "words for libraries", test_library_words);
    CU_add_test(s, "default buckets of each library", test_default_buckets);
    CU_add_test(s, "shardings with pipelines", test_pipeline_shardings);
}
