torchrun --nproc-per-node 8 --nnodes 2 run_recipe.py --recipe llama3_8b_pretrain_config --config-file ../bridge-changes/over.yaml
