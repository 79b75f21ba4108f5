#include "dialect/accelerate/accelerate.h"

#include "base/names.h"
#include "config/pointer.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* Processes ------------------------------------------------------------------------ */

/* What launches, in capitals; "" where the file does not say (accelerate/utils/
 * dataclasses.py, DistributedType). YAML 1.1 reads NO as false. */
static const char *type_of(const struct value *config)
{
    const struct value_item *it = value_get(config, "distributed_type");
    return !it                               ? ""
           : it->value->kind == VALUE_STRING ? it->value->text
           : it->value->kind == VALUE_BOOL   ? "NO"
                                             : "";
}

/* NO starts one process, whatever num_processes is (accelerate/commands/launch.py,
 * simple_launcher). */
static void take_single(struct launch_context *t, const struct value *config)
{
    static const char at[] = "/cluster/gpus_per_instance";
    const struct value_item *it = value_get(config, "distributed_type"),
                            *n = value_get(config, "num_processes");
    int64_t asked = 1;
    if (strcmp(type_of(config), "NO") != 0 || launch_has(t, at))
        return;
    launch_set(t, at, json_integer(1), it);
    launch_hear(t, n);
    if (n && launch_whole(n->value, &asked) && asked > 1)
        launch_note(
            t->l, n->line, DIAG_WITHOUT_EFFECT,
            "num_processes: distributed_type NO starts one process, not %" PRId64
            " (give --set %s=N for more)",
            asked, at);
}

/* num_processes is of all machines together. */
static void take_processes(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    int64_t n, machines = launch_number(t, "/cluster/count", 1);
    if (it->value->kind == VALUE_NONE)
        return;
    if (!launch_whole(it->value, &n))
        launch_unresolved_item(t, row->pointer, it, "whole number");
    else if (n > 0 && n % machines)
        launch_add_unresolved(t, row->pointer, it->value->line,
                              "%s: %" PRId64 " are not so many on each of %" PRId64
                              " machines",
                              it->key, n, machines);
    else if (n > 0)
        launch_set(t, row->pointer, json_integer((json_int_t)(n / machines)), it);
}

static const char *precision_word(const struct value *config)
{
    const struct value_item *it = value_get(config, "mixed_precision");
    return it && it->value->kind == VALUE_STRING ? it->value->text : "no";
}

static void take_deepspeed(struct launch_context *t, const struct value *config,
                           const struct value_item *it)
{
    static const struct dialect_option row =
        ROW_ACTS("deepspeed_config", "/parallelism/library");
    const struct value_item *file = value_get(it->value, "deepspeed_config_file");
    if (file && file->value->kind == VALUE_STRING)
        deepspeed_take_file(t, &row, file);
    else
        deepspeed_take(t,
                       accelerate_deepspeed_of(t, it->value,
                                               value_get(config, "mixed_precision"),
                                               it->line),
                       "deepspeed_config: ");
    t->converts = true;
    dialect_report(
        t, accelerate_tables, it->key, it->value,
        (struct dialect_place) { it->line, "deepspeed_config: ", "", false });
}

static void take_fsdp(struct launch_context *t, const struct value *config,
                      const struct value_item *it)
{
    (void)config;
    trainer_take_fsdp_section(t, it);
}

static void take_megatron(struct launch_context *t, const struct value *config,
                          const struct value_item *it)
{
    (void)config;
    accelerate_take_megatron(t, it);
}

/* The rest ------------------------------------------------------------------------- */

typedef void section_take(struct launch_context *t, const struct value *config,
                          const struct value_item *it);

/* Its section may be empty, or left out: all is as usual then. */
static void take_section(struct launch_context *t, const struct value *config,
                         const char *key, section_take *take)
{
    struct value *empty = value_new(t->arena, VALUE_DICT, config->line, 0);
    const struct value_item *it = value_get(config, key);
    const struct value_item without = { "distributed_type", config->line, empty };
    take(t, config,
         it && it->value->kind == VALUE_DICT && it->value->n > 0 ? it : &without);
}

/* Names the keys of a section that another key leaves without effect. */
static void warn_section(struct launch_context *t, const struct value_item *section,
                         const char *what, const char *word)
{
    for (int32_t i = 0; i < section->value->n; i++) {
        const struct value_item *it = &section->value->items[i];
        diags_add(&t->l->loader->diags,
                  diag_at_line(DIAG_WARNING, DIAG_WITHOUT_EFFECT, t->l->file, it->line),
                  "%.40s: %.60s: %s %.20s, for which it is without effect",
                  section->key, it->key, what, word);
    }
}

/* The plugin's policy is NO_WRAP where none is written (utils/dataclasses.py,
 * FullyShardedDataParallelPlugin). */
static void take_units(struct launch_context *t, const struct value *config,
                       const struct value_item *section)
{
    const struct value *v = section ? section->value : NULL;
    if (!t->l->wraps && !value_get(v, "fsdp_auto_wrap_policy"))
        t->l->unwrapped_line = section ? section->line : config->line;
}

/* A section acts where distributed_type is of it (_validate_launch_command). */
static void take_sharding(struct launch_context *t, const struct value *config)
{
    static const struct {
        const char *type, *key;
        section_take *take;
    } kinds[] = {
        { "FSDP", "fsdp_config", take_fsdp },
        { "DEEPSPEED", "deepspeed_config", take_deepspeed },
        { "MEGATRON_LM", "megatron_lm_config", take_megatron },
    };
    const char *type = type_of(config);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct value_item *it = value_get(config, kinds[i].key);
        bool given = it && it->value->kind == VALUE_DICT && it->value->n > 0;
        if (strcmp(type, kinds[i].type) == 0 || (!*type && given))
            take_section(t, config, kinds[i].key, kinds[i].take);
        else if (given)
            warn_section(t, it, "distributed_type is", type);
        launch_hear(t, it);
    }
    if (strcmp(type, "FSDP") != 0)
        return;
    t->l->accelerated = true;
    take_units(t, config, value_get(config, "fsdp_config"));
}

/* DATA_PARALLEL is of SageMaker's jobs, which Accelerate starts by SMDDP (accelerate 1.x,
 * utils/launch.py, prepare_sagemager_args_inputs; it has no MODEL_PARALLEL yet). */
static void take_type(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    static const char *const simulated[] = { "NO", "MULTI_GPU",   "FSDP", "DEEPSPEED",
                                             "TP", "MEGATRON_LM", NULL };
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "";
    (void)row;
    if (it->value->kind == VALUE_BOOL) /* NO, as YAML 1.1 reads it */
        return;
    if (strcmp(word, "DATA_PARALLEL") == 0) {
        launch_set(
            t, "/distribution",
            json_pack("{s:{s:{s:b}}}", "smdistributed", "dataparallel", "enabled", 1),
            it);
        return;
    }
    if (!names_listed(simulated, word))
        trainer_refuse(t, it, *word ? word : "this");
}

static void take_cpu(struct launch_context *t, const struct dialect_option *row,
                     const struct value_item *it)
{
    (void)row;
    if (launch_true(it->value))
        trainer_refuse(t, it, "training on CPUs");
}

/* Accelerate 1.3 to 1.9 */
static void take_tensor(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    static const struct dialect_option rows[] = {
        ROW("tp_size", "/parallelism/tensor", .kind = DIALECT_DEGREE),
        ROW_END,
    };
    (void)row;
    if (it->value->kind == VALUE_DICT)
        launch_take_rows(t, rows, it->value);
}

static void take_parallelism(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it)
{
    static const struct dialect_option rows[] = {
        ROW("parallelism_config_tp_size", "/parallelism/tensor",
            .kind = DIALECT_DEGREE),
        ROW("parallelism_config_cp_size", "/parallelism/context",
            .kind = DIALECT_DEGREE),
        ROW("parallelism_config_sp_size", "/parallelism/context",
            .kind = DIALECT_DEGREE),
        ROW("parallelism_config_dp_shard_size", "/parallelism/sharding/degree",
            .kind = DIALECT_DEGREE),
        ROW_END,
    };
    (void)row;
    if (it->value->kind != VALUE_DICT)
        return;
    launch_take_rows(t, rows, it->value);
    dialect_report(
        t, accelerate_tables, it->key, it->value,
        (struct dialect_place) { it->line, "parallelism_config: ", "", true });
}

void accelerate_take_degrees(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it)
{
    static const char prefix[] = "parallelism_config_",
                      library[] = "/parallelism/library";
    struct value *v = value_new(t->arena, VALUE_DICT, it->line, 0);
    const struct value *given = it->value;
    if (given->kind != VALUE_DICT) {
        if (given->kind != VALUE_NONE)
            launch_unresolved_item(t, row->pointer, it, "dictionary of degrees");
        return;
    }
    for (int32_t i = 0; i < given->n; i++) {
        const char *key = given->items[i].key;
        bool whole = strncmp(key, prefix, strlen(prefix)) == 0;
        int64_t n = 1;
        /* 0 of what a script divides by processes that it does not have yet */
        if (launch_whole(given->items[i].value, &n) && n < 1) {
            launch_leave_out(t, &given->items[i], "degree of at least 1");
            continue;
        }
        value_add(t->arena, v, arena_printf(t->arena, "%s%s", whole ? "" : prefix, key),
                  given->items[i].line, given->items[i].value);
    }
    const struct value_item of = { "parallelism_config", it->line, v };
    take_parallelism(t, row, &of);
    /* accelerate/parallelism_config.py: what is sharded so is FSDP2's */
    if (launch_has(t, "/parallelism/sharding/degree") && !launch_has(t, library)) {
        launch_set(t, library, json_string("fsdp"), it);
        launch_set(t, "/parallelism/sharding/strategy", json_string("full"), it);
        t->converts = true;
    }
    launch_hear(t, it);
}

/* A section that is switched off. */
static bool is_disabled(const struct value *v)
{
    const struct value_item *on = value_get(v, "enabled");
    return on && launch_is_off(on->value);
}

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("distributed_type", "/distribution", .take = take_type),
    ROW("use_cpu", "/distribution", .take = take_cpu),
    ROW("ec2_instance_type", "/cluster/instance", .kind = DIALECT_TEXT, .wanted = "string"),
    ROW("pytorch_version", "/software/pytorch", .kind = DIALECT_TEXT, .wanted = "string"),
    ROW("transformers_version", "/software/transformers", .kind = DIALECT_TEXT, .wanted = "string"),
    ROW("num_machines", "/cluster/count", .kind = DIALECT_SIZE),
    ROW("num_processes", "/cluster/gpus_per_instance", .take = take_processes),
    ROW("tp_config", "/parallelism/tensor", .take = take_tensor),
    ROW("parallelism_config", "/parallelism/tensor", .take = take_parallelism),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_ACTS("mixed_precision", "/training/precision"), ROW_ACTS("fp8_config", "/training/precision"),
    ROW_ACTS("deepspeed_config", "/parallelism/library"), ROW_ACTS("fsdp_config", "/parallelism/library"), ROW_ACTS("megatron_lm_config", "/parallelism/library"),
    ROW("kt_config", NULL, .class = DIALECT_REFUSED, .off = is_disabled, .why = "experts that the host computes (KTransformers), which is not simulated"),
    ROW_UNSIMULATED("dynamo_config"), ROW_UNSIMULATED("dynamo_backend"),
    ROW_UNSIMULATED("mpirun_config"), ROW_UNSIMULATED("ipex_config"), ROW_UNSIMULATED("fp16"),
    ROW_IDLE("compute_environment"), ROW_IDLE("debug"), ROW_IDLE("downcast_bf16"), ROW_IDLE("enable_cpu_affinity"), ROW_IDLE("gpu_ids"), ROW_IDLE("machine_rank"),
    ROW_IDLE("main_process_ip"), ROW_IDLE("main_process_port"), ROW_IDLE("main_training_function"), ROW_IDLE("rdzv_*"), ROW_IDLE("same_network"), ROW_IDLE("tpu_*"),
    ROW_IDLE("multi_gpu"), ROW_IDLE("num_cpu_threads_per_process"), ROW_IDLE("max_restarts"), ROW_IDLE("command_file"), ROW_IDLE("commands"), ROW_IDLE("deepspeed_hostfile"),
    /* of SageMaker's jobs (commands/config/config_args.py, SageMakerConfig) */
    ROW_IDLE("base_job_name"), ROW_IDLE("iam_role_name"), ROW_IDLE("image_uri"), ROW_IDLE("profile"), ROW_IDLE("region"), ROW_IDLE("py_version"),
    ROW_IDLE("sagemaker_inputs_file"), ROW_IDLE("sagemaker_metrics_file"), ROW_UNSIMULATED("additional_args"),
    ROW_END,
};
static const struct dialect_option deepspeed_rows[] = {
    ROW_ACTS("zero_stage", "/parallelism/sharding/strategy"), ROW_ACTS("offload_optimizer_device", "/parallelism/sharding/offload"),
    ROW_ACTS("offload_param_device", "/parallelism/sharding/offload"), ROW_ACTS("gradient_clipping", "/training/gradient_clipping"),
    ROW_ACTS("deepspeed_config_file", "/parallelism/library"),
    ROW_ACTS("gradient_accumulation_steps", "/training/gradient_accumulation_steps"),
    ROW_IDLE("zero3_init_flag"), ROW_IDLE("zero3_save_16bit_model"), ROW_IDLE("deepspeed_multinode_launcher"), ROW_IDLE("deepspeed_hostfile"),
    ROW_IDLE("deepspeed_exclusion_filter"), ROW_IDLE("deepspeed_inclusion_filter"), ROW_IDLE("deepspeed_moe_layer_cls_names"), ROW_IDLE("offload_*_nvme_path"),
    ROW_END,
};
static const struct dialect_option parallelism_rows[] = {
    ROW_ACTS("parallelism_config_tp_size", "/parallelism/tensor"), ROW_ACTS("parallelism_config_cp_size", "/parallelism/context"),
    ROW_ACTS("parallelism_config_sp_size", "/parallelism/context"), ROW_ACTS("parallelism_config_dp_shard_size", "/parallelism/sharding/degree"),
    ROW_IDLE("parallelism_config_dp_replicate_size"), ROW_IDLE("parallelism_config_cp_*"), ROW_IDLE("parallelism_config_sp_*"),
    ROW_END,
};
const struct dialect_table accelerate_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED },
    { "deepspeed_config", deepspeed_rows, DIALECT_UNKNOWN_WARNED },
    { "parallelism_config", parallelism_rows, DIALECT_UNKNOWN_WARNED },
    { "megatron_lm_config", accelerate_megatron_rows, DIALECT_UNKNOWN_WARNED },
    { "fp8_config", accelerate_fp8_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

void accelerate_take(struct launch_context *t, const struct value *config)
{
    take_single(t, config);
    launch_take_rows(t, rows, config);
    take_sharding(t, config);
    launch_hear(t, value_get(config, "distributed_type"));
}

static void note_unused_fp8(struct launch_context *t, const struct value *config,
                            const char *precision)
{
    const struct value_item *it = value_get(config, "fp8_config");
    if (it && strcmp(precision, "fp8") != 0)
        launch_note(t->l, it->line, DIAG_WITHOUT_EFFECT,
                    "fp8_config: mixed_precision is not fp8, so it is without effect");
}

/* After the script's own arguments: what shards converts the model, and they had autocast
 * in mind. */
static void take_late(struct launch_context *t, const struct value *config)
{
    static const char at[] = "/training/precision", amp[] = "amp_";
    const struct value_item *type = value_get(config, "distributed_type");
    const char *word = json_string_value(pointer_get(t->tree, at));
    size_t n = sizeof(amp) - 1;
    accelerate_take(t, config);
    if (!t->converts || !type || !word || strncmp(word, amp, n) != 0)
        return;
    json_t *half = json_string(word + n);
    launch_forget(t, at);
    launch_set(t, at, half, type);
}

/* "auto" is what the program's own says. */
static void take_accumulation(struct launch_context *t, const struct value_item *steps)
{
    static const char at[] = "/training/gradient_accumulation_steps";
    int64_t n;
    if (!steps || launch_has(t, at))
        return;
    if (launch_whole(steps->value, &n) && n > 0)
        launch_set(t, at, json_integer((json_int_t)n), steps);
    else if (steps->value->kind != VALUE_NONE &&
             !(steps->value->kind == VALUE_STRING &&
               strcmp(steps->value->text, "auto") == 0))
        launch_unresolved_item(t, at, steps, "whole number of at least 1");
}

/* Whether the program says the precision; the type that quantised products compute in is
 * none of its own where the launcher switches autocast on. */
static bool says_precision(struct launch_context *t)
{
    static const char at[] = "/training/precision";
    bool compute = false;
    for (int64_t i = 0; i < t->l->resolved.n; i++)
        compute |= strcmp(t->l->resolved.v[i].pointer, at) == 0 &&
                   launch_same_word(t->l->resolved.v[i].from, "bnb_4bit_compute_dtype");
    return launch_has(t, at) && !compute;
}

static void set_precision(struct launch_context *t, const struct value_item *it,
                          const char *word)
{
    launch_forget(t, "/training/precision");
    launch_set(t, "/training/precision",
               json_sprintf("%s%s", t->converts ? "" : "amp_", word), it);
}

/* The Trainer's own gradient_accumulation_steps and precision go before. */
void accelerate_settle(struct launch_context *t, const struct value *config)
{
    const char *word = precision_word(config);
    const struct value_item *it = value_get(config, "mixed_precision");
    if (config->text == accelerate_environment &&
        !launch_has(t, "/parallelism/library"))
        take_late(t, config);
    const struct value_item *ds = value_get(config, "deepspeed_config");
    const struct value_item *steps =
        ds ? value_get(ds->value, "gradient_accumulation_steps") : NULL;
    bool known = strcmp(word, "bf16") == 0 || strcmp(word, "fp16") == 0,
         none = strcmp(word, "no") == 0 || strcmp(word, "fp8") == 0;
    const char *type = type_of(config);
    bool deepspeed = !*type || strcmp(type, "DEEPSPEED") == 0;
    const struct value_item *fp8 = value_get(config, "fp8_config");
    bool eight = strcmp(word, "fp8") == 0 && !launch_has(t, "/training/precision");
    if (fp8 && !eight) {
        warn_section(t, fp8, "mixed_precision is", word);
        launch_hear(t, fp8);
    }
    if (eight)
        accelerate_take_fp8(t, config, it);
    else if (known && !says_precision(t))
        set_precision(t, it, word);
    else if (it && !launch_is_off(it->value) && !known && !none)
        launch_unresolved_item(t, "/training/precision", it,
                               "precision (no, fp16, bf16, fp8)");
    if (it)
        launch_hear(t, it);
    note_unused_fp8(t, config, word);
    take_accumulation(t, deepspeed ? steps : NULL);
    dialect_report(t, accelerate_tables, "", config,
                   (struct dialect_place) { config->line, "", "", true });
}

bool accelerate_recognises(const struct dialect_input *in)
{
    const struct value *v = in->root;
    bool sections = value_get(v, "fsdp_config") || value_get(v, "deepspeed_config") ||
                    value_get(v, "fp8_config"),
         processes = value_get(v, "num_processes") || value_get(v, "num_machines") ||
                     value_get(v, "mixed_precision");
    return (value_get(v, "distributed_type") || (sections && processes)) &&
           !value_get(v, "model_name_or_path") && !value_get(v, "base_model") &&
           !value_get(v, "training");
}

/* Alone: the rest is for --set to say. */
void accelerate_read(struct launch_context *t, const struct dialect_input *in)
{
    t->l->title = "Accelerate's configuration";
    t->l->what = "the configuration";
    t->l->line = 1;
    accelerate_take(t, in->root);
    accelerate_settle(t, in->root);
    trainer_settle(t);
}
