/* Data loaders of a text: which is the training's.
 *
 * torch/utils/data/dataloader.py (PyTorch 2.8). */
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

/* Whether what a loader is bound to, or the function that it is in, has one of the words:
 * def val_dataloader(self): return DataLoader(...). */
static bool names_any(const struct python_call *c, const char *const *parts)
{
    return names_within(parts, c->target) || names_within(parts, c->within);
}

/* Whether a value is the one that a name of the text has: the same one, not its like. */
bool user_script_is_named(const struct python *p, const struct value *v,
                          const char *const *usual)
{
    for (int32_t i = 0; p->parsed && i < p->parsed->n; i++)
        if (p->parsed->items[i].value == v)
            return names_listed(usual, p->parsed->items[i].key);
    for (int64_t i = 0; i < p->left.n; i++)
        if (p->left.v[i].value == v && names_listed(usual, p->left.v[i].name))
            return true;
    for (int64_t i = 0; i < p->names.n; i++) {
        const struct value *of = p->names.v[i].value;
        if (of == v && names_listed(usual, python_last_part(p->names.v[i].name)))
            return true;
        for (int32_t k = 0; of && of->kind == VALUE_DICT && k < of->n; k++)
            if (of->items[k].value == v && names_listed(usual, of->items[k].key))
                return true;
    }
    return false;
}

/* What a call is given by one of the names, or under one; NULL: nothing. */
static const struct value_item *argument_of(const struct python *p,
                                            const struct python_call *c,
                                            const char *const *usual)
{
    for (int32_t i = 0; i < c->arguments->n; i++) {
        const struct value_item *it = &c->arguments->items[i];
        if (names_listed(usual, it->key) ||
            (it->value->kind == VALUE_INT && user_script_is_named(p, it->value, usual)))
            return it;
    }
    return NULL;
}

bool user_script_is_own_loader(const struct python_call *c)
{
    static const char *const libraries[] = { "prepare_dataloader",    "get_dataloader",
                                             "make_torch_dataloader", "to_tf_dataset",
                                             "prepare_tf_dataset",    NULL };
    const char *last = python_last_part(c->function);
    bool known = names_listed(libraries, last) && value_get(c->arguments, "batch_size");
    return !strstr(last, "DataLoader") && !known;
}

/* Whether a call is of a class that the text, or a module next to it, defines: what it is
 * given by place is anything. */
bool user_script_is_own_class(const struct python *p, const struct python_call *c)
{
    const char *last = python_last_part(c->function);
    for (int64_t i = 0; i < p->names.n; i++) {
        const struct value *v = p->names.v[i].value;
        if (v && v->kind == VALUE_DICT && v->text && strcmp(v->text, last) == 0 &&
            strcmp(p->names.v[i].name, last) == 0)
            return true;
    }
    return false;
}

/* Whether a call makes a loader: of functions of a program's own that are called so, those
 * that are given a batch. */
static bool makes_loader(const struct python *p, const struct python_call *c)
{
    const struct value *batch = user_script_given(c, "batch_size", "1");
    if (batch && batch->kind == VALUE_STRING) /* a class of the program's own */
        return false;
    bool own = user_script_is_own_loader(c) || user_script_is_own_class(p, c);
    return user_script_part_of(c) == SCRIPT_LOADER && !c->quoted &&
           (c->arguments->n > 0 || c->arguments->gap) &&
           (!own || argument_of(p, c, user_script_batches));
}

/* Windows of seq_len + 1 words, whose first seq_len are read and whose last are answers. */
static struct value *without_answer(const struct user_script *g, struct arena *arena,
                                    struct value *v)
{
    for (const char *const *name = user_script_lengths;
         *name && v->kind == VALUE_INT && v->integer > 16; name++) {
        const struct value *usual = user_script_usual(g->python, *name);
        if (!usual || usual->integer != v->integer - 1)
            continue;
        struct value *less = value_new(arena, VALUE_INT, v->line, 0);
        less->integer = v->integer - 1;
        return less;
    }
    return v;
}

void user_script_put_loader(struct user_script *g, struct arena *arena)
{
    static const struct {
        const char *const *usual;
        const char *key;
    } words[] = { { user_script_batches, "per_device_train_batch_size" },
                  { user_script_lengths, "block_size" } };
    const struct python_call *c = g->parts[SCRIPT_LOADER];
    for (size_t i = 0; c && i < sizeof(words) / sizeof(words[0]); i++) {
        const struct value_item *it = argument_of(g->python, c, words[i].usual);
        if (it &&
            (user_script_is_own_loader(c) || user_script_is_own_class(g->python, c)))
            user_script_put(g, arena, words[i].key, it->line,
                            i ? without_answer(g, arena, it->value) : it->value, false);
    }
}

void user_script_divide_batch(struct launch_context *t, const struct user_script *g)
{
    static const char at[] = "/training/micro_batch_size",
                      steps_at[] = "/training/gradient_accumulation_steps";
    int64_t n = json_integer_value(pointer_get(t->tree, at)),
            steps = json_integer_value(pointer_get(t->tree, steps_at));
    if (g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS])
        return;
    for (const char *const *name = user_script_batches; *name && steps > 1; name++) {
        const struct value *own = value_member(g->python->parsed, *name);
        own = own && own->kind == VALUE_INT ? own : user_script_usual(g->python, *name);
        if (!own || own->integer < 1 || own->integer >= n || own->integer * steps != n)
            continue;
        int64_t line = own->line < 0 ? -own->line : own->line;
        struct value v = { .kind = VALUE_INT, .line = g->line ? g->line : line };
        const struct value_item from = { *name, v.line, &v };
        launch_forget(t, at);
        launch_set(t, at, json_integer((json_int_t)own->integer), &from);
        launch_note(
            t->l, v.line, DIAG_ASSUMED,
            "the loader gives %lld sequences, which are %lld microbatches of %s",
            (long long)n, (long long)steps, *name);
        return;
    }
}

void user_script_note_loader(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_LOADER];
    if (c && user_script_is_own_loader(c) &&
        launch_has(t, "/training/micro_batch_size"))
        launch_note(t->l, g->line ? g->line : c->line, DIAG_ASSUMED,
                    "%.60s(...) is the program's own: the batch that it is given is "
                    "taken to be one GPU's",
                    c->function);
}

/* Whether a loader takes another's place before the first pass: bound to its name again, in
 * the same function. */
static bool replaces(const struct python *p, const struct python_call *c,
                     const struct python_call *other)
{
    bool same = c->target && other->target && strcmp(c->target, other->target) == 0 &&
                c->around == other->around && !c->unsure;
    for (int64_t i = 0; same && i < p->calls.n; i++)
        if (user_script_part_of(&p->calls.v[i]) == SCRIPT_BACKWARD)
            return c < &p->calls.v[i];
    return false;
}

/* The loader of the training: named so, else shuffled, else the first that is not of an
 * evaluation; NULL: there is none. */
const struct python_call *user_script_loader(const struct python *p)
{
    static const char *const trains[] = { "train", "Train", NULL };
    static const char *const others[] = { "val", "test", "eval", "Val", "Test", NULL };
    const struct python_call *best = NULL;
    int most = 0;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        const struct value_item *shuffled = value_get(c->arguments, "shuffle");
        if (!makes_loader(p, c))
            continue;
        int rank = names_any(c, others)                       ? 0
                   : names_any(c, trains)                     ? 3
                   : shuffled && launch_true(shuffled->value) ? 2
                                                              : 1;
        rank = 2 * rank + (rank && !user_script_is_own_loader(c));
        if (rank > most || (rank && rank == most && replaces(p, c, best))) {
            most = rank;
            best = c;
        }
    }
    return best;
}
