#!/bin/sh
torchrun --nproc_per_node 8 -m tuner.main --size gpt2-large --rank 48
