import argparse

from olmo_core.config import DType
from olmo_core.data import DataMix, NumpyDataLoaderConfig, NumpyFSLDatasetConfig, TokenizerConfig
from olmo_core.distributed.parallel import DataParallelType
from olmo_core.distributed.utils import get_world_size
from olmo_core.float8 import Float8Config
from olmo_core.nn.transformer import TransformerActivationCheckpointingMode, TransformerConfig
from olmo_core.optim import AdamWConfig
from olmo_core.script_utils import ExperimentConfig, main
from olmo_core.train import Duration, TrainerConfig
from olmo_core.train.train_module import (
    TransformerActivationCheckpointingConfig,
    TransformerDataParallelConfig,
    TransformerTrainModuleConfig,
)

DEFAULT_SEQUENCE_LENGTH = 4096


def build_config(opts: argparse.Namespace, overrides) -> ExperimentConfig:
    sequence_length = opts.sequence_length or DEFAULT_SEQUENCE_LENGTH
    tokenizer = TokenizerConfig.gpt2()
    model = TransformerConfig.olmo3_13B(vocab_size=tokenizer.padded_vocab_size())
    dataset = NumpyFSLDatasetConfig.from_data_mix(
        DataMix.OLMoE_mix_0824, tokenizer=tokenizer, sequence_length=sequence_length, generate_doc_lengths=True
    )
    loader = NumpyDataLoaderConfig(global_batch_size=512 * 4096, seed=1, num_workers=4)
    module = TransformerTrainModuleConfig(
        rank_microbatch_size=4 * 4096,
        max_sequence_length=sequence_length,
        optim=AdamWConfig(lr=6e-4),
        dp_config=TransformerDataParallelConfig(
            name=DataParallelType.hsdp,
            param_dtype=DType.bfloat16,
            reduce_dtype=DType.float32,
            num_replicas=get_world_size() // 16,
            prefetch_factor=1,
        ),
        ac_config=TransformerActivationCheckpointingConfig(
            mode=TransformerActivationCheckpointingMode.budget, activation_memory_budget=0.5
        ),
        float8_config=Float8Config(),
    )
    if get_world_size() >= 64:
        module.rank_microbatch_size //= 2
    for override in overrides:
        if override.startswith("epochs="):
            module.rank_microbatch_size = int(override.split("=")[1])
    trainer = TrainerConfig(save_folder=opts.save_folder, max_duration=Duration.epochs(1))
    return ExperimentConfig(
        model=model, dataset=dataset, data_loader=loader, train_module=module, trainer=trainer
    ).merge(overrides)


if __name__ == "__main__":
    main(build_config)
