/* The keys of DeepSpeed's configuration that no field of a scenario is made of: without
 * effect on a step, not simulated, or misspelt. */
#include "dialect/deepspeed/deepspeed.h"

#include "base/names.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
enum { KEY_TAKEN = 1, KEY_IDLE, KEY_UNSIMULATED };
static const struct name_value root_keys[] = {
    { "train_batch_size", KEY_TAKEN }, { "train_micro_batch_size_per_gpu", KEY_TAKEN },
    { "gradient_accumulation_steps", KEY_TAKEN }, { "zero_optimization", KEY_TAKEN },
    { "fp16", KEY_TAKEN }, { "bf16", KEY_TAKEN }, { "bfloat16", KEY_TAKEN },
    { "amp", KEY_TAKEN }, { "torch_autocast", KEY_TAKEN }, { "optimizer", KEY_TAKEN },
    { "gradient_clipping", KEY_TAKEN }, { "communication_data_type", KEY_TAKEN },
    { "activation_checkpointing", KEY_TAKEN }, { "pipeline", KEY_TAKEN },
    { "tensor_parallel", KEY_TAKEN },
    { "scheduler", KEY_IDLE }, { "steps_per_print", KEY_IDLE },
    { "wall_clock_breakdown", KEY_IDLE }, { "memory_breakdown", KEY_IDLE },
    { "dump_state", KEY_IDLE }, { "prescale_gradients", KEY_IDLE },
    { "gradient_predivide_factor", KEY_IDLE }, { "tensorboard", KEY_IDLE },
    { "wandb", KEY_IDLE }, { "comet", KEY_IDLE }, { "csv_monitor", KEY_IDLE },
    { "flops_profiler", KEY_IDLE }, { "comms_logger", KEY_IDLE }, { "aio", KEY_IDLE },
    { "checkpoint", KEY_IDLE }, { "data_types", KEY_IDLE }, { "seed", KEY_IDLE },
    { "zero_allow_untested_optimizer", KEY_IDLE }, { "disable_allgather", KEY_IDLE },
    { "zero_force_ds_cpu_optimizer", KEY_IDLE }, { "dataloader_drop_last", KEY_IDLE },
    { "use_data_before_expert_parallelism", KEY_IDLE }, { "comment", KEY_IDLE },
    { "graph_harvesting", KEY_IDLE }, { "weight_quantization", KEY_IDLE },
    { "timers", KEY_IDLE }, { "communication_options", KEY_IDLE },
    { "sparse_gradients", KEY_UNSIMULATED }, { "sparse_attention", KEY_UNSIMULATED },
    { "compression_training", KEY_UNSIMULATED }, { "quantize_training", KEY_UNSIMULATED },
    { "curriculum_learning", KEY_UNSIMULATED }, { "data_efficiency", KEY_UNSIMULATED },
    { "progressive_layer_drop", KEY_UNSIMULATED }, { "elasticity", KEY_UNSIMULATED },
    { "autotuning", KEY_UNSIMULATED }, { "hybrid_engine", KEY_UNSIMULATED },
    { "compile", KEY_UNSIMULATED }, { "eigenvalue", KEY_UNSIMULATED }, { NULL, 0 },
};
static const struct name_value zero_keys[] = {
    { "stage", KEY_TAKEN }, { "overlap_comm", KEY_TAKEN },
    { "reduce_bucket_size", KEY_TAKEN }, { "offload_optimizer", KEY_TAKEN },
    { "offload_param", KEY_TAKEN }, { "cpu_offload", KEY_TAKEN },
    { "cpu_offload_param", KEY_TAKEN }, { "cpu_offload_params", KEY_TAKEN },
    { "stage3_param_persistence_threshold", KEY_TAKEN },
    { "param_persistence_threshold", KEY_TAKEN },
    { "stage3_max_live_parameters", KEY_TAKEN }, { "max_live_parameters", KEY_TAKEN },
    { "stage3_max_reuse_distance", KEY_TAKEN }, { "max_reuse_distance", KEY_TAKEN },
    { "mics_shard_size", KEY_TAKEN }, { "mics_hierarchical_params_gather", KEY_TAKEN },
    { "allgather_bucket_size", KEY_IDLE }, { "allgather_partitions", KEY_IDLE },
    { "contiguous_gradients", KEY_IDLE }, { "sub_group_size", KEY_IDLE },
    { "stage3_prefetch_bucket_size", KEY_IDLE }, { "prefetch_bucket_size", KEY_IDLE },
    { "stage3_model_persistence_threshold", KEY_IDLE },
    { "model_persistence_threshold", KEY_IDLE },
    { "stage3_gather_16bit_weights_on_model_save", KEY_IDLE },
    { "gather_16bit_weights_on_model_save", KEY_IDLE },
    { "stage3_gather_fp16_weights_on_model_save", KEY_IDLE },
    { "stage3_module_granularity_threshold", KEY_IDLE },
    { "stage3_use_all_reduce_for_fetch_params", KEY_IDLE },
    { "load_from_fp32_weights", KEY_IDLE }, { "elastic_checkpoint", KEY_IDLE },
    { "cpu_offload_use_pin_memory", KEY_IDLE }, { "ignore_unused_parameters", KEY_IDLE },
    { "legacy_stage1", KEY_IDLE }, { "round_robin_gradients", KEY_IDLE },
    { "use_multi_rank_bucket_allreduce", KEY_IDLE },
    { "memory_efficient_linear", KEY_IDLE }, { "override_module_apply", KEY_IDLE },
    { "pipeline_loading_checkpoint", KEY_IDLE }, { "log_trace_cache_warnings", KEY_IDLE },
    { "enable_sanity_checks", KEY_IDLE }, { "comment", KEY_IDLE },
    { "reduce_scatter", KEY_IDLE },
    { "zero_hpz_partition_size", KEY_UNSIMULATED },
    { "zero_quantized_weights", KEY_UNSIMULATED },
    { "zero_quantized_nontrainable_weights", KEY_UNSIMULATED },
    { "zero_quantized_gradients", KEY_UNSIMULATED },
    { "zeropp_loco_param", KEY_UNSIMULATED }, { "zenflow", KEY_UNSIMULATED },
    { NULL, 0 },
};
static const struct name_value fp16_keys[] = {
    { "enabled", KEY_TAKEN }, { "auto_cast", KEY_IDLE }, { "loss_scale", KEY_IDLE },
    { "initial_scale_power", KEY_IDLE }, { "loss_scale_window", KEY_IDLE },
    { "hysteresis", KEY_IDLE }, { "consecutive_hysteresis", KEY_IDLE },
    { "min_loss_scale", KEY_IDLE },
    { "fp16_master_weights_and_grads", KEY_UNSIMULATED }, { NULL, 0 },
};
static const struct name_value bf16_keys[] = {
    { "enabled", KEY_TAKEN }, { "immediate_grad_update", KEY_IDLE },
    { "check_grad_overflow", KEY_IDLE },
    { "bf16_master_weights_and_grads", KEY_UNSIMULATED },
    { "bf16_optimizer_states", KEY_UNSIMULATED }, { NULL, 0 },
};
static const struct name_value amp_keys[] = {
    { "enabled", KEY_TAKEN }, { "opt_level", KEY_IDLE }, { NULL, 0 },
};
static const struct name_value autocast_keys[] = {
    { "enabled", KEY_TAKEN }, { "dtype", KEY_TAKEN },
    { "lower_precision_safe_modules", KEY_IDLE }, { NULL, 0 },
};
static const struct name_value optimizer_keys[] = {
    { "type", KEY_TAKEN }, { "params", KEY_IDLE }, { "legacy_fusion", KEY_IDLE },
    { NULL, 0 },
};
static const struct name_value checkpointing_keys[] = {
    { "partition_activations", KEY_TAKEN }, { "cpu_checkpointing", KEY_TAKEN },
    { "contiguous_memory_optimization", KEY_IDLE }, { "number_checkpoints", KEY_IDLE },
    { "synchronize_checkpoint_boundary", KEY_IDLE }, { "profile", KEY_IDLE },
    { NULL, 0 },
};
static const struct name_value pipeline_keys[] = {
    { "stages", KEY_TAKEN }, { "partition", KEY_IDLE }, { "seed_layers", KEY_IDLE },
    { "activation_checkpoint_interval", KEY_UNSIMULATED }, { NULL, 0 },
};
static const struct name_value tensor_keys[] = {
    { "autotp_size", KEY_TAKEN }, { "dtype", KEY_IDLE },
    { "tp_overlap_comm", KEY_UNSIMULATED }, { NULL, 0 },
};
static const struct name_value offload_keys[] = {
    { "device", KEY_TAKEN }, { "nvme_path", KEY_IDLE }, { "buffer_count", KEY_IDLE },
    { "buffer_size", KEY_IDLE }, { "max_in_cpu", KEY_IDLE }, { "pin_memory", KEY_IDLE },
    { "pipeline_read", KEY_IDLE }, { "pipeline_write", KEY_IDLE },
    { "fast_init", KEY_IDLE }, { "super_offload", KEY_UNSIMULATED },
    { "ratio", KEY_UNSIMULATED }, { NULL, 0 },
};
/* DeepSpeed's deepspeed/runtime/config.py, zero/config.py, zero/offload_config.py,
 * precision_config.py and activation_checkpointing/config.py. */
const struct deepspeed_table deepspeed_tables[] = {
    { "", root_keys, false },
    { "zero_optimization", zero_keys, true },
    { "zero_optimization/offload_optimizer", offload_keys, true },
    { "zero_optimization/offload_param", offload_keys, true },
    { "fp16", fp16_keys, false },
    { "bf16", bf16_keys, false },
    { "bfloat16", bf16_keys, false },
    { "amp", amp_keys, false },
    { "torch_autocast", autocast_keys, false },
    { "optimizer", optimizer_keys, false },
    { "activation_checkpointing", checkpointing_keys, false },
    { "pipeline", pipeline_keys, false },
    { "tensor_parallel", tensor_keys, false },
    { NULL, NULL, false },
};
/* clang-format on */

/* Keys that act only beside others ------------------------------------------------- */

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

/* The tables ----------------------------------------------------------------------- */

/* Whether a switch is off, or a size at the value at which it does nothing. */
static bool is_off(const struct value *v)
{
    const struct value_item *on = value_get(v, "enabled");
    if (on)
        return !launch_true(on->value);
    return v->kind == VALUE_NONE || (v->kind == VALUE_BOOL && !v->integer) ||
           ((v->kind == VALUE_INT || v->kind == VALUE_REAL) && v->real <= 1);
}

/* Says of a key that is not taken why; false: it is without effect, and that is all. */
static bool check_key(const struct deepspeed *c, const struct value_item *it,
                      const struct deepspeed_table *table, const char *where)
{
    int kind = 0;
    names_find(table->keys, it->key, &kind);
    const char *near = kind ? NULL : names_nearest(table->keys, it->key);
    char what[200];
    if (kind == KEY_UNSIMULATED && !is_off(it->value)) {
        launch_note(c->t->l, it->value->line, DIAG_NOT_SIMULATED,
                    "%s%s%s: is not simulated", c->prefix, where, it->key);
        return true;
    }
    if (!near && (kind || !table->refuses))
        return kind == KEY_TAKEN;
    snprintf(what, sizeof(what), "unknown key%s%s%s",
             near ? " (did you mean \"" : " (DeepSpeed refuses it)", near ? near : "",
             near ? "\"?)" : "");
    deepspeed_wrong(c, it, where, DIAG_UNKNOWN_KEY, what);
    return true;
}

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

static void check_table(const struct deepspeed *c, const struct deepspeed_table *table)
{
    const struct value *dict = section_of(c, table->path);
    struct launch_idle idle;
    char where[80] = "";
    if (!dict)
        return;
    if (*table->path)
        snprintf(where, sizeof(where), "%s.", table->path);
    for (char *s = where; *s; s++)
        *s = *s == '/' ? '.' : *s;
    launch_idle_init(&idle, c->t->l, dict->line, c->prefix);
    for (int32_t i = 0; i < dict->n; i++)
        if (!check_key(c, &dict->items[i], table, where))
            launch_idle_add(&idle, "%s%.60s", where, dict->items[i].key);
    launch_idle_end(&idle);
}

void deepspeed_check_keys(const struct deepspeed *c)
{
    for (const struct deepspeed_table *table = deepspeed_tables; table->path; table++)
        check_table(c, table);
    check_conditions(c);
}
