/* Rows: one JSON object a line. Numbers that are not finite do not get in. */
#include "measure.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

double measure_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double measure_left_s(const struct measure *m)
{
    return m->deadline_s - measure_now_s();
}

bool measure_next(struct measure *m)
{
    return ++m->item > m->skip;
}

int measure_fail(struct measure *m, const char *fmt, ...)
{
    va_list args;
    if (m->error[0])
        return -1; /* the first error wins */
    va_start(args, fmt);
    vsnprintf(m->error, sizeof(m->error), fmt, args);
    va_end(args);
    return -1;
}

static void put_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if ((unsigned char)*s < 0x20)
            fputc(' ', out);
        else
            fputc(*s, out);
    }
    fputc('"', out);
}

static void put_key(struct measure *m, const char *key)
{
    fputs(m->first_field ? "{" : ", ", m->rows);
    m->first_field = false;
    put_string(m->rows, key);
    fputs(": ", m->rows);
}

void row_begin(struct measure *m, const char *kind)
{
    m->first_field = true;
    row_text(m, "kind", kind);
    row_int(m, "device", m->device);
    if (m->item > 0)
        row_int(m, "item", m->item);
}

void row_text(struct measure *m, const char *key, const char *value)
{
    put_key(m, key);
    put_string(m->rows, value);
}

void row_int(struct measure *m, const char *key, int64_t value)
{
    put_key(m, key);
    fprintf(m->rows, "%lld", (long long)value);
}

void row_real(struct measure *m, const char *key, double value)
{
    if (!isfinite(value)) {
        measure_fail(m, "%s is not finite", key);
        return;
    }
    put_key(m, key);
    fprintf(m->rows, "%.7g", value);
}

void row_flag(struct measure *m, const char *key, bool value)
{
    put_key(m, key);
    fputs(value ? "true" : "false", m->rows);
}

void row_open(struct measure *m, const char *key)
{
    put_key(m, key);
    m->first_field = true;
}

void row_close(struct measure *m)
{
    fputs(m->first_field ? "{}" : "}", m->rows);
    m->first_field = false;
}

void row_error(struct measure *m)
{
    row_text(m, "error", m->error[0] ? m->error : "failed");
    m->error[0] = '\0';
}

void row_end(struct measure *m)
{
    if (m->error[0])
        row_error(m);
    fputs("}\n", m->rows);
    fflush(m->rows);
}

static const struct {
    const char *name;
    int bytes, least_arch;
} dtypes[] = {
    /* in the order of enum measure_dtype */
    { "fp32", 4, 0 },  { "tf32", 4, 80 }, { "fp16", 2, 70 },
    { "bf16", 2, 80 }, { "fp8", 1, 89 },
};

const char *dtype_name(enum measure_dtype t)
{
    return dtypes[t].name;
}

int dtype_bytes(enum measure_dtype t)
{
    return dtypes[t].bytes;
}

bool dtype_runs(const struct measure *m, enum measure_dtype t)
{
    return 10 * m->prop.major + m->prop.minor >= dtypes[t].least_arch;
}
