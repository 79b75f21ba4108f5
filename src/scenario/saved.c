/* "offload_modules" and "offload_layers" of parallelism: modules of layers whose saved tensors go to host
 * memory (MODEL.md, R9.2), and what Megatron-LM asserts of them
 * (megatron/core/transformer/transformer_config.py, core_v0.19.0). */
#include "model/saved.h"
#include "model/graphs.h"
#include "model/regions.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"

#include <inttypes.h>

int saved_read(struct parallelism *p, struct cfg c)
{
    if (!cfg_present(c))
        return 0;
    if (!cfg_is_array(c) || cfg_len(c) == 0)
        return cfg_error(c, DIAG_WRONG_TYPE,
                         "should be a list of modules (write [\"expert_fc1\"])");
    for (int64_t i = 0; i < cfg_len(c); i++) {
        int v;
        if (cfg_enum(cfg_at(c, i), op_saver_names, &v))
            return -1;
        p->offload_modules |= 1u << v;
    }
    return 0;
}

static int check_passes(const struct parse_context *r, struct cfg at)
{
    const struct parallelism *p = &r->s->parallel;
    enum checkpointing c = r->s->training.checkpointing;
    if (p->offload_activations)
        return cfg_error(at, DIAG_CONTRADICTION,
                         "offload_activations has inputs of layers on the host (keep "
                         "one)");
    if (c != CHECKPOINT_NONE && c != CHECKPOINT_SELECTIVE)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "modules of layers that are computed again as a whole are not "
                         "simulated (write activation_checkpointing {\"modules\": "
                         "[...]} or \"none\", or offload_activations)");
    if (p->pipeline > 1 && parallelism_schedule(p->stages.schedule)->splits)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "\"%s\" needs them in two passes, which is not simulated "
                         "(write \"1f1b\", or leave this out)",
                         names_of(parallelism_schedule_names, (int)p->stages.schedule));
    return 0;
}

/* What Megatron-LM asserts of it (megatron/core/transformer/transformer_config.py,
 * cpu_offloading; Megatron-LM @d98e8a64). */
int saved_check_layers(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct training *t = &r->s->training;
    struct cfg at = cfg_get(r->parallelism, "offload_layers");
    if (p->offload_layers == 0)
        return 0;
    if (!library_of(p)->offloads_layers)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s does not offload whole layers (write \"library\": "
                         "\"megatron\" or \"fsdp\")",
                         library_of(p)->title);
    if (p->offload_layers >= r->s->model.layers)
        return cfg_error(at, DIAG_OUT_OF_RANGE,
                         "the last of %" PRId64 " layers stays on the GPU (write at "
                         "most %" PRId64 ")",
                         r->s->model.layers, r->s->model.layers - 1);
    if (p->pipeline > 1)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "whole layers are not offloaded by pipelines (write "
                         "\"pipeline\": 1, or offload_modules)");
    if (t->checkpointing != CHECKPOINT_NONE)
        return cfg_error(at, DIAG_CONTRADICTION,
                         "layers are not offloaded where activations are computed "
                         "again (write activation_checkpointing \"none\", or leave "
                         "this out)");
    if (p->offload_modules)
        return cfg_error(
            at, DIAG_CONTRADICTION,
            "offload_modules has modules of layers on the host (keep one)");
    if (t->graphs & ~(1u << OP_GRAPH_ITERATION))
        return cfg_error(at, DIAG_CONTRADICTION,
                         "CUDA graphs of parts of a layer cannot hold layers that are "
                         "offloaded (write \"full_iteration\", or leave this out)");
    return 0;
}

int saved_check(const struct parse_context *r)
{
    uint32_t asked = r->s->parallel.offload_modules;
    struct cfg at = cfg_get(r->parallelism, "offload_modules");
    bool whole = r->s->training.recompute_modules >> OP_REGION_MOE & 1;
    if (!asked)
        return 0;
    if (!library_of(&r->s->parallel)->offloads_modules)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s does not offload what modules save (write \"library\": "
                         "\"megatron\", or offload_activations with checkpoints)",
                         library_of(&r->s->parallel)->title);
    if (asked >> OP_SAVER_OUT & 1 && !(asked >> OP_SAVER_CORE & 1))
        return cfg_error(at, DIAG_REQUIRES,
                         "attention's backward needs what \"attn_proj\" reads (write "
                         "\"core_attn\", too)");
    if (whole && asked & (1u << OP_SAVER_EXPERTS | 1u << OP_SAVER_ACTIVATION))
        return cfg_error(
            at, DIAG_CONTRADICTION,
            "\"moe\" is computed again as a whole (leave \"expert_fc1\" and "
            "\"moe_act\" out)");
    return check_passes(r, at);
}
