/* Sources of `smsim validate` as JSON: errors, order of alternatives, rows. */
#include "config/contract.h"
#include "report/arena.h"
#include "report/choices.h"
#include "report/ranges.h"
#include "report/report.h"

/* clang-format off */
#define KNOWN .flags = CONTRACT_MAY_NULL
#define LACKS .flags = CONTRACT_MAY_LACK

static const struct contract_member equal_rows[] = {
    CONTRACT_AT("n", INT64, stats, n, "Rows that have an equal."),
    CONTRACT_AT("mean_abs_difference", REAL, stats, mean_abs, "The mean.", KNOWN),
    CONTRACT_AT("median_abs_difference", REAL, stats, median_abs, "The median.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object equal = { "equal_rows", equal_rows };
/* clang-format on */

static json_t *equals(const void *metric)
{
    const struct stats *s = &((const struct summary_metric *)metric)->equal;
    return s->n ? contract_json(&equal, s) : NULL;
}

/* clang-format off */
#define STATS(tag, stats)                                                                            \
    CONTRACT_AT("n", INT64, tag, stats.n, "Values compared."),                                       \
    CONTRACT_AT("mean_abs_error", REAL, tag, stats.mean_abs, "Mean of |error|.", KNOWN),             \
    CONTRACT_AT("median_abs_error", REAL, tag, stats.median_abs, "Median of |error|.", KNOWN),       \
    CONTRACT_AT("max_abs_error", REAL, tag, stats.max_abs, "The largest |error|.", KNOWN),           \
    CONTRACT_AT("bias", REAL, tag, stats.bias, "Mean of the signed errors.", KNOWN)

static const struct contract_member metric_rows[] = {
    STATS(summary_metric, stats),
    CONTRACT_MADE("equal_rows", OBJECT, equals, "What rows that should be equal differ by, where the mapping says which are.", LACKS, .of = &equal),
    CONTRACT_END,
};
static const struct contract_object metric = { "statistics", metric_rows };

static const struct contract_member applicability_rows[] = {
    CONTRACT_AT("gpu", TEXT, applicability_line, gpu, "The GPU."),
    CONTRACT_AT("framework", TEXT, applicability_line, framework, "The framework profile."),
    CONTRACT_AT("nodes", INT64, applicability_line, nodes, "Instances."),
    CONTRACT_AT("tensor", INT64, applicability_line, tensor, "The tensor-parallel degree."),
    STATS(applicability_line, stats),
    CONTRACT_END,
};
static const struct contract_object domain = { "applicability", applicability_rows };

static const struct contract_member claim_rows[] = {
    CONTRACT_AT("name", TEXT, rival_claim, name, "The simulator."),
    CONTRACT_AT("source", TEXT, rival_claim, source, "The publication."),
    CONTRACT_AT("what", TEXT, rival_claim, what, "What the error is of."),
    CONTRACT_AT("mean_abs_error", REAL, rival_claim, mean_error, "As it is stated."),
    CONTRACT_END,
};
static const struct contract_object claim = { "claim", claim_rows };
/* clang-format on */

json_t *report_applicability_json(const struct applicability_line *lines, int32_t n)
{
    return contract_list(&domain, lines, n, sizeof(*lines));
}

json_t *report_claims_json(const struct rival_claims *c)
{
    return contract_list(&claim, c->v, c->n, sizeof(*c->v));
}

static json_t *metrics(const struct summary_metrics *m)
{
    json_t *o = json_object();
    for (int32_t i = 0; i < m->n; i++)
        json_object_set_new(o, m->v[i].key, contract_json(&metric, &m->v[i]));
    return o;
}

/* --- bands and groups --------------------------------------------------------------- */

static json_t *band_metrics(const void *band)
{
    return metrics(&((const struct summary_band *)band)->metrics);
}

/* A ranking, with the name of its group. */
struct named_ranking {
    const char *name;
    struct ranking r;
};

/* clang-format off */
#define METRICS(make) \
    CONTRACT_MADE("metrics", MAP, make, "Errors of each quantity, as fractions of what was measured.", .of = &metric)
static const struct contract_member band_rows[] = {
    CONTRACT_AT("table", TEXT, summary_band, table, "The table; null: not by table.", KNOWN),
    CONTRACT_AT("from", REAL, summary_band, from, "The least value; null: no limit.", KNOWN),
    CONTRACT_AT("to", REAL, summary_band, to, "Below which values are; null: no limit.", KNOWN),
    METRICS(band_metrics),
    CONTRACT_END,
};
static const struct contract_object band = { "band", band_rows };

#define RANKING                                                                                                        \
    CONTRACT_AT("n", INT64, named_ranking, r.n, "Configurations compared."),                                           \
    CONTRACT_AT("spearman", REAL, named_ranking, r.spearman, "Rank correlation.", KNOWN),                              \
    CONTRACT_AT("regret", REAL, named_ranking, r.regret, "How much slower the chosen one is than the best.", KNOWN),   \
    CONTRACT_AT("regret_top3", REAL, named_ranking, r.regret_top3, "The same of the best among the first three.", KNOWN), \
    CONTRACT_AT("regret_second", REAL, named_ranking, r.regret_second, "How much slower the chosen one is than the second best.", KNOWN), \
    CONTRACT_AT("regret_second_top3", REAL, named_ranking, r.regret_second_top3, "The same of the best among the first three.", KNOWN)
static const struct contract_member group_rows[] = {
    CONTRACT_AT("name", TEXT, named_ranking, name, "What its rows have in common."),
    RANKING,
    CONTRACT_END,
};
static const struct contract_object group = { "rank_group", group_rows };

static const struct contract_member mean_rows[] = { RANKING, CONTRACT_END };
static const struct contract_object mean = { "ranking", mean_rows };
/* clang-format on */

/* --- rows ------------------------------------------------------------------------- */

/* A row of a source; whether a job fits is asked of scenarios alone. */
struct row {
    const struct mapping_outcome *o;
    const char *name, *error;
    bool has_fits;
};

static json_t *measured(const void *of)
{
    const struct row *r = of;
    json_t *o = json_object();
    for (int32_t i = 0; i < r->o->n_quantities; i++)
        json_object_set_new(o, r->o->quantities[i].key,
                            contract_real(r->o->quantities[i].measured));
    if (r->has_fits)
        json_object_set_new(o, "fits", json_boolean(r->o->fits_measured));
    return o;
}

static json_t *predicted(const void *of)
{
    const struct row *r = of;
    json_t *o = json_object();
    if (r->error)
        return o;
    for (int32_t i = 0; i < r->o->n_quantities; i++)
        json_object_set_new(o, r->o->quantities[i].key,
                            contract_real(r->o->quantities[i].predicted));
    if (r->has_fits)
        json_object_set_new(o, "fits", json_boolean(r->o->fits_predicted));
    if (r->has_fits && r->o->capacity_B > 0) {
        json_object_set_new(o, "needed_bytes", contract_real(r->o->peak_B));
        json_object_set_new(o, "capacity_bytes", contract_real(r->o->capacity_B));
    }
    return o;
}

static json_t *outlier(const void *of)
{
    return ((const struct row *)of)->o->outlier ? json_true() : NULL;
}

/* clang-format off */
#define VALUES .items = CONTRACT_NUMBER_OR_BOOL, .flags = CONTRACT_NULL_ITEMS
static const struct contract_member row_rows[] = {
    CONTRACT_AT("name", TEXT, row, name, "As --rows prints it.", KNOWN),
    CONTRACT_MADE("measured", MAP, measured, "A value for each quantity; fits is of memory.", VALUES),
    CONTRACT_MADE("predicted", MAP, predicted, "A value for each quantity; fits is of memory, as are needed_bytes, without cached blocks, and capacity_bytes.", VALUES),
    CONTRACT_MADE("outlier", BOOL, outlier, "True: the row counts in no error; not there where it does.", LACKS),
    CONTRACT_AT("error", TEXT, row, error, "Why there is no prediction; not there with one.", LACKS),
    CONTRACT_END,
};
static const struct contract_object row_contract = { "row", row_rows };

#define VERDICT(key, member, text) CONTRACT_AT(key, INT64, summary_verdicts, member, text)
static const struct contract_member verdict_rows[] = {
    VERDICT("failed_refused", failed_refused, "Failed, and refused by a rule of the library."),
    VERDICT("ran_fits", ran_fits, "Ran, and fit."),
    VERDICT("ran_too_large", ran_not, "Ran, and do not fit."),
    VERDICT("failed_fits", failed_fits, "Failed, and fit."),
    VERDICT("failed_too_large", failed_not, "Failed, and do not fit."),
    VERDICT("outdone_fits", outdone_fits, "Failed where a larger run did not, and fit."),
    VERDICT("outdone_too_large", outdone_not, "Failed where a larger run did not, and do not fit."),
    CONTRACT_END,
};
static const struct contract_object verdicts = { "verdicts", verdict_rows };
/* clang-format on */

/* --- sources ------------------------------------------------------------------------ */

struct source {
    const struct mapping_run *run;
    const struct summary *s;
    const struct rival *rival; /* whose predictions they are; NULL: ours */
    const char *name, *source, *version;
    struct summary_verdicts verdicts;
    int64_t failed, wrong_fits, outliers, dropped, unmeasured;
};

static json_t *source_metrics(const void *source)
{
    return metrics(&((const struct source *)source)->s->metrics);
}

static json_t *bands(const void *source)
{
    const struct summary *s = ((const struct source *)source)->s;
    return contract_list(&band, s->bands, s->n_bands, sizeof(*s->bands));
}

static json_t *groups(const void *source)
{
    const struct summary *s = ((const struct source *)source)->s;
    json_t *list = json_array();
    for (int64_t i = 0; i < s->n_groups; i++) {
        const struct named_ranking one = { s->group_names[i], s->rankings[i] };
        json_array_append_new(list, contract_json(&group, &one));
    }
    return list;
}

static json_t *ranking(const void *source)
{
    const struct summary *s = ((const struct source *)source)->s;
    if (!s->n_groups)
        return NULL;
    const struct named_ranking all = { NULL, ranking_mean(s->rankings, s->n_groups) };
    return contract_json(&mean, &all);
}

static json_t *rows(const void *source)
{
    const struct mapping_run *run = ((const struct source *)source)->run;
    bool has_memory = run->mapping->kind == MAPPING_SCENARIO;
    json_t *list = json_array();
    for (int64_t i = 0; i < run->n_outcomes; i++) {
        const struct mapping_outcome *o = &run->outcomes[i];
        const struct row one = { o, o->name, o->error, o->has_fits && has_memory };
        json_array_append_new(list, contract_json(&row_contract, &one));
    }
    return list;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *how(const void *source)
{
    const struct rival *r = ((const struct source *)source)->rival;
    return r ? text_or_null(r->how) : NULL;
}

static json_t *tuned(const void *source)
{
    const struct rival *r = ((const struct source *)source)->rival;
    return r ? text_or_null(r->tuned) : NULL;
}

static json_t *elsewhere(const void *source)
{
    const struct rival *r = ((const struct source *)source)->rival;
    return r ? json_integer(r->n_elsewhere) : NULL;
}

static json_t *ours(const void *source)
{
    const struct rival *r = ((const struct source *)source)->rival;
    return r ? metrics(&r->ours.metrics) : NULL;
}

/* Of ours: report_rivals_add adds them where they are asked for. */
static json_t *no_rivals(const void *source)
{
    (void)source;
    return NULL;
}

static const struct contract_object source_contract;

/* clang-format off */
static const struct contract_member source_rows[] = {
    CONTRACT_AT("name", TEXT, source, name, "The table, or the simulator."),
    CONTRACT_AT("source", TEXT, source, source, "The publication.", KNOWN),
    CONTRACT_AT("dropped", INT64, source, dropped, "Rows left out by a rule of the mapping."),
    CONTRACT_AT("unmeasured", INT64, source, unmeasured, "Rows without a measured value."),
    CONTRACT_AT("failed", INT64, source, failed, "Rows that could not be predicted."),
    CONTRACT_AT("wrong_fits", INT64, source, wrong_fits, "Rows whose fit in memory is predicted wrongly."),
    CONTRACT_AT("outliers", INT64, source, outliers, "Rows that are no healthy ones of their group, and count in no error."),
    CONTRACT_AT("verdicts", OBJECT, source, verdicts, "Rows that ran and that failed, by whether they are predicted to fit in memory.", .of = &verdicts),
    METRICS(source_metrics),
    CONTRACT_MADE("bands", LIST, bands, "Errors by table and band.", .of = &band),
    CONTRACT_MADE("rank_groups", LIST, groups, "How well configurations of one job are ordered.", .of = &group),
    CONTRACT_MADE("ranking", OBJECT, ranking, "The mean of rank_groups; not there without them.", LACKS, .of = &mean),
    CONTRACT_MADE("rows", LIST, rows, "In the order of the table.", .of = &row_contract),
    CONTRACT_AT("version", TEXT, source, version, "Of another simulator; so are the next four.", LACKS),
    CONTRACT_MADE("how", TEXT, how, "How it was run.", .flags = CONTRACT_MAY_NULL | CONTRACT_MAY_LACK),
    CONTRACT_MADE("tuned", TEXT, tuned, "Why its makers are known to have tuned to the table.", .flags = CONTRACT_MAY_NULL | CONTRACT_MAY_LACK),
    CONTRACT_MADE("elsewhere", INT64, elsewhere, "Its rows that the table has not.", LACKS),
    CONTRACT_MADE("ours", MAP, ours, "Errors of smsim on the rows that it predicts.", LACKS, .of = &metric),
    CONTRACT_MADE("rivals", LIST, no_rivals, "Other simulators on the same table, where asked for.", LACKS, .of = &source_contract),
    CONTRACT_END,
};
/* clang-format on */
static const struct contract_object source_contract = { "source", source_rows };

static struct source source_of(const struct mapping_run *run, const struct summary *s)
{
    return (struct source) {
        .run = run,
        .s = s,
        .name = run->mapping->name,
        .source = run->mapping->source,
        .verdicts = s->verdicts,
        .dropped = run->n_dropped,
        .unmeasured = run->n_unmeasured,
        .failed = run->n_failed,
        .wrong_fits = run->n_wrong_fits,
        .outliers = run->n_outliers,
    };
}

json_t *report_validation_json(const struct mapping_run *run, const struct summary *s)
{
    const struct source x = source_of(run, s);
    return contract_json(&source_contract, &x);
}

/* Like a source, with whose it is. */
static json_t *rival_json(const struct rival *r)
{
    struct source x = source_of(&r->run, &r->summary);
    x.rival = r;
    x.name = r->name;
    x.version = r->version;
    x.source = r->source;
    return contract_json(&source_contract, &x);
}

void report_rivals_add(json_t *source, const struct rivals *r)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < r->n; i++)
        json_array_append_new(list, rival_json(&r->v[i]));
    contract_add(source, &source_contract, "rivals", list);
}

/* --- the result ---------------------------------------------------------------------- */

static json_t *choices(const void *validation)
{
    return json_incref(((const struct report_validation *)validation)->choices);
}

static json_t *ranges(const void *validation)
{
    return json_incref(((const struct report_validation *)validation)->ranges);
}

/* clang-format off */
static const struct contract_member result_rows[] = {
    CONTRACT_AT("sources", LIST, report_validation, sources, "One for each table of measurements.", .of = &source_contract),
    CONTRACT_AT("applicability", LIST, report_validation, domains, "Errors of all times by GPU, framework, nodes and tensor degree.", .of = &domain),
    CONTRACT_AT("warnings", LIST, report_validation, warnings, "What was warned of.", .of = &diag_contract),
    CONTRACT_MADE("choices", OBJECT, choices, "Choices between measured alternatives, each source by what the others say of the unknowns; of several sources.", LACKS, .of = &report_choices_contract),
    CONTRACT_MADE("ranges", OBJECT, ranges, "Stated ranges of step times held against what was measured; of several sources.", LACKS, .of = &report_ranges_contract),
    CONTRACT_AT("claims", LIST, report_validation, claims, "Errors that publications state, where other simulators are asked for.", LACKS, .of = &claim),
    CONTRACT_END,
};
static const struct contract_object result = { "validation", result_rows };
/* clang-format on */
const struct contract report_validate_contract = {
    "urn:smsim:validate:2", "The result of smsim validate --json", { &result }
};
