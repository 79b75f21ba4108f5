from megatron.bridge.recipes.nemotronh import nemotron_3_nano_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

cfg = nemotron_3_nano_pretrain_config()
cfg.model.expert_model_parallel_size = 16
cfg.model.sequence_parallel = False
cfg.train.global_batch_size = 512
cfg.train.micro_batch_size = 2
cfg.dataset.seq_length = 4096
cfg.model.seq_length = 4096
pretrain(cfg, forward_step)
