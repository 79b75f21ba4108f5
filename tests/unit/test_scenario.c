/* Scenarios: the shipped ones, defaults, the arithmetic of the batch, the dictionary of
 * SageMaker, what GPUs hold for parameters, and the exact words of errors. */
#include "config/datadir.h"
#include "scenario/libraries.h"
#include "scenario/scenario.h"
#include "scenario/states.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_scenario_register(void);

/* --- a scenario with a few values changed ---------------------------------------- */

static const char base_text[] =
    "{ 'model': 'bert-large-uncased',"
    "  'cluster': { 'instance': 'ml.p3.16xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 384, 'micro_batch_size': 4 } }";

enum { CHANGES_MAX = 4 };

struct loaded {
    struct cfg_loader loader;
    struct scenario s;
    int rc;
};

static void load_text(struct loaded *l, const char *text, const char *const *changes)
{
    cfg_loader_init(&l->loader);
    struct cfg root = cfg_parse(&l->loader, "text", text, strlen(text));
    for (int i = 0; changes && i < CHANGES_MAX && changes[i]; i++)
        CU_ASSERT_EQUAL(cfg_set(root, changes[i]), 0);
    l->rc = scenario_read(&l->s, &l->loader, root);
    if (l->rc == 0)
        CU_ASSERT_EQUAL(l->loader.diags.n_errors, 0);
}

static void load_changed(struct loaded *l, const char *a, const char *b, const char *c)
{
    const char *changes[CHANGES_MAX] = { a, b, c, NULL };
    load_text(l, base_text, changes);
}

static void load_file(struct loaded *l, const char *name)
{
    cfg_loader_init(&l->loader);
    const char *file = datadir_file(&l->loader.arena, "scenarios", name);
    l->rc = scenario_read(&l->s, &l->loader, cfg_load(&l->loader, file));
    if (l->rc)
        diags_print_errors(&l->loader.diags, stderr);
}

static void unload(struct loaded *l)
{
    cfg_loader_release(&l->loader);
}

/* --- what is left open ------------------------------------------------------------ */

static const char *assumed(const struct scenario *s, const char *pointer)
{
    for (int32_t i = 0; i < s->assumed.n; i++)
        if (strcmp(s->assumed.v[i].pointer, pointer) == 0)
            return s->assumed.v[i].value;
    return "";
}

/* Each default is a row, and none where the file says it. */
static void test_assumed(void)
{
    static const struct {
        const char *pointer, *value, *set;
    } rows[] = {
        { "/training/precision", "fp32", "fp16" },
        { "/training/optimizer", "adam", "lamb" },
        { "/training/activation_checkpointing", "none", "full" },
        { "/training/framework", "pytorch-ddp", "pytorch2-fused" },
        { "/parallelism/library", "ddp", "horovod" },
        { "/parallelism/bucket_size", "25 MiB", "10MB" },
    };
    struct loaded l;
    load_changed(&l, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CU_ASSERT_STRING_EQUAL(assumed(&l.s, rows[i].pointer), rows[i].value);
    unload(&l);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char set[128];
        snprintf(set, sizeof(set), "%s=%s", rows[i].pointer, rows[i].set);
        load_changed(&l, set, NULL, NULL);
        CU_ASSERT_EQUAL(l.rc, 0);
        CU_ASSERT_STRING_EQUAL(assumed(&l.s, rows[i].pointer), "");
        unload(&l);
    }
}

/* --- shipped scenarios ------------------------------------------------------------ */

static void test_shipped(void)
{
    static const struct {
        const char *name, *instance;
        int protocol, warnings;
    } shipped[] = {
        { "bert-large-squad-2xp3.16xlarge", "p3.16xlarge", -1, 1 },
        { "bert-large-squad-2xp3.16xlarge-ddp", "p3.16xlarge", -1, 0 },
        { "bert-large-squad-2xp3dn.24xlarge", "p3dn.24xlarge", FABRIC_PROTO_SIMPLE, 0 },
        { "bert-large-squad-2xp4d.24xlarge", "p4d.24xlarge", FABRIC_PROTO_SIMPLE, 0 },
    };
    for (size_t i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++) {
        struct loaded l;
        load_file(&l, shipped[i].name);
        CU_ASSERT_EQUAL_FATAL(l.rc, 0);
        const struct scenario *s = &l.s;
        CU_ASSERT_STRING_EQUAL(s->name, shipped[i].name);
        CU_ASSERT_STRING_EQUAL(s->cluster.groups[0].instance->name,
                               shipped[i].instance);
        CU_ASSERT_TRUE(s->cluster.sagemaker);
        CU_ASSERT_EQUAL(scenario_world(s), 16);
        CU_ASSERT_EQUAL(s->training.global_batch_size, 64);
        CU_ASSERT_EQUAL(s->training.precision, OP_AMP_FP16);
        CU_ASSERT_EQUAL(s->model.ends.head, MODEL_HEAD_SPAN);
        CU_ASSERT_EQUAL(s->parallel.reduce.library, LIBRARY_DDP);
        CU_ASSERT_EQUAL(scenario_job_steps(s), 100);
        CU_ASSERT_PTR_NOT_NULL(s->fabric);
        CU_ASSERT_EQUAL(s->software.protocol, shipped[i].protocol);
        CU_ASSERT_EQUAL(l.loader.diags.n_warnings, shipped[i].warnings);
        unload(&l);
    }
}

/* Every other scenario that is shipped is read without an error, even when checked. */
static void test_all_shipped(void)
{
    struct cfg_loader names;
    cfg_loader_init(&names);
    for (const char **name = datadir_list(&names.arena, "scenarios"); *name; name++) {
        struct cfg_loader loader;
        struct scenario s;
        cfg_loader_init(&loader);
        const char *file = datadir_file(&loader.arena, "scenarios", *name);
        CU_ASSERT_EQUAL(scenario_check(&s, &loader, cfg_load(&loader, file)), 0);
        diags_print_errors(&loader.diags, stderr);
        CU_ASSERT_STRING_EQUAL(s.name, *name);
        cfg_loader_release(&loader);
    }
    cfg_loader_release(&names);
}

/* --- defaults --------------------------------------------------------------------- */

static void test_defaults(void)
{
    struct loaded l;
    load_changed(&l, NULL, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(l.rc, 0);
    const struct training *t = &l.s.training;
    const struct parallelism *p = &l.s.parallel;
    CU_ASSERT_STRING_EQUAL(l.s.name, "bert-large-uncased-2xp3.16xlarge");
    CU_ASSERT_EQUAL(t->microbatches, 1);
    CU_ASSERT_EQUAL(t->accumulation, 1);
    CU_ASSERT_EQUAL(t->global_batch_size, 64);
    CU_ASSERT_EQUAL(t->precision, OP_FP32);
    CU_ASSERT_EQUAL(t->gradient_dtype, -1);
    CU_ASSERT_EQUAL(t->optimizer, OPTIMIZER_ADAM);
    CU_ASSERT_EQUAL(t->checkpointing, CHECKPOINT_NONE);
    CU_ASSERT_EQUAL(t->attention, OP_ATTENTION_EFFICIENT);
    CU_ASSERT_STRING_EQUAL(t->framework->name, "pytorch-ddp");
    CU_ASSERT_EQUAL(p->tensor * p->pipeline * p->context * p->expert, 1);
    CU_ASSERT_EQUAL(p->data, 16);
    CU_ASSERT_EQUAL(p->shard.strategy, SHARDING_NONE);
    CU_ASSERT_EQUAL(p->reduce.backend, BACKEND_NCCL);
    CU_ASSERT_EQUAL(p->reduce.bucket_B, 25 << 20);
    CU_ASSERT_EQUAL(p->reduce.first_bucket_B, 1 << 20);
    CU_ASSERT_TRUE(p->reduce.overlap);
    CU_ASSERT_STRING_EQUAL(p->placement, "DPT");
    CU_ASSERT_EQUAL(l.s.software.protocol, -1);
    CU_ASSERT_EQUAL(l.s.software.limits.no_algorithm[NCCL_ALL_REDUCE], 0);
    CU_ASSERT_EQUAL(scenario_job_steps(&l.s), 0);
    unload(&l);
}

static void test_one_node_has_no_fabric(void)
{
    struct loaded l;
    load_changed(&l, "/cluster/count=1", NULL, NULL);
    CU_ASSERT_EQUAL(l.rc, 0);
    CU_ASSERT_PTR_NULL(l.s.fabric);
    unload(&l);
}

static void test_buckets(void)
{
    struct loaded l;
    load_changed(&l, "/parallelism/bucket_size=100MiB", "/parallelism/overlap=false",
                 NULL);
    CU_ASSERT_EQUAL(l.s.parallel.reduce.bucket_B, 100 << 20);
    CU_ASSERT_EQUAL(l.s.parallel.reduce.first_bucket_B, 1 << 20);
    CU_ASSERT_FALSE(l.s.parallel.reduce.overlap);
    unload(&l);
    load_changed(&l, "/parallelism/bucket_size=1KiB", NULL, NULL);
    CU_ASSERT_EQUAL(l.s.parallel.reduce.first_bucket_B, 1 << 10);
    unload(&l);
    load_changed(&l, "/parallelism/library=horovod", "/parallelism/fusion_cycle=5ms",
                 NULL);
    CU_ASSERT_EQUAL_FATAL(l.rc, 0);
    CU_ASSERT_STRING_EQUAL(l.s.training.framework->name, "horovod-pytorch");
    CU_ASSERT_EQUAL(l.s.parallel.reduce.library, LIBRARY_HOROVOD);
    CU_ASSERT_DOUBLE_EQUAL(l.s.parallel.reduce.fusion_cycle_s, 5e-3, 1e-12);
    unload(&l);
}

/* Without ZeRO, DeepSpeed's buckets are of 5e8 gradients: 16 bits of each unless the
 * parameters are fp32. */
static void test_deepspeed_buckets(void)
{
    static const struct {
        const char *precision;
        int64_t bucket_B;
    } cases[] = {
        { "/training/precision=fp8", 1000000000 },
        { "/training/precision=bf16", 1000000000 },
        { "/training/precision=amp_bf16", 2000000000 },
        { "/training/precision=tf32", 2000000000 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        load_changed(&l, "/cluster/instance=ml.p5.48xlarge",
                     "/parallelism/library=deepspeed", cases[i].precision);
        CU_ASSERT_EQUAL_FATAL(l.rc, 0);
        CU_ASSERT_EQUAL(l.s.parallel.reduce.bucket_B, cases[i].bucket_B);
        unload(&l);
    }
}

static void test_job_steps(void)
{
    static const struct {
        const char *samples, *epochs, *steps;
        int64_t want;
    } jobs[] = {
        { "/training/samples=640", NULL, NULL, 10 },
        { "/training/samples=641", "/training/epochs=3", NULL, 33 },
        { "/training/samples=88000", "/training/epochs=2", "/training/steps=100", 100 },
        { "/training/steps=7", NULL, NULL, 7 },
    };
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        struct loaded l;
        load_changed(&l, jobs[i].samples, jobs[i].epochs, jobs[i].steps);
        CU_ASSERT_EQUAL(l.rc, 0);
        CU_ASSERT_EQUAL(scenario_job_steps(&l.s), jobs[i].want);
        unload(&l);
    }
}

/* --- the batch -------------------------------------------------------------------- */

struct batch_case { /* 0: not written; data is 16; a want of 0: an error */
    int64_t micro, accumulation, global, want_micro, want_accumulation, want_global;
};

static void batch_text(char *text, size_t size, const struct batch_case *c)
{
    const struct {
        const char *key;
        int64_t value;
    } given[] = { { "micro_batch_size", c->micro },
                  { "gradient_accumulation_steps", c->accumulation },
                  { "global_batch_size", c->global } };
    size_t at =
        (size_t)snprintf(text, size,
                         "{ 'model': 'bert-large-uncased',"
                         "  'cluster': { 'instance': 'p3.16xlarge', 'count': 2 },"
                         "  'training': { 'sequence_length': 384");
    for (int k = 0; k < 3; k++)
        if (given[k].value)
            at += (size_t)snprintf(text + at, size - at, ", '%s': %lld", given[k].key,
                                   (long long)given[k].value);
    snprintf(text + at, size - at, " } }");
}

static void test_batch(void)
{
    static const struct batch_case cases[] = {
        { 4, 0, 0, 4, 1, 64 },
        { 4, 2, 0, 4, 2, 128 },
        { 4, 0, 64, 4, 1, 64 },
        { 4, 0, 128, 4, 2, 128 },
        { 0, 0, 64, 4, 1, 64 },
        { 0, 2, 64, 2, 2, 64 },
        { 4, 1, 64, 4, 1, 64 },
        { 4, 1, 128, 0, 0, 0 },
        { 4, 0, 100, 0, 0, 0 },
        { 0, 0, 17, 0, 0, 0 },
        { 0, 3, 64, 0, 0, 0 },
        { 0, 0, 8, 0, 0, 0 },
        { 0, 2, 0, 0, 0, 0 },
        { 4, 2, 64, 0, 0, 0 },
        { 16777216, 16777216, 0, 0, 0, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[600];
        struct loaded l;
        batch_text(text, sizeof(text), &cases[i]);
        load_text(&l, text, NULL);
        CU_ASSERT_EQUAL(l.rc, cases[i].want_global ? 0 : -1);
        CU_ASSERT_EQUAL(l.loader.diags.n_errors, cases[i].want_global ? 0 : 1);
        if (l.rc == 0) {
            CU_ASSERT_EQUAL(l.s.training.micro_batch_size, cases[i].want_micro);
            CU_ASSERT_EQUAL(l.s.training.accumulation, cases[i].want_accumulation);
            CU_ASSERT_EQUAL(l.s.training.global_batch_size, cases[i].want_global);
        }
        unload(&l);
    }
}

/* --- the dictionary and the environment ------------------------------------------- */

static void test_launchers(void)
{
    static const struct {
        const char *distribution, *instance;
        enum library library;
        int protocol;
        int64_t gpus;
    } cases[] = {
        { "{'mpi': {'enabled': True, 'processes_per_host': 4}}", "p3.16xlarge",
          LIBRARY_HOROVOD, -1, 8 },
        { "{'pytorchddp': {'enabled': True}}", "p3.16xlarge", LIBRARY_DDP, -1, 16 },
        { "{'pytorchddp': {'enabled': True}}", "p4d.24xlarge", LIBRARY_DDP,
          FABRIC_PROTO_SIMPLE, 16 },
        { "{'torch_distributed': {'enabled': True}}", "p3.16xlarge", LIBRARY_DDP,
          FABRIC_PROTO_SIMPLE, 16 },
        { "{'smdistributed': {'dataparallel': {'enabled': False}}}", "p4d.24xlarge",
          LIBRARY_DDP, -1, 16 },
        { "{}", "p4d.24xlarge", LIBRARY_DDP, -1, 16 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char distribution[200], instance[60];
        snprintf(distribution, sizeof(distribution), "/distribution=%s",
                 cases[i].distribution);
        snprintf(instance, sizeof(instance), "/cluster/instance=%s", cases[i].instance);
        struct loaded l;
        load_changed(&l, distribution, instance, NULL);
        CU_ASSERT_EQUAL(l.rc, 0);
        CU_ASSERT_EQUAL(l.s.parallel.reduce.library, cases[i].library);
        CU_ASSERT_EQUAL(l.s.software.protocol, cases[i].protocol);
        CU_ASSERT_EQUAL(l.s.cluster.n_gpus, cases[i].gpus);
        CU_ASSERT_EQUAL(l.s.parallel.data, cases[i].gpus);
        unload(&l);
    }
}

static void test_environment(void)
{
    struct loaded l;
    load_changed(&l, "/software/environment/NCCL_PROTO=LL128",
                 "/software/environment/NCCL_ALGO=Ring",
                 "/software/environment/NCCL_DEBUG=INFO");
    CU_ASSERT_EQUAL(l.rc, 0);
    CU_ASSERT_EQUAL(l.s.software.protocol, FABRIC_PROTO_LL128);
    CU_ASSERT_EQUAL(l.s.software.limits.no_algorithm[NCCL_ALL_REDUCE],
                    NCCL_ALGORITHMS & ~NCCL_RING);
    CU_ASSERT_EQUAL_FATAL(l.s.n_notes, 1);
    CU_ASSERT_STRING_EQUAL(diag_text(&l.loader.arena, &l.s.notes[0]),
                           "/software/environment/NCCL_DEBUG: without effect: "
                           "NCCL_DEBUG does not change the simulation: it prints, it "
                           "does not move bytes");
    unload(&l);
    /* the user's word goes before the launcher's */
    load_changed(&l, "/distribution={'torch_distributed': {'enabled': true}}",
                 "/software/environment/NCCL_PROTO=ll", NULL);
    CU_ASSERT_EQUAL(l.s.software.protocol, FABRIC_PROTO_LL);
    unload(&l);
}

static void test_notes(void)
{
    struct loaded l;
    load_changed(&l,
                 "/parallelism={'schedule': 'gpipe', 'servers': 2, 'fusion_cycle': "
                 "'1ms', 'active_microbatches': 4, 'activation_loading_horizon': 2, "
                 "'sharding': {'strategy': 'none', 'degree': 8}}",
                 NULL, NULL);
    CU_ASSERT_EQUAL(l.rc, 0);
    CU_ASSERT_EQUAL(l.s.n_notes, 6);
    for (int i = 0; i < l.s.n_notes; i++)
        CU_ASSERT_EQUAL(l.s.notes[i].code, DIAG_WITHOUT_EFFECT);
    unload(&l);
}

/* --- tasks ------------------------------------------------------------------------ */

static void test_tasks(void)
{
    static const struct {
        const char *model, *task;
        enum model_head head;
    } cases[] = {
        { "/model=bert-large-uncased", "/training/task=pretraining",
          MODEL_HEAD_PRETRAIN },
        { "/model=bert-large-uncased", "/training/task=masked-lm",
          MODEL_HEAD_MASKED_LM },
        { "/model=bert-large-uncased", "/training/task=classification",
          MODEL_HEAD_CLASS },
        { "/model=gpt2", "/training/task=pretraining", MODEL_HEAD_CAUSAL_LM },
        { "/model=gpt2", "/training/task=question-answering", MODEL_HEAD_SPAN },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        load_changed(&l, cases[i].model, cases[i].task, NULL);
        CU_ASSERT_EQUAL(l.rc, 0);
        CU_ASSERT_EQUAL(l.s.model.ends.head, cases[i].head);
        unload(&l);
    }
}

/* --- states ----------------------------------------------------------------------- */

/* Bytes per parameter: DeepSpeed's and Hugging Face's tables. */
static void test_states(void)
{
    static const struct {
        const char *precision, *optimizer;
        double parameter, gradient, optimizer_B, autocast, wire;
    } cases[] = {
        { "fp32", "adam", 4, 4, 8, 0, 4 },
        { "tf32", "lamb", 4, 4, 8, 0, 4 },
        { "fp32", "adamw", 4, 4, 8, 0, 4 },
        { "fp16", "adam", 2, 2, 12, 0, 2 },
        { "amp_fp16", "adam", 4, 4, 8, 2, 4 },
        { "fp32", "sgd", 4, 4, 4, 0, 4 },
        { "fp32", "sgd_plain", 4, 4, 0, 0, 4 },
        { "fp32", "adafactor", 4, 4, 0, 0, 4 },
        { "bf16", "lion", 2, 2, 8, 0, 2 },
        { "amp_fp16", "adam8bit", 4, 4, 2 + 8.0 / 2048, 2, 4 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char precision[64], optimizer[64];
        snprintf(precision, sizeof(precision), "/training/precision=%s",
                 cases[i].precision);
        snprintf(optimizer, sizeof(optimizer), "/training/optimizer=%s",
                 cases[i].optimizer);
        struct loaded l;
        load_changed(&l, precision, optimizer, "/cluster/instance=p4d.24xlarge");
        CU_ASSERT_EQUAL(l.rc, 0);
        struct states st = states_of(&l.s);
        CU_ASSERT_EQUAL(st.parameter_B, cases[i].parameter);
        CU_ASSERT_EQUAL(st.gradient_B, cases[i].gradient);
        CU_ASSERT_EQUAL(st.optimizer_B, cases[i].optimizer_B);
        CU_ASSERT_EQUAL(st.autocast_B, cases[i].autocast);
        CU_ASSERT_EQUAL(states_wire_B(&l.s), cases[i].wire);
        /* sharded as ZeRO does, over 4 ranks */
        l.s.parallel.shard.degree = 4;
        l.s.parallel.shard.strategy = SHARDING_OPTIMIZER;
        CU_ASSERT_EQUAL(states_of(&l.s).optimizer_B, cases[i].optimizer_B / 4);
        CU_ASSERT_EQUAL(states_of(&l.s).gradient_B, cases[i].gradient);
        l.s.parallel.shard.strategy = SHARDING_FULL;
        CU_ASSERT_EQUAL(states_of(&l.s).parameter_B, cases[i].parameter / 4);
        unload(&l);
    }
    struct loaded l;
    load_changed(&l, "/training/precision=bf16", "/training/master_weights=false",
                 "/cluster/instance=p4d.24xlarge");
    CU_ASSERT_EQUAL(l.rc, 0);
    CU_ASSERT_EQUAL(states_of(&l.s).parameter_B, 2);
    CU_ASSERT_EQUAL(states_of(&l.s).optimizer_B, 4);
    CU_ASSERT_EQUAL(states_of(&l.s).step_B, 0);
    double bytes = states_update_B(&l.s);
    CU_ASSERT_EQUAL(states_host_update_B(&l.s), 14); /* seven tensors of 2 B */
    l.s.training.no_master_weights = false;
    CU_ASSERT_EQUAL(states_update_B(&l.s), 2 * bytes);
    CU_ASSERT_EQUAL(states_host_update_B(&l.s), 28);
    l.s.training.no_master_weights = true;
    l.s.training.optimizer = OPTIMIZER_ADAM8BIT;
    CU_ASSERT_EQUAL(states_of(&l.s).optimizer_B, 2 + 8.0 / 2048);
    /* of quantized moments the width is their own, of others the parameters' */
    static const struct {
        enum optimizer kind;
        double wide_B, narrow_B, update_B;
    } moments[] = {
        { OPTIMIZER_ADAM4BIT, 1.0625, 1.0625, 14 },
        { OPTIMIZER_LION8BIT, 1 + 4.0 / 256, 1 + 4.0 / 256, 14 },
        { OPTIMIZER_ADEMAMIX8BIT, 3 + 12.0 / 256, 3 + 12.0 / 256, 18 },
        { OPTIMIZER_ADEMAMIX, 12, 6, 18 },
        { OPTIMIZER_RMSPROP, 4, 2, 10 },
        { OPTIMIZER_ADAGRAD, 4, 2, 10 },
    };
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        l.s.training.optimizer = moments[i].kind;
        l.s.training.no_master_weights = true;
        CU_ASSERT_EQUAL(states_of(&l.s).optimizer_B, moments[i].narrow_B);
        CU_ASSERT_EQUAL(states_update_B(&l.s), moments[i].update_B);
        l.s.training.no_master_weights = false;
        CU_ASSERT_EQUAL(states_of(&l.s).optimizer_B, 4 + moments[i].wide_B);
    }
    unload(&l);
    load_changed(&l, "/training/precision=amp_fp16", "/training/gradient_dtype=fp16",
                 NULL);
    CU_ASSERT_EQUAL(states_wire_B(&l.s), 2);
    unload(&l);
}

/* --- the words of errors (more of them: tests/bad) -------------------------------- */

/* clang-format off */
static const struct { const char *change, *error; } refusals[] = {
    { "/parallelism/tensor=3",
      "tensor 3 does not divide the 16 GPUs (3 instances fit, or change a degree)" },
    { "/parallelism/pipeline=32",
      "pipeline 32 is more than the 16 GPUs (4 instances fit, or change a degree)" },
    { "/parallelism/virtual_stages=2",
      "one pipeline stage has no virtual stages (leave it at 1)" },
    { "/parallelism/expert=2",
      "bert-large-uncased has no experts (write 1, or leave it out)" },
    { "/parallelism/sequence_parallel=true",
      "sequence parallelism is over the tensor group, which has one rank (write "
      "\"tensor\": 2 or more, or false)" },
    { "/parallelism/overlap_param_gather=true",
      "updated parameters are gathered where the optimizer is sharded (give "
      "/parallelism/sharding strategy \"optimizer\", or write false)" },
    { "/parallelism/offload_activations=true",
      "activations are offloaded at checkpoints (give "
      "/training/activation_checkpointing too)" },
    { "/training/sequence_length=513",
      "513 tokens are more than the 512 positions that bert-large-uncased has learned "
      "(write 512 or less)" },
    { "/training/precision=tf32",
      "V100-SXM2-16GB has no tf32 arithmetic, only fp32 and fp16 (\"fp32\" would do)" },
    { "/training/gradient_dtype=fp8",
      "\"fp8\" is not known (write one of \"fp32\", \"fp16\", \"bf16\")" },
    { "/training/predicted_positions=400",
      "400 are more than the 384 tokens of a sequence (write less, or null for all)" },
    { "/software/environment/NCCL_PROTO=fast",
      "\"fast\" is no protocol of NCCL (write \"Simple\", \"LL\" or \"LL128\")" },
};
/* clang-format on */

static void test_refusals(void)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        char want[400];
        snprintf(want, sizeof(want), "%s", refusals[i].error);
        struct loaded l;
        load_changed(&l, refusals[i].change, NULL, NULL);
        CU_ASSERT_EQUAL(l.rc, -1);
        CU_ASSERT_EQUAL_FATAL(l.loader.diags.n_errors, 1);
        const char *got = strstr(diags_error_text(&l.loader.diags, 0), ": ");
        CU_ASSERT_PTR_NOT_NULL_FATAL(got);
        CU_ASSERT_STRING_EQUAL(got + 2, want);
        if (strcmp(got + 2, want) != 0)
            fprintf(stderr, "got:  %s\nwant: %s\n",
                    diags_error_text(&l.loader.diags, 0), want);
        unload(&l);
    }
}

void test_scenario_register(void)
{
    CU_pSuite suite = CU_add_suite("scenario", NULL, NULL);
    CU_ADD_TEST(suite, test_shipped);
    CU_ADD_TEST(suite, test_assumed);
    CU_ADD_TEST(suite, test_all_shipped);
    CU_ADD_TEST(suite, test_defaults);
    CU_ADD_TEST(suite, test_one_node_has_no_fabric);
    CU_ADD_TEST(suite, test_buckets);
    CU_add_test(suite, "DeepSpeed's buckets are of elements", test_deepspeed_buckets);
    CU_ADD_TEST(suite, test_job_steps);
    CU_ADD_TEST(suite, test_batch);
    CU_ADD_TEST(suite, test_launchers);
    CU_ADD_TEST(suite, test_environment);
    CU_ADD_TEST(suite, test_notes);
    CU_ADD_TEST(suite, test_tasks);
    CU_ADD_TEST(suite, test_states);
    CU_ADD_TEST(suite, test_refusals);
}
