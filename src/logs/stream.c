#include "logs/stream.h"

#include "base/fence.h"
#include "base/file.h"
#include "base/xmalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK_B = 1 << 17 };

struct splitter {
    char *line; /* max + 1 bytes */
    size_t n, max;
    bool cut, after_return, begun;
    bool quoted; /* the text is a line of JSON, or of quoted CSV */
    stream_take take;
    void *arg;
};

static void end_line(struct splitter *s)
{
    s->take(s->arg, s->line, s->n, s->cut);
    s->n = 0;
    s->cut = s->begun = false;
}

/* A return as others write it, at the end of what was read of a line: "#015" of rsyslog,
 * through which SageMaker's logs come to CloudWatch, and "\\r" of what JSON quotes. The
 * line is kept without it. */
static bool ends_escaped(struct splitter *s)
{
    static const char *const returns[] = { "#015", "\\r" };
    for (size_t i = 0; i < 1 + (size_t)s->quoted; i++) {
        size_t n = strlen(returns[i]);
        if (s->n < n || memcmp(s->line + s->n - n, returns[i], n) != 0)
            continue;
        s->n -= n;
        return true;
    }
    return false;
}

static void keep(struct splitter *s, char c)
{
    if (!s->begun)
        s->quoted = s->quoted || c == '{' || c == '[' || c == '"';
    s->begun = s->begun || c != ' ';
    if (s->quoted && c == '"' && s->n && s->line[s->n - 1] == '\\')
        s->n--; /* JSON within JSON */
    if (s->n == s->max) {
        s->cut = true;
        return;
    }
    s->line[s->n++] = c;
    if ((c == '5' || c == 'r') && ends_escaped(s))
        end_line(s);
}

/* A line begins anew after "\r", as progress is written; "\r\n" is one end. */
static void split(struct splitter *s, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool is_pair = c == '\n' && s->after_return;
        s->after_return = c == '\r';
        if (is_pair)
            continue;
        if (c == '\n' || c == '\r') {
            end_line(s);
            s->quoted = false;
            continue;
        }
        keep(s, c);
    }
}

static gzFile open_file(const char *file, struct err *err)
{
    bool is_input = strcmp(file, "-") == 0;
    if (!is_input && !fence_allows(file)) {
        err_set(err, "%s: is outside of what may be read here", file);
        return NULL;
    }
    int fd = is_input ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st)) {
        err_set(err, "%s: cannot be read: %s", file, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    if (!is_input && !S_ISREG(st.st_mode) && strncmp(file, "/dev/fd/", 8) != 0) {
        close(fd);
        err_set(err, "%s: is no file", file);
        return NULL;
    }
    if (!is_input)
        fcntl(fd, F_SETFL, 0);
    file_guard_note(&st);
    gzFile in = gzdopen(fd, "rb");
    if (!in) {
        close(fd);
        err_set(err, "%s: cannot be read", file);
    }
    return in;
}

int stream_lines(const char *file, size_t max, stream_take take,
                 const struct stream_other *other, void *arg, bool *whole,
                 struct err *err)
{
    gzFile in = open_file(file, err);
    if (!in)
        return -1;
    struct splitter s = {
        .line = xmalloc(max + 1), .max = max, .take = take, .arg = arg
    };
    char *chunk = xmalloc(CHUNK_B);
    void (*take_other)(void *, const char *, size_t) = NULL;
    int64_t total = 0;
    int n = 0;
    *whole = true;
    while (*whole && (n = gzread(in, chunk, CHUNK_B)) > 0) {
        for (; total == 0 && other && other->is && !take_other; other++)
            if (other->is(chunk, (size_t)n))
                take_other = other->take;
        if (take_other)
            take_other(arg, chunk, (size_t)n);
        else
            split(&s, chunk, (size_t)n);
        total += n;
        *whole = total < STREAM_MAX_B;
    }
    if (s.begun || s.n)
        end_line(&s);
    int code = Z_OK, rc = 0;
    const char *why = gzerror(in, &code);
    if (n < 0)
        rc = err_set(err, "%s: cannot be read: %s", file,
                     code == Z_ERRNO ? strerror(errno) : why);
    gzclose(in);
    free(chunk);
    free(s.line);
    return rc;
}
