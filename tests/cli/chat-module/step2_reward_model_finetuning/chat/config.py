import torch


def get_train_ds_config(offload, stage=2):
    return {
        "train_batch_size": 32,
        "train_micro_batch_size_per_gpu": 4,
        "zero_optimization": {"stage": stage, "overlap_comm": True},
        "fp16": {"enabled": True},
        "gradient_clipping": 1.0,
    }


def set_dropout(config, dropout):
    if dropout is not None:
        for key in ("dropout", "attention_dropout"):
            if hasattr(config, key):
                setattr(config, key, dropout)
