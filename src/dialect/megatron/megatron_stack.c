/* What Megatron's arguments say of the software and what it does with memory and time:
 * the profile, kernels of attention, precision, recomputation, what is sharded and
 * overlaps. */
#include "config/datadir.h"
#include "dialect/megatron/megatron.h"
#include "model/hub.h"

#include "config/datadir.h"
#include "config/pointer.h"
#include "model/hub.h"

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
    if (fused)
        launch_decide(t, "/training/attention", json_string("flash"), fused, "");
    else if (plain)
        launch_decide(t, "/training/attention", json_string("unfused"), plain, "");
    else if (local)
        launch_decide(t, "/training/attention", json_string("fused-softmax"), local,
                      "");
}

/* Precision ------------------------------------------------------------------------ */

void megatron_take_precision(struct launch_context *t, const struct launch_command *c)
{
    static const char *const fp8_words[] = { "--fp8-format", "--fp8-hybrid",
                                             "--fp8-e4m3", NULL };
    const struct value_item *fp8 = launch_any_option(c, fp8_words),
                            *bf16 = launch_option(c, "--bf16"),
                            *fp16 = launch_option(c, "--fp16");
    const struct value_item *it = fp8 ? fp8 : bf16 ? bf16 : fp16;
    const char *word = fp8 ? "fp8" : bf16 ? "bf16" : fp16 ? "fp16" : "fp32";
    if (bf16 && fp16)
        launch_wrong_option(t, fp16, DIAG_CONTRADICTION,
                            "--bf16 is there, too (keep one)");
    if (!it)
        launch_note(t->l, c->command->line, DIAG_ASSUMED,
                    "neither --bf16 nor --fp16 is there: the job computes in fp32");
    launch_decide(t, "/training/precision", json_string(word), it,
                  "without --fp16 and --bf16");
    launch_hear(t, bf16 ? bf16 : fp16); /* the 16-bit format with fp8 */
    const struct value_item *narrow = launch_option(c, "--grad-reduce-in-bf16");
    const struct value_item *wide =
        launch_option(c, "--accumulate-allreduce-grads-in-fp32");
    bool half = fp16 && !bf16 && !fp8 && !megatron_uses_deepspeed(c);
    if (narrow)
        launch_decide(t, "/training/gradient_dtype", json_string("bf16"), narrow, "");
    else if (half && !wide) /* bf16 alone is summed in fp32 */
        launch_decide(t, "/training/gradient_dtype", json_string("fp16"), fp16, "");
    else if (half)
        launch_hear(t, wide);
}

/* Recomputation -------------------------------------------------------------------- */

static void recompute(struct launch_context *t, json_t *value,
                      const struct value_item *it)
{
    launch_decide(t, "/training/activation_checkpointing", value, it, "");
}

/* Of a model by its name what its config.json says; 0: it is not known. */
static int64_t layers_of(struct launch_context *t)
{
    static const char *const keys[] = { "num_layers", "num_hidden_layers", "n_layer" };
    const json_t *model = json_object_get(t->tree, "model");
    const char *name = json_string_value(model);
    struct cfg config = { 0 };
    if (name)
        config = hub_is_id(name)
                     ? hub_load(t->l->loader, name, (struct cfg) { 0 })
                     : datadir_load(t->l->loader, "models", name, (struct cfg) { 0 });
    const json_t *sizes = name ? config.json : model, *n = NULL;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !n; i++)
        n = json_object_get(sizes, keys[i]);
    return json_is_integer(n) ? (int64_t)json_integer_value(n) : 0;
}

/* So many layers of each chunk, the others keep all. */
static void recompute_block(struct launch_context *t, const struct value_item *it,
                            int64_t n)
{
    int64_t layers = layers_of(t),
            chunk = layers / launch_number(t, "/parallelism/pipeline", 1) /
                    launch_number(t, "/parallelism/virtual_stages", 1);
    if (!layers) {
        launch_add_unresolved(t, "/training/activation_checkpointing", it->line,
                              "%s: of how many layers these are, is not known: "
                              "{\"every\": N} is one in N, \"full\" all",
                              it->key);
        return;
    }
    int64_t every = n < chunk ? (chunk + n / 2) / n : 1;
    if (every <= 1) {
        recompute(t, json_string("full"), it);
        return;
    }
    recompute(t, json_pack("{s:I}", "every", (json_int_t)every), it);
    launch_note(t->l, it->line, DIAG_APPROXIMATE,
                "block: %" PRId64 " of the %" PRId64 " layers of a chunk are taken as "
                "one in %" PRId64,
                n, chunk, every);
}

void megatron_recompute_layers(struct launch_context *t, const struct value_item *it,
                               const struct value_item *method,
                               const struct value_item *count)
{
    bool block = method && method->value->kind == VALUE_STRING &&
                 strcmp(method->value->text, "block") == 0;
    int64_t n = 1;
    launch_hear(t, method);
    launch_hear(t, count);
    if (count && (!launch_whole(count->value, &n) || n < 1)) {
        launch_unresolved_item(t, "/training/activation_checkpointing", count,
                               "number of layers");
        return;
    }
    if (block)
        recompute_block(t, count ? count : it, n);
    else if (n > 1)
        recompute(t, json_pack("{s:I}", "group", (json_int_t)n), count);
    else
        recompute(t, json_string("full"), it);
}

void megatron_take_recompute(struct launch_context *t, const struct launch_command *c)
{
    static const char *const granularities[] = { "--recompute-granularity",
                                                 "--activations-checkpoint-granularity",
                                                 NULL },
                             *const whole[] = { "--checkpoint-activations",
                                                "--activations-checkpoint-method",
                                                NULL };
    static const char *const methods[] = { "--recompute-method",
                                           "--activations-checkpoint-method", NULL },
                             *const counts[] = { "--recompute-num-layers",
                                                 "--activations-checkpoint-num-layers",
                                                 "--checkpoint-num-layers", NULL };
    const struct value_item *some = launch_option(c, "--recompute-activations"),
                            *how = launch_any_option(c, granularities),
                            *all = launch_any_option(c, whole),
                            *modules = launch_option(c, "--recompute-modules");
    bool selective = how && how->value->kind == VALUE_STRING &&
                     strcmp(how->value->text, "selective") == 0;
    if (how && how->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, "/training/activation_checkpointing", how, "word");
    else if (some || selective)
        recompute(t, json_string("selective"), some ? some : how);
    else if (how || all)
        megatron_recompute_layers(t, how ? how : all, launch_any_option(c, methods),
                                  launch_any_option(c, counts));
    if (modules && !(modules->value->kind == VALUE_STRING &&
                     strcmp(modules->value->text, "core_attn") == 0))
        launch_note(t->l, modules->line, DIAG_APPROXIMATE,
                    "%s: what is computed again is taken to be attention alone",
                    modules->key);
    launch_hear(t, modules);
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
    const struct value_item *shards = launch_option(c, "--use-distributed-optimizer"),
                            *sums = launch_option(c, "--overlap-grad-reduce"),
                            *gathers = launch_option(c, "--overlap-param-gather"),
                            *pieces = launch_option(c, "--tp-comm-overlap");
    const char *framework =
        json_string_value(pointer_get(t->tree, "/training/framework"));
    bool core = framework && strcmp(framework, "megatron-core") == 0;
    if (shards)
        launch_decide(t, "/parallelism/sharding/strategy", json_string("optimizer"),
                      shards, "");
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
