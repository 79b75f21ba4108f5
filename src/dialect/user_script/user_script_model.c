/* A model that a text makes of a configuration: GPT2LMHeadModel(GPT2Config(...)),
 * AutoModelForCausalLM.from_config(AutoConfig.from_pretrained("gpt2", n_layer=24)).
 *
 * transformers 4.57, modeling_utils.py and models/auto; what a class has for arguments
 * that are left out is data (models/launch/names.json). */
#include "base/names.h"
#include "config/datadir.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"
#include "model/hub.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
const char *const user_script_configurations[] = {
    "GPT2Config", "LlamaConfig", "MistralConfig", "MixtralConfig", "Qwen2Config", "Qwen3Config", "GemmaConfig", "PhiConfig",
    "GPTNeoXConfig", "GPTJConfig", "OPTConfig", "BloomConfig", "BertConfig", "RobertaConfig", "T5Config", "ViTConfig",
    "FalconConfig", "Phi3Config", "Gemma2Config", "GPTNeoConfig", "GPTBigCodeConfig", "Qwen3MoeConfig",
    "DistilBertConfig", "ElectraConfig", "XLMRobertaConfig", "CamembertConfig", "ModernBertConfig", "BartConfig", NULL,
};
/* What no size or operator of a model depends on. */
static const char *const idle[] = {
    "*_token_id", "use_cache", "torch_dtype", "dtype", "*initializer_range", "*2label", "label2*", "num_labels", "output_*", "return_*",
    "trust_remote_code", "cache_dir", "revision", "token", "use_auth_token", "attn_implementation", "_attn_implementation", "summary_*", "gradient_checkpointing",
    "finetuning_task", "problem_type", "name_or_path", "_name_or_path", "architectures", "n_ctx", "layer_norm_*", "rms_norm_eps", "rope_theta", "bos", "eos", NULL,
};
/* clang-format on */

static bool is_idle(const char *key)
{
    if ((key[0] >= '0' && key[0] <= '9') || key[0] == '_')
        return true;
    for (const char *const *w = idle; *w; w++) {
        size_t n = strlen(*w), m = strlen(key);
        bool tail = (*w)[0] == '*', head = (*w)[n - 1] == '*';
        if (tail   ? m >= n - 1 && strcmp(key + m - (n - 1), *w + 1) == 0
            : head ? strncmp(key, *w, n - 1) == 0
                   : strcmp(key, *w) == 0)
            return true;
    }
    return false;
}

bool user_script_builds(const struct python_call *c)
{
    static const char *const loaders[] = { "from_pretrained", "get_peft_model",
                                           "load_model", NULL };
    return c && !names_listed(loaders, python_last_part(c->function));
}

json_t *user_script_configuration(struct launch_context *t, const char *text)
{
    struct hub_id found;
    struct cfg config = { 0 };
    const char *name = trainer_model_named(t, text);
    bool known = name && hub_find(&found, t->l->loader, name);
    if (known && !found.shipped)
        config = hub_load(t->l->loader, name, (struct cfg) { 0 });
    else if (name)
        config = datadir_load(t->l->loader, "models", known ? found.shipped : name,
                              (struct cfg) { 0 });
    return config.json ? json_deep_copy(config.json) : NULL;
}

/* The configuration of an id or of a class; NULL: it is not known. */
static json_t *base_of(struct launch_context *t, const struct python_call *c,
                       const struct value_item *id)
{
    const char *text = id && id->value->kind == VALUE_STRING ? id->value->text : "";
    struct cfg config =
        cfg_get(launch_names(t, "configurations"), user_script_class(t->arena, c));
    const char *type = json_string_value(json_object_get(config.json, "model_type"));
    int64_t line = id ? (id->value->line < 0 ? -id->value->line : id->value->line) : 0;
    json_t *own = *text ? trainer_config_next_to(t, text, type, line) : NULL;
    if (*text)
        return own ? own : user_script_configuration(t, text);
    return config.json ? json_deep_copy(config.json) : NULL;
}

const char *user_script_own_member(struct launch_context *t, const json_t *config,
                                   const char *key)
{
    const char *type = json_string_value(json_object_get(config, "model_type"));
    struct cfg names =
        type ? cfg_get(launch_names(t, "attributes"), type) : (struct cfg) { 0 };
    const char *own = json_string_value(json_object_get(names.json, key));
    return own ? own : key;
}

/* A member of the configuration, as it is called or assigned later. */
static void put_member(struct launch_context *t, json_t *config, const char *key,
                       const struct value *v, int64_t line)
{
    key = user_script_own_member(t, config, key);
    const char *pointer = launch_pointer(t, "/model", key);
    if (is_idle(key))
        return;
    /* which no size or kernel depends on */
    bool same = strstr(key, "drop") || strcmp(key, "rope_scaling") == 0;
    if (v->kind == VALUE_UNKNOWN && same) {
        launch_note(t->l, line, DIAG_ASSUMED, "%.60s: %.100s; the model's own is taken",
                    key, v->why ? v->why : "it is not known");
        return;
    }
    if (v->kind == VALUE_UNKNOWN) {
        json_object_del(config, key);
        launch_add_unresolved(t, pointer, line, "%s: %s, and nothing is run", key,
                              v->why ? v->why : "it is not known");
        return;
    }
    json_t *value = launch_json(t, v, pointer);
    if (value)
        json_object_set_new(config, key, value);
}

static void put_members(struct launch_context *t, const struct user_script *g,
                        const struct python_call *c, json_t *config)
{
    size_t n = c->target ? strlen(c->target) : 0;
    for (int32_t i = 0; i < c->arguments->n; i++)
        put_member(t, config, c->arguments->items[i].key, c->arguments->items[i].value,
                   g->line ? g->line : c->line);
    for (int64_t i = 0; n && i < g->python->names.n; i++) { /* config.n_layer = 24 */
        const struct python_name *name = &g->python->names.v[i];
        if (strncmp(name->name, c->target, n) == 0 && name->name[n] == '.')
            put_member(t, config, name->name + n + 1, name->value,
                       g->line ? g->line : c->line);
    }
}

const struct python_call *user_script_configured(const struct user_script *g)
{
    const struct python_call *model = g->parts[SCRIPT_MODEL];
    const struct value *v = model ? value_member(model->arguments, "config") : NULL;
    for (int64_t i = 0; v && i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        if (c->result == v && user_script_part_of(c) == SCRIPT_CONFIGURATION)
            return c;
    }
    return NULL;
}

/* from_pretrained(name, config=config): the sizes that the text gives the configuration
 * are the model's, not those of its name. */
static void take_configured(struct launch_context *t, const struct user_script *g,
                            const struct python_call *c)
{
    const struct value_item *id = value_get(c->arguments, "0"),
                            *name = value_get(g->words, "model_name_or_path");
    int64_t line = g->line ? g->line : c->line;
    struct value v = { .kind = VALUE_STRING, .line = line };
    const struct value_item from = { "config", line, &v };
    json_t *base = base_of(t, c, id), *config = json_deep_copy(base);
    if (config)
        put_members(t, g, c, config);
    if (config && !json_equal(base, config)) {
        json_object_del(config, "comment");
        launch_set(t, "/model", json_incref(config), &from);
        if (name)
            value_remove(g->words, (int32_t)(name - g->words->items));
    }
    json_decref(base);
    json_decref(config);
}

void user_script_take_model(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *model = g->parts[SCRIPT_MODEL],
                             *c = g->parts[SCRIPT_CONFIGURATION];
    const struct python_call *configured = user_script_configured(g);
    if (configured && !launch_has(t, "/model") && !user_script_builds(model))
        take_configured(t, g, configured);
    if (launch_has(t, "/model") || (model && !user_script_builds(model)) || !c)
        return;
    const struct value_item *id = value_get(c->arguments, "0");
    id = id ? id : value_get(c->arguments, "pretrained_model_name_or_path");
    id = id ? id : value_get(c->arguments, "json_file");
    int64_t line = g->line ? g->line : c->line;
    struct value v = { .kind = VALUE_STRING, .line = line };
    const struct value_item from = { python_last_part(c->function), line, &v };
    bool loads = strncmp(from.key, "from_", 5) == 0;
    bool named = id && id->value->kind == VALUE_STRING;
    json_t *config = loads && !named ? NULL : base_of(t, c, loads ? id : NULL);
    if (!config && loads && named) {
        const struct dialect_option row = { .name = from.key, .pointer = "/model" };
        v.text = id->value->text; /* says why it is not known */
        trainer_take_model(t, &row, &from);
        return;
    }
    if (!config) {
        launch_add_unresolved(t, "/model", line,
                              "%.60s(...): which configuration it is, is not known%s%s",
                              from.key, id && id->value->why ? ": " : "",
                              id && id->value->why ? id->value->why : "");
        return;
    }
    if (c->arguments->gap) {
        json_decref(config);
        launch_add_unresolved(
            t, "/model", line,
            "%.60s(...) is given more than is known without running it", from.key);
        return;
    }
    put_members(t, g, c, config);
    json_object_del(config, "comment");
    launch_set(t, "/model", config, &from);
}

/* What says which model a call makes: a name, or a configuration's values; NULL. */
static const struct value *identity_of(const struct user_script *g,
                                       const struct python_call *c)
{
    const struct value *v = user_script_given(c, "pretrained_model_name_or_path", "0");
    if (!user_script_builds(c))
        return v && v->kind == VALUE_STRING ? v : NULL;
    const struct python_call *of =
        user_script_maker(g->python, user_script_given(c, "config", "0"));
    return of && !of->arguments->gap ? of->arguments : NULL;
}

static bool differs(const struct value *a, const struct value *b)
{
    bool text = a->kind == VALUE_STRING;
    bool other = a->kind != b->kind || a->n != b->n ||
                 (text && strcmp(a->text, b->text) != 0) ||
                 (a->kind == VALUE_INT && a->integer != b->integer);
    for (int32_t i = 0; !other && a->kind == VALUE_DICT && i < a->n; i++)
        other = strcmp(a->items[i].key, b->items[i].key) != 0 ||
                differs(a->items[i].value, b->items[i].value);
    return other;
}

/* Whether both calls give what is trained, by what they are assigned to: model, model2. */
static bool names_one(const struct python_call *a, const struct python_call *b)
{
    static const char usual[] = "model";
    size_t n = sizeof(usual) - 1;
    return a->target && b->target &&
           (strcmp(a->target, b->target) == 0 ||
            (strncmp(a->target, usual, n) == 0 && strncmp(b->target, usual, n) == 0));
}

/* Whether another call makes another model, in a branch that may run instead. */
static bool makes_other(const struct user_script *g, const struct python_call *c,
                        const struct value *own, const struct python_call *other)
{
    if (other == c || other->line == c->line || !other->unsure || other->quoted ||
        user_script_part_of(other) != SCRIPT_MODEL || !names_one(c, other))
        return false;
    bool within = other->within == c->within ||
                  (other->within && c->within && strcmp(other->within, c->within) == 0);
    const struct value *id = identity_of(g, other);
    if (within && other->line > c->line)
        return false; /* loaded again */
    return id ? differs(own, id) : !within && user_script_builds(other);
}

/* Whether a call in a function gives what that gives back, by a name or without. */
static bool is_given_back(const struct user_script *g, const struct python_call *c)
{
    char text[80];
    snprintf(text, sizeof(text), "return %.60s\n", c->target ? c->target : "");
    return !c->target || (g->python->text && strstr(g->python->text, text));
}

/* Two functions that each give back a model, and which of them is called is not seen: they
 * are chosen by name, of a dictionary or globals(). */
static bool is_of_registry(const struct user_script *g, const struct python_call *c,
                           const struct value *own, const struct python_call *other)
{
    if (!c->uncalled || !other->uncalled || !is_given_back(g, c) ||
        !is_given_back(g, other) || other->quoted ||
        strcmp(c->within, other->within) == 0 ||
        user_script_part_of(other) != SCRIPT_MODEL)
        return false;
    const struct value *id = identity_of(g, other);
    return (id && differs(own, id)) || strcmp(c->function, other->function) != 0;
}

void user_script_ask_models(struct launch_context *t, const struct user_script *g)
{
    static const char at[] = "/model";
    const struct python_call *c = g->parts[SCRIPT_MODEL];
    const struct value *own = c ? identity_of(g, c) : NULL;
    if (!own || launch_is_unresolved(t, at))
        return;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *other = &g->python->calls.v[i];
        bool chosen = is_of_registry(g, c, own, other);
        if (!chosen && (!c->unsure || !makes_other(g, c, own, other)))
            continue;
        launch_forget(t, at);
        json_object_del(t->tree, at + 1);
        launch_add_unresolved(t, at, g->line ? g->line : c->line,
                              "line %lld makes one model and line %lld another, %s",
                              (long long)other->line, (long long)c->line,
                              chosen ? "and which is called is not known"
                                     : "under conditions that are not known");
        return;
    }
}
