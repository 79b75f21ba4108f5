/* NeMo-Run's command line (nemo_run/cli/api.py, 0.4): "nemo llm pretrain --factory NAME(...)",
 * and programs that end in run.cli.main(llm.pretrain, default_factory=...), whose words
 * change what the factory gives. */
#include "base/names.h"
#include "dialect/launch/launch_override.h"
#include "dialect/nemo/nemo.h"
#include "dialect/python/python.h"

#include <string.h>
#include <strings.h>

static const char *const kinds[] = { "pretrain", "finetune", NULL };

bool nemo_is_cli(const char *program)
{
    return strcmp(program, "nemo") == 0 || strcmp(program, "nemorun") == 0;
}

/* Factories of NeMo's own ------------------------------------------------------------ */

/* llama3_8b(num_nodes=2, name='x'): its arguments, as words of the command. */
static const char *take_arguments(struct arena *arena, const struct value *factory,
                                  struct value *arguments)
{
    const char *text = factory->text, *open = strchr(text, '(');
    const struct shell_word at = { .line = factory->line };
    size_t n = open ? (size_t)(open - text) : strlen(text);
    for (const char *s = open ? open + 1 : ""; *s && *s != ')';) {
        s += strspn(s, " ,");
        size_t m = strcspn(s, ",)"), k = strcspn(s, "=");
        if (k < m) {
            const char *from = s + k + 1;
            bool quoted = m > k + 2 && (*from == '\'' || *from == '"');
            launch_override(
                arena, arguments, arena_strndup(arena, s, k), &at,
                arena_strndup(arena, from + quoted, m - k - 1 - 2 * quoted));
        }
        s += m;
    }
    return arena_strndup(arena, text, n);
}

static void rename_key(struct arena *arena, struct value *root, const char *from,
                       const char *section, const char *to)
{
    const struct value_item *it = value_get(root, from), *in = value_get(root, section);
    if (!it)
        return;
    if (!in || in->value->kind != VALUE_DICT) {
        value_add(arena, root, section, it->line,
                  value_new(arena, VALUE_DICT, it->line, 0));
        it = value_get(root, from);
        in = value_get(root, section);
    }
    value_add(arena, in->value, to, it->line, it->value);
    it = value_get(root, from);
    root->items[it - root->items].key = "name";
}

static bool is_none(const struct value_item *it)
{
    return it && (it->value->kind == VALUE_NONE ||
                  (it->value->text && strcasecmp(it->value->text, "none") == 0));
}

/* What the factory's name and arguments say of its recipe; the arguments join the words. */
static struct nemo_call call_of(struct launch_context *t, const char *kind,
                                const struct value *factory, struct value *words)
{
    struct nemo_call call = { .kind = kind, .line = factory->line };
    call.recipe = take_arguments(t->arena, factory, words);
    call.length = value_get(words, "seq_length");
    call.performance = launch_is_on(words, "performance_mode");
    call.packed = launch_is_on(words, "packed_sequence");
    call.full = is_none(value_get(words, "peft_scheme"));
    rename_key(t->arena, words, "num_nodes", "trainer", "num_nodes");
    rename_key(t->arena, words, "num_gpus_per_node", "trainer", "devices");
    rename_key(t->arena, words, "seq_length", "data", "seq_length");
    return call;
}

void nemo_read_factory(struct launch_context *t, const char *kind,
                       const struct value *factory, struct value *words)
{
    const struct value_item *model = value_get(words, "model");
    if (!factory && model && model->value->text)
        factory = model->value;
    if (!factory || factory->kind == VALUE_UNKNOWN) {
        launch_add_unresolved(t, "/model", factory ? factory->line : words->line,
                              "no --factory says which recipe it is%s%s",
                              factory ? ": " : "", factory ? factory->why : "");
        return;
    }
    if (!names_listed(kinds, kind)) {
        diags_add(&t->l->loader->diags,
                  launch_diag(t->l, DIAG_NOT_SIMULATED, words->line, 0),
                  "nemo llm %.40s is not simulated (pretrain and finetune are)", kind);
        return;
    }
    for (int32_t i = words->n; i-- > 0;) /* the factory's own arguments */
        if (strchr(words->items[i].key, '('))
            value_remove(words, i);
    const struct nemo_call call = call_of(t, kind, factory, words);
    struct value *facts = nemo_recipe_facts(t, &call);
    if (!facts)
        return;
    nemo_overlay_words(t, facts, words);
    core_read(t, facts, "a recipe of NeMo 2");
}

/* Words ------------------------------------------------------------------------------ */

/* "trainer.max_steps*=2" changes what there is: + - * /; NULL: it is not known. */
static struct value *changed(struct launch_context *t, const struct value *now, char by,
                             const struct value *with)
{
    double a, b;
    int64_t n;
    struct value *v = value_new(t->arena, VALUE_REAL, with->line, 0);
    if (!now || !launch_real(now, &a) || !launch_real(with, &b) ||
        (by == '/' && b == 0))
        return NULL;
    v->real = by == '+' ? a + b : by == '-' ? a - b : by == '*' ? a * b : a / b;
    if (by != '/' && launch_whole(v, &n)) {
        v->kind = VALUE_INT;
        v->integer = n;
    }
    return v;
}

void nemo_overlay_words(struct launch_context *t, struct value *flat,
                        const struct value *words)
{
    struct value *all = launch_flatten(t->arena, words),
                 *plain = value_new(t->arena, VALUE_DICT, words->line, 0);
    for (int32_t i = 0; i < all->n; i++) {
        const struct value_item *it = &all->items[i];
        size_t n = strlen(it->key);
        if (!n || !strchr("+-*/|&", it->key[n - 1])) {
            value_add(t->arena, plain, it->key, it->line, it->value);
            continue;
        }
        const char *key = arena_strndup(t->arena, it->key, n - 1);
        const struct value *now = value_member(flat, key);
        struct value *v = strchr("|&", it->key[n - 1])
                              ? NULL
                              : changed(t, now, it->key[n - 1], it->value);
        v = v ? v
              : value_new_unknown(t->arena, it->line, 0,
                                  "the command changes it by \"%c=\"", it->key[n - 1]);
        value_add(t->arena, plain, key, it->line, v);
    }
    nemo_overlay(t->arena, flat, plain);
}

/* Programs --------------------------------------------------------------------------- */

const struct python_call *nemo_cli_main(const struct python *p)
{
    for (int64_t i = 0; i < p->calls.n; i++)
        if (strcmp(p->calls.v[i].function, "nemo_run.cli.main") == 0)
            return &p->calls.v[i];
    return NULL;
}

const struct value *nemo_cli_factory(const struct launch *l, const struct python *p)
{
    const struct python_call *c = nemo_cli_main(p);
    if (c && l->changes && l->changes->factory)
        return l->changes->factory;
    return c ? value_member(c->arguments, "default_factory") : NULL;
}

void nemo_read_cli(struct launch_context *t, const struct python *p)
{
    const struct python_call *c = nemo_cli_main(p);
    const struct value *starts = value_member(c->arguments, "0");
    int64_t budget = 1000;
    struct value *words = t->l->changes && t->l->changes->words
                              ? value_copy(t->arena, t->l->changes->words, &budget)
                              : NULL;
    words = words ? words : value_new(t->arena, VALUE_DICT, c->line, 0);
    t->l->line = c->line;
    nemo_read_factory(t, starts && starts->text ? python_last_part(starts->text) : "",
                      nemo_cli_factory(t->l, p), words);
}
