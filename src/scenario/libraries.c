#include "scenario/libraries.h"

/* clang-format off */
const struct name_value library_names[] = {
    { "ddp", LIBRARY_DDP }, { "fsdp", LIBRARY_FSDP }, { "deepspeed", LIBRARY_DEEPSPEED },
    { "megatron", LIBRARY_MEGATRON }, { "smp", LIBRARY_SMP },
    { "horovod", LIBRARY_HOROVOD }, { "parameter-server", LIBRARY_PARAMETER_SERVER },
    { NULL, 0 },
};
const struct name_value library_words[] = {
    { "ddp", LIBRARY_DDP }, { "fsdp", LIBRARY_FSDP }, { "deepspeed", LIBRARY_DEEPSPEED },
    { "megatron", LIBRARY_MEGATRON }, { "smp", LIBRARY_SMP }, { "smp-v1", LIBRARY_SMP },
    { "smp-v2", LIBRARY_FSDP }, { "horovod", LIBRARY_HOROVOD },
    { "smddp", LIBRARY_WORD_SMDDP }, { "parameter-server", LIBRARY_PARAMETER_SERVER },
    { NULL, 0 },
};

/* fills_once. Megatron: microbatches are what a global batch holds of data x micro-batch
 * (Megatron-LM, megatron/core/num_microbatches_calculator.py). DeepSpeed:
 * micro_batches = gradient_accumulation_steps (deepspeed/runtime/pipe/engine.py,
 * PipelineEngine.__init__). SMP: backward_passes_per_step calls of smp.step, each of
 * `microbatches` (SageMaker SDK, smd_model_parallel_pytorch.rst). PyTorch: a schedule
 * cuts one batch into n_microbatches, and a script accumulates around it
 * (torch/distributed/pipelining/schedules.py; torchtitan/train.py). */
static const struct {
    const char *title;
    bool fills_once;
} libraries[] = {
    [LIBRARY_DDP]              = { "PyTorch", false },
    [LIBRARY_FSDP]             = { "PyTorch", false },
    [LIBRARY_DEEPSPEED]        = { "DeepSpeed", true },
    [LIBRARY_MEGATRON]         = { "Megatron", true },
    [LIBRARY_SMP]              = { "SMP", false },
    [LIBRARY_HOROVOD]          = { "Horovod", false },
    [LIBRARY_PARAMETER_SERVER] = { "parameter servers", false },
};
/* clang-format on */

const char *library_title(enum library library)
{
    return libraries[library].title;
}

bool library_fills_once(enum library library)
{
    return libraries[library].fills_once;
}
