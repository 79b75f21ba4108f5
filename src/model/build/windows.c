/* Layers whose attention is within windows of a picture (model/build/stages.c). */
#include "model/build/build.h"

/* Tokens in the order of windows, shifted by half a window in every second layer: a copy
 * and half of one more; and back. The copy takes the place of what it reads. */
#define WINDOWS_ROW(name_)             \
    {                                  \
        { ROW_STREAM,                  \
          name_,                       \
          .launches = 2,               \
          .in_place = true,            \
          .read = { WIDE(1.5, A) },    \
          .write = { WIDE(1.5, A) } }, \
            ROW_END,                   \
    }
static const struct row windows_f[] = WINDOWS_ROW("windows"),
                        windows_b[] = WINDOWS_ROW("windows_bwd"),
                        unwindows_f[] = WINDOWS_ROW("windows_back"),
                        unwindows_b[] = WINDOWS_ROW("windows_back_bwd");

static const struct build_step windowed_f[] = {
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(windows_f, 1),
    STEP(build_attention_f, 1),
    STEP(unwindows_f, 1),
    STEP(build_add_f, 1, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(build_mlp_f, 2),
    STEP(build_add_f, 2),
    STEPS_END,
};
static const struct build_step windowed_b[] = {
    STEP(build_add_b, 2),
    STEP(build_mlp_b, 2),
    STEP(build_norm_b, 2),
    STEP(build_sum_b, 2),
    STEP(build_add_b, 1),
    STEP(unwindows_b, 1),
    STEP(build_attention_b, 1),
    STEP(windows_b, 1),
    STEP(build_norm_b, 1),
    STEP(build_sum_b, 1),
    STEPS_END,
};

/* Swin v2: norms of results. */
static const struct build_step windowed_result_f[] = {
    STEP(windows_f, 1),
    STEP(build_attention_f, 1),
    STEP(unwindows_f, 1),
    STEP(build_norm_f, 1, .prefix = "result_"),
    STEP(build_add_f, 1, .user = MLP_WGRAD),
    STEP(build_mlp_f, 2),
    STEP(build_norm_f, 2, .prefix = "result_"),
    STEP(build_add_f, 2),
    STEPS_END,
};
static const struct build_step windowed_result_b[] = {
    STEP(build_add_b, 2),
    STEP(build_norm_b, 2, .prefix = "result_"),
    STEP(build_mlp_b, 2),
    STEP(build_sum_b, 2),
    STEP(build_add_b, 1),
    STEP(build_norm_b, 1, .prefix = "result_"),
    STEP(unwindows_b, 1),
    STEP(build_attention_b, 1),
    STEP(windows_b, 1),
    STEP(build_sum_b, 1),
    STEPS_END,
};

struct layer build_windowed_layer(const struct model *m)
{
    if (!m->attention.windowed)
        return (struct layer) { NULL, NULL };
    return m->norms.no_input ? (struct layer) { windowed_result_f, windowed_result_b }
                             : (struct layer) { windowed_f, windowed_b };
}
