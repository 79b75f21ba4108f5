#!/bin/bash
# A configuration of NeMo's own, by its name alone.
torchrun --nproc_per_node=8 \
    /opt/NeMo/examples/nlp/language_modeling/megatron_gpt_pretraining.py \
    --config-name=megatron_llama_config \
    trainer.precision=bf16 \
    model.micro_batch_size=1 model.global_batch_size=64 \
    model.tensor_model_parallel_size=2 \
    model.num_layers=24 model.hidden_size=2048 model.ffn_hidden_size=5632 \
    model.num_attention_heads=16
