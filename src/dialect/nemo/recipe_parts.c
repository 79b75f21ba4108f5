/* Parts of a recipe that something else makes, which is not read: of a recipe that is
 * known they are taken out and asked for by what they say. */
#include "dialect/launch/launch_context.h"
#include "dialect/nemo/nemo.h"
#include "dialect/python/python.h"

#include <string.h>

#define DEGREES "/parallelism/tensor", "/parallelism/pipeline", "/parallelism/context"
#define BATCHES "/training/micro_batch_size", "/training/global_batch_size"
/* Parts of a recipe, and what each says of a step first. */
static const struct {
    const char *part, *says[4];
} parts[] = {
    { "trainer", { DEGREES, NULL } },
    { "trainer.strategy", { DEGREES, NULL } },
    { "data", { BATCHES, "/training/sequence_length", NULL } },
    { "model", { "/model", DEGREES } },
    { "trainer.plugins", { "/training/precision", NULL } },
    { "mixed_precision", { "/training/precision", NULL } },
    { "train", { BATCHES, NULL } },
};

const struct value_item *nemo_open_part(const struct value *flat)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const struct value_item *it = value_get(flat, parts[i].part);
        if (it && it->value->kind == VALUE_UNKNOWN)
            return it;
    }
    return NULL;
}

/* Such a part is not known; of a recipe of NeMo's own, by its NAME, it is: what the file
 * itself says goes over its facts. */
struct value *nemo_complete(struct launch_context *t, const struct python *p,
                            const struct python_call *c, struct value *flat)
{
    const struct value *name = python_name(p, "NAME");
    const struct value_item *fn = value_get(c->arguments, "0"),
                            *open = nemo_open_part(flat);
    struct value *known = value_new(t->arena, VALUE_DICT, flat->line, 0), *facts;
    bool tunes = (fn && fn->value->text && strstr(fn->value->text, "finetune")) ||
                 strcmp(python_last_part(c->function), "finetune_recipe") == 0;
    struct nemo_call call = { .kind = tunes ? "finetune" : "pretrain",
                              .line = c->line };
    if (!open)
        return flat;
    if (!name || name->kind != VALUE_STRING) {
        launch_add_unresolved(t, "/parallelism/tensor", open->line,
                              "%s: %s, and nothing is run: what it sets is not known",
                              open->key, open->value->why);
        launch_add_unresolved(t, "/parallelism/pipeline", open->line, "%s: likewise",
                              open->key);
        return flat;
    }
    call.recipe = name->text;
    facts = nemo_recipe_facts(t, &call);
    for (int32_t i = 0; i < flat->n; i++)
        if (flat->items[i].value->kind != VALUE_UNKNOWN)
            value_add(t->arena, known, flat->items[i].key, flat->items[i].line,
                      flat->items[i].value);
    if (facts)
        nemo_overlay(t->arena, facts, known);
    return facts;
}

/* Recipes that are known ------------------------------------------------------------ */

struct value *nemo_take_out_parts(struct launch_context *t, struct value *flat)
{
    struct value *out = value_new(t->arena, VALUE_DICT, flat->line, 0);
    int32_t kept = 0;
    for (int32_t k = 0; k < flat->n; k++) {
        bool open = false;
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
            open |= strcmp(parts[i].part, flat->items[k].key) == 0;
        if (open && flat->items[k].value->kind == VALUE_UNKNOWN)
            value_add(t->arena, out, flat->items[k].key, flat->items[k].line,
                      flat->items[k].value);
        else
            flat->items[kept++] = flat->items[k];
    }
    flat->n = kept;
    return out;
}

/* A field that a part would say is no longer the recipe's. */
static void ask_field(struct launch_context *t, const char *pointer,
                      const struct value_item *it)
{
    const char *slash = strrchr(pointer, '/');
    json_t *in =
        slash == pointer
            ? t->tree
            : json_object_get(t->tree, arena_strndup(t->arena, pointer + 1,
                                                     (size_t)(slash - pointer) - 1));
    if (launch_is_unresolved(t, pointer))
        return;
    json_object_del(in, slash + 1);
    launch_forget(t, pointer);
    if (it->value->kind == VALUE_UNKNOWN)
        launch_add_unknown(t, pointer, it->key, it->value);
    else
        launch_add_unresolved(t, pointer, it->line, "what %.80s sets is not known",
                              it->value->text);
}

void nemo_ask_parts(struct launch_context *t, const struct value *open)
{
    for (int32_t k = 0; open && k < open->n; k++)
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
            for (int j = 0; strcmp(parts[i].part, open->items[k].key) == 0 && j < 4 &&
                            parts[i].says[j];
                 j++)
                ask_field(t, parts[i].says[j], &open->items[k]);
}

/* Recipes that are not known --------------------------------------------------------- */

#define UNKNOWN_RECIPE "recipe.unknown"

struct value *nemo_unknown_recipe(struct launch_context *t,
                                  const struct nemo_call *call)
{
    struct value *flat = value_new(t->arena, VALUE_DICT, call->line, 0);
    value_add(t->arena, flat, UNKNOWN_RECIPE, call->line,
              value_new_string(t->arena, call->recipe, call->line, 0));
    return flat;
}

struct value *nemo_unknown_name(struct launch_context *t, struct value *name)
{
    struct value *flat = value_new(t->arena, VALUE_DICT, name->line, 0);
    value_add(t->arena, flat, UNKNOWN_RECIPE, name->line, name);
    return flat;
}

/* Whether a recipe that is not known may train adapters, by its name. */
static bool may_adapt(const struct value *name)
{
    return name->kind == VALUE_UNKNOWN || strstr(name->text, "peft") ||
           strstr(name->text, "finetune");
}

void nemo_ask_recipe(struct launch_context *t, const struct value *flat)
{
    static const struct {
        const char *pointer, *usual; /* what most recipes set; NULL: none does */
        const char *keys[3];         /* of Megatron-Bridge, of NeMo 2 */
    } fields[] = {
        { "/parallelism/tensor",
          NULL,
          { "model.tensor_model_parallel_size",
            "trainer.strategy.tensor_model_parallel_size" } },
        { "/parallelism/pipeline",
          NULL,
          { "model.pipeline_model_parallel_size",
            "trainer.strategy.pipeline_model_parallel_size" } },
        { "/parallelism/context",
          NULL,
          { "model.context_parallel_size", "trainer.strategy.context_parallel_size" } },
        { "/parallelism/expert",
          NULL,
          { "model.expert_model_parallel_size",
            "trainer.strategy.expert_model_parallel_size" } },
        { "/parallelism/sharding/strategy",
          "optimizer",
          { "ddp.use_distributed_optimizer" } },
        { "/training/micro_batch_size",
          NULL,
          { "train.micro_batch_size", "data.micro_batch_size" } },
        { "/training/global_batch_size",
          NULL,
          { "train.global_batch_size", "data.global_batch_size" } },
        { "/training/sequence_length",
          NULL,
          { "dataset.seq_length", "model.seq_length", "data.seq_length" } },
        { "/training/precision", "bf16", { "mixed_precision.@", "trainer.plugins.@" } },
        { "/training/activation_checkpointing",
          NULL,
          { "model.recompute_granularity", "model.config.recompute_granularity" } },
        { "/training/lora", NULL, { "peft.@", "peft.dim", "peft.peft_scheme" } },
    };
    const struct value_item *it = value_get(flat, UNKNOWN_RECIPE);
    const struct value_item named = { "--recipe", it ? it->line : 0,
                                      it ? it->value : NULL };
    launch_hear(t, it);
    if (it && it->value->kind == VALUE_UNKNOWN)
        it = &named;
    for (size_t i = 0; it && i < sizeof(fields) / sizeof(fields[0]); i++) {
        bool given =
            strcmp(fields[i].pointer, "/training/lora") == 0 && !may_adapt(it->value);
        for (int k = 0; k < 3 && fields[i].keys[k]; k++)
            given |= value_get(flat, fields[i].keys[k]) != NULL;
        if (given)
            continue;
        ask_field(t, fields[i].pointer, it);
        if (fields[i].usual)
            launch_add_example(t, fields[i].pointer, fields[i].usual);
    }
}
