/* A file of hyperparameters that a job is given by its name: "config": args.yaml, which
 * a notebook writes itself or which is next to it; the defaults of the script's own
 * arguments. */
#include "base/names.h"
#include "dialect/sagemaker/sagemaker.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "dialect/launch/entry_points.h"
#include "dialect/peft/peft.h"
#include "dialect/python/python.h"
#include "dialect/source/document.h"
#include "dialect/source/files.h"
#include "dialect/source/notebook.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_B = 1 << 20, WORDS_MAX = 200 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *sagemaker_text(struct launch_context *t, const char *name, int64_t *line)
{
    const struct source_file *own = launch_own_file(t->l, name);
    const struct value_item *dir = value_get(t->call->arguments, "source_dir");
    const char *in = dir && dir->value->kind == VALUE_STRING ? dir->value->text : "";
    struct err err = { 0 };
    const char *text = NULL, *path;
    size_t len;
    *line = 0;
    if (own) {
        *line = own->line;
        return own->text;
    }
    path = source_files_next_to(
        t->arena, t->l->file, arena_printf(t->arena, "%s/%s", in[0] ? in : ".", name));
    path = path ? path : source_files_next_to(t->arena, t->l->file, name);
    char *read = path ? file_read(path, FILE_MAX_B, &len, &err) : NULL;
    text = read ? arena_strdup(t->arena, read) : NULL;
    free(read);
    return text;
}

/* Requirements ----------------------------------------------------------------------- */

/* The version that a line pins, "transformers==4.57.1"; NULL: it is another line. */
static const char *pinned(struct arena *arena, const char *line, const char *package)
{
    static const char digits[] = "0123456789.";
    size_t n = strlen(package);
    line += strspn(line, " \t");
    if (strncmp(line, package, n) != 0)
        return NULL;
    line += n;
    if (*line == '[')
        line += strcspn(line, "]\n") + (line[strcspn(line, "]\n")] == ']');
    line += strspn(line, " \t");
    size_t m = strncmp(line, "==", 2) == 0
                   ? strspn(line + 2 + strspn(line + 2, " "), digits)
                   : 0;
    return m ? arena_strndup(arena, line + 2 + strspn(line + 2, " "), m) : NULL;
}

void sagemaker_take_requirements(struct launch_context *t)
{
    static const char pointer[] = "/software/transformers";
    const struct value *given = t->call->arguments;
    const struct value_item *named = value_get(given, "requirements"),
                            *dir = value_get(given, "source_dir");
    bool is_text = named && named->value->kind == VALUE_STRING;
    const char *name = is_text ? named->value->text : "requirements.txt";
    const char *version = NULL;
    int64_t line;
    const char *text = named || dir ? sagemaker_text(t, name, &line) : NULL;
    for (const char *s = text; s && !version; s = strchr(s, '\n')) {
        s += *s == '\n';
        version = pinned(t->arena, s, "transformers");
    }
    if (!version)
        return;
    launch_hear(t, named);
    launch_forget(t, pointer);
    struct value v = { .kind = VALUE_STRING,
                       .line = is_text ? named->value->line : t->call->line,
                       .text = version };
    const struct value_item from = { arena_strdup(t->arena, last_part(name)), v.line,
                                     &v };
    launch_set(t, pointer, json_string(version), &from);
}

/* A file of hyperparameters ---------------------------------------------------------- */

/* Read apart first: what is wrong with it does not end the reading of the job. */
static bool is_sound(const char *name, const char *text)
{
    struct cfg_loader loader;
    struct document d;
    cfg_loader_init(&loader);
    document_read(&d, &loader, last_part(name), text, strlen(text), "");
    bool sound = d.root && loader.diags.n_errors == 0;
    document_release(&d);
    cfg_loader_release(&loader);
    return sound;
}

/* What a document that is not read may decide. */
static void ask_document(struct launch_context *t, int64_t line, const char *why)
{
    static const char *const open[] = { "/model", "/training/lora",
                                        "/parallelism/library",
                                        "/parallelism/sharding/strategy" };
    user_script_ask(t, line, why);
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        if (!launch_has(t, open[i]) && !launch_is_unresolved(t, open[i]))
            launch_add_unresolved(t, open[i], line, "%s%s", why,
                                  strcmp(open[i], "/training/lora") == 0
                                      ? "; null is training all of the model"
                                      : "");
}

/* A document with a section of the model is no list of hyperparameters. */
static void ask_sections(struct launch_context *t, const struct value *root,
                         const char *name, int64_t line)
{
    const struct value_item *model = value_get(root, "model");
    if (!model || model->value->kind != VALUE_DICT)
        return;
    launch_hear(t, model);
    ask_document(t, line,
                 arena_printf(t->arena, "%.80s has sections that are not read", name));
}

/* Lines are those of the notebook where it writes the file, else of its name. */
static bool add_file(struct launch_context *t, const char *name, int64_t from)
{
    struct document d;
    int64_t line;
    const char *text = document_is(name) ? sagemaker_text(t, name, &line) : NULL;
    if (!text || t->n_hyper == LAUNCH_HYPER_MAX || !is_sound(name, text))
        return false;
    document_read(&d, t->l->loader, last_part(name), text, strlen(text),
                  "what is none of the Trainer's");
    bool read = d.root && d.root->kind == VALUE_DICT;
    if (read) {
        if (line)
            value_move_by(d.root, line - 1);
        else
            value_move_to(d.root, from);
        t->hyper[t->n_hyper++] = d.root;
        ask_sections(t, d.root, last_part(name), line ? line : from);
    }
    document_release(&d);
    return read;
}

static void take_file(struct launch_context *t, const struct value_item *it)
{
    const char *name = it->value->kind == VALUE_STRING ? it->value->text : "";
    if (!document_is(name))
        return;
    launch_hear(t, it);
    if (add_file(t, name, it->line) || add_file(t, last_part(name), it->line))
        launch_note(t->l, it->line, DIAG_ASSUMED,
                    "%s: %.80s is read: what it says are hyperparameters", it->key,
                    last_part(name));
    else {
        t->lost = it->line ? it->line : 1;
        launch_note(t->l, it->line, DIAG_LEFT_OUT,
                    "%s: %.80s is not there, or cannot be read; what it says is not "
                    "taken (put it next to the file)",
                    it->key, last_part(name));
    }
}

void sagemaker_take_files(struct launch_context *t)
{
    static const char *const names[] = { "config", "config_file", "config_path" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value_item *it = launch_hyper(t, names[i]);
        if (it)
            take_file(t, it);
    }
}

/* The entry point ---------------------------------------------------------------------- */

/* Arguments of the script with their defaults, as if the job gave them. */
static struct value *defaults_of(struct launch_context *t, const struct python *p,
                                 int64_t line)
{
    struct value *out = value_new(t->arena, VALUE_DICT, line, 0);
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct value *a = p->calls.v[i].arguments;
        const struct value_item *name = value_get(a, "0"),
                                *given = value_get(a, "default");
        if (!name || name->value->kind != VALUE_STRING || !given ||
            given->value->kind == VALUE_NONE || given->value->kind == VALUE_DICT)
            continue;
        struct value *v = ARENA_NEW(t->arena, struct value);
        *v = *given->value;
        v->line = line;
        const char *key = name->value->text + strspn(name->value->text, "-");
        value_add(t->arena, out, key, line, v);
    }
    return out;
}

/* Trainers of TRL's, whose names fix what the script does. */
static void take_trainers(struct launch_context *t, const char *text, const char *file,
                          int64_t line)
{
    static const struct {
        const char *class, *method, *refused;
    } trainers[] = {
        { "GRPOTrainer(", NULL,
          "generates samples and learns from their rewards (GRPO)" },
        { "PPOTrainer(", NULL,
          "generates samples and learns from their rewards (PPO)" },
        { "RLOOTrainer(", NULL,
          "generates samples and learns from their rewards (RLOO)" },
        { "OnlineDPOTrainer(", NULL, "generates the answers that it compares" },
        { "DPOTrainer(", "dpo", NULL },
        { "KTOTrainer(", "kto", NULL },
        { "ORPOTrainer(", "orpo", NULL },
        { "CPOTrainer(", "cpo", NULL },
        { "RewardTrainer(", "reward", NULL },
    };
    for (size_t i = 0; i < sizeof(trainers) / sizeof(trainers[0]); i++) {
        struct value v = { .line = line };
        const struct value_item from = { trainers[i].class, line, &v };
        if (!strstr(text, trainers[i].class))
            continue;
        if (trainers[i].method)
            trainer_take_method(t, &from, trainers[i].method);
        else
            launch_refuse_entry(t->l, file, trainers[i].refused, line);
        return;
    }
}

/* A script whose job is in a document that it loads by itself. */
static bool loads_document(const char *text)
{
    static const char *const calls[] = { "OmegaConf.load(", "om.load(",
                                         "yaml.safe_load(", "yaml.load(", NULL };
    return names_within(calls, text) && !strstr(text, "HfArgumentParser") &&
           !strstr(text, "TrlParser");
}

/* What the text of the script says of itself: defaults, adapters. */
static void read_entry(struct launch_context *t, const char *name, const char *text,
                       int64_t line, struct sagemaker_entry *e)
{
    static const char *const none[] = { NULL };
    const char *calls[PEFT_CALLS_MAX + 1] = { "add_argument" };
    struct python p;
    struct err err = { 0 };
    for (int i = 0; peft_calls[i] && i + 1 < PEFT_CALLS_MAX; i++)
        calls[i + 1] = peft_calls[i];
    const struct python_wanted wanted = { .calls = calls, .same = none };
    if (python_read(&p, t->arena, text, strlen(text), &wanted, &err) == 0) {
        e->defaults = defaults_of(t, &p, line);
        e->adapters = peft_of_script(t, &p, line);
    }
    e->speaks = peft_is_named(text);
    e->loads = t->n_hyper < 2 && loads_document(text);
    e->trainer = strstr(text, "Trainer(") && strstr(text, "transformers");
    if (e->adapters)
        launch_note(t->l, line, DIAG_ASSUMED,
                    "%.80s: what it says of adapters and quantized weights is read",
                    name);
    python_release(&p);
}

void sagemaker_read_entry(struct launch_context *t, struct sagemaker_entry *e)
{
    const struct value_item *it = value_get(t->call->arguments, "entry_point");
    int64_t line;
    *e = (struct sagemaker_entry) { .name = it };
    if (!it || it->value->kind != VALUE_STRING)
        return;
    const char *text = sagemaker_text(t, it->value->text, &line);
    line = it->value->line;
    if (!text && !value_get(t->call->arguments, "git_config"))
        launch_note(t->l, it->value->line, DIAG_LEFT_OUT,
                    "%.80s is not there to be read: what it does by itself "
                    "(adapters, precision, lengths) is not known (put it next to the "
                    "file)",
                    it->value->text);
    if (!text) {
        e->trainer = launch_hyper(t, "per_device_train_batch_size") &&
                     !trainer_is_loop(t, it->value->text);
        return;
    }
    t->l->has_program = !launch_is_example(text);
    take_trainers(t, text, it->value->text, line);
    read_entry(t, it->value->text, text, line, e);
}

/* What speaks of adapters, of a script that is not there: names, hyperparameters, the
 * notebook's own text. NULL: nothing does. */
static const char *speaks_of_adapters(const struct launch_context *t, int64_t *line)
{
    static const char *const names[] = { "entry_point", "source_dir", "base_job_name" };
    static const char *const merging[] = { "merge_weights", "merge_adapters" };
    const struct notebook *nb = t->l->notebook;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value_item *it = value_get(t->call->arguments, names[i]);
        *line = it ? it->value->line : 0;
        if (it && it->value->text && peft_is_named(it->value->text))
            return it->key;
    }
    for (size_t i = 0; i < sizeof(merging) / sizeof(merging[0]); i++) {
        const struct value_item *it = launch_hyper(t, merging[i]);
        *line = it ? it->value->line : 0;
        if (it)
            return it->key;
    }
    *line = t->call->line;
    return nb && (peft_is_named(nb->python) || peft_is_named(nb->shell))
               ? "the notebook's text"
               : NULL;
}

static void ask_adapters(struct launch_context *t)
{
    int64_t line;
    const char *what = speaks_of_adapters(t, &line);
    if (!what)
        return;
    launch_add_unresolved(t, PEFT_LORA, line,
                          "%s: its script seems to train adapters, and is not "
                          "there (null is training without)",
                          what);
    launch_add_example(t, PEFT_LORA, PEFT_EXAMPLE);
}

void sagemaker_take_adapters(struct launch_context *t, const struct sagemaker_entry *e)
{
    int own = t->n_hyper;
    const struct value *more[] = { e->defaults, e->adapters };
    for (int i = 0; i < 2; i++)
        if (more[i] && t->n_hyper < LAUNCH_HYPER_MAX)
            t->hyper[t->n_hyper++] = more[i];
    if (!peft_take(t, NULL)) {
        if (!e->defaults)
            ask_adapters(t);
        else if (e->speaks)
            launch_add_unresolved(
                t, PEFT_LORA, e->name->value->line,
                "%.80s: it speaks of adapters, and does not say which "
                "(null is training without)",
                e->name->value->text);
    }
    t->n_hyper = own;
}

void sagemaker_take_entry(struct launch_context *t, const struct sagemaker_entry *e)
{
    int own = t->n_hyper;
    int64_t said = launch_said(t);
    if (e->defaults && t->n_hyper < LAUNCH_HYPER_MAX) {
        t->hyper[t->n_hyper++] = e->defaults;
        trainer_take(t);
        if (launch_said(t) != said)
            launch_note(t->l, e->name->value->line, DIAG_ASSUMED,
                        "%.80s: what hyperparameters do not give are the defaults of "
                        "its arguments",
                        e->name->value->text);
    }
    if (e->adapters && t->n_hyper < LAUNCH_HYPER_MAX)
        t->hyper[t->n_hyper++] = e->adapters;
    peft_settle(t);
    t->n_hyper = own;
    if (e->loads && !t->smp_precision && !launch_has(t, "/training/precision"))
        ask_document(t, e->name->value->line,
                     arena_printf(t->arena, "a document that %.80s loads may say it",
                                  e->name->value->text));
}
