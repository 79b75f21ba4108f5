torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 \
  --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 2 --bf16 --vocab-size 50257 \
  --step-batch-size-schedule "0:32 1M:64 2M:128" --disable-pad-vocab-size --cuda-graph-impl none \
  --flash-attention-version 3 --moe-per-layer-logging --linear-key-head-dim 128
