/* A section on one device, in a process of its own: only rows come back, and what goes
 * wrong is a row. */
#ifndef SMSIM_MEASURE_TASK_H
#define SMSIM_MEASURE_TASK_H

#include "output.h"

/* A section on one device, and how far earlier tries came. */
struct task {
    const char *name;
    section_fn *run;
    int device;
    const struct measure_step *step; /* NULL: the section has none */
    int64_t skip;                    /* items */
    double deadline_s;
};

/* What becomes of a line of the process, n characters. */
typedef void task_line_fn(struct output *o, const char *line, size_t n);
task_line_fn task_take_row, task_take_device;

/* What a try came to. */
enum task_ending { TASK_ENDED, TASK_FAILED, TASK_KILLED, TASK_LATE };

/* Runs the section, and ends it when it is long after its deadline. */
enum task_ending task_run(struct output *o, const struct task *t, task_line_fn *take);

#endif
