/* The keys of DeepSpeed's configuration that no field of a scenario is made of: without
 * effect on a step, not simulated, or misspelt. */
#include "base/strbuf.h"
#include "dialect/deepspeed/deepspeed.h"

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
/* clang-format on */

/* Whether a switch is off, or a size at the value at which it does nothing. */
static bool is_off(const struct python_value *v)
{
    const struct python_item *on = python_get(v, "enabled");
    if (on)
        return !launch_true(on->value);
    return v->kind == PYTHON_NONE || (v->kind == PYTHON_BOOL && !v->integer) ||
           (v->kind == PYTHON_INT && v->integer <= 1);
}

/* Says of each key that is not taken why; `refuses`: DeepSpeed accepts no unknown
 * one. */
static void check_keys(const struct deepspeed *c, const struct python_value *dict,
                       const struct name_value *known, const char *where, bool refuses)
{
    struct strbuf idle;
    char what[200];
    strbuf_init(&idle);
    for (int32_t i = 0; i < dict->n; i++) {
        const struct python_item *it = &dict->items[i];
        int kind = 0;
        names_find(known, it->key, &kind);
        const char *near = kind ? NULL : names_nearest(known, it->key);
        if (kind == KEY_UNSIMULATED && !is_off(it->value)) {
            launch_note(c->t->l, it->value->line, "%s%s%s: is not simulated", c->prefix,
                        where, it->key);
        } else if (near || (!kind && refuses)) {
            snprintf(what, sizeof(what), "unknown key%s%s%s",
                     near ? " (did you mean \"" : " (DeepSpeed refuses it)",
                     near ? near : "", near ? "\"?)" : "");
            deepspeed_wrong(c, it, where, what);
        } else if (kind != KEY_TAKEN && idle.len < 300) {
            strbuf_printf(&idle, "%s%s%.60s", idle.len ? ", " : "", where, it->key);
        }
    }
    if (idle.len)
        launch_note(c->t->l, dict->line, "%swithout effect here: %s", c->prefix,
                    strbuf_get(&idle));
    strbuf_release(&idle);
}

void deepspeed_check_keys(const struct deepspeed *c)
{
    check_keys(c, c->root, root_keys, "", false);
    if (c->zero)
        check_keys(c, c->zero, zero_keys, "zero_optimization.", true);
}
