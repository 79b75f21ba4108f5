/* Files of arguments that are given alone, as the script that would start them: those of
 * --yaml-cfg, and MODEL_ARGS with their variables (Megatron-LM's
 * tests/functional_tests/shell_test_utils/run_ci_test.sh). */
#include "base/strbuf.h"
#include "dialect/launch/launch_context.h"
#include "dialect/megatron/megatron.h"

#include <inttypes.h>
#include <string.h>

/* What is written so far, and its line: a word is put where the file has it, so that
 * places are those of the file. */
struct lines {
    struct strbuf text;
    int64_t line;
};

static void go_to(struct lines *o, int64_t line, const char *end)
{
    for (; o->line < line; o->line++)
        strbuf_addstr(&o->text, end);
}

/* In quotes; variables within are the shell's. */
static void add_quoted(struct strbuf *b, const char *word)
{
    strbuf_addch(b, '"');
    for (const char *c = word; *c; c++) {
        if (strchr("\"\\`", *c))
            strbuf_addch(b, '\\');
        strbuf_addch(b, *c == '\n' ? ' ' : *c);
    }
    strbuf_addch(b, '"');
}

static void add_value(struct strbuf *b, const struct value *v)
{
    if (v->kind == VALUE_INT)
        strbuf_printf(b, "%" PRId64, v->integer);
    else if (v->kind == VALUE_REAL)
        strbuf_printf(b, "%.15g", v->real);
    else if (v->kind == VALUE_STRING)
        add_quoted(b, v->text);
    for (int32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++) {
        strbuf_addstr(b, i ? " " : "");
        add_value(b, v->items[i].value);
    }
}

/* A program by the options that it alone takes. */
static const char *program_of(const struct value *arguments)
{
    static const struct {
        const char *option, *program;
    } marks[] = {
        { "--decoder-seq-length", "pretrain_t5.py" },
        { "--encoder-num-layers", "pretrain_t5.py" },
        { "--bert-no-binary-head", "pretrain_bert.py" },
        { "--bert-embedder-type", "pretrain_bert.py" },
        { "--hybrid-layer-pattern", "pretrain_mamba.py" },
        { "--hybrid-override-pattern", "pretrain_mamba.py" },
    };
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (value_get(arguments, marks[i].option))
            return marks[i].program;
    return "pretrain_gpt.py";
}

static void add_arguments(struct lines *o, const struct value *arguments,
                          const char *starter, const char *program)
{
    strbuf_printf(&o->text, "%s %s", starter, program);
    for (int32_t i = 0; i < arguments->n; i++) {
        const struct value_item *it = &arguments->items[i];
        bool off = it->value->kind == VALUE_BOOL && !it->value->integer;
        if (off || strncmp(it->key, "--", 2) != 0)
            continue;
        go_to(o, it->line, "\\\n");
        strbuf_printf(&o->text, " %s ", it->key);
        add_value(&o->text, it->value);
    }
    strbuf_addch(&o->text, '\n');
}

static void add_variables(struct lines *o, const struct value *variables)
{
    for (int32_t i = 0; variables && i < variables->n; i++) {
        const struct value_item *it = &variables->items[i];
        go_to(o, it->line, "\n");
        strbuf_printf(&o->text, "export %s=", it->key);
        add_value(&o->text, it->value);
        strbuf_addstr(&o->text, "; ");
    }
}

/* FlagScale's ------------------------------------------------------------------------ */

/* The leaves of its sections are Megatron-LM's arguments (flagscale/runner/utils.py,
 * flatten_dict_to_args): true is a switch, false and null are nothing. What is not known is
 * a variable that nobody sets. */
static void add_leaves(struct arena *arena, struct value *out, const struct value *dict,
                       int deep)
{
    for (int32_t i = 0; dict && dict->kind == VALUE_DICT && i < dict->n && deep < 4;
         i++) {
        const struct value_item *it = &dict->items[i];
        struct value *v = it->value;
        if (v->kind == VALUE_DICT) {
            add_leaves(arena, out, v, deep + 1);
            continue;
        }
        if (v->kind == VALUE_NONE)
            continue;
        if (v->kind == VALUE_UNKNOWN)
            v = value_new_string(arena, arena_printf(arena, "$%.80s", it->key), v->line,
                                 0);
        char *name = arena_printf(arena, "--%.100s", it->key);
        for (char *c = name; *c; c++)
            *c = *c == '_' ? '-' : *c;
        value_add(arena, out, name, it->line, v);
    }
}

/* Its section of the training: the file is that, or names it. NULL: it has none, or is in
 * a folder of RWKV, whose program the section does not name. */
static const struct value *flagscale(const struct value *root, const char *file)
{
    const struct value *inner = value_member(root, "train"),
                       *all = inner ? inner : root, *model = value_member(all, "model");
    bool own =
        value_member(all, "system") && value_get(model, "num_layers") &&
        value_get(model, "hidden_size") &&
        (value_get(model, "micro_batch_size") || value_get(model, "global_batch_size"));
    const struct value *meshes = value_member(value_member(all, "system"), "hetero");
    const struct value_item *on = value_get(meshes, "enable_hetero");
    bool one = !on || launch_is_off(on->value); /* others: launch_foreign_document.c */
    return own && one && (inner || !strstr(file, "rwkv")) ? all : NULL;
}

/* The program of its task: "./flagscale/train/train_gpt.py" is Megatron-LM's of GPT. */
static const char *program_named(struct arena *arena, const struct value *root,
                                 const struct value *arguments)
{
    const struct value *task = value_member(value_member(root, "experiment"), "task"),
                       *entry = value_member(task, "entrypoint");
    const char *name = entry && entry->kind == VALUE_STRING ? entry->text : "";
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    return !*last || strcmp(last, "train_gpt.py") == 0 ? program_of(arguments)
                                                       : arena_strdup(arena, last);
}

static void add_flagscale(struct lines *o, struct arena *arena,
                          const struct value *root)
{
    static const char *const sections[] = { "system", "model", "data" };
    const struct value *inner = value_member(root, "train"),
                       *all = inner ? inner : root,
                       *runner =
                           value_member(value_member(root, "experiment"), "runner");
    const struct value_item *nodes = value_get(runner, "nnodes"),
                            *ranks = value_get(runner, "nproc_per_node");
    struct value *arguments = value_new(arena, VALUE_DICT, all->line, 0);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        add_leaves(arena, arguments, value_member(all, sections[i]), 0);
    bool known = nodes && ranks && nodes->value->kind == VALUE_INT &&
                 ranks->value->kind == VALUE_INT;
    add_arguments(o, arguments,
                  known ? arena_printf(arena,
                                       "torchrun --nnodes %" PRId64
                                       " --nproc_per_node %" PRId64,
                                       nodes->value->integer, ranks->value->integer)
                        : "srun python",
                  program_named(arena, root, arguments));
}

const char *megatron_script_of(struct arena *arena, const struct value *root,
                               const char *file)
{
    const struct value *arguments = value_member(root, "MODEL_ARGS"),
                       *variables = value_member(root, "ENV_VARS");
    struct lines o = { .line = 1 };
    strbuf_init(&o.text);
    if (arguments && arguments->kind == VALUE_DICT) {
        bool dict = variables && variables->kind == VALUE_DICT &&
                    variables->line <= arguments->line;
        add_variables(&o, dict ? variables : NULL);
        add_arguments(&o, arguments, "srun python", program_of(arguments));
    } else if (flagscale(root, file)) {
        add_flagscale(&o, arena, root);
    } else if (value_member(root, "language_model") &&
               value_member(root, "model_parallel")) {
        const char *slash = strrchr(file, '/');
        strbuf_addstr(&o.text, "srun python pretrain_gpt.py --yaml-cfg ");
        add_quoted(&o.text, slash ? slash + 1 : file);
        strbuf_addch(&o.text, '\n');
    }
    const char *text = o.text.len ? arena_strdup(arena, strbuf_get(&o.text)) : NULL;
    strbuf_release(&o.text);
    return text;
}
