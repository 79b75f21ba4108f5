#include "report/ranges.h"

#include "config/contract.h"

#include <inttypes.h>

static void print_line(FILE *out, const struct ranges_score *s)
{
    fprintf(out,
            "  %-27.27s %5" PRId64 " %4.0f %% %4.0f %% %4.0f %%  %6.3f %6.3f %6.3f\n",
            s->source, s->n, 100 * s->within, 100 * s->within_new, 100 * s->within_one,
            s->stated, s->as_new, s->one);
}

static void print_ranges(FILE *out, const char *title, const struct ranges *r)
{
    if (r->n == 0)
        return;
    fprintf(out, "\n%s\n  %-33s %20s  %20s\n  %-27s %5s %6s %6s %6s  %6s %6s %6s\n",
            title, "", "rows in the range", "interval score", "source", "rows",
            "stated", "as new", "one", "stated", "as new", "one");
    for (int32_t i = 0; i < r->n; i++)
        print_line(out, &r->lines[i]);
    if (r->n > 1)
        print_line(out, &r->all);
}

static void print_law(FILE *out, const struct interval_law *w)
{
    fprintf(out,
            "\n  Ends that all systems say (of the logarithm)\n"
            "    measured %.3f to %.3f, other %.3f to %.3f\n"
            "    slow end: experts %+.3f, other experts that none was fitted to %+.3f\n"
            "    other, for each 0.1 of MFU below 0.4: fast end %+.3f, slow end "
            "%+.3f\n"
            "    other, fast end where the GPU's profile was not fitted: %+.3f\n"
            "    other, slow end for each octave of a microbatch below 8,192 tokens: "
            "%+.3f\n",
            w->measured.fast, w->measured.slow, w->other.fast, w->other.slow,
            w->measured.experts, w->other.experts, -0.1 * w->other.fast_idle,
            0.1 * w->other.slow_idle, -w->other.fast_guessed, w->other.slow_small);
}

void report_ranges_text(FILE *out, const struct ranges_report *r)
{
    print_ranges(out,
                 "Stated ranges (80 %), each system left out; as new: graded by other "
                 "tables\nalone; one: one range for all",
                 &r->left_out);
    print_ranges(out, "The same of rows that no prediction was fitted to",
                 &r->unfitted);
    print_law(out, &r->law);
}

/* clang-format off */
static const struct contract_member score_rows[] = {
    CONTRACT_AT("source", TEXT, ranges_score, source, "The table."),
    CONTRACT_AT("n", INT64, ranges_score, n, "Its rows."),
    CONTRACT_AT("within", REAL, ranges_score, within, "The share of them in the range that is stated; 0.8 is meant."),
    CONTRACT_AT("within_new", REAL, ranges_score, within_new, "The share in the range that is stated of a job which other tables alone are like."),
    CONTRACT_AT("within_one", REAL, ranges_score, within_one, "The share in one range for all, by the rows of other tables."),
    CONTRACT_AT("score", REAL, ranges_score, stated, "Mean interval score of the logarithm of time: the range's width, and ten times what a row lies outside; the less the better."),
    CONTRACT_AT("score_new", REAL, ranges_score, as_new, "The same of the range of a job which other tables alone are like."),
    CONTRACT_AT("score_one", REAL, ranges_score, one, "The same of one range for all."),
    CONTRACT_END,
};
static const struct contract_object score_contract = { "ranges", score_rows };
/* clang-format on */

static json_t *list(const struct ranges *r)
{
    json_t *lines = json_array();
    for (int32_t i = 0; i < r->n; i++)
        json_array_append_new(lines, contract_json(&score_contract, &r->lines[i]));
    return lines;
}

static json_t *left_out(const void *report)
{
    return list(&((const struct ranges_report *)report)->left_out);
}

static json_t *unfitted(const void *report)
{
    return list(&((const struct ranges_report *)report)->unfitted);
}

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_MADE("left_out", LIST, left_out, "Each source by the errors of the others.", .of = &score_contract),
    CONTRACT_MADE("unfitted", LIST, unfitted, "Rows that no prediction was fitted to.", .of = &score_contract),
    CONTRACT_END,
};
/* clang-format on */
const struct contract_object report_ranges_contract = { "stated ranges", rows };

json_t *report_ranges_json(const struct ranges_report *r)
{
    return contract_json(&report_ranges_contract, r);
}
