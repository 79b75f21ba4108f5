/* Muon: how updates of matrices are orthogonalised, and where it is simulated (MODEL.md,
 * R8.10). Defaults are Megatron-LM's (megatron/training/arguments.py, core_v0.19.0). */
#include "scenario/libraries.h"
#include "scenario/parse.h"

#include <inttypes.h>

struct raw_muon {
    int64_t steps;
    enum muon_tensor tensor;
};

int muon_read(struct training *t, struct cfg c)
{
    static const struct cfg_field fields[] = {
        CFG_INT("steps", struct raw_muon, steps, 1, 100),
        CFG_ENUM("tensor", struct raw_muon, tensor, parallelism_muon_names),
        CFG_END,
    };
    struct raw_muon w = { .steps = 5, .tensor = MUON_DUPLICATED };
    int rc = cfg_present(c) ? cfg_read(c, fields, &w) : 0;
    t->muon_steps = w.steps;
    t->muon_tensor = w.tensor;
    return rc;
}

/* Whole matrices have an owner each, or all ranks update all: what is sharded by bytes
 * has to be gathered before. */
int muon_check(const struct parse_context *r)
{
    const struct training *t = &r->s->training;
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->training, "optimizer");
    bool owners = library_of(p)->muon_owners && p->shard.strategy == SHARDING_OPTIMIZER;
    if (t->optimizer != OPTIMIZER_MUON)
        return 0;
    if (t->precision == OP_FP16)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "Muon has no loss scaling, which fp16 needs (write "
                         "\"precision\": \"bf16\")");
    if (p->shard.strategy != SHARDING_NONE && !owners)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "Muon over states that %s shards is not simulated (write "
                         "\"sharding\": {\"strategy\": \"none\"}, or library "
                         "\"megatron\" with \"optimizer\")",
                         library_of(p)->title);
    if (p->tensor > 1 && !library_of(p)->muon_owners)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "Muon over a tensor group of %s is not simulated (write "
                         "\"tensor\": 1, or library \"megatron\")",
                         library_of(p)->title);
    if (p->shard.offload != OFFLOAD_NONE || t->lora.rank > 0)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "Muon with %s is not simulated (write \"adam\")",
                         t->lora.rank > 0 ? "adapters" : "states on the host");
    return 0;
}
