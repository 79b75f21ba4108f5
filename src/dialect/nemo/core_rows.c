/* Options of NeMo 2 and Megatron-Bridge, whose words are Megatron-Core's (NeMo v2.4:
 * nemo/lightning/pytorch/strategies/megatron_strategy.py; Megatron-Bridge v0.5:
 * src/megatron/bridge/training/config.py; Megatron-LM core_r0.14:
 * megatron/core/transformer/transformer_config.py, distributed_data_parallel_config.py). */
#include "dialect/megatron/megatron.h"
#include "dialect/nemo/nemo.h"

#include <string.h>

#define WIDE "/parallelism/"

/* Attention and then an MLP or experts, as a further token's layer is simulated. */
static bool is_plain_further(const struct value *v)
{
    return v->kind == VALUE_NONE || (v->kind == VALUE_STRING && strlen(v->text) == 2 &&
                                     v->text[0] == '*' && strchr("E-", v->text[1]));
}

/* clang-format off */
const struct dialect_option core_model_rows[] = {
    ROW("tensor_model_parallel_size", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW("pipeline_model_parallel_size", WIDE "pipeline", .kind = DIALECT_DEGREE),
    ROW("context_parallel_size", WIDE "context", .kind = DIALECT_DEGREE),
    ROW("expert_model_parallel_size", WIDE "expert", .kind = DIALECT_DEGREE),
    ROW("expert_tensor_parallel_size", WIDE "expert_tensor", .kind = DIALECT_SIZE),
    ROW("mtp_num_layers", "/training/mtp_layers", .kind = DIALECT_POSITIVE),
    ROW("mtp_use_repeated_layer", "/training/mtp_repeated", .kind = DIALECT_SWITCH),
    ROW("moe_expert_capacity_factor", WIDE "expert_capacity", .kind = DIALECT_NORM),
    ROW("moe_pad_expert_input_to_capacity", WIDE "expert_padding", .kind = DIALECT_SWITCH),
    ROW_END,
};
static const struct dialect_word muon_modes[] = {
    { "duplicated", "duplicated" }, { "distributed", "distributed" }, { "blockwise", "blockwise" }, { NULL, NULL },
};
const struct dialect_option core_optimizer_rows[] = {
    ROW("muon_num_ns_steps", "/training/muon/steps", .kind = DIALECT_SIZE),
    ROW("muon_tp_mode", "/training/muon/tensor", .kind = DIALECT_WORD, .words = muon_modes),
    ROW_END,
};
/* Of a "megatron" model. */
const struct dialect_option core_width_rows[] = {
    ROW("num_layers", "/model/num_layers", .kind = DIALECT_SIZE),
    ROW("hidden_size", "/model/hidden_size", .kind = DIALECT_SIZE),
    ROW("ffn_hidden_size", "/model/ffn_hidden_size", .kind = DIALECT_SIZE),
    ROW("num_attention_heads", "/model/num_attention_heads", .kind = DIALECT_SIZE),
    ROW("num_query_groups", "/model/num_query_groups", .kind = DIALECT_SIZE),
    ROW("kv_channels", "/model/kv_channels", .kind = DIALECT_SIZE),
    ROW("vocab_size", "/model/vocab_size", .kind = DIALECT_SIZE),
    ROW("num_moe_experts", "/model/num_experts", .kind = DIALECT_SIZE),
    ROW("moe_router_topk", "/model/moe_router_topk", .kind = DIALECT_SIZE),
    ROW("moe_ffn_hidden_size", "/model/moe_ffn_hidden_size", .kind = DIALECT_SIZE),
    ROW("moe_shared_expert_intermediate_size", "/model/moe_shared_expert_intermediate_size", .kind = DIALECT_SIZE),
    ROW("moe_layer_freq", "/model/moe_first_dense_layers", .take = megatron_take_frequency),
    ROW("hybrid_override_pattern", "/model/hybrid_layer_pattern", .take = megatron_take_pattern),
    ROW("hybrid_layer_pattern", "/model/hybrid_layer_pattern", .take = megatron_take_pattern),
    ROW("mamba_num_heads", "/model/mamba_num_heads", .kind = DIALECT_SIZE),
    ROW("mamba_head_dim", "/model/mamba_head_dim", .kind = DIALECT_SIZE),
    ROW("mamba_state_dim", "/model/mamba_state_dim", .kind = DIALECT_SIZE),
    ROW("mamba_num_groups", "/model/mamba_num_groups", .kind = DIALECT_SIZE),
    ROW("normalization", "/model/normalization", .kind = DIALECT_TEXT),
    ROW("position_embedding_type", "/model/position_embedding_type", .kind = DIALECT_TEXT),
    ROW("gated_linear_unit", "/model/swiglu", .kind = DIALECT_SWITCH),
    ROW("add_qkv_bias", "/model/add_qkv_bias", .kind = DIALECT_SWITCH),
    ROW("qk_layernorm", "/model/qk_layernorm", .kind = DIALECT_SWITCH),
    ROW("hidden_dropout", "/model/hidden_dropout", .kind = DIALECT_PROBABILITY),
    ROW("attention_dropout", "/model/attention_dropout", .kind = DIALECT_PROBABILITY),
    ROW_END,
};
const struct dialect_option core_train_rows[] = {
    ROW("packed_sequence_specs.packed_sequence_size", "/training/sequence_length", .kind = DIALECT_POSITIVE),
    ROW("seq_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("sequence_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("micro_batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("global_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW("step_batch_size_schedule", "/training/global_batch_size", .take = megatron_take_schedule),
    ROW("train_iters", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW_END,
};
static const struct dialect_option model_joint[] = {
    ROW_ACTS("class", "/model"), ROW_ACTS("seq_length", "/training/sequence_length"), ROW_ONLY("virtual_pipeline_model_parallel_size", WIDE "virtual_stages"),
    
    ROW_ONLY("sequence_parallel", WIDE "sequence_parallel"), ROW_ONLY("tp_comm_overlap", WIDE "overlap_tensor"), ROW_ONLY("cp_comm_type", WIDE "context_comm"), ROW_ONLY("hierarchical_context_parallel_sizes", WIDE "context_inner"),
    ROW_ACTS("recompute_granularity", "/training/activation_checkpointing"), ROW_ACTS("recompute_method", "/training/activation_checkpointing"),
    ROW_ACTS("recompute_num_layers", "/training/activation_checkpointing"), ROW_ACTS("recompute_modules", "/training/activation_checkpointing"),
    ROW_ACTS("cpu_offloading", WIDE "offload_layers"), ROW_ACTS("cpu_offloading_num_layers", WIDE "offload_layers"),
    ROW_ACTS("cpu_offloading_activations", WIDE "offload_layers"), ROW_ACTS("cpu_offloading_weights", WIDE "offload_layers"),
    ROW_ACTS("fine_grained_activation_offloading", WIDE "offload_modules"), ROW_ACTS("offload_modules", WIDE "offload_modules"),
    ROW_ACTS("add_bias_linear", "/model/add_bias_linear"), ROW_ACTS("share_embeddings_and_output_weights", "/model/untie_embeddings_and_output_weights"),
    ROW_ACTS("make_vocab_size_divisible_by", "/training/vocab_padding"), ROW_ACTS("activation_func", "/model/activation"), ROW_ACTS("attention_backend", "/training/attention"),
    ROW_ACTS("enable_cuda_graph", "/training/cuda_graphs"), ROW_ACTS("external_cuda_graph", "/training/cuda_graphs"), ROW_ACTS("cuda_graph_impl", "/training/cuda_graphs"), ROW_ACTS("cuda_graph_scope", "/training/cuda_graphs"),
    ROW_ACTS("cuda_graph_modules", "/training/cuda_graphs"),
    ROW_ACTS("num_layers_in_first_pipeline_stage", WIDE "partition"), ROW_ACTS("first_pipeline_num_layers", WIDE "partition"), ROW_ACTS("last_pipeline_num_layers", WIDE "partition"), ROW_ACTS("num_layers_in_last_pipeline_stage", WIDE "partition"), ROW_ACTS("pipeline_model_parallel_layout", WIDE "partition"),
    ROW_ACTS("account_for_embedding_in_pipeline_split", WIDE "partition"), ROW_ACTS("account_for_loss_in_pipeline_split", WIDE "partition"),
    ROW_ACTS("defer_embedding_wgrad_compute", WIDE "defer_embedding_wgrad"), ROW_ACTS("wgrad_deferral_limit", WIDE "wgrad_deferral_limit"),
    ROW_ACTS("moe_token_dispatcher_type", WIDE "expert_dispatcher"), ROW_ACTS("moe_flex_dispatcher_backend", WIDE "expert_dispatcher"), ROW_ACTS("moe_enable_deepep", WIDE "expert_dispatcher"),
    ROW_ACTS("moe_deepep_num_sms", WIDE "expert_dispatch_sms"), ROW_ACTS("moe_hybridep_num_sms", WIDE "expert_dispatch_sms"), ROW_ACTS("moe_shared_expert_overlap", WIDE "expert_overlap"),
    ROW_ACTS("overlap_moe_expert_parallel_comm", WIDE "expert_overlap"), ROW_ONLY("keep_mtp_spec_in_bf16", "/training/module_precision/mtp"),
    ROW_ACTS("fsdp", WIDE "library"), ROW_ACTS("config", "/model"), ROW_ACTS("fp8", "/training/precision"), ROW_ACTS("ddp", WIDE "overlap"),
    ROW_END,
};
static const struct dialect_option model_others[] = {
    ROW_UNSIMULATED("use_fused_linear_logprobs"),
    ROW_UNSIMULATED("activation_offload_fraction"), ROW_UNSIMULATED("min_offloaded_tensor_size"), ROW_UNSIMULATED("delta_offload_bytes_*"), ROW_UNSIMULATED("fine_grained_offloading_*"), ROW_IDLE("delay_offload_*"),
    ROW_IDLE("cpu_offloading_double_buffering"), ROW_IDLE("cpu_offloading_retain_*"), ROW_UNSIMULATED("window_size"),
    ROW_UNSIMULATED("fp32_residual_connection"),
    ROW_UNSIMULATED("freeze_*"),
    ROW_UNSIMULATED("num_distributed_optimizer_instances"), ROW_UNSIMULATED("fsdp_*"), ROW_UNSIMULATED("moe_a2a_overlap"),
    ROW_UNSIMULATED("use_megatron_fsdp"), ROW_UNSIMULATED("first_last_layers_bf16"),
    ROW("experimental_attention_variant", NULL, .class = DIALECT_REFUSED, .why = "linear and sparse attention are not simulated"),
    ROW("linear_attention_freq", NULL, .class = DIALECT_REFUSED, .why = "linear attention is not simulated"),
    ROW_UNSIMULATED("linear_*"), ROW_UNSIMULATED("dsa_*"), ROW_UNSIMULATED("gdp_*"), ROW_UNSIMULATED("mhc_*"), ROW_UNSIMULATED("enable_mhc_*"), ROW_UNSIMULATED("mup_*"), ROW_UNSIMULATED("use_mup"), ROW_UNSIMULATED("gtp_*"),
    ROW_UNSIMULATED("multi_latent_attention"), ROW_UNSIMULATED("attention_output_gate"), ROW_UNSIMULATED("qk_l2_norm"), ROW_UNSIMULATED("softmax_type"), ROW_UNSIMULATED("window_attn_skip_freq"), ROW_UNSIMULATED("mla_*"),
    ROW_UNSIMULATED("tensor_parallel_num_weight_shards"), ROW_UNSIMULATED("expert_tensor_parallel_num_weight_shards"), ROW_UNSIMULATED("expert_gtp_*"), ROW_UNSIMULATED("hybrid_context_parallel"), ROW_UNSIMULATED("max_seqlen_per_*"),
    ROW_UNSIMULATED("distribute_saved_activations"), ROW_UNSIMULATED("activation_func_fp8_input_store"), ROW_UNSIMULATED("batch_invariant_*"), ROW_UNSIMULATED("delay_wgrad_compute"), ROW_UNSIMULATED("high_priority_a2a_*"),
    ROW_UNSIMULATED("overlap_dispatch_*"), ROW_UNSIMULATED("ep_overlap_*"), ROW_UNSIMULATED("pipeline_model_parallel_comm_backend"), ROW_UNSIMULATED("mlp_chunks_for_training"), ROW_UNSIMULATED("flash_attention_version"),
    ROW_UNSIMULATED("fp16_lm_cross_entropy"), ROW_UNSIMULATED("kitchen_*"), ROW_UNSIMULATED("use_kitchen*"), ROW_UNSIMULATED("use_transformer_engine_op_*"), ROW_UNSIMULATED("use_grouped_gemm_for_*"), ROW_UNSIMULATED("dense_grouped_gemm"),
    ROW_UNSIMULATED("use_fused_weighted_squared_relu"), ROW_UNSIMULATED("mtp_hsm"), ROW_UNSIMULATED("mtp_standalone"), ROW_UNSIMULATED("symmetric_ar_type"), ROW_UNSIMULATED("disable_bf16_reduced_*"), ROW_UNSIMULATED("restore_modelopt_state"),
    ROW_UNSIMULATED("moe_latent_size"), ROW_UNSIMULATED("moe_paged_*"), ROW_UNSIMULATED("moe_permute_fusion_into_*"), ROW_UNSIMULATED("moe_shared_expert_gate"), ROW_UNSIMULATED("moe_dispatch_fwd_dtype"), ROW_UNSIMULATED("moe_combine_bwd_dtype"),
    ROW_UNSIMULATED("moe_hybridep_*"), ROW_UNSIMULATED("moe_layer_recompute"), ROW_UNSIMULATED("moe_single_grouped_*"), ROW_UNSIMULATED("moe_use_grouped_tensor"), ROW_UNSIMULATED("moe_ncclep_*"), ROW_UNSIMULATED("moe_expert_rank_*"),
    ROW_UNSIMULATED("heterogeneous_*"), ROW_UNSIMULATED("use_mamba_mem_eff_path"),
    ROW_IDLE("fp8_*"), ROW_IDLE("fp4*"), ROW_IDLE("num_layers_at_*"), ROW_IDLE("quant_recipe"), /* by mixed_precision, which goes over the model's */
    ROW_IDLE("yarn_*"), ROW_IDLE("no_rope_freq"), ROW_IDLE("seq_len_interpolation_factor"), ROW_IDLE("softmax_scale"), ROW_IDLE("qk_clip*"), ROW_IDLE("glu_linear_offset"), ROW_IDLE("activation_func_clamp_value"), ROW_IDLE("embedding_init_*"),
    ROW_IDLE("output_layer_init_method"), ROW_IDLE("inference_*"), ROW_IDLE("flash_decode"), ROW_IDLE("nccl_all_reduce_for_prefill"), ROW_IDLE("mlp_chunks_for_prefill"), ROW_IDLE("config_logger_dir"), ROW_IDLE("timers"),
    ROW_IDLE("barrier_with_*"), ROW_IDLE("enable_autocast"), ROW_IDLE("test_mode"), ROW_IDLE("tp_comm_*"), ROW_IDLE("overlap_p2p_*"), ROW_IDLE("fused_*"), ROW_IDLE("memory_efficient_layer_norm"), ROW_IDLE("hetereogenous_*"),
    ROW_IDLE("clone_scatter_*"), ROW_IDLE("scatter_embedding_*"), ROW_IDLE("init_model_with_meta_device"), ROW_IDLE("mtp_enabled"), ROW_IDLE("mtp_detach_heads"), ROW_IDLE("transformer_layer_spec"), ROW_IDLE("logit_dtype"),
    ROW_IDLE("mamba_training_*"), ROW_IDLE("mrope_section"), ROW_IDLE("grad_scale_func"), ROW_IDLE("grad_sync_func"), ROW_IDLE("param_sync_func"), ROW_IDLE("no_sync_func"), ROW_IDLE("finalize_model_grads_func"), ROW_IDLE("mtp_grad_scale_func"),
    ROW_IDLE("name"), ROW_IDLE("tokenizer*"), ROW_IDLE("optim*"), ROW_IDLE("pipeline_dtype"), ROW_IDLE("params_dtype"), ROW_IDLE("autocast_dtype"), ROW_IDLE("bf16"), ROW_IDLE("fp16"), ROW_IDLE("gradient_*"), ROW_IDLE("ckpt_*"),
    ROW_IDLE("cross_entropy_*"), ROW_IDLE("init_method*"), ROW_IDLE("apply_*"), ROW_IDLE("rotary_*"), ROW_IDLE("rope_*"), ROW_IDLE("scale_factor"), ROW_IDLE("layernorm_*"), ROW_IDLE("moe_*"), ROW_IDLE("persist_layer_norm"),
    ROW_IDLE("bias_*"), ROW_IDLE("masked_softmax_fusion"), ROW_IDLE("attention_softmax_in_fp32"), ROW_IDLE("deterministic_mode"), ROW_IDLE("tp_comm_overlap_*"), ROW_IDLE("tp_comm_bootstrap_backend"), ROW_IDLE("tp_only_amax_red"),
    ROW_IDLE("cuda_graph_*"), ROW_IDLE("transformer_impl"), ROW_IDLE("mtp_loss_scaling_factor"), ROW("mtp_hybrid_override_pattern", NULL, .class = DIALECT_UNSIMULATED, .off = is_plain_further), ROW_IDLE("is_hybrid_model"), ROW_IDLE("mamba_chunk_size"), ROW_IDLE("rotary_*"), ROW_IDLE("use_*"), ROW_IDLE("save_*"), ROW_IDLE("async_save"), ROW_IDLE("parallel_*"),
    ROW_IDLE("progress_interval"), ROW_IDLE("setup_optimizers"), ROW_IDLE("init_model_parallel"), ROW_IDLE("replace_progress_bar"), ROW_IDLE("restore_config*"), ROW_IDLE("megatron_log_level"), ROW_IDLE("lazy_init"), ROW_IDLE("seed"),
    ROW_IDLE("calculate_per_token_loss"), ROW_IDLE("disable_parameter_transpose_cache"), ROW_IDLE("enable_tp_comm_*"), ROW_IDLE("variable_seq_lengths"), ROW_IDLE("max_position_embeddings"), ROW_IDLE("num_microbatches_*"),
    ROW_IDLE("overlap_p2p_comm"), ROW_IDLE("batch_p2p_*"), ROW_IDLE("deallocate_pipeline_outputs"), ROW_IDLE("hf_*"), ROW_IDLE("trust_remote_code"),
    ROW_IDLE("_pipeline_*"), ROW_IDLE("microbatch_group_size_per_vp_stage"), ROW_IDLE("log_*"), ROW_IDLE("should_pad_vocab"), ROW_IDLE("generation_config"), ROW_IDLE("model_transform"), ROW_IDLE("perform_initialization"), ROW_IDLE("cp_partition_mode"),
    ROW_END,
};
static const struct dialect_option train_others[] = {
    ROW_IDLE("manual_gc*"), ROW_IDLE("gpu_sniff_*"), ROW_IDLE("eval_*"), ROW_IDLE("num_workers"), ROW_IDLE("split*"), ROW_IDLE("blend*"), ROW_IDLE("random_seed"), ROW_IDLE("reset_*"), ROW_IDLE("eod_mask_loss"),
    ROW_IDLE("num_*"), ROW_IDLE("data_*"), ROW_IDLE("dataloader_type"), ROW_IDLE("skip_*"), ROW_IDLE("path*"), ROW_IDLE("paths"), ROW_IDLE("index_*"), ROW_IDLE("tokenizer*"), ROW_IDLE("dataset*"), ROW_IDLE("persistent_workers"),
    ROW_IDLE("pin_memory"), ROW_IDLE("packed_sequence_specs*"), ROW_IDLE("packed_*"), ROW_IDLE("rampup_batch_size"), ROW_IDLE("force_redownload"), ROW_IDLE("delete_raw"), ROW_IDLE("seed"), ROW_IDLE("memmap_workers"), ROW_IDLE("do_*"),
    ROW_IDLE("max_train_samples"), ROW_IDLE("hf_*"), ROW_IDLE("rewrite"), ROW_IDLE("enable_offline_packing"), ROW_IDLE("offline_*"), ROW_IDLE("exit_*"), ROW_IDLE("empty_unused_memory_level"), ROW_IDLE("check_*"), ROW_IDLE("train_*"), ROW_IDLE("val_*"),
    ROW_IDLE("drop_last"), ROW_IDLE("keep_in_memory"), ROW_IDLE("partition"), ROW_IDLE("shuffle"), ROW_IDLE("skip_train"), ROW_IDLE("sample_*"), ROW_IDLE("decrease_*"), ROW_IDLE("iterations_*"), ROW_IDLE("create_*"), ROW_IDLE("mmap_*"), ROW_IDLE("mock"), ROW_IDLE("process_example_fn"), ROW_IDLE("source*"), ROW_IDLE("preprocessing*"),
    ROW_IDLE("vocab_file"), ROW_IDLE("merges_file"),  ROW_IDLE("log_*"),
    ROW_END,
};
static const struct dialect_option count_others[] = {
    ROW_UNSIMULATED("limit_train_batches"),
    ROW_IDLE("accelerator"), ROW_IDLE("accumulate_grad_batches"), ROW_IDLE("callbacks*"), ROW_IDLE("limit_*"), ROW_IDLE("log_*"), ROW_IDLE("val_check_interval"), ROW_IDLE("use_distributed_sampler"), ROW_IDLE("enable_*"),
    ROW_IDLE("max_*"), ROW_IDLE("num_sanity_val_steps"), ROW_IDLE("logger*"), ROW_IDLE("profiler"), ROW_IDLE("check_val_every_n_epoch"), ROW_IDLE("reload_*"), ROW_IDLE("plugins"), ROW_IDLE("strategy"), ROW_IDLE("gradient_clip_*"), ROW_IDLE("default_root_dir"),
    ROW_IDLE("deterministic"), ROW_IDLE("benchmark"), ROW_IDLE("fast_dev_run"), ROW_IDLE("num_val_batches"),
    ROW_END,
};
static const struct dialect_option ddp_rows[] = {
    ROW_ACTS("use_distributed_optimizer", WIDE "sharding/strategy"), ROW_ACTS("overlap_grad_reduce", WIDE "overlap"), ROW_ACTS("overlap_param_gather", WIDE "overlap_param_gather"),
    ROW_ACTS("grad_reduce_in_fp32", "/training/gradient_dtype"), ROW_ACTS("align_param_gather", WIDE "align_param_gather"), ROW_ACTS("bucket_size", WIDE "bucket_size"),
    ROW_ACTS("use_megatron_fsdp", WIDE "sharding/strategy"), ROW_ACTS("use_custom_fsdp", WIDE "sharding/strategy"), ROW_ACTS("use_torch_fsdp2", WIDE "sharding/strategy"),
    ROW("num_distributed_optimizer_instances", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one), ROW_UNSIMULATED("fsdp_double_buffer"), ROW_UNSIMULATED("nccl_ub"), ROW_IDLE("fp8_param_gather"),
    ROW_UNSIMULATED("outer_dp_sharding_strategy"), ROW_UNSIMULATED("keep_fp8_transpose_cache"), ROW_UNSIMULATED("overlap_param_gather_with_optimizer_step"),
    ROW_UNSIMULATED("num_buckets"), ROW_UNSIMULATED("delay_wgrad_compute"), ROW_UNSIMULATED("fsdp_all_gather_*"), ROW_UNSIMULATED("fsdp_manual_*"), ROW_IDLE("disable_symmetric_*"), ROW_IDLE("fp4_param_gather"),
    ROW_IDLE("check_for_*"), ROW_IDLE("average_in_collective"), ROW_ACTS("data_parallel_sharding_strategy", WIDE "sharding/strategy"), ROW_IDLE("gradient_reduce_div_fusion"), ROW_IDLE("suggested_communication_unit_size"), ROW_IDLE("preserve_*"),
    ROW_IDLE("pad_*"), ROW_IDLE("reuse_*"), ROW_IDLE("reduce_*"), ROW_UNSIMULATED("megatron_fsdp_*"), ROW_IDLE("fsdp_db_*"), ROW_IDLE("keep_*"), ROW_IDLE("param_name_*"), ROW_IDLE("finalize_*"),
    ROW_END,
};
static const struct dialect_option optim_rows[] = {
    ROW("clip_grad", "/training/gradient_clipping", .kind = DIALECT_NORM), ROW_ACTS("optimizer", "/training/optimizer"), ROW_ACTS("use_distributed_optimizer", WIDE "sharding/strategy"),
    ROW_ACTS("use_precision_aware_optimizer", "/training/optimizer_states"), ROW_ACTS("main_params_dtype", "/training/optimizer_states/master_weights"), ROW_ACTS("exp_avg_dtype", "/training/optimizer_states/first_moment"), ROW_ACTS("exp_avg_sq_dtype", "/training/optimizer_states/second_moment"),
    ROW_UNSIMULATED("optimizer_cpu_offload"), ROW_UNSIMULATED("optimizer_offload_fraction"), ROW_UNSIMULATED("overlap_cpu_optimizer_*"),
    ROW_UNSIMULATED("overlap_param_gather_with_optimizer_step"),
    ROW_IDLE("lr"), ROW_IDLE("min_lr"), ROW_IDLE("weight_decay*"), ROW_IDLE("adam_*"), ROW_IDLE("bf16"), ROW_IDLE("fp16"), ROW_IDLE("params_dtype"), ROW_IDLE("main_*"), ROW_IDLE("exp_avg_*"), ROW_IDLE("sgd_*"), ROW_IDLE("decoupled_*"),
    ROW_IDLE("loss_scale*"), ROW_IDLE("log_*"), ROW_IDLE("barrier_*"), ROW_IDLE("timers"), ROW_IDLE("muon_*"), ROW_IDLE("use_torch_*"), ROW_IDLE("pin_*"), ROW_IDLE("config_logger_dir"), ROW_IDLE("initial_*"), ROW_IDLE("hysteresis"), ROW_IDLE("store_*"),
    ROW_IDLE("overlap_*"), ROW_IDLE("reuse_*"), ROW_IDLE("fp8_recipe"), ROW_IDLE("lion_*"), ROW_IDLE("soap_*"), ROW_IDLE("adaptive_muon_*"), ROW_IDLE("apply_wd_*"), ROW_IDLE("grad_norm_skip_threshold"), ROW_IDLE("min_loss_scale"),
    ROW_UNSIMULATED("optimizer_cuda_graph"), ROW_UNSIMULATED("use_layer_wise_distributed_optimizer"),
    ROW_END,
};
static const struct dialect_option mixed_rows[] = {
    ROW_ACTS("class", "/training/precision"), ROW_ACTS("precision", "/training/precision"), ROW_ACTS("bf16", "/training/precision"), ROW_ACTS("fp16", "/training/precision"), ROW_ACTS("fp8", "/training/precision"), ROW_ACTS("fp4", "/training/precision"),
    ROW_ACTS("fp8_recipe", "/training/precision"), ROW_ACTS("grad_reduce_in_fp32", "/training/gradient_dtype"),
    ROW_ACTS("fp8_param_gather", "/training/quantized_parameters"), ROW_ACTS("fp8_param", "/training/quantized_parameters"), ROW_ACTS("fp4_param_gather", "/training/quantized_parameters"), ROW_ACTS("fp4_param", "/training/quantized_parameters"),
    ROW_ACTS("reuse_grad_buf_for_mxfp8_param_ag", "/training/quantized_parameters"), ROW_ACTS("first_last_layers_bf16", "/training/layers_16bit"), ROW_ACTS("num_layers_at_start_in_bf16", "/training/layers_16bit/first"), ROW_ACTS("num_layers_at_end_in_bf16", "/training/layers_16bit/last"),
    ROW("fp8_wgrad", NULL, .class = DIALECT_UNSIMULATED, .off = launch_true),
    ROW_UNSIMULATED("fp8_dot_product_attention"), ROW_UNSIMULATED("fp8_multi_head_attention"),
    ROW_IDLE("params_dtype"), ROW_IDLE("pipeline_dtype"), ROW_IDLE("autocast_*"), ROW_IDLE("fp8_*"), ROW_IDLE("fp4_*"), ROW_IDLE("loss_scale*"), ROW_IDLE("initial_*"), ROW_IDLE("min_loss_scale"), ROW_IDLE("hysteresis"),
     ROW_IDLE("fp32"), ROW_IDLE("enable_autocast"),
    ROW_END,
};
static const struct dialect_option comm_rows[] = {
    ROW_ONLY("tp_comm_overlap", WIDE "overlap_tensor"), ROW_ACTS("overlap_grad_reduce", WIDE "overlap"), ROW_ACTS("overlap_param_gather", WIDE "overlap_param_gather"), ROW_ACTS("align_param_gather", WIDE "align_param_gather"),
    ROW_ACTS("bucket_size", WIDE "bucket_size"), ROW_ACTS("overlap_moe_expert_parallel_comm", WIDE "expert_overlap"), ROW_UNSIMULATED("overlap_param_gather_with_optimizer_step"),
    ROW_ACTS("defer_embedding_wgrad_compute", WIDE "defer_embedding_wgrad"), ROW_ACTS("wgrad_deferral_limit", WIDE "wgrad_deferral_limit"),
    ROW_UNSIMULATED("delay_wgrad_compute"),
    ROW_IDLE("class"), ROW_IDLE("tp_comm_*"), ROW_IDLE("overlap_p2p_comm"), ROW_IDLE("batch_p2p_*"), ROW_IDLE("data_parallel_size"), ROW_IDLE("moe_*"),
    ROW_END,
};
static const struct dialect_option peft_rows[] = {
    ROW_ACTS("class", "/training/lora"), ROW_ACTS("dim", "/training/lora/rank"), ROW_ACTS("alpha", "/training/lora/alpha"), ROW_ACTS("dropout", "/training/lora/dropout"), ROW_ACTS("target_modules", "/training/lora/target_modules"),
    ROW_ACTS("peft_scheme", "/training/lora"),
    ROW_UNSIMULATED("a2a_experimental"), ROW_IDLE("lora_*"), ROW_IDLE("dropout_*"), ROW_IDLE("exclude_modules"), ROW_IDLE("normalize_moe_lora"), ROW_IDLE("share_expert_adapters"), 
    ROW_END,
};
static const struct dialect_option rest_rows[] = {
    ROW_ACTS("peft", "/training/lora"), ROW_ACTS("mixed_precision", "/training/precision"), ROW_ACTS("instance_type", "/cluster/instance"), ROW_ACTS("run.name", "/model"), ROW_ACTS("display_name", "/model"),
    ROW_ACTS("tokenizer.vocab_size", "/model/vocab_size"), ROW_ACTS("tokenizer.tokenizer_type", "/model/vocab_size"), ROW_ACTS("tokenizer.use_tokenizer_vocab_size", "/model/vocab_size"),
    ROW_IDLE("log*"), ROW_IDLE("resume*"), ROW_IDLE("optim*"), ROW_IDLE("checkpoint*"), ROW_IDLE("scheduler*"), ROW_IDLE("logger*"), ROW_IDLE("tokenizer*"), ROW_IDLE("rng*"), ROW_ACTS("dist.use_megatron_fsdp", WIDE "library"), ROW_ACTS("dist.use_torch_fsdp2", WIDE "library"), ROW_ACTS("dist.use_tp_pp_dp_mapping", WIDE "placement"), ROW_IDLE("dist*"), ROW_IDLE("validation*"), ROW_IDLE("profiling*"),
    ROW_IDLE("env_vars*"), ROW_IDLE("comm_overlap"),  ROW_IDLE("fn"), ROW_IDLE("name"), ROW_IDLE("dir"), ROW_IDLE("export"), ROW_IDLE("callbacks*"), ROW_IDLE("dataset*"), ROW_IDLE("mmap*"), ROW_IDLE("resources*"), ROW_IDLE("pre_script"),
    ROW_IDLE("run*"), ROW_IDLE("exp_manager*"), ROW_IDLE("version"), ROW_IDLE("instance_types"), ROW_IDLE("rerun_state_machine*"), ROW_IDLE("straggler*"), ROW_IDLE("nvrx_straggler*"), ROW_IDLE("ft*"), ROW_IDLE("inprocess_restart*"), ROW_IDLE("tensor_inspect*"),
    ROW_IDLE("hydra*"), ROW_IDLE("defaults"), ROW_IDLE("base_results_dir"), ROW_IDLE("container*"), ROW_IDLE("cluster*"), ROW_IDLE("git*"), ROW_IDLE("data"), ROW_IDLE("model_transform"), ROW_IDLE("ddp"), ROW_IDLE("trainer"), ROW_IDLE("model"),
    ROW_IDLE("resume_path"), ROW_IDLE("tokenizer_model"), ROW_IDLE("train"), ROW_IDLE("optimizer"), ROW_IDLE("finetune*"), ROW_IDLE("hf_path"), ROW_IDLE("fault_tolerance*"), ROW_IDLE("to_cfg"), ROW_IDLE("inference*"), ROW_IDLE("strategy"), ROW_IDLE("plugins"),
    ROW_END,
};
#define TABLE(PATH, ROWS) { PATH, ROWS, DIALECT_UNKNOWN_WARNED }
const struct dialect_table core_tables[] = {
    TABLE("model", core_model_rows), TABLE("model", core_width_rows), TABLE("model", model_joint), TABLE("model", model_others),
    TABLE("train", core_train_rows), TABLE("train", train_others), TABLE("trainer", nemo_trainer_rows), TABLE("trainer", count_others),
    TABLE("ddp", ddp_rows), TABLE("optimizer", core_optimizer_rows), TABLE("optimizer", optim_rows), TABLE("mixed_precision", mixed_rows), TABLE("comm_overlap", comm_rows), TABLE("peft", peft_rows), TABLE("", rest_rows),
    TABLE(NULL, NULL),
};
/* clang-format on */
