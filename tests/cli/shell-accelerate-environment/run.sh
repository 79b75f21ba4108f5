#!/bin/bash
# torchrun in place of `accelerate launch`: variables say what shards, and --bf16 in what.
export ACCELERATE_USE_FSDP=true
export FSDP_AUTO_WRAP_POLICY=TRANSFORMER_BASED_WRAP
export FSDP_SHARDING_STRATEGY=SHARD_GRAD_OP FSDP_OFFLOAD_PARAMS=false
CUDA_LAUNCH_BLOCKING=1 TORCH_NCCL_BLOCKING_WAIT=1 torchrun --nnodes 2 --nproc_per_node 8 \
    run_clm.py --model_name_or_path meta-llama/Llama-2-7b-hf --bf16 \
    --per_device_train_batch_size 2 --block_size 2048 --gradient_checkpointing
