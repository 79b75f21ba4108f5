/* The keys of DeepSpeed's configuration that no field of a scenario is made of: without
 * effect on a step, not simulated, or misspelt. */
#include "dialect/deepspeed/deepspeed.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
const struct dialect_word deepspeed_optimizers[] = {
    { "AdamW", "adam" }, { "Adam", "adam" }, { "FusedAdam", "adam" }, { "Adafactor", "adafactor" },
    { "Lamb", "lamb" }, { "FusedLamb", "lamb" }, { "SGD", "sgd" }, { "Lion", "lion" }, { "FusedLion", "lion" }, { NULL, NULL },
};
static const struct dialect_option root_keys[] = {
    ROW("train_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE, .written = true), ROW("train_micro_batch_size_per_gpu", "/training/micro_batch_size", .kind = DIALECT_SIZE, .written = true),
    ROW("gradient_accumulation_steps", "/training/gradient_accumulation_steps", .give = deepspeed_give_accumulation), ROW_ACTS("zero_optimization", NULL),
    ROW_ACTS("fp16", "/training/precision"), ROW_ACTS("bf16", "/training/precision"), ROW_ACTS("bfloat16", "/training/precision"),
    ROW_ACTS("amp", "/training/precision"), ROW_ACTS("torch_autocast", "/training/precision"), ROW_ACTS("optimizer", "/training/optimizer"),
    ROW("gradient_clipping", "/training/gradient_clipping", .give = deepspeed_give_clipping), ROW("communication_data_type", "/training/gradient_dtype", .kind = DIALECT_TEXT, .written = true),
    ROW_ACTS("activation_checkpointing", "/training/activation_checkpointing"), ROW_ACTS("pipeline", NULL),
    ROW_ACTS("lora*", "/training/lora"), ROW_ACTS("peft*", "/training/lora"),
    ROW_ACTS("tensor_parallel", NULL), ROW("sequence_parallel_size", "/parallelism/context", .kind = DIALECT_DEGREE),
    ROW_IDLE("data_parallel_size"), ROW_IDLE("gradient_checkpointing"), /* the Trainer's */
    ROW_IDLE("scheduler"), ROW_IDLE("steps_per_print"), ROW_IDLE("eigenvalue_*"), /* of MoQ, as its configuration was flat */
    ROW_IDLE("wall_clock_breakdown"), ROW_IDLE("memory_breakdown"),
    ROW_IDLE("dump_state"), ROW_IDLE("prescale_gradients"),
    ROW_IDLE("gradient_predivide_factor"), ROW_IDLE("tensorboard"),
    ROW_IDLE("wandb"), ROW_IDLE("comet"), ROW_IDLE("csv_monitor"),
    ROW_IDLE("flops_profiler"), ROW_IDLE("comms_logger"), ROW_IDLE("aio"),
    ROW_IDLE("checkpoint"), ROW_UNSIMULATED("data_types"), ROW_IDLE("seed"),
    ROW_IDLE("zero_allow_untested_optimizer"), ROW_IDLE("disable_allgather"),
    ROW_IDLE("zero_force_ds_cpu_optimizer"), ROW_IDLE("dataloader_drop_last"),
    ROW_IDLE("use_data_before_expert_parallelism"), ROW_IDLE("comment"),
    ROW_IDLE("graph_harvesting"), ROW_IDLE("weight_quantization"),
    ROW_IDLE("timers"), ROW_IDLE("communication_options"),
    ROW_UNSIMULATED("sparse_gradients"), ROW_UNSIMULATED("sparse_attention"),
    ROW_UNSIMULATED("compression_training"), ROW_UNSIMULATED("quantize_training"),
    ROW_UNSIMULATED("curriculum_learning"), ROW_UNSIMULATED("data_efficiency"),
    ROW_UNSIMULATED("progressive_layer_drop"), ROW_UNSIMULATED("elasticity"),
    ROW_UNSIMULATED("autotuning"), ROW_UNSIMULATED("hybrid_engine"),
    ROW_UNSIMULATED("compile"), ROW_UNSIMULATED("eigenvalue"), ROW_END,
};
static const struct dialect_option zero_keys[] = {
    ROW("stage", "/parallelism/sharding/strategy", .give = deepspeed_give_stage), ROW("overlap_comm", "/parallelism/overlap", .give = deepspeed_give_overlap),
    ROW("reduce_bucket_size", "/parallelism/bucket_size", .give = deepspeed_give_bucket), ROW_ACTS("offload_optimizer", "/parallelism/sharding/offload"),
    ROW_ACTS("offload_param", "/parallelism/sharding/offload"), ROW_ACTS("cpu_offload", "/parallelism/sharding/offload"),
    ROW_ACTS("cpu_offload_param", "/parallelism/sharding/offload"), ROW_ACTS("cpu_offload_params", "/parallelism/sharding/offload"),
    ROW("stage3_param_persistence_threshold", "/parallelism/sharding/param_persistence_elements", .kind = DIALECT_WHOLE, .written = true),
    ROW_ACTS("param_persistence_threshold", "/parallelism/sharding/param_persistence_elements"),
    ROW("stage3_max_live_parameters", "/parallelism/sharding/max_live_elements", .kind = DIALECT_WHOLE, .written = true), ROW_ACTS("max_live_parameters", "/parallelism/sharding/max_live_elements"),
    ROW("stage3_max_reuse_distance", "/parallelism/sharding/max_reuse_elements", .kind = DIALECT_WHOLE, .written = true), ROW_ACTS("max_reuse_distance", "/parallelism/sharding/max_reuse_elements"),
    ROW("mics_shard_size", "/parallelism/sharding/degree", .give = deepspeed_give_mics), ROW("mics_hierarchical_params_gather", "/parallelism/sharding/hierarchical_allgather", .give = deepspeed_give_hierarchical),
    ROW_IDLE("allgather_bucket_size"), ROW_IDLE("allgather_partitions"),
    ROW_IDLE("contiguous_gradients"), ROW_IDLE("sub_group_size"),
    ROW_IDLE("stage3_prefetch_bucket_size"), ROW_IDLE("prefetch_bucket_size"),
    ROW_IDLE("stage3_param_persitence_threshold"), /* so misspelt in DeepSpeedExamples of 2021, and passed over by its DeepSpeed */
    ROW_IDLE("stage3_model_persistence_threshold"),
    ROW_IDLE("model_persistence_threshold"),
    ROW_IDLE("stage3_gather_16bit_weights_on_model_save"),
    ROW_IDLE("gather_16bit_weights_on_model_save"),
    ROW_IDLE("stage3_gather_fp16_weights_on_model_save"),
    ROW_IDLE("stage3_module_granularity_threshold"),
    ROW_IDLE("stage3_use_all_reduce_for_fetch_params"),
    ROW_IDLE("load_from_fp32_weights"), ROW_IDLE("elastic_checkpoint"),
    ROW_IDLE("cpu_offload_use_pin_memory"), ROW_IDLE("ignore_unused_parameters"),
    ROW_IDLE("legacy_stage1"), ROW_IDLE("round_robin_gradients"),
    ROW("use_multi_rank_bucket_allreduce", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_from_one),
    ROW_UNSIMULATED("stage3_allgather_sequential"), ROW_UNSIMULATED("leaf_module"), ROW_UNSIMULATED("save_muon_momentum_buffer_in_memory"), /* of 2026-08 */
    ROW_IDLE("memory_efficient_linear"), ROW_IDLE("override_module_apply"),
    ROW_IDLE("pipeline_loading_checkpoint"), ROW_IDLE("log_trace_cache_warnings"),
    ROW_IDLE("enable_sanity_checks"), ROW_IDLE("comment"),
    ROW_IDLE("reduce_scatter"),
    ROW("zero_hpz_partition_size", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one),
    ROW_UNSIMULATED("zero_quantized_weights"),
    ROW_UNSIMULATED("zero_quantized_nontrainable_weights"),
    ROW_UNSIMULATED("zero_quantized_gradients"),
    ROW_UNSIMULATED("zeropp_loco_param"), ROW_UNSIMULATED("zenflow"),
    ROW_END,
};
static const struct dialect_option fp16_keys[] = {
    ROW("enabled", "/training/precision", .give = deepspeed_give_fp16), ROW_IDLE("auto_cast"), ROW_IDLE("loss_scale"),
    ROW_IDLE("initial_scale_power"), ROW_IDLE("loss_scale_window"),
    ROW_IDLE("hysteresis"), ROW_IDLE("consecutive_hysteresis"),
    ROW_IDLE("min_loss_scale"),
    ROW_UNSIMULATED("fp16_master_weights_and_grads"), ROW_END,
};
static const struct dialect_option bf16_enabled[] = {
    ROW("enabled", "/training/precision", .give = deepspeed_give_bf16), ROW_END,
};
static const struct dialect_option bf16_keys[] = {
    ROW_ACTS("enabled", "/training/precision"), ROW_IDLE("immediate_grad_update"),
    ROW_IDLE("check_grad_overflow"),
    ROW_UNSIMULATED("bf16_master_weights_and_grads"),
    ROW_UNSIMULATED("bf16_optimizer_states"), ROW_END,
};
static const struct dialect_option amp_keys[] = {
    ROW("enabled", "/training/precision", .give = deepspeed_give_amp), ROW_IDLE("opt_level"), ROW_END,
};
static const struct dialect_option autocast_keys[] = {
    ROW("enabled", "/training/precision", .give = deepspeed_give_autocast), ROW_ACTS("dtype", "/training/precision"),
    ROW_IDLE("lower_precision_safe_modules"), ROW_END,
};
static const struct dialect_option optimizer_keys[] = {
    ROW("type", "/training/optimizer", .kind = DIALECT_WORD, .words = deepspeed_optimizers, .written = true), ROW_IDLE("params"), ROW_IDLE("legacy_fusion"),
    ROW_END,
};
static const struct dialect_option checkpointing_keys[] = {
    ROW_ACTS("partition_activations", "/training/activation_checkpointing"), ROW("cpu_checkpointing", "/parallelism/offload_activations", .kind = DIALECT_SWITCH, .written = true),
    ROW_IDLE("contiguous_memory_optimization"), ROW_IDLE("number_checkpoints"),
    ROW_IDLE("synchronize_checkpoint_boundary"), ROW_IDLE("profile"),
    ROW_END,
};
static const struct dialect_option pipeline_keys[] = {
    ROW("stages", "/parallelism/pipeline", .kind = DIALECT_DEGREE, .written = true), ROW_IDLE("partition"), ROW_IDLE("seed_layers"),
    ROW_UNSIMULATED("activation_checkpoint_interval"), ROW_END,
};
static const struct dialect_option tensor_keys[] = {
    ROW("autotp_size", "/parallelism/tensor", .kind = DIALECT_DEGREE, .written = true), ROW_IDLE("dtype"),
    ROW_UNSIMULATED("tp_overlap_comm"), ROW_END,
};
static const struct dialect_option states_device[] = {
    ROW("device", "/parallelism/sharding/offload", .give = deepspeed_give_states), ROW_END,
};
static const struct dialect_option params_device[] = {
    ROW("device", "/parallelism/sharding/offload", .give = deepspeed_give_params), ROW_END,
};
static const struct dialect_option offload_keys[] = {
    ROW_IDLE("nvme_path"), ROW_IDLE("buffer_count"),
    ROW_IDLE("buffer_size"), ROW_IDLE("max_in_cpu"), ROW_IDLE("pin_memory"),
    ROW_IDLE("pipeline_read"), ROW_IDLE("pipeline_write"),
    ROW_IDLE("fast_init"), ROW_UNSIMULATED("super_offload"),
    ROW_UNSIMULATED("cpuadam_cores_perc"),
    ROW("ratio", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_from_one), ROW_END,
};
/* DeepSpeed's deepspeed/runtime/config.py, zero/config.py, zero/offload_config.py,
 * precision_config.py and activation_checkpointing/config.py. */
const struct dialect_table deepspeed_tables[] = {
    { "", root_keys, DIALECT_UNKNOWN_NEAR_WRONG },
    { "zero_optimization", zero_keys, DIALECT_UNKNOWN_WRONG },
    { "zero_optimization/offload_optimizer", states_device, DIALECT_UNKNOWN_WRONG },
    { "zero_optimization/offload_optimizer", offload_keys, DIALECT_UNKNOWN_WRONG },
    { "zero_optimization/offload_param", params_device, DIALECT_UNKNOWN_WRONG },
    { "zero_optimization/offload_param", offload_keys, DIALECT_UNKNOWN_WRONG },
    { "fp16", fp16_keys, DIALECT_UNKNOWN_NEAR_WRONG },
    { "bf16", bf16_enabled, DIALECT_UNKNOWN_NEAR_WRONG },
    { "bf16", bf16_keys, DIALECT_UNKNOWN_NEAR_WRONG },
    { "bfloat16", bf16_keys, DIALECT_UNKNOWN_NEAR_WRONG },
    { "amp", amp_keys, DIALECT_UNKNOWN_NEAR_WRONG },
    { "torch_autocast", autocast_keys, DIALECT_UNKNOWN_NEAR_WRONG },
    { "optimizer", optimizer_keys, DIALECT_UNKNOWN_NEAR_WRONG },
    { "activation_checkpointing", checkpointing_keys, DIALECT_UNKNOWN_NEAR_WRONG },
    { "pipeline", pipeline_keys, DIALECT_UNKNOWN_NEAR_WRONG },
    { "tensor_parallel", tensor_keys, DIALECT_UNKNOWN_NEAR_WRONG },
    { NULL, NULL, DIALECT_UNKNOWN_NEAR_WRONG },
};
/* clang-format on */

/* Keys that act only with others --------------------------------------------------- */

static bool any_stage(const struct deepspeed *c)
{
    return c->stage > 0;
}

static bool stage_3(const struct deepspeed *c)
{
    return c->stage == 3;
}

static bool mics(const struct deepspeed *c)
{
    const struct value_item *it =
        c->zero ? value_get(c->zero, "mics_shard_size") : NULL;
    return it && !launch_is_off(it->value);
}

static bool has_no(const struct deepspeed *c, const char *key)
{
    return !c->zero || !value_get(c->zero, key);
}

static bool states_elsewhere(const struct deepspeed *c)
{
    return has_no(c, "offload_optimizer");
}

static bool params_elsewhere(const struct deepspeed *c)
{
    return has_no(c, "offload_param");
}

static const struct {
    const char *key;
    bool (*needs)(const struct deepspeed *c);
    const char *otherwise;
} conditions[] = {
    { "overlap_comm", any_stage, "stage 0 has nothing of ZeRO" },
    { "reduce_bucket_size", any_stage, "stage 0 has nothing of ZeRO" },
    { "stage3_param_persistence_threshold", stage_3, "stage 3 alone heeds it" },
    { "param_persistence_threshold", stage_3, "stage 3 alone heeds it" },
    { "stage3_max_live_parameters", stage_3, "stage 3 alone heeds it" },
    { "max_live_parameters", stage_3, "stage 3 alone heeds it" },
    { "stage3_max_reuse_distance", stage_3, "stage 3 alone heeds it" },
    { "max_reuse_distance", stage_3, "stage 3 alone heeds it" },
    { "cpu_offload", states_elsewhere, "offload_optimizer is given" },
    { "cpu_offload_param", params_elsewhere, "offload_param is given" },
    { "cpu_offload_params", params_elsewhere, "offload_param is given" },
    { "mics_hierarchical_params_gather", mics, "mics_shard_size is not given" },
};

/* Of keys that are taken, those that this configuration cannot heed. */
static void check_conditions(const struct deepspeed *c)
{
    for (size_t i = 0; c->zero && i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        const struct value_item *it = value_get(c->zero, conditions[i].key);
        if (it && it->value->kind != VALUE_NONE && !conditions[i].needs(c))
            launch_note(c->t->l, it->value->line, DIAG_WITHOUT_EFFECT,
                        "%szero_optimization.%s: %s; it is "
                        "without effect",
                        c->prefix, it->key, conditions[i].otherwise);
    }
}

/* The sections --------------------------------------------------------------------- */

/* The dictionary of a table; NULL: the configuration has none. */
static const struct value *section_of(const struct deepspeed *c, const char *path)
{
    const struct value *v = c->root;
    char key[64];
    while (v && *path) {
        size_t n = strcspn(path, "/");
        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        const struct value_item *it = value_get(v, key);
        v = it && it->value->kind == VALUE_DICT ? it->value : NULL;
        path += n + (path[n] == '/');
    }
    return v;
}

static void check_table(const struct deepspeed *c, const struct dialect_table *table)
{
    const struct value *dict = section_of(c, table->path);
    char *section =
        arena_printf(c->t->arena, "%s%s", table->path, *table->path ? "." : "");
    for (char *s = section; *s; s++)
        *s = *s == '/' ? '.' : *s;
    if (dict)
        dialect_report(
            c->t, deepspeed_tables, table->path, dict,
            (struct dialect_place) { dict->line, c->prefix, section, false });
}

void deepspeed_check_keys(const struct deepspeed *c)
{
    const char *last = NULL; /* tables of one path are side by side */
    for (const struct dialect_table *table = deepspeed_tables; table->path; table++) {
        if (!last || strcmp(last, table->path) != 0)
            check_table(c, table);
        last = table->path;
    }
    check_conditions(c);
}
