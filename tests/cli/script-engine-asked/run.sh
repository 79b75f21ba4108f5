deepspeed --num_gpus 8 train.py --batch_size 64 --deepspeed_config zero.json
