/* Megatron's arguments (Megatron-LM's arguments.py; Megatron-DeepSpeed's and
 * BigScience's of the same names) as fields of a scenario. */
#include "parallel/launch_shell.h"

#include "base/names.h"
#include "config/pointer.h"

#include <inttypes.h>
#include <string.h>

static bool has(const struct launch_command *c, const char *name)
{
    return launch_option(c, name) != NULL;
}

/* The first of the options (a list NULL ends) that is there. */
static const struct python_item *any_of(const struct launch_command *c,
                                        const char *const *names)
{
    const struct python_item *it = NULL;
    for (; *names && !it; names++)
        it = launch_option(c, *names);
    return it;
}

/* A field that an option decides, or, without one, its default. */
static void set(struct taking *t, const char *pointer, json_t *value,
                const struct python_item *it, const char *otherwise)
{
    struct python_value v = { .line = t->command->command->line };
    const struct python_item from = { otherwise, v.line, &v };
    if (launch_has(t, pointer))
        json_decref(value);
    else
        launch_set(t, pointer, value, it ? it : &from);
}

bool launch_is_megatron(const struct python_value *options)
{
    static const char *const marks[] = { "--num-layers",
                                         "--encoder-num-layers",
                                         "--hidden-size",
                                         "--tensor-model-parallel-size",
                                         "--pipeline-model-parallel-size",
                                         "--micro-batch-size",
                                         NULL };
    int found = 0;
    for (int32_t i = 0; i < options->n; i++)
        found += names_listed(marks, options->items[i].key);
    return found > 1;
}

/* --- single options --------------------------------------------------------------- */

static void take_clipping(struct taking *t, const struct launch_row *row,
                          const struct python_item *it)
{
    double norm;
    if (it->value->kind == PYTHON_UNKNOWN || !launch_real(it->value, &norm))
        launch_doubt_item(t, row->pointer, it, "norm");
    else if (norm < 0)
        launch_wrong_option(t, it, "it is no norm of at least 0 (0 is none)");
    else
        launch_set(t, row->pointer, json_real(norm), it);
}

/* A degree of one is said by leaving it out. */
static void take_degree(struct taking *t, const struct launch_row *row,
                        const struct python_item *it)
{
    int64_t n;
    if (!launch_whole(it->value, &n) || n != 1)
        launch_take_size(t, row, it);
}

static void take_optimizer(struct taking *t, const struct launch_row *row,
                           const struct python_item *it)
{
    static const char *const known[] = { "adam", "adamw", "sgd", "lamb", NULL };
    if (it->value->kind == PYTHON_STRING && names_listed(known, it->value->text))
        launch_set(t, row->pointer, json_string(it->value->text), it);
    else
        launch_doubt_item(t, row->pointer, it, "optimizer that is simulated");
}

static void take_context_comm(struct taking *t, const struct launch_row *row,
                              const struct python_item *it)
{
    static const char *const words[][2] = { { "p2p", "ring" },
                                            { "all_gather", "all-gather" },
                                            { "a2a", "alltoall" } };
    const char *text = it->value->kind == PYTHON_STRING ? it->value->text : "";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i][0]) == 0 && launch_has(t, "/parallelism/context"))
            launch_set(t, row->pointer, json_string(words[i][1]), it);
    if (strcmp(text, "a2a+p2p") == 0)
        launch_note(t->l, it->value->line, "%s: a2a+p2p is taken for p2p", it->key);
}

/* The order of ranks: data parallel ones between tensor and pipeline, or outermost. */
static void take_order(struct taking *t, const struct launch_row *row,
                       const struct python_item *it)
{
    launch_set(t, row->pointer, json_string("DPT"), it);
}

/* DeepSpeed's Ulysses: heads are dealt out by all-to-all. */
static void take_ulysses(struct taking *t, const struct launch_row *row,
                         const struct python_item *it)
{
    take_degree(t, row, it);
    if (launch_has(t, row->pointer))
        launch_set(t, "/parallelism/context_comm", json_string("alltoall"), it);
}

/* 'type:transformer', its quotes perhaps kept by the shell. */
static void take_partition(struct taking *t, const struct launch_row *row,
                           const struct python_item *it)
{
    static const char *const known[] = { "type:transformer",
                                         "type:transformer|embedding", "parameters",
                                         "uniform", NULL };
    const char *text = it->value->kind == PYTHON_STRING ? it->value->text : "";
    text += strspn(text, "'\"");
    const char *word = arena_strndup(t->arena, text, strcspn(text, "'\""));
    if (!launch_has(t, "/parallelism/pipeline"))
        return;
    if (names_listed(known, word))
        launch_set(t, row->pointer, json_string(word), it);
    else
        launch_doubt_item(t, row->pointer, it, "partition that is simulated");
}

/* clang-format off */
#define WIDE "/parallelism/"
const struct launch_row launch_megatron_job[] = {
    { "--tensor-model-parallel-size",   WIDE "tensor",       take_degree },
    { "--model-parallel-size",          WIDE "tensor",       take_degree },
    { "--pipeline-model-parallel-size", WIDE "pipeline",     take_degree },
    { "--context-parallel-size",        WIDE "context",      take_degree },
    { "--ds-sequence-parallel-size",    WIDE "context",      take_ulysses },
    { "--cp-comm-type",                 WIDE "context_comm", take_context_comm },
    { "--expert-model-parallel-size",   WIDE "expert",       take_degree },
    { "--moe-expert-parallel-size",     WIDE "expert",       take_degree },
    { "--use-tp-pp-dp-mapping",         WIDE "placement",    take_order },
    { "--pp-partition-method",          WIDE "partition",    take_partition },
    { "--seq-length",                   "/training/sequence_length",   launch_take_size },
    { "--encoder-seq-length",           "/training/sequence_length",   launch_take_size },
    { "--micro-batch-size",             "/training/micro_batch_size",  launch_take_size },
    { "--global-batch-size",            "/training/global_batch_size", launch_take_size },
    { "--train-iters",                  "/training/steps",             launch_take_size },
    { "--clip-grad",                    "/training/gradient_clipping", take_clipping },
    { "--optimizer",                    "/training/optimizer",         take_optimizer },
    { NULL, NULL, NULL },
};
/* clang-format on */
const struct launch_row *const launch_megatron_tables[] = { launch_megatron_job,
                                                            launch_megatron_model,
                                                            NULL };

/* --- software: which Megatron it is, by what only it understands -------------------- */

/* With Transformer Engine, as from 2024 on. */
static const char *const core_words[] = { "--use-mcore-models",
                                          "--attention-backend",
                                          "--overlap-grad-reduce",
                                          "--overlap-param-gather",
                                          "--context-parallel-size",
                                          "--tp-comm-overlap",
                                          "--fp8-format",
                                          "--fp8-hybrid",
                                          "--cp-comm-type",
                                          "--moe-router-topk",
                                          "--moe-token-dispatcher-type",
                                          "--ckpt-format",
                                          "--expert-model-parallel-size",
                                          "--cross-entropy-loss-fusion",
                                          NULL };
/* Before sequence parallelism and selective recomputation. */
static const char *const old_words[] = { "--checkpoint-activations",
                                         "--checkpoint-num-layers", "--DDP-impl",
                                         "--activations-checkpoint-method", NULL };

static bool uses_deepspeed(const struct launch_command *c)
{
    return has(c, "--deepspeed") || has(c, "--deepspeed-config");
}

static const struct python_item *core_of(const struct launch_command *c)
{
    const struct python_item *it = any_of(c, core_words);
    if (!it && launch_option_is(c, "--transformer-impl", "transformer_engine"))
        it = launch_option(c, "--transformer-impl");
    return it;
}

/* bf16 in Megatron-DeepSpeed is DeepSpeed's BF16_Optimizer below stage 2. */
static void take_deepspeed_framework(struct taking *t, const struct launch_command *c)
{
    const char *strategy =
        json_string_value(pointer_get(t->tree, "/parallelism/sharding/strategy"));
    const struct python_item *bf16 = launch_option(c, "--bf16");
    bool low = !strategy || strcmp(strategy, "optimizer") == 0;
    if (strategy && strcmp(strategy, "full") == 0)
        return; /* ZeRO-3's own */
    set(t, "/training/framework",
        json_string(bf16 && low ? "megatron-deepspeed-bf16" : "megatron-deepspeed"),
        bf16 && low ? bf16 : launch_option(c, "--deepspeed"), "DeepSpeed's own");
    if (bf16 && low)
        set(t, "/parallelism/sharding/strategy", json_string("optimizer"), bf16, "");
}

static void take_framework(struct taking *t, const struct launch_command *c)
{
    const struct python_item *core = core_of(c), *old = any_of(c, old_words);
    if (uses_deepspeed(c)) {
        take_deepspeed_framework(t, c);
        return;
    }
    set(t, "/parallelism/library", json_string("megatron"), NULL, "Megatron's own");
    set(t, "/training/framework",
        json_string(core  ? "megatron-core"
                    : old ? "megatron-2021"
                          : "megatron-2022"),
        core ? core : old, "Megatron's of 2022");
}

/* Transformer Engine takes a fused kernel unless told otherwise; older ones have their
 * own softmax. */
static void take_attention(struct taking *t, const struct launch_command *c)
{
    static const char *const flash[] = {
        "--use-flash-attn",        "--use-flash-attn-v1",      "--use-flash-attn-v2",
        "--use-flash-attn-triton", "--use-flash-attn-builder", NULL
    };
    const struct python_item *it = any_of(c, flash),
                             *backend = launch_option(c, "--attention-backend"),
                             *core = uses_deepspeed(c) ? NULL : core_of(c);
    bool local = launch_option_is(c, "--attention-backend", "unfused") ||
                 launch_option_is(c, "--attention-backend", "local") ||
                 launch_option_is(c, "--transformer-impl", "local");
    const struct python_item *plain = launch_option(c, "--no-masked-softmax-fusion");
    const char *word = it || (core && !local) ? "flash"
                       : plain                ? "unfused"
                                              : "fused-softmax";
    const struct python_item *from = it        ? it
                                     : backend ? backend
                                     : local   ? launch_option(c, "--transformer-impl")
                                     : core    ? core
                                               : plain;
    set(t, "/training/attention", json_string(word), from, "Megatron's own kernel");
}

/* --- precision -------------------------------------------------------------------- */

static void take_precision(struct taking *t, const struct launch_command *c)
{
    static const char *const fp8_words[] = { "--fp8-format", "--fp8-hybrid",
                                             "--fp8-e4m3", NULL };
    const struct python_item *fp8 = any_of(c, fp8_words),
                             *bf16 = launch_option(c, "--bf16"),
                             *fp16 = launch_option(c, "--fp16");
    const struct python_item *it = fp8 ? fp8 : bf16 ? bf16 : fp16;
    const char *word = fp8 ? "fp8" : bf16 ? "bf16" : fp16 ? "fp16" : "fp32";
    if (bf16 && fp16)
        launch_wrong_option(t, fp16, "--bf16 is there, too (keep one)");
    if (!it)
        launch_note(t->l, c->command->line,
                    "neither --bf16 nor --fp16 is there: the job computes in fp32");
    set(t, "/training/precision", json_string(word), it, "without --fp16 and --bf16");
    const struct python_item *narrow = launch_option(c, "--grad-reduce-in-bf16");
    bool wide = has(c, "--accumulate-allreduce-grads-in-fp32") || uses_deepspeed(c);
    if (narrow)
        set(t, "/training/gradient_dtype", json_string("bf16"), narrow, "");
    else if (fp16 && !bf16 && !fp8 && !wide) /* bf16 alone is summed in fp32 */
        set(t, "/training/gradient_dtype", json_string("fp16"), fp16, "");
}

/* --- recomputation ---------------------------------------------------------------- */

static void recompute(struct taking *t, json_t *value, const struct python_item *it)
{
    set(t, "/training/activation_checkpointing", value, it, "");
}

/* So many layers of each chunk, the others keep all. */
static void recompute_block(struct taking *t, const struct python_item *it, int64_t n)
{
    int64_t chunk = launch_number(t, "/model/num_layers", 1) /
                    launch_number(t, "/parallelism/pipeline", 1) /
                    launch_number(t, "/parallelism/virtual_stages", 1);
    int64_t every = n < chunk ? (chunk + n / 2) / n : 1;
    if (every <= 1) {
        recompute(t, json_string("full"), it);
        return;
    }
    recompute(t, json_pack("{s:I}", "every", (json_int_t)every), it);
    launch_note(t->l, it->line,
                "block: %" PRId64 " of the %" PRId64 " layers of a chunk are taken as "
                "one in %" PRId64,
                n, chunk, every);
}

static void take_recompute_full(struct taking *t, const struct launch_command *c,
                                const struct python_item *it)
{
    static const char *const methods[] = { "--recompute-method",
                                           "--activations-checkpoint-method", NULL },
                             *const counts[] = { "--recompute-num-layers",
                                                 "--activations-checkpoint-num-layers",
                                                 "--checkpoint-num-layers", NULL };
    const struct python_item *method = any_of(c, methods), *count = any_of(c, counts);
    bool block = method && method->value->kind == PYTHON_STRING &&
                 strcmp(method->value->text, "block") == 0;
    int64_t n = 1;
    if (count && (!launch_whole(count->value, &n) || n < 1)) {
        launch_doubt_item(t, "/training/activation_checkpointing", count,
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

static void take_recompute(struct taking *t, const struct launch_command *c)
{
    static const char *const granularities[] = { "--recompute-granularity",
                                                 "--activations-checkpoint-granularity",
                                                 NULL },
                             *const whole[] = { "--checkpoint-activations",
                                                "--activations-checkpoint-method",
                                                NULL };
    const struct python_item *some = launch_option(c, "--recompute-activations"),
                             *how = any_of(c, granularities), *all = any_of(c, whole),
                             *modules = launch_option(c, "--recompute-modules");
    bool selective = how && how->value->kind == PYTHON_STRING &&
                     strcmp(how->value->text, "selective") == 0;
    if (how && how->value->kind == PYTHON_UNKNOWN)
        launch_doubt_item(t, "/training/activation_checkpointing", how, "word");
    else if (some || selective)
        recompute(t, json_string("selective"), some ? some : how);
    else if (how || all)
        take_recompute_full(t, c, how ? how : all);
    if (modules && !(modules->value->kind == PYTHON_STRING &&
                     strcmp(modules->value->text, "core_attn") == 0))
        launch_note(t->l, modules->line,
                    "%s: what is computed again is taken to be attention alone",
                    modules->key);
}

/* --- pipelines -------------------------------------------------------------------- */

static void set_virtual(struct taking *t, int64_t n, const struct python_item *it)
{
    if (n < 2)
        return;
    set(t, WIDE "virtual_stages", json_integer((json_int_t)n), it, "");
    set(t, WIDE "schedule", json_string("interleaved"), it, "");
}

static void take_virtual(struct taking *t, const struct launch_command *c)
{
    const struct python_item *each = launch_option(
                                 c, "--num-layers-per-virtual-pipeline-stage"),
                             *many = launch_option(
                                 c, "--num-virtual-stages-per-pipeline-rank");
    int64_t layers = launch_number(t, "/model/num_layers", 0),
            stages = launch_number(t, WIDE "pipeline", 1), n;
    if (each && (!launch_whole(each->value, &n) || n < 1 || layers < 1))
        launch_doubt_item(t, WIDE "virtual_stages", each, "number of layers");
    else if (each && layers % (n * stages))
        launch_wrong_option(t, each,
                            "%" PRId64 " layers are no multiple of %" PRId64
                            " stages of chunks of %" PRId64,
                            layers, stages, n);
    else if (each)
        set_virtual(t, layers / (n * stages), each);
    else if (many && launch_whole(many->value, &n))
        set_virtual(t, n, many);
    else if (many)
        launch_doubt_item(t, WIDE "virtual_stages", many, "number of chunks");
}

/* Layers of the first and the last stage, the others evenly. */
static void take_uneven(struct taking *t, const struct launch_command *c)
{
    const struct python_item *first = launch_option(
                                 c, "--decoder-first-pipeline-num-layers"),
                             *last =
                                 launch_option(c, "--decoder-last-pipeline-num-layers");
    int64_t layers = launch_number(t, "/model/num_layers", 0), a = 0, b = 0,
            stages = launch_number(t, WIDE "pipeline", 1),
            inner = stages - (first != NULL) - (last != NULL);
    if (!first && !last)
        return;
    bool known = (!first || launch_whole(first->value, &a)) &&
                 (!last || launch_whole(last->value, &b));
    if (!known || inner < 1 || launch_has(t, WIDE "virtual_stages") || a < 0 || b < 0 ||
        a + b >= layers || (layers - a - b) % inner) {
        launch_doubts(t, WIDE "partition", (first ? first : last)->value->line,
                      "%s: the layers of each stage are not known by it",
                      (first ? first : last)->key);
        return;
    }
    json_t *counts = json_array();
    for (int64_t i = 0; i < stages; i++) {
        int64_t n = i == 0 && first           ? a
                    : i == stages - 1 && last ? b
                                              : (layers - a - b) / inner;
        json_array_append_new(counts, json_integer((json_int_t)n));
    }
    set(t, WIDE "partition", counts, first ? first : last, "");
}

/* --- the optimizer, and what overlaps ----------------------------------------------- */

static void take_overlaps(struct taking *t, const struct launch_command *c)
{
    const struct python_item *shards = launch_option(c, "--use-distributed-optimizer"),
                             *sums = launch_option(c, "--overlap-grad-reduce"),
                             *gathers = launch_option(c, "--overlap-param-gather"),
                             *pieces = launch_option(c, "--tp-comm-overlap");
    const char *framework =
        json_string_value(pointer_get(t->tree, "/training/framework"));
    bool core = framework && strcmp(framework, "megatron-core") == 0;
    if (shards)
        set(t, WIDE "sharding/strategy", json_string("optimizer"), shards, "");
    set(t, WIDE "overlap", json_boolean(sums != NULL), sums,
        "without --overlap-grad-reduce");
    if (shards)
        set(t, WIDE "overlap_param_gather", json_boolean(gathers != NULL), gathers,
            "without --overlap-param-gather");
    if (core && launch_has(t, WIDE "tensor"))
        set(t, WIDE "overlap_tensor", json_boolean(pieces != NULL), pieces,
            "without --tp-comm-overlap");
}

static void take_sequence_parallel(struct taking *t, const struct launch_command *c)
{
    const struct python_item *it = launch_option(c, "--sequence-parallel");
    if (it && launch_has(t, WIDE "tensor"))
        set(t, WIDE "sequence_parallel", json_true(), it, "");
}

/* --- how long --------------------------------------------------------------------- */

/* Samples, or tokens, over the batch. */
static void take_steps(struct taking *t, const struct launch_command *c)
{
    static const struct {
        const char *name;
        bool tokens;
    } lengths[] = { { "--train-tokens", true }, { "--train-samples", false } };
    int64_t batch = launch_number(t, "/training/global_batch_size", 0),
            tokens = launch_number(t, "/training/sequence_length", 1), n;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && batch > 0; i++) {
        const struct python_item *it = launch_option(c, lengths[i].name);
        int64_t whole = lengths[i].tokens ? tokens : 1;
        char digits[32] = "";
        const char *text =
            it && it->value->kind == PYTHON_STRING ? it->value->text : "";
        for (size_t j = 0; *text && j + 1 < sizeof(digits); text++)
            if (*text != '_')
                digits[j++] = *text;
        struct python_value v = { .kind = PYTHON_STRING, .text = digits };
        if (it && launch_whole(&v, &n) && n / whole / batch > 0)
            set(t, "/training/steps", json_integer((json_int_t)(n / whole / batch)), it,
                "");
    }
}

static void note_rampup(struct taking *t, const struct launch_command *c)
{
    const struct python_item *it = launch_option(c, "--rampup-batch-size");
    if (it)
        launch_note(t->l, it->line,
                    "%s: the batch that it grows to is simulated, in every step",
                    it->key);
}

void launch_take_megatron(struct taking *t, const struct launch_command *c)
{
    launch_take_rows(t, launch_megatron_job, &c->options);
    set(t, WIDE "placement", json_string("PDT"), NULL, "Megatron's order of ranks");
    set(t, "/training/gradient_clipping", json_real(1), NULL, "clip-grad's default");
    launch_settle_megatron_model(t, c);
    take_virtual(t, c);
    take_uneven(t, c);
    take_sequence_parallel(t, c);
    take_precision(t, c);
    take_recompute(t, c);
    take_steps(t, c);
    note_rampup(t, c);
    if (uses_deepspeed(c))
        launch_take_megatron_deepspeed(t, c);
    take_framework(t, c);
    take_attention(t, c);
    if (!uses_deepspeed(c))
        take_overlaps(t, c);
}
