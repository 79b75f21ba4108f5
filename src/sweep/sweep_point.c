#include "sweep/sweep_point.h"

#include "base/xmalloc.h"
#include "campaign/campaign.h"
#include "config/contract.h"
#include "config/pointer.h"
#include "simulate/result_json.h"

#include <inttypes.h>
#include <stdlib.h>

json_t *sweep_point_value(const struct sweep *s, int32_t field, int64_t point)
{
    int64_t digits[SWEEP_AXES_MAX];
    const struct sweep_field *f = &s->fields[field];
    sweep_digits(s, point, digits);
    return json_array_get(f->values, (size_t)digits[f->axis]);
}

json_t *sweep_point_scenario(const struct sweep *s, int64_t point, struct err *err)
{
    json_t *tree = json_deep_copy(s->base);
    for (int32_t i = 0; i < s->n_fields; i++) {
        json_t *value = json_deep_copy(sweep_point_value(s, i, point));
        if (pointer_set(tree, s->fields[i].path, value, err)) {
            json_decref(tree);
            return NULL;
        }
    }
    return tree;
}

static json_t *axes_of(const struct sweep *s, int64_t point)
{
    json_t *axes = json_object();
    for (int32_t i = 0; i < s->n_fields; i++)
        json_object_set(axes, s->fields[i].path, sweep_point_value(s, i, point));
    return axes;
}

/* The errors of a scenario, and as one line: the first, and how many more. */
static int scenario_error(struct diags *d, json_t *errors, struct err *err)
{
    for (int64_t i = 0; i < d->n; i++)
        if (d->v[i].severity == DIAG_ERROR)
            json_array_append_new(errors, diag_json(&d->v[i]));
    if (d->n_errors > 1)
        return err_set(err, "%s (and %" PRId64 " more)", diags_error_text(d, 0),
                       (int64_t)d->n_errors - 1);
    return err_set(err, "%s", d->n_errors ? diags_error_text(d, 0) : "unknown error");
}

/* What was found of a point, as arrays of findings. */
struct found {
    json_t *warnings, *errors;
};

/* Simulate's JSON for a scenario, whose tree is stolen; warnings of reading and of
 * simulating, and what is wrong with the scenario, go to *found. */
static json_t *simulated(const struct sweep *sweep, struct cfg_loader *loader,
                         json_t *tree, const struct found *found, struct err *err)
{
    const struct simulate_options options = { .network = FIDELITY_FLOW,
                                              .unread = {
                                                  !sweep_shows(sweep, "utilization"),
                                                  !sweep_shows(sweep, "layer") } };
    const struct uncertainty_draws draws = { .network = FIDELITY_FLOW };
    const struct campaign_how how = { &options, &draws, sweep->interval };
    struct scenario s = { 0 };
    struct simulate_result r;
    struct campaign campaign;
    struct campaign_result beyond;
    if (scenario_read(&s, loader, cfg_from_tree(loader, "scenario", tree)) ||
        campaign_read(&campaign, &s)) {
        scenario_error(&loader->diags, found->errors, err);
        return NULL;
    }
    if (campaign_simulate(&r, &beyond, loader, &campaign, &s, &how, err))
        return NULL;
    for (int32_t i = 0; i < r.n_warnings; i++)
        json_array_append_new(found->warnings, diag_json(&r.warnings[i]));
    json_t *result = result_json(&s, &r);
    campaign_json(result, &beyond);
    return result;
}

static bool is_wanted(const struct sweep *s, json_t *result)
{
    bool fits = !json_is_false(pointer_get(result, "/memory/fits"));
    return (fits || !s->feasible) && sweep_wheres_results(&s->wheres, result);
}

static json_t *results_of(const struct sweep *s, json_t *result)
{
    json_t *results = json_object();
    for (int64_t i = 0; i < s->outputs.n; i++) {
        json_t *v = pointer_get(result, s->outputs.v[i]);
        json_object_set(results, s->outputs.v[i], v ? v : json_null());
    }
    return results;
}

/* What became of a point. */
struct record {
    int64_t point;
    json_t *axes, *results; /* NULL: none */
    const struct found *found;
    const char *error; /* NULL: none */
    bool retry;        /* the error is of the moment: a file could not be read */
};

static json_t *not_empty(json_t *list)
{
    return json_array_size(list) ? json_incref(list) : NULL;
}

static json_t *warnings_of(const void *record)
{
    const struct record *r = record;
    return r->error ? NULL : not_empty(r->found->warnings);
}

static json_t *errors_of(const void *record)
{
    const struct record *r = record;
    return r->error ? not_empty(r->found->errors) : NULL;
}

static json_t *retry_of(const void *record)
{
    return ((const struct record *)record)->retry ? json_true() : NULL;
}

/* clang-format off */
#define LACKS .flags = CONTRACT_MAY_LACK
static const struct contract_member rows[] = {
    CONTRACT_AT("point", INT64, record, point, "The number of the point, from 0."),
    CONTRACT_AT("axes", MAP, record, axes, "The value of each path that the sweep varies.", .items = CONTRACT_ANY),
    CONTRACT_AT("results", MAP, record, results, "The sweep's outputs; null of what a result lacks. Not there with an error.", LACKS, .items = CONTRACT_ANY),
    CONTRACT_MADE("warnings", LIST, warnings_of, "What was warned of; not there without any.", LACKS, .of = &diag_contract),
    CONTRACT_AT("error", TEXT, record, error, "Why there is no result, on one line; not there with one.", LACKS),
    CONTRACT_MADE("errors", LIST, errors_of, "The same as findings, where a scenario is wrong.", LACKS, .of = &diag_contract),
    /* the last member: sweep_scan.c looks for it at the end */
    CONTRACT_MADE("retry", BOOL, retry_of, "True: the error is of the moment, and --resume runs the point again.", LACKS),
    CONTRACT_END,
};
/* clang-format on */
static const struct contract_object record_contract = { "record", rows };
const struct contract sweep_point_contract = { "urn:smsim:sweep-point:1",
                                               "A line of points.jsonl of smsim sweep",
                                               { &record_contract } };

static bool is_utf8(const char *text)
{
    json_t *s = json_string(text);
    json_decref(s);
    return s != NULL;
}

/* The record of a point that was run; a result of NULL is the error's. */
static json_t *record_of(const struct sweep *s, int64_t point, json_t *result,
                         const struct found *found, const struct err *err,
                         bool of_the_moment)
{
    if (result && !is_wanted(s, result))
        return json_pack("{s:I, s:b}", "point", (json_int_t)point, "left_out", 1);
    struct record r = { .point = point, .axes = axes_of(s, point), .found = found };
    if (result)
        r.results = results_of(s, result);
    else
        r.error = is_utf8(err->text) ? err->text : "unknown error";
    r.retry = !result && of_the_moment;
    json_t *o = contract_json(&record_contract, &r);
    json_decref(r.axes);
    json_decref(r.results);
    return o;
}

char *sweep_point_run(const struct sweep *s, int64_t point, struct cfg_loader *files,
                      struct sweep_inputs *inputs, struct err *err)
{
    struct cfg_loader loader;
    struct err why = { 0 };
    const struct found found = { json_array(), json_array() };
    json_t *result = NULL;
    cfg_loader_init(&loader);
    loader.shared = files;
    json_t *tree = sweep_point_scenario(s, point, &why);
    if (tree)
        result = simulated(s, &loader, tree, &found, &why);
    json_t *record =
        record_of(s, point, result, &found, &why, loader.inputs.n_unread > 0);
    char *line = json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(12));
    if (sweep_inputs_add_read(inputs, &files->inputs, err) ||
        sweep_inputs_add_read(inputs, &loader.inputs, err)) {
        free(line);
        line = NULL;
    } else if (!line) {
        line = xstrdup("");
    }
    json_decref(record);
    json_decref(found.warnings);
    json_decref(found.errors);
    json_decref(result);
    cfg_loader_release(&loader);
    return line;
}
