/* A launch script's arguments and hyperparameters, each by its row of launch_fields.c;
 * and what is said of those that have none. */
#include "base/strbuf.h"
#include "config/pointer.h"
#include "dialect/deepspeed/deepspeed.h"

#include <string.h>

/* What SMP's dictionary says of the batch and of precision. */
static void read_smp(struct import_context *t)
{
    json_t *smp = pointer_get(t->tree, "/distribution/smdistributed/modelparallel");
    json_t *parameters = json_object_get(smp, "parameters");
    json_t *microbatches = json_object_get(parameters, "microbatches");
    if (!json_is_true(json_object_get(smp, "enabled")))
        return;
    t->smp_precision = json_is_true(json_object_get(parameters, "fp16")) ||
                       json_is_true(json_object_get(parameters, "bf16"));
    /* torch_distributed starts SMP v2, which runs FSDP: bf16 is its MixedPrecision */
    t->converts |=
        json_is_true(pointer_get(t->tree, "/distribution/torch_distributed/enabled"));
    if (json_integer_value(microbatches) > 0)
        t->microbatches = (int64_t)json_integer_value(microbatches);
}

/* When hyperparameters are not known as a whole, that is why these are not. */
static void doubt_hyper(struct import_context *t)
{
    static const char *const pointers[] = { "/model", "/training/sequence_length",
                                            "/training/micro_batch_size" };
    for (int i = 0; i < t->n_hyper; i++) {
        const struct python_value *v = t->hyper[i];
        if (v->kind != PYTHON_UNKNOWN)
            continue;
        for (size_t j = 0; j < sizeof(pointers) / sizeof(pointers[0]); j++)
            if (!launch_has(t, pointers[j]) && !launch_is_unresolved(t, pointers[j]))
                launch_add_unresolved(t, pointers[j], v->line,
                                      "hyperparameters: %s, and nothing is run",
                                      v->why);
    }
}

static bool is_row(const struct launch_row *rows, const char *word)
{
    for (; rows->name; rows++)
        if (launch_same_word(word, rows->name))
            return true;
    return false;
}

/* One note that names all hyperparameters that were not asked for. */
static void note_unused(struct import_context *t)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int i = 0; i < t->n_hyper; i++)
        for (int32_t j = 0; t->hyper[i]->kind == PYTHON_DICT && j < t->hyper[i]->n; j++)
            if (!is_row(launch_hyperparameters, t->hyper[i]->items[j].key) &&
                b.len < 300)
                strbuf_printf(&b, "%s%.60s", b.len ? ", " : "",
                              t->hyper[i]->items[j].key);
    if (b.len)
        launch_note(t->l, t->hyper[0]->line, "without effect here: %s", strbuf_get(&b));
    strbuf_release(&b);
}

/* A TensorFlow estimator whose version is in its image only. */
static void take_class(struct import_context *t)
{
    static const char pointer[] = "/training/framework";
    struct python_value v = { .kind = PYTHON_STRING, .line = t->call->line };
    const struct python_item from = { "TensorFlow", t->call->line, &v };
    if (strcmp(python_last_part(t->call->function), from.key) == 0 &&
        !launch_has(t, pointer))
        launch_set(t, pointer, json_string("tensorflow2"), &from);
}

void launch_take(struct import_context *t)
{
    const struct python_value *given = t->call->arguments;
    const struct python_item *env = python_get(given, "env");
    if (given->gap)
        launch_note(t->l, given->gap, "the script leaves arguments out here");
    launch_take_rows(t, launch_arguments, given);
    take_class(t);
    read_smp(t);
    launch_take_rows(t, launch_hyperparameters, NULL);
    env = env ? env : python_get(given, "environment");
    if (env && env->value->kind == PYTHON_DICT)
        launch_take_rows(t, launch_environment, env->value);
    doubt_hyper(t);
    launch_unresolved_autos(t);
    note_unused(t);
}
