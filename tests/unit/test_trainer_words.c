/* Words of the Hugging Face family: the Trainer's optimizers, Unsloth's programs. */
#include "launch_bench.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_trainer_words_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct program_case {
    const char *text;
    const char *tree;  /* of the scenario, its keys in order */
    const char *noted; /* a part of a note, or of an error; NULL: any */
};

/* A text under the name of a file. */
static void check(const char *name, const struct program_case *c)
{
    struct cfg_loader loader;
    struct launch l = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = launch_load_text(&l, &loader, name, c->text);
    char *tree = root.json ? json_dumps(root.json, JSON_COMPACT | JSON_SORT_KEYS |
                                                       JSON_REAL_PRECISION(6))
                           : NULL;
    CU_ASSERT_PTR_NOT_NULL(tree);
    CU_ASSERT_STRING_EQUAL(tree ? tree : "", c->tree);
    if (tree && strcmp(tree, c->tree) != 0)
        fprintf(stderr, "%s\n    gives %s\n", c->text, tree);
    CU_ASSERT(!c->noted || is_said(&l, c->noted));
    if (c->noted && !is_said(&l, c->noted))
        fprintf(stderr, "%s\n    does not say %s\n", c->text, c->noted);
    free(tree);
    launch_release(&l);
    cfg_loader_release(&loader);
}

#define IMPORTS                                                                     \
    "import torch\n"                                                                \
    "from transformers import (AutoModelForCausalLM, Trainer, TrainingArguments)\n" \
    "from trl import SFTConfig, SFTTrainer\n"
#define UNSLOTH IMPORTS "from unsloth import FastLanguageModel, FastModel\n"

static const struct program_case unsloth[] = {
    /* Unsloth's defaults: 4 bits, bf16, recomputation, its trainer's batch; the loader's
     * length goes before the trainer's */
    { UNSLOTH "model, tok = FastLanguageModel.from_pretrained('unsloth/Llama-3.1-8B',\n"
              "    max_seq_length=4096, dtype=None)\n"
              "model = FastLanguageModel.get_peft_model(model, r=32, lora_alpha=64,\n"
              "    finetune_attention_modules=False)\n"
              "SFTTrainer(model=model, args=SFTConfig(max_length=512)).train()\n",
      "{\"cluster\":{},\"model\":\"unsloth/Llama-3.1-8B\",\"training\":{"
      "\"activation_checkpointing\":\"full\",\"gradient_accumulation_steps\":2,"
      "\"lora\":{\"alpha\":64.0,\"base\":\"nf4\",\"double_quantization\":true,"
      "\"dropout\":0.0,\"rank\":32,\"target_modules\":[\"gate_proj\",\"up_proj\","
      "\"down_proj\"]},\"micro_batch_size\":4,\"optimizer\":\"adam8bit\","
      "\"precision\":\"amp_bf16\",\"sequence_length\":4096,\"task\":\"causal-lm\"}}",
      "moves what is kept for recomputation to the host's memory" },
    /* 16-bit adapters, of transformers' own arguments; what the adapters are given goes
     * before what the trainer is */
    { UNSLOTH
      "model, tok = FastModel.from_pretrained('unsloth/Qwen2.5-7B',\n"
      "    load_in_4bit=False)\n"
      "model = FastModel.get_peft_model(model, use_gradient_checkpointing=False,\n"
      "    finetune_vision_layers=True)\n"
      "SFTTrainer(model=model, args=TrainingArguments('o', "
      "gradient_checkpointing=True,\n"
      "    per_device_train_batch_size=2)).train()\n",
      "{\"cluster\":{},\"model\":\"unsloth/Qwen2.5-7B\",\"training\":{"
      "\"activation_checkpointing\":\"none\",\"lora\":{\"alpha\":16.0,\"base\":"
      "\"bf16\",\"dropout\":0.0,\"rank\":16,\"target_modules\":[\"q_proj\","
      "\"k_proj\",\"v_proj\",\"o_proj\",\"gate_proj\",\"up_proj\",\"down_proj\"]},"
      "\"micro_batch_size\":2,\"precision\":\"amp_bf16\",\"sequence_length\":2048,"
      "\"task\":\"causal-lm\"}}",
      "finetune_vision_layers" },
    /* all of it: bf16 without autocast */
    { UNSLOTH "model, tok = FastLanguageModel.from_pretrained('unsloth/Qwen2.5-7B',\n"
              "    full_finetuning=True, use_gradient_checkpointing=False)\n"
              "SFTTrainer(model=model, args=SFTConfig(bf16=False,\n"
              "    per_device_train_batch_size=1)).train()\n",
      "{\"cluster\":{},\"model\":\"unsloth/Qwen2.5-7B\",\"training\":{"
      "\"activation_checkpointing\":\"none\",\"gradient_accumulation_steps\":2,"
      "\"master_weights\":false,\"micro_batch_size\":1,\"optimizer\":\"adam8bit\","
      "\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      "Unsloth's own kernels" },
};

static void test_unsloth(void)
{
    for (size_t i = 0; i < COUNT(unsloth); i++)
        check("train.py", &unsloth[i]);
}

/* Every word of transformers' OptimizerNames (5.0): what it comes to, or a question that
 * has its name. */
static void test_optimizers(void)
{
    static const struct {
        const char *word, *optimizer;
    } words[] = {
        { "adamw_torch", "adam" },
        { "adamw_torch_fused", "adam" },
        { "adamw_torch_xla", "adam" },
        { "adamw_torch_npu_fused", NULL },
        { "adamw_apex_fused", "adam" },
        { "adafactor", "adafactor" },
        { "adamw_anyprecision", NULL },
        { "adamw_torch_4bit", "adam4bit" },
        { "adamw_torch_8bit", "adam8bit" },
        { "ademamix", "ademamix" },
        { "sgd", "sgd" },
        { "adagrad", "adagrad" },
        { "adamw_bnb_8bit", "adam8bit" },
        { "adamw_8bit", "adam8bit" },
        { "lion_8bit", "lion8bit" },
        { "lion_32bit", "lion" },
        { "paged_adamw_32bit", "adam" },
        { "paged_adamw_8bit", "adam8bit" },
        { "paged_lion_32bit", "lion" },
        { "paged_lion_8bit", "lion8bit" },
        { "ademamix_8bit", "ademamix8bit" },
        { "paged_ademamix_32bit", "ademamix" },
        { "paged_ademamix_8bit", "ademamix8bit" },
        { "rmsprop", "rmsprop" },
        { "rmsprop_bnb", "rmsprop" },
        { "rmsprop_bnb_8bit", NULL },
        { "rmsprop_bnb_32bit", "rmsprop" },
        { "galore_adamw", NULL },
        { "galore_adamw_8bit_layerwise", NULL },
        { "lomo", NULL },
        { "adalomo", NULL },
        { "grokadamw", NULL },
        { "schedule_free_adamw", "adam" },
        { "schedule_free_radam", "adam" },
        { "schedule_free_sgd", "sgd" },
        { "apollo_adamw", NULL },
        { "stable_adamw", "adam" },
    };
    for (size_t i = 0; i < COUNT(words); i++) {
        char text[400], has[200];
        snprintf(text, sizeof(text),
                 IMPORTS "model = AutoModelForCausalLM.from_pretrained('gpt2')\n"
                         "Trainer(model, TrainingArguments('o', optim='%s'))\n",
                 words[i].word);
        snprintf(has, sizeof(has),
                 "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"micro_batch_"
                 "size\":8,%s%s%s\"task\":\"causal-lm\"}}",
                 words[i].optimizer ? "\"optimizer\":\"" : "",
                 words[i].optimizer ? words[i].optimizer : "",
                 words[i].optimizer ? "\"," : "");
        char said[120];
        snprintf(said, sizeof(said), "\"%s\" is no optimizer", words[i].word);
        check("train.py",
              &(struct program_case) { text, has, words[i].optimizer ? NULL : said });
    }
}

void test_trainer_words_register(void)
{
    CU_pSuite s = CU_add_suite("trainer words", NULL, NULL);
    CU_add_test(s, "Unsloth", test_unsloth);
    CU_add_test(s, "optimizers", test_optimizers);
}
