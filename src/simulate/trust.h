/* How far a predicted step time is to be trusted: what validation found of the
 * measurements that are nearest to the job.
 *
 * validate/regimes.json (written by `smsim validate --regimes FILE`, shipped) holds
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
 * Range: the cells within one octave of the nearest, eight at most, give means of their
 * percentiles, weighted by rows (ten at most) / (1 + distance). These are moved apart,
 * for the n rows seen and the distance d of the nearest, by
 *     0.03 / sqrt(n) + 0.008 + 0.02 min(d, 12)
 * so that four in five rows lie within where their own table is left out, and the
 * prediction itself always does; then, as the system at hand is none of those measured,
 * by 0.09 more to the slow and 0.045 to the fast side, so that four in five runs on
 * systems that no prediction was fitted to do (MODEL.md, sections 14 and 18). An error
 * e of a time t is a measured time of t / (1 + e).
 *
 * Grade:
 *     measured       a cell of the same GPU, framework, networks, sharding, precision,
 *                    checkpointing and degrees, within 3/4 octave
 *     interpolated   cells of this chip, framework, networks, sharding and precision
 *                    lie on both sides (or within 1/2 octave) on every axis
 *     extrapolated   neither
 *     inferred       a warning says that something was inferred; or no cell has the
 *                    chip, and its profile says that it was guessed, transferred or
 *                    inferred
 *
 * Without the file nothing is near: +-20 %, extrapolated, and a warning says so. O(cells) a job:
 * microseconds. */
#ifndef SIMULATE_TRUST_H
#define SIMULATE_TRUST_H

#include "scenario/scenario.h"

struct simulate_result;

enum trust_grade {
    TRUST_EXTRAPOLATED, /* first: what is not judged is no better */
    TRUST_MEASURED,
    TRUST_INTERPOLATED,
    TRUST_INFERRED
};
extern const struct name_value trust_grade_names[];

enum trust_axis {
    TRUST_NODES,
    TRUST_TENSOR,
    TRUST_PIPELINE,
    TRUST_TOKENS, /* of a microbatch */
    TRUST_PARAMETERS,
    TRUST_AXES
};
extern const char *const trust_axis_names[TRUST_AXES];

/* What is compared of a job. */
struct trust_place {
    const char *gpu, *framework; /* framework "" when there is none */
    int inside, outside;         /* enum fabric_kind; outside -1: one node */
    int sharding, precision, checkpointing;
    double log2_of[TRUST_AXES];
};

struct trust_cell {
    struct trust_place at;
    const char *source, *row; /* the table, and one of the rows */
    int64_t n;
    double mean, low, high; /* of the errors: mean, 10th and 90th percentile */
};

struct trust_table {
    int32_t n;
    struct trust_cell *cells;
};

enum { TRUST_NEAREST = 3 };

struct trust {
    bool judged; /* else all below is 0 */
    enum trust_grade grade;
    double low, high; /* errors between which the time's is expected */
    /* A plan of the same job that is this much slower may be as fast: what another
     * system adds to the range is common to both. */
    double tie;
    double distance; /* to the nearest cell; INFINITY without one */
    int32_t n_nearest;
    const struct trust_cell *nearest[TRUST_NEAREST];
    struct trust_place at;
};

/* The shipped table, read once per loader; one of no cells, and a warning, when there is
 * none or when anything of it is wrong. Never NULL. */
const struct trust_table *trust_table_get(struct cfg_loader *loader);

/* The same of any file, which is noted as an input; -1 where it is missing or wrong, and
 * then it has no cells. */
int trust_table_read(struct trust_table *table, struct arena *arena, const char *file,
                     struct inputs *inputs, struct err *err);

/* How unlike two places are: octaves of sizes, and steps for what is of another kind. */
double trust_distance(const struct trust_place *a, const struct trust_place *b);

/* Judges a place by the table; cells of the source `without` (may be NULL) are left
 * out. Inferred is not found here: it takes the scenario. */
struct trust trust_assess(const struct trust_table *table, const struct trust_place *at,
                          const char *without);

/* Reads what "regime" of simulate's JSON and of the shipped file name alike, all but
 * the axes; -1 where a name is wrong. Strings are copied. */
int trust_names_read(struct trust_place *at, struct arena *arena, json_t *object);

/* Fills r->trust of a job that was simulated; `diags` are those of reading it. Threads
 * may share the table. */
void trust_judge(struct simulate_result *r, const struct trust_table *table,
                 const struct diags *diags, const struct scenario *s);

/* Ends of the range of a time, in seconds. */
void trust_range(const struct trust *t, double time_s, double range_s[2]);

/* Between which bytes a GPU's peak is expected, and whether its memory is one of them:
 * then neither that the job fits nor that it does not is sure (MODEL.md, 14.1). */
void trust_memory_range(int64_t peak_B, int64_t range_B[2]);
bool trust_memory_is_near(int64_t peak_B, int64_t capacity_B);

#endif
