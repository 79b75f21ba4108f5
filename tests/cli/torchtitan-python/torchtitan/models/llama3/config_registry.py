from torchtitan.components.optimizer import default_adamw
from torchtitan.components.quantization import Float8LinearConverter
from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig
from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC
from torchtitan.trainer import Trainer

from . import model_registry


def ours_8b() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("8B", attn_backend="flex"),
        optimizer=default_adamw(lr=3e-4),
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=2 * 4096,
            max_context_length=4096,
            steps=500,
        ),
        parallelism=ParallelismConfig(data_parallel_replicate_degree=2),
        activation_checkpoint=SelectiveAC.Config(),
        compile=CompileConfig(enable=True),
    )


def ours_8b_tp() -> Trainer.Config:
    config = ours_8b()
    config.parallelism.tensor_parallel_degree = 4
    config.activation_checkpoint = FullAC.Config()
    config.model_spec = model_registry(
        "8B",
        converters=[Float8LinearConverter.Config(recipe_name="tensorwise")],
    )
    return config


def ours_unknown() -> Trainer.Config:
    config = ours_8b()
    config.training = TrainingConfig(**read_them())
    return config
