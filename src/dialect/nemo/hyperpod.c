/* Recipes of SageMaker HyperPod for Hugging Face's models (aws/sagemaker-hyperpod-recipes
 * v1.3, recipes_collection), under SMP v2 or torch's FSDP. Defaults are those of
 * aws/sagemaker-hyperpod-training-adapter-for-nemo: conf/config_schemas.py, and
 * collections/model/sagemaker_base_model.py for adapters. */
#include "dialect/nemo/nemo.h"

#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

#define SMP "/distribution/smdistributed/modelparallel/"

/* Rows ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct dialect_word attentions[] = {
    { "fused", "flash" }, { "flash", "flash" }, { NULL, NULL },
};
static const struct dialect_option rows[] = {
    ROW("trainer.num_nodes", "/cluster/count", .kind = DIALECT_SIZE),
    ROW("trainer.devices", "/cluster/gpus_per_instance", .kind = DIALECT_POSITIVE),
    ROW("trainer.max_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("model.train_batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("model.max_context_width", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("model.grad_clip", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("model.use_flash_attention", "/training/attention", .kind = DIALECT_SWITCH, .value = "flash"),
    ROW("model.nvte_attn_backend", "/training/attention", .kind = DIALECT_WORD, .words = attentions),
    ROW("model.limit_all_gathers", "/parallelism/sharding/limit_all_gathers", .kind = DIALECT_SWITCH),
    ROW_END,
};
static const struct dialect_option joint[] = {
    ROW_ACTS("instance_type", "/cluster/instance"), ROW_ACTS("use_smp_model", "/distribution"), ROW_ACTS("distributed_backend", "/parallelism/backend"),
    ROW_ACTS("trainer.precision", "/training/precision"), ROW_ACTS("model.precision", "/training/precision"), ROW_ACTS("model.fp8", "/training/precision"),
    ROW_ACTS("model.offload_activations", "/parallelism/offload_activations"),
    ROW_ACTS("model.activation_checkpointing", "/training/activation_checkpointing"), ROW_ACTS("model.activation_loading_horizon", "/parallelism/activation_loading_horizon"),
    ROW_ACTS("model.sharding_strategy", "/parallelism/sharding/strategy"), ROW_ACTS("model.shard_degree", "/parallelism/sharding/degree"),
    ROW_ACTS("model.tensor_model_parallel_degree", "/parallelism/tensor"), ROW_ACTS("model.context_parallel_degree", "/parallelism/context"),
    ROW_ACTS("model.expert_model_parallel_degree", "/parallelism/expert"), ROW_ACTS("model.optim.name", "/training/optimizer"),
    ROW_ACTS("model.model_type", "/model"), ROW_ACTS("model.hf_model_name_or_path", "/model"), ROW_ACTS("model.num_hidden_layers", "/model"), ROW_ACTS("model.hidden_size", "/model"),
    ROW_ACTS("model.num_attention_heads", "/model"), ROW_ACTS("model.num_key_value_heads", "/model"), ROW_ACTS("model.intermediate_size", "/model"), ROW_ACTS("model.vocab_size", "/model"),
    ROW_ACTS("model.max_position_embeddings", "/model"), ROW_ACTS("model.tie_word_embeddings", "/model"), ROW_ACTS("model.num_local_experts", "/model"), ROW_ACTS("model.num_experts_per_tok", "/model"),
    ROW_ACTS("model.sliding_window", "/model"), ROW_ACTS("model.mistral_sliding_window", "/model"), ROW_ACTS("model.mixtral_sliding_window", "/model"),
    ROW_ACTS("model.peft.peft_type", "/training/lora"), ROW_ACTS("model.peft.rank", "/training/lora/rank"), ROW_ACTS("model.peft.alpha", "/training/lora/alpha"),
    ROW_ACTS("model.peft.dropout", "/training/lora/dropout"), ROW_ACTS("model.peft.target_modules", "/training/lora/target_modules"),
    ROW_END,
};
#define REFUSED(NAME, WHY) ROW(NAME, NULL, .class = DIALECT_REFUSED, .why = WHY)
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("model.moe_load_balancing"), ROW_UNSIMULATED("model.global_token_shuffle"), ROW_UNSIMULATED("model.moe_all_to_all_dispatcher"),
    ROW_UNSIMULATED("trainer.limit_train_batches"), ROW_UNSIMULATED("model.fsdp"),
    ROW_IDLE("instance_types"), ROW_IDLE("run.*"), ROW_IDLE("exp_manager.*"), ROW_IDLE("exp_manager"), ROW_IDLE("trainer.accelerator"), ROW_IDLE("trainer.log_*"), ROW_IDLE("trainer.val_check_interval"),
    ROW_IDLE("trainer.limit_*"), ROW_IDLE("trainer.num_sanity_val_steps"), ROW_IDLE("trainer.max_epochs"), ROW_IDLE("model.val_batch_size"), ROW_IDLE("model.seed"), ROW_IDLE("model.log_*"),
    ROW_IDLE("model.moe"), ROW_IDLE("model.delayed_param"), ROW_IDLE("model.forward_prefetch"), ROW_IDLE("model.backward_fetch_policy"), ROW_IDLE("model.auto_wrap_policy"), ROW_IDLE("model.use_orig_param"),
    ROW_IDLE("model.fp8_*"), ROW_IDLE("model.initializer_range"), ROW_IDLE("model.layernorm_epsilon"), ROW_IDLE("model.rms_norm_eps"), ROW_IDLE("model.rope_*"), ROW_IDLE("model.do_finetune"),
    ROW_IDLE("model.hf_access_token"), ROW_IDLE("model.lr_decay_iters"), ROW_IDLE("model.optim.*"), ROW_IDLE("model.data.*"), ROW_IDLE("model.viztracer.*"), ROW_IDLE("model.nsys_profile.*"),
    ROW_IDLE("model.gpu_affinity.*"), ROW_IDLE("model.max_window_layers"), ROW_IDLE("model.use_sliding_window"), ROW_IDLE("model.dpo.*"), ROW_IDLE("model.multi_modal"), ROW_IDLE("name"), ROW_IDLE("log_perf_metrics"), ROW_IDLE("display_name"),
    ROW_IDLE("version"), ROW_IDLE("defaults"), ROW_IDLE("hydra.*"), ROW_IDLE("cluster*"), ROW_IDLE("base_results_dir"), ROW_IDLE("container*"), ROW_IDLE("git.*"), ROW_IDLE("env_vars.*"), ROW_IDLE("training_config"),
    ROW_IDLE("debug"), ROW_IDLE("dry_run"), ROW_IDLE("launch_json"),
    ROW_END,
};
const struct dialect_table hyperpod_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED }, { "", others, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

struct recipe {
    struct launch_context *t;
    const struct value *c; /* by paths */
    bool smp;
};

static const struct value_item *find(const struct recipe *r, const char *path)
{
    const struct value_item *it = value_get(r->c, path);
    return it && it->value->kind != VALUE_NONE ? it : NULL;
}

static bool is_on(const struct recipe *r, const char *pointer, const char *path,
                  bool otherwise)
{
    const struct value_item *it = find(r, path);
    launch_hear(r->t, it);
    return launch_switch(r->t, pointer, it, otherwise);
}

static void set(const struct recipe *r, const char *pointer, json_t *value,
                const char *path)
{
    const struct value_item *it = find(r, path);
    launch_hear(r->t, it);
    if (it && !launch_has(r->t, pointer) && !launch_is_unresolved(r->t, pointer))
        launch_set(r->t, pointer, value, it);
    else
        launch_assume(r->t, pointer, value,
                      arena_printf(r->t->arena, "%s' default", path));
}

/* The model ------------------------------------------------------------------------ */

/* clang-format off */
/* Families by the words of model.model_type (constants.py, ModelType). */
static const struct {
    const char *word, *family;
} families[] = {
    { "llama_v2", "llama" }, { "llama_v3", "llama" }, { "mistral", "mistral" }, { "mixtral", "mixtral" },
    { "qwen_v2", "qwen2" }, { "deepseek_r1_llama_v3", "llama" }, { "deepseek_r1_llama_v2", "llama" }, { "deepseek_r1_qwen_v2", "qwen2" },
};
static const char *const sizes[] = {
    "num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size", "vocab_size",
    "max_position_embeddings", "num_local_experts", "num_experts_per_tok", "sliding_window",
};
/* clang-format on */

/* Members of /model; false: one is not known. */
static bool take_sizes(const struct recipe *r, json_t *model)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct value_item *it =
            find(r, arena_printf(r->t->arena, "model.%s", sizes[i]));
        int64_t n;
        if (it && !launch_whole(it->value, &n)) {
            launch_unresolved_item(r->t, "/model", it, "whole number");
            return false;
        }
        if (it)
            json_object_set_new(model, sizes[i], json_integer((json_int_t)n));
        launch_hear(r->t, it);
    }
    json_object_set_new(model, "tie_word_embeddings",
                        json_boolean(is_on(r, "/model/tie_word_embeddings",
                                           "model.tie_word_embeddings", false)));
    if (!json_object_get(model, "sliding_window"))
        json_object_set_new(model, "sliding_window", json_null());
    return true;
}

/* DeepSeek's own model has more sizes than recipes have: the published ones. */
static bool take_whole_model(const struct recipe *r, const struct value_item *type)
{
    if (!type || type->value->kind != VALUE_STRING ||
        strcmp(type->value->text, "deepseek_r1") != 0)
        return false;
    launch_set(r->t, "/model", json_string("deepseek-ai/DeepSeek-R1"), type);
    return true;
}

static void take_model(const struct recipe *r)
{
    static const struct dialect_option row = ROW("hf_model_name_or_path", "/model");
    const struct value_item *type = find(r, "model.model_type"),
                            *id = find(r, "model.hf_model_name_or_path"),
                            *layers = find(r, "model.num_hidden_layers");
    const char *word =
        type && type->value->kind == VALUE_STRING ? type->value->text : "";
    const char *family = NULL;
    launch_hear(r->t, type);
    if (take_whole_model(r, type))
        return;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (strcmp(families[i].word, word) == 0)
            family = families[i].family;
    json_t *model = json_object();
    if (family && layers && find(r, "model.hidden_size")) {
        json_object_set_new(model, "model_type", json_string(family));
        if (take_sizes(r, model))
            launch_set(r->t, "/model", json_incref(model), layers);
        launch_hear(r->t, id);
    } else if (id) {
        trainer_take_model(r->t, &row, id);
        launch_hear(r->t, id);
    } else {
        launch_add_unresolved(r->t, "/model", type ? type->line : r->t->l->line,
                              "model.model_type: \"%.40s\" is no model that is known "
                              "by it; its config.json would do",
                              word);
    }
    json_decref(model);
}

/* The step ------------------------------------------------------------------------- */

/* A whole number of at least `least`, which goes to `pointer`; what is none is asked. */
static int64_t whole(const struct recipe *r, const char *path, const char *pointer,
                     int64_t least, int64_t otherwise)
{
    const struct value_item *it = find(r, path);
    int64_t n = otherwise;
    launch_hear(r->t, it);
    if (!it || it->value->kind == VALUE_NONE)
        return otherwise;
    if (launch_whole(it->value, &n) && n >= least)
        return n;
    if (!launch_is_unresolved(r->t, pointer))
        launch_unresolved_item(r->t, pointer, it,
                               least > 0 ? "whole number of at least 1"
                                         : "whole number of at least 0");
    return otherwise;
}

/* SMP v2's dictionary, as the adapter gives it to torch.sagemaker. */
static void take_smp(const struct recipe *r)
{
    static const struct {
        const char *path, *pointer;
        int64_t least;
    } degrees[] = {
        { "model.tensor_model_parallel_degree", SMP "parameters/tensor_parallel_degree",
          1 },
        { "model.context_parallel_degree", SMP "parameters/context_parallel_degree",
          1 },
        { "model.expert_model_parallel_degree", SMP "parameters/expert_parallel_degree",
          1 },
        { "model.shard_degree", SMP "parameters/hybrid_shard_degree", 0 },
    };
    set(r, "/distribution/torch_distributed/enabled", json_true(), "use_smp_model");
    set(r, SMP "enabled", json_true(), "use_smp_model");
    for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++) {
        int64_t n = whole(r, degrees[i].path, degrees[i].pointer, degrees[i].least, 0);
        if (n > 0)
            set(r, degrees[i].pointer, json_integer((json_int_t)n), degrees[i].path);
    }
}

/* FSDP's strategies; a degree makes any of them hybrid. */
static void take_fsdp(const struct recipe *r)
{
    static const struct dialect_word words[] = {
        { "hybrid_shard", "full" }, { "_hybrid_shard_zero2", "gradients" },
        { "full_shard", "full" },   { "shard_grad_op", "gradients" },
        { "no_shard", "none" },     { NULL, NULL },
    };
    static const struct dialect_option row =
        ROW("sharding_strategy", "/parallelism/sharding/strategy", .words = words,
            .wanted = "strategy of FSDP's");
    const struct value_item *it = find(r, "model.sharding_strategy"),
                            *degree = find(r, "model.shard_degree");
    bool hybrid =
        !it || (it->value->kind == VALUE_STRING && strstr(it->value->text, "hybrid"));
    struct value here = { .kind = VALUE_NONE, .line = r->t->l->line };
    const struct value_item usual = { "sharding_strategy's default", here.line, &here };
    launch_hear(r->t, it);
    launch_hear(r->t, degree);
    if (r->smp && degree &&
        !(it && it->value->text && strstr(it->value->text, "zero2"))) {
        if (!hybrid) /* SMP's own */
            launch_note(r->t->l, it->line, DIAG_WITHOUT_EFFECT,
                        "%s: shard_degree makes it hybrid_shard", it->key);
        return;
    }
    if (it)
        dialect_take_as(r->t, &row, it, DIALECT_WORD);
    static const char at[] = "/parallelism/sharding/degree";
    int64_t n = hybrid ? whole(r, "model.shard_degree", at, 0, 0) : 0;
    if (n > 0)
        set(r, at, json_integer((json_int_t)n), "model.shard_degree");
    else if (hybrid && !launch_is_unresolved(r->t, at))
        trainer_take_hybrid(r->t, it ? it : &usual);
}

/* Without SMP, ranks along the sequence share one shard group. */
static void take_plain(const struct recipe *r)
{
    const struct value_item *it = find(r, "model.context_parallel_degree");
    set(r, "/parallelism/library", json_string("fsdp"), "use_smp_model");
    int64_t n = whole(r, "model.context_parallel_degree", "/parallelism/context", 1, 1);
    if (n > 1)
        launch_set(r->t, "/parallelism/context", json_integer((json_int_t)n), it);
}

static void take_precision(const struct recipe *r)
{
    static const struct {
        const char *word, *precision;
    } words[] = { { "bf16", "bf16" },    { "bf16-mixed", "bf16" }, { "16", "fp16" },
                  { "fp16", "fp16" },    { "16-mixed", "fp16" },   { "32", "fp32" },
                  { "32-true", "fp32" }, { "fp32", "fp32" } };
    const struct value_item *it = find(r, "trainer.precision");
    const char *word = it && it->value->text ? it->value->text : "bf16", *found = NULL;
    int64_t bits;
    if (it && !it->value->text && launch_whole(it->value, &bits))
        word = bits == 16 ? "16" : bits == 32 ? "32" : "";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].word, word) == 0)
            found = words[i].precision;
    launch_hear(r->t, it);
    launch_hear(r->t, find(r, "model.precision"));
    if (!found)
        launch_unresolved_item(r->t, "/training/precision", it,
                               "precision that is known");
    else if (r->smp && is_on(r, "/training/precision", "model.fp8", true) &&
             strcmp(found, "bf16") == 0)
        set(r, "/training/precision", json_string("fp8"), "model.fp8");
    else
        set(r, "/training/precision", json_string(found), "trainer.precision");
}

/* Frozen weights are in bf16, or NF4 with quantized scales. */
static void take_lora(const struct recipe *r)
{
    const struct value_item *it = find(r, "model.peft.peft_type"),
                            *targets = find(r, "model.peft.target_modules");
    const char *word = it && it->value->text ? it->value->text : "";
    const struct value_item *alpha = find(r, "model.peft.alpha"),
                            *drop = find(r, "model.peft.dropout");
    bool four = strcmp(word, "qlora_4bit") == 0;
    double a = 16, p = 0.1;
    if (!it)
        return;
    if (!four && strcmp(word, "lora") != 0) {
        launch_unresolved_item(r->t, "/training/lora/rank", it,
                               "adapter that is simulated");
        return;
    }
    if (alpha)
        launch_real(alpha->value, &a);
    if (drop)
        launch_real(drop->value, &p);
    set(r, "/training/lora/rank",
        json_integer(
            (json_int_t)whole(r, "model.peft.rank", "/training/lora/rank", 1, 32)),
        "model.peft.rank");
    set(r, "/training/lora/alpha", json_real(a), "model.peft.alpha");
    set(r, "/training/lora/dropout", json_real(p), "model.peft.dropout");
    set(r, "/training/lora/target_modules",
        targets ? launch_json(r->t, targets->value, "/training/lora/target_modules")
                : json_string("all-linear"),
        "model.peft.target_modules");
    set(r, "/training/lora/base", json_string(four ? "nf4" : "bf16"),
        "model.peft.peft_type");
    if (four)
        set(r, "/training/lora/double_quantization", json_true(),
            "model.peft.peft_type");
}

/* Of checkpointed activations; SMP's dictionary has words of its own for it. */
static void take_offload(const struct recipe *r)
{
    const char *at = r->smp ? SMP "parameters/sm_activation_offloading"
                            : "/parallelism/offload_activations",
               *ahead = r->smp ? SMP "parameters/activation_loading_horizon"
                               : "/parallelism/activation_loading_horizon";
    launch_hear(r->t, find(r, "model.activation_loading_horizon"));
    if (!is_on(r, at, "model.offload_activations", false))
        return;
    int64_t n = whole(r, "model.activation_loading_horizon", ahead, 1, 2);
    set(r, at, json_true(), "model.offload_activations");
    set(r, ahead, json_integer((json_int_t)n), "model.activation_loading_horizon");
}

static void refuse(const struct recipe *r, const char *path, const char *what)
{
    const struct value_item *it = value_get(r->c, path);
    diags_add(&r->t->l->loader->diags,
              launch_diag(r->t->l, DIAG_NOT_SIMULATED, it->line, it->value->column),
              "%s: %s is not simulated (pre-training and supervised fine-tuning are)",
              path, what);
}

/* Recipes that train no language model on GPUs. */
static bool refused(const struct recipe *r)
{
    if (value_get(r->c, "distributed_strategy.tensor_model_parallel_size") ||
        value_get(r->c, "precision.neuron_rt_stochastic_rounding_en"))
        refuse(r, "trainer.num_nodes", "training on AWS Trainium (Neuron)");
    else if (is_on(r, "/model", "model.multi_modal", false))
        refuse(r, "model.multi_modal", "a model of images and text");
    else
        return false;
    return true;
}

bool hyperpod_recognises(const struct value *root)
{
    const struct value_item *model = value_get(root, "model");
    return value_get(root, "use_smp_model") ||
           value_get(root, "distributed_strategy") ||
           (model && value_get(model->value, "max_context_width") &&
            value_get(model->value, "train_batch_size"));
}

void hyperpod_read(struct launch_context *t, const struct value *root)
{
    struct recipe r = { .t = t, .c = launch_flatten(t->arena, root) };
    launch_config_title(t, "a recipe of SageMaker HyperPod");
    if (refused(&r))
        return;
    r.smp = is_on(&r, "/parallelism/library", "use_smp_model", true);
    t->converts = true;
    launch_take_rows(t, rows, r.c);
    take_model(&r);
    if (r.smp)
        take_smp(&r);
    else
        take_plain(&r);
    take_fsdp(&r);
    take_precision(&r);
    take_lora(&r);
    if (is_on(&r, "/training/task", "model.dpo.enabled", false))
        trainer_take_method(t, find(&r, "model.dpo.enabled"), "dpo");
    set(&r, "/training/activation_checkpointing",
        json_string(is_on(&r, "/training/activation_checkpointing",
                          "model.activation_checkpointing", true)
                        ? "full"
                        : "none"),
        "model.activation_checkpointing");
    take_offload(&r);
    if (strncmp(launch_word(r.c, "model.optim.name", "adamw"), "adamw", 5) == 0)
        set(&r, "/training/optimizer", json_string("adamw"), "model.optim.name");
    else
        launch_unresolved_item(t, "/training/optimizer", find(&r, "model.optim.name"),
                               "optimizer that is simulated");
    set(&r, "/training/gradient_clipping", json_real(1), "model.grad_clip");
    if (find(&r, "distributed_backend") &&
        strcmp(launch_word(r.c, "distributed_backend", "nccl"), "smddp") == 0)
        set(&r, "/parallelism/backend", json_string("smddp"), "distributed_backend");
    launch_hear(t, find(&r, "distributed_backend"));
    launch_assume(t, "/training/task", json_string("causal-lm"), "the recipe's model");
    dialect_report(t, hyperpod_tables, "", r.c,
                   (struct dialect_place) { 1, "", "", true });
}
