#include "report/difference.h"
#include "config/contract.h"

/* clang-format off */
#define KNOWN .flags = CONTRACT_MAY_NULL
static const struct contract_member numbers_rows[] = {
    CONTRACT_AT("step_time_s", REAL, difference_numbers, step_s, "Time of one training step."),
    CONTRACT_AT("samples_per_s", REAL, difference_numbers, samples_per_s, "Sequences per second of the whole cluster.", KNOWN),
    CONTRACT_AT("tokens_per_s", REAL, difference_numbers, tokens_per_s, "Tokens per second of the whole cluster.", KNOWN),
    CONTRACT_AT("peak_bytes", REAL, difference_numbers, peak_B, "On the fullest GPU."),
    CONTRACT_AT("fits", BOOL, difference_numbers, fits, "Whether the peak is below the capacity."),
    CONTRACT_AT("usd_per_hour", REAL, difference_numbers, usd_per_h, "Of all instances.", KNOWN),
    CONTRACT_AT("usd_per_step", REAL, difference_numbers, usd_per_step, "Of one training step.", KNOWN),
    CONTRACT_AT("breakdown_s", REALS, difference_numbers, parts_s, "The parts of the step by the names of simulate's result.", .names = category_names),
    CONTRACT_END,
};
static const struct contract_object numbers = { "numbers", numbers_rows };
/* clang-format on */

static json_t *value(const json_t *v)
{
    return v ? json_deep_copy(v) : NULL;
}

static json_t *value_from(const void *change)
{
    return value(((const struct difference_change *)change)->from);
}

static json_t *value_to(const void *change)
{
    return value(((const struct difference_change *)change)->to);
}

/* A cause, with its times as differences. */
struct added {
    struct difference_cause c;
    double step_s, alone_s, last_s;
};

/* clang-format off */
static const struct contract_member change_rows[] = {
    CONTRACT_AT("pointer", TEXT, difference_change, pointer, "The key of the scenario."),
    CONTRACT_MADE("from", ANY, value_from, "null: not given."),
    CONTRACT_MADE("to", ANY, value_to, "null: not given."),
    CONTRACT_END,
};
static const struct contract_object change = { "change", change_rows };
/* clang-format on */

static json_t *changes(const void *cause)
{
    const struct difference_cause *c = &((const struct added *)cause)->c;
    return contract_list(&change, c->changes, c->n_changes, sizeof(*c->changes));
}

/* clang-format off */
static const struct contract_member cause_rows[] = {
    CONTRACT_AT("cause", TEXT, added, c.name, "Several are joined by a comma."),
    CONTRACT_AT("step_time_s", REAL, added, step_s, "What it adds; all sum to the difference."),
    CONTRACT_AT("alone_s", REAL, added, alone_s, "What it adds to the first job alone; null where that cannot be simulated.", KNOWN),
    CONTRACT_AT("last_s", REAL, added, last_s, "What it adds as the last before the other job; likewise.", KNOWN),
    CONTRACT_AT("after", OBJECT, added, c.after, "The job with it, and all before it.", .of = &numbers),
    CONTRACT_MADE("changes", LIST, changes, "Keys that differ.", .of = &change),
    CONTRACT_END,
};
static const struct contract_object cause = { "cause", cause_rows };
/* clang-format on */

static json_t *causes(const void *view)
{
    const struct difference *d = ((const struct difference_view *)view)->d;
    json_t *list = json_array();
    double before_s = d->a.step_s;
    for (int32_t i = 0; i < d->n_causes; i++) {
        const struct difference_cause *c = &d->causes[i];
        const struct added x = { *c, c->after.step_s - before_s,
                                 c->alone_s - d->a.step_s, d->b.step_s - c->without_s };
        json_array_append_new(list, contract_json(&cause, &x));
        before_s = c->after.step_s;
    }
    return list;
}

static json_t *numbers_a(const void *view)
{
    return contract_json(&numbers, &((const struct difference_view *)view)->d->a);
}

/* null: no log. */
static json_t *measured_of(const struct difference_view *v, int side)
{
    return v->measured_s[side] > 0 ? json_real(v->measured_s[side]) : NULL;
}

static json_t *measured_a(const void *view)
{
    return measured_of(view, 0);
}

static json_t *measured_b(const void *view)
{
    return measured_of(view, 1);
}

static json_t *numbers_b(const void *view)
{
    return contract_json(&numbers, &((const struct difference_view *)view)->d->b);
}

/* clang-format off */
static const struct contract_member pair_rows[] = {
    CONTRACT_AT("a", TEXT, difference_view, a, "The first job."),
    CONTRACT_AT("b", TEXT, difference_view, b, "The other."),
    CONTRACT_MADE("from", OBJECT, numbers_a, "Of the first.", .of = &numbers),
    CONTRACT_MADE("to", OBJECT, numbers_b, "Of the other.", .of = &numbers),
    CONTRACT_MADE("from_measured_s", REAL, measured_a, "Of a step of the first, by the median of its log's steady steps; null: no log.", KNOWN),
    CONTRACT_MADE("to_measured_s", REAL, measured_b, "Likewise of the other.", KNOWN),
    CONTRACT_MADE("causes", LIST, causes, "In the order in which they were changed; none where a side is a result.", .of = &cause),
    CONTRACT_END,
};
static const struct contract_object pair = { "comparison", pair_rows };

static const struct contract_member rows[] = {
    CONTRACT_AT("comparisons", LIST, report_differences, pairs, "Each further job with the first.", .of = &pair),
    CONTRACT_END,
};
static const struct contract_object result = { "result", rows };
/* clang-format on */
const struct contract report_differences_contract = {
    "urn:smsim:compare:1", "The result of smsim compare --json", { &result }
};

json_t *report_difference_json(const struct difference_view *v)
{
    return contract_json(&pair, v);
}
