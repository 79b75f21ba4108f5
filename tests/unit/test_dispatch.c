/* Dispatchers of experts' tokens: bytes, times, overlap. */
#include "cost/transfer.h"
#include "scenario_bench.h"
#include "simulate/simulate.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

void test_dispatch_register(void);

static const char job_text[] =
    "{ 'model': { 'model_type': 'deepseek_v2', 'num_hidden_layers': 8,"
    "             'hidden_size': 2048, 'num_attention_heads': 16, 'vocab_size': 32000,"
    "             'intermediate_size': 4096, 'moe_intermediate_size': 1024,"
    "             'n_routed_experts': 64, 'num_experts_per_tok': 6, "
    "'n_shared_experts': 2,"
    "             'kv_lora_rank': 128, 'qk_nope_head_dim': 64, 'qk_rope_head_dim': 32,"
    "             'v_head_dim': 64 },"
    "  'cluster': { 'instance': 'dgx-h100', 'count': 4 },"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1, 'microbatches': 8,"
    "                'precision': 'bf16', 'attention': 'flash' },"
    "  'parallelism': { 'library': 'megatron' } }";

struct job {
    struct cfg_loader loader;
    struct scenario s;
    struct simulate_result r;
};

static void run(struct job *j, const char *changes, bool unfold)
{
    struct simulate_options options = { .network = FIDELITY_FLOW, .unfold = unfold };
    struct err err = { 0 };
    bench_scenario(&j->loader, &j->s, job_text, "/parallelism/", changes);
    CU_ASSERT_EQUAL_FATAL(simulate(&j->r, &j->loader.arena, &j->s, &options, &err), 0);
}

static double step_s(const char *changes, enum category part)
{
    struct job j;
    run(&j, changes, false);
    double s = part == CATEGORY_N ? j.r.step_time_s : j.r.parts_s[part];
    cfg_loader_release(&j.loader);
    return s;
}

/* Copies to nodes, by counting all draws of a small case, and by the limits. */
static void test_copies(void)
{
    /* 4 groups of 2 experts, 2 of them drawn, 2 experts of these 4: over 2 parts */
    double same = 1 / 3.0;        /* both groups in one part */
    double apart = (2 * 1.0) / 6; /* else: both experts in one of the groups */
    double expected = same * 1 + (1 - same) * (apart * 1 + (1 - apart) * 2);
    CU_ASSERT_DOUBLE_EQUAL(transfer_distinct_limited(2, 8, 2, 4, 2), expected, 1e-12);
    CU_ASSERT(transfer_distinct_limited(8, 256, 8, 8, 4) < 4);
    CU_ASSERT(transfer_distinct_limited(8, 256, 8, 8, 4) > 3.4);
    CU_ASSERT(transfer_distinct_limited(32, 256, 8, 8, 4) <
              transfer_distinct(32, 256, 8));
    CU_ASSERT_DOUBLE_EQUAL(transfer_distinct_limited(4, 256, 8, 0, 0),
                           transfer_distinct(4, 256, 8), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(transfer_distinct_limited(4, 64, 6, 1, 1),
                           transfer_distinct(4, 64, 6), 1e-12);
}

/* Over four nodes a copy a node is less than one an expert, and all tokens to all ranks
 * are the most; inside one node kernels win over NCCL as well. */
static void test_dispatchers(void)
{
    double all = step_s("expert=32", CATEGORY_EXPERT_COMM);
    double deep =
        step_s("expert=32 expert_dispatcher=\"deepep\"", CATEGORY_EXPERT_COMM);
    double fp8 = step_s("expert=32 expert_dispatcher=\"deepep\" "
                        "expert_dispatch_fp8=true",
                        CATEGORY_EXPERT_COMM);
    double gather =
        step_s("expert=32 expert_dispatcher=\"allgather\"", CATEGORY_EXPERT_COMM);
    CU_ASSERT(deep < 0.8 * all && deep > 0.3 * all);
    CU_ASSERT(fp8 < 0.95 * deep && fp8 > 0.7 * deep);
    CU_ASSERT(gather > 1.5 * deep);
    double few = step_s("expert=8 expert_dispatcher=\"deepep\" expert_dispatch_sms=4",
                        CATEGORY_EXPERT_COMM);
    double many = step_s("expert=8 expert_dispatcher=\"deepep\" expert_dispatch_sms=24",
                         CATEGORY_EXPERT_COMM);
    CU_ASSERT(many < 0.35 * few);
}

/* Over EFA the host's proxy sends one put after the other, four times a layer and
 * microbatch: 4,096 tokens with 64 experts, 6 of them, on 4 nodes, and ten channels. */
static void test_proxy(void)
{
    double each = 4096 * transfer_distinct(4, 64, 6) / 4;
    double puts = transfer_puts(TRANSFER_DISPATCH, 32, 4, each, 20);
    CU_ASSERT_DOUBLE_EQUAL(puts, 3 * 10 * ceil(each / 80), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(transfer_puts(TRANSFER_COMBINE, 16, 2, 100, 20), 10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(transfer_puts(TRANSFER_DISPATCH, 16, 2, 201, 20), 20, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(transfer_puts(TRANSFER_DISPATCH, 128, 16, 121, 1), 165,
                           1e-9);
    const char *efa = "expert=32 expert_dispatcher=\"deepep\" "
                      "/cluster/instance=\"p5.48xlarge\"";
    double without =
        step_s("expert=32 expert_dispatcher=\"deepep\"", CATEGORY_EXPERT_COMM);
    double with = step_s(efa, CATEGORY_EXPERT_COMM);
    double proxy_s = 4 * 8 * 8 * puts * 5e-6;
    CU_ASSERT(with > without + 0.9 * proxy_s && with < without + 1.5 * proxy_s);
}

/* Two groups on each pair of nodes share a core that is so thin that it binds: twice as thin,
 * twice the time; and one node in place of all is as good as all of them. */
static void test_core(void)
{
    double exposed[2][2];
    for (int thin = 0; thin < 2; thin++)
        for (int unfold = 0; unfold < 2; unfold++) {
            struct job j;
            run(&j,
                thin ? "tensor=2 expert=8 expert_dispatcher=\"deepep\" "
                       "/cluster/oversubscription=64"
                     : "tensor=2 expert=8 expert_dispatcher=\"deepep\" "
                       "/cluster/oversubscription=32",
                unfold);
            exposed[thin][unfold] = j.r.parts_s[CATEGORY_EXPERT_COMM];
            cfg_loader_release(&j.loader);
        }
    CU_ASSERT_DOUBLE_EQUAL(exposed[1][0] / exposed[0][0], 2, 0.05);
    CU_ASSERT_DOUBLE_EQUAL(exposed[0][1] / exposed[0][0], 1, 0.02);
    CU_ASSERT_DOUBLE_EQUAL(exposed[1][1] / exposed[1][0], 1, 0.02);
}

/* Inside one node: twice each of the law's two directions a layer, microbatch after
 * microbatch. */
static void test_law_in_step(void)
{
    struct job j;
    run(&j, "expert=8 expert_dispatcher=\"deepep\"", false);
    const struct parallelism_dispatch *d = &j.s.parallel.dispatch;
    double u = transfer_distinct(8, 64, 6), each_B = 2 * 2048.0, sum_s = 0;
    CU_ASSERT_EQUAL(d->sms, 20);
    for (int i = 0; i < TRANSFER_KINDS; i++) {
        const struct transfer *t = d->transfers[i];
        sum_s += t->start_s + hypot(transfer_sms_s(t, 4096, each_B, u, d->sms),
                                    4096 * u * each_B / t->rate_Bps);
    }
    CU_ASSERT_DOUBLE_EQUAL(j.r.parts_s[CATEGORY_EXPERT_COMM] / (8 * 8 * 2 * sum_s), 1,
                           0.02);
    cfg_loader_release(&j.loader);
}

/* Overlap hides what it can: never less than kernels alone, never more than both. Of
 * fewer tokens the host would bind, and nothing be hidden. */
#define MORE_TOKENS "/training/micro_batch_size=4 "
static void test_overlap(void)
{
    static const char *const layouts[] = {
        MORE_TOKENS "expert=8",
        MORE_TOKENS "expert=8 pipeline=4 /training/microbatches=16",
        MORE_TOKENS "expert=8 expert_dispatcher=\"deepep\" pipeline=2",
        MORE_TOKENS "expert=4 pipeline=2 virtual_stages=2 schedule=\"interleaved\"",
    };
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        char shared[256], pairs[256];
        snprintf(shared, sizeof(shared), "%s expert_overlap=\"shared-expert\"",
                 layouts[i]);
        snprintf(pairs, sizeof(pairs), "%s expert_overlap=\"microbatches\"",
                 layouts[i]);
        double none = step_s(layouts[i], CATEGORY_N);
        double exposed = step_s(layouts[i], CATEGORY_EXPERT_COMM);
        double with_shared = step_s(shared, CATEGORY_N);
        double with_pairs = step_s(pairs, CATEGORY_N);
        CU_ASSERT(with_shared < 0.999 * none && with_pairs < 0.999 * none);
        /* halves of a microbatch wait for each other at the ends of each chunk */
        CU_ASSERT(strstr(layouts[i], "virtual_stages") || with_pairs < with_shared);
        CU_ASSERT(step_s(pairs, CATEGORY_EXPERT_COMM) < 0.7 * exposed);
    }
}

/* One more microbatch is in flight where passes are paired. */
static void test_pairs_memory(void)
{
    struct job alone, pairs;
    run(&alone, "expert=8 pipeline=4 /training/microbatches=16", false);
    run(&pairs,
        "expert=8 pipeline=4 /training/microbatches=16 "
        "expert_overlap=\"microbatches\"",
        false);
    double last = (double)alone.r.memory.stages[3].activations_B,
           more = (double)pairs.r.memory.stages[3].activations_B;
    CU_ASSERT(more > 1.7 * last);
    cfg_loader_release(&alone.loader);
    cfg_loader_release(&pairs.loader);
}

void test_dispatch_register(void)
{
    CU_pSuite suite = CU_add_suite("dispatch", NULL, NULL);
    CU_add_test(suite, "copies of a token", test_copies);
    CU_add_test(suite, "tokens over nodes", test_dispatchers);
    CU_add_test(suite, "puts by the host's proxy", test_proxy);
    CU_add_test(suite, "tokens over a thin core", test_core);
    CU_add_test(suite, "the law in a step", test_law_in_step);
    CU_add_test(suite, "exchange overlaps", test_overlap);
    CU_add_test(suite, "pairs hold a microbatch more", test_pairs_memory);
}
