torchrun --nproc_per_node 8 --nnodes 4 run_clm.py --model_type gpt2 --tokenizer_name gpt2 \
    --config_overrides n_embd=7168,n_head=32,n_layer=40 --block_size 1024 \
    --per_device_train_batch_size 4 --fp16
