torchrun --nproc_per_node=8 run_mlm.py --config_name sizes/small.json --tokenizer_name roberta-base \
    --max_seq_length 512 --per_device_train_batch_size 16 --bf16 --do_train
