torchrun --nproc_per_node=8 run_recipe.py --recipe llama32_1b_pretrain_config mixed_precision=fp16_mixed train.global_batch_size=64
