/* Terms of Python source: what is in brackets, strings, numbers, names, and what
 * follows them. */
#include "dialect/python/python_parse.h"

#include <ctype.h>
#include <string.h>

static const char literal_mend[] = "it is no literal";

/* Brackets ------------------------------------------------------------------------- */

/* Over "..." and its comma, if one follows: it means items that are left out. */
bool python_gap(struct python_parser *r, struct value *v)
{
    if (!python_at(r, "..."))
        return false;
    v->gap = r->t.line;
    python_advance(r);
    if (python_at(r, ","))
        python_advance(r);
    return true;
}

/* Whether another item follows a comma; anything but the closing bracket fails. */
bool python_comma(struct python_parser *r, const char *closing)
{
    if (python_at(r, ",")) {
        python_advance(r);
        return true;
    }
    r->failed |= !python_at(r, closing);
    return false;
}

bool python_goes_on(const struct python_parser *r, const char *closing)
{
    return !r->failed && !r->limit && !python_at(r, closing);
}

static bool at_for(const struct python_parser *r)
{
    return python_at(r, "for") || python_at(r, "async");
}

/* An item of a list, or "*other". */
static void read_item(struct python_parser *r, struct value *list)
{
    bool unpacked = python_at(r, "*");
    if (unpacked)
        python_advance(r);
    struct value *item = python_expression(r);
    if (unpacked)
        python_extend(r, list, item);
    else
        python_append(r, list, item);
}

/* A list, a tuple, or an expression in brackets. */
static struct value *read_list(struct python_parser *r, const char *closing)
{
    struct value *v = python_new(r, VALUE_LIST, r->t.line);
    bool comma = false;
    python_open(r);
    struct python_place first = python_here(r);
    while (python_goes_on(r, closing)) {
        if (python_gap(r, v))
            continue;
        read_item(r, v);
        if (at_for(r) && v->n == 1 && !comma) {
            v = python_comprehension(r, &first, false, v->line);
            python_close(r, closing);
            return v;
        }
        bool more = python_comma(r, closing);
        comma |= more;
        if (!more)
            break;
    }
    python_close(r, closing);
    bool grouping = *closing == ')' && v->n == 1 && !comma && !v->gap;
    return grouping ? v->items[0].value : v;
}

/* "**other", in a dictionary or a call. */
bool python_unpacked(struct python_parser *r, struct value *dict)
{
    if (!python_at(r, "**"))
        return false;
    python_advance(r);
    python_merge(r, dict, python_expression(r));
    return true;
}

/* One that is no literal leaves a gap. */
static void read_pair(struct python_parser *r, struct value *dict)
{
    struct value *key = python_expression(r);
    if (!python_at(r, ":")) { /* a set */
        dict->kind = VALUE_LIST;
        python_append(r, dict, key);
        return;
    }
    python_advance(r);
    struct value *value = python_expression(r);
    const char *name = python_key(r, key);
    if (name)
        python_put(r, dict, name, key->line, value);
    else if (!python_put_either(r, dict, key, value))
        dict->gap = dict->gap ? dict->gap : key->line;
}

static struct value *read_dict(struct python_parser *r)
{
    struct value *v = python_new(r, VALUE_DICT, r->t.line);
    python_open(r);
    struct python_place first = python_here(r);
    for (int n = 0; python_goes_on(r, "}"); n++) {
        if (python_gap(r, v))
            continue;
        if (v->kind == VALUE_LIST)
            read_item(r, v);
        else if (!python_unpacked(r, v))
            read_pair(r, v);
        if (at_for(r) && n == 0) {
            v = python_comprehension(r, &first, v->kind == VALUE_DICT, v->line);
            break;
        }
        if (!python_comma(r, "}"))
            break;
    }
    python_close(r, "}");
    return v;
}

/* Terms ---------------------------------------------------------------------------- */

const char *python_path(struct python_parser *r)
{
    const char *path = arena_strndup(r->p->arena, r->t.s, (size_t)r->t.n);
    python_advance(r);
    for (int parts = 1; python_at(r, ".") && !r->limit; parts++) {
        python_advance(r);
        if (r->t.kind != TOKEN_NAME || parts > 16) {
            r->failed = true;
            break;
        }
        path = arena_printf(r->p->arena, "%s.%.*s", path, (int)r->t.n, r->t.s);
        python_advance(r);
    }
    return path;
}

static struct value *read_strings(struct python_parser *r)
{
    struct value *v = NULL;
    while ((r->t.kind == TOKEN_STRING || (r->t.kind == TOKEN_OTHER && r->t.text)) &&
           !r->limit) {
        struct value *part;
        if (r->t.kind == TOKEN_STRING) {
            part = python_text(r, r->t.line, r->t.text);
        } else if (r->t.formatted) {
            part = python_formatted(r, r->t.text, r->t.line);
        } else {
            part = python_unknown(r, r->t.line, "it is a string made by running");
            part->text = r->t.text;
        }
        v = v ? python_calculate(r, "+", v, part) : part;
        python_advance(r);
    }
    return v;
}

static struct value *read_number(struct python_parser *r)
{
    struct value *v;
    if (r->t.kind == TOKEN_OTHER) {
        v = python_unknown(r, r->t.line, "it is no number that can be held");
    } else {
        v = python_new(r, r->t.kind == TOKEN_INT ? VALUE_INT : VALUE_REAL, r->t.line);
        v->integer = r->t.integer;
        v->real = r->t.kind == TOKEN_INT ? (double)r->t.integer : r->t.real;
    }
    python_advance(r);
    return v;
}

/* True, False and None; true, false and null of JSON. NULL: it is another word. */
static struct value *read_constant(struct python_parser *r)
{
    static const struct {
        const char *word;
        enum value_kind kind;
        int64_t integer;
        bool json;
    } words[] = { { "True", VALUE_BOOL, 1, false }, { "False", VALUE_BOOL, 0, false },
                  { "None", VALUE_NONE, 0, false }, { "true", VALUE_BOOL, 1, true },
                  { "false", VALUE_BOOL, 0, true }, { "null", VALUE_NONE, 0, true } };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!python_at(r, words[i].word) || (words[i].json && !r->json))
            continue;
        struct value *v = python_new(r, words[i].kind, r->t.line);
        v->integer = words[i].integer;
        python_advance(r);
        return v;
    }
    return NULL;
}

/* "parent.parent" of a path. */
static struct value *python_path_parts(struct python_parser *r, struct value *v,
                                       const char *path, int64_t line)
{
    for (size_t n; *path && v; path += n + (path[n] == '.')) {
        n = strcspn(path, ".");
        v = python_path_part(r, v, arena_strndup(r->p->arena, path, n), line);
    }
    return v ? v : python_unknown(r, line, "%.60s is an attribute", path);
}

/* "a.b" of a dictionary: its key, or one of a dictionary within it. */
static struct value *member_at(struct python_parser *r, struct value *v,
                               const char *path, int64_t line)
{
    const char *dot;
    while ((dot = strchr(path, '.')) != NULL && !value_get(v, path)) {
        const struct value_item *it =
            value_get(v, arena_strndup(r->p->arena, path, (size_t)(dot - path)));
        if (!it || it->value->kind != VALUE_DICT)
            break;
        v = it->value;
        path = dot + 1;
    }
    struct value *given = value_get(v, path) ? NULL : python_property(r, v, path, line);
    return given ? given : python_element(r, v, python_text(r, line, path));
}

/* The value of a dotted name: bound so, or a member of what its beginning is bound
 * to. */
static struct value *value_at(struct python_parser *r, const char *path, int64_t line)
{
    struct value *v = python_find(r, path);
    for (size_t n = strlen(path); !v && n-- > 0;) {
        if (path[n] != '.')
            continue;
        v = python_find(r, arena_strndup(r->p->arena, path, n));
        if (v && v->kind == VALUE_DICT && strcmp(path + n, PYTHON_NAMES_OF) == 0)
            return v;
        if (v && v->kind == VALUE_DICT)
            return member_at(r, v, path + n + 1, line);
        if (v && v->kind == VALUE_STRING)
            return python_path_parts(r, v, path + n + 1, line);
        if (v && v->kind == VALUE_UNKNOWN && v->text &&
            strcmp(v->why, "it is imported") != 0)
            return python_unknown(r, line, "%s", v->why);
        if (v && v->kind == VALUE_UNKNOWN && v->text && !python_is_dtype(path)) {
            struct value *of = python_unknown(r, line, "it is imported");
            of->text = arena_printf(r->p->arena, "%s%s", v->text, path + n);
            return of;
        }
        v = NULL;
    }
    if (!v && python_is_dtype(path))
        return python_text(r, line, path);
    if (!v && strcmp(path, "accelerator.num_processes") == 0 &&
        r->wanted->gpu.world > 0)
        return python_int(r, line, r->wanted->gpu.world);
    if (v)
        return v;
    v = python_unknown(r, line, "%.60s is not known before", path);
    if (python_function(r, path)) /* which others may call */
        v->text = path;
    return v;
}

/* A lambda's parameters, which are names of its own that nothing has given. */
static void read_parameters(struct python_parser *r, int64_t line)
{
    while (!r->failed && !r->limit && !python_at(r, ":")) {
        while (python_at(r, "*") || python_at(r, "**") || python_at(r, "/"))
            python_advance(r);
        if (r->t.kind == TOKEN_NAME) {
            const char *name = arena_strndup(r->p->arena, r->t.s, (size_t)r->t.n);
            python_bind(r, name, python_unknown(r, line, "%s", literal_mend));
            python_advance(r);
        }
        if (python_at(r, "=")) {
            python_advance(r);
            python_expression(r);
        }
        if (python_at(r, ","))
            python_advance(r);
        else if (!python_at(r, ":"))
            r->failed = true;
    }
}

/* lambda: [1, 2], which a field's default_factory may be: not known itself, and its
 * result is its one item, uncounted. That of a lambda with parameters is not known; its
 * body is read for the calls in it, as a function's is that nothing calls. */
static struct value *read_lambda(struct python_parser *r, int64_t line)
{
    struct value *v = python_unknown(r, line, "it is an expression with \"lambda\"");
    struct python_place start = python_here(r);
    int64_t names = r->p->names.n, scope = r->in.scope;
    python_advance(r);
    bool plain = python_at(r, ":");
    r->in.scope = plain ? scope : names;
    read_parameters(r, line);
    if (!r->failed && !r->limit)
        python_advance(r);
    struct value *result = python_expression(r);
    if (!plain)
        python_leave_scope(r, names);
    r->in.scope = scope;
    if (r->failed) { /* the rest is read over */
        r->failed = false;
        python_go(r, &start);
    } else if (plain) {
        v->items = ARENA_NEW(r->p->arena, struct value_item);
        v->items[0] = (struct value_item) { NULL, line, result };
    }
    return v;
}

static struct value *read_name(struct python_parser *r)
{
    int64_t line = r->t.line;
    struct value *v = read_constant(r);
    if (v)
        return v;
    if (python_at(r, "lambda"))
        return read_lambda(r, line);
    if (python_at(r, "await") || python_at(r, "yield"))
        return python_unknown(r, line, "%s", literal_mend); /* its rest is read over */
    const char *path = python_path(r);
    if (python_at(r, "("))
        return python_call_at(r, path, line);
    return value_at(r, path, line);
}

/* x[key] and x[from:to]. */
static struct value *read_index(struct python_parser *r, struct value *v, int64_t line)
{
    struct value *ends[2] = { NULL, NULL };
    bool slice = false;
    python_open(r);
    if (!python_at(r, ":"))
        ends[0] = python_expression(r);
    if (python_at(r, ":")) {
        slice = true;
        python_advance(r);
        if (!python_at_bracket(r, "]:,"))
            ends[1] = python_expression(r);
    }
    bool more = python_goes_on(r, "]"); /* a step, several dimensions */
    while (python_goes_on(r, "]")) {
        python_advance(r);
        python_skip_rest(r);
    }
    python_close(r, "]");
    bool imported = v->kind == VALUE_UNKNOWN && v->text && v->why &&
                    strcmp(v->why, "it is imported") == 0;
    if (!slice && !more && ends[0] && imported && ends[0]->kind == VALUE_STRING &&
        isupper((unsigned char)*python_last_part(v->text))) { /* of an Enum */
        struct value *of = python_unknown(r, line, "it is imported");
        of->text = arena_printf(r->p->arena, "%s.%s", v->text, ends[0]->text);
        return of;
    }
    if (!slice && !more && ends[0])
        return python_element(r, v, ends[0]);
    bool list = v->kind == VALUE_LIST && !v->gap;
    int64_t n = list ? v->n : v->kind == VALUE_STRING ? (int64_t)strlen(v->text) : -1;
    int64_t at[2] = { 0, n };
    for (int i = 0; i < 2; i++) {
        if (ends[i] && ends[i]->kind != VALUE_INT)
            n = -1;
        if (ends[i])
            at[i] = ends[i]->integer < 0 ? ends[i]->integer + n : ends[i]->integer;
        at[i] = at[i] < 0 ? 0 : at[i] > n ? n : at[i];
    }
    if (n < 0 || more)
        return python_unknown(r, line, "it is a slice");
    if (!list)
        return python_text(r, line,
                           arena_strndup(r->p->arena, v->text + at[0],
                                         at[1] > at[0] ? (size_t)(at[1] - at[0]) : 0));
    struct value *part = python_new(r, VALUE_LIST, line);
    for (int64_t i = at[0]; i < at[1] && !r->limit; i++)
        python_append(r, part, v->items[i].value);
    return part;
}

/* Of v(...), name NULL, or v.name(...). */
static struct value *call_result(struct python_parser *r, struct value *v,
                                 const char *name, const struct value *arguments,
                                 int64_t line)
{
    bool super = name && v->kind == VALUE_UNKNOWN && v->text &&
                 strcmp(v->text, PYTHON_SUPER) == 0;
    struct value *given = super  ? python_super_call(r, name, arguments, line)
                          : name ? python_object_call(r, v, name, arguments, line)
                                 : NULL;
    if (given)
        return given;
    if (name && python_is_signature(v)) /* keys() */
        return v;
    if (name && v->kind != VALUE_UNKNOWN)
        return python_method(r, v, name, arguments, line);
    struct value *u = python_unknown(r, line, "it is a call");
    bool names = v->kind == VALUE_STRING || v->kind == VALUE_UNKNOWN;
    u->text = names && !super ? v->text : NULL;
    return u;
}

/* .attribute, [index] and (call) after a value that is no plain name. */
static struct value *read_postfix(struct python_parser *r, struct value *v)
{
    int64_t line = r->t.line;
    if (python_at(r, "["))
        return read_index(r, v, line);
    const char *name = NULL;
    if (python_at(r, ".")) {
        python_advance(r);
        r->failed |= r->t.kind != TOKEN_NAME;
        name = arena_strndup(r->p->arena, r->t.s, r->failed ? 0 : (size_t)r->t.n);
        python_advance(r);
    }
    if (name && !python_at(r, "(")) {
        if (v->kind == VALUE_DICT && value_get(v, name))
            return value_get(v, name)->value;
        struct value *part = python_path_part(r, v, name, line);
        if (part)
            return part;
        struct value *u =
            python_unknown(r, line, "%s", v->why ? v->why : "it is an attribute");
        u->text = v->kind == VALUE_STRING || v->kind == VALUE_UNKNOWN ? v->text : NULL;
        return u;
    }
    bool outermost = r->lex.brackets == 0;
    struct value *arguments = python_arguments(r);
    struct value *bound = name ? NULL : python_call_value(r, v, arguments, line);
    if (bound)
        return bound;
    bool parses = name && strcmp(name, "parse_args") == 0;
    if (parses && v->kind == VALUE_UNKNOWN)
        return python_parse_args(r, name, NULL, line); /* get_parser().parse_args() */
    if (parses && python_parses_itself(r, v))          /* Args().parse_args() */
        return python_parse_class(r, v, line);
    bool read = !python_stopped(r);
    /* TrainingClient().create_job(...) */
    int64_t at =
        name && read && names_listed(r->wanted->calls, name)
            ? python_record(r, name, line, outermost ? r->in.target : NULL, arguments)
            : -1;
    if (at >= 0)
        r->p->calls.v[at].of = v;
    if (name && read)
        python_start_function(r, name, arguments, line);
    struct value *u = call_result(r, v, read ? name : NULL, arguments, line);
    if (at >= 0)
        r->p->calls.v[at].result = u;
    return u;
}

static struct value *read_atom(struct python_parser *r)
{
    if (r->t.kind == TOKEN_INT || r->t.kind == TOKEN_REAL ||
        (r->t.kind == TOKEN_OTHER && !r->t.text))
        return read_number(r);
    if (r->t.kind == TOKEN_STRING || r->t.kind == TOKEN_OTHER)
        return read_strings(r);
    if (r->t.kind == TOKEN_NAME)
        return read_name(r);
    if (python_at(r, "("))
        return read_list(r, ")");
    if (python_at(r, "["))
        return read_list(r, "]");
    if (python_at(r, "{"))
        return read_dict(r);
    return python_unknown(r, r->t.line, "%s", literal_mend);
}

struct value *python_term(struct python_parser *r)
{
    struct value *v = read_atom(r);
    while (!python_stopped(r) && python_at_bracket(r, "[.("))
        v = read_postfix(r, v);
    return v;
}
