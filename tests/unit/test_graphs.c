/* CUDA graphs of parts of layers: what is captured, what the host still spends, what a
 * step gains by it. */
#include "model/graphs.h"
#include "step_bench.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_graphs_register(void);

/* Llama 3 8B cut small over tensor groups, and a model of experts: the host binds. */
static const char dense[] =
    "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'p5.48xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 512, 'micro_batch_size': 1,"
    "                'microbatches': 8, 'precision': 'bf16' },"
    "  'parallelism': { 'library': 'megatron', 'tensor': 4, 'pipeline': 2,"
    "                   'sequence_parallel': true,"
    "                   'sharding': { 'strategy': 'optimizer' } } }";
static const char experts[] =
    "{ 'model': 'mixtral-8x7b', 'cluster': { 'instance': 'p5.48xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 512, 'micro_batch_size': 1,"
    "                'microbatches': 8, 'precision': 'bf16' },"
    "  'parallelism': { 'library': 'megatron', 'pipeline': 4, 'expert': 4,"
    "                   'sharding': { 'strategy': 'optimizer' } } }";

static const struct op_block *layer_of(struct job *j, struct op_list *list,
                                       const char *text)
{
    struct err err = { 0 };
    bench_scenario(&j->loader, &j->s, text, "/parallelism/", "");
    struct op_settings settings = scenario_op_settings(&j->s);
    CU_ASSERT_EQUAL_FATAL(
        op_list_make(list, &j->loader.arena, &j->s.model, &settings, &err), 0);
    for (int32_t i = 0; i < list->n_blocks; i++)
        if (op_block_is_layer(&list->blocks[i]))
            return &list->blocks[i];
    return NULL;
}

static int32_t captured(const struct op_block *b, uint32_t graphs)
{
    int32_t n = 0;
    for (int32_t i = 0; i < b->n_forward; i++)
        n += op_graph_captures(b, false, i, graphs);
    for (int32_t i = 0; i < b->n_backward; i++)
        n += op_graph_captures(b, true, i, graphs);
    return n;
}

/* Parts make up the layer; each direction of what is captured in a row is one launch. */
static void test_captures(void)
{
    enum {
        ATTN = 1 << OP_GRAPH_ATTENTION,
        MLP = 1 << OP_GRAPH_MLP,
        MOE = 1 << OP_GRAPH_MOE,
        ROUTER = 1 << OP_GRAPH_ROUTER,
        LAYER = 1 << OP_GRAPH_LAYER
    };
    struct job j[2];
    struct op_list list[2];
    const struct op_block *b[] = { layer_of(&j[0], &list[0], dense),
                                   layer_of(&j[1], &list[1], experts) };
    for (int i = 0; i < 2; i++) {
        int32_t all = b[i]->n_forward + b[i]->n_backward, kernels = 0;
        double call_s = 30e-6, sum_s = 0;
        CU_ASSERT_EQUAL(captured(b[i], LAYER), all);
        CU_ASSERT_EQUAL(captured(b[i], ATTN | MLP | MOE), all);
        CU_ASSERT_EQUAL(captured(b[i], ATTN) + captured(b[i], MLP | MOE), all);
        CU_ASSERT(captured(b[i], ATTN) > 0 && captured(b[i], ATTN) < all);
        CU_ASSERT_EQUAL(captured(b[i], MLP) > 0, i == 0);
        CU_ASSERT_EQUAL(captured(b[i], ROUTER) > 0, i == 1);
        CU_ASSERT(captured(b[i], ROUTER) <= captured(b[i], MOE));
        for (int32_t k = 0; k < b[i]->n_forward; k++) {
            sum_s += op_graph_host_s(b[i], false, k, LAYER, call_s);
            kernels += b[i]->forward[k].launches;
        }
        CU_ASSERT_DOUBLE_EQUAL(sum_s, call_s + 2.5e-6 + 1e-9 * kernels, 1e-12);
        CU_ASSERT(op_graph_pool_B(b[i], LAYER) > 0);
    }
    job_unload(&j[0]);
    job_unload(&j[1]);
}

struct ran {
    double time_s, host, flops;
    int64_t buffers_B;
};

static struct ran run(const char *text, const char *changes)
{
    struct job j;
    struct simulate_result r;
    struct reps reps;
    const struct reps_options how = { 0 };
    bench_scenario(&j.loader, &j.s, text, "/parallelism/", changes);
    validation_job_run(&j, &r);
    job_reps(&j, &how, &reps);
    struct ran out = { r.step_time_s, r.util_host * r.step_time_s, reps.steps[0].flops,
                       r.memory.stages[0].buffers_B };
    reps_release(&reps);
    job_unload(&j);
    return out;
}

/* The more is captured, the less the host does, and no step is slower for it; the same
 * FLOPs; a pool of their own, but where all is in it. */
static void test_steps(void)
{
    static const struct {
        const char *text, *scopes[5];
    } cases[] = {
        { dense, { "[\"attn\"]", "[\"attn\",\"mlp\"]", "\"full_iteration\"" } },
        { experts,
          { "[\"moe_router\",\"moe_preprocess\"]",
            "[\"attn\",\"moe_router\",\"moe_preprocess\"]", "[\"attn\",\"moe\"]",
            "\"full_iteration\"" } },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ran none = run(cases[i].text, ""), before = none;
        for (int k = 0; cases[i].scopes[k]; k++) {
            char changes[256];
            snprintf(changes, sizeof(changes), "/training/cuda_graphs=%s",
                     cases[i].scopes[k]);
            struct ran after = run(cases[i].text, changes);
            bool all = strstr(changes, "iteration") != NULL;
            CU_ASSERT(after.host < before.host);
            CU_ASSERT(after.time_s <= before.time_s);
            CU_ASSERT_DOUBLE_EQUAL(after.flops, none.flops, 1e-9 * none.flops);
            CU_ASSERT_EQUAL(after.buffers_B > none.buffers_B, !all);
            before = after;
        }
        CU_ASSERT(before.time_s < (i == 0 ? 0.9 : 1) * none.time_s);
    }
}

void test_graphs_register(void)
{
    CU_pSuite s = CU_add_suite("graphs", NULL, NULL);
    CU_add_test(s, "graphs of parts of layers", test_captures);
    CU_add_test(s, "the host spends less on graphs", test_steps);
}
