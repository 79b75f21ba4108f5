#include "dialect/llamafactory/llamafactory.h"

#include "base/names.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

/* hparams/finetuning_args.py: pt, sft, rm, ppo, dpo, kto; of dpo, losses without a
 * reference model are methods of their own. */
static void take_stage(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    static const char *const trained[] = { "sft", "pt", NULL }, *const alone[] = {
        "orpo", "simpo", NULL
    };
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "";
    const struct value_item *loss = launch_hyper(t, "pref_loss");
    bool own = strcmp(word, "dpo") == 0 && loss && loss->value->kind == VALUE_STRING &&
               names_listed(alone, loss->value->text);
    if (names_listed(trained, word))
        launch_set(t, row->pointer, json_string("causal-lm"), it);
    else if (own)
        trainer_take_method(t, loss, loss->value->text);
    else if (!trainer_take_method(t, it, word))
        trainer_refuse(t, it, *word ? word : "this");
    if (strcmp(word, "rm") == 0)
        launch_note(
            t->l, it->value->line, DIAG_APPROXIMATE,
            "%s: rm: logits that the model makes next to its rewards, and nobody "
            "reads, are left out",
            it->key);
}

static void take_other_task(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    const struct value_item *trains = launch_hyper(t, "do_train");
    (void)row;
    if (launch_is_off(it->value))
        return;
    if (strcmp(it->key, "do_predict") == 0 && trains && launch_true(trains->value))
        launch_note(t->l, it->line, DIAG_LEFT_OUT,
                    "%s: what is generated after the training is not simulated",
                    it->key);
    else
        trainer_refuse(t, it,
                       strncmp(it->key, "export", 6) == 0 ? "the export of a model"
                       : strcmp(it->key, "use_kt") == 0
                           ? "experts that the host computes (KTransformers)"
                           : "inference");
}

/* model/model_utils/attention.py: "auto" leaves it to transformers. */
static void take_attention(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    static const struct dialect_word words[] = {
        { "fa2", "flash_attention_2" },
        { "fa3", "flash_attention_3" },
        { "sdpa", "sdpa" },
        { "disabled", "eager" },
        { NULL, NULL },
    };
    struct dialect_option as = *row;
    as.words = words;
    as.wanted = "attention that is simulated";
    /* a flag before 0.7: FlashAttention 2 */
    if (it->value->kind == VALUE_BOOL) {
        if (it->value->integer)
            launch_set(t, row->pointer, json_string("flash_attention_2"), it);
        return;
    }
    if (it->value->kind != VALUE_STRING || strcmp(it->value->text, "auto") != 0)
        dialect_take_as(t, &as, it, DIALECT_WORD);
}

/* Weights, gradients and states in 16 bits. */
static void take_pure(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    if (!launch_true(it->value))
        return;
    launch_set(t, row->pointer, json_string("bf16"), it);
    launch_set(t, "/training/master_weights", json_false(), it);
}

/* train/fp8_utils.py (0.9.5): torchao's recipe has a scale a row. */
static void take_fp8(struct launch_context *t, const struct dialect_option *row,
                     const struct value_item *it)
{
    const struct value_item *backend = launch_hyper(t, "fp8_backend");
    const char *word =
        backend && backend->value->kind == VALUE_STRING ? backend->value->text : "auto";
    bool own = strcmp(word, "auto") == 0 || strcmp(word, "torchao") == 0;
    (void)row;
    launch_hear(t, backend);
    if (!launch_true(it->value))
        return;
    accelerate_set_fp8(t, it, own ? "ao" : word);
    if (own && t->converts)
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: torchao's scales of each row are simulated as one a tensor",
                    it->key);
}

/* model/patcher.py: the model is loaded in the type of training, of adapters. */
static void take_half(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    if (t->adapters && launch_true(it->value))
        peft_take_half(t, row, it, row->name);
}

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("export_dir", "/training/task", .take = take_other_task),
    ROW("do_predict", "/training/task", .take = take_other_task),
    ROW("infer_backend", "/training/task", .take = take_other_task),
    ROW("use_kt", "/training/task", .take = take_other_task),
    ROW("stage", "/training/task", .take = take_stage),
    ROW("fsdp", "/parallelism/library", .take = trainer_take_fsdp),
    ROW("deepspeed", "/parallelism/library", .take = deepspeed_take_file),
    ROW("fp8", "/training/precision", .take = take_fp8),
    ROW("bf16", "/training/precision", .take = take_half),
    ROW("fp16", "/training/precision", .take = take_half),
    ROW("cutoff_len", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("flash_attn", "/training/attention", .take = take_attention),
    ROW("pure_bf16", "/training/precision", .take = take_pure),
    ROW("disable_gradient_checkpointing", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "none"),
    ROW_END,
};
static const struct dialect_option asked[] = { /* ask_training */
    ROW_ACTS("do_train", "/training/task"), ROW_ACTS("tokenized_path", "/training/task"), ROW_ACTS("image_max_pixels", "/model"),
    ROW_END,
};
static const struct dialect_option unsimulated[] = {
    ROW_UNSIMULATED("use_unsloth*"), ROW_UNSIMULATED("use_galore"), ROW_UNSIMULATED("galore_*"),
    ROW_UNSIMULATED("use_apollo"), ROW_UNSIMULATED("apollo_*"), ROW_UNSIMULATED("use_badam"), ROW_UNSIMULATED("badam_*"), ROW_UNSIMULATED("use_muon"),
    ROW_UNSIMULATED("use_adam_mini"), ROW_UNSIMULATED("ray_num_workers"), ROW_UNSIMULATED("use_llama_pro"), ROW_ACTS("freeze_trainable_layers", "/training/frozen"), ROW_ACTS("freeze_trainable_modules", "/training/frozen"), ROW_ACTS("freeze_extra_modules", "/training/frozen"), ROW_UNSIMULATED("freeze_*"), ROW_UNSIMULATED("mixture_of_depths"),
    ROW_UNSIMULATED("shift_attn"), ROW_UNSIMULATED("kt_*"), ROW_UNSIMULATED("fp8*"), ROW_UNSIMULATED("moe_*"),
    ROW_UNSIMULATED("video_max_pixels"), ROW_UNSIMULATED("cp_size"), ROW_UNSIMULATED("cp_mode"), ROW_UNSIMULATED("use_v1_kernels"),
    ROW_UNSIMULATED("sequence_parallel_*"), ROW_UNSIMULATED("ref_model_*"), ROW_UNSIMULATED("train_from_scratch"), ROW_UNSIMULATED("upcast_*"),
    ROW_END,
};
static const struct dialect_option idle[] = {
    ROW_IDLE("template"), ROW_IDLE("dataset*"), ROW_IDLE("max_samples"), ROW_IDLE("plot_loss"), ROW_IDLE("packing"), ROW_IDLE("neat_packing"), ROW_IDLE("val_size"),
    ROW_IDLE("mask_history"), ROW_IDLE("train_on_prompt"), ROW_IDLE("mix_strategy"), ROW_IDLE("interleave_probs"), ROW_IDLE("buffer_size"),
    ROW_IDLE("image_*"), ROW_IDLE("video_*"), ROW_IDLE("audio_*"), ROW_IDLE("media_dir"), ROW_IDLE("pref_*"), ROW_IDLE("dpo_*"), ROW_IDLE("simpo_gamma"), ROW_IDLE("kto_*"), ROW_IDLE("rope_scaling"), ROW_IDLE("resize_vocab"),
    ROW_IDLE("use_reentrant_gc"), ROW_IDLE("enable_thinking"), ROW_IDLE("use_swanlab"), ROW_IDLE("swanlab_*"), ROW_IDLE("tool_format"), ROW_IDLE("default_system"),
    ROW_IDLE("predict_with_generate"), ROW_IDLE("use_fast_tokenizer"), ROW_IDLE("new_special_tokens"), ROW_IDLE("add_special_tokens"), ROW_IDLE("split_special_tokens"),
    ROW_IDLE("compute_accuracy"), ROW_IDLE("use_*_loss"), ROW_IDLE("use_dft_loss"), ROW_IDLE("use_asft_loss"), ROW_IDLE("use_eaft_loss"), ROW_IDLE("asft_alpha"),
    ROW_IDLE("ray_*"), ROW_IDLE("top_p"), ROW_IDLE("max_new_tokens"), ROW_IDLE("temperature"), ROW_IDLE("low_cpu_mem_usage"), ROW_IDLE("use_modelscope_hub"),
    ROW_IDLE("hf_hub_token"), ROW_IDLE("print_param_status"), ROW_IDLE("ignore_pad_token_for_loss"), ROW_IDLE("include_num_input_tokens_seen"), ROW_IDLE("warmup_*"),
    ROW_END,
};
const struct dialect_table llamafactory_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_preference_rows, DIALECT_UNKNOWN_WARNED },
    { "", asked, DIALECT_UNKNOWN_WARNED },
    { "", llamafactory_core_rows, DIALECT_UNKNOWN_WARNED },
    { "", unsimulated, DIALECT_UNKNOWN_WARNED },
    { "", trainer_rows, DIALECT_UNKNOWN_WARNED },
    { "", peft_rows, DIALECT_UNKNOWN_WARNED },
    { "", idle, DIALECT_UNKNOWN_WARNED },
    { "", trainer_unsimulated_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_idle_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* model/model_utils/checkpointing.py checkpoints every layer by default. */
static const struct trainer_default defaults[] = {
    { "/training/sequence_length", "2048", "cutoff_len's default" },
    { "/training/activation_checkpointing", "full", "disable_gradient_checkpointing' default" },
    { NULL, NULL, NULL },
};
/* Until train_bash.py went (May 2024; hparams/data_args.py, since September 2023). */
static const struct trainer_default older[] = {
    { "/training/sequence_length", "1024", "cutoff_len's default of train_bash.py" },
    { "/training/activation_checkpointing", "full", "disable_gradient_checkpointing' default" },
    { NULL, NULL, NULL },
};
/* hparams/finetuning_args.py and model_args.py */
static const struct peft_kind adapters = {
    .asks = "finetuning_type", .usual = true, .rank = 8, .alpha_ranks = 2, .targets = "all-linear",
    .double_quantization = true, .from = "LLaMA-Factory's",
};
/* clang-format on */

bool llamafactory_recognises(const struct dialect_input *in)
{
    const struct value *v = in->root;
    if (in->source == DIALECT_COMMAND) /* of whatever program */
        return value_get(v, "--stage") && value_get(v, "--finetuning-type") &&
               value_get(v, "--model-name-or-path");
    if (llamafactory_v1_is(v))
        return true;
    bool own = value_get(v, "finetuning_type") || value_get(v, "cutoff_len") ||
               value_get(v, "stage") || value_get(v, "infer_backend") ||
               value_get(v, "export_dir");
    bool staged = value_get(v, "stage") && value_get(v, "finetuning_type");
    return staged || (own && value_get(v, "model_name_or_path"));
}

/* hparams/parser.py (0.9.4): pre-training packs unless packing is false; neat_packing
 * packs, too. */
static bool packs(const struct value *v)
{
    const struct value_item *on = value_get(v, "packing"),
                            *neat = value_get(v, "neat_packing"),
                            *stage = value_get(v, "stage");
    if ((neat && launch_true(neat->value)) || (on && launch_true(on->value)))
        return true;
    return (!on || on->value->kind == VALUE_NONE) && stage &&
           stage->value->kind == VALUE_STRING && strcmp(stage->value->text, "pt") == 0;
}

/* The file and its options, and words KEY=VALUE over them (hparams/parser.py,
 * read_args). */
static const struct value *arguments(struct launch_context *t,
                                     const struct launch_command *c)
{
    struct value *v = trainer_command_arguments(t, c);
    launch_take_overrides(t->arena, v, c);
    return v;
}

/* v1's commands name the trainer (v1/launcher.py). */
static void take_command(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_word *w =
        c->script + 1 < c->command->n ? &c->command->words[c->script + 1] : NULL;
    struct value v = { .kind = VALUE_STRING, .line = w ? w->line : 0 };
    const struct value_item it = { w ? w->text : "", v.line, &v };
    if (w && (strcmp(w->text, "dpo") == 0 || strcmp(w->text, "rm") == 0))
        trainer_take_method(t, &it, w->text);
}

/* llamafactory-cli starts torchrun by variables; without NPROC_PER_NODE on all GPUs that
 * it sees (launcher.py, 0.9.4). */
static void take_processes(struct launch_context *t, const struct launch_command *c)
{
    static const struct {
        const char *name, *pointer, *usual;
    } counts[] = { { "NNODES", "/cluster/count", "NNODES' default" },
                   { "NPROC_PER_NODE", "/cluster/gpus_per_instance", NULL } };
    for (size_t i = 0; i < 2 && c->starts; i++) {
        const struct shell_binding *b = launch_variable(c, counts[i].name);
        int64_t line = b ? b->line : c->command->line, n = 1;
        const char *text = b ? b->value : NULL;
        struct value v = { .kind = VALUE_STRING, .line = line, .text = text };
        const struct value_item it = { b ? b->name : counts[i].usual, line, &v };
        if (launch_has(t, counts[i].pointer) || (!b && !counts[i].usual))
            continue;
        if (!b || (text && launch_whole(&v, &n) && n > 0))
            launch_set(t, counts[i].pointer, json_integer((json_int_t)n), &it);
        else
            launch_add_unresolved(t, counts[i].pointer, line,
                                  "%s: its value is not known", counts[i].name);
    }
}

/* What a run of its trains ------------------------------------------------------------ */

/* Without do_train nothing is (train/sft/workflow.py). A run with a tokenized_path that is
 * not there yet writes it and ends (data/loader.py): without any word of a training, that
 * is what the file is for. */
static void ask_training(struct launch_context *t, const struct value *v)
{
    static const char *const words[] = { "per_device_train_batch_size", "learning_rate",
                                         "num_train_epochs", "max_steps", NULL };
    static const char task[] = "/training/task";
    const struct value_item *on = value_get(v, "do_train"),
                            *path = value_get(v, "tokenized_path");
    bool any = false;
    for (const char *const *w = words; *w; w++)
        any |= value_get(v, *w) != NULL;
    bool writes = path && path->value->kind != VALUE_NONE && !any;
    launch_hear(t, on);
    launch_hear(t, path);
    if (!on || !launch_true(on->value))
        launch_add_unresolved(
            t, task, on ? on->line : t->l->line,
            "do_train: without it nothing is trained; causal-lm is the "
            "training that the rest describes");
    else if (writes)
        launch_add_unresolved(
            t, task, path->line,
            "tokenized_path: the run that writes it trains nothing, and "
            "no word is of a training; causal-lm is the run after it");
    else if (path && path->value->kind != VALUE_NONE)
        launch_note(t->l, path->line, DIAG_ASSUMED,
                    "tokenized_path: it is taken to be there; the run that writes it "
                    "trains nothing");
}

/* model/patcher.py: weights without a type of training are in the checkpoint's, bf16 where
 * the GPU has it; what is trained is cast to fp32 (model/adapter.py). */
static void take_type(struct launch_context *t)
{
    static const struct dialect_option row =
        ROW_ACTS("compute_dtype", "/training/precision");
    struct value v = { .kind = VALUE_NONE, .line = t->l->line };
    const struct value_item it = { "compute_dtype's default, the checkpoint's", v.line,
                                   &v };
    if (t->adapters && !launch_has(t, row.pointer) &&
        !launch_is_unresolved(t, row.pointer))
        peft_take_half(t, &row, &it, "bf16");
}

static bool is_older(const struct launch_command *c)
{
    const char *program = c ? c->command->words[c->script].text : "";
    return strcmp(launch_last_part(program), "train_bash.py") == 0;
}

void llamafactory_read(struct launch_context *t, const struct dialect_input *in)
{
    struct trainer_kind kind = { .own = rows,
                                 .defaults = defaults,
                                 .tables = llamafactory_tables,
                                 .packing = "packing",
                                 .peft = &adapters };
    struct value *accelerate =
        in->command ? accelerate_take_command(t, in->command) : NULL;
    const struct value *given = in->command ? arguments(t, in->command) : in->root;
    t->l->title = "LLaMA-Factory's arguments";
    t->l->what = "the file";
    t->l->line = in->command ? in->command->command->line : 1;
    if (in->command) {
        take_command(t, in->command);
        take_processes(t, in->command);
    }
    if (llamafactory_v1_is(given)) {
        llamafactory_v1_read(t, given);
        return;
    }
    ask_training(t, given);
    if (packs(given))
        kind.packing = NULL;
    if (is_older(in->command))
        kind.defaults = older;
    if (llamafactory_core_is(given))
        llamafactory_take_core(t, given);
    /* model_utils/visual.py, patch_target_modules */
    t->l->adapts_tower = true;
    /* hparams/model_args.py and finetuning_args.py: both are true */
    trainer_frozen_parts(t, given, "freeze_vision_tower",
                         "freeze_multi_modal_projector");
    /* hparams/model_args.py (0.9.1) */
    trainer_take_pixels(t, given, "image_max_pixels", 768 * 768);
    trainer_read_arguments(t, given, &kind);
    take_type(t);
    if (accelerate)
        accelerate_settle(t, accelerate);
}
