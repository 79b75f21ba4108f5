#!/bin/bash
deepspeed --num_nodes 2 --num_gpus 8 run_compressed.py \
    --model_name_or_path bert-base-uncased --max_seq_length 128 \
    --per_device_train_batch_size 32 --distill_method one_stage \
    --deepspeed --deepspeed_config ds.json
