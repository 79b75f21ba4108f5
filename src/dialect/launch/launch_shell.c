/* A shell script as a launch script: which of its commands trains, and with what. */
#include "dialect/launch/launch_shell.h"

#include "dialect/source/notebook.h"

#include "base/names.h"
#include "dialect/dialect.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_words.h"
#include "scenario/nccl_environment.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GIVEN_MAX = 80 };

/* Words ---------------------------------------------------------------------------- */

static bool is_python(const char *word)
{
    size_t n = strlen(word);
    return n > 3 && strcmp(word + n - 3, ".py") == 0;
}

static bool is_plain(const struct shell_command *c)
{
    static const char *const others[] = { "eval", "echo", "printf",  "cp",
                                          "ls",   "cat",  "rm",      "mkdir",
                                          "grep", "cd",   "#SBATCH", NULL };
    return c->n == 0 || names_listed(others, c->words[0].text);
}

/* Whether a word may be the value of the option before it: --reward_fn reward.py, and
 * not --entrypoint train.py, which names what is started. */
static bool is_value(const struct shell_command *c, int32_t i)
{
    static const char *const programs[] = { "script",       "training_script",
                                            "train_script", "main_script",
                                            "user_script",  "program" };
    const struct shell_word *before = i > 0 ? &c->words[i - 1] : NULL;
    if (!before || !launch_is_option(before) || strchr(before->text, '=') ||
        dialect_is_flag(before->text) || strstr(before->text, "entry"))
        return false;
    for (size_t k = 0; k < sizeof(programs) / sizeof(programs[0]); k++)
        if (launch_same_word(before->text + 2, programs[k]))
            return false;
    return true;
}

/* Whether a word is a file of a configuration that the program before it executes:
 * train.py config/large.py */
static bool is_configuration(const struct shell_command *c, int32_t i)
{
    const char *text = c->words[i].text, *dir = strstr(text, "config");
    bool inside = dir && strchr(dir, '/') && (dir == text || dir[-1] == '/');
    while (inside && i-- > 0)
        if (is_python(c->words[i].text) && !is_value(c, i))
            return true;
    return false;
}

/* The script among the words: the last NAME.py that is no option's value, else the first;
 * -1: none. */
static int32_t script_of(const struct shell_command *c)
{
    int32_t value = -1;
    if (is_plain(c))
        return -1;
    for (int32_t i = c->n; i-- > 0;) {
        if (!is_python(c->words[i].text) || is_configuration(c, i))
            continue;
        if (!is_value(c, i))
            return i;
        value = i;
    }
    return value;
}

/* A program of one's own, by the Trainer's options that it is given: the last word before
 * them ("my-cli sft --model_name_or_path ..."); -1: none. */
static int32_t named_of(const struct shell_command *c)
{
    static const char *const marks[] = { "model_name_or_path",
                                         "per_device_train_batch_size" };
    int32_t first = 0, found = 0;
    while (first < c->n && !launch_is_option(&c->words[first]))
        first++;
    for (int32_t i = 0; i < first; i++)
        if (launch_is_starter(c->words[i].text) || c->words[i].why ||
            strncmp(launch_last_part(c->words[i].text), "python", 6) == 0 ||
            launch_is_shell(c->words[i].text))
            return -1;
    for (int32_t i = first; i < c->n; i++)
        for (int k = 0; k < 2 && launch_is_option(&c->words[i]); k++)
            found |= launch_same_word(c->words[i].text + 2, marks[k]) << k;
    return !is_plain(c) && found == 3 ? first - 1 : -1;
}

/* A program of a dialect that is asked to train, among the words; -1: none. */
static int32_t program_of(const struct shell_command *c, const struct dialect **d)
{
    static const char *const trains[] = { "train",
                                          "sft",
                                          "dpo",
                                          "kto",
                                          "orpo",
                                          "grpo",
                                          "rloo",
                                          "reward",
                                          "ppo",
                                          "llm",
                                          "rm",
                                          "pt",
                                          "rlhf",
                                          "pretrain",
                                          "finetune",
                                          "finetune_lora",
                                          "finetune_full",
                                          "finetune_adapter",
                                          "finetune_adapter_v2",
                                          NULL };
    for (int32_t i = 0; i < c->n && !is_plain(c); i++) {
        const char *name = launch_last_part(c->words[i].text);
        *d = dialect_of_program(name);
        const char *next = i + 1 < c->n ? c->words[i + 1].text : "";
        if (*d && (strchr(name, '.') || names_listed(trains, next) ||
                   strncmp(next, "--config", 8) == 0))
            return i;
    }
    return -1;
}

/* The word that decides whether a command trains: of a dialect's program the script
 * after it, or itself. */
static int32_t deciding(const struct shell_command *c, int32_t program, int32_t script)
{
    if (program < 0)
        return script;
    return program + (program + 1 < c->n && is_python(c->words[program + 1].text));
}

/* Which command -------------------------------------------------------------------- */

/* A command whose program trains nothing that is simulated. */
struct refused_command {
    const char *program, *why; /* NULL: there is none */
    int64_t line;
};

/* A document that a command names, and that is not there. */
struct lost_document {
    const char *name; /* NULL: there is none */
    int64_t line;
};

/* Whether a command trains nothing, which is noted; the last is kept. */
static bool refused(struct launch_context *t, const struct shell_command *c,
                    int32_t script, struct refused_command *last)
{
    const char *program = c->words[script].text;
    const char *why = launch_entry_of(t, program).refused;
    if (why) {
        *last = (struct refused_command) { program, why, c->line };
        launch_note(t->l, c->line, DIAG_LEFT_OUT, "%.80s %s: it is left out",
                    launch_last_part(program), why);
    }
    return why != NULL;
}

/* Whether a program trains by the dialect's options, whatever the list says. */
static bool trains(const struct dialect *d, const struct shell_command *c,
                   int32_t script)
{
    return d && names_listed(d->trains, launch_last_part(c->words[script].text));
}

/* train.py X.yaml, of a dialect whose own program train.py then is. */
static const struct dialect *dialect_of_owned(const struct launch_context *t,
                                              const struct launch_command *c)
{
    const struct shell_word *next =
        c->script + 1 < c->command->n ? &c->command->words[c->script + 1] : NULL;
    struct launch_named named;
    bool names = next && launch_names_document(c, &named) && named.word == next;
    const struct value *root =
        names ? launch_open_document(t->l, c, named.text, next->line) : NULL;
    return root && root->kind == VALUE_DICT ? dialect_of_own(root) : NULL;
}

/* The dialect of a command: of its program, of its options, or of the document that it
 * names. */
static const struct dialect *dialect_of_words(struct launch_context *t,
                                              const struct launch_command *c,
                                              struct lost_document *lost)
{
    const struct dialect *owned = dialect_of_owned(t, c);
    if (owned)
        return owned;
    const struct dialect_input in = {
        .source = DIALECT_COMMAND, .root = &c->options, .command = c, .context = t
    };
    const struct dialect *d = dialect_of(&in);
    struct launch_named named;
    if (d || !launch_names_document(c, &named))
        return d;
    const struct value *root =
        launch_open_document(t->l, c, named.text, named.word->line);
    if (!root)
        *lost = (struct lost_document) { named.text, named.word->line };
    return root ? dialect_of_named(root) : NULL;
}

/* The last that is reached; else the last that may be. */
static bool choose(struct launch_context *t, struct launch_command *c,
                   struct launch_words *best, struct refused_command *last,
                   struct lost_document *lost)
{
    int found = 0;
    c->command = NULL;
    for (int64_t i = 0; i < c->shell->commands.n; i++) {
        const struct shell_command *command = &c->shell->commands.v[i];
        const struct dialect *d = NULL;
        int32_t program = program_of(command, &d),
                script = program >= 0 ? program : script_of(command);
        bool named = script < 0;
        script = named ? named_of(command) : script;
        struct launch_words o = { .t = t };
        bool worse = c->command && !c->command->unless && command->unless;
        int32_t decides = deciding(command, program, script);
        if (script < 0 || worse)
            continue;
        launch_take_options(&o, command, script + 1);
        const struct launch_command tried = { .shell = c->shell,
                                              .command = command,
                                              .script = script,
                                              .options = o.dict,
                                              .columns = o.columns };
        d = program >= 0 ? d : dialect_of_words(t, &tried, lost);
        if (decides >= 0 && !trains(d, command, decides) &&
            refused(t, command, decides, last))
            continue;
        if (!d)
            continue;
        c->starts = program >= 0 || d->starts;
        c->named = named;
        found++;
        *best = o;
        c->command = command;
        c->dialect = d;
        c->script = script;
    }
    if (!c->command)
        return false;
    c->options = best->dict;
    c->columns = best->columns;
    if (found > 1)
        launch_note(t->l, c->command->line, DIAG_ASSUMED,
                    "the last of %d commands that train is taken", found);
    if (c->command->unless)
        launch_note(t->l, c->command->line, DIAG_UNRESOLVED,
                    "whether this command runs is not known: %s", c->command->unless);
    return true;
}

/* Whether a program is called a training, as train.py and finetune_x.py are. */
static bool is_called_training(const char *program)
{
    static const char *const parts[] = { "train", "finetune", "fine_tune", "fine-tune",
                                         "sft" };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(launch_last_part(program), parts[i]))
            return true;
    return false;
}

/* The last command that starts a training by options that no dialect has. */
static bool choose_unknown(struct launch_context *t, struct launch_command *c,
                           struct launch_words *best)
{
    for (int64_t i = c->shell->commands.n; i-- > 0;) {
        const struct shell_command *command = &c->shell->commands.v[i];
        int32_t script = script_of(command);
        struct launch_command tried = { .shell = c->shell,
                                        .command = command,
                                        .script = script };
        bool worse = c->command && (command->unless || !c->command->unless);
        if (script < 0 || worse ||
            launch_entry_of(t, command->words[script].text).refused)
            continue;
        if (!launch_has_starter(&tried) &&
            !is_called_training(command->words[script].text))
            continue;
        *best = (struct launch_words) { .t = t };
        launch_take_options(best, command, script + 1);
        c->options = best->dict;
        c->columns = best->columns;
        c->command = command;
        c->script = script;
        c->unknown = true;
        c->dialect = dialect_of_any();
    }
    if (c->command && c->command->unless)
        launch_note(t->l, c->command->line, DIAG_UNRESOLVED,
                    "whether this command runs is not known: %s", c->command->unless);
    return c->command;
}

/* What was not understood may be why the script does not say what it should. */
static void report_notes(const struct launch *l, const struct shell *s)
{
    for (int64_t i = 0; i < s->notes.n && i < 3; i++)
        diags_add(
            &l->loader->diags,
            diag_at_line(DIAG_ERROR, DIAG_UNRESOLVED, l->file, s->notes.v[i].line),
            "%s", s->notes.v[i].text);
}

/* A command with options, of which not even the program is known. */
static const struct shell_word *unknown_program(const struct shell *s)
{
    for (int64_t i = s->commands.n; i-- > 0;) {
        const struct shell_command *c = &s->commands.v[i];
        if (!is_plain(c) && c->words[0].why && c->n > 1 &&
            launch_is_option(&c->words[1]))
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

static void take_variable(struct launch_context *t, const struct shell_binding *b)
{
    struct value v = { .kind = VALUE_STRING, .line = b->line };
    const struct value_item from = { b->name, b->line, &v };
    launch_take_device(t, b);
    if (!environment_knows(b->name))
        return;
    if (!b->value) {
        launch_note(t->l, b->line, DIAG_LEFT_OUT,
                    "%s: its value is not known; it is left out", b->name);
        return;
    }
    const char *pointer = launch_pointer(t, "/software/environment", b->name);
    if (!t->call || !launch_has(t, pointer)) /* a job has given it already */
        launch_set(t, pointer, json_string(b->value), &from);
}

/* Of the variables, what is for NCCL and its network: of the script, and those that are
 * set for the command alone (X=1 torchrun ...). */
static void take_environment(struct launch_context *t, const struct launch_command *c)
{
    const struct shell *s = c->shell;
    const struct shell_command *own = c->command;
    for (int64_t i = 0; i < s->bindings.n; i++)
        if (launch_variable(c, s->bindings.v[i].name) == &s->bindings.v[i])
            take_variable(t, &s->bindings.v[i]);
    for (; own; own = own->within ? &s->commands.v[own->within - 1] : NULL)
        for (int32_t i = 0; i < own->n_own; i++)
            if (launch_variable(c, own->own[i].name) == &own->own[i])
                take_variable(t, &own->own[i]);
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
    bool own = c->dialect->reads_program || c->dialect->own_documents;
    if (!c->starts && !own) /* a dialect's own program */
        launch_take_entry(t, c->command->words[c->script].text, &entry);
    launch_take_starter(t, c);
    take_environment(t, c);
    const struct dialect_input in = { .source = DIALECT_COMMAND,
                                      .root = &c->options,
                                      .command = c };
    c->dialect->read(t, &in);
    launch_take_visible(t, c);
}

static void take_notes(struct launch *l, const struct shell *s,
                       const struct launch_command *c, const char *missing)
{
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
        int32_t script = script_of(c);
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
    struct launch_words o = { .t = t };
    struct refused_command last = { .why = NULL };
    struct lost_document lost = { NULL, 0 };
    const char *where = t->l->where;
    *program = (struct launch_program) { .name = NULL };
    if (started->in.file)
        t->l->where = started->in.file;
    int rc = shell_read(&s, &started->in, t->arena, started->text,
                        strlen(started->text), started->given, started->n_given, &err);
    launch_name_modules(t->arena, &s);
    if (rc) {
        launch_note(t->l, started->in.line, DIAG_LEFT_OUT, "its command: %s", err.text);
    } else if (choose(t, &c, &o, &last, &lost)) {
        take_command(t, &c);
        launch_note_lost(&o, c.dialect);
    } else if (last.why) {
        launch_refuse_entry(t->l, last.program, last.why, last.line);
    } else {
        take_last(t, &s, started->missing, program);
    }
    take_notes(t->l, &s, &c, started->missing);
    bool taken = c.command || last.why;
    t->command = NULL;
    t->l->where = where;
    shell_release(&s);
    return taken;
}

/* How many nodes a job of SLURM has; 0: not known. */
static int64_t nodes_of(const struct raw_shell *directives,
                        const struct launch_given *given)
{
    int64_t nodes = launch_slurm_nodes(directives);
    return nodes ? nodes : given->count;
}

/* What the caller gives is kept; what SLURM sets, the script may change. */
static int32_t all_given(struct launch *l, const struct raw_shell *directives,
                         const struct launch_given *given, struct shell_given *out)
{
    int32_t n = launch_slurm_variables(&l->loader->arena, directives, out, GIVEN_MAX);
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

json_t *launch_read_shell(struct launch *l, const char *text, size_t len,
                          const struct launch_given *given)
{
    struct arena *arena = &l->loader->arena;
    struct err err = { 0 };
    struct shell s = { 0 };
    struct shell_given variables[GIVEN_MAX];
    struct launch_context t = { .l = l, .arena = arena };
    struct launch_command c = { .shell = &s,
                                .directives = shell_directives(arena, text) };
    struct launch_words o = { .t = &t };
    struct refused_command last = { .why = NULL };
    struct lost_document lost = { NULL, 0 };
    int32_t n = all_given(l, &c.directives, given, variables);
    if (given->estimator)
        diags_add(&l->loader->diags,
                  diag_at_line(DIAG_ERROR, DIAG_REFUSED_KEY, l->file, 0),
                  "has no estimators (leave --estimator out)");
    const struct shell_setting in = {
        .file = l->file,
        .gpus = given->gpus,
        .cpus = given->cpus,
        .nodes = nodes_of(&c.directives, given),
        .files = l->notebook ? l->notebook->files.v : NULL,
        .n_files = l->notebook ? l->notebook->files.n : 0,
    };
    int rc = shell_read(&s, &in, arena, text, len, variables, n, &err);
    l->written = s.files.v;
    l->n_written = s.files.n;
    launch_name_modules(arena, &s);
    if (rc) {
        diags_add(&l->loader->diags, launch_syntax(l, &err), "%s", err.text);
    } else if (!choose(&t, &c, &o, &last, &lost) && !lost.name &&
               !choose_unknown(&t, &c, &o) && last.why) {
        launch_refuse_entry(l, last.program, last.why, last.line);
    } else if (!c.command && lost.name) {
        diags_add(&l->loader->diags,
                  diag_at_line(DIAG_ERROR, DIAG_UNREADABLE, l->file, lost.line),
                  "\"%.80s\", which a command names, was not found (put it next to the "
                  "script)",
                  lost.name);
        report_notes(l, &s);
    } else if (!c.command) {
        no_command(l, &s);
    } else {
        warn_unused(l, &s, text, given);
        launch_begin(&t, l);
        take_command(&t, &c);
        launch_note_lost(&o, c.dialect);
        take_notes(l, &s, &c, NULL);
    }
    l->n_written = 0;
    shell_release(&s);
    return t.tree;
}
