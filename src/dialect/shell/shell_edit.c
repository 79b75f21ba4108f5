/* ${X%.py}, ${X##w}, ${X/a/b}, ${X:1:2}, ${X,,}: edits of a text that is known. */
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The rest of the edit as a text, "$" expanded; false: it is not known. */
static bool read_operand(struct shell_machine *m, struct shell_cursor *edit, char end,
                         struct shell_text *out)
{
    struct shell_cursor here = m->at, inner = *edit;
    inner.n = edit->i;
    while (inner.n < edit->n && !(end && edit->v[inner.n].c == end)) {
        bool escaped = edit->v[inner.n].c == '\\' && inner.n + 1 < edit->n;
        inner.n += escaped ? 2 : 1;
    }
    m->at = inner;
    while (!shell_ends(m)) { /* blanks within are its own */
        struct shell_text piece = { 0 };
        shell_read_text(m, &piece);
        shell_append(m, out, &piece);
        shell_text_release(&piece);
        if (!shell_ends(m))
            shell_push(m, out, m->at.v[m->at.i++]);
    }
    m->at = here;
    edit->i = inner.n < edit->n ? inner.n + 1 : inner.n;
    return !shell_unknown_of(m, out);
}

static void keep(struct shell_machine *m, struct shell_text *out,
                 const struct shell_text *t, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        shell_push(m, out, t->v[i]);
}

/* What matches the pattern at an end goes: the longest or the shortest of it. */
static void strip(struct shell_machine *m, const struct shell_text *t,
                  const struct shell_text *pattern, bool front, bool longest,
                  struct shell_text *out)
{
    int32_t cut = -1;
    for (int32_t i = 0; i <= t->n && !m->failed && (longest || cut < 0); i++) {
        struct shell_text part = { .v = front ? t->v : t->v + t->n - i, .n = i };
        if (shell_matches(m, &part, pattern))
            cut = i;
    }
    cut = cut < 0 ? 0 : cut;
    keep(m, out, t, front ? cut : 0, front ? t->n : t->n - cut);
}

/* ${X/a/b}, ${X//a/b}, of plain text alone. */
static bool replace(struct shell_machine *m, const struct shell_text *t,
                    const struct shell_text *from, const struct shell_text *to,
                    bool all, struct shell_text *out)
{
    for (int32_t i = 0; i < from->n; i++)
        if (strchr("*?[#%", from->v[i].c))
            return false;
    bool done = from->n == 0;
    for (int32_t i = 0; i < t->n && !m->failed;) {
        bool here = !done && from->n <= t->n - i;
        for (int32_t k = 0; here && k < from->n; k++)
            here = t->v[i + k].c == from->v[k].c;
        if (here) {
            shell_append(m, out, to);
            i += from->n;
            done = !all;
        } else {
            shell_push(m, out, t->v[i++]);
        }
        shell_works(m, from->n + 1);
    }
    return true;
}

/* ${X:from:n} */
static bool slice(struct shell_machine *m, const struct shell_text *t,
                  const struct shell_text *from, const struct shell_text *count,
                  struct shell_text *out)
{
    int64_t at = 0, n = t->n;
    int32_t why;
    if (!shell_calculate(m, from, &at, &why) ||
        (count->n && !shell_calculate(m, count, &n, &why)))
        return false;
    at = at < 0 ? at + t->n : at;
    int64_t end = count->n && n < 0 ? t->n + n : n > t->n ? t->n : at + n;
    at = at < 0 ? 0 : at > t->n ? t->n : at;
    end = end < at ? at : end > t->n ? t->n : end;
    keep(m, out, t, (int32_t)at, (int32_t)end);
    return true;
}

static void change_case(struct shell_machine *m, const struct shell_text *t, bool lower,
                        bool all, struct shell_text *out)
{
    for (int32_t i = 0; i < t->n; i++) {
        struct shell_char x = t->v[i];
        if ((all || i == 0) && (unsigned char)x.c < 0x80)
            x.c = (char)(lower ? tolower((unsigned char)x.c)
                               : toupper((unsigned char)x.c));
        shell_push(m, out, x);
    }
}

bool shell_edit(struct shell_machine *m, const struct shell_text *value,
                struct shell_cursor edit, struct shell_text *out)
{
    char op = edit.v[edit.i].c;
    bool twice = edit.i + 1 < edit.n && edit.v[edit.i + 1].c == op && op != ':';
    struct shell_text a = { 0 }, b = { 0 };
    bool done = false;
    edit.i += twice ? 2 : 1;
    if (op == '%' || op == '#') {
        done = read_operand(m, &edit, '\0', &a);
        if (done)
            strip(m, value, &a, op == '#', twice, out);
    } else if (op == '/') {
        done = read_operand(m, &edit, '/', &a) && read_operand(m, &edit, '\0', &b) &&
               replace(m, value, &a, &b, twice, out);
    } else if (op == ':') {
        done = read_operand(m, &edit, ':', &a) && read_operand(m, &edit, '\0', &b) &&
               slice(m, value, &a, &b, out);
    } else if ((op == ',' || op == '^') && edit.i == edit.n) {
        change_case(m, value, op == ',', twice, out);
        done = true;
    }
    shell_text_release(&a);
    shell_text_release(&b);
    return done && !m->failed;
}
