#include "base/late.h"

#include "base/xmalloc.h"

#include <dlfcn.h>
#include <string.h>

static bool is_linked(const struct late_function *functions, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(functions[i].at, &functions[i].linked, sizeof(functions[i].linked));
    return functions[0].linked != NULL;
}

/* NULL, or what is not there. */
static char *find(const struct late_library *library)
{
    const struct late_function *f = library->functions;
    if (is_linked(f, library->n))
        return NULL;
    void *handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return xstrdup(dlerror());
    for (size_t i = 0; i < library->n; i++) {
        void *address = dlsym(handle, f[i].name);
        if (!address)
            return xstrdup(dlerror());
        memcpy(f[i].at, &address, sizeof(address));
    }
    return NULL;
}

const char *late_load(struct late_library *library)
{
    pthread_mutex_lock(&library->lock);
    if (!library->tried)
        library->missing = find(library);
    library->tried = true;
    pthread_mutex_unlock(&library->lock);
    return library->missing;
}
