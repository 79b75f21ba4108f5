accelerate launch --mixed_precision bf16 --num_processes 8 train.py
