/* Conditions of a shell script: [ ], [[ ]] and patterns. */
#include "dialect/shell/shell_machine.h"

#include "base/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Patterns ------------------------------------------------------------------------- */

static bool is_sign(const struct shell_text *p, int32_t i, char c)
{
    return i < p->n && p->v[i].c == c && p->v[i].from != SHELL_QUOTED;
}

/* [:digit:] at i: whether c is of it, and its length; 0: it is no class. */
static int32_t class_at(const struct shell_text *p, int32_t i, unsigned char c,
                        bool *in)
{
    static const struct {
        const char *name;
        int (*has)(int c);
    } classes[] = {
        { "[:digit:]", isdigit }, { "[:alpha:]", isalpha },   { "[:alnum:]", isalnum },
        { "[:lower:]", islower }, { "[:upper:]", isupper },   { "[:space:]", isspace },
        { "[:punct:]", ispunct }, { "[:xdigit:]", isxdigit },
    };
    for (size_t k = 0; k < sizeof(classes) / sizeof(classes[0]); k++) {
        int32_t n = (int32_t)strlen(classes[k].name), j = 0;
        while (j < n && i + j < p->n && p->v[i + j].c == classes[k].name[j])
            j++;
        if (j < n)
            continue;
        *in |= classes[k].has(c) != 0;
        return n;
    }
    return 0;
}

/* [a-z], [!0-9], [[:digit:]] at j: its length, and whether c is of it; 0: it is never
 * closed, and so a bracket. */
static int32_t set_at(const struct shell_text *p, int32_t j, unsigned char c, bool *in)
{
    bool has = false, other = is_sign(p, j + 1, '!') || is_sign(p, j + 1, '^');
    int32_t from = j + 1 + other;
    for (int32_t i = from; i < p->n; i++) {
        unsigned char first = (unsigned char)p->v[i].c;
        int32_t class = is_sign(p, i, '[') ? class_at(p, i, c, &has) : 0;
        if (is_sign(p, i, ']') && i > from) {
            *in = has != other;
            return i + 1 - j;
        }
        if (class) {
            i += class - 1;
        } else if (is_sign(p, i + 1, '-') && i + 2 < p->n && !is_sign(p, i + 2, ']')) {
            has |= c >= first && c <= (unsigned char)p->v[i + 2].c;
            i += 2;
        } else {
            has |= c == first;
        }
    }
    return 0;
}

/* What of the pattern at j is for one character: its length, and whether c is it. */
static int32_t one_at(struct shell_machine *m, const struct shell_text *p, int32_t j,
                      char c, bool *in)
{
    int32_t n = is_sign(p, j, '[') ? set_at(p, j, (unsigned char)c, in) : 0;
    shell_works(m, is_sign(p, j, '[') ? p->n - j : 0);
    if (n)
        return n;
    *in = p->v[j].c == c || is_sign(p, j, '?');
    return 1;
}

/* "*", "?" and "[a-z]"; the rest, and what is quoted, as written. Backtracks to the last
 * "*" alone. */
bool shell_matches(struct shell_machine *m, const struct shell_text *t,
                   const struct shell_text *pattern)
{
    int32_t i = 0, j = 0, star = -1, from = 0;
    while (i < t->n && !shell_works(m, 1)) {
        bool same = false, any = is_sign(pattern, j, '*');
        int32_t n =
            j < pattern->n && !any ? one_at(m, pattern, j, t->v[i].c, &same) : 0;
        if (any) {
            star = j++;
            from = i;
        } else if (same) {
            i++;
            j += n;
        } else if (star >= 0) {
            j = star + 1;
            i = ++from;
        } else {
            return false;
        }
    }
    while (is_sign(pattern, j, '*'))
        j++;
    return j == pattern->n;
}

/* One comparison ------------------------------------------------------------------- */

static enum shell_status status_of(bool yes)
{
    return yes ? SHELL_YES : SHELL_NO;
}

static enum shell_status opposite(enum shell_status s)
{
    return s == SHELL_YES ? SHELL_NO : s == SHELL_NO ? SHELL_YES : SHELL_UNKNOWN;
}

/* What decides whether the condition is known is remembered, to be reported. */
static bool is_known(struct shell_machine *m, const struct shell_text *t)
{
    for (int32_t i = 0; i < t->n; i++) {
        if (!t->v[i].unknown)
            continue;
        m->because = t->v[i].unknown;
        return false;
    }
    return true;
}

/* Whether a text is empty; one that nobody set is. */
static enum shell_status is_empty(struct shell_machine *m, const struct shell_text *t)
{
    const struct shell_unknown *u = shell_unknown_of(m, t);
    if (!u)
        return status_of(t->n == 0);
    if (t->n > 1)
        return SHELL_NO;
    m->out->optional |= u->unset && u->argument && strcmp(u->ask, "1") == 0;
    return u->unset ? SHELL_YES : is_known(m, t) ? SHELL_YES : SHELL_UNKNOWN;
}

/* The text that is compared: what only a loop over arguments sets, of which there are
 * none, is empty. */
static const struct shell_text *compared(const struct shell_machine *m,
                                         const struct shell_text *t)
{
    static const struct shell_text empty;
    const struct shell_unknown *u = t->n == 1 ? shell_unknown_of(m, t) : NULL;
    return u && u->passed ? &empty : t;
}

static enum shell_status compare_numbers(struct shell_machine *m,
                                         const struct shell_text *a, const char *op,
                                         const struct shell_text *b)
{
    static const char *const words[] = { "-eq", "-ne", "-lt", "-le", "-gt", "-ge" };
    int64_t x, y;
    int32_t why;
    if (!is_known(m, a) || !is_known(m, b))
        return SHELL_UNKNOWN;
    if (!shell_calculate(m, a, &x, &why) || !shell_calculate(m, b, &y, &why)) {
        m->because = why;
        return SHELL_UNKNOWN;
    }
    const bool holds[] = { x == y, x != y, (x < y), x <= y, (x > y), x >= y };
    for (int i = 0; i < 6; i++)
        if (strcmp(op, words[i]) == 0)
            return status_of(holds[i]);
    return SHELL_UNKNOWN;
}

static bool same_text(const struct shell_text *a, const struct shell_text *b)
{
    bool same = a->n == b->n;
    for (int32_t i = 0; same && i < a->n; i++)
        same = a->v[i].c == b->v[i].c;
    return same;
}

/* Of a text that is not all known, by what comes before that: "--data=$X" is no "--run*",
 * and is "--data*". */
static enum shell_status by_head(struct shell_machine *m, const struct shell_text *a,
                                 const struct shell_text *b, bool patterns)
{
    if (!is_known(m, b))
        return SHELL_UNKNOWN;
    for (int32_t i = 0; i < a->n && !a->v[i].unknown; i++) {
        if (patterns && is_sign(b, i, '*') && i + 1 == b->n)
            return SHELL_YES;
        if (patterns &&
            (is_sign(b, i, '*') || is_sign(b, i, '?') || is_sign(b, i, '[')))
            break;
        if (i == b->n || a->v[i].c != b->v[i].c)
            return SHELL_NO;
    }
    return is_known(m, a) ? SHELL_YES : SHELL_UNKNOWN;
}

static enum shell_status compare(struct shell_machine *m, const struct shell_text *a,
                                 const struct shell_text *op,
                                 const struct shell_text *b, bool patterns)
{
    static const char *const numbers[] = { "-eq", "-ne", "-lt", "-le",
                                           "-gt", "-ge", NULL };
    char word[4] = "";
    for (int32_t i = 0; i < op->n && i < 3; i++)
        word[i] = op->v[i].c;
    bool same = shell_is(op, "=") || shell_is(op, "=="), differs = shell_is(op, "!=");
    if (names_listed(numbers, word))
        return compare_numbers(m, a, word, b);
    if (!same && !differs)
        return SHELL_UNKNOWN;
    shell_compares(m, a, b);
    a = compared(m, a);
    b = compared(m, b);
    enum shell_status s =
        b->n == 0   ? is_empty(m, a)
        : a->n == 0 ? is_empty(m, b)
        : is_known(m, a) && is_known(m, b)
            ? status_of(patterns ? shell_matches(m, a, b) : same_text(a, b))
            : by_head(m, a, b, patterns);
    return differs ? opposite(s) : s;
}

/* [[ -v X ]] of what the script may have set itself. */
static enum shell_status is_set(struct shell_machine *m, const struct shell_text *name)
{
    const struct shell_variable *x = shell_look(m, shell_string(m, name, false));
    if (x && x->values.n && !x->gone && !is_known(m, &x->values.v[0]))
        return SHELL_UNKNOWN;
    return status_of(x && !x->gone);
}

/* Expressions ---------------------------------------------------------------------- */

struct test {
    struct shell_machine *m;
    const struct shell_texts *words;
    int32_t i, n;
    int depth;
    bool patterns; /* it is [[ ]] */
};

static enum shell_status any(struct test *t);

static bool takes(struct test *t, const char *a, const char *b)
{
    bool is = t->i < t->n &&
              (shell_is(&t->words->v[t->i], a) || shell_is(&t->words->v[t->i], b));
    t->i += is;
    return is;
}

static bool is_comparison(const struct shell_text *t)
{
    static const char *const words[] = { "=",   "==",  "!=",  "=~",  "-eq",
                                         "-ne", "-lt", "-le", "-gt", "-ge" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (shell_is(t, words[i]))
            return true;
    return false;
}

/* Whether a path is of a file that is at hand, as the script is: it is taken to be no
 * link. */
static bool is_at_hand(struct shell_machine *m, const struct shell_text *t)
{
    return m->in->file && !shell_unknown_of(m, t) &&
           shell_file_text(m, shell_string(m, t, false));
}

static enum shell_status one(struct test *t)
{
    const struct shell_text *w = &t->words->v[t->i];
    int32_t left = t->n - t->i;
    if (left <= 0 || t->depth > SHELL_DEPTH_MAX)
        return SHELL_NO;
    if (left > 1 && takes(t, "!", "!")) {
        t->depth++;
        return opposite(one(t));
    }
    if (left > 2 && takes(t, "(", "(")) {
        t->depth++;
        enum shell_status s = any(t);
        takes(t, ")", ")");
        return s;
    }
    bool two = left > 1 && w->n == 2 && !w->v[0].unknown && w->v[0].c == '-';
    if (two && !(left > 2 && is_comparison(&w[1]))) {
        t->i += 2;
        if (w->v[1].c == 'z')
            return is_empty(t->m, &w[1]);
        if (w->v[1].c == 'n')
            return opposite(is_empty(t->m, &w[1]));
        bool link = w->v[1].c == 'L' || w->v[1].c == 'h';
        if (link && is_at_hand(t->m, &w[1]))
            return SHELL_NO;
        if (w->v[1].c == 'v' && !shell_unknown_of(t->m, &w[1]))
            return is_set(t->m, &w[1]);
        t->m->because =
            shell_not_known(t->m, "?", false, "it asks for a file or the like");
        return SHELL_UNKNOWN;
    }
    bool joined = left > 1 && (shell_is(&w[1], "&&") || shell_is(&w[1], "||") ||
                               shell_is(&w[1], "-a") || shell_is(&w[1], "-o") ||
                               shell_is(&w[1], ")"));
    if (left > 2 && !joined) {
        t->i += 3;
        return compare(t->m, &w[0], &w[1], &w[2], t->patterns);
    }
    t->i++;
    return opposite(is_empty(t->m, w));
}

/* Two joined: one that decides (of "and" NO, of "or" YES), or both the other. */
static enum shell_status join(enum shell_status a, enum shell_status b,
                              enum shell_status decides)
{
    enum shell_status other = decides == SHELL_NO ? SHELL_YES : SHELL_NO;
    return a == decides || b == decides ? decides
           : a == other && b == other   ? other
                                        : SHELL_UNKNOWN;
}

static enum shell_status all(struct test *t)
{
    enum shell_status s = one(t);
    while (takes(t, "&&", "-a"))
        s = join(s, one(t), SHELL_NO);
    return s;
}

static enum shell_status any(struct test *t)
{
    enum shell_status s = all(t);
    while (takes(t, "||", "-o"))
        s = join(s, all(t), SHELL_YES);
    return s;
}

static enum shell_status judge(struct shell_machine *m, const struct shell_texts *words,
                               bool patterns)
{
    int32_t n = words->n;
    if (n && shell_is(&words->v[n - 1], "]"))
        n--;
    m->because = shell_not_known(m, "?", false, "its condition is not read");
    struct test t = { .m = m, .words = words, .n = n, .patterns = patterns };
    enum shell_status s = any(&t);
    return t.i < n ? SHELL_UNKNOWN : s;
}

enum shell_status shell_test(struct shell_machine *m, const struct shell_texts *words)
{
    return judge(m, words, false);
}

/* Within [[ ]], operators are literal. */
static void read_operator(struct shell_machine *m, struct shell_texts *words)
{
    struct shell_text t = { 0 };
    bool two = shell_at(m, "&&") || shell_at(m, "||");
    for (int i = 0; i < (two ? 2 : 1) && !shell_ends(m); i++)
        shell_push(m, &t, m->at.v[m->at.i++]);
    shell_texts_take(m, words, &t);
}

enum shell_status shell_double_test(struct shell_machine *m)
{
    struct shell_texts words = { 0 };
    struct shell_char place = shell_peek(m, -2);
    for (shell_skip_blanks(m); !shell_ends(m) && !shell_word_at(m, "]]");
         shell_skip_blanks(m)) {
        if (shell_at(m, "\n"))
            shell_newline(m);
        else if (strchr("&|()<>;", shell_peek(m, 0).c) && !shell_peek(m, 0).unknown)
            read_operator(m, &words);
        else
            shell_read_word(m, &words, false);
    }
    if (shell_ends(m))
        shell_fail(m, &place, "the condition is never closed (add ]])");
    m->at.i += 2;
    enum shell_status s = judge(m, &words, true);
    shell_texts_release(&words);
    return s;
}
