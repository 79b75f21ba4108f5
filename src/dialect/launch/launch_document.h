/* Documents (launch_document.c) and notebooks (launch_notebook.c); for launch.c. */
#ifndef DIALECT_LAUNCH_LAUNCH_DOCUMENT_H
#define DIALECT_LAUNCH_LAUNCH_DOCUMENT_H

#include "dialect/launch/launch.h"

/* The scenario in a document, or a value that is absent after reporting. */
struct cfg launch_read_document(struct launch *l, const char *text, size_t len,
                                const struct launch_given *given);

/* launch_hydra.c: a document with those that its `defaults` name; itself where none is
 * there. */
struct value *launch_compose(struct launch *l, struct value *root);

/* Whether the file is a notebook, by its ending. */
bool launch_is_notebook(const char *file);
/* Its cells as l->notebook, or -1 after reporting. */
int launch_open_notebook(struct launch *l, const char *text, size_t len);
/* The calls that are looked for in a notebook: these, and those that write files. */
const char *const *launch_wanted_of_cells(struct arena *arena,
                                          const char *const *calls);
/* What its cells of Python give its cells of a shell: names that are bound once, as
 * {name}, and os.environ; the files that those cells write are the notebook's from then
 * on. `given` comes before; at most `most` rows of `out` are filled, whose number is
 * given back. */
struct python;
int32_t launch_join_cells(struct launch *l, const struct python *p,
                          const struct launch_given *given, struct shell_given *out,
                          int32_t most);

#endif
