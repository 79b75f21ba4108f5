/* Fields that several keys make: sharding, precision, checkpointing, lengths. */
#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/llmfoundry/llmfoundry.h"
#include "dialect/trainer/trainer.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define WIDE "/parallelism/"
#define CKPT "/training/activation_checkpointing"

/* A word in capitals, as Composer reads it. */
static const char *upper(struct launch_context *t, const struct value *c,
                         const char *key, const char *otherwise)
{
    char *word = arena_strdup(t->arena, launch_word(c, key, otherwise));
    for (char *s = word; *s; s++)
        *s = (char)toupper((unsigned char)*s);
    return word;
}

/* Degrees of a mesh take the strategy's place; -1 is what is left. */
static void take_mesh(struct launch_context *t, const struct value *c)
{
    const struct value_item *shard =
                                value_get(c, "fsdp_config.data_parallel_shard_degree"),
                            *copies = value_get(
                                c, "fsdp_config.data_parallel_replicate_degree");
    int64_t n = -1, m = 1;
    launch_hear(t, shard);
    launch_hear(t, copies);
    if (shard && launch_whole(shard->value, &n) && n > 0)
        launch_set(t, WIDE "sharding/degree", json_integer((json_int_t)n), shard);
    else if (copies && launch_whole(copies->value, &m) && m > 1)
        trainer_take_copies(t, copies);
}

/* Only "ffn" is there, which splits MLPs alone (llmfoundry/tp_strategies.py). */
static void take_tensor(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "tp_config.tensor_parallel_degree");
    int64_t n = 2;
    if (it && (!launch_whole(it->value, &n) || n > 1))
        launch_add_unresolved(t, WIDE "tensor", it->line,
                              "%s: MLPs alone are split, which is not simulated",
                              it->key);
    launch_hear(t, it);
}

/* composer/utils/parallelism.py: without the section DDP, with it FULL_SHARD. */
static bool take_sharding(struct launch_context *t, const struct value *c, bool section)
{
    static const struct {
        const char *word, *strategy;
        bool hybrid;
    } strategies[] = {
        { "FULL_SHARD", "full", false },
        { "HYBRID_SHARD", "full", true },
        { "SHARD_GRAD_OP", "gradients", false },
        { "_HYBRID_SHARD_ZERO2", "gradients", true },
        { "NO_SHARD", "none", false },
    };
    const struct value_item *it = value_get(c, "fsdp_config.sharding_strategy"),
                            *offload = value_get(c, "fsdp_config.cpu_offload"),
                            *limit = value_get(c, "fsdp_config.limit_all_gathers");
    const char *word = upper(t, c, "fsdp_config.sharding_strategy", "FULL_SHARD");
    size_t i = 0, n = sizeof(strategies) / sizeof(strategies[0]);
    if (!section) {
        launch_assume(t, WIDE "library", json_string("ddp"), "no fsdp_config");
        return false;
    }
    while (i < n && strcmp(strategies[i].word, word) != 0)
        i++;
    launch_assume(t, WIDE "library", json_string("fsdp"), "fsdp_config");
    if (strncmp(launch_word(c, "model.name", ""), "hf_", 3) != 0)
        launch_assume(t, "/training/framework", json_string("fsdp-torch2"),
                      "Composer with llm-foundry's own modules");
    if (i == n || (it && it->value->kind != VALUE_STRING)) {
        launch_unresolved_item(t, WIDE "sharding/strategy", it, "strategy of FSDP");
        launch_hear(t, it);
        return true;
    }
    launch_settle_item(t, WIDE "sharding/strategy", json_string(strategies[i].strategy),
                       it, "sharding_strategy's default");
    if (strategies[i].hybrid)
        trainer_take_hybrid(t, it);
    take_mesh(t, c);
    bool limits = launch_switch(t, WIDE "sharding/limit_all_gathers", limit, true);
    if (!launch_is_unresolved(t, WIDE "sharding/limit_all_gathers"))
        launch_settle_item(t, WIDE "sharding/limit_all_gathers", json_boolean(limits),
                           limit, "limit_all_gathers' default");
    if (launch_switch(t, WIDE "sharding/offload", offload, false))
        trainer_take_offload(t, offload, strcmp(strategies[i].strategy, "full") == 0);
    launch_hear(t, offload);
    return strcmp(strategies[i].strategy, "none") != 0;
}

/* mixed_precision: PURE computes and reduces in 16 bits, DEFAULT reduces in fp32, FULL
 * gathers fp32 weights and autocasts (composer/distributed/mosaic_parallelism.py). */
struct mixed {
    const char *parameters, *reduce; /* NULL: fp32 */
};

static struct mixed mixed_of(struct launch_context *t, const struct value *c,
                             const char *half)
{
    const struct value_item *pure = value_get(c, "fsdp_config.mixed_precision"),
                            *weights =
                                value_get(c, "fsdp_config.mixed_precision.param_dtype"),
                            *sums = value_get(
                                c, "fsdp_config.mixed_precision.reduce_dtype");
    const char *word = upper(t, c, "fsdp_config.mixed_precision", "DEFAULT");
    launch_hear(t, pure);
    launch_hear(t, weights);
    launch_hear(t, sums);
    launch_hear(t, value_get(c, "fsdp_config.mixed_precision.buffer_dtype"));
    if (weights || sums)
        return (struct mixed) {
            weights && strstr(launch_word(weights ? c : NULL, weights->key, ""), "16")
                ? half
                : NULL,
            sums && strstr(launch_word(c, sums->key, ""), "16") ? half : NULL
        };
    if (strcmp(word, "FULL") == 0)
        return (struct mixed) { NULL, NULL };
    if (strcmp(word, "PURE") == 0)
        return (struct mixed) { half, half };
    if (strcmp(word, "DEFAULT") != 0)
        launch_unresolved_item(t, "/training/precision", pure,
                               "mixed precision of Composer (PURE, DEFAULT, FULL)");
    return (struct mixed) { half, NULL };
}

/* Products in fp8 are Transformer Engine's alone. */
static bool has_engine(const struct value *c)
{
    return strcmp(launch_word(c, "model.fc_type", ""), "te") == 0 ||
           strcmp(launch_word(c, "model.fc_type.name", ""), "te") == 0 ||
           strcmp(launch_word(c, "model.ffn_config.ffn_type", ""), "te_ln_mlp") == 0;
}

static void take_precision(struct launch_context *t, const struct value *c, bool shards)
{
    static const char at[] = "/training/precision";
    const struct value_item *it = value_get(c, "precision"),
                            *engine = value_get(c, "model.fc_type"),
                            *master = value_get(c, "model.master_weights_dtype");
    const char *word = launch_word(c, "precision", "amp_bf16");
    const char *half = strcmp(word, "amp_fp16") == 0 ? "fp16" : "bf16";
    bool fp8 = strcmp(word, "amp_fp8") == 0;
    static const char *const known[] = { "amp_bf16", "amp_fp16", "amp_fp8", "fp32",
                                         NULL };
    launch_hear(t, it);
    launch_hear(t, engine);
    if (!names_listed(known, word)) {
        launch_unresolved_item(t, at, it, "precision of Composer");
        return;
    }
    if (fp8 && !has_engine(c))
        launch_note(t->l, it->line, DIAG_ASSUMED,
                    "%s: without fc_type: te no product is in fp8; bf16 is taken",
                    it->key);
    fp8 = fp8 && has_engine(c);
    struct mixed m = shards ? mixed_of(t, c, half) : (struct mixed) { NULL, NULL };
    const char *computes = fp8 ? "fp8" : half;
    launch_settle_item(t, at,
                       json_string(strcmp(word, "fp32") == 0 ? "fp32"
                                   : m.parameters
                                       ? computes
                                       : arena_printf(t->arena, "amp_%s", computes)),
                       it, "precision's default");
    if (strcmp(word, "fp32") != 0 && shards)
        launch_assume(t, "/training/gradient_dtype",
                      json_string(m.reduce ? m.reduce : "fp32"),
                      "fsdp_config.mixed_precision");
    if (master && strstr(launch_word(c, "model.master_weights_dtype", ""), "16"))
        launch_set(t, "/training/master_weights", json_false(), master);
    launch_hear(t, master);
}

/* Every block, or those of a target, which has names of blocks and how many of them. */
static void take_checkpointing(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "fsdp_config.activation_checkpointing"),
                            *offload =
                                value_get(c, "fsdp_config.activation_cpu_offload");
    bool on = launch_switch(t, CKPT, it, false);
    launch_hear(t, it);
    launch_hear(t, offload);
    for (int32_t i = 0; i < c->n; i++) {
        const struct value_item *target = &c->items[i];
        if (strncmp(target->key, "model.activation_checkpointing_target",
                    strlen("model.activation_checkpointing_target")) != 0 &&
            strncmp(target->key, "fsdp_config.activation_checkpointing_target",
                    strlen("fsdp_config.activation_checkpointing_target")) != 0)
            continue;
        launch_hear(t, target);
        if (on && target->value->kind != VALUE_NONE)
            launch_add_unresolved(t, CKPT, target->line,
                                  "%s: a part of the blocks is checkpointed, which is "
                                  "not read",
                                  target->key);
    }
    if (on && !launch_is_unresolved(t, CKPT))
        launch_set(t, CKPT, json_string("full"), it);
    if (!launch_switch(t, WIDE "offload_activations", offload, false))
        return;
    if (on)
        launch_set(t, WIDE "offload_activations", json_true(), offload);
    else
        launch_note(t->l, offload->line, DIAG_NOT_SIMULATED, "%s: is not simulated",
                    offload->key);
}

/* Packed examples fill a sequence; else they are padded to its length, or to the
 * longest of the batch (llmfoundry/data/finetuning/collator.py). */
static void take_lengths(struct launch_context *t, const struct value *c)
{
    const struct value_item *ratio = value_get(c, "train_loader.dataset.packing_ratio"),
                            *trim =
                                value_get(c, "train_loader.dataset.allow_pad_trimming");
    bool packs = ratio && !launch_is_off(ratio->value);
    launch_hear(t, ratio);
    if (!packs && trim && launch_true(trim->value))
        launch_note(t->l, trim->line, DIAG_ASSUMED,
                    "%s: each sequence is taken to be of the full length (give --set "
                    "/training/sequence_length=N for a shorter mean)",
                    trim->key);
}

void llmfoundry_take_states(struct launch_context *t, const struct value *c,
                            bool section)
{
    bool shards = take_sharding(t, c, section);
    take_tensor(t, c);
    take_precision(t, c, shards);
    take_checkpointing(t, c);
    take_lengths(t, c);
}
