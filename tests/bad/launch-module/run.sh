#!/bin/bash
cmd="deepspeed --include localhost:0,1 --module FlagEmbedding.finetune.reranker.decoder_only.base \
    --model_name_or_path BAAI/bge-reranker-v2-gemma --query_max_len 64 --bf16 \
    --per_device_train_batch_size 8 --deepspeed z1.json"
eval $cmd
