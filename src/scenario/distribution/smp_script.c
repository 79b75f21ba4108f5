/* "smp_script" of the parallelism section: what a script under SMP v1 says in its
 * calls, smp.DistributedModel, smp.tensor_parallelism (or smp.model_creation, which
 * takes the same) and smp.set_activation_checkpointing (smd_model_parallel_pytorch.rst
 * of the SageMaker SDK). */
#include "scenario/distribution/smp_params.h"
#include "scenario/libraries.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
struct script {
    struct cfg scratch; /* of smp_params_read */
    int64_t bucket_cap_mb, backward_passes_per_step;
    bool overlapping_allreduce, gradient_as_bucket_view, average_grads_across_microbatches,
        broadcast_buffers, trace_execution_times, trace_memory_usage, fused_softmax,
        fused_bias_gelu, distribute_embedding;
    const char *trace_device, *activation_checkpointing;
    struct {
        bool bucket_cap_mb, backward_passes_per_step, overlapping_allreduce,
            gradient_as_bucket_view, average_grads_across_microbatches, broadcast_buffers,
            trace_execution_times, trace_memory_usage, fused_softmax, fused_bias_gelu,
            distribute_embedding, trace_device, activation_checkpointing;
    } given;
};

#define ROW(n, t, why, ...)                                                            \
    { .field = { .key = #n, .type = (t), .at = offsetof(struct script, n),             \
                 .has = offsetof(struct script, given.n), __VA_ARGS__ },               \
      .no_effect = (why) }
#define BOOL(n, why) ROW(n, CFG_T_BOOL, why, .min = 0)

static const struct smp_param rows[] = {
    BOOL(overlapping_allreduce, NULL),
    ROW(bucket_cap_mb, CFG_T_INT, NULL, .min = 1, .max = 1 << 20),
    BOOL(gradient_as_bucket_view, NULL),
    ROW(backward_passes_per_step, CFG_T_INT, NULL, .min = 1, .max = 1 << 24),
    BOOL(fused_softmax, NULL),
    BOOL(distribute_embedding, NULL),
    ROW(activation_checkpointing, CFG_T_STRING, NULL, .min = 0),
    BOOL(average_grads_across_microbatches, "a sum and a mean take the same time"),
    BOOL(broadcast_buffers, "transformers have no buffers to speak of"),
    BOOL(trace_execution_times, "the model is traced before the first step only"),
    BOOL(trace_memory_usage, "the model is traced before the first step only"),
    ROW(trace_device, CFG_T_STRING, "the model is traced before the first step only",
        .min = 0),
    BOOL(fused_bias_gelu, "the framework's profile says which kernels are fused"),
    { .field = { .key = NULL } },
};
/* clang-format on */

/* "each", "contiguous" or "group_N". */
static int read_strategy(struct parse_context *r, struct cfg c, const char *word)
{
    char *end;
    struct cfg at = cfg_get(c, "activation_checkpointing");
    if (cfg_present(cfg_get(r->training, "activation_checkpointing")))
        return cfg_error(at, DIAG_CONTRADICTION,
                         "/training/activation_checkpointing says it already (leave "
                         "one of them out)");
    r->smp.checkpointing = CHECKPOINT_GROUP;
    if (strcmp(word, "each") == 0) {
        r->smp.checkpointing = CHECKPOINT_FULL;
        r->smp.checkpoint_group = 1;
        return 0;
    }
    if (strcmp(word, "contiguous") == 0) {
        r->smp.checkpoint_group = INT64_MAX;
        return 0;
    }
    bool group = strncmp(word, "group_", 6) == 0 && word[6] >= '1' && word[6] <= '9';
    r->smp.checkpoint_group = group ? strtol(word + 6, &end, 10) : 0;
    if (group && !*end && r->smp.checkpoint_group <= 100000)
        return 0;
    return cfg_error(
        at, DIAG_UNKNOWN_NAME,
        "smp rule: \"%.40s\" is no strategy (write \"each\", \"contiguous\" "
        "or \"group_2\")",
        word);
}

int smp_script_read(struct parse_context *r, struct cfg c)
{
    struct parallelism *p = &r->s->parallel;
    struct script w = { .overlapping_allreduce = true };
    if (!cfg_present(c))
        return 0;
    if (!library_of(p)->smp.script)
        return cfg_error(c, DIAG_REFUSED_KEY,
                         "this is for scripts under SMP v1, and the dictionary "
                         "launches none (leave it out)");
    if (smp_params_read(r, c, rows, &w))
        return -1;
    if (w.given.overlapping_allreduce) {
        p->reduce.overlap = w.overlapping_allreduce;
        r->written.overlap = true;
    }
    if (w.given.bucket_cap_mb)
        p->reduce.bucket_B = w.bucket_cap_mb << 20;
    p->reduce.gradient_as_bucket_view |= w.gradient_as_bucket_view;
    if (w.given.fused_softmax)
        r->smp.fused_softmax = w.fused_softmax;
    if (w.given.distribute_embedding)
        p->split.distribute_embedding = w.distribute_embedding;
    if (w.given.distribute_embedding && p->tensor == 1)
        parse_note(r, cfg_get(c, "distribute_embedding"), "there are no tensor ranks");
    r->smp.accumulation = w.backward_passes_per_step;
    return w.activation_checkpointing ? read_strategy(r, c, w.activation_checkpointing)
                                      : 0;
}
