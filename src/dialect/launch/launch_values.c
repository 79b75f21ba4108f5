/* Values of a launch script as those of a scenario, with their places; marks what is
 * unresolved. */
#include "base/strbuf.h"
#include "config/pointer.h"
#include "dialect/launch/launch_context.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VALUES_MAX = 10000, DEPTH_MAX = 50 };

/* Setting and doubting ------------------------------------------------------------- */

bool launch_has(const struct launch_context *t, const char *pointer)
{
    return pointer_get(t->tree, pointer) != NULL;
}

static void remember(struct launch_context *t, const char *pointer, int64_t line)
{
    VEC_PUSH(&t->l->origins, ((struct launch_origin) { pointer, line }));
}

void launch_set(struct launch_context *t, const char *pointer, json_t *value,
                const struct value_item *from)
{
    struct err err = { 0 };
    if (!value)
        return;
    char *text = json_dumps(value, LAUNCH_SHOWN);
    struct launch_resolved fact = { pointer, arena_strdup(t->arena, text ? text : ""),
                                    from->key, from->value->line, false };
    free(text);
    remember(t, pointer, fact.line);
    if (pointer_set(t->tree, pointer, value, &err))
        launch_add_unresolved(t, pointer, fact.line, "%s", err.text);
    else
        VEC_PUSH(&t->l->resolved, fact);
}

void launch_forget(struct launch_context *t, const char *pointer)
{
    struct launch *l = t->l;
    size_t n = strlen(pointer);
    for (int64_t i = l->resolved.n; i-- > 0;)
        if (strncmp(l->resolved.v[i].pointer, pointer, n) == 0 &&
            strchr("/", l->resolved.v[i].pointer[n])) {
            memmove(&l->resolved.v[i], &l->resolved.v[i + 1],
                    (size_t)(l->resolved.n - i - 1) * sizeof(l->resolved.v[0]));
            l->resolved.n--;
        }
}

void launch_take_back(struct launch_context *t, const char *pointer)
{
    const char *last = strrchr(pointer, '/');
    const char *outer = arena_strndup(t->arena, pointer, (size_t)(last - pointer));
    launch_forget(t, pointer);
    json_object_del(*outer ? pointer_get(t->tree, outer) : t->tree, last + 1);
}

void launch_add_unresolved(struct launch_context *t, const char *pointer, int64_t line,
                           const char *fmt, ...)
{
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    VEC_PUSH(&t->l->unresolved,
             ((struct launch_unresolved) { .pointer = pointer,
                                           .what = arena_strdup(t->arena, text),
                                           .line = line }));
}

void launch_add_example(struct launch_context *t, const char *pointer,
                        const char *example)
{
    for (int64_t i = t->l->unresolved.n; i-- > 0;)
        if (strcmp(t->l->unresolved.v[i].pointer, pointer) == 0) {
            t->l->unresolved.v[i].example = example;
            return;
        }
}

void launch_ask_frozen(struct launch_context *t, const struct value_item *it)
{
    static const char at[] = "/training/frozen", lora[] = "/training/lora";
    if (t->adapters || launch_has(t, lora) || launch_is_unresolved(t, lora) ||
        launch_has(t, at) || launch_is_unresolved(t, at))
        return;
    launch_hear(t, it);
    launch_add_unresolved(t, at, it->value->line,
                          "%.60s: a part of the model is frozen, which is not read; [] "
                          "is none, and [\"embeddings\", \"layers 0-23\"] what is "
                          "frozen",
                          it->key);
}

/* How long the job is: a step is simulated without it. */
static bool is_length_of_job(const char *pointer)
{
    return strcmp(pointer, "/training/steps") == 0 ||
           strcmp(pointer, "/training/epochs") == 0 ||
           strcmp(pointer, "/training/samples") == 0;
}

void launch_add_unknown(struct launch_context *t, const char *pointer, const char *from,
                        const struct value *v)
{
    if (is_length_of_job(pointer)) {
        launch_note(t->l, v->line, DIAG_LEFT_OUT, "%s: %s; it is left out", from,
                    v->why);
        return;
    }
    launch_add_unresolved(t, pointer, v->line, "%s: %s, and nothing is run", from,
                          v->why);
    struct launch_unresolved *open = &t->l->unresolved.v[t->l->unresolved.n - 1];
    open->from = arena_strdup(t->arena, from);
    open->ask = v->ask;
}

/* Values --------------------------------------------------------------------------- */

const char *launch_pointer(struct launch_context *t, const char *pointer,
                           const char *key)
{
    struct strbuf b;
    strbuf_init(&b);
    strbuf_printf(&b, "%s/", pointer);
    for (; *key && b.len < 1000; key++) {
        if (*key == '~' || *key == '/')
            strbuf_addstr(&b, *key == '~' ? "~0" : "~1");
        else
            strbuf_addch(&b, *key);
    }
    const char *path = arena_strdup(t->arena, strbuf_get(&b));
    strbuf_release(&b);
    return path;
}

static json_t *make_json(struct launch_context *t, const struct value *v,
                         const char *pointer, int depth);

static json_t *container_json(struct launch_context *t, const struct value *v,
                              const char *pointer, int depth)
{
    json_t *tree = v->kind == VALUE_DICT ? json_object() : json_array();
    if (v->gap)
        launch_note(t->l, v->gap, DIAG_LEFT_OUT,
                    "%s: the script leaves something out here", pointer);
    for (int32_t i = 0; i < v->n; i++) {
        const struct value_item *it = &v->items[i];
        const char *key = it->key ? it->key : arena_printf(t->arena, "%d", (int)i);
        json_t *item =
            make_json(t, it->value, launch_pointer(t, pointer, key), depth + 1);
        if (item && v->kind == VALUE_DICT)
            json_object_set_new(tree, key, item);
        else if (item)
            json_array_append_new(tree, item);
    }
    return tree;
}

static json_t *make_json(struct launch_context *t, const struct value *v,
                         const char *pointer, int depth)
{
    if (++t->values > VALUES_MAX || depth > DEPTH_MAX) {
        if (t->values <= VALUES_MAX + 1)
            launch_add_unresolved(t, pointer, v->line, "it holds too much, or itself");
        t->values = VALUES_MAX + 1;
        return NULL;
    }
    remember(t, pointer, v->line);
    switch (v->kind) {
    case VALUE_NONE:
        return json_null();
    case VALUE_BOOL:
        return json_boolean(v->integer);
    case VALUE_INT:
        return json_integer((json_int_t)v->integer);
    case VALUE_REAL:
        return json_real(v->real);
    case VALUE_STRING:
        return json_string(v->text);
    case VALUE_LIST:
    case VALUE_DICT:
        return container_json(t, v, pointer, depth);
    case VALUE_UNKNOWN:
        break;
    }
    launch_add_unresolved(t, pointer, v->line, "%s, and nothing is run", v->why);
    return NULL;
}

json_t *launch_json(struct launch_context *t, const struct value *v,
                    const char *pointer)
{
    return make_json(t, v, pointer, 0);
}

/* The text without the "_" that Python's int() passes over: 220_000_000. */
static bool plain_digits(char *out, size_t size, const char *text)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++)
        if (*text != '_')
            out[n++] = *text;
    out[n] = '\0';
    return n > 0 && !*text;
}

/* A whole number, also one in quotes, as hyperparameters travel. */
bool launch_whole(const struct value *v, int64_t *n)
{
    char digits[64], *end;
    double real = v->kind == VALUE_REAL ? v->real : 0.5;
    if (v->kind == VALUE_INT) {
        *n = v->integer;
        return true;
    }
    if (v->kind == VALUE_STRING && plain_digits(digits, sizeof(digits), v->text))
        real = strtod(digits, &end), real = *end ? 0.5 : real;
    *n = fabs(real) < 1e15 ? (int64_t)real : 0;
    return fabs(real) < 1e15 && real == floor(real);
}

bool launch_real(const struct value *v, double *x)
{
    char *end = NULL;
    *x = v->kind == VALUE_INT ? (double)v->integer : v->real;
    if (v->kind == VALUE_STRING && v->text[0])
        *x = strtod(v->text, &end);
    else if (v->kind != VALUE_INT && v->kind != VALUE_REAL)
        return false;
    return (!end || !*end) && isfinite(*x);
}

bool launch_true(const struct value *v)
{
    static const char *const words[] = { "true", "yes", "t", "y", "1", NULL };
    for (const char *const *w = words; v->kind == VALUE_STRING && *w; w++)
        if (strcasecmp(v->text, *w) == 0)
            return true;
    return (v->kind == VALUE_BOOL || v->kind == VALUE_INT) && v->integer != 0;
}

bool launch_switch(struct launch_context *t, const char *pointer,
                   const struct value_item *it, bool otherwise)
{
    static const char *const words[] = { "true", "yes", "t", "y", "1",    "false", "no",
                                         "f",    "n",   "0", "",  "none", NULL };
    if (!it || it->value->kind == VALUE_NONE)
        return otherwise;
    bool truth = it->value->kind == VALUE_BOOL || it->value->kind == VALUE_INT;
    for (const char *const *w = words; it->value->kind == VALUE_STRING && *w; w++)
        truth |= strcasecmp(it->value->text, *w) == 0;
    if (truth)
        return launch_true(it->value);
    if (!launch_is_unresolved(t, pointer))
        launch_unresolved_item(t, pointer, it, "true or false");
    return otherwise;
}

bool launch_is_on(const struct value *dict, const char *key)
{
    const struct value *v = value_member(dict, key);
    return v && launch_true(v);
}

char *launch_argument(struct arena *arena, const char *option)
{
    char *name = arena_strdup(arena, option + strspn(option, "-"));
    for (char *s = name; *s; s++)
        *s = *s == '-' ? '_' : *s;
    return name;
}

struct value *launch_arguments(struct arena *arena, const struct value *options)
{
    struct value *all = value_new(arena, VALUE_DICT, options->line, 0);
    for (int32_t i = 0; i < options->n; i++) {
        const struct value_item *it = &options->items[i];
        value_add(arena, all, launch_argument(arena, it->key), it->line, it->value);
    }
    return all;
}

/* Marks as unresolved a value that is not known, or is of the wrong kind. */
void launch_unresolved_item(struct launch_context *t, const char *pointer,
                            const struct value_item *it, const char *wanted)
{
    if (it->value->kind == VALUE_UNKNOWN)
        launch_add_unknown(t, pointer, it->key, it->value);
    else if (it->value->kind == VALUE_STRING && it->value->text[0])
        launch_add_unresolved(t, pointer, it->value->line, "%s: \"%.80s\" is no %s",
                              it->key, it->value->text, wanted);
    else
        launch_add_unresolved(t, pointer, it->value->line, "%s: it is no %s", it->key,
                              wanted);
}

/* What the job can be simulated without is not marked as unresolved. */
void launch_leave_out(struct launch_context *t, const struct value_item *it,
                      const char *wanted)
{
    bool unknown = it->value->kind == VALUE_UNKNOWN;
    launch_note(t->l, it->value->line, DIAG_LEFT_OUT, "%s: %s%s; it is left out",
                it->key, unknown ? it->value->why : "it is no ", unknown ? "" : wanted);
}

int64_t launch_number(const struct launch_context *t, const char *pointer,
                      int64_t otherwise)
{
    json_t *v = pointer_get(t->tree, pointer);
    return json_is_integer(v) ? (int64_t)json_integer_value(v) : otherwise;
}

/* A size that a file gives; what no job has is refused where the scenario is read. */
static int64_t size_of(const struct launch_context *t, const char *pointer,
                       int64_t otherwise)
{
    const int64_t most = INT64_C(1) << 24;
    int64_t n = launch_number(t, pointer, otherwise);
    return n < most ? n : most;
}

int64_t launch_sequences(const struct launch_context *t, int64_t tokens, int64_t length)
{
    static const char parts[] = "/parallelism/context";
    const int64_t tokens_most = INT64_C(1) << 38, most = INT64_C(1) << 24;
    int64_t context = size_of(t, parts, 1), n = 1,
            ranks = size_of(t, "/cluster/count", 1) *
                    size_of(t, "/cluster/gpus_per_instance", 8),
            step = launch_number(t, "/training/global_batch_size", 0);
    if (context < 1 || length < 1)
        return 1;
    n = (tokens < tokens_most ? tokens : tokens_most) * context / length;
    n = n < 1 ? 1 : n < most ? n : most;
    ranks /= context;
    if (ranks < 1 || step < ranks || step % ranks != 0)
        return n;
    for (n = n < step / ranks ? n : step / ranks; step / ranks % n; n--)
        ;
    return n;
}
