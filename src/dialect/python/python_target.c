/* What comes before "=" in Python source. */
#include "dialect/python/python_target.h"

#include "base/names.h"

#include <stdlib.h>
#include <string.h>

bool python_at_name(const struct python_parser *r)
{
    static const char *const words[] = { "True", "False",  "None",
                                         "not",  "lambda", "await" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (python_at(r, words[i]))
            return false;
    return r->t.kind == TOKEN_NAME;
}

/* vars(x)["a"], x.__dict__["a"], globals()["a"]: the x.a or a that is meant, the parser
 * at "[" after what they are read as; otherwise it stays, and nothing is changed. */
static void read_names_of(struct python_parser *r, struct python_target *t)
{
    struct python_place before = python_here(r);
    const char *of = t->name, *dot = strrchr(of, '.');
    bool vars = strcmp(of, "vars") == 0, globals = strcmp(of, "globals") == 0;
    if (dot && strcmp(dot, PYTHON_NAMES_OF) == 0) {
        of = arena_strndup(r->p->arena, of, (size_t)(dot - of));
    } else if ((vars || globals) && python_at(r, "(")) {
        python_open(r);
        of = vars && python_at_name(r) ? python_path(r) : globals ? "" : NULL;
        r->failed |= !of;
        python_close(r, ")");
    } else {
        return;
    }
    const char *key = NULL;
    if (!python_stopped(r) && python_at(r, "[")) {
        python_open(r);
        key = python_key(r, python_expression(r));
        python_close(r, "]");
    }
    if (python_stopped(r) || !key) {
        r->failed = false;
        python_go(r, &before);
        return;
    }
    t->name = *of ? arena_printf(r->p->arena, "%s.%s", of, key) : key;
}

/* .self_attn of model.layers[0].self_attn, .mlp of h[0].blocks[1].mlp: what follows keys,
 * without keys of its own. */
static void read_beyond(struct python_parser *r, struct python_target *t)
{
    const char *path = "";
    t->of = python_target_value(r, t);
    while (!python_stopped(r) && (python_at(r, ".") || python_at(r, "["))) {
        if (python_at(r, "[")) {
            python_open(r);
            python_expression(r);
            python_close(r, "]");
            t->of = NULL;
            continue;
        }
        python_advance(r);
        r->failed |= r->t.kind != TOKEN_NAME;
        if (python_stopped(r))
            return;
        path = arena_printf(r->p->arena, "%s%s%.*s", path, *path ? "." : "",
                            (int)r->t.n, r->t.s);
        python_advance(r);
    }
    t->beyond = path;
}

bool python_read_target(struct python_parser *r, struct python_target *t)
{
    *t = (struct python_target) { .line = r->t.line };
    t->starred = python_at(r, "*");
    if (t->starred)
        python_advance(r);
    if (!python_at_name(r))
        return false;
    t->name = python_path(r);
    read_names_of(r, t);
    while (!python_stopped(r) && python_at(r, "[") && t->n_keys < PYTHON_KEYS_MAX) {
        python_open(r);
        t->either = python_expression(r);
        t->keys[t->n_keys++] = python_key(r, t->either);
        python_close(r, "]");
    }
    if (t->n_keys && python_at(r, "."))
        read_beyond(r, t);
    return !python_stopped(r);
}

void python_record_attribute(struct python_parser *r, const struct python_target *t,
                             struct value *v)
{
    const char *path = t->beyond
                           ? arena_printf(r->p->arena, "%s.%s", t->name, t->beyond)
                           : t->name,
               *dot = strrchr(path, '.');
    const char *const *more = r->wanted->attributes;
    if (!dot || (t->n_keys && !t->beyond) ||
        !(names_listed(r->wanted->calls, dot + 1) ||
          (more && names_listed(more, dot + 1))))
        return;
    struct value *arguments = python_new(r, VALUE_DICT, t->line);
    python_put(r, arguments, "0", t->line, v);
    python_record(r, path, t->line, NULL, arguments);
}

bool python_assign_beyond(struct python_parser *r, const struct python_target *t,
                          struct value *v)
{
    const char *member;
    struct value *all = t->beyond && !t->of ? python_holder(r, t->name, &member) : NULL;
    bool single = t->beyond && !strchr(t->beyond, '.');
    bool known =
        all && !member && all->n > 0 && all->items[0].value->kind == VALUE_DICT;
    if (single && t->of && t->of->kind == VALUE_DICT)
        python_put(r, t->of, t->beyond, t->line, v);
    else if (single && known)
        python_spoil(r, all, "an attribute of one of its elements is set");
    return t->beyond != NULL;
}

struct value *python_holder(struct python_parser *r, const char *path, const char **key)
{
    struct value *x = python_find(r, path);
    const char *dot = strrchr(path, '.');
    *key = NULL;
    if (x || !dot)
        return x;
    const char *outer = arena_strndup(r->p->arena, path, (size_t)(dot - path));
    x = python_find(r, outer);
    x = x ? x : python_member_at(r, outer);
    *key = dot + 1;
    return x && x->kind == VALUE_DICT ? x : NULL;
}

/* A key as what it is of: the place in a list, or a name. */
static struct value *key_of(struct python_parser *r, const struct python_target *t,
                            int i, const struct value *x)
{
    char *end;
    long long n = strtoll(t->keys[i], &end, 10);
    return x->kind == VALUE_LIST && *t->keys[i] && !*end
               ? python_int(r, t->line, n)
               : python_text(r, t->line, t->keys[i]);
}

struct value *python_target_value(struct python_parser *r,
                                  const struct python_target *t)
{
    const char *member;
    struct value *x = t->beyond ? NULL : python_holder(r, t->name, &member);
    if (x && member)
        x = value_get(x, member) ? value_get(x, member)->value : NULL;
    for (int i = 0; x && i < t->n_keys; i++)
        x = t->keys[i] ? python_element(r, x, key_of(r, t, i, x)) : NULL;
    return x;
}
