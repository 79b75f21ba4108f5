/* The space of plans: every value that each field of a plan may have, and a counter
 * that walks through the combinations which the rules allow, one at a time.
 *
 * A point is a digit for each field, in the order of enum space_field, like the digits
 * of a number of mixed radix. The counter sets one digit after the other and asks the
 * rule of its field at once, so that a prefix which breaks a rule skips all that would
 * follow it. Nothing is stored but the digits: memory does not grow with the space.
 * Rules are exact (divisibility, what each stack can run); memory and time are for
 * score.h. Combinations that mean the same (a schedule without stages, orders of
 * letters with degree 1) are taken once. */
#ifndef SEARCH_SPACE_SPACE_H
#define SEARCH_SPACE_SPACE_H

#include "search/space/stacks.h"

enum space_field {
    SPACE_INSTANCE, /* index into instances */
    SPACE_COUNT,
    SPACE_GPUS,    /* per instance; 0: all it has */
    SPACE_LIBRARY, /* row of space_stacks */
    SPACE_TENSOR,
    SPACE_PIPELINE,
    SPACE_CONTEXT,
    SPACE_EXPERT,
    SPACE_DATA,         /* 0: what remains */
    SPACE_OPTIMIZE,     /* SMP: 0 memory, 1 speed */
    SPACE_MICRO,        /* micro_batch_size */
    SPACE_MICROBATCHES, /* 0: all of a step share one fill of the pipeline */
    SPACE_SCHEDULE,
    SPACE_VIRTUAL,
    SPACE_SEQUENCE, /* sequence parallelism */
    SPACE_OVERLAP,  /* a tensor group's bytes pass within products; 0: as the profile
                       has it */
    SPACE_SHARDING,
    SPACE_DEGREE, /* of sharding; 0: the whole data-parallel group */
    SPACE_OFFLOAD,
    SPACE_CHECKPOINTING, /* of search/space/forms.h: none, selective, full; others above
                            SPACE_GROUP */
    SPACE_PLACEMENT,     /* row of space_placements */
    SPACE_BUCKET,        /* bytes; 0: the library's */
    SPACE_N
};

enum { SPACE_GROUP = 16, SPACE_PREFIX = SPACE_CONTEXT };

extern const struct name_value space_field_names[];

struct space_instance {
    const char *name; /* as written: "ml.p4d.24xlarge" */
    const struct instance *instance;
    const json_t *own;   /* the "cluster" whose changes it has; NULL: none */
    double usd_per_hour; /* of one */
    bool has_price;
    const char *price_date; /* "yours" when given on the command line */
};

enum { SPACE_INSTANCES_MAX = 32, SPACE_VALUES_MAX = 2048 };

/* Layers of stages as the scenario gives them (search/space/layout.h). */
struct space_layout {
    const json_t *partition;  /* as written; NULL: not given */
    int64_t pipeline, chunks; /* that counts are of; a method's: 0 */
    int64_t most;             /* layers of the fullest stage; a method's: 0 */
    int64_t ends;             /* of embedding and head that a method counts as layers */
    bool folds;               /* whether counts are of a V */
    int library;              /* whose method it is; -1: any */
};

/* How a scenario shards beyond what a plan chooses, and which plans keep that
 * (search/space/own.h). */
struct space_own {
    const json_t *sharding; /* as written; NULL: not given */
    int library, strategy;
    bool stages;
};

/* How plans split a model, as far as profiles and modules differ: sums of these. */
enum { SPACE_SHAPE_TENSOR = 1, SPACE_SHAPE_PIPELINE = 2, SPACE_SHAPES = 4 };

struct space {
    /* the job */
    const struct model *model;
    int64_t sequence, global_batch;
    const char *batch_of; /* "sequences", "pairs of sequences" */
    enum op_precision precision;
    uint32_t
        fused_stacks[SPACE_SHAPES]; /* bits: those whose attention keeps no scores */
    uint32_t asked_stacks; /* bits: those that overlap tensor groups where asked to */
    int64_t fixed_world;   /* GPUs of a cluster given as it is; 0: instance x count */
    int64_t layers;        /* of both stacks */
    bool one_stage;        /* the task's forwards are not modelled in pipelines */
    bool quantized;        /* weights are: tensor groups do not split them */
    bool frozen;           /* weights are: no schedule may fill bubbles with theirs */
    int script;            /* enum space_script: by what the users train it */
    uint32_t
        named_stacks; /* bits of stacks that the user names (search/space/users.h) */
    struct space_layout layout;
    struct space_own own;
    int64_t own_form; /* of SPACE_CHECKPOINTING, as the scenario has it */
    /* what may be chosen */
    int32_t n_instances;
    struct space_instance instances[SPACE_INSTANCES_MAX];
    int64_t *values[SPACE_N]; /* owned by the arena of whoever made the space */
    int32_t n[SPACE_N];
    bool given[SPACE_N]; /* by --fix or --allow */
};

struct space_point {
    uint16_t at[SPACE_N];       /* digits: order of points, and how they are kept */
    int64_t v[SPACE_N];         /* values, 0 of SPACE_GPUS replaced */
    int64_t joined;             /* instances that NVLink joins (hardware/domain.h) */
    int64_t world, ranks, data; /* ranks of a data-parallel group: data x context */
    int64_t pieces;             /* microbatches x accumulation */
    int64_t microbatches, accumulation;
};

struct space_iter {
    const struct space *space;
    int first, depth; /* digits below `first` are given */
    struct space_point p;
    int32_t next[SPACE_N]; /* digit to try */
    int64_t checked;       /* rules asked so far: the bench's measure */
    int refused;           /* the last field, in order, whose rule refused a value */
};

/* Combinations of all values, rules apart. */
double space_size(const struct space *s);

/* Slices: the digits up to SPACE_PREFIX. Each is walked by itself, in any order, by
 * whichever thread; together they are the space. */
int64_t space_slices(const struct space *s);
void space_iter_init(struct space_iter *it, const struct space *s, int64_t slice);

/* What the rule of a field asks of its values, as a clause: "it divides ...". */
const char *space_rule_text(const struct space *s, enum space_field f, char *buf,
                            size_t size);

/* The next point that the rules allow is it->p; false at the end. */
bool space_next(struct space_iter *it);

/* Fills the values of a point from its digits; false when a rule forbids it. */
bool space_fill(const struct space *s, struct space_point *p);

/* Bits of the ways of sharding that a stack has for this job: SMP v1 computes in bf16
 * only with sharded data parallelism. */
uint32_t space_shardings(const struct space *s, const struct space_stack *stack);

/* Order of points: by digits. */
int space_compare(const struct space_point *a, const struct space_point *b);

#endif
