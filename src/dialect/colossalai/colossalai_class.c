/* Plugins that a script makes by their classes. */
#include "dialect/colossalai/colossalai_parts.h"

#include "dialect/launch/launch_config.h"

#include <string.h>

/* Plugins by their classes, and what their arguments are called in the rows
 * (colossalai/booster/plugin, ColossalAI 0.4 and 0.5). */
static const struct {
    const char *class, *word;
} classes[] = {
    { "HybridParallelPlugin", "3d" },  { "MoeHybridParallelPlugin", "3d" },
    { "LowLevelZeroPlugin", "zero" },  { "GeminiPlugin", "gemini" },
    { "TorchDDPPlugin", "torch_ddp" }, { "TorchFSDPPlugin", "fsdp" },
};
static const struct {
    const char *argument, *name;
} arguments[] = {
    { "enable_flash_attention", "use_flash_attn" },
    { "enable_all_optimization", "use_flash_attn" },
    { "sequence_parallelism_mode", "sp_mode" },
    { "cpu_offload", "zero_cpu_offload" },
    { "stage", "zero_stage" },
    { "extra_dp_size", "extra_dp" },
};

/* The arguments by the rows' names, and the batch of the loader; of several of a name the
 * one that is on. */
struct value *colossalai_words_of_call(struct launch_context *t,
                                       const struct value *given,
                                       const struct value *batch, int64_t line)
{
    struct value *c = value_new(t->arena, VALUE_DICT, line, 0);
    for (int32_t i = 0; i < given->n; i++) {
        const struct value_item *it = &given->items[i], *old;
        const char *name = it->key;
        for (size_t j = 0; j < sizeof(arguments) / sizeof(arguments[0]); j++)
            name =
                strcmp(arguments[j].argument, it->key) == 0 ? arguments[j].name : name;
        old = value_get(c, name);
        if (it->value->kind == VALUE_NONE || (old && launch_true(old->value)))
            continue;
        colossalai_put(t->arena, c, name, line, it->value);
    }
    if (batch)
        colossalai_put(t->arena, c, "batch_size", line,
                       (struct value *)(uintptr_t)batch);
    return c;
}

/* Which of several plugins LowLevelZeroPlugin is, its stage says: 1 without one. */
static const struct colossalai_plugin *plugin_of_class(const struct value *c,
                                                       const char *class)
{
    const struct value_item *stage = value_get(c, "zero_stage");
    const char *word = "";
    int64_t n = 1;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        word = strcmp(classes[i].class, class) == 0 ? classes[i].word : word;
    if (strcmp(word, "zero") == 0 && stage)
        launch_whole(stage->value, &n);
    return colossalai_plugin(strcmp(word, "zero") != 0 ? word
                             : n == 2                  ? "zero2"
                                                       : "zero1");
}

bool colossalai_has_class(const char *class)
{
    for (size_t i = 0; class && i < sizeof(classes) / sizeof(classes[0]); i++)
        if (strcmp(classes[i].class, class) == 0)
            return true;
    return false;
}

enum colossalai_kind colossalai_kind_of(const char *class)
{
    const struct value none = { .kind = VALUE_DICT };
    return plugin_of_class(&none, class)->kind;
}

void colossalai_take_call(struct launch_context *t, const struct value *given,
                          const struct value *batch, int64_t line)
{
    static const char *const stages[] = { "zero_stage", NULL };
    const struct colossalai_program none = { .name = "" };
    struct value *c = colossalai_words_of_call(t, given, batch, line);
    const struct colossalai_plugin *p = plugin_of_class(c, given->text);
    struct value v = { .kind = VALUE_NONE, .line = line };
    const struct value_item from = { given->text, line, &v };
    const struct value_item *parts = value_get(c, "num_microbatches"),
                            *policy = value_get(c, "placement_policy");
    int64_t n = 1, size;
    launch_take_rows(t, colossalai_rows, c);
    if (parts && launch_whole(parts->value, &n) && n > 0 && batch &&
        launch_whole(batch, &size) &&
        size % n == 0) { /* the batch is cut into so many */
        struct value *each = value_new(t->arena, VALUE_INT, line, 0);
        each->integer = size / n;
        colossalai_put(t->arena, c, "microbatch_size", line, each);
        launch_hear(t, value_get(c, "num_microbatches"));
    }
    if (p->kind == ZERO)
        launch_hear(t, colossalai_any(c, stages));
    colossalai_take_plugin(t, c, &none, p, &from);
    if (policy && policy->value->kind == VALUE_STRING &&
        strcmp(policy->value->text, "auto") == 0)
        launch_hear(t, policy); /* what fits stays on the GPU */
    colossalai_take_batch(t, c, &none, p->kind == HYBRID);
    if (colossalai_is_on(t, c, (const char *const[]) { "use_flash_attn", NULL }))
        launch_set(t, "/training/attention", json_string("flash"),
                   value_get(c, "use_flash_attn"));
    if (p->half)
        launch_assume(t, "/training/precision", json_string("fp16"),
                      "precision's default");
    t->converts = p->kind != DDP;
    dialect_report(t, colossalai_tables, "", c,
                   (struct dialect_place) { line, "", "", true });
}
