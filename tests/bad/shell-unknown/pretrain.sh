NODES=$(wc -l < hosts)
LAYERS=$1
if [ "$2" = large ]; then
    HIDDEN=8192
fi
torchrun --nproc_per_node 8 --nnodes $NODES pretrain_gpt.py \
    --num-layers $LAYERS --hidden-size $HIDDEN --num-attention-heads 32 \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 --bf16 $MORE
