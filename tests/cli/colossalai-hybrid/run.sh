#!/bin/bash
export OMP_NUM_THREADS=8
export NCCL_SOCKET_IFNAME=eth0
colossalai run --nproc_per_node 8 --num_nodes 8 --hostfile hosts.txt --master_port 29505 benchmark.py \
    -c 70b -p 3d -g -x -l 4096 -b 32 --mbs 2 --tp 4 --pp 4 --zero 1 --sp 2 --sp_mode ring_attn --pp_style interleaved --n_chunks 2 -s 10 -i 5
