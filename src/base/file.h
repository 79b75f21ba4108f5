/* Whole files in, whole files and directories out. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

/* The content of a file ("-" is standard input), NUL-terminated; the caller frees it.
 * A directory, a pipe or a device by name, or a file above max_B, is an error; a
 * descriptor that the process was given (/dev/fd/N) may be a pipe. */
char *file_read(const char *path, size_t max_B, size_t *len, struct err *err);

/* Whether there is something of that name, as far as it may be read (base/fence.h). */
bool file_is_there(const char *path);

/* How long a path is without slashes at its end. */
size_t file_path_length(const char *path);

/* Whether two paths lead to one regular file. */
bool file_same(const char *a, const char *b);

struct stat;

/* No output over an input. Once it is switched on, files that are read are noted (by
 * device and inode, so that links are seen through), and file_out_open refuses them.
 * Threads may share it. For main alone, as what is noted lives as long as the
 * process. */
void file_guard_on(void);
void file_guard_note(const struct stat *st);
bool file_guard_has(const struct stat *st);

/* A file that is read, and then replaced on purpose. */
void file_guard_except(const char *path);

/* Output that appears whole or not at all: written next to the target, renamed by
 * commit. "-" is standard output. */
struct file_out {
    FILE *stream;
    char *path, *temp; /* temp is NULL for standard output */
};

/* Whether file_out_open would succeed now; creates nothing. */
int file_out_check(const char *path, struct err *err);
int file_out_open(struct file_out *out, const char *path, struct err *err);
int file_out_commit(struct file_out *out, struct err *err);
void file_out_abandon(struct file_out *out); /* harmless after commit */

/* A directory of files that appears whole or not at all: filled under another name
 * next to the target, renamed by commit. The target must not be there, or be empty. */
struct dir_out {
    char *path, *temp; /* temp is where to write */
};

/* Whether dir_out_open would succeed now; creates nothing. */
int dir_out_check(const char *path, struct err *err);
int dir_out_open(struct dir_out *out, const char *path, struct err *err);
int dir_out_commit(struct dir_out *out, struct err *err);
void dir_out_abandon(struct dir_out *out); /* harmless after commit */

#endif
