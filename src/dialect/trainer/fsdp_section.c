/* "fsdp_config" of the Trainer, of Accelerate's configuration and of axolotl: one
 * section, with keys that begin with "fsdp_" or do not (accelerate/utils/dataclasses.py,
 * FullyShardedDataParallelPlugin, Accelerate 1.12). */
#include "base/names.h"
#include "dialect/trainer/trainer.h"

#include <ctype.h>
#include <string.h>

enum { WORD_MAX_B = 40 };

/* clang-format off */
#define CHECKPOINTING "/training/activation_checkpointing"
#define STRATEGY      "/parallelism/sharding/strategy"
#define OFFLOAD       "/parallelism/sharding/offload"
#define UNIT          "/parallelism/sharding/unit"
const struct dialect_option trainer_fsdp_config_rows[] = {
    ROW_ACTS("activation_checkpointing", CHECKPOINTING), ROW_ACTS("fsdp_activation_checkpointing", CHECKPOINTING),
    ROW_ACTS("sharding_strategy", STRATEGY), ROW_ACTS("fsdp_sharding_strategy", STRATEGY),
    ROW_ACTS("reshard_after_forward", STRATEGY), ROW_ACTS("fsdp_reshard_after_forward", STRATEGY),
    ROW_ACTS("offload_params", OFFLOAD), ROW_ACTS("fsdp_offload_params", OFFLOAD),
    ROW_UNSIMULATED("mixed_precision_policy"), ROW_UNSIMULATED("fsdp_mixed_precision_policy"),
    ROW_UNSIMULATED("xla"), ROW_UNSIMULATED("ignored_modules"), ROW_UNSIMULATED("fsdp_ignored_modules"),
    ROW_UNSIMULATED("activation_cpu_offload"), ROW_UNSIMULATED("fsdp_activation_cpu_offload"),
    ROW_ACTS("version", STRATEGY), ROW_ACTS("fsdp_version", STRATEGY), ROW_ACTS("auto_wrap_policy", UNIT), ROW_ACTS("fsdp_auto_wrap_policy", UNIT),
    ROW_IDLE("transformer_layer_cls_to_wrap"), ROW_IDLE("fsdp_transformer_layer_cls_to_wrap"),
    ROW_IDLE("min_num_params"), ROW_IDLE("fsdp_min_num_params"), ROW_IDLE("state_dict_type"), ROW_IDLE("fsdp_state_dict_type"),
    ROW_IDLE("backward_prefetch"), ROW_IDLE("fsdp_backward_prefetch"), ROW_IDLE("backward_prefetch_policy"),
    ROW_IDLE("fsdp_backward_prefetch_policy"), ROW_IDLE("forward_prefetch"), ROW_IDLE("fsdp_forward_prefetch"),
    ROW_IDLE("limit_all_gathers"), ROW_IDLE("fsdp_limit_all_gathers"), ROW_IDLE("use_orig_params"), ROW_IDLE("fsdp_use_orig_params"),
    ROW_IDLE("sync_module_states"), ROW_IDLE("fsdp_sync_module_states"), ROW_IDLE("cpu_ram_efficient_loading"),
    ROW_IDLE("fsdp_cpu_ram_efficient_loading"), ROW_IDLE("final_state_dict_type"), ROW_IDLE("fsdp_final_state_dict_type"),
    ROW_IDLE("cpu_offload_pin_memory"), ROW_IDLE("fsdp_cpu_offload_pin_memory"),
    ROW_END,
};
/* ShardingStrategy's names and numbers; FSDP2 says the same by true and false. */
static const struct strategy {
    const char *word, *strategy;
    bool hybrid;
} strategies[] = {
    { "full_shard", "full", false },       { "1", "full", false },      { "true", "full", false },
    { "shard_grad_op", "gradients", false }, { "2", "gradients", false }, { "false", "gradients", false },
    { "hybrid_shard", "full", true },      { "4", "full", true },
    { "hybrid_shard_zero2", "gradients", true }, { "5", "gradients", true },
    { "no_shard", "none", false },         { "3", "none", false },
};
/* clang-format on */

/* A member, with "fsdp_" before it or without. */
static const struct value_item *member(struct launch_context *t, const struct value *v,
                                       const char *key)
{
    const struct value_item *it = value_get(v, key);
    return it ? it : value_get(v, arena_printf(t->arena, "fsdp_%s", key));
}

static bool is_on(const struct value_item *it)
{
    return it && launch_true(it->value);
}

/* The word of a value, in lower case. */
static void word_of(const struct value *v, char out[WORD_MAX_B])
{
    size_t n = 0;
    const char *text =
        v->kind == VALUE_STRING                ? v->text
        : v->kind == VALUE_BOOL && !v->integer ? "false"
        : v->kind == VALUE_BOOL                ? "true"
        : v->kind == VALUE_INT && v->integer < 6 && v->integer > 0
            ? (const char *[]) { "1", "2", "3", "4", "5" }[v->integer - 1]
            : "";
    for (; text[n] && n + 1 < WORD_MAX_B; n++)
        out[n] = (char)tolower((unsigned char)text[n]);
    out[n] = '\0';
}

/* reshard_after_forward is FSDP2's word for the strategy; both may be there. */
static void take_strategy(struct launch_context *t, const struct value_item *section)
{
    const struct value *v = section->value;
    const struct value_item *v1 = member(t, v, "sharding_strategy"),
                            *v2 = member(t, v, "reshard_after_forward"),
                            *version = member(t, v, "version");
    int64_t n;
    bool second = version && launch_whole(version->value, &n) && n == 2;
    if (second)
        t->l->fsdp2_line = version->line;
    launch_hear(t, version);
    const struct value_item *it = second ? v2 : v1 ? v1 : v2;
    char word[WORD_MAX_B] = "full_shard"; /* the default of either */
    if (it && it->value->kind != VALUE_NONE)
        word_of(it->value, word);
    it = it ? it : section;
    /* of FSDP2 the section decides, whatever "fsdp" says */
    if (launch_has(t, STRATEGY) && !(second && v2))
        return;
    launch_hear(t, it);
    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
        if (strcmp(strategies[i].word, word) != 0)
            continue;
        launch_set(t, STRATEGY, json_string(strategies[i].strategy), it);
        if (strategies[i].hybrid)
            trainer_take_hybrid(t, it);
        return;
    }
    launch_unresolved_item(t, STRATEGY, it, "strategy of FSDP");
}

/* FSDP_AUTO_WRAP_POLICY of accelerate/utils/constants.py */
static void take_policy(struct launch_context *t, const struct value_item *it)
{
    char word[WORD_MAX_B] = "";
    if (!it || it->value->kind == VALUE_NONE)
        return;
    word_of(it->value, word);
    launch_hear(t, it);
    if (strcmp(word, "no_wrap") == 0) {
        t->l->unwrapped_line = it->line;
        return;
    }
    t->l->wraps = true;
    if (strcmp(word, "size_based_wrap") == 0)
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: units of so many parameters are taken to be layers", it->key);
}

void trainer_take_fsdp_section(struct launch_context *t, const struct value_item *it)
{
    const struct value *v = it->value;
    const struct value_item *keep = member(t, v, "activation_checkpointing"),
                            *offload = member(t, v, "offload_params");
    const char *prefix = arena_printf(t->arena, "%s: ", it->key);
    t->converts = true;
    if (!launch_has(t, "/parallelism/library"))
        launch_set(t, "/parallelism/library", json_string("fsdp"), it);
    take_strategy(t, it);
    take_policy(t, member(t, v, "auto_wrap_policy"));
    if (is_on(offload) && !launch_has(t, OFFLOAD))
        trainer_take_offload(t, offload, true);
    if (is_on(keep) && !launch_has(t, CHECKPOINTING))
        launch_set(t, CHECKPOINTING, json_string("full"), keep);
    launch_hear(t, keep);
    launch_hear(t, offload);
    dialect_report(t, trainer_tables, "fsdp_config", v,
                   (struct dialect_place) { it->line, prefix, "", true });
}

void trainer_take_fsdp_config(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it)
{
    static const char *const keys[] = { "activation_checkpointing",
                                        "fsdp_activation_checkpointing" };
    const struct value_item *section = it;
    struct value *read = NULL;
    if (it->value->kind == VALUE_STRING && it->value->text[0] == '{')
        read = trainer_parse(t, it);
    else if (it->value->kind == VALUE_STRING)
        read = trainer_load_next_to(t, it->value->text, it->value->line);
    struct value_item file = { it->key, it->line, read };
    section = read ? &file : it;
    if (section->value->kind == VALUE_STRING) {
        launch_note(t->l, it->value->line, DIAG_UNREADABLE,
                    "%s: the file is not next to the script (give --set %s=full where "
                    "it says activation_checkpointing)",
                    it->key, row->pointer);
        return;
    }
    if (launch_has(t, "/parallelism/library") && t->converts) {
        t->l->accelerated = true;
        trainer_take_fsdp_section(t, section);
        return;
    }
    /* without "fsdp" it shards nothing */
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct value_item *on = value_get(section->value, keys[i]);
        if (on && launch_true(on->value) && !launch_has(t, row->pointer))
            launch_set(t, row->pointer, json_string("full"), on);
    }
    dialect_report(t, trainer_tables, "fsdp_config", section->value,
                   (struct dialect_place) { it->line, "fsdp_config: ", "", false });
}

/* A section of a program's own document, which a switch of it may turn off. */
static void take_own_section(struct launch_context *t, const struct value_item *it)
{
    static const char *const switches[] = { "enabled", "enable", "enable_fsdp",
                                            "use_fsdp", "use" };
    bool off = it->value->n == 0;
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        const struct value_item *on = value_get(it->value, switches[i]);
        off |= on && launch_is_off(on->value);
    }
    if (off)
        return;
    t->l->accelerated = true;
    trainer_take_fsdp_section(t, it);
}

void trainer_take_fsdp_given(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it)
{
    if (it->value->kind == VALUE_DICT)
        take_own_section(t, it);
    else
        trainer_take_fsdp(t, row, it);
}
