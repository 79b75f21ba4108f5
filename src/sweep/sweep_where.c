/* Comparisons that choose points: "NAME OPERATOR VALUE". */
#include "config/pointer.h"
#include "sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

/* Longer operators first: "<=" begins with "<". */
static const struct name_value ops[] = { { "<=", SWEEP_LE }, { ">=", SWEEP_GE },
                                         { "==", SWEEP_EQ }, { "!=", SWEEP_NE },
                                         { "<", SWEEP_LT },  { ">", SWEEP_GT },
                                         { NULL, 0 } };

/* The first operator of the text; *len is its length, NULL when there is none. */
static const char *find_op(const char *text, enum sweep_op *op, size_t *len)
{
    for (const char *at = text; *at; at++)
        for (const struct name_value *o = ops; o->name; o++)
            if (strncmp(at, o->name, strlen(o->name)) == 0) {
                *op = (enum sweep_op)o->value;
                *len = strlen(o->name);
                return at;
            }
    return NULL;
}

static const char *trimmed(struct arena *arena, const char *from, const char *end)
{
    while (from < end && *from == ' ')
        from++;
    while (end > from && end[-1] == ' ')
        end--;
    return arena_strndup(arena, from, (size_t)(end - from));
}

static bool compare(enum sweep_op op, double a, double b)
{
    switch (op) {
    case SWEEP_LT:
        return a < b;
    case SWEEP_LE:
        return a <= b;
    case SWEEP_GT:
        return a > b;
    case SWEEP_GE:
        return a >= b;
    case SWEEP_EQ:
        return !(a < b) && !(a > b);
    case SWEEP_NE:
        return a < b || a > b;
    }
    return false;
}

/* Text of a value that is no number: itself, true or false; NULL: it compares with
 * nothing. */
static const char *text_of(const json_t *v)
{
    return json_is_string(v)  ? json_string_value(v)
           : json_is_true(v)  ? "true"
           : json_is_false(v) ? "false"
                              : NULL;
}

static bool holds(const struct sweep_where *w, const json_t *v)
{
    const char *text = text_of(v);
    if (json_is_number(v) && w->is_number)
        return compare(w->op, json_number_value(v), w->number);
    if (text && (w->op == SWEEP_EQ || w->op == SWEEP_NE))
        return (strcmp(text, w->text) == 0) == (w->op == SWEEP_EQ);
    return json_is_number(v) && w->op == SWEEP_NE; /* a number is no text */
}

/* Without the quotes around it: "ml.p4d.24xlarge", as 'text' and as "text". */
static const char *unquoted(struct arena *arena, const char *value, bool *quoted)
{
    size_t n = strlen(value);
    *quoted = n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == value[0];
    return *quoted ? arena_strndup(arena, value + 1, n - 2) : value;
}

/* Of an axis: whether any of its values is chosen. */
static void warn_of_none(const struct sweep_where *w, const struct sweep *s,
                         struct cfg c)
{
    size_t i;
    const json_t *v;
    if (w->field < 0)
        return;
    json_array_foreach(s->fields[w->field].values, i, v) if (holds(w, v)) return;
    cfg_warn(c, DIAG_WITHOUT_EFFECT, "holds for no value of the axis");
}

static int read_value(struct sweep_where *w, const struct sweep *s, const char *value,
                      struct cfg c)
{
    char *end;
    bool quoted;
    w->text = unquoted(s->arena, value, &quoted);
    w->number = strtod(w->text, &end);
    w->is_number = !quoted && end != w->text && !*end;
    if (!*value)
        return cfg_error(c, DIAG_MISSING,
                         "has nothing to compare with (write \"mfu > 0.3\")");
    if (!w->is_number && w->op != SWEEP_EQ && w->op != SWEEP_NE)
        return cfg_error(c, DIAG_SYNTAX,
                         "compares with \"%s\", which is no number (only == and != "
                         "take text)",
                         w->text);
    warn_of_none(w, s, c);
    return 0;
}

static int read_where(struct sweep_where *w, const struct sweep *s, struct cfg c)
{
    const char *text, *op;
    size_t len;
    if (cfg_string(c, &text))
        return -1;
    op = find_op(text, &w->op, &len);
    if (!op)
        return cfg_error(c, DIAG_MISSING,
                         "has no <, <=, >, >=, == or != (write \"mfu > 0.3\")");
    const char *name = trimmed(s->arena, text, op);
    w->field = sweep_field_find(s, name);
    w->result = w->field < 0 ? name : NULL;
    if (w->result && sweep_check_result(s, name, c))
        return -1;
    return read_value(w, s, trimmed(s->arena, op + len, text + strlen(text)), c);
}

int sweep_wheres_read(struct sweep_wheres *w, const struct sweep *s, struct cfg list)
{
    int rc = 0;
    *w = (struct sweep_wheres) { 0 };
    if (!cfg_present(list))
        return 0;
    if (!cfg_is_array(list))
        return cfg_error(list, DIAG_WRONG_TYPE,
                         "should be an array of comparisons such as \"mfu > 0.3\"");
    w->v = ARENA_ARRAY(s->arena, cfg_len(list) + 1, struct sweep_where);
    for (int64_t i = 0; i < cfg_len(list); i++)
        rc |= read_where(&w->v[w->n++], s, cfg_at(list, i));
    return rc;
}

/* Whether a name, or a pointer, is of that member or of all. */
static bool is_within(const char *name, const char *member)
{
    const char *key = *name == '/' ? name + 1 : name;
    size_t n = strcspn(key, "/");
    return n == 0 || (strlen(member) == n && strncmp(key, member, n) == 0);
}

bool sweep_shows(const struct sweep *s, const char *member)
{
    bool shows = false;
    for (int64_t i = 0; i < s->outputs.n; i++)
        shows = shows || is_within(s->outputs.v[i], member);
    for (int32_t i = 0; i < s->wheres.n; i++)
        shows = shows ||
                (s->wheres.v[i].result && is_within(s->wheres.v[i].result, member));
    return shows;
}

bool sweep_wheres_axes(const struct sweep_wheres *w, const struct sweep *s,
                       int64_t point)
{
    int64_t digits[SWEEP_AXES_MAX];
    if (w->n == 0)
        return true;
    sweep_digits(s, point, digits);
    for (int32_t i = 0; i < w->n; i++) {
        if (w->v[i].field < 0)
            continue;
        const struct sweep_field *f = &s->fields[w->v[i].field];
        if (!holds(&w->v[i], json_array_get(f->values, (size_t)digits[f->axis])))
            return false;
    }
    return true;
}

json_t *sweep_result_get(json_t *results, const char *name)
{
    json_t *v = json_object_get(results, name);
    return v ? v : pointer_get(results, name);
}

bool sweep_wheres_results(const struct sweep_wheres *w, json_t *results)
{
    for (int32_t i = 0; i < w->n; i++)
        if (w->v[i].result &&
            !holds(&w->v[i], sweep_result_get(results, w->v[i].result)))
            return false;
    return true;
}
