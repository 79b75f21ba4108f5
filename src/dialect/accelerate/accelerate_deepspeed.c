/* DeepSpeed's section of Accelerate's configuration, in DeepSpeed's own words. */
#include "dialect/accelerate/accelerate.h"

#include <string.h>

static struct value *dict_of(struct launch_context *t, int64_t line)
{
    return value_new(t->arena, VALUE_DICT, line, 0);
}

static void put(struct launch_context *t, struct value *dict, const char *key,
                const struct value_item *it)
{
    if (it)
        value_add(t->arena, dict, key, it->line, it->value);
}

static void put_device(struct launch_context *t, struct value *zero, const char *key,
                       const struct value_item *it)
{
    struct value *device = dict_of(t, it ? it->line : 0);
    if (!it || launch_is_off(it->value))
        return;
    put(t, device, "device", it);
    value_add(t->arena, zero, key, it->line, device);
}

/* mixed_precision enables that section (set_mixed_precision of DeepSpeedPlugin), in whose
 * type gradients travel; the precision itself is accelerate_settle's. */
static void put_half(struct launch_context *t, struct value *root,
                     const struct value_item *it)
{
    bool text = it && it->value->kind == VALUE_STRING;
    const char *word = text ? it->value->text : "no";
    struct value *half;
    if (strcmp(word, "bf16") != 0 && strcmp(word, "fp16") != 0)
        return;
    half = dict_of(t, it->line);
    value_add(t->arena, half, "enabled", it->line,
              value_new_string(t->arena, "auto", it->line, 0));
    value_add(t->arena, root, word, it->line, half);
}

/* accelerate/utils/dataclasses.py, DeepSpeedPlugin: stage 2 unless said otherwise, and
 * gradients are clipped as the Trainer says, or to 1 (accelerator.py, _prepare_deepspeed). */
struct value *accelerate_deepspeed_of(struct launch_context *t,
                                      const struct value *section,
                                      const struct value_item *mixed, int64_t line)
{
    struct value *root = dict_of(t, line), *zero = dict_of(t, line),
                 *stage = value_new(t->arena, VALUE_INT, line, 0);
    const struct value_item *given = value_get(section, "zero_stage");
    stage->integer = 2;
    value_add(t->arena, zero, "stage", line, given ? given->value : stage);
    put_device(t, zero, "offload_optimizer",
               value_get(section, "offload_optimizer_device"));
    put_device(t, zero, "offload_param", value_get(section, "offload_param_device"));
    value_add(t->arena, root, "zero_optimization", line, zero);
    const struct value_item *norm = value_get(section, "gradient_clipping");
    const struct value_item usual = { "gradient_clipping", line,
                                      value_new_string(t->arena, "auto", line, 0) };
    put(t, root, "gradient_clipping",
        norm && norm->value->kind != VALUE_NONE ? norm : &usual);
    put_half(t, root, mixed);
    return root;
}
