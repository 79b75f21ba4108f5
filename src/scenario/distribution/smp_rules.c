/* Rules of SMP that join its dictionary with the cluster, the batch and the script. */
#include "scenario/distribution/distribution.h"
#include "scenario/libraries.h"

#include <inttypes.h>

/* Those of SMP v1: sharding groups divide the data-parallel ranks. */
static int check_sdp(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->smp.parameters, "sharded_data_parallel_degree");
    int64_t dp = p->data * p->tensor, d = p->shard.degree;
    if (p->shard.strategy != SHARDING_FULL)
        return 0;
    if (d > dp || dp % d != 0)
        return cfg_error(at, DIAG_NOT_DIVISIBLE,
                         "smp rule: %" PRId64 " does not divide the %" PRId64
                         " data-parallel ranks (write one of its divisors)",
                         d, dp);
    if (p->data % d != 0)
        return cfg_error(at, DIAG_NOT_DIVISIBLE,
                         "smp rule: %" PRId64 " does not divide the %" PRId64
                         " ranks that hold the same tensor slice (write one of its "
                         "divisors)",
                         d, p->data);
    return 0;
}

static int check_replicas(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    if (p->data == 1 || r->smp.replicates)
        return 0;
    const char *key = parse_is_tensorflow(r) ? "horovod" : "ddp";
    return cfg_error(cfg_get(r->smp.parameters, key), DIAG_SMP_RULE,
                     "smp rule: %" PRId64
                     " replicas of the model need data parallelism "
                     "to stay the same (give \"%s\": True, or use all %" PRId64
                     " GPUs for one replica)",
                     p->data, key, r->s->cluster.n_gpus);
}

/* Without automatic partitioning the script says what is where. */
static int check_partition(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->parallelism, "partition");
    bool manual = p->stages.partition == PARTITION_MANUAL;
    if (p->pipeline == 1)
        return 0;
    if (!r->smp.auto_partition && !manual)
        return cfg_error(
            cfg_get(r->smp.parameters, "auto_partition"), DIAG_SMP_RULE,
            "smp rule: the script's smp.partition contexts place the layers, "
            "and the others go to default_partition (give "
            "/parallelism/partition the layers of each stage: [12, 12])");
    if (r->smp.auto_partition && cfg_present(at) &&
        p->stages.partition != PARTITION_SMP &&
        p->stages.partition != PARTITION_SMP_TREE)
        return cfg_error(at, DIAG_SMP_RULE,
                         "smp rule: layers are partitioned automatically (give "
                         "\"auto_partition\": False and \"default_partition\" in the "
                         "dictionary, or leave it out)");
    return 0;
}

static int check_offloading(struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct training *t = &r->s->training;
    const char *key =
        library_of(p)->smp.script ? "offload_activations" : "sm_activation_offloading";
    if (!p->offload_activations)
        return 0;
    if (t->checkpointing == CHECKPOINT_NONE)
        return cfg_error(
            cfg_get(r->smp.parameters, key), DIAG_REQUIRES,
            "smp rule: activations are offloaded at checkpoints, and there "
            "are none (give /training/activation_checkpointing too)");
    return 0;
}

/* "memory" has two interpretations; "speed" has one. */
static int check_policy(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const char *word = json_string_value(cfg_get(r->smp.parameters, "optimize").json);
    bool speed = word && word[0] == 's';
    struct cfg at = cfg_get(r->parallelism, "tensor_policy");
    bool is_memory = p->split.tensor_policy == TENSOR_SMP_SCATTER ||
                     p->split.tensor_policy == TENSOR_SMP_GATHER;
    if (!cfg_present(at) || is_memory != speed)
        return 0;
    return cfg_error(at, DIAG_CONTRADICTION,
                     "the dictionary says optimize \"%s\" (write %s)",
                     speed ? "speed" : "memory",
                     speed ? "\"smp-speed\"" : "\"smp-scatter\" or \"smp-gather\"");
}

/* Policies that SMP v1's documents leave open and the scenario does not name. */
static void note_inferred(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    bool is_memory = p->split.tensor_policy == TENSOR_SMP_SCATTER ||
                     p->split.tensor_policy == TENSOR_SMP_GATHER;
    p->split.infers_tensor = p->tensor > 1 && is_memory &&
                             !cfg_present(cfg_get(r->parallelism, "tensor_policy"));
    p->stages.infers_forward = p->pipeline > 1 &&
                               p->stages.schedule == SCHEDULE_SMP_INTERLEAVED &&
                               !cfg_present(cfg_get(r->parallelism, "forward_policy"));
}

int smp_check(struct parse_context *r)
{
    const struct library_smp *smp = &library_of(&r->s->parallel)->smp;
    int rc = smp->dictionary ? check_offloading(r) : 0;
    if (!smp->script)
        return rc;
    note_inferred(r);
    return rc | check_sdp(r) | check_replicas(r) | check_partition(r) | check_policy(r);
}
