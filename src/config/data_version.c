#include "config/data_version.h"

#include "base/file.h"
#include "base/fnv.h"
#include "config/datadir.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_B = 1 << 26 };

/* What simulations, plans and comparisons read. */
static const char *const folders[] = {
    "models",
    "models/frameworks",
    "models/hub",
    "models/launch",
    "topologies",
    "topologies/attention",
    "topologies/experts",
    "topologies/fabrics",
    "topologies/gpus",
    "topologies/instances",
    "topologies/products",
    "topologies/transfers",
    "validate",
    NULL,
};

static void add_file(struct data_version *v, struct arena *arena, const char *folder,
                     const char *name)
{
    struct err err = { 0 };
    size_t len = 0;
    const char *path = arena_printf(arena, "%s/%s/%s.json", v->root, folder, name);
    char *text = file_read(path, FILE_MAX_B, &len, &err);
    v->hash = fnv_add(v->hash, folder, strlen(folder) + 1);
    v->hash = fnv_add(v->hash, name, strlen(name) + 1);
    v->hash = fnv_add_words(v->hash, text ? text : "", len);
    v->files += text != NULL;
    free(text);
}

void data_version_get(struct data_version *v, struct arena *arena)
{
    *v = (struct data_version) { datadir_root(arena), fnv_start, 0, 0 };
    for (int i = 0; folders[i]; i++)
        for (const char **name = datadir_list(arena, folders[i]); *name; name++)
            add_file(v, arena, folders[i], *name);
    for (const char **name = datadir_list(arena, "validate/cases"); *name; name++)
        v->tables++;
}
