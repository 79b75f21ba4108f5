#!/bin/bash
NNODES=2 NODE_RANK=$RANK NPROC_PER_NODE=8 \
megatron sft \
    --model Qwen/Qwen3-30B-A3B \
    --dataset our/instructions#20000 \
    --tuner_type lora --lora_rank 32 --target_modules all-linear \
    --tensor_model_parallel_size 2 --sequence_parallel true \
    --pipeline_model_parallel_size 2 --expert_model_parallel_size 4 \
    --moe_shared_expert_overlap true --moe_grouped_gemm true \
    --micro_batch_size 2 --global_batch_size 64 --packing true --max_length 8192 \
    --recompute_granularity full --recompute_method uniform --recompute_num_layers 1 \
    --num_train_epochs 2 --lr 1e-4 --no_save_optim true
