#include "scenario/versions.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
/* Release notes of the library, as far as parameters distinguish releases. */
const char *const smp_v1_versions[] = {
    "1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.8.1", "1.9", "1.10",
    "1.11", "1.13", "1.14", "1.15", NULL,
};
const char *const smp_v2_versions[] = {
    "2.0", "2.0.1", "2.1", "2.1.2", "2.2", "2.3", "2.3.1", "2.4", "2.5", "2.6", "2.7",
    "2.8", NULL,
};
/* PyTorch and SMP v2 of a container: sagemaker-python-sdk, image_uris. */
static const char *const containers[][2] = {
    { "2.0.1", "2.0.1" }, { "2.1.2", "2.1.2" }, { "2.2.0", "2.3.1" },
    { "2.3.1", "2.5.0" }, { "2.4.1", "2.7.0" }, { "2.5.1", "2.8.0" },
};
/* clang-format on */

/* First and last release that is known, the last as far as it is written: of "2" any
 * 2.x. NCCL's are those of the table in cost/nccl.c; the others' have been released,
 * whatever the model makes of them. */
static const struct {
    const char *key, *name, *first, *last;
} known[] = {
    { "pytorch", "PyTorch", "0.1", "2" },
    { "transformers", "transformers", "2.0", "5" },
    { "nccl", "NCCL", "2.4", "2.30" },
    { "horovod", "Horovod", "0.1", "0" },
    { "smddp", "SMDDP", "1.0", "2" },
    { "efa", "EFA's installer", "1", "1" },
    { "sagemaker_sdk", "SageMaker's SDK", "1", "3" },
};

enum { DIGITS_MAX = 9 };

bool version_valid(const char *v)
{
    for (;;) {
        size_t digits = strspn(v, "0123456789");
        if (digits == 0 || digits > DIGITS_MAX)
            return false;
        v += digits;
        if (*v != '.')
            return *v == '\0' || strchr("+-", *v) || isalpha((unsigned char)*v);
        v++;
    }
}

/* `prefix`: b represents all versions that begin with it. */
static int compare(const char *a, const char *b, bool prefix)
{
    for (;;) {
        char *a_end, *b_end;
        long x = strtol(a, &a_end, 10), y = strtol(b, &b_end, 10);
        if (x != y)
            return x < y ? -1 : 1;
        if (*b_end != '.' && (prefix || *a_end != '.'))
            return 0;
        a = *a_end == '.' ? a_end + 1 : "0";
        b = *b_end == '.' ? b_end + 1 : "0";
    }
}

int version_compare(const char *a, const char *b)
{
    return compare(a, b, false);
}

const char *version_unsure(struct arena *arena, const char *key, const char *v)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].key, key) != 0)
            continue;
        bool older = compare(v, known[i].first, true) < 0;
        if (!older && compare(v, known[i].last, true) <= 0)
            return NULL;
        return arena_printf(arena,
                            "%s %.40s is not known (%s to %s%s are): taken for the "
                            "%s of these",
                            known[i].name, v, known[i].first, known[i].last,
                            strchr(known[i].last, '.') ? "" : ".x",
                            older ? "oldest" : "newest");
    }
    return NULL;
}

const char *version_nearest(const char *const *list, const char *v)
{
    const char *found = NULL;
    for (; *list && version_compare(*list, v) <= 0; list++)
        found = *list;
    return found;
}

const char *version_smp_v2_of(const char *pytorch, bool *exact)
{
    const char *found = NULL;
    *exact = false;
    for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++) {
        int order = version_compare(containers[i][0], pytorch);
        if (order <= 0)
            found = containers[i][1];
        *exact |= order == 0;
    }
    return found;
}
