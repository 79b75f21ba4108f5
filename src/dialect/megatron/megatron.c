/* Megatron's arguments (Megatron-LM's arguments.py; Megatron-DeepSpeed's and
 * BigScience's of the same names) as fields of a scenario. */
#include "dialect/megatron/megatron.h"
#include "dialect/launch/launch_imports.h"

#include "base/names.h"
#include "config/pointer.h"

#include <inttypes.h>
#include <string.h>

static const char *const marks[] = { "--num-layers",
                                     "--encoder-num-layers",
                                     "--hidden-size",
                                     "--tensor-model-parallel-size",
                                     "--pipeline-model-parallel-size",
                                     "--micro-batch-size",
                                     NULL };

/* "--num_layers" in quotes, as add_argument is given it. */
static bool is_quoted(struct arena *arena, const char *text, const char *option)
{
    char *low = arena_strdup(arena, option);
    bool found = false;
    for (char *c = low + 2; *c; c++)
        *c = *c == '-' ? '_' : *c;
    for (int i = 0; i < 4; i++)
        found |= strstr(text, arena_printf(arena, i & 1 ? "'%s'" : "\"%s\"",
                                           i & 2 ? low : option)) != NULL;
    return found;
}

/* A program of one's own that is at hand and parses such options itself; Megatron's leave
 * them to its arguments.py. */
static bool parses_itself(const struct dialect_input *in)
{
    const struct launch_command *c = in->command;
    struct launch_context *t = in->context;
    const char *text = NULL;
    int found = 0;
    if (t && c && c->command)
        text = launch_program_text(t->l, t->arena, c->command->words[c->script].text);
    if (!text || !strstr(text, "add_argument("))
        return false;
    for (const char *const *m = marks; *m; m++)
        found += is_quoted(t->arena, text, *m);
    return found > 1;
}

bool megatron_recognises(const struct dialect_input *in)
{
    int found = 0;
    for (int32_t i = 0; i < in->root->n; i++)
        found += names_listed(marks, in->root->items[i].key);
    return (found > 1 || value_get(in->root, "--yaml-cfg")) && !parses_itself(in) &&
           !launch_starts_recipes(in->context, in->command);
}

/* Single options ------------------------------------------------------------------- */

/* DeepSpeed's Ulysses: heads are dealt out by all-to-all. */
static void take_ulysses(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    dialect_take_as(t, row, it, DIALECT_DEGREE);
    if (launch_has(t, row->pointer))
        launch_set(t, "/parallelism/context_comm", json_string("alltoall"), it);
}

/* 0 is a model that is no pipeline's. */
static void take_pipeline(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it)
{
    int64_t n;
    if (launch_whole(it->value, &n) && n == 0)
        launch_hear(t, it);
    else
        dialect_take_as(t, row, it, DIALECT_DEGREE);
}

void megatron_take_schedule(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    const char *colon =
        it->value->kind == VALUE_STRING ? strrchr(it->value->text, ':') : NULL;
    const struct value last = { .kind = VALUE_STRING,
                                .line = it->value->line,
                                .column = it->value->column,
                                .text = colon ? colon + 1 : "" };
    int64_t n;
    if (!launch_whole(colon ? &last : it->value, &n) || !colon || n < 1) {
        launch_unresolved_item(t, row->pointer, it, "list of batches");
        return;
    }
    launch_set(t, row->pointer, json_integer((json_int_t)n), it);
    launch_note(t->l, it->line, DIAG_APPROXIMATE,
                "%s: the batch that it ends with is simulated, in every step", it->key);
}

/* How many data-parallel ranks there are by the GPUs that are known so far; 0. */
static int64_t data_ranks(const struct launch_context *t)
{
    int64_t gpus = launch_number(t, "/cluster/gpus_per_instance", t->l->gpus),
            count = launch_number(t, "/cluster/count", t->l->count),
            split = launch_number(t, "/parallelism/tensor", 1) *
                    launch_number(t, "/parallelism/pipeline", 1);
    bool known = gpus > 0 && count > 0 && count < INT64_MAX / gpus && split > 0;
    return known ? gpus * count / split : 0;
}

/* MegaBlocks' (stanford-futuredata/Megatron-LM): experts are dealt to the data-parallel
 * ranks, as far as there are experts; the options do not say how many ranks there are. */
static void take_all_ranks(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    static const char *const names[] = { "--moe-num-experts", "--num-experts", NULL };
    const struct value_item *all =
        t->command ? launch_any_option(t->command, names) : NULL;
    int64_t ranks = data_ranks(t), experts = 0;
    if (ranks > 0 && all && launch_whole(all->value, &experts) && experts > 0) {
        while (experts > ranks && experts % 2 == 0)
            experts /= 2;
        if (ranks % experts == 0) {
            launch_set(t, row->pointer, json_integer((json_int_t)experts), it);
            return;
        }
    }
    launch_add_unresolved(t, row->pointer, it->line,
                          "%s: all data-parallel ranks share the experts, as far as "
                          "there are experts",
                          it->key);
    launch_hear(t, it);
}

/* 'type:transformer', its quotes perhaps kept by the shell. */
static void take_partition(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    static const char *const known[] = { "type:transformer",
                                         "type:transformer|embedding", "parameters",
                                         "uniform", NULL };
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "";
    text += strspn(text, "'\"");
    const char *word = arena_strndup(t->arena, text, strcspn(text, "'\""));
    if (!launch_has(t, "/parallelism/pipeline"))
        return;
    if (names_listed(known, word))
        launch_set(t, row->pointer, json_string(word), it);
    else
        launch_unresolved_item(t, row->pointer, it, "partition that is simulated");
}

/* clang-format off */
#define WIDE "/parallelism/"
static const struct dialect_word optimizers[] = {
    { "adam", "adam" }, { "adamw", "adamw" }, { "fusedadamw", "adamw" }, { "sgd", "sgd" }, { "lamb", "lamb" }, { "muon", "muon" }, { "dist_muon", "muon" }, { "ademamix", "ademamix" }, { "lion", "lion" }, { NULL, NULL },
};
static const struct dialect_word muon_modes[] = {
    { "duplicated", "duplicated" }, { "distributed", "distributed" }, { "blockwise", "blockwise" }, { NULL, NULL },
};
const struct dialect_option megatron_job_rows[] = {
    ROW("--no-scatter-gather-tensors-in-pipeline", WIDE "scatter_gather", .kind = DIALECT_FLAG, .value = "false", .written = true),
    ROW("--enable-zbh1-pipeline", "/parallelism/schedule", .kind = DIALECT_FLAG, .value = "zb-h1"), /* Megatron-DeepSpeed's */
    ROW("--tensor-model-parallel-size", WIDE "tensor", .kind = DIALECT_DEGREE, .written = true),
    ROW("--model-parallel-size", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW("--pipeline-model-parallel-size", WIDE "pipeline", .kind = DIALECT_DEGREE, .written = true),
    ROW("--pipe-parallel-size", WIDE "pipeline", .take = take_pipeline), /* DeepSpeed's of 2020 */
    ROW("--context-parallel-size", WIDE "context", .kind = DIALECT_DEGREE, .written = true),
    ROW("--ds-sequence-parallel-size", WIDE "context", .take = take_ulysses),
    ROW("--expert-model-parallel-size", WIDE "expert", .kind = DIALECT_DEGREE, .written = true),
    ROW("--moe-expert-parallel-size", WIDE "expert", .kind = DIALECT_DEGREE),
    ROW("--expert-tensor-parallel-size", WIDE "expert_tensor", .kind = DIALECT_SIZE, .written = true),
    ROW("--moe-expert-capacity-factor", WIDE "expert_capacity", .kind = DIALECT_NORM, .written = true),
    ROW("--moe-capacity-factor", WIDE "expert_capacity", .kind = DIALECT_NORM), /* MegaBlocks' */
    ROW("--moe-expert-model-parallelism", WIDE "expert", .take = take_all_ranks),
    ROW("--expert-model-parallelism", WIDE "expert", .take = take_all_ranks), /* MegaBlocks' of 2023-01 */
    ROW("--moe-pad-expert-input-to-capacity", WIDE "expert_padding", .kind = DIALECT_FLAG, .written = true),
    ROW("--use-tp-pp-dp-mapping", WIDE "placement", .kind = DIALECT_FLAG, .value = "DPT", .written = true),
    ROW("--pp-partition-method", WIDE "partition", .take = take_partition),
    ROW("--seq-length", "/training/sequence_length", .kind = DIALECT_SIZE, .written = true),
    ROW("--encoder-seq-length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("--micro-batch-size", "/training/micro_batch_size", .kind = DIALECT_SIZE, .written = true),
    ROW("--batch-size", "/training/micro_batch_size", .kind = DIALECT_SIZE), /* of 2019 and 2020: of a GPU */
    ROW("--global-batch-size", "/training/global_batch_size", .kind = DIALECT_SIZE, .written = true),
    ROW("--step-batch-size-schedule", "/training/global_batch_size", .take = megatron_take_schedule), /* main of 2026 */
    ROW("--gas", "/training/gradient_accumulation_steps", .kind = DIALECT_SIZE), /* likewise */
    ROW("--mtp-num-layers", "/training/mtp_layers", .kind = DIALECT_POSITIVE, .written = true),
    ROW("--mtp-use-repeated-layer", "/training/mtp_repeated", .kind = DIALECT_FLAG, .written = true),
    ROW("--cpu-offloading-num-layers", "/parallelism/offload_layers", .kind = DIALECT_POSITIVE, .written = true),
    ROW("--train-iters", "/training/steps", .kind = DIALECT_SIZE, .written = true),
    ROW("--clip-grad", "/training/gradient_clipping", .kind = DIALECT_NORM, .written = true),
    ROW("--muon-num-ns-steps", "/training/muon/steps", .kind = DIALECT_SIZE, .written = true),
    ROW("--muon-tp-mode", "/training/muon/tensor", .kind = DIALECT_WORD, .words = muon_modes, .written = true),
    ROW("--optimizer", "/training/optimizer", .kind = DIALECT_WORD, .words = optimizers, .wanted = "optimizer that is simulated", .written = true),
    ROW_END,
};
/* clang-format on */
/* Pipelines ------------------------------------------------------------------------ */

/* Stages of as many layers each, unless something says how they differ (get_num_layers_to_
 * build, megatron/core/transformer/transformer_block.py); DeepSpeed's divide as they can. */
static void note_uneven(struct launch_context *t, const struct launch_command *c)
{
    static const char *const says[] = { "--deepspeed",
                                        "--decoder-first-pipeline-num-layers",
                                        "--decoder-last-pipeline-num-layers",
                                        "--account-for-embedding-in-pipeline-split",
                                        "--account-for-loss-in-pipeline-split",
                                        "--pipeline-model-parallel-layout",
                                        "--num-layers-per-stage",
                                        NULL };
    int64_t layers = launch_number(t, "/model/num_layers", 0),
            stages = launch_number(t, "/parallelism/pipeline", 1);
    if (layers < 1 || stages < 2 || layers % stages == 0 || launch_any_option(c, says))
        return;
    launch_note(t->l, c->command->line, DIAG_ASSUMED,
                "%" PRId64 " layers are no multiple of %" PRId64
                " stages, which Megatron-LM refuses: stages are taken to differ by one "
                "layer",
                layers, stages);
}

static void take_stages(struct launch_context *t, const struct launch_command *c)
{
    const struct megatron_stages o = {
        .each = launch_option(c, "--num-layers-per-virtual-pipeline-stage"),
        .many = launch_option(c, "--num-virtual-stages-per-pipeline-rank"),
        .first = launch_option(c, "--decoder-first-pipeline-num-layers"),
        .last = launch_option(c, "--decoder-last-pipeline-num-layers"),
        .embedding = launch_option(c, "--account-for-embedding-in-pipeline-split"),
        .loss = launch_option(c, "--account-for-loss-in-pipeline-split"),
        .layout = launch_option(c, "--pipeline-model-parallel-layout"),
        .defers = launch_option(c, "--defer-embedding-wgrad-compute"),
        .limit = launch_option(c, "--wgrad-deferral-limit"),
    };
    megatron_take_stages(t, &o);
    note_uneven(t, c);
}

static void take_graphs(struct launch_context *t, const struct launch_command *c)
{
    static const char *const scopes[] = { "--cuda-graph-scope", "--cuda-graph-modules",
                                          NULL };
    const struct megatron_graphs o = {
        .impl = launch_option(c, "--cuda-graph-impl"),
        .own = launch_option(c, "--enable-cuda-graph"),
        .engine = launch_option(c, "--external-cuda-graph"),
        .scope = launch_any_option(c, scopes),
    };
    megatron_take_graphs(t, &o);
}

static void take_dispatch(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *deepep = launch_option(c, "--moe-deepep-num-sms"),
                            *hybrid = launch_option(c, "--moe-hybridep-num-sms"),
                            *flex = launch_option(c, "--moe-flex-dispatcher-num-sms");
    const struct megatron_dispatch o = {
        .type = launch_option(c, "--moe-token-dispatcher-type"),
        .backend = launch_option(c, "--moe-flex-dispatcher-backend"),
        .enable = launch_option(c, "--moe-enable-deepep"),
        .sms = flex     ? flex
               : hybrid ? hybrid
                        : deepep,
        .shared = launch_option(c, "--moe-shared-expert-overlap"),
        .pairs = launch_option(c, "--overlap-moe-expert-parallel-comm"),
        .line = launch_option(c, "--expert-model-parallel-size") &&
                        !launch_option(c, "--deepspeed") &&
                        !launch_option(c, "--deepspeed-config")
                    ? c->command->line
                    : 0,
    };
    megatron_take_dispatch(t, &o);
}

static void take_sequence_parallel(struct launch_context *t,
                                   const struct launch_command *c)
{
    const struct value_item *it = launch_option(c, "--sequence-parallel");
    if (it && launch_has(t, WIDE "tensor"))
        launch_decide(t, WIDE "sequence_parallel", json_true(), it, "");
}

/* How long ------------------------------------------------------------------------- */

/* Samples, or tokens, over the batch. */
static void take_steps(struct launch_context *t, const struct launch_command *c)
{
    static const struct {
        const char *name;
        bool tokens;
    } lengths[] = { { "--train-tokens", true }, { "--train-samples", false } };
    int64_t batch = launch_number(t, "/training/global_batch_size", 0),
            tokens = launch_number(t, "/training/sequence_length", 1), n;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && batch > 0; i++) {
        const struct value_item *it = launch_option(c, lengths[i].name);
        int64_t whole = lengths[i].tokens ? tokens : 1;
        if (it && launch_whole(it->value, &n) && n / whole / batch > 0)
            launch_decide(t, "/training/steps",
                          json_integer((json_int_t)(n / whole / batch)), it, "");
    }
}

static void note_rampup(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *it = launch_option(c, "--rampup-batch-size");
    if (it)
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: the batch that it grows to is simulated, in every step",
                    it->key);
    launch_hear(t, it);
}

/* Degrees, batches, length. */
static void take_rows(struct launch_context *t, const struct launch_command *c)
{
    launch_take_rows(t, megatron_job_rows, &c->options);
    launch_decide(t, WIDE "placement", json_string("PDT"), NULL,
                  "Megatron's order of ranks");
    launch_decide(t, "/training/gradient_clipping", json_real(1), NULL,
                  "clip-grad's default");
}

/* What depends on degrees and the model. */
static void take_stack(struct launch_context *t, const struct launch_command *c)
{
    take_stages(t, c);
    megatron_take_context(t, launch_option(c, "--cp-comm-type"),
                          launch_option(c, "--hierarchical-context-parallel-sizes"));
    take_graphs(t, c);
    take_dispatch(t, c);
    take_sequence_parallel(t, c);
    if (!megatron_uses_deepspeed(c))
        megatron_take_fsdp(t, c);
    megatron_take_precision(t, c);
    megatron_take_recompute(t, c);
    megatron_take_offload(t, launch_option(c, "--fine-grained-activation-offloading"),
                          launch_option(c, "--offload-modules"));
    take_steps(t, c);
    note_rampup(t, c);
    if (megatron_uses_deepspeed(c))
        megatron_take_deepspeed(t, c);
    megatron_take_framework(t, c);
    megatron_take_attention(t, c);
    if (!megatron_uses_deepspeed(c))
        megatron_take_overlaps(t, c);
}

void megatron_take_job(struct launch_context *t, const struct launch_command *c)
{
    take_rows(t, c);
    take_stack(t, c);
}

/* "--swiglu false": argparse has no value for it, and a fork's own may mean it off. */
static void name_valued_flags(struct launch_context *t, const struct launch_command *c)
{
    for (int32_t i = 0; i < c->options.n; i++) {
        const struct value_item *it = &c->options.items[i];
        if (it->value->kind == VALUE_STRING && megatron_is_flag(it->key) &&
            strncmp(it->key, "--use-", 6) != 0)
            launch_note(
                t->l, it->line, DIAG_ASSUMED,
                "%.60s takes no value in Megatron-LM: \"%.40s\" is left out, and "
                "it is taken to be given",
                it->key, it->value->text);
    }
}

void megatron_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct launch_command *c = in->command;
    name_valued_flags(t, c);
    take_rows(t, c);
    megatron_settle_model(t, c);
    take_stack(t, c);
    megatron_ask_model(t, c);
    dialect_report(t, megatron_tables, "", &c->options,
                   (struct dialect_place) { c->command->line, "", "", true });
}
