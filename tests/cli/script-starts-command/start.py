import os
import subprocess

os.environ["OMP_NUM_THREADS"] = "8"
nodes = 2
options = ["--model_name_or_path", "gpt2", "--per_device_train_batch_size", "4", "--block_size", "1024", "--bf16"]
command = ["torchrun", f"--nnodes={nodes}", "--nproc_per_node=8", f"--master_addr={os.environ['HOST']}", "run_clm.py"]
subprocess.run(command + options, check=True)
