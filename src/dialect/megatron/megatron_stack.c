/* What Megatron's arguments say of the software and what it does with memory and time:
 * the profile, kernels of attention, precision, recomputation, what is sharded and
 * overlaps. */
#include "dialect/megatron/megatron.h"

#include "base/names.h"
#include "config/pointer.h"

#include <inttypes.h>
#include <string.h>

#define BUCKET_MAX 1000000000000 /* elements */

/* Software ------------------------------------------------------------------------- */

bool megatron_uses_deepspeed(const struct launch_command *c)
{
    return launch_option(c, "--deepspeed") || launch_option(c, "--deepspeed-config");
}

/* bf16 in Megatron-DeepSpeed is DeepSpeed's BF16_Optimizer below stage 2. */
static void take_deepspeed_framework(struct launch_context *t,
                                     const struct launch_command *c)
{
    const char *strategy =
        json_string_value(pointer_get(t->tree, "/parallelism/sharding/strategy"));
    const struct value_item *bf16 = launch_option(c, "--bf16");
    bool low = !strategy || strcmp(strategy, "optimizer") == 0;
    if (strategy && strcmp(strategy, "full") == 0)
        return; /* ZeRO-3's own */
    launch_decide(
        t, "/training/framework",
        json_string(bf16 && low ? "megatron-deepspeed-bf16" : "megatron-deepspeed"),
        bf16 && low ? bf16 : launch_option(c, "--deepspeed"), "DeepSpeed's own");
    if (bf16 && low)
        launch_decide(t, "/parallelism/sharding/strategy", json_string("optimizer"),
                      bf16, "");
}

void megatron_take_framework(struct launch_context *t, const struct launch_command *c)
{
    if (megatron_uses_deepspeed(c)) {
        take_deepspeed_framework(t, c);
        return;
    }
    if (!launch_is_unresolved(t, "/parallelism/library"))
        launch_decide(t, "/parallelism/library", json_string("megatron"), NULL,
                      "Megatron's own");
    megatron_take_release(t, c);
}

/* What the arguments say. Where they do not, the profile's own: Transformer Engine's
 * choice, or a fused softmax (scenario/attention.h). */
void megatron_take_attention(struct launch_context *t, const struct launch_command *c)
{
    static const char *const flash[] = {
        "--use-flash-attn",        "--use-flash-attn-v1",      "--use-flash-attn-v2",
        "--use-flash-attn-triton", "--use-flash-attn-builder", NULL
    };
    static const char backend[] = "--attention-backend";
    const struct value_item *fused = launch_any_option(c, flash),
                            *named = launch_option(c, backend),
                            *plain = launch_option(c, "--no-masked-softmax-fusion");
    static const char *const backends[] = { "flash", "fused", "unfused",
                                            "local", "auto",  NULL };
    if (named && !(named->value->kind == VALUE_STRING &&
                   names_listed(backends, named->value->text))) {
        launch_hear(t, named);
        launch_unresolved_item(t, "/training/attention", named, "backend of attention");
        return;
    }
    bool auto_backend = !named || launch_option_is(c, backend, "auto");
    bool own = launch_option_is(c, backend, "unfused") ||
               launch_option_is(c, backend, "local");
    const struct value_item *local =
        own ? named
        : launch_option_is(c, "--transformer-impl", "local")
            ? launch_option(c, "--transformer-impl")
            : NULL;
    if (!fused && !local && !auto_backend)
        fused = named;
    bool ignored = plain && !local && megatron_is_core(c);
    if (ignored)
        launch_note(t->l, plain->line, DIAG_WITHOUT_EFFECT,
                    "%s: without effect: Transformer Engine's attention, which "
                    "Megatron-Core's layers use, does not read it",
                    plain->key);
    if (fused)
        launch_decide(t, "/training/attention", json_string("flash"), fused, "");
    else if (plain && !ignored)
        launch_decide(t, "/training/attention", json_string("unfused"), plain, "");
    else if (local)
        launch_decide(t, "/training/attention", json_string("fused-softmax"), local,
                      "");
}

/* The optimizer, and what overlaps ------------------------------------------------- */

/* In elements of the gradients' type: fp32, unless a narrower one was decided. */
static void take_bucket(struct launch_context *t, const struct launch_command *c)
{
    static const char pointer[] = "/parallelism/bucket_size";
    const struct value_item *it = launch_option(c, "--ddp-bucket-size");
    bool narrow = launch_has(t, "/training/gradient_dtype"),
         overlaps = launch_option(c, "--overlap-grad-reduce") != NULL;
    int64_t n, each_B = narrow ? 2 : 4;
    if (!it)
        return;
    launch_hear(t, it);
    if (!overlaps)
        launch_note(t->l, it->line, DIAG_WITHOUT_EFFECT,
                    "%s: without effect, as --overlap-grad-reduce is not there",
                    it->key);
    else if (!launch_whole(it->value, &n))
        launch_unresolved_item(t, pointer, it, "number of elements");
    else if (n < 1 || n > BUCKET_MAX)
        launch_wrong_option(t, it, DIAG_OUT_OF_RANGE,
                            "it is no number of elements of a bucket");
    else
        launch_decide(t, pointer, json_sprintf("%" PRId64 "B", n * each_B), it, "");
}

void megatron_take_overlaps(struct launch_context *t, const struct launch_command *c)
{
    static const char *const sharded[] = { "--use-distributed-optimizer",
                                           "--overlapped-distributed-optimizer", NULL },
                             *const reduced[] = { "--overlap-grad-reduce",
                                                  "--overlapped-distributed-optimizer",
                                                  NULL },
                             *const gathered[] = { "--overlap-param-gather",
                                                   "--overlapped-distributed-optimizer",
                                                   NULL };
    /* Megatron-LLaMA's overlaps both */
    const struct value_item *owners = launch_option(c, "--optimizer"),
                            *given = launch_any_option(c, sharded),
                            *sums = launch_any_option(c, reduced),
                            *gathers = launch_any_option(c, gathered),
                            *pieces = launch_option(c, "--tp-comm-overlap");
    /* "dist_muon" is muon with it (arguments.py, core_v0.19.0) */
    bool layers = owners && owners->value->kind == VALUE_STRING &&
                  strcmp(owners->value->text, "dist_muon") == 0;
    const struct value_item *shards = given ? given : layers ? owners : NULL;
    const char *framework =
        json_string_value(pointer_get(t->tree, "/training/framework"));
    bool core = framework && strcmp(framework, "megatron-core") == 0;
    if (shards && !launch_is_unresolved(t, "/parallelism/sharding/strategy"))
        launch_decide(t, "/parallelism/sharding/strategy", json_string("optimizer"),
                      shards, "");
    launch_hear(t, shards);
    megatron_take_instances(t, c);
    if (megatron_is_fsdp(t)) { /* it overlaps unit by unit */
        launch_hear(t, sums);
        launch_hear(t, gathers);
        launch_hear(t, pieces);
        return;
    }
    launch_decide(t, "/parallelism/overlap", json_boolean(sums != NULL), sums,
                  "without --overlap-grad-reduce");
    if (shards)
        launch_decide(t, "/parallelism/overlap_param_gather",
                      json_boolean(gathers != NULL), gathers,
                      "without --overlap-param-gather");
    else if (gathers)
        launch_note(t->l, gathers->line, DIAG_WITHOUT_EFFECT,
                    "%s: without effect, as --use-distributed-optimizer is not there",
                    gathers->key);
    take_bucket(t, c);
    if (core && launch_has(t, "/parallelism/tensor"))
        launch_decide(t, "/parallelism/overlap_tensor", json_boolean(pieces != NULL),
                      pieces, "without --tp-comm-overlap");
}
