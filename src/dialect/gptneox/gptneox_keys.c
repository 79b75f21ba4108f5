/* gpt-neox's keys: a row each. */
#include "dialect/gptneox/gptneox.h"

#define WIDE "/parallelism/"

/* 0 and 1 are none. */
static void take_degree(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    int64_t n;
    if (!launch_whole(it->value, &n) || n > 1 || n < 0)
        dialect_take_as(t, row, it, DIALECT_DEGREE);
    else
        launch_hear(t, it);
}

/* clang-format off */
const struct dialect_option gptneox_rows[] = {
    ROW("pipe_parallel_size", WIDE "pipeline", .take = take_degree),
    ROW("model_parallel_size", WIDE "tensor", .take = take_degree),
    ROW("sequence_parallel", WIDE "sequence_parallel", .kind = DIALECT_SWITCH),
    ROW("seq_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("train_iters", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("train_epochs", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW("num_nodes", "/cluster/count", .kind = DIALECT_POSITIVE),
    ROW("num_gpus", "/cluster/gpus_per_instance", .kind = DIALECT_POSITIVE),
    ROW_END,
};
const struct dialect_option gptneox_model_rows[] = {
    ROW("num_layers", "/model/num_layers", .kind = DIALECT_SIZE),
    ROW("hidden_size", "/model/hidden_size", .kind = DIALECT_SIZE),
    ROW("num_attention_heads", "/model/num_attention_heads", .kind = DIALECT_SIZE),
    ROW("num_kv_heads", "/model/num_kv_heads", .kind = DIALECT_SIZE),
    ROW("max_position_embeddings", "/model/max_position_embeddings", .kind = DIALECT_SIZE),
    ROW("sliding_window_width", "/model/sliding_window_width", .kind = DIALECT_SIZE),
    ROW("norm", "/model/norm", .kind = DIALECT_TEXT),
    ROW("pos_emb", "/model/pos_emb", .kind = DIALECT_TEXT),
    ROW("no_weight_tying", "/model/no_weight_tying", .kind = DIALECT_SWITCH),
    ROW("gpt_j_residual", "/model/gpt_j_residual", .kind = DIALECT_SWITCH),
    ROW("use_qk_layernorm", "/model/use_qk_layernorm", .kind = DIALECT_SWITCH),
    ROW("qk_norm", "/model/use_qk_layernorm", .kind = DIALECT_SWITCH),
    ROW("hidden_dropout", "/model/hidden_dropout", .kind = DIALECT_PROBABILITY),
    ROW("attention_dropout", "/model/attention_dropout", .kind = DIALECT_PROBABILITY),
    ROW("moe_num_experts", "/model/moe_num_experts", .take = take_degree),
    ROW("num_experts", "/model/moe_num_experts", .take = take_degree), /* before 2024-09 */
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint[] = {
    ROW_ACTS("use_bias_in_attn_linear", "/model/use_bias_in_attn_linear"), ROW_ACTS("use_bias_in_mlp", "/model/use_bias_in_mlp"),
    ROW_ACTS("moe_top_k", "/model/moe_top_k"), ROW_ACTS("intermediate_size", "/model/ffn_hidden_size"),
    ROW_ACTS("expansion_factor", "/model/ffn_hidden_size"), ROW_ACTS("mlp_multiple_of", "/model/ffn_hidden_size"), ROW_ACTS("mlp_type", "/model/ffn_hidden_size"),
    ROW_ACTS("tokenizer_type", "/model/vocab_size"), ROW_ACTS("vocab_file", "/model/vocab_size"), ROW_ACTS("padded_vocab_size", "/model/vocab_size"),
    ROW_ACTS("activation", "/model/activation"), ROW_ACTS("attention_head_type", "/model/num_kv_heads"), ROW_ACTS("make_vocab_size_divisible_by", "/training/vocab_padding"),
    ROW_ACTS("train_batch_size", "/training/global_batch_size"), ROW_ACTS("train_micro_batch_size_per_gpu", "/training/micro_batch_size"),
    ROW_ACTS("gradient_accumulation_steps", "/training/gradient_accumulation_steps"), ROW_ACTS("gradient_clipping", "/training/gradient_clipping"),
    ROW_ACTS("zero_optimization", WIDE "sharding/strategy"), ROW_ACTS("optimizer", "/training/optimizer"), ROW_ACTS("use_bnb_optimizer", "/training/optimizer"),
    ROW_ACTS("precision", "/training/precision"), ROW_ACTS("fp16", "/training/precision"), ROW_ACTS("bf16", "/training/precision"), ROW_ACTS("amp", "/training/precision"),
    ROW_ACTS("data_types", "/training/framework"), ROW_ACTS("deepspeed_extra_args", NULL), ROW_ACTS("communication_data_type", "/training/gradient_dtype"),
    ROW_ACTS("attention_config", "/training/attention"), ROW_ACTS("scaled_upper_triang_masked_softmax_fusion", "/training/attention"),
    ROW_ACTS("scaled_masked_softmax_fusion", "/training/attention"), ROW_ACTS("checkpoint_activations", "/training/activation_checkpointing"),
    ROW_ACTS("checkpoint_num_layers", "/training/activation_checkpointing"), ROW_ACTS("checkpoint_in_cpu", WIDE "offload_activations"),
    ROW_ACTS("train_impl", "/training/task"), ROW_ACTS("soft_prompt_tuning", "/training/task"), ROW_ACTS("pipe_partition_method", WIDE "partition"),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("te_*"), ROW("moe_expert_interval", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one), ROW_UNSIMULATED("moe_type"),
    ROW_UNSIMULATED("enable_expert_tensor_parallelism"), ROW("moe_expert_parallel_size", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one),
    ROW_UNSIMULATED("moe_use_residual"), ROW_UNSIMULATED("moe_train_capacity_factor"), ROW_UNSIMULATED("moe_token_dropping"),
    ROW_UNSIMULATED("contiguous_checkpointing"), ROW_UNSIMULATED("num_unique_layers"), ROW_UNSIMULATED("param_sharing_style"), ROW_UNSIMULATED("sparsity_config"),
    ROW_UNSIMULATED("rpe_*"), ROW_UNSIMULATED("gpt_j_tied"), ROW_UNSIMULATED("fp16_lm_cross_entropy"), ROW_UNSIMULATED("full_precision_lm_cross_entropy"), ROW_UNSIMULATED("use_flash_cross_entropy"), ROW_UNSIMULATED("fp32_allreduce"),
    ROW_UNSIMULATED("log_optimizer_states"), ROW_UNSIMULATED("log_gradient_noise_scale"), ROW_UNSIMULATED("gradient_noise_scale_*"), ROW_UNSIMULATED("char_level_ppl"),
    ROW_UNSIMULATED("autotuning_run"), ROW_UNSIMULATED("onnx_safe"), ROW_UNSIMULATED("mamba_*"), ROW_UNSIMULATED("gmlp_attn_dim"), ROW_UNSIMULATED("serve_model_weights"),
    ROW_UNSIMULATED("dim_att"), ROW_UNSIMULATED("head_size"), ROW_UNSIMULATED("ffn_dim"), ROW_UNSIMULATED("profile_backward"),
    /* data, tokenizers, seeds */
    ROW_IDLE("data_*"), ROW_IDLE("train_data_*"), ROW_IDLE("train_label_*"), ROW_IDLE("train_reward_*"), ROW_IDLE("test_*"), ROW_IDLE("valid_*"),
    ROW_IDLE("pos_*"), ROW_IDLE("neg_*"), ROW_IDLE("label_data_paths"), ROW_IDLE("weight*"), ROW_IDLE("use_shared_fs"), ROW_IDLE("pack_impl"), ROW_IDLE("dataset_impl"),
    ROW_IDLE("allow_chopped"), ROW_IDLE("mmap_warmup"), ROW_IDLE("split"), ROW_IDLE("merge_file"), ROW_IDLE("num_workers"), ROW_IDLE("short_seq_prob"), ROW_IDLE("eod_mask_loss"),
    ROW_IDLE("seed"), ROW_IDLE("online_*"), ROW_IDLE("hf_*"), ROW_IDLE("s3_*"),
    /* learning rates, initialisation */
    ROW_IDLE("optimizer_type"), ROW_IDLE("lr"), ROW_IDLE("lr_*"), ROW_IDLE("min_lr"), ROW_IDLE("warmup*"), ROW_IDLE("override_lr_scheduler"), ROW_IDLE("use_checkpoint_*"), ROW_IDLE("init_method*"),
    ROW_IDLE("output_layer_*"), ROW_IDLE("weight_decay"), ROW_IDLE("hysteresis"), ROW_IDLE("dynamic_loss_scale"), ROW_IDLE("loss_scale*"), ROW_IDLE("min_scale"), ROW_IDLE("z_loss"),
    ROW_IDLE("use_mup"), ROW_IDLE("mup_*"), ROW_IDLE("coord_check"), ROW_IDLE("save_base_shapes"), ROW_IDLE("base_shapes_file"), ROW_IDLE("layernorm_epsilon"),
    ROW_IDLE("rms_norm_epsilon"), ROW_IDLE("scalenorm_epsilon"), ROW_IDLE("clip_grad"), ROW_IDLE("dpo_*"), ROW_IDLE("kto_*"), ROW_IDLE("kl_*"), ROW_IDLE("fp32_reinforce"),
    ROW_IDLE("reinforce_*"), ROW_IDLE("moe_*"), ROW_IDLE("use_bias_in_norms"), ROW_IDLE("use_bias_in_qk_norm"), ROW_IDLE("cooldown*"), ROW_IDLE("no_checkpoint_arg_validation"), ROW_IDLE("reset_*"), ROW_IDLE("attention_type"), ROW_IDLE("decay_lr_to"), ROW_IDLE("gas"), ROW_IDLE("opt_pos_emb_offset"),
    /* how the software is chosen; the profile represents it */
    ROW_IDLE("layernorm_fusion"), ROW_IDLE("rmsnorm_fusion"), ROW_IDLE("bias_*"), ROW_IDLE("rope_fusion"), ROW_IDLE("use_flashattn_swiglu"), ROW_IDLE("fused_kernels_build_path"),
    ROW_IDLE("apply_query_key_layer_scaling"), ROW_IDLE("attention_softmax_in_fp32"), ROW_IDLE("use_cpu_initialization"), ROW_IDLE("rotary_*"), ROW_IDLE("synchronize_each_layer"),
    ROW_IDLE("partition_activations"), ROW_IDLE("deepspeed_activation_checkpointing"), ROW_IDLE("deepspeed"), ROW_IDLE("deepspeed_*"), ROW_IDLE("is_pipe_parallel"), ROW_IDLE("zero_*"),
    ROW_IDLE("batch_size"), ROW_IDLE("distributed_backend"), ROW_IDLE("lazy_mpu_init"),
    /* files, logs, evaluation, how a job starts and ends */
    ROW_IDLE("save"), ROW_IDLE("load"), ROW_IDLE("save_iters"), ROW_IDLE("checkpoint_validation_with_forward_pass"), ROW_IDLE("checkpoint_scale"), ROW_IDLE("checkpoint_factor"), ROW_IDLE("extra_save_iters"),
    ROW_IDLE("no_save_*"), ROW_IDLE("no_load_*"), ROW_IDLE("no_ssh_check"), ROW_IDLE("finetune"), ROW_IDLE("eval_*"), ROW_IDLE("keep_last_n_checkpoints"), ROW_IDLE("exit_interval"), ROW_IDLE("use_wandb"), ROW_IDLE("wandb*"),
    ROW_IDLE("git_hash"), ROW_IDLE("log_*"), ROW_IDLE("tensorboard_dir"), ROW_IDLE("use_comet"), ROW_IDLE("comet_*"), ROW_IDLE("peak_theoretical_tflops"), ROW_IDLE("memory_profiling*"),
    ROW_IDLE("profile"), ROW_IDLE("profile_step_*"), ROW_IDLE("local_rank"), ROW_IDLE("rank"), ROW_IDLE("world_size"), ROW_IDLE("adlr_*"), ROW_IDLE("deepscale*"), ROW_IDLE("user_script"), ROW_IDLE("iteration"),
    ROW_IDLE("do_*"), ROW_IDLE("global_num_gpus"), ROW_IDLE("config_files"), ROW_IDLE("hostfile"), ROW_IDLE("include"), ROW_IDLE("exclude"), ROW_IDLE("master_*"), ROW_IDLE("launcher"),
    ROW_IDLE("force_multi"), ROW_IDLE("comment"), ROW_IDLE("account"), ROW_IDLE("slurm_*"), ROW_IDLE("save_interval"),
    /* of generate.py and eval.py */
    ROW_IDLE("text_gen_type"), ROW_IDLE("precompute_model_name"), ROW_IDLE("temperature"), ROW_IDLE("top_p"), ROW_IDLE("top_k"), ROW_IDLE("return_logits"), ROW_IDLE("maximum_tokens"),
    ROW_IDLE("prompt_end"), ROW_IDLE("sample_*"), ROW_IDLE("num_samples"), ROW_IDLE("recompute"),
    ROW_END,
};
/* DeepSpeed's own, which its table classes. */
static const struct dialect_option deepspeeds[] = {
    ROW_UNSIMULATED("sparse_gradients"), ROW_UNSIMULATED("curriculum_learning"), ROW_UNSIMULATED("curriculum_seqlen"), ROW_UNSIMULATED("data_efficiency"), ROW_UNSIMULATED("sparse_attention"),
    ROW_UNSIMULATED("autotuning"), ROW_UNSIMULATED("elasticity"), ROW_UNSIMULATED("compression_training"), ROW_IDLE("activation_checkpointing"),
    ROW_IDLE("scheduler"), ROW_IDLE("prescale_gradients"), ROW_IDLE("gradient_predivide_factor"), ROW_IDLE("steps_per_print"), ROW_IDLE("wall_clock_breakdown"), ROW_IDLE("memory_breakdown"), ROW_IDLE("dump_state"),
    ROW_IDLE("flops_profiler"), ROW_IDLE("tensorboard"), ROW_IDLE("csv_monitor"), ROW_IDLE("comms_logger"), ROW_IDLE("checkpoint"), ROW_IDLE("zero_allow_untested_optimizer"),
    ROW_IDLE("disable_allgather"),
    ROW_END,
};
const char *const gptneox_deepspeed[] = {
    "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "gradient_clipping", "zero_optimization",
    "fp16", "bf16", "amp", "optimizer", "communication_data_type", NULL,
};
const struct dialect_table gptneox_tables[] = {
    { "", gptneox_rows, DIALECT_UNKNOWN_WARNED }, { "", gptneox_model_rows, DIALECT_UNKNOWN_WARNED },
    { "", joint, DIALECT_UNKNOWN_WARNED }, { "", deepspeeds, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */
