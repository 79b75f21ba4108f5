from colossalai.booster import Booster
from colossalai.booster.plugin import HybridParallelPlugin
from colossalai.nn.optimizer import HybridAdam
from transformers import LlamaConfig, LlamaForCausalLM

max_length = 8192
plugin = HybridParallelPlugin(tp_size=1, pp_size=1, sp_size=4, enable_sequence_parallelism=True,
                              zero_stage=1, precision="bf16", enable_flash_attention=True)
booster = Booster(plugin=plugin)
model = LlamaForCausalLM(LlamaConfig(max_position_embeddings=8192))
model.gradient_checkpointing_enable()
optimizer = HybridAdam(model.parameters(), lr=1e-4)
dataloader = plugin.prepare_dataloader(dataset, batch_size=1, shuffle=True, drop_last=True)
model, optimizer, _, dataloader, _ = booster.boost(model, optimizer, dataloader=dataloader)
