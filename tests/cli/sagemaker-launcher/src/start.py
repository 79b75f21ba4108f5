import os, subprocess, sys, argparse
def main():
    num_gpus = int(os.environ["SM_NUM_GPUS"])
    hosts = int(os.environ["SM_HOST_COUNT"])
    rank = 0
    command = f"torchrun --nnodes={hosts} --nproc_per_node={num_gpus} --node_rank={rank} train.py {' '.join(sys.argv[1:])}"
    print(command)
    subprocess.run(command, shell=True)
if __name__ == "__main__":
    main()
