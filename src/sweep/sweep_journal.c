#include "sweep/sweep_journal.h"

#include "base/xmalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *header_of(const struct sweep *s)
{
    return xasprintf("{\"smsim_sweep\":1,\"hash\":\"%016" PRIx64
                     "\",\"points\":%" PRId64 "}",
                     sweep_hash(s), s->n_points);
}

/* Reading a journal */

/* The point of a record's line `{"point":N,...}`, or -1. */
static int64_t point_of(const char *line)
{
    static const char begin[] = "{\"point\":";
    if (strncmp(line, begin, sizeof(begin) - 1) != 0)
        return -1;
    char *end;
    long long point = strtoll(line + sizeof(begin) - 1, &end, 10);
    return *end == ',' ? point : -1;
}

static int note_line(struct sweep_journal *j, int32_t file, const char *line,
                     int64_t at, int64_t len)
{
    int64_t point = point_of(line);
    if (point < 0 || point >= j->n_points || len > INT32_MAX)
        return -1;
    if (!j->places[point].file)
        j->places[point] = (struct journal_place) { at, (int32_t)len, file + 1 };
    return 0;
}

static int cannot(const char *path, const char *what, struct err *err)
{
    return err_set(err, "%s: cannot be %s: %s", path, what, strerror(errno));
}

/* Notes every whole line of the last opened file; *end is where they end. */
static int scan(struct sweep_journal *j, const char *path, const char *header,
                int64_t *end, struct err *err)
{
    int32_t file = (int32_t)j->files.n - 1;
    FILE *in = j->files.v[file];
    char *line = NULL;
    size_t cap = 0;
    int64_t at = 0;
    int rc = 0;
    for (ssize_t n; rc == 0 && (n = getline(&line, &cap, in)) > 0; at += n) {
        if (line[n - 1] != '\n')
            break;
        line[n - 1] = '\0';
        if (at == 0 && strcmp(line, header) != 0)
            rc = err_set(err,
                         "%s: is of another sweep: the file, its base or its outputs "
                         "have changed since (choose another --out)",
                         path);
        else if (at > 0 && note_line(j, file, line, at, n - 1))
            rc = err_set(err,
                         "%s: byte %" PRId64 " begins a line that is no record of "
                         "this sweep (choose another --out)",
                         path, at);
    }
    free(line);
    if (rc == 0 && ferror(in))
        rc = cannot(path, "read", err);
    *end = at;
    return rc;
}

/* Opening */

/* A process that was killed holds its lock until it is gone, which is waited for.
 * Closing any descriptor of the file would give ours up, so it is opened once. */
static int lock(int fd, const char *path, struct err *err)
{
    enum { TRIES = 100 };
    const struct timespec nap = { .tv_nsec = 20000000 };
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    for (int i = 0; i < TRIES; i++) {
        if (fcntl(fd, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN))
            return 0; /* ours, or a file system without locks */
        nanosleep(&nap, NULL);
    }
    return err_set(err, "%s: is being written by another process", path);
}

/* Appends a line to our own journal. */
static int append(struct sweep_journal *j, const char *line)
{
    int fd = fileno(j->files.v[0]);
    char *text = xasprintf("%s\n", line);
    size_t n = strlen(text), at = 0;
    while (at < n) {
        ssize_t did = pwrite(fd, text + at, n - at, j->end + (off_t)at);
        if (did > 0)
            at += (size_t)did;
        else if (errno != EINTR)
            break;
    }
    free(text);
    j->end += at == n ? (int64_t)n : 0;
    return at == n ? 0 : -1;
}

/* Our own journal: read, cut after its last whole line, and begun if it is empty. */
static int open_own(struct sweep_journal *j, const char *path, const char *header,
                    bool resume, struct err *err)
{
    int flags = O_RDWR | O_CREAT | O_CLOEXEC | (resume ? 0 : O_EXCL);
    int fd = open(path, flags, 0666);
    if (fd < 0 && errno == EEXIST)
        return err_set(err,
                       "%s: is there already (--resume goes on with it; or remove "
                       "it, or choose another --out)",
                       path);
    if (fd < 0)
        return cannot(path, "written", err);
    VEC_PUSH(&j->files, fdopen(fd, "r+b"));
    if (lock(fd, path, err) || scan(j, path, header, &j->end, err))
        return -1;
    if (ftruncate(fd, j->end))
        return cannot(path, "written", err);
    return j->end == 0 && append(j, header) ? cannot(path, "written", err) : 0;
}

static int open_other(struct sweep_journal *j, const char *path, const char *header,
                      struct err *err)
{
    int64_t end;
    FILE *in = fopen(path, "rb");
    if (!in)
        return cannot(path, "read", err);
    VEC_PUSH(&j->files, in);
    return scan(j, path, header, &end, err);
}

static bool is_journal(const char *name)
{
    return strcmp(name, "journal") == 0 || strncmp(name, "journal-", 8) == 0;
}

static int open_others(struct sweep_journal *j, const char *own, const char *header,
                       struct err *err)
{
    DIR *d = opendir(j->dir);
    int rc = d ? 0 : cannot(j->dir, "read", err);
    for (struct dirent *e; rc == 0 && (e = readdir(d));) {
        if (!is_journal(e->d_name) || strcmp(e->d_name, own) == 0)
            continue;
        char *path = xasprintf("%s/%s", j->dir, e->d_name);
        rc = open_other(j, path, header, err);
        free(path);
    }
    if (d)
        closedir(d);
    return rc;
}

static int make_dir(const char *dir, struct err *err)
{
    char *path = xstrdup(dir);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777); /* what is missing shows below */
        *slash = '/';
    }
    int rc = mkdir(path, 0777) && errno != EEXIST ? cannot(dir, "made", err) : 0;
    free(path);
    return rc;
}

int sweep_journal_open(struct sweep_journal *j, const struct sweep *s, const char *dir,
                       struct sweep_shard shard, bool resume, struct err *err)
{
    *j = (struct sweep_journal) { .dir = dir, .n_points = s->n_points };
    if (make_dir(dir, err))
        return -1;
    char *name = shard.count > 1 ? xasprintf("journal-%" PRId64 "-of-%" PRId64,
                                             shard.index, shard.count)
                                 : xstrdup("journal");
    char *path = xasprintf("%s/%s", dir, name), *header = header_of(s);
    j->places = xcalloc((size_t)s->n_points, sizeof(*j->places));
    int rc = open_own(j, path, header, resume, err);
    if (rc == 0 && resume)
        rc = open_others(j, name, header, err);
    free(header);
    free(path);
    free(name);
    if (rc)
        sweep_journal_close(j);
    return rc;
}

void sweep_journal_close(struct sweep_journal *j)
{
    for (int64_t i = 0; i < j->files.n; i++)
        fclose(j->files.v[i]);
    VEC_RELEASE(&j->files);
    free(j->places);
    j->places = NULL;
}

/* Records */

bool sweep_journal_has(const struct sweep_journal *j, int64_t point)
{
    return j->places[point].file != 0;
}

int sweep_journal_add(struct sweep_journal *j, int64_t point, const char *line,
                      struct err *err)
{
    if (sweep_journal_has(j, point))
        return 0;
    int64_t at = j->end;
    if (append(j, line))
        return err_set(err, "%s/journal: cannot be written: %s", j->dir,
                       strerror(errno));
    j->places[point] = (struct journal_place) { at, (int32_t)strlen(line), 1 };
    return 0;
}

json_t *sweep_journal_get(const struct sweep_journal *j, int64_t point, struct err *err)
{
    const struct journal_place *p = &j->places[point];
    if (!p->file)
        return NULL;
    char *line = xmalloc((size_t)p->len + 1);
    ssize_t n = pread(fileno(j->files.v[p->file - 1]), line, (size_t)p->len, p->at);
    json_error_t e;
    json_t *record = n == p->len ? json_loadb(line, (size_t)n, 0, &e) : NULL;
    if (!record)
        err_set(err,
                "%s/journal: the record of point %" PRId64 " cannot be read "
                "(remove that line and go on with --resume)",
                j->dir, point);
    free(line);
    return record;
}

int sweep_journal_sync(struct sweep_journal *j, struct err *err)
{
    if (fsync(fileno(j->files.v[0])) && errno != EINVAL && errno != EROFS)
        return err_set(err, "%s/journal: cannot be written: %s", j->dir,
                       strerror(errno));
    return 0;
}
