/* Training programs in Python: the scenario that calls of transformers, TRL, PEFT and
 * Accelerate come to, all of it. */
#include "dialect/launch/launch.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_programs_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct program_case {
    const char *text;
    const char *tree;  /* of the scenario, its keys in order */
    const char *noted; /* a part of a note, or of an error; NULL: any */
};

static bool is_said(const struct launch *l, const char *part)
{
    for (int64_t i = 0; i < l->notes.n; i++)
        if (strstr(l->notes.v[i].text, part))
            return true;
    for (int64_t i = 0; i < l->unresolved.n; i++)
        if (strstr(l->unresolved.v[i].what, part))
            return true;
    for (int64_t i = 0; i < l->loader->diags.n; i++)
        if (strstr(l->loader->diags.v[i].text, part))
            return true;
    return false;
}

static void check(const struct program_case *c)
{
    struct cfg_loader loader;
    struct launch l = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = launch_load_text(&l, &loader, "train.py", c->text);
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

/* --- the Trainer, and TRL's ------------------------------------------------------- */

#define IMPORTS                                                                     \
    "import torch\n"                                                                \
    "from transformers import (AutoModelForCausalLM, Trainer, TrainingArguments)\n" \
    "from trl import SFTConfig, SFTTrainer\n"

static const struct program_case calls[] = {
    /* names, a chain of calls that give the model back, and two models */
    { IMPORTS "name = 'meta-llama/Llama-2-13b-hf'\n"
              "model = AutoModelForCausalLM.from_pretrained(\n"
              "    name, torch_dtype=torch.bfloat16, use_cache=False,\n"
              "    attn_implementation='flash_attention_2')\n"
              "model.gradient_checkpointing_enable()\n"
              "args = TrainingArguments('out', per_device_train_batch_size=4,\n"
              "    gradient_accumulation_steps=8, bf16=True, max_grad_norm=0.5,\n"
              "    fsdp='full_shard auto_wrap', optim='adamw_torch_fused',\n"
              "    max_steps=500, gradient_checkpointing=False)\n"
              "trainer = Trainer(model=model, args=args, train_dataset=data)\n"
              "trainer.train()\n"
              "judge = AutoModelForCausalLM.from_pretrained('gpt2')\n",
      "{\"cluster\":{},\"model\":\"llama2-13b\",\"parallelism\":{\"library\":\"fsdp\","
      "\"sharding\":{\"strategy\":\"full\"}},\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash_attention_2\",\"gradient_"
      "accumulation_steps\":8,\"gradient_clipping\":0.5,\"micro_batch_size\":4,"
      "\"optimizer\":\"adam\",\"precision\":\"bf16\",\"steps\":500,\"task\":\"causal-"
      "lm\"}}",
      NULL },
    /* the trainer's own arguments, a dictionary, and a type by its name */
    { IMPORTS
      "dtype = getattr(torch, 'bfloat16')\n"
      "options = dict(per_device_train_batch_size=2, learning_rate=2e-5)\n"
      "trainer = SFTTrainer('Qwen/Qwen2.5-7B', max_seq_length=4096, packing=True,\n"
      "    args=SFTConfig(output_dir='o', gradient_accumulation_steps=4,\n"
      "        gradient_checkpointing=True,\n"
      "        model_init_kwargs={'torch_dtype': dtype}, **options))\n",
      "{\"cluster\":{},\"model\":\"Qwen/"
      "Qwen2.5-7B\",\"training\":{\"activation_checkpointing\":\"full\",\"gradient_"
      "accumulation_steps\":4,\"master_weights\":false,\"micro_batch_size\":2,"
      "\"precision\":\"bf16\",\"sequence_length\":4096}}",
      "learning_rate" },
    /* of two trainers the last */
    { IMPORTS "a = TrainingArguments('a', per_device_train_batch_size=4)\n"
              "b = TrainingArguments('b', per_device_train_batch_size=16)\n"
              "first = AutoModelForCausalLM.from_pretrained('gpt2')\n"
              "second = AutoModelForCausalLM.from_pretrained('gpt2-xl')\n"
              "Trainer(model=second, args=b).train()\n"
              "Trainer(model=first, args=a).train()\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"micro_batch_size\":4,"
      "\"task\":\"causal-lm\"}}",
      "the last of 2 trainers" },
    /* what trains on answers is refused, what compares is asked for */
    { IMPORTS "from trl import GRPOConfig, GRPOTrainer\n"
              "GRPOTrainer(model='gpt2', args=GRPOConfig(output_dir='o')).train()\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"activation_checkpointing\":"
      "\"full\",\"micro_batch_size\":8,\"precision\":\"amp_bf16\",\"sequence_length\":"
      "1024}}",
      "GRPO is not simulated" },
    { IMPORTS "from trl import DPOConfig, DPOTrainer\n"
              "model = AutoModelForCausalLM.from_pretrained('gpt2')\n"
              "DPOTrainer(model, args=DPOConfig(max_length=512)).train()\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"activation_checkpointing\":"
      "\"full\",\"micro_batch_size\":8,\"precision\":\"amp_bf16\",\"sequence_length\":"
      "512}}",
      "runs a reference model" },
};

static void test_program_calls(void)
{
    for (size_t i = 0; i < COUNT(calls); i++)
        check(&calls[i]);
}

/* --- PEFT and its kin ------------------------------------------------------------- */

void test_programs_register(void)
{
    CU_pSuite suite = CU_add_suite("programs", NULL, NULL);
    CU_add_test(suite, "calls of transformers and TRL", test_program_calls);
}
