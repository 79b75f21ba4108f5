#!/bin/bash
NODES=4
nemo llm finetune --factory "llama3_8b(num_nodes=$NODES, peft_scheme='none')" \
    trainer.max_steps=200 data.global_batch_size=64 trainer.strategy.context_parallel_size=2 -y
