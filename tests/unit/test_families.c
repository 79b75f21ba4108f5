/* Files of Hugging Face's families as their authors published them, less what no size
 * follows from, and the parameters they published with them. */
#include "model/model.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

void test_families_register(void);

/* clang-format off */
static const struct {
    const char *name;
    int64_t parameters;
    const char *file;
} published[] = {
    { "mistral-nemo", 12247782400,
      "{'model_type': 'mistral', 'attention_dropout': 0.0, 'head_dim': 128, "
      "'hidden_act': 'silu', 'hidden_size': 5120, 'intermediate_size': 14336, "
      "'max_position_embeddings': 128000, 'num_attention_heads': 32, "
      "'num_hidden_layers': 40, 'num_key_value_heads': 8, "
      "'sliding_window': null, 'tie_word_embeddings': false, "
      "'vocab_size': 131072}" },
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
};
/* clang-format on */

static int read_text(struct model *m, struct cfg_loader *loader, const char *text)
{
    cfg_loader_init(loader);
    return model_read(m, loader, cfg_parse(loader, "f", text, strlen(text)));
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

/* What is refused says why. */
static void test_refused(void)
{
    static const struct {
        const char *file, *part;
    } cases[] = {
        { "{'model_type': 'deepseek_v3', 'hidden_size': 7168}", "latent" },
        { "{'model_type': 'mamba', 'hidden_size': 2560}", "no attention" },
        { "{'model_type': 'opt', 'num_hidden_layers': 24, 'hidden_size': 1024,"
          " 'num_attention_heads': 16, 'vocab_size': 50272, 'ffn_dim': 4096,"
          " 'word_embed_proj_dim': 512}",
          "512 columns" },
        { "{'model_type': 'nobody', 'hidden_size': 64}", "one of \"bert\"" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL(read_text(&m, &loader, cases[i].file), -1);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(loader.diags.errors[0], cases[i].part));
        cfg_loader_release(&loader);
    }
}

void test_families_register(void)
{
    CU_pSuite suite = CU_add_suite("families", NULL, NULL);
    CU_add_test(suite, "published files", test_published);
    CU_add_test(suite, "what is refused", test_refused);
}
