#include "model/vision_rows.h"

#include <string.h>

/* What LlamaConfig, MistralConfig, Gemma3TextConfig leave unsaid (transformers 4.57). */
#define LLAMA_7B                                                                 \
    {                                                                            \
        .layers = 32, .hidden = 4096, .attention.heads = 32, .mlp.width = 11008, \
        .ends.vocab = 32000                                                      \
    }
#define GEMMA3                                                                       \
    {                                                                                \
        .layers = 26, .hidden = 2304, .attention.heads = 8, .attention.kv_heads = 4, \
        .mlp.width = 9216, .ends.vocab = 262208                                      \
    }

static const struct vision table[] = {
    { "llava", "llama", "clip_vision_model", "text_config", LLAMA_7B, PROJECTOR_MLP,
      .tiles = 1 },
    { "clip", "clip_text_model", "clip_vision_model", "text_config",
      .projector = PROJECTOR_PAIR, .bare = true, .scales = 1 },
    { "siglip", "siglip_text_model", "siglip_vision_model", "text_config",
      .projector = PROJECTOR_POOL, .scales = 2 },
    { "siglip2", "siglip_text_model", "siglip2_vision_model", "text_config",
      .projector = PROJECTOR_POOL, .scales = 2 },
    { "lighton_ocr", "qwen3", "pixtral", "text_config", .projector = PROJECTOR_THREE,
      .norm = true, .bare = true, .merge = 2 },
    { "vipllava", "llama", "clip_vision_model", "text_config", LLAMA_7B, PROJECTOR_MLP,
      .norm = true, .tiles = 1, .layers_read = 5 },
    { "llava_next", "llama", "clip_vision_model", "text_config", LLAMA_7B,
      PROJECTOR_MLP, .tiles = 5 },
    { "llava_onevision", "qwen2", "siglip_vision_model", "text_config",
      .projector = PROJECTOR_MLP, .tiles = 5 },
    { "paligemma", "gemma", "siglip_vision_model", "text_config",
      .projector = PROJECTOR_LINEAR },
    { "gemma3", "gemma3_text", "siglip_vision_model", "text_config", GEMMA3,
      PROJECTOR_LINEAR, .norm = true, .bare = true, .merge = 4 },
    { "gemma4", "gemma4_text", "gemma4_vision", "text_config",
      .projector = PROJECTOR_LINEAR, .bare = true, .sounds = true },
    { "gemma4_unified", "gemma4_unified_text", NULL, "text_config", .embeds = true },
    { "gemma3n", "gemma3n_text", NULL, "text_config", .mobile = true },
    { "qwen2_vl", "qwen2", "qwen2_vl_vision", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true },
    { "qwen2_5_vl", "qwen2", "qwen2_5_vl_vision", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true },
    { "qwen3_vl", "qwen3", "qwen3_vl_vision", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true },
    { "qwen3_vl_moe", "qwen3_moe", "qwen3_vl_vision", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true },
    { "qwen3_5", "qwen3_5_text", "qwen3_vl_vision", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true },
    { "qwen3_5_moe", "qwen3_5_moe_text", "qwen3_vl_vision", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true },
    { "internvl", "qwen2", "internvl_vision", "text_config",
      .projector = PROJECTOR_MERGED, .wide_norm = true, .merge = 2 },
    { "internvl_chat", "qwen2", "internvl_vision", "llm_config",
      .projector = PROJECTOR_MERGED, .wide_norm = true, .merge = 2 },
    { "mistral3", "mistral", "pixtral", "text_config", .projector = PROJECTOR_THREE,
      .norm = true, .bare = true, .merge = 2 },
    { "llama4", "llama4_text", "llama4_vision_model", "text_config",
      .projector = PROJECTOR_ADAPTER, .bare = true, .merge = 2 },
    { "kimi_vl", "deepseek_v3", "moonvit", "text_config", .projector = PROJECTOR_MERGER,
      .norm = true },
    { "kimi_k25", "deepseek_v3", "moonvit", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true },
    { "lfm2_vl", "lfm2", "siglip2_vision_model", "text_config",
      .projector = PROJECTOR_MERGED, .wide_norm = true, .merge = 2 },
    { "llava_next_video", "llama", "clip_vision_model", "text_config", LLAMA_7B,
      PROJECTOR_MLP, .tiles = 5 },
    { "qwen2_audio", "qwen2", "qwen2_audio_encoder", "text_config",
      .projector = PROJECTOR_LINEAR, .reads = "audio_config", .hears = true,
      .halves = 2 },
    { "voxtral", "llama", "voxtral_encoder", "text_config",
      .projector = PROJECTOR_MERGED, .bare = true, .reads = "audio_config",
      .hears = true, .merge = 2 },
    { "qwen2_5_omni", "qwen2", "qwen2_5_vl_vision", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true, .sounds = true,
      .inside = "thinker_config" },
    { "qwen2_5_omni_thinker", "qwen2", "qwen2_5_vl_vision", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true, .sounds = true },
    { "qwen3_omni_moe", "qwen3_moe", "qwen3_vl_vision", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true, .sounds = true,
      .inside = "thinker_config" },
    { "qwen3_omni_moe_thinker", "qwen3_moe", "qwen3_vl_vision", "text_config",
      .projector = PROJECTOR_MERGER, .norm = true, .sounds = true },
    { "glm4v", "glm4v_text", "glm4v_vision", "text_config",
      .sizes.attention.qkv_bias = true, .projector = PROJECTOR_GATED },
    { "glm4v_moe", "glm4v_moe_text", "glm4v_moe_vision", "text_config",
      .sizes.attention.qkv_bias = true, .projector = PROJECTOR_GATED },
    { "glm46v", "glm4v_text", "glm4v_vision", "text_config",
      .sizes.attention.qkv_bias = true, .projector = PROJECTOR_GATED },
    { "shieldgemma2", "gemma3_text", "siglip_vision_model", "text_config", GEMMA3,
      PROJECTOR_LINEAR, .norm = true, .bare = true, .merge = 4 },
    { "mllama", "mllama_text_model", "mllama_vision_model", "text_config",
      .projector = PROJECTOR_LINEAR, .crossed = true },
    { "vision-encoder-decoder", "trocr", "vit", "decoder",
      .projector = PROJECTOR_BRIDGE, .crossed = true, .each = true,
      .reads = "encoder" },
    { "idefics3", "llama", "idefics3_vision", "text_config",
      .projector = PROJECTOR_SHUFFLE, .bare = true, .merge = 2 },
    { "smolvlm", "llama", "idefics3_vision", "text_config",
      .projector = PROJECTOR_SHUFFLE, .bare = true, .merge = 2 },
};
enum { ROWS = sizeof(table) / sizeof(table[0]) };

const struct vision *vision_find(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

const char *vision_reads(const struct vision *v)
{
    return v->reads ? v->reads : "vision_config";
}

const char *vision_name(int64_t i)
{
    return i >= 0 && i < ROWS ? table[i].name : NULL;
}
