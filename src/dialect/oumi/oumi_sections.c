/* Sections of Oumi's configuration as arguments of the Trainer. */
#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/oumi/oumi.h"

#include <ctype.h>
#include <string.h>

enum { WORD_MAX_B = 40, COPIED_MAX = 20000 };

/* The last part of an enumeration's name or value, in lower case: "ZERO_3" and "3",
 * "BF16" and "bf16". */
static const char *word_of(struct launch_context *t, const struct value *v)
{
    const char *text = v->kind == VALUE_STRING ? v->text : "";
    char *word = arena_strndup(t->arena, text, WORD_MAX_B);
    for (char *s = word; *s; s++)
        *s = (char)tolower((unsigned char)*s);
    return word;
}

static void add(struct launch_context *t, struct value *to, const char *key,
                const struct value_item *it, struct value *v)
{
    if (!value_get(to, key))
        value_add(t->arena, to, key, it->line, v);
}

/* Members of a section by the names that `renamed` has for them, in pairs. */
static void add_members(struct launch_context *t, struct value *to,
                        const struct value *section, const char *const *renamed)
{
    for (int32_t i = 0; section->kind == VALUE_DICT && i < section->n; i++) {
        const struct value_item *it = &section->items[i];
        const char *key = it->key;
        for (const char *const *r = renamed; *r; r += 2)
            if (strcmp(key, r[0]) == 0)
                key = r[1];
        add(t, to, key, it, it->value);
    }
}

/* Of FSDP as Accelerate's variables have it (distributed.py, get_accelerate_env_vars):
 * without a policy the model is one unit. */
static void add_fsdp(struct launch_context *t, struct value *to,
                     const struct value_item *it)
{
    static const char *const renamed[] = { "cpu_offload", "offload_params", NULL };
    const struct value_item *mixed = value_get(it->value, "mixed_precision");
    struct value *section = value_new(t->arena, VALUE_DICT, it->line, 0);
    struct value *inner = value_new(t->arena, VALUE_DICT, it->line, 0);
    if (!launch_is_on(it->value, "enable_fsdp"))
        return;
    add_members(t, section, it->value, renamed);
    for (int32_t i = 0; i < section->n; i++) {
        const char *key = section->items[i].key;
        if (strcmp(key, "enable_fsdp") != 0 && strcmp(key, "mixed_precision") != 0)
            add(t, inner, key, &section->items[i], section->items[i].value);
    }
    add(t, inner, "auto_wrap_policy", it,
        value_new_string(t->arena, "NO_WRAP", it->line, 0));
    add(t, to, "fsdp", it, inner);
    if (mixed && mixed->value->kind == VALUE_STRING)
        add(t, to, word_of(t, mixed->value), mixed,
            value_new_bool(t->arena, true, mixed->line));
}

static void add_device(struct launch_context *t, struct value *zero,
                       const struct value_item *it)
{
    const struct value_item *device = value_get(it->value, "device");
    struct value *v = value_new(t->arena, VALUE_DICT, it->line, 0);
    if (it->value->kind == VALUE_NONE)
        return;
    add(t, v, "device", it,
        value_new_string(t->arena, device ? word_of(t, device->value) : "cpu", it->line,
                         0));
    add(t, zero, it->key, it, v);
}

/* The section zero_optimization (deepspeed_params.py, to_deepspeed). */
static struct value *zero_of(struct launch_context *t, const struct value_item *it)
{
    static const char *const passed[] = { "overlap_comm",
                                          "reduce_bucket_size",
                                          "allgather_bucket_size",
                                          "reduce_scatter",
                                          "contiguous_gradients",
                                          "round_robin_gradients",
                                          "sub_group_size",
                                          "stage3_prefetch_bucket_size",
                                          "stage3_param_persistence_threshold",
                                          "stage3_max_live_parameters",
                                          "stage3_max_reuse_distance",
                                          NULL };
    struct value *zero = value_new(t->arena, VALUE_DICT, it->line, 0);
    const struct value_item *stage = value_get(it->value, "zero_stage");
    const char *word = stage ? word_of(t, stage->value) : "0";
    int64_t n = 0;
    if (!(stage && launch_whole(stage->value, &n)) && *word)
        n = word[strlen(word) - 1] - '0';
    struct value *number = value_new(t->arena, VALUE_INT, it->line, 0);
    number->integer = n;
    add(t, zero, "stage", stage ? stage : it, number);
    for (const char *const *p = passed; *p; p++) {
        const struct value_item *m = value_get(it->value, *p);
        bool third = strncmp(*p, "stage3_", 7) == 0;
        if (m && (n == 3 || !third))
            add(t, zero, *p, m, m->value);
    }
    add(t, zero, "overlap_comm", it, value_new_bool(t->arena, false, it->line));
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "offload_param" : "offload_optimizer";
        const struct value_item *m = value_get(it->value, key);
        if (m)
            add_device(t, zero, m);
    }
    return zero;
}

/* Its word, or without one the type that the model is loaded in: train.py makes the model
 * before transformers reads the section, so that nothing else converts its weights. */
static const char *half_of(struct launch_context *t, const struct value *all,
                           const struct value_item *given)
{
    static const struct name_value words[] = {
        { "bf16", 0 },    { "bfloat16", 0 }, { "auto", 0 }, { "fp16", 1 },
        { "float16", 1 }, { "half", 1 },     { NULL, 0 },
    };
    const struct value_item *loaded = value_get(all, "torch_dtype");
    int fp16;
    bool none = !given || given->value->kind != VALUE_STRING;
    if (none && (launch_is_on(all, "bf16") || launch_is_on(all, "fp16")))
        return NULL;
    given = none ? loaded : given;
    if (!given || names_find(words, word_of(t, given->value), &fp16))
        return NULL;
    return fp16 ? "fp16" : "bf16";
}

static void add_deepspeed(struct launch_context *t, struct value *to,
                          const struct value_item *it)
{
    const struct value_item *path = value_get(it->value, "deepspeed_config_path"),
                            *precision = value_get(it->value, "precision"),
                            *clip = value_get(it->value, "gradient_clipping");
    struct value *config = value_new(t->arena, VALUE_DICT, it->line, 0);
    if (!launch_is_on(it->value, "enable_deepspeed"))
        return;
    if (path && path->value->kind == VALUE_STRING) {
        add(t, to, "deepspeed", path, path->value);
        return;
    }
    add(t, config, "zero_optimization", it, zero_of(t, it));
    add(t, config, "gradient_clipping", it,
        clip ? clip->value : value_new_string(t->arena, "auto", it->line, 0));
    const char *half = half_of(t, to, precision);
    if (half) {
        const struct value_item *from = precision ? precision : it;
        struct value *section = value_new(t->arena, VALUE_DICT, from->line, 0);
        add(t, section, "enabled", from, value_new_bool(t->arena, true, from->line));
        add(t, config, half, from, section);
    }
    add(t, to, "deepspeed", it, config);
}

/* Quantized weights (peft_params.py, to_bits_and_bytes), where adapters are trained. */
static void add_peft(struct launch_context *t, struct value *to,
                     const struct value_item *it)
{
    static const char *const same[] = { NULL };
    const struct value_item *bits = value_get(it->value, "q_lora_bits"),
                            *on = value_get(it->value, "q_lora");
    int64_t n = 4;
    add_members(t, to, it->value, same);
    if (!on || !launch_true(on->value) || !launch_is_on(to, "use_peft"))
        return;
    if (bits && !launch_whole(bits->value, &n))
        n = 0;
    add(t, to, n == 8 ? "load_in_8bit" : "load_in_4bit", bits ? bits : on,
        n == 8 || n == 4 ? value_new_bool(t->arena, true, on->line) : bits->value);
}

static void add_training(struct launch_context *t, struct value *to,
                         const struct value_item *it)
{
    static const char *const renamed[] = { "compile", "torch_compile", NULL };
    const struct value_item *mixed = value_get(it->value, "mixed_precision_dtype"),
                            *more = value_get(it->value, "trainer_kwargs");
    static const char *const same[] = { NULL };
    add_members(t, to, it->value, renamed);
    if (mixed && mixed->value->kind == VALUE_STRING &&
        strcmp(word_of(t, mixed->value), "none") != 0)
        add(t, to, word_of(t, mixed->value), mixed,
            value_new_bool(t->arena, true, mixed->line));
    if (more)
        add_members(t, to, more->value, same);
}

/* Modules that hold a vision tower, and in Qwen2-VL's "visual" the projector, too
 * (transformers/models/qwen2_vl, llava, mllama, phi3_v). */
static const char *frozen_switch(const char *module)
{
    static const char *const towers[] = { "vision_model", "vision_tower",
                                          "vision_embed_tokens", NULL };
    const char *name = python_last_part(module);
    return strcmp(name, "visual") == 0  ? "freeze_merger"
           : names_listed(towers, name) ? "freeze_vision_tower"
                                        : NULL;
}

/* freeze_layers, where it names towers alone, as switches of those. */
static bool add_frozen(struct launch_context *t, struct value *to,
                       const struct value_item *it)
{
    const struct value *v = it->value;
    struct value *on = value_new_bool(t->arena, true, it->line);
    bool all = v->kind == VALUE_LIST && v->n > 0;
    for (int32_t i = 0; all && i < v->n; i++)
        all = v->items[i].value->kind == VALUE_STRING &&
              frozen_switch(v->items[i].value->text);
    for (int32_t i = 0; all && i < v->n; i++) {
        add(t, to, frozen_switch(v->items[i].value->text), it, on);
        add(t, to, "freeze_vision_tower", it, on);
    }
    return all;
}

static void add_model(struct launch_context *t, struct value *to,
                      const struct value_item *it)
{
    static const char *const renamed[] = { "torch_dtype_str", "torch_dtype", NULL };
    const struct value_item *frozen = value_get(it->value, "freeze_layers");
    struct value model = *it->value;
    if (frozen && add_frozen(t, to, frozen)) {
        int64_t budget = COPIED_MAX;
        struct value *rest = value_copy(t->arena, it->value, &budget);
        if (rest)
            value_remove(rest, (int32_t)(frozen - it->value->items));
        model = rest ? *rest : model;
    }
    add_members(t, to, &model, renamed);
    add(t, to, "torch_dtype", it, value_new_string(t->arena, "auto", it->line, 0));
}

/* data.train.pack fills sequences. */
static void add_data(struct launch_context *t, struct value *to,
                     const struct value_item *it)
{
    const struct value_item *train = value_get(it->value, "train"),
                            *pack = train ? value_get(train->value, "pack") : NULL;
    if (pack)
        add(t, to, "pack", pack, pack->value);
}

struct value *oumi_arguments(struct launch_context *t, const struct value *root)
{
    static const struct {
        const char *key;
        void (*add)(struct launch_context *t, struct value *to,
                    const struct value_item *it);
    } sections[] = {
        { "training", add_training }, { "model", add_model },
        { "peft", add_peft },         { "fsdp", add_fsdp },
        { "data", add_data },         { "deepspeed", add_deepspeed },
    };
    struct value *all = value_new(t->arena, VALUE_DICT, root->line, 0);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        const struct value_item *it = value_get(root, sections[i].key);
        if (it && it->value->kind == VALUE_DICT)
            sections[i].add(t, all, it);
    }
    return all;
}
