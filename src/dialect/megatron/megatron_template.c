/* DeepSpeed's configuration as scripts make one of a template that they name:
 * sed "s/ZERO_STAGE/${STAGE}/" template.json | sed ... > config.json
 * (deepspeedai/Megatron-DeepSpeed, examples_deepspeed). Placeholders are plain words. */
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/megatron/megatron.h"

#include "base/file.h"
#include "dialect/source/files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TEMPLATE_MAX_B = 1 << 16, EDITS_MAX = 60 };

struct edit {
    const char *from, *to; /* to: NULL when it is not known */
    int64_t line;
};

struct edits {
    int32_t n;
    struct edit v[EDITS_MAX];
    const char *file; /* the template; NULL: none is named */
};

/* "s/FROM/TO/g" with any mark between. */
static bool read_edit(struct arena *arena, const struct shell_word *w, struct edit *e)
{
    const char *s = w->text, *mark = s + 1;
    if (s[0] != 's' || !s[1] || isalnum((unsigned char)s[1]) || strchr("\\.\n", s[1]))
        return false;
    const char *middle = strchr(mark + 1, *mark),
               *end = middle ? strchr(middle + 1, *mark) : NULL;
    if (!end || middle == mark + 1)
        return false;
    for (const char *c = mark + 1; c < middle; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    *e = (struct edit) {
        .from = arena_strndup(arena, mark + 1, (size_t)(middle - mark - 1)),
        .to = w->why ? NULL
                     : arena_strndup(arena, middle + 1, (size_t)(end - middle - 1)),
        .line = w->line,
    };
    return true;
}

static void collect(struct arena *arena, const struct shell *s, struct edits *out)
{
    *out = (struct edits) { .n = 0 };
    for (int64_t i = 0; i < s->commands.n; i++) {
        const struct shell_command *c = &s->commands.v[i];
        if (c->n < 2 || strcmp(launch_last_part(c->words[0].text), "sed") != 0)
            continue;
        for (int32_t j = 1; j < c->n; j++) {
            const char *dot = strrchr(c->words[j].text, '.');
            if (out->n < EDITS_MAX && read_edit(arena, &c->words[j], &out->v[out->n]))
                out->n++;
            else if (dot && strcmp(dot, ".json") == 0 && !c->words[j].why)
                out->file = c->words[j].text;
        }
    }
}

/* The first edit whose word begins there; the longest of several. */
static const struct edit *edit_at(const struct edits *e, const char *s)
{
    const struct edit *best = NULL;
    for (int32_t i = 0; i < e->n; i++) {
        size_t n = strlen(e->v[i].from);
        if (strncmp(s, e->v[i].from, n) == 0 && (!best || n > strlen(best->from)))
            best = &e->v[i];
    }
    return best;
}

static char *apply(struct arena *arena, const struct edits *e, const char *text)
{
    struct strbuf b;
    strbuf_init(&b);
    while (*text && b.len < TEMPLATE_MAX_B) {
        const struct edit *found = edit_at(e, text);
        if (found)
            strbuf_addstr(&b, found->to ? found->to : "null");
        else
            strbuf_addch(&b, *text);
        text += found ? strlen(found->from) : 1;
    }
    char *made = arena_strdup(arena, strbuf_get(&b));
    strbuf_release(&b);
    return made;
}

/* Whether it is JSON, apart, so that a placeholder that is left is no error. */
static bool is_json(const char *text)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    bool good = cfg_is_object(cfg_parse(&loader, "template", text, strlen(text)));
    cfg_loader_release(&loader);
    return good;
}

const struct value *megatron_template(struct launch_context *t,
                                      const struct launch_command *c)
{
    struct edits e;
    struct err err = { 0 };
    size_t len;
    collect(t->arena, c->shell, &e);
    const char *path =
        e.file ? source_files_next_to(t->arena, t->l->where, e.file) : NULL;
    char *text = path ? file_read(path, TEMPLATE_MAX_B, &len, &err) : NULL;
    const char *made = text ? apply(t->arena, &e, text) : NULL;
    free(text);
    if (!made || !is_json(made))
        return NULL;
    struct value *v =
        (struct value *)(uintptr_t)deepspeed_parse(t->l->loader, t->l->file, made, 1);
    if (v)
        value_move_to(v, e.n ? e.v[0].line : c->command->line);
    launch_note(t->l, c->command->line, DIAG_ASSUMED,
                "DeepSpeed's configuration is made by sed of %.80s", e.file);
    return v;
}

const struct value_item *megatron_template_stage(struct launch_context *t,
                                                 const struct launch_command *c)
{
    struct edits e;
    collect(t->arena, c->shell, &e);
    for (int32_t i = e.n; i-- > 0;) {
        if (strcmp(e.v[i].from, "ZERO_STAGE") != 0 || !e.v[i].to)
            continue;
        struct value_item *it = ARENA_NEW(t->arena, struct value_item);
        *it = (struct value_item) { "sed's ZERO_STAGE", e.v[i].line,
                                    value_new_string(t->arena, e.v[i].to, e.v[i].line,
                                                     0) };
        return it;
    }
    return NULL;
}
