#include "dialect/torchtune/torchtune.h"

#include "base/names.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <string.h>

#define WIDE "/parallelism/"
#define CKPT "/training/activation_checkpointing"

const char *const torchtune_recipes[] = {
    "full_finetune_single_device",
    "full_finetune_distributed",
    "lora_finetune_single_device",
    "lora_finetune_distributed",
    "full_dpo_distributed",
    "lora_dpo_single_device",
    "lora_dpo_distributed",
    "ppo_full_finetune_single_device",
    "qat_single_device",
    "qat_distributed",
    "qat_lora_finetune_distributed",
    "knowledge_distillation_single_device",
    "knowledge_distillation_distributed",
    "grpo_full_finetune_distributed",
    "async_grpo_full_finetune_distributed",
    "lora_finetune_distributed_multi_dataset",
    "early_exit_finetune_distributed",
    "generate",
    "generate_v2",
    "generate_v2_distributed",
    "eleuther_eval",
    "quantize",
    NULL,
};

/* Rows ----------------------------------------------------------------------------- */

/* "torch.optim.AdamW", "bitsandbytes.optim.PagedAdamW8bit": by the last part; what is
 * paged is on the GPU unless its memory is short. */
static void take_optimizer(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    static const struct dialect_word words[] = {
        { "AdamW", "adam" },          { "Adam", "adam" },
        { "PagedAdamW", "adam" },     { "PagedAdamW32bit", "adam" },
        { "AdamW8bit", "adam8bit" },  { "PagedAdamW8bit", "adam8bit" },
        { "Adam8bit", "adam8bit" },   { "SGD", "sgd" },
        { "Adafactor", "adafactor" }, { NULL, NULL },
    };
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : NULL,
               *dot = text ? strrchr(text, '.') : NULL;
    struct value v = *it->value;
    const struct value_item last = { it->key, it->line, &v };
    struct dialect_option as = *row;
    v.text = dot ? dot + 1 : text;
    as.words = words;
    as.wanted = "optimizer that is simulated";
    dialect_take_as(t, &as, &last, DIALECT_WORD);
}

/* clang-format off */
#define REFUSED(NAME, WHY) ROW(NAME, NULL, .class = DIALECT_REFUSED, .why = WHY)
#define ROLLOUTS "training on answers that the model generates (PPO, GRPO) is not simulated (supervised fine-tuning is)"
#define QUANTISES "weights and activations are quantized in each pass (quantization-aware training), which is not simulated"
#define TEACHER "a second, frozen model runs (distillation), which is not simulated"
#define EVALUATES "it evaluates or generates, which is not simulated (give a configuration of a fine-tuning recipe)"
static bool off_full_loss(const struct value *v)
{
    return v->kind == VALUE_NONE || (v->kind == VALUE_STRING && strcmp(v->text, "torch.nn.CrossEntropyLoss") == 0);
}

static const struct dialect_option rows[] = {
    ROW("tokenizer.max_seq_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("gradient_accumulation_steps", "/training/gradient_accumulation_steps", .kind = DIALECT_SIZE),
    ROW("clip_grad_norm", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("optimizer_in_bwd", "/training/update_in_backward", .kind = DIALECT_SWITCH, .value = "true"),
    ROW("optimizer._component_", "/training/optimizer", .take = take_optimizer),
    ROW("epochs", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW("tensor_parallel_dim", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW("context_parallel_dim", WIDE "context", .kind = DIALECT_DEGREE),
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint[] = {
    ROW_ACTS("model._component_", "/model"), ROW_ACTS("model.vocab_size", "/model"), ROW_ACTS("model.num_layers", "/model"), ROW_ACTS("model.num_heads", "/model"),
    ROW_ACTS("model.num_kv_heads", "/model"), ROW_ACTS("model.embed_dim", "/model"), ROW_ACTS("model.intermediate_dim", "/model"), ROW_ACTS("model.lora_rank", "/training/lora"),
    ROW_ACTS("model.lora_alpha", "/training/lora"), ROW_ACTS("model.lora_dropout", "/training/lora"), ROW_ACTS("model.lora_attn_modules", "/training/lora"),
    ROW_ACTS("model.apply_lora_to_mlp", "/training/lora"), ROW_ACTS("model.apply_lora_to_output", "/training/lora"), ROW_ACTS("model.quantize_base", "/training/lora"),
    ROW_ACTS("max_steps_per_epoch", "/training/steps"), ROW_ACTS("dtype", "/training/precision"), ROW_ACTS("enable_fp8_training", "/training/precision"),
    ROW_ACTS("enable_activation_checkpointing", CKPT), ROW_ACTS("ac_mode", CKPT), ROW_ACTS("ac_option", CKPT), ROW_ACTS("enable_activation_offloading", WIDE "offload_activations"),
    ROW_ACTS("fsdp_cpu_offload", WIDE "sharding/offload"), ROW_ACTS("fsdp.cpu_offload", WIDE "sharding/offload"), ROW_ACTS("fsdp_reshard_after_forward", WIDE "sharding/reshard_after_forward"),
    ROW_ACTS("data_parallel_shard_dim", WIDE "sharding/degree"), ROW_ACTS("data_parallel_replicate_dim", WIDE "sharding/degree"), ROW_ACTS("compile", "/training/framework"),
    ROW_ACTS("compile.*", "/training/framework"), ROW_ACTS("dataset.packed", "/training/sequence_length"), ROW_ACTS("dataset.max_seq_len", "/training/sequence_length"), ROW_ACTS("loss.beta", "/training/task"),
    ROW_END,
};
static const struct dialect_option others[] = {
    REFUSED("policy_model*", ROLLOUTS), REFUSED("reward_and_value_model*", ROLLOUTS), REFUSED("grpo_samples", ROLLOUTS), REFUSED("inference*", ROLLOUTS), REFUSED("orchestration*", ROLLOUTS),
    REFUSED("teacher_model*", TEACHER), REFUSED("kd_loss*", TEACHER), REFUSED("tasks", EVALUATES), REFUSED("prompt*", EVALUATES), REFUSED("max_new_tokens", EVALUATES),
    ROW_UNSIMULATED("model.use_dora"), REFUSED("quantizer*", QUANTISES), REFUSED("fake_quant_after_n_steps", QUANTISES), ROW_UNSIMULATED("run_val_every_n_steps"), ROW_UNSIMULATED("fp8_recipe_name"),
    ROW("loss._component_", NULL, .class = DIALECT_UNSIMULATED, .off = off_full_loss), ROW_UNSIMULATED("enable_async_checkpointing"), ROW_UNSIMULATED("context_parallel_rotate_method"),
    ROW_UNSIMULATED("use_flex"), ROW_UNSIMULATED("model.image_size"), ROW_UNSIMULATED("model.decoder_trainable"), ROW_UNSIMULATED("model.encoder_trainable"), ROW_UNSIMULATED("model.fusion_trainable"),
    ROW_IDLE("model.*"), ROW_IDLE("tokenizer*"), ROW_IDLE("dataset*"), ROW_IDLE("dataloader*"), ROW_IDLE("datasets"), ROW_IDLE("batch_size_val"), ROW_IDLE("checkpointer*"), ROW_IDLE("ref_checkpointer*"),
    ROW_IDLE("output_dir"), ROW_IDLE("seed"), ROW_IDLE("shuffle"), ROW_IDLE("resume_from_checkpoint"), ROW_IDLE("save_*"), ROW_IDLE("optimizer.*"), ROW_IDLE("lr_scheduler*"), ROW_IDLE("loss.*"),
    ROW_IDLE("metric_logger*"), ROW_IDLE("log_*"), ROW_IDLE("device"), ROW_IDLE("profiler*"), ROW_IDLE("custom_sharded_layers"), ROW_IDLE("memory_efficient_fsdp_wrap"), ROW_IDLE("low_cpu_ram"),
    ROW_IDLE("tensor_parallel_plan*"), ROW_IDLE("collate_fn"), ROW_IDLE("resize_token_embeddings"), ROW_IDLE("cudnn_deterministic_mode"), ROW_IDLE("base_model_path"), ROW_IDLE("name"),
    ROW_IDLE("use_distributed_state_dict"), ROW_IDLE("training_recipe"), ROW_IDLE("activation_offloading_use_streams"), ROW_IDLE("model_dir"), ROW_IDLE("debug_*"),
    ROW_END,
};
const struct dialect_table torchtune_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

/* Several keys together ------------------------------------------------------------ */

/* Steps of an epoch, where they are limited, end the job. */
static void take_steps(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "max_steps_per_epoch");
    int64_t n, epochs = launch_number(t, "/training/epochs", 1);
    launch_hear(t, it);
    if (it && launch_whole(it->value, &n) && n > 0 && n < INT32_MAX &&
        epochs < INT32_MAX)
        launch_set(t, "/training/steps", json_integer((json_int_t)(n * epochs)), it);
}

/* Parameters, gradients and states are of the one type (torchtune/training/precision.py),
 * sharded or not. */
static void take_precision(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/precision";
    const struct value_item *it = value_get(c, "dtype"),
                            *fp8 = value_get(c, "enable_fp8_training");
    const char *word = launch_word(c, "dtype", "fp32");
    bool half = strcmp(word, "bf16") == 0 || strcmp(word, "fp16") == 0;
    launch_hear(t, it);
    launch_hear(t, fp8);
    if (!half && strcmp(word, "fp32") != 0) {
        launch_unresolved_item(t, at, it, "type of torchtune (bf16, fp16, fp32)");
        return;
    }
    if (it)
        launch_set(t, at,
                   json_string(half && fp8 && launch_true(fp8->value) ? "fp8" : word),
                   it);
    else
        launch_assume(t, at, json_string("fp32"), "dtype's default");
    if (half) {
        launch_set(t, "/training/master_weights", json_false(), it);
        launch_set(t, "/training/gradient_dtype", json_string(word), it);
    }
}

static void take_checkpointing(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "enable_activation_checkpointing"),
                            *mode = value_get(c, "ac_mode"),
                            *how = value_get(c, "ac_option"),
                            *offload = value_get(c, "enable_activation_offloading");
    const char *word = launch_word(c, "ac_mode", "");
    int64_t n;
    launch_hear(t, it);
    launch_hear(t, mode);
    launch_hear(t, how);
    launch_hear(t, offload);
    if (mode && strcmp(word, "selective") == 0 && how && launch_whole(how->value, &n) &&
        n > 0)
        launch_set(t, CKPT,
                   n == 1 ? json_string("full")
                          : json_pack("{s:I}", "every", (json_int_t)n),
                   how);
    else if (mode && strcmp(word, "selective") == 0)
        launch_set(t, CKPT, json_string("operators"), mode);
    else if ((it && launch_true(it->value)) || strcmp(word, "full") == 0)
        launch_set(t, CKPT, json_string("full"), it ? it : mode);
    if (!offload || !launch_true(offload->value))
        return;
    if (launch_has(t, CKPT))
        launch_set(t, WIDE "offload_activations", json_true(), offload);
    else
        launch_note(t->l, offload->line, DIAG_NOT_SIMULATED, "%s: is not simulated",
                    offload->key);
}

/* Degrees of data parallelism: none for what is not given, -1 for what is left. */
static void take_degrees(struct launch_context *t, const struct value *c)
{
    const struct value_item *shard = value_get(c, "data_parallel_shard_dim"),
                            *copies = value_get(c, "data_parallel_replicate_dim");
    int64_t n = -1, m = 1;
    launch_hear(t, shard);
    launch_hear(t, copies);
    if (copies && launch_whole(copies->value, &m) && m > 1 &&
        !(shard && launch_whole(shard->value, &n) && n > 0))
        launch_add_unresolved(t, WIDE "sharding/degree", copies->line,
                              "%s: over how many GPUs is sharded depends on the number "
                              "of GPUs: all over %" PRId64 " x tensor",
                              copies->key, m);
    else if (m > 1)
        launch_set(t, WIDE "sharding/degree", json_integer((json_int_t)n), shard);
}

/* Distributed recipes shard fully by FSDP2 (torchtune/training/_distributed.py). */
static void take_sharding(struct launch_context *t, const struct value *c, bool single)
{
    const struct value_item *offload = value_get(c, "fsdp_cpu_offload"),
                            *reshard = value_get(c, "fsdp_reshard_after_forward");
    offload = offload ? offload : value_get(c, "fsdp.cpu_offload");
    launch_hear(t, offload);
    launch_hear(t, reshard);
    launch_assume(t, WIDE "library", json_string(single ? "ddp" : "fsdp"),
                  single ? "a recipe for one GPU" : "torchtune's FSDP");
    if (single)
        return;
    launch_assume(t, WIDE "sharding/strategy", json_string("full"), "torchtune's FSDP");
    if (reshard)
        launch_set(t, WIDE "sharding/reshard_after_forward",
                   json_boolean(launch_true(reshard->value)), reshard);
    if (offload && launch_true(offload->value))
        launch_set(t, WIDE "sharding/offload", json_string("parameters"), offload);
    take_degrees(t, c);
    if (launch_has(t, WIDE "tensor") || launch_has(t, WIDE "context"))
        launch_assume(t, WIDE "placement", json_string("PDT"),
                      "the order of its meshes");
    if (launch_has(t, WIDE "context"))
        launch_assume(t, WIDE "context_comm", json_string("all-gather"),
                      "context_parallel_rotate_method's default");
}

static void take_framework(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "compile"),
                            *model = value_get(c, "compile.model");
    bool on = (it && launch_true(it->value)) || (model && launch_true(model->value));
    launch_hear(t, it);
    launch_hear(t, model);
    launch_assume(t, "/training/framework",
                  json_string(on ? "torchtitan-compiled" : "torchtitan"),
                  on ? "torchtune, compiled: as torchtitan"
                     : "torchtune: as torchtitan");
    /* its scores are capped (torchtune/models/gemma2/_attention.py) */
    if (strstr(launch_word(c, "model._component_", ""), "gemma2_"))
        launch_assume(t, "/training/attention", json_string("unfused"),
                      "Gemma 2's attention in torchtune");
    launch_assume(t, "/training/attention", json_string("sdpa"), "torchtune's SDPA");
}

/* tatsu-lab/stanford_alpaca, train.py: model_max_length, at which next to none of its
 * texts is cut. */
enum { ALPACA_LENGTH = 512 };

/* max_seq_len: null cuts nothing: the data alone say how long sequences are. */
static void take_data_length(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/sequence_length";
    const struct value_item *data = value_get(c, "dataset._component_");
    const char *name = python_last_part(launch_word(c, "dataset._component_", ""));
    const struct value_item *own = value_get(c, "dataset.max_seq_len"); /* until 0.2 */
    launch_hear(t, own);
    if (launch_has(t, at) || launch_is_unresolved(t, at))
        return;
    if (own && own->value->kind != VALUE_NONE)
        dialect_take_as(t, &(struct dialect_option) { .pointer = at }, own,
                        DIALECT_SIZE);
    if (own || strncmp(name, "alpaca", 6) != 0)
        return;
    launch_set(t, at, json_integer(ALPACA_LENGTH), data);
    launch_note(
        t->l, data->line, DIAG_ASSUMED,
        "%s: without max_seq_len texts are as long as the data has them: %.40s's "
        "are of %d tokens at most (give --set %s=N for others)",
        data->key, name, ALPACA_LENGTH, at);
}

/* Sequences are padded to the longest of a batch, or packed. */
static void note_lengths(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "dataset.packed");
    bool packs = launch_is_on(c, "dataset.packed");
    launch_hear(t, it);
    if (packs)
        launch_note(t->l, it->line, DIAG_NOT_SIMULATED,
                    "%s: that attention keeps to each sample is not simulated",
                    it->key);
    else if (launch_has(t, "/training/sequence_length"))
        launch_note(
            t->l, it ? it->line : t->l->line, DIAG_ASSUMED,
            "dataset.packed is off: each sequence is taken to be of the full "
            "length (give --set /training/sequence_length=N for a shorter mean)");
}

/* torchtune/rlhf/loss/dpo.py; other losses of rlhf are of rollouts. */
static void take_task(struct launch_context *t, const struct value *c)
{
    static const struct dialect_word losses[] = { { "DPOLoss", "dpo" },
                                                  { "RSOLoss", "dpo" },
                                                  { "SimPOLoss", "simpo" },
                                                  { NULL, NULL } };
    const struct value_item *loss = value_get(c, "loss._component_");
    const char *class = python_last_part(launch_word(c, "loss._component_", ""));
    for (const struct dialect_word *w = losses; w->word; w++)
        if (strcmp(class, w->word) == 0)
            trainer_take_method(t, loss, w->value);
    if (trainer_prefers(t))
        launch_hear(t, loss);
    else if (strstr(launch_word(c, "loss._component_", ""), "rlhf"))
        trainer_refuse(t, loss, "training on answers that the model generates");
    else
        launch_assume(t, "/training/task", json_string("causal-lm"), "its recipes");
}

/* All of it ------------------------------------------------------------------------ */

/* Components of torchtune, in the model or, of what does not train it, elsewhere. */
bool torchtune_recognises(const struct dialect_input *in)
{
    static const char *const sections[] = { "model",        "tokenizer",
                                            "checkpointer", "dataset",
                                            "policy_model", "quantizer",
                                            "inference",    NULL };
    if (in->source != DIALECT_DOCUMENT)
        return false;
    for (const char *const *s = sections; *s; s++) {
        const struct value_item *it = value_get(in->root, *s);
        if (it &&
            strncmp(launch_word(it->value, "_component_", ""), "torchtune.", 10) == 0)
            return true;
    }
    return false;
}

/* Evaluation, generation and conversion have no optimizer. */
static bool trains(struct launch_context *t, const struct value *v)
{
    bool has = value_get(v, "optimizer") || value_get(v, "training") ||
               value_get(v, "orchestration");
    const struct value_item *quantizer = value_get(v, "quantizer");
    if (!has)
        diags_add(&t->l->loader->diags,
                  launch_diag(t->l, DIAG_NOT_SIMULATED, v->line, v->column), "%s",
                  quantizer && quantizer->value->kind == VALUE_DICT
                      ? "it converts a model to fewer bits, which is not simulated"
                      : EVALUATES);
    return has;
}

static void read_configuration(struct launch_context *t, const struct value *v,
                               bool single)
{
    const struct value *c = launch_flatten(t->arena, v);
    if (!trains(t, v))
        return;
    launch_take_rows(t, rows, c);
    torchtune_take_model(t, c);
    take_steps(t, c);
    take_precision(t, c);
    take_checkpointing(t, c);
    take_sharding(t, c, single);
    take_framework(t, c);
    take_task(t, c);
    take_data_length(t, c);
    note_lengths(t, c);
    launch_assume(t, "/training/gradient_accumulation_steps", json_integer(1),
                  "gradient_accumulation_steps' default");
    dialect_report(t, torchtune_tables, "", c,
                   (struct dialect_place) { v->line, "", "", true });
}

/* The value of --config. */
static const struct shell_word *config_of(const struct launch_command *c,
                                          const char **name)
{
    const struct shell_word *w = c->command->words;
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        bool joined = strncmp(w[i].text, "--config=", 9) == 0;
        if (!joined && (strcmp(w[i].text, "--config") != 0 || i + 1 == c->command->n))
            continue;
        *name = joined ? w[i].text + 9 : w[i + 1].text;
        return joined ? &w[i] : &w[i + 1];
    }
    return NULL;
}

/* What a command names, a file or one that torchtune ships, with its words over it. */
static struct value *of_command(struct launch_context *t,
                                const struct launch_command *c)
{
    const char *name = "";
    const struct shell_word *w = config_of(c, &name);
    struct launch_named named;
    struct value *root = NULL;
    if (launch_names_document(c, &named))
        root = launch_open_document(t->l, c, named.text, named.word->line);
    if (!root && w && !w->why)
        root = torchtune_shipped(t, name, w->line);
    if (!root) {
        launch_lost(t->l, name, w ? w->line : c->command->line,
                    "is no configuration that torchtune ships, nor a file next to the "
                    "script");
        return NULL;
    }
    launch_take_overrides(t->arena, root, c);
    launch_interpolate(t->l, root);
    return root;
}

/* What names of files and folders have of recipes for one GPU. */
static const char *const one_gpu[] = { "single_device", "single-device", NULL };

/* A recipe for one GPU, by the file's name. */
static void take_one_gpu(struct launch_context *t)
{
    launch_assume(t, "/cluster/count", json_integer(1), "a recipe for one GPU");
    launch_assume(t, "/cluster/gpus_per_instance", json_integer(1),
                  "a recipe for one GPU");
}

void torchtune_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct value *root = in->root;
    const char *where = t->l->file;
    if (in->command) {
        where = in->command->command->words[in->command->script].text;
        launch_note_options(t, in->command, "config");
        root = of_command(t, in->command);
    } else {
        launch_config_title(t, "torchtune's configuration");
    }
    bool single = names_within(one_gpu, launch_last_part(where));
    if (root && !in->command) /* as its recipe's configuration names its folder */
        single |= names_within(one_gpu, launch_word(root, "output_dir", ""));
    if (root && single && !in->command)
        take_one_gpu(t);
    if (root)
        read_configuration(t, root, single);
}
