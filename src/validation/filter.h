/* Which rows of a table take part: rules of a mapping's "drop" and "keep". */
#ifndef VALIDATION_FILTER_H
#define VALIDATION_FILTER_H

#include "base/vec.h"
#include "config/csv.h"

#include <regex.h>

/* One rule: the cell of a column matches a POSIX extended regular expression, or is a
 * number below or above a bound (at the bound itself it is neither). */
struct filter {
    bool keep; /* rows that match stay; else they go */
    const char *why;
    int64_t column;
    bool has_regex;
    regex_t regex;
    double below, above; /* NAN when not given; NAN compares false */
    int64_t n_dropped;   /* rows that this rule was the first to drop */
};

struct filters {
    VEC(struct filter) list;
};

/* Reads the rules, of which either list may be absent; -1 when anything was
 * reported. */
int filters_read(struct filters *f, struct cfg drop, struct cfg keep,
                 const struct csv *csv);
void filters_release(struct filters *f);

/* Whether the row takes part; counts it with the first rule that drops it. */
bool filters_pass(struct filters *f, const struct csv *csv, int64_t row);

#endif
