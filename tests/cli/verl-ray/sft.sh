#!/bin/bash
# Ray starts the ranks: trainer.* says how many.
python3 -m verl.trainer.sft_trainer_ray data.train_files=train.parquet \
    data.train_batch_size=64 data.use_dynamic_bsz=false data.micro_batch_size_per_gpu=4 \
    data.max_length=2048 model.path=Qwen/Qwen2.5-0.5B-Instruct \
    trainer.nnodes=2 trainer.n_gpus_per_node=4
