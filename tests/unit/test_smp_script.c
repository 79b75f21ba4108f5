/* The hyperparameters of AWS's own training scripts under SMP: the scenario that they
 * make, with the scripts' defaults, and what is said of them. */
#include "config/pointer.h"
#include "launch_bench.h"

void test_smp_script_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct row {
    bool v2;
    const char *parameters, *hyper;
    const char *tree, *noted;
};

static const struct row rows[] = {
#define MODEL "'hidden_width': 1024, 'num_layers': 24, 'num_heads': 16"
    { true, "", "'model_type': 'gpt_neox', " MODEL,
      "{\"model\":{\"hidden_size\":1024,\"intermediate_size\":4096,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":16,\"num_"
      "hidden_layers\":24,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"sharding\":{\"degree\":8}},\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":"
      "\"causal-lm\"}}",
      NULL },
    { true, "", MODEL,
      "{\"model\":{\"hidden_size\":1024,\"intermediate_size\":4096,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":16,\"num_"
      "hidden_layers\":24,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"sharding\":{\"degree\":8}},\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":"
      "\"causal-lm\"}}",
      NULL },
    { true, "", "'model_type': 'mistral', " MODEL ", 'num_key_value_heads': 8",
      "{\"model\":{\"hidden_size\":1024,\"intermediate_size\":14336,\"max_position_"
      "embeddings\":2048,\"model_type\":\"mistral\",\"num_attention_heads\":16,\"num_"
      "hidden_layers\":24,\"num_key_value_heads\":8,\"sliding_window\":null,\"tie_word_"
      "embeddings\":false,\"vocab_size\":50432},\"parallelism\":{\"sharding\":{"
      "\"degree\":8}},\"training\":{\"activation_checkpointing\":\"full\","
      "\"attention\":\"flash\",\"gradient_clipping\":1.0,\"micro_batch_size\":2,"
      "\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "", "'model_type': 'mistral', " MODEL ", 'sliding_window': 4096",
      "{\"model\":{\"hidden_size\":1024,\"intermediate_size\":14336,\"max_position_"
      "embeddings\":2048,\"model_type\":\"mistral\",\"num_attention_heads\":16,\"num_"
      "hidden_layers\":24,\"sliding_window\":4096,\"tie_word_embeddings\":false,"
      "\"vocab_size\":50432},\"parallelism\":{\"sharding\":{\"degree\":8}},"
      "\"training\":{\"activation_checkpointing\":\"full\",\"attention\":\"flash\","
      "\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":\"bf16\","
      "\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "'expert_parallel_degree': 4",
      "'model_type': 'mixtral', " MODEL
      ", 'num_local_experts': 4, 'intermediate_size': 3584",
      "{\"model\":{\"hidden_size\":1024,\"intermediate_size\":3584,\"max_position_"
      "embeddings\":2048,\"model_type\":\"mixtral\",\"num_attention_heads\":16,\"num_"
      "experts_per_tok\":2,\"num_hidden_layers\":24,\"num_local_experts\":4,\"tie_word_"
      "embeddings\":false,\"vocab_size\":50432},\"parallelism\":{\"sharding\":{"
      "\"degree\":8}},\"parameters\":{\"expert_parallel_degree\":4},\"training\":{"
      "\"activation_checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_"
      "clipping\":1.0,\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_"
      "length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "",
      "'model_type': 'gpt2', " MODEL ", 'resid_pdrop': 0.0, 'max_context_width': 512",
      "{\"model\":{\"attn_pdrop\":0.1,\"embd_pdrop\":0.1,\"model_type\":\"gpt2\",\"n_"
      "embd\":1024,\"n_head\":16,\"n_layer\":24,\"n_positions\":512,\"resid_pdrop\":0."
      "0,\"vocab_size\":50432},\"parallelism\":{\"sharding\":{\"degree\":8}},"
      "\"training\":{\"activation_checkpointing\":\"full\",\"attention\":\"flash\","
      "\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":\"bf16\","
      "\"sequence_length\":512,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "", "'model_type': 'bloom', " MODEL,
      "{\"model\":{\"hidden_size\":1024,\"model_type\":\"bloom\",\"n_head\":16,\"n_"
      "layer\":24,\"vocab_size\":50432},\"parallelism\":{\"sharding\":{\"degree\":8}},"
      "\"training\":{\"activation_checkpointing\":\"full\",\"attention\":\"flash\","
      "\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":\"bf16\","
      "\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "", "'model_type': 'falcon', " MODEL,
      "{\"parallelism\":{\"sharding\":{\"degree\":8}},\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":"
      "\"causal-lm\"}}",
      "no model of AWS's script" },
    { true, "", "'model_type': size(), " MODEL,
      "{\"parallelism\":{\"sharding\":{\"degree\":8}},\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":"
      "\"causal-lm\"}}",
      "model_type" },
    { true, "", "'model_type': 'gpt_neox', 'hidden_width': width(), 'num_layers': 2",
      "{\"parallelism\":{\"sharding\":{\"degree\":8}},\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":"
      "\"causal-lm\"}}",
      "hidden_width" },
    { true, "",
      "'model_type': 'llama_v2', 'hf_pretrained_model_name_or_dir': "
      "'meta-llama/Llama-2-7b-hf'",
      "{\"model\":\"llama2-7b\",\"parallelism\":{\"sharding\":{\"degree\":8}},"
      "\"training\":{\"activation_checkpointing\":\"full\",\"attention\":\"flash\","
      "\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":\"bf16\","
      "\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "",
      "'model_type': 'llama_v2', " MODEL
      ", 'hf_pretrained_model_name_or_dir': 'nobody/nothing'",
      "{\"model\":{\"hidden_size\":1024,\"intermediate_size\":11008,\"max_position_"
      "embeddings\":2048,\"model_type\":\"llama\",\"num_attention_heads\":16,\"num_"
      "hidden_layers\":24,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"sharding\":{\"degree\":8}},\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":"
      "\"causal-lm\"}}",
      NULL },
    { true, "", "'hidden_width': 768, 'sharding_strategy': 'full_shard'",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"sharding\":{\"strategy\":\"full\"}},\"training\":{"
      "\"activation_checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_"
      "clipping\":1.0,\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_"
      "length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "", "'hidden_width': 768, 'sharding_strategy': '_hybrid_shard_zero2'",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"sharding\":{\"degree\":8,\"strategy\":\"gradients\"}},"
      "\"training\":{\"activation_checkpointing\":\"full\",\"attention\":\"flash\","
      "\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":\"bf16\","
      "\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "'hybrid_shard_degree': 8",
      "'hidden_width': 768, 'sharding_strategy': 'full_shard'",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parameters\":{\"hybrid_shard_degree\":8},\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":"
      "\"causal-lm\"}}",
      "hybrid_shard_degree makes it hybrid_shard" },
    { true, "'hybrid_shard_degree': 8", "'hidden_width': 768",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parameters\":{\"hybrid_shard_degree\":8},\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":"
      "\"causal-lm\"}}",
      NULL },
    { true, "'hybrid_shard_degree': 8",
      "'hidden_width': 768, 'sharding_strategy': '_hybrid_shard_zero2'",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"sharding\":{\"strategy\":\"gradients\"}},\"parameters\":{"
      "\"hybrid_shard_degree\":8},\"training\":{\"activation_checkpointing\":\"full\","
      "\"attention\":\"flash\",\"gradient_clipping\":1.0,\"micro_batch_size\":2,"
      "\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "", "'hidden_width': 768, 'sharding_strategy': 'mine'",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"training\":{\"activation_checkpointing\":\"full\",\"attention\":\"flash\","
      "\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":\"bf16\","
      "\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      "strategy of FSDP's" },
    { true, "'tensor_parallel_degree': 8",
      "'hidden_width': 768, 'use_smp_implementation': 0, 'fp8': 1",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"sharding\":{\"degree\":8}},\"parameters\":{\"tensor_parallel_"
      "degree\":1},\"training\":{\"activation_checkpointing\":\"full\",\"attention\":"
      "\"flash\",\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":"
      "\"bf16\",\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      "takes tensor_parallel_degree to be 1" },
    { true, "'tensor_parallel_degree': 8",
      "'hidden_width': 768, 'use_smp_implementation': 1, 'fp8': 1",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"sharding\":{\"degree\":8}},\"parameters\":{\"tensor_parallel_"
      "degree\":8},\"training\":{\"activation_checkpointing\":\"full\",\"attention\":"
      "\"flash\",\"gradient_clipping\":1.0,\"micro_batch_size\":2,\"precision\":"
      "\"fp8\",\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "",
      "'hidden_width': 768, 'bf16': 0, 'grad_clip': 0, 'activation_checkpointing': "
      "False",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"sharding\":{\"degree\":8}},\"training\":{\"activation_"
      "checkpointing\":\"none\",\"attention\":\"flash\",\"micro_batch_size\":2,"
      "\"precision\":\"fp32\",\"sequence_length\":2048,\"task\":\"causal-lm\"}}",
      NULL },
    { true, "",
      "'hidden_width': 768, 'distributed_backend': 'smddp', 'use_smp_flash_attn': 0, "
      "'grad_clip': 0.5",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":2048,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"backend\":\"smddp\",\"sharding\":{\"degree\":8}},"
      "\"training\":{\"activation_checkpointing\":\"full\",\"gradient_clipping\":0.5,"
      "\"micro_batch_size\":2,\"precision\":\"bf16\",\"sequence_length\":2048,\"task\":"
      "\"causal-lm\"}}",
      NULL },
    { true, "",
      "'hidden_width': 768, 'train_batch_size': 3, 'max_context_width': 4096, "
      "'max_steps': 7",
      "{\"model\":{\"hidden_size\":768,\"intermediate_size\":3072,\"max_position_"
      "embeddings\":4096,\"model_type\":\"gpt_neox\",\"num_attention_heads\":12,\"num_"
      "hidden_layers\":12,\"tie_word_embeddings\":false,\"vocab_size\":50432},"
      "\"parallelism\":{\"sharding\":{\"degree\":8}},\"training\":{\"activation_"
      "checkpointing\":\"full\",\"attention\":\"flash\",\"gradient_clipping\":1.0,"
      "\"micro_batch_size\":3,\"precision\":\"bf16\",\"sequence_length\":4096,"
      "\"steps\":7,\"task\":\"causal-lm\"}}",
      NULL },
    { false, "'microbatches': 4, 'ddp': True",
      "'model_type': 'gpt2', " MODEL ", 'embd_pdrop': 0.2",
      "{\"model\":{\"attn_pdrop\":0.1,\"embd_pdrop\":0.2,\"model_type\":\"gpt2\",\"n_"
      "embd\":1024,\"n_head\":16,\"n_layer\":24,\"n_positions\":1024,\"resid_pdrop\":0."
      "1,\"vocab_size\":50264},\"parameters\":{\"ddp\":true,\"microbatches\":4},"
      "\"training\":{\"activation_checkpointing\":\"full\",\"gradient_accumulation_"
      "steps\":1,\"sequence_length\":1024,\"task\":\"causal-lm\"}}",
      NULL },
    { false, "'microbatches': 1, 'ddp': True",
      MODEL ", 'activation_strategy': 'group_2', 'flash_attention': 0",
      "{\"model\":{\"attn_pdrop\":0.1,\"embd_pdrop\":0.1,\"model_type\":\"gpt2\",\"n_"
      "embd\":1024,\"n_head\":16,\"n_layer\":24,\"n_positions\":1024,\"resid_pdrop\":0."
      "1,\"vocab_size\":50264},\"parallelism\":{\"smp_script\":{\"activation_"
      "checkpointing\":\"group_2\"}},\"parameters\":{\"ddp\":true,\"microbatches\":1},"
      "\"training\":{\"attention\":\"unfused\",\"gradient_accumulation_steps\":1,"
      "\"micro_batch_size\":4,\"sequence_length\":1024,\"task\":\"causal-lm\"}}",
      NULL },
    { false, "'microbatches': 1, 'ddp': True",
      MODEL ", 'activation_checkpointing': 0, 'activation_strategy': 'group_2', "
            "'flash_attention': 1, 'gradient_accumulation': 4",
      "{\"model\":{\"attn_pdrop\":0.1,\"embd_pdrop\":0.1,\"model_type\":\"gpt2\",\"n_"
      "embd\":1024,\"n_head\":16,\"n_layer\":24,\"n_positions\":1024,\"resid_pdrop\":0."
      "1,\"vocab_size\":50264},\"parameters\":{\"ddp\":true,\"microbatches\":1},"
      "\"training\":{\"activation_checkpointing\":\"none\",\"attention\":\"flash\","
      "\"gradient_accumulation_steps\":4,\"micro_batch_size\":4,\"sequence_length\":"
      "1024,\"task\":\"causal-lm\"}}",
      NULL },
    { false, "'microbatches': 1, 'ddp': True",
      "'model_type': 'falcon', " MODEL ", 'num_heads_kv': 16, 'flash_attention': 1",
      "{\"model\":{\"alibi\":false,\"bias\":false,\"hidden_size\":1024,\"model_type\":"
      "\"falcon\",\"multi_query\":false,\"new_decoder_architecture\":false,\"num_"
      "attention_heads\":16,\"num_hidden_layers\":24,\"num_kv_heads\":16,\"parallel_"
      "attn\":true,\"vocab_size\":65024},\"parameters\":{\"ddp\":true,"
      "\"microbatches\":1},\"training\":{\"activation_checkpointing\":\"full\","
      "\"attention\":\"flash\",\"gradient_accumulation_steps\":1,\"micro_batch_"
      "size\":4,\"sequence_length\":1024,\"task\":\"causal-lm\"}}",
      NULL },
    { false, "'microbatches': 1, 'ddp': True",
      "'model_type': 'flan_t5', " MODEL ", 'flash_attention': 1",
      "{\"model\":{\"d_ff\":2048,\"d_kv\":64,\"d_model\":1024,\"feed_forward_proj\":"
      "\"gated-gelu\",\"model_type\":\"t5\",\"num_decoder_layers\":24,\"num_heads\":16,"
      "\"num_layers\":24,\"vocab_size\":50264},\"parameters\":{\"ddp\":true,"
      "\"microbatches\":1},\"training\":{\"activation_checkpointing\":\"full\","
      "\"attention\":\"unfused\",\"gradient_accumulation_steps\":1,\"micro_batch_"
      "size\":4,\"sequence_length\":1024}}",
      "flash attention of T5" },
    { false, "'microbatches': 1, 'ddp': True",
      "'model_type': 't5', " MODEL ", 'flash_attention': 0",
      "{\"model\":{\"d_ff\":2048,\"d_kv\":64,\"d_model\":1024,\"feed_forward_proj\":"
      "\"gated-gelu\",\"model_type\":\"t5\",\"num_decoder_layers\":24,\"num_heads\":16,"
      "\"num_layers\":24,\"vocab_size\":50264},\"parameters\":{\"ddp\":true,"
      "\"microbatches\":1},\"training\":{\"activation_checkpointing\":\"full\","
      "\"attention\":\"unfused\",\"gradient_accumulation_steps\":1,\"micro_batch_"
      "size\":4,\"sequence_length\":1024}}",
      NULL },
};

/* A launch script with a row's hyperparameters. */
static void script_of(char *text, size_t size, const struct row *r)
{
    static const char *const versions[] = { "1.13.1", "2.2.0" }, *const starts[] = {
        "'mpi': {'enabled': True, 'processes_per_host': 8}",
        "'torch_distributed': {'enabled': True}"
    };
    snprintf(text, size,
             "from sagemaker.pytorch import PyTorch\n"
             "PyTorch(entry_point='train.py', instance_type='ml.p4d.24xlarge', "
             "instance_count=2, framework_version='%s', distribution={%s, "
             "'smdistributed': {'modelparallel': {'enabled': True, 'parameters': "
             "{%s}}}}, hyperparameters={%s})\n",
             versions[r->v2], starts[r->v2], r->parameters, r->hyper);
}

/* Sections of a scenario, and SMP's parameters, as text. */
static char *sections_of(const json_t *root)
{
    static const char *const names[] = { "model", "parallelism", "training" };
    json_t *found = json_object();
    json_t *parameters = pointer_get((json_t *)(uintptr_t)root,
                                     "/distribution/smdistributed/modelparallel/"
                                     "parameters");
    for (size_t i = 0; i < COUNT(names); i++)
        if (json_object_get(root, names[i]))
            json_object_set(found, names[i], json_object_get(root, names[i]));
    if (json_object_size(parameters))
        json_object_set(found, "parameters", parameters);
    char *text =
        json_dumps(found, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
    json_decref(found);
    return text;
}

static void test_rows(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[2000];
        struct cfg_loader loader;
        struct launch l = { 0 };
        cfg_loader_init(&loader);
        script_of(text, sizeof(text), &rows[i]);
        struct cfg root = launch_load_text(&l, &loader, "job.py", text);
        CU_ASSERT_PTR_NOT_NULL_FATAL(root.json);
        char *tree = sections_of(root.json);
        CU_ASSERT_STRING_EQUAL(tree, rows[i].tree);
        if (strcmp(tree, rows[i].tree) != 0)
            fprintf(stderr, "%s\n    gives %s\n", rows[i].hyper, tree);
        CU_ASSERT(!rows[i].noted || is_said(&l, rows[i].noted));
        free(tree);
        launch_release(&l);
        cfg_loader_release(&loader);
    }
}

void test_smp_script_register(void)
{
    CU_pSuite suite = CU_add_suite("smp script", NULL, NULL);
    CU_add_test(suite, "hyperparameters", test_rows);
}
