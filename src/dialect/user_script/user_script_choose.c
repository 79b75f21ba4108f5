/* Which of a text's calls make its training: where there are several, the last, the one
 * that the trainer is given, or the one that is trained. */
#include "dialect/user_script/user_script.h"

#include <string.h>

enum { CHAIN_MAX = 8 };

const struct python_call *user_script_maker(const struct python *p,
                                            const struct value *v)
{
    for (int64_t i = p->calls.n; v && i-- > 0;)
        if (p->calls.v[i].result == v &&
            strcmp(python_last_part(p->calls.v[i].function), "deepcopy") != 0)
            return &p->calls.v[i];
    return NULL;
}

/* What adapters are given: get_peft_model(model, config), model.add_adapter(config) of
 * transformers' models, model.add_adapter(name, config) of PEFT's. */
const struct value *user_script_config_of(const struct python_call *wrapped)
{
    bool added =
        wrapped && strcmp(python_last_part(wrapped->function), "add_adapter") == 0;
    const struct value *v =
        added ? user_script_given(wrapped, "adapter_config", "0") : NULL;
    return v && v->kind != VALUE_STRING
               ? v
               : user_script_given(wrapped, "peft_config", "1");
}

/* What a call names its adapters; "default" without. */
static const char *adapter_name(const struct python_call *c)
{
    static const char *const places[] = { "0", "1", "2" };
    const struct value *v = user_script_given(c, "adapter_name", "");
    for (size_t i = 0; !v && i < sizeof(places) / sizeof(places[0]); i++) {
        v = user_script_given(c, places[i], "");
        v = v && v->kind == VALUE_STRING ? v : NULL;
    }
    return !v ? "default" : v->kind == VALUE_STRING ? v->text : "";
}

const struct python_call *user_script_adapters_set(const struct user_script *g)
{
    const struct python_call *until = g->parts[SCRIPT_TRAINER], *set = NULL, *of = NULL;
    const struct python *p = g->python;
    for (int64_t i = 0; i < p->calls.n && &p->calls.v[i] != until; i++)
        if (strcmp(python_last_part(p->calls.v[i].function), "set_adapter") == 0 &&
            !p->calls.v[i].quoted)
            set = &p->calls.v[i];
    const char *name = set && !set->unsure ? adapter_name(set) : "";
    for (int64_t i = 0; *name && i < p->calls.n; i++)
        if (user_script_part_of(&p->calls.v[i]) == SCRIPT_WRAPPED &&
            strcmp(adapter_name(&p->calls.v[i]), name) == 0)
            of = &p->calls.v[i];
    return of;
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

/* autocast(enabled=False) around what is to stay in 32 bits; another is the loop's. */
static bool casts_nothing(const struct python_call *c)
{
    const struct value *on = user_script_given(c, "enabled", "2"),
                       *first = user_script_given(c, "device_type", "0");
    return (on && on->kind == VALUE_BOOL && launch_is_off(on)) ||
           (!on && first && first->kind == VALUE_BOOL && launch_is_off(first));
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
        if (best && c->uncalled && !best->uncalled && best->within)
            continue; /* of another function, which nothing calls */
        if ((part == SCRIPT_MODEL &&
             (user_script_is_reference(c->target) || is_saved(p, c))) ||
            (part == SCRIPT_ENGINE && trains_nothing(c)) ||
            (part == SCRIPT_AUTOCAST && casts_nothing(c)))
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

/* model.fit() of Keras: models after it are loaded to look at what was saved. */
static const struct python_call *fit_of(const struct python *p)
{
    for (int64_t i = 0; i < p->calls.n; i++)
        if (strcmp(p->calls.v[i].function, "model.fit") == 0 && !p->calls.v[i].quoted)
            return &p->calls.v[i];
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
    if (!from && part == SCRIPT_MODEL)
        from = fit_of(g->python);
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
        SCRIPT_FITTED,
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
    const struct python_call *shards = g->parts[SCRIPT_SHARDED],
                             *replicates = g->parts[SCRIPT_REPLICATED];
    if (shards && replicates && shards->uncalled && !replicates->uncalled)
        g->parts[SCRIPT_SHARDED] = NULL; /* in a function that nothing calls */
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
    return p[SCRIPT_TRAINER] || p[SCRIPT_ARGUMENTS] || (model && loop) ||
           user_script_is_keras(g);
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

/* Mxfp4Config(dequantize=True) makes weights of bf16 of gpt-oss' (transformers 4.55,
 * utils/quantization_config.py); others stay, and nothing trains them. */
static const char *packed_base(const struct python_call *c)
{
    const struct value *v = user_script_given(c, "dequantize", "1");
    return v && v->kind == VALUE_UNKNOWN ? v->why
           : v && launch_true(v)         ? NULL
                                         : "Mxfp4Config leaves weights in MXFP4";
}

/* Why it is not known how the base model is quantised; NULL: it is, or nothing asks. */
const char *user_script_open_base(const struct user_script *g)
{
    const struct python_call *model = g->parts[SCRIPT_MODEL];
    const struct value *v = user_script_given(model, "quantization_config", "");
    bool adapters = g->parts[SCRIPT_ADAPTERS] || g->parts[SCRIPT_WRAPPED];
    int n = 0;
    if (!model && adapters && !value_get(g->words, "model_name_or_path"))
        return "the model is loaded elsewhere";
    if (!v && adapters && replaced_products(g->python))
        return "the program replaces layers by quantised ones of its own";
    const struct python_call *maker = user_script_maker(g->python, v);
    if (maker && strcmp(python_last_part(maker->function), "Mxfp4Config") == 0)
        return packed_base(maker);
    if (!v || v->kind != VALUE_UNKNOWN || maker)
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

/* model.merge_and_unload(), model.unload() of the model that was given adapters, before it
 * is trained: what is trained has none of them (peft/tuners/lora/model.py, 0.17). NULL:
 * there is no such call. */
static const struct python_call *merge_of(const struct user_script *g)
{
    const struct python_call *with = g->parts[SCRIPT_WRAPPED],
                             *until = g->parts[SCRIPT_TRAINER];
    const char *model = with && with->target ? with->target : "";
    size_t n = strlen(model);
    until = until ? until : last_of(g->python, SCRIPT_BACKWARD, INT64_MAX);
    for (const struct python_call *c = with; n && c < until; c++)
        if (user_script_part_of(c) == SCRIPT_MERGED && !c->quoted &&
            strncmp(c->function, model, n) == 0 && c->function[n] == '.')
            return c;
    return NULL;
}

/* The adapters that the trainer, or the model before it, is given. */
static void choose_adapters(struct user_script *g, const struct python_call *trainer)
{
    const struct value *peft = user_script_given(trainer, "peft_config", "");
    choose(g, SCRIPT_WRAPPED, NULL);
    const struct python_call *set = user_script_adapters_set(g);
    if (set && !peft)
        g->parts[SCRIPT_WRAPPED] = set;
    g->merged = merge_of(g);
    if (g->merged && !g->merged->unsure)
        g->parts[SCRIPT_WRAPPED] = NULL;
    bool none = peft && peft->kind == VALUE_NONE && !g->parts[SCRIPT_WRAPPED];
    if ((!g->merged || g->merged->unsure || peft) && !none)
        choose(g, SCRIPT_ADAPTERS,
               peft ? peft : user_script_config_of(g->parts[SCRIPT_WRAPPED]));
    /* adapters that nothing is seen to be given may be none of this training */
    const struct python_call *adapters = g->parts[SCRIPT_ADAPTERS];
    if (adapters && trainer && !peft && !g->parts[SCRIPT_WRAPPED] &&
        strcmp(python_last_part(adapters->function), "LoraConfig") == 0)
        g->lost = adapters, g->parts[SCRIPT_ADAPTERS] = NULL;
}

void user_script_choose(struct user_script *g)
{
    const struct python_call *trainer = last_of(g->python, SCRIPT_TRAINER, INT64_MAX);
    g->parts[SCRIPT_TRAINER] = trainer;
    g->parts[SCRIPT_MODEL] = loader_of(g, user_script_given(trainer, "model", "0"));
    choose(g, SCRIPT_ARGUMENTS, user_script_given(trainer, "args", "1"));
    choose(g, SCRIPT_MODEL, NULL);
    choose_body(g);
    choose_adapters(g, trainer);
    const struct value *quantised =
        user_script_given(g->parts[SCRIPT_MODEL], "quantization_config", "");
    const struct python_call *model = g->parts[SCRIPT_MODEL];
    g->loose_base = !quantised && model && model->arguments->gap;
    if ((quantised && !user_script_open_base(g)) || g->loose_base)
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
