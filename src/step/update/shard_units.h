/* Units of sharded parameters: what is gathered together, and when it may begin. Shared
 * by shard.c, which writes their collectives. */
#ifndef STEP_UPDATE_SHARD_UNITS_H
#define STEP_UPDATE_SHARD_UNITS_H

#include "step/builder.h"

enum { UNIT_ROOT = 0, TURNS = 64 /* of which the ends are remembered */ };

/* Alike gathers, one after the other. */
struct gathers {
    int32_t n;
    double elements; /* of all */
};

/* Whether a gather may begin while what comes before its tensor is in use. */
enum timing { IN_THE_OPEN, AHEAD, TIMINGS };

struct unit {
    double elements; /* that are gathered; small tensors may stay whole */
    double experts;  /* of them, from those that hold the same ones alone */
    double summed;   /* whose gradients are scattered: those that stay whole, too */
    double summed_experts; /* of them */
    double live;           /* of them, gathered at once */
    double held;           /* gradients of them that wait for their scatter */
    int32_t tensors;       /* scatters; 1 where units are gathered as a whole */
    bool graded;           /* some of its blocks have a backward */
    struct gathers first[TIMINGS], again[TIMINGS]; /* again: for backward, of those that
                                                      recomputation dropped */
};

/* Of one chunk of the stage. */
struct units {
    int32_t n, n_blocks;
    struct unit *v;
    int32_t *of; /* [blocks of the chunk, repeats counted] unit */
};

/* The same while a step is written. */
struct unit_state {
    const struct unit *unit;
    int32_t gather;   /* task; -1: none yet */
    int32_t regather; /* task; -1: nothing was gathered again */
    bool gathered;
    bool dropped;   /* the tensors of `again`, which backward needs */
    bool used;      /* kernels wait for the gather already */
    bool gradients; /* held whole at the moment */
};

struct units_state {
    const struct units *units;
    struct unit_state *v;      /* [units] */
    int32_t turn, ends[TURNS]; /* last kernels of the units left */
    /* the same of the units dropped, of which the host has waited for some */
    int32_t dropped[TURNS], n_dropped, n_awaited;
    double live;        /* elements gathered */
    double pending_B;   /* gradients under way to their shards */
    double scattered_B; /* those of the unit before, */
    double dropped_B;   /* and its parameters, where the GPU lags the host */
};

/* The units of a chunk's blocks: the root and its layers; *u is zero. */
void shard_units_list(const struct stage *stage, int32_t chunk, struct units *u);

/* None of them gathered; in the arena. */
struct units_state shard_units_begin(struct arena *arena, const struct units *u);

/* Elements that stay whole on each rank, held by those. */
double shard_units_persistent(const struct stage *stage, enum replica_group h,
                              bool frozen);

/* Whether thin matrices of adapters are units of their own inside layers; and whether a
 * parameter tensor is one (MODEL.md, R8.3.1). */
bool shard_units_nest(const struct stage *stage);
bool shard_units_alone(const struct stage *stage, const struct op_param *p);

/* Gathers wait for no unit that has been left before. */
void shard_units_forget_ends(struct units_state *u);

/* Units that may be gathered at once, the one in use among them. */
int64_t shard_units_window(const struct stage *stage, bool backward);

#endif
