/* The command by which a job starts its program, and a shell script as its entry: read
 * as a shell script is. SageMaker gives an entry the hyperparameters as its arguments,
 * and sets SM_* for it (sagemaker-python-sdk 2.24x,
 * modules/train/container_drivers/scripts/environment.py, basic_script_driver.py). */
#include "dialect/sagemaker/sagemaker.h"

#include "base/names.h"
#include "base/strbuf.h"
#include "config/pointer.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_commands.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/source/notebook.h"
#include "dialect/user_script/user_script.h"
#include "hardware/instance.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { FILES_MAX = 16, GIVEN_MAX = 80, HOSTS_MAX = 64 };

/* The hyperparameter that names the program of a launcher. */
static const char launched[] = "training_script";

struct job_command {
    const struct value_item *it;       /* "command" or "entry_point" */
    bool entry;                        /* the latter */
    const struct value_item *launches; /* which starts that program on all GPUs; NULL */
    const char *text;
    struct source_file files[FILES_MAX];
    struct shell_given given[GIVEN_MAX];
    int32_t n_files, n_given;
    int64_t gpus;        /* of an instance; 0: not known */
    const char *missing; /* a shell script that is not there; NULL */
    bool own;            /* the entry starts it by its text, with what it is given */
};

/* Files ---------------------------------------------------------------------------- */

/* The shell scripts among the words, where they are there. */
static void find_scripts(struct launch_context *t, struct job_command *c,
                         const char *words)
{
    char *text = arena_strdup(t->arena, words), *state = NULL;
    for (char *w = strtok_r(text, " \t\n\\;&|\"'", &state); w;
         w = strtok_r(NULL, " \t\n\\;&|\"'", &state)) {
        int64_t line;
        if (!launch_is_shell(w) || c->n_files == FILES_MAX)
            continue;
        while (strncmp(w, "./", 2) == 0)
            w += 2;
        const char *found = sagemaker_text(t, w, &line);
        if (found)
            c->files[c->n_files++] = (struct source_file) { w, found, 0 };
        else
            c->missing = w;
    }
}

/* Variables ------------------------------------------------------------------------ */

static void give(struct job_command *c, const char *name, const char *value)
{
    if (value && c->n_given < GIVEN_MAX)
        c->given[c->n_given++] =
            (struct shell_given) { name, value, c->it->line, false };
}

static const char *text_of(struct launch_context *t, const struct value *v)
{
    int64_t n;
    if (v->kind == VALUE_STRING)
        return v->text;
    if (v->kind == VALUE_BOOL)
        return v->integer ? "True" : "False";
    if (launch_whole(v, &n))
        return arena_printf(t->arena, "%" PRId64, n);
    return v->kind == VALUE_REAL ? arena_printf(t->arena, "%.15g", v->real) : NULL;
}

/* Its hosts, algo-1 to algo-N. */
static void give_hosts(struct launch_context *t, struct job_command *c, int64_t n)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int64_t i = 1; i <= n && n <= HOSTS_MAX; i++)
        strbuf_printf(&b, "%s\"algo-%" PRId64 "\"", i > 1 ? ", " : "", i);
    const char *hosts = arena_printf(t->arena, "[%s]", strbuf_get(&b));
    strbuf_release(&b);
    if (n < 1 || n > HOSTS_MAX)
        return;
    give(c, "SM_HOSTS", hosts);
    give(c, "SM_RESOURCE_CONFIG",
         arena_printf(t->arena,
                      "{\"current_host\": \"algo-1\", \"hosts\": %s, "
                      "\"network_interface_name\": \"eth0\"}",
                      hosts));
    give(c, "SM_CURRENT_HOST", "algo-1");
}

/* What the toolkit sets of the cluster. */
static void give_cluster(struct launch_context *t, struct job_command *c)
{
    const char *name = json_string_value(pointer_get(t->tree, "/cluster/instance"));
    const json_t *count = pointer_get(t->tree, "/cluster/count");
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct instance *inst =
        name ? instance_get(&loader, name, (struct cfg) { 0 }) : NULL;
    c->gpus = inst ? inst->n_gpus : 0;
    if (inst) {
        give(c, "SM_NUM_GPUS", arena_printf(t->arena, "%d", (int)inst->n_gpus));
        t->l->arch = inst->gpu->sm_arch;
    }
    cfg_loader_release(&loader);
    give(c, "SM_CURRENT_INSTANCE_TYPE", name);
    if (json_is_integer(count)) {
        give(
            c, "SM_HOST_COUNT",
            arena_printf(t->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(count)));
        give_hosts(t, c, json_integer_value(count));
    }
}

static void give_environment(struct launch_context *t, struct job_command *c)
{
    static const char *const names[] = { "environment", "env" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value_item *env = value_get(t->call->arguments, names[i]);
        for (int32_t k = 0; env && env->value->kind == VALUE_DICT && k < env->value->n;
             k++)
            give(c, env->value->items[k].key, text_of(t, env->value->items[k].value));
    }
}

/* SM_HP_EPOCHS of the hyperparameter epochs. */
static void give_hyper(struct launch_context *t, struct job_command *c)
{
    const struct value *all = sagemaker_given(t);
    for (int32_t i = 0; all && i < all->n; i++) {
        char *name = arena_printf(t->arena, "SM_HP_%s", all->items[i].key);
        for (char *s = name; *s; s++)
            *s = (char)toupper((unsigned char)*s);
        give(c, name, text_of(t, all->items[i].value));
    }
}

/* The program that a launcher starts by deepspeed on all GPUs, as philschmid's
 * ds_launcher.py does: a hyperparameter names it; NULL. */
static const char *launched_program(const struct launch_context *t)
{
    const struct value_item *it = launch_hyper(t, launched);
    size_t n = it && it->value->kind == VALUE_STRING ? strlen(it->value->text) : 0;
    return n > 3 && strcmp(it->value->text + n - 3, ".py") == 0 ? it->value->text
                                                                : NULL;
}

/* The hyperparameters as the words --NAME VALUE; NULL: one is not known. */
static const char *words_of_hyper(struct launch_context *t)
{
    struct strbuf b;
    const char *out = NULL;
    bool known = true;
    strbuf_init(&b);
    for (int i = 0; i < t->n_hyper; i++) {
        const struct value *v = t->hyper[i];
        known &= v->kind == VALUE_DICT && !v->gap;
        for (int32_t k = 0; known && k < v->n; k++) {
            const char *value = text_of(t, v->items[k].value);
            if (strcmp(v->items[k].key, launched) == 0)
                continue;
            known &= value && !strpbrk(value, " '\"$`\\\n");
            strbuf_printf(&b, " --%s %s", v->items[k].key, value ? value : "");
        }
    }
    if (known)
        out = arena_strdup(t->arena, strbuf_get(&b));
    strbuf_release(&b);
    return out;
}

/* Hyperparameters of another dialect's program --------------------------------------- */

/* A value as a word in quotes; true of a flag as none. NULL: it is not known. */
static const char *quoted(struct launch_context *t, const char *option,
                          const struct value *v)
{
    static const char *const yes[] = { "true", "True", "1", "", NULL };
    const char *text = v->kind == VALUE_NONE ? "" : text_of(t, v);
    if (!text || strpbrk(text, "'\n"))
        return NULL;
    if (dialect_is_flag(option) && names_listed(yes, text))
        return "";
    return arena_printf(t->arena, " '%s'", text);
}

/* The command that starts the entry with them, where it is a program of Megatron's and a
 * dialect has their names: pretrain_gpt.py with num-layers and hidden-size. NULL. */
static const char *command_of_hyper(struct launch_context *t, const char *entry)
{
    struct value *options = value_new(t->arena, VALUE_DICT, t->call->line, 0);
    const char *words = "";
    if (!launch_entry_of(t, entry).model)
        return NULL; /* others have such names, too */
    for (int i = 0; i < t->n_hyper; i++) {
        const struct value *v = t->hyper[i];
        if (v->kind != VALUE_DICT || v->gap)
            return NULL;
        for (int32_t k = 0; k < v->n; k++) {
            char *key = arena_printf(t->arena, "--%s", v->items[k].key);
            for (char *s = key; *s; s++)
                *s = *s == '_' ? '-' : *s;
            const char *word = quoted(t, key, v->items[k].value);
            value_add(t->arena, options, key, v->items[k].line, v->items[k].value);
            words = words && word ? arena_printf(t->arena, "%s %s%s", words, key, word)
                                  : NULL;
        }
    }
    return words && dialect_of_options(options)
               ? arena_printf(t->arena, "torchrun --nproc_per_node=gpu %s%s", entry,
                              words)
               : NULL;
}

/* A launcher -------------------------------------------------------------------------- */

/* What the entry is given: the words --NAME VALUE after its own name. */
static struct value *list_of_hyper(struct launch_context *t, const char *entry)
{
    struct value *list = value_new(t->arena, VALUE_LIST, t->call->line, 0),
                 *all = sagemaker_given(t);
    const int64_t line = -t->call->line;
    value_add(t->arena, list, NULL, line, value_new_string(t->arena, entry, line, 0));
    for (int32_t i = 0; all && i < all->n; i++) {
        const char *value = text_of(t, all->items[i].value);
        value_add(t->arena, list, NULL, line,
                  value_new_string(t->arena,
                                   arena_printf(t->arena, "--%s", all->items[i].key),
                                   line, 0));
        value_add(t->arena, list, NULL, line,
                  value ? value_new_string(t->arena, value, line, 0)
                        : value_new_unknown(t->arena, line, 0,
                                            "the hyperparameter is not known"));
    }
    return all ? list : NULL;
}

/* The commands that an entry starts which trains nothing itself; NULL. */
static const char *command_of_launcher(struct launch_context *t, struct job_command *c,
                                       const struct value_item *entry)
{
    int64_t line;
    const char *text = sagemaker_text(t, entry->value->text, &line);
    if (!text || !launch_commands_of(t->arena, text, &(struct python_wanted) { 0 }) ||
        user_script_is_program(t->arena, t->l, text))
        return NULL;
    struct job_command of = { .it = entry };
    give_cluster(t, &of);
    give_environment(t, &of);
    give_hyper(t, &of);
    struct value *environment = value_new(t->arena, VALUE_DICT, entry->line, 0);
    for (int32_t i = 0; i < of.n_given; i++)
        value_add(t->arena, environment, of.given[i].name, entry->line,
                  value_new_string(t->arena, of.given[i].value, -entry->line, 0));
    const struct python_wanted wanted = {
        .given = sagemaker_given(t),
        .words = list_of_hyper(t, entry->value->text),
        .environment = environment,
        .gpu = { of.gpus, t->l->arch, 0, t->l->memory_B },
    };
    c->own = wanted.given != NULL;
    launch_note(t->l, entry->value->line, DIAG_ASSUMED,
                "%.80s trains nothing itself: what it starts by a shell is read",
                launch_last_part(entry->value->text));
    return launch_commands_of(t->arena, text, &wanted);
}

/* All ------------------------------------------------------------------------------ */

static bool find_command(struct launch_context *t, struct job_command *c)
{
    const struct value *given = t->call->arguments;
    const struct value_item *entry = value_get(given, "entry_point");
    const char *words = words_of_hyper(t);
    *c = (struct job_command) { .it = value_get(given, "command") };
    if (c->it && c->it->value->kind == VALUE_STRING) {
        c->text = c->it->value->text;
    } else if (entry && entry->value->kind == VALUE_STRING &&
               launch_is_shell(entry->value->text)) {
        c->it = entry;
        c->entry = true;
        c->text = arena_printf(t->arena, "bash %s%s", entry->value->text,
                               words ? words : " \"$@\"");
    }
    if (!c->text && entry && entry->value->kind == VALUE_STRING) {
        const char *program = launched_program(t);
        c->it = entry;
        c->entry = true;
        c->launches = program ? launch_hyper(t, launched) : NULL;
        c->text = program ? arena_printf(t->arena, "deepspeed %s%s", program,
                                         words ? words : " \"$@\"")
                          : command_of_hyper(t, entry->value->text);
    }
    if (!c->text && entry && entry->value->kind == VALUE_STRING) {
        c->text = command_of_launcher(t, c, entry);
        c->it = entry;
        c->entry = c->text != NULL;
    }
    if (!c->text)
        return false;
    give_hyper(t, c);
    if (c->entry && (words || c->own))
        t->n_hyper = 0; /* they are words now */
    launch_hear(t, c->it);
    find_scripts(t, c, c->text);
    for (int32_t i = 0; i < c->n_files; i++)
        find_scripts(t, c, c->files[i].text);
    return true;
}

/* What a script that is not there may say of the step. */
static void ask_missing(struct launch_context *t, const struct job_command *c,
                        const struct value *options)
{
    int64_t line = c->it->line;
    if (!launch_has(t, "/distribution"))
        launch_add_unresolved(
            t, "/parallelism/library", line,
            "%s: %.60s starts the program, and is not there: ddp, fsdp or deepspeed",
            c->it->key, c->missing);
    if (!c->entry && options && t->n_hyper < LAUNCH_HYPER_MAX)
        t->hyper[t->n_hyper++] = options;
    launch_take_entry(t, c->missing, c->it);
    if (launch_entry_of(t, c->missing).program)
        return; /* its name says what it trains */
    launch_add_unresolved(t, PEFT_LORA, line,
                          "%s: %.60s starts the program, and is not there: whether it "
                          "trains adapters is not known (null is training without)",
                          c->it->key, c->missing);
}

/* A program whose options no dialect has: they are hyperparameters. */
static void take_plain(struct launch_context *t, const struct job_command *c,
                       const struct launch_program *program)
{
    struct value *name = value_new_string(t->arena, program->name, c->it->line, 0);
    struct value *own = (struct value *)(uintptr_t)t->call->arguments;
    const struct value_item from = { c->it->key, c->it->line, name };
    launch_take_entry(t, program->name, &from);
    if (program->starter && !launch_has(t, "/distribution"))
        launch_add_unresolved(t, "/parallelism/library", c->it->line,
                              "%s: %s starts %.60s, and what shards the model is not "
                              "said in its options: ddp, fsdp or deepspeed",
                              c->it->key, program->starter, program->name);
    if (c->entry)
        ((struct value_item *)(uintptr_t)c->it)->value = name;
    else
        value_add(t->arena, own, "entry_point", c->it->line, name);
    if (t->n_hyper < LAUNCH_HYPER_MAX)
        t->hyper[t->n_hyper++] = program->options;
    launch_hear(t, value_get(own, "entry_point"));
}

bool sagemaker_take_command(struct launch_context *t)
{
    struct job_command c;
    struct launch_program program;
    int n_hyper = t->n_hyper;
    if (!find_command(t, &c))
        return false;
    give_cluster(t, &c);
    give_environment(t, &c);
    const struct value_item *dir = value_get(t->call->arguments, "source_dir");
    const char *slash = strrchr(t->l->file, '/'),
               *in = dir && dir->value->kind == VALUE_STRING ? dir->value->text : ".";
    const struct launch_started started = {
        .text = c.text,
        .in = { .file = arena_printf(t->arena, "%.*s%s/command.sh",
                                     slash ? (int)(slash - t->l->file + 1) : 0,
                                     t->l->file, in),
                .files = c.files,
                .n_files = c.n_files,
                .gpus = c.gpus,
                .line = (int32_t)c.it->line },
        .given = c.given,
        .n_given = c.n_given,
        .missing = c.missing,
    };
    if (c.launches && c.gpus > 0)
        launch_set(t, "/cluster/gpus_per_instance", json_integer((json_int_t)c.gpus),
                   c.launches);
    bool taken = launch_take_started(t, &started, &program);
    if (!taken && !program.name)
        t->n_hyper = n_hyper; /* the script is not there: they are the job's */
    if (taken)
        t->n_hyper = 0;
    else if (program.name)
        take_plain(t, &c, &program);
    else if (c.missing)
        ask_missing(t, &c, program.options);
    else
        launch_note(t->l, c.it->line, DIAG_LEFT_OUT,
                    "%s: it starts no script that is known", c.it->key);
    return taken;
}
