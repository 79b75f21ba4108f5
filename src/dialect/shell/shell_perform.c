/* What a simple command of a shell script does: it is recorded, it writes files, and what
 * it starts is read. */
#include "dialect/shell/shell_machine.h"

#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Recorded ------------------------------------------------------------------------- */

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

/* The variables that are set for the command alone. */
static void record_own(struct shell_machine *m, const struct shell_simple *c,
                       struct shell_command *out)
{
    struct shell_binding *own =
        ARENA_ARRAY(m->arena, c->own_end - c->own + 1, struct shell_binding);
    for (int64_t i = c->own; i < c->own_end; i++) {
        const struct shell_variable *x = shell_find(m, m->locals.v[i].was.name);
        const struct shell_text *t = x && x->values.n == 1 ? &x->values.v[0] : NULL;
        if (t && !x->array)
            own[out->n_own++] = (struct shell_binding) {
                x->name, shell_unknown_of(m, t) ? NULL : shell_string(m, t, false),
                t->n ? t->v[0].line : c->line
            };
    }
    out->own = own;
}

static void record(struct shell_machine *m, const struct shell_simple *c)
{
    struct shell_command out = {
        .n = c->words.n, .line = c->line, .rounds = m->rounds, .within = m->within
    };
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
    record_own(m, c, &out);
    if (m->mode == SHELL_MAYBE) {
        out.unless = shell_why(m, m->because);
        out.decides = m->because ? m->unknowns.v[m->because - 1].ask : NULL;
    }
    VEC_PUSH(&m->out->commands, out);
}

/* Files ---------------------------------------------------------------------------- */

/* What a file holds so far, where more is put after it; "" for a new one. */
static const char *text_before(const struct shell_machine *m,
                               const struct shell_simple *c, const char *name)
{
    for (int64_t i = m->out->files.n; c->to.appends && i-- > 0;)
        if (strcmp(m->out->files.v[i].name, name) == 0)
            return m->out->files.v[i].text;
    return "";
}

/* The text of a file: pieces that are not known are null, in YAML such that they are
 * asked for by name. */
static const char *written(struct shell_machine *m, const char *name,
                           const struct shell_text *text)
{
    const char *dot = strrchr(name, '.');
    bool yaml = dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    struct shell_text all = { 0 };
    for (int32_t i = 0; yaml && i < text->n && !m->failed; i++) {
        const struct shell_char *x = &text->v[i];
        const char *shown = x->unknown ? m->unknowns.v[x->unknown - 1].name : NULL;
        size_t n = shown ? strspn(shown + 1, NAME_LETTERS) : 0;
        bool plain = shown && shown[0] == '$' && n && !shown[n + 1];
        if (shown)
            shell_add_string(
                m, &all,
                arena_printf(m->arena, "${oc.env:%s}", plain ? shown + 1 : "a command"),
                *x);
        else
            shell_push(m, &all, *x);
    }
    const char *out = shell_string(m, yaml ? &all : text, true);
    shell_text_release(&all);
    return out;
}

static void add_file(struct shell_machine *m, const struct shell_simple *c,
                     const char *name, const struct shell_text *text, int64_t line)
{
    const char *before = text_before(m, c, name), *more = written(m, name, text);
    bool ends = !*before || before[strlen(before) - 1] == '\n';
    shell_works(m, (int64_t)strlen(before));
    shell_write(m, name, text, c->to.appends);
    VEC_PUSH(&m->out->files,
             ((struct source_file) { .name = name,
                                     .text = arena_printf(m->arena, "%s%s%s", before,
                                                          ends ? "" : "\n", more),
                                     .line = line }));
    if (m->mode == SHELL_MAYBE)
        shell_note(m, c->line,
                   "%s is written under a condition (%s): it is taken to be",
                   shell_shown(m->arena, name), shell_why(m, m->because));
}

/* Whether a file may say how to train, by its name. */
static bool says_more(const char *name)
{
    static const char *const ends[] = { ".json", ".yaml", ".yml", ".toml",
                                        ".sh",   ".env",  ".ini", ".cfg" };
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

/* A file that a command makes or changes which is not run. */
static void lose_file(struct shell_machine *m, const struct shell_simple *c,
                      const struct shell_text *file)
{
    const char *name = shell_string(m, file, false);
    int64_t kept = 0;
    if (!says_more(name))
        return;
    for (int64_t i = 0; i < m->out->files.n; i++)
        if (strcmp(m->out->files.v[i].name, name) != 0)
            m->out->files.v[kept++] = m->out->files.v[i];
    bool had = kept < m->out->files.n;
    m->out->files.n = kept;
    shell_note(m, c->line, "%s is changed by %.40s, which is not run%s",
               shell_shown(m->arena, name), shell_string(m, &c->words.v[0], false),
               had ? "" : ": it is read as it lies there");
}

/* What the words and the input of a command print, in the arena; NULL: it is not
 * known. */
static const struct shell_text *
printed(struct shell_machine *m, const struct shell_simple *c, struct shell_text *out)
{
    const struct shell_texts *w = &c->words;
    bool echo = shell_is(&w->v[0], "echo"),
         copy = shell_is(&w->v[0], "tee") || (shell_is(&w->v[0], "cat") && w->n == 1);
    if (copy)
        return c->to.has_document ? &c->to.document : m->input.v ? &m->input : NULL;
    for (int32_t i = 1; echo && i < w->n; i++) {
        if (out->n)
            shell_add_string(m, out, " ", (struct shell_char) { .line = c->line });
        shell_append(m, out, &w->v[i]);
    }
    return echo ? out : NULL;
}

/* Whether a command changes the file that its last word names: sed -i, yq -i, cp. */
static bool changes_last(const struct shell_texts *w)
{
    static const char *const placing[] = { "sed", "perl", "yq", "awk", "gawk" },
                             *const always[] = { "cp", "mv", "sponge" };
    bool known = false;
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        if (shell_is(&w->v[0], always[i]))
            return true;
    for (size_t i = 0; i < sizeof(placing) / sizeof(placing[0]); i++)
        known |= shell_is(&w->v[0], placing[i]);
    for (int32_t i = 1; known && i < w->n - 1; i++) {
        const struct shell_text *t = &w->v[i];
        if (t->n < 2 || t->v[0].c != '-')
            continue;
        bool letters = t->v[1].c != '-';
        struct shell_text head = { .v = t->v, .n = t->n < 11 ? t->n : 10 };
        if ((letters && (t->v[1].c == 'i' || t->v[t->n - 1].c == 'i')) ||
            shell_is(&head, "--in-place") || shell_is(&head, "--inplace"))
            return true;
    }
    return false;
}

/* cat <<X >FILE, echo TEXT >FILE, tee FILE <<X, and >>FILE; sed -i, cp and mv. */
static void write_files(struct shell_machine *m, const struct shell_simple *c)
{
    const struct shell_texts *w = &c->words;
    struct shell_text made = { 0 };
    const struct shell_text *text = printed(m, c, &made);
    int64_t line = c->to.has_document ? c->to.line : c->line;
    bool tee = shell_is(&w->v[0], "tee");
    if (text)
        m->printed = shell_keep(m, text);
    if (c->to.has_file && text)
        add_file(m, c, shell_string(m, &c->to.file, false), text, line);
    else if (c->to.has_file &&
             !shell_is(&w->v[0], "sed")) /* of a template: a dialect's */
        lose_file(m, c, &c->to.file);
    for (int32_t i = 1; tee && i < w->n; i++)
        if (text && w->v[i].n && w->v[i].v[0].c != '-')
            add_file(m, c, shell_string(m, &w->v[i], false), text, line);
    if (changes_last(w))
        lose_file(m, c, &w->v[w->n - 1]);
    shell_text_release(&made);
}

/* Texts that are scripts ------------------------------------------------------------ */

struct shell_cursor shell_words_text(struct shell_machine *m,
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

static bool submits(const struct shell_texts *w)
{
    static const char *const names[] = { "sbatch", "qsub", "bsub" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (shell_is(&w->v[0], names[i]))
            return true;
    return false;
}

/* tmux new-session -d -s NAME "...", tmux send-keys -t NAME "..." C-m, ssh HOST "...",
 * pdsh -w HOSTS "...": the last word of several words. */
static const struct shell_text *session_text(const struct shell_texts *w)
{
    static const char *const names[] = { "tmux", "ssh", "pdsh", "clush" };
    bool is = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        is |= shell_is(&w->v[0], names[i]);
    for (int32_t i = is ? w->n : 0; i-- > 1;)
        for (int32_t k = 0; k < w->v[i].n; k++)
            if (!w->v[i].v[k].unknown && w->v[i].v[k].c == ' ')
                return &w->v[i];
    return NULL;
}

/* bash <<X, cat <<X | sbatch, sbatch --wrap="...": where the text of a script is. */
static const struct shell_text *script_text(struct shell_machine *m,
                                            const struct shell_simple *c,
                                            struct shell_text *wrapped)
{
    const struct shell_texts *w = &c->words;
    bool takes = submits(w) || shell_is(&w->v[0], "ssh"), last = false;
    for (int32_t i = 1; takes && i < w->n; i++) {
        struct shell_text head = { .v = w->v[i].v, .n = w->v[i].n < 7 ? 0 : 7 };
        if (shell_is(&w->v[i], "--wrap") && i + 1 < w->n)
            return &w->v[i + 1];
        if (!shell_is(&head, "--wrap="))
            continue;
        *wrapped = (struct shell_text) { .v = w->v[i].v + 7, .n = w->v[i].n - 7 };
        return wrapped;
    }
    for (int32_t i = 0; i < w->n; i++)
        last = is_shell(&w->v[i]) || (last && w->v[i].n && w->v[i].v[0].c == '-');
    const struct shell_text *session = session_text(w);
    return session || (!takes && !last) ? session
           : c->to.has_document         ? &c->to.document
           : c->to.has_input            ? &c->to.input
           : m->input.v                 ? &m->input
                                        : NULL;
}

/* bash -c "...": a process of its own, and so are its arguments. */
static void run_text(struct shell_machine *m, const struct shell_texts *w, int32_t i)
{
    struct shell_subshell *inner = shell_subshell_begin(m);
    if (i + 2 < w->n)
        m->arguments = shell_arguments_of(m, w, i + 2);
    shell_nested(m, shell_words_text(m, w, i, i + 1));
    shell_subshell_end(m, inner);
}

static bool ends_in(const struct shell_text *t, const char *ending)
{
    int32_t n = (int32_t)strlen(ending);
    if (t->n <= n)
        return false;
    struct shell_text end = { .v = t->v + t->n - n, .n = n };
    return shell_is(&end, ending);
}

/* sbatch FILE: the file that the script wrote itself, whose #SBATCH lines are in the
 * script, too, else one by its ending. -1: none. */
static int32_t submitted_job(struct shell_machine *m, const struct shell_texts *w)
{
    for (int32_t i = 1; i < w->n; i++) {
        const char *name = shell_string(m, &w->v[i], false);
        for (int64_t k = 0; k < m->out->files.n; k++)
            if (strcmp(m->out->files.v[k].name, name) == 0)
                return i;
    }
    for (int32_t i = 1; i < w->n; i++)
        for (const char *const *end = shell_endings; *end; end++)
            if (w->v[i].n && w->v[i].v[0].c != '-' && ends_in(&w->v[i], *end))
                return i;
    return -1;
}

/* mpirun and /opt/openmpi/bin/mpirun. */
static bool is_program(const struct shell_text *t, const char *word)
{
    int32_t from = t->n;
    while (from && t->v[from - 1].c != '/')
        from--;
    const struct shell_text last = { .v = t->v + from, .n = t->n - from };
    return last.n && shell_is(&last, word);
}

/* The script among the words of a command that starts one: `bash -x FILE`, ./FILE.sh,
 * `srun FILE.sh`; -1: none. */
static int32_t script_of(const struct shell_texts *w)
{
    static const char *const starters[] = { "srun",    "mpirun",      "mpiexec",
                                            "aprun",   "jsrun",       "yhrun",
                                            "orterun", "nohup",       "exec",
                                            "time",    "env",         "sudo",
                                            "setsid",  "singularity", "apptainer" };
    bool starts = false;
    for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++)
        starts |= is_program(&w->v[0], starters[i]);
    for (int32_t i = 1; i < w->n; i++) /* torchrun */
        starts |=
            shell_is(&w->v[i], "--no-python") || shell_is(&w->v[i], "--no_python");
    for (int32_t i = 0; i < w->n; i++) {
        bool shell = is_shell(&w->v[i]);
        while (shell && ++i < w->n && w->v[i].n && w->v[i].v[0].c == '-')
            continue;
        if (i < w->n && (shell || ends_in(&w->v[i], ".sh")))
            return i;
        if (!starts)
            return -1;
    }
    return -1;
}

/* The word that `bash -x -c` is given, wherever that is; -1: none. */
static int32_t inner_text(const struct shell_texts *w)
{
    for (int32_t i = 0; i + 2 < w->n; i++) {
        int32_t at = i + 1;
        bool gives = false;
        for (; is_shell(&w->v[i]) && at < w->n && !gives; at++) {
            const struct shell_text *t = &w->v[at];
            if (t->n < 2 || t->v[0].unknown || t->v[0].c != '-')
                break;
            gives = t->v[t->n - 1].c == 'c';
        }
        if (gives && at < w->n)
            return at;
    }
    return -1;
}

/* What `eval "$(...)"` sets is not known; but for the hooks of conda and the like. */
static void note_eval(struct shell_machine *m, const struct shell_texts *w)
{
    const struct shell_unknown *u = w->n > 1 && w->v[1].n && w->v[1].v[0].unknown
                                        ? &m->unknowns.v[w->v[1].v[0].unknown - 1]
                                        : NULL;
    if (u && !u->argument && !strstr(u->name, "hook"))
        shell_note(m, w->v[1].v[0].line, "what eval %.60s sets is not known: %s",
                   u->name, u->why);
}

/* eval, and bash -c "..." wherever it is: srun and containers start it, too. */
static void run_texts(struct shell_machine *m, const struct shell_simple *c)
{
    const struct shell_texts *w = &c->words;
    struct shell_text wrapped = { 0 };
    const struct shell_text *text = script_text(m, c, &wrapped);
    int64_t outer = m->within;
    int32_t script = text ? -1 : submits(w) ? submitted_job(m, w) : script_of(w);
    m->within = m->out->commands.n; /* this one is the last so far */
    if (text) {
        struct shell_texts one = { (struct shell_text *)text, 1, 0 };
        run_text(m, &one, 0);
    }
    bool evaluates = shell_is(&w->v[0], "eval"); /* its words are pieces of a text */
    int32_t inner = evaluates ? -1 : inner_text(w);
    if (evaluates) {
        note_eval(m, w);
        shell_nested(m, shell_words_text(m, w, 1, w->n));
        script = -1;
    }
    if (inner >= 0) {
        run_text(m, w, inner);
        script = -1;
    }
    if (script >= 0)
        m->hooks->start(m, w, script);
    m->within = outer;
}

/* python3 <<X, python - <<X: the program that Python is given, as a file of a name of its
 * own, which becomes a word of the command. False: it is no such command. */
static bool feed_python(struct shell_machine *m, const struct shell_simple *c,
                        struct shell_simple *fed)
{
    const struct shell_texts *w = &c->words;
    int32_t n = w->n > 1 && shell_is(&w->v[w->n - 1], "-") ? w->n - 1 : w->n;
    const char *last = n ? shell_string(m, &w->v[n - 1], false) : "",
               *slash = strrchr(last, '/');
    if (!c->to.has_document || strncmp(slash ? slash + 1 : last, "python", 6) != 0)
        return false;
    struct shell_text name = { 0 };
    const char *file =
        arena_printf(m->arena, "here-document-%lld.py", (long long)c->to.line);
    shell_add_string(m, &name, file, (struct shell_char) { .line = c->line });
    add_file(m, c, file, &c->to.document, c->to.line);
    *fed = *c;
    fed->words.v = ARENA_ARRAY(m->arena, n + 1, struct shell_text);
    memcpy(fed->words.v, w->v, (size_t)n * sizeof(*w->v));
    fed->words.v[n] = shell_keep(m, &name);
    fed->words.n = n + 1;
    shell_text_release(&name);
    return true;
}

enum shell_status shell_perform(struct shell_machine *m, const struct shell_simple *c)
{
    const struct shell_texts *w = &c->words;
    enum shell_status s = SHELL_DONE;
    const struct shell_text *input = c->to.has_input      ? &c->to.input
                                     : c->to.has_document ? &c->to.document
                                                          : NULL;
    if (w->n == 0 || shell_builtin(m, w, input, c->mark, &s))
        return s;
    if (m->capture) {
        shell_capture_print(m, c);
        return SHELL_YES;
    }
    struct shell_simple fed;
    write_files(m, c);
    record(m, feed_python(m, c, &fed) ? &fed : c);
    run_texts(m, c);
    if (shell_is(&w->v[0], "exec") && w->n > 1 && m->mode == SHELL_RUN)
        m->ended = m->subshells == 0;
    return shell_is(&w->v[0], "grep") ? shell_grep(m, c) : SHELL_DONE;
}
