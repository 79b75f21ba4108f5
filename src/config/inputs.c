#include "config/inputs.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/self.h"
#include "config/datadir.h"

#include <string.h>

enum { FILE_MAX_B = 1 << 30 };

void inputs_release(struct inputs *in)
{
    VEC_RELEASE(&in->list);
    in->n_unread = 0;
}

static struct input_ref named(struct arena *arena, const char *file)
{
    const char *root = datadir_root(arena);
    size_t n = strlen(root);
    if (strncmp(file, root, n) == 0 && file[n] == '/')
        return (struct input_ref) { INPUT_DATA, arena_strdup(arena, file + n + 1), 0 };
    return (struct input_ref) { INPUT_FILE, arena_strdup(arena, file), 0 };
}

void inputs_note(struct inputs *in, struct arena *arena, const char *file,
                 const char *text, size_t len)
{
    struct input_ref input = named(arena, file);
    input.hash = text ? fnv_add_words(fnv_start, text, len) : INPUT_MISSING;
    for (int64_t i = 0; i < in->list.n; i++) {
        const struct input_ref *known = &in->list.v[i];
        if (known->kind == input.kind && known->hash == input.hash &&
            strcmp(known->name, input.name) == 0)
            return;
    }
    VEC_PUSH(&in->list, input);
}

uint64_t inputs_hash_now(enum input_kind kind, const char *name)
{
    struct arena arena;
    struct err err = { 0 };
    size_t len = 0;
    arena_init(&arena);
    char self[SELF_PATH_B] = "";
    if (kind == INPUT_PROGRAM)
        (void)self_path(self);
    const char *file = kind == INPUT_PROGRAM ? self
                       : kind == INPUT_DATA
                           ? arena_printf(&arena, "%s/%s", datadir_root(&arena), name)
                           : name;
    char *text = file_read(file, FILE_MAX_B, &len, &err);
    uint64_t hash = text ? fnv_add_words(fnv_start, text, len) : INPUT_MISSING;
    free(text);
    arena_release(&arena);
    return hash;
}
