/* The model of a gpt-neox configuration, in the words of models' family "neox_args". */
#include "dialect/gptneox/gptneox.h"

#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/launch/launch_tokenizer.h"

#include <inttypes.h>
#include <string.h>

enum { WIDTH_MAX = 1 << 20, PADDING_MAX = 1 << 16 };

/* A whole number of a key that is there and no null; `otherwise` else. */
static int64_t whole(const struct value *c, const char *key, int64_t otherwise)
{
    const struct value_item *it = value_get(c, key);
    int64_t n;
    return it && it->value->kind != VALUE_NONE && launch_whole(it->value, &n) &&
                   n > 0 && n <= WIDTH_MAX
               ? n
               : otherwise;
}

static const struct value_item *given(const struct value *c, const char *key)
{
    const struct value_item *it = value_get(c, key);
    return it && it->value->kind != VALUE_NONE ? it : NULL;
}

/* The MLP -------------------------------------------------------------------------- */

/* StableLM's fork has a word for it, and the activation is the gate's alone. */
static bool is_stable(const struct value *c)
{
    return strcmp(launch_word(c, "mlp_type", ""), "gated") == 0;
}

static bool is_gated(const struct value *c)
{
    static const char *const words[] = { "swiglu",   "geglu", "reglu",
                                         "bilinear", "glu",   NULL };
    return is_stable(c) || names_listed(words, launch_word(c, "activation", "gelu"));
}

/* The activation, in gpt-neox's words, and types of MLPs that are known. */
static void take_type(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/model/activation";
    static const char *const known[] = { "regular", "llama", "gated", NULL };
    const struct value_item *type = given(c, "mlp_type"),
                            *activation = given(c, "activation"),
                            *from = activation ? activation : type;
    const char *word = launch_word(c, "activation", "gelu");
    bool stable = is_stable(c), swish = strcmp(word, "silu") == 0;
    launch_hear(t, activation);
    launch_hear(t, stable ? type : NULL);
    if (type && !names_listed(known, launch_word(c, "mlp_type", "")))
        launch_unresolved_item(t, "/model/ffn_hidden_size", type, "type of MLP");
    if (activation && activation->value->kind != VALUE_STRING)
        launch_unresolved_item(t, at, activation, "name of an activation");
    else if (stable && !swish && strcmp(word, "gelu") != 0)
        launch_unresolved_item(t, at, type,
                               "MLP whose gate is simulated (of silu, gelu)");
    else if (from && (stable || activation))
        launch_set(t, at,
                   json_string(!stable ? word
                               : swish ? "swiglu"
                                       : "geglu"),
                   from);
}

/* Rounded up to a multiple. */
static int64_t up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* Of ParallelMLP (megatron/model/transformer.py): gated, 2/3 of the intermediate size
 * makes both inner products. 0: the two products do not fit each other. */
static int64_t width_of(int64_t size, bool gated, int64_t multiple)
{
    int64_t both = size * 2 / 3, inner = gated ? up(both / 2, multiple) : size;
    if (!gated)
        return up(size, 2 * multiple);
    return 2 * inner == up(both, 2 * multiple) ? inner : 0;
}

/* Before mlp_multiple_of was a key (2024-09), a gated MLP was LLaMAParallelMLP: the
 * intermediate size itself, or 8/3 of the hidden size, to a multiple of 256. */
static int64_t older_width(int64_t size, int64_t hidden)
{
    return up(size ? size : hidden * 8 / 3, 256);
}

static void take_width(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/model/ffn_hidden_size";
    const struct value_item *size = given(c, "intermediate_size"),
                            *factor = given(c, "expansion_factor"),
                            *multiple = given(c, "mlp_multiple_of"),
                            *type = given(c, "mlp_type"),
                            *many = given(c, "moe_num_experts");
    int64_t hidden = whole(c, "hidden_size", 0), n = whole(c, "intermediate_size", 0);
    bool gated = is_gated(c), experts = launch_has(t, "/model/moe_num_experts"),
         llama = type && strcmp(launch_word(c, "mlp_type", ""), "llama") == 0;
    double x;
    if (!n && factor && launch_real(factor->value, &x) && x > 0 && x < 1000)
        n = (int64_t)(x * (double)hidden);
    int64_t width = width_of(n ? n : 4 * hidden, gated, whole(c, "mlp_multiple_of", 1));
    bool older = gated && !multiple && (llama || (size && (n < 4 * hidden || !width)));
    launch_hear(t, size);
    launch_hear(t, factor);
    launch_hear(t, experts ? NULL : multiple);
    launch_hear(t, older && llama ? type : NULL);
    if (size && factor)
        diags_add(&t->l->loader->diags,
                  launch_diag(t->l, DIAG_CONTRADICTION, factor->line, 0),
                  "expansion_factor: intermediate_size is given, too (gpt-neox refuses "
                  "both: keep one)");
    if (!hidden)
        return;
    if (multiple && !experts && whole(c, "mlp_multiple_of", 0) < 1) {
        launch_unresolved_item(t, at, multiple, "whole number of at least 1");
        return;
    }
    if (experts)
        width = n ? n : up(4 * hidden, 256);
    else if (is_stable(c))
        width = up(n ? n : hidden * 8 / 3, whole(c, "mlp_multiple_of", 1));
    else if (older)
        width = older_width(n, hidden);
    if (gated && size && !multiple && !experts)
        launch_note(t->l, size->line, DIAG_ASSUMED,
                    "intermediate_size: releases before mlp_multiple_of (2024-09) make "
                    "a gated MLP that wide, later ones a third of it: %" PRId64
                    " is taken (give --set %s=N)",
                    width, at);
    if (width < 1)
        launch_add_unresolved(t, at, size ? size->line : 1,
                              "intermediate_size: 2/3 of %" PRId64
                              " is not divided into two products",
                              n);
    else if (gated || size || factor || experts)
        launch_set(t, at, json_integer((json_int_t)width),
                   size      ? size
                   : factor  ? factor
                   : experts ? many ? many : given(c, "num_experts")
                   : type ? type
                             : value_get(c, "activation"));
}

/* Words ---------------------------------------------------------------------------- */

/* megatron/tokenizer/tokenizer.py; words of GPT-NeoX-20B's and of character level.
 * `assumed`: another file of that class would have others. */
static struct launch_vocabulary words_of(struct launch_context *t,
                                         const struct value *c, bool *assumed)
{
    static const struct name_value types[] = {
        { "HFTokenizer", 50277 },
        { "CharLevelTokenizer", 512 },
        { "TiktokenTokenizer", 100277 },
        { NULL, 0 },
    };
    const char *type = launch_word(c, "tokenizer_type", "GPT2BPETokenizer"),
               *file = launch_word(c, "vocab_file", NULL);
    const char *name = file ? launch_path_end(file) : "";
    bool hf = strcmp(type, "HFTokenizer") == 0,
         pythia = strstr(name, "20B") || strstr(name, "neox") || strstr(name, "pythia");
    int n;
    *assumed = hf && !file;
    return names_find(types, type, &n) == 0 && (!hf || !file || pythia)
               ? (struct launch_vocabulary) { n, NULL }
               : launch_vocabulary_of(t, type, file);
}

static void take_words(struct launch_context *t, const struct value *c,
                       const struct value_item *type)
{
    static const char at[] = "/model/vocab_size";
    bool assumed;
    struct launch_vocabulary v = words_of(t, c, &assumed);
    const struct value_item *file = value_get(c, "vocab_file"),
                            *by = file ? file : type;
    launch_hear(t, type);
    launch_hear(t, file);
    if (!v.n)
        launch_add_unresolved(t, at, by ? by->line : 1,
                              "%s: how many words %.60s has is not known",
                              by ? by->key : "tokenizer_type",
                              launch_path_end(launch_word(
                                  c, file ? "vocab_file" : "tokenizer_type", "it")));
    else if (by)
        launch_set(t, at, json_integer((json_int_t)v.n), by);
    else
        launch_assume(t, at, json_integer((json_int_t)v.n), "tokenizer_type's default");
    if (v.by && file)
        launch_note(t->l, file->line, DIAG_ASSUMED,
                    "%s: how many words there are is taken to be %" PRId64
                    ", by %s (give --set %s=N)",
                    file->key, v.n, v.by, at);
    else if (v.n && assumed)
        launch_note(t->l, by ? by->line : 1, DIAG_ASSUMED,
                    "how many words %.60s has is in its file: %" PRId64
                    " are taken (give --set %s=N)",
                    launch_word(c, "tokenizer_type", "it"), v.n, at);
}

static void take_vocabulary(struct launch_context *t, const struct value *c)
{
    const struct value_item *type = given(c, "tokenizer_type"),
                            *padded = given(c, "padded_vocab_size"),
                            *by = given(c, "make_vocab_size_divisible_by");
    int64_t each = whole(c, "make_vocab_size_divisible_by", 128),
            tensor = launch_number(t, "/parallelism/tensor", 1), n;
    if (padded && launch_whole(padded->value, &n) && n > 0)
        launch_set(t, "/model/vocab_size", json_integer((json_int_t)n), padded);
    else
        take_words(t, c, type);
    launch_hear(t, by);
    if (tensor > PADDING_MAX / each)
        return;
    if (by)
        launch_set(t, "/training/vocab_padding",
                   json_integer((json_int_t)(each * tensor)), by);
    else
        launch_assume(t, "/training/vocab_padding",
                      json_integer((json_int_t)(each * tensor)),
                      "make_vocab_size_divisible_by's default");
}

/* Attention ------------------------------------------------------------------------ */

/* What the layers are, of attention_config: [[["global", "flash"], 12]] repeats kinds;
 * `kinds` says which of the words there are. */
struct kinds {
    bool flash, global;
    const char *other; /* NULL: no other kind */
};

static void add_kinds(struct kinds *k, const struct value *v, int depth)
{
    for (int32_t i = 0; v->kind == VALUE_LIST && i < v->n && depth < 4; i++)
        add_kinds(k, v->items[i].value, depth + 1);
    if (v->kind != VALUE_STRING || strcmp(v->text, "all") == 0)
        return;
    if (strcmp(v->text, "flash") == 0)
        k->flash = true;
    else if (strcmp(v->text, "global") == 0)
        k->global = true;
    else
        k->other = v->text;
}

void gptneox_take_attention(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/attention";
    static const char *const layers[] = { "mamba", "rwkv", "gmlp", "amlp", NULL };
    const struct value_item *it = given(c, "attention_config"),
                            *causal =
                                given(c, "scaled_upper_triang_masked_softmax_fusion"),
                            *masked = given(c, "scaled_masked_softmax_fusion");
    bool fused = (causal && launch_true(causal->value)) ||
                 (masked && launch_true(masked->value));
    struct kinds k = { .global = !it };
    if (it)
        add_kinds(&k, it->value, 0);
    launch_hear(t, it);
    if (k.other && names_listed(layers, k.other))
        diags_add(&t->l->loader->diags,
                  launch_diag(t->l, DIAG_NOT_SIMULATED, it->line, 0),
                  "attention_config: layers of \"%.40s\" are not simulated (those of "
                  "attention are)",
                  k.other);
    else if (k.other)
        launch_add_unresolved(t, at, it->line,
                              "attention_config: \"%.40s\" is no attention that is "
                              "simulated (global and flash are)",
                              k.other);
    else if (k.flash && k.global)
        launch_add_unresolved(t, at, it->line,
                              "attention_config: layers with and without flash "
                              "attention together are not simulated");
    if (k.other || (k.flash && k.global))
        return;
    if (k.flash) {
        launch_set(t, at, json_string("flash"), it);
        return;
    }
    const struct value_item *by =
        fused ? causal && launch_true(causal->value) ? causal : masked : it;
    launch_hear(t, fused ? causal : NULL);
    launch_hear(t, fused ? masked : NULL);
    if (by)
        launch_set(t, at, json_string(fused ? "fused-softmax" : "unfused"), by);
    else
        launch_assume(t, at, json_string("unfused"), "attention_config's default");
}

/* All of it ------------------------------------------------------------------------ */

/* A switch that is on by default. */
static void take_bias(struct launch_context *t, const struct value *c, const char *key,
                      const char *pointer)
{
    const struct value_item *it = given(c, key);
    launch_hear(t, it);
    if (it && !launch_true(it->value))
        launch_set(t, pointer, json_false(), it);
}

static void take_positions(struct launch_context *t, const struct value *c)
{
    const char *word = launch_word(c, "pos_emb", "learned");
    if (strcmp(word, "rpe") == 0)
        launch_note(t->l, value_get(c, "pos_emb")->line, DIAG_NOT_SIMULATED,
                    "pos_emb: the learned relative positions of \"rpe\" are not "
                    "simulated");
}

/* StableLM's fork: a word for one head of keys and values. */
static void take_heads(struct launch_context *t, const struct value *c)
{
    static const char *const known[] = { "multihead", "groupedquery", "multiquery",
                                         NULL };
    const struct value_item *it = given(c, "attention_head_type");
    launch_hear(t, it);
    if (it && !names_listed(known, launch_word(c, "attention_head_type", "")))
        launch_unresolved_item(t, "/model/num_kv_heads", it, "type that is known");
    else if (strcmp(launch_word(c, "attention_head_type", ""), "multiquery") == 0 &&
             !given(c, "num_kv_heads"))
        launch_set(t, "/model/num_kv_heads", json_integer(1), it);
}

void gptneox_take_model(struct launch_context *t, const struct value *c)
{
    const struct value_item *layers = given(c, "num_layers"),
                            *top = given(c, "moe_top_k");
    if (!layers) /* a file of the job's other half */
        return;
    launch_set(t, "/model/model_type", json_string("neox_args"), layers);
    launch_take_rows(t, gptneox_model_rows, c);
    take_bias(t, c, "use_bias_in_attn_linear", "/model/use_bias_in_attn_linear");
    take_bias(t, c, "use_bias_in_mlp", "/model/use_bias_in_mlp");
    if (top && launch_has(t, "/model/moe_num_experts")) {
        launch_set(t, "/model/moe_top_k",
                   json_integer((json_int_t)whole(c, "moe_top_k", 1)), top);
        launch_hear(t, top);
    }
    take_positions(t, c);
    take_heads(t, c);
    take_type(t, c);
    take_width(t, c);
    take_vocabulary(t, c);
}
