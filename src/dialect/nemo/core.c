/* A configuration of NeMo 2 or Megatron-Bridge, flat: the model and the step. */
#include "config/datadir.h"
#include "config/pointer.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/megatron/megatron.h"
#include "dialect/nemo/nemo.h"
#include "dialect/trainer/trainer.h"
#include "model/hub.h"

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

/* The model ------------------------------------------------------------------------ */

/* The names of config.json for Megatron-Core's. */
static const struct {
    const char *core, *hub[4];
} sizes[] = {
    { "num_layers", { "num_hidden_layers", "n_layer" } },
    { "hidden_size", { "hidden_size", "n_embd" } },
    { "ffn_hidden_size", { "intermediate_size" } },
    { "num_attention_heads", { "num_attention_heads", "n_head" } },
    { "num_query_groups", { "num_key_value_heads" } },
    { "kv_channels", { "head_dim" } },
    { "vocab_size", { "vocab_size" } },
    { "num_moe_experts", { "num_local_experts", "num_experts", "n_routed_experts" } },
    { "moe_router_topk", { "num_experts_per_tok" } },
    { "moe_ffn_hidden_size", { "moe_intermediate_size" } },
};

/* Puts what the file changes into a config.json. */
static void change_hub(const struct nemo *n, json_t *config)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct value_item *it = model(n, sizes[i].core);
        const char *const *name = sizes[i].hub;
        int64_t size;
        if (!it)
            continue;
        while (*name && !json_object_get(config, *name))
            name++;
        if (!launch_whole(it->value, &size))
            launch_unresolved_item(n->t, "/model", it, "whole number");
        else
            json_object_set_new(config, *name ? *name : sizes[i].hub[0],
                                json_integer((json_int_t)size));
        launch_hear(n->t, it);
    }
}

static bool changes(const struct nemo *n)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (model(n, sizes[i].core))
            return true;
    return false;
}

/* A model by its id, or its file of models/; where the file changes sizes, its
 * config.json with them. */
static void take_id(const struct nemo *n, const char *id, const struct value_item *from)
{
    static const struct dialect_option row = ROW("model", "/model");
    struct value v = { .kind = VALUE_STRING, .line = from->line, .text = id };
    const struct value_item it = { from->key, from->line, &v };
    struct hub_id found;
    const char *name = id;
    bool known = hub_is_id(id) && hub_find(&found, n->t->l->loader, id);
    if (!changes(n)) {
        trainer_take_model(n->t, &row, &it);
        return;
    }
    if (known && found.shipped)
        name = found.shipped;
    struct cfg config =
        known && !found.shipped
            ? hub_load(n->t->l->loader, id, (struct cfg) { 0 })
            : datadir_load(n->t->l->loader, "models", name, (struct cfg) { 0 });
    if (!cfg_is_object(config))
        return;
    json_t *changed = json_deep_copy(config.json);
    change_hub(n, changed);
    launch_set(n->t, "/model", changed, &it);
}

/* A "megatron" model of the class's sizes, with those that the file gives. */
static void take_widths(const struct nemo *n, json_t *sizes_of,
                        const struct value_item *from)
{
    const struct value_item *bias = model(n, "add_bias_linear"),
                            *tied = model(n, "share_embeddings_and_output_weights");
    launch_set(n->t, "/model/model_type", json_string("megatron"), from);
    launch_take_rows(n->t, core_width_rows, n->part[NEMO_MODEL]);
    if (bias)
        nemo_set(n, "/model/add_bias_linear", json_boolean(launch_true(bias->value)),
                 bias, "");
    if (tied)
        nemo_set(n, "/model/untie_embeddings_and_output_weights",
                 json_boolean(!launch_true(tied->value)), tied, "");
    const char *key;
    json_t *value;
    json_object_foreach(
        sizes_of, key,
        value) if (!launch_has(n->t, launch_pointer(n->t, "/model", key)))
        launch_set(n->t, launch_pointer(n->t, "/model", key), json_incref(value), from);
    if (!launch_has(n->t, "/model/num_layers"))
        launch_add_unresolved(n->t, "/model/num_layers", from->line,
                              "%s: how many layers the model has is not known",
                              from->key);
    if (!launch_has(n->t, "/model/vocab_size"))
        launch_add_unresolved(n->t, "/model/vocab_size", from->line,
                              "%s: how many entries the vocabulary has is not known",
                              from->key);
}

/* Classes of what is no stack of attention. */
static bool is_refused(const struct nemo *n, const char *word,
                       const struct value_item *it)
{
    static const struct {
        const char *part, *what;
    } rows[] = {
        { "Mamba", "a hybrid of Mamba layers by its class's name" },
        { "NemotronH", "a hybrid of Mamba layers by its class's name" },
        { "Hybrid", "a hybrid of Mamba layers by its class's name" },
        { "Hyena", "long convolutions (Hyena)" },
        { "Embedding", "a model of embeddings" },
        { "Reranker", "a reranker" },
        { "Neva", "a model of images and text" },
        { "Llava", "a model of images and text" },
        { "VL", "a model of images and text" },
        { "Flux", "diffusion" },
        { "DiT", "diffusion" },
        { "Wan", "diffusion" },
        { "Clip", "a model of images and text" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strstr(word, rows[i].part)) {
            diags_add(&n->t->l->loader->diags,
                      launch_diag(n->t->l, DIAG_NOT_SIMULATED, it->line, 0),
                      "%.80s: %s is not simulated", word, rows[i].what);
            return true;
        }
    return false;
}

static void take_model(const struct nemo *n)
{
    const struct value_item *it = model(n, "class"), *run = NULL;
    const char *word = it && it->value->text ? last_part(it->value->text) : "";
    struct cfg known = *word ? nemo_class(n->t, word) : (struct cfg) { 0 };
    const char *id = NULL;
    launch_hear(n->t, it);
    if (!it && (run = nemo_find(n, NEMO_REST, "run.name")) && run->value->text) {
        known = launch_flavor(n->t, "nemo", run->value->text);
        it = run;
        launch_hear(n->t, run);
    }
    if (*word && !known.json && is_refused(n, word, it))
        return;
    if (known.json && !cfg_is_object(known) && cfg_string(known, &id) == 0)
        take_id(n, id, it);
    else if (cfg_is_object(known))
        take_widths(n, known.json, it);
    else if (it && it->value->text && strchr(it->value->text, '/'))
        take_id(n, it->value->text, it);
    else
        launch_add_unresolved(n->t, "/model", it ? it->line : n->t->l->line,
                              "%.60s%swhich model it is, is not known by it", word,
                              *word ? ": " : "");
}

/* The step ------------------------------------------------------------------------- */

static const struct value_item *comm_or_model(const struct nemo *n, const char *name)
{
    const struct value_item *own = nemo_find(n, NEMO_COMM, name);
    launch_hear(n->t, own);
    launch_hear(n->t, model(n, name));
    return own ? own : model(n, name);
}

static void take_stages(const struct nemo *n)
{
    struct megatron_stages o = {
        .many = model(n, "virtual_pipeline_model_parallel_size"),
        .first = model(n, "num_layers_in_first_pipeline_stage"),
        .last = model(n, "num_layers_in_last_pipeline_stage"),
        .embedding = model(n, "account_for_embedding_in_pipeline_split"),
        .loss = model(n, "account_for_loss_in_pipeline_split"),
        .layout = model(n, "pipeline_model_parallel_layout"),
        .defers = comm_or_model(n, "defer_embedding_wgrad_compute"),
        .limit = comm_or_model(n, "wgrad_deferral_limit"),
    };
    megatron_take_stages(n->t, &o);
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
    bool along = nemo_is_on(n, NEMO_MODEL, "sequence_parallel", false);
    take_stages(n);
    take_dispatch(n);
    if (along && launch_has(n->t, WIDE "tensor"))
        nemo_set(n, WIDE "sequence_parallel", json_true(),
                 model(n, "sequence_parallel"), "");
    nemo_set(n, WIDE "placement", json_string("PDT"), NULL,
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
}

/* What MegatronCommOverlapCallback (CommOverlapConfig) says goes before DDP's. */
static const struct value_item *overlap(const struct nemo *n, const char *name)
{
    const struct value_item *own = nemo_find(n, NEMO_COMM, name),
                            *ddp = nemo_find(n, NEMO_DDP, name);
    launch_hear(n->t, own);
    launch_hear(n->t, ddp);
    return own ? own : ddp;
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

static void take_sharding(const struct nemo *n, bool fsdp)
{
    const struct value_item *of_optimizer =
                                nemo_find(n, NEMO_OPTIM, "use_distributed_optimizer"),
                            *of_ddp =
                                nemo_find(n, NEMO_DDP, "use_distributed_optimizer"),
                            *it = of_optimizer && launch_true(of_optimizer->value)
                                      ? of_optimizer
                                  : of_ddp ? of_ddp
                                           : of_optimizer;
    bool comm = n->part[NEMO_COMM]->n > 0, on = it && launch_true(it->value);
    const struct value_item *sums = overlap(n, "overlap_grad_reduce"),
                            *gathers = overlap(n, "overlap_param_gather");
    launch_hear(n->t, of_optimizer);
    launch_hear(n->t, of_ddp);
    if (fsdp)
        return;
    nemo_set(n, WIDE "library", json_string("megatron"), NULL, "Megatron-Core's own");
    if (on)
        nemo_set(n, WIDE "sharding/strategy", json_string("optimizer"), it, "");
    nemo_set(n, WIDE "overlap", json_boolean(sums ? launch_true(sums->value) : comm),
             sums, "overlap_grad_reduce's default");
    if (on)
        nemo_set(n, WIDE "overlap_param_gather",
                 json_boolean(gathers ? launch_true(gathers->value) : comm), gathers,
                 "overlap_param_gather's default");
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
        { "adam", "adam" }, { "adamw", "adam" }, { "sgd", "sgd" }, { NULL, NULL }
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
    nemo_set(n, "/training/optimizer", json_string("adam"), NULL,
             "optimizer's default");
    if (clip)
        launch_real(clip->value, &norm);
    nemo_set(n, "/training/gradient_clipping", json_real(norm), clip,
             "clip_grad's default");
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
    if (!it && !rank)
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
    launch_take_rows(t, &core_train_rows[1], n.part[NEMO_MODEL]);
    launch_hear(t, model(&n, "seq_length"));
    take_model(&n);
    take_pipeline(&n);
    take_graphs(&n);
    bool fsdp = take_fsdp(&n);
    nemo_take_mixed(&n);
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
    report(&n);
}
