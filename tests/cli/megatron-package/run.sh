deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 \
    --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 256 --train-iters 1000 --fp16 \
    --vocab-file gpt2-vocab.json --merge-file gpt2-merges.txt --tensor-model-parallel-size 2
