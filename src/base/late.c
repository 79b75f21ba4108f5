#include "base/late.h"

#include "base/xmalloc.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static bool is_linked(const struct late_function *functions, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(functions[i].at, &functions[i].linked, sizeof(functions[i].linked));
    return functions[0].linked != NULL;
}

char *late_load(const char *library, const struct late_function *functions, size_t n)
{
    if (is_linked(functions, n))
        return NULL;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return xstrdup(dlerror());
    for (size_t i = 0; i < n; i++) {
        void *address = dlsym(handle, functions[i].name);
        if (!address)
            return xstrdup(dlerror());
        memcpy(functions[i].at, &address, sizeof(address));
    }
    return NULL;
}
