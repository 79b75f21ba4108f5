#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, const char *fmt, ...)
{
    if (err->set)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    err->set = true;
    return -1;
}
