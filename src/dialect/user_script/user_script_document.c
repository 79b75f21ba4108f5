/* A program's own document, whose sections have the names of the program: what a value is
 * usually called is what it is taken to be. */
#include "base/names.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"
#include "dialect/trl/trl.h"
#include "dialect/user_script/user_script.h"
#include "dialect/usual/usual.h"

#include <string.h>

/* clang-format off */
/* Sections of a program's own document that say nothing of its training. */
static const char *const elsewhere[] = { "eval", "valid", "test", "infer", "generat", "wandb", "log", "merge", "export", "reward", "teacher", "judge", "serv" };
static const char *const model_names[] = { "name", "path", "id", "name_or_path", "model", "model_id", "model_name", "model_path", "base_model", "pretrained", NULL };
/* clang-format on */

/* What a value of a section is usually called; NULL: nothing that a row reads. */
static const char *usual_name(const char *section, const char *key)
{
    bool model =
        *section ? strncmp(section, "model", 5) == 0 : strcmp(key, "model") == 0;
    const struct dialect_option *row = dialect_option_of(trl_tables, "", key);
    row = row ? row : dialect_option_of(trainer_tables, "", key);
    if (model && names_listed(model_names, key))
        return "model_name_or_path";
    return row && row->pointer && !names_listed(user_script_guesses, key) ? key : NULL;
}

void user_script_add_leaves(struct launch_context *t, const char *section,
                            const struct value *dict, struct value *to)
{
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        if (strstr(section, elsewhere[i]))
            return;
    for (int32_t i = 0; i < dict->n; i++) {
        const struct value_item *it = &dict->items[i];
        const char *name = usual_name(section, it->key);
        const struct value_item *old = name ? value_get(to, name) : NULL;
        bool section_too = it->value->kind == VALUE_DICT &&
                           (!*section || strncmp(it->key, "quantization", 12) == 0);
        if (section_too)
            user_script_add_leaves(t, it->key, it->value, to);
        else if (old)
            to->items[old - to->items].value =
                value_new_unknown(t->arena, it->line, 0, "two sections have it");
        else if (name)
            value_add(t->arena, to, name, it->line, it->value);
    }
}

void user_script_add_written(struct launch_context *t, const struct launch_command *c,
                             struct value *given)
{
    for (int32_t i = 0; i < c->options.n; i++) {
        const struct value_item *it = &c->options.items[i];
        const char *name = launch_argument(t->arena, it->key);
        if (!value_get(given, name))
            value_add(t->arena, given, name, it->line, it->value);
    }
}

void user_script_drop_from(struct user_script *g, const struct value *given, int32_t n)
{
    for (int32_t i = n; i < given->n; i++) {
        const struct value_item *it = value_get(g->words, given->items[i].key);
        if (it)
            value_remove(g->words, (int32_t)(it - g->words->items));
    }
}

/* A section that a row reads is none of the program's own. */
static bool is_own_section(const struct value_item *it)
{
    return it->value->kind == VALUE_DICT && !dialect_option_of(trl_tables, "", it->key);
}

void user_script_open_document(struct launch_context *t, struct value *all)
{
    struct value *leaves = value_new(t->arena, VALUE_DICT, all->line, 0);
    struct strbuf names;
    int32_t kept = 0;
    strbuf_init(&names);
    for (int32_t i = 0; i < all->n; i++) {
        const struct value_item *it = &all->items[i];
        int32_t before = leaves->n;
        if (is_own_section(it))
            user_script_add_leaves(t, it->key, it->value, leaves);
        if (leaves->n > before)
            strbuf_printf(&names, "%s%.40s", names.len ? ", " : "", it->key);
        else
            all->items[kept++] = *it;
    }
    all->n = kept;
    for (int32_t i = 0; i < leaves->n; i++) {
        const struct value_item *it = &leaves->items[i];
        if (!value_get(all, it->key))
            value_add(t->arena, all, it->key, it->line, it->value);
    }
    if (names.len)
        launch_note(t->l, all->line, DIAG_ASSUMED,
                    "values of these sections are taken to be what they are usually "
                    "called: %s",
                    strbuf_get(&names));
    strbuf_release(&names);
}

/* Without its program ---------------------------------------------------------------- */

/* The key, of the document or of a section, that begins so; NULL: none does. */
static const struct value_item *key_begun(const struct value *all, const char *begun)
{
    for (int32_t i = 0; i < all->n; i++) {
        const struct value_item *it = &all->items[i];
        bool section = it->value->kind == VALUE_DICT;
        const struct value_item *in = section ? key_begun(it->value, begun) : NULL;
        if (in || strncmp(it->key, begun, strlen(begun)) == 0)
            return in ? in : it;
    }
    return NULL;
}

/* Arguments of BitsAndBytesConfig, in a document that leaves load_in_4bit to its
 * program. */
static void add_quantized(struct launch_context *t, const struct value_item *quantized,
                          struct value *all)
{
    if (!quantized || value_get(all, "load_in_4bit"))
        return;
    value_add(t->arena, all, "load_in_4bit", quantized->line,
              value_new_bool(t->arena, true, quantized->line));
    launch_note(t->l, quantized->line, DIAG_ASSUMED,
                "%.40s: the weights below adapters are taken to be loaded in 4 bits",
                quantized->key);
}

enum { COPIED_MAX = 20000 };

/* torchtitan's train.py or a copy of it, which is given its configuration in TOML. */
bool user_script_is_of_torchtitan(const struct launch_command *c, const char *text)
{
    static const char *const imports[] = { "from torchtitan", "import torchtitan",
                                           NULL };
    const char *program = launch_last_part(c->command->words[c->script].text);
    struct launch_named named;
    return strcmp(program, "train.py") == 0 && names_within(imports, text) &&
           launch_names_document(c, &named) && names_ends(named.text, ".toml");
}

bool user_script_recognises_document(const struct dialect_input *in)
{
    bool any = user_script_recognises_cli(in->root);
    for (int32_t i = 0; i < in->root->n; i++) {
        const struct value *section = in->root->items[i].value;
        any |= section->kind == VALUE_DICT &&
               value_get(section, "per_device_train_batch_size");
    }
    return any;
}

void user_script_read_document(struct launch_context *t, const struct dialect_input *in)
{
    int64_t budget = COPIED_MAX;
    struct value *all = value_copy(t->arena, in->root, &budget);
    peft_open_sections(t, all);
    user_script_open_document(t, all);
    add_quantized(t, key_begun(in->root, "bnb_4bit_"), all);
    usual_take_method(t, in->root);
    usual_take_cluster(t, in->root);
    const struct dialect_input opened = { .source = DIALECT_DOCUMENT, .root = all };
    if (trl_recognises(&opened))
        trl_read(t, &opened);
    else
        trainer_read_document(t, &opened);
    t->l->title = "a training program's own document";
}
