/* Megatron-SWIFT (`megatron sft` and `megatron pt` of ms-swift): Megatron-Core's options by
 * their names, with a model of the Hub, adapters, and defaults of its own.
 *
 * modelscope/ms-swift of 2026-08: swift/megatron/arguments/megatron_args.py,
 * megatron_base_args.py; swift/cli/_megatron/main.py. */
#include "base/names.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/megatron/megatron.h"
#include "dialect/peft/peft.h"
#include "dialect/swift/swift.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("rlhf_type", "/training/task", .take = swift_take_method),
    ROW("task_type", "/training/task", .take = swift_take_task),
    ROW("model", "/model", .take = trainer_take_model),
    ROW("load", "/model", .take = trainer_take_model), /* "Qwen3-30B-A3B-mcore" */
    ROW("packing_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("max_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("num_train_epochs", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW("max_epochs", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW_END,
};
/* MegatronTunerMixin: everything is trained unless it is asked for adapters */
static const struct peft_kind adapters = {
    .asks = "tuner_type", .rank = 8, .alpha = 32, .dropout = 0.05, .targets = "all-linear", .from = "ms-swift's",
};
/* Defaults that are not Megatron-LM's own: "" is a flag; of some where an option is given. */
static const struct { const char *option, *value, *with; } defaults[] = {
    { "--data-parallel-sharding-strategy", "optim_grads_params", "--use-megatron-fsdp" },
    { "--micro-batch-size", "1", NULL }, { "--global-batch-size", "16", NULL }, { "--recompute-granularity", "selective", NULL },
    { "--use-distributed-optimizer", "", NULL }, { "--attention-backend", "flash", NULL }, { "--moe-token-dispatcher-type", "alltoall", NULL },
};
/* Names that Megatron-LM's command has another for. */
static const struct { const char *own, *option; } renamed[] = {
    { "virtual_pipeline_model_parallel_size", "--num-virtual-stages-per-pipeline-rank" },
};
/* clang-format on */

bool swift_megatron_is(const struct value *v)
{
    static const char *const marks[] = { "tensor_model_parallel_size",
                                         "pipeline_model_parallel_size",
                                         "expert_model_parallel_size",
                                         "recompute_granularity", NULL };
    bool marked = false;
    for (const char *const *m = marks; *m; m++)
        marked |= value_get(v, *m) != NULL;
    return marked && (value_get(v, "dataset") || value_get(v, "cached_dataset"));
}

bool swift_megatron_starts(const struct launch_command *c)
{
    const char *name = c ? launch_last_part(c->command->words[c->script].text) : "";
    return strcmp(name, "megatron") == 0 ||
           strncmp(name, "swift.cli._megatron.", 20) == 0;
}

/* Megatron's options ------------------------------------------------------------------- */

/* "--tensor-model-parallel-size" of "tensor_model_parallel_size". */
static const char *option_of(struct launch_context *t, const char *key)
{
    for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++)
        if (strcmp(renamed[i].own, key) == 0)
            return renamed[i].option;
    char *name = arena_printf(t->arena, "--%s", key);
    for (char *s = name; *s; s++)
        *s = *s == '_' ? '-' : *s;
    return name;
}

static bool is_word(const struct value *v, const char *word)
{
    return v->kind == VALUE_STRING && strcmp(v->text, word) == 0;
}

static bool is_false(const struct value *v)
{
    return v->kind == VALUE_NONE || (v->kind == VALUE_BOOL && !v->integer) ||
           is_word(v, "false") || is_word(v, "False") || is_word(v, "none") ||
           is_word(v, "null");
}

static struct value *truth(struct launch_context *t, int64_t line)
{
    return value_new_bool(t->arena, true, line);
}

/* What the file says in Megatron's words; a switch that is off is not there, as on its
 * command line. The others are left to `rest`. */
static void divide(struct launch_context *t, const struct value *given,
                   struct value *options, struct value *rest)
{
    static const struct dialect_table of_adapters[] = {
        { "", peft_rows, DIALECT_UNKNOWN_IDLE },
        { NULL, NULL, DIALECT_UNKNOWN_IDLE },
    };
    for (int32_t i = 0; i < given->n; i++) {
        const struct value_item *it = &given->items[i];
        const char *name = option_of(t, it->key);
        bool on = is_word(it->value, "true") || is_word(it->value, "True");
        bool own = strncmp(it->key, "dataset", 7) == 0 ||
                   dialect_option_of(of_adapters, "", it->key);
        for (const struct dialect_option *r = rows; r->name && !own; r++)
            own = strcmp(r->name, it->key) == 0;
        if (own || !dialect_option_of(megatron_tables, "", name))
            value_add(t->arena, rest, it->key, it->line, it->value);
        else if (!is_false(it->value))
            value_add(t->arena, options, name, it->line,
                      on ? truth(t, it->line) : it->value);
    }
}

static bool is_given(const struct value *given, const char *option)
{
    for (int32_t i = 0; i < given->n; i++)
        if (launch_same_word(option + 2, given->items[i].key))
            return true;
    return false;
}

static void add(struct launch_context *t, struct value *options, const char *name,
                const char *word)
{
    int64_t line = t->l->line;
    value_add(t->arena, options, name, line,
              *word ? value_new_string(t->arena, word, line, 0) : truth(t, line));
}

/* A bf16 model unless another type is asked for. Of Megatron's expert_tensor the default
 * is tensor, here 1. */
static void add_defaults(struct launch_context *t, const struct value *given,
                         struct value *options)
{
    static const char *const experts[] = {
        "expert_model_parallel_size", "moe_grouped_gemm", "moe_permute_fusion",
        "moe_aux_loss_coeff",         "moe_router_dtype", NULL,
    };
    const struct value_item *type = value_get(given, "torch_dtype"),
                            *fp16 = value_get(options, "--fp16");
    int32_t own = options->n;
    bool half =
             type && (is_word(type->value, "float16") || is_word(type->value, "fp16")),
         wide = type && is_word(type->value, "float32");
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        if (!is_given(given, defaults[i].option) &&
            (!defaults[i].with || is_given(given, defaults[i].with)))
            add(t, options, defaults[i].option, defaults[i].value);
    if (!wide && !fp16 && !is_given(given, "--bf16"))
        add(t, options, half ? "--fp16" : "--bf16", "");
    launch_hear(t, type);
    for (const char *const *e = experts; *e; e++)
        if (value_get(given, *e) && !is_given(given, "--expert-tensor-parallel-size")) {
            add(t, options, "--expert-tensor-parallel-size", "1");
            break;
        }
    for (int32_t i = own; i < options->n; i++)
        launch_hear(t, &options->items[i]);
}

/* All of it ------------------------------------------------------------------------ */

static void note_lengths(struct launch_context *t, const struct value *given)
{
    const struct value_item *on = value_get(given, "packing");
    if (!on || !launch_true(on->value))
        launch_note(t->l, on ? on->line : t->l->line, DIAG_ASSUMED,
                    "packing is off: each sequence is taken to be of the full length "
                    "(give --set /training/sequence_length=N for a shorter mean)");
}

void swift_megatron_read(struct launch_context *t, const struct launch_command *c,
                         const struct value *given)
{
    static const struct shell_command none = { .n = 0 };
    const struct value *all = swift_renamed(t, given);
    struct value *options = value_new(t->arena, VALUE_DICT, given->line, 0),
                 *rest = value_new(t->arena, VALUE_DICT, given->line, 0);
    struct launch_command as = { .command = &none };
    t->l->title = "Megatron-SWIFT's arguments";
    if (c) {
        as = *c;
        swift_take_processes(t, c);
    }
    divide(t, all, options, rest);
    add_defaults(t, all, options);
    as.options = *options;
    t->converts = true;
    t->hyper[t->n_hyper++] = rest;
    peft_take(t, &adapters);
    launch_take_rows(t, rows, NULL);
    trainer_default(t, "/training/task", json_string("causal-lm"),
                    "task_type' default");
    trainer_frozen_parts(t, all, "freeze_vit", "freeze_aligner");
    megatron_take_job(t, &as);
    peft_settle(t);
    note_lengths(t, all);
    dialect_report(t, megatron_tables, "", &as.options,
                   (struct dialect_place) { t->l->line, "", "", true });
    dialect_report(t, swift_tables, "", rest,
                   (struct dialect_place) { t->l->line, "", "", true });
}
