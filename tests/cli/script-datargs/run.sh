torchrun --nproc-per-node 8 tune.py --model-checkpoint gpt2-medium --per-device-train-batch-size 4
