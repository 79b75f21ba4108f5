python main.py --max_ans_len 128 --train_steps 300
