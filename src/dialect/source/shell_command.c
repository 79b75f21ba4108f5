/* Simple commands of a shell script: assignments, words, redirections, and what a
 * command does to the rest of the script. */
#include "dialect/source/shell_machine.h"

#include "base/names.h"

#include <ctype.h>
#include <string.h>

/* A command under way. */
struct command {
    struct shell_texts words;
    struct shell_redirect to;
    int32_t line;
    bool assigns; /* what is still to come may be X=...: the beginning, or `export` */
    bool assigned;
};

/* Redirections --------------------------------------------------------------------- */

/* From after the line on which it is named to the line that is its end. */
static void read_document(struct shell_machine *m, struct shell_redirect *r,
                          const char *end, bool tabs, bool expands)
{
    struct shell_cursor here = m->at, body = m->at;
    if (m->at.here_at >= 0) {
        m->at.i = m->at.here_to;
    } else {
        while (!shell_ends(m) && !shell_at(m, "\n"))
            m->at.i++;
        here.here_at = m->at.i++;
    }
    body.i = m->at.i;
    r->line = m->at.i < m->at.n ? m->at.v[m->at.i].line : 0;
    for (;;) {
        int32_t line = m->at.i;
        while (tabs && shell_at(m, "\t"))
            m->at.i++;
        bool last = shell_at(m, end);
        int32_t after = m->at.i + (int32_t)strlen(end);
        while (!shell_ends(m) && !shell_at(m, "\n"))
            m->at.i++;
        if ((last && m->at.i == after) || m->at.i >= m->at.n) {
            body.n = last ? line : m->at.i;
            break;
        }
        m->at.i++;
    }
    here.here_to = m->at.i < m->at.n ? m->at.i + 1 : m->at.n;
    shell_works(m, m->at.i - body.i);
    m->at = here;
    shell_text_release(&r->document);
    r->has_document = true;
    if (expands)
        shell_expand_within(m, body, &r->document);
    for (int32_t i = body.i; !expands && i < body.n; i++)
        shell_push(m, &r->document, body.v[i]);
}

static void read_here(struct shell_machine *m, struct shell_redirect *r)
{
    bool tabs = shell_at(m, "<<-");
    struct shell_text end = { 0 };
    m->at.i += tabs ? 3 : 2;
    shell_skip_blanks(m);
    char quote = shell_peek(m, 0).c;
    /* the end of a document that is not read is its end all the same */
    enum shell_mode mode = m->mode;
    m->mode = SHELL_RUN;
    shell_read_text(m, &end);
    m->mode = mode;
    if (m->mode == SHELL_SKIP && !end.n)
        shell_push(m, &end, (struct shell_char) { .c = '\n' });
    read_document(m, r, shell_string(m, &end, false), tabs,
                  !strchr("'\"\\", quote) || !quote);
    shell_text_release(&end);
}

/* How long an operator of redirection is, the descriptor's number included; 0: none. */
static int32_t operator_length(const struct shell_machine *m)
{
    static const char *const operators[] = { "&>>", "<<<", "<<-", ">>", "<<", "&>",
                                             ">&",  "<&",  ">|",  "<>", ">",  "<" };
    int32_t digits = 0;
    while (isdigit((unsigned char)shell_peek(m, digits).c))
        digits++;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        const char *op = operators[i];
        int32_t j = 0;
        while (op[j] && shell_peek(m, digits + j).c == op[j] &&
               !shell_peek(m, digits + j).unknown)
            j++;
        if (!op[j] && !(digits && *op == '&'))
            return digits + j;
    }
    return 0;
}

bool shell_redirection(struct shell_machine *m, struct shell_redirect *r)
{
    int32_t n = operator_length(m);
    struct shell_char next = shell_peek(m, n);
    if (!n || shell_placeholder(m) ||
        (next.c == '(' && strchr("<>", shell_peek(m, n - 1).c)))
        return false; /* <( ) is a word */
    while (isdigit((unsigned char)shell_peek(m, 0).c))
        m->at.i++, n--;
    bool here = (shell_at(m, "<<") && !shell_at(m, "<<<"));
    bool out = shell_at(m, ">") && !shell_at(m, ">&");
    struct shell_text file = { 0 };
    if (here) {
        read_here(m, r);
        return true;
    }
    m->at.i += n;
    shell_skip_blanks(m);
    shell_read_text(m, &file);
    if (out) {
        shell_text_release(&r->file);
        r->file = file;
        r->has_file = true;
    } else {
        shell_text_release(&file);
    }
    return true;
}

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

/* cat <<X >FILE, echo TEXT >FILE. */
static void record_file(struct shell_machine *m, const struct command *c)
{
    struct shell_text text = { 0 };
    bool echo = shell_is(&c->words.v[0], "echo");
    for (int32_t i = 1; echo && i < c->words.n; i++) {
        if (text.n)
            shell_add_string(m, &text, " ", (struct shell_char) { 0 });
        shell_append(m, &text, &c->words.v[i]);
    }
    if (echo || c->to.has_document)
        VEC_PUSH(&m->out->files,
                 ((struct source_file) {
                     .name = shell_string(m, &c->to.file, false),
                     .text = shell_string(m, echo ? &text : &c->to.document, true),
                     .line = echo ? c->line : c->to.line }));
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

/* A text that ends with `exit` ends itself alone. */
static void run_text(struct shell_machine *m, const struct shell_texts *w, int32_t from,
                     int32_t to)
{
    int64_t outer = m->within;
    m->within = m->out->commands.n; /* this one is the last so far */
    shell_nested(m, text_of(m, w, from, to));
    m->within = outer;
    m->ended = false;
}

/* eval, and bash -c "..." wherever it is: srun and containers start it, too. */
static void run_texts(struct shell_machine *m, const struct shell_texts *w)
{
    if (shell_is(&w->v[0], "eval")) {
        run_text(m, w, 1, w->n);
        return;
    }
    for (int32_t i = 0; i + 2 < w->n; i++) {
        const struct shell_text *option = &w->v[i + 1];
        bool gives =
            option->n > 1 && option->v[0].c == '-' && option->v[option->n - 1].c == 'c';
        if (gives && is_shell(&w->v[i])) {
            run_text(m, w, i + 2, i + 3);
            return;
        }
    }
}

static void call_function(struct shell_machine *m, const struct shell_function *f,
                          const struct shell_texts *words)
{
    char name[8] = "0";
    struct shell_cursor body = f->body;
    for (int32_t i = 1; i < words->n && i < 10; i++) {
        struct shell_texts one = { &words->v[i], 1, 0 };
        name[0] = (char)('0' + i);
        shell_assign(m, arena_strdup(m->arena, name), &one, false, false);
    }
    shell_nested(m, body);
}

static const struct shell_function *function_of(const struct shell_machine *m,
                                                const struct shell_text *word)
{
    for (int64_t i = m->functions.n; i-- > 0;)
        if (shell_is(word, m->functions.v[i].name))
            return &m->functions.v[i];
    return NULL;
}

/* A script that gives up ("exit 1") does so where what it asks for is not there: it is
 * taken to be, and the rest is read. */
static void perform_exit(struct shell_machine *m, const struct shell_texts *w)
{
    bool well = w->n == 1 || shell_is(&w->v[1], "0");
    m->ended |= well && m->mode == SHELL_RUN;
}

/* Paths that follow are relative to it; where it is not known they stay as they are. */
static void change_directory(struct shell_machine *m, const struct shell_text *to)
{
    struct shell_texts one = { 0 };
    struct shell_text t = { 0 };
    if (m->mode != SHELL_RUN || !m->in->file || shell_unknown_of(m, to))
        return;
    m->directory = shell_path(m->arena, m->directory, shell_string(m, to, false));
    shell_add_string(m, &t, m->directory, to->n ? to->v[0] : (struct shell_char) { 0 });
    shell_texts_take(m, &one, &t);
    shell_assign(m, "PWD", &one, false, false);
    shell_texts_release(&one);
}

/* let a=1 b+=2: the last decides. */
static enum shell_status calculate_words(struct shell_machine *m,
                                         const struct shell_texts *w)
{
    enum shell_status s = SHELL_DONE;
    for (int32_t i = 1; i < w->n; i++) {
        int64_t v = 0;
        int32_t why = 0;
        bool known = shell_calculate(m, &w->v[i], &v, &why);
        m->because = known || !why ? m->because : why;
        s = !known ? SHELL_UNKNOWN : v ? SHELL_YES : SHELL_NO;
    }
    return s;
}

static enum shell_status perform(struct shell_machine *m, const struct command *c)
{
    static const char *const quiet[] = { "set",     "shopt", "export", "declare",
                                         "local",   "shift", "trap",   "return",
                                         "typeset", "cd",    "unset",  "readonly",
                                         "continue" };
    const struct shell_texts *w = &c->words;
    if (w->n == 0)
        return SHELL_DONE;
    if (shell_is(&w->v[0], "[")) {
        struct shell_texts rest = { w->v + 1, w->n - 1, 0 };
        return shell_test(m, &rest);
    }
    if (shell_is(&w->v[0], "true") || shell_is(&w->v[0], ":"))
        return SHELL_YES;
    if (shell_is(&w->v[0], "false"))
        return SHELL_NO;
    if (shell_is(&w->v[0], "exit")) {
        perform_exit(m, w);
        return SHELL_DONE;
    }
    if (shell_is(&w->v[0], "break")) {
        if (m->broken != SHELL_YES)
            m->broken = m->mode == SHELL_RUN ? SHELL_YES : SHELL_UNKNOWN;
        return SHELL_DONE;
    }
    if (shell_is(&w->v[0], "cd") && w->n > 1) {
        change_directory(m, &w->v[1]);
        return SHELL_DONE;
    }
    if (shell_is(&w->v[0], "let"))
        return calculate_words(m, w);
    for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++)
        if (shell_is(&w->v[0], quiet[i]))
            return SHELL_DONE;
    if ((shell_is(&w->v[0], "source") || shell_is(&w->v[0], ".")) && w->n > 1) {
        m->hooks->source(m, w);
        return SHELL_DONE;
    }
    const struct shell_function *f = function_of(m, &w->v[0]);
    if (f) {
        call_function(m, f, w);
        return SHELL_DONE;
    }
    if (c->to.has_file)
        record_file(m, c);
    record(m, c);
    run_texts(m, w);
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

enum shell_status shell_simple_command(struct shell_machine *m)
{
    struct command c = { .line = shell_peek(m, 0).line, .assigns = true };
    enum shell_status s = SHELL_DONE;
    for (; !shell_ends(m); shell_skip_blanks(m)) {
        if (shell_redirection(m, &c.to))
            continue;
        if (shell_word_ends(m))
            break;
        if (c.assigns && read_assignment(m))
            continue;
        shell_read_word(m, &c.words, true);
        c.assigns = c.words.n == 0 || takes_assignments(&c.words);
    }
    if (m->mode != SHELL_SKIP && !m->failed)
        s = perform(m, &c);
    shell_texts_release(&c.words);
    shell_text_release(&c.to.file);
    shell_text_release(&c.to.document);
    return s;
}
