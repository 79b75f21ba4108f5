#include "dialect/swift/swift.h"

#include "base/names.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/megatron/megatron.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_AT "/cluster/count"
#define GPUS_AT "/cluster/gpus_per_instance"
#define STEPS_AT "/training/gradient_accumulation_steps"

static const char *text_of(const struct value_item *it)
{
    return it && it->value->kind == VALUE_STRING ? it->value->text : "";
}

/* A field each --------------------------------------------------------------------- */

/* The model is loaded in the type and autocast to it; of fp16 what is trained is fp32
 * (swift/pipelines/train/tuner.py, model_args.py _init_mixed_precision). */
static void take_type(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    static const char at[] = "/training/precision";
    const char *type = text_of(it);
    bool bf16 = strcmp(type, "bfloat16") == 0 || strcmp(type, "bf16") == 0;
    bool half = strcmp(type, "float16") == 0 || strcmp(type, "fp16") == 0 ||
                strcmp(type, "float32") == 0;
    if (!bf16 && !half)
        launch_unresolved_item(t, at, it, "bfloat16, float16 or float32");
    else if (t->adapters) {
        struct dialect_option of = *row;
        of.pointer = at;
        peft_take_half(t, &of, it, bf16 ? "bf16" : "fp16");
    } else if (bf16 && !t->converts)
        trainer_take_dtype(t, row, it);
    else
        launch_set(
            t, at,
            json_sprintf("%s%s", t->converts ? "" : "amp_", bf16 ? "bf16" : "fp16"),
            it);
}

/* Configurations that it brings by name (swift/config). */
static void take_deepspeed(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
#define BROUGHT(stage, zero)                                                       \
    "{\"zero_optimization\": {\"stage\": " stage ", \"overlap_comm\": false" zero  \
    "}, \"fp16\": {\"enabled\": \"auto\"}, \"bf16\": {\"enabled\": \"auto\"}, "    \
    "\"gradient_accumulation_steps\": \"auto\", \"gradient_clipping\": \"auto\", " \
    "\"train_micro_batch_size_per_gpu\": \"auto\"}"
#define BUCKET ", \"reduce_bucket_size\": 2e8"
#define LIVE                                             \
    ", \"reduce_bucket_size\": \"auto\", "               \
    "\"stage3_param_persistence_threshold\": \"auto\", " \
    "\"stage3_max_live_parameters\": 1e9, \"stage3_max_reuse_distance\": 1e9"
#define CPU(what) ", \"" what "\": {\"device\": \"cpu\"}"
    static const struct {
        const char *name, *text;
    } brought[] = {
        { "zero0", BROUGHT("0", BUCKET) },
        { "zero1", BROUGHT("1", BUCKET) },
        { "zero2", BROUGHT("2", BUCKET) },
        { "zero2_offload", BROUGHT("2", BUCKET CPU("offload_optimizer")) },
        { "zero3", BROUGHT("3", LIVE) },
        { "zero3_offload",
          BROUGHT("3", LIVE CPU("offload_optimizer") CPU("offload_param")) },
        { "default-zero2", BROUGHT("2", BUCKET) },
        { "default-zero3", BROUGHT("3", LIVE) },
    };
    for (size_t i = 0; i < sizeof(brought) / sizeof(brought[0]); i++) {
        if (strcmp(brought[i].name, text_of(it)) != 0)
            continue;
        struct value text = { .kind = VALUE_STRING,
                              .line = it->value->line,
                              .text = brought[i].text };
        const struct value_item of = { it->key, it->line, &text };
        struct value *v = trainer_parse(t, &of);
        if (v)
            deepspeed_take(t, v, arena_printf(t->arena, "%s: ", brought[i].name));
        return;
    }
    deepspeed_take_file(t, row, it);
}

/* fsdp2.json: FSDP2 with recomputation of its own. */
static void take_fsdp(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    struct value *section, *keep;
    if (strcmp(text_of(it), "fsdp2") != 0) {
        trainer_take_fsdp(t, row, it);
        return;
    }
    section = value_new(t->arena, VALUE_DICT, it->line, 0);
    keep = value_new_bool(t->arena, true, it->line);
    value_add(t->arena, section, "activation_checkpointing", it->line, keep);
    const struct value_item of = { it->key, it->line, section };
    trainer_take_fsdp_section(t, &of);
}

static const struct dialect_word attentions[] = {
    { "flash_attn", "flash_attention_2" },
    { "flash_attention_2", "flash_attention_2" },
    { "flash_attention_3", "flash_attention_3" },
    { "flash_attn_3", "flash_attention_3" },
    { "sdpa", "sdpa" },
    { "eager", "eager" },
    { NULL, NULL },
};

void swift_take_task(struct launch_context *t, const struct dialect_option *row,
                     const struct value_item *it)
{
    const char *word = text_of(it);
    if (trainer_prefers(t))
        return;
    if (strcmp(word, "causal_lm") == 0 || strcmp(word, "seq_cls") == 0)
        launch_set(t, row->pointer,
                   json_string(*word == 'c' ? "causal-lm" : "classification"), it);
    else if (!launch_is_off(it->value))
        trainer_refuse(t, it, *word ? word : "this");
}

void swift_take_method(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    (void)row;
    if (!trainer_take_method(t, it, text_of(it)))
        trainer_refuse(t, it, *text_of(it) ? text_of(it) : "this");
}

static bool off_bnb(const struct value *v)
{
    return launch_is_off(v) || (v->kind == VALUE_STRING && strcmp(v->text, "bnb") == 0);
}

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("rlhf_type", "/training/task", .take = swift_take_method),
    ROW("task_type", "/training/task", .take = swift_take_task),
    ROW("model", "/model", .take = trainer_take_model),
    ROW("model_id_or_path", "/model", .take = trainer_take_model),
    ROW("deepspeed", "/parallelism/library", .take = take_deepspeed),
    ROW("fsdp", "/parallelism/library", .take = take_fsdp),
    ROW("deepspeed_autotp_size", "/parallelism/tensor", .kind = DIALECT_DEGREE),
    ROW("sequence_parallel_size", "/parallelism/context", .kind = DIALECT_DEGREE),
    ROW("torch_dtype", "/training/master_weights", .take = take_type),
    ROW("dtype", "/training/master_weights", .take = take_type),
    ROW("attn_impl", "/training/attention", .kind = DIALECT_WORD, .words = attentions, .wanted = "attention that is simulated"),
    ROW("batch_size", "/training/micro_batch_size", .kind = DIALECT_WHOLE),
    ROW_END,
};
static const struct dialect_option unsimulated[] = {
    ROW_UNSIMULATED("padding_free"), ROW_UNSIMULATED("use_galore"), ROW_UNSIMULATED("galore_*"), ROW_UNSIMULATED("experts_impl"),
    ROW_UNSIMULATED("freeze_parameters*"), ROW_UNSIMULATED("trainable_parameters*"), 
    ROW_UNSIMULATED("zero_hpz_partition_size"), ROW_UNSIMULATED("vit_gradient_checkpointing"), ROW_UNSIMULATED("tuner_backend"), ROW_UNSIMULATED("optimizer"),
    ROW_UNSIMULATED("lisa_*"), ROW_UNSIMULATED("llamapro_*"), ROW_UNSIMULATED("reft_*"), ROW_UNSIMULATED("teacher_*"), ROW_UNSIMULATED("init_weights"),
    ROW_UNSIMULATED("use_flash_ckpt"), ROW_UNSIMULATED("lora_ga_*"), ROW_UNSIMULATED("target_regex"),
    ROW("quant_method", NULL, .class = DIALECT_UNSIMULATED, .off = off_bnb),
    ROW_END,
};
static const struct dialect_option idle[] = {
    ROW_IDLE("dataset*"), ROW_IDLE("val_dataset*"), ROW_IDLE("cached_*"), ROW_IDLE("split_dataset_ratio"), ROW_IDLE("dataset_num_proc"), ROW_IDLE("load_from_cache_file"),
    ROW_IDLE("system"), ROW_IDLE("model_name"), ROW_IDLE("model_author"), ROW_IDLE("model_type"), ROW_IDLE("model_revision"), ROW_IDLE("template*"), ROW_IDLE("use_chat_template"),
    ROW_IDLE("packing"), ROW_IDLE("packing_*"), ROW_IDLE("loss_scale"), ROW_IDLE("loss_type"),
    /* of preferences, and of Megatron-SWIFT of 2026-08 */
    ROW_IDLE("beta"), ROW_IDLE("rpo_alpha"), ROW_IDLE("f_divergence_type"), ROW_IDLE("reference_free"), ROW_IDLE("desirable_weight"), ROW_IDLE("undesirable_weight"), ROW_IDLE("ref_adapters"),
    ROW_IDLE("mcore_*"), ROW_IDLE("bridge_backend"), ROW_IDLE("test_convert_*"), ROW_IDLE("to_hf"), ROW_IDLE("to_mcore"), ROW_IDLE("max_shard_size"), ROW_IDLE("exist_ok"), ROW_IDLE("enable_channel_loss"), ROW_IDLE("enable_dft_loss"),
    ROW_IDLE("vllm_*"), ROW_IDLE("use_ray"), ROW_IDLE("skip_megatron_init"), ROW_IDLE("gradient_accumulation_fusion"), ROW_IDLE("masked_softmax_fusion"), ROW_IDLE("apply_rope_fusion"), ROW_IDLE("cp_partition_mode"),
    ROW_UNSIMULATED("offload_*"), ROW_UNSIMULATED("mlp_padding_free"), ROW_UNSIMULATED("sequence_packing_scheduler"), ROW_UNSIMULATED("microbatch_group_size_per_vp_stage"), ROW_UNSIMULATED("calculate_KL"), ROW_UNSIMULATED("apply_dsa_*"),
    ROW_UNSIMULATED("megatron_extra_kwargs"), ROW_UNSIMULATED("language_model_only"), ROW_UNSIMULATED("vit_gradient_checkpointing_kwargs"),
    ROW_IDLE("num_labels"), ROW_IDLE("problem_type"), ROW_IDLE("router_aux_loss_coef"), ROW_IDLE("truncation_strategy"),
    ROW_IDLE("lazy_tokenize"), ROW_IDLE("use_hf"), ROW_IDLE("custom_*"), ROW_IDLE("external_plugins"), ROW_IDLE("agent_template"), ROW_IDLE("enable_thinking"), ROW_IDLE("add_non_thinking_prefix"),
    ROW_IDLE("save_*"), ROW_IDLE("to_cached_dataset"), ROW_IDLE("use_logits_to_keep"), ROW_IDLE("vit_lr"), ROW_IDLE("aligner_lr"), ROW_IDLE("max_pixels"), ROW_IDLE("add_version"),
    ROW_IDLE("tools_prompt"), ROW_IDLE("strict"), ROW_IDLE("response_prefix"), ROW_IDLE("swanlab_*"), ROW_IDLE("shuffle_*"), ROW_IDLE("new_special_tokens"), ROW_IDLE("adapters"),
    ROW_IDLE("check_dataset_strategy"), ROW_IDLE("train_dataset_sample"), ROW_IDLE("self_cognition_sample"), ROW_IDLE("model_kwargs"), ROW_IDLE("is_binary_loss_scale"), ROW_IDLE("max_new_tokens"),
    ROW_IDLE("temperature"), ROW_IDLE("create_checkpoint_symlink"), ROW_IDLE("callbacks"), ROW_IDLE("norm_bbox"), ROW_IDLE("padding_side"), ROW_IDLE("load_data_args"), ROW_IDLE("metric"),
    ROW_END,
};
const struct dialect_table swift_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_preference_rows, DIALECT_UNKNOWN_WARNED },
    { "", unsimulated, DIALECT_UNKNOWN_WARNED },
    { "", trainer_rows, DIALECT_UNKNOWN_WARNED },
    { "", peft_rows, DIALECT_UNKNOWN_WARNED },
    { "", idle, DIALECT_UNKNOWN_WARNED },
    { "", trainer_unsimulated_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_idle_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* swift/trainers/arguments.py */
static const struct trainer_default defaults[] = {
    { "/training/micro_batch_size", "1", "per_device_train_batch_size' default" },
    { "/training/activation_checkpointing", "full", "gradient_checkpointing' default" },
    { "/training/task", "causal-lm", "task_type' default" },
    { NULL, NULL, NULL },
};
/* swift/arguments/tuner_args.py, quant_args.py */
static const struct peft_kind adapters = {
    .asks = "tuner_type", .usual = true, .rank = 8, .alpha = 32, .dropout = 0.05, .targets = "all-linear",
    .double_quantization = true, .from = "ms-swift's",
};
/* clang-format on */

/* Processes ------------------------------------------------------------------------ */

static void set_whole(struct launch_context *t, const char *pointer, int64_t n,
                      int64_t line, const char *from)
{
    struct value v = { .kind = VALUE_INT, .line = line };
    const struct value_item it = { from, line, &v };
    launch_set(t, pointer, json_integer((json_int_t)n), &it);
}

/* A number that the shell gives a variable of the command; 0: none is given, or none is
 * known, which is asked for. */
static int64_t variable(struct launch_context *t, const struct launch_command *c,
                        const char *name, const char *pointer)
{
    const struct shell_binding *b = launch_variable(c, name);
    char *end;
    if (!b)
        return 0;
    int64_t n = b->value ? strtoll(b->value, &end, 10) : 0;
    if (n > 0 && !*end) {
        set_whole(t, pointer, n, b->line, name);
        return n;
    }
    launch_add_unresolved(t, pointer, b->line, "%s: its value is not known", name);
    return 0;
}

/* swift/cli/main.py: NPROC_PER_NODE or NNODES start torchrun; without them there is one
 * process, which puts layers on all GPUs that it sees (utils/env.py, is_mp). A platform
 * that gives the number of nodes gives that of processes, too. */
void swift_take_processes(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_binding *seen = launch_variable(c, "CUDA_VISIBLE_DEVICES");
    int64_t line = c->command->line, nodes = variable(t, c, "NNODES", COUNT_AT),
            each = variable(t, c, "NPROC_PER_NODE", GPUS_AT);
    if (!nodes && !launch_is_unresolved(t, COUNT_AT) && !launch_has(t, COUNT_AT))
        set_whole(t, COUNT_AT, 1, line, "NNODES is not given");
    if (each || launch_is_unresolved(t, GPUS_AT) || launch_has(t, GPUS_AT))
        return;
    if (!nodes && launch_variable(c, "NNODES")) {
        launch_note(
            t->l, line, DIAG_ASSUMED,
            "NPROC_PER_NODE is taken to be given where NNODES is, and to be all "
            "GPUs of an instance");
        return;
    }
    if (seen && seen->value && strchr(seen->value, ',')) {
        launch_add_unresolved(t, GPUS_AT, seen->line,
                              "CUDA_VISIBLE_DEVICES: without NPROC_PER_NODE one "
                              "process puts its layers on several GPUs, which is not "
                              "simulated; 1 is one GPU");
        return;
    }
    set_whole(t, GPUS_AT, 1, line, "NPROC_PER_NODE is not given");
}

/* Arguments ------------------------------------------------------------------------ */

static struct value *copy_of(struct launch_context *t, const struct value *given)
{
    struct value *v = value_new(t->arena, VALUE_DICT, given->line, 0);
    for (int32_t i = 0; i < given->n; i++)
        value_add(t->arena, v, given->items[i].key, given->items[i].line,
                  given->items[i].value);
    return v;
}

static void put_text(struct launch_context *t, struct value *v, const char *key,
                     const char *text)
{
    value_add(t->arena, v, key, v->line, value_new_string(t->arena, text, v->line, 0));
}

struct value *swift_renamed(struct launch_context *t, const struct value *given)
{
    static const char *const older[] = { "train_type", "sft_type" };
    struct value *v = copy_of(t, given);
    for (size_t i = 0; i < sizeof(older) / sizeof(older[0]); i++) {
        const struct value_item *it = value_get(v, older[i]);
        if (it && !value_get(v, "tuner_type"))
            v->items[it - v->items].key = "tuner_type";
    }
    /* ms-swift 2's default in words */
    const struct value_item *type = value_get(v, "dtype");
    if (type && strcmp(text_of(type), "AUTO") == 0)
        value_remove(v, (int32_t)(type - v->items));
    return v;
}

/* Defaults that other rows have to hear of. The adapters' targets "ALL" and "auto" are the
 * same as all-linear. */
static struct value *arguments(struct launch_context *t, const struct value *given)
{
    struct value *v = swift_renamed(t, given);
    if (!value_get(v, "torch_dtype") && !value_get(v, "dtype") &&
        !value_get(v, "bf16") && !value_get(v, "fp16"))
        put_text(t, v, "torch_dtype", "bfloat16");
    return v;
}

/* As many as make 16 sequences of all processes (trainers/arguments.py). */
static void take_accumulation(struct launch_context *t, const struct value *v)
{
    int64_t each = launch_number(t, GPUS_AT, 0), count = launch_number(t, COUNT_AT, 0),
            micro = launch_number(t, "/training/micro_batch_size", 1);
    if (value_get(v, "gradient_accumulation_steps") || launch_has(t, STEPS_AT))
        return;
    if (each > 0 && count > 0 && micro > 0) {
        int64_t all = micro * each * count, n = (16 + all - 1) / all;
        set_whole(t, STEPS_AT, n > 1 ? n : 1, v->line,
                  "gradient_accumulation_steps' default");
        return;
    }
    launch_add_unresolved(t, STEPS_AT, v->line,
                          "gradient_accumulation_steps: by default as many as make 16 "
                          "sequences of all GPUs, which are not known");
}

bool swift_recognises(const struct dialect_input *in)
{
    static const char *const marks[] = { "tuner_type", "train_type", "sft_type", NULL };
    bool marked = false;
    for (const char *const *m = marks; *m; m++)
        marked |= value_get(in->root, *m) != NULL;
    return (marked || swift_megatron_is(in->root)) &&
           (value_get(in->root, "model") || value_get(in->root, "model_id_or_path"));
}

/* `swift rlhf` without --rlhf_type is DPO (arguments/rlhf_args.py). */
static void take_command(struct launch_context *t, const struct launch_command *c,
                         const struct value *given)
{
    const struct shell_word *w =
        c->script + 1 < c->command->n ? &c->command->words[c->script + 1] : NULL;
    struct value v = { .kind = VALUE_STRING, .line = w ? w->line : 0, .text = "dpo" };
    const struct value_item it = { "rlhf", v.line, &v };
    if (w && strcmp(w->text, "rlhf") == 0 && !value_get(given, "rlhf_type"))
        swift_take_method(t, NULL, &it);
    swift_take_processes(t, c);
}

void swift_settle(struct launch *l, struct cfg root)
{
    trainer_settle_tower(l, root);
    megatron_settle_overlap(l, root);
}

void swift_read(struct launch_context *t, const struct dialect_input *in)
{
    static const struct trainer_kind kind = { .own = rows,
                                              .defaults = defaults,
                                              .tables = swift_tables,
                                              .packing = "packing",
                                              .peft = &adapters };
    const struct launch_command *c = in->command;
    const struct value *given = c ? trainer_command_arguments(t, c) : in->root;
    struct value *all = arguments(t, given);
    t->l->title = "ms-swift's arguments";
    t->l->what = "the file";
    t->l->line = c ? c->command->line : 1;
    if (swift_megatron_starts(c) || (!c && swift_megatron_is(given))) {
        swift_megatron_read(t, c, given);
        return;
    }
    if (c)
        take_command(t, c, given);
    t->l->adapts_tower = true; /* swift/tuners: get_multimodal_target_regex */
    trainer_frozen_parts(t, all, "freeze_vit", "freeze_aligner");
    trainer_read_arguments(t, all, &kind);
    take_accumulation(t, all);
}
