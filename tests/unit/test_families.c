/* Files of Hugging Face's families as their authors published them, less what no size
 * follows from, and the parameters they published with them. */
#include "cost/kernel.h"
#include "hardware/gpu.h"
#include "model/ops.h"
#include "op_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_families_register(void);

/* clang-format off */
#define TROCR_OF(reads)                                                              \
    "{'model_type': 'vision-encoder-decoder', 'tie_word_embeddings': false, "        \
    "'encoder': {'model_type': 'vit', 'hidden_size': 768, 'num_hidden_layers': 12, " \
    "'num_attention_heads': 12, 'intermediate_size': 3072, 'image_size': 384, "      \
    "'patch_size': 16, 'qkv_bias': false}, 'decoder': {'model_type': 'trocr', "      \
    "'d_model': 1024, 'decoder_layers': 12, 'decoder_attention_heads': 16, "         \
    "'decoder_ffn_dim': 4096, 'vocab_size': 50265, " reads                           \
    "'max_position_embeddings': 512, 'is_decoder': true, "                           \
    "'add_cross_attention': true}}"
#define TROCR TROCR_OF("'cross_attention_hidden_size': 768, ")
#define UNEVEN                                                                      \
    "{'model_type': 't5gemma', 'encoder': {'hidden_size': 3584, "                   \
    "'intermediate_size': 14336, 'num_hidden_layers': 42, 'num_attention_heads': "  \
    "16, 'num_key_value_heads': 8, 'head_dim': 256, 'vocab_size': 256000, "         \
    "'sliding_window': 4096}, 'decoder': {'hidden_size': 2304, "                    \
    "'intermediate_size': 9216, 'num_hidden_layers': 26, 'num_attention_heads': 8, " \
    "'num_key_value_heads': 4, 'head_dim': 256, 'vocab_size': 256000, "             \
    "'sliding_window': 4096}, 'tie_word_embeddings': true}"
#define CONVOLVED                                                                   \
    "{'model_type': 'deberta-v2', 'hidden_size': 1536, 'num_hidden_layers': 24, "   \
    "'num_attention_heads': 24, 'intermediate_size': 6144, 'vocab_size': 128100, "  \
    "'max_position_embeddings': 512, 'type_vocab_size': 0, 'position_buckets': 256, " \
    "'relative_attention': true, 'position_biased_input': false, "                  \
    "'share_att_key': true, 'norm_rel_ebd': 'layer_norm', 'conv_kernel_size': 3}"

static const struct {
    const char *name;
    int64_t parameters;
    const char *file;
} published[] = {
    /* the sizes that transformers 5's classes have by default, and what their modeling
     * files make of them */
    { "gemma4_unified", 3056257024,
      "{'model_type': 'gemma4_unified', 'vision_config': {}, 'audio_config': {}, "
      "'text_config': {'vocab_size': 262144, 'hidden_size': 2304, "
      "'intermediate_size': 9216, 'num_hidden_layers': 30, 'num_attention_heads': 8, "
      "'num_key_value_heads': 4, 'head_dim': 256, 'sliding_window': 1024}}" },
    { "ernie's experts in every other layer", 12928761216,
      "{'model_type': 'ernie4_5_moe', 'vocab_size': 103424, 'hidden_size': 2560, "
      "'intermediate_size': 12288, 'num_hidden_layers': 28, 'num_attention_heads': 20, "
      "'num_key_value_heads': 4, 'moe_intermediate_size': 1536, 'moe_k': 6, "
      "'moe_num_experts': 64, 'moe_num_shared_experts': 2, 'moe_layer_start_index': 1, "
      "'moe_layer_end_index': 27, 'moe_layer_interval': 2, "
      "'tie_word_embeddings': true}" },
    { "cohere2_moe", 190004928512,
      "{'model_type': 'cohere2_moe', 'is_encoder_decoder': false, 'vocab_size': "
      "256000, 'hidden_size': 8192, 'intermediate_size': 22528, "
      "'num_hidden_layers': 40, 'num_attention_heads': 64, "
      "'num_key_value_heads': 64, 'head_dim': 128, 'tie_word_embeddings': true, "
      "'sliding_window': 4096, 'num_experts_per_tok': 2, 'num_experts': 8, "
      "'num_shared_experts': 0, 'sliding_window_pattern': 4}" },
    { "mellum", 12149923072,
      "{'model_type': 'mellum', 'is_encoder_decoder': false, 'vocab_size': "
      "98304, 'hidden_size': 2304, 'intermediate_size': 7168, "
      "'num_hidden_layers': 28, 'num_attention_heads': 32, "
      "'num_key_value_heads': 4, 'tie_word_embeddings': false, "
      "'sliding_window': 1024, 'moe_intermediate_size': 896, "
      "'num_experts_per_tok': 8, 'num_local_experts': 64, 'head_dim': 128}" },
    { "granite_swa", 2144463840,
      "{'model_type': 'granite_swa', 'is_encoder_decoder': false, 'vocab_size': "
      "100352, 'hidden_size': 2560, 'intermediate_size': 8192, "
      "'num_hidden_layers': 24, 'num_attention_heads': 20, "
      "'num_key_value_heads': 4, 'tie_word_embeddings': true, 'sliding_window': "
      "128}" },
    { "granitemoe_swa", 37039117312,
      "{'model_type': 'granitemoe_swa', 'is_encoder_decoder': false, "
      "'vocab_size': 32000, 'hidden_size': 4096, 'intermediate_size': 11008, "
      "'num_hidden_layers': 32, 'num_attention_heads': 32, "
      "'num_key_value_heads': 32, 'tie_word_embeddings': false, "
      "'num_local_experts': 8, 'num_experts_per_tok': 2, "
      "'shared_intermediate_size': 0, 'sliding_window': 128}" },
    { "nanochat", 256573440,
      "{'model_type': 'nanochat', 'is_encoder_decoder': false, 'vocab_size': "
      "50304, 'hidden_size': 768, 'intermediate_size': 8192, "
      "'num_hidden_layers': 12, 'num_attention_heads': 6, "
      "'num_key_value_heads': 6, 'final_logit_softcapping': 15.0, "
      "'tie_word_embeddings': false}" },
    { "mistral4", 118972826624,
      "{'model_type': 'mistral4', 'is_encoder_decoder': false, 'vocab_size': "
      "131072, 'hidden_size': 4096, 'intermediate_size': 12288, "
      "'moe_intermediate_size': 2048, 'num_hidden_layers': 36, "
      "'num_attention_heads': 32, 'num_key_value_heads': 32, "
      "'n_shared_experts': 1, 'n_routed_experts': 128, 'kv_lora_rank': 256, "
      "'q_lora_rank': 1024, 'qk_rope_head_dim': 64, 'v_head_dim': 128, "
      "'qk_nope_head_dim': 64, 'n_group': 1, 'topk_group': 1, "
      "'num_experts_per_tok': 4, 'first_k_dense_replace': 0, "
      "'tie_word_embeddings': false, 'qk_head_dim': 128, 'head_dim': 128}" },
    { "jina_embeddings_v3", 559364096,
      "{'model_type': 'jina_embeddings_v3', 'is_encoder_decoder': false, "
      "'vocab_size': 250002, 'hidden_size': 1024, 'num_hidden_layers': 24, "
      "'num_attention_heads': 16, 'intermediate_size': 4096, 'type_vocab_size': "
      "1, 'tie_word_embeddings': true}" },
    { "siglip2", 203202050,
      "{'model_type': 'siglip2', 'is_encoder_decoder': false, 'text_config': "
      "{'model_type': 'siglip2_text_model', 'is_encoder_decoder': false, "
      "'vocab_size': 32000, 'hidden_size': 768, 'intermediate_size': 3072, "
      "'num_hidden_layers': 12, 'num_attention_heads': 12, 'projection_size': "
      "768}, 'vision_config': {'model_type': 'siglip2_vision_model', "
      "'is_encoder_decoder': false, 'hidden_size': 768, 'intermediate_size': "
      "3072, 'num_hidden_layers': 12, 'num_attention_heads': 12, "
      "'num_channels': 3, 'patch_size': 16, 'num_patches': 256}}" },
    { "deberta-v3-base", 183831552,
      "{'model_type': 'deberta-v2', 'hidden_size': 768, 'num_hidden_layers': 12, "
      "'num_attention_heads': 12, 'intermediate_size': 3072, 'vocab_size': 128100, "
      "'max_position_embeddings': 512, 'type_vocab_size': 0, 'position_buckets': 256, "
      "'relative_attention': true, 'position_biased_input': false, "
      "'share_att_key': true, 'norm_rel_ebd': 'layer_norm', "
      "'pos_att_type': 'p2c|c2p'}" },
    { "deberta-base, with biases of its keys", 138601728 + 12 * 768,
      "{'model_type': 'deberta', 'hidden_size': 768, 'num_hidden_layers': 12, "
      "'num_attention_heads': 12, 'intermediate_size': 3072, 'vocab_size': 50265, "
      "'max_position_embeddings': 512, 'type_vocab_size': 0, 'relative_attention': true, "
      "'max_relative_positions': -1, 'position_biased_input': false, "
      "'pos_att_type': ['c2p', 'p2c']}" },
    { "swinv2-tiny, whose bias is made by an MLP", 27578154,
      "{'model_type': 'swinv2', 'embed_dim': 96, 'depths': [2, 2, 6, 2], 'num_heads': "
      "[3, 6, 12, 24], 'window_size': 8, 'image_size': 256, 'mlp_ratio': 4.0}" },
    { "trocr-base, whose decoder is wider than its encoder", 333921792, TROCR },
    { "a bridge between both", 333921792 - 2 * 12 * 256 * 1024 + 2 * 12 * 512 * 1024 +
                                   768 * 1024 + 1024,
      TROCR_OF("") },
    { "t5gemma-9b-2b", 12292375296, UNEVEN },
    { "deberta-v2-xlarge", 884593152, CONVOLVED },
    { "t5gemma-2b-2b", 5596853760,
      "{'model_type': 't5gemma', 'encoder': {'hidden_size': 2304, 'intermediate_size': 9216, "
      "'num_hidden_layers': 26, 'num_attention_heads': 8, 'num_key_value_heads': 4, "
      "'head_dim': 256, 'vocab_size': 256000, 'sliding_window': 4096}, "
      "'decoder': {'hidden_size': 2304, 'intermediate_size': 9216, "
      "'num_hidden_layers': 26, 'num_attention_heads': 8, 'num_key_value_heads': 4, "
      "'head_dim': 256, 'vocab_size': 256000, 'sliding_window': 4096}, "
      "'tie_word_embeddings': true}" },
    { "cwm", 32581097472,
      "{'model_type': 'cwm', 'vocab_size': 128256, 'hidden_size': 6144, "
      "'intermediate_size': 21504, 'num_hidden_layers': 64, 'num_attention_heads': "
      "48, 'num_key_value_heads': 8, 'max_position_embeddings': 131072, "
      "'tie_word_embeddings': false, 'mlp_bias': false, 'head_dim': 128, "
      "'sliding_window': 8192}" },
    { "helium", 2172643840,
      "{'model_type': 'helium', 'vocab_size': 48000, 'hidden_size': 2560, "
      "'intermediate_size': 7040, 'num_hidden_layers': 24, 'num_attention_heads': "
      "20, 'num_key_value_heads': 20, 'head_dim': 128, 'max_position_embeddings': "
      "4096, 'tie_word_embeddings': false, 'attention_bias': false, 'mlp_bias': "
      "false}" },
    { "granitemoeshared", 37039116288,
      "{'model_type': 'granitemoeshared', 'vocab_size': 32000, 'hidden_size': 4096, "
      "'intermediate_size': 11008, 'num_hidden_layers': 32, 'num_attention_heads': "
      "32, 'num_key_value_heads': 32, 'max_position_embeddings': 2048, "
      "'tie_word_embeddings': false, 'attention_bias': false, 'num_local_experts': "
      "8, 'num_experts_per_tok': 2, 'shared_intermediate_size': 0}" },
    { "the shared expert of hunyuan_v1_moe", 43488907264,
      "{'model_type': 'hunyuan_v1_moe', 'vocab_size': 290943, 'hidden_size': 4096, "
      "'intermediate_size': 11008, 'num_hidden_layers': 32, 'num_attention_heads': "
      "32, 'num_key_value_heads': 32, 'head_dim': 128, 'num_experts': 8, 'moe_topk': "
      "2, 'use_qk_norm': true, 'tie_word_embeddings': false}" },
    { "what MistralConfig leaves unsaid", 7241732096,
      "{'model_type': 'mistral', 'vocab_size': 32000, 'hidden_size': 4096, "
      "'intermediate_size': 14336, 'num_hidden_layers': 32, 'num_attention_heads': "
      "32, 'tie_word_embeddings': false}" },
    { "what DeepseekV3Config leaves unsaid", 671026419200,
      "{'model_type': 'deepseek_v3', 'vocab_size': 129280, 'hidden_size': 7168, "
      "'intermediate_size': 18432, 'moe_intermediate_size': 2048, "
      "'num_hidden_layers': 61, 'num_attention_heads': 128, 'n_routed_experts': 256, "
      "'num_experts_per_tok': 8, 'q_lora_rank': 1536, "
      "'kv_lora_rank': 512, 'qk_rope_head_dim': 64, 'qk_nope_head_dim': 128, "
      "'v_head_dim': 128, 'tie_word_embeddings': false}" },
    { "flex_olmo", 33270665216,
      "{'model_type': 'flex_olmo', 'vocab_size': 100352, 'hidden_size': 4096, "
      "'intermediate_size': 11008, 'num_hidden_layers': 32, 'num_attention_heads': "
      "32, 'num_key_value_heads': 32, 'max_position_embeddings': 4096, "
      "'tie_word_embeddings': false, 'attention_bias': false, 'num_experts_per_tok': "
      "5, 'num_experts': 7}" },
    { "vaultgemma", 2614222080,
      "{'model_type': 'vaultgemma', 'vocab_size': 256000, 'hidden_size': 2304, "
      "'intermediate_size': 9216, 'num_hidden_layers': 26, 'num_attention_heads': 8, "
      "'num_key_value_heads': 4, 'head_dim': 256, 'max_position_embeddings': 8192, "
      "'tie_word_embeddings': true, 'attention_bias': false, 'sliding_window': 4096, "
      "'final_logit_softcapping': 30.0, 'attn_logit_softcapping': 50.0}" },
    { "jais2", 8090401280,
      "{'model_type': 'jais2', 'vocab_size': 150272, 'hidden_size': 3328, "
      "'intermediate_size': 26624, 'num_hidden_layers': 32, 'num_attention_heads': "
      "26, 'num_key_value_heads': 26, 'max_position_embeddings': 8192, "
      "'tie_word_embeddings': false, 'attention_bias': true, 'mlp_bias': true, "
      "'head_dim': 128}" },
    { "codegen", 6050882784,
      "{'model_type': 'codegen', 'vocab_size': 50400, 'n_positions': 2048, 'n_embd': "
      "4096, 'n_layer': 28, 'n_head': 16, 'tie_word_embeddings': false}" },
    { "biogpt", 346763264,
      "{'model_type': 'biogpt', 'vocab_size': 42384, 'hidden_size': 1024, "
      "'num_hidden_layers': 24, 'num_attention_heads': 16, 'intermediate_size': "
      "4096, 'max_position_embeddings': 1024, 'tie_word_embeddings': true}" },
    { "xglm", 564463616,
      "{'model_type': 'xglm', 'vocab_size': 256008, 'max_position_embeddings': 2048, "
      "'d_model': 1024, 'ffn_dim': 4096, 'num_layers': 24, 'attention_heads': 16, "
      "'tie_word_embeddings': true}" },
    { "ernie", 109482240,
      "{'model_type': 'ernie', 'vocab_size': 30522, 'hidden_size': 768, "
      "'num_hidden_layers': 12, 'num_attention_heads': 12, 'intermediate_size': "
      "3072, 'max_position_embeddings': 512, 'type_vocab_size': 2, "
      "'task_type_vocab_size': 3, 'tie_word_embeddings': true}" },
    { "megatron-bert", 333640704,
      "{'model_type': 'megatron-bert', 'vocab_size': 29056, 'hidden_size': 1024, "
      "'num_hidden_layers': 24, 'num_attention_heads': 16, 'intermediate_size': "
      "4096, 'max_position_embeddings': 512, 'type_vocab_size': 2, "
      "'tie_word_embeddings': true}" },
    { "roberta-prelayernorm", 124646400,
      "{'model_type': 'roberta-prelayernorm', 'vocab_size': 50265, 'hidden_size': "
      "768, 'num_hidden_layers': 12, 'num_attention_heads': 12, 'intermediate_size': "
      "3072, 'max_position_embeddings': 512, 'type_vocab_size': 2, "
      "'tie_word_embeddings': true}" },
    { "xlm-roberta-xl", 3482485760,
      "{'model_type': 'xlm-roberta-xl', 'vocab_size': 250880, 'hidden_size': 2560, "
      "'num_hidden_layers': 36, 'num_attention_heads': 32, 'intermediate_size': "
      "10240, 'max_position_embeddings': 514, 'type_vocab_size': 1, "
      "'tie_word_embeddings': true}" },
    { "eurobert", 211766016,
      "{'model_type': 'eurobert', 'vocab_size': 128256, 'hidden_size': 768, "
      "'intermediate_size': 3072, 'num_hidden_layers': 12, 'num_attention_heads': "
      "12, 'num_key_value_heads': 12, 'max_position_embeddings': 8192, "
      "'tie_word_embeddings': false, 'attention_bias': false, 'mlp_bias': false, "
      "'head_dim': 64}" },
    { "nomic_bert", 136731648,
      "{'model_type': 'nomic_bert', 'vocab_size': 30528, 'hidden_size': 768, "
      "'num_hidden_layers': 12, 'num_attention_heads': 12, 'intermediate_size': "
      "3072, 'max_position_embeddings': 2048, 'type_vocab_size': 2, 'head_dim': 64}" },
    { "plbart", 139220736,
      "{'model_type': 'plbart', 'vocab_size': 50005, 'max_position_embeddings': "
      "1024, 'encoder_layers': 6, 'encoder_ffn_dim': 3072, "
      "'encoder_attention_heads': 12, 'decoder_layers': 6, 'decoder_ffn_dim': 3072, "
      "'decoder_attention_heads': 12, 'd_model': 768, 'tie_word_embeddings': true}" },
    { "deepseek-v2", 235741434880,
      "{'model_type': 'deepseek_v2', 'num_hidden_layers': 60, "
      "'hidden_size': 5120, 'num_attention_heads': 128, "
      "'num_key_value_heads': 128, 'vocab_size': 102400, "
      "'intermediate_size': 12288, 'moe_intermediate_size': 1536, "
      "'n_routed_experts': 160, 'num_experts_per_tok': 6, "
      "'n_shared_experts': 2, 'first_k_dense_replace': 1, "
      "'q_lora_rank': 1536, 'kv_lora_rank': 512, 'qk_rope_head_dim': "
      "64, 'qk_nope_head_dim': 128, 'v_head_dim': 128, "
      "'max_position_embeddings': 163840, 'tie_word_embeddings': "
      "false, 'moe_layer_freq': 1}" },
    { "deepseek-v2-lite", 15706484224,
      "{'model_type': 'deepseek_v2', 'num_hidden_layers': 27, "
      "'hidden_size': 2048, 'num_attention_heads': 16, "
      "'num_key_value_heads': 16, 'vocab_size': 102400, "
      "'intermediate_size': 10944, 'moe_intermediate_size': 1408, "
      "'n_routed_experts': 64, 'num_experts_per_tok': 6, "
      "'n_shared_experts': 2, 'first_k_dense_replace': 1, "
      "'q_lora_rank': null, 'kv_lora_rank': 512, 'qk_rope_head_dim': "
      "64, 'qk_nope_head_dim': 128, 'v_head_dim': 128, "
      "'max_position_embeddings': 163840}" },
    { "deepseek-v3", 671026419200,
      "{'model_type': 'deepseek_v3', 'num_hidden_layers': 61, "
      "'hidden_size': 7168, 'num_attention_heads': 128, "
      "'num_key_value_heads': 128, 'vocab_size': 129280, "
      "'intermediate_size': 18432, 'moe_intermediate_size': 2048, "
      "'n_routed_experts': 256, 'num_experts_per_tok': 8, "
      "'n_shared_experts': 1, 'first_k_dense_replace': 3, "
      "'q_lora_rank': 1536, 'kv_lora_rank': 512, 'qk_rope_head_dim': "
      "64, 'qk_nope_head_dim': 128, 'v_head_dim': 128, "
      "'max_position_embeddings': 163840, 'tie_word_embeddings': "
      "false}" },
    /* its norms of queries and keys have no weights */
    { "llama 4 scout's language model", 107769861120,
      "{'model_type': 'llama4_text', 'hidden_size': 5120, 'intermediate_size': "
      "8192, 'intermediate_size_mlp': 16384, 'num_hidden_layers': 48, "
      "'num_attention_heads': 40, 'num_key_value_heads': 8, 'head_dim': 128, "
      "'vocab_size': 202048, 'num_local_experts': 16, 'num_experts_per_tok': 1, "
      "'interleave_moe_layer_step': 1, 'use_qk_norm': true}" },
    { "mistral-nemo", 12247782400,
      "{'model_type': 'mistral', 'attention_dropout': 0.0, 'head_dim': 128, "
      "'hidden_act': 'silu', 'hidden_size': 5120, 'intermediate_size': 14336, "
      "'max_position_embeddings': 128000, 'num_attention_heads': 32, "
      "'num_hidden_layers': 40, 'num_key_value_heads': 8, "
      "'sliding_window': null, 'tie_word_embeddings': false, "
      "'vocab_size': 131072}" },
    { "gpt-neox-20b, its own words", 20554567680,
      "{'model_type': 'neox_args', 'num_layers': 44, 'hidden_size': 6144, "
      "'num_attention_heads': 64, 'vocab_size': 50432, 'max_position_embeddings': "
      "2048, 'pos_emb': 'rotary', 'no_weight_tying': true, 'gpt_j_residual': true}" },
    { "llama-2-70b, gpt-neox's words", 68976648192,
      "{'model_type': 'neox_args', 'num_layers': 80, 'hidden_size': 8192, "
      "'num_attention_heads': 64, 'num_kv_heads': 8, 'ffn_hidden_size': 28672, "
      "'vocab_size': 32000, 'max_position_embeddings': 4096, 'pos_emb': 'rotary', "
      "'norm': 'rmsnorm', 'activation': 'swiglu', 'no_weight_tying': true, "
      "'use_bias_in_attn_linear': false, 'use_bias_in_mlp': false}" },
    { "OLMo-7B, its own words", 6888095744,
      "{'model_type': 'olmo_args', 'd_model': 4096, 'n_heads': 32, 'n_layers': 32, "
      "'mlp_hidden_size': 22016, 'weight_tying': false, 'rope': true, "
      "'include_bias': false, 'layer_norm_with_affine': false, 'vocab_size': 50304}" },
    { "OLMo-2-13B, its own words", 13716198400,
      "{'model_type': 'olmo_args', 'd_model': 5120, 'n_heads': 40, 'n_layers': 40, "
      "'mlp_hidden_size': 27648, 'weight_tying': false, 'rope': true, "
      "'include_bias': false, 'layer_norm_type': 'rms', 'attention_layer_norm': true, "
      "'norm_after': true, 'vocab_size': 100352}" },
    { "qwen2-7b", 7615616512,
      "{'model_type': 'qwen2', 'attention_dropout': 0.0, 'hidden_act': 'silu', "
      "'hidden_size': 3584, 'intermediate_size': 18944, "
      "'max_position_embeddings': 131072, 'max_window_layers': 28, "
      "'num_attention_heads': 28, 'num_hidden_layers': 28, "
      "'num_key_value_heads': 4, 'sliding_window': 131072, "
      "'tie_word_embeddings': false, 'use_mrope': false, "
      "'use_sliding_window': false, 'vocab_size': 152064}" },
    { "qwen2.5-0.5b", 494032768,
      "{'model_type': 'qwen2', 'hidden_size': 896, 'intermediate_size': 4864, "
      "'num_hidden_layers': 24, 'num_attention_heads': 14, "
      "'num_key_value_heads': 2, 'vocab_size': 151936, "
      "'max_position_embeddings': 32768, 'max_window_layers': 24, "
      "'sliding_window': 32768, 'use_sliding_window': false, "
      "'tie_word_embeddings': true, 'hidden_act': 'silu'}" },
    { "falcon-40b", 41303293952,
      "{'model_type': 'falcon', 'alibi': false, 'attention_dropout': 0.0, "
      "'bias': false, 'hidden_dropout': 0.0, 'hidden_size': 8192, "
      "'new_decoder_architecture': true, 'num_attention_heads': 128, "
      "'num_hidden_layers': 60, 'num_kv_heads': 8, 'parallel_attn': true, "
      "'vocab_size': 65024}" },
    { "falcon-rw-1b", 1311625216,
      "{'model_type': 'falcon', 'alibi': true, 'bias': true, "
      "'hidden_size': 2048, 'multi_query': false, "
      "'new_decoder_architecture': false, 'num_attention_heads': 32, "
      "'num_hidden_layers': 24, 'parallel_attn': false, 'vocab_size': 50304}" },
    { "pythia-6.9b", 6857302016,
      "{'model_type': 'gpt_neox', 'hidden_act': 'gelu', 'hidden_size': 4096, "
      "'intermediate_size': 16384, 'max_position_embeddings': 2048, "
      "'num_attention_heads': 32, 'num_hidden_layers': 32, "
      "'tie_word_embeddings': false, 'use_parallel_residual': true, "
      "'vocab_size': 50432}" },
    { "starcoder", 15517456384,
      "{'model_type': 'gpt_bigcode', 'activation_function': 'gelu', "
      "'multi_query': true, 'n_embd': 6144, 'n_head': 48, 'n_inner': 24576, "
      "'n_layer': 40, 'n_positions': 8192, 'vocab_size': 49152}" },
    { "gpt-neo-2.7b", 2651307520,
      "{'model_type': 'gpt_neo', 'activation_function': 'gelu_new', "
      "'attention_layers': ['global', 'local', 'global', 'local', 'global', "
      "'local', 'global', 'local', 'global', 'local', 'global', 'local', "
      "'global', 'local', 'global', 'local', 'global', 'local', 'global', "
      "'local', 'global', 'local', 'global', 'local', 'global', 'local', "
      "'global', 'local', 'global', 'local', 'global', 'local'], "
      "'attention_types': [[['global', 'local'], 16]], 'hidden_size': 2560, "
      "'num_layers': 32, 'num_heads': 20, 'intermediate_size': null, "
      "'window_size': 256, 'max_position_embeddings': 2048, "
      "'vocab_size': 50257}" },
    { "opt-125m", 125239296,
      "{'model_type': 'opt', 'activation_function': 'relu', "
      "'attention_dropout': 0.0, 'do_layer_norm_before': true, 'dropout': 0.1, "
      "'ffn_dim': 3072, 'hidden_size': 768, 'max_position_embeddings': 2048, "
      "'num_attention_heads': 12, 'num_hidden_layers': 12, "
      "'vocab_size': 50272, 'word_embed_proj_dim': 768}" },
    { "opt-6.7b", 6658473984,
      "{'model_type': 'opt', '_remove_final_layer_norm': false, "
      "'activation_function': 'relu', 'do_layer_norm_before': true, "
      "'dropout': 0.1, 'ffn_dim': 16384, 'hidden_size': 4096, "
      "'max_position_embeddings': 2048, 'num_attention_heads': 32, "
      "'num_hidden_layers': 32, 'vocab_size': 50272, "
      "'word_embed_proj_dim': 4096}" },
    { "bloom-560m", 559214592,
      "{'model_type': 'bloom', 'hidden_size': 1024, 'n_layer': 24, "
      "'n_head': 16, 'vocab_size': 250880, 'hidden_dropout': 0.0, "
      "'attention_dropout': 0.0}" },
    { "bloom-176b", 176247271424,
      "{'model_type': 'bloom', 'attention_dropout': 0.0, "
      "'hidden_dropout': 0.0, 'n_embed': 14336, 'n_layer': 70, "
      "'num_attention_heads': 112, 'vocab_size': 250880}" },
    { "mpt-7b", 6649286656,
      "{'model_type': 'mpt', 'attn_config': {'alibi': true, 'attn_pdrop': 0}, "
      "'d_model': 4096, 'expansion_ratio': 4, 'learned_pos_emb': true, "
      "'max_seq_len': 2048, 'n_heads': 32, 'n_layers': 32, 'no_bias': true, "
      "'resid_pdrop': 0, 'vocab_size': 50432}" },
    { "mpt-30b", 29957200896,
      "{'model_type': 'mpt', 'attn_config': {'alibi': true, 'attn_pdrop': 0}, "
      "'d_model': 7168, 'expansion_ratio': 4, 'learned_pos_emb': true, "
      "'max_seq_len': 8192, 'n_heads': 64, 'n_layers': 48, 'no_bias': true, "
      "'vocab_size': 50432}" },
    { "phi-2", 2779683840,
      "{'model_type': 'phi', 'attention_dropout': 0.0, "
      "'hidden_act': 'gelu_new', 'hidden_size': 2560, "
      "'intermediate_size': 10240, 'max_position_embeddings': 2048, "
      "'num_attention_heads': 32, 'num_hidden_layers': 32, "
      "'num_key_value_heads': 32, 'qk_layernorm': false, 'resid_pdrop': 0.1, "
      "'tie_word_embeddings': false, 'vocab_size': 51200}" },
    { "phi-3-mini-4k", 3821079552,
      "{'model_type': 'phi3', 'attention_bias': false, "
      "'attention_dropout': 0.0, 'hidden_act': 'silu', 'hidden_size': 3072, "
      "'intermediate_size': 8192, 'max_position_embeddings': 4096, "
      "'num_attention_heads': 32, 'num_hidden_layers': 32, "
      "'num_key_value_heads': 32, 'resid_pdrop': 0.0, 'sliding_window': 2047, "
      "'tie_word_embeddings': false, 'vocab_size': 32064}" },
    { "phi-3-medium", 13960238080,
      "{'model_type': 'phi3', 'hidden_act': 'silu', 'hidden_size': 5120, "
      "'intermediate_size': 17920, 'max_position_embeddings': 4096, "
      "'num_attention_heads': 40, 'num_hidden_layers': 40, "
      "'num_key_value_heads': 10, 'resid_pdrop': 0.0, 'sliding_window': 2047, "
      "'tie_word_embeddings': false, 'vocab_size': 32064}" },
    { "gemma-2b", 2506172416,
      "{'model_type': 'gemma', 'attention_bias': false, 'head_dim': 256, "
      "'hidden_act': 'gelu', 'hidden_activation': 'gelu_pytorch_tanh', "
      "'hidden_size': 2048, 'intermediate_size': 16384, "
      "'max_position_embeddings': 8192, 'num_attention_heads': 8, "
      "'num_hidden_layers': 18, 'num_key_value_heads': 1, "
      "'vocab_size': 256000}" },
    { "gemma-7b", 8537680896,
      "{'model_type': 'gemma', 'head_dim': 256, 'hidden_act': 'gelu', "
      "'hidden_size': 3072, 'intermediate_size': 24576, "
      "'max_position_embeddings': 8192, 'num_attention_heads': 16, "
      "'num_hidden_layers': 28, 'num_key_value_heads': 16, "
      "'vocab_size': 256000}" },
    { "olmo-7b", 6888095744,
      "{'model_type': 'olmo', 'hidden_size': 4096, 'intermediate_size': 11008, "
      "'num_hidden_layers': 32, 'num_attention_heads': 32, "
      "'num_key_value_heads': 32, 'vocab_size': 50304, "
      "'tie_word_embeddings': false, 'hidden_act': 'silu', "
      "'max_position_embeddings': 2048}" },
    { "starcoder2-7b", 7173923840,
      "{'model_type': 'starcoder2', 'hidden_act': 'gelu_pytorch_tanh', "
      "'hidden_size': 4608, 'intermediate_size': 18432, "
      "'max_position_embeddings': 16384, 'num_attention_heads': 36, "
      "'num_hidden_layers': 32, 'num_key_value_heads': 4, "
      "'sliding_window': 4096, 'use_bias': true, 'vocab_size': 49152}" },
    { "stablelm-3b", 2795443200,
      "{'model_type': 'stablelm', 'hidden_size': 2560, "
      "'intermediate_size': 6912, 'num_hidden_layers': 32, "
      "'num_attention_heads': 32, 'num_key_value_heads': 32, "
      "'vocab_size': 50304, 'tie_word_embeddings': false, "
      "'hidden_act': 'silu', 'max_position_embeddings': 4096, "
      "'use_qkv_bias': false}" },
    { "stablelm-2-12b", 12143185920, /* norms of each head's queries and keys */
      "{'model_type': 'stablelm', 'hidden_size': 5120, "
      "'intermediate_size': 13824, 'num_hidden_layers': 40, "
      "'num_attention_heads': 32, 'num_key_value_heads': 8, "
      "'vocab_size': 100352, 'tie_word_embeddings': false, 'hidden_act': 'silu', "
      "'use_parallel_residual': true, 'qk_layernorm': true}" },
    { "granite-8b", 8170848256,
      "{'model_type': 'granite', 'hidden_size': 4096, "
      "'intermediate_size': 12800, 'num_hidden_layers': 40, "
      "'num_attention_heads': 32, 'num_key_value_heads': 8, "
      "'vocab_size': 49155, 'tie_word_embeddings': true, 'hidden_act': 'silu', "
      "'embedding_multiplier': 12, 'logits_scaling': 16, "
      "'residual_multiplier': 0.22, 'attention_multiplier': 0.0078125}" },
    { "cohere-c4ai", 34980831232,
      "{'model_type': 'cohere', 'hidden_size': 8192, "
      "'intermediate_size': 22528, 'num_hidden_layers': 40, "
      "'num_attention_heads': 64, 'num_key_value_heads': 64, "
      "'vocab_size': 256000, 'use_qk_norm': false, 'hidden_act': 'silu'}" },
    { "bart-base", 139420416,
      "{'model_type': 'bart', 'd_model': 768, 'encoder_layers': 6, "
      "'decoder_layers': 6, 'encoder_attention_heads': 12, "
      "'decoder_attention_heads': 12, 'encoder_ffn_dim': 3072, "
      "'decoder_ffn_dim': 3072, 'vocab_size': 50265, 'max_position_embeddings': 1024}" },
    { "mbart-large-50", 610879488,
      "{'model_type': 'mbart', 'd_model': 1024, 'encoder_layers': 12, "
      "'decoder_layers': 12, 'encoder_attention_heads': 16, "
      "'decoder_attention_heads': 16, 'encoder_ffn_dim': 4096, "
      "'decoder_ffn_dim': 4096, 'vocab_size': 250054, 'max_position_embeddings': 1024}" },
    { "pegasus-xsum, without its sinusoids", 568699904,
      "{'model_type': 'pegasus', 'd_model': 1024, 'encoder_layers': 16, "
      "'decoder_layers': 16, 'encoder_attention_heads': 16, "
      "'decoder_attention_heads': 16, 'encoder_ffn_dim': 4096, "
      "'decoder_ffn_dim': 4096, 'vocab_size': 96103}" },
    { "opus-mt-en-de, likewise", 73886208,
      "{'model_type': 'marian', 'd_model': 512, 'encoder_layers': 6, "
      "'decoder_layers': 6, 'encoder_attention_heads': 8, "
      "'decoder_attention_heads': 8, 'encoder_ffn_dim': 2048, "
      "'decoder_ffn_dim': 2048, 'vocab_size': 58101}" },
    { "nllb-200-distilled-600M", 615073792,
      "{'model_type': 'm2m_100', 'd_model': 1024, 'encoder_layers': 12, "
      "'decoder_layers': 12, 'encoder_attention_heads': 16, "
      "'decoder_attention_heads': 16, 'encoder_ffn_dim': 4096, "
      "'decoder_ffn_dim': 4096, 'vocab_size': 256206}" },
    { "dinov2-base, without 18,432 scales and a mask", 86580480 - 18432 - 768,
      "{'model_type': 'dinov2', 'hidden_size': 768, 'num_hidden_layers': 12, "
      "'num_attention_heads': 12, 'mlp_ratio': 4, 'image_size': 518, "
      "'patch_size': 14}" },
    { "mt5-base", 582401280,
      "{'model_type': 'mt5', 'd_ff': 2048, 'd_kv': 64, 'd_model': 768, "
      "'feed_forward_proj': 'gated-gelu', 'num_decoder_layers': 12, "
      "'num_heads': 12, 'num_layers': 12, "
      "'relative_attention_num_buckets': 32, 'tie_word_embeddings': false, "
      "'vocab_size': 250112}" },
    { "flan-t5-base", 247577856,
      "{'model_type': 't5', 'd_ff': 2048, 'd_kv': 64, 'd_model': 768, "
      "'feed_forward_proj': 'gated-gelu', 'num_decoder_layers': 12, "
      "'num_heads': 12, 'num_layers': 12, "
      "'relative_attention_num_buckets': 32, 'tie_word_embeddings': false, "
      "'vocab_size': 32128}" },
    { "mistral-7b", 7241732096,
      "{'model_type': 'mistral', 'hidden_act': 'silu', 'hidden_size': 4096, "
      "'intermediate_size': 14336, 'max_position_embeddings': 32768, "
      "'num_attention_heads': 32, 'num_hidden_layers': 32, "
      "'num_key_value_heads': 8, 'sliding_window': 4096, "
      "'tie_word_embeddings': false, 'vocab_size': 32000}" },
    { "mixtral-8x22b", 140620634112,
      "{'model_type': 'mixtral', 'hidden_size': 6144, "
      "'intermediate_size': 16384, 'num_hidden_layers': 56, "
      "'num_attention_heads': 48, 'num_key_value_heads': 8, "
      "'num_local_experts': 8, 'num_experts_per_tok': 2, 'vocab_size': 32000, "
      "'max_position_embeddings': 65536, 'sliding_window': null, "
      "'tie_word_embeddings': false, 'hidden_act': 'silu'}" },
    { "qwen2.5-72b", 72706203648,
      "{'model_type': 'qwen2', 'hidden_size': 8192, "
      "'intermediate_size': 29568, 'num_hidden_layers': 80, "
      "'num_attention_heads': 64, 'num_key_value_heads': 8, "
      "'vocab_size': 152064, 'max_position_embeddings': 131072, "
      "'max_window_layers': 80, 'sliding_window': 131072, "
      "'use_sliding_window': false, 'tie_word_embeddings': false, "
      "'hidden_act': 'silu'}" },
    { "qwen3-0.6b", 596049920,
      "{'model_type': 'qwen3', 'head_dim': 128, 'hidden_act': 'silu', "
      "'hidden_size': 1024, 'intermediate_size': 3072, "
      "'max_position_embeddings': 40960, 'max_window_layers': 28, "
      "'num_attention_heads': 16, 'num_hidden_layers': 28, "
      "'num_key_value_heads': 8, 'sliding_window': null, "
      "'tie_word_embeddings': true, 'use_sliding_window': false, "
      "'vocab_size': 151936}" },
    { "qwen3-8b", 8190735360,
      "{'model_type': 'qwen3', 'attention_bias': false, "
      "'attention_dropout': 0.0, 'head_dim': 128, 'hidden_act': 'silu', "
      "'hidden_size': 4096, 'intermediate_size': 12288, "
      "'max_position_embeddings': 40960, 'max_window_layers': 36, "
      "'num_attention_heads': 32, 'num_hidden_layers': 36, "
      "'num_key_value_heads': 8, 'sliding_window': null, "
      "'tie_word_embeddings': false, 'use_sliding_window': false, "
      "'vocab_size': 151936}" },
    { "qwen3-30b-a3b", 30532122624,
      "{'model_type': 'qwen3_moe', 'attention_bias': false, "
      "'decoder_sparse_step': 1, 'head_dim': 128, 'hidden_act': 'silu', "
      "'hidden_size': 2048, 'intermediate_size': 6144, "
      "'max_position_embeddings': 40960, 'max_window_layers': 48, "
      "'mlp_only_layers': [], 'moe_intermediate_size': 768, "
      "'num_attention_heads': 32, 'num_experts': 128, "
      "'num_experts_per_tok': 8, 'num_hidden_layers': 48, "
      "'num_key_value_heads': 4, 'sliding_window': null, "
      "'tie_word_embeddings': false, 'use_sliding_window': false, "
      "'vocab_size': 151936}" },
    { "qwen3-235b-a22b", 235093634560,
      "{'model_type': 'qwen3_moe', 'decoder_sparse_step': 1, 'head_dim': 128, "
      "'hidden_act': 'silu', 'hidden_size': 4096, 'intermediate_size': 12288, "
      "'max_position_embeddings': 40960, 'max_window_layers': 94, "
      "'mlp_only_layers': [], 'moe_intermediate_size': 1536, "
      "'num_attention_heads': 64, 'num_experts': 128, "
      "'num_experts_per_tok': 8, 'num_hidden_layers': 94, "
      "'num_key_value_heads': 4, 'tie_word_embeddings': false, "
      "'use_sliding_window': false, 'sliding_window': null, "
      "'vocab_size': 151936}" },
    { "qwen1.5-moe-a2.7b", 14315784192,
      "{'model_type': 'qwen2_moe', 'decoder_sparse_step': 1, "
      "'hidden_act': 'silu', 'hidden_size': 2048, 'intermediate_size': 5632, "
      "'max_position_embeddings': 8192, 'max_window_layers': 21, "
      "'moe_intermediate_size': 1408, 'num_attention_heads': 16, "
      "'num_experts': 60, 'num_experts_per_tok': 4, 'num_hidden_layers': 24, "
      "'num_key_value_heads': 16, 'shared_expert_intermediate_size': 5632, "
      "'sliding_window': 32768, 'tie_word_embeddings': false, "
      "'use_sliding_window': false, 'vocab_size': 151936}" },
    { "a qwen2_moe without biases", 14315784192 - 24 * 3 * 2048,
      "{'model_type': 'qwen2_moe', 'decoder_sparse_step': 1, "
      "'hidden_act': 'silu', 'hidden_size': 2048, 'intermediate_size': 5632, "
      "'max_position_embeddings': 8192, 'max_window_layers': 21, "
      "'moe_intermediate_size': 1408, 'num_attention_heads': 16, "
      "'num_experts': 60, 'num_experts_per_tok': 4, 'num_hidden_layers': 24, "
      "'num_key_value_heads': 16, 'shared_expert_intermediate_size': 5632, "
      "'sliding_window': 32768, 'tie_word_embeddings': false, "
      "'use_sliding_window': false, 'qkv_bias': false, "
      "'vocab_size': 151936}" },
    { "gemma-2-2b", 2614341888,
      "{'model_type': 'gemma2', 'attention_bias': false, "
      "'attention_dropout': 0.0, 'attn_logit_softcapping': 50.0, "
      "'final_logit_softcapping': 30.0, 'head_dim': 256, "
      "'hidden_act': 'gelu_pytorch_tanh', "
      "'hidden_activation': 'gelu_pytorch_tanh', 'hidden_size': 2304, "
      "'intermediate_size': 9216, 'max_position_embeddings': 8192, "
      "'num_attention_heads': 8, 'num_hidden_layers': 26, "
      "'num_key_value_heads': 4, 'sliding_window': 4096, "
      "'vocab_size': 256000}" },
    { "gemma-2-9b", 9241705984,
      "{'model_type': 'gemma2', 'attn_logit_softcapping': 50.0, "
      "'final_logit_softcapping': 30.0, 'head_dim': 256, "
      "'hidden_act': 'gelu_pytorch_tanh', "
      "'hidden_activation': 'gelu_pytorch_tanh', 'hidden_size': 3584, "
      "'intermediate_size': 14336, 'max_position_embeddings': 8192, "
      "'num_attention_heads': 16, 'num_hidden_layers': 42, "
      "'num_key_value_heads': 8, 'sliding_window': 4096, "
      "'sliding_window_size': 4096, 'vocab_size': 256000}" },
    { "gemma-2-27b", 27227128320,
      "{'model_type': 'gemma2', 'attn_logit_softcapping': 50.0, "
      "'final_logit_softcapping': 30.0, 'head_dim': 128, "
      "'hidden_activation': 'gelu_pytorch_tanh', 'hidden_size': 4608, "
      "'intermediate_size': 36864, 'max_position_embeddings': 8192, "
      "'num_attention_heads': 32, 'num_hidden_layers': 46, "
      "'num_key_value_heads': 16, 'sliding_window': 4096, "
      "'vocab_size': 256000}" },
    { "gemma-3-1b", 999885952,
      "{'model_type': 'gemma3_text', 'attention_bias': false, "
      "'attention_dropout': 0.0, 'attn_logit_softcapping': null, "
      "'final_logit_softcapping': null, 'head_dim': 256, "
      "'hidden_activation': 'gelu_pytorch_tanh', 'hidden_size': 1152, "
      "'intermediate_size': 6912, 'max_position_embeddings': 32768, "
      "'num_attention_heads': 4, 'num_hidden_layers': 26, "
      "'num_key_value_heads': 1, 'sliding_window': 512, "
      "'sliding_window_pattern': 6, 'vocab_size': 262144}" },
    { "gpt-oss-20b", 20914757184,
      "{'model_type': 'gpt_oss', 'attention_bias': true, "
      "'attention_dropout': 0.0, 'experts_per_token': 4, 'head_dim': 64, "
      "'hidden_act': 'silu', 'hidden_size': 2880, 'intermediate_size': 2880, "
      "'layer_types': ['sliding_attention', 'full_attention', "
      "'sliding_attention', 'full_attention', 'sliding_attention', "
      "'full_attention', 'sliding_attention', 'full_attention', "
      "'sliding_attention', 'full_attention', 'sliding_attention', "
      "'full_attention', 'sliding_attention', 'full_attention', "
      "'sliding_attention', 'full_attention', 'sliding_attention', "
      "'full_attention', 'sliding_attention', 'full_attention', "
      "'sliding_attention', 'full_attention', 'sliding_attention', "
      "'full_attention'], 'max_position_embeddings': 131072, "
      "'num_attention_heads': 64, 'num_experts_per_tok': 4, "
      "'num_hidden_layers': 24, 'num_key_value_heads': 8, "
      "'num_local_experts': 32, 'sliding_window': 128, "
      "'tie_word_embeddings': false, 'vocab_size': 201088}" },
    { "gpt-oss-120b", 116829156672,
      "{'model_type': 'gpt_oss', 'attention_bias': true, "
      "'experts_per_token': 4, 'head_dim': 64, 'hidden_act': 'silu', "
      "'hidden_size': 2880, 'intermediate_size': 2880, "
      "'layer_types': ['sliding_attention', 'full_attention', "
      "'sliding_attention', 'full_attention', 'sliding_attention', "
      "'full_attention', 'sliding_attention', 'full_attention', "
      "'sliding_attention', 'full_attention', 'sliding_attention', "
      "'full_attention', 'sliding_attention', 'full_attention', "
      "'sliding_attention', 'full_attention', 'sliding_attention', "
      "'full_attention', 'sliding_attention', 'full_attention', "
      "'sliding_attention', 'full_attention', 'sliding_attention', "
      "'full_attention', 'sliding_attention', 'full_attention', "
      "'sliding_attention', 'full_attention', 'sliding_attention', "
      "'full_attention', 'sliding_attention', 'full_attention', "
      "'sliding_attention', 'full_attention', 'sliding_attention', "
      "'full_attention'], 'num_attention_heads': 64, 'num_experts_per_tok': 4, "
      "'num_hidden_layers': 36, 'num_key_value_heads': 8, "
      "'num_local_experts': 128, 'sliding_window': 128, "
      "'tie_word_embeddings': false, 'vocab_size': 201088}" },
    { "olmo2-7b", 7298617344,
      "{'model_type': 'olmo2', 'hidden_size': 4096, "
      "'intermediate_size': 11008, 'num_hidden_layers': 32, "
      "'num_attention_heads': 32, 'num_key_value_heads': 32, "
      "'vocab_size': 100352, 'tie_word_embeddings': false, "
      "'hidden_act': 'silu', 'max_position_embeddings': 4096}" },
};
/* clang-format on */

static int read_text(struct model *m, struct cfg_loader *loader, const char *text)
{
    cfg_loader_init(loader);
    return model_read(m, loader, cfg_parse(loader, "f", text, strlen(text)));
}

/* What a file says that makes no other sizes, and is said: so many warnings. */
static void test_said(void)
{
#define TINY                                                                 \
    "'hidden_size': 256, 'intermediate_size': 512, 'num_hidden_layers': 4, " \
    "'num_attention_heads': 4, 'vocab_size': 1000}"
    static const struct {
        const char *file, *part; /* NULL: nothing is said */
    } cases[] = {
        { "{'model_type': 'llama', " TINY, NULL },
        { "{'model_type': 'llama', 'quantization_config': {'quant_method': "
          "'gptq'}, " TINY,
          "format (gptq) is not taken" },
        { "{'model_type': 'llama', 'auto_map': {'AutoModelForCausalLM': "
          "'modeling_mine.MineForCausalLM'}, " TINY,
          "is code of the model's own" },
        { "{'model_type': 'llama', 'auto_map': {'AutoModelForCausalLM': "
          "'modeling_llama.LlamaForCausalLM'}, " TINY,
          NULL },
        { "{'model_type': 'llama', 'mystery': 3, " TINY, "mystery" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL(read_text(&m, &loader, cases[i].file), 0);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_warnings, cases[i].part != NULL);
        if (cases[i].part)
            CU_ASSERT_PTR_NOT_NULL(strstr(loader.diags.v[0].text, cases[i].part));
        cfg_loader_release(&loader);
    }
}

static void test_published(void)
{
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL(read_text(&m, &loader, published[i].file), 0);
        int64_t n = model_parameters(&m);
        if (n != published[i].parameters)
            printf("%s: %lld\n", published[i].name, (long long)n);
        CU_ASSERT_EQUAL(n, published[i].parameters);
        cfg_loader_release(&loader);
    }
}

/* A sequence of 8,192: windows leave keys out, in the layers that have them alone. */
static void check_left_out(const struct model *m, int64_t layers)
{
    struct model whole = *m;
    double s = 8192, w = (double)m->attention.window, heads = 4 * 16;
    double keys = w > 0 ? s / 2 - (w - w * w / (2 * s)) : 0;
    double more = 3 * 2 * (double)layers * 2 * heads * s * keys;
    whole.attention.window = 0;
    whole.attention.windowed_share = 0;
    double all = model_flops_per_sample(&whole, 8192, 0, true);
    CU_ASSERT_DOUBLE_EQUAL(model_flops_per_sample(m, 8192, 0, true), all - more,
                           1e-9 * all);
}

/* Windows: which layers have them, by family and file. */
static void test_windows(void)
{
#define SIZES                                                              \
    "'num_hidden_layers': 6, 'hidden_size': 64, 'num_attention_heads': 4," \
    " 'intermediate_size': 256, 'vocab_size': 100, 'head_dim': 16"
#define MOE                                                                 \
    "'moe_intermediate_size': 64, 'n_routed_experts': 8, 'num_experts': 8," \
    " 'num_experts_per_tok': 2, 'num_key_value_heads': 2"
    static const struct {
        const char *file;
        int64_t window, layers;
    } cases[] = {
        { "{'model_type': 'mistral', " SIZES "}", 4096, 6 },
        { "{'model_type': 'mistral', " SIZES ", 'sliding_window': None}", 0, 0 },
        { "{'model_type': 'qwen2', " SIZES ", 'sliding_window': 64}", 0, 0 },
        { "{'model_type': 'qwen2', " SIZES ", 'use_sliding_window': True,"
          " 'sliding_window': 64, 'max_window_layers': 4}",
          64, 2 },
        { "{'model_type': 'gemma2', " SIZES "}", 4096, 3 },
        { "{'model_type': 'exaone_moe', " SIZES ", " MOE ", 'sliding_window': 128}",
          128, 5 },
        { "{'model_type': 'dots1', " SIZES ", " MOE ", 'sliding_window': None}", 0, 0 },
        { "{'model_type': 'gemma3_text', " SIZES ", 'sliding_window': 512}", 512, 5 },
        { "{'model_type': 'gemma3_text', " SIZES ", 'layer_types':"
          " ['sliding_attention', 'full_attention', 'full_attention',"
          "  'sliding_attention', 'full_attention', 'full_attention']}",
          4096, 2 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL(read_text(&m, &loader, cases[i].file), 0);
        CU_ASSERT_EQUAL(m.attention.window, cases[i].window);
        CU_ASSERT_EQUAL(llround(m.attention.windowed_share * (double)m.layers),
                        cases[i].layers);
        check_left_out(&m, cases[i].layers);
        cfg_loader_release(&loader);
    }
}

static const struct op *find_op(const struct op_list *list, const char *name)
{
    for (int32_t i = 0; i < list->n_blocks; i++)
        for (int32_t j = 0; j < list->blocks[i].n_forward; j++)
            if (strcmp(list->blocks[i].forward[j].name, name) == 0)
                return &list->blocks[i].forward[j];
    return NULL;
}

static void make_list(struct op_list *list, struct cfg_loader *loader, const char *file,
                      enum op_attention attention)
{
    static const struct framework plain = { .name = "plain",
                                            .kernels.fused_norm = true };
    struct op_settings s = { .batch = 1,
                             .sequence = 1024,
                             .precision = OP_BF16,
                             .attention = attention,
                             .framework = &plain,
                             .tensor = 1 };
    struct model m;
    struct err err = { 0 };
    CU_ASSERT_EQUAL_FATAL(read_text(&m, loader, file), 0);
    struct model *kept = ARENA_ARRAY(&loader->arena, 1, struct model);
    *kept = m;
    CU_ASSERT_EQUAL_FATAL(op_list_make(list, &loader->arena, kept, &s, &err), 0);
}

/* Small, of two kinds of layers. */
#define LATENT                                                                 \
    "{'model_type': 'deepseek_v2', 'num_hidden_layers': 3, 'hidden_size': 64," \
    " 'num_attention_heads': 4, 'vocab_size': 512, 'intermediate_size': 192,"  \
    " 'moe_intermediate_size': 32, 'n_routed_experts': 8,"                     \
    " 'num_experts_per_tok': 2, 'n_shared_experts': 2, 'kv_lora_rank': 16,"    \
    " 'qk_rope_head_dim': 8, 'v_head_dim': 8, "
#define LATENT_OF(first_dense) \
    LATENT "'first_k_dense_replace': " first_dense ", 'qk_nope_head_dim': 16, "

/* A token's multiply-adds, by hand: queries, compressed keys and values with the rotary
 * key, keys and values, output; MLP. Attention over 1024 / 2 keys of 24 + 8 columns. */
static void test_latent(void)
{
    static const struct {
        const char *file;
        double queries;
    } cases[] = {
        { LATENT_OF("1") "'q_lora_rank': null}", 64 * 4 * 24 },
        { LATENT_OF("1") "'q_lora_rank': 32}", 64 * 32 + 32 * 4 * 24 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct op_list list;
        struct model m;
        double keys = 64 * (16 + 8) + 16 * 4 * (16 + 8);
        double attention = cases[i].queries + keys + 4 * 8 * 64 + 4 * 512 * (24 + 8);
        double dense = 3 * 64 * 192, experts = 3 * 64 * (2 * 32 + 64) + 64 * 8;
        double token = 3 * attention + dense + 2 * experts + 64 * 512;
        make_list(&list, &loader, cases[i].file, OP_ATTENTION_FLASH);
        CU_ASSERT_DOUBLE_EQUAL(op_list_flops(&list, false), 2 * 1024 * token, 1);
        CU_ASSERT_STRING_EQUAL(list.blocks[1].name, "dense_layer");
        CU_ASSERT_EQUAL(list.blocks[1].repeat, 1);
        CU_ASSERT_EQUAL(list.blocks[2].repeat, 2);
        cfg_loader_release(&loader);
        CU_ASSERT_EQUAL(read_text(&m, &loader, cases[i].file), 0);
        CU_ASSERT_DOUBLE_EQUAL(model_flops_per_sample(&m, 1024, 0, true),
                               3 * 2 * 1024 * token, 1);
        cfg_loader_release(&loader);
    }
}

static const struct op_block *find_block(const struct op_list *list, const char *name)
{
    for (int32_t i = 0; i < list->n_blocks; i++)
        if (strcmp(list->blocks[i].name, name) == 0)
            return &list->blocks[i];
    return NULL;
}

#define BART_SIZES                                                                     \
    "'d_model': 64, 'encoder_layers': 3, 'decoder_layers': 2, 'encoder_ffn_dim': 256," \
    " 'encoder_attention_heads': 4, 'vocab_size': 512}"

/* Of 1,024 tokens: a decoder's token has the keys of all of the encoder's, and of half
 * of its own; without a norm at its end the encoder's result is kept as it is. */
static void test_decoders(void)
{
    static const char *const files[] = { "{'model_type': 'bart', " BART_SIZES,
                                         "{'model_type': 'mbart', " BART_SIZES };
    double project = 4 * 64 * 64, mlp = 2 * 64 * 256, keys = 2 * 64 * 1024;
    double encoder = project + keys + mlp;
    double decoder = 2 * project + keys / 2 + keys + mlp;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct cfg_loader loader;
        struct op_list list;
        make_list(&list, &loader, files[i], OP_ATTENTION_FLASH);
        CU_ASSERT_DOUBLE_EQUAL(op_list_flops(&list, false),
                               2 * 1024 * (3 * encoder + 2 * decoder + 64 * 512), 1);
        const struct op_block *words = find_block(&list, "decoder_embedding");
        CU_ASSERT_PTR_NOT_NULL_FATAL(words);
        int64_t norms = i == 0 ? 2 * 64 : 2 * 2 * 64;
        CU_ASSERT_EQUAL(op_block_parameters(words), 1026 * 64 + norms);
        CU_ASSERT(op_block_kept_B(words) >= 2 * 1024 * 64 * 2);
        cfg_loader_release(&loader);
    }
}

/* Whisper: frames of the encoder; words, positions and the tie are its decoder's. */
static void test_sounds(void)
{
    static const struct framework plain = { .name = "plain",
                                            .kernels.fused_norm = true };
    struct op_settings s = { .batch = 2,
                             .sequence = 1500,
                             .decoder = 100,
                             .precision = OP_BF16,
                             .framework = &plain,
                             .tensor = 1 };
    struct cfg_loader loader;
    struct op_list list;
    struct model m;
    struct err err = { 0 };
    double stem = 3 * (80 + 64) * 64, project = 4 * 64 * 64, mlp = 2 * 64 * 256;
    CU_ASSERT_EQUAL_FATAL(
        read_text(&m, &loader, "{'model_type': 'whisper', " BART_SIZES), 0);
    CU_ASSERT_EQUAL_FATAL(op_list_make(&list, &loader.arena, &m, &s, &err), 0);
    double frames = 1500 * (stem + 3 * (project + mlp + 2 * 64 * 1500));
    double words = 100 * (2 * (project + mlp + 2 * 64 * 100)) + /* scores not halved */
                   2 * (2 * 100 + 2 * 1500) * 64 * 64 + 2 * 2 * 64 * 100 * 1500 +
                   100 * 64 * 512;
    CU_ASSERT_DOUBLE_EQUAL(op_list_flops(&list, false), 2 * 2 * (frames + words), 1);
    CU_ASSERT_DOUBLE_EQUAL(model_flops_per_sample(&m, 1500, 100, false),
                           3 * 2 * (frames + words), 1);
    CU_ASSERT_EQUAL(op_block_parameters(find_block(&list, "embedding")),
                    3 * (80 + 64) * 64 + 64 + 1500 * 64); /* and frozen positions */
    CU_ASSERT_EQUAL(op_block_parameters(find_block(&list, "decoder_embedding")),
                    (512 + 448) * 64 + 2 * 64);
    s.decoder = 449;
    CU_ASSERT_EQUAL(op_list_make(&list, &loader.arena, &m, &s, &err), -1);
    s.decoder = 0;
    CU_ASSERT_EQUAL(op_list_make(&list, &loader.arena, &m, &s, &err), -1);
    cfg_loader_release(&loader);
}

/* A file may say that more layers have no experts than there are. */
static void test_no_experts(void)
{
    static const char *const files[] = {
        LATENT_OF("3") "'q_lora_rank': 32}",
        LATENT_OF("9999") "'q_lora_rank': 32}",
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL(read_text(&m, &loader, files[i]), 0);
        CU_ASSERT_EQUAL(m.layers, 3);
        CU_ASSERT_EQUAL(m.mlp.dense_layers, 0);
        CU_ASSERT_EQUAL(m.mlp.experts, 0);
        CU_ASSERT_EQUAL(m.mlp.width, 192);
        cfg_loader_release(&loader);
    }
}

/* Scores that a window leaves, of all and of every other layer (MODEL.md, 2.1), and the
 * time of the kernel (3.14). */
static void test_window_costs(void)
{
    static const struct {
        const char *file;
        double share; /* of the causal scores */
    } cases[] = {
        { "{'model_type': 'mistral', " SIZES ", 'sliding_window': 1024}", 1 },
        { "{'model_type': 'mistral', " SIZES ", 'sliding_window': 256}", 0.4375 },
        { "{'model_type': 'gemma2', " SIZES ", 'sliding_window': 256}", 0.71875 },
    };
    struct cfg_loader loader;
    double full_s = 0;
    cfg_loader_init(&loader);
    const struct gpu *gpu = gpu_get(&loader, "H100-SXM5-80GB", (struct cfg) { 0 });
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader each;
        struct op_list list;
        make_list(&list, &each, cases[i].file, OP_ATTENTION_FLASH);
        const struct op *flash = find_op(&list, "flash");
        CU_ASSERT_PTR_NOT_NULL_FATAL(flash);
        CU_ASSERT_DOUBLE_EQUAL(flash->flops, cases[i].share * 2 * 1024 * 1024 * 16 * 4,
                               1e-3);
        double t = kernel_op_s(gpu, flash, 1, kernel_alone);
        if (i == 0)
            full_s = t;
        CU_ASSERT(i == 0 ? t > 0 : t < full_s);
        cfg_loader_release(&each);
    }
    cfg_loader_release(&loader);
}

/* Kernels that a design adds, and which attention has them. */
static void test_designs(void)
{
    static const struct {
        const char *file, *op;
        bool flash, unfused;
    } cases[] = {
        { "{'model_type': 'qwen3', " SIZES "}", "query_norm", true, true },
        { "{'model_type': 'gemma2', " SIZES "}", "attention_softcap", false, true },
        { "{'model_type': 'gemma2', " SIZES "}", "logit_softcap", true, true },
        { "{'model_type': 'gemma2', " SIZES "}", "result_norm2", true, true },
        { "{'model_type': 'gemma3_text', " SIZES "}", "attention_softcap", false,
          false },
        { "{'model_type': 'olmo2', " SIZES "}", "result_norm1", true, true },
        { "{'model_type': 'olmo2', " SIZES "}", "norm1", false, false },
        { "{'model_type': 'llama', " SIZES "}", "query_norm", false, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int flash = 0; flash < 2; flash++) {
            struct cfg_loader loader;
            struct op_list list;
            make_list(&list, &loader, cases[i].file,
                      flash ? OP_ATTENTION_FLASH : OP_ATTENTION_UNFUSED);
            bool has = find_op(&list, cases[i].op) != NULL;
            CU_ASSERT_EQUAL(has, flash ? cases[i].flash : cases[i].unfused);
            cfg_loader_release(&loader);
        }
}

/* What is refused says why. */
/* Layers with and without experts in turn: which they are counts, not where. */
static void test_interleaved(void)
{
#define QWEN                                                                  \
    "{'model_type': 'qwen2_moe', 'num_experts': 4, 'num_experts_per_tok': 2," \
    " 'moe_intermediate_size': 64, 'shared_expert_intermediate_size': 32, " SIZES ", "
    static const struct {
        const char *file;
        int64_t dense;
        int warnings;
    } cases[] = {
        { QWEN "'mlp_only_layers': []}", 0, 0 },
        { QWEN "'mlp_only_layers': [0]}", 1, 0 },
        { QWEN "'mlp_only_layers': [0, 3]}", 2, 1 },
        { QWEN "'decoder_sparse_step': 2}", 3, 1 },
        { QWEN "'mlp_only_layers': [1, 2], 'decoder_sparse_step': 2}", 4, 1 },
        { LATENT_OF("1") "'moe_layer_freq': 2}", -1, 1 },
    };
    int64_t last = INT64_MAX;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        CU_ASSERT_EQUAL(loader.diags.n_warnings, cases[i].warnings);
        if (cases[i].dense >= 0) {
            CU_ASSERT_EQUAL(m.mlp.dense_layers, cases[i].dense);
            /* an MLP of 256 columns holds less than four experts of 64 and a fifth */
            CU_ASSERT(model_parameters(&m) < last);
            last = model_parameters(&m);
        }
        cfg_loader_release(&loader);
    }
}

/* What the sizes do not hold is said. */
/* ModernBERT: 4 of 6 layers attend to windows, whose keys are on both sides. */
static void test_two_sided_windows(void)
{
    struct cfg_loader loader, made;
    struct op_list list;
    struct model m;
    static const char file[] = "{'model_type': 'modernbert', " SIZES "}";
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, file), 0);
    CU_ASSERT_EQUAL(llround(m.attention.windowed_share * 6), 4);
    struct model whole = m;
    whole.attention.window = 0;
    whole.attention.windowed_share = 0;
    CU_ASSERT_DOUBLE_EQUAL(model_flops_per_sample(&whole, 1024, 0, true) -
                               model_flops_per_sample(&m, 1024, 0, true),
                           6.0 * 4 * 2 * 64 * 1024 * (1024 - 128), 1);
    make_list(&list, &made, file, OP_ATTENTION_FLASH);
    CU_ASSERT_DOUBLE_EQUAL(op_list_flops(&list, false) /
                               (model_flops_per_sample(&m, 1024, 0, true) / 3),
                           1, 1e-9);
    cfg_loader_release(&made);
    cfg_loader_release(&loader);
}

/* Words of fewer columns than the layers: by hand what they have less, the products that
 * make up for it, and that the operators' FLOPs are the model's. */
static void test_word_columns(void)
{
    static const struct {
        const char *file;
        int64_t less, more;
    } cases[] = {
        { "{'model_type': 'opt', 'num_hidden_layers': 3, 'hidden_size': 64, "
          "'num_attention_heads': 4, 'ffn_dim': 256, 'vocab_size': 500, "
          "'do_layer_norm_before': false, 'max_position_embeddings': 1024",
          500 * 48, 2 * 16 * 64 },
        { "{'model_type': 'electra', 'num_hidden_layers': 3, 'hidden_size': 64, "
          "'num_attention_heads': 4, 'intermediate_size': 256, 'vocab_size': 500, "
          "'max_position_embeddings': 1024, 'type_vocab_size': 2",
          (500 + 1024 + 2 + 2) * 48, 16 * 64 + 64 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static const char *const keys[] = { "word_embed_proj_dim", "embedding_size" };
        struct cfg_loader loaders[2], made;
        struct op_list list;
        struct model m[2];
        for (int k = 0; k < 2; k++) {
            char text[500];
            snprintf(text, sizeof(text), "%s, '%s': %d}", cases[i].file, keys[i],
                     k ? 16 : 64);
            CU_ASSERT_EQUAL_FATAL(read_text(&m[k], &loaders[k], text), 0);
            make_list(&list, &made, text, OP_ATTENTION_FLASH);
            CU_ASSERT_DOUBLE_EQUAL(
                op_list_flops(&list, false) /
                    (model_flops_per_sample(&m[k], 1024, 0, true) / 3),
                1, 1e-9);
            if (m[k].ends.head == MODEL_HEAD_CAUSAL_LM) /* no classes' in addition */
                CU_ASSERT_EQUAL(op_list_parameters(&list), model_parameters(&m[k]));
            cfg_loader_release(&made);
        }
        CU_ASSERT_EQUAL(model_parameters(&m[0]) - model_parameters(&m[1]),
                        cases[i].less - cases[i].more);
        cfg_loader_release(&loaders[0]);
        cfg_loader_release(&loaders[1]);
    }
}

/* Stacks of other widths side by side: products sum to the model's FLOPs, and each block's
 * stream is as wide as its own stack. */
static void test_widths(void)
{
    static const struct {
        const char *file, *block, *other;
        int64_t columns, others, tokens;
    } cases[] = {
        { "{'model_type': 'swin', 'embed_dim': 96, 'depths': [2, 2], 'num_heads': [3, "
          "6], "
          "'window_size': 8, 'image_size': 128, 'mlp_ratio': 4.0}",
          "stage1_layer", "stage2_layer", 96, 192, 1024 },
        { TROCR_OF("'cross_attention_hidden_size': 768, "
                   "'use_learned_position_embeddings': false, "),
          "layer", "vision_layer", 1024, 768, 1024 },
        { UNEVEN, "decoder_layer", "layer", 2304, 3584, 1024 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader, made;
        struct op_list list;
        struct model m;
        int found = 0;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        make_list(&list, &made, cases[i].file, OP_ATTENTION_UNFUSED);
        double model = model_flops_per_sample(&m, 1024, 0, false) / 3;
        CU_ASSERT_DOUBLE_EQUAL(op_list_flops(&list, false) / model, 1, 2e-3);
        for (int32_t k = 0; k < list.n_blocks; k++) {
            const struct op_block *b = &list.blocks[k];
            if (strcmp(b->name, cases[i].block) == 0) {
                CU_ASSERT_EQUAL(b->columns, cases[i].columns);
                CU_ASSERT_EQUAL(b->tokens, cases[i].tokens);
                found++;
            } else if (strcmp(b->name, cases[i].other) == 0) {
                CU_ASSERT_EQUAL(b->columns, cases[i].others);
                found++;
            }
        }
        CU_ASSERT_EQUAL(found, 2);
        CU_ASSERT(model_is_whole(&m));
        cfg_loader_release(&made);
        cfg_loader_release(&loader);
    }
}

/* DeBERTa: by hand the products with relative positions, 2 x 32 of them; as many as twice
 * the tokens where these are fewer (v1); and kept keys and queries of each sequence. */
static void test_disentangled(void)
{
    static const struct {
        const char *file;
        int64_t rows;
    } cases[] = {
        { "{'model_type': 'deberta-v2', " SIZES ", 'relative_attention': true, "
          "'position_buckets': 32, 'position_biased_input': false, "
          "'share_att_key': true}",
          64 },
        { "{'model_type': 'deberta', " SIZES ", 'relative_attention': true, "
          "'max_relative_positions': 4096, 'position_biased_input': false}",
          2048 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader, made;
        struct op_list list;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        struct model plain = m;
        plain.attention.place_rows = 0;
        double h = (double)m.hidden, s = 1024, rows = (double)cases[i].rows;
        CU_ASSERT_DOUBLE_EQUAL(model_flops_per_sample(&m, 1024, 0, true) -
                                   model_flops_per_sample(&plain, 1024, 0, true),
                               6.0 * (double)m.layers * 2 * rows * s * h, 1);
        make_list(&list, &made, cases[i].file, OP_ATTENTION_UNFUSED);
        double once = 2.0 * (double)m.layers * 2 * rows * h * h; /* of a microbatch */
        CU_ASSERT_DOUBLE_EQUAL(op_list_flops(&list, false),
                               model_flops_per_sample(&m, 1024, 0, true) / 3 + once, 1);
        CU_ASSERT(op_block_has(&list.blocks[1], "place_to_content"));
        /* a product of their own or the tokens' */
        int64_t owned = i ? 2 * m.hidden * m.hidden + m.hidden : 0;
        int64_t usual = 0;
        for (int32_t k = 0; k < list.blocks[1].n_params; k++)
            usual += strncmp(list.blocks[1].params[k].name, "place", 5) == 0
                         ? list.blocks[1].params[k].elements
                         : 0;
        CU_ASSERT_EQUAL(usual, owned);
        cfg_loader_release(&made);
        cfg_loader_release(&loader);
    }
}

/* Parts of models that read pictures, as files of their own. */
static void test_language_parts(void)
{
    static const char *const parts[][2] = {
        { "qwen2_5_vl_text", "qwen2" },
        { "qwen3_vl_text", "qwen3" },
        { "qwen3_omni_moe_text", "qwen3_moe" },
        { "glm4v_moe_text", "glm4_moe" },
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        char text[500];
        snprintf(text, sizeof(text), "{'model_type': '%s', " SIZES "%s}", parts[i][0],
                 strstr(parts[i][0], "moe") ? ", " MOE : "");
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, text), 0);
        CU_ASSERT_STRING_EQUAL(m.family, parts[i][1]);
        cfg_loader_release(&loader);
    }
}

static void test_noted(void)
{
    static const struct {
        const char *file, *part;
    } cases[] = {
        { LATENT_OF("1") "'index_topk': 2048, 'index_n_heads': 4, "
                         "'index_head_dim': 16}",
          "an indexer chooses" },
        { LATENT_OF("1") "'num_nextn_predict_layers': 1}", NULL },
        { LATENT_OF("1") "'num_nextn_predict_layers': 0}", NULL },
        { LATENT_OF("1") "'num_nextn_predict_layers': None}", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        CU_ASSERT_EQUAL(loader.diags.n_warnings, cases[i].part != NULL);
        if (cases[i].part)
            CU_ASSERT_PTR_NOT_NULL(strstr(loader.diags.v[0].text, cases[i].part));
        cfg_loader_release(&loader);
    }
}

static void test_unread(void)
{
    static const struct {
        const char *file, *says;
    } cases[] = {
        { "{'model_type': 'llama', " SIZES ", 'bos_token_id': 1, 'rope_theta': 5e5}",
          NULL },
        { "{'model_type': 'llama', " SIZES ", 'num_local_experts': 1}", NULL },
        { "{'model_type': 'bert', " SIZES ", 'position_embedding_type': 'absolute'}",
          NULL },
        { "{'model_type': 'llama', " SIZES ", 'position_embedding_type': 'rope'}",
          NULL },
        { "{'model_type': 'llama', " SIZES ", 'memory_tokens': 4, 'wings': false}",
          "than family \"llama\": memory_tokens" },
        { "{'model_type': 'llama', " SIZES ", 'pruned_heads': {}}", NULL },
        { "{'model_type': 'llama', " SIZES ", 'hidden_act': 'silu'}", NULL },
        { "{'model_type': 'llama', " SIZES ", 'hidden_act': 'sillu'}",
          "\"sillu\" is not known" },
        { "{'model_type': 'llama', " SIZES ", 'architectures': ['LlamaForGuessing']}",
          "the head of \"LlamaForGuessing\" is not known" },
        { "{'model_type': 'lfm2', " SIZES ", 'full_attn_idxs': [1]}", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        int states = strstr(cases[i].file, "lfm2") != NULL;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_warnings,
                              states + (cases[i].says != NULL));
        if (cases[i].says)
            CU_ASSERT_PTR_NOT_NULL(strstr(loader.diags.v[0].text, cases[i].says));
        if (states)
            CU_ASSERT_EQUAL(m.pattern[1].mixer, MODEL_MIXER_ATTENTION);
        cfg_loader_release(&loader);
    }
}

/* What is refused says why. */
static void test_refused(void)
{
    static const struct {
        const char *file, *part;
    } cases[] = {
        { "{'model_type': 'rwkv', 'hidden_size': 2560}", "keep a state" },
        { "{'model_type': 'gemma2', " SIZES ", 'layer_types': ['full_attention']}",
          "1 types for 6 layers" },
        { "{'model_type': 'gemma2', " SIZES ", 'layer_types': ['chunked_attention']}",
          "layers of \"chunked_attention\"" },
        { "{'model_type': 'mixtral', 'num_hidden_layers': 10000,"
          " 'hidden_size': 1048576, 'num_attention_heads': 64, 'vocab_size': 512,"
          " 'intermediate_size': 1048576, 'num_local_experts': 4096,"
          " 'num_experts_per_tok': 2}",
          "more than 2^50 parameters" },
        { "{'model_type': 'bert', 'hidden_size': 256, 'intermediate_size': 512, "
          "'num_hidden_layers': 4, 'num_attention_heads': 4, 'vocab_size': 1000, "
          "'is_decoder': true}",
          "words before them alone" },
        { LATENT "'q_lora_rank': 32}", "\"qk_nope_head_dim\" is missing" },
        { LATENT_OF("1") "'index_topk': 2048}", "\"index_n_heads\"" },
        { "{'model_type': 'nobody', 'hidden_size': 64}", "docs/models.md lists" },
        { "{'model_type': 'llama_', 'hidden_size': 64}", "did you mean \"llama\"?" },
        { "{'_class_name': 'UNet2DConditionModel', 'num_layers': 19}",
          "of a diffusion model" },
        { "{'_class_name': 'UNet2DConditionModel', 'num_layers': 19}", "smsim doctor" },
        { "{'model_type': 'qwen', " SIZES ", 'visual': "
          "{'layers': 48}}",
          "parts that read pictures are not modelled for family \"qwen\"" },
        { "{'model_type': 'bert', " SIZES
          ", 'position_embedding_type': 'relative_key'}",
          "positions of that kind" },
        { "{'model_type': 'bert', " SIZES ", 'feed_forward_type': 'glu'}",
          "MLPs of that" },
        { "{'model_type': 't5', 'chronos_config': {'input_patch_size': 16},"
          " 'd_model': 64, 'num_layers': 2, 'num_heads': 4, 'd_kv': 16, 'd_ff': 64,"
          " 'vocab_size': 2}",
          "patches of series are not modelled" },
        { "{'model_type': 'trocr', 'd_model': 64, 'decoder_layers': 2,"
          " 'decoder_attention_heads': 4, 'decoder_ffn_dim': 256, 'vocab_size': 512}",
          "decoders without the encoder that they read" },
        { "{'model_type': 'swin', 'embed_dim': 96, 'depths': [2, 2],"
          " 'num_heads': [3]}",
          "stages of such layers and heads" },
        { "{'model_type': 'vision-encoder-decoder', 'encoder': {'model_type': 'vit', "
          "'hidden_size': 64, 'num_hidden_layers': 2, 'num_attention_heads': 4}, "
          "'decoder': {'model_type': 'bert', " SIZES "}}",
          "a decoder of family \"bert\"" },
        { "{'model_type': 'llama', " SIZES ", 'num_local_experts': 8}", "experts are" },
        { "{'model_type': 'phi', " SIZES ", 'qk_layernorm': True}",
          "norms of queries and keys" },
        { "{'model_type': 'llama', " SIZES ", 'pruned_heads': {'0': [1]}}",
          "heads that are cut out of layers" },
        { "{'model_type': 'mpt', 'd_model': 64, 'n_layers': 2, 'n_heads': 4,"
          " 'vocab_size': 512, 'attn_config': {'qk_ln': True}}",
          "norms of queries and keys" },
        { "{'model_type': 'lfm2', " SIZES "}", "kinds of layers that no list names" },
        { "{'model_type': 'deepseek', " SIZES ", " MOE ", 'moe_layer_freq': 2}",
          "moe_layer_freq" },
        { "{'model_type': 'bart', 'd_model': 64, 'encoder_layers': 2,"
          " 'decoder_layers': 2, 'encoder_attention_heads': 4, 'encoder_ffn_dim': 256,"
          " 'decoder_ffn_dim': 512, 'vocab_size': 512}",
          "512 feed-forward columns after an encoder of 4 and 256" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL(read_text(&m, &loader, cases[i].file), -1);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(diags_error_text(&loader.diags, 0), cases[i].part));
        cfg_loader_release(&loader);
    }
}

void test_families_register(void)
{
    CU_pSuite suite = CU_add_suite("families", NULL, NULL);
    CU_add_test(suite, "what changes no sizes is said", test_said);
    CU_add_test(suite, "published files", test_published);
    CU_add_test(suite, "decoders after encoders", test_decoders);
    CU_add_test(suite, "sounds", test_sounds);
    CU_add_test(suite, "layers with windows", test_windows);
    CU_add_test(suite, "what windows cost", test_window_costs);
    CU_add_test(suite, "latent attention and layers of two kinds", test_latent);
    CU_add_test(suite, "latent attention without experts", test_no_experts);
    CU_add_test(suite, "kernels of a design", test_designs);
    CU_add_test(suite, "layers in turn", test_interleaved);
    CU_add_test(suite, "what is not modelled is said", test_noted);
    CU_add_test(suite, "windows of an encoder", test_two_sided_windows);
    CU_add_test(suite, "words of fewer columns", test_word_columns);
    CU_add_test(suite, "disentangled attention", test_disentangled);
    CU_add_test(suite, "stacks of other widths", test_widths);
    CU_add_test(suite, "parts of models that read pictures", test_language_parts);
    CU_add_test(suite, "what no row reads", test_unread);
    CU_add_test(suite, "what is refused", test_refused);
}
