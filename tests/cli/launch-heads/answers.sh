torchrun --nproc_per_node 8 run_seq2seq_qa.py --model_name_or_path t5-base --do_train --per_device_train_batch_size 8 --max_seq_length 512 --max_answer_length 64
