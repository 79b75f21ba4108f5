torchrun --nproc_per_node 8 run_summarization.py --model_name_or_path t5-small --per_device_train_batch_size 4 --max_source_length 512 --do_train
