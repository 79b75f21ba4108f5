# deeper, and of smaller microbatches
import time

wandb_run_name = "deep-" + str(time.time())
n_layer = 32
batch_size = 8
gradient_accumulation_steps = 4 * 16
eval_iters = 50
