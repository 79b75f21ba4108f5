from megatron.bridge.models.distillation_provider import convert_to_distillation_provider
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config, llama32_3b_pretrain_config
from megatron.bridge.training.distill import distill

cfg = llama32_1b_pretrain_config()
teacher = llama32_3b_pretrain_config()
cfg.model = convert_to_distillation_provider(cfg.model, teacher.model)
distill(config=cfg)
