/* Adapters of frozen models: counts as PEFT prints them, bytes of quantized weights,
 * FLOPs by closed form, what is reduced, gathered and kept. */
#include "step_bench.h"

#include "model/lora.h"
#include "op_bench.h"
#include "scenario/parse.h"
#include "scenario/states.h"

void test_lora_register(void);

#undef H

static void text_of(char *buf, size_t size, const char *model, const char *training,
                    const char *rest)
{
    snprintf(buf, size,
             "{'model':'%s','cluster':{'instance':'p4d.24xlarge','count':2},"
             "'training':{'sequence_length':512,'micro_batch_size':2%s}%s}",
             model, training, rest);
}

static void read_changed(struct job *j, const char *model, const char *training,
                         const char *rest, const char *changes)
{
    char text[1024];
    text_of(text, sizeof(text), model, training, rest);
    bench_scenario(&j->loader, &j->s, text, "/parallelism/", changes);
}

static void read_job(struct job *j, const char *model, const char *training,
                     const char *rest)
{
    read_changed(j, model, training, rest, "");
}

/* Counts --------------------------------------------------------------------------- */

/* "trainable params: ... || all params: ..." of PEFT's print_trainable_parameters, or
 * the sum of rank x (k + n) over the products. */
static void test_counts(void)
{
    static const struct {
        const char *model, *lora;
        int64_t trained, all;
    } cases[] = {
        { "llama2-7b", "'rank':16,'target_modules':['q_proj','v_proj']", 8388608,
          6746804224 },
        { "llama2-7b", "'rank':8", 4194304, 6742609920 },
        { "llama2-7b", "'rank':16,'target_modules':'all-linear'", 39976960,
          6778392576 },
        { "llama2-7b",
          "'rank':64,'target_modules':['q_proj','k_proj','v_proj','o_proj',"
          "'gate_proj','up_proj','down_proj']",
          159907840, 6898323456 },
        { "llama2-13b", "'rank':8", 6553600, 13022417920 },
        { "llama3-8b", "'rank':16,'target_modules':'all-linear'", 41943040,
          8072204288 },
        { "llama3-8b", "'rank':8", 3407872, 8033669120 },
        { "mistralai/Mistral-7B-v0.1", "'rank':8", 3407872, 7245139968 },
        { "gpt2", "'rank':8", 294912, 124734720 },
        { "t5-base", "'rank':8,'target_modules':['q','v']", 884736, 223788288 },
        /* fused products, of which names of parts are none */
        { "microsoft/Phi-3-mini-4k-instruct", "'rank':16,'target_modules':'all-linear'",
          25165824, 0 },
        { "microsoft/Phi-3-mini-4k-instruct",
          "'rank':16,'target_modules':['q_proj','k_proj','v_proj','o_proj']", 3145728,
          0 },
        /* w1 and w2 are up and gate: Qwen's README, finetune_lora_ds.sh */
        { "Qwen/Qwen-7B", "'rank':64,'target_modules':['c_attn','c_proj','w1','w2']",
          143130624, 0 },
        /* wo is attention's there, an MLP's in T5: 8 x (10240 + 8192 + 18432) x 32 */
        { "internlm/internlm2-chat-7b", "'rank':8,'target_modules':['wqkv','wo','w2']",
          9437184, 0 },
        /* gate and up in one: 8 x (8704 + 8192 + 31488 + 17792) x 28 */
        { "THUDM/chatglm3-6b",
          "'rank':8,'target_modules':['query_key_value','dense','dense_h_to_4h',"
          "'dense_4h_to_h']",
          14823424, 0 },
        /* c_proj is the MLP's alone, 8 x (4608 + 18432) x 32, and dense all three's */
        { "bigcode/starcoder2-7b", "'rank':8,'target_modules':['c_proj']", 5898240, 0 },
        { "bert-large-uncased", "'rank':8,'target_modules':['dense']", 2359296, 0 },
        { "bert-large-uncased", "'rank':8,'target_modules':['attention.output.dense']",
          393216, 0 },
        /* experts that are no layers have no adapters */
        { "openai/gpt-oss-20b", "'rank':8,'target_modules':'all-linear'", 3981312, 0 },
        { "bert-large-uncased", "'rank':16,'target_modules':['query','value']", 1572864,
          0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job j;
        char training[256];
        snprintf(training, sizeof(training), ",'precision':'bf16','lora':{%s}",
                 cases[i].lora);
        read_job(&j, cases[i].model, training, "");
        const struct lora *l = &j.s.training.lora;
        CU_ASSERT_EQUAL(lora_parameters(&j.s.model, l), cases[i].trained);
        if (cases[i].all)
            CU_ASSERT_EQUAL(lora_all_parameters(&j.s.model, l), cases[i].all);
        if (lora_parameters(&j.s.model, l) != cases[i].trained ||
            (cases[i].all && lora_all_parameters(&j.s.model, l) != cases[i].all))
            fprintf(stderr, "%s %s: %lld of %lld\n", cases[i].model, cases[i].lora,
                    (long long)lora_parameters(&j.s.model, l),
                    (long long)lora_all_parameters(&j.s.model, l));
        job_unload(&j);
    }
}

/* Megatron's products are fused, and so are its adapters: rank x (8192 + 10240) next to
 * linear_qkv, 16384 to linear_proj, 8192 + 57344 to linear_fc1, 36864 to linear_fc2. */
static void test_megatron(void)
{
    static const struct {
        const char *targets;
        int64_t each;
    } cases[] = {
        { "['linear_qkv']", 8192 + 10240 },
        { "['linear_qkv','linear_proj']", 8192 + 10240 + 16384 },
        { "'all-linear'", 8192 + 10240 + 16384 + 8192 + 57344 + 36864 },
        { "['q_proj']", 2 * 8192 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job j;
        char training[256];
        snprintf(training, sizeof(training),
                 ",'precision':'bf16','lora':{'rank':16,'target_modules':%s}",
                 cases[i].targets);
        read_job(&j, "llama2-70b", training,
                 ",'parallelism':{'library':'megatron','tensor':4,'pipeline':2}");
        CU_ASSERT_EQUAL(lora_parameters(&j.s.model, &j.s.training.lora),
                        80 * 16 * cases[i].each);
        job_unload(&j);
    }
}

/* Profiles whose kernels fuse products leave the modules as they are: each has its
 * adapter, whoever shards. */
static void test_modules_by_library(void)
{
    static const char *const rest[] = {
        "",
        ",'parallelism':{'library':'fsdp','sharding':{'strategy':'full'}}",
        ",'parallelism':{'library':'deepspeed','sharding':{'strategy':'full'}}",
        ",'parallelism':{'library':'deepspeed','sharding':{'strategy':'optimizer'}}",
    };
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
        struct job j;
        read_job(&j, "llama2-7b",
                 ",'precision':'bf16','lora':{'rank':16,'target_modules':'all-linear'}",
                 rest[i]);
        CU_ASSERT_EQUAL(lora_parameters(&j.s.model, &j.s.training.lora), 39976960);
        job_unload(&j);
    }
}

/* Whole modules in addition (modules_to_save): embedding and head of Llama-2-7B. */
static void test_trained_modules(void)
{
    struct job j;
    read_job(&j, "llama2-7b",
             ",'precision':'bf16','lora':{'rank':16,'trained':['embed_tokens',"
             "'lm_head']}",
             "");
    CU_ASSERT_EQUAL(lora_parameters(&j.s.model, &j.s.training.lora),
                    8388608 + 2 * 32000 * 4096);
    job_unload(&j);
}

/* Qwen3-0.6B ties its ends: PEFT trains a copy of each, whichever is named. */
static void test_tied_modules(void)
{
    enum { WORDS = 151936, WIDTH = 1024, QUERY = 16 * 128, VALUE = 8 * 128, R = 16 };
    const int64_t adapters = (int64_t)28 * R * ((WIDTH + QUERY) + (WIDTH + VALUE));
    static const struct {
        const char *trained;
        int64_t copies;
    } cases[] = {
        { "['embed_tokens','lm_head']", 2 },
        { "['lm_head']", 1 },
        { "['norm']", 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job j;
        char training[256];
        snprintf(training, sizeof(training),
                 ",'precision':'bf16','lora':{'rank':16,'base':'nf4',"
                 "'target_modules':['q_proj','v_proj'],'trained':%s}",
                 cases[i].trained);
        read_job(&j, "Qwen/Qwen3-0.6B", training, "");
        int64_t trained = lora_parameters(&j.s.model, &j.s.training.lora),
                norms = cases[i].copies ? 0 : 28 * (2 * WIDTH + 2 * 128) + WIDTH;
        CU_ASSERT_EQUAL(trained, adapters + norms + cases[i].copies * WORDS * WIDTH);
        CU_ASSERT_EQUAL(j.s.model.ends.tied, cases[i].copies == 0);
        job_unload(&j);
    }
}

/* Bytes ---------------------------------------------------------------------------- */

/* QLoRA, section 3: 4.127 bits a parameter with double quantization, 4.5 without. */
static void test_quantized_bits(void)
{
    struct lora l = { .rank = 1, .base = LORA_BASE_NF4, .double_quantization = true };
    CU_ASSERT_DOUBLE_EQUAL(8 * lora_quantized_B(&l), 4.127, 0.0005);
    l.double_quantization = false;
    CU_ASSERT_DOUBLE_EQUAL(8 * lora_quantized_B(&l), 4.5, 1e-12);
}

static void run(const char *model, const char *training, const char *rest,
                struct simulate_result *r, struct stage_memory *first)
{
    struct job j;
    read_job(&j, model, training, rest);
    job_run_as(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, r);
    *first = r->memory.stages[0];
    job_unload(&j);
}

/* Parameters on a GPU: all in 16 bits; layers in 4 bits and the rest in 16 (3.6 GB of
 * Llama-2-7B); and no states but the adapters'. */
static void test_memory(void)
{
    struct simulate_result r;
    struct stage_memory m;
    const double layers = 32.0 * 202375168, ends = 262148096, adapters = 8388608;
    const double bits = 4.126953125 / 8, norms = 32.0 * 2 * 4096;
    run("llama2-7b", ",'precision':'bf16','lora':{'rank':16}", "", &r, &m);
    CU_ASSERT_DOUBLE_EQUAL((double)m.parameters_B,
                           2 * (layers + norms + ends + adapters), 1e6);
    CU_ASSERT_DOUBLE_EQUAL((double)m.optimizer_B, 12 * adapters, 1e6);
    CU_ASSERT_DOUBLE_EQUAL((double)m.gradients_B, 2 * adapters, 1e6);
    run("llama2-7b",
        ",'precision':'bf16','lora':{'rank':16,'base':'nf4',"
        "'double_quantization':true}",
        "", &r, &m);
    CU_ASSERT_DOUBLE_EQUAL((double)m.parameters_B,
                           bits * layers + 2 * (norms + ends + adapters), 2e6);
    CU_ASSERT(r.memory.fits);
}

/* FLOPs ---------------------------------------------------------------------------- */

/* A frozen product has 4 FLOPs an element and token, a thin one 6; attention stays. */
static void test_flops(void)
{
    struct job j;
    read_job(&j, "llama2-7b",
             ",'precision':'bf16','lora':{'rank':16,'target_modules':'all-linear'}",
             "");
    const double s = 512, matrices = 32.0 * 202375168 + 32000.0 * 4096;
    CU_ASSERT(job_near(lora_flops_per_sample(&j.s.model, &j.s.training.lora, 512, 0),
                       s * (6 * 39976960.0 - 2 * matrices), 1e-9));
    job_unload(&j);
}

/* What is executed is what the operators say: without recomputation and with attention
 * that is computed once, the model's FLOPs. */
static void test_executed(void)
{
    struct simulate_result r;
    struct stage_memory m;
    run("llama2-7b", ",'precision':'bf16','attention':'unfused','lora':{'rank':16}", "",
        &r, &m);
    CU_ASSERT(job_near(r.hfu, r.mfu, 1e-6));
}

/* A vision tower is frozen whole: it runs forward, keeps nothing, and has no adapters. */
static void test_tower(void)
{
    struct job j;
    struct arena arena;
    struct err err = { 0 };
    struct op_list list;
    read_changed(&j, "Qwen/Qwen2-VL-7B-Instruct",
                 ",'precision':'bf16','lora':{'rank':16,'target_modules':'all-linear'}",
                 "", "/training/sequence_length=2048");
    CU_ASSERT_PTR_NOT_NULL_FATAL(j.s.model.tower);
    struct op_settings s = scenario_op_settings(&j.s);
    arena_init(&arena);
    CU_ASSERT_EQUAL_FATAL(op_list_make(&list, &arena, &j.s.model, &s, &err), 0);
    for (int32_t i = 1; i < 4; i++) {
        CU_ASSERT(list.blocks[i].n_backward == 0 && list.blocks[i].n_forward > 0);
        CU_ASSERT(op_block_trained(&list.blocks[i]) == 0);
        CU_ASSERT(op_block_kept_B(&list.blocks[i]) == 0);
    }
    CU_ASSERT(op_block_trained(&list.blocks[list.n_blocks - 2]) > 0);
    struct simulate_result r;
    job_run_as(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
    CU_ASSERT(r.step_time_s > 0);
    arena_release(&arena);
    job_unload(&j);
}

/* Trained next to the adapters it has gradients, and its projector hands them on. */
static void test_trained_tower(void)
{
    struct job j;
    struct arena arena;
    struct err err = { 0 };
    struct op_list list;
    read_changed(&j, "Qwen/Qwen2-VL-7B-Instruct",
                 ",'precision':'bf16','lora':{'rank':16,'target_modules':'all-linear',"
                 "'trained':['vision_tower']}",
                 "", "/training/sequence_length=2048");
    struct op_settings s = scenario_op_settings(&j.s);
    arena_init(&arena);
    CU_ASSERT_EQUAL_FATAL(op_list_make(&list, &arena, &j.s.model, &s, &err), 0);
    CU_ASSERT(op_block_trained(&list.blocks[1]) > 0);
    CU_ASSERT(list.blocks[1].n_backward > 0 && list.blocks[2].n_backward > 0);
    arena_release(&arena);
    job_unload(&j);
}

/* LLaVA's projector: products of 1024 x 5120 and 5120 x 5120 with biases. */
static void test_trained_projector(void)
{
    struct job j;
    read_changed(&j, "llava-hf/llava-1.5-13b-hf",
                 ",'precision':'bf16','lora':{'rank':128,'target_modules':"
                 "'all-linear','trained':['projector']}",
                 "", "/training/sequence_length=2048");
    CU_ASSERT_EQUAL(lora_parameters(&j.s.model, &j.s.training.lora),
                    500695040 + 5248000 + 26219520);
    job_unload(&j);
}

/* What is kept --------------------------------------------------------------------- */

static double kept_B(const char *lora)
{
    struct job j;
    struct arena arena;
    struct err err = { 0 };
    struct op_list list;
    char training[256];
    snprintf(training, sizeof(training), ",'precision':'bf16'%s", lora);
    read_job(&j, "llama2-7b", training, "");
    struct op_settings s = scenario_op_settings(&j.s);
    arena_init(&arena);
    CU_ASSERT_EQUAL_FATAL(op_list_make(&list, &arena, &j.s.model, &s, &err), 0);
    double kept = (double)op_block_kept_B(&list.blocks[1]);
    arena_release(&arena);
    job_unload(&j);
    return kept;
}

/* Frozen products keep no input: of a Llama layer those of gate and up and of down.
 * Adapted, they keep it again, and rank columns more; what drops some of it keeps a
 * copy and a mask for each. */
static void test_kept(void)
{
    const double a = 2.0 * 512 * 4096, f = 2.0 * 512 * 11008, t = 2.0 * 512 * 16;
    const double norms = 2 * (2 * a); /* what their frozen weights would multiply */
    const double all = kept_B(""), few = kept_B(",'lora':{'rank':16}");
    CU_ASSERT_DOUBLE_EQUAL(all - few, 2 * (a + f) - 2 * (2 * t) + norms, 1);
    const double every = kept_B(",'lora':{'rank':16,'target_modules':'all-linear'}");
    CU_ASSERT_DOUBLE_EQUAL(every - all, 2 * 7 * t - norms, 1);
    const double dropped = kept_B(",'lora':{'rank':16,'dropout':0.1}");
    CU_ASSERT_DOUBLE_EQUAL(dropped - few, 2 * (2 * a - a) + 2 * a, 1);
    const double wide = kept_B(",'lora':{'rank':16,'dropout':0.1,'dtype':'fp32'}");
    CU_ASSERT_DOUBLE_EQUAL(wide - dropped, 2 * (2 * a + 2 * t), 1);
}

static const struct op *find_op(const struct op *ops, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

/* Llama 2 70B over Megatron's ranks with adapters next to linear_qkv, in a precision:
 * the list of operators, of which the second is a layer. */
static void list_megatron(struct job *j, struct arena *arena, struct op_list *list,
                          const char *precision)
{
    struct err err = { 0 };
    char training[256];
    snprintf(training, sizeof(training),
             ",'precision':'%s','lora':{'rank':16,'target_modules':['linear_qkv']}",
             precision);
    read_changed(j, "llama2-70b", training,
                 ",'parallelism':{'library':'megatron','tensor':2,'pipeline':4}",
                 "/cluster/instance=p5.48xlarge /training/microbatches=16");
    struct op_settings s = scenario_op_settings(&j->s);
    arena_init(arena);
    CU_ASSERT_EQUAL_FATAL(op_list_make(list, arena, &j->s.model, &s, &err), 0);
}

/* Frozen products in fp8 write each operand in one order, as no gradient of a weight
 * reads the other; adapters read, compute and keep 16 bits. */
static void test_fp8(void)
{
    struct job j[2];
    struct arena arena[2];
    struct op_list list[2];
    list_megatron(&j[0], &arena[0], &list[0], "fp8");
    list_megatron(&j[1], &arena[1], &list[1], "bf16");
    const struct op_block *b = &list[0].blocks[1];
    const struct op *base = find_op(b->forward, b->n_forward, "qkv");
    const struct op *a = find_op(b->forward, b->n_forward, "qkv_lora_a");
    const struct op *down = find_op(b->forward, b->n_forward, "down_input_fp8");
    const struct op *grad = find_op(b->backward, b->n_backward, "down_grad_fp8");
    CU_ASSERT_FATAL(base && a && down && grad);
    CU_ASSERT_EQUAL(base->dtype, DTYPE_FP8);
    CU_ASSERT_EQUAL(a->dtype, DTYPE_BF16);
    CU_ASSERT_EQUAL(down->write_B, down->read_B / 2);
    CU_ASSERT_EQUAL(grad->write_B, grad->read_B / 2);
    CU_ASSERT_PTR_NULL(find_op(b->backward, b->n_backward, "qkv_input_transpose"));
    CU_ASSERT_PTR_NULL(find_op(b->backward, b->n_backward, "qkv_wgrad"));
    CU_ASSERT_PTR_NOT_NULL(find_op(b->backward, b->n_backward, "qkv_lora_a_wgrad"));
    CU_ASSERT_EQUAL(op_block_kept_B(b), op_block_kept_B(&list[1].blocks[1]));
    CU_ASSERT_EQUAL(op_block_trained(b), op_block_trained(&list[1].blocks[1]));
    for (int i = 0; i < 2; i++) {
        arena_release(&arena[i]);
        job_unload(&j[i]);
    }
}

/* Groups --------------------------------------------------------------------------- */

static const char *const stacks[] = {
    "{'library':'ddp'}",
    "{'library':'ddp','backend':'smddp'}",
    "{'library':'horovod'}",
    "{'library':'fsdp','sharding':{'strategy':'full'}}",
    "{'library':'fsdp','sharding':{'strategy':'full','degree':8}}",
    "{'library':'fsdp','sharding':{'strategy':'gradients'}}",
    "{'library':'deepspeed','sharding':{'strategy':'optimizer'}}",
    "{'library':'deepspeed','sharding':{'strategy':'gradients'}}",
    "{'library':'deepspeed','sharding':{'strategy':'full'}}",
    "{'library':'megatron','tensor':2}",
    "{'library':'megatron','tensor':2,'pipeline':2,'sequence_parallel':true}",
    "{'library':'megatron','pipeline':4,'schedule':'1f1b','sharding':{'strategy':"
    "'optimizer'}}",
    "{'library':'megatron','pipeline':2,'virtual_stages':2,'schedule':'interleaved'}",
    "{'library':'smp','pipeline':2}",
    "{'library':'parameter-server','servers':2}",
};

/* Every library: folded is unfolded, the step is shorter than that of all parameters,
 * and less is held. */
static void test_libraries(void)
{
    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
        struct simulate_result r[3];
        char rest[256];
        snprintf(rest, sizeof(rest), ",'parallelism':%s", stacks[i]);
        for (int k = 0; k < 3; k++) {
            struct job j;
            read_changed(&j, "gpt2-medium",
                         k == 0
                             ? ",'precision':'fp16','microbatches':4"
                             : ",'precision':'fp16','microbatches':4,'lora':{'rank':8}",
                         rest, "/training/micro_batch_size=32");
            job_run_as(&j,
                       (struct simulate_options) { .network = FIDELITY_FLOW,
                                                   .unfold = k == 2 },
                       &r[k]);
            job_unload(&j);
        }
        bool shorter = r[1].step_time_s < r[0].step_time_s;
        bool less = r[1].memory.peak_B < r[0].memory.peak_B;
        bool same = job_near(r[1].step_time_s, r[2].step_time_s, 1e-6);
        CU_ASSERT(shorter && less && same);
        if (!shorter || !less || !same)
            fprintf(stderr, "%s: all %g s %lld B, adapters %g s (%g) %lld B\n",
                    stacks[i], r[0].step_time_s, (long long)r[0].memory.peak_B,
                    r[1].step_time_s, r[2].step_time_s, (long long)r[1].memory.peak_B);
    }
}

static double sent_B(const char *training, const char *rest, enum channel channel,
                     enum coll_op op)
{
    struct job j;
    read_job(&j, "gpt2-medium", training, rest);
    double sum = bench_comm_B(&j.loader, &j.s, channel, op);
    job_unload(&j);
    return sum;
}

/* Gradients of adapters alone are reduced: 24 layers of rank x (1024 + 3072); frozen
 * parameters are gathered by FSDP in both passes all the same, fewer bytes where they
 * have 4 bits. */
static void test_sent(void)
{
    const double adapters = 24.0 * 8 * (1024 + 3072);
    static const char lora[] = ",'precision':'bf16','lora':{'rank':8}";
    static const char ddp[] = ",'parallelism':{'library':'ddp'}";
    static const char fsdp[] =
        ",'parallelism':{'library':'fsdp','sharding':{'strategy':'full'}}";
    double sum = sent_B(lora, ddp, CHANNEL_DATA, COLL_ALL_REDUCE);
    CU_ASSERT(job_near(sum, adapters * 2, 1e-9) || job_near(sum, adapters * 4, 1e-9));
    double scattered = sent_B(lora, fsdp, CHANNEL_SHARD, COLL_REDUCE_SCATTER);
    CU_ASSERT(job_near(scattered, adapters * 2, 1e-9) ||
              job_near(scattered, adapters * 4, 1e-9));
    double whole = sent_B(",'precision':'bf16'", fsdp, CHANNEL_SHARD, COLL_ALL_GATHER);
    double frozen = sent_B(lora, fsdp, CHANNEL_SHARD, COLL_ALL_GATHER);
    double narrow = sent_B(",'precision':'bf16','lora':{'rank':8,'base':'nf4'}", fsdp,
                           CHANNEL_SHARD, COLL_ALL_GATHER);
    CU_ASSERT(frozen > whole && frozen < 1.02 * whole);
    CU_ASSERT(narrow < 0.5 * frozen && narrow > 0.25 * frozen);
}

/* Unequal lengths ------------------------------------------------------------------ */

static void set_lengths(char *buf, size_t size, const char *padded)
{
    snprintf(buf, size,
             "/training/sequence_length={'mean':500,'max':4096,'padded':'%s'} "
             "/training/attention=flash_attention_2",
             padded);
}

/* An exponential that is hardly cut: the longest of n has mean (1 + 1/2 + ... + 1/n),
 * and the mean token's document twice the mean. All equal: the longest. */
static void test_lengths(void)
{
    struct simulate_result r[3];
    static const char *const words[] = { "max", "longest", "packed" };
    CU_ASSERT_DOUBLE_EQUAL(lengths_longest(100, 1e4, 1), 100, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(lengths_longest(100, 1e4, 4), 100 * 25.0 / 12, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(lengths_attended(100, 1e4), 200, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(lengths_longest(512, 512, 8), 512, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(lengths_attended(512, 512), 512, 1);
    for (int i = 0; i < 3; i++) {
        struct job j;
        char changes[256];
        set_lengths(changes, sizeof(changes), words[i]);
        read_changed(&j, "llama2-7b", ",'precision':'bf16'",
                     ",'parallelism':{'library':'fsdp','sharding':{'strategy':'full'}}",
                     changes);
        CU_ASSERT_EQUAL(j.s.training.sequence_length, i == 1 ? 750 : 4096);
        job_run_as(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r[i]);
        double real = i == 2 ? 0 : 500 * r[i].samples_per_s;
        CU_ASSERT_DOUBLE_EQUAL(r[i].real_tokens_per_s, real, 1e-6 * real);
        job_unload(&j);
    }
    CU_ASSERT(r[1].step_time_s < r[0].step_time_s);
    CU_ASSERT(r[2].step_time_s < r[0].step_time_s);
    CU_ASSERT(r[2].executed_flops < r[0].executed_flops);
}

void test_lora_register(void)
{
    CU_pSuite suite = CU_add_suite("lora", NULL, NULL);
    CU_add_test(suite, "trained and all parameters are as PEFT prints them",
                test_counts);
    CU_add_test(suite, "Megatron's adapters are of fused products", test_megatron);
    CU_add_test(suite, "modules under every library", test_modules_by_library);
    CU_add_test(suite, "modules that are saved whole are trained",
                test_trained_modules);
    CU_add_test(suite, "tied modules that are saved are two", test_tied_modules);
    CU_add_test(suite, "NF4 takes 4.127 bits", test_quantized_bits);
    CU_add_test(suite, "frozen weights have no states", test_memory);
    CU_add_test(suite, "frozen products cost 4 FLOPs an element", test_flops);
    CU_add_test(suite, "model FLOPs are those executed", test_executed);
    CU_add_test(suite, "a vision tower is frozen whole", test_tower);
    CU_add_test(suite, "or trained whole", test_trained_tower);
    CU_add_test(suite, "or its projector is", test_trained_projector);
    CU_add_test(suite, "frozen products keep no input", test_kept);
    CU_add_test(suite, "next to products in fp8", test_fp8);
    CU_add_test(suite, "every library trains adapters, folded or not", test_libraries);
    CU_add_test(suite, "sequences of unequal length", test_lengths);
    CU_add_test(suite, "gradients of adapters alone are sent", test_sent);
}
