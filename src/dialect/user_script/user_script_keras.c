/* Programs of TensorFlow: models of transformers that Keras' fit() or a loop of gradient
 * tapes trains.
 *
 * transformers/modeling_tf_utils.py (prepare_tf_dataset, 4.57), datasets/arrow_dataset.py
 * (to_tf_dataset, 4.0), keras/src/models/model.py (fit, 3.5), tensorflow/python/distribute
 * (2.16). */
#include "base/names.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

enum { COPIED_MAX = 100 };

static const char framework_at[] = "/training/framework",
                  gpus_at[] = "/cluster/gpus_per_instance";

const char *user_script_torch_class(const char *class)
{
    bool tf = strncmp(class, "TF", 2) == 0 && class[2] >= 'A' && class[2] <= 'Z';
    return tf ? class + 2 : class;
}

bool user_script_is_keras(const struct user_script *g)
{
    const struct python_call *model = g->parts[SCRIPT_MODEL];
    const char *from = model ? strstr(model->function, "TF") : NULL;
    return from && (from == model->function || from[-1] == '.') &&
           user_script_torch_class(from) != from && g->parts[SCRIPT_FITTED] &&
           !g->parts[SCRIPT_TRAINER] && !g->parts[SCRIPT_ARGUMENTS];
}

/* The last call of a name that is no quotation; NULL. */
static const struct python_call *call_of(const struct python *p, const char *name)
{
    const struct python_call *last = NULL;
    for (int64_t i = 0; i < p->calls.n; i++)
        if (!p->calls.v[i].quoted &&
            strcmp(python_last_part(p->calls.v[i].function), name) == 0)
            last = &p->calls.v[i];
    return last;
}

/* dataset.batch(16) of tf.data: the training's is that of which the name or the function
 * does not say that it is of an evaluation. */
static const struct python_call *batch_of(const struct python *p)
{
    static const char *const others[] = { "val", "test", "eval", "Val", "Test", NULL };
    const struct python_call *best = NULL;
    for (int64_t i = 0; i < p->calls.n && !best; i++) {
        const struct python_call *c = &p->calls.v[i];
        bool other = names_within(others, c->target) || names_within(others, c->within);
        if (!c->quoted && !other && user_script_given(c, "batch_size", "0") &&
            strcmp(python_last_part(c->function), "batch") == 0)
            best = c;
    }
    return best;
}

/* What fit() is given counts for arrays; a dataset has its batches already. Of several
 * GPUs that one process drives each takes its part. */
static void put_batch(struct launch_context *t, struct user_script *g, int64_t gpus)
{
    static const char word[] = "per_device_train_batch_size";
    const struct python_call *fit = call_of(g->python, "fit"),
                             *batch = batch_of(g->python), *from;
    const struct value *v = user_script_given(batch, "batch_size", "0");
    const struct value_item *loaded = value_get(g->words, word);
    int64_t budget = COPIED_MAX, n;
    from = v ? batch : fit;
    v = loaded ? loaded->value : v ? v : user_script_given(fit, "batch_size", "2");
    struct value *own = v ? value_copy(t->arena, v, &budget) : NULL;
    if (!own)
        return;
    value_move_to(own, loaded ? loaded->line : g->line ? g->line : from->line);
    if (launch_whole(own, &n) && gpus > 1) {
        own->kind = VALUE_INT;
        own->integer = (n + gpus - 1) / gpus;
    }
    if (loaded)
        value_remove(g->words, (int32_t)(loaded - g->words->items));
    user_script_put(g, t->arena, word, own->line, own, false);
}

/* tf.keras.mixed_precision.set_global_policy("mixed_float16"). */
static void put_policy(struct launch_context *t, struct user_script *g)
{
    static const char *const setters[] = { "set_global_policy", "set_policy", NULL };
    for (const char *const *s = setters; *s; s++) {
        const struct python_call *c = call_of(g->python, *s);
        const struct value *v = user_script_given(c, "policy", "0");
        const char *text = v && v->kind == VALUE_STRING ? v->text : "";
        int64_t line = c ? (g->line ? g->line : c->line) : 0;
        if (strcmp(text, "mixed_float16") == 0)
            user_script_put_true(g, t->arena, "fp16", line, false);
        else if (strcmp(text, "mixed_bfloat16") == 0)
            user_script_put_true(g, t->arena, "bf16", line, false);
        else if (c && strcmp(text, "float32") != 0)
            launch_add_unresolved(t, "/training/precision", line,
                                  "%s(...): which policy it sets is not known", *s);
    }
}

/* Whether the strategy is that of TFTrainingArguments, which mirrors over the GPUs that are
 * there and has batches of one of them (transformers/training_args_tf.py, 4.57). */
static bool has_arguments(const struct python *p)
{
    return p->text &&
           (strstr(p->text, "TFTrainingArguments") || strstr(p->text, "args.strategy"));
}

/* One process of a strategy drives the GPUs of its instance; without one it has the first
 * alone. How many drive a batch: 0, that is asked. */
static int64_t take_strategy(struct launch_context *t, const struct user_script *g)
{
    static const char *const strategies[] = { "MirroredStrategy", "TPUStrategy",
                                              "MultiWorkerMirroredStrategy",
                                              "ParameterServerStrategy", NULL };
    static const char batch_at[] = "/training/micro_batch_size";
    int64_t line = g->line ? g->line : g->parts[SCRIPT_FITTED]->line;
    struct value v = { .kind = VALUE_INT, .line = line };
    struct value_item from = { "no strategy of TensorFlow's", line, &v };
    const char *const *s = strategies;
    bool of_arguments = has_arguments(g->python);
    while (*s && !call_of(g->python, *s))
        s++;
    bool mirrored = s == strategies && t->l->gpus > 0;
    if (*s && !mirrored && !launch_has(t, batch_at)) {
        launch_add_unresolved(t, gpus_at, line,
                              "%s(...): how many GPUs of an instance it drives", *s);
        launch_add_unresolved(t, batch_at, line,
                              "%s(...) divides the batch of the program among its "
                              "GPUs: what one of them takes",
                              *s);
        return 0;
    }
    if (launch_has(t, "/distribution") || launch_has(t, gpus_at) ||
        call_of(g->python, "DistributedGradientTape") ||
        call_of(g->python, "DistributedOptimizer"))
        return 1;
    if (of_arguments && !t->l->gpus)
        return 1; /* all that there are */
    from.key = of_arguments ? "the strategy of its arguments" : *s ? *s : from.key;
    int64_t gpus = mirrored || of_arguments ? t->l->gpus : 1;
    launch_set(t, gpus_at, json_integer((json_int_t)gpus), &from);
    return of_arguments ? 1 : gpus;
}

void user_script_take_keras(struct launch_context *t, struct user_script *g)
{
    const struct python_call *model = g->parts[SCRIPT_MODEL];
    if (!user_script_is_keras(g))
        return;
    struct value v = { .kind = VALUE_STRING, .line = g->line ? g->line : model->line };
    const struct value_item from = { user_script_class(t->arena, model), v.line, &v };
    if (!launch_has(t, framework_at))
        launch_set(t, framework_at, json_string("tensorflow2"), &from);
    int64_t gpus = take_strategy(t, g);
    if (gpus)
        put_batch(t, g, gpus);
    put_policy(t, g);
}
