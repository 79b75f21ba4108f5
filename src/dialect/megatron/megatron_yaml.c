/* --yaml-cfg: a file of arguments that takes the place of all others (megatron/training/
 * yaml_arguments.py, core v0.7 to v0.14), as the options that would say the same. */
#include "base/names.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_words.h"
#include "dialect/megatron/megatron.h"

#include <string.h>

static const char option[] = "--yaml-cfg";

/* clang-format off */
/* Keys that options have by other names: what true says, and what false or null does. */
static const struct {
    const char *key, *on, *off;
} switches[] = {
    { "add_bias_linear", NULL, "--disable-bias-linear" }, { "layernorm_zero_centered_gamma", "--apply-layernorm-1p", NULL },
    { "bias_activation_fusion", NULL, NULL }, { "bias_swiglu_fusion", NULL, "--no-bias-swiglu-fusion" },
    { "bias_gelu_fusion", NULL, "--no-bias-gelu-fusion" }, { "masked_softmax_fusion", NULL, "--no-masked-softmax-fusion" },
    { "persist_layer_norm", NULL, "--no-persist-layer-norm" }, { "bias_dropout_fusion", NULL, "--no-bias-dropout-fusion" },
    { "apply_rope_fusion", NULL, "--no-rope-fusion" }, { "gradient_accumulation_fusion", NULL, "--no-gradient-accumulation-fusion" },
    { "async_tensor_model_parallel_allreduce", NULL, "--no-async-tensor-model-parallel-allreduce" },
    { "scatter_gather_tensors_in_pipeline", NULL, "--no-scatter-gather-tensors-in-pipeline" },
    { "overlap_p2p_comm", NULL, NULL }, /* where chunks are interleaved it is on */
    { "add_position_embedding", NULL, "--no-position-embedding" },
    { "swiglu", NULL, NULL }, { "squared_relu", NULL, NULL }, { "openai_gelu", NULL, NULL }, /* activation_func decides */
    { "gated_linear_unit", NULL, NULL }, { "group_query_attention", NULL, NULL },
};
static const struct {
    const char *key, *option;
} names[] = {
    { "layernorm_epsilon", "--norm-epsilon" }, { "num_moe_experts", "--num-experts" }, { "fp8", "--fp8-format" },
};
/* Of Core's own working: no argument has them. */
static const char *const inner[] = {
    "init_method", "output_layer_init_method", "perform_initialization", "params_dtype", "timers", "pipeline_dtype", "grad_scale_func", "enable_autocast",
    "autocast_dtype", "variable_seq_lengths", "finalize_model_grads_func", "no_sync_func", "grad_sync_func", "param_sync_func", "batch_p2p_comm",
    "batch_p2p_sync", "deallocate_pipeline_outputs", "barrier_with_L1_time", "memory_efficient_layer_norm", "virtual_pipeline_model_parallel_size",
    "clone_scatter_output_in_embedding", "use_ring_exchange_p2p", "cpu_offloading_activations", "tp_comm_split_ag", "tp_comm_atomic_ag", "tp_comm_split_rs", "tp_comm_atomic_rs", NULL,
};
/* clang-format on */

static void add(struct arena *arena, struct value *out, const char *name,
                struct value *v)
{
    value_add(arena, out, name, v->line, v);
}

static void add_flag(struct arena *arena, struct value *out, const char *name,
                     int64_t line)
{
    if (name)
        add(arena, out, name, value_new_bool(arena, true, line));
}

/* Whether the key is a switch of another name, which is added. */
static bool take_switch(struct arena *arena, struct value *out,
                        const struct value_item *it)
{
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
        if (strcmp(switches[i].key, it->key) == 0) {
            bool off = launch_is_off(it->value) || it->value->kind == VALUE_NONE;
            add_flag(arena, out, off ? switches[i].off : switches[i].on, it->line);
            return true;
        }
    return false;
}

static const char *option_of(struct arena *arena, const char *key)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].key, key) == 0)
            return names[i].option;
    char *name = arena_printf(arena, "--%.100s", key);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return name;
}

static void take_key(struct arena *arena, struct value *out,
                     const struct value_item *it)
{
    const struct value *v = it->value;
    const char *word = v->kind == VALUE_STRING ? v->text : "";
    if (names_listed(inner, it->key) || take_switch(arena, out, it) ||
        v->kind == VALUE_NONE || (v->kind == VALUE_BOOL && !v->integer) ||
        (v->kind == VALUE_STRING && !*word))
        return;
    if (strcmp(it->key, "activation_func") == 0) {
        add_flag(arena, out,
                 strcmp(word, "swiglu") == 0        ? "--swiglu"
                 : strcmp(word, "squaredrelu") == 0 ? "--squared-relu"
                                                    : NULL,
                 it->line);
        return;
    }
    if (strcmp(it->key, "num_query_groups") == 0)
        add_flag(arena, out, "--group-query-attention", it->line);
    add(arena, out, option_of(arena, it->key), it->value);
}

/* Its sections are of one level; the others' keys are arguments as they are. */
static void take_all(struct arena *arena, struct value *out, const struct value *root)
{
    for (int32_t i = 0; i < root->n; i++) {
        const struct value *in = root->items[i].value;
        bool section = in->kind == VALUE_DICT;
        for (int32_t k = 0; section && k < in->n; k++)
            take_key(arena, out, &in->items[k]);
        if (!section)
            take_key(arena, out, &root->items[i]);
    }
}

void megatron_expand(struct launch_context *t, const struct launch_command *c,
                     struct launch_words *words)
{
    const struct value_item *it = value_get(&words->dict, option);
    const char *name = it ? it->value->text : NULL;
    const struct value *root =
        name ? launch_open_document(t->l, c, name, it->line) : NULL;
    if (!root)
        return;
    words->dict = (struct value) { .kind = VALUE_DICT, .line = it->line };
    take_all(t->arena, &words->dict, root);
    words->columns = ARENA_ARRAY(t->arena, words->dict.n + 1, int64_t);
    words->n_lost = 0;
}
