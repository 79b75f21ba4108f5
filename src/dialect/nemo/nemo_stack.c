/* What NeMo's keys say together: the pipeline, precision, recomputation, the software,
 * what is sharded and overlaps (NeMo v2.0: megatron_base_model.py, megatron_gpt_model.py,
 * nlp/parts/megatron_trainer_builder.py, core/optim/distributed_adam.py; apex
 * contrib/optimizers/distributed_fused_adam.py). */
#include "config/pointer.h"
#include "dialect/megatron/megatron.h"
#include "dialect/nemo/nemo.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <string.h>

#define WIDE "/parallelism/"

enum { BUCKET_MIB_MAX = 1 << 20 };

static const struct value_item *model(const struct nemo *n, const char *name)
{
    return nemo_find(n, NEMO_MODEL, name);
}

static const struct value_item *optim(const struct nemo *n, const char *name)
{
    return nemo_find(n, NEMO_OPTIM, name);
}

/* Pipelines, and what is along the sequence ---------------------------------------- */

void nemo_take_pipeline(const struct nemo *n)
{
    const struct value_item *it = model(n, "virtual_pipeline_model_parallel_size"),
                            *order = model(n, "use_tp_pp_dp_mapping"),
                            *ramp = model(n, "rampup_batch_size");
    const struct value_item *first_now = model(n, "num_layers_in_first_pipeline_stage"),
                            *last_now = model(n, "num_layers_in_last_pipeline_stage"),
                            *first_old = model(n, "first_pipeline_num_layers"),
                            *last_old = model(n, "last_pipeline_num_layers");
    /* fields of Megatron-Core's configuration, of the same names (nemo/collections/nlp/
     * models/language_modeling/megatron_base_model.py, build_transformer_config) */
    const struct megatron_stages o = {
        .many = it,
        .first = first_now ? first_now : first_old,
        .last = last_now ? last_now : last_old,
        .embedding = model(n, "account_for_embedding_in_pipeline_split"),
        .loss = model(n, "account_for_loss_in_pipeline_split"),
        .layout = model(n, "pipeline_model_parallel_layout"),
        .defers = model(n, "defer_embedding_wgrad_compute"),
        .limit = model(n, "wgrad_deferral_limit"),
    };
    bool along = nemo_is_on(n, NEMO_MODEL, "sequence_parallel", false),
         first = nemo_is_on(n, NEMO_MODEL, "use_tp_pp_dp_mapping", false);
    if (launch_has(n->t, WIDE "pipeline"))
        megatron_take_stages(n->t, &o);
    const struct value_item *all[] = { o.many,    o.embedding, o.loss,    o.layout,
                                       o.limit,   o.defers,    first_now, last_now,
                                       first_old, last_old };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        launch_hear(n->t, all[i]);
    megatron_take_context(n->t, model(n, "cp_comm_type"),
                          model(n, "hierarchical_context_parallel_sizes"));
    if (along && launch_has(n->t, WIDE "tensor"))
        nemo_set(n, WIDE "sequence_parallel", json_true(),
                 model(n, "sequence_parallel"), "");
    nemo_set(n, WIDE "placement", json_string(first ? "DPT" : "PDT"), order,
             "Megatron's order of ranks");
    if (ramp)
        launch_note(n->t->l, ramp->line, DIAG_APPROXIMATE,
                    "%s: the batch that it grows to is simulated, in every step",
                    ramp->key);
    launch_hear(n->t, ramp);
}

/* Precision ------------------------------------------------------------------------ */

static bool any_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

/* Bits and format of trainer.precision, Lightning's words. */
static const char *format_of(const struct value *v)
{
    static const char *const brain[] = { "bf16", "bf16-mixed", "bf16-true", NULL },
                             *const half[] = { "16", "16-mixed", "16-true", NULL },
                             *const single[] = { "32", "32-true", NULL };
    int64_t bits;
    if (v->kind == VALUE_STRING)
        return any_of(v->text, brain)    ? "bf16"
               : any_of(v->text, half)   ? "fp16"
               : any_of(v->text, single) ? "fp32"
                                         : NULL;
    return !launch_whole(v, &bits) ? NULL
           : bits == 16            ? "fp16"
           : bits == 32            ? "fp32"
                                   : NULL;
}

/* megatron_amp_O2 keeps the model in 16 bits, with fp32 copies in the optimizer;
 * without it torch.autocast casts fp32 parameters. FSDP casts what it gathers. */
void nemo_take_precision(const struct nemo *n)
{
    static const char at[] = "/training/precision";
    const struct value_item *it = nemo_find(n, NEMO_TRAINER, "precision"),
                            *o2 = model(n, "megatron_amp_O2"), *fp8 = model(n, "fp8"),
                            *own = model(n, "precision");
    const char *word = it ? format_of(it->value) : "fp32";
    bool eight = fp8 && launch_true(fp8->value) &&
                 (nemo_is_on(n, NEMO_MODEL, "transformer_engine", false) ||
                  nemo_is_on(n, NEMO_MODEL, "mcore_gpt", false)),
         whole = nemo_is_on(n, NEMO_MODEL, "megatron_amp_O2", false) ||
                 nemo_is_on(n, NEMO_MODEL, "fsdp", false);
    const char *same = own ? format_of(own->value) : NULL;
    if (word && same && strcmp(same, word) == 0) /* usually ${trainer.precision} */
        launch_hear(n->t, own);
    if (!word) {
        launch_unresolved_item(n->t, at, it, "precision that is known");
        return;
    }
    if (strcmp(word, "fp32") != 0)
        word = arena_printf(n->t->arena, "%s%s", whole ? "" : "amp_",
                            eight ? "fp8" : word);
    nemo_set(n, at, json_string(word), eight ? fp8 : it, "trainer.precision's default");
    launch_hear(n->t, it);
    launch_hear(n->t, o2);
    if (eight)
        launch_hear(n->t, fp8);
}

/* Recomputation -------------------------------------------------------------------- */

/* Before granularity was a key, a method alone asked for whole layers. */
void nemo_take_recompute(const struct nemo *n)
{
    const struct value_item *how = model(n, "activations_checkpoint_granularity"),
                            *method = model(n, "activations_checkpoint_method"),
                            *count = model(n, "activations_checkpoint_num_layers");
    bool old = !value_get(n->part[NEMO_MODEL], "activations_checkpoint_granularity");
    bool selective = how && how->value->kind == VALUE_STRING &&
                     strcmp(how->value->text, "selective") == 0;
    int64_t layers;
    if (how && how->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(n->t, "/training/activation_checkpointing", how, "word");
    else if (selective)
        nemo_set(n, "/training/activation_checkpointing", json_string("selective"), how,
                 "");
    else if (how && method && count && launch_whole(count->value, &layers) &&
             layers == 0)
        launch_hear(n->t, how); /* none of them */
    else if (how || (old && method))
        megatron_recompute_layers(n->t, how ? how : method, method, count);
}

/* Software ------------------------------------------------------------------------- */

static void take_framework(const struct nemo *n)
{
    static const char *const core[] = { "mcore_gpt", "mcore_t5", "mcore_bert",
                                        "transformer_engine" };
    const struct value_item *it = NULL, *flash = model(n, "use_flash_attention"),
                            *own = model(n, "transformer_engine");
    for (size_t i = 0; i < sizeof(core) / sizeof(core[0]); i++) {
        const struct value_item *on = model(n, core[i]);
        launch_hear(n->t, on);
        it = !it && on && launch_true(on->value) ? on : it;
    }
    nemo_set(n, "/training/framework",
             json_string(it ? n->tuned ? "nemo-finetuning" : "nemo" : "megatron-2022"),
             it, "NeMo's own layers");
    if (flash && launch_true(flash->value))
        nemo_set(n, "/training/attention", json_string("flash"), flash, "");
    else if (!it)
        nemo_set(n, "/training/attention",
                 json_string(nemo_is_on(n, NEMO_MODEL, "masked_softmax_fusion", true)
                                 ? "fused-softmax"
                                 : "unfused"),
                 model(n, "masked_softmax_fusion"), "masked_softmax_fusion's default");
    if (it && own && !launch_true(own->value))
        launch_note(n->t->l, own->line, DIAG_APPROXIMATE,
                    "%s: Megatron-Core's layers of its own are taken as those of "
                    "Transformer Engine",
                    own->key);
    launch_hear(n->t, flash);
    if (!it)
        launch_hear(n->t, model(n, "masked_softmax_fusion"));
}

/* The optimizer, and what overlaps ------------------------------------------------- */

enum optimizer {
    PLAIN,       /* each rank has all states */
    DISTRIBUTED, /* apex's DistributedFusedAdam */
    CORE         /* Megatron-Core's distributed optimizer */
};

static bool take_optimizer(const struct nemo *n, enum optimizer *kind)
{
    static const struct {
        const char *name, *optimizer;
        enum optimizer kind;
    } rows[] = {
        { "distributed_fused_adam", "adam", DISTRIBUTED },
        { "mcore_distributed_optim", "adam", CORE },
        { "fused_adam", "adam", PLAIN },
        { "megatron_fused_adam", "adam", PLAIN },
        { "adam", "adam", PLAIN },
        { "adamw", "adam", PLAIN },
        { "sgd", "sgd", PLAIN },
        { "adafactor", "adafactor", PLAIN },
    };
    const struct value_item *it = optim(n, "name");
    const char *word = nemo_word(n, NEMO_OPTIM, "name", it ? "" : "fused_adam");
    launch_hear(n->t, it);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].name, word) == 0) {
            nemo_set(n, "/training/optimizer", json_string(rows[i].optimizer), it,
                     "optim.name's default");
            *kind = rows[i].kind;
            return true;
        }
    launch_unresolved_item(n->t, "/training/optimizer", it,
                           "optimizer that is simulated");
    return false;
}

/* MiB of apex's buckets; elements of Megatron-Core's. */
static void take_bucket(const struct nemo *n, enum optimizer kind, int64_t each_B)
{
    const struct value_item *mib = optim(n, "bucket_cap_mb"),
                            *elements = optim(n, "ddp_bucket_size");
    int64_t size;
    if (kind == DISTRIBUTED && mib && launch_whole(mib->value, &size) && size > 0 &&
        size < BUCKET_MIB_MAX)
        nemo_set(n, WIDE "bucket_size", json_sprintf("%" PRId64 "MiB", size), mib, "");
    if (kind == CORE && elements && launch_whole(elements->value, &size) && size > 0 &&
        size < INT32_MAX)
        nemo_set(n, WIDE "bucket_size", json_sprintf("%" PRId64 "B", size * each_B),
                 elements, "");
}

static const char *wire_of(const struct nemo *n)
{
    static const char *const narrow[] = { "bf16", "16", "bf16-mixed", "bfloat16",
                                          NULL };
    return any_of(nemo_word(n, NEMO_OPTIM, "grad_sync_dtype", "fp32"), narrow) ? "bf16"
                                                                               : "fp32";
}

/* apex overlaps by default, Megatron-Core does not; O2's copies of fused Adam reduce
 * during backward without a pipeline and sequence parallelism. */
static void take_overlaps(const struct nemo *n, enum optimizer kind)
{
    const struct value_item *sums = optim(n, "overlap_grad_sync"),
                            *gathers = optim(n, "overlap_param_sync"),
                            *later = optim(n, "overlap_param_gather");
    bool apart = nemo_is_on(n, NEMO_MODEL, "megatron_amp_O2", false) &&
                 !launch_has(n->t, WIDE "pipeline") &&
                 !launch_has(n->t, WIDE "sequence_parallel");
    gathers = kind == CORE ? later : gathers;
    if (kind == PLAIN) {
        nemo_set(n, WIDE "overlap", json_boolean(apart), NULL, "async_grad_allreduce");
        return;
    }
    nemo_set(n, WIDE "sharding/strategy", json_string("optimizer"), optim(n, "name"),
             "");
    nemo_set(n, WIDE "overlap",
             json_boolean(
                 nemo_is_on(n, NEMO_OPTIM, "overlap_grad_sync", kind == DISTRIBUTED)),
             sums, "overlap_grad_sync's default");
    nemo_set(n, WIDE "overlap_param_gather",
             json_boolean(gathers && launch_true(gathers->value)), gathers,
             "overlap_param_sync's default");
    if (later && kind == CORE && launch_true(later->value))
        nemo_set(n, WIDE "align_param_gather",
                 json_boolean(nemo_is_on(n, NEMO_OPTIM, "align_param_gather", false)),
                 optim(n, "align_param_gather"), "align_param_gather's default");
}

static void take_tensor_overlap(const struct nemo *n)
{
    bool on = nemo_is_on(n, NEMO_MODEL, "ub_tp_comm_overlap", false) &&
              launch_has(n->t, WIDE "sequence_parallel");
    if (launch_has(n->t, WIDE "tensor"))
        nemo_set(n, WIDE "overlap_tensor", json_boolean(on),
                 model(n, "ub_tp_comm_overlap"), "ub_tp_comm_overlap's default");
}

/* torch's FSDP in place of Megatron's data parallelism. */
static void take_fsdp(const struct nemo *n)
{
    static const struct dialect_word words[] = { { "full", "full" },
                                                 { "grad", "gradients" },
                                                 { "hybrid", "full" },
                                                 { NULL, NULL } };
    static const struct dialect_option row =
        ROW("fsdp_sharding_strategy", WIDE "sharding/strategy", .words = words,
            .wanted = "strategy that is simulated");
    static const char *const narrow[] = { "bf16", "16", NULL };
    const struct value_item *how = model(n, "fsdp_sharding_strategy"),
                            *wire = model(n, "fsdp_grad_reduce_dtype"),
                            *offload = model(n, "fsdp_cpu_offload");
    const char *word = nemo_word(n, NEMO_MODEL, "fsdp_sharding_strategy", "full");
    bool low = any_of(nemo_word(n, NEMO_MODEL, "fsdp_grad_reduce_dtype", "32"), narrow);
    nemo_set(n, WIDE "library", json_string("fsdp"), model(n, "fsdp"), "");
    if (how)
        dialect_take_as(n->t, &row, how, DIALECT_WORD);
    launch_hear(n->t, how);
    if (strcmp(word, "hybrid") == 0)
        trainer_take_hybrid(n->t, how);
    nemo_set(n, "/training/gradient_dtype", json_string(low ? "bf16" : "fp32"), wire,
             "fsdp_grad_reduce_dtype's default");
    if (offload && launch_true(offload->value))
        nemo_set(n, WIDE "sharding/offload", json_string("parameters"), offload, "");
}

void nemo_take_stack(const struct nemo *n)
{
    enum optimizer kind = PLAIN;
    if (nemo_is_on(n, NEMO_MODEL, "fsdp", false)) {
        take_fsdp(n);
        take_optimizer(n, &kind);
        return;
    }
    nemo_set(n, WIDE "library", json_string("megatron"), NULL, "NeMo's own");
    take_framework(n);
    take_tensor_overlap(n);
    if (!take_optimizer(n, &kind))
        return;
    const char *wire = wire_of(n);
    const char *precision =
        json_string_value(pointer_get(n->t->tree, "/training/precision"));
    if (precision && strcmp(precision, "fp32") != 0)
        nemo_set(n, "/training/gradient_dtype", json_string(wire),
                 optim(n, "grad_sync_dtype"), "grad_sync_dtype's default");
    take_overlaps(n, kind);
    if (json_is_true(pointer_get(n->t->tree, WIDE "overlap")))
        take_bucket(n, kind, strcmp(wire, "bf16") == 0 ? 2 : 4);
}
