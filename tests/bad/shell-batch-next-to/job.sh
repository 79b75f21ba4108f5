#!/bin/bash
# A batch next to one of a GPU, degrees and adapters of the program's own, an unknown id.
torchrun --nproc_per_node=8 our_finetune.py \
    --base_model someone/our-llama-7b --batch_size 128 --micro_batch_size 4 \
    --cutoff_len 512 --tensor_parallel_size 2 --use_peft --fp16 --seed 1
