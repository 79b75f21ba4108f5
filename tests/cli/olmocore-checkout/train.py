from olmo_core.distributed.parallel import DataParallelType
from olmo_core.data import NumpyDataLoaderConfig, TokenizerConfig
from olmo_core.nn.transformer import TransformerConfig
from olmo_core.optim import AdamWConfig
from olmo_core.train import TrainerConfig
from olmo_core.train.config import RecomputeConfig, RecomputeMode
from olmo_core.train.train_module import (
    TransformerDataParallelConfig,
    TransformerTrainModuleConfig,
)

# RecomputeConfig is a class of the checkout next to this file


def build_config():
    model = TransformerConfig.llama_like(
        vocab_size=TokenizerConfig.dolma2().padded_vocab_size(),
        d_model=2048,
        n_layers=16,
        n_heads=16,
        n_kv_heads=4,
        qk_norm=True,
        hidden_size_multiplier=1.5,
    )
    loader = NumpyDataLoaderConfig(global_batch_size=256 * 4096)
    module = TransformerTrainModuleConfig(
        rank_microbatch_size=2 * 4096,
        max_sequence_length=4096,
        optim=AdamWConfig(lr=3e-4),
        dp_config=TransformerDataParallelConfig(name=DataParallelType.fsdp),
        ac_config=RecomputeConfig(
            mode=RecomputeMode.selected_modules, modules=["blocks.*.feed_forward"]
        ),
    )
    return model, loader, module, TrainerConfig(save_folder="out")
