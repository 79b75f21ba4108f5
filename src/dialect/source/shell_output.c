/* What a command prints while the statements of $( ) are followed. */
#include "dialect/source/shell_machine.h"

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

static bool add_format(struct shell_machine *m, const struct shell_texts *w,
                       struct shell_char place)
{
    const char **words = ARENA_ARRAY(m->arena, w->n, const char *);
    for (int32_t i = 0; i < w->n; i++) {
        if (shell_unknown_of(m, &w->v[i]))
            return false;
        words[i] = shell_string(m, &w->v[i], false);
    }
    const char *text = shell_printf(m, words, (int)w->n);
    if (text)
        shell_add_string(m, &m->capture->text, text, place);
    return text;
}

void shell_capture_print(struct shell_machine *m, const struct shell_simple *c)
{
    const struct shell_texts *w = &c->words;
    struct shell_capture *to = m->capture;
    struct shell_char place = { .line = c->line };
    bool printed = m->mode == to->mode;
    if (c->to.has_file || c->to.elsewhere)
        return;
    if (shell_is(&w->v[0], "echo"))
        add_words(m, w, place);
    else if (shell_is(&w->v[0], "printf"))
        printed &= add_format(m, w, place);
    else if (shell_is(&w->v[0], "cat") && w->n == 1 && c->to.has_document)
        shell_append(m, &to->text, &c->to.document);
    else
        printed = false;
    to->lost |= !printed;
}
