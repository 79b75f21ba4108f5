#include "scenario/libraries.h"

#include "scenario/scenario.h"

#define BIT(x) (1U << (x))
#define ALL_BITS (~0U)

/* clang-format off */
const struct name_value library_names[] = {
    { "ddp", LIBRARY_DDP }, { "fsdp", LIBRARY_FSDP }, { "deepspeed", LIBRARY_DEEPSPEED },
    { "megatron", LIBRARY_MEGATRON }, { "smp", LIBRARY_SMP },
    { "horovod", LIBRARY_HOROVOD }, { "parameter-server", LIBRARY_PARAMETER_SERVER },
    { "nanotron", LIBRARY_NANOTRON }, { "megatron-fsdp", LIBRARY_MEGATRON_FSDP },
    { "internevo", LIBRARY_INTERNEVO }, { NULL, 0 },
};
enum {
    WORD_SMP_V2 = LIBRARY_INTERNEVO + 1,
    WORD_SMDDP
};
const struct name_value library_words[] = {
    { "ddp", LIBRARY_DDP }, { "fsdp", LIBRARY_FSDP }, { "deepspeed", LIBRARY_DEEPSPEED },
    { "megatron", LIBRARY_MEGATRON }, { "smp", LIBRARY_SMP }, { "smp-v1", LIBRARY_SMP },
    { "smp-v2", WORD_SMP_V2 }, { "horovod", LIBRARY_HOROVOD },
    { "smddp", WORD_SMDDP }, { "parameter-server", LIBRARY_PARAMETER_SERVER },
    { "nanotron", LIBRARY_NANOTRON }, { "megatron-fsdp", LIBRARY_MEGATRON_FSDP },
    { "internevo", LIBRARY_INTERNEVO }, { NULL, 0 },
};
const struct name_value backend_names[] = {
    { "nccl", BACKEND_NCCL }, { "smddp", BACKEND_SMDDP }, { NULL, 0 },
};

static const struct backend_row backends[] = {
    [BACKEND_NCCL] = { .buffers = false },
    [BACKEND_SMDDP] = { .buffers = true, .gathers = true },
};

/* Threshold and cycle of Horovod by release (docs/tensor-fusion.rst); those of "0" are
 * 0.15's to 0.19's. */
static const struct library_release horovod_releases[] = {
    { "0.22", 128 << 20, 1e-3 },
    { "0", 64 << 20, 5e-3 },
};

static const char fsdp_and_deepspeed[] = "\"fsdp\" and \"deepspeed\" do";

enum {
    MIB = 1 << 20,
    ZERO_BUCKET = 500000000,
    SMDDP_BUFFER_B = 32 * MIB, /* not documented; the Herring paper tunes tens of MB */
};

/* DistributedDataParallel: bucket_cap_mb, its first bucket, broadcast_buffers
 * (torch/nn/parallel/distributed.py); ZeroRedundancyOptimizer shards the optimizer. */
#define DDP_COMMON \
    .title = "PyTorch", .launcher = "torch_distributed", .shardings = BIT(SHARDING_NONE) | BIT(SHARDING_OPTIMIZER), \
    .pipeline_shardings = ALL_BITS, .shardings_mend = fsdp_and_deepspeed, \
    .smddp = true, .copies_gradients = true, .bucket_views = true, .first_bucket = true, \
    .interleaves_all_first = true, .broadcasts_buffers = true, .vocabulary_multiple = 1

/* FullyShardedDataParallel: FULL_SHARD is its default, SHARD_GRAD_OP keeps units
 * gathered until backward; limit_all_gathers lets two gathers be in flight. Units are
 * gathered and reduced on streams of their own. A schedule of
 * torch/distributed/pipelining/schedules.py does not run all forwards first. */
#define FSDP_COMMON \
    .title = "PyTorch", .launcher = "torch_distributed", .pytorch2 = true, \
    .shardings = BIT(SHARDING_NONE) | BIT(SHARDING_GRADIENTS) | BIT(SHARDING_FULL), \
    .pipeline_shardings = ~BIT(SHARDING_GRADIENTS), .part_shards = true, .shardings_mend = "\"deepspeed\" does", \
    .shards = { .in_flight = 2 }, .gradients_mean_full = true, .smddp = true, \
    .script_models = true, .reduces_units = true, .streams = true, \
    .vocabulary_multiple = 1

const struct library_row library_ddp = {
    .library = LIBRARY_DDP,
    .name = "ddp",
    DDP_COMMON,
    .profiles = { { PROFILE_ALWAYS, "pytorch-ddp" } },
    .bucket = { .size_B = 25 * MIB },
    .early_updates = true,
    .wrapped_by = "fsdp",
};

const struct library_row library_smddp = {
    .library = LIBRARY_DDP,
    .backend = BACKEND_SMDDP,
    .name = "smddp",
    DDP_COMMON,
    .profiles = { { PROFILE_ALWAYS, "smddp" } },
    .bucket = { .size_B = SMDDP_BUFFER_B, .use = BUCKET_ALWAYS },
};

const struct library_row library_fsdp = {
    .library = LIBRARY_FSDP,
    .name = "fsdp",
    .placement = "PDT",
    FSDP_COMMON,
    .profiles = { { PROFILE_OLD_PYTORCH, "fsdp-torch1.11" },
                  { PROFILE_ALWAYS, "fsdp-eager" } },
    .sharding = SHARDING_FULL,
    .pipeline = true,
    .stage_counts = true,    /* the script cuts its model */
    .message_buffers = true, /* torch/distributed/pipelining/stage.py */
    .schedules = BIT(SCHEDULE_GPIPE) | BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_INTERLEAVED) |
                 BIT(SCHEDULE_LOOPED_BFS) | BIT(SCHEDULE_ZB_INTERLEAVED) |
                 BIT(SCHEDULE_ZB_V) | BIT(SCHEDULE_DUALPIPE_V),
    .offloads = BIT(OFFLOAD_NONE) | BIT(OFFLOAD_PARAMETERS),
    .offloads_layers = true, /* Transformer Engine's */
    .no_sync = true,
    .early_updates = true,
    .gathers_logits = true,
    .expert_tensor = true, /* torchtitan: expert_tensor_parallel_degree */
    .dispatchers = BIT(DISPATCHER_DEEPEP) | BIT(DISPATCHER_HYBRIDEP), /* likewise */
};

/* SMP v2 trains with FSDP and needs PyTorch 2; its dictionary says what is sharded. */
const struct library_row library_smp_v2 = {
    .library = LIBRARY_FSDP,
    .name = "smp-v2",
    .sharding = SHARDING_FULL, /* over all ranks, unless hybrid_shard_degree is 1 */
    .smp = { .dictionary = true, .engine = true },
    FSDP_COMMON,
    .profiles = { { PROFILE_ALWAYS, "fsdp-torch2" } },
    .smp_extensions = true,
    .tensor = true,
    .context = true,
    .expert = true, /* Megatron-Core's layers, all-to-all */
};

/* reduce_bucket_size, stage3_param_persistence_threshold, stage3_max_live_parameters,
 * stage3_max_reuse_distance (deepspeed/runtime/zero/config.py); without ZeRO all
 * gradients are reduced after backward, bucket by bucket (allreduce_gradients,
 * MEMORY_OPT_ALLREDUCE_SIZE: deepspeed/runtime/engine.py). Ranks save their parts
 * each (save_checkpoint, ibid.). micro_batches = gradient_accumulation_steps, and
 * pipelines shard the optimizer alone (deepspeed/runtime/pipe/engine.py). Models are
 * split as Megatron-DeepSpeed does; full sharding is ZeRO-3; else the script's own
 * kernels run. */
const struct library_row library_deepspeed = {
    .library = LIBRARY_DEEPSPEED,
    .title = "DeepSpeed",
    .name = "deepspeed",
    .placement = "PDT",
    .launcher = "torch_distributed",
    .profiles = { { PROFILE_MODEL_SPLIT, "megatron-deepspeed" },
                  { PROFILE_FULL, "deepspeed-zero3-eager" },
                  { PROFILE_ALWAYS, "pytorch-ddp" } },
    .bucket = { .elements = ZERO_BUCKET, .use = BUCKET_OVER },
    .shards = { .bucket = ZERO_BUCKET, .persistence = 100000,
                .live = 1000000000, .reuse = 1000000000 },
    .vocabulary_multiple = 1,
    .shardings = ALL_BITS,
    .pipeline_shardings = BIT(SHARDING_NONE) | BIT(SHARDING_OPTIMIZER),
    .shardings_mend = "",
    .smddp = true,
    .script_models = true,
    .fp32_weights = true,
    .states_at_start = true,
    .flat_shards = true,
    /* A step of 72 billion parameters on 4 nodes of 8 A100 takes 10 s longer than on the
     * GPUs (0.13; DeepSpeed issue 6834), one of 3.09 billion on 2 of 8 about 2.2 s (0.10;
     * blogs/zenflow-corebinding, with cores bound or not) */
    .host_update = 0.115,
    .saves_shards = ALL_BITS,
    .reduces_after = BIT(SHARDING_NONE),
    .sums_whole = BIT(SHARDING_OPTIMIZER) | BIT(SHARDING_GRADIENTS),
    .reduces_each = BIT(SHARDING_GRADIENTS),
    .fills_once = true,
    .keeps_stage_outputs = true,
    .interleaves_all_first = true,
    .scatters_messages = true, /* "pipe_partitioned": deepspeed/runtime/config.py */
    .gathers_logits = true, /* LmHeadLinearAllreduce: deepspeed/module_inject/layers.py */
    .tensor = true,
    .pipeline = true,
    .ulysses = true,
    .schedules = BIT(SCHEDULE_1F1B),
    .part_shards = true,
    .offloads = ALL_BITS,
};

/* Buckets: megatron/core/distributed/distributed_data_parallel.py and get_model of
 * megatron/training/training.py: 40 million elements, or 1 million a replica where
 * that is more; none without overlap; and only the first chunk of the first stage has
 * several, as what others reduce is not on the critical path. Microbatches are what
 * a global batch holds of data x micro-batch (megatron/core/
 * num_microbatches_calculator.py). Vocabularies: --make-vocab-size-divisible-by. */
const struct library_row library_megatron = {
    .library = LIBRARY_MEGATRON,
    .title = "Megatron",
    .name = "megatron",
    .placement = "PDT",
    .profiles = { { PROFILE_RECENT, "megatron-core" },
                  { PROFILE_ALWAYS, "megatron-2022" } },
    .bucket = { .elements = 40000000, .each_rank = 1000000 },
    .vocabulary_multiple = 128,
    .shardings = BIT(SHARDING_NONE) | BIT(SHARDING_OPTIMIZER),
    .pipeline_shardings = ALL_BITS,
    .shardings_mend = fsdp_and_deepspeed,
    .own_models = true,
    .reduces_sums = true,
    .fp32_weights = true,
    .buckets_by_overlap = true,
    .buckets_by_chunk = true,
    .fills_once = true,
    .waits_for_sends = true,
    .interleaves_all_first = true,
    .stage_counts = true, /* --pipeline-model-parallel-layout of core 0.13 */
    .copies_keys = true,
    .defers_wgrads = true,
    .scatters_messages = true,
    .gathers_logits = true, /* GPTModel's parallel_output: megatron/core/models/gpt */
    .mtp = true,
    .muon_owners = true,
    .muon_tf32 = true,
    .offloads_modules = true,
    .offloads_layers = true,
    .graphs = true,
    .tensor = true,
    .pipeline = true,
    .context = true,
    .expert = true,
    .expert_tensor = true,
    .dispatchers = ALL_BITS, /* allgather, alltoall, flex (0.12: DeepEP; 0.15: Hybrid-EP):
                                megatron/core/transformer/moe/token_dispatcher.py */
    .sequence_parallel = true,
    .schedules = BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_INTERLEAVED),
};

/* megatron/core/distributed/fsdp, from core 0.14 on, "optim_grads_params": a layer is a
 * unit that is gathered and reduced as FSDP's, on streams of its own; models, experts,
 * graphs and optimizers are Megatron's. Groups smaller than all ranks are instances of
 * the distributed optimizer (HSDP). */
const struct library_row library_megatron_fsdp = {
    .library = LIBRARY_MEGATRON_FSDP,
    .title = "Megatron-FSDP",
    .name = "megatron-fsdp",
    .placement = "PDT",
    .profiles = { { PROFILE_ALWAYS, "megatron-core" } },
    .sharding = SHARDING_FULL,
    .shardings = BIT(SHARDING_FULL),
    .pipeline_shardings = BIT(SHARDING_FULL),
    .part_shards = true,
    .shardings_mend = "\"megatron\" has the optimizer's",
    .shards = { .in_flight = 2 },
    .own_models = true,
    .reduces_units = true,
    .reduces_head = true, /* _post_backward of megatron_fsdp.py, of each module */
    .streams = true,
    .fp32_weights = true,
    .vocabulary_multiple = 128,
    .copies_keys = true,
    .mtp = true,
    .offloads_modules = true,
    .offloads_layers = true, /* Transformer Engine's */
    .graphs = true,
    .tensor = true,
    .pipeline = true,
    .context = true,
    .expert = true,
    .expert_tensor = true,
    .dispatchers = ALL_BITS,
    .sequence_parallel = true,
    .stage_counts = true,
    .fills_once = true,
    .waits_for_sends = true,
    .interleaves_all_first = true,
    .schedules = BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_INTERLEAVED),
};

/* SMP v1 (SageMaker developer guide; smd_model_parallel_general.rst,
 * smd_model_parallel_pytorch.rst of the SDK): DDP's buckets; the sdp_ parameters of
 * sharded data parallelism; modules that share a parameter are on one device ("How
 * partitioning works"); no whole optimizer state is saved where it is sharded
 * (shard_optimizer_state); backward_passes_per_step calls of smp.step, each of
 * `microbatches`. A tensor rank may have a word more than others. */
#define SMP_COMMON \
    .library = LIBRARY_SMP, .title = "SMP", .launcher = "torch_distributed", \
    .profiles = { { PROFILE_ALWAYS, "smp-v1" } }, .bucket = { .size_B = 25 * MIB }, \
    .shards = { .bucket = 500000000, .persistence = 1000000, .live = 1000000000 }, \
    .vocabulary_multiple = 1, \
    .shardings = BIT(SHARDING_NONE) | BIT(SHARDING_OPTIMIZER) | BIT(SHARDING_FULL), \
    .pipeline_shardings = BIT(SHARDING_NONE) | BIT(SHARDING_OPTIMIZER), \
    .shardings_mend = "write \"optimizer\" or \"full\"", .smp_extensions = true, \
    .smddp = true, .fp32_weights = true, .saves_shards = BIT(SHARDING_OPTIMIZER), \
    .copies_gradients = true, .bucket_views = true, .first_bucket = true, .reduces_to_owner = BIT(SHARDING_OPTIMIZER), \
    .interleaves_all_first = true, .shares_on_one_stage = true, \
    .broadcasts_outputs = true, .tensor = true, .pipeline = true, \
    .schedules = BIT(SCHEDULE_SMP_SIMPLE) | BIT(SCHEDULE_SMP_INTERLEAVED), \
    .part_shards = true

/* With its dictionary. */
const struct library_row library_smp = {
    SMP_COMMON,
    .name = "smp-v1",
    .smp = { .dictionary = true, .script = true, .sharding = true, .precision = true,
             .merges_batches = true, .whole_modules = true, .whole_ends = true,
             .rings = true, .sdk_rules = true },
};

/* Its schedules and states, by /parallelism alone. */
static const struct library_row smp_schedules = {
    SMP_COMMON,
    .name = "smp",
    .planned_as = &library_smp,
};

/* Fusion threshold: horovod/common/common.h. */
const struct library_row library_horovod = {
    .library = LIBRARY_HOROVOD,
    .title = "Horovod",
    .name = "horovod",
    .launcher = "mpi",
    .profiles = { { PROFILE_ALWAYS, "horovod-pytorch" } },
    .releases = horovod_releases,
    .bucket = { .size_B = 64 * MIB }, /* the profile's, of 0.19 */
    .vocabulary_multiple = 1,
    .shardings = BIT(SHARDING_NONE),
    .pipeline_shardings = ALL_BITS,
    .shardings_mend = fsdp_and_deepspeed,
    .copies_gradients = true,
    .fuses_by_cycle = true,
    .interleaves_all_first = true,
};

const struct library_row library_parameter_server = {
    .library = LIBRARY_PARAMETER_SERVER,
    .title = "parameter servers",
    .name = "parameter-server",
    .launcher = "parameter_server",
    .profiles = { { PROFILE_ALWAYS, "pytorch-ddp" } },
    .bucket = { .size_B = 25 * MIB },
    .vocabulary_multiple = 1,
    .shardings = BIT(SHARDING_NONE),
    .pipeline_shardings = ALL_BITS,
    .shardings_mend = fsdp_and_deepspeed,
    .copies_gradients = true,
    .first_bucket = true,
    .servers = true,
    .interleaves_all_first = true,
};

/* huggingface/nanotron @0e0a27ea, src/nanotron: with ZeRO-0 DistributedDataParallel whose
 * hook adds gradients to fp32 sums and reduces those (trainer.py, _init_model;
 * optim/gradient_accumulator.py), buckets of 25 MiB of bf16; with ZeRO-1 no DDP: all sums
 * are reduced at once, after backward, on every rank (trainer.py, training_step:
 * reduce_scatter=False), and each tensor's piece of each rank is gathered (optim/zero.py,
 * _all_gather_params). Stages: models/base.py, build_model. Sends are waited for
 * (parallel/pipeline_parallel/p2p.py, send_tensors); 1F1B asserts its microbatches
 * (engine.py, train_batch_iter). Barriers are those of the default group, all else of all
 * ranks that of a second one (parallel/context.py, world_pg); single sends make PyTorch a
 * communicator for each pair (ProcessGroupNCCL.cpp, getKeySendRecv). Before its model is
 * made, the benchmark (branch nouamane/bench2 @67c5ebb6: run_multinode.sh; trainer.py,
 * measure_bandwidth; parallel/context.py, local_pg) measures all-reduces and gathers within
 * nodes. */
const struct library_row library_nanotron = {
    .library = LIBRARY_NANOTRON,
    .title = "nanotron",
    .name = "nanotron",
    .placement = "PDT",
    .profiles = { { PROFILE_ALWAYS, "nanotron" } },
    .bucket = { .elements = 25 * MIB / 2 },
    .vocabulary_multiple = 1,
    .shardings = BIT(SHARDING_NONE) | BIT(SHARDING_OPTIMIZER),
    .pipeline_shardings = ALL_BITS,
    .shardings_mend = fsdp_and_deepspeed,
    .own_models = true,
    .copies_gradients = true,
    .sums_in_hook = true,
    .sums_flat = true,
    .first_bucket = true,
    .buckets_by_overlap = true,
    .reduces_after = BIT(SHARDING_OPTIMIZER),
    .sums_whole = BIT(SHARDING_OPTIMIZER),
    .gathers_lists = BIT(SHARDING_OPTIMIZER),
    .partition = PARTITION_COMPUTE,
    .fills_once = true,
    .fill_needs_stages = true,
    .waits_for_sends = true,
    .interleaves_all_first = true,
    .worlds = 2,
    .pairs = true,
    .node_group = true,
    .overlaps_linear = true, /* parallelism.tp_linear_async_communication */
    .tensor = true,
    .pipeline = true,
    .context = true,
    .sequence_parallel = true,
    .schedules = BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_GPIPE),
};

/* InternLM/InternEvo @c628a8c, internlm/solver/optimizer/hybrid_zero_optim.py: buckets of
 * reduce_bucket_size elements are flattened, all-reduced on every rank and copied back
 * (reduce_rank is None); each rank of zero1 updates whole tensors and broadcasts them.
 * Pipelines: internlm/core/scheduler/pipeline_scheduler.py. */
const struct library_row library_internevo = {
    .library = LIBRARY_INTERNEVO,
    .title = "InternEvo",
    .name = "internevo",
    .placement = "PDT",
    .profiles = { { PROFILE_ALWAYS, "internevo" } },
    .bucket = { .elements = 512 * MIB },
    .vocabulary_multiple = 1,
    .shardings = BIT(SHARDING_NONE) | BIT(SHARDING_OPTIMIZER),
    .pipeline_shardings = ALL_BITS,
    .shardings_mend = fsdp_and_deepspeed,
    .own_models = true,
    .fp32_weights = true,
    .states_at_start = true,
    .copies_gradients = true,
    .sums_whole = BIT(SHARDING_OPTIMIZER),
    .part_shards = true,
    .fills_once = true,
    .waits_for_sends = true,
    .interleaves_all_first = true,
    .tensor = true,
    .pipeline = true,
    .sequence_parallel = true,
    .schedules = BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_INTERLEAVED),
};

static const struct library_row *const rows[] = {
    [LIBRARY_DDP] = &library_ddp,
    [LIBRARY_FSDP] = &library_fsdp,
    [LIBRARY_DEEPSPEED] = &library_deepspeed,
    [LIBRARY_MEGATRON] = &library_megatron,
    [LIBRARY_SMP] = &smp_schedules,
    [LIBRARY_HOROVOD] = &library_horovod,
    [LIBRARY_PARAMETER_SERVER] = &library_parameter_server,
    [LIBRARY_NANOTRON] = &library_nanotron,
    [LIBRARY_MEGATRON_FSDP] = &library_megatron_fsdp,
    [LIBRARY_INTERNEVO] = &library_internevo,
    [WORD_SMP_V2] = &library_smp_v2,
    [WORD_SMDDP] = &library_smddp,
};
static const struct library_row *const generations[] = {
    NULL, &library_smp, &library_smp_v2, /* of SMP's dictionary */
};
/* clang-format on */

const struct library_row *library_of(const struct parallelism *p)
{
    if (p->smp)
        return generations[p->smp];
    if (p->reduce.library == LIBRARY_DDP && p->reduce.backend == BACKEND_SMDDP)
        return &library_smddp;
    return rows[p->reduce.library];
}

const struct library_row *library_of_word(int word)
{
    return rows[word];
}

const struct backend_row *backend_of(const struct parallelism *p)
{
    return &backends[p->reduce.backend];
}

bool backend_is_smddp(const struct parallelism *p)
{
    return p->reduce.backend == BACKEND_SMDDP;
}

const char *library_word(const struct parallelism *p)
{
    return names_of(library_names, p->reduce.library);
}

int library_set(struct parallelism *p, const char *word)
{
    p->reduce.library = LIBRARY_DDP;
    return word ? names_find(library_names, word, &p->reduce.library) : 0;
}

int backend_set(struct parallelism *p, const char *word)
{
    p->reduce.backend = BACKEND_NCCL;
    return word ? names_find(backend_names, word, &p->reduce.backend) : 0;
}

bool library_infer(struct parallelism *p)
{
    bool split = p->tensor > 1 || p->pipeline > 1 || p->context > 1 || p->expert > 1;
    if (p->reduce.library != LIBRARY_DDP)
        return false;
    p->reduce.library = p->shard.strategy == SHARDING_FULL   ? LIBRARY_FSDP
                        : split                              ? LIBRARY_MEGATRON
                        : p->shard.strategy != SHARDING_NONE ? LIBRARY_DEEPSPEED
                                                             : LIBRARY_DDP;
    return p->reduce.library != LIBRARY_DDP;
}

const char *library_launcher(const struct parallelism *p)
{
    return p->reduce.backend == BACKEND_SMDDP ? "smdistributed"
                                              : library_of(p)->launcher;
}

const struct library_row *library_named(const char *word)
{
    int library = LIBRARY_DDP;
    names_find(library_names, word, &library);
    return rows[library];
}

bool library_is_asynchronous(const struct parallelism *p)
{
    return p->reduce.asynchronous && library_of(p)->servers;
}
