torchrun --nproc-per-node 8 train.py --per-device-batch 8
torchrun --nproc-per-node 8 train.py --per-device-batch 4 --eval-only
