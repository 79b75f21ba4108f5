/* The calls that make a training, gathered as words of the Trainer, TRL and PEFT; what
 * they have for arguments that are left out (of the releases that user_script_rows.c
 * names). */
#include "base/names.h"
#include "dialect/peft/peft.h"
#include "dialect/user_script/user_script.h"

#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 8 };

/* Which calls ---------------------------------------------------------------------- */

const struct python_call *user_script_maker(const struct python *p,
                                            const struct value *v)
{
    for (int64_t i = p->calls.n; v && i-- > 0;)
        if (p->calls.v[i].result == v &&
            strcmp(python_last_part(p->calls.v[i].function), "deepcopy") != 0)
            return &p->calls.v[i];
    return NULL;
}

/* What adapters are given: get_peft_model(model, config), model.add_adapter(config). */
static const struct value *config_of(const struct python_call *wrapped)
{
    bool added =
        wrapped && strcmp(python_last_part(wrapped->function), "add_adapter") == 0;
    return added ? user_script_given(wrapped, "adapter_config", "0")
                 : user_script_given(wrapped, "peft_config", "1");
}

/* def from_pretrained(cls, name): of a model of the text's own modules it loads another's
 * weights into them. */
static bool copies_weights(const struct python *p, const struct python_call *c)
{
    return c->within && strcmp(c->within, "from_pretrained") == 0 &&
           user_script_has_stack(p);
}

/* A class' own way to make one of itself: BertConfig(-1) in from_dict(). */
static bool is_of_class(const struct python_call *c, enum user_script_part part)
{
    return (part == SCRIPT_MODEL || part == SCRIPT_CONFIGURATION) && c->within &&
           strncmp(c->within, "from_", 5) == 0;
}

/* A model that is loaded to look at it, of where the training has saved it. */
static bool is_saved(const struct python *p, const struct python_call *c)
{
    static const char *const places[] = { "output_dir",  "save_dir",       "save_path",
                                          "output_path", "checkpoint_dir", "OUTPUT_DIR",
                                          NULL };
    const struct value *v = user_script_given(c, "pretrained_model_name_or_path", "0");
    return v && (v->kind == VALUE_NONE || user_script_is_named(p, v, places));
}

/* deepspeed.initialize(model=reference, config=...): nothing to optimise (deepspeed's
 * __init__.py, 0.18). */
static bool trains_nothing(const struct python_call *c)
{
    return strcmp(python_last_part(c->function), "initialize") == 0 &&
           !c->arguments->gap && !user_script_given(c, "optimizer", "2") &&
           !user_script_given(c, "model_parameters", "3");
}

/* The last call of the part up to a line, and before all in a quotation; with none the
 * first after it. One that a reference's name is bound to comes last. */
static const struct python_call *last_of(const struct python *p,
                                         enum user_script_part part, int64_t line)
{
    const struct python_call *best = NULL, *reference = NULL;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (user_script_part_of(c) != part || (best && (c->quoted || c->line > line)))
            continue;
        if ((part == SCRIPT_MODEL && copies_weights(p, c)) || is_of_class(c, part))
            continue;
        if ((part == SCRIPT_MODEL &&
             (user_script_is_reference(c->target) || is_saved(p, c))) ||
            (part == SCRIPT_ENGINE && trains_nothing(c)))
            reference = c;
        else
            best = c;
    }
    return best ? best : reference;
}

/* The call that loads what the trainer is given, by way of those that give it back. */
static const struct python_call *loader_of(struct user_script *g,
                                           const struct value *model)
{
    const struct python_call *c = user_script_maker(g->python, model);
    for (int i = 0; c && i < CHAIN_MAX; i++) {
        enum user_script_part part = user_script_part_of(c);
        if (part == SCRIPT_MODEL)
            return c;
        if (part != SCRIPT_WRAPPED && part != SCRIPT_PREPARED &&
            part != SCRIPT_ADAPTERS)
            return NULL;
        g->parts[part] = c;
        c = user_script_maker(g->python, user_script_given(c, "model", "0"));
    }
    return NULL;
}

/* What a loop of the text's own trains is made before its optimizer; models after it are
 * loaded to look at what was saved. NULL: no optimizer, or none before it. */
static const struct python_call *optimizer_after(const struct python *p,
                                                 enum user_script_part part)
{
    bool made = false;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        made |= user_script_part_of(c) == part && !c->quoted;
        if (made && user_script_part_of(c) == SCRIPT_OPTIMIZER && !c->quoted)
            return c;
    }
    return NULL;
}

/* The call of a part that an argument is of, else the last before the trainer. */
static void choose(struct user_script *g, enum user_script_part part,
                   const struct value *v)
{
    const struct python_call *c = user_script_maker(g->python, v);
    const struct python_call *from = g->parts[SCRIPT_TRAINER];
    if (!from && part == SCRIPT_MODEL)
        from = optimizer_after(g->python, part);
    if (!g->parts[part])
        g->parts[part] = c && user_script_part_of(c) == part
                             ? c
                             : last_of(g->python, part, from ? from->line : INT64_MAX);
}

/* What a model is made of, where it is not loaded. */
static void choose_configuration(struct user_script *g)
{
    const struct python_call *model = g->parts[SCRIPT_MODEL];
    if (!model || user_script_builds(model))
        choose(g, SCRIPT_CONFIGURATION,
               model && user_script_given(model, "config", "0")
                   ? user_script_given(model, "config", "0")
                   : NULL);
}

/* A loop of the text's own; next to a trainer its calls are of something else. */
static void choose_loop(struct user_script *g)
{
    static const enum user_script_part parts[] = {
        SCRIPT_OPTIMIZER, SCRIPT_SHARDED,  SCRIPT_REPLICATED, SCRIPT_AUTOCAST,
        SCRIPT_SPREAD,    SCRIPT_ENGINE,   SCRIPT_RECOMPUTED, SCRIPT_BOOSTER,
        SCRIPT_DIFFUSION, SCRIPT_BACKWARD, SCRIPT_CLIPPED,    SCRIPT_CHUNKED,
        SCRIPT_LIGHTNING, SCRIPT_HOROVOD,  SCRIPT_HOOKED,     SCRIPT_BACKEND,
    };
    choose(g, SCRIPT_COMPILED, NULL);
    for (int i = SCRIPT_SET_TRAINING; i <= SCRIPT_SET_OPTIMIZER; i++)
        choose(g, (enum user_script_part)i, NULL);
    choose(g, SCRIPT_ATTENDS, NULL);
    choose(g, SCRIPT_PRODUCTS, NULL);
    choose(g, SCRIPT_PICTURES, NULL);
    if (g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS])
        return;
    g->parts[SCRIPT_LOADER] = user_script_loader(g->python);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        choose(g, parts[i], NULL);
}

bool user_script_is_enough(const struct python *p)
{
    for (int64_t i = 0; i < p->calls.n; i++) {
        enum user_script_part part = user_script_part_of(&p->calls.v[i]);
        if (!p->calls.v[i].quoted &&
            (part == SCRIPT_TRAINER || part == SCRIPT_BACKWARD))
            return true;
    }
    return false;
}

bool user_script_trains(const struct user_script *g)
{
    const struct python_call *const *p = g->parts;
    bool model = p[SCRIPT_MODEL] || p[SCRIPT_CONFIGURATION] || p[SCRIPT_DIFFUSION] ||
                 p[SCRIPT_PICTURES] || user_script_has_stack(g->python),
         loop = p[SCRIPT_ACCELERATOR] || p[SCRIPT_ENGINE] || p[SCRIPT_BOOSTER] ||
                p[SCRIPT_LIGHTNING] ||
                (p[SCRIPT_OPTIMIZER] &&
                 (p[SCRIPT_LOADER] || p[SCRIPT_SHARDED] || p[SCRIPT_REPLICATED]));
    return p[SCRIPT_TRAINER] || p[SCRIPT_ARGUMENTS] || (model && loop);
}

/* A class of quantised products that the text imports to replace layers by itself
 * (bitsandbytes/nn/modules.py 0.48, hqq/core/quantize.py 0.2); NULL. */
static const char *replaced_products(const struct python *p)
{
    static const char *const classes[] = { "Linear4bit", "Linear8bitLt", "Params4bit",
                                           "HQQLinear" };
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (python_name(p, classes[i]))
            return classes[i];
    return NULL;
}

/* Why it is not known how the base model is quantised; NULL: it is, or nothing asks. */
static const char *open_base(const struct user_script *g)
{
    const struct python_call *model = g->parts[SCRIPT_MODEL];
    const struct value *v = user_script_given(model, "quantization_config", "");
    bool adapters = g->parts[SCRIPT_ADAPTERS] || g->parts[SCRIPT_WRAPPED];
    int n = 0;
    if (!model && adapters && !value_get(g->words, "model_name_or_path"))
        return "the model is loaded elsewhere";
    if (!v && adapters && replaced_products(g->python))
        return "the program replaces layers by quantised ones of its own";
    if (!v || v->kind != VALUE_UNKNOWN || user_script_maker(g->python, v))
        return NULL;
    for (int64_t i = 0; i < g->python->calls.n; i++)
        n += user_script_part_of(&g->python->calls.v[i]) == SCRIPT_QUANTISATION;
    return n == 1 ? NULL : v->why;
}

/* transformers.BertModel.from_pretrained(...), of its forerunners, or of a class that is not
 * seen to be imported. */
static bool is_of_hub(const struct python_call *c)
{
    static const char *const packages[] = { "transformers.", "pytorch_transformers.",
                                            "pytorch_pretrained_bert." };
    const char *dot = strchr(c->function, '.');
    bool any = dot && !strchr(dot + 1, '.');
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
        any |= strncmp(c->function, packages[i], strlen(packages[i])) == 0;
    return any;
}

/* Where no model has a head of transformers', the one that is loaded without: the text
 * puts its own on it. Of several, which is trained is not known. */
static void choose_body(struct user_script *g)
{
    const struct python_call *first = NULL;
    const struct value *id = NULL;
    if (g->parts[SCRIPT_MODEL] || user_script_has_stack(g->python))
        return;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        if (user_script_part_of(c) != SCRIPT_BODY || c->quoted || !is_of_hub(c))
            continue;
        const struct value *v =
            user_script_given(c, "pretrained_model_name_or_path", "0");
        if (first &&
            !(v == id || (v && id && v->kind == VALUE_STRING &&
                          id->kind == VALUE_STRING && strcmp(v->text, id->text) == 0)))
            return;
        first = c;
        id = v;
    }
    g->parts[SCRIPT_MODEL] = first;
}

static void choose_all(struct user_script *g)
{
    const struct python_call *trainer = last_of(g->python, SCRIPT_TRAINER, INT64_MAX);
    g->parts[SCRIPT_TRAINER] = trainer;
    g->parts[SCRIPT_MODEL] = loader_of(g, user_script_given(trainer, "model", "0"));
    choose(g, SCRIPT_ARGUMENTS, user_script_given(trainer, "args", "1"));
    choose(g, SCRIPT_MODEL, NULL);
    choose_body(g);
    choose(g, SCRIPT_WRAPPED, NULL);
    const struct value *peft = user_script_given(trainer, "peft_config", "");
    choose(g, SCRIPT_ADAPTERS, peft ? peft : config_of(g->parts[SCRIPT_WRAPPED]));
    /* adapters that nothing is seen to be given may be none of this training */
    const struct python_call *adapters = g->parts[SCRIPT_ADAPTERS];
    if (adapters && trainer && !peft && !g->parts[SCRIPT_WRAPPED] &&
        strcmp(python_last_part(adapters->function), "LoraConfig") == 0)
        g->lost = adapters, g->parts[SCRIPT_ADAPTERS] = NULL;
    const struct value *quantised =
        user_script_given(g->parts[SCRIPT_MODEL], "quantization_config", "");
    const struct python_call *model = g->parts[SCRIPT_MODEL];
    g->loose_base = !quantised && model && model->arguments->gap;
    if ((quantised && !open_base(g)) || g->loose_base)
        choose(g, SCRIPT_QUANTISATION, quantised);
    choose(g, SCRIPT_METHOD, NULL);
    choose(g, SCRIPT_PREPARED, NULL);
    choose(g, SCRIPT_CHECKPOINTED, NULL);
    choose(g, SCRIPT_UNCHECKPOINTED, NULL);
    choose(g, SCRIPT_ACCELERATOR, NULL);
    choose(g, SCRIPT_STARTED, NULL);
    choose(g, SCRIPT_REMOTE, NULL);
    choose_configuration(g);
    choose_loop(g);
}

/* Their arguments ------------------------------------------------------------------ */

static void put_part(struct user_script *g, struct arena *arena,
                     enum user_script_part part)
{
    const struct python_call *c = g->parts[part];
    bool own = part == SCRIPT_LOADER && c && user_script_is_own_loader(c);
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
        user_script_maker(g->python, config ? config : config_of(wrapped));
    if ((made && user_script_part_of(made) == SCRIPT_ADAPTERS) ||
        (method && method->unsure && peft_makes_lora(g->python)))
        method = g->parts[SCRIPT_METHOD] = NULL;
    if (method && (wrapped || (config && config->kind != VALUE_NONE)))
        user_script_put(g, arena, "peft_type", method->line,
                        value_new_string(arena, python_last_part(method->function),
                                         method->line, 0),
                        false);
    else if (adapters)
        user_script_put_true(g, arena, "use_peft", adapters->line, false);
    else if (wrapped)
        put_unknown(g, arena, config_of(wrapped), wrapped->line);
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
    const char *why = open_base(g);
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

/* gradient_checkpointing_enable(), apply_activation_checkpointing(...): asked for where a
 * choice of the user's that is not known decides. */
static void put_recomputed(struct user_script *g, struct arena *arena,
                           const struct python_call *on)
{
    static const char key[] = "gradient_checkpointing";
    if (on && user_script_is_chosen(on))
        user_script_put(g, arena, key, on->line,
                        value_new_unknown(arena, on->line, 0,
                                          "%.80s(...) is called if %.100s, which is "
                                          "not known",
                                          on->function, on->condition),
                        true);
    else if (on)
        user_script_put_true(g, arena, key, on->line, true);
}

/* What calls do that no argument says. */
static void put_switches(struct user_script *g, struct arena *arena)
{
    const struct python_call *on = g->parts[SCRIPT_CHECKPOINTED],
                             *off = g->parts[SCRIPT_UNCHECKPOINTED],
                             *prepared = g->parts[SCRIPT_PREPARED];
    const struct value *mixed =
        user_script_given(g->parts[SCRIPT_ACCELERATOR], "mixed_precision", "");
    on = on && off && !off->unsure && off->line > on->line ? NULL : on;
    put_recomputed(g, arena, on ? on : g->parts[SCRIPT_RECOMPUTED]);
    user_script_put_kernels(g, arena);
    user_script_put_loader(g, arena);
    user_script_put_optimizer(g, arena);
    user_script_put_lightning(g, arena);
    put_steps(g, arena);
    /* peft/utils/other.py, prepare_model_for_kbit_training: True unless given */
    if (prepared)
        user_script_put_true(g, arena, "use_gradient_checkpointing", prepared->line,
                             false);
    put_adapters(g, arena);
    if (mixed && mixed->kind == VALUE_STRING &&
        (strcmp(mixed->text, "bf16") == 0 || strcmp(mixed->text, "fp16") == 0))
        user_script_put_true(g, arena, mixed->text, mixed->line, true);
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
    choose_all(g);
    g->n_trainers = count_trainers(p);
    const struct value *model =
        user_script_given(g->parts[SCRIPT_TRAINER], "model", "0");
    if (model && model->kind == VALUE_STRING)
        user_script_put(g, arena, "model_name_or_path", model->line,
                        (struct value *)(uintptr_t)model, false);
    put_loose_base(g, arena);
    put_setters(g, arena);
    for (int part = 0; part < SCRIPT_PARTS; part++)
        put_part(g, arena, (enum user_script_part)part);
    user_script_name_whisper(g, arena);
    put_inner(g, arena, "model_init_kwargs");
    put_open_base(g, arena);
    put_switches(g, arena);
}
