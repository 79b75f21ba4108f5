#!/bin/bash
# A here-document is the script that torchrun starts on each GPU.
cat > /tmp/worker.sh <<'EOF'
python pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 4 \
    --global-batch-size 256 --bf16 --train-iters 10 --tokenizer-type GPT2BPETokenizer
EOF
torchrun --nproc_per_node=8 --nnodes=2 --no-python bash /tmp/worker.sh
