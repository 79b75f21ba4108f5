/* A shell script as a launch script: what its command that trains says. */
#include "dialect/launch/launch_choose.h"

#include "dialect/source/notebook.h"

#include "base/names.h"
#include "dialect/dialect.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_usage.h"
#include "scenario/nccl_environment.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { GIVEN_MAX = 80 };

/* What was not understood may be why the script does not say what it should. */
static void report_notes(const struct launch *l, const struct shell *s)
{
    for (int64_t i = 0; i < s->notes.n && i < 3; i++)
        diags_add(
            &l->loader->diags,
            diag_at_line(DIAG_ERROR, DIAG_UNRESOLVED, l->file, s->notes.v[i].line),
            "%s", s->notes.v[i].text);
}

/* A command, alone or with options, of which not even the program is known. */
static const struct shell_word *unknown_program(const struct shell *s)
{
    for (int64_t i = s->commands.n; i-- > 0;) {
        const struct shell_command *c = &s->commands.v[i];
        bool alone = c->n == 1 && c->words[0].ask;
        if (!launch_is_plain(c) && c->words[0].why &&
            (alone || (c->n > 1 && launch_is_option(&c->words[1]))))
            return &c->words[0];
    }
    return NULL;
}

static void no_command(const struct launch *l, const struct shell *s)
{
    struct diags *d = &l->loader->diags;
    const struct shell_word *w = unknown_program(s);
    if (w) {
        diags_add(d, diag_at_line(DIAG_ERROR, DIAG_UNRESOLVED, l->file, w->line),
                  "what this command starts is not known: %s", w->why);
        report_notes(l, s);
        return;
    }
    diags_add(d, diag_at_line(DIAG_ERROR, DIAG_UNKNOWN_FORMAT, l->file, 0),
              "no command starts a training of a framework that is read (smsim help "
              "dialects lists them; smsim capture -- COMMAND records what a script "
              "starts)");
    report_notes(l, s);
}

/* All of it ------------------------------------------------------------------------ */

/* Of the variables, what is for NCCL and its network: of the script, and those that are
 * set for the command alone (X=1 torchrun ...). */
static void take_environment(struct launch_context *t, const struct launch_command *c)
{
    const struct shell *s = c->shell;
    const struct shell_command *own = c->command;
    for (int64_t i = 0; i < s->bindings.n; i++)
        if (launch_variable(c, s->bindings.v[i].name) == &s->bindings.v[i])
            launch_take_variable(t, &s->bindings.v[i]);
    for (; own; own = own->within ? &s->commands.v[own->within - 1] : NULL)
        for (int32_t i = 0; i < own->n_own; i++)
            if (launch_variable(c, own->own[i].name) == &own->own[i])
                launch_take_variable(t, &own->own[i]);
}

static void take_command(struct launch_context *t, struct launch_command *c)
{
    struct launch *l = t->l;
    const char *script = launch_last_part(c->command->words[c->script].text);
    if (!l->title) { /* a job that starts it has its own */
        const char *first = launch_last_part(c->command->words[0].text);
        bool same = strcmp(first, script) == 0;
        l->title = arena_printf(t->arena, "%s%s%s ...: read, not run", first,
                                same ? "" : " ", same ? "" : script);
        l->line = c->command->line;
    }
    struct value v = { .line = c->command->line };
    const struct value_item entry = { script, v.line, &v };
    t->command = c;
    launch_take_job_lines(t, c);
    bool own = c->dialect->reads_program || c->dialect->own_documents;
    if (!c->starts && !own) /* a dialect's own program */
        launch_take_entry(t, c->command->words[c->script].text, &entry);
    launch_take_starter(t, c);
    take_environment(t, c);
    const struct dialect_input in = { .source = DIALECT_COMMAND,
                                      .root = &c->options,
                                      .command = c };
    dialect_read(c->dialect, t, &in);
    dialect_take_left(t);
    launch_settle_ranks(t, c);
    launch_take_visible(t, c);
}

static void take_notes(struct launch *l, const struct shell *s,
                       const struct launch_command *c, const char *missing)
{
    launch_note_limits(l, s);
    for (int64_t i = 0; i < s->notes.n; i++) {
        const struct shell_note *note = &s->notes.v[i];
        const char *program = c->command ? c->command->words[c->script].text : "";
        bool said = note->missing && (strcmp(note->missing, program) == 0 ||
                                      (missing && strstr(note->missing, missing)));
        if (!said)
            launch_note(l, note->line, DIAG_UNRESOLVED, "%s", note->text);
    }
}

/* The last command that starts a script of Python, by its words; with `missing`, one
 * that starts that script of a shell. */
static void take_last(struct launch_context *t, const struct shell *s,
                      const char *missing, struct launch_program *program)
{
    static const char *const starters[] = { "accelerate", "deepspeed", NULL };
    for (int64_t i = s->commands.n; i-- > 0 && !program->options;) {
        const struct shell_command *c = &s->commands.v[i];
        int32_t script = launch_script_of(c);
        struct launch_words o = { .t = t };
        bool python = script >= 0;
        for (int32_t k = 0; missing && script < 0 && k < c->n; k++)
            if (strcmp(launch_last_part(c->words[k].text), missing) == 0)
                script = k;
        if (script < 0)
            continue;
        launch_take_options(&o, c, script + 1);
        struct value *dict = ARENA_NEW(t->arena, struct value);
        *dict = o.dict;
        for (int32_t k = 0; k < dict->n; k++)
            dict->items[k].key += strspn(dict->items[k].key, "-");
        program->name = python ? c->words[script].text : NULL;
        program->options = dict;
        for (int32_t k = 0; k < script; k++)
            if (names_listed(starters, launch_last_part(c->words[k].text)))
                program->starter = launch_last_part(c->words[k].text);
    }
    if (!program->options && missing)
        take_last(t, s, NULL, program);
}

bool launch_take_started(struct launch_context *t, const struct launch_started *started,
                         struct launch_program *program)
{
    struct err err = { 0 };
    struct shell s = { 0 };
    struct launch_command c = { .shell = &s };
    struct launch_choice found = { .words = { .t = t } };
    const char *where = t->l->where;
    *program = (struct launch_program) { .name = NULL };
    if (started->in.file)
        t->l->where = started->in.file;
    int rc = shell_read(&s, &started->in, t->arena, started->text,
                        strlen(started->text), started->given, started->n_given, &err);
    launch_name_modules(t->arena, &s, dialect_of_program);
    if (rc) {
        launch_note(t->l, started->in.line, DIAG_LEFT_OUT, "its command: %s", err.text);
    } else if (launch_choose(t, &c, &found)) {
        take_command(t, &c);
        launch_note_lost(&found.words, c.dialect);
    } else if (found.refused.why) {
        launch_refuse_entry(t->l, found.refused.program, found.refused.why,
                            found.refused.line);
    } else {
        take_last(t, &s, started->missing, program);
    }
    take_notes(t->l, &s, &c, started->missing);
    bool taken = c.command || found.refused.why;
    t->command = NULL;
    t->l->where = where;
    shell_release(&s);
    return taken;
}

/* How many nodes a job of SLURM has; 0: not known. */
static int64_t nodes_of(const struct raw_shell *directives,
                        const struct launch_given *given)
{
    return given->count > 0 ? given->count : launch_slurm_nodes(directives);
}

/* The directives with the nodes that --set gives last, as sbatch --nodes=4 does. */
static struct raw_shell submitted_as(struct arena *arena, const struct raw_shell *own,
                                     const struct launch_given *given)
{
    struct raw_shell all = *own;
    if (given->count <= 0 || !launch_slurm_nodes(own))
        return all;
    all.v = ARENA_ARRAY(arena, own->n + 2, struct shell_word);
    memcpy(all.v, own->v, (size_t)own->n * sizeof(*all.v));
    all.v[all.n++] = (struct shell_word) { .text = "--nodes" };
    all.v[all.n++] =
        (struct shell_word) { .text = arena_printf(arena, "%" PRId64, given->count) };
    return all;
}

/* What the caller gives is kept; what SLURM sets, the script may change. */
static int32_t all_given(struct launch *l, const char *text,
                         const struct raw_shell *directives,
                         const struct launch_given *given, struct shell_given *out)
{
    struct arena *arena = &l->loader->arena;
    const struct raw_shell all = submitted_as(arena, directives, given);
    int32_t n = launch_slurm_variables(arena, &all, out, GIVEN_MAX);
    n = launch_job_variables(arena, text, nodes_of(directives, given), out, n,
                             GIVEN_MAX);
    /* of a script that SageMaker starts (sagemaker-training-toolkit, params.py) */
    if (n < GIVEN_MAX && given->gpus > 0 && strstr(text, "SM_NUM_GPUS"))
        out[n++] = (struct shell_given) { "SM_NUM_GPUS",
                                          arena_printf(arena, "%" PRId64, given->gpus),
                                          0, false };
    for (int32_t i = 0; i < given->n_shell; i++)
        if (n < GIVEN_MAX)
            out[n++] = given->shell[i];
    return n;
}

/* The script's variable that a word nearly is; NULL. */
static const char *nearest(const struct launch *l, const struct shell *s,
                           const char *word)
{
    VEC(struct name_value) names = { 0 };
    for (int64_t i = 0; i < s->bindings.n; i++)
        if (strcmp(s->bindings.v[i].name, word) != 0)
            VEC_PUSH(&names, ((struct name_value) { s->bindings.v[i].name, 1 }));
    VEC_PUSH(&names, ((struct name_value) { NULL, 0 }));
    const char *near = names_nearest(names.v, word);
    near = near ? arena_strdup(&l->loader->arena, near) : NULL;
    VEC_RELEASE(&names);
    return near;
}

/* Of what the caller gives, variables that the script never names. */
static void warn_unused(struct launch *l, const struct shell *s, const char *text,
                        const struct launch_given *given)
{
    for (int32_t i = 0; i < given->n_shell; i++) {
        const char *name = given->shell[i].name, *near;
        if (!given->shell[i].fixed || strspn(name, "@0123456789") ||
            environment_knows(name) || strstr(text, name))
            continue;
        near = nearest(l, s, name);
        diags_warn(&l->loader->diags, DIAG_UNKNOWN_KEY,
                   "--set /shell/%.60s: %s has no such variable%s%s%s", name, l->file,
                   near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    }
}

/* Options that begin a command of their own, as after a comment within a command of
 * several lines: bash gives them to nothing, which nobody means. */
static bool refuse_lost_options(struct launch *l, const struct launch_command *c)
{
    for (int64_t i = 0; i < c->shell->commands.n; i++) {
        const struct shell_command *one = &c->shell->commands.v[i];
        const char *word = one->n ? one->words[0].text : NULL;
        if (one->line <= c->command->line || !word || strncmp(word, "--", 2) != 0)
            continue;
        diags_add(&l->loader->diags,
                  diag_at_line(DIAG_ERROR, DIAG_SYNTAX, l->file, one->line),
                  "%.60s begins a command of its own: what is before it, as a comment "
                  "after \"\\\", ends the command of line %" PRId64
                  " (move the comments above that command)",
                  word, c->command->line);
        return true;
    }
    return false;
}

/* Arguments that nobody gives ------------------------------------------------------- */

static const struct shell_given no_arguments = { "@", "", 0, true };

static bool hangs_on_argument(const struct shell_word *w)
{
    return w && w->ask && (strchr("@*#", *w->ask) || isdigit((unsigned char)*w->ask));
}

/* Whether the script starts a training when it is started without arguments; asked where
 * what a command starts hangs on them, and none is given. */
static bool trains_without_arguments(struct launch *l, const struct shell *as_given,
                                     const struct launch_given *given, const char *text,
                                     size_t len, const struct shell_setting *in)
{
    struct arena *arena = &l->loader->arena;
    struct err err = { 0 };
    struct shell s = { 0 };
    struct launch_context t = { .l = l, .arena = arena };
    struct launch_command c = { .shell = &s };
    struct launch_choice found = { .words = { .t = &t } };
    if (!hangs_on_argument(unknown_program(as_given)) || given->n_shell >= GIVEN_MAX)
        return false;
    for (int32_t i = 0; i < given->n_shell; i++)
        if (strspn(given->shell[i].name, "@0123456789"))
            return false;
    int rc = shell_read(&s, in, arena, text, len, &no_arguments, 1, &err);
    launch_name_modules(arena, &s, dialect_of_program);
    bool trains = rc == 0 && launch_choose(&t, &c, &found);
    shell_release(&s);
    return trains;
}

/* Whether options hang on arguments that may be left out, as $1 is by the script's own
 * words, and no value does. */
static bool may_leave_arguments(const struct shell *s, const struct launch_command *c,
                                const struct launch_given *given)
{
    bool options = false;
    if (!s->optional || s->gives_up || given->n_shell >= GIVEN_MAX)
        return false;
    for (int32_t i = 0; i < given->n_shell; i++)
        if (strspn(given->shell[i].name, "@0123456789"))
            return false;
    for (int32_t i = 0; i < c->command->n; i++) {
        const struct shell_word *w = &c->command->words[i];
        bool number = w->ask && isdigit((unsigned char)*w->ask);
        options |= number && w->may;
        if (number && !w->may)
            return false;
    }
    return options;
}

static json_t *read_without_arguments(struct launch *l, const char *text, size_t len,
                                      const struct launch_given *given)
{
    struct launch_given bare = *given;
    struct shell_given *all =
        ARENA_ARRAY(&l->loader->arena, given->n_shell + 1, struct shell_given);
    for (int32_t i = 0; i < given->n_shell; i++)
        all[i] = given->shell[i];
    all[bare.n_shell++] = no_arguments;
    bare.shell = all;
    json_t *tree = launch_read_shell(l, text, len, &bare);
    launch_note(l, l->line, DIAG_ASSUMED,
                "the script is taken to be started without arguments (--set "
                "'/shell/@=A B' gives them)");
    return tree;
}

static void report_lost(struct launch *l, const char *name, int64_t line)
{
    diags_add(&l->loader->diags,
              diag_at_line(DIAG_ERROR, DIAG_UNREADABLE, l->file, line),
              "\"%.80s\", which a command names, was not found (put it next to the "
              "script)",
              name);
}

static struct shell_setting setting_of(const struct launch *l,
                                       const struct raw_shell *directives,
                                       const struct launch_given *given)
{
    return (struct shell_setting) {
        .file = l->file,
        .gpus = given->gpus,
        .cpus = given->cpus,
        .arch = given->arch,
        .nodes = nodes_of(directives, given),
        .tasks = launch_job_tasks(directives),
        .files = l->notebook ? l->notebook->files.v : NULL,
        .n_files = l->notebook ? l->notebook->files.n : 0,
        .job = launch_slurm_variables,
    };
}

/* All of it, by its text ------------------------------------------------------------ */

json_t *launch_read_shell(struct launch *l, const char *text, size_t len,
                          const struct launch_given *given)
{
    bool bare = false;
    struct arena *arena = &l->loader->arena;
    struct err err = { 0 };
    struct shell s = { 0 };
    struct shell_given variables[GIVEN_MAX];
    struct launch_context t = { .l = l, .arena = arena };
    struct launch_command c = { .shell = &s,
                                .directives = shell_directives(arena, text) };
    struct launch_choice found = { .words = { .t = &t } };
    int32_t n = all_given(l, text, &c.directives, given, variables);
    if (given->estimator)
        diags_add(&l->loader->diags,
                  diag_at_line(DIAG_ERROR, DIAG_REFUSED_KEY, l->file, 0),
                  "has no estimators (leave --estimator out)");
    const struct shell_setting in = setting_of(l, &c.directives, given);
    int rc = shell_read(&s, &in, arena, text, len, variables, n, &err);
    l->written = s.files.v;
    l->n_written = s.files.n;
    launch_name_modules(arena, &s, dialect_of_program);
    if (rc) {
        diags_add(&l->loader->diags, launch_syntax(l, &err), "%s", err.text);
    } else if (!launch_choose(&t, &c, &found) && !found.lost.name &&
               (t.tree = launch_read_recipes(&t, &s, &c, given)) == NULL &&
               !launch_choose_unknown(&t, &c, &found) && found.refused.why) {
        launch_refuse_entry(l, found.refused.program, found.refused.why,
                            found.refused.line);
    } else if (!c.command && found.lost.name) {
        report_lost(l, found.lost.name, found.lost.line);
        report_notes(l, &s);
    } else if (t.tree) {
        /* a recipe's, all of it */
    } else if (!c.command) {
        bare = trains_without_arguments(l, &s, given, text, len, &in);
        t.tree = bare ? NULL : launch_read_program(&t, &s, given);
        if (!bare && !t.tree)
            no_command(l, &s);
    } else if (may_leave_arguments(&s, &c, given)) {
        bare = true;
    } else if (!refuse_lost_options(l, &c)) {
        warn_unused(l, &s, text, given);
        launch_take_usage(l, &s, text);
        launch_begin(&t, l);
        take_command(&t, &c);
        launch_take_makers(&t, &c, text);
        launch_note_lost(&found.words, c.dialect);
        take_notes(l, &s, &c, NULL);
    }
    l->n_written = 0;
    shell_release(&s);
    return bare ? read_without_arguments(l, text, len, given) : t.tree;
}
