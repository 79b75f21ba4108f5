#!/bin/bash
torchrun --nproc_per_node 8 --nnodes $NODE_NUMBER --node_rank $NODE_INDEX train.py --model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 4 --gradient_accumulation_steps 8 --bf16 True --model_max_length 2048 --fsdp "full_shard auto_wrap" --fsdp_transformer_layer_cls_to_wrap LlamaDecoderLayer --gradient_checkpointing True
