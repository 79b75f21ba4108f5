#include "trace/trace_json.h"

#include <string.h>

void trace_json_flush(struct trace_json *j)
{
    fwrite(j->block, 1, j->n, j->out);
    j->n = 0;
}

static void add(struct trace_json *j, const char *s, size_t n)
{
    if (n > sizeof(j->block) - j->n)
        trace_json_flush(j);
    if (n > sizeof(j->block)) {
        fwrite(s, 1, n, j->out);
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

void trace_json_us(struct trace_json *j, int64_t t_ps)
{
    const int64_t ps_per_us = 1000000;
    char text[7] = ".";
    int64_t left = t_ps % ps_per_us;
    trace_json_int(j, t_ps / ps_per_us);
    if (left == 0)
        return;
    for (int i = 6; i > 0; i--, left /= 10)
        text[i] = (char)('0' + left % 10);
    add(j, text, sizeof(text));
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
    trace_json_us(j, at_ps);
}
