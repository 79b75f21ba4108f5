#include "report/pilot.h"

#include <math.h>

#define KNOWN .flags = CONTRACT_MAY_NULL

struct pilot_plan {
    int64_t number;
    double step_s, best, regret;
};

static json_t *measure_name(const void *m)
{
    return json_string(((const struct plan_measure *)m)->name);
}

static json_t *measure_said(const void *m)
{
    const struct plan_measure *x = m;
    return x->done ? json_real(exp(x->said)) : NULL;
}

static json_t *measure_plan(const void *m)
{
    const struct plan_measure *x = m;
    return x->plan >= 0 ? json_integer(x->plan + 1) : NULL;
}

/* clang-format off */
static const struct contract_member plan_rows[] = {
    CONTRACT_AT("plan", INT64, pilot_plan, number, "Its rank, as plan lists them."),
    CONTRACT_AT("step_time_s", REAL, pilot_plan, step_s, "As predicted."),
    CONTRACT_AT("best", REAL, pilot_plan, best, "Probability that it is the best of those listed."),
    CONTRACT_AT("regret", REAL, pilot_plan, regret, "Expected; a share of its value."),
    CONTRACT_END,
};
static const struct contract_object plan = { "pilot_plan", plan_rows };

static const struct contract_member measure_rows[] = {
    CONTRACT_MADE("measurement", TEXT, measure_name, "As --measured names it."),
    CONTRACT_MADE("plan", INT64, measure_plan, "Whose step it is; null: a collective.", KNOWN),
    CONTRACT_AT("nodes", INT64, plan_measure, nodes, "It runs on so many."),
    CONTRACT_AT("minutes", REAL, plan_measure, minutes, "So long."),
    CONTRACT_AT("instance_minutes", REAL, plan_measure, instance_minutes, "Nodes times minutes."),
    CONTRACT_AT("usd", REAL, plan_measure, usd, "Their price.", KNOWN),
    CONTRACT_MADE("measured_over_predicted", REAL, measure_said, "By --measured; null: not measured.", KNOWN),
    CONTRACT_AT("regret_after", REAL, plan_measure, regret_after, "Expected of the best choice after it."),
    CONTRACT_END,
};
static const struct contract_object measure = { "pilot_measurement", measure_rows };
/* clang-format on */

static json_t *of_plans(const void *x)
{
    const struct report_pilot *r = x;
    struct pilot_plan plans[PLAN_PILOT_PLANS];
    for (int32_t i = 0; i < r->pilot->n_plans; i++)
        plans[i] =
            (struct pilot_plan) { i + 1, r->outcome->entries[i].result.step_time_s,
                                  pilot_plan_best(r->pilot->draws, i),
                                  pilot_plan_regret(r->pilot->draws, i) };
    return contract_list(&plan, plans, r->pilot->n_plans, sizeof(plans[0]));
}

static json_t *of_measures(const void *x)
{
    const struct report_pilot *r = x;
    return contract_list(&measure, r->pilot->of, r->pilot->n, sizeof(r->pilot->of[0]));
}

static json_t *of_regret(const void *x)
{
    int32_t choice;
    return json_real(
        pilot_regret(((const struct report_pilot *)x)->pilot->draws, &choice));
}

static json_t *of_choice(const void *x)
{
    int32_t choice;
    pilot_regret(((const struct report_pilot *)x)->pilot->draws, &choice);
    return json_integer(choice + 1);
}

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_MADE("choice", INT64, of_choice, "The plan of least expected regret, by its rank."),
    CONTRACT_MADE("regret", REAL, of_regret, "Expected of it; a share of its value."),
    CONTRACT_MADE("plans", LIST, of_plans, "The plans to choose between.", .of = &plan),
    CONTRACT_MADE("measurements", LIST, of_measures, "What may be measured, what saves most regret first; what was measured last.", .of = &measure),
    CONTRACT_END,
};
static const struct contract_object result = { "result", rows };
/* clang-format on */
const struct contract report_pilot_contract = { "urn:smsim:pilot:1",
                                                "The result of smsim pilot --json",
                                                { &result } };
