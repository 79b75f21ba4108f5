#include "config/files.h"

#include "base/xmalloc.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    char *path, *text;
    struct cfg_file file;
};

struct cfg_files {
    struct entry *first;
};

struct cfg_files *cfg_files_new(void)
{
    return xcalloc(1, sizeof(struct cfg_files));
}

void cfg_files_free(struct cfg_files *files)
{
    for (struct entry *e = files ? files->first : NULL, *next; e; e = next) {
        next = e->next;
        json_decref(e->file.root);
        free(e->text);
        free(e->path);
        free(e);
    }
    free(files);
}

static struct entry *find(struct cfg_files *files, const char *path)
{
    struct entry *e = files->first;
    while (e && strcmp(e->path, path) != 0)
        e = e->next;
    return e;
}

const struct cfg_file *cfg_files_find(struct cfg_files *files, const char *path)
{
    struct entry *e;
#pragma omp critical(cfg_files)
    e = find(files, path);
    return e ? &e->file : NULL;
}

const struct cfg_file *cfg_files_add(struct cfg_files *files, const char *path,
                                     char *text, size_t len, json_t *root)
{
    struct entry *e;
#pragma omp critical(cfg_files)
    {
        e = find(files, path);
        if (e) {
            free(text);
            json_decref(root);
        } else {
            e = xcalloc(1, sizeof(*e));
            *e = (struct entry) {
                files->first, xstrdup(path), text, { text, len, root }
            };
            files->first = e;
        }
    }
    return &e->file;
}
