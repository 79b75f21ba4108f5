python -m torch.distributed.launch --nproc_per_node 8 --nnodes $SLURM_NNODES pretrain_gpt.py \
  --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 1024 \
  --max-position-embeddings 1024 --micro-batch-size 2 --global-batch-size 64 --fp16 --vocab-size 50304
