/* SMP v1: every parameter of its dictionary, what the SDK and the library refuse, and
 * what it all means. Names, ranges and releases: smd_model_parallel_general.rst of the
 * SageMaker SDK and the developer guide; the SDK's own checks:
 * fw_utils.validate_mp_config. */
#include "parallel/layout.h"
#include "parallel/smp_params.h"
#include "parallel/versions.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
enum { PIPELINE_INTERLEAVED, PIPELINE_SIMPLE, PIPELINE_ONLY_FORWARD };
static const struct name_value pipelines[] = {
    { "interleaved", PIPELINE_INTERLEAVED }, { "simple", PIPELINE_SIMPLE },
    { "_only_forward", PIPELINE_ONLY_FORWARD }, { NULL, 0 },
};
enum { OPTIMIZE_MEMORY, OPTIMIZE_SPEED };
static const struct name_value optimizes[] = {
    { "memory", OPTIMIZE_MEMORY }, { "speed", OPTIMIZE_SPEED }, { NULL, 0 },
};
enum { DIST_AUTO, DIST_NCCL };
static const struct name_value dist_backends[] = {
    { "auto", DIST_AUTO }, { "nccl", DIST_NCCL }, { NULL, 0 },
};

struct v1 {
    struct cfg scratch; /* of smp_params_read */
    int64_t partitions, pipeline_parallel_degree, microbatches, default_partition, ddp_port,
        active_microbatches, activation_loading_horizon, tensor_parallel_degree,
        sharded_data_parallel_degree, sdp_reduce_bucket_size,
        sdp_param_persistence_threshold, sdp_max_live_parameters;
    double memory_weight, sdp_gradient_clipping;
    int pipeline, optimize, ddp_dist_backend;
    const char *placement_strategy, *partition_file;
    bool auto_partition, contiguous, horovod, ddp, deterministic_server,
        offload_activations, fp16, bf16, fp16_params, shard_optimizer_state,
        prescaled_batch, skip_tracing, delayed_parameter_initialization,
        sdp_hierarchical_allgather, load_partition;
    struct {
        bool partitions, pipeline_parallel_degree, microbatches, default_partition,
            ddp_port, active_microbatches, activation_loading_horizon,
            tensor_parallel_degree, sharded_data_parallel_degree, sdp_reduce_bucket_size,
            sdp_param_persistence_threshold, sdp_max_live_parameters, memory_weight,
            sdp_gradient_clipping, pipeline, optimize, ddp_dist_backend,
            placement_strategy, partition_file, auto_partition, contiguous, horovod, ddp,
            deterministic_server, offload_activations, fp16, bf16, fp16_params,
            shard_optimizer_state, prescaled_batch, skip_tracing,
            delayed_parameter_initialization, sdp_hierarchical_allgather, load_partition;
    } given;
};

static const struct v1 defaults = {
    .microbatches = 1, .activation_loading_horizon = 4, .tensor_parallel_degree = 1,
    .sharded_data_parallel_degree = 1, .sdp_reduce_bucket_size = 500000000,
    .sdp_param_persistence_threshold = 1000000, .sdp_max_live_parameters = 1000000000,
    .sdp_gradient_clipping = 1.0, .pipeline = PIPELINE_INTERLEAVED,
    .optimize = OPTIMIZE_MEMORY, .ddp_dist_backend = DIST_AUTO,
    .placement_strategy = "cluster", .auto_partition = true, .contiguous = true,
    .sdp_hierarchical_allgather = true,
};

#define DEGREE_MAX   1048576.0
#define ELEMENTS_MAX 1e13
#define ROW(n, t, rel, why, ...)                                                       \
    { .field = { .key = #n, .type = (t), .at = offsetof(struct v1, n),                 \
                 .has = offsetof(struct v1, given.n), __VA_ARGS__ },                   \
      .since = (rel), .no_effect = (why) }
#define INT(n, lo, hi, rel, why) ROW(n, CFG_T_INT, rel, why, .min = (lo), .max = (hi))
#define BOOL(n, rel, why)        ROW(n, CFG_T_BOOL, rel, why, .min = 0)

static const struct smp_param rows[] = {
    INT(partitions, 1, DEGREE_MAX, NULL, NULL),
    INT(pipeline_parallel_degree, 1, DEGREE_MAX, "1.6", NULL),
    INT(microbatches, 1, 1 << 24, NULL, NULL),
    ROW(pipeline, CFG_T_ENUM, NULL, NULL, .names = pipelines),
    ROW(optimize, CFG_T_ENUM, NULL, NULL, .names = optimizes),
    ROW(placement_strategy, CFG_T_STRING, NULL, NULL, .min = 0),
    BOOL(auto_partition, NULL, NULL),
    INT(default_partition, 0, DEGREE_MAX, NULL, NULL),
    BOOL(contiguous, NULL, "it is TensorFlow's; stages of a chain of layers always are"),
    BOOL(horovod, NULL, NULL),
    ROW(memory_weight, CFG_T_REAL, NULL, NULL, .min = 0, .max = 1),
    BOOL(ddp, NULL, NULL),
    INT(ddp_port, 0, 65535, NULL, "a port carries the same bytes as any other"),
    ROW(ddp_dist_backend, CFG_T_ENUM, "1.13", NULL, .names = dist_backends),
    INT(active_microbatches, 1, DEGREE_MAX, "1.3", NULL),
    BOOL(deterministic_server, "1.3",
         "requests are simulated in the same order on all ranks in any case"),
    BOOL(offload_activations, "1.6", NULL),
    INT(activation_loading_horizon, 1, DEGREE_MAX, "1.6", NULL),
    INT(tensor_parallel_degree, 1, DEGREE_MAX, "1.6", NULL),
    BOOL(fp16, "1.10", NULL),
    BOOL(bf16, "1.11", NULL),
    BOOL(fp16_params, "1.6", NULL),
    BOOL(shard_optimizer_state, "1.6", NULL),
    BOOL(prescaled_batch, "1.6", NULL),
    BOOL(skip_tracing, "1.6", "the model is traced before the first step only"),
    BOOL(delayed_parameter_initialization, "1.6",
         "parameters are made before the first step only"),
    INT(sharded_data_parallel_degree, 1, DEGREE_MAX, "1.11", NULL),
    INT(sdp_reduce_bucket_size, 1, ELEMENTS_MAX, "1.11", NULL),
    INT(sdp_param_persistence_threshold, 0, ELEMENTS_MAX, "1.11", NULL),
    INT(sdp_max_live_parameters, 1, ELEMENTS_MAX, "1.11", NULL),
    BOOL(sdp_hierarchical_allgather, "1.11", NULL),
    ROW(sdp_gradient_clipping, CFG_T_REAL, "1.11", NULL, .min = 0, .max = 1e9),
    BOOL(load_partition, NULL, "the file is not read: layers are cut as without it"),
    ROW(partition_file, CFG_T_STRING, NULL,
        "the file is not read: layers are cut as without it", .min = 0),
    { .field = { .key = NULL } },
};
/* clang-format on */

static int64_t stages(const struct v1 *w)
{
    if (w->given.pipeline_parallel_degree)
        return w->pipeline_parallel_degree;
    return w->given.partitions ? w->partitions : 1;
}

/* --- what the SDK refuses: validate_mp_config ------------------------------------- */

/* A rule of the SDK: `older` says which releases have it; NULL: all of those
 * compared. */
struct sdk_rule {
    const char *key, *text, *last; /* last release that has it; NULL: the newest does */
    bool broken, always;           /* always: the library would refuse it, too */
};

static int check_sdk(const struct reading *r, struct cfg c, const struct v1 *w)
{
    const char *sdk = r->s->software.sagemaker_sdk;
    bool letters = strcmp(w->placement_strategy, "cluster") != 0 &&
                   strcmp(w->placement_strategy, "spread") != 0;
    const struct sdk_rule rules[] = {
        { "partitions",
          "required up to release 2.199.0 (write \"partitions\" beside or in "
          "place of \"pipeline_parallel_degree\")",
          "2.199.0", !w->given.partitions, false },
        { "placement_strategy",
          "only \"cluster\" and \"spread\" are let through, not the "
          "letters that the library takes (\"cluster\" is DPT, \"spread\" is TPD)",
          NULL, letters, false },
        { "default_partition", "\"partitions\" is looked up and missing (give it, too)",
          NULL, w->given.default_partition && !w->given.partitions, false },
        { "default_partition", "missing, and auto_partition is off (give it)", NULL,
          !w->auto_partition && !w->given.default_partition, true },
        { "default_partition", "not below the number of partitions (write less)", NULL,
          w->given.default_partition && w->default_partition >= stages(w), true },
        { "ddp_port", "given without \"ddp\" (give \"ddp\": True)", NULL,
          w->given.ddp_port && !w->given.ddp, true },
        { "ddp_dist_backend", "given without \"ddp\" (give \"ddp\": True)", NULL,
          w->given.ddp_dist_backend && !w->given.ddp, true },
        { "horovod", "both \"ddp\" and \"horovod\" are on (keep one)", NULL,
          w->ddp && w->horovod, true },
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct cfg at = cfg_get(c, rules[i].key);
        bool newer = rules[i].last && sdk && version_compare(sdk, rules[i].last) > 0;
        if (!rules[i].broken || newer || (rules[i].last && !sdk))
            continue;
        if (sdk || rules[i].always)
            rc = cfg_error(at, "sdk rule: %s", rules[i].text);
        else
            cfg_warn(at, "sdk rule: %s", rules[i].text);
    }
    return rc;
}

/* --- what the library refuses, of the dictionary alone ---------------------------- */

struct smp_rule {
    const char *key, *text;
    bool broken;
};

static int check_library(const struct reading *r, struct cfg c, const struct v1 *w)
{
    const char *v = r->smp_version;
    bool sdp = w->sharded_data_parallel_degree > 1, tp = w->tensor_parallel_degree > 1;
    bool before_both = v && version_compare(v, "1.15") < 0;
    const struct smp_rule rules[] = {
        { "pipeline",
          "\"_only_forward\" trains nothing (write \"interleaved\" or "
          "\"simple\")",
          w->pipeline == PIPELINE_ONLY_FORWARD },
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
          sdp && stages(w) > 1 },
        { "sharded_data_parallel_degree",
          "sharded data parallelism goes with tensor "
          "parallelism from SMP 1.15 on (write \"tensor_parallel_degree\": 1, or raise "
          "the "
          "version in /software)",
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
            rc = cfg_error(cfg_get(c, rules[i].key), "smp rule: %s", rules[i].text);
    return rc;
}

/* The older name of the same number: the newer one goes before it. */
static int check_aliases(struct reading *r, struct cfg c, const struct v1 *w)
{
    if (!w->given.partitions || !w->given.pipeline_parallel_degree ||
        w->partitions == w->pipeline_parallel_degree)
        return 0;
    return reading_doubt(
        r, cfg_get(c, "partitions"),
        "smp rule: %" PRId64 " disagrees with pipeline_parallel_degree "
        "%" PRId64 ", the newer name for the same: %" PRId64 " is used "
        "(leave one of them out)",
        w->partitions, w->pipeline_parallel_degree, w->pipeline_parallel_degree);
}

/* With fewer microbatches active than there are, backwards cannot all come last. */
static bool runs_interleaved(const struct v1 *w)
{
    return w->pipeline == PIPELINE_INTERLEAVED ||
           (w->given.active_microbatches && w->active_microbatches != w->microbatches);
}

static int check_schedule(struct reading *r, struct cfg c, const struct v1 *w)
{
    if (w->pipeline != PIPELINE_SIMPLE || stages(w) == 1 || !runs_interleaved(w))
        return 0;
    return reading_doubt(r, cfg_get(c, "pipeline"),
                         "smp rule: \"simple\" needs as many active_microbatches as "
                         "microbatches (%" PRId64 ", not %" PRId64 "): the interleaved "
                         "schedule is used (leave active_microbatches out)",
                         w->microbatches, w->active_microbatches);
}

/* --- what it means ---------------------------------------------------------------- */

static int apply_placement(struct reading *r, struct cfg c, const char *word)
{
    struct layout l;
    if (strcmp(word, "cluster") == 0)
        word = "DPT";
    else if (strcmp(word, "spread") == 0)
        word = "TPD";
    if (layout_init(&l, word, 1, 1, 1))
        return cfg_error(cfg_get(c, "placement_strategy"),
                         "smp rule: \"%.40s\" is no placement (write \"cluster\", "
                         "\"spread\" or an order of the letters D, P and T)",
                         word);
    memcpy(r->s->parallel.placement, word, 4);
    return 0;
}

/* SMDDP's AllGather takes the place of NCCL's where all of this holds. */
static bool gathers_by_smddp(const struct reading *r, const struct v1 *w)
{
    const struct software *s = &r->s->software;
    const struct cluster *c = &r->s->cluster;
    if (!r->has_cluster || c->n_instances < 2 || w->sharded_data_parallel_degree < 2 ||
        w->ddp_dist_backend != DIST_AUTO)
        return false;
    for (int i = 0; i < c->n_groups; i++)
        if (strcmp(c->groups[i].instance->name, "p4d.24xlarge") != 0 &&
            strcmp(c->groups[i].instance->name, "p4de.24xlarge") != 0)
            return false;
    return !(s->pytorch && version_compare(s->pytorch, "1.12.1") < 0) &&
           !(s->smddp && version_compare(s->smddp, "1.6") < 0) &&
           !(r->smp_version && version_compare(r->smp_version, "1.13") < 0);
}

static void apply_sharding(struct reading *r, const struct v1 *w)
{
    struct parallelism *p = &r->s->parallel;
    r->has_backend = true;
    p->backend = gathers_by_smddp(r, w) ? BACKEND_SMDDP : BACKEND_NCCL;
    if (w->shard_optimizer_state)
        p->sharding = SHARDING_OPTIMIZER;
    if (w->sharded_data_parallel_degree < 2)
        return;
    p->sharding = SHARDING_FULL;
    p->shard_degree = w->sharded_data_parallel_degree;
    p->shard_reshard = true;
    p->shard_prefetch = 1; /* SMP has no parameter for it */
    p->shard_hierarchical = w->sdp_hierarchical_allgather;
    p->shard_bucket_elements = w->sdp_reduce_bucket_size;
    p->shard_persistence_elements = w->sdp_param_persistence_threshold;
    p->shard_live_elements = w->sdp_max_live_parameters;
    r->has_degree = r->has_clipping = true;
    r->clipping = w->sdp_gradient_clipping;
}

static void apply_precision(struct reading *r, struct cfg c, const struct v1 *w)
{
    bool params = w->fp16_params && w->tensor_parallel_degree > 1 &&
                  !cfg_present(cfg_get(r->training, "precision"));
    r->has_precision = w->fp16 || w->bf16 || params;
    r->precision = w->bf16 ? OP_BF16 : OP_FP16;
    r->precision_at = cfg_get(c, w->bf16 ? "bf16" : w->fp16 ? "fp16" : "fp16_params");
    if (w->fp16_params && !w->fp16 && !params)
        reading_note(r, r->precision_at,
                     w->tensor_parallel_degree > 1
                         ? "/training/precision says how parameters are kept"
                         : "it is for distributed modules, and there are none without "
                           "tensor parallelism");
}

static void apply_pipeline(struct reading *r, struct cfg c, const struct v1 *w)
{
    struct parallelism *p = &r->s->parallel;
    bool simple = !runs_interleaved(w);
    p->pipeline = stages(w);
    p->schedule = simple ? SCHEDULE_SMP_SIMPLE : SCHEDULE_SMP_INTERLEAVED;
    p->active_microbatches =
        w->given.active_microbatches ? w->active_microbatches : p->pipeline + 2;
    if (simple)
        p->active_microbatches = 0;
    p->partition = PARTITION_SMP;
    p->memory_weight = w->optimize == OPTIMIZE_SPEED ? 0.2 : 0.8;
    if (w->given.memory_weight)
        p->memory_weight = w->memory_weight;
    r->microbatches = w->given.microbatches ? w->microbatches : 0;
    r->auto_partition = w->auto_partition;
    const struct {
        const char *key, *why;
        bool given;
    } idle[] = {
        { "pipeline", "there is one pipeline stage",
          p->pipeline == 1 && w->given.pipeline },
        { "active_microbatches", "there is one pipeline stage",
          p->pipeline == 1 && w->given.active_microbatches },
        { "active_microbatches", "the simple schedule runs all forwards first",
          p->pipeline > 1 && simple && w->given.active_microbatches },
        { "memory_weight", "there is one pipeline stage",
          p->pipeline == 1 && w->given.memory_weight },
        { "default_partition", "layers are partitioned automatically",
          w->auto_partition && w->given.default_partition },
        { "activation_loading_horizon", "activations are not offloaded",
          w->given.activation_loading_horizon && !w->offload_activations },
        { "optimize", "there are no tensor ranks and no stages",
          w->given.optimize && p->pipeline == 1 && w->tensor_parallel_degree == 1 },
        { "prescaled_batch", "there are no tensor ranks",
          w->given.prescaled_batch && w->tensor_parallel_degree == 1 },
    };
    for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
        if (idle[i].given)
            reading_note(r, cfg_get(c, idle[i].key), idle[i].why);
}

/* sdp_* say how parameters are sharded, if they are. */
static void note_unsharded(struct reading *r, struct cfg c, const struct v1 *w)
{
    for (void *it = cfg_first(c); it; it = cfg_next(c, it))
        if (w->sharded_data_parallel_degree == 1 &&
            strncmp(cfg_key(it), "sdp_", 4) == 0)
            reading_note(r, cfg_member(c, it), "sharded_data_parallel_degree is 1");
}

static void apply(struct reading *r, struct cfg c, const struct v1 *w)
{
    struct parallelism *p = &r->s->parallel;
    p->library = LIBRARY_SMP;
    p->tensor = w->tensor_parallel_degree;
    p->tensor_policy =
        w->optimize == OPTIMIZE_SPEED ? TENSOR_SMP_SPEED : TENSOR_SMP_SCATTER;
    p->prescaled_batch = w->prescaled_batch || p->tensor == 1;
    p->offload_activations = w->offload_activations;
    p->activation_loading_horizon = w->activation_loading_horizon;
    p->broadcast_outputs = OUTPUTS_LOSS;
    r->smp_replicates = w->ddp || w->horovod;
    /* smp.tensor_parallelism(fused_softmax=True), from 1.7 on */
    r->fused_softmax = p->tensor > 1 &&
                       !(r->smp_version && version_compare(r->smp_version, "1.7") < 0);
    apply_pipeline(r, c, w);
    apply_sharding(r, w);
    p->distribute_embedding =
        p->sharding == SHARDING_FULL; /* as AWS's scripts have it */
    apply_precision(r, c, w);
    note_unsharded(r, c, w);
}

int smp_v1_read(struct reading *r, struct cfg c)
{
    struct v1 w = defaults;
    if (smp_params_read(r, c, rows, &w))
        return -1;
    if (check_sdk(r, c, &w) | check_library(r, c, &w) | check_aliases(r, c, &w) |
        check_schedule(r, c, &w) | apply_placement(r, c, w.placement_strategy))
        return -1;
    apply(r, c, &w);
    return 0;
}
