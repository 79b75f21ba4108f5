/* Megatron-Core's words in LLaMA-Factory's arguments, which train by mcore_adapter or, with
 * words of its own, by Megatron-Bridge (USE_MCA, USE_MEGATRON_BRIDGE).
 *
 * alibaba/ROLL of 2026 (mcore_adapter/src/mcore_adapter/training_args.py), LLaMA-Factory
 * 0.9.6 (hparams/megatron_bridge_args.py, train/megatron_bridge/config_builder.py). */
#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/llamafactory/llamafactory.h"
#include "dialect/megatron/megatron.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <string.h>

#define WIDE "/parallelism/"

/* clang-format off */
static const struct dialect_option degrees[] = {
    ROW("model_name_or_path", "/model", .take = trainer_take_model),
    ROW("tensor_model_parallel_size", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW("pipeline_model_parallel_size", WIDE "pipeline", .kind = DIALECT_DEGREE),
    ROW("context_parallel_size", WIDE "context", .kind = DIALECT_DEGREE),
    ROW("expert_model_parallel_size", WIDE "expert", .kind = DIALECT_DEGREE),
    ROW("virtual_pipeline_model_parallel_size", WIDE "virtual_stages", .kind = DIALECT_DEGREE),
    ROW_END,
};
const struct dialect_option llamafactory_core_rows[] = {
    ROW_ACTS("tensor_model_parallel_size", WIDE "tensor"), ROW_ACTS("pipeline_model_parallel_size", WIDE "pipeline"),
    ROW_ACTS("context_parallel_size", WIDE "context"), ROW_ACTS("expert_model_parallel_size", WIDE "expert"),
    ROW_ACTS("virtual_pipeline_model_parallel_size", WIDE "virtual_stages"), ROW_ACTS("sequence_parallel", WIDE "sequence_parallel"),
    ROW_ACTS("use_distributed_optimizer", WIDE "sharding/strategy"), ROW_ACTS("overlap_grad_reduce", WIDE "overlap"),
    ROW_ACTS("overlap_param_gather", WIDE "overlap_param_gather"), ROW_ACTS("accumulate_allreduce_grads_in_fp32", "/training/gradient_dtype"),
    ROW_ACTS("recompute_granularity", "/training/activation_checkpointing"), ROW_ACTS("recompute_method", "/training/activation_checkpointing"),
    ROW_ACTS("recompute_num_layers", "/training/activation_checkpointing"), ROW_ACTS("recompute_modules", "/training/activation_checkpointing"),
    ROW_ACTS("mixed_precision", "/training/precision"), ROW_ACTS("fp8_recipe", "/training/precision"), ROW_ACTS("fp8_format", "/training/precision"), ROW_ACTS("fp8", "/training/precision"),
    ROW_UNSIMULATED("account_for_*"), ROW_UNSIMULATED("pipeline_model_parallel_layout"), ROW_UNSIMULATED("moe_layer_recompute"), ROW_UNSIMULATED("moe_shared_expert_overlap"),
    ROW_UNSIMULATED("moe_expert_capacity_factor"), ROW_UNSIMULATED("moe_pad_expert_input_to_capacity"), ROW_UNSIMULATED("mtp_num_layers"), ROW_UNSIMULATED("cuda_graph_impl"), ROW_UNSIMULATED("optimizer_cpu_offload"),
    ROW_UNSIMULATED("optimizer_offload_fraction"), ROW_UNSIMULATED("additional_configs"), ROW_UNSIMULATED("extra_config"), ROW_UNSIMULATED("ddp_bucket_size"), ROW_UNSIMULATED("transformer_impl"), ROW_UNSIMULATED("fp8_param"),
    ROW("expert_tensor_parallel_size", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one),
    ROW_IDLE("bias_activation_fusion"), ROW_IDLE("apply_rope_fusion"), ROW_IDLE("masked_softmax_fusion"), ROW_IDLE("cross_entropy_loss_fusion"), ROW_IDLE("moe_grouped_gemm"), ROW_IDLE("moe_token_dispatcher_type"),
    ROW_IDLE("moe_aux_loss_coeff"), ROW_IDLE("moe_token_drop_policy"), ROW_IDLE("moe_enable_routing_replay"), ROW_IDLE("moe_router_dtype"), ROW_IDLE("overlap_p2p_comm"), ROW_IDLE("variable_seq_lengths"),
    ROW_IDLE("calculate_per_token_loss"), ROW_IDLE("cuda_graph_scope"), ROW_IDLE("use_flash_attn*"), ROW_IDLE("delay_grad_reduce"), ROW_IDLE("distrib_optim_*"), ROW_IDLE("check_for_nan_in_loss_and_grad"),
    ROW_IDLE("ddp_average_in_collective"), ROW_IDLE("save_*"), ROW_IDLE("ckpt_*"), ROW_IDLE("compile_warmup"), ROW_IDLE("sequence_packing"), ROW_IDLE("use_packed_sequences"), ROW_IDLE("megatron_pretrained_checkpoint"),
    ROW_IDLE("export_hf_on_finish"), ROW_IDLE("disable_shuffling"), ROW_IDLE("use_megatron_bridge"), ROW_IDLE("use_mca"),
    ROW_END,
};
/* clang-format on */

/* Words that Megatron-Bridge's arguments have alone. */
static bool is_bridge(const struct value *v)
{
    static const char *const own[] = {
        "use_packed_sequences", "megatron_pretrained_checkpoint",
        "mixed_precision",      "export_hf_on_finish",
        "extra_config",         "masked_softmax_fusion",
        "use_megatron_bridge",  NULL,
    };
    for (const char *const *w = own; *w; w++)
        if (value_get(v, *w))
            return true;
    return false;
}

bool llamafactory_core_is(const struct value *v)
{
    static const char *const marks[] = {
        "tensor_model_parallel_size", "pipeline_model_parallel_size",
        "expert_model_parallel_size", "use_distributed_optimizer",
        "recompute_granularity",      "use_mca",
        "use_megatron_bridge",        NULL
    };
    for (const char *const *m = marks; *m; m++)
        if (value_get(v, *m))
            return true;
    return false;
}

static const struct value_item *given(const struct launch_context *t,
                                      const struct value *v, const char *name)
{
    const struct value_item *it = value_get(v, name);
    launch_hear((struct launch_context *)t, it);
    return it && it->value->kind != VALUE_NONE ? it : NULL;
}

static bool is_on(const struct value_item *it, bool otherwise)
{
    return it ? launch_true(it->value) : otherwise;
}

static void set(struct launch_context *t, const char *pointer, json_t *value,
                const struct value_item *it, const char *what)
{
    if (it)
        launch_set(t, pointer, value, it);
    else
        launch_assume(t, pointer, value, what);
}

static void take_pipeline(struct launch_context *t, const struct value *v)
{
    const struct value_item *along = given(t, v, "sequence_parallel");
    if (launch_has(t, WIDE "virtual_stages"))
        launch_set(t, WIDE "schedule", json_string("interleaved"),
                   value_get(v, "virtual_pipeline_model_parallel_size"));
    if (is_on(along, false) && launch_has(t, WIDE "tensor"))
        launch_set(t, WIDE "sequence_parallel", json_true(), along);
    set(t, WIDE "placement", json_string("PDT"), NULL, "Megatron's order of ranks");
}

static void take_recompute(struct launch_context *t, const struct value *v)
{
    static const char at[] = "/training/activation_checkpointing";
    const struct value_item *how = given(t, v, "recompute_granularity"), *modules;
    const char *word = how && how->value->kind == VALUE_STRING ? how->value->text : "";
    if (strcmp(word, "full") == 0)
        megatron_recompute_layers(t, how, given(t, v, "recompute_method"),
                                  given(t, v, "recompute_num_layers"));
    else if (strcmp(word, "selective") == 0)
        launch_set(t, at, json_string("selective"), how);
    else if (how)
        launch_unresolved_item(t, at, how, "full or selective");
    modules = strcmp(word, "selective") == 0 ? given(t, v, "recompute_modules") : NULL;
    if (modules)
        launch_note(t->l, modules->line, DIAG_APPROXIMATE,
                    "%s: what is computed again is taken to be attention alone",
                    modules->key);
    set(t, at, json_string("none"), NULL, "recompute_granularity's default");
}

/* "bf16_mixed", "fp16_mixed", "bf16_with_fp8_mixed" of Megatron-Bridge; mcore_adapter's
 * fp8 goes with a recipe. */
static void take_precision(struct launch_context *t, const struct value *v, bool bridge)
{
    static const char at[] = "/training/precision";
    const struct value_item *it = given(t, v, "mixed_precision"),
                            *fp8 = given(t, v, "fp8"),
                            *recipe = value_get(v, "fp8_recipe"),
                            *sums = given(t, v, "accumulate_allreduce_grads_in_fp32"),
                            *half = value_get(v, "bf16");
    const char *word = it && it->value->kind == VALUE_STRING ? it->value->text : "";
    fp8 = fp8 ? fp8 : given(t, v, "fp8_format");
    t->converts = true;
    if (bridge)
        launch_hear(t, half);
    bool eight = fp8 && !launch_is_off(fp8->value);
    if (eight && recipe)
        launch_hear(t, recipe);
    if ((eight && recipe && recipe->value->kind != VALUE_NONE) || strstr(word, "fp8"))
        launch_add_unresolved(t, at, (it ? it : recipe)->value->line,
                              "%s: which recipe of FP8 is simulated is not known by "
                              "it; fp8 has a scale a tensor",
                              (it ? it : recipe)->key);
    else if (eight)
        launch_set(t, at, json_string("fp8"), fp8);
    else if (bridge)
        set(t, at, json_string(strstr(word, "fp16") ? "fp16" : "bf16"), it,
            "mixed_precision's default");
    /* mcore_adapter sums bf16 gradients in fp32, Megatron-Bridge all */
    if (bridge || is_on(half, false) || is_on(sums, false))
        set(t, "/training/gradient_dtype", json_string("fp32"), sums,
            bridge ? "grad_reduce_in_fp32 of Megatron-Bridge"
                   : "accumulate_allreduce_grads_in_fp32 with bf16");
    else if (is_on(value_get(v, "fp16"), false))
        set(t, "/training/gradient_dtype", json_string("fp16"), sums,
            "accumulate_allreduce_grads_in_fp32's default");
}

static void take_sharding(struct launch_context *t, const struct value *v, bool bridge)
{
    const struct value_item *shards = given(t, v, "use_distributed_optimizer"),
                            *sums = given(t, v, "overlap_grad_reduce"),
                            *gathers = given(t, v, "overlap_param_gather");
    set(t, WIDE "library", json_string("megatron"), NULL,
        bridge ? "Megatron-Bridge's words" : "mcore_adapter's words");
    set(t, WIDE "overlap", json_boolean(is_on(sums, bridge)), sums,
        "overlap_grad_reduce's default");
    if (!is_on(shards, bridge))
        return;
    set(t, WIDE "sharding/strategy", json_string("optimizer"), shards,
        "use_distributed_optimizer's default");
    set(t, WIDE "overlap_param_gather", json_boolean(is_on(gathers, bridge)), gathers,
        "overlap_param_gather's default");
}

/* Megatron-Bridge's batch is per_device_train_batch_size * gradient_accumulation_steps
 * of each GPU, divided by all degrees, that of experts, too
 * (_compute_train_schedule). */
static void take_batch(struct launch_context *t, const struct value *v)
{
    const struct value_item *it = given(t, v, "gradient_accumulation_steps");
    int64_t n = 1, experts = launch_number(t, WIDE "expert", 1);
    if (!it || !launch_whole(it->value, &n) || experts <= 1)
        return;
    n = n / experts > 1 ? n / experts : 1;
    launch_set(t, "/training/gradient_accumulation_steps", json_integer((json_int_t)n),
               it);
    launch_note(t->l, it->line, DIAG_ASSUMED,
                "%s: Megatron-Bridge's batch is divided by the %" PRId64
                " groups of experts, too: %" PRId64 " microbatches a step",
                it->key, experts, n);
}

void llamafactory_take_core(struct launch_context *t, const struct value *v)
{
    bool bridge = is_bridge(v);
    launch_take_rows(t, degrees, v);
    take_pipeline(t, v);
    take_recompute(t, v);
    take_precision(t, v, bridge);
    take_sharding(t, v, bridge);
    if (bridge)
        take_batch(t, v);
}
