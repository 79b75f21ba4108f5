#include "dialect/source/yaml.h"

#include "base/names.h"
#include "config/lenient.h"
#include "config/place.h"

#include <inttypes.h>
#include <libfyaml.h>
#include <stdio.h>
#include <string.h>

struct anchor {
    const char *name;
    const struct value *value;
};

struct reader {
    struct yaml *y;
    struct arena *arena;
    struct fy_parser *parser;
    struct fy_diag *diag;
    struct err *err;
    VEC(struct anchor) anchors;
    int depth;
};

/* What precedes a value. */
struct head {
    const char *anchor, *tag; /* NULL: none */
    int64_t line, column;
};

/* Errors --------------------------------------------------------------------------- */

static struct value *fail(struct reader *r, const struct head *at, const char *what,
                          const char *shown)
{
    err_set_at(r->err, (int)at->line, (int)at->column, "%s%.60s%s", what,
               shown ? shown : "", shown ? "\"" : "");
    return NULL;
}

/* What libfyaml found first; its lines and columns count from 1. */
static void take_error(struct reader *r)
{
    void *it = NULL;
    const struct fy_diag_error *e;
    while ((e = fy_diag_errors_iterate(r->diag, &it)) != NULL)
        if (e->type == FYET_ERROR && e->msg)
            err_set_at(r->err, e->line, e->column, "it is no YAML: %.200s", e->msg);
    if (fy_parser_get_stream_error(r->parser))
        err_set_at(r->err, 1, 1, "it is no YAML");
}

/* One more value, or NULL beyond the limit. */
static struct value *make(struct reader *r, enum value_kind kind, const struct head *at)
{
    if (--r->y->left < 0)
        return fail(r, at, "more than 65536 values (give the part that is meant)",
                    NULL);
    return value_new(r->arena, kind, at->line, at->column);
}

/* Tokens --------------------------------------------------------------------------- */

static const char *text_of(struct reader *r, struct fy_token *token)
{
    size_t n = 0;
    const char *s = token ? fy_token_get_text(token, &n) : NULL;
    return arena_strndup(r->arena, s ? s : "", s ? n : 0);
}

static const char *tag_of(struct reader *r, struct fy_token *token)
{
    if (!token)
        return NULL;
    const char *handle = fy_tag_token_handle0(token),
               *suffix = fy_tag_token_suffix0(token);
    static const char standard[] = "tag:yaml.org,2002:";
    if (suffix && strncmp(suffix, standard, sizeof(standard) - 1) == 0)
        return arena_printf(r->arena, "!!%s", suffix + sizeof(standard) - 1);
    return arena_printf(r->arena, "%s%s", handle ? handle : "", suffix ? suffix : "");
}

static struct head head_of(struct reader *r, struct fy_event *e,
                           const struct head *before)
{
    const struct fy_mark *mark = fy_event_start_mark(e);
    struct fy_token *anchor = NULL, *tag = NULL;
    struct head h = { .line = before->line, .column = before->column };
    if (mark) { /* an empty scalar has none */
        h.line = mark->line + 1;
        h.column = mark->column + 1;
    }
    if (e->type == FYET_SCALAR)
        anchor = e->scalar.anchor, tag = e->scalar.tag;
    else if (e->type == FYET_SEQUENCE_START)
        anchor = e->sequence_start.anchor, tag = e->sequence_start.tag;
    else if (e->type == FYET_MAPPING_START)
        anchor = e->mapping_start.anchor, tag = e->mapping_start.tag;
    h.anchor = anchor ? text_of(r, anchor) : NULL;
    h.tag = tag_of(r, tag);
    return h;
}

/* Scalars -------------------------------------------------------------------------- */

/* A tag of one's own would run what it names; YAML's own say the kind. */
static struct value *apply_tag(struct reader *r, struct value *v, const struct head *at)
{
    static const char *const kinds[] = {
        "!!str", "!!int",          "!!float",      "!!bool",   "!!null", "!!seq",
        "!!map", "!!python/tuple", "!!python/str", "!!binary", "!",      NULL
    };
    if (!at->tag || names_listed(kinds, at->tag))
        return v;
    struct value *u = value_new_unknown(r->arena, at->line, at->column,
                                        "the tag %.60s would have to be run", at->tag);
    u->text = v->kind == VALUE_STRING ? v->text : NULL;
    return u;
}

static struct value *read_scalar(struct reader *r, struct fy_event *e,
                                 const struct head *at)
{
    const char *text = text_of(r, e->scalar.value);
    bool plain =
        !e->scalar.value || fy_token_scalar_style(e->scalar.value) == FYSS_PLAIN;
    bool is_string = at->tag && (strcmp(at->tag, "!!str") == 0 ||
                                 strcmp(at->tag, "!!binary") == 0 || at->tag[1] == 0);
    if (!make(r, VALUE_STRING, at))
        return NULL;
    if (lenient_bad_byte(text, strlen(text)) < strlen(text))
        return value_new_unknown(r->arena, at->line, at->column, "it is no text");
    bool meant = plain || (at->tag && !is_string);
    struct value *v = meant && !is_string
                          ? yaml_plain(r->arena, text, at->line, at->column)
                          : value_new_string(r->arena, text, at->line, at->column);
    return apply_tag(r, v, at);
}

static struct value *read_alias(struct reader *r, struct fy_event *e,
                                const struct head *at)
{
    const char *name = text_of(r, e->alias.anchor);
    for (int64_t i = r->anchors.n; i-- > 0;) {
        if (strcmp(r->anchors.v[i].name, name) != 0)
            continue;
        struct value *v = value_copy(r->arena, r->anchors.v[i].value, &r->y->left);
        if (!v)
            fail(r, at, "aliases make more than 65536 values (write them out)", NULL);
        return v;
    }
    return fail(r, at, "no anchor before this is called \"", name);
}

/* Mappings and sequences ----------------------------------------------------------- */

static struct value *read_value(struct reader *r, struct fy_event *e,
                                const struct head *before);

/* The next event's value; *end: it was the end of what is around it. */
static struct value *read_next(struct reader *r, const struct head *before, bool *end)
{
    struct fy_event *e = fy_parser_parse(r->parser);
    struct value *v = NULL;
    *end = false;
    if (!e)
        take_error(r), err_set_at(r->err, (int)before->line, 1, "it ends here");
    else if (e->type == FYET_SEQUENCE_END || e->type == FYET_MAPPING_END)
        *end = true;
    else
        v = read_value(r, e, before);
    if (e)
        fy_parser_event_free(r->parser, e);
    return v;
}

static bool read_items(struct reader *r, struct value *list, const struct head *at)
{
    for (bool end; !r->err->set;) {
        struct value *v = read_next(r, at, &end);
        if (end)
            return true;
        if (v)
            value_add(r->arena, list, NULL, v->line, v);
    }
    return false;
}

/* What << brings: keys that the mapping, and what was merged before, do not have. */
static void merge(struct reader *r, struct value *map, const struct value *from)
{
    for (int32_t i = 0; from->kind == VALUE_LIST && i < from->n; i++)
        merge(r, map, from->items[i].value);
    for (int32_t i = 0; from->kind == VALUE_DICT && i < from->n; i++)
        if (!value_get(map, from->items[i].key) && map->n < YAML_KEYS_MAX)
            value_add(r->arena, map, from->items[i].key, from->items[i].line,
                      from->items[i].value);
}

/* A key as text; NULL with *end at the mapping's end. */
static const char *read_key(struct reader *r, struct head *at, bool *plain, bool *end)
{
    struct fy_event *e = fy_parser_parse(r->parser);
    const char *key = NULL;
    *plain = *end = false;
    if (!e) {
        take_error(r);
        err_set_at(r->err, (int)at->line, 1, "it ends here");
        return NULL;
    }
    *end = e->type == FYET_MAPPING_END;
    if (!*end)
        *at = head_of(r, e, at);
    if (e->type == FYET_SCALAR) {
        key = text_of(r, e->scalar.value);
        *plain =
            e->scalar.value && fy_token_scalar_style(e->scalar.value) == FYSS_PLAIN;
        if (lenient_bad_byte(key, strlen(key)) < strlen(key))
            key = "";
    } else if (e->type == FYET_ALIAS) {
        const struct value *v = read_alias(r, e, at);
        key = v && v->kind == VALUE_STRING ? v->text : NULL;
    }
    if (!key && !*end)
        fail(r, at,
             e->type == FYET_MAPPING_START
                 ? "a key is no word (give a name; where {{...}} is a template's, fill "
                   "it in first)"
                 : "a key is no word (give a name)",
             NULL);
    if (key && at->anchor)
        VEC_PUSH(&r->anchors, ((struct anchor) {
                                  at->anchor, value_new_string(r->arena, key, at->line,
                                                               at->column) }));
    fy_parser_event_free(r->parser, e);
    return key;
}

/* A key that is there already: the last counts (PyYAML 6, constructor.py,
 * construct_mapping). */
static void replace_member(struct reader *r, struct value *map, const char *key,
                           int64_t line, struct value *v)
{
    const struct value_item *old = value_get(map, key);
    VEC_PUSH(&r->y->notes,
             ((struct value_note) {
                 line, arena_printf(r->arena,
                                    "%.60s: line %lld gives it, too; the last counts",
                                    key, (long long)old->line) }));
    map->items[old - map->items] = (struct value_item) { key, line, v };
}

static bool read_members(struct reader *r, struct value *map, const struct head *at)
{
    struct head place = *at;
    VEC(struct value *) merged = { 0 };
    bool plain, end = false, done = false;
    while (!r->err->set && !done) {
        const char *key = read_key(r, &place, &plain, &end);
        done = end;
        if (!key)
            continue;
        struct value *v = read_next(r, &place, &end);
        if (!v)
            break;
        if (plain && strcmp(key, "<<") == 0)
            VEC_PUSH(&merged, v);
        else if (value_get(map, key))
            replace_member(r, map, key, place.line, v);
        else if (map->n == YAML_KEYS_MAX)
            fail(r, &place, "more than 2000 keys in one mapping", NULL);
        else
            value_add(r->arena, map, key, place.line, v);
    }
    for (int64_t i = 0; i < merged.n; i++)
        merge(r, map, merged.v[i]);
    VEC_RELEASE(&merged);
    return done;
}

static struct value *read_container(struct reader *r, bool map, const struct head *at)
{
    if (r->depth == YAML_DEPTH_MAX)
        return fail(r, at, "more than 60 values in each other", NULL);
    struct value *v = make(r, map ? VALUE_DICT : VALUE_LIST, at);
    if (!v)
        return NULL;
    r->depth++;
    bool read = map ? read_members(r, v, at) : read_items(r, v, at);
    r->depth--;
    return read ? apply_tag(r, v, at) : NULL;
}

/* The value that begins with an event; NULL after an error. */
static struct value *read_value(struct reader *r, struct fy_event *e,
                                const struct head *before)
{
    struct head at = head_of(r, e, before);
    struct value *v = NULL;
    if (e->type == FYET_SCALAR)
        v = read_scalar(r, e, &at);
    else if (e->type == FYET_ALIAS)
        v = read_alias(r, e, &at);
    else if (e->type == FYET_SEQUENCE_START || e->type == FYET_MAPPING_START)
        v = read_container(r, e->type == FYET_MAPPING_START, &at);
    if (v && at.anchor)
        VEC_PUSH(&r->anchors, ((struct anchor) { at.anchor, v }));
    return v;
}

/* The stream ----------------------------------------------------------------------- */

static void read_stream(struct reader *r)
{
    const struct head top = { .line = 1, .column = 1 };
    struct fy_event *e;
    while (!r->err->set && (e = fy_parser_parse(r->parser)) != NULL) {
        bool begins = e->type == FYET_SCALAR || e->type == FYET_ALIAS ||
                      e->type == FYET_SEQUENCE_START || e->type == FYET_MAPPING_START;
        if (e->type == FYET_DOCUMENT_START)
            r->anchors.n = 0;
        struct value *v = begins ? read_value(r, e, &top) : NULL;
        if (v)
            VEC_PUSH(&r->y->documents, v);
        if (r->y->documents.n > YAML_DOCUMENTS_MAX)
            err_set_at(r->err, v ? (int)v->line : 1, 1, "more than %d documents",
                       YAML_DOCUMENTS_MAX);
        fy_parser_event_free(r->parser, e);
    }
    if (!r->err->set)
        take_error(r);
}

/* key: "text"# comment, which PyYAML reads (scanner.py, scan_to_next_token) and the
 * standard does not: with a blank before "#"; NULL: there is none. */
static const char *apart(struct arena *arena, const char *text, size_t len)
{
    char *out = arena_alloc(arena, 2 * len + 1, 1);
    size_t n = 0;
    bool found = false;
    for (size_t i = 0; i < len;) {
        size_t m = strcspn(text + i, "\n"), quote = 0, end;
        const char *line = text + i;
        while (quote < m && line[quote] != '"' && line[quote] != '\'')
            quote++;
        end = quote + 1;
        while (end < m && line[end] != line[quote] && line[end] != '\\')
            end++;
        bool here = end + 1 < m && line[end] == line[quote] && line[end + 1] == '#' &&
                    quote > 1 && line[quote - 1] == ' ' && line[quote - 2] == ':';
        size_t before = here ? end + 1 : m;
        memcpy(out + n, line, before);
        n += before;
        if (here)
            out[n++] = ' ';
        memcpy(out + n, line + before, m - before);
        n += m - before;
        i += m;
        if (i < len)
            out[n++] = text[i++];
        found |= here;
    }
    out[n] = '\0';
    return found ? out : NULL;
}

/* A directive of Go's templates, which is no YAML: a line that is one alone, or one that
 * names what Helm has. Its offset; -1: none is. */
static int64_t template_of(const char *text)
{
    static const char *const own[] = { ".Values", ".Release", ".Chart", "include",
                                       "-" };
    for (const char *s = strstr(text, "{{"); s; s = strstr(s + 2, "{{")) {
        const char *line = s, *word = s + 2 + strspn(s + 2, " ");
        while (line > text && line[-1] == ' ')
            line--;
        bool named = line == text || line[-1] == '\n';
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            named |= strncmp(word, own[i], strlen(own[i])) == 0;
        if (named)
            return s - text;
    }
    return -1;
}

int yaml_read(struct yaml *y, struct arena *arena, const char *text, size_t len,
              struct err *err)
{
    *y = (struct yaml) { .arena = arena, .left = YAML_VALUES_MAX };
    size_t bad = lenient_bad_byte(text, len);
    if (len > YAML_TEXT_MAX_B)
        return err_set_at(err, 1, 1,
                          "it is longer than 1 MiB (give the part that is meant)");
    if (bad < len) {
        struct place at = place_of(text, bad);
        return err_set_at(err, (int)at.line, (int)at.column,
                          "it is no text in UTF-8 (save it as such)");
    }
    const char *with_blanks =
        strstr(text, "\"#") || strstr(text, "'#") ? apart(arena, text, len) : NULL;
    if (with_blanks) {
        text = with_blanks;
        len = strlen(text);
    }
    struct fy_diag_cfg how;
    fy_diag_cfg_default(&how);
    how.fp = NULL;
    how.colorize = false;
    struct reader r = {
        .y = y, .arena = arena, .err = err, .diag = fy_diag_create(&how)
    };
    fy_diag_set_collect_errors(r.diag, true);
    const struct fy_parse_cfg parse = { .flags =
                                            FYPCF_QUIET | FYPCF_SLOPPY_FLOW_INDENTATION,
                                        .diag = r.diag };
    r.parser = fy_parser_create(&parse);
    if (len && fy_parser_set_string(r.parser, text, len) == 0)
        read_stream(&r);
    fy_parser_destroy(r.parser);
    fy_diag_destroy(r.diag);
    VEC_RELEASE(&r.anchors);
    int64_t template = err->set ? template_of(text) : -1;
    if (template >= 0) {
        struct place at = place_of(text, (size_t) template);
        *err = (struct err) { 0 };
        err_set_at(
            err, (int)at.line, (int)at.column,
            "it is a template of Helm's, whose {{ }} is not filled in (give what "
            "`helm template` prints)");
    }
    return err->set ? -1 : 0;
}

void yaml_release(struct yaml *y)
{
    VEC_RELEASE(&y->documents);
    VEC_RELEASE(&y->notes);
}
