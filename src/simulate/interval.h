/* How far a predicted step time is to be trusted: what validation found of the
 * measurements that are nearest to the job.
 *
 * validate/applicability.json (written by `smsim validate --applicability FILE`, shipped) holds
 * cells: of one published table and one place in the space of jobs, how many rows were
 * measured there and the mean, 10th and 90th percentile of predicted / measured - 1 of
 * their times.
 *
 * Distance between two places, in octaves:
 *     1   a doubling of nodes, of the tensor or of the pipeline degree
 *     1/2 a doubling of a microbatch's tokens or of the model's parameters
 *     1/2 another memory size of the same chip; another checkpointing
 *     1   another sharding; another kind of network inside; one node against several
 *     2   another precision; another kind of network outside
 *     3   another framework profile
 *     4   another chip
 *
 * Range: by the grade and the kind of job (interval_law.h); where rows were measured
 * within 3/4 octave, at least what these came to: the mean of the percentiles of the
 * nearest cells (eight at most), weighted by rows (ten at most) / (1 + distance).
 * An error e of a time t is a measured time of t / (1 + e).
 *
 * Grade:
 *     measured       a cell of the same GPU, framework, networks, sharding, precision,
 *                    checkpointing and degrees, within 3/4 octave
 *     interpolated   cells of this chip, framework, networks, sharding and precision
 *                    lie on both sides (or within 1/2 octave) on every axis
 *     extrapolated   neither
 *     inferred       a warning has the code "inferred"; or no cell has the chip, and
 *                    the provenance_kind of its profile is inferred, transferred or
 *                    not given
 *
 * Without the file nothing is near: all is extrapolated, and a warning says so. O(cells) a
 * job: microseconds. */
#ifndef SIMULATE_INTERVAL_H
#define SIMULATE_INTERVAL_H

#include "scenario/scenario.h"
#include "simulate/interval_law.h"

struct simulate_result;

enum interval_grade {
    INTERVAL_EXTRAPOLATED, /* first: what is not judged is no better */
    INTERVAL_MEASURED,
    INTERVAL_INTERPOLATED,
    INTERVAL_INFERRED
};
extern const struct name_value interval_grade_names[];

enum interval_axis {
    INTERVAL_NODES,
    INTERVAL_TENSOR,
    INTERVAL_PIPELINE,
    INTERVAL_TOKENS, /* of a microbatch */
    INTERVAL_PARAMETERS,
    INTERVAL_AXES
};
extern const char *const interval_axis_names[INTERVAL_AXES];

/* What is compared of a job, and what its range follows from. */
struct interval_place {
    const char *gpu, *framework; /* framework "" when there is none */
    int inside, outside;         /* enum fabric_kind; outside -1: one node */
    int sharding, precision, checkpointing;
    double log2_of[INTERVAL_AXES];
    /* not compared, as the next: of a stack with a host time of experts that was fitted */
    bool inferred, experts, experts_fitted;
    bool gpu_guessed; /* the GPU's profile was not fitted to measurements of it */
    double mfu;       /* predicted */
    double software;  /* the share of a step that the host and kernels which move memory
                        take */
};

struct interval_cell {
    struct interval_place at;
    const char *source, *row; /* the table, and one of the rows */
    int64_t n;
    double mean, low, high; /* of the errors: mean, 10th and 90th percentile */
    int32_t domain; /* of cells in a row, which differ in numbers alone; 0: its own */
};

struct interval_table {
    int32_t n;
    struct interval_cell *cells;
};

enum { INTERVAL_NEAREST = 3 };

struct interval {
    bool judged; /* else all below is 0 */
    enum interval_grade grade;
    double low, high; /* errors between which the time's is expected */
    /* A plan of the same job that is this much slower may be as fast: what a system that
     * nobody measured adds to the range is common to both. */
    double tie;
    double distance; /* to the nearest cell; INFINITY without one */
    int32_t n_nearest;
    const struct interval_cell *nearest[INTERVAL_NEAREST];
    struct interval_place at;
};

/* The shipped table, read once per loader; one of no cells, and a warning, when there is
 * none or when anything of it is wrong. Never NULL. */
const struct interval_table *interval_table_get(struct cfg_loader *loader);

/* The same of any file, which is noted as an input; -1 where it is missing or wrong, and
 * then it has no cells. */
int interval_table_read(struct interval_table *table, struct arena *arena,
                        const char *file, struct inputs *inputs, struct err *err);

/* How unlike two places are: octaves of sizes, and steps for what is of another kind. */
double interval_distance(const struct interval_place *a,
                         const struct interval_place *b);

/* Judges a place by the table; cells of the source `without` (may be NULL) are left
 * out. */
struct interval interval_assess(const struct interval_table *table,
                                const struct interval_place *at, const char *without);

/* Reads what "applicability" of simulate's JSON and of the shipped file name alike, all but
 * the axes; -1 where a name is wrong. Strings are copied. */
int interval_names_read(struct interval_place *at, struct arena *arena, json_t *object);

/* Fills r->interval of a job that was simulated; `diags` are those of reading it. Threads
 * may share the table. */
void interval_judge(struct simulate_result *r, const struct interval_table *table,
                    const struct diags *diags, const struct scenario *s);

/* Ends of the range of a time, in seconds. */
void interval_range(const struct interval *t, double time_s, double range_s[2]);

/* The ends beyond which that share of runs lies, by those of the range: errors have a
 * two-sided exponential law (docs/validation/ranges.md, "The shape of errors"). */
void interval_range_beyond(const struct interval *t, double time_s,
                           const double range_s[2], double share, double to_s[2]);

/* Between which bytes a GPU's peak is expected, and whether its memory is one of them:
 * then neither that the job fits nor that it does not is sure (MODEL.md, 14.1). */
void interval_memory_range(int64_t peak_B, int64_t range_B[2]);
bool interval_memory_is_near(int64_t peak_B, int64_t capacity_B);

#endif
