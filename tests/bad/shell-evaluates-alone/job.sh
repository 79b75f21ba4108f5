#!/bin/bash
#SBATCH --nodes=1
torchrun --nproc_per_node 8 run_glue.py --model_name_or_path bert-large-uncased \
    --task_name mnli --do_eval --do_predict --max_seq_length 128 --output_dir out
