/* Plans as JSON. */
#include "report/plan_report.h"

#include "base/units.h"
#include "base/xmalloc.h"
#include "config/contract.h"
#include "search/plan/front.h"
#include "search/space/users.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* clang-format off */
#define KNOWN .flags = CONTRACT_MAY_NULL
#define LACKS .flags = CONTRACT_MAY_LACK
/* clang-format on */

/* --- a plan ------------------------------------------------------------------------- */

/* What the members of a plan are made of. */
struct listed {
    const struct space *space;
    const char *instance;
    int64_t rank; /* from 1; 0: a filter keeps it back */
    json_t *scenario;
    struct plan_entry e;
    double usd_per_million_samples, billed_hours;
    bool drawn;      /* the verdict holds; else the point estimate decides */
    double regret;   /* by which it was ordered */
    double less;     /* of one that is kept back; NAN: it is not */
    const char *why; /* likewise; NULL */
};

static json_t *parallelism(const void *listed)
{
    const struct listed *x = listed;
    return plan_point_parallelism(x->space, &x->e.point);
}

static json_t *checkpointing(const void *listed)
{
    const json_t *training =
        json_object_get(((const struct listed *)listed)->scenario, "training");
    return json_deep_copy(json_object_get(training, "activation_checkpointing"));
}

static json_t *range(const void *listed)
{
    const struct plan_result *r = &((const struct listed *)listed)->e.result;
    return json_pack("[f, f]", r->range_s[0], r->range_s[1]);
}

/* clang-format off */
static const struct contract_member risk_rows[] = {
    CONTRACT_AT("best", REAL, listed, e.risk.best, "The probability that no other plan is better."),
    CONTRACT_AT("regret", REAL, listed, regret, "By which plans are ordered: the share of its time, cost or memory that the best plan of a draw saves; 1 where it does not fit."),
    CONTRACT_AT("regret_mean", REAL, listed, e.risk.mean, "Its mean over draws."),
    CONTRACT_AT("regret_p90", REAL, listed, e.risk.p90, "What one draw in ten exceeds."),
    CONTRACT_AT("regret_worst", REAL, listed, e.risk.worst, "The largest of all draws."),
    CONTRACT_AT("unfit", REAL, listed, e.risk.unfit, "The probability that the plan does not fit in memory."),
    CONTRACT_END,
};
static const struct contract_object risk_contract = { "risk", risk_rows };
/* clang-format on */

static json_t *risk(const void *listed)
{
    return ((const struct listed *)listed)->drawn
               ? contract_json(&risk_contract, listed)
               : NULL;
}

/* clang-format off */
static const struct contract_member plan_rows[] = {
    CONTRACT_AT("rank", COUNT, listed, rank, "From 1, the best; null of a plan that a filter keeps back.", KNOWN),
    CONTRACT_AT("instance", TEXT, listed, instance, "The instance type."),
    CONTRACT_AT("count", INT64, listed, e.point.v[SPACE_COUNT], "Instances."),
    CONTRACT_AT("gpus", INT64, listed, e.point.world, "GPUs."),
    CONTRACT_MADE("parallelism", TREE, parallelism, "Section parallelism of a scenario (smsim schema scenario)."),
    CONTRACT_AT("data", INT64, listed, e.point.data, "Data-parallel ranks."),
    CONTRACT_AT("micro_batch_size", INT64, listed, e.point.v[SPACE_MICRO], "Sequences of a microbatch."),
    CONTRACT_AT("microbatches", INT64, listed, e.point.microbatches, "Microbatches of a pipeline."),
    CONTRACT_AT("gradient_accumulation_steps", INT64, listed, e.point.accumulation, "Passes of a step, without a pipeline."),
    CONTRACT_MADE("activation_checkpointing", TEXT_OR_TREE, checkpointing, "As /training/activation_checkpointing of a scenario."),
    CONTRACT_MADE("risk", OBJECT, risk, "What draws of the unknown say of a listed plan; null where the point estimate decides.", KNOWN, .of = &risk_contract),
    CONTRACT_AT("tie", BOOL, listed, e.tie, "Whether the difference from the best is within the model's error."),
    CONTRACT_AT("fits", BOOL, listed, e.result.fits, "Whether the peak is below the capacity."),
    CONTRACT_AT("near_limit", BOOL, listed, e.result.near_limit, "Whether the range of the peak has the capacity in it."),
    CONTRACT_AT("step_time_s", REAL, listed, e.result.step_time_s, "Time of one training step.", KNOWN),
    CONTRACT_MADE("range_s", LIST, range, "The range of the step time.", .items = CONTRACT_REAL),
    CONTRACT_AT("samples_per_s", REAL, listed, e.result.samples_per_s, "Sequences per second of the whole cluster.", KNOWN),
    CONTRACT_AT("mfu", REAL, listed, e.result.mfu, "Model FLOPs over the GPUs' dense peak.", KNOWN),
    CONTRACT_AT("peak_bytes", INT64, listed, e.result.peak_B, "Memory of the fullest GPU."),
    CONTRACT_AT("usd_per_hour", REAL, listed, e.usd_per_hour, "Of all instances.", KNOWN),
    CONTRACT_AT("usd_per_million_samples", REAL, listed, usd_per_million_samples, "Of a million sequences.", KNOWN),
    CONTRACT_AT("hours_per_job", REAL, listed, e.hours, "Of training alone; null where the job's length is not given.", KNOWN),
    CONTRACT_AT("billed_hours_per_job", REAL, listed, billed_hours, "Of the whole job; null without a section job.", KNOWN),
    CONTRACT_AT("usd_per_job", REAL, listed, e.usd, "Of the whole job; null where its length is not given.", KNOWN),
    CONTRACT_AT("score_step_time_s", REAL, listed, e.score_s, "The step time by which the search ordered the plan.", KNOWN),
    CONTRACT_AT("breakdown_s", REALS, listed, e.result.parts_s, "Where the step's time goes.", .names = category_names),
    CONTRACT_AT("scenario", TREE, listed, scenario, "The plan as a scenario (smsim schema scenario)."),
    CONTRACT_AT("less", REAL, listed, less, "Of a plan that is kept back: by what fraction it is better than the best.", LACKS),
    CONTRACT_AT("why", TEXT, listed, why, "Of a plan that is kept back: why.", LACKS),
    CONTRACT_END,
};
static const struct contract_object plan_contract = { "plan", plan_rows };
/* clang-format on */

/* With the members of one that is kept back, or NAN and NULL. */
static json_t *plan(const struct plan_report *r, const struct plan_entry *e,
                    int64_t rank, double less, const char *why)
{
    const struct risk_options *how = &r->options->risk;
    const struct listed x = {
        .space = &r->job->space,
        .drawn = how->rule != RISK_NONE && rank && r->outcome->n_entries,
        .regret = risk_regret(&e->risk, how->rule),
        .instance = r->job->space.instances[e->point.v[SPACE_INSTANCE]].name,
        .rank = rank,
        .scenario = plan_point_json(r->job, &e->point),
        .e = *e,
        .usd_per_million_samples = plan_axis_value(r->job, e, PLAN_AXIS_COST),
        .billed_hours =
            e->result.job_s > 0 ? e->result.billed_s / UNITS_HOUR_S : (double)NAN,
        .less = less,
        .why = why,
    };
    json_t *o = contract_json(&plan_contract, &x);
    json_decref(x.scenario);
    return o;
}

static json_t *plans(const void *report)
{
    const struct plan_report *r = report;
    json_t *list = json_array();
    for (int32_t i = 0; i < r->outcome->n_entries; i++)
        json_array_append_new(
            list, plan(r, &r->outcome->entries[i], i + 1, (double)NAN, NULL));
    return list;
}

/* The best plan of each filter that keeps back what would be better. */
static json_t *kept_back(const void *report)
{
    const struct plan_report *r = report;
    json_t *list = json_array();
    char text[200];
    for (int i = 0; i <= PLAN_LISTED_MAX; i++) {
        const struct plan_entry *e = &r->outcome->kept[i];
        if (!r->outcome->has_kept[i])
            continue;
        const char *why = i == PLAN_TIGHT ? "it fits with less than 90 %"
                                          : space_users_why(&r->job->space, &e->point,
                                                            text, sizeof(text));
        double less = 1 - e->value / r->outcome->entries[0].value;
        json_array_append_new(list, plan(r, e, 0, less, why));
    }
    return list;
}

static json_t *nearest(const void *report)
{
    const struct plan_report *r = report;
    const struct plan_outcome *o = r->outcome;
    const struct plan_entry *near = o->n_entries     ? NULL
                                    : o->n_over      ? &o->over[0]
                                    : o->has_nearest ? &o->nearest
                                                     : NULL;
    return near ? plan(r, near, 1, (double)NAN, NULL) : NULL;
}

static json_t *front(const struct plan_report *r, enum plan_axis axis)
{
    const struct plan_outcome *o = r->outcome;
    int32_t *at = xcalloc((size_t)o->n_entries + 1, sizeof(*at));
    int32_t n = plan_front(at, r->job, o, axis);
    json_t *list = json_array();
    for (int32_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(at[i] + 1));
    free(at);
    return list;
}

static json_t *front_cost(const void *report)
{
    return front(report, PLAN_AXIS_COST);
}

static json_t *front_memory(const void *report)
{
    return front(report, PLAN_AXIS_MEMORY);
}

/* --- why the best is the best ------------------------------------------------------ */

struct alternative {
    struct plan_alternative a;
    const char *value;
};

/* clang-format off */
static const struct contract_member sensitivity_rows[] = {
    CONTRACT_AT("what", TEXT, plan_sensitivity, what, "The resource."),
    CONTRACT_AT("time_per_sample", REAL, plan_sensitivity, per_sample, "The time of a sample over that of the plan.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object sensitivity = { "sensitivity", sensitivity_rows };

static const struct contract_member alternative_rows[] = {
    CONTRACT_AT("field", NAME, alternative, a.field, "What differs.", .names = space_field_names),
    CONTRACT_AT("value", TEXT, alternative, value, "Its value."),
    CONTRACT_AT("fits", BOOL, alternative, a.entry.result.fits, "Whether the peak is below the capacity."),
    CONTRACT_AT("step_time_s", REAL, alternative, a.entry.result.step_time_s, "Time of one training step.", KNOWN),
    CONTRACT_AT("peak_bytes", INT64, alternative, a.entry.result.peak_B, "Memory of the fullest GPU."),
    CONTRACT_AT("worse", NAME, alternative, a.worse, "The category that grows most.", .names = category_names),
    CONTRACT_AT("worse_s", REAL, alternative, a.worse_s, "By how much.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object alternative = { "alternative", alternative_rows };
/* clang-format on */

static json_t *bottleneck(const void *report)
{
    const struct plan_why *w = ((const struct plan_report *)report)->why;
    return json_string(names_of(category_names, (int)w->bottleneck));
}

static json_t *sensitivities(const void *report)
{
    const struct plan_why *w = ((const struct plan_report *)report)->why;
    json_t *list = json_array();
    for (int i = 0; i < PLAN_SENSITIVITIES; i++) {
        struct plan_sensitivity s = w->sensitivities[i];
        s.what = s.what ? s.what : "";
        s.per_sample = s.known ? s.per_sample : (double)NAN;
        json_array_append_new(list, contract_json(&sensitivity, &s));
    }
    return list;
}

static json_t *alternatives(const void *report)
{
    const struct plan_report *r = report;
    json_t *list = json_array();
    for (int32_t i = 0; i < r->why->n_alternatives; i++) {
        const struct plan_alternative *a = &r->why->alternatives[i];
        char v[64];
        const struct alternative x = {
            .a = *a,
            .value = space_value_text(&r->job->space, a->field,
                                      a->entry.point.v[a->field], v, sizeof(v)),
        };
        json_array_append_new(list, contract_json(&alternative, &x));
    }
    return list;
}

/* clang-format off */
static const struct contract_member why_rows[] = {
    CONTRACT_MADE("bottleneck", NAME, bottleneck, "The largest category of the breakdown but for computing, which it is where no other takes a tenth.", .names = category_names),
    CONTRACT_MADE("sensitivities", LIST, sensitivities, "What more of a resource would give.", .of = &sensitivity),
    CONTRACT_MADE("alternatives", LIST, alternatives, "The best plan with another value of one field.", .of = &alternative),
    CONTRACT_END,
};
static const struct contract_object why_contract = { "why", why_rows };
/* clang-format on */

static json_t *why(const void *report)
{
    return ((const struct plan_report *)report)->why
               ? contract_json(&why_contract, report)
               : NULL;
}

/* --- what else would fit; warnings ---------------------------------------------------- */

static json_t *remedy_peak(const void *remedy)
{
    const struct plan_remedy *x = remedy;
    return x->has_entry ? json_integer(x->entry.result.peak_B) : NULL;
}

/* clang-format off */
static const struct contract_member remedy_rows[] = {
    CONTRACT_AT("what", TEXT, plan_remedy, what, "What was changed."),
    CONTRACT_AT("tried", BOOL, plan_remedy, tried, "False: there was nothing left to change."),
    CONTRACT_AT("fits", BOOL, plan_remedy, fits, "Whether it fits then."),
    CONTRACT_AT("cluster", TEXT, plan_remedy, cluster, "Instances.", KNOWN),
    CONTRACT_AT("plan", TEXT, plan_remedy, text, "The plan in words.", KNOWN),
    CONTRACT_MADE("peak_bytes", INT64, remedy_peak, "Memory of the fullest GPU.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object remedy = { "remedy", remedy_rows };
/* clang-format on */

static json_t *remedies(const void *report)
{
    const struct plan_report *r = report;
    return contract_list(&remedy, r->remedies, r->n_remedies, sizeof(*r->remedies));
}

static void add_warning(json_t *list, struct arena *arena, enum diag_code code,
                        const char *text)
{
    struct diag d = { .severity = DIAG_WARNING, .code = code };
    if (!text)
        return;
    d = diag_made(arena, d, text);
    json_array_append_new(list, diag_json(&d));
}

/* What reading found, then what planning did. */
static json_t *warnings(const void *report)
{
    const struct plan_report *r = report;
    const struct plan_outcome *x = r->outcome;
    struct arena *arena = &r->job->loader->arena;
    json_t *list = diags_json(&r->job->loader->diags);
    add_warning(list, arena, DIAG_PRICE_DATES, r->job->price_note);
    add_warning(list, arena, DIAG_WITHOUT_EFFECT, plan_job_unused(r->job));
    char *left = x->refusal ? xasprintf("%" PRId64 " left out: %s", (int64_t)x->refused,
                                        x->refusal)
                            : NULL;
    add_warning(list, arena, DIAG_LEFT_OUT, left);
    free(left);
    return list;
}

static json_t *assumed(const void *report)
{
    return assumptions_json(&((const struct plan_report *)report)->job->assumed);
}

/* --- what decides -------------------------------------------------------------------- */

struct decision {
    struct risk_decision d;
    int64_t rank;
    const char *unknown;
    double factor, network_Bps;
};

/* clang-format off */
static const struct contract_member decision_rows[] = {
    CONTRACT_AT("rank", COUNT, decision, rank, "The plan that is better than the first most often, by what plans share; null: none ever is.", KNOWN),
    CONTRACT_AT("share", REAL, decision, d.share, "Of the draws in which it is."),
    CONTRACT_AT("unknown", TEXT, decision, unknown, "The unknown that shows which; null where none does alone.", KNOWN),
    CONTRACT_AT("above", BOOL, decision, d.above, "Whether the unknown's factor on the predicted time, or memory, is then above the threshold, or below."),
    CONTRACT_AT("factor", REAL, decision, factor, "The threshold.", KNOWN),
    CONTRACT_AT("network_bytes_per_s", REAL, decision, network_Bps, "Of the network: the same as a GPU's rate.", KNOWN),
    CONTRACT_AT("right", REAL, decision, d.right, "Share of the draws that the threshold shows rightly."),
    CONTRACT_END,
};
static const struct contract_object decision_contract = { "decision", decision_rows };
/* clang-format on */

static json_t *decides(const void *report)
{
    const struct plan_report *r = report;
    const struct plan_outcome *o = r->outcome;
    if (r->options->risk.rule == RISK_NONE || o->n_entries < 2)
        return NULL;
    const struct risk_decision *d = &o->decides;
    double Bps = o->entries[0].result.by.network_Bps;
    bool network = d->known && d->unknown == RESOURCE_NETWORK && Bps > 0;
    const struct decision x = {
        .d = *d,
        .rank = d->changes ? d->other + 1 : 0,
        .unknown = d->known ? names_of(risk_unknown_names, d->unknown) : NULL,
        .factor = d->known ? d->factor : (double)NAN,
        .network_Bps = network ? Bps / d->factor : (double)NAN,
    };
    return contract_json(&decision_contract, &x);
}

static json_t *tries(const void *report)
{
    const struct risk_tries *t = &((const struct plan_report *)report)->outcome->tries;
    json_t *list = json_array();
    for (int32_t k = 0; k < t->n; k++)
        json_array_append_new(list, json_real(t->lost[k]));
    return list;
}

/* --- the result ---------------------------------------------------------------------- */

/* What members are made of, and numbers at offsets. */
struct planned {
    struct plan_report r;
    struct plan_outcome o;
    int objective;
    struct risk_options risk;
};

/* clang-format off */
static const struct contract_member rule_rows[] = {
    CONTRACT_AT("rule", NAME, risk_options, rule, "Which number of a plan's regret; none: the prediction.", .names = risk_rule_names),
    CONTRACT_AT("draws", INT32, risk_options, draws, "Of what is not known; 0: none."),
    CONTRACT_AT("seed", INT64, risk_options, seed, "Of the draws."),
    CONTRACT_END,
};
static const struct contract_object rule_contract = { "rule", rule_rows };

static const struct contract_member missed_rows[] = {
    CONTRACT_AT("n", INT64, plan_missed, n, "Plans that memory may hold and that were not simulated; 0 where none of them can be the best."),
    CONTRACT_AT("nearest", REAL, plan_missed, nearest, "The best of them by its score: how much worse than the best, as a fraction."),
    CONTRACT_AT("largest_error", REAL, plan_missed, largest_error, "Of the scores of the simulated plans, as a fraction."),
    CONTRACT_AT("chance", REAL, plan_missed, chance, "That the nearest is the best all the same: how often simulated plans were as much better than their scores."),
    CONTRACT_END,
};
static const struct contract_object missed_contract = { "missed", missed_rows };

static const struct contract_member rows[] = {
    CONTRACT_AT("combinations", REAL, planned, o.space, "Combinations of all values."),
    CONTRACT_AT("evaluated", INT64, planned, o.evaluated, "Combinations that the rules allow, whose time and memory were estimated."),
    CONTRACT_AT("feasible", INT64, planned, o.feasible, "Of these, those that fit in memory."),
    CONTRACT_AT("simulated", INT64, planned, o.simulated, "Of these, those that were simulated."),
    CONTRACT_AT("too_large", INT64, planned, o.unfit, "Plans that do not fit when simulated."),
    CONTRACT_AT("refused", INT64, planned, o.refused, "Plans that could not be simulated."),
    CONTRACT_AT("within_score_error", INT64, planned, o.near, "Plans not simulated whose estimate is within its error of the last one listed."),
    CONTRACT_AT("variants", INT32, planned, o.n_variants, "Plans left out of the list: one that is listed but for placement or buckets."),
    CONTRACT_AT("ranks_sure", INT32, planned, o.n_sure, "Ranks that no plan left out can change."),
    CONTRACT_AT("score_error", REAL, planned, o.score_error, "The estimate's error, as a fraction of the time.", KNOWN),
    CONTRACT_AT("missed", OBJECT, planned, o.missed, "What was not simulated, and may be better.", .of = &missed_contract),
    CONTRACT_AT("tie_error", REAL, planned, o.tie_error, "Plans nearer to each other than that are ties.", KNOWN),
    CONTRACT_AT("complete", BOOL, planned, o.complete, "False where Ctrl-C ended the search."),
    CONTRACT_AT("objective", NAME, planned, objective, "What the best has least of.", .names = plan_objective_names),
    CONTRACT_AT("risk", OBJECT, planned, risk, "How plans are ordered: by their regret over draws of what is not known, or by the prediction.", .of = &rule_contract),
    CONTRACT_MADE("decides", OBJECT, decides, "What makes another plan better than the first; null of one plan, or where the point estimate decides.", KNOWN, .of = &decision_contract),
    CONTRACT_MADE("tries", LIST, tries, "The expected regret of plan 1, of the better of plans 1 and 2, and of the best of three, residuals of their own counted; empty where the mean of regrets does not decide.", .items = CONTRACT_REAL),
    CONTRACT_MADE("plans", LIST, plans, "The best first; empty where nothing fits.", .of = &plan_contract),
    CONTRACT_MADE("kept_back", LIST, kept_back, "The best plan of each filter that keeps back what would be better.", .of = &plan_contract),
    CONTRACT_MADE("front_time_cost", LIST, front_cost, "Ranks of the plans that no other is both faster and cheaper than.", .items = CONTRACT_INT64),
    CONTRACT_MADE("front_time_memory", LIST, front_memory, "Ranks of the plans that no other is both faster and smaller than.", .items = CONTRACT_INT64),
    CONTRACT_MADE("why", OBJECT, why, "Why the best is the best; null without one.", KNOWN, .of = &why_contract),
    CONTRACT_MADE("nearest", OBJECT, nearest, "Without plans: the one that is nearest to fitting, or to the budget.", KNOWN, .of = &plan_contract),
    CONTRACT_MADE("remedies", LIST, remedies, "What else would fit.", .of = &remedy),
    CONTRACT_MADE("warnings", LIST, warnings, "What was warned of.", .of = &diag_contract),
    CONTRACT_MADE("assumed", LIST, assumed, "What the input leaves open, as it was decided.", .of = &assumption_contract),
    CONTRACT_END,
};
static const struct contract_object result = { "result", rows };
/* clang-format on */
const struct contract report_plan_contract = { "urn:smsim:plan:1",
                                               "The result of smsim plan --json",
                                               { &result } };

json_t *report_plan_json(const struct plan_report *r)
{
    struct planned x = { *r, *r->outcome, (int)r->options->objective,
                         r->options->risk };
    if (x.risk.rule == RISK_NONE)
        x.risk.draws = 0;
    return contract_result(&report_plan_contract, &x);
}
