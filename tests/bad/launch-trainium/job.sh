#!/bin/bash
# Its software is AWS Neuron's.
export NEURON_CC_FLAGS="--model-type=transformer --target=trn1"
export NEURON_RT_STOCHASTIC_ROUNDING_EN=1
neuron_parallel_compile torchrun --nproc_per_node 32 run_clm.py \
    --model_name_or_path gpt2 --per_device_train_batch_size 4 --block_size 512
