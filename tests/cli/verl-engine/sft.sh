#!/usr/bin/env bash
# The trainer of verl 0.7: batches by tokens, engines as sections.
backend=${BACKEND:-fsdp}
torchrun --nnodes=2 --nproc-per-node=8 \
    -m verl.trainer.sft_trainer \
    data.train_files=train.parquet \
    data.train_batch_size=96 \
    data.max_length=2048 \
    data.use_dynamic_bsz=True \
    data.max_token_len_per_gpu=16384 \
    data.pad_mode=no_padding \
    model.path=/models/Qwen3-8B \
    engine=$backend \
    optim=$backend \
    optim.clip_grad=0.5 \
    engine.strategy=fsdp2 \
    engine.model_dtype=bf16 \
    engine.fsdp_size=8 \
    trainer.total_epochs=2
