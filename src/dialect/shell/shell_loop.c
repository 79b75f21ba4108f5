/* Loops of a shell script. One whose rounds are not known is read for one round, and
 * what it sets is not known after it. */
#include "dialect/shell/shell_machine.h"

#include <string.h>

enum { REPEATS_MAX = 1000 };

static void read_body(struct shell_machine *m, enum shell_status s,
                      struct shell_char place)
{
    static const char *const ends[] = { "done", NULL };
    struct shell_branch before = shell_enter(m, s);
    shell_skip_lines(m);
    shell_expect(m, "do", place, "loop");
    shell_list(m, ends);
    shell_leave(m, before);
    shell_expect(m, "done", place, "loop");
}

/* What was set within is not known: `why`, a row of unknowns, or 0. */
static void lose_rounds(struct shell_machine *m, const struct shell_frame *f,
                        struct shell_char place, int32_t why)
{
    if (f->before.mode == SHELL_SKIP)
        return;
    why = why ? why : shell_not_known(m, "?", false, "it has too many rounds");
    shell_note(m, place.line,
               "how often the loop runs is not known (%s): one round is read",
               shell_why(m, why));
    shell_void_since(m, f->mark, SHELL_ROUNDS, why);
}

/* While ---------------------------------------------------------------------------- */

/* Arguments that nobody gave: there are none, and their loop does not run. */
static bool of_arguments(struct shell_machine *m, struct shell_char place, int32_t why)
{
    bool is = why && m->unknowns.v[why - 1].argument;
    if (is && m->mode != SHELL_SKIP)
        shell_note(m, place.line, "the loop is passed over: %s", shell_why(m, why));
    return is;
}

/* A loop over arguments that are none: what it would set is remembered. */
static void pass_body(struct shell_machine *m, struct shell_char place)
{
    int passing = m->passing;
    m->passing += m->mode == SHELL_RUN;
    read_body(m, SHELL_NO, place);
    m->passing = passing;
}

/* One that is left by `break`, or may be, is not repeated; nor one whose rounds change
 * nothing. */
static void read_while(struct shell_machine *m, struct shell_char place, bool until)
{
    static const char *const ends[] = { "do", NULL };
    struct shell_cursor start = m->at;
    struct shell_frame f = shell_frame_begin(m, true);
    bool next = true;
    for (int n = 0; next && !m->failed; n++) {
        int32_t because;
        int64_t sets = m->sets;
        m->at = start;
        enum shell_status s = shell_condition(m, ends, &because);
        bool runs = s == (until ? SHELL_NO : SHELL_YES) && m->mode != SHELL_SKIP,
             open = s == SHELL_UNKNOWN && m->mode != SHELL_SKIP,
             once = open && !of_arguments(m, place, because);
        if (open && !once)
            pass_body(m, place);
        else
            read_body(m, runs || once ? SHELL_YES : SHELL_NO, place);
        next = (runs || once) && shell_round_ends(m, &f);
        if (next && (once || n == REPEATS_MAX))
            lose_rounds(m, &f, place, once ? because : 0);
        if (next && runs && m->sets == sets)
            shell_note(m, place.line, "the loop has no end: one round is read");
        next = next && runs && m->sets != sets && n < REPEATS_MAX;
    }
    shell_frame_end(m, &f, true);
}

/* For ------------------------------------------------------------------------------ */

/* Why a word may be several words, or none: 0 where it is one. */
static int32_t several(struct shell_machine *m, const struct shell_text *t)
{
    bool glob = false;
    for (int32_t i = 0; i < t->n; i++)
        glob |= !t->v[i].unknown && t->v[i].c == '*' && t->v[i].from != SHELL_QUOTED;
    return t->n == 1 && t->v[0].unknown ? t->v[0].unknown
           : glob ? shell_not_known(m, "*", false, "which files there are is not known")
                  : 0;
}

/* Whether a word is all that the script's caller may give after what is known. */
static bool is_rest(const struct shell_machine *m, int32_t why)
{
    const struct shell_unknown *u = why ? &m->unknowns.v[why - 1] : NULL;
    return u && u->argument &&
           (strcmp(u->name, "$@") == 0 || strcmp(u->name, "$*") == 0);
}

/* Whether a word of a row, of which another is known, counts as one, whatever it holds. */
static bool is_one(const struct shell_texts *words, int32_t i)
{
    bool known = false;
    for (int32_t k = 0; k < words->n; k++)
        known |= words->v[k].n > 0 && !words->v[k].v[0].unknown;
    return known && words->v[i].n == 1 && words->v[i].v[0].unknown;
}

/* The words after "in"; without it, the arguments. */
static void read_words(struct shell_machine *m, struct shell_texts *words)
{
    shell_skip_lines(m);
    if (!shell_takes(m, "in")) {
        const struct shell_variable *all = shell_look(m, "@");
        struct shell_text t = { 0 };
        for (int32_t i = 0; all && i < all->values.n; i++) {
            shell_append(m, &t, &all->values.v[i]);
            shell_texts_take(m, words, &t);
        }
        if (!all && m->mode != SHELL_SKIP) {
            shell_push(m, &t,
                       (struct shell_char) {
                           .c = '?', .unknown = shell_argument_unknown(m, "@") });
            shell_texts_take(m, words, &t);
        }
        return;
    }
    for (shell_skip_blanks(m); !shell_ends(m); shell_skip_blanks(m)) {
        int32_t before = m->at.i;
        if (strchr("\n;", shell_peek(m, 0).c))
            break;
        shell_read_word(m, words, true);
        m->at.i += m->at.i == before;
    }
}

/* The loop's variable, where it takes several values that are known. */
static const struct shell_round *round_of(struct shell_machine *m, const char *name,
                                          const struct shell_texts *words)
{
    struct shell_round *r = ARENA_NEW(m->arena, struct shell_round);
    bool known = words->n > 1;
    for (int32_t i = 0; known && i < words->n; i++)
        known = !shell_unknown_of(m, &words->v[i]);
    if (known)
        *r = (struct shell_round) { name, shell_string(m, &words->v[0], false),
                                    m->rounds };
    return known ? r : m->rounds;
}

/* for X in words; do ... done: once for each word. */
static void read_for_words(struct shell_machine *m, struct shell_char place,
                           bool select)
{
    int32_t n = shell_name_length(m, 0), why = 0;
    const char *name = shell_slice(m, m->at.i, m->at.i + n);
    struct shell_texts words = { 0 };
    m->at.i += n;
    read_words(m, &words);
    const struct shell_round *outer = m->rounds;
    m->rounds = round_of(m, name, &words);
    struct shell_cursor body = m->at;
    struct shell_frame f = shell_frame_begin(m, true);
    bool next = n && words.n, none = false;
    if (select)
        why = shell_not_known(m, "?", false, "the user selects");
    for (int32_t i = 0; next && i < words.n && !m->failed; i++) {
        struct shell_texts one = { &words.v[i], 1, 0 };
        int32_t unsure = several(m, &words.v[i]);
        none = words.n == 1 ? of_arguments(m, place, unsure) : is_rest(m, unsure);
        why = why || none || is_one(&words, i) ? why : unsure;
        m->at = body;
        if (!none)
            shell_assign(m, name, &one, false, false);
        if (none && words.n == 1)
            pass_body(m, place);
        else
            read_body(m, none ? SHELL_NO : SHELL_YES, place);
        next = shell_round_ends(m, &f);
        next = next && !select;
    }
    if (words.n == 0 || !n)
        read_body(m, SHELL_NO, place);
    m->rounds = outer;
    if (why)
        lose_rounds(m, &f, place, why);
    shell_frame_end(m, &f, true);
    shell_texts_release(&words);
}

/* The parts of "i=0; i<n; i++"; false: there are not three. */
static bool split_head(struct shell_cursor head, struct shell_cursor parts[3])
{
    int n = 0;
    for (int32_t i = head.i, from = i; i <= head.n; i++)
        if (i == head.n || head.v[i].c == ';') {
            if (n == 3)
                return false;
            parts[n++] = (struct shell_cursor) { head.v, i, from, -1, -1 };
            from = i + 1;
        }
    return n == 3;
}

static bool is_empty(struct shell_cursor c)
{
    while (c.i < c.n && strchr(" \t\n", c.v[c.i].c))
        c.i++;
    return c.i >= c.n;
}

/* for ((i=0; i<n; i++)); do ... done. */
static void read_counted(struct shell_machine *m, struct shell_char place,
                         struct shell_cursor head)
{
    struct shell_cursor parts[3], body = m->at;
    int64_t v = 1;
    int32_t why = 0;
    bool known = split_head(head, parts), next = known && m->mode != SHELL_SKIP;
    struct shell_frame f = shell_frame_begin(m, true);
    if (!next)
        read_body(m, SHELL_NO, place);
    else if (!is_empty(parts[0]))
        shell_calculate_within(m, parts[0], &v, &why);
    for (int n = 0; next && !m->failed; n++) {
        v = 1;
        bool counts =
            is_empty(parts[1]) || shell_calculate_within(m, parts[1], &v, &why);
        bool once = !counts || n == REPEATS_MAX;
        m->at = body;
        read_body(m, v || once ? SHELL_YES : SHELL_NO, place);
        next = (v || once) && shell_round_ends(m, &f);
        if (next && !is_empty(parts[2]))
            shell_calculate_within(m, parts[2], &v, &why);
        if (next && once)
            lose_rounds(m, &f, place, counts ? 0 : why);
        next = next && !once;
    }
    shell_frame_end(m, &f, true);
}

static void read_for(struct shell_machine *m, struct shell_char place, bool select)
{
    shell_skip_blanks(m);
    if (!shell_at(m, "((")) {
        read_for_words(m, place, select);
        return;
    }
    int32_t from = m->at.i += 2;
    if (!shell_skip_brackets(m, '(', ')'))
        shell_fail(m, &place, "the loop's head is never closed (add ))");
    struct shell_cursor head = { m->at.v, m->at.i - 1, from, -1, -1 };
    m->at.i += shell_at(m, ")");
    read_counted(m, place, head);
}

bool shell_loop(struct shell_machine *m)
{
    struct shell_char place = shell_peek(m, 0);
    bool select = shell_word_at(m, "select");
    if (shell_takes(m, "for") || shell_takes(m, "select"))
        read_for(m, place, select);
    else if (shell_takes(m, "while"))
        read_while(m, place, false);
    else if (shell_takes(m, "until"))
        read_while(m, place, true);
    else
        return false;
    return true;
}
