/* Jupyter's notebooks as launch scripts. */
#include "dialect/launch/launch_document.h"

#include "dialect/source/notebook.h"

#include <string.h>

bool launch_is_notebook(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot && strcmp(dot, ".ipynb") == 0;
}

int launch_open_notebook(struct launch *l, const char *text, size_t len)
{
    struct cfg root = cfg_parse(l->loader, l->file, text, len);
    l->notebook = ARENA_NEW(&l->loader->arena, struct notebook);
    l->what = "the notebook";
    return root.json ? notebook_read(l->notebook, root) : -1;
}

bool launch_cell(const struct launch *l, int64_t line, int64_t *cell, int64_t *within)
{
    return l->notebook && notebook_place(l->notebook, line, cell, within);
}

const struct source_file *launch_own_file(const struct launch *l, const char *name)
{
    const struct source_file *own =
        l->notebook
            ? source_files_find(l->notebook->files.v, l->notebook->files.n, name)
            : NULL;
    return own ? own : source_files_find(l->written, l->n_written, name);
}
