/* Launch scripts: what of Python is read, what is not and says why, and the scenario
 * that comes of it. Refusals: tests/bad/launch-*. */
#include "config/pointer.h"
#include "dialect/launch/launch.h"
#include "dialect/python/python.h"
#include "launch_bench.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_launch_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char *const calls[] = { "PyTorch", NULL };
static const char *const same[] = { "dumps", NULL };
static const struct python_wanted wanted = { .calls = calls, .same = same };

/* --- the language ----------------------------------------------------------------- */

/* A value as text: 1, 'a', [1], {'a': 1}, ?why. */
static void show(char *out, size_t size, const struct value *v)
{
    size_t at = 0;
    if (!v || v->kind == VALUE_UNKNOWN) {
        snprintf(out, size, "?%s", v ? v->why : "unbound");
    } else if (v->kind == VALUE_STRING) {
        snprintf(out, size, "'%s'", v->text);
    } else if (v->kind == VALUE_REAL) {
        snprintf(out, size, "%g", v->real);
    } else if (v->kind == VALUE_NONE) {
        snprintf(out, size, "None");
    } else if (v->kind == VALUE_INT || v->kind == VALUE_BOOL) {
        snprintf(out, size, "%lld", (long long)v->integer);
    } else {
        const char *brackets = v->kind == VALUE_LIST ? "[]" : "{}";
        at += (size_t)snprintf(out, size, "%c", brackets[0]);
        for (int32_t i = 0; i < v->n && at < size - 100; i++) {
            if (v->items[i].key)
                at += (size_t)snprintf(out + at, size - at, "%s:", v->items[i].key);
            show(out + at, size - at, v->items[i].value);
            at += strlen(out + at);
            at += (size_t)snprintf(out + at, size - at, ",");
        }
        snprintf(out + at, size - at, "%c", brackets[1]);
    }
}

static const struct {
    const char *text, *x; /* the value of x at the end */
} values[] = {
    { "x = 1", "1" },
    { "\xef\xbb\xbfx = -0x10", "-16" },
    { "x: int = 1_000  # note", "1000" },
    { "x = (1)\ny = 2", "1" },
    { "x = (1,)", "[1,]" },
    { "x = 1, 'a'", "[1,'a',]" },
    { "x = 5e8", "5e+08" },
    { "x = True; y = None", "1" },
    { "x = 'a' \"b\" + r'\\d'", "'ab\\d'" },
    { "x = '\\x41\\u00e9\\101\\D'", "'A\xc3\xa9"
                                    "A\\D'" },
    { "x = '''a\nb'''", "'a\nb'" },
    { "y = 'a'\nx = y + '-b'", "'a-b'" },
    { "x = f'plain'", "'plain'" },
    { "x = f'{y}'", "?y is not known before" },
    { "x = b'a'", "?it is a string made by running" },
    { "x = {'a': 1, 'b': [True, None],}", "{a:1,b:[1,None,],}" },
    { "y = {'a': 1}\nx = {**y, 'a': 2, 'b': 3}", "{a:2,b:3,}" },
    { "y = {'a': {'b': 7}}\nx = y['a']['b']", "7" },
    { "y = [1, 2]\nx = y[-1]", "2" },
    { "x = dict(a=1, b='c')", "{a:1,b:'c',}" },
    { "x = {}\nx['a'] = {}\nx['a']['b'] = 1", "{a:{b:1,},}" },
    { "x = {'a': 1}\ny = x\ny['a'] = 2", "{a:2,}" },
    { "x = {'a': 1}\ny = x.copy()\ny['a'] = 2", "{a:1,}" },
    { "x = {'a': 1}\nx.update({'b': 2}, c=3)", "{a:1,b:2,c:3,}" },
    { "x = dumps({'a': 1})", "{a:1,}" },
    { "x = y = 3", "3" },
    { "y, x = 1, 2", "2" },
    { "job.size = 4\nx = job.size", "4" },
    { "x = 24 * 60 * 60", "86400" },
    { "y = 3\nx = 2 + y * 4 - 1", "13" },
    { "x = (2 + 3) * 4", "20" },
    { "x = 8 // 3", "2" },
    { "x = -7 // 2", "-4" },
    { "x = 7 // 0", "?it is no number that can be held" },
    { "x = 9223372036854775807 + 1", "?it is no number that can be held" },
    { "x = 8 / 2", "4" },
    { "x = 2 ** 10", "1024" },
    { "x = 'a' * 3", "'aaa'" },
    { "x = 3 * 0.5", "1.5" },
    { "x = 3 * f(1)", "?f(...) is a call" },
    { "x = -n", "?n is not known before" },
    { "x = f(1)", "?f(...) is a call" },
    { "x = y", "?y is not known before" },
    { "x = 1 if y else 2", "?it is a choice: y is not known before" },
    { "x = lambda a, b=1: a", "?it is an expression with \"lambda\"" },
    { "x = [i for i in y]", "?y is not known before" },
    { "x = {i: 1 for i in y}", "?y is not known before" },
    { "x = 1\nx += 1", "2" },
    { "x = {'a': 1}\nx.pop('a')", "{}" },
    { "x = 1\nfor x in y:\n    pass", "?a loop changes it" },
    { "x = 99999999999999999999", "?it is no number that can be held" },
    { "x = 'open\ny = 1", "?its line could not be read" },
};

static void test_values(void)
{
    for (size_t i = 0; i < COUNT(values); i++) {
        struct arena arena;
        struct python p;
        struct err err = { 0 };
        char text[1000];
        arena_init(&arena);
        size_t n = strlen(values[i].text);
        CU_ASSERT(python_read(&p, &arena, values[i].text, n, &wanted, &err) == 0);
        show(text, sizeof(text), python_name(&p, "x"));
        CU_ASSERT_STRING_EQUAL(text, values[i].x);
        if (strcmp(text, values[i].x) != 0)
            fprintf(stderr, "%s\n    gives %s\n", values[i].text, text);
        python_release(&p);
        arena_release(&arena);
    }
}

/* --- calls and notebooks ---------------------------------------------------------- */

static void test_calls(void)
{
    static const struct {
        const char *text, *call; /* target, function and arguments of the last call */
    } cases[] = {
        { "e = PyTorch(a=1)", "e PyTorch {a:1,}" },
        { "import sagemaker.pytorch as p\ne = p.PyTorch(1, *b)",
          "e sagemaker.pytorch.PyTorch {0:1,}" },
        { "from sagemaker.pytorch import PyTorch as P\nP(a=1).fit()",
          "- sagemaker.pytorch.PyTorch {a:1,}" },
        { "y = {'b': 2}\ne = PyTorch(a=1, **y)", "e PyTorch {a:1,b:2,}" },
        { "t = Tuner(PyTorch(a=1), 5)", "- PyTorch {a:1,}" },
        { "def f(x=1):\n    return PyTorch(a=x)", "- PyTorch {a:1,}" },
        { "if f():\n    e = PyTorch(\n        a=1,  # note\n    )",
          "e PyTorch {a:1,}" },
        { "e = PyTorch(\n    ...\n    a=1\n)", "e PyTorch {a:1,}" },
        { "a = 1\nIn [1]:\ne = PyTorch(a=a)\nprint(it's output (\n",
          "e PyTorch {a:1,}" },
        { "In [1]:\na = 1\n```\na = 2\n```\nIn [2]:\ne = PyTorch(a=a)",
          "e PyTorch {a:1,}" },
        { "%%bash\ne = PyTorch(b=1)\nIn [2]:\n%%time\ne = PyTorch(a=1)",
          "e PyTorch {a:1,}" },
        { "text (is open\n\nIn [2]: e = PyTorch(a=1)", "e PyTorch {a:1,}" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena;
        struct python p;
        struct err err = { 0 };
        char text[1000], arguments[800] = "";
        arena_init(&arena);
        size_t n = strlen(cases[i].text);
        CU_ASSERT(python_read(&p, &arena, cases[i].text, n, &wanted, &err) == 0);
        CU_ASSERT_FATAL(p.calls.n > 0);
        const struct python_call *c = &p.calls.v[p.calls.n - 1];
        show(arguments, sizeof(arguments), c->arguments);
        snprintf(text, sizeof(text), "%s %s %s", c->target ? c->target : "-",
                 c->function, arguments);
        CU_ASSERT_STRING_EQUAL(text, cases[i].call);
        if (strcmp(text, cases[i].call) != 0)
            fprintf(stderr, "%s\n    gives %s\n", cases[i].text, text);
        python_release(&p);
        arena_release(&arena);
    }
}

/* Repeated to a long text, none of these takes long or deep, or more than it may. */
static void test_limits(void)
{
    static const struct {
        const char *piece;
        int times;
        bool refused;
    } cases[] = {
        { "(", 100000, false },        { "x = [", 100000, false },
        { "a = ", 100000, false },     { "x = {'a':\n", 100000, false },
        { "- ", 100000, false },       { "x = 'a'\nx = x + x + x\n", 20000, false },
        { "f(g(", 50000, false },      { "1, ", 100000, false },
        { "x = [1,\n", 50000, false }, { "'''\n", 100001, false },
        { "[0]", 100000, false },      { "a.", 100000, false },
        { "if x: ", 100000, false },   { "x = 1\n", 300000, true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = strlen(cases[i].piece);
        char *text = xmalloc(n * (size_t)cases[i].times + 1);
        for (int j = 0; j < cases[i].times; j++)
            memcpy(text + n * (size_t)j, cases[i].piece, n + 1);
        struct arena arena;
        struct python p;
        struct err err = { 0 };
        arena_init(&arena);
        int rc =
            python_read(&p, &arena, text, n * (size_t)cases[i].times, &wanted, &err);
        CU_ASSERT(!cases[i].refused || rc == -1);
        CU_ASSERT((rc == -1) == err.set);
        python_release(&p);
        arena_release(&arena);
        free(text);
    }
}

/* --- scenarios -------------------------------------------------------------------- */

/* A script with that estimator as the scenario; NULL when it is refused. */
static struct cfg scenario_of(struct launch *l, struct cfg_loader *loader,
                              const char *text)
{
    return load_alone(l, loader, text, ".py", NULL);
}

static const struct {
    const char *arguments, *pointer, *value;
} field_cases[] = {
    { "instance_type='ml.p3.16xlarge'", "/cluster/instance", "\"ml.p3.16xlarge\"" },
    { "train_instance_count=2", "/cluster/count", "2" },
    { "hyperparameters={'max-seq-length': '128'}", "/training/sequence_length", "128" },
    { "hyperparameters={'bf16': True}", "/training/precision", "\"amp_bf16\"" },
    { "hyperparameters={'fp16': 'False'}", "/training/precision", NULL },
    { "hyperparameters={'max_steps': -1}", "/training/steps", NULL },
    { "hyperparameters={'model_name': 'google-bert/BERT-Large-cased'}", "/model",
      "\"google-bert/BERT-Large-cased\"" },
    { "hyperparameters={'model_name': 'google-bert/BERT-Large-uncased'}", "/model",
      "\"bert-large-uncased\"" },
    { "hyperparameters={'model_name': 'meta-llama/Llama-3.1-8B-Instruct'}", "/model",
      "\"meta-llama/Llama-3.1-8B-Instruct\"" },
    { "hyperparameters={'model_id': 'gpt2-xl'}", "/model", "\"gpt2-xl\"" },
    { "hyperparameters={'model_id': 'gpt2-of-mine'}", "/model",
      "\"openai-community/gpt2\"" },
    { "hyperparameters={'model_id': 'net-of-mine'}", "/model", NULL },
    { "hyperparameters={'task_name': 'mnli', 'num_train_epochs': 3.0}",
      "/training/samples", "392702" },
    { "hyperparameters=['fp16', 'bf16']", "/training/precision", NULL },
    { "hyperparameters={'num_train_epochs': 3}", "/training/epochs", "3" },
    { "entry_point='src/run_clm.py'", "/training/task", "\"causal-lm\"" },
    { "instance_count=1, framework_version='2.0.1'", "/software/pytorch", "\"2.0.1\"" },
    { "instance_count=1, environment={'NCCL_PROTO': 'simple', 'A': f()}",
      "/software/environment", "{\"NCCL_PROTO\":\"simple\"}" },
    { "hyperparameters={'per_device_train_batch_size': 8}, "
      "distribution={'smdistributed': {'modelparallel': {'enabled': True, "
      "'parameters': {'microbatches': 4, 'fp16': True}}}}",
      "/training/micro_batch_size", "2" },
    { "max_run=3 * 24 * 3600, instance_count=1", "/job/max_run", "\"259200s\"" },
    { "instance_count=1, keep_alive_period_in_seconds=600", "/job/keep_alive",
      "\"600s\"" },
    { "instance_count=1, keep_alive_period_in_seconds=600, use_spot_instances=True",
      "/job/keep_alive", NULL },
    { "instance_count=1, input_mode='FastFile', volume_size=500", "/storage",
      "{\"mode\":\"FastFile\"}" },
    { "instance_count=1, input_mode='File', volume_size=500", "/storage",
      "{\"volume\":\"500GiB\"}" },
    { "instance_count=1, checkpoint_s3_uri=uri, hyperparameters={'save_steps': "
      "500}",
      "/job/checkpoint", "{\"to\":\"s3\",\"every\":500}" },
    { "hyperparameters={'save_steps': 500}", "/job", NULL },
    { "hyperparameters={'dataloader_num_workers': 4}", "/input", "{\"workers\":4}" },
    { "instance_type='p4d.24xlarge', hyperparameters={'fsdp': 'hybrid_shard "
      "auto_wrap'}",
      "/parallelism/sharding", "{\"strategy\":\"full\",\"degree\":8}" },
    { "hyperparameters={'fsdp': ['shard_grad_op', 'offload'], 'bf16': True}",
      "/parallelism/sharding",
      "{\"strategy\":\"gradients\",\"offload\":\"optimizer\"}" },
    { "hyperparameters={'fsdp': True, 'bf16': True}", "/training/precision",
      "\"bf16\"" },
    { "hyperparameters={'fsdp': '', 'bf16': True}", "/training/precision",
      "\"amp_bf16\"" },
    { "hyperparameters={'fsdp': 'no_shard'}", "/parallelism/sharding",
      "{\"strategy\":\"none\"}" },
    { "hyperparameters={'fsdp': '\"shard_grad_op auto_wrap\"'}",
      "/parallelism/sharding", "{\"strategy\":\"gradients\"}" },
    { "hyperparameters={'fsdp': 'full_shard', 'fsdp_config': "
      "{'activation_checkpointing': 'true'}}",
      "/training/activation_checkpointing", "\"full\"" },
    { "hyperparameters={'deepspeed': {'zero_optimization': {'stage': 2}}, "
      "'fp16': True}",
      "/training/precision", "\"fp16\"" },
    { "hyperparameters={'deepspeed': {'zero_optimization': {'stage': 2}}}",
      "/parallelism/sharding/strategy", "\"gradients\"" },
    { "hyperparameters={'attn_implementation': 'flash_attention_2'}",
      "/training/attention", "\"flash_attention_2\"" },
    { "hyperparameters={'attn_implementation': 'eager'}", "/training/attention",
      "\"eager\"" },
    { "hyperparameters={'attn_implementation': 'mine'}", "/training/attention", NULL },
    { "hyperparameters={'max_grad_norm': 0.5}", "/training/gradient_clipping", "0.5" },
    { "hyperparameters={'max_grad_norm': '1'}", "/training/gradient_clipping", "1.0" },
    { "hyperparameters={'max_grad_norm': 'nan'}", "/training/gradient_clipping", NULL },
    { "distribution={'mpi': {'enabled': True, 'processes_per_host': n()}}",
      "/distribution", "{\"mpi\":{\"enabled\":true}}" },
};

static void test_fields(void)
{
    for (size_t i = 0; i < COUNT(field_cases); i++) {
        struct launch l;
        struct cfg_loader loader;
        char text[600];
        snprintf(text, sizeof(text), "e = PyTorch(%s)\n", field_cases[i].arguments);
        json_t *v = scenario_of(&l, &loader, text).json;
        CU_ASSERT_PTR_NOT_NULL_FATAL(v);
        v = pointer_get(v, field_cases[i].pointer);
        char *got = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        bool right =
            field_cases[i].value ? got && strcmp(got, field_cases[i].value) == 0 : !got;
        CU_ASSERT(right);
        if (!right)
            fprintf(stderr, "%s gives %s\n", field_cases[i].arguments,
                    got ? got : "nothing");
        free(got);
        launch_release(&l);
        cfg_loader_release(&loader);
    }
}

/* A dictionary that holds itself is read, and cannot be used; of a list that does, its
 * words. */
static void test_itself(void)
{
    struct launch l;
    struct cfg_loader loader;
    struct cfg tree =
        scenario_of(&l, &loader,
                    "d = {'mpi': {'enabled': True}}\nd['d'] = d\nd['e'] = d\n"
                    "e = PyTorch(distribution=d)\n");
    CU_ASSERT_PTR_NOT_NULL(tree.json);
    CU_ASSERT(l.unresolved.n > 0);
    launch_release(&l);
    cfg_loader_release(&loader);
    tree = scenario_of(&l, &loader,
                       "x = ['offload']\nx.append(x)\nx.append('full_shard')\n"
                       "e = PyTorch(hyperparameters={'fsdp': x})\n");
    CU_ASSERT_PTR_NOT_NULL(pointer_get(tree.json, "/parallelism/sharding/offload"));
    launch_release(&l);
    cfg_loader_release(&loader);
}

/* What of the job is incomplete is left out with a note, unless --set completes it. */
static void test_settling(void)
{
    static const struct {
        const char *arguments, *set, *pointer;
        bool kept;
    } cases[] = {
        { "instance_count=1, max_run=600", NULL, "/job", false },
        { "instance_count=1, max_run=600", "/training/steps=10", "/job/max_run", true },
        { "instance_count=1, max_run=600", "/job/image=8GB", "/job/max_run", true },
        { "instance_count=1, checkpoint_s3_uri='s3://a', hyperparameters={'max_steps': "
          "9}",
          NULL, "/job/checkpoint", false },
        { "instance_count=1, checkpoint_s3_uri='s3://a', hyperparameters={'max_steps': "
          "9}",
          "/job/checkpoint/interval=30min", "/job/checkpoint/to", true },
        { "instance_count=1, max_run=hours()", "/training/steps=10", "/job", false },
        { "instance_count=1, input_mode='Fast'", "/input/sample=8kB", "/storage",
          false },
        { "instance_count=1, volume_size=30", NULL, "/storage", false },
        { "instance_count=1, volume_size=30", "/storage/dataset=9GB", "/storage/volume",
          true },
        { "instance_count=1, input_mode='Pipe'", "/input/sample=8kB", "/storage/mode",
          true },
        { "hyperparameters={'num_train_epochs': 3}", NULL, "/training/epochs", false },
        { "hyperparameters={'num_train_epochs': 3}", "/training/samples=100",
          "/training/epochs", true },
        { "hyperparameters={'dataloader_num_workers': 4}", NULL, "/input", false },
        { "hyperparameters={'dataloader_num_workers': 4}", "/input/cpu=5ms",
          "/input/workers", true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct launch l;
        struct cfg_loader loader;
        char text[600];
        snprintf(text, sizeof(text), "e = PyTorch(%s)\n", cases[i].arguments);
        struct cfg root = scenario_of(&l, &loader, text);
        CU_ASSERT_PTR_NOT_NULL_FATAL(root.json);
        if (cases[i].set)
            CU_ASSERT_EQUAL(cfg_set(root, cases[i].set), 0);
        launch_complete(&l, root);
        bool kept = pointer_get(root.json, cases[i].pointer) != NULL;
        CU_ASSERT_EQUAL(kept, cases[i].kept);
        CU_ASSERT(cases[i].kept || l.notes.n > 0);
        if (kept != cases[i].kept)
            fprintf(stderr, "%s, %s\n", cases[i].arguments,
                    cases[i].set ? cases[i].set : "");
        launch_release(&l);
        cfg_loader_release(&loader);
    }
}

void test_launch_register(void)
{
    CU_pSuite suite = CU_add_suite("launch scripts", NULL, NULL);
    CU_add_test(suite, "values of Python", test_values);
    CU_add_test(suite, "calls, and notebooks around them", test_calls);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "fields of the scenario", test_fields);
    CU_add_test(suite, "a dictionary in itself", test_itself);
    CU_add_test(suite, "the job around the steps", test_settling);
}
