/* A transformer, as its Hugging Face config.json describes it.
 *
 * Shipped in models/NAME.json, given by path, or inline in a scenario; field names by
 * family (model_type). Only sizes and choices that decide parameters, FLOPs and bytes
 * are kept.
 *
 * Files of this folder:
 *     model*, hub                     a config.json as a transformer; those of known ids
 *     families/                       what each family's file calls its fields, how they
 *                                     are read and checked
 *     pattern, vision*                layers of several kinds; towers
 *     framework, recipe, formats      the profile of a software stack; precisions
 *     ops*, build/, share:
 *         the operator list, its rows, what a tensor group splits
 *     shape, precision                sizes of tensors; number formats of a step */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "config/cfg.h"

enum model_arch { MODEL_ENCODER, MODEL_DECODER, MODEL_ENCODER_DECODER };

/* What is on top of the last layer and makes the loss. */
enum model_head {
    MODEL_HEAD_NONE,
    MODEL_HEAD_CAUSAL_LM, /* logits of every position */
    MODEL_HEAD_MASKED_LM, /* dense, activation, norm, logits of predicted positions */
    MODEL_HEAD_PRETRAIN,  /* masked LM and next-sentence (BERT) */
    MODEL_HEAD_SPAN,      /* question answering: two logits a position */
    MODEL_HEAD_CLASS,     /* pooler and a few classes */
    MODEL_HEAD_SCORE,     /* a decoder's: scores of every position without a bias, of
                             which the last is taken (transformers 4.57,
                             modeling_layers.py, GenericForSequenceClassification) */
    MODEL_HEAD_DENOISE,   /* patches, against those without noise (diffusion) */
    MODEL_HEAD_CONTRAST,  /* one vector, against those of the other tower (CLIP) */
};

/* The MLP's activation, by what eager code makes of it. */
enum model_activation {
    MODEL_ACTIVATION_KERNEL,       /* one kernel: gelu, relu, silu, ... */
    MODEL_ACTIVATION_GELU_NEW,     /* tanh's approximation, in Python */
    MODEL_ACTIVATION_GELU_FAST,    /* the same, multiplied out */
    MODEL_ACTIVATION_SQUARED_RELU, /* relu, then its square (Nemotron) */
    MODEL_ACTIVATION_N
};

/* Attention of a layer. */
struct model_attention {
    int64_t heads, kv_heads, head_dim;
    int64_t value_dim; /* columns of a head's values; 0: head_dim */
    /* columns of the query and of the key projection: heads x head_dim, but GPT-2's
     * are always `hidden` wide */
    int64_t q_width, kv_width;
    /* Latent attention (DeepSeek): keys and values come of so many columns a token,
     * and of a rotary key that all heads share; 0: attention is not latent. Queries
     * likewise; 0: of the residual stream. */
    int64_t latent_kv, latent_rope, latent_q;
    /* weights of the norms of queries and keys, the head_dim or all columns; 0: none */
    int64_t q_norm, k_norm;
    int64_t window;           /* keys that a token sees ... */
    double windowed_share;    /* ... in this share of the layers */
    int64_t relative_buckets; /* T5: learned relative positions, */
    bool relative_each;       /* of each layer its own (UMT5) */
    /* Sparse attention (DeepSeek-V3.2): an indexer of so many heads and columns chooses the
     * keys that a query attends to, which are `window`; 0: none */
    int64_t index_heads, index_dim;
    bool value_norm; /* values through a norm without weights (Gemma 4), */
    bool one_kv;     /* and made by the keys' product; */
    bool borrows;    /* keys and values are those of a layer before */
    bool gated;      /* its result by a sigmoid of the token (Qwen3-Next) */
    /* Disentangled attention (DeBERTa): so many rows of relative positions, of which keys
     * and queries are made; 0: none. By products of their own, or the tokens'; as many rows
     * as the sequence has, where those are fewer. */
    int64_t place_rows;
    bool place_products, place_cut, place_norm;
    bool relative_gate; /* relative positions, by a gate of each query (WavLM) */
    bool windowed; /* tokens are put in order of windows before it, and back (Swin) */
    bool softcap;  /* scores through a scaled tanh (Gemma 2) */
    bool sinks;    /* each head has a learned score of nothing (GPT-OSS) */
    bool rotary;
    bool scaled_rope; /* cosines and sines have a scale of their own (yarn) */
    bool fused_qkv;   /* one matrix makes q, k and v, by the family's design */
    bool qkv_bias, out_bias;
    bool dropout; /* its probability is above 0 */
};

/* The MLP of a layer, and its experts. */
struct model_mlp {
    int64_t width; /* columns inside */
    bool gated;    /* SwiGLU, gated GELU: three matrices */
    bool bias;
    int64_t experts, experts_per_token;   /* 0: dense */
    int64_t router_groups, router_chosen; /* a token's experts are in so many of so many
                                             equal groups of them; 0: anywhere */
    int64_t shared_width; /* inside of the expert that all tokens go through; 0: none */
    /* the first layers have no experts but an MLP of so many columns */
    int64_t dense_layers, dense_width;
    bool router_bias;
    bool fused_gate; /* one matrix makes both of a gated MLP, by the family's design */
    bool bare_experts; /* matrices of experts and router are no linear layers */
    int64_t latent;    /* experts read and write so many columns; 0: the hidden size */
    bool sparse;       /* the gate's largest numbers alone are kept (Gemma 3n) */
    bool shared_scale; /* the shared expert's result, by a sigmoid of the token */
    bool
        apart; /* experts and the shared one, which is an MLP next to them, have norms of
                   their own, and the router scales (Gemma 4) */
};

/* A mixer that carries a state along the sequence in place of keys and values. */
enum model_state_kind {
    MODEL_STATE_NONE,
    MODEL_STATE_SSD,   /* Mamba-2: a decay a head, scanned in chunks */
    MODEL_STATE_S6,    /* Mamba: a decay a column and state, scanned token by token */
    MODEL_STATE_DELTA, /* gated delta rule (Qwen3-Next), in chunks */
    MODEL_STATE_KDA,   /* with a decay for each number of a key (Kimi Linear) */
    MODEL_STATE_LIGHTNING, /* fixed decays (MiniMax-01), in chunks */
    MODEL_STATE_CONV,      /* a gated short convolution alone (LFM2) */
};

struct model_state {
    enum model_state_kind kind;
    int64_t heads, head_dim; /* of what it mixes; S6: columns, of 1 */
    int64_t size;            /* numbers of state a column; delta: of a key */
    int64_t groups;          /* heads share keys and queries ("B" and "C") in so many */
    int64_t conv;            /* tokens that the convolution before it sees */
    int64_t chunk;           /* tokens scanned at once */
    int64_t step_rank;       /* S6: steps come of so many columns; KDA: decays, gates */
    bool
        apart; /* delta rule: what the first product makes are four modules (Qwen3.5) */
    bool bias, conv_bias;
    bool norm;      /* its result, gated, through a norm */
    bool step_norm; /* S6: steps, keys and queries through norms (Jamba) */
};

/* What a layer is made of. */
enum model_mixer {
    MODEL_MIXER_ATTENTION,
    MODEL_MIXER_STATE,
    MODEL_MIXER_BOTH,  /* side by side, summed (Falcon-H1) */
    MODEL_MIXER_CROSS, /* attention to what the tower made of pictures (Llama 3.2) */
    MODEL_MIXER_NONE,
};
enum model_inner {
    MODEL_INNER_MLP,   /* with the model's experts, if it has any */
    MODEL_INNER_DENSE, /* without, `dense_width` wide where the model has experts */
    MODEL_INNER_NONE,
};
struct model_kind {
    enum model_mixer mixer;
    enum model_inner inner;
    int32_t variant; /* of its attention and MLP, from 1 on; 0: the model's own */
};

/* Attention and MLP of some of the layers, where these differ in size (Gemma 4). */
enum { MODEL_VARIANTS_MAX = 8 };
struct model_variant {
    const char *name; /* of such a layer in operator lists: "full_layer" */
    struct model_attention attention;
    int64_t width; /* columns inside of its MLP */
    bool sparse;   /* of which the gate's largest alone are kept */
};

/* Embeddings of words that each layer adds by a gate of its own (Gemma 3n and 4: "per-layer
 * embeddings"): a table of `vocab` words with `columns` for each layer. columns 0: none. */
struct model_layer_inputs {
    int64_t vocab, columns;
};

/* Gemma 3n: so many residual streams, of which layers compute one and predict and correct
 * the others (AltUp, 0: one stream), and two thin products next to attention (LAuReL). */
struct model_altup {
    int64_t inputs, laurel;
};

/* Norms, and where they are. */
struct model_norms {
    bool rms;   /* else LayerNorm with weights and bias, */
    bool bare;  /* without bias (MPT, Cohere), or */
    bool fixed; /* without either (OLMo) */
    bool post;  /* norm after the residual sum (BERT) */
    /* norm of a sublayer's result, before the residual sum (Gemma 2) */
    bool result;
    bool no_input; /* and none of its input (OLMo 2) */
    bool one;      /* one norm a layer (GPT-J, falcon-7b) */
    bool embedding, final;
};

/* Embedding and head. */
struct model_ends {
    enum model_head head; /* from "architectures", else the family's usual one */
    int64_t vocab, positions, type_vocab; /* learned positions; 0: none */
    int64_t positions_unused;             /* of these: rows that no token has */
    bool positions_stretched; /* interpolated over pictures with more patches */
    bool positions_assumed;   /* the file gives none: grow with the sequence */
    /* tokens are patches of pictures: so many numbers each, in a product of their own;
     * 0: words. A class token counts as one more position. */
    int64_t patch;
    bool patch_bias;
    /* an encoder reads sounds: so many frames at most, as patches, with positions that
     * are no parameters; `positions` are the decoder's, whose words are its own. 0:
     * none */
    int64_t frames;
    /* Words have so many columns, of which a product makes the hidden size; 0: as many. */
    int64_t word;
    bool word_bias; /* of that product */
    bool word_all;  /* positions, types and their norm have as many columns (ELECTRA) */
    bool word_out;  /* a product makes them again, before the head's (OPT) */
    int64_t conv;   /* tokens that a convolution after the embedding sees (DeBERTa) */
    bool words_apart; /* encoder and decoder have a table each (T5Gemma) */
    bool tied;        /* the head's matrix is the embedding's */
    bool head_bias;
    bool pooler;
    /* two towers: columns of their vectors, numbers that scale their products, whether
     * replicas exchange both towers' vectors or the texts' alone */
    int64_t embed, scales;
    bool embed_bias, gathers_texts;
    bool logit_softcap; /* logits through a scaled tanh (Gemma 2) */
};

/* A transformer that takes the noise from pictures' latents. The first layers have weights
 * of their own for texts, the others one set for all tokens. */
struct model_diffusion {
    bool stack;            /* it is one */
    int64_t single_layers; /* the last ones, without weights of their own for texts */
    int64_t text_tokens;   /* of a sequence; 0: pictures of classes alone */
    int64_t text_width;    /* columns of what the text encoder makes */
    int64_t pooled;        /* and of its summary; 0: none */
    int64_t classes;       /* 0: none */
    int64_t embedders;     /* of numbers: time step, guidance */
    bool guided;
    bool text_ends; /* nothing reads the texts after the last layer (SD3) */
    int64_t patch, channels, channels_out, patch_out;
    int64_t side, packing, picture_tokens; /* of a picture of so many pixels */
};

/* Convolutions over the samples of a sound, each over the result of the one before; the
 * last one's columns are what the first product reads of a token (Wav2Vec2). */
enum { MODEL_CONVOLUTIONS_MAX = 8 };
struct model_sound {
    int64_t n; /* of convolutions, with so many columns, over so many rows each */
    int64_t columns[MODEL_CONVOLUTIONS_MAX], kernel[MODEL_CONVOLUTIONS_MAX];
    int64_t stride[MODEL_CONVOLUTIONS_MAX];
    bool bias, norm_each; /* norms of all of their results, else of the first alone */
    /* positions: one more over so many tokens, in so many groups of columns */
    int64_t place_kernel, place_groups;
};

/* Stacks one after the other over a picture (Swin): between two of them 2 x 2 neighbours
 * become one token of twice the columns. The model's `hidden` and `attention.heads` are the
 * first one's, its `layers` those of all. */
enum { MODEL_STAGES_MAX = 8 };
struct model_stages {
    int64_t n;
    int64_t layers[MODEL_STAGES_MAX], heads[MODEL_STAGES_MAX];
    int64_t rows, columns; /* patches of a picture */
    int64_t window;        /* tokens of a side that attend to each other */
    int64_t expansion;     /* an MLP's columns are so many times the stage's */
    bool norm_after;       /* of what a product makes of neighbours, else of them */
};

struct model_tower;

struct model {
    const char *name; /* the scenario's word for it, or "inline" */
    /* what results call it: the file's name without path and ending, or family,
     * layers and width: "gpt2-96x12288" */
    const char *label;
    const char *family; /* model_type */
    int64_t parameters; /* model_parameters of it, as it was read */
    enum model_arch arch;
    enum model_activation activation;
    int64_t layers;         /* of the encoder or the only stack */
    int64_t decoder_layers; /* encoder-decoder only */
    int64_t hidden;
    /* modules that predict further tokens: those that are trained, and those that the
     * file has */
    int64_t mtp_layers, mtp_given;
    bool mtp_repeated; /* they are one, run so often */
    struct model_attention attention;
    struct model_mlp mlp;
    struct model_state state;
    struct model_norms norms;
    struct model_ends ends;
    struct model_diffusion diffusion;
    const struct model_kind *pattern; /* of each layer; NULL: all are `kind`, but for
                                         the first `dense_layers` */
    const struct model_variant *variants; /* that kinds name, n_variants of them */
    int32_t n_variants;
    struct model_layer_inputs layer_inputs;
    struct model_altup altup;
    bool layer_scale; /* each layer's result by a number that is no parameter */
    int64_t idle;     /* parameters of what is held and not run: a tower of sounds */
    struct model_kind kind;
    bool parallel_residual; /* attention and MLP read the same input */
    bool hidden_dropout;    /* its probability is above 0 */
    bool memory_dropout;    /* and of an encoder's result (T5) */
    bool crosses;           /* each layer attends to what the tower made, too (TrOCR) */
    const struct model_tower *tower; /* reads pictures; NULL: none */
    const struct model_sound *sound; /* what reads samples of a sound; NULL: nothing */
    /* an encoder-decoder's first stack, where it has words and sizes of its own
     * (T5Gemma 9B-2B); NULL: the decoder's */
    const struct model *encoder;
    const struct model_stages *stages; /* NULL: all layers are as wide as each other */
};

enum { MODEL_PROJECTOR_MAX = 3, MODEL_INNER_MAX = 16 };

/* A stack that reads pictures, and what hands them on to the language model. */
struct model_tower {
    struct model model; /* an encoder of patches */
    int64_t patches;    /* its tokens of one crop of a picture */
    int64_t crops;      /* of the pictures of a sequence */
    int64_t tokens;     /* that the language model reads of one crop */
    /* The projector: a norm of so many columns (0: none), then products from each width
     * to the next. */
    int64_t norm;
    int32_t n_products; /* 0: none */
    int64_t widths[MODEL_PROJECTOR_MAX + 1];
    bool bias;
    /* So many layers' results go through projectors of their own, with a norm of the
     * merged columns, and are added to the language model's (Qwen3-VL); 0: none. */
    int64_t inner;
    int64_t
        gate; /* columns inside of a gated MLP after these products (GLM-4V); 0: none */
    bool pooled;  /* a learned query attends to all patches (SigLIP) */
    bool crossed; /* layers of cross-attention read its tokens, which are not in the
                     language model's sequence (Llama 3.2) */
};

/* Tokens of a sequence of a model that reads pictures alone, or makes them; 0 of others. */
int64_t model_patch_tokens(const struct model *m);

/* Tokens of a sequence that its pictures take; those that layers of cross-attention
 * read. */
int64_t model_picture_tokens(const struct model *m);
int64_t model_crossed_tokens(const struct model *m);

/* Columns of what cross-attention reads. */
int64_t model_memory_columns(const struct model *m);

/* Of several stages the i-th as a model of its own, the tokens that it works on, and those
 * of a side of its windows, which are no larger than the picture; what the last one makes:
 * tokens of so many, and their columns (of one stack: all of them). */
struct model model_of_stage(const struct model *m, int64_t i);
int64_t model_stage_tokens(const struct model *m, int64_t i);
int64_t model_stage_window(const struct model *m, int64_t i);
int64_t model_last_tokens(const struct model *m, int64_t tokens);
int64_t model_last_columns(const struct model *m);

/* Streams of tokens between layers. */
int64_t model_streams(const struct model *m);

/* Whether no tensor or context group divides it; whether no pipeline does, either: a
 * tower that has no picture to read is whole on each GPU of the former alone. */
bool model_is_undivided(const struct model *m);
bool model_is_whole(const struct model *m);

/* Samples of a sound that one token is made of; 0: it reads none. */
int64_t model_sound_samples(const struct model *m);

/* Whether the head makes logits of words. */
bool model_has_vocabulary(const struct model *m);

/* Whether the head makes logits of words with the embedding's own matrix. Other heads
 * have no use for that matrix, whatever the file says is tied. */
bool model_ties_head(const struct model *m);

/* A model named, given by path, or described inline by `value` (string or object).
 * Reports what is wrong (missing fields, heads that do not divide the hidden size where
 * head_dim is not given, zero or absurd sizes) and returns -1. */
int model_read(struct model *m, struct cfg_loader *loader, struct cfg value);

/* The i-th family that model_read knows, or that it refuses and why; NULL after the
 * last. */
const char *model_family(int64_t i);
const char *model_refused(int64_t i, const char **why);

/* Columns of a head's values; of what attention hands to its last product. */
int64_t model_value_dim(const struct model *m);
int64_t model_context_width(const struct model *m);

/* Columns of the largest head of any layer. */
int64_t model_largest_head(const struct model *m);

/* Columns that the MLP's experts read and write: of the hidden size, or latent ones. */
int64_t model_expert_columns(const struct model *m);

/* The model as its first layers are: without experts. */
struct model model_of_dense_layers(const struct model *m);

/* Parameters of the model as models/ counts them (tied matrices once, pooler included,
 * task heads that are not part of the base model excluded), summed over the operator
 * list's parameter tensors; 0: more than 2^50. */
int64_t model_parameters(const struct model *m);
struct err;
int64_t model_count(const struct model *m, struct err *err); /* 0: err says why */

/* The model with the head that models/ counts: a decoder with its own, an encoder and a
 * classifier without one; what has no other head keeps it. */
struct model model_as_counted(const struct model *m);

/* FLOPs of the model's own arithmetic for one sample of s tokens (and, after an
 * encoder, of `decoder`; 0: of s), forward and backward, nothing recomputed: MODEL.md,
 * 1.3. */
double model_flops_per_sample(const struct model *m, int64_t s, int64_t decoder,
                              bool causal_half);

/* A config.json as a JSON Schema (draft 2020-12), from the tables of families; a new
 * tree. */
json_t *model_schema(void);

#endif
