/* Programs by name: which row of the list fits, and what is made of it. */
#include "dialect/launch/entry_points.h"

#include "config/datadir.h"
#include "dialect/launch/launch_shell.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

enum { PATH_SHOWN_B = 200, LENGTH_MAX = 1 << 20 };

/* "Examples/run-qa.py" to "examples/run_qa". */
static char *plain_path(struct arena *arena, const char *path)
{
    size_t n = strlen(path);
    const char *tail = path + (n > PATH_SHOWN_B ? n - PATH_SHOWN_B : 0);
    char *name = arena_strdup(arena, tail);
    char *slash = strrchr(name, '/');
    char *dot = strrchr(slash ? slash : name, '.');
    if (dot && dot != name)
        *dot = '\0';
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : (char)tolower((unsigned char)*c);
    return name;
}

/* A pattern with a slash is held to as many of the path's last parts. */
static bool fits(const char *pattern, const char *path)
{
    const char *part = path + strlen(path);
    int slashes = 0;
    for (const char *c = pattern; *c; c++)
        slashes += *c == '/';
    while (part > path && !(part[-1] == '/' && slashes-- == 0))
        part--;
    return fnmatch(pattern, part, FNM_PATHNAME) == 0;
}

static const char *text_of(struct cfg row, const char *key)
{
    struct cfg v = cfg_get(row, key);
    const char *text = NULL;
    return v.json && cfg_string(v, &text) == 0 ? text : NULL;
}

static int64_t count_of(struct cfg row, const char *key)
{
    struct cfg v = cfg_get(row, key);
    int64_t n = 0;
    return v.json && cfg_int(v, &n, 1, LENGTH_MAX) == 0 ? n : 0;
}

struct launch_entry launch_entry_of(struct launch_context *t, const char *path)
{
    const char *plain = plain_path(t->arena, path);
    if (!t->entries.json)
        t->entries = cfg_get(datadir_load(t->l->loader, "models/launch", "entry_points",
                                          (struct cfg) { 0 }),
                             "rows");
    for (int64_t i = 0; i < cfg_len(t->entries); i++) {
        struct cfg row = cfg_at(t->entries, i);
        struct launch_entry e = { .program = text_of(row, "program") };
        if (!e.program || !fits(e.program, plain))
            continue;
        e.model = text_of(row, "model");
        e.task = text_of(row, "task");
        e.refused = text_of(row, "refused");
        e.note = text_of(row, "note");
        e.arguments = cfg_get(row, "arguments");
        e.each = count_of(row, "sequence_length");
        e.longest = count_of(row, "longest");
        e.decoder = count_of(row, "decoder_length");
        e.batch = count_of(row, "batch");
        e.assumed = json_is_true(cfg_get(row, "assumed").json);
        return e;
    }
    return (struct launch_entry) { .program = NULL };
}

const char launch_trains_on_pairs[] =
    "trains on pairs with a second, frozen model (preference)";

void launch_refuse_entry(struct launch *l, const char *path, const char *refused,
                         int64_t line)
{
    diags_add(&l->loader->diags,
              diag_at_line(DIAG_ERROR, DIAG_REFUSED_KEY, l->file, line),
              "%.80s %s, which is not simulated (give a script that trains)",
              launch_last_part(path), refused);
}

static void take_lengths(struct launch_context *t, const struct launch_entry *e,
                         const char *path, int64_t line)
{
    if (e->each || e->longest || e->decoder)
        t->l->lengths = (struct launch_lengths) {
            .program = arena_strdup(t->arena, launch_last_part(path)),
            .each = e->each,
            .longest = e->longest,
            .decoder = e->decoder,
            .batch = e->batch,
            .line = line,
        };
}

void launch_take_example(struct launch_context *t, const char *path, const char *text,
                         int64_t line)
{
    struct launch_entry e = launch_entry_of(t, path);
    if (launch_is_example(text))
        take_lengths(t, &e, path, line);
}

bool launch_is_example(const char *text)
{
    return strstr(text, "HfArgumentParser") != NULL;
}

void launch_take_entry(struct launch_context *t, const char *path,
                       const struct value_item *from)
{
    static const char task[] = "/training/task";
    struct launch_entry e = launch_entry_of(t, path);
    const char *name = arena_strdup(t->arena, launch_last_part(path));
    int64_t line = from->value->line;
    if (e.refused)
        launch_refuse_entry(t->l, path, e.refused, line);
    if (e.note)
        launch_note(t->l, line, DIAG_APPROXIMATE, "%.80s: %s", name, e.note);
    take_lengths(t, &e, path, line);
    if (e.refused || launch_has(t, task))
        return;
    if (e.task)
        launch_set(t, task, json_string(e.task), from);
    else if (e.assumed)
        launch_note(t->l, line, DIAG_ASSUMED,
                    "%.80s is taken to train the model's own task (give --set "
                    "/training/task=... for another)",
                    name);
    else if (!e.program)
        launch_add_unresolved(
            t, task, line,
            "%.80s is no program that is known, and what it trains is not said: "
            "causal-lm, masked-lm, pretraining, question-answering, classification or "
            "seq2seq, of an encoder and a decoder",
            name);
}

const char *launch_evaluates(const struct value *options, const char *program)
{
    static const char *const words[] = { "do_eval",      "do_predict", "do_test",
                                         "do_eval_only", "eval_only",  "only_eval",
                                         "evaluate_only" };
    const char *evaluates = NULL;
    for (int32_t i = 0; i < options->n; i++) {
        const struct value_item *it = &options->items[i];
        const char *key = it->key + strspn(it->key, "-");
        if (launch_same_word(key, "do_train") && launch_true(it->value))
            return NULL;
        for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
            if (!evaluates && launch_same_word(key, words[k]) && launch_true(it->value))
                evaluates = words[k];
    }
    return strstr(program, "no_trainer") ? NULL : evaluates;
}

bool launch_is_called_training(const char *program)
{
    static const char *const parts[] = { "train", "finetune", "fine_tune", "fine-tune",
                                         "sft" };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(launch_last_part(program), parts[i]))
            return true;
    return false;
}

const char *launch_why_evaluates(struct arena *arena, const char *word)
{
    return arena_printf(arena, "evaluates alone (--%s without --do_train)", word);
}
