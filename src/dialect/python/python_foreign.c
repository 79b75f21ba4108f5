/* Functions of the user's own modules that make models, adapters or arguments: their module
 * is read again with a call of them at its end, whose values are those of the call here.
 * What they call counts as called here, at the line of the call. */
#include "dialect/python/python_parse.h"

#include "base/names.h"
#include "base/strbuf.h"

#include <string.h>

enum { FOREIGN_DEPTH_MAX = 5 };

static const char made[] = "_made_here";

/* The module's text and "_made_here = load(_a0, config=_a1)"; the values by those names. */
static const char *text_of(struct python_parser *r, const char *text, const char *name,
                           const struct value *arguments, struct value *bound)
{
    struct strbuf b;
    strbuf_init(&b);
    strbuf_printf(&b, "%s\n\n%s = %s(", text, made, name);
    for (int32_t i = 0; i < arguments->n && !r->limit; i++) {
        const struct value_item *it = &arguments->items[i];
        const char *as = arena_printf(r->p->arena, "_a%d", (int)i);
        bool named = *it->key < '0' || *it->key > '9';
        strbuf_printf(&b, "%s%s%s%s", i ? ", " : "", named ? it->key : "",
                      named ? "=" : "", as);
        python_put(r, bound, as, it->line, it->value);
    }
    strbuf_addstr(&b, ")\n");
    const char *out = arena_strdup(r->p->arena, strbuf_get(&b));
    strbuf_release(&b);
    return out;
}

/* Whether a module asks the environment for its callers. */
static bool asks(const char *text)
{
    return strstr(text, "getenv(") || strstr(text, "environ.get(");
}

/* The arguments that the module's parser has, for the text to parse. */
static void take_parsed(struct python_parser *r, const struct python *p)
{
    for (int32_t i = 0; p->parsed && i < p->parsed->n && !r->limit; i++) {
        const struct value_item *it = &p->parsed->items[i];
        r->parsed = r->parsed ? r->parsed : python_new(r, VALUE_DICT, it->line);
        if (!value_get(r->parsed, it->key))
            python_put(r, r->parsed, it->key, it->line, it->value);
    }
}

void python_take_calls(struct python_parser *r, const struct python *p, bool imported)
{
    for (int64_t i = 0; i < p->calls.n && r->p->calls.n < PYTHON_CALLS_MAX; i++) {
        struct python_call c = p->calls.v[i];
        if (c.target && strcmp(c.target, made) == 0)
            continue; /* the text's own call, which has its name there */
        c.unsure |= r->maybe > 0;
        c.condition = c.condition ? c.condition : r->condition;
        c.imported |= imported;
        VEC_PUSH(&r->p->calls, c);
    }
    for (int64_t i = 0; i < p->modules.n; i++)
        python_add_module(r, &p->modules.v[i]);
}

/* A module may be read for each of many calls. */
static void note_once(struct python_parser *r, int64_t line, const char *text)
{
    for (int64_t i = 0; i < r->p->notes.n; i++)
        if (strcmp(r->p->notes.v[i].text, text) == 0)
            return;
    python_note(r, line, "%s", text);
}

/* get_b16_config(), default_hparams(): by their names they give settings. */
static bool gives_settings(const char *name)
{
    static const char *const parts[] = { "config", "hparam", "settings", "cfg", NULL };
    return names_within(parts, name);
}

/* find_multiple(11008, 256): what a function is given of numbers alone it computes. */
static bool is_of_numbers(const struct value *arguments)
{
    bool all = arguments->n > 0;
    for (int32_t i = 0; all && i < arguments->n; i++)
        all = arguments->items[i].value->kind == VALUE_INT ||
              arguments->items[i].value->kind == VALUE_REAL;
    return all;
}

/* args = check_args(args): the command's arguments, which it may change. */
static bool is_of_command(const struct python_parser *r, const struct value *arguments)
{
    const struct value *v = arguments->n == 1 ? arguments->items[0].value : NULL;
    return r->parsed && r->parsed->n && v && v->kind == VALUE_DICT &&
           v->n >= r->parsed->n && value_get(v, r->parsed->items[0].key);
}

/* The text of a function's module, and of a method its class's; *dot is before the rest of
 * its name. */
static const char *text_at(struct python_parser *r, const char *function,
                           const char **dot, const char **path)
{
    const struct python_modules *m = r->wanted->modules;
    size_t n = (size_t)(*dot - function);
    const char *outer = arena_strndup(r->p->arena, function, n);
    const char *text = m->text(m->of, r->p->arena, outer, path);
    const char *lazy = text ? python_lazy_module(r->p->arena, text, *dot + 1) : NULL;
    const char *inner =
        lazy ? m->text(m->of, r->p->arena,
                       strncmp(lazy, outer, strlen(outer)) == 0
                           ? lazy
                           : arena_printf(r->p->arena, "%s.%s", outer, lazy),
                       path)
             : NULL;
    text = inner ? inner : text;
    const char *class = text ? NULL : strrchr(outer, '.');
    if (!class)
        return text;
    n = (size_t)(class - outer);
    text = m->text(m->of, r->p->arena, arena_strndup(r->p->arena, outer, n), path);
    if (!text || !python_has_class(text, class + 1))
        return NULL;
    *dot = function + n;
    return text;
}

struct value *python_foreign_call(struct python_parser *r, const char *function,
                                  const struct value *arguments, int64_t line)
{
    const struct python_modules *m = r->wanted->modules;
    bool computes = python_computes_fields(r, function);
    function = python_class_path(r, function);
    const char *dot = strrchr(function, '.'), *path = NULL;
    if (!m || !dot || *m->left <= 0 || m->deep >= FOREIGN_DEPTH_MAX || arguments->gap)
        return NULL;
    bool numbers = is_of_numbers(arguments);
    bool command = is_of_command(r, arguments);
    if (!r->wanted->calls[0] && !computes && !numbers)
        return NULL;
    const char *text = text_at(r, function, &dot, &path), *of = dot + 1;
    bool method = text && strchr(of, '.');
    bool class = text && !method && python_has_class(text, of);
    /* what a package has of its modules */
    bool package = text && names_ends(path, "__init__.py") && strstr(text, of);
    bool says = text && (method || package || computes || numbers || command ||
                         python_makes(text) || python_parses(text) || asks(text) ||
                         gives_settings(of));
    if (!says || (!class && !method && !package &&
                  !strstr(text, arena_printf(r->p->arena, "def %s(", of))))
        return NULL;
    struct value *bound = python_new(r, VALUE_DICT, line), *v = NULL;
    struct python_modules inner = *m;
    struct python_wanted wanted = *r->wanted;
    struct python p;
    struct err err = { 0 };
    const char *whole = text_of(r, text, dot + 1, arguments, bound);
    inner.deep++;
    python_spend(m, text);
    wanted.modules = &inner;
    python_hand_command(r, text, &wanted);
    python_share_environment(r, bound);
    wanted.bound = bound;
    wanted.line = line;
    wanted.methods = class || method;
    if (python_read(&p, r->p->arena, whole, strlen(whole), &wanted, &err) == 0) {
        v = (struct value *)(uintptr_t)python_name(&p, made);
        python_take_calls(r, &p, false);
        take_parsed(r, &p);
        for (int64_t i = 0; i < p.notes.n; i++)
            note_once(r, line, p.notes.v[i].text);
        note_once(r, line,
                  arena_printf(r->p->arena, "%.160s is read, where %.60s(...) is", path,
                               dot + 1));
    }
    python_release(&p);
    return v;
}
