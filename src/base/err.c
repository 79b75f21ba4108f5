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

int err_fault(struct err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err->fault |= !err->set;
    set_text(err, "a fault of smsim, not of what it was given: ", fmt, ap);
    va_end(ap);
    return -1;
}
