horovodrun -np 3 -H a:4,b:4 python run_mlm.py --model_name_or_path bert-base-uncased --per_device_train_batch_size 8 --max_seq_length 128 --fp16
