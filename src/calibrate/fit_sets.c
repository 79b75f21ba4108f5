#include "calibrate/fit_sets.h"

#include "base/xmalloc.h"
#include "config/datadir.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fit_half(const char *shape)
{
    uint32_t h = 2166136261u;
    for (const char *c = shape; *c; c++)
        h = (h ^ (unsigned char)*c) * 16777619u;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    return (int)(h & 1);
}

double fit_rounded(double v)
{
    char digits[40];
    snprintf(digits, sizeof(digits), "%.4g", v);
    return strtod(digits, NULL);
}

void fit_sum_up(double *errors, int64_t n, double *median, double *mean)
{
    *median = *mean = 0;
    if (n == 0)
        return;
    gsl_sort(errors, 1, (size_t)n);
    *median = gsl_stats_median_from_sorted_data(errors, 1, (size_t)n);
    *mean = gsl_stats_mean(errors, 1, (size_t)n);
}

int64_t fit_sum_up_rows(fit_error_fn *error, const void *set, int64_t from, int64_t to,
                        double *median, double *mean)
{
    double *errors = xmalloc((size_t)(to - from + 1) * sizeof(*errors));
    int64_t n = 0;
    for (int64_t i = from; i < to; i++) {
        double e = error(set, i);
        if (!isnan(e))
            errors[n++] = e;
    }
    fit_sum_up(errors, n, median, mean);
    free(errors);
    return n;
}

void fit_sum_up_set(struct calibration_errors *errors, const struct fit_rows *rows,
                    fit_error_fn *error, const void *set)
{
    errors->n_fit = fit_sum_up_rows(error, set, 0, rows->n_fit, &errors->fit_median,
                                    &errors->fit_mean);
    errors->n_held = fit_sum_up_rows(error, set, rows->n_fit, rows->n,
                                     &errors->held_median, &errors->held_mean);
}

/* A set that is looked at: its GPU, NULL where there is none, and its rows. */
struct candidate {
    const struct gpu *gpu;
    struct fit_rows rows;
};

/* Sets stand in the order of their first rows. Returns how many there are. */
static int64_t list_sets(struct calibration *c, const struct fit_kind *kind,
                         const struct samples *s)
{
    int64_t n = 0;
    while (kind->set(c, n))
        n++;
    for (int64_t row = 0; row < kind->count(s); row++) {
        int64_t i = n - 1;
        while (i >= 0 && !kind->belongs(c, i, s, row))
            i--;
        if (i < 0) {
            kind->add(c, s, row);
            n++;
        }
    }
    return n;
}

static bool is_shipped(struct arena *arena, const char *folder, const char *gpu)
{
    const char **name = datadir_list(arena, folder);
    while (*name && strcmp(*name, gpu) != 0)
        name++;
    return *name != NULL;
}

/* The GPU of topologies/gpus that the device's name resembles, and what is shipped of
 * it. */
static int find_gpu(struct candidate *f, struct calibration *c, int64_t i,
                    const struct fit_kind *kind, struct cfg_loader *loader)
{
    const struct cfg nowhere = { NULL, NULL, "" };
    struct calibration_set *set = kind->set(c, i);
    set->gpu = calibration_gpu_of(c->arena, set->device, 0);
    if (!set->gpu) {
        set->why = "no GPU of topologies/gpus resembles it";
        return 0;
    }
    f->gpu = gpu_get(loader, set->gpu, nowhere);
    if (!f->gpu)
        return -1;
    return is_shipped(c->arena, kind->folder, set->gpu)
               ? kind->find_shipped(c, i, loader, f->gpu)
               : 0;
}

static void choose_rows(struct candidate *f, const struct calibration *c, int64_t i,
                        const struct fit_kind *kind, const struct samples *s)
{
    int64_t count = kind->count(s);
    f->rows.at = xmalloc((size_t)(count + 1) * sizeof(*f->rows.at));
    for (int half = 0; half < 2; half++) {
        for (int64_t row = 0; row < count; row++)
            if (kind->belongs(c, i, s, row) && kind->half(s, row) == half &&
                !(kind->leaves_out && kind->leaves_out(f->gpu, s, row)))
                f->rows.at[f->rows.n++] = row;
        if (half == 0)
            f->rows.n_fit = f->rows.n;
    }
}

/* A failure is in err. */
static void fit_one(struct candidate *f, struct calibration *c, int64_t i,
                    const struct fit_kind *kind, const struct samples *s,
                    struct err *err)
{
    struct calibration_set *set = kind->set(c, i);
    choose_rows(f, c, i, kind, s);
    if (kind->peak_flops && kind->peak_flops(c, i, f->gpu) <= 0)
        set->why = "the GPU has no peak rate of this format";
    else if (f->rows.n_fit >= kind->rows_least)
        kind->fit(c, i, f->gpu, s, &f->rows, err);
    free(f->rows.at);
}

int fit_sets(struct calibration *c, const struct fit_kind *kind,
             struct cfg_loader *loader, const struct samples *s, struct err *err)
{
    int64_t n = list_sets(c, kind, s);
    struct candidate *found = xcalloc((size_t)n + 1, sizeof(*found));
    struct err *errors = xcalloc((size_t)n + 1, sizeof(*errors));
    int rc = 0;
    for (int64_t i = 0; i < n && rc == 0; i++)
        rc = find_gpu(&found[i], c, i, kind, loader);
    if (rc == 0) {
#pragma omp parallel for schedule(dynamic, 1)
        for (int64_t i = 0; i < n; i++)
            if (found[i].gpu)
                fit_one(&found[i], c, i, kind, s, &errors[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        struct calibration_set *set = kind->set(c, i);
        if (found[i].gpu && !set->why && found[i].rows.n_fit < kind->rows_least)
            set->why = arena_printf(c->arena,
                                    "too few measurements (%" PRId64
                                    " of those to fit are needed)",
                                    kind->rows_least);
        if (errors[i].text[0])
            rc = err_set(err, "%s", errors[i].text);
    }
    free(errors);
    free(found);
    return rc;
}
