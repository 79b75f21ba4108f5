/* Models with pictures, of which a program loads the language model alone. */
#include "base/names.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"
#include "model/hub.h"

#include <string.h>

/* Types of which AutoModelForCausalLM makes the language model without the tower
 * (transformers 5, models/auto/modeling_auto.py, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES), and
 * what that is called; of others (gemma3) it makes the whole. */
static const struct alone {
    const char *type, *text;
} alone[] = {
    { "qwen3_5", "qwen3_5_text" },
    { "qwen3_5_moe", "qwen3_5_moe_text" },
    { "llama4", "llama4_text" },
};

/* The text's part of a configuration (a new reference); NULL: the whole is made. */
static json_t *text_of(json_t *config)
{
    const char *type = json_string_value(json_object_get(config, "model_type"));
    for (size_t i = 0; type && i < sizeof(alone) / sizeof(alone[0]); i++) {
        if (strcmp(type, alone[i].type) != 0)
            continue;
        json_t *part = json_object_get(config, "text_config"),
               *text = json_deep_copy(json_is_object(part) ? part : config);
        json_object_del(text, "vision_config");
        json_object_set_new(text, "model_type", json_string(alone[i].text));
        return text;
    }
    return NULL;
}

/* AutoProcessor.from_pretrained(...): what reads pictures next to texts. */
static bool processes(const struct python *p)
{
    for (int64_t i = 0; i < p->calls.n; i++)
        if (strstr(p->calls.v[i].function, "Processor.from_pretrained"))
            return true;
    return false;
}

/* A class for language models, and nothing that reads pictures, is given texts. */
static void take_texts(struct launch_context *t, const struct user_script *g,
                       const struct python_call *c, const char *class)
{
    static const char *const texts[] = { "AutoModelForCausalLM", "FastLanguageModel",
                                         "FastModel", NULL };
    int64_t line = g->line ? g->line : c ? c->line : 0;
    if (names_listed(texts, class) && !processes(g->python))
        trainer_take_texts(t, arena_strdup(&t->l->loader->arena, class), line);
}

void user_script_take_text(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_MODEL];
    const char *class = c ? user_script_class(t->arena, c) : "",
               *id = json_string_value(json_object_get(t->tree, "model"));
    struct hub_id found;
    take_texts(t, g, c, class);
    if (!id || strcmp(class, "AutoModelForCausalLM") != 0 ||
        !hub_find(&found, t->l->loader, id))
        return;
    struct cfg config = hub_load(t->l->loader, id, (struct cfg) { 0 });
    json_t *text = text_of(config.json);
    if (!text)
        return;
    struct value v = { .line = g->line ? g->line : c->line };
    const struct value_item from = { class, v.line, &v };
    launch_note(t->l, v.line, DIAG_ASSUMED,
                "%.60s makes the language model of %.80s without its tower of pictures",
                class, id);
    json_object_set_new(text, "_name_or_path", json_string(id));
    launch_forget(t, "/model");
    launch_set(t, "/model", text, &from);
}
