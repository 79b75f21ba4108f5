#include "dialect/internevo/internevo.h"

#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/python/python.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define WIDE "/parallelism/"
enum { MIB = 1 << 20, BASES_MAX = 5 };

/* Rows ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct dialect_word types[] = {
    { "torch.bfloat16", "bf16" }, { "torch.float16", "fp16" }, { "torch.half", "fp16" }, { "torch.float32", "fp32" }, { "torch.tf32", "tf32" }, { NULL, NULL },
};

static bool off_empty(const struct value *v)
{
    return launch_is_off(v) || (v->kind == VALUE_STRING && !*v->text);
}

static bool off_1f1b(const struct value *v)
{
    return launch_is_off(v) || (v->kind == VALUE_STRING && strcasecmp(v->text, "1f1b") == 0);
}

static const struct dialect_option rows[] = {
    ROW("data.seq_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("data.micro_bsz", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("data.total_steps", "/training/steps", .kind = DIALECT_SIZE),
    ROW("model.dtype", "/training/precision", .kind = DIALECT_WORD, .words = types, .wanted = "type that is simulated"),
    ROW("hybrid_zero_optimizer.clip_grad_norm", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint[] = {
    ROW_ACTS("model_type", "/model"), ROW_ACTS("model.hidden_size", "/model"), ROW_ACTS("model.num_layers", "/model"), ROW_ACTS("model.num_attention_heads", "/model"),
    ROW_ACTS("model.num_kv_attention_heads", "/model"), ROW_ACTS("model.mlp_ratio", "/model"), ROW_ACTS("model.vocab_size", "/model"), ROW_ACTS("model.no_bias", "/model"),
    ROW_ACTS("model.use_swiglu", "/model"), ROW_ACTS("model.norm_type", "/model"),
    ROW_ACTS("model.checkpoint", "/training/activation_checkpointing"), ROW_ACTS("model.use_flash_attn", "/training/attention"),
    ROW_ONLY("model.num_chunks", WIDE "virtual_stages"), ROW_ACTS("data.micro_num", "/training/microbatches"), ROW("data.pack_sample_into_one", NULL),
    ROW_ACTS("hybrid_zero_optimizer.reduce_bucket_size", WIDE "bucket_size"), ROW_ACTS("hybrid_zero_optimizer.overlap_sync_grad", WIDE "overlap"),
    ROW_ACTS("parallel.tensor", WIDE "tensor"), ROW_ACTS("parallel.tensor.size", WIDE "tensor"), ROW_ONLY("parallel.tensor.mode", WIDE "sequence_parallel"),
    ROW_ONLY("parallel.sequence_parallel", WIDE "sequence_parallel"), ROW_ACTS("parallel.pipeline", WIDE "pipeline"), ROW_ACTS("parallel.pipeline.size", WIDE "pipeline"),
    ROW_ACTS("parallel.zero1", WIDE "sharding/strategy"), ROW_ACTS("parallel.zero1.size", WIDE "sharding/strategy"), ROW_ACTS("parallel.zero1.fsdp", WIDE "library"),
    ROW("parallel.weight.size", WIDE "tensor", .off = dialect_off_at_one), ROW("parallel.expert*", WIDE "expert", .off = dialect_off_at_one),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW("data.rampup_batch_size", NULL, .class = DIALECT_UNSIMULATED, .off = off_empty),
    ROW("parallel.pipeline.mode", NULL, .class = DIALECT_UNSIMULATED, .off = off_1f1b), ROW_IDLE("parallel.pipeline.interleaved_overlap"),
    ROW_UNSIMULATED("parallel.pipeline.*"), ROW_UNSIMULATED("data.unit_schedule_size"), ROW_UNSIMULATED("hybrid_zero_optimizer.overlap_sync_param"), ROW_UNSIMULATED("model.apply_post_layer_norm"), ROW_UNSIMULATED("model.residual_in_fp32"),
    ROW_UNSIMULATED("use_fp32_norm"), ROW_UNSIMULATED("moe.*"), ROW_UNSIMULATED("model.attn_drop_rate"), ROW_UNSIMULATED("model.drop_rate"),
    ROW_IDLE("model.*"), ROW_IDLE("data.*"), ROW_IDLE("parallel.*"), ROW_IDLE("hybrid_zero_optimizer.*"), ROW_IDLE("grad_scaler*"), ROW_IDLE("loss*"), ROW_IDLE("adam*"),
    ROW_IDLE("lr_scheduler*"), ROW_IDLE("beta2_scheduler*"), ROW_IDLE("ckpt*"), ROW_IDLE("monitor*"), ROW_IDLE("cudnn_*"), ROW_IDLE("metric_dtype"), ROW_IDLE("generation*"),
    ROW_IDLE("enable_tb"), ROW_IDLE("tensorboard_folder"), ROW_IDLE("resume_tb_folder"), ROW_IDLE("alert_address"),
    ROW_END,
};
const struct dialect_table internevo_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

/* Several keys together ------------------------------------------------------------ */

/* "tensor": 8, or "tensor": {"size": 8}: the one that is there, heard; NULL. */
static const struct value_item *size_item(struct launch_context *t,
                                          const struct value *c, const char *name)
{
    const char *inner = arena_printf(t->arena, "parallel.%s.size", name);
    const struct value_item *it = launch_find(t, c, inner);
    return it ? it : launch_find(t, c, arena_printf(t->arena, "parallel.%s", name));
}

/* A degree, which is set where it is more than 1; 1 without. */
static int64_t take_degree(struct launch_context *t, const struct value *c,
                           const char *name, const char *pointer)
{
    const struct value_item *it = size_item(t, c, name);
    int64_t n = 1;
    if (!it || it->value->kind == VALUE_NONE)
        return 1;
    if (!launch_whole(it->value, &n) || n < 1 || n > INT32_MAX) {
        launch_unresolved_item(t, pointer, it, "number of at least 1");
        return 1;
    }
    if (n > 1)
        launch_set(t, pointer, json_integer((json_int_t)n), it);
    return n;
}

static bool refuse_weights(struct launch_context *t, const struct value_item *it,
                           const char *why)
{
    diags_add(&t->l->loader->diags,
              diag_at_line(DIAG_ERROR, DIAG_NOT_SIMULATED, t->l->file, it->line),
              "%s: %s", it->key, why);
    return true;
}

/* Groups that gather whole layers, or split sequences over them: refused; whether it
 * is so. No degree of tensor parallelism would be them. */
static bool asks_for_weights(struct launch_context *t, const struct value *c)
{
    const struct value_item *mode = launch_find(t, c, "parallel.tensor.mode"),
                            *size = size_item(t, c, "tensor"),
                            *weight = size_item(t, c, "weight");
    int64_t shards = 1, n = 1;
    bool given = weight && weight->value->kind != VALUE_NONE,
         isp = mode && strcmp(launch_word(c, mode->key, ""), "isp") == 0;
    if (isp)
        launch_hear(t, mode);
    if (given && (!launch_whole(weight->value, &shards) || shards > 1))
        return refuse_weights(t, weight,
                              "layers whose weights are gathered over a group of their "
                              "own are not simulated (1 is)");
    if (isp && size && (!launch_whole(size->value, &n) || n > 1))
        return refuse_weights(t, mode,
                              "\"isp\" splits sequences over ranks that hold whole "
                              "layers, which is not simulated (\"mtp\" is)");
    return false;
}

/* mtp is Megatron's, msp with its sequence parallelism; isp splits sequences and gathers
 * weights. */
static void take_tensor(struct launch_context *t, const struct value *c)
{
    const struct value_item *mode = launch_find(t, c, "parallel.tensor.mode"),
                            *old = launch_find(t, c, "parallel.sequence_parallel");
    bool given = mode && mode->value->kind != VALUE_NONE;
    const char *word = launch_word(c, "parallel.tensor.mode", given ? "" : "mtp");
    if (asks_for_weights(t, c) || take_degree(t, c, "tensor", WIDE "tensor") < 2)
        return;
    bool wide = strcmp(word, "msp") == 0 || strcmp(word, "fsp") == 0 ||
                (old && launch_true(old->value));
    if (given && !wide && strcmp(word, "mtp") != 0 && strcmp(word, "isp") != 0) {
        launch_unresolved_item(t, WIDE "sequence_parallel", mode,
                               "mode that is simulated (mtp, msp, fsp)");
        return;
    }
    launch_settle_item(t, WIDE "sequence_parallel", json_boolean(wide),
                       mode ? mode : old, "mode's default, mtp");
    if (given && strcmp(word, "fsp") == 0)
        launch_note(t->l, mode->line, DIAG_APPROXIMATE,
                    "%s: \"fsp\" is simulated as \"msp\", whose collectives carry as "
                    "much",
                    mode->key);
}

/* Microbatches fill a pipeline once; without one they are accumulated. */
static void take_batch(struct launch_context *t, const struct value *c,
                       int64_t pipeline)
{
    const struct value_item *it = launch_find(t, c, "data.micro_num"),
                            *chunks = launch_find(t, c, "model.num_chunks"),
                            *one = launch_find(t, c, "data.pack_sample_into_one");
    const char *at = pipeline > 1 ? "/training/microbatches"
                                  : "/training/gradient_accumulation_steps";
    int64_t n = 1;
    if (it && (!launch_whole(it->value, &n) || n < 1))
        launch_unresolved_item(t, at, it, "number of at least 1");
    else
        launch_settle_item(t, at, json_integer((json_int_t)n), it,
                           "micro_num's default");
    if (pipeline > 1) {
        launch_assume(t, "/training/gradient_accumulation_steps", json_integer(1),
                      "one fill of the pipeline");
        n = 1;
        if (chunks && (!launch_whole(chunks->value, &n) || n < 1))
            launch_unresolved_item(t, WIDE "virtual_stages", chunks,
                                   "number of at least 1");
        else if (n > 1)
            launch_set(t, WIDE "virtual_stages", json_integer((json_int_t)n), chunks);
        launch_assume(t, WIDE "schedule", json_string(n > 1 ? "interleaved" : "1f1b"),
                      n > 1 ? "num_chunks above 1" : "one chunk a stage");
    }
    if (one && launch_true(one->value))
        launch_note(t->l, one->line, DIAG_LEFT_OUT,
                    "%s: attention over all tokens of a pack is not simulated; that "
                    "within seq_len is",
                    one->key);
}

/* Sizes below 1 are all replicas; FSDP is torch's. */
static void take_sharding(struct launch_context *t, const struct value *c)
{
    static const char at[] = WIDE "sharding/strategy";
    const struct value_item *it = size_item(t, c, "zero1"),
                            *fsdp = launch_find(t, c, "parallel.zero1.fsdp");
    int64_t n = -1;
    if (fsdp && launch_true(fsdp->value)) {
        launch_add_unresolved(t, WIDE "library", fsdp->line,
                              "%s: PyTorch's FSDP around InternEvo's layers is not "
                              "simulated; \"fsdp\" is it with PyTorch's own",
                              fsdp->key);
        return;
    }
    launch_assume(t, WIDE "library", json_string("internevo"), "InternEvo");
    if (it && it->value->kind != VALUE_NONE && !launch_whole(it->value, &n)) {
        launch_unresolved_item(t, at, it, "whole number");
        return;
    }
    launch_settle_item(t, at, json_string(n == 1 ? "none" : "optimizer"), it,
                       "zero1's default, all replicas");
    if (n > 1)
        launch_set(t, WIDE "sharding/degree", json_integer((json_int_t)n), it);
}

/* checkpoint: true, false, or the part of a stage's layers that is computed again. */
static void take_checkpoint(struct launch_context *t, const struct value *c,
                            int64_t pipeline)
{
    static const char at[] = "/training/activation_checkpointing";
    const struct value_item *it = launch_find(t, c, "model.checkpoint"),
                            *layers = value_get(c, "model.num_layers");
    double part = 0;
    int64_t n = 0;
    if (it && it->value->kind == VALUE_BOOL)
        part = launch_true(it->value) ? 1 : 0;
    else if (it && (!launch_real(it->value, &part) || part < 0 || part > 1)) {
        launch_unresolved_item(t, at, it, "part from 0 to 1");
        return;
    }
    bool whole = part <= 0 || part >= 1;
    if (whole) {
        launch_settle_item(t, at, json_string(part >= 1 ? "full" : "none"), it,
                           "checkpoint's default");
    } else if (layers && launch_whole(layers->value, &n) && n / pipeline > 0) {
        int64_t again = (int64_t)((double)(n / pipeline) * part);
        launch_set(t, at,
                   again ? json_pack("{s:I}", "block", (json_int_t)again)
                         : json_string("none"),
                   it);
    }
}

/* Buckets count elements, of the model's type. */
static void take_reduction(struct launch_context *t, const struct value *c)
{
    const struct value_item *bucket = launch_find(
                                t, c, "hybrid_zero_optimizer.reduce_bucket_size"),
                            *overlap = launch_find(
                                t, c, "hybrid_zero_optimizer.overlap_sync_grad");
    const char *type = launch_word(c, "model.dtype", "torch.float16");
    int64_t n, each = strstr(type, "32") ? 4 : 2;
    if (bucket && (!launch_whole(bucket->value, &n) || n < 1 || n > INT32_MAX))
        launch_unresolved_item(t, WIDE "bucket_size", bucket, "number of elements");
    else if (bucket)
        launch_set(t, WIDE "bucket_size",
                   n * each % MIB ? json_sprintf("%" PRId64 "B", n * each)
                                  : json_sprintf("%" PRId64 "MiB", n * each / MIB),
                   bucket);
    if (overlap && !launch_true(overlap->value) &&
        overlap->value->kind != VALUE_UNKNOWN)
        launch_set(t, WIDE "overlap", json_false(), overlap);
}

static void take_experts(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = size_item(t, c, "expert");
    int64_t n = 1;
    if (it && it->value->kind != VALUE_NONE && (!launch_whole(it->value, &n) || n > 1))
        launch_add_unresolved(t, WIDE "expert", it->line,
                              "%s: InternEvo's groups of experts are not read",
                              it->key);
}

/* All of it ------------------------------------------------------------------------ */

static void read_configuration(struct launch_context *t, const struct value *all)
{
    const struct value *c = launch_flatten(t->arena, all);
    const struct value_item *flash = launch_find(t, c, "model.use_flash_attn");
    launch_take_rows(t, rows, c);
    internevo_take_model(t, c);
    take_tensor(t, c);
    int64_t pipeline = take_degree(t, c, "pipeline", WIDE "pipeline");
    take_batch(t, c, pipeline);
    take_sharding(t, c);
    take_checkpoint(t, c, pipeline);
    take_reduction(t, c);
    take_experts(t, c);
    launch_settle_item(
        t, "/training/attention",
        json_string(!flash || launch_true(flash->value) ? "flash" : "unfused"), flash,
        "use_flash_attn's default");
    launch_assume(t, "/training/precision", json_string("fp16"), "dtype's default");
    launch_assume(t, "/training/optimizer", json_string("adam"), "InternEvo's AdamW");
    launch_assume(t, "/training/task", json_string("causal-lm"),
                  "InternEvo's train.py");
    dialect_report(t, internevo_tables, "", c,
                   (struct dialect_place) { all->line, "", "", true });
}

static const struct value *dictionary(const struct python *p, const char *name,
                                      const char *key)
{
    const struct value *v = python_name(p, name);
    return v && v->kind == VALUE_DICT && value_get(v, key) ? v : NULL;
}

/* "model" may come from another file, and more from those of "_base_". */
static bool is_configuration(const struct python *p)
{
    if (python_name(p, "_base_") &&
        (dictionary(p, "parallel", "zero1") || dictionary(p, "parallel", "weight")))
        return true;
    return dictionary(p, "data", "micro_num") && dictionary(p, "data", "seq_len") &&
           (dictionary(p, "parallel", "zero1") ||
            dictionary(p, "parallel", "pipeline") ||
            dictionary(p, "parallel", "tensor"));
}

enum { COPIED_MAX = 20000 };

/* Names that InternEvo reads; those of the file's own (SEQ_LEN) are in these. With a
 * line, all of them are there. Values of Python may share others many times: beyond
 * COPIED_MAX in all they are named and left out. */
static struct value *dictionaries_of(struct launch_context *t, const struct python *p,
                                     int64_t line)
{
    struct value *all = value_new(t->arena, VALUE_DICT, line ? line : 1, 0);
    int64_t budget = COPIED_MAX;
    for (int64_t i = 0; i < p->names.n; i++) {
        const struct python_name *n = &p->names.v[i];
        bool known = strcspn(n->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") > 0 &&
                     !strchr(n->name, '.') && !strstr(n->name, "__") &&
                     (n->value->kind != VALUE_UNKNOWN ||
                      dialect_option_of(internevo_tables, "", n->name));
        if (!known)
            continue;
        struct value *v = value_copy(t->arena, n->value, &budget);
        if (!v) {
            launch_note(t->l, line ? line : n->value->line, DIAG_LEFT_OUT,
                        "%s: it is too large, and is passed over", n->name);
            continue;
        }
        if (line)
            value_move_to(v, line);
        value_add(t->arena, all, arena_strdup(t->arena, n->name), v->line, v);
    }
    return all;
}

/* Files that "_base_" names are below: what this one has goes over them, dictionary by
 * dictionary, as mmengine's configurations do. */
static void put_below(struct launch_context *t, struct value *all,
                      const struct value *below, int deep)
{
    for (int32_t i = 0; i < below->n; i++) {
        const struct value_item *it = &below->items[i], *own = value_get(all, it->key);
        if (!own)
            value_add(t->arena, all, it->key, it->line, it->value);
        else if (own->value->kind == VALUE_DICT && it->value->kind == VALUE_DICT &&
                 deep < BASES_MAX)
            put_below(t, all->items[own - all->items].value, it->value, deep + 1);
    }
}

static void add_bases(struct launch_context *t, struct value *all, int64_t line,
                      int left)
{
    const struct value_item *it = value_get(all, "_base_");
    if (!it || left == 0)
        return;
    struct value at = *it->value, *names = &at;
    bool list = at.kind == VALUE_LIST;
    value_remove(all, (int32_t)(it - all->items));
    for (int32_t i = 0; i < (list ? names->n : 1); i++) {
        const struct value *name = list ? names->items[i].value : names;
        bool text = name->kind == VALUE_STRING;
        const char *read =
            text ? launch_program_text(t->l, t->arena, name->text) : NULL;
        if (!read) {
            launch_lost(t->l, text ? name->text : "_base_", name->line,
                        "was not found (put it next to the file)");
            continue;
        }
        const struct python *p = launch_read_names(t->l, read, 1);
        if (p) {
            struct value *below = dictionaries_of(t, p, line ? line : name->line);
            add_bases(t, below, line ? line : name->line, left - 1);
            put_below(t, all, below, 0);
            launch_note(t->l, line ? line : name->line, DIAG_ASSUMED, "%.80s is read",
                        name->text);
        }
    }
}

/* The text of the file that --config names; NULL. */
static const char *text_of(const struct launch *l, struct arena *arena,
                           const struct launch_command *c)
{
    const struct value_item *it = value_get(&c->options, "--config");
    return it && it->value->kind == VALUE_STRING
               ? launch_program_text(l, arena, it->value->text)
               : NULL;
}

bool internevo_recognises(const struct dialect_input *in)
{
    if (in->source != DIALECT_COMMAND)
        return is_configuration(in->python);
    const char *text = in->context && in->command
                           ? text_of(in->context->l, in->context->arena, in->command)
                           : NULL;
    if (!text)
        return false;
    const struct python *p = launch_read_names(in->context->l, text, 1);
    return p && is_configuration(p);
}

void internevo_read(struct launch_context *t, const struct dialect_input *in)
{
    if (in->source != DIALECT_COMMAND) {
        launch_config_title(t, "InternEvo's configuration");
        struct value *all = dictionaries_of(t, in->python, 0);
        add_bases(t, all, 0, BASES_MAX);
        read_configuration(t, all);
        return;
    }
    const char *text = text_of(t->l, t->arena, in->command);
    launch_note_options(t, in->command, "config");
    if (!text)
        return;
    const struct python *p = launch_read_names(t->l, text, 1);
    if (!p)
        return;
    int64_t line = in->command->command->line;
    struct value *all = dictionaries_of(t, p, line);
    add_bases(t, all, line, BASES_MAX);
    read_configuration(t, all);
}
