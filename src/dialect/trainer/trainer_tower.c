/* Models with a vision tower that is frozen unless a switch says otherwise: full training
 * is simulated as training of all. */
#include "config/pointer.h"
#include "dialect/trainer/trainer.h"
#include "model/model.h"

void trainer_tower_frozen(struct launch_context *t, const struct value *dict,
                          const char *key)
{
    if (!value_get(dict, key))
        t->l->tower = key;
}

static bool has_tower(struct cfg root)
{
    struct cfg_loader loader;
    struct model m = { .hidden = 0 };
    json_t *model = json_object_get(root.json, "model");
    cfg_loader_init(&loader);
    struct cfg at = cfg_get(
        cfg_from_tree(&loader, "model", json_pack("{s:O}", "model", model)), "model");
    bool has = model && model_read(&m, &loader, at) == 0 && m.tower;
    cfg_loader_release(&loader);
    return has;
}

void trainer_settle_tower(struct launch *l, struct cfg root)
{
    if (l->tower && !pointer_get(root.json, "/training/lora") && has_tower(root))
        launch_note(l, l->line, DIAG_NOT_SIMULATED,
                    "%s: its default freezes the vision tower, which is simulated as "
                    "trained",
                    l->tower);
}
