/* The model of a configuration of NeMo 2 or Megatron-Bridge: by a class, an id or sizes. */
#include "config/datadir.h"
#include "config/pointer.h"
#include "dialect/nemo/nemo.h"
#include "dialect/trainer/trainer.h"
#include "model/hub.h"

#include <string.h>

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

static const struct value_item *model(const struct nemo *n, const char *name)
{
    return nemo_find(n, NEMO_MODEL, name);
}

/* The names of config.json for Megatron-Core's. */
static const struct {
    const char *core, *hub[4];
} sizes[] = {
    { "num_layers", { "num_hidden_layers", "n_layer" } },
    { "hidden_size", { "hidden_size", "n_embd" } },
    { "ffn_hidden_size", { "intermediate_size" } },
    { "num_attention_heads", { "num_attention_heads", "n_head" } },
    { "num_query_groups", { "num_key_value_heads" } },
    { "kv_channels", { "head_dim" } },
    { "vocab_size", { "vocab_size" } },
    { "num_moe_experts", { "num_local_experts", "num_experts", "n_routed_experts" } },
    { "moe_router_topk", { "num_experts_per_tok" } },
    { "moe_ffn_hidden_size", { "moe_intermediate_size" } },
};

/* How many entries a tokenizer without a file has, where the model takes its number
 * from it (megatron/bridge/training/setup.py: _validate_and_set_vocab_size); NULL. */
static const struct value_item *entries(const struct nemo *n)
{
    const struct value_item *type = nemo_find(n, NEMO_REST, "tokenizer.tokenizer_type"),
                            *size = nemo_find(n, NEMO_REST, "tokenizer.vocab_size"),
                            *own = model(n, "vocab_size");
    const char *word = type && type->value->text ? last_part(type->value->text) : "";
    bool derived =
        nemo_is_on(n, NEMO_REST, "tokenizer.use_tokenizer_vocab_size", false) ||
        (own && own->value->kind == VALUE_NONE);
    launch_hear(n->t, type);
    launch_hear(n->t, size);
    return strcmp(word, "NullTokenizer") == 0 && derived ? size : NULL;
}

/* What the file says of a size. */
static const struct value_item *size_of(const struct nemo *n, const char *core)
{
    const struct value_item *by = strcmp(core, "vocab_size") == 0 ? entries(n) : NULL;
    return by ? by : model(n, core);
}

/* What is changed in a model of an id, and is not read there, is named. */
static void note_others(const struct nemo *n)
{
    static const char *const others[] = {
        "normalization",     "position_embedding_type",
        "add_bias_linear",   "add_qkv_bias",
        "gated_linear_unit", "qk_layernorm",
        "activation_func",   "hidden_dropout",
        "attention_dropout", "moe_layer_freq",
        "moe_latent_size",   "moe_shared_expert_intermediate_size",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct value_item *it = model(n, others[i]);
        bool none = it && strstr(others[i], "dropout") && launch_is_off(it->value);
        if (it && !none)
            launch_note(n->t->l, it->line, DIAG_NOT_SIMULATED,
                        "model.%s: is not simulated: the model's own is taken",
                        others[i]);
        launch_hear(n->t, it);
    }
}

/* Puts what the file changes into a config.json. */
static void change_hub(const struct nemo *n, json_t *config)
{
    const struct value_item *tied = model(n, "share_embeddings_and_output_weights");
    if (tied && tied->value->kind == VALUE_BOOL)
        json_object_set_new(config, "tie_word_embeddings",
                            json_boolean(tied->value->integer));
    launch_hear(n->t, tied);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct value_item *it = size_of(n, sizes[i].core);
        const char *const *name = sizes[i].hub;
        int64_t size;
        if (!it)
            continue;
        while (*name && !json_object_get(config, *name))
            name++;
        if (!launch_whole(it->value, &size))
            launch_unresolved_item(n->t, "/model", it, "whole number");
        else
            json_object_set_new(config, *name ? *name : sizes[i].hub[0],
                                json_integer((json_int_t)size));
        launch_hear(n->t, it);
    }
}

static bool changes(const struct nemo *n)
{
    if (model(n, "share_embeddings_and_output_weights"))
        return true;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (size_of(n, sizes[i].core))
            return true;
    return false;
}

/* A model by its id, or its file of models/; where the file changes sizes, its
 * config.json with them. */
static void take_id(const struct nemo *n, const char *id, const struct value_item *from)
{
    static const struct dialect_option row = ROW("model", "/model");
    struct value v = { .kind = VALUE_STRING, .line = from->line, .text = id };
    const struct value_item it = { from->key, from->line, &v };
    struct hub_id found;
    const char *name = id;
    bool known = hub_is_id(id) && hub_find(&found, n->t->l->loader, id);
    note_others(n);
    if (!changes(n)) {
        trainer_take_model(n->t, &row, &it);
        return;
    }
    if (known && found.shipped)
        name = found.shipped;
    struct cfg config =
        known && !found.shipped
            ? hub_load(n->t->l->loader, id, (struct cfg) { 0 })
            : datadir_load(n->t->l->loader, "models", name, (struct cfg) { 0 });
    if (!cfg_is_object(config))
        return;
    json_t *changed = json_deep_copy(config.json);
    change_hub(n, changed);
    launch_set(n->t, "/model", changed, &it);
}

/* A function that names itself (torch.nn.functional.silu); a gate is its own key. */
static void take_activation(const struct nemo *n)
{
    const struct value_item *it = model(n, "activation_func");
    const char *word = it && it->value->text ? last_part(it->value->text) : "";
    launch_hear(n->t, it);
    if (it && !*word)
        launch_unresolved_item(n->t, "/model/activation", it, "function");
    else if (strcmp(word, "squared_relu") == 0)
        launch_set(n->t, "/model/activation", json_string(word), it);
}

/* A "megatron" model of the class's sizes, with those that the file gives. */
static void take_widths(const struct nemo *n, json_t *sizes_of,
                        const struct value_item *from)
{
    const struct value_item *bias = model(n, "add_bias_linear"),
                            *tied = model(n, "share_embeddings_and_output_weights");
    const struct value_item *by = entries(n);
    int64_t size;
    launch_set(n->t, "/model/model_type", json_string("megatron"), from);
    if (by && launch_whole(by->value, &size))
        nemo_set(n, "/model/vocab_size", json_integer((json_int_t)size), by, "");
    launch_take_rows(n->t, core_width_rows, n->part[NEMO_MODEL]);
    take_activation(n);
    if (bias)
        nemo_set(n, "/model/add_bias_linear", json_boolean(launch_true(bias->value)),
                 bias, "");
    if (tied)
        nemo_set(n, "/model/untie_embeddings_and_output_weights",
                 json_boolean(!launch_true(tied->value)), tied, "");
    const char *key;
    json_t *value;
    json_object_foreach(
        sizes_of, key,
        value) if (!launch_has(n->t, launch_pointer(n->t, "/model", key)))
        launch_set(n->t, launch_pointer(n->t, "/model", key), json_incref(value), from);
    if (!launch_has(n->t, "/model/num_layers"))
        launch_add_unresolved(n->t, "/model/num_layers", from->line,
                              "%s: how many layers the model has is not known",
                              from->key);
    if (!launch_has(n->t, "/model/vocab_size"))
        launch_add_unresolved(n->t, "/model/vocab_size", from->line,
                              "%s: how many entries the vocabulary has is not known",
                              from->key);
}

/* Classes of what is no stack of attention. */
static bool is_refused(const struct nemo *n, const char *word,
                       const struct value_item *it)
{
    static const struct {
        const char *part, *what;
    } rows[] = {
        { "Mamba", "a hybrid of Mamba layers by its class's name" },
        { "NemotronH", "a hybrid of Mamba layers by its class's name" },
        { "Hybrid", "a hybrid of Mamba layers by its class's name" },
        { "Hyena", "long convolutions (Hyena)" },
        { "Embedding", "a model of embeddings" },
        { "Reranker", "a reranker" },
        { "Neva", "a model of images and text" },
        { "Llava", "a model of images and text" },
        { "VL", "a model of images and text" },
        { "Flux", "diffusion" },
        { "DiT", "diffusion" },
        { "Wan", "diffusion" },
        { "Clip", "a model of images and text" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strstr(word, rows[i].part)) {
            diags_add(&n->t->l->loader->diags,
                      launch_diag(n->t->l, DIAG_NOT_SIMULATED, it->line, 0),
                      "%.80s: %s is not simulated", word, rows[i].what);
            return true;
        }
    return false;
}

void core_take_model(const struct nemo *n)
{
    const struct value_item *it = model(n, "class"), *run = NULL;
    const char *word = it && it->value->text ? last_part(it->value->text) : "";
    struct cfg known = *word ? nemo_class(n->t, word) : (struct cfg) { 0 };
    const char *id = NULL;
    launch_hear(n->t, it);
    if (!it && (run = nemo_find(n, NEMO_REST, "run.name")) && run->value->text) {
        known = launch_flavor(n->t, "nemo", run->value->text);
        it = run;
        launch_hear(n->t, run);
    }
    if (*word && !known.json && is_refused(n, word, it))
        return;
    if (known.json && !cfg_is_object(known) && cfg_string(known, &id) == 0)
        take_id(n, id, it);
    else if (cfg_is_object(known))
        take_widths(n, known.json, it);
    else if (it && it->value->text && strchr(it->value->text, '/'))
        take_id(n, it->value->text, it);
    else if (!launch_is_unresolved(n->t, "/model"))
        launch_add_unresolved(n->t, "/model", it ? it->line : n->t->l->line,
                              "%.60s%swhich model it is, is not known by it", word,
                              *word ? ": " : "");
}
