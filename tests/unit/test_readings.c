/* Small files of the Hugging Face side, each up to the scenario that it says: Accelerate's
 * configurations, the Trainer's commands, LLaMA-Factory's and axolotl's documents. */
#include "launch_bench.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_readings_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct reading {
    const char *file, *text;
    const char *tree; /* of the scenario, its keys in order */
    const char *said; /* a part of a note, a question or an error; NULL: any */
};

static void check(const struct reading *c)
{
    struct cfg_loader loader;
    struct launch l = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = launch_load_text(&l, &loader, c->file, c->text);
    char *tree = root.json ? json_dumps(root.json, JSON_COMPACT | JSON_SORT_KEYS |
                                                       JSON_REAL_PRECISION(6))
                           : NULL;
    const char *got = tree ? tree : "";
    CU_ASSERT_STRING_EQUAL(got, c->tree);
    if (strcmp(got, c->tree) != 0)
        fprintf(stderr, "%s\n    gives   %s\n    instead %s\n", c->text, got, c->tree);
    CU_ASSERT(!c->said || is_said(&l, c->said));
    if (c->said && !is_said(&l, c->said))
        fprintf(stderr, "%s\n    does not say %s\n", c->text, c->said);
    free(tree);
    launch_release(&l);
    cfg_loader_release(&loader);
}

static void check_all(const struct reading *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(&c[i]);
}

/* Accelerate's configurations ------------------------------------------------------ */

static const struct reading accelerate[] = {
    { "megatron.yaml",
      "distributed_type: MEGATRON_LM\nmixed_precision: bf16\nnum_machines: 2\n"
      "num_processes: 16\nmegatron_lm_config:\n  megatron_lm_tp_degree: 4\n"
      "  megatron_lm_pp_degree: 2\n  megatron_lm_num_micro_batches: 8\n"
      "  megatron_lm_sequence_parallelism: true\n  megatron_lm_gradient_clipping: 1.0\n"
      "  megatron_lm_use_distributed_optimizer: true\n"
      "  megatron_lm_recompute_activations: true\n",
      "{\"cluster\":{\"count\":2,\"gpus_per_instance\":8},\"parallelism\":{\"library\":"
      "\"megatron\",\"pipeline\":2,\"placement\":\"PDT\",\"sequence_parallel\":true,"
      "\"sharding\":{\"strategy\":\"optimizer\"},\"tensor\":4},\"training\":{"
      "\"activation_checkpointing\":\"selective\",\"gradient_accumulation_steps\":8,"
      "\"gradient_clipping\":1.0,\"precision\":\"bf16\"}}",
      NULL },
    /* a section that is empty, or not there, is FSDP's own defaults */
    { "fsdp.yaml",
      "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\n"
      "fsdp_config: {}\n",
      "{\"cluster\":{\"gpus_per_instance\":8},\"parallelism\":{\"library\":\"fsdp\","
      "\"sharding\":{\"strategy\":\"full\"}},\"training\":{\"precision\":\"bf16\"}}",
      NULL },
    /* and one of another type does nothing */
    { "multi.yaml",
      "distributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_processes: 8\n"
      "fsdp_config: {fsdp_sharding_strategy: FULL_SHARD}\n",
      "{\"cluster\":{\"gpus_per_instance\":8},\"training\":{\"precision\":"
      "\"amp_bf16\"}}",
      "distributed_type is MULTI_GPU, for which it is without effect" },
    /* a job of SageMaker's, which SMDDP runs */
    { "sagemaker.yaml",
      "compute_environment: AMAZON_SAGEMAKER\ndistributed_type: DATA_PARALLEL\n"
      "ec2_instance_type: ml.p4d.24xlarge\nnum_machines: 2\nmixed_precision: fp16\n"
      "pytorch_version: 1.13.1\ntransformers_version: 4.26.0\nprofile: me\n"
      "iam_role_name: role\nregion: us-east-1\npy_version: py39\nuse_cpu: false\n",
      "{\"cluster\":{\"count\":2,\"instance\":\"ml.p4d.24xlarge\"},\"distribution\":{"
      "\"smdistributed\":{\"dataparallel\":{\"enabled\":true}}},\"software\":{"
      "\"pytorch\":\"1.13.1\",\"transformers\":\"4.26.0\"},\"training\":{"
      "\"precision\":\"amp_fp16\"}}",
      NULL },
    { "sagemaker.yaml",
      "compute_environment: AMAZON_SAGEMAKER\ndistributed_type: MODEL_PARALLEL\n"
      "ec2_instance_type: ml.p4d.24xlarge\nnum_machines: 2\n",
      "{\"cluster\":{\"count\":2,\"instance\":\"ml.p4d.24xlarge\"},\"training\":{}}",
      "MODEL_PARALLEL is not simulated" },
    /* one process, whatever num_processes is */
    { "single.yaml",
      "distributed_type: 'NO'\nmixed_precision: bf16\nnum_processes: 8\n",
      "{\"cluster\":{\"gpus_per_instance\":1},\"training\":{\"precision\":"
      "\"amp_bf16\"}}",
      "distributed_type NO starts one process, not 8" },
    { "fp8.yaml",
      "distributed_type: FSDP\nmixed_precision: fp8\nnum_processes: 8\n"
      "fsdp_config: {fsdp_version: 2}\nfp8_config: {backend: TE, margin: 0}\n",
      "{\"cluster\":{\"gpus_per_instance\":8},\"parallelism\":{\"library\":\"fsdp\","
      "\"sharding\":{\"strategy\":\"full\"}},\"training\":{\"precision\":\"fp8\"}}",
      NULL },
    { "fp8.yaml",
      "distributed_type: FSDP\nmixed_precision: fp8\nnum_processes: 8\n"
      "fsdp_config: {fsdp_version: 2}\n",
      "{\"cluster\":{\"gpus_per_instance\":8},\"parallelism\":{\"library\":\"fsdp\","
      "\"sharding\":{\"strategy\":\"full\"}},\"training\":{\"precision\":"
      "\"fp8_current\"}}",
      "no backend is given: torchao's is taken" },
    { "fp8.yaml",
      "distributed_type: FSDP\nmixed_precision: fp8\nnum_processes: 8\n"
      "fsdp_config: {fsdp_version: 2}\nfp8_config: {backend: MSAMP}\n",
      "{\"cluster\":{\"gpus_per_instance\":8},\"parallelism\":{\"library\":\"fsdp\","
      "\"sharding\":{\"strategy\":\"full\"}},\"training\":{}}",
      "FP8 by MSAMP is not simulated" },
    { "fp8.yaml",
      "distributed_type: MULTI_GPU\nmixed_precision: fp8\nnum_processes: 8\n",
      "{\"cluster\":{\"gpus_per_instance\":8},\"training\":{}}",
      "with parameters in fp32 are not simulated" },
};

/* The Trainer's commands ----------------------------------------------------------- */

#define CLM                                                                   \
    "torchrun --nnodes=1 --nproc_per_node=8 run_clm.py --model_name_or_path " \
    "gpt2-xl --per_device_train_batch_size 2 --block_size 1024 --bf16 --do_train "
#define CLM_TREE(sharding, precision)                                                  \
    "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":\"gpt2-"             \
    "xl\"," sharding "\"training\":{\"gradient_clipping\":1.0,\"micro_batch_size\":2," \
    "\"precision\":\"" precision                                                       \
    "\",\"sequence_length\":1024,\"task\":\"causal-lm\"}}"
#define FSDP(strategy)                                                             \
    "\"parallelism\":{\"library\":\"fsdp\",\"sharding\":{\"strategy\":\"" strategy \
    "\"}},"

static const struct reading commands[] = {
    { "a.sh",
      "torchrun --nproc_per_node=8 run_clm.py \\\n  # the model\n"
      "  --model_name_or_path gpt2-xl --per_device_train_batch_size 2\n",
      "", "--model_name_or_path begins a command of its own" },
    { "a.sh", CLM "--fsdp '\"full_shard auto_wrap\"'\n", CLM_TREE(FSDP("full"), "bf16"),
      NULL },
    { "a.sh", CLM "--fsdp \"shard_grad_op auto_wrap\"\n",
      CLM_TREE(FSDP("gradients"), "bf16"), NULL },
    { "a.sh", CLM "--fsdp auto_wrap\n", CLM_TREE(FSDP("full"), "bf16"), NULL },
    { "a.sh", CLM "--fsdp no_shard\n", CLM_TREE(FSDP("none"), "bf16"), NULL },
    { "a.sh", CLM "--fsdp true\n", CLM_TREE(FSDP("full"), "bf16"), NULL },
    { "a.sh", CLM "--fsdp False\n", CLM_TREE("", "amp_bf16"), NULL },
    { "a.sh", CLM "--fsdp \"fullshard\"\n", CLM_TREE("", "amp_bf16"),
      "is no strategy of FSDP" },
};

/* DeepSpeed-Chat's: the options are what its programs make a configuration of ------ */

#define CHAT                                                                 \
    "deepspeed --num_gpus 8 main.py --model_name_or_path facebook/opt-1.3b " \
    "--data_split "                                                          \
    "2,4,4 --per_device_train_batch_size 4 --max_seq_len 512 --deepspeed "
#define CHAT_TREE(lora, sharding, step)                                            \
    "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":\"facebook/"     \
    "opt-1.3b\","                                                                  \
    "\"parallelism\":{" sharding "},\"training\":{\"gradient_clipping\":1.0," lora \
    "\"micro_batch_size\":4,"                                                      \
    "\"precision\":\"fp16\",\"sequence_length\":512" step "}}"
#define SFT_STEP ",\"task\":\"causal-lm\""
#define ZERO3(offload)                                          \
    "\"library\":\"deepspeed\",\"overlap\":true,\"sharding\":{" \
    "\"max_live_elements\":30000000," offload                   \
    "\"param_persistence_elements\":10000,\"strategy\":\"full\"}"

static const struct reading chat[] = {
    { "step1_supervised_finetuning/run.sh", CHAT "--zero_stage 3\n",
      CHAT_TREE("", ZERO3(""), SFT_STEP), NULL },
    { "step1_supervised_finetuning/run.sh",
      CHAT "--zero_stage 3 --offload --lora_dim 16 --lora_module_name decoder.layers. "
           "--only_optimize_lora\n",
      CHAT_TREE("\"lora\":{\"alpha\":1.0,\"dropout\":0.0,\"rank\":16,"
                "\"target_modules\":\"all-linear\"},",
                ZERO3("\"offload\":\"parameters\","), SFT_STEP),
      NULL },
    { "step1_supervised_finetuning/run.sh", CHAT "--zero_stage 3 --lora_dim 16\n",
      CHAT_TREE("\"lora\":{\"alpha\":1.0,\"dropout\":0.0,\"rank\":16,"
                "\"target_modules\":\"all-linear\",\"trained\":[\"embeddings\","
                "\"norms\",\"head\"]},",
                ZERO3(""), SFT_STEP),
      "without only_optimize_lora, what has no adapter is trained too" },
    { "step1_supervised_finetuning/run.sh",
      CHAT "--zero_stage 3 --lora_dim 16 --lora_module_name h. --only_optimize_lora\n",
      CHAT_TREE("", ZERO3(""), SFT_STEP),
      "only_optimize_lora leaves nothing to train" },
    { "step1_supervised_finetuning/run.sh",
      "if [ \"$1\" = convert ]; then a=\"python convert.py\"\nelse a=\"deepspeed "
      "--num_gpus 8 main.py\"; fi\neval \"$a --model_name_or_path facebook/opt-1.3b "
      "--data_split "
      "2,4,4 --per_device_train_batch_size 4 --max_seq_len 512 --deepspeed "
      "--zero_stage 3\"\n",
      CHAT_TREE("", ZERO3(""), SFT_STEP), "taken to be started without arguments" },
    { "run.sh", CHAT "--zero_stage 3\n", CHAT_TREE("", ZERO3(""), SFT_STEP),
      "is taken to be DeepSpeed-Chat's step1_supervised" },
    { "step2_dpo_finetuning/run.sh", CHAT "--zero_stage 3\n",
      CHAT_TREE("", ZERO3(""), ",\"task\":\"dpo\""), NULL },
    { "run.sh",
      CHAT "--actor_zero_stage 3 --actor_model_name_or_path $1 "
           "--num_padding_at_beginning 1\n",
      CHAT_TREE("",
                "\"bucket_size\":\"1000000000B\",\"library\":\"deepspeed\","
                "\"overlap\":false",
                ""),
      "trains on rollouts" },
    { "step3_rlhf_finetuning/run.sh", CHAT "--zero_stage 3\n",
      CHAT_TREE("", ZERO3(""), ""), "trains on rollouts" },
};

/* Programs whose adapters come of a function that is not read ---------------------- */

#define WRITES(imports, config)                                                     \
    "cat > mine.py <<'EOF'\n"                                                       \
    "from transformers import AutoModelForCausalLM, HfArgumentParser\n"             \
    "from trl import SFTConfig, SFTTrainer, ModelConfig, TrlParser\n" imports "\n"  \
    "parser = TrlParser((SFTConfig, ModelConfig))\n"                                \
    "training_args, model_args = parser.parse_args_and_config()\n"                  \
    "model = AutoModelForCausalLM.from_pretrained(model_args.model_name_or_path)\n" \
    "SFTTrainer(model=model, args=training_args, peft_config=" config ").train()\n" \
    "EOF\ntorchrun --nnodes 1 --nproc_per_node 8 mine.py --model_name_or_path "     \
    "gpt2-xl --per_device_train_batch_size 2 --max_length 512 "                     \
    "--packing true "
#define WRITTEN(lora)                                                              \
    "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":\"gpt2-xl\","    \
    "\"training\":{\"activation_checkpointing\":\"full\",\"gradient_clipping\":1." \
    "0," lora                                                                      \
    "\"micro_batch_size\":2,\"precision\":\"amp_bf16\",\"sequence_length\":512,"   \
    "\"task\":\"causal-lm\"}}"
#define TRL_LORA(rank)                                             \
    "\"lora\":{\"alpha\":32.0,\"dropout\":0.05,\"rank\":" rank "," \
    "\"target_modules\":[\"c_attn\"]},"

/* the nodes of a job of SLURM, by its lines or its program */
#define NODES                                                                      \
    "#!/bin/bash\n#SBATCH -N 4\nn=$(scontrol show hostnames "                      \
    "\"$SLURM_JOB_NODELIST\" | wc -l)\nif [ $n -gt 1 ]; then\n"                    \
    "  header=\"srun torchrun --nnodes=$n --nproc-per-node=8 run_clm.py\"\n"       \
    "else\n  header=\"torchrun --nproc-per-node=8 run_clm.py\"\nfi\n"              \
    "$header --model_name_or_path gpt2 --per_device_train_batch_size $((64 / n)) " \
    "--block_size 512 --do_train\n"

static const struct reading programs[] = {
    { "nodes.sh", NODES,
      "{\"cluster\":{\"count\":4,\"gpus_per_instance\":8},\"model\":\"gpt2\","
      "\"training\":{\"gradient_clipping\":1.0,\"micro_batch_size\":16,\"sequence_"
      "length\":512,\"task\":"
      "\"causal-lm\"}}",
      NULL },
    { "own.sh",
      "torchrun --nproc_per_node 8 train_sft.py --model_name_or_path gpt2 "
      "--per_device_train_batch_size 1 --block_size 1024 --seq_parallel_size 4 "
      "--bf16\n",
      "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":\"gpt2\","
      "\"parallelism\":{\"context\":4},\"training\":{\"gradient_clipping\":1.0,\"micro_"
      "batch_size\":1,"
      "\"precision\":\"amp_bf16\",\"sequence_length\":1024,\"task\":\"causal-lm\"}}",
      NULL },
    { "a.sh",
      "torchrun --nproc_per_node 8 train.py --model_path gpt2 --ref-model gpt2 "
      "--max_length 512 --per_device_train_batch_size 1\n",
      "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":\"gpt2\","
      "\"training\":{\"gradient_clipping\":1.0,\"micro_batch_size\":1,\"sequence_"
      "length\":512}}",
      "ref-model: answers are compared, by a method that is not known" },
    { "nodes.sh", "$LAUNCHER --model_name_or_path gpt2 --bf16\n", "",
      "what this command starts is not known: $LAUNCHER is not set in the script" },
    { "a.sh",
      WRITES("from trl import get_peft_config", "get_peft_config(model_args)") "\n",
      WRITTEN(""), NULL },
    { "a.sh",
      WRITES("from trl import get_peft_config",
             "get_peft_config(model_args)") "--use_peft --lora_target_modules c_attn\n",
      WRITTEN(TRL_LORA("16")), NULL },
    { "a.sh",
      WRITES("from mine import made",
             "made(model_args)") "--use_peft_lora True --lora_r 4 "
                                 "--lora_target_modules c_attn\n",
      WRITTEN(TRL_LORA("4")), NULL },
    { "a.sh", WRITES("from mine import made", "made(model_args)") "\n", WRITTEN(""),
      "use_peft: made(...) is a call" },
    /* an object of several others' arguments */
    { "a.sh",
      "cat > mine.py <<'EOF'\n"
      "import argparse\nfrom dataclasses import dataclass, field\nimport transformers\n"
      "from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer\n"
      "from peft import LoraConfig, get_peft_model\n"
      "@dataclass\nclass Mine:\n    model_name_or_path: str = field(default='gpt2')\n"
      "@dataclass\nclass Args(transformers.TrainingArguments):\n"
      "    bits: int = field(default=4)\n    lora_r: int = field(default=32)\n"
      "parser = transformers.HfArgumentParser((Mine, Args))\n"
      "mine, training, extra = parser.parse_args_into_dataclasses("
      "return_remaining_strings=True)\n"
      "args = argparse.Namespace(**vars(mine), **vars(training))\n"
      "model = AutoModelForCausalLM.from_pretrained(args.model_name_or_path,\n"
      "    quantization_config=BitsAndBytesConfig(load_in_4bit=args.bits == 4))\n"
      "model = get_peft_model(model, LoraConfig(r=args.lora_r, lora_alpha=16,\n"
      "    target_modules=['c_attn']))\n"
      "Trainer(model=model, args=training).train()\n"
      "EOF\npython mine.py --model_name_or_path gpt2-xl --bf16 "
      "--per_device_train_batch_size 3 --block_size 512\n",
      "{\"cluster\":{\"count\":1,\"gpus_per_instance\":1},\"model\":\"gpt2-xl\","
      "\"training\":{\"gradient_clipping\":1.0,\"lora\":{\"alpha\":16.0,\"base\":"
      "\"nf4\",\"dropout\":0.0,"
      "\"rank\":"
      "32,\"target_modules\":[\"c_attn\"]},\"micro_batch_size\":3,\"precision\":"
      "\"amp_bf16\",\"sequence_length\":512,\"task\":\"causal-lm\"}}",
      NULL },
};

/* ms-swift's ----------------------------------------------------------------------- */

#define SWIFT_TREE(gpus, sharding, training)                            \
    "{\"cluster\":{\"count\":" gpus "},\"model\":\"gpt2-xl\"," sharding \
    "\"training\":{\"activation_checkpointing\":\"full\"," training     \
    "\"sequence_length\":512,\"task\":\"causal-lm\"}}"
#define SWIFT_LORA(rank)                                                         \
    "\"lora\":{\"alpha\":32.0,\"base\":\"bf16\",\"dropout\":0.05,\"rank\":" rank \
    ",\"target_modules\":\"all-linear\"},"

static const struct reading swift[] = {
    /* one process, LoRA, 16 sequences a step: all by default */
    { "a.sh", "CUDA_VISIBLE_DEVICES=0 swift sft --model gpt2-xl --max_length 512\n",
      SWIFT_TREE(
          "1,\"gpus_per_instance\":1", "",
          "\"gradient_accumulation_steps\":16,\"gradient_clipping\":1.0," SWIFT_LORA(
              "8") "\"micro_batch_size\":1,\"precision\":\"amp_bf16\","),
      NULL },
    { "a.sh",
      "NNODES=2 NPROC_PER_NODE=8 swift sft --model gpt2-xl --tuner_type full \\\n"
      "  --torch_dtype bfloat16 --per_device_train_batch_size 4 --max_length 512 \\\n"
      "  --gradient_accumulation_steps 2 --deepspeed zero3 --attn_impl flash_attn \\\n"
      "  --packing true\n",
      SWIFT_TREE("2,\"gpus_per_instance\":8",
                 "\"parallelism\":{\"library\":\"deepspeed\",\"overlap\":false,"
                 "\"sharding\":{\"max_live_elements\":1000000000,"
                 "\"max_reuse_elements\":1000000000,\"strategy\":\"full\"}},",
                 "\"attention\":\"flash_attention_2\",\"gradient_accumulation_steps\":"
                 "2,\"gradient_clipping\":1.0,\"micro_batch_size\":4,\"precision\":"
                 "\"bf16\","),
      NULL },
    /* version 3's word, and weights that are trained in 16 bits */
    { "a.sh",
      "NPROC_PER_NODE=4 swift sft --model gpt2-xl --train_type full --max_length 512 "
      "--per_device_train_batch_size 8 --sequence_parallel_size 2\n",
      SWIFT_TREE("1,\"gpus_per_instance\":4", "\"parallelism\":{\"context\":2},",
                 "\"gradient_accumulation_steps\":1,\"gradient_clipping\":1.0,\"master_"
                 "weights\":false,"
                 "\"micro_batch_size\":8,\"precision\":\"bf16\","),
      NULL },
    { "a.sh",
      "NPROC_PER_NODE=8 swift pt --model gpt2-xl --tuner_type full --fsdp fsdp2 "
      "--gradient_checkpointing false --gradient_accumulation_steps 1 "
      "--max_length 512\n",
      SWIFT_TREE("1,\"gpus_per_instance\":8",
                 "\"parallelism\":{\"library\":\"fsdp\",\"sharding\":{\"strategy\":"
                 "\"full\"}},",
                 "\"gradient_accumulation_steps\":1,\"gradient_clipping\":1.0,\"micro_"
                 "batch_size\":1,"
                 "\"precision\":\"bf16\","),
      NULL },
    /* layers over several GPUs of one process */
    { "a.sh",
      "CUDA_VISIBLE_DEVICES=0,1 swift sft --model gpt2-xl --tuner_type full "
      "--gradient_accumulation_steps 1 --max_length 512\n",
      SWIFT_TREE("1", "",
                 "\"gradient_accumulation_steps\":1,\"gradient_clipping\":1.0,\"master_"
                 "weights\":false,"
                 "\"micro_batch_size\":1,\"precision\":\"bf16\","),
      "one process puts its layers on several GPUs" },
    { "swift.yaml",
      "model: gpt2-xl\ntuner_type: lora\nlora_rank: 16\nmax_length: 512\n"
      "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n",
      "{\"cluster\":{},\"model\":\"gpt2-xl\",\"training\":{\"activation_"
      "checkpointing\":\"full\",\"gradient_accumulation_steps\":4,\"gradient_"
      "clipping\":1.0," SWIFT_LORA(
          "16") "\"micro_batch_size\":2,\"precision\":\"amp_bf16\",\"sequence_"
                "length\":512,\"task\":\"causal-lm\"}}",
      NULL },
    { "a.sh", "swift rlhf --rlhf_type grpo --model gpt2-xl --max_length 512\n",
      SWIFT_TREE(
          "1,\"gpus_per_instance\":1", "",
          "\"gradient_accumulation_steps\":16,\"gradient_clipping\":1.0," SWIFT_LORA(
              "8") "\"micro_batch_size\":1,\"precision\":\"amp_bf16\","),
      "rlhf_type: grpo is not simulated" },
};

/* Documents ------------------------------------------------------------------------ */

#define FACTORY                                                                    \
    "model_name_or_path: gpt2-xl\nstage: sft\nfinetuning_type: full\n"             \
    "cutoff_len: 512\nper_device_train_batch_size: 2\nbf16: true\npacking: true\n" \
    "do_train: true\n"
#define FACTORY_TREE(sharding, precision)                                            \
    "{\"cluster\":{},\"model\":\"gpt2-xl\"," sharding                                \
    "\"training\":{\"activation_checkpointing\":\"full\",\"gradient_clipping\":1.0," \
    "\"micro_batch_size\":"                                                          \
    "2," precision "\"sequence_length\":512,\"task\":\"causal-lm\"}}"

/* LLaMA-Factory's programs before it had commands, and others with its words */
#define BASH                                                                 \
    "deepspeed --num_gpus 8 src/train_bash.py --do_train --finetuning_type " \
    "lora --model_name_or_path gpt2-xl --lora_target c_attn "                \
    "--per_device_train_batch_size 4 "
#define BASH_TREE(precision, length)                                                 \
    "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":\"gpt2-xl\","      \
    "\"training\":{\"activation_checkpointing\":\"full\",\"gradient_clipping\":1.0," \
    "\"lora\":{\"alpha\":"                                                           \
    "16.0,\"base\":\"" precision "\",\"rank\":8,\"target_modules\":["                \
    "\"c_attn\"]},\"micro_batch_size\":4,\"precision\":\"amp_" precision             \
    "\",\"sequence_length\":" length ",\"task\":\"causal-lm\"}}"

#define PREFERENCE(rest)                                \
    "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{" \
    "\"activation_checkpointing\":\"full\"," rest "}}"
#define AMP "\"precision\":\"amp_bf16\","

static const struct reading documents[] = {
    { "a.yml",
      "base_model: Qwen/Qwen3.5-27B\nsequence_len: 512\nmicro_batch_size: 1\n"
      "bf16: true\nunfrozen_parameters:\n  - model.language_model.*\n  - lm_head.*\n",
      "{\"cluster\":{},\"model\":\"Qwen/"
      "Qwen3.5-27B\",\"training\":{\"frozen\":[\"vision_"
      "tower\",\"projector\"],\"gradient_clipping\":1.0,\"master_weights\":false,"
      "\"micro_batch_size\":1,"
      "\"precision\":\"bf16\",\"sequence_length\":512}}",
      NULL },
    { "a.yaml",
      "model:\n  _component_: torchtune.models.llama3_2.llama3_2_1b\n"
      "tokenizer:\n  max_seq_len: null\ndataset:\n"
      "  _component_: torchtune.datasets.alpaca_dataset\n"
      "optimizer:\n  _component_: torch.optim.AdamW\nbatch_size: 4\ndtype: bf16\n",
      "{\"cluster\":{},\"model\":\"meta-llama/"
      "Llama-3.2-1B\",\"parallelism\":{\"library\":"
      "\"fsdp\",\"sharding\":{\"strategy\":\"full\"}},\"training\":{\"attention\":"
      "\"sdpa\","
      "\"framework\":\"torchtitan\",\"gradient_accumulation_steps\":1,\"gradient_"
      "dtype\":"
      "\"bf16\",\"master_weights\":false,\"micro_batch_size\":4,\"optimizer\":\"adam\","
      "\"precision\":\"bf16\",\"sequence_length\":512,\"task\":\"causal-lm\"}}",
      "alpaca_dataset's are of 512 tokens at most" },
    { "bash.sh", BASH "--stage sft --fp16\n", BASH_TREE("fp16", "1024"), NULL },
    { "bash.sh", BASH "--stage sft --cutoff_len 512\n", BASH_TREE("bf16", "512"),
      NULL },
    { "bash.sh",
      "my-train --stage rm --do_train --finetuning_type lora --model_name_or_path gpt2 "
      "--per_device_train_batch_size 1\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"activation_"
      "checkpointing\":\"full\",\"gradient_clipping\":1.0,"
      "\"lora\":{\"alpha\":16.0,\"base\":\"bf16\",\"rank\":8,"
      "\"target_modules\":\"all-linear\"},\"micro_batch_size\":1,\"precision\":"
      "\"amp_bf16\",\"sequence_length\":2048,\"task\":\"reward\"}}",
      "logits that the model makes next to its rewards" },
    { "own.sh",
      "my-cli sft --model_name_or_path gpt2 --per_device_train_batch_size 2 "
      "--model_max_length 512 --bf16 True\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":2,"
      "\"precision\":\"amp_bf16\",\"sequence_length\":512,\"task\":\"causal-lm\"}}",
      "my-cli: whether it starts a process for each GPU is not known" },
    { "own.sh",
      "my-cli dpo --model_name_or_path gpt2 --per_device_train_batch_size 2 "
      "--model_max_length 512\n",
      "{\"cluster\":{},\"model\":\"gpt2\",\"training\":{\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":2,"
      "\"sequence_length\":512,\"task\":\"dpo\"}}",
      NULL },
    /* preferences: a loss that is a method of its own, a second model next to adapters,
     * a file that one method's words name, what is computed before */
    { "orpo.yaml",
      "model_name_or_path: gpt2\nstage: dpo\npref_loss: orpo\ndo_train: true\n"
      "finetuning_type: full\nper_device_train_batch_size: 1\nbf16: true\n",
      PREFERENCE("\"gradient_clipping\":1.0,"
                 "\"micro_batch_size\":1," AMP
                 "\"sequence_length\":2048,\"task\":\"orpo\""),
      NULL },
    { "second.yaml",
      "base_model: gpt2\nrl: ipo\nrl_adapter_ref_model: true\nsequence_len: 512\n"
      "micro_batch_size: 2\nbf16: true\ngradient_checkpointing: true\n"
      "datasets: [{path: a}]\n",
      PREFERENCE(
          "\"gradient_clipping\":1.0,"
          "\"master_weights\":false,\"micro_batch_size\":2,\"precision\":\"bf16\","
          "\"reference_model\":\"separate\",\"sequence_length\":512,\"task\":\"dpo\""),
      NULL },
    { "kto.yaml",
      "model_name_or_path: gpt2\nbeta: 0.1\ndesirable_weight: 1.0\nmax_length: 512\n"
      "per_device_train_batch_size: 4\nbf16: true\n",
      PREFERENCE("\"gradient_clipping\":1.0,\"micro_batch_size\":4," AMP
                 "\"sequence_length\":512,\"task\":\"kto\""),
      NULL },
    { "before.sh",
      "trl dpo --model_name_or_path gpt2 --per_device_train_batch_size 4 "
      "--max_length 512 --precompute_ref_log_probs true\n",
      PREFERENCE("\"gradient_clipping\":1.0,\"micro_batch_size\":4," AMP
                 "\"reference_model\":\"precomputed\",\"sequence_length\":512,\"task\":"
                 "\"dpo\""),
      NULL },
    { "pairs.yaml",
      "model_name_or_path: gpt2\nbeta: 0.1\nmax_length: 512\n"
      "per_device_train_batch_size: 4\nbf16: true\n",
      PREFERENCE("\"gradient_clipping\":1.0,\"micro_batch_size\":4," AMP
                 "\"sequence_length\":512"),
      "by dpo, kto, orpo" },
    { "off.yaml",
      "model_name_or_path: gpt2-xl\nstage: sft\nfinetuning_type: full\n"
      "cutoff_len: 512\nbf16: true\n",
      "{\"cluster\":{},\"model\":\"gpt2-xl\",\"training\":{\"activation_"
      "checkpointing\":\"full\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":8,\"precision\":\"amp_bf16\","
      "\"sequence_length\":512}}",
      "do_train: without it nothing is trained" },
    { "off.yaml",
      "model_name_or_path: gpt2-xl\nstage: sft\nfinetuning_type: full\n"
      "cutoff_len: 512\nbf16: true\ndo_train: true\ntokenized_path: saves/a\n",
      "{\"cluster\":{},\"model\":\"gpt2-xl\",\"training\":{\"activation_"
      "checkpointing\":\"full\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":8,\"precision\":\"amp_bf16\","
      "\"sequence_length\":512}}",
      "tokenized_path: the run that writes it trains nothing" },
    { "on.yaml", FACTORY "tokenized_path: saves/a\n",
      FACTORY_TREE("", "\"precision\":\"amp_bf16\","), "it is taken to be there" },
    { "fp8.yaml", FACTORY "fsdp: full_shard auto_wrap\nfp8: true\nfp8_backend: te\n",
      FACTORY_TREE(FSDP("full"), "\"precision\":\"fp8\","), NULL },
    { "fp8.yaml", FACTORY "fsdp: full_shard auto_wrap\nfp8: true\n",
      FACTORY_TREE(FSDP("full"), "\"precision\":\"fp8_current\","),
      "torchao's scales of each row" },
    { "fp8.yaml", FACTORY "fp8: true\n", FACTORY_TREE("", ""),
      "with parameters in fp32 are not simulated" },
    /* a switch that is off refuses nothing */
    { "vision.yaml", FACTORY "freeze_language_model: false\n",
      FACTORY_TREE("", "\"precision\":\"amp_bf16\","), NULL },
    { "vision.yaml", FACTORY "flash_attn: fa2\n",
      "{\"cluster\":{},\"model\":\"gpt2-xl\",\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash_attention_2\",\"gradient_"
      "clipping\":1.0,"
      "\"micro_batch_"
      "size\":2,\"precision\":\"amp_bf16\",\"sequence_length\":512,\"task\":"
      "\"causal-lm\"}}",
      NULL },
    { "vision.yaml", FACTORY "freeze_language_model: true\n",
      FACTORY_TREE("", "\"precision\":\"amp_bf16\","), NULL },
};

static void test_accelerate(void)
{
    check_all(accelerate, COUNT(accelerate));
}

static void test_commands(void)
{
    check_all(commands, COUNT(commands));
}

static void test_documents(void)
{
    check_all(documents, COUNT(documents));
}

static void test_chat(void)
{
    check_all(chat, COUNT(chat));
}

/* llama-recipes' -------------------------------------------------------------------- */

#define RECIPES(more)                                                     \
    "torchrun --nnodes 1 --nproc_per_node 8 finetuning.py --enable_fsdp " \
    "--model_name meta-llama/Llama-2-7b-hf " more "\n"
#define RECIPES_TREE(sharding, training)                                          \
    "{\"cluster\":{\"count\":1,\"gpus_per_instance\":8},\"model\":\"llama2-7b\"," \
    "\"parallelism\":{\"library\":\"fsdp\",\"sharding\":{" sharding               \
    "}},\"training\":{\"activation_checkpointing\":\"full\"," training            \
    ",\"task\":\"causal-lm\"}}"

static const struct reading recipes[] = {
    { "a.sh", RECIPES("--pure_bf16 --use_fast_kernels"),
      RECIPES_TREE("\"strategy\":\"full\"",
                   "\"attention\":\"sdpa\",\"master_weights\":false,\"micro_batch_"
                   "size\":4,\"precision\":\"bf16\",\"sequence_length\":4096"),
      NULL },
    { "a.sh",
      RECIPES(
          "--use_peft --peft_method lora --lora_config.r 16 --batch_size_training 2 "
          "--context_length 2048 --fsdp_config.sharding_strategy SHARD_GRAD_OP"),
      RECIPES_TREE("\"strategy\":\"gradients\"",
                   "\"lora\":{\"alpha\":32.0,\"dropout\":0.05,\"rank\":16,\"target_"
                   "modules\":[\"q_proj\",\"v_proj\"]},\"micro_batch_size\":2,"
                   "\"precision\":\"bf16\",\"sequence_length\":2048"),
      NULL },
    { "a.sh", RECIPES("--use_peft --quantization 4bit --mixed_precision False"),
      RECIPES_TREE("\"strategy\":\"full\"",
                   "\"lora\":{\"alpha\":32.0,\"base\":\"nf4\",\"dropout\":0.05,"
                   "\"rank\":8,\"target_modules\":[\"q_proj\",\"v_proj\"]},"
                   "\"micro_batch_size\":4,\"sequence_length\":4096"),
      "the weights' type is that in which they are loaded" },
};

static void test_recipes(void)
{
    check_all(recipes, COUNT(recipes));
}

static void test_swift(void)
{
    check_all(swift, COUNT(swift));
}

static void test_programs(void)
{
    check_all(programs, COUNT(programs));
}

void test_readings_register(void)
{
    CU_pSuite s = CU_add_suite("readings", NULL, NULL);
    CU_add_test(s, "Accelerate's configurations", test_accelerate);
    CU_add_test(s, "the Trainer's commands", test_commands);
    CU_add_test(s, "DeepSpeed-Chat's commands", test_chat);
    CU_add_test(s, "ms-swift's commands", test_swift);
    CU_add_test(s, "llama-recipes' commands", test_recipes);
    CU_add_test(s, "programs' adapters", test_programs);
    CU_add_test(s, "documents", test_documents);
}
