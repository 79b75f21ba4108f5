/* A launch script's arguments and hyperparameters, each by its row of launch_fields.c;
 * and what is said of those that have none. */
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/deepspeed/deepspeed.h"
#include "scenario/nccl_environment.h"

#include <inttypes.h>
#include <string.h>

/* What SMP's dictionary says of the batch and of precision. */
static void read_smp(struct launch_context *t)
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
static void doubt_hyper(struct launch_context *t)
{
    static const char *const pointers[] = { "/model", "/training/sequence_length",
                                            "/training/micro_batch_size" };
    for (int i = 0; i < t->n_hyper; i++) {
        const struct value *v = t->hyper[i];
        if (v->kind != VALUE_UNKNOWN)
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

/* Names the hyperparameters that no row took, or that another goes before. */
static void note_unused(struct launch_context *t)
{
    struct launch_idle idle;
    launch_idle_init(&idle, t->l, t->n_hyper ? t->hyper[0]->line : 0, "");
    for (int i = 0; i < t->n_hyper; i++)
        for (int32_t j = 0; t->hyper[i]->kind == VALUE_DICT && j < t->hyper[i]->n;
             j++) {
            const struct value_item *it = &t->hyper[i]->items[j];
            bool known = is_row(launch_hyperparameters, it->key);
            if (!launch_is_heard(t, it) && !(known && launch_is_off(it->value)))
                launch_idle_add(&idle, "%.60s", it->key);
        }
    launch_idle_end(&idle);
}

/* The argument of the estimator that a word nearly is; NULL. */
static const char *near_argument(struct launch_context *t, const char *word)
{
    VEC(struct name_value) names = { 0 };
    for (const struct launch_row *row = launch_arguments; row->name; row++)
        VEC_PUSH(&names, ((struct name_value) { row->name, 1 }));
    VEC_PUSH(&names, ((struct name_value) { NULL, 0 }));
    const char *near = names_nearest(names.v, word);
    near = near ? arena_strdup(t->arena, near) : NULL;
    VEC_RELEASE(&names);
    return near;
}

/* Likewise the estimator's arguments; misspelt ones are warned of. */
static void note_arguments(struct launch_context *t)
{
    static const char *const elsewhere[] = { "hyperparameters", "source_dir",
                                             "environment", "env", NULL };
    const struct value *given = t->call->arguments;
    struct launch_idle idle;
    launch_idle_init(&idle, t->l, t->call->line, "");
    for (int32_t i = 0; i < given->n; i++) {
        const struct value_item *it = &given->items[i];
        bool known = is_row(launch_arguments, it->key);
        const char *near = known ? NULL : near_argument(t, it->key);
        if (launch_is_heard(t, it) || names_listed(elsewhere, it->key) ||
            (known && launch_is_off(it->value)))
            continue;
        if (near)
            diags_add(
                &t->l->loader->diags,
                diag_at_line(DIAG_WARNING, DIAG_UNKNOWN_KEY, t->l->file, it->line),
                "%.60s: no such argument (did you mean %s?)", it->key, near);
        else
            launch_idle_add(&idle, "%.60s", it->key);
    }
    launch_idle_end(&idle);
}

/* Likewise the variables that neither NCCL nor its network reads. */
static void note_environment(struct launch_context *t, const struct value_item *env)
{
    struct launch_idle idle;
    if (!env || env->value->kind == VALUE_NONE)
        return;
    if (env->value->kind != VALUE_DICT) {
        launch_note(t->l, env->line, DIAG_LEFT_OUT, "%s: %s; none of it is taken",
                    env->key,
                    env->value->kind == VALUE_UNKNOWN ? env->value->why
                                                      : "it is no dictionary");
        return;
    }
    launch_idle_init(&idle, t->l, env->line, arena_printf(t->arena, "%s: ", env->key));
    for (int32_t i = 0; i < env->value->n; i++) {
        const struct value_item *it = &env->value->items[i];
        if (!launch_is_heard(t, it) && !nccl_environment_knows(it->key))
            launch_idle_add(&idle, "%.60s", it->key);
    }
    launch_idle_end(&idle);
}

/* A TensorFlow estimator whose version is in its image only. */
static void take_class(struct launch_context *t)
{
    static const char pointer[] = "/training/framework";
    struct value v = { .kind = VALUE_STRING, .line = t->call->line };
    const struct value_item from = { "TensorFlow", t->call->line, &v };
    if (strcmp(python_last_part(t->call->function), from.key) == 0 &&
        !launch_has(t, pointer))
        launch_set(t, pointer, json_string("tensorflow2"), &from);
}

/* The dictionary's reader knows PyTorch by its release, which an image may hide. */
static void warn_servers(struct launch_context *t)
{
    static const char *const torch[] = { "PyTorch", "HuggingFace", NULL };
    const char *class = python_last_part(t->call->function);
    const json_t *on = pointer_get(t->tree, "/distribution/parameter_server/enabled");
    if (json_is_true(on) && names_listed(torch, class) &&
        !launch_has(t, "/software/pytorch"))
        diags_add(&t->l->loader->diags,
                  diag_at_line(DIAG_WARNING, DIAG_UNSURE, t->l->file, t->call->line),
                  "parameter_server: the container of %s starts no parameter servers; "
                  "those of TensorFlow's are simulated",
                  class);
}

void launch_take(struct launch_context *t)
{
    const struct value *given = t->call->arguments;
    const struct value_item *env = value_get(given, "env");
    if (given->gap)
        launch_note(t->l, given->gap, DIAG_LEFT_OUT,
                    "the script leaves arguments out here");
    launch_take_rows(t, launch_arguments, given);
    take_class(t);
    warn_servers(t);
    read_smp(t);
    launch_take_rows(t, launch_hyperparameters, NULL);
    env = env ? env : value_get(given, "environment");
    if (env && env->value->kind == VALUE_DICT)
        launch_take_rows(t, launch_environment, env->value);
    doubt_hyper(t);
    launch_unresolved_autos(t);
    if (!t->command) /* of an estimator */
        note_arguments(t);
    note_environment(t, env);
    note_unused(t);
}
