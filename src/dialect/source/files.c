#include "dialect/source/files.h"

#include "base/fence.h"

#include <string.h>
#include <sys/stat.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const struct source_file *source_files_find(const struct source_file *files, int64_t n,
                                            const char *name)
{
    for (int64_t i = n; i-- > 0;)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    for (int64_t i = n; i-- > 0;)
        if (strcmp(last_part(files[i].name), last_part(name)) == 0)
            return &files[i];
    return NULL;
}

static bool is_file(const char *path)
{
    struct stat st;
    return fence_allows(path) && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* "/workspace/train.py": the folder of an image is what is here, or one of its parts. */
static const char *in_root(struct arena *arena, const char *source, const char *name)
{
    static const char *const parts[] = { "", "src/", "code/", "scripts/", "app/" };
    const char *slash = strrchr(source, '/');
    const char *last = strchr(name + 1, '/');
    int n = slash ? (int)(slash - source + 1) : 0;
    if (*name != '/' || !last || strchr(last + 1, '/'))
        return NULL;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const char *path =
            arena_printf(arena, "%.*s%s%s", n, source, parts[i], last + 1);
        if (is_file(path))
            return path;
    }
    return NULL;
}

/* A name in a container's image, where the repository is at a path of its own, or below a
 * variable of the environment: the longest end of it, of two parts or more, that is
 * here. */
static const char *in_image(struct arena *arena, const char *source, const char *name)
{
    for (const char *tail = name + 1; tail && strchr(tail, '/');) {
        const char *path = *tail == '/' || strncmp(tail, "..", 2) == 0
                               ? NULL
                               : source_files_next_to(arena, source, tail);
        if (path)
            return path;
        tail = strchr(tail, '/') + 1;
    }
    return in_root(arena, source, name);
}

const char *source_files_next_to(struct arena *arena, const char *source,
                                 const char *name)
{
    const char *slash = strrchr(source, '/');
    int n = slash ? (int)(slash - source + 1) : 0;
    while (strncmp(name, "./", 2) == 0)
        name += 2;
    if (*name == '/' || *name == '$')
        return in_image(arena, source, name);
    if (!*name)
        return NULL;
    const char *up = "";
    for (int i = 0; i <= SOURCE_FILES_UP; i++) {
        const char *path = arena_printf(arena, "%.*s%s%s", n, source, up, name);
        if (is_file(path))
            return path;
        up = arena_printf(arena, "../%s", up);
    }
    return NULL;
}
