/* Conditions of a shell script: [ ], [[ ]] and patterns. */
#include "dialect/source/shell_machine.h"

#include "base/names.h"

#include <stdlib.h>
#include <string.h>

/* Patterns ------------------------------------------------------------------------- */

/* "*" and "?"; the rest as written. Backtracks to the last "*" alone. */
bool shell_matches(struct shell_machine *m, const struct shell_text *t,
                   const struct shell_text *pattern)
{
    int32_t i = 0, j = 0, star = -1, from = 0;
    while (i < t->n && !shell_works(m, 1)) {
        bool same =
            j < pattern->n && (pattern->v[j].c == t->v[i].c || pattern->v[j].c == '?');
        if (j < pattern->n && pattern->v[j].c == '*') {
            star = j++;
            from = i;
        } else if (same) {
            i++;
            j++;
        } else if (star >= 0) {
            j = star + 1;
            i = ++from;
        } else {
            return false;
        }
    }
    while (j < pattern->n && pattern->v[j].c == '*')
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
    return u->unset ? SHELL_YES : is_known(m, t) ? SHELL_YES : SHELL_UNKNOWN;
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

static enum shell_status compare(struct shell_machine *m, const struct shell_text *a,
                                 const struct shell_text *op,
                                 const struct shell_text *b)
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
    enum shell_status s = b->n == 0   ? is_empty(m, a)
                          : a->n == 0 ? is_empty(m, b)
                          : is_known(m, a) && is_known(m, b)
                              ? status_of(shell_matches(m, a, b))
                              : SHELL_UNKNOWN;
    return differs ? opposite(s) : s;
}

/* Expressions ---------------------------------------------------------------------- */

struct test {
    struct shell_machine *m;
    const struct shell_texts *words;
    int32_t i, n;
    int depth;
};

static enum shell_status any(struct test *t);

static bool takes(struct test *t, const char *a, const char *b)
{
    bool is = t->i < t->n &&
              (shell_is(&t->words->v[t->i], a) || shell_is(&t->words->v[t->i], b));
    t->i += is;
    return is;
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
    if (two && !(left > 2 && shell_is(&w[1], "="))) {
        t->i += 2;
        if (w->v[1].c == 'z')
            return is_empty(t->m, &w[1]);
        if (w->v[1].c == 'n')
            return opposite(is_empty(t->m, &w[1]));
        t->m->because =
            shell_not_known(t->m, "?", false, "it asks for a file or the like");
        return SHELL_UNKNOWN;
    }
    bool joined = left > 1 && (shell_is(&w[1], "&&") || shell_is(&w[1], "||") ||
                               shell_is(&w[1], "-a") || shell_is(&w[1], "-o") ||
                               shell_is(&w[1], ")"));
    if (left > 2 && !joined) {
        t->i += 3;
        return compare(t->m, &w[0], &w[1], &w[2]);
    }
    t->i++;
    return opposite(is_empty(t->m, w));
}

static enum shell_status all(struct test *t)
{
    enum shell_status s = one(t);
    while (takes(t, "&&", "-a")) {
        enum shell_status next = one(t);
        s = s == SHELL_NO || next == SHELL_NO     ? SHELL_NO
            : s == SHELL_YES && next == SHELL_YES ? SHELL_YES
                                                  : SHELL_UNKNOWN;
    }
    return s;
}

static enum shell_status any(struct test *t)
{
    enum shell_status s = all(t);
    while (takes(t, "||", "-o")) {
        enum shell_status next = all(t);
        s = s == SHELL_YES || next == SHELL_YES ? SHELL_YES
            : s == SHELL_NO && next == SHELL_NO ? SHELL_NO
                                                : SHELL_UNKNOWN;
    }
    return s;
}

enum shell_status shell_test(struct shell_machine *m, const struct shell_texts *words)
{
    int32_t n = words->n;
    if (n && shell_is(&words->v[n - 1], "]"))
        n--;
    m->because = shell_not_known(m, "?", false, "its condition is not read");
    struct test t = { .m = m, .words = words, .n = n };
    enum shell_status s = any(&t);
    return t.i < n ? SHELL_UNKNOWN : s;
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
    enum shell_status s = shell_test(m, &words);
    shell_texts_release(&words);
    return s;
}
