/* A sweep: one scenario, simulated at every point of a grid.
 *
 *     { "base": "name, path or object of a scenario",
 *       "axes": [ { "path": "/cluster/count", "values": [1, 2, 4] },
 *                 { "path": "/training/micro_batch_size", "from": 1, "to": 64, "factor": 2 },
 *                 { "zip": [ { "path": "/training/precision", "values": [...] }, { ... } ] } ],
 *       "where": [ "/cluster/count <= 16", "mfu > 0.1" ],
 *       "outputs": [ "step_time_s", "/memory/peak_bytes" ],
 *       "keep": "feasible", "plots": [ ... ] }
 *
 * Points are numbered in the order of the axes, the last fastest. A range has "step" or
 * "factor", and may be of quantities of one unit ("1MiB" to "64MiB"). An axis may give
 * "labels", one a value, for figures. "where" compares the value of an axis, known
 * before simulating, or else a result. "keep": "feasible" leaves out what does not fit.
 * A point that fails is kept, with its error, unless a comparison of axes left it out.
 *
 * What a point comes to is one line of JSON, its record:
 *     {"point": 3, "axes": {"/cluster/count": 4}, "results": {"step_time_s": 0.3}}
 * with "warnings" where there are any, and "error" in place of "results" where it
 * failed; "retry" says that a file could not be read, which another time may be. A point
 * left out after simulating is {"point": 3, "left_out": true}.
 *
 * After loading, a sweep is const and shared by all threads.
 *
 * Files of this folder:
 *     sweep_axis, sweep_paths, sweep_where: axes and conditions
 *     sweep_point, sweep_run, sweep_mpi, sweep_hub: points on all cores, and under MPI
 *     sweep_shard           every n-th point, for job arrays
 *     sweep_journal, sweep_scan, sweep_inputs:
 *         the journal, and what its records depend on */
#ifndef SWEEP_SWEEP_H
#define SWEEP_SWEEP_H

#include "base/vec.h"
#include "config/cfg.h"
#include "config/inputs.h"

enum { SWEEP_AXES_MAX = 32, SWEEP_POINTS_MAX = 10000000, SWEEP_FIELDS_MAX = 64 };

/* One value of the scenario that an axis sets. */
struct sweep_field {
    const char *path;
    json_t *values;      /* an array, owned */
    const char **labels; /* NULL: none */
    int32_t axis;
    struct cfg where; /* its "path" in the file */
};

enum sweep_op { SWEEP_LT, SWEEP_LE, SWEEP_GT, SWEEP_GE, SWEEP_EQ, SWEEP_NE };

struct sweep_where {
    int32_t field;      /* of the sweep; -1: a result */
    const char *result; /* its name or pointer; NULL: a field */
    enum sweep_op op;
    bool is_number;
    double number;
    const char *text;
};

struct sweep_wheres {
    int32_t n;
    struct sweep_where *v;
};

struct sweep {
    struct arena *arena; /* of the loader */
    json_t *base;        /* borrowed of the loader */
    struct cfg root, plots;
    int32_t n_axes, n_fields;
    int64_t axes[SWEEP_AXES_MAX]; /* number of values */
    struct sweep_field fields[SWEEP_FIELDS_MAX];
    int64_t n_points;
    bool feasible;
    struct sweep_wheres wheres;
    VEC(const char *) outputs;
    const struct interval_table *interval; /* by which results are judged */
    struct inputs inputs;                  /* what every point rests on */
    json_t *results; /* a result of nothing: has every name a result has */
};

/* Reads a sweep: a file, or the name of one in scenarios/sweeps. All errors are
 * reported; -1 then. To be released in any case; lives no longer than the loader. */
int sweep_load(struct sweep *s, struct cfg_loader *loader, const char *name);
void sweep_release(struct sweep *s);

/* Reports the paths of axes that are no key of a scenario at any of the points that
 * differ from the first on one axis (256 at most): before all of them fail. */
int sweep_check_paths(const struct sweep *s);

/* The field of that path, or -1. */
int32_t sweep_field_find(const struct sweep *s, const char *path);

/* Whether results have that name; reports at `where` when not. */
int sweep_check_result(const struct sweep *s, const char *name, struct cfg where);

/* Whether outputs or comparisons show anything of that member of simulate's JSON. */
bool sweep_shows(const struct sweep *s, const char *member);

/* Adds an output unless it is there; what figures show is added this way. */
void sweep_add_output(struct sweep *s, const char *name);

/* What decides on the points: everything but the plots. */
uint64_t sweep_hash(const struct sweep *s);

/* The place of a point on each axis. */
void sweep_digits(const struct sweep *s, int64_t point, int64_t digits[SWEEP_AXES_MAX]);

/* Appends the n values of an axis' "values", or "from", "to" and "step" or "factor".
 * NULL when anything was reported; else an array to be released. */
json_t *sweep_axis_values(struct cfg axis, struct cfg values, struct cfg from,
                          struct cfg to, struct cfg step, struct cfg factor);

/* Warns of places at which all n fields of an axis have the values of an earlier place. */
void sweep_axis_warn_equal(struct cfg axis, int64_t n_fields);

/* Reads a list of comparisons (absent: none). */
int sweep_wheres_read(struct sweep_wheres *w, const struct sweep *s, struct cfg list);

/* A result by its name (borrowed): of a record's "results", where names are keys, or of
 * simulate's JSON. */
json_t *sweep_result_get(json_t *results, const char *name);

/* Whether all comparisons of axes (of results) hold; a result that is null never
 * does. */
bool sweep_wheres_axes(const struct sweep_wheres *w, const struct sweep *s,
                       int64_t point);
bool sweep_wheres_results(const struct sweep_wheres *w, json_t *results);

#endif
