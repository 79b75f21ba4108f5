# The model is in a configuration that a path of the author's names.
torchrun --nproc_per_node 8 pretrain_llama.py \
    --load-model-from-hf-config --model-name-or-path $MODEL_PATH \
    --seq-length 2048 --max-position-embeddings 2048 \
    --disable-bias-linear --untie-embeddings-and-output-weights \
    --micro-batch-size 2 --global-batch-size 32 --bf16
