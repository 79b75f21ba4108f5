#include "trace/trace_json.h"

#include "base/xmalloc.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Packing ---------------------------------------------------------------------------- */

static void pack(struct trace_json *j, const void *data, size_t n, int flush)
{
    unsigned char out[1 << 15];
    z_stream *z = j->packer;
    z->next_in = (Bytef *)(uintptr_t)data;
    z->avail_in = (uInt)n;
    do {
        z->next_out = out;
        z->avail_out = sizeof(out);
        deflate(z, flush);
        fwrite(out, 1, sizeof(out) - z->avail_out, j->out);
    } while (z->avail_out == 0);
}

static void put(struct trace_json *j, const void *data, size_t n)
{
    if (j->packer)
        pack(j, data, n, Z_NO_FLUSH);
    else
        fwrite(data, 1, n, j->out);
}

void trace_json_begin(struct trace_json *j, FILE *out, bool packed)
{
    enum {
        GZIP = 16 + MAX_WBITS, /* with gzip's head, which has no time in it */
        MEMORY = 8
    };
    j->out = out;
    if (!packed)
        return;
    j->packer = xcalloc(1, sizeof(*j->packer));
    if (deflateInit2(j->packer, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        xmalloc_fail();
}

static void flush_block(struct trace_json *j)
{
    put(j, j->block, j->n);
    j->n = 0;
}

void trace_json_end(struct trace_json *j)
{
    flush_block(j);
    if (j->packer)
        pack(j, "", 0, Z_FINISH);
}

void trace_json_release(struct trace_json *j)
{
    if (j->packer)
        deflateEnd(j->packer);
    free(j->packer);
    j->packer = NULL;
}

/* Texts and numbers ------------------------------------------------------------------ */

static void add(struct trace_json *j, const char *s, size_t n)
{
    if (n > sizeof(j->block) - j->n)
        flush_block(j);
    if (n > sizeof(j->block)) {
        put(j, s, n);
        return;
    }
    memcpy(j->block + j->n, s, n);
    j->n += n;
}

void trace_json_text(struct trace_json *j, const char *s)
{
    add(j, s, strlen(s));
}

void trace_json_string(struct trace_json *j, const char *s)
{
    add(j, "\"", 1);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            add(j, "\\", 1);
        add(j, (unsigned char)*s < ' ' ? " " : s, 1);
    }
    add(j, "\"", 1);
}

enum { DIGITS_MAX = 24 };

void trace_json_int(struct trace_json *j, int64_t v)
{
    char text[DIGITS_MAX], *end = text + DIGITS_MAX, *at = end;
    uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (v < 0)
        *--at = '-';
    add(j, at, (size_t)(end - at));
}

static void put_us(struct trace_json *j, int64_t t_ns)
{
    enum { DECIMALS = 3, NS_PER_US = 1000 };
    char text[DECIMALS + 1] = ".";
    int64_t left = t_ns % NS_PER_US;
    int n = DECIMALS;
    trace_json_int(j, t_ns / NS_PER_US);
    if (left == 0)
        return;
    for (int i = DECIMALS; i > 0; i--, left /= 10)
        text[i] = (char)('0' + left % 10);
    while (text[n] == '0')
        n--;
    add(j, text, (size_t)n + 1);
}

static const int64_t ps_per_ns = 1000;

/* Microseconds of the whole nanoseconds: what readers keep. */
static void put_moment(struct trace_json *j, int64_t t_ps)
{
    put_us(j, t_ps / ps_per_ns);
}

void trace_json_span_us(struct trace_json *j, int64_t from_ps, int64_t to_ps)
{
    put_us(j, to_ps / ps_per_ns - from_ps / ps_per_ns);
}

void trace_json_event(struct trace_json *j, char phase, int64_t pid, int64_t tid,
                      int64_t at_ps)
{
    char head[] = ",\n{\"ph\":\"?\",\"pid\":";
    head[9] = phase;
    if (j->events++ == 0)
        add(j, head + 1, sizeof(head) - 2);
    else
        add(j, head, sizeof(head) - 1);
    trace_json_int(j, pid);
    add(j, ",\"tid\":", 7);
    trace_json_int(j, tid);
    add(j, ",\"ts\":", 6);
    put_moment(j, at_ps);
}
