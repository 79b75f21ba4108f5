#include "sweep/sweep.h"

#include "campaign/campaign.h"
#include "config/datadir.h"
#include "config/pointer.h"
#include "simulate/result_json.h"

#include <inttypes.h>
#include <string.h>

struct sweep_raw {
    const char *name;
    struct cfg base, axes, where, outputs, plots;
    int keep;
};

enum { KEEP_ALL, KEEP_FEASIBLE };

static const struct name_value keep_names[] = { { "all", KEEP_ALL },
                                                { "feasible", KEEP_FEASIBLE },
                                                { NULL, 0 } };

static const struct cfg_field sweep_fields[] = {
    CFG_STRING("name", struct sweep_raw, name),
    CFG_ROW("base", CFG_T_CHILD, struct sweep_raw, base, .required = true,
            .why = "as the name or path of a scenario, or an object"),
    CFG_ROW("axes", CFG_T_CHILD, struct sweep_raw, axes, .required = true,
            .why = "as an array such as [ { \"path\": \"/cluster/count\", \"values\": "
                   "[1, 2] } ]"),
    CFG_CHILD("where", struct sweep_raw, where),
    CFG_CHILD("outputs", struct sweep_raw, outputs),
    CFG_CHILD("plots", struct sweep_raw, plots),
    CFG_ENUM("keep", struct sweep_raw, keep, keep_names),
    CFG_END,
};

/* What is written of a point unless the file says otherwise. */
static const char *const default_outputs[] = {
    "step_time_s",
    "samples_per_s",
    "tokens_per_s",
    "mfu",
    "gpus",
    "/memory/peak_bytes",
    "/memory/fits",
    "/cost/usd_per_hour",
    "/cost/usd_per_step",
    "/cost/usd_per_job",
    "/cost/hours_per_job",
    "/breakdown_s/compute",
    "/breakdown_s/data_comm_exposed",
    "/breakdown_s/data_comm_hidden",
    "/breakdown_s/optimizer",
};

/* Axes */

struct axis_raw {
    const char *path;
    struct cfg values, labels, from, to, step, factor, zip;
};

static const struct cfg_field axis_fields[] = {
    CFG_STRING("path", struct axis_raw, path),
    CFG_CHILD("values", struct axis_raw, values),
    CFG_CHILD("labels", struct axis_raw, labels),
    CFG_CHILD("from", struct axis_raw, from),
    CFG_CHILD("to", struct axis_raw, to),
    CFG_CHILD("step", struct axis_raw, step),
    CFG_CHILD("factor", struct axis_raw, factor),
    CFG_CHILD("zip", struct axis_raw, zip),
    CFG_END,
};

static int read_labels(struct sweep *s, struct sweep_field *f, struct cfg labels)
{
    int64_t n = (int64_t)json_array_size(f->values);
    if (!cfg_present(labels))
        return 0;
    if (!cfg_is_array(labels) || cfg_len(labels) != n)
        return cfg_error(labels, DIAG_WRONG_TYPE,
                         "should be an array of %" PRId64 " texts, one a value", n);
    f->labels = ARENA_ARRAY(s->arena, n, const char *);
    int rc = 0;
    for (int64_t i = 0; i < n; i++)
        rc |= cfg_string(cfg_at(labels, i), &f->labels[i]);
    return rc;
}

static int check_path(const struct sweep *s, struct cfg axis, const char *path)
{
    struct cfg c = cfg_get(axis, "path");
    if (!path)
        return cfg_present(c) ? -1
                              : cfg_error(axis, DIAG_MISSING,
                                          "has no \"path\" (write \"/cluster/count\")");
    if (path[0] != '/')
        return cfg_error(c, DIAG_SYNTAX,
                         "not a JSON pointer (write for example \"/cluster/count\")");
    if (sweep_field_find(s, path) >= 0)
        return cfg_error(c, DIAG_CONTRADICTION,
                         "is the path of another axis too (keep one of them)");
    return 0;
}

/* One field; its axis gets the number of values, or must have that number. */
static int read_field(struct sweep *s, struct cfg axis, const struct axis_raw *raw)
{
    if (check_path(s, axis, raw->path))
        return -1;
    if (s->n_fields == SWEEP_FIELDS_MAX)
        return cfg_error(axis, DIAG_OUT_OF_RANGE,
                         "is beyond the %d paths that a sweep may have",
                         SWEEP_FIELDS_MAX);
    json_t *values = sweep_axis_values(axis, raw->values, raw->from, raw->to, raw->step,
                                       raw->factor);
    if (!values)
        return -1;
    struct sweep_field *f = &s->fields[s->n_fields++];
    *f = (struct sweep_field) { .path = raw->path,
                                .values = values,
                                .axis = s->n_axes,
                                .where = cfg_get(axis, "path") };
    int64_t n = (int64_t)json_array_size(values), *wanted = &s->axes[s->n_axes];
    if (*wanted && *wanted != n)
        return cfg_error(axis, DIAG_CONTRADICTION,
                         "has %" PRId64 " values where the first of its \"zip\" has "
                         "%" PRId64,
                         n, *wanted);
    *wanted = n;
    return read_labels(s, f, raw->labels);
}

static int read_zip(struct sweep *s, const struct axis_raw *raw)
{
    if (raw->path || cfg_present(raw->values) || cfg_present(raw->from))
        return cfg_error(
            raw->zip, DIAG_CONTRADICTION,
            "is given together with \"path\" or values (keep one of them)");
    if (!cfg_is_array(raw->zip) || cfg_len(raw->zip) == 0)
        return cfg_error(raw->zip, DIAG_WRONG_TYPE, "should be an array of axes");
    int rc = 0;
    for (int64_t i = 0; i < cfg_len(raw->zip); i++) {
        struct axis_raw part = { 0 };
        struct cfg c = cfg_at(raw->zip, i);
        if (!cfg_is_object(c))
            rc = cfg_error(c, DIAG_WRONG_TYPE,
                           "should be an axis: an object with \"path\"");
        else if (cfg_read(c, axis_fields, &part))
            rc = -1;
        else if (cfg_present(part.zip))
            rc = cfg_error(part.zip, DIAG_UNSUPPORTED,
                           "does not nest (list its axes here)");
        else if (read_field(s, c, &part))
            rc = -1;
    }
    return rc;
}

static int read_axis(struct sweep *s, struct cfg axis)
{
    struct axis_raw raw = { 0 };
    if (!cfg_is_object(axis))
        return cfg_error(axis, DIAG_WRONG_TYPE,
                         "should be an axis: an object with \"path\" and \"values\"");
    if (s->n_axes == SWEEP_AXES_MAX)
        return cfg_error(axis, DIAG_OUT_OF_RANGE,
                         "is beyond the %d axes that a sweep may have", SWEEP_AXES_MAX);
    s->axes[s->n_axes] = 0;
    int32_t before = s->n_fields;
    int rc = cfg_read(axis, axis_fields, &raw);
    if (rc == 0)
        rc = cfg_present(raw.zip) ? read_zip(s, &raw) : read_field(s, axis, &raw);
    if (rc == 0)
        sweep_axis_warn_equal(axis, s->n_fields - before);
    s->n_axes++;
    return rc;
}

static int read_axes(struct sweep *s, struct cfg axes)
{
    if (!cfg_is_array(axes))
        return cfg_error(axes, DIAG_WRONG_TYPE, "should be an array of axes");
    int rc = 0;
    for (int64_t i = 0; i < cfg_len(axes) && s->n_axes <= SWEEP_AXES_MAX; i++) {
        rc |= read_axis(s, cfg_at(axes, i));
        if (s->n_axes == SWEEP_AXES_MAX && i + 1 < cfg_len(axes))
            return read_axis(s, cfg_at(axes, i + 1));
    }
    s->n_points = 1;
    for (int32_t i = 0; rc == 0 && i < s->n_axes; i++)
        if (__builtin_mul_overflow(s->n_points, s->axes[i], &s->n_points) ||
            s->n_points > SWEEP_POINTS_MAX)
            return cfg_error(axes, DIAG_OUT_OF_RANGE,
                             "make more than %d points (take fewer values)",
                             SWEEP_POINTS_MAX);
    return rc;
}

/* Outputs */

/* The result of no step at all, for its names. */
static json_t *empty_result(void)
{
    struct stage_memory stage = { 0 };
    struct scenario s = { 0 };
    struct simulate_result r = { .memory = { .n_stages = 1, .stages = &stage } };
    const struct campaign_result beyond = {
        .input.given = true,
        .job = { .given = true, .has_checkpoints = true, .trials.trials = 1 },
        .uncertainty = { .given = true, .has_goodput = true },
    };
    json_t *result = result_json(&s, &r);
    campaign_json(result, &beyond);
    return result;
}

/* The part of the results that has a member of that name; NULL: none has. */
static const char *part_with(const json_t *results, const char *name)
{
    const char *part;
    json_t *members;
    json_object_foreach((json_t *)(uintptr_t)results, part, members)
    {
        if (json_object_get(members, name))
            return part;
    }
    return NULL;
}

int sweep_check_result(const struct sweep *s, const char *name, struct cfg where)
{
    if (pointer_get(s->results, name))
        return 0;
    const char *part = part_with(s->results, name);
    if (part)
        return cfg_error(where, DIAG_UNKNOWN_NAME,
                         "\"%s\" is no result (did you mean \"/%s/%s\"?)", name, part,
                         name);
    struct name_value names[64] = { { 0 } };
    int n = 0;
    for (void *it = json_object_iter(s->results); it && n < 63;
         it = json_object_iter_next(s->results, it))
        names[n++].name = json_object_iter_key(it);
    const char *near = names_nearest(names, name);
    if (near)
        return cfg_error(where, DIAG_UNKNOWN_NAME,
                         "\"%s\" is no result (did you mean \"%s\"?)", name, near);
    return cfg_error(where, DIAG_UNKNOWN_NAME,
                     "\"%s\" is no result (take names from simulate --json, such "
                     "as \"step_time_s\" or \"/memory/peak_bytes\")",
                     name);
}

void sweep_add_output(struct sweep *s, const char *name)
{
    for (int64_t i = 0; i < s->outputs.n; i++)
        if (strcmp(s->outputs.v[i], name) == 0)
            return;
    VEC_PUSH(&s->outputs, name);
}

static int read_outputs(struct sweep *s, struct cfg list)
{
    int rc = 0;
    if (!cfg_present(list)) {
        for (size_t i = 0; i < sizeof(default_outputs) / sizeof(default_outputs[0]);
             i++)
            sweep_add_output(s, default_outputs[i]);
        return 0;
    }
    if (!cfg_is_array(list))
        return cfg_error(list, DIAG_WRONG_TYPE,
                         "should be an array of names of results");
    for (int64_t i = 0; i < cfg_len(list); i++) {
        const char *name;
        struct cfg c = cfg_at(list, i);
        if (cfg_string(c, &name) || sweep_check_result(s, name, c))
            rc = -1;
        else
            sweep_add_output(s, name);
    }
    return rc;
}

/* The sweep */

static int read_base(struct sweep *s, struct cfg_loader *loader, struct cfg base)
{
    const char *name;
    if (cfg_is_object(base)) {
        s->base = base.json;
        return 0;
    }
    if (!cfg_is_string(base))
        return cfg_error(base, DIAG_WRONG_TYPE,
                         "should be the name or path of a scenario, or an object");
    if (cfg_string(base, &name))
        return -1;
    struct cfg root = datadir_load(loader, "scenarios", name, base);
    if (!root.json)
        return -1;
    s->base = root.json;
    return cfg_is_object(root)
               ? 0
               : cfg_error(root, DIAG_WRONG_TYPE, "a scenario is an object");
}

int sweep_load(struct sweep *s, struct cfg_loader *loader, const char *name)
{
    struct sweep_raw raw = { .keep = KEEP_ALL };
    *s = (struct sweep) { .arena = &loader->arena, .results = empty_result() };
    struct inputs before = loader->inputs; /* what the table is read from is alone */
    loader->inputs = (struct inputs) { 0 };
    s->interval = interval_table_get(loader);
    s->inputs = loader->inputs;
    loader->inputs = before;
    s->root = strcmp(name, "-") == 0
                  ? cfg_load(loader, name)
                  : datadir_load(loader, "scenarios/sweeps", name, (struct cfg) { 0 });
    if (!s->root.json)
        return -1;
    if (!cfg_is_object(s->root))
        return cfg_error(s->root, DIAG_WRONG_TYPE,
                         "a sweep is an object (write { \"base\": ..., \"axes\": "
                         "[...] })");
    int rc = cfg_read(s->root, sweep_fields, &raw);
    s->feasible = raw.keep == KEEP_FEASIBLE;
    s->plots = raw.plots;
    if (cfg_present(raw.base))
        rc |= read_base(s, loader, raw.base);
    int axes = cfg_present(raw.axes) ? read_axes(s, raw.axes) : 0;
    rc |= read_outputs(s, raw.outputs);
    if (axes == 0) /* else names of axes are not all known */
        rc |= sweep_wheres_read(&s->wheres, s, raw.where);
    return rc || axes ? -1 : 0;
}

void sweep_release(struct sweep *s)
{
    for (int32_t i = 0; i < s->n_fields; i++)
        json_decref(s->fields[i].values);
    VEC_RELEASE(&s->outputs);
    inputs_release(&s->inputs);
    json_decref(s->results);
    *s = (struct sweep) { 0 };
}

int32_t sweep_field_find(const struct sweep *s, const char *path)
{
    for (int32_t i = 0; i < s->n_fields; i++)
        if (strcmp(s->fields[i].path, path) == 0)
            return i;
    return -1;
}

void sweep_digits(const struct sweep *s, int64_t point, int64_t digits[SWEEP_AXES_MAX])
{
    for (int32_t i = s->n_axes; i-- > 0;) {
        digits[i] = point % s->axes[i];
        point /= s->axes[i];
    }
}
