/* Layers by their mixer: those that are a mixer or an MLP alone, whose mixer keeps a
 * state, or that attend to pictures. */
#include "model/build/build.h"

#define STATE_WGRAD "state_in_wgrad"
#define STATE_STEPS_F \
    STEP(build_state_f, 1), STEP(build_delta_f, 1), STEP(build_state_out_f, 1)
#define STATE_STEPS_B                                                           \
    STEP(build_state_out_b, 1), STEP(build_delta_b, 1), STEP(build_state_b, 1), \
        STEP(build_state_in_b, 1)

static const struct build_step attention_f[] = {
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(build_latent_f, 1),
    STEP(build_attention_f, 1),
    STEP(build_add_f, 1),
    STEPS_END,
};
static const struct build_step attention_b[] = {
    STEP(build_add_b, 1),  STEP(build_attention_b, 1), STEP(build_latent_b, 1),
    STEP(build_norm_b, 1), STEP(build_sum_b, 1),       STEPS_END,
};
static const struct build_step mlp_f[] = {
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(build_mlp_f, 2),
    STEP(build_add_f, 2),
    STEPS_END,
};
static const struct build_step mlp_b[] = {
    STEP(build_add_b, 2),
    STEP(build_mlp_b, 2),
    STEP(build_norm_b, 2),
    STEP(build_sum_b, 2),
    STEPS_END,
};
static const struct build_step state_f[] = {
    STEP(build_norm_f, 1, .user = STATE_WGRAD),
    STATE_STEPS_F,
    STEP(build_add_f, 1),
    STEPS_END,
};
static const struct build_step state_b[] = {
    STEP(build_add_b, 1), STATE_STEPS_B, STEP(build_norm_b, 1),
    STEP(build_sum_b, 1), STEPS_END,
};
static const struct build_step state_mlp_f[] = {
    STEP(build_norm_f, 1, .user = STATE_WGRAD),
    STATE_STEPS_F,
    STEP(build_add_f, 1, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(build_mlp_f, 2),
    STEP(build_add_f, 2),
    STEPS_END,
};
static const struct build_step state_mlp_b[] = {
    STEP(build_add_b, 2),  STEP(build_mlp_b, 2), STEP(build_norm_b, 2),
    STEP(build_sum_b, 2),  STEP(build_add_b, 1), STATE_STEPS_B,
    STEP(build_norm_b, 1), STEP(build_sum_b, 1), STEPS_END,
};

/* Falcon-H1: both mixers read one norm, and are summed. */
static const struct row join_f[] = {
    { ROW_STREAM, "mixers_sum", .read = { NARROW(2, A) }, .write = { NARROW(1, A) } },
    ROW_END,
};
static const struct row join_b[] = {
    { ROW_STREAM, "mixers_sum_bwd", .read = { NARROW(2, A) },
      .write = { NARROW(1, A) } },
    ROW_END,
};
static const struct build_step both_f[] = {
    STEP(build_norm_f, 1, .user = STATE_WGRAD),
    STATE_STEPS_F,
    STEP(build_attention_f, 1),
    STEP(join_f, 1),
    STEP(build_add_f, 1, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(build_mlp_f, 2),
    STEP(build_add_f, 2),
    STEPS_END,
};
static const struct build_step both_b[] = {
    STEP(build_add_b, 2),
    STEP(build_mlp_b, 2),
    STEP(build_norm_b, 2),
    STEP(build_sum_b, 2),
    STEP(build_add_b, 1),
    STEP(build_attention_b, 1),
    STATE_STEPS_B,
    STEP(join_b, 1),
    STEP(build_norm_b, 1),
    STEP(build_sum_b, 1),
    STEPS_END,
};

/* Llama 3.2 Vision: attention to a tower's tokens alone; what it and the MLP make is
 * scaled by a number of the layer's, and the MLP's by the mask of texts with pictures. */
static const struct row cross_gate_f[] = {
    { ROW_STREAM, "cross_gate#", .read = { NARROW(1, A) }, .write = { NARROW(1, A) },
      .keep = { KEEP(NARROW(1, A), "cross_gate#_bwd") } },
    ROW_END,
};
static const struct row cross_gate_b[] = {
    { ROW_STREAM, "cross_gate#_bwd", .launches = 2, .read = { NARROW(3, A) },
      .write = { NARROW(1, A) } },
    ROW_END,
};
static const struct row cross_mask_f[] = {
    { ROW_STREAM, "cross_mask", .read = { NARROW(1, A) }, .write = { NARROW(1, A) } },
    ROW_END,
};
static const struct row cross_mask_b[] = {
    { ROW_STREAM, "cross_mask_bwd", .read = { NARROW(1, A) },
      .write = { NARROW(1, A) } },
    ROW_END,
};
static const struct build_step pictures_f[] = {
    STEP(build_norm_f, 1, .user = "cross_query_wgrad"),
    STEP(build_attention_f, 1, .prefix = "cross_"),
    STEP(cross_gate_f, 1),
    STEP(build_add_f, 1, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(build_mlp_f, 2),
    STEP(cross_mask_f, 2),
    STEP(cross_gate_f, 2),
    STEP(build_add_f, 2),
    STEPS_END,
};
static const struct build_step pictures_b[] = {
    STEP(build_add_b, 2),
    STEP(cross_gate_b, 2),
    STEP(cross_mask_b, 2),
    STEP(build_mlp_b, 2),
    STEP(build_norm_b, 2),
    STEP(build_sum_b, 2),
    STEP(build_add_b, 1),
    STEP(cross_gate_b, 1),
    STEP(build_attention_b, 1, .prefix = "cross_"),
    STEP(build_norm_b, 1),
    STEP(build_sum_b, 1),
    STEPS_END,
};

/* [mixer][whether there is an MLP]; no steps: attention and MLP, by their norms. */
static const struct layer kinds[][2] = {
    [MODEL_MIXER_ATTENTION] = { { attention_f, attention_b }, { NULL, NULL } },
    [MODEL_MIXER_STATE] = { { state_f, state_b }, { state_mlp_f, state_mlp_b } },
    [MODEL_MIXER_BOTH] = { { NULL, NULL }, { both_f, both_b } },
    [MODEL_MIXER_CROSS] = { { NULL, NULL }, { pictures_f, pictures_b } },
    [MODEL_MIXER_NONE] = { { NULL, NULL }, { mlp_f, mlp_b } },
};

struct layer build_mixer_layer(const struct model *m)
{
    return kinds[m->kind.mixer][m->kind.inner != MODEL_INNER_NONE];
}
