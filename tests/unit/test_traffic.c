/* Bytes that a whole step puts on all links of a kind, against closed forms that know
 * nothing of plans: a ring of n ranks passes (n-1)/n of S over each of its hops (twice
 * for an all-reduce), a hop inside a node loads two ports of the switch, one between
 * nodes two NICs and the way to them. What is charged is the bytes over the protocol's
 * efficiency (MODEL.md, (C7), (C10)), which all jobs here pin to NCCL's Simple. */
#include "run/run.h"
#include "scenario/scenario.h"
#include "step/reps.h"

#include "scenario_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

void test_traffic_register(void);

enum { L = 8, H = 512, V = 8192, S = 256, B = 2, M = 4, E = 2, G = 8 };

#define TRAINING                                                                   \
    "  'software': { 'environment': { 'NCCL_PROTO': 'Simple' } },"                 \
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 1 },"                     \
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2, 'precision': " \
    "'fp16', 'attention': 'flash', 'microbatches': 4 } }"

static const char dense_text[] =
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 8, 'n_embd': 512, 'n_head': 16,"
    "             'vocab_size': 8192, 'n_positions': 256,"
    "             'tie_word_embeddings': false }," TRAINING;

static const char experts_text[] =
    "{ 'model': { 'model_type': 'mixtral', 'num_hidden_layers': 8, 'hidden_size': 512,"
    "             'num_attention_heads': 16, 'num_key_value_heads': 16,"
    "             'intermediate_size': 1024, 'vocab_size': 8192,"
    "             'max_position_embeddings': 256, 'num_local_experts': 32,"
    "             'num_experts_per_tok': 2 }," TRAINING;

static const double x_B = (double)B * S * H * E; /* the residual stream */
static const double layer = 12.0 * H * H + 13.0 * H;
static const double root = 2.0 * V * H + S * H + 2 * H; /* embeddings, norm, head */
static const double shared = L * (4.0 * H * H + 2 * H + 32 * H) + 2.0 * V * H + H;

struct job {
    struct cfg_loader loader;
    struct scenario s;
    double nvlink_B, nic_B; /* on the links of all instances */
};

/* `changes`: of the parallelism section, or with a pointer; separated by blanks. */
static void load(struct job *j, const char *text, const char *changes)
{
    bench_scenario(&j->loader, &j->s, text, "/parallelism/", changes);
}

/* Folded, the copies of a net represent all instances. */
static void run_job(struct job *j, bool unfold)
{
    struct reps reps;
    struct run_result r;
    struct err err = { 0 };
    const struct reps_options how = { .unfold = unfold, .detail = true };
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &j->loader.arena, &j->s, &how, &err), 0);
    const struct run_request q = { .plans = { &j->loader.arena, reps.net,
                                              &reps.groups },
                                   .network = FIDELITY_FLOW,
                                   .n_ranks = reps.n_ranks,
                                   .programs = reps.programs,
                                   .ranks = reps.ranks };
    CU_ASSERT_EQUAL_FATAL(run_programs(&q, &r, &err), 0);
    double copies =
        unfold ? 1 : (double)j->s.cluster.n_instances / (double)reps.groups.n_classes;
    j->nvlink_B = r.charged_B[NET_NVLINK] * copies;
    j->nic_B = r.charged_B[NET_NIC] * copies;
    reps_release(&reps);
}

static double ring_efficiency(const struct fabric *f, bool gathers)
{
    const struct fabric_protocol *p = &f->proto[FABRIC_PROTO_SIMPLE];
    return p->efficiency * (gathers ? p->gather : 1);
}

/* Of the fabric inside an instance, or between instances. */
static const struct fabric *fabric_of(const struct job *j, bool between)
{
    return between ? j->s.fabric : j->s.cluster.groups[0].instance->inside;
}

/* Two links for each hop of all rings: `rings` of `hops`, each passing `bytes`. */
static double hops_B(const struct job *j, bool between, bool gathers, double rings,
                     double hops, double bytes)
{
    return 2 * rings * hops * bytes / ring_efficiency(fabric_of(j, between), gathers);
}

/* A communicator with several GPUs of a node has the fabric's share of its NICs. */
static double shared_frac(const struct job *j)
{
    return j->s.fabric->shared_frac;
}

static double law_efficiency(const struct fabric *f, enum fabric_algo algo)
{
    const struct fabric_law *law = &f->laws.of[algo][FABRIC_PROTO_SIMPLE];
    return law->enabled ? law->efficiency : f->proto[FABRIC_PROTO_SIMPLE].efficiency;
}

static void expect(const char *what, const char *changes, double got_B, double want_B)
{
    bool same = fabs(got_B - want_B) <= 1e-9 * fmax(want_B, 1);
    if (!same)
        fprintf(stderr, "%s, %s: %.12g bytes, expected %.12g\n", changes, what, got_B,
                want_B);
    CU_ASSERT_TRUE(same);
}

/* Loads and runs the job, and closes it. */
typedef void wants_fn(const struct job *j, double *nvlink_B, double *nic_B);

static void check(const char *text, const char *changes, wants_fn *wants)
{
    for (int unfold = 0; unfold < 2; unfold++) {
        struct job j;
        double nvlink_B = 0, nic_B = 0;
        load(&j, text, changes);
        run_job(&j, unfold);
        wants(&j, &nvlink_B, &nic_B);
        expect("NVLink", changes, j.nvlink_B, nvlink_B);
        expect("NICs", changes, j.nic_B, nic_B);
        cfg_loader_release(&j.loader);
    }
}

/* Gradients once round a ring of the node, as sums and as results. */
static void wants_ddp(const struct job *j, double *nvlink_B, double *nic_B)
{
    double all_B = (L * layer + root) * E;
    (void)nic_B;
    *nvlink_B = hops_B(j, false, false, 1, G, 2.0 * (G - 1) / G * all_B);
}

static void test_ddp(void)
{
    check(dense_text, "library=\"ddp\"", wants_ddp);
}

/* Four all-reduces of x a layer and microbatch, two at the ends, and the loss's
 * three. */
static void wants_tensor(const struct job *j, double *nvlink_B, double *nic_B)
{
    double bytes = M * ((4 * L + 2) * x_B + 3.0 * B * S * 4);
    (void)nic_B;
    *nvlink_B = hops_B(j, false, false, 1, G, 2.0 * (G - 1) / G * bytes);
}

static void test_tensor(void)
{
    check(dense_text, "tensor=8", wants_tensor);
}

/* x over every boundary, there and back, once a microbatch. */
static void wants_stages(const struct job *j, double *nvlink_B, double *nic_B)
{
    (void)nic_B;
    *nvlink_B = hops_B(j, false, false, 2 * M, G - 1, x_B);
}

/* Eight pipelines of two stages, each an instance, over which gradients are summed: by
 * Megatron in fp32. */
static void wants_spread(const struct job *j, double *nvlink_B, double *nic_B)
{
    double all_B = (L * layer + root) * 4;
    *nvlink_B = hops_B(j, false, false, 1, G, 2.0 * (G - 1) / G * all_B);
    *nic_B = hops_B(j, true, false, 2 * M, G, x_B);
}

static void test_pipeline(void)
{
    check(dense_text, "pipeline=8", wants_stages);
    check(dense_text, "pipeline=8 schedule=\"zb-h1\"", wants_stages);
    check(dense_text, "pipeline=2 placement=\"spread\" /cluster/count=2", wants_spread);
}

/* Each rank of a tensor group sends a part, or all, over the NICs, by Megatron and by
 * DeepSpeed. */
static void test_whole_messages(void)
{
    static const char *const changes[] = {
        "tensor=8 pipeline=2 /cluster/count=2",
        "tensor=8 pipeline=2 /cluster/count=2 scatter_gather=false",
        "tensor=8 pipeline=2 /cluster/count=2 library=\"deepspeed\"",
        "tensor=8 pipeline=2 /cluster/count=2 library=\"deepspeed\" "
        "scatter_gather=false",
    };
    struct job jobs[4];
    for (int i = 0; i < 4; i++) {
        load(&jobs[i], dense_text, changes[i]);
        run_job(&jobs[i], false);
        cfg_loader_release(&jobs[i].loader);
    }
    for (int i = 0; i < 4; i += 2) {
        CU_ASSERT(jobs[i].nic_B > 0);
        CU_ASSERT_DOUBLE_EQUAL(jobs[i + 1].nic_B / jobs[i].nic_B, G, 0.01 * G);
    }
}

/* The same, and the logits from the last stage round to all others. */
static void wants_outputs(const struct job *j, double *nvlink_B, double *nic_B)
{
    double logits_B = (double)B * S * V * E;
    wants_stages(j, nvlink_B, nic_B);
    *nvlink_B += hops_B(j, false, false, M, G - 1, logits_B);
}

static void test_outputs(void)
{
    check(dense_text,
          "pipeline=8 library=\"smp\" schedule=\"smp-interleaved\" "
          "broadcast_outputs=\"logits\"",
          wants_outputs);
}

enum { N = 4 }; /* instances: rings of two have rules of their own */

/* Layers are gathered forward and backward, the root once, all scattered: every
 * microbatch, over one ring of all ranks that leaves every node once. */
static void wants_sharded(const struct job *j, double *nvlink_B, double *nic_B)
{
    double n = N * G, gathered_B = M * (2 * L * layer + root) * E;
    double scattered_B = M * (L * layer + root) * E;
    double bytes = (n - 1) / n * (gathered_B + scattered_B);
    *nvlink_B = hops_B(j, true, true, 1, N * (G - 1), bytes);
    *nic_B = hops_B(j, true, true, 1, N, bytes) / shared_frac(j);
}

/* Shards in each node. Gradients of a shard are summed over the nodes, by two trees
 * that pass half of it each: (C11) has every node receive and send it twice. */
static void wants_hybrid(const struct job *j, double *nvlink_B, double *nic_B)
{
    double gathered_B = M * (2 * L * layer + root) * E;
    double scattered_B = M * (L * layer + root) * E, bytes = gathered_B + scattered_B;
    double shard_B = (L * layer + root) * E / G;
    *nvlink_B = hops_B(j, false, true, N, G, (G - 1.0) / G * bytes);
    *nic_B =
        2.0 * G * N * 2 * shard_B / law_efficiency(fabric_of(j, true), FABRIC_TREE);
}

static void test_sharded(void)
{
    check(dense_text, "sharding={\"strategy\":\"full\"} /cluster/count=4",
          wants_sharded);
    check(dense_text, "sharding={\"strategy\":\"full\",\"degree\":8} /cluster/count=4",
          wants_hybrid);
}

/* DeepSpeed's ZeRO 1 and 2 sum on all ranks, and gather what each has updated: once a
 * step, or the sums in every microbatch. */
static void wants_zero(const struct job *j, double *nvlink_B, double *nic_B)
{
    double part_B = (G - 1.0) / G * (L * layer + root) * E;
    bool each = j->s.parallel.shard.strategy == SHARDING_GRADIENTS;
    (void)nic_B;
    *nvlink_B = hops_B(j, false, false, 1, G, (each ? M : 1) * 2 * part_B) +
                hops_B(j, false, true, 1, G, part_B);
}

/* Before 0.12.4 a rank got its own part of the sums alone. */
static void wants_scattered(const struct job *j, double *nvlink_B, double *nic_B)
{
    double part_B = (G - 1.0) / G * (L * layer + root) * E;
    bool each = j->s.parallel.shard.strategy == SHARDING_GRADIENTS;
    (void)nic_B;
    *nvlink_B = hops_B(j, false, true, 1, G, (each ? M : 1) * part_B + part_B);
}

#define SCATTERS "/training/framework=\"megatron-deepspeed\""

static void test_zero(void)
{
    check(dense_text, "library=\"deepspeed\" sharding={\"strategy\":\"optimizer\"}",
          wants_zero);
    check(dense_text, "library=\"deepspeed\" sharding={\"strategy\":\"gradients\"}",
          wants_zero);
    check(dense_text,
          "library=\"deepspeed\" sharding={\"strategy\":\"optimizer\"} " SCATTERS,
          wants_scattered);
    check(dense_text,
          "library=\"deepspeed\" sharding={\"strategy\":\"gradients\"} " SCATTERS,
          wants_scattered);
}

/* Tokens to their experts and back, forward and backward: a rank keeps a part in n, and
 * G - 1 stay in its node. What is no expert is summed and gathered in shards. */
static void wants_experts(const struct job *j, double *nvlink_B, double *nic_B)
{
    double n = N * G, routed_B = (double)M * L * 4 * 2 * x_B;
    double inside = 2 * n * routed_B * (G - 1) / n;
    double outside = 2 * n * routed_B * (n - G) / n;
    double bytes = 2 * (n - 1) / n * shared * E;
    *nvlink_B = inside / law_efficiency(fabric_of(j, false), FABRIC_P2P) +
                hops_B(j, true, true, 1, N * (G - 1), bytes);
    *nic_B = outside / law_efficiency(fabric_of(j, true), FABRIC_P2P) +
             hops_B(j, true, true, 1, N, bytes) / shared_frac(j);
}

static void test_experts(void)
{
    check(experts_text,
          "expert=32 /cluster/count=4 library=\"deepspeed\" "
          "sharding={\"strategy\":\"optimizer\"} " SCATTERS,
          wants_experts);
    check(experts_text,
          "expert=32 /cluster/count=4 library=\"deepspeed\" bucket_size=\"1MiB\" "
          "sharding={\"strategy\":\"optimizer\"} overlap=true "
          "overlap_param_gather=true " SCATTERS,
          wants_experts);
}

/* --- gathers of what is quantized ---------------------------------------------------- */

static const char engine_text[] =
    "{ 'model': { 'model_type': 'llama', 'num_hidden_layers': 8, 'hidden_size': 512,"
    "             'num_attention_heads': 16, 'num_key_value_heads': 16,"
    "             'intermediate_size': 1024, 'vocab_size': 8192 },"
    "  'software': { 'environment': { 'NCCL_PROTO': 'Simple' } },"
    "  'cluster': { 'instance': 'p6-b200.48xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2, 'attention': "
    "'flash',"
    "                'microbatches': 8 },"
    "  'parallelism': { 'library': 'megatron', 'tensor': 4, 'pipeline': 2,"
    "                   'sequence_parallel': true,"
    "                   'sharding': { 'strategy': 'optimizer' } } }";

static double nvlink_B(const char *precision, const char *framework)
{
    struct job j;
    char changes[300];
    snprintf(changes, sizeof(changes), "/training/precision=%s /training/framework=%s",
             precision, framework);
    load(&j, engine_text, changes);
    run_job(&j, false);
    cfg_loader_release(&j.loader);
    return j.nvlink_B;
}

/* Of a layer's gathers two are of inputs, two of these again, and two of gradients, the
 * last in both orders where these have scales of their own. With e bytes an element they
 * save 6 (2 - e), or 4 (2 - e) + 2 (2 - 2 e), of all tokens. */
static void test_quantized_gathers(void)
{
    static const struct {
        const char *precision;
        double saved;
    } rows[] = {
        { "fp8_current", 6 },
        { "mxfp8", 4 * (2 - 33.0 / 32) + 2 * (2 - 33.0 / 16) },
        { "nvfp4", 4 * (2 - 9.0 / 16) + 2 * (2 - 9.0 / 8) },
    };
    char path[64];
    snprintf(path, sizeof(path), "/tmp/smsim-gathers-%d.json", (int)getpid());
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs("{ \"inherits\": \"megatron-core-2025\", \"gathers_quantized\": false }",
          file);
    fclose(file);
    double one_B = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double saved_B = nvlink_B(rows[i].precision, path) -
                         nvlink_B(rows[i].precision, "megatron-core-2025");
        if (i == 0)
            one_B = saved_B / rows[0].saved;
        CU_ASSERT_TRUE(saved_B > 0);
        CU_ASSERT_DOUBLE_EQUAL(saved_B / one_B, rows[i].saved, 1e-6);
    }
    CU_ASSERT_EQUAL(nvlink_B("bf16", path), nvlink_B("bf16", "megatron-core-2025"));
    unlink(path);
}

void test_traffic_register(void)
{
    CU_pSuite s = CU_add_suite("traffic", NULL, NULL);
    CU_add_test(s, "gradients round the node", test_ddp);
    CU_add_test(s, "activations round the tensor group", test_tensor);
    CU_add_test(s, "messages between stages", test_pipeline);
    CU_add_test(s, "parts of messages and whole ones", test_whole_messages);
    CU_add_test(s, "outputs to all stages", test_outputs);
    CU_add_test(s, "shards gathered and scattered", test_sharded);
    CU_add_test(s, "sums of ZeRO 1 and 2", test_zero);
    CU_add_test(s, "tokens to their experts", test_experts);
    CU_add_test(s, "gathers of what is quantized", test_quantized_gathers);
}
