import torch
from megatron.core.activations import squared_relu
from megatron.core.distributed import DistributedDataParallelConfig
from megatron.core.optimizer import OptimizerConfig
from megatron.bridge.models.hybrid.hybrid_provider import HybridModelProvider
from megatron.bridge.recipes.nemotronh import nemotronh_8b_pretrain_config
from megatron.bridge.training.comm_overlap import CommOverlapConfig
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

cfg = nemotronh_8b_pretrain_config()
cfg.model = HybridModelProvider(
    hybrid_layer_pattern="M-M-M*-M-M-M*-M-/*-",
    hidden_size=2048,
    ffn_hidden_size=8192,
    num_attention_heads=16,
    num_query_groups=8,
    kv_channels=128,
    mamba_num_heads=64,
    mamba_head_dim=64,
    mamba_state_dim=128,
    vocab_size=131072,
    activation_func=squared_relu,
    tensor_model_parallel_size=2,
    pipeline_model_parallel_size=2,
    sequence_parallel=True,
    keep_mtp_spec_in_bf16=True,
)
cfg.optimizer.optimizer = "dist_muon"
cfg.optimizer.muon_num_ns_steps = 6
cfg.optimizer.use_distributed_optimizer = False
cfg.ddp.use_distributed_optimizer = False
cfg.tokenizer.tokenizer_type = "HuggingFaceTokenizer"
cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=False, overlap_grad_reduce=False)
pretrain(cfg, forward_step)
