/* Calls in Python source: none is run. The arguments of those that were asked for are
 * kept, and what changes a known dictionary or list is followed or spoils it. */
#include "base/names.h"
#include "dialect/source/python_parse.h"

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
    struct value *v = python_expression(r);
    if (unpacked)
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

/* x.update(...) and the like, where x is a known dictionary or list. */
static struct value *call_method(struct python_parser *r, struct value *x,
                                 const char *method, const struct value *arguments,
                                 int64_t line)
{
    static const char *const harmless[] = { "get",   "items", "keys", "values",
                                            "index", "count", NULL };
    const struct value_item *first = value_get(arguments, "0");
    if (strcmp(method, "copy") == 0)
        return python_copy(r, x);
    if (strcmp(method, "update") == 0 && x->kind == VALUE_DICT) {
        if (first)
            python_merge(r, x, first->value);
        struct value *named = python_copy(r, arguments);
        if (first && named->n) /* it is first */
            named->items++, named->n--;
        python_merge(r, x, named);
    } else if (strcmp(method, "append") == 0 && x->kind == VALUE_LIST && first) {
        python_append(r, x, first->value);
    } else if (!names_listed(harmless, method)) {
        python_spoil(r, x,
                     arena_printf(r->p->arena,
                                  "it is changed by .%.40s() at line %" PRId64, method,
                                  (int64_t)line));
    }
    return python_unknown(r, line, ".%.40s() is a call", method);
}

/* The dictionary or list before the last dot of a path, or NULL. */
static struct value *object_of(struct python_parser *r, const char *path)
{
    const char *method = python_last_part(path);
    if (method == path)
        return NULL;
    size_t n = (size_t)(method - path) - 1;
    struct value *x = python_find(r, arena_strndup(r->p->arena, path, n));
    bool container = x && (x->kind == VALUE_DICT || x->kind == VALUE_LIST);
    return container ? x : NULL;
}

/* dict(other, a=1) */
static struct value *make_dict(struct python_parser *r, struct value *arguments)
{
    const struct value_item *other = value_get(arguments, "0");
    if (!other)
        return arguments;
    struct value *v = python_new(r, VALUE_DICT, arguments->line);
    python_merge(r, v, other->value);
    for (int32_t i = 1; i < arguments->n; i++)
        python_put(r, v, arguments->items[i].key, arguments->items[i].line,
                   arguments->items[i].value);
    return v;
}

static void record_call(struct python_parser *r, const char *function, int64_t line,
                        bool outermost, struct value *arguments)
{
    if (r->p->calls.n == PYTHON_CALLS_MAX) {
        r->limit = "too many calls";
        return;
    }
    const char *target = outermost ? r->target : NULL;
    VEC_PUSH(&r->p->calls,
             ((struct python_call) { function, target, line, r->quoted, arguments }));
}

/* A call of the function at path; the parser is at "(". */
struct value *python_call_at(struct python_parser *r, const char *path, int64_t line)
{
    bool outermost = r->lex.brackets == 0;
    const struct value *imported = python_find(r, path);
    const char *function = imported && imported->text ? imported->text : path;
    bool wanted = names_listed(r->wanted->calls, python_last_part(function));
    if (wanted)
        r->calling = function;
    struct value *x = object_of(r, path);
    struct value *arguments = python_arguments(r);
    if (r->failed || r->limit)
        return arguments;
    if (wanted) {
        record_call(r, function, line, outermost, arguments);
        r->calling = NULL;
    }
    if (x)
        return call_method(r, x, python_last_part(path), arguments, line);
    if (strcmp(path, "dict") == 0)
        return make_dict(r, arguments);
    const struct value_item *first = value_get(arguments, "0");
    if (names_listed(r->wanted->same, python_last_part(path)) && first) {
        if (first->value->kind == VALUE_DICT)
            python_note(r, line, "%.60s(...) is not run: what it is given is taken",
                        path);
        return first->value;
    }
    return python_unknown(r, line, "%.60s(...) is a call", path);
}
