from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

cfg = llama32_1b_pretrain_config()
cfg.dist.use_megatron_fsdp = True
cfg.model.share_embeddings_and_output_weights = False
cfg.model.activation_func = squared_relu
cfg.model.hidden_dropout = 0.0
cfg.model.moe_latent_size = 512
cfg.model.num_layers_at_start_in_bf16 = 1
cfg.train.global_batch_size = None
cfg.train.step_batch_size_schedule = "0:64 1B:128"
cfg.train.micro_batch_size = 1
pretrain(config=cfg, forward_step_func=forward_step)
