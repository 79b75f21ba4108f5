#include "dialect/openrlhf/openrlhf.h"

#include "base/names.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

#define WIDE "/parallelism/"

/* Rows ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct dialect_word attentions[] = {
    { "flash_attention_2", "flash" }, { "flash_attention_3", "flash_attention_3" }, { "sdpa", "sdpa" }, { "eager", "unfused" }, { NULL, NULL },
};
static const struct dialect_option rows[] = {
    ROW("pretrain", "/model", .take = trainer_take_model),
    ROW("micro_train_batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("train_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW("max_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("max_epochs", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW("ring_attn_size", WIDE "context", .kind = DIALECT_DEGREE),
    ROW("flash_attn", "/training/attention", .kind = DIALECT_SWITCH, .value = "flash"),
    ROW("attn_implementation", "/training/attention", .kind = DIALECT_WORD, .words = attentions),
    ROW_END,
};
/* Of which DeepSpeed's configuration is made. */
static const struct dialect_option joint[] = {
    ROW_ACTS("zero_stage", WIDE "sharding/strategy"), ROW_ACTS("adam_offload", WIDE "sharding/offload"),
    ROW_ACTS("max_norm", "/training/gradient_clipping"), ROW_ACTS("overlap_comm", WIDE "overlap"), ROW_ACTS("bf16", "/training/precision"),
    ROW_ACTS("param_dtype", "/training/precision"),
    ROW_END,
};
/* Words that are PEFT's and the Trainer's, too, and are read as theirs. */
static const struct dialect_option shared[] = {
    ROW_ACTS("gradient_checkpointing", "/training/activation_checkpointing"), ROW_ACTS("dataloader_num_workers", "/input/workers"),
    ROW_ACTS("lora_rank", PEFT_RANK), ROW_ACTS("lora_alpha", PEFT_ALPHA), ROW_ACTS("lora_dropout", PEFT_DROPOUT), ROW_ACTS("target_modules", PEFT_TARGETS), ROW_ACTS("load_in_4bit", PEFT_BASE),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW("ds_tensor_parallel_size", NULL, .class = DIALECT_REFUSED, .off = dialect_off_at_one, .why = "DeepSpeed's AutoTP, which is not simulated"), ROW_UNSIMULATED("deepcompile"), ROW("zpg", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one), ROW_UNSIMULATED("grad_accum_dtype"), ROW_UNSIMULATED("use_liger_kernel"),
    ROW_UNSIMULATED("aux_loss_coef"), ROW_UNSIMULATED("experts_implementation"), ROW_UNSIMULATED("full_determinism"), ROW_UNSIMULATED("optim"), ROW_UNSIMULATED("optimizer"),
    ROW_IDLE("ring_head_stride"), ROW_IDLE("save_*"), ROW_IDLE("ckpt*"), ROW_IDLE("*ckpt*"), ROW_IDLE("load_checkpoint"), ROW_IDLE("logger*"), ROW_IDLE("logging_steps"), ROW_IDLE("eval*"),
    ROW_IDLE("max_ckpt_*"), ROW_IDLE("disable_*"), ROW_IDLE("use_ds_universal_ckpt"), ROW_IDLE("gradient_checkpointing_use_reentrant"), ROW_IDLE("use_wandb"), ROW_IDLE("use_tensorboard"), ROW_IDLE("use_ms"), ROW_IDLE("wandb_*"), ROW_IDLE("dataset*"),
    ROW_IDLE("data*"), ROW_IDLE("*_key"), ROW_IDLE("input_template"), ROW_IDLE("apply_chat_template"), ROW_IDLE("tokenizer_chat_template"), ROW_IDLE("multiturn"), ROW_IDLE("max_samples"), ROW_IDLE("packing_samples"),
    ROW_IDLE("train_split"), ROW_IDLE("pretrain_mode"), ROW_IDLE("learning_rate"), ROW_IDLE("lr_*"), ROW_IDLE("min_lr_ratio"), ROW_IDLE("l2"), ROW_IDLE("adam*"), ROW_IDLE("muon*"), ROW_IDLE("seed"),
    ROW_IDLE("local_rank"), ROW_IDLE("torch_compile"), ROW_IDLE("train*"), ROW_IDLE("model*"),
    ROW_END,
};
const struct dialect_table openrlhf_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED },
    { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", shared, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
static const struct trainer_default defaults[] = {
    { "/training/micro_batch_size", "8", "micro_train_batch_size' default" },
    { "/training/global_batch_size", "128", "train_batch_size' default" },
    { "/training/sequence_length", "2048", "max_len's default" },
    { "/training/task", "causal-lm", "train_sft.py" },
    { NULL, NULL, NULL },
};
static const struct peft_kind adapters = { .alpha = 16, .dropout = 0, .targets = "all-linear", .double_quantization = true, .from = "OpenRLHF's" };

/* Names of 2026, by part, and those before. */
static const struct dialect_word parts[] = {
    { "train.micro_batch_size", "micro_train_batch_size" }, { "train.batch_size", "train_batch_size" }, { "train.max_epochs", "max_epochs" },
    { "data.max_len", "max_len" }, { "model.model_name_or_path", "pretrain" }, { "actor.model_name_or_path", "pretrain" },
    { "model.gradient_checkpointing_enable", "gradient_checkpointing" }, { "actor.gradient_checkpointing", "gradient_checkpointing" },
    { "ds.zero_stage", "zero_stage" }, { "ds.param_dtype", "param_dtype" }, { "ds.zpg", "zpg" }, { "ds.adam_offload", "adam_offload" },
    { "ds.attn_implementation", "attn_implementation" }, { "actor.attn_implementation", "attn_implementation" }, { "ds.experts_implementation", "experts_implementation" },
    { "ds.use_liger_kernel", "use_liger_kernel" }, { "actor.use_liger_kernel", "use_liger_kernel" }, { "ds.grad_accum_dtype", "grad_accum_dtype" }, { "ds.overlap_comm", "overlap_comm" },
    { "ds.deepcompile", "deepcompile" }, { "ds.tensor_parallel_size", "ds_tensor_parallel_size" }, { "ds.ring_attn_size", "ring_attn_size" },
    { "ds.ring_attn_head_stride", "ring_head_stride" }, { "ds.lora.rank", "lora_rank" }, { "ds.lora.alpha", "lora_alpha" }, { "ds.lora.target_modules", "target_modules" },
    { "ds.lora.dropout", "lora_dropout" }, { "ds.load_in_4bit", "load_in_4bit" }, { "ds.packing_samples", "packing_samples" }, { "ds.use_universal_ckpt", "use_ds_universal_ckpt" },
    { "train.full_determinism_enable", "full_determinism" }, { "data.dataloader_num_workers", "dataloader_num_workers" }, { NULL, NULL },
};
/* clang-format on */

/* DeepSpeed's configuration -------------------------------------------------------- */

static struct value *dict_of(struct launch_context *t)
{
    return value_new(t->arena, VALUE_DICT, t->l->line, 0);
}

static struct value *on(struct launch_context *t, int64_t line)
{
    return value_new_bool(t->arena, true, line);
}

static struct value *number(struct launch_context *t, int64_t n)
{
    struct value *v = value_new(t->arena, VALUE_INT, t->l->line, 0);
    v->integer = n;
    return v;
}

/* Puts an option's value under DeepSpeed's key, or what it is without the option. */
static void put(struct launch_context *t, struct value *into, const char *key,
                const char *option, struct value *otherwise)
{
    const struct value_item *it = launch_hyper(t, option);
    launch_hear(t, it);
    if (it)
        value_add(t->arena, into, key, it->line, it->value);
    else if (otherwise)
        value_add(t->arena, into, key, t->l->line, otherwise);
}

/* What is "auto" there is DeepSpeed's own default: nobody fills it in. */
static struct value *zero_of(struct launch_context *t)
{
    struct value *zero = dict_of(t);
    const struct value_item *offload = launch_hyper(t, "adam_offload");
    launch_hear(t, offload);
    put(t, zero, "stage", "zero_stage", number(t, 2));
    put(t, zero, "overlap_comm", "overlap_comm", NULL);
    if (offload && launch_true(offload->value)) {
        struct value *cpu = dict_of(t);
        value_add(t->arena, cpu, "device", offload->line,
                  value_new_string(t->arena, "cpu", offload->line, 0));
        value_add(t->arena, zero, "offload_optimizer", offload->line, cpu);
    }
    return zero;
}

/* --bf16 until 2025, and --param_dtype, whose default is bf16, since. */
static void put_precision(struct launch_context *t, struct value *root)
{
    const struct value_item *type = launch_hyper(t, "param_dtype"),
                            *old = launch_hyper(t, "bf16");
    const char *word =
        type && type->value->kind == VALUE_STRING ? type->value->text : "bf16";
    struct value *section = dict_of(t);
    int64_t line = type ? type->line : old ? old->line : t->l->line;
    launch_hear(t, type);
    launch_hear(t, old);
    value_add(t->arena, section, "enabled", line, on(t, line));
    value_add(t->arena, root, strcmp(word, "fp16") == 0 ? "fp16" : "bf16", line,
              section);
}

static void put_norm(struct launch_context *t, struct value *root)
{
    const struct value_item *it = launch_hyper(t, "max_norm");
    struct value *norm = value_new(t->arena, VALUE_REAL, it ? it->line : t->l->line, 0);
    norm->real = 1;
    launch_hear(t, it);
    if (it && !launch_real(it->value, &norm->real))
        norm = it->value;
    value_add(t->arena, root, "gradient_clipping", norm->line, norm);
}

static void take_configuration(struct launch_context *t)
{
    struct value *root = dict_of(t);
    value_add(t->arena, root, "zero_optimization", t->l->line, zero_of(t));
    put_precision(t, root);
    put_norm(t, root);
    deepspeed_take(t, root, "get_train_ds_config: ");
}

/* models/actor.py: eager without --flash_attn, which --packing_samples switches on. What
 * has --attn_implementation takes FlashAttention by default. */
static void take_attention(struct launch_context *t)
{
    static const char at[] = "/training/attention";
    const struct value_item *packs = launch_hyper(t, "packing_samples");
    if (launch_hyper(t, "flash_attn") || launch_hyper(t, "attn_implementation"))
        return;
    if ((packs && launch_true(packs->value)) || !launch_hyper(t, "bf16"))
        trainer_default(t, at, json_string("flash"), "OpenRLHF's default");
    else
        trainer_default(t, at, json_string("unfused"),
                        "eager, without flash_attn next to bf16");
}

/* Arguments ------------------------------------------------------------------------ */

bool openrlhf_recognises(const struct dialect_input *in)
{
    static const char *const marks[] = { "--micro-train-batch-size",
                                         "--train.micro-batch-size", "--pretrain",
                                         "--ds.zero-stage", NULL };
    static const char *const models[] = { "--pretrain", "--model.model-name-or-path",
                                          "--actor.model-name-or-path", NULL };
    bool marked = false, named = false;
    for (const char *const *m = marks; *m; m++)
        marked |= value_get(in->root, *m) != NULL;
    for (const char *const *m = models; *m; m++)
        named |= value_get(in->root, *m) != NULL;
    return marked && named && !value_get(in->root, "--plugin") && /* Colossal-AI's */
           !value_get(in->root, "--strategy");
}

/* Samples are joined with --packing_samples, and padded without; neither fills max_len. */
static void note_lengths(struct launch_context *t, const struct value *all)
{
    const struct value_item *it = value_get(all, "max_len");
    launch_note(t->l, it ? it->line : t->l->line, DIAG_ASSUMED,
                "max_len: samples are not joined up to it; each is taken to be of the "
                "full length (give --set /training/sequence_length=N for a shorter "
                "mean)");
}

/* By the names before 2026, of which each row is one. */
static struct value *arguments(struct launch_context *t, const struct value *given)
{
    struct value *v = value_new(t->arena, VALUE_DICT, given->line, 0);
    for (int32_t i = 0; i < given->n; i++) {
        const struct value_item *it = &given->items[i];
        const char *key = it->key;
        for (const struct dialect_word *p = parts; p->word; p++)
            if (launch_same_word(p->word, it->key))
                key = p->value;
        value_add(t->arena, v, key, it->line, it->value);
    }
    return v;
}

void openrlhf_read(struct launch_context *t, const struct dialect_input *in)
{
    static const struct trainer_kind kind = { .own = rows,
                                              .defaults = defaults,
                                              .tables = openrlhf_tables,
                                              .peft = &adapters,
                                              .loop = true };
    struct value *all = arguments(t, trainer_command_arguments(t, in->command));
    t->l->line = in->command->command->line;
    t->hyper[t->n_hyper++] = all;
    take_configuration(t);
    take_attention(t);
    t->n_hyper--;
    trainer_read_arguments(t, all, &kind);
    note_lengths(t, all);
}
