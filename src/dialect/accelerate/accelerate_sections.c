/* "megatron_lm_config" and "fp8_config" of Accelerate's configuration
 * (accelerate/utils/dataclasses.py, MegatronLMPlugin and the recipes' keywords;
 * commands/launch.py; Accelerate 1.15). */
#include "dialect/accelerate/accelerate.h"
#include "dialect/launch/launch_config.h"
#include "dialect/megatron/megatron.h"

#include <ctype.h>
#include <string.h>

#define CHECKPOINTING "/training/activation_checkpointing"
#define WIDE "/parallelism/"

/* clang-format off */
static const struct dialect_option degrees[] = {
    ROW("megatron_lm_tp_degree", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW("megatron_lm_pp_degree", WIDE "pipeline", .kind = DIALECT_DEGREE),
    ROW("megatron_lm_context_parallel_size", WIDE "context", .kind = DIALECT_DEGREE),
    ROW("megatron_lm_expert_model_parallel_size", WIDE "expert", .kind = DIALECT_DEGREE),
    ROW("megatron_lm_expert_tensor_parallel_size", WIDE "expert_tensor", .kind = DIALECT_SIZE),
    ROW("megatron_lm_num_micro_batches", "/training/gradient_accumulation_steps", .kind = DIALECT_SIZE),
    ROW("megatron_lm_gradient_clipping", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("megatron_lm_sequence_parallelism", WIDE "sequence_parallel", .kind = DIALECT_SWITCH),
    ROW("megatron_lm_use_distributed_optimizer", WIDE "sharding/strategy", .kind = DIALECT_SWITCH, .value = "optimizer"),
    ROW("megatron_lm_recompute_activations", CHECKPOINTING, .kind = DIALECT_SWITCH, .value = "selective"),
    ROW_END,
};
const struct dialect_option accelerate_megatron_rows[] = {
    ROW_ACTS("megatron_lm_tp_degree", WIDE "tensor"), ROW_ACTS("megatron_lm_pp_degree", WIDE "pipeline"),
    ROW_ACTS("megatron_lm_context_parallel_size", WIDE "context"), ROW_ACTS("megatron_lm_expert_model_parallel_size", WIDE "expert"),
    ROW_ACTS("megatron_lm_expert_tensor_parallel_size", WIDE "expert_tensor"), ROW_ACTS("megatron_lm_num_micro_batches", "/training/gradient_accumulation_steps"),
    ROW_ACTS("megatron_lm_gradient_clipping", "/training/gradient_clipping"), ROW_ACTS("megatron_lm_sequence_parallelism", WIDE "sequence_parallel"),
    ROW_ACTS("megatron_lm_use_distributed_optimizer", WIDE "sharding/strategy"), ROW_ACTS("megatron_lm_recompute_activations", CHECKPOINTING),
    ROW_ACTS("megatron_lm_recompute_granularity", CHECKPOINTING), ROW_ACTS("megatron_lm_recompute_method", CHECKPOINTING), ROW_ACTS("megatron_lm_recompute_num_layers", CHECKPOINTING),
    ROW_UNSIMULATED("megatron_lm_use_custom_fsdp"), ROW_UNSIMULATED("megatron_lm_optimizer_cpu_offload"), ROW_UNSIMULATED("megatron_lm_overlap_cpu_optimizer_d2h_h2d"),
    ROW_UNSIMULATED("megatron_lm_use_precision_aware_optimizer"), ROW_UNSIMULATED("megatron_lm_decoder_last_pipeline_num_layers"), ROW_UNSIMULATED("megatron_lm_num_layers_per_virtual_*"),
    ROW_UNSIMULATED("megatron_lm_attention_backend"), ROW_UNSIMULATED("megatron_lm_*_dropout"), ROW_UNSIMULATED("megatron_lm_attention_softmax_in_fp32"), ROW_UNSIMULATED("megatron_lm_pipeline_model_parallel_split_rank"),
    ROW_IDLE("megatron_lm_no_load_optim"), ROW_IDLE("megatron_lm_no_save_optim"), ROW_IDLE("megatron_lm_eod_mask_loss"), ROW_IDLE("megatron_lm_calculate_per_token_loss"), ROW_IDLE("megatron_lm_use_rotary_position_embeddings"),
    ROW_END,
};
const struct dialect_option accelerate_fp8_rows[] = {
    ROW_ACTS("backend", "/training/precision"), ROW_ACTS("fp8_backend", "/training/precision"),
    ROW_ACTS("use_mxfp8_block_scaling", "/training/precision"), ROW_ACTS("fp8_use_mxfp8_block_scaling", "/training/precision"),
    ROW_UNSIMULATED("override_linear_precision"), ROW_UNSIMULATED("fp8_override_linear_precision"),
    ROW_UNSIMULATED("enable_fsdp_float8_all_gather"), ROW_UNSIMULATED("fp8_enable_fsdp_float8_all_gather"),
    ROW_IDLE("opt_level"), ROW_IDLE("fp8_opt_level"), ROW_IDLE("optimization_level"), ROW_IDLE("margin"), ROW_IDLE("fp8_margin"), ROW_IDLE("interval"), ROW_IDLE("fp8_interval"), ROW_IDLE("fp8_format"), ROW_IDLE("format"),
    ROW_IDLE("amax_*"), ROW_IDLE("fp8_amax_*"), ROW_IDLE("use_autocast_during_eval"), ROW_IDLE("fp8_use_autocast_during_eval"), ROW_IDLE("pad_inner_dim"), ROW_IDLE("fp8_pad_inner_dim"),
    ROW_END,
};
static const struct dialect_table tables[] = {
    { "megatron_lm_config", accelerate_megatron_rows, DIALECT_UNKNOWN_WARNED },
    { "fp8_config", accelerate_fp8_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

/* Megatron-LM's plugin ------------------------------------------------------------- */

static void take_granularity(struct launch_context *t, const struct value *v)
{
    const struct value_item *how = value_get(v, "megatron_lm_recompute_granularity");
    const char *word = how && how->value->kind == VALUE_STRING ? how->value->text : "";
    if (!how || launch_is_off(how->value))
        return;
    if (strcmp(word, "full") == 0)
        megatron_recompute_layers(t, how, value_get(v, "megatron_lm_recompute_method"),
                                  value_get(v, "megatron_lm_recompute_num_layers"));
    else if (strcmp(word, "selective") == 0)
        launch_set(t, CHECKPOINTING, json_string("selective"), how);
    else
        launch_unresolved_item(t, CHECKPOINTING, how, "full or selective");
}

void accelerate_take_megatron(struct launch_context *t, const struct value_item *it)
{
    launch_set(t, WIDE "library", json_string("megatron"), it);
    launch_assume(t, WIDE "placement", json_string("PDT"), "Megatron's order of ranks");
    t->converts = true;
    launch_take_rows(t, degrees, it->value);
    take_granularity(t, it->value);
    dialect_report(
        t, tables, "megatron_lm_config", it->value,
        (struct dialect_place) { it->line, "megatron_lm_config: ", "", true });
}

/* FP8 ------------------------------------------------------------------------------ */

static const struct value_item *member(const struct value *v, const char *key,
                                       const char *prefixed)
{
    const struct value_item *it = value_get(v, key);
    return it ? it : value_get(v, prefixed);
}

void accelerate_set_fp8(struct launch_context *t, const struct value_item *it,
                        const char *backend)
{
    static const char at[] = "/training/precision";
    char word[8] = "";
    for (size_t i = 0; backend && backend[i] && i + 1 < sizeof(word); i++)
        word[i] = (char)toupper((unsigned char)backend[i]);
    bool own = strcmp(word, "MX") == 0, te = strcmp(word, "TE") == 0,
         ao = strncmp(word, "AO", 3) == 0 || strcmp(word, "TORCHAO") == 0;
    launch_hear(t, launch_hyper(t, "bf16"));
    if (!t->converts)
        launch_add_unresolved(t, at, it->value->line,
                              "%s: products in 8 bits with parameters in fp32 are not "
                              "simulated; fp8 has parameters in bf16",
                              it->key);
    else if (own || te || ao || !*word)
        launch_set(t, at, json_string(own ? "mxfp8" : te ? "fp8" : "fp8_current"), it);
    else
        launch_add_unresolved(t, at, it->value->line,
                              "%s: FP8 by %.20s is not simulated; fp8 is Transformer "
                              "Engine's, fp8_current torchao's",
                              it->key, backend);
    if (t->converts && !*word)
        launch_note(t->l, it->value->line, DIAG_ASSUMED,
                    "%s: no backend is given: torchao's is taken, with scales of the "
                    "tensors at hand",
                    it->key);
}

void accelerate_take_fp8(struct launch_context *t, const struct value *config,
                         const struct value_item *precision)
{
    const struct value_item *section = value_get(config, "fp8_config");
    const struct value *v = section ? section->value : NULL;
    const struct value_item *backend = v ? member(v, "backend", "fp8_backend") : NULL,
                            *blocks = v ? member(v, "use_mxfp8_block_scaling",
                                                 "fp8_use_mxfp8_block_scaling")
                                        : NULL;
    bool mx = blocks && launch_true(blocks->value);
    accelerate_set_fp8(t, precision,
                       mx ? "MX"
                       : backend && backend->value->kind == VALUE_STRING
                           ? backend->value->text
                           : NULL);
    if (!section)
        return;
    launch_hear(t, section);
    launch_hear(t, backend);
    launch_hear(t, blocks);
    dialect_report(t, tables, "fp8_config", v,
                   (struct dialect_place) { section->line, "fp8_config: ", "", true });
}
