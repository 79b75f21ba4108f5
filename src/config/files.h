/* Files read once and shared: a loader that has one takes text and tree of a file from
 * it. For sweeps, which load the same few files for each of thousands of scenarios.
 *
 * Any number of loaders on any threads may share it; they never change what is in it.
 * A file that cannot be read is not kept. Lookups walk a list: a few dozen files. */
#ifndef CONFIG_FILES_H
#define CONFIG_FILES_H

#include <jansson.h>
#include <stddef.h>

struct cfg_files;

struct cfg_file {
    const char *text;
    size_t len;
    json_t *root; /* borrowed */
};

struct cfg_files *cfg_files_new(void);
void cfg_files_free(struct cfg_files *files); /* after all loaders; NULL is allowed */

/* The file of that path, or NULL when it is not there. */
const struct cfg_file *cfg_files_find(struct cfg_files *files, const char *path);

/* Adds a file unless another thread just did; text (malloc'd) and tree are taken over. */
const struct cfg_file *cfg_files_add(struct cfg_files *files, const char *path,
                                     char *text, size_t len, json_t *root);

#endif
