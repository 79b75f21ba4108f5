/* Variables of a shell script: $X, ${X}, and ${X:-word} and its kin. */
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 40 };

static int32_t unset(struct shell_machine *m, const char *name)
{
    bool slurm = strncmp(name, "SLURM_", 6) == 0; /* set, but not by the script */
    if (isdigit((unsigned char)*name) || strchr("@*#", *name))
        return shell_argument_unknown(m, name);
    if (strchr("?$!-", *name))
        return shell_not_known(m, arena_printf(m->arena, "$%.1s", name), false,
                               "$%.1s is known only where the script runs", name);
    int32_t row =
        shell_not_known(m, arena_printf(m->arena, "$%.*s", SHOWN, name), !slurm,
                        "$%.*s is not set in the script (--set "
                        "/shell/%.*s=VALUE gives it)",
                        SHOWN, name, SHOWN, name);
    m->unknowns.v[row - 1].ask = name;
    for (const struct shell_passed *x = m->passed; x; x = x->before)
        m->unknowns.v[row - 1].passed |= strcmp(x->name, name) == 0;
    return row;
}

/* What is between the name and the closing bracket. */
struct parameter {
    const char *name;
    const struct shell_variable *x; /* NULL: not set */
    const char *index;              /* NULL; "@", "*" or a number or key, expanded */
    bool indirect;                  /* ${!X} */
    bool count;                     /* ${#X} */
    struct shell_char place;
};

static bool is_number(const char *s)
{
    return *s && strspn(s, "0123456789") == strlen(s) && strlen(s) < 7;
}

static void take_value(struct shell_machine *m, struct shell_texts *out,
                       const struct parameter *p, bool *fields)
{
    const struct shell_texts *values = &p->x->values;
    bool all = p->index && (*p->index == '@' || *p->index == '*');
    bool number = p->index && !all;
    int64_t at = number ? strtol(p->index, NULL, 10) : 0;
    *fields = all && *p->index == '@';
    if (number && p->x->keys) {
        at = shell_key(p->x, p->index);
        at = at < 0 ? values->n : at;
    } else if (number && strspn(p->index, "0123456789") == strlen(p->index) &&
               !is_number(p->index)) {
        at = values->n; /* beyond any */
    } else if (number && !is_number(p->index)) {
        shell_take_unknown(
            m, out, p->place,
            shell_not_known(m, arena_printf(m->arena, "${%.*s[...]}", SHOWN, p->name),
                            false, "an element of %.*s is chosen", SHOWN, p->name));
        return;
    }
    int64_t end = all || at >= values->n ? values->n : at + 1;
    for (int64_t i = all ? 0 : at; i < end; i++) {
        struct shell_text copy = { 0 };
        shell_append(m, &copy, &values->v[i]);
        shell_texts_take(m, out, &copy);
    }
    if (!all && at >= values->n) { /* empty, and a word where it is quoted */
        struct shell_text none = { 0 };
        shell_texts_take(m, out, &none);
    }
}

/* Whether it is not set, or holds nothing: what ":-" asks. */
static enum shell_status is_null(const struct shell_machine *m,
                                 const struct parameter *p)
{
    if (!p->x)
        return SHELL_YES;
    for (int32_t i = 0; i < p->x->values.n; i++) {
        const struct shell_unknown *u = shell_unknown_of(m, &p->x->values.v[i]);
        bool alone = u && p->x->values.v[i].n == 1;
        if (alone)
            return u->unset ? SHELL_YES : SHELL_UNKNOWN;
        if (p->x->values.v[i].n)
            return SHELL_NO;
    }
    return SHELL_YES;
}

/* The text up to the end; blanks within are its own. */
static void read_rest(struct shell_machine *m, struct shell_text *t)
{
    while (!shell_ends(m)) {
        struct shell_text piece = { 0 };
        shell_read_text(m, &piece);
        shell_append(m, t, &piece);
        shell_text_release(&piece);
        if (!shell_ends(m))
            shell_push(m, t, m->at.v[m->at.i++]);
    }
}

/* The word of ${X:-word}, to the closing bracket. */
static void default_word(struct shell_machine *m, struct shell_texts *out,
                         struct shell_cursor inner)
{
    struct shell_cursor here = m->at;
    struct shell_text t = { 0 };
    m->at = inner;
    read_rest(m, &t);
    m->at = here;
    shell_texts_take(m, out, &t);
}

/* ${X:-w} and its kin, the operator at the cursor's start. */
static void apply_default(struct shell_machine *m, struct shell_texts *out,
                          const struct parameter *p, struct shell_cursor inner,
                          bool *fields)
{
    bool colon = inner.v[inner.i].c == ':';
    char op = inner.v[inner.i + colon].c;
    enum shell_status null = colon || !p->x || p->x->gone ? is_null(m, p) : SHELL_NO;
    inner.i += colon ? 2 : 1;
    if (op == '?' && null == SHELL_YES) { /* the script would give up */
        shell_take_unknown(m, out, p->place, unset(m, p->name));
    } else if (op == '+' ? null == SHELL_NO : null == SHELL_YES) {
        default_word(m, out, inner);
        if (op == '=')
            shell_assign(m, p->name, out, false, false);
    } else if (p->x && (op != '+' || null == SHELL_UNKNOWN)) {
        take_value(m, out, p, fields);
    }
}

static void count_values(struct shell_machine *m, struct shell_texts *out,
                         const struct parameter *p)
{
    const struct shell_text *one = p->x && p->x->values.n ? &p->x->values.v[0] : NULL;
    int32_t n = !p->x                              ? 0
                : p->index                         ? p->x->values.n
                : one && !shell_unknown_of(m, one) ? one->n
                                                   : -1;
    if (n < 0)
        shell_take_unknown(m, out, p->place,
                           shell_not_known(m, "${#...}", false, "${#%.*s} is a length",
                                           SHOWN, p->name));
    else
        shell_take_string(m, out, p->place, arena_printf(m->arena, "%d", (int)n));
}

/* What is in X[ ]: expanded, and calculated where that is no number. */
static const char *index_of(struct shell_machine *m, int32_t from, int32_t to)
{
    struct shell_cursor here = m->at;
    struct shell_text t = { 0 };
    int64_t v;
    int32_t why;
    m->at.i = from;
    m->at.n = to;
    read_rest(m, &t);
    const char *text = shell_unknown_of(m, &t) ? "?" : shell_string(m, &t, false);
    bool plain = t.n && (isalnum((unsigned char)*text) || *text == '@' || *text == '*');
    const char *sum = strpbrk(text, "+-*/%");
    if (plain && sum && sum != text && !shell_unknown_of(m, &t) &&
        shell_calculate(m, &t, &v, &why))
        text = arena_printf(m->arena, "%" PRId64, v);
    shell_text_release(&t);
    m->at = here;
    return text;
}

/* ${!X[@]}: keys or numbers; ${!X}: the variable that X names. */
static bool take_indirect(struct shell_machine *m, struct shell_texts *out,
                          const struct parameter *p, bool *fields)
{
    struct parameter other = *p;
    if (p->index && (*p->index == '@' || *p->index == '*')) {
        *fields = *p->index == '@';
        for (int32_t i = 0; i < p->x->values.n; i++)
            shell_take_string(m, out, p->place,
                              p->x->keys ? p->x->keys[i]
                                         : arena_printf(m->arena, "%d", (int)i));
        return true;
    }
    if (p->index || !p->x->values.n || shell_unknown_of(m, &p->x->values.v[0]))
        return false;
    other.name = shell_string(m, &p->x->values.v[0], false);
    other.x = shell_look(m, other.name);
    if (!other.x || other.x->array)
        return false;
    take_value(m, out, &other, fields);
    return true;
}

/* ${X[@]:1:2} and ${@:2}: some of the texts; false: it is no such. */
static bool take_slice(struct shell_machine *m, struct shell_texts *out,
                       const struct parameter *p, struct shell_cursor edit,
                       bool *fields)
{
    bool all = p->index && (*p->index == '@' || *p->index == '*');
    bool arguments = all && p->index == p->name;
    if (!p->x || !all || p->count || p->indirect || edit.i >= edit.n ||
        edit.v[edit.i].c != ':' || (arguments && m->arguments.open))
        return false;
    struct shell_text numbers[2] = { { 0 }, { 0 } };
    int k = 0, n = 0;
    for (edit.i++; edit.i < edit.n && k < 2; edit.i++)
        if (edit.v[edit.i].c == ':')
            k++;
        else
            shell_push(m, &numbers[k], edit.v[edit.i]), n++;
    int32_t why;
    int64_t from = 0, most = p->x->values.n;
    bool known = n && k < 2 && shell_calculate(m, &numbers[0], &from, &why) &&
                 (k == 0 || shell_calculate(m, &numbers[1], &most, &why)) && from >= 0;
    from -= arguments && from > 0;
    for (int64_t i = from; known && i < p->x->values.n && i < from + most; i++) {
        struct shell_text copy = { 0 };
        shell_append(m, &copy, &p->x->values.v[i]);
        shell_texts_take(m, out, &copy);
    }
    *fields = known && *p->index == '@';
    shell_text_release(&numbers[0]);
    shell_text_release(&numbers[1]);
    return known;
}

/* ${X%.py} and its kin, of a text that is known. */
/* ${X#*=} and ${X%.*} of a text with pieces that are not known: the shortest match, where
 * it is found before the first of them, or after the last. */
static bool edit_end(struct shell_machine *m, const struct shell_text *t,
                     struct shell_cursor edit, struct shell_text *out)
{
    char op = edit.v[edit.i].c;
    int32_t from = 0, to = t->n;
    bool once = edit.i + 1 < edit.n && edit.v[edit.i + 1].c != op;
    if (!once || (op != '#' && op != '%'))
        return false;
    for (int32_t i = 0; i < t->n; i++)
        if (t->v[i].unknown) {
            to = to < t->n ? to : i;
            from = i + 1;
        }
    struct shell_text end = { .v = op == '#' ? t->v : t->v + from,
                              .n = op == '#' ? to : t->n - from };
    struct shell_text made = { 0 };
    bool done = m->hooks->edit(m, &end, edit, &made) && made.n < end.n;
    for (int32_t i = 0; done && op == '%' && i < from; i++)
        shell_push(m, out, t->v[i]);
    if (done)
        shell_append(m, out, &made);
    for (int32_t i = to; done && op == '#' && i < t->n; i++)
        shell_push(m, out, t->v[i]);
    shell_text_release(&made);
    return done && !m->failed;
}

static bool take_edited(struct shell_machine *m, struct shell_texts *out,
                        const struct parameter *p, struct shell_cursor edit)
{
    struct shell_texts values = { 0 };
    struct shell_text made = { 0 };
    bool fields = false;
    if (!p->x || p->count || p->indirect)
        return false;
    take_value(m, &values, p, &fields);
    bool known = values.n == 1 && !shell_unknown_of(m, &values.v[0]);
    bool done = known           ? m->hooks->edit(m, &values.v[0], edit, &made)
                : values.n == 1 ? edit_end(m, &values.v[0], edit, &made)
                                : false;
    shell_texts_release(&values);
    if (done)
        shell_texts_take(m, out, &made);
    shell_text_release(&made);
    return done;
}

/* Between the brackets: a name, perhaps [i], perhaps an operator and a word. */
static void read_parameter(struct shell_machine *m, struct shell_texts *out,
                           bool *fields, struct shell_cursor inner,
                           struct shell_char place)
{
    struct shell_cursor here = m->at;
    struct parameter p = { .place = place };
    m->at = inner;
    p.count = inner.n - inner.i > 1 && shell_at(m, "#");
    p.indirect = inner.n - inner.i > 1 && shell_at(m, "!");
    m->at.i += p.count || p.indirect;
    int32_t n = shell_name_length(m, 0), from = m->at.i;
    if (!n)
        while (isdigit((unsigned char)shell_peek(m, n).c))
            n++;
    if (!n && !shell_ends(m) && strchr("@*#", shell_peek(m, 0).c))
        n = 1;
    m->at.i += n;
    p.name = shell_slice(m, from, m->at.i);
    p.x = n ? shell_look(m, p.name) : NULL;
    if (n && strchr("@*", *p.name))
        p.index = p.name;
    if (shell_at(m, "[")) {
        int32_t index = ++m->at.i;
        bool closed = shell_skip_brackets(m, '[', ']');
        p.index = index_of(m, index, m->at.i - closed);
    }
    struct shell_cursor rest = m->at;
    m->at = here;
    if (p.indirect && p.x && take_indirect(m, out, &p, fields))
        return;
    char op = rest.i < rest.n ? rest.v[rest.i].c : '\0';
    bool colon = op == ':' && rest.i + 1 < rest.n;
    char second = colon ? rest.v[rest.i + 1].c : op;
    if (n && p.count && !op)
        count_values(m, out, &p);
    else if (n && !p.count && op && strchr("-=+?", second) && second &&
             (colon || strchr("-=+?", op)))
        apply_default(m, out, &p, rest, fields);
    else if (n && !op && p.x && !p.indirect)
        take_value(m, out, &p, fields);
    else if (n && !op && !p.indirect)
        shell_take_unknown(m, out, place, unset(m, p.name));
    else if (!n ||
             (!take_slice(m, out, &p, rest, fields) && !take_edited(m, out, &p, rest)))
        shell_take_unknown(m, out, place,
                           shell_not_known(m, "${...}", false,
                                           "${%.*s...} is edited text", SHOWN, p.name));
}

void shell_braces(struct shell_machine *m, struct shell_texts *out, bool *fields,
                  struct shell_char place)
{
    int32_t from = m->at.i += 2;
    if (!shell_skip_brackets(m, '{', '}')) {
        shell_fail(m, &place, "the bracket is never closed (add a })");
        return;
    }
    struct shell_cursor inner = { m->at.v, m->at.i - 1, from, -1, -1 };
    if (m->depth >= SHELL_DEPTH_MAX) {
        shell_fail(m, &place, "more than %d brackets in each other", SHELL_DEPTH_MAX);
        return;
    }
    m->depth++;
    read_parameter(m, out, fields, inner, place);
    m->depth--;
}

void shell_plain(struct shell_machine *m, struct shell_texts *out, bool *fields,
                 struct shell_char place)
{
    int32_t n = shell_name_length(m, 1), from = m->at.i + 1;
    char next = shell_peek(m, 1).c;
    if (!n && next && !shell_peek(m, 1).unknown &&
        (isdigit((unsigned char)next) || strchr("@*#?$!-", next)))
        n = 1;
    m->at.i += 1 + n;
    if (!n) {
        shell_take_string(m, out, place, "$");
        return;
    }
    struct parameter p = { .place = place, .name = shell_slice(m, from, m->at.i) };
    p.x = shell_look(m, p.name);
    if (strchr("@*", *p.name))
        p.index = p.name;
    if (p.x)
        take_value(m, out, &p, fields);
    else
        shell_take_unknown(m, out, place, unset(m, p.name));
}
