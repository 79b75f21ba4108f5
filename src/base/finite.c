#include "base/finite.h"

#include <math.h>

int finite_one(const char *what, const char *name, double v, struct err *err)
{
    if (isfinite(v) && v >= 0)
        return 0;
    return err_fault(err, "%s%s is %g", what, name, v);
}

int finite_check(const struct finite_field *fields, const void *object,
                 const char *what, struct err *err)
{
    for (const struct finite_field *f = fields; f->name; f++) {
        const void *at = (const char *)object + f->at;
        double v = *(const double *)at;
        bool absent = f->may_be_absent && !isfinite(v);
        if (!absent && finite_one(what, f->name, v, err))
            return -1;
    }
    return 0;
}
