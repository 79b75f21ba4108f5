/* What transformers' class of a family has by default where its file does not say it. Files
 * that transformers writes say it; those of other hands may not. */
#include "model/families/families.h"

#include <inttypes.h>
#include <string.h>

enum what { KEYS, SHARED, DENSE };

#define KV_HEADS "num_key_value_heads", KEYS
#define ONE_SHARED "n_shared_experts", SHARED, 1
#define FIRST_DENSE "first_k_dense_replace", DENSE

/* Source: configuration_*.py of transformers 5. */
static const struct {
    const char *family, *key;
    enum what what;
    int64_t value;
} defaults[] = {
    { "mistral", KV_HEADS, 8 },
    { "mixtral", KV_HEADS, 8 },
    { "ministral", KV_HEADS, 8 },
    { "ministral3", KV_HEADS, 8 },
    { "qwen3_moe", KV_HEADS, 4 },
    { "qwen3_next", KV_HEADS, 2 },
    { "gemma2", KV_HEADS, 4 },
    { "gemma3_text", KV_HEADS, 4 },
    { "vaultgemma", KV_HEADS, 4 },
    { "gpt_oss", KV_HEADS, 8 },
    { "starcoder2", KV_HEADS, 2 },
    { "smollm3", KV_HEADS, 4 },
    { "seed_oss", KV_HEADS, 8 },
    { "glm", KV_HEADS, 2 },
    { "glm4", KV_HEADS, 2 },
    { "glm4_moe", KV_HEADS, 8 },
    { "ernie4_5", KV_HEADS, 2 },
    { "ernie4_5_moe", KV_HEADS, 4 },
    { "phimoe", KV_HEADS, 8 },
    { "minimax", KV_HEADS, 8 },
    { "minimax_m2", KV_HEADS, 8 },
    { "llama4_text", KV_HEADS, 8 },
    { "falcon_h1", KV_HEADS, 8 },
    { "jamba", KV_HEADS, 8 },
    { "lfm2", KV_HEADS, 8 },
    { "lfm2_moe", KV_HEADS, 8 },
    { "cwm", KV_HEADS, 8 },
    { "solar_open", KV_HEADS, 8 },
    { "deepseek_v3", ONE_SHARED },
    { "deepseek_v32", ONE_SHARED },
    { "kimi_k2", ONE_SHARED },
    { "glm4_moe", ONE_SHARED },
    { "glm4_moe_lite", ONE_SHARED },
    { "glm_moe_dsa", ONE_SHARED },
    { "solar_open", ONE_SHARED },
    { "ernie4_5_moe", "moe_num_shared_experts", SHARED, 2 },
    { "exaone_moe", "num_shared_experts", SHARED, 1 },
    { "afmoe", "num_shared_experts", SHARED, 2 },
    { "deepseek_v3", FIRST_DENSE, 3 },
    { "deepseek_v32", FIRST_DENSE, 3 },
    { "kimi_k2", FIRST_DENSE, 3 },
    { "glm4_moe", FIRST_DENSE, 1 },
    { "afmoe", "num_dense_layers", DENSE, 1 },
    { "lfm2_moe", "num_dense_layers", DENSE, 2 },
    { "ernie4_5_moe", "moe_layer_start_index", DENSE, 1 },
};

/* Whether it is taken: heads that it does not divide are of another design. */
static bool take(struct family_raw *raw, enum what what, int64_t value)
{
    struct model *m = &raw->m;
    switch (what) {
    case KEYS:
        if (m->attention.kv_heads > 0 || m->attention.heads <= value ||
            m->attention.heads % value != 0)
            return false;
        m->attention.kv_heads = value;
        return true;
    case SHARED:
        raw->shared_experts = value;
        return true;
    case DENSE:
        if (m->layers <= value)
            return false;
        m->mlp.dense_layers = value;
        return true;
    }
    return false;
}

/* Whether the file says it, under that name or layer by layer. */
static bool says(struct cfg root, const char *key, enum what what)
{
    return json_object_get(root.json, key) ||
           (what == DENSE && json_object_get(root.json, "mlp_layer_types"));
}

void families_take_defaults(struct family_raw *raw, const struct family *family,
                            struct cfg root)
{
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        if (strcmp(defaults[i].family, family->name) == 0 &&
            !says(root, defaults[i].key, defaults[i].what) &&
            take(raw, defaults[i].what, defaults[i].value))
            cfg_warn(root, DIAG_ASSUMED,
                     "\"%s\" is missing: %" PRId64
                     " is taken, as transformers has it for \"%s\"",
                     defaults[i].key, defaults[i].value, family->name);
}
