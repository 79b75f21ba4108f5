/* Arguments of the Trainer that a text changes after they are made: self.args.x = 4 in its
 * trainer's class, args.x = 4 in a callback (transformers/trainer.py and
 * trainer_callback.py, 4.57: the trainer asks its arguments anew in each step). */
#include "base/names.h"
#include "dialect/user_script/user_script.h"

#include <inttypes.h>
#include <string.h>

static const struct changed {
    const char *word, *pointer;
} changed[] = {
    { "per_device_train_batch_size", "/training/micro_batch_size" },
    { "gradient_accumulation_steps", "/training/gradient_accumulation_steps" },
    { "gradient_checkpointing", "/training/activation_checkpointing" },
    { "max_grad_norm", "/training/gradient_clipping" },
    { "bf16", "/training/precision" },
    { "fp16", "/training/precision" },
    { "optim", "/training/optimizer" },
    { "max_steps", "/training/steps" },
};

static const struct changed *row_of(const struct python_call *c)
{
    static const char *const paths[] = { "self.args", "args", "self.trainer.args",
                                         "trainer.args", NULL };
    const char *last = python_last_part(c->function);
    for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
        for (const char *const *p = paths; *p; p++) {
            size_t n = strlen(*p);
            if (strcmp(changed[i].word, last) == 0 && !c->quoted && c->within &&
                strncmp(c->function, *p, n) == 0 && c->function + n + 1 == last)
                return &changed[i];
        }
    return NULL;
}

/* Whether the class that a line is in has a base with the part in its name: 1, 0; -1: the
 * line is of another text. */
static int is_in_class(const struct python *p, const struct python_call *c,
                       const char *base)
{
    const char *at = p->text, *class = NULL;
    for (int64_t i = 1; at && i <= c->line; i++) {
        size_t n = strcspn(at, "\n");
        class = strncmp(at, "class ", 6) == 0 ? at : class;
        if (i == c->line) {
            const char *word = strstr(at, python_last_part(c->function));
            if (!word || word >= at + n)
                return -1;
        }
        at = at[n] ? at + n + 1 : NULL;
    }
    size_t n = class ? strcspn(class, ":\n") : 0;
    const char *open = class ? memchr(class, '(', n) : NULL;
    const char *found = open ? strstr(open, base) : NULL;
    return found && found < class + n;
}

static bool is_init(const struct python_call *c)
{
    return strcmp(c->within, "__init__") == 0 &&
           strncmp(c->function, "self.args.", 10) == 0;
}

static bool is_of_callback(const struct python_call *c)
{
    return strncmp(c->within, "on_", 3) == 0;
}

void user_script_put_assigned(struct user_script *g, struct arena *arena)
{
    for (int64_t i = 0; g->parts[SCRIPT_TRAINER] && i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        const struct changed *row = row_of(c);
        const struct value_item *v = row ? value_get(c->arguments, "0") : NULL;
        if (!v || c->unsure || !is_init(c) || is_in_class(g->python, c, "Trainer") != 1)
            continue;
        const struct value_item *it = value_get(g->words, row->word);
        if (it)
            value_remove(g->words, (int32_t)(it - g->words->items));
        user_script_put(g, arena, row->word, c->line, v->value, false);
    }
}

/* What is changed elsewhere, when and whether by that class is not known. */
void user_script_ask_assigned(struct launch_context *t, const struct user_script *g)
{
    for (int64_t i = 0; g->parts[SCRIPT_TRAINER] && i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        const struct changed *row = row_of(c);
        const char *base = row && is_of_callback(c) ? "Callback" : "Trainer";
        bool own = row && strncmp(c->function, "args.", 5) == 0 && !is_of_callback(c);
        int in = row ? is_in_class(g->python, c, base) : 0;
        bool put = in == 1 && is_init(c) && !c->unsure;
        if (!row || own || in == 0 || put || launch_is_unresolved(t, row->pointer))
            continue;
        const struct value *v = value_member(c->arguments, "0");
        launch_take_back(t, row->pointer);
        launch_add_unresolved(t, row->pointer, g->line ? g->line : c->line,
                              "%.60s() of line %" PRId64 " sets %s, when it is called",
                              c->within, c->line, row->word);
        if (v && v->kind == VALUE_INT)
            launch_add_example(t, row->pointer,
                               arena_printf(t->arena, "%" PRId64, v->integer));
    }
}
