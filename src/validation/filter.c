#include "validation/filter.h"

#include "validation/cell.h"

#include <math.h>

struct rule {
    const char *column, *matches, *why;
    double below, above; /* NAN: not given */
};

static const struct cfg_field rule_fields[] = {
    CFG_ROW("column", CFG_T_STRING, struct rule, column, .required = true),
    CFG_STRING("matches", struct rule, matches),
    CFG_REAL("below", struct rule, below, -INFINITY, INFINITY),
    CFG_REAL("above", struct rule, above, -INFINITY, INFINITY),
    CFG_ROW("why", CFG_T_STRING, struct rule, why, .required = true),
    CFG_END,
};

static int read_rule(struct filters *f, struct cfg value, bool keep,
                     const struct csv *csv)
{
    struct rule r = { .below = NAN, .above = NAN };
    if (cfg_read(value, rule_fields, &r))
        return -1;
    struct filter rule = { .keep = keep,
                           .why = r.why,
                           .column = csv_column(csv, r.column),
                           .has_regex = r.matches != NULL,
                           .below = r.below,
                           .above = r.above };
    if (rule.column < 0)
        return cfg_error(cfg_get(value, "column"), DIAG_UNKNOWN_NAME,
                         "the table has no column \"%.100s\"", r.column);
    if ((r.matches != NULL) + !isnan(r.below) + !isnan(r.above) != 1)
        return cfg_error(value, DIAG_MISSING,
                         "a rule needs one of \"matches\", \"below\", \"above\"");
    if (r.matches) {
        char text[200];
        int bad = regcomp(&rule.regex, r.matches, REG_EXTENDED | REG_NOSUB | REG_ICASE);
        if (bad) {
            regerror(bad, &rule.regex, text, sizeof(text));
            return cfg_error(cfg_get(value, "matches"), DIAG_SYNTAX,
                             "no POSIX extended regular expression: %s", text);
        }
    }
    VEC_PUSH(&f->list, rule);
    return 0;
}

static int read_list(struct filters *f, struct cfg list, bool keep,
                     const struct csv *csv)
{
    int rc = 0;
    if (!cfg_present(list))
        return 0;
    if (!cfg_is_array(list))
        return cfg_error(list, DIAG_WRONG_TYPE,
                         "should be an array of rules: "
                         "[{\"column\": ..., \"matches\": ..., \"why\": ...}]");
    for (int64_t i = 0; i < cfg_len(list); i++)
        rc |= read_rule(f, cfg_at(list, i), keep, csv);
    return rc;
}

int filters_read(struct filters *f, struct cfg drop, struct cfg keep,
                 const struct csv *csv)
{
    *f = (struct filters) { 0 };
    int rc = read_list(f, drop, false, csv);
    return read_list(f, keep, true, csv) || rc ? -1 : 0;
}

void filters_release(struct filters *f)
{
    for (int64_t i = 0; i < f->list.n; i++)
        if (f->list.v[i].has_regex)
            regfree(&f->list.v[i].regex);
    VEC_RELEASE(&f->list);
}

static bool rule_matches(const struct filter *rule, const char *cell)
{
    if (rule->has_regex)
        return regexec(&rule->regex, cell, 0, NULL, 0) == 0;
    double v;
    return cell_read(cell, &v) == CELL_NUMBER && (v < rule->below || v > rule->above);
}

bool filters_pass(struct filters *f, const struct csv *csv, int64_t row)
{
    for (int64_t i = 0; i < f->list.n; i++) {
        struct filter *rule = &f->list.v[i];
        if (rule_matches(rule, csv_cell(csv, row, rule->column)) == rule->keep)
            continue;
        rule->n_dropped++;
        return false;
    }
    return true;
}
