#!/bin/bash
NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen2.5-VL-7B-Instruct \
    --tensor_model_parallel_size 4 --sequence_parallel true --tuner_type full \
    --dataset words.jsonl --max_length 2048 --packing true \
    --micro_batch_size 1 --global_batch_size 16 --save out
