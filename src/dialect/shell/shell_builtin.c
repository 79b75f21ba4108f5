/* What the shell's own commands, and the functions of a script, do to the rest of it. */
#include "dialect/shell/shell_machine.h"

#include "base/names.h"

#include <ctype.h>
#include <string.h>

/* A command under way, its words and what is after <<<. */
struct builtin {
    struct shell_machine *m;
    const struct shell_texts *w;
    const struct shell_text *input; /* NULL: nothing */
    int64_t mark;                   /* of m->sets, before its assignments */
};

/* Conditions ----------------------------------------------------------------------- */

static enum shell_status do_test(struct builtin *b)
{
    struct shell_texts rest = { b->w->v + 1, b->w->n - 1, 0 };
    return shell_test(b->m, &rest);
}

static enum shell_status do_yes(struct builtin *b)
{
    (void)b;
    return SHELL_YES;
}

static enum shell_status do_no(struct builtin *b)
{
    (void)b;
    return SHELL_NO;
}

static enum shell_status do_nothing(struct builtin *b)
{
    (void)b;
    return SHELL_DONE;
}

/* let a=1 b+=2: the last decides. */
static enum shell_status do_let(struct builtin *b)
{
    struct shell_machine *m = b->m;
    enum shell_status s = SHELL_DONE;
    for (int32_t i = 1; i < b->w->n; i++) {
        int64_t v = 0;
        int32_t why = 0;
        bool known = shell_calculate(m, &b->w->v[i], &v, &why);
        m->because = known || !why ? m->because : why;
        s = !known ? SHELL_UNKNOWN : v ? SHELL_YES : SHELL_NO;
    }
    return s;
}

/* Jumps ---------------------------------------------------------------------------- */

/* A script that gives up ("exit 1") does so where what it asks for is not there: it is
 * taken to be, and the rest is read. */
static enum shell_status do_exit(struct builtin *b)
{
    struct shell_machine *m = b->m;
    bool well = b->w->n == 1 || shell_is(&b->w->v[1], "0");
    m->out->gives_up |= !well;
    if (well && m->mode == SHELL_MAYBE &&
        m->loops) /* "while true; do run && exit 0; ..." */
        shell_jump(m, SHELL_BREAKS, m->loops);
    if (!well || m->mode != SHELL_RUN)
        return SHELL_DONE;
    if (m->subshells)
        shell_jump(m, SHELL_EXITS, 0);
    else
        m->ended = true;
    return SHELL_DONE;
}

static enum shell_status leave_loops(struct builtin *b, enum shell_way way)
{
    struct shell_machine *m = b->m;
    int64_t n = b->w->n > 1 ? shell_word_number(&b->w->v[1], 1) : 1;
    int32_t levels = n < 1 ? 1 : n > m->loops ? m->loops : (int32_t)n;
    if (m->loops)
        shell_jump(m, way, levels);
    return SHELL_DONE;
}

static enum shell_status do_break(struct builtin *b)
{
    return leave_loops(b, SHELL_BREAKS);
}

static enum shell_status do_continue(struct builtin *b)
{
    return leave_loops(b, SHELL_CONTINUES);
}

/* Of a function, or of a file that is sourced. */
static enum shell_status do_return(struct builtin *b)
{
    struct shell_machine *m = b->m;
    int64_t n = b->w->n > 1 ? shell_word_number(&b->w->v[1], -1) : -1;
    m->returned = n == 0        ? SHELL_YES
                  : n > 0       ? SHELL_NO
                  : b->w->n > 1 ? SHELL_DONE
                                : m->status;
    if (m->calls || m->sourced)
        shell_jump(m, SHELL_RETURNS, 0);
    return SHELL_DONE;
}

/* Variables ------------------------------------------------------------------------ */

static enum shell_status do_shift(struct builtin *b)
{
    return shell_do_shift(b->m, b->w);
}

static enum shell_status do_set(struct builtin *b)
{
    return shell_do_set(b->m, b->w);
}

static enum shell_status do_getopts(struct builtin *b)
{
    return shell_do_getopts(b->m, b->w);
}

static enum shell_status do_read(struct builtin *b)
{
    return shell_do_read(b->m, b->w, b->input);
}

static enum shell_status do_mapfile(struct builtin *b)
{
    return shell_do_mapfile(b->m, b->w);
}

/* An element, X[i], takes what is known of the rest with it. */
static void unset_one(struct shell_machine *m, const struct shell_text *t)
{
    char *name = arena_strdup(m->arena, shell_string(m, t, false));
    char *index = strchr(name, '[');
    if (!index) {
        shell_unset(m, name);
        return;
    }
    *index = '\0';
    shell_void(m, name,
               shell_not_known(m, arena_printf(m->arena, "$%.40s", name), false,
                               "an element of %.40s is unset", name));
}

static enum shell_status do_unset(struct builtin *b)
{
    bool functions = b->w->n > 1 && shell_is(&b->w->v[1], "-f"),
         reference = b->w->n > 1 && shell_is(&b->w->v[1], "-n");
    for (int32_t i = 1; i < b->w->n; i++) {
        const struct shell_text *t = &b->w->v[i];
        bool option = t->n && t->v[0].c == '-';
        if (option || functions || shell_unknown_of(b->m, t))
            continue;
        if (reference)
            shell_unset_reference(b->m, shell_string(b->m, t, false));
        else
            unset_one(b->m, t);
    }
    return SHELL_DONE;
}

/* export "X=1": the word is an assignment, though it is quoted; false: it is none. */
static bool assign_word(struct shell_machine *m, const struct shell_text *t)
{
    int32_t n = 0;
    while (n < t->n && !t->v[n].unknown &&
           (isalnum((unsigned char)t->v[n].c) || t->v[n].c == '_'))
        n++;
    if (n == 0 || n >= t->n || t->v[n].unknown || t->v[n].c != '=')
        return false;
    struct shell_text name = { .v = t->v, .n = n },
                      value = { .v = t->v + n + 1, .n = t->n - n - 1 };
    struct shell_texts one = { &value, 1, 0 };
    shell_assign(m, shell_string(m, &name, false), &one, false, false);
    return true;
}

/* Words after `export` and the like that are no plain X=1. */
static enum shell_status do_export(struct builtin *b)
{
    struct shell_machine *m = b->m;
    for (int32_t i = 1; i < b->w->n; i++) {
        const struct shell_text *t = &b->w->v[i];
        bool said = assign_word(m, t) || !shell_unknown_of(m, t);
        if (!said)
            shell_note(m, t->v[0].line, "what %s %.60s sets is not known: %s",
                       shell_string(m, &b->w->v[0], false), shell_string(m, t, false),
                       shell_unknown_of(m, t)->why);
    }
    return SHELL_DONE;
}

static void declare_one(struct shell_machine *m, const char *name, bool integer,
                        const char *option)
{
    if (integer) {
        shell_declare_integer(m, name);
        return;
    }
    if (!shell_declare_reference(m, name))
        shell_void(m, name,
                   shell_not_known(m, arena_printf(m->arena, "$%.40s", name), false,
                                   "$%.40s is declared with %s", name, option));
}

/* declare -n X=Y and declare -i X=1+2: what X is follows other rules. */
static void do_declared(struct builtin *b, const struct shell_text *option)
{
    struct shell_machine *m = b->m;
    const char *word = shell_string(m, option, false);
    bool integer = strchr(word, 'i') != NULL;
    if (!integer && !strchr(word, 'n'))
        return;
    for (int64_t i = 0; i < m->variables.n; i++) {
        const struct shell_variable *x = &m->variables.v[i];
        if (x->set > b->mark && !x->absent && !x->refers)
            declare_one(m, x->name, integer, word);
    }
    for (int32_t i = 2; integer && i < b->w->n; i++)
        if (!shell_unknown_of(m, &b->w->v[i]) &&
            !strchr(shell_string(m, &b->w->v[i], false), '='))
            shell_declare_integer(m, shell_string(m, &b->w->v[i], false));
}

/* `local X`, without a value: it is empty. */
static enum shell_status do_local(struct builtin *b)
{
    struct shell_machine *m = b->m;
    for (int32_t i = 1; i < b->w->n && m->calls; i++) {
        const struct shell_text *t = &b->w->v[i];
        if (!t->n || t->v[0].c == '-' || shell_unknown_of(m, t) ||
            strchr(shell_string(m, t, false), '='))
            continue;
        shell_unset(m, shell_string(m, t, false));
    }
    if (b->w->n > 1 && b->w->v[1].n > 1 && b->w->v[1].v[0].c == '-')
        do_declared(b, &b->w->v[1]);
    return do_export(b);
}

/* What a handler sets when its signal comes is not known afterwards; what it starts is
 * no part of the training. */
static enum shell_status do_trap(struct builtin *b)
{
    struct shell_machine *m = b->m;
    int64_t commands = m->out->commands.n, files = m->out->files.n;
    bool at_end = true; /* nothing comes after it */
    for (int32_t i = 2; i < b->w->n; i++)
        at_end &= shell_is(&b->w->v[i], "EXIT") || shell_is(&b->w->v[i], "0");
    if (b->w->n < 3 || at_end || b->w->v[1].n == 0 || shell_is(&b->w->v[1], "-"))
        return SHELL_DONE;
    struct shell_branch before = shell_enter(m, SHELL_UNKNOWN);
    struct shell_frame f = shell_frame_begin(m, false);
    if (before.mode == SHELL_RUN)
        m->because = shell_not_known(m, "?", false, "a trap runs when a signal comes");
    shell_nested(m, shell_words_text(m, b->w, 1, 2));
    shell_frame_end(m, &f, false);
    shell_leave(m, before);
    m->out->commands.n = commands;
    m->out->files.n = files;
    return SHELL_DONE;
}

/* Directories ---------------------------------------------------------------------- */

/* Paths that follow are relative to it; where it is not known they stay as they are. */
static void change_directory(struct shell_machine *m, const char *path,
                             const struct shell_text *to)
{
    struct shell_texts one = { 0 };
    struct shell_text t = { 0 };
    m->directory = path;
    shell_add_string(m, &t, path, to && to->n ? to->v[0] : (struct shell_char) { 0 });
    shell_texts_take(m, &one, &t);
    shell_assign(m, "PWD", &one, false, false);
    shell_texts_release(&one);
}

static enum shell_status do_cd(struct builtin *b)
{
    struct shell_machine *m = b->m;
    const struct shell_text *to = b->w->n > 1 ? &b->w->v[b->w->n - 1] : NULL;
    if (m->mode != SHELL_RUN || !m->in->file || !to || shell_unknown_of(m, to))
        return SHELL_DONE;
    const char *old = m->directory;
    if (shell_is(to, "-"))
        change_directory(m, m->before ? m->before : old, to);
    else
        change_directory(m, shell_path(m->arena, old, shell_string(m, to, false)), to);
    m->before = old;
    return SHELL_DONE;
}

static enum shell_status do_popd(struct builtin *b)
{
    struct shell_machine *m = b->m;
    if (m->mode == SHELL_RUN && m->in->file && m->before)
        change_directory(m, m->before, NULL);
    return SHELL_DONE;
}

static enum shell_status do_source(struct builtin *b)
{
    if (b->w->n > 1)
        b->m->hooks->source(b->m, b->w);
    return SHELL_DONE;
}

/* Functions ------------------------------------------------------------------------ */

static const struct shell_function *function_of(const struct shell_machine *m,
                                                const struct shell_text *word)
{
    for (int64_t i = m->functions.n; i-- > 0;)
        if (shell_is(word, m->functions.v[i].name))
            return &m->functions.v[i];
    return NULL;
}

static enum shell_status call_function(struct shell_machine *m, struct shell_function f,
                                       const struct shell_texts *words)
{
    struct shell_arguments outer = m->arguments;
    struct shell_branch before = shell_enter(m, f.perhaps ? SHELL_UNKNOWN : SHELL_YES);
    m->because = f.perhaps ? f.perhaps : m->because;
    struct shell_frame frame = shell_frame_begin(m, false);
    int64_t locals = m->locals.n;
    m->arguments = shell_arguments_of(m, words, 1);
    m->calls++;
    enum shell_status s = shell_nested(m, f.body);
    s = m->jump.way == SHELL_RETURNS ? m->returned : m->unsure.way ? SHELL_DONE : s;
    m->calls--;
    shell_give_back(m, locals);
    m->arguments = outer;
    int32_t because = m->because;
    shell_frame_end(m, &frame, false);
    shell_leave(m, before);
    if (s == SHELL_UNKNOWN)
        m->because = because;
    return s;
}

/* All ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum shell_status (*run)(struct builtin *b);
} rows[] = {
    { "[", do_test },
    { "test", do_test },
    { ":", do_yes },
    { "true", do_yes },
    { "false", do_no },
    { "let", do_let },
    { "exit", do_exit },
    { "break", do_break },
    { "continue", do_continue },
    { "return", do_return },
    { "shift", do_shift },
    { "set", do_set },
    { "getopts", do_getopts },
    { "read", do_read },
    { "mapfile", do_mapfile },
    { "readarray", do_mapfile },
    { "unset", do_unset },
    { "local", do_local },
    { "declare", do_local },
    { "typeset", do_local },
    { "cd", do_cd },
    { "pushd", do_cd },
    { "popd", do_popd },
    { "source", do_source },
    { ".", do_source },
    { "export", do_export },
    { "readonly", do_export },
    { "shopt", do_nothing },
    { "trap", do_trap },
};

bool shell_builtin(struct shell_machine *m, const struct shell_texts *words,
                   const struct shell_text *input, int64_t mark, enum shell_status *s)
{
    struct builtin b = { m, words, input, mark };
    const struct shell_function *f = function_of(m, &words->v[0]);
    if (f) {
        *s = call_function(m, *f, words);
        return true;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (shell_is(&words->v[0], rows[i].name)) {
            *s = rows[i].run(&b);
            return true;
        }
    return shell_is(&words->v[0], "printf") && shell_do_printf(m, words);
}
