/* How operator lists are made: tables of rows, and the builder that turns rows into
 * operators. Private to src/model/.
 *
 * A row states its traffic as terms, each a number times a width (bytes an element)
 * times a symbol (elements), so one table serves every precision, model and tensor
 * degree; flags say which rows a configuration has. Products ("linears") are named
 * rows: their shapes follow from build_init, their traffic, casts and parameters from
 * model/build/product.c. */
#ifndef MODEL_BUILD_BUILD_H
#define MODEL_BUILD_BUILD_H

#include "model/share.h"

/* 2^50: numbers of elements stay exact in a double, and their bytes in 64 bits. */
#define BUILD_ELEMENTS_MAX 1125899906842624.0

/* Elements of a tensor, for one microbatch on one GPU. */
enum sym {
    SYM_A,    /* residual stream, tokens x hidden; over t with sequence parallelism, and
                  where SMP slices it */
    SYM_X,    /* the same, gathered: what products read and write */
    SYM_I,    /* inputs of products as they are kept: A, or X where gathered ones are */
    SYM_Q,    /* queries */
    SYM_K,    /* keys, or values */
    SYM_U,    /* what attention makes */
    SYM_LQ,   /* latent attention: queries as they are compressed */
    SYM_LK,   /* keys and values likewise, and the rotary key that heads share */
    SYM_LN,   /* what of these is normed */
    SYM_LU,   /* keys without their rotary part, and values, of all heads */
    SYM_E,    /* keys as the products read them: repeated where they are copied */
    SYM_QKV,  /* queries, keys and values */
    SYM_QK,   /* Q + K */
    SYM_S,    /* scores */
    SYM_L,    /* one number a query and head */
    SYM_M,    /* inputs of the MLP's products: X, times experts a token */
    SYM_F,    /* inside of the MLP */
    SYM_QR,   /* Q once for each piece of ring attention */
    SYM_KR,   /* K likewise */
    SYM_R,    /* router logits */
    SYM_Z,    /* inside of the shared expert */
    SYM_T,    /* one number a token */
    SYM_P,    /* predicted positions x hidden */
    SYM_V,    /* logits over the vocabulary */
    SYM_O,    /* first tokens x hidden */
    SYM_C,    /* span or class logits */
    SYM_WORD, /* word embedding matrix */
    SYM_PLACE, /* learned positions */
    SYM_TYPE,  /* token types */
    SYM_BIAS,  /* T5: relative position biases */
    SYM_H,     /* one number a column of the residual stream: weights of norms */
    SYM_LH,    /* and of latent ones */
    SYM_QN,    /* weights of the norm of queries */
    SYM_KN,    /* of keys */
    SYM_SINKS, /* one number a head */
    SYM_PATCH, /* patches of pictures, as numbers */
    SYM_G,     /* what experts read of a token, each token once: X, or latent columns */
    SYM_PE,    /* two towers: both vectors of each pair, */
    SYM_PG,    /* those of all replicas, */
    SYM_PL,    /* products of the pairs with these, */
    SYM_PS,    /* and numbers that scale them */
    SYM_PROBE, /* a pooling's query */
    SYM_OM,    /* diffusion: modulations, */
    SYM_CONTEXT,   /* what a text encoder made, */
    SYM_DENOISED,  /* patches that are made, */
    SYM_CONDITION, /* biases and classes of what conditions all layers */
    SYM_IQ,        /* an indexer's queries, */
    SYM_IK,        /* its keys and weights of heads, */
    SYM_IS,        /* a score for each query and key before it, */
    SYM_IT,        /* and those that are chosen; */
    SYM_IW,        /* multiply-adds of scores, */
    SYM_IB,        /* and of those of chosen keys; */
    SYM_IN,        /* weights of its norm */
    SYM_SI,        /* state mixers: what the first product makes, */
    SYM_SC,        /* what the convolution sees, */
    SYM_SX,        /* the columns that are mixed, */
    SYM_SB,        /* keys, or queries, */
    SYM_SXB,       /* both of these, */
    SYM_SH,        /* a number a head, */
    SYM_SR,        /* S6: what steps, keys and queries are made as, */
    SYM_SP,        /* and steps alone; */
    SYM_SS,        /* states at the chunks' ends, */
    SYM_SCB,       /* products of a chunk's queries and keys, */
    SYM_SWS,       /* and multiply-adds: of tokens with states, */
    SYM_SWC,       /* of queries with keys within chunks, */
    SYM_SWI,       /* and of those with what is mixed */
    SYM_SCW,       /* weights of the convolution, */
    SYM_SHW,       /* of heads: decay, skip, step */
    SYM_SNW,       /* of the norm; */
    SYM_SD,        /* delta rule: keys, or queries, of all heads, */
    SYM_SCC,       /* products of keys in chunks, */
    SYM_SWK,       /* and multiply-adds: of keys with keys in chunks, */
    SYM_SWA,       /* of products of chunks with each other */
    SYM_SQW,       /* S6: of norms of steps, keys and queries */
    SYM_PI,        /* a layer's own inputs, */
    SYM_PALL,      /* those of all layers, */
    SYM_PWORD,     /* the table of their words, */
    SYM_PNORM,     /* and their norm's weights */
    SYM_RSCALE,    /* weights of a router's scales */
    SYM_DR,        /* disentangled attention: rows of positions, */
    SYM_DB,        /* those again for each sequence, */
    SYM_DS,        /* scores of tokens with them; */
    SYM_DW,        /* their table, */
    SYM_DN,        /* and weights of its norm */
    SYM_AU,        /* Gemma 3n: all residual streams, */
    SYM_AX,        /* those that layers do not compute, */
    SYM_AW,        /* weights of a layer's predictions, */
    SYM_LR,        /* inside of the products next to attention */
    SYM_CX,        /* what a convolution of a sound reads, */
    SYM_CY,        /* and makes */
    SYM_N
};

enum width {
    WIDTH_NARROW,   /* what products read: 2, or 4 in fp32 and tf32 */
    WIDTH_WIDE,     /* residual stream and norms: 4 under autocast, else narrow */
    WIDTH_PROBS,    /* scores from mask to dropout: wide, but narrow when fused */
    WIDTH_MASK,     /* 1 */
    WIDTH_FP32,     /* 4 */
    WIDTH_LOSS,     /* a quarter of the framework's bytes per logit */
    WIDTH_LOSS_BWD, /* what the backward of several kernels makes per logit */
    WIDTH_N
};

/* What of a model and its settings rows depend on: bits of a set. */
__extension__ typedef unsigned __int128 flagset;
/* clang-format off */
#define FLAG(bit) ((flagset)1 << (bit))

#define HAS_AMP                   FLAG(0)
#define HAS_FLASH                 FLAG(1)
#define HAS_FUSED_SOFTMAX         FLAG(2)
#define HAS_FUSED_SOFTMAX_DROPOUT FLAG(3)
#define HAS_FUSED_QKV             FLAG(4)
#define HAS_FUSED_ADD             FLAG(5)
#define HAS_COPIES                FLAG(6)   /* q, k, v go to the products' layout */
#define HAS_WIDE_PROBS            FLAG(7)   /* probabilities are cast for the product */
#define HAS_SOFTMAX_INPUT         FLAG(8)   /* kept for backward */
#define HAS_ATTENTION_DROPOUT     FLAG(9)
#define HAS_HIDDEN_DROPOUT        FLAG(10)
#define HAS_ROPE                  FLAG(11)
#define HAS_RELATIVE              FLAG(12)  /* T5: biases, scores not scaled */
#define HAS_GATE                  FLAG(13)
#define HAS_EXPERTS               FLAG(14)
#define HAS_EAGER_RMS             FLAG(15)  /* RMSNorm as a handful of kernels */
#define HAS_CROSS                 FLAG(16)  /* within a cross-attention sublayer */
#define HAS_PREDICTED             FLAG(17)  /* only some positions are predicted */
#define HAS_POSITIONS             FLAG(18)
#define HAS_TYPES                 FLAG(19)
#define HAS_EMBEDDING_NORM        FLAG(20)
#define HAS_CAST_LOSS             FLAG(21)  /* logits are narrower than fp32 */
#define HAS_TIED                  FLAG(22)
#define HAS_DECODER               FLAG(23)  /* causal */
#define HAS_RING                  FLAG(24)  /* attention over keys that come in parts */
#define HAS_FUSED_LOSS            FLAG(25)  /* one kernel each way, on the logits */
#define HAS_QUANTIZED             FLAG(26)  /* attention's last product reads fewer than
                                               16 bits */
#define HAS_FUSED_GATE            FLAG(27)  /* activation and gate in one kernel */
#define HAS_LOSS_IN_PLACE         FLAG(28)  /* its gradient takes the place of its
                                               input */
#define HAS_FUSED_ROPE            FLAG(29)  /* rotary embedding in one kernel */
#define HAS_SPLIT_ROPE            FLAG(30)  /* one document after the other, joined */
#define HAS_ULYSSES           FLAG(31)  /* a context rank attends with some heads */
#define HAS_QK_NORM               FLAG(32)  /* norms of queries and of keys */
#define HAS_RESULT_NORM           FLAG(33)  /* norms after sublayers, before the sum */
#define HAS_ATTENTION_SOFTCAP             FLAG(34)  /* scores through a scaled tanh */
#define HAS_LOGIT_SOFTCAP             FLAG(35)  /* logits likewise */
#define HAS_SINKS                 FLAG(36)  /* a learned score of nothing for each
                                               head */
#define HAS_SHARED                FLAG(37)  /* an expert that all tokens go through */
#define HAS_SHARED_SCALE          FLAG(38)  /* its result by a sigmoid of the token */
#define HAS_LATENT                FLAG(39)  /* keys and values of a few columns a
                                               token, */
#define HAS_PATCHES               FLAG(41)  /* patches of pictures in place of words */
#define HAS_PROJECTOR_NORM        FLAG(42)  /* a projector's norm, */
#define HAS_PROJECTOR_FIRST       FLAG(43)  /* its first product of three, */
#define HAS_PROJECTOR_INSIDE      FLAG(44)  /* and one with an activation after it */
#define HAS_FROZEN_EMBEDDING      FLAG(45)  /* nothing below the layers is trained */
#define HAS_MEMORY_DROPOUT        FLAG(46)  /* of an encoder's result */
#define HAS_OWN_WORDS             FLAG(47)  /* a decoder's, apart from the encoder's */
#define HAS_SORTED_EXPERTS        FLAG(56)  /* tokens of other ranks are sorted */
#define HAS_PADDED_EXPERTS        FLAG(57)  /* and padded for fp8 products */
#define HAS_EAGER_PERMUTE         FLAG(58)  /* tokens go to experts by several kernels */
#define HAS_DISPATCH_KERNELS      FLAG(59)  /* DeepEP or its kind moves tokens */
#define HAS_JOINED_GATE           FLAG(61)  /* of experts: gate and up are one product */
#define HAS_FUSED_EXPERTS         FLAG(62)  /* their activation is in quantized products */
#define HAS_WEIGHTED_ACTIVATION   FLAG(63)  /* by the shares of a token's experts */
#define HAS_EAGER_BIASES          FLAG(60)  /* of experts: limits before the gate and
                                               biases after the last product */
#define HAS_LATENT_QUERY          FLAG(40)  /* and queries, too */
#define HAS_STATE_NORM            FLAG(48)  /* a state mixer's result, gated, is normed */
#define HAS_SSD                   FLAG(49)  /* kinds of state mixers */
#define HAS_S6                    FLAG(50)
#define HAS_STEP_NORM             FLAG(51)  /* with norms of what makes its steps */
#define HAS_SHORT_CONV            FLAG(52)
#define HAS_LATENT_EXPERTS        FLAG(53)  /* experts read fewer columns than layers */
#define HAS_DELTA                 FLAG(54)  /* a delta rule, */
#define HAS_CHANNEL_DECAY         FLAG(55)  /* with a decay for each number of a key, */
#define HAS_HEAD_DECAY            FLAG(64)  /* or one for each head; */
#define HAS_REPEATED_KEYS         FLAG(65)  /* its keys are shared by heads */
#define HAS_LIGHTNING             FLAG(66)  /* decays are fixed, and nothing convolved */
#define HAS_TEXT_STREAM           FLAG(68)  /* diffusion: texts have weights of their own, */
#define HAS_ONE_OUT               FLAG(69)  /* or attention and MLP one last product */
#define HAS_INDEXER               FLAG(70)  /* chooses the keys of a query */
#define HAS_WORD_PRODUCT          FLAG(71)  /* of words' columns to the hidden size, */
#define HAS_WORD_OUT              FLAG(72)  /* and back before the head */
#define HAS_VALUE_NORM            FLAG(73)  /* of values, without weights; */
#define HAS_ONE_KV                FLAG(74)  /* values are keys before their norm, */
#define HAS_BORROWED_KV           FLAG(75)  /* or both are another layer's */
#define HAS_LAYER_INPUTS          FLAG(76)  /* embeddings that each layer adds, */
#define HAS_LAYER_INPUTS_BWD      FLAG(77)  /* which need gradients; */
#define HAS_LAYER_SCALE           FLAG(78)  /* and its result times a number */
#define HAS_MLP_BESIDE            FLAG(79)  /* experts and an MLP, normed apart */
#define HAS_CONV_NORM             FLAG(80)  /* a convolution's result is normed, */
#define HAS_CONV_BELOW            FLAG(81)  /* and there is one before it */
#define HAS_RELATIVE_GATE         FLAG(82)  /* relative positions are gated */
#define HAS_PLACE_KEYS            FLAG(83)  /* disentangled attention, */
#define HAS_PLACE_NORM            FLAG(84)  /* with a norm of its positions */
#define HAS_ALTUP                 FLAG(85)  /* several residual streams */
#define HAS_SPARSE_MLP            FLAG(86)  /* the gate's largest numbers alone */
#define HAS_RELATIVE_EACH         FLAG(87)  /* relative positions of each layer its own */
#define HAS_OUTPUT_GATE           FLAG(67)  /* what attention makes, by a sigmoid */
/* clang-format on */

/* What owns parameters. */
enum module {
    MODULE_NONE,
    MODULE_QKV,
    MODULE_QUERY,
    MODULE_KEY,
    MODULE_VALUE,
    MODULE_QUERY_DOWN,
    MODULE_KV_DOWN,
    MODULE_KV_UP,
    MODULE_INDEX_QUERY,
    MODULE_INDEX_KEY,
    MODULE_PLACE_KEY, /* disentangled attention: of relative positions */
    MODULE_PLACE_QUERY,
    MODULE_MERGE, /* a projector's products before its gated MLP */
    MODULE_MERGED,
    MODULE_OUT,
    MODULE_MTP,
    MODULE_GATE,
    MODULE_UP,
    MODULE_DOWN,
    MODULE_ROUTER,
    MODULE_SHARED_GATE,
    MODULE_SHARED_UP,
    MODULE_SHARED_DOWN,
    MODULE_SHARED_SCALE,
    MODULE_EXPERTS_IN, /* to the columns that experts read, and back */
    MODULE_EXPERTS_OUT,
    MODULE_LAYER_GATE, /* a layer's input of its own: of the stream, and back to it; */
    MODULE_LAYER_OUT,
    MODULE_LAYER_PROJECT, /* of words, to those of all layers */
    MODULE_LAUREL_LEFT,   /* next to attention; streams out of words, and back */
    MODULE_LAUREL_RIGHT,
    MODULE_ALTUP_IN,
    MODULE_ALTUP_OUT,
    MODULE_STATE_IN,
    MODULE_STATE_SELECT, /* S6: steps, keys and queries; steps of all columns */
    MODULE_STATE_STEP,
    MODULE_STATE_OUT,
    MODULE_DENSE,
    MODULE_LOGITS,
    MODULE_POOLER,
    MODULE_CLASSES,
    MODULE_PATCH,
    MODULE_CONV, /* over samples of a sound; over tokens, as positions */
    MODULE_PLACE_CONV,
    MODULE_CONTRAST,   /* two towers: vectors with vectors */
    MODULE_MODULATION, /* diffusion: scales, shifts and gates of a sample, */
    MODULE_CONTEXT,    /* texts to the stream's columns, */
    MODULE_CONDITION,  /* time steps and pooled texts, and all of them to one row */
    MODULE_CONDITION_OUT,
    MODULE_LINEARS, /* those before it are products */
    MODULE_NORM,
    MODULE_LATENT_NORM,
    MODULE_WORD,
    MODULE_PLACE,
    MODULE_TYPE,
    MODULE_BIAS,
    MODULE_QUERY_NORM,
    MODULE_KEY_NORM,
    MODULE_SINKS,
    MODULE_STATE_CONV,
    MODULE_STATE_HEADS,
    MODULE_STATE_NORM,
    MODULE_STEP_NORM,
    MODULE_INDEX_NORM,
    MODULE_SCALE,
    MODULE_PROBE,
    MODULE_CONDITION_MORE,
    MODULE_LAYER_WORD,
    MODULE_LAYER_NORM,
    MODULE_SHARED_NORM, /* of the MLP's result; of what experts read, and of theirs */
    MODULE_EXPERTS_NORM,
    MODULE_EXPERTS_RESULT_NORM,
    MODULE_ROUTER_SCALE,
    MODULE_ALTUP, /* predictions and corrections of streams */
    MODULE_LAUREL_NORM,
    MODULE_RELATIVE, /* rows of relative positions, and their norm */
    MODULE_RELATIVE_NORM,
    MODULE_IDLE, /* of what is held and not run */
};

enum row_kind {
    ROW_NONE, /* ends a table */
    ROW_STREAM,
    ROW_OWNER,     /* a stream that owns parameters: norm, embedding */
    ROW_OWNER_BWD, /* the one that completes their gradients */
    ROW_LINEAR,
    ROW_DGRAD,
    ROW_WGRAD,
    ROW_BIAS,    /* gradient of a bias: a sum over tokens */
    ROW_BMM_SSD, /* queries x keys, over head_dim */
    ROW_BMM_SDS, /* queries x head_dim, over keys */
    ROW_BMM_RSD, /* queries x relative positions, over head_dim */
    ROW_BMM_RDS, /* queries x head_dim, over relative positions */
    ROW_FLASH,
    ROW_SCAN, /* a kernel of a state's scan: products and traffic, in `work` too */
};

struct term {
    double n;
    enum width width;
    enum sym sym;
};

/* A tensor that the row makes and that is kept for backward. `until` names backward
 * operators, alternatives separated by '|', the first that the block has; "@" is what
 * the step names as `user`. */
struct keep {
    struct term term;
    const char *until;
    flagset when, unless;
};

struct row {
    enum row_kind kind;
    const char *name; /* '#' becomes the number of the sublayer */
    enum module part;
    flagset when, unless; /* flags that must all be set; of which none may be set */
    struct term read[3], write[3];
    struct term work[4]; /* ROW_SCAN: multiply-adds */
    struct keep keep[4];
    int32_t launches; /* 0 means 1; as many dispatches, unless `same_node` */
    struct term
        made;        /* memory of what it makes, kept or not, where that is less than it
                         writes: a chain of kernels that work in place */
    bool activation; /* of the MLP: kernels and traffic are build_activation's where the
                        framework has it in several */
    bool in_place;   /* what it writes takes the place of what it reads */
    bool same_node;  /* belongs to the autograd node of the row before */
    bool routes;     /* as many kernels as the framework's router has */
    bool counted;    /* the host reads how many tokens each expert gets, unless they are
                        padded */
};

#define ROW_END          \
    {                    \
        .kind = ROW_NONE \
    }

/* Terms of tables. */
/* clang-format off */
#define NARROW(n, s) { (n), WIDTH_NARROW, SYM_##s }
#define WIDE(n, s) { (n), WIDTH_WIDE, SYM_##s }
#define PROBS(n, s) { (n), WIDTH_PROBS, SYM_##s }
#define MASK(n, s) { (n), WIDTH_MASK, SYM_##s }
#define FP32(n, s) { (n), WIDTH_FP32, SYM_##s }
#define LOSS(n, s) { (n), WIDTH_LOSS, SYM_##s }
#define LOSS_BWD(n, s) { (n), WIDTH_LOSS_BWD, SYM_##s }
#define WORK(n, s) { (n), WIDTH_MASK, SYM_##s }

#define KEEP(t, name, ...) { .term = t, .until = (name), __VA_ARGS__ }

/* Whose tokens a step works on. */
enum stream { STREAM_ALL, STREAM_IMAGE, STREAM_TEXT, STREAM_N };

/* A stretch of a block: a table of rows for one sublayer. */
struct build_step {
    const struct row *rows; /* NULL ends a list of steps */
    int32_t number;         /* of the sublayer, for '#'; 0: none */
    const char *prefix;     /* before names; NULL: none */
    enum stream stream;     /* of a diffusion transformer */
    const char *user;       /* the backward operator that last needs the step's result;
                               NULL: the result is handed on */
};

#define STEP(table, nth, ...) { .rows = (table), .number = (nth), __VA_ARGS__ }
#define STEPS_END { .rows = NULL }
/* clang-format on */

/* A product y[rows, n] = x[rows, k] W[k, n] + bias. */
struct linear {
    int64_t rows, k, n;
    int64_t batch;    /* experts: `rows` are shared evenly among as many matrices */
    bool bias, owned; /* owned: not tied to another block's */
    enum dtype dtype;
    bool expert;     /* of experts, which a group may share */
    double slower;   /* their uneven load; 0: none */
    bool by_columns; /* k is split, not n: what it writes is scattered */
    double overlap;  /* of a convolution: rows that read the same number; 0: one */
};

struct build {
    struct arena *arena;
    const struct model *m;
    const struct op_settings *s;
    struct err *err;
    flagset flags;
    struct share shares[OP_MODULES];
    double sizes[OP_MODULES][SYM_N], cross[SYM_N], width[WIDTH_N];
    const double *elements; /* the row of sizes of the module at hand, or `cross` */
    struct linear linears[MODULE_LINEARS];
    double stream_sizes[SYM_N];    /* diffusion: of the stream at hand; sounds: of the
                                      convolution */
    int64_t modulations[STREAM_N]; /* and modulations a column of its tokens */
    enum op_module module;  /* at hand; of layers, by the number of the sublayer: */
    int32_t mlp_number;     /* the MLP's; 0: the block is all of `module` */
    struct op_block *block; /* being made; its arrays have room */
    const struct build_step *step;
    const char **until; /* of the block's outs, OP_OUTS_MAX a forward operator */
};

/* -1 with err set where the settings make no sense of the model. */
int build_check(const struct model *m, const struct op_settings *s, int64_t vocab,
                struct err *err);

/* Shares, sizes, widths and flags for a model under settings; -1 with err set when they
 * do not divide, overflow, or make no sense. */
int build_init(struct build *b, struct arena *arena, const struct model *m,
               const struct op_settings *s, struct err *err);

/* One block from its steps. The input that the block before it hands over is `given`:
 * listed with the first operator, kept until that backward operator (NULL: not
 * kept). */
void build_block(struct build *b, struct op_block *block, const char *name,
                 int64_t repeat, const struct build_step *forward,
                 const struct build_step *backward, struct keep given);

/* model/build/activation.c: the activation's row as the framework runs it. */
struct row build_activation(const struct build *b, const struct row *row,
                            bool backward);

/* Norms, wherever they are. */
extern const struct row build_norm_f[], build_norm_b[];

/* What ends a sublayer: dropout and the residual sum, and gradients' sum. */
extern const struct row build_add_f[], build_add_b[], build_sum_b[];

/* Backward operators that need what a sublayer's first products read. */
#define QKV_WGRAD "value_wgrad|qkv_wgrad|kv_down_wgrad|key_wgrad|query_wgrad"
#define MLP_WGRAD "router_wgrad|up_wgrad"

/* A layer's steps; model/build/mixer.c: those of a layer whose kind says them (no steps:
 * attention and MLP, by their norms). */
struct layer {
    const struct build_step *forward, *backward;
};
struct layer build_mixer_layer(const struct model *m);

/* model/build/attention.c, model/build/mlp.c: the sublayers between a layer's norms and sums. */
extern const struct row build_attention_f[], build_attention_b[];
extern const struct row build_mlp_f[], build_mlp_b[];

/* model/build/altup.c: what a layer does with its streams, the products next to attention, and
 * streams before and after the layers. */
extern const struct row build_altup_predict_f[], build_altup_predict_b[];
extern const struct row build_altup_correct_f[], build_altup_correct_b[];
extern const struct row build_altup_add_f[], build_altup_add_b[];
extern const struct row build_laurel_f[], build_laurel_b[];
extern const struct row build_laurel_sum_f[], build_laurel_sum_b[];
extern const struct row build_altup_in_f[], build_altup_in_b[];
extern const struct row build_altup_out_f[], build_altup_out_b[];

/* model/build/latent.c: latent attention's products before the heads' own. */
extern const struct row build_latent_f[], build_latent_b[];

/* model/build/elements.c. */
/* Whether the rows that the head works on are gathered before it. */
bool build_gathers(const struct model *m, const struct op_settings *s);

/* Of n rows those of one rank, where they are dealt out to so many: to those that share a
 * sequence, or a group's batch. */
int64_t build_dealt(int64_t n, int64_t ranks);

/* Rows of the head on this GPU. */
int64_t build_predicted_rows(const struct build *b);

/* Fills a module's sizes (elements, by symbol) as a rank has them; -1 with the build's
 * err set where a tensor would have more than BUILD_ELEMENTS_MAX elements. */
int build_set_elements(struct build *b, enum op_module module, int64_t vocab);

/* Rows of relative positions that tokens attend to. */
int64_t build_place_rows(const struct build *b);

/* model/build/state.c: mixers that keep a state, their sizes and products. */
extern const struct row build_state_f[], build_state_b[];
extern const struct row build_state_in_b[], build_state_out_f[], build_state_out_b[];
extern const struct row build_delta_f[], build_delta_b[]; /* model/build/delta.c */
flagset build_state_flags(const struct model *m);
void build_state_sizes(const struct build *b, double *e, double tokens, double t);
void build_state_linears(struct build *b, int64_t tokens, enum dtype dtype);

/* The tables: model/build/layer.c, model/build/ends.c. */
enum stack { STACK_ONLY, STACK_DENSE, STACK_DECODER, STACK_VISION, STACK_PATTERN };
void build_layer(struct build *b, struct op_block *block, enum stack stack);
void build_embedding(struct build *b, struct op_block *block);
void build_bridge(struct build *b, struct op_block *block);
void build_head(struct build *b, struct op_block *block);

/* model/build/windows.c: a layer whose attention is within windows (no steps: another). */
struct layer build_windowed_layer(const struct model *m);

/* model/build/stages.c: the blocks of a model's layers; those of its stages, of which b is
 * made one after the other; the build of what comes after the last one. */
int32_t build_stack_blocks(const struct model *m);
int build_stages(struct build *b, struct op_block *block, const struct model *m,
                 const struct op_settings *s, enum stack stack, struct err *err);
int build_last_stage(struct build *b, struct arena *arena, const struct model *m,
                     const struct op_settings *s, struct err *err);

/* model/build/token_conv.c: a convolution over tokens, after the embedding; its product. */
extern const struct row build_token_conv_f[], build_token_conv_b[];
void build_token_conv(struct build *b);

/* model/build/contrast.c: the head of two towers, and what pools the patches of one. */
extern const struct row build_contrast_f[], build_contrast_b[];
void build_pool(struct build *b, struct op_block *block);

/* model/build/sound.c: the embedding of samples of a sound; the sizes of its steps. */
void build_sound(struct build *b, struct op_block *block);
void build_enter_sound(struct build *b);

/* model/build/stream.c: tokens of a stream of a diffusion transformer, and a product of so many
 * rows; sizes and products of the step's stream. */
int64_t build_stream_tokens(const struct build *b, enum stream stream);
struct linear build_stream_product(const struct build *b, int64_t rows, int64_t k,
                                   int64_t n);
void build_enter_stream(struct build *b);

/* The bit of enum lora_target that adapts a product of the stream at hand. */
uint32_t build_diffusion_bit(const struct build *b, enum module part, uint32_t bit);

/* model/build/chunks.c: makes a product as many, of parts of its rows, or, where it `sums`
 * over them, of parts of the sum. */
void build_cut_product(struct op *op, int64_t chunks, bool sums);

/* model/build/chunks.c: cuts the head's logits and loss into chunks of the tokens. */
void build_chunks(const struct build *b, struct op_block *head);

/* model/build/tiles.c: cuts a layer's dense MLP into tiles of the tokens. */
void build_tiles(const struct build *b, struct op_block *layer);

/* model/build/tail.c: cuts the head's cast and loss off into the two blocks after it, where the
 * framework has them as modules of their own; how many blocks that adds. */
enum { BUILD_TAIL_MAX = 2 };
int32_t build_tail(struct build *b, struct op_block *head);

/* model/build/mtp.c: modules that predict further tokens, between the layers and the head: three
 * blocks each; how many there are. The logits' matrix is the head's. */
enum { BUILD_MTP_BLOCKS = 3 };
int32_t build_mtp_blocks(const struct model *m);
int build_mtp(struct build *b, struct op_block *block, struct err *err);

/* model/build/vision.c: a tower's blocks, the projector last; how many there are. */
enum { BUILD_TOWER_MAX = 5 + MODEL_INNER_MAX + 2 * MODEL_STAGES_MAX };
int32_t build_tower_blocks(const struct model *m);
int build_tower(struct op_block *block, struct arena *arena, const struct model *m,
                const struct op_settings *s, struct err *err);

#endif
