/* validate/cases/NAME.json: how the rows of a published table become simulations.
 *
 * The mapping decides once, for all rows, what the source leaves unsaid. Fields are
 * values in the sense of validation/value.h. What it says is checked against the
 * table's columns when it is loaded; what only a row can show (an empty cell, a text
 * that a map does not know) fails that row when it is run. */
#ifndef VALIDATION_MAPPING_H
#define VALIDATION_MAPPING_H

#include "risk/risk.h"
#include "validation/filter.h"

/* What the rows are given to. */
enum mapping_kind { MAPPING_SCENARIO, MAPPING_COLLECTIVE, MAPPING_KERNEL };

struct mapping_measured {
    const char *name; /* of simulate's JSON: "step_time_s", "/layer/forward_s" */
    const char *key;  /* in reports: the name, or "name/variant" of a ratio */
    json_t *value;    /* borrowed */
    int32_t ratio_to; /* variant whose quantity divides this one's; -1: none */
};

/* A way in which every row is run; the first is the scenario unchanged. */
struct mapping_variant {
    const char *name; /* NULL for the first */
    struct cfg set;   /* pointers and their values */
    int32_t n_measured;
    struct mapping_measured *measured;
};

/* A field that the source leaves out: the predicted fastest that fits is taken. */
struct mapping_choice {
    const char *pointer;
    json_t *values; /* array */
};

/* What rows are alike in. */
struct mapping_columns {
    int32_t n;
    struct mapping_column {
        int64_t column; /* of the table; -1: ... */
        json_t *value;  /* ... what this comes to (value.h) */
    } * v;
};

/* Rows whose rate is at least a share of the best, or of the median, of those alike in
 * some columns; only these count in errors. Without columns all do. */
struct mapping_healthy {
    double within;
    bool of_median;
    struct mapping_columns by;
    const char *why;
};

/* A failure is not held for one of memory where a row alike in these columns ran that has
 * more of another. */
struct mapping_outdone {
    int64_t larger;
    struct mapping_columns by;
    const char *why;
};

/* A state that a row's run may have been in, which its source leaves out: with a chance
 * these fields had those values. It counts in the order of alternatives alone. */
struct mapping_state {
    struct cfg set; /* pointers and their values */
    json_t *chance; /* a number */
};

enum { MAPPING_CHOICES_MAX = 4, MAPPING_CANDIDATES_MAX = 1024 };

struct mapping {
    const char *name;
    const char *source, *hardware;
    bool recalled; /* numbers from memory, not read in the source */
    bool held_out; /* no prediction was fitted to it: no cells of it are shipped */
    enum mapping_kind kind;
    struct csv csv;
    struct filters filters;
    struct filters
        fitted;      /* of a held-out table: rows that a constant was fitted to after
                              all, which no held-out figure counts */
    json_t *subject; /* "scenario", "collective" or "kernel" */
    const char *row_name; /* template, or NULL: the row's line in the table */
    int32_t n_variants;
    struct mapping_variant *variants;
    int32_t n_choices;
    struct mapping_choice choices[MAPPING_CHOICES_MAX];
    int32_t n_states;
    struct mapping_state states[RISK_STATES];
    struct mapping_columns rank_by;
    struct mapping_healthy healthy;
    struct mapping_outdone outdone;
    int32_t n_edges; /* of bands: edges[i-1] <= value < edges[i]; 0: no bands */
    double *edges;
    bool cumulative; /* bands begin at the smallest value: all below an edge */
    json_t *band_of;
    const char *table;  /* template, or NULL */
    json_t *publisher;  /* of a row, as legends of figures name it; NULL: its table */
    const char *equal;  /* template of what rows share that should be equal, or NULL */
    const char *system; /* template of whose system it was; NULL: one for all rows */
};

/* Loads validate/cases/NAME.json and its table validate/data/NAME.csv, or a mapping by
 * its path and the .csv next to it; `data`, where not NULL, is the table. Memory lives
 * in the loader; -1 when anything was reported. */
int mapping_load(struct mapping *m, struct cfg_loader *loader, const char *name,
                 const char *data);
void mapping_release(struct mapping *m);

#endif
