from megatron.bridge.peft.lora import LoRA
from megatron.bridge.recipes.llama import llama3_8b_sft_config as sft_config
from megatron.bridge.training.config import ConfigContainer
from megatron.bridge.training.finetune import finetune

cfg: ConfigContainer = sft_config()
cfg.model.tensor_model_parallel_size = 2
cfg.model.sequence_parallel = True
cfg.model.recompute_granularity = "selective"
cfg.train.global_batch_size = 64
cfg.train.micro_batch_size = 2
cfg.train.train_iters = 300
cfg.dataset.seq_length = 4096
cfg.mixed_precision = "bf16_with_fp8_current_scaling_mixed"
cfg.ddp.overlap_grad_reduce = False
finetune(config=cfg, forward_step_func=None)
