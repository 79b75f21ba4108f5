#!/bin/bash
# The program itself, by Accelerate: its document says what is trained, Accelerate's how.
CUDA_VISIBLE_DEVICES=0,1,2,3 accelerate launch --config_file fsdp.yaml \
    src/train.py sft.yaml learning_rate=2e-5
