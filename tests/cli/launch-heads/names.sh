torchrun --nproc_per_node 8 run_ner.py --model_name_or_path bert-base-cased --do_train --per_device_train_batch_size 8 --max_seq_length 128
