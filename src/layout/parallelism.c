/* The words of a scenario for what parallelism.h names. */
#include "layout/parallelism.h"

#include "base/names.h"

/* clang-format off */
const struct name_value parallelism_schedule_names[] = {
    { "gpipe", SCHEDULE_GPIPE }, { "1f1b", SCHEDULE_1F1B },
    { "interleaved", SCHEDULE_INTERLEAVED }, { "zb-h1", SCHEDULE_ZB_H1 },
    { "smp-simple", SCHEDULE_SMP_SIMPLE }, { "smp-interleaved", SCHEDULE_SMP_INTERLEAVED },
    { "looped-bfs", SCHEDULE_LOOPED_BFS }, { "interleaved-zb", SCHEDULE_ZB_INTERLEAVED },
    { "zb-v", SCHEDULE_ZB_V }, { "dualpipe-v", SCHEDULE_DUALPIPE_V },
    { NULL, 0 },
};

static const struct schedule_traits schedules[] = {
    [SCHEDULE_GPIPE] = { 0 },
    [SCHEDULE_1F1B] = { .pairs = true },
    [SCHEDULE_INTERLEAVED] = { .chunks = true, .rounds = true, .pairs = true },
    [SCHEDULE_ZB_H1] = { .splits = true },
    [SCHEDULE_SMP_SIMPLE] = { 0 },
    [SCHEDULE_SMP_INTERLEAVED] = { 0 },
    [SCHEDULE_LOOPED_BFS] = { .chunks = true },
    [SCHEDULE_ZB_INTERLEAVED] = { .chunks = true, .rounds = true, .splits = true },
    [SCHEDULE_ZB_V] = { .chunks = true, .folds = true, .splits = true },
    [SCHEDULE_DUALPIPE_V] = { .chunks = true, .folds = true, .splits = true,
                              .pairs = true, .fills = true },
};

const struct name_value parallelism_muon_names[] = {
    { "duplicated", MUON_DUPLICATED }, { "distributed", MUON_DISTRIBUTED },
    { "blockwise", MUON_BLOCKWISE }, { NULL, 0 },
};
const struct name_value parallelism_reference_names[] = {
    { "separate", REFERENCE_SEPARATE }, { "shared", REFERENCE_SHARED },
    { "precomputed", REFERENCE_PRECOMPUTED }, { NULL, 0 },
};
const struct name_value parallelism_dispatcher_names[] = {
    { "alltoall", DISPATCHER_ALLTOALL }, { "allgather", DISPATCHER_ALLGATHER },
    { "deepep", DISPATCHER_DEEPEP }, { "hybridep", DISPATCHER_HYBRIDEP }, { NULL, 0 },
};

const struct name_value parallelism_expert_overlap_names[] = {
    { "none", EXPERT_OVERLAP_NONE }, { "shared-expert", EXPERT_OVERLAP_SHARED },
    { "microbatches", EXPERT_OVERLAP_MICROBATCHES }, { NULL, 0 },
};

const struct name_value parallelism_sharding_names[] = {
    { "none", SHARDING_NONE }, { "optimizer", SHARDING_OPTIMIZER },
    { "gradients", SHARDING_GRADIENTS }, { "full", SHARDING_FULL }, { NULL, 0 },
};

const struct name_value parallelism_tensor_names[] = {
    { "megatron", TENSOR_MEGATRON }, { "smp-speed", TENSOR_SMP_SPEED },
    { "smp-scatter", TENSOR_SMP_SCATTER }, { "smp-gather", TENSOR_SMP_GATHER },
    { NULL, 0 },
};

const struct name_value parallelism_offload_names[] = {
    { "none", OFFLOAD_NONE }, { "optimizer", OFFLOAD_OPTIMIZER },
    { "parameters", OFFLOAD_PARAMETERS }, { NULL, 0 },
};

const struct name_value parallelism_partition_names[] = {
    { "uniform", PARTITION_UNIFORM }, { "parameters", PARTITION_PARAMETERS },
    { "type:transformer", PARTITION_TYPE },
    { "type:transformer|embedding", PARTITION_TYPE_ENDS }, { "smp", PARTITION_SMP },
    { "smp-tree", PARTITION_SMP_TREE }, { "manual", PARTITION_MANUAL },
    { "uniform|embedding", PARTITION_UNIFORM_EMBEDDING },
    { "uniform|head", PARTITION_UNIFORM_HEAD },
    { "uniform|embedding|head", PARTITION_UNIFORM_BOTH },
    { "compute", PARTITION_COMPUTE }, { NULL, 0 },
};

const struct name_value context_comm_names[] = {
    { "ring", OP_CONTEXT_RING },
    { "all-gather", OP_CONTEXT_GATHER },
    { "alltoall", OP_CONTEXT_HEADS },
    { "alltoall+ring", OP_CONTEXT_BOTH },
    { NULL, 0 },
};
const struct name_value checkpointing_names[] = {
    { "none", CHECKPOINT_NONE }, { "selective", CHECKPOINT_SELECTIVE },
    { "full", CHECKPOINT_FULL }, { "group", CHECKPOINT_GROUP },
    { "operators", CHECKPOINT_OPERATORS }, { NULL, 0 },
};

const struct schedule_traits *parallelism_schedule(enum schedule schedule)
{
    return &schedules[schedule];
}

int64_t training_sample_sequences(const struct training *t)
{
    return t->preference.sequences ? t->preference.sequences : 1;
}

int64_t training_sequences(const struct training *t)
{
    return t->micro_batch_size * training_sample_sequences(t);
}

int64_t training_ungraded_forwards(const struct training *t)
{
    return t->preference.policy_forwards + t->preference.reference_forwards;
}

int64_t parallelism_expert_tensor(const struct parallelism *p)
{
    return p->expert_tensor ? p->expert_tensor : p->tensor;
}

bool parallelism_folds_experts(const struct parallelism *p)
{
    return parallelism_expert_tensor(p) < p->tensor;
}

int64_t parallelism_expert_replicas(const struct parallelism *p)
{
    return p->data * p->context * p->tensor /
           (p->expert * parallelism_expert_tensor(p));
}
