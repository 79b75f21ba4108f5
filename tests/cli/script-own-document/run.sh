torchrun --nproc_per_node=8 finetune.py --config settings.yaml
