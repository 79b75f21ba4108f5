/* Lines of Python source, and what is between them in a notebook's dump. */
#include "dialect/source/python.h"

#include "config/lenient.h"
#include "config/place.h"
#include "dialect/source/python_parse.h"

#include <inttypes.h>
#include <string.h>

static void skip_line(struct python_parser *r)
{
    r->lex.i += strcspn(r->lex.s + r->lex.i, "\n");
    if (r->lex.s[r->lex.i] == '\n') {
        r->lex.i++;
        r->lex.line++;
    }
}

static void leave_quote(struct python_parser *r)
{
    if (r->quoted)
        r->p->names.n = r->scope;
    r->quoted = false;
    r->scope = 0;
}

static void meet_fence(struct python_parser *r)
{
    if (r->quoted) {
        leave_quote(r);
    } else if (r->prompts) {
        r->quoted = true;
        r->scope = r->p->names.n;
    }
}

/* %%bash and its like: the rest of the cell is another language. */
static void skip_cell(struct python_parser *r)
{
    static const char *const python[] = { "time", "timeit", "capture", "prun" };
    const char *s = r->lex.s + r->lex.i + 2;
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < sizeof(python) / sizeof(python[0]); i++)
        if (strlen(python[i]) == n && strncmp(s, python[i], n) == 0) {
            skip_line(r);
            return;
        }
    do
        skip_line(r);
    while (r->lex.i < r->lex.n && !python_prompt(r->lex.s + r->lex.i) &&
           strncmp(r->lex.s + r->lex.i, "```", 3) != 0);
}

/* A line that is no Python but a notebook's; true when it was passed over. */
static bool read_notebook_line(struct python_parser *r)
{
    const char *s = r->lex.s + r->lex.i;
    size_t prompt = python_prompt(s), blanks = strspn(s, " \t");
    if (prompt) {
        leave_quote(r);
        r->lex.i += prompt;
        r->lex.i += strspn(r->lex.s + r->lex.i, " ");
        return *s == 'O'; /* Out[5]: 42 */
    }
    if (strncmp(s + blanks, "```", 3) == 0) {
        meet_fence(r);
        skip_line(r);
        return true;
    }
    if (s[0] == '%' && s[1] == '%') {
        skip_cell(r);
        return true;
    }
    if (s[blanks] == '!' || s[blanks] == '%') {
        skip_line(r);
        return true;
    }
    return false;
}

/* A statement that begins on this line, or else the line alone. */
static void read_line(struct python_parser *r)
{
    if (read_notebook_line(r))
        return;
    struct python_lexer start = r->lex;
    r->failed = false;
    r->calling = NULL;
    r->nested = 0;
    python_advance(r);
    int64_t line = r->t.line;
    if (!r->failed)
        python_statement(r);
    if (!r->failed || r->limit)
        return;
    if (r->calling)
        python_note(r, line, "%.60s(...) could not be read, and is passed over",
                    r->calling);
    if (r->p->n_passed++ == 0)
        r->p->first_passed = line;
    start.work = r->lex.work;
    r->lex = start;
    skip_line(r);
}

static bool has_prompts(const char *text)
{
    for (const char *s = text; s; s = strchr(s, '\n')) {
        s += *s == '\n';
        if (python_prompt(s))
            return true;
    }
    return false;
}

int python_read(struct python *p, struct arena *arena, const char *text, size_t len,
                const struct python_wanted *wanted, struct err *err)
{
    *p = (struct python) { .arena = arena };
    size_t bad = lenient_bad_byte(text, len);
    if (len > PYTHON_TEXT_MAX_B)
        return err_set(err, "it is longer than %d MiB (give the script alone)",
                       PYTHON_TEXT_MAX_B >> 20);
    if (bad < len)
        return err_set_at(err, (int)place_of(text, bad).line, 0,
                          "the line is no text in UTF-8 (save it as such)");
    struct python_parser r = {
        .p = p,
        .wanted = wanted,
        .lex = { .s = text, .n = len, .line = 1, .arena = arena },
        .prompts = has_prompts(text),
    };
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        r.lex.i = 3;
    while (r.lex.i < r.lex.n && !r.limit)
        read_line(&r);
    leave_quote(&r);
    if (r.limit)
        return err_set_at(err, (int)r.lex.line, 0, "%s (give the script alone)",
                          r.limit);
    return 0;
}

void python_release(struct python *p)
{
    VEC_RELEASE(&p->names);
    VEC_RELEASE(&p->calls);
    VEC_RELEASE(&p->notes);
}
