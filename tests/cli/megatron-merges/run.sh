torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 --swiglu \
    --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 2 --global-batch-size 64 --fp16 \
    --position-embedding-type rope --vocab-file data/vocab.json --merge-file data/merges.txt --train-iters 10
