#define _XOPEN_SOURCE 700 /* realpath */

#include "base/file.h"

#include "base/ending.h"
#include "base/fence.h"
#include "base/xmalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UNKNOWN_B = 4096 };

/* likely_B: about how long it is. */
static char *read_stream(FILE *in, const char *path, size_t likely_B, size_t max_B,
                         size_t *len, struct err *err)
{
    size_t cap = (likely_B < max_B ? likely_B : max_B) + 2, n = 0;
    char *text = xmalloc(cap);
    for (;;) {
        size_t got = fread(text + n, 1, cap - 1 - n, in);
        n += got;
        if (n > max_B) {
            if (max_B >> 20)
                err_set_file(err, path, "is larger than %zu MiB", max_B >> 20);
            else
                err_set_file(err, path, "is larger than %zu bytes", max_B);
            goto fail;
        }
        if (got == 0)
            break;
        if (n == cap - 1) {
            cap *= 2;
            text = xrealloc(text, cap, 1);
        }
    }
    if (ferror(in)) {
        err_set_file(err, path, "cannot be read: %s", strerror(errno));
        goto fail;
    }
    text[n] = '\0';
    *len = n;
    return text;

fail:
    free(text);
    return NULL;
}

/* What a file of that mode is; NULL: a regular file. */
static const char *kind_of(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "a directory (give a file)"
           : S_ISFIFO(mode) ? "a pipe (give a file, or - with < for standard input)"
           : S_ISSOCK(mode) ? "a socket (give a file)"
                            : "a device (give a file)";
}

/* Whether the path is a descriptor that this process was given, as /dev/stdin or a
 * shell's <(command): a pipe there has a writer. */
static bool is_descriptor(const char *path)
{
    static const char *const prefixes[] = { "/dev/fd/", "/proc/self/fd/" };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return strcmp(path, "/dev/stdin") == 0;
}

static int cannot_read(const char *path, struct err *err)
{
    return err_set_file(err, path, "cannot be read: %s", strerror(errno));
}

/* Opening a pipe without a writer would wait for ever, and a device may do anything:
 * neither is opened. Looked at again once open, as the name may have changed hands. */
static FILE *open_regular(const char *path, size_t *likely_B, struct err *err)
{
    bool given = is_descriptor(path);
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (given ? 0 : O_NONBLOCK);
    struct stat st;
    const char *kind = NULL;
    int fd = -1, rc = stat(path, &st);
    if (rc == 0 && (!given || S_ISDIR(st.st_mode)))
        kind = kind_of(st.st_mode);
    if (rc == 0 && !kind)
        rc = (fd = open(path, flags)) < 0 ? -1 : fstat(fd, &st);
    if (rc == 0 && fd >= 0 && !given)
        kind = kind_of(st.st_mode);
    FILE *in = rc || kind ? NULL : fdopen(fd, "rb");
    if (kind)
        err_set_file(err, path, "is %s", kind);
    else if (!in)
        cannot_read(path, err);
    else
        file_guard_note(&st);
    if (in && S_ISREG(st.st_mode) && st.st_size > 0)
        *likely_B = (size_t)st.st_size;
    if (!in && fd >= 0)
        close(fd);
    return in;
}

char *file_read(const char *path, size_t max_B, size_t *len, struct err *err)
{
    if (strcmp(path, "-") == 0)
        return read_stream(stdin, "standard input", UNKNOWN_B, max_B, len, err);
    if (!fence_allows(path)) {
        err_set_file(err, path, "is outside of what may be read here");
        return NULL;
    }
    size_t likely_B = UNKNOWN_B;
    FILE *in = open_regular(path, &likely_B, err);
    if (in)
        setvbuf(in, NULL, _IONBF, 0); /* it is read into its place at once */
    char *text = in ? read_stream(in, path, likely_B, max_B, len, err) : NULL;
    if (in)
        fclose(in);
    return text;
}

size_t file_path_length(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

bool file_is_there(const char *path)
{
    return fence_allows(path) && access(path, F_OK) == 0;
}

static int cannot_write(const char *path, struct err *err)
{
    return err_set(err, "%s: cannot be written: %s", path, strerror(errno));
}

/* A new file in the directory of the target, with the rights the user's umask gives. */
static int open_next_to(struct file_out *out)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        char *temp = xasprintf("%s.%ld-%d.tmp", out->path, (long)getpid(), i);
        ending_add_file(temp); /* before it is there: a signal may come between */
        int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            out->temp = temp;
            out->stream = fdopen(fd, "wb");
            if (!out->stream)
                close(fd);
            return out->stream ? 0 : -1;
        }
        ending_drop(temp);
        free(temp);
        if (errno != EEXIST)
            break;
    }
    return -1;
}

int file_out_open(struct file_out *out, const char *path, struct err *err)
{
    *out = (struct file_out) { 0 };
    if (strcmp(path, "-") == 0) {
        out->stream = stdout;
        out->path = xstrdup("standard output");
        return 0;
    }
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return err_set(err, "%s: is a directory (give a file)", path);
    if (there && file_guard_has(&st))
        return err_set(err,
                       "%s: is an input of this command, too (give the output another "
                       "name)",
                       path);
    char *real = there ? realpath(path, NULL) : NULL; /* a link keeps pointing there */
    out->path = real ? real : xstrdup(path);
    int rc = 0;
    if (there && !S_ISREG(st.st_mode)) { /* a device or a pipe cannot be renamed over */
        out->stream = fopen(path, "wb");
        rc = out->stream ? 0 : -1;
    } else {
        rc = open_next_to(out);
    }
    if (rc) {
        cannot_write(path, err);
        file_out_abandon(out);
    }
    return rc;
}

int file_out_check(const char *path, struct err *err)
{
    struct file_out out;
    struct stat st;
    bool special = stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    if (strcmp(path, "-") == 0)
        return 0;
    if (special) /* opening a pipe waits for its reader, and signals it an end */
        return access(path, W_OK) ? cannot_write(path, err) : 0;
    if (file_out_open(&out, path, err))
        return -1;
    file_out_abandon(&out);
    return 0;
}

int file_out_commit(struct file_out *out, struct err *err)
{
    int rc = fflush(out->stream) || ferror(out->stream) ? -1 : 0;
    if (rc)
        cannot_write(out->path, err);
    if (out->stream != stdout && fclose(out->stream) && rc == 0)
        rc = cannot_write(out->path, err);
    out->stream = NULL;
    if (rc == 0 && out->temp && rename(out->temp, out->path))
        rc = cannot_write(out->path, err);
    if (rc == 0) {
        ending_drop(out->temp);
        free(out->temp); /* it has the target's name now */
        out->temp = NULL;
    }
    file_out_abandon(out);
    return rc;
}

void file_out_abandon(struct file_out *out)
{
    if (out->stream && out->stream != stdout)
        fclose(out->stream);
    if (out->temp)
        unlink(out->temp);
    ending_drop(out->temp);
    free(out->temp);
    free(out->path);
    *out = (struct file_out) { 0 };
}

/* Directories ---------------------------------------------------------------------- */

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Whether a directory of that name could be renamed onto it. */
static int check_vacant(const char *path, struct err *err)
{
    DIR *d = opendir(path);
    bool empty = true;
    if (!d && errno == ENOENT)
        return 0;
    if (!d)
        return cannot_write(path, err);
    for (const struct dirent *e; empty && (e = readdir(d));)
        empty = is_dot(e->d_name);
    closedir(d);
    return empty ? 0 : err_set(err, "%s: is not empty (give a new directory)", path);
}

int dir_out_open(struct dir_out *out, const char *path, struct err *err)
{
    enum { TRIES = 100 };
    size_t n = file_path_length(path);
    *out = (struct dir_out) { 0 };
    if (check_vacant(path, err))
        return -1;
    out->path = xasprintf("%.*s", (int)n, path);
    for (int i = 0; i < TRIES && !out->temp; i++) {
        out->temp = xasprintf("%s.%ld-%d.tmp", out->path, (long)getpid(), i);
        ending_add_dir(out->temp); /* likewise */
        if (mkdir(out->temp, 0777) == 0)
            return 0;
        ending_drop(out->temp);
        free(out->temp);
        out->temp = NULL;
        if (errno != EEXIST)
            break;
    }
    cannot_write(path, err);
    dir_out_abandon(out);
    return -1;
}

int dir_out_check(const char *path, struct err *err)
{
    struct dir_out out;
    if (dir_out_open(&out, path, err))
        return -1;
    dir_out_abandon(&out);
    return 0;
}

int dir_out_commit(struct dir_out *out, struct err *err)
{
    int rc = rename(out->temp, out->path) ? cannot_write(out->path, err) : 0;
    if (rc == 0) {
        ending_drop(out->temp);
        free(out->temp);
        out->temp = NULL;
    }
    dir_out_abandon(out);
    return rc;
}

void dir_out_abandon(struct dir_out *out)
{
    DIR *d = out->temp ? opendir(out->temp) : NULL;
    for (const struct dirent *e; d && (e = readdir(d));) {
        char *file = xasprintf("%s/%s", out->temp, e->d_name);
        if (!is_dot(e->d_name))
            unlink(file);
        free(file);
    }
    if (d)
        closedir(d);
    if (out->temp)
        rmdir(out->temp);
    ending_drop(out->temp);
    free(out->temp);
    free(out->path);
    *out = (struct dir_out) { 0 };
}
