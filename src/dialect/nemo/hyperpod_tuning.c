/* Recipes of SageMaker HyperPod of 2025 and later that tune Hugging Face's models under
 * torch's FSDP (aws/sagemaker-hyperpod-recipes v2.0, llmft_*), and what is refused of
 * their kind: verl's rollouts, Nova. */
#include "dialect/nemo/nemo.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

#define ARGS "training_config.training_args."
#define MODEL "training_config.model_config."
#define FSDP ARGS "strategy.fsdp_config."

/* clang-format off */
static const struct dialect_word strategies[] = {
    { "FULL_SHARD", "full" }, { "HYBRID_SHARD", "full" }, { "SHARD_GRAD_OP", "gradients" }, { "NO_SHARD", "none" }, { NULL, NULL },
};
static const struct dialect_option rows[] = {
    ROW("trainer.num_nodes", "/cluster/count", .kind = DIALECT_SIZE),
    ROW("trainer.devices", "/cluster/gpus_per_instance", .kind = DIALECT_POSITIVE),
    ROW(MODEL "model_name_or_path", "/model", .take = trainer_take_model),
    ROW(MODEL "attn_implementation", "/training/attention", .take = trainer_take_attention),
    ROW(ARGS "max_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW(ARGS "micro_train_batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW(ARGS "train_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW(ARGS "gradient_checkpointing", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full"),
    ROW(ARGS "gradient_clipping_threshold", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW(FSDP "sharding_strategy", "/parallelism/sharding/strategy", .kind = DIALECT_WORD, .words = strategies, .wanted = "strategy of FSDP's"),
    ROW(MODEL "peft_config.r", "/training/lora/rank", .kind = DIALECT_SIZE),
    ROW(MODEL "peft_config.lora_alpha", "/training/lora/alpha", .kind = DIALECT_NORM),
    ROW(MODEL "peft_config.lora_dropout", "/training/lora/dropout", .kind = DIALECT_PROBABILITY),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_ACTS(ARGS "trainer_type", "/training/task"), ROW_ACTS(FSDP "cpu_offload", "/parallelism/sharding/offload"), ROW_ACTS(ARGS "packing_samples", "/training/sequence_length"),
    ROW_ACTS(MODEL "peft_config.target_modules", "/training/lora/target_modules"), ROW_ACTS(MODEL "peft_config.peft_type", "/training/lora"), ROW_ACTS(ARGS "gradient_clipping", "/training/gradient_clipping"),
    ROW("training_config.training_args.ring_attn_size", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one), ROW_UNSIMULATED(ARGS "uneven_batch.*"), ROW_UNSIMULATED(ARGS "grad_accum_dtype"),
    ROW_UNSIMULATED(MODEL "peft_config.use_dora"), ROW_UNSIMULATED(MODEL "quantization*"), ROW_UNSIMULATED(MODEL "multimodal"),
    ROW_IDLE("training_config.*"), ROW_ACTS("run.name", "/model"), ROW_IDLE("run.*"), ROW_IDLE("scale_config.*"), ROW_IDLE("elastic_policy.*"), ROW_ACTS("instance_type", "/cluster/instance"), ROW_IDLE("instance_types"), ROW_IDLE("display_name"), ROW_IDLE("version"), ROW_IDLE("hydra*"), ROW_IDLE("defaults"),
    ROW_IDLE("base_results_dir"), ROW_IDLE("cluster*"), ROW_IDLE("container*"), ROW_IDLE("git*"), ROW_IDLE("env_vars*"), ROW_IDLE("resources*"), ROW_IDLE("trainer.*"),
    ROW_END,
};
const struct dialect_table hyperpod_tuning_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

bool hyperpod_is_tuning(const struct value *root)
{
    const struct value_item *training = value_get(root, "training_config"),
                            *run = value_get(root, "run");
    const struct value_item *type = run ? value_get(run->value, "model_type") : NULL;
    bool nova = type && type->value->text && strstr(type->value->text, "nova");
    return nova || (training && run && (type || value_get(run->value, "name")));
}

static const char *why_refused(const struct value *c, const struct value_item **it)
{
    static const struct {
        const char *prefix, *what;
    } others_of[] = {
        { "training_config.actor_rollout_ref", "training on generated answers (GRPO)" },
        { "training_config.algorithm", "training on generated answers (GRPO)" },
        { "training_config.rollout", "training on generated answers" },
        { "ray_cluster", "training on generated answers (GRPO)" },
        { "evaluation", "evaluation" },
        { "inference", "inference" },
    };
    *it = value_get(c, "run.model_type");
    if (*it && (*it)->value->text && strstr((*it)->value->text, "nova"))
        return "a model whose sizes are not published (Nova)";
    for (size_t j = 0; j < sizeof(others_of) / sizeof(others_of[0]); j++)
        for (int32_t i = 0; i < c->n; i++)
            if (strncmp(c->items[i].key, others_of[j].prefix,
                        strlen(others_of[j].prefix)) == 0) {
                *it = &c->items[i];
                return others_of[j].what;
            }
    return NULL;
}

static bool is_word(const struct value *c, const char *path, const char *word)
{
    return strcmp(launch_word(c, path, ""), word) == 0;
}

static void hear(struct launch_context *t, const struct value *c, const char *path)
{
    launch_hear(t, value_get(c, path));
}

static void take_adapters(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, MODEL "peft_config.target_modules");
    static const char at[] = "/training/lora/target_modules";
    if (!launch_has(t, "/training/lora/rank"))
        return;
    if (it)
        launch_set(t, at, launch_json(t, it->value, at), it);
    launch_hear(t, it);
    const struct value_item *type = value_get(c, MODEL "peft_config.peft_type");
    if (type && !is_word(c, type->key, "lora") && !is_word(c, type->key, "LORA"))
        diags_add(&t->l->loader->diags,
                  launch_diag(t->l, DIAG_NOT_SIMULATED, type->line, 0),
                  "%s: adapters other than LoRA are not simulated", type->key);
    launch_hear(t, type);
}

/* A recipe that leaves the model's path open is named after it. */
static void take_named_model(struct launch_context *t, const struct value *c)
{
    const struct value_item *path = value_get(c, MODEL "model_name_or_path"),
                            *name = value_get(c, "run.name");
    const char *text = path && path->value->text ? path->value->text : "", *id;
    bool open = !path || path->value->kind == VALUE_NONE ||
                path->value->kind == VALUE_UNKNOWN || !*text;
    if (!open || !name || !name->value->text ||
        cfg_string(launch_flavor(t, "nemo", name->value->text), &id))
        return;
    const struct value v = { .kind = VALUE_STRING, .line = name->line, .text = id };
    const struct value_item it = { name->key, name->line, (struct value *)&v };
    trainer_take_model(t, &rows[2], &it);
    launch_hear(t, path);
    launch_hear(t, name);
}

static void take_step(struct launch_context *t, const struct value *c)
{
    const struct value_item *how = value_get(c, FSDP "sharding_strategy"),
                            *offload = value_get(c, FSDP "cpu_offload"),
                            *packs = value_get(c, ARGS "packing_samples"),
                            *method = value_get(c, ARGS "trainer_type");
    launch_assume(t, "/parallelism/library", json_string("fsdp"), "the recipe's FSDP");
    if (how && is_word(c, FSDP "sharding_strategy", "HYBRID_SHARD"))
        trainer_take_hybrid(t, how);
    if (offload && launch_true(offload->value))
        trainer_take_offload(t, offload, true);
    launch_hear(t, offload);
    if (is_word(c, ARGS "trainer_type", "dpo"))
        trainer_take_method(t, method, "dpo");
    else if (method && !is_word(c, ARGS "trainer_type", "sft"))
        launch_unresolved_item(t, "/training/task", method,
                               "training that is simulated (sft)");
    launch_hear(t, method);
    if (!packs || !launch_true(packs->value))
        launch_note(t->l, packs ? packs->line : 1, DIAG_ASSUMED,
                    "packing_samples is off: each sequence is taken to be of the full "
                    "length (give --set /training/sequence_length=N for a shorter "
                    "mean)");
    launch_hear(t, packs);
    hear(t, c, ARGS "gradient_clipping");
    launch_note(t->l, 1, DIAG_ASSUMED,
                "the recipe says no precision: bf16 is taken (give --set "
                "/training/precision=... for another)");
    launch_assume(t, "/training/precision", json_string("bf16"),
                  "no precision is given");
    launch_assume(t, "/training/optimizer", json_string("adamw"), "adam_betas");
    launch_assume(t, "/training/task", json_string("causal-lm"), "the recipe's model");
}

void hyperpod_tuning_read(struct launch_context *t, const struct value *root)
{
    const struct value *c = launch_flatten(t->arena, root);
    const struct value_item *it;
    const char *what = why_refused(c, &it);
    launch_config_title(t, "a recipe of SageMaker HyperPod");
    if (!what && hyperpod_is_verl(c)) {
        hyperpod_verl_read(t, c);
        return;
    }
    if (!what && !value_get(c, ARGS "micro_train_batch_size"))
        what = "training without batches of its own", it = value_get(c, "run.name");
    if (what) {
        diags_add(&t->l->loader->diags,
                  launch_diag(t->l, DIAG_NOT_SIMULATED, it ? it->line : 1, 0),
                  "%s: %s is not simulated (supervised fine-tuning is)",
                  it ? it->key : "run", what);
        return;
    }
    t->converts = true;
    take_named_model(t, c);
    launch_take_rows(t, rows, c);
    take_adapters(t, c);
    take_step(t, c);
    dialect_report(t, hyperpod_tuning_tables, "", c,
                   (struct dialect_place) { 1, "", "", true });
}
