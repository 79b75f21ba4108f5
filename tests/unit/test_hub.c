/* Ids of the Hugging Face hub: each row's sizes against the count that was published,
 * and names by rule. */
#include "config/datadir.h"
#include "model/families/families.h"
#include "model/hub.h"
#include "model/model.h"
#include "sample.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_hub_register(void);

/* With the table of `files`, which is read once; NULL: of its own. */
static int read_name(struct model *m, struct cfg_loader *loader,
                     struct cfg_loader *files, const char *name)
{
    char text[200];
    snprintf(text, sizeof(text), "{'model': '%s'}", name);
    cfg_loader_init(loader);
    loader->shared = files;
    struct cfg root = cfg_parse(loader, "scenario", text, strlen(text));
    return model_read(m, loader, cfg_get(root, "model"));
}

/* The Hub's totals hold buffers of the oldest files, and heads that are stored next to
 * the embedding that they are tied to. */
static void check_row(const struct hub_id *id, struct cfg_loader *files)
{
    struct cfg_loader loader;
    struct model m;
    int rc = read_name(&m, &loader, files, id->name);
    if (rc)
        diags_print_errors(&loader.diags, stdout);
    CU_ASSERT_EQUAL(rc, 0);
    if (rc == 0) {
        double more = id->stored_twice ? (double)m.ends.vocab * (double)m.hidden : 0;
        double n = (double)model_parameters(&m) + more;
        double published = (double)id->parameters;
        if (fabs(n / published - 1) > 0.005)
            printf("%s: %.0f, published %.0f\n", id->name, n, published);
        CU_ASSERT_DOUBLE_EQUAL(n / published, 1, 0.005);
    }
    cfg_loader_release(&loader);
}

static void test_counts(void)
{
    struct cfg_loader loader;
    int64_t n, rows = 0;
    cfg_loader_init(&loader);
    const struct hub_id *ids = hub_ids(&loader, &n);
    CU_ASSERT_PTR_NOT_NULL_FATAL(ids);
    for (int64_t i = 0; i < n; i++) {
        if (i % sample_every() == 0)
            check_row(&ids[i], &loader);
        rows += !ids[i].alias;
    }
    CU_ASSERT(rows >= 190);
    cfg_loader_release(&loader);
}

/* No two rows have one name, and none has a name by rule that another has by name. */
static void test_unique(void)
{
    struct cfg_loader loader;
    int64_t n;
    cfg_loader_init(&loader);
    const struct hub_id *ids = hub_ids(&loader, &n);
    for (int64_t i = 0; i < n; i += sample_every()) {
        struct hub_id found;
        CU_ASSERT(hub_find(&found, &loader, ids[i].name));
        if (found.row.json != ids[i].row.json)
            printf("%s is found as %s\n", ids[i].name, found.name);
        CU_ASSERT_PTR_EQUAL(found.row.json, ids[i].row.json);
    }
    cfg_loader_release(&loader);
}

static void test_rules(void)
{
    static const struct {
        const char *asked, *row;
        int warnings;
    } cases[] = {
        { "meta-llama/llama-3.1-8B-INSTRUCT", "meta-llama/Llama-3.1-8B", 0 },
        { "Llama-3.1-8B", "meta-llama/Llama-3.1-8B", 0 },
        { "meta-llama/Meta-Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B", 0 },
        { "meta-llama/Llama-2-7b-chat-hf", "meta-llama/Llama-2-7b-hf", 0 },
        { "unsloth/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B", 0 },
        { "unsloth/llama-3-8b-bnb-4bit", "meta-llama/Meta-Llama-3-8B", 1 },
        { "somebody/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B", 1 },
        { "Qwen/Qwen2.5-7B-Instruct-AWQ", "Qwen/Qwen2.5-7B", 1 },
        { "Qwen/Qwen3-8B-Base", "Qwen/Qwen3-8B", 0 },
        { "t5-base", "google-t5/t5-base", 0 },
        { "mistralai/Mistral-7B-Instruct-v0.3", "mistralai/Mistral-7B-v0.3", 0 },
        { "deepseek-ai/deepseek-llm-7b-chat", "deepseek-ai/deepseek-llm-7b-base", 0 },
        { "baichuan-inc/Baichuan2-13B-Chat", "baichuan-inc/Baichuan2-13B-Base", 0 },
        { "AI-ModelScope/gemma-2-9b-it", "google/gemma-2-9b", 0 },
        { "LLM-Research/Meta-Llama-3.1-8B-Instruct-BNB-NF4", "meta-llama/Llama-3.1-8B",
          1 },
        { "unsloth/Qwen3-VL-8B-Thinking", "Qwen/Qwen3-VL-8B-Instruct", 1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct hub_id found = { 0 };
        struct model m;
        CU_ASSERT_EQUAL(read_name(&m, &loader, NULL, cases[i].asked), 0);
        CU_ASSERT_EQUAL(loader.diags.n_warnings, cases[i].warnings);
        CU_ASSERT(hub_find(&found, &loader, cases[i].asked));
        CU_ASSERT_STRING_EQUAL(found.name ? found.name : "", cases[i].row);
        cfg_loader_release(&loader);
    }
}

static void test_unknown(void)
{
    static const struct {
        const char *asked, *says;
    } cases[] = {
        { "meta-llama/Lama-3.1-8B", "did you mean \"meta-llama/Llama-3.1-8B\"?" },
        { "Qwen/Qwen2.5-8B", "did you mean \"Qwen/Qwen2.5-" },
        { "google/t5", "config.json" },
        { "acme/secret-model", "give the path of its config.json" },
        { "acme/Llama-3.1-8B-finetuned-on-mail", "config.json" },
        { "/nowhere/config.json", "there is no file" },
        { "gpt3", "is not in models/" },
        { "facebook/convnext-tiny-224",
          "of family \"convnext\", which is not modelled: its" },
        { "microsoft/Phi-3.5-vision-instruct", "of family \"phi3_v\"" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct strbuf b;
        struct model m;
        strbuf_init(&b);
        CU_ASSERT_EQUAL(read_name(&m, &loader, NULL, cases[i].asked), -1);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
        diag_write(&b, &loader.diags.v[0]);
        if (!strstr(strbuf_get(&b), cases[i].says))
            printf("%s\n", strbuf_get(&b));
        CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&b), cases[i].says));
        strbuf_release(&b);
        cfg_loader_release(&loader);
    }
}

/* What a fine-tuned model was made of, by its name; "": it does not say. */
static void test_original(void)
{
    static const struct {
        const char *asked, *original;
    } cases[] = {
        { "hfl/chinese-llama-2-7b", "" },
        { "tokyotech-llm/Llama-3.1-Swallow-8B-v0.1", "meta-llama/Llama-3.1-8B" },
        { "../hf_llama2_models/70B", "meta-llama/Llama-2-70b-hf" },
        { "/public/llama2/7B-hf", "meta-llama/Llama-2-7b-hf" },
        { "/ckpts/Yi-6B-to-mg-tp1-pp1", "01-ai/Yi-6B" },
        { "data/models/7B", "" },
        { "GoToCompany/gemma2-9b-cpt-sahabatai-v1-base", "google/gemma-2-9b" },
        { "/data/deepseek-7b-ft-full", "deepseek-ai/deepseek-llm-7b-base" },
        { "saves/qwen2-7b-sft/checkpoint-500/", "Qwen/Qwen2-7B" },
        { "me/gpt2-medium-imdb", "openai-community/gpt2-medium" },
        { "distilbert-base-uncased-distilled-squad",
          "distilbert/distilbert-base-uncased" },
        { "me/llama-3_1-8b-mail", "meta-llama/Llama-3.1-8B" },
        /* another size, kind or release, or a number of something else */
        { "me/Qwen2.5-8B-mail", "" },
        { "me/Qwen4-7B-mail", "" },
        { "me/llama3-8b-pro", "" },
        { "me/code-llama-7b-mail", "" },
        { "me/Qwen2.5-7B-pruned-4b", "" },
        { "me/mail-7b-llama", "" },
        { "me/phi", "" },
        { "saves/sft_3b_stage2", "" },
    };
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *id = hub_original(&loader, cases[i].asked);
        if (strcmp(id ? id : "", cases[i].original) != 0)
            printf("%s is made of %s\n", cases[i].asked, id ? id : "nothing");
        CU_ASSERT_STRING_EQUAL(id ? id : "", cases[i].original);
    }
    cfg_loader_release(&loader);
}

/* Ids of families that are refused: each family has a reason, no id is a row as well. */
static void test_refused(void)
{
    struct cfg_loader loader;
    int64_t n, families = 0;
    cfg_loader_init(&loader);
    const struct hub_id *ids = hub_ids(&loader, &n);
    struct cfg nowhere = { NULL, NULL, "" };
    struct cfg list =
        cfg_get(datadir_load(&loader, "models/hub", "ids", nowhere), "refused");
    for (int64_t i = 0; i < n; i += sample_every()) {
        if (hub_refused(&loader, ids[i].name))
            printf("%s is refused\n", ids[i].name);
        CU_ASSERT_PTR_NULL(hub_refused(&loader, ids[i].name));
    }
    for (void *it = cfg_first(list); it; it = cfg_next(list, it), families++) {
        if (!family_refusal(cfg_key(it)))
            printf("%s is not refused\n", cfg_key(it));
        CU_ASSERT_PTR_NOT_NULL(family_refusal(cfg_key(it)));
        CU_ASSERT(cfg_len(cfg_member(list, it)) > 0);
    }
    CU_ASSERT(families > 5);
    cfg_loader_release(&loader);
}

void test_hub_register(void)
{
    CU_pSuite s = CU_add_suite("hub", NULL, NULL);
    CU_add_test(s, "counts", test_counts);
    CU_add_test(s, "unique", test_unique);
    CU_add_test(s, "rules", test_rules);
    CU_add_test(s, "unknown", test_unknown);
    CU_add_test(s, "original", test_original);
    CU_add_test(s, "refused", test_refused);
}
