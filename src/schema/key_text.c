/* A key in words, for `smsim help` and the page of all keys. */
#include "scenario/heed.h"
#include "schema/reference.h"

#include <float.h>
#include <string.h>

/* Type and range ------------------------------------------------------------------- */

static const char *bound(char buf[UNITS_TEXT_MAX], const struct cfg_field *f, double v)
{
    if (f->type == CFG_T_INT)
        snprintf(buf, UNITS_TEXT_MAX, "%.0f", v);
    else
        units_text(buf, f->type == CFG_T_BYTES ? UNIT_BYTES : f->unit, v);
    return buf;
}

static void add_range(struct strbuf *out, const struct cfg_field *f)
{
    char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];
    bool above = f->min > 0 && f->min < 1e-100;
    bool least = f->min > -9.2e18, most = f->max < 9.2e18;
    if (above)
        strbuf_addstr(out, " above 0");
    else if (least && most)
        strbuf_printf(out, " from %s to %s", bound(low, f, f->min),
                      bound(high, f, f->max));
    else if (least)
        strbuf_printf(out, " of at least %s", bound(low, f, f->min));
    if ((above || !least) && most)
        strbuf_printf(out, " of at most %s", bound(high, f, f->max));
}

static void add_names(struct strbuf *out, const struct name_value *names)
{
    for (const char *sep = "one of "; names->name; names++, sep = ", ")
        strbuf_printf(out, "%s\"%s\"", sep, names->name);
}

static const char *quantity_noun(enum unit_kind unit)
{
    static const char *const nouns[] = {
        [UNIT_NONE] = "a number",     [UNIT_BYTES] = "a size",
        [UNIT_SECONDS] = "a time",    [UNIT_BYTES_PER_S] = "a rate",
        [UNIT_FLOP_PER_S] = "a rate", [UNIT_HERTZ] = "a frequency",
        [UNIT_WATTS] = "a power",     [UNIT_USD_PER_HOUR] = "a price",
    };
    return nouns[unit];
}

/* "an integer from 1 to 8", "one of a, b", "a size such as 25MiB". */
static void write_type(struct strbuf *out, const struct reference_key *key)
{
    const struct cfg_field *f = key->field;
    const char *form = reference_text(key, "form");
    if (form || !f) {
        strbuf_addstr(out, form ? form : "a name of your own");
        return;
    }
    switch (f->type) {
    case CFG_T_INT:
        strbuf_addstr(out, "an integer");
        add_range(out, f);
        break;
    case CFG_T_REAL:
        strbuf_addstr(out, "a number");
        add_range(out, f);
        break;
    case CFG_T_BOOL:
        strbuf_addstr(out, "true or false");
        break;
    case CFG_T_STRING:
    case CFG_T_TEXT:
        strbuf_addstr(out, "a string");
        break;
    case CFG_T_ENUM:
        add_names(out, f->names);
        break;
    case CFG_T_QUANTITY:
    case CFG_T_BYTES:
        strbuf_addstr(out, quantity_noun(f->unit));
        add_range(out, f);
        break;
    case CFG_T_CHILD:
        strbuf_addstr(out, "an object");
        break;
    case CFG_T_REFUSED:
        strbuf_addstr(out, "refused");
        break;
    case CFG_T_RENAMED:
        strbuf_printf(out, "an old name of \"%s\", read with a warning", f->why);
        break;
    }
}

/* One key -------------------------------------------------------------------------- */

/* The unit of a plain number; what has its unit in the string says so by its type. */
static const char *unit_text(const struct reference_key *key)
{
    const struct cfg_field *f = key->field;
    bool quantity = f && (f->type == CFG_T_QUANTITY || f->type == CFG_T_BYTES);
    return quantity ? "written with the number" : reference_text(key, "unit");
}

static const char *meaning_of(const struct reference_key *key)
{
    const char *meaning = reference_text(key, "meaning");
    bool refused = key->field && key->field->type == CFG_T_REFUSED;
    return refused ? key->field->why : meaning ? meaning : "";
}

static void add_line(struct strbuf *out, const char *label, const char *text)
{
    if (text)
        strbuf_printf(out, "%s: %s\n", label, text);
}

static void add_conditions(struct strbuf *out, const struct reference *r,
                           const char *pointer, const char *sep)
{
    const char *why;
    if (strcmp(r->kind, "scenario") != 0)
        return;
    for (int32_t i = 0; (why = heed_reason(pointer, i)); i++)
        strbuf_printf(out, "%s%s", i ? sep : "", why);
}

static void add_example(struct strbuf *out, const struct reference_key *key)
{
    const json_t *example = json_object_get(key->text, "example");
    if (!example)
        return;
    char *text = json_dumps(example, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    strbuf_printf(out, "\"%s\": %s", reference_name(key->pointer), text);
    free(text);
}

static const char *default_of(const struct reference *r,
                              const struct reference_key *key)
{
    bool required = key->field && key->field->required;
    return required ? "none: it has to be given" : reference_default(r, key);
}

void reference_key_text(struct strbuf *out, const struct reference *r,
                        const struct reference_key *key)
{
    struct strbuf b;
    strbuf_init(&b);
    strbuf_printf(out, "%s %s\n", r->kind, key->pointer);
    add_line(out, "meaning", meaning_of(key));
    write_type(&b, key);
    add_line(out, "type", strbuf_get(&b));
    add_line(out, "unit", unit_text(key));
    add_line(out, "default", default_of(r, key));
    add_line(out, "libraries", reference_libraries(r, key));
    b.len = 0;
    add_conditions(&b, r, key->pointer, "; ");
    if (b.len)
        add_line(out, "no effect where", strbuf_get(&b));
    b.len = 0;
    add_example(&b, key);
    if (b.len)
        add_line(out, "example", strbuf_get(&b));
    add_line(out, "same as", reference_text(key, "as"));
    strbuf_release(&b);
}

/* The page ------------------------------------------------------------------------- */

/* A row of a table in Markdown has no bars of its own. */
static void add_cell(struct strbuf *out, const char *text)
{
    strbuf_addstr(out, " ");
    for (; *text; text++)
        strbuf_printf(out, "%s%c", *text == '|' ? "\\" : "", *text);
    strbuf_addstr(out, " |");
}

static void add_row(struct strbuf *out, const struct reference *r,
                    const struct reference_key *key)
{
    struct strbuf b;
    const char *as = reference_text(key, "as"), *libraries;
    strbuf_init(&b);
    strbuf_printf(&b, "`%s`", reference_name(key->pointer));
    strbuf_addstr(out, "|");
    add_cell(out, strbuf_get(&b));
    b.len = 0;
    strbuf_printf(&b, "%s", meaning_of(key));
    if (as)
        strbuf_printf(&b, "%sThe same as `%s`.", b.len ? " " : "", as);
    if ((libraries = reference_libraries(r, key)))
        strbuf_printf(&b, " Libraries: %s.", libraries);
    if (strcmp(r->kind, "scenario") == 0 && heed_reason(key->pointer, 0)) {
        strbuf_addstr(&b, " No effect where: ");
        add_conditions(&b, r, key->pointer, "; ");
        strbuf_addstr(&b, ".");
    }
    add_cell(out, strbuf_get(&b));
    b.len = 0;
    write_type(&b, key);
    if (reference_text(key, "unit"))
        strbuf_printf(&b, ", %s", reference_text(key, "unit"));
    add_cell(out, strbuf_get(&b));
    add_cell(out, default_of(r, key) ? default_of(r, key) : "");
    b.len = 0;
    add_example(&b, key);
    if (b.len) {
        strbuf_addstr(out, " `");
        strbuf_addstr(out, strbuf_get(&b));
        strbuf_addstr(out, "` |\n");
    } else {
        strbuf_addstr(out, " |\n");
    }
    strbuf_release(&b);
}

/* The pointer of the object that a key is in. */
static size_t object_length(const struct reference_key *key)
{
    return (size_t)(strrchr(key->pointer, '/') - key->pointer);
}

static bool is_first_of(const struct reference *r, int64_t i)
{
    size_t n = object_length(&r->keys.v[i]);
    for (int64_t k = 0; k < i; k++)
        if (object_length(&r->keys.v[k]) == n &&
            strncmp(r->keys.v[k].pointer, r->keys.v[i].pointer, n) == 0)
            return false;
    return true;
}

/* All keys of one object, in one table. */
static void add_object(struct strbuf *out, const struct reference *r, int64_t first)
{
    const struct reference_key *key = &r->keys.v[first];
    size_t n = object_length(key);
    if (n > 0)
        strbuf_printf(out, "\n### `%.*s`\n", (int)n, key->pointer);
    strbuf_addstr(out, "\n| key | meaning | type | default | example |\n"
                       "|---|---|---|---|---|\n");
    for (int64_t i = first; i < r->keys.n; i++)
        if (object_length(&r->keys.v[i]) == n &&
            strncmp(r->keys.v[i].pointer, key->pointer, n) == 0)
            add_row(out, r, &r->keys.v[i]);
}

void reference_page(struct strbuf *out, const struct reference *r)
{
    const char *title = json_string_value(json_object_get(r->root, "title"));
    strbuf_printf(out, "\n## %s\n", title ? title : r->kind);
    for (int64_t i = 0; i < r->keys.n; i++)
        if (is_first_of(r, i))
            add_object(out, r, i);
}
