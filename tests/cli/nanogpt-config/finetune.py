import time

out_dir = "out-small"
eval_iters = 40
wandb_run_name = "ft-" + str(time.time())
dataset = "books"
init_from = "gpt2-large"
batch_size = 2
gradient_accumulation_steps = 32
max_iters = 200
learning_rate = 3e-5
decay_lr = False
