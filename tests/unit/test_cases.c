/* Mappings of validate/cases take rows that their tables do not hold: other models,
 * machines and libraries become the scenarios that they state. */
#include "config/pointer.h"
#include "validation/rows.h"

#include <CUnit/CUnit.h>
#include <string.h>
#include <unistd.h>

void test_cases_register(void);

static const char columns[] =
    "system,model,layers,hidden,heads,vocab,seq_len,batch_per_gpu,gpus,instance,"
    "tflops_per_gpu,pct_peak,strategy,precision,optimizer,read,source,note,"
    "samples_per_s,global_batch,micro_batches,tp,pp,dp,iter_time_s,peak_mem_GB,"
    "params_B\n";

/* Made up; what is "measured" is of the size that such a job has. */
static const struct {
    const char *text;
    const char *framework, *library; /* of the scenario; NULL: the row is left out */
    int64_t micro_batch, count;
    const char *quantity;
} rows[] = {
    { "Alpa "
      "(2022),GPT,32,2560,32,51200,1024,,8,p3.16xlarge,37,,remat,fp16,,read,,,,32,4,"
      "2,2,2,2.4,8,2.6",
      "alpa", NULL, 4, 1, "step_time_s" },
    { "Alpa (2022),GPT-3 "
      "1.3B,,,,51200,1024,,16,p3.16xlarge,,,,fp16,,read,,,,64,8,1,4,4,"
      "1.3,7,",
      "alpa", NULL, 2, 2, "step_time_s" },
    { "Megatron-LM "
      "(2021),GPT,32,2560,32,51200,1024,,8,p3.16xlarge,,,,,,read,,,,32,4,2,2,"
      "2,2.4,,2.6",
      "megatron-2021", NULL, 4, 1, "step_time_s" },
    { "DeepSpeed "
      "(2021),GPT,32,2560,32,51200,1024,1,8,p3.16xlarge,,,ZeRO-3,fp16,,read,,,"
      ",,,,,,0.8,,",
      "deepspeed-zero3-2021", "deepspeed", 1, 1, "step_time_s" },
    { "PyTorch FSDP blog (2022-03),GPT-2 XL 1.5B,,,,50K,1024,4,8,1x p4d,,,full "
      "shard,fp16,,read,,,40,,,,,,,,",
      "fsdp-torch1.11", "fsdp", 4, 1, "samples_per_s" },
    { "PyTorch FSDP blog (2024),Llama 2 7B,,,,,4096,2,128,p4de (A100-80GB),,55,,bf16,,"
      "read,,,,,,,,,,,",
      "fsdp-torch2", "fsdp", 2, 16, "hfu" },
    { "SMP v2 (2023-12),Llama 2 "
      "70B,,,,,4096,2,128,ml.p5.48xlarge,400,,,bf16,,read,,,,,,,"
      ",,,,",
      "fsdp-torch2", NULL, 2, 16, "hfu" },
    { "SMDDP doc,BERT-large,,,,,128,32,16,2x "
      "ml.p3dn.24xlarge,,,,fp16,,read,,,2000,,,,,,,"
      ",",
      "smddp", NULL, 32, 2, "samples_per_s" },
    { "MiCS abstract,100B,,,,,,,512,p4d,170,54,,,,read,,,,,,,,,,,", NULL, NULL, 0, 0,
      NULL },
    { "Alpa (2022),Wide-ResNet 1B,,,,,1024,,8,p3.16xlarge,,,,,,read,,,,32,4,,,,1,,",
      NULL, NULL, 0, 0, NULL },
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static void load(struct mapping *m, struct cfg_loader *loader)
{
    char path[] = "/tmp/smsim-test-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    FILE *out = fdopen(fd, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(columns, out);
    for (size_t i = 0; i < N_ROWS; i++)
        fprintf(out, "%s\n", rows[i].text);
    fclose(out);
    cfg_loader_init(loader);
    CU_ASSERT_EQUAL_FATAL(mapping_load(m, loader, "aws_misc_training", path), 0);
    unlink(path);
}

static void check_text(json_t *tree, const char *pointer, const char *expected)
{
    const char *got = json_string_value(pointer_get(tree, pointer));
    if (expected)
        CU_ASSERT_STRING_EQUAL(got ? got : "", expected);
}

static void test_scenarios(void)
{
    struct cfg_loader loader;
    struct mapping m;
    struct rows r;
    load(&m, &loader);
    rows_resolve(&r, &loader.arena, &m);
    int64_t at = 0;
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!rows[i].framework)
            continue;
        CU_ASSERT_FATAL(at < r.outcomes.n);
        CU_ASSERT_EQUAL(r.outcomes.v[at].row, (int64_t)i);
        CU_ASSERT_PTR_NULL_FATAL(r.outcomes.v[at].error);
        json_t *tree = r.jobs.v[r.candidates.v[r.plans.v[at++].own.first]].tree;
        check_text(tree, "/training/framework", rows[i].framework);
        check_text(tree, "/parallelism/library", rows[i].library);
        CU_ASSERT_EQUAL(
            json_integer_value(pointer_get(tree, "/training/micro_batch_size")),
            rows[i].micro_batch);
        CU_ASSERT_EQUAL(json_integer_value(pointer_get(tree, "/cluster/count")),
                        rows[i].count);
    }
    CU_ASSERT_EQUAL(at, r.outcomes.n);
    rows_release(&r);
    mapping_release(&m);
    cfg_loader_release(&loader);
}

/* They run, and come out at what such jobs take, within a factor of two. */
static void test_predictions(void)
{
    struct cfg_loader loader;
    struct mapping m;
    struct mapping_run run;
    load(&m, &loader);
    mapping_run(&run, &loader.arena, &m, NULL, NULL);
    CU_ASSERT_EQUAL(run.n_failed, 0);
    for (int64_t i = 0; i < run.n_outcomes; i++) {
        const struct mapping_outcome *o = &run.outcomes[i];
        if (o->error)
            CU_FAIL(o->error);
        CU_ASSERT_FATAL(o->n_quantities > 0);
        CU_ASSERT_STRING_EQUAL(o->quantities[0].key, rows[o->row].quantity);
        for (int32_t k = 0; k < o->n_quantities; k++) {
            double ratio = o->quantities[k].predicted / o->quantities[k].measured;
            CU_ASSERT(ratio > 0.5 && ratio < 2);
        }
    }
    mapping_release(&m);
    cfg_loader_release(&loader);
}

void test_cases_register(void)
{
    CU_pSuite suite = CU_add_suite("cases", NULL, NULL);
    CU_add_test(suite, "rows become scenarios", test_scenarios);
    CU_add_test(suite, "rows are predicted", test_predictions);
}
