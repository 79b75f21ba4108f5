#include "dialect/litgpt/litgpt.h"

#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

#define WIDE "/parallelism/"

/* Rows ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("num_nodes", "/cluster/count", .kind = DIALECT_SIZE),
    ROW("train.global_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW("train.micro_batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("train.max_seq_length", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("train.epochs", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW("train.max_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("train.max_norm", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW_END,
};
static const struct dialect_option adapter_rows[] = {
    ROW("lora_r", "/training/lora/rank", .kind = DIALECT_SIZE),
    ROW("lora_alpha", "/training/lora/alpha", .kind = DIALECT_NORM),
    ROW("lora_dropout", "/training/lora/dropout", .kind = DIALECT_PROBABILITY),
    ROW_END,
};
static const struct dialect_option joint[] = {
    ROW_ACTS("checkpoint_dir", "/model"), ROW_ACTS("model_name", "/model"), ROW_ACTS("model_config", "/model"), ROW_ACTS("model_config.*", "/model"), ROW_ACTS("devices", "/cluster/gpus_per_instance"),
    ROW_ACTS("precision", "/training/precision"), ROW_ACTS("quantize", "/training/lora/base"), ROW_ACTS("lora_query", "/training/lora/target_modules"),
    ROW_ACTS("lora_key", "/training/lora/target_modules"), ROW_ACTS("lora_value", "/training/lora/target_modules"), ROW_ACTS("lora_projection", "/training/lora/target_modules"),
    ROW_ACTS("lora_mlp", "/training/lora/target_modules"), ROW_ACTS("lora_head", "/training/lora/target_modules"), ROW_ACTS("optimizer*", "/training/optimizer"),
    ROW_ACTS("train.tie_embeddings", "/model"), ROW_ACTS("train.max_tokens", "/training/steps"), ROW_ACTS("initial_checkpoint_dir", NULL),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_IDLE("optimizer.init_args*"), ROW_IDLE("data*"), ROW_IDLE("eval*"), ROW_IDLE("log*"), ROW_IDLE("train.save_interval"),
    ROW_IDLE("train.log_interval"), ROW_IDLE("train.lr_*"), ROW_IDLE("train.min_lr"), ROW_IDLE("train.learning_rate"), ROW_IDLE("train.weight_decay"), ROW_IDLE("train.beta*"), ROW_IDLE("train.max_time"), ROW_IDLE("train.lr_warmup_fraction"),
    ROW_IDLE("out_dir"), ROW_IDLE("seed"), ROW_IDLE("logger_name"), ROW_IDLE("tokenizer_dir"), ROW_IDLE("resume"), ROW_IDLE("access_token"), ROW_IDLE("fast_init"),
    ROW_END,
};
const struct dialect_table litgpt_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", adapter_rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

/* "true" keeps parameters, and so optimizer states, in 16 bits; "mixed" autocasts, and is
 * what litgpt/utils.py, get_default_supported_precision, trains in. */
static void take_precision(struct launch_context *t, const struct value *c)
{
    static const struct {
        const char *word, *precision;
        bool narrow;
    } words[] = {
        { "bf16-true", "bf16", true },       { "16-true", "fp16", true },
        { "bf16-mixed", "amp_bf16", false }, { "16-mixed", "amp_fp16", false },
        { "32-true", "fp32", false },        { "32", "fp32", false },
    };
    const struct value_item *it = launch_find(t, c, "precision");
    const char *word = launch_word(c, "precision", it ? "" : "bf16-mixed");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].word, word) == 0) {
            launch_settle_item(t, "/training/precision",
                               json_string(words[i].precision), it,
                               "precision's default on GPUs with bf16");
            if (words[i].narrow && !launch_has(t, "/training/lora/rank"))
                launch_settle_item(t, "/training/master_weights", json_false(), it,
                                   "precision's default");
            return;
        }
    launch_unresolved_item(t, "/training/precision", it, "precision that is simulated");
}

static bool is_on(struct launch_context *t, const struct value *c, const char *path,
                  bool otherwise)
{
    return launch_switch(t, "/training/lora/target_modules", launch_find(t, c, path),
                         otherwise);
}

static void take_quantized(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/lora/base";
    const struct value_item *it = launch_find(t, c, "quantize");
    const char *word = launch_word(c, "quantize", "");
    bool four = strncmp(word, "bnb.nf4", 7) == 0;
    if (!it)
        return;
    if (!four && strcmp(word, "bnb.int8-training") != 0) {
        launch_unresolved_item(t, at, it, "quantization that is simulated");
        return;
    }
    launch_set(t, at, json_string(four ? "nf4" : "int8"), it);
    if (four)
        launch_set(t, "/training/lora/double_quantization",
                   json_boolean(strcmp(word, "bnb.nf4-dq") == 0), it);
}

/* Queries, keys and values are one product of litgpt's, whatever the checkpoint has, with
 * adapters for parts of it (litgpt/lora.py, LoRAQKVLinear): a family that has one, too, has
 * those of the whole. */
static void add_joint(struct launch_context *t, json_t *list)
{
    json_array_append_new(list, json_string("query_key_value"));
    launch_note(t->l, t->l->line, DIAG_APPROXIMATE,
                "lora_query, lora_key, lora_value: in a model that has them as one "
                "product, the whole of it is adapted");
}

static void take_adapters(struct launch_context *t, const struct value *c)
{
    static const struct {
        const char *key;
        bool usual;
        const char *modules[3];
    } parts[] = {
        { "lora_query", true, { "q_proj" } },
        { "lora_key", false, { "k_proj" } },
        { "lora_value", true, { "v_proj" } },
        { "lora_projection", false, { "o_proj" } },
        { "lora_mlp", false, { "gate_proj", "up_proj", "down_proj" } },
    };
    const struct value_item *head = launch_find(t, c, "lora_head");
    size_t n = sizeof(parts) / sizeof(parts[0]), on = 0, inputs = 0;
    json_t *list = json_array();
    launch_take_rows(t, adapter_rows, c);
    launch_assume(t, "/training/lora/rank", json_integer(8), "lora_r's default");
    launch_assume(t, "/training/lora/alpha", json_integer(16), "lora_alpha's default");
    launch_assume(t, "/training/lora/dropout", json_real(0.05),
                  "lora_dropout's default");
    launch_assume(t, WIDE "sharding/adapter_units", json_false(),
                  "litgpt's FSDPStrategy wraps blocks alone");
    for (size_t i = 0; i < n; i++) {
        if (!is_on(t, c, parts[i].key, parts[i].usual))
            continue;
        on++;
        inputs += i < 3;
        for (size_t k = 0; k < 3 && parts[i].modules[k]; k++)
            json_array_append_new(list, json_string(parts[i].modules[k]));
    }
    if (inputs && on < n)
        add_joint(t, list);
    if (!launch_is_unresolved(t, "/training/lora/target_modules"))
        launch_settle_item(t, "/training/lora/target_modules",
                           on == n ? json_string("all-linear") : json_incref(list),
                           value_get(c, "lora_query"),
                           "lora_query's and lora_value's default");
    json_decref(list);
    if (launch_switch(t, "/training/lora/target_modules", head, false))
        launch_note(t->l, head->line, DIAG_NOT_SIMULATED,
                    "lora_head: an adapter of the output layer is not simulated");
    take_quantized(t, c);
}

/* "auto" is all GPUs of the instance; it is the default of pre-training, and 1 that of
 * fine-tuning. */
static void take_devices(struct launch_context *t, const struct value *c,
                         bool pretrains)
{
    static const char at[] = "/cluster/gpus_per_instance";
    const struct value_item *it = launch_find(t, c, "devices");
    const char *word = launch_word(c, "devices", "");
    int64_t n = 1;
    if (it ? strcmp(word, "auto") == 0 || strcmp(word, "-1") == 0 : pretrains)
        return;
    if (it && (!launch_whole(it->value, &n) || n < 1))
        launch_unresolved_item(t, at, it, "number of GPUs");
    else
        launch_settle_item(t, at, json_integer((json_int_t)n), it, "devices' default");
}

static void take_strategy(struct launch_context *t, const struct value *c,
                          bool pretrains)
{
    bool many = launch_number(t, "/cluster/count", 1) > 1 ||
                launch_number(t, "/cluster/gpus_per_instance", 8) > 1;
    const struct value_item *it = launch_find(t, c, "devices");
    launch_assume(t, WIDE "library", json_string(many ? "fsdp" : "ddp"),
                  many ? "litgpt's FSDPStrategy" : "one GPU");
    launch_assume(t, "/training/activation_checkpointing",
                  json_string(many && !pretrains ? "full" : "none"),
                  many && !pretrains ? "litgpt's activation_checkpointing_policy"
                                     : "litgpt's strategy");
    if (pretrains)
        launch_assume(t, "/training/framework",
                      json_string(many ? "torchtitan-compiled" : "pytorch2-compiled"),
                      "litgpt's torch.compile");
    if (!many)
        return;
    launch_assume(t, WIDE "sharding/strategy", json_string("full"),
                  "litgpt's FSDPStrategy");
    if (pretrains)
        trainer_take_hybrid(
            t, it ? it
                  : &(struct value_item) { "HYBRID_SHARD", 1,
                                           value_new(t->arena, VALUE_NONE, 1, 0) });
}

static void take_optimizer(struct launch_context *t, const struct value *c)
{
    const struct value_item *made = launch_find(t, c, "optimizer.class_path"),
                            *word = launch_find(t, c, "optimizer");
    const struct value_item *it = made ? made : word;
    const char *text = it && it->value->text ? it->value->text : "AdamW";
    bool adam = strstr(text, "Adam") && !strstr(text, "8bit");
    if (!adam)
        launch_unresolved_item(t, "/training/optimizer", it,
                               "optimizer that is simulated");
    else
        launch_settle_item(t, "/training/optimizer", json_string("adam"), it,
                           "optimizer's default");
}

/* max_tokens of pre-training, as steps of the batch. */
static void take_tokens(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = launch_find(t, c, "train.max_tokens");
    int64_t tokens, batch = launch_number(t, "/training/global_batch_size", 0),
                    length = launch_number(t, "/training/sequence_length", 0), each;
    if (it && !launch_has(t, "/training/steps") && launch_whole(it->value, &tokens) &&
        !__builtin_mul_overflow(batch, length, &each) && each > 0 && tokens >= each)
        launch_set(t, "/training/steps", json_integer((json_int_t)(tokens / each)), it);
}

/* Defaults of the functions setup (litgpt/pretrain.py, litgpt/finetune). */
static void assume_batch(struct launch_context *t, bool pretrains)
{
    launch_assume(t, "/training/global_batch_size", json_integer(pretrains ? 512 : 16),
                  "train.global_batch_size's default");
    launch_assume(t, "/training/micro_batch_size", json_integer(pretrains ? 4 : 1),
                  "train.micro_batch_size's default");
    if (pretrains)
        launch_assume(t, "/training/gradient_clipping", json_real(1),
                      "train.max_norm's default");
}

/* All of it ------------------------------------------------------------------------ */

bool litgpt_recognises(const struct dialect_input *in)
{
    const struct value_item *train = value_get(in->root, "train"),
                            *dir = value_get(in->root, "checkpoint_dir"),
                            *name = value_get(in->root, "model_name");
    return in->source == DIALECT_DOCUMENT && train && (dir || name) &&
           value_get(train->value, "global_batch_size") &&
           value_get(train->value, "micro_batch_size");
}

void litgpt_read(struct launch_context *t, const struct dialect_input *in)
{
    bool adapts = false;
    const struct value *root =
        in->command ? litgpt_arguments(t, in->command, &adapts) : in->root;
    if (!root)
        return;
    const struct value *c = launch_flatten(t->arena, root);
    bool pretrains = value_get(c, "model_name") && !value_get(c, "checkpoint_dir");
    int64_t line = in->command ? in->command->command->line : 1;
    if (!in->command)
        launch_config_title(t, "litgpt's configuration");
    launch_take_rows(t, rows, c);
    launch_assume(t, "/cluster/count", json_integer(1), "num_nodes' default");
    take_devices(t, c, pretrains);
    litgpt_take_model(t, c);
    if (adapts || value_get(c, "lora_r"))
        take_adapters(t, c);
    take_precision(t, c);
    take_strategy(t, c, pretrains);
    take_optimizer(t, c);
    assume_batch(t, pretrains);
    if (pretrains)
        take_tokens(t, c);
    launch_assume(t, "/training/task", json_string("causal-lm"), "litgpt's models");
    if (!pretrains && launch_has(t, "/training/sequence_length"))
        launch_note(t->l, line, DIAG_ASSUMED,
                    "max_seq_length cuts texts, and shorter ones are not padded to it: "
                    "each is taken to be of that length (give --set "
                    "/training/sequence_length=N for a shorter mean)");
    dialect_report(t, litgpt_tables, "", c,
                   (struct dialect_place) { line, "", "", true });
}
