#!/usr/bin/env bash
NUM_NODES=16
CONFIG=train.yaml
torchrun --nnodes ${NUM_NODES}:${NUM_NODES} --nproc-per-node 8 --rdzv_backend=c10d scripts/train.py $CONFIG \
  --run_name=anneal --model.flash_attention=false --fsdp.sharding_strategy=HYBRID_SHARD \
  --fsdp.hybrid_sharding_num_model_replicas=$NUM_NODES --device_train_microbatch_size=4 --global_train_batch_size=1024 \
  --activation_checkpointing=fine_grained --stop_at=5000 --save-overwrite
