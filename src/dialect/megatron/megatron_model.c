/* Megatron's arguments of the model: the sizes and choices of a "megatron" model. */
#include "dialect/megatron/megatron.h"

#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/entry_points.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LAYERS_LISTED_MAX = 10000, LAYERS_GROUP_MAX = 512 };

/* Rows ----------------------------------------------------------------------------- */

/* Gates of BigScience's: each doubles the MLP's first product (bigscience-workshop/
 * Megatron-DeepSpeed, megatron/model/glu_activations.py, transformer.py). */
static void take_glu(struct launch_context *t, const struct dialect_option *row,
                     const struct value_item *it)
{
    static const char *const gates[] = { "swiglu", "geglu", "reglu", "liglu", NULL };
    const char *gate = it->value->kind == VALUE_STRING ? it->value->text : "";
    if (!names_listed(gates, gate)) {
        launch_unresolved_item(t, row->pointer, it, "gate");
        return;
    }
    launch_set(t, row->pointer, json_true(), it);
    if (strcmp(gate, gates[0]) != 0)
        launch_note(t->l, it->value->line, DIAG_APPROXIMATE,
                    "%s: %s is taken for swiglu, whose products are the same", it->key,
                    gate);
}

static void take_quick(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    launch_set(t, row->pointer, json_true(), it);
    launch_note(t->l, it->value->line, DIAG_APPROXIMATE,
                "%s: taken for swiglu, whose products are the same", it->key);
}

/* A head of its own, whole on each rank (alibaba/Megatron-LLaMA, megatron/model/
 * llama_model.py). */
static void take_own_head(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it)
{
    launch_set(t, row->pointer, json_true(), it);
    if (launch_number(t, "/parallelism/tensor", 1) > 1)
        launch_note(
            t->l, it->value->line, DIAG_APPROXIMATE,
            "%s: each rank of a tensor group has the whole head, which is taken "
            "to be split over them",
            it->key);
}

/* One expert, Megatron-DeepSpeed's default, is a dense model; a list of experts by
 * layer is none that is simulated. */
static void take_experts(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    int64_t n;
    if (it->value->kind == VALUE_LIST)
        launch_add_unresolved(
            t, row->pointer, it->value->line,
            "%s: layers with experts of different numbers are not simulated", it->key);
    else if (!launch_whole(it->value, &n) || n != 1)
        dialect_take_as(t, row, it, DIALECT_SIZE);
}

/* Groups count where --group-query-attention is; each head has its own else. */
static void take_groups(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    const struct value_item *grouped =
        launch_option(t->command, "--group-query-attention");
    launch_hear(t, grouped);
    if (grouped)
        dialect_take_as(t, row, it, DIALECT_SIZE);
    else
        launch_note(t->l, it->line, DIAG_WITHOUT_EFFECT,
                    "%s: without effect, as --group-query-attention is not there",
                    it->key);
}

static void take_multi_query(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it)
{
    bool multiquery =
        it->value->kind == VALUE_STRING && strcmp(it->value->text, "multiquery") == 0;
    if (multiquery && !launch_has(t, row->pointer) &&
        !launch_is_unresolved(t,
                              row->pointer)) /* --n-head-kv: Falcon's of 40 billion */
        launch_set(t, row->pointer, json_integer(1), it);
}

/* Of Habana's fork: "swiglu" has a gate, the others have none. */
static void take_activation(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    if (it->value->kind != VALUE_STRING)
        launch_unresolved_item(t, row->pointer, it, "name");
    else
        launch_set(t, row->pointer,
                   json_boolean(strcmp(it->value->text, "swiglu") == 0), it);
}

/* Layers of a list in Python's words, "([0]*3+[0,1]*29)", one after another. */
struct layer_list {
    int64_t layers, dense; /* how many, and those without experts */
    bool mixed;            /* some of those are after layers with experts */
};

static bool add_layer(struct layer_list *l, int64_t experts)
{
    if (experts < 0 || experts > 1 || l->layers >= LAYERS_LISTED_MAX)
        return false;
    l->mixed |= experts == 0 && l->dense < l->layers;
    l->dense += experts == 0;
    l->layers++;
    return true;
}

/* "[0,1]*29" at s: one after its end; NULL: it is none. */
static const char *add_group(struct layer_list *l, const char *s)
{
    int64_t group[LAYERS_GROUP_MAX], n = 0, times = 1;
    int used = 0;
    for (char close = ','; close == ','; s += used, n++) {
        used = 0;
        if (n == LAYERS_GROUP_MAX ||
            sscanf(s, n ? "%" SCNd64 " %c%n" : "[%" SCNd64 " %c%n", &group[n], &close,
                   &used) != 2 ||
            !used || !strchr(",]", close))
            return NULL;
    }
    used = 0;
    if (sscanf(s, "*%" SCNd64 "%n", &times, &used) == 1)
        s += used;
    if (times < 1 || times > LAYERS_LISTED_MAX)
        return NULL;
    for (int64_t i = 0; i < n * times; i++)
        if (!add_layer(l, group[i % n]))
            return NULL;
    return s;
}

/* Layers without experts, and how many there are; -1: it is no list. */
static int64_t dense_of_list(const char *s, int64_t *layers, bool *mixed)
{
    struct layer_list l = { 0 };
    int level = 0;
    while (s && *s) {
        if (strchr("()+ '\"", *s)) {
            level += *s == '(' ? 1 : *s == ')' ? -1 : 0;
            s++;
        } else {
            s = add_group(&l, s);
        }
    }
    *layers = l.layers;
    *mixed = l.mixed;
    return !s || level ? -1 : l.dense;
}

/* The same of a list itself. */
static int64_t dense_of_values(const struct value *v, bool *mixed)
{
    int64_t dense = 0, n;
    for (int32_t i = 0; i < v->n; i++) {
        if (!launch_whole(v->items[i].value, &n) || n < 0 || n > 1)
            return -1;
        *mixed |= n == 0 && dense < i;
        dense += n == 0;
    }
    return dense;
}

void megatron_take_frequency(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it)
{
    int64_t layers = launch_number(t, "/model/num_layers", 0), listed = layers, n,
            dense = -1;
    bool mixed = false;
    if (launch_whole(it->value, &n) && n > 0) {
        dense = layers - layers / n - (layers % n != 0);
        mixed = n > 1;
    } else if (it->value->kind == VALUE_STRING) {
        dense = dense_of_list(it->value->text, &listed, &mixed);
    } else if (it->value->kind == VALUE_LIST) {
        listed = it->value->n;
        dense = dense_of_values(it->value, &mixed);
    }
    if (dense < 0 || listed != layers) {
        launch_add_unresolved(t, row->pointer, it->value->line,
                              "%s: which of the %" PRId64
                              " layers have experts is not known by it",
                              it->key, layers);
        return;
    }
    if (dense > 0)
        launch_set(t, row->pointer, json_integer((json_int_t)dense), it);
    if (dense > 0 && mixed)
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: the %" PRId64
                    " layers without experts are taken to be the first",
                    it->key, dense);
    launch_hear(t, it);
}

/* A style of rotation, which forks write with it or alone. */
static void take_rope(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    if (it->value->kind == VALUE_STRING && it->value->text[0])
        launch_set(t, row->pointer, json_string("rope"), it);
    else
        launch_unresolved_item(t, row->pointer, it, "style of rotation");
}

/* BigScience's and epfLLM's "rotary" is Megatron-Core's "rope". */
static void take_position(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it)
{
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "";
    if (strcmp(word, "rotary") == 0)
        launch_set(t, row->pointer, json_string("rope"), it);
    else
        dialect_take_as(t, row, it, DIALECT_TEXT);
}

/* clang-format off */
#define POSITION "/model/position_embedding_type"
const struct dialect_option megatron_model_rows[] = {
    ROW("--num-layers", "/model/num_layers", .kind = DIALECT_SIZE, .written = true),
    ROW("--encoder-num-layers", "/model/num_layers", .kind = DIALECT_SIZE),
    ROW("--hidden-size", "/model/hidden_size", .kind = DIALECT_SIZE, .written = true),
    ROW("--num-attention-heads", "/model/num_attention_heads", .kind = DIALECT_SIZE, .written = true),
    ROW("--ffn-hidden-size", "/model/ffn_hidden_size", .kind = DIALECT_SIZE, .written = true),
    ROW("--ff-hidden-size", "/model/ffn_hidden_size", .kind = DIALECT_SIZE), /* of CPM's T5 and GPT */
    ROW("--kv-hidden-size", "/model/kv_channels", .kind = DIALECT_SIZE),
    ROW("--kv-channels", "/model/kv_channels", .kind = DIALECT_SIZE, .written = true),
    ROW("--num-query-groups", "/model/num_query_groups", .take = take_groups, .kind = DIALECT_SIZE, .written = true),
    ROW("--num-key-value-heads", "/model/num_query_groups", .kind = DIALECT_SIZE),
    ROW("--n-head-kv", "/model/num_query_groups", .kind = DIALECT_SIZE), /* Pai-Megatron-Patch */
    ROW("--attention-head-type", "/model/num_query_groups", .take = take_multi_query),
    ROW("--num-experts", "/model/num_experts", .take = take_experts, .kind = DIALECT_SIZE, .written = true),
    ROW("--moe-num-experts", "/model/num_experts", .take = take_experts, .kind = DIALECT_SIZE), /* MegaBlocks' */
    ROW("--moe-top-k", "/model/moe_router_topk", .kind = DIALECT_SIZE),
    ROW("--moe-router-topk", "/model/moe_router_topk", .kind = DIALECT_SIZE, .written = true),
    ROW("--topk", "/model/moe_router_topk", .kind = DIALECT_SIZE),
    ROW("--normalization", "/model/normalization", .kind = DIALECT_TEXT, .written = true),
    ROW("--norm-dtype", "/model/normalization", .kind = DIALECT_TEXT), /* Yuan's */
    ROW("--layernorm-type", "/model/normalization", .kind = DIALECT_TEXT), /* Habana's fork */
    ROW("--RMSNorm", "/model/normalization", .kind = DIALECT_FLAG, .value = "RMSNorm"),
    ROW("--use-rmsnorm", "/model/normalization", .kind = DIALECT_FLAG, .value = "RMSNorm"),
    ROW("--rms-norm", "/model/normalization", .kind = DIALECT_FLAG, .value = "RMSNorm"),
    ROW("--use-rotary-position-embeddings", POSITION, .kind = DIALECT_FLAG, .value = "rope"),
    ROW("--use-alibi-position-embeddings", POSITION, .kind = DIALECT_FLAG, .value = "alibi"),
    ROW("--rope-style", POSITION, .take = take_rope),
    ROW("--position-embedding-type", POSITION, .take = take_position, .kind = DIALECT_TEXT, .written = true),
    ROW("--max-position-embeddings", "/model/max_position_embeddings", .kind = DIALECT_SIZE, .written = true),
    ROW("--swiglu", "/model/swiglu", .kind = DIALECT_FLAG, .written = true),
    ROW("--llama-swiglu", "/model/swiglu", .kind = DIALECT_FLAG),
    ROW("--quick-geglu", "/model/swiglu", .take = take_quick), /* GPT-OSS's */
    ROW("--activation-func-type", "/model/swiglu", .take = take_activation), /* Habana's fork */
    ROW("--glu-activation", "/model/swiglu", .take = take_glu),
    ROW("--squared-relu", "/model/activation", .kind = DIALECT_FLAG, .value = "squared_relu", .written = true),
    ROW("--untie-embeddings-and-output-weights", "/model/untie_embeddings_and_output_weights", .kind = DIALECT_FLAG, .written = true),
    ROW("--causal-lm", "/model/untie_embeddings_and_output_weights", .take = take_own_head), /* Megatron-LLaMA's */
    ROW("--disable-bias-linear", "/model/add_bias_linear", .kind = DIALECT_FLAG, .value = "false", .written = true),
    ROW("--no-bias", "/model/add_bias_linear", .kind = DIALECT_FLAG, .value = "false"), /* Habana's fork */
    ROW("--add-qkv-bias", "/model/add_qkv_bias", .kind = DIALECT_FLAG, .written = true),
    ROW("--qk-layernorm", "/model/qk_layernorm", .kind = DIALECT_FLAG, .written = true),
    ROW("--moe-shared-expert-intermediate-size", "/model/moe_shared_expert_intermediate_size", .kind = DIALECT_SIZE, .written = true),
    ROW("--embed-layernorm", "/model/embed_layernorm", .kind = DIALECT_FLAG, .written = true),
    ROW("--hidden-dropout", "/model/hidden_dropout", .kind = DIALECT_PROBABILITY, .written = true),
    ROW("--attention-dropout", "/model/attention_dropout", .kind = DIALECT_PROBABILITY, .written = true),
    ROW_END,
};
/* Of T5 alone. */
const struct dialect_option megatron_decoder_rows[] = {
    ROW("--decoder-seq-length", "/training/decoder_length", .kind = DIALECT_SIZE),
    ROW("--decoder-num-layers", "/model/decoder_num_layers", .kind = DIALECT_SIZE),
    ROW_END,
};
static const struct dialect_option megatron_layers_rows[] = {
    ROW("--decoder-num-layers", "/model/decoder_num_layers", .kind = DIALECT_SIZE),
    ROW_END,
};
/* Where --num-experts is there. */
const struct dialect_option megatron_expert_rows[] = {
    ROW("--moe-ffn-hidden-size", "/model/moe_ffn_hidden_size", .kind = DIALECT_SIZE),
    ROW("--moe-latent-size", "/model/moe_latent_size", .kind = DIALECT_SIZE, .written = true),
    ROW("--moe-router-num-groups", "/model/moe_router_num_groups", .kind = DIALECT_SIZE),
    ROW("--moe-router-group-topk", "/model/moe_router_group_topk", .kind = DIALECT_SIZE),
    ROW("--moe-layer-freq", "/model/moe_first_dense_layers", .take = megatron_take_frequency),
    ROW_END,
};
/* Where --multi-latent-attention is there. */
const struct dialect_option megatron_latent_rows[] = {
    ROW("--multi-latent-attention", "/model/multi_latent_attention", .kind = DIALECT_FLAG),
    ROW("--q-lora-rank", "/model/q_lora_rank", .kind = DIALECT_SIZE),
    ROW("--kv-lora-rank", "/model/kv_lora_rank", .kind = DIALECT_SIZE),
    ROW("--qk-head-dim", "/model/qk_head_dim", .kind = DIALECT_SIZE),
    ROW("--qk-pos-emb-head-dim", "/model/qk_pos_emb_head_dim", .kind = DIALECT_SIZE),
    ROW("--v-head-dim", "/model/v_head_dim", .kind = DIALECT_SIZE),
    ROW_END,
};
/* clang-format on */

/* What follows of several ---------------------------------------------------------- */

/* T5's own: tokens of the decoder, and its layers where they are others. */
static void take_decoder(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *it = launch_option(c, "--decoder-seq-length");
    bool cut = launch_has(t, "/parallelism/pipeline") ||
               launch_has(t, "/parallelism/context") ||
               launch_option(c, "--sequence-parallel");
    if (it && cut)
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: with a pipeline, context or sequence parallelism the decoder "
                    "is taken to be as long as the encoder",
                    it->key);
    launch_take_rows(t, cut ? megatron_layers_rows : megatron_decoder_rows,
                     &c->options);
    launch_hear(t, it);
}

/* Which model it is, by the script's name; NULL: not known. */
static const char *take_kind(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_word *w = &c->command->words[c->script];
    struct launch_entry e = launch_entry_of(t, w->text);
    struct value v = { .line = c->command->line };
    const struct value_item from = { launch_last_part(w->text), v.line, &v };
    launch_set(t, "/model/model_type", json_string("megatron"), &from);
    if (!e.program && !launch_has(t, "/training/task")) {
        e.model = megatron_kind_of_text(t, c);
        if (e.model)
            launch_set(t, "/training/task", json_string("causal-lm"), &from);
    }
    if (!e.model && !e.refused && !launch_is_unresolved(t, "/training/task"))
        launch_add_unresolved(t, "/training/task", v.line,
                              "which of Megatron's models %.60s builds is not known "
                              "(causal-lm is GPT's, masked-lm BERT's, seq2seq T5's)",
                              from.key);
    if (e.model && strcmp(e.model, "bert") == 0)
        launch_set(t, "/model/encoder", json_true(), &from);
    if (e.model && strcmp(e.model, "t5") == 0) {
        launch_set(t, "/model/encoder_decoder", json_true(), &from);
        take_decoder(t, c);
    }
    return e.model;
}

/* Where the program is not known, the task that --set gives says what it builds. */
void megatron_settle_task(struct launch *l, struct cfg root)
{
    const struct launch_unresolved *open = launch_unresolved_of(l, "/training/task");
    const char *type = json_string_value(pointer_get(root.json, "/model/model_type")),
               *task = json_string_value(pointer_get(root.json, "/training/task"));
    json_t *model = json_object_get(root.json, "model");
    megatron_settle_overlap(l, root);
    if (!open || !task || !type || strcmp(type, "megatron") != 0)
        return;
    if (strcmp(task, "masked-lm") == 0)
        json_object_set_new(model, "encoder", json_true());
    if (strcmp(task, "seq2seq") == 0)
        json_object_set_new(model, "encoder_decoder", json_true());
}

void megatron_settle_model(struct launch_context *t, const struct launch_command *c)
{
    if (megatron_model_is_elsewhere(t, c))
        return;
    const char *model = take_kind(t, c);
    launch_take_rows(t, megatron_model_rows, &c->options);
    megatron_take_hybrid(t, c, model);
    megatron_take_fork(t, c);
    if (launch_has(t, "/model/num_experts"))
        launch_take_rows(t, megatron_expert_rows, &c->options);
    megatron_take_interval(t, c);
    if (launch_option(c, "--multi-latent-attention"))
        launch_take_rows(t, megatron_latent_rows, &c->options);
    megatron_take_vocabulary(t, c);
    if (launch_has(t, "/model/num_experts") &&
        !launch_has(t, "/model/moe_router_topk")) {
        struct value v = { .line = c->command->line };
        bool deepspeed = launch_option(c, "--deepspeed") != NULL;
        const struct value_item from = { deepspeed ? "topk's default"
                                                   : "moe-router-topk's default",
                                         v.line, &v };
        launch_set(t, "/model/moe_router_topk", json_integer(deepspeed ? 1 : 2), &from);
    }
}
