# A program of its own whose document has sections; lora_config is LoraConfig's.
torchrun --nproc_per_node 8 train.py --config run.yaml
