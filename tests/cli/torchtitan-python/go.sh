torchrun --nnodes 4 --nproc_per_node 8 -m torchtitan.train --module llama3 --config ours_8b_tp --training.steps 100
