/* Configurations of Colossal-AI 0.1 in Python: BATCH_SIZE = 8, parallel = dict(pipeline=2,
 * tensor=dict(size=4, mode='1d')), fp16 = dict(mode=AMP_TYPE.NAIVE), zero = dict(...),
 * model = dict(type=gpt2_small, checkpoint=True) (hpcaitech/ColossalAI of 2022,
 * colossalai/context; ColossalAI-Examples, language/gpt). Its programs give BATCH_SIZE to
 * the loader of each data-parallel rank. */
#include "dialect/colossalai/colossalai.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_context.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/python/python.h"

#include <string.h>

#define WIDE "/parallelism/"

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("SEQ_LEN", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("SEQ_LENGTH", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("GLOBAL_BATCH_SIZE", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW("NUM_EPOCHS", "/training/epochs", .kind = DIALECT_SIZE),
    ROW("TRAIN_ITERS", "/training/steps", .kind = DIALECT_SIZE),
    ROW("clip_grad_norm", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("gradient_accumulation", "/training/gradient_accumulation_steps", .kind = DIALECT_SIZE),
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint[] = {
    ROW_ACTS("BATCH_SIZE", "/training/micro_batch_size"), ROW_ACTS("NUM_MICRO_BATCHES", "/training/microbatches"),
    ROW_ACTS("parallel.pipeline", WIDE "pipeline"), ROW_ACTS("parallel.pipeline.size", WIDE "pipeline"),
    ROW_ACTS("parallel.tensor", WIDE "tensor"), ROW_ACTS("parallel.tensor.size", WIDE "tensor"), ROW_ACTS("parallel.tensor.mode", WIDE "tensor"),
    ROW_ACTS("fp16.mode", "/training/precision"), ROW_ACTS("optimizer.type", "/training/optimizer"),
    ROW_ACTS("zero.model_config.shard_strategy", WIDE "sharding/strategy"), ROW_ACTS("zero.model_config.tensor_placement_policy", WIDE "sharding/offload"),
    ROW_ACTS("model.type", "/model"), ROW_ACTS("model.checkpoint", "/training/activation_checkpointing"), ROW_ACTS("CHECKPOINT", "/training/activation_checkpointing"),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("zero.*"), ROW_UNSIMULATED("model.*"), ROW_IDLE("model.dtype"), ROW_IDLE("zero.optimizer_config*"),
    ROW_IDLE("zero.model_config.reuse_fp16_shard"), ROW_IDLE("fp16.*"), ROW_IDLE("optimizer.*"), ROW_IDLE("loss*"), ROW_IDLE("lr_scheduler*"),
    ROW_IDLE("gradient_handler*"), ROW_IDLE("cudnn_*"), ROW_IDLE("seed"), ROW_IDLE("logging*"), ROW_IDLE("hooks*"), ROW_IDLE("model.num_chunks"),
    ROW_END,
};
const struct dialect_table colossalai_config_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};

/* titans/model/gpt/gpt.py, of 50304 words and 1024 positions. */
static const struct model_size {
    const char *name;
    int layers, hidden, heads;
} sizes[] = {
    { "gpt2_small", 12, 768, 12 }, { "gpt2_medium", 24, 1024, 8 }, { "gpt2_large", 36, 1536, 12 }, { "gpt2_xl", 48, 1600, 16 },
    { "gpt2_2B", 40, 2048, 16 }, { "gpt2_3B", 48, 2304, 16 }, { "gpt2_4B", 64, 2304, 16 }, { "gpt2_6B", 30, 4096, 16 }, { "gpt2_8B", 72, 3072, 24 },
    { "gpt2_12B", 60, 4096, 16 }, { "gpt2_15B", 78, 4096, 16 }, { "gpt2_18B", 90, 4096, 16 }, { "gpt2_20B", 25, 8192, 16 }, { "gpt3", 96, 12288, 96 },
};
/* clang-format on */

/* Which file it is ----------------------------------------------------------------- */

static const struct value *part(const struct python *p, const char *name,
                                const char *key)
{
    const struct value *v = python_name(p, name);
    const struct value_item *it = v && v->kind == VALUE_DICT ? value_get(v, key) : NULL;
    return it ? it->value : NULL;
}

bool colossalai_is_configuration(const struct python *p)
{
    bool batch = python_name(p, "BATCH_SIZE") || python_name(p, "GLOBAL_BATCH_SIZE");
    return batch && !part(p, "data", "micro_num") &&
           (part(p, "parallel", "tensor") || part(p, "parallel", "pipeline") ||
            part(p, "zero", "model_config") || part(p, "fp16", "mode"));
}

/* Names that Colossal-AI and its programs read. */
static struct value *known_names(struct launch_context *t, const struct python *p)
{
    struct value *all = value_new(t->arena, VALUE_DICT, 1, 0);
    for (int64_t i = 0; i < p->names.n; i++) {
        const struct python_name *n = &p->names.v[i];
        bool constant = strpbrk(n->name, "abcdefghijklmnopqrstuvwxyz.") == NULL,
             read = dialect_option_of(colossalai_config_tables, "", n->name) != NULL,
             object = n->value->kind == VALUE_DICT;
        if (constant ? read : (read || object) && !strchr(n->name, '.'))
            value_add(t->arena, all, arena_strdup(t->arena, n->name), n->value->line,
                      n->value);
    }
    return launch_flatten(t->arena, all);
}

/* The last part of a class or a word: "NAIVE" of AMP_TYPE.NAIVE; NULL. */
static const char *last_of(const struct value_item *it)
{
    return it && it->value->text ? python_last_part(it->value->text) : NULL;
}

/* Parts ---------------------------------------------------------------------------- */

/* A degree that is given plainly or as "size"; 1: none. What is no number is asked for. */
static const struct value_item *degree_at(struct launch_context *t,
                                          const struct value *c, const char *pointer,
                                          const char *plain, const char *nested,
                                          int64_t *n)
{
    const struct value_item *it = launch_find(t, c, nested);
    it = it ? it : launch_find(t, c, plain);
    *n = 1;
    if (it && it->value->kind != VALUE_NONE && !launch_whole(it->value, n))
        launch_unresolved_item(t, pointer, it, "whole number");
    return it;
}

static void take_degrees(struct launch_context *t, const struct value *c)
{
    int64_t stages, ranks;
    const struct value_item *p = degree_at(t, c, WIDE "pipeline", "parallel.pipeline",
                                           "parallel.pipeline.size", &stages),
                            *g = degree_at(t, c, WIDE "tensor", "parallel.tensor",
                                           "parallel.tensor.size", &ranks),
                            *mode = launch_find(t, c, "parallel.tensor.mode");
    const char *word =
        mode && mode->value->kind == VALUE_STRING ? mode->value->text : NULL;
    if (p && stages > 1)
        launch_set(t, WIDE "pipeline", json_integer((json_int_t)stages), p);
    if (!g || ranks < 2)
        return;
    if (word && strcmp(word, "1d") == 0)
        launch_set(t, WIDE "tensor", json_integer((json_int_t)ranks), g);
    else
        diags_add(
            &t->l->loader->diags, launch_diag(t->l, DIAG_NOT_SIMULATED, g->line, 0),
            "parallel.tensor.mode: \"%.20s\" is not simulated (\"1d\", Megatron's, "
            "is)",
            word ? word : "?");
}

static void take_precision(struct launch_context *t, const struct value *c, bool zero)
{
    const struct value_item *it = launch_find(t, c, "fp16.mode");
    const char *mode = last_of(it);
    bool whole = mode && strcmp(mode, "NAIVE") == 0,
         some = mode && (strcmp(mode, "TORCH") == 0 || strcmp(mode, "APEX") == 0);
    if (it && !whole && !some)
        launch_unresolved_item(t, "/training/precision", it, "AMP_TYPE");
    else
        launch_settle_item(t, "/training/precision",
                           json_string(some            ? "amp_fp16"
                                       : whole || zero ? "fp16"
                                                       : "fp32"),
                           it, zero ? "ZeRO's" : "without fp16");
}

static bool take_zero(struct launch_context *t, const struct value *c)
{
    static const char policy_at[] = "zero.model_config.tensor_placement_policy";
    const struct value_item *it = launch_find(t, c, "zero.model_config.shard_strategy"),
                            *policy = launch_find(t, c, policy_at);
    const char *word = !policy                               ? "cuda"
                       : policy->value->kind == VALUE_STRING ? policy->value->text
                                                             : "";
    if (!it && !policy)
        return false;
    launch_set(t, WIDE "sharding/strategy", json_string("full"), it ? it : policy);
    if (strcmp(word, "cpu") == 0)
        launch_set(t, WIDE "sharding/offload", json_string("parameters"), policy);
    else if (strcmp(word, "cuda") != 0)
        launch_unresolved_item(t, WIDE "sharding/offload", policy,
                               "place that is the same in every step (cpu, cuda)");
    return true;
}

static void take_model(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = launch_find(t, c, "model.type"),
                            *own = launch_find(t, c, "model.checkpoint"),
                            *again = own ? own : launch_find(t, c, "CHECKPOINT");
    const char *name = last_of(it);
    const struct model_size *m = sizes, *end = m + sizeof(sizes) / sizeof(sizes[0]);
    while (name && m < end && strcmp(m->name, name) != 0)
        m++;
    if (name && m < end) {
        int64_t length = launch_number(t, "/training/sequence_length", 1024);
        launch_set(t, "/model",
                   json_pack("{s:s, s:i, s:i, s:i, s:i, s:I}", "model_type", "gpt2",
                             "n_layer", m->layers, "n_embd", m->hidden, "n_head",
                             m->heads, "vocab_size", 50304, "n_positions",
                             (json_int_t)(length > 1024 ? length : 1024)),
                   it);
    } else {
        launch_add_unresolved(t, "/model", it ? it->line : t->l->line,
                              "%s%.60s: which model it is, the program decides",
                              it ? "model.type: " : "no model.type is given",
                              name ? name : "");
    }
    if (again && again->value->kind != VALUE_BOOL && again->value->kind != VALUE_NONE)
        launch_unresolved_item(t, "/training/activation_checkpointing", again,
                               "true or false");
    else
        launch_settle_item(
            t, "/training/activation_checkpointing",
            json_string(again && launch_true(again->value) ? "full" : "none"), again,
            "without model.checkpoint");
}

/* The microbatches of a pipeline's schedule; 1 without, 0 where they are asked for. */
static int64_t take_microbatches(struct launch_context *t, const struct value *c)
{
    const struct value_item *many = launch_find(t, c, "NUM_MICRO_BATCHES");
    int64_t n = 1;
    if (!many)
        return 1;
    if (launch_number(t, WIDE "pipeline", 1) < 2 &&
        !launch_is_unresolved(t, WIDE "pipeline")) {
        launch_note(t->l, many->line, DIAG_WITHOUT_EFFECT,
                    "NUM_MICRO_BATCHES: without effect: the schedule of pipelines "
                    "alone reads it");
        return 1;
    }
    if (!launch_whole(many->value, &n) || n < 1) {
        launch_unresolved_item(t, "/training/microbatches", many,
                               "whole number of at least 1");
        return 0;
    }
    launch_set(t, "/training/microbatches", json_integer((json_int_t)n), many);
    return n;
}

static void take_batch(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/micro_batch_size";
    const struct value_item *it = launch_find(t, c, "BATCH_SIZE");
    int64_t batch, n = take_microbatches(t, c);
    if (!it || n < 1)
        return;
    if (!value_get(c, "model.type")) {
        launch_add_unresolved(
            t, at, it->line,
            "BATCH_SIZE: whether it is that of a data-parallel rank or "
            "of all, the program decides");
        return;
    }
    if (!launch_whole(it->value, &batch) || batch < n || batch % n) {
        launch_unresolved_item(t, at, it, "number of microbatches' sequences");
        return;
    }
    launch_set(t, at, json_integer((json_int_t)(batch / n)), it);
    launch_note(
        t->l, it->line, DIAG_ASSUMED,
        "BATCH_SIZE: taken as that of each data-parallel rank, as the examples' "
        "loaders do");
}

static void take_optimizer(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = launch_find(t, c, "optimizer.type");
    const char *name = last_of(it);
    bool adam = name && strstr(name, "Adam"), lamb = name && strstr(name, "Lamb"),
         sgd = name && strstr(name, "SGD");
    if (it && !adam && !lamb && !sgd)
        launch_unresolved_item(t, "/training/optimizer", it,
                               "optimizer that is simulated");
    else
        launch_settle_item(t, "/training/optimizer",
                           json_string(lamb  ? "lamb"
                                       : sgd ? "sgd"
                                             : "adam"),
                           it, "no optimizer is given");
}

/* All of it ------------------------------------------------------------------------ */

void colossalai_read_configuration(struct launch_context *t, const struct python *p)
{
    struct value *c = known_names(t, p);
    launch_config_title(t, "Colossal-AI's configuration");
    launch_take_rows(t, rows, c);
    take_degrees(t, c);
    bool zero = take_zero(t, c),
         split = launch_has(t, WIDE "tensor") || launch_has(t, WIDE "pipeline");
    take_precision(t, c, zero);
    take_model(t, c);
    take_batch(t, c);
    take_optimizer(t, c);
    launch_assume(t, WIDE "library",
                  json_string(split  ? "megatron"
                              : zero ? "deepspeed"
                                     : "ddp"),
                  "Colossal-AI's is taken as it");
    dialect_report(t, colossalai_config_tables, "", c,
                   (struct dialect_place) { 1, "", "", true });
}
