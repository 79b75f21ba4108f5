/* Options of Megatron that make a training something else, and those of few releases
 * (NVIDIA/Megatron-LM core_r0.3 to main of 2026-08, megatron/training/arguments.py;
 * deepspeedai/Megatron-DeepSpeed and bigscience-workshop/Megatron-DeepSpeed,
 * megatron/arguments.py). */
#include "dialect/megatron/megatron.h"

#include <string.h>

/* Scales of one number a tensor are those that are simulated. */
static bool usual_recipe(const struct value *v)
{
    return v->kind == VALUE_STRING &&
           (strcmp(v->text, "delayed") == 0 || strcmp(v->text, "tensorwise") == 0);
}

/* clang-format off */
const struct dialect_option megatron_refused_rows[] = {
    ROW("--skip-train", NULL, .class = DIALECT_REFUSED, .why = "the job evaluates, and trains nothing (leave it out to simulate its training)"),
    ROW("--eval-only", NULL, .class = DIALECT_REFUSED, .why = "the job evaluates, and trains nothing (leave it out to simulate its training)"),
    ROW("--inference", NULL, .class = DIALECT_REFUSED, .why = "the job infers, and trains nothing"),
    ROW("--perform-rl-step", NULL, .class = DIALECT_REFUSED, .why = "rollouts of reinforcement learning are not simulated"),
    ROW("--rl-*", NULL, .class = DIALECT_REFUSED, .why = "rollouts of reinforcement learning are not simulated"),
    ROW("--grpo-*", NULL, .class = DIALECT_REFUSED, .why = "rollouts of reinforcement learning are not simulated"),
    ROW("--langrl-*", NULL, .class = DIALECT_REFUSED, .why = "rollouts of reinforcement learning are not simulated"),
    ROW("--is-hybrid-model", NULL, .class = DIALECT_REFUSED, .why = "state-space layers (Mamba) are not simulated"),
    ROW("--hybrid-*", NULL, .class = DIALECT_REFUSED, .why = "state-space layers (Mamba) are not simulated"),
    ROW("--mamba-*", NULL, .class = DIALECT_REFUSED, .why = "state-space layers (Mamba) are not simulated"),
    ROW("--linear-attention-freq", NULL, .class = DIALECT_REFUSED, .why = "linear attention is not simulated"),
    ROW("--experimental-attention-variant", NULL, .class = DIALECT_REFUSED, .why = "linear and sparse attention are not simulated"),
    ROW("--heterogeneous-*", NULL, .class = DIALECT_REFUSED, .why = "layers of different sizes are not simulated"),
    ROW("--retro-add-retriever", NULL, .class = DIALECT_REFUSED, .why = "an encoder of retrieved neighbours is not simulated"),
    ROW("--retro-*", NULL, .class = DIALECT_REFUSED, .why = "an encoder of retrieved neighbours is not simulated"),
    ROW("--vision-*", NULL, .class = DIALECT_REFUSED, .why = "images are not simulated here"),
    ROW("--dino-*", NULL, .class = DIALECT_REFUSED, .why = "images are not simulated here"),
    ROW("--swin-*", NULL, .class = DIALECT_REFUSED, .why = "images are not simulated here"),
    ROW("--biencoder-*", NULL, .class = DIALECT_REFUSED, .why = "two encoders for retrieval are not simulated"),
    ROW("--ict-*", NULL, .class = DIALECT_REFUSED, .why = "two encoders for retrieval are not simulated"),
    ROW("--kd", NULL, .class = DIALECT_REFUSED, .why = "distillation has a second model, which is not simulated"),
    ROW("--mos", NULL, .class = DIALECT_REFUSED, .why = "distillation has a second model, which is not simulated"),
    ROW("--kd-*", NULL, .class = DIALECT_REFUSED, .why = "distillation has a second model, which is not simulated"),
    ROW("--num-layers-teacher", NULL, .class = DIALECT_REFUSED, .why = "distillation has a second model, which is not simulated"),
    ROW("--hidden-size-teacher", NULL, .class = DIALECT_REFUSED, .why = "distillation has a second model, which is not simulated"),
    ROW("--num-attention-heads-teacher", NULL, .class = DIALECT_REFUSED, .why = "distillation has a second model, which is not simulated"),
    ROW("--num-experts-teacher", NULL, .class = DIALECT_REFUSED, .why = "distillation has a second model, which is not simulated"),
    ROW("--load-teacher", NULL, .class = DIALECT_REFUSED, .why = "distillation has a second model, which is not simulated"),
    ROW("--export-kd-*", NULL, .class = DIALECT_REFUSED, .why = "distillation has a second model, which is not simulated"),
    ROW("--yaml-cfg", NULL, .class = DIALECT_REFUSED, .why = "arguments in a YAML file are not read (give them as options)"),
    ROW_END,
};
const struct dialect_option megatron_later_rows[] = {
    ROW("--fp8-recipe", NULL, .class = DIALECT_UNSIMULATED, .off = usual_recipe),
    ROW_UNSIMULATED("--fp8-param-gather"), ROW_UNSIMULATED("--fp4-*"),
    ROW_UNSIMULATED("--reuse-grad-buf-for-mxfp8-param-ag"), ROW_UNSIMULATED("--exp-avg-*"),
    ROW_UNSIMULATED("--main-*"), ROW_UNSIMULATED("--memory-centric-*"), ROW_UNSIMULATED("--tile-factor"),
    ROW_UNSIMULATED("--embedding-weights-in-fp32"), ROW_UNSIMULATED("--fp32-residual-connection"),
    ROW_UNSIMULATED("--fp16-lm-cross-entropy"), ROW_UNSIMULATED("--outer-dp-sharding-strategy"),
    ROW_UNSIMULATED("--megatron-fsdp-*"), ROW_UNSIMULATED("--fsdp-*"),
    ROW_UNSIMULATED("--enable-full-sharding-in-hsdp"), ROW_UNSIMULATED("--torch-fsdp2-*"),
    ROW_UNSIMULATED("--no-data-sharding"), ROW_UNSIMULATED("--create-all-gather-group"), ROW_UNSIMULATED("--gtp-*"),
    ROW_UNSIMULATED("--ddp-num-buckets"), ROW_UNSIMULATED("--optimizer-cuda-graph"),
    ROW_UNSIMULATED("--no-pin-cpu-*"), ROW_UNSIMULATED("--use-pin-memory"),
    ROW_UNSIMULATED("--use-torch-optimizer-for-cpu-offload"), ROW_UNSIMULATED("--overlap-cpu-optimizer-*"),
    ROW_UNSIMULATED("--use-bnb-optimizer"), ROW_UNSIMULATED("--window-attn-skip-freq"),
    ROW_UNSIMULATED("--enable-zbh1-*"), ROW_UNSIMULATED("--split-transformers"),
    ROW_UNSIMULATED("--enable-expert-tensor-parallelism"), ROW_UNSIMULATED("--mla-down-proj-fusion"),
    ROW_UNSIMULATED("--moe-upcycling-*"), ROW_UNSIMULATED("--zero-reduce-*"), ROW_UNSIMULATED("--zero-allgather-*"),
    ROW_UNSIMULATED("--contigious-checkpointing"), ROW_UNSIMULATED("--scattered-embeddings"),
    ROW_UNSIMULATED("--fine-grained-activation-offloading"), ROW_UNSIMULATED("--offload-modules"),
    ROW_UNSIMULATED("--mtp-*"), ROW_UNSIMULATED("--moe-latent-size"), ROW_UNSIMULATED("--mhc-*"),
    ROW_UNSIMULATED("--enable-mhc-*"), ROW_UNSIMULATED("--no-fp8-wgrad"),
    ROW_UNSIMULATED("--te-precision-config-file"), ROW_UNSIMULATED("--kitchen-*"),
    ROW_UNSIMULATED("--zero-contigious-gradients"), ROW_UNSIMULATED("--use-kitchen*"),
    ROW_UNSIMULATED("--dataloader-inter-document-masking"), ROW_UNSIMULATED("--moe-enable-deepep"),
    ROW_UNSIMULATED("--moe-shared-expert-overlap"), ROW_UNSIMULATED("--mup-*"), ROW_UNSIMULATED("--use-mup"),
    ROW_UNSIMULATED("--relative-attention-max-distance"), ROW_UNSIMULATED("--attention-output-gate"),
    ROW_IDLE("--allow-ambiguous-pad-tokens"), ROW_IDLE("--aml-data-download-path"), ROW_IDLE("--app-tag-*"),
    ROW_IDLE("--apply-residual-connection-post-layernorm"), ROW_IDLE("--apply-wd-to-qk-layernorm"),
    ROW_IDLE("--calc-ft-timeouts"), ROW_IDLE("--dataloader-defer-*"), ROW_IDLE("--dataloader-fast-*"),
    ROW_IDLE("--disable-msc"), ROW_IDLE("--enable-msc"), ROW_IDLE("--disable-symmetric-registration"),
    ROW_IDLE("--ds-fused-adam"), ROW_IDLE("--dump-param-*"), ROW_IDLE("--enable-experimental"),
    ROW_IDLE("--evidence-data-path"), ROW_IDLE("--titles-data-path"), ROW_IDLE("--block-data-path"),
    ROW_IDLE("--embedding-path"), ROW_IDLE("--force-ds-sequence-parallel"), ROW_IDLE("--ft-*"),
    ROW_IDLE("--iter-per-epoch"), ROW_IDLE("--lazy-mpu-init"), ROW_IDLE("--lion-*"),
    ROW_IDLE("--loss-on-targets-only"), ROW_IDLE("--mean-noise-span-length"), ROW_IDLE("--noise-density"),
    ROW_IDLE("--max-tokens-to-oom"), ROW_IDLE("--mid-level-dataset-surplus"), ROW_IDLE("--mscale*"),
    ROW_IDLE("--muon-*"), ROW_IDLE("--yarn-*"), ROW_IDLE("--no-yarn-*"), ROW_IDLE("--no-barrier-with-*"),
    ROW_IDLE("--no-gradient-reduce-div-fusion"), ROW_IDLE("--no-one-logger"),
    ROW_IDLE("--no-use-layer-wise-param-layout"), ROW_IDLE("--object-storage-*"), ROW_IDLE("--otel-*"),
    ROW_IDLE("--output-logit-dtype"), ROW_IDLE("--per-dataset-sequences-path"),
    ROW_IDLE("--phase-transition-iterations"), ROW_IDLE("--repeated-dataloader"), ROW_IDLE("--reset-iteration"),
    ROW_IDLE("--rope-type"), ROW_IDLE("--no-rope-freq"), ROW_IDLE("--run-workload-inspector-server"),
    ROW_IDLE("--skip-train-iteration-range"), ROW_IDLE("--suggested-communication-unit-size"),
    ROW_IDLE("--sync-tp-duplicated-parameters"), ROW_IDLE("--test-weighted-split-*"), ROW_IDLE("--train-desc-path"),
    ROW_IDLE("--train-idx-path"), ROW_IDLE("--trust-remote-code"), ROW_IDLE("--use-dataset-only"),
    ROW_IDLE("--use-one-sent-docs"), ROW_IDLE("--use-same-sampling-*"), ROW_IDLE("--cache-mla-latents"),
    ROW_IDLE("--decode-only-cuda-graphs"), ROW_IDLE("--enable-chunked-prefill"),
    ROW_IDLE("--use-legacy-static-engine"), ROW_IDLE("--num-speculative-tokens"), ROW_IDLE("--ds-inference"),
    ROW_IDLE("--mask-factor"), ROW_IDLE("--mask-type"), ROW_IDLE("--data-parallel-random-init"),
    ROW_IDLE("--disable-moe-top2-*"), ROW_IDLE("--qk-clip*"), ROW_IDLE("--log-max-attention-logit"),
    ROW_IDLE("--train-doc-idx-path"), ROW_IDLE("--train-sample-idx-path"), ROW_IDLE("--train-shuffle-idx-path"),
    ROW_END,
};
/* clang-format on */
