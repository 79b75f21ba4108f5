/* Parsers whose arguments are the fields of dataclasses: transformers' HfArgumentParser,
 * TRL's and alignment-handbook's. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <string.h>

static const char parser_mark[] = "HfArgumentParser", classes_key[] = "classes";

struct value *python_field_parser(struct python_parser *r, struct value *arguments,
                                  int64_t line)
{
    const struct value *first = value_member(arguments, "0");
    struct value *v = python_new(r, VALUE_DICT, line), *list = NULL;
    first = first ? first : value_member(arguments, "dataclass_types");
    if (first && first->kind == VALUE_LIST)
        list = python_copy(r, first);
    else
        list = python_new(r, VALUE_LIST, line);
    if (first && first->kind != VALUE_LIST)
        python_append(r, list, (struct value *)(uintptr_t)first);
    v->text = parser_mark;
    python_put(r, v, classes_key, line, list);
    return v;
}

bool python_is_field_parser(const struct value *x)
{
    return x && x->kind == VALUE_DICT && x->text == parser_mark;
}

/* The name by which calls of the class are wanted, or that of one that it derives from;
 * NULL. */
static const char *wanted_name(struct python_parser *r, const struct value *class)
{
    enum { BASES_MAX = 8 };
    const char *name = class->text ? class->text : "";
    for (int i = 0; name && i < BASES_MAX; i++) {
        if (names_listed(r->wanted->calls, python_last_part(name)))
            return name;
        const struct python_function *f = python_function(r, name);
        name = f ? f->base : NULL;
    }
    return NULL;
}

/* One that is made of defaults and of what was given. Which of that is a field of a class
 * that is imported is not known: it has all. */
static struct value *instance_of(struct python_parser *r, const struct value *class,
                                 const struct value *given, int64_t line)
{
    struct value *v = class->kind == VALUE_DICT ? python_copy(r, class)
                                                : python_new(r, VALUE_DICT, line);
    const char *name = wanted_name(r, class);
    for (int32_t i = 0; given && i < given->n && !r->limit; i++) {
        const char *key = given->items[i].key;
        bool off = strncmp(key, "no_", 3) == 0 && value_get(v, key + 3);
        struct value *x = given == r->wanted->given
                              ? python_typed(r, given->items[i].value, 0)
                              : given->items[i].value;
        if (off)
            python_put(r, v, key + 3, line, python_bool(r, -1, false));
        else
            python_put(r, v, key, line, x);
        /* fields of classes that are imported are not known: whole words are left to
         * them */
        const char *whole =
            class->kind == VALUE_DICT ? python_completed(class, key, true) : NULL;
        if (whole)
            python_put(r, v, whole, line, x);
    }
    if (name || class->kind != VALUE_DICT)
        v->gap = line; /* its other fields have defaults that are not here */
    if (name || (class->kind != VALUE_DICT && class->text))
        python_mark_arguments(v, name ? name : class->text);
    if (name && python_record(r, name, line, NULL, v) >= 0) {
        struct python_call *c = &r->p->calls.v[r->p->calls.n - 1];
        c->result = v;
        c->parsed = given == r->wanted->given;
    }
    return v;
}

bool python_parses_itself(struct python_parser *r, const struct value *object)
{
    static const char *const parsers[] = { "Tap", "TypedArgumentParser", NULL };
    for (int64_t i = r->objects.n; i-- > 0;)
        if (r->objects.v[i].value == object) {
            const char *base = r->functions.v[r->objects.v[i].class].base;
            return base && names_listed(parsers, python_last_part(base));
        }
    return false;
}

struct value *python_parse_class(struct python_parser *r, const struct value *class,
                                 int64_t line)
{
    struct value *v = instance_of(r, class, r->wanted->given, line);
    v->text = class->text;
    return v;
}

/* What parse_dict(...), parse_json_file(...) and parse_yaml_file(...) make the instances
 * of (transformers/hf_argparser.py, 4.57), where no command gives it; else what that
 * gives. */
static const struct value *handed(struct python_parser *r, const char *method,
                                  const struct value *arguments, int64_t line)
{
    static const char *const files[] = { "parse_json_file", "parse_yaml_file", NULL };
    static const char *const names[] = { "0", "args", "json_file", "yaml_file" };
    const struct value *all = r->wanted->given, *v = NULL;
    const struct python_modules *m = r->wanted->modules;
    const char *path;
    for (size_t i = 0; !v && i < sizeof(names) / sizeof(names[0]); i++)
        v = value_member(arguments, names[i]);
    if (!v || (all && all->n > 0))
        return all;
    if (strcmp(method, "parse_dict") == 0)
        return v->kind == VALUE_DICT ? v : all;
    v = names_listed(files, method) && v->kind == VALUE_STRING && m
            ? m->document(m->of, r->p->arena, v->text, false, &path)
            : NULL;
    if (!v || v->kind != VALUE_DICT)
        return all;
    struct value *own = python_deep_copy(r, v);
    value_move_to(own, line);
    return own;
}

struct value *python_parse_fields(struct python_parser *r, const struct value *parser,
                                  const char *method, const struct value *arguments,
                                  int64_t line)
{
    const struct value *rest = value_member(arguments, "return_remaining_strings");
    const struct value *classes = value_member(parser, classes_key);
    const struct value *given = handed(r, method, arguments, line);
    struct value *list = python_new(r, VALUE_LIST, line);
    for (int32_t i = 0; classes && i < classes->n && !r->limit; i++)
        python_append(r, list, instance_of(r, classes->items[i].value, given, line));
    if (rest && python_truth(rest) == 1)
        python_append(r, list, python_new(r, VALUE_LIST, line));
    bool one = strcmp(method, "parse") == 0 && list->n == 1; /* alignment-handbook's */
    return one ? list->items[0].value : list;
}
