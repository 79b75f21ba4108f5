/* Pipeline schedules: the order in which a stage runs the passes of its microbatches.
 *
 *   gpipe, smp-simple   all forwards, then all backwards
 *   1f1b                p - i - 1 forwards, then one forward and one backward in turn
 *   interleaved         the same over chunks of layers (Megatron's virtual stages)
 *   looped-bfs          gpipe over chunks, one after the other
 *   zb-h1               1f1b with the weight gradients of stage i put off by i
 *                       backwards
 *   interleaved-zb      the same over chunks of layers
 *   zb-v, dualpipe-v    two chunks as a V, weight gradients in the bubbles
 *                       (schedule_fold.c)
 *   smp-interleaved     whatever is ready when the stage is free, backward first
 *
 * The last is dynamic: it is played out once with the passes' own durations to find the
 * order. Closed forms of bubbles and microbatches in flight: MODEL.md, R6.
 *
 * After its first forwards a stage does the same again and again, a period of one
 * microbatch, or of as many as there are stages (interleaved):
 *
 *   f f f |f b|f b|f b| ... |f b|b b b
 *
 * so that an order with fewer microbatches represents one with more. gpipe has two such
 * stretches of one pass each, its forwards and its backwards. */
#ifndef STEP_PIPELINE_SCHEDULE_H
#define STEP_PIPELINE_SCHEDULE_H

#include "base/arena.h"
#include "base/err.h"
#include "scenario/scenario.h"

enum pass_kind {
    PASS_FORWARD,
    PASS_BACKWARD, /* all of it */
    PASS_WEIGHT,   /* the gradients of the weights only */
    PASS_INPUT,    /* that of the input only */
    PASS_N
};

/* Whether it makes what the stage before waits for, and gradients of weights. */
bool pass_makes_input(enum pass_kind kind);
bool pass_makes_weights(enum pass_kind kind);

struct pass_ref {
    enum pass_kind kind;
    int32_t chunk;      /* of the stage's layers */
    int32_t microbatch; /* from 0 */
    bool paired;        /* it runs next to one of another microbatch: a forward and the
                    backward after it */
};

/* Microbatches that are replayed through the allocator, at most. It bounds the replay's
 * cost: 40 move the bias of bigscience's stages by 0.1 points, and no other figure of
 * validation. */
enum { SCHEDULE_RECORDED = 14 };

struct pass_list {
    int64_t n;
    struct pass_ref *v;
    int64_t period, periods_end; /* passes of a period; those before the end of the last
                                    that is like the one before it. 0: no periods */
    int64_t forwards_end; /* likewise of forwards, where all run first: a pass is a
                             period. 0: they do not */
};

struct schedule_request {
    enum schedule kind;
    int64_t stages, chunks, microbatches;
    bool
        all_first; /* interleaved: as many microbatches as stages run all forwards, then
                       all backwards */
    int64_t active; /* of smp-interleaved; 0: no limit */
    bool paced;     /* at most stages - i in flight on stage i */
    bool uneven;    /* stages have unlike numbers of layers */
    bool pairs;     /* one forward more runs ahead, so that each forward after the first
                       ones has a backward of another microbatch next to it */
    bool defers;    /* some microbatches leave work to the end: none is like the next */
    bool returns;   /* SMP's: the first stage runs the head, as its chunk 1, after the
                     last stage's layers */
    const int64_t (*time_ps)[PASS_N]; /* [stages], of smp-interleaved */
    const int64_t *head_ps;           /* [PASS_N], of a head that is returned to */
    int64_t message_ps;               /* from stage to stage, of smp-interleaved */
};

/* Passes of each stage, [stages] lists in the arena. Fails when the kind cannot run so
 * many chunks or microbatches. O(passes), smp-interleaved O(passes x stages). */
int schedule_make(struct pass_list **out, struct arena *arena,
                  const struct schedule_request *q, struct err *err);

/* Microbatches of a period; 0: the order has none. */
int64_t schedule_period(const struct schedule_request *q);

/* Fewer microbatches than the request's, by whole periods, whose order is enough to
 * know whether stages have come to their period; at the second attempt (1) enough for
 * stages that do so late. 0: too few would be saved. */
int64_t schedule_shorter(const struct schedule_request *q, int attempt);

/* Most microbatches (of a chunk) whose forward has run and whose last backward has
 * not. */
int64_t schedule_in_flight(const struct pass_list *list);

/* For files of the schedules: one more pass, and that the passes so far are periods of
 * so many, and what led to them. */
void schedule_push(struct pass_list *l, enum pass_kind kind, int64_t chunk, int64_t m);
void schedule_end_periods(struct pass_list *l, int64_t period);

/* Two chunks as a V (schedule_fold.c). */
void schedule_zb_v(struct pass_list *l, const struct schedule_request *q,
                   int64_t stage);
void schedule_dualpipe_v(struct pass_list *l, const struct schedule_request *q,
                         int64_t stage);

/* The dynamic schedule (schedule_dynamic.c). */
void schedule_play(struct pass_list *lists, const struct schedule_request *q);

#endif
