/* Adapters and quantized weights by the words of each dialect: what is trained and how
 * the frozen model is stored, asked for, or refused by name. */
#include "config/pointer.h"
#include "dialect/launch/launch.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_peft_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct expected {
    const char *text;
    const char *lora;      /* as JSON with sorted keys; "none"; or the first error */
    const char *precision; /* likewise; NULL: not compared */
};

static char *shown(json_t *v)
{
    return v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS |
                                 JSON_REAL_PRECISION(6))
             : NULL;
}

/* What was reported, without the place. */
static const char *plain(const char *error)
{
    const char *at = strstr(error, ": ");
    return at ? at + 2 : error;
}

static void check(const char *name, const struct expected *e)
{
    struct cfg_loader loader;
    struct launch l = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = launch_load_text(&l, &loader, name, e->text);
    bool read = root.json && loader.diags.n_errors == 0;
    char *lora = read ? shown(pointer_get(root.json, "/training/lora")) : NULL;
    char *precision =
        read ? shown(pointer_get(root.json, "/training/precision")) : NULL;
    const char *got = lora ? lora
                      : loader.diags.n_errors
                          ? plain(diags_error_text(&loader.diags, 0))
                          : "none";
    for (int64_t i = l.unresolved.n; read && i-- > 0;)
        if (strncmp(l.unresolved.v[i].pointer, "/training/lora", 14) == 0 ||
            strcmp(l.unresolved.v[i].pointer, "/training/frozen") == 0)
            got = l.unresolved.v[i].what; /* of several the first */
    if (strcmp(got, e->lora) != 0)
        printf("\n%s\ngives    %s\ninstead  %s\n", e->text, got, e->lora);
    CU_ASSERT_STRING_EQUAL(got, e->lora);
    if (e->precision)
        CU_ASSERT_STRING_EQUAL(precision ? precision : "none", e->precision);
    free(lora);
    free(precision);
    launch_release(&l);
    cfg_loader_release(&loader);
}

static void check_all(const char *name, const struct expected *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(name, &e[i]);
}

/* Documents ------------------------------------------------------------------------ */

#define AXOLOTL \
    "base_model: meta-llama/Llama-2-13b-hf\nsequence_len: 4096\nbf16: auto\n"

static void test_axolotl(void)
{
    static const struct expected cases[] = {
        { AXOLOTL "adapter:\nlora_r: 8\n", "none", "\"bf16\"" },
        { AXOLOTL "adapter: lora\nlora_r: 32\nlora_alpha: 16\nlora_dropout: 0.05\n"
                  "lora_target_linear: true\nlora_target_modules: [q_proj]\n",
          "{\"alpha\":16.0,\"base\":\"bf16\",\"dropout\":0.05,\"rank\":32,"
          "\"target_modules\":\"all-linear\"}",
          "\"amp_bf16\"" },
        { AXOLOTL "adapter: lora\nload_in_8bit: true\nlora_r: 16\n"
                  "lora_target_modules:\n  - q_proj\n  - v_proj\n"
                  "lora_modules_to_save: [embed_tokens, lm_head]\n",
          "{\"base\":\"int8\",\"rank\":16,\"target_modules\":[\"q_proj\",\"v_proj\"],"
          "\"trained\":[\"embed_tokens\",\"lm_head\"]}",
          "\"bf16\"" },
        { AXOLOTL "adapter: qlora\nload_in_4bit: true\nlora_r: 16\n",
          "{\"base\":\"nf4\",\"double_quantization\":true,\"rank\":16}", "\"bf16\"" },
        { AXOLOTL "adapter: qlora\nload_in_4bit: true\nlora_r: 16\n"
                  "bnb_config_kwargs: {bnb_4bit_use_double_quant: false}\n",
          "{\"base\":\"nf4\",\"double_quantization\":false,\"rank\":16}", NULL },
        { AXOLOTL
          "adapter: lora\nlora_r: 4\nlora_target_modules: "
          "'model.language_model.layers.[\\d]+.(mlp|self_attn).(up|down|q)_proj'"
          "\n",
          "{\"base\":\"bf16\",\"rank\":4,\"target_modules\":[\"q_proj\",\"up_proj\","
          "\"down_proj\"]}",
          NULL },
        { AXOLOTL "adapter: lora\nlora_r: 4\nlora_target_modules: [conv1d]\n",
          "lora_target_modules: no product is known as \"conv1d\"", NULL },
        { AXOLOTL "adapter: lora\nlora_r: 4\n"
                  "lora_target_modules: [query_key_value, xxx]\n",
          "{\"base\":\"bf16\",\"rank\":4,\"target_modules\":[\"query_key_value\"]}",
          NULL },
        { AXOLOTL "adapter: lora\n",
          "adapter: adapters are trained, and their rank is not given", NULL },
        { AXOLOTL "adapter: llama-adapter\nlora_r: 4\n",
          "adapter: llama-adapter is not simulated (LoRA and QLoRA are, and full "
          "training)",
          NULL },
        { AXOLOTL "load_in_4bit: true\n",
          "load_in_4bit: quantized weights are trained by adapters alone, and adapter "
          "asks for none",
          NULL },
        { "base_model: unsloth/Meta-Llama-3.1-8B-bnb-4bit\nsequence_len: 4096\n"
          "adapter: lora\nlora_r: 4\n",
          "{\"base\":\"nf4\",\"double_quantization\":true,\"rank\":4}", NULL },
        { "base_model: TheBloke/Llama-2-7B-GPTQ\nsequence_len: 4096\n"
          "adapter: lora\nlora_r: 4\n",
          "base_model: the checkpoint's weights are quantized, which is not simulated; "
          "bitsandbytes' are nf4 or int8",
          NULL },
        { AXOLOTL "adapter: lora\nlora_r: 4\ngptq: true\n",
          "gptq: weights that are quantized so are not simulated; bitsandbytes' are "
          "nf4 or int8, dequantized ones bf16",
          NULL },
    };
    check_all("a.yaml", cases, COUNT(cases));
}

#define FACTORY                                                  \
    "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: sft\n" \
    "cutoff_len: 2048\ndo_train: true\n"

static void test_llamafactory(void)
{
    static const struct expected cases[] = {
        { FACTORY "finetuning_type: full\nbf16: true\n", "none", "\"amp_bf16\"" },
        { FACTORY "finetuning_type: freeze\nbf16: true\n", "none", "\"amp_bf16\"" },
        { FACTORY "bf16: true\n",
          "{\"alpha\":16.0,\"base\":\"bf16\",\"rank\":8,\"target_modules\":\"all-"
          "linear\"}",
          "\"amp_bf16\"" },
        { FACTORY "finetuning_type: lora\nlora_rank: 64\nlora_target: q_proj,v_proj\n"
                  "bf16: true\nadditional_target: embed_tokens,lm_head\n",
          "{\"alpha\":128.0,\"base\":\"bf16\",\"rank\":64,\"target_modules\":[\"q_"
          "proj\",\"v_proj\"],\"trained\":[\"embed_tokens\",\"lm_head\"]}",
          NULL },
        { FACTORY "finetuning_type: lora\nquantization_bit: 4\nbf16: true\n",
          "{\"alpha\":16.0,\"base\":\"nf4\",\"double_quantization\":true,\"rank\":8,"
          "\"target_modules\":\"all-linear\"}",
          "\"bf16\"" },
        { FACTORY "finetuning_type: lora\nquantization_bit: 8\n"
                  "quantization_method: bnb\n",
          "{\"alpha\":16.0,\"base\":\"int8\",\"rank\":8,\"target_modules\":\"all-"
          "linear\"}",
          NULL },
        { FACTORY "quantization_bit: 4\nquantization_method: hqq\n",
          "quantization_method: weights that are quantized so are not simulated; "
          "bitsandbytes' are nf4 or int8, dequantized ones bf16",
          NULL },
        { FACTORY "quantization_bit: 2\n",
          "quantization_bit: it is no number of bits that is simulated", NULL },
        { "model_name_or_path: TechxGenus/Meta-Llama-3-8B-Instruct-AWQ\nstage: sft\n"
          "cutoff_len: 2048\nbf16: true\n",
          "model_name_or_path: the checkpoint's weights are quantized, which is not "
          "simulated; bitsandbytes' are nf4 or int8",
          NULL },
        { FACTORY "use_kt: true\n",
          "use_kt: experts that the host computes (KTransformers) is not simulated "
          "(pre-training, supervised fine-tuning and training on preferences are)",
          NULL },
        { FACTORY "finetuning_type: freeze\nfreeze_trainable_modules: mlp,gate_x\n",
          "freeze_trainable_modules: gate_x is no part of a model that is known; a "
          "list "
          "of what is frozen answers it (\"embeddings\", \"layers 0-29\", ...)",
          NULL },
        { FACTORY "finetuning_type: oft\n",
          "finetuning_type: oft is not simulated (LoRA and QLoRA are, and full "
          "training)",
          NULL },
    };
    check_all("a.yaml", cases, COUNT(cases));
}

#define TRL "model_name_or_path: mistralai/Mistral-7B-v0.1\nmax_length: 2048\n"

static void test_trl(void)
{
    static const struct expected cases[] = {
        { TRL "lora_r: 16\n",
          "lora_r: adapters are described, and no use_peft asks for them; null is "
          "training without",
          NULL },
        { TRL "use_peft: true\n", "{\"alpha\":32.0,\"dropout\":0.05,\"rank\":16}",
          "\"amp_bf16\"" },
        { TRL "use_peft: true\nlora_r: 64\nlora_target_modules: all-linear\n"
              "load_in_4bit: true\ntorch_dtype: bfloat16\nbf16: true\n",
          "{\"alpha\":32.0,\"base\":\"nf4\",\"dropout\":0.05,\"rank\":64,"
          "\"target_modules\":[\"all-linear\"]}",
          "\"bf16\"" },
        { TRL "use_peft: true\nlora_r: 8\ntorch_dtype: bfloat16\nbf16: true\n",
          "{\"alpha\":32.0,\"base\":\"bf16\",\"dropout\":0.05,\"rank\":8}",
          "\"amp_bf16\"" },
        { TRL "load_in_8bit: true\n",
          "load_in_8bit: quantized weights are trained by adapters alone, and use_peft "
          "asks for none",
          NULL },
    };
    check_all("a.yaml", cases, COUNT(cases));
}

/* Commands and hyperparameters ----------------------------------------------------- */

#define COMMAND                                                     \
    "torchrun --nproc_per_node 8 finetune.py --model_name_or_path " \
    "meta-llama/Llama-2-70b-hf --per_device_train_batch_size 1 --max_seq_length 2048 "

static void test_commands(void)
{
    static const struct expected cases[] = {
        { COMMAND "--bf16 True\n", "none", "\"amp_bf16\"" },
        { COMMAND "--bf16 True --use_lora False --lora_r 8\n", "none", NULL },
        { COMMAND "--torch_dtype bfloat16 --use_lora --lora_r 8 --lora_target_modules "
                  "q_proj\n",
          "{\"dtype\":\"fp32\",\"rank\":8,\"target_modules\":[\"q_proj\"]}",
          "\"bf16\"" },
        { COMMAND "--torch_dtype bfloat16 --use_lora --lora_r 8 --lora_target_modules "
                  "q_proj --autocast_adapter_dtype False\n",
          "{\"rank\":8,\"target_modules\":[\"q_proj\"]}", "\"bf16\"" },
        { COMMAND "--bf16 True --lora_rank 0\n", "none", NULL },
        { COMMAND "--bf16 True --freeze_first_half True\n",
          "freeze-first-half: a part of the model is frozen, which is not read; [] "
          "is none, and [\"embeddings\", \"layers 0-23\"] what is frozen",
          NULL },
        { COMMAND "--bf16 True --freeze_first_half False\n", "none", NULL },
        { "torchrun pretrain_gpt.py --num-layers 2 --hidden-size 64 "
          "--num-attention-heads 4 --seq-length 64 --micro-batch-size 1 --bf16 "
          "--trainable-layers 2\n",
          "--trainable-layers: a part of the model is frozen, which is not read; [] "
          "is none, and [\"embeddings\", \"layers 0-23\"] what is frozen",
          NULL },
        { COMMAND "--bf16 True --bits 16 --full_finetune\n", "none", NULL },
        { COMMAND
          "--bf16 True --use_lora --lora_r 8 --lora_target_modules q_proj k_proj "
          "v_proj\n",
          "{\"rank\":8,\"target_modules\":[\"q_proj\",\"k_proj\",\"v_proj\"]}",
          "\"amp_bf16\"" },
        { COMMAND "--q_lora True --lora_r 64 --lora_target_modules all "
                  "--bnb_4bit_compute_dtype bfloat16 "
                  "--double_quant\n",
          "{\"base\":\"nf4\",\"double_quantization\":true,\"rank\":64,\"target_"
          "modules\":[\"all-linear\"]}",
          "\"amp_bf16\"" },
        { COMMAND "--use_lora --lora_r 8\n",
          "use-lora: which modules have adapters is not given; \"all-linear\", a list "
          "of "
          "names, or null for PEFT's default",
          NULL },
        { COMMAND "--use_lora --lora_r 8 --lora_target_modules q_proj --use_mxfp4\n",
          "use-mxfp4: weights that are quantized so are not simulated; bitsandbytes' "
          "are nf4 or int8, dequantized ones bf16",
          NULL },
        { COMMAND "--spectrum_config_path a.yaml\n",
          "spectrum-config-path: a part of the model is frozen, which is not read; [] "
          "is "
          "none, and [\"embeddings\", \"layers 0-23\"] what is frozen",
          NULL },
        /* programs that are known have their own defaults */
        { "deepspeed --num_gpus 8 fastchat/train/train_lora.py --model_name_or_path "
          "lmsys/vicuna-7b-v1.5 --q_lora True --lora_r 16\n",
          "{\"alpha\":16.0,\"base\":\"nf4\",\"dropout\":0.05,\"rank\":16,\"target_"
          "modules\":[\"q_"
          "proj\",\"v_proj\"]}",
          NULL },
        { "python qlora.py --model_name_or_path huggyllama/llama-7b --bits 8\n",
          "{\"alpha\":16.0,\"base\":\"int8\",\"dropout\":0.0,\"rank\":64,\"target_"
          "modules\":["
          "\"all-linear\"]}",
          NULL },
        { "python qlora.py --model_name_or_path huggyllama/llama-7b --full_finetune "
          "True --bits 16\n",
          "none", NULL },
        { "torchrun --nproc_per_node 8 trl/scripts/sft.py --model_name_or_path "
          "huggyllama/llama-7b\n",
          "none", NULL },
        { "torchrun --nproc_per_node 8 trl/scripts/sft.py --model_name_or_path "
          "huggyllama/llama-7b --use_peft --load_in_4bit\n",
          "{\"alpha\":32.0,\"base\":\"nf4\",\"dropout\":0.05,\"rank\":16}", NULL },
        { "torchrun --nproc_per_node 8 src/train_lora.py --model_name_or_path "
          "meta-llama/Llama-2-7b-hf\n",
          "train_lora.py: it seems to train adapters, and nothing says which; null is "
          "training without",
          NULL },
        { COMMAND "--lora_target_modules '[q_proj,v_proj]' --lora_r=16 --lora_dropout "
                  "0.1\n",
          "{\"dropout\":0.1,\"rank\":16,\"target_modules\":[\"q_proj\",\"v_proj\"]}",
          NULL },
        { COMMAND "--use_peft --peft_method lora --quantization 4bit\n",
          "use-peft: adapters are trained, and their rank is not given", NULL },
        { COMMAND "--use_peft --peft_method llama_adapter\n",
          "peft-method: llama_adapter is not simulated (LoRA and QLoRA are, and full "
          "training)",
          NULL },
        { COMMAND "--peft_type AdaLoRA\n",
          "peft-type: AdaLoRA is not simulated (LoRA and QLoRA are, and full training)",
          NULL },
    };
    check_all("a.sh", cases, COUNT(cases));
}

#define ESTIMATOR(hyper)                                                          \
    "e = HuggingFace(entry_point='train.py', instance_type='ml.p4d.24xlarge', "   \
    "instance_count=2, hyperparameters={'model_id': 'meta-llama/Llama-2-7b-hf', " \
    "'bf16': True, " hyper "})\n"

static void test_hyperparameters(void)
{
    static const struct expected cases[] = {
        { ESTIMATOR("'lora_r': '16', 'load_in_4bit': 'True', "
                    "'lora_modules': 'q_proj,v_proj'"),
          "{\"base\":\"nf4\",\"rank\":16,\"target_modules\":[\"q_proj\",\"v_proj\"]}",
          NULL },
        { ESTIMATOR("'use_peft': True, 'lora_r': r"),
          "lora_r: r is not known before, and nothing is run", NULL },
        { ESTIMATOR("'merge_weights': True"),
          "merge_weights: its script seems to train adapters, and is not there (null "
          "is "
          "training without)",
          NULL },
        { ESTIMATOR("'epochs': 3"), "none", NULL },
        { "from time import time\ne = HuggingFace(entry_point='run_clm.py', "
          "base_job_name=f'huggingface-qlora-{time()}', instance_count=1, "
          "instance_type='ml.p4d.24xlarge', hyperparameters={'model_id': "
          "'tiiuae/falcon-40b'})\n",
          "base_job_name: its script seems to train adapters, and is not there (null "
          "is "
          "training without)",
          NULL },
        { "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n"
          "from peft import LoraConfig, get_peft_model\n"
          "def linear_names(model, without=[]):\n"
          "    names = []\n"
          "    for name, module in model.named_modules():\n"
          "        if any(word in name for word in without):\n"
          "            continue\n"
          "        names.append(name)\n"
          "    return names\n"
          "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B')\n"
          "model = get_peft_model(model, LoraConfig(r=64, "
          "target_modules=linear_names(model, without=['lm_head'])))\n"
          "args = TrainingArguments('o', per_device_train_batch_size=2, bf16=True)\n"
          "Trainer(model, args).train()\n",
          "{\"alpha\":8.0,\"dropout\":0.0,\"rank\":64,\"target_modules\":\"all-"
          "linear\"}",
          NULL },
    };
    check_all("a.py", cases, COUNT(cases));
}

/* Scripts of a notebook ------------------------------------------------------------ */

#define JOB(script, hyper)                                                            \
    "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"%%writefile train.py\\n"    \
    "import argparse\\np = argparse.ArgumentParser()\\np.add_argument('--lora_r', "   \
    "type=int, default=32)\\np.add_argument('--use_peft', default=True)\\n"           \
    "args = p.parse_args()\\n" script "\"},"                                          \
    "{\"cell_type\": \"code\", \"source\": \"e = HuggingFace(entry_point='train.py'," \
    "instance_type='ml.p4d.24xlarge', instance_count=2, hyperparameters={"            \
    "'model_id': 'meta-llama/Llama-2-7b-hf', 'bf16': True, " hyper "})\"}]}"

static void test_scripts(void)
{
    static const struct expected cases[] = {
        { JOB("c = LoraConfig(r=args.lora_r, target_modules=['q_proj'])\\n", ""),
          "{\"rank\":32,\"target_modules\":[\"q_proj\"]}", "\"amp_bf16\"" },
        { JOB("c = LoraConfig(r=args.lora_r, target_modules=['q_proj'])\\n",
              "'lora_r': 8"),
          "{\"rank\":8,\"target_modules\":[\"q_proj\"]}", NULL },
        { JOB("c = LoraConfig(r=args.lora_r)\\n", "'use_peft': False"), "none", NULL },
        { JOB("b = BitsAndBytesConfig(load_in_4bit=True, "
              "bnb_4bit_use_double_quant=True)\\nm = find_all_linear_names(model)\\n"
              "c = LoraConfig(lora_alpha=16, target_modules=m)\\n",
              ""),
          "{\"alpha\":16.0,\"base\":\"nf4\",\"double_quantization\":true,\"rank\":32,"
          "\"target_modules\":[\"all-linear\"]}",
          NULL },
        { "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"%%writefile train.py\\n"
          "from adapting import add_lora\\nadd_lora(model)\\n\"}, {\"cell_type\": "
          "\"code\", \"source\": \"e = HuggingFace(entry_point='train.py', "
          "instance_type='ml.p4d.24xlarge', instance_count=2, hyperparameters={})\"}]}",
          "train.py: it speaks of adapters, and does not say which (null is training "
          "without)",
          NULL },
        { JOB("c = IA3Config(task_type='CAUSAL_LM')\\n", ""),
          "peft_type: IA3Config is not simulated (LoRA and QLoRA are, and full "
          "training)",
          NULL },
    };
    check_all("a.ipynb", cases, COUNT(cases));
}

#define IMPORTS                                                                      \
    "import torch\nfrom transformers import (AutoModelForCausalLM, Trainer, "        \
    "TrainingArguments, BitsAndBytesConfig)\nfrom peft import *\n"                   \
    "from trl import SFTConfig, SFTTrainer\nfrom unsloth import FastLanguageModel\n" \
    "b = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_use_double_quant=True, "     \
    "bnb_4bit_compute_dtype=torch.bfloat16)\n"                                       \
    "m = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf'"

/* A training program of its own: what it gives the trainer or get_peft_model. */
static void test_programs(void)
{
    static const struct expected cases[] = {
        { IMPORTS ")\nTrainer(model=m, args=TrainingArguments('o', bf16=True))\n",
          "none", "\"amp_bf16\"" },
        { IMPORTS ", quantization_config=b)\nm = prepare_model_for_kbit_training(m)\n"
                  "m = get_peft_model(m, LoraConfig(r=16, lora_alpha=32, "
                  "target_modules='all-linear'))\n"
                  "Trainer(model=m, args=TrainingArguments('o', bf16=True))\n",
          "{\"alpha\":32.0,\"base\":\"nf4\",\"double_quantization\":true,\"dropout\":0."
          "0,"
          "\"rank\":16,\"target_modules\":[\"all-linear\"]}",
          "\"amp_bf16\"" },
        { IMPORTS ")\nc = LoraConfig(task_type='CAUSAL_LM')\nSFTTrainer(model=m, "
                  "peft_config=c, args=SFTConfig('o'))\n",
          "{\"alpha\":8.0,\"dropout\":0.0,\"rank\":8}", "\"amp_bf16\"" },
        { IMPORTS ")\nSFTTrainer(model=m, peft_config=make(args), "
                  "args=SFTConfig('o'))\n",
          "use_peft: make(...) is a call, and nothing is run; without adapters it is "
          "null",
          NULL },
        { IMPORTS ")\nm = get_peft_model(m, IA3Config())\nTrainer(model=m, "
                  "args=TrainingArguments('o'))\n",
          "peft_type: IA3Config is not simulated (LoRA and QLoRA are, and full "
          "training)",
          NULL },
        { IMPORTS ")\nm = get_peft_model(m, make())\nTrainer(model=m, "
                  "args=TrainingArguments('o'))\n",
          "use_peft: make(...) is a call, and nothing is run; without adapters it is "
          "null",
          NULL },
        { IMPORTS ")\nc = LoraConfig(r=8)\nTrainer(model=adapt(m, c), "
                  "args=TrainingArguments('o'))\n",
          "use_peft: LoraConfig(...) goes to no call that is known, and nothing is "
          "run; "
          "without adapters it is null",
          NULL },
        { IMPORTS ")\nSFTTrainer(model=m, peft_config=get_peft_config(a), "
                  "args=SFTConfig('o'))\n",
          "use_peft: get_peft_config(...) is a call, and nothing is run; without "
          "adapters "
          "it is null",
          NULL },
        { IMPORTS ")\nm.add_adapter(LoraConfig(r=64, lora_alpha=16))\n"
                  "Trainer(model=m, args=TrainingArguments('o'))\n",
          "{\"alpha\":16.0,\"dropout\":0.0,\"rank\":64}", NULL },
        { IMPORTS ")\nm, t = FastLanguageModel.from_pretrained('unsloth/Llama-3.2-1B', "
                  "max_seq_length=2048)\nm = FastLanguageModel.get_peft_model(m)\n"
                  "SFTTrainer(model=m, args=SFTConfig('o', bf16=True))\n",
          "{\"alpha\":16.0,\"base\":\"nf4\",\"double_quantization\":true,\"dropout\":0."
          "0,"
          "\"rank\":16,\"target_modules\":[\"q_proj\",\"k_proj\",\"v_proj\",\"o_proj\","
          "\"gate_proj\",\"up_proj\",\"down_proj\"]}",
          NULL },
    };
    check_all("a.py", cases, COUNT(cases));
}

void test_peft_register(void)
{
    CU_pSuite s = CU_add_suite("peft", NULL, NULL);
    CU_add_test(s, "axolotl", test_axolotl);
    CU_add_test(s, "LLaMA-Factory", test_llamafactory);
    CU_add_test(s, "TRL", test_trl);
    CU_add_test(s, "commands", test_commands);
    CU_add_test(s, "hyperparameters", test_hyperparameters);
    CU_add_test(s, "scripts of a job", test_scripts);
    CU_add_test(s, "training programs", test_programs);
}
