/* A tower of images before a language model, each by its own name, as LLaVA's programs
 * join them (haotian-liu/LLaVA of 2024, llava/train/train.py, model/llava_arch.py,
 * multimodal_projector/builder.py): what of it is trained. */
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"
#include "model/hub.h"

#include <string.h>

static const char *text_of(const struct launch_context *t, const char *name)
{
    const struct value_item *it = launch_hyper(t, name);
    launch_hear((struct launch_context *)t, it);
    return it && it->value->kind == VALUE_STRING ? it->value->text : "";
}

/* The configuration that an id of the table has; absent: it has none. */
static struct cfg named(struct launch_context *t, const char *id)
{
    struct hub_id found;
    return hub_find(&found, t->l->loader, id)
               ? hub_load(t->l->loader, id, (struct cfg) { 0 })
               : (struct cfg) { 0 };
}

/* Pictures in one crop, and the projector of two products: others are no model that is
 * known by these names. */
static bool is_plain(const struct launch_context *t)
{
    return strcmp(text_of(t, "mm_projector_type"), "mlp2x_gelu") == 0 &&
           !strstr(text_of(t, "image_aspect_ratio"), "anyres") &&
           !*text_of(t, "mm_patch_merge_type");
}

/* The tower is not trained unless a word says so (multimodal_encoder/clip_encoder.py,
 * load_model: requires_grad_(False); LLaVA-NeXT, llava/train/train.py). */
static void freeze_tower(struct launch_context *t)
{
    static const char *const frees[] = { "unfreeze_mm_vision_tower",
                                         "tune_vision_tower", "tune_mm_vision" };
    bool trained = strstr(text_of(t, "mm_tunable_parts"), "mm_vision_tower");
    for (size_t i = 0; i < sizeof(frees) / sizeof(frees[0]); i++) {
        const struct value_item *it = launch_hyper(t, frees[i]);
        launch_hear(t, it);
        trained |= it && launch_true(it->value);
    }
    if (!trained)
        t->l->tower = "vision_tower";
    else
        trainer_free_part(t, false, "vision_tower");
    /* initialize_vision_modules of llava_arch.py, after the adapters are made */
    const struct value_item *held = launch_hyper(t, "freeze_mm_mlp_adapter");
    if (!held || !launch_true(held->value))
        trainer_free_part(t, true, "mm_projector_type");
}

/* Whether two towers are of one shape. */
static bool is_same_tower(const json_t *a, const json_t *b)
{
    static const char *const keys[] = { "hidden_size", "num_hidden_layers",
                                        "image_size", "patch_size" };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    return true;
}

/* A model that has its pictures' tower already: LLaVA's own checkpoints, tuned on. */
static void take_joined(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *language)
{
    launch_set(t, row->pointer, json_string(language->value->text), language);
    freeze_tower(t);
}

bool trainer_take_pair(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    const struct value_item *language = launch_hyper(t, "model_name_or_path");
    const char *name = text_of(t, "model_name_or_path");
    struct cfg words = named(t, name), pictures = named(t, it->value->text);
    json_t *tower = json_object_get(pictures.json, "vision_config");
    json_t *own = json_object_get(words.json, "vision_config");
    if (!is_plain(t) || !json_is_object(words.json) || !json_is_object(tower))
        return false;
    if (own && is_same_tower(own, tower)) {
        take_joined(t, row, language);
        return true;
    }
    if (own)
        return false;
    launch_set(t, row->pointer,
               json_pack("{s:s, s:s, s:O, s:O}", "model_type", "llava", "_name_or_path",
                         name, "text_config", words.json, "vision_config", tower),
               language);
    launch_note(t->l, it->line, DIAG_ASSUMED,
                "%s: %.60s before %.60s, with a projector of two products", it->key,
                it->value->text, name);
    freeze_tower(t);
    return true;
}
