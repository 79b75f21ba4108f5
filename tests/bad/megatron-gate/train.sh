# A fork's program that builds a gate by itself, or does not.
torchrun --nproc_per_node 8 pretrain_llama.py \
    --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --ffn-hidden-size 5632 \
    --seq-length 2048 --max-position-embeddings 2048 --vocab-size 32000 \
    --position-embedding-type rope --normalization RMSNorm \
    --micro-batch-size 2 --global-batch-size 32 --bf16
