#!/bin/bash
GPUS=0,1,2,3
N=$(echo $GPUS | awk -F',' '{print NF}')
torchrun --nnodes 2 --nproc_per_node $N -m mypackage.finetune \
    --model_name_or_path tiiuae/falcon-7b --max_seq_length 2048 --bf16 True \
    --per_device_train_batch_size 4 --gradient_accumulation_steps $((256 / N / 2 / 4)) \
    --fsdp "full_shard auto_wrap" --gradient_checkpointing True --max_steps 100
