/* The model: sizes and choices as a "megatron" model, with the defaults of
 * megatron_gpt_model.py (NeMo v2.0, cfg.get), or the checkpoint that is tuned. */
#include "dialect/launch/launch_shell.h"
#include "dialect/launch/launch_tokenizer.h"
#include "dialect/nemo/nemo.h"

#include "dialect/trainer/trainer.h"
#include "model/hub.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { PADDING_MAX = 1 << 16 };

/* Choices -------------------------------------------------------------------------- */

static void set_word(const struct nemo *n, const char *pointer, const char *name,
                     const char *otherwise)
{
    const struct value_item *it = nemo_find(n, NEMO_MODEL, name);
    char *word = arena_strdup(n->t->arena, nemo_word(n, NEMO_MODEL, name, otherwise));
    for (char *c = word; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    nemo_set(n, pointer, json_string(word), it,
             arena_printf(n->t->arena, "%s's default", name));
}

/* "fast-swiglu", "geglu" and "reglu" have a gate; the others are functions alone. */
static void take_activation(const struct nemo *n)
{
    const struct value_item *it = nemo_find(n, NEMO_MODEL, "activation");
    const char *word = nemo_word(n, NEMO_MODEL, "activation", "gelu");
    size_t len = strlen(word);
    bool gated = len > 3 && strcmp(word + len - 3, "glu") == 0;
    if (strcmp(word, "squared-relu") == 0)
        nemo_set(n, "/model/activation", json_string("squared_relu"), it, "");
    nemo_set(n, "/model/swiglu", json_boolean(gated), it, "activation's default");
}

static void take_tie(const struct nemo *n)
{
    bool t5 = launch_has(n->t, "/model/encoder_decoder");
    const char *name = t5 ? "share_decoder_tokens_head_embeddings"
                          : "share_embeddings_and_output_weights";
    const struct value_item *it = nemo_find(n, NEMO_MODEL, name);
    bool tied = nemo_is_on(n, NEMO_MODEL, name, true);
    nemo_set(n, "/model/untie_embeddings_and_output_weights", json_boolean(!tied), it,
             arena_printf(n->t->arena, "%s' default", name));
}

/* BERT's binary head, and T5's sections for encoder and decoder, say which it is. */
static void take_kind(const struct nemo *n)
{
    const struct value_item *binary =
                                value_get(n->part[NEMO_MODEL], "bert_binary_head"),
                            *decoder = value_get(n->part[NEMO_REST],
                                                 "model.decoder.num_layers"),
                            *length = value_get(n->part[NEMO_REST],
                                                "model.data.seq_length_dec");
    int64_t layers;
    nemo_set(n, "/model/model_type", json_string("megatron"), NULL, "NeMo's model");
    if (binary) {
        bool pairs = nemo_is_on(n, NEMO_MODEL, "bert_binary_head", true);
        nemo_set(n, "/model/encoder", json_true(), binary, "");
        nemo_set(n, "/training/task", json_string(pairs ? "pretraining" : "masked-lm"),
                 binary, "");
    }
    if (!decoder)
        return;
    nemo_set(n, "/model/encoder_decoder", json_true(), decoder, "");
    nemo_set(n, "/training/task", json_string("seq2seq"), decoder, "");
    if (launch_whole(decoder->value, &layers) && layers > 0)
        nemo_set(n, "/model/decoder_num_layers", json_integer((json_int_t)layers),
                 decoder, "");
    if (length && launch_whole(length->value, &layers) && layers > 0)
        nemo_set(n, "/training/decoder_length", json_integer((json_int_t)layers),
                 length, "");
}

/* The vocabulary ------------------------------------------------------------------- */

static int64_t words_of_tokenizer(struct launch_context *t, const char *name)
{
    int64_t n = launch_words_of_class(t, name);
    return n || !hub_is_id(name) ? n : launch_words_of_hub(t, name);
}

/* What the file says of it: its tokenizer's size, name, file; then the names that the
 * run has. */
static void take_vocabulary(const struct nemo *n)
{
    static const char at[] = "/model/vocab_size";
    static const char *const exact[] = { "override_vocab_size", "vocab_size" };
    static const char *const names[] = {
        "model.tokenizer.type", "model.tokenizer.model",
        "run.model_train_name", "run.name",
        "exp_manager.name",     "name"
    };
    struct launch_context *t = n->t;
    int64_t words = 0;
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
        const struct value_item *it = nemo_find(n, NEMO_MODEL, exact[i]);
        if (it && launch_whole(it->value, &words) && words > 0)
            nemo_set(n, at, json_integer((json_int_t)words), it, "");
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value_item *it = nemo_find(n, NEMO_REST, names[i]);
        if (!it || !it->value->text || launch_has(t, at))
            continue;
        words = words_of_tokenizer(t, it->value->text);
        bool guessed = !words && (words = launch_words_within(t, it->value->text)) > 0;
        if (words)
            nemo_set(n, at, json_integer((json_int_t)words), it, "");
        if (guessed)
            launch_note(t->l, it->line, DIAG_ASSUMED,
                        "how many entries the vocabulary has is taken to be %" PRId64
                        ", by the name \"%.60s\" (give --set /model/vocab_size=N)",
                        words, it->value->text);
    }
    if (!launch_has(t, at))
        launch_add_unresolved(t, at, t->l->line,
                              "model.tokenizer: how many entries the vocabulary has "
                              "is not known");
}

static void take_padding(const struct nemo *n)
{
    const struct value_item *it =
        nemo_find(n, NEMO_MODEL, "make_vocab_size_divisible_by");
    int64_t tensor = launch_number(n->t, "/parallelism/tensor", 1), each = 128;
    if (it && (!launch_whole(it->value, &each) || each < 1 || each > PADDING_MAX))
        each = 128;
    if (!nemo_find(n, NEMO_MODEL, "override_vocab_size") &&
        tensor <= PADDING_MAX / each)
        nemo_set(n, "/training/vocab_padding",
                 json_integer((json_int_t)(each * tensor)), it,
                 "make_vocab_size_divisible_by's default");
    launch_hear(n->t, it);
}

/* All of it ------------------------------------------------------------------------ */

static void take_sizes(const struct nemo *n)
{
    struct launch_context *t = n->t;
    const struct value_item *bias = nemo_find(n, NEMO_MODEL, "bias");
    take_kind(n);
    launch_take_rows(t, nemo_width_rows, n->part[NEMO_MODEL]);
    set_word(n, "/model/normalization", "normalization", "layernorm");
    set_word(n, "/model/position_embedding_type", "position_embedding_type",
             "learned_absolute");
    take_activation(n);
    nemo_set(n, "/model/add_bias_linear",
             json_boolean(nemo_is_on(n, NEMO_MODEL, "bias", true)), bias,
             "bias' default");
    take_tie(n);
    nemo_set(n, "/model/hidden_dropout", json_real(0.1), NULL,
             "hidden_dropout's default");
    nemo_set(n, "/model/attention_dropout", json_real(0.1), NULL,
             "attention_dropout's default");
    take_vocabulary(n);
    take_padding(n);
}

/* A checkpoint's model, where a name of the run is a known one. */
static void take_checkpoint(const struct nemo *n)
{
    static const char *const names[] = { "run.model_train_name" };
    const struct value_item *from = nemo_find(n, NEMO_MODEL, "restore_from_path");
    launch_hear(n->t, from);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value_item *it = nemo_find(n, NEMO_REST, names[i]);
        const char *id = NULL;
        struct cfg known = { 0 };
        if (it && it->value->text)
            known = launch_flavor(n->t, "nemo", it->value->text);
        if (known.json && cfg_string(known, &id) == 0)
            nemo_set(n, "/model", json_string(id), it, "");
        launch_hear(n->t, it);
    }
    if (!launch_has(n->t, "/model"))
        launch_add_unresolved(n->t, "/model", from ? from->line : n->t->l->line,
                              "restore_from_path: which model the checkpoint holds is "
                              "not known without it");
}

void nemo_take_model(const struct nemo *n)
{
    if (nemo_find(n, NEMO_MODEL, "num_layers"))
        take_sizes(n);
    else
        take_checkpoint(n);
}
