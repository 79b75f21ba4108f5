/* Statements of a shell script: conditions, functions, lists. Loops: shell_loop.c. */
#include "dialect/shell/shell_machine.h"

#include "base/names.h"

#include <ctype.h>
#include <string.h>

/* Conditions ----------------------------------------------------------------------- */

enum shell_status shell_condition(struct shell_machine *m, const char *const *ends,
                                  int32_t *because)
{
    int32_t before = m->because;
    enum shell_status s = shell_list(m, ends);
    *because = m->because;
    if (s == SHELL_DONE) {
        *because = shell_not_known(m, "?", false, "a command decides it");
        s = SHELL_UNKNOWN;
    }
    m->because = before;
    return m->mode == SHELL_SKIP ? SHELL_NO : s;
}

void shell_expect(struct shell_machine *m, const char *word, struct shell_char place,
                  const char *what)
{
    shell_skip_lines(m);
    if (!shell_takes(m, word))
        shell_fail(m, &place, "this \"%s\" is never closed (add \"%s\")", what, word);
}

/* If ------------------------------------------------------------------------------- */

/* Whether statements from..to end in one that gives up: exit 1, return 1. */
static bool gives_up(const struct shell_machine *m, int32_t from, int32_t to)
{
    static const char *const words[] = { "exit", "return" };
    const struct shell_char *v = m->at.v;
    while (to > from && (isspace((unsigned char)v[to - 1].c) || v[to - 1].c == ';'))
        to--;
    int32_t at = to;
    while (at > from && v[at - 1].c != '\n' && v[at - 1].c != ';')
        at--;
    while (at < to && isspace((unsigned char)v[at].c))
        at++;
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
        int32_t n = (int32_t)strlen(words[k]), i = 0;
        while (i < n && at + i < to && v[at + i].c == words[k][i])
            i++;
        if (i == n && at + n + 1 < to && v[at + n].c == ' ')
            return v[at + n + 1].c != '0';
    }
    return false;
}

static const char *const if_ends[] = { "elif", "else", "fi", NULL };

/* What a condition that is not known comes to where one of two branches gives up: the
 * other, as a script is taken not to. The cursor is after "then", and stays there. */
static enum shell_status without_exit(struct shell_machine *m)
{
    struct shell_cursor here = m->at;
    struct shell_branch before = shell_enter(m, SHELL_NO);
    enum shell_status s = SHELL_UNKNOWN;
    shell_list(m, if_ends);
    int32_t end = m->at.i;
    if (shell_takes(m, "else")) {
        int32_t from = m->at.i;
        shell_list(m, if_ends);
        bool first = gives_up(m, here.i, end), second = gives_up(m, from, m->at.i);
        s = first == second ? s : first ? SHELL_NO : SHELL_YES;
    }
    shell_leave(m, before);
    m->at = here;
    m->out->gives_up |= s != SHELL_UNKNOWN;
    return s;
}

/* After "if": branches are taken until one is known to be. */
static void read_if(struct shell_machine *m, struct shell_char place)
{
    static const char *const then[] = { "then", NULL };
    enum shell_status left = SHELL_YES; /* whether no branch was taken so far */
    int32_t why = 0;
    bool last = false;
    while (!m->failed) {
        struct shell_branch outer = shell_enter(m, left);
        int32_t because = 0;
        enum shell_status s = last ? SHELL_YES : shell_condition(m, then, &because);
        if (!last)
            shell_expect(m, "then", place, "if");
        if (s == SHELL_UNKNOWN && m->mode != SHELL_SKIP && !m->failed)
            s = without_exit(m);
        why = why || s != SHELL_UNKNOWN || left == SHELL_NO ? why : because;
        if (m->mode != SHELL_SKIP && why && outer.mode == SHELL_RUN)
            m->because = why;
        struct shell_branch inner = shell_enter(m, s);
        shell_list(m, if_ends);
        shell_leave(m, inner);
        shell_leave(m, outer);
        left = left == SHELL_NO || s == SHELL_YES ? SHELL_NO
               : s == SHELL_UNKNOWN               ? SHELL_UNKNOWN
                                                  : left;
        if (last || (!shell_takes(m, "elif") && !(last = shell_takes(m, "else"))))
            break;
    }
    shell_expect(m, "fi", place, "if");
}

/* Case ----------------------------------------------------------------------------- */

/* a|b) at the cursor: whether the word is one of them. */
static enum shell_status read_patterns(struct shell_machine *m,
                                       const struct shell_text *word)
{
    enum shell_status s = SHELL_NO;
    const struct shell_unknown *u = shell_unknown_of(m, word);
    for (shell_skip_blanks(m); !shell_ends(m) && !shell_at(m, ")");
         shell_skip_blanks(m)) {
        struct shell_text pattern = { 0 };
        int32_t before = m->at.i;
        shell_read_text(m, &pattern);
        shell_compares(m, word, &pattern);
        if (u || shell_unknown_of(m, &pattern))
            s = SHELL_UNKNOWN;
        else if (m->at.i > before && shell_matches(m, word, &pattern))
            s = SHELL_YES;
        m->at.i += m->at.i == before;
        shell_text_release(&pattern);
    }
    m->at.i++;
    return s;
}

static void read_case(struct shell_machine *m, struct shell_char place)
{
    static const char *const ends[] = { ";;", "esac", NULL };
    struct shell_text word = { 0 };
    enum shell_status left = SHELL_YES;
    shell_skip_blanks(m);
    shell_read_text(m, &word);
    shell_skip_lines(m);
    shell_expect(m, "in", place, "case");
    for (shell_skip_lines(m); !shell_ends(m) && !shell_word_at(m, "esac");
         shell_skip_lines(m)) {
        if (shell_at(m, "("))
            m->at.i++;
        enum shell_status s = read_patterns(m, &word);
        struct shell_branch outer = shell_enter(m, left), inner = shell_enter(m, s);
        if (s == SHELL_UNKNOWN && outer.mode == SHELL_RUN && shell_unknown_of(m, &word))
            m->because = (int32_t)(shell_unknown_of(m, &word) - m->unknowns.v) + 1;
        shell_list(m, ends);
        shell_leave(m, inner);
        shell_leave(m, outer);
        bool more = shell_at(m, ";;&"); /* the next patterns are tried all the same */
        left = more                                 ? left
               : left == SHELL_NO || s == SHELL_YES ? SHELL_NO
               : s == SHELL_UNKNOWN                 ? SHELL_UNKNOWN
                                                    : left;
        if (shell_at(m, ";;"))
            m->at.i += 2;
        while (shell_at(m, "&") || shell_at(m, ";"))
            m->at.i++;
    }
    shell_text_release(&word);
    shell_expect(m, "esac", place, "case");
}

static bool read_compound(struct shell_machine *m, enum shell_status *s);

/* Functions and groups ------------------------------------------------------------- */

enum shell_status shell_nested(struct shell_machine *m, struct shell_cursor text)
{
    struct shell_cursor here = m->at;
    enum shell_status s = SHELL_DONE;
    if (m->depth >= SHELL_DEPTH_MAX) {
        shell_fail(m, here.i < here.n ? &here.v[here.i] : NULL,
                   "more than %d texts or functions in each other (give the part that "
                   "starts the training)",
                   SHELL_DEPTH_MAX);
        return s;
    }
    m->depth++;
    m->at = text;
    s = shell_list(m, NULL);
    m->at = here;
    m->depth--;
    return s;
}

/* Names of functions may hold more than those of variables: "run-it". */
static int32_t function_name_length(const struct shell_machine *m)
{
    int32_t n = 0;
    for (;; n++) {
        struct shell_char x = shell_peek(m, n);
        bool letter = isalnum((unsigned char)x.c) || (x.c && strchr("_-.:+@", x.c));
        if (x.unknown || !letter)
            return n;
    }
}

/* A body that is no { }: one statement, as "( )". */
static bool read_other_body(struct shell_machine *m, struct shell_cursor *body)
{
    enum shell_status s;
    struct shell_char next = shell_peek(m, 0);
    bool compound = next.c == '(' || shell_word_at(m, "if") ||
                    shell_word_at(m, "for") || shell_word_at(m, "while") ||
                    shell_word_at(m, "case") || shell_word_at(m, "[[");
    bool done = compound && read_compound(m, &s);
    body->n = m->at.i;
    return done;
}

/* name() { at the cursor; its body is kept for those who call it. */
static bool read_function(struct shell_machine *m)
{
    struct shell_cursor start = m->at;
    bool word = shell_takes(m, "function");
    if (word)
        shell_skip_blanks(m);
    int32_t n = function_name_length(m), from = m->at.i;
    m->at.i += n;
    shell_skip_blanks(m);
    bool brackets = n && shell_at(m, "(");
    if (brackets) {
        m->at.i++;
        shell_skip_blanks(m);
    }
    if (!n || (brackets ? !shell_at(m, ")") : !word)) {
        m->at = start;
        return false;
    }
    m->at.i += brackets;
    shell_skip_lines(m);
    const char *name = shell_slice(m, from, from + n);
    struct shell_cursor body = m->at;
    struct shell_branch before = shell_enter(m, SHELL_NO);
    static const char *const ends[] = { "}", NULL };
    if (shell_takes(m, "{")) {
        body = m->at;
        shell_list(m, ends);
        body.n = m->at.i;
        shell_expect(m, "}", m->at.v[from], "function");
    } else if (!read_other_body(m, &body)) {
        shell_leave(m, before);
        m->at = start;
        return false;
    }
    shell_leave(m, before);
    body.here_at = -1;
    int32_t perhaps = m->mode == SHELL_MAYBE ? m->because : 0;
    if (m->mode != SHELL_SKIP && m->functions.n < SHELL_NAMES_MAX)
        VEC_PUSH(&m->functions, ((struct shell_function) { name, body, perhaps }));
    return true;
}

static enum shell_status read_group(struct shell_machine *m, const char *close,
                                    struct shell_char place)
{
    const char *const ends[] = { close, NULL };
    enum shell_status s = shell_list(m, ends);
    shell_skip_lines(m);
    if (!shell_at(m, close))
        shell_fail(m, &place, "this bracket is never closed (add a %s)", close);
    m->at.i++;
    return s;
}

/* ( a; b ): what it sets is gone after it. */
static enum shell_status read_subshell(struct shell_machine *m, struct shell_char place)
{
    struct shell_subshell *inner = shell_subshell_begin(m);
    enum shell_status s = read_group(m, ")", place);
    shell_subshell_end(m, inner);
    return s;
}

static enum shell_status read_count(struct shell_machine *m)
{
    int64_t v = 0;
    int32_t why = 0;
    m->at.i += 2;
    if (shell_arithmetic(m, &v, &why))
        return v ? SHELL_YES : SHELL_NO;
    m->because = why ? why : m->because;
    return SHELL_UNKNOWN;
}

/* Lists ---------------------------------------------------------------------------- */

/* One statement that is no simple command; false: it is one. */
static bool read_compound(struct shell_machine *m, enum shell_status *s)
{
    struct shell_char place = shell_peek(m, 0);
    *s = SHELL_DONE;
    if (shell_takes(m, "if"))
        read_if(m, place);
    else if (shell_takes(m, "case"))
        read_case(m, place);
    else if (shell_loop(m))
        *s = SHELL_DONE;
    else if (shell_takes(m, "{"))
        *s = read_group(m, "}", place);
    else if (shell_at(m, "(("))
        *s = read_count(m);
    else if (shell_at(m, "(") && ++m->at.i)
        *s = read_subshell(m, place);
    else if (shell_takes(m, "[["))
        *s = shell_double_test(m);
    else
        return read_function(m);
    struct shell_redirect to = { 0 };
    for (shell_skip_blanks(m); !shell_ends(m) && shell_redirection(m, &to);)
        shell_skip_blanks(m);
    shell_redirect_release(&to);
    return true;
}

static enum shell_status read_command(struct shell_machine *m)
{
    enum shell_status s = SHELL_DONE;
    struct shell_char place = shell_peek(m, 0);
    if (m->depth >= SHELL_DEPTH_MAX) {
        shell_fail(m, &place, "more than %d statements in each other", SHELL_DEPTH_MAX);
        return s;
    }
    m->depth++;
    if (!read_compound(m, &s))
        s = shell_simple_command(m);
    m->depth--;
    return s;
}

/* What was set by what runs apart, as a process of its own, does not last. */
static void lose_apart(struct shell_machine *m, int64_t mark, const char *where)
{
    if (m->sets == mark || m->mode == SHELL_SKIP)
        return;
    shell_void_since(m, mark, where,
                     shell_not_known(m, "?", false, "it runs apart from the rest"));
}

/* A stage of a pipeline after the first: what it sets is gone after it. */
static enum shell_status read_stage(struct shell_machine *m)
{
    if (m->mode == SHELL_SKIP)
        return read_command(m);
    struct shell_subshell *inner = shell_subshell_begin(m);
    struct shell_text outer = m->input;
    m->input = m->printed;
    m->printed = (struct shell_text) { 0 };
    enum shell_status s = read_command(m);
    m->input = outer;
    shell_subshell_end(m, inner);
    return s;
}

/* ! a | b: the last decides. */
static enum shell_status read_pipeline(struct shell_machine *m)
{
    shell_skip_blanks(m);
    bool negated = shell_takes(m, "!");
    if (!negated && shell_at(m, "!") && shell_name_length(m, 1) > 0)
        m->at.i++; /* "!torchrun ...", as a cell of a notebook has it */
    shell_skip_blanks(m);
    int64_t mark = m->sets;
    m->printed = (struct shell_text) { 0 };
    enum shell_status s = read_command(m);
    shell_skip_blanks(m);
    if (shell_at(m, "|") && !shell_at(m, "||")) {
        shell_capture_lose(m);
        lose_apart(m, mark, "a part of a pipeline");
    }
    while (!m->failed && shell_at(m, "|") && !shell_at(m, "||")) {
        m->at.i += shell_at(m, "|&") ? 2 : 1;
        shell_skip_lines(m);
        s = read_stage(m);
        shell_skip_blanks(m);
    }
    if (negated && (s == SHELL_YES || s == SHELL_NO))
        s = s == SHELL_YES ? SHELL_NO : SHELL_YES;
    else if (negated && s == SHELL_DONE) {
        m->because = shell_not_known(m, "?", false, "a command decides it");
        s = SHELL_UNKNOWN;
    }
    if (m->mode != SHELL_SKIP)
        m->status = s;
    return s;
}

/* a && b || c */
static enum shell_status read_and_or(struct shell_machine *m)
{
    struct shell_branch before = { m->mode, m->because };
    enum shell_status s = read_pipeline(m);
    for (shell_skip_blanks(m); !m->failed && (shell_at(m, "&&") || shell_at(m, "||"));
         shell_skip_blanks(m)) {
        bool both = shell_at(m, "&&"),
             sure = both ? s == SHELL_YES || s == SHELL_DONE : s == SHELL_NO,
             never = both ? s == SHELL_NO : s == SHELL_YES || s == SHELL_DONE;
        m->at.i += 2;
        shell_skip_lines(m);
        struct shell_branch here = shell_enter(m, sure    ? SHELL_YES
                                                  : never ? SHELL_NO
                                                          : SHELL_UNKNOWN);
        enum shell_status next = read_pipeline(m);
        int32_t why = m->because;
        shell_leave(m, here);
        m->because = why;
        bool either = next == (both ? SHELL_NO : SHELL_YES); /* whatever was before */
        s = never ? s : sure || either ? next : SHELL_UNKNOWN;
    }
    if (before.mode != SHELL_RUN)
        m->because = before.because;
    return s;
}

static bool at_end(const struct shell_machine *m, const char *const *ends)
{
    for (; ends && *ends; ends++) {
        bool sign = strchr(")};", **ends) != NULL;
        if (sign ? shell_at(m, *ends) : shell_word_at(m, *ends))
            return true;
    }
    return false;
}

enum shell_status shell_list(struct shell_machine *m, const char *const *ends)
{
    enum shell_status s = SHELL_DONE;
    for (shell_skip_lines(m); !shell_ends(m) && !at_end(m, ends); shell_skip_lines(m)) {
        int32_t before = m->at.i;
        int64_t mark = m->sets;
        s = read_and_or(m);
        if (shell_at(m, "&")) {
            lose_apart(m, mark, "the background");
            m->at.i++;
        }
        if (m->at.i == before && !shell_ends(m)) {
            shell_note(m, shell_peek(m, 0).line,
                       "\"%c\" could not be read, and is passed over",
                       shell_peek(m, 0).c);
            m->at.i++;
        }
    }
    return s;
}
