/* Megatron's arguments that no field of a scenario is made of: without a part in a
 * step, not simulated, or not known (Megatron-LM's arguments.py up to Megatron-Core
 * 0.15, Megatron-DeepSpeed's and BigScience's). */
#include "base/strbuf.h"
#include "dialect/megatron/megatron.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
/* "*" at the end stands for any rest. */
static const char *const idle[] = {
    /* data, tokenizers, seeds */
    "--data-*", "--train-data-*", "--valid-data-*", "--test-data-*", "--split",
    "--vocab-file", "--merge-file", "--tokenizer-*", "--mock-data", "--dataloader-type",
    "--num-workers", "--valid-num-workers", "--reset-position-ids", "--eod-mask-loss",
    "--reset-attention-mask", "--no-create-attention-mask-in-dataloader", "--seed",
    "--no-mmap-bin-files", "--tiktoken-*", "--train-weighted-split-paths*", "--dataset*",
    "--valid-weighted-split-paths*", "--per-split-data-args-path", "--reweight-*",
    "--patch-tokenizer-type", "--extra-vocab-size", "--max-padding-length", "--fim-*",
    "--num-dataset-builder-threads", "--mmap-warmup", "--short-seq-prob", "--mask-prob",
    "--vocab-extra-ids", "--decoder-seq-length", "--train-sync-interval", "--load-*",
    "--goldfish-*", "--sft*", "--return-*",
    /* learning rates, the optimizer's numbers, initialisation */
    "--lr*", "--min-lr", "--decoupled-*", "--warmup*", "--weight-decay*", "--adam-*",
    "--sgd-momentum", "--start-weight-decay", "--end-weight-decay", "--init-method-*",
    "--override-*", "--use-checkpoint-*", "--loss-scale*", "--initial-loss-scale",
    "--min-loss-scale", "--hysteresis", "--norm-epsilon", "--layernorm-epsilon",
    "--apply-layernorm-1p", "--apply-query-key-layer-scaling", "--norm-*",
    "--no-query-key-layer-scaling", "--attention-softmax-in-fp32", "--rotary-*",
    "--use-rope-scaling", "--rope-scaling-factor", "--no-position-embedding",
    "--calculate-per-token-loss", "--no-weight-decay-cond-type", "--moe-aux-loss-coeff",
    "--moe-loss-coeff", "--moe-z-loss-coeff", "--moe-router-load-balancing-type",
    "--moe-router-*", "--create-moe-param-group", "--scale-lr-*", "--bert-*",
    "--perform-initialization", "--no-initialization", "--init-weight-method",
    "--use-cpu-initialization", "--head-lr-mult", "--exp-avg-*", "--main-*",
    /* files, logs, evaluation, how a job starts and ends */
    "--save*", "--load", "--log*", "--eval-*", "--tensorboard-*", "--wandb-*", "--no-log-*",
    "--one-logger-*", "--no-save-*", "--no-load-*", "--finetune", "--exit-*", "--ckpt-*",
    "--dist-ckpt-*", "--async-*", "--use-dist-ckpt*", "--auto-detect-ckpt-format",
    "--distributed-backend", "--distributed-timeout-*", "--local-rank", "--node-rank",
    "--master-*", "--profile*", "--use-pytorch-profiler", "--manual-gc*", "--timing-*",
    "--empty-unused-memory-level", "--kill-switch-*", "--abort-on-*", "--skip-train",
    "--codecarbon-*", "--barrier-with-*", "--enable-one-logger", "--check-*",
    "--no-check-*", "--nvidia-*", "--straggler-*", "--enable-ft-*", "--record-memory-*",
    "--memory-*", "--adlr-*", "--universal-checkpoint", "--retro-*", "--print-*",
    "--result-*", "--sample-*", "--rerun-*", "--error-injection-*", "--inprocess-*",
    "--te-rng-tracker", "--inference-*", "--export-*", "--pretrained-*", "--test-mode",
    "--replication*", "--use-persistent-ckpt-worker", "--verify-*", "--train-cost-*",
    "--disable-straggler-*", "--logging-level", "--non-persistent-*",
    /* how the software is chosen; the profile stands for it */
    "--use-mcore-models", "--use-legacy-models", "--transformer-impl", "--attention-backend",
    "--DDP-impl", "--fp8-*", "--fp8", "--no-masked-softmax-fusion", "--ddp-*", "--spec",
    "--no-persist-layer-norm", "--no-gradient-accumulation-fusion", "--no-bias-*",
    "--no-async-tensor-model-parallel-allreduce", "--no-contiguous-*", "--no-rope-fusion",
    "--cross-entropy-*", "--no-scatter-gather-*", "--moe-token-dispatcher-type",
    "--moe-permute-fusion", "--moe-grouped-gemm", "--use-ring-exchange-p2p", "--nccl-*",
    "--no-bias-gelu-fusion", "--bias-*", "--use-contiguous-*", "--use-sharp",
    "--high-priority-stream-groups", "--overlap-p2p-*", "--no-overlap-p2p-communication",
    "--accumulate-allreduce-grads-in-fp32", "--no-delay-grad-reduce", "--delay-*",
    "--no-align-*", "--align-*", "--deepspeed-activation-checkpointing",
    "--no-pipeline-parallel", "--disable-moe-token-dropping", "--moe-pad-*",
    "--transformer-pipeline-*", "--use-nccl-*", "--openai-gelu", "--onnx-safe",
    "--use-mpi", "--no-mlp-*", "--use-pytorch-*", "--fused-*", "--tp-comm-overlap-*",
    "--disable-tp-comm-*", "--tp-comm-split-*", "--tp-comm-bulk-*", "--context-parallel-*",
    "--batch-p2p-*", "--disable-mem-efficient-ln", "--defer-embedding-wgrad-*",
    "--no-load-balancing*", "--keep-fp8-*", "--enable-gloo-*", "--disable-gloo-*",
    "--use-gloo-*", "--distribute-checkpointed-activations", "--synchronize-*", NULL,
};
static const char *const taken[] = { /* beside the rows: read where they matter */
    "--bf16", "--fp16", "--fp8-format", "--fp8-hybrid", "--fp8-e4m3", "--use-flash-attn",
    "--use-flash-attn-v1", "--use-flash-attn-v2", "--use-flash-attn-triton",
    "--use-flash-attn-builder", "--recompute-activations", "--recompute-granularity",
    "--recompute-method", "--recompute-num-layers", "--recompute-modules",
    "--checkpoint-activations", "--checkpoint-num-layers",
    "--activations-checkpoint-granularity", "--activations-checkpoint-method",
    "--activations-checkpoint-num-layers", "--sequence-parallel",
    "--use-distributed-optimizer",
    "--overlap-grad-reduce", "--overlap-param-gather", "--tp-comm-overlap",
    "--num-layers-per-virtual-pipeline-stage", "--num-virtual-stages-per-pipeline-rank",
    "--decoder-first-pipeline-num-layers", "--decoder-last-pipeline-num-layers",
    "--group-query-attention", "--vocab-size", "--padded-vocab-size",
    "--pad-vocab-size-to", "--make-vocab-size-divisible-by", "--train-samples",
    "--train-tokens", "--rampup-batch-size", "--deepspeed", "--deepspeed-config",
    "--zero-stage", "--grad-reduce-in-bf16", "--moe-ffn-hidden-size", NULL,
};
static const char *const unsimulated[] = {
    "--multi-latent-attention", "--mtp-num-layers", "--moe-shared-expert-gate",
    "--moe-layer-freq", "--expert-interval", "--moe-layer-recompute",
    "--expert-tensor-parallel-size", "--moe-expert-capacity-factor", "--moe-extended-tp",
    "--moe-train-capacity-factor", "--moe-eval-capacity-factor", "--moe-min-capacity",
    "--distribute-saved-activations", "--partition-activations", "--checkpoint-in-cpu",
    "--cpu-offloading*", "--optimizer-cpu-offload", "--optimizer-offload-*",
    "--cpu-optimizer", "--cpu-torch-adam", "--remote-device", "--use-torch-fsdp2",
    "--use-megatron-fsdp", "--use-custom-fsdp", "--data-parallel-sharding-strategy",
    "--num-distributed-optimizer-instances", "--external-cuda-graph", "--cuda-graph-*",
    "--enable-cuda-graph", "--standalone-embedding-stage", "--use-precision-aware-optimizer",
    "--account-for-embedding-in-pipeline-split", "--account-for-loss-in-pipeline-split",
    "--pipeline-model-parallel-layout", "--pipeline-model-parallel-split-rank",
    "--encoder-pipeline-*", "--encoder-tensor-*", "--hierarchical-context-*",
    "--overlap-param-gather-with-optimizer-step", "--overlap-moe-expert-*",
    "--window-size", "--swin-*", "--mlp-type", "--curriculum-learning",
    "--random-ltd", "--data-efficiency-*", "--compression-training", "--kd", "--lora-*",
    "--use-tutel", "--quick-geglu", "--is-hybrid-model", "--hybrid-*", "--mamba-*",
    "--heterogeneous-*", "--moe-use-legacy-*", "--moe-use-upcycling", "--q-lora-rank",
    "--kv-lora-rank", "--freeze-*", "--peft-*", "--fpdt-*", "--ds-sequence-parallel-fpdt*",
    NULL,
};
/* clang-format on */

static const char *const flags[] = {
    "--bf16",
    "--fp16",
    "--swiglu",
    "--squared-relu",
    "--sequence-parallel",
    "--use-*",
    "--overlap-grad-reduce",
    "--overlap-param-gather",
    "--tp-comm-overlap",
    "--recompute-activations",
    "--checkpoint-activations",
    "--deepspeed",
    "--deepspeed-activation-checkpointing",
    "--group-query-attention",
    "--untie-embeddings-and-output-weights",
    "--disable-*",
    "--no-*",
    "--add-qkv-bias",
    "--embed-layernorm",
    "--mock-data",
    "--finetune",
    NULL,
};

static bool fits(const char *const *list, const char *word)
{
    for (; *list; list++) {
        size_t n = strlen(*list);
        bool open = (*list)[n - 1] == '*';
        if (open ? strncmp(*list, word, n - 1) == 0 : strcmp(*list, word) == 0)
            return true;
    }
    return false;
}

bool megatron_is_flag(const char *option)
{
    return fits(flags, option);
}

static bool is_row(const struct launch_row *rows, const char *word)
{
    for (; rows->name; rows++)
        if (strcmp(rows->name, word) == 0)
            return true;
    return false;
}

/* Whether a switch says no, or a number what it does nothing at. */
static bool is_off(const struct value_item *it)
{
    int64_t n;
    return it->value->kind == VALUE_STRING && launch_whole(it->value, &n) && n <= 1;
}

/* The name that a word nearly is, of those that are taken. */
static const char *nearest(struct arena *arena, const char *word)
{
    VEC(struct name_value) names = { 0 };
    for (const struct launch_row *const *table = megatron_tables; *table; table++)
        for (const struct launch_row *row = *table; row->name; row++)
            VEC_PUSH(&names, ((struct name_value) { row->name, 1 }));
    for (const char *const *name = taken; *name; name++)
        if (!strchr(*name, '*'))
            VEC_PUSH(&names, ((struct name_value) { *name, 1 }));
    VEC_PUSH(&names, ((struct name_value) { NULL, 0 }));
    const char *near = names_nearest(names.v, word);
    VEC_RELEASE(&names);
    return near ? arena_strdup(arena, near) : NULL;
}

static bool is_taken(const char *word)
{
    for (const struct launch_row *const *table = megatron_tables; *table; table++)
        if (is_row(*table, word))
            return true;
    return fits(taken, word);
}

static void write_unknown(struct launch_context *t, struct strbuf *names, int64_t line)
{
    if (names->len)
        diags_add(&t->l->loader->diags,
                  diag_at_line(DIAG_WARNING, DIAG_UNKNOWN_KEY, t->l->file, line),
                  "not known, and passed over: %s", strbuf_get(names));
    strbuf_release(names);
}

/* Names options that are not known, in warnings of one line each. */
static void warn_unknown(struct launch_context *t, const struct launch_command *c)
{
    enum { LINE_MAX_B = 300 };
    struct strbuf b;
    int64_t line = 0;
    strbuf_init(&b);
    for (int32_t i = 0; i < c->options.n; i++) {
        const struct value_item *it = &c->options.items[i];
        if (is_taken(it->key) || fits(unsimulated, it->key) || fits(idle, it->key))
            continue;
        const char *near = nearest(t->arena, it->key);
        line = b.len ? line : it->line;
        strbuf_printf(&b, "%s%.60s%s%s%s", b.len ? ", " : "", it->key,
                      near ? " (did you mean " : "", near ? near : "",
                      near ? "?)" : "");
        if (b.len > LINE_MAX_B)
            write_unknown(t, &b, line);
    }
    write_unknown(t, &b, line);
}

void megatron_check_options(struct launch_context *t, const struct launch_command *c)
{
    struct launch_idle unheard;
    launch_idle_init(&unheard, t->l, c->command->line, "");
    for (int32_t i = 0; i < c->options.n; i++) {
        const struct value_item *it = &c->options.items[i];
        bool known = is_taken(it->key);
        if (launch_is_heard(t, it) || (known && launch_is_off(it->value)) ||
            (known && is_off(it)))
            continue;
        bool unsure = fits(unsimulated, it->key);
        if (unsure && !is_off(it))
            launch_note(t->l, it->line, DIAG_NOT_SIMULATED, "%.60s: is not simulated",
                        it->key);
        else if (!unsure && (known || fits(idle, it->key)))
            launch_idle_add(&unheard, "%.60s", it->key);
    }
    launch_idle_end(&unheard);
    warn_unknown(t, c);
}

const char *const *megatron_words(int which)
{
    static const char *const *const lists[] = { idle, taken, unsimulated };
    return which < 3 ? lists[which] : NULL;
}
