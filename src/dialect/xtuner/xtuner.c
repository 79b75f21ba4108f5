/* InternLM/xtuner 0.1.23: xtuner/tools/train.py, xtuner/model/sft.py,
 * xtuner/configs/deepspeed, xtuner/entry_point.py. */
#include "dialect/xtuner/xtuner.h"

#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/python/python.h"
#include "dialect/swift/swift.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

/* Rows ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("max_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("sequence_parallel_size", "/parallelism/context", .kind = DIALECT_DEGREE),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("use_varlen_attn"), ROW_IDLE("pack_to_max_length"), ROW_IDLE("bnb_4bit_*"), ROW_IDLE("llm_int8_*"),
    ROW_END,
};
const struct dialect_table xtuner_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", others, DIALECT_UNKNOWN_WARNED }, { "", trainer_rows, DIALECT_UNKNOWN_WARNED },
    { "", peft_rows, DIALECT_UNKNOWN_WARNED }, { "", trainer_unsimulated_rows, DIALECT_UNKNOWN_WARNED }, { "", trainer_idle_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
static const struct trainer_default defaults[] = {
    { "/training/micro_batch_size", "1", "the loader's default" }, { "/training/gradient_accumulation_steps", "1", "accumulative_counts' default" },
    { "/training/attention", "flash", "FlashAttention, where XTuner finds it" }, { "/training/task", "causal-lm", "SupervisedFinetune" },
    { NULL, NULL, NULL },
};
/* find_all_linear_names of model/utils.py: all but the head. */
static const struct peft_kind adapters = { .asks = "use_peft", .rank = 8, .alpha = 8, .dropout = 0, .targets = "all-linear", .from = "PEFT's" };
/* What a word is, of a dictionary of the configuration and of what is in it; the first that is there. */
static const struct place { const char *word, *path[4]; } places[] = {
    { "model_name_or_path", { "model", "llm", "pretrained_model_name_or_path", NULL } }, { "model_name_or_path", { "pretrained_model_name_or_path", NULL } },
    { "per_device_train_batch_size", { "train_dataloader", "batch_size", NULL } }, { "per_device_train_batch_size", { "batch_size", NULL } },
    { "gradient_accumulation_steps", { "strategy", "gradient_accumulation_steps", NULL } }, { "gradient_accumulation_steps", { "optim_wrapper", "accumulative_counts", NULL } },
    { "gradient_accumulation_steps", { "accumulative_counts", NULL } }, { "max_length", { "train_dataloader", "dataset", "max_length", NULL } }, { "max_length", { "max_length", NULL } },
    { "pack_to_max_length", { "train_dataloader", "dataset", "pack_to_max_length", NULL } }, { "pack_to_max_length", { "pack_to_max_length", NULL } },
    { "max_grad_norm", { "optim_wrapper", "clip_grad", "max_norm", NULL } }, { "max_grad_norm", { "strategy", "gradient_clipping", NULL } }, { "max_grad_norm", { "max_norm", NULL } },
    { "num_train_epochs", { "train_cfg", "max_epochs", NULL } }, { "num_train_epochs", { "max_epochs", NULL } }, { "max_steps", { "train_cfg", "max_iters", NULL } },
    { "dataloader_num_workers", { "train_dataloader", "num_workers", NULL } }, { "sequence_parallel_size", { "sequence_parallel_size", NULL } },
    { "use_varlen_attn", { "model", "use_varlen_attn", NULL } }, { "lora_r", { "model", "lora", "r", NULL } }, { "lora_alpha", { "model", "lora", "lora_alpha", NULL } },
    { "lora_dropout", { "model", "lora", "lora_dropout", NULL } }, { "lora_target_modules", { "model", "lora", "target_modules", NULL } },
    { "load_in_4bit", { "model", "llm", "quantization_config" , "load_in_4bit" } }, { "load_in_8bit", { "model", "llm", "quantization_config" , "load_in_8bit" } },
    { "bnb_4bit_use_double_quant", { "model", "llm", "quantization_config" , "bnb_4bit_use_double_quant" } },
    { "attn_implementation", { "model", "llm", "attn_implementation", NULL } }, { "gradient_checkpointing", { "model", "use_activation_checkpointing", NULL } },
    { "deepspeed", { "strategy", "config", NULL } },
};
/* Models of XTuner's that are no causal language model alone. */
static const struct dialect_word refused[] = {
    { "LLaVAModel", "trains a model with pictures by a projector of its own" }, { "RewardModel", "trains a reward model" }, { "InternVL_V1_5", "trains a model with pictures" }, { NULL, NULL },
};
static const struct dialect_word methods[] = { { "DPO", "dpo" }, { "ORPO", "orpo" }, { NULL, NULL } };
static const struct dialect_word optimizers[] = {
    { "AdamW", "adamw_torch" }, { "PagedAdamW32bit", "paged_adamw_32bit" }, { "PagedAdamW8bit", "paged_adamw_8bit" }, { "AdamW8bit", "adamw_8bit" }, { "SGD", "sgd" }, { NULL, NULL },
};
/* clang-format on */

/* Dictionaries ----------------------------------------------------------------------- */

static const struct value *at(const struct python *p, const char *const path[4])
{
    const struct value *v = python_name(p, path[0]);
    for (int i = 1; i < 4 && path[i] && v; i++) {
        const struct value_item *it =
            v->kind == VALUE_DICT ? value_get(v, path[i]) : NULL;
        v = it ? it->value : NULL;
    }
    return v;
}

/* "AdamW" of type=AdamW, which is imported, and of type='torch.optim.AdamW'. */
static const char *type_of(const struct python *p, const char *a, const char *b)
{
    const char *const path[4] = { a, b, "type", NULL }, *const flat[4] = { a, "type",
                                                                           NULL, NULL };
    const struct value *v = at(p, b ? path : flat);
    return v && v->text ? python_last_part(v->text) : "";
}

static const char *word_of(const struct dialect_word *words, const char *name)
{
    for (const struct dialect_word *w = words; w->word; w++)
        if (strcmp(w->word, name) == 0)
            return w->value;
    return NULL;
}

/* Words ------------------------------------------------------------------------------ */

struct gathered {
    struct launch_context *t;
    const struct python *python;
    struct value *words;
    int64_t line; /* of the command, where all is; 0: each its own */
    int64_t budget;
};

enum { COPIED_MAX = 20000 };

static int64_t line_of(const struct gathered *g, const struct value *v)
{
    return g->line ? g->line : v && v->line > 0 ? v->line : 1;
}

static void put(struct gathered *g, const char *word, const struct value *v)
{
    struct value *copy =
        value_get(g->words, word) ? NULL : value_copy(g->t->arena, v, &g->budget);
    if (!copy)
        return;
    if (g->line)
        value_move_to(copy, g->line);
    value_add(g->t->arena, g->words, word, copy->line, copy);
}

static void put_text(struct gathered *g, const char *word, const struct value *by,
                     const char *text)
{
    int64_t line = line_of(g, by);
    if (!value_get(g->words, word))
        value_add(g->t->arena, g->words, word, line,
                  value_new_string(g->t->arena, text, line, 0));
}

static void put_true(struct gathered *g, const char *word, const struct value *by)
{
    int64_t line = line_of(g, by);
    if (!value_get(g->words, word))
        value_add(g->t->arena, g->words, word, line,
                  value_new_bool(g->t->arena, true, line));
}

/* AmpOptimWrapper casts to its dtype, fp16 without one; DeepSpeed's configuration and
 * weights for FlashAttention are bf16 where the GPU has it (model/sft.py). What
 * prepare_model_for_kbit_training leaves of a model that is not quantised is fp32. */
static void put_precision(struct gathered *g)
{
    static const char *const dtype[4] = { "optim_wrapper", "dtype", NULL, NULL };
    static const char precision[] = "/training/precision";
    const struct value *v = at(g->python, dtype);
    const char *wrapper = type_of(g->python, "optim_wrapper", NULL),
               *text = v ? v->text : "float16";
    bool bf16 = text && strstr(text, "bfloat16"),
         half = (!*wrapper || strcmp(wrapper, "AmpOptimWrapper") == 0) && text &&
                strstr(text, "float16"),
         adapts = value_get(g->words, "use_peft") != NULL,
         converts = value_get(g->words, "deepspeed") != NULL;
    if (!converts && !half) {
        launch_add_unresolved(g->t, precision, line_of(g, v),
                              "optim_wrapper: which types %s computes in is not known",
                              *wrapper ? wrapper : "it");
        launch_add_example(g->t, precision, "amp_bf16");
        return;
    }
    put_true(g, converts || bf16 ? "bf16" : "fp16", v);
    if (converts)
        return;
    put_text(g, "torch_dtype", v, adapts ? "float32" : bf16 ? "bfloat16" : "float16");
}

static void put_types(struct gathered *g)
{
    static const char *const lora[4] = { "model", "lora", NULL, NULL },
                             *const optim[4] = { "optim_wrapper", NULL, NULL, NULL };
    const char *name = type_of(g->python, "optim_wrapper", "optimizer"),
               *optimizer = word_of(optimizers, name);
    const struct value *adapts = at(g->python, lora);
    if (adapts && adapts->kind == VALUE_DICT)
        put_true(g, "use_peft", adapts);
    if (optimizer || *name)
        put_text(g, "optim", at(g->python, optim), optimizer ? optimizer : name);
    put_true(g, "gradient_checkpointing", NULL);
}

static void put_places(struct gathered *g)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const struct value *v = at(g->python, places[i].path);
        if (v && v->kind != VALUE_NONE)
            put(g, places[i].word, v);
    }
}

/* DeepSpeed ------------------------------------------------------------------------ */

static struct value *dict_in(struct gathered *g, struct value *around, const char *key)
{
    struct value *v = value_new(g->t->arena, VALUE_DICT, g->line, 0);
    if (around)
        value_add(g->t->arena, around, key, g->line, v);
    return v;
}

static void put_cpu(struct gathered *g, struct value *zero, const char *key)
{
    value_add(g->t->arena, dict_in(g, zero, key), "device", g->line,
              value_new_string(g->t->arena, "cpu", g->line, 0));
}

/* --deepspeed: a file, or one of configs/deepspeed by its name. */
static void put_deepspeed(struct gathered *g, const struct launch_command *c)
{
    static const char prefix[] = "deepspeed_zero";
    const struct value_item *it = launch_option(c, "--deepspeed");
    const char *name = it && it->value->kind == VALUE_STRING ? it->value->text : NULL;
    bool known = name && strncmp(name, prefix, strlen(prefix)) == 0 &&
                 name[strlen(prefix)] >= '1' && name[strlen(prefix)] <= '3' &&
                 !strchr(name, '.');
    if (!it || !known) {
        if (it)
            put(g, "deepspeed", it->value);
        return;
    }
    struct value *root = dict_in(g, NULL, NULL),
                 *zero = dict_in(g, root, "zero_optimization"),
                 *stage = value_new(g->t->arena, VALUE_INT, g->line, 0),
                 *on = value_new_bool(g->t->arena, true, g->line);
    stage->integer = name[strlen(prefix)] - '0';
    value_add(g->t->arena, zero, "stage", g->line, stage);
    value_add(g->t->arena, zero, "overlap_comm", g->line, on);
    if (strstr(name, "offload"))
        put_cpu(g, zero, "offload_optimizer");
    if (strstr(name, "offload") && stage->integer == 3)
        put_cpu(g, zero, "offload_param");
    value_add(g->t->arena, dict_in(g, root, "bf16"), "enabled", g->line, on);
    value_add(g->t->arena, g->words, "deepspeed", g->line, root);
}

/* All of it ------------------------------------------------------------------------ */

static bool is_configuration(const struct python *p)
{
    const struct value *model = python_name(p, "model"),
                       *wrapper = python_name(p, "optim_wrapper");
    return model && model->kind == VALUE_DICT && wrapper &&
           wrapper->kind == VALUE_DICT &&
           (value_get(model, "llm") || value_get(model, "lora"));
}

/* The text of the configuration that follows "train"; NULL. */
static const char *text_of(const struct launch *l, struct arena *arena,
                           const struct launch_command *c, const char **name)
{
    int32_t i = c->script + 1;
    const struct shell_word *w = c->command->words;
    if (i < c->command->n && strcmp(w[i].text, "train") == 0)
        i++;
    *name = i < c->command->n && w[i].text[0] != '-' ? w[i].text : "";
    return **name ? launch_program_text(l, arena, *name) : NULL;
}

bool xtuner_recognises(const struct dialect_input *in)
{
    return in->source == DIALECT_CALLS && is_configuration(in->python);
}

/* A class of models that is not XTuner's. */
static void ask_task(struct launch_context *t, const char *type, int64_t line)
{
    static const char task[] = "/training/task";
    launch_add_unresolved(t, task, line, "model: what %s trains is not known", type);
    launch_add_example(t, task, "causal-lm");
}

static void read_configuration(struct gathered *g, const struct launch_command *c)
{
    static const struct trainer_kind kind = { .own = rows,
                                              .defaults = defaults,
                                              .tables = xtuner_tables,
                                              .packing = "pack_to_max_length",
                                              .peft = &adapters,
                                              .loop = true };
    struct launch_context *t = g->t;
    const char *type = type_of(g->python, "model", NULL), *why = word_of(refused, type),
               *method = word_of(methods, type);
    int64_t line = line_of(g, python_name(g->python, "model"));
    struct value v = { .line = line };
    const struct value_item from = { type, line, &v };
    if (why) {
        launch_refuse_entry(t->l, type, why, line);
        return;
    }
    g->words = value_new(t->arena, VALUE_DICT, line, 0);
    if (c)
        put_deepspeed(g, c);
    put_places(g);
    put_types(g);
    put_precision(g);
    if (method)
        trainer_take_method(t, &from, method);
    else if (*type && strcmp(type, "SupervisedFinetune") != 0)
        ask_task(t, type, line);
    trainer_read_arguments(t, g->words, &kind);
}

static void read_command(struct launch_context *t, const struct launch_command *c)
{
    const char *name;
    const char *text = text_of(t->l, t->arena, c, &name);
    t->l->line = c->command->line;
    swift_take_processes(t, c);
    launch_note_options(t, c, "deepspeed");
    if (!text) {
        launch_lost(t->l, *name ? name : "xtuner train", t->l->line,
                    "was not found (put the configuration next to the script)");
        return;
    }
    const struct python *p = launch_read_names(t->l, text, 1);
    struct gathered g = { t, p, NULL, t->l->line, COPIED_MAX };
    if (p)
        read_configuration(&g, c);
}

void xtuner_read(struct launch_context *t, const struct dialect_input *in)
{
    struct gathered g = { t, in->python, NULL, 0, COPIED_MAX };
    launch_config_title(t, "XTuner's configuration");
    if (in->source == DIALECT_COMMAND)
        read_command(t, in->command);
    else
        read_configuration(&g, NULL);
}
