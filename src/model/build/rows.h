/* What the tables of operator lists are made of: rows, their terms, and the flags that say
 * which of them a configuration has. Private to src/model/.
 *
 * A row states its traffic as terms, each a number times a width (bytes an element)
 * times a symbol (elements), so one table serves every precision, model and tensor
 * degree. Products ("linears") are rows by name: their shapes follow from build_init,
 * their traffic, casts and parameters from model/build/product.c. */
#ifndef MODEL_BUILD_ROWS_H
#define MODEL_BUILD_ROWS_H

#include <stdbool.h>
#include <stdint.h>

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

/* Kernels of the framework, and formats. */
#define HAS_AMP                   FLAG(0)
#define HAS_COPIES                FLAG(1)  /* q, k, v go to the products' layout */
#define HAS_FUSED_ADD             FLAG(2)
#define HAS_HIDDEN_DROPOUT        FLAG(3)
#define HAS_EAGER_RMS             FLAG(4)  /* RMSNorm as a handful of kernels */
#define HAS_QUANTIZED             FLAG(5)  /* attention's last product reads under 16 bits */

/* Attention. */
#define HAS_DECODER               FLAG(6)  /* it is causal */
#define HAS_CROSS                 FLAG(7)  /* within a cross-attention sublayer */
#define HAS_FLASH                 FLAG(8)
#define HAS_FUSED_SOFTMAX         FLAG(9)
#define HAS_FUSED_SOFTMAX_DROPOUT FLAG(10)
#define HAS_WIDE_PROBS            FLAG(11) /* probabilities are cast for the product */
#define HAS_SOFTMAX_INPUT         FLAG(12) /* kept for backward */
#define HAS_ATTENTION_DROPOUT     FLAG(13)
#define HAS_FUSED_QKV             FLAG(14)
#define HAS_QK_NORM               FLAG(15) /* norms of queries and of keys */
#define HAS_ATTENTION_SOFTCAP     FLAG(16) /* scores through a scaled tanh */
#define HAS_SINKS                 FLAG(17) /* heads have a learned score of nothing */
#define HAS_OUTPUT_GATE           FLAG(18) /* what attention makes, by a sigmoid */
#define HAS_INDEXER               FLAG(19) /* chooses the keys of a query */
#define HAS_LATENT                FLAG(20) /* keys and values of a few columns a token, */
#define HAS_LATENT_QUERY          FLAG(21) /* and queries, too */
#define HAS_VALUE_NORM            FLAG(22) /* of values, without weights; */
#define HAS_ONE_KV                FLAG(23) /* values are keys before their norm, */
#define HAS_BORROWED_KV           FLAG(24) /* or both are another layer's */
#define HAS_RING                  FLAG(25) /* attention over keys that come in parts */
#define HAS_ULYSSES               FLAG(26) /* a context rank attends with some heads */

/* Positions. */
#define HAS_ROPE                  FLAG(27)
#define HAS_FUSED_ROPE            FLAG(28) /* rotary embedding in one kernel */
#define HAS_SPLIT_ROPE            FLAG(29) /* one document after the other, joined */
#define HAS_ROPE_IN_PLACE         FLAG(93) /* q, in a block of q, k and v; k and v anew */
#define HAS_KEPT_LOGITS           FLAG(95) /* a pipeline has those of two microbatches */
#define HAS_LIST_GATHER           FLAG(96) /* logits are gathered as a list, and joined */
#define HAS_VALUE_VIEW            FLAG(94) /* v stays in that block, q and k anew */
#define HAS_RELATIVE              FLAG(30) /* T5: biases, scores not scaled */
#define HAS_RELATIVE_EACH         FLAG(31) /* those of each layer its own */
#define HAS_RELATIVE_GATE         FLAG(32) /* and gated */
#define HAS_PLACE_KEYS            FLAG(33) /* disentangled attention, */
#define HAS_PLACE_NORM            FLAG(34) /* with a norm of its positions */

/* MLP and experts. */
#define HAS_GATE                  FLAG(35)
#define HAS_FUSED_GATE            FLAG(36) /* activation and gate in one kernel */
#define HAS_SPARSE_MLP            FLAG(37) /* the gate's largest numbers alone */
#define HAS_MLP_BESIDE            FLAG(38) /* experts and an MLP, normed apart */
#define HAS_EXPERTS               FLAG(39)
#define HAS_SHARED                FLAG(40) /* an expert that all tokens go through */
#define HAS_SHARED_SCALE          FLAG(41) /* its result by a sigmoid of the token */
#define HAS_LATENT_EXPERTS        FLAG(42) /* experts read fewer columns than layers */
#define HAS_DISPATCH_KERNELS      FLAG(43) /* DeepEP or its kind moves tokens */
#define HAS_SORTED_EXPERTS        FLAG(44) /* tokens of other ranks are sorted */
#define HAS_PADDED_EXPERTS        FLAG(45) /* and padded for fp8 products */
#define HAS_EAGER_PERMUTE         FLAG(46) /* tokens go to experts by several kernels */
#define HAS_JOINED_GATE           FLAG(47) /* gate and up are one product */
#define HAS_FUSED_EXPERTS         FLAG(48) /* their activation is in quantized products */
#define HAS_WEIGHTED_ACTIVATION   FLAG(49) /* by the shares of a token's experts */
#define HAS_EAGER_BIASES          FLAG(50) /* limits before the gate, biases at the end */

/* Layers. */
#define HAS_RESULT_NORM           FLAG(51) /* norms after sublayers, before the sum */
#define HAS_LAYER_INPUTS          FLAG(52) /* embeddings that each layer adds, */
#define HAS_LAYER_INPUTS_BWD      FLAG(53) /* which need gradients; */
#define HAS_LAYER_SCALE           FLAG(54) /* and its result times a number */
#define HAS_ALTUP                 FLAG(55) /* several residual streams */

/* Mixers that keep a state. */
#define HAS_SSD                   FLAG(56)
#define HAS_S6                    FLAG(57)
#define HAS_STEP_NORM             FLAG(58) /* with norms of what makes its steps */
#define HAS_SHORT_CONV            FLAG(59) /* and nothing else */
#define HAS_STATE_NORM            FLAG(60) /* a state mixer's result, gated, is normed */
#define HAS_DELTA                 FLAG(61) /* a delta rule, */
#define HAS_CHANNEL_DECAY         FLAG(62) /* with a decay for each number of a key, */
#define HAS_HEAD_DECAY            FLAG(63) /* or one for each head; */
#define HAS_REPEATED_KEYS         FLAG(64) /* its keys are shared by heads */
#define HAS_LIGHTNING             FLAG(65) /* decays are fixed, and nothing convolved */

/* Embedding and head. */
#define HAS_POSITIONS             FLAG(66) /* learned ones */
#define HAS_TYPES                 FLAG(67) /* of tokens */
#define HAS_EMBEDDING_NORM        FLAG(68)
#define HAS_FROZEN_EMBEDDING      FLAG(69) /* nothing below the layers is trained */
#define HAS_WORD_PRODUCT          FLAG(70) /* words' columns to the hidden size, */
#define HAS_WORD_OUT              FLAG(71) /* and back before the head */
#define HAS_OWN_WORDS             FLAG(72) /* a decoder's, apart from the encoder's */
#define HAS_MEMORY_DROPOUT        FLAG(73) /* of an encoder's result */
#define HAS_TIED                  FLAG(74)
#define HAS_PREDICTED             FLAG(75) /* only some positions are predicted */
#define HAS_LOGIT_SOFTCAP         FLAG(76) /* logits through a scaled tanh */
#define HAS_CAST_LOSS             FLAG(77) /* logits are narrower than fp32 */
#define HAS_FUSED_LOSS            FLAG(78) /* one kernel each way, on the logits */
#define HAS_LOSS_IN_PLACE         FLAG(79) /* its gradient takes its input's place */


/* Pictures and sounds. */
#define HAS_PATCHES               FLAG(80) /* patches of pictures in place of words */
#define HAS_PROJECTOR_NORM        FLAG(81) /* a projector's norm, */
#define HAS_PROJECTOR_FIRST       FLAG(82) /* its first product of three, */
#define HAS_PROJECTOR_INSIDE      FLAG(83) /* and one with an activation after it */
#define HAS_TEXT_STREAM           FLAG(84) /* diffusion: texts have weights of their own, */
#define HAS_ONE_OUT               FLAG(85) /* or attention and MLP one last product */
#define HAS_CONV_NORM             FLAG(86) /* a convolution's result is normed, */
#define HAS_CONV_BELOW            FLAG(87) /* and there is one before it */
#define HAS_SPLIT_LOSS            FLAG(88) /* compiled, over a split vocabulary */
#define HAS_RAW_LOSS              FLAG(89) /* its kernels read 16-bit logits */
#define HAS_SCATTER               FLAG(90) /* experts' rows are added up by index, */
#define HAS_SCATTERED_BIASES      FLAG(91) /* gradients of their biases too */
#define HAS_EXPERT_TURNS          FLAG(100) /* a loop runs one expert after the other */
#define HAS_FROZEN_NORMS          FLAG(92) /* no norm of a layer is trained */
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
    struct keep keep[6];
    int32_t launches; /* 0 means 1; as many dispatches, unless `same_node` */
    struct term
        made;        /* memory of what it makes, kept or not, where that is less than it
                         writes: a chain of kernels that work in place */
    bool activation; /* of the MLP: kernels and traffic are build_activation's where the
                        framework has it in several */
    bool in_place;   /* what it writes takes the place of what it reads */
    bool same_node;  /* belongs to the autograd node of the row before */
    bool routes;     /* as many kernels as the framework's router has */
    bool scattered;  /* rows are added up by index */
    bool turns;      /* for each expert that runs in turn */
    bool ends_turns; /* forward, it follows experts that ran in turn */
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

/* Of numbers in 16 bits RMSNorm of several kernels keeps its input in fp32 in their place,
 * and what a trained weight multiplies. */
#define EAGER_RMS_KEPT(s, name)                                                        \
    KEEP(FP32(1, s), name, .unless = HAS_FROZEN_NORMS),                                \
        KEEP(NARROW(1, s), name, .when = HAS_FROZEN_NORMS | HAS_CAST_LOSS)

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

#endif
