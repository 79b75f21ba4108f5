/* What yq and jq print of a file next to the script: a path of keys and places in it.
 *
 * Followed are .a.b, ."a", .["a"], .a[0], .a[] as the last, `// LITERAL` and `| length`
 * after the path; a quoted path in yq's version 3, `yq r FILE a.b`. Whole dictionaries and
 * lists are not printed. jq quotes a string unless -r is given (jq 1.7's manual); yq of
 * Mike Farah's, version 4, does not. */
#include "dialect/shell/shell_machine.h"
#include "dialect/source/yaml.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

struct query {
    struct arena *arena;
    const char *at; /* what is left of the path */
    const struct value *v;
    bool each; /* .a[]: each of it */
};

/* Over a name: "quoted", or as far as it goes; NULL: there is none. */
static const char *take_name(struct query *q)
{
    bool quoted = *q->at == '"';
    const char *from = q->at + quoted, *end = from;
    while (*end && (quoted ? *end != '"' : isalnum((unsigned char)*end) || *end == '_'))
        end++;
    if (end == from || (quoted && !*end))
        return NULL;
    q->at = end + quoted;
    return arena_strndup(q->arena, from, (size_t)(end - from));
}

/* Down to a key; of what has none, to nothing, as both print null. */
static void go_to(struct query *q, const char *key)
{
    const struct value_item *it = value_get(q->v, key);
    q->v = it ? it->value : NULL;
}

/* [0], ["a"] and []. */
static bool take_bracket(struct query *q)
{
    int64_t place = 0, digits = 0;
    q->at++;
    if (*q->at == ']') {
        q->at++;
        q->each = true;
        return true;
    }
    if (*q->at == '"') {
        const char *name = take_name(q);
        if (name)
            go_to(q, name);
        return name && *q->at++ == ']';
    }
    for (; isdigit((unsigned char)*q->at) && digits < 6; digits++)
        place = place * 10 + (*q->at++ - '0');
    bool has = q->v && q->v->kind == VALUE_LIST && place < q->v->n;
    q->v = has ? q->v->items[place].value : NULL;
    return digits && *q->at++ == ']';
}

/* The path from "." on; false: it is not followed. */
static bool take_path(struct query *q)
{
    while ((*q->at == '.' || *q->at == '[') && !q->each) {
        const char *name = NULL;
        bool bracket = q->at[*q->at == '.'] == '[';
        q->at += *q->at == '.';
        if (bracket ? !take_bracket(q) : !(name = take_name(q)))
            return false;
        if (name)
            go_to(q, name);
    }
    q->at += strspn(q->at, " ");
    return true;
}

/* `// LITERAL` for null and false, and `| length`. */
static bool take_rest(struct query *q, int64_t *length)
{
    if (strncmp(q->at, "//", 2) == 0) {
        const char *from = q->at + 2 + strspn(q->at + 2, " ");
        bool quoted = *from == '"';
        size_t n = strcspn(from + quoted, quoted ? "\"" : " |()[]{}.\"");
        const char *end = from + 2 * quoted + n;
        bool none = !q->v || q->v->kind == VALUE_NONE ||
                    (q->v->kind == VALUE_BOOL && !q->v->integer);
        if (*end || q->each || strlen(from) < n + 2 * (size_t)quoted)
            return false;
        const char *text = arena_strndup(q->arena, from + quoted, n);
        if (none)
            q->v = quoted ? value_new_string(q->arena, text, 1, 0)
                          : yaml_plain(q->arena, text, 1, 0);
        return true;
    }
    if (*q->at == '|' && strcmp(q->at + 1 + strspn(q->at + 1, " "), "length") == 0) {
        *length = !q->v                        ? 0
                  : q->v->kind == VALUE_STRING ? (int64_t)strlen(q->v->text)
                  : q->v->kind == VALUE_LIST || q->v->kind == VALUE_DICT ? q->v->n
                                                                         : -1;
        return *length >= 0 && !q->each;
    }
    return *q->at == '\0';
}

/* What is printed of a value; NULL: of those that are not. */
static const char *shown(struct arena *arena, const struct value *v, bool quotes)
{
    switch (v ? v->kind : VALUE_NONE) {
    case VALUE_NONE:
        return "null";
    case VALUE_BOOL:
        return v->integer ? "true" : "false";
    case VALUE_INT:
        return arena_printf(arena, "%" PRId64, v->integer);
    case VALUE_REAL:
        return arena_printf(arena, "%.15g", v->real);
    case VALUE_STRING:
        return quotes ? arena_printf(arena, "\"%s\"", v->text) : v->text;
    default:
        return NULL;
    }
}

static const char *shown_all(struct query *q, bool quotes)
{
    const char *text = q->each ? "" : shown(q->arena, q->v, quotes);
    bool has =
        q->each && q->v && (q->v->kind == VALUE_LIST || q->v->kind == VALUE_DICT);
    if (q->each && (!has || q->v->n > SHELL_WORDS_MAX / 8))
        return NULL;
    for (int32_t i = 0; q->each && i < q->v->n; i++) {
        const char *one = shown(q->arena, q->v->items[i].value, quotes);
        if (!one || strlen(text) > SHELL_VALUE_MAX)
            return NULL;
        text = arena_printf(q->arena, "%s%s%s", text, i ? "\n" : "", one);
    }
    return text;
}

const char *shell_query(struct shell_machine *m, const char *const *w, int n,
                        const char *text)
{
    const char *path = NULL, *file = NULL;
    bool jq = strcmp(w[0], "jq") == 0, raw = !jq;
    bool old = n == 4 && strcmp(w[1], "r") == 0; /* yq r FILE a.b */
    for (int i = 1 + old; i < n; i++) {
        bool option = w[i][0] == '-' && w[i][1],
             word = strcmp(w[i], "e") == 0 || strcmp(w[i], "eval") == 0;
        if (option && strspn(w[i] + 1, "reMc") != strlen(w[i] + 1) &&
            strcmp(w[i], "--raw-output") != 0 && strcmp(w[i], "--exit-status") != 0)
            return NULL;
        raw |= option && (strchr(w[i], 'r') && w[i][1] != '-');
        raw |= strcmp(w[i], "--raw-output") == 0;
        if (option || (word && !path && !jq))
            continue;
        if (path && file)
            return NULL;
        *(path ? &file : &path) = w[i];
    }
    if (old) {
        const char *first = path;
        path = file ? arena_printf(m->arena, ".%s", file) : NULL;
        file = first;
    }
    text = file ? shell_file_text(m, file) : text;
    if (!path || *path != '.' || !text || shell_works(m, (int64_t)strlen(text)))
        return NULL;
    struct yaml y = { 0 };
    struct err err = { 0 };
    bool read = yaml_read(&y, m->arena, text, strlen(text), &err) == 0;
    struct query q = { .arena = m->arena,
                       .at = path + (path[1] == '\0'),
                       .v = read && y.documents.n ? y.documents.v[0] : NULL };
    int64_t length = -1;
    bool known = read && take_path(&q) && take_rest(&q, &length);
    yaml_release(&y);
    return !known        ? NULL
           : length >= 0 ? arena_printf(m->arena, "%" PRId64, length)
                         : shown_all(&q, !raw);
}
