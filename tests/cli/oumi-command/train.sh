#!/bin/bash
oumi distributed torchrun -m oumi train -c vision.yaml \
    --training.per_device_train_batch_size 4 --deepspeed.enable_deepspeed true
