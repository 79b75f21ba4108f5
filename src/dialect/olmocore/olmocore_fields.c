/* A field each, of the flat dictionary of OLMo-core's objects. */
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/launch/launch_torchao.h"
#include "dialect/olmocore/olmocore.h"
#include "dialect/trainer/trainer.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#define WIDE "/parallelism/"
#define CKPT "/training/activation_checkpointing"
#define OF "train_module."

/* One member, or several ------------------------------------------------------------ */

static const struct value_item *either(struct launch_context *t, const struct value *c,
                                       const char *a, const char *b)
{
    const struct value_item *x = launch_find(t, c, a), *y = launch_find(t, c, b);
    return x ? x : y;
}

static void set(struct launch_context *t, const char *pointer, json_t *value,
                const struct value_item *it, const char *what)
{
    if (it && !launch_has(t, pointer) && !launch_is_unresolved(t, pointer))
        launch_set(t, pointer, value, it);
    else
        launch_assume(t, pointer, value, what);
}

/* A degree; 1 says nothing. */
static int64_t degree(struct launch_context *t, const struct value *c, const char *path,
                      const char *pointer)
{
    const struct value_item *it = launch_find(t, c, path);
    int64_t n = 1;
    if (it && (!launch_whole(it->value, &n) || n < 1))
        launch_unresolved_item(t, pointer, it, "whole number of at least 1");
    else if (it && n > 1)
        launch_set(t, pointer, json_integer((json_int_t)n), it);
    return n;
}

/* Batches are tokens: of a step, and of a rank's microbatch. */
static void take_tokens(struct launch_context *t, const char *pointer,
                        const struct value_item *it)
{
    int64_t length = launch_number(t, "/training/sequence_length", 0), n = 0;
    if (!it)
        return;
    if (!launch_whole(it->value, &n) || n < 1)
        launch_unresolved_item(t, pointer, it, "whole number of tokens");
    else if (length > 0 && n % length == 0)
        launch_set(t, pointer, json_integer((json_int_t)(n / length)), it);
    else if (length > 0)
        launch_add_unresolved(t, pointer, it->line,
                              "%s: %" PRId64
                              " tokens are no multiple of the sequences' "
                              "%" PRId64,
                              it->key, n, length);
    else
        launch_add_unresolved(t, pointer, it->line,
                              "%s: how many sequences these tokens are depends on the "
                              "length of sequences",
                              it->key);
}

static void take_batch(struct launch_context *t, const struct value *c)
{
    static const char length[] = "/training/sequence_length";
    const struct value_item *given =
        either(t, c, OF "max_sequence_length", "build.max_sequence_length");
    int64_t n;
    given = given ? given : launch_find(t, c, "dataset.sequence_length");
    launch_find(t, c, "dataset.sequence_length");
    if (given && launch_whole(given->value, &n) && n > 0)
        launch_set(t, length, json_integer((json_int_t)n), given);
    else if (given)
        launch_unresolved_item(t, length, given, "whole number of at least 1");
    take_tokens(
        t, "/training/global_batch_size",
        either(t, c, "data_loader.global_batch_size", "build.global_batch_size"));
    take_tokens(
        t, "/training/micro_batch_size",
        either(t, c, OF "rank_microbatch_size", "trainer.rank_microbatch_size"));
}

/* hsdp without degrees: a copy a node (DataParallelConfig); FSDP's mesh has the ranks of
 * context parallelism, too. */
static void take_copies(struct launch_context *t, const struct value *c,
                        const struct value_item *name)
{
    static const char at[] = WIDE "sharding/degree";
    const struct value_item *copies = launch_find(t, c, OF "dp_config.num_replicas"),
                            *shard = launch_find(t, c, OF "dp_config.shard_degree");
    int64_t n, context = launch_number(t, WIDE "context", 1);
    if (shard && launch_whole(shard->value, &n) && n > 0 && n < INT32_MAX)
        launch_set(t, at, json_integer((json_int_t)(n * context)), shard);
    else if (shard)
        launch_unresolved_item(t, at, shard, "whole number of at least 1");
    else if (copies)
        trainer_take_copies(t, copies);
    else
        trainer_take_hybrid(t, name);
}

static void take_data_parallel(struct launch_context *t, const struct value *c)
{
    const struct value_item *name = launch_find(t, c, OF "dp_config.name"),
                            *unit = launch_find(t, c, OF "dp_config.wrapping_strategy"),
                            *made = launch_find(t, c, OF "dp_config.@");
    const char *word = olmocore_word(c, OF "dp_config.name", "");
    bool ddp = strcmp(word, "ddp") == 0, hybrid = strcmp(word, "hsdp") == 0;
    const struct value_item *open = launch_find(t, c, OF "dp_config");
    if (open || (made && !ddp && !hybrid && strcmp(word, "fsdp") != 0)) {
        launch_add_unresolved(t, WIDE "library", open ? open->line : made->line,
                              "dp_config: which data parallelism it is, is not known");
        return;
    }
    set(t, WIDE "library", json_string(!made || ddp ? "ddp" : "fsdp"), name,
        "no dp_config");
    if (!made || ddp)
        return;
    set(t, WIDE "sharding/strategy", json_string("full"), name, "");
    if (hybrid)
        take_copies(t, c, name);
    if (unit && strcmp(olmocore_word(c, OF "dp_config.wrapping_strategy", ""),
                       "fine_grained") == 0)
        launch_note(t->l, unit->line, DIAG_APPROXIMATE,
                    "%s: units are taken to be layers", unit->key);
}

/* olmo_core/distributed/parallel/pipeline_parallel.py */
static void take_pipeline(struct launch_context *t, const struct value *c)
{
    static const struct dialect_word words[] = {
        { "1f1b", "1f1b" },
        { "single_1F1B", "1f1b" },
        { "gpipe", "gpipe" },
        { "interleaved_1F1B", "interleaved" },
        { "1F1B", "1f1b" },
        { "Interleaved1F1B", "interleaved" },
        { "GPipe", "gpipe" },
        { "looped_bfs", "looped-bfs" },
        { "LoopedBFS", "looped-bfs" },
        { "interleaved_zero_bubble", "interleaved-zb" },
        { "InterleavedZeroBubble", "interleaved-zb" },
        { "zbv_zero_bubble", "zb-v" },
        { "ZBVZeroBubble", "zb-v" },
        { NULL, NULL },
    };
    const struct value_item *it = launch_find(t, c, OF "pp_config.schedule");
    const char *word = olmocore_word(c, OF "pp_config.schedule", "interleaved_1F1B");
    const struct dialect_word *w = words;
    launch_find(t, c, OF "pp_config.@");
    if (degree(t, c, OF "pp_config.degree", WIDE "pipeline") < 2)
        return;
    while (w->word && strcmp(w->word, word) != 0)
        w++;
    if (!w->word) {
        launch_add_unresolved(t, WIDE "schedule", it ? it->line : t->l->line,
                              "pp_config.schedule: %.40s is not simulated (those of "
                              "OLMo-core's PipelineScheduleType are)",
                              word);
        return;
    }
    set(t, WIDE "schedule", json_string(w->value), it, "pp_config.schedule's default");
    if (strcmp(w->value, "1f1b") != 0 && strcmp(w->value, "gpipe") != 0)
        launch_assume(t, WIDE "virtual_stages", json_integer(2),
                      "two stages a rank without split_points");
}

static void take_degrees(struct launch_context *t, const struct value *c)
{
    static const struct dialect_word ways[] = { { "zig_zag", "ring" },
                                                { "llama3", "all-gather" },
                                                { "ulysses", "alltoall" },
                                                { NULL, NULL } };
    const struct value_item *made = launch_find(t, c, OF "cp_config.@");
    const char *way = made ? python_last_part(made->value->text) : "";
    launch_find(t, c, OF "tp_config.@");
    launch_find(t, c, OF "ep_config.@");
    if (degree(t, c, OF "tp_config.degree", WIDE "tensor") > 1)
        launch_assume(t, WIDE "sequence_parallel", json_true(),
                      "OLMo-core's tensor parallelism");
    take_pipeline(t, c);
    degree(t, c, OF "ep_config.degree", WIDE "expert");
    const char *at =
        value_get(c, OF "cp_config.degree") ? OF "cp_config.degree" : OF "cp_config.0";
    if (degree(t, c, at, WIDE "context") < 2)
        return;
    for (const struct dialect_word *w = ways; w->word; w++)
        if (strcmp(w->word, way) == 0)
            launch_set(t, WIDE "context_comm", json_string(w->value), made);
    if (!launch_has(t, WIDE "context_comm"))
        launch_add_unresolved(t, WIDE "context_comm", made ? made->line : t->l->line,
                              "cp_config: %.40s is no way that is simulated", way);
}

/* Float8Config is on but for enabled=False; FSDP casts parameters to param_dtype. */
static void take_precision(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/precision";
    const struct value_item *made = launch_find(t, c, OF "float8_config.@"),
                            *on = launch_find(t, c, OF "float8_config.enabled"),
                            *cast = launch_find(t, c, OF "dp_config.param_dtype"),
                            *automatic = launch_find(t, c, OF "autocast_precision"),
                            *wire = launch_find(t, c, OF "dp_config.reduce_dtype");
    const struct value_item *recipe = launch_find(t, c, OF "float8_config.ao_recipe");
    bool fp8 = made && (!on || launch_true(on->value)),
         half =
             strcmp(olmocore_word(c, OF "dp_config.param_dtype", ""), "bfloat16") == 0,
         amp = strcmp(olmocore_word(c, OF "autocast_precision", ""), "bfloat16") == 0;
    const char *eight = fp8 ? launch_torchao_precision(t, recipe) : NULL;
    if (fp8 && !eight)
        launch_unresolved_item(t, at, recipe, "recipe that is simulated");
    set(t, at,
        json_string(half  ? eight ? eight : "bf16"
                    : amp ? fp8 ? "amp_fp8" : "amp_bf16"
                    : fp8 ? "amp_fp8"
                          : "fp32"),
        fp8    ? made
        : half ? cast
        : amp  ? automatic
               : NULL,
        "param_dtype's default");
    if (half)
        set(t, "/training/gradient_dtype",
            json_string(strcmp(olmocore_word(c, OF "dp_config.reduce_dtype", ""),
                               "bfloat16") == 0
                            ? "bf16"
                            : "fp32"),
            wire, "reduce_dtype's default");
}

/* "blocks.*.feed_forward", or that of each layer by its number. */
static bool all_feed_forward(struct launch_context *t, const struct value_item *it)
{
    int64_t layers = launch_number(t, "/model/num_hidden_layers", 0);
    int32_t n = it && it->value->kind == VALUE_LIST ? it->value->n : 0;
    for (int32_t i = 0; i < n; i++) {
        const char *text = it->value->items[i].value->text;
        if (!text || fnmatch("blocks.*.feed_forward", text, 0) != 0)
            return false;
        if (strcmp(text, "blocks.*.feed_forward") == 0)
            return n == 1;
    }
    return n > 0 && n == layers;
}

/* torch.compile keeps what is worth most within a share of what no recomputation would
 * keep: from a half on it recomputes elementwise operators alone (PyTorch's blog of
 * 2025-03-05, "Current and new activation checkpointing techniques"). */
static void take_budget(struct launch_context *t, const struct value *c,
                        const struct value_item *made)
{
    const struct value_item *it = launch_find(t, c,
                                              OF "ac_config.activation_memory_"
                                                 "budget");
    double share = -1;
    if (it && launch_real(it->value, &share) && (share == 0 || share == 1)) {
        set(t, CKPT, json_string(share == 0 ? "full" : "none"), it, "");
    } else if (share >= 0.5 && share < 1) {
        set(t, CKPT, json_string("operators"), it, "");
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: taken as recomputing elementwise operators", it->key);
    } else {
        launch_add_unresolved(t, CKPT, it ? it->line : made->line,
                              "ac_config: what is recomputed within this memory budget "
                              "is not simulated; \"operators\" keeps half or more, "
                              "\"full\" least");
    }
}

static void take_checkpointing(struct launch_context *t, const struct value *c)
{
    const struct value_item *made = launch_find(t, c, OF "ac_config.@"),
                            *mode = either(t, c, OF "ac_config.mode", OF "ac_config.0"),
                            *every = launch_find(t, c, OF "ac_config.block_interval"),
                            *modules = launch_find(t, c, OF "ac_config.modules");
    const char *word = olmocore_word(
        c, value_get(c, OF "ac_config.mode") ? OF "ac_config.mode" : OF "ac_config.0",
        "full");
    int64_t n;
    if (!made)
        launch_assume(t, CKPT, json_string("none"), "no ac_config");
    else if (strcmp(word, "budget") == 0)
        take_budget(t, c, made);
    else if (strcmp(word, "full") == 0)
        set(t, CKPT, json_string("full"), mode ? mode : made, "");
    else if (strcmp(word, "selected_ops") == 0)
        set(t, CKPT, json_string("operators"), mode, "");
    else if (strcmp(word, "selected_blocks") == 0 && every &&
             launch_whole(every->value, &n) && n > 0)
        set(t, CKPT, json_pack("{s:I}", "every", (json_int_t)n), every, "");
    else if (strcmp(word, "selected_modules") == 0 && all_feed_forward(t, modules))
        set(t, CKPT, json_pack("{s:[s]}", "modules", "mlp"), modules, "");
    else
        launch_add_unresolved(t, CKPT, made->line,
                              "ac_config: %.40s is not simulated (none, full, "
                              "operators, {\"every\": N} or {\"modules\": [...]} are)",
                              word);
}

static void take_optimizer(struct launch_context *t, const struct value *c)
{
    static const struct {
        const char *end, *optimizer;
    } words[] = {
        { "AdamWConfig", "adam" },
        { "AdamConfig", "adam" },
        { "LionConfig", "lion" },
        { "MuonConfig", "muon" },
    };
    const struct value_item *made = launch_find(t, c, OF "optim.@"),
                            *norm = launch_find(t, c, OF "max_grad_norm");
    double x = 0;
    for (size_t i = 0; made && i < sizeof(words) / sizeof(words[0]); i++) {
        const char *last = python_last_part(made->value->text);
        size_t n = strlen(last), m = strlen(words[i].end);
        if (n >= m && strcmp(last + n - m, words[i].end) == 0)
            set(t, "/training/optimizer", json_string(words[i].optimizer), made, "");
    }
    if (!launch_has(t, "/training/optimizer"))
        launch_add_unresolved(t, "/training/optimizer", made ? made->line : t->l->line,
                              "optim: %s is no optimizer that is simulated",
                              made ? python_last_part(made->value->text)
                                   : "what it is");
    if (norm && launch_real(norm->value, &x) && x > 0)
        launch_set(t, "/training/gradient_clipping", json_real(x), norm);
    else if (norm)
        launch_unresolved_item(t, "/training/gradient_clipping", norm,
                               "number above 0");
}

/* Duration.steps(N), Duration.tokens(N) or Duration.epochs(N); the nearer of two. */
static void take_length(struct launch_context *t, const struct value *c)
{
    static const char *const keys[] = { "trainer.hard_stop", "trainer.max_duration" };
    int64_t per = launch_number(t, "/training/global_batch_size", 0) *
                  launch_number(t, "/training/sequence_length", 0);
    for (size_t i = 0; i < 2; i++) {
        const struct value_item *made = launch_find(
                                    t, c, arena_printf(t->arena, "%s.@", keys[i])),
                                *it = launch_find(
                                    t, c, arena_printf(t->arena, "%s.0", keys[i]));
        const char *what = made ? python_last_part(made->value->text) : "";
        int64_t n;
        if (!it || !launch_whole(it->value, &n) || n < 1 ||
            launch_has(t, "/training/steps"))
            continue;
        if (strcmp(what, "steps") == 0)
            launch_set(t, "/training/steps", json_integer((json_int_t)n), it);
        else if (strcmp(what, "tokens") == 0 && per > 0 && n / per > 0)
            launch_set(t, "/training/steps",
                       json_integer((json_int_t)((n + per - 1) / per)), it);
        else if (strcmp(what, "epochs") == 0)
            launch_set(t, "/training/epochs", json_integer((json_int_t)n), it);
    }
}

/* compile_model compiles each block, as torchtitan does, and the head with the loss
 * (nn/transformer/model.py: apply_compile). */
static void take_framework(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = either(t, c, OF "compile_model", "model.compile");
    const char *backend = olmocore_word(c, "model.attn_backend", "");
    const struct value_item *from = launch_find(t, c, "model.attn_backend"),
                            *flash = launch_find(t, c, "model.use_flash");
    const char *type = json_string_value(
        json_object_get(json_object_get(t->tree, "model"), "model_type"));
    bool on = it && launch_true(it->value),
         own = type && strcmp(type, "olmo3") == 0 && !from;
    launch_assume(t, "/training/framework",
                  json_string(on ? "torchtitan-2025" : "torchtitan"),
                  on ? "FSDP2, blocks and head compiled, as torchtitan's"
                     : "FSDP2, as torchtitan's");
    if (from && from->value->kind == VALUE_UNKNOWN && !*backend)
        launch_unresolved_item(t, "/training/attention", from, "backend of attention");
    else if (strncmp(backend, "flash", 5) == 0 || own ||
             (flash && launch_true(flash->value)))
        set(t, "/training/attention", json_string("flash"), from ? from : flash,
            "attn_backend of its olmo3 models");
    else if (from && strcmp(backend, "torch") != 0)
        launch_add_unresolved(t, "/training/attention", from->line,
                              "attn_backend: %.40s is no attention that is simulated",
                              backend);
    else
        set(t, "/training/attention", json_string("sdpa"), from,
            "attn_backend's default");
}

void olmocore_take_fields(struct launch_context *t, const struct value *c)
{
    take_batch(t, c);
    take_degrees(t, c);
    take_data_parallel(t, c);
    take_precision(t, c);
    take_checkpointing(t, c);
    take_optimizer(t, c);
    take_framework(t, c);
    take_length(t, c);
}
