/* What smsim model prints: parts that sum to the whole, FLOPs and bytes a token against
 * counts by hand, and the JSON against its schema. */
#include "model/summary.h"

#include "config/contract.h"
#include "config/datadir.h"
#include "json_schema.h"
#include "model/hub.h"
#include "report/model_report.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_summary_register(void);

static int read_name(struct model *m, struct cfg_loader *loader, const char *name)
{
    return model_read(m, loader, cfg_from_tree(loader, "name", json_string(name)));
}

static int summarise(struct model_summary *s, struct cfg_loader *loader,
                     const struct model *m, int64_t sequence)
{
    struct err err = { 0 };
    const struct framework *fw =
        framework_get(loader, "pytorch-ddp", (struct cfg) { 0 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(fw);
    return model_summarise(s, &loader->arena, m, sequence, fw, OP_ATTENTION_FLASH,
                           &err);
}

/* Of all ids: parts sum to the count, which is model_parameters'. The sequence is the
 * shortest that any has positions for. */
static void test_parts(void)
{
    struct cfg_loader loader;
    int64_t n;
    cfg_loader_init(&loader);
    const struct hub_id *ids = hub_ids(&loader, &n);
    for (int64_t i = 0; i < n; i++) {
        struct model_summary s;
        struct model m;
        int64_t sum = 0;
        if (ids[i].alias)
            continue;
        CU_ASSERT_EQUAL_FATAL(read_name(&m, &loader, ids[i].name), 0);
        int64_t most = m.ends.positions ? m.ends.positions : 512;
        int64_t n_tokens = most < 512 ? most : 512;
        if (m.diffusion.stack)
            n_tokens = m.diffusion.picture_tokens + m.diffusion.text_tokens;
        int rc = summarise(&s, &loader, &m, n_tokens);
        if (rc)
            printf("%s has no summary of %d tokens\n", ids[i].name, (int)n_tokens);
        CU_ASSERT_EQUAL_FATAL(rc, 0);
        for (int p = 0; p < SUMMARY_PARTS; p++)
            sum += s.parts[p];
        CU_ASSERT_EQUAL(sum, s.parameters);
        CU_ASSERT_EQUAL(s.parameters, model_parameters(&m));
        CU_ASSERT_EQUAL(s.parts[SUMMARY_EXPERTS] > 0, m.mlp.experts > 0);
        CU_ASSERT(s.active <= s.parameters);
    }
    cfg_loader_release(&loader);
}

/* With the head that is trained: the totals of the hub's files (bert-base-uncased's are of
 * its pre-training). */
static void test_head(void)
{
    static const struct {
        const char *name, *architecture;
        int64_t parameters, with_head;
    } cases[] = {
        { "bert-base-uncased", "BertForPreTraining", 109482240, 110106428 },
        { "bert-base-uncased", "BertForMaskedLM", 109482240, 109514298 },
        { "roberta-base", "RobertaForMaskedLM", 124645632, 124697433 },
        { "gpt2", "GPT2LMHeadModel", 124439808, 124439808 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model_summary s;
        struct model m;
        cfg_loader_init(&loader);
        struct cfg file =
            datadir_load(&loader, "models", cases[i].name, (struct cfg) { 0 });
        CU_ASSERT_FATAL(cfg_present(file));
        json_object_set_new(file.json, "architectures",
                            json_pack("[s]", cases[i].architecture));
        CU_ASSERT_EQUAL_FATAL(model_read(&m, &loader, file), 0);
        CU_ASSERT_EQUAL_FATAL(summarise(&s, &loader, &m, 128), 0);
        CU_ASSERT_EQUAL(s.parameters, cases[i].parameters);
        CU_ASSERT_EQUAL(s.with_head, cases[i].with_head);
        cfg_loader_release(&loader);
    }
}

/* Active parameters as their authors give them, to the digits given. */
static void test_active(void)
{
    static const struct {
        const char *id;
        double active, digit;
    } cases[] = {
        { "mistralai/Mixtral-8x7B-v0.1", 12.9e9, 0.05e9 },   /* arXiv 2401.04088 */
        { "Qwen/Qwen3-30B-A3B", 3.3e9, 0.06e9 },             /* arXiv 2505.09388 */
        { "deepseek-ai/DeepSeek-V3", 37e9, 0.6e9 },          /* arXiv 2412.19437 */
        { "deepseek-ai/DeepSeek-V2-Lite", 2.4e9, 0.3e9 },    /* arXiv 2405.04434 */
        { "allenai/OLMoE-1B-7B-0924", 1.3e9, 0.05e9 },       /* arXiv 2409.02060 */
        { "microsoft/Phi-3.5-MoE-instruct", 6.6e9, 0.05e9 }, /* arXiv 2404.14219 */
        { "databricks/dbrx-base", 36e9, 0.6e9 },             /* its model card */
        { "meta-llama/Llama-3.1-8B", 8.03e9, 0.01e9 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model_summary s;
        struct model m;
        cfg_loader_init(&loader);
        cfg_loader_init(&loader);
        CU_ASSERT_EQUAL_FATAL(read_name(&m, &loader, cases[i].id), 0);
        CU_ASSERT_EQUAL_FATAL(summarise(&s, &loader, &m, 512), 0);
        if (fabs((double)s.active - cases[i].active) > cases[i].digit)
            printf("%s: %.4g active\n", cases[i].id, (double)s.active);
        CU_ASSERT_DOUBLE_EQUAL((double)s.active, cases[i].active, cases[i].digit);
        cfg_loader_release(&loader);
    }
}

/* Llama 3.1 8B: two FLOPs a weight that multiplies (all but the embedding and the
 * norms), and 4 x 4096 a key and layer, of which causal attention needs half. Keys and
 * values: 32 layers x 2 x 8 heads x 128 columns x 2 B; DeepSeek-V3's 61 x (512 + 64) x
 * 2 B (arXiv 2412.19437). */
static void test_rates(void)
{
    struct cfg_loader loader;
    struct model_summary s;
    struct model m;
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(read_name(&m, &loader, "meta-llama/Llama-3.1-8B"), 0);
    CU_ASSERT_EQUAL_FATAL(summarise(&s, &loader, &m, 8192), 0);
    double weights =
        (double)(s.parameters - s.parts[SUMMARY_EMBEDDING] - s.parts[SUMMARY_NORMS]);
    double scores = 32 * 4.0 * 4096 * 8192 / 2;
    CU_ASSERT_DOUBLE_EQUAL(s.forward_flops / (2 * weights + scores), 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.training_flops, 3 * s.forward_flops, 1);
    CU_ASSERT_DOUBLE_EQUAL(s.kv_B, 32 * 2 * 8 * 128 * 2, 0);
    CU_ASSERT_EQUAL_FATAL(read_name(&m, &loader, "deepseek-ai/DeepSeek-V3"), 0);
    CU_ASSERT_EQUAL_FATAL(summarise(&s, &loader, &m, 4096), 0);
    CU_ASSERT_DOUBLE_EQUAL(s.kv_B, 61 * (512 + 64) * 2, 0);
    CU_ASSERT_EQUAL(s.n_blocks, 4);
    cfg_loader_release(&loader);
}

static bool says(const struct cfg_loader *loader, const char *part)
{
    for (int64_t i = 0; i < loader->diags.n; i++)
        if (strstr(loader->diags.v[i].text, part))
            return true;
    return false;
}

static void test_json(void)
{
    static const char *const models[] = { "bert-base-uncased",
                                          "t5-small",
                                          "gpt2",
                                          "Qwen/Qwen3-30B-A3B",
                                          "deepseek-ai/DeepSeek-V3.2",
                                          "Qwen/Qwen3-Next-80B-A3B-Instruct",
                                          "Qwen/Qwen2.5-VL-7B-Instruct" };
    static const char *const assumed[] = { "--sequence 512", NULL };
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    json_t *schema = contract_schema(&report_model_contract);
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        struct model_summary s;
        struct model m;
        char why[200] = "";
        CU_ASSERT_EQUAL_FATAL(read_name(&m, &loader, models[i]), 0);
        CU_ASSERT_EQUAL_FATAL(summarise(&s, &loader, &m, 512), 0);
        json_t *tree = report_model_json(&m, &s, assumed, &loader.diags);
        CU_ASSERT_EQUAL(json_array_size(json_object_get(tree, "warnings")),
                        (size_t)loader.diags.n_warnings);
        if (!json_schema_holds(schema, schema, tree, why))
            printf("%s: %s\n", models[i], why);
        CU_ASSERT(json_schema_holds(schema, schema, tree, NULL));
        json_object_del(tree, "parameters");
        CU_ASSERT(!json_schema_holds(schema, schema, tree, NULL));
        json_decref(tree);
    }
    json_decref(schema);
    CU_ASSERT(says(&loader, "36 layers keep a state: times of their scan are by a"));
    CU_ASSERT(
        says(&loader, "that an indexer chooses; the kernels of scores and choice"));
    cfg_loader_release(&loader);
}

/* Parameters that one token goes through, as the cards round them; some leave out the
 * embedding, or it and the head. */
static void test_cards(void)
{
    static const struct {
        const char *id;
        double billion;
        bool embedding, head;
    } cases[] = {
        { "deepseek-ai/DeepSeek-V3", 37, false, true },
        { "deepseek-ai/DeepSeek-V3.2", 37, false, true },
        { "moonshotai/Kimi-K2-Base", 32, false, true },
        { "zai-org/GLM-4.5", 32, false, false },
        { "zai-org/GLM-4.5-Air", 12, false, false },
        { "zai-org/GLM-5", 40, false, false },
        { "MiniMaxAI/MiniMax-M2", 10, false, true },
        { "MiniMaxAI/MiniMax-Text-01", 45.9, false, false },
        { "openai/gpt-oss-20b", 3.6, false, true },
        { "openai/gpt-oss-120b", 5.1, false, true },
        { "Qwen/Qwen3-30B-A3B", 3.3, true, true },
        { "Qwen/Qwen3-235B-A22B", 22, true, true },
        { "Qwen/Qwen3-Next-80B-A3B-Instruct", 3.9, true, true },
        { "moonshotai/Kimi-Linear-48B-A3B-Instruct", 3.1, false, true },
        { "baidu/ERNIE-4.5-300B-A47B-PT", 47, false, true },
        { "tencent/Hunyuan-A13B-Instruct", 13, true, true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model_summary s;
        struct model m;
        cfg_loader_init(&loader);
        CU_ASSERT_EQUAL_FATAL(read_name(&m, &loader, cases[i].id), 0);
        CU_ASSERT_EQUAL_FATAL(summarise(&s, &loader, &m, 512), 0);
        int64_t n = s.active;
        n -= cases[i].embedding ? 0 : s.parts[SUMMARY_EMBEDDING];
        n -= cases[i].head ? 0 : s.parts[SUMMARY_HEAD];
        double off = (double)n / 1e9 / cases[i].billion - 1;
        if (fabs(off) > 0.045)
            printf("\n    %s: %.2f billion", cases[i].id, (double)n / 1e9);
        CU_ASSERT(fabs(off) <= 0.045);
        cfg_loader_release(&loader);
    }
}

void test_summary_register(void)
{
    CU_pSuite s = CU_add_suite("summary", NULL, NULL);
    CU_add_test(s, "parts", test_parts);
    CU_add_test(s, "active", test_active);
    CU_add_test(s, "with head", test_head);
    CU_add_test(s, "rates", test_rates);
    CU_add_test(s, "json", test_json);
    CU_add_test(s, "active parameters", test_cards);
}
