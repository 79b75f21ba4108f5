torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 \
  --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 2 --bf16 --vocab-size 50304 \
  --use-distributed-optimizer --use-megatron-fsdp $1
