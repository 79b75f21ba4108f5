#define _DEFAULT_SOURCE /* realpath */
#include "base/self.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

static int copy(char path[SELF_PATH_B], const char *from)
{
    int n = from ? snprintf(path, SELF_PATH_B, "%s", from) : -1;
    return n > 0 && n < SELF_PATH_B ? 0 : -1;
}

/* The name by which the system was asked to run the program, for places without /proc.
 * It begins where the program was started. */
static int started_as(char path[SELF_PATH_B])
{
#if defined(__linux__)
    return copy(path, (const char *)getauxval(AT_EXECFN));
#elif defined(__APPLE__)
    uint32_t size = SELF_PATH_B;
    return _NSGetExecutablePath(path, &size);
#else
    return copy(path, NULL);
#endif
}

static const char link_of_proc[] = "/proc/self/exe";

int self_path(char path[SELF_PATH_B])
{
    return access(link_of_proc, F_OK) == 0 ? copy(path, link_of_proc)
                                           : started_as(path);
}

/* The path without links, of a path. */
static int resolve(char path[SELF_PATH_B], const char *of)
{
    char *real = realpath(of, NULL);
    int rc = copy(path, real);
    free(real);
    return rc;
}

int self_real_path(char path[SELF_PATH_B])
{
    char start[SELF_PATH_B];
    if (resolve(path, link_of_proc) == 0)
        return 0;
    return started_as(start) == 0 ? resolve(path, start) : -1;
}
