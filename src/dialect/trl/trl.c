#include "dialect/trl/trl.h"

#include "config/pointer.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"
#include "dialect/usual/usual.h"

#include <string.h>
#include <strings.h>

/* The one method that a part of the file's path names: "recipes/orpo/config_full.yaml";
 * NULL: none does, or several do. */
static const char *method_of_path(const char *file)
{
    static const char *const methods[] = { "dpo", "kto", "orpo", "simpo", "cpo" };
    static const char between[] = "/_.-";
    const char *found = NULL;
    for (const char *s = file; *s;) {
        size_t n = strcspn(s, between);
        for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
            bool is = n == strlen(methods[i]) && strncasecmp(s, methods[i], n) == 0;
            if (is && found && found != methods[i])
                return NULL;
            found = is ? methods[i] : found;
        }
        s += n + strspn(s + n, between);
    }
    return found;
}

static void take_beta(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    const char *method = method_of_path(t->l->file);
    if (it->value->kind == VALUE_NONE || launch_has(t, row->pointer) ||
        launch_is_unresolved(t, row->pointer))
        return;
    if (method && !t->command && trainer_take_method(t, it, method))
        launch_note(t->l, it->value->line, DIAG_ASSUMED,
                    "%s: the method is taken to be %s, as the file's path has it "
                    "(give --set %s=... for another)",
                    it->key, method, row->pointer);
    else
        launch_add_unresolved(
            t, row->pointer, it->value->line,
            "%s: the script that reads the file trains on preferences, "
            "by dpo, kto, orpo, simpo or cpo",
            it->key);
}

/* Pairs are cut to max_length, whatever the loader of the model has. */
static void take_length(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    if (trainer_prefers(t))
        dialect_take_as(t, row, it, DIALECT_WHOLE);
}

enum { COPIED_MAX = 20000 };

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("max_length", "/training/sequence_length", .take = take_length),
    ROW("beta", "/training/task", .take = take_beta),
    ROW("max_prompt_length", "/training/task", .take = take_beta),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("use_liger_loss"), ROW_UNSIMULATED("sync_ref_model"), ROW_IDLE("ref_model_*"), ROW_IDLE("precompute_ref_*"),
    ROW_IDLE("loss_type"), ROW_IDLE("loss_weights"), ROW_IDLE("desirable_weight"), ROW_IDLE("undesirable_weight"), ROW_IDLE("cpo_alpha"), ROW_IDLE("simpo_gamma"), ROW_IDLE("gamma_beta_ratio"), ROW_IDLE("rpo_alpha"), ROW_IDLE("ld_alpha"),
    ROW_IDLE("truncation_mode"), ROW_IDLE("f_divergence_type"), ROW_IDLE("f_alpha_divergence_coef"), ROW_IDLE("use_weighting"), ROW_IDLE("discopop_tau"), ROW_IDLE("disable_dropout"), ROW_IDLE("max_target_length"),
    ROW_IDLE("generate_during_eval"), ROW_IDLE("padding_value"), ROW_IDLE("is_encoder_decoder"), ROW_IDLE("reference_free"), ROW_IDLE("use_logits_to_keep"),
    ROW_IDLE("packing"), ROW_IDLE("padding_free"), ROW_IDLE("eval_packing"), ROW_IDLE("vllm_*"), ROW_IDLE("reward_weights"), ROW_IDLE("reward_scale*"),
    ROW_IDLE("wandb_*"), ROW_IDLE("benchmarks"), ROW_IDLE("callbacks"), ROW_IDLE("system_prompt"), ROW_IDLE("text_column"), ROW_IDLE("completion_only_loss"),
    ROW_IDLE("temperature"), ROW_IDLE("top_p"), ROW_IDLE("model_code_revision"), ROW_IDLE("bos_token"), ROW_IDLE("auto_insert_empty_system_msg"),
    ROW_IDLE("use_cache"), ROW_IDLE("gradient_checkpointing_use_reentrant"), ROW_IDLE("model_init_kwargs"),
    ROW_END,
};
const struct dialect_table trl_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_preference_rows, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED },
    { "", trainer_rows, DIALECT_UNKNOWN_WARNED },
    { "", peft_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_unsimulated_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_idle_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* TRL 0.22 and newer: trl/trainer/sft_config.py, from 1.0 on base_config.py. The length is
 * the first. */
static const struct trainer_default newer[] = {
    { "/training/sequence_length", "1024", "max_length's default" },
    { "/training/activation_checkpointing", "full", "gradient_checkpointing' default since TRL 0.22" },
    { "/training/precision", "amp_bf16", "bf16's default since TRL 0.19" },
    { NULL, NULL, NULL },
};
/* trl/trainer/model_config.py */
static const struct peft_kind adapters = { .asks = "use_peft", .rank = 16, .alpha = 32, .dropout = 0.05, .from = "TRL's" };
/* peft/tuners/lora/config.py */
static const struct peft_kind section = { .asks = "use_peft", .rank = 8, .alpha = 8, .from = "LoraConfig's" };
/* TRL before 0.19: trl/trainer/sft_trainer.py, at most the tokenizer's own limit. */
static const struct trainer_default before[] = {
    { "/training/sequence_length", "1024", "max_seq_length's default" },
    { NULL, NULL, NULL },
};
/* clang-format on */

/* The document of a script with TRL's own words. */
bool trl_recognises(const struct dialect_input *in)
{
    static const char *const own[] = {
        "packing",
        "use_peft",
        "dataset_mixture",
        "dataset_mixer",
        "beta",
        "chat_template",
        "max_prompt_length",
        "num_generations",
        "dtype",
        "dataset_kwargs",
        "max_length",
        "assistant_only_loss",
        "dataset_text_field",
        NULL,
    };
    bool marked = false;
    for (const char *const *m = own; *m; m++)
        marked |= value_get(in->root, *m) != NULL;
    return marked && value_get(in->root, "model_name_or_path") != NULL;
}

/* A switch that is given and off is no default. */
static void take_given(struct launch_context *t, const struct value *v)
{
    const struct value_item *bf16 = value_get(v, "bf16"), *fp16 = value_get(v, "fp16");
    if (bf16 && bf16->value->kind == VALUE_BOOL && !bf16->value->integer &&
        !(fp16 && launch_true(fp16->value)) && !value_get(v, "torch_dtype") &&
        !value_get(v, "dtype"))
        launch_set(t, "/training/precision", json_string("fp32"), bf16);
}

void trl_take_method(struct launch_context *t, const char *method,
                     const struct value_item *it)
{
    if (strcasecmp(method, "sft") != 0 && !trainer_take_method(t, it, method))
        trainer_refuse(t, it, method);
}

/* CPO's loss without a term of its own is SimPO's (trl/experimental/cpo/cpo_config.py);
 * one of KTO's losses estimates no divergence (trl/trainer/kto_trainer.py). */
static void take_loss(struct launch_context *t, const struct value *given)
{
    const struct value_item *loss = value_get(given, "loss_type");
    const char *word = launch_word(given, "loss_type", "");
    if (strcmp(word, "simpo") == 0) {
        launch_forget(t, "/training/task");
        trainer_take_method(t, loss, "simpo");
    } else if (strcmp(word, "apo_zero_unpaired") == 0)
        launch_note(t->l, loss->line, DIAG_APPROXIMATE,
                    "loss_type: this loss estimates no divergence: two of KTO's three "
                    "forwards without gradients are not run");
}

/* The method of a document alone, by words that one method has. */
static void take_document_method(struct launch_context *t, const struct value *v)
{
    static const struct {
        const char *key, *method;
    } marks[] = {
        { "desirable_weight", "kto" },
        { "undesirable_weight", "kto" },
        { "cpo_alpha", "cpo" },
        { "simpo_gamma", "cpo" },
        { "gamma_beta_ratio", "simpo" }, /* princeton-nlp/SimPO, simpo_config.py */
        { "precompute_ref_log_probs", "dpo" },
        { "ref_model", "dpo" },
        { "loss_type", "dpo" },
        { "center_rewards_coefficient", "reward" },
    };
    bool compares = value_get(v, "beta") || value_get(v, "max_prompt_length");
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        const struct value_item *it = value_get(v, marks[i].key);
        if (!it || (!compares && strcmp(marks[i].key, "loss_type") == 0))
            continue;
        trainer_take_method(t, it, marks[i].method);
        return;
    }
}

/* A script's own switch of adapters, next to TRL's words of them ("peft_enabled"): what
 * use_peft is to TRL's own scripts. Without any it is asked for. */
static const struct value *with_switch(struct launch_context *t,
                                       const struct value *given)
{
    static const char *const own[] = { "peft_enabled", "enable_peft", "enable_lora",
                                       "lora_enabled", "use_lora",    "do_lora" };
    const struct value_item *rank = value_get(given, "lora_r"), *it = NULL;
    int64_t budget = COPIED_MAX;
    if (!rank || launch_is_off(rank->value) || value_get(given, "use_peft"))
        return given;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]) && !it; i++)
        it = value_get(given, own[i]);
    if (!it) {
        launch_add_unresolved(t, PEFT_LORA, rank->line,
                              "%s: adapters are described, and no use_peft asks for "
                              "them; null is training without",
                              rank->key);
        return given;
    }
    struct value *all = value_copy(t->arena, given, &budget);
    if (!all)
        return given;
    launch_hear(t, it);
    value_add(t->arena, all, "use_peft", it->line,
              value_new_bool(t->arena, launch_true(it->value), it->line));
    return all;
}

void trl_take(struct launch_context *t, const struct value *given, bool older)
{
    bool old = older || value_get(given, "max_seq_length") ||
               value_get(given, "torch_dtype") || value_get(given, "dataset_mixer") ||
               value_get(given, "overwrite_output_dir");
    /* max_length=None cuts nothing: how long texts are is not said */
    const struct value_item *length = value_get(given, "max_length");
    bool cut = !length || length->value->kind != VALUE_NONE;
    const struct trainer_kind kind = { .own = rows,
                                       .defaults = (old ? before : newer) + !cut,
                                       .tables = trl_tables,
                                       .packing = "packing",
                                       .peft = t->lora_config ? &section : &adapters };
    t->mixes = !old && !value_get(given, "bf16");
    take_given(t, given);
    take_loss(t, given);
    trainer_read_arguments(t, with_switch(t, given), &kind);
    if (t->kept) /* after FSDP's own, which stays on */
        launch_assume(t, "/training/activation_checkpointing", json_string("full"), "");
}

void trl_cast(struct launch_context *t, const char *who, bool whole)
{
    static const char precision[] = "/training/precision";
    const char *base = json_string_value(pointer_get(t->tree, PEFT_BASE)),
               *now = json_string_value(pointer_get(t->tree, precision));
    struct value v = { .line = t->l->line };
    const struct value_item from = { who, v.line, &v };
    if (!t->adapters || t->converts || !base || strcmp(base, "nf4") != 0 || !now ||
        strcmp(now, "amp_bf16") != 0)
        return;
    launch_forget(t, precision);
    launch_set(t, precision, json_string("bf16"), &from);
    if (whole)
        launch_set(t, "/training/master_weights", json_false(), &from);
}

/* A document with words of loops of one's own next to TRL's (open-instruct's): types and
 * clipping are that program's. */
static void leave_to_loop(struct launch_context *t)
{
    static const char at[] = "/training/precision";
    t->trainer = false;
    if (launch_has(t, at) || launch_is_unresolved(t, at) || t->adapters)
        return;
    launch_add_unresolved(
        t, at, t->l->line,
        "the program that reads the file has a loop of its own, which "
        "decides of types: fp32, bf16, or amp_bf16 of autocast");
    launch_add_example(t, at, "bf16");
}

void trl_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct launch_command *c = in->command;
    t->l->title = "TRL's arguments";
    t->l->what = "the file";
    t->l->line = c ? c->command->line : 1;
    if (c) {
        const struct shell_word *w = &c->command->words[c->script + 1];
        const struct value_item it = { "trl", w->line,
                                       launch_word_value(t->arena, w, w->text) };
        trl_take_method(t, w->text, &it);
    } else {
        usual_take_own(t, in->root);
        if (!launch_has(t, "/training/task"))
            take_document_method(t, in->root);
    }
    trl_take(t, c ? trainer_command_arguments(t, c) : in->root, false);
    trl_cast(t, TRL_CASTS, true);
    if (!c && trainer_is_loop(t, ""))
        leave_to_loop(t);
}
