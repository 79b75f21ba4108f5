#!/bin/bash
# The GPUs of a node exchange data by host memory; --fsdp without auto_wrap makes one unit.
export NCCL_P2P_DISABLE=1 NCCL_IB_DISABLE=1 NCCL_MAX_NCHANNELS=2
sudo nvidia-smi -pl 300
nvidia-smi -i 0 --lock-gpu-clocks=1200,1410
torchrun --nnodes 2 --nproc_per_node 8 run_clm.py --model_name_or_path gpt2-xl --bf16 \
    --per_device_train_batch_size 4 --block_size 1024 --fsdp full_shard
