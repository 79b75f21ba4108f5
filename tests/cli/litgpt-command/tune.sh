#!/bin/bash
litgpt download meta-llama/Llama-3.1-8B
litgpt finetune_lora meta-llama/Llama-3.1-8B --config tune.yaml \
    --train.micro_batch_size 2 --train.max_seq_length=1024 --devices 4 --lora_key true
