/* InternEvo's "model" as a config.json. */
#include "dialect/internevo/internevo.h"
#include "dialect/launch/launch_config.h"

#include <string.h>

static const char model_at[] = "/model";

/* MLPs are rounded up so (internlm/model/modules/mlp.py, multiple_of). */
enum { MLP_MULTIPLE = 256 };

/* What registers a model (modeling_*.py, MODEL_TYPE), as one of config.json. */
static const struct family {
    const char *name, *as,
        *bias;   /* `bias`: what the config calls biases of attention */
    bool always; /* it has them, whatever no_bias says */
} families[] = {
    { "INTERNLM", "internlm", "bias", true },
    { "INTERNLM2_PUBLIC", "internlm2", "bias", false },
    { "INTERNLM2", "internlm2", "bias", false },
    { "LLAMA2", "llama", "attention_bias", false },
    { NULL, NULL, NULL, false },
};

static void ask(struct launch_context *t, const struct value_item *it, int64_t line,
                const char *key, const char *why)
{
    if (!launch_is_unresolved(t, model_at))
        launch_add_unresolved(t, model_at, it ? it->line : line,
                              "%s: %s (a config.json of equal sizes would do)", key,
                              why);
}

/* A size that has to be there; 0 after asking. */
static int64_t size_of(struct launch_context *t, const struct value *c, const char *key)
{
    const struct value_item *it = launch_find(t, c, key);
    int64_t n = 0;
    if (it && launch_whole(it->value, &n) && n > 0 && n < INT32_MAX)
        return n;
    ask(t, it, t->l->line, key, it ? "its value is not known" : "it is not given");
    return 0;
}

static int64_t mlp_of(struct launch_context *t, const struct value *c, int64_t hidden)
{
    const struct value_item *it = launch_find(t, c, "model.mlp_ratio");
    double ratio = 4;
    if (it && (!launch_real(it->value, &ratio) || !(ratio > 0 && ratio < 1000))) {
        ask(t, it, it->line, it->key, "its value is not known");
        return 0;
    }
    int64_t wide = (int64_t)((double)hidden * ratio);
    return (wide + MLP_MULTIPLE - 1) / MLP_MULTIPLE * MLP_MULTIPLE;
}

static const struct family *family_of(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = launch_find(t, c, "model_type");
    const char *name = launch_word(c, "model_type", "INTERNLM");
    const struct family *f = families;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    if (!f->name)
        ask(t, it, t->l->line, "model_type",
            strstr(name, "MoE") || strstr(name, "MOE")
                ? "InternEvo's mixtures of experts are not read"
                : "this model is not known");
    return f->name ? f : NULL;
}

/* What would be another model than the family's. */
static void check_kind(struct launch_context *t, const struct value *c)
{
    const struct value_item *gate = launch_find(t, c, "model.use_swiglu"),
                            *norm = launch_find(t, c, "model.norm_type");
    if (gate && !launch_true(gate->value))
        ask(t, gate, gate->line, gate->key, "MLPs without a gate are not read");
    if (norm && strcmp(launch_word(c, "model.norm_type", "rmsnorm"), "rmsnorm") != 0)
        ask(t, norm, norm->line, norm->key, "norms other than rmsnorm are not read");
}

void internevo_take_model(struct launch_context *t, const struct value *c)
{
    const struct family *f = family_of(t, c);
    const struct value_item *kv = launch_find(t, c, "model.num_kv_attention_heads"),
                            *no_bias = launch_find(t, c, "model.no_bias"),
                            *from = value_get(c, "model.hidden_size");
    int64_t hidden = size_of(t, c, "model.hidden_size"),
            layers = size_of(t, c, "model.num_layers"),
            heads = size_of(t, c, "model.num_attention_heads"),
            words = size_of(t, c, "model.vocab_size"), mlp = mlp_of(t, c, hidden),
            groups = heads;
    check_kind(t, c);
    if (kv && kv->value->kind != VALUE_NONE &&
        !(launch_whole(kv->value, &groups) && groups > 0 && groups <= heads))
        ask(t, kv, kv->line, kv->key, "its value is not known");
    if (!f || launch_is_unresolved(t, model_at))
        return;
    json_t *v = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "model_type",
                          f->as, "hidden_size", (json_int_t)hidden, "intermediate_size",
                          (json_int_t)mlp, "num_hidden_layers", (json_int_t)layers,
                          "num_attention_heads", (json_int_t)heads,
                          "num_key_value_heads", (json_int_t)groups, "vocab_size",
                          (json_int_t)words, "tie_word_embeddings", 0);
    json_object_set_new(
        v, f->bias,
        json_boolean(f->always || !no_bias || !launch_true(no_bias->value)));
    launch_set(t, model_at, v, from);
}
