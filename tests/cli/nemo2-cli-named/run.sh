#!/bin/bash
# The program's name is the user's; words look like NeMo 1's.
torchrun --nproc-per-node=8 --nnodes=2 ${PROGRAM} --factory "eight()" \
    trainer.num_nodes=2 trainer.devices=8 trainer.max_steps=40
