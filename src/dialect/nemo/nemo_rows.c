/* Options of NeMo's parts, a row each (NeMo v1.23 and v2.0:
 * nemo/collections/nlp/models/language_modeling/megatron_base_model.py and
 * megatron_gpt_model.py, examples/nlp/language_modeling/conf). */
#include "dialect/megatron/megatron.h"
#include "dialect/nemo/nemo.h"

#define WIDE "/parallelism/"

/* clang-format off */
const struct dialect_option nemo_model_rows[] = {
    ROW("tensor_model_parallel_size", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW("pipeline_model_parallel_size", WIDE "pipeline", .kind = DIALECT_DEGREE),
    ROW("context_parallel_size", WIDE "context", .kind = DIALECT_DEGREE),
    ROW("expert_model_parallel_size", WIDE "expert", .kind = DIALECT_DEGREE),
    ROW("expert_tensor_parallel_size", WIDE "expert_tensor", .kind = DIALECT_SIZE),
    ROW("moe_expert_capacity_factor", WIDE "expert_capacity", .kind = DIALECT_NORM),
    ROW("moe_pad_expert_input_to_capacity", WIDE "expert_padding", .kind = DIALECT_SWITCH),
    ROW("micro_batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("global_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW_END,
};
/* Of a model whose sizes are there. */
const struct dialect_option nemo_width_rows[] = {
    ROW("num_layers", "/model/num_layers", .kind = DIALECT_SIZE),
    ROW("hidden_size", "/model/hidden_size", .kind = DIALECT_SIZE),
    ROW("ffn_hidden_size", "/model/ffn_hidden_size", .kind = DIALECT_SIZE),
    ROW("num_attention_heads", "/model/num_attention_heads", .kind = DIALECT_SIZE),
    ROW("num_query_groups", "/model/num_query_groups", .kind = DIALECT_SIZE),
    ROW("kv_channels", "/model/kv_channels", .kind = DIALECT_SIZE),
    ROW("max_position_embeddings", "/model/max_position_embeddings", .kind = DIALECT_SIZE),
    ROW("num_moe_experts", "/model/num_experts", .kind = DIALECT_SIZE),
    ROW("moe_router_topk", "/model/moe_router_topk", .kind = DIALECT_SIZE),
    ROW("moe_ffn_hidden_size", "/model/moe_ffn_hidden_size", .kind = DIALECT_SIZE),
    ROW("moe_shared_expert_intermediate_size", "/model/moe_shared_expert_intermediate_size", .kind = DIALECT_SIZE),
    ROW("moe_layer_freq", "/model/moe_first_dense_layers", .take = megatron_take_frequency),
    ROW("hidden_dropout", "/model/hidden_dropout", .kind = DIALECT_PROBABILITY),
    ROW("attention_dropout", "/model/attention_dropout", .kind = DIALECT_PROBABILITY),
    ROW("qk_layernorm", "/model/qk_layernorm", .kind = DIALECT_SWITCH),
    ROW("qkv_bias", "/model/add_qkv_bias", .kind = DIALECT_SWITCH),
    ROW("add_qkv_bias", "/model/add_qkv_bias", .kind = DIALECT_SWITCH),
    ROW_END,
};
const struct dialect_option nemo_trainer_rows[] = {
    ROW("num_nodes", "/cluster/count", .kind = DIALECT_SIZE),
    ROW("devices", "/cluster/gpus_per_instance", .kind = DIALECT_POSITIVE),
    ROW("max_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("gradient_clip_val", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW_END,
};
const struct dialect_option nemo_data_rows[] = {
    ROW("encoder_seq_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("seq_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW_END,
};
const struct dialect_option nemo_tuning_rows[] = {
    ROW("max_seq_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("max_src_seq_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("micro_batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("global_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint_rows[] = {
    ROW_ONLY("virtual_pipeline_model_parallel_size", WIDE "virtual_stages"), ROW_ONLY("sequence_parallel", WIDE "sequence_parallel"),
    ROW_ACTS("first_pipeline_num_layers", WIDE "partition"), ROW_ACTS("last_pipeline_num_layers", WIDE "partition"),
    ROW_ACTS("num_layers_in_first_pipeline_stage", WIDE "partition"), ROW_ACTS("num_layers_in_last_pipeline_stage", WIDE "partition"),
    ROW_ACTS("account_for_embedding_in_pipeline_split", WIDE "partition"), ROW_ACTS("account_for_loss_in_pipeline_split", WIDE "partition"),
    ROW_ACTS("pipeline_model_parallel_layout", WIDE "partition"), ROW_ACTS("defer_embedding_wgrad_compute", WIDE "defer_embedding_wgrad"),
    ROW_ACTS("wgrad_deferral_limit", WIDE "wgrad_deferral_limit"), ROW_ONLY("cp_comm_type", WIDE "context_comm"),
    ROW_ONLY("hierarchical_context_parallel_sizes", WIDE "context_inner"),
    ROW_ACTS("use_tp_pp_dp_mapping", WIDE "placement"),
    ROW_ONLY("ub_tp_comm_overlap", WIDE "overlap_tensor"), ROW_ACTS("megatron_amp_O2", "/training/precision"), ROW_ACTS("fp8", "/training/precision"),
    ROW_ACTS("precision", "/training/precision"), ROW_ACTS("transformer_engine", "/training/framework"), ROW_ACTS("mcore_gpt", "/training/framework"),
    ROW_ACTS("mcore_t5", "/training/framework"), ROW_ACTS("mcore_bert", "/training/framework"),
    ROW_ACTS("use_flash_attention", "/training/attention"), ROW_ACTS("masked_softmax_fusion", "/training/attention"),
    ROW_ACTS("activations_checkpoint_granularity", "/training/activation_checkpointing"), ROW_ACTS("activations_checkpoint_method", "/training/activation_checkpointing"),
    ROW_ACTS("activations_checkpoint_num_layers", "/training/activation_checkpointing"),
    ROW_ACTS("fsdp", WIDE "library"), ROW_ACTS("fsdp_sharding_strategy", WIDE "sharding/strategy"), ROW_ACTS("fsdp_grad_reduce_dtype", "/training/gradient_dtype"),
    ROW_ACTS("fsdp_cpu_offload", WIDE "sharding/offload"),
    ROW_ACTS("cpu_offloading", WIDE "offload_layers"), ROW_ACTS("cpu_offloading_num_layers", WIDE "offload_layers"),
    ROW_ACTS("cpu_offloading_activations", WIDE "offload_layers"), ROW_ACTS("cpu_offloading_weights", WIDE "offload_layers"),
    ROW_ACTS("normalization", "/model/normalization"), ROW_ACTS("activation", "/model/swiglu"), ROW_ACTS("bias", "/model/add_bias_linear"),
    ROW_ACTS("position_embedding_type", "/model/position_embedding_type"), ROW_ACTS("share_embeddings_and_output_weights", "/model/untie_embeddings_and_output_weights"),
    ROW_ACTS("share_decoder_tokens_head_embeddings", "/model/untie_embeddings_and_output_weights"),
    ROW_ACTS("bert_binary_head", "/model/encoder"), ROW_ACTS("seq_length_dec", "/training/decoder_length"),
    ROW_ACTS("make_vocab_size_divisible_by", "/training/vocab_padding"), ROW_ACTS("override_vocab_size", "/model/vocab_size"), ROW_ACTS("vocab_size", "/model/vocab_size"),
    ROW_ACTS("restore_from_path", "/model"), ROW_ACTS("restore_from_ckpt", "/model"), ROW_ACTS("rampup_batch_size", "/training/global_batch_size"),
    ROW_END,
};
static const struct dialect_option model_others[] = {
    ROW_UNSIMULATED("fp8_params"), ROW_UNSIMULATED("enable_cuda_graph"), ROW_UNSIMULATED("window_size"),
    ROW_UNSIMULATED("num_micro_batches_with_partial_activation_checkpoints"), ROW_UNSIMULATED("activations_checkpoint_layers_per_pipeline"),
    ROW_UNSIMULATED("mcore_customization_config.*"), ROW_UNSIMULATED("fp32_residual_connection"), ROW_UNSIMULATED("fp16_lm_cross_entropy"),
    ROW_UNSIMULATED("headscale"), ROW_UNSIMULATED("sharp"), ROW_UNSIMULATED("drop_layers"),
    ROW_UNSIMULATED("moe_shared_expert_overlap"), ROW_UNSIMULATED("mtp_*"), ROW_UNSIMULATED("multi_query_attention"),
    ROW("pipeline_model_parallel_split_rank", NULL, .class = DIALECT_UNSIMULATED, .off = launch_is_off), 
    ROW_UNSIMULATED("use_emha"),
    ROW_UNSIMULATED("freeze_*"), ROW_UNSIMULATED("optim_*"), ROW_UNSIMULATED("normalize_attention_scores_*"), ROW_UNSIMULATED("activations_checkpoint_recompute_mlp"),
    ROW_IDLE("accumulate_grad_batches"), ROW_IDLE("answer_only_loss"), ROW_IDLE("apex_*"), ROW_IDLE("apply_*"), ROW_IDLE("attention_type"), ROW_IDLE("async_grad_allreduce"),
    ROW_IDLE("batch_p2p_comm"), ROW_IDLE("overlap_p2p_comm"), ROW_IDLE("bias_activation_fusion"), ROW_IDLE("bias_dropout_add_fusion"), ROW_IDLE("cross_entropy_loss_fusion"), ROW_IDLE("cpu_offloading_*"),
    ROW_IDLE("deterministic_mode"), ROW_IDLE("deteministic_mode"), ROW_IDLE("dist_ckpt_*"), ROW_IDLE("do_layer_norm_weight_decay"), ROW_IDLE("enable_megatron_timers"),
    ROW_IDLE("megatron_timer_kwargs.*"), ROW_IDLE("ffn_dropout"), ROW_IDLE("fp8_*"), ROW_IDLE("fsdp_*"), ROW_IDLE("gc_interval"), ROW_IDLE("get_attention_mask_from_fusion"),
    ROW_IDLE("grad_div_ar_fusion"), ROW_IDLE("grad_allreduce_chunk_size_mb"), ROW_IDLE("gradient_*"), ROW_IDLE("hysteresis"), ROW_IDLE("init_method_*"), ROW_IDLE("layernorm_*"),
    ROW_IDLE("megatron_legacy"), ROW_IDLE("moe_*"), ROW_IDLE("name"), ROW_IDLE("native_amp_*"), ROW_IDLE("nccl_*"), ROW_IDLE("normalize_attention_scores"), ROW_IDLE("nsys_profile.*"),
    ROW_IDLE("onnx_safe"), ROW_IDLE("openai_gelu"), ROW_IDLE("persist_layer_norm"), ROW_IDLE("post_process"), ROW_IDLE("pre_process"), ROW_IDLE("reduce_amax"), ROW_IDLE("reset_*"),
    ROW_IDLE("resume_from_checkpoint"), ROW_IDLE("rotary_*"), ROW_IDLE("save_nemo_*"), ROW_IDLE("scale_positional_embedding"), ROW_IDLE("seed"), ROW_IDLE("seq_len_interpolation_factor"),
    ROW_IDLE("skip_train"), ROW_IDLE("sync_batch_comm"), ROW_IDLE("tp_comm_overlap_*"), ROW_IDLE("transformer_block_type"), ROW_IDLE("ub_tp_comm_overlap_cfg*"), ROW_IDLE("use_cpu_initialization"),
    ROW_IDLE("use_scaled_init_method"), ROW_IDLE("use_te_rng_tracker"), ROW_IDLE("validation_*"), ROW_IDLE("wgrad_deferral_limit"), ROW_IDLE("target"), ROW_IDLE("tokens_head_bias"),
    ROW_IDLE("embedding_*"), ROW_IDLE("share_token_embeddings"), ROW_IDLE("arch"), ROW_IDLE("relative_*"), ROW_IDLE("hidden_steps"), ROW_IDLE("num_self_attention_per_cross_attention"),
    ROW_IDLE("add_pooler"), ROW_IDLE("add_lm_head"), ROW_IDLE("optim"), ROW_IDLE("peft"), ROW_IDLE("data"), ROW_IDLE("rope_*"), ROW_IDLE("label_smoothing"), ROW_IDLE("is_*"),
    ROW_IDLE("use_loss_mask"), ROW_IDLE("hidden_act"), ROW_IDLE("tokenizer_type"), ROW_IDLE("perform_initialization"), ROW_IDLE("precision_*"), ROW_IDLE("barrier_with_L1_time"),
    ROW_IDLE("with_fp32_embedding_grads"), ROW_IDLE("train_ds"), ROW_IDLE("pytorch_*"), ROW_IDLE("language_model_path"), ROW_IDLE("lm_vocab_size"),
    ROW_END,
};
static const struct dialect_option trainer_others[] = {
    ROW_ACTS("precision", "/training/precision"),
    ROW_UNSIMULATED("strategy"), ROW_UNSIMULATED("limit_train_batches"), ROW_UNSIMULATED("overfit_batches"),
    ROW_IDLE("accelerator"), ROW_IDLE("accumulate_grad_batches"), ROW_IDLE("benchmark"), ROW_IDLE("callbacks"), ROW_IDLE("check_val_every_n_epoch"), ROW_IDLE("deterministic"),
    ROW_IDLE("enable_*"), ROW_IDLE("fast_dev_run"), ROW_IDLE("gradient_clip_algorithm"), ROW_IDLE("limit_*"), ROW_IDLE("log_*"), ROW_IDLE("logger"), ROW_IDLE("max_epochs"),
    ROW_IDLE("max_time"), ROW_IDLE("min_*"), ROW_IDLE("num_sanity_val_steps"), ROW_IDLE("plugins"), ROW_IDLE("profiler"), ROW_IDLE("reload_dataloaders_every_n_epochs"),
    ROW_IDLE("replace_sampler_ddp"), ROW_IDLE("resume_from_checkpoint"), ROW_IDLE("sync_batchnorm"), ROW_IDLE("use_distributed_sampler"), ROW_IDLE("val_check_interval"),
    ROW_IDLE("default_root_dir"), ROW_IDLE("detect_anomaly"), ROW_IDLE("barebones"), ROW_IDLE("checkpoint_callback"), ROW_IDLE("track_grad_norm"), ROW_IDLE("terminate_on_nan"),
    ROW_IDLE("weights_*"), ROW_IDLE("gpus"), ROW_IDLE("inference_mode"), ROW_IDLE("sft.*"),
    ROW_END,
};
static const struct dialect_option data_others[] = {
    ROW_ACTS("packed_sequence", "/training/sequence_length"),
    ROW_IDLE("file_*"), ROW_IDLE("shuffle"), ROW_IDLE("num_workers"), ROW_IDLE("memmap_workers"), ROW_IDLE("pin_memory"), ROW_IDLE("min_seq_length"), ROW_IDLE("drop_last"),
    ROW_IDLE("concat_*"), ROW_IDLE("context_key"), ROW_IDLE("label_key"), ROW_IDLE("add_*"), ROW_IDLE("truncation_*"), ROW_IDLE("index_mapping_dir"), ROW_IDLE("prompt_template"),
    ROW_IDLE("separate_prompt_*"), ROW_IDLE("pad_to_max_length"), ROW_IDLE("global_sample_mapping"), ROW_IDLE("chat*"), ROW_IDLE("names"), ROW_IDLE("output_*"), ROW_IDLE("src_*"),
    ROW_IDLE("tgt_*"), ROW_IDLE("max_*"), ROW_IDLE("hf_dataset"), ROW_IDLE("packed_sequence_*"), ROW_IDLE("seed"), ROW_IDLE("tokens_to_generate"), ROW_IDLE("metric*"),
    ROW_IDLE("write_*"), ROW_IDLE("random_seed"), ROW_IDLE("dataset*"), ROW_IDLE("data_impl*"), ROW_IDLE("index_*"), ROW_IDLE("num_classes"), ROW_IDLE("answer_*"), ROW_IDLE("ceil_to_power_2"), ROW_IDLE("get_attention_mask_from_fusion"), ROW_IDLE("special_tokens*"),
    ROW_END,
};
static const struct dialect_option optim_rows[] = {
    ROW_ACTS("name", "/training/optimizer"), ROW_ACTS("overlap_grad_sync", WIDE "overlap"), ROW_ACTS("overlap_param_sync", WIDE "overlap_param_gather"),
    ROW_ACTS("overlap_param_gather", WIDE "overlap_param_gather"), ROW_ACTS("align_param_gather", WIDE "align_param_gather"),
    ROW_ACTS("grad_sync_dtype", "/training/gradient_dtype"), ROW_ACTS("bucket_cap_mb", WIDE "bucket_size"), ROW_ACTS("ddp_bucket_size", WIDE "bucket_size"),
    ROW_UNSIMULATED("dtype"), ROW_UNSIMULATED("param_sync_dtype"), ROW_UNSIMULATED("nccl_ub"), ROW_UNSIMULATED("num_distributed_optimizer_instances"),
    ROW_UNSIMULATED("distributed_size"), ROW_UNSIMULATED("store_param*"), ROW_UNSIMULATED("with_scaled_states"),
    ROW_IDLE("lr"), ROW_IDLE("weight_decay"), ROW_IDLE("betas*"), ROW_IDLE("eps"), ROW_IDLE("sched"), ROW_IDLE("capturable"), ROW_IDLE("lock_timeout"), ROW_IDLE("contiguous_*"),
    ROW_IDLE("check_for_nan_in_grad"), ROW_IDLE("average_in_collective"), ROW_IDLE("master_weights"), ROW_IDLE("pipeline_size"), ROW_IDLE("momentum"), ROW_IDLE("args"), ROW_IDLE("amsgrad"),
    ROW_IDLE("nesterov"), ROW_IDLE("adam_w_mode"), ROW_IDLE("bias_correction"), ROW_IDLE("log_*"), ROW_IDLE("scale_parameter"), ROW_IDLE("relative_step"), ROW_IDLE("weight_decay_*"),
    ROW_END,
};
static const struct dialect_option peft_rows[] = {
    ROW_ACTS("peft_scheme", "/training/lora"), ROW_ACTS("lora_tuning.adapter_dim", "/training/lora/rank"), ROW_ACTS("lora_tuning.alpha", "/training/lora/alpha"),
    ROW_ACTS("lora_tuning.adapter_dropout", "/training/lora/dropout"), ROW_ACTS("lora_tuning.target_modules", "/training/lora/target_modules"),
    ROW_UNSIMULATED("lora_tuning.layer_selection"), ROW_UNSIMULATED("lora_tuning.weight_tying"),
    ROW_IDLE("lora_tuning.*"), ROW_IDLE("adapter_tuning.*"), ROW_IDLE("p_tuning.*"), ROW_IDLE("ia3_tuning.*"), ROW_IDLE("selective_tuning.*"), ROW_IDLE("restore_from_*"),
    ROW_END,
};
static const struct dialect_option rest_rows[] = {
    ROW_ACTS("model.tokenizer.type", "/model/vocab_size"), ROW_ACTS("model.tokenizer.model", "/model/vocab_size"), ROW_ACTS("model.tokenizer.library", "/model/vocab_size"),
    ROW_ACTS("model.tokenizer.vocab_size", "/model/vocab_size"), ROW_ACTS("run.name", "/model/vocab_size"), ROW_ACTS("run.model_train_name", "/model"),
    ROW_ACTS("model.decoder.num_layers", "/model/decoder_num_layers"), ROW_ACTS("model.data.seq_length_dec", "/training/decoder_length"), ROW_ACTS("model.data.data_impl", "/training/sequence_length"),
    ROW_IDLE("model.tokenizer.*"), ROW_IDLE("model.data.*"), ROW_IDLE("model.optim.sched.*"), ROW_IDLE("model.optim.sched"), ROW_IDLE("exp_manager.*"), ROW_IDLE("run.*"), ROW_IDLE("hydra.*"), ROW_IDLE("defaults"),
    ROW_IDLE("name"), ROW_IDLE("restore_from_path"), ROW_IDLE("s3_checkpointing.*"), ROW_IDLE("env_vars.*"), ROW_IDLE("model.decoder.*"), ROW_IDLE("exp_manager"),
    ROW_IDLE("cluster*"), ROW_IDLE("stages"), ROW_IDLE("launcher_scripts_path"), ROW_IDLE("data_dir"), ROW_IDLE("base_results_dir"), ROW_IDLE("container*"), ROW_IDLE("wandb_*"),
    ROW_IDLE("numa_mapping.*"), ROW_IDLE("*_config"), ROW_IDLE("debug"), ROW_IDLE("bcp_no_redirect"), ROW_IDLE("enable_vboost"), ROW_IDLE("git.*"), ROW_IDLE("dry_run"), ROW_IDLE("launch_json"),
    ROW_IDLE("mode"), ROW_IDLE("do_training"), ROW_IDLE("do_testing"), ROW_IDLE("do_train"), ROW_IDLE("do_test"), ROW_IDLE("tp_overlap*"), ROW_IDLE("version"), ROW_IDLE("display_name"),
    ROW_ACTS("instance_type", "/cluster/instance"), ROW_IDLE("instance_types"),
    ROW_END,
};
const struct dialect_table nemo_tables[] = {
    { "model", nemo_model_rows, DIALECT_UNKNOWN_WARNED }, { "model", nemo_width_rows, DIALECT_UNKNOWN_WARNED }, { "model", nemo_data_rows, DIALECT_UNKNOWN_WARNED },
    { "model", joint_rows, DIALECT_UNKNOWN_WARNED }, { "model", model_others, DIALECT_UNKNOWN_WARNED },
    { "trainer", nemo_trainer_rows, DIALECT_UNKNOWN_WARNED }, { "trainer", trainer_others, DIALECT_UNKNOWN_WARNED },
    { "model.data.train_ds", nemo_tuning_rows, DIALECT_UNKNOWN_WARNED }, { "model.data.train_ds", data_others, DIALECT_UNKNOWN_WARNED },
    { "model.optim", optim_rows, DIALECT_UNKNOWN_WARNED }, { "model.peft", peft_rows, DIALECT_UNKNOWN_WARNED },
    { "", rest_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */
