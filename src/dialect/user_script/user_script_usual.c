/* Numbers of a text by their usual names, wherever it has them: names, arguments, fields,
 * constants of modules, documents. */
#include "base/names.h"
#include "dialect/user_script/user_script_lengths.h"

#include <ctype.h>
#include <string.h>

/* What looks for a field says. */
struct field {
    const struct value *found;
    bool differs;
};

static void look_at(struct field *f, const struct value *v, const char *name)
{
    const struct value_item *it =
        v && v->kind == VALUE_DICT && v->text ? value_get(v, name) : NULL;
    if (!it || it->value->kind != VALUE_INT)
        return;
    f->differs |= f->found && it->value->integer != f->found->integer;
    f->found = it->value;
}

/* A field of instances of classes, those of functions that were called among them, else of
 * the text's own classes; NULL: none has it, or they differ. */
static const struct value *field_of(const struct python *p, const char *name)
{
    struct field made = { 0 }, classes = { 0 };
    for (int64_t i = 0; i < p->names.n; i++) {
        const struct value *v = p->names.v[i].value;
        bool class = v && v->kind == VALUE_DICT && v->text &&
                     strcmp(v->text, p->names.v[i].name) == 0;
        look_at(class ? &classes : &made, v, name);
    }
    for (int64_t i = 0; i < p->left.n; i++)
        look_at(&made, p->left.v[i].value, name);
    const struct field *f = made.found ? &made : &classes;
    return f->differs ? NULL : f->found;
}

/* Of the functions that were called. */
static const struct value *left_of(const struct python *p, const char *name)
{
    for (int64_t i = p->left.n; i-- > 0;)
        if (strcmp(p->left.v[i].name, name) == 0 && p->left.v[i].value &&
            p->left.v[i].value->kind == VALUE_INT)
            return p->left.v[i].value;
    return NULL;
}

/* A constant of a module of one's own: config.MAX_SEQ_LENGTH. */
static const struct value *constant_of(const struct python *p, const char *name)
{
    bool constant = isupper((unsigned char)*name) != 0;
    for (int64_t i = 0; constant && i < p->names.n; i++) {
        const struct python_name *n = &p->names.v[i];
        const char *dot = strchr(n->name, '.');
        if (dot && strcmp(dot + 1, name) == 0 && n->value &&
            n->value->kind == VALUE_INT)
            return n->value;
    }
    return NULL;
}

/* A member of a document that the text loads, at any depth. */
static const struct value *within(const struct value *v, const char *name, int deep)
{
    enum { DEEP_MAX = 4 };
    const struct value_item *it = value_get(v, name);
    if (it && it->value->kind == VALUE_INT)
        return it->value;
    const struct value *found = NULL;
    bool opens = v && v->kind == VALUE_DICT && !v->text && deep < DEEP_MAX;
    for (int32_t i = 0; opens && !found && i < v->n; i++)
        found = within(v->items[i].value, name, deep + 1);
    return found;
}

static const struct value *document_s(const struct python *p, const char *name)
{
    static const char *const documents[] = { "cfg",  "conf",   "config",
                                             "data", "dm",     "datamodule",
                                             "args", "CONFIG", NULL };
    const struct value *found = NULL;
    for (int64_t i = 0; i < p->names.n && !found; i++)
        if (names_listed(documents, p->names.v[i].name))
            found = within(p->names.v[i].value, name, 0);
    for (int64_t i = p->left.n; i-- > 0 && !found;)
        if (names_listed(documents, p->left.v[i].name))
            found = within(p->left.v[i].value, name, 0);
    return found;
}

const struct value *user_script_usual(const struct python *p, const char *name)
{
    const struct value *v = python_name(p, name);
    const struct value_item *it = p->parsed ? value_get(p->parsed, name) : NULL;
    v = v && v->kind == VALUE_INT            ? v
        : it && it->value->kind == VALUE_INT ? it->value
                                             : left_of(p, name);
    v = v ? v : field_of(p, name);
    v = v ? v : constant_of(p, name);
    v = v ? v : document_s(p, name);
    return v && v->integer > 0 ? v : NULL;
}

/* The last number of a shape: (length,), (samples, length). */
static const struct value *last_of(const struct value *shape)
{
    bool list = shape && shape->kind == VALUE_LIST && shape->n > 0 && shape->n < 3;
    const struct value *v = list ? shape->items[shape->n - 1].value : NULL;
    return v && v->kind == VALUE_INT && !shape->gap ? v : NULL;
}

const struct value *user_script_random_length(const struct python *p)
{
    static const char *const makers[] = { "__getitem__", "__iter__", "__init__", NULL };
    const struct value *first = NULL;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (strcmp(python_last_part(c->function), "randint") != 0 || c->quoted ||
            !c->within || !names_listed(makers, c->within))
            continue;
        const struct value *v = last_of(user_script_given(c, "size", "2"));
        if (!v || (first && first->integer != v->integer))
            return NULL;
        first = v;
    }
    return first;
}

/* A number of a shape, of two. */
static const struct value *side_of(const struct python_call *c, int32_t at)
{
    const struct value *shape = user_script_given(c, "size", "2");
    bool two = shape && shape->kind == VALUE_LIST && shape->n == 2 && !shape->gap;
    const struct value *v = two ? shape->items[at].value : NULL;
    return v && v->kind == VALUE_INT && v->integer > 0 ? v : NULL;
}

bool user_script_random_batch(const struct python *p, const struct value **batch,
                              const struct value **length)
{
    *batch = *length = NULL;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        const struct value *n = side_of(c, 0), *of = side_of(c, 1);
        if (strcmp(python_last_part(c->function), "randint") != 0 || c->quoted ||
            (c->within && strncmp(c->within, "__", 2) == 0))
            continue;
        if (!n || !of ||
            (*batch &&
             ((*batch)->integer != n->integer || (*length)->integer != of->integer)))
            return false;
        *batch = n;
        *length = of;
    }
    return *batch != NULL;
}
