torchrun --nnodes 4 --nproc_per_node 8 -m torchtitan.train --module llama3 --config llama3_70b --training.num_tokens_per_microbatch_per_dp_rank 16384
