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
 * alone. nanotron: its orders of ranks are pipeline, data, tensor (parallel/context.py).
 * Megatron-DeepSpeed's layers recompute their core attention in pipelines, too, whose
 * interval of checkpoints is 0 then (megatron/model/gpt_model.py, transformer.py). */
/* clang-format off */
const struct space_stack space_stacks[SPACE_STACKS_N] = {
    [STACK_DDP] =
    { .name = "ddp", .row = &library_ddp, .unplanned = BIT(SHARDING_OPTIMIZER),
      .bucket = true, .checkpoints = 7, .placements = DPT,
      .what = "PyTorch DistributedDataParallel" },
    [STACK_HOROVOD] =
    { .name = "horovod", .row = &library_horovod, .bucket = true, .checkpoints = 7,
      .placements = DPT, .what = "Horovod over PyTorch" },
    [STACK_FSDP] =
    { .name = "fsdp", .row = &library_fsdp, .unplanned = BIT(SHARDING_NONE),
      .checkpoints = BIT(0) | BIT(2) | BIT(4), .placements = PDT,
      .what = "PyTorch's fully sharded data parallelism, and pipelines of it" },
    [STACK_DEEPSPEED] =
    { .name = "deepspeed", .row = &library_deepspeed, .checkpoints = BIT(0) | BIT(2),
      .split_selective = true, .placements = PDT,
      .what = "DeepSpeed's ZeRO and pipelines, with Megatron's tensor parallelism" },
    [STACK_MEGATRON] =
    { .name = "megatron", .row = &library_megatron, .checkpoints = 7,
      .placements = DPT | PDT, .what = "Megatron-LM" },
    [STACK_SMP1] =
    { .name = "smp-v1", .row = &library_smp, .dialect = DIALECT_SMP1, .optimize = true,
      .checkpoints = BIT(0) | BIT(2), .placements = DPT | TPD,
      .instances = sagemaker_smp1_instances,
      .what = "SageMaker's model parallel library, v1" },
    [STACK_SMP2] =
    { .name = "smp-v2", .row = &library_smp_v2, .dialect = DIALECT_SMP2,
      .unplanned = BIT(SHARDING_GRADIENTS), .checkpoints = BIT(0) | BIT(2),
      .placements = DPT,
      .what = "SageMaker's model parallel library, v2 (FSDP within)" },
    [STACK_SMDDP] =
    { .name = "smddp", .row = &library_smddp, .unplanned = BIT(SHARDING_OPTIMIZER),
      .checkpoints = 7, .placements = DPT, .instances = sagemaker_smddp_instances,
      .what = "DistributedDataParallel over SageMaker's data parallel library" },
    [STACK_NANOTRON] =
    { .name = "nanotron", .row = &library_nanotron, .checkpoints = BIT(0) | BIT(2),
      .placements = PDT, .what = "Hugging Face's nanotron" },
    [STACK_MEGATRON_FSDP] =
    { .name = "megatron-fsdp", .row = &library_megatron_fsdp, .checkpoints = 7,
      .placements = PDT, .what = "Megatron's own fully sharded data parallelism" },
    [STACK_INTERNEVO] =
    { .name = "internevo", .row = &library_internevo, .checkpoints = BIT(0) | BIT(2),
      .placements = PDT, .what = "InternEvo's ZeRO-1 with tensor groups and pipelines" },
};
const struct name_value space_stack_names[] = {
    { "ddp", STACK_DDP }, { "horovod", STACK_HOROVOD }, { "fsdp", STACK_FSDP },
    { "deepspeed", STACK_DEEPSPEED }, { "megatron", STACK_MEGATRON },
    { "smp-v1", STACK_SMP1 }, { "smp-v2", STACK_SMP2 }, { "smddp", STACK_SMDDP },
    { "smp", STACK_SMP1 }, { "nanotron", STACK_NANOTRON },
    { "megatron-fsdp", STACK_MEGATRON_FSDP }, { "internevo", STACK_INTERNEVO },
    { NULL, 0 },
};
const struct name_value space_for_names[] = {
    { "smp-v1", 1 << STACK_SMP1 }, { "smp-v2", 1 << STACK_SMP2 },
    { "megatron", 1 << STACK_MEGATRON }, { "deepspeed", 1 << STACK_DEEPSPEED },
    { "fsdp", 1 << STACK_FSDP }, { "ddp", 1 << STACK_DDP },
    { "horovod", 1 << STACK_HOROVOD }, { "smddp", 1 << STACK_SMDDP },
    { "smp", 1 << STACK_SMP1 }, { "nanotron", 1 << STACK_NANOTRON },
    { "megatron-fsdp", 1 << STACK_MEGATRON_FSDP },
    { "internevo", 1 << STACK_INTERNEVO }, { NULL, 0 },
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
