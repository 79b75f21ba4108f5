/* Training on preferences in the words of libraries on top of the Trainer: the task of a
 * method, and where its reference model is (MODEL.md, 2.20). */
#include "config/pointer.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <ctype.h>
#include <string.h>

static const char task_at[] = "/training/task";

/* Methods and losses. A loss of pairs that compares with a reference is DPO's, whatever
 * its formula. */
static const struct dialect_word methods[] = {
    { "dpo", "dpo" },       { "ipo", "dpo" },   { "kto", "kto" },
    { "orpo", "orpo" },     { "cpo", "cpo" },   { "simpo", "simpo" },
    { "reward", "reward" }, { "rm", "reward" }, { NULL, NULL },
};

bool trainer_take_method(struct launch_context *t, const struct value_item *it,
                         const char *method)
{
    char *name = arena_strdup(t->arena, method);
    for (char *s = name; *s; s++)
        *s = (char)tolower((unsigned char)*s);
    for (const struct dialect_word *m = methods; m->word; m++)
        if (strcmp(m->word, name) == 0) {
            launch_set(t, task_at, json_string(m->value), it);
            return true;
        }
    return false;
}

bool trainer_prefers(const struct launch_context *t)
{
    const char *task = json_string_value(pointer_get(t->tree, task_at));
    for (const struct dialect_word *m = methods; task && m->word; m++)
        if (strcmp(m->value, task) == 0)
            return true;
    return false;
}

void trainer_refuse(struct launch_context *t, const struct value_item *it,
                    const char *what)
{
    diags_add(
        &t->l->loader->diags,
        launch_diag(t->l, DIAG_NOT_SIMULATED, it->value->line, it->value->column),
        "%s: %s is not simulated (pre-training, supervised fine-tuning and training "
        "on preferences are)",
        it->key, what);
}

/* The name of a model that is not the one that is trained. */
static bool names_another(struct launch_context *t, const struct value *v)
{
    static const char *const words[] = { "model_name_or_path", "base_model", "model",
                                         "model_id_or_path", NULL };
    const struct value_item *own = NULL;
    for (const char *const *w = words; *w && !own; w++)
        own = launch_hyper(t, *w);
    return v->kind == VALUE_STRING && own && own->value->kind == VALUE_STRING &&
           strcmp(v->text, own->value->text) != 0;
}

/* A model that is named is loaded next to the policy, adapters or not. */
static void take_reference(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    if (launch_is_off(it->value) || launch_has(t, row->pointer))
        return;
    launch_set(t, row->pointer, json_string("separate"), it);
    if (names_another(t, it->value) && strncmp(it->key, "rl_", 3) != 0)
        launch_note(t->l, it->value->line, DIAG_ASSUMED,
                    "%s: it is taken to have the sizes of the model that is trained",
                    it->key);
}

/* Of pairs the longest answer, within max_length; else what a rollout generates. */
static void take_completion(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    (void)row;
    if (!trainer_prefers(t))
        trainer_refuse(t, it, "training on answers that the model generates");
}

/* clang-format off */
const struct dialect_option trainer_preference_rows[] = {
    ROW("precompute_ref_log_probs", "/training/reference_model", .kind = DIALECT_SWITCH, .value = "precomputed"),
    ROW("force_use_ref_model", "/training/reference_model", .kind = DIALECT_SWITCH, .value = "separate"),
    ROW("ref_model", "/training/reference_model", .take = take_reference),
    ROW("ref_model_path", "/training/reference_model", .take = take_reference),
    ROW("ref_model_name_or_path", "/training/reference_model", .take = take_reference),
    ROW("reference_model", "/training/reference_model", .take = take_reference),
    ROW("rl_adapter_ref_model", "/training/reference_model", .take = take_reference),
    ROW("max_completion_length", "/training/task", .take = take_completion),
    ROW_END,
};
/* clang-format on */
