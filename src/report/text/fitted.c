#include "report/text/fitted.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void fitted_files(FILE *out, const struct samples *s)
{
    for (int64_t i = 0; i < s->files.n; i++)
        fprintf(out, "%s%s", i ? ", " : "", s->files.v[i]);
    fputc('\n', out);
}

void fitted_head(FILE *out, int width)
{
    fprintf(out, "  %-*s %5s %12s %7s %11s", width, "", "n", "fitted to", "n",
            "held out");
}

bool fitted_row(FILE *out, int width, const char *name, const char *why,
                const struct calibration_errors *e)
{
    if (why)
        fprintf(out, "  %s: nothing was fitted: %s\n", name, why);
    else
        fprintf(out, "  %-*s %5" PRId64 " %5.1f/%4.1f %% %6" PRId64 " %5.1f/%4.1f %%",
                width, name, e->n_fit, 100 * e->fit_median, 100 * e->fit_mean,
                e->n_held, 100 * e->held_median, 100 * e->held_mean);
    return !why;
}

const char *fitted_floor(char text[32], const struct calibration_errors *e)
{
    snprintf(text, 32, "-");
    if (e->n_floor)
        snprintf(text, 32, "%.1f/%.1f %%", 100 * e->floor_median, 100 * e->floor_mean);
    return text;
}

bool fitted_same(const void *a, const void *b, const size_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x, y;
        memcpy(&x, (const char *)a + at[i], sizeof(x));
        memcpy(&y, (const char *)b + at[i], sizeof(y));
        if (fabs(x - y) > 1e-3 * fmax(fabs(x), fabs(y)))
            return false;
    }
    return true;
}

const char *fitted_status(bool is_shipped, bool is_same)
{
    return !is_shipped ? "not shipped" : is_same ? "as shipped" : "not what is shipped";
}
