/* Programs that load their model by Unsloth, whose loader, adapters and trainer have
 * defaults of their own.
 *
 * unslothai/unsloth of 2026-08: unsloth/models/loader.py and vision.py (from_pretrained,
 * post_patch_model), llama.py (get_peft_model), rl.py (_patch_trl_rl_trainers). */
#include "base/names.h"
#include "dialect/peft/peft.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

bool user_script_is_unsloth(const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_MODEL];
    return c && strstr(c->function, "Fast") != NULL;
}

/* The adapters that the loader's own class makes; NULL: none. */
static const struct python_call *adapters_of(const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_ADAPTERS];
    return c && strcmp(python_last_part(c->function), "get_peft_model") == 0 ? c : NULL;
}

static bool is_on(const struct value *v)
{
    return v && v->kind != VALUE_UNKNOWN && v->kind != VALUE_NONE && !launch_is_off(v);
}

static struct value *truth(struct arena *arena, int64_t line, bool on)
{
    return value_new_bool(arena, on, line);
}

static void put_true(struct user_script *g, struct arena *arena, const char *key,
                     int64_t line, bool on)
{
    user_script_put(g, arena, key, line, truth(arena, line, true), on);
}

/* 4 bits, unless the loader is asked for others or for all to be trained; their scales
 * are quantized, too. */
static void put_bits(struct user_script *g, struct arena *arena)
{
    static const char *const others[] = { "load_in_4bit", "load_in_8bit",
                                          "load_in_16bit", "full_finetuning" };
    const struct python_call *c = g->parts[SCRIPT_MODEL];
    bool other = false;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct value *v = user_script_given(c, others[i], "");
        other |= v && (i == 0 || !launch_is_off(v));
    }
    if (!other)
        put_true(g, arena, "load_in_4bit", c->line, false);
    const struct value_item *four = value_get(g->words, "load_in_4bit");
    if (four && launch_true(four->value))
        put_true(g, arena, "bnb_4bit_use_double_quant", c->line, false);
}

static bool is_float16(const struct value *v)
{
    return v && v->kind == VALUE_STRING && strstr(v->text, "float16") &&
           !strstr(v->text, "bfloat16");
}

static bool is_quantized(const struct user_script *g)
{
    const struct value_item *four = value_get(g->words, "load_in_4bit"),
                            *eight = value_get(g->words, "load_in_8bit");
    return (four && is_on(four->value)) || (eight && is_on(eight->value));
}

/* Without a type the model is loaded in bfloat16, which the trainer autocasts to; full
 * training in it is without autocast, unless float32 is asked for. */
static void put_type(struct user_script *g, struct arena *arena)
{
    static const char *const flags[] = { "bf16", "fp16" };
    const struct python_call *c = g->parts[SCRIPT_MODEL];
    bool full = is_on(user_script_given(c, "full_finetuning", "")),
         wide = is_on(user_script_given(c, "float32_mixed_precision", "")),
         half = is_float16(user_script_given(c, "dtype", "2")), said = false;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        const struct value_item *it = value_get(g->words, flags[i]);
        said |= it && it->value->kind != VALUE_NONE && !launch_is_off(it->value);
    }
    if (!said && (!full || wide))
        put_true(g, arena, half ? "fp16" : "bf16", c->line, true);
    if (!wide && !is_quantized(g))
        user_script_put(g, arena, "dtype", c->line,
                        value_new_string(arena, "bfloat16", c->line, 0), false);
}

static void set(struct user_script *g, struct arena *arena, const char *key,
                int64_t line, struct value *v)
{
    const struct value_item *it = value_get(g->words, key);
    if (it)
        g->words->items[it - g->words->items] = (struct value_item) { key, line, v };
    else
        value_add(arena, g->words, key, line, v);
}

static void drop(struct user_script *g, const char *key)
{
    const struct value_item *it = value_get(g->words, key);
    if (it)
        value_remove(g->words, (int32_t)(it - g->words->items));
}

/* What the adapters, else the loader are given; the trainer restores it, whatever its own
 * arguments say. "unsloth" is the default. */
static void put_recomputation(struct user_script *g, struct arena *arena)
{
    static const char name[] = "use_gradient_checkpointing";
    const struct python_call *c =
        adapters_of(g) ? adapters_of(g) : g->parts[SCRIPT_MODEL];
    const struct value *v = user_script_given(c, name, "");
    if (v && v->kind == VALUE_UNKNOWN)
        return;
    set(g, arena, "gradient_checkpointing", v ? v->line : c->line,
        truth(arena, v ? v->line : c->line, !v || is_on(v)));
    drop(g, name);
}

static void put_number(struct user_script *g, struct arena *arena, const char *key,
                       int64_t line, int64_t n)
{
    struct value *v = value_new(arena, VALUE_INT, line, 0);
    v->integer = n;
    user_script_put(g, arena, key, line, v, false);
}

/* The trainer's arguments of TRL's classes, which Unsloth makes anew; sequences are as
 * long as the loader is given. */
static void put_arguments(struct user_script *g, struct arena *arena)
{
    const struct python_call *c = g->parts[SCRIPT_ARGUMENTS],
                             *trainer = g->parts[SCRIPT_TRAINER];
    const char *class = c ? python_last_part(c->function) : "";
    size_t n = strlen(class);
    bool sft = strcmp(class, "SFTConfig") == 0 ||
               (trainer && strstr(python_last_part(trainer->function), "SFT"));
    if (sft)
        put_number(g, arena, "max_seq_length", g->parts[SCRIPT_MODEL]->line, 2048);
    if (!c || c->arguments->gap || c->parsed || n < 6 ||
        strcmp(class + n - 6, "Config") != 0)
        return;
    put_number(g, arena, "per_device_train_batch_size", c->line, 4);
    put_number(g, arena, "gradient_accumulation_steps", c->line, 2);
    user_script_put(g, arena, "optim", c->line,
                    value_new_string(arena, "adamw_8bit", c->line, 0), false);
}

/* Of adapters whose modules are not named, those of the parts that are switched on. */
static void put_targets(struct user_script *g, struct arena *arena)
{
    const struct python_call *c = adapters_of(g);
    const struct value *attention =
                           user_script_given(c, "finetune_attention_modules", ""),
                       *mlp = user_script_given(c, "finetune_mlp_modules", ""),
                       *own = user_script_given(c, "target_modules", "");
    const char *names = attention && !is_on(attention) ? "gate_proj,up_proj,down_proj"
                        : mlp && !is_on(mlp)           ? "q_proj,k_proj,v_proj,o_proj"
                                                       : NULL;
    if (c && names && (!own || own->kind == VALUE_NONE))
        set(g, arena, "lora_target_modules", c->line,
            value_new_string(arena, names, c->line, 0));
}

static bool is_end(const struct value *v)
{
    return v->kind == VALUE_STRING &&
           (strcmp(v->text, "embed_tokens") == 0 || strcmp(v->text, "lm_head") == 0);
}

/* Embeddings and head among the modules have no adapters: they are trained whole
 * (unsloth/models/llama.py, get_peft_model, 2025: modules_to_save). */
static void put_ends(struct user_script *g, struct arena *arena)
{
    static const char modules[] = "lora_target_modules",
                      whole[] = "lora_modules_to_save";
    const struct value_item *it = value_get(g->words, modules),
                            *own = value_get(g->words, whole);
    int ends = 0;
    for (int32_t i = 0; it && it->value->kind == VALUE_LIST && i < it->value->n; i++)
        ends += is_end(it->value->items[i].value);
    if (!ends ||
        (own && own->value->kind != VALUE_LIST && own->value->kind != VALUE_NONE))
        return;
    const struct value *given = it->value, *saved = own ? own->value : NULL;
    struct value *left = value_new(arena, VALUE_LIST, given->line, 0),
                 *all = value_new(arena, VALUE_LIST, given->line, 0);
    for (int32_t i = 0; i < given->n; i++)
        value_add(arena, is_end(given->items[i].value) ? all : left, NULL,
                  given->items[i].line, given->items[i].value);
    for (int32_t i = 0; saved && saved->kind == VALUE_LIST && i < saved->n; i++)
        value_add(arena, all, NULL, saved->items[i].line, saved->items[i].value);
    set(g, arena, modules, given->line, left);
    set(g, arena, whole, given->line, all);
}

void user_script_put_unsloth(struct user_script *g, struct arena *arena)
{
    if (!user_script_is_unsloth(g))
        return;
    put_bits(g, arena);
    put_type(g, arena);
    put_recomputation(g, arena);
    put_arguments(g, arena);
    put_targets(g, arena);
    put_ends(g, arena);
}

void user_script_note_unsloth(struct launch_context *t, const struct user_script *g)
{
    if (!user_script_is_unsloth(g))
        return;
    const struct python_call *c = adapters_of(g), *model = g->parts[SCRIPT_MODEL];
    const struct value *v = user_script_given(c ? c : model,
                                              "use_gradient_checkpointing", ""),
                       *language = user_script_given(c, "finetune_language_layers", "");
    bool moved = !v || (v->kind == VALUE_STRING && strcmp(v->text, "unsloth") == 0);
    launch_note(t->l, g->line ? g->line : model->line, DIAG_NOT_SIMULATED,
                "Unsloth's own kernels are not simulated%s",
                moved ? ", nor that it moves what is kept for recomputation to the "
                        "host's memory"
                      : "");
    if (language && !is_on(language))
        launch_add_unresolved(t, PEFT_LORA, g->line ? g->line : language->line,
                              "finetune_language_layers: adapters of the vision tower "
                              "alone are not simulated");
}
