#include "dialect/axolotl/axolotl.h"

#include "base/names.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

static bool is_word(const struct value *v, const char *word)
{
    return v->kind == VALUE_STRING && strcmp(v->text, word) == 0;
}

/* Weights are loaded in the type of training (axolotl/utils/config/__init__.py): what
 * shards keeps fp32 ones of its own, plain data parallelism none. "auto" is bf16 where
 * the GPU has it. */
static void take_half(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    const char *precision =
        strstr(it->key, "fp16") || strcmp(it->key, "float16") == 0 ? "fp16" : "bf16";
    bool automatic = is_word(it->value, "auto");
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, row->pointer, it, "Boolean");
    if (!automatic && !launch_true(it->value) && !is_word(it->value, "full"))
        return;
    if (automatic)
        launch_note(t->l, it->value->line, DIAG_ASSUMED,
                    "%s: \"auto\" is %s, as GPUs from Ampere on have it", it->key,
                    precision);
    if (t->adapters) {
        peft_take_half(t, row, it, precision);
        return;
    }
    launch_set(t, row->pointer, json_string(precision), it);
    if (!t->converts)
        launch_set(t, "/training/master_weights", json_false(), it);
}

/* torchao's (axolotl/core/trainers/mixins, ACCELERATE_MIXED_PRECISION). */
static void take_fp8(struct launch_context *t, const struct dialect_option *row,
                     const struct value_item *it)
{
    (void)row;
    if (launch_switch(t, "/training/precision", it, false))
        accelerate_set_fp8(t, it, "ao");
}

/* What keeps the inputs of layers in host memory: gradient_checkpointing "offload" (in
 * 2024 "unsloth"), and activation_offloading with any word but "disk" (axolotl/core/builders/base.py). */
static void set_offloaded(struct launch_context *t, const struct value_item *it)
{
    const struct value *v = it->value;
    bool disk = v->kind == VALUE_STRING && strstr(v->text, "disk");
    if (disk)
        launch_note(t->l, v->line, DIAG_NOT_SIMULATED,
                    "%s: that inputs of layers go to a disk is not simulated", it->key);
    else
        launch_set(t, "/parallelism/offload_activations", json_true(), it);
}

static void take_offloading(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    (void)row;
    if (launch_true(it->value) || it->value->kind == VALUE_STRING)
        set_offloaded(t, it);
}

/* Cut cross-entropy makes no logits of all tokens, either; its backward makes them once
 * more (apple/ml-cross-entropy), which Liger's does not. */
static void set_cut(struct launch_context *t, const struct value_item *it)
{
    static const char at[] = "/training/loss_chunks";
    if (launch_has(t, at))
        return;
    launch_set(t, at, json_string("liger"), it);
    launch_note(
        t->l, it->value->line, DIAG_APPROXIMATE,
        "%s: cut cross-entropy is simulated as Liger's loss in chunks; that its "
        "backward makes logits once more is not",
        it->key);
}

static void take_cut(struct launch_context *t, const struct dialect_option *row,
                     const struct value_item *it)
{
    (void)row;
    if (launch_switch(t, "/training/loss_chunks", it, false))
        set_cut(t, it);
}

/* axolotl/integrations: cut cross-entropy is on with its plugin
 * (cut_cross_entropy/args.py), Liger's kernels are by keys of their own. */
static void take_plugins(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    const struct value_item *cut = launch_hyper(t, "cut_cross_entropy");
    (void)row;
    for (int32_t i = 0; it->value->kind == VALUE_LIST && i < it->value->n; i++) {
        const struct value *v = it->value->items[i].value;
        const char *name = v->kind == VALUE_STRING ? v->text : "?";
        if (strstr(name, "cut_cross_entropy") && !(cut && launch_is_off(cut->value)))
            set_cut(t, it);
        else if (!strstr(name, "cut_cross_entropy") && !strstr(name, "liger"))
            launch_note(t->l, v->line, DIAG_NOT_SIMULATED,
                        "plugins: %.80s is not simulated", name);
    }
}

static void take_checkpointing(struct launch_context *t,
                               const struct dialect_option *row,
                               const struct value_item *it)
{
    bool offload =
        it->value->kind == VALUE_STRING &&
        (strncmp(it->value->text, "offload", 7) == 0 || is_word(it->value, "unsloth"));
    if (offload)
        set_offloaded(t, it);
    if (offload || launch_switch(t, row->pointer, it, false))
        launch_set(t, row->pointer, json_string("full"), it);
}

static void take_section(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    (void)row;
    if (it->value->kind != VALUE_DICT || it->value->n == 0)
        return;
    t->l->accelerated = true;
    trainer_take_fsdp_section(t, it);
}

/* The older word for all that a GPU takes between updates. */
static void take_batch(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    int64_t n, micro = launch_number(t, "/training/micro_batch_size", 1);
    if (it->value->kind == VALUE_NONE)
        return;
    if (launch_whole(it->value, &n) && n > 0 && micro > 0 && n % micro == 0)
        launch_set(t, row->pointer, json_integer((json_int_t)(n / micro)), it);
    else
        launch_unresolved_item(t, row->pointer, it, "multiple of micro_batch_size");
}

static void take_rl(struct launch_context *t, const struct dialect_option *row,
                    const struct value_item *it)
{
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "this";
    (void)row;
    if (it->value->kind != VALUE_NONE && !trainer_take_method(t, it, word))
        trainer_refuse(t, it, word);
}

static void take_reward(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    (void)row;
    if (!launch_switch(t, "/training/task", it, false))
        return;
    if (strcmp(it->key, "reward_model") == 0)
        trainer_take_method(t, it, "reward");
    else
        trainer_refuse(t, it, "training of a model that rewards each step");
}

/* clang-format off */
#define ATTENTION "/training/attention"
static const struct dialect_option rows[] = {
    ROW("liger_fused_linear_cross_entropy", "/training/loss_chunks", .kind = DIALECT_SWITCH, .value = "liger"),
    ROW("cut_cross_entropy", "/training/loss_chunks", .take = take_cut),
    ROW("plugins", "/training/loss_chunks", .take = take_plugins),
    ROW("activation_offloading", "/parallelism/offload_activations", .take = take_offloading),
    ROW("tiled_mlp", "/training/mlp_tiles", .kind = DIALECT_SWITCH, .value = "alst"),
    ROW("rl", "/training/task", .take = take_rl),
    ROW("reward_model", "/training/task", .take = take_reward),
    ROW("process_reward_model", "/training/task", .take = take_reward),
    ROW("base_model", "/model", .take = trainer_take_model),
    ROW("fsdp", "/parallelism/library", .take = trainer_take_fsdp),
    ROW("deepspeed", "/parallelism/library", .take = deepspeed_take_file),
    ROW("fsdp_config", "/parallelism/sharding/offload", .take = take_section),
    ROW("micro_batch_size", "/training/micro_batch_size", .kind = DIALECT_WHOLE),
    ROW("gradient_accumulation_steps", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE),
    ROW("batch_size", "/training/gradient_accumulation_steps", .take = take_batch),
    ROW("sequence_len", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("fp8", "/training/precision", .take = take_fp8),
    ROW("bf16", "/training/precision", .take = take_half),
    ROW("bfloat16", "/training/precision", .take = take_half),
    ROW("fp16", "/training/precision", .take = take_half),
    ROW("float16", "/training/precision", .take = take_half),
    ROW("gradient_checkpointing", "/training/activation_checkpointing", .take = take_checkpointing),
    ROW("flash_attention", ATTENTION, .kind = DIALECT_SWITCH, .value = "flash"),
    ROW("sdp_attention", ATTENTION, .kind = DIALECT_SWITCH, .value = "sdpa"),
    ROW("xformers_attention", ATTENTION, .kind = DIALECT_SWITCH, .value = "memory-efficient"),
    ROW("eager_attention", ATTENTION, .kind = DIALECT_SWITCH, .value = "unfused"),
    ROW("tensor_parallel_size", "/parallelism/tensor", .kind = DIALECT_DEGREE),
    ROW("expert_parallel_size", "/parallelism/expert", .kind = DIALECT_DEGREE),
    ROW("context_parallel_size", "/parallelism/context", .kind = DIALECT_DEGREE),
    ROW("sequence_parallel_degree", "/parallelism/context", .kind = DIALECT_DEGREE),
    ROW("dp_shard_size", "/parallelism/sharding/degree", .kind = DIALECT_DEGREE),
    ROW_END,
};
/* What changes a step, and is not simulated. */
static const struct dialect_option unsimulated[] = {
    ROW_UNSIMULATED("deepspeed_config"), /* without_foreign */
    ROW_ACTS("dp_replicate_size", "/parallelism/sharding/degree"), /* take_replicas */
    ROW_UNSIMULATED("liger_*"), ROW_UNSIMULATED("chunked_cross_entropy"),
    ROW_UNSIMULATED("unfrozen_parameters"), ROW_UNSIMULATED("lisa_*"), ROW_UNSIMULATED("relora*"), ROW_UNSIMULATED("quantize_moe_experts"),
    ROW_UNSIMULATED("lora_mlp_kernel"), ROW_UNSIMULATED("lora_qkv_kernel"), ROW_UNSIMULATED("lora_o_kernel"), ROW_UNSIMULATED("unsloth_*"),
    ROW_UNSIMULATED("fp8*"), ROW_UNSIMULATED("qat"), ROW_UNSIMULATED("gptq*"), ROW_UNSIMULATED("expert_parallel*"),
    ROW_UNSIMULATED("tiled_mlp_*"), ROW_UNSIMULATED("flash_attn_*"), ROW_UNSIMULATED("flex_*"), ROW_UNSIMULATED("s2_attention"), ROW_UNSIMULATED("sage_attention"),
    ROW_UNSIMULATED("use_*kernels"), ROW_UNSIMULATED("use_kernels"), ROW_UNSIMULATED("use_scattermoe"), ROW_UNSIMULATED("use_sonicmoe"),
    ROW_UNSIMULATED("experts_implementation"), ROW_UNSIMULATED("llama4_linearized_experts"), ROW_UNSIMULATED("fused_attn_kernel"),
    ROW_UNSIMULATED("overrides_of_model_*"), ROW_UNSIMULATED("model_config"), ROW_UNSIMULATED("model_quantization_*"), ROW_UNSIMULATED("diffusion"),
    ROW_UNSIMULATED("flash_optimum"), ROW_UNSIMULATED("llmcompressor"), ROW_UNSIMULATED("ebft"), ROW_UNSIMULATED("gemma4_*"), ROW_UNSIMULATED("spectrum*"),
    ROW_UNSIMULATED("reinit_weights"), ROW_UNSIMULATED("mixture_of_depths"), ROW_UNSIMULATED("batch_flattening"), ROW_UNSIMULATED("kd_*"),
    ROW_END,
};
static const struct dialect_option idle[] = {
    ROW_IDLE("base_model_*"), ROW_IDLE("model_type"), ROW_IDLE("tokenizer_*"), ROW_IDLE("processor_*"), ROW_IDLE("is_*_derived_model"), ROW_IDLE("is_*"),
    ROW_IDLE("strict"), ROW_IDLE("special_tokens"), ROW_IDLE("tokens"), ROW_IDLE("added_tokens*"), ROW_IDLE("eot_tokens"), ROW_IDLE("val_set_size"),
    ROW_IDLE("sample_packing*"), ROW_IDLE("eval_sample_packing"), ROW_IDLE("pad_to_sequence_len"), ROW_IDLE("max_packed_sequence_len"), ROW_IDLE("multipack_*"),
    ROW_IDLE("train_on_inputs"), ROW_IDLE("saves_per_epoch"), ROW_IDLE("evals_per_epoch"), ROW_IDLE("evals_*"), ROW_IDLE("wandb_*"), ROW_IDLE("mlflow_*"),
    ROW_IDLE("comet_*"), ROW_IDLE("swanlab_*"), ROW_IDLE("use_swanlab"), ROW_IDLE("trackio_*"), ROW_IDLE("use_wandb"), ROW_IDLE("use_tensorboard"), ROW_IDLE("otel_*"),
    ROW_IDLE("use_otel_metrics"), ROW_IDLE("local_rank"), ROW_IDLE("world_size"), ROW_IDLE("early_stopping_*"), ROW_IDLE("auto_resume_*"), ROW_IDLE("xformers_*"),
    ROW_IDLE("loss_watchdog_*"), ROW_IDLE("debug"), ROW_ACTS("fsdp_version", "/parallelism/sharding/adapter_units"), ROW_IDLE("skip_prepare_dataset"), ROW_IDLE("shuffle_*"), ROW_IDLE("test_datasets"),
    ROW_IDLE("pretraining_dataset"), ROW_IDLE("push_dataset_to_hub"), ROW_IDLE("hf_use_auth_token"), ROW_IDLE("group_by_length"), ROW_IDLE("torchdistx_path"),
    ROW_IDLE("default_system_message"), ROW_IDLE("conversation"), ROW_IDLE("revision_of_model"), ROW_IDLE("low_cpu_mem_usage"), ROW_IDLE("device_map"), ROW_IDLE("max_memory"),
    ROW_IDLE("cosine_*"), ROW_IDLE("rl_beta"), ROW_IDLE("simpo_gamma"), ROW_IDLE("cpo_alpha"), ROW_IDLE("orpo_alpha"), ROW_IDLE("kto_*"), ROW_IDLE("dpo_*"), ROW_IDLE("trl"), ROW_IDLE("num_labels"), ROW_IDLE("min_sample_len"),
    ROW_IDLE("remove_unused_columns"), ROW_IDLE("torch_compile_mode"), ROW_IDLE("eta_min"), ROW_IDLE("streaming*"), ROW_IDLE("timeout*"), ROW_IDLE("gpu_memory_limit"),
    ROW_IDLE("resize_token_embeddings_to_32x"), ROW_IDLE("shrink_embeddings"), ROW_IDLE("noisy_embedding_alpha"), ROW_IDLE("image_*"), ROW_IDLE("jagged_restart_*"),
    ROW_IDLE("ray_*"), ROW_IDLE("use_ray"), ROW_IDLE("total_num_tokens"), ROW_IDLE("experimental_*"), ROW_IDLE("merge_lora"), ROW_IDLE("optim_args"), ROW_IDLE("excess_length_strategy"),
    ROW_IDLE("eval_batch_size"), ROW_IDLE("eval_table_*"), ROW_IDLE("gc_steps"), ROW_IDLE("save_*"), ROW_IDLE("profiler_*"), ROW_IDLE("bench_dataset"), ROW_IDLE("logging_*"),
    ROW_END,
};
const struct dialect_table axolotl_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_preference_rows, DIALECT_UNKNOWN_WARNED },
    { "", unsimulated, DIALECT_UNKNOWN_WARNED },
    { "", trainer_rows, DIALECT_UNKNOWN_WARNED },
    { "", peft_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_unsimulated_rows, DIALECT_UNKNOWN_WARNED },
    { "", idle, DIALECT_UNKNOWN_WARNED },
    { "", trainer_idle_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
static const struct trainer_default defaults[] = {
    { "/training/micro_batch_size", "1", "micro_batch_size' default" },
    { "/training/sequence_length", "512", "sequence_len's default" },
    { NULL, NULL, NULL },
};
/* axolotl/loaders/model.py, _set_quantization_config. */
static const struct peft_kind adapters = { .asks = "adapter", .double_quantization = true, .from = "axolotl's" };
/* clang-format on */

bool axolotl_recognises(const struct dialect_input *in)
{
    static const char *const marks[] = { "sequence_len", "datasets",
                                         "pretraining_dataset", "adapter", NULL };
    bool marked = false;
    for (const char *const *m = marks; *m; m++)
        marked |= value_get(in->root, *m) != NULL;
    return marked && value_get(in->root, "base_model") != NULL;
}

/* Accelerate's word, for which axolotl has none: its "deepspeed" names a file. */
static const struct value *without_foreign(struct launch_context *t,
                                           const struct value *given)
{
    struct value *kept = value_new(t->arena, VALUE_DICT, given->line, 0);
    for (int32_t i = 0; i < given->n; i++) {
        const struct value_item *it = &given->items[i];
        if (it->key && strcmp(it->key, "deepspeed_config") == 0)
            launch_note(t->l, it->line, DIAG_NOT_SIMULATED,
                        "%s: is no key of axolotl's, which has \"deepspeed\", and is "
                        "passed over",
                        it->key);
        else
            value_add(t->arena, kept, it->key, it->line, it->value);
    }
    return kept;
}

/* Copies of a sharded model; next to dp_shard_size they are what that leaves. */
static void take_replicas(struct launch_context *t, const struct value *given)
{
    const struct value_item *it = value_get(given, "dp_replicate_size"),
                            *shard = value_get(given, "dp_shard_size");
    int64_t n = 0;
    launch_hear(t, it);
    if (it && it->value->kind != VALUE_NONE && !shard &&
        !(launch_whole(it->value, &n) && n == 1))
        trainer_take_copies(t, it);
}

/* Next to "fsdp_config", or within it. */
static void take_version(struct launch_context *t, const struct value *given)
{
    const struct value_item *it = value_get(given, "fsdp_version");
    int64_t n;
    launch_hear(t, it);
    if (it && launch_whole(it->value, &n) && n == 2)
        t->l->fsdp2_line = it->line;
}

/* bf16 is "auto" where no key says a precision (axolotl/utils/schemas/config.py, 0.12). */
static const struct value *with_half(struct launch_context *t,
                                     const struct value *given)
{
    static const char *const others[] = { "fp16", "float16", "bfloat16", "float32",
                                          "fp8" };
    bool said = value_get(given, "bf16") != NULL;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        said |= launch_is_on(given, others[i]);
    if (said)
        return given;
    struct value *all = value_new(t->arena, VALUE_DICT, given->line, 0);
    for (int32_t i = 0; i < given->n; i++)
        value_add(t->arena, all, given->items[i].key, given->items[i].line,
                  given->items[i].value);
    value_add(t->arena, all, "bf16", t->l->line,
              value_new_string(t->arena, "auto", t->l->line, 0));
    return all;
}

void axolotl_read(struct launch_context *t, const struct dialect_input *in)
{
    static const struct trainer_kind kind = { .own = rows,
                                              .defaults = defaults,
                                              .tables = axolotl_tables,
                                              .packing = "sample_packing",
                                              .peft = &adapters };
    struct value *accelerate =
        in->command ? accelerate_take_command(t, in->command) : NULL;
    const struct value *given =
        in->command ? trainer_command_arguments(t, in->command) : in->root;
    t->l->title = "axolotl's configuration";
    t->l->what = "the configuration";
    t->l->line = in->command ? in->command->command->line : 1;
    if (value_get(given, "deepspeed_config"))
        given = without_foreign(t, given);
    if (!value_get(given, "processor_type")) /* axolotl/utils/schemas/multimodal.py */
        trainer_take_texts(t, "without processor_type", t->l->line);
    given = with_half(t, given);
    take_replicas(t, given);
    take_version(t, given);
    trainer_read_arguments(t, given, &kind);
    if (accelerate)
        accelerate_settle(t, accelerate);
}
