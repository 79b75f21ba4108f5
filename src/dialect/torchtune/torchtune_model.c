/* torchtune's model builders ("torchtune.models.llama3_1.lora_llama3_1_8b"), and the
 * configurations that it ships. */
#include "base/names.h"
#include "config/datadir.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/torchtune/torchtune.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <string.h>

static const char model_at[] = "/model", lora_at[] = "/training/lora";

/* Builders ------------------------------------------------------------------------- */

struct builder {
    const char *family, *name; /* "llama3_1", "llama3_1_8b" */
    bool adapts, quantizes;
};

static struct builder builder_of(struct launch_context *t, const char *component)
{
    struct builder b = { "", launch_last_part(component), false, false };
    const char *dot = strrchr(component, '.'), *before = dot;
    b.name = dot ? dot + 1 : component;
    while (before && before > component && before[-1] != '.')
        before--;
    if (dot)
        b.family = arena_strndup(t->arena, before, (size_t)(dot - before));
    b.quantizes = strncmp(b.name, "qlora_", 6) == 0;
    b.adapts = b.quantizes || strncmp(b.name, "lora_", 5) == 0;
    b.name += b.quantizes ? 6 : b.adapts ? 5 : 0;
    return b;
}

static int64_t number(const struct value *c, const char *key, int64_t otherwise)
{
    const struct value_item *it = value_get(c, key);
    int64_t n;
    return it && launch_whole(it->value, &n) ? n : otherwise;
}

/* A builder of sizes, torchtune.models.llama2.llama2: a config.json of them. */
static json_t *sizes_of(const struct value *c)
{
    int64_t hidden = number(c, "model.embed_dim", 0),
            wide = number(c, "model.intermediate_dim", 0);
    /* torchtune/modules/common_utils, scale_hidden_dim_for_mlp: 8/3 of the hidden size,
     * up to a multiple of 256 */
    wide = wide ? wide : (8 * hidden / 3 + 255) / 256 * 256;
    if (hidden < 1 || hidden > (1 << 20))
        return NULL;
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "model_type", "llama", "hidden_size",
        (json_int_t)hidden, "num_hidden_layers",
        (json_int_t)number(c, "model.num_layers", 32), "num_attention_heads",
        (json_int_t)number(c, "model.num_heads", 32), "num_key_value_heads",
        (json_int_t)number(c, "model.num_kv_heads", number(c, "model.num_heads", 32)),
        "intermediate_size", (json_int_t)wide, "vocab_size",
        (json_int_t)number(c, "model.vocab_size", 32000));
}

static void take_builder(struct launch_context *t, const struct value *c,
                         const struct value_item *it, const struct builder *b)
{
    static const struct dialect_option row = ROW("model._component_", "/model");
    struct cfg known = launch_flavor(t, "torchtune", b->name);
    const char *id = NULL;
    bool plain = strcmp(b->family, b->name) == 0;
    json_t *sizes = plain ? sizes_of(c) : NULL;
    struct value v = { .kind = VALUE_STRING, .line = it->value->line };
    const struct value_item from = { it->key, it->line, &v };
    if (sizes) {
        launch_set(t, model_at, sizes, it);
    } else if (known.json && cfg_string(known, &id) == 0) {
        v.text = id;
        trainer_take_model(t, &row, &from);
    } else {
        launch_add_unresolved(t, model_at, it->line,
                              "%s: %.60s is no model of torchtune that is known; its "
                              "config.json would do",
                              it->key, b->name);
    }
}

/* Adapters ------------------------------------------------------------------------- */

/* q_proj, k_proj, v_proj and output_proj; those of the MLP and the head by a switch. */
static json_t *targets_of(const struct value *c)
{
    static const char *const mlp[] = { "gate_proj", "up_proj", "down_proj" };
    const struct value_item *of = value_get(c, "model.lora_attn_modules"),
                            *wide = value_get(c, "model.apply_lora_to_mlp"),
                            *head = value_get(c, "model.apply_lora_to_output");
    json_t *all = json_array();
    for (int32_t i = 0; of && of->value->kind == VALUE_LIST && i < of->value->n; i++) {
        const struct value *v = of->value->items[i].value;
        if (v->kind == VALUE_STRING)
            json_array_append_new(
                all,
                json_string(strcmp(v->text, "output_proj") == 0 ? "o_proj" : v->text));
    }
    for (size_t i = 0; wide && launch_true(wide->value) && i < 3; i++)
        json_array_append_new(all, json_string(mlp[i]));
    if (head && launch_true(head->value))
        json_array_append_new(all, json_string("lm_head"));
    return all;
}

static void set_number(struct launch_context *t, const struct value *c, const char *key,
                       const char *member, json_t *otherwise, const char *what)
{
    const struct value_item *it = value_get(c, key);
    const char *pointer = arena_printf(t->arena, "%s/%s", lora_at, member);
    if (!it || it->value->kind == VALUE_NONE) {
        launch_assume(t, pointer, otherwise, what);
        return;
    }
    json_decref(otherwise);
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, pointer, it, "number");
    else
        launch_set(t, pointer, launch_json(t, it->value, pointer), it);
}

/* Defaults: torchtune/models, their builders. torchao's NF4 quantizes its scales, too
 * (torchao/dtypes/nf4tensor.py). */
static void take_adapters(struct launch_context *t, const struct value *c,
                          const struct value_item *it, const struct builder *b)
{
    const struct value_item *base = value_get(c, "model.quantize_base"),
                            *of = value_get(c, "model.lora_attn_modules");
    bool quantizes = b->quantizes || (base && launch_true(base->value));
    set_number(t, c, "model.lora_rank", "rank", json_integer(8), "lora_rank's default");
    set_number(t, c, "model.lora_alpha", "alpha", json_real(16),
               "lora_alpha's default");
    set_number(t, c, "model.lora_dropout", "dropout", json_real(0),
               "lora_dropout's default");
    if (of && of->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, "/training/lora/target_modules", of, "list");
    else
        launch_set(t, "/training/lora/target_modules", targets_of(c), of ? of : it);
    if (!quantizes)
        return;
    launch_set(t, "/training/lora/base", json_string("nf4"), b->quantizes ? it : base);
    launch_assume(t, "/training/lora/double_quantization", json_true(),
                  "torchao's NF4");
}

/* Parts that are trained ----------------------------------------------------------- */

static void add_layers(json_t *list, int64_t first, int64_t last)
{
    if (first <= last)
        json_array_append_new(list,
                              json_sprintf("layers %" PRId64 "-%" PRId64, first, last));
}

/* The decoder's own layers and those of cross-attention between them: each fifth, from
 * the fourth on, is one (torchtune/models/llama3_2_vision, fusion_interval 4). */
static json_t *frozen_of(int64_t layers, bool decoder, bool encoder, bool fusion)
{
    enum { EACH = 5, CROSS = 3 };
    json_t *list = json_array();
    if (!decoder) {
        json_array_append_new(list, json_string("embeddings"));
        json_array_append_new(list, json_string("head"));
    }
    for (int64_t cross = CROSS; cross < layers; cross += EACH) {
        if (!decoder)
            add_layers(list, cross == CROSS ? 0 : cross - EACH + 1, cross - 1);
        if (!fusion)
            add_layers(list, cross, cross);
        if (!decoder && cross + EACH >= layers)
            add_layers(list, cross + 1, layers - 1);
    }
    if (!fusion)
        json_array_append_new(list, json_string("projector"));
    if (!encoder)
        json_array_append_new(list, json_string("vision_tower"));
    return list;
}

static bool is_trained(struct launch_context *t, const struct value *c, const char *key,
                       bool otherwise)
{
    const struct value_item *it = value_get(c, key);
    launch_hear(t, it);
    return launch_switch(t, "/training/frozen", it, otherwise);
}

/* Builders of Llama 3.2 Vision, which train the encoder and what reads it by default. */
static void take_parts(struct launch_context *t, const struct value *c,
                       const struct value_item *it, const struct builder *b)
{
    static const struct name_value models[] = { { "llama3_2_vision_11b", 40 },
                                                { "llama3_2_vision_90b", 100 },
                                                { NULL, 0 } };
    static const char at[] = "/training/frozen";
    int layers;
    if (b->adapts || names_find(models, b->name, &layers) < 0)
        return;
    bool decoder = is_trained(t, c, "model.decoder_trainable", false),
         encoder = is_trained(t, c, "model.encoder_trainable", true),
         fusion = is_trained(t, c, "model.fusion_trainable", true);
    const struct value_item *said = value_get(c, "model.decoder_trainable");
    if (!launch_is_unresolved(t, at) && !(decoder && encoder && fusion))
        launch_set(t, at, frozen_of(layers, decoder, encoder, fusion),
                   said ? said : it);
}

/* What of a sections' keys made a field. */
static void hear_model(struct launch_context *t, const struct value *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        const struct dialect_option *o =
            strncmp(c->items[i].key, "model.", 6) == 0
                ? dialect_option_of(torchtune_tables, "", c->items[i].key)
                : NULL;
        if (o && o->class == DIALECT_ACTS && o->pointer &&
            (launch_has(t, o->pointer) || launch_is_unresolved(t, o->pointer)))
            launch_hear(t, &c->items[i]);
    }
}

void torchtune_take_model(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "model._component_");
    if (!it)
        return;
    if (it->value->kind != VALUE_STRING) {
        launch_unresolved_item(t, model_at, it, "model builder");
        return;
    }
    struct builder b = builder_of(t, it->value->text);
    take_builder(t, c, it, &b);
    if (b.adapts)
        take_adapters(t, c, it, &b);
    take_parts(t, c, it, &b);
    hear_model(t, c);
}

/* Shipped configurations ----------------------------------------------------------- */

struct value *torchtune_shipped(struct launch_context *t, const char *name,
                                int64_t line)
{
    struct cfg all =
        datadir_load(t->l->loader, "models/launch", "torchtune", (struct cfg) { 0 });
    struct cfg row = cfg_get(cfg_get(all, "configs"), name);
    if (!row.json)
        return NULL;
    struct value *v = value_new(t->arena, VALUE_DICT, line, 0);
    launch_override_members(t->arena, v, cfg_get(all, "base"), line);
    launch_override_members(t->arena, v, row, line);
    return v;
}
