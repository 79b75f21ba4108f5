/* The values of an axis: a list, or a range by steps or factors. */
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "sweep/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A range's end: a number, or a quantity's number and its unit. */
struct end {
    double value;
    bool whole;
    const char *unit; /* NULL: a plain number */
};

static int read_end(struct cfg c, struct end *e)
{
    *e = (struct end) { 0 };
    if (cfg_is_string(c)) {
        char *rest;
        const char *text = json_string_value(c.json);
        e->value = strtod(text, &rest);
        if (rest == text || !*rest || !isfinite(e->value))
            return cfg_error(c, DIAG_WRONG_TYPE,
                             "should be a number or a quantity (write for example 4 "
                             "or \"16MiB\")");
        e->unit = rest;
        return 0;
    }
    e->whole = json_is_integer(c.json);
    return cfg_real(c, &e->value, -INFINITY, INFINITY);
}

static json_t *value_of(const struct end *e, double v, bool whole)
{
    char text[64];
    if (e->unit) {
        snprintf(text, sizeof(text), "%.12g%s", v, e->unit);
        return json_string(text);
    }
    return whole && fabs(v) < 0x1p53 ? json_integer((json_int_t)v) : json_real(v);
}

/* Values up to the end; one that is off by rounding alone counts as the end. */
static json_t *range(struct cfg axis, const struct end *from, const struct end *to,
                     const struct end *by, bool multiply)
{
    bool whole = from->whole && by->whole;
    double slack = 1e-9 * (fabs(to->value) + fabs(from->value));
    bool up = multiply ? by->value > 1 : by->value > 0;
    json_t *values = json_array();
    for (int64_t i = 0; i <= SWEEP_POINTS_MAX; i++) {
        double v = multiply ? from->value * pow(by->value, (double)i)
                            : from->value + by->value * (double)i;
        if (up ? v > to->value + slack : v < to->value - slack)
            return values;
        json_array_append_new(values, value_of(from, v, whole));
    }
    json_decref(values);
    cfg_error(axis, DIAG_OUT_OF_RANGE, "has more than %d values (take larger steps)",
              SWEEP_POINTS_MAX);
    return NULL;
}

static int check_range(struct cfg by_c, const struct end *from, const struct end *to,
                       const struct end *by, bool multiply)
{
    if (multiply && !(from->value > 0 && to->value > 0))
        return cfg_error(by_c, DIAG_OUT_OF_RANGE,
                         "needs \"from\" and \"to\" above 0 (take \"step\")");
    if (multiply && !(by->value > 0 && by->value != 1))
        return cfg_error(by_c, DIAG_OUT_OF_RANGE,
                         "should be above 0, and not 1 (write 2)");
    if (!multiply && by->value == 0)
        return cfg_error(by_c, DIAG_OUT_OF_RANGE, "should not be 0 (write 1)");
    bool up = multiply ? by->value > 1 : by->value > 0;
    if (up ? to->value < from->value : to->value > from->value)
        return cfg_error(by_c, DIAG_OUT_OF_RANGE,
                         "leads away from \"to\" (swap \"from\" and \"to\")");
    return 0;
}

static bool same_unit(const struct end *a, const struct end *b)
{
    return a->unit && b->unit ? strcmp(a->unit, b->unit) == 0 : a->unit == b->unit;
}

static json_t *read_range(struct cfg axis, struct cfg from_c, struct cfg to_c,
                          struct cfg step, struct cfg factor)
{
    struct end from, to, by;
    bool multiply = cfg_present(factor);
    struct cfg by_c = multiply ? factor : step;
    if (multiply == cfg_present(step)) {
        cfg_error(axis, DIAG_MISSING, "a range needs either \"step\" or \"factor\"");
        return NULL;
    }
    if (read_end(from_c, &from) | read_end(to_c, &to) | read_end(by_c, &by))
        return NULL;
    if (!same_unit(&from, &to)) {
        cfg_error(to_c, DIAG_WRONG_TYPE, "should have the unit of \"from\"");
        return NULL;
    }
    if (multiply ? by.unit != NULL : !same_unit(&from, &by)) {
        cfg_error(by_c, DIAG_WRONG_TYPE,
                  multiply ? "should be a plain number"
                           : "should have the unit of \"from\"");
        return NULL;
    }
    if (check_range(by_c, &from, &to, &by, multiply))
        return NULL;
    return range(axis, &from, &to, &by, multiply);
}

json_t *sweep_axis_values(struct cfg axis, struct cfg values, struct cfg from,
                          struct cfg to, struct cfg step, struct cfg factor)
{
    if (!cfg_present(values) && !cfg_present(from) && !cfg_present(to)) {
        cfg_error(axis, DIAG_MISSING,
                  "has no values (write \"values\": [...], or \"from\", \"to\" and "
                  "\"factor\")");
        return NULL;
    }
    if (!cfg_present(values))
        return read_range(axis, from, to, step, factor);
    if (cfg_present(from) || cfg_present(to) || cfg_present(step) ||
        cfg_present(factor)) {
        cfg_error(values, DIAG_CONTRADICTION,
                  "is given together with a range (keep one of them)");
        return NULL;
    }
    if (!cfg_is_array(values) || cfg_len(values) == 0) {
        cfg_error(values, DIAG_WRONG_TYPE, "should be an array of at least one value");
        return NULL;
    }
    for (int64_t i = 0; i < cfg_len(values); i++) {
        const char *text;
        struct cfg value = cfg_at(values, i);
        if (cfg_is_string(value) && json_string_length(value.json) &&
            cfg_string(value, &text))
            return NULL;
    }
    return json_incref(values.json);
}

/* Equal values --------------------------------------------------------------------- */

/* What an axis sets at one of its places, as text. */
struct place {
    char *text;
    int64_t at;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int c = strcmp(x->text, y->text);
    return c ? c : (x->at > y->at) - (x->at < y->at);
}

/* 8 and 8.0 are one number. */
static void add_value(struct strbuf *text, const json_t *value)
{
    char *dumped = NULL;
    if (json_is_number(value))
        strbuf_printf(text, "%.17g\n", json_number_value(value));
    else
        dumped = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    if (dumped)
        strbuf_printf(text, "%s\n", dumped);
    free(dumped);
}

/* The places of an axis whose fields have these lists of n values, equal ones together;
 * to be freed, as is each text. */
static struct place *sorted_places(json_t *const *lists, int64_t n_lists, int64_t n)
{
    struct place *places = xcalloc((size_t)n, sizeof(*places));
    for (int64_t i = 0; i < n; i++) {
        struct strbuf text;
        strbuf_init(&text);
        for (int64_t k = 0; k < n_lists; k++)
            add_value(&text, json_array_get(lists[k], (size_t)i));
        places[i] = (struct place) { text.s, i };
    }
    qsort(places, (size_t)n, sizeof(*places), compare_places);
    return places;
}

/* The values of an axis' k-th field as they are listed; absent for a range, whose
 * values differ. */
static struct cfg listed(struct cfg axis, int64_t k)
{
    struct cfg zip = cfg_get(axis, "zip");
    return cfg_get(cfg_present(zip) ? cfg_at(zip, k) : axis, "values");
}

void sweep_axis_warn_equal(struct cfg axis, int64_t n_fields)
{
    json_t *lists[SWEEP_FIELDS_MAX];
    int64_t n = cfg_len(listed(axis, 0)), n_equal = 0, first = n;
    for (int64_t k = 0; k < n_fields; k++)
        if (!(lists[k] = listed(axis, k).json))
            return;
    struct place *places = sorted_places(lists, n_fields, n);
    for (int64_t i = 1; i < n; i++)
        if (strcmp(places[i].text, places[i - 1].text) == 0) {
            first = places[i].at < first ? places[i].at : first;
            n_equal++;
        }
    if (n_equal)
        cfg_warn(cfg_at(listed(axis, 0), first), DIAG_WITHOUT_EFFECT,
                 "equals an earlier value of the axis, and its points are simulated "
                 "again: such values, %" PRId64 " (leave them out)",
                 n_equal);
    for (int64_t i = 0; i < n; i++)
        free(places[i].text);
    free(places);
}
