#!/bin/bash
accelerate launch --num_machines 2 --num_processes 16 --multi_gpu train_tools.py \
    --algorithm grpo --rollout_batch 64 --tools_script tools/finance.py --reward_fn rewards/finance_reward.py
