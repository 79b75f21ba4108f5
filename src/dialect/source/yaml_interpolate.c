/* Interpolations of OmegaConf within a YAML document:
 * https://omegaconf.readthedocs.io/en/2.3_branch/grammar.html. */
#include "dialect/source/yaml.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHAIN_MAX = YAML_DEPTH_MAX + 4,
    UNDER_WAY_MAX = 30,
    ARGUMENTS_MAX = 4,
    NESTED_MAX = 40
};

/* A value with all that is around it, the root first. */
struct chain {
    struct value *v[CHAIN_MAX];
    int n;
};

struct resolver {
    struct yaml *y;
    struct value *root;
    const struct value *under_way[UNDER_WAY_MAX]; /* strings being resolved */
    int n;
    int nested; /* texts in each other */
};

static void resolve(struct resolver *r, struct chain *at);
static struct value *expand(struct resolver *r, const struct chain *at,
                            const char *text);

static struct value *unknown(struct resolver *r, const struct value *v,
                             const char *what, const char *shown, size_t n)
{
    return value_new_unknown(r->y->arena, v->line, v->column, "\"${%.*s}\" %s",
                             n > 60 ? 60 : (int)n, shown, what);
}

/* Keys ----------------------------------------------------------------------------- */

/* The member of that name, or the element of that number; false: there is none. */
static bool step(struct chain *c, const char *key, size_t n)
{
    struct value *v = c->v[c->n - 1];
    if (c->n == CHAIN_MAX)
        return false;
    for (int32_t i = 0; v->kind == VALUE_DICT && i < v->n; i++)
        if (strlen(v->items[i].key) == n && memcmp(v->items[i].key, key, n) == 0) {
            c->v[c->n++] = v->items[i].value;
            return true;
        }
    char *end;
    long i = strtol(key, &end, 10);
    if (v->kind != VALUE_LIST || end != key + n || !n || i < 0 || i >= v->n)
        return false;
    c->v[c->n++] = v->items[i].value;
    return true;
}

/* "a.b[0]" from the root, ".b" from the mapping around it, "..b" from one further. */
static bool walk(struct resolver *r, const struct chain *at, const char *path,
                 struct chain *to)
{
    const char *s = path;
    *to = *at;
    if (*s == '.') {
        for (; *s == '.' && to->n; s++)
            to->n--;
    } else {
        to->n = 1;
        to->v[0] = r->root;
    }
    while (*s && to->n) {
        size_t n = strcspn(s, ".[]");
        resolve(r, to); /* a part of the path may be an interpolation itself */
        if (n && !step(to, s, n))
            return false;
        s += n;
        s += strspn(s, ".[]");
    }
    return to->n > 0;
}

/* The path within this file, where it is one of hydra's group: the file training/x.yaml
 * calls its own key "training.model"
 * (https://hydra.cc/docs/advanced/overriding_packages). */
static const char *within_group(const struct resolver *r, const char *path)
{
    size_t n = strcspn(path, ".[");
    const char *first = arena_strndup(r->y->arena, path, n);
    bool other = n && path[n] == '.' && !value_get(r->root, first);
    return path + (other ? n + 1 : 0);
}

static struct value *named(struct resolver *r, const struct chain *at, const char *path)
{
    const struct value *self = at->v[at->n - 1];
    struct chain to;
    if (!walk(r, at, path, &to) && !walk(r, at, within_group(r, path), &to))
        return unknown(r, self, "names no key of this file", path, strlen(path));
    resolve(r, &to);
    struct value *v = value_copy(r->y->arena, to.v[to.n - 1], &r->y->left);
    return v ? v : unknown(r, self, "makes too many values", path, strlen(path));
}

/* name:arguments ------------------------------------------------------------------- */

/* Arguments apart by commas outside brackets and quotes; more than fit are left out. */
static int split(struct arena *arena, const char *s, const char *out[ARGUMENTS_MAX])
{
    int n = 0, depth = 0;
    const char *from = s;
    for (;; s++) {
        depth += *s == '{' || *s == '[' ? 1 : *s == '}' || *s == ']' ? -1 : 0;
        if (*s && (*s != ',' || depth))
            continue;
        size_t len = (size_t)(s - from);
        while (len && isspace((unsigned char)*from))
            from++, len--;
        while (len && isspace((unsigned char)from[len - 1]))
            len--;
        bool quoted =
            len > 1 && (*from == '\'' || *from == '"') && from[len - 1] == *from;
        if (n < ARGUMENTS_MAX)
            out[n] = arena_strndup(arena, from + quoted, len - 2 * quoted);
        n++;
        if (!*s)
            return n;
        from = s + 1;
    }
}

/* Resolvers that NVIDIA's NeMo registers for its configurations (NeMo
 * nemo/utils/..., NeMo-Framework-Launcher main.py): products and sums of two. */
static struct value *calculate(struct resolver *r, const struct chain *at,
                               const char *name, const char *const *words)
{
    const struct value *self = at->v[at->n - 1];
    const struct value *a = expand(r, at, words[0]), *b = expand(r, at, words[1]);
    bool whole = a->kind == VALUE_INT && b->kind == VALUE_INT;
    int64_t n = 0;
    bool beyond = !whole;
    if (whole && strcmp(name, "multiply") == 0)
        beyond = __builtin_mul_overflow(a->integer, b->integer, &n);
    else if (whole && strcmp(name, "add") == 0)
        beyond = __builtin_add_overflow(a->integer, b->integer, &n);
    else if (whole && b->integer > 0 && a->integer >= 0)
        n = a->integer / b->integer +
            (strcmp(name, "divide_ceil") == 0 && a->integer % b->integer);
    else
        beyond = true;
    if (beyond)
        return unknown(r, self, "is arithmetic of what is not known", name,
                       strlen(name));
    struct value *v = value_new(r->y->arena, VALUE_INT, self->line, self->column);
    v->integer = n;
    v->real = (double)n;
    return v;
}

static struct value *environment(struct resolver *r, const struct chain *at,
                                 const char *const *words, int n)
{
    struct arena *arena = r->y->arena;
    const struct value *self = at->v[at->n - 1];
    if (n < 2)
        return unknown(r, self, "is of the environment, which is not known", words[0],
                       strlen(words[0]));
    VEC_PUSH(
        &r->y->notes,
        ((struct value_note) {
            self->line, arena_printf(arena,
                                     "%.60s of the environment is taken to be %.60s, "
                                     "its default here",
                                     words[0], words[1]) }));
    return expand(r, at, words[1]);
}

static struct value *call(struct resolver *r, const struct chain *at, const char *name,
                          const char *rest)
{
    static const char *const products[] = { "multiply", "add", "divide_floor",
                                            "divide_ceil" };
    const struct value *self = at->v[at->n - 1];
    const char *words[ARGUMENTS_MAX];
    int n = split(r->y->arena, rest, words);
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
        if (strcmp(name, products[i]) == 0 && n == 2)
            return calculate(r, at, name, words);
    if (strcmp(name, "oc.env") == 0 || strcmp(name, "env") == 0)
        return environment(r, at, words, n);
    if (strcmp(name, "oc.select") == 0) {
        struct chain to;
        return n > 1 && !walk(r, at, words[0], &to) ? expand(r, at, words[1])
                                                    : named(r, at, words[0]);
    }
    return unknown(r, self, "would have to be run", name, strlen(name));
}

/* Strings -------------------------------------------------------------------------- */

/* From after "${" to after its "}"; NULL: it is never closed. */
static const char *closing(const char *s)
{
    for (int depth = 1; *s; s++) {
        depth += *s == '{' ? 1 : *s == '}' ? -1 : 0;
        if (depth == 0)
            return s + 1;
    }
    return NULL;
}

/* The value of what is between "${" and "}". */
static struct value *interpolate(struct resolver *r, const struct chain *at,
                                 const char *inner)
{
    const char *colon = strchr(inner, ':'), *nested = strstr(inner, "${");
    struct arena *arena = r->y->arena;
    if (colon && (!nested || colon < nested))
        return call(r, at, arena_strndup(arena, inner, (size_t)(colon - inner)),
                    colon + 1);
    if (nested) {
        const struct value *path = expand(r, at, inner);
        if (path->kind != VALUE_STRING)
            return unknown(r, at->v[at->n - 1], "is not known", inner, strlen(inner));
        inner = path->text;
    }
    return named(r, at, inner);
}

static void add_text(struct strbuf *b, const struct value *v)
{
    if (v->kind == VALUE_STRING)
        strbuf_addstr(b, v->text);
    else if (v->kind == VALUE_INT)
        strbuf_printf(b, "%" PRId64, v->integer);
    else if (v->kind == VALUE_REAL)
        strbuf_printf(b, "%.15g", v->real);
    else if (v->kind == VALUE_BOOL)
        strbuf_addstr(b, v->integer ? "True" : "False");
}

/* All of a text: one interpolation alone is its value, else they are joined. */
static struct value *expand(struct resolver *r, const struct chain *at,
                            const char *text)
{
    const struct value *self = at->v[at->n - 1];
    struct arena *arena = r->y->arena;
    const char *open = strstr(text, "${"), *end = open ? closing(open + 2) : NULL;
    if (!end)
        return yaml_plain(arena, text, self->line, self->column);
    if (--r->y->left < 0 || r->nested == NESTED_MAX)
        return unknown(r, self, "makes too many values", text, strlen(text));
    if (open == text && !*end) {
        r->nested++;
        struct value *v = interpolate(
            r, at, arena_strndup(arena, text + 2, (size_t)(end - text) - 3));
        r->nested--;
        return v;
    }
    r->nested++;
    struct strbuf b;
    struct value *lost = NULL;
    strbuf_init(&b);
    while (open && end && !lost && b.len < YAML_STRING_MAX) {
        strbuf_add(&b, text, (size_t)(open - text));
        struct value *v = interpolate(
            r, at, arena_strndup(arena, open + 2, (size_t)(end - open) - 3));
        lost = v->kind == VALUE_UNKNOWN ? v : NULL;
        add_text(&b, v);
        text = end;
        open = strstr(text, "${");
        end = open ? closing(open + 2) : NULL;
    }
    r->nested--;
    strbuf_addstr(&b, text);
    struct value *joined =
        lost ? lost
        : b.len < YAML_STRING_MAX
            ? value_new_string(arena, arena_strdup(arena, strbuf_get(&b)), self->line,
                               self->column)
            : unknown(r, self, "makes too long a text", text, strlen(text));
    strbuf_release(&b);
    return joined;
}

/* Replaces the value at the end of the chain, where it is a text with
 * interpolations. */
static void resolve(struct resolver *r, struct chain *at)
{
    struct value *v = at->v[at->n - 1], *made;
    if (v->kind != VALUE_STRING || !strstr(v->text, "${"))
        return;
    bool again = r->n == UNDER_WAY_MAX;
    for (int i = 0; i < r->n; i++)
        again |= r->under_way[i] == v;
    if (again) {
        const char *name = strstr(v->text, "${") + 2;
        made = unknown(r, v, "refers to itself", name, strcspn(name, "}"));
    } else {
        r->under_way[r->n++] = v;
        made = expand(r, at, v->text);
        r->n--;
    }
    const char *text = v->text;
    int64_t line = v->line, column = v->column;
    *v = *made;
    v->line = line;
    v->column = column;
    if (v->kind == VALUE_UNKNOWN)
        v->text = text;
}

static void resolve_all(struct resolver *r, struct chain *at)
{
    struct value *v = at->v[at->n - 1];
    resolve(r, at);
    for (int32_t i = 0; i < v->n && at->n < CHAIN_MAX; i++) {
        at->v[at->n++] = v->items[i].value;
        resolve_all(r, at);
        at->n--;
    }
}

void yaml_interpolate(struct yaml *y, struct value *root)
{
    struct resolver r = { .y = y, .root = root };
    struct chain *at = ARENA_NEW(y->arena, struct chain);
    at->n = 1;
    at->v[0] = root;
    resolve_all(&r, at);
}
