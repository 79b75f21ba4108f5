# Files that commands change which are not run; flags that have no value.
yq -i ".zero_optimization.stage = 3" ds.json
awk -i inplace '{ print }' more.yaml
sed --in-place "s/a/b/" other.yaml
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 2 --global-batch-size 64 --train-iters 5 \
    --vocab-size 50257 --bf16 false --swiglu 1
