deepspeed --num_nodes 1 --num_gpus 8 pretrain_gpt2.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 \
  --seq-length 1024 --max-position-embeddings 1024 --batch-size 2 --gas 4 --fp16 --vocab-size 50304 \
  --model-parallel-size 2 --pipe-parallel-size 0 --deepspeed --zero-stage 2
