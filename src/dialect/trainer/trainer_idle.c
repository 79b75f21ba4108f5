/* The Trainer's arguments that a step makes nothing of, and those that are not simulated. */
#include "dialect/trainer/trainer.h"

/* clang-format off */
/* Arguments of training (transformers/training_args.py), of its example scripts and of
 * TRL's and PEFT's, by what a step makes of them. Scripts have others of their own. */
const struct dialect_option trainer_idle_rows[] = {
    ROW_IDLE("config"), ROW_IDLE("tokenizer_name_or_path"), ROW_IDLE("processor_name_or_path"),
    ROW_IDLE("output_dir"), ROW_IDLE("overwrite_*"), ROW_IDLE("do_*"), ROW_IDLE("seed"), ROW_IDLE("data_seed"),
    ROW_IDLE("learning_rate"), ROW_IDLE("lr_*"), ROW_IDLE("warmup_*"), ROW_IDLE("weight_decay"), ROW_IDLE("adam_*"),
    ROW_IDLE("logging_*"), ROW_IDLE("log_*"), ROW_IDLE("report_to"), ROW_IDLE("run_name"), ROW_IDLE("disable_tqdm"),
    ROW_IDLE("evaluation_strategy"), ROW_IDLE("eval_*"), ROW_IDLE("per_device_eval_batch_size"), ROW_IDLE("save_*"),
    ROW_IDLE("load_best_model_at_end"), ROW_IDLE("metric_for_best_model"), ROW_IDLE("greater_is_better"),
    ROW_IDLE("push_to_hub"), ROW_IDLE("hub_*"), ROW_IDLE("resume_from_checkpoint"), ROW_IDLE("train_file"),
    ROW_IDLE("validation_*"), ROW_IDLE("test_file"), ROW_IDLE("cache_dir"), ROW_IDLE("trust_remote_code"),
    ROW_IDLE("remove_unused_columns"), ROW_IDLE("label_*"), ROW_IDLE("ddp_timeout"),
    ROW_IDLE("ignore_data_skip"), ROW_IDLE("predict_with_generate"), ROW_IDLE("source_lang"), ROW_IDLE("target_lang"), ROW_IDLE("source_prefix"), ROW_IDLE("generation_*"), ROW_IDLE("preprocessing_num_workers"), ROW_IDLE("gradient_checkpointing_kwargs"), ROW_IDLE("fp16_opt_level"),
    ROW_IDLE("half_precision_backend"), ROW_IDLE("fsdp_transformer_layer_cls_to_wrap"), ROW_IDLE("fsdp_min_num_params"), ROW_IDLE("dataset*"), ROW_IDLE("chat_template*"),
    ROW_IDLE("model_revision"), ROW_IDLE("use_fast*"), ROW_IDLE("log_level*"), ROW_IDLE("eos_token"),
    ROW_IDLE("pad_token"), ROW_IDLE("data_path"), ROW_IDLE("data_*"), ROW_IDLE("max_eval_samples"), ROW_IDLE("assistant_only_loss"),
    ROW_IDLE("average_tokens_across_devices"), ROW_IDLE("include_*"), ROW_IDLE("packing_strategy"), ROW_IDLE("dataloader_*"),
    ROW_IDLE("prediction_loss_only"), ROW_IDLE("neftune_noise_alpha"), ROW_IDLE("skip_memory_metrics"),
    ROW_IDLE("project"), ROW_IDLE("wandb_*"), ROW_IDLE("token"), ROW_IDLE("use_auth_token"), ROW_IDLE("streaming"),
    /* what scripts of SageMaker's jobs call their folders, data, rates and rules of ending */
    ROW_IDLE("lr"), ROW_IDLE("warmup"), ROW_IDLE("checkpoint_dir"), ROW_IDLE("checkpoints"), ROW_IDLE("checkpoint_path"), ROW_IDLE("model_dir"), ROW_IDLE("train_dir"),
    ROW_IDLE("test_dir"), ROW_IDLE("training_dir"), ROW_IDLE("train_data*"), ROW_IDLE("train_dataset*"), ROW_IDLE("val_*"), ROW_IDLE("test_data*"), ROW_IDLE("sagemaker_*"),
    ROW_IDLE("s3_*"), ROW_IDLE("region"), ROW_IDLE("num_labels"), ROW_IDLE("early_stopping*"), ROW_IDLE("hf_token"), ROW_IDLE("huggingface_token"), ROW_IDLE("mlflow_*"),
    ROW_IDLE("experiment_name"), ROW_IDLE("user_id"), ROW_IDLE("random_state"), ROW_IDLE("beta1"), ROW_IDLE("beta2"), ROW_IDLE("optimizer_momentum"), ROW_IDLE("momentum"),
    ROW_IDLE("train"), ROW_IDLE("validation"), ROW_IDLE("test"), ROW_IDLE("text_column*"), ROW_IDLE("tokenizer_name"), ROW_IDLE("tokenizer_id"), ROW_IDLE("dropout"),
    ROW_IDLE("doc_stride"), ROW_IDLE("version"), ROW_IDLE("center_rewards_coefficient"),
    ROW_END,
};
#define REFUSED(NAME, WHY) ROW(NAME, NULL, .class = DIALECT_REFUSED, .why = WHY)
#define ROLLOUTS "training on answers that the model generates (PPO, GRPO, RLOO) is not simulated (supervised fine-tuning is)"
#define COMPARED(NAME) ROW(NAME, "/training/task", .class = DIALECT_REFUSED, .value = "causal-lm", .why = "answers are compared, by a method that is not known: dpo, kto, orpo, simpo or cpo")
#define FROZEN_WHY "parts before a frozen language model are trained, which is not simulated"
#define FROZEN(NAME) ROW(NAME, NULL, .class = DIALECT_REFUSED, .why = FROZEN_WHY)
#define PAIRS(NAME) ROW(NAME, NULL, .class = DIALECT_REFUSED, .why = "contrastive training on queries and passages is not simulated (pre-training and supervised fine-tuning are)")
#define CPUS "the job computes on CPUs, which are not simulated"
#define CPU(NAME) ROW(NAME, NULL, .class = DIALECT_REFUSED, .kind = DIALECT_SWITCH, .why = CPUS)
#define PREFIX(NAME) ROW(NAME, NULL, .class = DIALECT_REFUSED, .why = "prefixes or prompts are trained before a frozen model, which is not simulated (LoRA and QLoRA are, and full training)")
const struct dialect_option trainer_unsimulated_rows[] = {
    ROW_UNSIMULATED("torch_compile*"),
    ROW_UNSIMULATED("auto_find_batch_size"), ROW_UNSIMULATED("group_by_length"), ROW_UNSIMULATED("packing"),
    ROW_UNSIMULATED("padding_free"), ROW_UNSIMULATED("sharded_ddp"), ROW_UNSIMULATED("use_ipex"),
    ROW_UNSIMULATED("torch_empty_cache_steps"), ROW_UNSIMULATED("ddp_find_unused_parameters"), ROW_UNSIMULATED("activation_offloading"), ROW_UNSIMULATED("bf16_full_eval"), ROW_UNSIMULATED("accelerator_config"), ROW_UNSIMULATED("jit_mode_eval"),
    ROW_UNSIMULATED("freeze_*"), ROW_UNSIMULATED("tune_*"), ROW_UNSIMULATED("finetune_vision_layers"), ROW_UNSIMULATED("finetune_audio_layers"),
    FROZEN("freeze_backbone"), FROZEN("freeze_model"),
    PREFIX("pre_seq_len"), PREFIX("num_virtual_tokens"), PREFIX("num_prefix_tokens"), PREFIX("use_prefix"), PREFIX("use_ptuning"),
    PAIRS("query_max_len"), PAIRS("passage_max_len"), PAIRS("train_group_size"), PAIRS("negatives_cross_device"),
    ROW_UNSIMULATED("sequence_parallel_mode"), ROW_UNSIMULATED("fix_sampler"), ROW_UNSIMULATED("unfreeze_*"),
    /* TRL's of other methods, which scripts name alike */
    CPU("use_cpu"), CPU("no_cuda"),
    REFUSED("num_generations", ROLLOUTS), COMPARED("max_completion_length"), REFUSED("reward_funcs", ROLLOUTS),
    REFUSED("num_ppo_epochs", ROLLOUTS), REFUSED("reward_model_path", ROLLOUTS), REFUSED("kl_coef", ROLLOUTS), REFUSED("use_vllm", ROLLOUTS),
    COMPARED("ref_model"), COMPARED("ref_model_path"), COMPARED("ref_model_name_or_path"), COMPARED("reference_model"),
    REFUSED("reward_model_name_or_path", ROLLOUTS),
    ROW_END,
};
/* clang-format on */
