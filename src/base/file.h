/* Whole files in, whole files and directories out. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

/* The content of a file ("-" is standard input), NUL-terminated; the caller frees it.
 * A directory, or a file above max_B, is an error. */
char *file_read(const char *path, size_t max_B, size_t *len, struct err *err);

/* Output that appears whole or not at all: written beside the target, renamed by
 * commit. "-" is standard output. */
struct file_out {
    FILE *stream;
    char *path, *temp; /* temp is NULL for standard output */
};

/* Whether file_out_open would succeed now; leaves nothing behind. */
int file_out_check(const char *path, struct err *err);
int file_out_open(struct file_out *out, const char *path, struct err *err);
int file_out_commit(struct file_out *out, struct err *err);
void file_out_abandon(struct file_out *out); /* harmless after commit */

/* A directory of files that appears whole or not at all: filled under another name
 * beside the target, renamed by commit. The target must not be there, or be empty. */
struct dir_out {
    char *path, *temp; /* temp is where to write */
};

/* Whether dir_out_open would succeed now; leaves nothing behind. */
int dir_out_check(const char *path, struct err *err);
int dir_out_open(struct dir_out *out, const char *path, struct err *err);
int dir_out_commit(struct dir_out *out, struct err *err);
void dir_out_abandon(struct dir_out *out); /* harmless after commit */

#endif
