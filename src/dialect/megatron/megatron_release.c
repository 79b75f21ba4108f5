/* Which Megatron an argument list is of, by options that only some releases have
 * (NVIDIA/Megatron-LM, arguments.py of the tags v1.0 to core_v0.19.0): layers of
 * Transformer Engine are the default since 0.6, its own models since 0.8. */
#include "dialect/megatron/megatron.h"

#include "base/names.h"

#include <string.h>

/* clang-format off */
/* Options by the first release of Megatron-Core that has them, the latest first. */
static const struct since {
    const char *release, *month;
    const char *const *options;
} core[] = {
    { "0.19", "2026-08", (const char *const[]) { "--activation-offload-fraction", "--dataloader-inter-document-masking", "--flash-attention-version", "--moe-ncclep-zero-copy",
                                                 "--tensor-parallel-num-weight-shards", NULL } },
    { "0.18", "2026-06", (const char *const[]) { "--cuda-graph-modules", "--moe-paged-stash", "--step-batch-size-schedule", "--high-priority-a2a-comm-stream",
                                                 "--moe-permute-fusion-into-hybridep",
                                                 "--overlap-dispatch-backward-with-experts-wgrad", NULL } },
    { "0.17", "2026-04", (const char *const[]) { "--hybrid-layer-pattern", "--mtp-use-repeated-layer", "--async-strategy", "--use-mup", "--optimizer-cuda-graph", NULL } },
    { "0.16", "2026-02", (const char *const[]) { "--fine-grained-activation-offloading", "--moe-flex-dispatcher-backend", "--moe-latent-size", "--te-precision-config-file",
                                                 "--outer-dp-sharding-strategy", "--muon-momentum", NULL } },
    { "0.15", "2025-12", (const char *const[]) { "--cuda-graph-impl", "--fp4-format", "--softmax-type", "--window-attn-skip-freq", NULL } },
    { "0.14", "2025-10", (const char *const[]) { "--use-megatron-fsdp", "--overlap-moe-expert-parallel-comm", "--moe-router-fusion", NULL } },
    { "0.13", "2025-07", (const char *const[]) { "--delay-wgrad-compute", "--moe-deepep-num-sms", "--moe-router-force-load-balancing", "--pipeline-model-parallel-layout",
                                                 "--use-nccl-ub", NULL } },
    { "0.12", "2025-05", (const char *const[]) { "--fp8-recipe", "--grad-reduce-in-bf16", "--mtp-num-layers", "--moe-enable-deepep", "--moe-router-dtype", "--recompute-modules",
                                                 "--optimizer-cpu-offload", "--external-cuda-graph", "--use-custom-fsdp", "--cross-entropy-fusion-impl", NULL } },
    { "0.11", "2025-03", (const char *const[]) { "--attention-backend", "--use-precision-aware-optimizer", "--moe-permute-fusion", "--moe-router-score-function",
                                                 "--moe-router-enable-expert-bias", "--num-virtual-stages-per-pipeline-rank", "--enable-cuda-graph", "--te-rng-tracker", NULL } },
    { "0.10", "2025-02", (const char *const[]) { "--cp-comm-type", "--multi-latent-attention", "--moe-ffn-hidden-size", "--moe-layer-freq", "--expert-tensor-parallel-size",
                                                 "--moe-shared-expert-intermediate-size", "--use-torch-fsdp2", "--use-rope-scaling", "--num-distributed-optimizer-instances",
                                                 "--rerun-mode", "--record-memory-history", NULL } },
    { "0.9", "2024-10", (const char *const[]) { "--ckpt-format", "--decoder-first-pipeline-num-layers", "--decoder-last-pipeline-num-layers", "--fp8-param-gather",
                                                "--train-sync-interval", "--non-persistent-ckpt-type", "--enable-ft-package", NULL } },
    { "0.8", "2024-08", (const char *const[]) { "--cross-entropy-loss-fusion", "--ddp-average-in-collective", "--moe-router-pre-softmax", "--dist-ckpt-strictness",
                                                "--defer-embedding-wgrad-compute", "--tiktoken-pattern", NULL } },
    { "0.7", "2024-05", (const char *const[]) { "--ddp-bucket-size", "--async-save", "--calculate-per-token-loss", "--ckpt-fully-parallel-load",
                                                "--moe-pad-expert-input-to-capacity", NULL } },
    { "0.6", "2024-04", (const char *const[]) { "--moe-token-dispatcher-type", "--use-dist-ckpt", "--dist-ckpt-format", "--ckpt-fully-parallel-save", "--auto-detect-ckpt-format",
                                                "--no-create-attention-mask-in-dataloader", "--decoupled-lr", NULL } },
    { "0.5", "2024-02", (const char *const[]) { "--moe-router-topk", "--moe-grouped-gemm", "--moe-router-load-balancing-type", "--no-rope-fusion", "--mock-data", NULL } },
    { "0.4", "2023-12", (const char *const[]) { "--use-mcore-models", "--overlap-grad-reduce", "--overlap-param-gather", "--context-parallel-size", "--tp-comm-overlap",
                                                "--fp8-format", "--fp8-hybrid", "--expert-model-parallel-size", NULL } },
};
/* Before sequence parallelism and selective recomputation; forks of later releases may
 * keep all but the first. */
static const char *const old_words[] = { "--DDP-impl", "--checkpoint-activations", "--checkpoint-num-layers",
                                         "--activations-checkpoint-method", NULL };
/* clang-format on */

static const struct value_item *core_of(const struct launch_command *c,
                                        const struct since **since)
{
    for (size_t i = 0; i < sizeof(core) / sizeof(core[0]); i++) {
        const struct value_item *it = launch_any_option(c, core[i].options);
        *since = &core[i];
        if (it)
            return it;
    }
    return launch_option_is(c, "--transformer-impl", "transformer_engine")
               ? launch_option(c, "--transformer-impl")
               : NULL;
}

bool megatron_is_since(const struct launch_command *c, const char *release)
{
    size_t i = 0;
    for (bool last = false; i < sizeof(core) / sizeof(core[0]) && !last; i++) {
        if (launch_any_option(c, core[i].options))
            return true;
        last = strcmp(core[i].release, release) == 0;
    }
    return false;
}

bool megatron_is_core(const struct launch_command *c)
{
    const struct since *since = NULL;
    return core_of(c, &since) && !launch_option(c, old_words[0]) &&
           !launch_option(c, "--use-legacy-models") && !megatron_uses_deepspeed(c);
}

/* An option that only shows a release is left to what else is said of it. */
static void take_core(struct launch_context *t, const struct value_item *it,
                      const struct since *since, bool local)
{
    if (!launch_has(t, "/training/framework"))
        launch_set(t, "/training/framework",
                   json_string(local ? "megatron-2022" : "megatron-core"), it);
    launch_note(
        t->l, it->line, DIAG_ASSUMED, "%s: of Megatron-Core %s (%s) or later, %s",
        it->key, since->release, since->month,
        local ? "taken with Megatron-LM's own layers (--transformer-impl)"
              : "taken with Transformer Engine's layers (the default since 0.6)");
}

void megatron_take_release(struct launch_context *t, const struct launch_command *c)
{
    static const char framework[] = "/training/framework",
                      otherwise[] = "(give --set /training/framework=megatron-core for "
                                    "0.6 of 2024-04 and later)";
    const struct since *since = NULL;
    const struct value_item *it = core_of(c, &since),
                            *old = launch_any_option(c, old_words),
                            *legacy = launch_option(c, "--use-legacy-models");
    if (legacy) {
        launch_decide(t, framework, json_string("megatron-2022"), legacy, "");
        launch_note(
            t->l, legacy->line, DIAG_ASSUMED,
            "%s: of Megatron-Core 0.8 (2024-08) to 0.17, taken as Megatron-LM of "
            "2022 and 2023",
            legacy->key);
    } else if (it && !launch_option(c, old_words[0])) {
        bool own = launch_option(c, "--use-mcore-models") != NULL;
        launch_hear(t, launch_option(c, "--use-mcore-models"));
        take_core(t, it, since,
                  !own && launch_option_is(c, "--transformer-impl", "local"));
    } else if (old) {
        launch_decide(t, framework, json_string("megatron-2021"), old, "");
        launch_note(t->l, old->line, DIAG_ASSUMED, "%s: of Megatron-LM until 2022",
                    old->key);
    } else {
        launch_decide(t, framework, json_string("megatron-2022"), NULL,
                      "Megatron's of 2022");
        launch_note(
            t->l, c->command->line, DIAG_ASSUMED,
            "no option is of Megatron-Core alone: Megatron-LM of 2022 and 2023 is "
            "taken, with its own layers %s",
            otherwise);
    }
}
