from functools import partial

from olmo_core.config import DType
from olmo_core.distributed.parallel import DataParallelType, PipelineScheduleType
from olmo_core.float8 import AOFloat8LinearConfig, Float8Config
from olmo_core.internal.experiment import CommonComponents, build_config, main
from olmo_core.nn.transformer import TransformerConfig
from olmo_core.optim import CosWithWarmup, LionConfig, MineConfig, MuonConfig, SkipStepAdamWConfig
from olmo_core.train import Duration, TrainerConfig
from olmo_core.train.train_module import (
    TransformerActivationCheckpointingConfig,
    TransformerActivationCheckpointingMode,
    TransformerContextParallelConfig,
    TransformerDataParallelConfig,
    TransformerPipelineParallelConfig,
    TransformerTensorParallelConfig,
    TransformerTrainModuleConfig,
)

LENGTH = 32 * 1024


def build_model(common: CommonComponents) -> TransformerConfig:
    return TransformerConfig.olmo2_7B(
        vocab_size=common.tokenizer.padded_vocab_size(), n_layers=16, use_flash=True
    )


def build_train_module(common: CommonComponents) -> TransformerTrainModuleConfig:
    size = common.max_sequence_length
    if common.launch is not None:
        size *= 2
    return TransformerTrainModuleConfig(
        rank_microbatch_size=size,
        max_sequence_length=common.dataset.effective_sequence_length,
        optim=SkipStepAdamWConfig(lr=3e-4, betas=(0.9, 0.95)),
        compile_model=True,
        dp_config=TransformerDataParallelConfig(
            name=DataParallelType.hsdp, param_dtype=DType.bfloat16, shard_degree=4
        ),
        cp_config=TransformerContextParallelConfig.zig_zag(degree=2),
        ac_config=TransformerActivationCheckpointingConfig(
            mode=TransformerActivationCheckpointingMode.selected_modules,
            modules=[f"blocks.{i}.feed_forward" for i in range(16)],
        ),
        float8_config=Float8Config(enabled=False),
        max_grad_norm=1.0,
        scheduler=CosWithWarmup(warmup_steps=100),
    )


def build_trainer(common: CommonComponents) -> TrainerConfig:
    return TrainerConfig(
        save_folder=common.save_folder,
        max_duration=Duration.tokens(int(1e11)),
        hard_stop=Duration.steps(5000),
    )


if __name__ == "__main__":
    main(
        config_builder=partial(
            build_config,
            global_batch_size=64 * LENGTH,
            max_sequence_length=LENGTH,
            model_config_builder=build_model,
            train_module_config_builder=build_train_module,
            trainer_config_builder=build_trainer,
        )
    )
