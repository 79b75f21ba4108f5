/* Calls in Python source: none is run. The arguments of those that were asked for are
 * kept, and what changes a known dictionary or list is followed or spoils it. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { BASES_MAX = 8 };

/* Calls ---------------------------------------------------------------------------- */

static void read_argument(struct python_parser *r, struct value *arguments,
                          int *positional)
{
    struct python_lexer back = r->lex;
    struct python_token name = r->t;
    if (name.kind == TOKEN_NAME) {
        python_advance(r);
        if (python_at(r, "=")) {
            python_advance(r);
            const char *key = arena_strndup(r->p->arena, name.s, (size_t)name.n);
            python_put(r, arguments, key, name.line, python_expression(r));
            return;
        }
        back.work = r->lex.work;
        r->lex = back;
        r->t = name;
    }
    bool unpacked = python_at(r, "*");
    if (unpacked)
        python_advance(r);
    struct python_place item = python_here(r);
    struct value *v = python_expression(r);
    if (python_at(r, "for") && !unpacked)
        v = python_comprehension(r, &item, false, v->line);
    if (unpacked && v->kind == VALUE_LIST && !v->gap)
        for (int32_t i = 0; i < v->n && !r->limit; i++)
            python_put(r, arguments, arena_printf(r->p->arena, "%d", (*positional)++),
                       v->line, v->items[i].value);
    else if (unpacked)
        arguments->gap = v->line;
    else
        python_put(r, arguments, arena_printf(r->p->arena, "%d", (*positional)++),
                   v->line, v);
}

struct value *python_arguments(struct python_parser *r)
{
    struct value *v = python_new(r, VALUE_DICT, r->t.line);
    int positional = 0;
    python_open(r);
    while (python_goes_on(r, ")")) {
        if (python_gap(r, v))
            continue;
        if (!python_unpacked(r, v))
            read_argument(r, v, &positional);
        if (!python_comma(r, ")"))
            break;
    }
    python_close(r, ")");
    return v;
}

/* What a dotted path's first name was imported as replaces it. */
static const char *resolved(struct python_parser *r, const char *path)
{
    size_t n = strcspn(path, ".");
    const struct value *v = python_find(r, arena_strndup(r->p->arena, path, n));
    bool imported = v && v->kind == VALUE_UNKNOWN && v->text &&
                    strcmp(v->why, "it is imported") == 0;
    return imported ? arena_printf(r->p->arena, "%s%s", v->text, path + n) : path;
}

/* Whether what a class of the text derives from in the end is the text's too, or of
 * PyTorch and Python, which train nothing. */
static bool is_of_text(struct python_parser *r, const struct python_function *f)
{
    static const char *const bare[] = { "torch", "abc", NULL };
    const char *base = f->base ? python_class_base(r, f->base) : f->name;
    size_t n = strcspn(base, ".");
    if (base[n])
        return names_listed(bare, arena_strndup(r->p->arena, base, n));
    return strcmp(base, f->name) != 0 ? python_function(r, base) != NULL : !f->base;
}

/* Whether a class is called as a library's arguments of a trainer are. */
static bool names_arguments(const char *class)
{
    static const char *const ends[] = { "TrainingArguments", "SFTConfig", "DPOConfig" };
    bool any = false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        any |= names_ends(class, ends[i]);
    return any;
}

/* A trainer that the text or a module that is read defines itself, of no other, or
 * arguments of one: their names alone are a library's. */
static bool is_own(struct python_parser *r, const char *path)
{
    const struct python_function *f = python_function(r, path);
    const struct value *v = python_find(r, path);
    const char *base = f && f->base ? python_class_base(r, path) : "";
    bool other = !names_ends(base, "Trainer") &&
                 !names_listed(r->wanted->calls, python_last_part(base));
    bool here = f && f->fields && (other || is_of_text(r, f)),
         class = v && v->kind == VALUE_DICT && v->text && !v->integer &&
                 names_arguments(v->text);
    return (here && (names_ends(path, "Trainer") || names_arguments(path))) ||
           (class && strcmp(v->text, python_last_part(path)) == 0) ||
           ((names_ends(path, "Trainer") || names_arguments(path)) &&
            python_is_foreign_class(r, path) &&
            strcmp(python_class_base(r, path), python_class_path(r, path)) == 0);
}

const char *python_class_base(struct python_parser *r, const char *name)
{
    const char *base = name;
    for (int i = 0; i < BASES_MAX; i++) {
        const struct python_function *f = python_function(r, base);
        const struct value *v = f ? NULL : python_find(r, base);
        const char *of = f                                       ? f->base
                         : v && v->kind == VALUE_DICT && v->text ? v->why
                                                                 : NULL;
        if (!of)
            break;
        base = of;
    }
    return resolved(r, base);
}

/* What a call is of: of a class of the text, what that derives from, where that is
 * wanted. */
static const char *called_of(struct python_parser *r, const char *path)
{
    const char *base = python_class_base(r, path);
    bool derives = strcmp(base, path) != 0 &&
                   names_listed(r->wanted->calls, python_last_part(base));
    if (derives || strcmp(base, path) == 0)
        return derives ? base : resolved(r, path);
    /* its name alone is a library's: Trainer of another package's base */
    const char *last = python_last_part(path);
    bool other = strchr(base, '.') && names_listed(r->wanted->calls, last) &&
                 names_ends(last, "Trainer");
    return other ? arena_printf(r->p->arena, "%.*s.%s", (int)strcspn(base, "."), base,
                                last)
                 : resolved(r, path);
}

/* The fields of a class that the call leaves as they are. */
static void add_fields(struct python_parser *r, const char *path,
                       struct value *arguments)
{
    const struct python_function *f = python_function(r, path);
    const char *base = f && f->fields && f->base ? python_class_base(r, path) : "";
    if (!names_ends(base, "Arguments") && !names_arguments(base))
        return;
    for (int32_t i = 0; i < f->fields->n && !r->limit; i++)
        if (!value_get(arguments, f->fields->items[i].key))
            python_put(r, arguments, f->fields->items[i].key, f->fields->items[i].line,
                       f->fields->items[i].value);
}

/* The value before the last dot of a path, or NULL. */
static struct value *object_of(struct python_parser *r, const char *path)
{
    const char *method = python_last_part(path);
    if (method == path)
        return NULL;
    size_t n = (size_t)(method - path) - 1, names = sizeof(PYTHON_NAMES_OF) - 1;
    if (n > names && strncmp(path + n - names, PYTHON_NAMES_OF, names) == 0)
        n -= names;
    struct value *x = python_find(r, arena_strndup(r->p->arena, path, n));
    for (size_t i = n; !x && i-- > 0;) { /* a member: args.names.append() */
        if (path[i] != '.')
            continue;
        const struct value *outer = python_find(r, arena_strndup(r->p->arena, path, i));
        const struct value_item *it =
            value_get(outer, arena_strndup(r->p->arena, path + i + 1, n - i - 1));
        x = it                           ? it->value
            : python_is_signature(outer) ? (struct value *)(uintptr_t)outer
                                         : NULL;
    }
    bool known = x && (x->kind == VALUE_DICT || x->kind == VALUE_LIST ||
                       x->kind == VALUE_STRING ||
                       (x->kind == VALUE_UNKNOWN && x->text &&
                        strcmp(x->why, "it is imported") != 0));
    return known ? x : NULL;
}

/* self.load(...) of a class of which no object is known; NULL: it is none. */
static struct value *own_method(struct python_parser *r, const char *path,
                                const struct value *arguments, int64_t line)
{
    const char *last = python_last_part(path);
    struct python_function *f = strncmp(path, "self.", 5) == 0 && path + 5 == last
                                    ? python_function(r, last)
                                    : NULL;
    return f && f->class ? python_call_method(
                               r, f, python_unknown(r, line, "it is an object"),
                               arguments, line)
                         : NULL;
}

/* Whether what a path begins with is imported: parse_args() of the user's own module, which
 * is no parser's. */
static bool is_imported(struct python_parser *r, const char *path)
{
    const char *head = arena_strndup(r->p->arena, path, strcspn(path, "."));
    const struct value *v = python_find(r, head);
    return v && v->kind == VALUE_UNKNOWN && v->why &&
           strcmp(v->why, "it is imported") == 0;
}

/* What the library's functions give of literals, and functions of the text itself;
 * NULL: nothing is known. */
static struct value *known_call(struct python_parser *r, const char *path,
                                const char *function, struct value *arguments,
                                int64_t line)
{
    static const char *const field_parsers[] = { "HfArgumentParser", "TrlParser",
                                                 "H4ArgumentParser", NULL };
    const char *last = python_last_part(path);
    const struct value *first = value_member(arguments, "0");
    struct python_function *f = python_function(r, python_own_class(r, path));
    if (f && f->fields && python_computes_fields(r, path)) {
        struct value *v = r->foreign_call(r, path, arguments, line);
        return v ? v : python_unknown(r, line, "%.60s(...) is a call", path);
    }
    if (f)
        return python_inline(r, f, arguments, line);
    struct value *method = own_method(r, path, arguments, line);
    if (method)
        return method;
    if (strcmp(function, "json.loads") == 0 && first && first->kind == VALUE_STRING) {
        bool outer = r->json;
        r->json = true;
        struct value *v = python_evaluate(r, first->text, line);
        r->json = outer;
        return v;
    }
    if (strcmp(function, "exec") == 0)
        return python_execute(r, first, line);
    if (strcmp(last, "add_argument") == 0)
        python_add_argument(r, arguments, line);
    if (strcmp(last, "parse_args") == 0 || strcmp(last, "parse_known_args") == 0) {
        struct value *own =
            is_imported(r, path) ? r->foreign_call(r, function, arguments, line) : NULL;
        return own ? own : python_parse_args(r, last, arguments, line);
    }
    if (strcmp(last, "set_defaults") == 0)
        python_set_defaults(r, arguments, line);
    /* others of that name are made of classes (open-instruct's ArgumentParserPlus) */
    bool of_classes = strstr(last, "ArgumentParser") && first &&
                      (first->kind == VALUE_LIST || first->kind == VALUE_DICT);
    if (names_listed(field_parsers, last) || of_classes)
        return python_field_parser(r, arguments, line);
    struct value *v = python_builtin(r, function, arguments, line);
    v = v ? v : python_file_call(r, function, arguments, line);
    v = v ? v : r->imported_load(r, function, arguments, line);
    return v ? v : r->foreign_call(r, function, arguments, line);
}

/* functools.partial(F, ...) of what was asked for: its arguments, by that name. */
static const char partial_name[] = "functools.partial";

static bool binds_wanted(const struct python_parser *r, const struct value *arguments)
{
    const struct value *f = value_member(arguments, "0");
    return f && f->kind == VALUE_UNKNOWN && f->text &&
           (python_is_object(r, f->text) ||
            names_listed(r->wanted->calls, python_last_part(f->text)));
}

static bool is_partial(const struct value *v)
{
    return v && v->kind == VALUE_DICT && v->text &&
           strcmp(v->text, partial_name) == 0 && value_member(v, "0");
}

/* Whether a name has the part of an entry "*part". */
static bool has_wanted_part(const struct python_parser *r, const char *name)
{
    for (const char *const *c = r->wanted->calls; *c; c++)
        if (**c == '*' && strstr(name, *c + 1))
            return true;
    return false;
}

/* Whether the arguments of a call were asked for. */
static bool is_wanted(struct python_parser *r, const char *path, const char *function)
{
    const char *last = python_last_part(function);
    return (names_listed(r->wanted->calls, last) && !is_own(r, path)) ||
           has_wanted_part(r, last) || python_is_object(r, function);
}

/* What a call gives, as far as it is known. */
static struct value *value_of_call(struct python_parser *r, const char *path,
                                   const char *function, struct value *x,
                                   struct value *arguments, int64_t line)
{
    const char *last = python_last_part(function);
    python_start_function(r, last, arguments, line);
    struct value *given = x ? python_class_call(r, x, last, arguments, line) : NULL;
    given = given || !x ? given : python_object_call(r, x, last, arguments, line);
    if (given)
        return given;
    if (x && strcmp(function, PYTHON_ENVIRONMENT ".get") != 0)
        return python_method(r, x, python_last_part(path), arguments, line);
    struct value *v = known_call(r, path, function, arguments, line);
    if (v)
        return v;
    if (python_is_object(r, function)) {
        arguments->text = function;
        return arguments;
    }
    if (strcmp(function, partial_name) == 0 && binds_wanted(r, arguments)) {
        arguments->text = partial_name;
        return arguments;
    }
    const struct value *first = value_member(arguments, "0");
    bool same = names_listed(r->wanted->same, last);
    if (same && isupper((unsigned char)*last)) {
        arguments->text = last;
        return arguments;
    }
    if (same && first) {
        if (first->kind == VALUE_DICT && !names_listed(r->wanted->calls, last))
            python_note(r, line, "%.60s(...) is not run: what it is given is taken",
                        path);
        return (struct value *)(uintptr_t)first;
    }
    struct value *called = python_unknown(r, line, "%.60s(...) is a call", path);
    if (strcmp(path, PYTHON_SUPER) == 0)
        called->text = PYTHON_SUPER;
    if (isupper((unsigned char)*last)) /* a class makes an object */
        called->integer = PYTHON_SOMETHING;
    return called;
}

static void add_bound(struct python_parser *r, struct value *to,
                      const struct value *from, int32_t first)
{
    int positional = 0;
    for (int32_t i = 0; i < to->n; i++)
        positional += isdigit((unsigned char)*to->items[i].key) != 0;
    for (int32_t i = first; i < from->n && !r->limit; i++) {
        const struct value_item *it = &from->items[i];
        bool at = isdigit((unsigned char)*it->key);
        python_put(r, to, at ? arena_printf(r->p->arena, "%d", positional++) : it->key,
                   it->line, it->value);
    }
    to->gap = to->gap ? to->gap : from->gap;
}

/* config.update({"n_layer": 6}) of what a call gave. */
static void set_attributes(struct python_parser *r, const char *path,
                           const struct value *arguments, int64_t line)
{
    const char *last = python_last_part(path);
    const struct value *with = value_member(arguments, "0");
    if (last == path || strcmp(last, "update") != 0 || !with ||
        with->kind != VALUE_DICT)
        return;
    const struct value *x =
        python_find(r, arena_strndup(r->p->arena, path, (size_t)(last - path) - 1));
    for (int32_t i = 0; i < with->n; i++)
        python_set_attribute(r, x, with->items[i].key, line, with->items[i].value);
}

/* Whether a path is a class of the text, or of a module next to it, that derives from no
 * library's. */
static bool is_class_of_text(struct python_parser *r, const char *path)
{
    const struct python_function *f = python_function(r, path);
    const struct value *v = python_find(r, path);
    const char *base = python_class_base(r, path);
    bool class = v && v->kind == VALUE_DICT && v->text &&
                 strcmp(v->text, python_last_part(path)) == 0,
         plain = strcmp(base, path) == 0 || names_ends(base, "nn.Module");
    return (f && f->fields && is_of_text(r, f)) || (class && plain) ||
           python_is_own_class(r, path);
}

/* What a call gives once its arguments are read. */
static struct value *call_with(struct python_parser *r, const char *path,
                               const char *target, struct value *x,
                               struct value *arguments, int64_t line)
{
    const char *function = called_of(r, path);
    bool wanted = is_wanted(r, path, function);
    set_attributes(r, path, arguments, line);
    python_record_module(r, path, function, line, arguments);
    if (wanted)
        add_fields(r, path, arguments);
    int64_t at = wanted ? python_record(r, function, line, target, arguments) : -1;
    const char *last = python_last_part(path);
    if (at >= 0 && isupper((unsigned char)*last))
        r->p->calls.v[at].own = is_class_of_text(r, path);
    if (at >= 0 && last > path)
        r->p->calls.v[at].of =
            python_find(r, arena_strndup(r->p->arena, path, (size_t)(last - path) - 1));
    struct value *v = value_of_call(r, path, function, x, arguments, line);
    if (at >= 0)
        r->p->calls.v[at].result = v;
    return v;
}

/* The function of the text that a value is, as in {"small": make_small}; NULL. */
static struct python_function *function_of(struct python_parser *r,
                                           const struct value *v)
{
    static const char unbound[] = " is not known before";
    bool named = v && v->kind == VALUE_UNKNOWN && v->text && v->why &&
                 names_ends(v->why, unbound);
    struct python_function *f = named ? python_function(r, v->text) : NULL;
    return f && !f->fields ? f : NULL;
}

struct value *python_call_value(struct python_parser *r, const struct value *f,
                                struct value *arguments, int64_t line)
{
    const char *target = r->lex.brackets == 0 ? r->in.target : NULL;
    bool named = f && f->kind == VALUE_UNKNOWN && f->text && f->why &&
                 strcmp(f->why, "it is imported") == 0;
    struct python_function *own = r->failed || r->limit ? NULL : function_of(r, f);
    if (own)
        return r->inline_call(r, own, arguments, line);
    if (r->failed || r->limit || (!is_partial(f) && !named))
        return NULL;
    if (named) /* {"sgd": torch.optim.SGD}["sgd"](...) */
        return call_with(r, f->text, target, NULL, arguments, line);
    struct value *all = python_new(r, VALUE_DICT, arguments->line);
    add_bound(r, all, f, 1);
    add_bound(r, all, arguments, 0);
    return call_with(r, value_member(f, "0")->text, target, NULL, all, line);
}

/* A call of the function at path; the parser is at "(". */
struct value *python_call_at(struct python_parser *r, const char *path, int64_t line)
{
    bool outermost = r->lex.brackets == 0;
    const char *function = called_of(r, path), *outer = r->in.calling;
    if (is_wanted(r, path, function))
        r->in.calling = function;
    struct value *x = object_of(r, path);
    struct value *arguments = python_arguments(r);
    if (r->failed || r->limit)
        return arguments;
    r->in.calling = outer;
    struct value *f = python_find(r, path);
    bool held = is_partial(f) || function_of(r, f);
    struct value *v = held ? python_call_value(r, f, arguments, line) : NULL;
    if (v)
        return v;
    return call_with(r, path, outermost ? r->in.target : NULL, x, arguments, line);
}
