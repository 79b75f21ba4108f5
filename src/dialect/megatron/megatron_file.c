/* Files of arguments that are given alone, as the script that would start them: those of
 * --yaml-cfg, and MODEL_ARGS with their variables (Megatron-LM's
 * tests/functional_tests/shell_test_utils/run_ci_test.sh). */
#include "base/strbuf.h"
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

static void add_arguments(struct lines *o, const struct value *arguments)
{
    strbuf_printf(&o->text, "srun python %s", program_of(arguments));
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
        add_arguments(&o, arguments);
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
