from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

cfg = llama3_8b_pretrain_config()
cfg.model.seq_length = 16384
cfg.train.train_iters = 10
pretrain(config=cfg, forward_step_func=forward_step)
