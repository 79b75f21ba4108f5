#include "dialect/torchtitan/torchtitan.h"

#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <string.h>

#define WIDE "/parallelism/"

/* Rows ----------------------------------------------------------------------------- */

/* 0, none, and -1, what is left, say nothing. */
static void take_positive(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it)
{
    dialect_take_as(t, row, it, DIALECT_POSITIVE);
}

static void take_degree(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    int64_t n;
    if (!launch_whole(it->value, &n) || n != -1)
        dialect_take_as(t, row, it, DIALECT_DEGREE);
}

/* clang-format off */
/* "alltoall" shuffles shards of keys and values from rank to rank, as a ring does
 * (torch/distributed/tensor/experimental/_attention.py, _AllToAllRotater). */
static const struct dialect_word rotations[] = {
    { "allgather", "all-gather" }, { "alltoall", "ring" }, { NULL, NULL },
};
static const struct dialect_word optimizers[] = { { "AdamW", "adam" }, { "Adam", "adam" }, { NULL, NULL } };
static const struct dialect_word reshards[] = {
    { "always", "true" }, { "never", "false" }, { NULL, NULL },
};
/* clang-format on */

static void take_reshard(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "";
    for (const struct dialect_word *w = reshards; w->word; w++)
        if (strcmp(w->word, word) == 0)
            launch_set(t, row->pointer, json_boolean(w->value[0] == 't'), it);
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, row->pointer, it, "policy");
}

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("training.seq_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("training.max_context_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("training.steps", "/training/steps", .kind = DIALECT_SIZE),
    ROW("training.max_norm", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("training.global_batch_size", "/training/global_batch_size", .take = take_positive),
    ROW("training.gradient_accumulation_steps", "/training/gradient_accumulation_steps", .take = take_positive), /* of forks */
    ROW("optimizer.name", "/training/optimizer", .kind = DIALECT_WORD, .words = optimizers, .wanted = "optimizer that is simulated"),
    ROW("parallelism.tensor_parallel_degree", WIDE "tensor", .take = take_degree),
    ROW("training.tensor_parallel_degree", WIDE "tensor", .take = take_degree),
    ROW("parallelism.pipeline_parallel_degree", WIDE "pipeline", .take = take_degree),
    ROW("experimental.pipeline_parallel_degree", WIDE "pipeline", .take = take_degree),
    ROW("training.pipeline_parallel_degree", WIDE "pipeline", .take = take_degree),
    ROW("parallelism.context_parallel_degree", WIDE "context", .take = take_degree),
    ROW("experimental.context_parallel_degree", WIDE "context", .take = take_degree),
    ROW("parallelism.expert_parallel_degree", WIDE "expert", .take = take_degree),
    ROW("optimizer.early_step_in_backward", "/training/update_in_backward", .kind = DIALECT_SWITCH, .value = "true"),
    ROW("parallelism.disable_loss_parallel", WIDE "loss_parallel", .kind = DIALECT_SWITCH, .value = "false"),
    ROW("training.disable_loss_parallel", WIDE "loss_parallel", .kind = DIALECT_SWITCH, .value = "false"),
    ROW("parallelism.fsdp_reshard_after_forward", WIDE "sharding/reshard_after_forward", .take = take_reshard),
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint[] = {
    ROW_ACTS("model.name", "/model"), ROW_ACTS("model.flavor", "/model"),
    ROW_ACTS("training.num_tokens_per_microbatch_per_dp_rank", "/training/micro_batch_size"), ROW_ACTS("training.num_tokens_per_train_step", "/training/global_batch_size"),
    ROW_ACTS("parallelism.num_pp_microbatches", "/training/microbatches"), ROW_ACTS("training.local_batch_size", "/training/micro_batch_size"), ROW_ACTS("training.batch_size", "/training/micro_batch_size"),
    ROW_ACTS("parallelism.pipeline_parallel_microbatch_size", "/training/micro_batch_size"),
    ROW_ACTS("experimental.pipeline_parallel_microbatches", "/training/microbatches"),
    ROW_ACTS("parallelism.pipeline_parallel_microbatches", "/training/microbatches"),
    ROW_ACTS("training.mixed_precision_param", "/training/precision"), ROW_ACTS("training.mixed_precision_reduce", "/training/gradient_dtype"), ROW_ACTS("training.dtype", "/training/master_weights"),
    ROW_ACTS("training.compile", "/training/framework"), ROW_ACTS("compile.enable", "/training/framework"), ROW_ACTS("compile.components", "/training/framework"),
    ROW_ACTS("training.enable_cpu_offload", WIDE "sharding/offload"), ROW_ACTS("experimental.enable_cpu_offload", WIDE "sharding/offload"),
    ROW_ACTS("parallelism.data_parallel_shard_degree", WIDE "sharding/degree"), ROW_ACTS("training.data_parallel_shard_degree", WIDE "sharding/degree"),
    ROW_ACTS("training.data_parallel_degree", WIDE "sharding/degree"), ROW_ACTS("parallelism.data_parallel_degree", WIDE "sharding/degree"),
    ROW_ACTS("parallelism.data_parallel_replicate_degree", WIDE "sharding/degree"), ROW_ACTS("training.data_parallel_replicate_degree", WIDE "sharding/degree"),
    ROW_ONLY("parallelism.pipeline_parallel_schedule", WIDE "schedule"), ROW_ONLY("experimental.pipeline_parallel_schedule", WIDE "schedule"),
    ROW_ACTS("parallelism.pipeline_parallel_layers_per_stage", WIDE "virtual_stages"),
    ROW_ACTS("parallelism.pipeline_parallel_first_stage_less_layers", WIDE "partition"), ROW_ACTS("parallelism.pipeline_parallel_last_stage_less_layers", WIDE "partition"),
    ROW_ACTS("parallelism.module_fqns_per_model_part", WIDE "partition"), ROW_ACTS("parallelism.pipeline_parallel_expert_parallel_overlap", WIDE "expert_overlap"),
    ROW_ACTS("parallelism.pipeline_parallel_schedule_csv", WIDE "schedule"), ROW_ACTS("experimental.pipeline_parallel_schedule_csv", WIDE "schedule"),
    ROW_ONLY("parallelism.context_parallel_rotate_method", WIDE "context_comm"), ROW_ONLY("experimental.context_parallel_rotate_method", WIDE "context_comm"),
    ROW_ACTS("activation_checkpoint.mode", "/training/activation_checkpointing"), ROW_ACTS("activation_checkpoint.selective_ac_option", "/training/activation_checkpointing"),
    ROW_ACTS("parallelism.enable_async_tensor_parallel", WIDE "overlap_tensor"), ROW_ACTS("experimental.enable_async_tensor_parallel", WIDE "overlap_tensor"),
    ROW_ACTS("training.enable_async_tensor_parallel", WIDE "overlap_tensor"),
    ROW_ACTS("model.converters", "/training/precision"), ROW_ACTS("float8.enable_float8_linear", "/training/precision"), ROW_ACTS("float8.recipe_name", "/training/precision"), ROW_ACTS("mx.recipe_name", "/training/precision"),
    ROW_ACTS("quantize.linear.float8.recipe_name", "/training/precision"), ROW_ACTS("quantize.linear.mx.recipe_name", "/training/precision"),
    ROW_END,
};
/* [validation] and the like do nothing unless they are enabled (config/job_config.py). */
#define SECTION(NAME) \
    ROW(NAME ".enable", NULL, .class = DIALECT_UNSIMULATED), ROW(NAME ".*", NULL, .class = DIALECT_UNSIMULATED, .needs = NAME ".enable")
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("experimental.enable_compiled_autograd"), ROW_UNSIMULATED("parallelism.enable_compiled_autograd"),
    ROW_UNSIMULATED("experimental.pipeline_parallel_split_points"), ROW_UNSIMULATED("parallelism.pipeline_parallel_split_points"),
    
    ROW("parallelism.expert_tensor_parallel_degree", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one), ROW_UNSIMULATED("experimental.custom_*"),
    ROW_UNSIMULATED("parallelism.expert_parallel_comm_backend"), ROW_UNSIMULATED("float8.enable_fsdp_float8_all_gather"), ROW_UNSIMULATED("quantize.linear.float8.enable_fsdp_float8_all_gather"),
    ROW_UNSIMULATED("float8.*"), ROW_UNSIMULATED("quantize.*"), ROW_UNSIMULATED("mx.*"),
    SECTION("fault_tolerance"), SECTION("validation"), ROW_UNSIMULATED("activation_checkpoint.*"), ROW_UNSIMULATED("memory_estimation.*"),
    ROW_UNSIMULATED("debug.deterministic"), ROW_UNSIMULATED("training.deterministic"), ROW_UNSIMULATED("training.disable_cuda_graphs"), ROW_UNSIMULATED("compile.enable_async_tensor_parallel"), ROW_UNSIMULATED("optimizer.implementation"),
    ROW_IDLE("job.*"), ROW_IDLE("profiling.*"), ROW_IDLE("metrics.*"), ROW_IDLE("lr_scheduler.*"), ROW_IDLE("checkpoint.*"), ROW_IDLE("comm.*"), ROW_IDLE("debug.*"),
    ROW_IDLE("optimizer.*"), ROW_IDLE("model.*"), ROW_IDLE("training.dataset*"), ROW_IDLE("training.gc_*"), ROW_IDLE("training.seed"), ROW_IDLE("training.warmup_steps"),
    ROW_IDLE("training.data_parallel_type"), ROW_IDLE("training.fsdp_type"), ROW_IDLE("training.enable_fp8_linear"), ROW_IDLE("compile.*"),
    ROW_IDLE("experimental.*"), ROW_IDLE("memory_estimation.disable_fake_mode"), ROW_IDLE("parallelism.context_parallel_load_balancer"),
    ROW_IDLE("activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns"), ROW_IDLE("activation_checkpoint.early_stop"), ROW_IDLE("activation_checkpoint.debug"),
    ROW_IDLE("activation_checkpoint.preserve_rng_state"), ROW_IDLE("activation_checkpoint.determinism_check"),
    ROW_IDLE("float8.filter_fqns"), ROW_IDLE("mx.filter_fqns"), ROW_IDLE("*mxfp8_dim1_cast_kernel_choice"), ROW_IDLE("*force_recompute_fp8_weight_in_bwd"), ROW_IDLE("*precompute_float8_dynamic_scale_for_fsdp"), ROW_IDLE("float8.emulate"), ROW_IDLE("quantize.linear.float8.emulate"), ROW_IDLE("quantize.linear.float8.filter_fqns"), ROW_IDLE("quantize.linear.mx.filter_fqns"),
    ROW_END,
};
const struct dialect_table torchtitan_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

/* Several keys together ------------------------------------------------------------ */

/* The first of two names that is there. */
static const struct value_item *either(const struct value *c, const char *a,
                                       const char *b)
{
    const struct value_item *it = value_get(c, a);
    return it ? it : value_get(c, b);
}

static void take_model(struct launch_context *t, const struct value *c)
{
    static const struct dialect_option row = ROW("model.flavor", "/model");
    const struct value_item *name = value_get(c, "model.name"),
                            *flavor = value_get(c, "model.flavor");
    const char *which =
        arena_printf(t->arena, "%.60s/%.60s", launch_word(c, "model.name", "llama3"),
                     launch_word(c, "model.flavor", "debugmodel"));
    struct cfg known = launch_flavor(t, "torchtitan", which);
    const char *id = NULL;
    int64_t line = flavor ? flavor->line : name ? name->line : 1;
    struct value v = { .kind = VALUE_STRING, .line = line };
    const struct value_item from = { "model.flavor", line, &v };
    launch_hear(t, name);
    launch_hear(t, flavor);
    if (strcmp(launch_word(c, "model.name", "llama3"), "gpt_oss") == 0)
        launch_assume(t, "/training/attention", json_string("flash"),
                      "gpt_oss's FlexAttention, as flash attention");
    if (cfg_is_object(known)) {
        launch_set(t, "/model", json_deep_copy(known.json), &from);
    } else if ((known.json && cfg_string(known, &id) == 0) ||
               (id = launch_word(c, "model.flavor", ""), strchr(id, '/'))) {
        v.text = id; /* experiments of 2025 name flavors by ids of the Hub */
        trainer_take_model(t, &row, &from);
    } else {
        launch_add_unresolved(t, "/model", line,
                              "model.flavor: %s is no model of torchtitan that is "
                              "known; its config.json would do",
                              which);
    }
}

/* A pipeline cuts what a data-parallel rank loads into microbatches: of
 * pipeline_parallel_microbatch_size sequences (1), or into
 * pipeline_parallel_microbatches, of 2024's versions as many as there are stages. */
static void take_batch(struct launch_context *t, const struct value *c)
{
    static const char micro[] = "/training/micro_batch_size";
    const struct value_item *it = either(c, "training.local_batch_size",
                                         "training.batch_size"),
                            *size = value_get(
                                c, "parallelism.pipeline_parallel_microbatch_size"),
                            *many =
                                either(c, "experimental.pipeline_parallel_microbatches",
                                       "parallelism.pipeline_parallel_microbatches");
    int64_t stages = launch_number(t, WIDE "pipeline", 1), local = 8, n = 0, parts = 1;
    if (it && (!launch_whole(it->value, &local) || local < 1)) {
        launch_unresolved_item(t, micro, it, "whole number of at least 1");
        return;
    }
    launch_hear(t, size);
    launch_hear(t, many);
    if (stages > 1) {
        bool old = value_get(c, "experimental.pipeline_parallel_degree") != NULL;
        if (many && launch_whole(many->value, &n) && n > 0)
            parts = n;
        else if (size && launch_whole(size->value, &n) && n > 0)
            parts = local / n * n == local ? local / n : 0;
        else
            parts = old ? stages : local;
    }
    if (parts < 1 || local % parts) {
        launch_add_unresolved(t, micro, it ? it->line : 1,
                              "the %" PRId64 " sequences of a rank are not divided "
                              "into microbatches by the keys of the pipeline",
                              local);
        return;
    }
    launch_settle_item(t, micro, json_integer((json_int_t)(local / parts)), it,
                       "local_batch_size's default");
    if (stages > 1)
        launch_settle_item(t, "/training/microbatches", json_integer((json_int_t)parts),
                           many ? many : size,
                           "pipeline_parallel_microbatch_size's default");
}

static void take_context(struct launch_context *t, const struct value *c)
{
    static const struct dialect_option row =
        ROW("context_parallel_rotate_method", WIDE "context_comm", .words = rotations,
            .wanted = "method that is known");
    const struct value_item *it =
        either(c, "parallelism.context_parallel_rotate_method",
               "experimental.context_parallel_rotate_method");
    launch_hear(t, it);
    if (launch_number(t, WIDE "context", 1) < 2)
        return;
    if (it)
        dialect_take_as(t, &row, it, DIALECT_WORD);
    else
        launch_assume(t, WIDE "context_comm", json_string("all-gather"),
                      "context_parallel_rotate_method's default");
}

/* Degrees of data parallelism: none for what is not known, -1 for what is left. */
static int64_t degree(struct launch_context *t, const struct value *c, const char *name,
                      int64_t otherwise, const struct value_item **it)
{
    int64_t n = otherwise;
    *it = either(c, arena_printf(t->arena, "parallelism.%s", name),
                 arena_printf(t->arena, "training.%s", name));
    launch_hear(t, *it);
    if (*it && !launch_whole((*it)->value, &n))
        launch_unresolved_item(t, WIDE "sharding/degree", *it, "whole number");
    return n;
}

/* Asynchronous tensor parallelism is a pass of the compiler: torchtitan refuses it
 * without (infra/parallelize.py, maybe_enable_async_tp). */
static void take_async(struct launch_context *t, const struct value *c)
{
    static const char *const names[] = {
        "parallelism.enable_async_tensor_parallel",
        "experimental.enable_async_tensor_parallel",
        "training.enable_async_tensor_parallel",
    };
    const struct value_item *it = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !it; i++)
        it = value_get(c, names[i]);
    if (!it || !launch_true(it->value) || !launch_has(t, WIDE "tensor"))
        return;
    launch_set(t, WIDE "overlap_tensor", json_true(), it);
    launch_note(t->l, it->line, DIAG_APPROXIMATE,
                "%s: what it hides is counted from PyTorch's code; no measured step "
                "has tested it",
                it->key);
    launch_hear(t, it);
}

/* Experts are over the tensor group, which is their only other degree
 * (torchtitan/distributed/parallel_dims.py). */
static void take_experts(struct launch_context *t, const struct value *c)
{
    const struct value_item *it =
        value_get(c, "parallelism.expert_tensor_parallel_degree");
    int64_t n;
    if (it && launch_whole(it->value, &n) && launch_number(t, WIDE "expert", 1) == 1 &&
        n == launch_number(t, WIDE "tensor", 1))
        launch_hear(t, it);
}

/* FSDP over shard x context ranks, replicated; without either, DDP. */
static void take_sharding(struct launch_context *t, const struct value *c)
{
    const struct value_item *of_shard, *of_copies,
        *offload =
            either(c, "training.enable_cpu_offload", "experimental.enable_cpu_offload");
    int64_t shard = degree(t, c, "data_parallel_shard_degree", -1, &of_shard),
            copies = degree(t, c, "data_parallel_replicate_degree", 1, &of_copies),
            context = launch_number(t, WIDE "context", 1);
    if (!of_shard)
        shard = degree(t, c, "data_parallel_degree", -1, &of_shard);
    bool sharded = shard != 1 || context > 1;
    if (shard > 0 && shard < INT32_MAX && copies > 0 && copies < INT32_MAX && of_shard)
        t->l->replicas = (struct launch_replicas) { .n = shard * copies,
                                                    .line = of_shard->line,
                                                    .what = of_shard->key };
    launch_settle_item(t, WIDE "library", json_string(sharded ? "fsdp" : "ddp"),
                       of_shard, "torchtitan's FSDP");
    if (!sharded)
        return;
    launch_assume(t, WIDE "sharding/strategy", json_string("full"),
                  "torchtitan's FSDP");
    if (copies > 1 && shard < 1)
        trainer_take_copies(t, of_copies);
    else if (copies > 1 && shard < INT32_MAX && context < INT32_MAX)
        launch_set(t, WIDE "sharding/degree", json_integer((json_int_t)shard * context),
                   of_copies);
    if (offload && launch_true(offload->value))
        launch_set(t, WIDE "sharding/offload", json_string("parameters"), offload);
    launch_hear(t, offload);
}

/* "op" keeps what is dear to compute again, a number computes every so manieth layer
 * again. */
static void take_checkpointing(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/activation_checkpointing";
    const struct value_item *it = value_get(c, "activation_checkpoint.mode"),
                            *how = value_get(
                                c, "activation_checkpoint.selective_ac_option");
    const char *mode = launch_word(c, "activation_checkpoint.mode", "selective");
    struct value two = { .kind = VALUE_INT, .line = 1, .integer = 2 };
    const struct value *v = how ? how->value : &two;
    int64_t n;
    launch_hear(t, how);
    if (strcmp(mode, "none") == 0 || strcmp(mode, "full") == 0)
        launch_settle_item(t, at, json_string(mode), it,
                           "activation_checkpoint.mode's default");
    else if (strcmp(mode, "selective") != 0)
        launch_unresolved_item(t, at, it, "mode that is simulated");
    else if (launch_whole(v, &n) && n > 0)
        launch_settle_item(t, at,
                           n == 1 ? json_string("full")
                                  : json_pack("{s:I}", "every", (json_int_t)n),
                           how ? how : it, "selective_ac_option's default");
    else if (v->kind == VALUE_STRING && strcmp(v->text, "op") == 0)
        launch_settle_item(t, at, json_string("operators"), how, "");
    else
        launch_unresolved_item(t, at, how, "number of layers or \"op\"");
    launch_hear(t, it);
}

/* From April 2025 on, when batch_size was renamed; v0.2 has a table on compiling. */
static bool is_of_2025(const struct value *c)
{
    return value_get(c, "compile.enable") || value_get(c, "training.local_batch_size");
}

/* Which parts are compiled: the list of v0.2's table, both by default; before it the
 * loss, too, from April 2025 on (components/loss.py). */
static bool compiles_loss(const struct value *c, const struct value_item *what)
{
    return what ? torchtitan_has_word(what, "loss") : is_of_2025(c);
}

/* compile.components without "model" compiles the loss alone. */
static void take_framework(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = either(c, "compile.enable", "training.compile"),
                            *what = value_get(c, "compile.components");
    bool asked = it && launch_true(it->value),
         on = asked && (!what || torchtitan_has_word(what, "model"));
    launch_hear(t, it);
    if (asked)
        launch_hear(t, what);
    if (asked && !on)
        launch_note(t->l, what->line, DIAG_NOT_SIMULATED,
                    "compile.components: a compiled loss of blocks that are not is not "
                    "simulated");
    bool loss = on && compiles_loss(c, what);
    launch_assume(t, "/training/framework",
                  json_string(loss            ? "torchtitan-2025"
                              : on            ? "torchtitan-compiled"
                              : is_of_2025(c) ? "torchtitan-2025-eager"
                                              : "torchtitan"),
                  loss ? "torchtitan, blocks and loss compiled"
                  : on ? "torchtitan, compiled"
                       : "torchtitan");
}

/* All of it ------------------------------------------------------------------------ */

bool torchtitan_recognises(const struct dialect_input *in)
{
    if (in->source == DIALECT_CALLS)
        return torchtitan_is_registry(in->python);
    if (in->source != DIALECT_DOCUMENT)
        return false;
    static const char *const marks[] = {
        "activation_checkpoint", "parallelism", "metrics", "job", "checkpoint", NULL
    };
    int found = 0;
    for (const char *const *m = marks; *m; m++)
        found += value_get(in->root, *m) != NULL;
    const struct value_item *model = value_get(in->root, "model");
    return found > 1 && value_get(in->root, "training") && model &&
           (value_get(model->value, "flavor") || value_get(model->value, "name"));
}

void torchtitan_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct value *root = in->command  ? torchtitan_arguments(t, in->command)
                               : in->python ? torchtitan_own_registry(t, in->estimator)
                                            : in->root;
    if (!root)
        return;
    const struct value *c = launch_flatten(t->arena, root);
    if (!in->command)
        launch_config_title(t, "torchtitan's configuration");
    launch_take_rows(t, rows, c);
    take_model(t, c);
    if (!torchtitan_take_tokens(t, c))
        take_batch(t, c);
    torchtitan_take_stages(t, c);
    take_context(t, c);
    take_sharding(t, c);
    take_experts(t, c);
    torchtitan_take_precision(t, c);
    take_checkpointing(t, c);
    take_framework(t, c);
    take_async(t, c);
    launch_assume(t, "/training/sequence_length", json_integer(2048),
                  "seq_len's default");
    launch_assume(t, "/training/gradient_clipping", json_real(1), "max_norm's default");
    launch_assume(t, "/training/optimizer", json_string("adam"),
                  "optimizer.name's default");
    launch_assume(t, WIDE "placement", json_string("PDT"), "the order of its meshes");
    if (launch_has(t, WIDE "tensor"))
        launch_assume(t, WIDE "sequence_parallel", json_true(),
                      "torchtitan's tensor parallelism");
    dialect_report(t, torchtitan_tables, "", c,
                   (struct dialect_place) { root->line, "", "", true });
}
