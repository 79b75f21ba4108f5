/* What transformers' class of a family has by default where its file does not say it. Files
 * that transformers writes say it; those of other hands may not. */
#include "model/families/families.h"

#include <inttypes.h>
#include <string.h>

static const char KV_HEADS[] = "num_key_value_heads", SHARED[] = "n_shared_experts";

/* Source: configuration_*.py of transformers 5. */
static const struct {
    const char *family, *key;
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
    { "deepseek_v3", SHARED, 1 },
    { "deepseek_v32", SHARED, 1 },
    { "kimi_k2", SHARED, 1 },
    { "glm4_moe", SHARED, 1 },
    { "glm4_moe_lite", SHARED, 1 },
    { "glm_moe_dsa", SHARED, 1 },
    { "solar_open", SHARED, 1 },
    { "ernie4_5_moe", "moe_num_shared_experts", 2 },
    { "exaone_moe", "num_shared_experts", 1 },
    { "afmoe", "num_shared_experts", 2 },
};

/* Whether it is taken: heads that it does not divide are of another design. */
static bool take(struct family_raw *raw, const char *key, int64_t value)
{
    struct model_attention *a = &raw->m.attention;
    if (strcmp(key, KV_HEADS) != 0) {
        raw->shared_experts = value;
        return true;
    }
    if (a->kv_heads > 0 || a->heads <= value || a->heads % value != 0)
        return false;
    a->kv_heads = value;
    return true;
}

void families_take_defaults(struct family_raw *raw, const struct family *family,
                            struct cfg root)
{
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        if (strcmp(defaults[i].family, family->name) == 0 &&
            !json_object_get(root.json, defaults[i].key) &&
            take(raw, defaults[i].key, defaults[i].value))
            cfg_warn(root, DIAG_ASSUMED,
                     "\"%s\" is missing: %" PRId64
                     " is taken, as transformers has it for \"%s\"",
                     defaults[i].key, defaults[i].value, family->name);
}
