import torch
from colossalai.booster import Booster
from colossalai.booster.plugin import HybridParallelPlugin, GeminiPlugin, LowLevelZeroPlugin
from colossalai.nn.optimizer import HybridAdam
from transformers import LlamaConfig, LlamaForCausalLM
max_length = 4096
plugin_name = "3d"
if plugin_name == "gemini":
    plugin = GeminiPlugin(precision="bf16", initial_scale=2**16)
elif plugin_name == "3d":
    plugin = HybridParallelPlugin(tp_size=2, pp_size=4, zero_stage=1, num_microbatches=8, precision="bf16",
        enable_flash_attention=True, enable_sequence_parallelism=True, sequence_parallelism_mode="split_gather", max_norm=1.0, parallel_output=False)
booster = Booster(plugin=plugin)
config = LlamaConfig(max_position_embeddings=4096)
model = LlamaForCausalLM(config)
model.gradient_checkpointing_enable()
optimizer = HybridAdam(model.parameters(), lr=1e-4)
dataloader = plugin.prepare_dataloader(dataset, batch_size=16, shuffle=True, drop_last=True)
model, optimizer, _, dataloader, _ = booster.boost(model, optimizer, dataloader=dataloader)
