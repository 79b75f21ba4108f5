/* deepspeed.initialize() of a text's own loop: which configuration it is given, and what
 * the text puts into the one that the command names (deepspeed/__init__.py, 0.17). */
#include "base/names.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

#include <ctype.h>
#include <string.h>

static const char library_at[] = "/parallelism/library",
                  precision_at[] = "/training/precision";

/* What follows `["KEY"] =` in the text; NULL: nothing is put there. */
static const char *put_at(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *s = text; (s = strstr(s, key)) != NULL; s += n) {
        bool quoted = s > text && (s[-1] == '"' || s[-1] == '\'') && s[n] == s[-1];
        const char *end = s + n + quoted;
        if (!quoted || *end != ']')
            continue;
        end += 1 + strspn(end + 1, " ");
        if (*end == '=' && end[1] != '=')
            return end + 1 + strspn(end + 1, " ");
    }
    return NULL;
}

/* The option of the command by which "args.batch_size" is given; NULL. */
static const struct value_item *option_of(struct launch_context *t, const char *from)
{
    const char *dot = from;
    while (isalnum((unsigned char)*dot) || *dot == '_')
        dot++;
    size_t n =
        *dot == '.' ? strspn(dot + 1, "abcdefghijklmnopqrstuvwxyz_0123456789") : 0;
    const char *end = dot + 1 + n;
    if (!n || (*end && !strchr("\r\n #,;", *end)))
        return NULL;
    char *name = arena_printf(t->arena, "--%.*s", (int)n, dot + 1);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return launch_option(t->command, name);
}

/* What the text puts into the file's values goes before them; what is not known is asked
 * for. */
static bool take_changed(struct launch_context *t, const struct user_script *g,
                         const struct dialect_option *row, const struct value_item *it)
{
    static const struct {
        const char *key, *pointer;
    } keys[] = {
        { "train_batch_size", "/training/global_batch_size" },
        { "train_micro_batch_size_per_gpu", "/training/micro_batch_size" },
        { "gradient_accumulation_steps", "/training/gradient_accumulation_steps" },
    };
    const char *text = g->python->text, *name = it->value->text;
    bool named = text && it->value->kind == VALUE_STRING;
    const char *file = named ? deepspeed_find(t, name) : NULL;
    struct value *root = NULL;
    for (size_t i = 0; file && i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *from = put_at(text, keys[i].key);
        const struct value_item *given = from ? option_of(t, from) : NULL, *own;
        if (!from)
            continue;
        if (!root) {
            root = deepspeed_load(t->l->loader, file);
            if (!root)
                return false;
            value_move_to(root, it->line);
        }
        own = value_get(root, keys[i].key);
        if (own)
            value_remove(root, (int32_t)(own - root->items));
        if (given)
            value_add(t->arena, root, keys[i].key, given->line, given->value);
        else
            launch_add_unresolved(t, keys[i].pointer, it->line,
                                  "%.80s: the program's text puts another value there",
                                  name);
    }
    if (!root)
        return false;
    const struct value_item as = { it->value->text, it->line, root };
    deepspeed_take_file(t, row, &as);
    return true;
}

/* --deepspeed_config of the command, next to its switch --deepspeed
 * (deepspeed.add_config_arguments); false: there is none. */
static bool take_named(struct launch_context *t, const struct user_script *g)
{
    static const char *const names[] = { "--deepspeed-config", "--deepscale-config",
                                         NULL };
    static const struct dialect_option row = { .name = "deepspeed_config",
                                               .pointer = library_at };
    const struct value_item *it =
        t->command ? launch_any_option(t->command, names) : NULL;
    const struct value_item *on = value_get(g->words, "deepspeed");
    if (!it || (on && on->value->kind == VALUE_DICT))
        return false;
    if (on)
        value_remove(g->words, (int32_t)(on - g->words->items));
    if (!take_changed(t, g, &row, it))
        deepspeed_take_file(t, &row, it);
    return true;
}

/* Which batch the engine is handed: of a loader of the text's own, unless
 * initialize(training_data=...) makes it by the configuration, or the loader asks the
 * engine for that (true): engine.train_micro_batch_size_per_gpu(). */
static bool take_loaded(struct launch_context *t, const struct user_script *g)
{
    static const char word[] = "per_device_train_batch_size";
    const struct value *data = user_script_given(g->parts[SCRIPT_ENGINE],
                                                 "training_data", "3"),
                       *v = user_script_given(g->parts[SCRIPT_LOADER], "batch_size",
                                              "1");
    const struct value_item *it = value_get(g->words, word);
    bool asks = it && it->value->kind == VALUE_UNKNOWN && it->value->why &&
                strstr(it->value->why, "train_micro_batch_size_per_gpu(");
    bool makes = data && data->kind != VALUE_NONE;
    for (const char *const *name = user_script_batches; asks && *name; name++)
        if ((it = value_get(g->words, *name))) /* of which the configuration is made */
            value_remove(g->words, (int32_t)(it - g->words->items));
    bool given = it && v && v->kind == VALUE_INT && v->integer > 0 &&
                 it->value->kind == VALUE_INT && it->value->integer == v->integer;
    bool open = it && it->value->kind == VALUE_UNKNOWN && it->value->why &&
                strstr(it->value->why, " the script"); /* of $1, $BATCH */
    if (!asks && !makes && g->parts[SCRIPT_LOADER] && (given || open))
        t->loaded = it;
    return asks;
}

void user_script_take_engine(struct launch_context *t, const struct user_script *g)
{
    static const char why[] =
        "deepspeed.initialize(...): its configuration is not given "
        "here, and decides it";
    const struct python_call *c = g->parts[SCRIPT_ENGINE];
    int64_t line = c ? (g->line ? g->line : c->line) : 0;
    bool asks = c && take_loaded(t, g);
    if (!c || launch_has(t, library_at) || take_named(t, g) ||
        value_get(g->words, "deepspeed"))
        return;
    launch_add_unresolved(t, library_at, line, "%s: deepspeed", why);
    if (asks)
        launch_add_unresolved(t, "/training/micro_batch_size", line, "%s", why);
    if (!launch_has(t, precision_at))
        launch_add_unresolved(t, precision_at, line, "%s", why);
    launch_add_unresolved(t, "/parallelism/sharding/strategy", line, "%s", why);
}
