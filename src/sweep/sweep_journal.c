#include "sweep/sweep_journal.h"

#include "base/xmalloc.h"
#include "sweep/sweep_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int cannot(const char *path, const char *what, struct err *err)
{
    return err_set(err, "%s: cannot be %s: %s", path, what, strerror(errno));
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

/* Appends a line of JSON, and its hash, to our own journal. */
static int append(struct sweep_journal *j, const char *json)
{
    int fd = fileno(j->files.v[0]);
    char *text =
        xasprintf("%s\t%016" PRIx64 "\n", json, fnv_add(fnv_start, json, strlen(json)));
    size_t n = strlen(text), at = 0;
    while (at < n) {
        ssize_t did = pwrite(fd, text + at, n - at, j->end + (off_t)at);
        if (did > 0)
            at += (size_t)did;
        else if (did == 0 || errno != EINTR)
            break;
    }
    free(text);
    j->end += at == n ? (int64_t)n : 0;
    return at == n ? 0 : -1;
}

static int add_file(struct sweep_journal *j, int fd, const char *mode, const char *path,
                    struct err *err)
{
    FILE *file = fdopen(fd, mode);
    if (!file) {
        cannot(path, "opened", err);
        close(fd);
        return -1;
    }
    VEC_PUSH(&j->files, file);
    return 0;
}

/* Our own journal, as far as it is read: nothing of it is changed. */
static int open_own(struct sweep_journal *j, const char *path, const char *header,
                    bool resume, struct err *err)
{
    int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | (resume ? 0 : O_EXCL);
    int fd = open(path, flags, 0666);
    if (fd < 0 && errno == EEXIST)
        return err_set(err,
                       "%s: is there already (--resume goes on with it; or remove "
                       "it, or choose another --out)",
                       path);
    if (fd < 0)
        return cannot(path, "written", err);
    if (add_file(j, fd, "r+b", path, err) || lock(fd, path, err) ||
        sweep_scan(j, path, header, SCAN_ALL, &j->end, err))
        return -1;
    j->inputs.n_own = j->inputs.list.n;
    return 0;
}

/* As many open files as the system allows: a job array may have more shards than the
 * usual limit of 1,024. Where that cannot be set it stays. */
static void allow_more_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Of one whose records are not read nothing is wanted later. */
static int open_other(struct sweep_journal *j, const char *path, const char *header,
                      enum scan_extent extent, struct err *err)
{
    int64_t end;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return cannot(path, "read", err);
    if (add_file(j, fd, "rb", path, err))
        return -1;
    int rc = sweep_scan(j, path, header, extent, &end, err);
    if (extent == SCAN_INPUTS)
        fclose(j->files.v[--j->files.n]);
    return rc;
}

/* Whether that is a journal's name, and whether it is of as many shards: those of the
 * others have none of our points. */
static bool is_journal(const struct sweep_journal *j, const char *name, bool *sibling)
{
    int64_t i, n = 0;
    char rest;
    bool shard =
        sscanf(name, "journal-%" PRId64 "-of-%" PRId64 "%c", &i, &n, &rest) == 2;
    *sibling = shard && j->shard.count > 1 && n == j->shard.count;
    return shard || strcmp(name, "journal") == 0;
}

static int open_others(struct sweep_journal *j, const char *own, const char *header,
                       struct err *err)
{
    allow_more_files();
    DIR *d = opendir(j->dir);
    int rc = d ? 0 : cannot(j->dir, "read", err);
    for (struct dirent *e; rc == 0 && (e = readdir(d));) {
        bool sibling;
        if (!is_journal(j, e->d_name, &sibling) || strcmp(e->d_name, own) == 0)
            continue;
        char *path = xasprintf("%s/%s", j->dir, e->d_name);
        rc = open_other(j, path, header, sibling ? SCAN_INPUTS : SCAN_ALL, err);
        free(path);
    }
    if (d)
        closedir(d);
    return rc;
}

/* Begins our own journal, or cuts off what is no whole line, once all is as it was. */
static int begin_own(struct sweep_journal *j, const struct sweep *s, const char *path,
                     const char *header, struct err *err)
{
    struct sweep_inputs all = { 0 };
    const struct input_ref program = sweep_inputs_program();
    int rc = sweep_inputs_check(&j->inputs, path, err) ||
                     sweep_inputs_add(&all, &program, err) ||
                     sweep_inputs_add_read(&all, &s->inputs, err)
                 ? -1
                 : 0;
    if (rc == 0 && (ftruncate(fileno(j->files.v[0]), j->end) ||
                    (j->end == 0 && append(j, header))))
        rc = cannot(path, "written", err);
    if (rc == 0)
        rc = sweep_journal_rest_on(j, &all, err);
    sweep_inputs_release(&all);
    return rc;
}

static int make_one(const char *path, struct err *err)
{
    struct stat st;
    if (mkdir(path, 0777) == 0)
        return 0;
    int code = errno;
    if (stat(path, &st) == 0) {
        errno = ENOTDIR;
        return S_ISDIR(st.st_mode) ? 0 : cannot(path, "made", err);
    }
    errno = code == EEXIST ? errno : code; /* a link that leads nowhere */
    return cannot(path, "made", err);
}

static int make_dir(const char *dir, struct err *err)
{
    char *path = xstrdup(dir);
    int rc = 0;
    for (char *slash = strchr(path + 1, '/'); rc == 0 && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        rc = make_one(path, err);
        *slash = '/';
    }
    if (rc == 0)
        rc = make_one(path, err);
    free(path);
    return rc;
}

int sweep_journal_open(struct sweep_journal *j, const struct sweep *s, const char *dir,
                       struct sweep_shard shard, bool resume, struct err *err)
{
    *j = (struct sweep_journal) { .dir = dir, .shard = shard, .n_points = s->n_points };
    if (make_dir(dir, err))
        return -1;
    char *name = shard.count > 1 ? xasprintf("journal-%" PRId64 "-of-%" PRId64,
                                             shard.index, shard.count)
                                 : xstrdup("journal");
    char *path = xasprintf("%s/%s", dir, name), *header = sweep_scan_header(s);
    j->places =
        xcalloc((size_t)sweep_shard_size(shard, s->n_points) + 1, sizeof(*j->places));
    int rc = open_own(j, path, header, resume, err);
    if (rc == 0 && resume)
        rc = open_others(j, name, header, err);
    if (rc == 0)
        rc = begin_own(j, s, path, header, err);
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
    for (int64_t i = 0; i < j->torn.n; i++)
        free(j->torn.v[i]);
    VEC_RELEASE(&j->torn);
    sweep_inputs_release(&j->inputs);
    free(j->places);
    j->places = NULL;
}

/* Records */

static struct journal_place *place_of(const struct sweep_journal *j, int64_t point)
{
    return &j->places[sweep_shard_nth(j->shard, point)];
}

bool sweep_journal_has(const struct sweep_journal *j, int64_t point)
{
    return place_of(j, point)->file != 0 && !place_of(j, point)->retry;
}

bool sweep_journal_failed(const struct sweep_journal *j, int64_t point)
{
    return place_of(j, point)->failed;
}

void sweep_journal_place(struct sweep_journal *j, int64_t point,
                         struct journal_place place)
{
    *place_of(j, point) = place;
}

static int cannot_append(const struct sweep_journal *j, struct err *err)
{
    return err_set(err, "%s/journal: cannot be written: %s", j->dir, strerror(errno));
}

int sweep_journal_rest_on(struct sweep_journal *j, const struct sweep_inputs *inputs,
                          struct err *err)
{
    if (sweep_inputs_add_all(&j->inputs, inputs, err))
        return -1;
    for (; j->inputs.n_own < j->inputs.list.n; j->inputs.n_own++) {
        json_t *input = sweep_inputs_json(&j->inputs.list.v[j->inputs.n_own]);
        char *line = json_dumps(input, JSON_COMPACT);
        int rc = line ? append(j, line) : err_set(err, "an input's name is no UTF-8");
        free(line);
        json_decref(input);
        if (rc)
            return cannot_append(j, err);
    }
    return 0;
}

int sweep_journal_add(struct sweep_journal *j, int64_t point, const char *line,
                      struct err *err)
{
    if (sweep_journal_has(j, point))
        return 0;
    int64_t at = j->end;
    if (append(j, line))
        return cannot_append(j, err);
    sweep_journal_place(j, point, sweep_scan_place(line, strlen(line), at, 1));
    return 0;
}

json_t *sweep_journal_get(const struct sweep_journal *j, int64_t point, struct err *err)
{
    const struct journal_place *p = place_of(j, point);
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
