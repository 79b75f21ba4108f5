#!/bin/bash
torchrun --nnodes 2 --nproc_per_node=8 tune.py --base=mistralai/Mistral-7B-v0.1 \
    --total=512 --each=8 --longest=1024 --rank=32 --targets='[q_proj,k_proj,v_proj,o_proj]'
