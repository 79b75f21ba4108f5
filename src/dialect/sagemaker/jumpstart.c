/* JumpStart's models by their ids: JumpStartEstimator(model_id=...), ModelTrainer's
 * from_jumpstart_config, and Estimator(model_uri=model_uris.retrieve(model_id=...)) of
 * SageMaker Python SDK 2.x before them. */
#include "dialect/peft/peft.h"
#include "dialect/python/python.h"
#include "dialect/sagemaker/sagemaker.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

/* The id that model_uris.retrieve(...) is asked for; NULL. */
static const struct value *retrieved_id(const struct value_item *uri)
{
    const struct value *of = uri ? uri->value : NULL;
    if (!of || of->kind != VALUE_DICT || !of->text || !strstr(of->text, "model_uris"))
        return NULL;
    const struct value_item *it = value_get(of, "model_id");
    it = it ? it : value_get(of, "0");
    return it ? it->value : NULL;
}

static bool is_jumpstart(const struct launch_context *t)
{
    return strcmp(python_last_part(t->call->function), "JumpStartEstimator") == 0 ||
           strstr(t->call->function, "jumpstart") != NULL ||
           retrieved_id(value_get(t->call->arguments, "model_uri"));
}

/* The text of a row that an id fits, and what of the id its "*" is; NULL: there is none. */
static const char *row_of(struct launch_context *t, const char *table, const char *id,
                          const char **rest)
{
    const struct cfg row = launch_names_row(t, table, id, rest);
    return json_string_value(row.json);
}

/* Refused by what its ids begin with; else the checkpoint that it is named after. */
static void take_id(struct launch_context *t, const struct dialect_option *row,
                    const struct value_item *it, const char *id)
{
    const char *rest = "", *why = row_of(t, "jumpstart_refused", id, &rest),
               *model = why ? NULL : row_of(t, "jumpstart", id, &rest);
    if (why)
        diags_add(&t->l->loader->diags,
                  launch_diag(t->l, DIAG_UNSUPPORTED, it->value->line, 0),
                  "\"%.80s\" of JumpStart %s, which is not simulated (give a file that "
                  "trains a transformer)",
                  id, why);
    if (model) {
        struct value v = { .kind = VALUE_STRING, .line = it->value->line };
        v.text = strcmp(model, "*") == 0 ? rest : model;
        const struct value_item of = { it->key, it->line, &v };
        trainer_take_model(t, row, &of);
    } else {
        launch_add_unresolved(t, row->pointer, it->value->line,
                              "%s: \"%.80s\" is JumpStart's, and of no model that is "
                              "known by it",
                              it->key, id);
    }
}

void sagemaker_take_jumpstart(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it)
{
    if (!is_jumpstart(t))
        return;
    if (it->value->kind == VALUE_STRING)
        take_id(t, row, it, it->value->text);
    else
        launch_unresolved_item(t, row->pointer, it, "string");
}

void sagemaker_take_model_uri(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it)
{
    const struct value *id = retrieved_id(it);
    struct value_item of = { "model_id", it->line, (struct value *)(uintptr_t)id };
    if (id)
        sagemaker_take_jumpstart(t, row, &of);
}

/* What its own scripts decide, where no hyperparameter does. */
void sagemaker_settle_jumpstart(struct launch_context *t)
{
    static const char *const open[] = { "/parallelism/library", "/training/precision",
                                        PEFT_LORA };
    const struct value_item *sharded = launch_hyper(t, "enable_fsdp");
    if (!is_jumpstart(t))
        return;
    if (sharded && launch_true(sharded->value)) {
        launch_set(t, open[0], json_string("fsdp"), sharded);
        launch_set(t, "/parallelism/sharding/strategy", json_string("full"), sharded);
        launch_hear(t, sharded);
    }
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        if (!launch_has(t, open[i]) && !launch_is_unresolved(t, open[i]))
            launch_add_unresolved(t, open[i], t->call->line,
                                  "JumpStart's own script decides it, and no "
                                  "hyperparameter says it");
}
