#!/bin/bash
# A training, then two runs of the Trainer's scripts that train nothing.
torchrun --nnodes 2 --nproc_per_node 8 run_clm.py --model_name_or_path gpt2-xl \
    --dataset_name wikitext --do_train --do_eval --fp16 --block_size 1024 \
    --per_device_train_batch_size 4 --output_dir out
python run_clm.py --model_name_or_path out --dataset_name wikitext --do_eval \
    --per_device_eval_batch_size 8 --output_dir out/evaluated
python train.py --model_name_or_path out --per_device_train_batch_size 4 --do_predict
