/* Words of the Hugging Face family: the Trainer's optimizers, Unsloth's programs. */
#include "launch_bench.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_trainer_words_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

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
      "{\"cluster\":{},\"model\":\"unsloth/Llama-3.1-8B\",\"training\":"
      "{\"activation_checkpointing\":\"full\",\"gradient_accumulation_steps\":2,"
      "\"gradient_clipping\":1.0,\"lora\":{\"alpha\":64.0,\"base\":\"nf4\","
      "\"double_quantization\":true,\"dropout\":0.0,\"rank\":32,\"target_modules\":"
      "[\"gate_proj\",\"up_proj\",\"down_proj\"]},\"micro_batch_size\":4,"
      "\"optimizer\":\"adam8bit\",\"precision\":\"bf16\",\"sequence_length\":4096,"
      "\"task\":\"causal-lm\"}}",
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
      "{\"cluster\":{},\"model\":\"unsloth/Qwen2.5-7B\",\"training\":"
      "{\"activation_checkpointing\":\"none\",\"gradient_clipping\":1.0,\"lora\":"
      "{\"alpha\":16.0,\"base\":\"bf16\",\"dropout\":0.0,\"rank\":16,"
      "\"target_modules\":[\"q_proj\",\"k_proj\",\"v_proj\",\"o_proj\",\"gate_proj\","
      "\"up_proj\",\"down_proj\"]},\"micro_batch_size\":2,\"precision\":\"amp_bf16\","
      "\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      "finetune_vision_layers" },
    /* all of it: bf16 without autocast */
    { UNSLOTH "model, tok = FastLanguageModel.from_pretrained('unsloth/Qwen2.5-7B',\n"
              "    full_finetuning=True, use_gradient_checkpointing=False)\n"
              "SFTTrainer(model=model, args=SFTConfig(bf16=False,\n"
              "    per_device_train_batch_size=1)).train()\n",
      "{\"cluster\":{},\"model\":\"unsloth/Qwen2.5-7B\",\"training\":"
      "{\"activation_checkpointing\":\"none\",\"gradient_accumulation_steps\":2,"
      "\"gradient_clipping\":1.0,\"master_weights\":false,\"micro_batch_size\":1,"
      "\"optimizer\":\"adam8bit\",\"precision\":\"bf16\",\"sequence_length\":2048,"
      "\"task\":\"causal-lm\"}}",
      "Unsloth's own kernels" },
};

#define PLAIN_MODEL IMPORTS "model = AutoModelForCausalLM.from_pretrained('gpt2')\n"
#define SCENARIO_OF(PRECISION)                                                \
    "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"gradient_clipping\":" \
    "1.0,\"micro_batch_size\":4" PRECISION ",\"task\":\"causal-lm\"}}"
#define TF32 ",\"precision\":\"tf32\""

/* Products of fp32 are rounded where the text or an argument says so, and 16 bits are
 * not said otherwise. */
static const struct program_case products[] = {
    { PLAIN_MODEL "Trainer(model=model, args=TrainingArguments('o', tf32=True,\n"
                  "    per_device_train_batch_size=4)).train()\n",
      SCENARIO_OF(TF32), NULL },
    { PLAIN_MODEL "torch.backends.cuda.matmul.allow_tf32 = True\n"
                  "Trainer(model=model, args=TrainingArguments('o',\n"
                  "    per_device_train_batch_size=4)).train()\n",
      SCENARIO_OF(TF32), NULL },
    { PLAIN_MODEL "torch.set_float32_matmul_precision('high')\n"
                  "Trainer(model=model, args=TrainingArguments('o',\n"
                  "    per_device_train_batch_size=4)).train()\n",
      SCENARIO_OF(TF32), NULL },
    { PLAIN_MODEL "torch.set_float32_matmul_precision('highest')\n"
                  "Trainer(model=model, args=TrainingArguments('o', tf32=False,\n"
                  "    per_device_train_batch_size=4)).train()\n",
      SCENARIO_OF(""), NULL },
    { PLAIN_MODEL "torch.set_float32_matmul_precision('high')\n"
                  "Trainer(model=model, args=TrainingArguments('o', tf32=True,\n"
                  "    bf16=True, per_device_train_batch_size=4)).train()\n",
      SCENARIO_OF(",\"precision\":\"amp_bf16\""), NULL },
};

static void test_products(void)
{
    for (size_t i = 0; i < COUNT(products); i++)
        check_program(NULL, "train.py", &products[i]);
}

static void test_unsloth(void)
{
    for (size_t i = 0; i < COUNT(unsloth); i++)
        check_program(NULL, "train.py", &unsloth[i]);
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
        { "sgd", "sgd_plain" },
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
                 "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{"
                 "\"gradient_clipping\":1.0,\"micro_batch_size\":8,%s%s%s\"task\":"
                 "\"causal-lm\"}}",
                 words[i].optimizer ? "\"optimizer\":\"" : "",
                 words[i].optimizer ? words[i].optimizer : "",
                 words[i].optimizer ? "\"," : "");
        char said[120];
        snprintf(said, sizeof(said), "\"%s\" is no optimizer", words[i].word);
        check_program(
            NULL, "train.py",
            &(struct program_case) { text, has, words[i].optimizer ? NULL : said });
    }
}

/* --- degrees, adapters of experts' tensors ---------------------------------------- */

static void test_degrees(void)
{
    static const struct {
        const char *name;
        struct program_case c;
    } cases[] = {
        /* an object of Accelerate's, which shards */
        { "train.py",
          { IMPORTS
            "from accelerate.utils import ParallelismConfig\n"
            "degrees = ParallelismConfig(dp_shard_size=4, cp_size=2, tp_size=2)\n"
            "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B')\n"
            "Trainer(model, TrainingArguments('o', bf16=True,\n"
            "    parallelism_config=degrees))\n",
            "{\"cluster\":{},\"model\":\"Qwen/Qwen2.5-7B\",\"parallelism\":"
            "{\"context\":2,\"library\":\"fsdp\",\"sharding\":{\"degree\":4,"
            "\"strategy\":\"full\"},\"tensor\":2},\"training\":"
            "{\"gradient_clipping\":1.0,\"micro_batch_size\":8,\"precision\":"
            "\"bf16\",\"task\":\"causal-lm\"}}",
            NULL } },
        /* what a script divides by the processes that it does not have yet */
        { "train.py",
          { IMPORTS "from accelerate.utils import ParallelismConfig\n"
                    "model = AutoModelForCausalLM.from_pretrained('gpt2')\n"
                    "Trainer(model, TrainingArguments('o', parallelism_config=\n"
                    "    ParallelismConfig(sp_size=4, dp_shard_size=1 // 4)))\n",
            "{\"cluster\":{},\"model\":\"gpt2\",\"parallelism\":{\"context\":4},"
            "\"training\":{\"gradient_clipping\":1.0,\"micro_batch_size\":8,\"task\":"
            "\"causal-lm\"}}",
            "dp_shard_size: it is no degree of at least 1" } },
        /* likewise as text, next to FSDP; the degree of older releases */
        { "train.sh",
          { "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2-xl \\\n"
            "  --per_device_train_batch_size 2 --block_size 1024 --bf16 --do_train \\\n"
            "  --fsdp full_shard --parallelism_config '{\"dp_shard_size\": 8}'\n",
            "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":"
            "\"gpt2-xl\",\"parallelism\":{\"library\":\"fsdp\",\"sharding\":"
            "{\"degree\":8,\"strategy\":\"full\"}},\"training\":"
            "{\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":"
            "\"bf16\",\"sequence_length\":1024,\"task\":\"causal-lm\"}}",
            NULL } },
        { "train.sh",
          { "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2-xl \\\n"
            "  --per_device_train_batch_size 2 --block_size 1024 --bf16 --do_train \\\n"
            "  --tp_size 4\n",
            "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":"
            "\"gpt2-xl\",\"parallelism\":{\"tensor\":4},\"training\":"
            "{\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":"
            "\"amp_bf16\",\"sequence_length\":1024,\"task\":\"causal-lm\"}}",
            NULL } },
        /* over how many processes is asked for */
        { "train.py",
          { IMPORTS
            "model = AutoModelForCausalLM.from_pretrained('gpt2', tp_plan='auto')\n"
            "Trainer(model, TrainingArguments('o'))\n",
            "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"gradient_clipping\":1."
            "0,\"micro_batch_siz"
            "e\":8,\"task\":\"causal-lm\"}}",
            "tp_plan: the model is divided over all processes" } },
        /* InternVL's adapters, next to what it freezes by name */
        { "train.sh",
          { "torchrun --nproc_per_node 8 internvl_chat_finetune.py --bf16 True \\\n"
            "  --model_name_or_path gpt2-xl --per_device_train_batch_size 2 \\\n"
            "  --max_seq_length 1024 --grad_checkpoint True --use_llm_lora 16 \\\n"
            "  --freeze_llm True --freeze_mlp True --freeze_backbone True\n",
            "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":"
            "\"gpt2-xl\",\"training\":{\"activation_checkpointing\":\"full\","
            "\"gradient_clipping\":1.0,\"lora\":{\"alpha\":32.0,\"dropout\":0.05,"
            "\"rank\":16,\"target_modules\":\"all-linear\"},\"micro_batch_size\":2,"
            "\"precision\":\"amp_bf16\",\"sequence_length\":1024}}",
            NULL } },
        /* and what it freezes of a training without them */
        { "train.sh",
          { "torchrun --nproc_per_node 8 internvl_chat_finetune.py --bf16 True \\\n"
            "  --model_name_or_path gpt2-xl --per_device_train_batch_size 2 \\\n"
            "  --max_seq_length 1024 --freeze_llm False --freeze_mlp True \\\n"
            "  --freeze_backbone True\n",
            "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":"
            "\"gpt2-xl\",\"training\":{\"frozen\":[\"vision_tower\",\"projector\"],"
            "\"gradient_clipping\":1.0,\"micro_batch_size\":2,"
            "\"precision\":\"amp_bf16\",\"sequence_length\":1024}}",
            NULL } },
        /* experts that are one tensor */
        { "lora.yaml",
          { "base_model: Qwen/Qwen3-30B-A3B\nsequence_len: 2048\nadapter: lora\n"
            "lora_r: 8\nlora_alpha: 16\nlora_target_modules: [q_proj, v_proj]\n"
            "lora_target_parameters: [mlp.experts.gate_up_proj, "
            "mlp.experts.down_proj]\n"
            "micro_batch_size: 1\ngradient_accumulation_steps: 2\nbf16: true\n",
            "{\"cluster\":{},\"model\":\"Qwen/Qwen3-30B-A3B\",\"training\":"
            "{\"gradient_accumulation_steps\":2,\"gradient_clipping\":1.0,\"lora\":"
            "{\"alpha\":16.0,\"base\":\"bf16\",\"rank\":8,\"target_modules\":"
            "[\"q_proj\",\"v_proj\",\"mlp.experts.gate_up_proj\","
            "\"mlp.experts.down_proj\"]},\"micro_batch_size\":1,\"precision\":"
            "\"amp_bf16\",\"sequence_length\":2048}}",
            NULL } },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_program(NULL, cases[i].name, &cases[i].c);
}

/* --- what is refused by its words ---------------------------------------------------- */

#define CLM                                                                    \
    "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2-xl \\\n" \
    "  --per_device_train_batch_size 2 --block_size 1024 --bf16 --do_train \\\n  "
#define CLM_TREE                                                                    \
    "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":\"gpt2-xl\","     \
    "\"training\":{\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":" \
    "\"amp_bf16\","                                                                 \
    "\"sequence_length\":1024,\"task\":\"causal-lm\"}}"

static void test_refused_words(void)
{
    static const struct {
        const char *words;
        bool errs;
    } cases[] = {
        { "--pre_seq_len 128", true },
        { "--num_virtual_tokens 20", true },
        { "--query_max_len 512", true },
        { "--negatives_cross_device", true },
        { "--freeze_backbone True", true },
        { "--mm_tunable_parts mm_vision_tower,mm_mlp_adapter,mm_language_model",
          false },
        { "--tune_type_llm frozen", true },
        { "--tune_type_llm full", false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[400];
        struct cfg_loader loader;
        struct launch l = { 0 };
        snprintf(text, sizeof(text), "%s%s\n", CLM, cases[i].words);
        check_program(NULL, "train.sh",
                      &(struct program_case) { text, CLM_TREE, NULL });
        cfg_loader_init(&loader);
        launch_load_text(&l, &loader, "train.sh", text);
        CU_ASSERT_EQUAL(loader.diags.n_errors > 0, cases[i].errs);
        launch_release(&l);
        cfg_loader_release(&loader);
    }
}

/* --- Megatron-SWIFT --------------------------------------------------------------- */

static const struct program_case swift[] = {
    /* defaults of its own: the distributed optimizer, selective recomputation, bf16, a
     * batch of 16, experts without tensor parallelism */
    { "NNODES=2 NPROC_PER_NODE=8 \\\n"
      "megatron sft --model Qwen/Qwen3-30B-A3B --dataset d.jsonl --max_length 4096 \\\n"
      "  --tensor_model_parallel_size 2 --pipeline_model_parallel_size 2 \\\n"
      "  --virtual_pipeline_model_parallel_size 4 --sequence_parallel true \\\n"
      "  --expert_model_parallel_size 4 --moe_shared_expert_overlap true \\\n"
      "  --overlap_grad_reduce true --overlap_param_gather false --packing true\n",
      "{\"cluster\":{\"count\":2,\"gpus_per_instance\":8},\"model\":\"Qwen/Qw"
      "en3-30B-A3B\",\"parallelism\":{\"expert\":4,\"expert_dispatcher\":\"al"
      "ltoall\",\"expert_overlap\":\"shared-expert\",\"expert_tensor\":1,\"li"
      "brary\":\"megatron\",\"overlap\":true,\"overlap_param_gather\":false,"
      "\"overlap_tensor\":false,\"pipeline\":2,\"placement\":\"PDT\",\"schedu"
      "le\":\"interleaved\",\"sequence_parallel\":true,\"sharding\":{\"strate"
      "gy\":\"optimizer\"},\"tensor\":2,\"virtual_stages\":4},\"training\":{"
      "\"activation_checkpointing\":\"selective\",\"attention\":\"flash\",\"f"
      "ramework\":\"megatron-core\",\"global_batch_size\":16,\"gradient_clipp"
      "ing\":1.0,\"micro_batch_size\":1,\"precision\":\"bf16\",\"sequence_len"
      "gth\":4096,\"task\":\"causal-lm\"}}",
      NULL },
    /* adapters, by the words of version 3; a switch that is off; a batch and a length */
    { "export NPROC_PER_NODE=4\n"
      "megatron pt --model Qwen/Qwen2.5-7B --train_type lora --lora_rank 64 \\\n"
      "  --target_modules linear_qkv --modules_to_save output_layer \\\n"
      "  --dataset d --max_length 8192 --micro_batch_size 2 --global_batch_size 64 \\\n"
      "  --recompute_granularity none --use_distributed_optimizer false \\\n"
      "  --context_parallel_size 2 --attention_backend fused --bf16 true\n",
      "{\"cluster\":{\"count\":1,\"gpus_per_instance\":4},\"model\":\"Qwen/Qw"
      "en2.5-7B\",\"parallelism\":{\"context\":2,\"library\":\"megatron\",\"o"
      "verlap\":false,\"placement\":\"PDT\"},\"training\":{\"attention\":\"fl"
      "ash\",\"framework\":\"megatron-core\",\"global_batch_size\":64,\"gradi"
      "ent_clipping\":1.0,\"lora\":{\"alpha\":32.0,\"dropout\":0.05,\"rank\":"
      "64,\"target_modules\":[\"linear_qkv\"],\"trained\":[\"output_layer\"]}"
      ",\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_length\":819"
      "2,\"task\":\"causal-lm\"}}",
      "packing is off" },
    /* processes of a platform: how many instances is asked for */
    { "NNODES=$WORLD_SIZE NODE_RANK=$RANK \\\n"
      "megatron sft --model Qwen/Qwen2.5-7B --dataset d --max_length 2048 \\\n"
      "  --recompute_granularity full --recompute_method uniform \\\n"
      "  --recompute_num_layers 1 --torch_dtype float16 --optimizer_cpu_offload true\n",
      "{\"cluster\":{},\"model\":\"Qwen/Qwen2.5-7B\",\"parallelism\":{\"libra"
      "ry\":\"megatron\",\"overlap\":false,\"overlap_param_gather\":false,\"p"
      "lacement\":\"PDT\",\"sharding\":{\"strategy\":\"optimizer\"}},\"traini"
      "ng\":{\"activation_checkpointing\":\"full\",\"attention\":\"flash\",\""
      "framework\":\"megatron-core\",\"global_batch_size\":16,\"gradient_clip"
      "ping\":1.0,\"gradient_dtype\":\"fp16\",\"micro_batch_size\":1,\"precis"
      "ion\":\"fp16\",\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      "NNODES: its value is not known" },
};

static void test_swift(void)
{
    for (size_t i = 0; i < COUNT(swift); i++)
        check_program(NULL, "train.sh", &swift[i]);
    check_program(
        NULL, "train.yaml",
        &(struct program_case) {
            "model: Qwen/Qwen2.5-7B\ndataset: [d]\nmax_length: 1024\n"
            "tensor_model_parallel_size: 4\nfp8_format: hybrid\n"
            "fp8_recipe: blockwise\nmicro_batch_size: 4\n",
            "{\"cluster\":{},\"model\":\"Qwen/Qwen2.5-7B\",\"parallelism\":{\"libra"
            "ry\":\"megatron\",\"overlap\":false,\"overlap_param_gather\":false,\"o"
            "verlap_tensor\":false,\"placement\":\"PDT\",\"sharding\":{\"strategy\""
            ":\"optimizer\"},\"tensor\":4},\"training\":{\"activation_checkpointing"
            "\":\"selective\",\"attention\":\"flash\",\"framework\":\"megatron-core"
            "\",\"global_batch_size\":16,\"gradient_clipping\":1.0,\"micro_batch_si"
            "ze\":4,\"precision\":\"fp8_blockwise\",\"sequence_length\":1024,\"task"
            "\":\"causal-lm\"}}",
            "Megatron-Core 0.12" });
}

void test_trainer_words_register(void)
{
    CU_pSuite s = CU_add_suite("trainer words", NULL, NULL);
    CU_add_test(s, "Unsloth", test_unsloth);
    CU_add_test(s, "products of fp32", test_products);
    CU_add_test(s, "optimizers", test_optimizers);
    CU_add_test(s, "degrees", test_degrees);
    CU_add_test(s, "words that are refused", test_refused_words);
    CU_add_test(s, "Megatron-SWIFT", test_swift);
}
