/* The builder that turns tables of rows (model/build/rows.h) into operator lists. Private
 * to src/model/. */
#ifndef MODEL_BUILD_BUILD_H
#define MODEL_BUILD_BUILD_H

#include "model/build/rows.h"
#include "model/share.h"

/* 2^50: numbers of elements stay exact in a double, and their bytes in 64 bits. */
#define BUILD_ELEMENTS_MAX 1125899906842624.0

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
