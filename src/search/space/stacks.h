/* What each software stack can run, as a table: the libraries a script can train with,
 * SageMaker's model parallel library in both versions among them. */
#ifndef SEARCH_SPACE_STACKS_H
#define SEARCH_SPACE_STACKS_H

#include "scenario/libraries.h"

enum space_dialect {
    DIALECT_WORDS, /* smsim's own "parallelism" */
    DIALECT_SMP1,  /* SageMaker's dictionary, started by mpi */
    DIALECT_SMP2,  /* the same, started by torch_distributed */
};

struct space_stack {
    const char *name;
    const struct library_row *row;
    enum space_dialect dialect;
    bool bucket;          /* bucket_size means something */
    bool optimize;        /* SMP's choice of tensor communication */
    uint32_t unplanned;   /* bits of enum sharding that plans leave out */
    uint32_t checkpoints; /* bits of enum checkpointing */
    bool
        split_selective; /* tensor groups and pipelines recompute attention alone, too */
    uint32_t placements;          /* bits of rows of space_placements */
    const char *const *instances; /* those it runs on, NULL-terminated; NULL: all */
    const char *what;             /* one line for --help */
};

enum space_stack_row {
    STACK_DDP,
    STACK_HOROVOD,
    STACK_FSDP,
    STACK_DEEPSPEED,
    STACK_MEGATRON,
    STACK_SMP1,
    STACK_SMP2,
    STACK_SMDDP,
    STACK_NANOTRON,
    STACK_MEGATRON_FSDP,
    STACK_INTERNEVO,
    SPACE_STACKS_N
};
extern const struct space_stack space_stacks[SPACE_STACKS_N];
extern const struct name_value space_stack_names[];

/* --for: which stacks each word selects, as bits; the empty word: the default. */
extern const struct name_value space_for_names[];
enum {
    SPACE_FOR_DEFAULT =
        1 << STACK_DDP | 1 << STACK_FSDP | 1 << STACK_DEEPSPEED | 1 << STACK_MEGATRON
};

/* Orders of ranks, outermost letter first. */
enum { SPACE_PLACEMENTS = 6 };
extern const char *const space_placements[SPACE_PLACEMENTS];

/* The row of space_placements that the library has where nothing is written. */
int64_t space_stack_placement(const struct space_stack *stack);

bool space_stack_runs_on(const struct space_stack *stack, const char *instance);

#endif
