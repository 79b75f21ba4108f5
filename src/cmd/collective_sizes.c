#include "cmd/collective_call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "8", "64K" and "1G" as nccl-tests takes them (powers of 2), or "1GiB". */
static int read_size(const char *text, double *size, struct err *err)
{
    static const char suffixes[] = "KMGT";
    const char *why, *at;
    char *end;
    *size = strtod(text, &end);
    if (end != text && *end && !end[1] && (at = strchr(suffixes, *end))) {
        *size = ldexp(*size, 10 * (int)(at - suffixes + 1));
        end++;
    }
    if (end == text || *end) {
        if (units_parse(text, UNIT_BYTES, size, &why))
            return err_set(err, "--bytes: \"%s\" %s", text, why);
    }
    if (!(*size >= 1 && *size <= 0x1p50))
        return err_set(err, "--bytes: %s is not from 1 B to 1 PiB", text);
    return 0;
}

int collective_sizes_read(const char *text, struct collective_sizes *sizes,
                          struct err *err)
{
    char copy[128], *colon[2] = { NULL, NULL }, *end;
    *sizes = (struct collective_sizes) { .min = 8, .max = 0x1p30, .factor = 2 };
    if (!text)
        return 0;
    if (strlen(text) >= sizeof(copy))
        return err_set(err, "--bytes is too long (write for example 8:1GiB:2)");
    memcpy(copy, text, strlen(text) + 1);
    colon[0] = strchr(copy, ':');
    if (colon[0]) {
        *colon[0]++ = '\0';
        colon[1] = strchr(colon[0], ':');
        if (colon[1])
            *colon[1]++ = '\0';
    }
    if (read_size(copy, &sizes->min, err))
        return -1;
    sizes->max = sizes->min;
    if (colon[0] && read_size(colon[0], &sizes->max, err))
        return -1;
    if (sizes->max < sizes->min)
        return err_set(err, "--bytes: the largest size is below the smallest");
    if (!colon[1])
        return 0;
    sizes->factor = strtod(colon[1], &end);
    if (end == colon[1] || *end || !(sizes->factor > 1) || isinf(sizes->factor))
        return err_set(err, "--bytes: the factor must be a number above 1, not \"%s\"",
                       colon[1]);
    if (log(sizes->max / sizes->min) > COLLECTIVE_SIZES_MAX * log(sizes->factor))
        return err_set(err, "--bytes: more than %d sizes (give a larger factor)",
                       COLLECTIVE_SIZES_MAX);
    return 0;
}
