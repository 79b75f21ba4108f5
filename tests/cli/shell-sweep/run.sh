for tp in 1 2 4; do
for mbs in 1 2 4; do
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size $mbs --global-batch-size 64 --tensor-model-parallel-size $tp --bf16 --vocab-size 50257
done
done
