/* What the SDK and the library refuse of SMP v1's dictionary: see smp_v1.h. */
#include "scenario/distribution/smp_v1.h"

#include "scenario/releases.h"

#include <inttypes.h>
#include <string.h>

int64_t smp_v1_stages(const struct smp_v1 *w)
{
    if (w->given.pipeline_parallel_degree)
        return w->pipeline_parallel_degree;
    return w->given.partitions ? w->partitions : 1;
}

/* A rule of the SDK. */
struct sdk_rule {
    const char *key, *text;
    bool broken, always; /* always: the library would refuse it, too */
};

static int check_sdk(const struct parse_context *r, struct cfg c,
                     const struct smp_v1 *w)
{
    const char *sdk = r->s->software.sagemaker_sdk;
    bool needs_partitions = sdk && release_has(RELEASE_SDK_NEEDS_PARTITIONS, sdk);
    bool letters = strcmp(w->placement_strategy, "cluster") != 0 &&
                   strcmp(w->placement_strategy, "spread") != 0;
    const struct sdk_rule rules[] = {
        { "partitions",
          arena_printf(&r->loader->arena,
                       "required up to release %s of sagemaker_sdk (write "
                       "\"partitions\" with or in place of "
                       "\"pipeline_parallel_degree\")",
                       release_last(RELEASE_SDK_NEEDS_PARTITIONS)),
          needs_partitions && !w->given.partitions, false },
        { "placement_strategy",
          "only \"cluster\" and \"spread\" are let through, not the "
          "letters that the library takes (\"cluster\" is DPT, \"spread\" is TPD)",
          letters, false },
        { "default_partition", "\"partitions\" is looked up and missing (give it, too)",
          w->given.default_partition && !w->given.partitions, false },
        { "default_partition", "missing, and auto_partition is off (give it)",
          !w->auto_partition && !w->given.default_partition, true },
        { "default_partition", "not below the number of partitions (write less)",
          w->given.default_partition && w->default_partition >= smp_v1_stages(w),
          true },
        { "ddp_port", "given without \"ddp\" (give \"ddp\": True)",
          w->given.ddp_port && !w->given.ddp, true },
        { "ddp_dist_backend", "given without \"ddp\" (give \"ddp\": True)",
          w->given.ddp_dist_backend && !w->given.ddp, true },
        { "horovod", "both \"ddp\" and \"horovod\" are on (keep one)",
          w->ddp && w->horovod, true },
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct cfg at = cfg_get(c, rules[i].key);
        if (!rules[i].broken)
            continue;
        if (sdk || rules[i].always)
            rc = cfg_error(at, DIAG_SDK_RULE, "sdk rule: %s", rules[i].text);
        else
            cfg_warn(at, DIAG_SDK_RULE, "sdk rule: %s", rules[i].text);
    }
    return rc;
}

struct smp_rule {
    const char *key, *text;
    bool broken;
};

static int check_library(const struct parse_context *r, struct cfg c,
                         const struct smp_v1 *w)
{
    const char *v = r->smp.version;
    bool sdp = w->sharded_data_parallel_degree > 1, tp = w->tensor_parallel_degree > 1;
    bool letters = strcmp(w->placement_strategy, "cluster") != 0 &&
                   strcmp(w->placement_strategy, "spread") != 0;
    bool before_both = !release_has(RELEASE_SMP_SHARDS_WITH_TENSOR, v);
    const struct smp_rule rules[] = {
        { "pipeline",
          "\"_only_forward\" trains nothing (write \"interleaved\" or "
          "\"simple\")",
          w->pipeline == PIPELINE_ONLY_FORWARD },
        { "placement_strategy",
          "TensorFlow's partitions are placed by \"cluster\" or \"spread\" alone "
          "(write "
          "one of them)",
          letters && parse_is_tensorflow(r) },
        { "ddp",
          "tensor parallelism needs DistributedDataParallel (give \"ddp\": True)",
          tp && !w->ddp },
        { "sharded_data_parallel_degree",
          "sharded data parallelism needs "
          "DistributedDataParallel (give \"ddp\": True)",
          sdp && !w->ddp },
        { "sharded_data_parallel_degree",
          "sharded data parallelism goes without pipeline "
          "parallelism (write \"pipeline_parallel_degree\": 1)",
          sdp && smp_v1_stages(w) > 1 },
        { "sharded_data_parallel_degree",
          arena_printf(&r->loader->arena,
                       "sharded data parallelism goes with tensor parallelism from SMP "
                       "%s on (write \"tensor_parallel_degree\": 1, or raise the "
                       "version in /software)",
                       release_first(RELEASE_SMP_SHARDS_WITH_TENSOR)),
          sdp && tp && before_both },
        { "prescaled_batch",
          "sharded data parallelism with tensor parallelism feeds all ranks of a "
          "tensor group the same batch (give \"prescaled_batch\": True)",
          sdp && tp && !w->prescaled_batch && !before_both },
        { "shard_optimizer_state",
          "sharding of optimizer states needs DistributedDataParallel (give \"ddp\": "
          "True)",
          w->shard_optimizer_state && !w->ddp },
        { "shard_optimizer_state",
          "sharded data parallelism shards it already (leave one "
          "of them out)",
          sdp && w->shard_optimizer_state },
        { "bf16",
          "bf16 works only with sharded data parallelism (give "
          "\"sharded_data_parallel_degree\", or write \"fp16\")",
          w->bf16 && !sdp },
        { "fp16", "fp16 and bf16 are both on (keep one)", w->fp16 && w->bf16 },
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].broken)
            rc = cfg_error(cfg_get(c, rules[i].key), DIAG_SMP_RULE, "smp rule: %s",
                           rules[i].text);
    return rc;
}

/* The older name of the same number: the newer one goes before it. */
static int check_aliases(struct parse_context *r, struct cfg c, const struct smp_v1 *w)
{
    if (!w->given.partitions || !w->given.pipeline_parallel_degree ||
        w->partitions == w->pipeline_parallel_degree)
        return 0;
    return parse_unsure(r, cfg_get(c, "partitions"), DIAG_SMP_RULE,
                        "smp rule: %" PRId64 " disagrees with pipeline_parallel_degree "
                        "%" PRId64 ", the newer name for the same: %" PRId64 " is used "
                        "(leave one of them out)",
                        w->partitions, w->pipeline_parallel_degree,
                        w->pipeline_parallel_degree);
}

bool smp_v1_is_interleaved(const struct smp_v1 *w)
{
    return w->pipeline == PIPELINE_INTERLEAVED ||
           (w->given.active_microbatches && w->active_microbatches != w->microbatches);
}

static int check_schedule(struct parse_context *r, struct cfg c, const struct smp_v1 *w)
{
    if (w->pipeline != PIPELINE_SIMPLE || smp_v1_stages(w) == 1 ||
        !smp_v1_is_interleaved(w))
        return 0;
    return parse_unsure(r, cfg_get(c, "pipeline"), DIAG_SMP_RULE,
                        "smp rule: \"simple\" needs as many active_microbatches as "
                        "microbatches (%" PRId64 ", not %" PRId64 "): the interleaved "
                        "schedule is used (leave active_microbatches out)",
                        w->microbatches, w->active_microbatches);
}

int smp_v1_check(struct parse_context *r, struct cfg c, const struct smp_v1 *w)
{
    int rc = check_sdk(r, c, w) | check_library(r, c, w);
    return rc | check_aliases(r, c, w) | check_schedule(r, c, w) ? -1 : 0;
}
