/* Members of an object into a struct, by a table of fields; what is wrong with each. */
#include "base/plain.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "config/cfg.h"
#include "config/cfg_doc.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is there, and what should be, in words -------------------------------------- */

enum { WORDS_MAX = 160 };

/* The text for a message: what the value is, as the user wrote it, shortened. */
static const char *found(char buf[WORDS_MAX], struct cfg c)
{
    if (json_is_object(c.json) || json_is_array(c.json))
        return json_is_object(c.json) ? "an object" : "an array";
    char *dump = json_dumps(c.json, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    const char *text = dump ? dump : "";
    size_t n = strlen(text), shown = n;
    if (n > 40) {
        shown = 36;
        while (((unsigned char)text[shown] & 0xc0) == 0x80)
            shown--; /* not within a character */
    }
    snprintf(buf, WORDS_MAX, "%.*s%s", (int)shown, text,
             shown < n ? (text[0] == '"' ? "...\"" : "...") : "");
    free(dump);
    return buf;
}

/* "an integer from 1 to 8", "a number of at least 0", ... of texts of the bounds, NULL
 * where there is none. */
static const char *within(char buf[WORDS_MAX], const char *noun, const char *min,
                          const char *max)
{
    if (min && max)
        snprintf(buf, WORDS_MAX, "%s from %s to %s", noun, min, max);
    else if (min)
        snprintf(buf, WORDS_MAX, "%s of at least %s", noun, min);
    else if (max)
        snprintf(buf, WORDS_MAX, "%s of at most %s", noun, max);
    else
        snprintf(buf, WORDS_MAX, "%s", noun);
    return buf;
}

static const char *int_words(char buf[WORDS_MAX], int64_t min, int64_t max)
{
    char low[32], high[32];
    snprintf(low, sizeof(low), "%" PRId64, min);
    snprintf(high, sizeof(high), "%" PRId64, max);
    return within(buf, "an integer", min == INT64_MIN ? NULL : low,
                  max == INT64_MAX ? NULL : high);
}

static const char *real_words(char buf[WORDS_MAX], const char *noun,
                              enum unit_kind unit, double min, double max)
{
    char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];
    if (min > 0 && min < 1e-100) { /* that is how a table says "above 0" */
        snprintf(buf, WORDS_MAX, "%s above 0", noun);
        return buf;
    }
    units_text(low, unit, min > -DBL_MAX ? min : 0);
    units_text(high, unit, max < DBL_MAX ? max : 0);
    return within(buf, noun, min > -DBL_MAX ? low : NULL, max < DBL_MAX ? high : NULL);
}

static int missing(struct cfg c, const char *what)
{
    const char *key = strrchr(c.path, '/');
    return cfg_error(c, DIAG_MISSING, "missing (give \"%s\" %s)", key ? key + 1 : "",
                     what);
}

/* Single values -------------------------------------------------------------------- */

int cfg_int(struct cfg c, int64_t *v, int64_t min, int64_t max)
{
    char is[WORDS_MAX], want[WORDS_MAX];
    int_words(want, min, max);
    if (!cfg_present(c))
        return missing(c, want);
    double real = json_number_value(c.json);
    bool whole =
        json_is_integer(c.json) || (json_is_real(c.json) && real == floor(real));
    if (!whole)
        return cfg_error(c, DIAG_WRONG_TYPE, "%s is not an integer (write %s)",
                         found(is, c), want);
    bool fits = json_is_integer(c.json) || fabs(real) < 9223372036854775808.0;
    int64_t n = !fits                     ? 0
                : json_is_integer(c.json) ? json_integer_value(c.json)
                                          : (int64_t)real;
    if (!fits || n < min || n > max)
        return cfg_error(c, DIAG_OUT_OF_RANGE, "%s is %s (write %s)", found(is, c),
                         (fits ? n < min : real < 0) ? "too small" : "too large", want);
    *v = n;
    return 0;
}

int cfg_real(struct cfg c, double *v, double min, double max)
{
    char is[WORDS_MAX], want[WORDS_MAX];
    real_words(want, "a number", UNIT_NONE, min, max);
    if (!cfg_present(c))
        return missing(c, want);
    if (!json_is_number(c.json))
        return cfg_error(c, DIAG_WRONG_TYPE, "%s is not a number (write %s)",
                         found(is, c), want);
    double real = json_number_value(c.json);
    if (real < min || real > max)
        return cfg_error(c, DIAG_OUT_OF_RANGE, "%s is too %s (write %s)", found(is, c),
                         real < min ? "small" : "large", want);
    *v = real;
    return 0;
}

int cfg_time_s(struct cfg c, double *v)
{
    static const double longest_s = 1e5; /* more than a day */
    if (cfg_real(c, v, 0, longest_s))
        return -1;
    return *v > 0 ? 0 : cfg_error(c, DIAG_OUT_OF_RANGE, "is not a positive time");
}

int cfg_bool(struct cfg c, bool *v)
{
    char is[WORDS_MAX];
    if (!cfg_present(c))
        return missing(c, "true or false");
    if (!json_is_boolean(c.json))
        return cfg_error(c, DIAG_WRONG_TYPE,
                         "%s is not true or false (write true or false)", found(is, c));
    *v = json_is_true(c.json);
    return 0;
}

static int read_string(struct cfg c, const char **v, bool lines)
{
    char is[WORDS_MAX];
    if (!cfg_present(c))
        return missing(c, "a string");
    if (!json_is_string(c.json))
        return cfg_error(c, DIAG_WRONG_TYPE, "%s is not a string (write it in quotes)",
                         found(is, c));
    if (json_string_length(c.json) == 0)
        return cfg_error(c, DIAG_SYNTAX,
                         "the string is empty (write a name, or leave the key out)");
    *v = json_string_value(c.json);
    if ((*v)[plain_length(*v, lines)])
        return cfg_error(c, DIAG_SYNTAX, "%s has a control character (leave it out)",
                         found(is, c));
    return 0;
}

int cfg_string(struct cfg c, const char **v)
{
    return read_string(c, v, false);
}

/* "one of "a", "b", ..."; shortened when there are many. */
static char *one_of(const struct name_value *names)
{
    enum { SHOWN = 16 };
    struct strbuf b;
    strbuf_init(&b);
    for (int i = 0; names[i].name; i++) {
        if (i == SHOWN) {
            strbuf_addstr(&b, ", ...");
            break;
        }
        strbuf_printf(&b, "%s\"%s\"", i ? ", " : "", names[i].name);
    }
    char *text = xasprintf("one of %s", strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

int cfg_enum(struct cfg c, const struct name_value *names, int *v)
{
    if (json_is_string(c.json) && names_find(names, json_string_value(c.json), v) == 0)
        return 0;
    char is[WORDS_MAX];
    char *known = one_of(names);
    const char *near =
        json_is_string(c.json) ? names_nearest(names, json_string_value(c.json)) : NULL;
    if (!cfg_present(c))
        missing(c, known);
    else if (!json_is_string(c.json))
        cfg_error(c, DIAG_WRONG_TYPE, "%s is not a name (write %s)", found(is, c),
                  known);
    else if (near)
        cfg_error(c, DIAG_UNKNOWN_NAME, "%s is not known (did you mean \"%s\"?)",
                  found(is, c), near);
    else
        cfg_error(c, DIAG_UNKNOWN_NAME, "%s is not known (write %s)", found(is, c),
                  known);
    free(known);
    return -1;
}

int cfg_quantity(struct cfg c, enum unit_kind kind, double *v, double min, double max)
{
    char is[WORDS_MAX], want[WORDS_MAX];
    const char *example = units_example(kind), *why;
    double value;
    if (!cfg_present(c)) {
        snprintf(want, sizeof(want), "a quantity, for example \"%s\"", example);
        return missing(c, want);
    }
    if (json_is_number(c.json))
        return cfg_error(c, DIAG_WRONG_TYPE,
                         "%s has no unit (write for example \"%s\")", found(is, c),
                         example);
    if (!json_is_string(c.json))
        return cfg_error(c, DIAG_WRONG_TYPE,
                         "%s is not a quantity (write for example \"%s\")",
                         found(is, c), example);
    if (units_parse(json_string_value(c.json), kind, &value, &why))
        return cfg_error(c, DIAG_OUT_OF_RANGE, "%s %s", found(is, c), why);
    if (value < min || value > max)
        return cfg_error(c, DIAG_OUT_OF_RANGE, "%s is too %s (write %s)", found(is, c),
                         value < min ? "small" : "large",
                         real_words(want, "a quantity", kind, min, max));
    *v = value;
    return 0;
}

/* Tables of fields ----------------------------------------------------------------- */

/* A bound of a table as an integer; what is beyond 64 bits is no bound. */
static int64_t int_bound(double bound)
{
    return bound <= -9.2e18 ? INT64_MIN : bound >= 9.2e18 ? INT64_MAX : (int64_t)bound;
}

static int read_field(struct cfg c, const struct cfg_field *f, void *to)
{
    double size_B;
    switch (f->type) {
    case CFG_T_INT:
        return cfg_int(c, to, int_bound(f->min), int_bound(f->max));
    case CFG_T_REAL:
        return cfg_real(c, to, f->min, f->max);
    case CFG_T_BOOL:
        return cfg_bool(c, to);
    case CFG_T_STRING:
        return cfg_string(c, to);
    case CFG_T_TEXT:
        return read_string(c, to, true);
    case CFG_T_ENUM:
        return cfg_enum(c, f->names, to);
    case CFG_T_QUANTITY:
        return cfg_quantity(c, f->unit, to, f->min, f->max);
    case CFG_T_BYTES:
        if (cfg_quantity(c, UNIT_BYTES, &size_B, fmax(f->min, -9.2e18),
                         fmin(f->max, 9.2e18)))
            return -1;
        *(int64_t *)to = (int64_t)ceil(size_B);
        return 0;
    case CFG_T_CHILD:
        return cfg_present(c) ? 0 : missing(c, f->why ? f->why : "a value");
    case CFG_T_REFUSED:
        return cfg_error_key(c, DIAG_REFUSED_KEY, "\"%s\" cannot be given here (%s)",
                             f->key, f->why);
    case CFG_T_RENAMED: /* read through the row of the new name, which it is by now */
        break;
    }
    return 0;
}

static bool known(const struct cfg_field *fields, const char *key)
{
    for (; fields->key; fields++)
        if (strcmp(fields->key, key) == 0)
            return true;
    return strcmp(key, "comment") == 0;
}

/* The keys of a table that a file may give. The caller frees the list; the names are
 * the table's. */
static struct name_value *known_keys(const struct cfg_field *fields)
{
    int n = 0, m = 0;
    while (fields[n].key)
        n++;
    struct name_value *names = xcalloc((size_t)n + 1, sizeof(*names));
    for (int i = 0; i < n; i++)
        if (fields[i].type != CFG_T_REFUSED && fields[i].type != CFG_T_RENAMED)
            names[m++].name = fields[i].key;
    return names;
}

static void unknown_key(struct cfg value, const char *key,
                        const struct cfg_field *fields)
{
    struct name_value *names = known_keys(fields);
    struct arena *arena = cfg_arena(value);
    const char *near = names_nearest(names, key), *what;
    if (near) {
        what = arena_printf(arena, "unknown key \"%.60s\" (did you mean \"%s\"?)", key,
                            near);
    } else if (!names->name) {
        what = arena_printf(arena, "unknown key \"%.60s\" (none is known here)", key);
    } else {
        char *all = one_of(names);
        what = arena_printf(arena, "unknown key \"%.60s\" (known: %s)", key,
                            all + strlen("one of "));
        free(all);
    }
    cfg_unknown_key(value, what, near != NULL);
    free(names);
}

static int not_an_object(struct cfg value, const struct cfg_field *fields)
{
    char is[WORDS_MAX];
    struct name_value *names = known_keys(fields);
    if (!names->name) {
        free(names);
        return cfg_error(value, DIAG_WRONG_TYPE, "%s is not an object (write { ... })",
                         found(is, value));
    }
    char *all = one_of(names);
    int rc = cfg_error(value, DIAG_WRONG_TYPE,
                       "%s is not an object (write { ... } with: %s)", found(is, value),
                       all + strlen("one of "));
    free(all);
    free(names);
    return rc;
}

static void notify(struct cfg object, const struct cfg_field *fields)
{
    const struct cfg_watch *watch = object.doc ? object.doc->loader->watch : NULL;
    if (watch && watch->table)
        watch->table(watch->arg, object, object.doc->name, fields);
}

/* The member of a row, which may go by its old name: that is warned of, and from there
 * on it goes by the new one, for whoever asks for it by pointer. */
static struct cfg get_member(struct cfg object, const struct cfg_field *renamed,
                             const struct cfg_field *row)
{
    struct cfg now = cfg_get(object, row->key);
    for (const struct cfg_field *f = renamed; f->key && !cfg_present(now); f++) {
        if (f->type != CFG_T_RENAMED || strcmp(f->why, row->key) != 0)
            continue;
        struct cfg old = cfg_get(object, f->key);
        if (!cfg_present(old))
            continue;
        cfg_warn(old, DIAG_RENAMED_KEY,
                 "\"%s\" is the old name of \"%s\" (write \"%s\")", f->key, row->key,
                 row->key);
        json_object_set(object.json, row->key, old.json);
        json_object_del(object.json, f->key);
        return old;
    }
    return now;
}

/* A key whose old name is given together with the new one. */
static int check_renamed(struct cfg object, const struct cfg_field *fields)
{
    int rc = 0;
    for (const struct cfg_field *f = fields; f->key; f++) {
        if (f->type != CFG_T_RENAMED || !cfg_present(cfg_get(object, f->key)) ||
            !cfg_present(cfg_get(object, f->why)))
            continue;
        rc = cfg_error_key(cfg_get(object, f->key), DIAG_RENAMED_KEY,
                           "\"%s\" is the old name of \"%s\", which is given, too "
                           "(leave \"%s\" out)",
                           f->key, f->why, f->key);
    }
    return rc;
}

/* Members in the order of the table, as cfg_read. */
static int read_members(struct cfg object, const struct cfg_field *fields, void *dst)
{
    int rc = 0;
    const struct cfg_field *renamed = fields; /* from the first such row on */
    while (renamed->key && renamed->type != CFG_T_RENAMED)
        renamed++;
    for (const struct cfg_field *f = fields; f->key; f++) {
        struct cfg c = get_member(object, renamed, f);
        char *to = (char *)dst + f->at;
        if (f->type == CFG_T_CHILD)
            *(struct cfg *)(void *)to = c;
        if (!cfg_present(c) && !f->required)
            continue;
        if (read_field(c, f, to))
            rc = -1;
        else if (f->has)
            *(bool *)((char *)dst + f->has) = true;
    }
    return rc;
}

int cfg_read(struct cfg object, const struct cfg_field *fields, void *dst)
{
    int rc = 0;
    notify(object, fields);
    if (cfg_present(object) && !cfg_is_object(object))
        return not_an_object(object, fields);
    for (void *it = cfg_first(object); it; it = cfg_next(object, it)) {
        if (known(fields, cfg_key(it)))
            continue;
        rc = -1;
        if (diags_are_full(&object.doc->loader->diags))
            diags_count_error(&object.doc->loader->diags);
        else
            unknown_key(cfg_member(object, it), cfg_key(it), fields);
    }
    if (check_renamed(object, fields) < 0)
        return -1;
    return read_members(object, fields, dst) < 0 ? -1 : rc;
}
