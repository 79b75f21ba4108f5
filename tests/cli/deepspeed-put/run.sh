deepspeed --num_gpus 4 train.py --batch-size 6 --max-length 512 --deepspeed --deepspeed_config zero.json
