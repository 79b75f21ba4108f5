/* GPU memory over one step: what is allocated and freed in the order in which the host
 * issues the tasks, as the caching allocator sees it, and what was held at the peak.
 * Sizes are rounded to the allocator's 512 bytes.
 *
 * Files of this folder:
 *     ledger               live tensors by kind
 *     allocator, reserved  segments of PyTorch's caching allocator */
#ifndef MEMORY_LEDGER_H
#define MEMORY_LEDGER_H

#include "base/vec.h"

#include <stdbool.h>

enum ledger_kind {
    LEDGER_PARAMETERS,
    LEDGER_GRADIENTS,
    LEDGER_OPTIMIZER,
    LEDGER_ACTIVATIONS, /* kept for backward */
    LEDGER_BUFFERS,     /* communication buckets */
    LEDGER_WORKSPACE,   /* everything that lives for a moment */
    LEDGER_KINDS,
    LEDGER_HELD = LEDGER_KINDS, /* workspace that outlives the next operator: booked as
                                   workspace, freed by its size */
    LEDGER_MADE, /* a gradient as backward makes it, likewise: where gradients are kept,
                    the first step's become those */
    LEDGER_LATE, /* freed by the host, not by the GPU yet: live no more, but no block for
                     others until its release, or until the GPU is full */
    LEDGER_SPARE,         /* likewise, where jobs are seen to run without */
    LEDGER_MASTER,        /* optimizer states that are there before the first step */
    LEDGER_FORWARD_ONCE,  /* made at its first event, and never freed; counted by
                            ledger_hold: of the thread that runs forward, ... */
    LEDGER_BACKWARD_ONCE, /* ... and of autograd's */
};

extern const char *const ledger_kind_names[LEDGER_KINDS];

/* One allocation (size above 0) or release (below). */
struct ledger_event {
    enum ledger_kind kind;
    int32_t microbatch; /* whose activations they are; 0: not activations */
    int64_t size_B;
};

struct ledger_change;

/* Events one after the other: the ledger's own, or a measured stretch's. */
struct ledger_run {
    const struct ledger_change *change; /* NULL: own ones */
    int32_t microbatch;                 /* whose activations the change's are */
    int64_t n;
};

/* Memory while a task runs, and after it. */
struct ledger_mark {
    int64_t high_B[LEDGER_KINDS]; /* at its fullest moment */
    int64_t live_B[LEDGER_KINDS];
};

struct ledger {
    int64_t live_B[LEDGER_KINDS];
    int64_t total_B;
    int64_t peak_B;                  /* the largest total so far */
    int64_t at_peak_B[LEDGER_KINDS]; /* what it consisted of */
    int64_t peak_activations_B;      /* the most activations kept at any time */
    bool records;                    /* events, for the allocator's replay */
    int32_t microbatch;              /* at hand */
    VEC(struct ledger_event) events; /* own ones */
    VEC(struct ledger_run) runs;     /* all, in order; own ones as they come */
    int64_t n_events;                /* all */
    uint64_t key[2];                 /* of the events: two hashes of different kinds */
    int64_t n_before;                /* events before the step: states, own ones */
    int64_t recorded_B, most_recorded_B; /* activations of the events: live, the most */
    bool marks; /* the fullest moment since the last mark is kept */
    int64_t high_total_B;
    int64_t high_B[LEDGER_KINDS];
};

void ledger_release(struct ledger *l);

/* Appends an event, books nothing. */
void ledger_record(struct ledger *l, struct ledger_event event);

/* Up to the allocator's unit. */
int64_t ledger_round(int64_t size_B);

/* Books a tensor of that size, rounded. */
void ledger_alloc(struct ledger *l, enum ledger_kind kind, int64_t size_B);

/* Counts bytes as held from now on whose event comes later, or never. */
void ledger_hold(struct ledger *l, enum ledger_kind kind, int64_t size_B);

/* What was held since the last mark, which this becomes. */
struct ledger_mark ledger_mark(struct ledger *l);

void ledger_free(struct ledger *l, enum ledger_kind kind, int64_t size_B);

/* Workspace; yields what it takes, for its release. */
int64_t ledger_workspace(struct ledger *l, int64_t size_B);
/* What a stretch of the step does to the ledger, measured once and booked often. */
struct ledger_change {
    int64_t delta_B[LEDGER_KINDS]; /* at its end */
    int64_t peak_B[LEDGER_KINDS];  /* at its fullest moment, relative to its begin */
    int64_t peak_activations_B;    /* likewise */
    const struct ledger_event *events; /* in its order, if they were recorded */
    int64_t n_events;
    uint64_t key[2]; /* of the events, whatever microbatch they are of */
    int64_t recorded_B, most_recorded_B; /* activations of the events */
};

/* A ledger that goes on where that one is, to be released: peaks are those from now on,
 * events are its own. What it has come to since; events are still the ledger's. */
struct ledger ledger_branch(const struct ledger *from);
struct ledger_change ledger_since(const struct ledger *l, const struct ledger *from);

/* Books such a stretch: the same live bytes and peaks as if it ran once more. If the
 * ledger records, it refers to the change from then on. */
void ledger_apply(struct ledger *l, const struct ledger_change *c);

/* The same, but its events become the ledger's own. */
void ledger_repeat(struct ledger *l, const struct ledger_change *c);

#endif
