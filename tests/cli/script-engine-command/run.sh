deepspeed --num_gpus 8 train.py --checkpoint .cache/ckpts/pythia-160m --max_seq_len 1024 --deepspeed --deepspeed_config ds.json
