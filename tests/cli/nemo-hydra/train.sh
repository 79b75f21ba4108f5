#!/bin/bash
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
TP=4
srun --ntasks-per-node=8 bash -c "
python -u /opt/NeMo/examples/nlp/language_modeling/megatron_gpt_pretraining.py \
    --config-path=/opt/conf --config-name=base \
    trainer.num_nodes=4 \
    trainer.precision=bf16 \
    ++model.megatron_amp_O2=True \
    model.micro_batch_size=2 \
    model.global_batch_size=256 \
    model.tensor_model_parallel_size=$TP \
    +model.sequence_parallel=True \
    model.encoder_seq_length=2048 \
    model.max_position_embeddings=2048 \
    model.num_layers=24 model.hidden_size=2048 model.ffn_hidden_size=8192 model.num_attention_heads=16 \
    ++model.activations_checkpoint_granularity=full ++model.activations_checkpoint_method=uniform ++model.activations_checkpoint_num_layers=1 \
    model.optim.name=distributed_fused_adam \
    'model.data.data_prefix=[1.0,/data/text]' \
    ++model.fp8_params=True \
    exp_manager.explicit_log_dir=/results
"
