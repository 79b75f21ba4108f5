torchrun --nproc_per_node=8 run_recipe.py --recipe llama32_1b_pretrain_config --config-file not_here.yaml
