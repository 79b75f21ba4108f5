/* Documents (launch_document.c) and notebooks (launch_notebook.c); for launch.c. */
#ifndef DIALECT_LAUNCH_LAUNCH_DOCUMENT_H
#define DIALECT_LAUNCH_LAUNCH_DOCUMENT_H

#include "dialect/launch/launch.h"

/* The scenario in a document, or a value that is absent after reporting. */
struct cfg launch_read_document(struct launch *l, const char *text, size_t len,
                                const struct launch_given *given);

/* Whether the file is a notebook, by its ending. */
bool launch_is_notebook(const char *file);
/* Its cells as l->notebook, or -1 after reporting. */
int launch_open_notebook(struct launch *l, const char *text, size_t len);

#endif
