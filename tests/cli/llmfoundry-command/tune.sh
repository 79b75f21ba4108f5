#!/bin/bash
#SBATCH --nodes=2
export NCCL_DEBUG=INFO
python data_prep/convert_dataset_hf.py --dataset my/pairs
composer -n 8 --world_size 16 --node_rank $SLURM_NODEID --master_addr $HEAD \
    scripts/train/train.py tune.yaml \
    max_duration=900ba \
    variables.max_seq_len=4096 \
    fsdp_config.activation_checkpointing=true \
    "model.peft_config.target_modules=[q_proj,v_proj]" \
    ++save_interval=100ba
