#include "sweep/sweep_scan.h"

#include "base/fnv.h"
#include "base/xmalloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { VERSION = 2 };

static const char magic[] = "{\"smsim_sweep\":";

char *sweep_scan_header(const struct sweep *s)
{
    return xasprintf("%s%d,\"hash\":\"%016" PRIx64 "\",\"points\":%" PRId64 "}", magic,
                     VERSION, sweep_hash(s), s->n_points);
}

static int cannot_read(const char *path, struct err *err)
{
    return err_set(err, "%s: cannot be read: %s", path, strerror(errno));
}

struct scan {
    struct sweep_journal *j;
    const char *path, *header;
    FILE *in;
    int32_t file;
    int64_t at, line;
    struct err *err;
};

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

/* Quotes within texts are escaped, so that what is looked for are members of the
 * record: "error" after the "axes", and "retry" as the last. */
struct journal_place sweep_scan_place(const char *line, size_t len, int64_t at,
                                      int32_t file)
{
    static const char again[] = ",\"retry\":true}";
    const size_t n = sizeof(again) - 1;
    return (struct journal_place) {
        .at = at,
        .len = (int32_t)len,
        .file = file,
        .failed = strstr(line, "},\"error\":\"") != NULL,
        .retry = len > n && strcmp(line + len - n, again) == 0,
    };
}

/* A later record of a point replaces one that was to be run again. */
static int note_point(const struct scan *s, const char *line, size_t len)
{
    int64_t point = point_of(line);
    if (point < 0 || point >= s->j->n_points || len > INT32_MAX)
        return -1;
    if (sweep_shard_has(s->j->shard, point) && !sweep_journal_has(s->j, point))
        sweep_journal_place(s->j, point,
                            sweep_scan_place(line, len, s->at, s->file + 1));
    return 0;
}

static int note_input(const struct scan *s, const char *line)
{
    json_t *input = json_loads(line, 0, NULL);
    int rc = input ? sweep_inputs_add_json(&s->j->inputs, input, s->err) : -1;
    json_decref(input);
    return rc;
}

/* Takes the tab and the hash off; whether the hash is the line's. */
static bool take_hash(char *line, size_t *len)
{
    char *tab = strrchr(line, '\t'), is[FNV_TEXT];
    if (!tab)
        return false;
    *tab = '\0';
    *len = (size_t)(tab - line);
    snprintf(is, sizeof(is), "%016" PRIx64, fnv_add(fnv_start, line, *len));
    return strcmp(tab + 1, is) == 0;
}

static int refuse(const struct scan *s, const char *what)
{
    return err_set(s->err, "%s: line %" PRId64 " %s", s->path, s->line, what);
}

static int check_header(const struct scan *s, const char *line)
{
    if (strcmp(line, s->header) == 0)
        return 0;
    return err_set(s->err,
                   "%s: is of another sweep: the file, its base or its outputs have "
                   "changed since (choose another --out)",
                   s->path);
}

static int take_line(const struct scan *s, char *line)
{
    size_t len = 0;
    if (!take_hash(line, &len))
        return refuse(s, "is not what was written: its checksum is wrong (remove the "
                         "line and go on with --resume, which runs the point again)");
    if (s->line == 1)
        return check_header(s, line);
    if (note_point(s, line, len) && note_input(s, line))
        return refuse(s, "is no record of this sweep (choose another --out)");
    return 0;
}

/* Whether the file is a journal as this program writes them, or is empty. */
static int check_kind(const struct scan *s)
{
    char begin[sizeof(magic) + 2] = "";
    struct stat st;
    if (fstat(fileno(s->in), &st))
        return cannot_read(s->path, s->err);
    size_t n = S_ISREG(st.st_mode) ? fread(begin, 1, sizeof(begin) - 2, s->in) : 0;
    bool ours = S_ISREG(st.st_mode) && strncmp(begin, s->header, n) == 0;
    if (ours || ferror(s->in)) {
        rewind(s->in);
        return ours ? 0 : cannot_read(s->path, s->err);
    }
    if (strncmp(begin, magic, sizeof(magic) - 1) == 0)
        return err_set(s->err,
                       "%s: was written by another version of smsim, and does not say "
                       "what its results rest on (choose another --out)",
                       s->path);
    return err_set(s->err,
                   "%s: is no journal of smsim, and is left as it is (choose another "
                   "--out)",
                   s->path);
}

/* The rest of a file without the end of its line: what a kill cut off, unless it is in
 * the first line and not the begin of ours. */
static int take_torn(const struct scan *s, const char *rest)
{
    if (s->line == 1 && strncmp(rest, s->header, strlen(rest)) != 0 &&
        strncmp(rest, s->header, strlen(s->header)) != 0)
        return check_header(s, rest);
    VEC_PUSH(&s->j->torn, xstrdup(s->path));
    return 0;
}

int sweep_scan(struct sweep_journal *j, const char *path, const char *header,
               enum scan_extent extent, int64_t *end, struct err *err)
{
    const int32_t file = (int32_t)j->files.n - 1;
    struct scan s = { j, path, header, j->files.v[file], file, 0, 1, err };
    char *line = NULL;
    size_t cap = 0;
    int rc = check_kind(&s);
    for (ssize_t n; rc == 0 && (n = getline(&line, &cap, s.in)) > 0; s.line++) {
        if (line[n - 1] != '\n') {
            rc = take_torn(&s, line);
            break;
        }
        line[n - 1] = '\0';
        if (extent == SCAN_INPUTS && point_of(line) >= 0)
            break;
        rc = take_line(&s, line);
        s.at += n;
    }
    free(line);
    if (rc == 0 && ferror(s.in))
        rc = cannot_read(path, err);
    *end = s.at;
    return rc;
}
