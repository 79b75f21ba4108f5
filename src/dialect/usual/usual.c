#include "dialect/usual/usual.h"

#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

enum { COPIED_MAX = 20000 };

#define PRECISION "/training/precision"
#define LIBRARY "/parallelism/library"

/* clang-format off */
static const char *const rates[] = { "learning_rate", "lr", "max_lr", "peak_lr", NULL };
static const char *const batches[] = {
    "batch_size", "micro_batch_size", "per_device_batch_size", "per_gpu_batch_size", "batch_size_per_gpu", "batch_size_per_device",
    "device_batch_size", "train_batch_size", "microbatch_size", "micro_batch_size_per_gpu", "per_device_train_batch_size", NULL,
};
static const char *const totals[] = { "train_batch_size", "large_batch_size", "target_batch_size", "batch_size_total", NULL };
/* Names of a model, of the document or of a section that is called so. */
static const char *const models[] = {
    "base_model", "base_model_name", "base_model_id", "model_name", "model_id", "model_path", "model_name_or_path", "pretrained_model",
    "pretrained_model_name_or_path", NULL,
};
static const char *const within[] = { "name", "path", "id", "name_or_path", "model", "pretrained", "base", "base_model", "model_name", "model_id", "model_name_or_path", NULL };
/* Names that rows have others for. */
static const struct { const char *name, *word; } words[] = {
    { "grad_clip", "max_grad_norm" }, { "gradient_clip", "max_grad_norm" }, { "gradient_clipping", "max_grad_norm" }, { "clip_grad", "max_grad_norm" },
    { "clip_grad_norm", "max_grad_norm" }, { "gradient_clip_val", "max_grad_norm" }, { "grad_clip_norm", "max_grad_norm" }, { "max_norm", "max_grad_norm" },
    { "flash_attention", "use_flash_attention" }, { "flash_attention_2", "use_flash_attention" }, { "base_model_id", "base_model" },
};
/* What shards a model, in names and texts of a document. */
static const char *const sharders[] = { "fsdp", "FSDP", "deepspeed", "DeepSpeed", "zero1", "zero2", "zero3", "zero_stage", "zero_optimization", "sharding_strategy", "dp_shard", "data_parallel_shard", "FULL_SHARD", "megatron", NULL };
/* clang-format on */

/* Which document ------------------------------------------------------------------- */

static bool names_a_model(const struct value_item *it)
{
    return it->value->kind == VALUE_STRING && names_listed(models, it->key);
}

static bool is_model_section(const struct value_item *it)
{
    bool any = false;
    for (int32_t i = 0; it->value->kind == VALUE_DICT && i < it->value->n; i++)
        any |= names_listed(within, it->value->items[i].key) &&
               it->value->items[i].value->kind == VALUE_STRING;
    return any && strncmp(it->key, "model", 5) == 0;
}

/* A model of a hub's; the name of one's own model goes with its sizes. */
static bool names_an_id(const struct value *root)
{
    const struct value_item *it = usual_value(root, models, USUAL_DEPTH);
    for (int32_t i = 0; i < root->n && !it; i++)
        if (is_model_section(&root->items[i]))
            it = usual_value(root->items[i].value, within, 1);
    return it && it->value->kind == VALUE_STRING && strchr(it->value->text, '/');
}

static bool names_one(const struct value *root)
{
    bool model = false;
    for (int32_t i = 0; i < root->n; i++)
        model |= names_a_model(&root->items[i]) || is_model_section(&root->items[i]);
    return model;
}

bool usual_recognises(const struct dialect_input *in)
{
    bool model = names_one(in->root);
    return (model || usual_has_sizes(in->root)) &&
           usual_value(in->root, rates, USUAL_DEPTH) &&
           usual_value(in->root, batches, USUAL_DEPTH - 1);
}

/* Its values ----------------------------------------------------------------------- */

static void rename_keys(struct value *v, int depth)
{
    for (int32_t i = 0; v->kind == VALUE_DICT && i < v->n; i++) {
        bool section = v->items[i].value->kind == VALUE_DICT;
        if (section && v->items[i].key && strcmp(v->items[i].key, "train") == 0)
            v->items[i].key = "training"; /* not the switch of that name */
        for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
            if (v->items[i].key && strcmp(v->items[i].key, words[k].name) == 0)
                v->items[i].key = words[k].word;
        if (depth > 1)
            rename_keys(v->items[i].value, depth - 1);
    }
}

/* optimizer: {name: adamw, ...} as its name alone. */
static void open_optimizer(struct value *all)
{
    static const char *const names[] = { "name", "type", "optimizer", "_target_" };
    for (int32_t i = 0; i < all->n; i++) {
        struct value_item *it = &all->items[i];
        bool is = strcmp(it->key, "optimizer") == 0 || strcmp(it->key, "optim") == 0;
        const struct value_item *name = NULL;
        for (size_t k = 0; is && k < sizeof(names) / sizeof(names[0]) && !name; k++)
            name = value_get(it->value, names[k]);
        if (name && name->value->kind == VALUE_STRING)
            it->value = name->value;
        else if (is && it->value->kind == VALUE_DICT)
            value_remove(all, i--);
    }
}

/* A value of that name within the document; what is switched off is none. */
static const struct value_item *sharder_in(const struct value *v, int depth)
{
    for (int32_t i = 0; v->kind == VALUE_DICT && i < v->n; i++) {
        const struct value_item *it = &v->items[i];
        bool text =
            it->value->kind == VALUE_STRING && names_within(sharders, it->value->text);
        if (!launch_is_off(it->value) &&
            (text || (it->key && names_within(sharders, it->key))))
            return it;
        const struct value_item *in =
            depth > 1 ? sharder_in(it->value, depth - 1) : NULL;
        if (in)
            return in;
    }
    return NULL;
}

/* A batch of all GPUs, or of all steps of accumulation, next to that of one. */
static void ask_total(struct launch_context *t, const struct value *root)
{
    static const char at[] = "/training/global_batch_size";
    const struct value_item *it = usual_value(root, totals, USUAL_DEPTH - 1);
    if (it && launch_has(t, "/training/micro_batch_size") && !launch_has(t, at) &&
        !launch_has(t, "/training/gradient_accumulation_steps") &&
        !launch_is_unresolved(t, at))
        launch_add_unresolved(t, at, it->line,
                              "%.60s: whether it is the batch of all GPUs is the "
                              "program's own",
                              it->key);
}

/* What the program decides, where the document does not. */
static void ask_left(struct launch_context *t, const struct value *root)
{
    const struct value_item *sharder = sharder_in(root, USUAL_DEPTH);
    bool known = launch_has(t, PRECISION) || launch_is_unresolved(t, PRECISION) ||
                 launch_is_unresolved(t, PEFT_BASE);
    if (sharder && !launch_has(t, LIBRARY) && !launch_is_unresolved(t, LIBRARY))
        launch_add_unresolved(t, LIBRARY, sharder->line,
                              "%.60s: how the program shards the model is not known",
                              sharder->key);
    ask_total(t, root);
    if (known)
        return;
    launch_add_unresolved(t, PRECISION, t->l->line,
                          "which types the program trains in is not known: fp32, bf16, "
                          "or amp_bf16 of autocast");
    launch_add_example(t, PRECISION, "amp_bf16");
}

void usual_read(struct launch_context *t, const struct dialect_input *in)
{
    static const struct trainer_kind kind = { .tables = trainer_tables, .loop = true };
    int64_t budget = COPIED_MAX;
    struct value *all = value_copy(t->arena, in->root, &budget);
    t->l->title = "a training program's own document";
    t->l->what = "the document";
    t->l->line = 1;
    if (!all)
        return;
    if (!names_an_id(in->root) && usual_has_sizes(in->root))
        usual_take_sizes(t, all);
    rename_keys(all, USUAL_DEPTH);
    peft_open_sections(t, all);
    open_optimizer(all);
    user_script_open_document(t, all);
    usual_take_method(t, in->root);
    usual_take_cluster(t, all);
    trainer_read_arguments(t, all, &kind);
    peft_ask_base(t, 1);
    ask_left(t, in->root);
    if (launch_has(t, "/training/micro_batch_size"))
        launch_note(
            t->l, 1, DIAG_ASSUMED,
            "batches are taken to be those of one GPU, and the program to be "
            "no other than its document says (give the program itself for more)");
}
