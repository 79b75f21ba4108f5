/* torchtitan's registries in Python (torchtitan/models/llama3/config_registry.py and the
 * like, of 2026): functions that give a Trainer.Config by name. The one that is asked for
 * is read with what it calls, and its objects become the keys that the tables in TOML
 * had. */
#include "base/file.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/source/files.h"
#include "dialect/torchtitan/torchtitan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTRY_MAX_B = 1 << 20, NAMES_SHOWN = 12 };

const char *const torchtitan_calls[] = { "model_registry", NULL };

static const char *const objects[] = {
    "torchtitan.*.[A-Z]*",
    "*model_registry",
    "*default_[a-z]*",
    NULL,
};

/* Text ------------------------------------------------------------------------------ */

static const char *read_file(struct arena *arena, const char *path)
{
    struct err err = { 0 };
    size_t len;
    char *read = path ? file_read(path, REGISTRY_MAX_B, &len, &err) : NULL;
    const char *text = read && strlen(read) == len ? arena_strdup(arena, read) : NULL;
    free(read);
    return text;
}

/* "def llama3_8b() -> Trainer.Config:" at the start of a line: its name; NULL. */
static const char *defined_at(struct arena *arena, const char *s)
{
    if (strncmp(s, "def ", 4) != 0)
        return NULL;
    s += 4;
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    const char *end = strchr(s, '\n'), *arrow = strstr(s, "->");
    bool gives = n > 0 && n < 100 && *s != '_' && strncmp(s + n, "()", 2) == 0 &&
                 arrow && (!end || arrow < end);
    const char *config = gives ? strstr(arrow, "Config") : NULL;
    return config && (!end || config < end) ? arena_strndup(arena, s, n) : NULL;
}

struct defined {
    int n;           /* so many give a configuration */
    bool has;        /* one of them has the name that was asked for */
    const char *one; /* the first */
    struct strbuf names;
};

static void find_defined(struct arena *arena, const char *text, const char *name,
                         struct defined *out)
{
    *out = (struct defined) { .n = 0 };
    strbuf_init(&out->names);
    for (const char *s = text; s; s = strchr(s, '\n')) {
        s += *s == '\n';
        const char *is = defined_at(arena, s);
        if (!is)
            continue;
        out->has |= name && strcmp(is, name) == 0;
        out->one = out->one ? out->one : is;
        if (out->n++ < NAMES_SHOWN)
            strbuf_printf(&out->names, "%s%s", out->n > 1 ? ", " : "", is);
    }
    if (out->n > NAMES_SHOWN)
        strbuf_printf(&out->names, " and %d more", out->n - NAMES_SHOWN);
}

/* Objects as keys ------------------------------------------------------------------- */

static bool is_of(const struct value *v, const char *class)
{
    return v && v->text && strstr(v->text, class);
}

static void put(struct launch_context *t, struct value *out, const char *key,
                const struct value_item *it)
{
    value_add(t->arena, out, key, it->line, it->value);
}

static void put_word(struct launch_context *t, struct value *out, const char *key,
                     const char *word, int64_t line)
{
    value_add(t->arena, out, key, line, value_new_string(t->arena, word, line, 0));
}

/* Converters by their classes, in the words of v0.2. */
static void take_converters(struct launch_context *t, struct value *out,
                            const struct value_item *it, bool of_model)
{
    static const char *const words[][2] = {
        { "Float8LinearConverter", "quantize.linear.float8" },
        { "MXFP8LinearConverter", "quantize.linear.mx" },
        { "MXLinearConverter", "quantize.linear.mx" },
        { "NVFP4LinearConverter", "nvfp4" },
        { "Float8Grouped", "quantize.grouped_mm.float8" },
        { "MXFP8Grouped", "quantize.grouped_mm.mx" },
    };
    struct value *list = value_new(t->arena, VALUE_LIST, it->line, 0);
    for (int32_t i = 0; i < it->value->n; i++) {
        const struct value *v = it->value->items[i].value;
        const char *word = "unknown";
        for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
            word = is_of(v, words[k][0]) ? words[k][1] : word;
        if (strcmp(word, "unknown") == 0)
            launch_note(t->l, v->line, DIAG_NOT_SIMULATED, "converters: %.60s",
                        v->text ? v->text : "one that is not known");
        else
            value_add(t->arena, list, NULL, v->line,
                      value_new_string(t->arena, word, v->line, 0));
        const struct value_item *recipe = value_get(v, "recipe_name");
        if (is_of(v, "Float8LinearConverter") && recipe)
            put(t, out, "quantize.linear.float8.recipe_name", recipe);
        else if (is_of(v, "Float8LinearConverter") && of_model &&
                 !value_get(v, "enable_fsdp_float8_all_gather"))
            put_word(t, out, "quantize.linear.float8.recipe_name", "rowwise", v->line);
    }
    if (list->n > 0)
        value_add(t->arena, out, "model.converters", it->line, list);
}

/* model_registry("8B", attn_backend="flex", converters=[...]). */
static void take_model(struct launch_context *t, struct value *out,
                       const struct value_item *it, const char *module)
{
    const struct value *v = it->value;
    const struct value_item *flavor = value_get(v, "0"),
                            *converters = value_get(v, "converters");
    flavor = flavor ? flavor : value_get(v, "flavor");
    if (!is_of(v, "model_registry") || !flavor || flavor->value->kind != VALUE_STRING) {
        launch_add_unresolved(t, "/model", it->line,
                              "model_spec: it is no flavor of model_registry() that is "
                              "known; its config.json would do");
        return;
    }
    put_word(t, out, "model.name", module, flavor->line);
    put(t, out, "model.flavor", flavor);
    if (converters && converters->value->kind == VALUE_LIST)
        take_converters(t, out, converters, true);
    else if (converters)
        launch_add_unresolved(t, "/training/precision", converters->line,
                              "model_spec: its converters are not known");
    for (int32_t i = 0; i < v->n; i++)
        if (!isdigit((unsigned char)*v->items[i].key) && &v->items[i] != converters &&
            &v->items[i] != flavor)
            put(t, out, arena_printf(t->arena, "model.%.60s", v->items[i].key),
                &v->items[i]);
}

/* SelectiveAC and FullAC of mid-2026; before them ActivationCheckpointConfig, whose
 * "selective" is every second layer while it has selective_ac_option, and then by
 * operators (torchtitan/config/configs.py): that file next to the registry says which. */
static void take_checkpointing(struct launch_context *t, struct value *out,
                               const struct value_item *it, const char *configs)
{
    static const char mode[] = "activation_checkpoint.mode",
                      option[] = "activation_checkpoint.selective_ac_option",
                      at[] = "/training/activation_checkpointing";
    const struct value *v = it->value;
    bool old = is_of(v, "ActivationCheckpointConfig");
    bool selective = is_of(v, "SelectiveAC");
    const struct value_item *given = value_get(v, "mode"),
                            *how = value_get(v, "selective_ac_option");
    if (v->kind == VALUE_NONE || is_of(v, "FullAC"))
        put_word(t, out, mode, v->kind == VALUE_NONE ? "none" : "full", it->line);
    else if (is_of(v, "MemoryBudgetAC"))
        put_word(t, out, mode, "memory_budget", it->line);
    else if (!old && !selective)
        launch_add_unresolved(t, at, it->line,
                              "activation_checkpoint: it is no "
                              "configuration that is known");
    for (int32_t i = 0; (old || selective) && i < v->n; i++)
        put(t, out,
            arena_printf(t->arena, "activation_checkpoint.%.60s", v->items[i].key),
            &v->items[i]);
    selective |= old && (!given || (given->value->kind == VALUE_STRING &&
                                    strcmp(given->value->text, "selective") == 0));
    if (!selective || how)
        return;
    if (!given)
        put_word(t, out, mode, "selective", it->line);
    if (!old || (configs && !strstr(configs, "selective_ac_option")))
        put_word(t, out, option, "op", it->line);
    else if (!configs)
        launch_add_unresolved(t, at, it->line,
                              "activation_checkpoint: versions differ in what "
                              "\"selective\" is (give \"operators\", or {\"every\": 2} "
                              "of those with selective_ac_option)");
}

/* Sections whose members are keys as they were in TOML. */
static void take_section(struct launch_context *t, struct value *out,
                         const struct value_item *it)
{
    static const char *const asked[][2] = {
        { "training", "/training/micro_batch_size" },
        { "parallelism", "/parallelism/tensor" },
        { "compile", "/training/framework" },
        { "optimizer", "/training/optimizer" },
    };
    const char *at = NULL;
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
        at = strcmp(asked[i][0], it->key) == 0 ? asked[i][1] : at;
    if (!at)
        return;
    bool adam = is_of(it->value, "default_adam");
    if (it->value->kind != VALUE_DICT || it->value->gap ||
        (is_of(it->value, "default_") && !adam))
        launch_add_unresolved(t, at, it->line, "%s: what it has is not known", it->key);
    for (int32_t i = 0; it->value->kind == VALUE_DICT && i < it->value->n; i++)
        if (!isdigit((unsigned char)*it->value->items[i].key))
            put(t, out,
                arena_printf(t->arena, "%s.%.60s", it->key, it->value->items[i].key),
                &it->value->items[i]);
}

static struct value *keys_of(struct launch_context *t, const struct value *config,
                             const char *module, const char *configs)
{
    struct value *out = value_new(t->arena, VALUE_DICT, config->line, 0);
    const struct value_item *ac = value_get(config, "activation_checkpoint"),
                            *model = value_get(config, "model_spec"),
                            *by = value_get(config, "model_converters");
    struct value none = { .kind = VALUE_DICT, .line = config->line };
    none.text = configs && !strstr(configs, "class ActivationCheckpointConfig")
                    ? "SelectiveAC"
                    : "ActivationCheckpointConfig";
    const struct value_item assumed = { "activation_checkpoint", config->line, &none },
                            nothing = { "model_spec", config->line, &none };
    take_model(t, out, model ? model : &nothing, module);
    take_checkpointing(t, out, ac ? ac : &assumed, configs);
    const struct value_item *list = by ? value_get(by->value, "converters") : NULL;
    if (list && list->value->kind == VALUE_LIST)
        take_converters(t, out, list, false);
    else if (by)
        launch_add_unresolved(t, "/training/precision", by->line,
                              "model_converters: they are not known");
    for (int32_t i = 0; i < config->n; i++)
        take_section(t, out, &config->items[i]);
    return out;
}

/* The function ---------------------------------------------------------------------- */

/* "torchtitan/models/llama3/config_registry.py": llama3. */
static const char *module_of(struct arena *arena, const char *path)
{
    const char *end = strrchr(path, '/'), *s = end;
    while (s && s > path && s[-1] != '/')
        s--;
    return end && end > s ? arena_strndup(arena, s, (size_t)(end - s)) : "llama3";
}

/* Trainers of rollouts, of other models and of other compilers have configurations of
 * their own. */
static bool is_trainer(const struct value *v)
{
    static const char *const others[] = { "RLTrainer", "PolicyTrainer", "GraphTrainer",
                                          "FluxTrainer" };
    bool is = v && v->kind == VALUE_DICT && !v->gap && is_of(v, "Config");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        is &= !is_of(v, others[i]);
    return is;
}

/* What the function gives: the text is read with a call of it at the end. */
static struct value *evaluate(struct launch_context *t, const char *text,
                              const char *path, const char *name, const char *module)
{
    static const char result[] = "registry_result";
    struct python_wanted wanted = { .calls = (const char *const[]) { NULL },
                                    .same = (const char *const[]) { NULL },
                                    .objects = objects };
    const char *called =
        arena_printf(t->arena, "%s\n\n%s = %s()\n", text, result, name);
    struct python p;
    struct err err = { 0 };
    struct value *out = NULL;
    const char *configs = read_file(
        t->arena, source_files_next_to(t->arena, path, "torchtitan/config/configs.py"));
    if (python_read(&p, t->arena, called, strlen(called), &wanted, &err) == 0) {
        const struct value *v = python_name(&p, result);
        if (is_trainer(v))
            out = keys_of(t, v, module, configs);
    }
    python_release(&p);
    return out;
}

/* Sections for options to change; lines of the registry are of elsewhere here. */
static struct value *moved(struct launch_context *t, const struct value *v,
                           int64_t line)
{
    int64_t budget = 10000;
    struct value *copy = v ? value_copy(t->arena, v, &budget) : NULL;
    struct value *root = value_new(t->arena, VALUE_DICT, line, 0);
    for (int32_t i = 0; copy && i < copy->n; i++) {
        value_move_to(copy->items[i].value, line);
        launch_override_value(t->arena, root, copy->items[i].key, copy->items[i].value);
    }
    return copy ? root : NULL;
}

/* "torchtitan.experiments.x", "x" or "graph_trainer.x": next to the script. */
static const char *registry_path(struct launch_context *t, const char *module)
{
    static const char *const folders[] = {
        "torchtitan/models/%s/config_registry.py",
        "torchtitan/experiments/%s/config_registry.py", "%s/config_registry.py", "%s.py"
    };
    char *name = arena_strdup(t->arena, module);
    for (char *s = name; *s; s++)
        *s = *s == '.' ? '/' : *s;
    const char *path = NULL;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !path; i++) {
        const char *percent = strstr(folders[i], "%s");
        path = source_files_next_to(t->arena, t->l->where,
                                    arena_printf(t->arena, "%.*s%s%s",
                                                 (int)(percent - folders[i]),
                                                 folders[i], name, percent + 2));
    }
    return path;
}

struct value *torchtitan_registry(struct launch_context *t, const char *module,
                                  const char *name, int64_t line)
{
    const char *path = registry_path(t, module), *text = read_file(t->arena, path);
    struct value *v =
        text ? moved(t, evaluate(t, text, path, name, python_last_part(module)), line)
             : NULL;
    if (v)
        launch_note(t->l, line, DIAG_ASSUMED, "%.80s is read: %.80s() of it", path,
                    name);
    return v;
}

/* A registry by itself -------------------------------------------------------------- */

bool torchtitan_is_registry(const struct python *p)
{
    bool asks = false, own = false;
    for (int64_t i = 0; i < p->calls.n; i++)
        asks |= strcmp(python_last_part(p->calls.v[i].function), "model_registry") == 0;
    for (int64_t i = 0; i < p->names.n && asks && !own; i++) {
        const struct value *v = p->names.v[i].value;
        own = v && v->text && strncmp(v->text, "torchtitan.", 11) == 0;
    }
    for (int64_t i = 0; i < p->notes.n && asks && !own; i++)
        own = strncmp(p->notes.v[i].text, "torchtitan/", 11) == 0;
    return asks && own;
}

struct value *torchtitan_own_registry(struct launch_context *t, const char *name)
{
    const char *text = read_file(t->arena, t->l->file);
    struct defined all;
    struct value *v = NULL;
    find_defined(t->arena, text ? text : "", name, &all);
    const char *of = name ? name : all.n == 1 ? all.one : NULL;
    if (of && (all.has || !name))
        v = evaluate(t, text, t->l->file, of, module_of(t->arena, t->l->file));
    if (!v)
        diags_add(&t->l->loader->diags, launch_diag(t->l, DIAG_UNKNOWN_NAME, 0, 0),
                  all.n == 0 || (of && (all.has || !name))
                      ? "a registry of torchtitan's, whose configuration is not "
                        "understood%s (give its values in TOML)"
                      : "a registry of torchtitan's has several configurations: give "
                        "--estimator NAME, one of %s",
                  all.n && !(of && (all.has || !name)) ? strbuf_get(&all.names) : "");
    strbuf_release(&all.names);
    return v;
}
