/* Functions that a library calls with what it is given: mp.spawn(train, args=(a, b)),
 * Process(target=train, args=(a,)), TorchTrainer(train, train_loop_config={...}).
 *
 * torch/multiprocessing/spawn.py (PyTorch 2.8), multiprocessing/process.py (Python 3.12),
 * accelerate/launchers.py (1.12), ray/train/torch/torch_trainer.py (2.48), kubeflow's
 * TrainingClient (1.9) and CustomTrainer (SDK 0.2), fire.Fire (0.7), typer.run (0.12),
 * horovod.run and horovod.spark.run (0.28), HorovodRunner.run (sparkdl),
 * concurrent.futures' submit() and Pool.apply_async(); or that are called with more later:
 * dataset.map(f, fn_kwargs={...}) (datasets 4.0), functools.partial. */
#include "dialect/python/python_parse.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct started {
    const char *name;         /* of the library's function */
    const char *functions[2]; /* its argument that is the function, by name or place */
    const char *arguments[2]; /* and what that is given */
    bool ranked;              /* the first of that is the rank of the process */
    bool whole;               /* a dictionary, of all or by names, in place of a tuple */
    bool named;               /* it may be given more by names, else the command's words */
    bool later;               /* the rest by names, when it is called: "*" all of it */
} rows[] = {
    { "spawn", { "fn", "0" }, { "args", "1" }, true, false, false, false },
    { "notebook_launcher", { "function", "0" }, { "args", "1" }, false, false, false, false },
    { "Process", { "target", "1" }, { "args", "3" }, false, false, false, false },
    { "TorchTrainer", { "train_loop_per_worker", "0" }, { "train_loop_config", "" }, false, true, false, false },
    { "TransformersTrainer", { "trainer_init_per_worker", "0" }, { "trainer_init_config", "" }, false, true, false, false },
    { "CustomTrainer", { "func", "0" }, { "func_args", "1" }, false, true, false, false },
    { "create_job", { "train_func", "" }, { "parameters", "" }, false, true, false, false },
    { "Fire", { "component", "0" }, { "", "" }, false, false, true, false },
    { "run", { "function", "0" }, { "args", "1" }, false, false, true, false },
    { "run", { "fn", "0" }, { "args", "1" }, false, false, true, false },
    { "map", { "function", "0" }, { "fn_kwargs", "" }, false, false, false, true },
    { "partial", { "func", "0" }, { "*", "" }, false, false, false, true },
    { "submit", { "fn", "0" }, { "*", "" }, false, false, false, true },
    { "apply_async", { "func", "0" }, { "args", "1" }, false, false, false, false },
};
/* clang-format on */

static const struct value *given(const struct value *arguments,
                                 const char *const *names)
{
    const struct value_item *it = value_get(arguments, names[0]);
    it = it ? it : value_get(arguments, names[1]);
    return it ? it->value : NULL;
}

/* Arguments by names that are the function's: HorovodRunner(np=2).run(train, size=8). */
static void add_named(struct python_parser *r, struct value *to,
                      const struct value *arguments, const struct started *s)
{
    for (int32_t i = 0; i < arguments->n && !r->limit; i++) {
        const struct value_item *it = &arguments->items[i];
        if ((*it->key < '0' || *it->key > '9') &&
            strcmp(it->key, s->functions[0]) != 0 &&
            strcmp(it->key, s->arguments[0]) != 0)
            python_put(r, to, it->key, it->line, it->value);
    }
}

/* Arguments by names that a function is given before it is called: fn_kwargs={...}, or all
 * but the function itself. NULL: none. */
static struct value *bound_of(struct python_parser *r, const struct started *s,
                              const struct value *arguments, int64_t line)
{
    bool all = *s->arguments[0] == '*';
    const struct value *v = all ? arguments : given(arguments, s->arguments);
    struct value *out = python_new(r, VALUE_DICT, line);
    if (!v || (v->kind != VALUE_DICT && v->kind != VALUE_UNKNOWN))
        return NULL;
    out->gap = v->kind == VALUE_UNKNOWN ? line : v->gap;
    for (int32_t i = 0; i < v->n && v->kind == VALUE_DICT && !r->limit; i++) {
        const struct value_item *it = &v->items[i];
        bool at = all && *it->key >= '0' && *it->key <= '9';
        if (all && (strcmp(it->key, "0") == 0 || strcmp(it->key, "func") == 0))
            continue;
        python_put(r, out,
                   at ? arena_printf(r->p->arena, "%d", atoi(it->key) - 1) : it->key,
                   it->line, it->value);
    }
    return out->n || out->gap ? out : NULL;
}

/* What the function is given, as a call of it would have it. */
static struct value *arguments_of(struct python_parser *r, const struct started *s,
                                  const struct value *v, int64_t line)
{
    struct value *out = python_new(r, VALUE_DICT, line);
    int at = 0;
    if (s->ranked)
        python_put(r, out, arena_printf(r->p->arena, "%d", at++), line,
                   python_unknown(r, line, "it is the rank of a process"));
    if (v && s->whole) {
        python_put(r, out, "0", line, (struct value *)(uintptr_t)v);
        if (v->kind == VALUE_DICT)
            python_merge(r, out, v);
    } else if (v && v->kind == VALUE_LIST && !v->gap) {
        for (int32_t i = 0; i < v->n && !r->limit; i++)
            python_put(r, out, arena_printf(r->p->arena, "%d", at++), line,
                       v->items[i].value);
    } else if (v) {
        out->gap = line;
    }
    return out;
}

bool python_start_function(struct python_parser *r, const char *name,
                           const struct value *arguments, int64_t line)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct value *of = strcmp(rows[i].name, name) == 0
                                     ? given(arguments, rows[i].functions)
                                     : NULL;
        struct python_function *f = of && of->kind == VALUE_UNKNOWN && of->text
                                        ? python_function(r, of->text)
                                        : NULL;
        bool elsewhere = rows[i].later && !f && of && of->kind == VALUE_UNKNOWN &&
                         of->text && strchr(of->text, '.');
        if (!elsewhere && (!f || f->fields))
            continue;
        struct value *of_it =
            rows[i].later
                ? bound_of(r, &rows[i], arguments, line)
                : arguments_of(r, &rows[i], given(arguments, rows[i].arguments), line);
        if (!of_it)
            continue;
        if (rows[i].named)
            add_named(r, of_it, arguments, &rows[i]);
        if (elsewhere)
            return r->foreign_call(r, of->text, of_it, line) != NULL;
        bool words = rows[i].named && !of_it->n && !of_it->gap;
        r->inline_call(r, f, words ? NULL : of_it, line);
        return true;
    }
    return false;
}
