$PYTHON run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 4 --block_size 512 --fp16
