/* Whether grep -q finds its pattern: conditions on what a script has printed itself. */
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <string.h>

enum { TEXT_MAX_B = 1 << 16, PATTERN_MAX_B = 200 };

/* What is asked for; a pattern is plain but for "." where it is a regular expression. */
struct search {
    const char *pattern; /* NULL: it is not followed */
    bool quiet, fixed, any_case;
};

/* One word of options, "-qF"; false: one is not followed. */
static bool take_options(struct search *s, const char *letters)
{
    for (; *letters; letters++) {
        s->quiet |= *letters == 'q';
        s->fixed |= *letters == 'F';
        s->any_case |= *letters == 'i';
        if (!strchr("qFiEse", *letters))
            return false;
    }
    return true;
}

static bool is_plain(const char *pattern, bool fixed)
{
    size_t n = strlen(pattern);
    for (const char *c = pattern; *c; c++)
        if (!fixed && !isalnum((unsigned char)*c) && !strchr("-_=/:,.@ ", *c))
            return false;
    return n > 0 && n < PATTERN_MAX_B;
}

/* grep [-qFiE] [--] PATTERN, of its input. */
static struct search search_of(struct shell_machine *m, const struct shell_texts *w)
{
    struct search s = { 0 };
    int32_t i = 1;
    for (; i < w->n && w->v[i].n > 1 && w->v[i].v[0].c == '-'; i++) {
        const char *word = shell_string(m, &w->v[i], false);
        if (strcmp(word, "--") == 0) {
            i++;
            break;
        }
        if (shell_unknown_of(m, &w->v[i]) || !take_options(&s, word + 1))
            return (struct search) { 0 };
    }
    if (i + 1 == w->n && !shell_unknown_of(m, &w->v[i]))
        s.pattern = shell_string(m, &w->v[i], false);
    if (s.pattern && !is_plain(s.pattern, s.fixed))
        s.pattern = NULL;
    return s;
}

static bool is_here(const struct search *s, const char *text)
{
    for (const char *p = s->pattern; *p; p++, text++) {
        bool same = s->any_case
                        ? tolower((unsigned char)*p) == tolower((unsigned char)*text)
                        : *p == *text;
        if (!*text || (!same && (s->fixed || *p != '.' || *text == '\n')))
            return false;
    }
    return true;
}

enum shell_status shell_grep(struct shell_machine *m, const struct shell_simple *c)
{
    const struct shell_text *input = c->to.has_input      ? &c->to.input
                                     : c->to.has_document ? &c->to.document
                                                          : &m->input;
    struct search s = search_of(m, &c->words);
    if (!s.quiet || !s.pattern || !input->v || input->n > TEXT_MAX_B ||
        shell_unknown_of(m, input))
        return SHELL_DONE;
    const char *text = shell_string(m, input, true);
    shell_works(m, (int64_t)strlen(text));
    for (; *text; text++)
        if (is_here(&s, text))
            return SHELL_YES;
    return SHELL_NO;
}
