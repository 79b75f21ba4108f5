/* Training programs in Python: the scenario that calls of transformers, TRL, PEFT and
 * Accelerate come to, all of it. */
#include "launch_bench.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_programs_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void check(const struct program_case *c)
{
    check_program(NULL, "train.py", c);
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
      "accumulation_steps\":4,\"gradient_clipping\":1.0,\"master_weights\":false,"
      "\"micro_batch_size\":2,"
      "\"precision\":\"bf16\",\"sequence_length\":4096}}",
      "learning_rate" },
    /* of two trainers the last */
    { IMPORTS "a = TrainingArguments('a', per_device_train_batch_size=4)\n"
              "b = TrainingArguments('b', per_device_train_batch_size=16)\n"
              "first = AutoModelForCausalLM.from_pretrained('gpt2')\n"
              "second = AutoModelForCausalLM.from_pretrained('gpt2-xl')\n"
              "Trainer(model=second, args=b).train()\n"
              "Trainer(model=first, args=a).train()\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":4,"
      "\"task\":\"causal-lm\"}}",
      "the last of 2 trainers" },
    /* adapters and 4-bit weights, by what the trainer and the model are given */
    { IMPORTS
      "from peft import LoraConfig\n"
      "unused = LoraConfig(r=4)\n"
      "quantized = BitsAndBytesConfig(load_in_4bit=True,\n"
      "    bnb_4bit_use_double_quant=True, bnb_4bit_quant_type='nf4')\n"
      "model = AutoModelForCausalLM.from_pretrained('mistralai/Mistral-7B-v0.1',\n"
      "    quantization_config=quantized)\n"
      "model = prepare_model_for_kbit_training(model)\n"
      "lora = LoraConfig(lora_alpha=32, lora_dropout=0.1,\n"
      "                  target_modules=['q_proj', 'v_proj'])\n"
      "args = TrainingArguments('o', per_device_train_batch_size=4, fp16=True)\n"
      "SFTTrainer(model=model, args=args, peft_config=lora,\n"
      "           max_seq_length=2048).train()\n",
      "{\"cluster\":{},\"model\":\"mistralai/"
      "Mistral-7B-v0.1\",\"training\":{\"activation_"
      "checkpointing\":\"full\",\"gradient_clipping\":1.0,\"lora\":{\"alpha\":32.0,"
      "\"base\":\"nf4\",\"double_"
      "quantization\":true,\"dropout\":0.1,\"rank\":8,\"target_"
      "modules\":["
      "\"q_proj\",\"v_proj\"]},\"micro_batch_size\":4,\"precision\":\"amp_fp16\","
      "\"sequence_"
      "length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    /* a command would give its arguments: they are no defaults */
    { IMPORTS "parser = TrlParser((ScriptArguments, SFTConfig))\n"
              "script, args = parser.parse_args_and_config()\n"
              "model = AutoModelForCausalLM.from_pretrained(script.model)\n"
              "SFTTrainer(model=model, args=args).train()\n",
      "{\"cluster\":{},\"training\":{\"activation_checkpointing\":\"full\",\"gradient_"
      "clipping\":1.0,\"task\":"
      "\"causal-lm\"}}",
      "the command of the script gives it" },
    /* what no row reads is named; what decides about the states is asked for */
    { IMPORTS "model = AutoModelForCausalLM.from_pretrained('gpt2', revision='a',\n"
              "    device_map='auto')\n"
              "Trainer(model=model, args=TrainingArguments('o'),\n"
              "    per_device=1).train()\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":8,"
      "\"task\":\"causal-lm\"}}",
      "not read, and may change time or memory: device_map" },
    { IMPORTS "from accelerate import Accelerator\n"
              "a = Accelerator(fsdp_plugin=make(), log_with='wandb')\n"
              "model = AutoModelForCausalLM.from_pretrained('gpt2')\n"
              "Trainer(model=model, args=TrainingArguments('o')).train()\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":8,"
      "\"task\":\"causal-lm\"}}",
      "fsdp_plugin of Accelerator(...) decides" },
    /* what trains on answers is refused, what compares is a task */
    { IMPORTS "from trl import GRPOConfig, GRPOTrainer\n"
              "GRPOTrainer(model='gpt2', args=GRPOConfig(output_dir='o')).train()\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"activation_checkpointing\":"
      "\"full\",\"gradient_clipping\":1.0,\"micro_batch_size\":8,\"precision\":\"amp_"
      "bf16\",\"sequence_length\":"
      "1024}}",
      "GRPO is not simulated" },
    { IMPORTS "from trl import DPOConfig, DPOTrainer\n"
              "model = AutoModelForCausalLM.from_pretrained('gpt2')\n"
              "DPOTrainer(model, args=DPOConfig(max_length=512), "
              "max_seq_length=4096).train()\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":8,"
      "\"sequence_length\":512,\"task\":\"dpo\"}}",
      NULL },
};

/* --- lengths ---------------------------------------------------------------------- */

#define TRAINED                                                              \
    IMPORTS "model = AutoModelForCausalLM.from_pretrained('gpt2-xl')\n"      \
            "args = TrainingArguments('o', per_device_train_batch_size=2)\n" \
            "Trainer(model, args, train_dataset=data).train()\n"
#define LENGTH(n)                                                                    \
    "{\"cluster\":{},\"model\":\"gpt2-xl\",\"training\":{\"gradient_clipping\":1.0," \
    "\"micro_batch_size\":2," n "\"task\":\"causal-lm\"}}"

static const struct program_case lengths[] = {
    { "def f(x):\n    return tokenizer(x['t'], padding='max_length', "
      "max_length=768)\n" TRAINED,
      LENGTH("\"sequence_length\":768,"), NULL },
    { "n = 256\ndef f(x):\n    return self.tokenizer(x['t'], truncation=True, "
      "max_length=n)\n" TRAINED,
      LENGTH("\"sequence_length\":256,"), "shorter ones are not padded" },
    { "def f(x):\n    return tokenizer(x['t'], truncation=True)\n" TRAINED, LENGTH(""),
      NULL },
    /* joined texts are cut into blocks, however long they were */
    { "block_size = 1024\ndef f(x):\n    return tokenizer(x['t'], "
      "max_length=64)\n" TRAINED,
      LENGTH("\"sequence_length\":1024,"), "block_size = 1024 is taken" },
    { "def f(x):\n    tokenizer(text_target=x['s'], max_length=64)\n"
      "    return tokenizer(x['t'], max_length=512)\n" TRAINED,
      "{\"cluster\":{},\"model\":\"gpt2-xl\",\"training\":{\"decoder_length\":64,"
      "\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"sequence_length\":512,"
      "\"task\":\"causal-lm\"}}",
      NULL },
};

static void test_lengths(void)
{
    for (size_t i = 0; i < COUNT(lengths); i++)
        check(&lengths[i]);
}

static void test_program_calls(void)
{
    for (size_t i = 0; i < COUNT(calls); i++)
        check(&calls[i]);
}

/* --- programs that are started ------------------------------------------------------ */

static const struct written {
    const char *name, *text;
} written[] = {
    { "train.py",
      "import argparse\n"
      "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n"
      "def parse():\n"
      "    p = argparse.ArgumentParser()\n"
      "    p.add_argument('--model_id', default='gpt2-xl')\n"
      "    p.add_argument('--batch-size', type=int, default=4)\n"
      "    p.add_argument('--accum', type=int, default=2)\n"
      "    p.add_argument('--bf16', action='store_true')\n"
      "    p.add_argument('--max_len', type=int, default=512)\n"
      "    p.add_argument('--keep', type=bool, default=True)\n"
      "    return p.parse_args()\n"
      "def main():\n"
      "    args = parse()\n"
      "    model = AutoModelForCausalLM.from_pretrained(args.model_id)\n"
      "    if args.keep:\n"
      "        model.gradient_checkpointing_enable()\n"
      "    def f(x):\n"
      "        return tokenizer(x, padding='max_length', max_length=args.max_len)\n"
      "    t = TrainingArguments('o', gradient_accumulation_steps=args.accum,\n"
      "        per_device_train_batch_size=args.batch_size // 2, bf16=args.bf16)\n"
      "    Trainer(model=model, args=t, train_dataset=data.map(f)).train()\n"
      "if __name__ == '__main__':\n"
      "    main()\n" },
    { "sft.py", "from dataclasses import dataclass, field\n"
                "from transformers import HfArgumentParser, TrainingArguments, "
                "AutoModelForCausalLM\n"
                "from trl import SFTTrainer\n"
                "@dataclass\n"
                "class Script:\n"
                "    model_name: str = field(default='gpt2', metadata={'help': 'x'})\n"
                "    max_seq_length: int = field(default=1024)\n"
                "    use_flash: bool = field(default=True)\n"
                "@dataclass\n"
                "class Mine(TrainingArguments):\n"
                "    gradient_accumulation_steps: int = field(default=4)\n"
                "    optim: str = field(default='adafactor')\n"
                "parser = HfArgumentParser((Script, Mine))\n"
                "if len(sys.argv) == 2 and sys.argv[1].endswith('.json'):\n"
                "    script, mine = parser.parse_json_file(sys.argv[1])\n"
                "else:\n"
                "    script, mine = parser.parse_args_into_dataclasses()\n"
                "kernel = 'flash_attention_2' if script.use_flash else 'eager'\n"
                "model = AutoModelForCausalLM.from_pretrained(\n"
                "    script.model_name, attn_implementation=kernel)\n"
                "SFTTrainer(model=model, args=mine, packing=True,\n"
                "           max_seq_length=script.max_seq_length).train()\n" },
    { "fsdp.yaml", "distributed_type: FSDP\nnum_machines: 2\nnum_processes: 16\n"
                   "fsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n" },
    { "recipe.yaml", "model_name: mistralai/Mistral-7B-v0.1\n"
                     "per_device_train_batch_size: 2\nbf16: true\n"
                     "gradient_checkpointing: true\n" },
    { "smp_recipe.yaml",
      "run: {name: a, model_type: hf}\n"
      "trainer: {devices: 8, num_nodes: 4, precision: bf16}\n"
      "use_smp_model: false\n"
      "model: {model_type: llama_v3, train_batch_size: 1, max_context_width: 4096,\n"
      "  tensor_model_parallel_degree: 1, num_hidden_layers: 24, hidden_size: 2048,\n"
      "  num_attention_heads: 16, num_key_value_heads: 8, intermediate_size: 5632,\n"
      "  vocab_size: 32000, sharding_strategy: full_shard}\n" },
    { "handbook.yaml", "model_name_or_path: mistralai/Mistral-7B-v0.1\n"
                       "per_device_train_batch_size: 2\nbf16: true\n"
                       "max_seq_length: 2048\ndataset_mixer: {a: 1.0}\n" },
    { "ax.yml", "base_model: mistralai/Mistral-7B-v0.1\nsequence_len: 4096\n"
                "micro_batch_size: 2\nbf16: true\nsample_packing: true\n" },
    { "lf.yaml",
      "model_name_or_path: mistralai/Mistral-7B-v0.1\nstage: sft\ndo_train: true\n"
      "finetuning_type: full\ncutoff_len: 2048\nbf16: true\n"
      "per_device_train_batch_size: 2\n" },
    { "quant.py",
      "from dataclasses import dataclass, field\n"
      "from transformers import (AutoModelForCausalLM, BitsAndBytesConfig, Trainer,\n"
      "    TrainingArguments, HfArgumentParser)\n"
      "@dataclass\nclass Options:\n"
      "    model_id: str = field(default='meta-llama/Llama-3.1-8B')\n"
      "    load_in_4bit: bool = field(default=True)\n"
      "class Builder:\n"
      "    def __init__(self, options):\n        self.options = options\n"
      "    def quantization(self):\n"
      "        if self.options.load_in_4bit:\n"
      "            return BitsAndBytesConfig(load_in_4bit=True,\n"
      "                bnb_4bit_use_double_quant=True, bnb_4bit_quant_type='nf4')\n"
      "    def keywords(self):\n"
      "        return {'quantization_config': self.quantization()}\n"
      "def main():\n"
      "    parser = HfArgumentParser((Options, TrainingArguments))\n"
      "    options, args = parser.parse_args_into_dataclasses()\n"
      "    model = AutoModelForCausalLM.from_pretrained(options.model_id,\n"
      "        **Builder(options).keywords())\n"
      "    Trainer(model=model, args=args).train()\n"
      "main()\n" },
};

#define CLUSTER(gpus) "{\"cluster\":{\"count\":2" gpus "},"
#define SFT(more)                                                                    \
    CLUSTER(",\"gpus_per_instance\":8")                                              \
    "\"model\":\"mistralai/Mistral-7B-v0.1\",\"parallelism\":{\"library\":\"fsdp\"," \
    "\"sharding\":{\"strategy\":\"full\"}},\"training\":{" more                      \
    "\"task\":\"causal-lm\"}}"

#define OWN(first, steps, length, rest)                                              \
    CLUSTER(",\"gpus_per_instance\":8")                                              \
    "\"model\":\"mistralai/Mistral-7B-v0.1\",\"parallelism\":{\"library\":\"fsdp\"," \
    "\"sharding\":{\"strategy\":\"full\"}},\"training\":{" first                     \
    "\"gradient_accumulation_steps\":" steps                                         \
    ",\"gradient_clipping\":1.0,\"micro_batch_size\":2,"                             \
    "\"precision\":\"bf16\",\"sequence_length\":" length rest

/* scripts/train.py on two nodes with a batch of 16 */
#define BATCH_16                                                                 \
    CLUSTER(",\"gpus_per_instance\":8")                                          \
    "\"model\":\"gpt2-xl\",\"training\":{\"activation_checkpointing\":\"full\"," \
    "\"gradient_accumulation_steps\":2,\"gradient_clipping\":1.0,\"micro_batch_" \
    "size\":8,\"precision\":"                                                    \
    "\"amp_bf16\",\"sequence_length\":2048,\"task\":\"causal-lm\"}}"

/* quant.py, whose model is given what no call is known to give */
#define LOOSE(lora)                                                               \
    CLUSTER(",\"gpus_per_instance\":8")                                           \
    "\"model\":\"meta-llama/"                                                     \
    "Llama-3.1-8B\",\"training\":{\"gradient_clipping\":1.0," lora                \
    "\"micro_batch_size\":2,\"precision\":\"amp_bf16\",\"sequence_length\":1024," \
    "\"task\":\"causal-lm\"}}"
#define QUANT(options)                                             \
    "torchrun --nnodes=2 --nproc_per_node=8 quant.py --bf16 true " \
    "--per_device_train_batch_size 2 --max_seq_length 1024 " options "\n"
#define NF4 "\"lora\":{\"base\":\"nf4\",\"double_quantization\":true,\"rank\":16},"

static const struct program_case started[] = {
    { QUANT("--lora_r 16"), LOOSE(NF4), "which modules have adapters" },
    { QUANT("--lora_r 16 --load_in_4bit true"), LOOSE(NF4), NULL },
    { QUANT("--load_in_4bit false"), LOOSE(""), NULL },
    { "torchrun --nnodes=2 --nproc_per_node=8 scripts/train.py --batch-size 16 --bf16 "
      "\\\n"
      "    --max_len 2048\n",
      BATCH_16, "gradient_accumulation_steps (19)" },
    { "accelerate launch --config_file fsdp.yaml sft.py --max_seq_length 4096 \\\n"
      "    --model_name mistralai/Mistral-7B-v0.1 --per_device_train_batch_size 2\n",
      SFT("\"attention\":\"flash_attention_2\",\"gradient_accumulation_steps\":4,"
          "\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"optimizer\":"
          "\"adafactor\",\"sequence_length\":"
          "4096,"),
      "optim (12)" },
    /* names that argparse completes */
    { "accelerate launch --config_file fsdp.yaml sft.py --max_seq_len 2048 \\\n"
      "    --model_name mistralai/Mistral-7B-v0.1 --per_device_train_batch_size 2\n",
      SFT("\"attention\":\"flash_attention_2\",\"gradient_accumulation_steps\":4,"
          "\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"optimizer\":"
          "\"adafactor\",\"sequence_length\":"
          "2048,"),
      NULL },
    { "torchrun --nnodes=2 --nproc_per_node=8 scripts/train.py --batch 16 --max 2048 "
      "--acc 4\n",
      CLUSTER(",\"gpus_per_instance\":8") "\"model\":\"gpt2-xl\",\"training\":{"
                                          "\"activation_checkpointing\":\"full\","
                                          "\"gradient_accumulation_steps\":4,"
                                          "\"gradient_clipping\":1.0,\"micro_"
                                          "batch_size\":8,"
                                          "\"sequence_length\":2048,"
                                          "\"task\":\"causal-lm\"}}",
      NULL },
    /* a document, and options that win over it */
    { "accelerate launch --config_file fsdp.yaml sft.py recipe.yaml --use_flash "
      "False\n",
      SFT("\"activation_checkpointing\":\"full\",\"attention\":\"eager\","
          "\"gradient_accumulation_steps\":4,\"gradient_clipping\":1.0,\"micro_batch_"
          "size\":2,\"optimizer\":"
          "\"adafactor\",\"precision\":\"bf16\",\"sequence_length\":1024,"),
      NULL },
    /* a program that is not there */
    { "accelerate launch --config_file fsdp.yaml run_sft.py handbook.yaml \\\n"
      "    --max_seq_length 4096\n",
      SFT("\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":\"bf16\","
          "\"sequence_length\":4096,"),
      NULL },
    /* options of one letter */
    { "cat > mine.py <<'EOF'\n"
      "import argparse\n" IMPORTS "p = argparse.ArgumentParser()\n"
      "p.add_argument('-b', '--batch', type=int, default=4)\n"
      "p.add_argument('-a', '--accum', type=int, default=1)\n"
      "p.add_argument('-q', '--quick', action='store_true')\n"
      "p.add_argument('-l', '--later', type=int, default=3)\n"
      "o = p.parse_args()\n"
      "args = TrainingArguments('o', per_device_train_batch_size=o.batch,\n"
      "    gradient_accumulation_steps=o.accum, bf16=o.quick)\n"
      "Trainer(AutoModelForCausalLM.from_pretrained('gpt2'), args).train()\n"
      "EOF\ntorchrun --nnodes 2 mine.py -b 16 -a8 -q\n",
      CLUSTER(",\"gpus_per_instance\":1") "\"model\":\"gpt2\",\"training\":{"
                                          "\"gradient_accumulation_steps\":8,"
                                          "\"gradient_clipping\":1.0,\"micro_"
                                          "batch_size\":16,\"precision\":"
                                          "\"amp_bf16\",\"task\":\"causal-lm\"}}",
      NULL },
    /* modules */
    { "torchrun --nnodes=2 --nproc_per_node=8 -m scripts.train --batch-size 16 --bf16 "
      "\\\n"
      "    --max_len 2048\n",
      BATCH_16, "gradient_accumulation_steps (19)" },
    /* programs of axolotl's and LLaMA-Factory's, by what they are given; arguments of the
     * script that nobody gave */
    { "bsz=4\nwhile (( \"$#\" )); do case \"$1\" in --bsz) bsz=\"$2\"; shift 2;; esac; "
      "done\n"
      "accelerate launch --config_file fsdp.yaml scripts/finetune.py ax.yml \\\n"
      "    --gradient_accumulation_steps $bsz\n",
      OWN("", "4", "4096", "}}"), NULL },
    { "accelerate launch --config_file fsdp.yaml -m axolotl.cli.train ax.yml "
      "--gradient_accumulation_steps 4\n",
      OWN("", "4", "4096", "}}"), NULL },
    { "accelerate launch --config_file fsdp.yaml src/train.py lf.yaml "
      "gradient_accumulation_steps=2\n",
      OWN("\"activation_checkpointing\":\"full\",", "2", "2048",
          ",\"task\":\"causal-lm\"}}"),
      NULL },
    /* that the script writes itself */
    { "cat > mine.py <<'EOF'\n" IMPORTS
      "args = TrainingArguments('o', per_device_train_batch_size=6)\n"
      "Trainer(AutoModelForCausalLM.from_pretrained('gpt2'), args).train()\n"
      "EOF\ntorchrun --nnodes 2 mine.py\n",
      CLUSTER(",\"gpus_per_instance\":1") "\"model\":\"gpt2\",\"training\":{\"gradient_"
                                          "clipping\":1.0,\"micro_"
                                          "batch_size\":6,\"task\":\"causal-lm\"}}",
      NULL },
    /* what nobody gave has transformers' defaults */
    { "cat > mine.py <<'EOF'\n" IMPORTS "parser = TrlParser((TrainingArguments,))\n"
      "(given,) = parser.parse_args_and_config()\n"
      "if given.fsdp is not None and given.fsdp != '' and len(given.fsdp_config) > 0:\n"
      "    more = {'fsdp': given.fsdp, 'fsdp_config': given.fsdp_config}\n"
      "else:\n    more = {'gradient_checkpointing': given.gradient_checkpointing}\n"
      "args = TrainingArguments('o', bf16=given.deepspeed is None,\n"
      "    per_device_train_batch_size=given.per_device_train_batch_size, **more)\n"
      "Trainer(AutoModelForCausalLM.from_pretrained('gpt2'), args).train()\n"
      "EOF\ntorchrun --nnodes 2 mine.py --per_device_train_batch_size 3\n",
      CLUSTER(",\"gpus_per_instance\":1") "\"model\":\"gpt2\",\"training\":{\"gradient_"
                                          "clipping\":1.0,\"micro_batch_size\":3,"
                                          "\"precision\":\"amp_bf16\",\"task\":"
                                          "\"causal-lm\"}}",
      NULL },
};

/* --- jobs of SageMaker's ------------------------------------------------------------- */

#define ESTIMATOR(more)                                                       \
    "from sagemaker.pytorch import PyTorch\n"                                 \
    "from sagemaker.tuner import HyperparameterTuner, CategoricalParameter\n" \
    "est = PyTorch(instance_type='ml.p4d.24xlarge', instance_count=2,\n"      \
    "    framework_version='2.1', " more ")\n"
#define HYPER "hyperparameters={'model_id': 'gpt2', 'batch-size': 16, 'max_len': 1024}"
#define JOB(training)                                                                 \
    "{\"cluster\":{\"count\":2,\"instance\":\"ml.p4d.24xlarge\"},\"model\":\"gpt2\"," \
    "\"software\":{\"pytorch\":\"2.1\"},\"training\":{\"activation_checkpointing\":"  \
    "\"full\"," training "\"sequence_length\":1024,\"task\":\"causal-lm\"}}"

#define GPT2                                                                          \
    "{\"cluster\":{\"count\":2,\"instance\":\"ml.p4d.24xlarge\"},\"model\":\"gpt2\"," \
    "\"software\":{\"pytorch\":\"2.1\"},\"training\":{}}"

static const struct program_case jobs[] = {
    /* the script makes something of the job's hyperparameters */
    { ESTIMATOR("entry_point='train.py', " HYPER),
      JOB("\"gradient_accumulation_steps\":2,\"gradient_clipping\":1.0,\"micro_batch_"
          "size\":8,"),
      "decides by its own text: model_id, batch_size, max_len" },
    /* what a tuner varies is not known, whatever the estimator has */
    { ESTIMATOR(
          "entry_point='train.py', " HYPER) "HyperparameterTuner(est, 'loss', "
                                            "max_jobs=4, hyperparameter_ranges={\n"
                                            "    'batch-size': "
                                            "CategoricalParameter([8, 16])}).fit()\n",
      JOB("\"gradient_accumulation_steps\":2,\"gradient_clipping\":1.0,"),
      "per_device_train_batch_size: the tuner of line 5 varies it" },
    { ESTIMATOR(
          "entry_point='run_clm.py', hyperparameters={\n    'model_name_or_path': "
          "'gpt2', 'per_device_train_batch_size': 8, 'block_size': 512}") "Hyperparamet"
                                                                          "erTuner(est,"
                                                                          " 'loss', "
                                                                          "hyperparamet"
                                                                          "er_ranges={"
                                                                          "\n"
                                                                          "    "
                                                                          "'per_device_"
                                                                          "train_batch_"
                                                                          "size': "
                                                                          "CategoricalP"
                                                                          "arameter([8,"
                                                                          " 16])})\n",
      "{\"cluster\":{\"count\":2,\"instance\":\"ml.p4d.24xlarge\"},\"model\":\"gpt2\","
      "\"software\":{\"pytorch\":\"2.1\"},\"training\":{\"gradient_clipping\":1.0,"
      "\"sequence_length\":512,"
      "\"task\":\"causal-lm\"}}",
      "the tuner of line 6 varies it" },
    /* a document that is not there decides what the script's defaults do not */
    { ESTIMATOR("entry_point='sft.py', hyperparameters={'config': '/opt/ml/a.yaml'}"),
      "{\"cluster\":{\"count\":2,\"instance\":\"ml.p4d.24xlarge\"},"
      "\"software\":{\"pytorch\":\"2.1\"},\"training\":{\"attention\":\"flash_"
      "attention_2\","
      "\"gradient_accumulation_steps\":4,\"gradient_clipping\":1.0,\"optimizer\":"
      "\"adafactor\",\"task\":\"causal-"
      "lm\"}}",
      "the document that a hyperparameter names gives it" },
    /* recipes of HyperPod's, with what goes over them */
    { ESTIMATOR("training_recipe='training/llama/smp_recipe',\n"
                "    recipe_overrides={'model': {'train_batch_size': 2}}"),
      "{\"cluster\":{\"count\":2,\"gpus_per_instance\":8,\"instance\":\"ml.p4d."
      "24xlarge\"},"
      "\"model\":{\"hidden_size\":2048,\"intermediate_size\":5632,\"model_type\":"
      "\"llama\","
      "\"num_attention_heads\":16,\"num_hidden_layers\":24,\"num_key_value_heads\":8,"
      "\"sliding_window\":null,\"tie_word_embeddings\":false,\"vocab_size\":32000},"
      "\"parallelism\":{\"library\":\"fsdp\",\"sharding\":{"
      "\"strategy\":\"full\"}},\"software\":{\"pytorch\":\"2.1\"},\"training\":{"
      "\"activation_checkpointing\":\"full\",\"gradient_clipping\":1.0,\"micro_batch_"
      "size\":2,\"optimizer\":\"adamw\",\"precision\":\"bf16\",\"sequence_length\":"
      "4096,"
      "\"task\":\"causal-lm\"}}",
      NULL },
    { ESTIMATOR("training_recipe='training/llama/other'"),
      "{\"cluster\":{\"count\":2,\"instance\":\"ml.p4d.24xlarge\"},\"software\":{"
      "\"pytorch\":"
      "\"2.1\"},\"training\":{}}",
      "\"training/llama/other\" is not there, and decides it" },
    { ESTIMATOR("training_recipe='fine-tuning/nova/nova_lite_sft'"),
      "{\"cluster\":{\"count\":2,\"instance\":\"ml.p4d.24xlarge\"},\"software\":{"
      "\"pytorch\":"
      "\"2.1\"},\"training\":{}}",
      "Amazon Nova's models are not published" },
    /* JumpStart */
    { "est = JumpStartEstimator(model_id='meta-textgeneration-llama-2-7b-f',\n"
      "    instance_type='ml.g5.48xlarge', instance_count=2)\n"
      "est.set_hyperparameters(enable_fsdp='True', epoch='2', "
      "max_input_length='1024',\n"
      "    per_device_train_batch_size='2')\n",
      "{\"cluster\":{\"count\":2,\"instance\":\"ml.g5.48xlarge\"},\"model\":\"llama2-"
      "7b\","
      "\"parallelism\":{\"library\":\"fsdp\",\"sharding\":{\"strategy\":\"full\"}},"
      "\"training\":{\"epochs\":2,\"micro_batch_size\":2,\"sequence_length\":1024}}",
      "JumpStart's own script decides it" },
    { "est = JumpStartEstimator(model_id='huggingface-text2text-flan-t5-base',\n"
      "    instance_type='ml.g5.12xlarge')\n",
      "{\"cluster\":{\"count\":1,\"instance\":\"ml.g5.12xlarge\"},\"model\":\"google/"
      "flan-t5-base\",\"training\":{}}",
      NULL },
    { "est = JumpStartEstimator(model_id='pytorch-ic-mobilenet-v2')\n",
      "{\"cluster\":{\"count\":1},\"training\":{}}",
      "of JumpStart is a network of convolutions" },
    { "from sagemaker import model_uris\n"
      "id, v = 'huggingface-eqa-bert-base-cased', '*'\n"
      "uri = model_uris.retrieve(model_id=id, model_version=v, "
      "model_scope='training')\n"
      "est = Estimator(model_uri=uri, instance_type='ml.p3.2xlarge', "
      "instance_count=1)\n",
      "{\"cluster\":{\"count\":1,\"instance\":\"ml.p3.2xlarge\"},\"model\":\"bert-base-"
      "cased\",\"training\":{}}",
      "JumpStart's own script decides it" },
    { "from sagemaker import model_uris\n"
      "uri = model_uris.retrieve('lightgbm-regression-model', '*', 'training')\n"
      "est = Estimator(model_uri=uri, instance_type='ml.m5.large', instance_count=1)\n",
      "{\"cluster\":{\"count\":1,\"instance\":\"ml.m5.large\"},\"training\":{}}",
      "of JumpStart trains trees" },
    /* ModelTrainer has one instance by default; a recipe may want more */
    { "from sagemaker.modules.train import ModelTrainer\n"
      "t = ModelTrainer(training_image='i', compute=Compute(\n"
      "    instance_type='ml.g5.48xlarge'), hyperparameters={'model_id': 'gpt2'})\n",
      "{\"cluster\":{\"count\":1,\"instance\":\"ml.g5.48xlarge\"},\"model\":\"gpt2\","
      "\"training\":{}}",
      NULL },
    { "from sagemaker.modules.train import ModelTrainer\n"
      "t = ModelTrainer.from_recipe(training_recipe='training/llama/other',\n"
      "    compute=Compute(instance_type='ml.g5.48xlarge'))\n",
      "{\"cluster\":{\"instance\":\"ml.g5.48xlarge\"},\"training\":{}}", NULL },
    /* of a script that is not there: other methods, its own degrees, its own words */
    { ESTIMATOR("entry_point='mine.py', hyperparameters={'model_id': 'gpt2',\n"
                "    'num-generations': 8}"),
      GPT2, "training on answers that the model generates" },
    { ESTIMATOR("entry_point='mine.py', hyperparameters={'model_id': 'gpt2',\n"
                "    'teacher-model': 'gpt2-xl'}"),
      GPT2, "trains with a second, frozen model (distillation)" },
    { ESTIMATOR("entry_point='mine.py', hyperparameters={'model_id': 'gpt2',\n"
                "    'tensor-parallel-degree': 4}"),
      GPT2, "--tensor_parallel_degree 4 is mine.py's own" },
    { ESTIMATOR(
          "entry_point='mine.py', hyperparameters={'method': 'dpo', 'grad_accum': "
          "4,\n    'model_id': '/opt/models--gpt2-xl/snapshots/4a'}"),
      "{\"cluster\":{\"count\":2,\"instance\":\"ml.p4d.24xlarge\"},\"model\":\"gpt2-"
      "xl\","
      "\"software\":{\"pytorch\":\"2.1\"},\"training\":{\"gradient_accumulation_"
      "steps\":4}}",
      "what the script makes of these is not known: method" },
    /* parameters of a pipeline are their defaults, by name or by place */
    { "from sagemaker.workflow.parameters import ParameterInteger, ParameterString\n"
      "from sagemaker.pytorch import PyTorch\n"
      "kind = ParameterString(name='Kind', default_value='ml.p4d.24xlarge')\n"
      "est = PyTorch(entry_point='train.py', framework_version='2.1',\n"
      "    instance_type=kind, instance_count=ParameterInteger('Count', 2),\n"
      "    " HYPER ")\n",
      JOB("\"gradient_accumulation_steps\":2,\"gradient_clipping\":1.0,\"micro_batch_"
          "size\":8,"),
      "Kind, a parameter of the pipeline, is taken to be ml.p4d.24xlarge" },
    { "from sagemaker.workflow.parameters import ParameterString\n"
      "from sagemaker.pytorch import PyTorch\n"
      "est = PyTorch(entry_point='train.py', framework_version='2.1',\n"
      "    instance_type=ParameterString(name='Kind'), instance_count=2, " HYPER ")\n",
      "{\"cluster\":{\"count\":2},\"model\":\"gpt2\",\"software\":{\"pytorch\":\"2.1\"}"
      ","
      "\"training\":{\"activation_checkpointing\":\"full\","
      "\"gradient_accumulation_steps\":2,\"gradient_clipping\":1.0,\"micro_batch_"
      "size\":8,\"sequence_length\":"
      "1024,\"task\":\"causal-lm\"}}",
      "Kind is a parameter of the pipeline, which its start gives" },
};

static void put_file(const char *dir, const char *name, const char *text, char *path,
                     size_t size)
{
    snprintf(path, size, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

static void test_started(void)
{
    char dir[] = "/tmp/programs_XXXXXX", path[100];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    for (size_t i = 0; i < COUNT(written); i++)
        put_file(dir, written[i].name, written[i].text, path, sizeof(path));
    for (size_t i = 0; i < COUNT(started); i++) {
        put_file(dir, "run.sh", started[i].text, path, sizeof(path));
        check_program(path, NULL, &started[i]);
        unlink(path);
    }
    for (size_t i = 0; i < COUNT(jobs); i++) {
        put_file(dir, "job.py", jobs[i].text, path, sizeof(path));
        check_program(path, NULL, &jobs[i]);
        unlink(path);
    }
    for (size_t i = 0; i < COUNT(written); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, written[i].name);
        unlink(path);
    }
    rmdir(dir);
}

void test_programs_register(void)
{
    CU_pSuite suite = CU_add_suite("programs", NULL, NULL);
    CU_add_test(suite, "calls of transformers and TRL", test_program_calls);
    CU_add_test(suite, "lengths of sequences", test_lengths);
    CU_add_test(suite, "programs that are started", test_started);
}
