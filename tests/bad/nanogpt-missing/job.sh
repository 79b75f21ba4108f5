#!/bin/bash
torchrun --standalone --nproc_per_node=8 train.py config/absent.py --n_embd=768 --block_size=1024
