# The script's own objects, without a recipe.
import torch
from megatron.core.optimizer import OptimizerConfig
from megatron.core.distributed import DistributedDataParallelConfig
from nemo import lightning as nl
from nemo.collections import llm

SEQUENCE = 4096
config = llm.LlamaConfig(
    num_layers=16,
    hidden_size=2048,
    ffn_hidden_size=8192,
    num_attention_heads=16,
    num_query_groups=8,
    seq_length=SEQUENCE,
)
data = llm.MockDataModule(seq_length=SEQUENCE, micro_batch_size=2, global_batch_size=128)
model = llm.LlamaModel(config, tokenizer=data.tokenizer)
strategy = nl.MegatronStrategy(
    tensor_model_parallel_size=2,
    pipeline_model_parallel_size=2,
    pipeline_dtype=torch.bfloat16,
    sequence_parallel=True,
    ddp=DistributedDataParallelConfig(overlap_grad_reduce=True, overlap_param_gather=True),
)
optim = nl.MegatronOptimizerModule(
    config=OptimizerConfig(optimizer="adam", lr=1e-4, bf16=True, use_distributed_optimizer=True, clip_grad=0.7)
)
trainer = nl.Trainer(
    devices=8,
    num_nodes=2,
    max_steps=100,
    accelerator="gpu",
    strategy=strategy,
    plugins=nl.MegatronMixedPrecision(precision="bf16-mixed"),
)
llm.pretrain(model=model, data=data, trainer=trainer, optim=optim, log=None)
