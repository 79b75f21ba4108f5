python -u -m paddle.distributed.launch --gpus "0,1,2,3" run_pretrain.py --model_name_or_path gpt2 --per_device_train_batch_size 4 --max_seq_length 1024 --bf16
