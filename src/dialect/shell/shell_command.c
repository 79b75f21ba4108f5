/* Simple commands of a shell script: assignments and words. Redirections:
 * shell_redirect.c; what a command does: shell_perform.c, shell_builtin.c. */
#include "dialect/shell/shell_machine.h"

#include <string.h>

/* Assignments ---------------------------------------------------------------------- */

static void read_array(struct shell_machine *m, struct shell_texts *out)
{
    struct shell_char place = shell_peek(m, 0);
    m->at.i++;
    for (shell_skip_blanks(m); !shell_ends(m) && !shell_at(m, ")");
         shell_skip_blanks(m)) {
        int32_t before = m->at.i;
        if (shell_at(m, "\n"))
            shell_newline(m);
        else
            shell_read_word(m, out, true);
        if (m->at.i == before)
            m->at.i++;
    }
    if (shell_ends(m))
        shell_fail(m, &place, "the array is never closed (add a ))");
    m->at.i++;
}

/* X[2]=, of an array that has one more. */
static void replace_element(struct shell_machine *m, const struct shell_variable *x,
                            int64_t at, const struct shell_texts *value)
{
    struct shell_texts all = { .n = x->values.n };
    all.v = ARENA_ARRAY(m->arena, all.n, struct shell_text);
    for (int32_t i = 0; i < all.n; i++)
        all.v[i] = i == at ? value->v[0] : x->values.v[i];
    shell_works(m, all.n);
    shell_assign(m, x->name, &all, true, false);
}

/* X[i]=: what is in the array is not known any more, unless i is a number up to its
 * end. */
static void assign_element(struct shell_machine *m, const char *name, const char *index,
                           struct shell_texts *value, bool append)
{
    const struct shell_variable *x = shell_find(m, name);
    int64_t n = x ? x->values.n : 0, at = 0;
    bool number =
        *index && strspn(index, "0123456789") == strlen(index) && strlen(index) < 6;
    for (const char *s = index; number && *s; s++)
        at = at * 10 + (*s - '0');
    if (number && at == n) {
        shell_assign(m, name, value, true, true);
        return;
    }
    if (number && at < n && !x->keys && value->n == 1 && !append &&
        m->mode == SHELL_RUN) {
        replace_element(m, x, at, value);
        return;
    }
    struct shell_text none = { 0 };
    if (!append && ((x && x->keys) || (!number && *index && *index != '?' && n == 0))) {
        shell_assign_key(m, name, index, value->n ? &value->v[0] : &none);
        return;
    }
    int32_t unknown = shell_not_known(m, arena_printf(m->arena, "$%.40s", name), false,
                                      "an element of %.40s is set", name);
    for (int32_t i = 0; i < value->n; i++)
        for (int32_t j = 0; j < value->v[i].n; j++)
            value->v[i].v[j].unknown = unknown;
    shell_assign(m, name, value, true, false);
}

/* The "]" in [key]=value, or 0. */
static int32_t key_end(const struct shell_text *t)
{
    for (int32_t i = 1; i + 1 < t->n && t->v[0].c == '['; i++)
        if (!t->v[i].unknown && t->v[i].c == ']')
            return t->v[i + 1].c == '=' ? i : 0;
    return 0;
}

/* X=([a]=1 [b]=2) */
static bool is_keyed(struct shell_machine *m, const struct shell_texts *values)
{
    for (int32_t i = 0; i < values->n; i++)
        if (!key_end(&values->v[i]))
            return false;
    shell_works(m, values->n);
    return values->n > 0;
}

static void assign_keys(struct shell_machine *m, const char *name,
                        const struct shell_texts *values, bool append)
{
    struct shell_variable *x = shell_find(m, name);
    if (x && !append && m->mode == SHELL_RUN)
        x->keys = NULL;
    for (int32_t i = 0; i < values->n; i++) {
        const struct shell_text *t = &values->v[i];
        int32_t end = key_end(t);
        struct shell_text key = { .v = t->v + 1, .n = end - 1 },
                          value = { .v = t->v + end + 2, .n = t->n - end - 2 };
        shell_assign_key(m, name, shell_string(m, &key, false), &value);
    }
}

/* X=..., X+=..., X[i]=... at the cursor; false when it is something else. */
static bool read_assignment(struct shell_machine *m)
{
    int32_t n = shell_name_length(m, 0), from = m->at.i;
    const char *index = NULL;
    if (!n)
        return false;
    struct shell_cursor start = m->at;
    m->at.i += n;
    if (shell_at(m, "[")) {
        int32_t inside = ++m->at.i;
        if (!shell_skip_brackets(m, '[', ']')) {
            m->at = start;
            return false;
        }
        struct shell_cursor after = m->at;
        struct shell_text key = { 0 };
        m->at.i = inside;
        m->at.n = after.i - 1;
        shell_read_text(m, &key);
        index = shell_unknown_of(m, &key) ? "?" : shell_string(m, &key, false);
        shell_text_release(&key);
        m->at = after;
    }
    bool append = shell_at(m, "+=");
    if (!append && !shell_at(m, "=")) {
        m->at = start;
        return false;
    }
    const char *name = shell_slice(m, from, from + n);
    struct shell_texts value = { 0 };
    m->at.i += append ? 2 : 1;
    bool array = shell_at(m, "(");
    if (array)
        read_array(m, &value);
    else
        shell_read_word(m, &value, false);
    if (!array && !value.n && m->mode != SHELL_SKIP) {
        struct shell_text none = { 0 };
        shell_texts_take(m, &value, &none);
    }
    if (array && !index && is_keyed(m, &value))
        assign_keys(m, name, &value, append);
    else if (index)
        assign_element(m, name, index, &value, append);
    else
        shell_assign(m, name, &value, array, append);
    shell_texts_release(&value);
    return true;
}

/* All of one ----------------------------------------------------------------------- */

static bool takes_assignments(const struct shell_texts *words)
{
    static const char *const names[] = { "export",   "declare", "local",
                                         "readonly", "typeset", "env" };
    for (size_t i = 0; words->n && i < sizeof(names) / sizeof(names[0]); i++)
        if (shell_is(&words->v[0], names[i]))
            return true;
    return false;
}

static bool is_env(const struct shell_simple *c)
{
    return c->words.n && shell_is(&c->words.v[0], "env");
}

/* `local X=1` and `declare X=1` of a function: the X outside is put aside, until its
 * end; X=1 COMMAND: until the command's. */
static void put_aside(struct shell_machine *m, struct shell_simple *c)
{
    static const char *const names[] = { "local", "declare", "typeset" };
    int32_t n = shell_name_length(m, 0);
    bool local = false, global = false, own = c->words.n == 0 || is_env(c);
    for (size_t i = 0; c->words.n && i < sizeof(names) / sizeof(names[0]); i++)
        local |= shell_is(&c->words.v[0], names[i]);
    for (int32_t i = 1; i < c->words.n; i++)
        global |= shell_is(&c->words.v[i], "-g");
    if (!n || m->mode == SHELL_SKIP || !((local && !global && m->calls) || own))
        return;
    const char *name = shell_slice(m, m->at.i, m->at.i + n);
    for (int64_t i = c->own; own && i < c->own_end; i++)
        if (strcmp(m->locals.v[i].was.name, name) == 0)
            return;
    shell_put_aside(m, name);
    c->own_end = own ? m->locals.n : c->own_end;
}

/* Words see what was before: it comes back, until the command is performed. */
static void read_next(struct shell_machine *m, struct shell_simple *c)
{
    int64_t before = c->own_end;
    if (c->assigns)
        put_aside(m, c);
    if (c->assigns && read_assignment(m)) {
        if (is_env(c))
            shell_swap_aside(m, before, c->own_end);
        return;
    }
    shell_forget_aside(m, before, c->own_end); /* it was none */
    c->own_end = before;
    if (c->words.n == 0)
        shell_swap_aside(m, c->own, c->own_end);
    shell_read_word(m, &c->words, true);
    if (c->words.n == 0) /* "$none X=1": still at the beginning */
        shell_swap_aside(m, c->own, c->own_end);
    c->assigns = c->words.n == 0 || takes_assignments(&c->words);
}

enum shell_status shell_simple_command(struct shell_machine *m)
{
    struct shell_simple c = { .line = shell_peek(m, 0).line,
                              .assigns = true,
                              .own = m->locals.n,
                              .own_end = m->locals.n,
                              .mark = m->sets };
    enum shell_status s = SHELL_DONE;
    for (; !shell_ends(m); shell_skip_blanks(m)) {
        if (shell_redirection(m, &c.to))
            continue;
        if (shell_word_ends(m))
            break;
        read_next(m, &c);
    }
    bool own = c.words.n && c.own_end > c.own;
    if (own)
        shell_swap_aside(m, c.own, c.own_end);
    if (m->mode != SHELL_SKIP && !m->failed)
        s = shell_perform(m, &c);
    if (own)
        shell_swap_aside(m, c.own, c.own_end);
    shell_forget_aside(m, c.own, c.own_end);
    shell_texts_release(&c.words);
    shell_redirect_release(&c.to);
    return s;
}
