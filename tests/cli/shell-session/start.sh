#!/bin/bash
# training in a session of tmux that stays when the terminal goes
model=Qwen/Qwen2.5-1.5B
tmux new-session -d -s tune "
    source venv/bin/activate
    accelerate launch --num_processes 4 --num_machines 1 --mixed_precision bf16 \
        run_clm.py --model_name_or_path $model \
        --per_device_train_batch_size 8 --block_size 1024 --bf16 True \
        --config_overrides rope_theta=1000000,use_cache=false
"
