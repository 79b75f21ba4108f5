/* Blocks of Python source: lines by their indentation, branches and loops. */
#include "dialect/python/python_block.h"

#include <inttypes.h>
#include <string.h>

enum { BLOCKS_MAX = 60 };

/* Lines ---------------------------------------------------------------------------- */

int64_t python_next_line(struct python_parser *r)
{
    while (r->lex.i < r->lex.n) {
        const char *s = r->lex.s + r->lex.i;
        int64_t column = 0;
        size_t n = 0;
        for (; s[n] == ' ' || s[n] == '\t' || s[n] == '\f' || s[n] == '\r'; n++)
            column = s[n] == '\t' ? column / 8 * 8 + 8 : column + (s[n] == ' ');
        if (python_at_fence(r))
            return -1;
        if (s[n] == '\n' || s[n] == '#' || s[n] == '\0') {
            python_skip_line(r);
            if (s[n] == '\0')
                return -1;
        } else if (!python_notebook_line(r, false)) {
            return column;
        }
        r->lex.work += (int64_t)n + 1;
    }
    return -1;
}

static void read_statement(struct python_parser *r, int64_t column);

static void read_suite(struct python_parser *r, int64_t column, bool taken);

enum heads { HEADS_NOTHING, HEADS_BRANCH, HEADS_LOOP, HEADS_SUITE };

/* What a line heads that cannot be read: "if a b:". */
static enum heads heads_of(const struct python_parser *r)
{
    static const struct {
        const char *word;
        enum heads heads;
    } rows[] = { { "if", HEADS_BRANCH },   { "elif", HEADS_BRANCH },
                 { "else", HEADS_BRANCH }, { "except", HEADS_BRANCH },
                 { "case", HEADS_BRANCH }, { "match", HEADS_BRANCH },
                 { "for", HEADS_LOOP },    { "while", HEADS_LOOP },
                 { "async", HEADS_SUITE }, { "with", HEADS_SUITE },
                 { "try", HEADS_SUITE } };
    const char *s = r->lex.s + r->lex.i, *end = r->lex.s + r->lex.n;
    s += strspn(s, " \t\f\r");
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"), length = strcspn(s, "\n");
    length = s + length > end ? (size_t)(end - s) : length;
    while (length && strchr(" \t\r", s[length - 1]))
        length--;
    for (size_t i = 0;
         length && s[length - 1] == ':' && i < sizeof(rows) / sizeof(*rows); i++)
        if (n == strlen(rows[i].word) && strncmp(s, rows[i].word, n) == 0)
            return rows[i].heads;
    return HEADS_NOTHING;
}

static bool read_unsure(struct python_parser *r, int64_t column);

/* The block below such a line: of a condition it may run. */
static void read_below(struct python_parser *r, enum heads heads, int64_t column,
                       int64_t line)
{
    struct python_choice c = { .left = 1 };
    if (heads == HEADS_NOTHING || r->limit || python_next_line(r) <= column)
        return;
    snprintf(c.why, sizeof(c.why), "line %" PRId64 ", on which it depends, is not read",
             line);
    r->t = (struct python_token) { .kind = TOKEN_NEWLINE, .line = line };
    if (heads == HEADS_LOOP)
        read_unsure(r, column);
    else
        python_read_branch(r, &c, heads == HEADS_BRANCH ? -1 : 1, column);
    python_end_choice(r, &c);
}

/* A statement that begins on this line, or else the line alone. */
static void read_line(struct python_parser *r, int64_t column)
{
    struct python_lexer start = r->lex;
    r->failed = false;
    r->in.calling = NULL;
    r->in.nested = r->in.nested_before;
    r->lex.brackets = 0;
    python_advance(r);
    int64_t line = r->t.line;
    if (!r->failed && r->in.stop)
        python_skip_statement(r);
    else if (!r->failed)
        read_statement(r, column);
    if (!r->failed || r->limit)
        return;
    if (!r->in.stop) {
        if (r->in.calling)
            python_note(r, line, "%.60s(...) could not be read, and is passed over",
                        r->in.calling);
        if (r->p->n_passed++ == 0)
            r->p->first_passed = line;
    }
    start.work = r->lex.work;
    r->lex = start;
    enum heads heads = r->in.stop ? HEADS_NOTHING : heads_of(r);
    python_skip_line(r);
    r->failed = false;
    read_below(r, heads, column, line);
}

void python_lines(struct python_parser *r, int64_t column)
{
    int64_t at;
    bool within = r->blocks++ < BLOCKS_MAX;
    enum python_stop stop = r->in.stop;
    if (!within)
        r->in.stop = PYTHON_RAISE;
    while (!r->limit && (at = python_next_line(r)) > column)
        read_line(r, at);
    if (!within)
        r->in.stop = stop;
    r->blocks--;
}

void python_suite(struct python_parser *r, int64_t column)
{
    if (r->t.kind == TOKEN_NEWLINE || r->t.kind == TOKEN_END)
        python_lines(r, column);
    else
        python_simple(r);
}

static void read_suite(struct python_parser *r, int64_t column, bool taken)
{
    enum python_stop before = r->in.stop;
    if (!taken)
        r->in.stop = PYTHON_RAISE;
    python_suite(r, column);
    if (!taken)
        r->in.stop = before;
}

/* Whether the statement goes on with that word, at its own column; over it. */
static bool goes_on_with(struct python_parser *r, int64_t column, const char *word)
{
    if (r->limit || python_next_line(r) != column || python_stopped(r))
        return false;
    size_t n = strlen(word), i = strspn(r->lex.s + r->lex.i, " \t\f\r");
    const char *s = r->lex.s + r->lex.i + i;
    if (strncmp(s, word, n) != 0 || strspn(s + n, " \t:(\\'\"[{") == 0)
        return false;
    python_advance(r);
    python_advance(r);
    return !python_stopped(r);
}

/* Branches ------------------------------------------------------------------------- */

/* if step % 4 != 0: continue; what follows is of each fourth. */
static bool passes_most(const struct python_parser *r, const struct python_choice *c)
{
    const char *if_ = c->condition ? c->condition : "";
    bool not = strncmp(if_, "not ", 4) == 0 || strncmp(if_, "not(", 4) == 0,
         equal = strstr(if_, "==") != NULL;
    return c->every && r->in.stop == PYTHON_CONTINUE && (not ? equal : !equal);
}

void python_read_branch(struct python_parser *r, struct python_choice *c, int truth,
                        int64_t column)
{
    size_t from = r->lex.i;
    bool untaken = c->left == 0 || truth == 0;
    python_note_branch(r, from, !untaken);
    if (untaken) {
        read_suite(r, column, false);
        python_note_branch(r, from, false);
    } else if (c->left == 1 && truth == 1) {
        read_suite(r, column, true);
        c->left = 0;
    } else {
        if (!c->begun)
            python_branches_begin(r, &c->branches);
        c->begun = true;
        r->maybe++;
        int64_t outer = r->every;
        const char *around = r->condition;
        r->every = c->every ? c->every : outer;
        r->condition = c->condition;
        read_suite(r, column, true);
        r->every = passes_most(r, c) ? c->every : outer; /* up to the loop's end */
        r->condition = around;
        r->maybe--;
        python_branch_end(r, &c->branches);
        c->left = truth == 1 ? 0 : -1;
    }
}

void python_end_choice(struct python_parser *r, struct python_choice *c)
{
    if (c->begun)
        python_branches_join(r, &c->branches, c->left == 0, c->why);
}

/* The condition at the token and its ":"; 1, 0, -1. */
static int read_condition(struct python_parser *r, struct python_choice *c)
{
    int64_t line = r->t.line;
    const char *from = r->t.s;
    r->remainder = 0;
    const struct value *v = python_expression(r);
    if (c)
        c->every = r->remainder;
    if (python_at(r, ":=")) { /* its value is the condition */
        python_skip_statement(r);
        r->failed = true;
    }
    int truth = python_truth(v);
    if (truth < 0 && c)
        c->condition = python_written(r, from);
    python_expect_colon(r);
    if (truth < 0 && c && !c->why[0])
        snprintf(c->why, sizeof(c->why), "it depends on line %" PRId64 ": %.100s", line,
                 v->why ? v->why : "a condition that is not known");
    return truth;
}

static void read_if(struct python_parser *r, int64_t column)
{
    struct python_choice c = { .left = 1 };
    python_advance(r);
    int truth = read_condition(r, &c);
    if (python_stopped(r))
        return;
    python_read_branch(r, &c, truth, column);
    for (bool last = false; !last && !python_stopped(r);) {
        if (goes_on_with(r, column, "elif")) {
            truth = read_condition(r, &c);
        } else if (goes_on_with(r, column, "else")) {
            python_expect_colon(r);
            truth = 1;
            last = true;
        } else {
            break;
        }
        if (!python_stopped(r))
            python_read_branch(r, &c, truth, column);
    }
    python_end_choice(r, &c);
}

/* Loops ---------------------------------------------------------------------------- */

/* Once for each item; whether it was left by `break`. */
static bool repeat(struct python_parser *r, const struct value *list,
                   const struct python_place *targets, const struct python_place *body,
                   int64_t column)
{
    bool broken = false;
    const int64_t every = r->every;
    for (int32_t i = 0; i < list->n && !r->limit && !broken; i++) {
        if (!python_may_loop(r)) {
            r->in.left_unsurely = true;
            r->p->cut = true;
            break;
        }
        python_go(r, targets);
        python_bind_targets(r, list->items[i].value);
        python_go(r, body);
        r->loops++;
        read_suite(r, column, true);
        r->loops--;
        r->every = every;
        enum python_stop stop = r->in.stop;
        if (stop == PYTHON_CONTINUE || stop == PYTHON_BREAK)
            r->in.stop = PYTHON_GOES_ON;
        broken = stop == PYTHON_BREAK;
        if (stop > PYTHON_BREAK)
            break;
    }
    return broken;
}

/* A loop of which it is not known how often: its body once; whether that ends by
 * `break`. */
static bool read_unsure(struct python_parser *r, int64_t column)
{
    const int64_t every = r->every;
    r->unsure_loops++;
    r->loops++;
    read_suite(r, column, true);
    r->loops--;
    r->unsure_loops--;
    r->every = every;
    bool broken = r->in.stop == PYTHON_BREAK;
    if (r->in.stop == PYTHON_CONTINUE || broken)
        r->in.stop = PYTHON_GOES_ON;
    return broken;
}

/* The `else` of a loop, which runs unless that was left (1: for sure, -1: perhaps). */
static void read_else(struct python_parser *r, int64_t column, int left, int64_t line)
{
    struct python_choice c = { .left = 1 };
    if (!goes_on_with(r, column, "else"))
        return;
    python_expect_colon(r);
    if (line)
        snprintf(c.why, sizeof(c.why),
                 "whether the loop of line %" PRId64 " is left by break is not known",
                 line);
    else
        snprintf(c.why, sizeof(c.why), "what is tried above line %" PRId64 " may raise",
                 r->t.line);
    if (!python_stopped(r))
        python_read_branch(r, &c, left == 0 ? 1 : left == 1 ? 0 : -1, column);
    python_end_choice(r, &c);
}

/* "for" targets "in" values ":" */
static void read_for(struct python_parser *r, int64_t column)
{
    bool outer = r->in.left_unsurely;
    int64_t line = r->t.line;
    char why[PYTHON_WHY_MAX];
    struct python_branches changes;
    snprintf(why, sizeof(why), "the loop of line %" PRId64 " changes it", r->t.line);
    python_advance(r);
    struct python_place targets = python_here(r);
    struct value *unknown = python_unknown(r, r->t.line, "a loop changes it");
    python_bind_targets(r, unknown);
    r->failed |= !python_at(r, "in");
    if (python_stopped(r))
        return;
    python_advance(r);
    const struct value *over = python_expression(r);
    while (python_at(r, ",") && !python_stopped(r)) { /* in 1, 2: */
        over = unknown;
        python_advance(r);
        python_expression(r);
    }
    python_expect_colon(r);
    if (python_stopped(r))
        return;
    struct python_place body = python_here(r);
    const struct value *list =
        over->kind == VALUE_UNKNOWN ? NULL : python_items(r, over);
    r->in.left_unsurely = false;
    python_branches_begin(r, &changes);
    const int64_t around = r->loop;
    r->loop = line;
    bool broken =
        list ? repeat(r, list, &targets, &body, column) : read_unsure(r, column);
    r->loop = around;
    int left = r->in.left_unsurely || (!list && broken) ? -1 : broken;
    python_branches_keep(r, &changes, list && r->in.left_unsurely, why);
    r->in.left_unsurely = outer;
    if (list && !r->limit) { /* after it, however it was left */
        python_go(r, &body);
        read_suite(r, column, false);
    }
    read_else(r, column, left, line);
}

static void read_while(struct python_parser *r, int64_t column)
{
    bool outer = r->in.left_unsurely;
    int64_t line = r->t.line;
    python_advance(r);
    int truth = read_condition(r, NULL);
    if (python_stopped(r))
        return;
    bool broken = false;
    const int64_t around = r->loop;
    r->in.left_unsurely = false;
    r->loop = line;
    if (truth)
        broken = read_unsure(r, column);
    else
        read_suite(r, column, false);
    r->loop = around;
    int left = broken || r->in.left_unsurely ? -1 : 0;
    r->in.left_unsurely = outer;
    read_else(r, column, left, line);
}

/* Other blocks --------------------------------------------------------------------- */

/* The rest of a header whose words do not count, and its colon. */
static void skip_header(struct python_parser *r)
{
    while (!python_stopped(r) && !python_at(r, ":")) {
        if (r->t.kind == TOKEN_NEWLINE || r->t.kind == TOKEN_END)
            r->failed = true;
        else
            python_advance(r);
    }
    python_expect_colon(r);
}

/* An `except` and its suite: taken for sure (1), not (0), or perhaps (-1). */
static void read_except(struct python_parser *r, int64_t column, int truth)
{
    struct python_choice c = { .left = 1 };
    snprintf(c.why, sizeof(c.why), "what is tried above line %" PRId64 " may raise",
             r->t.line);
    skip_header(r);
    if (!python_stopped(r))
        python_read_branch(r, &c, truth, column);
    python_end_choice(r, &c);
}

/* What is tried is taken to work, unless a `raise` is reached: then the first `except` is
 * what runs. */
static void read_try(struct python_parser *r, int64_t column)
{
    int32_t tries = r->in.tries;
    bool outer = r->may_raise;
    r->may_raise = false;
    python_advance(r);
    python_expect_colon(r);
    if (python_stopped(r))
        return;
    r->in.tries = r->maybe + 1;
    read_suite(r, column, true);
    r->in.tries = tries;
    int raised = r->in.stop == PYTHON_RAISE ? 1 : r->may_raise ? -1 : 0;
    r->may_raise = outer;
    if (raised == 1)
        r->in.stop = PYTHON_GOES_ON;
    for (int left = raised; !r->limit && goes_on_with(r, column, "except");
         left = left == 1 ? 0 : left)
        read_except(r, column, left);
    read_else(r, column, raised, 0);
    if (!python_stopped(r) && goes_on_with(r, column, "finally")) {
        python_expect_colon(r);
        if (!python_stopped(r))
            read_suite(r, column, true);
    }
}

/* A header alone, as "else:" after what could not be read: it may run. */
static void read_stray(struct python_parser *r, int64_t column)
{
    struct python_choice c = { .left = 1 };
    bool always = python_at(r, "finally");
    snprintf(c.why, sizeof(c.why),
             "it is under line %" PRId64 ", whose beginning is not "
             "read",
             r->t.line);
    skip_header(r);
    if (!python_stopped(r))
        python_read_branch(r, &c, always ? 1 : -1, column);
    python_end_choice(r, &c);
}

static void read_statement(struct python_parser *r, int64_t column)
{
    static const char *const strays[] = { "elif", "else", "except", "finally", NULL };
    if (python_at(r, "async"))
        python_advance(r);
    if (python_at(r, "if"))
        read_if(r, column);
    else if (python_at(r, "for"))
        read_for(r, column);
    else if (python_at(r, "while"))
        read_while(r, column);
    else if (python_at(r, "try"))
        read_try(r, column);
    else if (python_at(r, "with"))
        python_read_with(r, column);
    else if (python_at(r, "def") || python_at(r, "class"))
        python_define(r, column);
    else if (python_at_any(r, strays))
        read_stray(r, column);
    else if (!python_at(r, "match") || !python_match(r, column))
        python_simple(r);
}
