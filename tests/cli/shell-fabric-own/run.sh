#!/bin/bash
# An older word for the same, of a program whose text is not there.
lightning run model --devices="0, 1" --strategy=deepspeed_stage_1 --precision=16 \
    pretrain.py --model_name gpt2-xl --micro_batch_size 4 --max_seq_length 1024
