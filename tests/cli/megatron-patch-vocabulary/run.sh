# Words of the patch's tokenizer, and those that it adds; the checkpoint's name has both.
torchrun --nproc_per_node 8 pretrain_qwen.py --load ckpts/Qwen2.5-1.5B-mcore --patch-tokenizer-type Qwen2Tokenizer \
    --extra-vocab-size 293 --num-layers 28 --hidden-size 1536 --num-attention-heads 12 --group-query-attention \
    --num-query-groups 2 --ffn-hidden-size 8960 --swiglu --normalization RMSNorm --use-rotary-position-embeddings \
    --disable-bias-linear --add-qkv-bias --seq-length 2048 --max-position-embeddings 32768 --micro-batch-size 1 \
    --global-batch-size 64 --bf16 --transformer-impl transformer_engine
