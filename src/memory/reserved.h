/* What the caching allocator holds after a few training steps, given what one step
 * allocates and frees.
 *
 * Parameters and communication buffers are there from the start. Gradients that are
 * kept, and the optimizer's states, are made in the first step and stay (PyTorch's
 * optimizers); they come to lie in blocks that its activations have left, so the second
 * step needs more than the first. DeepSpeed makes them before. What else is still live
 * when a step ends is freed. */
#ifndef MEMORY_RESERVED_H
#define MEMORY_RESERVED_H

#include "base/arena.h"
#include "memory/ledger.h"

/* Which blocks count that the host has freed and the GPU has not passed: none; those that
 * jobs are not seen to run without (LEDGER_LATE), on a full GPU too; all, until the GPU is
 * full. */
enum reserved_late { RESERVED_NO_LATE, RESERVED_LATE, RESERVED_ALL_LATE };

/* What of a library the replay depends on. */
struct reserved_how {
    bool grows; /* states are made in the first step, */
    bool flat;  /* but for sums of gradients and master weights */
    bool
        streams; /* buffers are on streams of their own, whose blocks are for no other */
    enum reserved_late late;
    bool expandable; /* segments are: PYTORCH_CUDA_ALLOC_CONF */
};

/* Bytes of segments: the most, and the most of those in which a block was in use. The
 * others are given back before an allocation fails, so it is the latter that a job
 * needs. */
struct reserved {
    int64_t peak_B, needed_B;
};

/* A replay that was made, by two 64-bit hashes of the events, of what of them is before
 * the step, and of `how`. */
struct reserved_replay {
    uint64_t key[2];
    struct reserved held;
    int64_t full_B; /* memory that it filled, where it met the end; 0: it did not */
};

/* Stages of a pipeline, and points of a sweep, are often alike. A later replay takes an
 * earlier one's place. Of one thread. */
struct reserved_memo {
    struct reserved_replay *known; /* [2^log2] */
    int32_t log2;
};

/* One of none, for that many stages of one step or for those of many steps. */
enum { RESERVED_OF_STEP_LOG2 = 6, RESERVED_OF_MANY_LOG2 = 12 };
struct reserved_memo *reserved_memo_new(struct arena *arena, int32_t log2);

/* Segments over three steps, or two where the second takes no more, of
 * a stage's ledger; never less than its live tensors. Activations of microbatches in
 * flight whose events were not recorded count as they are. capacity_B: memory that
 * segments can have. O(events), but for what allocator.h says. */
struct reserved reserved_by_stage(struct reserved_memo *memo, const struct ledger *l,
                                  struct reserved_how how, int64_t capacity_B);

#endif
