/* Pictures of a model that has a vision tower, which only the model decides and --set may
 * give: that a program reads none, and the size to which they are shrunk. */
#include "config/pointer.h"
#include "dialect/trainer/trainer.h"
#include "model/model.h"

#include <string.h>

void trainer_take_texts(struct launch_context *t, const char *who, int64_t line)
{
    t->l->pictures.texts = who;
    t->l->pictures.line = line;
}

void trainer_take_pixels(struct launch_context *t, const struct value *dict,
                         const char *key, int64_t usual)
{
    const struct value_item *it = value_get(dict, key);
    int64_t n = usual;
    if (it)
        launch_hear(t, it);
    if (it && (!launch_whole(it->value, &n) || n < 1))
        return;
    t->l->pictures.key = it ? key : arena_printf(t->arena, "%s' default", key);
    t->l->pictures.given = it != NULL;
    t->l->pictures.pixels = n;
    t->l->pictures.line = it ? it->line : t->l->line;
}

/* Whether the model reads pictures of any size: Qwen's do, which shrink what is larger
 * (transformers 4.57, image_processing_qwen2_vl.py). */
static bool is_any(const struct model *m)
{
    return strstr(m->tower->model.family, "qwen") != NULL;
}

static void set_model(struct cfg root, const char *name, const char *key, int64_t n)
{
    struct err err = { 0 };
    pointer_set(root.json, "/model",
                json_pack("{s:s, s:I}", "like", name, key, (json_int_t)n), &err);
}

void trainer_settle_pictures(struct launch *l, struct cfg root)
{
    const struct launch_pictures *p = &l->pictures;
    const char *name = json_string_value(json_object_get(root.json, "model"));
    struct cfg_loader loader;
    struct model m = { .hidden = 0 };
    if (!name || (!p->texts && !p->key))
        return;
    bool reads = trainer_peek(root, &m, &loader) && m.tower &&
                 m.ends.head != MODEL_HEAD_CONTRAST,
         any = reads && is_any(&m);
    cfg_loader_release(&loader);
    name = arena_strdup(&l->loader->arena, name);
    if (reads && p->texts) {
        set_model(root, name, "images_per_sequence", 0);
        launch_note(l, p->line, DIAG_ASSUMED,
                    "%s: sequences are taken to be texts alone, though %.60s reads "
                    "pictures (--set '/model={\"like\": \"%.60s\", "
                    "\"images_per_sequence\": 1}' is one in each)",
                    p->texts, name, name);
    } else if (any) {
        set_model(root, name, "max_pixels", p->pixels);
        launch_note(l, p->line, DIAG_ASSUMED, "%s: pictures of %lld pixels at most",
                    p->key, (long long)p->pixels);
    } else if (p->given) {
        launch_note(l, p->line, DIAG_LEFT_OUT, "%s: without effect: %.60s %s", p->key,
                    name, reads ? "reads pictures of one size" : "reads no pictures");
    }
}
