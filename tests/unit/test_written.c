/* Names as people write them. */
#include "report/figure/written.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>

void test_written_register(void);

static void test_models(void)
{
    static const char *const names[][2] = {
        { "bert-large-uncased", "BERT-large" },
        { "roberta-base", "RoBERTa-base" },
        { "gpt2", "GPT-2" },
        { "gpt2-xl", "GPT-2 XL" },
        { "gpt3-175b", "GPT-3 175B" },
        { "gpt3-6.7b", "GPT-3 6.7B" },
        { "gpt-neox-20b", "GPT-NeoX 20B" },
        { "gpt-j-6b", "GPT-J 6B" },
        { "llama3.1-405b", "Llama 3.1 405B" },
        { "mixtral-8x7b", "Mixtral 8x7B" },
        { "t5-11b", "T5 11B" },
        { "flan-t5-xxl", "Flan-T5-XXL" },
        { "deepseek-v3", "DeepSeek-V3" },
        { "meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B" }, /* as it is */
        { "bert-of-mine", "bert-of-mine" },
        { "", "" },
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *text = written_model(names[i][0]);
        CU_ASSERT_STRING_EQUAL(text, names[i][1]);
        free(text);
    }
}

static void test_collectives(void)
{
    char *text = written_collective("reduce_scatter");

    CU_ASSERT_STRING_EQUAL(text, "Reduce-scatter");
    free(text);
}

void test_written_register(void)
{
    CU_pSuite suite = CU_add_suite("written", NULL, NULL);
    CU_add_test(suite, "models", test_models);
    CU_add_test(suite, "collectives", test_collectives);
}
