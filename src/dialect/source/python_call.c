/* Calls in Python source: none is run. The arguments of those that were asked for are
 * kept, and what changes a known dictionary or list is followed or spoils it. */
#include "base/names.h"
#include "dialect/source/python_parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

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

const char *python_last_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
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

/* The value before the last dot of a path, or NULL. */
static struct value *object_of(struct python_parser *r, const char *path)
{
    const char *method = python_last_part(path);
    if (method == path)
        return NULL;
    size_t n = (size_t)(method - path) - 1;
    struct value *x = python_find(r, arena_strndup(r->p->arena, path, n));
    for (size_t i = n; !x && i-- > 0;) { /* a member: args.names.append() */
        if (path[i] != '.')
            continue;
        const struct value *outer = python_find(r, arena_strndup(r->p->arena, path, i));
        const struct value_item *it =
            value_get(outer, arena_strndup(r->p->arena, path + i + 1, n - i - 1));
        x = it ? it->value : NULL;
    }
    bool known = x && (x->kind == VALUE_DICT || x->kind == VALUE_LIST ||
                       x->kind == VALUE_STRING ||
                       (x->kind == VALUE_UNKNOWN && x->text &&
                        strcmp(x->why, "it is imported") != 0));
    return known ? x : NULL;
}

/* argparse ------------------------------------------------------------------------- */

static const struct value *named(const struct value *arguments, const char *key)
{
    const struct value_item *it = value_get(arguments, key);
    return it ? it->value : NULL;
}

/* The name of an argument: its first long option, without dashes. */
static const char *argument_name(struct python_parser *r, const struct value *arguments)
{
    const struct value *dest = named(arguments, "dest");
    const char *best = dest && dest->kind == VALUE_STRING ? dest->text : NULL;
    for (int32_t i = 0; !best && i < arguments->n; i++) {
        const struct value *v = arguments->items[i].value;
        bool positional =
            *arguments->items[i].key >= '0' && *arguments->items[i].key <= '9';
        if (positional && v->kind == VALUE_STRING &&
            (strncmp(v->text, "--", 2) == 0 || *v->text != '-'))
            best = v->text + strspn(v->text, "-");
    }
    char *name = best ? arena_strdup(r->p->arena, best) : NULL;
    for (char *s = name; s && *s; s++)
        *s = *s == '-' ? '_' : *s;
    return name;
}

/* parser.add_argument("--lr", type=float, default=1e-4): args.lr is the default. */
static void add_argument(struct python_parser *r, const struct value *arguments,
                         int64_t line)
{
    const char *name = argument_name(r, arguments);
    const struct value *action = named(arguments, "action"),
                       *given = named(arguments, "default");
    bool sets = action && action->kind == VALUE_STRING &&
                strncmp(action->text, "store_", 6) == 0;
    struct value *v =
        given ? (struct value *)(uintptr_t)given
        : sets && strcmp(action->text, "store_const") != 0
            ? python_bool(r, line, strcmp(action->text, "store_true") != 0)
            : python_unknown(r, line,
                             "--%.60s is an argument of the "
                             "script",
                             name ? name : "...");
    if (!name)
        return;
    if (!r->parsed)
        r->parsed = python_new(r, VALUE_DICT, line);
    python_put(r, r->parsed, name, line, v);
}

/* args = parser.parse_args() */
static struct value *parse_args(struct python_parser *r, const char *method,
                                int64_t line)
{
    struct value *v = r->parsed ? python_copy(r, r->parsed)
                                : python_unknown(r, line, "parse_args() is a call");
    if (r->parsed && !r->parsed_noted)
        python_note(r, line,
                    "the script's own arguments are taken to be their defaults");
    r->parsed_noted |= r->parsed != NULL;
    if (strcmp(method, "parse_known_args") != 0)
        return v;
    struct value *both = python_new(r, VALUE_LIST, line);
    python_append(r, both, v);
    python_append(r, both, python_new(r, VALUE_LIST, line));
    return both;
}

/* Its number among all. */
static int64_t record_call(struct python_parser *r, const char *function, int64_t line,
                           bool outermost, struct value *arguments)
{
    if (r->p->calls.n == PYTHON_CALLS_MAX) {
        r->limit = "too many calls";
        return -1;
    }
    const char *target = outermost ? r->target : NULL;
    VEC_PUSH(&r->p->calls, ((struct python_call) { function, target, line, r->quoted,
                                                   r->maybe > 0, arguments, NULL }));
    return r->p->calls.n - 1;
}

/* What the library's functions give of literals, and functions of the text itself;
 * NULL: nothing is known. */
static struct value *known_call(struct python_parser *r, const char *path,
                                const char *function, struct value *arguments,
                                int64_t line)
{
    const char *last = python_last_part(path);
    const struct value *first = named(arguments, "0");
    struct python_function *f = python_function(r, path);
    if (f)
        return python_inline(r, f, arguments, line);
    if (strcmp(function, "json.loads") == 0 && first && first->kind == VALUE_STRING) {
        bool outer = r->json;
        r->json = true;
        struct value *v = python_evaluate(r, first->text, line);
        r->json = outer;
        return v;
    }
    if (strcmp(last, "add_argument") == 0)
        add_argument(r, arguments, line);
    if (strcmp(last, "parse_args") == 0 || strcmp(last, "parse_known_args") == 0)
        return parse_args(r, last, line);
    struct value *v = python_builtin(r, function, arguments, line);
    return v;
}

/* What a call gives, as far as it is known. */
static struct value *value_of_call(struct python_parser *r, const char *path,
                                   const char *function, struct value *x,
                                   struct value *arguments, int64_t line)
{
    const char *last = python_last_part(function);
    if (x)
        return python_method(r, x, python_last_part(path), arguments, line);
    struct value *v = known_call(r, path, function, arguments, line);
    if (v)
        return v;
    const struct value *first = named(arguments, "0");
    bool same = names_listed(r->wanted->same, last);
    if (same && isupper((unsigned char)*last)) {
        arguments->text = last;
        return arguments;
    }
    if (same && first) {
        if (first->kind == VALUE_DICT)
            python_note(r, line, "%.60s(...) is not run: what it is given is taken",
                        path);
        return (struct value *)(uintptr_t)first;
    }
    return python_unknown(r, line, "%.60s(...) is a call", path);
}

/* A call of the function at path; the parser is at "(". */
struct value *python_call_at(struct python_parser *r, const char *path, int64_t line)
{
    bool outermost = r->lex.brackets == 0;
    const char *function = resolved(r, path), *outer = r->calling;
    bool wanted = names_listed(r->wanted->calls, python_last_part(function));
    int64_t at = -1;
    if (wanted)
        r->calling = function;
    struct value *x = object_of(r, path);
    struct value *arguments = python_arguments(r);
    if (r->failed || r->limit)
        return arguments;
    if (wanted) {
        at = record_call(r, function, line, outermost, arguments);
        r->calling = outer;
    }
    struct value *v = value_of_call(r, path, function, x, arguments, line);
    if (at >= 0)
        r->p->calls.v[at].result = v;
    return v;
}
