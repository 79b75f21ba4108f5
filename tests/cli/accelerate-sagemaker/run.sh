accelerate launch --config_file settings.yaml run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 2 --block_size 1024
