deepspeed --num_gpus 8 pretrain_gpt.py --deepspeed --deepspeed_config ds.json \
    --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 \
    --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 256 \
    --num-experts 16 --moe-expert-parallel-size 8 --vocab-size 50304 --fp16
