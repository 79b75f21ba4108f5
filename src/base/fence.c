#define _XOPEN_SOURCE 700 /* realpath */

#include "base/fence.h"

#include "base/vec.h"

#include <errno.h>
#include <string.h>

static struct {
    bool up;
    VEC(char *) places; /* as realpath gives them */
} fence;

void fence_add(const char *path)
{
    char *real = realpath(path, NULL);
    fence.up = true;
    if (real)
        VEC_PUSH(&fence.places, real);
}

bool fence_allows(const char *path)
{
    char *real = fence.up ? realpath(path, NULL) : NULL;
    bool inside = !real;
    for (int64_t i = 0; i < fence.places.n && !inside; i++) {
        size_t n = strlen(fence.places.v[i]);
        inside = strncmp(real, fence.places.v[i], n) == 0 &&
                 (real[n] == '\0' || real[n] == '/');
    }
    free(real);
    if (!inside)
        errno = EACCES;
    return inside;
}
