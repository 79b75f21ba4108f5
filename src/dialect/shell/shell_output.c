/* What a command prints while the statements of $( ) are followed. */
#include "dialect/shell/shell_machine.h"

#include <string.h>

void shell_capture_lose(struct shell_machine *m)
{
    if (m->capture && m->mode != SHELL_SKIP)
        m->capture->lost = true;
}

static void add_words(struct shell_machine *m, const struct shell_texts *w,
                      struct shell_char place)
{
    struct shell_text *to = &m->capture->text;
    bool line = !(w->n > 1 && shell_is(&w->v[1], "-n"));
    int32_t first = line && !(w->n > 1 && shell_is(&w->v[1], "-e")) ? 1 : 2;
    for (int32_t i = first; i < w->n; i++) {
        if (i > first)
            shell_add_string(m, to, " ", place);
        shell_append(m, to, &w->v[i]);
    }
    if (line)
        shell_add_string(m, to, "\n", place);
}

/* printf, and commands of which words say all (shell_answer.c): these end a line. */
static bool add_output(struct shell_machine *m, const struct shell_texts *w,
                       struct shell_char place)
{
    const char **words = ARENA_ARRAY(m->arena, w->n, const char *);
    for (int32_t i = 0; i < w->n; i++) {
        if (shell_unknown_of(m, &w->v[i]))
            return false;
        words[i] = shell_string(m, &w->v[i], false);
    }
    bool formats = strcmp(words[0], "printf") == 0;
    const char *text = formats ? shell_printf(m, words, (int)w->n)
                               : shell_output_of(m, words, (int)w->n);
    if (text)
        shell_add_string(m, &m->capture->text, text, place);
    if (text && !formats)
        shell_add_string(m, &m->capture->text, "\n", place);
    return text;
}

/* Of those that print nothing. */
static bool is_silent(const struct shell_text *name)
{
    static const char *const names[] = { "mkdir", "touch", "rm",   "cp",    "mv", "ln",
                                         "chmod", "chown", "sync", "sleep", NULL };
    for (const char *const *n = names; *n; n++)
        if (shell_is(name, *n))
            return true;
    return false;
}

void shell_capture_print(struct shell_machine *m, const struct shell_simple *c)
{
    const struct shell_texts *w = &c->words;
    struct shell_capture *to = m->capture;
    struct shell_char place = { .line = c->line };
    bool printed = m->mode == to->mode;
    if (c->to.has_file || c->to.elsewhere || is_silent(&w->v[0]))
        return;
    if (shell_is(&w->v[0], "echo"))
        add_words(m, w, place);
    else if (shell_is(&w->v[0], "cat") && w->n == 1 && c->to.has_document)
        shell_append(m, &to->text, &c->to.document);
    else
        printed &= add_output(m, w, place);
    to->lost |= !printed;
}
