/* Megatron's arguments in a shell script, and the scenario that comes of them; that of
 * a model of Megatron's words is the model of Hugging Face's. */
#include "config/pointer.h"
#include "dialect/launch/launch.h"
#include "launch_bench.h"
#include "model/model.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_megatron_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* A job that lacks nothing but instances, in front of what a case adds. */
#define BASE                                                                        \
    "--num-layers 16 --hidden-size 1024 --num-attention-heads 16 --seq-length 512 " \
    "--max-position-embeddings 512 --micro-batch-size 2 --global-batch-size 64 "

static struct cfg scenario_of(struct launch *l, struct cfg_loader *loader,
                              const char *text)
{
    return load_alone(l, loader, text, ".sh", NULL);
}

/* A field as JSON; "-" when it is not there, "?" when it is unresolved. */
static void field_of(char *out, size_t size, const struct launch *l, struct cfg root,
                     const char *pointer)
{
    json_t *v = root.json ? pointer_get(root.json, pointer) : NULL;
    char *text = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    snprintf(out, size, "%s", text ? text : "-");
    free(text);
    for (int64_t i = 0; i < l->unresolved.n; i++)
        if (strcmp(l->unresolved.v[i].pointer, pointer) == 0)
            snprintf(out, size, "?");
}

static void expect(const char *text, const char *pointer, const char *value)
{
    struct launch l;
    struct cfg_loader loader;
    char got[400];
    struct cfg root = scenario_of(&l, &loader, text);
    field_of(got, sizeof(got), &l, root, pointer);
    CU_ASSERT_STRING_EQUAL(got, value);
    if (strcmp(got, value) != 0)
        fprintf(stderr, "%s\n    %s: %s%s\n", text, pointer, got,
                loader.diags.n_errors ? diags_error_text(&loader.diags, 0) : "");
    launch_release(&l);
    cfg_loader_release(&loader);
}

/* --- arguments -------------------------------------------------------------------- */

static const struct {
    const char *arguments, *pointer, *value;
} fields[] = {
    { "", "/model/num_layers", "16" },
    { "", "/model/vocab_size", "50257" },
    { "", "/training/framework", "\"megatron-2022\"" },
    { "", "/training/attention", "-" },
    { "", "/training/precision", "\"fp32\"" },
    { "", "/training/vocab_padding", "128" },
    { "", "/training/gradient_clipping", "1.0" },
    { "", "/parallelism/placement", "\"PDT\"" },
    { "", "/parallelism/tensor", "-" },
    { "--num-layers 24", "/model/num_layers", "24" },
    { "--hidden_size=2048", "/model/hidden_size", "2048" },
    { "--num-layers x", "/model/num_layers", "-" },
    { "--num-layers $N", "/model/num_layers", "?" },
    { "--train-samples 6_400", "/training/steps", "100" },
    { "--train-tokens 3276800", "/training/steps", "100" },
    { "--train-iters 7 --train-samples 6400", "/training/steps", "7" },
    { "--tensor-model-parallel-size 4", "/parallelism/tensor", "4" },
    { "--tensor-model-parallel-size 1", "/parallelism/tensor", "-" },
    { "--tensor-model-parallel-size 4", "/training/vocab_padding", "512" },
    { "--tensor-model-parallel-size 2 --make-vocab-size-divisible-by 64",
      "/training/vocab_padding", "128" },
    { "--sequence-parallel", "/parallelism/sequence_parallel", "-" },
    { "--sequence-parallel --tensor-model-parallel-size 2",
      "/parallelism/sequence_parallel", "true" },
    { "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 2",
      "/parallelism/virtual_stages", "2" },
    { "--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 4",
      "/parallelism/virtual_stages", "4" },
    { "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 4",
      "/parallelism/schedule", "-" },
    { "--pipeline-model-parallel-size 3 --decoder-first-pipeline-num-layers 4",
      "/parallelism/partition", "{\"first\":4}" },
    { "--pipeline-model-parallel-size 3 --decoder-last-pipeline-num-layers 4 "
      "--decoder-first-pipeline-num-layers 2 --num-virtual-stages-per-pipeline-rank 2",
      "/parallelism/partition", "{\"first\":2,\"last\":4}" },
    { "--num-layers 15 --pipeline-model-parallel-size 4 "
      "--account-for-embedding-in-pipeline-split",
      "/parallelism/partition", "\"uniform|embedding\"" },
    { "--num-layers 14 --pipeline-model-parallel-size 4 "
      "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split",
      "/parallelism/partition", "\"uniform|embedding|head\"" },
    { "--num-layers 14 --pipeline-model-parallel-size 2 "
      "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split "
      "--num-layers-per-virtual-pipeline-stage 2",
      "/parallelism/virtual_stages", "4" }, /* both ends are layers of them */
    { "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout "
      "'Et*3|(tt|)*5tt,tL'",
      "/parallelism/partition", "-" }, /* seven stages */
    { "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout "
      "'E|t*3|(tt|)*5,t*3|L'",
      "/parallelism/partition", "-" }, /* nine */
    { "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout "
      "'Et*3|(tt|)*4,ttt|ttL'",
      "/parallelism/partition", "-" },
    { "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout "
      "'E|t*3|(tt|)*4,t*3|t*2L'",
      "/parallelism/partition", "[0,3,2,2,2,2,3,2]" },
    { "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout "
      "'E|t*3|(tt|)*4,t*3|t*2L'",
      "/parallelism/virtual_stages", "2" },
    { "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout "
      "'Et*4|t*4||t*8L'",
      "/parallelism/schedule", "-" },
    { "--mtp-num-layers 1", "/training/mtp_layers", "1" },
    { "--mtp-num-layers 0", "/training/mtp_layers", "-" },
    { "--cpu-offloading-num-layers 20", "/parallelism/offload_layers", "20" },
    { "--cpu-offloading-num-layers 0", "/parallelism/offload_layers", "-" },
    { "--pipeline-model-parallel-size 4 --mtp-num-layers 1 "
      "--pipeline-model-parallel-layout 'E|t*3|(tt|)*4,t*3|t*2,mL'",
      "/parallelism/mtp_part", "-" },
    { "--pipeline-model-parallel-size 4 --mtp-num-layers 1 "
      "--pipeline-model-parallel-layout 'E|t*3|(tt|)*4,t*5,m|L'",
      "/parallelism/mtp_part", "6" },
    { "--pipeline-model-parallel-size 4 "
      "--pipeline-model-parallel-layout 'E|t*3|(tt|)*4,t*5,m|L'",
      "/training/mtp_layers", "1" },
    { "--pipeline-model-parallel-size 4 --defer-embedding-wgrad-compute "
      "--wgrad-deferral-limit 22",
      "/parallelism/wgrad_deferral_limit", "22" },
    { "--pipeline-model-parallel-size 4 --defer-embedding-wgrad-compute",
      "/parallelism/defer_embedding_wgrad", "true" },
    { "--pipeline-model-parallel-size 4 --tensor-model-parallel-size 2 "
      "--no-scatter-gather-tensors-in-pipeline",
      "/parallelism/scatter_gather", "false" },
    { "--pipeline-model-parallel-size 4 --wgrad-deferral-limit 22",
      "/parallelism/wgrad_deferral_limit", "-" },
    { "--pipeline-model-parallel-size 32768 " /* whose product is 2^64 */
      "--num-layers-per-virtual-pipeline-stage 562949953421312",
      "/parallelism/virtual_stages", "-" },
    { "--tensor-model-parallel-size 900000000000000", "/training/vocab_padding", "-" },
    { "--context-parallel-size 2 --cp-comm-type a2a", "/parallelism/context_comm",
      "\"alltoall\"" },
    { "--cp-comm-type a2a", "/parallelism/context_comm", "-" },
    { "--context-parallel-size 8 --cp-comm-type a2a+p2p "
      "--hierarchical-context-parallel-sizes 2 4",
      "/parallelism/context_comm", "\"alltoall+ring\"" },
    { "--context-parallel-size 8 --cp-comm-type a2a+p2p "
      "--hierarchical-context-parallel-sizes 2 4",
      "/parallelism/context_inner", "2" },
    { "--context-parallel-size 2 --cp-comm-type p2p "
      "--hierarchical-context-parallel-sizes "
      "2 1",
      "/parallelism/context_inner", "-" },
    { "--use-tp-pp-dp-mapping", "/parallelism/placement", "\"DPT\"" },
    { "--use-torch-fsdp2", "/parallelism/library", "\"fsdp\"" },
    { "--use-torch-fsdp2", "/parallelism/sharding/strategy", "\"full\"" },
    { "--use-torch-fsdp2 --torch-fsdp2-no-reshard-after-forward",
      "/parallelism/sharding/reshard_after_forward", "false" },
    { "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
      "--use-distributed-optimizer --overlap-grad-reduce",
      "/parallelism/sharding/strategy", "\"full\"" },
    { "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
      "--overlap-grad-reduce",
      "/parallelism/overlap", "-" },
    { "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params",
      "/parallelism/library", "\"megatron-fsdp\"" },
    { "--use-megatron-fsdp --data-parallel-sharding-strategy optim",
      "/parallelism/sharding/strategy", "\"optimizer\"" },
    { "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads",
      "/parallelism/sharding/strategy", "?" },
    { "--use-megatron-fsdp", "/parallelism/library", "?" },
    { "--cuda-graph-impl transformer_engine --cuda-graph-scope attn moe_router "
      "moe_preprocess",
      "/training/cuda_graphs", "[\"attn\",\"moe_router\",\"moe_preprocess\"]" },
    { "--cuda-graph-impl local --cuda-graph-scope full_iteration",
      "/training/cuda_graphs", "\"full_iteration\"" },
    { "--cuda-graph-impl full_iteration", "/training/cuda_graphs",
      "\"full_iteration\"" },
    { "--cuda-graph-impl none --cuda-graph-scope attn", "/training/cuda_graphs", "-" },
    { "--enable-cuda-graph", "/training/cuda_graphs", "\"layer\"" },
    { "--external-cuda-graph --cuda-graph-scope attn", "/training/cuda_graphs",
      "[\"attn\"]" },
    { "--cuda-graph-impl local --cuda-graph-modules mlp", "/training/cuda_graphs",
      "[\"mlp\"]" },
    { "--recompute-granularity selective --recompute-modules core_attn",
      "/training/activation_checkpointing", "\"selective\"" },
    { "--recompute-granularity selective --recompute-modules moe_act layernorm "
      "mla_up_proj",
      "/training/activation_checkpointing",
      "{\"modules\":[\"moe_act\",\"layernorm\",\"mla_up_proj\"]}" },
    { "--recompute-granularity selective --recompute-modules mlp moe shared_experts",
      "/training/activation_checkpointing",
      "{\"modules\":[\"mlp\",\"moe\",\"shared_experts\"]}" },
    { "--recompute-granularity full --recompute-method block --recompute-num-layers 3",
      "/training/activation_checkpointing", "{\"block\":3}" },
    { "--causal-lm", "/model/untie_embeddings_and_output_weights", "true" },
    { "--num-experts 4 --moe-layer-freq [0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
      "/model/moe_first_dense_layers", "1" },
    { "--num-experts 4 --moe-layer-freq [0]*2+[0,1]*7", "/model/moe_first_dense_layers",
      "9" },
    { "--num-experts 4 --moe-layer-freq [0,1", "/model/moe_first_dense_layers", "?" },
    { "--bf16", "/training/precision", "\"bf16\"" },
    { "--bf16 --fp8-format hybrid", "/training/precision", "\"fp8\"" },
    { "--bf16 --fp8-format hybrid --fp8-recipe delayed", "/training/precision",
      "\"fp8\"" },
    { "--bf16 --fp8-format hybrid --fp8-recipe tensorwise", "/training/precision",
      "\"fp8_current\"" },
    { "--bf16 --fp8-format e4m3 --fp8-recipe blockwise", "/training/precision",
      "\"fp8_blockwise\"" },
    { "--bf16 --fp8-format e4m3 --fp8-recipe mxfp8", "/training/precision",
      "\"mxfp8\"" },
    { "--bf16 --fp8-format e4m3 --fp8-recipe custom", "/training/precision", "?" },
    { "--bf16 --fp4-format e2m1", "/training/precision", "\"nvfp4\"" },
    { "--bf16 --fp4-format e2m1 --fp4-recipe custom", "/training/precision", "?" },
    { "--bf16 --fp4-format e2m1 --fp4-param-gather", "/training/quantized_parameters",
      "true" },
    { "--bf16 --fp8-format e4m3 --fp8-recipe mxfp8 --fp8-param-gather",
      "/training/quantized_parameters", "true" },
    { "--bf16 --fp8-param-gather", "/training/quantized_parameters", "-" },
    { "--bf16 --fp8-format hybrid --fp8-recipe tensorwise --first-last-layers-bf16",
      "/training/layers_16bit", "{\"first\":1,\"last\":1}" },
    { "--bf16 --fp4-format e2m1 --first-last-layers-bf16 --num-layers-at-start-in-bf16 "
      "0 "
      "--num-layers-at-end-in-bf16 4",
      "/training/layers_16bit", "{\"first\":0,\"last\":4}" },
    { "--bf16 --main-grads-dtype bf16", "/training/gradient_dtype", "\"bf16\"" },
    { "--bf16 --use-precision-aware-optimizer --exp-avg-dtype bf16 "
      "--exp-avg-sq-dtype fp8",
      "/training/optimizer_states/first_moment", "\"bf16\"" },
    { "--bf16 --use-precision-aware-optimizer --exp-avg-dtype bf16 "
      "--exp-avg-sq-dtype fp8",
      "/training/optimizer_states/second_moment", "\"fp8\"" },
    { "--bf16 --use-precision-aware-optimizer --exp-avg-dtype bf16 "
      "--exp-avg-sq-dtype fp8",
      "/training/optimizer_states/master_weights", "\"remainders\"" },
    { "--bf16 --fp8-format e4m3 --fp8-recipe mxfp8 --use-precision-aware-optimizer",
      "/training/optimizer_states", "{\"master_weights\":\"fp32\"}" },
    { "--bf16 --use-precision-aware-optimizer --main-params-dtype fp16",
      "/training/optimizer_states", "{\"master_weights\":\"fp16\"}" },
    { "--bf16 --exp-avg-dtype bf16", "/training/optimizer_states", "-" },
    { "--bf16", "/training/gradient_dtype", "-" },
    { "--fp16", "/training/gradient_dtype", "\"fp16\"" },
    { "--fp16 --accumulate-allreduce-grads-in-fp32", "/training/gradient_dtype", "-" },
    { "--bf16 --grad-reduce-in-bf16", "/training/gradient_dtype", "\"bf16\"" },
    { "--use-flash-attn", "/training/attention", "\"flash\"" },
    { "--no-masked-softmax-fusion", "/training/attention", "\"unfused\"" },
    { "--use-mcore-models", "/training/attention", "-" },
    { "--no-masked-softmax-fusion --use-mcore-models", "/training/attention", "-" },
    { "--llama-swiglu --rope-style llama --ffn-hidden-size 11008", "/model/swiglu",
      "true" },
    { "--llama-swiglu", "/model/ffn_hidden_size", "?" },
    { "--rope-style llama", "/model/position_embedding_type", "\"rope\"" },
    { "--no-masked-softmax-fusion --mock-data --transformer-impl local",
      "/training/attention", "\"unfused\"" },
    { "--attention-backend auto", "/training/attention", "-" },
    { "--attention-backend fused", "/training/attention", "\"flash\"" },
    { "--use-mcore-models --transformer-impl local", "/training/attention",
      "\"fused-softmax\"" },
    { "--attention-backend unfused", "/training/attention", "\"fused-softmax\"" },
    { "--use-mcore-models", "/training/framework", "\"megatron-core\"" },
    { "--checkpoint-activations", "/training/framework", "\"megatron-2021\"" },
    { "--rerun-mode disabled", "/training/framework", "\"megatron-core\"" },
    { "--mock-data --transformer-impl local", "/training/framework",
      "\"megatron-2022\"" },
    { "--use-mcore-models --transformer-impl local", "/training/framework",
      "\"megatron-core\"" },
    { "--ckpt-format torch --transformer-impl local", "/training/attention",
      "\"fused-softmax\"" },
    { "--use-legacy-models --ckpt-format torch", "/training/framework",
      "\"megatron-2022\"" },
    { "--DDP-impl local --num-virtual-stages-per-pipeline-rank 1",
      "/training/framework", "\"megatron-2021\"" },
    { "--checkpoint-activations", "/training/activation_checkpointing", "\"full\"" },
    { "--checkpoint-activations --checkpoint-num-layers 4",
      "/training/activation_checkpointing", "{\"group\":4}" },
    { "--recompute-activations", "/training/activation_checkpointing",
      "\"selective\"" },
    { "--recompute-granularity selective", "/training/activation_checkpointing",
      "\"selective\"" },
    { "--recompute-granularity full --recompute-method uniform --recompute-num-layers "
      "2",
      "/training/activation_checkpointing", "{\"group\":2}" },
    { "--recompute-granularity full --recompute-method block --recompute-num-layers 4",
      "/training/activation_checkpointing", "{\"block\":4}" },
    { "--recompute-granularity full --recompute-method block --recompute-num-layers "
      "16",
      "/training/activation_checkpointing", "{\"block\":16}" },
    { "--use-distributed-optimizer", "/parallelism/sharding/strategy",
      "\"optimizer\"" },
    { "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather",
      "/parallelism/overlap_param_gather", "true" },
    { "--overlap-grad-reduce", "/parallelism/overlap", "true" },
    { "--bf16 --overlap-grad-reduce --ddp-bucket-size 25000000",
      "/parallelism/bucket_size", "\"100000000B\"" },
    { "--bf16 --grad-reduce-in-bf16 --overlap-grad-reduce --ddp-bucket-size 25000000",
      "/parallelism/bucket_size", "\"50000000B\"" },
    { "--fp16 --overlap-grad-reduce --ddp-bucket-size 25000000",
      "/parallelism/bucket_size", "\"50000000B\"" },
    { "--bf16 --ddp-bucket-size 25000000", "/parallelism/bucket_size", "-" },
    { "--overlap-grad-reduce --ddp-bucket-size $N", "/parallelism/bucket_size", "?" },
    { "--overlap-grad-reduce --ddp-bucket-size 9000000000000000000",
      "/parallelism/bucket_size", "?" },
    { "--use-mcore-models", "/parallelism/overlap", "false" },
    { "--use-mcore-models --tensor-model-parallel-size 2",
      "/parallelism/overlap_tensor", "false" },
    { "--tp-comm-overlap --tensor-model-parallel-size 2", "/parallelism/overlap_tensor",
      "true" },
    { "--optimizer sgd", "/training/optimizer", "\"sgd\"" },
    { "--optimizer muon", "/training/optimizer", "\"muon\"" },
    { "--optimizer soap", "/training/optimizer", "?" },
    { "--optimizer dist_muon", "/parallelism/sharding/strategy", "\"optimizer\"" },
    { "--optimizer muon --muon-num-ns-steps 6", "/training/muon/steps", "6" },
    { "--optimizer muon --muon-tp-mode blockwise", "/training/muon/tensor",
      "\"blockwise\"" },
    { "--clip-grad 0", "/training/gradient_clipping", "0.0" },
    { "--num-query-groups 4", "/model/num_query_groups", "-" },
    { "--group-query-attention --num-query-groups 4", "/model/num_query_groups", "4" },
    { "--num-experts 1", "/model/num_experts", "-" },
    { "--num-experts 8", "/model/moe_router_topk", "2" },
    { "--num-experts 8 --moe-router-topk 1", "/model/moe_router_topk", "1" },
    { "--num-experts 8 --expert-model-parallel-size 2",
      "/parallelism/expert_dispatcher", "\"allgather\"" },
    { "--num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type "
      "flex --moe-enable-deepep --moe-deepep-num-sms 24",
      "/parallelism/expert_dispatcher", "\"deepep\"" },
    { "--num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type "
      "flex --moe-enable-deepep --moe-deepep-num-sms 24",
      "/parallelism/expert_dispatch_sms", "24" },
    { "--num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type "
      "flex --moe-flex-dispatcher-backend hybridep",
      "/parallelism/expert_dispatcher", "\"hybridep\"" },
    { "--num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type "
      "alltoall --overlap-moe-expert-parallel-comm",
      "/parallelism/expert_overlap", "\"microbatches\"" },
    { "--num-experts 8 --moe-router-num-groups 8 --moe-router-group-topk 4",
      "/model/moe_router_group_topk", "4" },
    { "--num-experts 8 --moe-token-dispatcher-type flex",
      "/parallelism/expert_dispatcher", "-" },
    { "--num-experts 8 --tensor-model-parallel-size 2 --sequence-parallel "
      "--expert-tensor-parallel-size 1",
      "/parallelism/expert_tensor", "1" },
    { "--num-experts 8 --moe-ffn-hidden-size 512 --ffn-hidden-size 4096",
      "/model/moe_ffn_hidden_size", "512" },
    { "--num-experts 8 --moe-layer-freq \"([0]*3+[1]*13)\"",
      "/model/moe_first_dense_layers", "3" },
    { "--num-experts 8 --moe-layer-freq 1", "/model/moe_first_dense_layers", "-" },
    { "--num-experts 8 --moe-layer-freq 2", "/model/moe_first_dense_layers", "8" },
    { "--num-experts 8 --moe-layer-freq f3", "/model/moe_first_dense_layers", "?" },
    { "--moe-layer-freq \"([0]*3+[1]*13)\"", "/model/moe_first_dense_layers", "-" },
    { "--hybrid-override-pattern M-M*", "/model/hybrid_layer_pattern", "\"M-M*\"" },
    { "--hybrid-layer-pattern ME*ME/*E", "/model/hybrid_layer_pattern", "\"ME*ME\"" },
    { "--hybrid-attention-ratio 0.125 --hybrid-mlp-ratio 0.5",
      "/model/hybrid_layer_pattern", "\"M-M--*M-M-*M--M-\"" },
    { "--hybrid-attention-ratio 2", "/model/hybrid_layer_pattern", "?" },
    { "--is-hybrid-model --mamba-num-groups 4", "/model/hybrid_layer_pattern",
      "\"MMMMMMMMMMMMMMMM\"" },
    { "--is-hybrid-model --mamba-num-groups 4", "/model/mamba_num_groups", "4" },
    { "--hybrid-layer-pattern ME*ME --mamba-head-dim 32", "/model/mamba_head_dim",
      "32" },
    { "--num-experts 8 --moe-latent-size 64", "/model/moe_latent_size", "64" },
    { "--multi-latent-attention --kv-lora-rank 512", "/model/kv_lora_rank", "512" },
    { "--kv-lora-rank 512", "/model/kv_lora_rank", "-" },
    { "--use-rotary-position-embeddings", "/model/vocab_size", "32000" },
    { "--tokenizer-type Llama3Tokenizer", "/model/vocab_size", "128256" },
    { "--tokenizer-type NullTokenizer --vocab-size 1000", "/model/vocab_size", "1000" },
    { "--tokenizer-type GPT2BPETokenizer --vocab-size 3200", "/model/vocab_size",
      "50257" },
    { "--tokenizer-type GPT2BPETokenizer --vocab-size 3200 --padded-vocab-size 6400",
      "/model/vocab_size", "6400" },
    { "--tokenizer-type HuggingFaceTokenizer --tokenizer-model /m/own --vocab-size 900",
      "/model/vocab_size", "900" },
    { "--patch-tokenizer-type MistralTokenizer --load /m/Yi-6B-to-mg-tp1",
      "/model/vocab_size", "64000" },
    { "--vocab-file /data/gpt2-vocab.json", "/model/vocab_size", "50257" },
    { "--vocab-file /data/nordic_131072/vocab.json", "/model/vocab_size", "131072" },
    { "--vocab-file /data/europa/vocab.json", "/model/vocab_size", "50257" },
    { "--tokenizer-type SentencePieceTokenizer --tokenizer-model /m/spm_64k.model",
      "/model/vocab_size", "64000" },
    { "--tokenizer-type SentencePieceTokenizer --tokenizer-model "
      "/m/en_20k_ja_60k.model",
      "/model/vocab_size", "?" },
    { "--patch-tokenizer-type Qwen2Tokenizer --extra-vocab-size 293",
      "/model/vocab_size", "151936" },
    { "--tokenizer-type SentencePieceTokenizer --tokenizer-model /m/spm.model",
      "/model/vocab_size", "?" },
    { "--tokenizer-type HFTokenizer --tokenizer-model /m/Meta-Llama-3-70B-Instruct/",
      "/model/vocab_size", "128256" },
    { "--tokenizer-type Llama2Tokenizer --tokenizer-model "
      "/m/Llama-2-7b/tokenizer.model",
      "/model/vocab_size", "32000" },
    { "--tokenizer-type TokenizerFromFile --tokenizer-file /m/starcoder/tokenizer.json",
      "/model/vocab_size", "49152" },
    { "--tokenizer-type Llama2Tokenizer --tokenizer-model /m/v4_alpha.model",
      "/model/vocab_size", "?" },
    { "--tokenizer-type Llama2Tokenizer --tokenizer-model $M/x/jp-100k.v3.model",
      "/model/vocab_size", "100000" },
    { "--tensor-model-paralel-size 8", "/parallelism/tensor", "?" },
    { "--moe-num-experts 8 --moe-top-k 1", "/model/num_experts", "8" },
    { "--moe-num-experts 8 --moe-top-k 1", "/model/moe_router_topk", "1" },
    /* torchrun starts one process */
    { "--moe-num-experts 8 --moe-expert-model-parallelism", "/parallelism/expert",
      "1" },
    { "--position-embedding-type rotary", "/model/position_embedding_type",
      "\"rope\"" },
    { "--pipe-parallel-size 2", "/parallelism/pipeline", "2" },
    { "--gas 4", "/training/gradient_accumulation_steps", "4" },
    { "--ff-hidden-size 512", "/model/ffn_hidden_size", "512" },
    { "--hidden-dropout 2", "/model/hidden_dropout", "-" },
    /* DeepSpeed */
    { "--deepspeed --zero-stage 2 --fp16", "/parallelism/sharding/strategy",
      "\"gradients\"" },
    { "--deepspeed --zero-stage 1 --fp16", "/training/framework",
      "\"megatron-deepspeed\"" },
    { "--deepspeed --zero-stage 0 --bf16", "/training/framework",
      "\"megatron-deepspeed-bf16\"" },
    { "--deepspeed --zero-stage 0 --bf16", "/parallelism/sharding/strategy",
      "\"optimizer\"" },
    { "--deepspeed --zero-stage 3 --fp16", "/training/framework", "-" },
    { "--deepspeed --zero-stage 1 --fp16", "/parallelism/bucket_size",
      "\"1000000000B\"" },
    { "--deepspeed --deepspeed_config none.json", "/parallelism/sharding/strategy",
      "?" },
    { "--deepspeed --zero-stage 1 --pipeline-model-parallel-size 2",
      "/parallelism/partition", "\"type:transformer\"" },
    { "--deepspeed --zero-stage 1 --ds-sequence-parallel-size 4",
      "/parallelism/context_comm", "\"alltoall\"" },
};

static void test_fields(void)
{
    for (size_t i = 0; i < COUNT(fields); i++) {
        char text[1000];
        snprintf(text, sizeof(text), "torchrun pretrain_gpt.py " BASE "%s\n",
                 fields[i].arguments);
        expect(text, fields[i].pointer, fields[i].value);
    }
}

/* --- starters --------------------------------------------------------------------- */

static void test_starters(void)
{
    static const struct {
        const char *before, *count, *gpus; /* JSON; "-" absent, "?" unresolved */
    } starters[] = {
        { "torchrun --nproc_per_node 8 --nnodes=4 ", "4", "8" },
        { "torchrun ", "1", "1" },
        { "torchrun --nproc_per_node=gpu --nnodes 2 ", "2", "-" },
        { "torchrun --nnodes $N --nproc_per_node 8 ", "?", "8" },
        { "A=\"--nproc_per_node 8\"\nif [[ $N -gt 1 ]]; then A=\"$A --nnodes $N\"; fi\n"
          "torchrun $A ",
          "?", "8" },
        { "if [[ $N -gt 1 ]]; then A=\"--nproc_per_node 8\"; fi\ntorchrun $A ", "?",
          "-" },
        { "torchrun --rdzv_id $ID ", "1", "1" },
        { "torchrun --nnodes 1:4 --nproc_per_node 8 ", "4", "8" },
        { "python -u -m torch.distributed.launch --nproc_per_node 4 ", "1", "4" },
        { "hyperpodrun --nnodes=4 --nproc-per-node 8 ", "4", "8" },
        { "deepspeed --num_nodes 2 --num_gpus 8 ", "2", "8" },
        { "deepspeed ", "1", "-" },
        { "deepspeed --hostfile hosts ", "?", "-" },
        { "cat <<E > hosts\n# nodes\na slots=4\n\nb slots=4\nE\n"
          "deepspeed --hostfile hosts ",
          "2", "4" },
        { "echo 'a slots=8' > h\necho 'b slots=8' >> h\ndeepspeed -H h --num_gpus 2 ",
          "2", "2" },
        { "cat <<E > hosts\na slots=4\nb slots=8\nE\ndeepspeed --hostfile hosts ", "?",
          "-" },
        { "for i in 1 2 3; do echo \"n$i\" >> h; done\ndeepspeed --hostfile h ", "3",
          "-" },
        { "deepspeed --include localhost:0,1,2,3 ", "1", "4" },
        { "deepspeed -i a:0,1@b:0,1@c:4,5 ", "3", "2" },
        { "deepspeed --include=a@b ", "2", "-" },
        { "deepspeed --include a:0@b:0,1 ", "1", "?" },
        { "deepspeed --include localhost: ", "1", "?" },
        { "deepspeed --include localhost:$D ", "1", "?" },
        { "deepspeed --exclude localhost:7 ", "1", "?" },
        { "CUDA_VISIBLE_DEVICES=0,1 deepspeed ", "1", "2" },
        { "export CUDA_VISIBLE_DEVICES=2,3,5\naccelerate launch ", "-", "3" },
        { "export CUDA_VISIBLE_DEVICES=$D\ndeepspeed ", "1", "?" },
        { "CUDA_VISIBLE_DEVICES=0,1 deepspeed --num_gpus 8 ", "1", "8" },
        { "CUDA_VISIBLE_DEVICES=0,1 deepspeed --include h ", "1", "-" },
        { "CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node gpu ", "1", "2" },
        { "CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 ", "1", "2" },
        { "mpirun -np 64 -N 8 python ", "8", "8" },
        { "mpirun -np 64 python ", "?", "-" },
        { "cat <<E > hosts\na:8\nb:8\nE\nmpirun -np 16 --hostfile hosts python ", "2",
          "8" },
        { "cat <<E > hosts\na slots=8 # first\nE\nmpirun -np 4 -hostfile hosts python ",
          "1", "4" },
        { "cat <<E > hosts\na:8\nE\nmpirun -np 16 --hostfile hosts python ", "?", "8" },
        { "mpirun -np 64 -map-by ppr:8:node -x PATH python ", "8", "8" },
        { "mpirun -np 64 --map-by ppr:2:socket python ", "?", "-" },
        { "srun --nodes=4 --ntasks-per-node=8 python ", "4", "8" },
        { "srun python ", "?", "-" },
        { "#SBATCH --nodes=6 --gres=gpu:a100:4\nsrun python ", "6", "4" },
        { "#SBATCH -N 6\n#SBATCH --ntasks-per-node=8\nsrun python ", "6", "8" },
        { "#SBATCH --nodes=6\nsrun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 ",
          "6", "8" },
        { "python ", "1", "1" },
        { "WORLD_SIZE=$OMPI_COMM_WORLD_SIZE\npython ", "?", "-" },
        { "WORLD_SIZE=1\npython ", "1", "1" },
        { "CUDA_DEVICE_MAX_CONNECTIONS=1 nohup torchrun --nproc_per_node 2 ", "1",
          "2" },
    };
    for (size_t i = 0; i < COUNT(starters); i++) {
        char text[1000];
        snprintf(text, sizeof(text), "%spretrain_gpt.py " BASE "--bf16\n",
                 starters[i].before);
        expect(text, "/cluster/count", starters[i].count);
        expect(text, "/cluster/gpus_per_instance", starters[i].gpus);
    }
    expect("x='pretrain_gpt.py " BASE
           "'\nsrun -N 3 --ntasks-per-node 8 bash -c \"python "
           "$x\"\n",
           "/cluster/count", "3");
}

/* What a script does beyond one line. */
static void test_scripts(void)
{
    static const struct {
        const char *text, *pointer, *value;
    } scripts[] = {
        { "export NCCL_ALGO=Ring NCCL_DEBUG=INFO\ntorchrun pretrain_gpt.py " BASE,
          "/software/environment", "{\"NCCL_ALGO\":\"Ring\",\"NCCL_DEBUG\":\"INFO\"}" },
        { "NCCL_ALGO=Ring NCCL_DEBUG=INFO a\nexport NCCL_DEBUG=WARN\nNCCL_PROTO=Simple "
          "srun bash -c 'NCCL_ALGO=Tree torchrun pretrain_gpt.py " BASE "'",
          "/software/environment",
          "{\"NCCL_DEBUG\":\"WARN\",\"NCCL_ALGO\":\"Tree\",\"NCCL_PROTO\":"
          "\"Simple\"}" },
        { "cat <<E > d.json\n{ \"zero_optimization\": { \"stage\": 2, "
          "\"overlap_comm\": "
          "true } }\nE\ntorchrun pretrain_gpt.py " BASE
          "--deepspeed --deepspeed_config d.json\n",
          "/parallelism/overlap", "true" },
        { "cat <<E > d.json\n{ \"train_batch_size\": 7, \"zero_optimization\": { "
          "\"stage\": 1 } }\nE\ntorchrun pretrain_gpt.py " BASE
          "--deepspeed --deepspeed_config d.json\n",
          "/training/global_batch_size", "64" },
        { "torchrun pretrain_bert.py " BASE, "/model/encoder", "true" },
        { "torchrun pretrain_bert.py " BASE, "/model/vocab_size", "30522" },
        { "torchrun pretrain_t5.py " BASE, "/model/encoder_decoder", "true" },
        { "torchrun a.py " BASE "\ntorchrun b.py " BASE "--num-layers 8\n",
          "/model/num_layers", "8" },
        { "torchrun a.py " BASE "\nif [ -f x ]; then torchrun b.py " BASE
          "--num-layers 8; fi\n",
          "/model/num_layers", "16" },
        { "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2-xl "
          "--per_device_train_batch_size 4 --block_size 512 --fp16\n",
          "/training/micro_batch_size", "4" },
        { "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2-xl "
          "--per_device_train_batch_size 4 --block_size 512 --fp16\n",
          "/model", "\"gpt2-xl\"" },
        { "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2-xl "
          "--per_device_train_batch_size 4 --block_size 512 --fp16\n",
          "/training/precision", "\"amp_fp16\"" },
    };
    for (size_t i = 0; i < COUNT(scripts); i++)
        expect(scripts[i].text, scripts[i].pointer, scripts[i].value);
}

/* --- the model -------------------------------------------------------------------- */

/* Models of Megatron's words have the parameters and FLOPs of Hugging Face's. */
static void test_models(void)
{
    static const struct {
        const char *name, *words;
        double parameters; /* more than the other has: vectors */
    } models[] = {
        { "gpt3-175b",
          "{'model_type': 'megatron', 'num_layers': 96, 'hidden_size': 12288, "
          "'num_attention_heads': 96, 'max_position_embeddings': 2048, 'vocab_size': "
          "50257}",
          0 },
        { "llama2-70b",
          "{'model_type': 'megatron', 'num_layers': 80, 'hidden_size': 8192, "
          "'ffn_hidden_size': 28672, 'num_attention_heads': 64, 'num_query_groups': 8, "
          "'max_position_embeddings': 4096, 'vocab_size': 32000, 'swiglu': true, "
          "'normalization': 'RMSNorm', 'position_embedding_type': 'rope', "
          "'add_bias_linear': false, 'untie_embeddings_and_output_weights': true}",
          0 },
        { "mixtral-8x7b",
          "{'model_type': 'megatron', 'num_layers': 32, 'hidden_size': 4096, "
          "'ffn_hidden_size': 14336, 'num_attention_heads': 32, 'num_query_groups': 8, "
          "'num_experts': 8, 'moe_router_topk': 2, 'vocab_size': 32000, 'swiglu': "
          "true, 'normalization': 'RMSNorm', 'position_embedding_type': 'rope', "
          "'add_bias_linear': false, 'untie_embeddings_and_output_weights': true}",
          0 },
        { "bert-large-uncased", /* another norm before all layers, one less after */
          "{'model_type': 'megatron', 'encoder': true, 'num_layers': 24, "
          "'hidden_size': 1024, 'num_attention_heads': 16, 'max_position_embeddings': "
          "512, 'vocab_size': 30522}",
          0 },
    };
    for (size_t i = 0; i < COUNT(models); i++) {
        struct cfg_loader loader;
        struct model hf = { .hidden = 0 }, own = { .hidden = 0 };
        char text[800];
        cfg_loader_init(&loader);
        snprintf(text, sizeof(text), "{'a': '%s', 'b': %s}", models[i].name,
                 models[i].words);
        struct cfg root = cfg_parse(&loader, "models", text, strlen(text));
        CU_ASSERT_FATAL(model_read(&hf, &loader, cfg_get(root, "a")) == 0);
        CU_ASSERT_FATAL(model_read(&own, &loader, cfg_get(root, "b")) == 0);
        double more = (double)(model_parameters(&own) - model_parameters(&hf));
        CU_ASSERT(more == models[i].parameters);
        if (more != models[i].parameters)
            fprintf(stderr, "%s: %.0f more\n", models[i].name, more);
        own.ends.head = hf.ends.head; /* BERT's file names another */
        CU_ASSERT_DOUBLE_EQUAL(model_flops_per_sample(&own, 512, 512, true),
                               model_flops_per_sample(&hf, 512, 512, true), 1);
        cfg_loader_release(&loader);
    }
}

/* SwiGLU's inside is 2/3 of four times the width, to a multiple of 64 below. */
static void test_swiglu(void)
{
    static const char text[] =
        "{'m': {'model_type': 'megatron', 'num_layers': 1, 'hidden_size': 4096, "
        "'num_attention_heads': 32, 'vocab_size': 100, 'swiglu': true}}";
    struct cfg_loader loader;
    struct model m = { .hidden = 0 };
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "m", text, strlen(text));
    CU_ASSERT(model_read(&m, &loader, cfg_get(root, "m")) == 0);
    CU_ASSERT_EQUAL(m.mlp.width, 10880);
    cfg_loader_release(&loader);
}

/* --- what is said ----------------------------------------------------------------- */

static void test_words(void)
{
    static const struct {
        const char *arguments, *text; /* a part of a note, a warning or an error */
    } words[] = {
        { "--num-layers 0", "\"0\" is no whole number of at least 1" },
        { "--bf16 --fp16", "--bf16 is there, too (keep one)" },
        { "--pipeline-model-parallel-size 2 --mtp-num-layers 2 "
          "--pipeline-model-parallel-layout 'Et*12|t*12mL'",
          "its letters m are not the 2 layers" },
        { "--hybrid-layer-pattern M-M*M-M*M-M*M-M*M-M*M-M*/ME",
          "layers that predict further tokens are left out" },
        { "--distributed-backend hccl", "accelerators that are not NVIDIA's" },
        { "--distributed-backend ccl", "accelerators that are not NVIDIA's" },
        { "--tokenizer-type Llama2Tokenizer --vocab-size 600",
          "--vocab-size: without effect" },
        { "--train-iters $N", "it is left out" },
        { "--pipeline-model-parallel-size 3", "16 layers are no multiple of 3 stages" },
        { "--no-cuda", "the job computes on CPUs, which are not simulated" },
        { "--skip-train", "the job evaluates, and trains nothing" },
        { "--perform-rl-step", "rollouts of reinforcement learning" },
        { "--my-own 3", "--my-own: not known, and passed over" },
        { "--train-itersx", "--train-itersx: not known, and passed over (did you mean "
                            "\"--train-iters\"?)" },
        { "$EXTRA --lr 1e-4", "$EXTRA is taken to be no option" },
        { "--rampup-batch-size 16 16 100", "the batch that it grows to is simulated" },
        { "--pipeline-model-parallel-size 3 --num-layers-per-virtual-pipeline-stage 2",
          "16 layers are no multiple of 3 stages of chunks of 2" },
    };
    for (size_t i = 0; i < COUNT(words); i++) {
        struct launch l;
        struct cfg_loader loader;
        char text[1000];
        bool found = false;
        snprintf(text, sizeof(text), "torchrun pretrain_gpt.py " BASE "%s\n",
                 words[i].arguments);
        scenario_of(&l, &loader, text);
        for (int64_t j = 0; j < l.notes.n; j++)
            found |= strstr(l.notes.v[j].text, words[i].text) != NULL;
        for (int64_t j = 0; j < loader.diags.n_errors; j++)
            found |= strstr(diags_error_text(&loader.diags, j), words[i].text) != NULL;
        for (int64_t j = 0; j < loader.diags.n_warnings; j++)
            found |=
                strstr(diags_warning_text(&loader.diags, j), words[i].text) != NULL;
        CU_ASSERT(found);
        if (!found)
            fprintf(stderr, "%s: does not say \"%s\"\n", words[i].arguments,
                    words[i].text);
        launch_release(&l);
        cfg_loader_release(&loader);
    }
}

/* How many of the notes and warnings have a word in them. */
static int count_reported(const struct launch *l, struct cfg_loader *loader,
                          const char *word)
{
    int n = 0;
    for (int64_t i = 0; i < l->notes.n; i++)
        n += strstr(l->notes.v[i].text, word) != NULL;
    for (int64_t i = 0; i < loader->diags.n_warnings; i++)
        n += strstr(diags_warning_text(&loader->diags, i), word) != NULL;
    return n;
}

/* Switches at what they do nothing at. */
static void test_silence(void)
{
    static const char command[] =
        "torchrun pretrain_gpt.py " BASE "--moe-train-capacity-factor %d\n";
    for (int factor = 1; factor <= 2; factor++) {
        struct launch l;
        struct cfg_loader loader;
        char text[1000];
        snprintf(text, sizeof(text), command, factor);
        scenario_of(&l, &loader, text);
        CU_ASSERT_EQUAL(count_reported(&l, &loader, "capacity-factor"), factor > 1);
        launch_release(&l);
        cfg_loader_release(&loader);
    }
}

/* Variables that are given, of which the script names one. */
static void test_given(void)
{
    static const struct shell_given variables[] = {
        { .name = "LAYERS", .value = "24", .fixed = true },
        { .name = "NODS", .value = "4", .fixed = true },
    };
    static const struct launch_given given = { .shell = variables, .n_shell = 2 };
    struct launch l;
    struct cfg_loader loader;
    char got[40];
    struct cfg root = load_alone(&l, &loader,
                                 "LAYERS=16\nNODES=2\n"
                                 "torchrun --nnodes $NODES pretrain_gpt.py " BASE
                                 "--num-layers $LAYERS\n",
                                 ".sh", &given);
    field_of(got, sizeof(got), &l, root, "/model/num_layers");
    CU_ASSERT_STRING_EQUAL(got, "24");
    CU_ASSERT_EQUAL(count_reported(&l, &loader, "has no such variable"), 1);
    CU_ASSERT_EQUAL(count_reported(&l, &loader, "/shell/NODS"), 1);
    CU_ASSERT_EQUAL(count_reported(&l, &loader, "did you mean NODES?"), 1);
    launch_release(&l);
    cfg_loader_release(&loader);
}

void test_megatron_register(void)
{
    CU_pSuite suite = CU_add_suite("Megatron's scripts", NULL, NULL);
    CU_add_test(suite, "fields of the scenario", test_fields);
    CU_add_test(suite, "what starts them", test_starters);
    CU_add_test(suite, "more than a line", test_scripts);
    CU_add_test(suite, "models of Megatron's words", test_models);
    CU_add_test(suite, "the inside of SwiGLU", test_swiglu);
    CU_add_test(suite, "what is said", test_words);
    CU_add_test(suite, "what is not said", test_silence);
    CU_add_test(suite, "variables that are given", test_given);
}
