ARGS="--num-layers 24
torchrun pretrain_gpt.py $ARGS --hidden-size 1024
