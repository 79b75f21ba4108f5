/* Words of a shell script: quotes, and where variables are split. */
#include "dialect/shell/shell_machine.h"

#include <string.h>

/* The words that are being made of one word of the text. */
struct making {
    struct shell_texts *done;
    struct shell_text now;
    bool has;   /* `now` is a word, though it may be empty */
    bool split; /* unquoted variables end words at their blanks */
};

static bool is_blank(struct shell_char x)
{
    return !x.unknown && (x.c == ' ' || x.c == '\t' || x.c == '\n' || x.c == '\r');
}

static void end_word(struct shell_machine *m, struct making *w)
{
    if (w->has && w->split)
        shell_expand_braces(m, &w->now, w->done);
    else if (w->has)
        shell_texts_take(m, w->done, &w->now);
    shell_text_release(&w->now);
    w->has = false;
}

static void add(struct shell_machine *m, struct making *w, struct shell_char x,
                enum shell_from from)
{
    w->has = true;
    x.from = (uint8_t)from;
    shell_push(m, &w->now, x);
}

/* Blanks of IFS end a word; each of its other characters does, an empty one, too. */
static void add_split(struct shell_machine *m, struct making *w,
                      const struct shell_text *t)
{
    const char *by = shell_separators(m);
    for (int32_t i = 0; i < t->n && !m->failed; i++) {
        bool ends = by ? !t->v[i].unknown && strchr(by, t->v[i].c) : is_blank(t->v[i]);
        if (!ends) {
            add(m, w, t->v[i], SHELL_EXPANDED);
            continue;
        }
        w->has |= !is_blank(t->v[i]);
        end_word(m, w);
    }
}

/* Between texts that are one word: "${x[*]}" has the first character of IFS there. */
static void add_between(struct shell_machine *m, struct making *w, bool fields)
{
    const char *by = fields ? NULL : shell_separators(m);
    struct shell_char x = { .c = by ? *by : ' ',
                            .line = w->now.n ? w->now.v[0].line : 1 };
    if (x.c)
        add(m, w, x, SHELL_QUOTED);
}

/* What "$..." gave: `quoted`, its texts are joined, or words of their own. */
static void add_texts(struct shell_machine *m, struct making *w,
                      const struct shell_texts *t, bool fields, bool quoted)
{
    for (int32_t i = 0; i < t->n && !m->failed; i++) {
        if (i > 0 && w->split && (fields || !quoted))
            end_word(m, w);
        else if (i > 0)
            add_between(m, w, fields);
        if (!quoted && w->split) {
            add_split(m, w, &t->v[i]);
            continue;
        }
        for (int32_t j = 0; j < t->v[i].n && !m->failed; j++)
            add(m, w, t->v[i].v[j], quoted ? SHELL_QUOTED : SHELL_EXPANDED);
        w->has |= quoted || t->v[i].n > 0;
    }
}

static void read_dollar(struct shell_machine *m, struct making *w, bool quoted)
{
    struct shell_texts t = { 0 };
    bool fields = false;
    shell_dollar(m, &t, &fields);
    add_texts(m, w, &t, fields, quoted);
    shell_texts_release(&t);
}

static void read_backtick(struct shell_machine *m, struct making *w)
{
    struct shell_text t = { 0 };
    shell_backtick(m, &t);
    shell_append(m, &w->now, &t);
    w->has = true;
    shell_text_release(&t);
}

static void not_closed(struct shell_machine *m, int32_t from, char quote)
{
    shell_fail(m, &m->at.v[from], "the quote is never closed (add a %c)", quote);
}

static void read_single(struct shell_machine *m, struct making *w)
{
    int32_t from = m->at.i++;
    w->has = true;
    while (!shell_ends(m) && !shell_at(m, "'"))
        add(m, w, m->at.v[m->at.i++], SHELL_QUOTED);
    if (shell_ends(m))
        not_closed(m, from, '\'');
    m->at.i++;
}

static void read_double(struct shell_machine *m, struct making *w)
{
    int32_t from = m->at.i++;
    w->has = w->has || !shell_at(m, "$"); /* "${none[@]}" is no word */
    while (!shell_ends(m) && !shell_at(m, "\"")) {
        char next = shell_peek(m, 1).c;
        if (shell_at(m, "\\\n")) {
            m->at.i += 2;
        } else if (shell_at(m, "\\") && next && strchr("$`\"\\", next)) {
            add(m, w, m->at.v[m->at.i + 1], SHELL_QUOTED);
            m->at.i += 2;
        } else if (shell_at(m, "$")) {
            read_dollar(m, w, true);
        } else if (shell_at(m, "`")) {
            read_backtick(m, w);
        } else {
            add(m, w, m->at.v[m->at.i++], SHELL_QUOTED);
        }
        shell_works(m, 1);
    }
    if (shell_ends(m))
        not_closed(m, from, '"');
    m->at.i++;
}

/* <( ), >( ) and "<PATH TO DATA>": what is to be there. */
static void read_angle(struct shell_machine *m, struct making *w)
{
    struct shell_char x = shell_peek(m, 0);
    int32_t n = shell_placeholder(m);
    m->at.i += n ? n : 2;
    if (!n && !shell_skip_brackets(m, '(', ')'))
        shell_fail(m, &x, "the bracket is never closed (add a ))");
    x.unknown = n ? shell_not_known(m, "<...>", false, "<...> is a place to fill in")
                  : shell_not_known(m, "<(...)", false, "<(...) is made by a command");
    add(m, w, x, SHELL_EXPANDED);
}

/* $'a\nb' */
static void read_escaped(struct shell_machine *m, struct making *w)
{
    static const char letters[] = "ntr\\'\"", meant[] = "\n\t\r\\'\"";
    int32_t from = m->at.i++;
    w->has = true;
    while (!shell_ends(m) && !shell_at(m, "'")) {
        struct shell_char x = shell_peek(m, 0), next = shell_peek(m, 1);
        const char *letter =
            x.c == '\\' && !x.unknown && next.c ? strchr(letters, next.c) : NULL;
        x.c = letter ? meant[letter - letters] : x.c;
        add(m, w, x, SHELL_QUOTED);
        m->at.i += letter ? 2 : 1;
    }
    if (shell_ends(m))
        not_closed(m, from, '\'');
    m->at.i++;
}

static void read_piece(struct shell_machine *m, struct making *w)
{
    struct shell_char x = shell_peek(m, 0);
    if (!x.unknown && strchr("<>", x.c)) {
        read_angle(m, w);
    } else if (x.unknown || !strchr("\\'\"$`", x.c)) {
        add(m, w, x, SHELL_WRITTEN);
        m->at.i++;
    } else if (x.c == '\\') {
        bool line = shell_at(m, "\\\n");
        if (!line && m->at.i + 1 < m->at.n)
            add(m, w, shell_peek(m, 1), SHELL_QUOTED);
        m->at.i += 2;
    } else if (x.c == '\'') {
        read_single(m, w);
    } else if (x.c == '"') {
        read_double(m, w);
    } else if (x.c == '$' && shell_at(m, "$'")) {
        m->at.i++;
        read_escaped(m, w);
    } else if (x.c == '$' && shell_at(m, "$\"")) { /* of a locale */
        m->at.i++;
        read_double(m, w);
    } else if (x.c == '$') {
        read_dollar(m, w, false);
    } else {
        read_backtick(m, w);
    }
}

void shell_read_word(struct shell_machine *m, struct shell_texts *out, bool split)
{
    struct making w = { .done = out, .split = split };
    bool quiet = m->mode == SHELL_SKIP;
    struct shell_texts none = { 0 };
    if (quiet)
        w.done = &none;
    while (!shell_ends(m) && !shell_word_ends(m)) {
        read_piece(m, &w);
        shell_works(m, 1);
    }
    end_word(m, &w);
    shell_text_release(&w.now);
    shell_texts_release(&none);
}

void shell_read_text(struct shell_machine *m, struct shell_text *out)
{
    struct shell_texts all = { 0 };
    shell_read_word(m, &all, false);
    if (all.n)
        *out = all.v[0];
    if (all.n)
        all.v[0] = (struct shell_text) { 0 };
    shell_texts_release(&all);
}
