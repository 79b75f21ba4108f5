/* Jupyter's notebooks (.ipynb) as the source that their code cells are.
 *
 * Cells of Python become one text, each after a prompt (In [3]:), as
 * dialect/python/python.h reads the dump of a notebook. Cells of a shell (%%bash, %%sh)
 * and lines that start a program (!torchrun train.py) become another, in which each
 * is on the same line; there {name}, by which IPython gives Python's value, is
 * ${name}. %%writefile makes files. Cells of other languages are left out. */
#ifndef DIALECT_SOURCE_NOTEBOOK_H
#define DIALECT_SOURCE_NOTEBOOK_H

#include "base/vec.h"
#include "config/cfg.h"
#include "dialect/source/files.h"
#include "dialect/source/value.h"

enum { NOTEBOOK_CELLS_MAX = 5000, NOTEBOOK_TEXT_MAX_B = 4 << 20 };

struct notebook_cell {
    int64_t number; /* among all cells of the notebook, from 1 */
    int64_t first;  /* the line of the texts that is its first */
};

struct notebook {
    const char *python, *shell;      /* in the loader's arena */
    bool has_shell;                  /* any line of it is not empty */
    VEC(struct notebook_cell) cells; /* of code, in order */
    VEC(struct source_file) files;   /* that cells write */
    VEC(struct value_note) notes;
};

/* Reads nbformat 3 and 4. -1 after reporting. */
int notebook_read(struct notebook *nb, struct cfg root);
void notebook_release(struct notebook *nb);

/* The cell of a line of the texts, and its line within; false: the line is of none. */
bool notebook_place(const struct notebook *nb, int64_t line, int64_t *cell,
                    int64_t *within);

#endif
