/* The configurations that `deepy.py SCRIPT -d DIR FILE FILE` joins (consume_deepy_args
 * of arguments.py): a key is in one of them alone. */
#include "dialect/gptneox/gptneox.h"

#include "base/file.h"
#include "base/names.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/source/document.h"
#include "dialect/source/files.h"

#include <stdlib.h>
#include <string.h>

struct value *gptneox_plain(struct arena *arena, const struct value *root)
{
    struct value *out = value_new(arena, VALUE_DICT, root->line, root->column);
    for (int32_t i = 0; root->kind == VALUE_DICT && i < root->n; i++) {
        char *key = arena_strdup(arena, root->items[i].key);
        for (char *s = key; *s; s++)
            *s = *s == '-' ? '_' : *s;
        value_add(arena, out, key, root->items[i].line, root->items[i].value);
    }
    return out;
}

/* One file ------------------------------------------------------------------------- */

static struct value *parse(struct launch_context *t, const char *name, const char *text,
                           size_t len)
{
    struct document d;
    document_read(&d, t->l->loader, name, text, len, "what trains nothing");
    struct value *root = d.root;
    document_release(&d);
    return root && root->kind == VALUE_DICT ? root : NULL;
}

static struct value *load(struct launch_context *t, const char *path)
{
    struct err err = { 0 };
    size_t len;
    char *text = file_read(path, YAML_TEXT_MAX_B, &len, &err);
    struct value *root = text ? parse(t, path, text, len) : NULL;
    if (!text)
        diags_unreadable(&t->l->loader->diags, path, &err);
    free(text);
    return root;
}

/* A file that the script or the notebook writes itself, or one next to it; NULL: it is
 * not at hand, or is wrong, which is reported. */
static struct value *find(struct launch_context *t, const struct launch_command *c,
                          const char *name, bool *there)
{
    const struct source_file *own = launch_own_file(t->l, name);
    const char *path = source_files_next_to(t->arena, t->l->where, name);
    *there = true;
    for (int64_t i = c->shell->files.n; i-- > 0;) {
        const struct source_file *f = &c->shell->files.v[i];
        if (strcmp(launch_last_part(f->name), launch_last_part(name)) == 0)
            return parse(t, name, f->text, strlen(f->text));
    }
    if (own)
        return parse(t, name, own->text, strlen(own->text));
    *there = path != NULL;
    return path ? load(t, path) : NULL;
}

/* All of them ---------------------------------------------------------------------- */

/* A key that a file before it has is refused; written with "-" it goes before. */
static void add(struct launch_context *t, struct value *all, const struct value *one,
                const char *name, int64_t line)
{
    const struct value *plain = gptneox_plain(t->arena, one);
    for (int32_t i = 0; i < plain->n; i++) {
        struct value_item *it = &plain->items[i];
        int32_t at = 0;
        while (at < all->n && strcmp(all->items[at].key, it->key) != 0)
            at++;
        value_move_to(it->value, line);
        if (at < all->n && strchr(one->items[i].key, '-'))
            all->items[at].value = it->value;
        else if (at < all->n)
            diags_add(&t->l->loader->diags,
                      diag_at_line(DIAG_ERROR, DIAG_CONTRADICTION, t->l->file, line),
                      "%.80s: %.60s is in a file before it, too (gpt-neox refuses it: "
                      "keep one)",
                      name, it->key);
        else
            value_add(t->arena, all, it->key, line, it->value);
    }
}

/* What a file that is not at hand may say, where the others do not. */
static void ask(struct launch_context *t, const struct value *all, const char *name,
                int64_t line)
{
    static const struct {
        const char *keys[4], *pointer, *what;
    } rows[] = {
        { { "num_layers" }, "/model", "the model" },
        { { "zero_optimization" },
          "/parallelism/sharding/strategy",
          "the stage of ZeRO (none, optimizer, gradients or full)" },
        { { "model_parallel_size" }, "/parallelism/tensor", "model_parallel_size" },
        { { "pipe_parallel_size" }, "/parallelism/pipeline", "pipe_parallel_size" },
        { { "precision", "fp16", "bf16" }, "/training/precision", "the precision" },
        { { "checkpoint_activations" },
          "/training/activation_checkpointing",
          "checkpoint_activations" },
    };
    launch_note(t->l, line, DIAG_UNREADABLE,
                "configuration %.80s is not at hand (put it next to the script)", name);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool said = false;
        for (int k = 0; k < 4 && rows[i].keys[k]; k++)
            said |= value_get(all, rows[i].keys[k]) != NULL;
        if (!said && !launch_is_unresolved(t, rows[i].pointer))
            launch_add_unresolved(t, rows[i].pointer, line,
                                  "%s may be in %.80s, which was not found",
                                  rows[i].what, name);
    }
}

/* Options of deepy.py with a value, and the key that one is. */
static const struct {
    const char *names[2], *key;
} options[] = {
    { { "-d", "--conf_dir" }, NULL },
    { { "-H", "--hostfile" }, "hostfile" },
    { { "--wandb_group" }, "wandb_group" },
    { { "--wandb_run_name" }, "wandb_run_name" },
    { { "--wandb_team" }, "wandb_team" },
    { { "--iteration" }, "iteration" },
    { { "--eval_results_prefix" }, "eval_results_prefix" },
    { { "-i", "--sample_input_file" }, "sample_input_file" },
    { { "-o", "--sample_output_file" }, "sample_output_file" },
    { { "--autotuning" }, "autotuning_run" },
};

/* The row of an option, "-d" or "--conf_dir=DIR"; -1: it is none. */
static int option_of(const char *word)
{
    size_t n = strcspn(word, "=");
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        for (int k = 0; k < 2 && options[i].names[k]; k++)
            if (strlen(options[i].names[k]) == n &&
                strncmp(options[i].names[k], word, n) == 0)
                return (int)i;
    return -1;
}

/* The words after the program: options, and files. */
struct words {
    const char *dir;
    VEC(const struct shell_word *) files;
};

static void sort(struct launch_context *t, const struct launch_command *c,
                 struct words *w, struct value *all)
{
    const struct shell_command *command = c->command;
    const char *program = launch_last_part(command->words[c->script].text);
    bool starts = strcmp(program, "deepy.py") == 0; /* the program after it */
    for (int32_t i = c->script + 1 + starts; i < command->n; i++) {
        const struct shell_word *word = &command->words[i];
        int row = option_of(word->text);
        const char *equals = strchr(word->text, '=');
        if (row < 0 && word->text[0] != '-') {
            VEC_PUSH(&w->files, word);
        } else if (row >= 0 && (equals || i + 1 < command->n)) {
            const struct shell_word *of = equals ? word : &command->words[++i];
            const char *text = equals ? equals + 1 : of->text;
            if (!options[row].key)
                w->dir = text;
            else
                value_add(t->arena, all, options[row].key, word->line,
                          launch_word_value(t->arena, of, text));
        }
    }
}

static const char *path_of(struct arena *arena, const char *dir, const char *name)
{
    size_t n = strlen(name);
    bool ends = (n > 4 && strcmp(name + n - 4, ".yml") == 0) ||
                (n > 5 && strcmp(name + n - 5, ".json") == 0);
    bool apart = dir && *name != '/';
    return arena_printf(arena, "%s%s%s%s", apart ? dir : "",
                        apart && dir[strlen(dir) - 1] != '/' ? "/" : "", name,
                        ends ? "" : ".yml");
}

struct value *gptneox_join(struct launch_context *t, const struct launch_command *c)
{
    struct value *all = value_new(t->arena, VALUE_DICT, c->command->line, 0);
    struct words w = { .dir = NULL };
    VEC(const char *) lost = { 0 };
    sort(t, c, &w, all);
    w.dir = w.dir && *w.dir ? w.dir : NULL;
    for (int64_t i = 0; i < w.files.n; i++) {
        const struct shell_word *word = w.files.v[i];
        const char *name = path_of(t->arena, w.dir, word->text);
        bool there = false;
        struct value *one = word->why ? NULL : find(t, c, name, &there);
        if (one)
            add(t, all, one, name, word->line);
        else if (!there)
            VEC_PUSH(&lost, name);
    }
    for (int64_t i = 0; i < lost.n; i++)
        ask(t, all, lost.v[i], c->command->line);
    VEC_RELEASE(&w.files);
    VEC_RELEASE(&lost);
    return all;
}
