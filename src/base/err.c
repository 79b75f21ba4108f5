#include "base/err.h"

#include "base/plain.h"

#include <stdarg.h>
#include <stdio.h>

static int set_text(struct err *err, const char *begin, const char *fmt, va_list ap)
{
    if (err->set)
        return -1;
    int n = snprintf(err->text, sizeof(err->text), "%s", begin);
    vsnprintf(err->text + n, sizeof(err->text) - (size_t)n, fmt, ap);
    plain_make(err->text);
    err->set = true;
    return -1;
}

int err_set(struct err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set_text(err, "", fmt, ap);
    va_end(ap);
    return -1;
}

int err_set_at(struct err *err, int line, int column, const char *fmt, ...)
{
    va_list ap;
    if (!err->set) {
        err->line = line;
        err->column = column;
    }
    va_start(ap, fmt);
    set_text(err, "", fmt, ap);
    va_end(ap);
    return -1;
}

int err_set_file(struct err *err, const char *file, const char *fmt, ...)
{
    char begin[sizeof(err->text) / 2];
    va_list ap;
    int n = snprintf(begin, sizeof(begin), "%s: ", file);
    if (!err->set)
        err->begin = n < (int)sizeof(begin) ? n : 0;
    va_start(ap, fmt);
    set_text(err, begin, fmt, ap);
    va_end(ap);
    return -1;
}

int err_fault(struct err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err->fault |= !err->set;
    set_text(err, "a fault of smsim, not of what it was given: ", fmt, ap);
    va_end(ap);
    return -1;
}
