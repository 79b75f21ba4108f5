/* Multi-token prediction: modules after the last layer that are trained to predict the
 * tokens after the next (MODEL.md, 2.7). Files of models say how many a release has;
 * libraries train those of "mtp_layers". */
#include "layout/partition.h"
#include "model/pattern.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"

#include <inttypes.h>

void mtp_read(struct parse_context *r)
{
    struct model *m = &r->s->model;
    m->mtp_layers = r->s->training.mtp_layers;
    m->mtp_repeated = r->s->training.mtp_repeated;
    if (m->mtp_given > 0 && !cfg_present(cfg_get(r->training, "mtp_layers")))
        parse_assume(r, "/training/mtp_layers", "0",
                     "the model's file has some, which are trained where that is "
                     "written");
}

/* As Megatron-LM builds them: after a decoder whose head makes logits. */
static int check_model(const struct parse_context *r, struct cfg at)
{
    const struct model *m = &r->s->model;
    if (m->arch != MODEL_DECODER || m->ends.head != MODEL_HEAD_CAUSAL_LM || m->tower)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "further tokens are predicted by a decoder of words, which %s "
                         "is not, or not as it is trained (write 0)",
                         m->name);
    if (m->pattern && model_attention_layers(m) == 0)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "modules that predict further tokens have attention and an "
                         "MLP, which layers of %s have not (write 0)",
                         m->name);
    if (r->s->training.lora.rank > 0)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "adapters next to modules that predict further tokens are not "
                         "simulated (write 0)");
    return 0;
}

/* The copy of the embedding and that of a tied head are one matrix of one stage. */
static int check_part(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->parallelism, "mtp_part");
    int64_t parts = p->pipeline * p->stages.virtual_stages, part = p->stages.mtp_part;
    if (part >= parts)
        return cfg_error(at, DIAG_OUT_OF_RANGE,
                         "part %" PRId64 " of %" PRId64 " (they count from 0)", part,
                         parts);
    bool folds = parallelism_schedule(p->stages.schedule)->folds;
    if (part >= 0 &&
        partition_stage(p->pipeline, folds, part) !=
            partition_stage(p->pipeline, folds, parts - 1) &&
        model_ties_head(&r->s->model))
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "a tied head and modules that predict further tokens on "
                         "another stage than it are not simulated (leave it out)");
    return 0;
}

int mtp_check(const struct parse_context *r)
{
    struct cfg at = cfg_get(r->training, "mtp_layers");
    const struct parallelism *p = &r->s->parallel;
    if (r->s->training.mtp_layers == 0 || !r->has_model)
        return 0;
    if (!library_of(p)->mtp)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s does not train modules that predict further tokens (write "
                         "\"library\": \"megatron\", or 0)",
                         library_of(p)->title);
    return check_model(r, at) | check_part(r);
}
