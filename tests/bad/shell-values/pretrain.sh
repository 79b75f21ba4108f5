torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py \
    --num-layers 2x --hidden-size 0 --num-attention-heads 32 \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 \
    --hidden-dropout 1.5 --fp16 --bf16 --pipeline-model-parallel-size 32
