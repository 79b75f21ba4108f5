/* nanotron's "model_config" as a config.json. */
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/nanotron/nanotron.h"

#include <string.h>

static const char model_at[] = "/model";

static void ask(struct launch_context *t, const struct value_item *it, const char *why)
{
    if (!launch_is_unresolved(t, model_at))
        launch_add_unresolved(t, model_at, it->line,
                              "model_config.%s: %s; a config.json of equal sizes would "
                              "do",
                              it->key, why);
}

/* A key by another name, where it has a value. */
static void copy(struct launch_context *t, json_t *to, const struct value *from,
                 const char *key, const char *as)
{
    const struct value_item *it = value_get(from, key);
    if (!it || it->value->kind == VALUE_NONE)
        return;
    if (it->value->kind == VALUE_UNKNOWN || it->value->kind == VALUE_DICT)
        ask(t, it, "its value is not known");
    else
        json_object_set_new(to, as, launch_json(t, it->value, model_at));
}

static int64_t number(const struct value *v, const char *key)
{
    const struct value_item *it = value_get(v, key);
    int64_t n;
    return it && launch_whole(it->value, &n) ? n : 0;
}

/* models_config.py, LlamaConfig and Qwen2Config: equal but for experts and windows. */
static json_t *decoder(struct launch_context *t, const struct value *m)
{
    static const char *const keys[] = {
        "hidden_size",         "intermediate_size",
        "num_hidden_layers",   "num_attention_heads",
        "hidden_act",          "num_key_value_heads",
        "vocab_size",          "max_position_embeddings",
        "tie_word_embeddings", NULL,
    };
    json_t *v = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:b}", "model_type", "llama",
                          "hidden_size", 4096, "intermediate_size", 11008,
                          "num_hidden_layers", 32, "num_attention_heads", 32,
                          "vocab_size", 32000, "tie_word_embeddings", 0);
    for (const char *const *key = keys; *key; key++)
        copy(t, v, m, *key, *key);
    return v;
}

/* Qwen2's biases are of queries, keys and values alone; Llama's had none. */
static void choose_family(struct launch_context *t, json_t *v, const struct value *m)
{
    const struct value_item *window = value_get(m, "sliding_window_size");
    bool biases = launch_is_on(m, "attention_bias");
    if (biases)
        json_object_set_new(v, "model_type", json_string("qwen2"));
    if (!window || launch_is_off(window->value))
        return;
    if (biases)
        ask(t, window, "windows and biases together are not simulated");
    json_object_set_new(v, "model_type", json_string("mistral"));
    copy(t, v, m, "sliding_window_size", "sliding_window");
}

/* models_config.py, MoEConfig: its defaults. */
static void take_experts(struct launch_context *t, json_t *v, const struct value *m)
{
    const struct value_item *section = value_get(m, "moe_config");
    const struct value *e = section ? section->value : NULL;
    const struct value_item *layers = value_get(e, "layers");
    bool shared = launch_is_on(e, "enable_shared_expert");
    int64_t n = number(e, "num_experts"), each = number(e, "top_k"),
            wide = number(e, "moe_intermediate_size"),
            also = number(e, "shared_expert_intermediate_size");
    if (!e || e->kind != VALUE_DICT)
        return;
    if (layers &&
        !(layers->value->n == 1 && layers->value->items[0].value->integer == -1))
        ask(t, layers, "experts in a part of the layers are not read");
    n = n ? n : 8;
    each = each ? each : 2;
    wide = wide ? wide : 1408;
    also = also ? also : 5632;
    json_object_set_new(v, "num_experts_per_tok", json_integer((json_int_t)each));
    if (shared) {
        json_object_set_new(v, "model_type", json_string("qwen2_moe"));
        json_object_set_new(v, "num_experts", json_integer((json_int_t)n));
        json_object_set_new(v, "moe_intermediate_size", json_integer((json_int_t)wide));
        json_object_set_new(v, "shared_expert_intermediate_size",
                            json_integer((json_int_t)also));
        return;
    }
    json_object_set_new(v, "model_type", json_string("mixtral"));
    json_object_set_new(v, "num_local_experts", json_integer((json_int_t)n));
    json_object_set_new(v, "intermediate_size", json_integer((json_int_t)wide));
}

/* models_config.py, Starcoder2Config. */
static json_t *starcoder(struct launch_context *t, const struct value *m)
{
    static const char *const keys[] = { "hidden_size",         "num_hidden_layers",
                                        "num_attention_heads", "vocab_size",
                                        "intermediate_size",   NULL };
    json_t *v = json_pack("{s:s, s:i, s:i, s:i, s:i}", "model_type", "starcoder2",
                          "hidden_size", 2048, "num_hidden_layers", 24,
                          "num_attention_heads", 16, "vocab_size", 49280);
    for (const char *const *key = keys; *key; key++)
        copy(t, v, m, *key, *key);
    if (!json_object_get(v, "intermediate_size"))
        json_object_set_new(
            v, "intermediate_size",
            json_integer(4 * json_integer_value(json_object_get(v, "hidden_size"))));
    if (launch_is_on(m, "grouped_query"))
        copy(t, v, m, "num_kv_heads", "num_key_value_heads");
    else
        json_object_set_new(v, "num_key_value_heads", json_integer(1));
    return v;
}

/* A layer norm's epsilon and dropouts are words of GPT's kin in forks, whose MLPs are not
 * gated and whose positions and biases no key says. */
static const struct value_item *of_gpt(const struct value *m)
{
    static const char *const words[] = { "layer_norm_epsilon", "activation_function",
                                         "attn_pdrop", "scale_attn_weights", NULL };
    for (const char *const *w = words; *w; w++)
        if (value_get(m, *w) && !value_get(m, "hidden_act"))
            return value_get(m, *w);
    return NULL;
}

/* "is_NAME_config" says which model it is; forks have models of their own. */
static void check_model(struct launch_context *t, const struct value *m)
{
    static const char *const known[] = { "is_llama_config", "is_qwen2_config",
                                         "is_starcoder2_config" };
    for (int64_t i = 0; i < m->n; i++) {
        const struct value_item *it = &m->items[i];
        size_t n = it->key ? strlen(it->key) : 0, k = 0;
        if (n < 10 || strncmp(it->key, "is_", 3) != 0 ||
            strcmp(it->key + n - 7, "_config") != 0 || !launch_true(it->value))
            continue;
        while (k < sizeof(known) / sizeof(known[0]) && strcmp(known[k], it->key) != 0)
            k++;
        if (k == sizeof(known) / sizeof(known[0]))
            ask(t, it, "this model is not simulated");
    }
}

void nanotron_take_model(struct launch_context *t, const struct value_item *config)
{
    const struct value *m = config->value;
    json_t *v = NULL;
    check_model(t, m);
    if (launch_is_on(m, "is_starcoder2_config")) {
        v = starcoder(t, m);
    } else if (launch_is_on(m, "is_llama_config") ||
               launch_is_on(m, "is_qwen2_config") ||
               (value_get(m, "intermediate_size") && !value_get(m, "is_llama_config") &&
                !of_gpt(m))) {
        const struct value_item *act = value_get(m, "hidden_act");
        if (act && strcmp(launch_word(m, "hidden_act", "silu"), "silu") != 0)
            launch_note(t->l, act->line, DIAG_APPROXIMATE,
                        "hidden_act: MLPs are taken to be gated by silu");
        v = decoder(t, m);
        choose_family(t, v, m);
        take_experts(t, v, m);
    } else if (of_gpt(m)) {
        ask(t, of_gpt(m),
            "it is a word of no Llama: which model of the GPT family it "
            "is, is not said");
    } else {
        ask(t, config, "it is no model of nanotron that is known");
    }
    if (v && !launch_is_unresolved(t, model_at))
        launch_set(t, model_at, v, config);
    else
        json_decref(v);
}
