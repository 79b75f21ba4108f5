/* Importing fields from a script: the toolbox of all dialects, which calls none of
 * them. */
#include "dialect/launch/launch_context.h"

#include "base/err.h"
#include "base/names.h"
#include "config/datadir.h"
#include "config/pointer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void launch_begin(struct launch_context *t, struct launch *l)
{
    struct arena *arena = &l->loader->arena;
    struct value *nothing = ARENA_NEW(arena, struct value);
    struct python_call *call = ARENA_NEW(arena, struct python_call);
    *nothing = (struct value) { .kind = VALUE_DICT, .line = 1 };
    *call = (struct python_call) { .function = "", .line = 1, .arguments = nothing };
    *t = (struct launch_context) {
        .l = l,
        .arena = arena,
        .call = call,
        .tree = json_pack("{s:{}, s:{}}", "cluster", "training"),
        .microbatches = 1,
    };
}

struct cfg launch_names(struct launch_context *t, const char *table)
{
    if (!t->names.json)
        t->names =
            datadir_load(t->l->loader, "models/launch", "names", (struct cfg) { 0 });
    return cfg_get(t->names, table);
}

struct cfg launch_names_row(struct launch_context *t, const char *table, const char *id,
                            const char **rest)
{
    struct cfg names = launch_names(t, table), found = { 0 };
    size_t longest = 0;
    for (void *it = cfg_first(names); it; it = cfg_next(names, it)) {
        const char *key = cfg_key(it);
        size_t n = strlen(key);
        bool open = n && key[n - 1] == '*';
        bool fits = open ? strncmp(key, id, n - 1) == 0 : strcmp(key, id) == 0;
        if (!fits || n <= longest)
            continue;
        longest = n;
        found = cfg_member(names, it);
        *rest = id + n - open;
    }
    return found;
}

void launch_note(struct launch *l, int64_t line, enum diag_code code, const char *fmt,
                 ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct diag d = diag_vmake(&l->loader->arena,
                               diag_at_line(DIAG_NOTE, code, l->file, line), fmt, ap);
    va_end(ap);
    for (int64_t i = 0; i < l->notes.n; i++) { /* of a command in a loop */
        const struct diag *o = &l->notes.v[i];
        if (o->line == line && o->file && d.file && strcmp(o->file, d.file) == 0 &&
            strcmp(o->text, d.text) == 0)
            return;
    }
    VEC_PUSH(&l->notes, d);
}

struct diag launch_diag(const struct launch *l, enum diag_code code, int64_t line,
                        int64_t column)
{
    bool shell = !line && launch_is_shell(l->file);
    return (struct diag) { .severity = DIAG_ERROR,
                           .code = code,
                           .file = l->file,
                           .line = line,
                           .column = column,
                           .set = shell ? "/shell" : NULL };
}

struct diag launch_syntax(const struct launch *l, const struct err *err)
{
    return (struct diag) { .severity = DIAG_ERROR,
                           .code = DIAG_SYNTAX,
                           .file = l->file,
                           .line = err->line,
                           .column = err->column };
}

bool launch_is_set(struct cfg root, const char *pointer)
{
    json_t *v = pointer_get(root.json, pointer);
    return v && !json_is_null(v);
}

void launch_note_open(struct launch *l)
{
    for (int64_t i = 0; i < l->unresolved.n; i++) {
        const struct launch_unresolved *open = &l->unresolved.v[i];
        launch_note(l, open->line, DIAG_UNRESOLVED, "%s: %s", open->pointer,
                    open->what);
    }
}

const struct launch_unresolved *launch_unresolved_of(const struct launch *l,
                                                     const char *pointer)
{
    for (int64_t i = 0; i < l->unresolved.n; i++)
        if (strcmp(l->unresolved.v[i].pointer, pointer) == 0)
            return &l->unresolved.v[i];
    return NULL;
}

bool launch_is_unresolved(const struct launch_context *t, const char *pointer)
{
    return launch_unresolved_of(t->l, pointer) != NULL;
}

bool launch_same_word(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(*a == '-' && *b == '_'))
            return false;
    return *a == *b;
}

const struct value_item *launch_hyper(const struct launch_context *t, const char *name)
{
    for (int i = 0; i < t->n_hyper; i++)
        for (int32_t j = 0; t->hyper[i]->kind == VALUE_DICT && j < t->hyper[i]->n; j++)
            if (launch_same_word(t->hyper[i]->items[j].key, name))
                return &t->hyper[i]->items[j];
    return NULL;
}

/* A batch that something else has already decided otherwise. */
static void note_overruled(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    static const char *const batches[] = { "/training/micro_batch_size",
                                           "/training/gradient_accumulation_steps",
                                           NULL };
    int64_t n, has;
    if (t->microbatches > 1 || launch_is_heard(t, it) ||
        !names_listed(batches, row->pointer) || !launch_whole(it->value, &n))
        return;
    const json_t *v = pointer_get(t->tree, row->pointer);
    has = json_is_integer(v) ? (int64_t)json_integer_value(v) : n;
    if (n == has)
        return;
    launch_hear(t, it);
    launch_note(t->l, it->line, DIAG_ASSUMED,
                "%s: %" PRId64 " is passed over, as %" PRId64 " was read before it "
                "(give --set %s=%" PRId64 " where it counts)",
                it->key, n, has, row->pointer, n);
}

void launch_take_rows(struct launch_context *t, const struct dialect_option *rows,
                      const struct value *dict)
{
    for (const struct dialect_option *row = rows; row->name; row++) {
        const struct value_item *it =
            dict ? value_get(dict, row->name) : launch_hyper(t, row->name);
        if (it && launch_has(t, row->pointer))
            note_overruled(t, row, it);
        if (!it || launch_has(t, row->pointer) || launch_is_unresolved(t, row->pointer))
            continue;
        int64_t said = launch_said(t);
        dialect_take(t, row, it);
        if (launch_said(t) != said)
            launch_hear(t, it);
    }
}

bool launch_is_shell(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *dot = strrchr(slash ? slash : file, '.');
    return dot && names_listed(shell_endings, dot);
}
