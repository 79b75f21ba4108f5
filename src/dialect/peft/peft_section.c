/* Adapters as a section of a program's own document, lora_config: {r: 64, ...}, or as the
 * name of its method, training_mode: lora: as peft_rows call them. */
#include "base/names.h"
#include "dialect/peft/peft.h"

#include <string.h>

/* clang-format off */
static const char *const sections[] = {
    "lora", "lora_config", "lora_args", "lora_params", "lora_kwargs", "qlora", "peft", "peft_config", "peft_args", "adapter", "adapters", NULL,
};
static const struct { const char *name, *word; } words[] = {
    { "r", "lora_r" }, { "rank", "lora_r" }, { "lora_rank", "lora_r" }, { "alpha", "lora_alpha" }, { "dropout", "lora_dropout" },
    { "target_modules", "lora_target_modules" }, { "targets", "lora_target_modules" }, { "modules_to_save", "lora_modules_to_save" },
    { "bias", "lora_bias" }, { "task_type", "lora_task_type" },
};
static const char *const switches[] = { "enabled", "enable", "use", "use_lora", "use_peft", NULL };
/* Parts of keys that name how a model is trained. */
static const char *const ways[] = { "training_mode", "train_mode", "method", "type", "tun" };
static const char *const fulls[] = { "full", "full_finetune", "full_finetuning", "full-finetune", "full_parameter", "FULL", NULL };
static const char *const loras[] = { "lora", "LoRA", "LORA", "Lora", NULL }, *const qloras[] = { "qlora", "QLoRA", "QLORA", NULL };
/* clang-format on */

/* The item by which a document says that it trains a model so. */
static const struct value_item *way_of(const struct value *all,
                                       const char *const *texts)
{
    for (int32_t i = 0; i < all->n; i++) {
        const struct value_item *it = &all->items[i];
        bool says =
            it->value->kind == VALUE_STRING && names_listed(texts, it->value->text);
        for (size_t k = 0; says && k < sizeof(ways) / sizeof(ways[0]); k++)
            if (strstr(it->key, ways[k]))
                return it;
    }
    return NULL;
}

static bool is_switched_off(const struct value *section)
{
    for (const char *const *s = switches; *s; s++) {
        const struct value_item *it = value_get(section, *s);
        if (it && launch_is_off(it->value))
            return true;
    }
    return false;
}

static bool is_section(const struct value_item *it)
{
    return it->value->kind == VALUE_DICT && names_listed(sections, it->key) &&
           (value_get(it->value, "r") || value_get(it->value, "rank") ||
            value_get(it->value, "lora_r") || value_get(it->value, "lora_rank"));
}

/* The section's items take its place, but for those that the document has next to it. */
static void open_section(struct launch_context *t, struct value *all, int32_t at)
{
    const struct value_item section = all->items[at];
    struct value *yes = value_new_bool(t->arena, true, section.value->line);
    all->items[at] = (struct value_item) { "use_peft", section.line, yes };
    t->lora_config = true;
    for (int32_t i = 0; i < section.value->n; i++) {
        const struct value_item *it = &section.value->items[i];
        const char *key = it->key;
        for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
            key = strcmp(words[k].name, it->key) == 0 ? words[k].word : key;
        if (!value_get(all, key) && !names_listed(switches, key))
            value_add(t->arena, all, key, it->line, it->value);
    }
    launch_note(t->l, section.line, DIAG_ASSUMED,
                "%.40s is taken to be LoraConfig's arguments", section.key);
}

/* The method's name alone: adapters are asked for, and no more. */
static void add_way(struct launch_context *t, struct value *all,
                    const char *const *texts, const char *word)
{
    static const struct dialect_table tables[] = {
        { "", peft_rows, DIALECT_UNKNOWN_IDLE },
        { NULL, NULL, DIALECT_UNKNOWN_IDLE },
    };
    const struct value_item *way = way_of(all, texts);
    if (!way || value_get(all, word) || value_get(all, "use_peft") ||
        dialect_option_of(tables, "", way->key))
        return;
    struct value *yes = value_new_bool(t->arena, true, way->value->line);
    value_add(t->arena, all, word, way->line, yes);
}

void peft_open_sections(struct launch_context *t, struct value *all)
{
    const struct value_item *full = way_of(all, fulls);
    for (int32_t i = 0; i < all->n; i++) {
        const struct value_item it = all->items[i];
        if (!is_section(&it))
            continue;
        if (full || is_switched_off(it.value)) {
            if (full)
                launch_note(t->l, it.line, DIAG_ASSUMED,
                            "%.40s is left, as %.40s is \"%.40s\"", it.key, full->key,
                            full->value->text);
            value_remove(all, i--);
        } else
            open_section(t, all, i);
    }
    add_way(t, all, qloras, "use_qlora");
    add_way(t, all, loras, "use_lora");
}
