/* The arguments of the calls that make a training, gathered as words of the Trainer, TRL
 * and PEFT; what they have for arguments that are left out (of the releases that
 * user_script_rows.c names). */
#include "dialect/peft/peft.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

static void put_part(struct user_script *g, struct arena *arena,
                     enum user_script_part part)
{
    const struct python_call *c = g->parts[part];
    bool own = part == SCRIPT_LOADER && c &&
               (user_script_is_own_loader(c) || user_script_is_own_class(g->python, c));
    for (int32_t i = 0; c && !own && i < c->arguments->n; i++) {
        const struct value_item *it = &c->arguments->items[i];
        const char *key = user_script_word(arena, part, it->key);
        bool made = part == SCRIPT_MODEL && user_script_builds(c) &&
                    strcmp(key, "model_name_or_path") == 0;
        if (key[0] && !(key[0] >= '0' && key[0] <= '9') && !made)
            user_script_put(g, arena, key, it->line, it->value, false);
    }
}

/* args.set_training(batch_size=4) and its kin replace what args were made with; what
 * set_training is not given goes back to its defaults (transformers/training_args.py,
 * 4.57). */
static void put_setters(struct user_script *g, struct arena *arena)
{
    static const char *const ones[] = { "gradient_accumulation_steps",
                                        "per_device_train_batch_size" };
    const struct python_call *c = g->parts[SCRIPT_SET_TRAINING];
    for (int part = SCRIPT_SET_TRAINING; part <= SCRIPT_SET_OPTIMIZER; part++)
        put_part(g, arena, (enum user_script_part)part);
    for (int i = 0; c && !c->arguments->gap && i < 2; i++) {
        struct value *v = value_new(arena, VALUE_INT, c->line, 0);
        v->integer = i ? 8 : 1;
        user_script_put(g, arena, ones[i], c->line, v, false);
    }
}

/* model_init_kwargs={"torch_dtype": ...} of TRL's arguments. */
static void put_inner(struct user_script *g, struct arena *arena, const char *name)
{
    const struct value_item *it = value_get(g->words, name);
    for (int32_t i = 0; it && it->value->kind == VALUE_DICT && i < it->value->n; i++) {
        const struct value_item *e = &it->value->items[i];
        user_script_put(g, arena, e->key, e->line, e->value, false);
    }
}

/* What calls have for arguments that are left out: LoraConfig (PEFT 0.17,
 * peft/tuners/lora/config.py), Unsloth's loader and adapters (unsloth/models/loader.py and
 * llama.py, 2025), as literals; "" is none. */
static const struct {
    enum user_script_part part;
    const char *class, *key, *value;
} left_out[] = {
    { SCRIPT_ADAPTERS, "LoraConfig", "lora_r", "8" },
    { SCRIPT_ADAPTERS, "LoraConfig", "lora_alpha", "8" },
    { SCRIPT_ADAPTERS, "LoraConfig", "lora_dropout", "0" },
    { SCRIPT_ADAPTERS, "LoraConfig", "lora_target_modules", "" },
    { SCRIPT_ADAPTERS, "get_peft_model", "lora_r", "16" },
    { SCRIPT_ADAPTERS, "get_peft_model", "lora_alpha", "16" },
    { SCRIPT_ADAPTERS, "get_peft_model", "lora_dropout", "0" },
    { SCRIPT_ADAPTERS, "get_peft_model", "lora_target_modules",
      "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj" },
};

static void put_left_out(struct user_script *g, struct arena *arena)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        const struct python_call *c = g->parts[left_out[i].part];
        if (!c || c->arguments->gap || value_get(g->words, left_out[i].key) ||
            strcmp(python_last_part(c->function), left_out[i].class) != 0)
            continue;
        struct value *v = value_new_string(arena, left_out[i].value, c->line, 0);
        v->kind = *left_out[i].value ? VALUE_STRING : VALUE_NONE;
        user_script_put(g, arena, left_out[i].key, c->line, v, false);
    }
}

/* Whether there are adapters is what is not known of their description. */
static void put_unknown(struct user_script *g, struct arena *arena,
                        const struct value *v, int64_t line)
{
    struct value *open = value_new_unknown(arena, line, 0, "%s",
                                           v && v->kind == VALUE_UNKNOWN && v->why
                                               ? v->why
                                               : "what it is given is no call");
    user_script_put(g, arena, "use_peft", line, open, false);
}

/* Adapters are asked for also where what describes them is not known; by another
 * method's class they are refused. */
static void put_adapters(struct user_script *g, struct arena *arena)
{
    const struct python_call *adapters = g->parts[SCRIPT_ADAPTERS],
                             *method = g->parts[SCRIPT_METHOD],
                             *wrapped = g->parts[SCRIPT_WRAPPED];
    const struct value *config =
        user_script_given(g->parts[SCRIPT_TRAINER], "peft_config", "");
    const struct python_call *made =
        user_script_maker(g->python, config ? config : user_script_config_of(wrapped));
    if ((made && user_script_part_of(made) == SCRIPT_ADAPTERS) ||
        (method && method->unsure && peft_makes_lora(g->python)))
        method = g->parts[SCRIPT_METHOD] = NULL;
    if (g->merged && g->merged->unsure)
        put_unknown(g, arena,
                    value_new_unknown(arena, g->merged->line, 0,
                                      "%.80s(...) is called if %.100s, which is not "
                                      "known",
                                      g->merged->function,
                                      g->merged->condition ? g->merged->condition
                                                           : "something holds"),
                    g->merged->line);
    if (method && (wrapped || (config && config->kind != VALUE_NONE)))
        user_script_put(g, arena, "peft_type", method->line,
                        value_new_string(arena, python_last_part(method->function),
                                         method->line, 0),
                        false);
    else if (adapters)
        user_script_put_true(g, arena, "use_peft", adapters->line, false);
    else if (wrapped)
        put_unknown(g, arena, user_script_config_of(wrapped), wrapped->line);
    else if (config && config->kind != VALUE_NONE)
        put_unknown(g, arena, config, config->line);
    else if (g->lost)
        put_unknown(g, arena,
                    value_new_unknown(arena, g->lost->line, 0,
                                      "LoraConfig(...) goes to no call that is known"),
                    g->lost->line);
    const struct value_item *casts =
        wrapped ? value_get(wrapped->arguments, "autocast_adapter_dtype") : NULL;
    if (casts)
        user_script_put(g, arena, casts->key, wrapped->line, casts->value, false);
    put_left_out(g, arena);
    user_script_put_unsloth(g, arena);
}

/* GradientAccumulationPlugin(num_steps=4), DeepSpeedPlugin(...=4) */
static void put_steps(struct user_script *g, struct arena *arena)
{
    const struct python_call *c = g->parts[SCRIPT_ACCELERATOR];
    const struct value *plugin =
                           user_script_given(c, "gradient_accumulation_plugin", ""),
                       *ds = user_script_given(c, "deepspeed_plugin", "");
    const struct value_item *n = plugin ? value_get(plugin, "num_steps") : NULL;
    n = n || !plugin ? n : value_get(plugin, "0");
    n = n || !ds ? n : value_get(ds, "gradient_accumulation_steps");
    if (n)
        user_script_put(g, arena, "gradient_accumulation_steps", n->line, n->value,
                        true);
}

/* The default of an argument in a class of fields; NULL: there is none. */
static struct value *field_of(const struct python *p, const char *key)
{
    for (int64_t i = 0; i < p->names.n; i++) {
        const struct value *v = p->names.v[i].value;
        const struct value_item *it =
            v && v->kind == VALUE_DICT ? value_get(v, key) : NULL;
        if (it && it->value->kind != VALUE_UNKNOWN)
            return it->value;
    }
    return NULL;
}

static void put_open_base(struct user_script *g, struct arena *arena)
{
    static const char switched[] = "load_in_4bit";
    const struct python_call *model = g->parts[SCRIPT_MODEL],
                             *c = model ? model : g->parts[SCRIPT_WRAPPED];
    const char *why = user_script_open_base(g);
    c = c ? c : g->parts[SCRIPT_ADAPTERS];
    if (why && c)
        user_script_put(g, arena, switched, c->line,
                        value_new_unknown(arena, c->line, 0,
                                          "%s (bf16 is a base that is not quantized)",
                                          why),
                        false);
}

/* BitsAndBytesConfig(...) that the model may be given among arguments that are not known:
 * by the program's own switch of that name, else it is asked for. */
static void put_loose_base(struct user_script *g, struct arena *arena)
{
    static const char *const switches[] = { "load_in_4bit", "load_in_8bit" };
    const struct python_call *c = g->parts[SCRIPT_QUANTISATION];
    for (int i = 0; g->loose_base && c && i < 2; i++) {
        const struct value *on = user_script_given(c, switches[i], "");
        struct value *own = field_of(g->python, switches[i]);
        if (on && !launch_is_off(on))
            user_script_put(g, arena, switches[i], c->line,
                            own ? own
                                : value_new_unknown(arena, c->line, 0,
                                                    "BitsAndBytesConfig(...) goes to "
                                                    "no call that is known"),
                            false);
    }
}

bool user_script_is_chosen(const struct python_call *c)
{
    static const char *const able[] = { "hasattr(",   "callable(",       "isinstance(",
                                        "_available", "is_main_process", "rank" };
    bool any = false;
    for (size_t i = 0; c->condition && i < sizeof(able) / sizeof(able[0]); i++)
        any |= strstr(c->condition, able[i]) != NULL;
    return c->unsure && c->condition && !any;
}

/* Of timm's set_grad_checkpointing(enable=False), and of a method that is given whether it
 * does: model.set_activation_checkpointing(False). NULL: nothing. */
static const struct value *enabled_of(const struct python_call *c)
{
    const char *last = c ? python_last_part(c->function) : "";
    const struct value *v = user_script_given(c, "enable", "0");
    bool timm = strcmp(last, "set_grad_checkpointing") == 0,
         own = strcmp(last, "set_activation_checkpointing") == 0 && v &&
               v->kind == VALUE_BOOL;
    return timm || own ? v : NULL;
}

static bool is_switched_off(const struct python_call *c)
{
    const struct value *enabled = enabled_of(c);
    return enabled && enabled->kind == VALUE_BOOL && !enabled->integer;
}

/* gradient_checkpointing_enable(), apply_activation_checkpointing(...): asked for where a
 * choice of the user's that is not known decides. */
static void put_recomputed(struct user_script *g, struct arena *arena,
                           const struct python_call *on)
{
    static const char key[] = "gradient_checkpointing";
    const struct value *enabled = enabled_of(on);
    if (enabled && enabled->kind == VALUE_UNKNOWN)
        user_script_put(g, arena, key, on->line,
                        value_new_unknown(arena, on->line, 0, "%s", enabled->why),
                        true);
    else if (on && user_script_is_chosen(on))
        user_script_put(g, arena, key, on->line,
                        value_new_unknown(arena, on->line, 0,
                                          "%.80s(...) is called if %.100s, which is "
                                          "not known",
                                          on->function, on->condition),
                        true);
    else if (on)
        user_script_put_true(g, arena, key, on->line, true);
}

/* model.clip_grad_norm_(1.0): FSDP's method has no parameters to be given
 * (fsdp/fully_sharded_data_parallel.py, PyTorch 2.8). */
static void put_clipped(struct user_script *g, struct arena *arena)
{
    const struct python_call *c = g->parts[SCRIPT_CLIPPED];
    const struct value_item *norm = c ? value_get(c->arguments, "0") : NULL;
    bool method = c && !strstr(c->function, "utils.") &&
                  !user_script_given(c, "max_norm", "1") && !c->arguments->gap;
    if (norm && method)
        user_script_put(g, arena, "max_grad_norm", norm->line, norm->value, false);
}

/* What calls do that no argument says. */
static void put_switches(struct user_script *g, struct arena *arena)
{
    const struct python_call *on = g->parts[SCRIPT_CHECKPOINTED],
                             *off = g->parts[SCRIPT_UNCHECKPOINTED],
                             *prepared = g->parts[SCRIPT_PREPARED];
    const struct value *mixed =
        user_script_given(g->parts[SCRIPT_ACCELERATOR], "mixed_precision", "");
    on = is_switched_off(on) ? NULL : on;
    on = on && off && !off->unsure && off->line > on->line ? NULL : on;
    on = on ? on : g->parts[SCRIPT_RECOMPUTED];
    put_recomputed(g, arena, is_switched_off(on) ? NULL : on);
    user_script_put_kernels(g, arena);
    user_script_put_loader(g, arena);
    user_script_put_optimizer(g, arena);
    user_script_put_lightning(g, arena);
    put_steps(g, arena);
    put_clipped(g, arena);
    /* peft/utils/other.py, prepare_model_for_kbit_training: True unless given */
    if (prepared)
        user_script_put_true(g, arena, "use_gradient_checkpointing", prepared->line,
                             false);
    put_adapters(g, arena);
    if (mixed && mixed->kind == VALUE_STRING &&
        (strcmp(mixed->text, "bf16") == 0 || strcmp(mixed->text, "fp16") == 0))
        user_script_put_true(g, arena, mixed->text, mixed->line, true);
    else if (mixed && mixed->kind == VALUE_UNKNOWN && !g->parts[SCRIPT_TRAINER])
        user_script_put(g, arena, "bf16", mixed->line,
                        value_new_unknown(arena, mixed->line, 0,
                                          "mixed_precision of Accelerator(...): %s",
                                          mixed->why),
                        true);
}

/* Trainers of the text; a function that is called twice makes one, a loop several. */
static int count_trainers(const struct python *p)
{
    int n = 0;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        bool again = false;
        for (int64_t k = 0; k < i; k++)
            again |= p->calls.v[k].line == c->line && !c->loops;
        n += user_script_part_of(c) == SCRIPT_TRAINER && !again;
    }
    return n;
}

void user_script_gather(struct user_script *g, struct arena *arena,
                        const struct python *p)
{
    *g = (struct user_script) { .python = p,
                                .words = value_new(arena, VALUE_DICT, 1, 0) };
    user_script_choose(g);
    g->n_trainers = count_trainers(p);
    const struct value *model =
        user_script_given(g->parts[SCRIPT_TRAINER], "model", "0");
    if (model && model->kind == VALUE_STRING)
        user_script_put(g, arena, "model_name_or_path", model->line,
                        (struct value *)(uintptr_t)model, false);
    put_loose_base(g, arena);
    user_script_put_trainer_optimizer(g, arena);
    put_setters(g, arena);
    for (int part = 0; part < SCRIPT_PARTS; part++)
        put_part(g, arena, (enum user_script_part)part);
    user_script_name_whisper(g, arena);
    put_inner(g, arena, "model_init_kwargs");
    put_open_base(g, arena);
    put_switches(g, arena);
    user_script_put_assigned(g, arena);
}
