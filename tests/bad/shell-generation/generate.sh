#!/bin/bash
# A server of a model has Megatron's arguments of the model, and trains nothing.
python preprocess_data.py --input text.json --workers 8
torchrun --nproc_per_node 8 run_text_generation_server.py --tensor-model-parallel-size 8 \
    --num-layers 48 --hidden-size 6144 --num-attention-heads 48 --micro-batch-size 1 \
    --seq-length 2048 --max-position-embeddings 2048 --bf16
