/* A scenario as somebody else's file: what is written is read back by the same dialect
 * and compared with the scenario. What the file does not hold is named, each with the
 * `--set` that gives it; what would make another job of it is refused.
 *
 * The folder has the drive (emit_scenario.c) and its parts: the sets (emit_sets.c), the
 * comparison (emit_compare.c), the header (emit_text.c); what a scenario comes down to
 * (emit_resolved.c), and what all writers share (emit_values.c). The writers are
 * dialect/NAME/emit_NAME.c. */
#ifndef DIALECT_EMIT_EMIT_SCENARIO_H
#define DIALECT_EMIT_EMIT_SCENARIO_H

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "scenario/scenario.h"

struct dialect_emit;

/* A value that the file does not hold. */
struct emit_set {
    const char *pointer, *assignment; /* "/model=gpt2" */
    bool lost; /* the dialect should say it and cannot; else it lies outside the file */
    int mended; /* 1 + the number of the comparison that first gave it; 0: none did */
};

struct emitted {
    struct strbuf text;
    bool comments; /* the text names the sets itself */
    VEC(struct emit_set) sets;
};

/* Writes a scenario, which was read from `root`, in a dialect. Strings live in the
 * arena of the root's loader. -1: the dialect cannot say it, and err says why. */
int emit_scenario(struct emitted *out, const struct dialect_emit *how,
                  const struct scenario *s, struct cfg root, struct err *err);
void emit_release(struct emitted *e);

/* What `--emit` lists; of JSON, with a warning of each set. To stdout and stderr. */
void emit_print(const struct emitted *e, const char *name);

#endif
