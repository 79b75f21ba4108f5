/* A decoder of a program's own by its sizes: each by the names that programs have for it,
 * as a model in Megatron-LM's words, which say each choice by itself. */
#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/usual/usual.h"

#include <inttypes.h>
#include <string.h>

enum { DEPTH = 5, NAMES_MAX = 14, LARGEST = 1 << 24, RATIO_MAX = 1 << 20 };

#define MODEL "/model/"

/* clang-format off */
static const struct {
    const char *const names[NAMES_MAX], *at; /* "": a width of MLPs in hidden sizes */
} sizes[] = {
    { { "d_model", "n_embd", "n_embed", "hidden_size", "embed_dim", "emb_dim", "embedding_dim", "model_dim", "dim", "hidden_dim" }, "hidden_size" },
    { { "n_layers", "num_layers", "n_layer", "num_hidden_layers", "depth", "n_blocks", "num_blocks" }, "num_layers" },
    { { "n_heads", "num_heads", "n_head", "num_attention_heads", "nhead", "n_q_heads", "num_query_heads" }, "num_attention_heads" },
    { { "n_kv_heads", "num_kv_heads", "n_kv_head", "num_key_value_heads", "kv_heads" }, "num_query_groups" },
    { { "head_dim", "d_head" }, "kv_channels" },
    { { "d_ff", "d_ffn", "ffn_dim", "ffn_hidden_size", "intermediate_size", "d_mlp", "dim_feedforward", "mlp_dim", "hidden_dim", "mlp_hidden_dim", "ffn_hidden_dim", "intermediate_dim", "ff_dim" }, "ffn_hidden_size" },
    { { "mlp_ratio", "ffn_mult", "ffn_multiplier", "mlp_expansion", "ffn_ratio" }, "" },
    { { "vocab_size", "n_vocab", "vocabulary_size" }, "vocab_size" },
};
static const char *const lengths[] = { "seq_length", "seq_len", "sequence_length", "train_seq_len", "max_seq_length", "max_seq_len", "context_length", "context_len", "block_size", "max_length", NULL },
                        *const contexts[] = { "max_position_embeddings", "n_ctx", "n_positions", "block_size", "max_seq_len", "context_length", "max_seq_length", NULL };
static const char *const dtypes[] = { "dtype", "torch_dtype", "compute_dtype", NULL };
static const char *const sections[] = { "model", "model_config", "model_args", "arch", "architecture", "network", "transformer", "gpt", "llm", "decoder", NULL };
/* What such a decoder has not: encoders, pictures, classes. */
static const char *const others[] = {
    "num_encoder_layers", "encoder_layers", "n_encoder_layers", "patch_size", "image_size", "img_size", "num_classes", "in_channels", "timesteps", "num_timesteps", "n_mels", "d_state", "ssm",
    "codebook_size", "latent_dim", "z_dim", "n_features", "num_labels", NULL,
};
/* Parts of names of layers that no words of Megatron-LM's describe here. */
static const char *const strange[] = {
    "expert", "moe", "router", "mla", "latent", "lora_rank", "mamba", "ssm", "rnn", "gru", "lstm", "rwkv", "conv", "hyena", "retnet", "delta", "linear_att", "mtp", "layer_types", "layer_pattern", "hybrid",
    "encoder", "vision", "audio", "image", "bidirectional", "teacher", "student", "discriminator", "diffusion", "unet", "vae", NULL,
};
/* Sections of other models next to the decoder's. */
static const char *const towers[] = { "vision", "vlm", "image_encoder", "audio_encoder", "speech_encoder", "teacher", "student", NULL };
/* Words of Meta's Llama (llama/model.py, FeedForward): MLPs are 8/3 hidden sizes, so many times, to a multiple. */
static const char *const multiples[] = { "multiple_of", NULL }, *const multipliers[] = { "ffn_dim_multiplier", NULL };
static const char *const widths[] = { "d_model", "n_embd", "n_embed", "hidden_size", "embed_dim", "emb_dim", "embedding_dim", "model_dim", NULL };
static const char *const norms[] = { "norm_cls", "norm_type", "normalization", "norm", "norm_layer", "use_rms_norm", "rmsnorm", "use_rmsnorm", "rms_norm", NULL },
                        *const rms_eps[] = { "rms_norm_eps", "rms_eps", NULL }, *const layer_eps[] = { "layer_norm_eps", "layer_norm_epsilon", "layernorm_eps", NULL };
static const char *const gates[] = { "swiglu", "use_swiglu", "gated_mlp", "glu", "mlp_type", "ffn_type", "mlp_cls", "mlp", "ffn", "activation", "activation_function", "activation_type", "hidden_act", "act", NULL };
static const char *const ropes[] = { "rope_theta", "rope_base", "rotary_base", "rope_scaling", "rotary_pct", "rope", NULL },
                        *const positions[] = { "use_rope", "use_rotary", "pos_emb_cls", "pos_emb", "pos_encoding", "positional_encoding", "position_embedding", "position_embedding_type", "pos_embedding", "positional_embedding", NULL };
static const char *const ties[] = { "tie_word_embeddings", "tie_embeddings", "tie_weights", "weight_tying", "tied_embeddings", "share_embeddings", "tie_emb", "tie_lm_head", NULL };
static const char *const biases[] = { "bias", "use_bias", "mlp_bias", "linear_bias", "attention_bias", NULL };
static const char *const qk_norms[] = { "qk_norm", "use_qk_norm", "qk_layernorm", NULL };
static const char *const gpt_words[] = { "n_embd", NULL };
static const char *const hub_words[] = { "num_hidden_layers", NULL, "intermediate_size", NULL };
static const char *const idle[] = { "dropout", "resid_dropout", "embd_dropout", "attention_dropout", "attn_dropout", "hidden_dropout", "norm_eps", "eps", "init_std", "initializer_range", "vocab_multiple", NULL };
/* clang-format on */

static bool is_container(const struct value *v)
{
    return v->kind == VALUE_DICT || (v->kind == VALUE_LIST && v->n == 1);
}

/* The item of one name, wherever in the section; taken out of it. */
static const struct value_item *take_name(struct launch_context *t, struct value *v,
                                          const char *name, int depth)
{
    for (int32_t i = 0; is_container(v) && i < v->n; i++) {
        const struct value_item *it = &v->items[i], *in;
        if (it->key && strcmp(it->key, name) == 0 && it->value->kind != VALUE_NONE) {
            struct value_item *own = ARENA_NEW(t->arena, struct value_item);
            *own = *it;
            value_remove(v, i);
            return own;
        }
        in = depth > 1 ? take_name(t, it->value, name, depth - 1) : NULL;
        if (in)
            return in;
    }
    return NULL;
}

static const struct value_item *take(struct launch_context *t, struct value *v,
                                     const char *const *names)
{
    const struct value_item *it = NULL;
    for (int i = 0; i < NAMES_MAX && names[i] && !it; i++)
        it = take_name(t, v, names[i], DEPTH);
    return it;
}

/* The section of the model, or the document. */
static struct value *section_of(const struct value *root)
{
    for (const char *const *s = sections; *s; s++) {
        struct value *v = value_member(root, *s);
        if (v && v->kind == VALUE_DICT)
            return v;
    }
    return (struct value *)(uintptr_t)root;
}

bool usual_has_sizes(const struct value *root)
{
    const struct value *model = section_of(root);
    const struct value_item *width = usual_value(model, sizes[0].names, DEPTH),
                            *layers = usual_value(model, sizes[1].names, DEPTH);
    return width && layers && width->value->kind == VALUE_INT &&
           layers->value->kind == VALUE_INT && !usual_value(root, others, DEPTH);
}

/* Choices ---------------------------------------------------------------------------- */

/* 1 and 0: the item says so, by a switch or a text with a word; -1: it does not. */
static int says(const struct value_item *it, const char *const *yes,
                const char *const *no)
{
    if (it && it->value->kind == VALUE_BOOL)
        return it->value->integer != 0;
    const char *text = it && it->value->kind == VALUE_STRING ? it->value->text : "";
    return names_mentioned(yes, text) ? 1 : names_mentioned(no, text) ? 0 : -1;
}

struct choices {
    const struct value_item *norm, *gate, *position, *rope, *tie, *bias, *qk;
    int rms, gated, rotary;
    int modern; /* marks of Llama's way */
    bool llama; /* in the words of transformers' LlamaConfig, whose defaults hold */
    bool gpt;   /* in GPT2Config's, whose MLPs are plain and 4 times as wide */
};

static struct choices choices_of(struct launch_context *t, struct value *model)
{
    static const char *const rms[] = { "rms", NULL },
                             *const layer[] = { "layer", NULL },
                             *const glu[] = { "glu", "gated", NULL },
                             *const plain[] = { "gelu", "relu", NULL },
                             *const rope[] = { "rope", "rotary", NULL },
                             *const learned[] = { "learn", "absolute", NULL };
    struct choices c = { .norm = take(t, model, norms),
                         .gate = take(t, model, gates),
                         .position = take(t, model, positions),
                         .rope = take(t, model, ropes),
                         .tie = take(t, model, ties),
                         .bias = take(t, model, biases),
                         .qk = take(t, model, qk_norms) };
    const struct value_item *eps = take(t, model, rms_eps),
                            *old = take(t, model, layer_eps);
    c.rms = says(c.norm, rms, layer);
    c.gated = says(c.gate, glu, plain);
    c.rotary = c.rope ? 1 : says(c.position, rope, learned);
    if (c.rms < 0 && (eps || old))
        c.rms = eps != NULL, c.norm = eps ? eps : old;
    c.modern = (c.rms == 1) + (c.gated == 1) + (c.rotary == 1);
    c.llama = eps && strcmp(eps->key, "rms_norm_eps") == 0 &&
              usual_value(model, hub_words, DEPTH) &&
              usual_value(model, hub_words + 2, DEPTH);
    c.gpt = !c.modern && c.gated < 1 && usual_value(model, gpt_words, DEPTH);
    return c;
}

static void set(struct launch_context *t, const char *key, json_t *value,
                const struct value_item *it)
{
    launch_set(t, launch_pointer(t, "/model", key), value, it);
}

static void ask(struct launch_context *t, const char *key, int64_t line,
                const char *example, const char *what)
{
    const char *at = launch_pointer(t, "/model", key);
    if (launch_is_unresolved(t, at)) /* as its value is none */
        return;
    launch_add_unresolved(t, at, line, "the program's own model: %s is not said", what);
    if (example)
        launch_add_example(t, at, example);
}

/* The gate is a third product, and the head a second table: both are asked for. */
static void take_products(struct launch_context *t, const struct choices *c,
                          bool modern, int64_t line)
{
    if (c->gated >= 0)
        set(t, "swiglu", json_boolean(c->gated), c->gate);
    else if (c->llama || c->gpt)
        launch_assume(t, MODEL "swiglu", json_boolean(c->llama),
                      c->llama ? "as in LlamaConfig's words"
                               : "as in GPT2Config's words");
    else
        ask(t, "swiglu", c->gate ? c->gate->line : line, modern ? "true" : "false",
            "whether MLPs have a gate (SwiGLU)");
    if (c->tie && c->tie->value->kind == VALUE_BOOL)
        set(t, "untie_embeddings_and_output_weights",
            json_boolean(!c->tie->value->integer), c->tie);
    else if (c->llama)
        launch_assume(t, MODEL "untie_embeddings_and_output_weights", json_true(),
                      "as in LlamaConfig's words");
    else
        ask(t, "untie_embeddings_and_output_weights", line, modern ? "true" : "false",
            "whether the head has weights of its own, apart from the embedding's,");
}

/* Norms and positions hardly change a step: those of a kind go with what is said. */
static void take_choices(struct launch_context *t, const struct choices *c,
                         int64_t groups, int64_t line)
{
    bool modern = c->modern > 1 || (c->modern && groups),
         rms = c->rms < 0 ? modern : c->rms,
         rotary = c->rotary < 0 ? modern : c->rotary;
    if (c->norm)
        set(t, "normalization", json_string(rms ? "RMSNorm" : "LayerNorm"), c->norm);
    else
        launch_assume(t, MODEL "normalization",
                      json_string(rms ? "RMSNorm" : "LayerNorm"),
                      modern ? "as the rest is Llama's" : "as GPT-2's");
    const struct value_item *from = c->rope ? c->rope : c->position;
    const char *kind = rotary ? "rope" : "learned_absolute";
    if (from && c->rotary >= 0)
        set(t, "position_embedding_type", json_string(kind), from);
    else
        launch_assume(t, MODEL "position_embedding_type", json_string(kind),
                      modern ? "as the rest is Llama's" : "as GPT-2's");
    if (c->bias && c->bias->value->kind == VALUE_BOOL)
        set(t, "add_bias_linear", json_boolean(c->bias->value->integer), c->bias);
    else
        launch_assume(t, MODEL "add_bias_linear", json_boolean(!modern),
                      modern ? "as the rest is Llama's" : "as GPT-2's");
    if (c->qk && launch_true(c->qk->value))
        set(t, "qk_layernorm", json_true(), c->qk);
    take_products(t, c, modern, line);
}

/* Sizes ------------------------------------------------------------------------------ */

static void take_ratio(struct launch_context *t, const struct value_item *it,
                       int64_t hidden)
{
    double ratio;
    if (!launch_has(t, MODEL "ffn_hidden_size") && launch_real(it->value, &ratio) &&
        ratio > 0 && ratio <= RATIO_MAX)
        set(t, "ffn_hidden_size", json_integer((json_int_t)(ratio * (double)hidden)),
            it);
}

static void take_numbers(struct launch_context *t, struct value *root,
                         struct value *model)
{
    int64_t n, hidden = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct value_item *it = take(t, model, sizes[i].names);
        if (!it && strcmp(sizes[i].at, "vocab_size") == 0)
            it = take(t, root, sizes[i].names);
        if (!it)
            continue;
        if (!*sizes[i].at)
            take_ratio(t, it, hidden);
        else if (launch_whole(it->value, &n) && n > 0 && n <= LARGEST)
            set(t, sizes[i].at, json_integer((json_int_t)n), it);
        else
            launch_unresolved_item(t, launch_pointer(t, "/model", sizes[i].at), it,
                                   "whole number from 1 to 16777216");
        if (i == 0)
            hidden = n > 0 && n <= LARGEST ? n : 0;
    }
}

/* The item of a name outside the model's section; taken out. */
static const struct value_item *take_outside(struct launch_context *t,
                                             struct value *root,
                                             const struct value *model,
                                             const char *const *names)
{
    for (; *names; names++)
        for (int32_t i = 0; i < root->n; i++) {
            struct value_item *own = ARENA_NEW(t->arena, struct value_item);
            const struct value_item *in;
            *own = root->items[i];
            if (own->value == model)
                continue;
            if (strcmp(own->key, *names) == 0 && own->value->kind == VALUE_INT) {
                value_remove(root, i);
                return own;
            }
            in = take_name(t, own->value, *names, DEPTH);
            if (in)
                return in;
        }
    return NULL;
}

/* Sequences are as long as the data's, then as the model's positions, which are those of
 * a model of these sizes (`sized`). */
static void take_length(struct launch_context *t, struct value *root,
                        struct value *model, bool sized)
{
    const struct value_item *it = root == model ? NULL
                                                : take_outside(t, root, model, lengths),
                            *own;
    int64_t n = 0;
    it = it ? it : take(t, model, lengths);
    own = take(t, model, contexts);
    it = it ? it : own;
    own = own ? own : it;
    if (it && launch_whole(it->value, &n) && n > 0)
        launch_set(t, "/training/sequence_length", json_integer((json_int_t)n), it);
    if (sized && own && launch_whole(own->value, &n) && n > 0)
        set(t, "max_position_embeddings", json_integer((json_int_t)n), own);
}

/* Programs of one's own have attention of any kind. */
static void ask_attention(struct launch_context *t, struct value *root,
                          struct value *model, int64_t line)
{
    static const char *const own[] = { "attn_impl", "attention_impl", "attn_backend",
                                       "attention_backend", NULL };
    static const char at[] = "/training/attention";
    static const char *const said[] = { "attn_implementation",
                                        "attention_implementation",
                                        "use_flash_attention",
                                        "flash_attention",
                                        "flash_attention_2",
                                        "use_flash_attn",
                                        NULL };
    const struct value_item *it = take(t, model, own);
    if (it && !value_get(root, said[0]))
        value_add(t->arena, root, said[0], it->line, it->value);
    if (usual_value(root, said, DEPTH))
        return;
    launch_add_unresolved(t, at, line,
                          "the program's own model: whether attention is fused "
                          "(scaled_dot_product_attention, flash-attn) is not said");
    launch_add_example(t, at, "sdpa");
}

/* A type of 16 bits is autocast's or the weights'. */
static void take_dtype(struct launch_context *t, struct value *root)
{
    static const char at[] = "/training/precision";
    const struct value_item *it = usual_value(root, dtypes, DEPTH);
    const char *text = it && it->value->kind == VALUE_STRING ? it->value->text : "";
    bool brain = peft_has(text, "bf16") || peft_has(text, "bfloat16"),
         half = peft_has(text, "fp16") || peft_has(text, "float16");
    if (!brain && !half)
        return;
    it = take(t, root, dtypes);
    launch_add_unresolved(
        t, at, it->line,
        "%s: whether weights are in it (bf16) or autocast computes in "
        "it (amp_bf16) is the program's own",
        it->key);
    launch_add_example(t, at, brain ? "amp_bf16" : "amp_fp16");
}

/* What MLPs have where nothing is said: 4 hidden sizes, or with a gate 8/3. */
static const char *usual_width(struct launch_context *t, bool gated)
{
    int64_t hidden = launch_number(t, MODEL "hidden_size", 0),
            wide = gated ? hidden * 8 / 3 / 64 * 64 : hidden * 4;
    return wide > 0 ? arena_printf(t->arena, "%" PRId64, wide) : NULL;
}

/* A section of which nothing is left but sections. */
static void drop_rest(struct value *root, const struct value *model)
{
    for (int32_t i = 0; i < model->n; i++)
        if (!is_container(model->items[i].value))
            return;
    for (int32_t i = 0; i < root->n; i++)
        if (root->items[i].value == model)
            value_remove(root, i--);
}

/* What the section says of layers of other kinds, or of more than one kind; NULL. */
static const struct value_item *strange_in(const struct value *v, bool texts, int depth)
{
    for (int32_t i = 0; v->kind >= VALUE_LIST && i < v->n; i++) {
        const struct value_item *it = &v->items[i];
        const char *text = it->value->kind == VALUE_STRING ? it->value->text : NULL;
        int64_t n = 1;
        if (launch_is_off(it->value) || (launch_whole(it->value, &n) && n == 0))
            continue;
        bool several = it->value->kind == VALUE_LIST && it->value->n > 1 &&
                       it->value->items[0].value->kind == VALUE_DICT;
        if (several || names_mentioned(strange, it->key) ||
            (texts && text && names_mentioned(strange, text)))
            return it;
        const struct value_item *in =
            depth > 1 ? strange_in(it->value, texts, depth - 1) : NULL;
        if (in)
            return in;
    }
    return NULL;
}

/* A section of another model next to the decoder's, unless it is off. */
static const struct value_item *tower_in(const struct value *root,
                                         const struct value *model)
{
    for (int32_t i = 0; model != root && i < root->n; i++) {
        const struct value_item *it = &root->items[i];
        const struct value_item *on = value_get(it->value, "enabled");
        if (it->value->kind == VALUE_DICT && it->value->n && it->value != model &&
            names_mentioned(towers, it->key) && !(on && launch_is_off(on->value)))
            return it;
    }
    return NULL;
}

/* The width of another stack, where several are; NULL. */
static const struct value_item *second_width(const struct value *v, int *n, int depth)
{
    for (int32_t i = 0; v->kind >= VALUE_LIST && i < v->n; i++) {
        const struct value_item *it = &v->items[i], *in;
        bool width =
            it->key && names_listed(widths, it->key) && it->value->kind == VALUE_INT;
        if (width && ++*n > 1)
            return it;
        in = depth > 1 ? second_width(it->value, n, depth - 1) : NULL;
        if (in)
            return in;
    }
    return NULL;
}

/* MLPs of Meta's Llama by its words. */
static void take_llama_width(struct launch_context *t, struct value *model,
                             struct choices *c)
{
    const struct value_item *to = take(t, model, multiples),
                            *by = take(t, model, multipliers);
    int64_t hidden = launch_number(t, MODEL "hidden_size", 0), multiple, n;
    double times = 1;
    if (!to || !launch_whole(to->value, &multiple) || multiple < 1 ||
        multiple > LARGEST || hidden < 1 || hidden > LARGEST ||
        launch_has(t, MODEL "ffn_hidden_size"))
        return;
    n = 8 * hidden / 3;
    if (by && launch_real(by->value, &times) && times > 0 && times <= RATIO_MAX)
        n = (int64_t)(times * (double)n);
    n = (n + multiple - 1) / multiple * multiple;
    set(t, "ffn_hidden_size", json_integer((json_int_t)n), to);
    if (c->gated < 0)
        c->gated = 1, c->gate = to;
}

void usual_take_sizes(struct launch_context *t, struct value *root)
{
    struct value *model = section_of(root);
    const struct value_item *other = strange_in(model, model != root, DEPTH);
    if (!other)
        other = second_width(model, &(int) { 0 }, DEPTH);
    if (!other)
        other = tower_in(root, model);
    int64_t line = model->line ? model->line : 1;
    if (other) {
        launch_add_unresolved(
            t, "/model", other->line,
            "%.40s: layers but plain attention and MLPs are not known "
            "by a document",
            other->key ? other->key : "layers");
        take_length(t, root, model, false);
        take_dtype(t, root);
        return;
    }
    struct choices c = choices_of(t, model);
    take_numbers(t, root, model);
    take_llama_width(t, model, &c);
    launch_set(t, MODEL "model_type", json_string("megatron"),
               &(const struct value_item) { "the program's own sizes", line, model });
    take_choices(t, &c, launch_has(t, MODEL "num_query_groups"), line);
    take_length(t, root, model, true);
    if (!launch_has(t, MODEL "num_attention_heads"))
        ask(t, "num_attention_heads", line, NULL, "how many heads attention has");
    if (!launch_has(t, MODEL "vocab_size"))
        ask(t, "vocab_size", line, NULL, "how many entries the vocabulary has");
    if (c.gpt && !launch_has(t, MODEL "ffn_hidden_size"))
        launch_assume(
            t, MODEL "ffn_hidden_size",
            json_integer(4 * (json_int_t)launch_number(t, MODEL "hidden_size", 0)),
            "as in GPT2Config's words");
    if (!launch_has(t, MODEL "ffn_hidden_size"))
        ask(t, "ffn_hidden_size", line, usual_width(t, c.gated != 0 && c.modern),
            "how wide MLPs are");
    take_dtype(t, root);
    ask_attention(t, root, model, line);
    while (take(t, model, idle))
        ;
    drop_rest(root, model);
}
