#include "calibrate/fit_sets.h"

#include "base/xmalloc.h"
#include "config/datadir.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
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

bool fit_is_shipped(struct arena *arena, const char *folder, const char *gpu)
{
    const char **name = datadir_list(arena, folder);
    while (*name && strcmp(*name, gpu) != 0)
        name++;
    return *name != NULL;
}

int fit_find_gpu(const struct gpu **gpu, const char **found, const char **why,
                 struct cfg_loader *loader, struct arena *arena, const char *device)
{
    const struct cfg nowhere = { NULL, NULL, "" };
    *gpu = NULL;
    *found = calibration_gpu_of(arena, device, 0);
    if (!*found) {
        *why = "no GPU of topologies/gpus resembles it";
        return 0;
    }
    *gpu = gpu_get(loader, *found, nowhere);
    return *gpu ? 0 : -1;
}

int fit_sets(struct calibration *c, int64_t n, struct cfg_loader *loader,
             const struct samples *s, fit_find_fn *find, fit_set_fn *fit,
             struct err *err)
{
    const struct gpu **gpus = xcalloc((size_t)n + 1, sizeof(*gpus));
    struct err *errors = xcalloc((size_t)n + 1, sizeof(*errors));
    int failed = 0, rc = find(c, loader, gpus) ? -1 : 0;
    if (rc == 0) {
#pragma omp parallel for schedule(dynamic, 1) reduction(| : failed)
        for (int64_t i = 0; i < n; i++)
            failed |= gpus[i] && fit(c, i, gpus[i], s, &errors[i]) != 0;
    }
    for (int64_t i = 0; i < n && failed; i++)
        if (errors[i].text[0])
            rc = err_set(err, "%s", errors[i].text);
    free(errors);
    free(gpus);
    return rc;
}
