#!/bin/bash
# Supervised fine-tuning of Qwen2.5-7B by adapters on one node.
set -x
NAME=qwen2.5-7b-sft
torchrun --standalone --nnodes=1 --nproc_per_node=8 \
    -m verl.trainer.fsdp_sft_trainer \
    data.train_files=$HOME/data/train.parquet \
    data.val_files=$HOME/data/test.parquet \
    data.prompt_key=question \
    +data.response_dict_keys=['answer'] \
    data.train_batch_size=128 \
    data.micro_batch_size=2 \
    data.max_length=4096 \
    model.partial_pretrain=Qwen/Qwen2.5-7B-Instruct \
    model.lora_rank=32 \
    model.lora_alpha=16 \
    model.target_modules=[q_proj,v_proj] \
    model.fsdp_config.cpu_offload=False \
    ulysses_sequence_parallel_size=2 \
    use_remove_padding=true \
    trainer.experiment_name=$NAME \
    trainer.total_training_steps=500 \
    trainer.logger='["console"]' "$@"
