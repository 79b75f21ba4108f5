/* What a scenario leaves open and the program decided: one row a default, with where
 * --set would decide it, the value taken, and why.
 *
 * A reader of a section adds a default in one line, where it takes it:
 *
 *     parse_assume(r, "/training/precision", "fp32", "PyTorch's own");
 *
 * Every command that reads a scenario prints the rows (assumptions_text), and results
 * carry them as "assumed": [{ "pointer", "value", "why" }]. Only what changes time or
 * memory much belongs here. */
#ifndef SCENARIO_ASSUMED_H
#define SCENARIO_ASSUMED_H

#include "base/arena.h"
#include "base/strbuf.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct assumption {
    const char *pointer; /* "/training/attention": what --set takes */
    const char *value;   /* as a scenario has it: "flash" */
    const char *why;     /* "torchtitan's own"; "" where the value says it */
};

struct assumptions {
    struct assumption *v;
    int32_t n;
};

/* Adds a row, or replaces that of the same pointer. Copies nothing but the table; texts
 * live as long as the arena. */
void assumptions_add(struct assumptions *a, struct arena *arena, const char *pointer,
                     const char *value, const char *why);

bool assumptions_has(const struct assumptions *a, const char *pointer);

/* "/training/precision=fp32, /training/attention=flash (torchtitan's own)"; nothing
 * where there are none. */
void assumptions_text(struct strbuf *out, const struct assumptions *a);

/* A new array of objects. */
extern const struct contract_object assumption_contract;
json_t *assumptions_json(const struct assumptions *a);

#endif
