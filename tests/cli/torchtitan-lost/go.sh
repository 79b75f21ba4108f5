torchrun --nproc_per_node 8 -m torchtitan.train --module llama9 --config llama9_8b --training.steps 7
