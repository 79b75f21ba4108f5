/* Functions and classes of the text: a call of a function reads its body with the
 * arguments, and gives what it returns. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS_MAX = 1000, INLINED_MAX = 6 };

static void add_function(struct python_parser *r, const struct python_function *f)
{
    r->lex.work += r->functions.n / 8;
    if (r->functions.n < FUNCTIONS_MAX)
        VEC_PUSH(&r->functions, *f);
}

/* Over the body of a definition, the parser after its ":". */
static void skip_body(struct python_parser *r, int64_t column)
{
    enum python_stop before = r->in.stop;
    r->in.stop = PYTHON_RAISE; /* nothing is reached */
    r->read_suite(r, column);
    r->in.stop = before;
}

/* "transformers.TrainingArguments" of class A(transformers.TrainingArguments), and of
 * class A(Logs, Trainer) the trainer; the parser is at "(". NULL: of none, or of what says
 * nothing: class A(object). */
static const char *base_of(struct python_parser *r)
{
    struct python_place before = python_here(r);
    const char *base = NULL;
    python_open(r);
    while (r->t.kind == TOKEN_NAME && !r->failed) {
        const char *path = python_path(r);
        bool first =
            !base || (names_ends(path, "Trainer") && !names_ends(base, "Trainer"));
        base = first ? path : base;
        if (!python_at(r, ","))
            break;
        python_advance(r);
    }
    r->failed = false;
    python_go(r, &before);
    return base && strcmp(base, "object") == 0 ? NULL : base;
}

static void bind_class(struct python_parser *r, const struct python_function *f)
{
    struct value *v = python_copy(r, f->fields);
    v->text = f->name;
    v->integer = f->named; /* it may have fields of a base's */
    v->why = f->base ? python_class_base(r, f->base) : NULL;
    python_bind(r, f->name, v);
}

void python_import_class(struct python_parser *r, const char *name, struct value *class)
{
    struct python_function f = { .name = name,
                                 .line = class->line,
                                 .base = class->why,
                                 .named = class->integer != 0,
                                 .fields = class,
                                 .called = true };
    add_function(r, &f);
}

/* The fields of the text's class that a class derives from come first. Where that is all
 * it derives from, it has no others. */
static void inherit_fields(struct python_parser *r, struct python_function *f)
{
    const struct python_function *base = f->base ? python_function(r, f->base) : NULL;
    struct python_place before = python_here(r);
    if (!base || !base->fields || r->limit)
        return;
    for (int32_t i = 0; i < base->fields->n && !r->limit; i++) {
        const struct value_item *it = &base->fields->items[i];
        python_put(r, f->fields, it->key, it->line, it->value);
    }
    python_go(r, &f->parameters);
    python_open(r);
    python_path(r);
    f->named = base->named || !python_at(r, ")");
    r->failed = false;
    python_go(r, &before);
}

/* The names of a class's body are its fields, its functions its methods. */
static void read_class(struct python_parser *r, struct python_function *f)
{
    f->methods = r->functions.n;
    int64_t scope = r->in.scope, names = r->p->names.n;
    enum python_stop stop = r->in.stop;
    r->in.scope = names;
    r->read_suite(r, f->column);
    r->in.stop = stop;
    f->fields = python_new(r, VALUE_DICT, f->line);
    inherit_fields(r, f);
    for (int64_t i = names; i < r->p->names.n && !r->limit; i++)
        if (r->p->names.v[i].value && f->fields->n < PYTHON_ITEMS_MAX)
            python_put(r, f->fields, r->p->names.v[i].name,
                       r->p->names.v[i].value->line, r->p->names.v[i].value);
    python_leave_scope(r, names);
    r->in.scope = scope;
    if (!r->limit)
        bind_class(r, f);
    f->called = true;
    for (int64_t i = f->methods; i < r->functions.n; i++)
        if (!r->functions.v[i].class)
            r->functions.v[i].class = r->functions.n + 1; /* its own, below */
}

void python_define(struct python_parser *r, int64_t column)
{
    bool is_class = python_at(r, "class");
    struct python_function f = { .column = column,
                                 .line = r->t.line,
                                 .handed = r->handed,
                                 .command = r->command,
                                 .property = r->property,
                                 .changed = r->changed };
    r->handed = NULL;
    r->command = false;
    r->property = false;
    r->changed = false;
    python_advance(r);
    r->failed |= r->t.kind != TOKEN_NAME;
    if (python_stopped(r))
        return;
    f.name = arena_strndup(r->p->arena, r->t.s, (size_t)r->t.n);
    python_advance(r);
    f.parameters = python_here(r);
    f.named = python_at(r, "(");
    f.base = f.named && is_class ? base_of(r) : NULL;
    if (f.named)
        python_skip_brackets(r);
    if (python_at(r, "->")) {
        python_advance(r);
        python_expression(r);
    }
    r->failed |= !python_at(r, ":");
    if (python_stopped(r))
        return;
    python_advance(r);
    f.body = python_here(r);
    if (!is_class && names_listed(r->wanted->calls, f.name))
        python_record(r, f.name, f.line, NULL, python_new(r, VALUE_DICT, f.line));
    if (is_class)
        read_class(r, &f);
    else
        skip_body(r, column);
    add_function(r, &f);
}

/* Parameters ----------------------------------------------------------------------- */

/* Decorators whose function is called with the command's options by their names:
 * click.command(), click.option() (click 8.1), typer's app.command() (0.12), fastcore's
 * call_parse (1.5). */
void python_note_decorator(struct python_parser *r)
{
    static const char *const names[] = { "command", "call_parse", NULL },
                             *const attributes[] = { "property", "cached_property",
                                                     NULL };
    struct python_place before = python_here(r);
    if (r->t.kind == TOKEN_NAME) {
        const char *path = python_path(r), *last = python_last_part(path);
        const struct python_function *own = python_function(r, path);
        r->changed |= own && !own->fields;
        r->command |= names_listed(names, last);
        r->property |= names_listed(attributes, last);
    }
    r->failed = false;
    python_go(r, &before);
}

/* What the command line gives a parameter of such a function, or its decorators' default
 * (click.option("--size", default=8)); NULL. */
static struct value *command_given(struct python_parser *r, const char *name)
{
    struct value *given = python_given(r, name);
    const struct value *other = value_member(r->parsed, name);
    return given ? given : (struct value *)(uintptr_t)other;
}

/* Whether a library calls a function of the text with the command's words by their names:
 * fire.Fire(train) (fire 0.7), typer.run(train). */
static bool is_started(struct python_parser *r)
{
    static const char *const names[] = { "fire", "Fire", "typer" };
    for (size_t i = 0; r->wanted->given && i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value *v = python_find(r, names[i]);
        if (v && v->kind == VALUE_UNKNOWN && v->text &&
            (strncmp(v->text, "fire", 4) == 0 || strcmp(v->text, "typer") == 0))
            return true;
    }
    return false;
}

/* A class of fields of the text, of an annotation; NULL. */
static const struct value *own_class(struct python_parser *r, const struct value *v)
{
    const struct python_function *f =
        v->kind == VALUE_DICT && v->text && v->n ? python_function(r, v->text) : NULL;
    return f && f->fields ? v : NULL;
}

/* What a parameter is: an argument by its name or place, what the command gives, its
 * default, or nobody says. */
static struct value *argument(struct python_parser *r, const struct python_function *f,
                              const struct value *arguments, const char *name, int at,
                              const struct value *type, struct value *otherwise)
{
    const struct value_item *it = arguments ? value_get(arguments, name) : NULL;
    if (!it && arguments && at >= 0)
        it = value_get(arguments, arena_printf(r->p->arena, "%d", at));
    if (it)
        return it->value;
    if (f->handed && at == 0 && !otherwise)
        return f->handed;
    struct value *given = !arguments && is_started(r) ? python_given(r, name) : NULL;
    if (f->command && (!arguments || (!arguments->n && !arguments->gap)))
        given = command_given(r, name);
    if (given)
        return given;
    if (!arguments && at == 0 && f->class && strcmp(name, "self") == 0 &&
        r->functions.v[f->class - 1].instance)
        return r->functions.v[f->class - 1].instance;
    if (otherwise && !(arguments && arguments->gap))
        return otherwise;
    const struct value *known = !arguments && r->wanted->argument
                                    ? r->wanted->argument(r->p, name, f->line)
                                    : NULL;
    if (known)
        return python_deep_copy(r, known);
    /* nothing in the text gives it: a library parses the command into its class
     * (tyro.cli(main), @draccus.wrap()) */
    if (type && (!arguments || (!arguments->n && !arguments->gap)))
        return python_parse_class(r, type, f->line);
    return python_unknown(r, f->line, "%.40s is an argument of %.60s()", name, f->name);
}

/* **options: what no other parameter takes. */
static struct value *rest_of(struct python_parser *r, const struct value *arguments,
                             int64_t from)
{
    struct value *rest = python_new(r, VALUE_DICT, arguments ? arguments->line : 0);
    rest->gap = arguments ? arguments->gap : 1;
    for (int32_t i = 0; arguments && i < arguments->n && !r->limit; i++) {
        const struct value_item *it = &arguments->items[i];
        bool taken = *it->key >= '0' && *it->key <= '9';
        for (int64_t k = from; k < r->p->names.n; k++)
            taken |= strcmp(r->p->names.v[k].name, it->key) == 0;
        if (!taken)
            python_put(r, rest, it->key, it->line, it->value);
    }
    return rest;
}

/* One of them, the parser at it: name: annotation = default. */
static void read_parameter(struct python_parser *r, const struct python_function *f,
                           const struct value *arguments, int *at, int64_t from)
{
    bool list = python_at(r, "*"), dict = python_at(r, "**");
    if (list || dict)
        python_advance(r);
    if (list)
        *at = -1000; /* by name alone */
    if (python_at(r, "/") || (list && python_at(r, ","))) {
        if (python_at(r, "/"))
            python_advance(r);
        return;
    }
    r->failed |= r->t.kind != TOKEN_NAME;
    if (python_stopped(r))
        return;
    const char *name = arena_strndup(r->p->arena, r->t.s, (size_t)r->t.n);
    struct value *otherwise = NULL;
    const struct value *type = NULL;
    python_advance(r);
    if (python_at(r, ":")) {
        python_advance(r);
        type = own_class(r, python_expression(r));
    }
    if (python_at(r, "=")) {
        python_advance(r);
        otherwise = python_expression(r);
    }
    if (python_stopped(r))
        return;
    if (dict)
        python_bind(r, name, rest_of(r, arguments, from));
    else if (list)
        python_bind(r, name, python_unknown(r, f->line, "it takes any arguments"));
    else
        python_bind(r, name, argument(r, f, arguments, name, (*at)++, type, otherwise));
}

static void bind_parameters(struct python_parser *r, const struct python_function *f,
                            const struct value *arguments)
{
    int at = 0;
    int64_t from = r->p->names.n;
    if (!f->named)
        return;
    python_go(r, &f->parameters);
    python_open(r);
    while (python_goes_on(r, ")")) {
        read_parameter(r, f, arguments, &at, from);
        if (!python_comma(r, ")"))
            break;
    }
    python_close(r, ")");
}

/* Calls ---------------------------------------------------------------------------- */

void python_return(struct python_parser *r, struct value *v)
{
    struct python_frame *frame = r->in.frame;
    if (!frame)
        return;
    if (frame->returned && !python_same(frame->returned, v))
        v = python_unknown(r, v->line,
                           "what is returned depends on a condition that is "
                           "not known");
    frame->returned = v;
}

/* Whether one that nothing called is called where a condition does not hold, of a text
 * that means something without it. */
static bool is_left_out(struct python_parser *r, const struct python_function *f)
{
    bool out =
        r->wanted->enough && r->wanted->enough(r->p) && python_is_untaken(r, f->name);
    if (out)
        python_note(
            r, f->line,
            "%.60s() is called where a condition does not hold, and is not read",
            f->name);
    return out;
}

/* Reads functions that nothing called, by number: where they are within another, that
 * one's names are known to them. */
static void inline_from(struct python_parser *r, int64_t first)
{
    for (int64_t i = first; i < r->functions.n && !r->limit; i++) {
        struct python_function *f = &r->functions.v[i];
        if (!f->called && python_may_repeat(r) && !is_left_out(r, f))
            python_inline(r, f, NULL, f->line);
    }
}

/* What a function assigned to its object, of which other methods know: self.model = ... */
static struct value *object_of(struct python_parser *r, int64_t names)
{
    struct value *object = NULL;
    for (int64_t i = names; i < r->p->names.n && !r->limit; i++) {
        const struct python_name *n = &r->p->names.v[i];
        if (!n->value || strncmp(n->name, "self.", 5) != 0)
            continue;
        object = object ? object : python_new(r, VALUE_DICT, n->value->line);
        python_put(r, object, n->name, n->value->line, n->value);
    }
    return object;
}

static const struct python_around *around_of(struct python_parser *r, const char *name)
{
    struct python_around *around = ARENA_NEW(r->p->arena, struct python_around);
    *around = (struct python_around) { name, r->in.around };
    return around;
}

struct value *python_inline(struct python_parser *r, struct python_function *of,
                            const struct value *arguments, int64_t line)
{
    const struct python_function f = *of; /* others may come meanwhile */
    if (f.fields && arguments)
        return python_instance(r, of, arguments);
    if (r->in.inlined == INLINED_MAX || !python_may_repeat(r) || f.fields)
        return python_unknown(r, line, "%.60s(...) is a call", f.name);
    of->called = true;
    struct python_context outer = r->in;
    bool failed = r->failed;
    struct python_place here = python_here(r);
    struct python_frame frame = { .class = f.class };
    int64_t names = r->p->names.n, functions = r->functions.n;
    r->in = (struct python_context) { .frame = &frame,
                                      .around = around_of(r, f.name),
                                      .target = outer.target,
                                      .calling = outer.calling,
                                      .scope = names,
                                      .inlined = outer.inlined + 1,
                                      .nested = outer.nested,
                                      .nested_before = outer.nested,
                                      .left_unsurely = outer.left_unsurely };
    r->lex.brackets = 0;
    bind_parameters(r, &f, arguments);
    if (!python_stopped(r)) {
        python_go(r, &f.body);
        r->read_suite(r, f.column);
        inline_from(r, functions);
    }
    bool kept = arguments || r->limit; /* names of one that nothing called stay */
    for (int64_t i = names; !kept && i < r->p->names.n; i++)
        for (int64_t k = 0; k < names && r->p->names.v[i].value; k++)
            if (strcmp(r->p->names.v[k].name, r->p->names.v[i].name) == 0)
                r->p->names.v[i].value = NULL;
    struct value *object = kept ? object_of(r, names) : NULL;
    if (kept)
        python_leave_scope(r, names);
    python_go(r, &here);
    r->in = outer;
    r->failed = failed;
    for (int32_t i = 0; object && i < object->n && !r->limit; i++)
        python_bind(r, object->items[i].key, object->items[i].value);
    const struct value *v = frame.returned;
    if (f.changed && v && v->kind != VALUE_DICT && v->kind != VALUE_LIST)
        return python_unknown(r, line, "%.60s() has a decorator of its own", f.name);
    return frame.returned ? frame.returned : python_new(r, VALUE_NONE, line);
}

/* Those that the command line starts come first: they call others with what it gives. */
void python_inline_rest(struct python_parser *r, bool methods)
{
    for (int64_t i = 0; methods && i < r->functions.n && !r->limit; i++) {
        const struct python_function *f = &r->functions.v[i];
        bool made = f->class && r->functions.v[f->class - 1].made > 0;
        if (made && !f->called && python_may_repeat(r))
            python_inline(r, &r->functions.v[i], NULL, f->line);
    }
    if (methods)
        return;
    for (int64_t i = 0; i < r->functions.n && !r->limit; i++)
        if (r->functions.v[i].command && !r->functions.v[i].called)
            python_inline(r, &r->functions.v[i], NULL, r->functions.v[i].line);
    r->rest = true;
    r->built_by_calls = python_builds(r->p);
    inline_from(r, 0);
}
