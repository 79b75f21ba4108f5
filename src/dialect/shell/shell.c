#include "dialect/shell/shell.h"

#include "config/lenient.h"
#include "config/place.h"
#include "dialect/shell/shell_machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A variable of one text. */
static void give_one(struct shell_machine *m, const struct shell_given *g,
                     const char *name, const char *value)
{
    struct shell_text t = { 0 };
    struct shell_texts one = { 0 };
    shell_add_string(m, &t, value, (struct shell_char) { .line = (int32_t)g->line });
    shell_texts_take(m, &one, &t);
    shell_assign(m, arena_strdup(m->arena, name), &one, false, false);
    shell_texts_release(&one);
    struct shell_variable *x = shell_find(m, name);
    if (x)
        x->fixed = g->fixed;
}

/* All arguments of the script at once: $@, $1 and so on. */
static void give_arguments(struct shell_machine *m, const struct shell_given *g)
{
    struct shell_text t = { 0 };
    struct shell_texts words = { 0 };
    for (const char *s = g->value + strspn(g->value, " "); *s; s += strspn(s, " ")) {
        size_t len = strcspn(s, " ");
        shell_add_string(m, &t, arena_strndup(m->arena, s, len),
                         (struct shell_char) { .line = (int32_t)g->line });
        shell_texts_take(m, &words, &t);
        s += len;
    }
    m->arguments = shell_arguments_of(m, &words, 0);
    shell_texts_release(&words);
}

/* $3 alone. */
static void give_argument(struct shell_machine *m, const struct shell_given *g)
{
    struct shell_text t = { 0 };
    shell_add_string(m, &t, g->value, (struct shell_char) { .line = (int32_t)g->line });
    shell_give_argument(m, (int32_t)strtol(g->name, NULL, 10), &t);
    shell_text_release(&t);
}

static void bind(struct shell *s, struct shell_machine *m)
{
    for (int64_t i = 0; i < m->variables.n && !m->failed; i++) {
        const struct shell_variable *x = &m->variables.v[i];
        const struct shell_text *t = x->values.n == 1 ? &x->values.v[0] : NULL;
        if (t && t->n && !x->array && !x->absent)
            VEC_PUSH(
                &s->bindings,
                ((struct shell_binding) {
                    x->name, shell_unknown_of(m, t) ? NULL : shell_string(m, t, false),
                    t->v[0].line }));
    }
}

/* What the shell itself sets, and the folder that PBS says a job was submitted from: paths
 * are relative to the script. */
static void give_paths(struct shell_machine *m)
{
    const char *file = m->in->file;
    const char *slash = file ? strrchr(file, '/') : NULL,
               *name = slash ? slash + 1 : file;
    const struct shell_given here = { .line = 1 };
    if (!file)
        return;
    const char *path = arena_printf(m->arena, "./%s", name);
    give_one(m, &here, "0", path);
    give_one(m, &here, "BASH_SOURCE", path);
    give_one(m, &here, "PWD", ".");
    give_one(m, &here, "PBS_O_WORKDIR", ".");
}

int shell_read(struct shell *s, const struct shell_setting *in, struct arena *arena,
               const char *text, size_t len, const struct shell_given *given,
               int32_t n_given, struct err *err)
{
    static const struct shell_setting nowhere = { .file = NULL };
    static const struct shell_hooks hooks = { shell_edit,    shell_answer,
                                              shell_source,  shell_start,
                                              shell_capture, shell_calculate };
    *s = (struct shell) { .arena = arena };
    size_t bad = lenient_bad_byte(text, len);
    if (len > SHELL_TEXT_MAX_B)
        return err_set(err,
                       "it is longer than %d KiB (give the part that starts the "
                       "training)",
                       SHELL_TEXT_MAX_B >> 10);
    if (bad < len)
        return err_set_at(err, (int)place_of(text, bad).line, 1,
                          "the line is no text in UTF-8 (save it as such)");
    struct shell_machine m = { .out = s,
                               .arena = arena,
                               .at = shell_characters(arena, text, len,
                                                      in ? in->line : 0),
                               .err = err,
                               .in = in ? in : &nowhere,
                               .directory = ".",
                               .reading = { arena_strndup(arena, text, len) },
                               .status = SHELL_YES,
                               .arguments = { .open = true },
                               .hooks = &hooks };
    give_paths(&m);
    for (int32_t i = 0; i < n_given; i++)
        if (strcmp(given[i].name, "@") == 0)
            give_arguments(&m, &given[i]);
        else if (given[i].name[0] >= '1' && given[i].name[0] <= '9')
            give_argument(&m, &given[i]);
        else
            give_one(&m, &given[i], given[i].name, given[i].value);
    while (!shell_ends(&m))
        shell_list(&m, NULL);
    bind(s, &m);
    VEC_RELEASE(&m.variables);
    VEC_RELEASE(&m.functions);
    VEC_RELEASE(&m.unknowns);
    VEC_RELEASE(&m.locals);
    return m.failed ? -1 : 0;
}

void shell_release(struct shell *s)
{
    VEC_RELEASE(&s->commands);
    VEC_RELEASE(&s->files);
    VEC_RELEASE(&s->notes);
    VEC_RELEASE(&s->bindings);
    VEC_RELEASE(&s->choices);
}
