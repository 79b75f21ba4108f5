#include "dialect/llamarecipes/llamarecipes.h"

#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <string.h>

/* A field each --------------------------------------------------------------------- */

/* FSDP1 over all GPUs, with recomputation unless it is off (configs/fsdp.py). */
static void take_fsdp(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    static const struct {
        const char *from, *to;
    } members[] = {
        { "sharding_strategy", "sharding_strategy" },
        { "fsdp_activation_checkpointing", "activation_checkpointing" },
        { "fsdp_cpu_offload", "offload_params" },
    };
    struct value *section = value_new(t->arena, VALUE_DICT, it->line, 0);
    (void)row;
    if (!launch_true(it->value))
        return;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const struct value_item *given = launch_hyper(t, members[i].from);
        launch_hear(t, given);
        if (given)
            value_add(t->arena, section, members[i].to, given->line, given->value);
    }
    if (!value_get(section, "activation_checkpointing")) {
        struct value *on = value_new_bool(t->arena, true, it->line);
        value_add(t->arena, section, "activation_checkpointing", it->line, on);
    }
    const struct value_item of = { it->key, it->line, section };
    trainer_take_fsdp_section(t, &of);
}

/* Without it gradients are not clipped. */
static void take_clipping(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it)
{
    const struct value_item *norm = launch_hyper(t, "gradient_clipping_threshold");
    double x = 1;
    launch_hear(t, norm);
    if (launch_true(it->value) && (!norm || launch_real(norm->value, &x)))
        launch_set(t, row->pointer, json_real(x), norm ? norm : it);
}

/* The first layers (train_utils.py, freeze_transformer_layers). */
static void take_layers(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    const struct value_item *many = launch_hyper(t, "num_freeze_layers");
    int64_t n = 1; /* num_freeze_layers' default */
    launch_hear(t, many);
    if (!launch_true(it->value))
        return;
    if (many && (!launch_whole(many->value, &n) || n < 1))
        launch_unresolved_item(t, row->pointer, many, "number of layers");
    else
        launch_set(t, row->pointer,
                   json_pack("[o]", json_sprintf("layers 0-%" PRId64, n - 1)),
                   many ? many : it);
}

/* From August 2024 on weights are loaded in 16 bits, in which FSDP then updates them
 * (llama_cookbook/finetuning.py, torch_dtype). */
static void take_weights(struct launch_context *t, const struct launch_command *c)
{
    static const char at[] = "/training/master_weights";
    const char *program = c->command->words[c->script].text;
    if (t->adapters || launch_has(t, at) || !launch_has(t, "/training/precision"))
        return;
    if (strstr(program, "llama_cookbook") || strstr(program, "quickstart/") ||
        strstr(program, "getting-started/"))
        launch_assume(t, at, json_false(), "weights loaded in 16 bits");
    else
        launch_note(t->l, t->l->line, DIAG_ASSUMED,
                    "weights are taken to be loaded in fp32, as llama-recipes did "
                    "until August 2024 (give --set %s=false for a later one)",
                    at);
}

/* FSDP's MixedPrecision is bf16; pure_bf16 trains weights and states in it
 * (AnyPrecisionAdamW). Without FSDP weights are of the checkpoint's type or fp32, by
 * the release. */
static void take_precision(struct launch_context *t)
{
    static const char at[] = "/training/precision";
    const struct value_item *pure = launch_hyper(t, "pure_bf16"),
                            *half = launch_hyper(t, "use_fp16"),
                            *mixed = launch_hyper(t, "mixed_precision");
    bool is_pure = pure && launch_true(pure->value);
    struct value v = { .kind = VALUE_NONE, .line = t->l->line };
    const struct value_item usual = { "mixed_precision's default", v.line, &v };
    launch_hear(t, pure);
    launch_hear(t, half);
    launch_hear(t, mixed);
    if (!t->converts) {
        launch_add_unresolved(t, at, t->l->line,
                              "without --enable_fsdp the weights' type is that of the "
                              "release: bf16 or fp32");
        return;
    }
    if (mixed && !launch_true(mixed->value) && !is_pure)
        launch_add_unresolved(t, at, mixed->value->line,
                              "%s: without it the weights' type is that in which they "
                              "are loaded: bf16 or fp32, by the release",
                              mixed->key);
    else
        launch_set(t, at,
                   json_string(half && launch_true(half->value) ? "fp16" : "bf16"),
                   is_pure ? pure
                   : half  ? half
                   : mixed ? mixed
                           : &usual);
    const struct value_item *peft = launch_hyper(t, "use_peft");
    if (is_pure && !(peft && launch_true(peft->value)))
        launch_set(t, "/training/master_weights", json_false(), pure);
}

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("model_name", "/model", .take = trainer_take_model),
    ROW("enable_fsdp", "/parallelism/library", .take = take_fsdp),
    ROW("batch_size_training", "/training/micro_batch_size", .kind = DIALECT_WHOLE),
    ROW("context_length", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("gradient_clipping", "/training/gradient_clipping", .take = take_clipping),
    ROW("use_fast_kernels", "/training/attention", .kind = DIALECT_SWITCH, .value = "sdpa"),
    ROW("max_train_step", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("num_workers_dataloader", "/input/workers", .kind = DIALECT_POSITIVE),
    ROW("freeze_layers", "/training/frozen", .take = take_layers),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_ACTS("sharding_strategy", "/parallelism/sharding/strategy"), ROW_ACTS("fsdp_activation_checkpointing", "/training/activation_checkpointing"),
    ROW_ACTS("fsdp_cpu_offload", "/parallelism/sharding/offload"), ROW_ACTS("pure_bf16", "/training/precision"), ROW_ACTS("use_fp16", "/training/precision"),
    ROW_ACTS("mixed_precision", "/training/precision"), ROW_ACTS("gradient_clipping_threshold", "/training/gradient_clipping"),
    ROW_UNSIMULATED("hsdp"), ROW_UNSIMULATED("sharding_group_size"), ROW_UNSIMULATED("replica_group_size"), ROW_UNSIMULATED("optimizer"), ROW_UNSIMULATED("freeze_*"), ROW_ACTS("num_freeze_layers", "/training/frozen"),
    ROW_IDLE("low_cpu_fsdp"), ROW_IDLE("run_validation"), ROW_IDLE("batching_strategy"), ROW_IDLE("max_eval_step"), ROW_IDLE("lr"), ROW_IDLE("gamma"), ROW_IDLE("val_batch_size"), ROW_IDLE("dataset*"),
    ROW_IDLE("custom_dataset*"), ROW_IDLE("*custom_dataset*"), ROW_IDLE("one_gpu"), ROW_IDLE("save_*"), ROW_IDLE("dist_checkpoint_*"), ROW_IDLE("use_wandb"), ROW_IDLE("flop_counter*"), ROW_IDLE("use_profiler"), ROW_IDLE("profiler_dir"),
    ROW_IDLE("from_peft_checkpoint"), ROW_IDLE("checkpoint_type"), ROW_IDLE("tokenizer_name"), ROW_IDLE("quantization_config*"),
    ROW_END,
};
const struct dialect_table llamarecipes_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED },
    { "", peft_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_idle_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
static const struct trainer_default defaults[] = {
    { "/training/micro_batch_size", "4", "batch_size_training' default" },
    { "/training/sequence_length", "4096", "context_length's default" },
    { "/training/task", "causal-lm", "finetuning.py" },
    { NULL, NULL, NULL },
};
static const struct peft_kind adapters = { .asks = "use_peft", .rank = 8, .alpha = 32, .dropout = 0.05, .from = "llama-recipes'" };
/* clang-format on */

/* Arguments ------------------------------------------------------------------------ */

bool llamarecipes_recognises(const struct dialect_input *in)
{
    static const char *const marks[] = { "--enable-fsdp", "--batch-size-training",
                                         "--dist-checkpoint-root-folder", "--use-peft",
                                         NULL };
    bool marked = false;
    for (const char *const *m = marks; *m; m++)
        marked |= value_get(in->root, *m) != NULL;
    return marked && value_get(in->root, "--model-name") &&
           !value_get(in->root, "--per-device-train-batch-size");
}

/* configs/peft.py */
static void put_targets(struct launch_context *t, struct value *v)
{
    struct value *list = value_new(t->arena, VALUE_LIST, v->line, 0);
    value_add(t->arena, list, NULL, v->line,
              value_new_string(t->arena, "q_proj", v->line, 0));
    value_add(t->arena, list, NULL, v->line,
              value_new_string(t->arena, "v_proj", v->line, 0));
    value_add(t->arena, v, "target_modules", v->line, list);
}

/* The words of LoRA as other rows have them, of quantization as a number of bits:
 * older releases have a switch of 8 (utils/config_utils.py). */
static struct value *arguments(struct launch_context *t, const struct value *given)
{
    struct value *v = value_new(t->arena, VALUE_DICT, given->line, 0);
    for (int32_t i = 0; i < given->n; i++) {
        const struct value_item *it = &given->items[i];
        const char *dot = strchr(it->key, '.'), *key = dot ? dot + 1 : it->key;
        struct value *of = it->value;
        if (strcmp(key, "quantization") == 0 && launch_true(of)) {
            of = value_new(t->arena, VALUE_INT, it->line, 0);
            of->integer = 8;
        } else if (strcmp(key, "quantization") == 0 && of->kind == VALUE_STRING) {
            bool four = of->text[0] == '4';
            of = value_new(t->arena, VALUE_INT, it->line, 0);
            of->integer = four ? 4 : 8;
        }
        value_add(t->arena, v, strcmp(key, "r") == 0 ? "lora_r" : key, it->line, of);
    }
    if (launch_is_on(v, "use_peft") && !value_get(v, "target_modules"))
        put_targets(t, v);
    return v;
}

void llamarecipes_read(struct launch_context *t, const struct dialect_input *in)
{
    static const struct trainer_kind kind = { .own = rows,
                                              .defaults = defaults,
                                              .tables = llamarecipes_tables,
                                              .loop = true,
                                              .peft = &adapters };
    struct value *all = arguments(t, trainer_command_arguments(t, in->command));
    t->l->line = in->command->command->line;
    t->hyper[t->n_hyper++] = all;
    launch_take_rows(t, rows, NULL);
    take_precision(t);
    t->n_hyper--;
    trainer_read_arguments(t, all, &kind);
    take_weights(t, in->command);
}
