#!/bin/bash
NODES=4
python3 $HOME/launcher/launcher_scripts/main.py stages=[training] training=gpt3/5b \
    training.trainer.num_nodes=$NODES training.trainer.max_steps=100 training.model.micro_batch_size=2
