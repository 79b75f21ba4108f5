#!/bin/bash
set -ex
source common.sh
NPROC=${SM_NUM_GPUS:-8}
while [[ $# -gt 0 ]]; do
  case "$1" in
    --model_id) MODEL="$2"; shift 2;;
    --bs) BS="$2"; shift 2;;
    *) EXTRA="${EXTRA:-} $1"; shift;;
  esac
done
torchrun --nnodes $SM_HOST_COUNT --nproc_per_node $NPROC run_clm.py --model_name_or_path $MODEL --per_device_train_batch_size $BS \
   --gradient_accumulation_steps 4 --bf16 --fsdp "full_shard auto_wrap" --block_size 4096 --gradient_checkpointing ${EXTRA:-}
