/* Simple commands of a shell script: assignments, words, and what is recorded of a
 * command. Redirections: shell_redirect.c; the shell's own commands: shell_builtin.c. */
#include "dialect/source/shell_machine.h"

#include <string.h>

/* A command under way. */
struct command {
    struct shell_texts words;
    struct shell_redirect to;
    int32_t line;
    bool assigns; /* what is still to come may be X=...: the beginning, or `export` */
};

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

/* X[i]=: what is in the array is not known any more, unless i is its end. */
static void assign_element(struct shell_machine *m, const char *name, const char *index,
                           struct shell_texts *value)
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
    struct shell_text none = { 0 };
    if ((x && x->keys) || (!number && *index && *index != '?' && n == 0)) {
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
        assign_element(m, name, index, &value);
    else
        shell_assign(m, name, &value, array, append);
    shell_texts_release(&value);
    return true;
}

/* What commands do ----------------------------------------------------------------- */

static struct shell_word word_of(struct shell_machine *m, const struct shell_text *t)
{
    const struct shell_unknown *u = shell_unknown_of(m, t);
    return (struct shell_word) {
        .text = shell_string(m, t, false),
        .why = u ? u->why : NULL,
        .whole = u && t->n == 1,
        .gpus = u && t->n == 1 && u->gpus,
        .ask = u ? u->ask : NULL,
        .may = u ? u->may : NULL,
        .line = t->n ? t->v[0].line : 0,
        .column = t->n ? t->v[0].column : 0,
    };
}

static void record(struct shell_machine *m, const struct command *c)
{
    struct shell_command out = { .n = c->words.n,
                                 .line = c->line,
                                 .within = m->within };
    if (m->out->commands.n >= SHELL_COMMANDS_MAX) {
        shell_fail(m, NULL,
                   "more than %d commands (give the part that starts the "
                   "training)",
                   SHELL_COMMANDS_MAX);
        return;
    }
    struct shell_word *words = ARENA_ARRAY(m->arena, c->words.n, struct shell_word);
    for (int32_t i = 0; i < c->words.n; i++)
        words[i] = word_of(m, &c->words.v[i]);
    out.words = words;
    if (m->mode == SHELL_MAYBE)
        out.unless = shell_why(m, m->because);
    VEC_PUSH(&m->out->commands, out);
}

/* What a file holds so far, where more is put after it; "" for a new one. */
static const char *text_before(const struct shell_machine *m, const struct command *c,
                               const char *name)
{
    for (int64_t i = m->out->files.n; c->to.appends && i-- > 0;)
        if (strcmp(m->out->files.v[i].name, name) == 0)
            return m->out->files.v[i].text;
    return "";
}

/* cat <<X >FILE, echo TEXT >FILE, and >>FILE. */
static void record_file(struct shell_machine *m, const struct command *c)
{
    struct shell_text text = { 0 };
    bool echo = shell_is(&c->words.v[0], "echo");
    const char *name = shell_string(m, &c->to.file, false);
    for (int32_t i = 1; echo && i < c->words.n; i++) {
        if (text.n)
            shell_add_string(m, &text, " ", (struct shell_char) { 0 });
        shell_append(m, &text, &c->words.v[i]);
    }
    if (echo || c->to.has_document) {
        const char *before = text_before(m, c, name),
                   *more = shell_string(m, echo ? &text : &c->to.document, true);
        bool ends = !*before || before[strlen(before) - 1] == '\n';
        shell_works(m, (int64_t)strlen(before));
        VEC_PUSH(&m->out->files, ((struct source_file) {
                                     .name = name,
                                     .text = arena_printf(m->arena, "%s%s%s", before,
                                                          ends ? "" : "\n", more),
                                     .line = echo ? c->line : c->to.line }));
        if (m->mode == SHELL_MAYBE)
            shell_note(m, c->line,
                       "%.60s is written under a condition (%s): it is taken to be",
                       name, shell_why(m, m->because));
    }
    shell_text_release(&text);
}

/* A text in the arena, to be read as one more script. */
static struct shell_cursor text_of(struct shell_machine *m,
                                   const struct shell_texts *words, int32_t from,
                                   int32_t to)
{
    struct shell_text joined = { 0 };
    for (int32_t i = from; i < to; i++) {
        if (joined.n)
            shell_add_string(m, &joined, " ", joined.v[joined.n - 1]);
        shell_append(m, &joined, &words->v[i]);
    }
    struct shell_text kept = shell_keep(m, &joined);
    shell_text_release(&joined);
    return (struct shell_cursor) { kept.v, kept.n, 0, -1, -1 };
}

static bool is_shell(const struct shell_text *t)
{
    static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh" };
    int32_t slash = t->n;
    while (slash > 0 && t->v[slash - 1].c != '/')
        slash--;
    struct shell_text last = { .v = t->v + slash, .n = t->n - slash };
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
        if (shell_is(&last, shells[i]))
            return true;
    return false;
}

/* bash -c "...": a process of its own, and so are its arguments. */
static void run_text(struct shell_machine *m, const struct shell_texts *w, int32_t i)
{
    struct shell_subshell *inner = shell_subshell_begin(m);
    if (i + 2 < w->n)
        m->arguments = shell_arguments_of(m, w, i + 2);
    shell_nested(m, text_of(m, w, i, i + 1));
    shell_subshell_end(m, inner);
}

static bool ends_sh(const struct shell_text *t)
{
    struct shell_text end = { .v = t->v + t->n - 3, .n = 3 };
    return t->n > 3 && shell_is(&end, ".sh");
}

/* The script among the words of a command that starts one: `bash -x FILE`, ./FILE.sh,
 * `srun FILE.sh`; -1: none. */
static int32_t script_of(const struct shell_texts *w)
{
    static const char *const starters[] = { "srun",  "mpirun", "mpiexec",
                                            "nohup", "exec",   "time",
                                            "env",   "sudo",   "setsid" };
    bool starts = false;
    for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++)
        starts |= shell_is(&w->v[0], starters[i]);
    for (int32_t i = 0; i < w->n; i++) {
        bool shell = is_shell(&w->v[i]);
        while (shell && ++i < w->n && w->v[i].n && w->v[i].v[0].c == '-')
            continue;
        if (i < w->n && (shell || ends_sh(&w->v[i])))
            return i;
        if (!starts)
            return -1;
    }
    return -1;
}

/* eval, and bash -c "..." wherever it is: srun and containers start it, too. */
static void run_texts(struct shell_machine *m, const struct shell_texts *w)
{
    int64_t outer = m->within;
    int32_t script = script_of(w);
    m->within = m->out->commands.n; /* this one is the last so far */
    if (shell_is(&w->v[0], "eval")) {
        shell_nested(m, text_of(m, w, 1, w->n));
        script = -1;
    }
    for (int32_t i = 0; i + 2 < w->n; i++) {
        const struct shell_text *option = &w->v[i + 1];
        bool gives =
            option->n > 1 && option->v[0].c == '-' && option->v[option->n - 1].c == 'c';
        if (gives && is_shell(&w->v[i])) {
            run_text(m, w, i + 2);
            script = -1;
            break;
        }
    }
    if (script >= 0)
        m->hooks->start(m, w, script);
    m->within = outer;
}

static enum shell_status perform(struct shell_machine *m, const struct command *c)
{
    const struct shell_texts *w = &c->words;
    enum shell_status s = SHELL_DONE;
    const struct shell_text *input = c->to.has_input      ? &c->to.input
                                     : c->to.has_document ? &c->to.document
                                                          : NULL;
    if (w->n == 0 || shell_builtin(m, w, input, &s))
        return s;
    if (c->to.has_file)
        record_file(m, c);
    record(m, c);
    run_texts(m, w);
    if (shell_is(&w->v[0], "exec") && w->n > 1 && m->mode == SHELL_RUN)
        m->ended = m->subshells == 0;
    return SHELL_DONE;
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

/* `local X=1` and `declare X=1` of a function: the X outside is put aside. */
static void put_aside(struct shell_machine *m, const struct command *c)
{
    static const char *const names[] = { "local", "declare", "typeset" };
    int32_t n = shell_name_length(m, 0);
    bool local = false, global = false;
    for (size_t i = 0; c->words.n && i < sizeof(names) / sizeof(names[0]); i++)
        local |= shell_is(&c->words.v[0], names[i]);
    for (int32_t i = 1; i < c->words.n; i++)
        global |= shell_is(&c->words.v[i], "-g");
    bool before = c->words.n == 0 && shell_at(m, "IFS="); /* IFS=, read ... */
    if (n && m->mode != SHELL_SKIP && ((local && !global && m->calls) || before))
        shell_put_aside(m, shell_slice(m, m->at.i, m->at.i + n));
}

enum shell_status shell_simple_command(struct shell_machine *m)
{
    struct command c = { .line = shell_peek(m, 0).line, .assigns = true };
    enum shell_status s = SHELL_DONE;
    int64_t locals = m->locals.n;
    for (; !shell_ends(m); shell_skip_blanks(m)) {
        if (shell_redirection(m, &c.to))
            continue;
        if (shell_word_ends(m))
            break;
        if (c.assigns)
            put_aside(m, &c);
        if (c.assigns && read_assignment(m))
            continue;
        shell_read_word(m, &c.words, true);
        c.assigns = c.words.n == 0 || takes_assignments(&c.words);
    }
    if (m->mode != SHELL_SKIP && !m->failed)
        s = perform(m, &c);
    if (c.words.n && shell_is(&c.words.v[0], "read"))
        shell_give_back(m, locals);
    shell_texts_release(&c.words);
    shell_redirect_release(&c.to);
    return s;
}
