/* What the host of a rank issues: kernels of the compute stream, what they wait for,
 * and what they are called. */
#ifndef STEP_ISSUE_H
#define STEP_ISSUE_H

#include "step/builder.h"

/* Of a pass that begins: its first kernel follows nothing. */
extern const struct next_kernel issue_after_nothing;

/* A kernel of the compute stream, after all it has to wait for; its task. */
int32_t issue_kernel(struct builder *b, enum category part, double host_s,
                     double alone_s, double shared_s);

/* A memory-bound kernel that is not of the operator list; its task. */
int32_t issue_stream(struct builder *b, enum category part, double host_s,
                     double bytes);

/* The copy of a batch from pinned host memory, which forward waits for; its task. */
int32_t issue_load_batch(struct builder *b);

/* The host waits until a task has ended and a copy of it has come, which takes so
 * long: until then it issues nothing. Nothing of no time, or without such a task. */
void issue_host_read(struct builder *b, int32_t task, double seconds);

/* Time that the host spends while the GPU waits for it: the host first waits for all it
 * has issued. Nothing when there is no such time. */
void issue_host_pause(struct builder *b, double seconds);

/* The next kernel follows that task; nothing for a task below 0. */
void issue_wait(struct builder *b, int32_t task);

/* Records what memory the kernel written last holds: all that was booked since the one
 * before. */
void issue_mark_memory(struct builder *b);

/* Tasks added from now on belong to that. */
void issue_tag(struct builder *b, enum work work, int64_t number);

/* The kernel written last is that operator. */
void issue_label(struct builder *b, const char *label);

#endif
