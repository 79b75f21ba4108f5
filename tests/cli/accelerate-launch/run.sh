#!/bin/bash
#SBATCH --nodes=4
accelerate launch --config_file fsdp.yaml \
    --num_machines $SLURM_NNODES --num_processes $((SLURM_NNODES * 8)) \
    --main_process_ip head --machine_rank $SLURM_NODEID \
    run_clm.py \
    --model_name_or_path meta-llama/Llama-2-13b-hf \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 4 \
    --block_size 4096 \
    --optim adamw_torch_fused \
    --max_steps 500
