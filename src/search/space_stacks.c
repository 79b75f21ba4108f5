#include "search/space_stacks.h"

#include "scenario/sagemaker.h"

#define BIT(x) (1U << (x))
#define NONE BIT(0)
#define PIPELINES (BIT(SCHEDULE_GPIPE) | BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_INTERLEAVED))
#define SMP_PIPELINES (BIT(SCHEDULE_SMP_SIMPLE) | BIT(SCHEDULE_SMP_INTERLEAVED))
#define DPT BIT(0)
#define PDT BIT(1)
#define TPD BIT(2)

/* Sources. ddp: torch's ZeroRedundancyOptimizer shards the optimizer. fsdp: schedules
 * of torch.distributed.pipelining; FSDP2 shards their stages (MODEL.md, R8.4).
 * deepspeed: ZeRO stages; its pipelines allow stage 1 only; ranks are laid out pipe,
 * data, model. megatron: arguments.py (1F1B, interleaved; distributed optimizer;
 * tp-cp-dp-pp order, or tp-pp-dp). smp-v1, smp-v2: the SageMaker developer guide; the
 * SDK takes "cluster" and "spread" alone. */
/* clang-format off */
const struct space_stack space_stacks[SPACE_STACKS_N] = {
    { .name = "ddp", .library = LIBRARY_DDP, .bucket = true, .schedules = NONE,
      .shardings = NONE, .offloads = NONE, .checkpoints = 7, .placements = DPT,
      .what = "PyTorch DistributedDataParallel" },
    { .name = "horovod", .library = LIBRARY_HOROVOD, .bucket = true, .schedules = NONE,
      .shardings = NONE, .offloads = NONE, .checkpoints = 7, .placements = DPT,
      .what = "Horovod over PyTorch" },
    { .name = "fsdp", .library = LIBRARY_FSDP, .pipeline = true,
      .schedules = PIPELINES, .shard_degree = true, .shards_stages = true,
      .shardings = BIT(SHARDING_GRADIENTS) | BIT(SHARDING_FULL),
      .offloads = NONE | BIT(OFFLOAD_PARAMETERS), .checkpoints = BIT(0) | BIT(2),
      .placements = DPT | PDT,
      .what = "PyTorch's fully sharded data parallelism, and pipelines of it" },
    { .name = "deepspeed", .library = LIBRARY_DEEPSPEED, .tensor = true, .pipeline = true,
      .schedules = BIT(SCHEDULE_1F1B), .shard_degree = true, .shardings = 15,
      .offloads = 7, .checkpoints = BIT(0) | BIT(2), .placements = DPT | PDT,
      .what = "DeepSpeed's ZeRO and pipelines, with Megatron's tensor parallelism" },
    { .name = "megatron", .library = LIBRARY_MEGATRON, .tensor = true, .pipeline = true,
      .context = true, .expert = true, .sequence_parallel = true,
      .schedules = BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_INTERLEAVED),
      .shardings = NONE | BIT(SHARDING_OPTIMIZER), .offloads = NONE, .checkpoints = 7,
      .placements = DPT | PDT, .what = "Megatron-LM" },
    { .name = "smp-v1", .library = LIBRARY_SMP, .dialect = DIALECT_SMP1, .tensor = true,
      .pipeline = true, .optimize = true, .shard_degree = true,
      .schedules = SMP_PIPELINES,
      .shardings = NONE | BIT(SHARDING_OPTIMIZER) | BIT(SHARDING_FULL),
      .offloads = NONE, .checkpoints = BIT(0) | BIT(2), .placements = DPT | TPD,
      .instances = sagemaker_smp1_instances, .what = "SageMaker's model parallel library, v1" },
    { .name = "smp-v2", .library = LIBRARY_SMP, .dialect = DIALECT_SMP2, .tensor = true,
      .context = true, .expert = true, .shard_degree = true, .schedules = NONE,
      .shardings = NONE | BIT(SHARDING_FULL), .offloads = NONE,
      .checkpoints = BIT(0) | BIT(2), .placements = DPT,
      .what = "SageMaker's model parallel library, v2 (FSDP within)" },
    { .name = "smddp", .library = LIBRARY_DDP, .backend = BACKEND_SMDDP, .schedules = NONE,
      .shardings = NONE, .offloads = NONE, .checkpoints = 7, .placements = DPT,
      .instances = sagemaker_smddp_instances,
      .what = "DistributedDataParallel over SageMaker's data parallel library" },
};
const struct name_value space_stack_names[] = {
    { "ddp", 0 }, { "horovod", 1 }, { "fsdp", 2 }, { "deepspeed", 3 }, { "megatron", 4 },
    { "smp-v1", 5 }, { "smp-v2", 6 }, { "smddp", 7 }, { "smp", 5 }, { NULL, 0 },
};
const struct name_value space_for_names[] = {
    { "smp-v1", 1 << 5 }, { "smp-v2", 1 << 6 }, { "megatron", 1 << 4 },
    { "deepspeed", 1 << 3 }, { "fsdp", 1 << 2 }, { "ddp", 1 << 0 },
    { "horovod", 1 << 1 }, { "smddp", 1 << 7 }, { "smp", 1 << 5 }, { NULL, 0 },
};
/* clang-format on */

bool space_stack_runs_on(const struct space_stack *stack, const char *instance)
{
    return !stack->instances || names_listed(stack->instances, instance);
}
