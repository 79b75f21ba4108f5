/* What all results of a sweep rest on: the program and the files that were read, each
 * with one content. Two contents of one file are an error: their results would be mixed.
 *
 * One in a journal, or in a message of a rank, is {"input": "topologies/gpus/v100-16gb.json",
 * "kind": "data", "hash": "0123456789abcdef"}. */
#ifndef SWEEP_SWEEP_INPUTS_H
#define SWEEP_SWEEP_INPUTS_H

#include "base/err.h"
#include "config/cfg.h"
#include "config/inputs.h"

struct sweep_inputs {
    VEC(struct input_ref) list; /* names owned */
    int64_t n_own;              /* those before are in the journal that is written */
};

void sweep_inputs_release(struct sweep_inputs *s);

/* Adds what is new: one, all of a loader, all of a thread or of a message. -1 where one
 * is known with another hash. */
int sweep_inputs_add(struct sweep_inputs *s, const struct input_ref *input,
                     struct err *err);
int sweep_inputs_add_read(struct sweep_inputs *s, const struct inputs *in,
                          struct err *err);
int sweep_inputs_add_all(struct sweep_inputs *s, const struct sweep_inputs *from,
                         struct err *err);
int sweep_inputs_add_json(struct sweep_inputs *s, json_t *input, struct err *err);
json_t *sweep_inputs_json(const struct input_ref *input); /* a new tree */

/* The program itself. Where the system does not show it, its hash is INPUT_MISSING. */
struct input_ref sweep_inputs_program(void);

/* Whether all are now as they were then; names those that are not. */
int sweep_inputs_check(const struct sweep_inputs *s, const char *journal,
                       struct err *err);

#endif
