/* Megatron's arguments of the model: the sizes and choices of a "megatron" model. */
#include "dialect/megatron/megatron.h"

#include "config/pointer.h"

#include <inttypes.h>
#include <string.h>

enum { VOCAB_PADDING_MAX = 1 << 16 };

/* Values --------------------------------------------------------------------------- */

/* A size as Python's int() reads it: 220_000_000, too. */
static bool size_of(struct launch_context *t, const struct value *v, int64_t *n)
{
    struct value plain = *v;
    if (v->kind == VALUE_STRING) {
        char *text = arena_strdup(t->arena, v->text), *to = text;
        for (const char *s = text; *s; s++)
            if (*s != '_')
                *to++ = *s;
        *to = '\0';
        plain.text = text;
    }
    return launch_whole(&plain, n);
}

void megatron_take_size(struct launch_context *t, const struct launch_row *row,
                        const struct value_item *it)
{
    int64_t n;
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, row->pointer, it, "number");
    else if (!size_of(t, it->value, &n) || n < 1)
        launch_wrong_option(
            t, it, DIAG_WRONG_TYPE, "%s%.40s%s is no whole number of at least 1",
            it->value->text ? "\"" : "it", it->value->text ? it->value->text : "",
            it->value->text ? "\"" : "");
    else
        launch_set(t, row->pointer, json_integer((json_int_t)n), it);
}

void megatron_take_word(struct launch_context *t, const struct launch_row *row,
                        const struct value_item *it)
{
    if (it->value->kind == VALUE_STRING)
        launch_set(t, row->pointer, json_string(it->value->text), it);
    else
        launch_unresolved_item(t, row->pointer, it, "single word");
}

void megatron_take_flag(struct launch_context *t, const struct launch_row *row,
                        const struct value_item *it)
{
    launch_set(t, row->pointer, json_true(), it);
}

/* Rows ----------------------------------------------------------------------------- */

static void take_off(struct launch_context *t, const struct launch_row *row,
                     const struct value_item *it)
{
    launch_set(t, row->pointer, json_false(), it);
}

static void take_dropout(struct launch_context *t, const struct launch_row *row,
                         const struct value_item *it)
{
    double p;
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, row->pointer, it, "probability");
    else if (!launch_real(it->value, &p) || p < 0 || p > 1)
        launch_wrong_option(t, it, DIAG_OUT_OF_RANGE,
                            "it is no probability (write 0 to 1)");
    else
        launch_set(t, row->pointer, json_real(p), it);
}

/* One expert, Megatron-DeepSpeed's default, is a dense model; a list of experts by
 * layer is none that is simulated. */
static void take_experts(struct launch_context *t, const struct launch_row *row,
                         const struct value_item *it)
{
    int64_t n;
    if (it->value->kind == VALUE_LIST)
        launch_add_unresolved(
            t, row->pointer, it->value->line,
            "%s: layers with experts of different numbers are not simulated", it->key);
    else if (!size_of(t, it->value, &n) || n != 1)
        megatron_take_size(t, row, it);
}

/* Groups count where --group-query-attention is; each head has its own else. */
static void take_groups(struct launch_context *t, const struct launch_row *row,
                        const struct value_item *it)
{
    const struct value_item *grouped =
        launch_option(t->command, "--group-query-attention");
    launch_hear(t, grouped);
    if (grouped)
        megatron_take_size(t, row, it);
    else
        launch_note(t->l, it->line, DIAG_WITHOUT_EFFECT,
                    "%s: without effect, as --group-query-attention is not there",
                    it->key);
}

static void take_rope(struct launch_context *t, const struct launch_row *row,
                      const struct value_item *it)
{
    bool alibi = strstr(it->key, "alibi") != NULL;
    launch_set(t, row->pointer, json_string(alibi ? "alibi" : "rope"), it);
}

static void take_squared(struct launch_context *t, const struct launch_row *row,
                         const struct value_item *it)
{
    launch_set(t, row->pointer, json_string("squared_relu"), it);
}

static void take_multi_query(struct launch_context *t, const struct launch_row *row,
                             const struct value_item *it)
{
    if (it->value->kind == VALUE_STRING && strcmp(it->value->text, "multiquery") == 0)
        launch_set(t, row->pointer, json_integer(1), it);
}

/* clang-format off */
#define POSITION "/model/position_embedding_type"
const struct launch_row megatron_model_rows[] = {
    { "--num-layers",              "/model/num_layers",          megatron_take_size },
    { "--encoder-num-layers",      "/model/num_layers",          megatron_take_size },
    { "--hidden-size",             "/model/hidden_size",         megatron_take_size },
    { "--num-attention-heads",     "/model/num_attention_heads", megatron_take_size },
    { "--ffn-hidden-size",         "/model/ffn_hidden_size",     megatron_take_size },
    { "--kv-channels",             "/model/kv_channels",         megatron_take_size },
    { "--num-query-groups",        "/model/num_query_groups",    take_groups },
    { "--num-key-value-heads",     "/model/num_query_groups",    megatron_take_size },
    { "--attention-head-type",     "/model/num_query_groups",    take_multi_query },
    { "--num-experts",             "/model/num_experts",         take_experts },
    { "--moe-router-topk",         "/model/moe_router_topk",     megatron_take_size },
    { "--topk",                    "/model/moe_router_topk",     megatron_take_size },
    { "--normalization",           "/model/normalization",       megatron_take_word },
    { "--use-rotary-position-embeddings", POSITION,              take_rope },
    { "--use-alibi-position-embeddings",  POSITION,              take_rope },
    { "--position-embedding-type", POSITION,                     megatron_take_word },
    { "--max-position-embeddings", "/model/max_position_embeddings", megatron_take_size },
    { "--swiglu",                  "/model/swiglu",              megatron_take_flag },
    { "--squared-relu",            "/model/activation",          take_squared },
    { "--untie-embeddings-and-output-weights",
      "/model/untie_embeddings_and_output_weights",              megatron_take_flag },
    { "--disable-bias-linear",     "/model/add_bias_linear",     take_off },
    { "--add-qkv-bias",            "/model/add_qkv_bias",        megatron_take_flag },
    { "--qk-layernorm", "/model/qk_layernorm", megatron_take_flag },
    { "--moe-shared-expert-intermediate-size",
      "/model/moe_shared_expert_intermediate_size", megatron_take_size },
    { "--embed-layernorm",         "/model/embed_layernorm",     megatron_take_flag },
    { "--hidden-dropout",          "/model/hidden_dropout",      take_dropout },
    { "--attention-dropout",       "/model/attention_dropout",   take_dropout },
    { NULL, NULL, NULL },
};
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
                            *more = launch_option(c, "--extra-vocab-size");
    const json_t *position = pointer_get(t->tree, "/model/position_embedding_type");
    bool rotary = position && strcmp(json_string_value(position), "rope") == 0,
         named = type && type->value->kind == VALUE_STRING;
    const char *usual = launch_has(t, "/model/encoder") ? "BertWordPieceLowerCase"
                        : rotary                        ? "Llama2Tokenizer"
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
    if (more && size_of(t, more->value, &extra) && extra > 0 && extra < 1 << 20)
        n += extra;
    launch_set(t, "/model/vocab_size", json_integer((json_int_t)n), &from);
}

static void take_vocabulary(struct launch_context *t, const struct launch_command *c)
{
    static const char at[] = "/model/vocab_size", padding[] = "/training/vocab_padding";
    static const struct launch_row rows[] = {
        { "--pad-vocab-size-to", at, megatron_take_size },
        { "--padded-vocab-size", at, megatron_take_size },
        { "--vocab-size", at, megatron_take_size },
        { NULL, NULL, NULL },
    };
    static const struct launch_row divisible = { "--make-vocab-size-divisible-by",
                                                 padding, megatron_take_size };
    const struct value_item *it = launch_option(c, divisible.name);
    int64_t tensor = launch_number(t, "/parallelism/tensor", 1), n;
    launch_take_rows(t, rows, &c->options);
    if (!launch_has(t, at) && !launch_is_unresolved(t, at))
        assume_vocabulary(t, c);
    if (!it || !size_of(t, it->value, &n) || n < 1 || n > VOCAB_PADDING_MAX)
        n = 128; /* arguments.py's default */
    struct value v = { .line = it ? it->value->line : c->command->line };
    const struct value_item from = { it ? it->key
                                        : "make-vocab-size-divisible-by's default",
                                     v.line, &v };
    launch_hear(t, it);
    if (tensor <= VOCAB_PADDING_MAX / n)
        launch_set(t, padding, json_integer((json_int_t)(n * tensor)), &from);
}

/* Which model it is, by the script's name. */
static void take_kind(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_word *w = &c->command->words[c->script];
    struct value v = { .line = c->command->line };
    const struct value_item from = { launch_last_part(w->text), v.line, &v };
    launch_set(t, "/model/model_type", json_string("megatron"), &from);
    if (strstr(from.key, "bert"))
        launch_set(t, "/model/encoder", json_true(), &from);
    if (strstr(from.key, "t5"))
        launch_add_unresolved(
            t, "/model", v.line,
            "%.60s: Megatron's models of an encoder and a decoder are not "
            "simulated; another of the size would do",
            from.key);
}

void megatron_settle_model(struct launch_context *t, const struct launch_command *c)
{
    static const struct launch_row of_experts = { "--moe-ffn-hidden-size",
                                                  "/model/ffn_hidden_size",
                                                  megatron_take_size };
    const struct value_item *it = launch_option(c, of_experts.name);
    take_kind(t, c);
    if (it && launch_option(c, "--num-experts")) {
        of_experts.take(t, &of_experts, it);
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
