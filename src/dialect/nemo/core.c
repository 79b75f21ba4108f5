/* A configuration of NeMo 2 or Megatron-Bridge, flat: the model and the step. */
#include "config/pointer.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/megatron/megatron.h"
#include "dialect/nemo/nemo.h"
#include "dialect/peft/peft.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define WIDE "/parallelism/"

static const struct nemo_route routes[] = {
    { "model.config.", NEMO_MODEL },
    { "model.", NEMO_MODEL },
    { "trainer.strategy.ddp.", NEMO_DDP },
    { "trainer.strategy.", NEMO_MODEL },
    { "trainer.plugins.", NEMO_MIXED },
    { "trainer.", NEMO_TRAINER },
    { "strategy.ddp.", NEMO_DDP },
    { "strategy.", NEMO_MODEL },
    { "plugins.", NEMO_MIXED },
    { "data.", NEMO_DATA },
    { "train.", NEMO_DATA },
    { "dataset.", NEMO_DATA },
    { "optim.config.", NEMO_OPTIM },
    { "optimizer.", NEMO_OPTIM },
    { "ddp.", NEMO_DDP },
    { "mixed_precision.", NEMO_MIXED },
    { "comm_overlap.", NEMO_COMM },
    { "peft.", NEMO_PEFT },
    { "model.peft.", NEMO_PEFT },
    { NULL, NEMO_REST },
};

bool core_recognises(const struct value *root)
{
    const struct value_item *strategy = value_get(root, "strategy"),
                            *trainer = value_get(root, "trainer"),
                            *inner =
                                trainer ? value_get(trainer->value, "strategy") : NULL;
    strategy = strategy ? strategy : inner;
    return trainer && strategy &&
           value_get(strategy->value, "tensor_model_parallel_size");
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

static const struct value_item *model(const struct nemo *n, const char *name)
{
    return nemo_find(n, NEMO_MODEL, name);
}

/* The step ------------------------------------------------------------------------- */

static const struct value_item *comm_or_model(const struct nemo *n, const char *name)
{
    const struct value_item *own = nemo_find(n, NEMO_COMM, name);
    launch_hear(n->t, own);
    launch_hear(n->t, model(n, name));
    return own ? own : model(n, name);
}

/* Of two names of one field, by release. */
static const struct value_item *now_or_before(const struct nemo *n, const char *now,
                                              const char *before)
{
    const struct value_item *it = model(n, now), *old = model(n, before);
    launch_hear(n->t, old);
    return it ? it : old;
}

static void take_stages(const struct nemo *n)
{
    struct megatron_stages o = {
        .many = model(n, "virtual_pipeline_model_parallel_size"),
        .first = now_or_before(n, "num_layers_in_first_pipeline_stage",
                               "first_pipeline_num_layers"),
        .last = now_or_before(n, "num_layers_in_last_pipeline_stage",
                              "last_pipeline_num_layers"),
        .embedding = model(n, "account_for_embedding_in_pipeline_split"),
        .loss = model(n, "account_for_loss_in_pipeline_split"),
        .layout = model(n, "pipeline_model_parallel_layout"),
        .defers = comm_or_model(n, "defer_embedding_wgrad_compute"),
        .limit = comm_or_model(n, "wgrad_deferral_limit"),
    };
    megatron_take_stages(n->t, &o);
    megatron_take_context(n->t, model(n, "cp_comm_type"),
                          model(n, "hierarchical_context_parallel_sizes"));
}

static void take_graphs(const struct nemo *n)
{
    const struct value_item *scope = model(n, "cuda_graph_scope"),
                            *modules = model(n, "cuda_graph_modules");
    const struct megatron_graphs o = {
        .impl = model(n, "cuda_graph_impl"),
        .own = model(n, "enable_cuda_graph"),
        .engine = model(n, "external_cuda_graph"),
        .scope = scope ? scope : modules,
    };
    megatron_take_graphs(n->t, &o);
}

static void take_dispatch(const struct nemo *n)
{
    const struct value_item *hybrid = model(n, "moe_hybridep_num_sms");
    const struct megatron_dispatch o = {
        .type = model(n, "moe_token_dispatcher_type"),
        .backend = model(n, "moe_flex_dispatcher_backend"),
        .enable = model(n, "moe_enable_deepep"),
        .sms = hybrid ? hybrid : model(n, "moe_deepep_num_sms"),
        .shared = model(n, "moe_shared_expert_overlap"),
        .pairs = comm_or_model(n, "overlap_moe_expert_parallel_comm"),
    };
    megatron_take_dispatch(n->t, &o);
}

static void take_pipeline(const struct nemo *n)
{
    const struct value_item *padding = model(n, "make_vocab_size_divisible_by");
    int64_t tensor = launch_number(n->t, WIDE "tensor", 1), each = 128;
    bool along = nemo_is_on(n, NEMO_MODEL, "sequence_parallel", false),
         first = nemo_is_on(n, NEMO_REST, "dist.use_tp_pp_dp_mapping", false);
    take_stages(n);
    take_dispatch(n);
    if (along && launch_has(n->t, WIDE "tensor"))
        nemo_set(n, WIDE "sequence_parallel", json_true(),
                 model(n, "sequence_parallel"), "");
    nemo_set(n, WIDE "placement", json_string(first ? "DPT" : "PDT"),
             nemo_find(n, NEMO_REST, "dist.use_tp_pp_dp_mapping"),
             "Megatron's order of ranks");
    if (padding)
        launch_whole(padding->value, &each);
    if (each > 0 && each <= 4096 && tensor <= 16)
        nemo_set(n, "/training/vocab_padding",
                 json_integer((json_int_t)(each * tensor)), padding,
                 "make_vocab_size_divisible_by's default");
}

static void take_recompute(const struct nemo *n)
{
    static const char at[] = "/training/activation_checkpointing";
    const struct value_item *how = model(n, "recompute_granularity"),
                            *modules = model(n, "recompute_modules");
    const char *word = nemo_word(n, NEMO_MODEL, "recompute_granularity", "");
    launch_hear(n->t, how);
    if (how && how->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(n->t, at, how, "word");
    else if (strcmp(word, "selective") == 0)
        megatron_recompute_modules(n->t, how, modules);
    else if (strcmp(word, "full") == 0)
        megatron_recompute_layers(n->t, how, model(n, "recompute_method"),
                                  model(n, "recompute_num_layers"));
    else if (*word)
        launch_unresolved_item(n->t, "/training/activation_checkpointing", how,
                               "granularity (full and selective are)");
}

/* Megatron's own FSDP by the switch, or by NeMo's word "megatron"; torch's. */
static bool take_fsdp(const struct nemo *n)
{
    static const struct value yes = { .kind = VALUE_BOOL, .integer = 1 };
    const struct value_item *word = model(n, "fsdp"),
                            *own = nemo_find(n, NEMO_DDP, "use_megatron_fsdp"),
                            *torch = nemo_find(n, NEMO_DDP, "use_torch_fsdp2");
    struct value_item named = { .key = "fsdp", .value = (struct value *)&yes };
    own = own ? own : nemo_find(n, NEMO_DDP, "use_custom_fsdp");
    own = own && launch_true(own->value)
              ? own
              : nemo_find(n, NEMO_REST, "dist.use_megatron_fsdp");
    torch = torch ? torch : nemo_find(n, NEMO_REST, "dist.use_torch_fsdp2");
    named.line = word ? word->line : 0;
    if (strcmp(nemo_word(n, NEMO_MODEL, "fsdp", ""), "megatron") == 0)
        own = &named;
    if (strcmp(nemo_word(n, NEMO_MODEL, "fsdp", ""), "pytorch") == 0)
        torch = &named;
    launch_hear(n->t, word);
    launch_hear(n->t, nemo_find(n, NEMO_DDP, "data_parallel_sharding_strategy"));
    return megatron_take_shards(
        n->t, &(struct megatron_fsdp) {
                  .own = own,
                  .torch = torch,
                  .how = nemo_find(n, NEMO_DDP, "data_parallel_sharding_strategy") });
}

/* What is made only when the script runs is asked for. */
static void ask_made(const struct nemo *n, const char *pointer,
                     const struct value_item *it)
{
    if (it && it->value->kind == VALUE_UNKNOWN && !it->value->text &&
        !launch_has(n->t, pointer) && !launch_is_unresolved(n->t, pointer))
        launch_unresolved_item(n->t, pointer, it, "");
}

/* Either place switches it on (megatron/bridge/training/config.py:
 * _validate_and_sync_distributed_optimizer_settings); NULL: it is off. */
static const struct value_item *distributed(const struct nemo *n)
{
    const struct value_item *of_optimizer =
                                nemo_find(n, NEMO_OPTIM, "use_distributed_optimizer"),
                            *of_ddp =
                                nemo_find(n, NEMO_DDP, "use_distributed_optimizer");
    launch_hear(n->t, of_optimizer);
    launch_hear(n->t, of_ddp);
    ask_made(n, WIDE "sharding/strategy", of_optimizer);
    ask_made(n, WIDE "sharding/strategy", of_ddp);
    return launch_switch(n->t, WIDE "sharding/strategy", of_optimizer, false)
               ? of_optimizer
           : launch_switch(n->t, WIDE "sharding/strategy", of_ddp, false) ? of_ddp
                                                                          : NULL;
}

/* A class of overlaps sets all that it is not given itself, whatever DDP's say, where
 * states are sharded (megatron/bridge/training/comm_overlap.py: setup,
 * _get_optimizer_overlap_cfgs; NeMo's megatron_comm_overlap.py likewise). */
struct overlaps {
    bool by_class;
};

static bool overlap(const struct nemo *n, const struct overlaps *o, const char *name,
                    bool otherwise, const struct value_item **from)
{
    const struct value_item *own = nemo_find(n, NEMO_COMM, name),
                            *ddp = nemo_find(n, NEMO_DDP, name);
    *from = o->by_class ? own : ddp;
    bool on = *from ? launch_true((*from)->value) : o->by_class && otherwise;
    launch_hear(n->t, *from);
    if (ddp && launch_true(ddp->value) == on)
        launch_hear(n->t, ddp); /* else it is named as without effect */
    return on;
}

/* Elements of a bucket; 128 Mi are the class's own. */
static void take_bucket(const struct nemo *n, const struct overlaps *o)
{
    enum { CLASS_ELEMENTS = 1 << 27, ELEMENTS_MAX = 1 << 30 };
    const struct value_item *own = nemo_find(n, NEMO_COMM, "bucket_size"),
                            *ddp = nemo_find(n, NEMO_DDP, "bucket_size"),
                            *it = o->by_class ? own : ddp;
    const char *dtype =
        json_string_value(pointer_get(n->t->tree, "/training/gradient_dtype"));
    int64_t elements = o->by_class ? CLASS_ELEMENTS : 0,
            each_B = dtype && strcmp(dtype, "bf16") == 0 ? 2 : 4;
    launch_hear(n->t, it);
    if (it && !launch_whole(it->value, &elements))
        launch_unresolved_item(n->t, WIDE "bucket_size", it, "number of elements");
    else if (elements > 0 && elements < ELEMENTS_MAX)
        nemo_set(n, WIDE "bucket_size", json_sprintf("%" PRId64 "B", elements * each_B),
                 it, "bucket_size of the class of overlaps");
}

static void take_align(const struct nemo *n, const struct overlaps *o)
{
    const struct value_item *it;
    bool stages =
        launch_has(n->t, WIDE "pipeline") && launch_has(n->t, WIDE "virtual_stages");
    bool on = overlap(n, o, "align_param_gather", stages, &it);
    if (stages && on)
        nemo_set(n, WIDE "align_param_gather", json_true(), it,
                 "align_param_gather of the class of overlaps");
    else if (stages)
        launch_note(n->t->l, it ? it->line : n->t->l->line, DIAG_NOT_SIMULATED,
                    "align_param_gather: gathers that each stage begins by itself are "
                    "not simulated: stages begin them together");
}

static void take_sharding(const struct nemo *n, bool fsdp)
{
    const struct value_item *it = distributed(n), *sums, *gathers,
                            *rule = nemo_find(n, NEMO_OPTIM, "optimizer");
    struct overlaps o = { .by_class = it && n->part[NEMO_COMM]->n > 0 };
    launch_hear(n->t, nemo_find(n, NEMO_COMM, "class"));
    bool summed = overlap(n, &o, "overlap_grad_reduce", true, &sums),
         gathered = overlap(n, &o, "overlap_param_gather", true, &gathers);
    if (fsdp)
        return;
    ask_made(n, WIDE "overlap", nemo_find(n, NEMO_MODEL, "ddp"));
    ask_made(n, WIDE "overlap", sums);
    ask_made(n, WIDE "overlap_param_gather", gathers);
    /* "dist_muon" is muon with owners (megatron/training/arguments.py, core_v0.19.0) */
    if (!it && strcmp(nemo_word(n, NEMO_OPTIM, "optimizer", ""), "dist_muon") == 0)
        it = rule;
    nemo_set(n, WIDE "library", json_string("megatron"), NULL, "Megatron-Core's own");
    nemo_set(n, WIDE "overlap", json_boolean(summed), sums,
             "overlap_grad_reduce's default");
    take_bucket(n, &o);
    if (!it)
        return;
    nemo_set(n, WIDE "sharding/strategy", json_string("optimizer"), it, "");
    /* without buckets in the backward pass there is one, which is awaited whole */
    nemo_set(n, WIDE "overlap_param_gather", json_boolean(summed && gathered),
             summed ? gathers : sums, "overlap_param_gather's default");
    if (summed && gathered)
        take_align(n, &o);
}

static void take_tensor_overlap(const struct nemo *n)
{
    const struct value_item *it = nemo_find(n, NEMO_COMM, "tp_comm_overlap");
    it = it ? it : model(n, "tp_comm_overlap");
    launch_hear(n->t, nemo_find(n, NEMO_COMM, "tp_comm_overlap"));
    launch_hear(n->t, model(n, "tp_comm_overlap"));
    bool on =
        it && launch_true(it->value) && launch_has(n->t, WIDE "sequence_parallel");
    if (launch_has(n->t, WIDE "tensor"))
        nemo_set(n, WIDE "overlap_tensor", json_boolean(on), it,
                 "tp_comm_overlap's default");
}

static void take_optimizer(const struct nemo *n)
{
    static const struct dialect_word words[] = {
        { "adam", "adam" }, { "adamw", "adam" },     { "sgd", "sgd" },
        { "muon", "muon" }, { "dist_muon", "muon" }, { NULL, NULL }
    };
    static const struct dialect_option row =
        ROW("optimizer", "/training/optimizer", .words = words,
            .wanted = "optimizer that is simulated");
    const struct value_item *it = nemo_find(n, NEMO_OPTIM, "optimizer"),
                            *clip = nemo_find(n, NEMO_OPTIM, "clip_grad");
    double norm = 1; /* OptimizerConfig's */
    launch_hear(n->t, it);
    if (it)
        dialect_take_as(n->t, &row, it, DIALECT_WORD);
    if (it && it->value->text && strstr(it->value->text, "muon"))
        launch_take_rows(n->t, core_optimizer_rows, n->part[NEMO_OPTIM]);
    nemo_set(n, "/training/optimizer", json_string("adam"), NULL,
             "optimizer's default");
    if (clip)
        launch_real(clip->value, &norm);
    nemo_set(n, "/training/gradient_clipping", json_real(norm), clip,
             "clip_grad's default");
}

/* Adapters that the program of a recipe makes and its file only names: those of
 * aws/sagemaker-hyperpod-checkpointless-training, examples/ (X_peft_checkpointless.py),
 * are known; of others' nothing is. */
static bool take_programs_peft(const struct nemo *n)
{
    static const char lora[] = "/training/lora";
    const struct value_item *name = nemo_find(n, NEMO_REST, "run.name"),
                            *title = nemo_find(n, NEMO_REST, "display_name"),
                            *kind = nemo_find(n, NEMO_REST, "run.model_type"),
                            *scheme = nemo_find(n, NEMO_PEFT, "peft_scheme");
    bool known = kind && kind->value->text &&
                 strcmp(kind->value->text, "hyperpod_checkpointless_nemo") == 0;
    bool named = title && title->value->text && peft_is_named(title->value->text);
    struct cfg all = launch_flavor(n->t, "nemo", "adapters");
    struct cfg own = known && name && name->value->text
                         ? cfg_get(all, name->value->text)
                         : (struct cfg) { 0 };
    if (nemo_find(n, NEMO_PEFT, "dim") || (!scheme && !named))
        return false;
    if (cfg_is_object(own))
        launch_set(n->t, lora, json_deep_copy(own.json), scheme ? scheme : title);
    else if (!scheme)
        launch_add_unresolved(n->t, lora, title->line,
                              "%s: it names adapters, and no section describes them",
                              title->key);
    return cfg_is_object(own);
}

/* nemo/collections/llm/peft/lora.py, megatron/bridge/peft/lora.py */
static void take_peft(const struct nemo *n)
{
    static const char *const all[] = { "linear_qkv", "linear_proj", "linear_fc1",
                                       "linear_fc2", NULL };
    const struct value_item *of = nemo_find(n, NEMO_PEFT, "class"),
                            *scheme = nemo_find(n, NEMO_PEFT, "peft_scheme"),
                            *it = of       ? of
                                  : scheme ? scheme
                                           : nemo_find(n, NEMO_REST, "peft"),
                            *rank = nemo_find(n, NEMO_PEFT, "dim"),
                            *alpha = nemo_find(n, NEMO_PEFT, "alpha"),
                            *drop = nemo_find(n, NEMO_PEFT, "dropout"),
                            *targets = nemo_find(n, NEMO_PEFT, "target_modules");
    const char *word = it && it->value->text ? last_part(it->value->text) : "";
    int64_t r = 32;
    double a = 32, p = 0;
    launch_hear(n->t, it);
    if (take_programs_peft(n) || (!it && !rank) ||
        (it == scheme && strcasecmp(word, "none") == 0))
        return;
    if (it && strcasecmp(word, "lora") != 0) {
        diags_add(&n->t->l->loader->diags,
                  launch_diag(n->t->l, DIAG_NOT_SIMULATED, it->line, 0),
                  "%s: %.40s is not simulated (lora and full fine-tuning are)", it->key,
                  *word ? word : "what is not known");
        return;
    }
    if (rank && !launch_whole(rank->value, &r)) {
        launch_unresolved_item(n->t, "/training/lora/rank", rank, "rank");
        return;
    }
    if (alpha)
        launch_real(alpha->value, &a);
    if (drop)
        launch_real(drop->value, &p);
    nemo_set(n, "/training/lora/rank", json_integer((json_int_t)r), rank,
             "dim's default");
    nemo_set(n, "/training/lora/alpha", json_real(a), alpha, "alpha's default");
    if (p > 0)
        nemo_set(n, "/training/lora/dropout", json_real(p), drop, "");
    json_t *list =
        targets ? launch_json(n->t, targets->value, "/training/lora/target_modules")
                : json_array();
    for (const char *const *m = all; !targets && *m; m++)
        json_array_append_new(list, json_string(*m));
    if (list)
        nemo_set(n, "/training/lora/target_modules", list, targets,
                 "target_modules' default");
}

static void report(const struct nemo *n)
{
    static const struct {
        enum nemo_part part;
        const char *path;
    } parts[] = {
        { NEMO_MODEL, "model" },
        { NEMO_TRAINER, "trainer" },
        { NEMO_DATA, "train" },
        { NEMO_OPTIM, "optimizer" },
        { NEMO_DDP, "ddp" },
        { NEMO_MIXED, "mixed_precision" },
        { NEMO_COMM, "comm_overlap" },
        { NEMO_PEFT, "peft" },
        { NEMO_REST, "" },
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const char *section =
            *parts[i].path ? arena_printf(n->t->arena, "%s.", parts[i].path) : "";
        dialect_report(n->t, core_tables, parts[i].path, n->part[parts[i].part],
                       (struct dialect_place) { n->t->l->line, "", section, true });
    }
}

/* Bridge refuses a model's length that is not its data's
 * (megatron/bridge/training/config.py, ConfigContainer.validate). */
static void ask_length(struct launch_context *t, const struct value *flat)
{
    static const char at[] = "/training/sequence_length";
    const struct value_item *data = value_get(flat, "dataset.seq_length"),
                            *model = value_get(flat, "model.seq_length");
    int64_t of_data, of_model;
    if (!data || !model || !launch_whole(data->value, &of_data) ||
        !launch_whole(model->value, &of_model) || of_data == of_model)
        return;
    launch_take_back(t, at);
    launch_add_unresolved(t, at, model->line,
                          "model.seq_length is %" PRId64 " and the data set's %" PRId64
                          ", which Megatron-Bridge refuses",
                          of_model, of_data);
    launch_add_example(t, at, arena_printf(t->arena, "%" PRId64, of_model));
}

void core_read(struct launch_context *t, const struct value *flat, const char *title)
{
    struct nemo n = { .t = t };
    int64_t line = t->l->line;
    launch_config_title(t, title);
    t->l->line = line ? line : 1;
    nemo_sort(&n, routes, flat);
    launch_take_rows(t, nemo_trainer_rows, n.part[NEMO_TRAINER]);
    launch_take_rows(t, core_model_rows, n.part[NEMO_MODEL]);
    launch_take_rows(t, core_train_rows, n.part[NEMO_DATA]);
    launch_hear(t, nemo_find(&n, NEMO_DATA, "seq_length"));
    launch_hear(t, nemo_find(&n, NEMO_DATA, "class")); /* recipe_data.c */
    launch_take_rows(t, &core_train_rows[1], n.part[NEMO_MODEL]);
    launch_hear(t, model(&n, "seq_length"));
    ask_length(t, flat);
    core_take_model(&n);
    take_pipeline(&n);
    take_graphs(&n);
    bool fsdp = take_fsdp(&n);
    nemo_take_mixed(&n);
    megatron_take_mtp_format(t, model(&n, "keep_mtp_spec_in_bf16"));
    take_recompute(&n);
    megatron_take_offload(n.t, model(&n, "fine_grained_activation_offloading"),
                          model(&n, "offload_modules"));
    nemo_take_offloaded_layers(&n);
    take_sharding(&n, fsdp);
    take_tensor_overlap(&n);
    take_optimizer(&n);
    take_peft(&n);
    nemo_set(&n, "/training/framework", json_string("nemo-2025"), NULL,
             "NeMo's of 2025");
    launch_assume(t, "/training/task", json_string("causal-lm"), "a GPT's");
    nemo_ask_recipe(t, flat);
    report(&n);
}
