#include "dialect/launch/launch_choose.h"

#include "base/names.h"
#include "dialect/dialect.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_branches.h"
#include "dialect/launch/launch_foreign.h"
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_starter.h"

#include <string.h>

/* Words ---------------------------------------------------------------------------- */

static bool is_python(const char *word)
{
    size_t n = strlen(word);
    return n > 3 && strcmp(word + n - 3, ".py") == 0;
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
int32_t launch_script_of(const struct shell_command *c)
{
    int32_t value = -1;
    if (launch_is_plain(c))
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
    for (int32_t i = 0; i < c->n && !launch_is_plain(c); i++) {
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

/* Whether a command trains nothing, which is noted; the last is kept. */
static bool refused(struct launch_context *t, const struct shell_command *c,
                    int32_t script, struct launch_refused *last)
{
    const char *program = c->words[script].text;
    const char *why = launch_entry_of(t, program).refused;
    if (why) {
        *last = (struct launch_refused) { program, why, c->line };
        launch_note(t->l, c->line, DIAG_LEFT_OUT, "%.80s %s: it is left out",
                    launch_last_part(program), why);
    }
    return why != NULL;
}

/* Whether a command is of a framework that is not simulated. */
static bool is_foreign(const struct shell_command *c, struct launch_refused *last)
{
    const char *why, *word = launch_is_plain(c) ? NULL : launch_foreign(c, &why);
    if (word)
        *last = (struct launch_refused) { word, why, c->line };
    return word != NULL;
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
                                              struct launch_lost *lost)
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
        *lost = (struct launch_lost) { named.text, named.word->line };
    return root ? dialect_of_named(root) : NULL;
}

/* The word by which a command evaluates; NULL, too, where words that are not known may
 * have --do_train. */
static const char *evaluates(const struct launch_words *o, const char *program)
{
    return o->n_lost ? NULL : launch_evaluates(&o->dict, program);
}

static void leave_out(struct launch_context *t, const struct shell_command *c,
                      int32_t script, const char *word, struct launch_refused *last)
{
    const char *program = c->words[script].text;
    const char *why = launch_why_evaluates(t->arena, word);
    *last = (struct launch_refused) { program, why, c->line };
    launch_note(t->l, c->line, DIAG_LEFT_OUT, "%.80s %s: it is left out",
                launch_last_part(program), why);
}

static void note_unless(struct launch_context *t, const struct launch_command *c)
{
    if (c->command && c->command->unless)
        launch_note(t->l, c->command->line, DIAG_UNRESOLVED,
                    "whether this command runs is not known: %s", c->command->unless);
}

/* A command that may be the training. */
struct candidate {
    const struct shell_command *command;
    const struct dialect *dialect;
    struct launch_words words;
    struct launch_command tried;
    int32_t program, script; /* of its words; program -1: no dialect's own */
    bool named;
    const char *evaluates; /* NULL: it may train */
    bool branches;         /* another that trains otherwise may run in its place */
};

/* Whether a dialect reads a command, and nothing says that it trains nothing. */
static bool is_candidate(struct launch_context *t, const struct shell *shell,
                         struct candidate *a, struct launch_choice *to)
{
    const struct shell_command *command = a->command;
    a->program = program_of(command, &a->dialect);
    a->script = a->program >= 0 ? a->program : launch_script_of(command);
    a->named = a->script < 0;
    a->script = a->named ? launch_named_program(command) : a->script;
    if (a->script < 0) {
        a->script = launch_open_script(command);
        a->named = false;
    }
    if (a->script < 0)
        return false;
    a->words = (struct launch_words) { .t = t };
    launch_take_options(&a->words, command, a->script + 1);
    const struct launch_command named = { .shell = shell,
                                          .command = command,
                                          .script = a->script };
    dialect_expand(t, &named, &a->words);
    a->evaluates = evaluates(&a->words, command->words[a->script].text);
    a->tried = (struct launch_command) { .shell = shell,
                                         .command = command,
                                         .script = a->script,
                                         .options = a->words.dict,
                                         .columns = a->words.columns };
    int32_t decides = deciding(command, a->program, a->script);
    if (a->program < 0)
        a->dialect = dialect_of_words(t, &a->tried, &to->lost);
    a->tried.dialect = a->dialect;
    if (decides >= 0 && !trains(a->dialect, command, decides) &&
        refused(t, command, decides, &to->refused))
        return false;
    return a->dialect != NULL;
}

/* What is taken before another: a command that trains, then one that is reached. */
static int rank_of(const struct candidate *a)
{
    return 2 * (a->evaluates != NULL) + (a->command->unless != NULL);
}

/* The best so far gives way to the last that is as good. */
static void compare(struct launch_context *t, struct candidate *best,
                    const struct candidate *a, int *found, struct launch_choice *to)
{
    const char *program = a->command->words[a->script].text;
    if (a->evaluates &&
        (!launch_is_called_training(program) || (best->command && !best->evaluates))) {
        leave_out(t, a->command, a->script, a->evaluates, &to->refused);
        return;
    }
    if (best->command && rank_of(a) > rank_of(best))
        return;
    if (best->command && best->evaluates && !a->evaluates) {
        leave_out(t, best->command, best->script, best->evaluates, &to->refused);
        *found = 0;
    }
    bool branches =
        best->command && a->command->unless &&
        (best->branches || launch_trains_otherwise(&best->tried, &a->tried));
    *best = *a;
    best->branches = branches;
    ++*found;
}

/* How another round of the loops around a command is chosen: " (--set /shell/tp=1
 * /shell/mbs=2 ...)". */
static const char *rounds_of(struct launch_context *t, const struct shell_command *c)
{
    const char *text = "";
    for (const struct shell_round *r = c->rounds; r; r = r->outer)
        text = arena_printf(t->arena, "%s --set /shell/%.40s=%.40s", text, r->name,
                            r->first);
    return *text ? arena_printf(t->arena, " (for the first of its loops give%s)", text)
                 : "";
}

static void note_last(struct launch_context *t, const struct launch_command *c,
                      int found, bool branches)
{
    if (found > 1 && !(branches && launch_ask_branch(t, c, found)))
        launch_note(t->l, c->command->line, DIAG_ASSUMED,
                    "the last of %d commands that train is taken%s", found,
                    rounds_of(t, c->command));
}

bool launch_choose(struct launch_context *t, struct launch_command *c,
                   struct launch_choice *to)
{
    struct candidate best = { .command = NULL };
    int found = 0;
    for (int64_t i = 0; i < c->shell->commands.n; i++) {
        struct candidate a = { .command = &c->shell->commands.v[i] };
        bool worse = best.command && rank_of(&best) == 0 && a.command->unless;
        if (!is_foreign(a.command, &to->refused) && !worse &&
            is_candidate(t, c->shell, &a, to))
            compare(t, &best, &a, &found, to);
    }
    c->command = best.command;
    if (!c->command)
        return false;
    to->words = best.words;
    c->dialect = best.dialect;
    c->script = best.script;
    c->named = best.named;
    c->starts = best.program >= 0 || best.dialect->starts;
    c->options = to->words.dict;
    c->columns = to->words.columns;
    c->letters = to->words.letters;
    note_last(t, c, found, best.branches);
    note_unless(t, c);
    return true;
}

bool launch_choose_unknown(struct launch_context *t, struct launch_command *c,
                           struct launch_choice *to)
{
    int found = 0;
    bool branches = false;
    for (int64_t i = c->shell->commands.n; i-- > 0;) {
        const struct shell_command *command = &c->shell->commands.v[i];
        int32_t script = launch_script_of(command);
        struct launch_command tried = { .shell = c->shell,
                                        .command = command,
                                        .script = script };
        bool worse = c->command && (command->unless || !c->command->unless);
        struct launch_refused foreign;
        if (script < 0 || (worse && command->unless) || is_foreign(command, &foreign) ||
            launch_entry_of(t, command->words[script].text).refused)
            continue;
        if (!launch_has_starter(&tried) && !t->l->operated &&
            !launch_is_called_training(command->words[script].text))
            continue;
        struct launch_words o = { .t = t };
        launch_take_options(&o, command, script + 1);
        if (evaluates(&o, command->words[script].text) &&
            !launch_is_called_training(command->words[script].text))
            continue;
        found += launch_is_called_training(command->words[script].text);
        tried.options = o.dict;
        tried.dialect = dialect_of_any();
        branches |= c->command && c->command->unless && command->unless &&
                    launch_trains_otherwise(c, &tried);
        if (worse)
            continue;
        to->words = o;
        c->options = to->words.dict;
        c->columns = to->words.columns;
        c->letters = to->words.letters;
        c->command = command;
        c->script = script;
        c->unknown = true;
        c->dialect = dialect_of_any();
    }
    note_last(t, c, found, branches);
    note_unless(t, c);
    return c->command;
}

/* Programs that train by their own calls -------------------------------------------- */

/* The program at word `script` of a command; NULL: it is not at hand, or trains nothing by
 * its calls. */
static json_t *read_started(struct launch_context *t, const struct shell_command *c,
                            int32_t script, const struct launch_given *given)
{
    const char *name = c->words[script].text,
               *path = launch_program_path(t->l, t->arena, name);
    struct launch_words o = { .t = t };
    launch_take_options(&o, c, script + 1);
    const struct launch_script p = {
        .path = path ? path : name,
        .text = launch_program_text(t->l, t->arena, name),
        .given = launch_arguments(t->arena, &o.dict),
        .line = c->line,
    };
    return p.text ? given->program(t->l, &p) : NULL;
}

/* How often a program was read; a script may start one a hundred times, with other options
 * each time. */
struct reading {
    const char *name;
    int n;
};
typedef VEC(struct reading) readings;

static bool is_read_enough(readings *all, const char *name)
{
    enum { READ_MAX = 8 };
    for (int64_t i = 0; i < all->n; i++)
        if (strcmp(all->v[i].name, name) == 0)
            return all->v[i].n++ >= READ_MAX;
    VEC_PUSH(all, ((struct reading) { name, 1 }));
    return false;
}

json_t *launch_read_program(struct launch_context *t, const struct shell *s,
                            const struct launch_given *given)
{
    json_t *tree = NULL;
    readings all = { 0 };
    for (int64_t i = s->commands.n; !tree && given->program && i-- > 0;) {
        const struct shell_command *c = &s->commands.v[i];
        int32_t script = launch_script_of(c);
        const char *name = script >= 0 ? c->words[script].text : "",
                   *dot = strrchr(name, '.');
        if (dot && strcmp(dot, ".py") == 0 && !is_read_enough(&all, name))
            tree = read_started(t, c, script, given);
    }
    VEC_RELEASE(&all);
    return tree;
}

/* Recipes ---------------------------------------------------------------------------- */

/* What the starter says of GPUs, in place of what the recipe does; the lines are those of
 * the program. */
static void take_starter(struct launch_context *t, struct launch_command *c)
{
    static const char count_at[] = "/cluster/count",
                      gpus_at[] = "/cluster/gpus_per_instance";
    struct launch *l = t->l;
    json_t *cluster = json_object_get(t->tree, "cluster");
    if (!launch_has_starter(c))
        return;
    json_object_del(cluster, strrchr(count_at, '/') + 1);
    json_object_del(cluster, strrchr(gpus_at, '/') + 1);
    launch_forget(t, count_at);
    launch_forget(t, gpus_at);
    int64_t n = l->resolved.n, open = l->unresolved.n;
    launch_take_starter(t, c);
    for (int64_t i = n; i < l->resolved.n; i++)
        l->resolved.v[i].line = l->line;
    for (int64_t i = open; i < l->unresolved.n; i++)
        l->unresolved.v[i].line = l->line;
}

/* An option's value, after which words may come; NULL. */
static const struct value *first_of(const struct value_item *it)
{
    bool list = it && it->value->kind == VALUE_LIST && it->value->n;
    return list ? it->value->items[0].value : it ? it->value : NULL;
}

static struct launch_changes changes_of(struct launch_context *t,
                                        const struct launch_command *c)
{
    static const char *const names[] = { "--config-file", "--config_file", NULL };
    static const char *const factories[] = { "--factory", "-f", NULL };
    struct value *words = value_new(t->arena, VALUE_DICT, c->command->line, 0);
    struct launch_words o = { .t = t };
    launch_take_overrides(t->arena, words, c);
    launch_take_options(&o, c->command, c->script + 1);
    const struct launch_command options = { .options = o.dict };
    const struct value *name = first_of(launch_any_option(&options, names));
    return (struct launch_changes) { words, name ? name->text : NULL,
                                     first_of(launch_any_option(&options, factories)) };
}

json_t *launch_read_recipes(struct launch_context *t, const struct shell *s,
                            const struct launch_command *of,
                            const struct launch_given *given)
{
    for (int64_t i = s->commands.n; given->program && i-- > 0;) {
        const struct shell_command *c = &s->commands.v[i];
        int32_t script = launch_script_of(c);
        const char *text =
            script < 0 ? NULL
                       : launch_program_text(t->l, t->arena, c->words[script].text);
        if (!text || !launch_is_of_recipes(text))
            continue;
        struct launch_context as = *t;
        struct launch_command started = {
            .shell = s, .command = c, .script = script, .directives = of->directives
        };
        const struct launch_changes changes = changes_of(t, &started);
        t->l->changes = &changes;
        as.tree = read_started(t, c, script, given);
        t->l->changes = NULL;
        if (!as.tree)
            continue;
        take_starter(&as, &started);
        return as.tree;
    }
    return NULL;
}
