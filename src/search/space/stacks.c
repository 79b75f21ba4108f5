#include "search/space/stacks.h"

#include "scenario/sagemaker.h"

#include <string.h>

#define BIT(x) (1U << (x))
#define DPT BIT(0)
#define PDT BIT(1)
#define TPD BIT(2)

const char *const space_placements[SPACE_PLACEMENTS] = { "DPT", "PDT", "TPD",
                                                         "DTP", "PTD", "TDP" };

/* Sources. ddp, fsdp, deepspeed, megatron: scenario/libraries.c; orders of ranks:
 * torchtitan's stages are outermost (distributed/parallel_dims.py), as DeepSpeed's are
 * (pipe, data, model: runtime/pipe/topology.py); Megatron-LM's tp-cp-dp-pp, or tp-pp-dp
 * by --use-tp-pp-dp-mapping (arguments.py).
 * smp-v1, smp-v2: the SageMaker developer guide; the SDK takes "cluster" and "spread"
 * alone. nanotron: its orders of ranks are pipeline, data, tensor (parallel/context.py). */
/* clang-format off */
const struct space_stack space_stacks[SPACE_STACKS_N] = {
    { .name = "ddp", .row = &library_ddp, .unplanned = BIT(SHARDING_OPTIMIZER),
      .bucket = true, .checkpoints = 7, .placements = DPT,
      .what = "PyTorch DistributedDataParallel" },
    { .name = "horovod", .row = &library_horovod, .bucket = true, .checkpoints = 7,
      .placements = DPT, .what = "Horovod over PyTorch" },
    { .name = "fsdp", .row = &library_fsdp, .unplanned = BIT(SHARDING_NONE),
      .checkpoints = BIT(0) | BIT(2) | BIT(4), .placements = PDT,
      .what = "PyTorch's fully sharded data parallelism, and pipelines of it" },
    { .name = "deepspeed", .row = &library_deepspeed, .checkpoints = BIT(0) | BIT(2),
      .placements = PDT,
      .what = "DeepSpeed's ZeRO and pipelines, with Megatron's tensor parallelism" },
    { .name = "megatron", .row = &library_megatron, .checkpoints = 7,
      .placements = DPT | PDT, .what = "Megatron-LM" },
    { .name = "smp-v1", .row = &library_smp, .dialect = DIALECT_SMP1, .optimize = true,
      .checkpoints = BIT(0) | BIT(2), .placements = DPT | TPD,
      .instances = sagemaker_smp1_instances,
      .what = "SageMaker's model parallel library, v1" },
    { .name = "smp-v2", .row = &library_smp_v2, .dialect = DIALECT_SMP2,
      .unplanned = BIT(SHARDING_GRADIENTS), .checkpoints = BIT(0) | BIT(2),
      .placements = DPT,
      .what = "SageMaker's model parallel library, v2 (FSDP within)" },
    { .name = "smddp", .row = &library_smddp, .unplanned = BIT(SHARDING_OPTIMIZER),
      .checkpoints = 7, .placements = DPT, .instances = sagemaker_smddp_instances,
      .what = "DistributedDataParallel over SageMaker's data parallel library" },
    { .name = "nanotron", .row = &library_nanotron, .checkpoints = BIT(0) | BIT(2),
      .placements = PDT, .what = "Hugging Face's nanotron" },
    { .name = "megatron-fsdp", .row = &library_megatron_fsdp, .checkpoints = 7,
      .placements = PDT, .what = "Megatron's own fully sharded data parallelism" },
    { .name = "internevo", .row = &library_internevo, .checkpoints = BIT(0) | BIT(2),
      .placements = PDT, .what = "InternEvo's ZeRO-1 with tensor groups and pipelines" },
};
const struct name_value space_stack_names[] = {
    { "ddp", 0 }, { "horovod", 1 }, { "fsdp", 2 }, { "deepspeed", 3 }, { "megatron", 4 },
    { "smp-v1", 5 }, { "smp-v2", 6 }, { "smddp", 7 }, { "smp", 5 },
    { "nanotron", 8 }, { "megatron-fsdp", 9 }, { "internevo", 10 }, { NULL, 0 },
};
const struct name_value space_for_names[] = {
    { "smp-v1", 1 << 5 }, { "smp-v2", 1 << 6 }, { "megatron", 1 << 4 },
    { "deepspeed", 1 << 3 }, { "fsdp", 1 << 2 }, { "ddp", 1 << 0 },
    { "horovod", 1 << 1 }, { "smddp", 1 << 7 }, { "smp", 1 << 5 },
    { "nanotron", 1 << 8 }, { "megatron-fsdp", 1 << 9 }, { "internevo", 1 << 10 },
    { NULL, 0 },
};
/* clang-format on */

int64_t space_stack_placement(const struct space_stack *stack)
{
    const char *own = stack->row->placement;
    int64_t i = 0;
    while (own && strcmp(space_placements[i], own) != 0)
        i++;
    return i;
}

bool space_stack_runs_on(const struct space_stack *stack, const char *instance)
{
    return !stack->instances || names_listed(stack->instances, instance);
}
