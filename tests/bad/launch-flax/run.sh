python run_clm_flax.py --model_name_or_path gpt2 --block_size 512 --per_device_train_batch_size 64 --dtype bfloat16
