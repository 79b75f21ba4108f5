/* Values that are legal and extreme: the program ends within seconds and a GiB, with a
 * result or a clear error. */
#include "base/child.h"
#include "base/strbuf.h"
#include "config/cfg.h"
#include "memory/allocator.h"
#include "sample.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void test_bounded_register(void);

#define SMP "/distribution/smdistributed/modelparallel/parameters"
#define GPT(layers, width)                                                        \
    "/model='{\"model_type\":\"gpt2\",\"n_layer\":" #layers ",\"n_embd\":" #width \
    ",\"n_head\":8,\"n_positions\":1024,\"vocab_size\":50257}'"

static const char ddp[] = "bert-large-squad-2xp3.16xlarge-ddp";
static const char smddp[] = "bert-large-pretraining-4xp3dn.24xlarge-smddp";
static const char servers[] = "bert-large-squad-4xp3dn.24xlarge-servers";
static const char smp1[] = "gpt2-xl-smp-4xp3dn.24xlarge";
static const char smp2[] = "llama2-70b-smp2-16xp5.48xlarge";
static const char pipeline[] = "gpt-neox-20b-12xp4d.24xlarge";
static const char job[] = "bert-large-squad-job-2xp3.16xlarge";

#define FAILURES(samples)                                                         \
    "/uncertainty='{\"samples\":" #samples ",\"failures\":{\"mtbf_hours\":0.001," \
    "\"checkpoint_interval_s\":1,\"checkpoint_time_s\":0.5,\"job_hours\":1000000}}'"

struct extreme {
    const char *scenario, *set;
    const char *error; /* of what is refused, a part; NULL: it has a result */
};

static const struct extreme extremes[] = {
    { smddp, "/parallelism/bucket_size=1B", "at most 131072 are simulated" },
    { smddp, "/parallelism/bucket_size=1KB", "write \"1MiB\" or more" },
    { smddp, "/parallelism/bucket_size=32KB", NULL },
    { smddp, "/parallelism/bucket_size=1GB", NULL },
    { ddp, "/parallelism/bucket_size=1B", NULL },
    { servers, "/parallelism/bucket_size=1B", NULL },
    { pipeline, "/parallelism/bucket_size=1B", NULL },
    { smp1, SMP "/microbatches=10000000", "write 524288 microbatches or less" },
    { smp1, SMP "/microbatches=100000", NULL },
    { smp1, SMP "/active_microbatches=100000", NULL },
    { pipeline,
      "/training/microbatches=1048576 --set /training/global_batch_size=50331648",
      "microbatches or less" },
    { pipeline,
      "/training/microbatches=100000 --set /training/global_batch_size=4800000", NULL },
    { ddp, "/training/gradient_accumulation_steps=1000000", NULL },
    { ddp, GPT(3424, 4096), NULL },
    { ddp, GPT(10000, 512), NULL },
    { smddp, GPT(5000, 512), NULL },
    { smp2, "/cluster/count=65536", NULL },
    { job, "/training/steps=1000000000000", NULL },
    { job, "/job/checkpoint/every=1", NULL },
    { job, "/input/workers=1024", NULL },
    { ddp, FAILURES(100), NULL },
    { ddp, FAILURES(100000), "/uncertainty/samples: 100000 draws of up to 100000" },
};

/* Under a limit of memory and time, with its errors kept. */
static void check_extreme(const struct extreme *x)
{
    const char *smsim = getenv("SMSIM");
    const bool sanitized = strstr(smsim ? smsim : "", "asan") != NULL;
    char kept[64], command[1200];
    struct err err = { 0 };
    snprintf(kept, sizeof(kept), "/tmp/smsim-bounded.%d.err", (int)getpid());
    snprintf(command, sizeof(command),
             "ulimit -v %s; exec %s simulate %s --set %s >/dev/null 2>%s",
             sanitized ? "unlimited" : "2000000", smsim ? smsim : "build/smsim",
             x->scenario, x->set, kept);
    const char *const argv[] = { "/bin/sh", "-c", command, NULL };
    int rc = child_run(argv, sanitized ? 300 : 60, &err);
    bool ended = x->error ? rc == 3 : rc == 0 || rc == 1;
    if (!ended)
        printf("\n    %d of %s %s %s\n", rc, x->scenario, x->set, err.text);
    CU_ASSERT_TRUE(ended);
    char text[2000] = "";
    FILE *f = fopen(kept, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    remove(kept);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, x->error ? x->error : ""));
}

static void test_extremes(void)
{
    const size_t every = (size_t)sample_every();
    for (size_t i = 0; i < sizeof(extremes) / sizeof(extremes[0]); i += every)
        check_extreme(&extremes[i]);
}

static double spent_s(clock_t from)
{
    return (double)(clock() - from) / CLOCKS_PER_SEC;
}

/* A text of n members between two ends: read, and read into a table that knows none. */
static double read_many(struct cfg_loader *loader, const char *begin,
                        const char *member, const char *end, int n, bool *parsed)
{
    static const struct cfg_field none[] = { CFG_END };
    struct strbuf text;
    strbuf_init(&text);
    strbuf_addstr(&text, begin);
    for (int i = 0; i < n; i++) {
        strbuf_addstr(&text, i ? "," : "");
        strbuf_printf(&text, member, i);
    }
    strbuf_addstr(&text, end);
    clock_t from = clock();
    cfg_loader_init(loader);
    struct cfg root = cfg_parse(loader, "f", strbuf_get(&text), text.len);
    *parsed = root.json != NULL;
    if (*parsed)
        CU_ASSERT_EQUAL(cfg_read(root, none, NULL), -1);
    strbuf_release(&text);
    return spent_s(from);
}

static void test_documents(void)
{
    struct cfg_loader loader;
    bool parsed;
    double s = read_many(&loader, "{", "\"k%d\":1", "}", 60000, &parsed);
    CU_ASSERT_TRUE(parsed && s < 5);
    CU_ASSERT_EQUAL(loader.diags.n_errors, 60000);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(diags_error_text(&loader.diags, 19), "f:1:144: /k19: unknown"));
    cfg_loader_release(&loader);
    s = read_many(&loader, "[", "%d", "]", 20000000 / 8, &parsed);
    CU_ASSERT_TRUE(!parsed && s < 5);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(diags_error_text(&loader.diags, 0), "131072 keys and values"));
    cfg_loader_release(&loader);
    s = read_many(&loader, "{", "\"k%d\":[{}]", "}", 1000000, &parsed);
    CU_ASSERT_TRUE(!parsed && s < 5);
    cfg_loader_release(&loader);
}

/* A full GPU of many segments in part free: each new one costs what is given back. */
static void test_full_allocator(void)
{
    enum { SEGMENTS = 40000 };
    const int64_t MiB = 1 << 20;
    struct allocator *a = calloc(1, sizeof(*a));
    struct allocator_ask ask = allocator_ask(a, 9 * MiB, ALLOCATOR_COMPUTE),
                         next = allocator_ask(a, 40 * MiB, ALLOCATOR_COMPUTE),
                         last = allocator_ask(a, 50 * MiB, ALLOCATOR_COMPUTE);
    struct allocator_block **held = calloc(2 * SEGMENTS, sizeof(*held));
    allocator_init(a, 1, false);
    for (int i = 0; i < 2 * SEGMENTS; i++)
        held[i] = allocator_take(a, &ask);
    for (int i = 0; i < SEGMENTS; i++)
        allocator_free(a, held[2 * i]);
    int64_t before_B = a->reserved_B;
    CU_ASSERT_EQUAL(before_B, 20 * MiB * SEGMENTS);
    clock_t from = clock();
    for (int i = 0; i < SEGMENTS; i++) {
        struct allocator_block *b = allocator_take(a, &next);
        allocator_free(a, b);
        b = allocator_take(a, &last);
        allocator_free(a, b);
    }
    CU_ASSERT_TRUE(spent_s(from) < 1);
    CU_ASSERT_EQUAL(a->reserved_B, before_B + 50 * MiB);
    allocator_release(a);
    free(held);
    free(a);
}

/* A program that adds a folder to where modules are searched for, then what `body` writes:
 * refused within so many seconds of a processor and the memory. */
static void check_program(void (*body)(FILE *out), int limit_s)
{
    const char *smsim = getenv("SMSIM");
    bool sanitized = sample_every() > 1; /* whose shadow is larger than the limit */
    char dir[] = "/tmp/smsim-bounded-XXXXXX", command[400];
    struct err err = { 0 };
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    snprintf(command, sizeof(command), "%s/train.py", dir);
    FILE *out = fopen(command, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fprintf(out, "import sys\nsys.path.append('../src')\n");
    body(out);
    fclose(out);
    snprintf(command, sizeof(command),
             "ulimit -t %d; %s%s simulate %s/train.py --set "
             "/cluster/instance=p4d.24xlarge >%s/out 2>&1; rc=$?; rm -rf %s; exit $rc",
             sanitized ? 20 * limit_s : limit_s, sanitized ? "" : "ulimit -v 400000; ",
             smsim ? smsim : "build/smsim", dir, dir, dir);
    const char *const argv[] = { "/bin/sh", "-c", command, NULL };
    CU_ASSERT_EQUAL(child_run(argv, 60, &err), 3);
}

/* Functions of very many modules that are not there. */
static void call_many_modules(FILE *out)
{
    enum { CALLS = 3000 };
    for (int i = 0; i < CALLS; i++)
        fprintf(out, "import module%d\nvalue%d = module%d.get_config(%d)\n", i, i, i,
                i);
}

static void test_many_modules(void)
{
    check_program(call_many_modules, 20);
}

/* Functions of some that are not there, often, in a long text. */
static void call_in_rounds(FILE *out)
{
    enum { CALLS = 300, ROUNDS = 100, LINES = 18000 };
    fprintf(out, "rounds = list(range(%d))\nfor i in rounds:\n", ROUNDS);
    for (int i = 0; i < CALLS; i++)
        fprintf(out, "    value%d = module%d.compute(i)\n", i, i);
    for (int i = 0; i < LINES; i++)
        fprintf(out, "# a line of a long text, which is nothing but that\n");
}

static void test_calls_in_rounds(void)
{
    check_program(call_in_rounds, 3);
}

void test_bounded_register(void)
{
    CU_pSuite suite = CU_add_suite("bounded", NULL, NULL);
    CU_add_test(suite, "extreme values", test_extremes);
    CU_add_test(suite, "large documents", test_documents);
    CU_add_test(suite, "a full allocator", test_full_allocator);
    CU_add_test(suite, "a program of many modules", test_many_modules);
    CU_add_test(suite, "calls in rounds", test_calls_in_rounds);
}
