mpirun -np 16 -H a:4,b:4,c:4,d:4 -x NCCL_DEBUG=INFO python run_mlm.py --model_name_or_path bert-base-uncased --per_device_train_batch_size 8 --max_seq_length 128 --fp16
