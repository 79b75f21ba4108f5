/* Megatron's arguments of the model: the sizes and choices of a "megatron" model. */
#include "dialect/megatron/megatron.h"

#include "config/pointer.h"
#include "dialect/launch/entry_points.h"

#include <inttypes.h>
#include <string.h>

enum { VOCAB_PADDING_MAX = 1 << 16 };

/* Rows ----------------------------------------------------------------------------- */

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
    if (it->value->kind == VALUE_STRING && strcmp(it->value->text, "multiquery") == 0)
        launch_set(t, row->pointer, json_integer(1), it);
}

/* clang-format off */
#define POSITION "/model/position_embedding_type"
const struct dialect_option megatron_model_rows[] = {
    ROW("--num-layers", "/model/num_layers", .kind = DIALECT_SIZE, .written = true),
    ROW("--encoder-num-layers", "/model/num_layers", .kind = DIALECT_SIZE),
    ROW("--hidden-size", "/model/hidden_size", .kind = DIALECT_SIZE, .written = true),
    ROW("--num-attention-heads", "/model/num_attention_heads", .kind = DIALECT_SIZE, .written = true),
    ROW("--ffn-hidden-size", "/model/ffn_hidden_size", .kind = DIALECT_SIZE, .written = true),
    ROW("--kv-channels", "/model/kv_channels", .kind = DIALECT_SIZE, .written = true),
    ROW("--num-query-groups", "/model/num_query_groups", .take = take_groups, .kind = DIALECT_SIZE, .written = true),
    ROW("--num-key-value-heads", "/model/num_query_groups", .kind = DIALECT_SIZE),
    ROW("--attention-head-type", "/model/num_query_groups", .take = take_multi_query),
    ROW("--num-experts", "/model/num_experts", .take = take_experts, .kind = DIALECT_SIZE, .written = true),
    ROW("--moe-router-topk", "/model/moe_router_topk", .kind = DIALECT_SIZE, .written = true),
    ROW("--topk", "/model/moe_router_topk", .kind = DIALECT_SIZE),
    ROW("--normalization", "/model/normalization", .kind = DIALECT_TEXT, .written = true),
    ROW("--use-rotary-position-embeddings", POSITION, .kind = DIALECT_FLAG, .value = "rope"),
    ROW("--use-alibi-position-embeddings", POSITION, .kind = DIALECT_FLAG, .value = "alibi"),
    ROW("--position-embedding-type", POSITION, .kind = DIALECT_TEXT, .written = true),
    ROW("--max-position-embeddings", "/model/max_position_embeddings", .kind = DIALECT_SIZE, .written = true),
    ROW("--swiglu", "/model/swiglu", .kind = DIALECT_FLAG, .written = true),
    ROW("--squared-relu", "/model/activation", .kind = DIALECT_FLAG, .value = "squared_relu", .written = true),
    ROW("--untie-embeddings-and-output-weights", "/model/untie_embeddings_and_output_weights", .kind = DIALECT_FLAG, .written = true),
    ROW("--disable-bias-linear", "/model/add_bias_linear", .kind = DIALECT_FLAG, .value = "false", .written = true),
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
const struct dialect_option megatron_vocabulary_rows[] = {
    ROW("--pad-vocab-size-to", "/model/vocab_size", .kind = DIALECT_SIZE),
    ROW("--padded-vocab-size", "/model/vocab_size", .kind = DIALECT_SIZE),
    ROW("--vocab-size", "/model/vocab_size", .kind = DIALECT_SIZE, .written = true),
    ROW_END,
};
static const struct dialect_option ffn_of_experts =
    ROW("--moe-ffn-hidden-size", "/model/ffn_hidden_size", .kind = DIALECT_SIZE);
/* clang-format on */

/* What follows of several ---------------------------------------------------------- */

/* The words of a tokenizer, where its name fixes them; -1: it does not. */
static int64_t words_of_tokenizer(struct launch_context *t, const char *name)
{
    struct cfg known = cfg_get(launch_names(t, "vocabularies"), name);
    int64_t n = -1;
    if (known.json)
        cfg_int(known, &n, 1, 1 << 26);
    return n;
}

/* What nobody says is GPT-2's, BERT's or, of rotary models, Llama's. */
static void assume_vocabulary(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *own = launch_option(c, "--patch-tokenizer-type"),
                            *type = own ? own : launch_option(c, "--tokenizer-type"),
                            *more =
                                launch_option(c, launch_has(t, "/model/encoder_decoder")
                                                     ? "--vocab-extra-ids"
                                                     : "--extra-vocab-size");
    const json_t *position = pointer_get(t->tree, "/model/position_embedding_type");
    bool rotary = position && strcmp(json_string_value(position), "rope") == 0,
         named = type && type->value->kind == VALUE_STRING;
    const char *usual =
        launch_has(t, "/model/encoder") || launch_has(t, "/model/encoder_decoder")
            ? "BertWordPieceLowerCase"
        : rotary ? "Llama2Tokenizer"
                 : "GPT2BPETokenizer";
    int64_t n = named ? words_of_tokenizer(t, type->value->text) : -1, extra = 0;
    struct value v = { .line = type ? type->value->line : c->command->line };
    const struct value_item from = { n < 0 ? "assumed" : type->key, v.line, &v };
    if (n < 0 && (named || rotary))
        launch_note(t->l, v.line, DIAG_ASSUMED,
                    "how many words there are%s%.60s is not known: as many as %s's are "
                    "taken (give --set /model/vocab_size=N)",
                    named ? " in " : "", named ? type->value->text : "", usual);
    launch_hear(t, type);
    launch_hear(t, more);
    n = n < 0 ? words_of_tokenizer(t, usual) : n;
    if (more && launch_whole(more->value, &extra) && extra > 0 && extra < 1 << 20)
        n += extra;
    launch_set(t, "/model/vocab_size", json_integer((json_int_t)n), &from);
}

static void take_vocabulary(struct launch_context *t, const struct launch_command *c)
{
    static const char at[] = "/model/vocab_size", padding[] = "/training/vocab_padding";
    const struct value_item *it = launch_option(c, "--make-vocab-size-divisible-by");
    int64_t tensor = launch_number(t, "/parallelism/tensor", 1), n;
    launch_take_rows(t, megatron_vocabulary_rows, &c->options);
    if (!launch_has(t, at) && !launch_is_unresolved(t, at))
        assume_vocabulary(t, c);
    if (!it || !launch_whole(it->value, &n) || n < 1 || n > VOCAB_PADDING_MAX)
        n = 128; /* arguments.py's default */
    struct value v = { .line = it ? it->value->line : c->command->line };
    const struct value_item from = { it ? it->key
                                        : "make-vocab-size-divisible-by's default",
                                     v.line, &v };
    launch_hear(t, it);
    if (tensor <= VOCAB_PADDING_MAX / n)
        launch_set(t, padding, json_integer((json_int_t)(n * tensor)), &from);
}

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

/* Which model it is, by the script's name. */
static void take_kind(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_word *w = &c->command->words[c->script];
    struct launch_entry e = launch_entry_of(t, w->text);
    struct value v = { .line = c->command->line };
    const struct value_item from = { launch_last_part(w->text), v.line, &v };
    launch_set(t, "/model/model_type", json_string("megatron"), &from);
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
}

/* Where the program is not known, the task that --set gives says what it builds. */
void megatron_settle_task(struct launch *l, struct cfg root)
{
    const struct launch_unresolved *open = launch_unresolved_of(l, "/training/task");
    const char *type = json_string_value(pointer_get(root.json, "/model/model_type")),
               *task = json_string_value(pointer_get(root.json, "/training/task"));
    json_t *model = json_object_get(root.json, "model");
    if (!open || !task || !type || strcmp(type, "megatron") != 0)
        return;
    if (strcmp(task, "masked-lm") == 0)
        json_object_set_new(model, "encoder", json_true());
    if (strcmp(task, "seq2seq") == 0)
        json_object_set_new(model, "encoder_decoder", json_true());
}

void megatron_settle_model(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *it = launch_option(c, "--moe-ffn-hidden-size");
    take_kind(t, c);
    if (it && launch_option(c, "--num-experts")) {
        dialect_take(t, &ffn_of_experts, it);
        launch_hear(t, it);
    }
    launch_take_rows(t, megatron_model_rows, &c->options);
    take_vocabulary(t, c);
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
