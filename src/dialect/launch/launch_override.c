#include "dialect/launch/launch_override.h"

#include "base/file.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/source/document.h"
#include "dialect/source/toml.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_B = 1 << 20, MEMBER_VALUES_MAX = 100 };

/* Documents ------------------------------------------------------------------------ */

static bool is_named(const char *text)
{
    return document_is(text) && !document_is_json(text);
}

bool launch_names_document(const struct launch_command *c, struct launch_named *out)
{
    const struct shell_word *w = c->command->words;
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        const char *equals = strchr(w[i].text, '=');
        bool option = w[i].text[0] == '-', follows = i > c->script + 1 &&
                                                     w[i - 1].text[0] == '-' &&
                                                     !strchr(w[i - 1].text, '=') &&
                                                     !strstr(w[i - 1].text, "config") &&
                                                     strcmp(w[i - 1].text, "-c") != 0;
        const char *text = option && equals && strstr(w[i].text, "config") ? equals + 1
                           : option || equals                              ? ""
                                                                           : w[i].text;
        if (!follows && is_named(text)) {
            *out = (struct launch_named) { &w[i], text };
            return true;
        }
    }
    return false;
}

static struct value *parse(struct launch *l, const char *name, const char *text,
                           size_t len)
{
    struct arena *arena = &l->loader->arena;
    struct err err = { 0 };
    struct yaml y = { 0 };
    struct value *root = NULL;
    if (strcmp(strrchr(name, '.'), ".toml") == 0)
        return toml_read(arena, text, len, &err);
    if (yaml_read(&y, arena, text, len, &err) == 0 && y.documents.n > 0)
        root = y.documents.v[0];
    yaml_release(&y);
    return root;
}

const char *launch_written_text(const struct launch *l, const struct shell *s,
                                const char *name)
{
    for (int64_t i = s ? s->files.n : 0; i-- > 0;)
        if (strcmp(launch_last_part(s->files.v[i].name), launch_last_part(name)) == 0)
            return s->files.v[i].text;
    const struct source_file *own = launch_own_file(l, name);
    return own ? own->text : NULL;
}

const char *launch_path_next_to(struct launch *l, const char *name, int64_t line)
{
    struct arena *arena = &l->loader->arena;
    const char *path = source_files_next_to(arena, l->where, name),
               *last = launch_last_part(name);
    if (path || last == name)
        return path;
    path = source_files_next_to(arena, l->where, last);
    for (int64_t i = 0; i < l->notes.n; i++)
        if (l->notes.v[i].line == line && strstr(l->notes.v[i].text, last))
            return path;
    if (path)
        launch_note(l, line, DIAG_ASSUMED, "\"%.80s\" is taken to be %.80s", name,
                    path);
    return path;
}

struct value *launch_open_document(struct launch *l, const struct launch_command *c,
                                   const char *name, int64_t line)
{
    struct err err = { 0 };
    size_t len = 0;
    const char *own = launch_written_text(l, c->shell, name);
    const char *path = own ? NULL : launch_path_next_to(l, name, line);
    char *text = path ? file_read(path, FILE_MAX_B, &len, &err) : NULL;
    struct value *root = NULL;
    if (own)
        root = parse(l, name, own, strlen(own));
    else if (text)
        root = parse(l, name, text, len);
    free(text);
    if (!root || root->kind != VALUE_DICT)
        return NULL;
    value_move_to(root, line);
    return root;
}

void launch_lost(struct launch *l, const char *name, int64_t line, const char *what)
{
    diags_add(&l->loader->diags,
              diag_at_line(DIAG_ERROR, DIAG_UNREADABLE, l->file, line), "\"%.80s\" %s",
              name, what);
}

/* Overrides ------------------------------------------------------------------------ */

/* A scalar, or a list or a dictionary in brackets. */
static struct value *value_of(struct arena *arena, const struct shell_word *w,
                              const char *text)
{
    struct yaml y = { 0 };
    struct err err = { 0 };
    struct value *v = NULL;
    if (w->why)
        return launch_word_value(arena, w, text);
    if ((text[0] == '[' || text[0] == '{') &&
        yaml_read(&y, arena, text, strlen(text), &err) == 0 && y.documents.n > 0)
        v = y.documents.v[0];
    yaml_release(&y);
    v = v ? v : yaml_plain(arena, text, w->line, w->column);
    value_move_to(v, w->line);
    return v;
}

static struct value *member(struct arena *arena, struct value *dict, const char *key,
                            int64_t line)
{
    const struct value_item *it = value_get(dict, key);
    if (!it) {
        value_add(arena, dict, key, line, value_new(arena, VALUE_NONE, line, 0));
        it = value_get(dict, key);
    }
    return it->value;
}

void launch_override_value(struct arena *arena, struct value *root, const char *path,
                           const struct value *v)
{
    struct value *at = root;
    for (int depth = 0; *path && depth < LAUNCH_OVERRIDE_DEPTH_MAX; depth++) {
        size_t n = strcspn(path, ".");
        if (at->kind != VALUE_DICT)
            *at = (struct value) { .kind = VALUE_DICT, .line = v->line };
        at = member(arena, at, arena_strndup(arena, path, n), v->line);
        path += n + (path[n] == '.');
    }
    const struct value_item *component = value_get(at, "_component_");
    if (component && v->kind == VALUE_STRING)
        at = component->value;
    *at = *v;
}

void launch_override_members(struct arena *arena, struct value *root, struct cfg from,
                             int64_t line)
{
    for (void *it = cfg_first(from); it; it = cfg_next(from, it)) {
        int64_t budget = MEMBER_VALUES_MAX;
        const struct value *v =
            value_of_json(cfg_member(from, it), MEMBER_VALUES_MAX, "values");
        struct value *own = v ? value_copy(arena, v, &budget) : NULL;
        if (!own)
            continue;
        value_move_to(own, line);
        launch_override_value(arena, root, cfg_key(it), own);
    }
}

void launch_override(struct arena *arena, struct value *root, const char *path,
                     const struct shell_word *w, const char *text)
{
    launch_override_value(arena, root, path, value_of(arena, w, text));
}

/* "~a.b": the key goes, as if it were not written. */
static void take_away(struct value *root, const char *path)
{
    struct value *at = root;
    for (int depth = 0; depth < LAUNCH_OVERRIDE_DEPTH_MAX; depth++) {
        size_t n = strcspn(path, ".");
        int32_t i = 0;
        while (i < at->n && !(at->items[i].key && strlen(at->items[i].key) == n &&
                              strncmp(at->items[i].key, path, n) == 0))
            i++;
        if (at->kind != VALUE_DICT || i == at->n)
            return;
        if (!path[n]) {
            value_remove(at, i);
            return;
        }
        at = at->items[i].value;
        path += n + 1;
    }
}

void launch_take_overrides(struct arena *arena, struct value *root,
                           const struct launch_command *c)
{
    const struct shell_word *w = c->command->words;
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        const char *key = w[i].text + strspn(w[i].text, "+"),
                   *equals = strchr(key, '=');
        if (*key == '~')
            take_away(root, arena_strndup(arena, key + 1, strcspn(key + 1, "=")));
        else if (*key != '-' && equals && equals > key)
            launch_override(arena, root,
                            arena_strndup(arena, key, (size_t)(equals - key)), &w[i],
                            equals + 1);
    }
}

void launch_note_options(struct launch_context *t, const struct launch_command *c,
                         const char *but)
{
    struct launch_idle idle;
    launch_idle_init(&idle, t->l, c->command->line, "");
    for (int32_t i = 0; i < c->options.n; i++)
        if (!strstr(c->options.items[i].key, but))
            launch_idle_add(&idle, "%s", c->options.items[i].key);
    launch_idle_end(&idle);
}

/* Interpolations ------------------------------------------------------------------- */

static void restore_value(struct value *v)
{
    if (v->kind == VALUE_UNKNOWN && v->text && strstr(v->text, "${"))
        v->kind = VALUE_STRING;
    for (int32_t i = 0; i < v->n; i++)
        restore_value(v->items[i].value);
}

void launch_interpolate(struct launch *l, struct value *root)
{
    struct yaml y = { .arena = &l->loader->arena, .left = YAML_VALUES_MAX };
    restore_value(root);
    yaml_interpolate(&y, root);
    for (int64_t i = 0; i < y.notes.n; i++)
        launch_note(l, y.notes.v[i].line, DIAG_ASSUMED, "%s", y.notes.v[i].text);
    yaml_release(&y);
}
