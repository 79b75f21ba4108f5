/* Calls of a training program as rows: which part each is of, and what its arguments are
 * called in the rows of the Trainer, TRL and PEFT.
 *
 * transformers/training_args.py, modeling_utils.py (4.57), trl/trainer (0.24),
 * peft/tuners/lora/config.py and peft/utils/other.py (0.17), accelerate/accelerator.py
 * (1.15), lightning/pytorch/trainer (2.5), horovod/torch/optimizer.py (0.28), unsloth/models/loader.py (2025), colossalai/booster (0.5). */
#include "base/names.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

/* Rows ----------------------------------------------------------------------------- */

/* clang-format off */
const char *const user_script_calls[] = {
    "TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "DPOConfig", "KTOConfig", "ORPOConfig", "CPOConfig",
    "GRPOConfig", "PPOConfig", "RLOOConfig", "RewardConfig", "OnlineDPOConfig", "GKDConfig", "PRMConfig", "NashMDConfig", "XPOConfig",
    "UnslothTrainingArguments", "ORTTrainingArguments", "ORTSeq2SeqTrainingArguments", "*SFTConfig", "*DPOConfig", "SentenceTransformerTrainingArguments",
    "Trainer", "Seq2SeqTrainer", "SFTTrainer", "DPOTrainer", "KTOTrainer", "ORPOTrainer", "CPOTrainer", "GRPOTrainer",
    "PPOTrainer", "RLOOTrainer", "RewardTrainer", "OnlineDPOTrainer", "GKDTrainer", "PRMTrainer", "NashMDTrainer", "XPOTrainer",
    "UnslothTrainer", "ORTTrainer", "ORTSeq2SeqTrainer", "SentenceTransformerTrainer", "QuestionAnsweringTrainer",
    "from_pretrained", "from_config", "_from_config", "from_json_file", "LoraConfig", "BitsAndBytesConfig", "Mxfp4Config", "get_peft_model", "add_adapter",
    "prepare_model_for_kbit_training", "prepare_model_for_int8_training", "gradient_checkpointing_enable", "set_grad_checkpointing", "gradient_checkpointing_disable", "merge_and_unload", "unload", "set_training", "set_dataloader", "set_optimizer", "get_train_dataloader", "resize_token_embeddings",
    "Accelerator", "notebook_launcher", "model", "forward", "eval", "no_grad", "inference_mode", "tokenizer", "tok", "encode_plus", "batch_encode_plus", "apply_chat_template", "partial", "pack_dataset", "pad", "DataCollatorForSeq2Seq", "DataCollatorWithPadding", "DataCollatorForTokenClassification", "TextDataset", "LineByLineTextDataset", "LineByLineWithRefDataset", "TextDatasetForNextSentencePrediction",
    /* methods of PEFT that are no LoRA */
    "AdaLoraConfig", "IA3Config", "PromptTuningConfig", "PrefixTuningConfig", "PromptEncoderConfig", "AdaptionPromptConfig",
    "LoHaConfig", "LoKrConfig", "OFTConfig", "BOFTConfig", "VeraConfig", "FourierFTConfig", "LNTuningConfig", "XLoraConfig",
    "VBLoRAConfig", "HRAConfig", "BoneConfig", "MissConfig", "CPTConfig", "PolyConfig", "RandLoraConfig",
    "MultitaskPromptTuningConfig",
    /* configurations, and models that are made of them */
    "GPT2Config", "LlamaConfig", "MistralConfig", "MixtralConfig", "Qwen2Config", "Qwen3Config", "GemmaConfig", "PhiConfig", "GPTNeoXConfig",
    "GPTJConfig", "OPTConfig", "BloomConfig", "BertConfig", "RobertaConfig", "T5Config", "ViTConfig",
    "FalconConfig", "Phi3Config", "Gemma2Config", "GPTNeoConfig", "GPTBigCodeConfig", "Qwen3MoeConfig",
    "DistilBertConfig", "ElectraConfig", "XLMRobertaConfig", "CamembertConfig", "ModernBertConfig", "BartConfig",
    "GPT2LMHeadModel", "LlamaForCausalLM", "MistralForCausalLM", "MixtralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "GemmaForCausalLM",
    "PhiForCausalLM", "GPTNeoXForCausalLM", "GPTJForCausalLM", "OPTForCausalLM", "BloomForCausalLM", "BertForMaskedLM", "BertForPreTraining",
    "RobertaForMaskedLM", "T5ForConditionalGeneration", "ViTForImageClassification",
    "FalconForCausalLM", "Phi3ForCausalLM", "Gemma2ForCausalLM", "GPTNeoForCausalLM", "GPTBigCodeForCausalLM", "Qwen3MoeForCausalLM",
    "DistilBertForMaskedLM", "ElectraForMaskedLM", "XLMRobertaForMaskedLM", "CamembertForMaskedLM", "ModernBertForMaskedLM", "BartForConditionalGeneration",
    /* what changes kernels (user_script_kernels.c) */
    "set_default_dtype", "to_bettertransformer", "transform", "*apply_liger_kernel", "enable_flash_sdp", "enable_mem_efficient_sdp", "sdp_kernel",
    "use_deterministic_algorithms", "enable_full_determinism", "set_detect_anomaly", "detect_anomaly", "save_on_cpu", "set_per_process_memory_fraction",
    "randint", "empty_cache", "parallelize", "set_adapter", "fp8_autocast", "convert_to_float8_training",
    /* what edits a model (user_script_edits.c) */
    "layers", "h", "layer", "blocks", "lm_head", "embed_out", "classifier", "score", "resize_token_embeddings",
    "attn_implementation", "_attn_implementation", "set_attn_implementation",
    "exec", /* adapters of the program's own (user_script_frozen.c) */
    "*as_trainable", "*lora", "*LoRA",
    /* what replaces the model's attention */
    "*flash_att", "*xformers", "*replace_",
    /* loops of one's own */
    "set_float32_matmul_precision", "DataLoader", "StatefulDataLoader", "DataLoaderLite", "*oader", "get_batch", "get_batches", "AdamW", "Adam", "SGD", "Adafactor", "Lion", "AdamW8bit", "Adam8bit", "PagedAdamW8bit", "PagedAdamW32bit", "PagedAdamW", "PagedAdam", "PagedAdam8bit", "PagedAdam32bit", "AdamW32bit", "Adam32bit",
    "Lion8bit", "Lion32bit", "PagedLion", "PagedLion8bit", "PagedLion32bit", "AdEMAMix", "AdEMAMix8bit", "PagedAdEMAMix", "PagedAdEMAMix8bit", "create_optimizer",
    "FusedAdam", "FusedLAMB", "DeepSpeedCPUAdam", "*Muon", "DistAdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "RMSprop", "Lamb", "LAMB", "SOAP", "Shampoo", "SophiaG", "Sophia", "Prodigy", "AdamWScheduleFree", "GaLoreAdamW", "ZeroRedundancyOptimizer", "FullyShardedDataParallel", "FSDP", "fully_shard", "DistributedDataParallel", "DDP", "DataParallel", "autocast", "initialize",
    "apply_activation_checkpointing", "set_activation_checkpointing", "compile", "backward", "step", "clip_grad_norm_", "requires_grad", "requires_grad_", "weight", "compute_loss", "training_step", "logsigmoid", "LogSigmoid", "log", "PPO", "GRPO", "kl_div", "KLDivLoss", "generate", "half", "bfloat16", "float", "to", "type", "deepcopy",
    /* averages of the weights (user_script_averages.c) */
    "AveragedModel", "EMAModel", "ModelEma", "ModelEmaV2", "ModelEmaV3", "ModelEMA", "EMA", "ExponentialMovingAverage", "LitEma",
    "UNet2DModel", "UNet2DConditionModel", "Booster", "prepare_dataloader", "HybridAdam", "CPUAdam", "ZeroDDP", "GeminiDDP", "ZeroOptimizer", "ShardedModelV2", "convert_to_zero_v2",
    /* arguments that are changed (user_script_assigned.c) */
    "per_device_train_batch_size", "gradient_accumulation_steps", "gradient_checkpointing", "max_grad_norm", "bf16", "fp16", "optim", "max_steps",
    /* programs of TensorFlow (user_script_keras.c) */
    "to_tf_dataset", "prepare_tf_dataset", "batch", "fit", "apply_gradients", "AdamWeightDecay", "set_global_policy", "set_policy",
    "MirroredStrategy", "MultiWorkerMirroredStrategy", "ParameterServerStrategy", "TPUStrategy", "DistributedGradientTape",
    "get_dataloader", "make_torch_dataloader", "Fabric", "DistributedOptimizer", "register_comm_hook", "init_process_group", "reduce_scatter_tensor", "all_reduce", "remote", "RemoteExecutor", "snapshot_download",
    /* models of pictures (user_script_pictures.c) */
    "create_model", "get_model", "vit_b_16", "vit_b_32", "vit_l_16", "vit_l_32", "vit_h_14", "swin_t", "swin_s", "swin_b", "swin_v2_t",
    "swin_v2_s", "swin_v2_b", "maxvit_t", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "convnext_tiny", "convnext_small",
    "convnext_base", "convnext_large", "efficientnet_b0", "mobilenet_v2", "mobilenet_v3_large", "densenet121", "vgg16",
    /* what starts processes (user_script_starters.c) */
    "init_device_mesh", "wrap", "auto_wrap", "enable_wrap", "parallelize_module", "PipelineStage", "*PipelineModule", "load_model", "context_parallel", "*SequenceParallel", "ColumnParallelLinear", "apply_tensor_parallel", "PipelineParallel",
    "CustomTrainer", "TransformersTrainer", "create_job", "train", "evaluate", "predict", "ScalingConfig", "TorchDistributor", "DeepspeedTorchDistributor", "HorovodRunner", "spawn", NULL,
};
/* What a batch of one GPU is usually called. */
const char *const user_script_batches[] = {
    "per_device_train_batch_size", "per_device_batch_size", "micro_batch_size", "device_batch_size",
    "train_batch_size", "batch_size", "BATCH_SIZE", "mini_batch_size", "B", NULL,
};
/* And how long its sequences are, of what a loader is given. */
const char *const user_script_lengths[] = {
    "max_seq_len", "seq_len", "sequence_length", "seq_length", "max_seq_length", "block_size", "context_length",
    "context_len", "sequence_len", "max_length", "max_len", "ctx_len", "SEQ_LEN", "BLOCK_SIZE", "CONTEXT_LENGTH", "T", NULL,
};
/* The Trainer's rows that are no more than a guess of another program: a tokenizer is no
 * model, and this batch is one GPU's in some and that of all GPUs in others. */
const char *const user_script_guesses[] = { "tokenizer_name", "task_name", "train_batch_size", NULL };
/* Their arguments that are calls: a dictionary each. */
const char *const user_script_same[] = {
    "MixedPrecision", "MixedPrecisionPolicy", "CPUOffload", "CPUOffloadPolicy", "FullyShardedDataParallelPlugin", "DeepSpeedPlugin", "GradientAccumulationPlugin", "ParallelismConfig", "DataLoaderConfiguration", "DistributedDataParallelKwargs",
    "HybridParallelPlugin", "MoeHybridParallelPlugin", "LowLevelZeroPlugin", "GeminiPlugin", "TorchDDPPlugin", "TorchFSDPPlugin",
    "DDPStrategy", "DDPSpawnStrategy", "DDPPlugin", "FSDPStrategy", "DDPFullyShardedNativeStrategy", "DeepSpeedStrategy", "ModelParallelStrategy", NULL,
};

/* Modules of a network that a text builds (user_script_modules.c). */
const char *const user_script_modules[] = {
    "Linear", "Embedding", "ModuleList", "Sequential", "scaled_dot_product_attention", "tril", "triu", "generate_square_subsequent_mask",
    "*causal", "*Causal", "flash_attn_func", "flash_attn_qkvpacked_func", "flash_attn_kvpacked_func", "flash_attn_varlen_func",
    "flash_attn_varlen_qkvpacked_func", "flash_attn_unpadded_func", "flash_attn_unpadded_qkvpacked_func", "memory_efficient_attention", "Conv1d", "Conv2d", "LSTM", "GRU", "MultiheadAttention",
    "TransformerEncoder", "TransformerEncoderLayer", "TransformerDecoder", "TransformerDecoderLayer", "Transformer", "topk", "checkpoint",
    "checkpoint_sequential", "ModuleDict", "linear", NULL,
};

/* A function by the end of its path: the class before the dot, "*" for a beginning that is
 * any; "" for any. The first that fits. */
static const struct { const char *class, *function; enum user_script_part part; } functions[] = {
    { "", "FullyShardedDataParallel", SCRIPT_SHARDED }, { "", "FSDP", SCRIPT_SHARDED }, { "", "fully_shard", SCRIPT_SHARDED }, { "", "enable_wrap", SCRIPT_SHARDED },
    { "", "DistributedDataParallel", SCRIPT_REPLICATED }, { "", "DDP", SCRIPT_REPLICATED }, { "", "DataParallel", SCRIPT_SPREAD }, { "", "autocast", SCRIPT_AUTOCAST },
    { "deepspeed", "initialize", SCRIPT_ENGINE }, { "", "apply_activation_checkpointing", SCRIPT_RECOMPUTED }, { "", "set_activation_checkpointing", SCRIPT_RECOMPUTED }, { "torch", "compile", SCRIPT_COMPILED },
    { "torch", "set_float32_matmul_precision", SCRIPT_PRODUCTS },
    { "UNet*", "from_pretrained", SCRIPT_DIFFUSION }, { "*Transformer2DModel", "from_pretrained", SCRIPT_DIFFUSION }, { "AutoencoderKL*", "from_pretrained", SCRIPT_DIFFUSION },
    { "*DiffusionPipeline", "from_pretrained", SCRIPT_DIFFUSION }, { "", "UNet2DModel", SCRIPT_DIFFUSION }, { "", "UNet2DConditionModel", SCRIPT_DIFFUSION },
    { "", "ZeroDDP", SCRIPT_CHUNKED }, { "", "GeminiDDP", SCRIPT_CHUNKED }, { "", "ZeroOptimizer", SCRIPT_CHUNKED }, { "", "ShardedModelV2", SCRIPT_CHUNKED }, { "", "convert_to_zero_v2", SCRIPT_CHUNKED },
    { "colossalai", "initialize", SCRIPT_CHUNKED }, { "", "get_dataloader", SCRIPT_LOADER },
    { "torch", "DistributedOptimizer", SCRIPT_HOROVOD }, { "hvd", "DistributedOptimizer", SCRIPT_HOROVOD }, { "", "register_comm_hook", SCRIPT_HOOKED },
    { "", "init_process_group", SCRIPT_BACKEND },
    { "remote_function", "remote", SCRIPT_REMOTE }, { "", "RemoteExecutor", SCRIPT_REMOTE }, { "", "snapshot_download", SCRIPT_DOWNLOADED },
    { "", "Booster", SCRIPT_BOOSTER }, { "", "prepare_dataloader", SCRIPT_LOADER }, { "", "HybridAdam", SCRIPT_OPTIMIZER }, { "", "CPUAdam", SCRIPT_OPTIMIZER },
    { "model", "half", SCRIPT_CAST }, { "model", "bfloat16", SCRIPT_CAST }, { "model", "to", SCRIPT_CAST }, { "model", "float", SCRIPT_CAST }, { "model", "type", SCRIPT_CAST }, { "net", "float", SCRIPT_CAST }, { "net", "type", SCRIPT_CAST }, { "net", "half", SCRIPT_CAST }, { "net", "bfloat16", SCRIPT_CAST }, { "net", "to", SCRIPT_CAST },
    { "", "compute_loss", SCRIPT_LOSS }, { "", "training_step", SCRIPT_LOSS }, { "", "logsigmoid", SCRIPT_COMPARED }, { "", "LogSigmoid", SCRIPT_COMPARED }, { "torch", "log", SCRIPT_COMPARED }, { "", "PPO", SCRIPT_SAMPLED }, { "", "GRPO", SCRIPT_SAMPLED }, { "", "kl_div", SCRIPT_DIVERGED }, { "", "KLDivLoss", SCRIPT_DIVERGED }, { "", "generate", SCRIPT_SAMPLED }, { "PeftModel*", "from_pretrained", SCRIPT_CONTINUED }, { "", "requires_grad*", SCRIPT_FROZEN }, { "", "backward", SCRIPT_BACKWARD }, { "*opt*", "step", SCRIPT_STEP }, { "*scaler", "step", SCRIPT_STEP }, { "", "clip_grad_norm_", SCRIPT_CLIPPED },
    { "", "DataLoader", SCRIPT_LOADER }, { "", "StatefulDataLoader", SCRIPT_LOADER }, { "", "make_torch_dataloader", SCRIPT_LOADER },
    { "", "to_tf_dataset", SCRIPT_LOADER }, { "", "prepare_tf_dataset", SCRIPT_LOADER }, { "", "fit", SCRIPT_FITTED }, { "", "apply_gradients", SCRIPT_FITTED }, { "", "AdamWeightDecay", SCRIPT_OPTIMIZER },
    { "", "DataLoaderLite", SCRIPT_LOADER }, /* of build-nanogpt's copies: B sequences of T */
    { "", "AdamW", SCRIPT_OPTIMIZER }, { "", "Adam", SCRIPT_OPTIMIZER }, { "", "SGD", SCRIPT_OPTIMIZER }, { "", "Adafactor", SCRIPT_OPTIMIZER },
    { "", "*Lion*", SCRIPT_OPTIMIZER }, { "", "*8bit", SCRIPT_OPTIMIZER }, { "", "*32bit", SCRIPT_OPTIMIZER }, { "", "PagedAdam*", SCRIPT_OPTIMIZER }, { "", "*AdEMAMix*", SCRIPT_OPTIMIZER }, { "", "create_optimizer", SCRIPT_OWN_OPTIMIZER }, { "", "FusedAdam", SCRIPT_OPTIMIZER },
    { "", "*Muon*", SCRIPT_OPTIMIZER }, { "", "DistAdamW", SCRIPT_OPTIMIZER }, { "", "Adamax", SCRIPT_OPTIMIZER }, { "", "NAdam", SCRIPT_OPTIMIZER }, { "", "RAdam", SCRIPT_OPTIMIZER },
    { "", "Adagrad", SCRIPT_OPTIMIZER }, { "", "RMSprop", SCRIPT_OPTIMIZER }, { "", "Lamb", SCRIPT_OPTIMIZER }, { "", "LAMB", SCRIPT_OPTIMIZER }, { "", "SOAP", SCRIPT_OPTIMIZER },
    { "", "Shampoo", SCRIPT_OPTIMIZER }, { "", "Sophia*", SCRIPT_OPTIMIZER }, { "", "Prodigy", SCRIPT_OPTIMIZER }, { "", "AdamWScheduleFree", SCRIPT_OPTIMIZER }, { "", "GaLoreAdamW", SCRIPT_OPTIMIZER },
    { "", "ZeroRedundancyOptimizer", SCRIPT_OPTIMIZER }, { "", "FusedLAMB", SCRIPT_OPTIMIZER }, { "", "DeepSpeedCPUAdam", SCRIPT_OPTIMIZER },
    { "*Config", "from_pretrained", SCRIPT_CONFIGURATION }, { "*Config", "from_json_file", SCRIPT_CONFIGURATION }, { "*For*", "from_config", SCRIPT_MODEL }, { "AutoModel*", "from_config", SCRIPT_MODEL }, { "*For*", "_from_config", SCRIPT_MODEL }, { "*LMHeadModel", "_from_config", SCRIPT_MODEL },
    { "", "*LMHeadModel", SCRIPT_MODEL }, { "", "*ForCausalLM", SCRIPT_MODEL }, { "", "*ForMaskedLM", SCRIPT_MODEL }, { "", "*ForPreTraining", SCRIPT_MODEL },
    { "", "*ForConditionalGeneration", SCRIPT_MODEL }, { "", "*ForImageClassification", SCRIPT_MODEL },
    { "", "*TrainingArguments", SCRIPT_ARGUMENTS }, { "", "LoraConfig", SCRIPT_ADAPTERS },
    { "", "BitsAndBytesConfig", SCRIPT_QUANTISATION }, { "", "Mxfp4Config", SCRIPT_QUANTISATION },
    { "", "AdaLoraConfig", SCRIPT_METHOD }, { "", "IA3Config", SCRIPT_METHOD }, { "", "PromptTuningConfig", SCRIPT_METHOD }, { "", "PromptEncoderConfig", SCRIPT_METHOD },
    { "", "PrefixTuningConfig", SCRIPT_METHOD }, { "", "AdaptionPromptConfig", SCRIPT_METHOD }, { "", "LoHaConfig", SCRIPT_METHOD }, { "", "LoKrConfig", SCRIPT_METHOD },
    { "", "OFTConfig", SCRIPT_METHOD }, { "", "BOFTConfig", SCRIPT_METHOD }, { "", "VeraConfig", SCRIPT_METHOD },
    { "", "FourierFTConfig", SCRIPT_METHOD }, { "", "LNTuningConfig", SCRIPT_METHOD }, { "", "XLoraConfig", SCRIPT_METHOD }, { "", "RandLoraConfig", SCRIPT_METHOD },
    { "", "VBLoRAConfig", SCRIPT_METHOD }, { "", "HRAConfig", SCRIPT_METHOD }, { "", "BoneConfig", SCRIPT_METHOD },
    { "", "MissConfig", SCRIPT_METHOD }, { "", "CPTConfig", SCRIPT_METHOD }, { "", "PolyConfig", SCRIPT_METHOD },
    { "", "MultitaskPromptTuningConfig", SCRIPT_METHOD }, { "", "*Config", SCRIPT_ARGUMENTS },
    { "", "*Trainer", SCRIPT_TRAINER },
    { "AutoModelFor*", "from_pretrained", SCRIPT_MODEL }, { "*For*", "from_pretrained", SCRIPT_MODEL },
    { "*LMHeadModel", "from_pretrained", SCRIPT_MODEL }, { "Fast*Model", "from_pretrained", SCRIPT_MODEL },
    { "Fast*Model", "get_peft_model", SCRIPT_ADAPTERS }, { "", "get_peft_model", SCRIPT_WRAPPED }, { "", "add_adapter", SCRIPT_WRAPPED },
    { "", "merge_and_unload", SCRIPT_MERGED }, { "", "unload", SCRIPT_MERGED },
    { "", "prepare_model_for_*", SCRIPT_PREPARED }, { "", "gradient_checkpointing_enable", SCRIPT_CHECKPOINTED }, { "", "set_grad_checkpointing", SCRIPT_CHECKPOINTED }, { "", "gradient_checkpointing_disable", SCRIPT_UNCHECKPOINTED },
    { "", "Accelerator", SCRIPT_ACCELERATOR },
    { "", "set_training", SCRIPT_SET_TRAINING }, { "", "set_dataloader", SCRIPT_SET_LOADER }, { "", "set_optimizer", SCRIPT_SET_OPTIMIZER }, { "", "get_train_dataloader", SCRIPT_OWN_LOADER },
    { "", "replace_*attn", SCRIPT_ATTENDS }, { "", "replace_*attention", SCRIPT_ATTENDS }, { "", "replace_*flash", SCRIPT_ATTENDS }, { "", "replace_*xformers", SCRIPT_ATTENDS },
    { "", "add_flash*", SCRIPT_ATTENDS }, { "", "apply_flash*", SCRIPT_ATTENDS }, { "", "enable_flash_att*", SCRIPT_ATTENDS }, { "", "use_flash_att*", SCRIPT_ATTENDS },
    { "", "patch_*flash_attn", SCRIPT_ATTENDS }, { "", "patch_*flash_attention", SCRIPT_ATTENDS }, { "", "convert_*flash_attn", SCRIPT_ATTENDS }, { "", "convert_*flash_attention", SCRIPT_ATTENDS },
    { "*Model", "from_pretrained", SCRIPT_BODY }, { "whisper", "load_model", SCRIPT_MODEL },
    { "", "*oader", SCRIPT_LOADER }, { "", "*oader_v1", SCRIPT_LOADER }, { "", "*data_loader_*", SCRIPT_LOADER }, { "", "*dataloader_*", SCRIPT_LOADER }, { "", "get_batch", SCRIPT_LOADER }, { "", "get_batches", SCRIPT_LOADER }, /* of the program's own */
    { "", "tokenizer", SCRIPT_TOKENISED }, { "", "tok", SCRIPT_TOKENISED }, { "", "*encode_plus", SCRIPT_TOKENISED }, { "", "apply_chat_template", SCRIPT_TOKENISED },
    { "*tokenizer", "pad", SCRIPT_PADDED }, { "tok", "pad", SCRIPT_PADDED }, { "", "DataCollator*", SCRIPT_PADDED },
};

/* An argument of a part, "*" any other, and its name in the rows: NULL its own, "" none, of
 * "lora_*" its own replaces the star. What no row has is none. */
static const struct word { enum user_script_part part; const char *argument, *key; } words[] = {
    { SCRIPT_ARGUMENTS, "0", "output_dir" }, { SCRIPT_ARGUMENTS, "*", NULL },
    { SCRIPT_TRAINER, "max_seq_length", NULL }, { SCRIPT_TRAINER, "packing", NULL }, { SCRIPT_TRAINER, "beta", NULL },
    { SCRIPT_TRAINER, "max_length", NULL }, { SCRIPT_TRAINER, "neftune_noise_alpha", NULL },
    { SCRIPT_TRAINER, "dataset_num_proc", NULL }, { SCRIPT_TRAINER, "force_use_ref_model", NULL },
    { SCRIPT_MODEL, "0", "model_name_or_path" }, { SCRIPT_MODEL, "pretrained_model_name_or_path", "model_name_or_path" },
    { SCRIPT_MODEL, "model_name", "model_name_or_path" }, { SCRIPT_MODEL, "torch_dtype", NULL }, { SCRIPT_MODEL, "dtype", NULL },
    { SCRIPT_MODEL, "attn_implementation", NULL }, { SCRIPT_MODEL, "_attn_implementation", "attn_implementation" }, { SCRIPT_MODEL, "use_flash_attention_2", NULL },
    { SCRIPT_MODEL, "max_seq_length", NULL }, { SCRIPT_MODEL, "load_in_4bit", NULL }, { SCRIPT_MODEL, "load_in_8bit", NULL },
    { SCRIPT_MODEL, "tp_plan", NULL }, { SCRIPT_MODEL, "device", "" }, { SCRIPT_MODEL, "download_root", "" }, { SCRIPT_MODEL, "gradient_checkpointing", NULL }, { SCRIPT_MODEL, "use_gradient_checkpointing", "" }, { SCRIPT_MODEL, "float32_mixed_precision", "" },
    { SCRIPT_ADAPTERS, "r", "lora_r" }, { SCRIPT_ADAPTERS, "model", "" }, { SCRIPT_ADAPTERS, "0", "" },
    { SCRIPT_ADAPTERS, "finetune_vision_layers", NULL }, { SCRIPT_ADAPTERS, "finetune_audio_layers", NULL }, { SCRIPT_ADAPTERS, "finetune_*", "" },
    { SCRIPT_ADAPTERS, "temporary_location", "" }, { SCRIPT_ADAPTERS, "ensure_weight_tying", "" }, { SCRIPT_ADAPTERS, "loftq_config", "" },
    { SCRIPT_ADAPTERS, "lora_alpha", NULL }, { SCRIPT_ADAPTERS, "lora_dropout", NULL },
    { SCRIPT_ADAPTERS, "use_rslora", NULL }, { SCRIPT_ADAPTERS, "use_dora", NULL },
    { SCRIPT_ADAPTERS, "use_gradient_checkpointing", NULL }, { SCRIPT_ADAPTERS, "max_seq_length", NULL },
    { SCRIPT_ADAPTERS, "random_state", "" }, { SCRIPT_ADAPTERS, "inference_mode", "" }, { SCRIPT_ADAPTERS, "*", "lora_*" },
    { SCRIPT_QUANTISATION, "*", NULL },
    { SCRIPT_SET_TRAINING, "batch_size", "per_device_train_batch_size" }, { SCRIPT_SET_TRAINING, "1", "per_device_train_batch_size" }, { SCRIPT_SET_TRAINING, "num_epochs", "num_train_epochs" },
    { SCRIPT_SET_TRAINING, "max_steps", NULL }, { SCRIPT_SET_TRAINING, "gradient_accumulation_steps", NULL }, { SCRIPT_SET_TRAINING, "gradient_checkpointing", NULL },
    { SCRIPT_SET_LOADER, "train_batch_size", "per_device_train_batch_size" }, { SCRIPT_SET_LOADER, "0", "per_device_train_batch_size" },
    { SCRIPT_SET_OPTIMIZER, "name", "optim" }, { SCRIPT_SET_OPTIMIZER, "0", "optim" },
    { SCRIPT_PREPARED, "use_gradient_checkpointing", NULL },
    { SCRIPT_ACCELERATOR, "gradient_accumulation_steps", NULL }, { SCRIPT_ACCELERATOR, "parallelism_config", NULL },
    { SCRIPT_LOADER, "batch_size", "per_device_train_batch_size" }, { SCRIPT_LOADER, "1", "per_device_train_batch_size" },
    { SCRIPT_LOADER, "B", "per_device_train_batch_size" }, { SCRIPT_LOADER, "T", "block_size" },
    { SCRIPT_LOADER, "num_workers", "dataloader_num_workers" },
    { SCRIPT_ENGINE, "config", "deepspeed" }, { SCRIPT_ENGINE, "config_params", "deepspeed" },
    { SCRIPT_CONFIGURATION, "attn_implementation", NULL }, { SCRIPT_CONFIGURATION, "_attn_implementation", "attn_implementation" },
    { SCRIPT_LIGHTNING, "accumulate_grad_batches", "gradient_accumulation_steps" }, { SCRIPT_LIGHTNING, "gradient_clip_val", "max_grad_norm" },
    { SCRIPT_LIGHTNING, "max_steps", NULL }, { SCRIPT_LIGHTNING, "max_epochs", "num_train_epochs" },
    { SCRIPT_BACKEND, "backend", "ddp_backend" }, { SCRIPT_BACKEND, "0", "ddp_backend" },
    { SCRIPT_HOROVOD, "backward_passes_per_step", "gradient_accumulation_steps" },
    { SCRIPT_CLIPPED, "1", "max_grad_norm" }, { SCRIPT_CLIPPED, "max_norm", "max_grad_norm" },
};
/* clang-format on */

/* One "*" represents anything. */
static bool fits(const char *pattern, const char *word, size_t n)
{
    const char *star = strchr(pattern, '*');
    size_t m = strlen(pattern), head = star ? (size_t)(star - pattern) : m;
    size_t tail = star ? strlen(star + 1) : 0;
    const char *second = star ? strchr(star + 1, '*') : NULL;
    if (second && !head) { /* "*For*" */
        for (size_t i = 0; i + tail - 1 <= n; i++)
            if (strncmp(word + i, star + 1, tail - 1) == 0)
                return true;
        return false;
    }
    return (star ? n >= head + tail : n == m) && strncmp(pattern, word, head) == 0 &&
           strncmp(star ? star + 1 : "", word + n - tail, tail) == 0;
}

static bool begins(const char *const *packages, const char *function)
{
    for (; *packages; packages++)
        if (strncmp(function, *packages, strlen(*packages)) == 0)
            return true;
    return false;
}

/* Trainer(...) and Fabric(...) of Lightning's packages. */
static bool is_lightning(const char *function)
{
    static const char *const packages[] = { "pytorch_lightning.", "lightning.",
                                            "lightning_fabric.", NULL };
    const char *last = python_last_part(function);
    return begins(packages, function) &&
           (strcmp(last, "Trainer") == 0 || strcmp(last, "Fabric") == 0);
}

/* A Trainer of a package that is not of Hugging Face's. */
static bool is_foreign(const char *function)
{
    size_t n = strlen(function);
    if (strncmp(function, "colossalai.", 11) == 0)
        return n > 7 && strcmp(function + n - 7, "Trainer") == 0;
    static const char *const packages[] = {
        "pytorch_lightning.",
        "lightning.",
        "composer.",
        "fairseq.",
        "ignite.",
        "mlx_tune.",
        "mlx_lm.",
        "catalyst.",
        "torchtnt.",
        "nemo.",
        NULL,
    };
    /* SMP's wrappers, which its dictionary says more of */
    static const char *const wrappers[] = { "smdistributed.modelparallel.", NULL };
    return begins(packages, function) ||
           (begins(wrappers, function) &&
            strncmp(python_last_part(function), "Distributed", 11) == 0);
}

/* A configuration that is no trainer's arguments: TransformerConfig(...) of Megatron's. */
static bool is_other_config(enum user_script_part part, const char *last)
{
    bool derived = names_ends(last, "SFTConfig") || names_ends(last, "DPOConfig");
    return part == SCRIPT_ARGUMENTS && names_ends(last, "Config") && !derived &&
           !names_listed(user_script_calls, last);
}

/* torch.log(torch.sigmoid(a - b)); of anything else a logarithm compares nothing. */
static bool is_other_log(enum user_script_part part, const struct python_call *c)
{
    const struct value_item *of = value_get(c->arguments, "0");
    const char *why =
        of && of->value->kind == VALUE_UNKNOWN && of->value->why ? of->value->why : "";
    return part == SCRIPT_COMPARED &&
           strcmp(python_last_part(c->function), "log") == 0 &&
           !strstr(why, "sigmoid(");
}

/* A method of one's own that hands on to what it holds: who calls it counts. */
static bool is_handed_on(enum user_script_part part, const struct python_call *c)
{
    const char *last = python_last_part(c->function);
    bool any = part == SCRIPT_CHECKPOINTED || part == SCRIPT_UNCHECKPOINTED ||
               strcmp(last, "add_adapter") == 0;
    return any && c->within && strcmp(c->within, last) == 0;
}

/* A function that is defined, of which it counts that it is called: it has no arguments,
 * and gave nothing. Of a trainer's class some count as they are. */
static bool is_defined(enum user_script_part part, const struct python_call *c)
{
    bool own = part == SCRIPT_LOSS || part == SCRIPT_OWN_LOADER ||
               part == SCRIPT_OWN_OPTIMIZER;
    return !own && !c->result && !c->target && c->arguments->n == 0 &&
           !c->arguments->gap && !strchr(c->function, '.');
}

/* Packages whose configurations are called as transformers' are, and have other members. */
static const char *const own_configurations[] = {
    "fms.", "fms_extras.", "megatron.", "fairseq.", "nemo.", NULL,
};

/* Whether a configuration, or a model that is given one, is of a class of the text's own
 * that is called as one of transformers' and calls its width otherwise:
 * LlamaConfig(d_model=768). */
static bool has_own_members(const struct python_call *c)
{
    static const struct {
        const char *class, *width;
    } others[] = { { "GPT2", "n_embd" },
                   { "GPTJ", "n_embd" },
                   { "T5", "d_model" },
                   { "", "hidden_size" } };
    size_t i = 0;
    while (!strstr(c->function, others[i].class))
        i++;
    const struct value *config = user_script_given(c, "config", "0");
    bool usual =
        value_get(c->arguments, others[i].width) ||
        (config && config->kind == VALUE_DICT && value_get(config, others[i].width)) ||
        (config && config->kind == VALUE_UNKNOWN); /* asked for then */
    return c->own && c->arguments->n > 0 && !c->arguments->gap && !usual;
}

enum user_script_part user_script_part_of(const struct python_call *c)
{
    const char *last = python_last_part(c->function), *from = c->function;
    if (is_lightning(c->function))
        return SCRIPT_LIGHTNING;
    if (is_foreign(c->function))
        return SCRIPT_PARTS;
    if (user_script_starts(c))
        return SCRIPT_STARTED;
    if (user_script_is_picture(c->function))
        return SCRIPT_PICTURES;
    size_t n = last > from ? (size_t)(last - from) - 1 : 0;
    if (names_listed(user_script_configurations, last))
        return has_own_members(c) || begins(own_configurations, c->function)
                   ? SCRIPT_PARTS
                   : SCRIPT_CONFIGURATION;
    for (const char *s = c->function; s < last; s++)
        from = *s == '.' && s + 1 < last ? s + 1 : from;
    n -= n ? (size_t)(from - c->function) : 0;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (fits(functions[i].function, last, strlen(last)) &&
            (!functions[i].class[0] || fits(functions[i].class, from, n)))
            return is_other_config(functions[i].part, last) ||
                           is_other_log(functions[i].part, c) ||
                           is_handed_on(functions[i].part, c) ||
                           is_defined(functions[i].part, c) ||
                           (functions[i].part == SCRIPT_MODEL && has_own_members(c))
                       ? SCRIPT_PARTS
                       : functions[i].part;
    return SCRIPT_PARTS;
}

/* Whether a class is imported of another package than those that have such trainers. */
static bool is_of_others(const struct python_call *c)
{
    static const char *const libraries[] = {
        "transformers",          "trl",      "unsloth", "optimum", "peft",
        "sentence_transformers", "adapters", "setfit",  NULL,
    };
    size_t n = strcspn(c->function, ".");
    bool other = c->function[n] != '\0';
    for (const char *const *l = libraries; other && *l; l++)
        other = strlen(*l) != n || strncmp(*l, c->function, n) != 0;
    return other;
}

const struct python_call *user_script_own_trainer(const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_TRAINER],
                             *args = g->parts[SCRIPT_ARGUMENTS];
    if (!c && args && names_ends(args->function, "Config")) /* of such a trainer */
        c = args;
    bool own = c && is_of_others(c) && (!args || is_of_others(args)) &&
               !value_get(g->words, "per_device_train_batch_size");
    return own ? c : NULL;
}

static const struct word *word_of(enum user_script_part part, const char *argument)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i].part == part &&
            fits(words[i].argument, argument, strlen(argument)))
            return &words[i];
    return NULL;
}

bool user_script_reads(enum user_script_part part, const char *argument)
{
    const struct word *w = word_of(part, argument);
    return w && (!w->key || w->key[0] || w->argument[0] != '*');
}

const char *user_script_word(struct arena *arena, enum user_script_part part,
                             const char *argument)
{
    const struct word *w = word_of(part, argument);
    const char *key = w ? w->key : "";
    size_t n = key ? strlen(key) : 0;
    if (!key)
        return argument;
    return n && key[n - 1] == '*'
               ? arena_printf(arena, "%.*s%s", (int)n - 1, key, argument)
               : key;
}
