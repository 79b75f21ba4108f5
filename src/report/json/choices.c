/* Choices between measured alternatives as JSON. */
#include "report/choices.h"
#include "config/contract.h"

/* A bin of a table of reliability. */
struct bin {
    double from, to;
    struct choices_bin b;
};

static json_t *interval(const void *of)
{
    double low, high;
    choices_bounds(&((const struct bin *)of)->b, &low, &high);
    return json_pack("[f, f]", low, high);
}

/* clang-format off */
#define BIN(what, came)                                                                                    \
    CONTRACT_AT("from", REAL, bin, from, "The least probability."),                                       \
    CONTRACT_AT("to", REAL, bin, to, "The largest."),                                                     \
    CONTRACT_AT("n", INT64, bin, b.n, "Plans with such a probability."),                                  \
    CONTRACT_AT(what, INT64, bin, b.n_true, "Those that " came "."),                                      \
    CONTRACT_AT("stated", REAL, bin, b.stated, "Their mean probability."),                                \
    CONTRACT_MADE("interval", LIST, interval, "Of the share of these, 90 %.", .items = CONTRACT_REAL)
static const struct contract_member best_rows[] = { BIN("best", "were the best"), CONTRACT_END };
static const struct contract_object best_contract = { "reliability", best_rows };
static const struct contract_member failed_rows[] = { BIN("failed", "failed"), CONTRACT_END };
static const struct contract_object failed_contract = { "reliability_unfit", failed_rows };
/* clang-format on */

static json_t *bins(const struct choices_bin b[CHOICES_BINS],
                    const struct contract_object *contract)
{
    json_t *list = json_array();
    for (int i = 0; i < CHOICES_BINS; i++) {
        const struct bin one = { (double)i / CHOICES_BINS,
                                 (double)(i + 1) / CHOICES_BINS, b[i] };
        json_array_append_new(list, contract_json(contract, &one));
    }
    return list;
}

/* Means over jobs. */
struct scored {
    const char *source;
    struct choices_score s;
};

static json_t *reliability(const void *scored)
{
    return bins(((const struct scored *)scored)->s.bins, &best_contract);
}

/* clang-format off */
static const struct contract_member score_rows[] = {
    CONTRACT_AT("source", TEXT, scored, source, "The table; null of all.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("jobs", INT64, scored, s.n_jobs, "Jobs with alternatives."),
    CONTRACT_AT("alternatives", INT64, scored, s.n, "Of all jobs."),
    CONTRACT_AT("brier", REAL, scored, s.brier, "Brier score of the stated probability to be the best: 0 is sure and right, 2 sure and wrong."),
    CONTRACT_AT("brier_uniform", REAL, scored, s.brier_uniform, "The same where all are as probable."),
    CONTRACT_AT("brier_point", REAL, scored, s.brier_point, "The same where the predicted best is sure."),
    CONTRACT_AT("regret", REALS, scored, s.regret, "Throughput lost by the first choice, by the rule of choice.", .names = risk_rule_names),
    CONTRACT_AT("regret_stated", REAL, scored, s.expected, "Of the choice by the mean, as it was stated."),
    CONTRACT_MADE("reliability", LIST, reliability, "How often plans were the best, by the stated probability.", .of = &best_contract),
    CONTRACT_END,
};
static const struct contract_object score_contract = { "score", score_rows };

static const struct contract_member width_rows[] = {
    CONTRACT_AT("resources", REALS, risk_widths, resource, "Of what a step rests on; of the network for a doubling of nodes.", .names = resource_names),
    CONTRACT_AT("own", REAL, risk_widths, own, "A plan's own, on the median system."),
    CONTRACT_AT("own_spread", REAL, risk_widths, own_spread, "Of the logarithm of that between systems."),
    CONTRACT_AT("slow_share", REAL, risk_widths, slow_share, "Of runs that are slow for no known reason."),
    CONTRACT_AT("slow", REAL, risk_widths, slow, "How slow in the mean."),
    CONTRACT_AT("memory_mean", REAL, risk_widths, memory_mean, "Mean error of peak memory."),
    CONTRACT_AT("memory_shared", REAL, risk_widths, memory_shared, "What plans share of it."),
    CONTRACT_AT("memory_own", REAL, risk_widths, memory_own, "A plan's own."),
    CONTRACT_END,
};
static const struct contract_object width_contract = { "widths", width_rows };
/* clang-format on */

static json_t *score(const char *source, const struct choices_score *s)
{
    struct scored x = { source, *s };
    double n = s->n_jobs ? (double)s->n_jobs : 1;
    double *sums[] = { &x.s.brier, &x.s.brier_uniform, &x.s.brier_point,
                       &x.s.expected };
    for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
        *sums[i] /= n;
    for (int rule = 0; rule < CHOICES_RULES; rule++)
        x.s.regret[rule] /= n;
    return contract_json(&score_contract, &x);
}

static json_t *sources(const void *report)
{
    const struct choices_report *r = report;
    json_t *list = json_array();
    for (int32_t i = 0; i < r->n; i++)
        json_array_append_new(list, score(r->lines[i].source, &r->lines[i].score));
    return list;
}

static json_t *all(const void *report)
{
    return score(NULL, &((const struct choices_report *)report)->all);
}

static json_t *unfit(const void *report)
{
    return bins(((const struct choices_report *)report)->unfit, &failed_contract);
}

static json_t *unfit_in_use(const void *report)
{
    return bins(((const struct choices_report *)report)->unfit_in_use,
                &failed_contract);
}

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_MADE("sources", LIST, sources, "Each judged by widths of the others.", .of = &score_contract),
    CONTRACT_MADE("all", OBJECT, all, "All jobs of these.", .of = &score_contract),
    CONTRACT_MADE("unfit", LIST, unfit, "How often plans failed, by the stated chance not to fit, each source by widths of the others.", .of = &failed_contract),
    CONTRACT_MADE("unfit_in_use", LIST, unfit_in_use, "The same by the widths in use.", .of = &failed_contract),
    CONTRACT_AT("widths", OBJECT, choices_report, widths, "Scales of the logarithm of measured over predicted, by all sources.", .of = &width_contract),
    CONTRACT_END,
};
/* clang-format on */
const struct contract_object report_choices_contract = { "choices", rows };

json_t *report_choices_json(const struct choices_report *r)
{
    return contract_json(&report_choices_contract, r);
}
