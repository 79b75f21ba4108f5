torchrun --standalone --nproc_per_node=4 train_sft.py --pretrain facebook/opt-1.3b --model opt \
    --strategy colossalai_zero2 --batch_size 4 --max_epochs 1
