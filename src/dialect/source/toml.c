#include "dialect/source/toml_scan.h"

#include "config/lenient.h"
#include "config/place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A dotted key. */
struct key {
    const char *parts[TOML_DEPTH_MAX];
    int n;
    int64_t line;
};

/* Characters ----------------------------------------------------------------------- */

/* Of the next character; in all O(text). */
static int64_t column_of(struct toml_reader *r)
{
    if (r->counted < r->line_start || r->counted > r->s) {
        r->counted = r->line_start;
        r->column = 1;
    }
    for (; r->counted < r->s; r->counted++)
        r->column += ((unsigned char)*r->counted & 0xc0) != 0x80;
    return r->column;
}

void *toml_fail(struct toml_reader *r, const char *fmt, ...)
{
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    err_set_at(r->err, (int)r->line, (int)column_of(r), "%s", text);
    return NULL;
}

/* Not newlines. */
static void skip_blanks(struct toml_reader *r)
{
    while (r->s < r->end && (*r->s == ' ' || *r->s == '\t'))
        r->s++;
}

void toml_newline(struct toml_reader *r)
{
    r->s++;
    r->line++;
    r->line_start = r->s;
}

static bool at(const struct toml_reader *r, char c)
{
    return r->s < r->end && *r->s == c;
}

static void skip_comment(struct toml_reader *r)
{
    skip_blanks(r);
    if (!at(r, '#'))
        return;
    for (; r->s < r->end && *r->s != '\n'; r->s++)
        if (((unsigned char)*r->s < ' ' && *r->s != '\t' && *r->s != '\r') ||
            *r->s == 0x7f) {
            toml_fail(r, "no comment has this character");
            return;
        }
}

/* Blanks, comments and newlines. */
static void skip_lines(struct toml_reader *r)
{
    for (skip_comment(r); !r->err->set; skip_comment(r)) {
        if (at(r, '\r') && r->s + 1 < r->end && r->s[1] == '\n')
            r->s++;
        if (!at(r, '\n'))
            return;
        toml_newline(r);
    }
}

struct toml_node *toml_node(struct toml_reader *r, enum value_kind kind,
                            enum toml_how how)
{
    if (--r->left < 0)
        return toml_fail(r, "more than %d values (give the part that is meant)",
                         TOML_VALUES_MAX);
    struct toml_node *n = ARENA_NEW(r->arena, struct toml_node);
    *n = (struct toml_node) {
        .value = { .kind = kind, .line = r->line, .column = column_of(r) }, .how = how
    };
    return n;
}

static struct toml_node *node_of(struct value *v)
{
    return (struct toml_node *)v;
}

/* Keys ----------------------------------------------------------------------------- */

static const char *read_part(struct toml_reader *r)
{
    const char *from = r->s;
    if (at(r, '"') || at(r, '\''))
        return toml_string(r, false);
    while (r->s < r->end && (isalnum((unsigned char)*r->s) || strchr("_-", *r->s)))
        r->s++;
    if (r->s == from)
        return toml_fail(r, "a key is missing here (give a word)");
    return arena_strndup(r->arena, from, (size_t)(r->s - from));
}

static bool read_key(struct toml_reader *r, struct key *k)
{
    *k = (struct key) { .line = r->line };
    do {
        if (k->n)
            r->s++;
        skip_blanks(r);
        if (k->n == TOML_DEPTH_MAX)
            toml_fail(r, "the key has more than %d parts", TOML_DEPTH_MAX);
        else
            k->parts[k->n++] = read_part(r);
        skip_blanks(r);
    } while (!r->err->set && at(r, '.'));
    return !r->err->set;
}

static struct value *member(const struct value *table, const char *key)
{
    const struct value_item *it = value_get(table, key);
    return it ? it->value : NULL;
}

static bool add(struct toml_reader *r, struct value *table, const char *key,
                int64_t line, struct value *v)
{
    if (table->n == TOML_KEYS_MAX)
        toml_fail(r, "more than %d keys in one table", TOML_KEYS_MAX);
    else
        value_add(r->arena, table, key, line, v);
    return !r->err->set;
}

static struct value *add_table(struct toml_reader *r, struct value *table,
                               const char *key, int64_t line, enum toml_how how)
{
    struct toml_node *n = toml_node(r, VALUE_DICT, how);
    return n && add(r, table, key, line, &n->value) ? &n->value : NULL;
}

static void *twice(struct toml_reader *r, const char *key, const struct value *old)
{
    return toml_fail(r, "\"%.60s\" is defined already, at line %" PRId64, key,
                     old->line);
}

/* Values --------------------------------------------------------------------------- */

static struct value *read_value(struct toml_reader *r);

/* KEY = VALUE, the key's dots making tables on the way. */
static void read_pair(struct toml_reader *r, struct value *table)
{
    struct key key, *k = &key;
    if (!read_key(r, k))
        return;
    if (!at(r, '=')) {
        toml_fail(r, "a \"=\" is missing here");
        return;
    }
    r->s++;
    skip_blanks(r);
    for (int i = 0; i + 1 < k->n && table; i++) {
        struct value *next = member(table, k->parts[i]);
        if (!next)
            table = add_table(r, table, k->parts[i], k->line, TOML_DOTTED);
        else if (next->kind == VALUE_DICT && node_of(next)->how == TOML_DOTTED)
            table = next;
        else
            table = twice(r, k->parts[i], next);
    }
    const char *last = k->parts[k->n - 1];
    struct value *old = member(table, last), *v = old || !table ? NULL : read_value(r);
    if (old)
        twice(r, last, old);
    if (v)
        add(r, table, last, k->line, v);
}

/* Nothing is added to an inline table after its bracket. */
static void seal(struct value *v)
{
    node_of(v)->how = TOML_VALUE;
    for (int32_t i = 0; v->kind == VALUE_DICT && i < v->n; i++)
        seal(v->items[i].value);
}

static void read_inline(struct toml_reader *r, struct value *table)
{
    r->s++;
    skip_blanks(r);
    while (!r->err->set && (table->n || !at(r, '}'))) {
        read_pair(r, table);
        skip_blanks(r);
        if (at(r, '}') || r->err->set)
            break;
        if (!at(r, ','))
            toml_fail(r, "the inline table is never closed on its line (add a })");
        else
            r->s++;
        skip_blanks(r);
    }
    r->s += !r->err->set;
    seal(table);
}

static void read_array(struct toml_reader *r, struct value *list)
{
    int64_t line = r->line;
    r->s++;
    for (skip_lines(r); !r->err->set && !at(r, ']'); skip_lines(r)) {
        if (r->s >= r->end)
            toml_fail(r, "the array of line %" PRId64 " is never closed (add a ])",
                      line);
        struct value *v = r->err->set ? NULL : read_value(r);
        if (v)
            value_add(r->arena, list, NULL, v->line, v);
        if (v)
            skip_lines(r);
        if (v && at(r, ','))
            r->s++;
        else if (v && !at(r, ']'))
            toml_fail(r, "the array of line %" PRId64 " lacks a \",\" or a \"]\" here",
                      line);
    }
    r->s += !r->err->set;
}

static struct value *read_value(struct toml_reader *r)
{
    struct toml_node *n = NULL;
    if (at(r, '"') || at(r, '\'')) {
        n = toml_node(r, VALUE_STRING, TOML_VALUE);
        if (n)
            n->value.text = toml_string(r, true);
    } else if (at(r, '[') || at(r, '{')) {
        bool table = at(r, '{');
        if (r->depth == TOML_DEPTH_MAX)
            return toml_fail(r, "more than %d values in each other", TOML_DEPTH_MAX);
        n = toml_node(r, table ? VALUE_DICT : VALUE_LIST, TOML_VALUE);
        r->depth++;
        if (n && table)
            read_inline(r, &n->value);
        else if (n)
            read_array(r, &n->value);
        r->depth--;
    } else {
        return toml_scalar(r);
    }
    return r->err->set ? NULL : &n->value;
}

/* Headers -------------------------------------------------------------------------- */

/* The table that a header's part names, of an array of tables the last. */
static struct value *enter(struct toml_reader *r, struct value *table,
                           const struct key *k, int i)
{
    struct value *next = member(table, k->parts[i]);
    if (!next)
        return add_table(r, table, k->parts[i], k->line, TOML_PATH);
    if (next->kind == VALUE_LIST && node_of(next)->how == TOML_TABLES)
        return next->items[next->n - 1].value;
    if (next->kind == VALUE_DICT && node_of(next)->how != TOML_VALUE)
        return next;
    return twice(r, k->parts[i], next);
}

static struct value *open_table(struct toml_reader *r, struct value *table,
                                const struct key *k)
{
    const char *name = k->parts[k->n - 1];
    struct value *old = member(table, name);
    if (!old)
        return add_table(r, table, name, k->line, TOML_HEADER);
    if (old->kind != VALUE_DICT || node_of(old)->how != TOML_PATH)
        return twice(r, name, old);
    node_of(old)->how = TOML_HEADER;
    return old;
}

static struct value *open_element(struct toml_reader *r, struct value *table,
                                  const struct key *k)
{
    const char *name = k->parts[k->n - 1];
    struct value *list = member(table, name);
    if (list && (list->kind != VALUE_LIST || node_of(list)->how != TOML_TABLES))
        return twice(r, name, list);
    if (!list) {
        struct toml_node *n = toml_node(r, VALUE_LIST, TOML_TABLES);
        if (!n || !add(r, table, name, k->line, &n->value))
            return NULL;
        list = &n->value;
    }
    struct toml_node *element = toml_node(r, VALUE_DICT, TOML_HEADER);
    if (element)
        value_add(r->arena, list, NULL, k->line, &element->value);
    return element ? &element->value : NULL;
}

/* [a.b] or [[a.b]]: the table that follows. */
static struct value *read_header(struct toml_reader *r, struct value *root)
{
    struct key key, *k = &key;
    struct value *table = root;
    bool element = r->s + 1 < r->end && r->s[1] == '[';
    r->s += element ? 2 : 1;
    if (!read_key(r, k))
        return NULL;
    for (int i = 0; i < 1 + element; i++, r->s++)
        if (!at(r, ']'))
            return toml_fail(r, "the header is never closed (add a ])");
    for (int i = 0; i + 1 < k->n && table; i++)
        table = enter(r, table, k, i);
    if (!table)
        return NULL;
    return element ? open_element(r, table, k) : open_table(r, table, k);
}

struct value *toml_read(struct arena *arena, const char *text, size_t len,
                        struct err *err)
{
    size_t bad = lenient_bad_byte(text, len);
    struct toml_reader r = { .arena = arena,
                             .text = text,
                             .end = text + len,
                             .s = text,
                             .line_start = text,
                             .line = 1,
                             .left = TOML_VALUES_MAX,
                             .err = err };
    if (len > TOML_TEXT_MAX_B)
        return toml_fail(&r, "it is longer than 1 MiB (give the part that is meant)");
    if (bad < len) {
        struct place p = place_of(text, bad);
        err_set_at(err, (int)p.line, (int)p.column,
                   "it is no text in UTF-8 (save it as such)");
        return NULL;
    }
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        r.s += 3;
    struct toml_node *root = toml_node(&r, VALUE_DICT, TOML_HEADER);
    struct value *table = &root->value;
    for (skip_lines(&r); r.s < r.end && !err->set && table; skip_lines(&r)) {
        if (at(&r, '['))
            table = read_header(&r, &root->value);
        else
            read_pair(&r, table);
        if (!err->set)
            skip_comment(&r);
        if (!err->set && r.s < r.end && !at(&r, '\n') && !at(&r, '\r'))
            toml_fail(&r, "something follows on this line (begin a new one)");
        else if (at(&r, '\r') && !(r.s + 1 < r.end && r.s[1] == '\n'))
            toml_fail(&r, "the line ends with half a newline (save it as text)");
    }
    return err->set ? NULL : &root->value;
}
